//! What every tile must keep to. [`verify`] reports all faults at once.
//!
//! `frame`
//! * A tile has one range, of its rate's counter. What it changes is carried, as words, and each word of the loop is
//!   one value. Entries speak of arrays and indices, and of powers of two.
//!
//! `scope`
//! * Names are words of their own, and no array has them. Every value is defined before it is used, once, and used only in
//!   the body in which it is defined; only registers and state are set.
//! * Bodies are in each other no deeper than [`MAX_DEPTH`].
//!
//! `types`
//! * Operands fit their operators and statements, in type and in lanes; memory has the type of what is read
//!   and written there; only arrays that the loop makes are written.
//!
//! `bounds`
//! * Loops end: a `for` over the tile's range takes steps that its entries promise, one between literals turns a whole number
//!   of times, few enough to be followed one by one, and any other goes up by one.
//! * Every access that is not checked has a proof, and the proof holds: see there.
//!
//! `segments`
//! * A tile is left, and undone, only in a state that the frame has at the guard: see there.
//!
//! `zip`
//! * Sides write to their own buffers alone, and are found again by what ends where they are.
//!
//! `stream`
//! * What goes past the caches is stored in step, and nothing else is done with it.

mod bounds;
mod frame;
mod places;
mod scope;
mod segments;
mod stream;
mod types;
mod zip;

pub use zip::zip;

use crate::ir::{MAX_DEPTH, StmtKind, Tile};
use crate::print::Line;
use loop_lang::Loop;
use std::fmt;

/// One fault of a tile, with where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Where: a statement's line, or the tile's name.
    pub place: String,
    /// What is wrong, for a person.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.place, self.message)
    }
}

/// The faults found so far.
struct Faults<'a> {
    tile: &'a Tile,
    program: &'a Loop,
    /// The statement that is looked at.
    at: Option<&'a StmtKind>,
    all: Vec<Fault>,
}

impl Faults<'_> {
    /// Adds a fault; once, where turns are followed one by one.
    fn add(&mut self, message: impl Into<String>) {
        let place = match self.at {
            Some(kind) => Line(self.tile, self.program, kind).to_string(),
            None => self.tile.name.clone(),
        };
        let message = message.into();
        let fault = Fault { place, message };
        if !self.all.contains(&fault) {
            self.all.push(fault);
        }
    }
}

/// Checks a tile of a loop.
///
/// Errors: all faults that there are; what rests on others is not checked.
pub fn verify(tile: &Tile, program: &Loop) -> Result<(), Vec<Fault>> {
    let mut faults = Faults {
        tile,
        program,
        at: None,
        all: Vec::new(),
    };
    // What follows calls itself in bodies, and looks things up.
    if tile.depth() > MAX_DEPTH {
        faults.add(format!("bodies are in each other deeper than {MAX_DEPTH}"));
    } else if frame::check(tile, program, &mut faults)
        && scope::check(tile, program, &mut faults)
        && types::check(tile, program, &mut faults)
    {
        segments::check(tile, &mut faults);
        stream::check(tile, &mut faults);
        bounds::check(tile, program, &mut faults);
    }
    match faults.all.is_empty() {
        true => Ok(()),
        false => Err(faults.all),
    }
}
