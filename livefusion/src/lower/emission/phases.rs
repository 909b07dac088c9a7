//! Phases: what is carried goes on from one to the next, and elements of appends are counted through all.

use super::Emission;
use crate::fusion::ClassId;
use crate::lower::placement::{Act, Opening};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What phases share.
#[derive(Default)]
pub struct Shared {
    /// Whose act is followed, of which kind, and in which phase it is; how much it has carried so far.
    act: Option<(NodeId, bool, RateId)>,
    /// How many acts of a node, of a kind, there were in a phase.
    acts: FxHashMap<(NodeId, bool, RateId), u32>,
    next: u32,
    /// What is carried, by who carries it and as which of his variables.
    carried: FxHashMap<(NodeId, bool, u32, u32), Var>,
    groups: FxHashMap<Var, GroupId>,
    /// The counts of appends' elements, and of what is below them.
    counts: FxHashMap<ClassId, Var>,
    /// In which rates they count.
    counting: FxHashSet<(ClassId, RateId)>,
    /// Where elements of appends stand, by the rate in whose iterations they are.
    positions: FxHashMap<(ClassId, RateId), Var>,
}

impl Emission<'_> {
    /// Follows an act: what it carries is what the same act carried in an earlier phase.
    pub fn begin(&mut self, id: NodeId, act: &Act) {
        let carries = |rate: RateId| {
            // What is not always asked for has a rate of its own in some phases only, and that carries nothing.
            !matches!(self.placed.tree.rate(rate).opening, Opening::While(_))
        };
        let rate = match act {
            Act::Open(rate) if carries(*rate) => Some((true, *rate)),
            Act::Run(spot) => Some((false, spot.rate)),
            _ => None,
        };
        let act = rate.map(|(opens, r)| (id, opens, self.placed.tree.root_of(r)));
        if let Some(act) = act {
            *self.shared.acts.entry(act).or_default() += 1;
        }
        self.shared.act = act;
        self.shared.next = 0;
    }

    /// Carries a value through the whole loop: from this start on, or, in a later phase, as the ones before left it.
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

    /// Says how what is carried is joined; in a later phase, that is said already.
    pub fn group(&mut self, group: Group) -> GroupId {
        let new = GroupId::new(self.program.groups.len());
        let first = group.vars.first().copied();
        let id = first.map_or(new, |v| *self.shared.groups.entry(v).or_insert(new));
        if id == new {
            self.program.groups.push(group);
        }
        id
    }

    /// Whether elements of a class are counted through several phases, in the iterations of a rate.
    fn is_appended(&self, class: ClassId, rate: RateId) -> bool {
        let root = self.placed.tree.root_of(rate);
        let root = self.placed.tree.rate(root).class;
        let read = root.is_some_and(|root| self.scope.plan.rates.is_within(class, root));
        !read && self.scope.is_appended(class)
    }

    /// Whether the elements of a class come as a counter counts, in the iterations of a rate.
    pub fn is_in_step(&self, class: Option<ClassId>, rate: RateId) -> bool {
        let appended = class.is_some_and(|c| self.is_appended(c, rate));
        !appended && !self.placed.tree.rate(rate).opening.is_sub()
    }

    /// The rates of a class in which its elements are counted through all phases. A phase that reads the class from memory,
    /// for a further append, has rates of it that are none of its parts.
    fn counted_in(&self, class: ClassId) -> impl Iterator<Item = RateId> {
        let all = self.placed.tree.instances(class).into_iter();
        all.filter(move |rate| self.is_appended(class, *rate))
    }

    /// Those in which the class does not run apart, phase by phase; those of a phase in the order in which one iteration
    /// runs them.
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

    /// Whether one count goes through all phases of an append's class, or of one below: where each has one rate of it, and
    /// these are neither loops of the class itself nor all roots, which have counters. Else the counts of a rate of each
    /// phase are added.
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

    /// The first rate of a class in each phase: the one that decides which elements there are.
    fn firsts(&self, class: ClassId) -> Vec<RateId> {
        self.by_phase(class).iter().map(|rates| rates[0]).collect()
    }

    /// The rates that count the elements of a class for one of its rates, phase by phase: that one, and of other phases
    /// one that has had all elements whenever it runs.
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

    /// The index of the current element of a class, in the iterations of a rate.
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

    /// How many elements a class has had so far, as a count that is carried, where it is decided which there are.
    pub fn count_of(&mut self, class: Option<ClassId>, rate: RateId) -> Atom {
        let rate = self.placed.tree.elements_of(rate);
        match class.filter(|c| self.is_appended(*c, rate)) {
            Some(class) => self.counted(class).into(),
            None => self.index(rate).into(),
        }
    }

    /// The index of the current element of a rate, behind those that earlier phases have.
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

    /// Where an inner loop's elements begin: as [`position`](Self::position), with what has to be computed for that.
    pub fn begins(&mut self, comb: CombId, rate: RateId) -> (Vec<Stmt>, Atom) {
        let class = self.placed.tree.rate(rate).class;
        match class.filter(|c| self.is_appended(*c, rate)) {
            Some(class) => self.index_behind(comb, class, rate),
            None => (Vec::new(), self.index(rate).into()),
        }
    }

    /// How many elements of a class there are, in `done`, for what runs in the iterations of a rate.
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

    /// How many elements a rate has in all, once it is behind: a root's bound, or what was counted.
    fn counted_by(&mut self, rate: RateId) -> Atom {
        match self.program.rate(rate).kind {
            RateKind::Root { bound, .. } => bound,
            _ => self.index(rate).into(),
        }
    }

    /// The count of a class that goes through all phases, of which some are open yet.
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

    /// Counts by which arrays are appended to are those of their subrates, where these have none of their own.
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

    /// Whether no later phase has elements of a class, so that how many there are can be said.
    pub fn is_last(&self, class: Option<ClassId>, rate: RateId) -> bool {
        let tree = &self.placed.tree;
        let class = class.filter(|c| self.is_appended(*c, rate));
        let roots = class.map(|c| self.counted_in(c).map(|r| tree.root_of(r)));
        let last = roots.and_then(Iterator::max);
        last.is_none_or(|last| last == tree.root_of(rate))
    }

    /// A rate is open: what is counted in its iterations, as in those of earlier phases, goes on.
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
