//! Floating: finds the binding regions of each term, from users to operands.

use super::guard::{GuardedTerm, dependents, each_operand, users};
use super::{OUTER, Region, RegionId, RegionItem, Regions, TermPlacement};
use crate::ast::{Body, Term, TermId};
use crate::error::ErrorKind;
use rustc_hash::{FxHashMap, FxHashSet};

/// The nesting limit of conditions and scalar loops. It is below the Loop language's limit, since
/// folds lift bodies by two.
const MAX_DEPTH: u32 = 90;

/// The limit of regions in a body. An unguarded term is copied into each arm, with the conditions
/// that only it needs.
fn most_regions(body: &Body) -> usize {
    4096 + 16 * body.terms.len()
}

/// The innermost loop that each term varies with. Inner loops have higher numbers.
fn innermost_loops(body: &Body) -> Vec<Option<u32>> {
    let mut inside: Vec<Option<u32>> = Vec::with_capacity(body.terms.len());
    for data in &body.terms {
        let mut here = match &data.term {
            Term::LoopVar(l, _) => Some(*l),
            _ => None,
        };
        data.term
            .each_operand(|t| here = here.max(inside[t.index()]));
        inside.push(here);
    }
    inside
}

/// The terms that the test of a condition depends on.
fn terms_of_tests(body: &Body) -> Vec<bool> {
    let mut is_in_test = vec![false; body.terms.len()];
    for (i, data) in body.terms.iter().enumerate().rev() {
        if let Term::Cond(test, ..) = data.term {
            is_in_test[test.index()] = true;
        }
        if is_in_test[i] {
            each_operand(body, TermId(i as u32), &mut |a| {
                is_in_test[a.index()] = true
            });
        }
    }
    is_in_test
}

/// The lowest of the terms that belong to each loop.
fn first_terms(body: &Body, loop_of: fn(&Term) -> Option<u32>) -> Vec<Option<TermId>> {
    let mut first = vec![None; body.loops.len()];
    for (i, t) in body.terms.iter().enumerate() {
        if let Some(l) = loop_of(&t.term) {
            first[l as usize].get_or_insert(TermId(i as u32));
        }
    }
    first
}
/// The condition to enter a region from the region around it.
#[derive(Clone, Copy)]
pub(super) enum RegionEntry {
    /// A test has this value.
    Arm(TermId, bool),
    /// Always: the test of a loop runs at least once.
    Test(u32),
    /// A guard holds, by position in [`TermPlacer::shared`].
    Guard(u32),
    /// Once per iteration of a loop.
    Step,
}

pub(super) struct TermPlacer {
    pub placement: TermPlacement,
    /// The entry condition of each region.
    pub entries: Vec<RegionEntry>,
    /// The regions of the users of each term, as found so far.
    uses: Vec<Regions>,
    may_trap: Vec<bool>,
    /// Whether a test depends on each term.
    is_in_test: Vec<bool>,
    /// The innermost loop that a term varies with.
    inside: Vec<Option<u32>>,
    loop_regions: Vec<Regions>,
    /// The lowest result of each loop. It is floated last.
    first_result: Vec<Option<TermId>>,
    /// The lowest variable of each loop. Earlier terms are loop-invariant.
    first_var: Vec<Option<TermId>>,
    /// The number of used results of each loop.
    used_results: Vec<u32>,
    /// Terms that are bound once, before the arms that use them; none if each arm binds its own.
    pub shared: Option<Vec<GuardedTerm>>,
    /// The dependents of each term: terms with it as an operand or as a test of their guard. Empty
    /// before the first guard is tried.
    users: Vec<Vec<TermId>>,
    /// The number of exclusive arms that may have copies of a term instead.
    most_copies: usize,
}

