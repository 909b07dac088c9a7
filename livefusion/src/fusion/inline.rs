//! Inlining of index functions: computes array elements at their reads.
//!
//! `generate`, and maps over arrays in memory or over other index functions, can compute any
//! element from its index alone. Such an array need not be in memory for indexed reads (`reverse`,
//! `slice`, `gather`, `windows`, `at`, ...). The reader computes the element instead. An array is
//! inlined like this if no work is duplicated, or if its elements are cheap to recompute:
//!
//! * It is read at one index per element of one consumer, all these indices differ, and there is no
//!   other use. Such an index is the parameter of a `generate` plus or minus a constant.
//! * Or it is read once per loop only (`xs.map(f).at(0)`).
//! * Or its elements are cheap: few operators and reads, no division or remainder, no
//!   transcendental function, no scalar loop.
//!
//! An inlined array that has elementwise consumers, or that is a result, is computed in a loop as
//! well.

mod entry;
mod functions;

use super::cluster::free::{constant, is_alias};
use super::rates::Rates;
use super::reversed::Reversals;
use crate::ast::{Body, Kind, Len, Term, TermId};
use crate::sharing::uniform::is_uniform;
use crate::sharing::{FieldRef, Graph, NodeId};
use functions::{Functions, accesses, body_nesting};
use loop_lang::op::Op;
use rustc_hash::FxHashMap;

/// The maximal cost of an element that may be computed more than once: operators plus reads.
const CHEAP: u32 = 8;

/// The maximal nesting of a body with inlined arrays. Together with these it stays below the limit
/// for bodies.
const MAX_OUTER_NESTING: u32 = 64;

/// The maximal number of sums and differences in an index that the analysis follows.
const MAX_SHIFTS: u32 = 8;

/// Describes a length that is known without running a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnownExtent {
    /// The length of this array in memory, or of this generator of known length.
    Of(NodeId),
    /// This delayed scalar.
    Scalar(FieldRef),
    /// The total of these row lengths, which are all equal.
    Rows(FieldRef),
}

/// Holds the inlining decisions and facts that follow from them.
#[derive(Clone, Debug, Default)]
pub struct Inlining {
    inlined: Vec<bool>,
    may_trap: Vec<bool>,
    costly: Vec<bool>,
    in_memory: Vec<bool>,
    in_no_loop: Vec<bool>,
    at_entry: Vec<bool>,
    extents: Vec<Option<KnownExtent>>,
    behind: Vec<Vec<NodeId>>,
    /// The reversals that are fused with their operands.
    pub reversals: Reversals,
}

impl Inlining {
    /// Returns whether indexed reads compute the element instead of loading it.
    pub fn is_inlined(&self, n: NodeId) -> bool {
        self.inlined[n.index()]
    }

    /// Returns whether an indexed read of an inlined array may trap or diverge.
    ///
    /// The index is in bounds.
    pub fn may_trap(&self, n: NodeId) -> bool {
        self.inlined[n.index()] && self.may_trap[n.index()]
    }

    /// Returns whether an array could be inlined, but would be computed more than once.
    pub fn is_costly(&self, n: NodeId) -> bool {
        self.costly[n.index()]
    }

    /// Returns whether a computed array is needed in memory.
    ///
    /// It is a result, the base of a scatter, or read at an index without being inlined.
    pub fn is_in_memory(&self, n: NodeId) -> bool {
        self.in_memory[n.index()]
    }

    /// Returns whether no loop has to compute a node.
    ///
    /// Every use recomputes it, or its value is known when programs start.
    pub fn is_in_no_loop(&self, n: NodeId) -> bool {
        self.in_no_loop[n.index()]
    }

    /// Returns whether a delayed scalar is computed where its loop begins.
    ///
    /// Its operands are in memory when the program starts, so each consumer may be in that loop.
    pub fn is_at_entry(&self, n: NodeId) -> bool {
        self.at_entry[n.index()]
    }

    /// Returns the length of an array, where it is known without a loop.
    pub fn extent(&self, n: NodeId) -> Option<KnownExtent> {
        self.extents[n.index()]
    }

