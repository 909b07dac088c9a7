//! Partly filled loops: the classes of each, and the items that can still join.
//!
//! A loop's state depends on the set of its members, not on the order in which they came. Its root
//! is the lowest common ancestor of its members' classes. It holds all classes on the paths from
//! these up to the root. A member must make each subrate among them; until that member is placed,
//! the loop *owes* the subrate. A memory read that follows a subrate at the root *pins* the root
//! there.

use super::budget;
use super::problem::{Class, ClusterItem, Link, Partition, Problem};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Marks an item without a loop.
const NONE: usize = usize::MAX;

/// Holds loops that are being filled with the items of a problem, in order.
#[derive(Clone, Debug)]
pub struct OpenLoops<'p> {
    problem: &'p Problem,
    open: Vec<OpenLoop>,
    loop_of: Vec<usize>,
    /// The state of a loop that is not open.
    empty: OpenLoop,
    /// The number of classes above each.
    depth: Vec<u32>,
    /// The number of subrates that the loops owe.
    owed: usize,
}

/// Names a member of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member {
    /// An item whose own loop this is.
    Original(usize),
    /// An item that is rematerialised in this loop.
    Copy(usize),
}

#[derive(Clone, Debug, Default)]
struct OpenLoop {
    /// The class that it runs over; none while it has scalars only.
    root: Option<usize>,
    /// The classes below its root that it holds.
    held: FxHashSet<usize>,
    /// The subrates that its members make.
    made: SmallVec<[usize; 2]>,
    /// The number of members that pin the root.
    pins: usize,
    /// The floors of its items.
    floors: SmallVec<[usize; 1]>,
    /// The items that are rematerialised here.
    copies: SmallVec<[usize; 2]>,
    /// The items that must be complete before the loop starts.
    before: SmallVec<[usize; 4]>,
    members: usize,
    weight: u32,
}

/// Describes how an item enters a loop.
#[derive(Clone, Debug, Default)]
pub struct LoopEntry {
    /// The loop's root with the item inside.
    pub root: Option<usize>,
    /// Classes below the root that the item adds.
    pub held: SmallVec<[usize; 3]>,
    /// Whether the item pins the root.
    pub pins: bool,
}

impl OpenLoop {
    /// Counts the subrates that an item makes and the loop still owes.
    fn settled(&self, item: &ClusterItem) -> usize {
        let makes = item.makes.iter();
        makes
            .filter(|c| self.held.contains(c) && !self.made.contains(c))
            .count()
    }
}

impl<'p> OpenLoops<'p> {
    /// Creates an empty set of loops.
    pub fn new(problem: &'p Problem) -> Self {
        OpenLoops {
            problem,
            open: Vec::new(),
            loop_of: vec![NONE; problem.items.len()],
            empty: OpenLoop::default(),
            depth: problem.depths(),
            owed: 0,
        }
    }

    /// Returns the loops of a partition.
    ///
    /// None if the partition is not allowed.
    pub fn filled(problem: &'p Problem, partition: &Partition) -> Option<Self> {
        let mut loops = OpenLoops::new(problem);
        loops.open_all(partition.count());
        for (member, l) in partition.members() {
            let entry = loops.enter(l, member)?;
            loops.put(l, member, &entry);
        }
        loops.are_whole().then_some(loops)
    }

    /// Returns a loop, or the empty state if it is not open.
    fn at(&self, l: usize) -> &OpenLoop {
        self.open.get(l).unwrap_or(&self.empty)
    }

    /// Returns whether no loop owes a subrate.
    pub fn are_whole(&self) -> bool {
        self.owed == 0
    }

    /// Returns the number of loops.
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// Returns the number of nonempty loops.
    pub fn used(&self) -> usize {
        self.open.iter().filter(|l| l.members > 0).count()
    }

    /// Returns whether a loop computes an item.
    pub fn has(&self, l: usize, item: usize) -> bool {
        self.loop_of[item] == l || self.at(l).copies.contains(&item)
    }

    /// Returns the items that a loop rematerialises.
    pub fn copies(&self, l: usize) -> &[usize] {
        &self.open[l].copies
    }

    /// Returns the loop of each item.
    pub fn loop_of(&self) -> &[usize] {
        &self.loop_of
    }

    /// Returns the root class of a loop.
    pub fn root(&self, l: usize) -> Option<usize> {
        self.open[l].root
    }

    /// Returns the classes below its root that a loop holds.
    #[cfg(test)]
    pub fn held(&self, l: usize) -> Vec<usize> {
        let mut held: Vec<usize> = self.open[l].held.iter().copied().collect();
        held.sort_unstable();
        held
    }

    /// Opens an empty loop.
    pub fn open(&mut self) -> usize {
        self.open.push(OpenLoop::default());
        self.open.len() - 1
    }

    /// Opens loops until there are `count`.
    pub fn open_all(&mut self, count: usize) {
        self.open.resize_with(count, OpenLoop::default);
    }

    /// Closes the loop that was opened last.
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// Lists the fields of segment lengths that a loop reads.
    pub fn lengths_read(&self, l: usize) -> impl Iterator<Item = usize> {
        self.open[l].held.iter().filter_map(|c| self.lengths(*c))
    }

    /// Returns the field of lengths of a class of segment elements.
    pub fn lengths(&self, class: usize) -> Option<usize> {
        self.problem.classes[class].lengths()
    }

