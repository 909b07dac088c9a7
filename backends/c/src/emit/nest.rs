//! Loops over segments in the straight form: an outer `for` loop with the inner ones inside of it.
//!
//! The state machine takes its time between two segments: stops, joins of lanes, calls. So a rate whose
//! inner loops are all straight becomes one function that runs as many outer iterations as need no
//! stop. An iteration that does not fit is undone, and left to the state machine; so is the last one, which
//! leaves the state that a frame keeps.
//!
//! A fold that starts with each segment has its lanes here. Which lane an element goes to depends on
//! where its segment begins; but lanes are joined by halves and the operators commute, so turning all
//! lanes around changes nothing, and a segment may begin in lane 0. A lane that got nothing holds the
//! identity: for a short segment, fewer lanes do. A body that only computes runs for lanes without an
//! element too, on what follows in memory, and the identity is taken instead.

use super::plan::Plan;
use livefusion_tile::region::cost::is_cheap;
use livefusion_tile::region::{self, Region};
use loop_lang::Loop;
use loop_lang::ir::{Combine, GroupId, Order, Stmt, StmtKind};
use std::collections::BTreeSet;

/// Segments of up to this many elements are folded in as few lanes.
pub(super) const FEW: u64 = 16;

/// A straight loop with straight loops inside.
pub struct Nest<'r> {
    /// What is known of it.
    pub(super) region: &'r region::Nest<'r>,
    /// The outer loop, and everything that goes in and out of the function.
    pub outer: Plan<'r>,
    pub(super) inner: Vec<Inner<'r>>,
}

/// An inner loop.
pub(super) struct Inner<'r> {
    pub(super) plan: Plan<'r>,
    /// Its lane groups, all of `plan.strip` lanes.
    pub(super) lanes: Vec<GroupId>,
    /// Whether the body may run for elements that are not there.
    pub(super) only_computes: bool,
}

/// The nests of a loop.
pub fn nests<'r>(region: &'r Region<'r>) -> Vec<Nest<'r>> {
    let roots = &region.program.roots;
    let nests = (region.nests().iter()).filter(|n| roots.contains(&n.outer.rate));
    nests.filter_map(|n| nest(region, n)).collect()
}

fn nest<'r>(region: &'r Region<'r>, found: &'r region::Nest<'r>) -> Option<Nest<'r>> {
    let mut outer = Plan::part(region, &found.outer)?;
    outer.strip = 1;
    let inner = found.inner.iter().map(|r| {
        let plan = Plan::part(region, region.sweep(*r)?)?;
        Inner::of(region, plan)
    });
    let inner = inner.collect::<Option<Vec<_>>>()?;
    found.can_be_undone(region).then_some(Nest {
        region: found,
        outer,
        inner,
    })
}

impl<'r> Inner<'r> {
    fn of(region: &Region, mut plan: Plan<'r>) -> Option<Inner<'r>> {
        let program = region.program;
        let mut lanes = Vec::new();
        let mut widths = BTreeSet::new();
        for g in &plan.sweep.groups {
            let group = &program.groups[g.index()];
            match (group.order, group.combine) {
                (Order::Lanes(l), Some(Combine::Op(_))) => {
                    lanes.push(*g);
                    widths.insert(u64::from(l));
                }
                (Order::Lanes(_) | Order::Runs(_), _) => return None,
                (Order::Prefix(_), _) => {
                    widths.insert(1);
                }
                _ => {}
            }
        }
        // Lanes of several widths, or beside a scan, have no common strip.
        plan.strip = match widths.first() {
            Some(width) if widths.len() == 1 => *width,
            _ => 1,
        };
        let only_computes = plan.sweep.carried.is_empty()
            && plan.strip > FEW
            && plan.sweep.is_plain()
            && (plan.sweep.all_tops()).all(|s| only_computes(program, s.stmt))
            && plan.proven.iter().all(|(_, i)| *i == plan.sweep.counter);
        Some(Inner {
            plan,
            lanes,
            only_computes,
        })
    }
}

/// Whether a statement may run for an element that is not there, and is cheaper than a branch.
fn only_computes(program: &Loop, s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Assign(..) | StmtKind::ReadArray(..) | StmtKind::ArrayLength(..) => true,
        _ => is_cheap(program, s),
    }
}
