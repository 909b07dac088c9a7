//! Phases: a loop may run over several roots, one after the other.
//!
//! All phases of a loop share its loop-carried values.
//!
//! An append has the elements of each of its parts in turn, and a class of its own. For example,
//! `xs.append(&ys).sum()` is one loop that runs over `xs`, then over `ys`. In general the loop runs
//! over the root of the first part, then over the root of the second, and so on. Elementwise
//! consumers of the append run in each of these phases, on the elements of the current part.
//!
//! The roots that may be phases of one loop form a *family*. A family orders its *slots*: one for
//! each root, and further ones for parts that iterate over a root again. Some parts cannot be
//! computed in the loops of their family and are read from memory. Either the order forbids it, or
//! the part iterates over the elements of an earlier part and would need the loop-carried values of
//! that part. A scan that only the later part consumes runs in the later phase alone.

mod again;

use super::cluster::PlannedLoop;
use super::rates::{ClassId, ClassKind, Rates, indexed_array};
use super::sides::NodeUsers;
use crate::ast::Kind;
use crate::sharing::{Graph, NodeId};
use again::{behind, runs_again};
use rustc_hash::{FxHashMap, FxHashSet};

/// Holds the roots that may be phases of one loop, in order.
#[derive(Clone, Debug, Default)]
pub struct Families {
    /// The family of a root, or of an append's class.
    of: FxHashMap<ClassId, ClassId>,
    /// The slots of each family, in order.
    orders: FxHashMap<ClassId, Vec<usize>>,
    /// The total number of slots.
    slots: usize,
    /// The position of each slot in its family's order, once that is complete.
    positions: Vec<usize>,
    /// The first slot of each root, the default slot of its nodes.
    first: FxHashMap<ClassId, usize>,
    /// The parts of each append's class.
    parts: FxHashMap<ClassId, Vec<AppendPart>>,
}

/// A part of an append.
#[derive(Clone, Copy, Debug)]
struct AppendPart {
    /// The class of its elements.
    class: ClassId,
    /// Its slot. None for a nested append, whose parts have their own slots.
    slot: Option<usize>,
    /// Whether the producer of the part may be in the append's loop.
    computed: bool,
}

/// Describes one of the roots that a loop runs over, one after the other.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The class of the root.
    pub root: ClassId,
    /// The nodes that run in it, in dependency order.
    pub nodes: Vec<NodeId>,
    /// The parts of appends whose elements it has.
    pub parts: Vec<PartOf>,
}

/// Names a part of an append, and the class of its elements.
#[derive(Clone, Copy, Debug)]
pub struct PartOf {
    /// The append's class.
    pub append: ClassId,
    /// The position of the part.
    pub part: usize,
    /// The class of the part's elements.
    pub class: ClassId,
}

impl Phase {
    /// Returns the position and the class of the part that this phase has.
    pub fn part(&self, append: ClassId) -> Option<(usize, ClassId)> {
        let part = self.parts.iter().find(|p| p.append == append)?;
        Some((part.part, part.class))
    }

    /// Returns the class above another in this phase.
    ///
    /// The class above an append is the class of its part.
    pub fn above(&self, rates: &Rates, class: ClassId) -> Option<ClassId> {
        match rates.kind(class) {
            _ if class == self.root => None,
            ClassKind::Append(_) => self.part(class).map(|p| p.1),
            _ => rates.parent(class),
        }
    }

    /// Returns whether a class equals another or is below it in this phase.
    pub fn is_within(&self, rates: &Rates, class: ClassId, above: ClassId) -> bool {
        let up = |c: &ClassId| self.above(rates, *c);
        std::iter::successors(Some(class), up).any(|c| c == above)
    }
}

