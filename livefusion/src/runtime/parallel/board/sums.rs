//! Sums by key: each thread has arrays of its own, which are added up when all have left.

use super::Board;
use crate::runtime::sync::{copied, lock};
use livefusion_backend::{Buffer, Held};
use loop_lang::op::Op;
use loop_lang::types::canonical;

/// Bytes that are copied in the time of one sum.
const SUM: usize = 32;

impl Board<'_> {
    /// Allocates arrays of zeros for a thread's sums.
    pub fn zeros(&self, whole: &[Option<Held<'_>>]) -> Option<Vec<(usize, Buffer)>> {
        let like = |(slot, _): &(usize, Op)| {
            let array = whole.get(*slot)?.as_ref()?;
            Some((*slot, Buffer::zeroed(array.ty(), array.len())?))
        };
        self.shape.sums.iter().map(like).collect()
    }

    /// Keeps the sums of a thread that leaves.
    pub fn keep_sums(&self, sums: Vec<Buffer>) {
        if !sums.is_empty() {
            lock(&self.sums).push(sums);
        }
    }

    /// Adds the sums of all threads to the whole.
    pub(super) fn add_up(&self) {
        let whole = &mut lock(&self.claims).frame.arrays;
        for sums in lock(&self.sums).drain(..) {
            for ((slot, op), from) in self.shape.sums.iter().zip(&sums) {
                if let Some(to) = &mut whole[*slot] {
                    copied(from.len() * SUM);
                    add(to, *op, from);
                }
            }
        }
    }
}

/// Combines each element of an array with that of another.
fn add(to: &mut Held<'_>, op: Op, from: &Buffer) {
    let ty = from.ty();
    for i in 0..from.len() {
        if let (Some(a), Some(b)) = (to.get_word(i), from.get_word(i)) {
            let sum = match op {
                Op::Add => canonical(ty, a.wrapping_add(b)),
                Op::Max => a.max(b),
                Op::Xor => a ^ b,
                _ => a | b,
            };
            to.set_word(i, sum);
        }
    }
}
