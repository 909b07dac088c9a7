//! Search state: placed items, a lower bound on the cost, and an undo log.

use super::bits::BitMatrix;
use super::bound::Bounds;
use super::loops::{LoopEntry, Member, OpenLoops};
use super::problem::{Cost, Partition, Problem, WRITE};
use super::remat::Copies;
use smallvec::SmallVec;

/// Holds the items placed so far, a prefix of the problem's items.
pub struct PlacedItems<'p> {
    problem: &'p Problem,
    bounds: &'p Bounds,
    /// The loops so far.
    pub loops: OpenLoops<'p>,
    /// The loops that must run after each loop, itself included.
    reach: BitMatrix,
    /// Per field: the loops that read it from memory.
    readers: Vec<SmallVec<[u32; 4]>>,
    written: Vec<bool>,
    /// Per item: whether a loop already pays for delivering its arrays.
    paid: Vec<bool>,
    trees: Vec<usize>,
    /// Per class: the first item after which no item can make the class in a loop.
    last_made: Vec<usize>,
    /// Per item: the fields of arrays that it makes.
    made: Vec<Vec<usize>>,
    /// Open loops per tree of classes.
    in_tree: Vec<usize>,
    /// The copies that are being put into a loop together.
    together: Copies,
    /// The minimal cost of every completion.
    pub now: Now,
    changes: Vec<Change>,
}

#[derive(Clone, Copy)]
pub struct Now {
    /// Bytes moved, or their equivalent in operators.
    pub bytes: u64,
    /// Open loops, plus loops that must still be opened, in all trees.
    pub loops: usize,
}

/// An entry of the undo log.
enum Change {
    Reach(usize, u64),
    Read(usize),
    Written(usize),
    Paid(usize),
    Opened,
    Rooted(usize),
    /// A member of a loop, with the previous root of the loop.
    Put(usize, Member, LoopEntry, Option<usize>),
}

/// Describes a way to place an item.
pub struct Candidate {
    /// The minimal cost of every completion.
    pub bound: Cost,
    /// The state from which the bound follows.
    pub now: Now,
    /// The loop. An unused number stands for a new loop.
    pub at: usize,
    /// The items that the loop rematerialises for it.
    pub copies: Copies,
    /// How it enters the loop.
    pub entry: LoopEntry,
}

/// Marks the state of the search before a placement.
#[derive(Clone, Copy)]
pub struct Mark {
    before: Now,
    changes: usize,
}

impl<'p> PlacedItems<'p> {
    /// Creates an empty state.
    pub fn new(problem: &'p Problem, bounds: &'p Bounds) -> Self {
        let mut made = vec![Vec::new(); problem.items.len()];
        for (f, field) in problem.fields.iter().enumerate() {
            if let Some(maker) = field.maker.filter(|_| field.bytes > 0) {
                made[maker].push(f);
            }
        }
        let mut last_made = vec![0; problem.classes.len()];
        for (i, item) in problem.items.iter().enumerate() {
            // A rematerialised item may enter a loop at any time.
            let last = if item.remat.is_some() { usize::MAX } else { i };
            item.makes
                .iter()
                .for_each(|c| last_made[*c] = last_made[*c].max(last));
        }
        PlacedItems {
            problem,
            bounds,
            made,
            last_made,
            loops: OpenLoops::new(problem),
            reach: BitMatrix::new(problem.items.len()),
            readers: vec![SmallVec::new(); problem.fields.len()],
            written: bounds.written.clone(),
            paid: vec![false; problem.items.len()],
            trees: problem.trees(),
            in_tree: vec![0; problem.classes.len()],
            together: Copies::new(),
            now: Now {
                bytes: bounds.cost.bytes,
                loops: bounds.loops.iter().sum(),
            },
            changes: Vec::new(),
        }
    }

    /// Finds the loop that an item is in in some best completion.
    ///
    /// Such an item makes nothing that could cost later. The loop makes one of its operands, comes
    /// after its other operands, and takes it at no cost.
    pub fn best_loop(&self, item: usize) -> Option<Candidate> {
        if !self.made[item].is_empty() || !self.problem.items[item].makes.is_empty() {
            return None;
        }
        let made_in = |l: usize| self.loops.loop_of()[l];
        let links = &self.problem.items[item].links;
        let last = links.iter().find(|k| {
            let l = made_in(k.from);
            links
                .iter()
                .all(|other| self.reach.has(made_in(other.from), l))
        })?;
        let l = made_in(last.from);
        let best = self.candidate(item, l)?;
        let has = |f: &usize| self.problem.fields[*f].bytes == 0 || self.has(l, *f);
        let free = self.problem.items[item].uses.iter().all(has)
            && best.entry.held.is_empty()
            && !best.entry.pins
            && best.entry.root == self.loops.root(l);
        free.then_some(best)
    }

