//! `zip_shortest` of what is computed: one loop, in which each side is advanced until it has an element, and which ends
//! with the side that ends first.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion` writes the golden file anew.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::{Clustering, Error, ErrorKind, Result};
use std::sync::Arc;

fn engines() -> [Engine; 3] {
    [Engine::interp(), Engine::jit(), Engine::c()]
}

/// The loops of a program, and how many arrays they write: the results, and what goes through memory.
fn shape(roots: &[Arc<Node>]) -> Result<(usize, usize)> {
    let loops = Engine::interp().explain(roots)?.loops;
    Ok((loops.len(), loops.iter().map(|l| l.arrays_written).sum()))
}

fn numbers(mut seed: u64, n: usize) -> Vec<i64> {
    let next = |_| {
        seed = seed
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (seed >> 40) as i64 % 100
    };
    (0..n).map(next).collect()
}

fn evens(xs: &Array<i64>) -> Array<i64> {
    xs.filter(|x| (x % 2).eq(0))
}

fn smalls(xs: &Array<i64>) -> Array<i64> {
    xs.filter(|x| x.lt(30))
}

fn kept(xs: &[i64], p: fn(&i64) -> bool) -> Vec<i64> {
    xs.iter().copied().filter(p).collect()
}

fn even(x: &i64) -> bool {
    x % 2 == 0
}

fn small(x: &i64) -> bool {
    *x < 30
}

/// Either side ends first, or both do together; either may be empty.
const LENGTHS: [(usize, usize); 10] = [
    (0, 0),
    (0, 9),
    (9, 0),
    (1, 1),
    (2, 300),
    (300, 2),
    (300, 300),
    (5_000, 40_000),
    (40_000, 5_000),
    (40_000, 40_000),
];

#[test]
fn two_filters_are_one_loop() -> Result<()> {
    let (xs, ys) = (Array::from(vec![1i64, -2, 3]), Array::from(vec![-1i64, -4]));
    let (left, right) = (xs.filter(|x| x.gt(0)), ys.filter(|y| y.lt(0)));
    let products = left.zip_shortest(&right).map(|(x, y)| x * y);
    assert_eq!(shape(&[products.node().clone()])?, (1, 1));
    let explained = Engine::interp().explain(&[products.node().clone()])?;
    let text = explained.loops[0].program.to_string();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/zip_shortest_of_filters.loop"
    );
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(path, &text).expect("golden file");
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap_or_default());
    Ok(())
}

#[test]
fn sides_end_in_either_order() -> Result<()> {
    for engine in engines() {
        for (n, m) in LENGTHS {
            let (xs, ys) = (numbers(n as u64, n), numbers(m as u64 + 7, m));
            let want = kept(&xs, even).into_iter().zip(kept(&ys, small));
            let want: Vec<i64> = want.map(|(x, y)| 3 * x - y).collect();
            let (xs, ys) = (Array::from(xs), Array::from(ys));
            let zipped = evens(&xs).zip_shortest(&smalls(&ys));
            let zipped = zipped.map(|(x, y)| x * 3 - y);
            assert_eq!(shape(&[zipped.node().clone()])?, (1, 1));
            assert_eq!(zipped.force_with(&engine)?, want, "{n} and {m}");
        }
    }
    Ok(())
}
