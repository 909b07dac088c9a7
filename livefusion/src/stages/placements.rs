//! The third stage: the place of each computation in its loop.

use super::Graph;
use crate::lower::{Placement, show};
use std::fmt;

/// Holds the place of each computation in the loops of a schedule.
///
/// Its text lists the rates of each loop with the stages of their iterations. Then it lists in
/// order where each combinator runs, and the source of each element (a register, memory, an index,
/// a cursor). It also lists stored arrays and checked lengths.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::{Clustering, stages};
/// let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
/// let kept = xs.filter(|x| x.ge(0.01));
/// let plan = stages::graph(&(&kept, &kept.sum()))?.plan(Clustering::default());
/// assert_eq!(
///     plan.place()?.to_string(),
///     r"loop 0
///   r0: over n0.0, stage 0, r1
///   r1: elements that n1 filter keeps by n0.0 in r0, stage 0
///   r0 opens, by n0 manifest
///   n0.0 is read from memory at r0
///   r1 opens, by n1 filter
///   n2 sum runs at r1
///   n1.0 is kept in memory at r1, capacity: r0's bound
/// "
/// );
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone)]
pub struct Placements {
    pub(super) graph: Graph,
    pub(super) all: Vec<Placement>,
}

impl fmt::Display for Placements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, placement) in self.all.iter().enumerate() {
            writeln!(f, "loop {at}")?;
            show(placement, &self.graph.0.graph, f)?;
        }
        Ok(())
    }
}
