//! The untyped, checked builder: one constructor per [`Kind`]. The typed arrays are a veneer over it.

use crate::ast::body::show_types;
use crate::ast::draft::{Draft, both, show_node};
use crate::ast::{
    After, ArrayLoop, Axis, Body, BodyBuilder, Capture, Custom, Fold, Input, Inputs, Kind, Len,
    MERGE_CHECK, Node, Places, Rewrite, ScanKind, Shape, Term, Types, Value, red_flat,
};
use crate::custom::{Combinator, Output};
use crate::error::ErrorKind;
use crate::loc::Loc;
use livefusion_backend::Buffer;
use loop_lang::types::{Const, Ty};
use smallvec::smallvec;
use std::ops::Range;
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
    pub(super) name: &'static str,
    pub(super) loc: Loc,
    pub(super) rewrite: Option<Rewrite>,
}

impl Builder {
    /// A builder for the combinator that the user called `name`, at the caller's place. Any name will do: errors
    /// and reports have it as it is, the text of loops as a [word](loop_lang::verify::as_word).
    #[track_caller]
    pub fn named(name: &'static str) -> Builder {
        Builder::at(name, Loc::caller())
    }

    /// A builder for the combinator `name`, called at `loc`.
    pub fn at(name: &'static str, loc: Loc) -> Builder {
        Builder {
            name,
            loc,
            rewrite: None,
        }
    }

    /// A builder for what stands in place of a node: its name and place, and the rewrite that it comes from.
    pub fn like(node: &Node) -> Builder {
        Builder {
            rewrite: node.rewrite,
            ..Builder::at(node.name, node.loc)
        }
    }

    /// The same call, of whose nodes it is said that they come from a rewrite.
    pub fn rewriting(self, rewrite: Rewrite) -> Builder {
        let rewrite = Some(rewrite);
        Builder { rewrite, ..self }
    }

    /// The same place under another name.
    pub fn renamed(self, name: &'static str) -> Builder {
        Builder::at(name, self.loc)
    }

    /// What the user called.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The place of the user's call.
    pub fn loc(self) -> Loc {
        self.loc
    }

