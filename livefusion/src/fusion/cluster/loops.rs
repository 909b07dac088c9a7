//! Loops that are being filled: which classes each has, and what else can join it.

use super::budget;
use super::problem::{Class, Item, Link, Problem};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// No loop yet.
const NONE: usize = usize::MAX;

/// Loops that are being filled with the items of a problem, in their order.
#[derive(Clone, Debug)]
pub struct Loops<'p> {
    problem: &'p Problem,
    open: Vec<OpenLoop>,
    loop_of: Vec<usize>,
}

/// What a loop consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member {
    /// An item that has its loop here.
    Home(usize),
    /// One that is computed here again.
    Copy(usize),
}

#[derive(Clone, Debug, Default)]
struct OpenLoop {
    /// The class that it runs over; none while it has scalars only.
    root: Option<usize>,
    /// The classes below its root that it has.
    held: FxHashSet<usize>,
    /// The floors of its items.
    floors: SmallVec<[usize; 1]>,
    /// The items that are computed here again.
    copies: SmallVec<[usize; 2]>,
    /// What a member needs to be complete beforehand.
    before: SmallVec<[usize; 4]>,
    members: usize,
    weight: u32,
}

/// How an item enters a loop.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The loop's root with the item inside.
    pub root: Option<usize>,
    /// Classes below the root that the loop did not have before.
    pub held: SmallVec<[usize; 3]>,
}

impl Entry {
    /// Adds the subrates that an item opens.
    fn make(&mut self, item: &Item, held: &FxHashSet<usize>) {
        for class in &item.makes {
            if !held.contains(class) && !self.held.contains(class) {
                self.held.push(*class);
            }
        }
    }
}

impl<'p> Loops<'p> {
    /// No loops.
    pub fn new(problem: &'p Problem) -> Self {
        Loops {
            problem,
            open: Vec::new(),
            loop_of: vec![NONE; problem.items.len()],
        }
    }

    /// The number of loops.
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// The number of loops that have an item.
    pub fn used(&self) -> usize {
        self.open.iter().filter(|l| l.members > 0).count()
    }

    /// Whether a loop computes an item.
    pub fn has(&self, l: usize, item: usize) -> bool {
        self.loop_of[item] == l || self.open[l].copies.contains(&item)
    }

    /// The items that a loop computes again.
    pub fn copies(&self, l: usize) -> &[usize] {
        &self.open[l].copies
    }

    /// The loop of each item.
    pub fn loop_of(&self) -> &[usize] {
        &self.loop_of
    }

    /// The class that a loop runs over.
    pub fn root(&self, l: usize) -> Option<usize> {
        self.open[l].root
    }

    /// Opens an empty loop.
    pub fn open(&mut self) -> usize {
        self.open.push(OpenLoop::default());
        self.open.len() - 1
    }

    /// Opens loops until there are this many.
    pub fn open_all(&mut self, count: usize) {
        self.open.resize_with(count, OpenLoop::default);
    }

    /// Closes the loop that was opened last.
    pub fn close(&mut self) {
        self.open.pop();
    }

    /// The lengths of segments that a loop goes by.
    pub fn lengths_read(&self, l: usize) -> impl Iterator<Item = usize> {
        self.open[l].held.iter().filter_map(|c| self.lengths(*c))
    }

    /// The field of lengths behind a class of segments' elements.
    pub fn lengths(&self, class: usize) -> Option<usize> {
        self.problem.classes[class].lengths()
    }

    /// How a member enters a loop, if its links, the budget, its classes and its streams allow it.
    pub fn enter(&self, l: usize, member: Member) -> Option<Entry> {
        let open = &self.open[l];
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
        // An empty loop takes any item.
        if open.members == 0 {
            return Some(self.enter_new(member));
        }
        if !budget::has_room(open.weight, item) {
            return None;
        }
        let mut entry = Entry {
            root: open.root,
            held: SmallVec::new(),
        };
        for class in &item.at {
            self.reach(open, &mut entry, *class)?;
        }
        let above = |root: usize, floor: &usize| !self.is_within(root, *floor);
        let mut floors = open.floors.iter().chain(&item.floor);
        if entry
            .root
            .is_some_and(|root| floors.any(|f| above(root, f)))
            || !self.streams_fit(l, item, &entry)
        {
            return None;
        }
        entry.make(item, &open.held);
        Some(entry)
    }

