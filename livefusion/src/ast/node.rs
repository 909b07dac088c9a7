//! Nodes of the shared AST. A node is a combinator applied to others; building one computes nothing.

use crate::ast::{After, Body, Capture, Rewrite, Shape, Term, TermId, Types, Value, show_types};
use crate::custom::{Combinator, Output};
use crate::error::Error;
use crate::loc::Loc;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// A combinator in the graph. Two uses of one `Arc` are one node: the pointer is its stable name.
#[derive(Debug)]
pub struct Node {
    /// What the user called: `map`, `sum`, `reverse`, ... (not part of the node's identity).
    pub name: &'static str,
    /// Where the user called it (not part of the node's identity).
    pub loc: Loc,
    /// The rewrite that it comes from, or would be of (not part of the node's identity).
    pub rewrite: Option<Rewrite>,
    /// What it computes.
    pub kind: Kind,
    /// Arrays that it consumes, in the order that the kind says.
    pub inputs: Inputs,
    /// Types of its element's fields.
    pub types: Types,
    /// Rank: 0 for a delayed scalar, else the number of axes.
    pub rank: u8,
    /// The lengths of the axes, of rank 2 or more (part of neither key nor code: elements lie row by row).
    pub shape: Option<Shape>,
    /// Whether elements are made one after the other, so that one of them costs those before it.
    pub is_stream: bool,
    /// Length, of all elements, where it is known while building.
    pub len: Option<u64>,
    /// Whether something that runs apart comes before it.
    pub after: After,
    /// A mistake found while building (here or in an input); `force` returns it.
    pub error: Option<Box<Error>>,
    /// The result, once forced.
    pub value: OnceLock<Value>,
}

/// The arrays that a node consumes. Up to two need no memory of their own.
pub type Inputs = SmallVec<[Arc<Node>; 2]>;

/// An input of a prepared program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Input {
    /// Which one.
    pub number: u32,
    /// Whether nobody needs it behind the program, which may then change it in place: so it is with the state of a loop
    /// over arrays, in its step.
    pub consumed: bool,
}

impl Input {
    /// The input of a graph for a node that is there when the graph is run.
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
            error: None,
            value: OnceLock::new(),
        })
    }
}