    /// Returns the length of an array, where it equals an existing length.
    ///
    /// No computation is needed to know it.
    pub fn own_extent(&self, n: NodeId) -> Option<KnownExtent> {
        self.extent(n)
            .filter(|e| !matches!(e, KnownExtent::Rows(_)))
    }

    /// Returns whether the nodes [behind](Inlining::behind) a node replace it.
    ///
    /// This holds for inlined arrays at indexed reads, and for lengths that are known without a
    /// loop.
    pub fn stands_for_others(&self, n: NodeId) -> bool {
        self.inlined[n.index()] || (self.in_no_loop[n.index()] && self.extents[n.index()].is_none())
    }

    /// Returns whether a generator's body reads an array at the generator's own index.
    ///
    /// The index is in bounds because both have the same length. Constants are ignored, because a
    /// plan holds for all constants.
    pub fn is_own_index(
        &self,
        graph: &Graph,
        reader: NodeId,
        index: TermId,
        array: NodeId,
    ) -> bool {
        let Kind::Generate(_, body) = &graph.node(reader).kind else {
            return false;
        };
        let is_own = matches!(body.terms[index.index()].term, Term::Param(_));
        let length = self.extent(reader);
        is_own && length.is_some() && length == self.extent(array)
    }

    /// Returns the operands that must be ready before an inlined array is read.
    ///
    /// These are arrays in memory and captured delayed scalars. For a length it is the delayed
    /// scalar that gives it.
    pub fn behind(&self, n: NodeId) -> &[NodeId] {
        &self.behind[n.index()]
    }
}

/// Whether inputs that are consumed together are known to have equal lengths.
fn in_step_unchecked(rates: &Rates, id: NodeId, inputs: &[NodeId]) -> bool {
    let equal = |i: &NodeId| rates.known_equal(*i, inputs[0]);
    !rates.is_fresh(id) && inputs.iter().all(equal)
}

/// Decides on inlining, if `enabled`.
pub fn inline(graph: &Graph, rates: &Rates, enabled: bool) -> Inlining {
    let extents = extents(graph, rates);
    let functions = match enabled {
        true => Functions::find(graph, rates, &extents),
        false => Functions::none(graph),
    };
    let reversals = match enabled {
        true => Reversals::find(graph, rates, |n| {
            !graph.nodes[n.index()].leaf && !functions.is(n)
        }),
        false => Reversals::default(),
    };
    let mut uses = ArrayUses::of(graph, rates, &functions, &reversals);
    for id in graph.ids().rev() {
        if !graph.nodes[id.index()].leaf && !is_alias(graph, rates, id) {
            uses.node(id, &extents);
        }
    }
    let mut in_no_loop = uses.in_no_loop;
    for id in graph.ids() {
        in_no_loop[id.index()] |= is_known_length(graph, &extents, id);
    }
    let mut inlining = Inlining {
        at_entry: entry::scalars_at_entry(graph, &in_no_loop),
        inlined: uses.inlined,
        may_trap: functions.may_trap.clone(),
        costly: uses.costly,
        in_memory: uses.in_memory,
        in_no_loop,
        extents,
        behind: vec![Vec::new(); graph.nodes.len()],
        reversals: reversals.clone(),
    };
    for id in graph.ids().filter(|id| !graph.nodes[id.index()].leaf) {
        inlining.behind[id.index()] = inlining.find_behind(graph, id);
    }
    inlining
}

/// Whether a node is the length of an array that is known without a loop.
fn is_known_length(graph: &Graph, extents: &[Option<KnownExtent>], id: NodeId) -> bool {
    let node = &graph.nodes[id.index()];
    let is_known = |n: NodeId| {
        matches!(
            extents[n.index()],
            Some(KnownExtent::Of(_) | KnownExtent::Scalar(_))
        )
    };
    matches!(node.node.kind, Kind::Len) && !node.leaf && is_known(node.inputs[0])
}

