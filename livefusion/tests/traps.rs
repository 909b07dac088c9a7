//! Errors within closures on rows and segments: the row, and the element in it.

use livefusion::nested::BlockBytes;
use livefusion::prelude::*;
use livefusion::runtime::EngineBuilder;
use livefusion::{Elt, Error};
use livefusion_backend::Backend;
use std::sync::Arc;

/// Every backend on one thread, and on two.
fn engines() -> Vec<Engine> {
    let backends: [Option<Arc<dyn Backend>>; 3] = [
        Some(Arc::new(livefusion_interp::InterpBackend::new())),
        Some(Arc::new(livefusion_jit::JitBackend::new())),
        None,
    ];
    let each = backends.iter().flat_map(|b| [(b, 1), (b, 2)]);
    let built = each.map(|(backend, threads)| {
        let builder = Engine::builder().threads(threads).eager();
        let builder = match backend {
            Some(backend) => builder.backend(backend.clone()),
            None => EngineBuilder::only_c(builder),
        };
        builder.build()
    });
    built.collect()
}

/// Asserts where a program fails, on all engines: the row, and the element in it.
#[track_caller]
fn fails_at<T: Elt, D: Rank>(row: Option<u64>, element: Option<u64>, f: impl Fn() -> Array<T, D>) {
    for engine in engines() {
        let error: Error = f().force_with(&engine).err().expect("an error");
        assert_eq!((error.row, error.element), (row, element), "{error}");
    }
}

/// 300 rows of 200 numbers; that of row 211 at 77 is 0, others are 1 or 2.
fn matrix() -> Array<i64, Ix2> {
    let all: Vec<i64> = (0..60_000)
        .map(|i| i64::from(i != 42_277) * (1 + i % 2))
        .collect();
    Array::from(all).reshape((300, 200))
}

/// Segments of 0 to 6 numbers; that of segment 9000 at 2 is 0.
fn segments() -> Segmented<i64> {
    let lengths: Vec<u64> = (0..20_000).map(|k| k * k % 7).collect();
    let before: u64 = lengths[..9_000].iter().sum();
    let total: u64 = lengths.iter().sum();
    let data: Vec<i64> = (0..total).map(|i| i64::from(i != before + 2)).collect();
    assert!(lengths[9_000] > 2);
    Segmented::new(&Array::from(lengths), &Array::from(data))
}

#[test]
fn traps_in_map_rows__folds_and_maps__row_and_element() {
    let at = |f: fn(Array<i64>) -> Array<i64, Ix0>| {
        fails_at(Some(211), Some(77), || matrix().map_rows(f));
    };
    at(|r| r.map(|x| 10 / x).sum());
    at(|r| {
        r.map(|x| 10 / x)
            .map(|x| x + 1)
            .fold_seq(0i64, |a, b| a * 3 + b)
    });
    let at = |f: fn(Array<i64>) -> Array<i64>| {
        fails_at(Some(211), Some(77), || matrix().map_rows(f));
        // A stored result, and one that only a fold uses.
        fails_at(Some(211), Some(77), || matrix().map_rows(|r| f(r).sum()));
    };
    at(|r| r.map(|x| 10 / x));
    at(|r| {
        let total = r.sum();
        r.map(|x| &total / x)
    });
    at(|r| r.map(|x| 10 / x).scan(0i64, |a, b| a + b));
    at(|r| r.zip_with(&r.scan(0i64, |a, b| a + b), |x, sum| sum / x));
    fails_at(Some(211), None, || matrix().map_rows(|r| 10 / r.min()));
    fails_at(Some(211), Some(0), || {
        matrix().map_rows(|r| r.map(|x| x / r.min()))
    });
}

#[test]
fn traps_in_map_rows__sorts_and_selections__row_and_element() {
    let quotients = |r: Array<i64>| r.map(|x| 10 / x);
    let at = Some(77);
    fails_at(Some(211), at, || matrix().map_rows(|r| quotients(r).sort()));
    fails_at(Some(211), at, || {
        matrix().map_rows(|r| quotients(r).top_k(3))
    });
    fails_at(Some(211), at, || {
        matrix().map_rows(|r| quotients(r).argtop_k(3))
    });
    fails_at(Some(211), at, || {
        matrix().map_rows(|r| quotients(r).median())
    });
    fails_at(Some(211), at, || {
        matrix().map_rows(|r| quotients(r).quantile(0.5))
    });
    // Rows of the other axis are columns.
    fails_at(Some(77), Some(211), || {
        matrix().along(0).map(|c| c.map(|x| 10 / x).sum())
    });
    fails_at(Some(77), Some(211), || {
        matrix().along(0).map(|c| c.map(|x| 10 / x).sort())
    });
}

