//! The shape of a program under a clustering: loops, counters, intermediates.

use livefusion::ast::Node;
use livefusion::stages::{self, Cost};
use livefusion::{Clustering, Result};
use loop_lang::Loop;
use loop_lang::ir::{RateKind, StmtKind};
use std::fmt;
use std::sync::Arc;

/// Holds the loops, counters, intermediates and cost of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Loops over arrays; a computation of scalars from scalars is none.
    pub loops: usize,
    /// Counter variables: at most one for each rate of each loop.
    pub counters: usize,
    /// Columns in memory that are not results. They lie between loops, or within a loop where a
    /// later part of an iteration reads values of an earlier part.
    pub intermediates: usize,
    /// The schedule's cost at nominal lengths.
    pub cost: Cost,
    /// A lower bound on the cost of all schedules.
    pub bound: Cost,
}

impl Shape {
    /// Plans and lowers a program.
    ///
    /// # Errors
    /// Returns errors of the program.
    pub fn of(roots: &[Arc<Node>], clustering: Clustering) -> Result<Shape> {
        Ok(Shape::with_loops(roots, clustering)?.0)
    }

    /// Returns the shape and the loops.
    ///
    /// # Errors
    /// Returns errors of the program.
    pub fn with_loops(roots: &[Arc<Node>], clustering: Clustering) -> Result<(Shape, Vec<Loop>)> {
        let mut lowered = stages::graph_of(roots)?.plan(clustering).lower()?;
        lowered.optimize();
        let loops: Vec<Loop> = lowered.iter().map(|l| l.program.clone()).collect();
        let plan = lowered.plan();
        let results = plan.graph().results();
        let between = plan.loops().iter().flat_map(|l| &l.arrays);
        let within = loops.iter().zip(plan.loops());
        let within = within.map(|(l, planned)| allocated(l).saturating_sub(planned.arrays.len()));
        let shape = Shape {
            loops: loops.iter().filter(|l| !l.rates.is_empty()).count(),
            counters: loops.iter().map(counters).sum(),
            intermediates: between.filter(|f| !results.contains(f)).count() + within.sum::<usize>(),
            cost: plan.cost(),
            bound: plan.bound(),
        };
        Ok((shape, loops))
    }

    /// Returns whether the schedule is optimal.
    pub fn is_proven(&self) -> bool {
        self.cost == self.bound
    }

    /// Returns `proven`, or the largest possible saving.
    pub fn gap(&self) -> String {
        if self.is_proven() {
            return "proven".to_string();
        }
        let (loops, bytes) = (
            self.cost.loops.saturating_sub(self.bound.loops),
            self.cost.bytes.saturating_sub(self.bound.bytes),
        );
        format!(
            "at most {loops} loops and {bytes} of {} bytes",
            self.cost.bytes
        )
    }
}

/// The counter variables of a loop's rates.
fn counters(program: &Loop) -> usize {
    let counter = |kind: RateKind| match kind {
        RateKind::Sub { count, .. } => count,
        other => other.counter(),
    };
    let rates = program.rates.iter();
    rates.filter(|r| counter(r.kind).is_some()).count()
}

/// The arrays that a loop allocates.
fn allocated(program: &Loop) -> usize {
    let stmts = program.blocks.iter().flat_map(|(_, block)| &block.stmts);
    let makes = |kind: &StmtKind| {
        matches!(
            kind,
            StmtKind::NewArray(..) | StmtKind::FillArray(..) | StmtKind::CopyArray(..)
        )
    };
    stmts.filter(|s| makes(&s.kind)).count()
}

impl fmt::Display for Shape {
    /// Formats `1 / 2 / 0`: loops, counters, intermediate arrays.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (loops, counters) = (self.loops, self.counters);
        write!(f, "{loops} / {counters} / {}", self.intermediates)
    }
}
