//! Values: the variables of elements, delayed scalars, tests and written arrays.

use super::Emission;
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::lower::Lower;
use crate::lower::placement::{Capacity, Delivery, Over, Point};
use crate::lower::scope::InputColumn;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::FxHashMap;

/// Holds the values known so far.
#[derive(Default)]
pub struct Values {
    elts: FxHashMap<(InputColumn, Point), Atom>,
    scalars: FxHashMap<FieldRef, Atom>,
    /// The final values of scans.
    pub totals: FxHashMap<FieldRef, Atom>,
    /// Lengths that generators check.
    pub checked: FxHashMap<NodeId, Atom>,
    /// Arrays that this loop makes: element by element, or by a scatter.
    pub made: FxHashMap<FieldRef, Var>,
    /// Arrays that this loop updates at indices.
    pub bases: FxHashMap<FieldRef, Var>,
    /// Scratch buffers, by field, lifetime and program point of the definition.
    pub contracted: FxHashMap<(FieldRef, Over, Point), Var>,
    /// The scratch buffers that are read at an index within the segment.
    pub scratch: FxHashMap<FieldRef, Var>,
    /// The index of an inner loop's current element within its segment.
    pub within: FxHashMap<RateId, Atom>,
    /// The number of a subrate's elements since its segment began.
    pub counts: FxHashMap<RateId, Var>,
    /// The selection of a class's elements in a rate: a subrate's test, or a segment's length.
    pub tests: FxHashMap<(ClassId, RateId), Atom>,
    /// Flat indices that were computed from a row and an index within it.
    pub flat: FxHashMap<Atom, RowIndex>,
    /// The number of elements of all rows of these lengths.
    pub all_rows: FxHashMap<FieldRef, Atom>,
    /// For rates whose segments have one length: that length and the number of elements.
    pub rows: FxHashMap<RateId, UniformRows>,
    /// Flags that tell whether a segment had an element, by the liveness guard that may skip
    /// elements.
    pub nonempty: FxHashMap<RateId, Vec<(CombId, Var)>>,
    /// The condition under which a node's elements continue.
    pub ends: FxHashMap<NodeId, End>,
    /// The combinator that opened each rate.
    pub openers: Vec<CombId>,
    /// Indices of operands that are read elsewhere, by rate, direction and distance.
    pub elsewhere: FxHashMap<(RateId, bool, i64), Atom>,
    /// Flags that tell whether a cursor has delivered an element.
    pub live: FxHashMap<RateId, Var>,
    /// Flags that tell whether a merge asks a side for its next element, by the side's subrate.
    pub needed: FxHashMap<RateId, Var>,
    /// The end of the current segment, for each cursor over elements of segments.
    pub segment_ends: FxHashMap<RateId, Var>,
    /// Values that restart with each segment of a cursor, and their start values.
    pub anew: FxHashMap<RateId, Vec<(Var, Atom)>>,
    /// Numbers of elements from the sizing loop.
    pub sizes: Vec<CountedSize>,
}

/// Describes an index among rows.
///
/// It is `outer * length + inner`, with `inner` below `length`.
#[derive(Clone, Copy, Debug)]
pub struct RowIndex {
    /// The row.
    pub outer: Atom,
    /// The index within the row.
    pub inner: Atom,
    /// The length of each row.
    pub length: Atom,
}

/// Describes segments of one length, as atoms of `init`.
#[derive(Clone, Copy, Debug)]
pub struct UniformRows {
    /// The length of each segment.
    pub length: Atom,
    /// The number of elements of all segments.
    pub elements: Atom,
}

/// Describes a count of a rate's elements in the sizing loop.
///
/// Rates of one class may differ: an early exit makes a count smaller.
#[derive(Clone, Copy, Debug)]
pub struct CountedSize {
    /// The rate.
    pub rate: RateId,
    /// The counter that holds the count at the end.
    pub counted: Atom,
    /// An upper bound from takes. `None` if some array needs the full count.
    pub most: Option<Atom>,
}

/// Describes the condition under which elements continue.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// This flag.
    Live(Var),
    /// The count (first) is below a limit (second).
    Fewer(Atom, Atom),
}

impl Values {
    /// Returns a delayed scalar that this loop computes.
    pub fn scalar(&self, field: FieldRef) -> Option<Atom> {
        self.scalars.get(&field).copied()
    }

    /// Sets the fields of a delayed scalar, in this loop's `done`.
    pub fn set_scalars(&mut self, id: NodeId, values: impl IntoIterator<Item = Atom>) {
        let fields = (0..).zip(values);
        self.scalars.extend(fields.map(|(f, v)| ((id, f), v)));
    }