/// The length of every array that is known without a loop. An elementwise result has the length of
/// its operands, so the length comes from memory or from a generator.
fn extents(graph: &Graph, rates: &Rates) -> Vec<Option<KnownExtent>> {
    let mut extents: Vec<Option<KnownExtent>> = Vec::with_capacity(graph.nodes.len());
    for id in graph.ids() {
        let node = &graph.nodes[id.index()];
        let extent = match &node.node.kind {
            _ if node.node.rank == 0 => None,
            _ if node.leaf => Some(KnownExtent::Of(id)),
            kind if kind.facts().in_step() && in_step_unchecked(rates, id, &node.inputs) => {
                extents[node.inputs[0].index()]
            }
            Kind::Generate(Len::Known(_), _) => Some(KnownExtent::Of(id)),
            Kind::Generate(Len::Delayed(_), _) => node.length.and_then(|by| {
                let (by, field) = graph.resolve(by, 0);
                let length = &graph.nodes[by.index()];
                match length.node.kind {
                    Kind::Len if !length.leaf => {
                        let of = extents[length.inputs[0].index()];
                        of.filter(|e| !matches!(e, KnownExtent::Rows(_)))
                    }
                    _ => Some(KnownExtent::Scalar((by, field))),
                }
            }),
            Kind::Expand(_) => {
                let lengths = graph.resolve(node.inputs[0], 0);
                let known = extents[lengths.0.index()].is_some() && is_uniform(graph, lengths);
                known.then_some(KnownExtent::Rows(lengths))
            }
            _ => None,
        };
        extents.push(extent);
    }
    extents
}

/// How often a body runs, as far as its reads are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BodyRuns {
    /// Once per loop.
    Once,
    /// Once per element of a generator. Indices computed from its parameter may all differ.
    PerIndex,
    /// Any number of times, at any index.
    Often,
}

/// The indexed reads of an array.
#[derive(Clone, Default, Debug)]
struct Readers {
    /// The places that read once per element: each is a term of a body, possibly through inlined
    /// arrays.
    places: Vec<u32>,
    /// Whether there is any read.
    any: bool,
    /// Whether an element may be read more than once in one place.
    often: bool,
    /// Whether a read is nested too deep to inline the array.
    too_deep: bool,
}

struct ArrayUses<'a> {
    graph: &'a Graph,
    rates: &'a Rates,
    functions: &'a Functions,
    reversals: &'a Reversals,
    readers: Vec<Readers>,
    /// Whether a loop consumes it element by element.
    streamed: Vec<bool>,
    /// Whether another use needs it in memory. Indexed reads are added once their array is decided.
    in_memory: Vec<bool>,
    places: FxHashMap<(Option<u32>, NodeId, usize, TermId), u32>,
    inlined: Vec<bool>,
    costly: Vec<bool>,
    in_no_loop: Vec<bool>,
}

