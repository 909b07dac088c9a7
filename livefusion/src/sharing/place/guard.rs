//! Guards: bind a trapping term once before the arms that need it.
//!
//! Several conditions have an arm that needs the term:
//!
//! ```text
//! if c0 then .. t .. else ..            let n = or c0 c1
//! if c1 then .. t .. else ..            let g = if n then t else 0
//!                                       if c0 then .. g .. else ..
//!                                       if c1 then .. g .. else ..
//! ```
//!
//! A guard is an ordinary condition, but it does not trap at its position: its test holds only if
//! one of the arms would have computed the term. Strict operators combine the tests on the path to
//! each arm. The number of a guard's terms is proportional to the number of arms that use it, to
//! their depth, and to the tests that it copies.
//!
//! A test is *known* before the arms if it cannot trap, or if it is computed there anyway and does
//! not depend on the term. The guard evaluates a copy of any other test. If the test depends on the
//! term, through other arms, the term is zero in the copy. While no earlier arm has needed the
//! term, the copy equals the test. As soon as one has, the guard already holds.
//!
//! A copy never traps: its quotients are zero where a division would fail, and reads and scalar
//! loops are not copied. Where the division would fail, the original test fails too, is not
//! computed, or the guard already holds.

use super::float::{RegionEntry, TermPlacer};
use super::{RegionId, Regions};
use crate::ast::{Args, Body, Parts, ScalarLoop, Term, TermData, TermId};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};

/// A term that is bound once for several arms.
pub(super) struct GuardedTerm {
    pub term: TermId,
    /// The region of its guard.
    pub at: RegionId,
    /// The regions of its uses: arms or regions in them.
    pub uses: Regions,
    /// The tests that its guard needs.
    pub tests: Vec<TermId>,
    /// The terms of these tests that are not known before the arms, operands first. The guard
    /// copies them.
    pub slice: Vec<TermId>,
}

/// A body with its guards.
pub(super) struct Guarded {
    pub body: Body,
    pub results: Vec<TermId>,
    /// The original term of each term; none for the terms of guards.
    pub origins: Vec<Option<TermId>>,
}

/// Visits the terms that must be computed before another one.
pub(super) fn each_operand(body: &Parts, t: TermId, each: &mut dyn FnMut(TermId)) {
    let term = &body.terms[t.index()].term;
    term.each_operand(&mut *each);
    if let Term::LoopResult(l, _) = term {
        let ScalarLoop {
            start, test, next, ..
        } = &body.loops[*l as usize];
        let inside = start.iter().chain(next).chain([test]);
        inside.for_each(|t| each(*t));
    }
}

/// The terms that must be computed after each one.
pub(super) fn users(body: &Parts) -> Vec<Vec<TermId>> {
    let mut users = vec![Vec::new(); body.terms.len()];
    for t in (0..body.terms.len() as u32).map(TermId) {
        each_operand(body, t, &mut |a| users[a.index()].push(t));
    }
    users
}

/// A term and its dependents through operands or guards.
pub(super) fn dependents(users: &[Vec<TermId>], on: TermId) -> FxHashSet<TermId> {
    let mut all = FxHashSet::default();
    let mut left = vec![on];
    while let Some(t) = left.pop() {
        if all.insert(t) {
            left.extend_from_slice(&users[t.index()]);
        }
    }
    all
}

/// Builds the body in which the shared terms have guards.
pub(super) fn guarded(body: &Body, results: &[TermId], p: &TermPlacer) -> Guarded {
    let shared = p.shared.as_deref().unwrap_or_default();
    let mut maker = Maker::new(body, shared);
    for k in 0..shared.len() {
        maker.guard(p, shared, k);
    }
    maker.in_order(results)
}

/// A body that grows by terms in any order.
struct Maker {
    body: Body,
    /// The number of original terms.
    given: usize,
    /// The number of guards.
    held: usize,
    /// The replacement of each term for its users: itself, or its guard.
    seen: Vec<TermId>,
    known: FxHashMap<(Term, Ty), TermId>,
    /// The tests of the guards so far.
    needs: Vec<TermId>,
}

