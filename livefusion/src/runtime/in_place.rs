//! Updates in place: an array that a loop copies, to put values into the copy, is handed over instead if it
//! was made by an earlier loop of the same program and nobody needs its old state any more.
//!
//! Aliases cannot be missed: arrays have no names but the graph's, and the program says what every loop
//! reads. An array of the user's, one that is a result, and one that a later loop reads are copied.

use crate::lower::{Lowered, Source};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::*;
use loop_lang::state::Layout;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// An array that a loop may have.
#[derive(Clone, Copy, Debug)]
pub struct Take {
    /// Which parameter it would be copied from.
    pub param: usize,
    /// Which of the loop's arrays it becomes.
    pub slot: usize,
}

/// Who needs the arrays of a program.
pub struct Needs {
    /// Fields of results.
    kept: FxHashSet<FieldRef>,
    /// The last loop that is passed an array, and how often it is.
    arrays: FxHashMap<FieldRef, (usize, usize)>,
    /// The last loop that asks for the length of a node.
    lengths: FxHashMap<NodeId, usize>,
}

impl Needs {
    /// What the loops of a program need, and what the user.
    pub fn of(graph: &Graph, loops: &[Lowered]) -> Needs {
        let mut needs = Needs {
            kept: graph.roots.iter().flat_map(|r| graph.fields(*r)).collect(),
            arrays: FxHashMap::default(),
            lengths: FxHashMap::default(),
        };
        for (at, l) in loops.iter().enumerate() {
            for source in &l.sources {
                match source {
                    Source::Array(field) => {
                        let times = match needs.arrays.get(field) {
                            Some((last, times)) if *last == at => times + 1,
                            _ => 1,
                        };
                        needs.arrays.insert(*field, (at, times));
                    }
                    Source::Length(node) => {
                        needs.lengths.insert(*node, at);
                    }
                    _ => {}
                }
            }
        }
        needs
    }

    /// Whether a loop is the last to need an array, and needs it once.
    fn last_is(&self, at: usize, field: FieldRef) -> bool {
        let told_later = self.lengths.get(&field.0).is_some_and(|last| *last >= at);
        self.arrays.get(&field) == Some(&(at, 1)) && !told_later && !self.kept.contains(&field)
    }
}

/// The arrays that loop `at` of a program may have.
pub fn takes(
    graph: &Graph,
    needs: &Needs,
    at: usize,
    lowered: &Lowered,
    layout: &Layout,
) -> Vec<Take> {
    let program = &lowered.program;
    let copies = copies(program);
    let params = program.params.iter().zip(&lowered.sources).enumerate();
    let take = |(param, (declared, source)): (usize, (&Param, &Source))| {
        let (to, _) = copies.iter().find(|(_, from)| *from == declared.var)?;
        let Source::Array(field) = *source else {
            return None;
        };
        let may = !graph.nodes[field.0.index()].leaf
            && needs.last_is(at, field)
            && is_only_copied(program, declared.var, *to);
        let slot = layout.array_slot(*to).filter(|_| may)?;
        Some(Take { param, slot })
    };
    params.filter_map(take).collect()
}

/// The copies that a loop makes of arrays: the copy, and what of.
fn copies(program: &Loop) -> Vec<(Var, Var)> {
    let stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    stmts
        .filter_map(|s| match s.kind {
            StmtKind::CopyArray(to, from) => Some((to, from)),
            _ => None,
        })
        .collect()
}

/// Whether a loop uses nothing of an array but this copy. What is in the copy must decide over no trap: a
/// loop that traps is run again to say where, and then it is gone.
fn is_only_copied(program: &Loop, array: Var, copy: Var) -> bool {
    let mut stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    stmts.all(|s| match &s.kind {
        StmtKind::CopyArray(to, _) if *to == copy => true,
        StmtKind::ScatterArray {
            arrays,
            combine: Some(Combine::Fn(_)),
            ..
        } if arrays.contains(&copy) => false,
        kind => !reads(kind, array) && !reads_elements(kind, copy),
    })
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
