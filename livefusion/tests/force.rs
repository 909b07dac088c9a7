//! Forcing whole programs: values, sharing of results, counters.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

fn engines() -> [Engine; 2] {
    [Engine::interp(), Engine::c()]
}

#[test]
fn several_results_from_one_loop() -> Result<()> {
    for engine in engines() {
        let xs: Array<i64> = vec![3i64, -2, 7, 0].into();
        let ys = xs.map(|x| x + 1);
        let kept = ys.filter(|y| y.gt(0));
        let most = kept.fold(i64::MIN, |a, b| a.max(b));
        let running = ys.scan(i64::MIN, |a, b| a.max(b));
        let (kept, most, running, n) = (&kept, &most, &running, &kept.len()).force_with(&engine)?;
        assert_eq!(&kept[..], [4, 8, 1]);
        assert_eq!((most, n), (8, 3));
        assert_eq!(&running[..], [4, 4, 8, 8]);
        assert_eq!(engine.counters().misses, 1);
    }
    Ok(())
}

#[test]
fn one_program_is_compiled_once() -> Result<()> {
    for engine in engines() {
        for factor in [2.0, 3.0, 5.0] {
            let xs: Array<f64> = vec![1.0; factor as usize].into();
            assert_eq!(
                xs.map(|x| x * factor).sum().force_with(&engine)?,
                factor * factor
            );
        }
        assert_eq!((engine.counters().misses, engine.counters().hits), (1, 2));
    }
    Ok(())
}

#[test]
fn folds_of_every_style() -> Result<()> {
    for engine in engines() {
        let xs: Array<i64> = (1..=10i64).collect();
        let first = xs.fold1(|a, b| a * b);
        let seq = xs.fold_seq(100, |a, b| a - b);
        // Composition of affine functions: associative, not commutative.
        let affine = zip((&xs, &xs)).fold((1, 0), |(a, b), (c, d)| (a * c, b * c + d));
        let spread = xs.aggregate(
            (0i64, 0i64),
            |(n, s), x| (n + 1, s + x),
            |(n, s), (m, t)| (n + m, s + t),
        );
        let (first, seq, affine, spread) = (&first, &seq, &affine, &spread).force_with(&engine)?;
        assert_eq!((first, seq, spread), (3628800, 45, (10, 55)));
        let by_hand = (1..=10i64).fold((1, 0), |(a, b), x| (a * x, b * x + x));
        assert_eq!(affine, by_hand);
        assert_eq!(
            (xs.mean_of(), xs.count(|x| x.gt(4)).force_with(&engine)?),
            (5.5, 6)
        );
    }
    Ok(())
}

trait MeanOf {
    fn mean_of(&self) -> f64;
}
impl MeanOf for Array<i64> {
    fn mean_of(&self) -> f64 {
        self.map(|x| x.cast::<f64>()).mean().force().expect("mean")
    }
}

#[test]
fn results_of_one_loop_feed_the_next() -> Result<()> {
    for engine in engines() {
        let xs: Array<f64> = vec![1.0, 2.0, 5.0].into();
        let total = xs.sum();
        let shares = xs.map(|x| x / &total);
        let biggest = shares.max_index();
        let (shares, biggest) = (&shares, &biggest).force_with(&engine)?;
        assert_eq!((&shares[..], biggest), (&[0.125, 0.25, 0.625][..], 2));
    }
    Ok(())
}

#[test]
fn reading_by_index() -> Result<()> {
    for engine in engines() {
        let xs: Array<i32> = vec![10, 20, 30, 40].into();
        let doubled = xs.map(|x| x * 2);
        let (r, t, d, s, g) = (
            &doubled.reverse(),
            &xs.take(2),
            &xs.drop(3),
            &xs.slice(1..3),
            &xs.gather(&Array::from(vec![3u64, 0, 0])),
        )
            .force_with(&engine)?;
        assert_eq!(&r[..], [80, 60, 40, 20]);
        assert_eq!(
            (&t[..], &d[..], &s[..]),
            (&[10, 20][..], &[40][..], &[20, 30][..])
        );
        assert_eq!(&g[..], [40, 10, 10]);
    }
    Ok(())
}

#[test]
fn traps_name_the_combinator_and_leave_inputs_usable() -> Result<()> {
    for engine in engines() {
        let xs: Array<i64> = vec![1i64, 2, 3].into();
        let bad = xs.gather(&Array::from(vec![0u64, 9]));
        let line = line!() - 1;
        let error = bad.force_with(&engine).expect_err("out of range");
        assert_eq!(error.kind, ErrorKind::OutOfRange { index: 9, len: 3 });
        assert_eq!(
            (error.combinator, error.location.map(|l| l.line())),
            ("gather", Some(line))
        );
        let error = xs
            .map(|x| 6 / (x - 2))
            .force_with(&engine)
            .expect_err("division");
        assert_eq!(
            error.kind,
            ErrorKind::Division {
                dividend: 6,
                divisor: 0
            }
        );
        assert_eq!(xs.sum().force_with(&engine)?, 6);
    }
    Ok(())
}

