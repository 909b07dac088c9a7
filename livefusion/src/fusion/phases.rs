//! Phases: a loop may run over several roots, one after the other, and what it carries goes through all.
//!
//! An append has the elements of each of its parts in turn, and so has a class of its own. A loop that makes it
//! runs over the root of the first part, then over that of the second, and so on; what consumes the append in step
//! runs in each of these phases, on the elements of the part that is under way.
//!
//! The roots that may be phases of one loop are a *family*, which has an order of *slots*: one for each root, and
//! further ones for parts that go by the elements of a root that has one. A part that cannot
//! be computed in its family's loops is read from memory there: where the order forbids it, or where the part goes by
//! the same elements as an earlier one and would have to go on with what that has carried.

use super::cluster::PlannedLoop;
use super::rates::{ClassId, ClassKind, Rates, Selector, indexed_array};
use crate::ast::Kind;
use crate::sharing::{Graph, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which roots may be phases of one loop, in which order.
#[derive(Clone, Debug, Default)]
pub struct Families {
    /// The family of a root, or of an append's class.
    of: FxHashMap<ClassId, ClassId>,
    /// The slots of each family, in order.
    orders: FxHashMap<ClassId, Vec<usize>>,
    /// How many slots there are in all.
    slots: usize,
    /// Where each slot is in its family's order, once that is complete.
    positions: Vec<usize>,
    /// The first slot of each root, where everything runs that no other slot asks for.
    first: FxHashMap<ClassId, usize>,
    /// The parts of each append's class.
    parts: FxHashMap<ClassId, Vec<Part>>,
}

/// A part of an append.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The class of its elements.
    class: ClassId,
    /// Its slot; none if it is of an append, whose parts have theirs.
    slot: Option<usize>,
    /// Whether what computes it may be in the append's loop.
    computed: bool,
}

/// One of the roots that a loop runs over, one after the other.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The class of the root.
    pub root: ClassId,
    /// What runs in it, in dependency order.
    pub nodes: Vec<NodeId>,
    /// The parts of appends of which it has the elements.
    pub parts: Vec<PartOf>,
}

/// A part of an append, by position, and the class of its elements.
#[derive(Clone, Copy, Debug)]
pub struct PartOf {
    /// The append's class.
    pub append: ClassId,
    /// Which part it is.
    pub part: usize,
    /// The class of the part's elements.
    pub class: ClassId,
}

impl Phase {
    /// The part of an append's class that it has: its position, and the class of its elements.
    pub fn part(&self, append: ClassId) -> Option<(usize, ClassId)> {
        let part = self.parts.iter().find(|p| p.append == append)?;
        Some((part.part, part.class))
    }

    /// The class above another in this phase: an append's elements are those of its part.
    pub fn above(&self, rates: &Rates, class: ClassId) -> Option<ClassId> {
        match rates.kind(class) {
            _ if class == self.root => None,
            ClassKind::Append(_) => self.part(class).map(|p| p.1),
            _ => rates.parent(class),
        }
    }

    /// Whether a class is another or below it in this phase.
    pub fn is_within(&self, rates: &Rates, class: ClassId, above: ClassId) -> bool {
        let up = |c: &ClassId| self.above(rates, *c);
        std::iter::successors(Some(class), up).any(|c| c == above)
    }
}

impl Families {
    /// Finds the families of a graph's appends: of each class of these, which come behind those of their parts, all appends.
    pub fn of(graph: &Graph, rates: &mut Rates, appends: &[(ClassId, Vec<NodeId>)]) -> Families {
        let mut families = Families::default();
        let alike: Alike<'_> = appends
            .iter()
            .map(|(c, all)| (*c, all.as_slice()))
            .collect();
        for (class, _) in appends.iter().rev() {
            if !families.of.contains_key(class) {
                families.add(graph, rates, &alike, *class);
            }
        }
        families.positions = vec![0; families.slots];
        for order in families.orders.values() {
            for (at, slot) in order.iter().enumerate() {
                families.positions[*slot] = at;
            }
        }
        families
    }

    /// The family of a root or of an append's class.
    pub fn family(&self, class: ClassId) -> Option<ClassId> {
        self.of.get(&class).copied()
    }

    /// Whether what computes a part of an append may be in the append's loop.
    pub fn may_compute(&self, append: ClassId, part: usize) -> bool {
        let parts = self.parts.get(&append);
        parts.and_then(|p| p.get(part)).is_some_and(|p| p.computed)
    }

    /// Whether all that runs over a root is complete before a loop of both comes to the other.
    pub fn is_before(&self, root: ClassId, other: ClassId) -> bool {
        let at = |root: &ClassId| self.first.get(root).map(|slot| self.positions[*slot]);
        let order = at(&root).zip(at(&other));
        self.family(root) == self.family(other) && order.is_some_and(|(root, other)| root < other)
    }

