//! Delayed lengths: algebraically equal ones are one length.
//!
//! Arrays of equal lengths share a loop, checks that cannot fail are omitted, and unequal lengths
//! give the usual error.

use livefusion::ast::{Assert, BodyBuilder, Builder, Len, Node, TermId};
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::runtime::{Explanation, force_nodes};
use livefusion::{Error, ErrorKind, Force, Result};
use loop_lang::types::{Const, Ty};
use proptest::prelude::*;
use std::sync::Arc;

type Scalar = Array<u64, Ix0>;

fn engines() -> [Engine; 3] {
    [Engine::interp(), Engine::jit(), Engine::c()]
}

/// A length that is known only after a loop.
fn late(n: u64) -> Scalar {
    iota(99).filter(move |x| x.lt(n)).len()
}

fn row(n: &Scalar) -> Array<u64> {
    generate(n, |i| i * i + 1)
}

fn matrix(n: &Scalar, m: &Scalar) -> Array<u64, Ix2> {
    generate((n, m), |(i, j)| i * 10 + j)
}

fn cube(n: &Scalar, m: &Scalar, k: &Scalar) -> Array<u64, Ix3> {
    generate((n, m, k), |(i, j, k)| i * 100 + j * 10 + k)
}

fn times(n: &Scalar, m: &Scalar) -> Scalar {
    (n, m).zip_with(|n, m| n * m)
}

/// Counts of a program's element loops. They are the loops, written arrays, and checks, and whether
/// any loop needs cursors.
#[derive(PartialEq, Eq, Debug)]
struct Found {
    loops: usize,
    written: usize,
    checks: usize,
    cursors: bool,
}

fn found(explained: &Explanation) -> Found {
    let loops = explained.loops.iter().map(|l| (l, l.program.to_string()));
    let (over, _): (Vec<_>, Vec<_>) = loops.partition(|(l, _)| !l.program.rates.is_empty());
    Found {
        loops: over.len(),
        written: over.iter().map(|(l, _)| l.arrays_written).sum(),
        checks: over
            .iter()
            .map(|(_, text)| text.matches("trap unless").count())
            .sum(),
        cursors: over.iter().any(|(_, text)| text.contains(" cursor ")),
    }
}

/// One loop with `checks` checks.
fn one_loop(checks: usize) -> Found {
    Found {
        loops: 1,
        written: 0,
        checks,
        cursors: false,
    }
}

/// A program of three lengths.
fn of_lengths(f: impl FnOnce([&Scalar; 3]) -> Scalar) -> Result<(Found, u64)> {
    let engine = Engine::interp();
    let program = prepare_with(&engine, |(n, m, k): (Scalar, Scalar, Scalar)| {
        f([&n, &m, &k])
    })?;
    let lengths = [2u64, 3, 4].map(Array::scalar);
    let [n, m, k] = lengths;
    let inputs = (n, m, k);
    Ok((found(&program.explain(&inputs)?), program.call(&inputs)?))
}

#[test]
fn lengths_by_equal_expressions_are_one() -> Result<()> {
    type Case = fn([&Scalar; 3]) -> [Scalar; 2];
    let cases: [Case; 8] = [
        |[n, ..]| [n.map(|n| n + 1), n.map(|n| n + 1)],
        |[n, ..]| [n.clone(), n.map(|n| n + 7).map(|n| n - 7)],
        |[n, m, _]| [times(n, m), times(m, n)],
        |[n, m, k]| [times(&times(n, m), k), times(n, &times(k, m))],
        |[n, m, _]| {
            [
                times(&n.map(|n| n + 1), m),
                (m, &times(m, n)).zip_with(|m, nm| nm + m),
            ]
        },
        |[n, m, _]| {
            [
                (n, m).zip_with(|n, m| n.max(m)),
                (m, n).zip_with(|m, n| m.max(n)),
            ]
        },
        |[n, ..]| [n.clone(), (n, &n.map(|n| n + 0)).zip_with(|a, b| a.min(b))],
        |[n, ..]| {
            [
                n.map(|n| (n + 2) / 2),
                n.map(|n| n + 3).map(|n| (n - 1) / 2),
            ]
        },
    ];
    for (k, case) in cases.into_iter().enumerate() {
        let (found, _) = of_lengths(|lengths| {
            let [a, b] = case(lengths);
            (&row(&a).map(|x| x + 1) + &row(&b)).sum()
        })?;
        assert_eq!(found, one_loop(0), "case {k}");
    }
    Ok(())
}

