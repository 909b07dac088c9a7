//! Calls of prepared programs and forces of the same graphs have equal results.

use livefusion::ast::{Builder, Node, Value};
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::prepare::values_of;
use livefusion::runtime::{Prepared, force_nodes};
use livefusion_tests::check::data;
use livefusion_tests::naive::Data;
use livefusion_tests::program::{Graph, Options, Program, Step, random};
use std::sync::Arc;

/// A program whose data are inputs, with its data.
fn prepared(program: &Program, engine: &Engine) -> Option<(Prepared, Vec<Arc<Node>>)> {
    let Graph { nodes, .. } = program.build();
    let (mut own, mut inputs, mut given) = (Vec::new(), Vec::new(), Vec::new());
    for (at, step) in program.steps.iter().enumerate() {
        own.push(match step {
            Step::Data(_) => {
                let node = &nodes[at];
                given.push(node.clone());
                Builder::named("input").input_of(&node.types, node.rank, &mut inputs)
            }
            _ => step.build(at, &own),
        });
    }
    let roots = program.roots.iter().map(|r| own[*r].clone()).collect();
    let prepared = Prepared::new(engine, roots, inputs).ok()?;
    Some((prepared, given))
}

type Results = Result<Vec<Data>, ErrorKind>;

fn results(values: &[Value]) -> Vec<Data> {
    values.iter().map(data).collect()
}

/// The results of a force.
fn forced(program: &Program, engine: &Engine) -> Results {
    let values = force_nodes(engine, &program.build().roots);
    values.map(|v| results(&v)).map_err(|e| e.kind)
}

fn agree(engine: &Engine, seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut sound, mut traps) = (0, 0);
    for seed in seeds {
        let program = random(seed, Options::SMALL);
        let expected = forced(&program, engine);
        let Some((prepared, given)) = prepared(&program, engine) else {
            continue;
        };
        let inputs = values_of(&given).expect("data are values");
        let mut spare = Vec::new();
        for call in 0..4 {
            let values = prepared.call(&inputs, &mut spare);
            let got = values
                .as_ref()
                .map(|v| results(v))
                .map_err(|e| e.kind.clone());
            assert_eq!(got, expected, "call {call} of seed {seed}");
            // The next call may write over these results.
            let columns = |value| match value {
                Value::Array(columns) => columns,
                Value::Scalar(_) => Vec::new(),
            };
            spare = values.into_iter().flatten().map(columns).collect();
        }
        match expected {
            Ok(_) => sound += 1,
            Err(_) => traps += 1,
        }
    }
    (sound, traps)
}

#[test]
fn calls_and_forces_agree() {
    for engine in [Engine::interp(), Engine::jit(), Engine::builder().build()] {
        let before = engine.counters().written_over;
        let (sound, traps) = agree(&engine, 0..60);
        assert!(sound > 25 && traps > 2, "{sound} sound, {traps} traps");
        assert!(engine.counters().written_over > before + 30);
    }
}