    fn add(&mut self, graph: &Graph, rates: &mut Rates, alike: &Alike<'_>, class: ClassId) {
        let parts = |n: &NodeId| graph.nodes[n.index()].inputs.iter().copied();
        let mut all = alike_of(alike, class).iter().flat_map(parts);
        let known = all.find_map(|part| self.of.get(&top_of(rates, part)?).copied());
        let family = known.unwrap_or_else(|| rates.new_class(ClassKind::Phases));
        let mut adding = Adding {
            family,
            at: 0,
            used: FxHashSet::default(),
        };
        let mut stack: Vec<(ClassId, usize)> = vec![(class, 0)];
        self.of.insert(class, family);
        while let Some((class, k)) = stack.pop() {
            // Of each append of the class; their elements advance together.
            let parts = alike_of(alike, class).iter();
            let parts = parts.filter_map(|n| graph.nodes[n.index()].inputs.get(k).copied());
            let parts: Vec<NodeId> = parts.collect();
            let Some(part) = parts.first().copied() else {
                continue;
            };
            stack.push((class, k + 1));
            let Some((of, top)) = rates.output(part).zip(top_of(rates, part)) else {
                continue;
            };
            let mut new = Part {
                class: of,
                slot: None,
                computed: true,
            };
            // What zips advance runs where these do.
            let mut makers = parts.iter().flat_map(|part| makers(graph, *part));
            let on_demand = makers.any(|m| rates.cursors_of(m).is_some());
            match rates.kind(top) {
                _ if on_demand => {
                    new.computed = false;
                    new.slot = Some(self.new_slot(&mut adding));
                }
                // The parts of an append that nobody knows yet, in the place of that.
                ClassKind::Append(_) if !self.of.contains_key(&top) => {
                    self.of.insert(top, family);
                    adding.used.insert(top);
                    stack.push((top, 0));
                }
                ClassKind::Append(_) => match self.passes(rates, &mut adding, top) {
                    true => {}
                    false => {
                        new.computed = false;
                        new.slot = Some(self.new_slot(&mut adding));
                    }
                },
                _ => {
                    let (slot, computed) = self.slot(graph, rates, &mut adding, (&parts, top));
                    (new.slot, new.computed) = (Some(slot), computed);
                }
            }
            self.parts.entry(class).or_default().push(new);
        }
    }

    /// The slot of parts below a root, and whether they may be computed there.
    fn slot(
        &mut self,
        graph: &Graph,
        rates: &Rates,
        adding: &mut Adding,
        (parts, top): (&[NodeId], ClassId),
    ) -> (usize, bool) {
        let family = self.of.get(&top).copied();
        let is_new = adding.used.insert(top);
        if let (Some(first), true) = (self.first.get(&top).copied(), is_new)
            && family == Some(adding.family)
            && let Some(at) = self.position(adding.family, first)
            && at >= adding.at
        {
            adding.at = at + 1;
            return (first, true);
        }
        if family.is_none() {
            self.of.insert(top, adding.family);
            let slot = self.new_slot(adding);
            self.first.insert(top, slot);
            return (slot, true);
        }
        let is_elementwise = |part: &NodeId| is_elementwise(graph, rates, *part);
        let again = family == Some(adding.family) && parts.iter().all(is_elementwise);
        (self.new_slot(adding), again)
    }

    /// Passes the slots of an append that has some, if they are of this family and come behind those added last.
    fn passes(&self, rates: &Rates, adding: &mut Adding, append: ClassId) -> bool {
        let at = |slot: Option<usize>| self.position(adding.family, slot?);
        let [first, last] = [false, true].map(|last| at(self.end(rates, append, last)));
        let (Some(first), Some(last)) = (first, last) else {
            return false;
        };
        let new = first >= adding.at && adding.used.insert(append);
        if new {
            adding.at = last + 1;
        }
        new
    }

    /// The first slot of an append's parts, or the last one.
    fn end(&self, rates: &Rates, append: ClassId, last: bool) -> Option<usize> {
        let mut append = append;
        loop {
            let parts = self.parts.get(&append)?;
            let part = if last { parts.last() } else { parts.first() }?;
            match part.slot {
                Some(slot) => return Some(slot),
                None => append = rates.top(part.class),
            }
        }
    }

    fn position(&self, family: ClassId, slot: usize) -> Option<usize> {
        self.orders.get(&family)?.iter().position(|s| *s == slot)
    }

    fn new_slot(&mut self, adding: &mut Adding) -> usize {
        let slot = self.slots;
        self.slots += 1;
        let order = self.orders.entry(adding.family).or_default();
        order.insert(adding.at.min(order.len()), slot);
        adding.at += 1;
        slot
    }

