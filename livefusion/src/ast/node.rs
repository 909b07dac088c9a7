//! Nodes of the shared AST.
//!
//! A node is a combinator applied to other nodes. Building one computes nothing.

use crate::ast::{
    After, Body, Capture, Move, Rewrite, Shape, Term, TermId, Types, Value, show_types,
};
use crate::custom::{Combinator, Output};
use crate::error::Error;
use crate::loc::Loc;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Represents a combinator in the graph.
///
/// Two uses of one `Arc` are one node: the pointer is its stable name.
#[derive(Debug)]
pub struct Node {
    /// The combinator as the user called it, such as `map` (not part of the node's identity).
    pub name: &'static str,
    /// The call site (not part of the node's identity).
    pub loc: Loc,
    /// The rewrite that produced it, or that was considered (not part of the node's identity).
    pub rewrite: Option<Rewrite>,
    /// The computation.
    pub kind: Kind,
    /// The consumed arrays, in the order that the kind defines.
    pub inputs: Inputs,
    /// Types of its element's fields.
    pub types: Types,
    /// Rank: 0 for a delayed scalar, else the number of axes.
    pub rank: u8,
    /// The lengths of the axes, for rank 2 or more (part of neither key nor code).
    pub shape: Option<Shape>,
    /// Whether elements are made one after the other, so that one element costs all before it.
    pub is_stream: bool,
    /// The number of elements, where it is known while building.
    pub len: Option<u64>,
    /// Whether a computation outside the fused loops must run first.
    pub after: After,
    /// The stream that it is a part of, whose loop consumers could share (not part of its identity).
    pub part: Option<Arc<StreamPart>>,
    /// The rows of a closure that its elements belong to (not part of the node's identity).
    pub rows: Option<Box<ElementRows>>,
    /// A mistake found while building (here or in an input). `force` returns it.
    pub error: Option<Box<Error>>,
    /// The result, once forced.
    pub value: OnceLock<Value>,
    /// The call that forced it (not part of the node's identity).
    pub forced: OnceLock<Loc>,
}

/// Describes a part of a stream.
#[derive(Clone, Debug)]
pub enum StreamPart {
    /// All elements but the first ones.
    Rest(Arc<Node>, u64),
    /// So many elements behind the first ones.
    First(Arc<Node>, u64, Len),
    /// The elements so many places later; behind the end is the value of a body.
    Ahead(Arc<Node>, u64, Body),
    /// An array that a loop makes late.
    Late(Late),
}

/// Describes an array that its loop makes some steps later than others.
#[derive(Clone, Debug)]
pub struct Late {
    /// The array whose length is that of the loop, less the steps that are added.
    pub of: Arc<Node>,
    /// The number of steps without an element, at the beginning.
    pub by: u64,
    /// Whether the loop takes as many steps more, so that the array is as long as the other one.
    pub padded: bool,
}

/// Describes how a node's elements belong to the rows of a user's closure.
///
/// Errors name the row by it.
#[derive(Clone, Debug)]
pub struct ElementRows {
    /// The level of the elements.
    pub level: RowLevel,
    /// The length of each row. For [`RowLevel::Row`], any array with one element per row.
    pub lengths: Arc<Node>,
    /// The number of each row among all rows, if these are only some of them.
    pub numbers: Option<Arc<Node>>,
    /// The number of steps in each row before its first element, if a loop makes it late.
    pub late: u64,
}

/// Distinguishes elements of rows by their level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowLevel {
    /// One element for each row.
    Row,
    /// The elements of all rows.
    Element,
    /// Elements that belong to parts of rows.
    Inner,
}

/// Holds the arrays that a node consumes.
///
/// Up to two need no heap memory.
pub type Inputs = SmallVec<[Arc<Node>; 2]>;

/// Describes an input of a prepared program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Input {
    /// The number of the input.
    pub number: u32,
    /// Whether the program may change the input in place, since no other user reads it afterwards.
    /// The state of a loop over arrays is such an input of its step.
    pub consumed: bool,
}

