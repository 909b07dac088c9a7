//! Evaluation of syntax trees to values.
//!
//! One walk over the tree builds nodes of the library's graph. It computes nothing and writes no
//! files. Inside a function that a combinator traces, scalars are terms. Elsewhere, arithmetic on
//! delayed values makes nodes, like the typed operators.

mod arrays;
mod attributes;
mod call;
mod calls;
mod elementwise;
mod functions;
mod index;
mod loaded;
mod meaning;
mod operators;
mod over;
mod pictures;
pub mod promote;
mod python;
mod scalar;
mod slice;
mod table;

pub use attributes::ATTRIBUTES;
pub use call::Call;
pub use elementwise::Site;
pub use functions::{Form, Mistake, Traced};
pub use loaded::Loaded;
pub use meaning::{date as read_date, looked_up, noun};

use crate::combinators;
use crate::diagnostic::{Diagnostic, shown};
use crate::nearest;
use crate::rust::Notes;
use crate::source::{Sources, Span};
use crate::syntax::{
    Expr, ExprKind, Field, Function, Literal, Pattern, PatternKind, Statement, StatementKind,
};
use crate::value::{Array, Closure, Elt, Env, Range, Value};
use livefusion::ast::{self, Body, Builder, Const, Fields, Node, Ty, Types};
use livefusion::{CancelToken, Error, ErrorKind, Loc};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Holds a value or an error in the text.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// Limits the nesting of trees and function calls during evaluation.
pub const MAX_EVAL_DEPTH: usize = 1000;

/// Maps library error locations to source spans.
#[derive(Default, Debug)]
pub struct Places(HashMap<Loc, Span>);

impl Places {
    /// Records the span of a location: the shortest span that begins there. The latest text wins if
    /// several have the same name.
    fn insert(&mut self, loc: Loc, span: Span) {
        let known = self.0.entry(loc).or_insert(span);
        if known.source != span.source || span.end < known.end {
            *known = span;
        }
    }

    /// Renders a library error at the location of the combinator call.
    ///
    /// Calls without a text are shown at `span`.
    pub fn fault(&self, error: &Error, span: Span) -> Box<Diagnostic> {
        let at = error.location.and_then(|l| self.0.get(&l).copied());
        let of = match error.combinator {
            "closure" | "force" => String::new(),
            name => format!("`{name}`: "),
        };
        let wrong = Diagnostic::new(format!("{of}{}", error.kind), at.unwrap_or(span));
        Box::new(match (error.row, error.element) {
            (Some(row), Some(k)) => wrong.label(format!("at row {row}, element {k}")),
            (Some(row), None) => wrong.label(format!("at row {row}")),
            (None, Some(k)) => wrong.label(format!("at element {k}")),
            (None, None) => wrong,
        })
    }
}

/// Holds the state of the evaluator.
pub struct Eval<'s> {
    /// The texts.
    pub sources: &'s Sources,
    /// The locations that were used so far.
    pub places: &'s mut Places,
    /// The folder for relative file names.
    pub folder: &'s Path,
    /// The contents of loaded files by `load` arguments, if cached contents may be reused.
    pub loaded: Option<&'s mut Loaded>,
    /// Stops long evaluations, such as endless recursion.
    pub stop: CancelToken,
    /// The result of each expression, if requested.
    pub notes: Option<Notes>,
    depth: usize,
    /// Whether a function is being traced, in which scalars are terms.
    tracing: bool,
}

fn wrong<T>(message: impl Into<String>, span: Span) -> Result<T> {
    Err(Box::new(Diagnostic::new(message, span)))
}

/// The error for a value of an unexpected type.
fn mismatch(want: &Elt, got: &Value, span: Span) -> Box<Diagnostic> {
    if let (Some(elt), true) = (
        got.elt(),
        want.is_meant() || got.elt().is_some_and(|e| e.is_meant()),
    ) {
        let message = match (want, &elt) {
            (Elt::Text(_), Elt::Text(_)) => {
                "some of these texts are none of the other side's".into()
            }
            _ => format!("expected {}, got {}", noun(want), noun(&elt)),
        };
        return Box::new(Diagnostic::new(message, span));
    }
    let shown = match (got, got.elt()) {
        (Value::Int(n), _) => n.to_string(),
        (Value::Float(x), _) => format!("{x:?}"),
        (_, Some(elt)) => elt.to_string(),
        (other, None) => other.describe(),
    };
    let wrong = Diagnostic::new(format!("expected {want}, got {shown}"), span);
    let from = got.elt().and_then(|e| e.scalar());
    Box::new(match want.scalar().zip(from) {
        Some((to, _)) if to != Ty::Bool => wrong.note(format!("`x as {to}` converts")),
        _ => wrong,
    })
}

