//! Binding: the origin of every loop parameter and program result.
//!
//! Origins are computed once, when a program is compiled. A run then needs no lookups.

use crate::ast::{Kind, Node, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Plan;
use crate::fusion::inline::KnownExtent;
use crate::lower::{Lowered, Source};
use crate::sharing::{FieldRef, Graph, NodeId, numbered};
use livefusion_backend::{Arg, Buffer, FarError, Value as KernelValue, View};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Maps ids to nodes.
#[derive(Clone, Copy)]
pub enum Nodes<'g> {
    /// The nodes of a recovered graph.
    Of(&'g Graph),
    /// The nodes of a graph that was recognised without being recovered.
    Met(&'g [&'g Arc<Node>]),
}

impl<'g> Nodes<'g> {
    /// Returns the AST node of an id.
    pub fn get(self, id: NodeId) -> &'g Node {
        match self {
            Nodes::Of(graph) => graph.node(id),
            Nodes::Met(nodes) => nodes[id.index()],
        }
    }
}

/// Binds a program's structure to the values of one run.
pub struct Bindings<'g> {
    /// The nodes. Leaves hold their own values; nodes also have the locations and names.
    pub nodes: Nodes<'g>,
    /// The constants that are parameters.
    pub constants: &'g [Const],
    /// The lengths known before anything runs, in the order of their nodes.
    pub lengths: &'g [u64],
    /// The values of a prepared program's inputs.
    pub inputs: InputPlaces<'g>,
}

/// Maps a program's inputs to places.
#[derive(Default)]
pub struct InputPlaces<'g> {
    /// The place of each input.
    pub places: &'g [usize],
    /// The values at the places.
    pub there: There<'g>,
}

/// Holds the values at the places of a prepared program.
#[derive(Default)]
pub struct There<'g> {
    /// The first inputs, which the caller gives up.
    pub own: &'g mut [Value],
    /// The other inputs.
    pub inputs: &'g [&'g Value],
    /// Intermediate values.
    pub made: &'g mut [Value],
}

impl There<'_> {
    /// Returns the value at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&Value> {
        let Some(place) = place.checked_sub(self.own.len()) else {
            return self.own.get(place);
        };
        match place.checked_sub(self.inputs.len()) {
            None => self.inputs.get(place).copied(),
            Some(made) => self.made.get(made),
        }
    }

    /// Drops the value at a place, unless the caller keeps it.
    pub fn release(&mut self, place: usize) {
        if let Some(value) = self.get_mut(place) {
            *value = Value::Scalar(SmallVec::new());
        }
    }

    /// Works as [`get`](There::get), but skips values that the caller keeps.
    fn get_mut(&mut self, place: usize) -> Option<&mut Value> {
        let Some(place) = place.checked_sub(self.own.len()) else {
            return self.own.get_mut(place);
        };
        self.made.get_mut(place.checked_sub(self.inputs.len())?)
    }
}

impl InputPlaces<'_> {
    #[inline]
    fn get(&self, number: u32) -> Option<&Value> {
        self.there.get(*self.places.get(number as usize)?)
    }
}

impl<'g> Bindings<'g> {
    fn leaf(&self, id: NodeId) -> Option<&Value> {
        self.value_of(self.nodes.get(id))
    }

    /// Returns the value of a node that is in memory.
    pub fn value_of<'v>(&'v self, node: &'v Node) -> Option<&'v Value> {
        match (node.value.get(), &node.kind) {
            (Some(value), _) => Some(value),
            (None, Kind::Input(input)) => self.inputs.get(input.number),
            _ => None,
        }
    }

    /// Gives up the memory of an input's field if it is uniquely owned.
    fn give(&mut self, number: u32, field: u32) -> Option<Buffer> {
        let place = *self.inputs.places.get(number as usize)?;
        match self.inputs.there.get_mut(place)? {
            Value::Array(fields) => taken_out(Arc::get_mut(fields.get_mut(field as usize)?)?),
            Value::Scalar(_) => None,
        }
    }

    /// Returns an error that names this node.
    pub fn error_at(&self, id: NodeId, kind: ErrorKind) -> Error {
        let node = self.nodes.get(id);
        Error::new(node.name, node.loc, kind)
    }
}

