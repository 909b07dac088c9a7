//! Well-formedness of loops: [`verify`] reports all faults at once.
//!
//! The invariants, by the file that checks them:
//!
//! `ids`
//!
//! * Every id (combinator, variable, rate, group, function, trap) is in its table.
//! * Regions nest no deeper than [`MAX_REGION_DEPTH`].
//!
//! `names`
//!
//! * Variables, combinators, rates and functions have unique names. Names are words; a variable's
//!   name has no other meaning in the text form.
//!
//! `tree`
//!
//! * Parents come before their children. Every child is listed once, by its own parent. The roots
//!   are listed once each. A rate has the stages 0, 1, ... in order, at least one.
//! * Each combinator's slot exists, and each stage of each rate is a combinator's slot.
//! * Counters, counts and bounds are scalars of type `u64`; stream parameters name loop rates.
//!
//! `flow`
//!
//! * Every place of the rate tree has exactly one block, and all labels of a block mean the same
//!   place.
//! * Every block but the last ends in the goto that the tree implies; the last returns. A cursor's
//!   blocks may continue inside the cursor (forwards, or to its guard), or at the place after it
//!   with an element.
//!
//! * Exits go from a guard to the guard's default exit, or forwards to `bottom` or `done` of a rate
//!   around the block. `init` and the last block have none. No edge from a loop's `nest` or guard
//!   skips the step and enters an iteration.
//! * The guard of a root or nested rate exits unless its counter is less than its bound.
//! * Every block is reachable.
//!
//! `scope`
//!
//! * Each variable is defined once, on every path to each of its uses. Definitions in a region or
//!   function are used only inside it. Functions use nothing from outside.
//!
//! `placement`
//!
//! * `carry` is in `init` or `nest`. Only carried variables are assigned. Regions have no effects
//!   other than traps. Arrays are made in `init`, `nest` or `done`.
//! * Only arrays made by the loop are written or sliced. A stream is read at its rate's counter. A
//!   sliced array has no later uses. Scratch arrays are made in `init` by `newArray`; only
//!   iterations read, write and sort them. Functions contain only `let`, `trap`, `if` and `while`.
//!
//! `constants`
//!
//! * Constants are canonical words of their types.
//!
//! `types`
//!
//! * Operands match their operators and statements; arrays are used as arrays, scalars as scalars.
//!
//! `groups`
//!
//! * A carried variable belongs to one group or is a loop rate's counter. A counter goes up by one:
//!   in its rate's `bottom`, or anywhere in a cursor.
//! * A group starts at its owner, with its start atoms. It is updated in its step rate (in another
//!   phase, in one rate there), once, with its next values. Sequential groups may be updated
//!   several times, also below their step rate. A subrate's count belongs to a group that steps
//!   there.
//!
//! * `Prefix` groups are updated by one `scan`, others by assignments. Identity, combine function,
//!   lanes and blocks match the group. The counter of a group with blocks does not restart during
//!   the group's lifetime. A group without any carried or updated variable was dropped by a pass,
//!   and is ignored.
//!
//! `uniform`
//!
//! * A uniform rate's length is a literal, a scalar parameter, or a variable set outside of all
//!   iterations and unchanged while its root runs. Either its counter starts at 0 in its `nest`,
//!   and its bound is the length. Or its counter continues, and its bound is the counter plus the
//!   length, set in the outer iteration.
//!
//! `dependence`
//!
//! * Until the owner's loop has ended, a lane's value is used only by its own group's update. It is
//!   read only in the loop that updates its group, in each phase.
//! * A group's level is above that of every group that its update's value or admission depends on
//!   (roots' counters aside). Loops with sequential groups or cursors do not use levels.

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

/// Describes a fault and its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The location: a block's first label, a variable, a rate, ...
    pub place: String,
    /// The fault, for people.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Collects the faults.
#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a fault, unless it equals the last one.
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

/// Verifies a loop.
///
/// # Errors
///
/// Returns all faults. If the rate tree is faulty, checks that depend on it are skipped.
pub fn verify(program: &Loop) -> Result<(), Vec<Fault>> {
    let mut faults = Faults::default();
    ids::check(program, &mut faults);
    if !faults.0.is_empty() {
        // Table lookups would be unsafe.
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
