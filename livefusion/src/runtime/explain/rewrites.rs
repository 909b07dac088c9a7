//! Named rewrites of a program's calls, done or rejected by cost.

use crate::ast::Rewrite;
use crate::loc::Loc;
use crate::sharing::Graph;
use rustc_hash::FxHashSet;

/// Describes a call that was rewritten, or kept after its cost was weighed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rewritten {
    /// The rewrite; it has a [reason](Rewrite::reason).
    pub rewrite: Rewrite,
    /// The name of the user's call.
    pub call: &'static str,
    /// Its source location.
    pub loc: Loc,
}

/// Lists the rewrites of a program, once for each call, in the graph's order.
pub(super) fn of(graph: &Graph) -> Vec<Rewritten> {
    let mut known = FxHashSet::default();
    let all = graph.rewrites.iter().map(|(rewrite, call, loc)| Rewritten {
        rewrite: *rewrite,
        call,
        loc: *loc,
    });
    all.filter(|rewritten| known.insert(*rewritten)).collect()
}
