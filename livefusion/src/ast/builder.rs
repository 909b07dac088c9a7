//! The untyped, checked builder: one constructor per [`Kind`]. The typed arrays are a veneer over it.

use crate::ast::body::show_types;
use crate::ast::{Body, BodyBuilder, Capture, Fold, FoldStyle, Kind, Len, Node, ScanKind, Term, Value};
use crate::ast::check;
use crate::error::{Error, ErrorKind, Loc};
use livefusion_backend::Buffer;
use loop_lang::types::{Const, Ty};
use std::ops::Range;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

/// Builds nodes under the name and place of the user's call.
///
/// Types, ranks and known lengths are checked. A mistake does not panic: it stays in the node (the
/// first one wins, and an input's comes before the node's own) and comes out of `force`.
///
/// ```
/// use livefusion::ast::{BodyBuilder, Builder, Len};
/// use loop_lang::{Op, Ty};
/// let mut f = BodyBuilder::new(&[Ty::U64]);
/// let i = f.param(0);
/// let square = f.op(Op::Mul, &[i, i]);
/// let node = Builder::named("generate").generate(Len::Known(10), f.finish(&[square]));
/// assert_eq!((node.len, node.error.clone()), (Some(10), None));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    name: &'static str,
    loc: Loc,
}

impl Builder {
    /// A builder for the combinator that the user called `name`, at the caller's place.
    #[track_caller]
    pub fn named(name: &'static str) -> Builder {
        Builder { name, loc: Location::caller() }
    }

    /// A builder for the combinator `name`, called at `loc`.
    pub fn at(name: &'static str, loc: Loc) -> Builder {
        Builder { name, loc }
    }

    /// The same place under another name.
    pub fn renamed(self, name: &'static str) -> Builder {
        Builder { name, ..self }
    }

    /// The place of the user's call.
    pub fn loc(self) -> Loc {
        self.loc
    }

    /// An array in memory: one buffer per field, all of one length.
    pub fn manifest(self, columns: Vec<Arc<Buffer>>) -> Arc<Node> {
        let mut d = Draft::new(self, Vec::new());
        let lens: Vec<u64> = columns.iter().map(|c| c.len() as u64).collect();
        for len in &lens {
            d.meet(*len);
        }
        let types: Vec<Ty> = columns.iter().map(|c| c.ty()).collect();
        let node = d.array(Kind::Manifest, types);
        set(node, Value::Array(columns))
    }

    /// A delayed scalar that is known already.
    pub fn constant(self, fields: &[Const]) -> Arc<Node> {
        let mut b = BodyBuilder::new(&[]);
        let results: Vec<_> = fields.iter().map(|c| b.lit(*c)).collect();
        self.compute(b.finish(&results))
    }

    /// The k-th input of a prepared program: an array (rank 1) or a scalar (rank 0).
    pub fn input(self, k: u32, types: &[Ty], rank: u8) -> Arc<Node> {
        let mut d = Draft::new(self, Vec::new());
        d.expect(rank <= 1, || ("an input of rank 0 or 1".into(), format!("rank {rank}")));
        d.finish(Kind::Input(k), types.to_vec(), rank.min(1))
    }

