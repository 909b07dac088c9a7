//! Compared cases.
//!
//! A case is a program, its data, the same job in Rust and, in a file of `benches/c`, in C.
//! [`CASES`] lists all of them.

mod append;
mod black_scholes;
mod csr;
mod dot_product;
mod exits;
mod filter_max;
mod filter_sum;
mod histogram;
mod mandelbrot;
mod map_map;
mod max_segment_sum;
mod mean_variance;
mod mixtures;
mod nested_filter;
mod newton;
mod pairs;
mod quickhull;
mod random;
mod ranks;
mod saxpy;
mod scan_affine;
mod scans;
mod segments;
mod sorts;
mod stencil;
mod streams;
mod updates;
mod wide;
mod zip_filters;

use crate::data::{Columns, Data, Input};
use livefusion::prelude::*;
use livefusion::prepare::{Inputs, prepare_with};
use std::rc::Rc;

pub use crate::agreement::Agreement;

/// Lists all cases, in the order of the tables.
pub const CASES: &[Case] = &[
    dot_product::CASE,
    map_map::CASE,
    filter_sum::CASE,
    filter_max::CASE,
    nested_filter::CASE,
    quickhull::STEP,
    quickhull::WHOLE,
    black_scholes::F32,
    black_scholes::F64,
    saxpy::CASE,
    mean_variance::CASE,
    scans::EXCLUSIVE_I64,
    scans::INCLUSIVE_I64,
    scans::EXCLUSIVE_F64,
    scans::INCLUSIVE_F64,
    scan_affine::CASE,
    segments::SHORT,
    segments::LONG,
    segments::UNEVEN,
    csr::CASE,
    max_segment_sum::CASE,
    mandelbrot::CASE,
    zip_filters::CASE,
    append::CASE,
    histogram::SMALL,
    histogram::LARGE,
    stencil::CASE,
    segments::SOFTMAX,
    wide::CHAIN,
    wide::RESULTS,
    mixtures::WHILE_SUM,
    mixtures::SEGMENT_FILTER,
    mixtures::MAX_TRAP,
    mixtures::FILTER_CAST_SCAN,
    mixtures::HISTOGRAM_SUM,
    mixtures::SEGMENT_GATHER,
    mixtures::MANY,
    exits::POSITION,
    exits::TAKE_WHILE_SUM,
    exits::FILTER_TAKE_WHILE,
    exits::SEGMENT_TAKE_WHILE,
    exits::NESTED_TAKE_WHILE,
    mandelbrot::GENERATED,
    newton::CASE,
    segments::TWICE,
    segments::THRICE,
    streams::MERGE,
    streams::APPEND_FILTERS,
    streams::SUFFIX_SUMS,
    ranks::ROW_SUMS,
    ranks::COLUMN_SUMS,
    ranks::TRANSPOSE,
    ranks::TRANSPOSE_ZIP,
    ranks::GRID5,
    ranks::MATMUL,
    ranks::ROW_SUMS_SHORT,
    ranks::COLUMN_SUMS_SHORT,
    ranks::RUNNING,
    ranks::RUNNING_SHORT,
    ranks::BOTH_SUMS,
    ranks::BOTH_SUMS_SHORT,
    ranks::MOMENTS,
    ranks::MOMENTS_SHORT,
    ranks::SOFTMAX,
    ranks::SOFTMAX_SHORT,
    ranks::NORMALISE,
    ranks::NORMALISE_SHORT,
    ranks::GRID5_CONSTANT,
    ranks::GRID5_WRAP,
    ranks::GRID5_MIRROR,
    ranks::GRID9,
    ranks::GRID25,
    ranks::BLUR,
    ranks::STENCIL_TWICE,
    ranks::EDGES,
    ranks::ALL_PAIRS,
    ranks::LIFE,
    ranks::HEAT,
    ranks::FLOYD_WARSHALL,
    ranks::LU,
    updates::SIEVE,
    updates::FEW,
    random::PI,
    random::NORMAL,
    sorts::U64,
    sorts::F64,
    sorts::PLACES_U64,
    sorts::PLACES_F64,
    sorts::BY_U64,
    sorts::BY_F64,
    sorts::TOP,
    sorts::MEDIAN,
    sorts::SEGMENTS,
    sorts::GROUPS_FEW,
    sorts::GROUPS_MANY,
    pairs::CASE,
];

/// Describes a job and its implementations.
pub struct Case {
    /// The name of the case and of its table of C kernels.
    pub name: &'static str,
    /// The file of these kernels.
    pub file: &'static str,
    /// The number of elements of the large size. The small one is 10^4.
    pub large: usize,
    /// The allowed distance from the reference.
    pub agreement: Agreement,
    /// Inputs for `n` elements.
    pub input: fn(usize) -> Input,
    /// The expected results, by the plainest code.
    pub reference: fn(&Input) -> Vec<Data>,
    /// The program, prepared on an engine.
    pub ours: fn(&Engine, &Input) -> livefusion::Result<Ours>,
    /// The alternatives in Rust.
    pub rust: &'static [Rust],
}

/// Describes an implementation in Rust.
pub struct Rust {
    /// The style.
    pub name: &'static str,
    /// Whether it uses several threads, of rayon.
    pub parallel: bool,
    /// Does the job and allocates fresh results.
    pub run: fn(&Input) -> Vec<Data>,
}

/// Describes unfused Rust.
///
/// It makes a pass per operation.
pub const fn unfused(run: fn(&Input) -> Vec<Data>) -> Rust {
    Rust {
        name: "Rust, unfused",
        parallel: false,
        run,
    }
}

/// Describes hand-fused Rust.
pub const fn fused(run: fn(&Input) -> Vec<Data>) -> Rust {
    Rust {
        name: "Rust, fused",
        parallel: false,
        run,
    }
}

/// Describes Rust on all threads.
pub const fn rayon(run: fn(&Input) -> Vec<Data>) -> Rust {
    Rust {
        name: "Rust, rayon",
        parallel: true,
        run,
    }
}

/// Holds a prepared program and its inputs.
pub struct Ours {
    /// Calls it and drops the results.
    pub run: Box<dyn Fn() -> livefusion::Result<()>>,
    /// Calls it and returns the results.
    pub results: Box<dyn Fn() -> livefusion::Result<Vec<Data>>>,
}

/// Prepares a program, as users do for frequent calls.
pub fn prepared<I: Inputs + 'static, O: Force + 'static>(
    engine: &Engine,
    inputs: I,
    program: impl FnOnce(I) -> O,
) -> livefusion::Result<Ours>
where
    O::Out: Columns,
{
    let shared = Rc::new((prepare_with(engine, program)?, inputs));
    let again = shared.clone();
    Ok(Ours {
        run: Box::new(move || shared.0.call(&shared.1).map(drop)),
        results: Box::new(move || {
            let mut columns = Vec::new();
            again.0.call(&again.1)?.columns(&mut columns);
            Ok(columns)
        }),
    })
}

/// Wraps a program that is traced anew in each call.
///
/// A loop over arrays cannot start from inputs of a prepared program.
pub fn traced<O: Force + 'static>(
    engine: &Engine,
    program: impl Fn() -> O + 'static,
) -> livefusion::Result<Ours>
where
    O::Out: Columns,
{
    let (engine, program) = (engine.clone(), Rc::new(program));
    let (again, the_same) = (engine.clone(), program.clone());
    Ok(Ours {
        run: Box::new(move || program().force_with(&engine).map(drop)),
        results: Box::new(move || {
            let mut columns = Vec::new();
            the_same().force_with(&again)?.columns(&mut columns);
            Ok(columns)
        }),
    })
}