impl TermPlacer {
    /// Creates an empty placement.
    pub fn new(
        body: &Body,
        may_trap: Vec<bool>,
        shared: Option<Vec<GuardedTerm>>,
        most_copies: usize,
    ) -> TermPlacer {
        let mut used_results = vec![0; body.loops.len()];
        for data in &body.terms {
            if let Term::LoopResult(l, _) = data.term {
                used_results[l as usize] += 1;
            }
        }
        TermPlacer {
            placement: TermPlacement {
                regions: vec![Region {
                    parent: OUTER,
                    depth: 0,
                    items: vec![],
                }],
                regions_of: vec![Regions::new(); body.terms.len()],
                arms: FxHashMap::default(),
                loops: FxHashMap::default(),
            },
            entries: vec![RegionEntry::Step],
            uses: vec![Regions::new(); body.terms.len()],
            may_trap,
            is_in_test: terms_of_tests(body),
            inside: innermost_loops(body),
            loop_regions: vec![Regions::new(); body.loops.len()],
            first_result: first_terms(body, |t| match t {
                Term::LoopResult(l, _) => Some(*l),
                _ => None,
            }),
            first_var: first_terms(body, |t| match t {
                Term::LoopVar(l, _) => Some(*l),
                _ => None,
            }),
            used_results,
            shared,
            users: Vec::new(),
            most_copies,
        }
    }

    /// Floats all terms that some results need.
    ///
    /// Errors: conditions nested deeper than `MAX_DEPTH`; more regions than `most_regions`.
    pub fn float_all(&mut self, body: &Body, results: &[TermId]) -> Result<(), ErrorKind> {
        for r in results {
            self.used(*r, OUTER);
        }
        let most = most_regions(body);
        for t in (0..body.terms.len() as u32).rev().map(TermId) {
            let regions = self.settle(body, t);
            self.placement.regions_of[t.index()] = regions.clone();
            for region in regions {
                self.float(body, t, region);
            }
            self.float_loop_if_ready(body, t);
            let regions = &self.placement.regions;
            if regions.last().is_some_and(|r| r.depth > MAX_DEPTH) {
                return Err(ErrorKind::Malformed {
                    expected: format!("conditions nested at most {MAX_DEPTH} deep"),
                    got: "deeper ones".into(),
                });
            }
            if regions.len() > most {
                return Err(ErrorKind::Malformed {
                    expected: format!("at most {most} arms in a closure, with copies"),
                    got: "more".into(),
                });
            }
        }
        Ok(())
    }

    fn region(&mut self, parent: RegionId, entry: RegionEntry) -> RegionId {
        self.entries.push(entry);
        let depth = self.placement.regions[parent.0 as usize].depth + 1;
        self.placement.regions.push(Region {
            parent,
            depth,
            items: vec![],
        });
        RegionId(self.placement.regions.len() as u32 - 1)
    }

    /// The lowest region around both.
    fn meet(&self, mut a: RegionId, mut b: RegionId) -> RegionId {
        let region = |r: RegionId| &self.placement.regions[r.0 as usize];
        while a != b {
            if region(a).depth >= region(b).depth {
                a = region(a).parent;
            } else {
                b = region(b).parent;
            }
        }
        a
    }

    fn used(&mut self, t: TermId, at: RegionId) {
        let uses = &mut self.uses[t.index()];
        if uses.last() != Some(&at) {
            uses.push(at);
        }
    }

    /// The regions in which a term is bound, once all its uses are known.
    fn settle(&mut self, body: &Body, t: TermId) -> Regions {
        let uses = std::mem::take(&mut self.uses[t.index()]);
        if self.may_trap[t.index()] {
            let regions = self.certain(t, uses);
            return self.share(body, t, regions);
        }
        match self.inside[t.index()] {
            Some(l) => uses.into_iter().fold(Regions::new(), |regions, at| {
                self.meet_inside(regions, at, l)
            }),
            None => {
                let met = uses.into_iter().reduce(|a, b| self.meet(a, b));
                met.into_iter().collect()
            }
        }
    }

