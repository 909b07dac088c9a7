//! Lowering: turns each loop of the schedule into a program of the Loop language.
//!
//! It has two halves. [`placement`] assigns each combinator a program point (a rate and a stage).
//! It finds the source of each element and each length, opens rates and adds checks. [`emission`]
//! follows the placement and writes the code. Each combinator has both halves in a file of its own.
//! Its `place` states its operands and its program point; its `emit` adds statements to its
//! sections. Combinators of one rate declare their labels synonyms in the loop's alias map, so they
//! share blocks.
//!
//! | file | combinators |
//! | --- | --- |
//! | [`manifest`] | arrays in memory, read in step |
//! | [`generate`] | `iota`, `replicate`, `generate`, and gathers: `slice`, `reverse`, ... |
//! | [`map`], [`zip`] | `map`, `zip_with`; the length check of `zip` |
//! | [`cursor`] | zips of streams that advance at different rates |
//! | [`zip_shortest`] | `zip_shortest` of computed inputs |
//! | [`merge`] | `merge`, `interleave`, `combine` of computed inputs |
//! | [`append`] | `append`, `concat` of computed inputs |
//! | [`filter`] | `filter`, `pack` |
//! | [`take_while`] | `take_while`, `take` of computed inputs |
//! | [`lengths`] | length checks of inputs that are consumed together |
//! | [`fold`], [`scan`] | folds and scans of every order |
//! | [`segments`] | folds, scans, counts and elements of segments |
//! | [`sort`] | sorts of segments |
//! | [`scatter`] | `scatter`, `reduce_by_index` |
//! | [`custom`] | combinators of users |
//! | [`compute`] | delayed scalars computed from others, lengths |
//! | [`output`] | results: arrays in memory and delayed scalars |
//!
//! [`scope`] is a loop's view of its plan. [`body`] inlines a closure's terms. [`reads`] computes
//! inlined arrays (index functions) at an index. [`operators`] recognises operators that may be
//! reassociated.

mod append;
mod body;
mod compute;
mod cursor;
pub mod custom;
mod emission;
mod filter;
mod fold;
mod generate;
mod lengths;
mod manifest;
mod map;
mod merge;
mod operators;
mod output;
mod placement;
mod reads;
mod scan;
mod scatter;
mod scope;
mod segments;
mod sort;
mod take_while;
mod zip;
mod zip_shortest;

use crate::ast::{Kind, Node};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Plan;
use crate::fusion::rates::indexed_array;
use crate::sharing::{FieldRef, Graph, NodeId, error_at};
use emission::Emission;
use loop_lang::Loop;
use loop_lang::ir::{RateId, Section};
use placement::{Act, Opening, Placer};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use placement::{Placement, show};

/// The result of placing and emitting. The caller adds the combinator to the error.
type Lower<T = ()> = std::result::Result<T, ErrorKind>;

/// Describes the source of a kernel's argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// An array in memory: an input, or a result of an earlier loop.
    Array(FieldRef),
    /// A delayed scalar that is computed already.
    Scalar(FieldRef),
    /// A constant of the program, by slot.
    Constant(u32),
    /// The length of an array in memory, or of a generator of known length.
    Length(NodeId),
    /// A count of elements, by its position among the sizing loop's results.
    Size(u32),
}

/// Holds a lowered loop and its links to the graph.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The loop.
    pub program: Loop,
    /// A loop with the same parameters that runs first. It counts elements where their number is
    /// known in no other way. Its results are the [`Source::Size`]s.
    pub sizing: Option<Loop>,
    /// The source of each parameter.
    pub sources: Vec<Source>,
    /// The node of each combinator of the loop.
    pub combs: Vec<NodeId>,
    /// The field of each result.
    pub results: Vec<FieldRef>,
}

impl Lowered {
    /// Returns its loops in execution order.
    pub fn programs(&self) -> impl Iterator<Item = &Loop> {
        self.sizing.iter().chain([&self.program])
    }

