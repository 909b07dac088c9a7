//! The golden loops over two-dimensional arrays, and their results in plain Rust.

use super::{Data, Numbers, Words, args, loop_file, run, run_by_turns};
use livefusion_backend::{Kernel, Outcome};
use loop_lang::ir::CHUNK;
use loop_lang::passes::optimize;
use loop_lang::types::Ty;
use loop_lang::{Const, Loop};

pub const NAMES: [&str; 5] = [
    "stencil",
    "row_sums",
    "column_sums",
    "transpose",
    "matrix_product",
];

/// Rows and columns: none, one, parts of vectors, many, and more steps than a chunk has.
const SIZES: [(usize, usize); 9] = [
    (0, 0),
    (0, 7),
    (7, 0),
    (1, 1),
    (3, 5),
    (17, 33),
    (64, 64),
    (3, 6000),
    (6000, 3),
];

/// Returns the loop as written and as optimised by passes.
pub fn forms(name: &str) -> [Loop; 2] {
    let written = loop_file(name);
    let mut optimised = written.clone();
    optimize(&mut optimised);
    let uniform = |l: &Loop| l.rates.iter().filter(|r| r.kind.is_uniform()).count();
    assert!(uniform(&written) > 0 && uniform(&optimised) == uniform(&written));
    [written, optimised]
}

/// Compares kernels of one loop with plain Rust.
///
/// The first kernel is the interpreter's. Each runs in one span and in many, and all run
/// alternately.
pub fn check(name: &str, kernels: &[&dyn Kernel]) {
    for (h, w) in SIZES {
        let (data, want) = case(name, h, w);
        let (args, want) = (args(&data), (Outcome::Done, vec![want]));
        for kernel in kernels {
            assert_eq!(run(*kernel, &args), want, "{name}, {h} by {w}");
        }
        // Every cut for small arrays, and few for large ones, which are slow.
        let cuts: &[&[u64]] = match h * w {
            0..1000 => &[&[1], &[2, 3, 5], &[1, 100, 0, 7]],
            _ => &[&[5000, 33, 700]],
        };
        for spans in cuts {
            let alone = kernels.iter().map(|k| vec![*k]);
            for kernels in alone.chain([kernels.to_vec()]) {
                let got = run_by_turns(&kernels, spans, &args);
                assert_eq!(got, want, "{name}, {h} by {w}, in spans {spans:?}");
            }
        }
    }
}

/// Makes arguments for `h` rows of `w` columns, and the result.
fn case(name: &str, h: usize, w: usize) -> (Vec<Data>, Words) {
    let mut numbers = Numbers((h * 10_000 + w) as u64);
    let u = |n: usize| Data::Scalar(Const::u64(n as u64));
    let xs = numbers.floats(h * w);
    let sizes = vec![u(h), u(w)];
    let (more, want) = match name {
        "stencil" => {
            let xs: Vec<f32> = xs.iter().map(|x| *x as f32).collect();
            let (keep, share) = (0.6f32, 0.1f32);
            let want = stencil(&xs, (h, w), (keep, share));
            let weights = [keep, share].map(|x| Data::Scalar(Const::f32(x)));
            ([&[Data::F32(xs)][..], &weights].concat(), f32s(&want))
        }
        "row_sums" => (vec![Data::F64(xs.clone())], f64s(&row_sums(&xs, (h, w)))),
        "column_sums" => (vec![Data::F64(xs.clone())], f64s(&column_sums(&xs, w))),
        "transpose" => (vec![Data::F64(xs.clone())], f64s(&transpose(&xs, (h, w)))),
        "matrix_product" => {
            let p = 5;
            let right = numbers.floats(w * p);
            let want = f64s(&product(&xs, &right, (h, w, p)));
            let data = vec![u(h), u(p), u(w), Data::F64(xs), Data::F64(right)];
            return (data, want);
        }
        other => unreachable!("{other}"),
    };
    ([sizes, more].concat(), want)
}

fn f32s(xs: &[f32]) -> Words {
    (Ty::F32, xs.iter().map(|x| u64::from(x.to_bits())).collect())
}

fn f64s(xs: &[f64]) -> Words {
    (Ty::F64, xs.iter().map(|x| x.to_bits()).collect())
}

fn stencil(xs: &[f32], (h, w): (usize, usize), (keep, share): (f32, f32)) -> Vec<f32> {
    let mut out = Vec::new();
    for i in 0..h {
        for j in 0..w {
            let at = |i: usize, j: usize| xs[i * w + j];
            let (north, south) = (at(i.saturating_sub(1), j), at((i + 1).min(h - 1), j));
            let (west, east) = (at(i, j.saturating_sub(1)), at(i, (j + 1).min(w - 1)));
            out.push(keep * at(i, j) + share * ((north + south) + (west + east)));
        }
    }
    out
}

/// Sums rows in 32 lanes, joined at ends of rows and of chunks.
fn row_sums(xs: &[f64], (h, w): (usize, usize)) -> Vec<f64> {
    let mut steps = 0;
    let row = |i: usize| {
        steps += 1;
        let (mut sum, mut lanes) = (0.0, [-0.0; 32]);
        for j in 0..w {
            if steps % CHUNK == 0 {
                sum += joined(&lanes);
                lanes = [-0.0; 32];
            }
            lanes[j % 32] += xs[i * w + j];
            steps += 1;
        }
        sum + joined(&lanes)
    };
    (0..h).map(row).collect()
}

/// Joins lanes by halves.
fn joined(lanes: &[f64]) -> f64 {
    match lanes {
        [x] => *x,
        _ => {
            let (low, high) = lanes.split_at(lanes.len() / 2);
            let halves: Vec<f64> = low.iter().zip(high).map(|(a, b)| a + b).collect();
            joined(&halves)
        }
    }
}

fn column_sums(xs: &[f64], w: usize) -> Vec<f64> {
    let mut sums = vec![0.0; w];
    for (k, x) in xs.iter().enumerate() {
        sums[k % w] += x;
    }
    sums
}

fn transpose(xs: &[f64], (h, w): (usize, usize)) -> Vec<f64> {
    (0..w)
        .flat_map(|j| (0..h).map(move |i| xs[i * w + j]))
        .collect()
}

/// Multiplies matrices, with each sum from left to right.
fn product(left: &[f64], right: &[f64], (m, n, p): (usize, usize, usize)) -> Vec<f64> {
    let cell = |i: usize, j: usize| {
        let terms = (0..n).map(|k| left[i * n + k] * right[k * p + j]);
        terms.fold(0.0, |sum, x| sum + x)
    };
    (0..m)
        .flat_map(|i| (0..p).map(move |j| cell(i, j)))
        .collect()
}