#[test]
fn the_length_of_what_keeps_it_is_that_of_its_input() -> Result<()> {
    let xs = iota(50).filter(|x| (x % 3).eq(0));
    let len = |ys: Array<u64>| row(&ys.len());
    let sum = &len(xs.map(|x| x * 2)) + &len(xs.scan(0, |a, b| a + b));
    let sum = (&sum + &xs)
        .zip_with(&xs.map(|x| x + 1), |x, y| x + y)
        .sum();
    assert_eq!(found(&sum.explain_with(&Engine::interp())?), one_loop(0));
    let expected: u64 = (0..17).map(|i| 2 * (i * i + 1) + 6 * i + 1).sum();
    assert_eq!(sum.force()?, expected);
    let (found, sum) = of_lengths(|[n, m, _]| {
        let m = matrix(n, m).flatten();
        (&m.map(|x| x + 1) + &row(&m.map(|x| x + 2).len())).sum()
    })?;
    // One check per row: the total number of elements must fit a `u64`.
    assert_eq!((found, sum), (one_loop(1), 36 + 6 + 55 + 6));
    Ok(())
}

#[test]
fn shapes_that_are_known_at_run_time_only() -> Result<()> {
    type Case = fn([&Scalar; 3]) -> Scalar;
    let cases: [Case; 8] = [
        |[n, m, _]| (&matrix(n, m).map(|x| x + 1) + &matrix(n, m)).sum(),
        |[n, m, _]| {
            let (n, m) = (n.map(|n| n + 1), m.map(|m| m * 2));
            let (more, twice) = (n.map(|n| n + 4), m.map(|m| m + 5));
            let (n2, m2) = (more.map(|n| n - 4), twice.map(|m| m - 5));
            (&matrix(&n, &m) + &matrix(&n2, &m2)).sum()
        },
        |[n, m, _]| (&row(&times(n, m)).reshape((n, m)) + &matrix(n, m)).sum(),
        |[n, m, _]| {
            let rows = row(&times(m, n))
                .map(|x| x + 1)
                .reshape((n, m))
                .map(|x| x * 2);
            (&rows + &matrix(n, m)).sum()
        },
        |[n, m, _]| (&matrix(n, m).transpose().transpose() + &matrix(n, m)).sum(),
        |[n, m, _]| (&matrix(n, m).flatten() + &row(&times(m, n))).sum(),
        |[n, m, k]| (&cube(n, m, k).map(|x| x + 1) + &cube(n, m, k)).sum(),
        |[n, m, k]| {
            let flat = row(&times(k, &times(n, m))).reshape((n, m, k));
            (&flat + &cube(n, &m.map(|m| m + 1).map(|m| m - 1), k)).sum()
        },
    ];
    for (k, case) in cases.into_iter().enumerate() {
        let (found, _) = of_lengths(case)?;
        assert_eq!(
            (found.loops, found.written, found.cursors),
            (1, 0, false),
            "case {k}"
        );
        // One level of rows each.
        let levels = if k < 6 { 1 } else { 2 };
        assert_eq!(found.checks, levels, "case {k}");
    }
    Ok(())
}

