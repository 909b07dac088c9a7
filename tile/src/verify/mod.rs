//! What every tile must keep to. [`verify`] reports all faults at once.
//!
//! `types`
//! * Operands fit their operators and statements, in type and in lanes; memory has the type of what is read
//!   and written there; only arrays that the loop makes are written.
//!
//! `scope`
//! * Names are words of their own. Every value is defined before it is used, once, and used only in the body in which it
//!   is defined; only registers and state are set.
//!
//! `bounds`
//! * Ranges are whole: a `for` over the tile's range takes steps that its entries promise. What is unrolled is short, between
//!   literals.
//! * Every access that is not checked has a proof, and the proof holds: see there.

mod bounds;
mod scope;
mod types;

use crate::ir::Tile;
use loop_lang::Loop;
use std::fmt;

/// One fault of a tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What is wrong, for a person.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The faults found so far.
#[derive(Default)]
struct Faults(Vec<Fault>);

impl Faults {
    fn add(&mut self, message: impl Into<String>) {
        let fault = Fault {
            message: message.into(),
        };
        if self.0.last() != Some(&fault) {
            self.0.push(fault);
        }
    }
}

/// Checks a tile of a loop.
///
/// Errors: all faults that there are; what rests on others is not checked.
pub fn verify(tile: &Tile, program: &Loop) -> Result<(), Vec<Fault>> {
    let mut faults = Faults::default();
    if scope::check(tile, &mut faults) && types::check(tile, program, &mut faults) {
        bounds::check(tile, program, &mut faults);
    }
    match faults.0.is_empty() {
        true => Ok(()),
        false => Err(faults.0),
    }
}