impl Input {
    /// The graph input that stands for a node whose value exists when the graph runs.
    pub(crate) fn instead_of(self, node: &Node) -> Arc<Node> {
        Arc::new(Node {
            name: node.name,
            loc: node.loc,
            rewrite: None,
            kind: Kind::Input(self),
            inputs: SmallVec::new(),
            types: node.types.clone(),
            rank: node.rank,
            shape: node.shape.clone(),
            is_stream: false,
            len: None,
            after: After::Nothing,
            part: None,
            rows: None,
            error: None,
            value: OnceLock::new(),
            forced: OnceLock::new(),
        })
    }
}

/// Lists the computations of nodes.
///
/// Each kind names its `inputs`.
#[derive(Debug)]
pub enum Kind {
    /// An array in memory; `value` is set. No inputs.
    Manifest,
    /// An input of a prepared program. No inputs.
    Input(Input),
    /// `[f(0), f(1), ...]`: the body has one `u64` parameter, the index. No inputs.
    Generate(Len, Body),
    /// `f` of each element of the inputs, in lockstep. Its parameters are the fields of all inputs.
    Map(Body),
    /// The inputs' fields joined into one element, in lockstep.
    Zip,
    /// The inputs' fields joined into one element, as many elements as the shortest input has.
    /// Later elements of longer inputs are not demanded.
    ZipShortest,
    /// The inputs' elements one after the other, in an order that the body decides.
    ///
    /// The body's parameters, in order:
    /// - the fields of each input's next element (zero if the input has ended);
    /// - for each input, whether it has a next element;
    /// - the number of elements made so far (`u64`).
    ///
    /// Its results, in order:
    /// - for each input, whether its element is taken;
    /// - whether lengths fit, and if not, the length found and the length expected (`u64`);
    /// - the fields of the new element.
    ///
    /// The elements end when no input is taken. The body demands an input's next element only after
    /// it takes the last one.
    Merge(Body),
    /// Some fields of the input.
    Fields(std::ops::Range<u32>),
    /// The elements for which the body is true. Input: data.
    Filter(Body),
    /// The elements whose tag is true. Inputs: data, tags.
    Pack,
    /// A delayed scalar: the fold of all elements. Input: data.
    Fold(Box<Fold>),
    /// Running folds. Input: data.
    Scan(Box<Fold>, ScanKind),
    /// The final state of a scan, as a delayed scalar. Input: the scan.
    ScanTotal,
    /// The elements of segments: `f(i, values)` for each `i` below each length. Inputs: lengths
    /// (one `u64` field), then arrays with one element per segment. The body's parameters are the
    /// index within the segment (`u64`) and those arrays' fields.
    Expand(Body),
    /// The fold of each segment's elements. Inputs: lengths, data; one result per segment.
    FoldS(Box<Fold>),
    /// Running folds that restart at each segment. Inputs: lengths, data.
    ScanS(Box<Fold>, ScanKind),
    /// Each segment's elements in ascending order, by the first field, then by the next. Inputs:
    /// lengths, data. The data's fields are unsigned integers.
    SortS(Sorted),
    /// Each segment's elements at other places of it. Inputs: lengths, data.
    MoveS(Move),
    /// The number of true tags in each segment: the segment lengths after a pack by these tags.
    /// Inputs: lengths, tags.
    CountS,
    /// The elements before the first one that fails the test; with `inclusive` also that one. Later
    /// elements are not computed. Input: data.
    TakeWhile {
        /// The test.
        test: Body,
        /// Whether the element that fails the test is included.
        inclusive: bool,
    },
    /// The first `n` elements (all, if there are fewer). The body, which has no parameters, gives
    /// `n` (`u64`). Later elements are not computed. Input: data.
    Take(Body),
    /// The elements of each input, one input after the other. Inputs: parts, two or more.
    Append,
    /// `base` with values written at indices, in order. Inputs: base (random access), indices (one
    /// `u64` field), values. The body combines (old element, value). Without a body, the value
    /// overwrites the element.
    Scatter(Option<Body>, Places),
    /// Running folds, one per element of a base. The body joins the base's element at an index with
    /// the value; the result is stored there and is the scan's element. Inputs: base (random
    /// access), indices (one `u64` field), values. The body's parameters are (old element, value).
    ScanByIndex(Body, ScanKind, Places),
    /// A user-defined combinator. Input: data.
    Custom(Custom),
    /// A delayed scalar computed from captures. No inputs.
    Compute(Body),
    /// The length of the input as a delayed `u64`. Input: any array.
    Len,
}

