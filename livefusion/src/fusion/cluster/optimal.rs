//! Optimal clustering: branch and bound.
//!
//! Items are placed in dependency order: each into a loop that can take it, or into a new one. What is
//! placed has a cost that only grows, and what is not has a least cost ([`bounds`]), so a branch ends as
//! soon as it cannot beat the best partition known. The first one known is greedy's.
//!
//! Where a branch is bad, that often shows late, and a search that goes on from there gets lost. So there
//! are several rounds: the first ones follow only what can still cost as little as the bound says, or
//! little more, and each that comes to its end has raised the bound.
//!
//! The search is counted in placements tried; when they are used up, the least that an open branch could
//! cost is the proven bound.

use super::again::{self, Copies};
use super::bits::Bits;
use super::bound::{Bounds, LARGE, bounds};
use super::contract::contract;
use super::loops::{Entry, Loops, Member};
use super::problem::{Cost, Partition, Problem, Solution, WRITE};
use super::{budget, greedy, schedule};
use smallvec::SmallVec;

/// The best partition that was found within `steps` placements.
pub fn solve(problem: &Problem, steps: u32) -> Solution {
    let (small, into) = contract(problem);
    let bounds = bounds(&small);
    let mut solution = begin(problem, greedy::solve(problem), bounds.cost);
    let fits = budget::holds(problem);
    if !fits {
        // What belongs together does not fall where the budget happens to end.
        let loop_of = greedy::solve(&small);
        let loop_of: Vec<usize> = into.iter().map(|i| loop_of[*i]).collect();
        let other = begin(problem, loop_of, bounds.cost);
        if other.cost < solution.cost {
            solution = other;
        }
    }
    if solution.is_proven() || small.items.len() > LARGE {
        return solution;
    }
    let mut search = Search::new(&small, &bounds, solution.cost);
    let bound = search.rounds(steps);
    // Of what does not fit one loop, a best partition may part what was contracted.
    if fits {
        solution.bound = bound;
    }
    if let Some(best) = search.best_partition {
        let partition = expand(&small, &into, &best);
        let cost = problem.cost(&partition);
        debug_assert_eq!(cost, Some(search.best));
        if let (Some(cost), Some(partition)) = (cost, schedule::order(problem, &partition)) {
            solution.cost = cost;
            solution.partition = partition;
        }
    }
    solution
}

/// What a partition of the smaller problem is of the problem that was contracted.
fn expand(small: &Problem, into: &[usize], partition: &Partition) -> Partition {
    let loop_of = into.iter().map(|i| partition.loop_of[*i]).collect();
    let mut copies = Vec::new();
    for (i, l) in &partition.copies {
        if let Some(again) = &small.items[*i].again {
            copies.extend(again.members.iter().map(|m| (*m, *l)));
        }
    }
    copies.sort_unstable();
    Partition { loop_of, copies }
}

/// A partition to begin with.
fn begin(problem: &Problem, loop_of: Vec<usize>, bound: Cost) -> Solution {
    let partition = Partition::from(loop_of);
    let cost = problem.cost(&partition).unwrap_or(Cost {
        bytes: u64::MAX,
        loops: usize::MAX,
    });
    Solution {
        partition,
        cost,
        bound,
    }
}

/// How far each round follows branches above the bound: in sixteenths of the gap to the best known.
const ROUNDS: [u64; 7] = [0, 0, 1, 2, 4, 8, 16];

struct Search<'p> {
    problem: &'p Problem,
    bounds: &'p Bounds,
    loops: Loops<'p>,
    /// Which loops must run after each; itself included.
    reach: Bits,
    /// Per field: the loops that read it from memory.
    readers: Vec<SmallVec<[u32; 4]>>,
    written: Vec<bool>,
    trees: Vec<usize>,
    /// Per item: the fields of arrays that it makes.
    made: Vec<Vec<usize>>,
    /// Open loops per tree of classes.
    in_tree: Vec<usize>,
    /// What every completion of what is placed costs at least.
    now: Now,
    changes: Vec<Change>,
    steps: u32,
    /// Branches that cost more bytes than this are passed over, and the least of them.
    most: u64,
    passed_over: Cost,
    best: Cost,
    best_partition: Option<Partition>,
}

