//! Optimal clustering: branch and bound.
//!
//! Items are placed in dependency order, each into a loop that can take it or into a new one. The
//! cost of the placed items only grows, and the others have a minimal cost ([`bounds`]). So a
//! branch ends as soon as it cannot beat the best known partition. The greedy solution is the first
//! one known.
//!
//! A bad branch often shows its cost late, so a plain depth-first search gets lost in it. Therefore
//! the search runs in several rounds. The first rounds follow only branches at the lower bound or
//! little above it. Each completed round raises the bound.
//!
//! The search is limited in placements tried. When they run out, the minimal cost of the open
//! branches is the proven bound.

use super::bound::{self, Bounds, LARGE, bounds};
use super::contract::contract;
use super::placed::{Candidate, Mark, PlacedItems};
use super::problem::{Cost, Partition, Problem, Solution};
use super::remat;
use super::{budget, greedy, schedule};
use rustc_hash::FxHashMap;

/// Returns the best partition found within `steps` placements.
pub fn solve(problem: &Problem, steps: u32) -> Solution {
    let (small, into) = contract(problem);
    let bounds = bounds(&small);
    let fits = budget::holds(problem);
    // If the problem exceeds one loop, a best partition may separate merged items.
    let bound = match fits {
        true => bounds.cost,
        false => bound::bounds(problem).cost,
    };
    let mut solution = begin(problem, greedy::solve(problem), bound);
    if !fits {
        // Merged items stay together, even where the budget ends.
        let loop_of = greedy::solve(&small);
        let loop_of: Vec<usize> = into.iter().map(|i| loop_of[*i]).collect();
        let other = begin(problem, loop_of, bound);
        if other.cost < solution.cost {
            solution = other;
        }
    }
    if solution.is_proven() || small.items.len() > LARGE {
        return solution;
    }
    let mut search = Search::new(&small, &bounds, solution.cost);
    if steps > 0 {
        search.follow(&greedy::solve(&small));
    }
    let bound = search.rounds(steps);
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
    settle(problem, &mut solution);
    solution
}

/// Moves items to the first loop that recomputes them, where that costs no more.
///
/// The search places an item before its consumers. If all of these are in later loops that
/// recompute the item, its own loop computes it in vain.
fn settle(problem: &Problem, solution: &mut Solution) {
    for item in (0..problem.items.len()).rev() {
        let Some((_, to)) = solution.partition.copies_of(item).first().copied() else {
            continue;
        };
        let mut moved = solution.partition.clone();
        moved.loop_of[item] = to;
        moved.copies.retain(|copy| *copy != (item, to));
        let cost = problem.cost(&moved).filter(|cost| *cost <= solution.cost);
        if let (Some(cost), Some(partition)) = (cost, schedule::order(problem, &moved)) {
            (solution.cost, solution.partition) = (cost, partition);
        }
    }
}

/// Translates a partition of the contracted problem to the original problem.
fn expand(small: &Problem, into: &[usize], partition: &Partition) -> Partition {
    let loop_of = into.iter().map(|i| partition.loop_of[*i]).collect();
    let mut copies = Vec::new();
    for (i, l) in &partition.copies {
        if let Some(remat) = &small.items[*i].remat {
            copies.extend(remat.members.iter().map(|m| (*m, *l)));
        }
    }
    copies.sort_unstable();
    Partition { loop_of, copies }
}

/// An initial solution from an assignment of items to loops.
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

/// The maximal number of initial partitions to try.
const ATTEMPTS: usize = 8;

/// The cost limit of each round above the bound, in sixteenths of the gap to the best known
/// solution.
const ROUNDS: [u64; 7] = [0, 0, 1, 2, 4, 8, 16];

struct Search<'p> {
    problem: &'p Problem,
    bounds: &'p Bounds,
    placed: PlacedItems<'p>,
    steps: u32,
    /// Branches that cost more bytes than this are skipped. `passed_over` is the least cost of a
    /// skipped branch.
    most: u64,
    passed_over: Cost,
    best: Cost,
    best_partition: Option<Partition>,
}

