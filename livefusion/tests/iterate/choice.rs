//! Choices between array programs, against plain Rust.

use super::engines;
use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::runtime::{ExplainedApart, ExplainedArrayLoop, Explanation};
use livefusion::{ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The parts of an explanation that are sides of choices.
fn sides(explained: &Explanation) -> Vec<&ExplainedArrayLoop> {
    let parts = explained.apart.iter();
    let sides = parts.filter_map(|part| match part {
        ExplainedApart::Loop(of) if of.is_side => Some(&**of),
        _ => None,
    });
    sides.collect()
}

/// An array, and the number of its computations.
fn counted(xs: &Array<i64>) -> (Array<i64>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let same = xs.external(move |xs: &[i64]| {
        counter.fetch_add(1, Ordering::Relaxed);
        xs.to_vec()
    });
    (same, count)
}

fn is_there(node: &Arc<Node>) -> bool {
    node.value.get().is_some()
}

#[test]
fn cond__either_side__alone_runs_traps_and_reads() -> Result<()> {
    let xs = Array::from(vec![4i64, -1, 2]);
    for engine in engines() {
        let program = prepare_with(&engine, |(xs, by): (Array<i64>, Array<i64, Ix0>)| {
            let quotients = xs.scan(0, |a, b| a + b).map(|x| x / &by);
            by.eq(0).cond(xs.reverse(), &quotients)
        })?;
        assert_eq!(program.call((&xs, 0))?, [2, -1, 4]);
        assert_eq!(program.call((&xs, 2))?, [2, 1, 2]);
        for (by, expected, ran) in [(0i64, [2i64, -1, 4], [1, 0]), (2, [2, 1, 2], [0, 1])] {
            let by = Array::from(vec![by]).sum();
            let ((turned, first), (same, second)) = (counted(&xs), counted(&xs));
            let quotients = same.scan(0, |a, b| a + b).map(|x| x / &by);
            let chosen = by.eq(0).cond(turned.reverse(), &quotients);
            assert_eq!(chosen.force_with(&engine)?, expected);
            let runs = [&first, &second].map(|count| count.load(Ordering::Relaxed));
            assert_eq!(runs, ran);
            assert_eq!(
                [&turned, &same].map(|n| usize::from(is_there(n.node()))),
                [0, 0]
            );
        }
    }
    Ok(())
}

#[test]
fn cond__error_in_the_chosen_side__has_the_place_of_its_call() -> Result<()> {
    let xs = Array::from(vec![4i64, 2]);
    for engine in engines() {
        let zero = Array::from(vec![0i64]).sum();
        let line = line!() + 1;
        let quotients = xs.scan(0, |a, b| a + b).map(|x| x / &zero);
        let error = zero
            .eq(0)
            .cond(&quotients, xs.sort())
            .force_with(&engine)
            .unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Division { .. }), "{error}");
        assert_eq!(
            (error.combinator, error.location.map(|l| l.line())),
            ("map", Some(line))
        );
        assert_eq!(
            zero.ne(0).cond(&quotients, xs.sort()).force_with(&engine)?,
            [2, 4]
        );
    }
    Ok(())
}

/// The test, both sides and the consumers use one array, and one sort.
#[test]
fn cond__work_of_several_parts__is_done_once() -> Result<()> {
    let xs = Array::from(vec![3i64, 5, 1]);
    for engine in engines() {
        for above in [0, 100] {
            let (once, runs) = counted(&xs);
            let sorted = once.sort();
            let large = sorted.last().gt(above);
            let chosen = large.cond(sorted.map(|x| x * 2), sorted.reverse());
            let (chosen, total) = (&chosen, &sorted.sum()).force_with(&engine)?;
            let expected = if above == 0 { [2, 6, 10] } else { [5, 3, 1] };
            assert_eq!((&chosen[..], total), (&expected[..], 9));
            assert_eq!(runs.load(Ordering::Relaxed), 1);
        }
        // A filter that the test does not use: the sum needs it, beside a side.
        let program = prepare_with(&engine, |(xs, large): (Array<i64>, Array<bool, Ix0>)| {
            let kept = xs.filter(|x| x.gt(1));
            (
                large.cond(kept.scan(0, |a, b| a + b), xs.take(1)),
                kept.sum(),
            )
        })?;
        let explained = program.explain((&xs, true))?;
        // One loop filters, before the first side.
        let report = explained.to_string();
        assert_eq!(report.matches("filter  ").count(), 1, "{report}");
        let first = sides(&explained)[0].start.to_string();
        assert_eq!(first.matches("filter  ").count(), 1, "{report}");
        for (large, expected) in [(true, vec![3, 8]), (false, vec![3])] {
            let (chosen, total) = program.call((&xs, large))?;
            assert_eq!((&chosen[..], total), (&expected[..], 8));
        }
    }
    Ok(())
}

