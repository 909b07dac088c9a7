//! Tables and dates: groups, aggregates, joins, `head`; parsed dates, time spans.

use super::{COUNT, Combinator, F1, Keywords, Kind, XS, row};
use crate::diagnostic::{Diagnostic, shown};
use crate::eval::{Call, Form, Result, Site, looked_up, read_date};
use crate::meaning::{DAY, SECOND, Time};
use crate::syntax::{Expr, ExprKind, Field as Named, Literal};
use crate::value::{Elt, Value};
use livefusion::ast::{Buffer, Const, Field, Fields, Node, Op};
use livefusion::io::Labels;
use livefusion::nested::{OfAll, SegmentPart};
use livefusion::ranked::Amount;
use livefusion::segmented::Segments;
use loop_lang::Ty;
use std::sync::Arc;

/// The number of elements that `head` returns.
const HEAD: u64 = 5;

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("head", &[XS], "[T] => [T], the first 5", "(1..10).head()", |c| {
        let xs = c.array(0)?;
        c.give(c.builder.take_n(&xs.node, Amount::Known(HEAD)), xs.elt)
    }),
    row("group_by", &[XS, Kind::Key], "([T], T -> key) => groups, or ([T], (T, T) -> bool) => ([T], [u64])", "[1, 2, 5, 3, 4, 1].group_by(|a, b| a < b)", group_by),
    row("agg", &[Kind::Any, F1], "(groups, [T] -> (\"name\", U), …) => table", "[3, 1, 4, 5].group_by(_ % 2).agg((\"n\", _.len()), (\"sum\", _.sum()))", agg).repeated().named(Keywords::Columns),
    row("date", &[Kind::Any], "text => date", "date(\"2024-03-01\") - date(\"2024-02-28\")", date),
    row("days", &[Kind::Any], "n => days", "date(\"2024-02-28\") + days(2)", |c| spans(c, Time::Days, 1)),
    row("hours", &[Kind::Any], "n => duration", "date(\"2024-02-28 05:00\") - hours(6)", |c| spans(c, Time::Span, 3600 * SECOND)),
    row("minutes", &[Kind::Any], "n => duration", "minutes(90)", |c| spans(c, Time::Span, 60 * SECOND)),
    row("seconds", &[Kind::Any], "n => duration", "days(1) / seconds(1)", |c| spans(c, Time::Span, SECOND)),
];

/// Groups elements by key, or groups runs of neighbours by a test.
fn group_by(c: &mut Call<'_, '_>) -> Result<Value> {
    let xs = c.array(0)?;
    if c.parameters(1) != Some(1) {
        let same = c.test(1, &[&xs.elt, &xs.elt])?;
        let (first, lengths) = c.builder.group_by(&xs.node, &same);
        let lengths = c.give(lengths, COUNT)?;
        return Ok(Value::Tuple(vec![c.give(first, xs.elt)?, lengths]));
    }
    let (key, elt) = c.function(1, &[&xs.elt], None)?;
    let elt = match elt {
        Elt::Row(..) => elt,
        Elt::Tuple(parts) => Elt::Row(key_names(c.value(1), parts.len()), parts),
        other => Elt::Row(key_names(c.value(1), 1), vec![other]),
    };
    let keys = c.builder.map(std::slice::from_ref(&xs.node), key);
    let (found, groups) = c.builder.group_by_key(&xs.node, &keys);
    let groups = c.give_segments(groups, xs.elt)?;
    Ok(Value::Tuple(vec![c.give(found, elt)?, groups]))
}

/// The names of a key's parts: the names of their columns if they are columns, else `key`, or
/// `key0`, `key1` and so on.
fn key_names(f: &Value, n: usize) -> Arc<[String]> {
    fn of(e: &Expr) -> Option<String> {
        match &e.kind {
            ExprKind::Field {
                field: Named::Name(name),
                ..
            } => Some(name.text.clone()),
            ExprKind::Index { items, .. } => match items.as_slice() {
                [
                    Expr {
                        kind: ExprKind::Literal(Literal::Text(name)),
                        ..
                    },
                ] => Some(name.clone()),
                _ => None,
            },
            _ => None,
        }
    }
    let parts = match f {
        Value::Function(f) => match &f.function.body.kind {
            ExprKind::Tuple(parts) if n != 1 => parts.iter().map(of).collect(),
            _ => vec![of(&f.function.body)],
        },
        _ => Vec::new(),
    };
    let mut names: Vec<String> = Vec::new();
    for k in 0..n {
        let default = if n == 1 {
            "key".to_string()
        } else {
            format!("key{k}")
        };
        let name = parts.get(k).cloned().flatten().unwrap_or(default);
        names.push(free_name(name, &names));
    }
    names.into()
}

