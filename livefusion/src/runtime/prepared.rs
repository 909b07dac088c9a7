//! Prepared programs: traced once, called many times with new inputs.

use super::engine::Engine;
use super::program::{Bindings, Program};
use crate::ast::{Node, Types, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::rates::{known_lengths, length_pattern};
use crate::sharing::{Graph, recover};
use std::sync::{Arc, RwLock};

/// A graph over placeholders. What a call depends on beyond the structure is which of its inputs have
/// equal lengths: each such pattern is compiled once.
pub struct Prepared {
    engine: Engine,
    graph: Graph,
    inputs: Vec<Arc<Node>>,
    programs: RwLock<Vec<(Vec<u64>, Arc<Program>)>>,
}

impl Prepared {
    /// Recovers the graph of `roots`, in which `inputs` are placeholders ([`crate::ast::Kind::Input`]).
    ///
    /// Errors: whatever went wrong while the graph was built.
    pub fn new(engine: &Engine, roots: Vec<Arc<Node>>, inputs: Vec<Arc<Node>>) -> Result<Prepared> {
        let graph = recover(&roots)?;
        Ok(Prepared {
            engine: engine.clone(),
            graph,
            inputs,
            programs: RwLock::default(),
        })
    }

    /// Runs the program on these inputs.
    ///
    /// Errors: an input whose type is not the placeholder's; traps.
    pub fn call(&self, inputs: &[Value]) -> Result<Vec<Value>> {
        self.check(inputs)?;
        let lens: Vec<Option<u64>> = inputs
            .iter()
            .map(|v| match v {
                Value::Array(fields) => fields.first().map(|f| f.len() as u64),
                Value::Scalar(_) => None,
            })
            .collect();
        let lengths = known_lengths(&self.graph, &lens);
        let program = self.program(&lengths)?;
        program.run(&self.engine, &Bindings::new(&self.graph, &lengths, inputs))
    }

    fn program(&self, lengths: &[Option<u64>]) -> Result<Arc<Program>> {
        let pattern = length_pattern(lengths);
        let known = self.programs.read().map_or(None, |programs| {
            programs
                .iter()
                .find(|(p, _)| *p == pattern)
                .map(|(_, program)| program.clone())
        });
        if let Some(program) = known {
            return Ok(program);
        }
        let program = self.engine.program(&self.graph, lengths)?;
        if let Ok(mut programs) = self.programs.write() {
            programs.push((pattern, program.clone()));
        }
        Ok(program)
    }

    fn check(&self, inputs: &[Value]) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            return Err(malformed(
                format!("{} inputs", self.inputs.len()),
                inputs.len().to_string(),
            ));
        }
        for (node, value) in self.inputs.iter().zip(inputs) {
            let (rank, types): (u8, Types) = match value {
                Value::Scalar(fields) => (0, fields.iter().map(|c| c.ty).collect()),
                Value::Array(fields) => (1, fields.iter().map(|b| b.ty()).collect()),
            };
            if rank != node.rank || types != node.types {
                return Err(malformed(
                    format!("rank {} of {:?}", node.rank, node.types),
                    format!("rank {rank} of {types:?}"),
                ));
            }
        }
        Ok(())
    }
}

fn malformed(expected: String, got: String) -> Error {
    Error {
        combinator: "prepare",
        location: None,
        kind: ErrorKind::Malformed { expected, got },
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Prepared({} nodes, {:?})",
            self.graph.nodes.len(),
            self.engine
        )
    }
}
