//! Segmented combinators: one nested loop at any depth, and errors that name the mismatch.

use livefusion::ast::{Builder, Node};
use livefusion::prelude::*;
use livefusion::runtime::force_nodes;
use livefusion::{Clustering, ErrorKind, Result};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use std::sync::Arc;

fn engines() -> Vec<Engine> {
    let interp = |clustering| {
        let backend = Arc::new(InterpBackend::new());
        Engine::builder()
            .backend(backend)
            .clustering(clustering)
            .build()
    };
    vec![
        interp(Clustering::Unfused),
        interp(Clustering::Greedy),
        interp(Clustering::default()),
        Engine::builder().backend(Arc::new(CBackend::new())).build(),
    ]
}

/// The numbers of loops and of written arrays under the default clustering.
fn loops_and_arrays(roots: &[&Arc<Node>]) -> (usize, usize) {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| Arc::clone(r)).collect();
    let e = Engine::interp().explain(&roots).expect("it can be planned");
    (
        e.loops.len(),
        e.loops.iter().map(|l| l.arrays_written).sum(),
    )
}

#[test]
fn segments_of_segments_of_segments() -> Result<()> {
    // Two books of chapters of pages of numbers.
    let pages = Array::from(vec![2u64, 1, 0, 3, 1]);
    let chapters = Array::from(vec![2u64, 0, 3]);
    let books = Array::from(vec![1u64, 2]);
    let data = Array::from(vec![1i64, 2, 3, 4, 5, 6, 7]);
    let per_page = Segmented::new(&pages, &data);
    let page_sums = per_page.sum();
    let per_chapter = Segmented::new(&chapters, &page_sums);
    let best = per_chapter.fold(0, |a, b| a.max(b));
    let per_book = Segmented::new(&books, &best);
    let totals = per_book.sum();
    let shares = per_page.zip_with_each(&page_sums, |x, sum| 100 * x / sum);
    let roots = [totals.node(), shares.data().node(), page_sums.node()];
    assert_eq!(loops_and_arrays(&roots), (1, 3));
    for engine in engines() {
        let (pages, data) = (
            Array::from(vec![2u64, 1, 0, 3, 1]),
            Array::from(data.to_vec()?),
        );
        let per_page = Segmented::new(&pages, &data);
        let page_sums = per_page.sum();
        let best = Segmented::new(&chapters, &page_sums).fold(0, |a, b| a.max(b));
        let totals = Segmented::new(&books, &best).sum();
        let shares = per_page.zip_with_each(&page_sums, |x, sum| 100 * x / sum);
        let (totals, shares) = (&totals, shares.data()).force_with(&engine)?;
        assert_eq!(totals, [3, 15]);
        assert_eq!(shares, [33, 66, 100, 26, 33, 40, 100]);
    }
    Ok(())
}

#[test]
fn zip_with_each__in_a_softmax__is_one_loop_over_segments() -> Result<()> {
    let rows = vec![vec![1.0f64, 2.0], vec![], vec![3.0, 5.0, 4.0], vec![-1.0]];
    let scores = Segmented::from_vecs(rows.clone());
    let highest = scores.fold(f64::NEG_INFINITY, |a, b| a.max(b));
    let powers = scores.zip_with_each(&highest, |x, top| (x - top).exp());
    let soft = powers.zip_with_each(&powers.sum(), |p, sum| p / sum);
    assert_eq!(loops_and_arrays(&[soft.data().node()]), (1, 1));
    let got = soft.to_vecs()?;
    for (row, got) in rows.iter().zip(got) {
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|x| (x - top).exp()).sum();
        for (x, g) in row.iter().zip(got) {
            assert!(((x - top).exp() / sum - g).abs() < 1e-15);
        }
    }
    Ok(())
}