/// An item with its untried candidates, best last, and the mark of the candidate being tried.
#[derive(Default)]
struct Frame {
    rest: Vec<Candidate>,
    placed: Option<Mark>,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, bounds: &'p Bounds, best: Cost) -> Self {
        Search {
            problem,
            bounds,
            placed: PlacedItems::new(problem, bounds),
            steps: 0,
            most: u64::MAX,
            passed_over: best,
            best,
            best_partition: None,
        }
    }

    /// Improves an initial assignment. Each item goes to its assigned loop, with the best choice of
    /// rematerialised operands, one item after the other. If an item then fits nowhere, the next
    /// attempt rematerialises nothing in its loop.
    fn follow(&mut self, loop_of: &[usize]) {
        let mut as_it_was: Vec<usize> = Vec::new();
        let start = self.placed.mark();
        for _ in 0..ATTEMPTS {
            let mut opened: FxHashMap<usize, usize> = FxHashMap::default();
            let stuck = loop_of.iter().enumerate().find(|(item, to)| {
                let next = self.placed.loops.count();
                let l = *opened.entry(**to).or_insert(next);
                let mut ways = self.candidates(*item, l);
                ways.retain(|c| c.copies.is_empty() || !as_it_was.contains(to));
                let best = ways.into_iter().min_by_key(|c| (c.bound, c.copies.len()));
                let found = best.is_some();
                best.map(|best| self.placed.place(*item, best));
                !found
            });
            if stuck.is_none() {
                self.take();
            }
            self.placed.take_back(start);
            match stuck {
                Some((_, to)) => as_it_was.push(*to),
                None => return,
            }
        }
    }

    /// Records the placed items if they beat the best known solution.
    fn take(&mut self) {
        let cost = Cost {
            bytes: self.placed.now.bytes,
            loops: self.placed.loops.count(),
        };
        if cost < self.best && self.placed.loops.are_whole() {
            self.best = cost;
            self.best_partition = Some(self.placed.partition());
        }
    }

    /// Runs rounds with growing cost limits. Returns the proven bound.
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

    /// Searches within the cost limit until no better branch is left or the steps run out. Returns
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
                self.placed.take_back(placed);
                continue;
            }
            let Some(next) = frame.rest.pop().filter(|c| c.bound < self.best) else {
                frames.pop();
                continue;
            };
            // Without steps, open branches only count for the bound.
            if self.steps == 0 {
                open = open.min(next.bound);
                frames.pop();
                continue;
            }
            let bound = next.bound;
            frame.placed = Some(self.placed.place(item, next));
            if frames.len() == self.problem.items.len() {
                self.take();
            } else if !self.expand(&mut frames) {
                open = open.min(bound);
            }
        }
        open.min(self.passed_over).min(self.best)
    }

    /// Adds the frame of the next item. Returns false if the steps run out.
    fn expand(&mut self, frames: &mut Vec<Frame>) -> bool {
        let item = frames.len();
        let needed = self.placed.loops.count() as u32 + 1;
        if self.steps < needed {
            self.steps = 0;
            return false;
        }
        self.steps -= needed;
        let mut rest: Vec<Candidate> = match self.placed.best_loop(item) {
            Some(best) => vec![best],
            None => (0..=self.placed.loops.count())
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
        // Best last; among equals, the loop that was opened first.
        rest.sort_by_key(|c| std::cmp::Reverse((c.bound, c.copies.len(), c.at)));
        frames.push(Frame { rest, placed: None });
        true
    }

    /// The ways to place an item in a loop: without copies, and with each choice of rematerialised
    /// operands.
    fn candidates(&mut self, item: usize, l: usize) -> Vec<Candidate> {
        if l < self.placed.loops.count() && !self.placed.may_follow(item, l) {
            return Vec::new();
        }
        let mut found: Vec<Candidate> = self.placed.candidate(item, l).into_iter().collect();
        let (choices, more) = remat::choices(self.problem, item, |m| {
            !self.placed.computes(l, m) && !self.placed.reads(l, m)
        });
        if more {
            let least = self
                .placed
                .least(self.placed.now, self.placed.loops.count());
            self.passed_over = self.passed_over.min(least);
        }
        let tried: usize = choices.iter().map(|c| c.len()).sum();
        self.steps = self.steps.saturating_sub(tried as u32);
        for copies in choices {
            let mark = self.placed.mark();
            if l == self.placed.loops.count() {
                self.placed.open();
            }
            if self.placed.put_copies(l, &copies) {
                found.extend(
                    self.placed
                        .candidate(item, l)
                        .map(|c| Candidate { copies, ..c }),
                );
            }
            self.placed.take_back(mark);
        }
        found
    }
}
