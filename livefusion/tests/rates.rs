//! Derived rates that are used again.
//!
//! Covered: folds of segments that are cut, traversed twice and read again, and filtered arrays
//! zipped with data of their length. Each program must equal plain Rust, for any order of its
//! results, on every engine and under every clustering.

use livefusion::ast::{BodyBuilder, Builder, Node};
use livefusion::custom::{Combinator, Output, Template};
use livefusion::prelude::*;
use livefusion::{Clustering, ErrorKind, Result};
use livefusion_interp::InterpBackend;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

fn engines() -> Vec<Engine> {
    let interp = |clustering| {
        let backend = Arc::new(InterpBackend::new());
        let engine = Engine::builder().backend(backend);
        engine.clustering(clustering).build()
    };
    vec![
        interp(Clustering::Unfused),
        interp(Clustering::Greedy),
        interp(Clustering::default()),
        Engine::jit(),
    ]
}

/// Forces two results together, in both orders.
fn both<A: Force, B: Force>(
    results: impl Fn() -> (A, B),
    check: impl Fn(A::Out, B::Out),
) -> Result<()> {
    for engine in engines() {
        let (a, b) = results();
        let (a, b) = (a, b).force_with(&engine)?;
        check(a, b);
        let (a, b) = results();
        let (b, a) = (b, a).force_with(&engine)?;
        check(a, b);
    }
    Ok(())
}

/// The number of loops under the default clustering.
fn loops(roots: &[&Arc<Node>]) -> usize {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| Arc::clone(r)).collect();
    let e = Engine::interp().explain(&roots).expect("it can be planned");
    e.loops.len()
}

fn cells() -> Segmented<f64> {
    Segmented::from_vecs(vec![vec![1.0f64, 2.0], vec![3.0], vec![4.0, 5.0]])
}

/// Each cell's share of its group.
fn shares(cells: &Segmented<f64>) -> Segmented<f64> {
    let groups = Segmented::new(&Array::from(vec![2u64, 1]), &cells.sum());
    groups.zip_with_each(&groups.sum(), |a, t| a / t)
}

#[test]
fn sums_of_segments_that_are_cut_passed_over_twice_and_read_again() -> Result<()> {
    let build = || {
        let cells = cells();
        (shares(&cells).data().clone(), cells.sum().sum())
    };
    let (a, b) = build();
    assert_eq!(loops(&[a.node(), b.node()]), 1);
    both(build, |shares, total| {
        assert_eq!(shares, [0.5, 0.5, 1.0]);
        assert_eq!(total, 15.0);
    })
}

#[test]
fn sums_of_segments_that_are_read_again_for_one_result() -> Result<()> {
    for engine in engines() {
        let cells = cells();
        let one = &shares(&cells).data().sum() + &cells.sum().sum();
        assert_eq!(one.force_with(&engine)?, 17.0);
    }
    Ok(())
}

#[test]
fn a_scan_and_a_filter_of_what_was_passed_over_twice() -> Result<()> {
    let build = || {
        let cells = cells();
        let shares = shares(&cells);
        let running = cells.sum().scan(0.0, |a, b| a + b);
        let large = cells.sum().filter(|x| x.gt(3.0)).map(|x| x - 1.0);
        ((shares.data().clone(), running), large)
    };
    both(build, |(shares, running), large| {
        assert_eq!(shares, [0.5, 0.5, 1.0]);
        assert_eq!(running, [3.0, 6.0, 15.0]);
        assert_eq!(large, [8.0]);
    })
}

#[test]
fn three_levels_of_segments_each_passed_over_twice() -> Result<()> {
    let build = || {
        let cells = cells();
        let rows = cells.zip_with_each(&cells.sum(), |x, t| x / t);
        let groups = Segmented::new(&Array::from(vec![2u64, 1]), &cells.sum());
        let parts = groups.zip_with_each(&groups.sum(), |a, t| a / t);
        let all = Segmented::new(&Array::from(vec![2u64]), &groups.sum());
        let shares = all.zip_with_each(&all.sum(), |g, t| g / t);
        let rest = (cells.sum().sum(), groups.sum().max());
        (
            (rows.data().sum(), parts.data().clone()),
            (shares.data().clone(), rest),
        )
    };
    both(build, |(rows, parts), (shares, (total, most))| {
        assert_eq!(rows, 3.0);
        assert_eq!(parts, [0.5, 0.5, 1.0]);
        assert_eq!(shares, [0.4, 0.6]);
        assert_eq!((total, most), (15.0, 9.0));
    })
}

