//! The second stage: the plan.

use super::Selector;
use super::graph::{Graph, List};
use super::placements::Placements;
use super::{ClassId, ClassKind, Cost, Crossing, FieldRef, Loops, NodeId, PlannedLoop, Recomputed};
use crate::ast::Node;
use crate::error::Result;
use crate::fusion::{self, Clustering};
use crate::lower::{lower, numbered, place};
use std::fmt;

/// Holds the plan of a graph.
///
/// Its text lists the combinators of each loop with their classes, and a reason for each value that
/// crosses between loops.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::stages::{self, ClassKind};
/// use livefusion::Clustering;
/// let xs = Array::from(vec![3i64, 1, 2]);
/// let kept = xs.filter(|x| x.gt(1));
/// let graph = stages::graph(&(&kept, &kept.sum()))?;
/// let [unfused, fused] = [Clustering::Unfused, Clustering::default()].map(|c| graph.plan(c));
/// assert_eq!((unfused.loops().len(), fused.loops().len()), (2, 1));
/// assert!(fused.is_proven() && fused.cost() < unfused.cost());
///
/// // The filter sees all elements, the sum some of them.
/// let [all, some] = [0, 1].map(|k| fused.rate_of(graph.roots()[k]));
/// assert_eq!(fused.kind_of(all.unwrap()), Some(ClassKind::Root));
/// assert!(matches!(fused.kind_of(some.unwrap()), Some(ClassKind::Sub(above, _)) if Some(above) == all));
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone)]
pub struct Plan {
    pub(super) graph: Graph,
    pub(super) plan: fusion::Plan,
}

impl Plan {
    /// Returns the planned graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the loops in the order in which they run.
    pub fn loops(&self) -> &[PlannedLoop] {
        &self.plan.loops
    }

    /// Returns the loop of a node.
    ///
    /// It is the first loop if later ones rematerialise the node. It is none for values in memory,
    /// and for nodes inlined at their uses.
    pub fn loop_of(&self, id: NodeId) -> Option<usize> {
        self.plan.loop_of.get(id.index()).copied().flatten()
    }

    /// Lists the values that cross between loops, with reasons.
    pub fn crossings(&self) -> &[Crossing] {
        &self.plan.crossings
    }

    /// Returns the class at whose rate a node runs.
    ///
    /// It is none for delayed scalars computed from others.
    pub fn rate_of(&self, id: NodeId) -> Option<ClassId> {
        self.graph
            .node(id)
            .and_then(|_| self.plan.rates.runs_at(id))
    }

    /// Returns the kind of a class.
    ///
    /// It is none for a class of another, larger plan.
    pub fn kind_of(&self, class: ClassId) -> Option<ClassKind> {
        self.plan.rates.get(class)
    }

    /// Returns the clustering algorithm.
    pub fn clustering(&self) -> Clustering {
        self.plan.clustering
    }

    /// Returns the cost of the schedule at nominal lengths.
    pub fn cost(&self) -> Cost {
        self.plan.cost
    }

    /// Returns a lower bound on the cost of every schedule.
    pub fn bound(&self) -> Cost {
        self.plan.bound
    }

    /// Tells whether no plan is better.
    pub fn is_proven(&self) -> bool {
        self.plan.is_proven()
    }

    /// Places the computations of each loop, the next stage.
    ///
    /// # Errors
    /// None that a program can cause: every schedule can be placed.
    pub fn place(&self) -> Result<Placements> {
        let (graph, plan) = (&self.graph.0.graph, &self.plan);
        let all = (0..plan.loops.len()).map(|at| place(graph, plan, at));
        Ok(Placements {
            graph: self.graph.clone(),
            all: all.collect::<Result<_>>()?,
        })
    }

    /// Lowers each planned loop to the Loop language, the stage after.
    ///
    /// # Errors
    /// A closure that the Loop language cannot express.
    pub fn lower(self) -> Result<Loops> {
        self.lower_named(numbered)
    }

    /// Works as [`lower`](Plan::lower), with names for combinators.
    ///
    /// The variables and labels of a node end in its `name`, or else in a number.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::{Clustering, stages};
    /// let total = Array::from(vec![1.0f64, 2.0]).sum();
    /// let plan = stages::graph(&total)?.plan(Clustering::default());
    /// let loops = plan.lower_named(|node| (node.name == "sum").then(|| "total".to_string()))?;
    /// assert!(loops.to_string().contains("done_total"));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`lower`](Plan::lower).
    pub fn lower_named(self, name: impl Fn(&Node) -> Option<String>) -> Result<Loops> {
        let Plan { graph, plan } = self;
        let loops = lower(&graph.0.graph, &plan, &name)?;
        let plan = Plan { graph, plan };
        Ok(Loops { plan, loops })
    }

