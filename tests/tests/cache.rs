//! The kernel cache: hits and misses.

use livefusion::prelude::*;
use livefusion::runtime::Counters;

fn counts(engine: &Engine) -> (u64, u64) {
    let Counters { hits, misses, .. } = engine.counters();
    (hits, misses)
}

fn program(xs: &Array<f64>, least: f64) -> Array<f64> {
    xs.filter(|x| x.ge(least)).map(|x| x * 100.0)
}

#[test]
fn data_lengths_and_constants_do_not_count() {
    for engine in [Engine::interp(), Engine::c()] {
        for (k, n) in [3usize, 5, 0, 70].into_iter().enumerate() {
            let xs = Array::from((0..n).map(|i| i as f64).collect::<Vec<_>>());
            let ys = program(&xs, k as f64).force_with(&engine).expect("it runs");
            assert_eq!(ys.len(), n.saturating_sub(k));
            assert_eq!(counts(&engine), (k as u64, 1), "after {} forces", k + 1);
        }
        assert!(engine.counters().compile_time.as_nanos() > 0);
    }
}

#[test]
fn structure_types_and_equal_lengths_count() {
    let engine = Engine::interp();
    let (xs, ys, zs) = (
        Array::from(vec![1.0f64, 2.0]),
        Array::from(vec![1.0f64, 2.0]),
        Array::from(vec![1.0f64, 2.0, 3.0]),
    );
    let force = |a: &Array<f64>, b: &Array<f64>| {
        let (x, y) = (a.map(|x| x + 1.0), b.map(|x| x * 2.0));
        let _ = (&x, &y).force_with(&engine).expect("it runs");
    };
    force(&xs, &ys);
    assert_eq!(counts(&engine), (0, 1));
    force(&ys, &xs);
    assert_eq!(counts(&engine), (1, 1));
    force(&xs, &zs);
    assert_eq!(counts(&engine), (1, 2), "other lengths are equal");
    let _ = Array::from(vec![1.0f32])
        .map(|x| x + 1.0)
        .force_with(&engine)
        .expect("it runs");
    assert_eq!(counts(&engine), (1, 3), "another type");
}

#[test]
fn concurrent_forces_compile_once() {
    let engine = Engine::c();
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
                let ys = program(&xs, 2.0).force_with(&engine).expect("it runs");
                assert_eq!(ys, [200.0, 300.0]);
            });
        }
    });
    assert_eq!(counts(&engine), (7, 1));
}

#[test]
fn cache_of_a_forced_array_is_not_computed_again() {
    let engine = Engine::interp();
    let xs = Array::from(vec![1.0f64, 2.0, 3.0]);
    let ys = xs.map(|x| x * x);
    let first = ys.force_with(&engine).expect("it runs");
    let again = ys.force_with(&engine).expect("it is there");
    assert_eq!(counts(&engine), (0, 1));
    assert_eq!(first, again);
    assert_eq!(ys.sum().force_with(&engine).expect("it runs"), 14.0);
}