impl Maker {
    /// The body with placeholders for the guards, one after the other. Users already refer to them.
    fn new(body: &Body, shared: &[GuardedTerm]) -> Maker {
        let given = body.terms.len();
        let mut seen: Vec<TermId> = (0..given as u32).map(TermId).collect();
        for (k, s) in shared.iter().enumerate() {
            seen[s.term.index()] = TermId((given + k) as u32);
        }
        let mut guarded = body.clone();
        rename(&mut guarded, &seen);
        let held = shared.iter().map(|s| TermData {
            term: Term::Cond(s.term, s.term, s.term),
            ..body.terms[s.term.index()]
        });
        guarded.terms.extend(held);
        Maker {
            body: guarded,
            given,
            held: shared.len(),
            seen,
            known: FxHashMap::default(),
            needs: Vec::new(),
        }
    }

    fn add(&mut self, term: Term, ty: Ty) -> TermId {
        let next = TermId(self.body.terms.len() as u32);
        let id = *self.known.entry((term, ty)).or_insert(next);
        if id == next {
            self.body.terms.push(TermData {
                term,
                ty,
                loc: None,
                power: None,
            });
        }
        id
    }

    fn logic(&mut self, op: Op, args: &[TermId]) -> TermId {
        match args {
            [a, b] if a == b => *a,
            _ => self.add(Term::Op(op, Args::new(args)), Ty::Bool),
        }
    }

    /// Builds the guard of a shared term.
    fn guard(&mut self, p: &TermPlacer, shared: &[GuardedTerm], k: usize) {
        let s = &shared[k];
        let ty = self.body.ty(s.term);
        let zero = self.add(Term::Lit(Const::zero(ty)), ty);
        let mut copies = self.copies(s, zero);
        let mut need = None;
        for used in &s.uses {
            let way = self.way(p, s.at, *used, &mut copies);
            need = Some(match (need, way) {
                (Some(need), Some(way)) => self.logic(Op::Or, &[need, way]),
                (need, way) => match need.or(way) {
                    Some(one) => one,
                    None => self.add(Term::Lit(Const::bool(true)), Ty::Bool),
                },
            });
        }
        let need = need.unwrap_or(s.term);
        self.needs.push(need);
        self.body.terms[self.given + k].term = Term::Cond(need, s.term, zero);
    }

    /// Copies the terms of a guard's tests, with zero for the shared term. The keys are the terms
    /// that users refer to.
    fn copies(&mut self, s: &GuardedTerm, zero: TermId) -> FxHashMap<TermId, TermId> {
        let mut copies = FxHashMap::default();
        copies.insert(self.seen[s.term.index()], zero);
        for t in &s.slice {
            let (copy, ty) = self.renamed(*t, &copies);
            copies.insert(self.seen[t.index()], self.total(copy, ty));
        }
        copies
    }

    /// A term with its operands replaced by their copies, and its type.
    fn renamed(&self, t: TermId, copies: &FxHashMap<TermId, TermId>) -> (Term, Ty) {
        let TermData { term, ty, .. } = self.body.terms[t.index()];
        (term.renamed(|a| copies.get(&a).copied().unwrap_or(a)), ty)
    }

    /// The test of an earlier guard, with copies for its terms.
    fn need(&mut self, need: TermId, copies: &mut FxHashMap<TermId, TermId>) -> TermId {
        let first_made = self.given + self.held;
        let is_made = |t: &TermId| t.index() >= first_made;
        let mut made = FxHashSet::default();
        let mut left = vec![need];
        while let Some(t) = left.pop() {
            if is_made(&t) && !copies.contains_key(&t) && made.insert(t) {
                self.body.terms[t.index()]
                    .term
                    .each_operand(|a| left.push(a));
            }
        }
        let mut made: Vec<TermId> = made.into_iter().collect();
        made.sort_unstable();
        for t in made {
            let (copy, ty) = self.renamed(t, copies);
            copies.insert(t, self.add(copy, ty));
        }
        copies.get(&need).copied().unwrap_or(need)
    }

