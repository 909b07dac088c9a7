//! Tile verification: [`verify`] reports all faults at once.
//!
//! `frame`
//!
//! * A tile has one range, over its rate's counter. The values that it changes are carried words.
//!   Each word of the loop is one value. Entries refer to arrays, indices and powers of two.
//!
//! `scope`
//!
//! * Names are unique words, distinct from array names. Each value is defined once, before its
//!   uses, and used only in the defining body. Only registers and state are set.
//! * Bodies are nested at most [`MAX_DEPTH`] deep.
//!
//! `types`
//!
//! * Operands match their operators and statements in type and lanes. Memory matches the type of
//!   its accesses. Only arrays made by the loop are written.
//!
//! `bounds`
//!
//! * Loops terminate. A `for` over the tile's range takes steps that its entries guarantee. A
//!   literal loop has a whole number of iterations, few enough to walk them all. Any other loop
//!   increments by one.
//! * Every unchecked access has a valid proof; see the module.
//!
//! `crossing`
//!
//! * Loops over the range read values in buffers that the same step stored before; see the module.
//!
//! `segments`
//!
//! * A tile exits or rolls back only in a state that the frame has at the guard; see the module.
//!
//! `zip`
//!
//! * Inputs write only to their own buffers, and their search loops end at the found position.
//!
//! `stream`
//!
//! * Arrays that bypass the caches are only stored, at the counter.

mod bounds;
mod crossing;
mod frame;
mod places;
mod scope;
mod segments;
mod stream;
mod types;
mod zip;

pub use zip::zip;

use crate::ir::{MAX_DEPTH, StmtKind, Tile};
use crate::print::StmtLine;
use loop_lang::Loop;
use std::fmt;

/// Describes a fault and its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The location: a statement's line, or the tile's name.
    pub place: String,
    /// The fault, for people.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.place, self.message)
    }
}

/// Collects the faults.
struct Faults<'a> {
    tile: &'a Tile,
    program: &'a Loop,
    /// The current statement.
    at: Option<&'a StmtKind>,
    all: Vec<Fault>,
}

impl Faults<'_> {
    /// Adds a fault, without duplicates from iterations that are walked separately.
    fn add(&mut self, message: impl Into<String>) {
        let place = match self.at {
            Some(kind) => StmtLine(self.tile, self.program, kind).to_string(),
            None => self.tile.name.clone(),
        };
        let message = message.into();
        let fault = Fault { place, message };
        if !self.all.contains(&fault) {
            self.all.push(fault);
        }
    }
}

/// Verifies a tile of a loop.
///
/// # Errors
///
/// Returns all faults. Checks that depend on a failed check are skipped.
pub fn verify(tile: &Tile, program: &Loop) -> Result<(), Vec<Fault>> {
    let mut faults = Faults {
        tile,
        program,
        at: None,
        all: Vec::new(),
    };
    // The later checks recurse into bodies and index tables.
    if tile.depth() > MAX_DEPTH {
        faults.add(format!("bodies are in each other deeper than {MAX_DEPTH}"));
    } else if frame::check(tile, program, &mut faults)
        && scope::check(tile, program, &mut faults)
        && types::check(tile, program, &mut faults)
    {
        segments::check(tile, &mut faults);
        stream::check(tile, &mut faults);
        bounds::check(tile, program, &mut faults);
        // It walks loops whose turns are bounded.
        if faults.all.is_empty() {
            crossing::check(tile, &mut faults);
        }
    }
    match faults.all.is_empty() {
        true => Ok(()),
        false => Err(faults.all),
    }
}