    /// Returns how a member enters a loop, which need not be open.
    ///
    /// None if its links, the budget, its classes or its streams forbid it.
    pub fn enter(&self, l: usize, member: Member) -> Option<LoopEntry> {
        let open = self.at(l);
        let item = self.problem.item(member);
        let is_here = |k: &Link| self.has(l, k.from);
        let prevents = |k: &Link| match self.loop_of[k.from] == l {
            true => k.prevents.is_some(),
            false => k.apart && is_here(k),
        };
        if item.links.iter().any(prevents) {
            return None;
        }
        if let Member::Copy(i) = member
            && (open.before.contains(&i) || !item.links.iter().all(|k| !k.alone || is_here(k)))
        {
            return None;
        }
        if open.members > 0 && !budget::fits(open.weight, item) {
            return None;
        }
        let mut entry = LoopEntry {
            root: open.root,
            ..LoopEntry::default()
        };
        for class in &item.at {
            self.reach(open, &mut entry, *class)?;
        }
        let above = |root: usize, floor: &usize| !self.is_within(root, *floor);
        let mut floors = open.floors.iter().chain(&item.floor);
        let moved = entry.root != open.root;
        if moved && open.pins > 0
            || entry
                .root
                .is_some_and(|root| floors.any(|f| above(root, f)))
        {
            return None;
        }
        for class in &item.makes {
            if !open.held.contains(class) && !entry.held.contains(class) {
                entry.held.push(*class);
            }
        }
        entry.pins = self.pins(l, item, &entry)?;
        Some(entry)
    }

    /// Puts a member into a loop.
    pub fn put(&mut self, l: usize, member: Member, entry: &LoopEntry) {
        let item = self.problem.item(member);
        let open = &mut self.open[l];
        open.root = entry.root;
        let settled = open.settled(item);
        open.held.extend(&entry.held);
        open.made.extend_from_slice(&item.makes);
        open.pins += usize::from(entry.pins);
        open.floors.extend(item.floor);
        open.before.extend(before(item));
        open.members += 1;
        open.weight = open.weight.saturating_add(item.weight);
        match member {
            Member::Original(i) => self.loop_of[i] = l,
            Member::Copy(i) => open.copies.push(i),
        }
        self.owed = self.owed + self.owes(member, entry).count() - settled;
    }

    /// Removes the member that was put in last.
    pub fn take_out(&mut self, l: usize, member: Member, entry: &LoopEntry, root: Option<usize>) {
        let item = self.problem.item(member);
        let open = &mut self.open[l];
        open.root = root;
        for class in &entry.held {
            open.held.remove(class);
        }
        open.made.truncate(open.made.len() - item.makes.len());
        let settled = open.settled(item);
        open.pins -= usize::from(entry.pins);
        open.floors
            .truncate(open.floors.len() - item.floor.iter().len());
        open.before
            .truncate(open.before.len() - before(item).count());
        open.members -= 1;
        open.weight = open.weight.saturating_sub(item.weight);
        match member {
            Member::Original(i) => self.loop_of[i] = NONE,
            Member::Copy(_) => _ = open.copies.pop(),
        }
        self.owed = self.owed + settled - self.owes(member, entry).count();
    }

    /// Lists the subrates that a loop newly owes after a member has entered it.
    pub fn owes(&self, member: Member, entry: &LoopEntry) -> impl Iterator<Item = usize> {
        let makes = &self.problem.item(member).makes;
        let held = entry.held.iter().copied();
        held.filter(|c| self.is_sub(*c) && !makes.contains(c))
    }

    /// Adds a class and the path between it and the root. Raises the root to the common ancestor of
    /// both. None if there is no common ancestor.
    fn reach(&self, open: &OpenLoop, entry: &mut LoopEntry, class: usize) -> Option<()> {
        let (mut root, mut at) = (entry.root.unwrap_or(class), class);
        while at != root && !open.held.contains(&at) && !entry.held.contains(&at) {
            let lower = match self.depth[at] < self.depth[root] {
                true => &mut root,
                false => &mut at,
            };
            let parent = self.problem.classes[*lower].parent()?;
            entry.held.push(std::mem::replace(lower, parent));
        }
        entry.root = Some(root);
        Some(())
    }

    fn is_sub(&self, class: usize) -> bool {
        matches!(self.problem.classes[class], Class::Sub(_))
    }

    fn is_within(&self, class: usize, above: usize) -> bool {
        let up = |c: &usize| self.problem.classes[*c].parent();
        std::iter::successors(Some(class), up).any(|c| c == above)
    }

    /// Returns whether an item's streams pin the root. None if a stream does not fit: the loop must
    /// produce it, or read it from memory at a class whose elements it visits in order.
    fn pins(&self, l: usize, item: &ClusterItem, entry: &LoopEntry) -> Option<bool> {
        let holds = |c: &usize| self.at(l).held.contains(c) || entry.held.contains(c);
        let mut pins = false;
        let read = |m: Option<usize>| m.is_none_or(|m| !self.has(l, m));
        for stream in item.streams.iter().filter(|s| read(s.maker)) {
            let at_root = entry.root == Some(stream.class);
            // Elements of segments, or of one of several roots.
            let visited = !self.is_sub(stream.class) && holds(&stream.class);
            if !(at_root || visited) {
                return None;
            }
            pins |= at_root && self.is_sub(stream.class);
        }
        Some(pins)
    }
}

/// Lists the items that must be complete before the item's loop. A copy in the same loop does not
/// suffice.
fn before(item: &ClusterItem) -> impl Iterator<Item = usize> {
    let links = item.links.iter().filter(|k| k.apart);
    links.map(|k| k.from)
}