impl Families {
    /// Finds the families of all appends of a graph.
    ///
    /// A class of appends comes after the classes of its parts.
    pub fn of(graph: &Graph, rates: &mut Rates, appends: &[(ClassId, Vec<NodeId>)]) -> Families {
        let mut families = Families::default();
        let alike: Alike<'_> = appends
            .iter()
            .map(|(c, all)| (*c, all.as_slice()))
            .collect();
        let users = match appends {
            [] => return families,
            _ => NodeUsers::of(graph),
        };
        for (class, _) in appends.iter().rev() {
            if !families.of.contains_key(class) {
                families.add((graph, &users), rates, &alike, *class);
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

    /// Returns the family of a root or of an append's class.
    pub fn family(&self, class: ClassId) -> Option<ClassId> {
        self.of.get(&class).copied()
    }

    /// Returns whether the producer of a part may be in the append's loop.
    pub fn may_compute(&self, append: ClassId, part: usize) -> bool {
        let parts = self.parts.get(&append);
        parts.and_then(|p| p.get(part)).is_some_and(|p| p.computed)
    }

    /// Returns whether a shared loop completes all work over `root` before it reaches `other`.
    pub fn is_before(&self, root: ClassId, other: ClassId) -> bool {
        let at = |root: &ClassId| self.first.get(root).map(|slot| self.positions[*slot]);
        let order = at(&root).zip(at(&other));
        self.family(root) == self.family(other) && order.is_some_and(|(root, other)| root < other)
    }

    fn add(
        &mut self,
        (graph, users): (&Graph, &NodeUsers),
        rates: &mut Rates,
        alike: &Alike<'_>,
        class: ClassId,
    ) {
        let parts = |n: &NodeId| graph.nodes[n.index()].inputs.iter().copied();
        let mut all = alike_of(alike, class).iter().flat_map(parts);
        let known = all.find_map(|part| self.of.get(&top_of(rates, part)?).copied());
        let family = known.unwrap_or_else(|| rates.new_class(ClassKind::Phases));
        let mut adding = Adding {
            users,
            family,
            at: 0,
            used: FxHashSet::default(),
        };
        let mut stack: Vec<(ClassId, usize)> = vec![(class, 0)];
        self.of.insert(class, family);
        while let Some((class, k)) = stack.pop() {
            // The parts of each append of the class, whose elements advance together.
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
            let mut new = AppendPart {
                class: of,
                slot: None,
                computed: true,
            };
            // Nodes that zips advance on demand run in the loop of the zip.
            let mut makers = parts.iter().flat_map(|part| makers(graph, *part));
            let on_demand = makers.any(|m| rates.cursors_of(m).is_some());
            match rates.kind(top) {
                _ if on_demand => {
                    new.computed = false;
                    new.slot = Some(self.new_slot(&mut adding));
                }
                // The parts of an append without a family take the append's place.
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
        adding: &mut Adding<'_>,
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
        let computed =
            family == Some(adding.family) && runs_again(graph, rates, adding.users, parts);
        (self.new_slot(adding), computed)
    }

    /// Advances past the slots of an append with slots. Returns false if they are of another
    /// family, before the last added slot, or in use already.
    fn passes(&self, rates: &Rates, adding: &mut Adding<'_>, append: ClassId) -> bool {
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

    /// The first or last slot of an append's parts.
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

    fn new_slot(&mut self, adding: &mut Adding<'_>) -> usize {
        let slot = self.slots;
        self.slots += 1;
        let order = self.orders.entry(adding.family).or_default();
        order.insert(adding.at.min(order.len()), slot);
        adding.at += 1;
        slot
    }

    /// Returns the phases of a loop, in order.
    ///
    /// There is one, unless the loop computes an append.
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
        // The nodes that select another node's elements are needed in the same phase.
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
        // A class of appends comes after the classes of its parts.
        let mut classes: Vec<ClassId> = appends.keys().copied().collect();
        classes.sort_unstable();
        let mut replayed: FxHashMap<NodeId, Vec<Key>> = FxHashMap::default();
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
                                replayed.entry(n).or_default().push(key);
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
            // A node that a zip advances on demand runs in the phases of the zip.
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
                _ => replayed.remove(n).unwrap_or_default(),
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
        // The final value of a scan is known after the scan's last phase.
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

/// The phases of each node.
type RunsIn = Vec<(NodeId, Vec<Key>)>;

/// The phases of a loop under construction, each by its slot and its root.
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

    /// The phases that have elements of an append.
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

/// The place in a family's order where the parts of an append are added.
struct Adding<'u> {
    users: &'u NodeUsers,
    family: ClassId,
    /// The slot before which the next one is inserted.
    at: usize,
    /// The roots, and the appends among the parts, that have a slot.
    used: FxHashSet<ClassId>,
}

fn top_of(rates: &Rates, n: NodeId) -> Option<ClassId> {
    rates.output(n).map(|c| rates.top(c))
}

/// The producers of an array's fields. For a generator over the indices of another array, also that
/// array's producers.
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
