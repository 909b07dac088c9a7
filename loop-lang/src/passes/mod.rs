//! Optimisation passes: free functions, one file each, in one visible pipeline.
//!
//! Every pass takes a loop that verifies and leaves one that verifies, with the same results, bit for
//! bit (NaN payloads aside), on the same arguments. It says whether it changed anything. Parameters stay
//! as they are: they are how the loop is called.
//!
//! There is no pass that threads gotos through empty blocks: each place of the rate tree keeps its
//! block, so that blocks and tree agree. [`goto_threading`] tells backends where a jump ends up.

pub mod common_subexpressions;
pub mod constant_folding;
mod context;
pub mod copy_propagation;
pub mod dead_code;
pub mod goto_threading;
mod identities;
mod leap;
pub mod loop_invariant_motion;
pub mod merge_equal_counters;
mod summary;
#[cfg(test)]
mod tests;

pub use leap::leap;
pub use summary::summary;

use crate::ir::Loop;
use crate::verify::verify;

/// A pass of the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name, that of its file.
    pub name: &'static str,
    /// Runs it. True if it changed the loop.
    pub run: fn(&mut Loop) -> bool,
}

/// The passes in the order in which they run. Each is near linear in the size of the loop.
pub const PIPELINE: &[Pass] = &[
    Pass {
        name: "constant_folding",
        run: constant_folding::run,
    },
    Pass {
        name: "common_subexpressions",
        run: common_subexpressions::run,
    },
    Pass {
        name: "copy_propagation",
        run: copy_propagation::run,
    },
    Pass {
        name: "merge_equal_counters",
        run: merge_equal_counters::run,
    },
    Pass {
        name: "loop_invariant_motion",
        run: loop_invariant_motion::run,
    },
    Pass {
        name: "dead_code",
        run: dead_code::run,
    },
];

/// Rounds of the pipeline at most. Two or three are usual: passes follow chains of values themselves,
/// and a further round is for what one pass lays open to an earlier one.
const ROUNDS: usize = 8;

/// Runs the pipeline until nothing changes. A loop that does not verify is left as it is.
pub fn optimize(program: &mut Loop) {
    if verify(program).is_err() {
        return;
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        for pass in PIPELINE {
            if (pass.run)(program) {
                changed = true;
                check(program, pass.name);
            }
        }
        if !changed {
            return;
        }
    }
}

/// In debug builds, stops where a pass broke a loop: a fault in this crate, whatever the loop was.
fn check(program: &Loop, pass: &str) {
    if cfg!(debug_assertions)
        && let Err(faults) = verify(program)
    {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        panic!(
            "after {pass} the loop does not verify:\n{}\n{program}",
            faults.join("\n")
        );
    }
}
