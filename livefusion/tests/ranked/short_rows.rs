//! Rows whose new length depends only on the row length: all remain equally long.
//!
//! Combinators that give unequal rows are errors, which name them.

use crate::common::engines;
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind, Result};

fn matrix() -> Array<i64, Ix2> {
    Array::from([[3i64, 1, 4, 1], [5, 9, 2, 6]])
}

/// The same matrix with a length that is unknown when the program is built.
fn late() -> Array<i64, Ix2> {
    let columns = Array::from([0i64, 4]).max();
    let all = matrix().flatten();
    generate((2, columns.map(|n| n.cast::<u64>())), move |(i, j)| {
        all.at(i * 4 + j)
    })
}

#[test]
fn map_rows__with_parts_of_rows__gives_rows_of_one_length() -> Result<()> {
    for engine in engines() {
        for m in [matrix(), late()] {
            let two = m.map_rows(|r| r.take(2).map(|x| x * 10));
            assert_eq!(two.force_with(&engine)?, [[30, 10], [50, 90]]);
            let all = m.map_rows(|r| r.take(9));
            assert_eq!(all.force_with(&engine)?, matrix().force()?);
            let rest = m.map_rows(|r| r.drop(3));
            assert_eq!(rest.force_with(&engine)?, [[1], [6]]);
            let steps = m.map_rows(|r| r.diff());
            assert_eq!(steps.force_with(&engine)?, [[-2, 3, -3], [4, -7, 4]]);
            let tail = m.map_rows(|r| r.slice(2..));
            assert_eq!(tail.force_with(&engine)?, [[4, 1], [2, 6]]);
            let inner = m.map_rows(|r| r.slice(..-1).map(|x| x + 1));
            assert_eq!(inner.force_with(&engine)?, [[4, 2, 5], [6, 10, 3]]);
            let twice = m.map_rows(|r| r.take(1).append(&r.take(2)));
            assert_eq!(twice.force_with(&engine)?, [[3, 3, 1], [5, 5, 9]]);
            let (best, places) = m.map_rows(|r| (r.top_k(2), r.argtop_k(3)));
            assert_eq!(best.force_with(&engine)?, [[4, 3], [9, 6]]);
            assert_eq!(places.force_with(&engine)?, [[2, 0, 1], [1, 3, 0]]);
            let sums = m.map_rows(|r| r.take(3).cumsum().reverse());
            assert_eq!(sums.force_with(&engine)?, [[8, 4, 3], [16, 14, 5]]);
            let columns = m.along(0).map(|c| c.drop(1));
            assert_eq!(columns.force_with(&engine)?, [[5, 9, 2, 6]]);
        }
    }
    Ok(())
}

#[test]
fn parts_of_no_rows_are_no_mistake() -> Result<()> {
    for engine in engines() {
        let none = Array::from_vec((0, 0), Vec::<i64>::new());
        let parts = none.map_rows(|r| (r.take(2), r.slice(1..), r.diff()));
        let (two, tail, steps) = (&parts.0, &parts.1, &parts.2).force_with(&engine)?;
        assert_eq!([two.len(), tail.len(), steps.len()], [0; 3]);
        let thin = Array::from_vec((3, 0), Vec::<i64>::new());
        assert_eq!(
            thin.map_rows(|r| r.take(2)).force_with(&engine)?.shape(),
            [3, 0]
        );
        let e = thin.map_rows(|r| r.slice(1..)).force_with(&engine);
        let e = e.expect_err("a slice behind the end");
        assert!(matches!(e.kind, ErrorKind::SliceRange { .. }), "{e}");
        assert_eq!(e.combinator, "slice");
    }
    Ok(())
}

#[test]
fn short_rows_error_names_the_cause_and_a_remedy() {
    let m = matrix();
    let error = |a: Array<i64, Ix2>| -> Error { a.force().expect_err("rows that vary") };
    let odd = |x: Exp<i64>| (x % 2).eq(1);
    for (e, name) in [
        (
            error(m.map_rows(|r| r.filter(odd).map(|x| x + 1))),
            "filter",
        ),
        (
            error(m.map_rows(|r| r.map(|x| x + 1).take_while(odd).cumsum())),
            "take_while",
        ),
        (error(m.map_rows(|r| r.filter(odd).reverse())), "filter"),
        (
            error(m.map_rows(|r| r.take(r.sum().map(|n| n.cast::<u64>())))),
            "take",
        ),
    ] {
        assert_eq!(e.combinator, "map_rows");
        let text = e.to_string();
        let varies = format!("got rows whose lengths vary, from `{name}`");
        assert!(text.contains(&varies), "{text}");
        assert!(
            text.contains("`.to_segmented().map_segments(..)`"),
            "{text}"
        );
        assert!(text.contains("`.gather(&iota(k))`"), "{text}");
    }
}
