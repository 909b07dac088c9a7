//! Sums by key: each thread has arrays of its own, which are added up as threads leave.

use super::Board;
use crate::runtime::sync::{copied, lock};
use livefusion_backend::{Buffer, Held};
use loop_lang::op::Op;
use loop_lang::types::canonical;

/// Bytes that are copied in the time of one sum.
const SUM: usize = 32;

impl<'a> Board<'a> {
    /// Allocates arrays of zeros for a thread's sums.
    pub fn zeros(&self, whole: &[Option<Held<'_>>]) -> Option<Vec<(usize, Buffer)>> {
        let like = |(slot, _): &(usize, Op)| {
            let array = whole.get(*slot)?.as_ref()?;
            Some((*slot, Buffer::zeroed(array.ty(), array.len())?))
        };
        self.shape.sums.iter().map(like).collect()
    }

    /// Keeps the sums of a thread that leaves.
    ///
    /// It first takes and adds the sums that another thread has kept. So threads that leave at once
    /// add in pairs.
    pub fn keep_sums(&self, mut sums: Vec<Held<'a>>) {
        while !sums.is_empty() {
            let mut kept = lock(&self.sums);
            let Some(others) = kept.take() else {
                *kept = Some(sums);
                return;
            };
            drop(kept);
            for (((_, op), to), from) in self.shape.sums.iter().zip(&mut sums).zip(&others) {
                add(to, *op, from);
            }
        }
    }

    /// Adds the sums of all threads to the whole.
    pub(super) fn add_up(&self) {
        let claims = &mut *lock(&self.claims);
        let (Some(whole), Some(sums)) = (&mut claims.places.frame, lock(&self.sums).take()) else {
            return;
        };
        for ((slot, op), from) in self.shape.sums.iter().zip(&sums) {
            if let Some(to) = &mut whole.arrays[*slot] {
                add(to, *op, from);
            }
        }
    }
}

/// Combines each element of an array with that of another.
fn add(to: &mut Held<'_>, op: Op, from: &Held<'_>) {
    copied(from.len() * SUM);
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
