//! Operators, casts, conditions, and scalar functions.

use super::meaning::is_meant;
use super::{Call, Eval, Result, Site, mismatch, noun, python, wrong};
use crate::combinators::{self, ScalarFunction};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{Binary, Expr, Unary};
use crate::value::{Array, Elt, Env, Value};
use livefusion::ast::{Const, Field, Fields, Node, Op, Ty, Types};
use std::sync::Arc;

impl Eval<'_> {
    /// Applies an operator to values of suitable types.
    pub fn operator(&mut self, op: Op, site: Site<'_>, values: Vec<Value>) -> Result<Value> {
        if let Some(made) = self.meant_operator(op, site, &values) {
            return made;
        }
        self.elementwise(site, values, &mut |eval, values| {
            let values = eval.operands(op, values, site)?;
            let args: Fields = values
                .iter()
                .filter_map(|v| match v {
                    Value::Scalar(fields, _) => fields.first().copied(),
                    _ => None,
                })
                .collect();
            let elts: Vec<Elt> = values.iter().filter_map(Value::elt).collect();
            let types: Types = elts.iter().flat_map(Elt::types).collect();
            let loc = eval.loc(site.span);
            match op.result(&types, None) {
                Some(ty) if args.len() == op.arity() && types.len() == args.len() => {
                    let field = Field::op(op, &args, loc);
                    Ok((Fields::from_slice(&[field]), Elt::Scalar(ty)))
                }
                _ => {
                    let got: Vec<_> = elts.iter().map(Elt::to_string).collect();
                    let message = format!("`{}` does not take {}", site.name, got.join(" and "));
                    let at = match elts.len() {
                        1 => site.at(0),
                        _ => site.span,
                    };
                    wrong(message, at)
                }
            }
        })
    }

    /// Converts operands to the types that an operator needs.
    fn operands(&mut self, op: Op, values: &[Value], site: Site<'_>) -> Result<Vec<Value>> {
        let values = values.to_vec();
        if let (Op::Powi, [x, n]) = (op, values.as_slice()) {
            let (x, elt) = self.fields(x.floating(), None, site.at(0))?;
            let (n, power) = self.fields(n.clone(), Some(&Elt::Scalar(Ty::I32)), site.at(1))?;
            return Ok(vec![Value::Scalar(x, elt), Value::Scalar(n, power)]);
        }
        let floats = op.result(&vec![Ty::I64; op.arity()], None).is_none()
            && op.result(&vec![Ty::F64; op.arity()], None).is_some();
        let floating = |v: Value| if floats { v.floating() } else { v };
        let values = values.into_iter().map(floating).collect();
        let (elt, values) = self.alike(values, &|k| site.at(k))?;
        if !floats || !elt.scalar().is_some_and(Ty::is_int) {
            return Ok(values);
        }
        let want = Elt::Scalar(Ty::F64);
        let mut all = Vec::new();
        for (k, value) in values.into_iter().enumerate() {
            let (fields, elt) = self.fields(value, Some(&want), site.at(k))?;
            all.push(Value::Scalar(fields, elt));
        }
        Ok(all)
    }

    /// Evaluates `-x` and `!x`.
    pub fn unary(&mut self, op: Unary, value: Value, span: Span, operand: Span) -> Result<Value> {
        let site = Site {
            name: op.name(),
            span,
            operands: &[operand],
        };
        match (op, value) {
            (Unary::Neg, Value::Int(n)) => Ok(Value::Int(-n)),
            (Unary::Neg, Value::Float(x)) => Ok(Value::Float(-x)),
            (Unary::Neg, value) => match value.elt() {
                Some(Elt::Scalar(ty)) if ty.is_int() && !ty.is_signed() => {
                    let message = format!("`-` does not take {}, which has no sign", ty.name());
                    wrong(message, operand)
                }
                _ => self.operator(Op::Neg, site, vec![value]),
            },
            (Unary::Not, value) => self.operator(Op::Not, site, vec![value]),
        }
    }

    /// Evaluates `a + b` and other binary operators.
    pub fn binary(
        &mut self,
        env: &Env,
        op: Binary,
        at: Span,
        operands: &[Expr; 2],
    ) -> Result<Value> {
        let left = self.expr(env, &operands[0])?;
        if let (Binary::And | Binary::Or, Some(known)) = (op, truth(&left)) {
            // The right operand may fail then.
            if known == (op == Binary::Or) {
                return Ok(left);
            }
        }
        let values = vec![left, self.expr(env, &operands[1])?];
        let site = Site {
            name: op.name(),
            span: at,
            operands: &[operands[0].span, operands[1].span],
        };
        self.arithmetic(op, site, values)
    }

    /// Applies an operator to values.
    pub fn arithmetic(&mut self, op: Binary, site: Site<'_>, values: Vec<Value>) -> Result<Value> {
        match python::known(op, &values) {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => {}
            Err(message) => return python::misfit(message, site),
        }
        let op = match op {
            Binary::And | Binary::Or => return self.logic(op, site, values),
            Binary::Div if values.iter().any(is_meant) => Op::Div,
            Binary::Div => return self.true_division(site, values),
            Binary::FloorDiv | Binary::Rem => return self.floor_division(op, site, values),
            Binary::Pow => return self.power(site, values),
            Binary::MatMul => return self.product(site, values),
            Binary::Add => Op::Add,
            Binary::Sub => Op::Sub,
            Binary::Mul => Op::Mul,
            Binary::Eq => Op::Eq,
            Binary::Ne => Op::Ne,
            Binary::Lt => Op::Lt,
            Binary::Le => Op::Le,
            Binary::Gt => Op::Gt,
            Binary::Ge => Op::Ge,
            Binary::BitAnd => Op::And,
            Binary::BitOr => Op::Or,
            Binary::Shl => Op::Shl,
            Binary::Shr => Op::Shr,
        };
        match compared(op, &values) {
            Some(value) => Ok(value),
            None => self.operator(op, site, values),
        }
    }

    /// `a @ b`: two vectors give a number, a matrix and a vector give a vector, two matrices give a
    /// matrix.
    fn product(&mut self, site: Site<'_>, values: Vec<Value>) -> Result<Value> {
        match combinators::find(site.name) {
            Some(c) => Call::run(self, c, values, site.operands.to_vec(), site.span),
            None => wrong("there is no product of matrices", site.span),
        }
    }

    /// `a && b`, `a
    ///
    /// b`: the right operand is computed only if it decides.
    fn logic(&mut self, op: Binary, site: Site<'_>, values: Vec<Value>) -> Result<Value> {
        let want = Elt::Scalar(Ty::Bool);
        for (k, value) in values.iter().enumerate() {
            if value.default_elt() != want {
                return Err(mismatch(&want, value, site.at(k)));
            }
        }
        self.elementwise(site, values, &mut |eval, values| {
            let mut sides = Fields::new();
            for (k, value) in values.iter().enumerate() {
                sides.extend(eval.fields(value.clone(), Some(&want), site.at(k))?.0);
            }
            let decided = Field::literal(Const::bool(op == Binary::Or));
            let arms = match op {
                Binary::And => (sides[1], decided),
                _ => (decided, sides[1]),
            };
            let loc = eval.loc(site.span);
            let fields = sides[0].cond(&[arms.0], &[arms.1], loc);
            Ok((fields, want.clone()))
        })
    }

    /// Evaluates `value as ty`.
    pub fn cast(&mut self, value: Value, ty: Ty, span: Span) -> Result<Value> {
        let site = Site {
            name: "cast",
            span,
            operands: &[],
        };
        self.elementwise(site, vec![value], &mut |eval, values| {
            let Some(value) = values.first().cloned() else {
                return wrong("nothing to cast", span);
            };
            let (fields, elt) = eval.fields(value, None, span)?;
            let loc = eval.loc(span);
            match fields.as_slice() {
                [x] if ty == Ty::Bool && elt.scalar().is_some_and(|own| own != Ty::Bool) => {
                    let zero = Field::literal(Const::zero(elt.scalar().unwrap_or(Ty::I64)));
                    let holds = Field::op(Op::Ne, &[*x, zero], loc);
                    Ok((Fields::from_slice(&[holds]), Elt::Scalar(ty)))
                }
                [x] if elt.scalar().is_some() => {
                    let cast = x.cast(ty, loc);
                    Ok((Fields::from_slice(&[cast]), Elt::Scalar(ty)))
                }
                _ => wrong(
                    format!("expected a number to cast, got {}", noun(&elt)),
                    span,
                ),
            }
        })
    }

    /// Evaluates `if c then a else b`.
    ///
    /// A known condition evaluates only one arm, so functions may recurse.
    pub fn condition(&mut self, env: &Env, parts: &[Expr; 3], span: Span) -> Result<Value> {
        let [c, yes, no] = parts;
        let test = self.expr(env, c)?;
        if let Some(known) = truth(&test) {
            return self.expr(env, if known { yes } else { no });
        }
        let arms = vec![self.expr(env, yes)?, self.expr(env, no)?];
        let mut arms = self.meant(arms, &|k| parts[k + 1].span)?;
        arms.insert(0, test);
        let site = Site {
            name: "cond",
            span,
            operands: &[c.span, yes.span, no.span],
        };
        match <[Value; 3]>::try_from(arms) {
            Ok([Value::Array(test), a, b])
                if test.node.rank == 0 && !(a.is_scalar() && b.is_scalar()) =>
            {
                self.whole_choice(test, [a, b], site)
            }
            Ok(arms) => self.choice(arms.into(), site),
            Err(arms) => self.choice(arms, site),
        }
    }

    /// Selects one of two values of arrays by a delayed condition. Only that one is computed.
    fn whole_choice(&mut self, test: Array, arms: [Value; 2], site: Site<'_>) -> Result<Value> {
        let test = self.retyped(test, &Elt::Scalar(Ty::Bool), site.at(0))?;
        let [yes, no] = arms;
        let described = [&yes, &no].map(Value::describe);
        let (then, form) = self.nodes(yes, site.at(1))?;
        let (otherwise, other) = self.nodes(no, site.at(2))?;
        let ranks = |nodes: &[Arc<Node>]| nodes.iter().map(|n| n.rank).collect::<Vec<_>>();
        if form != other || ranks(&then) != ranks(&otherwise) {
            let [yes, no] = described;
            let message = format!("the arms differ: {yes}, and {no}");
            return wrong(message, site.at(2));
        }
        let builder = self.builder(site.name, site.span);
        let chosen = builder.cond(&test.node, &then, &otherwise);
        self.formed(&form, &mut chosen.into_iter(), site.span)
    }

    /// Selects between two values by a condition, element by element.
    pub fn choice(&mut self, values: Vec<Value>, site: Site<'_>) -> Result<Value> {
        self.elementwise(site, values, &mut |eval, values| {
            let want = Elt::Scalar(Ty::Bool);
            let (test, _) = eval.fields(values[0].clone(), Some(&want), site.at(0))?;
            let (elt, arms) = eval.alike(values[1..].to_vec(), &|k| site.at(k + 1))?;
            let mut sides = Vec::new();
            for (k, arm) in arms.into_iter().enumerate() {
                sides.push(eval.fields(arm, Some(&elt), site.at(k + 1))?.0);
            }
            let loc = eval.loc(site.span);
            let fields = test[0].cond(&sides[0], &sides[1], loc);
            Ok((fields, elt))
        })
    }

    /// Calls a scalar function by its name.
    pub fn call_scalar(
        &mut self,
        f: &'static ScalarFunction,
        args: Vec<Value>,
        spans: &[Span],
        span: Span,
    ) -> Result<Value> {
        if !f.takes(args.len()) {
            let s = if f.arity == 1 { "" } else { "s" };
            let message = format!(
                "`{}` takes {} argument{s}, got {}",
                f.name,
                f.arity,
                args.len()
            );
            let wrong = Diagnostic::new(message, span);
            return Err(Box::new(wrong.note(format!("for example: {}", f.example))));
        }
        let site = Site {
            name: f.name,
            span,
            operands: spans,
        };
        f.apply(self, args, site)
    }
}

/// The value of a known condition.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Scalar(fields, Elt::Scalar(Ty::Bool)) => {
            fields.first()?.as_literal().map(|c| c.bits != 0)
        }
        _ => None,
    }
}

/// Compares two untyped numbers.
fn compared(op: Op, values: &[Value]) -> Option<Value> {
    let number = |v: &Value| match v {
        Value::Int(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    };
    let ordering = match values {
        [Value::Int(a), Value::Int(b)] => Some(a.cmp(b)),
        [a, b] => number(a)?.partial_cmp(&number(b)?),
        _ => return None,
    };
    let holds = match op {
        Op::Eq => ordering.is_some_and(|o| o.is_eq()),
        Op::Ne => ordering.is_none_or(|o| o.is_ne()),
        Op::Lt => ordering.is_some_and(|o| o.is_lt()),
        Op::Le => ordering.is_some_and(|o| o.is_le()),
        Op::Gt => ordering.is_some_and(|o| o.is_gt()),
        Op::Ge => ordering.is_some_and(|o| o.is_ge()),
        _ => return None,
    };
    let field = Field::literal(Const::bool(holds));
    Some(Value::Scalar(
        Fields::from_slice(&[field]),
        Elt::Scalar(Ty::Bool),
    ))
}
