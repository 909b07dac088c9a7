//! Clustering: the loops of each strategy, their cost, and reasons for fusion-breaking edges.

use livefusion::prelude::*;
use livefusion::stages::{self, NodeId, Plan, Reason};
use livefusion::{Clustering, Engine, Result};

fn planned(program: &(impl Force + ?Sized), clustering: Clustering) -> Plan {
    stages::graph(program).expect("a graph").plan(clustering)
}

/// The edges between loops: names of producer and consumer, the reason, and the node between them.
fn crossings(plan: &Plan) -> Vec<(&str, &str, Reason, &str)> {
    let name = |n: NodeId| plan.graph().node(n).map_or("", |n| n.name);
    let crossings = plan.crossings().iter();
    crossings
        .map(|c| {
            (
                name(c.from.0),
                name(c.to),
                c.reason,
                c.between.map_or("", name),
            )
        })
        .collect()
}

fn floats() -> Array<f64> {
    vec![0.5, 0.001, 0.25].into()
}

const EVERY: [Clustering; 3] = [
    Clustering::Unfused,
    Clustering::Greedy,
    Clustering::Optimal {
        steps: Clustering::STEPS,
    },
];

#[test]
fn unfused_has_a_loop_per_combinator() {
    let kept = floats().map(|x| x + 1.0).filter(|x| x.gt(1.0));
    let results = (&kept, &kept.sum(), &kept.min());
    let unfused = planned(&results, Clustering::Unfused);
    assert_eq!(unfused.loops().len(), 4);
    assert!(unfused.loops().iter().all(|l| l.nodes.len() == 1));
    let nothing = Reason::Unfused;
    assert_eq!(
        crossings(&unfused),
        [
            ("map", "filter", nothing, ""),
            ("filter", "sum", nothing, ""),
            ("filter", "min", nothing, ""),
        ]
    );
    let fused = planned(&results, Clustering::default());
    assert_eq!(fused.loops().len(), 1);
    assert!(fused.is_proven() && fused.crossings().is_empty());
    // Costs: 1024 floats read once, and the kept ones (nominally half) written, which counts twice.
    assert_eq!(fused.cost().bytes, 8 * (1024 + 2 * 512));
    // In addition, the map's result is written and read, and the filter's result is read twice.
    assert_eq!(
        unfused.cost().bytes,
        fused.cost().bytes + 8 * (2 * 1024 + 1024 + 512 + 512)
    );
}

#[test]
fn free_generators_are_in_no_loop_whatever_the_strategy() {
    for clustering in EVERY {
        let sum = zip((&iota(3), &floats()))
            .map(|(i, x)| i.cast::<f64>() * x)
            .sum();
        let plan = planned(&sum, clustering);
        let expected = if clustering == Clustering::Unfused {
            2
        } else {
            1
        };
        assert_eq!(plan.loops().len(), expected, "{clustering}");
    }
}

/// Greedy puts each node into the first loop that can take it. The second map joins the sum that
/// reads the same input, away from its own consumer.
#[test]
fn optimal_beats_greedy_where_the_first_loop_is_not_the_best() {
    let (xs, ys) = (floats(), floats());
    let total = xs.sum();
    let doubled = ys.map(|y| y.sqrt());
    let result = doubled
        .zip_with(&xs, |d, x| d + x)
        .map(|z| z / &total)
        .sum();
    let greedy = planned(&result, Clustering::Greedy);
    assert_eq!(greedy.loops().len(), 2);
    let optimal = planned(&result, Clustering::default());
    assert_eq!(optimal.loops().len(), 2);
    assert!(optimal.is_proven());
    assert!(greedy.cost() > optimal.cost(), "{greedy}{optimal}");
    // Only the total crosses loops.
    assert_eq!(optimal.cost().bytes, 3 * 8 * 1024);
    assert_eq!(crossings(&optimal), [("sum", "map", Reason::Fold, "")]);
    // Greedy stores the zip.
    let last = crossings(&greedy).pop();
    assert_eq!(last.map(|c| c.2), Some(Reason::Fold));
    assert_eq!(greedy.loops()[0].arrays.len(), 1);
}

