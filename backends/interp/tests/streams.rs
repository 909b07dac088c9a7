//! Semantics of exits, phases and direction, on golden loops.
//!
//! Nothing beyond an exit may be accessed.

use crate::support::{Bits, Owned, Rng, array, f64s, golden, run};
use livefusion_backend::Outcome;
use livefusion_interp::{Counts, InterpBackend};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Returns the results of a golden loop and its counts.
fn counted(name: &str, args: &[Owned]) -> (Vec<Bits>, Counts) {
    let kernel = InterpBackend::counting()
        .compile_kernel(&golden(name))
        .unwrap();
    let (outcome, results) = run(&kernel, args);
    assert!(
        matches!(outcome, Outcome::Done | Outcome::Exited),
        "{name}: {outcome:?}"
    );
    (results, kernel.counts())
}

fn number(x: u64) -> Owned {
    Owned::Scalar(Const::u64(x))
}

fn scalar(bits: &Bits) -> u64 {
    match bits {
        Bits::Scalar(_, word) => *word,
        other => panic!("not a scalar: {other:?}"),
    }
}

fn words(bits: &Bits) -> &[u64] {
    match bits {
        Bits::Array(_, words) => words,
        other => panic!("not an array: {other:?}"),
    }
}

#[test]
fn nothing_behind_an_exit_is_read_or_computed() {
    // The odd elements are kept. The first kept one from 10 on ends the loop.
    let xs: Vec<i64> = (0..100).collect();
    let (results, counts) = counted("exit_filter_find", &[array(&xs), number(10)]);
    assert_eq!(results.iter().map(scalar).collect::<Vec<_>>(), [11, 6, 12]);
    assert_eq!(counts.reads.get("arr_0"), Some(&12));
    assert_eq!(counts.ops.get(&("1".to_string(), Op::And)), Some(&12));
    assert_eq!(counts.ops.get(&("2".to_string(), Op::Lt)), Some(&6));
    assert_eq!(counts.steps.get("r0"), Some(&12));

    // The filter drops three of four elements. A `take` of 0 reads nothing.
    for (n, taken, read) in [(3, 3, 10), (0, 0, 0), (1000, 25, 100)] {
        let (results, counts) = counted("exit_filter_take", &[array(&xs), number(n)]);
        assert_eq!(words(&results[0]).len(), taken);
        assert_eq!(counts.reads.get("arr_0").copied().unwrap_or(0), read);
    }

    // Segments of two: an element of the fourth segment exits the loop.
    let lengths = [2u64; 10];
    let ys: Vec<f64> = (0..20).map(f64::from).collect();
    let args = [array(&lengths), array(&ys), number(6)];
    let (results, counts) = counted("exit_nested_find", &args);
    assert_eq!(scalar(&results[0]), 6);
    assert_eq!(counts.reads.get("arr_0"), Some(&4));
    assert_eq!(counts.reads.get("arr_1"), Some(&7));
}

#[test]
fn a_finished_consumer_does_nothing_while_others_go_on() {
    let xs: Vec<i64> = (0..100).collect();
    let (results, counts) = counted("exit_take_beside", &[array(&xs), number(2)]);
    assert_eq!(words(&results[0]), [1, 5]);
    assert_eq!(words(&results[2]).len(), 100);
    assert_eq!(counts.ops.get(&("1".to_string(), Op::And)), Some(&6));
    // Elements after the 150th would trap if they were tested.
    let odd = [3i64; 300];
    let (results, counts) = counted("exit_sub_of_sub", &[array(&odd), number(20)]);
    assert_eq!(
        results[1..].iter().map(scalar).collect::<Vec<_>>(),
        [300, 0, 21]
    );
    assert_eq!(counts.ops.get(&("5".to_string(), Op::Lt)), Some(&21));
}

#[test]
fn traps_count_before_an_exit_only() {
    let xs: Vec<i64> = (0..200).map(|i| 2 * i + 1).collect();
    let ends = |from: u64, xs: &[i64]| {
        let kernel = crate::support::kernel(&golden("exit_filter_find"));
        run(&kernel, &[array(xs), number(from)]).0
    };
    // Elements 40 or more positions after the exit would trap.
    assert_eq!(ends(3, &xs), Outcome::Done);
    let mut even = xs.clone();
    (3..60).for_each(|i| even[i] = 2);
    let Outcome::Trapped(Some(report)) = ends(3, &even) else {
        panic!("the first odd element is behind the last that may be looked at");
    };
    assert_eq!(report.steps, 61);
}

/// Draws numbers whose sums depend on their order.
fn floats(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng(seed);
    (0..n).map(|_| rng.below(1 << 40) as f64 / 7e5).collect()
}

#[test]
fn a_scan_goes_on_from_phase_to_phase_as_over_one_array() {
    let start = || Owned::Scalar(Const::new(Ty::F64, 0.25f64.to_bits()));
    // The first phase may end anywhere in a block, and around ends of chunks.
    for (n, m) in [
        (0, 20),
        (5, 20),
        (8, 9),
        (13, 0),
        (16379, 40),
        (16390, 16400),
    ] {
        let (xs, ys) = (floats(n, 1), floats(m, 2));
        let halves: Vec<f64> = xs.iter().map(|x| 2.0 * x).collect();
        let args = [array(&halves), array(&ys), start()];
        let (parts, _) = counted("phases_scan", &args);
        let all = [&xs[..], &ys].concat();
        // `phase_of_one` has a single phase: it scans its input and writes the exclusive prefixes.
        let (whole, _) = counted("phase_of_one", &[array(&all), start()]);
        let (parts, whole) = (f64s(&parts[0]), f64s(&whole[0]));
        assert_eq!(parts[..], whole[1..], "{n} and {m}");
    }
}

#[test]
fn a_loop_from_the_end_is_one_over_the_mirrored_array() {
    let start = || Owned::Scalar(Const::new(Ty::F64, 0.25f64.to_bits()));
    for n in [0, 1, 7, 64, 1000, 16400] {
        let xs = floats(n, 3);
        let mirrored: Vec<f64> = xs.iter().rev().copied().collect();
        let (right, _) = counted("mirror_scan", &[array(&xs), start()]);
        let (left, _) = counted("phase_of_one", &[array(&mirrored), start()]);
        let mut left = f64s(&left[0]).split_off(1);
        left.reverse();
        assert_eq!(f64s(&right[0]), left, "{n}");
    }
}

#[test]
fn the_last_run_is_encoded_by_a_phase_of_its_own() {
    let encode = |xs: &[u64]| {
        let kernel = crate::support::kernel(&golden("phase_of_last_group"));
        let (_, results) = run(&kernel, &[array(xs)]);
        (
            words(&results[0]).to_vec(),
            words(&results[1]).to_vec(),
            scalar(&results[2]),
        )
    };
    assert_eq!(encode(&[]), (vec![], vec![], 0));
    assert_eq!(encode(&[7]), (vec![7], vec![1], 1));
    assert_eq!(
        encode(&[1, 1, 2, 3, 3, 3]),
        (vec![1, 2, 3], vec![2, 1, 3], 3)
    );
}
