//! Calls of combinators: conversion of arguments to the parameter kinds.

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

/// The note for a function of elements that treats one as an array.
const OF_WHOLE: &str = "an element is one scalar: `r.map_segments(|s| s.sum())` gives whole segments, \
                        `m.map_rows(|r| r.sum())` whole rows";

/// Holds the arguments of one call, after a check of their number.
pub struct Call<'e, 's> {
    /// The evaluator.
    pub eval: &'e mut Eval<'s>,
    /// The builder with the called name and its location.
    pub builder: Builder,
    /// The location of the called name.
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

    /// Checks that an argument is a function exactly where the parameter is one.
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

    /// Converts elements of arrays to the types that a combinator needs.
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

    /// Returns the indices of the arguments from `first` on.
    pub fn from(&self, first: usize) -> std::ops::Range<usize> {
        first..self.args.len()
    }

    /// Returns an argument unchanged.
    pub fn value(&self, k: usize) -> &Value {
        &self.args[k]
    }

    /// Returns the location of an argument.
    pub fn at(&self, k: usize) -> Span {
        self.spans.get(k).copied().unwrap_or(self.span)
    }

    /// Returns an array argument of rank 1 or more.
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

    /// Returns the elements of an array of any rank, which must be numbers.
    pub fn all_numbers(&mut self, k: usize) -> Result<Array> {
        let xs = self.elements(k)?;
        self.of_numbers(k, &xs.elt)?;
        Ok(xs)
    }

    /// Returns all elements of an array of any rank, flattened.
    pub fn elements(&mut self, k: usize) -> Result<Array> {
        let Array { node, elt } = self.array(k)?;
        let node = self.builder.reshape(&node, None);
        Ok(Array { node, elt })
    }

    /// Returns an array of numbers, or of tuples of numbers.
    pub fn numbers(&mut self, k: usize) -> Result<Array> {
        let xs = self.array(k)?;
        self.of_numbers(k, &xs.elt)?;
        Ok(xs)
    }

    /// Checks that the elements of an argument are numbers or tuples of numbers.
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

    /// Converts arguments whose elements meet to common types.
    ///
    /// Texts get the same labels, and times the same unit.
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

    /// Returns a segments argument, and its element type.
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

    /// Returns lengths, from an array of integers or from segments.
    pub fn lengths(&mut self, k: usize) -> Result<Arc<Node>> {
        match &self.args[k] {
            Value::Segmented(s) => Ok(s.lengths.clone()),
            _ => Ok(self.numbers(k)?.node),
        }
    }

    /// Returns the window size along each axis, from the function's parameter pattern.
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

    /// Returns the boundary of an array with such elements.
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

