//! Loops over arrays as they run.

use super::prepared::Prepared;
use super::program::cancelled;
use super::{Engine, force_nodes};
use crate::ast::{ArrayLoop, Ends, Node, Value, Values};
use crate::error::Result;
use livefusion_backend::Buffer;
use smallvec::SmallVec;
use std::sync::Arc;

/// Runs a loop from its start on, and gives its last state.
pub fn run(engine: &Engine, of: &ArrayLoop) -> Result<Values> {
    let begin: Vec<Arc<Node>> = of.begin().cloned().collect();
    let mut state = force_nodes(engine, &begin)?;
    let left = word(state.pop());
    if left == 0 {
        return Ok(state);
    }
    force_nodes(engine, &of.captures)?;
    let step = Prepared::whole(engine, of.step.clone(), of.inputs.clone(), of.inputs.len())?;
    let spare = Spare::from_elem(Vec::new(), of.step.len());
    turns(engine, of, (&step, &[]), (state, left), spare)
}

/// A scalar of one field: how often a loop goes on, or whether it does.
pub fn word(value: Option<Value>) -> u64 {
    match value {
        Some(Value::Scalar(fields)) => fields.first().map_or(0, |c| c.bits),
        _ => 0,
    }
}

/// Arrays that nobody needs any more, of each result of a step its columns.
pub type Spare = SmallVec<[Vec<Arc<Buffer>>; 8]>;

/// Goes from a state to the last one, by steps that also take what they capture: so often as is said, or of a loop with a
/// test, as long as the last one held. The first step has `spare` memory.
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
        // A step may have no loop that looks.
        if engine.watch().is_cancelled() {
            return Err(cancelled());
        }
        let mut next = step.run(&mut state, &captured, &mut spare)?;
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

/// The last state's memory is there for the state after the next one, where nobody else has it. A component that was passed on,
/// as in `(was, is) -> (is, next)`, needs none: what it was before is there for another one, whose memory it has now.
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
