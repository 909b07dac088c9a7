//! Text and times in expressions: common types, operators, and type errors.

use super::{Eval, Result, Site, promote, wrong};
use crate::diagnostic::Diagnostic;
use crate::meaning::{DAY, Time};
use crate::source::Span;
use crate::value::{Array, Elt, Value};
use livefusion::Loc;
use livefusion::ast::{Builder, Const, Field, Fields, Op, Ty};
use livefusion::io::{Date, DateTime, Labels};
use livefusion_backend::Buffer;
use std::sync::Arc;

/// Whether a value is text or a time, or has such elements.
pub(super) fn is_meant(value: &Value) -> bool {
    match value {
        Value::Text(_) => true,
        Value::Tuple(parts) => parts.iter().any(is_meant),
        other => other.elt().is_some_and(|elt| elt.is_meant()),
    }
}

/// Parses a date or a date-time from a text.
pub fn date(text: &str) -> std::result::Result<(i64, Time), String> {
    let day = text.parse::<Date>();
    let moment = text.parse::<DateTime>();
    match (day, moment) {
        (Ok(day), _) => Ok((day.count(), Time::Date)),
        (_, Ok(moment)) => Ok((moment.count(), Time::DateTime)),
        (_, Err(e)) => Err(e.to_string()),
    }
}

