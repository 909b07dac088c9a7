//! What is known as which variable: elements, delayed scalars, tests, arrays that are written.

use super::Emission;
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::lower::Lower;
use crate::lower::placement::{Delivery, Over, Room, Spot};
use crate::lower::scope::Column;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::FxHashMap;

/// What is known by now.
#[derive(Default)]
pub struct Values {
    elts: FxHashMap<(Column, Spot), Atom>,
    scalars: FxHashMap<FieldRef, Atom>,
    /// Where the fields of scans end up.
    pub totals: FxHashMap<FieldRef, Atom>,
    /// Lengths that generators check.
    pub checked: FxHashMap<NodeId, Atom>,
    /// Arrays that this loop makes: element by element, or by a scatter.
    pub made: FxHashMap<FieldRef, Var>,
    /// Arrays that this loop joins values onto, at indices.
    pub bases: FxHashMap<FieldRef, Var>,
    /// Memory by which a field is handed on, from where it is made: for one element, or for those of a segment.
    pub handed: FxHashMap<(FieldRef, Over, Spot), Var>,
    /// Where the element of an inner loop's current iteration is in its segment.
    pub within: FxHashMap<RateId, Atom>,
    /// What decides over the elements of a class in the iterations of a rate: a subrate's test, the
    /// length of a segment.
    pub tests: FxHashMap<(ClassId, RateId), Atom>,
    /// Indices that were put together of those of a row and within it.
    pub flat: FxHashMap<Atom, Flat>,
    /// How many elements all rows of these lengths have.
    pub all_rows: FxHashMap<FieldRef, Atom>,
    /// Of rates whose segments are all of one length, how many elements that makes.
    pub rows: FxHashMap<RateId, Rows>,
    /// What says whether a segment has had an element, by the subrate that does not run for all of them.
    pub nonempty: FxHashMap<RateId, Vec<(CombId, Var)>>,
    /// What says whether the elements of a node go on.
    pub ends: FxHashMap<NodeId, End>,
    /// The combinator that opened each rate.
    pub openers: Vec<CombId>,
    /// The index from the end of each rate whose elements something has from there.
    pub mirrored: FxHashMap<RateId, Atom>,
    /// Whether a cursor has delivered an element.
    pub live: FxHashMap<RateId, Var>,
    /// Whether a side of a merge is asked for its next element, by the subrate in which it is.
    pub needed: FxHashMap<RateId, Var>,
    /// Where the segment ends whose elements a cursor runs over.
    pub segment_ends: FxHashMap<RateId, Var>,
    /// What begins anew with each segment whose elements a cursor runs over, and from what on.
    pub anew: FxHashMap<RateId, Vec<(Var, Atom)>>,
    /// Numbers of elements that are counted before the loop.
    pub sizes: Vec<Size>,
}

/// Where an element lies among rows: `outer * length + inner`, with `inner` below `length`.
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    /// Which row.
    pub outer: Atom,
    /// Where in it.
    pub inner: Atom,
    /// How long rows are.
    pub length: Atom,
}

/// Segments of one length, as atoms of `init`.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// How long each is.
    pub length: Atom,
    /// How many elements all of them have.
    pub elements: Atom,
}

/// How many elements a rate has: of one class, one that is left early has fewer.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The rate.
    pub rate: RateId,
    /// The counter whose end says it.
    pub counted: Atom,
    /// As many as anybody has room for, if all who need room take no more than some.
    pub most: Option<Atom>,
}

/// What says whether elements go on.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// This does.
    Live(Var),
    /// They do while there are fewer of them, by their count, than this.
    Fewer(Atom, Atom),
}

impl Values {
    /// A delayed scalar that this loop computes.
    pub fn scalar(&self, field: FieldRef) -> Option<Atom> {
        self.scalars.get(&field).copied()
    }

    /// Says what a delayed scalar's fields are in this loop's `done`.
    pub fn set_scalars(&mut self, id: NodeId, values: impl IntoIterator<Item = Atom>) {
        let fields = (0..).zip(values);
        self.scalars.extend(fields.map(|(f, v)| ((id, f), v)));
    }

