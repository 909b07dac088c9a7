//! Origins of values in a loop's blocks, and changes by iterations.

use crate::gotos::Tree;
use crate::ir::{Atom, Block, CombId, GroupId, Loop, Place, RateId, Section, StmtKind, Var};
use crate::op::Op;
use crate::types::Const;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Holds the origins of values in a loop.
pub(crate) struct Origins<'a> {
    pub(crate) program: &'a Loop,
    pub(crate) tree: Tree,
    pub(crate) blocks: Vec<(Place, &'a Block)>,
    /// The operands of each variable's definition, start and assignments.
    pub(super) operands: FxHashMap<Var, Vec<Var>>,
    /// The operator and operands of each variable defined by `let`.
    pub(crate) lets: FxHashMap<Var, (Op, &'a [Atom])>,
    /// The place and the start value of each carried variable.
    pub(crate) carries: FxHashMap<Var, (Place, Atom)>,
    /// The rates in which each variable is assigned or scanned, and the assigned values.
    pub(crate) assigned: FxHashMap<Var, Vec<(RateId, Option<Atom>)>>,
    /// Combinators that update each group.
    updaters: Vec<Option<CombId>>,
    pub(super) group_of: FxHashMap<Var, GroupId>,
    /// Arrays that the loop makes.
    pub(super) made: FxHashSet<Var>,
    /// The [scratch](crate::ir::VarData::scratch) arrays among them.
    pub(super) scratch: FxHashSet<Var>,
    /// Scalars that no iteration defines.
    pub(super) fixed: FxHashSet<Var>,
    /// The block of each rate's guard.
    pub(super) guards: Vec<Option<&'a Block>>,
    /// Rates with a loop rate below them.
    pub(super) above_loops: Vec<bool>,
}

impl<'a> Origins<'a> {
    /// Reads a loop.
    pub(crate) fn of(program: &'a Loop) -> Origins<'a> {
        let tree = Tree::of(program);
        let mut blocks = Vec::with_capacity(program.blocks.len());
        for (labels, block) in program.blocks.iter() {
            if let Some(label) = labels.first() {
                blocks.push((tree.place(program, *label), block));
            }
        }
        let mut origins = Origins {
            program,
            tree,
            blocks: Vec::new(),
            operands: FxHashMap::default(),
            lets: FxHashMap::default(),
            carries: FxHashMap::default(),
            assigned: FxHashMap::default(),
            updaters: vec![None; program.groups.len()],
            group_of: FxHashMap::default(),
            made: FxHashSet::default(),
            scratch: FxHashSet::default(),
            fixed: program.params.iter().map(|p| p.var).collect(),
            guards: vec![None; program.rates.len()],
            above_loops: vec![false; program.rates.len()],
        };
        for (i, group) in program.groups.iter().enumerate() {
            origins
                .group_of
                .extend(group.vars.iter().map(|v| (*v, GroupId::new(i))));
        }
        for rate in &program.rates {
            let mut above = rate.kind.parent().filter(|_| !rate.kind.is_sub());
            while let Some(r) = above.filter(|r| !origins.above_loops[r.index()]) {
                origins.above_loops[r.index()] = true;
                above = program.rate(r).kind.parent();
            }
        }
        for (place, block) in &blocks {
            origins.block(*place, block);
        }
        origins.blocks = blocks;
        origins
    }

    fn block(&mut self, place: Place, block: &'a Block) {
        if let Place::At {
            rate,
            section: Section::Guard,
            ..
        } = place
        {
            self.guards[rate.index()] = Some(block);
        }
        for stmt in &block.stmts {
            let mut reads = Vec::new();
            let mut defined = Vec::new();
            walk::summary(stmt, &mut |a| reads.extend(a.var()), &mut |v| {
                defined.push(v)
            });
            match &stmt.kind {
                StmtKind::Assign(v, a) => {
                    defined.push(*v);
                    self.update(*v, stmt.comb, place, Some(*a));
                }
                StmtKind::Scan { group, .. } => {
                    let vars = &self.program.groups[group.index()].vars;
                    reads.extend(vars);
                    defined.extend(vars);
                    let mut scanned = |v: &Var| self.update(*v, stmt.comb, place, None);
                    vars.iter().for_each(&mut scanned);
                }
                StmtKind::Carry(v, a) => {
                    self.carries.insert(*v, (place, *a));
                }
                StmtKind::Let(v, op, args) => {
                    self.lets.insert(*v, (*op, args));
                }
                StmtKind::NewArray(v, _)
                | StmtKind::FillArray(v, ..)
                | StmtKind::CopyArray(v, _) => {
                    self.made.insert(*v);
                    self.scratch
                        .extend(self.program.is_scratch(*v).then_some(*v));
                }
                _ => {}
            }
            for v in defined {
                if place == Place::Init && !matches!(stmt.kind, StmtKind::Carry(..)) {
                    self.fixed.insert(v);
                }
                self.operands
                    .entry(v)
                    .or_default()
                    .extend_from_slice(&reads);
            }
        }
    }

    fn update(&mut self, v: Var, comb: CombId, place: Place, value: Option<Atom>) {
        if let Some(g) = self.group_of.get(&v) {
            self.updaters[g.index()].get_or_insert(comb);
        }
        if let Place::At { rate, .. } = place {
            self.assigned.entry(v).or_default().push((rate, value));
        }
    }

    /// Returns the combinator that updates a group.
    pub(super) fn updater(&self, group: GroupId) -> CombId {
        self.updaters[group.index()].unwrap_or(CombId(0))
    }

    /// Tells whether a value is a variable plus one.
    pub(crate) fn is_one_more(&self, v: Var, value: Var) -> bool {
        let (v, one) = (Atom::Var(v), Atom::Const(Const::u64(1)));
        matches!(self.lets.get(&value), Some((Op::Add, [x, y])) if (*x, *y) == (v, one) || (*x, *y) == (one, v))
    }
}