    /// The phases of a loop, in order: one, unless it makes an append.
    pub fn phases(&self, graph: &Graph, rates: &Rates, planned: &PlannedLoop) -> Vec<Phase> {
        let Some(root) = planned.root else {
            return Vec::new();
        };
        if !self.orders.contains_key(&root) {
            return vec![Phase {
                root,
                nodes: planned.nodes.clone(),
                parts: Vec::new(),
            }];
        }
        let here = |n: NodeId| planned.nodes.binary_search(&n).is_ok();
        // What decides over the elements that something has is needed in the same phase.
        let above = |n: NodeId| {
            let deciding = rates.deciding_above(n, None);
            rates.selecting_above(n).chain(deciding)
        };
        let mut phases = Phases {
            positions: &self.positions,
            keys: FxHashSet::default(),
            parts: FxHashMap::default(),
        };
        let mut appends: FxHashMap<ClassId, Vec<NodeId>> = FxHashMap::default();
        for n in &planned.nodes {
            if let (Kind::Append, Some(class)) = (&graph.node(*n).kind, rates.output(*n)) {
                appends.entry(class).or_default().push(*n);
            }
        }
        // Classes of appends come behind those of their parts.
        let mut classes: Vec<ClassId> = appends.keys().copied().collect();
        classes.sort_unstable();
        let mut again: FxHashMap<NodeId, Vec<Key>> = FxHashMap::default();
        let mut in_first: Vec<NodeId> = Vec::new();
        for class in classes {
            for (k, part) in self.parts.get(&class).into_iter().flatten().enumerate() {
                let inputs = appends[&class].iter();
                let inputs = inputs.filter_map(|n| graph.nodes[n.index()].inputs.get(k).copied());
                let makers = inputs.flat_map(|i| makers(graph, i));
                let makers: Vec<NodeId> = makers.filter(|n| here(*n)).collect();
                let top = rates.top(part.class);
                let Some(slot) = part.slot.or_else(|| self.end(rates, top, false)) else {
                    continue;
                };
                let found = match rates.kind(top) {
                    _ if makers.is_empty() || !part.computed => {
                        vec![phases.add(slot, part.class)]
                    }
                    ClassKind::Append(_) => phases.of(top),
                    _ => {
                        let key = phases.add(slot, top);
                        if self.first.get(&top) == Some(&slot) {
                            in_first.extend(makers);
                        } else {
                            for n in behind(graph, makers, here, above) {
                                again.entry(n).or_default().push(key);
                            }
                        }
                        vec![key]
                    }
                };
                for key in found {
                    phases.parts.entry(key).or_default().push(PartOf {
                        append: class,
                        part: k,
                        class: part.class,
                    });
                }
            }
        }
        let (mut runs_in, mut totals): (RunsIn, RunsIn) = (Vec::new(), Vec::new());
        let mut slots: Vec<Option<Key>> = Vec::new();
        for n in planned.nodes.iter() {
            if let Kind::ScanTotal = graph.node(*n).kind {
                continue;
            }
            // What a zip advances on demand runs where the zip does.
            let zip = rates
                .cursors_of(*n)
                .map(|(zip, _)| zip)
                .filter(|z| here(*z));
            let runs_with = zip.map_or(*n, |zip| rates.outermost(zip));
            let Some(class) = rates.runs_at(runs_with) else {
                continue;
            };
            let top = rates.top(class);
            let keys = match rates.kind(top) {
                ClassKind::Append(_) => phases.of(top),
                _ => again.remove(n).unwrap_or_default(),
            };
            let first = self.first.get(&top).copied();
            if keys.is_empty() || planned.arrays.iter().any(|f| f.0 == *n) {
                in_first.extend(first.map(|_| *n));
            }
            slots.push(first.map(|slot| (slot, top)));
            runs_in.push((*n, keys));
        }
        let in_first = behind(graph, in_first, here, above);
        for ((n, keys), slot) in runs_in.iter_mut().zip(slots) {
            let slot = slot.filter(|_| in_first.contains(n));
            keys.extend(slot.map(|(slot, top)| phases.add(slot, top)));
        }
        // What a scan ends with is known when it does.
        for n in &planned.nodes {
            if let Kind::ScanTotal = graph.node(*n).kind {
                let scan = graph.nodes[n.index()].inputs[0];
                let scans = graph.fields(scan).into_iter().map(|f| f.0);
                let at = scans.filter_map(|s| runs_in.iter().find(|(m, _)| *m == s));
                let last = at
                    .flat_map(|(_, keys)| keys)
                    .max_by_key(|k| phases.position(k));
                if let Some(last) = last.copied() {
                    totals.push((*n, vec![last]));
                }
            }
        }
        runs_in.append(&mut totals);
        runs_in.sort_unstable_by_key(|(n, _)| *n);
        phases.finish(&runs_in)
    }
}