    /// A loop without a guard is bound in each arm that uses it. Terms that depend on its variables
    /// are bound once in each.
    fn meet_inside(&self, mut regions: Regions, at: RegionId, l: u32) -> Regions {
        for r in &mut regions {
            let met = self.meet(*r, at);
            if self.is_inside(l, met) {
                *r = met;
                return regions;
            }
        }
        regions.push(at);
        regions
    }

    /// The outermost regions that compute a term on every path, given the regions of its uses.
    ///
    /// These are the regions of the uses, a region with uses in both arms of one test, and a region
    /// around a loop whose test uses the term.
    fn certain(&self, t: TermId, uses: Regions) -> Regions {
        if let [at] = uses.as_slice()
            && !matches!(self.entries[at.0 as usize], RegionEntry::Test(_))
        {
            return uses;
        }
        let mut certain = FxHashSet::default();
        let mut arms = FxHashSet::default();
        let mut all = uses;
        let mut next = 0;
        while let Some(at) = all.get(next).copied() {
            next += 1;
            if !certain.insert(at) {
                continue;
            }
            let parent = self.placement.regions[at.0 as usize].parent;
            let is_certain = match self.entries[at.0 as usize] {
                RegionEntry::Arm(test, taken) => {
                    arms.insert((parent, test, taken));
                    arms.contains(&(parent, test, !taken))
                }
                RegionEntry::Test(l) => self.first_var[l as usize].is_none_or(|v| t < v),
                RegionEntry::Guard(_) | RegionEntry::Step => false,
            };
            if is_certain {
                all.push(parent);
            }
        }
        let mut left = certain.clone();
        all.retain(|at| left.remove(at) && !self.is_below_any(*at, &certain));
        all
    }

    /// Whether each arm binds its own copy of a term: at most one of a few arms is entered, so the
    /// copies cost no time.
    ///
    /// Tests have no copies, so that guards before the arms can evaluate them.
    fn has_copies(&self, body: &Body, t: TermId, uses: &[RegionId]) -> bool {
        let is_costly = match body.terms[t.index()].term {
            Term::Cond(test, ..) => self.may_trap[test.index()],
            _ => false,
        };
        let mut pairs = uses.iter().enumerate();
        uses.len() <= self.most_copies
            && !is_costly
            && !self.is_in_test[t.index()]
            && pairs.all(|(k, a)| uses[..k].iter().all(|b| self.exclude(*a, *b)))
    }

    /// Whether two regions are in different arms of one test.
    fn exclude(&self, a: RegionId, b: RegionId) -> bool {
        let around = self.meet(a, b);
        let [a, b] = [a, b].map(|mut inner| {
            let mut entry = None;
            while inner != around {
                entry = Some(self.entries[inner.0 as usize]);
                inner = self.placement.regions[inner.0 as usize].parent;
            }
            entry
        });
        match (a, b) {
            (Some(RegionEntry::Arm(a, then)), Some(RegionEntry::Arm(b, other))) => {
                a == b && then != other
            }
            _ => false,
        }
    }

    /// Binds a term of several arms once, before them, if a guard can decide whether one of these
    /// arms is entered.
    fn share(&mut self, body: &Body, t: TermId, uses: Regions) -> Regions {
        let met = uses.iter().copied().reduce(|a, b| self.meet(a, b));
        let Some(at) = met.filter(|_| uses.len() > 1 && !self.has_copies(body, t, &uses)) else {
            return uses;
        };
        // All results of a loop have one region.
        let is_alone = match body.terms[t.index()].term {
            Term::LoopResult(l, _) => self.used_results[l as usize] == 1,
            _ => true,
        };
        if self.users.is_empty() {
            self.users = users(body);
        }
        let (Some(shared), true) = (&self.shared, is_alone) else {
            return uses;
        };
        let Some((tests, slice)) = self.tests_known(body, shared, (t, at), &uses) else {
            return uses;
        };
        let number = shared.len() as u32;
        for x in &tests {
            self.users[x.index()].push(t);
        }
        let inside = self.region(at, RegionEntry::Guard(number));
        self.shared.get_or_insert_default().push(GuardedTerm {
            term: t,
            at,
            uses,
            tests,
            slice,
        });
        Regions::from_elem(inside, 1)
    }

