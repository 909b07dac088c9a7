//! Sorts of segments: two passes over each segment, with a sort between them.
//!
//! The first pass writes the segment to a buffer. The buffer is sorted, and the second pass reads
//! it.
//!
//! ```text
//! body_1:   let at_2 = sub ix_1 first_1            (where in its segment)
//! yield_1:  writeArray row_2 at_2 elt_1
//! body_0:   sortArrays row_2 size_1                (behind the first pass)
//! body_3:   let sorted_3 = readArray row_2 at_3    (in the second one)
//! ```

use super::Lower;
use super::emission::Emission;
use super::placement::{Act, Capacity, Passes, Placer, no_root};
use super::segments;
use crate::ast::{Kind, Sorted};
use crate::sharing::NodeId;
use loop_lang::ir::*;

/// Places a sort.
///
/// Its elements are defined in a pass of their own, after the pass with the unsorted elements.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let from = segments::place_segmented(p, id)?;
    p.input_elts(id, 1..2, from)?;
    let pass = p.placed.tree.loop_rate(from.rate);
    let behind = p.placed.tree.child_point(pass).ok_or_else(no_root)?;
    let between = p.placed.tree.stage(behind.rate, behind.position + 1);
    let capacity = match p.capacity(pass, id)? {
        Capacity::Rows(rows) => Capacity::Row(rows),
        // No segment is longer than all of them together.
        all => all,
    };
    let class = p.scope.plan.rates.runs_at(id).ok_or_else(no_root)?;
    let to = p.point(id, class, &[between])?;
    let passes = Passes {
        from,
        between,
        to,
        capacity,
    };
    p.act(id, Act::Sort(passes));
    p.know_all(id, to);
    Ok(())
}

/// Emits a sort.
pub fn emit(e: &mut Emission<'_>, id: NodeId, passes: Passes) -> Lower {
    let Kind::SortS(sorted) = e.scope.graph.node(id).kind else {
        return Ok(());
    };
    let Passes {
        from,
        between,
        to,
        capacity,
    } = passes;
    let place = e.index_within(id, from)?;
    let mut columns = Vec::new();
    for column in e.scope.columns(id, 1..2) {
        columns.push(e.elt(column, from)?);
    }
    if sorted == Sorted::Places {
        columns.push(place);
    }
    let comb = e.comb_at(id, from);
    let capacity = e.capacity(capacity, comb, None);
    let rows = columns.iter().map(|x| {
        let row = e.var("row", comb, Type::Array(e.program.atom_ty(*x)));
        e.program.vars[row.index()].scratch = true;
        e.push(comb, Section::Init, StmtKind::NewArray(row, capacity));
        e.push(comb, Section::Yield, StmtKind::WriteArray(row, place, *x));
        row
    });
    let rows: Vec<Var> = rows.collect();
    let comb = e.comb_at(id, between);
    let size = match e.program.rate(from.rate).kind {
        RateKind::Nested { .. } => e.size_of_segment(from.rate)?,
        // The count of the first pass.
        _ => place,
    };
    e.push(
        comb,
        Section::Body,
        StmtKind::SortArrays(rows.clone(), size),
    );
    let (comb, place) = (e.comb_at(id, to), e.index_within(id, to)?);
    let given = match sorted {
        Sorted::Elements => &rows[..],
        Sorted::Places => &rows[rows.len() - 1..],
    };
    let demanded = e.scope.demanded(id);
    for (field, row) in (0..).zip(given) {
        let elt = e.scalar("sorted", comb, e.program.ty(*row).elem());
        if demanded[field as usize] {
            e.push(comb, Section::Body, StmtKind::ReadArray(elt, *row, place));
        }
        e.values.set_column((id, field).into(), to, elt.into());
    }
    Ok(())
}
