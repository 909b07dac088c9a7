//! Unique indices: those derived from an advancing counter never repeat.

use super::origins::Origins;
use crate::ir::{Atom, Combine, Group, Order, Place, Rate, RateId, RateKind, Type, Var};
use crate::op::Op;
use crate::types::Ty;

/// The direction of an index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Origins<'_> {
    /// Tells whether an index is different each time it is evaluated in an iteration of `rate`.
    pub(super) fn moves_on(&self, index: Atom, rate: RateId) -> bool {
        self.way(index, rate).is_some() || self.is_turned(index, rate)
    }

    /// Tells whether an index goes from the end of each segment to its beginning.
    ///
    /// It is `begin + (end - 1 - counter)` in an inner loop whose counter goes on from one segment
    /// to the next.
    pub(crate) fn is_turned(&self, index: Atom, rate: RateId) -> bool {
        let here = self.program.rate(self.tree.loop_rate(rate)).kind;
        let RateKind::Nested { counter, bound, .. } = here else {
            return false;
        };
        let made = |a: Atom| a.var().and_then(|v| self.lets.get(&v));
        let begins = |a: Atom| match (made(a), made(bound)) {
            (Some((Op::Sub, [end, size])), Some((Op::Add, [from, by]))) => {
                let goes_on = *from == counter.into() && by == size;
                *end == bound && (goes_on || *by == counter.into() && from == size)
            }
            _ => false,
        };
        let goes_back = |a: Atom| match made(a) {
            Some((Op::Sub, [last, ix])) if *ix == counter.into() => {
                matches!(made(*last), Some((Op::Sub, [end, Atom::Const(one)]))
                    if *end == bound && one.bits == 1)
            }
            _ => false,
        };
        let sums = |[x, y]: [Atom; 2]| begins(x) && goes_back(y) || begins(y) && goes_back(x);
        self.runs_on(counter) && matches!(made(index), Some((Op::Add, [x, y])) if sums([*x, *y]))
    }

    /// Tells whether an index is the counter of `rate` plus a fixed number, so that it is different
    /// in each iteration even if the sum overflows. Users choose the indices of scatters.
    pub(super) fn is_shifted(&self, index: Atom, rate: RateId) -> bool {
        let Some(v) = index.var() else {
            return false;
        };
        if let Some(r) = self.counted_by(v) {
            return r == self.tree.loop_rate(rate) && self.runs_on(v);
        }
        match self.lets.get(&v) {
            Some((Op::Copy, [x])) => self.is_shifted(*x, rate),
            Some((Op::Add | Op::Sub, [x, y])) if self.is_fixed(*y) => self.is_shifted(*x, rate),
            Some((Op::Add, [x, y])) if self.is_fixed(*x) => self.is_shifted(*y, rate),
            _ => false,
        }
    }

    /// Returns the direction of an index over its evaluations; none if it may repeat or turn
    /// around. Sums of lengths are assumed to fit into 64 bits: lowering checks them.
    fn way(&self, index: Atom, rate: RateId) -> Option<Way> {
        let v = index.var()?;
        if let Some(r) = self.counted_by(v) {
            let here = r == self.tree.loop_rate(rate);
            return (here && (self.runs_on(v) || self.contiguous(r))).then_some(Way::Up);
        }
        if self.group_of.contains_key(&v) {
            let mut updates = self.assigned.get(&v).into_iter().flatten();
            let steps = |(r, next): &(RateId, Option<Atom>)| {
                self.along(rate, *r) && self.steps_up(v, *next)
            };
            return (self.rises(v) && updates.any(steps)).then_some(Way::Up);
        }
        match *self.lets.get(&v)? {
            (Op::Copy, [x]) => self.way(*x, rate),
            (Op::Add, [x, y]) => self.sum(*x, *y, rate).or_else(|| self.sum(*y, *x, rate)),
            (Op::Sub, [x, y]) if self.is_fixed(*y) => self.way(*x, rate),
            (Op::Sub, [x, y]) if self.is_fixed(*x) => match self.way(*y, rate)? {
                Way::Up => Some(Way::Down),
                Way::Down => Some(Way::Up),
            },
            (Op::Mul, [x, y]) if is_positive(*y) => self.way(*x, rate),
            (Op::Mul, [x, y]) if is_positive(*x) => self.way(*y, rate),
            _ => None,
        }
    }

    fn sum(&self, x: Atom, y: Atom, rate: RateId) -> Option<Way> {
        let way = self.way(x, rate);
        match way {
            Some(_) if self.is_fixed(y) => way,
            Some(Way::Up) if self.keeps_up(y) => way,
            _ => (self.based(x, y, rate) || self.in_rows(x, y, rate)).then_some(Way::Up),
        }
    }

    /// Returns the loop rate counted by a variable.
    fn counted_by(&self, v: Var) -> Option<RateId> {
        let counts = |r: &Rate| r.kind.counter() == Some(v);
        self.program.rates.iter().position(counts).map(RateId::new)
    }

    /// Tells whether a carried variable is started once.
    fn runs_on(&self, v: Var) -> bool {
        matches!(self.carries.get(&v), Some((Place::Init, _)))
    }

    /// Tells whether a nested rate continues where its last run ended: its start is updated to its
    /// bound.
    fn contiguous(&self, r: RateId) -> bool {
        let RateKind::Nested { counter, bound, .. } = self.program.rate(r).kind else {
            return false;
        };
        let Some((_, Atom::Var(start))) = self.carries.get(&counter) else {
            return false;
        };
        self.rises(*start) && self.next_of(*start) == Some(bound)
    }

    /// Tells whether `base + counter` advances: the counter begins at zero, and the base increases
    /// by its bound.
    fn based(&self, base: Atom, counter: Atom, rate: RateId) -> bool {
        let (Atom::Var(base), Atom::Var(counter)) = (base, counter) else {
            return false;
        };
        let Some(r) = self
            .counted_by(counter)
            .filter(|r| *r == self.tree.loop_rate(rate))
        else {
            return false;
        };
        let zero = matches!(self.carries.get(&counter), Some((_, Atom::Const(c))) if c.bits == 0);
        let next = self
            .next_of(base)
            .and_then(Atom::var)
            .and_then(|v| self.lets.get(&v));
        let Some((Op::Add, [x, y])) = next else {
            return false;
        };
        let bound = self.program.rate(r).kind.bound();
        let by_bound = (*x == Atom::Var(base) && Some(*y) == bound)
            || (*y == Atom::Var(base) && Some(*x) == bound);
        zero && self.rises(base) && by_bound
    }

    /// Tells whether `rows * length + counter` advances. The counter must begin at zero in each
    /// inner loop, all inner loops must have the same length, and the number of rows must advance
    /// around them.
    fn in_rows(&self, base: Atom, counter: Atom, rate: RateId) -> bool {
        let (Atom::Var(base), Atom::Var(counter)) = (base, counter) else {
            return false;
        };
        let here = self.tree.loop_rate(rate);
        let RateKind::Nested {
            parent,
            bound,
            uniform: true,
            ..
        } = self.program.rate(here).kind
        else {
            return false;
        };
        let starts_here =
            |(place, _): &(Place, Atom)| matches!(place, Place::At { rate, .. } if *rate == here);
        let up = |rows| self.way(rows, parent) == Some(Way::Up);
        self.counted_by(counter) == Some(here)
            && self.carries.get(&counter).is_some_and(starts_here)
            && match self.lets.get(&base) {
                Some((Op::Mul, [x, y])) => *y == bound && up(*x) || *x == bound && up(*y),
                _ => false,
            }
    }

    /// Returns the next value of a group's variable.
    fn next_of(&self, v: Var) -> Option<Atom> {
        let group = &self.program.groups[self.group_of.get(&v)?.index()];
        let at = group.vars.iter().position(|x| *x == v)?;
        group.next.get(at).copied()
    }

    /// Tells whether a variable is a sum of `u64` over the whole loop.
    pub(super) fn rises(&self, v: Var) -> bool {
        let sums = |g: &Group| {
            g.order == Order::Exact
                && g.combine == Some(Combine::Op(Op::Add))
                && self.program.ty(v) == Type::Scalar(Ty::U64)
        };
        let group = self
            .group_of
            .get(&v)
            .map(|g| &self.program.groups[g.index()]);
        group.is_some_and(sums) && self.runs_on(v)
    }

    /// Tells whether a variable's next value is the variable plus a positive literal.
    fn steps_up(&self, v: Var, next: Option<Atom>) -> bool {
        match next.and_then(Atom::var).and_then(|n| self.lets.get(&n)) {
            Some((Op::Add, [x, y])) => {
                (*x == Atom::Var(v) && is_positive(*y)) || (*y == Atom::Var(v) && is_positive(*x))
            }
            _ => false,
        }
    }

    /// Tells whether each iteration of `inner` is one of `outer`: only subrates are between them.
    fn along(&self, inner: RateId, outer: RateId) -> bool {
        let mut at = inner;
        loop {
            if at == outer {
                return true;
            }
            match self.program.rate(at).kind {
                RateKind::Sub { parent, .. } => at = parent,
                _ => return false,
            }
        }
    }

    /// Tells whether a value never decreases between iterations.
    fn keeps_up(&self, a: Atom) -> bool {
        self.is_fixed(a)
            || a.var()
                .is_some_and(|v| self.rises(v) || (self.counted_by(v).is_some() && self.runs_on(v)))
    }

    fn is_fixed(&self, a: Atom) -> bool {
        a.var().is_none_or(|v| self.fixed.contains(&v))
    }
}

fn is_positive(a: Atom) -> bool {
    matches!(a, Atom::Const(c) if c.ty == Ty::U64 && (1..1 << 32).contains(&c.bits))
}