#[test]
fn filters_give_data_and_lengths_from_one_loop() -> Result<()> {
    for engine in engines() {
        let lengths = Array::from(vec![3u8, 0, 2, 1]).map(|n| n + 1);
        let data = iota(10).map(|i| (i * 7) % 10);
        let rows = Segmented::new(&lengths, &data);
        let odd = rows.filter(|x| (x % 2).eq(1));
        let twice = odd.map(|x| x * 2);
        let (kept, counts, sums) = (twice.data(), twice.lengths(), &twice.sum());
        let (kept, counts, sums) = (kept, counts, sums).force_with(&engine)?;
        assert_eq!(kept, [14, 2, 10, 18, 6]);
        assert_eq!(counts, [2, 0, 2, 1]);
        assert_eq!(sums, [16, 0, 28, 6]);
    }
    let rows = Segmented::new(&Array::from(vec![2u64, 3]), &iota(5));
    let odd = rows.filter(|x| (x % 2).eq(1));
    let again = odd.filter(|x| x.gt(1));
    let means = again.fold(0, |a, b| a + b);
    let roots = [again.data().node(), again.lengths().node(), means.node()];
    assert_eq!(loops_and_arrays(&roots), (1, 3));
    assert_eq!(again.to_vecs()?, [vec![], vec![3]]);
    Ok(())
}

#[test]
fn replicate_and_local_indices__of_segments__give_elements_of_each() -> Result<()> {
    for engine in engines() {
        let lengths = Array::from(vec![1i32, 0, 3]).map(|n| n + 1);
        let values = Array::from(vec![10i64, 20, 30]);
        let spread = Segmented::replicate(&lengths, &values);
        let numbered = spread
            .data()
            .zip_with(&spread.local_indices(), |x, i| x + i.cast::<i64>());
        assert_eq!(numbered.force_with(&engine)?, [10, 11, 20, 30, 31, 32, 33]);
        let prefix = spread.scan(0, |a, b| a + b);
        let before = spread.scan_exclusive(1, |a, b| a * b);
        let both = (prefix.data(), before.data()).force_with(&engine)?;
        assert_eq!(both.0, [10, 20, 20, 30, 60, 90, 120]);
        assert_eq!(both.1, [1, 10, 1, 1, 30, 900, 27000]);
    }
    Ok(())
}

#[test]
fn lengths_that_do_not_match_are_errors() {
    let data = Array::from(vec![1i64, 2, 3, 4]);
    let sum = |lengths: Vec<i64>| Segmented::new(&Array::from(lengths), &data).sum();
    let cases = [
        (vec![2, -1, 3], -1, 2),
        (vec![1, 2], 3, 4),
        (vec![1, 9], 9, 3),
        // Without the oversized segment, the others fit.
        (vec![5, 4], 5, 4),
        (vec![1, 9, 3], 9, 3),
        (vec![], 0, 4),
    ];
    for engine in engines() {
        for (lengths, needed, room) in &cases {
            let error = sum(lengths.clone())
                .force_with(&engine)
                .expect_err("no match");
            assert_eq!(error.combinator, "sum");
            let (needed, room) = (*needed, *room);
            assert_eq!(
                error.kind,
                ErrorKind::Segments { needed, room },
                "{lengths:?}"
            );
        }
        let empty = Segmented::from_vecs(vec![vec![1i64], vec![]]).max();
        let error = empty.force_with(&engine).expect_err("an empty segment");
        assert_eq!(error.kind, ErrorKind::Empty);
        let values = Array::from(vec![1i64, 2, 3]);
        let lengths = Array::from(vec![1u64, 2]);
        assert!(
            Segmented::replicate(&lengths, &values)
                .data()
                .force_with(&engine)
                .is_err()
        );
    }
}

#[test]
fn one_descriptor_may_be_as_long_as_the_data() -> Result<()> {
    // Two classes with equal lengths by accident must stay distinct.
    for engine in engines() {
        let (lengths, data) = (Array::from(vec![2u64, 0, 1]), Array::from(vec![5i64, 6, 7]));
        let rows = Segmented::new(&lengths, &data);
        let (sums, total) = (&rows.sum(), &data.sum()).force_with(&engine)?;
        assert_eq!((&sums[..], total), (&[11, 0, 7][..], 18));
        let kept = rows.filter(|x| x.ne(6));
        let (data, counts) = (kept.data(), kept.lengths()).force_with(&engine)?;
        assert_eq!((&data[..], &counts[..]), (&[5, 7][..], &[1, 0, 1][..]));
        let shares = rows.zip_with_each(&rows.sum(), |x, s| s - x);
        assert_eq!(shares.data().force_with(&engine)?, [6, 5, 0]);
        let twice = Segmented::new(&Array::from(vec![1u64, 2]), rows.data());
        let (a, b) = (&rows.sum(), &twice.sum()).force_with(&engine)?;
        assert_eq!((&a[..], &b[..]), (&[11, 0, 7][..], &[5, 13][..]));
    }
    Ok(())
}

