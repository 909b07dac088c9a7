//! Restarts: loops over segments that can be cut at segment beginnings.
//!
//! At such a cut only the place must be known. Units need no sums, and nothing from scratch arrays.

use super::shape::{ChunkedLoop, is_known};
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Kernel, Outcome};
use loop_lang::Loop;
use loop_lang::chunkable::ChunkPlan;
use loop_lang::gotos::Tree;
use loop_lang::ir::{Atom, GroupId, Order, RateKind};
use loop_lang::state::Layout;

/// Describes where and how a loop can restart.
pub struct Restart {
    /// The position of the first inner loop's guard in frames.
    position: u64,
    /// The word of the outer loop's counter.
    outer: usize,
    /// The inner loops, by their positions.
    inner: Vec<(u64, InnerLoop)>,
    /// The groups that the first inner loop initialises.
    groups: Vec<GroupId>,
}

/// An inner loop.
struct InnerLoop {
    /// The word of its counter.
    counter: usize,
    bound: Atom,
    bound_word: Option<usize>,
}

/// Describes the result of a search for a segment's beginning.
pub enum Found {
    /// The frame is at one.
    Beginning,
    /// It is too far away.
    Far,
    /// The loop ended on the way.
    Ended(Outcome),
}

impl Restart {
    /// Analyses an outer loop with inner loops.
    ///
    /// It can restart if all groups with prefixes belong to inner loops. Groups that have started
    /// where a unit begins must start from invariant values.
    pub fn of(
        program: &Loop,
        layout: &Layout,
        plan: &ChunkPlan,
        needs: UnitInputs<'_>,
    ) -> Option<Restart> {
        let [root] = program.roots[..] else {
            return None;
        };
        let first = plan.first_loop?;
        let outer = layout.word(program.rate(root).kind.counter()?)?;
        let tree = Tree::of(program);
        let (mut inner, mut position) = (Vec::new(), 0);
        for (k, rate) in (1..).zip(&layout.resume) {
            if *rate == first {
                position = k;
            }
            if *rate == root {
                continue;
            }
            let RateKind::Nested { counter, bound, .. } = program.rate(*rate).kind else {
                return None;
            };
            // An early exit ends a segment before its bound.
            if tree.ways_out(program, *rate) != 1 {
                return None;
            }
            let bound_word = match bound {
                Atom::Var(v) => layout.word(v),
                Atom::Const(_) => None,
            };
            let counter = layout.word(counter)?;
            inner.push((
                k,
                InnerLoop {
                    counter,
                    bound,
                    bound_word,
                },
            ));
        }
        let groups = needs.first.iter().flat_map(|(_, ids)| ids).copied();
        let groups: Vec<GroupId> = groups.collect();
        let starts_anew = |id: &GroupId| {
            let group = plan.group(*id);
            let known = || group.start.iter().all(|a| is_known(program, *a));
            group.owner != root && (group.owner != first || known())
        };
        // Groups that are joined later would be cut at the ends of units, which are not ends of
        // chunks.
        let exact = |id: &GroupId| plan.group(*id).order == Order::Exact;
        let fits = !needs.keeps && needs.later.iter().all(exact) && groups.iter().all(starts_anew);
        // Without prefixes, units may be cut anywhere instead.
        let worth = plan.begins_with_root || !groups.is_empty();
        let started = groups
            .into_iter()
            .filter(|id| plan.group(*id).owner == first);
        (fits && worth).then(|| Restart {
            position,
            outer,
            inner,
            groups: started.collect(),
        })
    }

    /// Runs a paused frame to the next beginning of a segment.
    ///
    /// It gives up if that is more than `most` steps away.
    pub fn find(
        &self,
        (program, args): (&Loop, &[Arg<'_>]),
        most: u64,
        frame: &mut Frame<'_>,
        run: &mut dyn FnMut(u64, &mut Frame<'_>) -> Outcome,
    ) -> Found {
        let begun = frame.words[1];
        loop {
            let left = self.left(program, &frame.words, args);
            if left > most.saturating_sub(frame.words[1] - begun) {
                return Found::Far;
            }
            if left > 0 {
                match run(left, frame) {
                    Outcome::Paused => {}
                    ended => return Found::Ended(ended),
                }
            }
            // The step after the last one belongs to the next iteration, or to the next inner loop.
            let before = frame.words[self.outer];
            match run(1, frame) {
                Outcome::Paused => {}
                ended => return Found::Ended(ended),
            }
            if frame.words[self.outer] != before && self.is_beginning(&frame.words) {
                return Found::Beginning;
            }
        }
    }

    /// Tells whether a frame is where segments begin.
    pub fn is_beginning(&self, words: &[u64]) -> bool {
        words[0] == self.position
    }

    /// Returns the steps to the end of a frame's current inner loop.
    fn left(&self, program: &Loop, words: &[u64], args: &[Arg<'_>]) -> u64 {
        let at = self.inner.iter().find(|(k, _)| *k == words[0]);
        at.map_or(0, |(_, inner)| {
            let bound = match inner.bound_word {
                Some(w) => words[w],
                None => known_word(program, args, inner.bound),
            };
            bound.saturating_sub(words[inner.counter])
        })
    }

    /// Initialises the groups of a frame at a segment's beginning.
    pub fn begin(
        &self,
        shape: &ChunkedLoop,
        kernel: &dyn Kernel,
        words: &mut [u64],
        args: &[Arg<'_>],
    ) {
        shape.clear(kernel, &self.groups, words, args);
        let program = &shape.plan.program;
        for id in &self.groups {
            let start = shape.plan.group(*id).start.iter();
            let start: Vec<u64> = start.map(|a| known_word(program, args, *a)).collect();
            shape.set(kernel, *id, words, &start);
        }
    }
}

/// Lists the inputs of a loop's units.
pub struct UnitInputs<'a> {
    /// Groups with prefixes, by level.
    pub first: &'a [(u32, Vec<GroupId>)],
    /// Groups joined after a unit has run.
    pub later: &'a [GroupId],
    /// Whether a pause in an inner loop keeps values that depend on outer groups, or units append
    /// to private arrays.
    pub keeps: bool,
}