    /// Returns a way to place an item, if links, classes and streams allow it.
    pub fn candidate(&self, item: usize, l: usize) -> Option<Candidate> {
        let is_new = l == self.loops.count();
        let entry = self.enter(l, Member::Original(item))?;
        let now = self.with(Member::Original(item), l, &entry);
        Some(Candidate {
            bound: self.least(now, self.loops.count() + is_new as usize),
            now,
            at: l,
            copies: Copies::new(),
            entry,
        })
    }

    /// Returns the minimal cost of every completion with so many open loops.
    pub fn least(&self, now: Now, open: usize) -> Cost {
        Cost {
            bytes: now.bytes,
            loops: now.loops.max(open).max(self.bounds.cost.loops),
        }
    }

    /// Returns whether an item's links allow it in an open loop.
    ///
    /// Copies in that loop are not considered.
    pub fn may_follow(&self, item: usize, l: usize) -> bool {
        let mut links = self.problem.items[item].links.iter();
        links.all(|k| match self.loops.loop_of()[k.from] {
            made if made == l => k.prevents.is_none(),
            made => !self.reach.has(l, made),
        })
    }

    /// Returns how a member enters a loop. None if that makes a cycle, or if no later item can make
    /// the subrates that the loop then owes.
    fn enter(&self, l: usize, member: Member) -> Option<LoopEntry> {
        let mut links = self.problem.item(member).links.iter();
        let made = |from: usize| self.loops.loop_of()[from];
        let is_new = l == self.loops.count();
        let may = links.all(|k| is_new || made(k.from) == l || !self.reach.has(l, made(k.from)));
        let entry = may.then(|| self.loops.enter(l, member))??;
        let (Member::Original(item) | Member::Copy(item)) = member;
        let can_come = |c: usize| self.last_made[c] > item;
        let owes = self.loops.owes(member, &entry).all(can_come);
        owes.then_some(entry)
    }

    /// The lower bounds once a member is in a loop.
    fn with(&self, member: Member, l: usize, entry: &LoopEntry) -> Now {
        let mut now = Now {
            bytes: self.now.bytes.saturating_add(self.price(member, l, entry)),
            loops: self.now.loops,
        };
        let unrooted = l == self.loops.count() || self.loops.root(l).is_none();
        if let (true, Some(root)) = (unrooted, entry.root) {
            let tree = self.trees[root];
            now.loops += (self.in_tree[tree] >= self.bounds.loops[tree]) as usize;
        }
        now
    }

    /// The bytes that a member of a loop adds to the reads and writes already in the lower bound.
    fn price(&self, member: Member, l: usize, entry: &LoopEntry) -> u64 {
        let uses = &self.problem.item(member).uses;
        let lengths = self.lengths_read(entry);
        let lengths = lengths.filter(|f| !uses.contains(f));
        let mut paid: SmallVec<[usize; 4]> = SmallVec::new();
        // The lower bound already contains the minimal payment for each item.
        let mut pay = |maker: Option<usize>, price: u64| match maker {
            Some(m) if price > 0 && !self.paid[m] && !paid.contains(&m) => {
                paid.push(m);
                price.saturating_sub(self.bounds.owed[m])
            }
            _ => price,
        };
        let mut sum = 0u64;
        for f in uses.iter().copied().chain(lengths) {
            let field = &self.problem.fields[f];
            if !self.has(l, f) {
                let write = field.maker.is_some() && !self.written[f];
                let read = self.readers[f].len() >= self.bounds.reads[f];
                let times = if write { WRITE } else { 0 } + read as u64;
                sum = sum.saturating_add(pay(field.maker, field.bytes.saturating_mul(times)));
            }
        }
        if let Member::Copy(i) = member {
            let price = self.problem.remat_price(i).unwrap_or(0);
            sum = sum.saturating_add(pay(Some(i), price));
        }
        sum
    }

    /// The fields of segment lengths that a loop reads once a member has entered it. A copy that
    /// raises the root may add classes before the copies that make their lengths. Such lengths are
    /// not read from memory.
    fn lengths_read(&self, entry: &LoopEntry) -> impl Iterator<Item = usize> {
        let lengths = entry.held.iter().filter_map(|c| self.loops.lengths(*c));
        let comes = |f: &usize| {
            let maker = self.problem.fields[*f].maker;
            maker.is_some_and(|m| self.together.contains(&m))
        };
        lengths.filter(move |f| !comes(f))
    }

    /// Returns whether a loop, which may be new, computes an item.
    pub fn computes(&self, l: usize, item: usize) -> bool {
        l < self.loops.count() && self.loops.has(l, item)
    }

    /// Returns whether a loop reads an item's arrays from memory.
    pub fn reads(&self, l: usize, item: usize) -> bool {
        let mut made = self.made[item].iter();
        made.any(|f| self.readers[*f].contains(&(l as u32)))
    }

