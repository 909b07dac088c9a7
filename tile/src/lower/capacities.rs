//! The capacities of segments: what must be there of each array that a segment accesses without a check.
//!
//! A capacity is at the counter, at a count, or at a sum: an index that goes up by one in each step, from what is the
//! same in all of them, has its capacity at its first value, which is computed where the segment begins. In the steps
//! it is that value and how far the segment has come, which is what the verifier knows it by. Where an array is
//! shorter, all of the segment's steps are left to the state machine, though only some of them may miss.

use super::Lower;
use super::cases::sum as sum_in;
use crate::ir::{Operand, Proof, Sum};
use crate::region::{Access, Affine, Inner, InnerLoop, Nest, RequiredCapacity, Stride, Term};
use loop_lang::ir::{Atom, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::collections::BTreeMap;

/// What accesses are proven by, each an array at an index.
pub(super) type Proofs = BTreeMap<(Var, Var), Proof>;

/// Where the capacities of a segment's steps are.
#[derive(Default)]
pub(super) struct Capacities {
    /// Where it begins.
    from: Option<Operand>,
    /// The first values of indices that are sums.
    firsts: BTreeMap<Var, Operand>,
    /// How far it has come, where there are such.
    along: Option<Operand>,
}

impl Capacities {
    /// Whether an index is a sum with a capacity.
    pub(super) fn begins_at(&self, index: Var) -> bool {
        self.firsts.contains_key(&index)
    }
}

impl<'r, 'a> Lower<'r, 'a> {
    /// Asks for the capacities of a segment that begins here; accesses in it are proven by them from here on.
    pub(super) fn request_capacities(
        &mut self,
        inner: Inner<'r, 'a>,
        from: Operand,
    ) -> Vec<(Var, Operand)> {
        let nest = match inner {
            Inner::InnerLoop(_) => None,
            Inner::Nest(nest) => Some(nest),
        };
        let inner_loop = inner.inner_loop();
        let mut counted: Vec<(Var, Var)> = inner_loop.proven.iter().copied().collect();
        if self.schedule.vectors(inner_loop.rate).0 > 1 {
            counted.extend(&inner_loop.scarce);
        }
        counted.retain(|(_, index)| !self.is_carried_inside(nest, *index));
        counted.sort();
        self.proofs.clear();
        self.capacities = Capacities {
            from: Some(from),
            ..Capacities::default()
        };
        let mut capacities: Vec<(Var, Operand)> = Vec::new();
        for (array, index) in counted {
            let proof = Proof::Capacity(capacities.len());
            let at = match index == inner_loop.counter {
                true => from,
                false => self.operand(Atom::Var(index)),
            };
            capacities.push((array, at));
            self.proofs.insert((array, index), proof);
        }
        let mut sums: Vec<(Sum, Operand)> = Vec::new();
        for ((array, index), sum) in self.near(inner_loop) {
            if !self.stays_in(nest, (inner_loop.counter, &sum))
                || self.proofs.contains_key(&(array, index))
            {
                continue;
            }
            let known = sums.iter().find(|(of, _)| *of == sum).map(|known| known.1);
            let first = known.unwrap_or_else(|| {
                let name = format!("{}_from", self.region.program.name(index));
                self.value_of(&name, &sum, (inner_loop.counter, from))
            });
            sums.push((sum, first));
            self.capacities.firsts.insert(index, first);
            let capacity = (array, first);
            let at = capacities
                .iter()
                .position(|r| *r == capacity)
                .unwrap_or(capacities.len());
            if at == capacities.len() {
                capacities.push(capacity);
            }
            self.proofs.insert((array, index), Proof::Capacity(at));
        }
        capacities
    }

    /// Accesses that go up with an innermost loop's counter, with the sums that their indices are.
    fn near(&self, inner_loop: &InnerLoop) -> BTreeMap<(Var, Var), Sum> {
        let sum = |place: &(Var, Var)| {
            let sum = inner_loop.affine(Atom::Var(place.1))?;
            Some((*place, as_sum(inner_loop.counter, &sum)))
        };
        let always = inner_loop.near.iter().chain(&inner_loop.joined);
        // Vectors that read for some lanes read for all.
        let vectors = self.schedule.vectors(inner_loop.rate).0 > 1 && inner_loop.groups.is_empty();
        let sometimes = inner_loop
            .sometimes
            .iter()
            .filter(|_| vectors && self.case().is_none());
        let all = always.chain(sometimes);
        let mut near: BTreeMap<(Var, Var), Sum> = all.filter_map(sum).collect();
        // What is so in a case alone.
        let always = |capacity: &&RequiredCapacity| {
            let here =
                |a: &&Access| (a.array, a.index) == (capacity.array, Atom::Var(capacity.index));
            let mut here = inner_loop.accesses.iter().filter(here);
            !capacity.down && here.any(|a| inner_loop.statements[a.statement].sub.is_none())
        };
        if let Some(case) = self.case() {
            let capacities = case.capacities.iter().filter(always);
            let capacities =
                capacities.map(|r| ((r.array, r.index), sum_in(case, Atom::Var(r.index))));
            near.extend(capacities);
        }
        near
    }

    /// Whether no loop in a segment's steps changes what a sum is made of, beside the segment's counter.
    fn stays_in(&self, nest: Option<&Nest>, (counter, sum): (Var, &Sum)) -> bool {
        let begins = |v: &Var| nest.is_some_and(|nest| nest.starts.contains(v));
        let stays = |v: &Var| !begins(v) && !self.is_carried_inside(nest, *v);
        let mut terms = sum.terms.iter().map(|(_, v)| v);
        terms.all(|v| *v == counter || stays(v))
    }

    /// What a sum is where a counter is so much.
    pub(super) fn value_of(
        &mut self,
        name: &str,
        sum: &Sum,
        (counter, at): (Var, Operand),
    ) -> Operand {
        let mut value: Option<Operand> = None;
        // What is taken away comes last.
        let (more, less): (Vec<_>, Vec<_>) = sum.terms.iter().copied().partition(|term| term.0 > 0);
        for (times, v) in more.into_iter().chain(less) {
            let of = match v == counter {
                true => at,
                false => self.operand(Atom::Var(v)),
            };
            value = Some(match (value, times) {
                (None, 1) => of,
                (Some(value), 1) => self.op(name, Ty::U64, Op::Add, &[value, of]),
                (Some(value), -1) => self.op(name, Ty::U64, Op::Sub, &[value, of]),
                (value, times) => {
                    let times = Lower::u64(times as u64);
                    let of = self.op(name, Ty::U64, Op::Mul, &[of, times]);
                    match value {
                        Some(value) => self.op(name, Ty::U64, Op::Add, &[value, of]),
                        None => of,
                    }
                }
            });
        }
        let plus = Lower::u64(sum.plus);
        match value {
            Some(value) if sum.plus == 0 => value,
            Some(value) => self.op(name, Ty::U64, Op::Add, &[value, plus]),
            None => plus,
        }
    }

    /// A step of a segment begins, or a vector of steps: how far the segment has come.
    pub(super) fn come_along(&mut self) {
        let (Some(at), Some(from)) = (self.at, self.capacities.from) else {
            return;
        };
        let sums = !self.capacities.firsts.is_empty();
        self.capacities.along = sums.then(|| self.op("along", Ty::U64, Op::Sub, &[at, from]));
    }

    /// Computes an index that has a capacity at a sum, in the first lane; whether that is all there is to it.
    pub(super) fn is_beyond(&mut self, index: Var) -> bool {
        let first = self.capacities.firsts.get(&index).copied();
        let (Some(first), Some(along)) = (first, self.capacities.along) else {
            return false;
        };
        let name = self.region.program.name(index).to_string();
        let at = self.op(&name, Ty::U64, Op::Add, &[first, along]);
        match self.lanes {
            1 => self.now.insert(index, at),
            _ => self.firsts.insert(index, at),
        };
        self.lanes == 1
    }
}

/// A sum over a counter.
fn as_sum(counter: Var, affine: &Affine) -> Sum {
    let counted = match affine.step {
        Stride::By(times) => Sum::default().plus(times, &Sum::of(counter)),
        Stride::Of(_) => Sum::default(),
    };
    let add = |sum: Sum, term: &Term| match term.of {
        Atom::Var(v) => sum.plus(term.times, &Sum::of(v)),
        Atom::Const(c) => sum.plus(term.times, &Sum::number(c.bits)),
    };
    affine.base.iter().fold(counted, add)
}
