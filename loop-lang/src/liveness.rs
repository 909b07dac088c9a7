//! Which variables are live where.
use crate::ir::{Loop, Var};

/// Scalar variables that a pause must keep: carried ones, and those defined elsewhere that are live at
/// a loop rate's guard. In order of definition, without parameters.
pub fn saved_variables(_program: &Loop) -> Vec<Var> { vec![] }
/// Arrays that the loop makes (`newArray`, `fillArray`, `copyArray`), in order of appearance.
pub fn made_arrays(_program: &Loop) -> Vec<Var> { vec![] }
