//! Failures return an `Err` with the combinator and the caller's line.
//!
//! Both backends give the same error, and the inputs stay usable.

use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use std::sync::Arc;

fn engines() -> [Engine; 2] {
    [Engine::interp(), Engine::c()]
}

/// Forces on both backends, and checks the error. It must name the array's own combinator, at its
/// call in this file.
fn fails(array: &impl Force, combinator: &str, kind: ErrorKind) {
    for engine in engines() {
        let backend = engine.backend_name();
        match array.force_with(&engine) {
            Ok(_) => panic!("{backend}: expected {kind}"),
            Err(e) => assert_eq!(e.kind, kind, "{backend}"),
        }
        names(array, &engine, combinator);
    }
}

/// Forces, and checks the combinator in the error.
fn names(array: &impl Force, engine: &Engine, combinator: &str) {
    let mut nodes = Vec::new();
    array.nodes(&mut nodes);
    let error = array.force_with(engine).err().expect("it fails");
    assert_eq!(error.combinator, combinator, "{error}");
    assert_eq!(error.location, Some(nodes[0].loc), "{error}");
    assert_eq!(nodes[0].loc.file(), file!());
}

#[test]
fn the_line_is_the_callers() {
    let xs = Array::from(vec![1i64]);
    let array = xs.map(|x| 1 / (x - x));
    let line = line!() - 1;
    for engine in engines() {
        let error = array.force_with(&engine).expect_err("a division by zero");
        assert_eq!(
            error.location.map(|l| (l.file(), l.line())),
            Some((file!(), line))
        );
    }
}

#[test]
fn indices_out_of_range() {
    let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
    let (one, far, below) = (
        Array::from(vec![9.0f64]),
        Array::from(vec![7u64]),
        Array::from(vec![-1i32]),
    );
    let range = |index, len| ErrorKind::OutOfRange { index, len };
    fails(&xs.gather(&far), "gather", range(7, 3));
    fails(&xs.gather(&below), "gather", range(-1, 3));
    fails(&xs.scatter(&far, &one), "scatter", range(7, 3));
    fails(&xs.scatter(&below, &one), "scatter", range(-1, 3));
    fails(
        &xs.scatter_with(&far, &one, |a, b| a + b),
        "scatter_with",
        range(7, 3),
    );
    fails(
        &one.reduce_by_index(
            &far,
            Bins {
                count: 2,
                start: 0.0,
            },
            |a, b| a + b,
        ),
        "reduce_by_index",
        range(7, 2),
    );
    fails(&xs.at(3), "at", range(3, 3));
    fails(&far.map(|i| xs.at(i)), "map", range(7, 3));
    fails(&generate(5, |i| xs.at(i)), "generate", range(3, 3));
    for engine in engines() {
        assert_eq!(
            xs.sum().force_with(&engine).expect("inputs are intact"),
            6.0
        );
    }
}

macro_rules! divisions {
    ($($t:ident $signed:expr;)*) => {$({
        let xs = Array::from(vec![$t::MAX, $t::MIN]);
        let zero = ErrorKind::Division { dividend: $t::MAX as i128, divisor: 0 };
        let zeros = Array::from(vec![0 as $t, 0]);
        fails(&(&xs / &zeros), "div", zero.clone());
        fails(&(&xs % &zeros), "rem", zero.clone());
        fails(&xs.map(|x| x / (x - x)), "map", zero.clone());
        fails(&xs.map(|x| x.rem_euclid(x - x)), "map", zero.clone());
        if $signed {
            let ones = xs.map(|x| (x - x) - 1);
            let kind = ErrorKind::Division { dividend: $t::MIN as i128, divisor: -1 };
            fails(&(&xs / &ones), "div", kind.clone());
            fails(&(&xs % &ones), "rem", kind.clone());
            fails(&xs.map(|x| x.div_euclid((x - x) - 1)), "map", kind);
        }
    })*};
}

#[test]
fn divisions_at_every_width() {
    divisions! { i8 true; i16 true; i32 true; i64 true; u8 false; u16 false; u32 false; u64 false; }
}

