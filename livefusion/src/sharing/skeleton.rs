//! Graph recognition: matches a graph against the record of an earlier recovery.
//!
//! One walk follows the record. It compares every structure and collects every constant and length,
//! without any lookup.
//!
//! The result of recovery depends on more than structure: nodes of equal structure are one node if
//! their constants are equal, too. So the record marks nodes that were unified and nodes that are
//! only [alike](Skeleton::alike). If that has changed, the graph is not recognised.

use super::key::{makes_last, same_leaf, taken_from_scalars};
use super::lengths::{self, KnownLengths, Measure, length_pattern, number};
use super::{BodyConstants, FieldRef, Graph, NodeId, address, links, numbered};
use crate::ast::{Body, Kind, Len, Node, Term, Types, Value};
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::hash::Hasher;
use std::sync::Arc;

/// Records a graph by the links of its nodes, in walk order.
///
/// It holds no arrays and takes less memory than the program that it identifies.
pub struct Skeleton {
    steps: Vec<SkeletonStep>,
    nodes: usize,
    constants: usize,
    lengths: usize,
    /// The lengths that are numbers of their own.
    measures: Vec<Measure>,
    /// Constants that must keep their values, since equalities of lengths depend on them.
    fixed: Vec<(usize, Const)>,
    /// Nodes of equal structure that differ in their other properties.
    alike: Vec<Vec<Identity>>,
}

enum SkeletonStep {
    /// The node that was the k-th new one.
    Seen(usize),
    New(Expected),
}

/// The expected properties of a node.
struct Expected {
    id: NodeId,
    /// Whether the graph keeps this one of several equal nodes.
    kept: bool,
    rank: u8,
    types: Types,
    /// The number of its length among those known before a run.
    length: Option<usize>,
    /// None for leaves.
    computed: Option<Computed>,
}

struct Computed {
    kind: SmallVec<[u64; 4]>,
    inputs: usize,
    bodies: Vec<Pattern>,
}

/// A body without its captures and constants.
struct Pattern {
    body: Body,
    captures: usize,
    /// The terms that are variable constants, in order.
    constants: Vec<Slot>,
}

/// A constant that may change.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    term: usize,
    /// The destination of its value.
    slot: usize,
    /// Whether it is subtracted from a possible length, so that some values [stay in the
    /// code](makes_last).
    taken: bool,
}

/// The properties that distinguish a node from others of its structure.
enum Identity {
    Leaf(NodeId),
    Computed {
        slots: Vec<usize>,
        length: Option<usize>,
    },
}

/// Holds the variable properties of a recognised graph.
#[derive(Default)]
pub struct Met<'a> {
    /// The AST node of each id.
    pub nodes: SmallVec<[&'a Arc<Node>; 16]>,
    /// Values of the constants that are parameters.
    pub constants: SmallVec<[Const; 8]>,
    /// The known lengths, in the order of their nodes.
    pub lengths: SmallVec<[u64; 8]>,
}

impl Skeleton {
    /// Records a graph that was recovered from these roots.
    ///
    /// None if it cannot be recognised: it has user-defined combinators or inputs of prepared
    /// programs.
    pub fn of(roots: &[Arc<Node>], graph: &Graph, lengths: &KnownLengths) -> Option<Skeleton> {
        let numbers = numbered(&lengths.arrays);
        let mut steps = Vec::new();
        let mut met: FxHashMap<usize, usize> = FxHashMap::default();
        let mut stack: Vec<&Arc<Node>> = roots.iter().rev().collect();
        while let Some(node) = stack.pop() {
            if let Some(k) = met.get(&address(node)) {
                steps.push(SkeletonStep::Seen(*k));
                continue;
            }
            met.insert(address(node), met.len());
            let expected = Expected::of(node, graph, &numbers)?;
            if expected.computed.is_some() {
                stack.extend(links(node).into_iter().rev());
            }
            steps.push(SkeletonStep::New(expected));
        }
        Some(Skeleton {
            steps,
            nodes: graph.nodes.len(),
            constants: graph.constants.len(),
            lengths: numbers.iter().flatten().count(),
            measures: lengths.measures.clone(),
            fixed: fixed(graph),
            alike: alike(graph, &numbers),
        })
    }

