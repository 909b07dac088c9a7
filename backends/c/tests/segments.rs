//! Folds of segments in vectors: the same bits as the interpreter's for any length, and traps only for
//! elements that a segment has.

mod common;

use common::*;
use livefusion_backend::{Backend, Outcome};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::{Const, Ty};

const BAD: i64 = 77;

fn int(x: i64) -> Data {
    Data::Scalar(Const::int(Ty::I64, x))
}

/// Lengths of segments below `most`, and how many elements that is.
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
    assert!(source.contains("lf_here_8(lane, size)"), "{source}");
    let interp = InterpBackend::new().compile(&program).unwrap();
    let mut numbers = Numbers(11);
    for most in [2, 6, 17, 18, 33, 34, 70, 300] {
        let (lengths, total) = lengths(&mut numbers, 200, most);
        // With and without elements behind the last segment.
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

fn check(
    c: &dyn livefusion_backend::Kernel,
    interp: &dyn livefusion_backend::Kernel,
    data: &[Data],
    outcome: Outcome,
) {
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
