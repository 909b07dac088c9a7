//! Loops over arrays on blocks of rows.

use super::*;

/// Ten rows in blocks of two: each block takes all steps.
#[test]
fn loop_in_rows__large_state__block_by_block() {
    let m = Array::from_vec((10, 8), (0..80i64).collect());
    let weights = Array::from((0..10i64).collect::<Vec<_>>());
    let of_rows = m.to_segmented();
    let rows = || (&of_rows, &weights);
    let blocks = BlockBytes { all: 0, block: 150 };
    type Rows = (Array<i64>, Array<i64>);
    let counted = || -> Rows {
        let (all, n) = rows().map_segments(|(r, w)| {
            let (r, n, _) = iterate_n(5, (&r, 0u64, &w), |(r, n, w)| {
                let next = r.scan(0, |a, b| a + b).reverse();
                (next.map(|x| x % 1000 + &w), n + 1, w)
            });
            (r, n.map(|n| n.cast::<i64>()))
        });
        (all.data().clone(), n)
    };
    let tested = || -> Rows {
        let (all, sums) = rows().map_segments(|(r, w)| {
            let start = (&r, 0u64);
            let (r, _) = iterate_while(
                start,
                |(_, n)| n.map(|n| n.lt(6)),
                |(r, n)| (r.map(|x| x / 2 + &w).reverse(), n + 1),
            );
            let sum = r.sum();
            (r, sum)
        });
        (all.data().clone(), sums)
    };
    for engine in engines() {
        for looped in [&counted as &dyn Fn() -> Rows, &tested] {
            let together = looped();
            let is_blocked = |all: &Rows| {
                let text = all.explain_with(&engine).unwrap().to_string();
                text.contains("\nblocks at")
            };
            assert!(!is_blocked(&together));
            let together = together.force_with(&engine).unwrap();
            let by_block = blocks.with(looped);
            assert!(is_blocked(&by_block));
            assert_eq!(by_block.force_with(&engine).unwrap(), together);
        }
        // Few steps, lengths that change, sums that blocks would group in another way, and rows that
        // stop apart.
        let few = || m.map_rows(|r| iterate_n(3, &r, |r| r.scan(0, |a, b| a + b)).sum());
        let shorter = || m.map_rows(|r| iterate_n(5, &r, |r| r.take(r.len().map(|n| n - 1))).sum());
        let floats = || {
            let scanned = |r: Array<f64>| iterate_n(5, &r, |r| r.scan(0.0, |a, b| a + b));
            let sums = m.map(|x| x.cast::<f64>()).map_rows(|r| scanned(r).sum());
            sums.map(|x| x.cast::<i64>())
        };
        let apart = || {
            let halved = |r: Array<i64>| r.map(|x| x / 2).reverse();
            m.map_rows(|r| iterate_while(&r, |r| r.max().gt(20), halved).sum())
        };
        for looped in [&few as &dyn Fn() -> Array<i64>, &shorter, &floats, &apart] {
            let explained = blocks.with(looped).explain_with(&engine).unwrap();
            assert!(!explained.to_string().contains("blocks at"), "{explained}");
        }
    }
}