impl<'a> ArrayUses<'a> {
    fn of(
        graph: &'a Graph,
        rates: &'a Rates,
        functions: &'a Functions,
        reversals: &'a Reversals,
    ) -> ArrayUses<'a> {
        let n = graph.nodes.len();
        let mut in_memory = vec![false; n];
        for (n, _) in graph.roots.iter().flat_map(|r| graph.fields(*r)) {
            in_memory[n.index()] = true;
        }
        ArrayUses {
            graph,
            rates,
            functions,
            reversals,
            readers: vec![Readers::default(); n],
            streamed: vec![false; n],
            in_memory,
            places: FxHashMap::default(),
            inlined: vec![false; n],
            costly: vec![false; n],
            in_no_loop: vec![false; n],
        }
    }

    /// Decides on a node after all its users, and counts its uses of other nodes.
    fn node(&mut self, id: NodeId, extents: &[Option<KnownExtent>]) {
        let at = id.index();
        let readers = std::mem::take(&mut self.readers[at]);
        self.inlined[at] = readers.any && self.may_be_inlined(id, &readers);
        self.costly[at] = readers.any && !self.inlined[at] && self.functions.is(id);
        self.in_memory[at] |= readers.any && !self.inlined[at];
        let in_a_loop = self.streamed[at] || self.in_memory[at];
        self.in_no_loop[at] = self.functions.is(id) && !in_a_loop;
        if self.inlined[at] {
            self.uses_at_an_index(id, &readers);
        }
        if !self.in_no_loop[at] && !is_known_length(self.graph, extents, id) {
            self.uses_in_a_loop(id);
        }
    }

    fn may_be_inlined(&self, id: NodeId, readers: &Readers) -> bool {
        let Some(cost) = self.functions.cost[id.index()] else {
            return false;
        };
        let alone = !self.streamed[id.index()] && !self.in_memory[id.index()];
        let once = match readers.places.len() {
            0 => !readers.often,
            1 => !readers.often && alone,
            _ => false,
        };
        !readers.too_deep && (once || cost <= CHEAP)
    }

    /// Counts the uses of a loop that computes the node.
    fn uses_in_a_loop(&mut self, id: NodeId) {
        let graph = self.graph;
        if let Some(source) = self.reversals.source(id) {
            for (n, _) in graph.fields(source) {
                self.streamed[n.index()] = true;
            }
            return;
        }
        let node = &graph.nodes[id.index()];
        for (i, input) in node.inputs.iter().enumerate() {
            if self.rates.is_at_position(graph, id, i) {
                for (n, _) in graph.fields(*input) {
                    let readers = &mut self.readers[n.index()];
                    (readers.any, readers.often) = (true, true);
                }
                continue;
            }
            let base = node.node.kind.facts().has_base && i == 0;
            let how = match base {
                // The buffer is filled with a constant.
                true if constant(graph, *input).is_some() => continue,
                true => &mut self.in_memory,
                false => &mut self.streamed,
            };
            for (n, _) in graph.fields(*input) {
                how[n.index()] = true;
            }
        }
        let all = node.node.kind.bodies();
        for (i, body) in all.iter().enumerate() {
            let run = match node.node.kind {
                Kind::Compute(_) => BodyRuns::Once,
                Kind::Expand(_) if has_own_indices(graph, id) => BodyRuns::PerIndex,
                Kind::Generate(..) if i + 1 == all.len() => BodyRuns::PerIndex,
                Kind::Generate(..) => BodyRuns::Once,
                _ => BodyRuns::Often,
            };
            for (n, index) in accesses(graph, body, &node.captures[i]) {
                self.read(id, i, body, (n, index), run, &[None]);
            }
        }
    }

    /// Counts the uses of the node's inlined computation, in each place that inlines it.
    fn uses_at_an_index(&mut self, id: NodeId, readers: &Readers) {
        let graph = self.graph;
        let node = &graph.nodes[id.index()];
        for (n, _) in node.inputs.iter().flat_map(|i| graph.fields(*i)) {
            let known = &mut self.readers[n.index()];
            known.any = true;
            known.often |= readers.often;
            known.places.extend(&readers.places);
            known.places.sort_unstable();
            known.places.dedup();
        }
        let all = node.node.kind.bodies();
        let (Some(body), Some(captures)) = (all.last(), node.captures.last()) else {
            return;
        };
        let run = match node.node.kind {
            _ if readers.often => BodyRuns::Often,
            _ if readers.places.is_empty() => BodyRuns::Once,
            Kind::Generate(..) => BodyRuns::PerIndex,
            Kind::Expand(_) if has_own_indices(graph, id) => BodyRuns::PerIndex,
            _ => BodyRuns::Often,
        };
        let places: Vec<Option<u32>> = readers.places.iter().map(|p| Some(*p)).collect();
        for (n, index) in accesses(graph, body, captures) {
            self.read(id, all.len() - 1, body, (n, index), run, &places);
        }
    }

    /// Counts an indexed read in the `i`-th body of a node.
    fn read(
        &mut self,
        id: NodeId,
        i: usize,
        body: &Body,
        (n, index): (NodeId, TermId),
        run: BodyRuns,
        places: &[Option<u32>],
    ) {
        let looping = !body.loops.is_empty();
        let readers = &mut self.readers[n.index()];
        readers.any = true;
        readers.too_deep |= body_nesting(body) > MAX_OUTER_NESTING;
        match run {
            BodyRuns::Once if !looping => return,
            BodyRuns::PerIndex if !looping && is_shifted(body, index) => {}
            _ => readers.often = true,
        }
        for place in places {
            let next = self.places.len() as u32;
            let place = *self.places.entry((*place, id, i, index)).or_insert(next);
            readers.places.push(place);
        }
    }
}