#[test]
fn lengths_that_differ() {
    let (xs, ys) = (Array::from(vec![1i64, 2, 3]), Array::from(vec![1i64, 2]));
    let differ = |expected, got| ErrorKind::LengthMismatch { expected, got };
    fails(&xs.zip(&ys), "zip", differ(3, 2));
    fails(&(&xs, &ys).zip_with(|x, y| x + y), "zip_with", differ(3, 2));
    fails(&(&xs + &ys), "add", differ(3, 2));
    fails(&xs.pack(&ys.map(|y| y.gt(0))), "pack", differ(3, 2));
    // Known only at run time.
    let (few, many) = (xs.filter(|x| x.gt(2)), xs.filter(|x| x.gt(1)));
    fails(&few.zip(&many), "zip", differ(1, 2));
    fails(&(&few + &many), "add", differ(1, 2));
    fails(
        &(&few, &many).zip_with(|x, y| x * y),
        "zip_with",
        differ(1, 2),
    );
    fails(
        &xs.scatter(&few.map(|x| x - 3), &many),
        "scatter",
        differ(1, 2),
    );
}

#[test]
fn empty_folds_and_slices_out_of_range() {
    let xs = Array::from(vec![1i64, 2, 3]);
    let none = xs.filter(|x| x.gt(5));
    let range = |end, len| ErrorKind::SliceRange { start: 1, end, len };
    fails(&none.fold1(|a, b| a + b), "fold1", ErrorKind::Empty);
    fails(
        &none.map(|x| (x, x)).fold1(|a, b| (a.0 + b.0, a.1 * b.1)),
        "fold1",
        ErrorKind::Empty,
    );
    fails(
        &Array::from(Vec::<i64>::new()).fold1(|a, b| a.max(b)),
        "fold1",
        ErrorKind::Empty,
    );
    fails(&xs.slice(1..5), "slice", range(5, 3));
    let two = xs.filter(|x| x.gt(1));
    fails(&two.slice(1..3), "slice", range(3, 2));
    // `take` and `drop` clamp.
    for engine in engines() {
        let (all, nothing) = (&two.take(9), &two.drop(9))
            .force_with(&engine)
            .expect("no error");
        assert_eq!((&all[..], nothing.len()), (&[2, 3][..], 0));
    }
}

#[test]
fn results_beyond_the_memory_limit() {
    for backend in [
        Arc::new(InterpBackend::new()) as Arc<dyn livefusion_backend::Backend>,
        Arc::new(CBackend::new()),
    ] {
        let engine = Engine::builder()
            .memory_limit(1000)
            .backend(backend)
            .build();
        let small = iota(10).map(|i| i * 2);
        assert_eq!(small.force_with(&engine).expect("it fits").len(), 10);
        let large = iota(1_000_000).map(|i| i + 1);
        let error = large.force_with(&engine).expect_err("8 MB");
        assert!(
            matches!(
                error.kind,
                ErrorKind::Memory {
                    bytes: 8_000_000,
                    limit: 1000
                }
            ),
            "{error}"
        );
        names(&large, &engine, "map");
        let endless = iota(u64::MAX / 2)
            .force_with(&engine)
            .expect_err("no such machine");
        assert!(
            matches!(endless.kind, ErrorKind::Memory { .. }),
            "{endless}"
        );
    }
}

#[test]
fn without_a_limit_memory_may_still_run_out() {
    for engine in engines() {
        let error = iota(u64::MAX / 2)
            .force_with(&engine)
            .expect_err("no such machine");
        assert!(matches!(error.kind, ErrorKind::Memory { .. }), "{error}");
        assert_eq!(error.combinator, "iota");
    }
}

#[test]
fn a_leaked_expression() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let mut leaked = None;
    let _ = xs.map(|x| {
        leaked = Some(x);
        x
    });
    let old = leaked.expect("the closure ran");
    for engine in engines() {
        let strange = xs.map(|x| x + old);
        let error = strange
            .force_with(&engine)
            .expect_err("it belongs elsewhere");
        assert_eq!(error.kind, ErrorKind::LeakedExp);
        let line = strange.node().loc.line();
        assert_eq!(
            (error.combinator, error.location.map(|l| l.line())),
            ("map", Some(line))
        );
    }
}

