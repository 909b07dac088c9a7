//! Loops over segments that can be cut where a segment begins: nothing that came before has to be known
//! there but the place, so that units need no sums.

use super::shape::{Shape, is_known, ways_out};
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Kernel};
use loop_lang::Loop;
use loop_lang::chunkable::ChunkPlan;
use loop_lang::ir::{Atom, GroupId, Order, RateId, RateKind};
use loop_lang::state::Layout;

/// Where and how such a loop begins anew.
pub struct Restart {
    /// The position of the inner loop's guard in frames.
    position: u64,
    /// Words of its counter and bound.
    counter: usize,
    bound: Atom,
    bound_word: Option<usize>,
    /// The groups that each iteration of the outer loop starts anew.
    groups: Vec<GroupId>,
}

impl Restart {
    /// For a loop with one inner loop, if the groups that must be known before a unit is emitted belong to
    /// that, and start from what does not change.
    pub fn of(
        program: &Loop,
        layout: &Layout,
        plan: &ChunkPlan,
        needs: Needs<'_>,
    ) -> Option<Restart> {
        let is_loop = |(_, r): &(usize, &loop_lang::ir::Rate)| !r.kind.is_sub();
        let mut loops = program.rates.iter().enumerate().filter(is_loop);
        let (Some(_), Some((inner, rate)), None) = (loops.next(), loops.next(), loops.next())
        else {
            return None;
        };
        let inner = RateId::new(inner);
        let RateKind::Nested { counter, bound, .. } = rate.kind else {
            return None;
        };
        let groups: Vec<GroupId> = needs
            .first
            .iter()
            .flat_map(|(_, ids)| ids)
            .copied()
            .collect();
        let starts_anew = |id: &GroupId| {
            let group = plan.group(*id);
            group.owner == inner && group.start.iter().all(|a| is_known(program, *a))
        };
        // What is joined later is cut at ends of units, which are no ends of chunks.
        let exact = |id: &GroupId| plan.group(*id).order == Order::Exact;
        let fits = !needs.keeps && needs.later.iter().all(exact) && groups.iter().all(starts_anew);
        let position = layout.resume.iter().position(|r| *r == inner)?;
        // A segment that is left early ends where its bound does not say.
        let fits = fits && ways_out(program, inner) == 1;
        (fits && !groups.is_empty()).then_some(Restart {
            position: position as u64 + 1,
            counter: layout.word(counter)?,
            bound,
            bound_word: match bound {
                Atom::Var(v) => layout.word(v),
                Atom::Const(_) => None,
            },
            groups,
        })
    }

    /// Steps from a paused frame's place to the next one where a segment has begun, and nothing of it was
    /// run.
    pub fn steps(&self, program: &Loop, words: &[u64], args: &[Arg<'_>]) -> u64 {
        if words[0] != self.position {
            return 0;
        }
        let bound = match self.bound_word {
            Some(w) => words[w],
            None => known_word(program, args, self.bound),
        };
        // The last one is that of the next iteration.
        bound.saturating_sub(words[self.counter]) + 1
    }

    /// Makes the groups of a frame that stands at such a place what they are there.
    pub fn begin(&self, shape: &Shape, kernel: &dyn Kernel, words: &mut [u64], args: &[Arg<'_>]) {
        if words[0] != self.position {
            return;
        }
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
    /// Whether what a pause in an inner loop keeps depends on groups.
    pub keeps: bool,
}
