//! `scatter` and `reduce_by_index`: write values at computed indices.
//!
//! They update a copy of the base, in order. `scan_by_index` also returns the element at each
//! index.
//!
//! ```text
//! init_3:   let out_3 = copyArray arr_0          yield_3:  trap unless ok_3, t0 (elt_1, len_0)
//! body_3:   let ok_3 = lt elt_1 len_0                      scatterArray out_3 elt_1 elt_2 with add
//!
//! init_4:   let out_4 = copyArray arr_0          body_4:   let old_4 = readArray out_4 elt_1
//! yield_4:  writeArray out_4 elt_1 elt_4                   let elt_4 = add old_4 elt_2
//! ```

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Placer, Point};
use super::{generate, operators};
use crate::ast::{Body, Kind, Places, ScanKind};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;

/// Places a running fold by index, in step with its indices and values.
pub fn place_scan(p: &mut Placer<'_>, id: NodeId) -> Lower {
    if p.is_undemanded(id) {
        return Ok(());
    }
    let point = p.point_of(id, 1..3)?;
    super::lengths::check_together(p, id, 1..3, point);
    p.input_elts(id, 1..3, point)?;
    p.run(id, point);
    p.know_all(id, point);
    Ok(())
}

/// Places a scatter in step with its indices and values.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let point = p.point_of(id, 1..3)?;
    super::lengths::check_together(p, id, 1..3, point);
    p.input_elts(id, 1..3, point)?;
    p.run(id, point);
    Ok(())
}

/// Emits a scatter.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let graph = e.scope.graph;
    let Kind::Scatter(combine, places) = &graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, point);
    let at = (id, comb, Section::Yield);
    let JoinedUpdate {
        arrays,
        index,
        values,
    } = joined(e, at, point, *places)?;
    match combine {
        Some(op) if !op.captures.is_empty() || op.may_trap() || !is_join(op) => {
            let old = read(e, (comb, Section::Yield), &arrays, index);
            let new = step(e, at, op, old, &values)?;
            write(e, comb, &arrays, index, &new);
        }
        _ => {
            let combine = match combine {
                Some(op) => Some(operators::combine(e, id, 0, op)?),
                None => None,
            };
            let kind = StmtKind::ScatterArray {
                arrays: arrays.clone(),
                index,
                values,
                combine,
            };
            e.push(comb, Section::Yield, kind);
        }
    }
    let made = (0..).zip(arrays).map(|(f, array)| ((id, f), array));
    e.values.made.extend(made);
    Ok(())
}

/// Whether a step takes two elements of one type.
fn is_join(step: &Body) -> bool {
    let (old, new) = step
        .params
        .split_at(step.results.len().min(step.params.len()));
    old == new
}

/// Emits a running fold by index.
///
/// It reads an element in `body`, for other consumers, and writes it back in `yield`.
pub fn emit_scan(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let graph = e.scope.graph;
    let Kind::ScanByIndex(op, kind, places) = &graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, point);
    let at = (id, comb, Section::Body);
    let JoinedUpdate {
        arrays,
        index,
        values,
    } = joined(e, at, point, *places)?;
    let old = read(e, (comb, Section::Body), &arrays, index);
    let new = step(e, at, op, old.clone(), &values)?;
    write(e, comb, &arrays, index, &new);
    let elements = match kind {
        ScanKind::Exclusive => old,
        ScanKind::Inclusive => new,
    };
    for (field, element) in (0..).zip(elements) {
        e.values.set_column((id, field).into(), point, element);
    }
    Ok(())
}

/// The arrays, index and values of an update.
struct JoinedUpdate {
    arrays: Vec<Var>,
    index: Atom,
    values: Vec<Atom>,
}

