//! Random closures on segments, against plain vectors row by row.

#[path = "nested_random/plain.rs"]
mod plain;
#[path = "nested_random/steps.rs"]
mod steps;

use livefusion::nested::BlockBytes;
use livefusion::prelude::*;
use livefusion::{Clustering, Engine};
use livefusion_interp::InterpBackend;
use plain::each;
use proptest::prelude::{ProptestConfig, Strategy, TestCaseError, prop, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use std::sync::Arc;
use steps::Step::{self, *};
use steps::{MOST, Times, grow, keep, step};

const INVARIANT: [i64; 5] = [3, 1, 4, 1, 5];

/// Rows of one length, and pieces of several.
const TABLE: [[i64; 2]; 3] = [[2, 7], [1, 8], [2, 8]];
const PIECES: [&[i64]; 3] = [&[1], &[], &[6, 1, 8]];

fn small(x: Exp<i64>) -> Exp<i64> {
    x.rem_euclid(1009)
}

fn delayed(row: &Array<i64>, invariant: &Array<i64>, steps: &[Step]) -> Array<i64> {
    let mut at = row.clone();
    for step in steps {
        at = match step {
            Map(a, b) => at.map(|x| small(x * *a + *b)),
            Filter(m) => at.filter(|x| (x % *m).eq(0)),
            Sums => at.scan(0, |a, b| a + b).map(small),
            InOrder => {
                let n = at.len().map(|n| n.cast::<i64>());
                at.scan_seq(&n, |s, x| small(s * 2 - x))
            }
            Largest => {
                let start = at.sum().map(|s| s % 7);
                at.scan_exclusive(&start, |a, b| a.max(b))
            }
            Take(k) => at.take(*k),
            TakeHalf => at.take(at.len().map(|n| n / 2)),
            Drop(k) => at.drop(*k),
            TakeWhile(m) => at.take_while(|x| (x % *m).ne(0)),
            Until(offset, least) => {
                let quotients = at.map(|x| Exp::lit(20i64) / (x % 5 - *offset));
                quotients.take_while(|q| q.gt(*least)).map(small)
            }
            DropWhile(m) => at.drop_while(|x| (x % *m).ne(0)).map(|x| x + 0),
            Reverse => at.reverse(),
            Shift(by) => at.shift(*by, 8),
            Around => at.windows(livefusion::Boundary::Clamp, |[a, b, c]| small(a + b + c)),
            Centre => {
                let sum = at.sum();
                at.map(|x| small(x - &sum))
            }
            Ends(m) => {
                let kept = at.filter(|x| (x % *m).eq(0));
                let (first, last) = (kept.first(), kept.last());
                let (least, most) = (at.first(), at.last());
                let ends = first * 2 + last + least * 3 + most;
                at.map(|x| small(x + &ends))
            }
            ReadOwn => {
                let n = at.len();
                at.map(|x| small(x + at.at(x.cast::<u64>() % &n)))
            }
            ReadInvariant => at.map(|x| small(x + invariant.at(x % 5))),
            ZipInvariant => at.zip_shortest(invariant).map(|(x, y)| small(x * y)),
            Unique => at.unique(),
            Spread => {
                let pieces = Segmented::indices(&at.map(|x| x % 4));
                let all = pieces.zip_with_each(&at, |i, x| small(i.cast::<i64>() + x));
                all.data().clone()
            }
            Zip(steps) => {
                let other = delayed(&at, invariant, steps);
                at.zip_shortest(&other).map(|(x, y)| small(x * 2 + y))
            }
            Append(steps) => at.append(&delayed(&at, invariant, steps)),
            Merge(steps) => {
                let other = delayed(&at, invariant, steps);
                at.merge(&other, |a, b| a.le(b))
            }
            Interleave => at.interleave(&at.scan(0, |a, b| a + b)).map(small),
            Pieces(steps) => {
                let sum = at.sum();
                let pieces = Segmented::indices(&at.map(|x| x % 4));
                let sums = pieces.map_segments(|piece| {
                    let piece = piece.map(|i| small(i.cast::<i64>() + &sum));
                    delayed(&piece, invariant, steps).sum()
                });
                sums.map(small)
            }
            Kept(m) => {
                let pieces = Segmented::indices(&at.map(|x| x % 4));
                let kept = pieces.zip_with_each(&at, |i, x| (i.cast::<i64>(), x));
                let kept = kept.filter(|(i, x)| ((i + x) % *m).eq(0));
                let counts = kept.lengths().map(|n| n.cast::<i64>());
                counts.append(&kept.data().map(|(i, _)| i))
            }
            OfKinds(m) => {
                let start = at.sum().map(|s| s % 7);
                let kinds = at.map(|x| x % *m);
                at.scan_by_index(
                    &kinds,
                    Bins {
                        count: *m as u64,
                        start: &start,
                    },
                    |kind, x| small(kind * 2 + x),
                )
            }
            Plane => {
                let wide = at.broadcast((at.len(), ..));
                let plane = wide.zip_with(&wide.transpose(), |x, y| 3 * x + y);
                plane.along([1, 0]).map(|columns| {
                    let total = columns.sum();
                    let sums = columns.map_rows(|column| column.sum());
                    sums.map(|x| small(x + &total))
                })
            }
            Meet => Array::from(TABLE).map_rows(|row| row.zip_with(&at, |x, y| small(x * y)).sum()),
            Table => {
                let sum = at.sum();
                let times = |row: Array<i64>| row.map(|x| small(x * &sum)).sum();
                let pieces = Segmented::from_vecs(PIECES.map(<[i64]>::to_vec).to_vec());
                Array::from(TABLE)
                    .map_rows(times)
                    .append(&pieces.map_segments(times))
            }
            Before => {
                let n = at.len();
                let kinds = at.map(|x| x.cast::<u64>() % &n);
                at.scan_exclusive_by_index(
                    &kinds,
                    Bins {
                        count: &n,
                        start: 0i64,
                    },
                    |kind, _| kind + 1,
                )
            }
            Loop(times, steps) => {
                let step = |now: Array<i64>| {
                    let next = delayed(&now, invariant, steps);
                    let both = match keep(steps) {
                        true => next.zip(&at),
                        false => next.zip_shortest(&at),
                    };
                    both.map(|(x, y)| small(x + y))
                };
                match times {
                    Times::Known(n) => iterate_n(*n, &at, step),
                    Times::OfLength(m) => iterate_n(at.len().map(|n| n % *m), &at, step),
                }
            }
            While(most, multiple, steps) => {
                let sum = at.sum();
                let (now, times) = iterate_while(
                    (&at, 0u64),
                    |(now, times)| {
                        let sum = now.sum();
                        times.map(|times| times.lt(*most) & (sum.value() % *multiple).ne(0))
                    },
                    |(now, times)| {
                        let next = delayed(&now, invariant, steps);
                        let next = if grow(steps) {
                            next.take(MOST as u64)
                        } else {
                            next
                        };
                        (next.map(|x| small(x + &sum)), times + 1)
                    },
                );
                now.map(|x| small(x + times.value().cast::<i64>()))
            }
            Choice(m, sides) => {
                let rest = at.sum().map(|sum| sum % *m);
                let [then, otherwise] = [0, 1].map(|k| delayed(&at, invariant, &sides[k]));
                let otherwise = otherwise.map(|x| x + 12 / rest.value());
                rest.eq(0).cond(&then, &otherwise).map(small)
            }
        };
    }
    at
}

/// Builds a graph whose loops over arrays run on blocks of about two segments, or on all of them.
fn in_blocks<T>(blocks: bool, build: impl FnOnce() -> T) -> T {
    match blocks {
        true => BlockBytes { all: 0, block: 48 }.with(build),
        false => build(),
    }
}

fn check(
    engine: &Engine,
    rows: &[Vec<i64>],
    steps: &[Step],
    computed: bool,
    blocks: bool,
) -> Result<(), TestCaseError> {
    let invariant = match computed {
        false => Array::from(INVARIANT.to_vec()),
        true => Array::from(INVARIANT.to_vec()).filter(|x| x.gt(0)),
    };
    let all = if computed {
        let more = |row: &Vec<i64>| row.iter().flat_map(|x| [-1, *x, -1 - x]).collect();
        let more: Vec<Vec<i64>> = rows.iter().map(more).collect();
        Segmented::from_vecs(more).filter(|x| x.ge(0))
    } else {
        Segmented::from_vecs(rows.to_vec())
    };
    let (made, turned, sums, counts) = in_blocks(blocks, || {
        all.map_segments(|row| {
            let made = delayed(&row, &invariant, steps);
            let (sum, len) = (made.sum(), made.len());
            // A running sum from the end, beside a value of the segment.
            let first = row.len();
            let running = made.scan(0, |a, b| a + b).reverse();
            let turned = running.map(|x| x * 3 + first.value().cast::<i64>());
            (made, turned, sum, len)
        })
    });
    let result = (made.lengths(), made.data(), turned.data(), &sums, &counts).force_with(engine);
    let given: Vec<usize> = rows.iter().map(Vec::len).collect();
    let expected: Option<Vec<Vec<i64>>> = each(rows, steps);
    let Some(expected) = expected else {
        return Ok(());
    };
    let (lengths, data, turned, sums, counts) = match result {
        Ok(results) => results,
        Err(e) => return Err(TestCaseError::fail(format!("{e}"))),
    };
    let lens: Vec<u64> = expected.iter().map(|r| r.len() as u64).collect();
    prop_assert_eq!(&data[..], &expected.concat()[..]);
    prop_assert_eq!(&lengths[..], &lens[..]);
    prop_assert_eq!(&counts[..], &lens[..]);
    let totals: Vec<i64> = expected.iter().map(|r| r.iter().sum()).collect();
    prop_assert_eq!(&sums[..], &totals[..]);
    let running = expected.iter().zip(given).flat_map(|(r, n)| {
        let sums = r.iter().scan(0, |sum, x| {
            *sum += x;
            Some(*sum * 3 + n as i64)
        });
        sums.collect::<Vec<i64>>().into_iter().rev()
    });
    prop_assert_eq!(&turned[..], &running.collect::<Vec<i64>>()[..]);
    Ok(())
}

/// The interpreter with a loop for each combinator.
fn unfused() -> Engine {
    let interp = Engine::builder().backend(Arc::new(InterpBackend::new()));
    interp.clustering(Clustering::Unfused).build()
}

fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("LIVEFUSION_CASES").ok();
    let asked = asked.and_then(|n| n.parse().ok());
    // An explicit number of cases uses a random seed.
    let rng_seed = match asked {
        Some(_) => RngSeed::Random,
        None => RngSeed::Fixed(7),
    };
    ProptestConfig {
        cases: asked.unwrap_or(usual),
        failure_persistence: None,
        rng_seed,
        ..ProptestConfig::default()
    }
}

