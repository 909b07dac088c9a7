//! Element sources: where the current element of a column comes from.

use super::{Act, Capacity, Context, Delivery, InputColumn, Opening, Over, Placer, Point};
use crate::ast::Kind;
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::lower::{Lower, generate};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::{Part, RateId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The capacities of several phases, each with the takes that limit it.
type Capacities = Vec<(Capacity, Vec<NodeId>)>;

/// Stands for the field with a custom combinator's decision.
///
/// The decision is whether it keeps the current element. It is made once. A later pass reads it
/// from memory like any other element.
pub const DECISION: u32 = u32::MAX;

impl Placer<'_> {
    /// Finds a source for the current element of a column.
    ///
    /// It is made in this loop, or read from memory.
    pub fn elt(&mut self, column: impl Into<InputColumn>, at: Point) -> Lower {
        let used = column.into();
        // A filter's element is its input's element. Follow such inputs without recursion.
        let (mut column, mut point) = (used, at);
        let from = loop {
            let (id, _) = column.field;
            if let Some(from) = self.visible(column, point) {
                break from;
            }
            if let Some((cursor, inside)) = self.delivered_by(column, point) {
                break self.deliver(column, cursor, inside)?;
            }
            if let Some(class) = column.unfused_at
                && self.scope.is_made_once(id)
                && self.scope.plan.rates.passes(self.scope.graph, id, class)
            {
                break self.take_kept(column, class, point)?;
            }
            if self.known(&column.field.into()).is_some() && self.scope.is_made_once(id) {
                break self.reread(column, point)?;
            }
            if self.scope.is_in_memory(id) {
                let class = column.unfused_at.or(self.scope.plan.rates.output(id));
                let own = class.and_then(|c| self.placed.tree.around(point.rate, c));
                let from = Point::first(own.unwrap_or(point.rate));
                self.read(column, from);
                break from;
            }
            if let Kind::Generate(..) = self.scope.graph.node(id).kind {
                break generate::place_at(self, column, point)?;
            }
            let Some(input) = self.scope.passed_on(column) else {
                return Err(missing(self.scope.graph, column.field));
            };
            if let Kind::Append = self.scope.graph.node(id).kind {
                column = input;
                continue;
            }
            // The input's element belongs to the rate around the subrate.
            let class = self.scope.plan.rates.output(id);
            let tree = &self.placed.tree;
            let around = class.and_then(|c| tree.around(point.rate, c));
            point = around
                .and_then(|r| tree.child_point(tree.elements_of(r)))
                .ok_or_else(|| missing(self.scope.graph, column.field))?;
            column = input;
        };
        self.placed.origins.insert((used, at), (column, from));
        Ok(())
    }

    /// The definition of a column that is visible at a program point.
    fn visible(&self, column: InputColumn, at: Point) -> Option<Point> {
        let delivered = self.delivered.get(&column).map(|points| points.as_slice());
        let known = [self.known(&column), delivered];
        let mut known = known.into_iter().flatten().flatten().copied();
        known.find(|s| self.placed.tree.is_visible(*s, at))
    }

    /// Finds sources for the elements of several columns.
    pub fn elts(&mut self, columns: &[InputColumn], at: Point) -> Lower {
        columns.iter().try_for_each(|c| self.elt(*c, at))
    }

    /// Finds sources for the elements of some of a node's inputs.
    pub fn input_elts(&mut self, id: NodeId, inputs: Range<usize>, at: Point) -> Lower {
        let columns = self.scope.columns(id, inputs);
        self.elts(&columns, at)
    }

    /// Notes the program point from which a column is known.
    pub fn know(&mut self, column: InputColumn, point: Point) {
        let known = &mut self.phases[self.current].known;
        known.entry(column).or_default().push(point);
    }

    /// Notes the program point from which a node's fields are known.
    pub fn know_all(&mut self, id: NodeId, point: Point) {
        for field in 0..self.scope.graph.node(id).types.len() as u32 {
            self.know((id, field).into(), point);
        }
    }

    /// Returns the program points after which these columns are known.
    ///
    /// A value made in this loop is known after its definition, even if it was read again since. An
    /// element that can be read anywhere has no such point, unless it was read once already. Then
    /// its further consumers use that read.
    pub fn needs(&self, columns: &[InputColumn]) -> Vec<Point> {
        let mut needs = Vec::new();
        for column in columns {
            let mut at = Some(*column);
            while let Some(c) = at {
                let Some(known) = self.known(&c) else {
                    at = self.scope.passed_on(c);
                    continue;
                };
                needs.extend(match known {
                    [made, ..] if self.scope.is_made_once(c.field.0) => Some(*made),
                    [read] if self.is_here(read.rate) => Some(*read),
                    _ => None,
                });
                break;
            }
        }
        needs
    }

    /// Returns the program point behind the pass over a column read elsewhere.
    ///
    /// A later pass over the segment reads such a column. None for other columns.
    pub fn behind_pass(&mut self, column: InputColumn) -> Option<Point> {
        let made = column.is_elsewhere() && self.scope.is_made_once(column.field.0);
        let at = *self.known(&column.field.into()).filter(|_| made)?.first()?;
        let tree = &mut self.placed.tree;
        let pass = tree.child_point(tree.loop_rate(at.rate))?;
        Some(tree.stage(pass.rate, pass.position + 1))
    }

    /// Keeps a field in memory, element by element.
    ///
    /// Returns the program point of the write.
    pub fn keep(&mut self, field: FieldRef) -> Lower<Point> {
        let kept = self.placed.kept(field).iter();
        let here = |s: &&Point| Some(self.placed.tree.root_of(s.rate)) == self.open_root();
        if let Some(point) = kept.copied().find(|s| here(&s)) {
            return Ok(point);
        }
        let missing = || missing(self.scope.graph, field);
        let class = self.class_of(field).ok_or_else(missing)?;
        let made = self.known(&field.into()).and_then(|k| k.first());
        let in_step = |s: &&Point| self.placed.tree.around(s.rate, class) == Some(s.rate);
        // A result of a loop over segments is known where the segments are, in any context of their
        // elements.
        let (needs, context) = match made.filter(in_step) {
            Some(made) => (vec![*made], self.contexts[made.rate.index()]),
            None => (self.needs(&[field.into()]), self.context_of_field(field)),
        };
        let outside = self.go_inside(context);
        let point = self.keep_new(field, class, &needs);
        self.go_inside(outside);
        point
    }

    fn keep_new(&mut self, field: FieldRef, class: ClassId, needs: &[Point]) -> Lower<Point> {
        let point = self.point(field.0, class, needs)?;
        self.elt(field, point)?;
        // Where several phases write the field, the memory is allocated once all of them are known.
        let appended = self.scope.is_appended(class);
        let capacity = match appended {
            true => None,
            false => Some(self.capacity(point.rate, field.0)?),
        };
        let takes = self.takes_around(point.rate);
        self.act(field.0, Act::Keep(field.1, point, capacity, takes));
        self.placed.kept.entry(field).or_default().push(point);
        self.runs_over(field.0, point);
        Ok(point)
    }

    /// Allocates the memory for fields that several phases keep.
    pub fn make_all(&mut self) -> Lower {
        let kept = self.placed.acts.iter().filter_map(|(id, act)| match act {
            Act::Keep(field, point, None, takes) => Some(((*id, *field), *point, takes.clone())),
            _ => None,
        });
        let kept: Vec<(FieldRef, Point, Vec<NodeId>)> = kept.collect();
        let rates = &self.scope.plan.rates;
        // A take inside of a further append does not limit the parts that follow.
        let of_all = |class: ClassId, n: &NodeId| {
            let taken = rates.output(*n).filter(|c| rates.is_appended(*c));
            taken.is_some_and(|taken| rates.is_within(class, taken))
        };
        let mut made: Vec<(FieldRef, Capacities, Vec<NodeId>)> = Vec::new();
        let mut at: FxHashMap<FieldRef, usize> = FxHashMap::default();
        for (field, point, takes) in kept {
            let capacity = self.capacity(point.rate, field.0)?;
            let class = (self.class_of(field)).ok_or_else(|| missing(self.scope.graph, field))?;
            let (all, part): (Vec<_>, Vec<_>) = takes.into_iter().partition(|n| of_all(class, n));
            let at = *at.entry(field).or_insert(made.len());
            if at == made.len() {
                made.push((field, Vec::new(), all));
            }
            made[at].1.push((capacity, part));
        }
        for (field, capacities, takes) in made {
            self.act(field.0, Act::Memory(field.1, capacities, takes));
        }
        Ok(())
    }

    /// Reads an element that an earlier pass over the same elements made.
    ///
    /// In general it goes through an array in memory. An element of an earlier subrate in the same
    /// iteration goes through a buffer of one element. An element of the same segment goes through
    /// a buffer of one segment.
    fn reread(&mut self, column: InputColumn, at: Point) -> Lower<Point> {
        let field = column.field;
        let class = self.class_of(field);
        let here = class.and_then(|c| self.placed.tree.around(at.rate, c));
        let made = self.known(&field.into()).and_then(|k| k.first().copied());
        let behind =
            |rate: &RateId| made.is_some_and(|made| self.placed.tree.is_behind(*rate, made));
        let Some((here, made)) = here.filter(behind).zip(made) else {
            return Err(missing(self.scope.graph, field));
        };
        let point = Point::first(here);
        let tree = &mut self.placed.tree;
        let over = match tree.loop_rate(made.rate) == tree.loop_rate(here) {
            true => Some(Over::Iteration),
            false => self.segment_capacity(field, made, here)?.map(Over::Segment),
        };
        match over {
            Some(over) => {
                let from = self.placed.tree.stage(made.rate, made.position);
                self.elt(field, from)?;
                self.act(field.0, Act::Contract(column, over, from, point));
            }
            None => {
                self.keep(field)?;
                self.act(field.0, Act::Reread(column, point));
            }
        }
        self.know(column, point);
        Ok(point)
    }

    /// Reads an element of the kept segments that an earlier pass over the segment kept.
    fn take_kept(&mut self, column: InputColumn, class: ClassId, at: Point) -> Lower<Point> {
        let (over, from) = self.scratch(column.field)?;
        let here = self.placed.tree.around(at.rate, class);
        let behind = here.filter(|rate| self.placed.tree.is_behind(*rate, from));
        let point = behind.map(Point::first);
        let point = point.ok_or_else(|| missing(self.scope.graph, column.field))?;
        self.act(column.field.0, Act::Contract(column, over, from, point));
        self.know(column, point);
        Ok(point)
    }

    /// Returns the program points behind the passes that keep a node's elements.
    pub fn behind_kept(&mut self, id: NodeId) -> Lower<Vec<Point>> {
        let taken = self.taken.get(&id).cloned().unwrap_or_default();
        let behind = taken.into_iter().map(|field| {
            let (_, from) = self.scratch(field)?;
            let tree = &mut self.placed.tree;
            let pass = tree.child_point(tree.loop_rate(from.rate));
            let pass = pass.ok_or_else(|| missing(self.scope.graph, field))?;
            Ok(tree.stage(pass.rate, pass.position + 1))
        });
        behind.collect()
    }

    /// Returns a stage behind the pass that folds a column.
    ///
    /// Other values that depend on it come before the next inner loop, too. None for other columns.
    pub fn behind_fold(&mut self, column: InputColumn) -> Option<Point> {
        let made = self.scope.is_made_once(column.field.0);
        let at = *self.known(&column).filter(|_| made)?.first()?;
        let tree = &mut self.placed.tree;
        let is_child = matches!(
            tree.rate(at.rate).parts.get(at.position),
            Some(Part::Child(_))
        );
        is_child.then(|| tree.stage(at.rate, at.position))
    }

    /// Keeps a field in scratch memory for the segment. Returns the program point of the write.
    fn scratch(&mut self, field: FieldRef) -> Lower<(Over, Point)> {
        if let Some(known) = self.scratch.get(&field) {
            return Ok(*known);
        }
        let missing = || missing(self.scope.graph, field);
        let class = self.class_of(field).ok_or_else(missing)?;
        let outside = self.go_inside(self.context_of_field(field));
        let needs = self.needs(&[field.into()]);
        let from = self.point(field.0, class, &needs)?;
        self.elt(field, from)?;
        self.go_inside(outside);
        let capacity = match self.capacity(from.rate, field.0)? {
            Capacity::Rows(rows) => Capacity::Row(rows),
            all => all,
        };
        let over = Over::Kept(capacity);
        self.act(field.0, Act::Scratch(field.1, over, from));
        self.scratch.insert(field, (over, from));
        Ok((over, from))
    }

    /// The capacity of a segment buffer for a field. Requires that the only reader is a later pass
    /// over the same segment, in the same iteration of the outer rate.
    fn segment_capacity(
        &mut self,
        field: FieldRef,
        made: Point,
        here: RateId,
    ) -> Lower<Option<Capacity>> {
        let tree = &self.placed.tree;
        let around = |r: RateId| Some(tree.loop_rate(tree.parent(tree.loop_rate(r))?));
        let rate = tree.loop_rate(made.rate);
        let class = self.class_of(field);
        let in_class = class.and_then(|c| tree.around(made.rate, c));
        let same_segment = in_class.map(|r| tree.loop_rate(r)) == Some(rate)
            && tree.rate(rate).opening.is_nested()
            && around(made.rate) == around(here);
        let wanted = self.scope.plan.loops[self.scope.at].arrays.contains(&field);
        // Several phases would need one buffer each. They share one array instead.
        let appended = class.is_some_and(|c| self.scope.is_appended(c));
        if !same_segment || wanted || appended || self.is_in_cursor(rate) {
            return Ok(None);
        }
        Ok(match self.capacity(rate, field.0)? {
            Capacity::Rows(rows) => Some(Capacity::Row(rows)),
            // No segment is longer than all of them together.
            Capacity::Array(all) => Some(Capacity::Array(all)),
            Capacity::Bound(_) | Capacity::Row(_) | Capacity::Counted(_) => None,
        })
    }

    /// The class at whose rate a field has its elements.
    fn class_of(&self, (id, field): FieldRef) -> Option<ClassId> {
        let rates = &self.scope.plan.rates;
        match field {
            DECISION => rates.runs_at(id),
            _ => rates.output(id),
        }
    }

    /// The cursor that delivers a column to a program point outside of it, and the column as known
    /// inside.
    fn delivered_by(&self, column: InputColumn, at: Point) -> Option<(RateId, InputColumn)> {
        let rates = &self.scope.plan.rates;
        let here = self.cursors[at.rate.index()];
        let (mut maker, mut passed) = (column.field.0, None);
        while let Some((zip, side)) = rates.side_of(maker)
            && !self.scope.is_in_memory(maker)
        {
            let zipped = self.placed.zipped(zip)?;
            if self.cursors[zipped.attempts.index()] == here {
                // A column of an inner zip's side is read at the inner zip's class.
                let inside = InputColumn {
                    unfused_at: passed,
                    ..column.field.into()
                };
                return Some((*zipped.sides.get(side)?.first()?, inside));
            }
            (maker, passed) = (zip, rates.output(zip));
        }
        // Parts of an append are delivered from memory, too.
        let around = self.placed.tree.rate(at.rate);
        if let Opening::Part(part) = around.opening {
            let cursors = self.placed.zipped(around.node)?.sides.get(part)?;
            return Some((*cursors.first()?, column));
        }
        // Values of a segment are delivered to its elements.
        let sided = self.placed.tree.rate(here?).opening.sided()?;
        let side = rates.sides(sided.zip)?.get(sided.side)?;
        let class = column.unfused_at.or(rates.output(column.field.0))?;
        let below = side.level(rates, class)? > sided.level;
        let cursors = self.placed.zipped(sided.zip)?.sides.get(sided.side)?;
        let next = cursors.get(sided.level + 1).filter(|_| below)?;
        Some((*next, column))
    }

    /// Makes a cursor deliver a column to a later program point.
    ///
    /// Inside, the column is the same.
    pub fn deliver_to(&mut self, column: InputColumn, cursor: RateId, at: Point) -> Lower {
        if self.visible(column, at).is_none() {
            self.deliver(column, cursor, column)?;
        }
        self.elt(column, at)
    }

    /// Carries a delivered element to the program points after its cursor.
    fn deliver(
        &mut self,
        column: InputColumn,
        cursor: RateId,
        inside: InputColumn,
    ) -> Lower<Point> {
        let missing = || missing(self.scope.graph, column.field);
        let rates = &self.scope.plan.rates;
        let sided = self.placed.tree.rate(cursor).opening.sided();
        let sided = sided.ok_or_else(missing)?;
        let side = rates.sides(sided.zip).and_then(|s| s.get(sided.side));
        let class = side.and_then(|s| s.levels.get(sided.level));
        let class = rates.now(class.ok_or_else(missing)?.delivers);
        // The cursor may be inside of a subrate that asks for the next segment, or for a merge's
        // next element. Then the element is known after that subrate.
        let is_on_demand = |r: &RateId| {
            let opening = &self.placed.tree.rate(*r).opening;
            matches!(opening, Opening::UsedUp | Opening::Needed(_))
        };
        let around = self.placed.tree.parent(cursor).filter(is_on_demand);
        let behind = self.placed.tree.child_point(around.unwrap_or(cursor));
        let behind = behind.ok_or_else(missing)?;
        let outside = self.go_inside(Some(Context::Cursor(cursor)));
        let needs = self.needs(&[inside]);
        let from = self.point(column.field.0, class, &needs)?;
        self.elt(inside, from)?;
        self.go_inside(outside);
        let delivery = Delivery {
            cursor,
            column,
            inside,
            from,
            behind,
        };
        self.act(column.field.0, Act::Deliver(delivery));
        self.delivered.entry(column).or_default().push(behind);
        Ok(behind)
    }
}

fn missing(graph: &Graph, field: FieldRef) -> ErrorKind {
    ErrorKind::Malformed {
        expected: format!("an element of `{}`", graph.node(field.0).name),
        got: "a node that is not in this loop".into(),
    }
}