/// Describes the range of a scatter's indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Places {
    /// Any index: an index outside of the base is an error.
    Anywhere,
    /// Indices within the base, by construction.
    Within,
}

/// Counts the results of a merge's body that describe a length check.
///
/// They come after the taken flags and before the element.
pub const MERGE_CHECK: usize = 3;

/// Pairs a user-defined combinator with its output for its input.
#[derive(Debug)]
pub struct Custom {
    /// The combinator.
    pub combinator: Arc<dyn Combinator>,
    /// Its output.
    pub output: Output,
}

/// Describes the length of a generated array.
#[derive(Debug, Clone)]
pub enum Len {
    /// Known while building.
    Known(u64),
    /// A delayed `u64`.
    Delayed(Arc<Node>),
    /// Known after all captures of this body are: a range check and a length in one. The results
    /// are the length (`u64`), a `bool` that must hold, and the error's (start, end, length). The
    /// error is a `SliceRange`.
    Checked(Box<Body>),
}

/// Describes a fold or a scan.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The starting value: a body without parameters. It has no results for `fold1`.
    pub start: Body,
    /// The next state from (state fields, element fields).
    pub step: Body,
    /// The order of joining.
    pub style: FoldStyle,
}

impl Fold {
    /// Creates a fold from a start by an associative step.
    pub fn associative(start: Body, step: Body) -> Fold {
        let style = FoldStyle::Associative;
        Fold { start, step, style }
    }

    /// Creates a fold from the first element by an associative step.
    pub fn first(step: Body) -> Fold {
        Fold {
            start: Body::default(),
            step,
            style: FoldStyle::First,
        }
    }

    /// Creates a fold from left to right by any step.
    pub fn sequential(start: Body, step: Body) -> Fold {
        let style = FoldStyle::Sequential;
        Fold { start, step, style }
    }

    /// Creates a fold into a state of any type.
    ///
    /// `join` joins the states of neighbouring parts.
    pub fn aggregate(start: Body, step: Body, join: Body) -> Fold {
        let style = FoldStyle::Aggregate(join);
        Fold { start, step, style }
    }

    /// Creates an aggregate whose bits are independent of the order of joining.
    ///
    /// It is otherwise as [`aggregate`](Fold::aggregate). The start consists of literals, and
    /// joining it changes nothing.
    pub fn exact(start: Body, step: Body, join: Body) -> Fold {
        let style = FoldStyle::Exact(join);
        Fold { start, step, style }
    }

    /// Creates an aggregate that deals elements to lanes by their index.
    ///
    /// It is otherwise as [`aggregate`](Fold::aggregate). States of any parts may be joined, and
    /// the join commutes bit for bit. The start consists of literals, and joining it changes
    /// nothing.
    pub fn dealt(start: Body, step: Body, join: Body) -> Fold {
        let style = FoldStyle::Dealt(join);
        Fold { start, step, style }
    }

    /// The types of its state, for elements of these types.
    pub(crate) fn state(&self, elem: &[Ty]) -> Types {
        match self.style {
            FoldStyle::Associative | FoldStyle::First => Types::from_slice(elem),
            FoldStyle::Sequential
            | FoldStyle::Aggregate(_)
            | FoldStyle::Exact(_)
            | FoldStyle::Dealt(_) => self.start.result_types_or_none(),
        }
    }
}

/// Describes the order in which a fold or scan joins elements.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "every node that holds one holds larger bodies beside it"
)]
pub enum FoldStyle {
    /// `step` is associative and the state is an element; `start` is joined once, on the left.
    Associative,
    /// `Associative` without a start: an empty array is an error.
    First,
    /// Left to right, for any `step`.
    Sequential,
    /// `step` takes an element into a state. The body joins states of neighbouring parts: (left
    /// state, right state). `start` is the state of no elements.
    Aggregate(Body),
    /// An `Aggregate` whose bits do not depend on the order of elements and parts. A part continues
    /// from the state of the parts before it, wherever that is known. `start` consists of literals,
    /// and joining it changes nothing.
    Exact(Body),
    /// An `Aggregate` that deals elements to lanes by their index. The join commutes bit for bit.
    /// `start` consists of literals, and joining it changes nothing.
    Dealt(Body),
}

