//! Pull: index functions that those who read them at random compute for themselves.
//!
//! `generate`, and maps over arrays in memory or over other index functions, can tell any element
//! from its index alone. Who reads such an array at an index (`reverse`, `slice`, `gather`,
//! `windows`, `at`, ...) need not have it in memory: the element is computed where it is read. An
//! array is *pulled* like this if no work is done twice, or if its elements are cheap to compute
//! again:
//!
//! * it is read at one index per element of one consumer, no two of which are equal (the parameter
//!   of a `generate` plus or minus something fixed), and nothing else needs it; or
//! * it is read once per loop only (`xs.map(f).at(0)`); or
//! * its elements are cheap: few operators and reads, no division or remainder, no transcendental
//!   function, no scalar loop.
//!
//! A pulled array that others consume in step, or that is a result, is in a loop as well.

mod functions;

use super::cluster::free::{constant, is_alias};
use super::mirror::Mirrors;
use super::rates::Rates;
use crate::ast::{Body, Kind, Len, Term, TermId};
use crate::sharing::uniform::is_uniform;
use crate::sharing::{FieldRef, Graph, NodeId};
use functions::{Functions, accesses, body_nesting};
use loop_lang::op::Op;
use rustc_hash::FxHashMap;

/// What elements of a pulled array may cost to be computed twice: operators plus reads.
const CHEAP: u32 = 8;

/// How deep they may nest in a body that pulls: with what is pulled they stay below the limit for
/// bodies.
const MAX_OUTER_NESTING: u32 = 64;

/// How many sums and differences an index is looked through.
const MAX_SHIFTS: u32 = 8;

/// How long an array is, where no loop has to run to tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// As long as this array in memory, or this generator of known length.
    Of(NodeId),
    /// This delayed scalar.
    Scalar(FieldRef),
    /// All rows of these lengths, which are one number.
    Rows(FieldRef),
}

/// What is pulled, and what follows from it.
#[derive(Clone, Debug, Default)]
pub struct Pulls {
    pulled: Vec<bool>,
    may_trap: Vec<bool>,
    costly: Vec<bool>,
    in_memory: Vec<bool>,
    in_no_loop: Vec<bool>,
    extents: Vec<Option<Extent>>,
    behind: Vec<Vec<NodeId>>,
    /// What is read from the end, by the loop that makes it.
    pub mirrors: Mirrors,
}

impl Pulls {
    /// Whether reads at an index compute the element, rather than read it from memory.
    pub fn is_pulled(&self, n: NodeId) -> bool {
        self.pulled[n.index()]
    }

    /// Whether reading a pulled array at an index may trap, or not end, even if the index is
    /// inside.
    pub fn may_trap(&self, n: NodeId) -> bool {
        self.pulled[n.index()] && self.may_trap[n.index()]
    }

    /// Whether an array is read at an index, could be computed there, and is not: it would be
    /// twice.
    pub fn is_costly(&self, n: NodeId) -> bool {
        self.costly[n.index()]
    }

    /// Whether a computed array is needed in memory: as a result, the base of a scatter, or because
    /// it is read at an index and not pulled.
    pub fn is_in_memory(&self, n: NodeId) -> bool {
        self.in_memory[n.index()]
    }

    /// Whether no loop has to compute a node: every use computes it anew, or its value is known
    /// when programs start.
    pub fn is_in_no_loop(&self, n: NodeId) -> bool {
        self.in_no_loop[n.index()]
    }

    /// The length of an array, where it is known without a loop.
    pub fn extent(&self, n: NodeId) -> Option<Extent> {
        self.extents[n.index()]
    }

    /// The length of an array, where it is that of something else: it takes nothing to know it.
    pub fn own_extent(&self, n: NodeId) -> Option<Extent> {
        self.extent(n).filter(|e| !matches!(e, Extent::Rows(_)))
    }

    /// Whether a node stands for what is [behind](Pulls::behind) it: pulled arrays, where they are
    /// read at an index, and lengths that are known without a loop.
    pub fn stands_for_others(&self, n: NodeId) -> bool {
        self.pulled[n.index()] || (self.in_no_loop[n.index()] && self.extents[n.index()].is_none())
    }

    /// Whether an index that a generator's body reads an array at is the generator's own, and
    /// inside because both are of one length. Constants are not looked at: a plan holds for all.
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

    /// What must be made before a pulled array is read at an index: arrays that it reads from
    /// memory, delayed scalars that it captures. Of a length, the delayed scalar that it is.
    pub fn behind(&self, n: NodeId) -> &[NodeId] {
        &self.behind[n.index()]
    }
}

/// Whether inputs that are consumed together are known to be of one length.
fn in_step_unchecked(rates: &Rates, id: NodeId, inputs: &[NodeId]) -> bool {
    let equal = |i: &NodeId| rates.known_equal(*i, inputs[0]);
    !rates.is_fresh(id) && inputs.iter().all(equal)
}