/// Returns the name, with suffixes if it is taken.
fn free_name(mut name: String, taken: &[String]) -> String {
    while taken.contains(&name) {
        name += "_2";
    }
    name
}

/// The name and the function of a column, from `n = _.len()`. A plain function has no name.
fn column(of: &Value) -> (Option<String>, Value) {
    if let Value::Tuple(parts) = of
        && let [Value::Text(name), f] = parts.as_slice()
    {
        return (Some(name.to_string()), f.clone());
    }
    (None, of.clone())
}

/// A row for each group: its key, and the results of the aggregate functions.
fn agg(c: &mut Call<'_, '_>) -> Result<Value> {
    let (keys, groups) = match c.value(0) {
        Value::Tuple(parts) => match parts.as_slice() {
            [Value::Array(keys), Value::Segmented(groups)] if matches!(keys.elt, Elt::Row(..)) => {
                (keys.clone(), groups.clone())
            }
            _ => return no_groups(c),
        },
        _ => return no_groups(c),
    };
    let functions: Vec<_> = c.from(1).map(|k| (column(c.value(k)), c.at(k))).collect();
    let Elt::Row(names, elts) = keys.elt else {
        return no_groups(c);
    };
    let (mut names, mut elts) = (names.to_vec(), elts);
    let (lengths, data) = (groups.lengths, groups.data);
    let parts = [SegmentPart::Segments(Segments {
        lengths,
        data: data.node,
    })];
    let (builder, span) = (c.builder, c.span);
    let form = Form::Array(data.elt);
    let all = c.eval.on_arrays(|eval, wrong| {
        builder.map_segments(&parts, |nodes| {
            let mut results = Vec::new();
            let group = eval.formed(&form, &mut nodes.iter().cloned(), span);
            let Some(group) = wrong.keep(group) else {
                return results;
            };
            for ((own, f), at) in &functions {
                let made = eval.call(f, vec![group.clone()], *at).and_then(|made| {
                    let (name, value) = match own {
                        Some(name) => (name.clone(), made),
                        None => named(made).ok_or_else(|| unnamed(*at))?,
                    };
                    if names.contains(&name) {
                        return eval
                            .refuse(format!("there are two columns `{}`", shown(&name)), *at);
                    }
                    match eval.parts_of(value, &mut results, *at)? {
                        Form::Array(elt) => Ok((name, elt)),
                        _ => eval.refuse("expected one value for each group", *at),
                    }
                });
                let Some((name, elt)) = wrong.keep(made) else {
                    return results;
                };
                names.push(name);
                elts.push(elt);
            }
            results
        })
    })?;
    let mut nodes = vec![keys.node];
    for made in all {
        match made {
            OfAll::Each(node) => nodes.push(node),
            _ => {
                return c
                    .eval
                    .refuse("expected one value for each group, as `_.sum()` is", c.span);
            }
        }
    }
    let node = c.builder.zip(&nodes);
    c.give(node, Elt::Row(names.into(), elts))
}

/// A name and a value.
fn named(made: Value) -> Option<(String, Value)> {
    match made {
        Value::Tuple(parts) => match <[Value; 2]>::try_from(parts).ok()? {
            [Value::Text(name), value] => Some((name.to_string(), value)),
            _ => None,
        },
        _ => None,
    }
}

fn unnamed(at: crate::source::Span) -> Box<Diagnostic> {
    let message = "expected a name and a value, as `(\"n\", _.len())` is";
    Box::new(Diagnostic::new(message, at))
}

fn no_groups(c: &mut Call<'_, '_>) -> Result<Value> {
    let message = format!("expected groups, got {}", c.value(0).describe());
    let note = "`t.group_by(_.state)` gives groups";
    Err(Box::new(Diagnostic::new(message, c.at(0)).note(note)))
}

