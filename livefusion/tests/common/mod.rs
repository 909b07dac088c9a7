//! Helpers that tests of loops share. Each test uses a part of them.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::runtime::Explanation;
use livefusion::{Clustering, Result, stages};
use std::borrow::Borrow;
use std::sync::Arc;

/// Returns engines for the backends that run on any machine.
///
/// Forced nodes keep their values, so tests build a new program for each engine.
pub fn engines() -> [Engine; 3] {
    [Engine::interp(), Engine::jit(), Engine::c()]
}

/// Counts the loops of a program and the arrays that they write.
///
/// Written arrays are results and intermediates.
pub fn shape<N: Borrow<Arc<Node>>>(roots: &[N]) -> Result<(usize, usize)> {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| r.borrow().clone()).collect();
    let loops = Engine::interp().explain(&roots)?.loops;
    Ok((loops.len(), loops.iter().map(|l| l.arrays_written).sum()))
}

/// Counts the loops of a plan, their counters, and the arrays that they write.
pub fn counted(explained: &Explanation) -> (usize, usize, usize) {
    let loops = &explained.loops;
    let counters = loops.iter().map(|l| l.program.rates.len()).sum();
    let written = loops.iter().map(|l| l.arrays_written).sum();
    (loops.len(), counters, written)
}

/// Counts the loops of a program and the columns that cross them.
pub fn loops<N: Borrow<Arc<Node>>>(roots: &[N]) -> Result<(usize, usize)> {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| r.borrow().clone()).collect();
    let plan = stages::graph_of(&roots)?.plan(Clustering::default());
    Ok((plan.loops().len(), plan.crossings().len()))
}

/// Returns the numbers from 1 to `n`.
pub fn first_numbers(n: i64) -> Array<i64> {
    (1..=n).collect()
}

/// Compares a text with a golden file.
///
/// `LOOP_BLESS=1` rewrites the file.
pub fn golden(name: &str, got: &str) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&path, got).expect("golden file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{path} differs; LOOP_BLESS=1 writes it anew");
}

/// Two filters, as lazy arrays and on slices.
pub mod filters {
    use livefusion::prelude::*;

    /// Returns pseudorandom numbers from -99 to 99.
    pub fn numbers(mut seed: u64, n: usize) -> Vec<i64> {
        let next = |_| {
            seed = seed
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 40) as i64 % 100
        };
        (0..n).map(next).collect()
    }

    pub fn evens(xs: &Array<i64>) -> Array<i64> {
        xs.filter(|x| (x % 2).eq(0))
    }

    pub fn smalls(xs: &Array<i64>) -> Array<i64> {
        xs.filter(|x| x.lt(30))
    }

    pub fn kept(xs: &[i64], p: fn(&i64) -> bool) -> Vec<i64> {
        xs.iter().copied().filter(p).collect()
    }

    pub fn even(x: &i64) -> bool {
        x % 2 == 0
    }

    pub fn small(x: &i64) -> bool {
        *x < 30
    }
}