#[test]
fn cond__external_parts_in_any_order__run_before_the_choice_that_shares_them() -> Result<()> {
    let xs = Array::from(vec![3i64, 5, 1]);
    for engine in engines() {
        let program = prepare_with(&engine, |(xs, n): (Array<i64>, Array<i64, Ix0>)| {
            let sorted = xs.sort();
            let first = n.gt(0).cond(sorted.scan(0, |a, b| a + b), xs.reverse());
            // Needs the choice, and is needed by another one and by the result.
            let later = first.map(|x| x % 4).sort();
            let second = n.gt(1).cond(later.reverse(), first.take(1));
            (second, later, sorted)
        })?;
        for (n, second, later) in [
            (0, vec![1], vec![1, 1, 3]),
            (1, vec![1], vec![0, 1, 1]),
            (2, vec![1, 1, 0], vec![0, 1, 1]),
        ] {
            let (s, l, sorted) = program.call((&xs, n))?;
            assert_eq!(
                (&s[..], &l[..], &sorted[..]),
                (&second[..], &later[..], &[1, 3, 5][..])
            );
        }
    }
    Ok(())
}

#[test]
fn cond__cheap_scalars__are_a_condition_that_fuses() -> Result<()> {
    let xs = Array::from(vec![3i64, 5, 1]);
    for engine in engines() {
        let (total, n) = (xs.sum(), xs.len().map(|n| n.cast::<i64>()));
        let by = total.gt(5).cond(&total + &n, 1);
        let scaled = xs.map(|x| x * &by).sum();
        let explained = scaled.explain_with(&engine)?;
        assert_eq!(
            (explained.loops.len(), explained.apart.len()),
            (2, 0),
            "{explained}"
        );
        assert_eq!(scaled.force_with(&engine)?, 12 * 9);
        // A division may fail, and a sum passes over an array.
        let none = xs.filter(|x| x.gt(9));
        let mean = |xs: &Array<i64>| {
            let n = xs.len().map(|n| n.cast::<i64>());
            n.gt(0).cond(xs.sum() / &n, -1)
        };
        let both = (mean(&xs), mean(&none));
        assert_eq!(sides(&both.explain_with(&engine)?).len(), 2);
        assert_eq!(both.force_with(&engine)?, (3, -1));
    }
    Ok(())
}

#[test]
fn cond__ranks_tuples_and_segments__keep_their_form() -> Result<()> {
    let xs = Array::from(vec![3i64, 5, 1, 7]);
    let m = xs.reshape((2, 2));
    let rows = Segmented::from_vecs(vec![vec![1i64, 2], vec![], vec![3]]);
    for engine in engines() {
        let program = prepare_with(
            &engine,
            |(m, rows, n): (Array<i64, Ix2>, Segmented<i64>, Array<i64, Ix0>)| {
                let narrow = m.slice((.., 0..1));
                let (k, k1) = (m.sum(), n.map(|n| n * 2));
                let (m, rows, k, one) = n.gt(0).cond(
                    (&m.transpose(), &rows.filter(|x| x.ne(2)), &k, 7i64),
                    (&narrow, &rows, &k1, 8i64),
                );
                (m, rows.lengths().clone(), rows.data().clone(), k, one)
            },
        )?;
        for (n, shape, elements, lengths, kept, k, one) in [
            (
                3,
                [2, 2],
                vec![3, 1, 5, 7],
                vec![1, 0, 1],
                vec![1, 3],
                16,
                7,
            ),
            (-3, [2, 1], vec![3, 1], vec![2, 0, 1], vec![1, 2, 3], -6, 8),
        ] {
            let got = program.call((&m, &rows, n))?;
            assert_eq!(
                (got.0.shape(), &got.0.into_vec()?[..]),
                (shape, &elements[..])
            );
            assert_eq!((&got.1[..], &got.2[..]), (&lengths[..], &kept[..]));
            assert_eq!((got.3, got.4), (k, one));
        }
    }
    Ok(())
}

/// One loop gives both results. Known lengths that differ are a mistake before any force.
#[test]
fn cond__length_of_both_sides__is_known_to_consumers() -> Result<()> {
    let xs = Array::from(vec![3i64, 5, 1, 7]);
    let m = xs.reshape((2, 2));
    for engine in engines() {
        let large = xs.sum().gt(5);
        let chosen = large.cond(xs.scan(0, |a, b| a + b), xs.sort());
        let both = (chosen.zip_with(&xs, |a, b| a + b), xs.map(|x| x + 1));
        assert_eq!(both.explain_with(&engine)?.loops.len(), 1);
        let wrong = chosen.zip_with(&Array::from(vec![1i64]), |a, b| a + b);
        assert!(wrong.node().error.is_some());
        let turned = large.cond(m.along(1).scan(0, |a, b| a + b), m.along(0).reverse());
        let both = turned.zip_with(&m, |a, b| a * b);
        assert_eq!(both.force_with(&engine)?, [[9, 40], [1, 56]]);
        let other = Array::from(vec![0i64; 6]).reshape((3, 2));
        assert!(turned.zip_with(&other, |a, b| a * b).node().error.is_some());
    }
    Ok(())
}