    /// The tests that decide whether these regions are entered, from a common outer region on, and
    /// the terms that a guard there must copy. None if one of them cannot be copied.
    fn tests_known(
        &self,
        body: &Body,
        shared: &[GuardedTerm],
        (t, at): (TermId, RegionId),
        uses: &[RegionId],
    ) -> Option<(Vec<TermId>, Vec<TermId>)> {
        let mut tests = Vec::new();
        for used in uses {
            let mut inner = *used;
            while inner != at {
                match self.entries[inner.0 as usize] {
                    RegionEntry::Arm(test, _) => tests.push(test),
                    RegionEntry::Guard(k) => tests.extend_from_slice(&shared[k as usize].tests),
                    RegionEntry::Test(_) | RegionEntry::Step => return None,
                }
                inner = self.placement.regions[inner.0 as usize].parent;
            }
        }
        let dependents = dependents(&self.users, t);
        let is_known = |x: TermId| {
            let is_free = !self.may_trap[x.index()];
            is_free || self.is_bound_around(shared, x, at) && !dependents.contains(&x)
        };
        tests.sort_unstable();
        tests.dedup();
        let mut slice = FxHashSet::default();
        let mut left = tests.clone();
        while let Some(x) = left.pop() {
            if x == t || is_known(x) || !slice.insert(x) {
                continue;
            }
            let data = &body.terms[x.index()];
            match data.term {
                Term::Op(..) | Term::Flat(_) | Term::Cond(..) => {
                    each_operand(body, x, &mut |a| left.push(a));
                }
                _ => return None,
            }
        }
        let mut slice: Vec<TermId> = slice.into_iter().collect();
        slice.sort_unstable();
        Some((tests, slice))
    }

    /// Whether a term is computed before a region, on each path that enters the region.
    fn is_bound_around(&self, shared: &[GuardedTerm], t: TermId, at: RegionId) -> bool {
        let is_around = |r: RegionId| {
            let bound_at = match self.entries[r.0 as usize] {
                RegionEntry::Guard(k) if shared[k as usize].term == t => shared[k as usize].at,
                _ => r,
            };
            self.meet(bound_at, at) == bound_at
        };
        let settled = &self.placement.regions_of[t.index()];
        let found = &self.uses[t.index()];
        settled.iter().chain(found).any(|r| is_around(*r))
    }

    /// Whether a region is inside one of these.
    fn is_below_any(&self, mut at: RegionId, regions: &FxHashSet<RegionId>) -> bool {
        while at != OUTER {
            at = self.placement.regions[at.0 as usize].parent;
            if regions.contains(&at) {
                return true;
            }
        }
        false
    }

    /// Adds a term's region to the uses of its operands.
    fn float(&mut self, body: &Body, t: TermId, region: RegionId) {
        match &body.terms[t.index()].term {
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopVar(..) => {}
            Term::Op(_, args) | Term::Flat(args) | Term::Assert(_, args) => {
                args.iter().for_each(|a| self.used(*a, region));
            }
            Term::At { index, .. } => self.used(*index, region),
            Term::Cond(c, a, b) => {
                let arms = match self.arms_of_next(body, t, *c, region) {
                    Some(arms) => arms,
                    None => {
                        let [then, other] = [true, false]
                            .map(|taken| self.region(region, RegionEntry::Arm(*c, taken)));
                        (then, other)
                    }
                };
                self.placement.arms.insert((t, region), arms);
                self.used(*c, region);
                self.used(*a, arms.0);
                self.used(*b, arms.1);
            }
            Term::LoopResult(l, _) => {
                self.loop_regions[*l as usize].push(region);
            }
        }
    }

