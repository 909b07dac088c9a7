//! Named rewrites: which apply, their loops, and unchanged values and errors.

use livefusion::ast::Rewrite;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::runtime::Explanation;
use livefusion::{Error, ErrorKind, Force, Result};
use loop_lang::ir::RateKind;

const N: usize = 30;
const M: usize = 41;

fn numbers() -> Vec<i64> {
    (0..N * M).map(|k| (k * 37 % 101) as i64 - 50).collect()
}

fn matrix() -> Array<i64, Ix2> {
    Array::from_vec((N, M), numbers())
}

fn engines() -> [Engine; 4] {
    let threads = Engine::builder().threads(3).eager().build();
    [Engine::interp(), Engine::jit(), Engine::c(), threads]
}

/// A length that is known only at run time.
fn late(n: usize) -> Array<u64, Ix0> {
    iota(99).filter(move |x| x.lt(n as u64)).len()
}

fn rewrites(explained: &Explanation) -> Vec<(Rewrite, &'static str)> {
    let all = explained.rewrites.iter();
    all.map(|r| (r.rewrite, r.call)).collect()
}

fn nested_rates(explained: &Explanation) -> usize {
    let rates = explained.loops.iter().flat_map(|l| &l.program.rates);
    let nested = rates.filter(|r| matches!(r.kind, RateKind::Nested { .. }));
    nested.count()
}

/// The number of loops and of nested rates of a program. Asserts that RedFlat was its only rewrite,
/// for this call.
fn flattened(program: &impl Force, call: &'static str) -> Result<(usize, usize)> {
    let explained = program.explain_with(&Engine::interp())?;
    assert_eq!(
        rewrites(&explained),
        [(Rewrite::RedFlat, call)],
        "{explained}"
    );
    Ok((explained.loops.len(), nested_rates(&explained)))
}

#[test]
fn folds_of_folds_of_rows_are_one_loop_without_a_nest() -> Result<()> {
    let m = matrix();
    assert_eq!(flattened(&m.along(1).sum().sum(), "sum")?, (1, 0));
    assert_eq!(
        flattened(&m.along(1).product().product(), "product")?,
        (1, 0)
    );
    assert_eq!(flattened(&m.along(1).max().max(), "max")?, (1, 0));
    assert_eq!(
        flattened(&m.along(1).min().fold(9, |a, b| a.min(b)), "fold")?,
        (1, 0)
    );
    assert_eq!(
        flattened(&m.along(1).sum().fold1(|a, b| a + b), "fold1")?,
        (1, 0)
    );
    assert_eq!(
        flattened(&m.map_rows(|row| row.sum()).sum(), "sum")?,
        (1, 0)
    );
    assert_eq!(flattened(&m.along(1).sum().along(0).sum(), "sum")?, (1, 0));
    let odd = m.along(1).any(|x| (x & 1).eq(1));
    assert_eq!(flattened(&odd.fold(false, |a, b| a | b), "fold")?, (1, 0));
    for engine in engines() {
        let m = matrix();
        let both = m.map(|x| (x, x));
        let both = both.along(1).fold((0, -1), |(a, b), (c, d)| (a ^ c, b & d));
        let both = both.fold((3, -1), |(a, b), (c, d)| (a ^ c, b & d));
        assert_eq!(flattened(&both, "fold")?, (1, 0));
        let squares = m.map(|x| x * x).along(1).sum().sum();
        assert_eq!(flattened(&squares, "sum")?, (1, 0));
        let xs = numbers();
        assert_eq!(
            squares.force_with(&engine)?,
            xs.iter().map(|x| x * x).sum::<i64>()
        );
        let (all, odd) = xs.iter().fold((3, -1), |(a, b), x| (a ^ x, b & x));
        assert_eq!(
            matrix()
                .map_rows(|row| row.max())
                .max()
                .force_with(&engine)?,
            50
        );
        assert_eq!(both.force_with(&engine)?, (all, odd));
    }
    Ok(())
}

