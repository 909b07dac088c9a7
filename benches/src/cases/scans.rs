//! Prefix sums, inclusive and exclusive.

use super::{Agreement, Case, fused, prepared};
use crate::data::{Data, Input, Random, uniform};
use livefusion::prelude::*;
use livefusion_backend::Prim;

macro_rules! scans {
    ($($(#[$doc:meta])* $CASE:ident $name:literal $T:ident $method:ident $exclusive:literal $agreement:expr, $input:expr;)*) => {$(
        $(#[$doc])*
        pub const $CASE: Case = Case {
            name: $name,
            file: "scans.c",
            large: 10_000_000,
            agreement: $agreement,
            input: $input,
            reference: by_loop::<$T, $exclusive>,
            ours: |engine, input| {
                prepared(engine, input[0].array::<$T>(), |xs: Array<$T>| {
                    xs.$method(0 as $T, |a, b| a + b)
                })
            },
            rust: &[fused(by_loop::<$T, $exclusive>)],
        };
    )*};
}

scans! {
    /// Scans integers, exclusive.
    EXCLUSIVE_I64 "scanExclusiveI64" i64 scan_exclusive true Agreement::Exact, integers;
    /// Scans integers, inclusive.
    INCLUSIVE_I64 "scanInclusiveI64" i64 scan false Agreement::Exact, integers;
    /// Scans floats, exclusive.
    EXCLUSIVE_F64 "scanExclusiveF64" f64 scan_exclusive true Agreement::Within(1e-9), floats;
    /// Scans floats, inclusive.
    INCLUSIVE_F64 "scanInclusiveF64" f64 scan false Agreement::Within(1e-9), floats;
}

fn integers(n: usize) -> Input {
    let mut random = Random::new(1);
    let numbers = (0..n).map(|_| random.below(2001) as i64 - 1000);
    vec![Data::input(numbers.collect())]
}

fn floats(n: usize) -> Input {
    vec![uniform(1, n)]
}

fn by_loop<T: Prim + Default + std::ops::Add<Output = T>, const EXCLUSIVE: bool>(
    input: &Input,
) -> Vec<Data> {
    let sums = input[0].of::<T>().iter().scan(T::default(), |sum, x| {
        let before = *sum;
        *sum = before + *x;
        Some(if EXCLUSIVE { before } else { *sum })
    });
    vec![Data::result(sums.collect::<Vec<T>>())]
}