impl FoldStyle {
    /// The body that joins states, if it is not the step.
    pub(crate) fn join(&self) -> Option<&Body> {
        match self {
            FoldStyle::Aggregate(join) | FoldStyle::Exact(join) | FoldStyle::Dealt(join) => {
                Some(join)
            }
            FoldStyle::Associative | FoldStyle::First | FoldStyle::Sequential => None,
        }
    }
}

/// Selects the results of a segmented sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sorted {
    /// The elements.
    Elements,
    /// The index (`u64`) that each element had within its segment. Equal elements keep their order.
    Places,
}

/// Distinguishes exclusive from inclusive scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// Element i is the fold of the elements before i, from `start`.
    Exclusive,
    /// Element i is the fold of the elements up to and including i, from `start`.
    Inclusive,
}

impl Node {
    /// Returns the length, where it is known before this force.
    ///
    /// It is known while building, or because the node was already forced.
    pub fn known_len(&self) -> Option<u64> {
        match self.value.get() {
            Some(Value::Array(columns)) => columns.first().map(|c| c.len() as u64),
            _ => self.len,
        }
    }

    /// The element types and the length, as far as they are known: `f64[100]`.
    pub(crate) fn show_shape(&self) -> String {
        let types = show_types(&self.types);
        if let Some(shape) = &self.shape {
            let axes: Vec<String> = shape.axes().iter().map(|a| a.to_string()).collect();
            return format!("{types}[{}]", axes.join(", "));
        }
        match (self.rank, self.known_len()) {
            (0, _) => types,
            (_, Some(n)) => format!("{types}[{n}]"),
            (_, None) => format!("{types}[]"),
        }
    }

    /// Whether it is read from memory: it has a value, or stands for an argument of each call.
    pub(crate) fn is_leaf(&self) -> bool {
        self.value.get().is_some() || matches!(self.kind, Kind::Manifest | Kind::Input(_))
    }

    /// Whether its elements are computed one after the other.
    pub(crate) fn comes_in_order(&self) -> bool {
        self.is_stream && !self.is_leaf()
    }

    /// Returns the value of a delayed scalar that consists of literals.
    pub fn literal(&self) -> Option<Value> {
        let Kind::Compute(body) = &self.kind else {
            return None;
        };
        let literal = |t: &TermId| match body.terms.get(t.index())?.term {
            Term::Lit(c) => Some(c),
            _ => None,
        };
        let fields: Option<_> = body.results.iter().map(literal).collect();
        fields.filter(|_| self.error.is_none()).map(Value::Scalar)
    }
}

impl Drop for Node {
    /// Unlinks long chains without recursion, so that a graph of any depth can be dropped.
    fn drop(&mut self) {
        let mut stack = Links::new();
        take_links(self, &mut stack);
        while let Some(node) = stack.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                take_links(&mut node, &mut stack);
            }
        }
    }
}

/// Nodes that lost an owner. Few wait at a time, except below wide graphs.
type Links = SmallVec<[Arc<Node>; 8]>;

fn take_captures(body: Body, out: &mut Links) {
    let captures = body.into_captures().into_iter();
    out.extend(captures.map(|(Capture::Scalar(n) | Capture::Array(n))| n));
}

fn take_links(node: &mut Node, out: &mut Links) {
    while let Some(input) = node.inputs.pop() {
        out.push(input);
    }
    if let After::Apart(of, _) = std::mem::take(&mut node.after) {
        of.into_nodes(out);
    }
    match node.part.take().and_then(Arc::into_inner) {
        Some(StreamPart::First(of, _, Len::Delayed(n))) => out.extend([of, n]),
        Some(StreamPart::Rest(of, _) | StreamPart::First(of, ..)) => out.push(of),
        Some(StreamPart::Late(late)) => out.push(late.of),
        Some(StreamPart::Ahead(of, _, fill)) => {
            out.push(of);
            take_captures(fill, out);
        }
        None => {}
    }
    if let Some(rows) = node.rows.take() {
        out.push(rows.lengths);
        out.extend(rows.numbers);
    }
    if let Some(shape) = node.shape.take() {
        shape.into_delayed(out);
    }
    node.kind.each_body_mut(|body| {
        if !body.captures.is_empty() {
            take_captures(std::mem::take(body), out);
        }
    });
    if let Kind::Generate(len, _) = &mut node.kind
        && let Len::Delayed(n) = std::mem::replace(len, Len::Known(0))
    {
        out.push(n);
    }
}