/// Returns whether an index differs for all elements of a body.
///
/// The body's parameters are the indices of an element. Each must occur once, plus or minus a
/// constant or a smaller offset. Together they must form the index among rows.
pub fn is_shifted(body: &Body, index: TermId) -> bool {
    let mut used = vec![false; body.params.len()];
    let mut stack = vec![index];
    for _ in 0..MAX_SHIFTS * (body.params.len() as u32) {
        let Some(at) = stack.pop() else { break };
        match &body.terms[at.index()].term {
            Term::Param(k) if !std::mem::replace(&mut used[*k as usize], true) => {}
            Term::Op(Op::Add | Op::Sub, args) => match args.as_slice() {
                [a, b] if is_fixed(body, *b) => stack.push(*a),
                [a, b] if is_fixed(body, *a) => stack.push(*b),
                _ => return false,
            },
            Term::Flat(args) => {
                let inner = args[..2].iter().filter(|t| !is_fixed(body, **t));
                stack.extend(inner);
            }
            _ => return false,
        }
    }
    stack.is_empty() && used.iter().all(|used| *used)
}

/// Whether the parameters of an expansion are the indices of its elements: the index within the
/// segment, and those of the segment, each once.
fn has_own_indices(graph: &Graph, id: NodeId) -> bool {
    let node = &graph.nodes[id.index()];
    let values = node.inputs[1..].iter();
    let values: Vec<FieldRef> = (values.flat_map(|n| graph.fields(*n))).collect();
    let mut axes: Vec<Option<NodeId>> = values.into_iter().map(|f| axis_of(graph, f)).collect();
    axes.sort_unstable();
    let all = axes.len();
    axes.dedup();
    axes.len() == all && !axes.contains(&None)
}

/// The generator or the expansion whose own index a field is, through other expansions.
fn axis_of(graph: &Graph, (mut id, mut field): FieldRef) -> Option<NodeId> {
    loop {
        let node = &graph.nodes[id.index()];
        let (Kind::Generate(_, body) | Kind::Expand(body)) = &node.node.kind else {
            return None;
        };
        match body.terms[body.results.get(field as usize)?.index()].term {
            Term::Param(0) => return Some(id),
            Term::Param(k) => {
                let values = node.inputs.get(1..).unwrap_or_default().iter();
                let mut values = values.flat_map(|n| graph.fields(*n));
                (id, field) = values.nth(k as usize - 1)?;
            }
            _ => return None,
        }
    }
}

/// Returns whether a term is the same for all elements.
pub fn is_fixed(body: &Body, t: TermId) -> bool {
    let live = body.live_terms([t].into_iter());
    let terms = body.terms.iter().zip(live).filter(|(_, live)| *live);
    let mut used = terms.map(|(data, _)| &data.term);
    used.all(|t| {
        matches!(
            t,
            Term::Lit(_) | Term::Scalar { .. } | Term::Op(..) | Term::Flat(_)
        )
    })
}

impl Inlining {
    fn find_behind(&self, graph: &Graph, id: NodeId) -> Vec<NodeId> {
        let node = &graph.nodes[id.index()];
        let mut found = Vec::new();
        if is_known_length(graph, &self.extents, id) {
            self.add_length(&mut found, node.inputs[0]);
        }
        if !self.inlined[id.index()] {
            return found;
        }
        self.add_length(&mut found, id);
        for (n, _) in node.inputs.iter().flat_map(|i| graph.fields(*i)) {
            self.add_behind(&mut found, n);
        }
        for capture in node.captures.iter().flatten() {
            for (n, _) in graph.fields(*capture) {
                self.add_behind(&mut found, n);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn add_length(&self, found: &mut Vec<NodeId>, array: NodeId) {
        let Some(KnownExtent::Scalar((n, _)) | KnownExtent::Rows((n, _))) =
            self.extents[array.index()]
        else {
            return;
        };
        self.add_behind(found, n);
        if let Some(KnownExtent::Rows(_)) = self.extents[array.index()] {
            self.add_length(found, n);
        }
    }

    fn add_behind(&self, found: &mut Vec<NodeId>, n: NodeId) {
        if self.stands_for_others(n) {
            found.extend(&self.behind[n.index()]);
        } else {
            found.push(n);
        }
    }
}
