//! Zips of filters, tile by tile: the same bits as the interpreter's, however spans are cut.

mod common;

use common::*;
use livefusion_backend::{Backend, Kernel, Outcome};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::Const;
use std::sync::Arc;

/// A loop on both backends.
struct Both {
    c: Arc<dyn Kernel>,
    interp: Arc<dyn Kernel>,
}

impl Both {
    fn of(name: &str) -> Both {
        let program = loop_file(name);
        let c = CBackend::new().compile(&program).unwrap();
        let tiles = c.source().unwrap().contains("lf_made");
        assert!(tiles, "{name} runs tile by tile");
        let interp = InterpBackend::new().compile(&program).unwrap();
        Both { c, interp }
    }

    /// Runs in spans of several lengths, on C and on both backends by turns.
    fn agree(&self, data: &[Data], outcome: Outcome) {
        let args = args(data);
        let (c, interp) = (&*self.c, &*self.interp);
        let want = run(interp, &args);
        assert_eq!(want.0, outcome);
        let spans: &[&[u64]] = &[&[u64::MAX], &[16384], &[100, 3000, 1, 64], &[777]];
        for spans in spans {
            for kernels in [&[c][..], &[interp, c]] {
                let got = run_by_turns(kernels, spans, &args);
                assert!(got == want, "in spans {spans:?}");
            }
        }
    }
}

fn float(x: f64) -> Data {
    Data::Scalar(Const::f64(x))
}

#[test]
fn sides_that_keep_as_many() {
    let both = Both::of("zip");
    let mut numbers = Numbers(3);
    for n in [0, 1, 63, 64, 200, 5000, 40_961] {
        for least in [-2.0, 0.1, 1.0, 1.09, 2.0] {
            let xs = numbers.floats(n);
            let mut ys: Vec<f64> = xs.iter().rev().copied().collect();
            ys.resize(n + n / 3, -3.0);
            let data = [Data::F64(xs), Data::F64(ys), float(least), float(-0.0)];
            both.agree(&data, Outcome::Exited);
        }
    }
}