    /// A term that is zero where the original would trap.
    fn total(&mut self, term: Term, ty: Ty) -> TermId {
        let given = self.add(term, ty);
        let Term::Op(op, args) = term else {
            return given;
        };
        if !op.may_trap(ty) {
            return given;
        }
        let fine = self.add(Term::Op(Op::DivOk, args), Ty::Bool);
        let zero = self.add(Term::Lit(Const::zero(ty)), ty);
        self.add(Term::Cond(fine, given, zero), ty)
    }

    /// Whether a region is entered, as a term of an outer region. Some tests are evaluated as
    /// copies.
    fn way(
        &mut self,
        p: &TermPlacer,
        at: RegionId,
        used: RegionId,
        copies: &mut FxHashMap<TermId, TermId>,
    ) -> Option<TermId> {
        let mut tests = Vec::new();
        let mut inner = used;
        while inner != at {
            tests.push(p.entries[inner.0 as usize]);
            inner = p.placement.regions[inner.0 as usize].parent;
        }
        // From the outermost test on, so that neighbouring paths share their prefixes.
        let mut way = None;
        for entry in tests.into_iter().rev() {
            let copied = |seen: TermId| copies.get(&seen).copied().unwrap_or(seen);
            let holds = match entry {
                RegionEntry::Arm(test, true) => copied(self.seen[test.index()]),
                RegionEntry::Arm(test, false) => {
                    self.logic(Op::Not, &[copied(self.seen[test.index()])])
                }
                RegionEntry::Guard(k) => self.need(self.needs[k as usize], copies),
                RegionEntry::Test(_) | RegionEntry::Step => continue,
            };
            way = Some(match way {
                Some(way) => self.logic(Op::And, &[way, holds]),
                None => holds,
            });
        }
        way
    }

    /// The body with its terms in dependency order. Original terms keep their order where possible.
    fn in_order(self, results: &[TermId]) -> Guarded {
        let Maker {
            mut body,
            given,
            seen,
            ..
        } = self;
        let count = body.terms.len();
        let mut to: Vec<Option<TermId>> = vec![None; count];
        let mut entered = vec![false; count];
        let mut order: Vec<TermId> = Vec::with_capacity(count);
        let mut left: Vec<TermId> = Vec::new();
        for t in (0..count as u32).map(TermId) {
            left.push(t);
            while let Some(t) = left.pop() {
                let is_ready = std::mem::replace(&mut entered[t.index()], true);
                if to[t.index()].is_some() {
                    continue;
                }
                if is_ready {
                    to[t.index()] = Some(TermId(order.len() as u32));
                    order.push(t);
                    continue;
                }
                left.push(t);
                let behind = left.len();
                each_operand(&body, t, &mut |a| left.push(a));
                left[behind..].reverse();
            }
        }
        let to: Vec<TermId> = to.into_iter().map(Option::unwrap_or_default).collect();
        body.terms = order.iter().map(|t| body.terms[t.index()]).collect();
        rename(&mut body, &to);
        let seen = |t: &TermId| to[seen[t.index()].index()];
        let origins = order.iter().map(|t| (t.index() < given).then_some(*t));
        Guarded {
            results: results.iter().map(seen).collect(),
            origins: origins.collect(),
            body,
        }
    }
}

/// Renames all operands.
fn rename(body: &mut Parts, to: &[TermId]) {
    let of = |t: TermId| to[t.index()];
    for data in &mut body.terms {
        data.term = data.term.renamed(of);
    }
    body.results.iter_mut().for_each(|t| *t = of(*t));
    for l in &mut body.loops {
        l.start.iter_mut().for_each(|t| *t = of(*t));
        l.next.iter_mut().for_each(|t| *t = of(*t));
        l.test = of(l.test);
    }
}
