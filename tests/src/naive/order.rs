//! Selection of the reported trap: first by loop, then by step, then by combinator.

use super::demanded::Demanded;
use super::{Demand, Evaluated, Naive, Trap, When, inlined, reachable};
use livefusion::ast::{AsLong, BySegments, Kind, Len, Node};
use loop_lang::ir::TrapKind;
use loop_lang::types::Const;
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

/// Describes an engine's plan for a graph.
pub trait Schedule {
    /// Returns the first loop that runs a node, and its combinator there.
    ///
    /// Aliases and nodes that are only inlined have none.
    fn place(&self, node: &Arc<Node>) -> Option<(usize, u32)>;
    /// Returns the first and the last combinator of a node that may trap like this.
    ///
    /// The loop computes the node or elements of it.
    fn combinators(
        &self,
        node: &Arc<Node>,
        at: usize,
        kind: TrapKind,
    ) -> Option<RangeInclusive<u32>>;
    /// Returns whether the plan determines a loop's element order.
    ///
    /// That holds for segments, on-demand streams, and phases.
    fn runs_in_any_order(&self, at: usize) -> bool;
    /// Returns whether a node is inlined where it is read at an index.
    fn is_inlined(&self, node: &Arc<Node>) -> bool;
    /// Returns whether a loop stores an array or some of its fields.
    fn is_kept(&self, node: &Arc<Node>) -> bool;
    /// Returns the node after simplification by the builder, which determines demand.
    fn built(&self, node: &Arc<Node>) -> Option<Arc<Node>>;
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
            && (self.kind, &self.payload) == (other.kind, &other.payload)
    }
}

/// For messages.
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let payload: Vec<String> = self
            .payload
            .iter()
            .map(|c| crate::scalar::show(c.ty, c.bits))
            .collect();
        write!(
            f,
            "{} of `{}` ({})",
            self.kind.name(),
            self.node.name,
            payload.join(", ")
        )
    }
}

/// Describes a trap that may be the reported one.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The trapping node.
    pub node: Arc<Node>,
    /// Its kind.
    pub kind: TrapKind,
    /// Its payload.
    pub payload: Vec<Const>,
}

/// Lists valid outcomes of a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Expected {
    /// Values.
    Values,
    /// One of these traps. They are first, in one combinator at one element. If the node has
    /// several combinators there, any of them is allowed. In a loop over segments or on-demand
    /// streams, any trap may be first. The same holds for the whole program if segment lengths do
    /// not fit, or if an exit may cut elements.
    Traps(Vec<Candidate>),
    /// Some trap. An array in memory is zipped with filtered elements or segments' elements, whose
    /// number is known only at an element or at the end.
    SomeTrap,
    /// Values, or one of these traps. They are in elements without requests that a plan may compute
    /// next to requested ones.
    ValuesOr(Vec<Candidate>),
    /// A trap depends on a value that is not exact to the bit.
    Unknown,
}