/// Decides what is pulled: nothing unless `enabled`.
pub fn pull(graph: &Graph, rates: &Rates, enabled: bool) -> Pulls {
    let extents = extents(graph, rates);
    let functions = match enabled {
        true => Functions::find(graph, rates, &extents),
        false => Functions::none(graph),
    };
    let mirrors = match enabled {
        true => Mirrors::find(graph, rates, |n| {
            !graph.nodes[n.index()].leaf && !functions.is(n)
        }),
        false => Mirrors::default(),
    };
    let mut uses = Uses::of(graph, rates, &functions, &mirrors);
    for id in graph.ids().rev() {
        if !graph.nodes[id.index()].leaf && !is_alias(graph, rates, id) {
            uses.node(id, &extents);
        }
    }
    let mut in_no_loop = uses.in_no_loop;
    for id in graph.ids() {
        in_no_loop[id.index()] |= is_known_length(graph, &extents, id);
    }
    let mut pulls = Pulls {
        pulled: uses.pulled,
        may_trap: functions.may_trap.clone(),
        costly: uses.costly,
        in_memory: uses.in_memory,
        in_no_loop,
        extents,
        behind: vec![Vec::new(); graph.nodes.len()],
        mirrors: mirrors.clone(),
    };
    for id in graph.ids().filter(|id| !graph.nodes[id.index()].leaf) {
        pulls.behind[id.index()] = pulls.find_behind(graph, id);
    }
    pulls
}

/// Whether a node is the length of an array that is known without a loop.
fn is_known_length(graph: &Graph, extents: &[Option<Extent>], id: NodeId) -> bool {
    let node = &graph.nodes[id.index()];
    let told = |n: NodeId| matches!(extents[n.index()], Some(Extent::Of(_) | Extent::Scalar(_)));
    matches!(node.node.kind, Kind::Len) && !node.leaf && told(node.inputs[0])
}

/// The length of every array where it is known without a loop: that of the memory or of the
/// generator at the far end of what is computed in step.
fn extents(graph: &Graph, rates: &Rates) -> Vec<Option<Extent>> {
    let mut extents: Vec<Option<Extent>> = Vec::with_capacity(graph.nodes.len());
    for id in graph.ids() {
        let node = &graph.nodes[id.index()];
        let extent = match &node.node.kind {
            _ if node.node.rank == 0 => None,
            _ if node.leaf => Some(Extent::Of(id)),
            kind if kind.facts().in_step() && in_step_unchecked(rates, id, &node.inputs) => {
                extents[node.inputs[0].index()]
            }
            Kind::Generate(Len::Known(_), _) => Some(Extent::Of(id)),
            Kind::Generate(Len::Delayed(_), _) => node.length.and_then(|by| {
                let (by, field) = graph.resolve(by, 0);
                let length = &graph.nodes[by.index()];
                match length.node.kind {
                    Kind::Len if !length.leaf => {
                        let of = extents[length.inputs[0].index()];
                        of.filter(|e| !matches!(e, Extent::Rows(_)))
                    }
                    _ => Some(Extent::Scalar((by, field))),
                }
            }),
            Kind::Expand(_) => {
                let lengths = graph.resolve(node.inputs[0], 0);
                let known = extents[lengths.0.index()].is_some() && is_uniform(graph, lengths);
                known.then_some(Extent::Rows(lengths))
            }
            _ => None,
        };
        extents.push(extent);
    }
    extents
}

/// How a body is run, as far as what it reads is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Run {
    /// Once per loop.
    Once,
    /// Once per element of a generator: indices made from its parameter may be all different.
    PerIndex,
    /// Any number of times at any index.
    Often,
}

/// Who reads an array at an index.
#[derive(Clone, Default, Debug)]
struct Readers {
    /// Where, once per element: each a term of a body, by way of pulled arrays or not.
    places: Vec<u32>,
    /// Whether somebody reads it at all.
    any: bool,
    /// Whether an element may be read more than once in one place.
    often: bool,
    /// Whether somebody nests too deep to compute it.
    too_deep: bool,
}

struct Uses<'a> {
    graph: &'a Graph,
    rates: &'a Rates,
    functions: &'a Functions,
    mirrors: &'a Mirrors,
    readers: Vec<Readers>,
    /// Consumed in step by a loop.
    streamed: Vec<bool>,
    /// Needed in memory: as long as its readers are not decided on, for something else.
    in_memory: Vec<bool>,
    places: FxHashMap<(Option<u32>, NodeId, usize, TermId), u32>,
    pulled: Vec<bool>,
    costly: Vec<bool>,
    in_no_loop: Vec<bool>,
}

