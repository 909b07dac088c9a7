//! Which loops are written in vectors, and what their updates are.

use crate::facts;
use livefusion_tile::region::Step;
use livefusion_tile::region::cost::is_cheap;
use livefusion_tile::region::{Region, Statement, Sweep};
use loop_lang::Loop;
use loop_lang::ir::{Atom, GroupId, Order, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A loop that is written in vectors.
#[derive(Clone)]
pub struct Vectors {
    /// Bytes of the widest element.
    pub widest: usize,
    /// Plain carried variables that vectors update, and how.
    pub updates: FxHashMap<Var, Update>,
    /// Groups whose lanes vectors update.
    pub lanes: Vec<GroupId>,
    /// Statements' results that vectors need.
    pub needed: FxHashSet<Var>,
    /// The same, if all folds are in one loop with the rest.
    pub all_needed: FxHashSet<Var>,
    /// What a group's folds need, where these have a loop of their own: all lanes of a group stay in
    /// registers, but not those of several.
    pub slices: BTreeMap<GroupId, Slice>,
}

/// What the folds of a group with one variable need.
#[derive(Clone)]
pub struct Slice {
    pub var: Var,
    /// Statements' results.
    pub needed: FxHashSet<Var>,
    /// The same, with what everything else but other such folds needs.
    pub with_rest: FxHashSet<Var>,
    /// The subrates around the update, by the steps that enter them.
    pub subs: Vec<usize>,
    /// The minimum or maximum of floats that it is: the result, the operator, the elements.
    pub extremum: Option<(Var, Op, Atom)>,
}

/// A slice with more statements is not worth being computed again.
const MAX_SLICE: usize = 10;

/// How a plain carried variable is updated.
#[derive(Clone, Copy)]
pub enum Update {
    /// One more for each admitted element.
    Count,
    /// Joined with a value by an operator that may take elements in any order.
    Join(Op, Atom),
}

/// A sweep that is looked at.
pub(super) struct Fitting<'f> {
    pub region: &'f Region<'f>,
    pub sweep: &'f Sweep<'f>,
}

/// The vector form of a sweep, if it has one.
pub fn fit(region: &Region, sweep: &Sweep) -> Option<Vectors> {
    let filters = sweep.statements.iter().any(|s| s.sub.is_some());
    filters.then(|| Fitting { region, sweep }.vectors())?
}

/// The form of a sweep with a run in each lane, if it has one.
pub fn runs(region: &Region, sweep: &Sweep) -> Option<Vectors> {
    Fitting { region, sweep }.runs()
}

impl Vectors {
    /// Whether a statement is an update in a loop of its own.
    pub(super) fn is_sliced(&self, s: &Stmt) -> bool {
        let updates = |v: &Var| self.slices.values().any(|slice| slice.var == *v);
        matches!(&s.kind, StmtKind::Assign(v, _) if updates(v))
    }
}

impl<'f> Fitting<'f> {
    /// The loop.
    pub(super) fn program(&self) -> &'f Loop {
        self.region.program
    }
}

