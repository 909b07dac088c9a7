//! Rematerialisation: later loops recompute nodes that are cheaper to compute than to store.

use livefusion::prelude::*;
use livefusion::stages::{self, Plan};
use livefusion::{Clustering, Engine, ErrorKind, Result};

fn planned(program: &(impl Force + ?Sized), clustering: Clustering) -> Plan {
    stages::graph(program).expect("a graph").plan(clustering)
}

/// The numbers of loops, of arrays between them, and of nodes that later loops recompute.
fn shape(program: &(impl Force + ?Sized)) -> [usize; 3] {
    let plan = planned(program, Clustering::default());
    assert!(plan.is_proven(), "{plan}");
    let results = plan.graph().results();
    let stored = plan.loops().iter().flat_map(|l| &l.arrays);
    let between = stored.filter(|f| !results.contains(f)).count();
    let copies = plan.loops().iter().map(|l| l.copies.len()).sum();
    [plan.loops().len(), between, copies]
}

/// Asserts equal results of a program under every clustering.
fn same<F: Force>(program: impl Fn() -> F, check: impl Fn(F::Out)) -> Result<()> {
    let optimal = Clustering::default();
    for clustering in [Clustering::Unfused, Clustering::Greedy, optimal] {
        let engine = Engine::builder().clustering(clustering).build();
        check(program().force_with(&engine)?);
    }
    Ok(())
}

fn numbers() -> Array<f64> {
    (0..1000)
        .map(|x| f64::from(x % 7 - 3))
        .collect::<Vec<_>>()
        .into()
}

/// The kept elements, in percent of their sum.
fn percentages(xs: &Array<f64>) -> Array<f64> {
    let kept = xs.filter(|x| x.gt(0.0));
    let total = kept.sum();
    kept.map(|x| x * 100.0 / &total)
}

#[test]
fn a_filter_is_computed_before_and_after_its_sum() -> Result<()> {
    assert_eq!(shape(&percentages(&numbers())), [2, 0, 1]);
    same(
        || percentages(&numbers()),
        |shares| {
            assert_eq!(shares.len(), 428);
            // 143 ones, 143 twos and 142 threes: the sum is exact in any order.
            assert_eq!(shares[..3], [1.0, 2.0, 3.0].map(|x| x * 100.0 / 855.0));
        },
    )
}

#[test]
fn a_chain_is_computed_again_if_its_operators_cost_less() {
    let centered = |steps: usize| {
        let mut ys = numbers();
        for k in 0..steps {
            ys = ys.map(|y| y * 0.5 + k as f64);
        }
        let mean = ys.mean();
        ys.map(|y| y - &mean)
    };
    assert_eq!(shape(&centered(1)), [2, 0, 1]);
    assert_eq!(shape(&centered(7)), [2, 0, 7]);
    // Sixteen bytes more than a read of the input: eight operators on pairs of floats.
    assert_eq!(shape(&centered(9)), [2, 1, 0]);
}

#[test]
fn recompute_keeps_costly_arrays() {
    let shares = |ys: Array<f64>| {
        let total = ys.sum();
        ys.map(|y| y / &total)
    };
    let xs = numbers();
    let at = Array::from(vec![2u64, 0, 1]);
    assert_eq!(shape(&shares(xs.map(|x| x.exp()))), [2, 1, 0]);
    assert_eq!(shape(&shares(xs.map(|x| 1.0 / x))), [2, 1, 0]);
    assert_eq!(shape(&shares(xs.gather(&at))), [2, 1, 0]);
    // Floating-point prefix sums have the same layout as the loop's elements.
    assert_eq!(shape(&shares(xs.scan(0.0, |a, b| a + b))), [2, 1, 0]);
    // A cheap filter of an expensive map.
    let costly = xs.map(|x| x.exp()).filter(|x| x.gt(1.0));
    assert_eq!(shape(&shares(costly)), [2, 1, 0]);
}

#[test]
fn recompute_keeps_narrow_arrays_unless_their_input_is_read() {
    let xs = numbers();
    let tags = xs.map(|x| x.gt(0.5));
    let count = tags.map(|t| t.cast::<u64>()).sum();
    let weights = tags.map(|t| t.cast::<u64>() * &count);
    assert_eq!(shape(&weights)[1..], [1, 0]);
    let share = count.map(|c| 1.0 / c.cast::<f64>());
    let both = tags.zip_with(&xs, |t, x| t.cond(x, 0.0) * &share);
    assert_eq!(shape(&both)[1..], [0, 1]);
}