#[test]
fn reasons_for_what_crosses_loops() {
    let xs = floats();
    let total = xs.sum();
    let shares = xs.map(|x| x.sqrt()).map(|x| x / &total);
    let kept = xs.filter(|x| x.gt(0.1));
    let paired = kept.zip_with(&kept.filter(|x| x.lt(0.3)), |a, b| a + b);
    let half = total.map(|t| t * 0.5);
    let above = xs.filter(|x| x.gt(&half));
    let ys = xs.map(|x| x.exp());
    let picked = ys.gather(&Array::from(vec![0u64, 2]));
    let reached = xs
        .scan(0.0, |a, b| a + b)
        .gather(&Array::from(vec![0u64, 2]));
    let placed = Array::from(vec![0.0f64; 3]).scatter(&iota(3), &ys);
    let after = placed.map(|p| p + 1.0);
    let normal = ys.zip_with(&ys.map(|y| y / ys.sum()), |a, b| a - b);
    let results = (
        &shares, &kept, &paired, &above, &picked, &reached, &after, &normal,
    );
    let plan = planned(&results, Clustering::default());
    let found = crossings(&plan);
    let expect = |from: &str, to: &str, reason: Reason, between: &str| {
        let is_there = found.contains(&(from, to, reason, between));
        assert!(is_there, "{from} {to} {reason}: {found:#?}");
    };
    expect("sum", "map", Reason::Fold, "");
    expect("filter", "zip_with", Reason::RatesDiffer, "");
    expect("map", "filter", Reason::Scalar, "");
    expect("map", "gather", Reason::Costly, "");
    expect("scan", "gather", Reason::RandomAccess, "");
    expect("scatter", "map", Reason::ScatterResult, "");
    expect("map", "zip_with", Reason::Between, "sum");
}

#[test]
fn delayed_lengths_are_known_before_the_loop() {
    let n = floats()
        .filter(|x| x.gt(0.1))
        .map(|x| x * 4.0)
        .max()
        .map(|x| x.cast::<u64>());
    let many = generate(&n, |i| i.cast::<f64>().sqrt());
    let plan = planned(&many, Clustering::default());
    let length = ("map", "generate", Reason::Length, "");
    assert_eq!(crossings(&plan), [length]);
}

#[test]
fn a_budget_of_nothing_gives_the_greedy_schedule_and_its_gap() {
    let (xs, ys) = (floats(), floats());
    let total = xs.sum();
    let result = ys
        .map(|y| y.sqrt())
        .zip_with(&xs, |d, x| d + x)
        .map(|z| z / &total);
    let none = planned(&result, Clustering::Optimal { steps: 0 });
    let greedy = planned(&result, Clustering::Greedy);
    let loops_of =
        |plan: &Plan| -> Vec<_> { plan.graph().ids().map(|n| plan.loop_of(n)).collect() };
    assert_eq!(loops_of(&none), loops_of(&greedy));
    assert!(!none.is_proven() && none.bound() < none.cost());
}

#[test]
fn every_strategy_gives_the_same_values() -> Result<()> {
    for clustering in EVERY {
        let engine = Engine::builder().clustering(clustering).build();
        let xs = Array::from(vec![3i64, -2, 7, 0, 5]);
        let kept = xs.map(|x| x * 2).filter(|x| x.gt(0));
        let total = kept.sum();
        let shares = kept.map(|x| x * 100 / &total);
        let results = (&kept, &shares, &total, &shares.max()).force_with(&engine)?;
        assert_eq!(results.0, [6, 14, 10]);
        assert_eq!(results.1, [20, 46, 33]);
        assert_eq!((results.2, results.3), (30, 46));
    }
    Ok(())
}

#[test]
fn a_long_chain_is_planned_at_once() {
    let mut xs = floats();
    for k in 0..8_000 {
        xs = match k % 4 {
            0 => xs.filter(|x| x.gt(k as f64)),
            _ => xs.map(|x| x + k as f64),
        };
    }
    for clustering in EVERY {
        let plan = planned(&xs.sum(), clustering);
        let (expected, reason) = match clustering {
            Clustering::Unfused => (8001..=8001, Reason::Unfused),
            // 2000 filters of weight 8, 6000 maps of weight 1, and at most 256 in a loop.
            _ => (86..=92, Reason::Budget),
        };
        let loops = plan.loops().len();
        assert!(expected.contains(&loops), "{loops}");
        assert!(plan.crossings().iter().all(|c| c.reason == reason));
    }
}