/// Rows of kept elements: `[1, 2], [], [3]`.
fn kept() -> Segmented<f64> {
    let rows = Segmented::from_vecs(vec![vec![1.0f64, 2.0], vec![0.0], vec![3.0, 0.0]]);
    rows.filter(|a| a.ne(0.0))
}

#[test]
fn rate_of_filtered_segments_beside_data_of_their_length() -> Result<()> {
    let tens = || Array::from(vec![10.0; 3]);
    let build = || {
        let kept = kept();
        let shares = kept.zip_with_each(&kept.sum(), |a, t| a / t);
        (shares.data() * &tens(), kept.data() + &tens())
    };
    both(build, |shares, sums| {
        assert_eq!(shares, [1.0 / 3.0 * 10.0, 2.0 / 3.0 * 10.0, 10.0]);
        assert_eq!(sums, [11.0, 12.0, 13.0]);
    })
}

#[test]
fn rate_of_packed_segments_beside_data_of_their_length() -> Result<()> {
    let build = || {
        let lengths = Array::from(vec![3u64, 2]);
        let rows = Segmented::new(&lengths, &Array::from(vec![5i64, 6, 7, 8, 9]));
        let tags = Array::from(vec![true, false, true, false, true]);
        let kept = rows.pack(&tags);
        let others = Array::from(vec![1i64, 2, 3]);
        let turns = kept.data().interleave(&others);
        ((kept.sum(), kept.data() * &others), turns)
    };
    both(build, |(sums, products), turns| {
        assert_eq!(sums, [12, 9]);
        assert_eq!(products, [5, 14, 27]);
        assert_eq!(turns, [5, 1, 7, 2, 9, 3]);
    })
}

#[test]
fn rate_of_filtered_segments_scattered_at_indices() -> Result<()> {
    let build = || {
        let indices = Array::from(vec![2u64, 0, 2]);
        let kept = kept();
        let put = Array::from(vec![0.5f64; 4]).scatter(&indices, kept.data());
        let added = kept.data().reduce_by_index(
            &indices,
            Bins {
                count: 3,
                start: 0.0,
            },
            |a, b| a + b,
        );
        (put, (added, kept.sum()))
    };
    both(build, |put, (added, sums)| {
        assert_eq!(put, [2.0, 0.5, 3.0, 0.5]);
        assert_eq!(added, [2.0, 0.0, 4.0]);
        assert_eq!(sums, [3.0, 0.0, 3.0]);
    })
}

#[test]
fn a_check_of_one_class_does_not_meet_the_length_of_another() -> Result<()> {
    // As many lengths as kept elements, and as taken elements.
    let xs = || Array::from(vec![1.0f64, 2.0, 3.0, 4.0, 5.0]);
    let other = || Array::from(vec![10.0f64, 20.0]);
    let build = |part: fn(&Array<f64>) -> Array<f64>| {
        move || {
            let xs = xs();
            let sums = Segmented::new(&Array::from(vec![2u64, 3]), &xs).sum();
            let part = part(&xs).zip_with(&other(), |a, b| a + b);
            (sums, part)
        }
    };
    both(build(|xs| xs.filter(|x| x.gt(3.0))), |sums, part| {
        assert_eq!(
            (&sums[..], &part[..]),
            (&[3.0, 12.0][..], &[14.0, 25.0][..])
        );
    })?;
    both(build(|xs| xs.take_while(|x| x.lt(3.0))), |sums, part| {
        assert_eq!(
            (&sums[..], &part[..]),
            (&[3.0, 12.0][..], &[11.0, 22.0][..])
        );
    })
}

#[test]
fn data_that_is_not_as_long_as_what_is_kept_is_an_error() {
    for engine in engines() {
        for n in [0u64, 2, 4, 5] {
            let with = Array::from(vec![1.0f64; n as usize]);
            let zipped = kept().data() + &with;
            let error = zipped.force_with(&engine).expect_err("three are kept");
            let mismatch = matches!(error.kind, ErrorKind::LengthMismatch { .. });
            assert!(mismatch, "{n}: {error}");
            let cut = Segmented::new(kept().lengths(), &with);
            let error = cut.sum().force_with(&engine).expect_err("three are kept");
            let segments = matches!(error.kind, ErrorKind::Segments { .. });
            assert!(segments, "{n}: {error}");
        }
    }
}