#[test]
fn prepared_programs_take_new_inputs() -> Result<()> {
    let program = prepare(|(xs, ys): (Array<f64>, Array<f64>)| {
        let products = (&xs, &ys).zip_with(|x, y| x * y);
        (products.sum(), products)
    })?;
    for n in [1usize, 3] {
        let xs: Array<f64> = vec![2.0; n].into();
        let (dot, products) = program.call(&(xs.clone(), xs.clone()))?;
        assert_eq!((dot, products.len()), (4.0 * n as f64, n));
    }
    let (short, long): (Array<f64>, Array<f64>) = (vec![1.0].into(), vec![1.0, 2.0].into());
    let error = program.call(&(short, long)).expect_err("lengths differ");
    assert!(
        matches!(error.kind, ErrorKind::LengthMismatch { .. }),
        "{error}"
    );
    Ok(())
}

/// A trapping term with two guards is computed under each guard, not above both.
#[test]
fn guards_keep_what_may_trap() -> Result<()> {
    for engine in engines() {
        let xs: Array<i64> = vec![6i64, 0, 3].into();
        let guarded = xs.map(|x| x.ne(0).and((12 % x).eq(0)) & x.eq(0).or((12 % x).eq(0)));
        assert_eq!(&guarded.force_with(&engine)?[..], [true, false, true]);
    }
    Ok(())
}

/// A scalar loop whose result is used under two guards is bound under each, with its own variables.
#[test]
fn guards_keep_scalar_loops() -> Result<()> {
    for engine in engines() {
        let xs: Array<u64> = vec![5u64, 0, 3].into();
        let powers = xs.map(|x| {
            let power = while_loop((1u64, x), |(_, n)| n.gt(0), |(p, n)| (p * 2 + n - n, n - 1)).0;
            let small = x.lt(4).cond(power, 0);
            small + x.gt(2).cond(power + x, 1)
        });
        assert_eq!(&powers.force_with(&engine)?[..], [37, 2, 19]);
    }
    Ok(())
}

/// Consumers of a scatter's result run after its loop. A length is known although no element is
/// used.
#[test]
fn scattered_arrays_and_unused_elements() -> Result<()> {
    for engine in engines() {
        let base: Array<i64> = vec![1i64, 2, 3].into();
        let at: Array<u64> = vec![2u64, 2, 0].into();
        let sum = base.scatter_with(&at, &base, |a, b| a * b).sum();
        assert_eq!(sum.force_with(&engine)?, 3 + 2 + 3 * 2);
        let n = base.sum();
        let ones = base.map(|x| x * 2).filter(|x| x.gt(&n)).map(|_| 1i64);
        let twos = iota(ones.len()).map(|i| i + 2);
        let (ones, twos) = (&ones, &twos).force_with(&engine)?;
        assert_eq!((ones.len(), twos.len()), (0, 0));
    }
    Ok(())
}

/// The length of a loop's result comes from its own source, not from the node that opened the loop.
#[test]
fn lengths_that_turn_out_different_are_found() {
    for engine in engines() {
        let bools: Array<bool> = vec![true].into();
        let ones = bools.map(|_| 1i64);
        let none = iota(bools.count(|b| !b)).map(|i| i.cast::<i64>());
        let sums = (&none, &ones).zip_with(|a, b| a + b);
        let error = sums.force_with(&engine).expect_err("lengths differ");
        assert_eq!(
            error.kind,
            ErrorKind::LengthMismatch {
                expected: 0,
                got: 1
            }
        );
        assert_eq!(error.combinator, "zip_with");
    }
}

#[test]
fn the_total_of_a_scan_that_is_in_memory() -> Result<()> {
    for engine in engines() {
        let xs: Array<i64> = vec![3i64, 1, 4].into();
        let (before, total) = xs.scan_with_total(0, |a, b| a + b);
        // Requested together, they are one scan.
        let both = (&before, &total).explain_with(&engine)?;
        assert_eq!((both.loops.len(), both.loops[0].arrays_written), (1, 1));
        assert_eq!(before.force_with(&engine)?, [0, 3, 4]);
        assert_eq!(total.force_with(&engine)?, 8);
        // The opposite order, and next to a consumer of the elements.
        let (before, total) = xs.scan_with_total(5, |a, b| a.max(b));
        assert_eq!(total.force_with(&engine)?, 5);
        assert_eq!(before.force_with(&engine)?, [5, 5, 5]);
        let (before, total) = xs.scan_with_total(1, |a, b| a * b);
        assert_eq!(before.force_with(&engine)?, [1, 3, 3]);
        let shares = before.map(|x| &total - x);
        assert_eq!((&shares.sum(), &total).force_with(&engine)?, (29, 12));
    }
    Ok(())
}
