//! Device mapping: assigns a loop's iterations to threads, and finds their communication.
//!
//! ```text
//! Loop  ->  Shape, as thought best or as a schedule decides  ->  a kernel's text, by the backend
//! ```
//!
//! A schedule decides three things for a root: the mapping of its iterations ([`Who`]), the threads
//! of a block, and the iterations per thread in a tile. It may also select teams for loops with
//! many rows. The loop determines the rest.
//!
//! | module | contents |
//! | --- | --- |
//! | [`phases`] | consecutive roots, each as a loop of its own |
//! | [`shape`] | which loops can run in parallel on a device, and why others cannot |
//! | [`plan`] | how iterations map to threads, and why |
//! | [`form`] | how steps combine in tiles, and tile sizes |
//! | [`streams`] | arrays that are staged by tiles |
//! | [`near`] | memory accesses of row elements, and their staging |
//! | [`path`] | merge paths: rows with elements shared among threads |
//! | `team` | rows that a team of threads executes |
//! | [`demand`] | dependences of values on groups and inner rates |
//! | [`contracted`] | contracted arrays |

pub mod contracted;
pub mod demand;
pub mod form;
pub mod near;
pub mod path;
pub mod phases;
pub mod plan;
pub mod shape;
pub mod streams;
pub mod team;

use loop_lang::Loop;
use loop_lang::ir::RateId;
use phases::Phases;
use shape::Refusal;
use std::fmt;

/// Holds the thread count that makes a launch of independent threads worthwhile.
///
/// It is a few threads per core of a device.
pub const ENOUGH: u64 = 1 << 16;

/// Lists the mappings of a root's iterations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Who {
    /// A thread has consecutive steps, without inner loops.
    Steps,
    /// Threads share the inner loop's steps in equal numbers.
    Path,
    /// A team of threads has one iteration, with its inner loops.
    Teams,
    /// A thread has one iteration, with its inner loops.
    Rows,
}

impl Who {
    /// Lists every mapping.
    pub const ALL: [Who; 4] = [Who::Steps, Who::Path, Who::Teams, Who::Rows];

    /// Returns its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Who::Steps => "steps",
            Who::Path => "path",
            Who::Teams => "teams",
            Who::Rows => "rows",
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Describes how a root's iterations map to threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Threads {
    /// The mapping.
    pub who: Who,
    /// The threads of a block.
    pub block: u32,
    /// The steps of a tile per thread.
    pub each: u32,
}

/// Holds the requested mapping of a root, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requested {
    /// The mapping of its iterations.
    pub threads: Option<Threads>,
    /// The minimum number of threads for teams to execute its rows.
    pub teams: Option<u64>,
}

/// Checks a requested mapping of a root.
///
/// # Errors
///
/// Returns the rule that it breaks.
pub fn allows(program: &Loop, root: RateId, requested: Requested) -> Result<(), Refusal> {
    match program.roots.iter().position(|r| *r == root) {
        Some(phase) => Phases::of(program).at(phase, requested).map(|_| ()),
        None => Err(Refusal::Requested("the rate is no root".into())),
    }
}
