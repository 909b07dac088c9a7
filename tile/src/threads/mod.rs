//! Loops as work of a device's threads: which iterations each has, and what they must tell each other.
//!
//! ```text
//! Loop  ->  Shape, as thought best or as a schedule decides  ->  a kernel's text, by the backend
//! ```
//!
//! A schedule says of a root who has its iterations ([`Who`]), how many threads a block has, and how many iterations each of
//! these has in a tile; and whether teams have rows where these are many. All else follows from the loop.
//!
//! | module | room for |
//! | --- | --- |
//! | [`phases`] | roots that follow each other, each as a loop of its own |
//! | [`shape`] | which loops can run in parallel on a device, and why others cannot |
//! | [`plan`] | how iterations become work of threads, and why |
//! | [`form`] | how steps go together in tiles, and how large these are |
//! | [`streams`] | arrays whose elements come and go by tiles |
//! | [`near`] | what the elements of rows have to do with memory: what comes and goes by rooms |
//! | [`path`] | segments whose elements are shared among threads |
//! | `team` | rows that a team of threads has |
//! | [`demand`] | what values hang on: groups, and inner rates that must have run for them |
//! | [`handed`] | arrays by which an iteration hands on to itself |

pub mod demand;
pub mod form;
pub mod handed;
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

/// As many threads as are worth a launch whose threads wait for nobody: some on each processor of a device.
pub const ENOUGH: u64 = 1 << 16;

/// Who has the iterations of a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Who {
    /// A thread has some that follow each other; nothing is nested in them.
    Steps,
    /// Threads share what is nested in them, in equal numbers.
    Path,
    /// A team of threads has one, with what is nested in it.
    Teams,
    /// A thread has one, with what is nested in it.
    Rows,
}

impl Who {
    /// Every answer.
    pub const ALL: [Who; 4] = [Who::Steps, Who::Path, Who::Teams, Who::Rows];

    /// Its name in text.
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

/// How the iterations of a root are dealt out to threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Threads {
    /// Who has them.
    pub who: Who,
    /// The threads of a block.
    pub block: u32,
    /// The steps of a tile that each thread has.
    pub each: u32,
}

/// What is asked for of a root, if anything is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Asked {
    /// How its iterations are dealt out.
    pub threads: Option<Threads>,
    /// From how many threads on teams have its rows.
    pub teams: Option<u64>,
}

/// Whether a root may be dealt out so.
///
/// # Errors
/// The rule that is broken.
pub fn allows(program: &Loop, root: RateId, asked: Asked) -> Result<(), Refusal> {
    match program.roots.iter().position(|r| *r == root) {
        Some(phase) => Phases::of(program).at(phase, asked).map(|_| ()),
        None => Err(Refusal::Asked("the rate is no root".into())),
    }
}
