//! Folds of segments in vectors give the interpreter's bits for any length.
//!
//! Only elements inside of a segment may trap.

use crate::common::*;
use livefusion_backend::{Backend, Kernel, Outcome};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::{Const, Ty};

const BAD: i64 = 77;

fn int(x: i64) -> Data {
    Data::Scalar(Const::int(Ty::I64, x))
}

/// Draws lengths of segments below `most`. Also returns their sum.
fn lengths(numbers: &mut Numbers, segments: usize, most: u64) -> (Vec<u64>, usize) {
    let lengths: Vec<u64> = (0..segments).map(|_| numbers.below(most)).collect();
    let total = lengths.iter().sum::<u64>() as usize;
    (lengths, total)
}

fn data(lengths: &[u64], xs: Vec<f64>, ys: Vec<i64>) -> Vec<Data> {
    vec![
        Data::U64(lengths.to_vec()),
        Data::Scalar(Const::u64(xs.len() as u64)),
        Data::F64(xs),
        Data::Scalar(Const::f64(-0.0)),
        Data::I64(ys),
        int(BAD),
        int(i64::MIN),
    ]
}

#[test]
fn any_length_gives_the_same_bits() {
    let program = loop_file("checked");
    let c = CBackend::new().compile(&program).unwrap();
    let source = c.source().unwrap();
    assert!(source.contains("const u64 last = first"), "{source}");
    let interp = InterpBackend::new().compile(&program).unwrap();
    let mut numbers = Numbers(11);
    for most in [2, 6, 17, 18, 33, 34, 70, 300] {
        let (lengths, total) = lengths(&mut numbers, 200, most);
        // With and without elements after the last segment.
        for more in [0, 40] {
            let n = total + more;
            let (xs, mut ys) = (numbers.floats(n), numbers.ints(n));
            ys.iter_mut().filter(|y| **y == BAD).for_each(|y| *y = 0);
            ys[total..].fill(BAD);
            check(
                &*c,
                &*interp,
                &data(&lengths, xs.clone(), ys.clone()),
                Outcome::Done,
            );
            if total > 0 {
                ys[numbers.below(total as u64) as usize] = BAD;
                check(
                    &*c,
                    &*interp,
                    &data(&lengths, xs, ys),
                    Outcome::Trapped(None),
                );
            }
        }
    }
}

#[test]
fn extrema_follow_the_rules() {
    let program = loop_file("bounds");
    let c = CBackend::new().compile(&program).unwrap();
    let source = c.source().unwrap();
    assert!(source.contains("if (doubt) {"), "{source}");
    let interp = InterpBackend::new().compile(&program).unwrap();
    let special = [
        f64::NAN,
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1.5,
        -1.5,
    ];
    let mut numbers = Numbers(13);
    for most in [3, 17, 40, 100] {
        // All sets of special values.
        for among in 1..128u64 {
            let (lengths, total) = lengths(&mut numbers, 30, most);
            let pick: Vec<f64> = (0..7)
                .filter(|k| among >> k & 1 == 1)
                .map(|k| special[k])
                .collect();
            let element = |_| pick[numbers.below(pick.len() as u64) as usize];
            let xs: Vec<f64> = (0..total + 40).map(element).collect();
            let n = Data::Scalar(Const::u64(xs.len() as u64));
            let data = [Data::U64(lengths), n, Data::F64(xs)];
            check(&*c, &*interp, &data, Outcome::Done);
        }
    }
}

fn check(c: &dyn Kernel, interp: &dyn Kernel, data: &[Data], outcome: Outcome) {
    let args = args(data);
    for spans in [&[u64::MAX][..], &[100, 7], &[16384]] {
        let (want, got) = (run(interp, &args), run_by_turns(&[c], spans, &args));
        assert_eq!(want.0, outcome);
        assert_eq!(got.0, outcome);
        assert!(
            got == want || outcome != Outcome::Done,
            "in spans {spans:?}"
        );
    }
}
