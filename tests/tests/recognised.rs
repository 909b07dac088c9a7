//! Cache matches of graphs agree with sharing recovery, for random programs.
//!
//! The constants of the programs become equal and different.

use livefusion::ast::Node;
use livefusion::error::Error;
use livefusion::prelude::*;
use livefusion::runtime::force_nodes;
use livefusion::stages;
use livefusion_tests::check::data;
use livefusion_tests::naive::Data;
use livefusion_tests::program::{Body, Graph, Options, Program, Step, Term, random};
use livefusion_tests::rng::Rng;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The results of two programs over the same arrays that differ only in constants. Equal parts are
/// computed once.
fn together(one: &Program, other: &Program) -> Vec<Arc<Node>> {
    let Graph { nodes, roots, .. } = one.build();
    let mut twins: Vec<Arc<Node>> = Vec::new();
    for (at, step) in other.steps.iter().enumerate() {
        twins.push(match step {
            Step::Data(_) => nodes[at].clone(),
            _ => step.build(at, &twins),
        });
    }
    let twins = other.roots.iter().map(|r| twins[*r].clone());
    roots.into_iter().chain(twins).collect()
}

type Given = Result<Vec<Data>, Error>;

/// A fresh graph, and an engine's results for it. `None` if it has an error, or if all results are
/// already known.
fn forced(roots: &[Arc<Node>], engine: &Engine) -> Option<(stages::Graph, Given)> {
    let graph = stages::graph_of(roots).ok()?;
    roots.iter().find(|r| r.value.get().is_none())?;
    let values = force_nodes(engine, roots);
    Some((graph, values.map(|v| v.iter().map(data).collect())))
}

/// The program with other constants, many of them equal.
fn varied(program: &Program, rng: &mut Rng) -> Program {
    let mut program = program.clone();
    for step in &mut program.steps {
        match step {
            Step::Constant(fields) => fields.iter_mut().for_each(|c| vary(c, rng)),
            // A merge may depend on its constants to terminate.
            Step::Merge(..) => {}
            _ => {
                let bodies = step.bodies_mut().into_iter();
                bodies.for_each(|body| vary_body(body, rng));
            }
        }
    }
    program
}

fn vary_body(body: &mut Body, rng: &mut Rng) {
    for term in &mut body.terms {
        if let Term::Lit(c) = term {
            vary(c, rng);
        }
    }
}

fn vary(c: &mut Const, rng: &mut Rng) {
    if c.ty != Ty::Bool && rng.chance(60) {
        *c = Const::new(c.ty, 3 + rng.below(2) as u64);
    }
}

#[test]
fn to_recognise_is_to_recover() {
    let (mut recognised, mut others) = (0, 0);
    for seed in 0..40 {
        let program = random(seed, Options::SMALL);
        let mut rng = Rng::new(seed);
        let variants: Vec<Program> = (0..3).map(|_| varied(&program, &mut rng)).collect();
        let engine = Engine::interp();
        let mut known: Vec<stages::Graph> = Vec::new();
        for (a, b) in [(0, 1), (1, 1), (0, 0), (1, 2)] {
            let roots = || together(&variants[a], &variants[b]);
            let Some((graph, anew)) = forced(&roots(), &Engine::interp()) else {
                continue;
            };
            for is_known in [false, true] {
                let before = engine.counters().recognised;
                let given = forced(&roots(), &engine).map(|f| f.1);
                assert_eq!(given.as_ref(), Some(&anew), "seed {seed}, {a} and {b}");
                if engine.counters().recognised > before {
                    recognised += 1;
                    let alike = known.iter().any(|k| k.is_like(&graph));
                    assert!(alike, "seed {seed}, {a} and {b}: of another structure");
                } else {
                    others += 1;
                    assert!(!is_known, "seed {seed}, {a} and {b}: forgotten");
                }
                known.push(graph.clone());
            }
        }
    }
    println!("{recognised} recognised, {others} not");
    assert!(
        recognised > 120 && others > 100,
        "{recognised} recognised, {others} not"
    );
}
