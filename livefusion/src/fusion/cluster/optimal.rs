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

use super::bits::Bits;
use super::bound::{Bounds, LARGE, bounds};
use super::contract::contract;
use super::loops::{Entry, Loops};
use super::problem::{Cost, Problem, Solution};
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
        let loop_of = into.iter().map(|i| loop_of[*i]).collect();
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
    if let Some(best) = search.best_loops {
        let loop_of: Vec<usize> = into.iter().map(|i| best[*i]).collect();
        let cost = problem.cost(&loop_of);
        debug_assert_eq!(cost, Some(search.best));
        if let (Some(cost), Some(loop_of)) = (cost, schedule::order(problem, &loop_of)) {
            solution.cost = cost;
            solution.loop_of = loop_of;
        }
    }
    solution
}

/// A partition to begin with.
fn begin(problem: &Problem, loop_of: Vec<usize>, bound: Cost) -> Solution {
    let cost = problem.cost(&loop_of).unwrap_or(Cost {
        bytes: u64::MAX,
        loops: usize::MAX,
    });
    Solution {
        loop_of,
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
    /// Per item: whether it makes anything of a size.
    sized: Vec<bool>,
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
    best_loops: Option<Vec<usize>>,
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
}

/// A way to place an item.
struct Candidate {
    bound: Cost,
    now: Now,
    at: usize,
    entry: Entry,
}

/// An item with the ways to place it that are yet to be tried, best last, and the way that is being tried.
#[derive(Default)]
struct Frame {
    rest: Vec<Candidate>,
    placed: Option<Placed>,
}

struct Placed {
    at: usize,
    entry: Entry,
    root: Option<usize>,
    before: Now,
    changes: usize,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, bounds: &'p Bounds, best: Cost) -> Self {
        let mut sized = vec![false; problem.items.len()];
        for field in problem.fields.iter().filter(|f| f.bytes > 0) {
            if let Some(maker) = field.maker {
                sized[maker] = true;
            }
        }
        Search {
            problem,
            bounds,
            sized,
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
            best_loops: None,
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
                self.take_back(item, placed);
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
                self.best_loops = Some(self.loops.loop_of().to_vec());
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
                .filter_map(|l| self.candidate(item, l))
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
        rest.sort_by_key(|c| std::cmp::Reverse((c.bound, c.at)));
        frames.push(Frame { rest, placed: None });
        true
    }

    /// The loop that an item is in in some best completion: where something that it needs is made, what it
    /// needs besides has come before, and it costs nothing and makes nothing that could cost.
    fn home(&self, item: usize) -> Option<Candidate> {
        if self.sized[item] || !self.problem.items[item].makes.is_empty() {
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

    /// A way to place an item, if its links, its classes and its streams allow it.
    fn candidate(&self, item: usize, l: usize) -> Option<Candidate> {
        let is_new = l == self.loops.count();
        let entry = if is_new {
            self.loops.enter_new(item)
        } else {
            let may = self.problem.items[item].links.iter().all(|k| {
                let made = self.loops.loop_of()[k.from];
                if made == l {
                    k.prevents.is_none()
                } else {
                    !self.reach.has(l, made)
                }
            });
            may.then(|| self.loops.enter(l, item))??
        };
        let mut now = Now {
            bytes: self.now.bytes.saturating_add(self.price(item, l, &entry)),
            loops: self.now.loops,
        };
        let unrooted = is_new || self.loops.root(l).is_none();
        if let (true, Some(root)) = (unrooted, entry.root) {
            let tree = self.trees[root];
            now.loops += (self.in_tree[tree] >= self.bounds.loops[tree]) as usize;
        }
        let open = self.loops.count() + is_new as usize;
        let bound = Cost {
            bytes: now.bytes,
            loops: now.loops.max(open).max(self.bounds.cost.loops),
        };
        Some(Candidate {
            bound,
            now,
            at: l,
            entry,
        })
    }

    /// The bytes that placing an item adds to what was bound to be written and read.
    fn price(&self, item: usize, l: usize, entry: &Entry) -> u64 {
        let uses = &self.problem.items[item].uses;
        let lengths = entry.held.iter().filter_map(|c| self.loops.lengths(*c));
        let lengths = lengths.filter(|f| !uses.contains(f));
        let price = |f: usize| {
            let field = &self.problem.fields[f];
            if self.has(l, f) {
                return 0;
            }
            let write = field.maker.is_some() && !self.written[f];
            let read = self.readers[f].len() >= self.bounds.reads[f];
            field.bytes.saturating_mul(write as u64 + read as u64)
        };
        let prices = uses.iter().copied().chain(lengths).map(price);
        prices.fold(0, u64::saturating_add)
    }

    /// Whether a loop makes a field or reads it already.
    fn has(&self, l: usize, f: usize) -> bool {
        let made_here = |m: usize| self.loops.loop_of()[m] == l;
        self.problem.fields[f].maker.is_some_and(made_here) || self.readers[f].contains(&(l as u32))
    }

    fn place(&mut self, item: usize, candidate: Candidate) -> Placed {
        let Candidate { now, at, entry, .. } = candidate;
        let changes = self.changes.len();
        if at == self.loops.count() {
            self.loops.open();
            self.reach.clear(at);
            self.reach.set(at, at);
            self.changes.push(Change::Opened);
        }
        let placed = Placed {
            at,
            root: self.loops.root(at),
            before: std::mem::replace(&mut self.now, now),
            changes,
            entry,
        };
        if let (None, Some(root)) = (placed.root, placed.entry.root) {
            self.in_tree[self.trees[root]] += 1;
            self.changes.push(Change::Rooted(self.trees[root]));
        }
        self.loops.put(at, item, &placed.entry);
        for link in &self.problem.items[item].links {
            self.put_before(self.loops.loop_of()[link.from], at);
        }
        let lengths = placed.entry.held.iter();
        let lengths: SmallVec<[usize; 2]> =
            lengths.filter_map(|c| self.loops.lengths(*c)).collect();
        for f in self.problem.items[item].uses.iter().chain(&lengths) {
            self.read(at, *f);
        }
        placed
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

    fn take_back(&mut self, item: usize, placed: Placed) {
        self.loops
            .take_out(placed.at, item, &placed.entry, placed.root);
        while self.changes.len() > placed.changes {
            match self.changes.pop() {
                Some(Change::Reach(at, word)) => self.reach.restore(at, word),
                Some(Change::Read(f)) => {
                    self.readers[f].pop();
                }
                Some(Change::Written(f)) => self.written[f] = false,
                Some(Change::Opened) => self.loops.close(),
                Some(Change::Rooted(tree)) => self.in_tree[tree] -= 1,
                None => {}
            }
        }
        self.now = placed.before;
    }
}
