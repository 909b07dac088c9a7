//! Appends, packs, prefixes, levels and words.

use crate::{N, count, numbers, program};
use livefusion::{Array, Clustering};
use livefusion_tests::catalog::shape::Shape;
use livefusion_tests::catalog::streams;
use loop_lang::Op;

/// Packed and recombined elements are not stored: each takes one path, and keeps its position.
#[test]
fn both_ways() {
    let xs = numbers(1, N);
    let want: Vec<i64> = xs
        .iter()
        .map(|x| if *x > 0 { x * 3 } else { x - 7 })
        .collect();
    let done = program(
        || streams::both_ways(&Array::from(&xs)),
        [1, 1, 0],
        |combined| assert_eq!(combined, want),
    );
    let (n, positive) = (N as u64, count(xs.iter().filter(|x| **x > 0)));
    assert_eq!((done.reads(), done.writes()), (n, n));
    assert_eq!(
        (done.op(Op::Mul), done.op(Op::Sub)),
        (positive, n - positive)
    );
}

/// The input in memory is read at the filter's count, and no further.
#[test]
fn zip_with_a_filtered() {
    let xs = numbers(1, N);
    let kept: Vec<i64> = xs.iter().copied().filter(|x| *x > 0).collect();
    let weights = numbers(2, kept.len());
    let products = kept.iter().zip(&weights).enumerate();
    let want: Vec<i64> = products.map(|(i, (x, w))| x * w + i as i64).collect();
    let done = program(
        || streams::zip_with_a_filtered(&Array::from(&xs), &Array::from(&weights)),
        [1, 2, 0],
        |products| assert_eq!(products, want),
    );
    let kept = count(&kept);
    assert_eq!((done.reads(), done.writes()), (N as u64 + kept, kept));
}

/// Each level's groups depend on the values of the level before.
#[test]
fn levels() {
    let xs = numbers(1, N);
    let mut sum = 0;
    let running: Vec<i64> = xs
        .iter()
        .filter(|x| **x > 0)
        .map(|x| {
            sum += x;
            sum
        })
        .collect();
    let even = running.iter().copied().filter(|s| s % 2 == 0);
    let want = even.max().unwrap_or(0);
    let build = || streams::levels(&Array::from(&xs));
    let done = program(build, [1, 1, 0], |most| assert_eq!(most, want));
    assert_eq!((done.reads(), done.writes()), (N as u64, 0));
    assert_eq!(done.op(Op::Rem), count(&running));
    let (_, loops) =
        Shape::with_loops(&[build().node().clone()], Clustering::default()).expect("planned");
    assert!(loops[0].groups.iter().any(|g| g.level > 0), "{}", loops[0]);
}

#[test]
fn zip_of_append() {
    let (xs, ys, zs) = (numbers(1, N), numbers(2, N / 2), numbers(3, N + N / 2));
    let all = [xs.clone(), ys.clone()].concat();
    let want: Vec<i64> = all.iter().zip(&zs).map(|(a, z)| a * z).collect();
    let done = program(
        || streams::zip_of_append((&Array::from(&xs), &Array::from(&ys)), &Array::from(&zs)),
        [1, 1, 0],
        |(products, total)| {
            assert_eq!(products, want);
            assert_eq!(total, want.iter().sum());
        },
    );
    let n = count(&zs);
    assert_eq!((done.reads(), done.writes()), (2 * n, n));
}

/// Non-zero numbers, then some zeros.
fn with_zeros(before: usize) -> Vec<i64> {
    let mut xs: Vec<i64> = numbers(1, N).into_iter().map(|x| x | 1).collect();
    for x in xs.iter_mut().skip(before).step_by(3) {
        *x = 0;
    }
    xs
}

/// Divisions by zero after the end of a prefix never run, even with a loop per combinator.
#[test]
fn a_trap_behind_take_while() {
    let before = 400;
    let xs = with_zeros(before);
    let want: Vec<i64> = xs.iter().take(before).map(|x| 100 / x).collect();
    let done = program(
        || streams::until_zero(&Array::from(&xs)),
        [1, 2, 0],
        |(shares, total)| {
            assert_eq!(shares, want);
            assert_eq!(total, want.iter().sum());
        },
    );
    // The 0 is read, and no later element.
    assert_eq!(
        (done.reads(), done.op(Op::Div)),
        (before as u64 + 1, before as u64)
    );
}