impl Eval<'_> {
    /// Converts operands to common types: texts get the same labels, times the same unit. Values
    /// without a common type are unchanged.
    pub(super) fn meant(
        &mut self,
        values: Vec<Value>,
        at: &dyn Fn(usize) -> Span,
    ) -> Result<Vec<Value>> {
        if !values.iter().any(is_meant) {
            return Ok(values);
        }
        // Next to a date, a text is parsed as a date.
        let is_date = |v: &Value| matches!(v.elt(), Some(Elt::Time(time)) if time.is_date());
        let beside_dates = values.iter().any(is_date);
        let mut all = Vec::new();
        for (k, value) in values.into_iter().enumerate() {
            all.push(match value {
                Value::Text(text) if beside_dates => self.date(&text, at(k))?,
                other => other,
            });
        }
        let typed = all
            .iter()
            .filter(|v| !matches!(v, Value::Int(_) | Value::Float(_)));
        let common = typed
            .map(|v| Some(v.default_elt()))
            .reduce(|a, b| a?.common(&b?));
        let Some(common) = common.flatten() else {
            return Ok(all);
        };
        let all = all.into_iter().enumerate();
        all.map(|(k, v)| self.converted(v, &common, at(k)))
            .collect()
    }

    /// Parses a date from a text, as a value.
    pub fn date(&mut self, text: &str, at: Span) -> Result<Value> {
        match date(text) {
            Ok((count, time)) => {
                let field = Field::literal(Const::new(Ty::I64, count as u64));
                Ok(Value::Scalar(Fields::from_slice(&[field]), Elt::Time(time)))
            }
            Err(e) => {
                let note = "dates are written `2010-01-31`, `2010/01/31` or `Jan 31 2010`, and `05:00` or `05:00:00` may stand behind them";
                Err(Box::new(Diagnostic::new(e, at).note(note)))
            }
        }
    }

    /// Converts the elements of a value to another type, where possible.
    pub fn converted(&mut self, value: Value, to: &Elt, at: Span) -> Result<Value> {
        let is_delayed = matches!(value, Value::Array(_) | Value::Segmented(_));
        if value.elt().as_ref() == Some(to) || !(is_delayed || is_meant(&value)) {
            return Ok(value);
        }
        let site = Site {
            name: "convert",
            span: at,
            operands: &[],
        };
        match value {
            Value::Array(a) if a.node.rank == 0 && self.tracing => {
                let (fields, elt) = self.fields(Value::Array(a), Some(to), at)?;
                Ok(Value::Scalar(fields, elt))
            }
            Value::Array(_) | Value::Segmented(_) => {
                self.elementwise(site, vec![value], &mut |eval, values| {
                    eval.fields(values[0].clone(), Some(to), at)
                })
            }
            other if other.has_delayed() && !self.tracing => {
                Ok(Value::Array(self.delayed(other, Some(to), at)?))
            }
            other => {
                let (fields, elt) = self.fields(other, Some(to), at)?;
                Ok(Value::Scalar(fields, elt))
            }
        }
    }

    /// Converts two arrays whose elements meet to common types.
    ///
    /// Texts get the same labels, and times the same unit.
    pub fn alike_arrays(&mut self, values: [Value; 2], at: Span) -> Result<[Array; 2]> {
        let mut arrays = Vec::new();
        for value in self.meant(values.to_vec(), &|_| at)? {
            match value {
                Value::Array(a) => arrays.push(a),
                other => return wrong(format!("expected an array, got {}", other.describe()), at),
            }
        }
        match <[Array; 2]>::try_from(arrays) {
            Ok([a, b]) if a.elt == b.elt => Ok([a, b]),
            Ok([a, b]) => {
                let (a, b) = (noun(&a.elt), noun(&b.elt));
                wrong(format!("{a} and {b} cannot be compared"), at)
            }
            Err(_) => wrong("expected two arrays", at),
        }
    }

    /// Converts fields to another type: codes among more labels, microseconds instead of days.
    /// Returns `None` if there is no conversion.
    pub(super) fn retold(
        &mut self,
        fields: &[Field],
        from: &Elt,
        to: &Elt,
        loc: Loc,
    ) -> Option<Fields> {
        let mut all = Fields::new();
        match (from, to) {
            _ if from == to => all.extend(fields.iter().copied()),
            (Elt::Text(own), Elt::Text(labels)) => {
                if own.merged(labels).len() != labels.len() {
                    return None;
                }
                all.push(looked_up(
                    *fields.first()?,
                    Buffer::from_vec(own.codes_in(labels)),
                    loc,
                )?);
            }
            (Elt::Time(own), Elt::Time(time)) if from.common(to)? == *to => {
                let field = *fields.first()?;
                all.push(match own.is_fine() == time.is_fine() {
                    true => field,
                    false => Field::op(Op::Mul, &[field, number(DAY)], loc),
                });
            }
            (Elt::Scalar(_) | Elt::Count, _) => all = promote::widened(fields, from, to, loc)?,
            _ => {
                let (own, parts) = (from.parts(), to.parts());
                if own.len() != parts.len() || !from.is_tuple() || from.common(to)? != *to {
                    return None;
                }
                let mut rest = fields;
                for (from, to) in own.iter().zip(parts) {
                    let (first, behind) = rest.split_at_checked(from.fields())?;
                    rest = behind;
                    all.extend(self.retold(first, from, to, loc)?);
                }
            }
        }
        Some(all)
    }

    /// The code of a text among labels, or the date that it denotes, if the expected type is one of
    /// these.
    pub(super) fn text(
        &mut self,
        text: &str,
        want: Option<&Elt>,
        at: Span,
    ) -> Result<(Fields, Elt)> {
        let labels = match want {
            Some(Elt::Text(labels)) => labels.clone(),
            Some(to @ Elt::Time(time)) if time.is_date() => {
                let value = self.date(text, at)?;
                return self.fields(value, Some(to), at);
            }
            Some(other) => {
                return wrong(format!("expected {}, got a text", noun(other)), at);
            }
            None => Labels::of([text]),
        };
        let Some(code) = labels.code(text) else {
            return wrong(
                format!("expected one of {} texts, got {text:?}", labels.len()),
                at,
            );
        };
        let field = Field::literal(Const::new(Ty::U32, u64::from(code)));
        Ok((Fields::from_slice(&[field]), Elt::Text(labels)))
    }

    /// An operator on values with text or times; `None` if no value has them.
    pub(super) fn meant_operator(
        &mut self,
        op: Op,
        site: Site<'_>,
        values: &[Value],
    ) -> Option<Result<Value>> {
        let is_alone = |v: &Value| is_meant(v) && !v.default_elt().is_tuple();
        values
            .iter()
            .any(is_alone)
            .then(|| self.on_meant(op, site, values.to_vec()))
    }

    fn on_meant(&mut self, op: Op, site: Site<'_>, values: Vec<Value>) -> Result<Value> {
        let is_time = |v: &Value| matches!(v.elt(), Some(Elt::Time(_)));
        let values = match values.iter().any(is_time) {
            true => {
                let mut dated = Vec::new();
                for (k, value) in values.into_iter().enumerate() {
                    dated.push(match value {
                        Value::Text(text) => self.date(&text, site.at(k))?,
                        other => other,
                    });
                }
                dated
            }
            false => values,
        };
        let elts: Vec<Elt> = values.iter().map(Value::default_elt).collect();
        let Some(result) = result_of(op, &elts) else {
            return Err(self.cannot(op, site, &elts));
        };
        let is_fine = elts
            .iter()
            .any(|e| matches!(e, Elt::Time(time) if time.is_fine()));
        let values = match result {
            Does::Alike(_) => self.meant(values, &|k| site.at(k))?,
            Does::Count(_) | Does::Ratio => values,
        };
        self.elementwise(site, values, &mut |eval, values| {
            let loc = eval.loc(site.span);
            let (mut args, mut meant) = (Fields::new(), None);
            for (k, value) in values.iter().enumerate() {
                let want = match value.elt() {
                    Some(Elt::Time(time)) => Elt::Time(Time::of(time.is_date(), is_fine)),
                    Some(other) => other,
                    None => Elt::Scalar(Ty::I64),
                };
                let (fields, elt) = eval.fields(value.clone(), Some(&want), site.at(k))?;
                meant.get_or_insert(elt);
                let ty = if result == Does::Ratio {
                    Ty::F64
                } else {
                    Ty::I64
                };
                let whole = |f: &Field| match f.ty() == ty || matches!(result, Does::Alike(_)) {
                    true => *f,
                    false => f.cast(ty, loc),
                };
                args.extend(fields.iter().map(whole));
            }
            let field = Field::op(op, &args, loc);
            let elt = match result {
                Does::Alike(true) => meant.unwrap_or(Elt::Scalar(Ty::Bool)),
                Does::Alike(false) => Elt::Scalar(Ty::Bool),
                Does::Count(is_date) => Elt::Time(Time::of(is_date, is_fine)),
                Does::Ratio => Elt::Scalar(Ty::F64),
            };
            Ok((Fields::from_slice(&[field]), elt))
        })
    }

    /// The error for an operator that rejects such elements.
    fn cannot(&self, op: Op, site: Site<'_>, elts: &[Elt]) -> Box<Diagnostic> {
        let nouns: Vec<&str> = elts.iter().map(noun).collect();
        let done = match op {
            Op::Add => "added",
            Op::Sub => "subtracted",
            Op::Mul => "multiplied",
            Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid => "divided",
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Min | Op::Max => "compared",
            _ => {
                let message = format!("`{}` takes numbers, not {}", site.name, nouns.join(" and "));
                return Box::new(Diagnostic::new(message, site.at(0)));
            }
        };
        let message = match nouns.as_slice() {
            ["text", "text"] => format!("text cannot be {done}"),
            nouns => format!("{} cannot be {done}", nouns.join(" and ")),
        };
        // Point to the single operand that does not fit the others.
        let mut meant = elts.iter().enumerate().filter(|(_, elt)| elt.is_meant());
        let at = match (meant.next(), meant.next()) {
            (Some((k, _)), None) if op != Op::Mul => site.at(k),
            _ => site.span,
        };
        let wrong = Diagnostic::new(message, at);
        let is_time = elts.iter().any(|e| matches!(e, Elt::Time(_)));
        Box::new(match (op, is_time) {
            (Op::Add | Op::Sub, true) => wrong
                .note("`days(n)`, `hours(n)`, `minutes(n)` and `seconds(n)` are added to dates"),
            _ => wrong,
        })
    }
}