    /// `[f(0), f(1), ...]`: the body has one `u64` parameter, the index.
    pub fn generate(self, len: Len, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, Vec::new());
        match &len {
            Len::Known(n) => d.meet(*n),
            Len::Delayed(n) => {
                d.inherit(n);
                let fits = n.rank == 0 && n.types == [Ty::U64];
                d.expect(fits, || ("a length of type u64".into(), show_node(n)));
                if let (Kind::Len, [of]) = (&n.kind, n.inputs.as_slice())
                    && let Some(known) = of.known_len()
                {
                    d.meet(known);
                }
            }
            Len::Checked(l) => {
                d.body(l, "a length", &[], Some(&[Ty::U64, Ty::Bool, Ty::U64, Ty::U64]));
            }
        }
        d.body(&body, "a function", &[Ty::U64], None);
        let types = body.result_types_or_none();
        d.array(Kind::Generate(len, body), types)
    }

    /// `f` of each element of the inputs, in step. The body's parameters are all their fields.
    /// If the inputs are delayed scalars, so is the result.
    pub fn map(self, inputs: &[Arc<Node>], body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, inputs.to_vec());
        let rank = d.in_step();
        let params = d.input_types();
        d.body(&body, "a function", &params, None);
        if rank == 0 && d.error.is_none() {
            return self.compute(on_scalars(body, inputs));
        }
        let types = body.result_types_or_none();
        d.finish(Kind::Map(body), types, rank)
    }

    /// The inputs' fields side by side, in step. Of delayed scalars it is a delayed scalar.
    pub fn zip(self, inputs: &[Arc<Node>]) -> Arc<Node> {
        let mut d = Draft::new(self, inputs.to_vec());
        let rank = d.in_step();
        let types = d.input_types();
        if rank == 0 && d.error.is_none() {
            return self.compute(on_scalars(identity(&types), inputs));
        }
        d.finish(Kind::Zip, types, rank)
    }

    /// Some fields of the input.
    pub fn fields(self, input: &Arc<Node>, range: Range<u32>) -> Arc<Node> {
        let mut d = Draft::new(self, vec![input.clone()]);
        let rank = d.in_step();
        let types = input.types.get(range.start as usize..range.end as usize).unwrap_or_default();
        d.expect(!types.is_empty(), || {
            (format!("fields of {}", show_types(&input.types)), format!("{range:?}"))
        });
        if rank == 0 && d.error.is_none() {
            let mut b = BodyBuilder::new(&[]);
            let results: Vec<_> = range.map(|f| b.scalar(input, f)).collect();
            return self.compute(b.finish(&results));
        }
        d.finish(Kind::Fields(range), types.to_vec(), rank)
    }

    /// The elements for which the body is true.
    pub fn filter(self, input: &Arc<Node>, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, vec![input.clone()]);
        d.arrays();
        d.body(&body, "a test", &input.types, Some(&[Ty::Bool]));
        d.array(Kind::Filter(body), input.types.clone())
    }

    /// The elements whose tag is true.
    pub fn pack(self, data: &Arc<Node>, tags: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, vec![data.clone(), tags.clone()]);
        d.arrays();
        d.in_step();
        d.len = None;
        d.expect(tags.types == [Ty::Bool], || ("tags of type bool".into(), show_node(tags)));
        d.array(Kind::Pack, data.types.clone())
    }

    /// All elements folded into a delayed scalar.
    pub fn fold(self, input: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let mut d = Draft::new(self, vec![input.clone()]);
        d.arrays();
        let state = d.fold(&fold, &input.types);
        d.scalar(Kind::Fold(fold), state)
    }

    /// Running folds; of associative and sequential folds only.
    pub fn scan(self, input: &Arc<Node>, fold: Fold, kind: ScanKind) -> Arc<Node> {
        let mut d = Draft::new(self, vec![input.clone()]);
        d.arrays();
        d.in_step();
        let state = d.fold(&fold, &input.types);
        d.expect(matches!(fold.style, FoldStyle::Associative | FoldStyle::Sequential), || {
            ("a scan with a starting value".into(), "another".into())
        });
        d.array(Kind::Scan(fold, kind), state)
    }

    /// The delayed scalar that a scan ends with: the fold of all elements.
    pub fn scan_total(self, scan: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, vec![scan.clone()]);
        let is = matches!(scan.kind, Kind::Scan(..));
        d.expect(is, || ("a scan".into(), format!("`{}`", scan.name)));
        d.scalar(Kind::ScanTotal, scan.types.clone())
    }

    /// `base` with values put at indices, in order. `combine` takes (what is there, value); without
    /// it the last value put at an index stays.
    pub fn scatter(
        self,
        base: &Arc<Node>,
        indices: &Arc<Node>,
        values: &Arc<Node>,
        combine: Option<Body>,
    ) -> Arc<Node> {
        let mut d = Draft::new(self, vec![base.clone(), indices.clone(), values.clone()]);
        d.arrays();
        d.meet_node(indices);
        d.meet_node(values);
        d.expect(indices.types == [Ty::U64], || ("indices of type u64".into(), show_node(indices)));
        let t = &base.types;
        d.expect(values.types == *t, || {
            (format!("values of type {}", show_types(t)), show_node(values))
        });
        if let Some(c) = &combine {
            d.body(c, "a combine function", &[t.as_slice(), t].concat(), Some(t));
        }
        d.len = base.known_len();
        d.array(Kind::Scatter(combine), t.clone())
    }

    /// A delayed scalar computed from the body's captures.
    pub fn compute(self, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, Vec::new());
        d.body(&body, "a computation", &[], None);
        let types = body.result_types_or_none();
        d.scalar(Kind::Compute(body), types)
    }

    /// The length of an array as a delayed `u64`.
    pub fn len(self, input: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, vec![input.clone()]);
        d.arrays();
        d.scalar(Kind::Len, vec![Ty::U64])
    }

    /// A node of these types and this rank that carries a mistake, in place of one that cannot be built.
    pub fn fault(self, types: &[Ty], rank: u8, kind: ErrorKind) -> Arc<Node> {
        let mut d = Draft::new(self, Vec::new());
        d.fail(kind);
        d.finish(Kind::Manifest, types.to_vec(), rank)
    }
}