#[test]
fn compilers_that_are_missing_or_fail() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let with = |path: &str| Engine::new(Arc::new(CBackend::with_compiler(path)));
    let error = xs
        .sum()
        .force_with(&with("/nowhere/cc"))
        .expect_err("there is no such compiler");
    assert!(
        matches!(&error.kind, ErrorKind::Backend(why) if why.contains("/nowhere/cc")),
        "{error}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("livefusion-tests-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let path = folder.join("cc");
        std::fs::write(&path, "#!/bin/sh\necho 'no luck today' >&2\nexit 3\n")
            .expect("it can be written");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).expect("it can be made executable");
        let error = xs
            .sum()
            .force_with(&with(&path.to_string_lossy()))
            .expect_err("it fails");
        std::fs::remove_dir_all(&folder).expect("it can be removed");
        assert!(
            matches!(&error.kind, ErrorKind::Backend(why) if why.contains("no luck today")),
            "{error}"
        );
    }
    assert_eq!(
        xs.sum()
            .force_with(&Engine::interp())
            .expect("inputs are intact"),
        3.0
    );
}

/// A term that only guarded arms use is not computed if no arm is taken.
#[test]
fn guards_guard_what_several_of_them_share() {
    let (xs, ys) = (Array::from(vec![6i64, 7, 8]), Array::from(vec![0i64, 2, 0]));
    let table = Array::from(vec![10i64, 20]);
    for engine in engines() {
        let twice = (&xs, &ys).zip_with(|x, y| {
            let fine = y.ne(0);
            let once: Exp<i64> = fine.cond(x / y, 0);
            let again: Exp<i64> = fine.and(x.gt(0)).cond(x / y, 1);
            once + again
        });
        assert_eq!(
            twice.force_with(&engine).expect("no division by zero"),
            [1, 6, 1]
        );
        let read = xs.map(|x| {
            let low: Exp<i64> = x.lt(2).cond(table.at(x), 0);
            let lower: Exp<i64> = x.lt(1).cond(table.at(x), 1);
            low + lower
        });
        assert_eq!(
            read.force_with(&engine).expect("nothing is read"),
            [1, 1, 1]
        );
    }
}

#[test]
fn a_chain_of_100_000_combinators() {
    let mut xs = Array::from(vec![1i64, 2]);
    for _ in 0..100_000 {
        xs = xs.map(|x| x + 1);
    }
    assert_eq!(
        xs.force_with(&Engine::interp()).expect("depth is no limit"),
        [100_001, 100_002]
    );
}

#[test]
fn empty_arrays_and_single_elements() {
    for engine in engines() {
        let none = Array::from(Vec::<f64>::new());
        let results = (
            &none.map(|x| x * 2.0),
            &none.sum(),
            &none.product(),
            &none.len(),
            &none.scan(0.0, |a, b| a + b),
            &none.filter(|x| x.gt(0.0)),
            &none.reverse(),
            &none.any(|x| x.gt(0.0)),
        );
        let (map, sum, product, len, scan, kept, reverse, any) =
            results.force_with(&engine).expect("nothing is the matter");
        assert_eq!(
            (map.len(), scan.len(), kept.len(), reverse.len()),
            (0, 0, 0, 0)
        );
        assert_eq!(
            (sum.to_bits(), product, len, any),
            ((0.0f64).to_bits(), 1.0, 0, false)
        );
        let one = Array::from(vec![-0.0f64]);
        let (least, greatest, sum) = (&one.min(), &one.max(), &one.sum())
            .force_with(&engine)
            .expect("there is one");
        assert_eq!(
            (least.to_bits(), greatest.to_bits()),
            ((-0.0f64).to_bits(), (-0.0f64).to_bits())
        );
        assert_eq!(sum, 0.0);
    }
}

#[test]
fn extremes_ignore_nan_and_ties_go_left() {
    let xs = Array::from(vec![f64::NAN, 0.0, -0.0, 3.0, 3.0, f64::NAN, -0.0]);
    let nans = Array::from(vec![f64::NAN, f64::NAN]);
    let ties = Array::from(vec![4i64, 1, 7, 1, 7]);
    for engine in engines() {
        let (least, greatest, at, none) = (&xs.min(), &xs.max(), &xs.max_index(), &nans.max())
            .force_with(&engine)
            .expect("fine");
        assert_eq!(
            (least.to_bits(), greatest, at),
            ((-0.0f64).to_bits(), 3.0, 3)
        );
        assert!(none.is_nan());
        let (low, high) = (&ties.min_index(), &ties.max_index())
            .force_with(&engine)
            .expect("fine");
        assert_eq!((low, high), (1, 2));
    }
}