#[test]
fn three_axes_are_flattened_by_one_or_by_two() -> Result<()> {
    let xs: Vec<i64> = (0..4 * 5 * 6).collect();
    for engine in engines() {
        let cube = Array::from_vec((4, 5, 6), xs.clone());
        let planes = cube.along(2).sum().along(1).sum();
        assert_eq!(flattened(&planes, "sum")?, (1, 1));
        assert_eq!(flattened(&cube.along(2).sum().sum(), "sum")?, (1, 0));
        assert_eq!(flattened(&planes.sum(), "sum")?, (1, 0));
        let of_rows = cube.map_rows(|row| row.sum()).map_rows(|row| row.sum());
        assert_eq!(flattened(&of_rows.sum(), "sum")?, (1, 0));
        let expected: Vec<i64> = xs.chunks(30).map(|plane| plane.iter().sum()).collect();
        assert_eq!(planes.force_with(&engine)?, expected);
        assert_eq!(of_rows.force_with(&engine)?, expected);
        let total = cube.along(2).sum().along(1).sum().sum();
        assert_eq!(total.force_with(&engine)?, xs.iter().sum::<i64>());
    }
    Ok(())
}

#[test]
fn results_of_rows_that_are_wanted_stay_in_the_same_loop() -> Result<()> {
    for engine in engines() {
        let rows = matrix().map(|x| x + 1).along(1).sum();
        let both = (&rows, &rows.sum());
        assert_eq!(flattened(&both, "sum")?, (1, 1));
        let (rows, all) = both.force_with(&engine)?;
        assert_eq!(rows.iter().sum::<i64>(), all);
        let xs = numbers();
        assert_eq!(all, xs.iter().map(|x| x + 1).sum::<i64>());
    }
    // Next to the same fold of all elements, the program has one fold with the names of both calls.
    let m = matrix();
    let explained = (&m.sum(), &m.along(1).sum().sum()).explain_with(&Engine::interp())?;
    assert_eq!(rewrites(&explained), [(Rewrite::RedFlat, "sum")]);
    assert_eq!((explained.loops.len(), nested_rates(&explained)), (1, 0));
    Ok(())
}

#[test]
fn rewrite_keeps_folds_whose_bits_would_change() -> Result<()> {
    let m = matrix();
    let kept = |program: &dyn Fn() -> Array<i64, Ix0>| -> Result<()> {
        let explained = program().explain_with(&Engine::interp())?;
        assert_eq!(rewrites(&explained), [], "{explained}");
        assert!(nested_rates(&explained) > 0, "{explained}");
        Ok(())
    };
    // Cases that must not flatten: a start added per row, different operators, a non-associative
    // operator, a requested order.
    kept(&|| m.along(1).fold(1, |a, b| a + b).sum())?;
    kept(&|| m.along(1).max().sum())?;
    kept(&|| {
        m.along(1)
            .fold(0, |a, b| a + b + a * b)
            .fold(0, |a, b| a + b + a * b)
    })?;
    kept(&|| m.along(1).sum().fold_seq(0, |a, b| a + b))?;
    kept(&|| m.along(1).sum().map(|x| x + 1).sum())?;
    let floats = m.map(|x| x.cast::<f64>());
    let explained = floats
        .along(1)
        .sum()
        .sum()
        .explain_with(&Engine::interp())?;
    assert_eq!(rewrites(&explained), []);
    // Results in memory are read from there.
    let rows = m.along(1).sum();
    rows.force_with(&Engine::interp())?;
    let explained = rows.sum().explain_with(&Engine::interp())?;
    assert_eq!(rewrites(&explained), []);
    assert_eq!(explained.traffic.reads.known, 8 * N as u64);
    Ok(())
}

fn error<T>(result: Result<T>) -> Error {
    result.err().expect("an error")
}

