//! Updates in place: an array that a loop copies, to put values into the copy, is handed over instead if nobody needs its
//! old state any more: what an earlier loop of the same program made, and what the program may consume, as the state of a
//! loop over arrays.
//!
//! Aliases cannot be missed: arrays have no names but the graph's, the program says what every loop reads, and of what
//! comes from outside it is counted, when the loop runs, who holds it. An array of the user's, one that is a result, and one
//! that a later loop reads are copied.

use crate::ast::Kind;
use crate::fusion::Plan;
use crate::fusion::pull::Extent;
use crate::lower::{Lowered, Source};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::*;
use loop_lang::state::Layout;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// An array that a loop changes.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// What changes it.
    pub comb: CombId,
    /// Which parameter it would be copied from.
    pub param: usize,
    /// Which of the loop's arrays it becomes.
    pub slot: usize,
    /// Why it is copied first; none if the loop may have it.
    pub copied: Option<Copied>,
}

/// Why an array is copied before it is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Copied {
    /// It is the caller's.
    Lent,
    /// It is a result, too.
    Result,
    /// A later loop needs it.
    Later,
    /// The loop that changes it needs it as it was, too.
    Here,
    /// What it holds may decide over an error, for which the loop runs again.
    Decides,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Copied::Lent => "the caller also owns the base",
            Copied::Result => "the base is also a result",
            Copied::Later => "a later loop reads the old base",
            Copied::Here => "the same loop reads the old base",
            Copied::Decides => "an error may depend on the old base",
        })
    }
}

/// Who needs the arrays of a program.
pub struct Needs {
    /// Fields of results.
    kept: FxHashSet<FieldRef>,
    /// The last loop that is passed an array, and how often it is.
    arrays: FxHashMap<FieldRef, (usize, usize)>,
    /// The last loop that asks for the length of a node.
    lengths: FxHashMap<NodeId, usize>,
    /// Nodes whose lengths are not known beforehand.
    unknown: FxHashSet<NodeId>,
}

impl Needs {
    /// What the loops of a program need, and what the user.
    pub fn of(graph: &Graph, plan: &Plan, loops: &[Lowered], lengths: &[Option<u64>]) -> Needs {
        let unknown = graph.ids().filter(|n| lengths[n.index()].is_none());
        let mut needs = Needs {
            kept: graph.roots.iter().flat_map(|r| graph.fields(*r)).collect(),
            arrays: FxHashMap::default(),
            lengths: FxHashMap::default(),
            unknown: unknown.collect(),
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
                    Source::Length(node) if needs.unknown.contains(node) => {
                        needs.lengths.insert(*node, at);
                    }
                    _ => {}
                }
            }
        }
        // A result may be the length of what comes from outside: it is asked for behind all loops.
        for r in &graph.roots {
            let node = &graph.nodes[r.index()];
            let is_length = matches!(node.node.kind, Kind::Len) && !node.leaf;
            let measured = node.inputs.first().filter(|_| is_length);
            if let Some(Extent::Of(array)) = measured.and_then(|a| plan.pulls.own_extent(*a))
                && graph.nodes[array.index()].leaf
                && needs.unknown.contains(&array)
            {
                needs.lengths.insert(array, usize::MAX);
            }
        }
        needs
    }

    /// Why an array that loop `at` changes is needed besides.
    fn others(&self, at: usize, field: FieldRef) -> Option<Copied> {
        if self.kept.contains(&field) {
            return Some(Copied::Result);
        }
        let told_later = self.lengths.get(&field.0).is_some_and(|last| *last >= at);
        match self.arrays.get(&field) {
            Some((last, 1)) if *last == at && !told_later => None,
            Some((last, _)) if *last == at && !told_later => Some(Copied::Here),
            _ => Some(Copied::Later),
        }
    }
}

/// The arrays that loop `at` of a program changes.
pub fn updates(
    graph: &Graph,
    needs: &Needs,
    at: usize,
    lowered: &Lowered,
    layout: &Layout,
) -> Vec<Update> {
    let program = &lowered.program;
    let stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let update = |s: &Stmt| {
        let StmtKind::CopyArray(to, from) = s.kind else {
            return None;
        };
        let param = program.params.iter().position(|p| p.var == from)?;
        let Some(Source::Array(field)) = lowered.sources.get(param) else {
            return None;
        };
        let lent = || is_lent(graph, *field).then_some(Copied::Lent);
        Some(Update {
            comb: s.comb,
            param,
            slot: layout.array_slot(to)?,
            copied: lent()
                .or_else(|| needs.others(at, *field))
                .or_else(|| needed_here(program, from, to)),
        })
    };
    stmts.filter_map(update).collect()
}

/// Whether an array is there before the program, which must leave it as it is.
fn is_lent(graph: &Graph, (id, _): FieldRef) -> bool {
    let leaf = &graph.nodes[id.index()];
    match leaf.node.kind {
        _ if !leaf.leaf => false,
        Kind::Input(input) if leaf.node.value.get().is_none() => !input.consumed,
        _ => true,
    }
}

/// Why a loop needs an array, or what is in this copy of it, to be as it was. What is in the copy must decide over no trap:
/// a loop that traps is run again to say where, and then it is gone.
fn needed_here(program: &Loop, array: Var, copy: Var) -> Option<Copied> {
    let stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let mut decides = None;
    for s in stmts {
        match &s.kind {
            StmtKind::CopyArray(to, _) if *to == copy => {}
            kind if reads(kind, array) => return Some(Copied::Here),
            kind if reads_elements(kind, copy) => decides = Some(Copied::Decides),
            _ => {}
        }
    }
    decides
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
