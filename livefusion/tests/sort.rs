//! Sorts and combinators built on them: results, loops, and errors.

use livefusion::ast::{After, Builder, ExternalPart, Function, Gives, Ty, Types, Value};
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::runtime::{ExplainedApart, ExplainedLoop};
use livefusion::{Error, Result};
use proptest::prelude::*;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The order of floats: NaN last, `-0.0` before `0.0`.
fn by_value(a: &f64, b: &f64) -> std::cmp::Ordering {
    a.is_nan().cmp(&b.is_nan()).then(match a.is_nan() {
        true => std::cmp::Ordering::Equal,
        false => a.total_cmp(b),
    })
}

fn bits(xs: &[f64]) -> Vec<u64> {
    let bits = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    xs.iter().map(bits).collect()
}

/// Checks all sorts for one type, with many duplicates and with arbitrary values.
fn check<T>(xs: &[T]) -> Result<()>
where
    T: Scalar + Ord + Debug,
    Array<T>: From<Vec<T>>,
{
    let array = Array::from(xs.to_vec());
    let mut sorted = xs.to_vec();
    sorted.sort();
    assert_eq!(array.sort().force()?.to_vec()?, sorted);
    let mut places: Vec<u64> = (0..xs.len() as u64).collect();
    places.sort_by_key(|i| &xs[*i as usize]);
    assert_eq!(array.argsort().force()?.to_vec()?, places);
    let mut counts: Vec<(T, u64)> = Vec::new();
    for x in sorted {
        match counts.last_mut() {
            Some((y, n)) if *y == x => *n += 1,
            _ => counts.push((x, 1)),
        }
    }
    let (found, times): (Vec<T>, Vec<u64>) = counts.into_iter().unzip();
    let got = array.unique_counts();
    assert_eq!(got.map(|(x, _)| x).force()?.to_vec()?, found);
    assert_eq!(got.map(|(_, n)| n).force()?.to_vec()?, times);
    Ok(())
}