#[test]
fn one_array_of_lengths_at_two_rates() -> Result<()> {
    // As many lengths as their own sum: the same array serves as lengths and as an input next to
    // the elements.
    let build = || {
        let lengths = Array::from(vec![0u64, 1, 3, 0]);
        let rows = Segmented::new(&lengths, &Array::from(vec![2u64, 3, 2, 3]));
        let running = rows.scan(0, |a, b| a.max(b));
        let (again, _) = lengths.zip(running.data()).unzip();
        (
            Segmented::new(&again, &lengths).fold(0, |a, b| a.max(b)),
            running.data().clone(),
        )
    };
    both(build, |most, running| {
        assert_eq!(most, [0, 0, 3, 0]);
        assert_eq!(running, [2, 3, 3, 3]);
    })
}

#[test]
fn as_many_as_an_array_that_nobody_keeps() -> Result<()> {
    for engine in engines() {
        let n = Array::from(vec![1i64, 0, 2]).map(|x| x * x).len();
        let fives = generate(&n, |_| 5i64);
        let sums = Segmented::new(&Array::from(vec![2u64, 1]), &fives).sum();
        assert_eq!(sums.force_with(&engine)?, [10, 5]);
    }
    Ok(())
}

/// Neither the elements nor their source are stored. A count has their number.
#[test]
fn segments_of_as_many_as_what_is_made_of_what_nobody_keeps() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![7i64, 8]);
        // A trapping map is computed once, in the loop of its other consumer.
        let made = xs.map(|x| (x * 3, 100 / x));
        let below = made.map(|m| (0i64, m.1));
        let beside = xs.zip_with(&made, |x, m| x + m.0);
        let copies = generate(below.len(), |i| (0i64, below.at(0u64 - i).1));
        let flags = copies.map(|_| false);
        let rows = Segmented::new(&Array::from(vec![2u64]), &flags);
        let counts = rows.pack(&flags).lengths().clone();
        let (beside, counts) = (&beside, &counts).force_with(&engine)?;
        assert_eq!(beside, [28, 32]);
        assert_eq!(counts, [0]);
    }
    Ok(())
}

/// The identity combinator.
#[derive(Debug)]
struct Same;

impl Combinator for Same {
    fn name(&self) -> &'static str {
        "same"
    }
    fn output(&self, input: &[Ty]) -> Option<Output> {
        Some(Output::InStep(input.to_vec()))
    }
    fn fill(&self, t: &mut Template<'_, '_>) -> Result<()> {
        let x = t.element(0)?;
        t.give(0, x)
    }
}

#[test]
fn a_combinator_of_a_users_is_as_long_as_its_input() {
    for engine in engines() {
        let three = Array::from(vec![1i64, 2, 3]).filter(|x| x.gt(0)).len();
        let same: Array<u64> = generate(&three, |i| i).custom(Same);
        let error = (&same + &Array::from(vec![1u64, 2])).force_with(&engine);
        let kind = error.expect_err("three and two").kind;
        let (expected, got) = (3, 2);
        assert_eq!(kind, ErrorKind::LengthMismatch { expected, got });
    }
}

#[test]
fn lengths_that_hang_on_the_data_that_they_cut() -> Result<()> {
    // As many of each key as there are keys: the keys run in a loop without segments.
    let build = || {
        let keys = Array::from(vec![1u64, 0, 2, 1, 5, 2]).map(|k| k % 3);
        let ones = keys.map(|_| 1u64);
        let counts = ones.reduce_by_index(
            &keys,
            Bins {
                count: 3,
                start: 0u64,
            },
            |a, b| a + b,
        );
        let places = Array::from(vec![4u64, 5, 6]).map(|x| x + 1);
        let rows = Segmented::new(&counts, &keys);
        ((rows.sum(), keys.max()), (places.sum(), &places + &counts))
    };
    both(build, |(sums, most), (places, moved)| {
        assert_eq!((&sums[..], most), (&[1, 2, 5][..], 2));
        assert_eq!((places, &moved[..]), (18, &[6, 8, 10][..]));
    })?;
    // Lengths that read the data at random.
    let build = || {
        let ranks = generate(4u64, |i| (i * i) % 3);
        let picks = Array::from(vec![1u64, 1]);
        let lengths = picks.map(|i| ranks.at(i) + i);
        let rows = Segmented::new(&lengths, &ranks);
        (
            picks.map(|i| i + 3),
            rows.scan_exclusive(1, |a, b| a + b).data().clone(),
        )
    };
    both(build, |picks, running| {
        assert_eq!(picks, [4, 4]);
        assert_eq!(running, [1, 1, 1, 2]);
    })
}

