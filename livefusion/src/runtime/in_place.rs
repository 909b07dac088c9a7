//! Updates in place: an array that a loop copies, to put values into the copy, is handed over instead if it
//! was made by an earlier loop of the same program and nobody needs its old state any more.
//!
//! Aliases cannot be missed: arrays have no names but the graph's, and the program says what every loop
//! reads. An array of the user's, one that is a result, and one that a later loop reads are copied.

use crate::lower::{Lowered, Source};
use crate::sharing::{FieldRef, Graph};
use loop_lang::ir::*;
use loop_lang::state::Layout;
use loop_lang::walk;
use rustc_hash::FxHashSet;

/// An array that a loop may have.
#[derive(Clone, Copy, Debug)]
pub struct Take {
    /// Which parameter it would be copied from.
    pub param: usize,
    /// The array.
    pub field: FieldRef,
    /// Which of the loop's arrays it becomes.
    pub slot: usize,
}

/// The arrays that loop `at` of a program may have.
pub fn takes(graph: &Graph, loops: &[Lowered], at: usize, layout: &Layout) -> Vec<Take> {
    let program = &loops[at].program;
    let kept: FxHashSet<FieldRef> = graph.roots.iter().flat_map(|r| graph.fields(*r)).collect();
    let needed_later = |field: FieldRef| {
        loops[at + 1..]
            .iter()
            .any(|l| l.sources.iter().any(|s| needs(s, field)))
            || loops[at].sources.iter().filter(|s| needs(s, field)).count() > 1
    };
    let mut takes = Vec::new();
    for (param, source) in loops[at].sources.iter().enumerate() {
        let Source::Array(field) = *source else {
            continue;
        };
        if graph.nodes[field.0.index()].leaf || kept.contains(&field) || needed_later(field) {
            continue;
        }
        if let Some(copy) = only_copied(program, program.params[param].var)
            && let Some(slot) = layout.array_slot(copy)
        {
            takes.push(Take { param, field, slot });
        }
    }
    takes
}

/// Whether a source is an array, or tells its length.
fn needs(source: &Source, field: FieldRef) -> bool {
    match source {
        Source::Array(f) => *f == field,
        Source::Length(n) => *n == field.0,
        _ => false,
    }
}

/// The copy of an array of which a loop uses nothing else. What is in the copy must decide over no trap: a
/// loop that traps is run again to say where, and then it is gone.
fn only_copied(program: &Loop, array: Var) -> Option<Var> {
    let mut copy = None;
    for (_, block) in program.blocks.iter() {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::CopyArray(to, from) if *from == array && copy.is_none() => {
                    copy = Some(*to);
                }
                kind if reads(kind, array) => return None,
                _ => {}
            }
        }
    }
    let copy = copy?;
    let stmts = || program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let read = stmts().any(|s| reads_elements(&s.kind, copy));
    let joined_by_functions = stmts().any(|s| {
        matches!(&s.kind, StmtKind::ScatterArray { arrays, combine: Some(Combine::Fn(_)), .. }
            if arrays.contains(&copy))
    });
    (!read && !joined_by_functions).then_some(copy)
}

/// Whether a statement mentions a variable.
fn reads(kind: &StmtKind, array: Var) -> bool {
    let mut found = false;
    walk::operands(kind, &mut |a| found |= a == Atom::Var(array));
    let mut inner = walk::regions(kind).into_iter().flatten();
    found || inner.any(|s| reads(&s.kind, array))
}

/// Whether a statement reads elements of an array.
fn reads_elements(kind: &StmtKind, array: Var) -> bool {
    let mut inner = walk::regions(kind).into_iter().flatten();
    matches!(kind, StmtKind::ReadArray(_, a, _) | StmtKind::CopyArray(_, a) if *a == array)
        || inner.any(|s| reads_elements(&s.kind, array))
}