/// Says where a value comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// A result of an earlier loop: its number among the results of all loops.
    Made(usize),
    /// The length of an earlier loop's result.
    LengthOf(usize),
    /// A field of a leaf.
    Leaf(FieldRef),
    /// A field of a leaf that is an input of this number.
    Input(FieldRef, u32),
    /// The length of a leaf, unknown when the program was planned.
    LeafLength(NodeId),
    /// A constant.
    Constant(usize),
    /// A known length.
    Known(usize),
    /// A result of a sizing loop.
    Size(usize),
}

/// Collects the origins of parameters and results, loop by loop.
pub struct Recipe<'g> {
    graph: &'g Graph,
    /// The number of each known length.
    known: Vec<Option<usize>>,
    made: FxHashMap<FieldRef, usize>,
    results: usize,
}

impl<'g> Recipe<'g> {
    /// Begins a recipe for a graph with these known lengths.
    pub fn new(graph: &'g Graph, lengths: &'g [Option<u64>]) -> Recipe<'g> {
        Recipe {
            graph,
            known: numbered(lengths),
            made: FxHashMap::default(),
            results: 0,
        }
    }

    /// Returns the origins of the next loop's parameters.
    pub fn params(&self, lowered: &Lowered) -> Vec<Origin> {
        let from = |source: &Source| match source {
            Source::Array(field) | Source::Scalar(field) => self.field(*field),
            Source::Constant(slot) => Origin::Constant(*slot as usize),
            Source::Length(id) => self.length(*id),
            Source::Size(k) => Origin::Size(*k as usize),
        };
        lowered.sources.iter().map(from).collect()
    }

    /// Records the results of a loop for later loops.
    pub fn ran(&mut self, lowered: &Lowered) {
        for field in &lowered.results {
            self.made.insert(*field, self.results);
            self.results += 1;
        }
    }

    /// Returns the origins of a root's fields.
    ///
    /// They are loop results. A length root may also be known without any loop.
    pub fn root(&self, plan: &Plan, root: NodeId) -> Vec<Origin> {
        let scalar = self.graph.node(root).rank == 0;
        let from = |field: FieldRef| {
            let node = &self.graph.nodes[field.0.index()];
            let extent = match node.node.kind {
                Kind::Len if scalar && !node.leaf => plan.inlining.own_extent(node.inputs[0]),
                _ => None,
            };
            match extent {
                Some(KnownExtent::Of(array)) => self.length(array),
                Some(KnownExtent::Scalar(by)) => self.field(by),
                Some(KnownExtent::Rows(_)) | None => self.field(field),
            }
        };
        self.graph.fields(root).into_iter().map(from).collect()
    }

    fn field(&self, field: FieldRef) -> Origin {
        match self.made.get(&field) {
            Some(at) => Origin::Made(*at),
            None => {
                let node = self.graph.node(field.0);
                match (node.value.get(), &node.kind) {
                    (None, Kind::Input(input)) => Origin::Input(field, input.number),
                    _ => Origin::Leaf(field),
                }
            }
        }
    }

    fn length(&self, id: NodeId) -> Origin {
        if let Some(number) = self.known[id.index()] {
            return Origin::Known(number);
        }
        match self.made.get(&(id, 0)) {
            Some(at) => Origin::LengthOf(*at),
            None => Origin::LeafLength(id),
        }
    }
}

/// Holds the arguments of a loop in the order of its parameters.
pub type Args<'a> = SmallVec<[Arg<'a>; 24]>;

/// A result of a loop.
enum LoopResult {
    Scalar(Const),
    Array(Buffer),
    /// An array that is also a column of a root.
    Shared(Arc<Buffer>),
    /// An array of this type and length whose memory was given up.
    Gone(Ty, usize),
}