#[test]
fn lengths_of_what_is_kept_with_other_data() -> Result<()> {
    for engine in engines() {
        let lengths = Array::from(vec![3u64, 2]);
        let tags = Array::from(vec![true, false, true, false, true]);
        let kept = Segmented::new(&lengths, &iota(5)).pack(&tags);
        // As many elements as are kept, from another array.
        let others = Segmented::new(kept.lengths(), &Array::from(vec![7i64, 9, 8]));
        assert_eq!(others.max().force_with(&engine)?, [9, 8]);
        assert_eq!(others.fold1(|a, _| a).force_with(&engine)?, [7, 8]);
        assert_eq!(
            others.scan(0, |a, b| a + b).data().force_with(&engine)?,
            [7, 16, 8]
        );
        assert_eq!(others.local_indices().force_with(&engine)?, [0, 1, 0]);
    }
    Ok(())
}

#[test]
fn counts_in_one_loop_and_their_use_in_the_next() -> Result<()> {
    for engine in engines() {
        let numbers = Array::from(vec![5i64, 7, 9, 6, 1, 9, 0, 14, 2]);
        let lengths = Array::from(vec![7u64, 2]);
        let running = Segmented::new(&lengths, &numbers).scan_exclusive(0, |a, b| a + b);
        let tags = lengths.map(|n| n.gt(0));
        let counts = Segmented::new(&Array::from(vec![2u64]), &lengths).pack(&tags);
        // The captured total is known only after the first loop.
        let total = numbers.sum();
        let data = Array::from(vec![7i64, 2]);
        let joined = Segmented::new(counts.lengths(), &data).fold1(|a, b| a + b + &total);
        let (joined, running) = (&joined, running.data()).force_with(&engine)?;
        assert_eq!(joined, [7 + 2 + 53]);
        assert_eq!(running, [0, 5, 12, 21, 27, 28, 37, 0, 14]);
    }
    Ok(())
}

#[test]
fn a_filter_of_what_segments_fold_to() -> Result<()> {
    for engine in engines() {
        let rows = Segmented::from_vecs(vec![vec![1i64, 2], vec![], vec![5]]);
        let sums = rows.sum();
        let some = sums.take_while(|x| x.gt(0)).map(|x| x + 1);
        let large = sums.filter(|x| x.gt(0)).map(|x| x - 1);
        let (some, large) = (&some, &large).force_with(&engine)?;
        assert_eq!((&some[..], &large[..]), (&[4][..], &[2, 4][..]));
    }
    Ok(())
}

#[test]
fn lengths_beyond_all_data_are_an_error_at_once() {
    for engine in engines() {
        // As many lengths as elements: the data is read at the segments' rate.
        let lengths = Array::from(vec![1u64, 1 << 47, 1]);
        let rows = Segmented::new(&lengths, &Array::from(vec![1i64, 2, 3]));
        let error = rows.sum().force_with(&engine).expect_err("far too long");
        let (needed, room) = (1 << 47, 2);
        assert_eq!(error.kind, ErrorKind::Segments { needed, room });
    }
}

#[test]
fn a_loop_that_is_left_early_counts_nothing_at_its_end() -> Result<()> {
    for engine in engines() {
        let rows = || Segmented::from_vecs(vec![vec![3i64, 1], vec![4], vec![1, 1], vec![7]]);
        let sums = rows().sum().take_while(|x| x.ge(4));
        assert_eq!(sums.force_with(&engine)?, [4, 4]);
        assert_eq!(rows().sum().position(|x| x.lt(4)).force_with(&engine)?, 2);
    }
    Ok(())
}

#[test]
fn data_beside_what_is_kept_is_as_long_as_that() -> Result<()> {
    for engine in engines() {
        // Nothing is kept, and there is no data: the filtered segments are longer.
        let lengths = Array::from(vec![0u64, 2, 1]);
        let kept = Segmented::new(&lengths, &iota(3)).filter(|x| x.gt(9));
        let others = Segmented::new(kept.lengths(), &Array::from(Vec::<i64>::new()));
        assert_eq!(others.sum().force_with(&engine)?, [0, 0, 0]);
        assert_eq!(
            others.fold_seq(4, |a, b| a - b).force_with(&engine)?,
            [4, 4, 4]
        );
    }
    Ok(())
}

