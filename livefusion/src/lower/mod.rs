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
//! | [`cursor`] | zips of streams that advance differently |
//! | [`filter`] | `filter`, `pack` |
//! | [`take_while`] | `take_while` |
//! | [`lengths`] | checks that what is consumed together is of one length |
//! | [`fold`], [`scan`] | folds and scans of every order |
//! | [`segments`] | folds, scans, counts and elements of segments |
//! | [`scatter`] | `scatter`, `reduce_by_index` |
//! | [`custom`] | combinators of users |
//! | [`compute`] | delayed scalars computed from others, lengths |
//! | [`output`] | writing an array that is wanted in memory |
//!
//! [`anatomy`] is what they share: the loop under construction. [`body`] inlines a closure's terms,
//! [`pull`] computes arrays where they are read at an index, [`operators`] recognises operators that may be
//! reassociated.

mod anatomy;
mod body;
mod compute;
mod cursor;
pub mod custom;
mod filter;
mod fold;
mod generate;
mod lengths;
mod manifest;
mod map;
mod operators;
mod output;
mod pull;
mod scan;
mod scatter;
mod segments;
mod take_while;
mod zip;

use crate::ast::{Kind, Node};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::rates::indexed_array;
use crate::fusion::{Plan, plan_apart};
use crate::sharing::{FieldRef, Graph, NodeId, error_at};
use anatomy::Anatomy;
use loop_lang::Loop;
use rustc_hash::FxHashSet;

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
    /// The loop.
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

impl Lowered {
    /// Its loops in the order in which they run.
    pub fn programs(&self) -> impl Iterator<Item = &Loop> {
        self.sizing.iter().chain([&self.program])
    }

    /// Makes of the loop what backends compile: the passes, and levels that chunks of a loop can go by.
    pub fn optimize(&mut self) {
        loop_lang::passes::optimize(&mut self.program);
        loop_lang::chunkable::raise_levels(&mut self.program);
        if let Some(sizing) = &mut self.sizing {
            loop_lang::passes::optimize(sizing);
        }
    }
}

/// What labels and variables of a node are postfixed with; none takes the next number.
pub type Naming<'a> = &'a dyn Fn(&Node) -> Option<String>;

/// Numbers alone.
pub fn numbered(_: &Node) -> Option<String> {
    None
}

/// Lowers the loops of a plan. Where the layout of a loop turns out to be impossible (a second pass over what
/// a filter admits needs what the first one made), what is in the way is put into a later loop: the plan that
/// comes back is the one that the loops are of.
///
/// Errors: a closure that the loop language cannot hold (conditions nested too deep, a leaked expression).
pub fn lower(
    graph: &Graph,
    lengths: &[Option<u64>],
    mut plan: Plan,
    naming: Naming<'_>,
) -> Result<(Plan, Vec<Lowered>)> {
    let mut apart: Vec<(NodeId, NodeId)> = Vec::new();
    loop {
        let loops = (0..plan.loops.len()).map(|at| lower_loop(graph, &plan, at, naming));
        match loops.collect::<std::result::Result<Vec<_>, _>>() {
            Ok(loops) => return Ok((plan, loops)),
            Err(Trouble::Apart(from, to)) if !apart.contains(&(from, to)) => {
                apart.push((from, to));
                plan = plan_apart(graph, lengths, plan.clustering, &apart);
            }
            Err(Trouble::Apart(from, to)) => return Err(inseparable(graph, from, to)),
            Err(Trouble::Error(e)) => return Err(e),
        }
    }
}

fn inseparable(graph: &Graph, from: NodeId, to: NodeId) -> Error {
    let kind = ErrorKind::Malformed {
        expected: format!("`{}` in an earlier loop", graph.node(from).name),
        got: "both in one loop".into(),
    };
    error_at(graph, to, kind)
}

/// Why a loop could not be lowered.
enum Trouble {
    /// It is wrong.
    Error(Error),
    /// The second node cannot share a loop with the first.
    Apart(NodeId, NodeId),
}

fn lower_loop(
    graph: &Graph,
    plan: &Plan,
    at: usize,
    naming: Naming<'_>,
) -> std::result::Result<Lowered, Trouble> {
    let mut anatomy = Anatomy::new(graph, plan, at, naming);
    for id in in_order(graph, plan, at) {
        if let Err(kind) = lower_node(&mut anatomy, id) {
            return Err(match anatomy.in_the_way {
                Some(from) => Trouble::Apart(from, id),
                None => Trouble::Error(error_at(graph, id, kind)),
            });
        }
    }
    let force = |kind| {
        Trouble::Error(Error {
            combinator: "force",
            element: None,
            location: None,
            kind,
        })
    };
    anatomy.go_inside(None);
    output::lower(&mut anatomy).map_err(force)?;
    anatomy.check_told().map_err(force)?;
    lengths::check_all(&mut anatomy).map_err(force)?;
    take_while::leave_early(&mut anatomy).map_err(force)?;
    anatomy.finish().map_err(Trouble::Error)
}

/// The nodes of a loop in dependency order, where what runs over segments depends on their lengths, too, and
/// what is computed from a generator's indices on the array that these count.
fn in_order(graph: &Graph, plan: &Plan, at: usize) -> Vec<NodeId> {
    let nodes = &plan.loops[at].nodes;
    let here = |n: NodeId| plan.computes(at, n);
    let mut done: FxHashSet<NodeId> = FxHashSet::default();
    let mut order = Vec::with_capacity(nodes.len());
    let mut stack: Vec<(NodeId, bool)> = Vec::new();
    for node in nodes {
        stack.push((*node, false));
        while let Some((n, ready)) = stack.pop() {
            if ready {
                order.push(n);
            } else if done.insert(n) {
                stack.push((n, true));
                let inputs = graph.nodes[n.index()].inputs.iter();
                let inputs = inputs.flat_map(|i| behind(graph, *i));
                let lengths = plan.rates.lengths_above(n, plan.loops[at].root);
                let before = lengths.into_iter().chain(inputs);
                stack.extend(before.filter(|n| here(*n)).map(|n| (n, false)));
            }
        }
    }
    order
}

/// An input, who makes its fields, and the arrays that generators among these count.
fn behind(graph: &Graph, input: NodeId) -> Vec<NodeId> {
    let mut all = vec![input];
    let mut next = 0;
    while let Some(n) = all.get(next).copied() {
        let makers = graph.fields(n).into_iter().map(|f| f.0);
        all.extend(makers.chain(indexed_array(graph, n)).filter(|m| *m != n));
        next += 1;
    }
    all
}

fn lower_node(a: &mut Anatomy<'_>, id: NodeId) -> anatomy::Lower {
    cursor::enter(a, id)?;
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
        Kind::Custom(_) => custom::lower(a, id),
        Kind::Expand(_) => segments::lower_expand(a, id),
        Kind::FoldS(_) => segments::lower_fold(a, id),
        Kind::ScanS(..) => segments::lower_scan(a, id),
        Kind::CountS => segments::lower_count(a, id),
    }
}
