//! The radix sort compared with std's stable sort.

use super::{Alone, KeyOrder, Threads, Unsorted, VaryingBits, Word, varying};
use proptest::prelude::*;

/// A number of threads, all of which arrive.
struct Crew(usize);

impl Threads for Crew {
    fn count(&self) -> usize {
        self.0
    }

    fn together(&self, work: &(dyn Fn() + Sync)) {
        std::thread::scope(|scope| {
            (1..self.0).for_each(|_| {
                scope.spawn(work);
            });
            work();
        });
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A number of threads, of which only the calling one arrives.
struct Absent(usize);

impl Threads for Absent {
    fn count(&self) -> usize {
        self.0
    }

    fn together(&self, work: &(dyn Fn() + Sync)) {
        work();
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn crews() -> Vec<Box<dyn Threads>> {
    let mut crews: Vec<Box<dyn Threads>> = vec![Box::new(Alone)];
    crews.extend([2, 3, 16].map(|n| Box::new(Crew(n)) as Box<dyn Threads>));
    crews.extend([5, 1000].map(|n| Box::new(Absent(n)) as Box<dyn Threads>));
    crews
}

/// Sorts keys, and pairs of keys and places, which show whether the sort is stable.
fn check<K: Word + Ord + Default + std::fmt::Debug>(keys: &[K]) {
    let mut expected = keys.to_vec();
    expected.sort();
    let mut placed: Vec<[u64; 2]> = (0..).zip(keys).map(|(k, key)| [key.key(), k]).collect();
    placed.sort_by_key(|[key, _]| *key);
    for threads in crews() {
        let share = keys.len().div_ceil(threads.count()).max(1000);
        let on = (&*threads, share);
        let varying = varying(keys, &*threads);
        let fresh = || vec![K::default(); keys.len()];
        let (mut sorted, mut scratch) = (fresh(), fresh());
        let source = Unsorted {
            keys,
            word: |_, key| key,
        };
        source.sort_in_shares(varying, [&mut sorted, &mut scratch], on, |_| {});
        assert!(sorted == expected, "{} threads", threads.count());
        let mut sorted = vec![[0; 2]; keys.len()];
        let mut scratch = sorted.clone();
        let source = Unsorted {
            keys,
            word: |place, key: K| [key.key(), place as u64],
        };
        source.sort_in_shares(varying, [&mut sorted, &mut scratch], on, |words| {
            words.iter_mut().for_each(|word| word[1] += 1);
        });
        let all = sorted.iter().zip(&placed);
        let differing = all.clone().position(|(a, [key, k])| *a != [*key, k + 1]);
        assert_eq!(differing, None, "{} threads", threads.count());
    }
}

fn random(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Lengths around the thresholds of the algorithm.
const LENGTHS: [usize; 9] = [0, 1, 2, 192, 193, 1024, 1025, 5000, 16_390];

/// Keys with many distributions.
fn spreads(n: usize) -> Vec<Vec<u64>> {
    let make = |key: &dyn Fn(u64, u64) -> u64| {
        let mut word = random(0x9e37_79b9_7f4a_7c15);
        (0..n as u64).map(|k| key(k, word())).collect()
    };
    let float = |x: f64| match x.to_bits() {
        bits if bits >> 63 == 1 => !bits,
        bits => bits | 1 << 63,
    };
    vec![
        make(&|_, x| x),
        make(&|_, x| x >> 20 & 0xff_ffff),
        make(&|_, x| (x >> 61).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        make(&|_, x| float((x >> 11) as f64 / (1u64 << 52) as f64 - 1.0)),
        make(&|_, x| x >> (x & 63)),
        make(&|_, x| 1 << (x >> 58)),
        make(&|k, x| if k == 77 { x } else { x & 0xffff }),
        make(&|k, _| k >> 3),
        make(&|k, _| !k),
        make(&|k, _| k.swap_bytes()),
        make(&|k, x| if x & 7 == 0 { x } else { 5 + (k & 1) }),
        make(&|_, _| 42),
        make(&|_, x| (x & 1) << 63 | x >> 63),
    ]
}

#[test]
fn radix_of_all_spreads_and_lengths_is_stds_order() {
    for n in LENGTHS {
        for keys in spreads(n) {
            check(&keys);
        }
    }
}

#[test]
fn radix_of_many_keys_is_stds_order() {
    for n in [70_000, 140_000] {
        for keys in spreads(n) {
            let mut expected = keys.clone();
            expected.sort();
            let varying = varying(&keys, &Crew(3));
            let (mut sorted, mut scratch) = (vec![0; n], vec![0; n]);
            let source = Unsorted {
                keys: &keys,
                word: |_, key| key,
            };
            source.sort(varying, [&mut sorted, &mut scratch], &Crew(3), |_| {});
            assert!(sorted == expected);
        }
    }
}

#[test]
fn radix_of_short_keys_is_stds_order() {
    for n in [1000, 1500, 9000] {
        for keys in spreads(n) {
            check(&keys.iter().map(|k| (k >> 8) as u8).collect::<Vec<_>>());
            check(&keys.iter().map(|k| (k >> 40) as u16).collect::<Vec<_>>());
            check(&keys.iter().map(|k| (k >> 32) as u32).collect::<Vec<_>>());
        }
    }
}

#[test]
fn radix_of_few_values_counts_them() {
    for n in [1, 1500, 20_000] {
        let mut word = random(7);
        let keys: Vec<u64> = (0..n)
            .map(|_| 1 << 40 | (word() & 0xb1) << 16 | 9)
            .collect();
        let mut expected = keys.clone();
        expected.sort();
        for threads in crews() {
            let source = Unsorted {
                keys: &keys,
                word: |_, key| key,
            };
            let varying = varying(&keys, &*threads);
            let mut sorted = vec![0; n];
            let is_done = source.count(varying, &mut sorted, |key| key, &*threads);
            assert_eq!(is_done, n > 1);
            assert!(n == 1 || sorted == expected);
            assert!(!source.count(varying | 1 << 60 | 1, &mut sorted, |key| key, &*threads));
        }
    }
}

#[test]
fn radix_finds_keys_that_are_in_order() {
    for may_equal in [false, true] {
        assert_eq!(KeyOrder::of::<u8>(&[], may_equal), KeyOrder::Rising);
        assert_eq!(KeyOrder::of(&[1, 1, 2], may_equal), KeyOrder::Rising);
        assert_eq!(KeyOrder::of(&[3, 2, 1], may_equal), KeyOrder::Falling);
        assert_eq!(KeyOrder::of(&[1, 3, 2], may_equal), KeyOrder::Mixed);
        assert_eq!(KeyOrder::of(&[3, 1, 2], may_equal), KeyOrder::Mixed);
    }
    assert_eq!(KeyOrder::of(&[3, 1, 1], false), KeyOrder::Mixed);
    assert_eq!(KeyOrder::of(&[3, 1, 1], true), KeyOrder::Falling);
}

#[test]
fn radix_finds_the_bits_in_which_keys_differ() {
    let keys = [0b0110_1000u64, 0b0100_1000, 0b0110_1100];
    assert_eq!(varying(&keys, &Alone), 0b0010_0100);
    assert_eq!(varying(&keys, &Crew(3)), 0b0010_0100);
    let bits = VaryingBits::of(0b0010_0100).expect("two bits");
    assert_eq!((bits.low(), bits.count()), (2, 4));
    assert!(VaryingBits::of(0).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn radix_of_random_keys_is_stds_order(
        keys in prop::collection::vec(any::<u64>(), 0..2000),
        mask: u64,
        shift in 0u32..64,
    ) {
        check(&keys.iter().map(|key| (key & mask) >> shift).collect::<Vec<_>>());
    }
}
