//! `scatter` and `reduce_by_index`: values put at computed indices of a copy of the base, in order.
//!
//! ```text
//! init_3:   let out_3 = copyArray arr_0          yield_3:  trap unless ok_3, t0 (elt_1, len_0)
//! body_3:   let ok_3 = lt elt_1 len_0                      scatterArray out_3 elt_1 elt_2 with add
//! ```

use super::anatomy::{Anatomy, Lower};
use super::body::{self, Inline};
use super::operators;
use crate::ast::{Body, Kind, Term};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;

/// Lowers a scatter.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let graph = a.graph;
    let node = &graph.nodes[id.index()];
    let Kind::Scatter(combine) = &node.node.kind else {
        return Ok(());
    };
    let spot = a.spot_of(id, 1..3)?;
    let comb = a.comb_at(id, spot);
    super::lengths::check_together(a, id, 1..3, spot)?;
    let (arrays, len) = targets(a, id)?;
    let index_column = a.columns(id, 1..2);
    let index = a.elt(index_column[0], spot)?;
    let value_columns = a.columns(id, 2..3);
    let values = value_columns
        .into_iter()
        .map(|f| a.elt(f, spot))
        .collect::<Result<Vec<_>, _>>()?;
    let ok = a.emit(comb, Section::Body, "ok", Op::Lt, &[index, len]);
    a.trap(
        comb,
        Section::Yield,
        TrapKind::OutOfRange,
        ok.into(),
        &[index, len],
    );
    match combine {
        Some(op) if !op.captures.is_empty() => {
            read_modify_write(a, (id, comb), op, &arrays, index, &values)?
        }
        _ => {
            let combine = match combine {
                Some(op) => Some(operators::combine(a, id, 0, op)?),
                None => None,
            };
            let kind = StmtKind::ScatterArray {
                arrays: arrays.clone(),
                index,
                values,
                combine,
            };
            a.push(comb, Section::Yield, kind);
        }
    }
    for (field, array) in arrays.into_iter().enumerate() {
        a.scattered.insert((id, field as u32), array);
    }
    Ok(())
}

/// The arrays that are scattered into, and their length: filled with the base's value if it is one value
/// repeated that nobody else needs in memory, else copied.
fn targets(a: &mut Anatomy<'_>, id: NodeId) -> Lower<(Vec<Var>, Atom)> {
    let graph = a.graph;
    let base = graph.nodes[id.index()].inputs[0];
    let comb = a.comb(id);
    let mut arrays = Vec::new();
    if crate::fusion::is_constant(graph, base)
        && !a.is_in_memory(base)
        && let Kind::Generate(length, body) = &graph.node(base).kind
    {
        let len = super::generate::length(a, base, length)?;
        let from = a.comb(base);
        let inline = Inline::new(base, last_body(a, base), from, Section::Init);
        let zero = loop_lang::types::Const::u64(0).into();
        let values = body::inline(a, &inline, body, &[zero], "fill")?;
        for value in values {
            let out = a.var("out", comb, Type::Array(a.program.atom_ty(value)));
            a.push(comb, Section::Init, StmtKind::FillArray(out, len, value));
            arrays.push(out);
        }
        return Ok((arrays, len));
    }
    let mut len = loop_lang::types::Const::u64(0).into();
    for field in graph.fields(base) {
        let source = a.random(field);
        let out = a.var("out", comb, a.program.ty(source));
        a.push(comb, Section::Init, StmtKind::CopyArray(out, source));
        // The copy's length: the original may be gone, if nobody else needs it.
        len = a.array_len(out, comb);
        arrays.push(out);
    }
    Ok((arrays, len))
}

fn last_body(a: &Anatomy<'_>, id: NodeId) -> usize {
    a.graph.nodes[id.index()].captures.len() - 1
}

/// An operator that uses captured arrays or scalars is inlined around a read and a write.
fn read_modify_write(
    a: &mut Anatomy<'_>,
    (id, comb): (NodeId, CombId),
    op: &Body,
    arrays: &[Var],
    index: Atom,
    values: &[Atom],
) -> Lower {
    let mut args = Vec::new();
    for array in arrays {
        let old = a.scalar("old", comb, a.program.ty(*array).elem());
        a.push(
            comb,
            Section::Yield,
            StmtKind::ReadArray(old, *array, index),
        );
        args.push(old.into());
    }
    args.extend_from_slice(values);
    debug_assert!(
        op.terms
            .iter()
            .any(|t| matches!(t.term, Term::Scalar { .. } | Term::At { .. }))
    );
    let inline = Inline::new(id, 0, comb, Section::Yield);
    let new = body::inline(a, &inline, op, &args, "new")?;
    for (array, value) in arrays.iter().zip(new) {
        a.push(
            comb,
            Section::Yield,
            StmtKind::WriteArray(*array, index, value),
        );
    }
    Ok(())
}