    /// Recognises a graph with the same key, and collects its values.
    ///
    /// None if recovery might give another key.
    pub fn recognise<'a>(&self, roots: &'a [Arc<Node>], met: &mut Met<'a>) -> Option<()> {
        met.nodes.clear();
        met.nodes.resize(self.nodes, roots.first()?);
        met.constants.clear();
        met.constants.resize(self.constants, Const::zero(Ty::Bool));
        met.lengths.clear();
        met.lengths.resize(self.lengths, 0);
        let mut walk = Walk {
            met,
            stack: SmallVec::new(),
            doubles: SmallVec::new(),
        };
        for root in roots.iter().rev() {
            walk.stack.push(root);
        }
        let mut seen: SmallVec<[&Arc<Node>; 32]> = SmallVec::new();
        for step in &self.steps {
            let node = walk.stack.pop()?;
            match step {
                SkeletonStep::Seen(k) if Arc::ptr_eq(seen.get(*k)?, node) => {}
                SkeletonStep::Seen(_) => return None,
                SkeletonStep::New(expected) => {
                    seen.push(node);
                    walk.meet(node, expected)?;
                }
            }
        }
        let Walk {
            met,
            stack,
            doubles,
        } = walk;
        let fixed = self.fixed.iter();
        let mut fixed = fixed.map(|(slot, c)| met.constants.get(*slot) == Some(c));
        let same = doubles.iter().all(|d| d.is_same(met)) && fixed.all(|same| same);
        let apart = self.alike.iter().all(|family| differ(family, met));
        (stack.is_empty() && same && apart).then_some(())
    }

    /// Returns the equality pattern of a recognised graph's lengths.
    pub fn pattern(&self, met: &Met<'_>) -> lengths::Pattern {
        let scalar = |(id, field): FieldRef| {
            let value = met.nodes.get(id.index())?.value.get()?;
            number(value, field)
        };
        let slot = |slot: u32| met.constants.get(slot as usize).copied();
        let measured = self.measures.iter().map(|m| (m, m.value(scalar, slot)));
        length_pattern(&met.lengths, measured)
    }
}

impl Expected {
    fn of(node: &Arc<Node>, graph: &Graph, numbers: &[Option<usize>]) -> Option<Expected> {
        let id = *graph.by_address.get(&address(node))?;
        let entry = &graph.nodes[id.index()];
        // A replaced node has no constants of its own.
        let absorbed = graph.algebra.is_absorbed(address(node));
        let none = [BodyConstants::default()];
        let constants = if absorbed {
            &none
        } else {
            entry.constants.as_slice()
        };
        let computed = match &node.kind {
            Kind::Custom(_) | Kind::Input(_) => return None,
            _ if entry.leaf && !absorbed => None,
            kind => Some(Computed {
                kind: kind.words(),
                inputs: node.inputs.len(),
                bodies: kind
                    .bodies()
                    .into_iter()
                    .zip(constants)
                    .map(|(body, constants)| Pattern::of(body, constants))
                    .collect(),
            }),
        };
        Some(Expected {
            id,
            kept: Arc::ptr_eq(&entry.node, node),
            rank: node.rank.min(1),
            types: node.types.clone(),
            length: numbers[id.index()].filter(|_| !absorbed),
            computed,
        })
    }
}

impl Pattern {
    fn of(body: &Body, constants: &BodyConstants) -> Pattern {
        let taken: FxHashSet<usize> = taken_from_scalars(body).collect();
        let slot = |(term, slot): (&u32, &u32)| {
            let (term, slot) = (*term as usize, *slot as usize);
            let taken = taken.contains(&term);
            Slot { term, slot, taken }
        };
        let mut constants: Vec<Slot> = constants.iter().map(slot).collect();
        constants.sort_unstable();
        Pattern {
            captures: body.captures.len(),
            body: without_captures(body),
            constants,
        }
    }

    /// Whether a body matches. Its constants go to `found`, by slot.
    fn matches(&self, body: &Body, mut found: impl FnMut(usize, Const)) -> bool {
        let like = &self.body;
        if like.is(body) {
            for of in &self.constants {
                if let Term::Lit(c) = body.terms[of.term].term {
                    found(of.slot, c);
                }
            }
            return true;
        }
        let alike = like.params == body.params
            && like.terms.len() == body.terms.len()
            && like.results == body.results
            && like.loops == body.loops
            && self.captures == body.captures.len()
            && body.error.is_none();
        if !alike {
            return false;
        }
        let mut constants = self.constants.iter();
        let mut next = constants.next();
        for (i, (like, data)) in like.terms.iter().zip(&body.terms).enumerate() {
            if like.ty != data.ty {
                return false;
            }
            match (next, data.term) {
                (Some(of), Term::Lit(c)) if of.term == i => {
                    if of.taken && makes_last(c) {
                        return false;
                    }
                    found(of.slot, c);
                    next = constants.next();
                }
                _ if like.term == data.term => {}
                _ => return false,
            }
        }
        next.is_none()
    }
}

/// A body without its captures, which a pattern must not keep alive.
fn without_captures(body: &Body) -> Body {
    let mut body = body.clone();
    if !body.captures.is_empty() {
        body.captures.clear();
    }
    body
}

