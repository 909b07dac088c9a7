//! Lowering: one loop of the schedule becomes one Loop.
//!
//! Each combinator lowers itself, knowing its own id and its inputs' ids, in the file of its name: it adds
//! statements to the sections of its own labels and says how its rate relates to its inputs'. Combinators
//! of one rate declare their labels synonyms in the loop's alias map, and so their blocks are one.
//!
//! | file | combinators |
//! | --- | --- |
//! | [`manifest`] | arrays in memory, read in step |
//! | [`generate`] | `iota`, `replicate`, `generate`, and what reads others by index: `slice`, `reverse`, ... |
//! | [`map`], [`zip`] | `map`, `zip_with`; the length check of `zip` |
//! | [`filter`] | `filter`, `pack` |
//! | [`take_while`] | `take_while` |
//! | [`fold`], [`scan`] | folds and scans of every order |
//! | [`segments`] | folds, scans, counts and elements of segments |
//! | [`scatter`] | `scatter`, `reduce_by_index` |
//! | [`compute`] | delayed scalars computed from others, lengths |
//! | [`output`] | writing an array that is wanted in memory |
//!
//! [`anatomy`] is what they share: the loop under construction. [`body`] inlines a closure's terms,
//! [`pull`] computes arrays where they are read at an index, [`operators`] recognises operators that may be reassociated.

pub mod anatomy;
pub mod body;
pub mod compute;
pub mod filter;
pub mod fold;
pub mod generate;
pub mod manifest;
pub mod map;
pub mod operators;
pub mod output;
pub mod pull;
pub mod scan;
pub mod scatter;
pub mod segments;
pub mod take_while;
pub mod zip;

use crate::ast::Kind;
use crate::error::{Error, Result};
use crate::fusion::Plan;
use crate::sharing::{FieldRef, Graph, NodeId};
use anatomy::Anatomy;
use loop_lang::Loop;

/// Where a kernel's argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// An array in memory: an input's or a result of an earlier loop.
    Array(FieldRef),
    /// A delayed scalar that is computed already.
    Scalar(FieldRef),
    /// A constant of the program, by slot.
    Constant(u32),
    /// The length of an array in memory, or of a generator of known length.
    Length(NodeId),
    /// A number of elements that the sizing loop finds, by its results.
    Size(u32),
}

/// A lowered loop and how it is tied to the graph.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The loop, before optimisation.
    pub program: Loop,
    /// A loop of the same parameters that is run before it, where the number of elements to make is known
    /// in no other way. Its results are the [`Source::Size`]s.
    pub sizing: Option<Loop>,
    /// Where each parameter comes from.
    pub sources: Vec<Source>,
    /// The node of each combinator of the loop.
    pub combs: Vec<NodeId>,
    /// What each result is.
    pub results: Vec<FieldRef>,
}

/// What labels and variables of a node are postfixed with; none takes the next number.
pub type Naming<'a> = &'a dyn Fn(&Graph, NodeId) -> Option<String>;

/// Lowers loop `at` of the plan.
///
/// Errors: a closure that the loop language cannot hold (conditions nested too deep, a leaked expression).
pub fn lower(graph: &Graph, plan: &Plan, at: usize, naming: Naming<'_>) -> Result<Lowered> {
    let mut anatomy = Anatomy::new(graph, plan, at, naming);
    for id in &plan.loops[at].nodes {
        lower_node(&mut anatomy, *id).map_err(|kind| crate::sharing::error_at(graph, *id, kind))?;
    }
    output::lower(&mut anatomy).map_err(|kind| Error {
        combinator: "force",
        location: None,
        kind,
    })?;
    anatomy.finish()
}

fn lower_node(a: &mut Anatomy<'_>, id: NodeId) -> anatomy::Lower {
    match &a.graph.node(id).kind {
        Kind::Manifest | Kind::Input(_) | Kind::Fields(_) => Ok(()),
        Kind::Generate(..) => generate::lower(a, id),
        Kind::Map(_) => map::lower(a, id),
        Kind::Zip => zip::lower(a, id),
        Kind::Filter(_) | Kind::Pack => filter::lower(a, id),
        Kind::Fold(_) => fold::lower(a, id),
        Kind::Scan(..) => scan::lower(a, id),
        Kind::ScanTotal => scan::lower_total(a, id),
        Kind::Scatter(_) => scatter::lower(a, id),
        Kind::Compute(_) => compute::lower(a, id),
        Kind::Len => compute::lower_len(a, id),
        Kind::TakeWhile { .. } => filter::lower(a, id),
        Kind::Expand(_) => segments::lower_expand(a, id),
        Kind::FoldS(_) => segments::lower_fold(a, id),
        Kind::ScanS(..) => segments::lower_scan(a, id),
        Kind::CountS => segments::lower_count(a, id),
    }
}
