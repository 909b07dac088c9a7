//! Contraction of arrays between passes over one segment.
//!
//! Without other consumers, such an array keeps one segment at a time.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::{Boundary, ErrorKind, Result, Segmented};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use loop_lang::filled::filled;
use loop_lang::ir::{Atom, Loop, StmtKind, Var};
use std::sync::Arc;

/// Engines that stop at every opportunity, also within segments, and engines that run to the end.
fn engines() -> Vec<Engine> {
    let eager = |chunk| Engine::builder().backend(Arc::new(InterpBackend::with_chunk(chunk)));
    vec![
        eager(1).threads(1).eager().build(),
        eager(7).threads(4).eager().build(),
        Engine::builder()
            .backend(Arc::new(JitBackend::new()))
            .threads(4)
            .eager()
            .build(),
        Engine::builder()
            .backend(Arc::new(CBackend::new()))
            .threads(4)
            .eager()
            .build(),
        Engine::jit(),
        Engine::c(),
    ]
}

/// Returns the only loop of a program.
fn one_loop(root: &Arc<Node>) -> Loop {
    let explained = Engine::interp().explain(&[Arc::clone(root)]);
    let loops = explained.expect("it can be planned").loops;
    assert_eq!(loops.len(), 1);
    loops[0].program.clone()
}

/// Returns the local arrays of a loop, and the names of their lengths.
fn buffers(program: &Loop) -> Vec<(Var, String)> {
    let stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let made = stmts.filter_map(|s| match s.kind {
        StmtKind::NewArray(v, Atom::Var(n)) if !program.name(v).starts_with("out") => {
            Some((v, program.name(n).to_string()))
        }
        _ => None,
    });
    made.collect()
}

fn softmax(m: &Array<f64, Ix2>) -> Array<f64, Ix2> {
    m.map_rows(|row| {
        let most = row.max();
        let powers = row.map(|x| (x - &most).exp());
        let total = powers.sum();
        powers.map(|x| x / &total)
    })
}

/// Pseudorandom numbers.
fn numbers(n: usize) -> Vec<i64> {
    (0..n as i64).map(|i| (i * 7919 + 13) % 101 - 40).collect()
}

/// Segments of mixed lengths, some of them empty, the longest neither first nor last.
fn uneven() -> (Vec<u64>, Vec<Vec<i64>>) {
    let lengths: Vec<u64> = (0..40)
        .map(|i| [3, 0, 17, 1, 64, 5, 130, 2][i % 8])
        .collect();
    let all = numbers(lengths.iter().sum::<u64>() as usize);
    let mut rest = all.as_slice();
    let cut = |n: &u64| {
        let (row, behind) = rest.split_at(*n as usize);
        rest = behind;
        row.to_vec()
    };
    let rows = lengths.iter().map(cut).collect();
    (lengths, rows)
}

#[test]
fn of_rows_one_is_kept() -> Result<()> {
    let m = Array::from(vec![0.5; 600 * 100]).reshape((600, 100));
    let program = one_loop(softmax(&m).flatten().node());
    let kept = buffers(&program);
    assert_eq!(kept.len(), 1, "{program}");
    assert!(kept[0].1.starts_with("size"), "{program}");
    // The result and one row, but not a second row.
    let bytes = (600 * 100 + 100) * 8;
    let engine = |bytes| Engine::builder().threads(1).memory_limit(bytes).build();
    let results = softmax(&m).flatten().force_with(&engine(bytes))?;
    assert_eq!(results.to_vec()?, vec![0.01; 600 * 100]);
    let error = softmax(&m).flatten().force_with(&engine(bytes - 1));
    assert!(matches!(error, Err(e) if matches!(e.kind, ErrorKind::Memory { .. })));
    Ok(())
}

/// Engines of a backend with one thread, and with eager sharing among three.
fn one_and_several(backend: Arc<dyn livefusion_backend::Backend>) -> [Engine; 2] {
    let builder = || Engine::builder().backend(Arc::clone(&backend));
    [
        builder().threads(1).build(),
        builder().threads(3).eager().build(),
    ]
}

#[test]
fn rows_are_shared_among_threads_that_keep_one_each() -> Result<()> {
    let backends: [Arc<dyn livefusion_backend::Backend>; 3] = [
        Arc::new(InterpBackend::new()),
        Arc::new(JitBackend::new()),
        Arc::new(CBackend::new()),
    ];
    let (height, width) = (700, 300);
    let numbers: Vec<f64> = (numbers(height * width).iter())
        .map(|x| *x as f64 / 16.0)
        .collect();
    let m = || Array::from(numbers.clone()).reshape((height, width));
    let program = one_loop(softmax(&m()).flatten().node());
    assert_eq!(loop_lang::chunkable::chunkable(&program), Ok(()));
    let mut first: Option<Vec<u64>> = None;
    for backend in backends {
        let [one, several] = one_and_several(backend);
        for engine in [&one, &several] {
            let got = softmax(&m()).flatten().force_with(engine)?.to_vec()?;
            let got: Vec<u64> = got.into_iter().map(f64::to_bits).collect();
            assert_eq!(first.get_or_insert_with(|| got.clone()), &got);
        }
        let shared = several.counters().parallel_chunks;
        assert!(shared > 10, "{shared} chunks");
    }
    Ok(())
}