    /// Optimizes the loops for the backends.
    ///
    /// Runs the passes, and raises group levels so that loops can run in chunks.
    pub fn optimize(&mut self) {
        loop_lang::passes::optimize(&mut self.program);
        loop_lang::chunkable::raise_levels(&mut self.program);
        if let Some(sizing) = &mut self.sizing {
            loop_lang::passes::optimize(sizing);
            // Only its counts are used, so it may skip inner loops that only count.
            if loop_lang::passes::leap(sizing) {
                loop_lang::passes::optimize(sizing);
            }
        }
    }
}

/// Returns the suffix for a node's labels and variables.
///
/// `None` takes the next number.
pub type Naming<'a> = &'a dyn Fn(&Node) -> Option<String>;

/// Uses numbers for all nodes.
pub fn numbered(_: &Node) -> Option<String> {
    None
}

/// Lowers the loops of a plan.
///
/// # Errors
///
/// A closure that the Loop language cannot express: conditions nested too deep, or a leaked
/// expression.
pub fn lower(graph: &Graph, plan: &Plan, naming: Naming<'_>) -> Result<Vec<Lowered>> {
    let loops = (0..plan.loops.len()).map(|at| {
        let placement = place(graph, plan, at)?;
        emit(graph, plan, at, &placement, naming)
    });
    loops.collect()
}

/// Places all combinators of a loop.
///
/// Placing succeeds for every plan of the planner.
pub fn place(graph: &Graph, plan: &Plan, at: usize) -> Result<Placement> {
    let order = in_order(graph, plan, at).into_iter();
    let (first, order): (Vec<NodeId>, Vec<NodeId>) =
        order.partition(|id| plan.inlining.is_at_entry(*id));
    let scope = scope::LoopScope {
        graph,
        plan,
        at,
        phase: None,
    };
    let mut p = Placer::new(scope, &order);
    let runs_in = phases_of(plan, at);
    for id in first {
        p.act(id, Act::Enter);
    }
    for phase in 0..p.phases() {
        p.go_to_phase(phase);
        for id in &order {
            let here = runs_in.get(id).is_some_and(|all| all.contains(&phase));
            if here && !p.is_idle(*id) {
                place_node(&mut p, *id).map_err(|kind| error_at(graph, *id, kind))?;
            }
        }
    }
    // Scalars computed from other scalars.
    for id in order.iter().filter(|id| !runs_in.contains_key(id)) {
        place_node(&mut p, *id).map_err(|kind| error_at(graph, *id, kind))?;
    }
    p.go_inside(None);
    output::place(&mut p).map_err(forced)?;
    lengths::check_assumed(&mut p);
    lengths::check_all(&mut p);
    cursor::place_deliveries(&mut p).map_err(forced)?;
    p.place_exits();
    lengths::place_ends(&mut p);
    Ok(p.placed)
}

/// The phases in which each node of a loop runs.
fn phases_of(plan: &Plan, at: usize) -> FxHashMap<NodeId, SmallVec<[usize; 1]>> {
    let mut runs_in: FxHashMap<NodeId, SmallVec<[usize; 1]>> = FxHashMap::default();
    for (k, phase) in plan.loops[at].phases.iter().enumerate() {
        for n in &phase.nodes {
            runs_in.entry(*n).or_default().push(k);
        }
    }
    runs_in
}

/// Writes the code of a placed loop.
fn emit(
    graph: &Graph,
    plan: &Plan,
    at: usize,
    placement: &Placement,
    naming: Naming<'_>,
) -> Result<Lowered> {
    let scope = scope::LoopScope {
        graph,
        plan,
        at,
        phase: None,
    };
    let mut e = Emission::new(scope, placement, naming);
    for (id, act) in &placement.acts {
        e.begin(*id, act);
        emit_act(&mut e, *id, act).map_err(|kind| error_at(graph, *id, kind))?;
    }
    output::emit(&mut e).map_err(forced)?;
    e.finish().map_err(forced)
}