/// Computes the valid outcomes of forcing `roots` under a schedule.
///
/// All roots are evaluated.
pub fn expected(naive: &Naive, roots: &[Arc<Node>], schedule: &dyn Schedule) -> Expected {
    let mut demanded: Vec<(usize, When, RangeInclusive<u32>, Candidate)> = vec![];
    let mut undemanded: Vec<Candidate> = vec![];
    // The first loop with both lengths checks them, even if the request came from elsewhere.
    let mut anywhere: Vec<Candidate> = vec![];
    let (mut unknown, mut counted) = (false, false);
    let built: Vec<Arc<Node>> = roots.iter().filter_map(|r| schedule.built(r)).collect();
    let [strict, generous] = [false, true].map(|g| Demand::of(&built, g));
    let [least, most] = [&strict, &generous].map(|d| Demanded::of(naive, roots, schedule, d));
    let computed = inlined::computed(naive, roots, schedule, &strict, |node, read| {
        least.takes(node, read.when, read.field)
    });
    let anyway = inlined::computed(naive, roots, schedule, &generous, |_, _| true);
    let is_segmented =
        |kind: &Kind| kind.facts().by_segments != BySegments::Never || matches!(kind, Kind::Append);
    let segmented = loops_with(roots, schedule, is_segmented);
    let ends = |kind: &Kind| kind.facts().ends;
    let ended = loops_with(roots, schedule, ends);
    for node in reachable(roots) {
        let Some(e) = naive.get(&node) else { continue };
        let Some(built) = schedule.built(&node).filter(|b| generous.reaches(b)) else {
            continue;
        };
        let wanted = |t: &Trap, by: &Demand| t.field.is_none_or(|f| by.wants(&built, f));
        for trap in e.traps.iter().filter(|t| wanted(t, &generous)) {
            let is_demanded = wanted(trap, &strict) && least.includes(&node, trap);
            let is_of_lengths = matches!(
                trap.kind,
                TrapKind::LengthMismatch | TrapKind::Segments | TrapKind::SliceRange
            );
            let is_counted = trap.kind == TrapKind::LengthMismatch && is_counted(&node);
            unknown |= e.tainted || (is_counted && !is_demanded);
            counted |= is_counted;
            let candidate = Candidate {
                node: node.clone(),
                kind: trap.kind,
                payload: trap.payload.clone(),
            };
            let own = schedule.place(&node);
            if !is_demanded {
                let may_be = is_of_lengths || most.includes(&node, trap);
                if may_be && (own.is_some() || anyway.first(&node, trap).is_some()) {
                    undemanded.push(candidate);
                }
                continue;
            }
            let own = own.map(|(at, comb)| {
                let when = in_loop(naive, &node, trap.when, at, schedule);
                let all = schedule.combinators(&node, at, trap.kind);
                (at, when, all.unwrap_or(comb..=comb))
            });
            let for_others = computed.first(&node, trap).and_then(|(at, when)| {
                let all = schedule.combinators(&node, at, trap.kind)?;
                Some((at, when, all))
            });
            for (at, when, all) in own.into_iter().chain(for_others) {
                if trap.kind == TrapKind::Segments {
                    anywhere.push(candidate.clone());
                    continue;
                }
                let in_any_order = segmented.contains(&at) || schedule.runs_in_any_order(at);
                // In each iteration, parts with a limited lifetime run after the unlimited parts.
                let all = if ended.contains(&at) { 0..=0 } else { all };
                demanded.push(match in_any_order {
                    true => (at, When::Init, 0..=0, candidate.clone()),
                    false => (at, when, all, candidate.clone()),
                });
            }
        }
    }
    let best = demanded.iter().map(|(at, when, ..)| (*at, *when)).min();
    demanded.retain(|(at, when, ..)| Some((*at, *when)) == best);
    let latest = demanded.iter().map(|(_, _, all, _)| *all.end()).min();
    demanded.retain(|(_, _, all, _)| Some(*all.start()) <= latest);
    let mut found: Vec<Candidate> = demanded.into_iter().map(|(.., c)| c).collect();
    match best {
        _ if unknown => Expected::Unknown,
        _ if counted => Expected::SomeTrap,
        None if anywhere.is_empty() && undemanded.is_empty() => Expected::Values,
        None if anywhere.is_empty() => Expected::ValuesOr(undemanded),
        _ => {
            found.append(&mut anywhere);
            found.append(&mut undemanded);
            Expected::Traps(found)
        }
    }
}

/// The loops that have a node of some kind. The plan determines the order of segments, of an
/// append's parts, and of on-demand streams.
fn loops_with(
    roots: &[Arc<Node>],
    schedule: &dyn Schedule,
    kind: impl Fn(&Kind) -> bool,
) -> HashSet<usize> {
    let nodes = reachable(roots).into_iter().filter(|n| kind(&n.kind));
    nodes
        .filter_map(|n| schedule.place(&n))
        .map(|(at, _)| at)
        .collect()
}