    /// Sets a column's element from a program point on.
    pub fn set_column(&mut self, column: InputColumn, point: Point, value: Atom) {
        self.elts.entry((column, point)).or_insert(value);
    }

    /// Sets the fields of a node's element from a program point on.
    pub fn set_elts(&mut self, id: NodeId, point: Point, values: impl IntoIterator<Item = Atom>) {
        for (field, value) in (0..).zip(values) {
            self.set_column((id, field).into(), point, value);
        }
    }
}

impl Emission<'_> {
    /// Returns the current element of a column, for use at a program point.
    pub fn elt(&mut self, column: impl Into<InputColumn>, at: Point) -> Lower<Atom> {
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

    /// Reads a column's current element from an array, at the counter of a rate.
    pub fn read_here(
        &mut self,
        column: InputColumn,
        array: Var,
        point: Point,
        name: &str,
    ) -> Lower {
        let comb = self.comb_at(column.field.0, point);
        let index = self.index_of(column, point.rate)?;
        self.read_at((column, array), (comb, index), point, name);
        Ok(())
    }

    /// Writes a field to an array, element by element.
    pub fn keep(
        &mut self,
        field: FieldRef,
        point: Point,
        (capacity, takes): (Option<Capacity>, &[NodeId]),
    ) -> Lower {
        let elt = self.elt(field, point)?;
        let comb = self.comb_at(field.0, point);
        let capacity = capacity.map(|capacity| {
            let most = self.least_of(comb, takes);
            let capacity = self.capacity(capacity, comb, most);
            self.at_most(comb, capacity, most)
        });
        // A function of the index is evaluated at the loop's own index. Other elements of a
        // reversed loop are stored at the reversed index.
        let reversed = self.scope.runs_against(field.0) && self.scope.is_made_once(field.0);
        let column = InputColumn {
            reversed,
            ..field.into()
        };
        let index = self.index_of(column, point.rate)?;
        let known = self.values.made.get(&field).copied();
        let ty = Type::Array(self.program.atom_ty(elt));
        let out = known.unwrap_or_else(|| self.var("out", comb, ty));
        if let Some(capacity) = capacity {
            self.push(comb, Section::Init, StmtKind::NewArray(out, capacity));
        }
        let write = StmtKind::WriteArray(out, index, elt);
        self.push(comb, Section::Yield, write);
        self.values.made.insert(field, out);
        Ok(())
    }

    /// Allocates memory for a field that several phases keep.
    pub fn make(
        &mut self,
        field: FieldRef,
        capacities: &[(Capacity, Vec<NodeId>)],
        takes: &[NodeId],
    ) {
        let Some(out) = self.values.made.get(&field).copied() else {
            return;
        };
        let comb = self.comb(field.0);
        let mut all: Option<Atom> = None;
        let most_of_all = self.least_of(comb, takes);
        for (capacity, takes) in capacities {
            let most = self.least_of(comb, takes);
            let capacity = self.capacity(*capacity, comb, most.or(most_of_all));
            let capacity = self.at_most(comb, capacity, most);
            all = Some(match all {
                // Saturates at the largest `u64`. No memory holds more.
                Some(all) => {
                    let most = [Const::u64(u64::MAX).into(), all];
                    let left = self.emit(comb, Section::Init, "left", Op::Sub, &most);
                    let more = self.emit(
                        comb,
                        Section::Init,
                        "more",
                        Op::Min,
                        &[capacity, left.into()],
                    );
                    let sum = [all, more.into()];
                    self.emit(comb, Section::Init, "capacity", Op::Add, &sum)
                        .into()
                }
                None => capacity,
            });
        }
        let capacity = self.at_most(comb, all.unwrap_or(Const::u64(0).into()), most_of_all);
        self.push(comb, Section::Init, StmtKind::NewArray(out, capacity));
    }

    /// The minimum of these takes; `None` without takes.
    fn least_of(&mut self, comb: CombId, takes: &[NodeId]) -> Option<Atom> {
        let mut least: Option<Atom> = None;
        for take in takes {
            if let Some(End::Fewer(_, n)) = self.values.ends.get(take).copied() {
                least = Some(self.at_most(comb, n, least));
            }
        }
        least
    }

    /// The capacity, or the upper bound if that is less.
    fn at_most(&mut self, comb: CombId, capacity: Atom, most: Option<Atom>) -> Atom {
        match most {
            Some(most) => {
                let args = [capacity, most];
                self.emit(comb, Section::Init, "capacity", Op::Min, &args)
                    .into()
            }
            None => capacity,
        }
    }

    /// Reads a field that an earlier pass has kept.
    pub fn reread(&mut self, column: InputColumn, point: Point) -> Lower {
        let array = self.made(column.field)?;
        let place = InputColumn {
            reversed: column.reversed != self.scope.runs_against(column.field.0),
            ..column
        };
        let comb = self.comb_at(column.field.0, point);
        let index = self.index_of(place, point.rate)?;
        self.read_at((column, array), (comb, index), point, "reread");
        Ok(())
    }

    /// Passes a field's element to a later program point through scratch memory.
    ///
    /// The buffer holds one element or one segment. A value of a subrate or a pass is not visible
    /// elsewhere.
    pub fn contract(
        &mut self,
        column: InputColumn,
        over: Over,
        (from, to): (Point, Point),
    ) -> Lower {
        let field = column.field;
        let buffer = self.scratch(field, over, from)?;
        let comb = self.comb_at(field.0, to);
        let index = match column.is_elsewhere() {
            true => self.within_elsewhere(column, to.rate)?,
            false => self.index_over(over, to)?,
        };
        self.read_at((column, buffer), (comb, index), to, "contracted");
        Ok(())
    }

    /// Writes a field to scratch memory, at its definition.
    pub fn scratch(&mut self, field: FieldRef, over: Over, from: Point) -> Lower<Var> {
        if let Some(buffer) = self.values.contracted.get(&(field, over, from)) {
            return Ok(*buffer);
        }
        let elt = self.elt(field, from)?;
        let ty = self.program.atom_ty(elt);
        let comb = self.comb_at(field.0, from);
        let (name, capacity) = match over {
            Over::Iteration => ("cell", Const::u64(1).into()),
            Over::Segment(capacity) | Over::Kept(capacity) => {
                ("row", self.capacity(capacity, comb, None))
            }
        };
        let buffer = self.var(name, comb, Type::Array(ty));
        self.program.vars[buffer.index()].scratch = true;
        let index = match over {
            Over::Kept(_) => self.index_within(field.0, from)?,
            _ => self.index_over(over, from)?,
        };
        self.push(comb, Section::Init, StmtKind::NewArray(buffer, capacity));
        let write = StmtKind::WriteArray(buffer, index, elt);
        self.push(comb, Section::Yield, write);
        self.values.contracted.insert((field, over, from), buffer);
        if let Over::Kept(_) = over {
            self.values.scratch.insert(field, buffer);
        }
        Ok(buffer)
    }

    /// Reads a column's element from an array at an index.
    fn read_at(
        &mut self,
        (column, array): (InputColumn, Var),
        (comb, index): (CombId, Atom),
        point: Point,
        name: &str,
    ) {
        let elt = self.scalar(name, comb, self.program.ty(array).elem());
        let read = StmtKind::ReadArray(elt, array, index);
        self.push(comb, Section::Body, read);
        self.values.set_column(column, point, elt.into());
    }

    /// The index into a scratch buffer, in the current iteration of a rate over whole segments.
    fn index_over(&mut self, over: Over, at: Point) -> Lower<Atom> {
        match over {
            Over::Iteration => Ok(Const::u64(0).into()),
            Over::Segment(_) | Over::Kept(_) => {
                let rate = self.placed.tree.loop_rate(at.rate);
                self.within_segment(rate)
            }
        }
    }

    /// Returns the array that this loop makes for a field.
    pub fn made(&self, field: FieldRef) -> Lower<Var> {
        let array = self.values.made.get(&field).copied();
        array.ok_or_else(|| ErrorKind::Malformed {
            expected: format!("`{}` in memory", self.scope.graph.node(field.0).name),
            got: "an element that nobody keeps".into(),
        })
    }

    /// Carries the last value that a cursor delivered, for use after the cursor.
    pub fn deliver(&mut self, delivery: Delivery) -> Lower {
        let Delivery { from, inside, .. } = delivery;
        let value = self.elt(inside, from)?;
        let comb = self.comb_at(inside.field.0, from);
        let val = self.delivered(comb, from.rate, value);
        let Delivery { column, behind, .. } = delivery;
        self.values.set_column(column, behind, val.into());
        Ok(())
    }

    /// Notes that a loop-carried value restarts with each segment of a cursor.
    pub fn begins_anew(&mut self, elements: RateId, carried: Var, start: Atom) {
        let all = self.values.anew.entry(elements).or_default();
        all.push((carried, start));
    }
}
