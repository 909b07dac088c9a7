//! Segments in three parts: the middle, in which comparisons with the counter have the answers that they have for most
//! of a long segment, and what is before and behind it, of which nothing is known. The middle takes conditions that are
//! the same in all of a segment to be so that neighbours are read; where they are not, there is none.

use super::Lower;
use super::cases::{Known, comparison};
use crate::ir::{Comparison, Operand};
use crate::region::{Case, InnerLoop, Test};
use loop_lang::ir::Atom;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Where a part begins and ends, and what is known in it.
pub(super) type Stretch<'r> = (Operand, Operand, Known<'r>);

impl<'r> Lower<'r, '_> {
    /// The parts of a segment.
    pub(super) fn parts_of_segment(
        &mut self,
        inner_loop: &InnerLoop,
        (from, to): (Operand, Operand),
        case: &'r Case,
    ) -> Vec<Stretch<'r>> {
        if !case.asks() {
            return vec![(from, to, Known::Case(case))];
        }
        let word = |lower: &mut Self, name, op, args: &[Operand]| lower.op(name, Ty::U64, op, args);
        let end = word(self, "end", Op::Max, &[from, to]);
        // It begins where the last of the answers becomes what it is then.
        let mut before = word(self, "before", Op::Sub, &[end, from]);
        let mut waits: Option<Operand> = None;
        for test in &case.tests {
            let (right, same) = self.answer_at(inner_loop, (case, test), from);
            let wait = word(self, "wait", Op::Select, &[right, Lower::u64(0), same]);
            waits = Some(match waits {
                Some(waits) => word(self, "wait", Op::Max, &[waits, wait]),
                None => wait,
            });
        }
        if let Some(waits) = waits {
            before = word(self, "before", Op::Min, &[before, waits]);
        }
        let first = word(self, "first", Op::Add, &[from, before]);
        // And lasts as long as all of them stay so.
        let mut steps = word(self, "steps", Op::Sub, &[end, first]);
        for test in &case.tests {
            let (right, same) = self.answer_at(inner_loop, (case, test), first);
            let stays = word(self, "stays", Op::Select, &[right, same, Lower::u64(0)]);
            steps = word(self, "steps", Op::Min, &[steps, stays]);
        }
        // There is no middle where the row is none of those that it was thought to be.
        for (v, truth) in &case.assumed {
            let is = self.operand(Atom::Var(*v));
            let all = match truth {
                true => [is, steps, Lower::u64(0)],
                false => [is, Lower::u64(0), steps],
            };
            steps = word(self, "steps", Op::Select, &all);
        }
        let last = word(self, "last", Op::Add, &[first, steps]);
        vec![
            (from, first, Known::Nothing),
            (first, last, Known::Case(case)),
            (last, end, Known::Nothing),
        ]
    }

    /// Whether the answer to a comparison is that of a case where the counter is so much, and for how many steps from
    /// there on it is the same; where a sum would wrap around, for one.
    fn answer_at(
        &mut self,
        inner_loop: &InnerLoop,
        (case, test): (&Case, &Test),
        counter: Operand,
    ) -> (Operand, Operand) {
        let Comparison {
            moving,
            edge,
            inclusive,
        } = comparison(case, test);
        let at = self.value_of("moving", &moving, (inner_loop.counter, counter));
        let edge = self.value_of("edge", &edge, (inner_loop.counter, counter));
        let less = if inclusive { Op::Le } else { Op::Lt };
        let holds = self.op("holds", Ty::Bool, less, &[at, edge]);
        let one = Lower::u64(1);
        let (edge, below) = match inclusive {
            true => {
                let edge = self.op("edge", Ty::U64, Op::Add, &[edge, one]);
                (edge, self.op("below", Ty::Bool, Op::Lt, &[at, edge]))
            }
            false => (edge, holds),
        };
        let right = match test.holds {
            true => holds,
            false => self.op("differs", Ty::Bool, Op::Not, &[holds]),
        };
        let (up_to, beyond) = match test.down {
            false => {
                let up_to = self.op("up_to", Ty::U64, Op::Sub, &[edge, at]);
                let beyond = self.op("beyond", Ty::U64, Op::Sub, &[Lower::u64(0), at]);
                (up_to, beyond)
            }
            true => {
                let up_to = self.op("up_to", Ty::U64, Op::Add, &[at, one]);
                let past = self.op("beyond", Ty::U64, Op::Sub, &[at, edge]);
                let beyond = self.op("beyond", Ty::U64, Op::Add, &[past, one]);
                (up_to, beyond)
            }
        };
        let same = self.op("same", Ty::U64, Op::Select, &[below, up_to, beyond]);
        (right, self.op("same", Ty::U64, Op::Max, &[same, one]))
    }
}