    /// An array in memory: one buffer per field, all of one length.
    pub fn manifest(self, columns: Vec<Arc<Buffer>>) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        for column in &columns {
            d.meet(column.len() as u64);
        }
        let types: Types = columns.iter().map(|c| c.ty()).collect();
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
        let mut d = Draft::new(self, Inputs::new());
        d.expect(rank <= 1, || {
            ("an input of rank 0 or 1".into(), format!("rank {rank}"))
        });
        let input = Input {
            number: k,
            consumed: false,
        };
        d.finish(Kind::Input(input), Types::from_slice(types), rank.min(1))
    }

    /// `[f(0), f(1), ...]`: the body has one `u64` parameter, the index.
    pub fn generate(self, len: Len, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        match &len {
            Len::Known(n) => d.meet(*n),
            Len::Delayed(n) => {
                d.inherit(n);
                let fits = n.rank == 0 && *n.types == [Ty::U64];
                d.expect(fits, || ("a length of type u64".into(), show_node(n)));
                if let (Kind::Len, [of]) = (&n.kind, n.inputs.as_slice())
                    && let Some(known) = of.known_len()
                {
                    d.meet(known);
                }
            }
            Len::Checked(l) => {
                d.body(
                    l,
                    "a length",
                    &[],
                    Some(&[Ty::U64, Ty::Bool, Ty::U64, Ty::U64, Ty::U64]),
                );
            }
        }
        d.body(&body, "a function", &[Ty::U64], None);
        let types = body.result_types_or_none();
        let len = match len {
            Len::Checked(l) => Len::Checked(Box::new(d.simple(*l))),
            known_or_delayed => known_or_delayed,
        };
        let body = d.simple(body);
        d.array(Kind::Generate(len, body), types)
    }

    /// `f` of each element of the inputs, in step. The body's parameters are all their fields.
    /// If the inputs are delayed scalars, so is the result.
    pub fn map(self, inputs: &[Arc<Node>], body: Body) -> Arc<Node> {
        let fitted = self.fitted(inputs);
        let inputs = fitted.as_deref().unwrap_or(inputs);
        let mut d = Draft::new(self, all(inputs));
        let rank = d.in_step();
        let params = d.input_types();
        d.body(&body, "a function", &params, None);
        if rank == 0 && d.error.is_none() {
            return self.compute(on_scalars(body, inputs));
        }
        let types = body.result_types_or_none();
        let body = d.simple(body);
        match inputs {
            // A map that changes nothing is its input.
            [input] if d.error.is_none() && is_identity(&body) => input.clone(),
            _ => d.finish(Kind::Map(body), types, rank),
        }
    }

    /// The inputs' fields side by side, in step. Of delayed scalars it is a delayed scalar.
    pub fn zip(self, inputs: &[Arc<Node>]) -> Arc<Node> {
        let fitted = self.fitted(inputs);
        let inputs = fitted.as_deref().unwrap_or(inputs);
        let mut d = Draft::new(self, all(inputs));
        let rank = d.in_step();
        let types = d.input_types();
        if rank == 0 && d.error.is_none() {
            return self.compute(on_scalars(identity(&types), inputs));
        }
        d.finish(Kind::Zip, types, rank)
    }

    /// The inputs' fields side by side, as many elements as the shortest has.
    pub fn zip_shortest(self, inputs: &[Arc<Node>]) -> Arc<Node> {
        let mut d = Draft::new(self, all(inputs));
        d.arrays();
        let lengths: Option<Vec<u64>> = inputs.iter().map(|i| i.known_len()).collect();
        d.len = lengths.and_then(|lengths| lengths.into_iter().min());
        let types = d.input_types();
        d.array(Kind::ZipShortest, types)
    }

    /// An element of an input after the other, in the order that the body finds (see [`Kind::Merge`]).
    pub fn merge(self, inputs: &[Arc<Node>], body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, all(inputs));
        d.arrays();
        let mut params = d.input_types();
        params.extend(inputs.iter().map(|_| Ty::Bool));
        params.push(Ty::U64);
        let types = body.result_types();
        let (check, element) = types.split_at(types.len().min(inputs.len() + MERGE_CHECK));
        let mut results = vec![Ty::Bool; inputs.len() + 1];
        results.extend([Ty::U64, Ty::U64]);
        d.expect(*check == *results && !element.is_empty(), || {
            let wanted = format!("{} and an element", show_types(&results));
            (wanted, show_types(&types))
        });
        d.body(&body, "a step", &params, None);
        let element = Types::from_slice(element);
        let body = d.simple(body);
        d.array(Kind::Merge(body), element)
    }

    /// The inputs' elements under a shape, or of rank 1; see [`Builder::reshape`].
    pub(super) fn reshaped(self, input: &Arc<Node>, shape: Option<Shape>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.expect(input.rank > 0, || ("an array".into(), show_node(input)));
        d.meet_node(input);
        let rank = shape.as_ref().map_or(1, Shape::rank);
        d.expect((1..=u8::MAX.into()).contains(&rank), || {
            ("a shape of one axis or more".into(), format!("{rank} axes"))
        });
        for axis in shape.as_ref().map_or(&[][..], Shape::axes) {
            d.inherit(axis.node());
            let fits = axis.node().rank == 0 && *axis.node().types == [Ty::U64];
            d.expect(fits, || {
                ("a length of type u64".into(), show_node(axis.node()))
            });
        }
        match shape.as_ref().map(Shape::size) {
            Some(Err(kind)) => d.fail(kind),
            Some(Ok(Some(size))) if input.known_len().is_some_and(|len| len != size) => {
                let whole = input.shape.as_ref().map(Shape::to_string);
                let elements = || format!("{} elements", input.known_len().unwrap_or(0));
                let got = shape.as_ref().map_or_else(String::new, Shape::to_string);
                d.fail(ErrorKind::Malformed {
                    expected: format!(
                        "a shape for the elements of {}",
                        whole.unwrap_or_else(elements)
                    ),
                    got,
                });
            }
            Some(Ok(Some(size))) => d.len = Some(size),
            Some(Ok(None)) | None => {}
        }
        d.shape = shape;
        d.finish(Kind::Zip, input.types.clone(), rank as u8)
    }

    /// Some fields of the input.
    pub fn fields(self, input: &Arc<Node>, range: Range<u32>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        let rank = d.in_step();
        let types = input
            .types
            .get(range.start as usize..range.end as usize)
            .unwrap_or_default();
        d.expect(!types.is_empty(), || {
            (
                format!("fields of {}", show_types(&input.types)),
                format!("{range:?}"),
            )
        });
        if rank == 0 && d.error.is_none() {
            let mut b = BodyBuilder::new(&[]);
            let results: Vec<_> = range.map(|f| b.scalar(input, f)).collect();
            return self.compute(b.finish(&results));
        }
        d.finish(Kind::Fields(range), Types::from_slice(types), rank)
    }

    /// The elements for which the body is true.
    pub fn filter(self, input: &Arc<Node>, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.body(&body, "a test", &input.types, Some(&[Ty::Bool]));
        let body = d.simple(body);
        d.array(Kind::Filter(body), input.types.clone())
    }

    /// The elements whose tag is true.
    pub fn pack(self, data: &Arc<Node>, tags: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![data.clone(), tags.clone()]);
        d.arrays();
        d.in_step();
        d.len = None;
        d.expect(*tags.types == [Ty::Bool], || {
            ("tags of type bool".into(), show_node(tags))
        });
        d.array(Kind::Pack, data.types.clone())
    }

    /// All elements folded into a delayed scalar. Of folds of rows it is one fold of their elements, where that gives the same
    /// ([`Rewrite::RedFlat`]).
    pub fn fold(self, input: &Arc<Node>, fold: Fold) -> Arc<Node> {
        match red_flat::elements(self, input, &fold) {
            Some(elements) => self.rewriting(Rewrite::RedFlat).folded(&elements, fold),
            None => self.folded(input, fold),
        }
    }

    fn folded(self, input: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        let state = d.fold(&fold, &input.types);
        let fold = d.simple_fold(fold);
        d.scalar(Kind::Fold(fold), state)
    }

    /// Running folds; of associative and sequential folds only.
    pub fn scan(self, input: &Arc<Node>, fold: Fold, kind: ScanKind) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.in_step();
        let state = d.fold(&fold, &input.types);
        d.scannable(&fold);
        let fold = d.simple_fold(fold);
        d.array(Kind::Scan(fold, kind), state)
    }

    /// The delayed scalar that a scan ends with: the fold of all elements.
    ///
    /// It ends a scan of its own, which is one with `scan` wherever both are computed. Once `scan` is in
    /// memory its elements do not tell the total, but the other one can still be run.
    pub fn scan_total(self, scan: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![unforced(scan)]);
        let is = matches!(scan.kind, Kind::Scan(..));
        d.expect(is, || ("a scan".into(), format!("`{}`", scan.name)));
        d.scalar(Kind::ScanTotal, scan.types.clone())
    }

    /// The elements of segments: `f(i, values)` for each `i` below each length. The body's parameters are
    /// the index within the segment (`u64`) and the fields of `values`, which have one element per segment.
    pub fn expand(self, lengths: &Arc<Node>, values: &[Arc<Node>], body: Body) -> Arc<Node> {
        let inputs: Inputs = [lengths].into_iter().chain(values).cloned().collect();
        let mut d = Draft::new(self, inputs);
        d.arrays();
        d.in_step();
        d.len = all_rows(lengths);
        d.lengths(lengths);
        let params: Types = [Ty::U64]
            .into_iter()
            .chain(values.iter().flat_map(|n| n.types.iter().copied()))
            .collect();
        d.body(&body, "a function", &params, None);
        let types = body.result_types_or_none();
        let body = d.simple(body);
        d.array(Kind::Expand(body), types)
    }

    /// Each segment's elements folded: one result per segment. Of folds of rows, if segments are rows, too, it is one of longer
    /// rows, where that gives the same ([`Rewrite::RedFlat`]).
    pub fn fold_s(self, lengths: &Arc<Node>, data: &Arc<Node>, fold: Fold) -> Arc<Node> {
        match red_flat::rows(self, lengths, data, &fold) {
            Some((lengths, elements)) => {
                let builder = self.rewriting(Rewrite::RedFlat);
                builder.folded_s(&lengths, &elements, fold)
            }
            None => self.folded_s(lengths, data, fold),
        }
    }

    fn folded_s(self, lengths: &Arc<Node>, data: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![lengths.clone(), data.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(lengths);
        let state = d.fold(&fold, &data.types);
        let fold = d.simple_fold(fold);
        d.array(Kind::FoldS(fold), state)
    }

    /// Running folds that start anew with each segment; of associative and sequential folds only.
    pub fn scan_s(
        self,
        lengths: &Arc<Node>,
        data: &Arc<Node>,
        fold: Fold,
        kind: ScanKind,
    ) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![lengths.clone(), data.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(data);
        let state = d.fold(&fold, &data.types);
        d.scannable(&fold);
        let fold = d.simple_fold(fold);
        d.array(Kind::ScanS(fold, kind), state)
    }

    /// How many elements of each segment have a true tag: the lengths of the segments that
    /// [`pack`](Builder::pack) by these tags leaves. (By a test it is [`count_if_s`](Builder::count_if_s).)
    pub fn count_s(self, lengths: &Arc<Node>, tags: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![lengths.clone(), tags.clone()]);
        d.arrays();
        d.lengths(lengths);
        d.meet_node(lengths);
        d.expect(*tags.types == [Ty::Bool], || {
            ("tags of type bool".into(), show_node(tags))
        });
        d.array(Kind::CountS, smallvec![Ty::U64])
    }

    /// The elements before the first one for which the body is false, and with `inclusive` that one too.
    pub fn take_while(self, input: &Arc<Node>, test: Body, inclusive: bool) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.body(&test, "a test", &input.types, Some(&[Ty::Bool]));
        let test = d.simple(test);
        d.array(Kind::TakeWhile { test, inclusive }, input.types.clone())
    }

    /// The first elements, as many as the body says (`u64`); all if there are fewer. It has no parameters.
    pub fn take(self, input: &Arc<Node>, n: Body) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.body(&n, "a number of elements", &[], Some(&[Ty::U64]));
        let n = d.simple(n);
        d.array(Kind::Take(n), input.types.clone())
    }

    /// The elements of each part, one part behind the other.
    pub fn append(self, parts: &[Arc<Node>]) -> Arc<Node> {
        let mut d = Draft::new(self, parts.iter().cloned().collect());
        d.arrays();
        let types = parts.first().map_or_else(Types::new, |p| p.types.clone());
        let other = parts.iter().find(|p| p.types != types);
        d.expect(other.is_none(), || {
            let got = other.map_or_else(String::new, |p| show_node(p));
            (format!("elements of type {}", show_types(&types)), got)
        });
        let mut lengths = parts.iter().map(|p| p.known_len());
        d.len = lengths.try_fold(0u64, |sum, n| Some(sum.saturating_add(n?)));
        d.array(Kind::Append, types)
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
        self.scattered([base, indices, values], combine, Places::Anywhere)
    }

    /// As [`scatter`](Builder::scatter), at indices that are inside of the base by construction: what is not is left out.
    pub fn scatter_within(
        self,
        base: &Arc<Node>,
        indices: &Arc<Node>,
        values: &Arc<Node>,
        combine: Option<Body>,
    ) -> Arc<Node> {
        self.scattered([base, indices, values], combine, Places::Within)
    }

    fn scattered(
        self,
        [base, indices, values]: [&Arc<Node>; 3],
        combine: Option<Body>,
        places: Places,
    ) -> Arc<Node> {
        let mut d = Draft::new(
            self,
            smallvec![base.clone(), indices.clone(), values.clone()],
        );
        d.arrays();
        d.meet_node(indices);
        d.meet_node(values);
        d.expect(*indices.types == [Ty::U64], || {
            ("indices of type u64".into(), show_node(indices))
        });
        let t = &base.types;
        d.expect(values.types == *t, || {
            (
                format!("values of type {}", show_types(t)),
                show_node(values),
            )
        });
        if let Some(c) = &combine {
            d.body(c, "a combine function", &both(t, t), Some(t));
        }
        d.len = base.known_len();
        let combine = combine.map(|c| d.simple(c));
        d.array(Kind::Scatter(combine, places), t.clone())
    }

    /// Running folds, one at each place of a base, which has what they start with: what is at an element's index is joined
    /// with its value by `step` of (what is there, value), and is the element, or with [`ScanKind::Exclusive`] what was
    /// there before is.
    pub fn scan_by_index(
        self,
        [base, indices, values]: [&Arc<Node>; 3],
        step: Body,
        kind: ScanKind,
        places: Places,
    ) -> Arc<Node> {
        let mut d = Draft::new(
            self,
            smallvec![base.clone(), indices.clone(), values.clone()],
        );
        d.arrays();
        d.meet_node(indices);
        d.meet_node(values);
        d.expect(*indices.types == [Ty::U64], || {
            ("indices of type u64".into(), show_node(indices))
        });
        let t = &base.types;
        d.body(&step, "a step", &both(t, &values.types), Some(t));
        let step = d.simple(step);
        d.array(Kind::ScanByIndex(step, kind, places), t.clone())
    }

    /// What a user's combinator gives for an array.
    pub fn custom(self, input: &Arc<Node>, combinator: impl Combinator) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        let output = combinator.output(&input.types);
        d.expect(
            output.as_ref().is_some_and(|o| !o.types().is_empty()),
            || {
                let expected = format!("elements that `{}` takes", self.name);
                (expected, show_types(&input.types))
            },
        );
        let output = output.unwrap_or(Output::InStep(Vec::new()));
        if let Output::InStep(_) = output {
            d.meet_node(input);
        }
        let types = Types::from_slice(output.types());
        let rank = u8::from(!matches!(output, Output::Scalar(_)));
        let kind = Kind::Custom(Custom {
            combinator: Arc::new(combinator),
            output,
        });
        d.finish(kind, types, rank)
    }

    /// A delayed scalar computed from the body's captures. One that is made of literals alone has its value.
    pub fn compute(self, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        d.body(&body, "a computation", &[], None);
        let types = body.result_types_or_none();
        let body = d.simple(of_literals(body));
        let node = d.scalar(Kind::Compute(body), types);
        match node.literal() {
            Some(value) => set(node, value),
            None => node,
        }
    }

    /// The length of an array as a delayed `u64`.
    pub fn len(self, input: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.scalar(Kind::Len, smallvec![Ty::U64])
    }

    /// A node of these types and this rank that carries the mistake of another.
    pub(crate) fn mistaken(self, of: &Arc<Node>, types: &[Ty], rank: u8) -> Arc<Node> {
        let d = Draft::new(self, smallvec![of.clone()]);
        d.finish(Kind::Zip, Types::from_slice(types), rank)
    }

    /// In place of a node of these types and this rank that cannot be built of its inputs: it carries the first mistake that one of
    /// them has, else that something else was expected.
    pub(crate) fn instead(
        self,
        inputs: &[&Arc<Node>],
        (types, rank): (&[Ty], u8),
        expected: &str,
        got: String,
    ) -> Arc<Node> {
        if let Some(wrong) = inputs.iter().find(|n| n.error.is_some()) {
            return self.mistaken(wrong, types, rank);
        }
        let expected = expected.to_string();
        self.fault(types, rank, ErrorKind::Malformed { expected, got })
    }

    /// A component of the state that a loop over arrays ends with, of these types: an array (rank 1) or a delayed scalar.
    pub fn looped(self, of: &Arc<ArrayLoop>, component: u32, types: &[Ty], rank: u8) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        of.start.iter().chain(&of.step).for_each(|n| d.inherit(n));
        d.after = After::Loop(of.clone(), component);
        let input = Input {
            number: u32::MAX,
            consumed: false,
        };
        d.finish(Kind::Input(input), Types::from_slice(types), rank.min(1))
    }

    /// A node of these types and this rank that carries a mistake, in place of one that cannot be built.
    pub fn fault(self, types: &[Ty], rank: u8, kind: ErrorKind) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        d.fail(kind);
        d.finish(Kind::Manifest, Types::from_slice(types), rank)
    }
}

