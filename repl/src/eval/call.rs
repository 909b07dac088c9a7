//! A call of a combinator: its arguments, as what the combinator takes.

use super::{Eval, Result, mismatch, noun, wrong};
use crate::combinators::{Combinator, Kind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::PatternKind;
use crate::value::{Array, Elt, Named, Segmented, Value};
use livefusion::Boundary;
use livefusion::ast::{Axis, Body, Builder, Node};
use livefusion::ranked::{Amount, Item};
use livefusion::segmented::Segments;
use loop_lang::Ty;
use std::sync::Arc;

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
        if !of.takes(args.len()) {
            let message = format!("`{}` takes {}, got {}", of.name, of.arity(), args.len());
            let wrong = Diagnostic::new(message, span);
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
        (of.build)(&mut call)
    }

    /// That an argument is a function where one is taken, and none where none is.
    fn check(&self, k: usize, kind: &Kind, of: &Combinator) -> Result<()> {
        let value = &self.args[k];
        let is_function = matches!(value, Value::Function(_) | Value::Named(_));
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
            other => wrong(format!("expected an array, got {}", other.describe()), at),
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
        let n = self.known(k)?;
        usize::try_from(n).map_or_else(
            |_| wrong(format!("expected an axis, got {n}"), self.at(k)),
            Ok,
        )
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
            let n = self.eval.known(part, at)?;
            let axis = usize::try_from(n);
            axes.push(axis.map_or_else(|_| wrong(format!("expected an axis, got {n}"), at), Ok)?);
        }
        Ok(axes)
    }

    /// An item of a slice.
    pub fn item(&mut self, k: usize) -> Result<Item> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.eval.item(value, at)
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
        for want in [Some(element), None] {
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
        let values = self.args[ks.clone()].to_vec();
        let at = |k: usize| self.spans.get(ks.start + k).copied().unwrap_or(self.span);
        let (elt, values) = self.eval.alike(values, &at)?;
        self.of_numbers(ks.start, &elt)?;
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

    /// Segments as the result of a call.
    pub fn give_segments(&mut self, s: Segments, elt: Elt) -> Result<Value> {
        let lengths = self.give(s.lengths.clone(), Elt::Scalar(Ty::U64))?;
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
