//! A call of a combinator: its arguments, as what the combinator takes.

use super::{Eval, Result, mismatch, noun, promote, wrong};
use crate::combinators::{self, Combinator, Elements, Kind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::PatternKind;
use crate::value::{Along, Array, Elt, Named, Segmented, Value};
use livefusion::Boundary;
use livefusion::ast::{Axis, Body, Builder, Node};
use livefusion::ranked::{Amount, Item};
use livefusion::segmented::Segments;
use loop_lang::Ty;
use std::sync::Arc;

/// The note where a function of elements treats one as an array.
const OF_WHOLE: &str = "an element is one scalar: `r.map_segments(|s| s.sum())` gives whole segments, \
                        `m.map_rows(|r| r.sum())` whole rows";

/// The arguments of one call, checked for their number.
pub struct Call<'e, 's> {
    /// Who evaluates.
    pub eval: &'e mut Eval<'s>,
    /// What the user called, and where.
    pub builder: Builder,
    /// The place of the name that was called.
    pub span: Span,
    args: Vec<Value>,
    spans: Vec<Span>,
}

impl<'e, 's> Call<'e, 's> {
    /// Calls a combinator.
    pub fn run(
        eval: &'e mut Eval<'s>,
        of: &'static Combinator,
        args: Vec<Value>,
        spans: Vec<Span>,
        span: Span,
    ) -> Result<Value> {
        let first = match args.first() {
            Some(Value::Segmented(_)) => Kind::Segments,
            Some(Value::Along(_)) => Kind::Along,
            _ => Kind::Array,
        };
        let of = combinators::form(of, first, args.len());
        if !of.takes(args.len()) {
            let message = format!("`{}` takes {}, got {}", of.name, of.arity(), args.len());
            let mut wrong = Diagnostic::new(message, span);
            if of.params == [Kind::Over] {
                wrong = wrong.note(format!("along an axis it is `m.along(0).{}()`", of.name));
            }
            return Err(Box::new(
                wrong
                    .note(of.signature())
                    .note(format!("for example: {}", of.example)),
            ));
        }
        let builder = eval.builder(of.name, span);
        let mut call = Call {
            eval,
            builder,
            span,
            args,
            spans,
        };
        for (k, kind) in of.params.iter().enumerate().take(call.args.len()) {
            call.check(k, kind, of)?;
        }
        call.unify(of.elements)?;
        (of.build)(&mut call)
    }

    /// That an argument is a function where one is taken, and none where none is.
    fn check(&self, k: usize, kind: &Kind, of: &Combinator) -> Result<()> {
        let value = &self.args[k];
        let is_function = match value {
            // A function with a name, `n = _.len()`.
            Value::Tuple(parts) => {
                matches!(parts.as_slice(), [Value::Text(_), f] if f.is_function())
            }
            value => value.is_function(),
        };
        let takes = matches!(kind, Kind::Function(_) | Kind::Key);
        if takes == is_function || matches!(kind, Kind::Any) {
            return Ok(());
        }
        let expected = match kind {
            Kind::Function(1) => "a function".to_string(),
            Kind::Function(n) => format!("a function of {n} arguments"),
            other => other.expected().to_string(),
        };
        let message = format!("expected {expected}, got {}", value.describe());
        let wrong = Diagnostic::new(message, self.spans[k]).note(of.signature());
        Err(Box::new(wrong.note(format!("for example: {}", of.example))))
    }

    /// Gives elements of arrays the types that a combinator needs.
    fn unify(&mut self, elements: Elements) -> Result<()> {
        let elts = self.args.iter().filter_map(|v| match v {
            Value::Array(a) if a.node.rank > 0 => Some(a.elt.clone()),
            Value::Range(_) => Some(Elt::Scalar(Ty::I64)),
            _ => None,
        });
        let all = match elements {
            Elements::Kept => return Ok(()),
            Elements::Alike => {
                let joined = elts.map(Some).reduce(|a, b| promote::join(&a?, &b?));
                joined.flatten()
            }
            _ => None,
        };
        for (k, span) in self.spans.clone().into_iter().enumerate() {
            let array = match &self.args[k] {
                Value::Segmented(s) if elements == Elements::Signed => {
                    let (want, s) = (promote::signed(&s.data.elt), s.clone());
                    let data = self.eval.retyped(s.data, &want, span)?;
                    self.args[k] = Value::Segmented(Segmented { data, ..s });
                    continue;
                }
                Value::Along(a) => {
                    let (want, a) = (elements.of(&a.array.elt), a.clone());
                    let array = self.eval.retyped(a.array, &want, span)?;
                    self.args[k] = Value::Along(Along { array, ..a });
                    continue;
                }
                Value::Array(a) if a.node.rank > 0 => a.clone(),
                Value::Range(_) if all.is_some() => self.array(k)?,
                _ => continue,
            };
            let want = match &all {
                Some(all) => all.clone(),
                None => elements.of(&array.elt),
            };
            self.args[k] = Value::Array(self.eval.retyped(array, &want, span)?);
        }
        Ok(())
    }

    /// The numbers of the arguments from one on.
    pub fn from(&self, first: usize) -> std::ops::Range<usize> {
        first..self.args.len()
    }

    /// An argument as it is.
    pub fn value(&self, k: usize) -> &Value {
        &self.args[k]
    }

    /// The place of an argument.
    pub fn at(&self, k: usize) -> Span {
        self.spans.get(k).copied().unwrap_or(self.span)
    }

    /// An argument that is an array of any rank but 0.
    pub fn array(&mut self, k: usize) -> Result<Array> {
        let at = self.at(k);
        match &self.args[k] {
            Value::Array(a) if a.node.rank > 0 => Ok(a.clone()),
            Value::Range(range) => self.eval.range((**range).clone(), at),
            Value::Table(table) => self.eval.rows_of(&table.clone(), at),
            other => {
                let message = format!("expected an array, got {}", other.describe());
                let wrong = Diagnostic::new(message, at);
                let name = self.builder.name();
                Err(Box::new(match other {
                    Value::Along(_) => {
                        let form = format!("`m.along(0).map(|r| r.{name}(…))`");
                        wrong.note(format!("{form} calls `{name}` on each"))
                    }
                    other if self.eval.tracing && other.is_scalar() => wrong.note(OF_WHOLE),
                    _ => wrong,
                }))
            }
        }
    }

    /// All numbers of an array of any rank.
    pub fn all_numbers(&mut self, k: usize) -> Result<Array> {
        let xs = self.elements(k)?;
        self.of_numbers(k, &xs.elt)?;
        Ok(xs)
    }

    /// All elements of an array of any rank, as what folds them does.
    pub fn elements(&mut self, k: usize) -> Result<Array> {
        let Array { node, elt } = self.array(k)?;
        let node = self.builder.reshape(&node, None);
        Ok(Array { node, elt })
    }

    /// An array of numbers, or of tuples of numbers.
    pub fn numbers(&mut self, k: usize) -> Result<Array> {
        let xs = self.array(k)?;
        self.of_numbers(k, &xs.elt)?;
        Ok(xs)
    }

    /// That the elements of an argument are numbers, or tuples of numbers.
    pub fn of_numbers(&self, k: usize, elt: &Elt) -> Result<()> {
        let is_row = matches!(elt, Elt::Row(..) | Elt::Maybe(_));
        match elt.is_meant() || is_row {
            true => {
                let got = match elt {
                    Elt::Tuple(_) => elt.to_string(),
                    elt => noun(elt).to_string(),
                };
                let name = self.builder.name();
                wrong(format!("`{name}` takes numbers, not {got}"), self.at(k))
            }
            false => Ok(()),
        }
    }

    /// Gives these arguments, whose elements meet, texts of the same labels and times that count the same.
    pub fn agree(&mut self, ks: &[usize]) -> Result<()> {
        for k in ks {
            if matches!(self.args.get(*k), Some(Value::Table(_))) {
                self.args[*k] = Value::Array(self.array(*k)?);
            }
        }
        let values = ks
            .iter()
            .filter_map(|k| self.args.get(*k).cloned())
            .collect();
        let spans: Vec<Span> = ks.iter().map(|k| self.at(*k)).collect();
        let values = self.eval.meant(values, &|k| spans[k])?;
        for (k, value) in ks.iter().zip(values) {
            self.args[*k] = value;
        }
        Ok(())
    }

    /// An argument that is segments, and their elements.
    pub fn segments(&mut self, k: usize) -> Result<(Segments, Elt)> {
        match &self.args[k] {
            Value::Segmented(s) => {
                let (lengths, data) = (s.lengths.clone(), s.data.node.clone());
                Ok((Segments { lengths, data }, s.data.elt.clone()))
            }
            other => {
                let message = format!("expected segments, got {}", other.describe());
                let note = "`ragged [[1, 2], [3]]`, `segmented(lengths, data)` and `to_segmented(matrix)` are segments";
                Err(Box::new(Diagnostic::new(message, self.at(k)).note(note)))
            }
        }
    }

    /// Lengths: an array of integers, or those of segments.
    pub fn lengths(&mut self, k: usize) -> Result<Arc<Node>> {
        match &self.args[k] {
            Value::Segmented(s) => Ok(s.lengths.clone()),
            _ => Ok(self.numbers(k)?.node),
        }
    }

    /// How many elements a window has along each axis: as many as the function's parameter names.
    pub fn window(&self, k: usize, rank: usize) -> Result<Vec<usize>> {
        let mut sizes = Vec::new();
        if let Value::Function(f) = &self.args[k] {
            let mut at = f.function.params.first();
            while let Some(PatternKind::Vector(parts)) = at.map(|p| &p.kind) {
                sizes.push(parts.len());
                at = parts.first();
            }
        }
        if sizes.len() == rank {
            return Ok(sizes);
        }
        let example = ["|[a, b, c]| …", "|[[a, b], [c, d]]| …", "|[[[a, b]]]| …"];
        let example = example.get(rank.saturating_sub(1)).copied().unwrap_or("…");
        let wrong = Diagnostic::new(
            "expected a function that names the elements of a window",
            self.at(k),
        );
        Err(Box::new(wrong.note(format!("such as `{example}`"))))
    }

    /// What is beyond the ends of an array of such elements.
    pub fn boundary(&mut self, k: usize, elt: &Elt) -> Result<Boundary<Body>> {
        let at = self.at(k);
        match self.args[k].clone() {
            Value::Boundary(Boundary::Clamp) => Ok(Boundary::Clamp),
            Value::Boundary(Boundary::Wrap) => Ok(Boundary::Wrap),
            Value::Boundary(Boundary::Mirror) => Ok(Boundary::Mirror),
            Value::Boundary(Boundary::Constant(x)) => {
                let (body, _) = self.eval.value_body(*x, Some(elt), at)?;
                Ok(Boundary::Constant(body))
            }
            other => {
                let message = format!("expected a boundary, got {}", other.describe());
                let note = "`Boundary::Clamp`, `Wrap`, `Mirror` and `Constant(x)` are boundaries";
                Err(Box::new(Diagnostic::new(message, at).note(note)))
            }
        }
    }

    /// A position or a length, as a part of an array is told by.
    pub fn amount(&mut self, k: usize) -> Result<Amount> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.eval.amount(value, 0, at)
    }

    /// A number of elements, or an index: a delayed `u64`.
    pub fn count(&mut self, k: usize) -> Result<Axis> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        let n = self.eval.count(value, at)?;
        Ok(Axis::delayed(n.node))
    }

    /// A number of elements, as a body without parameters.
    pub fn count_body(&mut self, k: usize) -> Result<Body> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        let n = Value::Array(self.eval.count(value, at)?);
        let want = Elt::Scalar(Ty::U64);
        Ok(self.eval.value_body(n, Some(&want), at)?.0)
    }

    /// An integer that is known.
    pub fn known(&mut self, k: usize) -> Result<i128> {
        let at = self.at(k);
        let value = self.args[k].clone();
        self.eval.known(&value, at)
    }

    /// An axis.
    pub fn axis(&mut self, k: usize) -> Result<usize> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.axis_of(&value, at)
    }

    /// The axis that a value names, counted from the last one if it is negative.
    fn axis_of(&mut self, value: &Value, at: Span) -> Result<usize> {
        let n = self.eval.known(value, at)?;
        let rank = match self.args.iter().find(|a| matches!(a, Value::Array(_))) {
            Some(Value::Array(a)) => i128::from(a.node.rank),
            _ => 1,
        };
        let axis = if n < 0 { n + rank } else { n };
        usize::try_from(axis).map_or_else(|_| wrong(format!("expected an axis, got {n}"), at), Ok)
    }

    /// A number of elements that is known.
    pub fn few(&mut self, k: usize) -> Result<usize> {
        let n = self.known(k)?;
        usize::try_from(n).map_or_else(
            |_| {
                wrong(
                    format!("expected a number of elements, got {n}"),
                    self.at(k),
                )
            },
            Ok,
        )
    }

    /// A distance, which may be negative.
    pub fn distance(&mut self, k: usize) -> Result<i64> {
        let n = self.known(k)?;
        i64::try_from(n).map_or_else(
            |_| wrong(format!("expected an i64, got {n}"), self.at(k)),
            Ok,
        )
    }

    /// Axes, in an order.
    pub fn axes(&mut self, k: usize) -> Result<Vec<usize>> {
        let at = self.at(k);
        let parts = match self.args[k].clone() {
            Value::Tuple(parts) => parts,
            one => vec![one],
        };
        let mut axes = Vec::new();
        for part in &parts {
            axes.push(self.axis_of(part, at)?);
        }
        Ok(axes)
    }

    /// An item of a slice.
    pub fn item(&mut self, k: usize) -> Result<Item> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.eval.item(value, at)
    }

    /// The shape that an array's elements fill: a tuple of numbers, or all arguments from one on. One of them may be -1, and is
    /// found from the others.
    pub fn shape_of(&mut self, k: usize, of: &Array) -> Result<Vec<Axis>> {
        let at = self.at(k);
        let parts = match &self.args[k..] {
            [Value::Tuple(parts)] => parts.clone(),
            parts => parts.to_vec(),
        };
        let Some(open) = parts.iter().position(|p| matches!(p, Value::Int(-1))) else {
            let mut axes = Vec::new();
            for part in parts {
                axes.push(Axis::delayed(self.eval.count(part, at)?.node));
            }
            return Ok(axes);
        };
        let mut others = 1;
        for (j, part) in parts.iter().enumerate() {
            if j != open {
                others *= self.eval.known(part, at)?.max(0);
            }
        }
        let flat = self.builder.reshape(&of.node, None);
        let len = flat.known_len().map(i128::from);
        let Some(len) = len.filter(|n| others > 0 && n % others == 0) else {
            let message = format!("{of} does not fill rows of {others}");
            return wrong(message, at);
        };
        let mut axes = Vec::new();
        for (j, part) in parts.into_iter().enumerate() {
            let part = if j == open {
                Value::Int(len / others)
            } else {
                part
            };
            axes.push(Axis::delayed(self.eval.count(part, at)?.node));
        }
        Ok(axes)
    }

    /// A shape: a number, or a tuple of numbers.
    pub fn shape(&mut self, k: usize) -> Result<Vec<Axis>> {
        let at = self.at(k);
        let parts = match self.args[k].clone() {
            Value::Tuple(parts) => parts,
            one => vec![one],
        };
        let mut axes = Vec::new();
        for part in parts {
            axes.push(Axis::delayed(self.eval.count(part, at)?.node));
        }
        Ok(axes)
    }

    /// A function argument on elements of these types.
    pub fn function(
        &mut self,
        k: usize,
        params: &[&Elt],
        want: Option<&Elt>,
    ) -> Result<(Body, Elt)> {
        let (f, at) = (self.args[k].clone(), self.at(k));
        self.eval.body(&f, params, want, at)
    }

    /// How many parameters a function has that is an argument.
    pub fn parameters(&self, k: usize) -> Option<usize> {
        match &self.args[k] {
            Value::Function(f) => Some(f.function.params.len()),
            Value::Named(Named::Scalar(f)) => Some(f.arity),
            _ => None,
        }
    }

    /// A test on elements.
    pub fn test(&mut self, k: usize, params: &[&Elt]) -> Result<Body> {
        Ok(self.function(k, params, Some(&Elt::Scalar(Ty::Bool)))?.0)
    }

    /// A start value and a step from it, in argument `k` and the next: numbers without a type take that which makes the step
    /// fit, first their own, then that of the elements.
    pub fn start_and_step(&mut self, k: usize, element: &Elt) -> Result<(Body, Body, Elt)> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        let mut first = None;
        // A type that the start value has is the state's.
        let wants = match value.elt() {
            Some(_) => vec![None],
            None => vec![Some(element), None],
        };
        for want in wants {
            let Ok((start, state)) = self.eval.value_body(value.clone(), want, at) else {
                continue;
            };
            match self.function(k + 1, &[&state, element], Some(&state)) {
                Ok((step, _)) => return Ok((start, step, state)),
                Err(e) => first = first.or(Some(e)),
            }
        }
        match first {
            Some(e) => Err(e),
            None => self.eval.value_body(value, None, at).and_then(|(_, elt)| {
                wrong(
                    format!("expected a start value like the elements, {element}, got {elt}"),
                    at,
                )
            }),
        }
    }

    /// Scalars of one type, as bodies without parameters.
    pub fn alike(&mut self, ks: std::ops::Range<usize>) -> Result<(Vec<Body>, Elt)> {
        self.alike_values(self.args[ks].to_vec())
    }

    /// As [`alike`](Self::alike), of values that the arguments gave.
    pub fn alike_values(&mut self, values: Vec<Value>) -> Result<(Vec<Body>, Elt)> {
        let own: Vec<Span> = values.iter().enumerate().map(|(k, _)| self.at(k)).collect();
        let at = |k: usize| own.get(k).copied().unwrap_or(self.span);
        let (elt, values) = self.eval.alike(values, &at)?;
        self.of_numbers(0, &elt)?;
        let mut bodies = Vec::new();
        for (k, value) in values.into_iter().enumerate() {
            bodies.push(self.eval.value_body(value, Some(&elt), at(k))?.0);
        }
        Ok((bodies, elt))
    }

    /// A scalar of this type, as a body without parameters.
    pub fn scalar(&mut self, k: usize, want: Option<&Elt>) -> Result<(Body, Elt)> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.eval.value_body(value, want, at)
    }

    /// Element types that have to be equal.
    pub fn same(&mut self, k: usize, got: &Elt, want: &Elt) -> Result<()> {
        match got == want {
            true => Ok(()),
            false => Err(mismatch(want, &self.args[k], self.at(k))),
        }
    }

    /// An array argument whose elements are integers, as `u64`.
    pub fn indices(&mut self, k: usize) -> Result<Arc<Node>> {
        let array = self.array(k)?;
        let at = self.at(k);
        match array.elt.scalar() {
            Some(Ty::U64) => Ok(array.node),
            Some(ty) if ty.is_int() => match self.eval.cast(Value::Array(array), Ty::U64, at)? {
                Value::Array(a) => Ok(a.node),
                other => wrong(format!("expected indices, got {}", other.describe()), at),
            },
            _ => wrong(format!("expected integers, got {array}"), at),
        }
    }

    /// The result of a call.
    pub fn give(&mut self, node: Arc<Node>, elt: Elt) -> Result<Value> {
        self.eval.array(node, elt, self.span)
    }

    /// The result of a call, with elements like these if they are so in memory.
    pub fn give_like(&mut self, node: Arc<Node>, like: Elt) -> Result<Value> {
        let elt = match node.types.as_slice() {
            types if types == like.types().as_slice() => like,
            // How many there are, or which one.
            [Ty::U64] => Elt::Count,
            types => Elt::of(types),
        };
        self.give(node, elt)
    }

    /// Segments as the result of a call.
    pub fn give_segments(&mut self, s: Segments, elt: Elt) -> Result<Value> {
        let lengths = self.give(s.lengths.clone(), Elt::Count)?;
        let Value::Array(lengths) = lengths else {
            return Ok(lengths);
        };
        match self.give(s.data, elt)? {
            Value::Array(data) => Ok(Value::Segmented(Segmented {
                lengths: lengths.node,
                data,
            })),
            other => Ok(other),
        }
    }

    /// The result of a call, whose elements are scalars or tuples of these.
    pub fn give_flat(&mut self, node: Arc<Node>) -> Result<Value> {
        let elt = Elt::of(&node.types);
        self.give(node, elt)
    }
}
