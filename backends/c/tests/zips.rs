//! Zips of filters as tiles give the interpreter's bits, however spans are cut.

use crate::common::*;
use livefusion_backend::{Backend, Kernel, Outcome};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::Const;
use std::sync::Arc;

/// Holds a loop on both backends.
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

    /// Runs in spans of several lengths, on C and on both backends alternately.
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

#[test]
fn the_first_side_to_end_ends_the_zip() {
    let both = Both::of("zip_shortest");
    let mut numbers = Numbers(4);
    for n in [0, 1, 63, 64, 200, 5000, 40_961] {
        for (low, high) in [
            (-2.0, 2.0),
            (0.1, 1.0),
            (1.09, 2.0),
            (-2.0, 0.01),
            (2.0, 0.0),
        ] {
            let xs = numbers.floats(n);
            let ys = numbers.floats(n + n / 3);
            let kept =
                |all: &[f64], test: &dyn Fn(f64) -> bool| all.iter().filter(|x| test(**x)).count();
            let pairs = kept(&xs, &|x| x > low).min(kept(&ys, &|y| y < high));
            // Otherwise an input ends after its last element, and the zip with it.
            let whole = pairs == xs.len().min(ys.len());
            let outcome = if whole {
                Outcome::Done
            } else {
                Outcome::Exited
            };
            let data = [Data::F64(xs), float(low), Data::F64(ys), float(high)];
            both.agree(&data, outcome);
        }
    }
}

/// Makes `kept` elements above `least`, with others between them.
fn with_kept(numbers: &mut Numbers, kept: usize, rejected: u64, least: f64) -> Vec<f64> {
    let mut all = Vec::new();
    for _ in 0..kept {
        let others = numbers.below(rejected + 1);
        all.extend((0..others).map(|_| least - 1.0));
        all.push(least + numbers.below(900) as f64 / 1000.0 + 0.001);
    }
    let others = numbers.below(rejected * 20 + 1);
    all.extend((0..others).map(|_| least));
    all
}

#[test]
fn filters_of_filters_beside_memory() {
    let both = Both::of("zip_three");
    let mut numbers = Numbers(5);
    for (n, dense, sparse) in [
        (0, 1, 1),
        (5, 0, 3),
        (300, 2, 0),
        (9000, 0, 1),
        (2000, 1, 60),
        (40, 0, 5000),
    ] {
        let (least, bad) = (0.1, float(5000.0));
        let mut xs = with_kept(&mut numbers, n, dense, least);
        // Some are too large for the second filter.
        for _ in 0..n / 3 {
            let at = numbers.below(xs.len() as u64) as usize;
            xs.insert(at, 1.05 + numbers.below(100) as f64);
        }
        let twice = xs.iter().filter(|x| **x > least && **x * 2.0 < 2.1).count();
        let ys = with_kept(&mut numbers, twice, sparse, least);
        let zs = numbers.floats(twice);
        let data = |xs: &Vec<f64>, zs: &Vec<f64>| {
            let columns = [xs, &ys].map(|x| Data::F64(x.clone())).to_vec();
            let rest = [
                float(least),
                float(-0.0),
                Data::F64(zs.clone()),
                bad.clone(),
            ];
            columns.into_iter().chain(rest).collect::<Vec<Data>>()
        };
        both.agree(&data(&xs, &zs), Outcome::Exited);
        // One input ends before the others.
        let mut more = zs.clone();
        more.push(1.0);
        both.agree(&data(&xs, &more), Outcome::Trapped(None));
        if n > 1 {
            both.agree(&data(&xs, &zs[1..].to_vec()), Outcome::Trapped(None));
            let at = numbers.below(xs.len() as u64) as usize;
            xs[at] = 5000.0;
            both.agree(&data(&xs, &zs), Outcome::Trapped(None));
        }
    }
}