impl<'s> Eval<'s> {
    /// Creates an evaluator of these texts.
    pub fn new(sources: &'s Sources, places: &'s mut Places, folder: &'s Path) -> Self {
        Eval {
            sources,
            places,
            folder,
            loaded: None,
            stop: CancelToken::new(),
            notes: None,
            depth: 0,
            tracing: false,
        }
    }

    /// Returns a builder for the nodes of a call at this location.
    pub fn builder(&mut self, name: &'static str, span: Span) -> Builder {
        let place = self.sources.place(span);
        let loc = Loc::in_text(place.name, place.line as u32, place.column as u32);
        self.places.insert(loc, span);
        Builder::at(name, loc)
    }

    /// Returns an error at a location.
    pub fn refuse<T>(&self, message: impl Into<String>, span: Span) -> Result<T> {
        wrong(message, span)
    }

    /// Returns a location in the library's form.
    pub fn loc(&mut self, span: Span) -> Loc {
        self.builder("scalar", span).loc()
    }

    /// Evaluates a statement, and adds its names to the environment.
    ///
    /// Returns a value to show.
    pub fn statement(&mut self, env: &mut Env, s: &Statement) -> Result<Option<Value>> {
        match &s.kind {
            StatementKind::Let { pattern, value } => {
                let value = self.expr(env, value)?;
                *env = self.bind(env, pattern, value)?;
                Ok(None)
            }
            StatementKind::Def { name, function } => {
                let closure = self.closure(env, function, Some(name.text.clone()));
                *env = env.with(name.text.clone(), closure);
                Ok(None)
            }
            StatementKind::Show(e) => self.expr(env, e).map(Some),
        }
    }

    fn closure(&self, env: &Env, function: &Arc<Function>, name: Option<String>) -> Value {
        Value::Function(Rc::new(Closure {
            function: function.clone(),
            env: env.clone(),
            name,
        }))
    }

    /// Evaluates an expression.
    pub fn expr(&mut self, env: &Env, e: &Expr) -> Result<Value> {
        if self.depth == MAX_EVAL_DEPTH {
            let message = format!("more than {MAX_EVAL_DEPTH} expressions and calls in each other");
            let note = "a function that calls itself ends only where its condition is a number that is known; arrays \
                        are iterated with `iterate_n` and `iterate_while`";
            return Err(Box::new(Diagnostic::new(message, e.span).note(note)));
        }
        if self.stop.is_cancelled() {
            return wrong(ErrorKind::Cancelled.to_string(), e.span);
        }
        self.depth += 1;
        let value = self.expr_here(env, e);
        self.depth -= 1;
        if let (Some(notes), Ok(value)) = (&mut self.notes, &value) {
            notes.expression(e.span, value);
        }
        value
    }

