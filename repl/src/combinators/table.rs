//! The combinators, and what builds each: its untyped form of the library, with the types of its elements.

use super::scalars::{MAX, MIN};
use super::{Combinator, Kind};
use crate::eval::{Call, Result};
use crate::value::{Array, Elt, Segmented, Value};
use livefusion::ast::{Axis, Body, Fold, FoldStyle, ScanKind, Shape};
use loop_lang::{Const, Op, Ty};

type Build = fn(&mut Call<'_, '_>) -> Result<Value>;

const fn row(
    name: &'static str,
    params: &'static [Kind],
    ty: &'static str,
    example: &'static str,
    build: Build,
) -> Combinator {
    Combinator {
        name,
        aliases: &[],
        params,
        optional: 0,
        repeats: false,
        ty,
        example,
        scalar: None,
        build,
    }
}

impl Combinator {
    const fn also(self, aliases: &'static [&'static str]) -> Combinator {
        Combinator { aliases, ..self }
    }

    const fn repeated(self) -> Combinator {
        Combinator {
            repeats: true,
            ..self
        }
    }
}

const F1: Kind = Kind::Function(1);
const F2: Kind = Kind::Function(2);
const XS: Kind = Kind::Array;

/// All of them.
#[rustfmt::skip]
pub static TABLE: &[Combinator] = &[
    row("map", &[XS, F1], "([T], T -> U) => [U]", "[1, 2, 3].map(_ * 2)", map),
    row("filter", &[XS, F1], "([T], T -> bool) => [T]", "(1..10).filter(_ % 2 == 0)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.filter(&xs.node, test), xs.elt)
    }),
    row("pack", &[XS, XS], "([T], [bool]) => [T]", "[1, 2, 3].pack([true, false, true])", |c| {
        let (xs, tags) = (c.array(0)?, c.array(1)?);
        c.give(c.builder.pack(&xs.node, &tags.node), xs.elt)
    }),
    row("zip", &[XS, XS], "([T], [U], …) => [(T, U, …)]", "[1, 2].zip([0.5, 1.5])", zip).repeated(),
    row("zip_with", &[XS, XS, F2], "([T], [U], (T, U) -> V) => [V]", "[1, 2].zip_with([10, 20], |x, y| x + y)", |c| {
        let (xs, ys) = (c.array(0)?, c.array(1)?);
        let (f, elt) = c.function(2, &[&xs.elt, &ys.elt], None)?;
        c.give(c.builder.map(&[xs.node, ys.node], f), elt)
    }),
    row("zip_shortest", &[XS, XS], "([T], [U], …) => [(T, U, …)]", "[1, 2, 3].zip_shortest([0.5])", |c| {
        let (nodes, elt) = arrays(c)?;
        c.give(c.builder.zip_shortest(&nodes), elt)
    }).repeated(),
    row("fold", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => T", "(1..=5).fold(1, |a, b| a * b)", |c| {
        let xs = c.array(0)?;
        let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
        let style = if elt == xs.elt { FoldStyle::Associative } else { FoldStyle::Sequential };
        c.give(c.builder.fold(&xs.node, Fold { start, step, style }), elt)
    }).also(&["reduce"]),
    row("fold_seq", &[XS, Kind::Number, F2], "([T], S, (S, T) -> S) => S", "[1, 2, 3].fold_seq(0, |s, x| s * 10 + x)", |c| {
        let xs = c.array(0)?;
        let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
        let style = FoldStyle::Sequential;
        c.give(c.builder.fold(&xs.node, Fold { start, step, style }), elt)
    }),
    row("fold1", &[XS, F2], "([T], (T, T) -> T) => T", "[3, 1, 2].fold1(|a, b| a.max(b))", |c| {
        let xs = c.array(0)?;
        let (step, elt) = c.function(1, &[&xs.elt, &xs.elt], Some(&xs.elt))?;
        let (start, style) = (Body::default(), FoldStyle::First);
        c.give(c.builder.fold(&xs.node, Fold { start, step, style }), elt)
    }),
    row("scan", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan(0, |a, b| a + b)", |c| {
        scan(c, ScanKind::Inclusive)
    }),
    row("scan_exclusive", &[XS, Kind::Number, F2], "([T], T, (T, T) -> T) => [T]", "[1, 2, 3].scan_exclusive(0, |a, b| a + b)", |c| {
        scan(c, ScanKind::Exclusive)
    }),
    row("sum", &[XS], "[T] => T", "(1..=100).sum()", |c| total(c, Op::Add, 0)),
    row("product", &[XS], "[T] => T", "(1..=5).product()", |c| total(c, Op::Mul, 1)),
    Combinator { scalar: Some(&MIN), ..row("min", &[XS], "[T] => T", "[3, 1, 2].min()", |c| extremum(c, Op::Min)) },
    Combinator { scalar: Some(&MAX), ..row("max", &[XS], "[T] => T", "[3, 1, 2].max()", |c| extremum(c, Op::Max)) },
    row("len", &[Kind::Any], "[T] => u64", "[1, 2, 3].len()", |c| {
        if let Value::Segmented(s) = c.value(0) {
            let lengths = s.lengths.clone();
            return c.give(c.builder.len(&lengths), Elt::Scalar(Ty::U64));
        }
        let xs = c.array(0)?;
        c.give(c.builder.len(&xs.node), Elt::Scalar(Ty::U64))
    }),
    row("take_while", &[XS, F1], "([T], T -> bool) => [T]", "(1..10).take_while(_ < 4)", |c| {
        let xs = c.array(0)?;
        let test = c.test(1, &[&xs.elt])?;
        c.give(c.builder.take_while(&xs.node, test, false), xs.elt)
    }),
    row("append", &[XS, XS], "([T], [T], …) => [T]", "[1, 2].append([3])", |c| {
        let first = c.array(0)?;
        let mut nodes = vec![first.node];
        for k in 1..c.len() {
            let other = c.array(k)?;
            c.same(k, &other.elt, &first.elt)?;
            nodes.push(other.node);
        }
        c.give(c.builder.append(&nodes), first.elt)
    }).repeated().also(&["concat"]),
    row("generate", &[Kind::Shape, F1], "(shape, index -> T) => [T]", "generate(3, |i| i * i)", generate),
    row("iota", &[Kind::Count], "n => [u64]", "iota(3)", |c| {
        let n = c.count(0)?;
        c.give_flat(c.builder.indices(&Shape::new([n])))
    }),
    row("replicate", &[Kind::Shape, Kind::Number], "(shape, T) => [T]", "replicate(3, 1.5)", |c| {
        let axes = c.shape(0)?;
        let at = c.at(1);
        let value = c.value(1).clone();
        let indices = c.builder.indices(&Shape::new(axes.clone()));
        let (body, elt) = c.eval.traced(&indices.types.clone(), at, |eval, _| eval.fields(value, None, at))?;
        let node = c.builder.map(&[indices], body);
        shaped(c, node, axes, elt)
    }),
    row("reshape", &[XS, Kind::Shape], "([T], shape) => [T]", "(1..=6).reshape((2, 3))", |c| {
        let xs = c.array(0)?;
        let axes = c.shape(1)?;
        let shape = (axes.len() > 1).then(|| Shape::new(axes));
        c.give(c.builder.reshape(&xs.node, shape), xs.elt)
    }),
    row("flatten", &[Kind::Any], "[[T]] => [T]", "[[1, 2], [3, 4]].flatten()", |c| {
        if let Value::Segmented(s) = c.value(0) {
            return Ok(Value::Array(s.data.clone()));
        }
        let xs = c.array(0)?;
        c.give(c.builder.reshape(&xs.node, None), xs.elt)
    }),
    row("scatter", &[XS, XS, XS], "([T], [index], [T]) => [T]", "[0, 0, 0].scatter([2, 0], [7, 8])", |c| {
        let (base, at, values) = (c.array(0)?, c.indices(1)?, c.array(2)?);
        c.give(c.builder.scatter(&base.node, &at, &values.node, None), base.elt)
    }),
    row("scatter_with", &[XS, XS, XS, F2], "([T], [index], [T], (T, T) -> T) => [T]", "[0, 0, 0].scatter_with([2, 2], [7, 8], |a, b| a + b)", |c| {
        let (base, at, values) = (c.array(0)?, c.indices(1)?, c.array(2)?);
        let (f, elt) = c.function(3, &[&base.elt, &base.elt], Some(&base.elt))?;
        c.give(c.builder.scatter(&base.node, &at, &values.node, Some(f)), elt)
    }),
    row("segmented", &[XS, XS], "([length], [T]) => segments", "segmented([2, 1], [1, 2, 3])", |c| {
        let (lengths, data) = (c.indices(0)?, c.array(1)?);
        Ok(Value::Segmented(Segmented { lengths, data }))
    }),
    row("lengths", &[Kind::Segments], "segments => [u64]", "(ragged [[1, 2], [3]]).lengths()", |c| {
        let s = c.segmented(0)?;
        c.give(s.lengths, Elt::Scalar(Ty::U64))
    }),
    row("data", &[Kind::Segments], "segments => [T]", "(ragged [[1, 2], [3]]).data()", |c| Ok(Value::Array(c.segmented(0)?.data))),
    row("load", &[Kind::Text], "\"file\" => table or array", "load \"airports.csv\"", crate::eval::files::load),
];