/// The arrays, index and values of an update at a program point. The index is checked in the
/// section of its first use.
fn joined(
    e: &mut Emission<'_>,
    (id, comb, section): (NodeId, CombId, Section),
    point: Point,
    places: Places,
) -> Lower<JoinedUpdate> {
    let (arrays, len) = bases(e, id)?;
    let columns = e.scope.columns(id, 1..3).into_iter();
    let elements = columns.map(|c| e.elt(c, point));
    let mut values = elements.collect::<Result<Vec<_>, _>>()?;
    let index = values.remove(0);
    if places == Places::Anywhere {
        let ok = e
            .emit(comb, Section::Body, "ok", Op::Lt, &[index, len])
            .into();
        e.trap(comb, section, TrapKind::OutOfRange, ok, &[index, len]);
    }
    Ok(JoinedUpdate {
        arrays,
        index,
        values,
    })
}

/// The arrays to update, and their length. An array is filled if its base is one repeated value and
/// no other consumer needs the base in memory. Otherwise it is copied.
fn bases(e: &mut Emission<'_>, id: NodeId) -> Lower<(Vec<Var>, Atom)> {
    let graph = e.scope.graph;
    let base = graph.nodes[id.index()].inputs[0];
    let comb = e.comb(id);
    let mut arrays = Vec::new();
    // An earlier phase has made them.
    let fields = 0..graph.node(id).types.len() as u32;
    let made = fields.map(|f| e.values.bases.get(&(id, f)).copied());
    if let Some(made) = made.collect::<Option<Vec<Var>>>()
        && let Some(first) = made.first().copied()
    {
        let len = e.array_len(first, comb);
        return Ok((made, len));
    }
    if let Some(base) = crate::fusion::constant(graph, base)
        && !e.scope.is_in_memory(base)
        && let Kind::Generate(_, body) = &graph.node(base).kind
    {
        let from = e.comb(base);
        let len = e.length(generate::length(&e.scope, base), from)?;
        let inline = Inline::new(base, generate::last_body(e, base), from, Section::Init);
        let zero = loop_lang::types::Const::u64(0).into();
        let values = body::inline(e, &inline, body, &[zero], "fill")?;
        for value in values {
            let out = e.var("out", comb, Type::Array(e.program.atom_ty(value)));
            e.push(comb, Section::Init, StmtKind::FillArray(out, len, value));
            arrays.push(out);
        }
        note(e, id, &arrays);
        return Ok((arrays, len));
    }
    let mut len = loop_lang::types::Const::u64(0).into();
    for field in graph.fields(base) {
        let source = e.random(field);
        let out = e.var("out", comb, e.program.ty(source));
        e.push(comb, Section::Init, StmtKind::CopyArray(out, source));
        // Use the copy's length. The original is freed early if it has no other consumer.
        len = e.array_len(out, comb);
        arrays.push(out);
    }
    note(e, id, &arrays);
    Ok((arrays, len))
}

/// Registers the arrays of a node for later phases.
fn note(e: &mut Emission<'_>, id: NodeId, arrays: &[Var]) {
    let fields = (0..).map(|f| (id, f));
    e.values.bases.extend(fields.zip(arrays.iter().copied()));
}

/// Reads the elements at an index.
fn read(
    e: &mut Emission<'_>,
    (comb, section): (CombId, Section),
    arrays: &[Var],
    index: Atom,
) -> Vec<Atom> {
    let mut all = Vec::with_capacity(arrays.len());
    for array in arrays {
        let old = e.scalar("old", comb, e.program.ty(*array).elem());
        e.push(comb, section, StmtKind::ReadArray(old, *array, index));
        all.push(old.into());
    }
    all
}

/// Applies an operator to the old elements and the values. The operator may use captured arrays or
/// scalars, trap, or loop.
fn step(
    e: &mut Emission<'_>,
    (id, comb, section): (NodeId, CombId, Section),
    op: &Body,
    mut old: Vec<Atom>,
    values: &[Atom],
) -> Lower<Vec<Atom>> {
    old.extend_from_slice(values);
    let inline = Inline::new(id, 0, comb, section);
    body::inline(e, &inline, op, &old, "new")
}

fn write(e: &mut Emission<'_>, comb: CombId, arrays: &[Var], index: Atom, new: &[Atom]) {
    for (array, value) in arrays.iter().zip(new) {
        let kind = StmtKind::WriteArray(*array, index, *value);
        e.push(comb, Section::Yield, kind);
    }
}