    fn expr_here(&mut self, env: &Env, e: &Expr) -> Result<Value> {
        match &e.kind {
            ExprKind::Literal(literal) => Ok(self.literal(literal)),
            ExprKind::Name(name) => self.name(env, name, e.span),
            ExprKind::Vector(parts) => {
                let values = self.all(env, parts)?;
                let spans: Vec<Span> = parts.iter().map(|p| p.span).collect();
                self.vector(values, &spans, e.span)
            }
            ExprKind::Ragged(rows) => self.ragged(env, rows, e.span),
            ExprKind::Tuple(parts) => Ok(Value::Tuple(self.all(env, parts)?)),
            ExprKind::Function(f) => Ok(self.closure(env, f, None)),
            ExprKind::Call { callee, args, .. } => self.call_expr(env, callee, args, e.span),
            ExprKind::Index { array, items } => self.index(env, array, items, e.span),
            ExprKind::Field { value, field } => {
                let value = self.expr(env, value)?;
                self.field(value, field, e.span)
            }
            ExprKind::Slice(_) => wrong("a slice stands between the brackets of an index", e.span),
            ExprKind::Keyword { name, .. } => wrong(
                format!("`{}` is no argument here", shown(&name.text)),
                e.span,
            ),
            ExprKind::Unary { op, operand } => {
                let value = self.expr(env, operand)?;
                self.unary(*op, value, e.span, operand.span)
            }
            ExprKind::Binary {
                op,
                op_span,
                operands,
            } => self.binary(env, *op, *op_span, operands),
            ExprKind::Range { start, end, closed } => {
                let mut end_of = |e: &Option<Box<Expr>>| match e {
                    Some(e) => self.expr(env, e).map(Some),
                    None => Ok(None),
                };
                Ok(Value::Range(Box::new(Range {
                    start: end_of(start)?,
                    end: end_of(end)?,
                    closed: *closed,
                })))
            }
            ExprKind::Cast { value, ty } => {
                let of = self.expr(env, value)?;
                self.cast(of, *ty, e.span)
            }
            ExprKind::If(parts) => self.condition(env, parts, e.span),
            ExprKind::Block { statements, value } => {
                let mut inner = env.clone();
                for s in statements {
                    self.statement(&mut inner, s)?;
                }
                self.expr(&inner, value)
            }
        }
    }

    fn all(&mut self, env: &Env, parts: &[Expr]) -> Result<Vec<Value>> {
        parts.iter().map(|p| self.expr(env, p)).collect()
    }

    fn literal(&mut self, literal: &Literal) -> Value {
        let typed = |c: Const| {
            let field = ast::Field::literal(c);
            Value::Scalar(Fields::from_slice(&[field]), Elt::Scalar(c.ty))
        };
        match literal {
            Literal::Bool(b) => typed(Const::bool(*b)),
            Literal::Int(n, None) => Value::Int(i128::from(*n)),
            Literal::Int(n, Some(ty)) => typed(Const::new(*ty, *n)),
            Literal::Float(x, None) => Value::Float(*x),
            Literal::Float(x, Some(ty)) => typed(scalar::float(*x, *ty)),
            Literal::Text(text) => Value::Text(text.as_str().into()),
        }
    }

    fn name(&mut self, env: &Env, name: &str, span: Span) -> Result<Value> {
        if let Some(value) = env.get(name).cloned().or_else(|| combinators::value(name)) {
            return Ok(value);
        }
        let message = format!("there is no `{}`", shown(name));
        let mut unknown = Diagnostic::new(message, span);
        if let Some(form) = combinators::renamed(name) {
            return Err(Box::new(unknown.note(format!("it is {form}"))));
        }
        let known = env.names().map(String::from);
        let known: Vec<String> = known
            .chain(combinators::names().map(String::from))
            .collect();
        let near = nearest(name, known.iter().map(String::as_str));
        if near.is_empty() {
            unknown = unknown.note("`:help` lists all");
        }
        for other in near {
            unknown = unknown.suggest("you may have meant", span, other);
        }
        Err(Box::new(unknown))
    }

    /// Binds the names of a pattern to the parts of a value.
    fn bind(&mut self, env: &Env, pattern: &Pattern, value: Value) -> Result<Env> {
        if let Some(notes) = &mut self.notes {
            notes.pattern(pattern.span, &value);
        }
        match &pattern.kind {
            PatternKind::Name(name) => Ok(env.with(name.clone(), value)),
            PatternKind::Any => Ok(env.clone()),
            PatternKind::Tuple(parts) | PatternKind::Vector(parts) => {
                let described = value.describe();
                let values = self.parts(value, pattern.span)?;
                if values.as_ref().is_none_or(|v| v.len() != parts.len()) {
                    let message = format!("expected {} values, got {described}", parts.len());
                    return wrong(message, pattern.span);
                }
                let mut env = env.clone();
                for (part, value) in parts.iter().zip(values.unwrap_or_default()) {
                    env = self.bind(&env, part, value)?;
                }
                Ok(env)
            }
        }
    }