impl LoopResult {
    /// Returns a shared reference to an array.
    ///
    /// The array moves to the `old` one's place if nobody else refers to that.
    fn shared(&mut self, old: Option<&mut Arc<Buffer>>) -> Option<Arc<Buffer>> {
        if let LoopResult::Array(array) = self {
            let none = Buffer::empty(array.ty());
            let array = std::mem::replace(array, none);
            *self = LoopResult::Shared(match old {
                Some(old) => match Arc::get_mut(old) {
                    Some(place) => {
                        *place = array;
                        old.clone()
                    }
                    None => Arc::new(array),
                },
                None => Arc::new(array),
            });
        }
        match self {
            LoopResult::Shared(array) => Some(array.clone()),
            _ => None,
        }
    }
}

/// Replaces a size that was not counted.
const NONE: Const = Const {
    ty: Ty::U64,
    bits: 0,
};

/// Holds the results of the loops that have run, in order.
#[derive(Default)]
pub struct Store {
    made: SmallVec<[LoopResult; 4]>,
    /// Bytes of all results.
    pub bytes: u64,
}

impl Store {
    /// Fills in the arguments of a loop, borrowed from the store and the bindings.
    ///
    /// If `far` is set, the kernel accepts device arrays. Otherwise they are copied to the host
    /// here.
    pub fn args<'a>(
        &'a self,
        b: &'a Bindings<'_>,
        sizes: &[Const],
        (params, far): (&[Origin], bool),
        args: &mut Args<'a>,
    ) -> Result<()> {
        for from in params {
            let array = match *from {
                Origin::Known(at) if at < b.lengths.len() => {
                    args.push(Arg::Scalar(Const::u64(b.lengths[at])));
                    continue;
                }
                Origin::Size(k) => {
                    args.push(Arg::Scalar(*sizes.get(k).unwrap_or(&NONE)));
                    continue;
                }
                Origin::Made(at) => match self.made.get(at) {
                    Some(LoopResult::Array(array)) => Some(array),
                    Some(LoopResult::Shared(array)) => Some(&**array),
                    _ => None,
                },
                from => outside(b, from).map(|array| &**array),
            };
            match array {
                Some(array) if far => args.push(Arg::Far(array)),
                Some(array) => args.push(Arg::Array(here(array)?.view())),
                None => args.push(self.scalar(b, *from).ok_or_else(|| unbound(b, *from))?),
            }
        }
        Ok(())
    }

    /// Returns the scalar of an origin. An array that is gone gives an empty view.
    fn scalar<'a>(&self, b: &Bindings<'_>, from: Origin) -> Option<Arg<'a>> {
        let length = |n: usize| Arg::Scalar(Const::u64(n as u64));
        match from {
            Origin::Made(at) => match self.made.get(at)? {
                LoopResult::Scalar(c) => Some(Arg::Scalar(*c)),
                LoopResult::Gone(ty, _) => Some(Arg::Array(View::empty(*ty))),
                LoopResult::Array(_) | LoopResult::Shared(_) => None,
            },
            Origin::LengthOf(at) => match self.made.get(at)? {
                LoopResult::Array(array) => Some(length(array.len())),
                LoopResult::Shared(array) => Some(length(array.len())),
                LoopResult::Gone(_, len) => Some(length(*len)),
                LoopResult::Scalar(_) => None,
            },
            Origin::Constant(slot) => b.constants.get(slot).map(|c| Arg::Scalar(*c)),
            Origin::Known(at) => b.lengths.get(at).map(|n| Arg::Scalar(Const::u64(*n))),
            Origin::Size(_) => None,
            Origin::Leaf((id, field)) => scalar_of(b.leaf(id)?, field),
            Origin::Input((_, field), number) => scalar_of(b.inputs.get(number)?, field),
            Origin::LeafLength(id) => match b.leaf(id)? {
                Value::Array(fields) => fields.first().map(|a| length(a.len())),
                Value::Scalar(_) => None,
            },
        }
    }

    /// Replaces old columns by those of a root.
    pub fn columns(
        &mut self,
        b: &Bindings<'_>,
        fields: &[Origin],
        columns: &mut Vec<Arc<Buffer>>,
    ) -> Result<()> {
        columns.truncate(fields.len());
        for (k, from) in fields.iter().enumerate() {
            let old = columns.get_mut(k);
            let array = match *from {
                Origin::Made(at) => self.made.get_mut(at).and_then(|made| made.shared(old)),
                from => outside(b, from).cloned(),
            };
            let array = array.ok_or_else(|| unbound(b, *from))?;
            match columns.get_mut(k) {
                Some(column) => *column = array,
                None => columns.push(array),
            }
        }
        Ok(())
    }

    /// Appends the words of a root that is a delayed scalar.
    pub fn words(
        &self,
        b: &Bindings<'_>,
        fields: &[Origin],
        words: &mut SmallVec<[Const; 2]>,
    ) -> Result<()> {
        for from in fields {
            match self.scalar(b, *from) {
                Some(Arg::Scalar(c)) => words.push(c),
                _ => return Err(unbound(b, *from)),
            }
        }
        Ok(())
    }

    /// Stores the results of a loop.
    pub fn keep(&mut self, results: &mut [KernelValue]) {
        for value in results {
            self.made.push(match value {
                KernelValue::Scalar(c) => LoopResult::Scalar(*c),
                KernelValue::Array(a) => {
                    self.bytes += a.bytes() as u64;
                    let none = Buffer::empty(a.ty());
                    LoopResult::Array(std::mem::replace(a, none))
                }
            });
        }
    }

    /// Gives up a result or an input if it is a uniquely owned array.
    pub fn give(&mut self, b: &mut Bindings<'_>, from: Origin) -> Option<Buffer> {
        let at = match from {
            Origin::Made(at) => at,
            Origin::Input((_, field), number) => return b.give(number, field),
            _ => return None,
        };
        let made = self.made.get_mut(at)?;
        let LoopResult::Array(array) = made else {
            return None;
        };
        let array = taken_out(array)?;
        *made = LoopResult::Gone(array.ty(), array.len());
        self.bytes = self.bytes.saturating_sub(array.bytes() as u64);
        Some(array)
    }
}