#[test]
fn columns_under_another_name_at_another_class() -> Result<()> {
    let build = || {
        let spread = Segmented::replicate(&Array::from(vec![2u64]), &Array::from(vec![5u64]));
        let numbers = Array::from(vec![7u64, 8]);
        let running = Segmented::new(&Array::from(vec![2u64]), &numbers);
        let running = running.scan_exclusive(0, |a, b| a + b);
        let (_, again) = Array::from(vec![1u64, 2]).zip(spread.data()).unzip();
        let rows = Segmented::new(&Array::from(vec![2u64, 0]), &again);
        let kept = rows.pack(&again.map(|x| x.gt(1)));
        let others = Segmented::new(kept.lengths(), &Array::from(vec![4u64, 6]));
        (running.data().clone(), others.sum())
    };
    both(build, |running, sums| {
        assert_eq!(running, [0, 7]);
        assert_eq!(sums, [10, 0]);
    })
}

#[test]
fn lengths_that_a_scatter_makes_are_complete_before_their_elements() -> Result<()> {
    let build = || {
        let indices = Array::from(vec![1u64, 0]);
        let lengths = Array::from(vec![0u64, 0]).scatter(&indices, &Array::from(vec![1u64, 2]));
        let data = Array::from(vec![3u64, 4, 5]);
        let kept = Segmented::new(&lengths, &data).pack(&data.map(|x| x.ne(4)));
        let others = Segmented::new(kept.lengths(), &Array::from(vec![4u64, 6]));
        (kept.lengths().clone(), others.sum())
    };
    both(build, |counts, sums| {
        assert_eq!(counts, [1, 1]);
        assert_eq!(sums, [4, 6]);
    })
}

#[test]
fn a_subrate_is_had_by_those_in_whose_loop_it_is_made() -> Result<()> {
    // As many elements are kept as there are segments, so an array that was broadcast over them may
    // be broadcast again.
    for engine in engines() {
        let rows = Segmented::from_vecs(vec![vec![1u64, 0], vec![2]]);
        let kept = rows.pack(&Array::from(vec![true, false, true]));
        let spread = kept.broadcast(&Array::from(vec![7u64, 8]));
        let running = kept.lengths().scan(0u64, |a, b| a.max(b).max(a));
        let mut f = BodyBuilder::new(&[Ty::U64; 3]);
        let sum = [1, 2].map(|k| f.param(k));
        let sum = f.op(Op::Add, &sum);
        let values = [spread.node().clone(), running.node().clone()];
        let builder = Builder::named("spread_again");
        let again = builder.expand(kept.lengths().node(), &values, f.finish(&[sum]));
        let again: Array<u64> = Array::from_node(again)?;
        assert_eq!(again.force_with(&engine)?, [8, 9]);
    }
    Ok(())
}

#[test]
fn sides_of_a_zip_over_what_is_cut_elsewhere() -> Result<()> {
    let build = || {
        let (xs, ys) = (Array::from(vec![3i64, 1, 4]), Array::from(vec![1i64, 5, 9]));
        let most = xs.zip_with(&ys, |x, y| x.max(y));
        let zipped = xs.filter(|x| x.gt(0)).zip_with(&most, |x, m| x + m);
        let others = Array::from(vec![1i64, 2, 3]);
        let running = Segmented::new(&Array::from(vec![3u64]), &others);
        let running = running.scan(0, |a, b| a + b);
        (zipped, running.data().clone())
    };
    both(build, |zipped, running| {
        assert_eq!(zipped, [6, 6, 13]);
        assert_eq!(running, [1, 3, 6]);
    })
}

