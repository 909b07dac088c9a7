//! Execution of loops over arrays.

use super::prepared::Prepared;
use super::program::cancelled;
use super::{Engine, force_nodes};
use crate::ast::{ArrayLoop, Ends, Node, Value, Values};
use crate::error::Result;
use crate::force::Spare;
use livefusion_backend::Buffer;
use smallvec::SmallVec;
use std::sync::Arc;

/// Runs a loop from its start, and returns its last state.
///
/// Computes `shared` values together with the start.
pub fn run(engine: &Engine, of: &ArrayLoop, shared: &[Arc<Node>]) -> Result<Values> {
    let begin: Vec<Arc<Node>> = of.begin().chain(shared).cloned().collect();
    let mut state = force_nodes(engine, &begin)?;
    state.truncate(begin.len() - shared.len());
    let left = word(state.pop());
    if left == 0 {
        return Ok(state);
    }
    force_nodes(engine, &of.captures)?;
    let step = Prepared::whole(engine, of.step.clone(), of.inputs.clone(), of.inputs.len())?;
    let spare = Spare::from_elem(Vec::new(), of.step.len());
    turns(engine, of, (&step, &[]), (state, left), spare)
}

/// Returns a one-field scalar, the trip count or whether to continue.
pub fn word(value: Option<Value>) -> u64 {
    match value {
        Some(Value::Scalar(fields)) => fields.first().map_or(0, |c| c.bits),
        _ => 0,
    }
}

/// Runs the steps of a loop, and returns its last state.
///
/// A counted loop runs `left` steps. A loop with a test runs while the last test held. Each step
/// also takes the captured values. The first step may use the `spare` arrays.
pub fn turns(
    engine: &Engine,
    of: &ArrayLoop,
    (step, captured): (&Prepared, &[Value]),
    (mut state, mut left): (Values, u64),
    mut spare: Spare,
) -> Result<Values> {
    let counts = matches!(of.ends, Ends::After(_));
    let captured: SmallVec<[&Value; 8]> = captured.iter().collect();
    while left > 0 {
        // A step may have no loop that checks for cancellation.
        if engine.watch().is_cancelled() {
            return Err(cancelled());
        }
        let mut next = Values::new();
        step.run(&mut state, &captured, &mut spare, &mut next)?;
        left = match counts {
            true => left - 1,
            false => word(next.pop()),
        };
        let old = std::mem::replace(&mut state, next);
        let old = old.into_iter().zip(&mut spare);
        old.for_each(|(old, spare)| *spare = columns(old));
        exchange(&mut spare, &state);
    }
    Ok(state)
}

fn columns(value: Value) -> Vec<Arc<Buffer>> {
    match value {
        Value::Array(columns) => columns,
        Value::Scalar(_) => Vec::new(),
    }
}

/// Recycles the last state's memory for the state after the next one, if it is uniquely owned.
///
/// A component that was passed on, as in `(was, is) -> (is, next)`, needs no memory. Its own old
/// memory goes to the component whose memory it now holds.
fn exchange(spare: &mut [Vec<Arc<Buffer>>], state: &[Value]) {
    let is_alone = |column: &Arc<Buffer>| Arc::strong_count(column) == 1;
    let mut free: Vec<Arc<Buffer>> = Vec::new();
    for (k, value) in state.iter().enumerate() {
        let Value::Array(now) = value else { continue };
        let was = |column| spare.iter().flatten().any(|old| Arc::ptr_eq(old, column));
        if now.iter().all(was) {
            free.extend(std::mem::take(&mut spare[k]).into_iter().filter(is_alone));
        }
    }
    let held = spare
        .iter_mut()
        .flatten()
        .filter(|column| !is_alone(column));
    for column in held {
        if let Some(at) = free.iter().position(|other| other.ty() == column.ty()) {
            *column = free.swap_remove(at);
        }
    }
}