impl<'a> Uses<'a> {
    fn of(
        graph: &'a Graph,
        rates: &'a Rates,
        functions: &'a Functions,
        mirrors: &'a Mirrors,
    ) -> Uses<'a> {
        let n = graph.nodes.len();
        let mut in_memory = vec![false; n];
        for (n, _) in graph.roots.iter().flat_map(|r| graph.fields(*r)) {
            in_memory[n.index()] = true;
        }
        Uses {
            graph,
            rates,
            functions,
            mirrors,
            readers: vec![Readers::default(); n],
            streamed: vec![false; n],
            in_memory,
            places: FxHashMap::default(),
            pulled: vec![false; n],
            costly: vec![false; n],
            in_no_loop: vec![false; n],
        }
    }

    /// Decides on a node, all of whose users are decided, and counts what it uses.
    fn node(&mut self, id: NodeId, extents: &[Option<Extent>]) {
        let at = id.index();
        let readers = std::mem::take(&mut self.readers[at]);
        self.pulled[at] = readers.any && self.may_be_pulled(id, &readers);
        self.costly[at] = readers.any && !self.pulled[at] && self.functions.is(id);
        self.in_memory[at] |= readers.any && !self.pulled[at];
        let in_a_loop = self.streamed[at] || self.in_memory[at];
        self.in_no_loop[at] = self.functions.is(id) && !in_a_loop;
        if self.pulled[at] {
            self.uses_at_an_index(id, &readers);
        }
        if !self.in_no_loop[at] && !is_known_length(self.graph, extents, id) {
            self.uses_in_a_loop(id);
        }
    }

    fn may_be_pulled(&self, id: NodeId, readers: &Readers) -> bool {
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

    /// What a loop that computes the node uses.
    fn uses_in_a_loop(&mut self, id: NodeId) {
        let graph = self.graph;
        if let Some(source) = self.mirrors.source(id) {
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
                // A buffer is filled with it.
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
                Kind::Compute(_) => Run::Once,
                Kind::Expand(_) if has_own_indices(graph, id) => Run::PerIndex,
                Kind::Generate(..) if i + 1 == all.len() => Run::PerIndex,
                Kind::Generate(..) => Run::Once,
                _ => Run::Often,
            };
            for (n, index) in accesses(graph, body, &node.captures[i]) {
                self.read(id, i, body, (n, index), run, &[None]);
            }
        }
    }

    /// What computing the node at an index uses, in each place where that is done.
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
            _ if readers.often => Run::Often,
            _ if readers.places.is_empty() => Run::Once,
            Kind::Generate(..) => Run::PerIndex,
            Kind::Expand(_) if has_own_indices(graph, id) => Run::PerIndex,
            _ => Run::Often,
        };
        let places: Vec<Option<u32>> = readers.places.iter().map(|p| Some(*p)).collect();
        for (n, index) in accesses(graph, body, captures) {
            self.read(id, all.len() - 1, body, (n, index), run, &places);
        }
    }

    /// Counts a read at an index in the `i`-th body of a node.
    fn read(
        &mut self,
        id: NodeId,
        i: usize,
        body: &Body,
        (n, index): (NodeId, TermId),
        run: Run,
        places: &[Option<u32>],
    ) {
        let looping = !body.loops.is_empty();
        let readers = &mut self.readers[n.index()];
        readers.any = true;
        readers.too_deep |= body_nesting(body) > MAX_OUTER_NESTING;
        match run {
            Run::Once if !looping => return,
            Run::PerIndex if !looping && is_shifted(body, index) => {}
            _ => readers.often = true,
        }
        for place in places {
            let next = self.places.len() as u32;
            let place = *self.places.entry((*place, id, i, index)).or_insert(next);
            readers.places.push(place);
        }
    }
}

/// Whether an index is made of the body's parameters, which are the indices of an element, so that no two elements read the
/// same: each is used once, plus or minus something fixed or less than that, and all of them are put together as the
/// index among rows.
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

/// Whether the parameters of an expansion are the indices of its elements: that within the segment, and those of the
/// segment, each once.
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

/// The generator or the expansion whose own index a field is, whichever handed it on.
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

/// Whether a term is the same for all elements.
fn is_fixed(body: &Body, t: TermId) -> bool {
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

impl Pulls {
    fn find_behind(&self, graph: &Graph, id: NodeId) -> Vec<NodeId> {
        let node = &graph.nodes[id.index()];
        let mut found = Vec::new();
        if is_known_length(graph, &self.extents, id) {
            self.add_length(&mut found, node.inputs[0]);
        }
        if !self.pulled[id.index()] {
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
        let Some(Extent::Scalar((n, _)) | Extent::Rows((n, _))) = self.extents[array.index()]
        else {
            return;
        };
        self.add_behind(found, n);
        if let Some(Extent::Rows(_)) = self.extents[array.index()] {
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