impl Fitting<'_> {
    /// The form in vectors of a loop that does nothing but fold, in lanes.
    pub(super) fn folds(&self, lanes: Vec<GroupId>) -> Vectors {
        let mut vectors = Vectors {
            widest: 1,
            updates: FxHashMap::default(),
            lanes,
            needed: FxHashSet::default(),
            all_needed: FxHashSet::default(),
            slices: BTreeMap::new(),
        };
        vectors.needed = self.needed(&vectors);
        vectors.widest = self.widest(&vectors);
        vectors
    }

    fn vectors(&self) -> Option<Vectors> {
        let mut vectors = Vectors {
            widest: 1,
            updates: FxHashMap::default(),
            lanes: Vec::new(),
            needed: FxHashSet::default(),
            all_needed: FxHashSet::default(),
            slices: BTreeMap::new(),
        };
        for v in &self.sweep.carried {
            let update = self.update(*v)?;
            vectors.updates.insert(*v, update);
        }
        for g in &self.sweep.groups {
            let group = &self.program().groups[g.index()];
            let plain = |v: &Var| facts::elem(self.program(), *v) != Ty::Bool;
            match group.order {
                Order::Lanes(l) if l > 1 && group.vars.iter().all(plain) => vectors.lanes.push(*g),
                _ => return None,
            }
        }
        vectors.needed = self.needed(&vectors);
        for i in &self.sweep.statements {
            self.take(&vectors, i)?;
        }
        vectors.widest = self.widest(&vectors);
        let fits = |g: &GroupId| match self.program().groups[g.index()].order {
            Order::Lanes(l) => l as usize * vectors.widest >= 64,
            _ => false,
        };
        for g in &vectors.lanes {
            if let Some(slice) = self.slice(*g, vectors.widest) {
                vectors.slices.insert(*g, slice);
            }
        }
        vectors.all_needed = std::mem::take(&mut vectors.needed);
        vectors.needed = self.needed(&vectors);
        for slice in vectors.slices.values_mut() {
            slice.with_rest = slice.needed.union(&vectors.needed).copied().collect();
        }
        vectors.lanes.iter().all(fits).then_some(vectors)
    }

    /// What the folds of a group need, if that is little and its lanes fit into registers.
    fn slice(&self, g: GroupId, widest: usize) -> Option<Slice> {
        let group = &self.program().groups[g.index()];
        let (Order::Lanes(lanes), [var]) = (group.order, &group.vars[..]) else {
            return None;
        };
        if lanes as usize * widest > 256 {
            return None;
        }
        let update = |i: &&Statement| matches!(i.stmt.kind, StmtKind::Assign(v, _) if v == *var);
        let update = self.sweep.statements.iter().find(update)?;
        let mut needed = FxHashSet::default();
        facts::each_use(update.stmt, &mut |v| {
            needed.insert(v);
        });
        let mut subs = Vec::new();
        for (at, step) in self.sweep.steps.iter().enumerate() {
            match step {
                Step::Enter(_) => subs.push(at),
                Step::Leave => {
                    subs.pop();
                }
                Step::Block(_) => {}
            }
            if subs.last().copied() == update.sub {
                break;
            }
        }
        for at in &subs {
            if let Step::Enter(i) = self.sweep.steps[*at] {
                facts::each_leaving_use(self.region.facts.blocks[i].block, &mut |v| {
                    needed.insert(v);
                });
            }
        }
        let statements = self.sweep.close(&mut needed);
        let next = match update.stmt.kind {
            StmtKind::Assign(_, Atom::Var(next)) => Some(next),
            _ => None,
        };
        let extremum = self
            .sweep
            .statements
            .iter()
            .find_map(|i| match &i.stmt.kind {
                StmtKind::Let(v, op @ (Op::Min | Op::Max), args) if Some(*v) == next && i.top => {
                    match args[..] {
                        [Atom::Var(a), x] | [x, Atom::Var(a)] if a == *var => Some((*v, *op, x)),
                        _ => None,
                    }
                }
                _ => None,
            });
        let ty = facts::elem(self.program(), *var);
        (statements <= MAX_SLICE).then_some(Slice {
            var: *var,
            needed,
            with_rest: FxHashSet::default(),
            subs,
            extremum: extremum.filter(|_| ty.is_float() && ty.size() == widest),
        })
    }

    /// Whether a statement has a form in vectors; notes what it needs.
    pub(super) fn take(&self, vectors: &Vectors, i: &Statement) -> Option<()> {
        match &i.stmt.kind {
            StmtKind::Let(..) => is_cheap(self.program(), i.stmt).then_some(()),
            StmtKind::If { .. } => Some(()),
            StmtKind::ReadArray(_, a, Atom::Var(index)) => {
                (i.top && self.in_step(*a, *index)).then_some(())
            }
            StmtKind::WriteArray(a, Atom::Var(index), _) if i.top => match i.sub {
                None => self.in_step(*a, *index).then_some(()),
                Some(_) => {
                    let counted = matches!(vectors.updates.get(index), Some(Update::Count));
                    let here = counted && self.sub_of_update(*index) == i.sub;
                    let proven = self.sweep.proven.contains(&(self.region.owner(*a), *index));
                    (here && proven && self.region.facts.is_cut_to(*a, *index)).then_some(())
                }
            },
            StmtKind::Trap { .. } | StmtKind::ArrayLength(..) => i.top.then_some(()),
            StmtKind::Assign(..) => Some(()),
            _ => None,
        }
    }

    pub(super) fn in_step(&self, a: Var, index: Var) -> bool {
        index == self.sweep.counter && self.sweep.proven.contains(&(self.region.owner(a), index))
    }

    fn sub_of_update(&self, v: Var) -> Option<usize> {
        let update = |i: &&Statement| matches!(i.stmt.kind, StmtKind::Assign(u, _) if u == v);
        self.sweep.statements.iter().find(update)?.sub
    }

    /// How a plain carried variable is updated, if vectors can do it: once, to a value that is used for
    /// nothing else, from an old value that only a count shows to others (as the index of a write).
    fn update(&self, v: Var) -> Option<Update> {
        let Type::Scalar(ty) = self.program().ty(v) else {
            return None;
        };
        let mut nexts = self
            .sweep
            .statements
            .iter()
            .filter_map(|i| match i.stmt.kind {
                StmtKind::Assign(u, Atom::Var(next)) if u == v => Some(next),
                _ => None,
            });
        let (next, other) = (nexts.next()?, nexts.next());
        let (op, joined) = self
            .sweep
            .statements
            .iter()
            .find_map(|i| match &i.stmt.kind {
                StmtKind::Let(n, op, args) if *n == next => match args[..] {
                    [Atom::Var(a), x] | [x, Atom::Var(a)] if a == v && x != Atom::Var(v) => {
                        Some((*op, x))
                    }
                    _ => None,
                },
                _ => None,
            })?;
        let (mut reads_of_v, mut reads_of_next, mut indexed) = (0, 0, 0);
        for i in &self.sweep.statements {
            facts::each_use(i.stmt, &mut |u| {
                reads_of_v += usize::from(u == v);
                reads_of_next += usize::from(u == next);
            });
            let indexes =
                matches!(i.stmt.kind, StmtKind::WriteArray(_, index, _) if index == Atom::Var(v));
            indexed += usize::from(indexes);
        }
        if other.is_some() || reads_of_next != 1 || self.leaves(v) || self.leaves(next) {
            return None;
        }
        let one = Atom::Const(Const::u64(1));
        match (reads_of_v - indexed, indexed) {
            (1, _) if ty == Ty::U64 && op == Op::Add && joined == one => Some(Update::Count),
            (1, 0) if op.joins_in_any_order(ty) && ty != Ty::Bool => Some(Update::Join(op, joined)),
            _ => None,
        }
    }

    /// Whether a variable decides where a block of the body goes.
    fn leaves(&self, v: Var) -> bool {
        let mut found = false;
        for step in &self.sweep.steps {
            if let Step::Block(i) | Step::Enter(i) = step {
                let block = self.region.facts.blocks[*i].block;
                facts::each_leaving_use(block, &mut |u| found |= u == v);
            }
        }
        found
    }

    /// What vectors need in the end: for writes, tests, traps and updates, counts and the counter's aside.
    pub(super) fn needed(&self, vectors: &Vectors) -> FxHashSet<Var> {
        let mut needed = FxHashSet::default();
        let mut need = |a: Atom| {
            if let Atom::Var(v) = a {
                needed.insert(v);
            }
        };
        for step in &self.sweep.steps {
            if let Step::Enter(i) = step {
                let exits = &self.region.facts.blocks[*i].block.exits;
                exits.iter().for_each(|e| need(e.unless));
            }
        }
        for i in &self.sweep.statements {
            match &i.stmt.kind {
                StmtKind::Assign(v, a) => match vectors.updates.get(v) {
                    _ if *v == self.sweep.counter || vectors.is_sliced(i.stmt) => {}
                    Some(Update::Count) => {}
                    Some(Update::Join(_, x)) => need(*x),
                    None => need(*a),
                },
                StmtKind::WriteArray(_, _, x) => need(*x),
                StmtKind::Trap { unless, .. } => need(*unless),
                _ => {}
            }
        }
        self.sweep.close(&mut needed);
        needed
    }

    /// Bytes of the widest element that a vector holds.
    pub(super) fn widest(&self, vectors: &Vectors) -> usize {
        let counter_is_read = vectors.needed.contains(&self.sweep.counter);
        let mut widest = if counter_is_read { 8 } else { 1 };
        let mut see = |ty: Ty| {
            if ty != Ty::Bool {
                widest = widest.max(ty.size());
            }
        };
        for i in &self.sweep.statements {
            facts::each_def(i.stmt, &mut |v| {
                if vectors.needed.contains(&v) {
                    see(facts::elem(self.program(), v));
                }
            });
            match &i.stmt.kind {
                StmtKind::Let(v, _, args) if vectors.needed.contains(v) => {
                    args.iter().for_each(|a| see(self.program().atom_ty(*a)));
                }
                StmtKind::WriteArray(_, _, x) => see(self.program().atom_ty(*x)),
                StmtKind::Assign(v, _) => match vectors.updates.get(v) {
                    Some(Update::Count) => {}
                    _ if *v == self.sweep.counter => {}
                    _ => see(facts::elem(self.program(), *v)),
                },
                _ => {}
            }
        }
        widest
    }
}
