//! Closures so long that compilers switch strategies, in every position.
//!
//! Every backend and every clustering must give the same bits.

use livefusion::prelude::*;
use livefusion::{Clustering, Engine};
use std::sync::Arc;

/// More statements than any block that plans build from several combinators.
const TERMS: i64 = 900;

fn long(x: Exp<i64>) -> Exp<i64> {
    (0..TERMS).fold(x, |y, k| (y ^ k) + x)
}

fn long_float(x: Exp<f64>) -> Exp<f64> {
    (0..TERMS).fold(x, |y, k| y * 0.5 + x / (k as f64 + 1.5))
}

fn engines() -> Vec<Engine> {
    let with = |backend: Arc<dyn livefusion_backend::Backend>| {
        [Clustering::default(), Clustering::Unfused].map(|c| {
            Engine::builder()
                .backend(backend.clone())
                .clustering(c)
                .threads(2)
                .build()
        })
    };
    let jit = with(Arc::new(livefusion_jit::JitBackend::new()));
    let c = with(Arc::new(livefusion_tests::backends::c()));
    jit.into_iter().chain(c).collect()
}

/// Asserts that every engine gives the interpreter's result, errors included.
fn agree<T: PartialEq + std::fmt::Debug>(force: impl Fn(&Engine) -> livefusion::Result<T>) {
    let text = |engine: &Engine| format!("{:?}", force(engine).map_err(|e| e.to_string()));
    let want = text(&Engine::interp());
    for engine in engines() {
        let got = text(&engine);
        assert!(
            got == want,
            "{}: {got:.300}, not {want:.300}",
            engine.backend_name()
        );
    }
}

fn words(n: usize) -> Array<i64> {
    Array::from((0..n as i64).map(|k| k * 37 % 101 - 50).collect::<Vec<_>>())
}

const SIZES: [usize; 5] = [0, 1, 33, 1000, 40_000];

#[test]
fn maps_folds_and_scans() {
    for n in SIZES {
        agree(|engine| {
            let xs = words(n);
            let ys = xs.map(long);
            let running = ys.scan(0, |a, b| a + b);
            (&ys, &running, &ys.sum()).force_with(engine)
        });
        agree(|engine| {
            let ys = words(n).map(|x| long_float(x.cast::<f64>()));
            let (sum, most) = (ys.sum(), ys.fold(0.0, |a, b| a.max(b)));
            (&ys, &sum, &most).force_with(engine)
        });
    }
}

#[test]
fn filters_zips_and_traps() {
    for n in SIZES {
        agree(|engine| {
            let (xs, ys) = (words(n), words(n).reverse());
            let kept = xs.filter(|x| long(x).gt(0)).map(long);
            let others = ys.filter(|x| long(x).gt(0)).map(long);
            let both = kept.zip_shortest(&others).map(|p| long(p.0) ^ p.1);
            (&kept.sum(), &both, &both.len()).force_with(engine)
        });
        // One element, if present, fails.
        agree(|engine| {
            words(n)
                .map(|x| 1000 / (long(x) - long(x) + x - 9))
                .force_with(engine)
        });
    }
}

#[test]
fn segments() {
    for n in SIZES {
        agree(|engine| {
            let lengths: Vec<u64> = vec![0, n as u64 / 3, n as u64 - n as u64 / 3, 0];
            let rows = Segmented::new(&Array::from(lengths), &words(n));
            let sums = rows.sum();
            let shares = rows.zip_with_each(&sums, |x, t| long(x) ^ t);
            (&shares.data(), &shares.sum().map(long), &sums).force_with(engine)
        });
    }
}