/// Whether a node's inputs may be counted during the loop. Some are in memory and others are not,
/// or segment lengths give their number.
fn is_counted(node: &Node) -> bool {
    // A merge determines its own length.
    if let Kind::Merge(_) = node.kind {
        return false;
    }
    let in_memory = |n: &Arc<Node>| matches!(n.kind, Kind::Manifest);
    let some = node.inputs.iter().any(in_memory) && !node.inputs.iter().all(in_memory);
    some || node.inputs.iter().any(is_of_segments)
}

/// Whether an array's elements are those of segments, judged by its inputs in step.
fn is_of_segments(node: &Arc<Node>) -> bool {
    let mut stack = vec![node];
    while let Some(n) = stack.pop() {
        let facts = n.kind.facts();
        match (facts.by_segments, facts.length) {
            (BySegments::Makes | BySegments::Elements, _) => return true,
            (BySegments::Each, _) => {}
            (BySegments::Never, AsLong::Inputs) => stack.extend(&n.inputs),
            (BySegments::Never, AsLong::Input(k)) => stack.extend(&n.inputs[k..]),
            (BySegments::Never, AsLong::Own | AsLong::Base) => {}
        }
    }
    false
}

/// A time at a node's rate as a time of loop `at`.
pub(super) fn in_loop(
    naive: &Naive,
    node: &Arc<Node>,
    when: When,
    at: usize,
    schedule: &dyn Schedule,
) -> When {
    match when {
        When::Element(i) => When::Element(steps(naive, node, i, at, schedule)),
        other => other,
    }
}

/// The number of steps of loop `at` before element `i` at the rate of `node`.
fn steps(naive: &Naive, node: &Arc<Node>, i: usize, at: usize, schedule: &dyn Schedule) -> usize {
    let (mut node, mut i) = (node.clone(), i);
    while let Some(input) = stream(&node) {
        let Some((producer, field)) = resolve(input, 0) else {
            return i;
        };
        let _ = field;
        if !is_in_loop(&producer, at, schedule) {
            return i;
        }
        if producer.kind.facts().passes_on {
            let e: Option<&Rc<Evaluated>> = naive.get(&producer);
            i = e.and_then(|e| e.origin.get(i).copied()).unwrap_or(i);
        }
        if let Kind::Scatter(..) = producer.kind {
            return i;
        }
        node = producer;
    }
    i
}

/// Whether a loop has a node. A pack that is not stored is no combinator: it only selects elements.
fn is_in_loop(node: &Arc<Node>, at: usize, schedule: &dyn Schedule) -> bool {
    match schedule.place(node) {
        Some((l, _)) => l == at,
        None => matches!(node.kind, Kind::Pack),
    }
}

/// The input that drives a node's steps.
fn stream(node: &Node) -> Option<&Arc<Node>> {
    match node.kind {
        // A generator over an array's indices may run in that array's loop.
        Kind::Generate(Len::Delayed(ref n), _) if matches!(n.kind, Kind::Len) => n.inputs.first(),
        // A base drives no steps.
        ref kind => node.inputs.get(usize::from(kind.facts().has_base)),
    }
}

/// Follows aliases to the node that computes a field.
pub(super) fn resolve(node: &Arc<Node>, field: u32) -> Option<(Arc<Node>, u32)> {
    let (mut node, mut field) = (node.clone(), field);
    loop {
        let next = match &node.kind {
            Kind::Zip => {
                let mut of = None;
                for input in &node.inputs {
                    let width = input.types.len() as u32;
                    if field < width {
                        of = Some(input.clone());
                        break;
                    }
                    field -= width;
                }
                of?
            }
            Kind::Fields(range) => {
                field += range.start;
                node.inputs[0].clone()
            }
            _ => return Some((node, field)),
        };
        node = next;
    }
}