    /// The arms of the next field of the same condition. The fields of a condition on tuples are
    /// neighbouring terms with one test. They share their arms, so that common terms of the fields
    /// stay in the arm. No field is an operand of another.
    fn arms_of_next(
        &self,
        body: &Body,
        t: TermId,
        test: TermId,
        region: RegionId,
    ) -> Option<(RegionId, RegionId)> {
        let mut arms = None;
        let after = (t.0 + 1..body.terms.len() as u32).map(TermId);
        for next in after {
            let Term::Cond(c, a, b) = body.terms[next.index()].term else {
                break;
            };
            if c != test {
                break;
            }
            if self.placement.is_unused(next) {
                continue;
            }
            let of_next = self.placement.arms(next, region);
            if arms.is_some() && of_next != arms {
                break;
            }
            if of_next.is_none() || a == t || b == t {
                return None;
            }
            arms = of_next;
        }
        arms
    }

    /// Floats the operands of a loop after its lowest result, when all uses of its results are
    /// known.
    fn float_loop_if_ready(&mut self, body: &Body, t: TermId) {
        let Term::LoopResult(l, _) = body.terms[t.index()].term else {
            return;
        };
        if self.first_result[l as usize] != Some(t) {
            return;
        }
        let scalar_loop = &body.loops[l as usize];
        let used = std::mem::take(&mut self.loop_regions[l as usize]);
        let regions = self.certain(t, used);
        self.loop_regions[l as usize] = regions.clone();
        for region in regions {
            // The step runs after the test of the same iteration and can use the terms bound there.
            let test = self.region(region, RegionEntry::Test(l));
            let step = self.region(test, RegionEntry::Step);
            self.placement.loops.insert((l, region), (test, step));
            scalar_loop.start.iter().for_each(|s| self.used(*s, region));
            self.used(scalar_loop.test, test);
            scalar_loop.next.iter().for_each(|n| self.used(*n, step));
        }
    }

    /// Lists each region's items in dependency order.
    pub fn bind(&mut self, body: &Body) -> Result<(), ErrorKind> {
        for (i, data) in body.terms.iter().enumerate() {
            let t = TermId(i as u32);
            for region in self.placement.regions_of[i].clone() {
                let item = match data.term {
                    Term::LoopVar(l, _) => {
                        if !self.is_inside(l, region) {
                            return Err(ErrorKind::LeakedExp);
                        }
                        continue;
                    }
                    Term::Param(_) | Term::Lit(_) | Term::LoopResult(..) => continue,
                    Term::Cond(..) if self.is_later_field(t, region) => continue,
                    _ => RegionItem::Term(t),
                };
                self.placement.regions[region.0 as usize].items.push(item);
            }
            // A loop is bound at the position of its first result.
            if let Term::LoopResult(l, _) = data.term
                && self.first_result[l as usize] == Some(t)
            {
                for region in self.loop_regions[l as usize].clone() {
                    self.placement.regions[region.0 as usize]
                        .items
                        .push(RegionItem::Loop(l));
                }
            }
        }
        Ok(())
    }

    /// Whether an earlier field of this condition binds all of them.
    fn is_later_field(&self, t: TermId, region: RegionId) -> bool {
        let p = &self.placement;
        let mut earlier = (0..t.0).rev().map(TermId).filter(|k| !p.is_unused(*k));
        earlier
            .next()
            .is_some_and(|k| p.arms(k, region) == p.arms(t, region))
    }

    /// Whether a region is inside a loop, at any depth.
    fn is_inside(&self, l: u32, region: RegionId) -> bool {
        let mut at = region;
        while at != OUTER {
            let parent = self.placement.regions[at.0 as usize].parent;
            if self
                .placement
                .inside_loop(l, parent)
                .is_some_and(|(test, _)| test == at)
            {
                return true;
            }
            at = parent;
        }
        false
    }
}
