//! The state of a paused loop: how position, carried variables and groups are laid out in words.
//!
//! Every backend uses this layout, so a span that one backend paused another may resume.
//!
//! | word | holds |
//! | --- | --- |
//! | 0 | position: 0 before `init`; k at the guard of `resume[k - 1]`; [`DONE`] after the last root |
//! | 1 | steps taken since the loop began |
//! | .. | one canonical word per saved variable |
//! | .. | local parts of `Lanes` and `Prefix` groups |
//!
//! A group's *prefix* is in the words of its variables. Its local part:
//!
//! * `Lanes(L)`, per variable: L lanes.
//! * `Prefix(L)`, per variable: the current value (what reads see), the running total of finished
//!   blocks, the last local value, and log2(L) tree entries.

use crate::ir::{Group, GroupId, Loop, Order, RateId, RateKind, Type, Var};
use rustc_hash::FxHashMap;

/// Position word of a loop that has run to its end.
pub const DONE: u64 = u64::MAX;

/// Where everything is in the words of a paused loop.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Loop rates in `RateId` order: position k is the guard of `resume[k - 1]`.
    pub resume: Vec<RateId>,
    /// Saved scalar variables and their words: carried ones, and those live at a loop rate's guard.
    pub saved: Vec<(Var, usize)>,
    /// First word of each group's local part, by [`GroupId`] (unused for `Exact` and `Sequential`).
    pub local: Vec<usize>,
    /// Arrays made by the loop (`newArray`, `fillArray`, `copyArray`), in order of appearance.
    pub arrays: Vec<Var>,
    /// Number of words.
    pub words: usize,
    word_of: FxHashMap<Var, usize>,
}

/// Words that one variable of a group needs for its local part.
pub fn local_words(order: Order) -> usize {
    match order {
        Order::Lanes(l) => l as usize,
        Order::Prefix(l) => 3 + l.trailing_zeros() as usize,
        Order::Exact | Order::Sequential => 0,
    }
}

impl Layout {
    /// The layout of a loop. All passes of a kernel share that of the emit form.
    pub fn of(program: &Loop) -> Layout {
        let mut layout = Layout { words: 2, ..Layout::default() };
        for (i, rate) in program.rates.iter().enumerate() {
            if !matches!(rate.kind, RateKind::Sub { .. }) {
                layout.resume.push(RateId::new(i));
            }
        }
        for v in crate::liveness::saved_variables(program) {
            debug_assert!(matches!(program.ty(v), Type::Scalar(_)));
            layout.saved.push((v, layout.words));
            layout.word_of.insert(v, layout.words);
            layout.words += 1;
        }
        for g in &program.groups {
            layout.local.push(layout.words);
            layout.words += g.vars.len() * local_words(g.order);
        }
        layout.arrays = crate::liveness::made_arrays(program);
        layout
    }

    /// The word of a saved variable.
    pub fn word(&self, v: Var) -> Option<usize> {
        self.word_of.get(&v).copied()
    }

    /// First word of the local part of a group's `i`-th variable.
    pub fn local(&self, id: GroupId, group: &Group, i: usize) -> usize {
        self.local[id.index()] + i * local_words(group.order)
    }

    /// The slot of an array that the loop makes.
    pub fn array_slot(&self, v: Var) -> Option<usize> {
        self.arrays.iter().position(|a| *a == v)
    }
}
