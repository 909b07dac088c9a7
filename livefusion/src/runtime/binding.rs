//! How values reach the parameters of loops, and the results of a program: where each comes from is worked
//! out once, when a program is compiled, so that a run looks nothing up.

use crate::ast::{Kind, Node, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Plan;
use crate::fusion::pull::Extent;
use crate::lower::{Lowered, Source};
use crate::sharing::{FieldRef, Graph, NodeId};
use livefusion_backend::{Arg, Buffer, Value as KernelValue};
use loop_lang::types::Const;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Nodes by their ids.
#[derive(Clone, Copy)]
pub enum Nodes<'g> {
    /// Those of a recovered graph.
    Of(&'g Graph),
    /// Those of a graph that was recognised without being recovered.
    Met(&'g [&'g Arc<Node>]),
}

impl<'g> Nodes<'g> {
    /// The AST node behind an id.
    pub fn get(self, id: NodeId) -> &'g Node {
        match self {
            Nodes::Of(graph) => graph.node(id),
            Nodes::Met(nodes) => nodes[id.index()],
        }
    }
}

/// What a run is bound to: values for a program's structure.
pub struct Bindings<'g> {
    /// Leaves bring their own values; locations and names are theirs too.
    pub nodes: Nodes<'g>,
    /// The constants that are parameters.
    pub constants: &'g [Const],
    /// The lengths that are known before anything runs, in the order of their nodes.
    pub lengths: &'g [u64],
    /// Values of the inputs of a prepared program.
    pub inputs: &'g [&'g Value],
}

impl<'g> Bindings<'g> {
    fn leaf(&self, id: NodeId) -> Option<&'g Value> {
        let node = self.nodes.get(id);
        match (node.value.get(), &node.kind) {
            (Some(value), _) => Some(value),
            (None, Kind::Input(k)) => self.inputs.get(*k as usize).copied(),
            _ => None,
        }
    }

    /// An error that this node is to blame for.
    pub fn error_at(&self, id: NodeId, kind: ErrorKind) -> Error {
        let node = self.nodes.get(id);
        Error::new(node.name, node.loc, kind)
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// A result of an earlier loop: its number among those of all loops.
    Made(usize),
    /// How long a result of an earlier loop is.
    LengthOf(usize),
    /// A field of a leaf.
    Leaf(FieldRef),
    /// How long a leaf is whose length was not known when the program was planned.
    LeafLength(NodeId),
    /// A constant.
    Constant(usize),
    /// A known length.
    Known(usize),
    /// What a sizing loop found.
    Size(usize),
}

/// The recipe by which a program is bound, made loop by loop.
pub struct Recipe<'g> {
    graph: &'g Graph,
    lengths: &'g [Option<u64>],
    made: FxHashMap<FieldRef, usize>,
    results: usize,
}

impl<'g> Recipe<'g> {
    /// For a graph of which these lengths are known.
    pub fn new(graph: &'g Graph, lengths: &'g [Option<u64>]) -> Recipe<'g> {
        Recipe {
            graph,
            lengths,
            made: FxHashMap::default(),
            results: 0,
        }
    }

    /// Where the parameters of the next loop come from.
    pub fn params(&self, lowered: &Lowered) -> Vec<Origin> {
        let from = |source: &Source| match source {
            Source::Array(field) | Source::Scalar(field) => self.field(*field),
            Source::Constant(slot) => Origin::Constant(*slot as usize),
            Source::Length(id) => self.length(*id),
            Source::Size(k) => Origin::Size(*k as usize),
        };
        lowered.sources.iter().map(from).collect()
    }

    /// The loop has run: what it made is there for those that come.
    pub fn ran(&mut self, lowered: &Lowered) {
        for field in &lowered.results {
            self.made.insert(*field, self.results);
            self.results += 1;
        }
    }

    /// Where a root's fields come from: from loops, or, of a length that is known without one, from there.
    pub fn root(&self, plan: &Plan, root: NodeId) -> Vec<Origin> {
        let scalar = self.graph.node(root).rank == 0;
        let from = |field: FieldRef| {
            let node = &self.graph.nodes[field.0.index()];
            let extent = match node.node.kind {
                Kind::Len if scalar && !node.leaf => plan.pulls.extent(node.inputs[0]),
                _ => None,
            };
            match extent {
                Some(Extent::Of(array)) => self.length(array),
                Some(Extent::Scalar(by)) => self.field(by),
                None => self.field(field),
            }
        };
        self.graph.fields(root).into_iter().map(from).collect()
    }

    fn field(&self, field: FieldRef) -> Origin {
        match self.made.get(&field) {
            Some(at) => Origin::Made(*at),
            None => Origin::Leaf(field),
        }
    }

    fn length(&self, id: NodeId) -> Origin {
        if self.lengths[id.index()].is_some() {
            let before = &self.lengths[..id.index()];
            return Origin::Known(before.iter().flatten().count());
        }
        match self.made.get(&(id, 0)) {
            Some(at) => Origin::LengthOf(*at),
            None => Origin::LeafLength(id),
        }
    }
}

