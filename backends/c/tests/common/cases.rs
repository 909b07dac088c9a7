//! Loops with arguments of any length.

use super::{Data, Numbers, loop_file};
use loop_lang::{Const, Loop};

/// Holds a length of two chunks and a half.
pub const LONG: usize = 40_961;

fn segments(numbers: &mut Numbers, total: usize) -> Vec<u64> {
    let mut lengths = Vec::new();
    let mut left = total as u64;
    while left > 0 {
        let widest = if numbers.below(10) == 0 { 20_000 } else { 6 };
        let n = numbers.below(widest).min(left);
        lengths.push(n);
        left -= n;
    }
    lengths.push(0);
    lengths
}

/// Lists each loop with arguments of `n` elements.
pub fn cases(n: usize) -> Vec<(Loop, Vec<Data>)> {
    let mut numbers = Numbers(n as u64 + 1);
    let f = |x: f64| Data::Scalar(Const::f64(x));
    let i = |x: i64| Data::Scalar(Const::int(loop_lang::Ty::I64, x));
    let u = |x: i64| Data::Scalar(Const::int(loop_lang::Ty::U32, x));
    let case = |name: &str, data: Vec<Data>| (loop_file(name), data);
    vec![
        case("map", vec![Data::F64(numbers.floats(n)), f(2.5)]),
        case("map_sum", vec![Data::F64(numbers.floats(n)), f(2.5)]),
        case(
            "dot",
            vec![
                Data::F64(numbers.floats(n)),
                Data::F64(numbers.floats(n)),
                f(-0.0),
            ],
        ),
        case(
            "filter_sum",
            vec![Data::F64(numbers.floats(n)), f(0.1), f(1.0)],
        ),
        case(
            "to_percentages",
            vec![Data::F64(numbers.floats(n)), f(0.01), f(100.0)],
        ),
        case(
            "filter_max",
            vec![Data::I64(numbers.ints(n)), i(1), i(0), i(i64::MIN), i(-5)],
        ),
        case(
            "segmented",
            vec![
                Data::U64(segments(&mut numbers, n)),
                Data::F64(numbers.floats(n)),
                f(0.5),
                f(1.5),
            ],
        ),
        case("running", vec![Data::F64(numbers.floats(n)), f(0.25)]),
        case("delay", vec![Data::I64(numbers.ints(n)), i(-7)]),
        case("scans_of_scans", vec![Data::I64(numbers.ints(n)), i(3)]),
        case("prefixes", vec![Data::F64(numbers.floats(n)), f(0.5), i(3)]),
        case(
            "narrow_prefixes",
            vec![Data::F64(numbers.floats(n)), Data::Scalar(Const::f32(0.75))],
        ),
        case(
            "escape",
            vec![Data::F64(numbers.floats(n)), u(20), u(0), u(1), f(4.0)],
        ),
        case(
            "turns",
            vec![Data::F64(numbers.floats(n)), u(7), u(0), u(1)],
        ),
        case(
            "flagged_turns",
            vec![Data::F64(numbers.floats(n)), u(5), f(0.5)],
        ),
        case(
            "shares",
            vec![
                Data::U64(
                    segments(&mut numbers, n)
                        .into_iter()
                        .filter(|l| *l > 0)
                        .collect(),
                ),
                Data::Scalar(Const::u64(n as u64)),
                Data::F64(numbers.floats(n)),
                f(0.5),
                f(1.0),
                f(0.0),
            ],
        ),
        case(
            "both_ways",
            vec![
                Data::F64(numbers.floats(n / 2)),
                Data::F64(numbers.floats(n - n / 2)),
                Data::Scalar(Const::u64(3)),
            ],
        ),
        case(
            "counts",
            vec![
                Data::U64((0..n).map(|_| numbers.below(50)).collect()),
                Data::Scalar(Const::u64(50)),
                i(-3),
            ],
        ),
        case(
            "long_chain",
            vec![Data::F64(numbers.floats(n)), f(0.5), f(1.0), f(-10.0)],
        ),
        case("many_folds", vec![Data::F64(numbers.floats(n)), f(0.25)]),
        case("argmin", vec![Data::F64(numbers.floats(n))]),
        case(
            "rows",
            vec![
                Data::U64(segments(&mut numbers, n)),
                Data::F64(numbers.floats(n)),
            ],
        ),
    ]
}