/// The inputs of a node, of which there is mostly one.
fn all(inputs: &[Arc<Node>]) -> Inputs {
    let mut all = Inputs::new();
    for input in inputs {
        all.push(input.clone());
    }
    all
}

/// How many elements segments of these lengths have, if all are of one length and there are known to be so many.
fn all_rows(lengths: &Arc<Node>) -> Option<u64> {
    let length = Axis::of_rows(lengths)?.known()?;
    lengths.len?.checked_mul(length)
}

/// A node like a scan that never is in memory, since nobody else has it. What is no scan is itself.
fn unforced(scan: &Arc<Node>) -> Arc<Node> {
    let Kind::Scan(fold, kind) = &scan.kind else {
        return scan.clone();
    };
    Arc::new(Node {
        name: scan.name,
        loc: scan.loc,
        rewrite: scan.rewrite,
        kind: Kind::Scan(fold.clone(), *kind),
        inputs: scan.inputs.clone(),
        types: scan.types.clone(),
        rank: scan.rank,
        shape: scan.shape.clone(),
        after: scan.after.clone(),
        is_stream: scan.is_stream,
        len: scan.len,
        error: scan.error.clone(),
        value: OnceLock::new(),
    })
}

/// Gives a fresh node its value.
fn set(mut node: Arc<Node>, value: Value) -> Arc<Node> {
    if let Some(n) = Arc::get_mut(&mut node) {
        n.value = OnceLock::from(value);
    }
    node
}