/// A node in the making: collects the first mistake and the known length.
struct Draft {
    builder: Builder,
    inputs: Vec<Arc<Node>>,
    len: Option<u64>,
    error: Option<Error>,
}

impl Draft {
    fn new(builder: Builder, inputs: Vec<Arc<Node>>) -> Draft {
        let error = inputs.iter().find_map(|n| n.error.clone());
        Draft { builder, inputs, len: None, error }
    }

    fn fail(&mut self, kind: ErrorKind) {
        self.error.get_or_insert_with(|| Error::new(self.builder.name, self.builder.loc, kind));
    }

    fn expect(&mut self, holds: bool, message: impl FnOnce() -> (String, String)) {
        if !holds && self.error.is_none() {
            let (expected, got) = message();
            self.fail(ErrorKind::Malformed { expected, got });
        }
    }

    fn inherit(&mut self, node: &Node) {
        if self.error.is_none() {
            self.error.clone_from(&node.error);
        }
    }

    /// Another part of the result whose length is known; all must agree.
    fn meet(&mut self, got: u64) {
        match self.len {
            None => self.len = Some(got),
            Some(expected) if expected != got => {
                self.fail(ErrorKind::LengthMismatch { expected, got });
            }
            Some(_) => {}
        }
    }

    fn meet_node(&mut self, node: &Node) {
        if let Some(len) = node.known_len() {
            self.meet(len);
        }
    }

    /// All inputs have one rank, which this gives, and lengths that agree as far as they are known.
    fn in_step(&mut self) -> u8 {
        let rank = self.inputs.first().map_or(1, |n| n.rank);
        let known: Vec<Option<u64>> = self.inputs.iter().map(|n| n.known_len()).collect();
        let odd = self.inputs.iter().find(|n| n.rank != rank).map(show_node_ref);
        self.expect(!known.is_empty(), || ("at least one input".into(), "none".into()));
        if let Some(got) = odd {
            self.expect(false, || (format!("inputs of rank {rank}"), got));
        }
        for len in known.into_iter().flatten() {
            self.meet(len);
        }
        rank
    }

    /// No input is a delayed scalar.
    fn arrays(&mut self) {
        if let Some(got) = self.inputs.iter().find(|n| n.rank == 0).map(show_node_ref) {
            self.expect(false, || ("an array".into(), got));
        }
    }

    fn input_types(&self) -> Vec<Ty> {
        self.inputs.iter().flat_map(|n| n.types.iter().copied()).collect()
    }