fn rows() -> impl Strategy<Value = Vec<Vec<i64>>> {
    prop::collection::vec(prop::collection::vec(0..30i64, 0..6), 0..5)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..5)
}

/// The sums of closures on the rows of a matrix, and the elements of those that keep the length.
fn check_rows(
    engine: &Engine,
    rows: &[Vec<i64>],
    steps: &[Step],
    blocks: bool,
) -> Result<(), TestCaseError> {
    let columns = rows.first().map_or(0, Vec::len);
    let matrix = Array::from_vec((rows.len(), columns), rows.concat());
    let invariant = Array::from(INVARIANT.to_vec());
    let sums = in_blocks(blocks, || {
        matrix.map_rows(|row| delayed(&row, &invariant, steps).sum())
    });
    let expected = each(rows, steps);
    let sums = sums.force_with(engine);
    let Some(expected) = expected else {
        return Ok(());
    };
    let failed = |e| TestCaseError::fail(format!("{e}"));
    let totals: Vec<i64> = expected.iter().map(|row| row.iter().sum()).collect();
    prop_assert_eq!(&sums.map_err(failed)?[..], &totals[..]);
    if keep(steps) {
        let kept = in_blocks(blocks, || {
            matrix.map_rows(|row| delayed(&row, &invariant, steps))
        });
        let kept = kept.force_with(engine).map_err(failed)?;
        prop_assert_eq!(kept.into_vec().map_err(failed)?, expected.concat());
    }
    Ok(())
}