#[test]
fn cond__in_steps_and_in_sides__runs_in_each_step() -> Result<()> {
    let xs = Array::from(vec![3i64, 6, 1]);
    for engine in engines() {
        let step = |xs: Array<i64>| {
            let total = xs.sum();
            let inner = total.map(|t| (t % 3).eq(0)).cond(
                iterate_n(2, &xs, |xs| xs.scan(1, |a, b| (a + b) % 10)),
                xs.reverse(),
            );
            total
                .map(|t| (t % 2).eq(0))
                .cond(inner.map(|x| x + 1), xs.sort())
        };
        let plain = |xs: &[i64]| {
            let total: i64 = xs.iter().sum();
            let mut inner = xs.to_vec();
            match total % 3 {
                0 => (0..2).for_each(|_| {
                    let mut sum = 1;
                    inner.iter_mut().for_each(|x| {
                        sum = (sum + *x) % 10;
                        *x = sum;
                    });
                }),
                _ => inner.reverse(),
            }
            match total % 2 {
                0 => inner.iter_mut().for_each(|x| *x += 1),
                _ => {
                    inner = xs.to_vec();
                    inner.sort();
                }
            }
            inner
        };
        let program = prepare_with(&engine, |(xs, n): (Array<i64>, Array<u64, Ix0>)| {
            iterate_n(&n, &xs, step)
        })?;
        for n in 0..6 {
            let expected = (0..n).fold(vec![3, 6, 1], |xs, _| plain(&xs));
            assert_eq!(program.call((&xs, n))?, expected[..]);
            assert_eq!(iterate_n(n, &xs, step).force_with(&engine)?, expected[..]);
        }
    }
    Ok(())
}

#[test]
fn cond__long_chains_run_and_deep_nests_are_refused() -> Result<()> {
    let (xs, engine) = (Array::from(vec![1i64, 2]), Engine::interp());
    // Each choice uses the previous one on both sides.
    let chain = |xs: Array<i64>| {
        (0..300).fold(xs, |xs, k| {
            let odd = xs.sum().map(|s| (s % 2).ne(0));
            odd.cond(xs.map(|x| x + 1).reverse(), xs.map(|x| x + k))
        })
    };
    let plain = (0..300).fold(vec![1i64, 2], |xs, k| match xs[0] + xs[1] {
        odd if odd % 2 != 0 => xs.iter().rev().map(|x| x + 1).collect(),
        _ => xs.iter().map(|x| x + k).collect(),
    });
    assert_eq!(prepare_with(&engine, chain)?.call(&xs)?, plain[..]);
    assert_eq!(chain(xs.clone()).force_with(&engine)?, plain[..]);
    // Each choice is on one side of the next one.
    let nest = |depth: usize| {
        prepare_with(&engine, |(xs, n): (Array<i64>, Array<i64, Ix0>)| {
            (0..depth as i64).fold(xs.clone(), |inner, k| n.ne(k).cond(inner.reverse(), &xs))
        })
    };
    assert_eq!(nest(40)?.call((&xs, 37))?, [1, 2]);
    assert_eq!(nest(40)?.call((&xs, 38))?, [2, 1]);
    let said = nest(41).map(drop).unwrap_err().to_string();
    assert!(said.contains("at most 40 loops over arrays"), "{said}");
    Ok(())
}

#[test]
fn cond__explanation__shows_the_program_of_each_side() -> Result<()> {
    let xs = Array::from(vec![3i64, 5, 1]);
    let chosen = xs
        .sum()
        .gt(5)
        .cond(xs.scan(0, |a, b| a + b), xs.filter(|x| x.gt(1)));
    let explained = chosen.explain()?;
    let both = sides(&explained);
    let names = |e: &Explanation| -> Vec<&str> {
        let nodes = e.loops.iter().flat_map(|l| &l.nodes);
        nodes
            .map(|n| n.name)
            .filter(|n| ["scan", "filter", "sum"].contains(n))
            .collect()
    };
    assert_eq!(both.len(), 2, "{explained}");
    assert_eq!(
        [&both[0].start, &both[0].step].map(names),
        [["sum"], ["scan"]]
    );
    assert_eq!(names(&both[1].step), ["filter"]);
    let report = explained.to_string();
    assert!(report.contains("choice.rs:"), "{report}");
    assert!(
        report.contains(", a side, runs first if it is chosen:"),
        "{report}"
    );
    // A side in memory has no program.
    let other = xs.sum().gt(5).cond(xs.sort(), &xs);
    assert_eq!(sides(&other.explain()?).len(), 1);
    // A known test chooses at once.
    let known = Array::scalar(true).cond(&xs, xs.sort());
    assert!(Arc::ptr_eq(known.node(), xs.node()));
    Ok(())
}