#[derive(Clone, Copy)]
struct Now {
    bytes: u64,
    /// Loops that are open or must be opened yet, in all trees.
    loops: usize,
}

/// What a placement changed, so that it can be taken back.
enum Change {
    Reach(usize, u64),
    Read(usize),
    Written(usize),
    Opened,
    Rooted(usize),
    /// A member of a loop, with what the loop's root was before.
    Put(usize, Member, Entry, Option<usize>),
}

/// A way to place an item.
struct Candidate {
    bound: Cost,
    now: Now,
    at: usize,
    /// What the loop computes again for it.
    copies: Copies,
    entry: Entry,
}

/// An item with the ways to place it that are yet to be tried, best last, and the way that is being tried.
#[derive(Default)]
struct Frame {
    rest: Vec<Candidate>,
    placed: Option<Mark>,
}

/// Where the search was before a placement.
#[derive(Clone, Copy)]
struct Mark {
    before: Now,
    changes: usize,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, bounds: &'p Bounds, best: Cost) -> Self {
        let mut made = vec![Vec::new(); problem.items.len()];
        for (f, field) in problem.fields.iter().enumerate() {
            if let Some(maker) = field.maker.filter(|_| field.bytes > 0) {
                made[maker].push(f);
            }
        }
        Search {
            problem,
            bounds,
            made,
            loops: Loops::new(problem),
            reach: Bits::new(problem.items.len()),
            readers: vec![SmallVec::new(); problem.fields.len()],
            written: bounds.written.clone(),
            trees: problem.trees(),
            in_tree: vec![0; problem.classes.len()],
            now: Now {
                bytes: bounds.cost.bytes,
                loops: bounds.loops.iter().sum(),
            },
            changes: Vec::new(),
            steps: 0,
            most: u64::MAX,
            passed_over: best,
            best,
            best_partition: None,
        }
    }

    /// Rounds of search that follow more and more of what could be better; gives the proven bound.
    fn rounds(&mut self, steps: u32) -> Cost {
        let (mut bound, mut left) = (self.bounds.cost, steps);
        for (round, sixteenths) in ROUNDS.into_iter().enumerate() {
            if bound >= self.best {
                break;
            }
            let gap = self.best.bytes.saturating_sub(bound.bytes);
            self.most = bound.bytes + gap / 16 * sixteenths;
            if sixteenths == 16 {
                self.most = u64::MAX;
            }
            self.steps = left / (ROUNDS.len() - round) as u32;
            left -= self.steps;
            bound = bound.max(self.round()).min(self.best);
            left += self.steps;
        }
        bound
    }

    /// Searches until nothing better is left of what it follows, or until the steps are used up; gives
    /// the bound that this proves.
    fn round(&mut self) -> Cost {
        let mut frames: Vec<Frame> = Vec::new();
        self.passed_over = self.best;
        if !self.expand(&mut frames) {
            return self.bounds.cost;
        }
        let mut open = self.best;
        while let Some(item) = frames.len().checked_sub(1) {
            let frame = &mut frames[item];
            if let Some(placed) = frame.placed.take() {
                self.take_back(placed);
                continue;
            }
            let Some(next) = frame.rest.pop().filter(|c| c.bound < self.best) else {
                frames.pop();
                continue;
            };
            // With no steps left, what is open only counts for the bound.
            if self.steps == 0 {
                open = open.min(next.bound);
                frames.pop();
                continue;
            }
            let bound = next.bound;
            frame.placed = Some(self.place(item, next));
            if frames.len() == self.problem.items.len() {
                self.best = Cost {
                    bytes: self.now.bytes,
                    loops: self.loops.count(),
                };
                self.best_partition = Some(self.partition());
            } else if !self.expand(&mut frames) {
                open = open.min(bound);
            }
        }
        open.min(self.passed_over).min(self.best)
    }

    /// Adds the frame of the next item; false if the steps do not suffice.
    fn expand(&mut self, frames: &mut Vec<Frame>) -> bool {
        let item = frames.len();
        let needed = self.loops.count() as u32 + 1;
        if self.steps < needed {
            self.steps = 0;
            return false;
        }
        self.steps -= needed;
        let mut rest: Vec<Candidate> = match self.home(item) {
            Some(home) => vec![home],
            None => (0..=self.loops.count())
                .flat_map(|l| self.candidates(item, l))
                .collect(),
        };
        rest.retain(|c| {
            let follow = c.bound.bytes <= self.most;
            if !follow {
                self.passed_over = self.passed_over.min(c.bound);
            }
            follow && c.bound < self.best
        });
        // The best last; of equals, the loop that was opened first.
        rest.sort_by_key(|c| std::cmp::Reverse((c.bound, c.copies.len(), c.at)));
        frames.push(Frame { rest, placed: None });
        true
    }

    /// The loop that an item is in in some best completion: where something that it needs is made, what it
    /// needs besides has come before, and it costs nothing and makes nothing that could cost.
    fn home(&self, item: usize) -> Option<Candidate> {
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
        let home = self.candidate(item, l)?;
        let has = |f: &usize| self.problem.fields[*f].bytes == 0 || self.has(l, *f);
        let free = self.problem.items[item].uses.iter().all(has)
            && home.entry.held.is_empty()
            && home.entry.root == self.loops.root(l);
        free.then_some(home)
    }

    /// The ways to place an item in a loop: as it is, and with what it needs computed again there.
    fn candidates(&mut self, item: usize, l: usize) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = self.candidate(item, l).into_iter().collect();
        let (choices, more) = again::choices(self.problem, item, |m| {
            !self.computes(l, m) && !self.reads(l, m)
        });
        if more {
            let least = self.least(self.now, self.loops.count());
            self.passed_over = self.passed_over.min(least);
        }
        for copies in choices {
            let mark = self.mark();
            if l == self.loops.count() {
                self.open();
            }
            if copies.iter().all(|m| self.put_again(l, *m)) {
                found.extend(self.candidate(item, l).map(|c| Candidate { copies, ..c }));
            }
            self.take_back(mark);
        }
        found
    }

    /// A way to place an item, if its links, its classes and its streams allow it.
    fn candidate(&self, item: usize, l: usize) -> Option<Candidate> {
        let is_new = l == self.loops.count();
        let entry = if is_new {
            self.loops.enter_new(Member::Home(item))
        } else {
            self.enter(l, Member::Home(item))?
        };
        let now = self.with(Member::Home(item), l, &entry);
        Some(Candidate {
            bound: self.least(now, self.loops.count() + is_new as usize),
            now,
            at: l,
            copies: Copies::new(),
            entry,
        })
    }

    /// What every completion costs at least, with so many loops.
    fn least(&self, now: Now, open: usize) -> Cost {
        Cost {
            bytes: now.bytes,
            loops: now.loops.max(open).max(self.bounds.cost.loops),
        }
    }

    /// How a member enters a loop, if that makes no circle.
    fn enter(&self, l: usize, member: Member) -> Option<Entry> {
        let mut links = self.problem.item(member).links.iter();
        let made = |from: usize| self.loops.loop_of()[from];
        let may = links.all(|k| made(k.from) == l || !self.reach.has(l, made(k.from)));
        may.then(|| self.loops.enter(l, member))?
    }

    /// What every completion costs at least once a member is in a loop.
    fn with(&self, member: Member, l: usize, entry: &Entry) -> Now {
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

    /// The bytes that a member of a loop adds to what was bound to be written and read.
    fn price(&self, member: Member, l: usize, entry: &Entry) -> u64 {
        let uses = &self.problem.item(member).uses;
        let lengths = entry.held.iter().filter_map(|c| self.loops.lengths(*c));
        let lengths = lengths.filter(|f| !uses.contains(f));
        let price = |f: usize| {
            let field = &self.problem.fields[f];
            if self.has(l, f) {
                return 0;
            }
            let write = field.maker.is_some() && !self.written[f];
            let read = self.readers[f].len() >= self.bounds.reads[f];
            let times = if write { WRITE } else { 0 } + read as u64;
            field.bytes.saturating_mul(times)
        };
        let prices = uses.iter().copied().chain(lengths).map(price);
        let again = match member {
            Member::Home(_) => 0,
            Member::Copy(i) => self.problem.price_again(i).unwrap_or(0),
        };
        prices.fold(again, u64::saturating_add)
    }

    /// Whether a loop, which may be new, computes an item.
    fn computes(&self, l: usize, item: usize) -> bool {
        l < self.loops.count() && self.loops.has(l, item)
    }

    /// Whether a loop reads what an item makes.
    fn reads(&self, l: usize, item: usize) -> bool {
        let mut made = self.made[item].iter();
        made.any(|f| self.readers[*f].contains(&(l as u32)))
    }

    /// Whether a loop makes a field or reads it already.
    fn has(&self, l: usize, f: usize) -> bool {
        let maker = self.problem.fields[f].maker;
        maker.is_some_and(|m| self.computes(l, m)) || self.readers[f].contains(&(l as u32))
    }

    fn mark(&self) -> Mark {
        Mark {
            before: self.now,
            changes: self.changes.len(),
        }
    }

    fn place(&mut self, item: usize, candidate: Candidate) -> Mark {
        let mark = self.mark();
        let at = candidate.at;
        if at == self.loops.count() {
            self.open();
        }
        for m in &candidate.copies {
            self.put_again(at, *m);
        }
        self.put(at, Member::Home(item), candidate.entry);
        self.now = candidate.now;
        mark
    }

    /// Opens a loop.
    fn open(&mut self) {
        let at = self.loops.open();
        self.reach.clear(at);
        self.reach.set(at, at);
        self.changes.push(Change::Opened);
    }

    /// Has a loop compute an item again; false if it cannot.
    fn put_again(&mut self, l: usize, item: usize) -> bool {
        let member = Member::Copy(item);
        let Some(entry) = self.enter(l, member) else {
            return false;
        };
        self.now = self.with(member, l, &entry);
        self.put(l, member, entry);
        true
    }

    /// Puts a member into a loop that is open.
    fn put(&mut self, at: usize, member: Member, entry: Entry) {
        let root = self.loops.root(at);
        if let (None, Some(new)) = (root, entry.root) {
            self.in_tree[self.trees[new]] += 1;
            self.changes.push(Change::Rooted(self.trees[new]));
        }
        self.loops.put(at, member, &entry);
        let problem = self.problem;
        let item = problem.item(member);
        for link in &item.links {
            self.put_before(self.loops.loop_of()[link.from], at);
        }
        let lengths = entry.held.iter();
        let lengths: SmallVec<[usize; 2]> =
            lengths.filter_map(|c| self.loops.lengths(*c)).collect();
        for f in item.uses.iter().chain(&lengths) {
            self.read(at, *f);
        }
        self.changes.push(Change::Put(at, member, entry, root));
    }

    /// Notes that one loop must run before another.
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
    }

    fn take_back(&mut self, mark: Mark) {
        while self.changes.len() > mark.changes {
            match self.changes.pop() {
                Some(Change::Reach(at, word)) => self.reach.restore(at, word),
                Some(Change::Read(f)) => {
                    self.readers[f].pop();
                }
                Some(Change::Written(f)) => self.written[f] = false,
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

    /// The partition that was found.
    fn partition(&self) -> Partition {
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
