//! Elements and lengths: what each node's fields are in the current iteration (`elt_3`, `len_3`).

use super::{Anatomy, Lower, Spot, missing};
use crate::ast::Kind;
use crate::fusion::ClassId;
use crate::fusion::rates::indexed_array;
use crate::lower::{cursor, generate, manifest};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::types::Const;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// A field as an input of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Column {
    /// The field, resolved.
    pub field: FieldRef,
    /// The class at whose counter it is read from memory, if that is not its own.
    pub beside: Option<ClassId>,
}

impl From<FieldRef> for Column {
    fn from(field: FieldRef) -> Column {
        Column {
            field,
            beside: None,
        }
    }
}

impl Anatomy<'_> {
    /// The current element of a column, for use at a spot: made in this loop, or read from memory.
    pub fn elt(&mut self, column: impl Into<Column>, at: Spot) -> Lower<Atom> {
        // Filters pass their input's elements on: follow them without recursion.
        let (mut column, mut spot) = (column.into(), at);
        loop {
            let from = column.field;
            if let Some(known) = self.elts.get(&column) {
                let visible = known.iter().find(|(s, _)| self.is_visible(*s, spot));
                if let Some((_, atom)) = visible {
                    return Ok(*atom);
                }
                if self.is_made_once(from.0) {
                    return self.elt_again(from, spot);
                }
            }
            if let Some(cursor) = self.cursor_of(column) {
                return cursor::deliver(self, column, cursor);
            }
            if self.is_in_memory(from.0) {
                let class = column.beside.or(self.plan.rates.output(from.0));
                let own = class.and_then(|c| self.around(spot.rate, c));
                return manifest::read(self, column, own.unwrap_or(spot.rate));
            }
            if let Kind::Generate(..) = self.graph.node(from.0).kind {
                generate::lower_at(self, column, spot)?;
                let made = self.elts.get(&column).and_then(|e| e.last());
                return made.map(|e| e.1).ok_or_else(|| missing(self.graph, from));
            }
            let Some(input) = self.passed_on(column) else {
                return Err(missing(self.graph, from));
            };
            // The input's element is one of the rate around the subrate.
            let class = self.plan.rates.output(from.0);
            let around = class.and_then(|c| self.around(spot.rate, c));
            spot = around
                .and_then(|r| self.child_spot(r))
                .ok_or_else(|| missing(self.graph, from))?;
            column = input;
        }
    }

    /// The column of its input that a filter passes on.
    pub(super) fn passed_on(&self, column: Column) -> Option<Column> {
        let (id, field) = column.field;
        let passes = matches!(
            self.graph.node(id).kind,
            Kind::Filter(_) | Kind::Pack | Kind::TakeWhile { .. }
        );
        (passes && column.beside.is_none() && !self.is_in_memory(id))
            .then(|| self.column(id, 0, field))
    }

    /// A field of a node's input: through `Zip` and `Fields` to what computes it.
    fn column(&self, id: NodeId, input: usize, field: u32) -> Column {
        let rates = &self.plan.rates;
        let node = &self.graph.nodes[id.index()];
        let class = match node.node.kind {
            // Of these there is one per segment.
            Kind::Expand(_) => rates.output(node.inputs[0]),
            _ => rates.reads_beside_at(id),
        };
        let mut beside = class.filter(|_| rates.is_beside(id, input));
        let mut field = (node.inputs[input], field);
        while let Some((k, next)) = self.graph.step(field) {
            if beside.is_none() && rates.is_beside(field.0, k) {
                beside = rates.output(field.0);
            }
            field = next;
        }
        Column { field, beside }
    }

    /// An element that an earlier pass over the same elements made: it is kept in memory for the later one.
    fn elt_again(&mut self, field: FieldRef, at: Spot) -> Lower<Atom> {
        let class = self.plan.rates.output(field.0);
        let here = class.and_then(|c| self.around(at.rate, c));
        let made = self.elts.get(&field.into()).and_then(|e| e.first());
        let made = made.map(|(spot, _)| *spot);
        let behind = |rate: &RateId| made.is_some_and(|made| self.is_behind(*rate, made));
        let Some(here) = here.filter(behind) else {
            self.in_the_way = Some(field.0);
            return Err(missing(self.graph, field));
        };
        let (array, _) = self.write(field)?;
        let spot = Spot {
            rate: here,
            position: 0,
        };
        Ok(self.read_here(field.into(), array, spot, "again"))
    }

    /// Reads the current element of a column from an array, at the counter of a spot's rate.
    pub fn read_here(&mut self, column: Column, array: Var, spot: Spot, name: &str) -> Atom {
        let comb = self.comb_at(column.field.0, spot);
        let index = self.index(spot.rate);
        let elt = self.scalar(name, comb, self.program.ty(array).elem());
        let read = StmtKind::ReadArray(elt, array, index.into());
        self.push(comb, Section::Body, read);
        self.set_column(column, spot, elt.into());
        elt.into()
    }

    /// The array to which a field is written, element by element, and the rate at which it is.
    pub fn write(&mut self, field: FieldRef) -> Lower<(Var, RateId)> {
        if let Some(array) = self.written.get(&field) {
            return Ok(*array);
        }
        let outside = self.go_inside(self.cursor_at(field.0));
        let written = self.write_new(field);
        self.go_inside(outside);
        written
    }

    fn write_new(&mut self, field: FieldRef) -> Lower<(Var, RateId)> {
        let class = self.plan.rates.output(field.0);
        let class = class.ok_or_else(|| missing(self.graph, field))?;
        let needs = self.needs(&[field.into()]);
        let made = self.elts.get(&field.into()).and_then(|e| e.first());
        let spot = match made {
            Some((spot, _)) if self.around(spot.rate, class) == Some(spot.rate) => {
                self.spot(field.0, class, &[*spot])?
            }
            _ => self.spot(field.0, class, &needs)?,
        };
        let elt = self.elt(field, spot)?;
        let comb = self.comb_at(field.0, spot);
        let bound = self.extent(spot.rate, comb)?;
        let index = self.index(spot.rate);
        let out = self.var("out", comb, Type::Array(self.program.atom_ty(elt)));
        self.push(comb, Section::Init, StmtKind::NewArray(out, bound));
        self.push(
            comb,
            Section::Yield,
            StmtKind::WriteArray(out, index.into(), elt),
        );
        self.written.insert(field, (out, spot.rate));
        self.runs_over(field.0, spot.rate);
        Ok((out, spot.rate))
    }

    /// Says what a field's element is, from a spot on.
    pub fn set_elt(&mut self, field: FieldRef, spot: Spot, value: Atom) {
        self.set_column(field.into(), spot, value);
    }

    /// Says what a column's element is, from a spot on.
    pub fn set_column(&mut self, column: Column, spot: Spot, value: Atom) {
        self.elts.entry(column).or_default().push((spot, value));
    }

    /// The columns of some of a node's inputs.
    pub fn columns(&self, id: NodeId, inputs: Range<usize>) -> Vec<Column> {
        let width = |i: usize| {
            let input = self.graph.nodes[id.index()].inputs[i];
            self.graph.node(input).types.len() as u32
        };
        inputs
            .flat_map(|i| (0..width(i)).map(move |f| (i, f)))
            .map(|(i, f)| self.column(id, i, f))
            .collect()
    }

    /// The columns of all of a node's inputs.
    pub fn all_columns(&self, id: NodeId) -> Vec<Column> {
        self.columns(id, 0..self.graph.nodes[id.index()].inputs.len())
    }

    /// A field of an array that tells its length: one that this loop makes, or one that is in memory.
    pub fn existing_field(&self, input: NodeId) -> Option<FieldRef> {
        let exists = |f: &FieldRef| {
            let leaf = self.graph.nodes[f.0.index()].leaf;
            leaf || !self.is_in_memory(f.0) || self.plan.stored.contains(f)
        };
        self.graph.fields(input).into_iter().find(exists)
    }

    /// The length of an array, as this loop knows it when it starts: that of the memory or of the
    /// generator at the far end of what is computed in step. None for the elements of segments, whose
    /// number only the segments' lengths say.
    pub fn len(&mut self, input: NodeId) -> Lower<Option<Atom>> {
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut stack = vec![input];
        let mut nowhere = false;
        while let Some(at) = stack.pop() {
            let Some((first, field)) = self.existing_field(at) else {
                // What an earlier loop made and nobody keeps: another input may tell.
                nowhere = true;
                continue;
            };
            if !seen.insert(first) {
                continue;
            }
            if self.is_in_memory(first) {
                return Ok(Some(manifest::len(self, (first, field))));
            }
            if let Some(a) = self.lens.get(&first) {
                return Ok(Some(*a));
            }
            let node = &self.graph.nodes[first.index()];
            match node.node.kind {
                Kind::Generate(..) => {
                    let array = indexed_array(self.graph, first);
                    match array.filter(|array| self.existing_field(*array).is_some()) {
                        Some(array) => stack.push(array),
                        None => return generate::len(self, first).map(Some),
                    }
                }
                // Whichever input has a length of its own.
                Kind::Map(_) => stack.extend(node.inputs.iter().rev()),
                Kind::Scan(..) | Kind::FoldS(_) | Kind::CountS => stack.push(node.inputs[0]),
                Kind::ScanS(..) => stack.push(node.inputs[1]),
                Kind::Custom(_) => {
                    let in_step = self.plan.rates.known_equal(first, node.inputs[0]);
                    stack.extend(in_step.then_some(node.inputs[0]));
                }
                _ => {}
            }
        }
        Ok(nowhere.then(|| Const::u64(0).into()))
    }

    /// How long a generator is, if that was said.
    pub fn known_len(&self, id: NodeId) -> Option<Atom> {
        self.lens.get(&id).copied()
    }

    /// Says how long a generator is.
    pub fn set_len(&mut self, id: NodeId, len: Atom) {
        self.lens.insert(id, len);
    }

    /// Says where a scan's field ends up.
    pub fn set_scan_total(&mut self, field: FieldRef, value: Atom) {
        self.totals.insert(field, value);
    }

    /// Where a scan's field ends up, read after the loop.
    pub fn scan_total(&self, field: FieldRef) -> Lower<Atom> {
        self.totals
            .get(&field)
            .copied()
            .ok_or_else(|| missing(self.graph, field))
    }
}