#[test]
fn without_memory_for_a_row_each_one_thread_goes_on_alone() -> Result<()> {
    let (height, width) = (100, 2000);
    let bytes = (height * width + width) as u64 * 8;
    for (more, shares) in [(0, false), (4 * width as u64 * 8, true)] {
        let engine = Engine::builder().backend(Arc::new(JitBackend::new()));
        let engine = engine.threads(3).eager().memory_limit(bytes + more).build();
        let m = Array::from(vec![0.5; height * width]).reshape((height, width));
        let got = softmax(&m).flatten().force_with(&engine)?.to_vec()?;
        assert_eq!(got, vec![1.0 / width as f64; height * width]);
        assert_eq!(engine.counters().parallel_chunks > 0, shares);
    }
    Ok(())
}

#[test]
fn of_segments_the_longest_is_kept_and_not_cleared() -> Result<()> {
    let (_, rows) = uneven();
    let segments = Segmented::from_vecs(rows.clone());
    let shares = |s: &Segmented<i64>| {
        s.map_segments(|row| {
            let squares = row.map(|x| x * x + 1);
            let total = squares.sum();
            squares.map(|x| x * 1000 / &total)
        })
    };
    let program = one_loop(shares(&segments).data().node());
    let kept = buffers(&program);
    assert_eq!(kept.len(), 1, "{program}");
    assert!(filled(&program).contains(&kept[0].0), "{program}");
    let expected: Vec<Vec<i64>> = rows
        .iter()
        .map(|row| {
            let squares: Vec<i64> = row.iter().map(|x| x * x + 1).collect();
            let total: i64 = squares.iter().sum();
            squares.iter().map(|x| x * 1000 / total).collect()
        })
        .collect();
    for engine in engines() {
        let segments = Segmented::from_vecs(rows.clone());
        let data = shares(&segments).data().force_with(&engine)?;
        assert_eq!(data.to_vec()?, expected.concat());
    }
    Ok(())
}

#[test]
fn rows_longer_than_a_chunk_are_contracted_across_it() -> Result<()> {
    for (rows, columns) in [(3, 20_000), (50, 1000), (1, 9), (400, 10), (5, 1), (4, 0)] {
        let xs = numbers(rows * columns);
        let mut expected = Vec::new();
        for row in xs.chunks_exact(columns.max(1)).take(rows) {
            let most = row.iter().max().copied().unwrap_or_default();
            let away: Vec<i64> = row.iter().map(|x| most - x).collect();
            let total: i64 = away.iter().sum();
            let over: Vec<i64> = away.iter().map(|x| x * 7 - total).collect();
            let least = over.iter().min().copied().unwrap_or_default();
            let ends = away.iter().zip(&over).map(|(a, o)| a + o - least);
            expected.extend(ends);
        }
        for engine in engines() {
            let m = Array::from(xs.clone()).reshape((rows, columns));
            let got = m.map_rows(|row| {
                let most = row.fold(i64::MIN, |a, b| a.max(b));
                let away = row.map(|x| &most - x);
                let total = away.sum();
                let over = away.map(|x| x * 7 - &total);
                let least = over.fold(i64::MAX, |a, b| a.min(b));
                away.zip_with(&over, |a, o| a + o - &least)
            });
            assert_eq!(got.flatten().force_with(&engine)?.to_vec()?, expected);
        }
    }
    Ok(())
}

#[test]
fn contracted_array_that_is_a_result_is_kept_whole() -> Result<()> {
    let m = Array::from(numbers(60)).reshape((6, 10));
    let doubled = m.map(|x| x * 2);
    let sums = doubled.along(1).sum();
    let less = doubled.zip_with(&sums.broadcast((.., 10)), |x, sum| x - sum);
    let (doubled, less) = (doubled.flatten(), less.flatten());
    let roots = [doubled.node(), less.node()];
    assert_eq!(crate::common::shape(&roots.map(Arc::clone))?, (1, 2));
    let roots = roots.map(Arc::clone);
    let program = Engine::interp().explain(&roots)?.loops[0].program.clone();
    assert_eq!(buffers(&program), []);
    for engine in engines() {
        let (doubled, less) = (&doubled, &less).force_with(&engine)?;
        let (doubled, less) = (doubled.to_vec()?, less.to_vec()?);
        for (d, l) in doubled.chunks(10).zip(less.chunks(10)) {
            let sum: i64 = d.iter().sum();
            assert!(d.iter().zip(l).all(|(d, l)| d - sum == *l));
        }
    }
    Ok(())
}