/// What a node computes. `inputs` are given behind each kind.
#[derive(Debug)]
pub enum Kind {
    /// An array in memory; `value` is set. No inputs.
    Manifest,
    /// An input of a prepared program. No inputs.
    Input(Input),
    /// `[f(0), f(1), ...]`: the body has one `u64` parameter, the index. No inputs.
    Generate(Len, Body),
    /// `f` of each element of the inputs, in step. The body's parameters are all their fields.
    Map(Body),
    /// The inputs' fields side by side, in step.
    Zip,
    /// The inputs' fields side by side, as many elements as the shortest input has. What lies behind that in the others is
    /// not asked for.
    ZipShortest,
    /// One element of an input after the other, in an order that the body finds. Its parameters are all fields of the
    /// inputs' next elements (zero of one that has ended), then of each input whether it has one, then how many elements
    /// were made before (`u64`). Its results are, of each input, whether its element is taken; whether lengths fit, and if
    /// they do not, which was got and which expected (`u64`); then the fields of the element that is made. The elements
    /// end when none is taken. An input is asked for its next element where its last one was taken.
    Merge(Body),
    /// Some fields of the input.
    Fields(std::ops::Range<u32>),
    /// The elements for which the body is true. Input: data.
    Filter(Body),
    /// The elements whose tag is true. Inputs: data, tags.
    Pack,
    /// A delayed scalar: all elements folded. Input: data.
    Fold(Box<Fold>),
    /// Running folds. Input: data.
    Scan(Box<Fold>, ScanKind),
    /// The delayed scalar that a scan ends with. Input: the scan.
    ScanTotal,
    /// The elements of segments: `f(i, values)` for each `i` below each length. Inputs: lengths (one `u64`
    /// field), then arrays with one element per segment. The body's parameters are the index within the
    /// segment (`u64`) and those arrays' fields.
    Expand(Body),
    /// Each segment's elements folded. Inputs: lengths, data; one result per segment.
    FoldS(Box<Fold>),
    /// Running folds that start anew with each segment. Inputs: lengths, data.
    ScanS(Box<Fold>, ScanKind),
    /// Each segment's elements in ascending order: by their first field, where that is equal by the next. Inputs: lengths, data,
    /// whose fields are unsigned integers.
    SortS(Sorted),
    /// How many elements of each segment have a true tag: the lengths of the segments that a pack by
    /// these tags leaves. Inputs: lengths, tags.
    CountS,
    /// The elements before the first one that fails the test, and with `inclusive` that one too. What
    /// comes after is not computed. Input: data.
    TakeWhile {
        /// The test.
        test: Body,
        /// Whether the element that fails the test is the last one (or else the one before it).
        inclusive: bool,
    },
    /// The first elements, as many as the body, which has no parameters, says (`u64`); all if there are fewer. What
    /// comes after is not computed. Input: data.
    Take(Body),
    /// The elements of each input, one input behind the other. Inputs: parts, two or more.
    Append,
    /// `base` with values put at indices, in order. Inputs: base (random access), indices (one `u64`
    /// field), values. The body has (what is there, value) as parameters; none overwrites.
    Scatter(Option<Body>, Places),
    /// Running folds, one at each place of a base: what is at an element's index is joined with its value, and is that
    /// element. Inputs: base (random access), indices (one `u64` field), values. The body has (what is there, value) as
    /// parameters.
    ScanByIndex(Body, ScanKind, Places),
    /// A combinator of a user's. Input: data.
    Custom(Custom),
    /// A delayed scalar computed from captures. No inputs.
    Compute(Body),
    /// The length of the input as a delayed `u64`. Input: any array.
    Len,
}

/// Where a scatter puts values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Places {
    /// Anywhere: an index outside of the base is an error.
    Anywhere,
    /// Within the base, by construction.
    Within,
}

/// How many results of a merge's body say whether lengths fit: behind what is taken, before the element.
pub const MERGE_CHECK: usize = 3;

/// A combinator of a user's, with what it gives for its input.
#[derive(Debug)]
pub struct Custom {
    /// The combinator.
    pub combinator: Arc<dyn Combinator>,
    /// What it gives.
    pub output: Output,
}

/// The length of a generated array.
#[derive(Debug, Clone)]
pub enum Len {
    /// Known while building.
    Known(u64),
    /// A delayed `u64`.
    Delayed(Arc<Node>),
    /// Known after all captures of this body are: a range check and a length in one. Results: the
    /// length (`u64`), then a `bool` that must hold, then (start, end, length) of the error if it does not.
    /// The error is a `SliceRange`.
    Checked(Box<Body>),
}

/// Fold and scan share this.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The starting value: a body without parameters. Empty results for `fold1`.
    pub start: Body,
    /// Next state from (state fields, element fields).
    pub step: Body,
    /// In which order.
    pub style: FoldStyle,
}

impl Fold {
    /// From a start, by an associative step.
    pub fn associative(start: Body, step: Body) -> Fold {
        let style = FoldStyle::Associative;
        Fold { start, step, style }
    }

    /// From the first element, by an associative step.
    pub fn first(step: Body) -> Fold {
        Fold {
            start: Body::default(),
            step,
            style: FoldStyle::First,
        }
    }

    /// From left to right, by any step.
    pub fn sequential(start: Body, step: Body) -> Fold {
        let style = FoldStyle::Sequential;
        Fold { start, step, style }
    }

    /// Into a state of any type; `join` joins the states of neighbouring parts.
    pub fn aggregate(start: Body, step: Body, join: Body) -> Fold {
        let style = FoldStyle::Aggregate(join);
        Fold { start, step, style }
    }

