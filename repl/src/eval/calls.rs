//! Calls in expressions: functions and combinators, positional and named arguments.

use super::{Call, Eval, Result, wrong};
use crate::combinators::{self, Keywords};
use crate::diagnostic::{Diagnostic, shown};
use crate::source::Span;
use crate::syntax::{Expr, ExprKind};
use crate::value::{Env, Named, Value};
use loop_lang::Ty;

impl Eval<'_> {
    /// Applies a function to values.
    pub fn call(&mut self, f: &Value, args: Vec<Value>, span: Span) -> Result<Value> {
        match f {
            Value::Function(f) => {
                let params = &f.function.params;
                if params.len() != args.len() {
                    let (n, got) = (params.len(), args.len());
                    let s = if n == 1 { "" } else { "s" };
                    let message =
                        format!("this function takes {n} argument{s}, and is given {got}");
                    let here = params.first().map_or(span, |p| p.span);
                    let wrong = Diagnostic::new(message, span);
                    return Err(Box::new(wrong.other(here, "the function's parameters")));
                }
                let mut env = match &f.name {
                    Some(name) => f.env.with(name.clone(), Value::Function(f.clone())),
                    None => f.env.clone(),
                };
                for (param, arg) in params.iter().zip(args) {
                    env = self.bind(&env, param, arg)?;
                }
                self.expr(&env, &f.function.body)
            }
            Value::Named(name) => {
                let spans = vec![span; args.len()];
                self.call_named(*name, args, spans, span)
            }
            other => wrong(
                format!("expected a function, got {}", other.describe()),
                span,
            ),
        }
    }

    pub(super) fn call_expr(
        &mut self,
        env: &Env,
        callee: &Expr,
        args: &[Expr],
        span: Span,
    ) -> Result<Value> {
        if let Some(wrong) = self.python_picture(env, callee, args) {
            return Err(wrong);
        }
        let f = self.expr(env, callee)?;
        let is_named = |a: &&Expr| matches!(a.kind, ExprKind::Keyword { .. });
        let (named, plain): (Vec<&Expr>, Vec<&Expr>) = args.iter().partition(is_named);
        let mut values = Vec::new();
        for arg in &plain {
            values.push(self.expr(env, arg)?);
        }
        let spans: Vec<Span> = plain.iter().map(|a| a.span).collect();
        match f {
            Value::Named(name) if named.is_empty() => {
                self.call_named(name, values, spans, callee.span)
            }
            Value::Named(name) => self.call_with(env, name, (values, spans), &named, callee.span),
            f @ Value::Function(_) if named.is_empty() => self.call(&f, values, span),
            Value::Function(_) => wrong(
                "the arguments of a function stand in their order, without names",
                named[0].span,
            ),
            other => Err(self.no_function(other, callee, args)),
        }
    }

    /// The error for a call of a non-function, with the form of an index.
    fn no_function(&self, value: Value, callee: &Expr, args: &[Expr]) -> Box<Diagnostic> {
        let name = self.sources.slice(callee.span);
        let message = format!("`{}` is {}, not a function", shown(name), value.describe());
        let wrong = Diagnostic::new(message, callee.span);
        Box::new(match (&value, args) {
            (Value::Array(_) | Value::Range(_) | Value::Segmented(_), [first, ..]) => {
                let at = shown(self.sources.slice(first.span));
                wrong.note(format!("its element {at} is `{}[{at}]`", shown(name)))
            }
            _ => wrong,
        })
    }

    /// A call with named arguments: `axis`, `dtype`, and the combinator's own.
    fn call_with(
        &mut self,
        env: &Env,
        name: Named,
        (mut values, mut spans): (Vec<Value>, Vec<Span>),
        named: &[&Expr],
        span: Span,
    ) -> Result<Value> {
        let (mut dtype, mut placed) = (None, Vec::new());
        for arg in named {
            let ExprKind::Keyword { name: word, value } = &arg.kind else {
                continue;
            };
            let given = self.expr(env, value)?;
            let goes_along = match name {
                Named::Combinator(c) => combinators::goes_along(c),
                Named::Scalar(_) => false,
            };
            let place = match name.keywords() {
                Keywords::At(all) => all.iter().find(|(place, _)| *place == word.text),
                _ => None,
            };
            match (word.text.as_str(), place) {
                ("axis", _) if goes_along && !values.is_empty() => {
                    let along = combinators::value("along").unwrap_or(Value::Int(0));
                    values[0] = self.call(&along, vec![values[0].clone(), given], value.span)?;
                }
                (_, Some((_, k))) => placed.push((*k, given, value.span)),
                ("dtype", _) => dtype = Some((given, value.span)),
                (word, _) if matches!(name.keywords(), Keywords::Last(last) if last == word) => {
                    values.push(given);
                    spans.push(value.span);
                }
                (column, _) if matches!(name.keywords(), Keywords::Columns) => {
                    values.push(Value::Tuple(vec![Value::Text(column.into()), given]));
                    spans.push(value.span);
                }
                (other, _) => {
                    let (called, ty) = match name {
                        Named::Combinator(c) => (c.name, c.signature()),
                        Named::Scalar(f) => (f.name, format!("for example: {}", f.example)),
                    };
                    let message = format!("`{called}` has no argument `{}`", shown(other));
                    return Err(Box::new(Diagnostic::new(message, word.span).note(ty)));
                }
            }
        }
        placed.sort_by_key(|(k, ..)| *k);
        for (k, given, at) in placed {
            values.insert(k.min(values.len()), given);
            spans.insert(k.min(spans.len()), at);
        }
        let made = self.call_named(name, values, spans, span)?;
        match dtype {
            Some((ty, at)) => self.as_type(made, &ty, at),
            None => Ok(made),
        }
    }

    /// Converts a value to a named type, such as `float` or `"i32"`.
    pub fn as_type(&mut self, value: Value, ty: &Value, span: Span) -> Result<Value> {
        let to = match ty {
            Value::Named(Named::Scalar(f)) => Ty::from_name(f.name),
            Value::Text(text) => match combinators::value(text) {
                Some(Value::Named(Named::Scalar(f))) => Ty::from_name(f.name),
                _ => None,
            },
            _ => None,
        };
        match to {
            Some(to) => self.cast(value, to, span),
            None => {
                let wrong =
                    Diagnostic::new(format!("expected a type, got {}", ty.describe()), span);
                Err(Box::new(wrong.note(
                    "types are `float`, `int`, `bool`, `f32`, `i32`, `u8` and so on",
                )))
            }
        }
    }

    fn call_named(
        &mut self,
        name: Named,
        args: Vec<Value>,
        spans: Vec<Span>,
        span: Span,
    ) -> Result<Value> {
        match name {
            // `min`, `max` and similar names are both combinators of one array and scalar
            // functions.
            Named::Combinator(c) => match c.scalar.filter(|_| !c.takes(args.len())) {
                Some(f) => self.call_scalar(f, args, &spans, span),
                None => Call::run(self, c, args, spans, span),
            },
            Named::Scalar(f) => self.call_scalar(f, args, &spans, span),
        }
    }
}