#[test]
fn contracted_array_of_a_filter_and_its_tags() -> Result<()> {
    let (_, rows) = uneven();
    let expected = rows.iter().flat_map(|row| {
        let odd: Vec<i64> = row.iter().map(|x| x * 3).filter(|x| x % 2 != 0).collect();
        let total: i64 = odd.iter().sum();
        odd.into_iter().map(move |x| x - total)
    });
    let expected: Vec<i64> = expected.collect();
    for engine in engines() {
        let segments = Segmented::from_vecs(rows.clone());
        let got = segments.map_segments(|row| {
            let odd = row.map(|x| x * 3).filter(|x| (x % 2).ne(0));
            let total = odd.sum();
            odd.map(|x| x - &total)
        });
        assert_eq!(got.data().force_with(&engine)?.to_vec()?, expected);
    }
    Ok(())
}

#[test]
fn segments_that_do_not_fit_are_told_as_ever() {
    for engine in engines() {
        let lengths = Array::from(vec![2u64, 3]);
        let data = Array::from(vec![1i64, 2, 3, 4]);
        let got = Segmented::new(&lengths, &data).map_segments(|row| {
            let squares = row.map(|x| x * x);
            let total = squares.sum();
            squares.map(|x| x - &total)
        });
        let error = got.data().force_with(&engine).expect_err("one too few");
        assert!(matches!(error.kind, ErrorKind::Segments { .. }), "{error}");
    }
}

/// A sort between two passes. The first pass computes keys and the second computes differences,
/// with one read each.
#[test]
fn segments_are_sorted_between_two_passes() -> Result<()> {
    let (lengths, rows) = uneven();
    let sorted = |s: &Segmented<i64>| {
        s.map_segments(|row| {
            let total = row.sum();
            let away = row.map(|x| (x * 2 - &total).abs()).sort();
            away.zip_with(&row.argsort(), |a, place| a * 100 + place.cast::<i64>())
        })
    };
    let segments = Segmented::from_vecs(rows.clone());
    let program = one_loop(sorted(&segments).data().node());
    let kept = buffers(&program);
    assert_eq!(kept.len(), 3, "{program}");
    assert!(
        kept.iter().all(|(row, _)| filled(&program).contains(row)),
        "{program}"
    );
    let expected: Vec<i64> = rows
        .iter()
        .flat_map(|row| {
            let total: i64 = row.iter().sum();
            let mut away: Vec<i64> = row.iter().map(|x| (x * 2 - total).abs()).collect();
            away.sort();
            let mut places: Vec<usize> = (0..row.len()).collect();
            places.sort_by_key(|k| row[*k]);
            let both = away.into_iter().zip(places);
            both.map(|(a, place)| a * 100 + place as i64)
        })
        .collect();
    for engine in engines() {
        let segments = Segmented::from_vecs(rows.clone());
        let got = sorted(&segments);
        assert_eq!(got.data().force_with(&engine)?, expected[..]);
        assert_eq!(got.lengths().force_with(&engine)?, lengths[..]);
    }
    Ok(())
}

/// Filtered segments are sorted, and another sort's order cuts them. Exits stop their requests.
#[test]
fn sorts_stand_among_filters_and_ends() -> Result<()> {
    let (_, rows) = uneven();
    let evens: Vec<Vec<i64>> = rows
        .iter()
        .map(|row| {
            let mut evens: Vec<i64> = row.iter().copied().filter(|x| x % 2 == 0).collect();
            evens.sort();
            evens
        })
        .collect();
    let above: Vec<i64> = evens
        .iter()
        .flat_map(|row| row.iter().copied().filter(|x| *x > 3))
        .collect();
    for engine in engines() {
        let segments = Segmented::from_vecs(rows.clone());
        let sorted = segments.map_segments(|row| row.filter(|x| (x % 2).eq(0)).sort());
        assert_eq!(sorted.data().force_with(&engine)?, evens.concat()[..]);
        let sorted = segments.map_segments(|row| row.filter(|x| (x % 2).eq(0)).sort());
        let left = sorted
            .map_segments(|row| row.filter(|x| x.gt(3)))
            .data()
            .take(50);
        let got = left.force_with(&engine)?.to_vec()?;
        assert_eq!(got, above[..50]);
        let first = segments.sort().data().take_while(|x| x.lt(30));
        let mut all = rows.clone();
        all.iter_mut().for_each(|row| row.sort());
        let all: Vec<i64> = all.concat().into_iter().take_while(|x| *x < 30).collect();
        assert_eq!(first.force_with(&engine)?, all[..]);
    }
    Ok(())
}

/// A second pass reads neighbours, also from its end, but only elements that the first has written.
#[test]
fn of_scans_whose_neighbours_are_read_one_is_kept_and_not_cleared() {
    let (_, rows) = uneven();
    let segments = Segmented::from_vecs(rows);
    let near = |xs: &Array<i64>| xs.windows(Boundary::Clamp, |[a, b, c]| a + b * c);
    let left = segments.map_segments(|row| near(&row.scan(0, |a, b| a + b)));
    let right = segments.map_segments(|row| near(&row.scan_right(0, |a, b| a + b)));
    let costly = segments.map_segments(|row| near(&row.map(|x| 100 / (x * x + 1))));
    for each in [left, right, costly] {
        let program = one_loop(each.data().node());
        let kept = buffers(&program);
        assert_eq!(kept.len(), 1, "{program}");
        assert!(filled(&program).contains(&kept[0].0), "{program}");
    }
}