#[test]
fn as_many_as_a_generator_that_counts_what_is_kept() -> Result<()> {
    let build = || {
        let kept = Array::from(vec![1.0f64, -2.0, 3.0]).filter(|x| x.gt(0.0));
        let zeros = generate(kept.len(), |_| 0.0f64);
        let base = generate(zeros.len(), |i| {
            i.cast::<f64>().exp().sin().exp().cos().tan()
        });
        base.scatter(&Array::from(vec![1u64, 0]), &kept)
    };
    for engine in engines() {
        assert_eq!(build().force_with(&engine)?, [3.0, 1.0]);
    }
    Ok(())
}

#[test]
fn lengths_as_many_as_a_zip_that_nobody_keeps() -> Result<()> {
    let build = || {
        let none = Array::from(Vec::<u64>::new());
        let kept = Array::from(vec![1i64]).filter(|x| x.gt(1));
        let zipped = Array::from(Vec::<u64>::new()).zip_with(&kept, |_, _| 0u64);
        let zeros = generate(zipped.len(), |_| 0.0f64);
        let lengths = zeros.map(|_| 0u64);
        let data = Array::from(Vec::<f64>::new());
        (none.map(|_| 0u64), Segmented::new(&lengths, &data).sum())
    };
    both(build, |zeros, sums| {
        assert_eq!(zeros, [0u64; 0]);
        assert_eq!(sums, [0.0; 0]);
    })
}

/// Arrays of length `n`, one of each kind with a length of its own.
fn of_length(n: u64) -> Vec<Array<f64>> {
    let memory = Array::from((0..n).map(|i| i as f64).collect::<Vec<_>>());
    let long = Array::from((0..100).map(f64::from).collect::<Vec<_>>());
    let count = Array::from(vec![1u64; n as usize]).sum();
    let computed = generate(&count, |i| i.cast::<f64>());
    vec![
        memory.clone(),
        memory.map(|x| x + 1.0),
        memory.reverse(),
        generate(n, |i| i.cast::<f64>()),
        computed.clone(),
        computed.map(|x| x * 2.0),
        long.slice(7..7 + n),
        long.slice(7..7 + n).map(|x| x * 2.0),
    ]
}

/// Zipped arrays have one class. If an earlier loop stores one of them, it checks the array's
/// length against its own iteration count.
#[test]
fn arrays_that_are_kept_apart_from_their_zip_have_their_own_lengths() {
    type Program = fn(&Engine, &Array<f64>, &Array<f64>) -> Result<()>;
    let programs: [Program; 6] = [
        |e, x, y| {
            let s = x.sum();
            let z = x.zip_with(y, |a, b| a + b + &s);
            (y.sum(), z).force_with(e).map(drop)
        },
        |e, x, y| {
            let s = x.sum();
            let z = x.zip_with(y, |a, b| a + b + &s);
            (y.map(|v| v * 3.0), z).force_with(e).map(drop)
        },
        |e, x, y| {
            let s = y.sum();
            let z = x.zip_with(y, |a, b| a + b + &s);
            (x.map(|v| v * 3.0), y.scan(0.0, |a, b| a + b), z)
                .force_with(e)
                .map(drop)
        },
        |e, x, y| {
            let z = x.zip_with(y, |a, _| a + y.at(0));
            (y, x, z).force_with(e).map(drop)
        },
        |e, x, y| {
            let rows = Segmented::new(&Array::from(vec![1u64, 2]), x);
            let z = x.zip_with(y, |a, _| a + y.at(0));
            (rows.sum(), y.sum(), z).force_with(e).map(drop)
        },
        |e, x, y| {
            let rows = Segmented::new(&Array::from(vec![2u64, 1]), x);
            let z = y.zip_with(x, |b, _| b + x.at(0));
            (rows.sum(), y.map(|v| v + 1.0), z).force_with(e).map(drop)
        },
    ];
    for engine in engines() {
        for (i, x) in of_length(3).iter().enumerate() {
            for (j, y) in of_length(5).iter().enumerate() {
                for (k, program) in programs.iter().enumerate() {
                    let error = program(&engine, x, y).expect_err("they differ");
                    let lengths = match &error.kind {
                        ErrorKind::LengthMismatch { expected, got } => (*expected).min(*got) == 3,
                        ErrorKind::Segments { .. } => true,
                        _ => false,
                    };
                    assert!(lengths, "program {k} of {i} and {j}: {error}");
                    let zip = error.combinator == "zip_with";
                    let segments = k >= 4 && error.combinator == "sum";
                    assert!(zip || segments, "program {k} of {i} and {j}: {error}");
                    program(&engine, x, &of_length(3)[j]).expect("they are equally long");
                }
            }
        }
    }
}