/// The kind of an operator's result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// For two equal types: one of the operands, or a boolean.
    Alike(bool),
    /// A date, or a difference.
    Count(bool),
    /// A ratio.
    Ratio,
}

/// The kind of an operator's result for such elements, or `None` if it rejects them.
fn result_of(op: Op, elts: &[Elt]) -> Option<Does> {
    let compares = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge);
    let chooses = matches!(op, Op::Min | Op::Max);
    match elts {
        [Elt::Time(time)] if matches!(op, Op::Neg | Op::Abs) && !time.is_date() => {
            Some(Does::Count(false))
        }
        [a, b] if compares || chooses => {
            let alike = !a.is_tuple() && a.is_meant() && b.is_meant();
            (alike && a.common(b).is_some()).then_some(Does::Alike(chooses))
        }
        [Elt::Time(a), Elt::Time(b)] => match (op, a.is_date(), b.is_date()) {
            (Op::Sub, true, true) | (Op::Add | Op::Sub, false, false) => Some(Does::Count(false)),
            (Op::Sub, true, false) | (Op::Add, true, false) | (Op::Add, false, true) => {
                Some(Does::Count(true))
            }
            (Op::Div, false, false) => Some(Does::Ratio),
            _ => None,
        },
        [Elt::Time(time), Elt::Scalar(ty)] | [Elt::Scalar(ty), Elt::Time(time)] => {
            let repeats = op == Op::Mul && ty.is_int() && !time.is_date();
            repeats.then_some(Does::Count(false))
        }
        _ => None,
    }
}

/// Returns the noun for an element, in messages.
pub fn noun(elt: &Elt) -> &'static str {
    match elt {
        Elt::Text(_) => "text",
        Elt::Time(time) if time.is_date() => "a date",
        Elt::Time(_) => "a time span",
        Elt::Scalar(Ty::Bool) => "a bool",
        Elt::Scalar(_) | Elt::Count => "a number",
        Elt::Maybe(_) => "a value that may be missing",
        Elt::Tuple(_) => "a tuple",
        Elt::Row(..) => "a row",
    }
}

fn number(n: i64) -> Field {
    Field::literal(Const::new(Ty::I64, n as u64))
}

/// Looks up the entry of a table at a code.
pub fn looked_up(code: Field, table: Buffer, loc: Loc) -> Option<Field> {
    if let Some(code) = code.as_literal() {
        let word = table.get_word(code.bits as usize)?;
        return Some(Field::literal(Const::new(table.ty(), word)));
    }
    let table = Builder::at("labels", loc).manifest(vec![Arc::new(table)]);
    Field::at(&table, &[code.cast(Ty::U64, loc)], loc)
        .first()
        .copied()
}