#[test]
fn segments_and_packs_are_computed_again() -> Result<()> {
    let program = || {
        let xs = Array::from((0..900i64).map(|x| x % 11 - 5).collect::<Vec<_>>());
        let tags = xs.map(|x| x.gt(0));
        let kept = xs.map(|x| x * 3).pack(&tags);
        let most = kept.max();
        kept.map(|k| k - &most)
    };
    assert_eq!(shape(&program())[..2], [2, 0]);
    same(program, |got| {
        let want = (0..900i64).map(|x| x % 11 - 5).filter(|x| *x > 0);
        assert_eq!(got, want.map(|x| x * 3 - 15).collect::<Vec<_>>());
    })
}

#[test]
fn recompute_traps_as_before() {
    let xs = Array::from(vec![1.0f64, 2.0, 4.0]);
    let next = generate(3, |i| xs.at(i + 1) - xs.at(i));
    let total = next.sum();
    let shares = next.map(|d| d - &total);
    let plan = planned(&shares, Clustering::default());
    assert_eq!(plan.loops()[1].copies.len(), 1);
    for clustering in [
        Clustering::Unfused,
        Clustering::Greedy,
        Clustering::default(),
    ] {
        let engine = Engine::builder().clustering(clustering).build();
        let error = shares
            .force_with(&engine)
            .expect_err("it reads behind the end");
        assert!(
            matches!(error.kind, ErrorKind::OutOfRange { .. }),
            "{error}"
        );
        assert_eq!(error.element, Some(2), "{clustering}");
    }
}

/// Each round needs the sum of the previous round's array. Most rounds are recomputed from an array
/// stored some rounds before, also if the search cannot try every choice.
#[test]
fn of_many_rounds_few_are_kept() -> Result<()> {
    let rounds = |n: usize| {
        let mut ys = Array::from((0..50i64).collect::<Vec<_>>());
        for _ in 0..n {
            let total = ys.sum();
            ys = ys.map(|y| y * 2 - &total);
        }
        ys
    };
    let plan = planned(&rounds(60), Clustering::default());
    assert_eq!(plan.loops().len(), 61);
    let stored = plan.loops().iter().map(|l| l.arrays.len()).sum::<usize>();
    assert!(stored <= 15, "{stored}");
    assert!(plan.bound() <= plan.cost());
    let mut want: Vec<i64> = (0..50).collect();
    for _ in 0..12 {
        let total: i64 = want.iter().copied().fold(0, i64::wrapping_add);
        want = want
            .iter()
            .map(|y| y.wrapping_mul(2).wrapping_sub(total))
            .collect();
    }
    same(|| rounds(12), |got| assert_eq!(got, want))
}

#[test]
fn only_the_optimal_clustering_computes_again() {
    let shares = percentages(&numbers());
    for clustering in [Clustering::Unfused, Clustering::Greedy] {
        let plan = planned(&shares, clustering);
        assert!(plan.loops().iter().all(|l| l.copies.is_empty()));
    }
}

#[test]
fn a_report_says_what_both_ways_cost() -> Result<()> {
    let shares = percentages(&numbers());
    let explained = shares.explain_with(&Engine::interp())?;
    // The input and two operators on eight bytes, for 1024 floats; or 512 floats written and read.
    let cost = explained.loops[1].recomputed.map(|c| (c.bytes, c.kept));
    assert_eq!(cost, Some((1024 * (8 + 2), 512 * (16 + 8))));
    let report = explained.to_string();
    assert!(
        report.contains("10240 bytes' worth at nominal lengths, 12288 to store it"),
        "{report}"
    );
    assert!(report.contains(", rematerialised"), "{report}");
    // Only the sum crosses loops.
    let between = report
        .split("between loops:")
        .nth(1)
        .map(|t| t.matches("->").count());
    assert_eq!(between, Some(1), "{report}");
    Ok(())
}

/// A zip's input from memory is not recomputed for consumers of the zip's elements: they read it.
#[test]
fn recompute_keeps_arrays_that_a_zip_reads() -> Result<()> {
    let program = || {
        let zeros = Array::from(Vec::<u64>::new()).map(|_| 0u64);
        let spread = Segmented::replicate(&zeros, &Array::from(Vec::<u64>::new()));
        let pairs = Segmented::new(&zeros, &zeros.zip(spread.data()));
        let sums = pairs.fold((0u64, 0u64), |(a, b), (x, y)| (a + x, b + y));
        let products = pairs.fold((1u64, 0u64), |(a, b), (x, y)| (a * x, x * b + y));
        concat([&sums, &products, &products])
    };
    same(program, |all| assert_eq!(all, [(0u64, 0u64); 0]))
}