/// Input matrices and cubes, each with its own shape.
#[test]
fn inputs_of_equal_shapes_are_rows_of_one_loop() -> Result<()> {
    for engine in engines() {
        let line = line!() + 2;
        let program = prepare_with(&engine, |(a, b): (Array<i64, Ix2>, Array<i64, Ix2>)| {
            (&a.transpose().map(|x| x * 2) + &b.transpose()).sum()
        })?;
        let a = Array::from([[1i64, 2, 3], [4, 5, 6]]);
        let b = a.map(|x| x * 10);
        let explained = program.explain(&(a.clone(), b.clone()))?;
        let all = found(&explained);
        assert_eq!(
            (all.loops, all.written, all.cursors),
            (1, 0, false),
            "{explained}"
        );
        assert_eq!(program.call(&(a.clone(), b))?, 21 * 12);
        let e = program.call(&(a.clone(), a.transpose()));
        assert_mismatch(e.map(|_| ()), 2, 3, line);
        let line = line!() + 2;
        let program = prepare_with(&engine, |(a, b): (Array<i64, Ix3>, Array<i64, Ix3>)| {
            (&a.permute_axes([2, 0, 1]) + &b.permute_axes([2, 0, 1])).sum()
        })?;
        let a = Array::from_vec((2, 3, 2), (0..12).collect());
        let all = found(&program.explain(&(a.clone(), a.clone()))?);
        assert_eq!((all.loops, all.written, all.cursors), (1, 0, false));
        assert_eq!(program.call(&(a.clone(), a.clone()))?, 132);
        let b = Array::from_vec((2, 2, 3), (0..12).collect());
        assert_mismatch(program.call(&(a, b)).map(|_| ()), 3, 2, line);
    }
    Ok(())
}

fn assert_mismatch(result: Result<()>, got: u64, expected: u64, line: u32) {
    let e: Error = result.expect_err("lengths differ");
    let kind = ErrorKind::LengthMismatch { expected, got };
    assert_eq!((e.kind, e.location.map(|l| l.line())), (kind, Some(line)));
}

#[test]
fn lengths_that_differ_are_a_mistake() {
    for engine in engines() {
        let (n, m) = (late(3), late(4));
        let (a, b) = (row(&n.map(|n| n + 1)), row(&m.map(|m| m + 1)));
        let both = &a + &b;
        assert_mismatch(both.force_with(&engine).map(|_| ()), 5, 4, line!() - 1);
        let (a, b) = (matrix(&n, &m), matrix(&n, &n));
        let both = &a + &b;
        assert_mismatch(both.force_with(&engine).map(|_| ()), 3, 4, line!() - 1);
        let alone = (&b.sum(), &both.sum(), &a.sum());
        assert_mismatch(alone.force_with(&engine).map(|_| ()), 3, 4, line!() - 3);
        let (a, b) = (cube(&n, &m, &n), cube(&n, &n, &n));
        let both = &a + &b;
        assert_mismatch(both.force_with(&engine).map(|_| ()), 3, 4, line!() - 1);
        // Equal element counts, but different shapes.
        let both = &matrix(&n, &m).flatten() + &matrix(&m, &n).flatten();
        assert!(both.sum().force_with(&engine).is_ok());
    }
}

/// Cached graphs compare the constants on which equality of lengths depends.
#[test]
fn other_constants_may_be_other_lengths() -> Result<()> {
    let engine = Engine::interp();
    let force = |a: u64, b: u64| {
        let n = late(3);
        let m = n.map(|n| n + a).map(|n| n - b);
        (&row(&n) + &row(&m)).sum().force_with(&engine)
    };
    for _ in 0..2 {
        assert_eq!(force(5, 5)?, 16);
        assert!(force(5, 4).is_err());
        assert_eq!(force(7, 7)?, 16);
        assert!(force(7, 8).is_err());
    }
    Ok(())
}