/// Returns the array of a leaf or an input.
fn outside<'a>(b: &'a Bindings<'_>, from: Origin) -> Option<&'a Arc<Buffer>> {
    match from {
        Origin::Leaf((id, field)) => array_of(b.leaf(id), field),
        Origin::Input((_, field), number) => array_of(b.inputs.get(number), field),
        _ => None,
    }
}

fn array_of(value: Option<&Value>, field: u32) -> Option<&Arc<Buffer>> {
    match value? {
        Value::Array(fields) => fields.get(field as usize),
        Value::Scalar(_) => None,
    }
}

fn scalar_of<'a>(value: &Value, field: u32) -> Option<Arg<'a>> {
    match value {
        Value::Scalar(fields) => fields.get(field as usize).map(|c| Arg::Scalar(*c)),
        Value::Array(_) => None,
    }
}

/// Returns an array whose elements are in host memory.
pub(super) fn here(array: &Buffer) -> Result<&Buffer> {
    array.here().map_err(|e| lost(array, e))
}

/// Returns the error for an array that could not be copied from a device.
#[cold]
pub(crate) fn lost(array: &Buffer, why: FarError) -> Error {
    let kind = match why {
        FarError::Memory(bytes) => {
            let limit = u64::MAX;
            ErrorKind::Memory { bytes, limit }
        }
        FarError::Device(why) => {
            let (ty, len) = (array.ty(), array.len());
            ErrorKind::Backend(format!("an array of {len} {ty} does not come here: {why}"))
        }
    };
    Error {
        combinator: "force",
        row: None,
        element: None,
        location: None,
        kind,
    }
}

/// Takes the memory of an array that may be written.
fn taken_out(array: &mut Buffer) -> Option<Buffer> {
    let none = Buffer::empty(array.ty());
    (!array.is_foreign()).then(|| std::mem::replace(array, none))
}

#[cold]
fn unbound(b: &Bindings<'_>, from: Origin) -> Error {
    let (Origin::Leaf((id, _)) | Origin::Input((id, _), _) | Origin::LeafLength(id)) = from else {
        return super::engine::backend_error(format!(
            "a loop has an input without a producer ({from:?})"
        ));
    };
    let got = format!("no value for `{}`", b.nodes.get(id).name);
    let expected = "a computed input".into();
    b.error_at(id, ErrorKind::Malformed { expected, got })
}
