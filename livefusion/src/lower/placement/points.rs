//! Program points of combinators: opens the rates that they need.

use super::{Act, Context, InputColumn, Opening, PlacedRate, Placer, Point, no_root};
use crate::ast::Kind;
use crate::fusion::rates::indexed_array;
use crate::fusion::{ClassId, ClassKind};
use crate::lower::{Lower, filter, generate, segments};
use crate::sharing::NodeId;
use loop_lang::ir::RateId;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::ops::Range;

impl Placer<'_> {
    /// Finds the program point of a node that uses these inputs in step.
    ///
    /// Opens rates as needed.
    pub fn point_of(&mut self, id: NodeId, inputs: Range<usize>) -> Lower<Point> {
        self.point_behind(id, inputs.clone(), inputs)
    }

    /// Finds the program point of a node that waits for some of its inputs.
    ///
    /// It uses `inputs`, and in each iteration it runs after `waits_for`.
    pub fn point_behind(
        &mut self,
        id: NodeId,
        inputs: Range<usize>,
        waits_for: Range<usize>,
    ) -> Lower<Point> {
        let used = self.scope.inputs(id);
        self.enter(id, &used[inputs])?;
        let columns = self.scope.columns(id, waits_for);
        self.point_where(id, &columns)
    }

    /// Finds the program point of a node that uses these columns.
    ///
    /// The root of its loop must be open.
    pub fn point_where(&mut self, id: NodeId, columns: &[InputColumn]) -> Lower<Point> {
        let class = self.scope.plan.rates.runs_at(id).ok_or_else(no_root)?;
        let needs = self.needs(columns);
        self.point(id, class, &needs)
    }

    /// Finds a program point for a node in an instance of a class.
    ///
    /// It is in the first instance after all of `needs`. Opens an instance if there is none.
    pub fn point(&mut self, id: NodeId, class: ClassId, needs: &[Point]) -> Lower<Point> {
        let behind = self.behind_kept(id)?;
        let needs = &[needs, &behind].concat()[..];
        let instances = self.placed.tree.instances(class);
        for rate in instances.into_iter().filter(|r| self.is_here(*r)) {
            if let Some(position) = self.placed.tree.fits(rate, needs) {
                return Ok(self.placed.tree.stage(rate, position));
            }
        }
        if let Some(Context::While(lives)) = self.inside
            && self.exits().top(lives) == Some(class)
        {
            return self.open_while(id, lives, class, needs);
        }
        match self.scope.plan.rates.kind(class) {
            ClassKind::Sub(parent, by) => filter::open(self, id, class, (parent, by), needs),
            ClassKind::Nested(parent, lengths) => {
                segments::open(self, id, class, (parent, lengths), needs)
            }
            ClassKind::Append(_) => {
                let part = self.scope.phase.and_then(|p| p.part(class));
                let (_, of) = part.ok_or_else(no_root)?;
                let point = self.point(id, of, needs)?;
                self.placed.tree.append(point.rate, class);
                Ok(point)
            }
            // Also for a class that equals the root only at run time, by a length check.
            ClassKind::Root | ClassKind::Phases => {
                let root = match self.inside {
                    Some(Context::Cursor(cursor)) => cursor,
                    _ => self.root()?,
                };
                let position = self.placed.tree.fits(root, needs).unwrap_or(0);
                Ok(self.placed.tree.stage(root, position))
            }
        }
    }

    /// Finds the program point for a new child of a class.
    ///
    /// It is at the end of an iteration of the parent's class.
    pub fn point_for_child(
        &mut self,
        id: NodeId,
        parent: ClassId,
        needs: &[Point],
    ) -> Lower<Point> {
        let instances = self.placed.tree.instances(parent);
        for rate in instances.into_iter().filter(|r| self.is_here(*r)) {
            let tree = &self.placed.tree;
            let outside = needs.iter().filter(|n| !tree.is_within(n.rate, rate));
            let outside: Vec<Point> = outside.copied().collect();
            if tree.fits(rate, &outside).is_some() {
                return Ok(tree.end(rate));
            }
        }
        let point = self.point(id, parent, needs)?;
        Ok(self.placed.tree.end(point.rate))
    }

    /// Returns the rate of a class that comes last in a cursor.
    ///
    /// Opens it if there is none.
    pub fn end_of(&mut self, id: NodeId, class: ClassId, cursor: RateId) -> Lower<RateId> {
        let mut instances = self.placed.tree.instances(class).into_iter();
        if let Some(last) =
            instances.find(|r| self.is_here(*r) && self.placed.tree.is_last(*r, cursor))
        {
            return Ok(last);
        }
        let end = self.placed.tree.rate(cursor).parts.len().saturating_sub(1);
        let end = Point {
            rate: cursor,
            position: end,
        };
        Ok(self.point(id, class, &[end])?.rate)
    }

    /// Opens the root of this phase, if it is not open.
    ///
    /// Walks from a node's inputs, and from the lengths of the segments around them, to an array in
    /// memory or a generator. The root runs over this array or generator. The fallbacks are the
    /// combinators that select the elements around the inputs, and the parts of appends in this
    /// phase.
    pub fn enter(&mut self, id: NodeId, inputs: &[NodeId]) -> Lower {
        if self.open_root().is_some() {
            return Ok(());
        }
        let (graph, rates) = (self.scope.graph, &self.scope.plan.rates);
        let root = self.scope.root();
        let reads_memory = rates.is_fresh(id) || rates.equal_zip(id).is_some();
        let fresh = reads_memory && rates.runs_at(id) == root;
        let mut seen: FxHashSet<(NodeId, bool)> = FxHashSet::default();
        let mut rest: Vec<NodeId> = self.scope.parts();
        rest.extend(rates.selecting_above(id));
        let mut stack: Vec<NodeId> = inputs.iter().rev().copied().collect();
        stack.extend(rates.deciding_above(id, root).into_iter().rev());
        while let (None, Some(at)) = (self.open_root(), stack.pop().or_else(|| rest.pop())) {
            let reads_memory = fresh && inputs.contains(&at);
            let at_root = reads_memory || rates.output(at) == root;
            let field = self.scope.existing_field(at);
            // An array may be read at one rate itself, and at another rate as an input of a zip.
            let Some(field) = field.filter(|f| seen.insert((f.0, at_root))) else {
                continue;
            };
            let node = &graph.nodes[field.0.index()];
            if self.scope.is_in_memory(field.0) {
                if at_root {
                    self.open_over(field.0, Opening::Array(field));
                    continue;
                }
            } else if let (Kind::Generate(..), true) = (&node.node.kind, at_root) {
                generate::open(self, field.0)?;
                continue;
            } else {
                stack.extend(indexed_array(graph, field.0));
                stack.extend(node.inputs.iter().rev());
            }
            stack.extend(rates.deciding_above(at, root).into_iter().rev());
            rest.extend(rates.selecting_above(at));
        }
        Ok(())
    }

    /// Opens the root rate.
    pub fn open_over(&mut self, node: NodeId, opening: Opening) {
        let class = self.scope.root();
        let root = self.open(PlacedRate {
            class,
            appends: SmallVec::new(),
            parent: None,
            node,
            opening,
            parts: Vec::new(),
        });
        self.set_root(root);
    }

    /// Opens a rate of a class within another.
    pub fn open_within(
        &mut self,
        node: NodeId,
        point: Point,
        class: ClassId,
        opening: Opening,
    ) -> Point {
        let rate = self.open(PlacedRate {
            class: Some(class),
            appends: SmallVec::new(),
            parent: Some(point.rate),
            node,
            opening,
            parts: Vec::new(),
        });
        Point::first(rate)
    }

    /// Notes that a node has an element for each iteration of a rate.
    ///
    /// The element is read, computed or kept.
    pub fn runs_over(&mut self, id: NodeId, point: Point) {
        let rate = self.placed.tree.elements_of(point.rate);
        // A part of an append is shorter than the append.
        let class = self.scope.plan.rates.output(id);
        let appended = class.is_some_and(|c| self.scope.is_appended(c));
        if !appended && !self.placed.tree.rate(rate).opening.is_sub() {
            self.lengths.run_over.push((id, rate));
        }
    }

    /// Reads a column from memory at a rate's counter, or at a subrate's count.
    pub fn read(&mut self, column: InputColumn, point: Point) {
        let rate = self.placed.tree.elements_of(point.rate);
        let is_sub = self.placed.tree.rate(rate).opening.is_sub();
        let class = self.scope.class_of(column);
        let appended = class.is_some_and(|c| self.scope.is_appended(c));
        let in_step = !is_sub && !column.is_elsewhere() && !appended;
        self.reads(column.field, in_step.then_some(rate));
        if column.unfused_at.is_none() {
            self.runs_over(column.field.0, point);
        }
        self.act(column.field.0, Act::Read(column, point));
        self.know(column, point);
    }
}
