//! Dense programs: very few elements of one type, used in drawn ways, and so is all that is made of them. What is asked
//! to be in memory is anything that is as long.

use super::random::{Making, Way};
use crate::patterns::Use;
use loop_lang::types::Ty;

impl Making {
    /// Some arrays, and uses of these and of what is made of them.
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

    /// In place of an array in memory: one that there is.
    pub(super) fn dense_array(&mut self, n: usize, types: &[Ty]) -> Option<usize> {
        if self.options.way != Way::Dense || !self.rng.chance(90) {
            return None;
        }
        let mut fit = self.arrays();
        fit.retain(|a| self.data[*a].len() == n && self.types(*a) == types);
        (!fit.is_empty()).then(|| self.rng.pick(&fit))
    }
}
