//! Scalars, and arithmetic: terms where a function is traced, constants of literals, nodes of what is delayed.

use super::{Eval, Result, wrong};
use crate::combinators::ScalarFunction;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::{Binary, Expr, Unary};
use crate::value::{Array, Elt, Env, Range, Segmented, Value};
use livefusion::Loc;
use livefusion::ast::{Axis, Body, Field, Fields, Len, Node, Types};
use loop_lang::{Const, Op, Ty};
use std::sync::Arc;

/// A float constant of this type.
pub fn float(x: f64, ty: Ty) -> Const {
    match ty {
        Ty::F32 => Const::f32(x as f32),
        _ => Const::f64(x),
    }
}

/// An integer constant, if the type has it.
fn integer(n: i128, ty: Ty) -> Option<Const> {
    if ty.is_float() {
        return Some(float(n as f64, ty));
    }
    let bits = ty.bits();
    let (least, most) = match ty {
        Ty::Bool => return None,
        _ if ty.is_signed() => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    (least <= n && n <= most).then(|| Const::new(ty, n as u64))
}

/// What an operator is applied to, once types are known.
struct Operands {
    values: Vec<Value>,
    elts: Vec<Elt>,
}

/// What makes fields of scalars.
type OnScalars<'f> = &'f mut dyn FnMut(&mut Eval<'_>, &[Value]) -> Result<(Fields, Elt)>;

impl Eval<'_> {
    /// That something is wrong at a place.
    pub fn refuse<T>(&self, message: impl Into<String>, span: Span) -> Result<T> {
        wrong(message, span)
    }

    /// A place as the library names it.
    pub fn loc(&mut self, span: Span) -> Loc {
        self.builder("scalar", span).loc()
    }

    /// Whether a value is one scalar or tuple, no array.
    fn is_scalar(value: &Value) -> bool {
        match value {
            Value::Int(_) | Value::Float(_) | Value::Scalar(..) => true,
            Value::Array(a) => a.node.rank == 0,
            Value::Tuple(parts) => parts.iter().all(Self::is_scalar),
            _ => false,
        }
    }

    /// What elements the value has; none of a number without a type.
    fn elt(value: &Value) -> Option<Elt> {
        match value {
            Value::Scalar(_, elt) => Some(elt.clone()),
            Value::Array(a) => Some(a.elt.clone()),
            Value::Segmented(s) => Some(s.data.elt.clone()),
            Value::Tuple(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(Self::elt).collect();
                parts.map(Elt::Tuple)
            }
            _ => None,
        }
    }

    /// The type that a number without one has where nothing else is wanted.
    fn default_elt(value: &Value) -> Elt {
        match value {
            Value::Float(_) => Elt::Scalar(Ty::F64),
            Value::Tuple(parts) => Elt::Tuple(parts.iter().map(Self::default_elt).collect()),
            other => Self::elt(other).unwrap_or(Elt::Scalar(Ty::I64)),
        }
    }

    /// A scalar as fields, of the type that is wanted if one is: terms in a function that is traced, else literals.
    pub fn fields(
        &mut self,
        value: Value,
        want: Option<&Elt>,
        span: Span,
    ) -> Result<(Fields, Elt)> {
        let number = |c: Option<Const>, ty: Ty, shown: String| match c {
            Some(c) => Ok((Fields::from_slice(&[Field::literal(c)]), Elt::Scalar(ty))),
            None => wrong(format!("expected {}, got {shown}", ty.name()), span),
        };
        let (fields, elt) = match value {
            Value::Int(n) => {
                let ty = want.map_or(Some(Ty::I64), Elt::scalar);
                let ty = ty.unwrap_or(Ty::I64);
                number(integer(n, ty), ty, n.to_string())?
            }
            Value::Float(x) => {
                let ty = want.map_or(Some(Ty::F64), Elt::scalar);
                let ty = ty.unwrap_or(Ty::F64);
                let c = ty.is_float().then(|| float(x, ty));
                number(c, ty, format!("{x:?}"))?
            }
            Value::Scalar(fields, elt) => (fields, elt),
            Value::Array(a) if a.node.rank == 0 && self.tracing => {
                let loc = self.loc(span);
                (Field::value(&a.node, loc), a.elt)
            }
            Value::Tuple(parts) => {
                let wants = match want {
                    Some(Elt::Tuple(wants)) if wants.len() == parts.len() => Some(wants),
                    _ => None,
                };
                let (mut fields, mut elts) = (Fields::new(), Vec::new());
                for (k, part) in parts.into_iter().enumerate() {
                    let (own, elt) = self.fields(part, wants.map(|w| &w[k]), span)?;
                    fields.extend(own);
                    elts.push(elt);
                }
                (fields, Elt::Tuple(elts))
            }
            other => return wrong(format!("expected a scalar, got {}", other.describe()), span),
        };
        match want {
            Some(want) if *want != elt => {
                let wrong = Diagnostic::new(format!("expected {want}, got {elt}"), span);
                let cast = want.scalar().zip(elt.scalar());
                Err(Box::new(match cast {
                    Some((to, _)) if to != Ty::Bool => wrong.note(format!("`x as {to}` converts")),
                    _ => wrong,
                }))
            }
            _ => Ok((fields, elt)),
        }
    }

    /// A body without parameters: a start value, a number of elements.
    pub fn value_body(
        &mut self,
        value: Value,
        want: Option<&Elt>,
        span: Span,
    ) -> Result<(Body, Elt)> {
        self.traced(&[], span, |eval, _| eval.fields(value, want, span))
    }

    /// A scalar as a delayed one.
    pub fn delayed(&mut self, value: Value, want: Option<&Elt>, span: Span) -> Result<Array> {
        if let Value::Array(a) = &value
            && a.node.rank == 0
            && want.is_none_or(|w| *w == a.elt)
        {
            return Ok(a.clone());
        }
        let (body, elt) = self.value_body(value, want, span)?;
        let node = self.builder("scalar", span).compute(body);
        match &node.error {
            Some(e) => Err(self.places.fault(e, span)),
            None => Ok(Array { node, elt }),
        }
    }

    /// A number of elements, or an index: `u64`.
    pub fn count(&mut self, value: Value, span: Span) -> Result<Array> {
        let value = match value {
            Value::Int(_) => return self.delayed(value, Some(&Elt::Scalar(Ty::U64)), span),
            other => other,
        };
        match Self::elt(&value).and_then(|e| e.scalar()) {
            Some(Ty::U64) => self.delayed(value, None, span),
            Some(ty) if ty.is_int() && Self::is_scalar(&value) => {
                let value = self.cast(value, Ty::U64, span)?;
                self.delayed(value, None, span)
            }
            _ => wrong(
                format!("expected a number of elements, got {}", value.describe()),
                span,
            ),
        }
    }

    /// A number that has to be known while the program is built: an axis, a distance.
    pub fn known(&mut self, value: &Value, span: Span) -> Result<i128> {
        let known = match value {
            Value::Int(n) => Some(*n),
            Value::Scalar(fields, _) => match fields.as_slice() {
                [one] if one.ty().is_int() => one.as_literal().map(|c| match c.ty.is_signed() {
                    true => i128::from(c.bits as i64),
                    false => i128::from(c.bits),
                }),
                _ => None,
            },
            _ => None,
        };
        let got = || {
            format!(
                "expected an integer that is known, got {}",
                value.describe()
            )
        };
        known.map_or_else(|| wrong(got(), span), Ok)
    }

    /// Values of one type, of which numbers without one take that of the others. Only scalars are changed.
    pub fn alike(
        &mut self,
        values: Vec<Value>,
        at: &dyn Fn(usize) -> Span,
    ) -> Result<(Elt, Vec<Value>)> {
        let floats = values.iter().find(|v| matches!(v, Value::Float(_)));
        let typed = values.iter().find_map(Self::elt);
        let first = floats.or(values.first()).map(Self::default_elt);
        let want = typed.or(first).unwrap_or(Elt::Scalar(Ty::I64));
        let mut all = Vec::with_capacity(values.len());
        for (k, value) in values.into_iter().enumerate() {
            let is_array = matches!(value, Value::Array(_) | Value::Segmented(_));
            if !is_array || self.tracing && Self::is_scalar(&value) {
                match Self::has_delayed(&value) && !self.tracing {
                    true => all.push(Value::Array(self.delayed(value, Some(&want), at(k))?)),
                    false => {
                        let (fields, elt) = self.fields(value, Some(&want), at(k))?;
                        all.push(Value::Scalar(fields, elt));
                    }
                }
            } else if Self::elt(&value).as_ref() == Some(&want) {
                all.push(value);
            } else {
                let got = Self::elt(&value).map_or_else(String::new, |e| e.to_string());
                let wrong = Diagnostic::new(format!("expected {want}, got {got}"), at(k));
                return Err(Box::new(wrong.note(format!("`x as {want}` converts"))));
            }
        }
        Ok((want, all))
    }

    fn has_delayed(value: &Value) -> bool {
        match value {
            Value::Array(_) => true,
            Value::Tuple(parts) => parts.iter().any(Self::has_delayed),
            _ => false,
        }
    }

    /// A function on scalars applied to scalars, or element by element to arrays of one shape.
    pub fn elementwise(
        &mut self,
        name: &'static str,
        values: Vec<Value>,
        span: Span,
        f: OnScalars<'_>,
    ) -> Result<Value> {
        if let Some(Value::Segmented(first)) =
            values.iter().find(|v| matches!(v, Value::Segmented(_)))
        {
            let lengths = first.lengths.clone();
            let flat = values.into_iter().map(|v| match v {
                Value::Segmented(s) => Value::Array(s.data),
                other => other,
            });
            let data = self.elementwise(name, flat.collect(), span, f)?;
            return match data {
                Value::Array(data) => Ok(Value::Segmented(Segmented { lengths, data })),
                other => Ok(other),
            };
        }
        let mut values = values;
        for value in &mut values {
            if let Value::Range(range) = value {
                *value = Value::Array(self.range((**range).clone(), span)?);
            }
        }
        if let Some(other) = values
            .iter()
            .find(|v| !Self::is_scalar(v) && !matches!(v, Value::Array(_)))
        {
            return wrong(format!("expected numbers, got {}", other.describe()), span);
        }
        let is_array = |v: &Value| matches!(v, Value::Array(a) if a.node.rank > 0);
        if !values.iter().any(is_array) {
            if self.tracing || !values.iter().any(Self::has_delayed) {
                let (fields, elt) = f(self, &values)?;
                // Literals that give none, as 1 / 0, are an error when forced.
                if self.tracing || fields.iter().all(|f| f.as_literal().is_some()) {
                    return Ok(Value::Scalar(fields, elt));
                }
            }
            let (body, elt) = self.traced(&[], span, |eval, _| f(eval, &values))?;
            let node = self.builder(name, span).compute(body);
            return self.array(node, elt, span);
        }
        let term = |f: &Field| f.as_literal().is_none();
        if values
            .iter()
            .any(|v| matches!(v, Value::Scalar(f, _) if f.iter().any(term)))
        {
            let wrong = Diagnostic::new("an element of a function meets a whole array", span);
            let note = "index the array (`ys[i]`), or go through both in step with `zip_with`";
            return Err(Box::new(wrong.note(note)));
        }
        let values = self.broadcast(values, span)?;
        let mut inputs: Vec<Arc<Node>> = Vec::new();
        let mut types = Types::new();
        for value in &values {
            if let Value::Array(a) = value
                && a.node.rank > 0
            {
                types.extend(a.node.types.iter().copied());
                inputs.push(a.node.clone());
            }
        }
        let (body, elt) = self.traced(&types, span, |eval, fields| {
            let mut rest = fields;
            let mut inner = values.clone();
            for value in &mut inner {
                if let Value::Array(a) = value
                    && a.node.rank > 0
                {
                    let (own, others) = rest.split_at(a.elt.fields());
                    rest = others;
                    *value = Value::Scalar(Fields::from_slice(own), a.elt.clone());
                }
            }
            f(eval, &inner)
        })?;
        let node = self.builder(name, span).map(&inputs, body);
        self.array(node, elt, span)
    }

    /// Arrays of fewer axes than others of them, repeated along the outer axes of these: a row meets each row of a matrix.
    fn broadcast(&mut self, mut values: Vec<Value>, span: Span) -> Result<Vec<Value>> {
        let arrays = values.iter().filter_map(|v| match v {
            Value::Array(a) => Some(a.clone()),
            _ => None,
        });
        let Some(largest) = arrays.max_by_key(|a| a.node.rank) else {
            return Ok(values);
        };
        let Some(shape) = &largest.node.shape else {
            return Ok(values);
        };
        for value in &mut values {
            let Value::Array(a) = value else { continue };
            if a.node.rank == 0 || a.node.rank == largest.node.rank {
                continue;
            }
            let new = usize::from(largest.node.rank - a.node.rank);
            let own: Vec<Option<u64>> = match &a.node.shape {
                Some(own) => own.axes().iter().map(Axis::known).collect(),
                None => vec![a.node.known_len()],
            };
            let differs = |(own, to): (&Option<u64>, &Axis)| match (own, to.known()) {
                (Some(own), Some(to)) => *own != to,
                _ => false,
            };
            if own.iter().zip(&shape.axes()[new..]).any(differs) {
                return wrong(
                    format!("expected the last axes of {largest}, got {a}"),
                    span,
                );
            }
            let inner = |i: &[Field]| i[new..].iter().copied().collect();
            let node = self
                .builder("broadcast", span)
                .backpermute(&a.node, shape, inner);
            *value = self.array(node, a.elt.clone(), span)?;
        }
        Ok(values)
    }

    /// An operator on values, whose types it has to fit.
    pub fn operator(
        &mut self,
        op: Op,
        name: &'static str,
        values: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        self.elementwise(name, values, span, &mut |eval, values| {
            let Operands { values, elts } = eval.operands(op, values, span)?;
            let args: Fields = values
                .iter()
                .filter_map(|v| match v {
                    Value::Scalar(fields, _) => fields.first().copied(),
                    _ => None,
                })
                .collect();
            let types: Types = elts.iter().flat_map(Elt::types).collect();
            let loc = eval.loc(span);
            match op.result(&types, None) {
                Some(ty) if args.len() == op.arity() && types.len() == args.len() => {
                    let field = Field::op(op, &args, loc);
                    Ok((Fields::from_slice(&[field]), Elt::Scalar(ty)))
                }
                _ => {
                    let got: Vec<_> = elts.iter().map(Elt::to_string).collect();
                    wrong(
                        format!("`{name}` does not take {}", got.join(" and ")),
                        span,
                    )
                }
            }
        })
    }

    fn operands(&mut self, op: Op, values: &[Value], span: Span) -> Result<Operands> {
        let values = values.to_vec();
        let values = match (op, values.as_slice()) {
            (Op::Powi, [x, n]) => {
                let x = match x {
                    Value::Int(n) => Value::Float(*n as f64),
                    other => other.clone(),
                };
                let (x, elt) = self.fields(x, None, span)?;
                let (n, power) = self.fields(n.clone(), Some(&Elt::Scalar(Ty::I32)), span)?;
                vec![Value::Scalar(x, elt), Value::Scalar(n, power)]
            }
            _ => {
                let floats = op.result(&vec![Ty::I64; op.arity()], None).is_none()
                    && op.result(&vec![Ty::F64; op.arity()], None).is_some();
                let floating = |v: Value| match v {
                    Value::Int(n) if floats => Value::Float(n as f64),
                    other => other,
                };
                let values = values.into_iter().map(floating).collect();
                self.alike(values, &|_| span)?.1
            }
        };
        let elts = values.iter().filter_map(Self::elt).collect();
        Ok(Operands { values, elts })
    }

    /// `-x`, `!x`.
    pub fn unary(&mut self, op: Unary, value: Value, span: Span) -> Result<Value> {
        match (op, value) {
            (Unary::Neg, Value::Int(n)) => Ok(Value::Int(-n)),
            (Unary::Neg, Value::Float(x)) => Ok(Value::Float(-x)),
            // A literal of the type's least number.
            (Unary::Neg, value) => {
                if let Some(Elt::Scalar(ty)) = Self::elt(&value)
                    && ty.is_int()
                    && !ty.is_signed()
                {
                    return wrong(
                        format!("`-` does not take {}, which has no sign", ty.name()),
                        span,
                    );
                }
                self.operator(Op::Neg, "neg", vec![value], span)
            }
            (Unary::Not, value) => self.operator(Op::Not, "not", vec![value], span),
        }
    }

    /// `a + b`, and what else stands between two values.
    pub fn binary(
        &mut self,
        env: &Env,
        op: Binary,
        at: Span,
        operands: &[Expr; 2],
    ) -> Result<Value> {
        let left = self.expr(env, &operands[0])?;
        if let (Binary::And | Binary::Or, Some(known)) = (op, truth(&left)) {
            // The other side need not be computable then.
            return match known == (op == Binary::Or) {
                true => Ok(left),
                false => self.expr(env, &operands[1]),
            };
        }
        let right = self.expr(env, &operands[1])?;
        let (name, values) = (op.name(), vec![left, right]);
        let op = match op {
            Binary::And | Binary::Or => return self.logic(op, values, at),
            Binary::Add => Op::Add,
            Binary::Sub => Op::Sub,
            Binary::Mul => Op::Mul,
            Binary::Div => Op::Div,
            Binary::Rem => Op::Rem,
            Binary::Eq => Op::Eq,
            Binary::Ne => Op::Ne,
            Binary::Lt => Op::Lt,
            Binary::Le => Op::Le,
            Binary::Gt => Op::Gt,
            Binary::Ge => Op::Ge,
            Binary::BitAnd => Op::And,
            Binary::BitOr => Op::Or,
            Binary::BitXor => Op::Xor,
            Binary::Shl => Op::Shl,
            Binary::Shr => Op::Shr,
        };
        match plain(op, &values) {
            Some(value) => Ok(value),
            None => self.operator(op, name, values, at),
        }
    }

    /// `a && b`, `a || b`: the second is computed only where it decides.
    fn logic(&mut self, op: Binary, values: Vec<Value>, at: Span) -> Result<Value> {
        let want = Elt::Scalar(Ty::Bool);
        self.elementwise(op.name(), values, at, &mut |eval, values| {
            let mut sides = Fields::new();
            for value in values {
                sides.extend(eval.fields(value.clone(), Some(&want), at)?.0);
            }
            let decided = Field::literal(Const::bool(op == Binary::Or));
            let arms = match op {
                Binary::And => (sides[1], decided),
                _ => (decided, sides[1]),
            };
            let loc = eval.loc(at);
            let fields = sides[0].cond(&[arms.0], &[arms.1], loc);
            Ok((fields, want.clone()))
        })
    }

    /// `value as ty`
    pub fn cast(&mut self, value: Value, ty: Ty, span: Span) -> Result<Value> {
        self.elementwise("cast", vec![value], span, &mut |eval, values| {
            let Some(value) = values.first().cloned() else {
                return wrong("nothing to cast", span);
            };
            let (fields, elt) = eval.fields(value, None, span)?;
            let loc = eval.loc(span);
            match fields.as_slice() {
                [x] => {
                    let cast = x.cast(ty, loc);
                    Ok((Fields::from_slice(&[cast]), Elt::Scalar(ty)))
                }
                _ => wrong(format!("expected a scalar to cast, got {elt}"), span),
            }
        })
    }

    /// `if c then a else b`: of a condition that is known only one arm is evaluated, so that functions may call themselves.
    pub fn condition(&mut self, env: &Env, parts: &[Expr; 3], span: Span) -> Result<Value> {
        let [c, yes, no] = parts;
        let test = self.expr(env, c)?;
        if let Some(known) = truth(&test) {
            return self.expr(env, if known { yes } else { no });
        }
        let arms = vec![test, self.expr(env, yes)?, self.expr(env, no)?];
        if let [Value::Array(c), a, b] = arms.as_slice()
            && c.node.rank == 0
            && !(Self::is_scalar(a) && Self::is_scalar(b))
        {
            let wrong = Diagnostic::new(
                "the condition has to be known where arms are arrays",
                parts[0].span,
            );
            return Err(Box::new(
                wrong.note("a delayed condition chooses between scalars"),
            ));
        }
        self.elementwise("cond", arms, span, &mut |eval, values| {
            let [test, a, b] = values else {
                return wrong("a condition has two arms", span);
            };
            let (test, _) = eval.fields(test.clone(), Some(&Elt::Scalar(Ty::Bool)), c.span)?;
            let spans = [yes.span, no.span];
            let (elt, arms) = eval.alike(vec![a.clone(), b.clone()], &|k| spans[k])?;
            let mut sides = Vec::new();
            for (arm, at) in arms.into_iter().zip(spans) {
                sides.push(eval.fields(arm, Some(&elt), at)?.0);
            }
            let loc = eval.loc(span);
            let fields = test[0].cond(&sides[0], &sides[1], loc);
            Ok((fields, elt))
        })
    }

    /// A function on scalars, called by its name.
    pub fn call_scalar(
        &mut self,
        f: &'static ScalarFunction,
        args: Vec<Value>,
        spans: &[Span],
        span: Span,
    ) -> Result<Value> {
        if args.len() != f.arity {
            let s = if f.arity == 1 { "" } else { "s" };
            let message = format!(
                "`{}` takes {} argument{s}, got {}",
                f.name,
                f.arity,
                args.len()
            );
            return wrong(message, span);
        }
        for (value, at) in args.iter().zip(spans) {
            if matches!(
                value,
                Value::Function(_) | Value::Named(_) | Value::Text(_) | Value::Table(_)
            ) {
                return wrong(format!("expected a number, got {}", value.describe()), *at);
            }
        }
        f.apply(self, args, span)
    }

    /// `a..b` as an array.
    pub fn range(&mut self, range: Range, span: Span) -> Result<Array> {
        let Some(end) = range.end else {
            return wrong("expected an array, got a range without an end", span);
        };
        let start = range.start.unwrap_or(Value::Int(0));
        let (elt, ends) = self.untraced(|eval| eval.alike(vec![start, end], &|_| span))?;
        let Some(ty) = elt.scalar().filter(|t| t.is_int()) else {
            return wrong(
                format!("expected a range of integers, got one of {elt}"),
                span,
            );
        };
        let mut known = Vec::new();
        for e in &ends {
            known.extend(self.known(e, span).ok());
        }
        let builder = self.builder("range", span);
        let loc = builder.loc();
        let more = i128::from(range.closed);
        let len = match known.as_slice() {
            [start, end] => Len::Known((end - start + more).clamp(0, i128::from(u64::MAX)) as u64),
            _ => {
                let ends = ends.clone();
                let (body, _) = self.traced(&[], span, |eval, _| {
                    let mut sides = Fields::new();
                    for e in ends {
                        sides.extend(eval.fields(e, None, span)?.0);
                    }
                    let size = Field::op(Op::Sub, &[sides[1], sides[0]], loc);
                    let more = Field::literal(Const::u64(more as u64));
                    let size = Field::op(Op::Add, &[size.cast(Ty::U64, loc), more], loc);
                    let before = if range.closed { Op::Le } else { Op::Lt };
                    let some = Field::op(before, &[sides[0], sides[1]], loc);
                    let zero = Field::literal(Const::u64(0));
                    let size = Field::op(Op::Select, &[some, size, zero], loc);
                    Ok((Fields::from_slice(&[size]), Elt::Scalar(Ty::U64)))
                })?;
                Len::Delayed(builder.renamed("length").compute(body))
            }
        };
        let first = ends[0].clone();
        let (body, elt) = self.traced(&[Ty::U64], span, |eval, i| {
            let (start, elt) = eval.fields(first, None, span)?;
            let i = i[0].cast(ty, loc);
            let x = Field::op(Op::Add, &[start[0], i], loc);
            Ok((Fields::from_slice(&[x]), elt))
        })?;
        let node = builder.generate(len, body);
        match &node.error {
            Some(e) => Err(self.places.fault(e, span)),
            None => Ok(Array { node, elt }),
        }
    }
}

/// The value of a condition, if it is known.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Scalar(fields, Elt::Scalar(Ty::Bool)) => {
            fields.first()?.as_literal().map(|c| c.bits != 0)
        }
        _ => None,
    }
}