fn map(c: &mut Call<'_, '_>) -> Result<Value> {
    if let Value::Segmented(s) = c.value(0) {
        let s = s.clone();
        let (f, elt) = c.function(1, &[&s.data.elt], None)?;
        let node = c.builder.map(&[s.data.node], f);
        let data = Array { node, elt };
        return Ok(Value::Segmented(Segmented { data, ..s }));
    }
    let xs = c.array(0)?;
    let (f, elt) = c.function(1, &[&xs.elt], None)?;
    c.give(c.builder.map(&[xs.node], f), elt)
}

/// All arguments, and the tuple of their elements.
fn arrays(c: &mut Call<'_, '_>) -> Result<(Vec<std::sync::Arc<livefusion::ast::Node>>, Elt)> {
    let (mut nodes, mut elts) = (Vec::new(), Vec::new());
    for k in 0..c.len() {
        let xs = c.array(k)?;
        nodes.push(xs.node);
        elts.push(xs.elt);
    }
    Ok((nodes, Elt::Tuple(elts)))
}

fn zip(c: &mut Call<'_, '_>) -> Result<Value> {
    let (nodes, elt) = arrays(c)?;
    c.give(c.builder.zip(&nodes), elt)
}

fn scan(c: &mut Call<'_, '_>, kind: ScanKind) -> Result<Value> {
    let xs = c.array(0)?;
    let (start, step, elt) = c.start_and_step(1, &xs.elt)?;
    c.same(1, &elt, &xs.elt)?;
    let style = FoldStyle::Associative;
    c.give(
        c.builder.scan(&xs.node, Fold { start, step, style }, kind),
        elt,
    )
}