proptest! {
    #[test]
    fn sort_argsort_and_unique_counts__of_integers__are_those_of_std(xs: Vec<i64>, ys: Vec<u8>, zs: Vec<i16>, us: Vec<u32>) {
        check(&xs)?;
        check(&ys)?;
        check(&zs)?;
        check(&us)?;
        check(&ys.iter().map(|y| *y < 100).collect::<Vec<_>>())?;
        check(&xs.iter().map(|x| x % 3).collect::<Vec<_>>())?;
    }

    #[test]
    fn sort_and_argsort__of_floats__put_nan_last(mut xs: Vec<f64>, special in 0usize..20) {
        for (k, x) in [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY].into_iter().enumerate() {
            if special >> k & 1 == 1 {
                xs.insert(k % (xs.len() + 1), x);
            }
        }
        let array = Array::from(xs.clone());
        let mut sorted = xs.clone();
        sorted.sort_by(by_value);
        prop_assert_eq!(bits(&array.sort().force()?), bits(&sorted));
        let mut places: Vec<u64> = (0..xs.len() as u64).collect();
        places.sort_by(|a, b| by_value(&xs[*a as usize], &xs[*b as usize]));
        prop_assert_eq!(array.argsort().force()?.to_vec()?, places);
    }

    #[test]
    fn sort_by_key_and_group_by_key__of_repeated_keys__are_stable(rows: Vec<(u8, i32)>) {
        let (keys, values): (Vec<u8>, Vec<i32>) = rows.iter().map(|(k, v)| (k % 7, *v)).unzip();
        let mut expected: Vec<(u8, i32)> = keys.iter().copied().zip(values.iter().copied()).collect();
        expected.sort_by_key(|(k, _)| *k);
        let (keys, values) = (Array::from(keys), Array::from(values));
        let got = values.sort_by_key(&keys).force()?.to_vec()?;
        prop_assert_eq!(got, expected.iter().map(|(_, v)| *v).collect::<Vec<_>>());
        let (found, groups) = values.group_by_key(&keys);
        let found = found.force()?.to_vec()?;
        let groups = groups.to_vecs()?;
        prop_assert_eq!(found.len(), groups.len());
        let flat: Vec<(u8, i32)> = found
            .iter()
            .zip(&groups)
            .flat_map(|(k, group)| group.iter().map(|v| (*k, *v)))
            .collect();
        prop_assert_eq!(flat, expected);
        prop_assert!(found.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn sort_and_argsort__of_segments__order_each_alone(rows: Vec<Vec<i16>>) {
        let segments = Segmented::from_vecs(rows.clone());
        let sorted = |row: &Vec<i16>| {
            let mut row = row.clone();
            row.sort();
            row
        };
        let places = |row: &Vec<i16>| {
            let mut places: Vec<u64> = (0..row.len() as u64).collect();
            places.sort_by_key(|i| row[*i as usize]);
            places
        };
        prop_assert_eq!(segments.sort().to_vecs()?, rows.iter().map(sorted).collect::<Vec<_>>());
        prop_assert_eq!(segments.argsort().to_vecs()?, rows.iter().map(places).collect::<Vec<_>>());
    }
}

/// Many elements are sorted by radix.
#[test]
fn many_are_in_order() -> Result<()> {
    let xs: Vec<u64> = (0..250_000u64)
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40)
        .collect();
    check(&xs)?;
    check(&xs.iter().map(|x| *x as u8).collect::<Vec<_>>())?;
    check(&xs.iter().map(|x| *x as i32 - 5000).collect::<Vec<_>>())?;
    let floats: Vec<f64> = xs.iter().map(|x| *x as f64 - 1e7).collect();
    let mut sorted = floats.clone();
    sorted.sort_by(f64::total_cmp);
    let floats = Array::from(floats);
    for threads in [1, 4] {
        let engine = Engine::builder().threads(threads).build();
        assert_eq!(
            floats.map(|x| x).sort().force_with(&engine)?.to_vec()?,
            sorted
        );
        let order = floats.argsort();
        let same = floats.gather(&order).force_with(&engine)?;
        assert_eq!(same.to_vec()?, sorted);
    }
    Ok(())
}

/// The engine's own threads help, or those of the forcing pool.
#[test]
fn sorts_have_the_same_bits_for_any_number_of_threads() -> Result<()> {
    let mut xs: Vec<f64> = (0..200_000u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as f64 - 5e5)
        .collect();
    for (k, x) in [f64::NAN, -f64::NAN, -0.0, 0.0, f64::INFINITY]
        .iter()
        .enumerate()
    {
        xs[40_000 * k + 7] = *x;
    }
    let (mut sorted, mut places) = (xs.clone(), (0..xs.len() as u64).collect::<Vec<_>>());
    sorted.sort_by(by_value);
    places.sort_by(|a, b| by_value(&xs[*a as usize], &xs[*b as usize]));
    let check = |threads| -> Result<()> {
        let engine = Engine::builder().threads(threads).build();
        let array = Array::from(xs.clone());
        assert_eq!(bits(&array.sort().force_with(&engine)?), bits(&sorted));
        assert_eq!(array.argsort().force_with(&engine)?, places[..]);
        Ok(())
    };
    for threads in [1, 2, 3, 16] {
        check(threads)?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    pool.expect("two threads").install(|| check(3))
}

/// Tuples are compared field by field.
#[test]
fn sort_argsort_and_unique_counts__of_tuples__compare_field_by_field() -> Result<()> {
    let xs = Array::from(vec![(2u8, 1.5f32), (1, 9.0), (2, -1.0), (1, 9.0)]);
    assert_eq!(
        xs.sort().force()?,
        [(1, 9.0), (1, 9.0), (2, -1.0), (2, 1.5)]
    );
    assert_eq!(xs.argsort().force()?, [1, 3, 2, 0]);
    assert_eq!(
        xs.unique_counts().force()?,
        [((1, 9.0), 2), ((2, -1.0), 1), ((2, 1.5), 1)]
    );
    Ok(())
}

/// The producer of the keys runs in the loop before the sort. The gather and its consumers run in
/// the loop after it.
#[test]
fn loops_fuse_up_to_a_sort_and_behind_it() -> Result<()> {
    let xs: Array<i64> = (0..1000).map(|i| i * 7919 % 1009).collect();
    let kept = xs.filter(|x| x.gt(100)).map(|x| x * x);
    let total = kept
        .sort_by_key(&kept.map(|x| x % 10))
        .scan(0, |a, b| a + b);
    let explained = total.explain()?;
    assert_eq!(explained.loops.len(), 1, "{explained}");
    let [ExplainedApart::External(sort)] = &explained.apart[..] else {
        panic!("{explained}");
    };
    assert_eq!((sort.name, sort.is_reproducible), ("sort_by_key", true));
    assert_eq!(sort.inputs.loops.len(), 1, "{explained}");
    let why = "sort_by_key at tests/sort.rs:";
    let since = ", runs first, since a sort looks at all elements before it gives the first:\n";
    let text = explained.to_string();
    assert!(text.contains(why) && text.contains(since), "{text}");
    let sum: i64 = kept.sum().force()?;
    assert_eq!(total.last().force()?, sum);
    Ok(())
}

/// A prepared program sorts in each call, and in each step of its loop.
#[test]
fn sorts_are_parts_of_programs() -> Result<()> {
    let program = prepare(|xs: Array<i32>| {
        let sorted = xs.map(|x| x * 3).sort();
        let least = sorted.first();
        (sorted.map(|x| x - &least), xs.median())
    })?;
    let (rest, middle) = program.call(&Array::from(vec![3, 1, 2]))?;
    assert_eq!((rest.to_vec()?, middle), (vec![0, 3, 6], 2.0));
    let (rest, middle) = program.call(&Array::from(vec![5, 1]))?;
    assert_eq!((rest.to_vec()?, middle), (vec![0, 12], 3.0));
    let turned = iterate_n(3, &Array::from(vec![4i64, 9, 1]), |xs| {
        xs.sort().map(|x| -x)
    });
    assert_eq!(turned.force()?, [-1, -4, -9]);
    Ok(())
}

/// One loop produces the filtered elements and their keys; the keys are not stored.
#[test]
fn streams_are_made_once() -> Result<()> {
    let xs: Array<i64> = (0..1000).map(|i| i * 7919 % 1009).collect();
    let pairs = xs.filter(|x| x.gt(100)).map(|x| (x % 10, x));
    let (keys, groups) = xs
        .filter(|x| x.gt(100))
        .group_by_key(&xs.filter(|x| x.gt(100)).map(|x| x % 10));
    let programs: [&dyn Fn() -> Result<livefusion::runtime::Explanation>; 3] = [
        &|| pairs.sort().explain(),
        &|| pairs.unique_counts().explain(),
        &|| (&keys, &groups.sum()).explain(),
    ];
    for (k, explain) in programs.iter().enumerate() {
        let explained = explain()?;
        let [ExplainedApart::External(sort)] = &explained.apart[..] else {
            panic!("{k}: {explained}");
        };
        // As combinators of loops, not as arrays that loops read.
        let filters = |loops: &[ExplainedLoop]| {
            let of = |l: &ExplainedLoop| {
                let combs = l.program.combs.iter();
                combs.filter(|c| c.kind == "filter").count()
            };
            loops.iter().map(of).sum::<usize>()
        };
        assert_ne!(filters(&sort.inputs.loops), 0, "{k}: {explained}");
        assert_eq!(filters(&explained.loops), 0, "{k}: {explained}");
    }
    let sorted = xs.sort();
    assert_eq!(sorted.force()?.to_vec()?.len(), 1000);
    let After::Apart(ExternalPart::External(of), _) = &sorted.node().inputs[0].after else {
        panic!("no function");
    };
    assert!(of.inputs.iter().all(|keys| keys.value.get().is_none()));
    Ok(())
}

/// Sorts inside loops over arrays and after them, and sorts of captured arrays, which run before
/// the first step.
#[test]
fn sorts_and_loops_over_arrays_mix() -> Result<()> {
    let xs = Array::from(vec![4i64, 9, 1]);
    let ended = iterate_n(2, &xs, |state| state.map(|x| -x + 1).sort());
    assert_eq!(ended.sort().force()?, [1, 4, 9]);
    let captured = iterate_n(2, &xs, |state| state.zip_with(&xs.sort(), |x, y| x + y));
    assert_eq!(captured.force()?, [6, 17, 19]);
    let program = prepare(|(xs, ys): (Array<i64>, Array<i64>)| {
        let ended = iterate_n(2, &xs, |state| {
            state.zip_with(&ys.sort(), |x, y| x + y).sort()
        });
        (ended.median(), ended)
    })?;
    let (middle, ended) = program.call(&(xs.clone(), xs.clone()))?;
    assert_eq!((middle, ended.to_vec()?), (14.0, vec![6, 14, 22]));
    Ok(())
}

/// Sorts in closures on segments become segmented sorts.
#[test]
fn closures_on_segments_sort() -> Result<()> {
    let vecs = vec![vec![3i64, 1, 2, 1], vec![], vec![5, 4]];
    let rows = Segmented::from_vecs(vecs.clone());
    let sorted = rows.map_segments(|row| row.map(|x| -x).sort().map(|x| -x));
    let explained = sorted.data().explain()?;
    assert_eq!(
        (explained.apart.len(), explained.loops.len()),
        (0, 1),
        "{explained}"
    );
    assert_eq!(sorted.to_vecs()?, [vec![3, 2, 1, 1], vec![], vec![5, 4]]);
    let order = rows.map_segments(|row| row.argsort());
    assert_eq!(order.to_vecs()?, [vec![1, 3, 2, 0], vec![], vec![1, 0]]);
    let chunks = rows.map_segments(|row| row.chunks(2).sort().data().clone());
    assert_eq!(chunks.to_vecs()?, [vec![1, 3, 1, 2], vec![], vec![4, 5]]);
    let kept = rows.map_segments(|row| {
        let kept = row.filter(|x| x.gt(1));
        kept.sort_by_key(&kept.map(|x| x % 3))
    });
    assert_eq!(kept.to_vecs()?, [vec![3, 2], vec![], vec![4, 5]]);
    let some = Segmented::from_vecs(vec![vec![3i64, 1, 2], vec![5, 4]]);
    assert_eq!(some.map_segments(|row| row.median()).force()?, [2.0, 4.5]);
    let least = some.map_segments(|row| row.quantile(row.min().map(|x| x.cast::<f64>() / 8.0)));
    assert_eq!(least.force()?, [1.25, 4.5]);
    let error = rows
        .map_segments(|row| row.median())
        .force()
        .expect_err("no elements");
    assert_eq!((error.combinator, error.kind), ("median", ErrorKind::Empty));
    // Rows of an array of rank 2.
    let m = Array::from([[3.0f64, 1.0], [0.0, 2.0]]);
    assert_eq!(
        m.map_rows(|row| row.sort()).force()?,
        [[1.0, 3.0], [0.0, 2.0]]
    );
    // A function without a segmented form is an error.
    let error = rows
        .map_segments(|row| row.external(|xs| xs.to_vec()))
        .data()
        .force();
    assert_eq!(error.expect_err("no rule").kind, ErrorKind::NotNested);
    Ok(())
}

/// Segments of all lengths, through sorting networks and the standard sort, split among threads.
#[test]
fn many_segments_are_sorted() -> Result<()> {
    let lengths: Vec<u64> = (0..20_000u64).map(|i| i * i % 23).collect();
    let n: u64 = lengths.iter().sum();
    let data: Vec<u32> = (0..n)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50) as u32 % 40)
        .collect();
    let rows = Segmented::new(&Array::from(lengths.clone()), &Array::from(data.clone()));
    let (mut sorted, mut places, mut begin) = (data.clone(), Vec::new(), 0);
    for length in lengths {
        let end = begin + length as usize;
        sorted[begin..end].sort();
        let mut order: Vec<u64> = (0..length).collect();
        order.sort_by_key(|i| data[begin + *i as usize]);
        places.extend(order);
        begin = end;
    }
    for threads in [1, 3] {
        let engine = Engine::builder().threads(threads).build();
        let (got, order) = (rows.sort(), rows.argsort());
        assert_eq!(got.data().force_with(&engine)?, sorted[..]);
        assert_eq!(order.data().force_with(&engine)?, places[..]);
        let of_pairs = Segmented::new(rows.lengths(), &rows.data().map(|x| (x / 7, x % 7)));
        let pairs = of_pairs.sort().data().map(|(a, b)| a * 7 + b);
        assert_eq!(pairs.force_with(&engine)?, sorted[..]);
    }
    Ok(())
}

