//! Loops over arrays: they run before what is made of them is planned, so that plans find their results in memory.

use super::prepared::Prepared;
use super::{Engine, force_nodes};
use crate::ast::{After, ArrayLoop, Ends, Kind, Node, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::iterate::waits;
use crate::sharing::links;
use livefusion_backend::Buffer;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// Runs all loops over arrays that these nodes need and that have not run: those that others need come first. What has a
/// mistake is told without running any.
pub fn run_loops(engine: &Engine, roots: &[Arc<Node>]) -> Result<()> {
    if !roots.iter().any(|n| waits(n)) || roots.iter().any(|n| n.error.is_some()) {
        return Ok(());
    }
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let mut stack: Vec<(Arc<Node>, bool)> = roots.iter().map(|n| (n.clone(), false)).collect();
    while let Some((node, ready)) = stack.pop() {
        if !waits(&node) {
            continue;
        }
        if ready {
            if let After::Loop(of, component) = &node.after {
                finish(engine, &node, of, *component)?;
            }
            continue;
        }
        if !seen.insert(Arc::as_ptr(&node)) {
            continue;
        }
        stack.push((node.clone(), true));
        if let After::Loop(of, _) = &node.after {
            stack.extend(of.needs().map(|n| (n.clone(), false)));
            continue;
        }
        let axes = node.shape.iter().flat_map(|shape| shape.axes());
        stack.extend(axes.map(|axis| (axis.node().clone(), false)));
        stack.extend(links(&node).into_iter().map(|n| (n.clone(), false)));
    }
    Ok(())
}

/// Gives a component of a loop's last state its value.
fn finish(engine: &Engine, node: &Node, of: &ArrayLoop, component: u32) -> Result<()> {
    if of.ended.get().is_none() {
        let state = run(engine, of)?;
        // Another thread may have run it meanwhile: it has ended with the same.
        let _ = of.ended.set(state);
    }
    let value = of.ended.get().and_then(|all| all.get(component as usize));
    let value = value.ok_or_else(|| {
        let kind = ErrorKind::Backend("a loop over arrays lacks a result".to_string());
        Error::new(of.name, of.loc, kind)
    })?;
    let _ = node.value.set(value.clone());
    Ok(())
}

/// Runs a loop from its start on, and gives its last state.
fn run(engine: &Engine, of: &ArrayLoop) -> Result<Vec<Value>> {
    let (Ends::After(first) | Ends::Unless(first)) = &of.ends;
    let mut wanted = of.start.clone();
    wanted.push(first.clone());
    let mut state: SmallVec<[Value; 8]> = start(engine, of, &wanted)?.into_iter().collect();
    let word = |value: Option<Value>| match value {
        Some(Value::Scalar(fields)) => fields.first().map_or(0, |c| c.bits),
        _ => 0,
    };
    // How often it goes on: of a loop with a test, as long as the last one held.
    let mut left = word(state.pop());
    let counts = matches!(of.ends, Ends::After(_));
    if left == 0 {
        return Ok(state.into_vec());
    }
    force_nodes(engine, &fixed(&of.step))?;
    let step = Prepared::new(engine, of.step.clone(), of.inputs.clone())?;
    let mut spare: SmallVec<[Vec<Arc<Buffer>>; 8]> = SmallVec::new();
    spare.resize_with(of.step.len(), Vec::new);
    while left > 0 {
        let made = {
            let inputs: SmallVec<[&Value; 8]> = state.iter().collect();
            step.call(&inputs, &mut spare)?
        };
        let mut next: SmallVec<[Value; 8]> = made.into_iter().collect();
        left = match counts {
            true => left - 1,
            false => word(next.pop()),
        };
        let old = std::mem::replace(&mut state, next);
        let old = old.into_iter().zip(&mut spare);
        old.for_each(|(old, spare)| *spare = columns(old));
        exchange(&mut spare, &state);
    }
    Ok(state.into_vec())
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

/// The values that a loop starts from.
fn start(engine: &Engine, of: &ArrayLoop, wanted: &[Arc<Node>]) -> Result<Vec<Value>> {
    if depends_on_inputs(wanted) {
        return Err(Error::new(
            of.name,
            of.loc,
            ErrorKind::Malformed {
                expected:
                    "a loop over arrays that starts from what is there before the program is called"
                        .to_string(),
                got: "one that starts from inputs of a prepared program, or of another loop"
                    .to_string(),
            },
        ));
    }
    Ok(force_nodes(engine, wanted)?.into_iter().collect())
}

/// Whether something that is not there yet stands for an input.
fn depends_on_inputs(roots: &[Arc<Node>]) -> bool {
    let varies = varying(roots);
    roots.iter().any(|root| varies.contains(&Arc::as_ptr(root)))
}

/// The nodes below these that something stands for which is not there yet, or that are computed from such.
fn varying(roots: &[Arc<Node>]) -> FxHashSet<*const Node> {
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let mut varies: FxHashSet<*const Node> = FxHashSet::default();
    let mut stack: Vec<(&Arc<Node>, bool)> = roots.iter().map(|root| (root, false)).collect();
    while let Some((node, below)) = stack.pop() {
        if below {
            let mut links = links(node).into_iter();
            let is_input = matches!(node.kind, Kind::Input(_));
            if is_input || links.any(|link| varies.contains(&Arc::as_ptr(link))) {
                varies.insert(Arc::as_ptr(node));
            }
        } else if node.value.get().is_none() && seen.insert(Arc::as_ptr(node)) {
            stack.push((node, true));
            stack.extend(links(node).into_iter().map(|link| (link, false)));
        }
    }
    varies
}

/// What the steps of a loop need, and each would compute again: what is folded, scanned, filtered or scattered of arrays that
/// are not of the state. What only maps them is computed where it is used, as everywhere.
fn fixed(step: &[Arc<Node>]) -> Vec<Arc<Node>> {
    let varies = varying(step);
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let mut fixed = Vec::new();
    let mut stack: Vec<&Arc<Node>> = step.iter().collect();
    while let Some(node) = stack.pop() {
        if node.value.get().is_some() || !seen.insert(Arc::as_ptr(node)) {
            continue;
        }
        match varies.contains(&Arc::as_ptr(node)) || !node.kind.passes_over() {
            true => stack.extend(links(node)),
            false => fixed.push(node.clone()),
        }
    }
    fixed
}
