//! What makes a loop well formed.
use crate::ir::Loop;

/// One fault, with where it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Where: a block's first label, a variable, a rate, ...
    pub place: String,
    /// What is wrong, for a person.
    pub message: String,
}
/// Checks a loop and reports all faults at once.
pub fn verify(_program: &Loop) -> Result<(), Vec<Fault>> { Ok(()) }
