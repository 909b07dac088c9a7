//! Segments of an external function, divided among threads.

use crate::error::ErrorKind;
use std::ops::Range;

/// With fewer elements one thread is faster.
const MANY: usize = 100_000;

/// Holds a run of neighbouring segments of a result.
pub struct Stretch<'a, T> {
    /// The number of segments before this run.
    first: usize,
    lengths: &'a [u64],
    data: &'a mut [T],
}

impl<'a, T: Send> Stretch<'a, T> {
    /// Holds all segments of `data`.
    ///
    /// The lengths must fit.
    pub fn all(lengths: &'a [u64], data: &'a mut [T]) -> Stretch<'a, T> {
        let first = 0;
        Stretch {
            first,
            lengths,
            data,
        }
    }

    /// Iterates over the segments, each with the range of its input.
    ///
    /// Input and output segments have the same index. The lengths of all input segments are in
    /// `of`.
    pub fn segments(self, of: &'a [u64]) -> impl Iterator<Item = (Range<usize>, &'a mut [T])> {
        let (before, of) = of.split_at_checked(self.first).unwrap_or_default();
        let (mut begin, mut rest) = (before.iter().sum::<u64>() as usize, self.data);
        self.lengths.iter().zip(of).map_while(move |(own, of)| {
            let all = std::mem::take(&mut rest);
            let (segment, behind) = all.split_at_mut_checked(*own as usize)?;
            rest = behind;
            begin += *of as usize;
            Some((begin - *of as usize..begin, segment))
        })
    }

    /// Splits the segments among threads and runs `act` on each part.
    pub fn shared_out(
        self,
        threads: usize,
        act: &(impl Fn(Stretch<'_, T>) -> Result<(), ErrorKind> + Sync),
    ) -> Result<(), ErrorKind> {
        if threads <= 1 || self.data.len() < MANY {
            return act(self);
        }
        let (mut cut, mut before) = (0, 0);
        while before < self.data.len() / 2 && cut < self.lengths.len() {
            before += self.lengths[cut] as usize;
            cut += 1;
        }
        let (left, right) = self.lengths.split_at(cut);
        let Some((low, high)) = self.data.split_at_mut_checked(before) else {
            return Ok(());
        };
        let some = |first, lengths, data| Stretch {
            first,
            lengths,
            data,
        };
        let (low, high) = (
            some(self.first, left, low),
            some(self.first + cut, right, high),
        );
        let half = threads / 2;
        let (low, high) = rayon::join(
            || low.shared_out(half, act),
            || high.shared_out(threads - half, act),
        );
        low.and(high)
    }
}