#[test]
fn a_sort_is_done_once() -> Result<()> {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let xs = Array::from(vec![3i32, 1, 2]);
    let made = xs.external(|xs| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        xs.iter().rev().copied().collect::<Vec<i32>>()
    });
    let (a, b) = (made.map(|x| x + 1), made.sum());
    assert_eq!((a.force()?.to_vec()?, b.force()?), (vec![3, 2, 4], 6));
    assert_eq!((&a, &b).force()?.1, 6);
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    Ok(())
}

#[test]
fn mistakes_are_errors() -> Result<()> {
    let kind = |e: Error| (e.combinator, e.kind);
    let xs = Array::from(vec![1i32, 2, 3]);
    let two = Array::from(vec![1u8, 2]);
    let mismatch = |expected, got| ErrorKind::LengthMismatch { expected, got };
    let error = xs.sort_by_key(&two).force().expect_err("two keys");
    assert_eq!(kind(error), ("sort_by_key", mismatch(2, 3)));
    // Lengths that are known only at the force.
    let kept = two.filter(|x| x.gt(0));
    let error = xs.sort_by_key(&kept).force().expect_err("two keys");
    assert!(
        matches!(error.kind, ErrorKind::LengthMismatch { .. }),
        "{error}"
    );
    let (_, groups) = xs.group_by_key(&kept);
    let error = groups.sum().force().expect_err("two keys");
    assert!(
        matches!(error.kind, ErrorKind::LengthMismatch { .. }),
        "{error}"
    );
    let table = Array::from([[3i32, 1], [2, 0]]);
    let node = Builder::named("sort").sort(table.node());
    let error = livefusion::runtime::force_nodes(Engine::default_engine(), &[node]);
    let text = error.expect_err("two axes").to_string();
    assert!(
        text.contains("expected an array of rank 1, got i32 of rank 2"),
        "{text}"
    );
    let rows = Segmented::new(&Array::from(vec![2u64, 5]), &xs);
    let error = rows.sort().data().force().expect_err("too few elements");
    let needed = ErrorKind::Segments { needed: 5, room: 1 };
    assert_eq!(kind(error), ("sort", needed));
    let small = Engine::builder().memory_limit(8).build();
    let error = xs.sort().sum().force_with(&small).expect_err("12 bytes");
    assert!(matches!(error.kind, ErrorKind::Memory { .. }), "{error}");
    Ok(())
}