#[test]
fn traps_in_loops_over_arrays__rows_in_lockstep__row_and_element() {
    fn divided(r: &Array<i64>) -> Array<i64> {
        r.map(|x| 10 / x)
    }
    fn shared(r: &Array<i64>) -> Array<i64> {
        let total = r.sum();
        r.map(|x| &total / x)
    }
    for step in [divided, shared] {
        let looped = move |r: Array<i64>| iterate_n(3, &r, |r| step(&r));
        fails_at(Some(211), Some(77), || matrix().map_rows(looped));
        fails_at(Some(9_000), Some(2), || {
            segments().map_segments(looped).data().clone()
        });
    }
    // Blocks of rows name the row among all.
    let blocks = BlockBytes {
        all: 0,
        block: 5_000,
    };
    fails_at(Some(211), Some(77), || {
        blocks.with(|| matrix().map_rows(|r| iterate_n(5, &r, |r| shared(&r))))
    });
    fails_at(Some(211), Some(77), || {
        let rows = |r: Array<i64>| {
            let more = |(_, n): (Array<i64>, Array<u64, Ix0>)| n.map(|n| n.lt(6));
            iterate_while((&r, 0u64), more, |(r, n)| (shared(&r), n + 1)).0
        };
        blocks.with(|| matrix().map_rows(rows))
    });
    // Rows that stop apart. Those of even numbers take no step.
    let going = |r: Array<i64>| {
        let more = |r: Array<i64>| r.first().eq(2);
        iterate_while(&r, more, |r| r.map(|x| 10 / (x - 1)))
    };
    let rows = || {
        let all: Vec<i64> = (0..60_000)
            .map(|i| match (i / 200 % 2, i % 200) {
                (0, _) => 1,
                _ if i == 42_277 => 1,
                _ => 2,
            })
            .collect();
        Array::from(all).reshape((300, 200))
    };
    fails_at(Some(211), Some(77), || rows().map_rows(going));
    fails_at(Some(211), None, || {
        rows()
            .to_segmented()
            .filter(|_| true)
            .map_segments(going)
            .data()
            .clone()
    });
}

#[test]
fn traps_in_map_segments__lengths_in_memory__row_and_element() {
    let at = |f: fn(Array<i64>) -> Array<i64>| {
        fails_at(Some(9_000), Some(2), || {
            segments().map_segments(f).data().clone()
        });
        fails_at(Some(9_000), Some(2), || {
            segments().map_segments(|s| f(s).sum())
        });
    };
    at(|s| s.map(|x| 10 / x));
    at(|s| s.scan_seq(9i64, |a, b| a / b));
    at(|s| s.map(|x| 10 / x).sort());
    fails_at(Some(9_000), Some(2), || segments().map(|x| 10 / x).sum());
    // Segments without an element.
    fails_at(Some(0), None, || segments().map_segments(|s| s.max()));
}

#[test]
fn traps_in_closures__unknown_position__nothing_or_the_row() {
    // The lengths of filtered segments are nowhere.
    fails_at(Some(9_000), None, || {
        segments().map_segments(|s| s.filter(|x| x.lt(2)).map(|x| 10 / x).sum())
    });
    // Elements that are computed where others read them, in another order.
    let square = || Array::from([[1i64, 2, 3], [4, 5, 6], [7, 0, 8]]);
    let quotients = || square().map_rows(|r| r.map(|x| 10 / x));
    fails_at(None, None, || quotients().transpose());
    fails_at(None, None, || quotients().transpose().map_rows(|r| r.sum()));
    // A loop over the elements of all rows, with inner loops.
    let repeated = |s: Array<i64>| {
        let times = |x: livefusion::Exp<i64>| x.cast::<u64>() + 1;
        s.flat_map(times, |x, i| i / x.cast::<u64>())
    };
    fails_at(None, None, || {
        segments().map_segments(repeated).data().clone()
    });
}

#[test]
fn traps_in_nested_closures__outer_row() {
    let square = || Array::from([[1i64, 2, 3], [4, 5, 6], [7, 0, 8]]);
    fails_at(Some(1), None, || {
        square().map_rows(|r| square().map_rows(|q| r.zip_with(&q, |x, y| x / (x + y - 14)).sum()))
    });
    let cube = || Array::from((0..24i64).collect::<Vec<_>>()).reshape((2, 3, 4));
    fails_at(Some(3), Some(1), || {
        cube().map_rows(|r| r.map(|x| 10 / (x - 13)).sum())
    });
    fails_at(Some(3), Some(1), || {
        cube().map_rows(|r| r.map(|x| 10 / (x - 13)))
    });
}

#[test]
fn traps_in_late_loops__the_element_of_the_late_array() {
    let xs = || Array::from(vec![1i64, 2, 3, 0]);
    let last = || xs().scan(0, |_, b| b);
    let others = |ys: [i64; 3]| Array::from(ys.to_vec());
    fails_at(None, Some(2), || {
        last()
            .drop(1)
            .zip_with(&others([1, 2, 3]), |x, y| 10 / x + y)
    });
    fails_at(None, Some(1), || {
        last()
            .drop(1)
            .zip_with(&others([1, 0, 3]), |x, y| 10 / y + x)
    });
    fails_at(None, Some(1), || {
        let two = Array::from(vec![1i64, 2]);
        last().drop(2).zip_with(&two, |x, y| 10 / x + y)
    });
    fails_at(None, Some(2), || {
        last().drop(1).zip_with(&last().take(3), |x, y| 10 / x + y)
    });
    // Before the first steps are left out.
    fails_at(None, Some(3), || {
        let quotients = xs().map(|x| 10 / x).scan(0, |_, b| b);
        quotients.drop(1).zip_with(&others([1, 2, 3]), |x, y| x + y)
    });
}
