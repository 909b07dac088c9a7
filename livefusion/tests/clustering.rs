//! Clustering of graphs: what each strategy makes of a program, what it costs, and why edges cross loops.

use livefusion::ast::Node;
use livefusion::fusion::{Plan, Reason, plan, plan_apart, rates::known_lengths};
use livefusion::prelude::*;
use livefusion::sharing::{Graph, NodeId, recover};
use livefusion::{Clustering, Engine, Result};
use std::sync::Arc;

fn graph(roots: &[&Arc<Node>]) -> Graph {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| Arc::clone(r)).collect();
    recover(&roots).expect("a graph")
}

fn planned(roots: &[&Arc<Node>], clustering: Clustering) -> (Graph, Plan) {
    let graph = graph(roots);
    let plan = plan(&graph, &known_lengths(&graph, &[]), clustering);
    (graph, plan)
}

/// What crosses loops: the names of maker and user, the reason, and what is between them.
fn crossings(graph: &Graph, plan: &Plan) -> Vec<(&'static str, &'static str, Reason, String)> {
    let name = |n: NodeId| graph.node(n).name;
    let crossings = plan.crossings.iter();
    crossings
        .map(|c| {
            let between = c.between.map_or("", name).to_string();
            (name(c.from.0), name(c.to), c.reason, between)
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
    let roots = [kept.node(), kept.sum().node(), kept.min().node()].map(Arc::clone);
    let (graph, unfused) = planned(&[&roots[0], &roots[1], &roots[2]], Clustering::Unfused);
    assert_eq!(unfused.loops.len(), 4);
    assert!(unfused.loops.iter().all(|l| l.nodes.len() == 1));
    let nothing = Reason::Unfused;
    assert_eq!(
        crossings(&graph, &unfused),
        [
            ("map", "filter", nothing, String::new()),
            ("filter", "sum", nothing, String::new()),
            ("filter", "min", nothing, String::new()),
        ]
    );
    let (_, fused) = planned(&[&roots[0], &roots[1], &roots[2]], Clustering::default());
    assert_eq!(fused.loops.len(), 1);
    assert!(fused.is_proven() && fused.crossings.is_empty());
    // Read once, and what is kept (half, nominally) written: 1024 floats and a half.
    assert_eq!(fused.cost.bytes, 8 * (1024 + 512));
    // Besides, the map's result is written and read, and the filter's is read twice.
    assert_eq!(
        unfused.cost.bytes,
        fused.cost.bytes + 8 * (1024 + 1024 + 512 + 512)
    );
}

#[test]
fn free_generators_are_in_no_loop_whatever_the_strategy() {
    for clustering in EVERY {
        let sum = zip((&iota(3), &floats()))
            .map(|(i, x)| i.cast::<f64>() * x)
            .sum();
        let (_, plan) = planned(&[sum.node()], clustering);
        let expected = if clustering == Clustering::Unfused {
            2
        } else {
            1
        };
        assert_eq!(plan.loops.len(), expected, "{clustering}");
    }
}

/// Greedy puts each into the first loop that can take it: the second map beside the sum that reads the
/// same input, and away from its own user.
#[test]
fn optimal_beats_greedy_where_the_first_loop_is_not_the_best() {
    let (xs, ys) = (floats(), floats());
    let total = xs.sum();
    let doubled = ys.map(|y| y.sqrt());
    let result = doubled
        .zip_with(&xs, |d, x| d + x)
        .map(|z| z / &total)
        .sum();
    let (graph, greedy) = planned(&[result.node()], Clustering::Greedy);
    assert_eq!(greedy.loops.len(), 2);
    let (_, optimal) = planned(&[result.node()], Clustering::default());
    assert_eq!(optimal.loops.len(), 2);
    assert!(optimal.is_proven());
    assert!(
        greedy.cost > optimal.cost,
        "{:?} {:?}",
        greedy.cost,
        optimal.cost
    );
    // The total, and nothing else, goes from one loop to the other.
    assert_eq!(optimal.cost.bytes, 3 * 8 * 1024);
    let total = ("sum", "map", Reason::Fold, String::new());
    assert_eq!(crossings(&graph, &optimal), [total]);
    // Greedy stores the zip.
    let last = crossings(&graph, &greedy).pop();
    assert_eq!(last.map(|c| c.2), Some(Reason::Fold));
    assert_eq!(greedy.loops[0].arrays.len(), 1);
}

#[test]
fn reasons_for_what_crosses_loops() {
    let xs = floats();
    let total = xs.sum();
    let shares = xs.map(|x| x.sqrt()).map(|x| x / &total);
    let kept = xs.filter(|x| x.gt(0.1));
    let paired = kept.zip_with(&xs.filter(|x| x.lt(0.3)), |a, b| a + b);
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
    let roots = [
        shares.node(),
        kept.node(),
        paired.node(),
        above.node(),
        picked.node(),
        reached.node(),
        after.node(),
        normal.node(),
    ];
    let (graph, plan) = planned(&roots, Clustering::default());
    let found = crossings(&graph, &plan);
    let expect = |from: &str, to: &str, reason: Reason, between: &str| {
        let is = |c: &&(_, _, Reason, String)| {
            (c.0, c.1, c.2, c.3.as_str()) == (from, to, reason, between)
        };
        assert!(
            found.iter().any(|c| is(&c)),
            "{from} {to} {reason}: {found:#?}"
        );
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
    let (graph, plan) = planned(&[many.node()], Clustering::default());
    let length = ("map", "generate", Reason::Length, String::new());
    assert_eq!(crossings(&graph, &plan), [length]);
}

#[test]
fn pairs_that_a_layout_cannot_hold_are_apart() {
    let xs = floats();
    let ys = xs.map(|x| x + 1.0);
    let total = ys.sum();
    let graph = graph(&[ys.node(), total.node()]);
    let id = |n: &Arc<Node>| graph.by_address[&(Arc::as_ptr(n) as usize)];
    let apart = [(id(ys.node()), id(total.node()))];
    for clustering in EVERY {
        let plan = plan_apart(&graph, &known_lengths(&graph, &[]), clustering, &apart);
        assert_eq!(plan.loops.len(), 2, "{clustering}");
        assert_eq!(plan.crossings.len(), 1);
        assert_eq!(plan.crossings[0].reason, Reason::Layout);
    }
}

#[test]
fn a_budget_of_nothing_gives_the_greedy_schedule_and_its_gap() {
    let (xs, ys) = (floats(), floats());
    let total = xs.sum();
    let result = ys
        .map(|y| y.sqrt())
        .zip_with(&xs, |d, x| d + x)
        .map(|z| z / &total);
    let (_, none) = planned(&[result.node()], Clustering::Optimal { steps: 0 });
    let (_, greedy) = planned(&[result.node()], Clustering::Greedy);
    assert_eq!(none.loop_of, greedy.loop_of);
    assert!(!none.is_proven() && none.bound < none.cost);
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
    for k in 0..20_000 {
        xs = match k % 4 {
            0 => xs.filter(|x| x.gt(k as f64)),
            _ => xs.map(|x| x + k as f64),
        };
    }
    for clustering in EVERY {
        let (_, plan) = planned(&[xs.sum().node()], clustering);
        let (expected, reason) = match clustering {
            Clustering::Unfused => (20_001..=20_001, Reason::Unfused),
            // 5000 filters of weight 8, 15,000 maps of weight 1, and no more than 256 in a loop.
            _ => (215..=230, Reason::Budget),
        };
        assert!(expected.contains(&plan.loops.len()), "{}", plan.loops.len());
        assert!(plan.crossings.iter().all(|c| c.reason == reason));
    }
}
