//! Folds by operators that only associate, with one run per vector lane.
//!
//! They give the interpreter's bits for any start and pauses.

use crate::common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::{Const, Ty};

/// Many chunks, and some more.
const MANY: usize = 2 * 8 * 16_384 + 40_000;

/// Makes sums that overflow, and factors whose product stays finite.
fn data(n: usize) -> Vec<Data> {
    let mut numbers = Numbers(7);
    let ints = (0..n).map(|i| match i % 1000 {
        0 => numbers.next() as i64 * 1000,
        _ => numbers.below(2001) as i64 - 1000,
    });
    let ints = ints.collect();
    let factors = (0..n).map(|_| 0.999 + numbers.below(2000) as f64 * 1e-6);
    let mut factors: Vec<f64> = factors.collect();
    factors.iter_mut().step_by(70_001).for_each(|x| *x = -*x);
    vec![
        Data::I64(ints),
        Data::F64(factors),
        Data::Scalar(Const::int(Ty::I64, -5)),
        Data::Scalar(Const::f64(0.75)),
    ]
}

#[test]
fn runs_side_by_side_have_the_same_bits() {
    let program = loop_file("steepest");
    let c = CBackend::new().compile(&program).unwrap();
    // Some steps of all runs are transposed together.
    assert!(c.source().unwrap().contains("arr_0_across["));
    let interp = InterpBackend::new().compile(&program).unwrap();
    for n in [0, 1, 100, 16_384, 8 * 16_384, 8 * 16_384 + 1, MANY] {
        let data = data(n);
        let args = args(&data);
        let want = run(&*interp, &args);
        // Also starts in the middle of a chunk, and ends exactly at the end of a chunk.
        for spans in [
            &[u64::MAX][..],
            &[5, u64::MAX],
            &[1 << 17],
            &[1 << 14, 1 << 18],
        ] {
            for kernels in [&[&*c][..], &[&*interp, &*c]] {
                let got = run_by_turns(kernels, spans, &args);
                assert!(got == want, "{n} in spans {spans:?}: {got:?}, not {want:?}");
            }
        }
    }
}
