//! Exits: `take_while`, `take` and what is made of them end the loop that makes their elements, at any rate.

use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::{Clustering, Engine, Result, stages};
use std::sync::Arc;

fn engines() -> Vec<Engine> {
    vec![Engine::interp(), Engine::jit(), Engine::c()]
}

fn loops(root: &Arc<livefusion::ast::Node>) -> Result<usize> {
    let plan = stages::graph_of(std::slice::from_ref(root))?.plan(Clustering::default());
    Ok(plan.loops().len())
}

#[test]
fn what_has_ended_has_its_length() -> Result<()> {
    for engine in engines() {
        let none = Array::from(vec![false]).take_while(|x| x);
        let zipped = none.zip_with(&Array::from(vec![0.5]), |_, y| y);
        let error = zipped.force_with(&engine).expect_err("nothing is taken");
        assert!(
            matches!(error.kind, ErrorKind::LengthMismatch { .. }),
            "{error}"
        );
        let two = iota(9).scan(0, |a, b| a + b).take(2);
        let with = |n: usize| two.zip_with(&Array::from(vec![1u64; n]), |a, b| a + b);
        assert_eq!(with(2).force_with(&engine)?, [1, 2]);
        for n in [0, 1, 3] {
            let error = with(n).force_with(&engine).expect_err("two are taken");
            assert!(
                matches!(error.kind, ErrorKind::LengthMismatch { .. }),
                "{n}: {error}"
            );
        }
    }
    Ok(())
}

#[test]
fn a_zip_that_checks_lengths_ends_with_who_uses_it() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1i64, -2, 3, 4]);
        let kept = xs.pack(&xs.map(|x| x.ge(0)));
        let taken = kept
            .zip(&Array::from(vec![5i64, 6, 7]))
            .take_while(|(a, _)| a.lt(4));
        let (sum, taken) = (&xs.sum(), &taken).force_with(&engine)?;
        assert_eq!((sum, taken.to_vec()?), (6, vec![(1, 5), (3, 6)]));
        let taken = iota(5).take_while(|x| x.lt(3)).zip(&iota(3));
        let (taken, all) = (&taken, &iota(5).map(|x| x * x)).force_with(&engine)?;
        assert_eq!((taken.len(), all.len()), (3, 5));
    }
    Ok(())
}

#[test]
fn exits_within_what_ends() -> Result<()> {
    for engine in engines() {
        let lens = Array::from(vec![2u64, 1, 4, 3]);
        let elements = indices_s(&lens);
        // Elements of segments that are cut, the lengths of further segments, and cut within these.
        let cut = elements.data().take_while(|i| i.lt(3)).map(|i| i + 1u64);
        let spread = indices_s(&cut).data().take_while(|i| i.lt(2));
        let sums = elements.sum_s();
        let (spread, sums) = (&spread, &sums).force_with(&engine)?;
        assert_eq!(spread.to_vec()?, [0, 0, 1, 0, 0, 0, 1, 0, 1]);
        assert_eq!(sums.to_vec()?, [1, 0, 6, 3]);
        // A test that looks at nothing: nobody has read the elements when a later one runs apart.
        let xs = Array::from(vec![1u64, 2, 3]);
        let all = xs.map(|x| x + 1u64).take_while(|_| true);
        let spread = indices_s(&all.map(|x| x * 2u64))
            .data()
            .take_while(|i| i.lt(5));
        let (spread, sum) = (&spread, &xs.sum()).force_with(&engine)?;
        assert_eq!(spread.to_vec()?, [0, 1, 2, 3, 0, 1, 2, 3, 4]);
        assert_eq!(sum, 6);
    }
    Ok(())
}

#[test]
fn one_loop_ends_with_its_last_consumer() -> Result<()> {
    for engine in engines() {
        let quotients = Array::from(vec![8i64, 4, 2, 0, 5]).map(|x| 8 / x);
        let kept = quotients.filter(|q| q.gt(1));
        let first = kept.find(|q| q.eq(4));
        assert_eq!(loops(first.node())?, 1);
        assert_eq!(first.force_with(&engine)?, 4);
        // Two exits, of which the later one decides; and one beside a sum of something else.
        let (two, four) = (&kept.find(|q| q.eq(2)), &first).force_with(&engine)?;
        assert_eq!((two, four), (2, 4));
        let all = quotients.force_with(&engine).expect_err("8 / 0");
        assert!(matches!(all.kind, ErrorKind::Division { .. }), "{all}");
        let (found, sum) = (&first, &iota(5).sum()).force_with(&engine)?;
        assert_eq!((found, sum), (4, 10));
    }
    Ok(())
}