/// The base of a scatter exists before the loop, and so does its length.
#[test]
fn a_base_is_as_long_as_what_a_loop_has_to_count() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
        let kept = xs.pack(&Array::from(vec![true, false, true]));
        let zeros = generate(kept.len(), |_| 0.0);
        let rows = Segmented::new(&Array::from(vec![1u64, 0, 1]), &zeros);
        let put = zeros.scatter(&Array::from(vec![0u64, 1, 1]), &xs);
        let (sums, put) = (rows.scan(1.0, |a, b| a + b).data(), &put).force_with(&engine)?;
        assert_eq!(sums.len(), 2);
        assert_eq!(put, [1.0, 3.0]);
    }
    Ok(())
}

/// A base that is also a result is copied. A consumer of its length alone does not force it into
/// memory.
#[test]
fn a_base_that_is_a_result_too_is_copied() -> Result<()> {
    for engine in engines() {
        let rows = Segmented::from_vecs(vec![vec![1.0f64], vec![2.0, 3.0]]);
        let zeros = generate(rows.sum().len(), |_| 0.0);
        let put = zeros.scatter(&Array::from(vec![1u64]), &Array::from(vec![7.0]));
        let (zeros, put) = (&zeros, &put).force_with(&engine)?;
        assert_eq!(zeros, [0.0, 0.0]);
        assert_eq!(put, [0.0, 7.0]);
    }
    Ok(())
}

/// An operator that reads an array runs at the values' rate, also deep within segments.
#[test]
fn an_operator_that_reads_runs_within_segments() -> Result<()> {
    for engine in engines() {
        let ones = Array::from(vec![1u64]);
        let values = Segmented::replicate(&ones, &Array::from(vec![5i64]));
        let base = Array::from(vec![1i64]);
        let values = values.data();
        let put = base.scatter_with(&Array::from(vec![0u64]), values, |_, _| values.at(0));
        // The segments have as many elements as the values' source, so all of them are in one loop.
        let counts = |flags: &Array<bool>| {
            let rows = Segmented::new(&Array::from(Vec::<u64>::new()), flags);
            rows.pack(flags).lengths().clone()
        };
        let (large, none) = (values.map(|x| x.gt(2)), Array::from(vec![false]));
        let error = (&put, counts(&none), counts(&large)).force_with(&engine);
        let error = error.expect_err("no segment has an element");
        assert!(matches!(error.kind, ErrorKind::Segments { .. }), "{error}");
        assert_eq!(put.force_with(&engine)?, [5]);
    }
    Ok(())
}

/// The error names the zip, not the combinator that cuts the same array into segments.
#[test]
fn a_length_that_differs_is_told_of_the_zip() -> Result<()> {
    for engine in engines() {
        let ones = Array::from(vec![1.0f64]);
        let kept = ones.filter(|x| x.gt(0.0));
        let packed = ones.map(|x| x + 1.0).pack(&Array::from(vec![true]));
        let both = packed.zip_with(&kept, |a, b| a + b);
        let sums = Segmented::new(&Array::from(vec![1u64]), &both).sum();
        let count = Array::from(vec![0u64]).sum();
        let none = generate(&count, |i| i);
        let cut = Segmented::new(&Array::from(vec![0u64]), &none).sum();
        let total = none.sum();
        let zipped = none.zip_with(&both, |a, _| a + &total);
        let error = (&zipped, &cut, &kept, &sums, &packed).force_with(&engine);
        let error = error.expect_err("none and one");
        assert_eq!(error.combinator, "zip_with", "{error}");
        (&cut, &kept, &sums, &packed).force_with(&engine)?;
    }
    Ok(())
}

