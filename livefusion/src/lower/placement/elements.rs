//! Where each element comes from: the current element of a column, for use at a spot.

use super::{Act, Column, Context, Placer, Side, Spot};
use crate::ast::Kind;
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::lower::{Lower, generate};
use crate::sharing::{FieldRef, Graph, NodeId};
use loop_lang::ir::RateId;
use std::ops::Range;

/// In place of a field's number: whether a combinator keeps the current element. It decides once; where a
/// later pass goes by what it kept, that is read again like any other element.
pub const DECISION: u32 = u32::MAX;

impl Placer<'_> {
    /// Finds the current element of a column, for use at a spot: made in this loop, or read from memory.
    pub fn elt(&mut self, column: impl Into<Column>, at: Spot) -> Lower {
        let asked = column.into();
        // Filters pass their input's elements on: follow them without recursion.
        let (mut column, mut spot) = (asked, at);
        let from = loop {
            let (id, _) = column.field;
            if let Some(known) = self.known.get(&column) {
                let tree = &self.placed.tree;
                let visible = known.iter().find(|s| tree.is_visible(**s, spot));
                if let Some(from) = visible.copied() {
                    break from;
                }
                if self.scope.is_made_once(id) {
                    break self.reread(column.field, spot)?;
                }
            }
            if let Some(side) = self.delivered_by(column) {
                break self.deliver(column, side)?;
            }
            if self.scope.is_in_memory(id) {
                let class = column.beside.or(self.scope.plan.rates.output(id));
                let own = class.and_then(|c| self.placed.tree.around(spot.rate, c));
                let from = Spot::first(own.unwrap_or(spot.rate));
                self.read(column, from);
                break from;
            }
            if let Kind::Generate(..) = self.scope.graph.node(id).kind {
                break generate::place_at(self, column, spot)?;
            }
            let Some(input) = self.scope.passed_on(column) else {
                return Err(missing(self.scope.graph, column.field));
            };
            // The input's element is one of the rate around the subrate.
            let class = self.scope.plan.rates.output(id);
            let tree = &self.placed.tree;
            let around = class.and_then(|c| tree.around(spot.rate, c));
            spot = around
                .and_then(|r| tree.child_spot(tree.elements_of(r)))
                .ok_or_else(|| missing(self.scope.graph, column.field))?;
            column = input;
        };
        self.placed.origins.insert((asked, at), (column, from));
        Ok(())
    }

    /// Finds the elements of several columns.
    pub fn elts(&mut self, columns: &[Column], at: Spot) -> Lower {
        columns.iter().try_for_each(|c| self.elt(*c, at))
    }

    /// Finds the elements of some of a node's inputs.
    pub fn input_elts(&mut self, id: NodeId, inputs: Range<usize>, at: Spot) -> Lower {
        let columns = self.scope.columns(id, inputs);
        self.elts(&columns, at)
    }

    /// Notes from which spot on a column is known.
    pub fn know(&mut self, column: Column, spot: Spot) {
        self.known.entry(column).or_default().push(spot);
    }

    /// Notes from which spot on a node's fields are known.
    pub fn know_all(&mut self, id: NodeId, spot: Spot) {
        for field in 0..self.scope.graph.node(id).types.len() as u32 {
            self.know((id, field).into(), spot);
        }
    }

    /// From where on the fields of these inputs are known. What was made in this loop is known behind its
    /// making only, wherever it was read again since; what can be had anywhere needs nothing, unless it was
    /// read in one place, which serves further users there.
    pub fn needs(&self, columns: &[Column]) -> Vec<Spot> {
        let mut needs = Vec::new();
        for column in columns {
            let mut at = Some(*column);
            while let Some(c) = at {
                let Some(known) = self.known.get(&c) else {
                    at = self.scope.passed_on(c);
                    continue;
                };
                needs.extend(match known.as_slice() {
                    [made, ..] if self.scope.is_made_once(c.field.0) => Some(*made),
                    [read] if self.is_here(read.rate) => Some(*read),
                    _ => None,
                });
                break;
            }
        }
        needs
    }

    /// Keeps a field in memory, element by element. The result is where it is written.
    pub fn keep(&mut self, field: FieldRef) -> Lower<Spot> {
        if let Some(spot) = self.placed.kept.get(&field) {
            return Ok(*spot);
        }
        let outside = self.go_inside(self.context_of_field(field));
        let spot = self.keep_new(field);
        self.go_inside(outside);
        spot
    }

    fn keep_new(&mut self, field: FieldRef) -> Lower<Spot> {
        let missing = || missing(self.scope.graph, field);
        let class = self.class_of(field).ok_or_else(missing)?;
        let made = self.known.get(&field.into()).and_then(|k| k.first());
        let in_step = |s: &&Spot| self.placed.tree.around(s.rate, class) == Some(s.rate);
        let needs = match made.filter(in_step) {
            Some(made) => vec![*made],
            None => self.needs(&[field.into()]),
        };
        let spot = self.spot(field.0, class, &needs)?;
        self.elt(field, spot)?;
        let room = self.room(spot.rate, field.0)?;
        let takes = self.takes_around(spot.rate);
        self.act(field.0, Act::Keep(field.1, spot, room, takes));
        self.placed.kept.insert(field, spot);
        self.runs_over(field.0, spot);
        Ok(spot)
    }

    /// An element that an earlier pass over the same elements made: it is kept in memory for the later one.
    fn reread(&mut self, field: FieldRef, at: Spot) -> Lower<Spot> {
        let class = self.class_of(field);
        let here = class.and_then(|c| self.placed.tree.around(at.rate, c));
        let made = self.known.get(&field.into()).and_then(|k| k.first());
        let behind =
            |rate: &RateId| made.is_some_and(|made| self.placed.tree.is_behind(*rate, *made));
        let Some(here) = here.filter(behind) else {
            return Err(missing(self.scope.graph, field));
        };
        self.keep(field)?;
        let spot = Spot::first(here);
        self.act(field.0, Act::Reread(field.1, spot));
        self.know(field.into(), spot);
        Ok(spot)
    }

    /// The class at whose rate a field has its elements.
    fn class_of(&self, (id, field): FieldRef) -> Option<ClassId> {
        let rates = &self.scope.plan.rates;
        match field {
            DECISION => rates.runs_at(id),
            _ => rates.output(id),
        }
    }

    /// The side that delivers a column, if it is one of a zip that advances it on demand.
    fn delivered_by(&self, column: Column) -> Option<Side> {
        column.beside?;
        let (zip, side) = self.scope.plan.rates.side_of(column.field.0)?;
        let side = self.placed.sides(zip).get(side)?;
        (!self.scope.is_in_memory(column.field.0)).then_some(*side)
    }

    /// What a cursor delivers is handed on to what is behind it.
    fn deliver(&mut self, column: Column, side: Side) -> Lower<Spot> {
        let outside = self.go_inside(Some(Context::Cursor(side.rate)));
        self.elt(column.field, side.delivers)?;
        self.act(column.field.0, Act::Deliver(column, side));
        self.go_inside(outside);
        let behind = self.placed.tree.child_spot(side.rate);
        let behind = behind.ok_or_else(|| missing(self.scope.graph, column.field))?;
        self.know(column, behind);
        Ok(behind)
    }
}

fn missing(graph: &Graph, field: FieldRef) -> ErrorKind {
    ErrorKind::Malformed {
        expected: format!("an element of `{}`", graph.node(field.0).name),
        got: "a node that is not in this loop".into(),
    }
}