    /// Returns a position or a length in a slice.
    pub fn amount(&mut self, k: usize) -> Result<Amount> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.eval.amount(value, 0, at)
    }

    /// Returns a number of elements or an index, as a delayed `u64`.
    pub fn count(&mut self, k: usize) -> Result<Axis> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        let n = self.eval.count(value, at)?;
        Ok(Axis::delayed(n.node))
    }

    /// Returns a number of elements, as a body without parameters.
    pub fn count_body(&mut self, k: usize) -> Result<Body> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        let n = Value::Array(self.eval.count(value, at)?);
        let want = Elt::Scalar(Ty::U64);
        Ok(self.eval.value_body(n, Some(&want), at)?.0)
    }

    /// Returns a known integer.
    pub fn known(&mut self, k: usize) -> Result<i128> {
        let at = self.at(k);
        let value = self.args[k].clone();
        self.eval.known(&value, at)
    }

    /// Returns an axis.
    pub fn axis(&mut self, k: usize) -> Result<usize> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.axis_of(&value, at)
    }

    /// The axis of a value; negative numbers count from the last axis.
    fn axis_of(&mut self, value: &Value, at: Span) -> Result<usize> {
        let n = self.eval.known(value, at)?;
        let rank = match self.args.iter().find(|a| matches!(a, Value::Array(_))) {
            Some(Value::Array(a)) => i128::from(a.node.rank),
            _ => 1,
        };
        let axis = if n < 0 { n + rank } else { n };
        usize::try_from(axis).map_or_else(|_| wrong(format!("expected an axis, got {n}"), at), Ok)
    }

    /// Returns a known number of elements.
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

    /// Returns a distance, which may be negative.
    pub fn distance(&mut self, k: usize) -> Result<i64> {
        let n = self.known(k)?;
        i64::try_from(n).map_or_else(
            |_| wrong(format!("expected an i64, got {n}"), self.at(k)),
            Ok,
        )
    }

    /// Returns axes in the given order.
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

    /// Returns an item of a slice.
    pub fn item(&mut self, k: usize) -> Result<Item> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.eval.item(value, at)
    }

    /// Returns the shape for an array's elements.
    ///
    /// It is a tuple of numbers, or all arguments from `k` on. One of them may be -1 and is
    /// computed from the others.
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

    /// Returns a shape, from a number or a tuple of numbers.
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

    /// Traces a function argument on elements of these types.
    pub fn function(
        &mut self,
        k: usize,
        params: &[&Elt],
        want: Option<&Elt>,
    ) -> Result<(Body, Elt)> {
        let (f, at) = (self.args[k].clone(), self.at(k));
        self.eval.body(&f, params, want, at)
    }

    /// Returns the number of parameters of a function argument.
    pub fn parameters(&self, k: usize) -> Option<usize> {
        match &self.args[k] {
            Value::Function(f) => Some(f.function.params.len()),
            Value::Named(Named::Scalar(f)) => Some(f.arity),
            _ => None,
        }
    }

    /// Traces a predicate on elements.
    pub fn test(&mut self, k: usize, params: &[&Elt]) -> Result<Body> {
        Ok(self.function(k, params, Some(&Elt::Scalar(Ty::Bool)))?.0)
    }

    /// Returns a start value and a step, from argument `k` and the next.
    ///
    /// Untyped numbers take the type that makes the step fit: first their default type, then the
    /// element type.
    pub fn start_and_step(&mut self, k: usize, element: &Elt) -> Result<(Body, Body, Elt)> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        let mut first = None;
        // A typed start value determines the type of the state.
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

    /// Returns scalars of one type, as bodies without parameters.
    pub fn alike(&mut self, ks: std::ops::Range<usize>) -> Result<(Vec<Body>, Elt)> {
        self.alike_values(self.args[ks].to_vec())
    }

    /// Converts given values like [`alike`](Self::alike).
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

    /// Returns a scalar of this type, as a body without parameters.
    pub fn scalar(&mut self, k: usize, want: Option<&Elt>) -> Result<(Body, Elt)> {
        let (value, at) = (self.args[k].clone(), self.at(k));
        self.eval.value_body(value, want, at)
    }

    /// Checks that element types are equal.
    pub fn same(&mut self, k: usize, got: &Elt, want: &Elt) -> Result<()> {
        match got == want {
            true => Ok(()),
            false => Err(mismatch(want, &self.args[k], self.at(k))),
        }
    }

    /// Returns an array of integers as `u64`.
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

    /// Returns the result of a call.
    pub fn give(&mut self, node: Arc<Node>, elt: Elt) -> Result<Value> {
        self.eval.array(node, elt, self.span)
    }

    /// Returns a call result, with elements like these if the layouts match.
    pub fn give_like(&mut self, node: Arc<Node>, like: Elt) -> Result<Value> {
        let elt = match node.types.as_slice() {
            types if types == like.types().as_slice() => like,
            // A count or an index.
            [Ty::U64] => Elt::Count,
            types => Elt::of(types),
        };
        self.give(node, elt)
    }

    /// Returns segments as the result of a call.
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

    /// Returns a call result with elements of scalar or tuple type.
    pub fn give_flat(&mut self, node: Arc<Node>) -> Result<Value> {
        let elt = Elt::of(&node.types);
        self.give(node, elt)
    }
}
