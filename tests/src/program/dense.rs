//! Dense programs: few short arrays of one type, used in many random ways.
//!
//! Derived arrays are used in the same ways. Any array of a suitable length may replace one in
//! memory.

use super::random::{Making, Way};
use crate::patterns::Use;
use loop_lang::types::Ty;

impl Making {
    /// Creates some arrays, and uses of them and of derived arrays.
    pub(super) fn entangle(&mut self) {
        for n in self.lengths {
            self.memory(n);
        }
        let wanted = self.program.steps.len() + self.rng.range(6, self.options.steps);
        for _ in 0..2 * wanted {
            if self.program.steps.len() > wanted {
                break;
            }
            let how = self.rng.pick(&Use::ALL);
            match self.array() {
                Some(array) => self.used(array, how),
                None => self.memory(1),
            };
        }
    }

    /// An existing array in place of one in memory.
    pub(super) fn dense_array(&mut self, n: usize, types: &[Ty]) -> Option<usize> {
        if self.options.way != Way::Dense || !self.rng.chance(90) {
            return None;
        }
        let mut fit = self.arrays();
        fit.retain(|a| self.data[*a].len() == n && self.types(*a) == types);
        (!fit.is_empty()).then(|| self.rng.pick(&fit))
    }
}
