//! The untyped, checked builder: one constructor per [`Kind`].
//!
//! The typed arrays are a thin layer over it.

mod apart;
mod bodies;
mod folds;
mod indices;
mod mistakes;
mod segments;

use crate::ast::body::show_types;
use crate::ast::draft::{Draft, show_node};
use crate::ast::{
    Body, BodyBuilder, Custom, Input, Inputs, Kind, Len, MERGE_CHECK, Node, Rewrite, Shape, Types,
    Value, own_index,
};
use crate::custom::{Combinator, Output};
use crate::error::ErrorKind;
use crate::loc::Loc;
use livefusion_backend::Buffer;
use loop_lang::types::{Const, Ty};
use smallvec::smallvec;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

pub use bodies::identity;
use bodies::{is_identity, is_its_capture, of_literals, on_scalars};

/// Builds nodes under the name and location of the user's call.
///
/// Types, ranks and known lengths are checked. A mistake does not panic: the node keeps it and
/// `force` reports it. The first mistake wins, and an input's mistake comes before the node's own.
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
    /// Creates a builder for the combinator `name`, called at the caller's location.
    ///
    /// Any name is allowed. Errors and reports show it unchanged; the text of loops shows it as a
    /// [word](loop_lang::verify::as_word).
    #[track_caller]
    pub fn named(name: &'static str) -> Builder {
        Builder::at(name, Loc::caller())
    }

    /// Creates a builder for the combinator `name`, called at `loc`.
    pub fn at(name: &'static str, loc: Loc) -> Builder {
        Builder {
            name,
            loc,
            rewrite: None,
        }
    }

    /// Creates a builder for a replacement of a node.
    ///
    /// It copies the node's name, location and rewrite.
    pub fn like(node: &Node) -> Builder {
        Builder {
            rewrite: node.rewrite,
            ..Builder::at(node.name, node.loc)
        }
    }

    /// Marks the built nodes as results of a rewrite.
    pub fn rewriting(self, rewrite: Rewrite) -> Builder {
        let rewrite = Some(rewrite);
        Builder { rewrite, ..self }
    }

    /// Creates a builder at the same location under another name.
    pub fn renamed(self, name: &'static str) -> Builder {
        Builder::at(name, self.loc)
    }

    /// Returns the combinator's name in the user's program.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Returns the location of the user's call.
    pub fn loc(self) -> Loc {
        self.loc
    }

    /// Creates an array in memory.
    ///
    /// There is one buffer per field, all of one length.
    pub fn manifest(self, columns: Vec<Arc<Buffer>>) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        for column in &columns {
            d.meet(column.len() as u64);
        }
        let types: Types = columns.iter().map(|c| c.ty()).collect();
        let node = d.array(Kind::Manifest, types);
        set(node, Value::Array(columns))
    }

    /// Creates a delayed scalar with a known value.
    pub fn constant(self, fields: &[Const]) -> Arc<Node> {
        let mut b = BodyBuilder::new(&[]);
        let results: Vec<_> = fields.iter().map(|c| b.lit(*c)).collect();
        self.compute(b.finish(&results))
    }

    /// Creates the k-th input of a prepared program.
    ///
    /// It is an array (rank 1) or a scalar (rank 0).
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

    /// Generates `[f(0), f(1), ...]`.
    ///
    /// The body has one `u64` parameter, the index.
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
        match own_index::generated(&len, &body).filter(|_| d.error.is_none()) {
            Some(array) => array,
            None => d.array(Kind::Generate(len, body), types),
        }
    }

    /// Maps the body over the inputs, in lockstep.
    ///
    /// The body's parameters are the fields of all inputs. If the inputs are delayed scalars, so is
    /// the result.
    pub fn map(self, inputs: &[Arc<Node>], body: Body) -> Arc<Node> {
        // Arrays of several axes are fitted, and those of one axis may be parts of a stream.
        let aligned = self.fitted(inputs).or_else(|| self.all_late(inputs));
        let inputs = aligned.as_deref().unwrap_or(inputs);
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
            // A map by the identity is its input.
            [input] if d.error.is_none() && is_identity(&body) => input.clone(),
            _ => d.finish(Kind::Map(body), types, rank),
        }
    }

    /// Zips the inputs' fields, in lockstep.
    ///
    /// A zip of delayed scalars is a delayed scalar.
    pub fn zip(self, inputs: &[Arc<Node>]) -> Arc<Node> {
        // Arrays of several axes are fitted, and those of one axis may be parts of a stream.
        let aligned = self.fitted(inputs).or_else(|| self.all_late(inputs));
        let inputs = aligned.as_deref().unwrap_or(inputs);
        let mut d = Draft::new(self, all(inputs));
        let rank = d.in_step();
        let types = d.input_types();
        if rank == 0 && d.error.is_none() {
            return self.compute(on_scalars(identity(&types), inputs));
        }
        d.finish(Kind::Zip, types, rank)
    }

    /// Zips the inputs' fields up to the shortest input.
    pub fn zip_shortest(self, inputs: &[Arc<Node>]) -> Arc<Node> {
        let mut d = Draft::new(self, all(inputs));
        d.arrays();
        let lengths: Option<Vec<u64>> = inputs.iter().map(|i| i.known_len()).collect();
        d.len = lengths.and_then(|lengths| lengths.into_iter().min());
        let types = d.input_types();
        d.array(Kind::ZipShortest, types)
    }

    /// Merges the inputs' elements in an order that the body decides.
    ///
    /// See [`Kind::Merge`].
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

    /// The inputs' elements under a shape, or of rank 1. See [`Builder::reshape`].
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

    /// Selects some fields of the input.
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

    /// Keeps the elements for which the body is true.
    pub fn filter(self, input: &Arc<Node>, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.body(&body, "a test", &input.types, Some(&[Ty::Bool]));
        let body = d.simple(body);
        d.array(Kind::Filter(body), input.types.clone())
    }

    /// Keeps the elements whose tag is true.
    pub fn pack(self, data: &Arc<Node>, tags: &Arc<Node>) -> Arc<Node> {
        let both = [data.clone(), tags.clone()];
        let late = self.all_late(&both);
        let mut d = Draft::new(self, all(late.as_deref().unwrap_or(&both)));
        d.arrays();
        d.in_step();
        d.len = None;
        d.expect(*tags.types == [Ty::Bool], || {
            ("tags of type bool".into(), show_node(tags))
        });
        d.array(Kind::Pack, data.types.clone())
    }

    /// Keeps the elements before the first one that fails the test.
    ///
    /// With `inclusive` that one is kept, too.
    pub fn take_while(self, input: &Arc<Node>, test: Body, inclusive: bool) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.body(&test, "a test", &input.types, Some(&[Ty::Bool]));
        let test = d.simple(test);
        d.array(Kind::TakeWhile { test, inclusive }, input.types.clone())
    }

    /// Keeps the first elements.
    ///
    /// The body, which has no parameters, gives their number (`u64`). All are kept if there are
    /// fewer.
    pub fn take(self, input: &Arc<Node>, n: Body) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.body(&n, "a number of elements", &[], Some(&[Ty::U64]));
        let n = d.simple(n);
        d.array(Kind::Take(n), input.types.clone())
    }

    /// Appends the parts in order.
    pub fn append(self, parts: &[Arc<Node>]) -> Arc<Node> {
        let mut d = Draft::new(self, parts.iter().cloned().collect());
        d.arrays();
        let types = parts.first().map_or_else(Types::new, |p| p.types.clone());
        let other = parts.iter().find(|p| p.types != types);
        d.expect(other.is_none(), || {
            let got = other.map_or_else(String::new, |p| show_node(p));
            (format!("elements of type {}", show_types(&types)), got)
        });
        let lengths: Option<Vec<u64>> = parts.iter().map(|p| p.known_len()).collect();
        if let Some(lengths) = lengths {
            d.len = lengths.iter().try_fold(0u64, |sum, n| sum.checked_add(*n));
            if d.len.is_none() {
                let lengths: Vec<String> = lengths.iter().map(u64::to_string).collect();
                d.fail(ErrorKind::too_many(lengths.join(" + ")));
            }
        }
        d.array(Kind::Append, types)
    }

    /// Applies a user-defined combinator to an array.
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

    /// Computes a delayed scalar from the body's captures.
    ///
    /// If the captures and the results are literals, the node has its value at once.
    pub fn compute(self, body: Body) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        d.body(&body, "a computation", &[], None);
        let types = body.result_types_or_none();
        let body = d.simple(of_literals(body));
        if let (None, Some(scalar)) = (&d.error, is_its_capture(&body)) {
            return scalar;
        }
        let node = d.scalar(Kind::Compute(body), types);
        match node.literal() {
            Some(value) => set(node, value),
            None => node,
        }
    }

    /// Takes the length of an array as a delayed `u64`.
    pub fn len(self, input: &Arc<Node>) -> Arc<Node> {
        if let (Kind::Generate(Len::Delayed(n), _), None) = (&input.kind, &input.error) {
            return n.clone();
        }
        // A late array is as long as the one whose loop makes it.
        let input = match input.late() {
            Some(late) if late.padded => &late.of,
            _ => input,
        };
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.scalar(Kind::Len, smallvec![Ty::U64])
    }
}

/// The inputs of a node. Usually there is one.
fn all(inputs: &[Arc<Node>]) -> Inputs {
    let mut all = Inputs::new();
    for input in inputs {
        all.push(input.clone());
    }
    all
}

/// Sets the value of a fresh node.
fn set(mut node: Arc<Node>, value: Value) -> Arc<Node> {
    if let Some(n) = Arc::get_mut(&mut node) {
        n.value = OnceLock::from(value);
    }
    node
}
