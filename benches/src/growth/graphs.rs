//! Graph families of any size, each with one kind of growth.

use livefusion::ast::Node;
use livefusion::prelude::*;
use std::sync::Arc;

/// Describes a kind of graph.
pub struct Family {
    /// Its name on the command line.
    pub name: &'static str,
    /// The unit of `n`.
    pub what: &'static str,
    /// The default number of elements of its arrays.
    pub elements: usize,
    /// The smallest and the largest `n`.
    pub sizes: (usize, usize),
    /// Builds the requested results over arrays of so many elements.
    pub build: fn(n: usize, elements: usize) -> Vec<Arc<Node>>,
}

/// Lists all kinds.
pub const ALL: &[Family] = &[
    Family {
        name: "merges",
        what: "independent merges in one force",
        elements: 3,
        sizes: (25, 1600),
        build: merges,
    },
    Family {
        name: "scans",
        what: "scans, each of the one before",
        elements: 8,
        sizes: (125, 4000),
        build: scans,
    },
    Family {
        name: "scalars",
        what: "delayed scalars, each from the one before",
        elements: 8,
        sizes: (250, 8000),
        build: scalars,
    },
    Family {
        name: "passes",
        what: "sums, each of a map that captures the one before",
        elements: 8,
        sizes: (125, 2000),
        build: passes,
    },
    Family {
        name: "terms",
        what: "terms of one closure",
        elements: 8,
        sizes: (1000, 32_000),
        build: terms,
    },
    Family {
        name: "conditions",
        what: "conditions of one closure, with arms that may fail",
        elements: 8,
        sizes: (200, 6400),
        build: conditions,
    },
    Family {
        name: "mixed",
        what: "filters, scans, maps and zips in turn",
        elements: 10_000,
        sizes: (10, 2560),
        build: mixed,
    },
    Family {
        name: "results",
        what: "maps of one array, each a result",
        elements: 8,
        sizes: (125, 4000),
        build: results,
    },
    Family {
        name: "chain",
        what: "maps, each of the one before",
        elements: 10_000,
        sizes: (125, 4000),
        build: chain,
    },
    Family {
        name: "sums",
        what: "sums of one array",
        elements: 100_000,
        sizes: (12, 3072),
        build: sums,
    },
    Family {
        name: "appends",
        what: "filters, appended one by one",
        elements: 8,
        sizes: (10, 2000),
        build: appends,
    },
    Family {
        name: "zips",
        what: "zips of two filters, each with others",
        elements: 8,
        sizes: (10, 1000),
        build: zips,
    },
    Family {
        name: "tree",
        what: "filters, merged in pairs until one is left",
        elements: 8,
        sizes: (10, 1280),
        build: tree,
    },
    Family {
        name: "sort",
        what: "merges of a merge sort of n + 1 keys",
        elements: 1,
        sizes: (64, 4096),
        build: sort,
    },
];

fn numbers(n: usize) -> Array<f64> {
    Array::from(crate::uniform(n))
}

/// A distinct constant for each combinator, so that nothing is unified.
fn nth(k: usize) -> f64 {
    1.0 + k as f64 / 1024.0
}

fn merges(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let sorted = |k: usize| {
        Array::from(
            (0..elements as u64)
                .map(|i| i * 7 + k as u64)
                .collect::<Vec<_>>(),
        )
    };
    let merged = (0..n).map(|k| sorted(k).merge(&sorted(k + 3), |a, b| a.le(b)));
    merged.map(|m| m.node().clone()).collect()
}

fn scans(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let scanned = (0..n).fold(numbers(elements), |xs, _| xs.scan(0.0, |a, b| a + b));
    vec![scanned.node().clone()]
}

fn scalars(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let last = (0..n).fold(numbers(elements).sum(), |s, k| s.map(|s| s * 0.5 + nth(k)));
    vec![last.node().clone()]
}

fn passes(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = numbers(elements);
    let next = |s: Array<f64, Ix0>, _| xs.map(|x| &s * 0.5 + x).sum();
    vec![(0..n).fold(xs.sum(), next).node().clone()]
}

fn terms(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = Array::from((0..elements as i64).collect::<Vec<_>>());
    let sum = xs.map(|x| (0..n as i64 / 2).fold(x, |y, k| (y ^ k) + x));
    vec![sum.node().clone()]
}

/// Both arms of a condition need the previous term, and one of them divides it.
fn conditions(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = Array::from((1..=elements as i64).collect::<Vec<_>>());
    let step = |x: Exp<i64>, y: Exp<i64>, k: i64| (x ^ y).gt(k).cond(y, y / x);
    let last = xs.map(|x| (0..n as i64).fold(x, |y, k| step(x, y, k)));
    vec![last.node().clone()]
}

fn mixed(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let next = |xs: Array<f64>, k: usize| match k % 4 {
        0 => xs.filter(|x| x.gt(nth(k) - 1e6)),
        1 => xs.scan(nth(k), |a, b| a + b),
        2 => xs.map(|x| x * 0.5 + nth(k)),
        _ => xs.zip_with(&xs.map(|x| x + nth(k)), |a, b| a + b),
    };
    vec![(0..n).fold(numbers(elements), next).sum().node().clone()]
}

fn results(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = numbers(elements);
    (0..n)
        .map(|k| xs.map(|x| x * 0.5 + nth(k)).node().clone())
        .collect()
}

fn chain(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let last = (0..n).fold(numbers(elements), |xs, k| xs.map(|x| x * 0.5 + nth(k)));
    vec![last.node().clone()]
}

fn sums(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = numbers(elements);
    (0..n)
        .map(|k| xs.map(|x| x * nth(k)).sum().node().clone())
        .collect()
}

fn appends(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = numbers(elements);
    let next = |all: Array<f64>, k: usize| all.append(&xs.filter(|x| x.gt(nth(k) - 1.5)));
    let all = (0..n).fold(xs.map(|x| x + nth(0)), next);
    vec![all.sum().node().clone()]
}

fn zips(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = numbers(elements);
    let zip = |k: usize| {
        let [a, b] = [0, 1].map(|side| xs.filter(|x| x.gt(nth(2 * k + side) - 1e6)));
        a.zip_with(&b, |a, b| a + b).sum()
    };
    (0..n).map(|k| zip(k).node().clone()).collect()
}

/// Builds a tree of `n` merges with filters as leaves.
fn tree(n: usize, elements: usize) -> Vec<Arc<Node>> {
    let xs = numbers(elements);
    merged((0..=n).map(|k| xs.filter(|x| x.gt(nth(k) - 1e6))).collect())
}

/// Merges runs of one element in pairs until one is left: a tree of `n` merges.
fn sort(n: usize, _: usize) -> Vec<Arc<Node>> {
    let keys = crate::uniform(n + 1);
    merged(keys.into_iter().map(|k| Array::from(vec![k])).collect())
}

fn merged(mut runs: Vec<Array<f64>>) -> Vec<Arc<Node>> {
    while runs.len() > 1 {
        let pairs = runs.chunks(2).map(|pair| match pair {
            [a, b] => a.merge(b, |a, b| a.le(b)),
            rest => rest[0].clone(),
        });
        runs = pairs.collect();
    }
    runs.iter().map(|r| r.node().clone()).collect()
}