struct Walk<'a, 'm> {
    met: &'m mut Met<'a>,
    stack: SmallVec<[&'a Arc<Node>; 32]>,
    doubles: SmallVec<[Double<'a>; 4]>,
}

/// A property of a unified node. It must equal that of the kept node.
enum Double<'a> {
    Leaf(NodeId, &'a Arc<Node>),
    Constant(usize, Const),
    Length(usize, u64),
}

impl<'a> Walk<'a, '_> {
    /// Matches a node; none if it differs.
    fn meet(&mut self, node: &'a Arc<Node>, expected: &Expected) -> Option<()> {
        let fits = node.error.is_none()
            && node.rank.min(1) == expected.rank
            && node.types == expected.types
            && node.value.get().is_some() == expected.computed.is_none();
        if !fits {
            return None;
        }
        if expected.kept {
            *self.met.nodes.get_mut(expected.id.index())? = node;
        }
        match &expected.computed {
            None if !expected.kept => self.doubles.push(Double::Leaf(expected.id, node)),
            None => {}
            Some(computed) => self.computed(node, computed, expected.kept)?,
        }
        if let Some(at) = expected.length {
            let length = match &node.kind {
                Kind::Generate(Len::Known(n), _) if expected.computed.is_some() => *n,
                _ => node.known_len()?,
            };
            if expected.kept {
                *self.met.lengths.get_mut(at)? = length;
            } else {
                self.doubles.push(Double::Length(at, length));
            }
        }
        Some(())
    }

    fn computed(&mut self, node: &'a Arc<Node>, computed: &Computed, kept: bool) -> Option<()> {
        if node.inputs.len() != computed.inputs || !node.kind.has_words(&computed.kind) {
            return None;
        }
        if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
            self.stack.push(n);
        }
        let Walk {
            met,
            stack,
            doubles,
        } = self;
        let mut like = computed.bodies.iter().rev();
        for body in node.kind.bodies().into_iter().rev() {
            let found = |slot, c| match met.constants.get_mut(slot) {
                Some(place) if kept => *place = c,
                _ => doubles.push(Double::Constant(slot, c)),
            };
            if !like.next()?.matches(body, found) {
                return None;
            }
            for capture in body.captures.iter().rev() {
                stack.push(capture.node());
            }
        }
        for input in node.inputs.iter().rev() {
            stack.push(input);
        }
        Some(())
    }
}

impl Double<'_> {
    fn is_same(&self, met: &Met<'_>) -> bool {
        match self {
            Double::Leaf(id, node) => same_leaf(met.nodes[id.index()], node),
            Double::Constant(slot, c) => met.constants.get(*slot) == Some(c),
            Double::Length(at, n) => met.lengths.get(*at) == Some(n),
        }
    }
}

/// The constants that equalities of lengths depend on.
fn fixed(graph: &Graph) -> Vec<(usize, Const)> {
    let slots = graph.algebra.literals().iter().map(|slot| *slot as usize);
    slots.map(|slot| (slot, graph.constants[slot])).collect()
}

/// Groups of nodes with equal structure.
fn alike(graph: &Graph, numbers: &[Option<usize>]) -> Vec<Vec<Identity>> {
    let mut families: FxHashMap<&[u64], Vec<NodeId>> = FxHashMap::default();
    for (words, id) in graph.key.nodes().zip(graph.ids()) {
        families.entry(words).or_default().push(id);
    }
    let identity = |id: &NodeId| match &graph.nodes[id.index()] {
        leaf if leaf.leaf => Identity::Leaf(*id),
        node => Identity::Computed {
            slots: node.constants.iter().flat_map(slots).collect(),
            length: numbers[id.index()],
        },
    };
    let several = families.values().filter(|family| family.len() > 1);
    several.map(|f| f.iter().map(identity).collect()).collect()
}

/// The slots of a body's constants, in the order of its terms.
fn slots(constants: &BodyConstants) -> Vec<usize> {
    let mut by_term: Vec<_> = constants.iter().collect();
    by_term.sort_unstable();
    by_term
        .into_iter()
        .map(|(_, slot)| *slot as usize)
        .collect()
}

/// Whether nodes of equal structure differ. Rarely false although they do.
fn differ(family: &[Identity], met: &Met<'_>) -> bool {
    let mut marks: SmallVec<[u64; 16]> = family.iter().map(|i| i.mark(met)).collect();
    marks.sort_unstable();
    marks.windows(2).all(|pair| pair[0] != pair[1])
}

impl Identity {
    /// A hash that is equal for equal nodes.
    fn mark(&self, met: &Met<'_>) -> u64 {
        let mut h = FxHasher::default();
        match self {
            Identity::Leaf(id) => match met.nodes[id.index()].value.get() {
                Some(Value::Array(fields)) => {
                    fields
                        .iter()
                        .for_each(|f| h.write_usize(Arc::as_ptr(f) as usize));
                }
                Some(Value::Scalar(fields)) => fields.iter().for_each(|c| h.write_u64(c.bits)),
                None => {}
            },
            Identity::Computed { slots, length } => {
                for slot in slots {
                    h.write_u64(met.constants.get(*slot).map_or(0, |c| c.bits));
                }
                h.write_u64(length.and_then(|at| met.lengths.get(at)).map_or(0, |n| *n));
            }
        }
        h.finish()
    }
}
