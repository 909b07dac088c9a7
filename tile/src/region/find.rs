//! Discovery and analysis of innermost loops.

use super::affine::{Affine, Stride, Sums};
use super::cost::{Cost, cost};
use super::inner_loop::join;
use super::{Access, Effect, Index, InnerLoop, Region, Statement, Step, role};
use livefusion_backend::facts::{self, Placed};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Place, RateId, RateKind, Section, Stmt, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

impl<'a> InnerLoop<'a> {
    /// Returns the innermost loop of a rate, if it is one. `random` lists the parameters read at
    /// arbitrary indices.
    pub(super) fn of(
        region: &Region<'a>,
        random: &FxHashSet<Var>,
        rate: RateId,
    ) -> Option<InnerLoop<'a>> {
        let inner_loop = InnerLoop::with(region, random, rate, region.steps(rate)?);
        // A sort separates the passes before and after it.
        inner_loop.filter(|inner_loop| !inner_loop.sorts)
    }

    /// Analyses a loop rate with the given steps.
    pub(super) fn with(
        region: &Region<'a>,
        random: &FxHashSet<Var>,
        rate: RateId,
        steps: Vec<Step>,
    ) -> Option<InnerLoop<'a>> {
        let (program, facts) = (region.program, &region.facts);
        let (RateKind::Root { counter, bound } | RateKind::Nested { counter, bound, .. }) =
            program.rate(rate).kind
        else {
            return None;
        };
        let mut inner_loop = InnerLoop {
            rate,
            counter,
            bound,
            exits: facts.other_exits(program, rate, (counter, bound))?,
            statements: Vec::new(),
            accesses: Vec::new(),
            proven: FxHashSet::default(),
            scarce: FxHashSet::default(),
            near: FxHashSet::default(),
            sometimes: FxHashSet::default(),
            joined: FxHashSet::default(),
            uses: FxHashSet::default(),
            defs: FxHashSet::default(),
            updates: FxHashMap::default(),
            arrays: BTreeSet::new(),
            checked: BTreeSet::new(),
            lengths: BTreeSet::new(),
            scalars: BTreeSet::new(),
            carried: BTreeSet::new(),
            groups: BTreeSet::new(),
            roles: BTreeMap::new(),
            scatters: false,
            sorts: false,
            at: Vec::with_capacity(steps.len()),
            sums: Sums::over(counter),
            fixed: FxHashSet::default(),
            successors: FxHashMap::default(),
            starts: BTreeSet::new(),
            steps,
        };
        inner_loop.find_statements(region)?;
        let moves = |v: Var| !inner_loop.leaves(v);
        // The counter's own update is in the rate itself: every iteration reaches it.
        let counts = |s: &Statement| {
            s.sub.is_none() && matches!(s.stmt.kind, StmtKind::Assign(v, _) if v == counter)
        };
        let goes_up = inner_loop.goes_up_by_one(region, counter);
        if bound.var().is_some_and(moves) || !goes_up || !inner_loop.statements.iter().any(counts) {
            return None;
        }
        inner_loop.find_shapes(program);
        inner_loop.find_accesses(region, random);
        inner_loop.find_carried(region)?;
        inner_loop.find_scalars(region);
        inner_loop.roles = role::roles(region, &inner_loop);
        Some(inner_loop)
    }

    /// Collects the statements of all blocks. The result is none if a statement does not fit in
    /// straight-line code.
    fn find_statements(&mut self, region: &Region<'a>) -> Option<()> {
        let mut subs: Vec<usize> = Vec::new();
        for at in 0..self.steps.len() {
            let step = self.steps[at];
            let from = self.statements.len();
            if let Some(i) = step.block() {
                let placed = &region.facts.blocks[i];
                let sub = subs.last().copied();
                for s in &placed.block.stmts {
                    self.flatten(region.program, s, (at, sub, true));
                }
                self.take(region, placed, from)?;
            }
            self.at.push(from..self.statements.len());
            match step {
                Step::Enter(_) => subs.push(at),
                Step::Leave => {
                    subs.pop();
                }
                Step::Block(_) => {}
            }
        }
        Some(())
    }

    /// Recursion is bounded by the language's nesting limit.
    fn flatten(
        &mut self,
        program: &Loop,
        stmt: &'a Stmt,
        (step, sub, top): (usize, Option<usize>, bool),
    ) -> Cost {
        let first = self.statements.len();
        let mut sum = cost(program, stmt);
        for inner in walk::regions(&stmt.kind).into_iter().flatten() {
            sum += self.flatten(program, inner, (step, sub, false));
        }
        self.statements.push(Statement {
            id: self.statements.len(),
            stmt,
            step,
            sub,
            top,
            first,
            cost: sum,
            effect: Effect::of(stmt),
        });
        sum
    }

    /// Records the uses, definitions and effects of a block's statements, starting at `from`.
    fn take(&mut self, region: &Region, placed: &Placed, from: usize) -> Option<()> {
        let program = region.program;
        facts::each_leaving_use(placed.block, &mut |v| {
            self.uses.insert(v);
        });
        let starts = matches!(placed.place, Place::At { section, .. } if section == Section::Nest);
        if !(region.facts.ending.get(&placed.place)).is_none_or(Vec::is_empty) {
            return None;
        }
        for s in &self.statements[from..] {
            facts::each_use(s.stmt, &mut |v| {
                self.uses.insert(v);
            });
            facts::each_def(s.stmt, &mut |v| {
                self.defs.insert(v);
            });
            match &s.stmt.kind {
                // In a region, these could run several times per iteration.
                StmtKind::Assign(..) | StmtKind::Scan { .. } if !s.top => return None,
                StmtKind::Assign(v, a) => self.updates.entry(*v).or_default().push(a.var()),
                StmtKind::Scan { .. } => facts::each_update(program, s.stmt, &mut |v| {
                    self.updates.entry(v).or_default().push(None);
                }),
                StmtKind::Let(v, Op::Add, args) => {
                    let one = Atom::from(Const::u64(1));
                    if let [Atom::Var(of), c] | [c, Atom::Var(of)] = args[..]
                        && c == one
                    {
                        self.successors.insert(*v, of);
                    }
                }
                StmtKind::ArrayLength(_, a) => {
                    self.lengths.insert(region.owner(*a));
                }
                StmtKind::ScatterArray { arrays, .. } => {
                    self.lengths.extend(arrays.iter().map(|a| region.owner(*a)));
                    self.scatters = true;
                }
                StmtKind::SortArrays(arrays, _) => {
                    self.lengths.extend(arrays.iter().map(|a| region.owner(*a)));
                    self.sorts = true;
                }
                StmtKind::ReadArray(_, a, i) | StmtKind::WriteArray(a, i, _) => {
                    self.accesses.push(Access {
                        statement: s.id,
                        array: region.owner(*a),
                        index: *i,
                        shape: Index::Random,
                        is_read: s.effect == Effect::Read,
                        is_proven: false,
                    });
                }
                StmtKind::Carry(v, _) if starts => {
                    self.starts.insert(*v);
                }
                StmtKind::Carry(..)
                | StmtKind::NewArray(..)
                | StmtKind::FillArray(..)
                | StmtKind::CopyArray(..)
                | StmtKind::SliceArray(..) => return None,
                _ => {}
            }
        }
        Some(())
    }

    /// Finds loop-invariant and affine values.
    fn find_shapes(&mut self, program: &Loop) {
        let mut sums = std::mem::take(&mut self.sums);
        let mut fixed = std::mem::take(&mut self.fixed);
        for s in &self.statements {
            match &s.stmt.kind {
                StmtKind::Let(v, op, args) => {
                    let outside = |v: Var| self.leaves(v);
                    let known = |a: &Atom| a.var().is_none_or(|v| outside(v) || fixed.contains(&v));
                    if args.iter().all(known) {
                        fixed.insert(*v);
                    }
                    if program.ty(*v) == Type::Scalar(Ty::U64) {
                        sums.add(*v, *op, args, outside);
                    }
                }
                StmtKind::ArrayLength(v, _) => {
                    fixed.insert(*v);
                }
                _ => {}
            }
        }
        (self.sums, self.fixed) = (sums, fixed);
    }

    /// Classifies array accesses and finds those that are always in bounds.
    fn find_accesses(&mut self, region: &Region, random: &FxHashSet<Var>) {
        let is_inner = matches!(region.program.rate(self.rate).kind, RateKind::Nested { .. });
        let mut accesses = std::mem::take(&mut self.accesses);
        for access in &mut accesses {
            let a = access.array;
            self.arrays.insert(a);
            let index = access.index.var();
            let is_counter = index == Some(self.counter);
            let counts = is_counter || index.is_some_and(|v| self.goes_up_by_one(region, v));
            access.shape = match self.affine(access.index) {
                Some(affine) => Index::Affine(affine),
                None if counts => Index::Count,
                None => Index::Random,
            };
            let sometimes = !self.statements[access.statement].top && random.contains(&a);
            let scarce = !is_counter && !self.exits.is_empty();
            access.is_proven = !sometimes && counts && !scarce;
            if !sometimes && counts && scarce {
                self.scarce.extend(index.map(|v| (a, v)));
            }
            let s = &self.statements[access.statement];
            let always = is_inner && s.top && s.sub.is_none() && self.exits.is_empty();
            let goes_up = |affine: &Affine| affine.step == Stride::By(1);
            if let (true, false, Index::Affine(affine)) = (always, counts, &access.shape)
                && goes_up(affine)
            {
                self.near.extend(index.map(|v| (a, v)));
            }
            let in_arm = access.is_read && !s.top && self.exits.is_empty();
            let from_row = |affine: &Affine| {
                let mut base = affine.base.iter();
                goes_up(affine) && base.all(|term| matches!(term.of, Atom::Var(_)))
            };
            if let (true, true, false, Index::Affine(affine)) =
                (is_inner, in_arm, counts, &access.shape)
                && from_row(affine)
            {
                self.sometimes.extend(index.map(|v| (a, v)));
            }
            match index.filter(|_| access.is_proven) {
                Some(v) => {
                    self.proven.insert((a, v));
                }
                None => {
                    self.lengths.insert(a);
                    self.checked.extend(access.is_read.then_some(a));
                }
            }
        }
        self.accesses = accesses;
        if is_inner && self.exits.is_empty() {
            self.joined = self.find_joined(region);
        }
    }

    /// Finds the contiguous scatters that every iteration does.
    fn find_joined(&self, region: &Region) -> FxHashSet<(Var, Var)> {
        let mut used: FxHashMap<Var, usize> = FxHashMap::default();
        for access in &self.accesses {
            *used.entry(access.array).or_default() += 1;
        }
        for s in &self.statements {
            if let StmtKind::ScatterArray { arrays, .. } = &s.stmt.kind {
                for a in arrays {
                    *used.entry(region.owner(*a)).or_default() += 1;
                }
            }
        }
        let always = self.all_tops().filter(|s| s.sub.is_none());
        let joins = always.filter_map(|s| join(region, s.stmt));
        let side_by_side = |(a, index): &(Var, Var)| {
            let affine = self.affine(Atom::Var(*index));
            used[a] == 1 && affine.is_some_and(|affine| affine.step == Stride::By(1))
        };
        joins.filter(side_by_side).collect()
    }

    /// Finds loop-carried variables. The result is none if lanes of another loop are updated.
    fn find_carried(&mut self, region: &Region) -> Option<()> {
        let (program, facts) = (region.program, &region.facts);
        for v in self.updates.keys().filter(|v| **v != self.counter) {
            match facts.local_group(program, *v) {
                Some((g, ..)) if facts.lane_rate(g, self.rate) == Some(self.rate) => {
                    self.groups.insert(g);
                }
                Some(_) => return None,
                None => {
                    self.carried.insert(*v);
                }
            }
        }
        Some(())
    }

    /// Finds values from outside the loop.
    fn find_scalars(&mut self, region: &Region) {
        let (program, facts) = (region.program, &region.facts);
        for v in self.uses.iter().filter(|v| !self.defs.contains(v)) {
            let known = *v == self.counter || self.carried.contains(v);
            match (program.ty(*v), facts.local_group(program, *v)) {
                (Type::Array(_), _) => {
                    self.arrays.insert(region.owner(*v));
                }
                (_, Some((g, ..))) if self.groups.contains(&g) => {}
                _ if !known => {
                    self.scalars.insert(*v);
                }
                _ => {}
            }
        }
        for g in &self.groups {
            let identity = &program.groups[g.index()].identity;
            self.scalars.extend(identity.iter().filter_map(|a| a.var()));
        }
    }

    /// Tells whether a carried variable has a single update, by one.
    fn goes_up_by_one(&self, region: &Region, v: Var) -> bool {
        let next = match self.updates.get(&v).map(Vec::as_slice) {
            Some([Some(next)]) => self.successors.get(next),
            _ => None,
        };
        next == Some(&v) && region.facts.local_group(region.program, v).is_none()
    }
}

impl Effect {
    fn of(s: &Stmt) -> Effect {
        match &s.kind {
            StmtKind::ReadArray(..) => Effect::Read,
            StmtKind::WriteArray(..) => Effect::Write,
            StmtKind::ScatterArray { .. } => Effect::Scatter,
            StmtKind::SortArrays(..) => Effect::Sort,
            StmtKind::Assign(..) | StmtKind::Scan { .. } => Effect::Update,
            StmtKind::Carry(..) => Effect::Start,
            StmtKind::Trap { .. } => Effect::Trap,
            _ => Effect::Pure,
        }
    }
}