/// Segment lengths of a filtered array are in memory. The filter itself is rematerialised and leads
/// to the root.
#[test]
fn a_filter_above_lengths_in_memory_leads_to_the_root() -> Result<()> {
    for engine in engines() {
        let none = || Array::from(Vec::<u64>::new());
        let zeros = none().map(|_| 0u64);
        let sums = Segmented::new(&zeros, &zeros).sum();
        let ones = Array::from(vec![1u64]);
        let kept = ones.filter(|x| x.gt(1));
        let all = concat([&sums, &ones, &kept]);
        let again = Segmented::new(&kept.map(|x| x % 4), &none()).sum();
        let (all, again) = (&all, &again).force_with(&engine)?;
        assert_eq!((all.to_vec()?, again.to_vec()?), (vec![1], vec![]));
    }
    Ok(())
}

/// The producer of lengths may run over the data that they cut, without segments.
#[test]
fn lengths_that_are_made_over_the_data_that_they_cut() -> Result<()> {
    for engine in engines() {
        let (one, two) = (Array::from(vec![0u64]), Array::from(vec![0u64, 0]));
        let data = two.scatter_with(&one, &one, |_, _| 5u64);
        let lengths = one.scatter_with(&two, &two, |a, b| a + b + 1);
        let sums = Segmented::new(&lengths, &data).scan(0, |a, b| a + b);
        assert_eq!(sums.data().force_with(&engine)?, [5, 5]);
    }
    Ok(())
}

/// Tags may have another class than the elements that they keep. They are read next to these, also
/// by a later loop that could rematerialise the tags for others.
#[test]
fn tags_beside_the_elements_that_they_leave() -> Result<()> {
    for engine in engines() {
        for n in [0usize, 3] {
            let (flags, lengths) = (Array::from(vec![true; n]), Array::from(vec![1u64; n]));
            let tags = flags.map(|_| Exp::lit(true));
            let counts = Segmented::new(&lengths, &tags)
                .pack(&tags)
                .lengths()
                .clone();
            let any = Segmented::new(&counts, &tags).fold(false, |a, b| a.or(b));
            let kept = tags.filter(|t| {
                let first = t.cast::<u64>() - 1;
                let both = while_loop((0u64, t), |(_, _)| false, |(n, t)| (n, t)).1;
                flags.at(first).cond(any.at(first), both)
            });
            let odd = Segmented::new(&counts, &any).fold1(|a, b| a.ne(b));
            let (odd, kept) = (&odd, &kept).force_with(&engine)?;
            assert_eq!(
                (odd.to_vec()?, kept.to_vec()?),
                (vec![true; n], vec![true; n])
            );
        }
    }
    Ok(())
}

/// A later zip may have a length that this loop counts or folds. The loop must not check that
/// length itself.
#[test]
fn a_length_that_a_loop_finds_out_is_not_checked_before_it_runs() -> Result<()> {
    type Part = fn(&Array<u64>) -> Array<u64>;
    let parts: [Part; 2] = [
        |threes| generate(threes.len(), |i| i).slice(0..1),
        |threes| generate(threes.sum() - 2, |i| i),
    ];
    for part in parts {
        let build = || {
            let rows = Segmented::replicate(&Array::from(vec![1u64]), &Array::from(vec![true]));
            let flags = rows.data();
            let again = Segmented::replicate(&flags.map(|x| x.cast::<u64>()), flags);
            let threes = again.data().zip_with(flags, |_, _| 3u64);
            let part = part(&threes);
            let zipped = zip((&threes, &part, &flags.map(|_| 0u64)));
            (zipped, Array::from(vec![true]).append(flags))
        };
        both(build, |zipped, all| {
            assert_eq!(zipped, [(3, 0, 0)]);
            assert_eq!(all, [true, true]);
        })?;
    }
    Ok(())
}

/// Segment lengths outside any loop depend on their captures. The loop over the elements must
/// follow the producers of these captures.
#[test]
fn lengths_in_no_loop_wait_for_what_they_capture() {
    let late = |n: u64| {
        let xs = Array::from((0..6).collect::<Vec<u64>>());
        xs.filter(move |x| x.lt(n)).len()
    };
    for clustering in [
        Clustering::Greedy,
        Clustering::default(),
        Clustering::Unfused,
    ] {
        let xs = Array::from((1..=9i64).collect::<Vec<_>>());
        let (n, m) = (late(3), late(3));
        let lengths = generate(&n, |_| m.value());
        let engine = Engine::builder().clustering(clustering).build();
        let sums = Segmented::new(&lengths, &xs.reverse())
            .sum()
            .force_with(&engine);
        assert_eq!(sums.unwrap(), [24, 15, 6], "{clustering:?}");
    }
}
