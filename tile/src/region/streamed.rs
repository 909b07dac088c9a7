//! Results that a sweep writes in step, from end to end, and does nothing else with.

use super::{Region, Sweep};
use loop_lang::ir::{Atom, Var};

/// A result that is written in step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Streamed {
    /// The array.
    pub array: Var,
    /// How far behind the counter: a later phase writes behind the earlier ones.
    pub beyond: Vec<Atom>,
}

impl Region<'_> {
    /// What a sweep writes in step of the results that the loop fills, and does nothing else with.
    pub fn streamed(&self, sweep: &Sweep) -> Vec<Streamed> {
        let filled = self.filled();
        let made = self.made.iter().filter(|a| filled.contains(a));
        let here = made.filter_map(|array| {
            let access = sweep.accesses.iter().find(|x| x.array == *array)?;
            let beyond = sweep.affine(access.index)?.beyond()?;
            Some(Streamed {
                array: *array,
                beyond,
            })
        });
        here.collect()
    }
}
