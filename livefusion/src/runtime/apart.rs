//! External parts: loops over arrays, and functions that are not made of combinators.
//!
//! A force runs the external parts it needs first. Planning then finds their results in memory.

use super::Engine;
use super::engine::force_kept;
use super::iterate::run;
use super::parallel::called;
use super::program::cancelled;
use crate::ast::{After, Buffer, External, ExternalPart, Node, Threads, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::iterate::{CommonWork, waits};
use livefusion_backend::process;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Runs all pending external parts below these nodes, producers first.
///
/// Nodes in `varies` are skipped. A node with an error stops the search: nothing runs then.
pub fn run_apart(
    engine: &Engine,
    roots: &[Arc<Node>],
    varies: &FxHashSet<*const Node>,
) -> Result<()> {
    // Most graphs have no external parts, and find that out at their roots.
    if !roots.iter().any(|n| waits(n)) {
        return Ok(());
    }
    let shared = CommonWork::below(roots, &|_| false);
    for node in waiting(roots, &shared) {
        if let After::Apart(of, result) = &node.after
            && !varies.contains(&Arc::as_ptr(node))
        {
            finish(engine, node, (of, *result), shared.of(of))?;
        }
    }
    Ok(())
}

/// Returns the pending results of external parts below these nodes.
///
/// External parts are sorts and loops over arrays, for example. Producers come before consumers.
/// Nodes with an error need no parts.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::runtime::external_parts;
/// let smallest = Array::from(vec![3, 1, 2]).map(|x| x * 2).sort().take(1);
/// let parts = external_parts(&[smallest.node().clone()]);
/// assert_eq!(parts.iter().map(|p| p.name).collect::<Vec<_>>(), ["sort"]);
/// smallest.force()?;
/// assert!(external_parts(&[smallest.node().clone()]).is_empty());
/// # Ok::<(), livefusion::Error>(())
/// ```
pub fn external_parts(roots: &[Arc<Node>]) -> Vec<Arc<Node>> {
    let shared = CommonWork::below(roots, &|_| false);
    let parts = waiting(roots, &shared).into_iter();
    let is_result = |n: &&Arc<Node>| matches!(n.after, After::Apart(..));
    parts.filter(is_result).cloned().collect()
}

/// Lists all nodes below these that wait for external parts, producers first.
fn waiting<'a>(roots: &'a [Arc<Node>], shared: &'a CommonWork) -> Vec<&'a Arc<Node>> {
    let mut all = Vec::new();
    if roots.iter().any(|n| n.error.is_some()) {
        return all;
    }
    let mut seen: FxHashSet<*const Node> = FxHashSet::default();
    let first = roots.iter().filter(|n| waits(n));
    let mut stack: Vec<(&Arc<Node>, bool)> = first.map(|n| (n, false)).collect();
    while let Some((node, ready)) = stack.pop() {
        if ready {
            all.push(node);
        } else if waits(node) && seen.insert(Arc::as_ptr(node)) {
            stack.push((node, true));
            let below = shared.sources(node).into_iter();
            stack.extend(below.map(|from| (from, false)));
        }
    }
    all
}

/// Sets the value of one result, and runs its external part if necessary. A side of a choice needs
/// shared work before.
fn finish(
    engine: &Engine,
    node: &Node,
    (of, result): (&ExternalPart, u32),
    shared: &[Arc<Node>],
) -> Result<()> {
    if of.ended().get().is_none() {
        let results = match of {
            ExternalPart::Loop(of) => run(engine, of, shared)?.into_vec(),
            ExternalPart::External(of) => {
                // Inputs held by this part alone do not keep their values.
                let inputs = force_kept(engine, &of.inputs, |n| Arc::strong_count(n) > 1)?;
                vec![call(engine, of, &inputs)?]
            }
        };
        // Another thread may have run the part meanwhile. The first result counts.
        let _ = of.ended().set(results);
    }
    let results = of.ended().get();
    let value = results.and_then(|all| all.get(result as usize));
    let value = value.ok_or_else(|| lacks_a_result(of))?.clone();
    let _ = node.value.set(value);
    Ok(())
}

/// Reports a loop that ended with fewer components than it began with.
#[cold]
pub fn lacks_a_result(of: &ExternalPart) -> Error {
    let kind = ErrorKind::Backend("an external function lacks a result".to_string());
    Error::new(of.name(), of.loc(), kind)
}

/// Calls a function that is not made of combinators.
///
/// Errors: those of the function; a result that differs from its declaration; a result beyond the
/// engine's memory limit.
pub fn call(engine: &Engine, of: &External, inputs: &[Value]) -> Result<Value> {
    if engine.watch().is_cancelled() {
        return Err(cancelled());
    }
    let error = |kind| Error::new(of.name, of.loc, kind);
    for column in inputs.iter().flat_map(columns) {
        // Copies device arrays to the host now. Later readers have no way to report a fault.
        let here = column.here();
        here.map_err(|fault| error(ErrorKind::Backend(fault.to_string())))?;
    }
    let result = of.function.call_on(inputs, &Lent(engine));
    if engine.watch().is_cancelled() {
        return Err(cancelled());
    }
    let result = result.map_err(error)?;
    if let Some(kind) = of.unfit(inputs, &result) {
        return Err(error(kind));
    }
    let bytes = columns(&result)
        .iter()
        .map(|b| (b.len() * b.ty().size()) as u64);
    let (bytes, limit) = (bytes.sum(), engine.memory_limit());
    match bytes > limit {
        true => Err(error(ErrorKind::Memory { bytes, limit })),
        false => Ok(result),
    }
}

/// Lends an engine's threads to functions.
struct Lent<'e>(&'e Engine);

impl Threads for Lent<'_> {
    fn count(&self) -> usize {
        // Some functions share the process's threads. A forked child may not have these.
        match process::is_forked() {
            true => 1,
            false => self.0.threads(),
        }
    }

    fn together(&self, work: &(dyn Fn() + Sync)) {
        match self.count() {
            1 => work(),
            n => called(self.0, n - 1).share(work, work),
        }
    }

    fn is_cancelled(&self) -> bool {
        self.0.watch().is_cancelled()
    }
}

/// Returns the columns of an array.
fn columns(value: &Value) -> &[Arc<Buffer>] {
    match value {
        Value::Array(columns) => columns,
        Value::Scalar(_) => &[],
    }
}