    /// How a member enters a loop of its own: of its classes, the root is the one above the others.
    pub fn enter_new(&self, member: Member) -> Entry {
        let item = self.problem.item(member);
        let (empty, mut entry) = (OpenLoop::default(), Entry::default());
        for class in &item.at {
            if self.reach(&empty, &mut entry, *class).is_some() {
                continue;
            }
            match entry.root {
                Some(root) if self.is_within(root, *class) => {
                    entry.held.push(root);
                    entry.root = Some(*class);
                }
                _ => entry.held.push(*class),
            }
        }
        entry.make(item, &empty.held);
        entry
    }

    /// Puts a member into a loop.
    pub fn put(&mut self, l: usize, member: Member, entry: &Entry) {
        let item = self.problem.item(member);
        let open = &mut self.open[l];
        open.root = entry.root;
        open.held.extend(&entry.held);
        open.floors.extend(item.floor);
        open.before.extend(before(item));
        open.members += 1;
        open.weight = open.weight.saturating_add(item.weight);
        match member {
            Member::Home(i) => self.loop_of[i] = l,
            Member::Copy(i) => open.copies.push(i),
        }
    }

    /// Takes out the member that was put in last.
    pub fn take_out(&mut self, l: usize, member: Member, entry: &Entry, root: Option<usize>) {
        let item = self.problem.item(member);
        let open = &mut self.open[l];
        open.root = root;
        for class in &entry.held {
            open.held.remove(class);
        }
        open.floors
            .truncate(open.floors.len() - item.floor.iter().len());
        open.before
            .truncate(open.before.len() - before(item).count());
        open.members -= 1;
        open.weight = open.weight.saturating_sub(item.weight);
        match member {
            Member::Home(i) => self.loop_of[i] = NONE,
            Member::Copy(_) => _ = open.copies.pop(),
        }
    }

    /// Makes sure that a loop has a class: below what it has by way of segments, or else with its root
    /// raised from a class of elements to that of their segments.
    fn reach(&self, open: &OpenLoop, entry: &mut Entry, class: usize) -> Option<()> {
        let Some(mut root) = entry.root else {
            entry.root = Some(class);
            return Some(());
        };
        let mut raised: SmallVec<[usize; 2]> = SmallVec::new();
        loop {
            let has = |c: usize| {
                c == root
                    || open.held.contains(&c)
                    || entry.held.contains(&c)
                    || raised.contains(&c)
            };
            if let Some(path) = self.descend(has, class) {
                entry.held.extend(raised);
                entry.held.extend(path);
                entry.root = Some(root);
                return Some(());
            }
            match self.problem.classes[root] {
                Class::Nested { parent, .. } | Class::Phase(parent) => {
                    raised.push(root);
                    root = parent;
                }
                _ => return None,
            }
        }
    }

    /// The classes of segments between a class and one that the loop has.
    fn descend(&self, has: impl Fn(usize) -> bool, class: usize) -> Option<SmallVec<[usize; 2]>> {
        let (mut path, mut at) = (SmallVec::new(), class);
        while !has(at) {
            let (Class::Nested { parent, .. } | Class::Phase(parent)) = self.problem.classes[at]
            else {
                return None;
            };
            path.push(at);
            at = parent;
        }
        Some(path)
    }

    fn is_within(&self, class: usize, above: usize) -> bool {
        let up = |c: &usize| self.problem.classes[*c].parent();
        std::iter::successors(Some(class), up).any(|c| c == above)
    }

    /// Whether each stream is made in the loop, or is in memory at a class whose elements it visits.
    fn streams_fit(&self, l: usize, item: &Item, entry: &Entry) -> bool {
        let has = |c: &usize| self.open[l].held.contains(c) || entry.held.contains(c);
        item.streams.iter().all(|s| {
            s.maker.is_some_and(|m| self.has(l, m))
                || entry.root == Some(s.class)
                || !matches!(self.problem.classes[s.class], Class::Sub(_)) && has(&s.class)
        })
    }
}

/// The items that one needs to be complete before its loop, whoever computes them again.
fn before(item: &Item) -> impl Iterator<Item = usize> {
    let links = item.links.iter().filter(|k| k.apart);
    links.map(|k| k.from)
}
