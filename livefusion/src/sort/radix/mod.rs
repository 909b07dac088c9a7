//! Radix sort: stable, out of place, with one scratch array, on several threads.
//!
//! | module | contents |
//! | --- | --- |
//! | `word` | the sorted words |
//! | `digit` | digits, built from the bits in which keys differ |
//! | `passes` | counts of digits, and one pass by a digit |
//! | `share` | distribution of items among threads |
//!
//! Words are split by their topmost digit into buckets, from the source to the destination. Then
//! one thread sorts each bucket, with scratch memory that stays in its caches. A bucket with few
//! bits left is sorted by digits, from the lowest one up. A bucket with few words is sorted by
//! std's sort. Any other bucket is split again. Digits are built from the bits in which the keys of
//! a bucket differ, so each split leaves fewer bits. All threads together split a bucket that has
//! most of the words.
//!
//! Threads write to disjoint slices: each chunk has one for each value of a digit.

mod digit;
mod passes;
mod share;
#[cfg(test)]
mod tests;
mod word;

use crate::ast::Threads;
pub use digit::VaryingBits;
use digit::{Digit, PASSES};
use passes::{Digits, counted, pieces, scatter};
pub use share::{Alone, each};
use share::{each_with, parts};
use std::cmp::Reverse;
use std::ops::Range;
use std::slice::IterMut;
pub use word::Word;

/// Up to this many words std's sort is faster than any passes.
const FEW: usize = 192;

/// Limits the words for which std's sort is faster than splits.
pub const SOME: usize = 1024;

/// This many words are not split if a few passes suffice: their buckets would be small.
const UNSPLIT: Range<usize> = 1 << 16..1 << 18;

/// From this many words on several threads are faster than one.
const MANY: usize = 1 << 17;

/// Minimum scratch memory of a thread, in words. More threads would have too little work.
const SHARE: usize = 1 << 15;

/// Describes the present order of keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyOrder {
    /// No key is below the one before.
    Rising,
    /// Each key is below the one before, or equal if that is allowed.
    Falling,
    Mixed,
}

impl KeyOrder {
    /// Checks the order of keys, up to the first that violates it.
    ///
    /// Falling keys may be equal if `may_equal`.
    pub fn of<K: Ord>(keys: &[K], may_equal: bool) -> KeyOrder {
        let falls = keys.first() > keys.last();
        let is_in_order = match falls {
            true => keys.is_sorted_by(|a, b| b < a || may_equal && b == a),
            false => keys.is_sorted(),
        };
        match (is_in_order, falls) {
            (false, _) => KeyOrder::Mixed,
            (true, false) => KeyOrder::Rising,
            (true, true) => KeyOrder::Falling,
        }
    }
}

/// Returns the threads that are worth calling for `len` words.
pub fn fitting(threads: &dyn Threads, len: usize) -> &dyn Threads {
    match len < MANY || threads.count() <= 1 {
        true => &Alone,
        false => threads,
    }
}

/// Returns the bits in which keys differ.
pub fn varying<K: Word>(keys: &[K], threads: &dyn Threads) -> u64 {
    let chunks = parts(keys.len(), threads);
    let mut found: Vec<[u64; 2]> = chunks.iter().map(|_| [0, u64::MAX]).collect();
    let work = chunks.into_iter().zip(&mut found);
    each(threads, work.collect(), |(chunk, found)| {
        *found = ends(&keys[chunk])
    });
    let [any, all] = found.into_iter().fold([0, u64::MAX], joined);
    any & !all
}

/// Returns the bits set in any key, and those set in all keys.
fn ends<W: Word>(words: &[W]) -> [u64; 2] {
    let both = words.iter().map(|word| [word.key(); 2]);
    both.fold([0, u64::MAX], joined)
}

fn joined([any, all]: [u64; 2], [a, b]: [u64; 2]) -> [u64; 2] {
    [any | a, all & b]
}

/// Holds keys and the function that makes words of them.
pub struct Unsorted<'a, K, F> {
    pub keys: &'a [K],
    pub word: F,
}