    /// Says what a column's element is, from a spot on.
    pub fn set_column(&mut self, column: Column, spot: Spot, value: Atom) {
        self.elts.entry((column, spot)).or_insert(value);
    }

    /// Says what the fields of a node's element are, from a spot on.
    pub fn set_elts(&mut self, id: NodeId, spot: Spot, values: impl IntoIterator<Item = Atom>) {
        for (field, value) in (0..).zip(values) {
            self.set_column((id, field).into(), spot, value);
        }
    }
}

impl Emission<'_> {
    /// The current element of a column, for use at a spot.
    pub fn elt(&mut self, column: impl Into<Column>, at: Spot) -> Lower<Atom> {
        let column = column.into();
        let origin = self.placed.origin(column, at);
        let known = origin.and_then(|from| self.values.elts.get(&from));
        known.copied().ok_or_else(|| ErrorKind::Malformed {
            expected: format!(
                "an element of `{}`",
                self.scope.graph.node(column.field.0).name
            ),
            got: "one that is not placed".into(),
        })
    }

    /// Reads the current element of a column from an array, at the counter of a spot's rate.
    pub fn read_here(&mut self, column: Column, array: Var, spot: Spot, name: &str) {
        let comb = self.comb_at(column.field.0, spot);
        let index = self.index_of(column, spot.rate);
        let elt = self.scalar(name, comb, self.program.ty(array).elem());
        let read = StmtKind::ReadArray(elt, array, index);
        self.push(comb, Section::Body, read);
        self.values.set_column(column, spot, elt.into());
    }

    /// Writes a field to an array, element by element.
    pub fn keep(
        &mut self,
        field: FieldRef,
        spot: Spot,
        (room, takes): (Option<Room>, &[NodeId]),
    ) -> Lower {
        let elt = self.elt(field, spot)?;
        let comb = self.comb_at(field.0, spot);
        let room = room.map(|room| {
            let most = self.least_of(comb, takes);
            let room = self.room(room, comb, most);
            self.at_most(comb, room, most)
        });
        // What tells any element from its index is asked for the one at the loop's own.
        let mirrored = self.scope.runs_against(field.0) && self.scope.is_made_once(field.0);
        let column = Column {
            mirrored,
            ..field.into()
        };
        let index = self.index_of(column, spot.rate);
        let known = self.values.made.get(&field).copied();
        let ty = Type::Array(self.program.atom_ty(elt));
        let out = known.unwrap_or_else(|| self.var("out", comb, ty));
        if let Some(room) = room {
            self.push(comb, Section::Init, StmtKind::NewArray(out, room));
        }
        let write = StmtKind::WriteArray(out, index, elt);
        self.push(comb, Section::Yield, write);
        self.values.made.insert(field, out);
        Ok(())
    }

    /// Makes memory for a field that several phases keep.
    pub fn make(&mut self, field: FieldRef, rooms: &[(Room, Vec<NodeId>)], takes: &[NodeId]) {
        let Some(out) = self.values.made.get(&field).copied() else {
            return;
        };
        let comb = self.comb(field.0);
        let mut all: Option<Atom> = None;
        let most_of_all = self.least_of(comb, takes);
        for (room, takes) in rooms {
            let most = self.least_of(comb, takes);
            let room = self.room(*room, comb, most.or(most_of_all));
            let room = self.at_most(comb, room, most);
            all = Some(match all {
                // What no number holds, no memory holds either.
                Some(all) => {
                    let most = [Const::u64(u64::MAX).into(), all];
                    let left = self.emit(comb, Section::Init, "left", Op::Sub, &most);
                    let more =
                        self.emit(comb, Section::Init, "more", Op::Min, &[room, left.into()]);
                    let sum = [all, more.into()];
                    self.emit(comb, Section::Init, "room", Op::Add, &sum).into()
                }
                None => room,
            });
        }
        let room = self.at_most(comb, all.unwrap_or(Const::u64(0).into()), most_of_all);
        self.push(comb, Section::Init, StmtKind::NewArray(out, room));
    }

    /// As many elements as the least of these takes; none if there are no takes.
    fn least_of(&mut self, comb: CombId, takes: &[NodeId]) -> Option<Atom> {
        let mut least: Option<Atom> = None;
        for take in takes {
            if let Some(End::Fewer(_, n)) = self.values.ends.get(take).copied() {
                least = Some(self.at_most(comb, n, least));
            }
        }
        least
    }

    /// As much room as this, or as is needed at most, if that is less.
    fn at_most(&mut self, comb: CombId, room: Atom, most: Option<Atom>) -> Atom {
        match most {
            Some(most) => {
                let args = [room, most];
                self.emit(comb, Section::Init, "room", Op::Min, &args)
                    .into()
            }
            None => room,
        }
    }

    /// Reads a field again that an earlier pass has kept.
    pub fn reread(&mut self, field: FieldRef, spot: Spot) -> Lower {
        let array = self.made(field)?;
        self.read_here(field.into(), array, spot, "again");
        Ok(())
    }

    /// Hands a field's element on to what is behind that which makes it, in memory for one, or for those of a segment: what a
    /// subrate or a pass computes is known in no other.
    pub fn hand(&mut self, field: FieldRef, over: Over, (from, to): (Spot, Spot)) -> Lower {
        let elt = self.elt(field, from)?;
        let ty = self.program.atom_ty(elt);
        let buffer = match self.values.handed.get(&(field, over, from)) {
            Some(buffer) => *buffer,
            None => {
                let comb = self.comb_at(field.0, from);
                let (name, room) = match over {
                    Over::Iteration => ("cell", Const::u64(1).into()),
                    Over::Segment(room) => ("row", self.room(room, comb, None)),
                };
                let buffer = self.var(name, comb, Type::Array(ty));
                self.program.vars[buffer.index()].scratch = true;
                let index = self.index_over(over, from.rate)?;
                self.push(comb, Section::Init, StmtKind::NewArray(buffer, room));
                let write = StmtKind::WriteArray(buffer, index, elt);
                self.push(comb, Section::Yield, write);
                self.values.handed.insert((field, over, from), buffer);
                buffer
            }
        };
        let comb = self.comb_at(field.0, to);
        let index = self.index_over(over, to.rate)?;
        let handed = self.scalar("handed", comb, ty);
        let read = StmtKind::ReadArray(handed, buffer, index);
        self.push(comb, Section::Body, read);
        self.values.set_column(field.into(), to, handed.into());
        Ok(())
    }

    /// Where an element of a rate's current iteration is among those that are handed on together.
    fn index_over(&mut self, over: Over, rate: RateId) -> Lower<Atom> {
        match over {
            Over::Iteration => Ok(Const::u64(0).into()),
            Over::Segment(_) => {
                let rate = self.placed.tree.loop_rate(rate);
                self.within_segment(rate)
            }
        }
    }

    /// The array that this loop makes of a field.
    pub fn made(&self, field: FieldRef) -> Lower<Var> {
        let array = self.values.made.get(&field).copied();
        array.ok_or_else(|| ErrorKind::Malformed {
            expected: format!("`{}` in memory", self.scope.graph.node(field.0).name),
            got: "an element that nobody keeps".into(),
        })
    }

    /// Carries the last value that a cursor delivered, for use behind it.
    pub fn deliver(&mut self, delivery: Delivery) -> Lower {
        let Delivery { from, inside, .. } = delivery;
        let value = self.elt(inside, from)?;
        let comb = self.comb_at(inside.field.0, from);
        let val = self.delivered(comb, from.rate, value);
        let Delivery { column, behind, .. } = delivery;
        self.values.set_column(column, behind, val.into());
        Ok(())
    }

    /// Says that a carried value begins anew with each segment whose elements a cursor runs over.
    pub fn begins_anew(&mut self, elements: RateId, carried: Var, start: Atom) {
        let all = self.values.anew.entry(elements).or_default();
        all.push((carried, start));
    }
}