    /// Returns whether a loop makes a field or reads it already.
    fn has(&self, l: usize, f: usize) -> bool {
        let maker = self.problem.fields[f].maker;
        maker.is_some_and(|m| self.computes(l, m)) || self.readers[f].contains(&(l as u32))
    }

    /// Returns a mark of the current state.
    pub fn mark(&self) -> Mark {
        Mark {
            before: self.now,
            changes: self.changes.len(),
        }
    }

    /// Places an item.
    pub fn place(&mut self, item: usize, candidate: Candidate) -> Mark {
        let mark = self.mark();
        let at = candidate.at;
        if at == self.loops.count() {
            self.open();
        }
        self.put_copies(at, &candidate.copies);
        self.put(at, Member::Original(item), candidate.entry);
        self.now = candidate.now;
        mark
    }

    /// Opens a loop.
    pub fn open(&mut self) {
        let at = self.loops.open();
        self.reach.clear(at);
        self.reach.set(at, at);
        self.changes.push(Change::Opened);
    }

    /// Rematerialises items in a loop.
    ///
    /// Returns false if one of them does not fit.
    pub fn put_copies(&mut self, l: usize, items: &Copies) -> bool {
        self.together.clone_from(items);
        let all = items.iter().all(|m| self.put_copy(l, *m));
        self.together.clear();
        all
    }

    /// Rematerialises an item in a loop. Returns false if it does not fit.
    fn put_copy(&mut self, l: usize, item: usize) -> bool {
        let member = Member::Copy(item);
        let Some(entry) = self.enter(l, member) else {
            return false;
        };
        self.now = self.with(member, l, &entry);
        self.put(l, member, entry);
        true
    }

    /// Puts a member into an open loop.
    fn put(&mut self, at: usize, member: Member, entry: LoopEntry) {
        let root = self.loops.root(at);
        if let (None, Some(new)) = (root, entry.root) {
            self.in_tree[self.trees[new]] += 1;
            self.changes.push(Change::Rooted(self.trees[new]));
        }
        self.loops.put(at, member, &entry);
        let problem = self.problem;
        let item = problem.item(member);
        match member {
            Member::Original(_) => {
                for link in &item.links {
                    self.put_before(self.loops.loop_of()[link.from], at);
                }
            }
            // The loop comes after the item's own loop, so it pays for delivery.
            Member::Copy(i) => self.pay(i),
        }
        let lengths: SmallVec<[usize; 2]> = self.lengths_read(&entry).collect();
        for f in item.uses.iter().chain(&lengths) {
            self.read(at, *f);
        }
        self.changes.push(Change::Put(at, member, entry, root));
    }

    /// Records that one loop must run before another.
    fn put_before(&mut self, first: usize, then: usize) {
        if self.reach.has(first, then) {
            return;
        }
        for l in 0..self.loops.count() {
            if self.reach.has(l, first) {
                let changes = &mut self.changes;
                self.reach
                    .add(l, then, |at, word| changes.push(Change::Reach(at, word)));
            }
        }
    }

    fn read(&mut self, l: usize, f: usize) {
        if self.has(l, f) {
            return;
        }
        self.readers[f].push(l as u32);
        self.changes.push(Change::Read(f));
        if self.problem.fields[f].maker.is_some() && !self.written[f] {
            self.written[f] = true;
            self.changes.push(Change::Written(f));
        }
        // A read of zero bytes pays nothing.
        let field = &self.problem.fields[f];
        if let Some(maker) = field.maker.filter(|_| field.bytes > 0) {
            self.pay(maker);
        }
    }

    fn pay(&mut self, item: usize) {
        if !self.paid[item] {
            self.paid[item] = true;
            self.changes.push(Change::Paid(item));
        }
    }

    /// Undoes all placements since a mark.
    pub fn take_back(&mut self, mark: Mark) {
        while self.changes.len() > mark.changes {
            match self.changes.pop() {
                Some(Change::Reach(at, word)) => self.reach.restore(at, word),
                Some(Change::Read(f)) => {
                    self.readers[f].pop();
                }
                Some(Change::Written(f)) => self.written[f] = false,
                Some(Change::Paid(item)) => self.paid[item] = false,
                Some(Change::Opened) => self.loops.close(),
                Some(Change::Rooted(tree)) => self.in_tree[tree] -= 1,
                Some(Change::Put(l, member, entry, root)) => {
                    self.loops.take_out(l, member, &entry, root);
                }
                None => {}
            }
        }
        self.now = mark.before;
    }

    /// Returns the partition of the placed items.
    pub fn partition(&self) -> Partition {
        let all = 0..self.loops.count();
        let copies = all.flat_map(|l| self.loops.copies(l).iter().map(move |i| (*i, l)));
        let mut copies: Vec<(usize, usize)> = copies.collect();
        copies.sort_unstable();
        Partition {
            loop_of: self.loops.loop_of().to_vec(),
            copies,
        }
    }
}