/// The loop ends with the first quotient that is too large, and never reaches the zeros.
#[test]
fn a_trap_behind_the_end_of_the_loop() {
    let xs = [[9i64; 20].as_slice(), &[2], &[0; 20]].concat();
    let build = || streams::until_large(&Array::from(&xs));
    // With a loop per combinator, all quotients are computed first. The program traps, because they
    // are part of it.
    let fused = |engine: &livefusion::Engine| build().force_with(engine).expect("it runs");
    assert_eq!(fused(&livefusion::Engine::interp()), 20 * 11);
    assert_eq!(fused(&livefusion::Engine::c()), 20 * 11);
    let done =
        livefusion_tests::catalog::counting::work(|engine| assert_eq!(fused(engine), 20 * 11));
    assert_eq!((done.reads(), done.op(Op::Div)), (21, 21));
    let shape = Shape::of(&[build().node().clone()], Clustering::default()).expect("planned");
    assert_eq!(
        (shape.loops, shape.counters, shape.intermediates),
        (1, 1, 0)
    );
}

/// Each half is a phase with its own counter; nothing is in memory.
#[test]
fn parts_and_a_third() {
    let (xs, zs) = (numbers(1, N), numbers(2, N));
    let changed = |(i, x): (usize, &i64)| if i < N / 2 { x + 1 } else { x * 2 };
    let want = xs
        .iter()
        .enumerate()
        .map(changed)
        .zip(&zs)
        .map(|(c, z)| c * z)
        .sum();
    let done = program(
        || streams::parts_and_a_third(&Array::from(&xs), &Array::from(&zs)),
        [1, 2, 0],
        |sum: i64| assert_eq!(sum, want),
    );
    assert_eq!((done.reads(), done.writes()), (2 * N as u64, 0));
}

/// A part's start in the result is known only after the whole first pass: one loop traverses the
/// array twice.
#[test]
fn partition_append() {
    let xs = numbers(1, N);
    let (mut want, rest): (Vec<i64>, Vec<i64>) = xs.iter().partition(|x| **x < 17);
    want.extend(rest);
    let done = program(
        || streams::partition_append(&Array::from(&xs), 17),
        [1, 4, 0],
        |parted| assert_eq!(parted, want),
    );
    let n = N as u64;
    assert_eq!((done.reads(), done.writes()), (2 * n, n));
}

/// One loop splits the text, although a word's length is known only after it, and gives three
/// results.
#[test]
fn words() {
    let text: Vec<u8> = numbers(1, N)
        .iter()
        .map(|x| {
            if x % 4 == 0 {
                b' '
            } else {
                b'A' + (x + 100) as u8 % 26
            }
        })
        .collect();
    let lengths: Vec<usize> = text
        .split(|c| !c.is_ascii_alphabetic())
        .map(<[u8]>::len)
        .filter(|n| *n > 0)
        .collect();
    let most = 6;
    let mut want = vec![0u64; most];
    for n in &lengths {
        want[(*n).min(most - 1)] += 1;
    }
    let done = program(
        || streams::words(&Array::from(&text), most as u64),
        [1, 2, 0],
        |(words, longest, histogram)| {
            assert_eq!(words, count(&lengths));
            assert_eq!(Some(longest as usize), lengths.iter().copied().max());
            assert_eq!(histogram, want);
        },
    );
    // Every character is compared once with each end of the alphabet.
    assert_eq!(done.op(Op::Ge), N as u64 + 1);
}

/// A group's values are summed when the next group begins, and the last group's in a phase of its
/// own.
#[test]
fn sums_of_groups() {
    let mut keys: Vec<u32> = numbers(1, N)
        .iter()
        .map(|x| (x + 100) as u32 % 37)
        .collect();
    keys.sort_unstable();
    let values = numbers(2, N);
    let mut want: Vec<(u32, u64, i64)> = Vec::new();
    for (key, value) in keys.iter().zip(&values) {
        match want.last_mut() {
            Some((k, n, sum)) if k == key => (*n, *sum) = (*n + 1, *sum + value),
            _ => want.push((*key, 1, *value)),
        }
    }
    program(
        || streams::sums_of_groups(&Array::from(&keys), &Array::from(&values)),
        [1, 6, 0],
        |(names, counts, sums)| {
            assert!(names.into_iter().eq(want.iter().map(|w| w.0)));
            assert!(counts.into_iter().eq(want.iter().map(|w| w.1)));
            assert!(sums.into_iter().eq(want.iter().map(|w| w.2)));
        },
    );
}
