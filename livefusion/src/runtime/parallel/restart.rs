//! Loops over segments that can be cut where a segment begins: nothing that came before has to be known
//! there but the place, so that units need no sums, and nothing that was handed on in scratch arrays.

use super::shape::{Shape, is_known, ways_out};
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Kernel, Outcome};
use loop_lang::Loop;
use loop_lang::chunkable::ChunkPlan;
use loop_lang::ir::{Atom, GroupId, Order, RateKind};
use loop_lang::state::Layout;

/// Where and how such a loop begins anew.
pub struct Restart {
    /// The position of the first inner loop's guard in frames.
    position: u64,
    /// The word of the outer loop's counter.
    outer: usize,
    /// The inner loops, by their positions.
    inner: Vec<(u64, Inner)>,
    /// The groups that the first inner loop starts anew.
    groups: Vec<GroupId>,
}

/// An inner loop.
struct Inner {
    /// The word of its counter.
    counter: usize,
    bound: Atom,
    bound_word: Option<usize>,
}

/// What came of looking for where a segment begins.
pub enum Found {
    /// A frame stands there.
    Beginning,
    /// It is too far away.
    Far,
    /// The loop ended so on the way.
    Ended(Outcome),
}

impl Restart {
    /// For an outer loop with others in it, if the groups that must be known before a unit is emitted belong to
    /// these, and those that have started where a unit begins do so from what does not change.
    pub fn of(
        program: &Loop,
        layout: &Layout,
        plan: &ChunkPlan,
        needs: Needs<'_>,
    ) -> Option<Restart> {
        let [root] = program.roots[..] else {
            return None;
        };
        let first = plan.first_loop?;
        let outer = layout.word(program.rate(root).kind.counter()?)?;
        let (mut inner, mut position) = (Vec::new(), 0);
        for (k, rate) in (1..).zip(&layout.resume) {
            if *rate == first {
                position = k;
            }
            if *rate == root {
                continue;
            }
            let RateKind::Nested {
                parent,
                counter,
                bound,
                ..
            } = program.rate(*rate).kind
            else {
                return None;
            };
            // A segment that is left early ends where its bound does not say.
            if program.loop_rate(parent) != root || ways_out(program, *rate) != 1 {
                return None;
            }
            let bound_word = match bound {
                Atom::Var(v) => layout.word(v),
                Atom::Const(_) => None,
            };
            let counter = layout.word(counter)?;
            inner.push((
                k,
                Inner {
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
        // What is joined later is cut at ends of units, which are no ends of chunks.
        let exact = |id: &GroupId| plan.group(*id).order == Order::Exact;
        let fits = !needs.keeps && needs.later.iter().all(exact) && groups.iter().all(starts_anew);
        // Where nothing has to be known units may as well be cut anywhere.
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

    /// Runs a paused frame on to the next place where a segment has begun, and nothing of it was run, if that is not more than
    /// so many steps away.
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
            // The step behind the last one is that of the next iteration, or of an inner loop behind this one.
            let before = frame.words[self.outer];
            match run(1, frame) {
                Outcome::Paused => {}
                ended => return Found::Ended(ended),
            }
            if frame.words[self.outer] != before && frame.words[0] == self.position {
                return Found::Beginning;
            }
        }
    }

    /// Steps to the end of the inner loop at which a frame stands.
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

    /// Makes the groups of a frame that stands at such a place what they are there.
    pub fn begin(&self, shape: &Shape, kernel: &dyn Kernel, words: &mut [u64], args: &[Arg<'_>]) {
        shape.clear(kernel, &self.groups, words, args);
        let program = &shape.plan.program;
        for id in &self.groups {
            let start = shape.plan.group(*id).start.iter();
            let start: Vec<u64> = start.map(|a| known_word(program, args, *a)).collect();
            shape.set(kernel, *id, words, &start);
        }
    }
}

/// What units of a loop need to know.
pub struct Needs<'a> {
    /// Groups that must be known before a unit is emitted, by level.
    pub first: &'a [(u32, Vec<GroupId>)],
    /// Groups that are joined when it has run.
    pub later: &'a [GroupId],
    /// Whether what a pause in an inner loop keeps depends on groups of outer loops, or units append to arrays of their own.
    pub keeps: bool,
}