/// A phase, by its slot and its root.
type Key = (usize, ClassId);

/// In which phases each node runs.
type RunsIn = Vec<(NodeId, Vec<Key>)>;

/// The phases of a loop as they are found, each by its slot and its root.
struct Phases<'f> {
    positions: &'f [usize],
    keys: FxHashSet<Key>,
    parts: FxHashMap<Key, Vec<PartOf>>,
}

impl Phases<'_> {
    fn add(&mut self, slot: usize, root: ClassId) -> Key {
        self.keys.insert((slot, root));
        (slot, root)
    }

    /// Those that have elements of an append.
    fn of(&self, append: ClassId) -> Vec<Key> {
        let has = |key: &&Key| {
            let parts = self.parts.get(key).into_iter().flatten();
            parts.into_iter().any(|p| p.append == append)
        };
        self.keys.iter().filter(has).copied().collect()
    }

    fn position(&self, (slot, root): &Key) -> Key {
        (self.positions[*slot], *root)
    }

    fn finish(mut self, runs_in: &RunsIn) -> Vec<Phase> {
        let mut keys: Vec<Key> = self.keys.iter().copied().collect();
        keys.sort_unstable_by_key(|key| self.position(key));
        let phase = |key: Key| Phase {
            root: key.1,
            nodes: runs_in
                .iter()
                .filter(|(_, keys)| keys.contains(&key))
                .map(|(n, _)| *n)
                .collect(),
            parts: self.parts.remove(&key).unwrap_or_default(),
        };
        keys.into_iter().map(phase).collect()
    }
}

/// The appends of each class.
type Alike<'a> = FxHashMap<ClassId, &'a [NodeId]>;

fn alike_of<'a>(alike: &Alike<'a>, class: ClassId) -> &'a [NodeId] {
    alike.get(&class).copied().unwrap_or_default()
}

/// Where in a family's order the parts of an append are added.
struct Adding {
    family: ClassId,
    /// In front of which slot the next one goes.
    at: usize,
    /// The roots, and the appends among the parts, that have a slot.
    used: FxHashSet<ClassId>,
}

fn top_of(rates: &Rates, n: NodeId) -> Option<ClassId> {
    rates.output(n).map(|c| rates.top(c))
}

/// Who makes the fields of an array; of what is counted by the indices of another, whoever makes that.
fn makers(graph: &Graph, array: NodeId) -> Vec<NodeId> {
    let mut all: Vec<NodeId> = graph.fields(array).into_iter().map(|f| f.0).collect();
    let mut next = 0;
    while let Some(n) = all.get(next).copied() {
        let indexed = indexed_array(graph, n).filter(|_| !graph.nodes[n.index()].leaf);
        let fields = indexed.into_iter().flat_map(|a| graph.fields(a));
        let new: Vec<NodeId> = fields.map(|f| f.0).filter(|m| !all.contains(m)).collect();
        all.extend(new);
        next += 1;
    }
    all
}

/// What of a loop computes these, themselves included.
fn behind<A: Iterator<Item = NodeId>>(
    graph: &Graph,
    makers_of: Vec<NodeId>,
    here: impl Fn(NodeId) -> bool,
    above: impl Fn(NodeId) -> A,
) -> FxHashSet<NodeId> {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack = makers_of;
    while let Some(n) = stack.pop() {
        if here(n) && seen.insert(n) {
            let inputs = graph.nodes[n.index()].inputs.iter();
            for input in inputs {
                stack.push(*input);
                stack.extend(makers(graph, *input));
            }
            stack.extend(above(n));
        }
    }
    seen
}

/// Whether a part is computed element by element from what is in memory: once more does no harm.
fn is_elementwise(graph: &Graph, rates: &Rates, part: NodeId) -> bool {
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    let mut stack = vec![part];
    while let Some(n) = stack.pop() {
        let node = &graph.nodes[n.index()];
        if node.leaf || !seen.insert(n) {
            continue;
        }
        let in_step = node.node.kind.facts().elementwise && rates.sides(n).is_none();
        let plain = |mut class: ClassId| loop {
            match rates.kind(class) {
                ClassKind::Root => return true,
                ClassKind::Sub(above, Selector::Filter(_) | Selector::Tags(_)) => class = above,
                _ => return false,
            }
        };
        if !in_step || !rates.output(n).is_some_and(plain) {
            return false;
        }
        stack.extend(&node.inputs);
        // What makes the array that a generator counts comes along.
        stack.extend(indexed_array(graph, n));
    }
    true
}
