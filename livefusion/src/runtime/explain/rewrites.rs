//! Rewrites with names that a program's calls went through, or did not since that costs less.

use crate::ast::Rewrite;
use crate::loc::Loc;
use crate::sharing::Graph;
use rustc_hash::FxHashSet;

/// A call that became something else than it says, or stayed what it says after both were weighed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rewritten {
    /// What was done, or was not; it has a [reason](Rewrite::reason).
    pub rewrite: Rewrite,
    /// What the user called.
    pub call: &'static str,
    /// Where.
    pub loc: Loc,
}

/// The rewrites of a program, each once for a call, in the graph's order.
pub(super) fn of(graph: &Graph) -> Vec<Rewritten> {
    let mut known = FxHashSet::default();
    let all = graph.rewrites.iter().map(|(rewrite, call, loc)| Rewritten {
        rewrite: *rewrite,
        call,
        loc: *loc,
    });
    all.filter(|rewritten| known.insert(*rewritten)).collect()
}
