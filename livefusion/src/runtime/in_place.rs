//! In-place updates: a loop takes over a uniquely owned base instead of copying it.
//!
//! A loop may take over an intermediate of the same program, or an input that the program may
//! consume, such as the state of a loop over arrays. It must be the last use.
//!
//! Aliasing is safe to decide. Only the graph names arrays, and the program lists the reads of
//! every loop. An array from outside has a reference count, which is checked when the loop runs.
//! The user's arrays, results, and arrays read by a later loop are copied.

use crate::ast::Kind;
use crate::fusion::Plan;
use crate::fusion::inline::KnownExtent;
use crate::lower::{Lowered, Source};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::*;
use loop_lang::state::Layout;
use loop_lang::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// Describes an array that a loop changes.
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// The combinator that changes it.
    pub comb: CombId,
    /// The parameter that holds the base.
    pub param: usize,
    /// The loop's array slot for the changed array.
    pub slot: usize,
    /// Why the base is copied, or none if the loop may take it over.
    pub copied: Option<Copied>,
}

/// Lists the reasons for copying an array before it is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Copied {
    /// The caller owns it.
    Lent,
    /// It is also a result.
    Result,
    /// A later loop reads it.
    Later,
    /// The same loop also reads the old state.
    Here,
    /// A trap may depend on its elements, and the loop must be able to run again.
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

/// Records the uses of a program's arrays.
pub struct ArrayNeeds {
    /// Fields of results.
    kept: FxHashSet<FieldRef>,
    /// The last loop that takes an array as a parameter, and its number of such parameters.
    arrays: FxHashMap<FieldRef, (usize, usize)>,
    /// The last loop that reads the length of a node.
    lengths: FxHashMap<NodeId, usize>,
    /// Nodes whose lengths are unknown beforehand.
    unknown: FxHashSet<NodeId>,
}

impl ArrayNeeds {
    /// Collects the uses by a program's loops and by its results.
    pub fn of(
        graph: &Graph,
        plan: &Plan,
        loops: &[Lowered],
        lengths: &[Option<u64>],
    ) -> ArrayNeeds {
        let unknown = graph.ids().filter(|n| lengths[n.index()].is_none());
        let mut needs = ArrayNeeds {
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
        // A result may be the length of an outside array. It is read after all loops.
        for r in &graph.roots {
            let node = &graph.nodes[r.index()];
            let is_length = matches!(node.node.kind, Kind::Len) && !node.leaf;
            let measured = node.inputs.first().filter(|_| is_length);
            if let Some(KnownExtent::Of(array)) =
                measured.and_then(|a| plan.inlining.own_extent(*a))
                && graph.nodes[array.index()].leaf
                && needs.unknown.contains(&array)
            {
                needs.lengths.insert(array, usize::MAX);
            }
        }
        needs
    }

    /// Returns another use of an array that loop `at` changes, if any.
    fn others(&self, at: usize, field: FieldRef) -> Option<Copied> {
        if self.kept.contains(&field) {
            return Some(Copied::Result);
        }
        let measured_later = self.lengths.get(&field.0).is_some_and(|last| *last >= at);
        match self.arrays.get(&field) {
            Some((last, 1)) if *last == at && !measured_later => None,
            Some((last, _)) if *last == at && !measured_later => Some(Copied::Here),
            _ => Some(Copied::Later),
        }
    }
}

/// Lists the arrays that loop `at` of a program changes.
pub fn updates(
    graph: &Graph,
    needs: &ArrayNeeds,
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

/// Tells whether an array comes from outside and must not change.
fn is_lent(graph: &Graph, (id, _): FieldRef) -> bool {
    let leaf = &graph.nodes[id.index()];
    match leaf.node.kind {
        _ if !leaf.leaf => false,
        Kind::Input(input) if leaf.node.value.get().is_none() => !input.consumed,
        _ => true,
    }
}

/// Returns the reason why the loop itself needs the old state of an array.
///
/// No trap may depend on elements of the changed copy. A loop that traps runs again to locate the
/// trap, and by then the old elements are gone.
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

/// Tells whether a statement mentions a variable.
fn reads(kind: &StmtKind, array: Var) -> bool {
    let mut found = false;
    walk::operands(kind, &mut |a| found |= a == Atom::Var(array));
    let mut inner = walk::regions(kind).into_iter().flatten();
    found || inner.any(|s| reads(&s.kind, array))
}

/// Tells whether a statement reads elements of an array.
fn reads_elements(kind: &StmtKind, array: Var) -> bool {
    let mut inner = walk::regions(kind).into_iter().flatten();
    matches!(kind, StmtKind::ReadArray(_, a, _) | StmtKind::CopyArray(_, a) if *a == array)
        || inner.any(|s| reads_elements(&s.kind, array))
}