/// A function whose result differs from its declaration.
struct Liar;

impl Function for Liar {
    fn call(&self, inputs: &[Value], _: usize) -> std::result::Result<Value, ErrorKind> {
        match inputs {
            [xs, _] => Ok(xs.clone()),
            _ => Err(ErrorKind::Empty),
        }
    }
    fn why(&self) -> &str {
        "it lies"
    }
    fn is_reproducible(&self) -> bool {
        false
    }
}

#[test]
fn functions_are_held_to_what_they_say() -> Result<()> {
    let (xs, ys) = (Array::from(vec![1i32, 2]), Array::from(vec![1i32, 2, 3]));
    let gives = |like| Gives {
        types: Types::from_slice(&[Ty::I32]),
        rank: 1,
        like,
    };
    let call = |gives: Gives| {
        let inputs = [xs.node().clone(), ys.node().clone()];
        let node = Builder::named("lie").external(&inputs, gives, Arc::new(Liar));
        Array::<i32>::from_node(node)
    };
    let right = call(gives(Some(0)))?;
    assert_eq!(right.force()?, [1, 2]);
    let shown = call(gives(None))?.explain()?.to_string();
    let text = "whose bits may differ from call to call, runs first, since it lies:";
    assert!(shown.contains(text), "{shown}");
    let error = call(gives(Some(1)))?.force().expect_err("too short");
    let kind = ErrorKind::LengthMismatch {
        expected: 3,
        got: 2,
    };
    assert_eq!((error.combinator, error.kind), ("lie", kind));
    let scalar = Gives {
        rank: 0,
        ..gives(None)
    };
    let node = Builder::named("lie").external(&[xs.node().clone()], scalar, Arc::new(Liar));
    let error = livefusion::runtime::force_nodes(Engine::default_engine(), &[node]);
    assert_eq!(error.expect_err("one input").kind, ErrorKind::Empty);
    Ok(())
}

/// The length of segments follows from one value, which is no length if there are no segments.
#[test]
fn no_segments_of_any_length_are_sorted() -> Result<()> {
    for engine in crate::common::engines() {
        let none = Array::from(Vec::<u64>::new());
        let segments = Segmented::new(&none.argtop_k(1), &none);
        let sorted = segments.sort().concat().force_with(&engine)?;
        assert_eq!(sorted.to_vec()?, [0u64; 0]);
    }
    Ok(())
}
