//! Places: abstract values of indices, and their transfer functions.

use super::bounds::Walk;
use super::segments::MaskBounds;
use crate::ir::{Operand, Origin, Shape, Sum, Value};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// The maximum number of sums, and of terms in a sum.
const MAX_SUMS: usize = 512;
const MAX_TERMS: usize = 32;

/// Describes an index. The two numbers are the minimum and maximum offset.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// A literal in this range.
    Literal(u64, u64),
    /// The range loop's counter plus an offset.
    Counter(u64, u64),
    /// The range loop's progress since the begin, plus an offset.
    Along(u64, u64),
    /// The enclosing segment's counter plus an offset.
    Within(u64, u64),
    /// The enclosing segment's progress plus an offset; negative before the segment's begin.
    Come(u64, u64),
    /// The remaining steps of the enclosing segment, from its counter on.
    Left,
    /// The maximum of the segment's first counter and its current counter.
    Begin,
    /// The number of steps from the counter on that precede the segment.
    Before,
    /// A value with a capacity check in the enclosing segment, plus the segment's progress and an
    /// offset.
    Beyond(Value, u64, u64),
    /// The numbered sum plus an offset, in wrapping arithmetic.
    Near(usize, i64, i64),
    /// A count at the time when it had increased by `since`, plus at most `plus`.
    Count { state: Value, since: u64, plus: u64 },
}

impl Walk<'_, '_> {
    /// Returns the place of an operand.
    pub(super) fn place(&self, a: Operand) -> Option<Place> {
        let v = match a {
            Operand::Const(c) => return Some(Place::Literal(c.bits, c.bits)),
            Operand::Value(v) => v,
        };
        if let Origin::State(_) = self.tile.value(v).origin {
            let since = self.gone.get(&v).copied().unwrap_or(0);
            return Some(Place::Count {
                state: v,
                since,
                plus: 0,
            });
        }
        self.places.get(&v).copied()
    }