/// An error of a loop as a whole.
fn forced(kind: ErrorKind) -> Error {
    Error {
        combinator: "force",
        row: None,
        element: None,
        location: None,
        kind,
    }
}

/// The nodes of a loop in dependency order. There are two further kinds of dependency. Nodes over
/// segments depend on the segments' lengths, and nodes over a generator's indices depend on the
/// array that it counts.
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
                let deciding = plan.rates.deciding_above(n, plan.loops[at].root);
                let before = deciding.into_iter().chain(inputs);
                // The first zip of the same inputs defines the program point of its co-consumers.
                let taken = plan.rates.taken(graph, n).at_an_index.into_iter();
                let taken = taken.map(|f| f.0);
                let before = before.chain(plan.rates.equal_zip(n)).chain(taken);
                stack.extend(before.filter(|n| here(*n)).map(|n| (n, false)));
            }
        }
    }
    order
}

/// An input, the producers of its fields, and the arrays that generators among them count.
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

fn place_node(p: &mut Placer<'_>, id: NodeId) -> Lower {
    cursor::enter(p, id)?;
    match &p.scope.graph.node(id).kind {
        Kind::Manifest | Kind::Input(_) | Kind::Fields(_) => Ok(()),
        Kind::Generate(..) => generate::place(p, id),
        Kind::Map(_) => map::place(p, id),
        Kind::Append => append::place(p, id),
        Kind::Zip => zip::place(p, id),
        Kind::ZipShortest => zip_shortest::place(p, id),
        Kind::Merge(_) => merge::place(p, id),
        Kind::Filter(_) | Kind::Pack | Kind::TakeWhile { .. } | Kind::Take(_) => {
            filter::place(p, id)
        }
        Kind::Fold(_) => fold::place(p, id),
        Kind::Scan(..) => scan::place(p, id),
        Kind::Scatter(..) => scatter::place(p, id),
        Kind::ScanByIndex(..) => scatter::place_scan(p, id),
        Kind::ScanTotal | Kind::Compute(_) => {
            p.act(id, Act::Finish);
            Ok(())
        }
        Kind::Len => compute::place_len(p, id),
        Kind::Custom(_) => custom::place(p, id),
        Kind::Expand(_) => segments::place_expand(p, id),
        Kind::FoldS(_) => segments::place_fold(p, id),
        Kind::ScanS(..) => segments::place_scan(p, id),
        Kind::SortS(_) => sort::place(p, id),
        Kind::MoveS(_) => segments::place_move(p, id),
        Kind::CountS => segments::place_count(p, id),
    }
}

fn emit_act<'g>(e: &mut Emission<'g>, id: NodeId, act: &'g Act) -> Lower {
    match act {
        Act::Open(rate) => {
            emit_open(e, id, *rate)?;
            e.goes_on(*rate);
            Ok(())
        }
        Act::Bound(most) => cursor::emit_bound(e, id, most.as_ref()),
        Act::Read(column, point) => manifest::emit_read(e, *column, *point),
        Act::Generate(column, point, len) => generate::emit(e, *column, *point, *len),
        Act::Keep(field, point, capacity, takes) => {
            e.keep((id, *field), *point, (*capacity, takes))
        }
        Act::Memory(field, capacities, takes) => {
            e.make((id, *field), capacities, takes);
            Ok(())
        }
        Act::Reread(column, point) => e.reread(*column, *point),
        Act::Contract(column, over, from, to) => e.contract(*column, *over, (*from, *to)),
        Act::Scratch(field, over, from) => e.scratch((id, *field), *over, *from).map(|_| ()),
        Act::Deliver(delivery) => e.deliver(*delivery),
        Act::Align(point, lens) => match &e.scope.graph.node(id).kind {
            Kind::Merge(body) => merge::emit(e, id, body, (*point, lens)),
            _ => cursor::emit_align(e, id, *point, lens),
        },
        Act::Run(point) => emit_node(e, id, *point),
        Act::Sort(passes) => sort::emit(e, id, *passes),
        Act::Make(point, fields) => emit_fields(e, id, *point, fields),
        Act::Enter => compute::emit(e, id, Section::Init),
        Act::Finish => match e.scope.graph.node(id).kind {
            Kind::ScanTotal => scan::emit_total(e, id),
            _ => compute::emit(e, id, Section::Done),
        },
        Act::Check(check) => lengths::emit(e, id, *check),
        Act::Leave(rate) => {
            take_while::emit_leave(e, *rate);
            Ok(())
        }
    }
}

