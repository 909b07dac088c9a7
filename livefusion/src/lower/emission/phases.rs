//! Phases: continues loop-carried values and counts from one phase to the next.

use super::Emission;
use crate::fusion::ClassId;
use crate::lower::placement::{Act, Opening};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Holds the state that phases share.
#[derive(Default)]
pub struct PhaseState {
    /// The current act: its node, whether it opens a rate, and the root of its phase.
    act: Option<(NodeId, bool, RateId)>,
    /// The number of acts so far, by node, kind and phase.
    acts: FxHashMap<(NodeId, bool, RateId), u32>,
    next: u32,
    /// The loop-carried variables, by node, kind, number of the act, and number within the act.
    carried: FxHashMap<(NodeId, bool, u32, u32), Var>,
    groups: FxHashMap<Var, GroupId>,
    /// The counts of appended elements, and of elements below them.
    counts: FxHashMap<ClassId, Var>,
    /// The rates that increment each count.
    counting: FxHashSet<(ClassId, RateId)>,
    /// The position of an appended element, by the rate of its iteration.
    positions: FxHashMap<(ClassId, RateId), Var>,
}

impl Emission<'_> {
    /// Starts an act.
    ///
    /// Its loop-carried values continue those of the same act in an earlier phase.
    pub fn begin(&mut self, id: NodeId, act: &Act) {
        let carries = |rate: RateId| {
            // A liveness guard exists in some phases only. It has no loop-carried values.
            !matches!(self.placed.tree.rate(rate).opening, Opening::While(_))
        };
        let rate = match act {
            Act::Open(rate) if carries(*rate) => Some((true, *rate)),
            Act::Run(point) => Some((false, point.rate)),
            _ => None,
        };
        let act = rate.map(|(opens, r)| (id, opens, self.placed.tree.root_of(r)));
        if let Some(act) = act {
            *self.shared.acts.entry(act).or_default() += 1;
        }
        self.shared.act = act;
        self.shared.next = 0;
    }

    /// Declares a value that is carried through the whole loop.
    ///
    /// It starts at `start`. In a later phase it continues from the earlier phases, and `start` is
    /// unused.
    pub fn carry(&mut self, base: &str, comb: CombId, ty: Ty, start: Atom) -> Var {
        let nth = self.shared.next;
        self.shared.next += 1;
        let act = self.shared.act.map(|act| {
            let times = self.shared.acts.get(&act).copied().unwrap_or(0);
            (act.0, act.1, times, nth)
        });
        let known = act.and_then(|act| self.shared.carried.get(&act).copied());
        if let Some(known) = known.filter(|v| self.program.ty(*v).elem() == ty) {
            return known;
        }
        let carried = self.scalar(base, comb, ty);
        self.push(comb, Section::Init, StmtKind::Carry(carried, start));
        if let Some(act) = act {
            self.shared.carried.insert(act, carried);
        }
        carried
    }

    /// Declares a group of loop-carried values.
    ///
    /// A later phase returns the group of the first one.
    pub fn group(&mut self, group: Group) -> GroupId {
        let new = GroupId::new(self.program.groups.len());
        let first = group.vars.first().copied();
        let id = first.map_or(new, |v| *self.shared.groups.entry(v).or_insert(new));
        if id == new {
            self.program.groups.push(group);
        }
        id
    }

    /// Whether elements of a class in a rate are counted through several phases.
    fn is_appended(&self, class: ClassId, rate: RateId) -> bool {
        let root = self.placed.tree.root_of(rate);
        let root = self.placed.tree.rate(root).class;
        let read = root.is_some_and(|root| self.scope.plan.rates.is_within(class, root));
        !read && self.scope.is_appended(class)
    }

    /// Returns whether the elements of a class follow a loop counter, in a rate.
    pub fn is_in_step(&self, class: Option<ClassId>, rate: RateId) -> bool {
        let appended = class.is_some_and(|c| self.is_appended(c, rate));
        !appended && !self.placed.tree.rate(rate).opening.is_sub()
    }

    /// The rates of a class in which its elements are counted through all phases. Excludes a phase
    /// that reads the class from memory for a further append.
    fn counted_in(&self, class: ClassId) -> impl Iterator<Item = RateId> {
        let all = self.placed.tree.instances(class).into_iter();
        all.filter(move |rate| self.is_appended(class, *rate))
    }

    /// The counted rates by phase, each phase in the order of one iteration. Excludes liveness
    /// guards.
    fn by_phase(&self, class: ClassId) -> Vec<Vec<RateId>> {
        let tree = &self.placed.tree;
        let mut phases: BTreeMap<RateId, Vec<RateId>> = BTreeMap::new();
        for rate in self.counted_in(class) {
            if !matches!(tree.rate(rate).opening, Opening::While(_)) {
                phases.entry(tree.root_of(rate)).or_default().push(rate);
            }
        }
        phases.into_values().collect()
    }

    /// Whether one count serves all phases of an append's class, or of a class below it. Each phase
    /// must have one rate of the class. None may be a loop of the class itself, and not all may be
    /// roots, because loops and roots have counters. Otherwise the counts of the phases are added.
    fn has_one_count(&self, class: ClassId) -> bool {
        let tree = &self.placed.tree;
        let phases = self.by_phase(class);
        let own =
            |r: &RateId| tree.rate(*r).class == Some(class) && !tree.rate(*r).opening.is_sub();
        let is_root = |r: &RateId| tree.parent(*r).is_none();
        let one = phases.iter().all(|rates| rates.len() == 1);
        let mut all = phases.iter().flatten();
        one && !all.clone().any(own) && !all.all(is_root)
    }

    /// The first rate of a class in each phase: it selects the elements.
    fn firsts(&self, class: ClassId) -> Vec<RateId> {
        self.by_phase(class).iter().map(|rates| rates[0]).collect()
    }

    /// The rates that count a class for one of its rates, phase by phase. For the phase of `rate`,
    /// this is `rate`. For other phases it is a rate that completes before `rate` runs, if there is
    /// one.
    fn counts_for(&self, class: ClassId, rate: RateId) -> Vec<RateId> {
        let (tree, rates) = (&self.placed.tree, &self.scope.plan.rates);
        let counts = |all: Vec<RateId>| match tree.root_of(all[0]) == tree.root_of(rate) {
            true => rate,
            false => {
                let mut lasting = all
                    .iter()
                    .filter(|r| self.placed.outlasts(rates, **r, rate));
                *lasting.next().unwrap_or(&all[0])
            }
        };
        self.by_phase(class).into_iter().map(counts).collect()
    }

    /// Returns the index of the current element of a class in a rate.
    pub fn position(&mut self, class: Option<ClassId>, rate: RateId) -> Atom {
        let rate = self.placed.tree.elements_of(rate);
        let Some(class) = class.filter(|c| self.is_appended(*c, rate)) else {
            return self.index(rate).into();
        };
        if self.has_one_count(class) {
            return self.counted(class).into();
        }
        if let Some(known) = self.shared.positions.get(&(class, rate)) {
            return (*known).into();
        }
        let comb = self.values.openers[rate.index()];
        let (stmts, position) = self.index_behind(comb, class, rate);
        self.push_all(comb, Section::Guard, stmts);
        if let Atom::Var(v) = position {
            self.shared.positions.insert((class, rate), v);
        }
        position
    }

    /// Returns the number of elements of a class so far.
    ///
    /// It is a loop-carried count where the elements are selected.
    pub fn count_of(&mut self, class: Option<ClassId>, rate: RateId) -> Atom {
        let rate = self.placed.tree.elements_of(rate);
        match class.filter(|c| self.is_appended(*c, rate)) {
            Some(class) => self.counted(class).into(),
            None => self.index(rate).into(),
        }
    }

    /// The index of a rate's current element, after those of earlier phases.
    fn index_behind(&mut self, comb: CombId, class: ClassId, rate: RateId) -> (Vec<Stmt>, Atom) {
        let (mut stmts, mut sum): (_, Atom) = (Vec::new(), self.index(rate).into());
        let root = self.placed.tree.root_of(rate);
        let mut before = self.counts_for(class, rate);
        before.retain(|r| self.placed.tree.root_of(*r) < root);
        for other in before {
            let args = Args::from_slice(&[self.counted_by(other), sum]);
            let at = self.scalar("at", comb, Ty::U64);
            let kind = StmtKind::Let(at, Op::Add, args);
            stmts.push(Stmt { comb, kind });
            sum = at.into();
        }
        (stmts, sum)
    }

    /// Returns the index of an inner loop's first element.
    ///
    /// This is [`position`](Self::position), together with the statements that compute it.
    pub fn begins(&mut self, comb: CombId, rate: RateId) -> (Vec<Stmt>, Atom) {
        let class = self.placed.tree.rate(rate).class;
        match class.filter(|c| self.is_appended(*c, rate)) {
            Some(class) => self.index_behind(comb, class, rate),
            None => (Vec::new(), self.index(rate).into()),
        }
    }

    /// Returns the total number of elements of a class, in `done`.
    pub fn total(&mut self, comb: CombId, class: Option<ClassId>, rate: RateId) -> Atom {
        let rate = self.placed.tree.elements_of(rate);
        let Some(class) = class.filter(|c| self.is_appended(*c, rate)) else {
            return self.counted_by(rate);
        };
        if self.has_one_count(class) {
            return self.counted(class).into();
        }
        let mut sum: Option<Atom> = None;
        for rate in self.counts_for(class, rate) {
            let more = self.counted_by(rate);
            sum = Some(match sum {
                Some(sum) => self
                    .emit(comb, Section::Done, "all", Op::Add, &[sum, more])
                    .into(),
                None => more,
            });
        }
        sum.unwrap_or(Const::u64(0).into())
    }

    /// The total number of a rate's elements after the loop: a root's bound, or a count.
    fn counted_by(&mut self, rate: RateId) -> Atom {
        match self.program.rate(rate).kind {
            RateKind::Root { bound, .. } => bound,
            _ => self.index(rate).into(),
        }
    }

    /// The count of a class through all phases. Later phases may not be open yet.
    fn counted(&mut self, class: ClassId) -> Var {
        if let Some(known) = self.shared.counts.get(&class) {
            return *known;
        }
        let rates = self.firsts(class);
        let opener = self.values.openers[rates[0].index()];
        let count = self.scalar("n", opener, Ty::U64);
        let zero = Const::u64(0).into();
        self.push(opener, Section::Init, StmtKind::Carry(count, zero));
        self.shared.counts.insert(class, count);
        for rate in rates {
            if rate.index() < self.program.rates.len() {
                self.count_in(class, rate, count);
            }
        }
        count
    }

    /// Counts the elements of a class in the iterations of a rate.
    fn count_in(&mut self, class: ClassId, rate: RateId, count: Var) {
        if !self.shared.counting.insert((class, rate)) {
            return;
        }
        let comb = self.values.openers[rate.index()];
        let next = self.scalar("nn", comb, Ty::U64);
        let one = Const::u64(1).into();
        let add = StmtKind::Let(next, Op::Add, Args::from_slice(&[count.into(), one]));
        self.push_last(comb, Section::Yield, add);
        self.update(comb, rate, count, next.into());
        let owner = self.owner();
        self.exact_group(count, (owner, rate), (Op::Add, Const::u64(0)), next);
        if self.placed.tree.rate(rate).class == Some(class) {
            self.set_count(rate, count);
        }
    }

    /// Registers the counts of appends as the counts of their subrates.
    ///
    /// Subrates with counts of their own keep them.
    pub(super) fn name_counts(&mut self) {
        let mut counting: Vec<(ClassId, RateId)> = self.shared.counting.iter().copied().collect();
        counting.sort_unstable();
        for (class, rate) in counting {
            if let Some(count) = self.shared.counts.get(&class).copied() {
                self.set_count(rate, count);
            }
        }
    }

    fn set_count(&mut self, rate: RateId, count: Var) {
        if let RateKind::Sub { count: known, .. } = &mut self.program.rates[rate.index()].kind {
            known.get_or_insert(count);
        }
    }

    /// Returns whether no later phase has elements of a class.
    ///
    /// Then their total is known.
    pub fn is_last(&self, class: Option<ClassId>, rate: RateId) -> bool {
        let tree = &self.placed.tree;
        let class = class.filter(|c| self.is_appended(*c, rate));
        let roots = class.map(|c| self.counted_in(c).map(|r| tree.root_of(r)));
        let last = roots.and_then(Iterator::max);
        last.is_none_or(|last| last == tree.root_of(rate))
    }

    /// Notes that a rate is open.
    ///
    /// Counts of its elements, begun in earlier phases, continue in it.
    pub fn goes_on(&mut self, rate: RateId) {
        let placed = self.placed.tree.rate(rate);
        let classes = placed.class.iter().chain(&placed.appends);
        let counts: Vec<(ClassId, Var)> = classes
            .filter_map(|c| Some((*c, *self.shared.counts.get(c)?)))
            .filter(|(c, _)| self.is_appended(*c, rate) && self.firsts(*c).contains(&rate))
            .collect();
        for (class, count) in counts {
            self.count_in(class, rate, count);
        }
    }
}