    /// Returns the place of a sum. An index that overflows would be out of bounds long before.
    fn sum(&self, a: Operand, b: Operand) -> Option<Place> {
        Some(match (self.place(a)?, self.place(b)?) {
            (Place::Literal(a, b), Place::Literal(c, d)) => {
                Place::Literal(a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Counter(a, b), Place::Literal(c, d))
            | (Place::Literal(c, d), Place::Counter(a, b)) => {
                Place::Counter(a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Along(a, b), Place::Literal(c, d))
            | (Place::Literal(c, d), Place::Along(a, b)) => {
                Place::Along(a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Within(a, b), Place::Literal(c, d))
            | (Place::Literal(c, d), Place::Within(a, b)) => {
                Place::Within(a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Come(a, b), Place::Literal(c, d))
            | (Place::Literal(c, d), Place::Come(a, b)) => {
                Place::Come(a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Beyond(of, a, b), Place::Literal(c, d))
            | (Place::Literal(c, d), Place::Beyond(of, a, b)) => {
                Place::Beyond(of, a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Count { state, since, plus }, Place::Literal(_, more))
            | (Place::Literal(_, more), Place::Count { state, since, plus }) => Place::Count {
                state,
                since,
                plus: plus.checked_add(more)?,
            },
            _ => return None,
        })
    }

    /// Returns the place of a product of literals.
    fn product(&self, a: Operand, b: Operand) -> Option<Place> {
        match (self.place(a)?, self.place(b)?) {
            (Place::Literal(a, b), Place::Literal(c, d)) => {
                Some(Place::Literal(a.checked_mul(c)?, b.checked_mul(d)?))
            }
            _ => None,
        }
    }

    /// Records scalars from outside as sums.
    pub(super) fn know_given(&mut self) {
        for (v, data) in self.tile.each_value() {
            if let Origin::Given(of) = data.origin {
                let sum = self.numbered(Sum::of(of));
                self.know(v, sum.map(|sum| Place::Near(sum, 0, 0)));
            }
        }
    }

    /// Returns the number of a sum without constant term.
    fn numbered(&mut self, sum: Sum) -> Option<usize> {
        let known = self.sums.iter().position(|s| *s == sum);
        known.or_else(|| {
            let fits = self.sums.len() < MAX_SUMS && sum.terms.len() <= MAX_TERMS;
            fits.then(|| {
                self.sums.push(sum);
                self.sums.len() - 1
            })
        })
    }

    /// Splits a place into a sum without constant term, and its offset range.
    pub(super) fn near(&self, place: Place) -> Option<(Sum, i64, i64)> {
        match place {
            Place::Literal(a, b) if a == b => Some((Sum::default(), a as i64, a as i64)),
            Place::Literal(a, b) => {
                let (a, b) = (i64::try_from(a).ok()?, i64::try_from(b).ok()?);
                Some((Sum::default(), a, b))
            }
            Place::Counter(a, b) => {
                let (a, b) = (i64::try_from(a).ok()?, i64::try_from(b).ok()?);
                Some((Sum::of(self.tile.counter), a, b))
            }
            Place::Near(sum, low, high) => Some((self.sums[sum].clone(), low, high)),
            Place::Along(..)
            | Place::Within(..)
            | Place::Come(..)
            | Place::Left
            | Place::Begin
            | Place::Before
            | Place::Beyond(..)
            | Place::Count { .. } => None,
        }
    }

    /// Returns the place of `a + b` or `a - b` as a sum.
    fn near_sum(&mut self, a: Operand, times: i64, b: Operand) -> Option<Place> {
        let (a, b) = (self.near(self.place(a)?)?, self.near(self.place(b)?)?);
        let (low, high) = match times {
            1 => (a.1.checked_add(b.1)?, a.2.checked_add(b.2)?),
            _ => (a.1.checked_sub(b.2)?, a.2.checked_sub(b.1)?),
        };
        let sum = self.numbered(a.0.plus(times, &b.0))?;
        Some(Place::Near(sum, low, high))
    }

    /// Returns a place that covers both.
    pub(super) fn larger(&self, a: Option<Place>, b: Option<Place>) -> Option<Place> {
        match (a?, b?) {
            (Place::Literal(a, b), Place::Literal(c, d)) => {
                Some(Place::Literal(a.min(c), b.max(d)))
            }
            (Place::Counter(a, b), Place::Counter(c, d)) => {
                Some(Place::Counter(a.min(c), b.max(d)))
            }
            (Place::Along(a, b), Place::Along(c, d)) => Some(Place::Along(a.min(c), b.max(d))),
            (Place::Near(sum, a, b), Place::Near(of, c, d)) if sum == of => {
                Some(Place::Near(sum, a.min(c), b.max(d)))
            }
            (a, b) if a == b => Some(a),
            (Place::Within(a, b), Place::Within(c, d)) => Some(Place::Within(a.min(c), b.max(d))),
            (Place::Come(a, b), Place::Come(c, d)) => Some(Place::Come(a.min(c), b.max(d))),
            (Place::Beyond(of, a, b), Place::Beyond(other, c, d)) if of == other => {
                Some(Place::Beyond(of, a.min(c), b.max(d)))
            }
            (
                Place::Count { state, since, plus },
                Place::Count {
                    state: of,
                    since: s,
                    plus: p,
                },
            ) if state == of => Some(Place::Count {
                state,
                since: since.checked_add(plus)?.max(s.checked_add(p)?),
                plus: 0,
            }),
            _ => None,
        }
    }

    /// Returns the place of a counter or count masked to a group's lanes: alignment is preserved.
    fn masked(&self, a: Operand, mask: u64) -> Option<Place> {
        let whole = match (self.place(a), self.step) {
            (Some(Place::Literal(a, b)), _) if a == b => {
                return Some(Place::Literal(a & mask, a & mask));
            }
            (Some(Place::Counter(0, 0)), Some(step)) => {
                self.aligned.min(step & step.wrapping_neg())
            }
            (Some(Place::Within(0, 0)), _) => match &self.segment {
                Some(around) if around.aligned && around.step > 1 => around.step,
                _ => 1,
            },
            _ => 1,
        };
        let size = mask.checked_add(1).filter(|n| n.is_power_of_two())?;
        Some(Place::Literal(0, size - whole.min(size)))
    }

    pub(super) fn define(&mut self, to: Value, op: Op, args: &[Operand]) {
        if let Some(around) = &mut self.segment {
            let bounds = around.result_bounds(op, args);
            around.record_mask(to, bounds);
        }
        let place = match (op, args) {
            (Op::Add, [a, b]) => (self.beyond(*a, *b).or_else(|| self.beyond(*b, *a)))
                .or_else(|| self.sum(*a, *b))
                .or_else(|| self.near_sum(*a, 1, *b)),
            (Op::Sub, [a, b]) if self.begins_segment(*b) => match self.place(*a) {
                Some(Place::Within(low, high)) => Some(Place::Come(low, high)),
                _ => None,
            },
            (Op::Sub, [a, b]) if self.place(*b) == Some(Place::Within(0, 0)) => {
                match self.place(*a) {
                    _ if self.ends_segment(*a) => Some(Place::Left),
                    Some(Place::Begin) => Some(Place::Before),
                    _ => None,
                }
            }
            (Op::Max, [a, b]) if self.begins_segment(*a) => {
                (self.place(*b) == Some(Place::Within(0, 0))).then_some(Place::Begin)
            }
            (Op::Mul, [a, b]) => self.product(*a, *b),
            (Op::Min, [_, Operand::Const(c)]) => Some(Place::Literal(0, c.bits)),
            (Op::Sub, [a, b]) if self.begins(*b) => match self.place(*a) {
                Some(Place::Counter(low, high)) => Some(Place::Along(low, high)),
                _ => None,
            },
            (Op::Sub, [a, b]) => self.near_sum(*a, -1, *b),
            (Op::And, [a, Operand::Const(c)] | [Operand::Const(c), a]) => self.masked(*a, c.bits),
            (Op::And, [a, b]) => match (self.place(*a), self.place(*b)) {
                (Some(Place::Literal(_, most)), _) | (_, Some(Place::Literal(_, most))) => {
                    Some(Place::Literal(0, most))
                }
                _ => None,
            },
            (Op::Copy, [a]) => self.place(*a),
            (Op::Select, [_, a, b]) => self.larger(self.place(*a), self.place(*b)),
            (Op::Cast, [a]) if self.tile.operand_shape(*a).ty == Ty::Bool => {
                Some(Place::Literal(0, 1))
            }
            _ => None,
        };
        self.know(to, place);
    }

    /// Returns the place of a value with a capacity check plus the segment's progress.
    fn beyond(&self, of: Operand, come: Operand) -> Option<Place> {
        let around = self.segment.as_ref()?;
        let (of, Place::Come(low, high)) = (of.value()?, self.place(come)?) else {
            return None;
        };
        let requested = around
            .capacities
            .iter()
            .any(|capacity| capacity.1 == of.into());
        (requested && around.leaves(of.into())).then_some(Place::Beyond(of, low, high))
    }

    /// Tells whether a value is still the enclosing segment's first counter.
    fn begins_segment(&self, a: Operand) -> bool {
        let around = self.segment.as_ref();
        around.is_some_and(|around| around.from == a && around.leaves(a))
    }

    /// Tells whether a value is the enclosing segment's end.
    fn ends_segment(&self, a: Operand) -> bool {
        self.segment.as_ref().is_some_and(|around| around.is_end(a))
    }

    /// Records a mask of the lanes before a bound, such as the segment's end.
    pub(super) fn until(&mut self, to: Value, at: Operand, end: Operand) {
        let first = match self.place(at) {
            Some(Place::Literal(first, most)) if first == most => Some(first),
            _ => None,
        };
        let bounds = match self.place(end) {
            Some(Place::Left) => MaskBounds {
                ends: first,
                ..MaskBounds::default()
            },
            Some(Place::Before) => MaskBounds {
                before: first,
                ..MaskBounds::default()
            },
            _ => MaskBounds::default(),
        };
        if let Some(around) = &mut self.segment {
            around.record_mask(to, bounds);
        }
    }

    /// Tells whether a value is the range's first counter.
    fn begins(&self, a: Operand) -> bool {
        let origin = a.value().map(|v| self.tile.value(v).origin);
        origin == Some(Origin::From)
    }

    /// Records the place of a value. Only indices have places; other types may overflow earlier.
    pub(super) fn know(&mut self, v: Value, place: Option<Place>) {
        match place {
            Some(place) if self.tile.shape(v) == Shape::scalar(Ty::U64) => {
                self.places.insert(v, place);
            }
            _ => {
                self.places.remove(&v);
            }
        }
    }
}