/// Joins two tables on equal columns of these names.
///
/// Without names, it uses the columns that both have.
pub fn join_tables(c: &mut Call<'_, '_>) -> Result<Value> {
    let (left, right) = (c.array(0)?, c.array(1)?);
    let (Elt::Row(names, elts), Elt::Row(other_names, others)) = (&left.elt, &right.elt) else {
        return c
            .eval
            .refuse("expected two tables to join by names of columns", c.span);
    };
    let mut on = Vec::new();
    for k in c.from(2) {
        match c.value(k) {
            Value::Text(name) => on.push((name.to_string(), c.at(k))),
            other => {
                let message = format!("expected the name of a column, got {}", other.describe());
                return c.eval.refuse(message, c.at(k));
            }
        }
    }
    if on.is_empty() {
        let common = names.iter().filter(|name| other_names.contains(name));
        on = common.map(|name| (name.clone(), c.span)).collect();
    }
    if on.is_empty() {
        return c
            .eval
            .refuse("the two tables have no column of one name", c.span);
    }
    let (own, other) = (Value::Array(left.clone()), Value::Array(right.clone()));
    let (mut keys, mut other_keys) = (Vec::new(), Vec::new());
    for (name, at) in &on {
        let sides = [
            c.eval.column(&own, name, *at)?,
            c.eval.column(&other, name, *at)?,
        ];
        let [own, other] = c.eval.alike_arrays(sides, *at)?;
        keys.push(own.node);
        other_keys.push(other.node);
    }
    let pairs = c
        .builder
        .join(&c.builder.zip(&keys), &c.builder.zip(&other_keys));
    let [at, other_at] = [0..1, 1..2].map(|range| c.builder.fields(&pairs, range));
    let mut nodes = vec![c.builder.gather(&left.node, &at)];
    let (mut names, mut elts) = (names.to_vec(), elts.clone());
    let mut from = 0;
    let mut rest: Vec<Arc<Node>> = Vec::new();
    for (name, elt) in other_names.iter().zip(others) {
        let next = from + elt.fields() as u32;
        if !on.iter().any(|(key, _)| key == name) {
            rest.push(c.builder.fields(&right.node, from..next));
            let name = match names.contains(name) {
                true => format!("{name}_right"),
                false => name.clone(),
            };
            names.push(free_name(name, &names));
            elts.push(elt.clone());
        }
        from = next;
    }
    if !rest.is_empty() {
        nodes.push(c.builder.gather(&c.builder.zip(&rest), &other_at));
    }
    let node = c.builder.zip(&nodes);
    c.give(node, Elt::Row(names.into(), elts))
}

/// Parses dates from texts.
fn date(c: &mut Call<'_, '_>) -> Result<Value> {
    let (value, at) = (c.value(0).clone(), c.at(0));
    let elt = match &value {
        Value::Text(text) => return c.eval.date(text, at),
        other => other.elt(),
    };
    match elt {
        Some(Elt::Time(time)) if time.is_date() => Ok(value),
        Some(Elt::Text(labels)) => {
            let (counts, time) = dates(&labels).or_else(|e| c.eval.refuse(e, at))?;
            let site = Site {
                name: "date",
                span: c.span,
                operands: &[at],
            };
            c.eval.elementwise(site, vec![value], &mut |eval, values| {
                let (fields, _) = eval.fields(values[0].clone(), None, at)?;
                let loc = eval.loc(at);
                let counts = Buffer::from_vec(counts.clone());
                let count = fields
                    .first()
                    .and_then(|code| looked_up(*code, counts, loc));
                match count {
                    Some(count) => Ok((Fields::from_slice(&[count]), Elt::Time(time))),
                    None => eval.refuse("expected a text", at),
                }
            })
        }
        _ => {
            let message = format!("expected text that says a date, got {}", value.describe());
            c.eval.refuse(message, at)
        }
    }
}

/// The counts of the dates in labels, and their unit. The unit is that of date-times if any label
/// has a time.
fn dates(labels: &Labels) -> std::result::Result<(Vec<i64>, Time), String> {
    let all: Vec<(i64, Time)> = labels
        .iter()
        .map(read_date)
        .collect::<std::result::Result<_, _>>()?;
    let is_fine = all.iter().any(|(_, time)| time.is_fine());
    let count = |(count, time): &(i64, Time)| match is_fine && !time.is_fine() {
        true => count.saturating_mul(DAY),
        false => *count,
    };
    Ok((all.iter().map(count).collect(), Time::of(true, is_fine)))
}

/// Multiples of a time unit.
fn spans(c: &mut Call<'_, '_>, time: Time, unit: i64) -> Result<Value> {
    let (value, at) = (c.value(0).clone(), c.at(0));
    let site = Site {
        name: c.builder.name(),
        span: c.span,
        operands: &[at],
    };
    c.eval.elementwise(site, vec![value], &mut |eval, values| {
        let (fields, elt) = eval.fields(values[0].clone(), None, at)?;
        match (fields.as_slice(), elt.scalar()) {
            ([n], Some(ty)) if ty.is_int() => {
                let loc = eval.loc(at);
                let unit = Field::literal(Const::new(Ty::I64, unit as u64));
                let count = Field::op(Op::Mul, &[n.cast(Ty::I64, loc), unit], loc);
                Ok((Fields::from_slice(&[count]), Elt::Time(time)))
            }
            _ => eval.refuse(format!("expected an integer, got {elt}"), at),
        }
    })
}