    /// Shows a node with its name.
    fn called(&self, id: NodeId) -> String {
        format!("{id} {}", self.graph.0.graph.node(id).name)
    }

    /// Lists the classes at which nodes run or of which their elements are, in order.
    fn classes(&self) -> Vec<ClassId> {
        let rates = &self.plan.rates;
        let all = self.graph.ids();
        let mut all: Vec<ClassId> = all
            .flat_map(|n| [rates.runs_at(n), rates.output(n)])
            .flatten()
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn write_class(&self, f: &mut fmt::Formatter<'_>, class: ClassId) -> fmt::Result {
        write!(f, "  {class}: ")?;
        match self.plan.rates.kind(class) {
            ClassKind::Root => writeln!(f, "a length of its own"),
            ClassKind::Append(n) => {
                writeln!(f, "the elements of {n}'s parts, one part behind the other")
            }
            ClassKind::Phases => writeln!(f, "several roots, one after the other"),
            ClassKind::Nested(above, lengths) => {
                writeln!(
                    f,
                    "the elements of {above}'s segments, of lengths {}",
                    FieldList(&[lengths])
                )
            }
            ClassKind::Sub(above, by) => {
                let by = match by {
                    Selector::Filter(n) | Selector::Custom(n) => format!("that {n} keeps"),
                    Selector::Tags(tags) => format!("whose tag in {} is true", FieldList(&[tags])),
                    Selector::While(n) => format!("before {n} ends"),
                    Selector::Zip(n) => format!("in which all sides of {n} go on"),
                };
                writeln!(f, "those of {above} {by}")
            }
        }
    }

    fn write_loop(&self, f: &mut fmt::Formatter<'_>, at: usize, l: &PlannedLoop) -> fmt::Result {
        let phases: Vec<String> = l.phases.iter().map(|p| p.root.to_string()).collect();
        match l.root {
            Some(_) if phases.len() > 1 => {
                writeln!(f, "loop {at} in phases, over {}", phases.join(", "))?;
            }
            Some(root) => writeln!(f, "loop {at} over {root}")?,
            None => writeln!(f, "loop {at}, of scalars")?,
        }
        for id in &l.nodes {
            write!(f, "  {}", self.called(*id))?;
            if let Some(class) = self.rate_of(*id) {
                write!(f, " at {class}")?;
            }
            let is_copy = l.copies.binary_search(id).is_ok();
            writeln!(f, "{}", if is_copy { ", rematerialised" } else { "" })?;
        }
        if let Some(Recomputed { bytes, kept }) = l.recomputed {
            writeln!(f, "  {bytes} bytes to rematerialise, {kept} to store")?;
        }
        for (what, fields) in [("stores", &l.arrays), ("leaves", &l.scalars)] {
            if !fields.is_empty() {
                writeln!(f, "  {what} {}", FieldList(fields))?;
            }
        }
        Ok(())
    }

    fn write_crossing(&self, f: &mut fmt::Formatter<'_>, c: &Crossing) -> fmt::Result {
        let (from, to) = (self.called(c.from.0), self.called(c.to));
        write!(f, "{from} -> {to}: {}", c.reason)?;
        match c.between {
            Some(between) => writeln!(f, ": {}", self.called(between)),
            None => writeln!(f),
        }
    }
}

/// Shows fields as `n1.0, n2.1`.
struct FieldList<'a>(&'a [FieldRef]);

impl fmt::Display for FieldList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, (id, field)) in self.0.iter().enumerate() {
            write!(f, "{}{id}.{field}", if k > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Plan({} loops, {})",
            self.loops().len(),
            self.clustering()
        )
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (loops, bytes) = (self.loops().len(), self.cost().bytes);
        let s = if loops == 1 { "" } else { "s" };
        write!(f, "{loops} loop{s}, {} clustering, ", self.clustering())?;
        write!(f, "{bytes} bytes at nominal lengths, ")?;
        match (self.is_proven(), self.bound()) {
            (true, _) => writeln!(f, "proven")?,
            (false, Cost { bytes, loops }) => writeln!(f, "proven: {bytes} bytes, {loops} loops")?,
        }
        let ids = self.graph.ids();
        let inlined: Vec<NodeId> = ids.filter(|n| self.plan.inlining.is_inlined(*n)).collect();
        if !inlined.is_empty() {
            writeln!(f, "computed where they are read: {}", List(&inlined))?;
        }
        let classes = self.classes();
        if !classes.is_empty() {
            writeln!(f, "classes")?;
        }
        classes
            .into_iter()
            .try_for_each(|c| self.write_class(f, c))?;
        for (at, l) in self.loops().iter().enumerate() {
            self.write_loop(f, at, l)?;
        }
        self.crossings()
            .iter()
            .try_for_each(|c| self.write_crossing(f, c))
    }
}