/// The same applies to a requested length, which is in memory next to its equal.
#[test]
fn constants_of_a_root_may_be_another_length() -> Result<()> {
    for engine in engines() {
        let force = |a: u64, b: u64| {
            let n = late(3);
            let m = n.map(move |n| n + a - b);
            let sum = (&row(&n) + &row(&m)).sum();
            (&m, &sum).force_with(&engine)
        };
        assert_eq!(force(5, 5)?, (3, 16));
        for (a, b) in [(5, 4), (4, 5)] {
            let e = force(a, b).unwrap_err();
            assert!(matches!(e.kind, ErrorKind::LengthMismatch { .. }), "{e}");
        }
        assert_eq!(force(7, 7)?, (3, 16));
    }
    Ok(())
}

/// Constants of other scalars may differ: the cached graph still matches.
#[test]
fn constants_that_are_no_lengths_are_recognised() -> Result<()> {
    let engine = Engine::interp();
    let force = |a: u64, b: u64| {
        let n = late(3);
        let (x, y) = (n.map(move |n| n * 2 + a), n.map(move |n| n + b));
        let z = (&x, &y).zip_with(|x, y| x * y);
        (&x, &y, &z).force_with(&engine)
    };
    assert_eq!(force(1, 2)?, (7, 5, 35));
    let before = engine.counters();
    assert_eq!(force(3, 4)?, (9, 7, 63));
    assert_eq!(force(4, 3)?, (10, 6, 60));
    let after = engine.counters();
    assert_eq!(after.recognised, before.recognised + 2);
    assert_eq!(after.misses, before.misses);
    Ok(())
}

/// The error of an assertion reports its constants. Rows of constant length are checked against
/// their zip partners.
#[test]
fn asserted_length_error_names_its_constants() -> Result<()> {
    let call = || Builder::named("test");
    let late = |n: u64| late(n).node().clone();
    let rows = |n: &Arc<Node>, each: &dyn Fn(&mut BodyBuilder) -> TermId| {
        let mut of_row = BodyBuilder::new(&[Ty::U64]);
        let each = each(&mut of_row);
        let lengths = call().generate(Len::Delayed(n.clone()), of_row.finish(&[each]));
        let mut of_index = BodyBuilder::new(&[Ty::U64]);
        let index = of_index.param(0);
        call().expand(&lengths, &[], of_index.finish(&[index]))
    };
    for engine in engines() {
        let force = |k: u64, m: u64| {
            let (n, m) = (late(2), late(m));
            let threes = rows(&n, &|b| b.lit(Const::u64(3)));
            let others = rows(&n, &|b| b.scalar(&m, 0));
            let mut asserted = BodyBuilder::new(&[]);
            let (m, k) = (asserted.scalar(&m, 0), asserted.lit(Const::u64(k)));
            let same = asserted.ensure(Assert::Equal, &[m, k]);
            let asserted = call().compute(asserted.finish(&[same]));
            let zipped = call().zip(&[threes, others]);
            force_nodes(&engine, &[zipped, asserted]).map(|_| ())
        };
        for (k, m) in [(3, 3), (4, 4), (3, 4), (4, 3), (3, 3), (2, 2)] {
            let result = force(k, m);
            assert_eq!(result.is_ok(), (k, m) == (3, 3), "{k} and {m}: {result:?}");
            if let Err(e) = result {
                assert!(
                    matches!(
                        e.kind,
                        ErrorKind::LengthMismatch { .. } | ErrorKind::Segments { .. }
                    ),
                    "{e}"
                );
            }
        }
    }
    Ok(())
}

/// A step of a random computation: an operation, and the indices of earlier values.
type Step = (u8, usize, usize);

