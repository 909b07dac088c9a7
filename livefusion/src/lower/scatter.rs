//! `scatter` and `reduce_by_index`: values put at computed indices of a copy of the base, in order.
//!
//! ```text
//! init_3:   let out_3 = copyArray arr_0          yield_3:  trap unless ok_3, t0 (elt_1, len_0)
//! body_3:   let ok_3 = lt elt_1 len_0                      scatterArray out_3 elt_1 elt_2 with add
//! ```

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Placer, Spot};
use super::{generate, operators};
use crate::ast::{Body, Kind, Places, Term};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;

/// Places a scatter: where its indices and values have an element.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let spot = p.spot_of(id, 1..3)?;
    super::lengths::check_together(p, id, 1..3, spot);
    p.input_elts(id, 1..3, spot)?;
    p.run(id, spot);
    Ok(())
}

/// Emits a scatter.
pub fn emit(e: &mut Emission<'_>, id: NodeId, spot: Spot) -> Lower {
    let graph = e.scope.graph;
    let Kind::Scatter(combine, places) = &graph.node(id).kind else {
        return Ok(());
    };
    let comb = e.comb_at(id, spot);
    let (arrays, len) = targets(e, id)?;
    let columns = e.scope.columns(id, 1..3).into_iter();
    let elements = columns.map(|c| e.elt(c, spot));
    let mut values = elements.collect::<Result<Vec<_>, _>>()?;
    let index = values.remove(0);
    if *places == Places::Anywhere {
        let ok = e.emit(comb, Section::Body, "ok", Op::Lt, &[index, len]);
        let payload = [index, len];
        e.trap(
            comb,
            Section::Yield,
            TrapKind::OutOfRange,
            ok.into(),
            &payload,
        );
    }
    match combine {
        Some(op) if !op.captures.is_empty() || may_trap(op) => {
            read_modify_write(e, (id, comb), op, &arrays, index, &values)?
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

/// The arrays that are scattered into, and their length: filled with the base's value if it is one value
/// repeated that nobody else needs in memory, else copied.
fn targets(e: &mut Emission<'_>, id: NodeId) -> Lower<(Vec<Var>, Atom)> {
    let graph = e.scope.graph;
    let base = graph.nodes[id.index()].inputs[0];
    let comb = e.comb(id);
    let mut arrays = Vec::new();
    // An earlier phase has made them.
    let fields = 0..graph.node(id).types.len() as u32;
    let made = fields.map(|f| e.values.made.get(&(id, f)).copied());
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
        return Ok((arrays, len));
    }
    let mut len = loop_lang::types::Const::u64(0).into();
    for field in graph.fields(base) {
        let source = e.random(field);
        let out = e.var("out", comb, e.program.ty(source));
        e.push(comb, Section::Init, StmtKind::CopyArray(out, source));
        // The copy's length: the original may be gone, if nobody else needs it.
        len = e.array_len(out, comb);
        arrays.push(out);
    }
    Ok((arrays, len))
}

/// Whether an operator without captures may trap: combine functions do not.
fn may_trap(op: &Body) -> bool {
    op.terms.iter().any(|data| match &data.term {
        Term::Op(operator, args) if operator.may_trap(data.ty) => {
            let divisor = args.get(1).map(|by| &op.terms[by.index()].term);
            !matches!(divisor, Some(Term::Lit(c)) if body::divides_all(*c))
        }
        Term::Ensure(..) => true,
        _ => false,
    })
}

/// An operator that uses captured arrays or scalars, or may trap, is inlined around a read and a write.
fn read_modify_write(
    e: &mut Emission<'_>,
    (id, comb): (NodeId, CombId),
    op: &Body,
    arrays: &[Var],
    index: Atom,
    values: &[Atom],
) -> Lower {
    let mut args = Vec::new();
    for array in arrays {
        let old = e.scalar("old", comb, e.program.ty(*array).elem());
        e.push(
            comb,
            Section::Yield,
            StmtKind::ReadArray(old, *array, index),
        );
        args.push(old.into());
    }
    args.extend_from_slice(values);
    let inline = Inline::new(id, 0, comb, Section::Yield);
    let new = body::inline(e, &inline, op, &args, "new")?;
    for (array, value) in arrays.iter().zip(new) {
        e.push(
            comb,
            Section::Yield,
            StmtKind::WriteArray(*array, index, value),
        );
    }
    Ok(())
}
