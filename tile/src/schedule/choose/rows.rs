//! When rows go side by side.

use super::with;
use crate::region::{InnerLoop, Nest, Region};
use crate::schedule::{Decision, Schedule};
use crate::target::Target;
use loop_lang::ir::{Combine, GroupId, Order};

/// Rows pay side by side if vectors have at least this many.
const LEAST: u32 = 4;

/// Rows side by side, if a row alone takes long to end, or waits from element to element: states that a function
/// joins, scans, and folds of one lane. Lanes that an operator joins are fast within a row.
pub(super) fn rows_side_by_side(
    region: &Region,
    nest: &Nest,
    target: &Target,
    schedule: &Schedule,
) -> Option<Schedule> {
    // Counters are words.
    let lanes = (target.vector_bytes() / 8) as u32;
    let inner = nest
        .inner
        .iter()
        .filter_map(|rate| region.inner_loop(*rate));
    let slow = |g: &GroupId| {
        let group = &region.program.groups[g.index()];
        match group.order {
            Order::Lanes(_) => !matches!(group.combine, Some(Combine::Op(_))),
            Order::Prefix(_) => true,
            Order::Runs(_) | Order::Exact | Order::Sequential => false,
        }
    };
    let is_slow = |of: &InnerLoop| of.groups.iter().any(slow);
    let mut inner = inner.filter(|_| target.has_vectors() && lanes >= LEAST);
    if !inner.any(is_slow) {
        return None;
    }
    with(region, schedule, nest.outer.rate, Decision::Rows(lanes))
}