/// A generator is not evaluated beyond its own length. The error blames the segment lengths.
#[test]
fn indices_past_the_end_are_not_computed() -> Result<()> {
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        let count = Array::from(vec![1u64, 2]).sum();
        let quotients = generate(&count, |i| 100u64 / (3u64 - i));
        for (lengths, fits) in [(vec![2u64, 2], false), (vec![9], false), (vec![2, 1], true)] {
            let rows = Segmented::new(&Array::from(lengths), &quotients);
            let sums = rows.sum().force_with(&engine);
            let kind = sums.err().map(|e| e.kind);
            let told = matches!(kind, Some(livefusion::ErrorKind::Segments { .. }));
            assert_eq!((told, kind.is_none()), (!fits, fits), "{kind:?}");
        }
    }
    Ok(())
}

/// An array of an earlier loop has its actual length. Elements beyond its end are not read, and the
/// error blames the segment lengths.
#[test]
fn segments_are_not_read_past_the_end_of_their_data() -> Result<()> {
    let pairs = Array::from(
        (0..15i32)
            .map(|x| (i64::from(x), 2 * x))
            .collect::<Vec<_>>(),
    );
    let ends = generate(1, |_| 15u64);
    let one = Segmented::new(&ends, &pairs).fold((1, 9), |(a, b), (c, d)| (a | c, b + d));
    let costly = pairs
        .filter(|(x, _)| x.ge(0))
        .map(|(x, _)| x.cast::<f64>().exp().cast::<i64>());
    let read = generate(1, |i| one.at(i).1);
    for (lengths, fits) in [(vec![1u64, 1], false), (vec![2], false), (vec![0, 1], true)] {
        for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
            let rows = Segmented::new(&Array::from(lengths.clone()), &one);
            let scan = rows.scan_seq((7, 0), |_, _| (costly.at(0), Exp::lit(0)));
            let kind = (scan.data(), &read)
                .force_with(&engine)
                .err()
                .map(|e| e.kind);
            let told = matches!(kind, Some(livefusion::ErrorKind::Segments { .. }));
            assert_eq!((told, kind.is_none()), (!fits, fits), "{kind:?}");
        }
    }
    Ok(())
}

/// As many segments as tags: both have one length, which says nothing about the elements.
#[test]
fn tags_end_where_they_end() {
    for engine in engines() {
        for (lengths, needed) in [(vec![1000u64], 1000), (vec![1, 2], 2), (vec![2, 2, 0], 2)] {
            let tags = Array::from(vec![false; lengths.len()]);
            let beside = Array::from(vec![0i8; 4]);
            let lengths = Array::from(lengths);
            let counts = Builder::named("count").count_tags(lengths.node(), tags.node());
            let both = Builder::named("zip").zip_shortest(&[counts.clone(), beside.node().clone()]);
            for node in [counts, both] {
                let error = force_nodes(&engine, &[node]).map(|_| ()).unwrap_err();
                let is_it =
                    matches!(error.kind, ErrorKind::Segments { needed: n, .. } if n == needed);
                assert!(is_it, "{error}");
            }
        }
    }
}

#[test]
fn from_vecs_to_vecs_and_len__of_empty_segments__keep_each() -> Result<()> {
    for rows in [
        vec![],
        vec![vec![]],
        vec![vec![3i64]],
        vec![vec![], vec![3, 1], vec![], vec![2]],
    ] {
        let segments = Segmented::from_vecs(rows.clone());
        assert_eq!(segments.len().force()?, rows.len() as u64);
        assert_eq!(segments.concat().to_vec()?, rows.concat());
        assert_eq!(segments.to_vecs()?, rows);
    }
    let short = Segmented::new(&Array::from(vec![2u64, 2]), &Array::from(vec![1i64, 2, 3]));
    let error = short.to_vecs().expect_err("three elements of four");
    assert!(matches!(error.kind, ErrorKind::Segments { .. }), "{error}");
    Ok(())
}