fn matrix() -> impl Strategy<Value = Vec<Vec<i64>>> {
    let rows = |(n, m)| prop::collection::vec(prop::collection::vec(0..30i64, m), n);
    (0..5usize, 0..6usize).prop_flat_map(rows)
}

/// A recomputed node moves its loop's root to a new level, which needs segments whose lengths are
/// recomputed later. The search counted these as reads.
#[test]
fn nested_search_counts_the_cost_of_its_plan() {
    let steps = [
        Zip(vec![Interleave, ZipInvariant]),
        Zip(vec![Spread, Pieces(vec![Reverse, ReadOwn])]),
    ];
    let invariant = Array::from(INVARIANT.to_vec());
    let all = Segmented::<i64>::from_vecs(vec![]);
    let sums = all.map_segments(|row| delayed(&row, &invariant, &steps).sum());
    assert!(sums.explain_with(&Engine::interp()).is_ok());
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn closures_are_what_they_are_row_by_row(
        rows in rows(), steps in steps(), computed in prop::bool::ANY, blocks in prop::bool::ANY,
    ) {
        check(&Engine::interp(), &rows, &steps, computed, blocks)?;
    }

    #[test]
    fn closures_on_rows_are_what_they_are_row_by_row(
        rows in matrix(), steps in steps(), blocks in prop::bool::ANY,
    ) {
        check_rows(&Engine::interp(), &rows, &steps, blocks)?;
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn closures_without_fusion_are_what_they_are_row_by_row(
        rows in rows(), steps in steps(), computed in prop::bool::ANY, blocks in prop::bool::ANY,
    ) {
        check(&unfused(), &rows, &steps, computed, blocks)?;
    }

    #[test]
    fn closures_on_rows_without_fusion_are_what_they_are_row_by_row(
        rows in matrix(), steps in steps(), blocks in prop::bool::ANY,
    ) {
        check_rows(&unfused(), &rows, &steps, blocks)?;
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn and_so_they_are_compiled(
        rows in rows(), steps in steps(), computed in prop::bool::ANY, blocks in prop::bool::ANY,
    ) {
        check(&Engine::jit(), &rows, &steps, computed, blocks)?;
    }
}

#[test]
fn loop_in_a_closure__length_of_a_generator_from_around__is_known_in_the_step() {
    let again = |steps| Loop(Times::Known(2), steps);
    let around = vec![Around, again(vec![TakeWhile(2)])];
    let pieces = vec![Pieces(vec![Reverse, again(vec![Unique])])];
    for rows in [vec![], vec![vec![1, 3, 4], vec![5, 3, 7]]] {
        for steps in [&around, &pieces] {
            for engine in [Engine::interp(), unfused()] {
                for blocks in [false, true] {
                    check(&engine, &rows, steps, false, blocks).expect("segments");
                    check_rows(&engine, &rows, steps, blocks).expect("rows");
                }
            }
        }
    }
}
