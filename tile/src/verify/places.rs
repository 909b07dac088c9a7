//! What is known of an index, and how that follows from what its operands are.

use super::bounds::Walk;
use crate::ir::{Operand, Origin, Shape, Value};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// What is known of an index.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// At least the first, at most the second.
    Literal(u64, u64),
    /// The counter of the loop over the range, and at most this.
    Counter(u64),
    /// The counter of the segment around, and at most this.
    Within(u64),
    /// A count as it was when the step had gone up by `since`, and at most this.
    Count { state: Value, since: u64, plus: u64 },
}

impl Walk<'_, '_> {
    /// What is known of an operand here.
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

    /// That of a sum. One that wraps around is beyond all memory before it does.
    fn sum(&self, a: Operand, b: Operand) -> Option<Place> {
        Some(match (self.place(a)?, self.place(b)?) {
            (Place::Literal(a, b), Place::Literal(c, d)) => {
                Place::Literal(a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Counter(plus), Place::Literal(_, more))
            | (Place::Literal(_, more), Place::Counter(plus)) => {
                Place::Counter(plus.checked_add(more)?)
            }
            (Place::Within(plus), Place::Literal(_, more))
            | (Place::Literal(_, more), Place::Within(plus)) => {
                Place::Within(plus.checked_add(more)?)
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

    /// What holds of either.
    pub(super) fn larger(&self, a: Option<Place>, b: Option<Place>) -> Option<Place> {
        match (a?, b?) {
            (Place::Literal(a, b), Place::Literal(c, d)) => {
                Some(Place::Literal(a.min(c), b.max(d)))
            }
            (Place::Counter(a), Place::Counter(b)) => Some(Place::Counter(a.max(b))),
            (Place::Within(a), Place::Within(b)) => Some(Place::Within(a.max(b))),
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

    /// The counter, or a count, masked to the lanes of a group: what is a multiple of some number stays one.
    fn masked(&self, a: Operand, mask: u64) -> Option<Place> {
        let whole = match (self.place(a), self.step) {
            (Some(Place::Literal(a, b)), _) if a == b => {
                return Some(Place::Literal(a & mask, a & mask));
            }
            (Some(Place::Counter(0)), Some(step)) => self.aligned.min(step & step.wrapping_neg()),
            _ => 1,
        };
        let size = mask.checked_add(1).filter(|n| n.is_power_of_two())?;
        Some(Place::Literal(0, size - whole.min(size)))
    }

    pub(super) fn define(&mut self, to: Value, op: Op, args: &[Operand]) {
        let place = match (op, args) {
            (Op::Add, [a, b]) => self.sum(*a, *b),
            (Op::And, [a, Operand::Const(c)] | [Operand::Const(c), a]) => self.masked(*a, c.bits),
            (Op::Copy, [a]) => self.place(*a),
            (Op::Select, [_, a, b]) => self.larger(self.place(*a), self.place(*b)),
            (Op::Cast, [a]) if self.tile.operand_shape(*a).ty == Ty::Bool => {
                Some(Place::Literal(0, 1))
            }
            _ => None,
        };
        self.know(to, place);
    }

    /// What a value is from here on. Only indices have places: others may wrap around earlier.
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