#[test]
fn from_offsets__of_some_rows__cuts_between_offsets() -> Result<()> {
    let data = Array::from(vec![1i64, 2, 3, 4]);
    for engine in engines() {
        let sums = |offsets: Vec<i32>, skip: u64| {
            let rows = Segmented::from_offsets(&Array::from(offsets), &data.drop(skip));
            rows.sum().force_with(&engine)
        };
        assert_eq!(sums(vec![0, 1, 1, 4], 0)?, [1, 0, 9]);
        assert_eq!(sums(vec![1, 3, 4], 1)?, [5, 4]);
        assert_eq!(sums(vec![4], 4)?, []);
        for wrong in [vec![0, 3, 1, 4], vec![0, 1, 3], vec![0, 5]] {
            let error = sums(wrong, 0).expect_err("offsets that do not fit");
            assert!(matches!(error.kind, ErrorKind::Segments { .. }), "{error}");
        }
    }
    Ok(())
}

#[test]
fn with_data__of_another_type__keeps_the_lengths() -> Result<()> {
    let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    let halves = rows.with_data(Array::from(vec![0.5f64, 1.5, 2.5]));
    assert_eq!(halves.to_vecs()?, [vec![0.5, 1.5], vec![], vec![2.5]]);
    let few = rows.with_data(Array::from(vec![true]));
    let error = few.to_vecs().expect_err("one element of three");
    assert!(matches!(error.kind, ErrorKind::Segments { .. }), "{error}");
    Ok(())
}

#[test]
fn from_nodes__of_another_type__is_an_error() -> Result<()> {
    let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![2]]);
    let same = Segmented::<i64>::from_nodes(rows.nodes())?;
    assert_eq!(same.to_vecs()?, [vec![3, 1], vec![2]]);
    let other = Segmented::<u8>::from_nodes(rows.nodes()).expect_err("another type");
    assert!(
        other.to_string().contains("expected u8 of rank 1"),
        "{other}"
    );
    Ok(())
}

#[test]
fn broadcast_local_indices_and_flatten__of_segments__are_plain_loops() -> Result<()> {
    let rows = vec![vec![3i64, 1], vec![], vec![5], vec![2, 2, 7]];
    for engine in engines() {
        let segments = Segmented::from_vecs(rows.clone());
        let values = Array::from(vec![10i64, 20, 30, 40]);
        let spread = segments.broadcast(&values);
        let places = segments.local_indices();
        let (spread, places) = (&spread, &places).force_with(&engine)?;
        assert_eq!(spread, [10, 10, 30, 40, 40, 40]);
        assert_eq!(places, [0, 1, 0, 0, 1, 2]);
        let few = segments.broadcast(&values.take(3)).force_with(&engine);
        let error = few.expect_err("three values for four segments");
        assert!(
            matches!(error.kind, ErrorKind::LengthMismatch { .. }),
            "{error}"
        );
        let joined = segments.flatten(&Array::from(vec![3u64, 0, 1]));
        assert_eq!(joined.lengths().force_with(&engine)?, [3, 0, 3]);
        assert_eq!(joined.sum().force_with(&engine)?, [9, 0, 11]);
        let wrong = segments.flatten(&Array::from(vec![3u64, 2])).sum();
        assert!(wrong.force_with(&engine).is_err());
    }
    Ok(())
}

#[test]
fn from_uniform_and_to_segmented__of_one_length__cut_evenly() -> Result<()> {
    let xs = Array::from((0..6).collect::<Vec<i64>>());
    let rows = Segmented::from_uniform(3, &xs);
    assert_eq!(rows.sum().force()?, [3, 12]);
    let n = xs.filter(|x| x.gt(2)).len();
    assert_eq!(
        Segmented::from_uniform(&n, &xs).to_vecs()?,
        [vec![0, 1, 2], vec![3, 4, 5]]
    );
    for wrong in [4, 0, -1] {
        let sum = Segmented::from_uniform(wrong, &xs).sum();
        assert!(sum.force().is_err(), "{wrong}");
    }
    let none = Segmented::from_uniform(4, &xs.take(0));
    assert_eq!(none.to_vecs()?, Vec::<Vec<i64>>::new());
    for (n, m) in [(0, 3), (2, 0), (1, 1), (2, 3)] {
        let all: Vec<i64> = (0..n * m).map(|x| x * x).collect();
        let matrix = Array::from_vec((n, m), all.clone());
        let rows = (0..n).map(|i| all[(i * m) as usize..((i + 1) * m) as usize].to_vec());
        assert_eq!(matrix.to_segmented().to_vecs()?, rows.collect::<Vec<_>>());
        let sums = matrix.to_segmented().sum();
        assert_eq!(sums.force()?, matrix.along(1).sum().force()?);
    }
    Ok(())
}