    /// As [`aggregate`](Fold::aggregate), where any order of elements and parts gives the same bits. The start is made of literals, and
    /// joining it changes nothing.
    pub fn exact(start: Body, step: Body, join: Body) -> Fold {
        let style = FoldStyle::Exact(join);
        Fold { start, step, style }
    }

    /// As [`aggregate`](Fold::aggregate), where elements are dealt to lanes by their index: states of any parts may be joined. The
    /// join commutes bit for bit. The start is made of literals, and joining it changes nothing.
    pub fn dealt(start: Body, step: Body, join: Body) -> Fold {
        let style = FoldStyle::Dealt(join);
        Fold { start, step, style }
    }

    /// The types of its state, over elements of these types.
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

/// In which order a fold or scan joins elements.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "every node that holds one holds larger bodies beside it"
)]
pub enum FoldStyle {
    /// `step` is associative and the state an element; `start` is joined once, on the left.
    Associative,
    /// As `Associative` with no start: an empty array is an error.
    First,
    /// Left to right, for any `step`.
    Sequential,
    /// `step` takes an element into a state; states of neighbouring parts are joined by this body
    /// (left state, right state). `start` is the state of no elements.
    Aggregate(Body),
    /// As `Aggregate`, where any order of elements and parts gives the same bits: parts go on from what those before them came
    /// to, wherever that is known. `start` is made of literals, and joining it changes nothing.
    Exact(Body),
    /// As `Aggregate`, where elements are dealt to lanes by their index. The join commutes bit for bit. `start` is made of
    /// literals, and joining it changes nothing.
    Dealt(Body),
}

impl FoldStyle {
    /// The function that joins states, if it is another one than the step.
    pub(crate) fn join(&self) -> Option<&Body> {
        match self {
            FoldStyle::Aggregate(join) | FoldStyle::Exact(join) | FoldStyle::Dealt(join) => {
                Some(join)
            }
            FoldStyle::Associative | FoldStyle::First | FoldStyle::Sequential => None,
        }
    }
}

/// What a sort of segments gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sorted {
    /// The elements.
    Elements,
    /// The index (`u64`) within the segment that each of them had; of equal ones in the order in which they come.
    Places,
}

/// Which running fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScanKind {
    /// Element i has everything before i, `start` included.
    Exclusive,
    /// Element i has everything up to i, `start` included.
    Inclusive,
}

impl Node {
    /// Length, where it is known before this force: while building, or because it was forced already.
    pub fn known_len(&self) -> Option<u64> {
        match self.value.get() {
            Some(Value::Array(columns)) => columns.first().map(|c| c.len() as u64),
            _ => self.len,
        }
    }

    /// Element types and length, as far as they are known: `f64[100]`.
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

    /// Whether it has its value, or stands for one that comes with each call: what is read from memory.
    pub(crate) fn is_leaf(&self) -> bool {
        self.value.get().is_some() || matches!(self.kind, Kind::Manifest | Kind::Input(_))
    }

    /// Whether its elements come one after the other, as they are computed.
    pub(crate) fn comes_in_order(&self) -> bool {
        self.is_stream && !self.is_leaf()
    }

    /// The value of a delayed scalar that is made of literals.
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

/// Nodes that have lost a user. Few wait at a time, except below wide graphs.
type Links = SmallVec<[Arc<Node>; 8]>;

fn take_links(node: &mut Node, out: &mut Links) {
    while let Some(input) = node.inputs.pop() {
        out.push(input);
    }
    if let After::Apart(of, _) = std::mem::take(&mut node.after) {
        of.into_nodes(out);
    }
    if let Some(shape) = node.shape.take() {
        shape.into_delayed(out);
    }
    for body in node.kind.bodies_mut() {
        for Capture::Scalar(n) | Capture::Array(n) in std::mem::take(body).into_captures() {
            out.push(n);
        }
    }
    if let Kind::Generate(len, _) = &mut node.kind
        && let Len::Delayed(n) = std::mem::replace(len, Len::Known(0))
    {
        out.push(n);
    }
}
