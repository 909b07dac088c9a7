//! Callbacks from the library: on nodes, windows and states.
//!
//! An error in a callback is kept until the library returns.

use super::{Eval, Result, promote, split, wrong};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::value::{Array, Elt, Segmented, Value};
use livefusion::ast::{Field, Fields, Node};
use livefusion::nested::SegmentPart;
use livefusion::segmented::Segments;
use std::sync::Arc;

/// Describes the value that a sequence of nodes forms.
#[derive(Clone, PartialEq, Debug)]
pub enum Form {
    /// An array or a delayed scalar with such elements.
    Array(Elt),
    /// Lengths, and data with such elements.
    Segments(Elt),
    /// Several values.
    Tuple(Vec<Form>),
}

impl Form {
    /// Returns the form of one segment or element.
    ///
    /// Segments give an array, and an array gives a scalar.
    pub fn within(&self) -> Form {
        match self {
            Form::Array(elt) | Form::Segments(elt) => Form::Array(elt.clone()),
            Form::Tuple(parts) => Form::Tuple(parts.iter().map(Form::within).collect()),
        }
    }
}

/// Holds the first error of a callback.
#[derive(Default)]
pub struct Mistake(Option<Box<Diagnostic>>);

impl Mistake {
    /// Returns the value, or keeps the error.
    pub fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(e) => {
                self.0.get_or_insert(e);
                None
            }
        }
    }
}

/// Holds the error and the element type of a traced scalar function.
#[derive(Default)]
pub struct Traced {
    mistake: Mistake,
    elt: Option<Elt>,
}