    /// The parts of a tuple, or `None` for other values.
    fn parts(&mut self, value: Value, span: Span) -> Result<Option<Vec<Value>>> {
        Ok(match value {
            Value::Tuple(parts) => Some(parts),
            Value::Table(table) => {
                let rows = self.rows_of(&table, span)?;
                self.parts(Value::Array(rows), span)?
            }
            Value::Scalar(fields, elt) if elt.is_tuple() => Some(split(&fields, elt.parts())),
            Value::Array(Array { node, elt }) if elt.is_tuple() => {
                let mut at = 0;
                let mut all = Vec::new();
                for elt in elt.parts().iter().cloned() {
                    let next = at + elt.fields() as u32;
                    let node = self.builder("fields", span).fields(&node, at..next);
                    all.push(self.array(node, elt, span)?);
                    at = next;
                }
                Some(all)
            }
            Value::Segmented(s) => Some(vec![
                Value::Array(Array {
                    node: s.lengths,
                    elt: Elt::Count,
                }),
                Value::Array(s.data),
            ]),
            _ => None,
        })
    }

    fn field(&mut self, value: Value, field: &Field, span: Span) -> Result<Value> {
        match (field, value) {
            (Field::Number(k, at), value) => {
                let described = value.describe();
                let parts = match value {
                    Value::Segmented(_) => None,
                    value => self.parts(value, span)?,
                };
                let Some(parts) = parts else {
                    return wrong(format!("expected a tuple, got {described}"), *at);
                };
                let n = parts.len();
                let part = parts.into_iter().nth(*k as usize);
                part.map_or_else(
                    || wrong(format!("expected a field below {n}, got {k}"), *at),
                    Ok,
                )
            }
            (Field::Name(name), value) if value.columns().is_some() => {
                self.column(&value, &name.text, name.span)
            }
            (Field::Name(name), value) => {
                if let Some(found) = self.attribute(&value, &name.text, span)? {
                    return Ok(found);
                }
                let message = format!("{} has no fields with names", value.describe());
                let unknown = Diagnostic::new(message, name.span);
                Err(Box::new(unknown.suggest(
                    "a named function is called",
                    name.span.after(),
                    "()",
                )))
            }
        }
    }

    /// Returns a node as a value, or the node's error.
    pub fn array(&mut self, node: Arc<Node>, elt: Elt, span: Span) -> Result<Value> {
        match &node.error {
            Some(e) => Err(self.places.fault(e, span)),
            None => Ok(Value::Array(Array { node, elt })),
        }
    }

    /// Traces a scalar function on elements of these types.
    ///
    /// If `want` is given, the result is converted to it.
    pub fn body(
        &mut self,
        f: &Value,
        params: &[&Elt],
        want: Option<&Elt>,
        span: Span,
    ) -> Result<(Body, Elt)> {
        let types: Types = params.iter().flat_map(|p| p.types()).collect();
        let params: Vec<Elt> = params.iter().map(|p| (*p).clone()).collect();
        self.traced(&types, span, |eval, fields| {
            let result = eval.call(f, split(fields, &params), span)?;
            eval.fields(result, want, span)
        })
    }

    /// Traces a closure with parameters of these types.
    pub fn traced(
        &mut self,
        types: &[Ty],
        span: Span,
        f: impl FnOnce(&mut Self, &[ast::Field]) -> Result<(Fields, Elt)>,
    ) -> Result<(Body, Elt)> {
        let outside = std::mem::replace(&mut self.tracing, true);
        let mut found = None;
        let body = ast::trace(types, |fields| match f(self, fields) {
            Ok((fields, elt)) => {
                found = Some(Ok(elt));
                fields
            }
            Err(e) => {
                found = Some(Err(e));
                Fields::new()
            }
        });
        self.tracing = outside;
        match found {
            Some(Ok(elt)) => match &body.error {
                Some(e) => Err(self.places.fault(e, span)),
                None => Ok((body, elt)),
            },
            Some(Err(e)) => Err(e),
            None => wrong("nothing was traced", span),
        }
    }

    /// Runs a function outside of tracing.
    fn untraced<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let outside = std::mem::replace(&mut self.tracing, false);
        let result = f(self);
        self.tracing = outside;
        result
    }
}

/// Splits fields into values of these element types.
pub fn split(fields: &[ast::Field], elts: &[Elt]) -> Vec<Value> {
    let mut rest = fields;
    let mut take = |elt: &Elt| {
        let (own, others) = rest.split_at(elt.fields().min(rest.len()));
        rest = others;
        Value::Scalar(Fields::from_slice(own), elt.clone())
    };
    elts.iter().map(&mut take).collect()
}
