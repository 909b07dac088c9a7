//! The state of a paused loop: its position, carried variables and groups as words.
//!
//! All backends share this layout, so any backend may resume a span that another one paused.
//!
//! | word | holds |
//! | --- | --- |
//! | 0 | position: 0 before `init`; k at the guard of `resume[k - 1]`; [`DONE`] after the last root |
//! | 1 | steps taken since the loop began |
//! | .. | one canonical word per saved variable |
//! | .. | one canonical word per held variable |
//! | .. | local parts of `Lanes`, `Runs` and `Prefix` groups |
//!
//! # Pending updates
//!
//! An update is pending until control reaches the guard or `done` of its loop rate. At a pause at
//! the guard of an inner loop, updates of outer iterations may be pending. A *held* variable may be
//! read once more before its update takes effect. Its saved word is the current value, and its held
//! word is the next value (the same if no update is pending). For every other variable, the old
//! value is dead, and the update is done before the pause. Updates of lanes are done before the
//! pause, too.
//!
//! The emit form's reads determine whether a variable is held, for the whole loop. At a pause, its
//! update stays pending in all phases and in all summaries, even if they no longer read the old
//! value. A different pass may resume there.
//!
//! # Local parts
//!
//! A group's *prefix* P is in the words of its variables. Per variable its local part is:
//!
//! * `Lanes(L)`: L lanes.
//! * `Runs(S)`: two lanes: the earlier runs of the chunk, and the current run.
//! * `Prefix(L)`: the current value C (seen by reads), the running total R of finished blocks, the
//!   last local value, and log2(L) tree entries T.
//!
//! The following defines the bits that every backend must produce. `⊕` is the group's combine
//! operator, with the earlier value on the left. A group of several variables combines as one
//! tuple.
//!
//!
//! * *Start*: P is the starting value, C = P, and the rest of the local part is the identity.
//! * *Update of a lane*: element number i of the step's loop rate (by its counter) reads and writes
//!   lane i mod L.
//! * *Update of a run*: reads and writes lane 1.
//! * *Scan of an element x*, number i, at position j = i mod L of its block:
//!   ```text
//!   s = x
//!   for k in 0 .. log2 L { if bit k of j is set { s = T[k] ⊕ s } else { T[k] = s } }
//!   last = R ⊕ s
//!   if j = L - 1 { R = last }
//!   the result is P ⊕ last, which C becomes at the next guard
//!   ```
//!   Elements have consecutive counters from the group's start on. If that is not guaranteed (in a
//!   subrate, or in a loop with several phases), L is 1. A block that begins in its middle, after
//!   a start or the end of a chunk, has the identity for its missing elements.
//!
//! * *End of a run* (every S steps): lane 0 becomes lane 0 ⊕ lane 1, and lane 1 the identity.
//! * *Total*, seen by reads after the loop: `Lanes` and `Runs` combine a copy by `for w in [L/2,
//!   L/4, .., 1] { for j in 0 .. w { lane[j] = lane[j] ⊕ lane[j + w] } }`, and the total is P ⊕
//!   lane\[0\]. For `Prefix` it is P ⊕ last.
//! * *End of a chunk* (every [`CHUNK`](crate::ir::CHUNK) steps): P becomes the total. The local
//!   part becomes the identity, except for C, which stays.
//!
//! The functions on words in this module are the reference; a backend may do the same in registers.

mod groups;
#[cfg(test)]
mod tests;

pub use groups::{group_total, join_chunk, join_run, reset_local, scan_step, start_group};

use crate::ir::{Group, GroupId, Loop, Order, RateId, Type, Var};
use crate::liveness;
use rustc_hash::FxHashMap;

/// Marks the position of a finished loop.
pub const DONE: u64 = u64::MAX;

/// Maps a paused loop's state to words.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Loop rates in `RateId` order: position k is the guard of `resume[k - 1]`.
    pub resume: Vec<RateId>,
    /// Saved scalar variables and their words: carried variables, and those live at a loop rate's
    /// guard.
    pub saved: Vec<(Var, usize)>,
    /// Held variables, which are also saved, and their second words.
    pub held: Vec<(Var, usize)>,
    /// The first word of each group's local part, by [`GroupId`] (unused for `Exact` and
    /// `Sequential`).
    pub local: Vec<usize>,
    /// Arrays made by the loop (`newArray`, `fillArray`, `copyArray`), in order of appearance.
    pub arrays: Vec<Var>,
    /// The array slots of [scratch](crate::ir::VarData::scratch) arrays.
    pub scratch: Vec<usize>,
    /// The number of words.
    pub words: usize,
    word_of: FxHashMap<Var, usize>,
    slot_of: FxHashMap<Var, usize>,
}

/// Returns the words of a group variable's local part.
pub fn local_words(order: Order) -> usize {
    match order {
        Order::Lanes(l) => l as usize,
        Order::Runs(_) => 2,
        Order::Prefix(l) => 3 + l.trailing_zeros() as usize,
        Order::Exact | Order::Sequential => 0,
    }
}

impl Layout {
    /// Computes the layout of a loop.
    ///
    /// All passes of a kernel share the layout of the emit form.
    pub fn of(program: &Loop) -> Layout {
        let mut layout = Layout {
            words: 2,
            ..Layout::default()
        };
        for (i, rate) in program.rates.iter().enumerate() {
            if !rate.kind.is_sub() {
                layout.resume.push(RateId::new(i));
            }
        }
        for v in liveness::saved_variables(program) {
            debug_assert!(matches!(program.ty(v), Type::Scalar(_)));
            let word = layout.take(1);
            layout.saved.push((v, word));
            layout.word_of.insert(v, word);
        }
        for v in liveness::held_variables(program) {
            let word = layout.take(1);
            layout.held.push((v, word));
        }
        for g in &program.groups {
            let first = layout.take(g.vars.len() * local_words(g.order));
            layout.local.push(first);
        }
        layout.arrays = liveness::made_arrays(program);
        let slots = 0..layout.arrays.len();
        let is_scratch = |slot: &usize| program.is_scratch(layout.arrays[*slot]);
        layout.scratch = slots.filter(is_scratch).collect();
        layout.slot_of = layout
            .arrays
            .iter()
            .enumerate()
            .map(|(i, v)| (*v, i))
            .collect();
        layout
    }

    /// Allocates `n` words and returns the first.
    fn take(&mut self, n: usize) -> usize {
        let first = self.words;
        self.words += n;
        first
    }

    /// Returns the word of a saved variable.
    pub fn word(&self, v: Var) -> Option<usize> {
        self.word_of.get(&v).copied()
    }

    /// Returns the first word of the local part of a group's `i`-th variable.
    pub fn local(&self, id: GroupId, group: &Group, i: usize) -> usize {
        self.local[id.index()] + i * local_words(group.order)
    }

    /// Returns the slot of an array that the loop makes.
    pub fn array_slot(&self, v: Var) -> Option<usize> {
        self.slot_of.get(&v).copied()
    }
}
