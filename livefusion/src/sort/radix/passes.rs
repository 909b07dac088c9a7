//! Digit counts, and one pass over words by a digit.

use super::Word;
use super::digit::{BITS, Digit, PASSES, VaryingBits};
use std::array;

const VALUES: usize = 1 << BITS;

/// Words read together before they are written, so that writes seldom wait for earlier ones.
const TOGETHER: usize = 4;

/// Counts the words by the value of a digit.
pub fn counted<W: Word>(words: impl Iterator<Item = W>, digit: Digit) -> Vec<usize> {
    let mut counts = vec![0; digit.values()];
    for word in words {
        if let Some(n) = counts.get_mut(digit.of(word.key())) {
            *n += 1;
        }
    }
    counts
}

/// Writes words by a digit.
///
/// The counts become the end of each value's words.
#[inline(always)]
pub fn scatter<K: Copy, W: Word>(
    keys: &[K],
    word: impl Fn(usize, K) -> W,
    digit: Digit,
    counts: &mut [usize],
    to: &mut [W],
) {
    let mut next = 0;
    for n in &mut *counts {
        next += *n;
        *n = next - *n;
    }
    let mut put = |value: usize, word: W| {
        if let Some(next) = counts.get_mut(value) {
            if let Some(slot) = to.get_mut(*next) {
                *slot = word;
            }
            *next += 1;
        }
    };
    let (together, rest) = keys.as_chunks::<TOGETHER>();
    for (keys, place) in together.iter().zip((0..).step_by(TOGETHER)) {
        let words: [W; TOGETHER] = array::from_fn(|k| word(place + k, keys[k]));
        let values = words.map(|word| digit.of(word.key()));
        for (value, word) in values.into_iter().zip(words) {
            put(value, word);
        }
    }
    for (key, place) in rest.iter().zip(keys.len() - rest.len()..) {
        let word = word(place, *key);
        put(digit.of(word.key()), word);
    }
}

/// Cuts a slice into pieces at these ends.
pub fn pieces<'a, W>(words: &'a mut [W], ends: &[usize]) -> impl Iterator<Item = &'a mut [W]> {
    let (mut rest, mut begin) = (words, 0);
    ends.iter().map(move |end| {
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(end - begin);
        (rest, begin) = (behind, *end);
        own
    })
}

/// Holds digits with the counts of their values.
pub struct Digits {
    digits: [Digit; PASSES],
    counts: [[usize; VALUES]; PASSES],
    words: usize,
}

impl Digits {
    /// Counts all digits in one pass.
    #[inline(always)]
    pub fn new<K: Copy, W: Word>(
        keys: &[K],
        word: impl Fn(usize, K) -> W,
        bits: VaryingBits,
    ) -> Digits {
        let mut all = Digits {
            digits: bits.digits(),
            counts: [[0; VALUES]; PASSES],
            words: keys.len(),
        };
        match bits.passes() {
            1 => all.count::<K, W, 1>(keys, word),
            2 => all.count::<K, W, 2>(keys, word),
            3 => all.count::<K, W, 3>(keys, word),
            _ => all.count::<K, W, PASSES>(keys, word),
        }
        all
    }

    #[inline(always)]
    fn count<K: Copy, W: Word, const N: usize>(
        &mut self,
        keys: &[K],
        word: impl Fn(usize, K) -> W,
    ) {
        for (place, key) in keys.iter().enumerate() {
            let key = word(place, *key).key();
            for k in 0..N {
                self.counts[k][self.digits[k].of(key) % VALUES] += 1;
            }
        }
    }

    /// Lists the digits in which words differ, with their counts.
    pub fn needed(&mut self) -> impl Iterator<Item = (Digit, &mut [usize])> {
        let all = self.digits.iter().copied().zip(&mut self.counts);
        // An unused digit was not counted.
        let differing = |(digit, counts): &(Digit, &mut [usize; VALUES])| {
            digit.values() > 1 && !counts.contains(&self.words)
        };
        let all = all.filter(differing);
        all.map(|(digit, counts)| (digit, &mut counts[..digit.values()]))
    }
}
