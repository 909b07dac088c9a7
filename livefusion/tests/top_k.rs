//! The largest elements: results, their loop, and co-consumers.

use crate::common::{engines, shape};
use livefusion::ast::{Builder, Const, Field, Fields, Fold, Ty, trace};
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::{Engine, Result};
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use proptest::prelude::*;
use std::sync::Arc;

/// The indices of the largest elements, in descending order.
fn places<T>(xs: &[T], k: usize, falls: impl Fn(&T, &T) -> std::cmp::Ordering) -> Vec<u64> {
    let mut places: Vec<u64> = (0..xs.len() as u64).collect();
    places.sort_by(|a, b| falls(&xs[*a as usize], &xs[*b as usize]));
    places.truncate(k);
    places
}

fn check<T>(xs: &[T], k: usize) -> Result<()>
where
    T: Scalar + Ord + std::fmt::Debug,
    Array<T>: From<Vec<T>>,
{
    let array = Array::from(xs.to_vec());
    let expected = places(xs, k, |a, b| b.cmp(a));
    let largest: Vec<T> = expected.iter().map(|i| xs[*i as usize]).collect();
    for engine in engines() {
        assert_eq!(array.top_k(k).force_with(&engine)?.to_vec()?, largest);
        assert_eq!(array.argtop_k(k).force_with(&engine)?.to_vec()?, expected);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn top_k_and_argtop_k__of_any_elements__begin_a_falling_sort(xs: Vec<i64>, ys: Vec<u8>, zs: Vec<i16>, k in 0usize..8) {
        check(&xs, k)?;
        check(&ys.iter().map(|y| y % 5).collect::<Vec<_>>(), k)?;
        check(&zs, k)?;
        check(&ys.iter().map(|y| *y < 100).collect::<Vec<_>>(), k)?;
    }

    #[test]
    fn top_k_and_argtop_k__of_floats__give_numbers_before_nan(mut xs in prop::collection::vec(-1e9f64..1e9, 0..40), special in 0usize..32, k in 0usize..12) {
        for (at, x) in [f64::NAN, -f64::NAN, 0.0, -0.0, f64::NEG_INFINITY].into_iter().enumerate() {
            if special >> at & 1 == 1 {
                xs.insert(at % (xs.len() + 1), x);
            }
        }
        let falls = |a: &f64, b: &f64| a.is_nan().cmp(&b.is_nan()).then(match a.is_nan() {
                true => std::cmp::Ordering::Equal,
                false => b.total_cmp(a),
        });
        let expected = places(&xs, k, falls);
        let array = Array::from(xs.clone());
        prop_assert_eq!(array.argtop_k(k).force()?.to_vec()?, expected.clone());
        let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
        let got: Vec<u64> = array.top_k(k).force()?.to_vec()?.into_iter().map(bits).collect();
        prop_assert_eq!(got, expected.iter().map(|i| bits(xs[*i as usize])).collect::<Vec<_>>());
    }
}

/// Any number of them: up to the limit of loop-carried values, and beyond.
#[test]
fn top_k_and_argtop_k__of_few_and_of_many__begin_a_falling_sort() -> Result<()> {
    let xs: Vec<u32> = (0..200u32).map(|i| i * 7919 % 101).collect();
    for k in [1, 2, 3, 5, 16, 17, 31, 32, 33, 150, 500] {
        check(&xs, k)?;
    }
    Ok(())
}

/// The result is equal for any number of threads, over many chunks. A filter's elements are counted
/// in the same loop.
#[test]
fn parts_are_joined() -> Result<()> {
    let xs: Vec<u64> = (0..300_000u64)
        .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 46)
        .collect();
    let expected = places(&xs, 10, |a, b| b.cmp(a));
    let largest: Vec<u64> = expected.iter().map(|i| xs[*i as usize]).collect();
    let even: Vec<u64> = xs.iter().copied().filter(|x| x % 2 == 0).collect();
    let mut fallen = even.clone();
    fallen.sort_by(|a, b| b.cmp(a));
    let array = Array::from(xs);
    let backends: [Arc<dyn Backend>; 3] = [
        Arc::new(InterpBackend::with_chunk(64)),
        Arc::new(JitBackend::new()),
        Arc::new(CBackend::new()),
    ];
    for backend in backends {
        for threads in [1, 4] {
            let builder = Engine::builder().backend(backend.clone());
            let engine = builder.threads(threads).eager().build();
            let kept = array.filter(|x| (x % 2).eq(0));
            let all = (&array.top_k(10), &array.argtop_k(10), &kept.top_k(5), &kept);
            let (top, places, few, kept) = all.force_with(&engine)?;
            assert_eq!(top, largest[..]);
            assert_eq!(places, expected[..]);
            assert_eq!(few, fallen[..5]);
            assert_eq!(kept, even[..]);
        }
    }
    Ok(())
}

/// One loop over the elements, with their producers and other folds; and one over the few largest.
#[test]
fn top_k_and_argtop_k__of_a_computed_stream__fold_in_its_loop() -> Result<()> {
    let xs: Array<f64> = (0..1000).map(|i| f64::from(i * 7919 % 1009)).collect();
    let roots = xs.map(|x| x.sqrt()).filter(|x| x.gt(3.0));
    let (top, sum) = (roots.top_k(10), roots.sum());
    assert_eq!(shape(&[top.node(), sum.node()])?, (2, 1));
    let explained = top.explain()?;
    assert!(explained.apart.is_empty(), "{explained}");
    let places = roots.argtop_k(10);
    assert_eq!(shape(&[places.node(), sum.node()])?, (2, 1));
    // Large numbers use a sort.
    assert_eq!(roots.top_k(33).explain()?.apart.len(), 1);
    Ok(())
}

/// Pairs are compared field by field, and segments have their own.
#[test]
fn of_pairs_and_of_segments() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![(2u8, 1.5f32), (1, 9.0), (2, -1.0), (1, 9.0)]);
        let (top, places) = (&xs.top_k(3), &xs.argtop_k(3)).force_with(&engine)?;
        assert_eq!(top, [(2, 1.5), (2, -1.0), (1, 9.0)]);
        assert_eq!(places, [0, 2, 1]);
        let rows = Segmented::from_vecs(vec![vec![3i64, 1, 9], vec![], vec![5, 4]]);
        let two = rows.map_segments(|row| row.top_k(2));
        assert_eq!(two.data().force_with(&engine)?, [9, 3, 5, 4]);
    }
    Ok(())
}

/// A fold that claims to be exact must pass visible checks, such as a literal start.
#[test]
fn exact_folds_start_from_literals() {
    let xs = Array::from(vec![1i64, 2]);
    let more = Array::from(vec![3i64]).sum();
    let at = xs.node().loc;
    let add = |both: &[Field]| -> Fields {
        Fields::from_slice(&[Field::op(loop_lang::Op::Add, &[both[0], both[1]], at)])
    };
    let step = || trace(&[Ty::I64, Ty::I64], add);
    let start = trace(&[], |_| Field::value(more.node(), at));
    let none = trace(&[], |_| {
        Fields::from_slice(&[Field::literal(Const::int(Ty::I64, 0))])
    });
    let folded = |start| {
        let fold = Fold::exact(start, step(), step());
        let folded = Builder::named("fold").fold(xs.node(), fold);
        Array::<i64, Ix0>::from_node(folded).and_then(|x| x.force())
    };
    assert_eq!(folded(none).ok(), Some(3));
    let error = folded(start).expect_err("no literal");
    assert!(matches!(error.kind, ErrorKind::Malformed { .. }), "{error}");
}