    /// Checks a body: its own mistakes, those of what it captures, its form, its signature.
    fn body(&mut self, body: &Body, what: &str, params: &[Ty], results: Option<&[Ty]>) {
        if self.error.is_some() {
            return;
        }
        if let Some(e) = &body.error {
            let Builder { name, loc } = self.builder;
            let location = e.location.or(Some(loc));
            self.error = Some(Error { combinator: name, location, kind: e.kind.clone() });
            return;
        }
        self.error = body.captures.iter().find_map(|c| c.node().error.clone());
        if self.error.is_none()
            && let Err(kind) =
                check::body(body).and_then(|()| check::signature(body, what, params, results))
        {
            self.fail(kind);
        }
    }

    /// Checks a fold over elements of these types; gives the types of its state.
    fn fold(&mut self, fold: &Fold, elem: &[Ty]) -> Vec<Ty> {
        let Fold { start, step, style } = fold;
        let first = matches!(style, FoldStyle::First);
        if !first {
            self.body(start, "a starting value", &[], None);
        }
        let state = match style {
            FoldStyle::Associative | FoldStyle::First => elem.to_vec(),
            FoldStyle::Sequential | FoldStyle::Aggregate(_) => start.result_types_or_none(),
        };
        if matches!(style, FoldStyle::Associative) {
            self.body(start, "a starting value", &[], Some(&state));
        }
        self.expect(!first || start.results.is_empty(), || {
            ("no starting value".into(), "one".into())
        });
        self.body(step, "a step", &[state.as_slice(), elem].concat(), Some(&state));
        if let FoldStyle::Aggregate(join) = style {
            self.body(join, "a combine function", &[&state[..], &state].concat(), Some(&state));
        }
        state
    }

    fn array(self, kind: Kind, types: Vec<Ty>) -> Arc<Node> {
        self.finish(kind, types, 1)
    }

    fn scalar(self, kind: Kind, types: Vec<Ty>) -> Arc<Node> {
        self.finish(kind, types, 0)
    }

    fn finish(mut self, kind: Kind, types: Vec<Ty>, rank: u8) -> Arc<Node> {
        self.expect(!types.is_empty(), || ("an element of at least one field".into(), "none".into()));
        let Draft { builder: Builder { name, loc }, inputs, len, error } = self;
        let len = if rank == 0 { None } else { len };
        Arc::new(Node { name, loc, kind, inputs, types, rank, len, error, value: OnceLock::new() })
    }
}

/// Gives a fresh node its value.
fn set(mut node: Arc<Node>, value: Value) -> Arc<Node> {
    if let Some(n) = Arc::get_mut(&mut node) {
        n.value = OnceLock::from(value);
    }
    node
}

/// The body that gives its parameters back.
pub(crate) fn identity(types: &[Ty]) -> Body {
    let mut b = BodyBuilder::new(types);
    let results: Vec<_> = (0..types.len() as u32).map(|k| b.param(k)).collect();
    b.finish(&results)
}

/// A body applied to delayed scalars: parameters become fields of captures.
fn on_scalars(mut body: Body, inputs: &[Arc<Node>]) -> Body {
    let mut at = 0;
    for node in inputs {
        let capture = body
            .captures
            .iter()
            .position(|c| matches!(c, Capture::Scalar(n) if Arc::ptr_eq(n, node)))
            .unwrap_or_else(|| {
                body.captures.push(Capture::Scalar(node.clone()));
                body.captures.len() - 1
            });
        for field in 0..node.types.len() as u32 {
            body.terms[at].term = Term::Scalar { capture: capture as u32, field };
            at += 1;
        }
    }
    body.params.clear();
    body
}

/// A node for a message: `f64 of rank 1`.
fn show_node(n: &Node) -> String {
    format!("{} of rank {} from `{}`", show_types(&n.types), n.rank, n.name)
}

fn show_node_ref(n: &Arc<Node>) -> String {
    show_node(n)
}

impl Body {
    /// Types of the results; none if a result is no term (a body made by hand).
    fn result_types_or_none(&self) -> Vec<Ty> {
        let types: Option<Vec<Ty>> =
            self.results.iter().map(|r| self.terms.get(r.index()).map(|d| d.ty)).collect();
        types.unwrap_or_default()
    }
}
