//! Contracted arrays within an iteration: see [`livefusion_tile::threads::contracted`].
//!
//! Their stores are written in the summary of every level, as are the loads that read them.

use super::Emit;
use loop_lang::ir::{Atom, RateId, Var};

impl Emit<'_> {
    /// Declares the scalars that replace contracted arrays in the iterations of a loop rate.
    pub(super) fn cells(&mut self, rate: RateId) {
        let cells = self.shape.contracted.cells.iter();
        let mut cells: Vec<Var> = cells
            .filter(|(_, r)| **r == rate)
            .map(|(v, _)| *v)
            .collect();
        cells.sort_unstable();
        for v in cells {
            let (ty, name) = (self.ty(v), self.names.var(v));
            let line = format!("{ty} {name} = {ty}(0);");
            self.line(&line);
        }
    }

    /// Reads an element of a contracted array.
    pub(super) fn read_contracted(&self, array: Var, index: Atom) -> Option<String> {
        if self.shape.contracted.cells.contains_key(&array) {
            return Some(self.names.var(array).to_string());
        }
        let at = self.in_strip(array, index)?;
        Some(format!("lf_read({}, {at})", self.value(Atom::Var(array))))
    }

    /// Writes an element of a contracted array.
    pub(super) fn write_contracted(&self, array: Var, index: Atom, value: Atom) -> Option<String> {
        let value = self.value(value);
        if self.shape.contracted.cells.contains_key(&array) {
            return Some(format!("{} = {value};", self.names.var(array)));
        }
        let at = self.in_strip(array, index)?;
        let array = self.value(Atom::Var(array));
        Some(format!("lf_write({array}, {at}, {value});"))
    }

    /// Returns the strips (contracted to one row) that the loop allocates, with the length of a
    /// row.
    pub(super) fn strips(&self) -> Vec<(Var, Atom)> {
        let strips = self.shape.contracted.strips.iter();
        let mut strips: Vec<_> = strips.filter_map(|(v, s)| Some((*v, s.length?))).collect();
        strips.sort_unstable_by_key(|(v, _)| *v);
        strips
    }

    /// Returns the position of a row's element in the strips of all rows.
    fn in_strip(&self, array: Var, index: Atom) -> Option<String> {
        let strip = self.shape.contracted.strips.get(&array)?;
        let first = self.value(Atom::Var(strip.first));
        Some(format!("{first} + {}", self.value(index)))
    }
}
