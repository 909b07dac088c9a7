//! What makes a loop well formed. [`verify`] reports all faults at once.
//!
//! The invariants, by the file that checks them:
//!
//! `ids`
//! * Every id (combinator, variable, rate, group, function, trap) is in its table.
//! * Regions nest no deeper than [`MAX_REGION_DEPTH`].
//!
//! `names`
//! * Variables, combinators, rates and functions have unique names; names are words, and a variable's
//!   means nothing else in the text form.
//!
//! `tree`
//! * Parents come before their children, every child is listed once and by its own parent, the roots
//!   are listed once each, and a rate has the stages 0, 1, ... in order, at least one.
//! * Each combinator's home exists, and each stage of each rate is somebody's home.
//! * Counters, counts and bounds are scalars of type `u64`; stream parameters name loop rates.
//!
//! `flow`
//! * Every place of the rate tree has exactly one block, and a block's labels mean one place.
//! * Every block but the last ends in the goto that the tree demands, the last returns. A cursor's
//!   blocks may go on inside the cursor (forwards, or to its guard), or deliver to what follows it.
//! * Exits go from a guard to the guard's way out, or forwards to `bottom` or `done` of a rate around
//!   the block; `init` and the last block have none. From a
//!   loop's `nest` and guard nothing leads past the step into an iteration.
//! * The guard of a root or nested rate leaves unless its counter is less than its bound.
//! * Every block can be reached.
//!
//! `scope`
//! * Each variable is defined once, and defined on every path to each of its uses; what a region or
//!   function defines is used inside it only. Functions use nothing from outside.
//!
//! `placement`
//! * `carry` is in `init` or `nest`, only carried variables are assigned, regions are free of effects
//!   other than traps, arrays are made in `init`, `nest` or `done`.
//! * Only arrays that the loop made are written or sliced; a stream is read at its rate's counter; an array that
//!   has been sliced is not used afterwards. Scratch arrays are made in `init` by `newArray`, and only read, written and
//!   sorted, by iterations. Functions hold `let`, `trap`, `if` and `while` only.
//!
//! `constants`
//! * Constants are canonical words of their types.
//!
//! `types`
//! * Operands fit their operators and statements; arrays are used as arrays, scalars as scalars.
//!
//! `groups`
//! * A carried variable belongs to one group or is a loop rate's counter. A counter goes up by one: in
//!   its rate's `bottom`, or anywhere in a cursor.
//! * A group starts where its owner says, with the atoms that it names; it is updated in its step rate
//!   (in another phase, in one rate there), once, with the values that it names. Sequential groups may
//!   be updated several times, also below their step rate. A subrate's count is of a group that steps there.
//! * `Prefix` groups are updated by one `scan`, others by assignments. Identity, combine function,
//!   lanes and blocks fit the group. The counter of a group with blocks does not start anew while the group
//!   goes on. A group whose variables are nowhere carried or updated has been
//!   dropped by a pass and is left in peace.
//!
//! `uniform`
//! * A uniform rate's length is a literal, a scalar parameter, or set outside of all iterations and not changed while
//!   its root runs. Its counter starts at 0 in its `nest` and its bound is the length, or its counter runs on
//!   and its bound is the counter plus the length, set in the iteration around it.
//!
//! `dependence`
//! * A value of a lane feeds its own group's update only, until the owner's loop has ended; until then it
//!   is read in the loop that updates its group, in each phase.
//! * A group's level is above that of every group that its update's value or admission depends on
//!   (roots' counters aside). Loops with sequential groups or cursors have no use for levels.

mod constants;
mod dependence;
mod flow;
mod groups;
mod ids;
mod names;
mod placement;
mod scope;
mod tree;
mod types;
mod uniform;
mod view;

pub use names::as_word;

use crate::dominators;
use crate::ir::Loop;
use std::fmt;

#[cfg(doc)]
use crate::ir::MAX_REGION_DEPTH;

/// One fault, with where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Where: a block's first label, a variable, a rate, ...
    pub place: String,
    /// What is wrong, for a person.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The faults found so far.
#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a fault, unless it is the last one again.
    fn add(&mut self, place: impl Into<String>, message: impl Into<String>) {
        let fault = Fault {
            place: place.into(),
            message: message.into(),
        };
        if self.0.last() != Some(&fault) {
            self.0.push(fault);
        }
    }
}

/// Checks a loop and reports all faults at once. Where the rate tree itself is at fault, what rests
/// on it is not checked.
pub fn verify(program: &Loop) -> Result<(), Vec<Fault>> {
    let mut faults = Faults::default();
    ids::check(program, &mut faults);
    if !faults.0.is_empty() {
        // Nothing can be looked up safely.
        return Err(faults.0);
    }
    names::check(program, &mut faults);
    constants::check(program, &mut faults);
    types::check(program, &mut faults);
    if tree::check(program, &mut faults) {
        let view = view::View::of(program);
        if flow::places(&view, &mut faults) {
            let graph = flow::check(&view, &mut faults);
            scope::check(&view, &graph, &mut faults);
            placement::check(&view, &mut faults);
            groups::check(&view, &mut faults);
            uniform::check(&view, &mut faults);
            dependence::check(&view, &mut faults);
        }
    }
    if faults.0.is_empty() {
        Ok(())
    } else {
        Err(faults.0)
    }
}