fn emit_open(e: &mut Emission<'_>, id: NodeId, rate: RateId) -> Lower {
    match e.placed.tree.rate(rate).opening {
        Opening::Array(field) => manifest::emit_open(e, field),
        Opening::Indices(len) => generate::emit_open(e, id, len),
        Opening::Attempts => {
            cursor::emit_root(e, id);
            Ok(())
        }
        Opening::Test(_) | Opening::Decided | Opening::While(_) => filter::emit_open(e, id, rate),
        Opening::Needed(_) => {
            merge::emit_needed(e, id, rate);
            Ok(())
        }
        Opening::Part(_) => {
            append::emit_part(e, id, rate);
            Ok(())
        }
        Opening::UsedUp => {
            cursor::emit_used_up(e, id, rate);
            Ok(())
        }
        Opening::Begins(elements, lengths, total) => {
            cursor::emit_begin(e, id, rate, (elements, lengths, total))
        }
        Opening::Segments(..) | Opening::Rows(..) | Opening::SameSegments => {
            segments::emit_open(e, id, rate)
        }
        Opening::Cursor(..) | Opening::Elements(_) => cursor::emit_open(e, id, rate),
    }
}

fn emit_fields(
    e: &mut Emission<'_>,
    id: NodeId,
    point: placement::Point,
    fields: &[bool],
) -> Lower {
    match &e.scope.graph.node(id).kind {
        Kind::Expand(_) => segments::emit_expand(e, id, point, fields),
        _ => map::emit(e, id, point, fields),
    }
}

fn emit_node(e: &mut Emission<'_>, id: NodeId, point: placement::Point) -> Lower {
    match &e.scope.graph.node(id).kind {
        Kind::Map(_) | Kind::Expand(_) => emit_fields(e, id, point, &e.scope.demanded(id)),
        Kind::Append => append::emit(e, id, point),
        Kind::Zip => zip::emit(e, id, point),
        Kind::ZipShortest => zip_shortest::emit(e, id, point),
        Kind::Fold(_) => fold::emit(e, id, point),
        Kind::Scan(..) => scan::emit(e, id, point),
        Kind::Scatter(..) => scatter::emit(e, id, point),
        Kind::ScanByIndex(..) => scatter::emit_scan(e, id, point),
        Kind::Len => compute::emit_len(e, id, point),
        Kind::Custom(_) => custom::emit(e, id, point),
        Kind::FoldS(_) => segments::emit_fold(e, id, point),
        Kind::ScanS(..) => segments::emit_scan(e, id, point),
        Kind::MoveS(_) => segments::emit_move(e, id, point),
        Kind::CountS => segments::emit_count(e, id, point),
        Kind::Generate(..) => generate::emit_reversed(e, id, point),
        // These have no code of their own. Filters open rates, maps and expansions are placed at
        // their fields, and sorts have an act of their own.
        Kind::Manifest
        | Kind::Input(_)
        | Kind::Fields(_)
        | Kind::Filter(_)
        | Kind::Pack
        | Kind::TakeWhile { .. }
        | Kind::Take(_)
        | Kind::Merge(_)
        | Kind::SortS(_)
        | Kind::ScanTotal
        | Kind::Compute(_) => Ok(()),
    }
}
