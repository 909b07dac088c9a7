//! Prepared programs: traced once, called many times with new inputs.

use super::binding::{Bindings, Nodes};
use super::engine::{Engine, recover};
use super::explain::Explanation;
use super::iterate::run_loops;
use super::program::Program;
use crate::ast::{Kind, Node, Value, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::rates::{Pattern, known_lengths, length_pattern};
use crate::sharing::{Graph, GraphNode};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// A graph over placeholders. What a call depends on beyond the structure is which of its inputs have
/// equal lengths: each such pattern is compiled once.
pub struct Prepared {
    engine: Engine,
    roots: Vec<Arc<Node>>,
    graph: Graph,
    inputs: Vec<Arc<Node>>,
    /// The lengths that a call knows, in the order of their nodes.
    lengths: Vec<Length>,
    /// The program of the first call, and its pattern: most calls have that.
    first: OnceLock<(Pattern, Arc<Program>)>,
    others: RwLock<Vec<(Pattern, Arc<Program>)>>,
}

/// A length that is known when a program is called.
enum Length {
    /// That of an input.
    Of(u32),
    /// One that every call has.
    Fixed(u64),
}

impl Prepared {
    /// Recovers the graph of `roots`, in which `inputs` are placeholders ([`crate::ast::Kind::Input`]).
    ///
    /// Errors: whatever went wrong while the graph was built; a placeholder of another program in it.
    pub fn new(engine: &Engine, roots: Vec<Arc<Node>>, inputs: Vec<Arc<Node>>) -> Result<Prepared> {
        run_loops(engine, &roots)?;
        let graph = recover(&roots)?;
        let is_own = |node: &Arc<Node>| inputs.iter().any(|own| Arc::ptr_eq(own, node));
        for GraphNode { node, .. } in &graph.nodes {
            let is_input = matches!(node.kind, Kind::Input(_)) && node.value.get().is_none();
            if is_input && !is_own(node) {
                let kind = ErrorKind::Malformed {
                    expected: "inputs of this program only".into(),
                    got: "one of another program".into(),
                };
                return Err(Error::new(node.name, node.loc, kind));
            }
        }
        let fixed = known_lengths(&graph, &[]);
        let length = |(node, fixed): (&GraphNode, &Option<u64>)| match node.node.kind {
            Kind::Input(k) if fixed.is_none() && node.node.rank > 0 => Some(Length::Of(k)),
            _ => fixed.map(Length::Fixed),
        };
        Ok(Prepared {
            engine: engine.clone(),
            lengths: graph.nodes.iter().zip(&fixed).filter_map(length).collect(),
            roots,
            graph,
            inputs,
            first: OnceLock::new(),
            others: RwLock::default(),
        })
    }

    /// Runs the program on these inputs. Results may be written into `spare` arrays, of each root its
    /// columns: those that are used are taken out.
    ///
    /// Errors: an input whose type is not the placeholder's; traps.
    pub fn call(&self, inputs: &[&Value], spare: &mut [Vec<Arc<Buffer>>]) -> Result<Values> {
        self.check(inputs)?;
        let lengths = self.lengths_with(inputs);
        let pattern = length_pattern(lengths.iter().copied());
        let bindings = Bindings {
            nodes: Nodes::Of(&self.graph),
            constants: &self.graph.constants,
            lengths: &lengths,
            inputs,
        };
        match self.first.get() {
            Some((first, program)) if *first == pattern => {
                program.run(&self.engine, &bindings, spare)
            }
            _ => self
                .program(inputs, pattern)?
                .run(&self.engine, &bindings, spare),
        }
    }

    /// Into which loops a call with these inputs fuses.
    ///
    /// Errors: an input whose type is not the placeholder's; what the backend says.
    pub fn explain(&self, inputs: &[&Value]) -> Result<Explanation> {
        self.check(inputs)?;
        let pattern = length_pattern(self.lengths_with(inputs).iter().copied());
        let program = match self.first.get() {
            Some((first, program)) if *first == pattern => program.clone(),
            _ => self.program(inputs, pattern)?,
        };
        Explanation::new(&self.graph, &program, &self.engine)
    }

    /// The lengths that a call with these inputs knows.
    fn lengths_with(&self, inputs: &[&Value]) -> SmallVec<[u64; 8]> {
        let length = |length: &Length| match length {
            Length::Of(k) => inputs
                .get(*k as usize)
                .and_then(|v| length_of(v))
                .unwrap_or(0),
            Length::Fixed(n) => *n,
        };
        self.lengths.iter().map(length).collect()
    }

    /// The program for a pattern of lengths, compiled if it is new.
    fn program(&self, inputs: &[&Value], pattern: Pattern) -> Result<Arc<Program>> {
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = others.iter().find(|(p, _)| *p == pattern) {
            return Ok(program.clone());
        }
        drop(others);
        let lens: Vec<Option<u64>> = inputs.iter().map(|v| length_of(v)).collect();
        let lengths = known_lengths(&self.graph, &lens);
        let program = self.engine.program(&self.roots, &self.graph, &lengths)?;
        let known = (pattern, program.clone());
        if let Err(known) = self.first.set(known) {
            let others = self.others.write();
            others.unwrap_or_else(PoisonError::into_inner).push(known);
        }
        Ok(program)
    }

    fn check(&self, inputs: &[&Value]) -> Result<()> {
        if inputs.len() != self.inputs.len() {
            return Err(malformed(
                format!("{} inputs", self.inputs.len()),
                inputs.len().to_string(),
            ));
        }
        for (node, value) in self.inputs.iter().zip(inputs) {
            let wanted = node.types.iter().copied();
            let (rank, fits) = match value {
                Value::Scalar(fields) => (0, wanted.eq(fields.iter().map(|c| c.ty))),
                Value::Array(fields) => (1, wanted.eq(fields.iter().map(|b| b.ty()))),
            };
            if rank != node.rank || !fits {
                let types: Vec<Ty> = match value {
                    Value::Scalar(fields) => fields.iter().map(|c| c.ty).collect(),
                    Value::Array(fields) => fields.iter().map(|b| b.ty()).collect(),
                };
                return Err(malformed(
                    format!("rank {} of {:?}", node.rank, node.types),
                    format!("rank {rank} of {types:?}"),
                ));
            }
        }
        Ok(())
    }
}

/// How long an array is.
fn length_of(value: &Value) -> Option<u64> {
    match value {
        Value::Array(fields) => fields.first().map(|f| f.len() as u64),
        Value::Scalar(_) => None,
    }
}

fn malformed(expected: String, got: String) -> Error {
    Error {
        combinator: "prepare",
        element: None,
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
