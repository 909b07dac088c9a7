//! Parts of a prepared program: graphs without loops over arrays.

use super::binding::{Bindings, InputPlaces, Nodes, There};
use super::engine::{Engine, recover};
use super::explain::Explanation;
use super::program::CompiledProgram;
use crate::ast::{Input, Kind, Node, Value, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::sharing::{
    Graph, GraphNode, KnownLengths, Measure, NodeId, Pattern, address, has_pattern, length_pattern,
    number,
};
use livefusion_backend::Buffer;
use livefusion_backend::process::PerProcess;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Maps the available nodes of a prepared program to places.
///
/// The inputs of a call come first, then intermediates.
#[derive(Default)]
pub struct Available {
    places: FxHashMap<usize, usize>,
    next: usize,
}

impl Available {
    /// Starts with the inputs of a call.
    pub fn new(inputs: &[Arc<Node>]) -> Available {
        let mut given = Available::default();
        inputs.iter().for_each(|node| given.add(node));
        given
    }

    /// Counts the places.
    pub fn len(&self) -> usize {
        self.next
    }

    /// Assigns the next place to a node.
    ///
    /// A node with a value needs no place. A node that has one keeps it.
    pub fn add(&mut self, node: &Arc<Node>) {
        if node.value.get().is_none() {
            self.places.entry(address(node)).or_insert(self.next);
        }
        self.next += 1;
    }

    /// Returns the place of a node, if it is below `known`.
    pub fn place(&self, node: &Arc<Node>, known: usize) -> Option<usize> {
        let place = self.places.get(&address(node)).copied();
        place.filter(|at| *at < known)
    }
}

/// Holds a graph over available values, compiled for each pattern of lengths.
///
/// Beyond the structure, the code depends only on the equality of its inputs' lengths. Each such
/// pattern is compiled once.
pub struct ProgramPart {
    roots: Vec<Arc<Node>>,
    graph: Graph,
    /// The place of each input of the graph.
    takes: SmallVec<[usize; 8]>,
    /// The lengths known to a call, in the order of their nodes.
    lengths: Vec<CallLength>,
    /// The lengths that are numbers of their own.
    measures: Vec<Measure>,
    compiled: PerProcess<Compiled>,
}

/// The compiled programs by length pattern, in this process.
#[derive(Default)]
struct Compiled {
    /// The program of the first call. Most calls have its pattern.
    first: OnceLock<(Pattern, Arc<CompiledProgram>)>,
    others: RwLock<Vec<(Pattern, Arc<CompiledProgram>)>>,
}

/// A length known at the call.
enum CallLength {
    /// The length of an input.
    Of(u32),
    /// A length that is the same in every call.
    Fixed(u64),
}

impl ProgramPart {
    /// Recovers the graph of `roots`.
    ///
    /// The nodes at the first `known` places are its inputs. It may consume their values, except at
    /// the `kept` places.
    ///
    /// Errors: an error made while the graph was built; an input of another program.
    pub fn new(
        roots: Vec<Arc<Node>>,
        given: &Available,
        known: usize,
        kept: Range<usize>,
    ) -> Result<ProgramPart> {
        let mut takes = SmallVec::new();
        let mut leaked = None;
        let graph = recover(&roots, &mut |node| {
            if let Some(place) = given.place(node, known) {
                takes.push(place);
                let input = Input {
                    number: takes.len() as u32 - 1,
                    consumed: !kept.contains(&place),
                };
                return Some(input.instead_of(node));
            }
            let is_input = matches!(node.kind, Kind::Input(_)) && node.value.get().is_none();
            if is_input && leaked.is_none() {
                leaked = Some(node.clone());
            }
            None
        })?;
        if let Some(node) = leaked {
            let kind = ErrorKind::Malformed {
                expected: "inputs of this program only".into(),
                got: "one of another program".into(),
            };
            return Err(Error::new(node.name, node.loc, kind));
        }
        let fixed = KnownLengths::of(&graph, &[]);
        let length = |(node, fixed): (&GraphNode, &Option<u64>)| match node.node.kind {
            Kind::Input(input) if fixed.is_none() && node.node.rank > 0 => {
                Some(CallLength::Of(input.number))
            }
            _ => fixed.map(CallLength::Fixed),
        };
        Ok(ProgramPart {
            lengths: graph
                .nodes
                .iter()
                .zip(&fixed.arrays)
                .filter_map(length)
                .collect(),
            measures: fixed.measures,
            roots,
            graph,
            takes,
            compiled: PerProcess::new(),
        })
    }

    /// Runs the part, and appends its values.
    ///
    /// Results may be written into `spare` arrays, the columns of each root. Used arrays are taken
    /// out.
    ///
    /// Errors: those of the backend; traps.
    pub fn call(
        &self,
        engine: &Engine,
        there: There<'_>,
        spare: &mut [Vec<Arc<Buffer>>],
        values: &mut Values,
    ) -> Result<()> {
        let mut lengths = SmallVec::new();
        self.lengths_with(&there, &mut lengths);
        let other;
        let compiled = self.compiled.get_or_make(Compiled::default);
        let program = match compiled.first.get() {
            Some((first, program)) if self.has_pattern(first, &lengths, &there) => program,
            _ => {
                other = self.program(engine, compiled, &there, &lengths)?;
                &other
            }
        };
        let mut bindings = Bindings {
            nodes: Nodes::Of(&self.graph),
            constants: &self.graph.constants,
            lengths: &lengths,
            inputs: InputPlaces {
                places: &self.takes,
                there,
            },
        };
        program.run(engine, &mut bindings, spare, values)
    }

    /// Explains the loops of a call with these lengths, and returns its results' lengths.
    ///
    /// `None` stands for an unknown length.
    ///
    /// Errors: those of the backend.
    pub fn explain(
        &self,
        engine: &Engine,
        lengths: &[Option<u64>],
    ) -> Result<(Explanation, Vec<Option<u64>>)> {
        let at = |place: &usize| lengths.get(*place).copied().flatten();
        let inputs: Vec<Option<u64>> = self.takes.iter().map(at).collect();
        let lengths = KnownLengths::of(&self.graph, &inputs);
        let program = match lengths.are_complete(self.lengths.len()) {
            true => engine.lookup(&self.roots, &self.graph, &lengths)?.0,
            // No call knows so few lengths, so this program is not cached.
            false => Arc::new(CompiledProgram::compile(
                engine,
                &self.roots,
                &self.graph,
                &lengths,
            )?),
        };
        let rates = &program.plan.rates;
        let length = |root: &Arc<Node>| {
            let id = self.graph.by_address.get(&address(root))?;
            let (id, field) = self.graph.resolve(*id, 0);
            if root.rank == 0 {
                let node = self.graph.node(id);
                return match (node.value.get(), &node.kind) {
                    (Some(value), _) => number(value, field),
                    (None, Kind::Input(input)) => inputs.get(input.number as usize).copied()?,
                    _ => None,
                };
            }
            let in_memory = || rates.in_memory(rates.output(id)?);
            let known = |id: NodeId| lengths.arrays[id.index()];
            let known = known(id).or_else(|| known(in_memory()?));
            known.or_else(|| root.known_len())
        };
        let of_results = self.roots.iter().map(length).collect();
        let explanation = Explanation::new(&self.graph, &program, engine)?;
        Ok((explanation, of_results))
    }

    /// Appends the lengths known to a call with these values.
    fn lengths_with(&self, there: &There<'_>, lengths: &mut SmallVec<[u64; 8]>) {
        for length in &self.lengths {
            lengths.push(match length {
                CallLength::Of(k) => {
                    let place = self.takes.get(*k as usize);
                    let value = place.and_then(|place| there.get(*place));
                    value.and_then(length_of).unwrap_or(0)
                }
                CallLength::Fixed(n) => *n,
            });
        }
    }

    /// Tells whether a call with these lengths and values has a pattern.
    fn has_pattern(&self, pattern: &Pattern, lengths: &[u64], there: &There<'_>) -> bool {
        match self.measures.is_empty() {
            true => has_pattern(pattern, lengths),
            false => *pattern == length_pattern(lengths, self.measured(there)),
        }
    }

    /// Returns the values of the measures in a call with these values.
    fn measured<'m>(
        &'m self,
        there: &'m There<'_>,
    ) -> impl Iterator<Item = (&'m Measure, Option<u64>)> + Clone {
        let scalar = |(id, field)| {
            let node = self.graph.node(id);
            match (node.value.get(), &node.kind) {
                (Some(value), _) => number(value, field),
                (None, Kind::Input(input)) => {
                    let place = self.takes.get(input.number as usize)?;
                    number(there.get(*place)?, field)
                }
                _ => None,
            }
        };
        let slot = |slot: u32| self.graph.constants.get(slot as usize).copied();
        self.measures
            .iter()
            .map(move |m| (m, m.value(scalar, slot)))
    }

    /// Returns the program for a pattern of lengths, compiled on first use.
    fn program(
        &self,
        engine: &Engine,
        compiled: &Compiled,
        there: &There<'_>,
        lengths: &[u64],
    ) -> Result<Arc<CompiledProgram>> {
        let pattern = length_pattern(lengths, self.measured(there));
        let others = compiled
            .others
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = others.iter().find(|(p, _)| *p == pattern) {
            return Ok(program.clone());
        }
        drop(others);
        let length = |place: &usize| there.get(*place).and_then(length_of);
        let lens: Vec<Option<u64>> = self.takes.iter().map(length).collect();
        let lengths = KnownLengths::of(&self.graph, &lens);
        let program = engine.program(&self.roots, &self.graph, &lengths)?;
        let known = (pattern, program.clone());
        if let Err(known) = compiled.first.set(known) {
            let others = compiled.others.write();
            others.unwrap_or_else(PoisonError::into_inner).push(known);
        }
        Ok(program)
    }

    /// Lists the roots that are available values unchanged, with their places.
    pub fn passed_on(&self) -> impl Iterator<Item = (usize, usize)> {
        let place = |(root, id): (usize, &NodeId)| {
            let (from, field) = self.graph.resolve(*id, 0);
            let from = self.graph.node(from);
            let is_whole = field == 0 && from.types == self.graph.node(*id).types;
            match from.kind {
                Kind::Input(input) if is_whole => {
                    Some((root, *self.takes.get(input.number as usize)?))
                }
                _ => None,
            }
        };
        self.graph.roots.iter().enumerate().filter_map(place)
    }

    /// Returns the places it reads.
    pub fn places(&self) -> &[usize] {
        &self.takes
    }

    /// Counts the nodes of its graph.
    pub fn nodes(&self) -> usize {
        self.graph.nodes.len()
    }
}

/// Returns the length of an array, or the value of a delayed `u64`.
pub fn length_of(value: &Value) -> Option<u64> {
    match value {
        Value::Array(fields) => fields.first().map(|f| f.len() as u64),
        Value::Scalar(fields) => match fields.as_slice() {
            [n] if n.ty == Ty::U64 => Some(n.bits),
            _ => None,
        },
    }
}