/// The elements' one scalar type.
fn number(c: &mut Call<'_, '_>, xs: &Array) -> Result<Ty> {
    match xs.elt.scalar().filter(|t| t.is_num()) {
        Some(ty) => Ok(ty),
        None => c
            .eval
            .refuse(format!("expected numbers, got {}", xs.elt), c.at(0)),
    }
}

fn total(c: &mut Call<'_, '_>, op: Op, unit: i64) -> Result<Value> {
    let xs = c.array(0)?;
    let ty = number(c, &xs)?;
    let unit = match ty.is_float() {
        true => crate::eval::float(unit as f64, ty),
        false => Const::int(ty, unit),
    };
    let mut b = livefusion::ast::BodyBuilder::new(&[]);
    let start = b.lit(unit);
    let fold = Fold {
        start: b.finish(&[start]),
        step: crate::eval::step(op, ty, c.builder.loc()),
        style: FoldStyle::Associative,
    };
    c.give(c.builder.fold(&xs.node, fold), xs.elt)
}

fn extremum(c: &mut Call<'_, '_>, op: Op) -> Result<Value> {
    let xs = c.array(0)?;
    let ty = number(c, &xs)?;
    let fold = Fold {
        start: Body::default(),
        step: crate::eval::step(op, ty, c.builder.loc()),
        style: FoldStyle::First,
    };
    c.give(c.builder.fold(&xs.node, fold), xs.elt)
}

fn generate(c: &mut Call<'_, '_>) -> Result<Value> {
    let axes = c.shape(0)?;
    let indices = c.builder.indices(&Shape::new(axes.clone()));
    let index = Elt::of(&indices.types);
    let (body, elt) = c.function(1, &[&index], None)?;
    let node = c.builder.map(&[indices], body);
    shaped(c, node, axes, elt)
}

/// Elements row by row, under a shape.
fn shaped(
    c: &mut Call<'_, '_>,
    node: std::sync::Arc<livefusion::ast::Node>,
    axes: Vec<Axis>,
    elt: Elt,
) -> Result<Value> {
    let shape = (axes.len() > 1).then(|| Shape::new(axes));
    c.give(c.builder.reshape(&node, shape), elt)
}