/// An operator on numbers that have no type yet: they still have none after it.
fn plain(op: Op, values: &[Value]) -> Option<Value> {
    let compare = |ordering: Option<std::cmp::Ordering>| {
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
    };
    match values {
        [Value::Int(a), Value::Int(b)] => {
            let fits = |n: &i128| i64::try_from(*n).ok();
            let (x, y) = (fits(a)?, fits(b)?);
            let result = match op {
                Op::Add => x.wrapping_add(y),
                Op::Sub => x.wrapping_sub(y),
                Op::Mul => x.wrapping_mul(y),
                // What cannot be divided is an error of the library's.
                Op::Div => x.checked_div(y)?,
                Op::Rem => x.checked_rem(y)?,
                Op::And => x & y,
                Op::Or => x | y,
                Op::Xor => x ^ y,
                Op::Shl => x.wrapping_shl(y as u32),
                Op::Shr => x.wrapping_shr(y as u32),
                _ => return compare(Some(a.cmp(b))),
            };
            Some(Value::Int(i128::from(result)))
        }
        [
            Value::Int(_) | Value::Float(_),
            Value::Int(_) | Value::Float(_),
        ] => {
            let number = |v: &Value| match v {
                Value::Int(n) => *n as f64,
                Value::Float(x) => *x,
                _ => f64::NAN,
            };
            let (x, y) = (number(&values[0]), number(&values[1]));
            match op {
                Op::Add => Some(Value::Float(x + y)),
                Op::Sub => Some(Value::Float(x - y)),
                Op::Mul => Some(Value::Float(x * y)),
                Op::Div => Some(Value::Float(x / y)),
                Op::Rem => Some(Value::Float(x % y)),
                _ => compare(x.partial_cmp(&y)),
            }
        }
        _ => None,
    }
}