impl Eval<'_> {
    /// Runs a combinator that calls a function on nodes.
    pub fn on_arrays<T>(&mut self, f: impl FnOnce(&mut Self, &mut Mistake) -> T) -> Result<T> {
        let mut mistake = Mistake::default();
        let result = self.untraced(|eval| f(eval, &mut mistake));
        mistake.0.map_or(Ok(result), Err)
    }

    /// Runs a combinator that traces a scalar function.
    ///
    /// Also returns the element type of the function.
    pub fn on_scalars<T>(
        &mut self,
        f: impl FnOnce(&mut Self, &mut Traced) -> T,
    ) -> Result<(T, Elt)> {
        let outside = std::mem::replace(&mut self.tracing, true);
        let mut traced = Traced::default();
        let result = f(self, &mut traced);
        self.tracing = outside;
        match traced.mistake.0 {
            Some(e) => Err(e),
            // If the array itself is wrong, the function was not called.
            None => Ok((result, traced.elt.unwrap_or(Elt::Tuple(Vec::new())))),
        }
    }

    /// Applies a function to an element's fields.
    pub fn on_fields(
        &mut self,
        traced: &mut Traced,
        f: &Value,
        fields: &[Field],
        elt: &Elt,
        at: Span,
    ) -> Fields {
        let args = split(fields, std::slice::from_ref(elt));
        self.on_values(traced, f, args, at)
    }

    /// Applies a function to a window of these sizes.
    pub fn on_window(
        &mut self,
        traced: &mut Traced,
        f: &Value,
        window: &[Fields],
        sizes: &[usize],
        elt: &Elt,
        at: Span,
    ) -> Fields {
        fn nested(window: &[Fields], sizes: &[usize], elt: &Elt) -> Value {
            match (sizes, window) {
                ([], [one, ..]) => Value::Scalar(one.clone(), elt.clone()),
                ([n, inner @ ..], _) => {
                    let size = (window.len() / (*n).max(1)).max(1);
                    let parts = window.chunks(size).map(|w| nested(w, inner, elt));
                    Value::Tuple(parts.collect())
                }
                ([], []) => Value::Tuple(Vec::new()),
            }
        }
        let args = vec![nested(window, sizes, elt)];
        self.on_values(traced, f, args, at)
    }

    fn on_values(&mut self, traced: &mut Traced, f: &Value, args: Vec<Value>, at: Span) -> Fields {
        let result = self
            .call(f, args, at)
            .and_then(|v| self.fields(v, None, at));
        match traced.mistake.keep(result) {
            Some((fields, elt)) => {
                traced.elt = Some(elt);
                fields
            }
            None => Fields::new(),
        }
    }

    /// Applies a function to a state of scalars.
    pub fn applied(
        &mut self,
        f: &Value,
        state: &[Field],
        elt: &Elt,
        want: Option<&Elt>,
        at: Span,
    ) -> Result<Fields> {
        let args = split(state, std::slice::from_ref(elt));
        let value = self.call(f, args, at)?;
        Ok(self.fields(value, want, at)?.0)
    }

    /// Computes scalars that need a traced function, such as scalar loops.
    pub fn scalars(
        &mut self,
        name: &'static str,
        at: Span,
        f: impl FnOnce(&mut Self, &mut Mistake) -> Result<(Fields, Elt)>,
    ) -> Result<Value> {
        let mut mistake = Mistake::default();
        if self.tracing {
            let (fields, elt) = f(self, &mut mistake)?;
            return mistake.0.map_or(Ok(Value::Scalar(fields, elt)), Err);
        }
        let (body, elt) = self.traced(&[], at, |eval, _| f(eval, &mut mistake))?;
        if let Some(e) = mistake.0 {
            return Err(e);
        }
        let node = self.builder(name, at).compute(body);
        self.array(node, elt, at)
    }

    /// Returns the next state of a loop over arrays.
    ///
    /// It has the form of the previous state.
    pub fn next(
        &mut self,
        mistake: &mut Mistake,
        f: &Value,
        form: &Form,
        state: &[Arc<Node>],
        at: Span,
    ) -> Vec<Arc<Node>> {
        let next = self
            .formed(form, &mut state.iter().cloned(), at)
            .and_then(|v| self.call(f, vec![v], at))
            .and_then(|v| self.nodes(v, at))
            .and_then(|(nodes, got)| match got == *form {
                true => Ok(nodes),
                false => wrong(
                    "expected a next state of the types that the first one has",
                    at,
                ),
            });
        // The loop is not built; any state will do.
        mistake.keep(next).unwrap_or_else(|| state.to_vec())
    }

    /// Splits a value into parts, and returns its form.
    pub fn parts_of(&mut self, value: Value, out: &mut Vec<SegmentPart>, at: Span) -> Result<Form> {
        match value {
            Value::Array(a) => {
                let signed = promote::signed(&a.elt);
                let a = self.retyped(a, &signed, at)?;
                out.push(SegmentPart::Array(a.node));
                Ok(Form::Array(a.elt))
            }
            Value::Segmented(mut s) => {
                let signed = promote::signed(&s.data.elt);
                s.data = self.retyped(s.data, &signed, at)?;
                let (lengths, data) = (s.lengths, s.data.node);
                out.push(SegmentPart::Segments(Segments { lengths, data }));
                Ok(Form::Segments(s.data.elt))
            }
            Value::Table(table) => {
                let rows = self.rows_of(&table, at)?;
                self.parts_of(Value::Array(rows), out, at)
            }
            Value::Range(range) => {
                let array = self.range(*range, at)?;
                self.parts_of(Value::Array(array), out, at)
            }
            Value::Tuple(parts) => {
                let mut forms = Vec::new();
                for part in parts {
                    forms.push(self.parts_of(part, out, at)?);
                }
                Ok(Form::Tuple(forms))
            }
            scalar @ (Value::Int(_) | Value::Float(_) | Value::Scalar(..)) => {
                let a = self.delayed(scalar, None, at)?;
                self.parts_of(Value::Array(a), out, at)
            }
            other => wrong(
                format!("expected arrays or scalars, got {}", other.describe()),
                at,
            ),
        }
    }

    /// Splits a value into nodes, and returns its form.
    pub fn nodes(&mut self, value: Value, at: Span) -> Result<(Vec<Arc<Node>>, Form)> {
        let mut parts = Vec::new();
        let form = self.parts_of(value, &mut parts, at)?;
        let nodes = parts.into_iter().flat_map(|part| match part {
            SegmentPart::Array(node) => vec![node],
            SegmentPart::Segments(s) => vec![s.lengths, s.data],
        });
        Ok((nodes.collect(), form))
    }

    /// Builds the value of a form from nodes.
    pub fn formed(
        &mut self,
        form: &Form,
        nodes: &mut dyn Iterator<Item = Arc<Node>>,
        at: Span,
    ) -> Result<Value> {
        let mut next = || match nodes.next() {
            Some(node) => Ok(node),
            None => wrong("expected another result of the function", at),
        };
        match form {
            Form::Array(elt) => {
                let node = next()?;
                self.array(node, elt.clone(), at)
            }
            Form::Segments(elt) => {
                let (lengths, node) = (next()?, next()?);
                let elt = elt.clone();
                let data = Array { node, elt };
                Ok(Value::Segmented(Segmented { lengths, data }))
            }
            Form::Tuple(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.push(self.formed(part, nodes, at)?);
                }
                Ok(Value::Tuple(all))
            }
        }
    }
}
