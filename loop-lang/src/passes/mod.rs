//! Optimisation passes: free functions, one file each, in one visible pipeline.
//!
//! Each pass takes a verified loop and returns a verified loop. The results on the same arguments
//! are bit-identical, except for NaN payloads. Each pass reports whether it changed anything.
//! Parameters stay unchanged, since callers depend on them.
//!
//! No pass threads gotos through empty blocks. Each place of the rate tree keeps its block, so that
//! blocks and tree agree. [`goto_threading`] gives backends the final target of a jump.

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

/// Describes a pass of the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name, the same as its file's.
    pub name: &'static str,
    /// Its function, which returns whether it changed the loop.
    pub run: fn(&mut Loop) -> bool,
}

/// Lists the passes in execution order.
///
/// Each is near linear in the size of the loop.
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

/// The maximum number of rounds. Two or three are usual: passes follow chains of values themselves,
/// and a further round is needed only if one pass enables an earlier one.
const ROUNDS: usize = 8;

/// Runs the pipeline until nothing changes.
///
/// A loop that does not verify stays unchanged.
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

/// In debug builds, panics after a pass that broke a loop: a bug in this crate, for any input.
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