impl<K: Copy + Sync, F> Unsorted<'_, K, F> {
    /// Writes the words in order to the first array.
    ///
    /// It calls `finish` on each sorted piece. Keys and both arrays are equally long. Keys differ
    /// in the bits `varying`, which decide. Words that agree in them keep their order, or come in
    /// the order of their other bits, which rise with the places.
    pub fn sort<W: Word>(
        &self,
        varying: u64,
        arrays: [&mut [W]; 2],
        threads: &dyn Threads,
        finish: impl Fn(&mut [W]) + Sync,
    ) where
        F: Fn(usize, K) -> W + Sync,
    {
        let threads = fitting(threads, self.keys.len());
        let share = self.keys.len().div_ceil(threads.count()).max(SHARE);
        self.sort_in_shares(varying, arrays, (threads, share), finish);
    }

    /// Works as [`sort`](Unsorted::sort), with `share` words of scratch memory for each thread.
    fn sort_in_shares<W: Word>(
        &self,
        varying: u64,
        [sorted, scratch]: [&mut [W]; 2],
        (threads, share): (&dyn Threads, usize),
        finish: impl Fn(&mut [W]) + Sync,
    ) where
        F: Fn(usize, K) -> W + Sync,
    {
        let len = self.keys.len();
        let bits = VaryingBits::of(varying);
        let is_low = |bits: &VaryingBits| match bits.passes() {
            2 => true,
            3..=PASSES => UNSPLIT.contains(&len),
            _ => false,
        };
        if let Some(bits) = bits.filter(|bits| threads.count() == 1 && is_low(bits)) {
            self.by_digits(bits, [sorted, scratch]);
            return finish(sorted);
        }
        let key = |place: usize| (self.word)(place, self.keys[place]).key() & varying;
        let Some(digit) = bits.and_then(|bits| Digit::top(bits, len, key)) else {
            let words = self.words(0..len);
            sorted
                .iter_mut()
                .zip(words)
                .for_each(|(to, word)| *to = word);
            W::sort(sorted);
            return finish(sorted);
        };
        let ends = self.split(digit, sorted, threads);
        let rest = varying & digit.below();
        let buckets = pieces(sorted, &ends).filter(|bucket| !bucket.is_empty());
        let buckets = buckets.map(|words| Bucket { words, rest }).collect();
        let small = match threads.count() {
            1 => buckets,
            _ => split_large(buckets, share / 2, scratch, threads, &finish),
        };
        let scratches = scratch.chunks_mut(share).collect();
        each_with(threads, scratches, small, |scratch, bucket| {
            // The result of a cancelled force is dropped.
            if !threads.is_cancelled() {
                sort(bucket.words, scratch, bucket.rest);
                finish(bucket.words);
            }
        });
    }

    /// Sorts words that are only keys of few values by counting them.
    ///
    /// Returns whether that was possible.
    pub fn count<W: Word>(
        &self,
        varying: u64,
        sorted: &mut [W],
        of_key: impl Fn(u64) -> W,
        threads: &dyn Threads,
    ) -> bool
    where
        F: Fn(usize, K) -> W + Sync,
    {
        let digit = VaryingBits::of(varying).and_then(Digit::all);
        let (Some(digit), Some(first)) = (digit, self.words(0..self.keys.len()).next()) else {
            return false;
        };
        let counts = self.counts(digit, parts(self.keys.len(), threads), threads);
        let all = |value: usize| counts.iter().map(|counts| counts[value]).sum();
        let ends = (0..digit.values()).map(all).scan(0, |end, n: usize| {
            *end += n;
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        for (value, words) in pieces(sorted, &ends).enumerate() {
            words.fill(of_key(digit.with(first.key(), value)));
        }
        true
    }

    #[inline(always)]
    fn words<W>(&self, range: Range<usize>) -> impl Iterator<Item = W>
    where
        F: Fn(usize, K) -> W,
    {
        let keys = self.keys[range.clone()].iter().zip(range);
        keys.map(|(key, place)| (self.word)(place, *key))
    }

    /// Sorts by all digits, from the lowest one up. The result is in the first array.
    fn by_digits<W: Word>(&self, bits: VaryingBits, [sorted, scratch]: [&mut [W]; 2])
    where
        F: Fn(usize, K) -> W,
    {
        let mut digits = Digits::new(self.keys, &self.word, bits);
        let (mut from, mut to) = match digits.needed().count() % 2 {
            0 => (sorted, scratch),
            _ => (scratch, sorted),
        };
        for (k, (digit, counts)) in digits.needed().enumerate() {
            match k {
                0 => scatter(self.keys, &self.word, digit, counts, to),
                _ => scatter(from, |_, word| word, digit, counts, to),
            }
            std::mem::swap(&mut from, &mut to);
        }
    }

    /// Counts the words of each chunk by the value of a digit.
    fn counts<W: Word>(
        &self,
        digit: Digit,
        chunks: Vec<Range<usize>>,
        threads: &dyn Threads,
    ) -> Vec<Vec<usize>>
    where
        F: Fn(usize, K) -> W + Sync,
    {
        let mut counts: Vec<Vec<usize>> = chunks.iter().map(|_| Vec::new()).collect();
        let work = chunks.into_iter().zip(&mut counts).collect();
        each(threads, work, |(chunk, counts)| {
            *counts = counted(self.words(chunk), digit);
        });
        counts
    }

    /// Writes the words by a digit. Returns the end of each value's words.
    fn split<W: Word>(&self, digit: Digit, to: &mut [W], threads: &dyn Threads) -> Vec<usize>
    where
        F: Fn(usize, K) -> W + Sync,
    {
        let chunks = parts(self.keys.len(), threads);
        let mut counts = self.counts(digit, chunks.clone(), threads);
        if let [counts] = &mut counts[..] {
            scatter(self.keys, &self.word, digit, counts, to);
            return std::mem::take(counts);
        }
        let mut ends = Vec::with_capacity(digit.values());
        let mut slots: Vec<Vec<IterMut<W>>> = counts
            .iter()
            .map(|_| Vec::with_capacity(digit.values()))
            .collect();
        let (mut rest, mut end) = (to, 0);
        for value in 0..digit.values() {
            for (counts, slots) in counts.iter().zip(&mut slots) {
                let (own, behind) = std::mem::take(&mut rest).split_at_mut(counts[value]);
                slots.push(own.iter_mut());
                (rest, end) = (behind, end + counts[value]);
            }
            ends.push(end);
        }
        let work = chunks.into_iter().zip(slots).collect();
        each(threads, work, |(chunk, mut slots)| {
            for word in self.words(chunk) {
                let slots = slots.get_mut(digit.of(word.key()));
                if let Some(slot) = slots.and_then(Iterator::next) {
                    *slot = word;
                }
            }
        });
        ends
    }
}

/// Words that agree in all deciding bits except `rest`.
struct Bucket<'a, W> {
    words: &'a mut [W],
    rest: u64,
}

