//! Results that a loop stores completely at its counter and does not read.

use super::{InnerLoop, Region};
use loop_lang::ir::{Atom, Var};

/// Describes a result that is stored at the counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Streamed {
    /// The array.
    pub array: Var,
    /// Its distance from the counter: a later phase writes after the earlier ones.
    pub beyond: Vec<Atom>,
}

impl Region<'_> {
    /// Lists the filled results that a loop only stores, at its counter.
    pub fn streamed(&self, inner_loop: &InnerLoop) -> Vec<Streamed> {
        let filled = self.filled();
        let made = self.made.iter().filter(|a| filled.contains(a));
        let here = made.filter_map(|array| {
            let access = inner_loop.accesses.iter().find(|x| x.array == *array)?;
            let beyond = inner_loop.affine(access.index)?.beyond()?;
            Some(Streamed {
                array: *array,
                beyond,
            })
        });
        here.collect()
    }
}
