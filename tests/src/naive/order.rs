//! Which trap counts: the first by loop, then by steps taken before it, then by combinator.

use super::asked::Asked;
use super::{Demand, Evaluated, Naive, Trap, When, pulled, reachable};
use livefusion::ast::{AsLong, BySegments, Kind, Len, Node};
use loop_lang::ir::TrapKind;
use loop_lang::types::Const;
use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

/// How the engine plans to run a graph.
pub trait Schedule {
    /// The (first) loop that runs a node and its combinator there; none for names of other nodes, and for
    /// those that are only computed where others read them.
    fn place(&self, node: &Arc<Node>) -> Option<(usize, u32)>;
    /// A node's combinators that may trap like this in a loop that computes it, or elements of it: the first
    /// and the last.
    fn combinators(
        &self,
        node: &Arc<Node>,
        at: usize,
        kind: TrapKind,
    ) -> Option<RangeInclusive<u32>>;
    /// Whether the order in which a loop comes to elements is the plan's: it runs over those of segments, advances streams
    /// on demand, or has phases.
    fn runs_in_any_order(&self, at: usize) -> bool;
    /// Whether elements of a node are computed where they are read at an index.
    fn is_pulled(&self, node: &Arc<Node>) -> bool;
    /// Whether a loop keeps an array, or some of its fields, in memory.
    fn is_kept(&self, node: &Arc<Node>) -> bool;
    /// What the builder, which simplifies, made of a node. Demand is that of what it made.
    fn built(&self, node: &Arc<Node>) -> Option<Arc<Node>>;
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Candidate) -> bool {
        Arc::ptr_eq(&self.node, &other.node)
            && (self.kind, &self.payload) == (other.kind, &other.payload)
    }
}

/// For people.
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

/// A trap that may be the one that is reported.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The node at fault.
    pub node: Arc<Node>,
    /// What went wrong.
    pub kind: TrapKind,
    /// What is reported with it.
    pub payload: Vec<Const>,
}

/// What a run of a graph must come to.
#[derive(Clone, PartialEq, Debug)]
pub enum Expected {
    /// Values.
    Values,
    /// One of these traps: they are first, and in one combinator at one element. Of a node that is several combinators
    /// there, each may be the one. In a loop over segments, or one that
    /// advances streams on demand, any trap may be the first; so may lengths of segments that do not fit, and what a `take_while` may
    /// leave out, in the whole program.
    Traps(Vec<Candidate>),
    /// Some trap: an array in memory is zipped with what a filter leaves or with segments' elements, and
    /// how many these are turns out at an element, or at the end.
    SomeTrap,
    /// Values, or one of these traps: they are in elements that nothing asks for, but that a plan may
    /// compute, since they are beside those that are asked for.
    ValuesOr(Vec<Candidate>),
    /// A trap hangs on a value that is not known to the bit.
    Unknown,
}

/// What forcing `roots` must come to under a schedule. All roots are evaluated.
pub fn expected(naive: &Naive, roots: &[Arc<Node>], schedule: &dyn Schedule) -> Expected {
    let mut asked_for: Vec<(usize, When, RangeInclusive<u32>, Candidate)> = vec![];
    let mut unasked: Vec<Candidate> = vec![];
    // Lengths are checked in whichever loop first goes by them, even if others asked for that.
    let mut anywhere: Vec<Candidate> = vec![];
    let (mut unknown, mut counted) = (false, false);
    let built: Vec<Arc<Node>> = roots.iter().filter_map(|r| schedule.built(r)).collect();
    let [strict, generous] = [false, true].map(|g| Demand::of(&built, g));
    let [least, most] = [&strict, &generous].map(|d| Asked::of(naive, roots, schedule, d));
    let computed = pulled::computed(naive, roots, schedule, &strict, |node, read| {
        least.takes(node, read.when, read.field)
    });
    let anyway = pulled::computed(naive, roots, schedule, &generous, |_, _| true);
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
            let is_asked = wanted(trap, &strict) && least.includes(&node, trap);
            let is_of_lengths = matches!(
                trap.kind,
                TrapKind::LengthMismatch | TrapKind::Segments | TrapKind::SliceRange
            );
            let is_counted = trap.kind == TrapKind::LengthMismatch && is_counted(&node);
            unknown |= e.tainted || (is_counted && !is_asked);
            counted |= is_counted;
            let candidate = Candidate {
                node: node.clone(),
                kind: trap.kind,
                payload: trap.payload.clone(),
            };
            let own = schedule.place(&node);
            if !is_asked {
                let may_be = is_of_lengths || most.includes(&node, trap);
                if may_be && (own.is_some() || anyway.first(&node, trap).is_some()) {
                    unasked.push(candidate);
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
                // What is needed while something lives comes behind what goes on, in each iteration.
                let all = if ended.contains(&at) { 0..=0 } else { all };
                asked_for.push(match in_any_order {
                    true => (at, When::Init, 0..=0, candidate.clone()),
                    false => (at, when, all, candidate.clone()),
                });
            }
        }
    }
    let best = asked_for.iter().map(|(at, when, ..)| (*at, *when)).min();
    asked_for.retain(|(at, when, ..)| Some((*at, *when)) == best);
    let latest = asked_for.iter().map(|(_, _, all, _)| *all.end()).min();
    asked_for.retain(|(_, _, all, _)| Some(*all.start()) <= latest);
    let mut found: Vec<Candidate> = asked_for.into_iter().map(|(.., c)| c).collect();
    match best {
        _ if unknown => Expected::Unknown,
        _ if counted => Expected::SomeTrap,
        None if anywhere.is_empty() && unasked.is_empty() => Expected::Values,
        None if anywhere.is_empty() => Expected::ValuesOr(unasked),
        _ => {
            found.append(&mut anywhere);
            found.append(&mut unasked);
            Expected::Traps(found)
        }
    }
}

/// The loops that have a node of some kind. In which order segments and parts of an append come is the plan's, as is
/// that of streams which a loop advances on demand.
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

/// Whether a node's inputs may be counted as they come: some are in memory and others are not, or the
/// lengths of segments say how many there are.
fn is_counted(node: &Node) -> bool {
    // A merge says itself how many there are.
    if let Kind::Merge(_) = node.kind {
        return false;
    }
    let in_memory = |n: &Arc<Node>| matches!(n.kind, Kind::Manifest);
    let some = node.inputs.iter().any(in_memory) && !node.inputs.iter().all(in_memory);
    some || node.inputs.iter().any(is_of_segments)
}

/// Whether an array's elements are those of segments, as far as its inputs in step tell.
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

/// A time of a node's rate as a time of loop `at`.
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

/// Steps that loop `at` has taken before element `i` of the rate at which `node` runs.
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

/// Whether a loop has a node. A pack that nobody keeps is no combinator anywhere: it only says which elements there are.
fn is_in_loop(node: &Arc<Node>, at: usize, schedule: &dyn Schedule) -> bool {
    match schedule.place(node) {
        Some((l, _)) => l == at,
        None => matches!(node.kind, Kind::Pack),
    }
}

/// The input in whose steps a node runs.
fn stream(node: &Node) -> Option<&Arc<Node>> {
    match node.kind {
        // The indices of an array may be made where the array is.
        Kind::Generate(Len::Delayed(ref n), _) if matches!(n.kind, Kind::Len) => n.inputs.first(),
        // A base advances nothing.
        ref kind => node.inputs.get(usize::from(kind.facts().has_base)),
    }
}

/// Follows names to the node that computes a field.
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