/// Splits large buckets with all threads. Returns the small ones.
fn split_large<'a, W: Word>(
    buckets: Vec<Bucket<'a, W>>,
    large: usize,
    scratch: &mut [W],
    threads: &dyn Threads,
    finish: &impl Fn(&mut [W]),
) -> Vec<Bucket<'a, W>> {
    let is_large = |bucket: &Bucket<W>| bucket.words.len() >= large;
    let (mut many, mut small): (Vec<_>, Vec<_>) = buckets.into_iter().partition(is_large);
    while let Some(Bucket { words, rest }) = many.pop() {
        let len = words.len();
        let key = |place: usize| words[place].key() & rest;
        let bits = VaryingBits::of(varying(words, threads) & rest);
        let Some(digit) = bits.and_then(|bits| Digit::top(bits, len, key)) else {
            sort(words, scratch, rest);
            finish(words);
            continue;
        };
        let scratch = &mut scratch[..len];
        let source = Unsorted {
            keys: &words[..],
            word: |_, word| word,
        };
        let ends = source.split(digit, scratch, threads);
        let size = len.div_ceil(threads.count()).max(1);
        let pairs = words.chunks_mut(size).zip(scratch.chunks(size)).collect();
        each(threads, pairs, |(to, from): (&mut [W], &[W])| {
            to.copy_from_slice(from);
        });
        let rest = rest & digit.below();
        let parts = pieces(words, &ends).filter(|part| !part.is_empty());
        let (more, fewer): (Vec<_>, Vec<_>) = parts
            .map(|words| Bucket { words, rest })
            .partition(is_large);
        many.extend(more);
        small.extend(fewer);
    }
    small.sort_by_key(|bucket| Reverse(bucket.words.len()));
    small
}

/// Sorts words by the bits `rest`, with as many words of scratch memory. Recursive calls have fewer
/// bits.
fn sort<W: Word>(words: &mut [W], scratch: &mut [W], rest: u64) {
    let len = words.len();
    if rest == 0 || len < 2 {
        return;
    }
    if len <= FEW || scratch.len() < len {
        return W::sort(words);
    }
    let [any, all] = ends(words);
    let Some(bits) = VaryingBits::of(any & !all & rest) else {
        return;
    };
    let scratch = &mut scratch[..len];
    if bits.passes() < PASSES {
        return by_digits(words, scratch, bits);
    }
    let key = |place: usize| words[place].key() & rest;
    let Some(digit) = Digit::top(bits, len, key) else {
        return W::sort(words);
    };
    let mut counts = counted(words.iter().copied(), digit);
    scatter(words, |_, word| word, digit, &mut counts, scratch);
    words.copy_from_slice(scratch);
    for bucket in pieces(words, &counts) {
        sort(bucket, scratch, rest & digit.below());
    }
}

/// Sorts words by all digits, from the lowest one up.
fn by_digits<W: Word>(words: &mut [W], scratch: &mut [W], bits: VaryingBits) {
    let mut digits = Digits::new(words, |_, word| word, bits);
    let (mut from, mut to, mut is_in_place) = (words, scratch, true);
    for (digit, counts) in digits.needed() {
        scatter(from, |_, word| word, digit, counts, to);
        std::mem::swap(&mut from, &mut to);
        is_in_place = !is_in_place;
    }
    if !is_in_place {
        to.copy_from_slice(from);
    }
}
