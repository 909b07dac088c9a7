//! What the operators compute, on canonical words: the reference for every backend.
use crate::ir::{FnId, Group, Loop};
use crate::op::Op;
use crate::types::Ty;

/// Value of `op`. `from` is the type of the first operand (of the arms, for `select`), `to` the
/// result's type.
pub fn eval(_op: Op, _from: Ty, _to: Ty, _args: &[u64]) -> u64 { 0 }
/// Calls a combine function; its traps are ignored.
pub fn call(_program: &Loop, _function: FnId, _args: &[u64]) -> Vec<u64> { vec![] }
/// Joins two values of a group, `left` earlier.
pub fn combine(_program: &Loop, _group: &Group, _left: &[u64], _right: &[u64]) -> Vec<u64> { vec![] }