#[test]
fn errors_of_rows_stay() -> Result<()> {
    for engine in engines() {
        let m = matrix();
        let wrong = error(m.along(2).sum().sum().force_with(&engine));
        assert_eq!(wrong.combinator, "sum");
        // Empty rows have no maximum, so a fold of their maxima is an error of theirs. Zero rows
        // are not.
        let none = Array::from_vec((3, 0), Vec::<i64>::new());
        assert_eq!(
            error(none.along(1).max().max().force_with(&engine)).combinator,
            "max"
        );
        assert_eq!(
            none.along(1)
                .sum()
                .fold1(|a, b| a + b)
                .force_with(&engine)?,
            0
        );
        let empty = Array::from_vec((0, 3), Vec::<i64>::new());
        let error_of_max = error(empty.along(1).max().max().force_with(&engine));
        assert_eq!(
            (error_of_max.combinator, error_of_max.kind),
            ("max", ErrorKind::Empty)
        );
        // A shape known only at run time is checked against the elements. The error has the name of
        // the fold of rows.
        let shaped = |rows| Array::from(numbers()).reshape((late(rows), M));
        let line = line!() + 1;
        let total = |rows| shaped(rows).along(1).sum().sum();
        assert_eq!(flattened(&total(N), "sum")?, (2, 0));
        assert_eq!(total(N).force_with(&engine)?, numbers().iter().sum::<i64>());
        let wrong = error(total(N + 1).force_with(&engine));
        assert_eq!(wrong.combinator, "sum");
        assert_eq!(wrong.location.map(|l| l.line()), Some(line));
    }
    Ok(())
}

#[test]
fn prepared_programs_are_flattened_too() -> Result<()> {
    for engine in engines() {
        let program = prepare_with(&engine, |m: Array<i64, Ix2>| m.along(1).sum().sum())?;
        let explained = program.explain(&matrix())?;
        assert_eq!(
            rewrites(&explained),
            [(Rewrite::RedFlat, "sum")],
            "{explained}"
        );
        assert_eq!((explained.loops.len(), nested_rates(&explained)), (1, 0));
        assert_eq!(program.call(&matrix())?, numbers().iter().sum::<i64>());
    }
    Ok(())
}

#[test]
fn folds_and_scans_of_rows_say_which_axis_is_inside() -> Result<()> {
    let m = matrix();
    let said = |program: &Array<i64>| -> Result<_> {
        Ok(rewrites(&program.explain_with(&Engine::interp())?))
    };
    assert_eq!(said(&m.along(0).sum())?, [(Rewrite::RowsOutside, "sum")]);
    assert_eq!(said(&m.along(0).max())?, [(Rewrite::RowsOutside, "max")]);
    let product = m.along(0).fold1(|a, b| a * b);
    assert_eq!(said(&product)?, [(Rewrite::Irwim, "fold1")]);
    assert_eq!(said(&m.along(1).sum())?, []);
    assert_eq!(said(&m.map_rows(|row| row.sum()))?, []);
    assert_eq!(
        said(&m.transpose().along(0).sum())?,
        [(Rewrite::Irwim, "sum")]
    );
    let scan = m.along(0).cumsum().explain_with(&Engine::interp())?;
    assert_eq!(rewrites(&scan), [(Rewrite::RowsCarried, "cumsum")]);
    assert_eq!(scan.loops.len(), 1);
    let scan = m.transpose().map(|x| x + 1).along(0).cumsum();
    let scan = scan.explain_with(&Engine::interp())?;
    assert_eq!(rewrites(&scan), [(Rewrite::Iswim, "cumsum")]);
    let scan = m.along(1).cumsum().explain_with(&Engine::interp())?;
    assert_eq!(rewrites(&scan), []);
    let product = m.transpose().matmul(&m).explain_with(&Engine::interp())?;
    assert_eq!(rewrites(&product), [(Rewrite::RowsOutside, "matmul")]);
    Ok(())
}