fn step(values: &[(Scalar, Option<u64>)], (what, i, j): Step) -> (Scalar, Option<u64>) {
    let ((a, x), (b, y)) = (&values[i % values.len()], &values[j % values.len()]);
    let constant = [0, 1, 2, 3, u64::MAX][j % 5];
    let both = |f: fn(u64, u64) -> Option<u64>| x.zip(*y).and_then(|(x, y)| f(x, y));
    match what % 10 {
        0 => (
            (a, b).zip_with(|a, b| a + b),
            both(|x, y| Some(x.wrapping_add(y))),
        ),
        1 => (
            (a, b).zip_with(|a, b| a - b),
            both(|x, y| Some(x.wrapping_sub(y))),
        ),
        2 => (
            (a, b).zip_with(|a, b| a * b),
            both(|x, y| Some(x.wrapping_mul(y))),
        ),
        3 => (
            (a, b).zip_with(|a, b| a.min(b)),
            both(|x, y| Some(x.min(y))),
        ),
        4 => (
            (a, b).zip_with(|a, b| a.max(b)),
            both(|x, y| Some(x.max(y))),
        ),
        5 => ((a, b).zip_with(|a, b| a / b), both(|x, y| x.checked_div(y))),
        6 => (a.map(|a| a + constant), x.map(|x| x.wrapping_add(constant))),
        7 => (a.map(|a| a * constant), x.map(|x| x.wrapping_mul(constant))),
        8 => {
            let chosen = (a, b).zip_with(|a, b| a.le(b).cond(b, a));
            (chosen, both(|x, y| Some(x.max(y))))
        }
        _ => {
            let chosen = (a, b).zip_with(|a, b| a.ge(a).cond(a, b));
            (chosen, both(|x, _| Some(x)))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Lengths equal those of plain Rust, and arrays of equal lengths zip. A division by zero stays
    /// one.
    #[test]
    fn algebra_changes_no_length_and_no_error(
        start in prop::array::uniform3(0u64..5),
        steps in prop::collection::vec(any::<Step>(), 1..12),
        shapes in prop::array::uniform4(any::<usize>()),
        turned in any::<bool>(),
    ) {
        let engine = Engine::interp();
        let mut values: Vec<_> = start.iter().map(|n| (late(*n), Some(*n))).collect();
        for s in steps {
            let next = step(&values, s);
            values.push(next);
        }
        let capped: Vec<_> = values.iter().map(|(a, x)| (a.map(|a| a.min(5)), x.map(|x| x.min(5)))).collect();
        for (value, expected) in &values {
            // The result is a node of its own, so that only its operands can be unified with
            // others.
            let got = value.map(|x| x ^ 1).force_with(&engine);
            match expected {
                Some(x) => prop_assert_eq!(got.unwrap(), x ^ 1),
                None => prop_assert!(is_division(&got)),
            }
        }
        let [(n, x), (m, y), (k, z), (l, w)] = shapes.map(|i| capped[i % capped.len()].clone());
        let lengths = (&row(&n) + &row(&k)).sum().force_with(&engine);
        check(x, z, lengths, |x| (0..x).map(|i| 2 * (i * i + 1)).sum())?;
        let (a, b) = (matrix(&n, &m), matrix(&k, &l));
        let (a, b) = if turned { (a.transpose(), b.transpose()) } else { (a, b) };
        let sum = (&a + &b.map(|x| x + 1)).sum().force_with(&engine);
        let sizes = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a * 100 + b);
        check(sizes(x, y), sizes(z, w), sum, |s| {
            let (n, m) = (s / 100, s % 100);
            (0..n).flat_map(|i| (0..m).map(move |j| 2 * (i * 10 + j) + 1)).sum()
        })?;
    }
}

fn is_division(got: &Result<u64>) -> bool {
    let kind = got.as_ref().err().map(|e| &e.kind);
    matches!(kind, Some(ErrorKind::Division { .. }))
}

/// Checks the sum of arrays of these sizes, some of which may be divisions by zero.
fn check(
    a: Option<u64>,
    b: Option<u64>,
    got: Result<u64>,
    expected: impl Fn(u64) -> u64,
) -> std::result::Result<(), TestCaseError> {
    match (a, b, got) {
        (Some(a), Some(b), Ok(sum)) => prop_assert_eq!((a, sum), (b, expected(a))),
        (Some(a), Some(b), Err(e)) => {
            let differ = matches!(e.kind, ErrorKind::LengthMismatch { .. });
            prop_assert!(a != b && differ, "{:?}", e);
        }
        // Of several errors, any may be reported.
        (_, _, Err(e)) => {
            let differ = matches!(e.kind, ErrorKind::LengthMismatch { .. });
            prop_assert!(differ || is_division(&Err(e)));
        }
        (_, _, Ok(sum)) => prop_assert!(false, "{}", sum),
    }
    Ok(())
}

/// Negative delayed positions, counts and lengths are errors of the scalar.
#[test]
fn length_of_any_integer_type_may_be_delayed_and_a_negative_one_is_an_error() -> Result<()> {
    fn check<I: Int>(to: fn(livefusion::Exp<i64>) -> livefusion::Exp<I>) -> Result<()> {
        let number = |n: i64| Array::from(vec![n, 1]).map(to).max();
        let xs = Array::from(vec![5i64, 6, 7, 8]);
        for engine in engines() {
            let n = number(3);
            assert_eq!(replicate(&n, 9).force_with(&engine)?, [9, 9, 9]);
            assert_eq!(iota(number(3)).force_with(&engine)?, [0, 1, 2]);
            assert_eq!(replicate((2, &n), 1).force_with(&engine)?, [[1; 3]; 2]);
            assert_eq!(xs.take(&n).force_with(&engine)?, [5, 6, 7]);
            assert_eq!(xs.drop(&n).force_with(&engine)?, [8]);
            assert_eq!(xs.at(&n).force_with(&engine)?, 8);
            let turned = iterate_n(&n, &xs, |xs| xs.map(|x| x + 1));
            assert_eq!(turned.force_with(&engine)?, [8, 9, 10, 11]);
            if !I::TY.is_signed() {
                continue;
            }
            let (n, line) = (Array::from(vec![-3i64, -9]).map(to).max(), line!());
            let errors = [
                replicate(&n, 9).force_with(&engine).map(drop),
                replicate(&n, 9).sum().force_with(&engine).map(drop),
                replicate((2, &n), 1).force_with(&engine).map(drop),
                xs.take(&n).force_with(&engine).map(drop),
                xs.filter(|x| x.gt(5))
                    .take(&n)
                    .force_with(&engine)
                    .map(drop),
                iterate_n(&n, &xs, |xs| xs.map(|x| x + 1))
                    .force_with(&engine)
                    .map(drop),
            ];
            for error in errors {
                let error = error.expect_err("it is negative");
                let expected = ErrorKind::Malformed {
                    expected: "a number of 0 or more".into(),
                    got: "-3".into(),
                };
                assert_eq!((error.combinator, error.kind), ("max", expected));
                assert_eq!(error.location.map(|at| at.line()), Some(line));
            }
            // The inputs stay usable.
            assert_eq!(xs.sum().force_with(&engine)?, 26);
        }
        Ok(())
    }
    check(|x| x)?;
    check(|x| x.cast::<i8>())?;
    check(|x| x.cast::<i32>())?;
    check(|x| x.cast::<isize>())?;
    check(|x| x.cast::<u8>())?;
    check(|x| x.cast::<usize>())
}

/// A delayed length of a signed type costs no loop.
#[test]
fn length_of_a_signed_type_fuses_as_one_of_an_unsigned_type() -> Result<()> {
    let xs = Array::from(vec![3i64, 1]);
    let signed = replicate(&xs.sum(), 2i64).sum();
    let unsigned = replicate(&xs.map(|x| x.cast::<u64>()).sum(), 2i64).sum();
    let loops = |a: &Array<i64, Ix0>| Ok::<usize, Error>(a.explain()?.loops.len());
    assert_eq!(loops(&signed)?, loops(&unsigned)?);
    assert_eq!(signed.force()?, 8);
    Ok(())
}