/// An argument that is kept alive while a kernel runs, or a result.
#[derive(Clone)]
pub enum Bound {
    /// A scalar.
    Scalar(Const),
    /// An array.
    Array(Arc<Buffer>),
    /// An array that was handed on for good.
    Gone,
}

/// Arguments, in the order of a loop's parameters.
pub type Args = SmallVec<[Bound; 24]>;

/// The arguments as a kernel takes them.
pub fn as_args(bound: &[Bound]) -> SmallVec<[Arg<'_>; 24]> {
    let arg = |a| match a {
        &Bound::Scalar(c) => Arg::Scalar(c),
        Bound::Array(a) => Arg::Array(a.view()),
        Bound::Gone => Arg::Scalar(Const::u64(0)),
    };
    bound.iter().map(arg).collect()
}

/// Results of the loops that have run, in order.
#[derive(Default)]
pub struct Store {
    made: SmallVec<[Bound; 4]>,
    /// Bytes that the results take.
    pub bytes: u64,
}

impl Store {
    /// The value that comes from somewhere.
    pub fn value(&self, b: &Bindings<'_>, sizes: &[Const], from: Origin) -> Result<Bound> {
        let value = match from {
            Origin::Made(at) => self.made.get(at).cloned(),
            Origin::LengthOf(at) => self.made.get(at).and_then(length),
            Origin::Constant(slot) => b.constants.get(slot).map(|c| Bound::Scalar(*c)),
            Origin::Known(at) => b.lengths.get(at).map(|n| Bound::Scalar(Const::u64(*n))),
            Origin::Size(k) => sizes
                .get(k)
                .or(Some(&Const::u64(0)))
                .map(|c| Bound::Scalar(*c)),
            Origin::Leaf((id, field)) => match b.leaf(id) {
                Some(Value::Array(fields)) => fields.get(field as usize).cloned().map(Bound::Array),
                Some(Value::Scalar(fields)) => {
                    fields.get(field as usize).copied().map(Bound::Scalar)
                }
                None => None,
            },
            Origin::LeafLength(id) => match b.leaf(id) {
                Some(Value::Array(fields)) => fields.first().cloned().map(Bound::Array),
                _ => None,
            }
            .as_ref()
            .and_then(length),
        };
        value.ok_or_else(|| unbound(b, from))
    }

    /// The arguments of a loop.
    pub fn args(&self, b: &Bindings<'_>, sizes: &[Const], params: &[Origin]) -> Result<Args> {
        let mut args = Args::with_capacity(params.len());
        for from in params {
            args.push(match *from {
                // Most parameters are constants.
                Origin::Constant(slot) if slot < b.constants.len() => {
                    Bound::Scalar(b.constants[slot])
                }
                from => self.value(b, sizes, from)?,
            });
        }
        Ok(args)
    }

    /// A root's value.
    pub fn root(&self, b: &Bindings<'_>, scalar: bool, fields: &[Origin]) -> Result<Value> {
        if scalar {
            let mut all = Vec::with_capacity(fields.len());
            for from in fields {
                match self.value(b, &[], *from)? {
                    Bound::Scalar(c) => all.push(c),
                    _ => return Err(unbound(b, *from)),
                }
            }
            return Ok(Value::Scalar(all));
        }
        let mut all = Vec::with_capacity(fields.len());
        for from in fields {
            match self.value(b, &[], *from)? {
                Bound::Array(a) => all.push(a),
                _ => return Err(unbound(b, *from)),
            }
        }
        Ok(Value::Array(all))
    }

    /// Keeps the results of a loop.
    pub fn keep(&mut self, results: Vec<KernelValue>) {
        for value in results {
            self.made.push(match value {
                KernelValue::Scalar(c) => Bound::Scalar(c),
                KernelValue::Array(a) => {
                    self.bytes += a.bytes() as u64;
                    Bound::Array(Arc::new(a))
                }
            });
        }
    }

    /// Gives a result away, if it is an array.
    pub fn give(&mut self, from: Origin) -> Option<Arc<Buffer>> {
        let Origin::Made(at) = from else { return None };
        match std::mem::replace(self.made.get_mut(at)?, Bound::Gone) {
            Bound::Array(array) => Some(array),
            _ => None,
        }
    }
}

fn length(array: &Bound) -> Option<Bound> {
    match array {
        Bound::Array(a) => Some(Bound::Scalar(Const::u64(a.len() as u64))),
        _ => None,
    }
}

#[cold]
fn unbound(b: &Bindings<'_>, from: Origin) -> Error {
    let (Origin::Leaf((id, _)) | Origin::LeafLength(id)) = from else {
        return super::engine::backend_error(format!("a loop needs what no loop made ({from:?})"));
    };
    let got = format!("no value for `{}`", b.nodes.get(id).name);
    let expected = "a computed input".into();
    b.error_at(id, ErrorKind::Malformed { expected, got })
}