/// A body with what it captures in its place, if it captures nothing but literals.
fn of_literals(mut body: Body) -> Body {
    let literal = |c: &Capture| match c {
        Capture::Scalar(n) => match n.literal()? {
            Value::Scalar(fields) => Some(fields),
            Value::Array(_) => None,
        },
        Capture::Array(_) => None,
    };
    let known: Option<Vec<_>> = body.captures.iter().map(literal).collect();
    let Some(known) = known.filter(|known| !known.is_empty() && body.error.is_none()) else {
        return body;
    };
    for data in &mut body.terms {
        if let Term::Scalar { capture, field } = data.term
            && let Some(c) = known
                .get(capture as usize)
                .and_then(|c| c.get(field as usize))
        {
            data.term = Term::Lit(*c);
        }
    }
    body.captures.clear();
    body
}

/// The body that gives its parameters back.
pub fn identity(types: &[Ty]) -> Body {
    let mut b = BodyBuilder::new(types);
    let results: Vec<_> = (0..types.len() as u32).map(|k| b.param(k)).collect();
    b.finish(&results)
}

/// Whether a body gives its parameters back, one for one.
fn is_identity(body: &Body) -> bool {
    body.results.len() == body.params.len()
        && body.results.iter().enumerate().all(|(k, t)| t.index() == k)
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
            body.terms[at].term = Term::Scalar {
                capture: capture as u32,
                field,
            };
            at += 1;
        }
    }
    body.params.clear();
    body
}
