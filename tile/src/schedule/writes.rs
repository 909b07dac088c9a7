//! Stores that several steps may do contiguously.

use crate::region::{Access, Region, Role, Sweep};
use loop_lang::ir::{Atom, Var};

/// Tells whether a store at an index is contiguous in each case, and the array is used at no other
/// index.
pub(super) fn near(region: &Region, sweep: &Sweep, a: Var, index: Atom) -> bool {
    let write = at_one_index(region, sweep, a, index);
    write.is_some_and(|x| region.cases(sweep).prove(sweep, x))
}

/// Tells whether a segment's steps store contiguously at an index, and no step uses another element
/// of the array.
pub(super) fn in_row(region: &Region, sweep: &Sweep, a: Var, index: Atom) -> bool {
    at_one_index(region, sweep, a, index).is_some_and(|x| sweep.is_near(x))
}

/// Returns the write to an array at an index, if the array is used at no other index.
fn at_one_index<'r>(region: &Region, sweep: &'r Sweep, a: Var, index: Atom) -> Option<&'r Access> {
    let array = region.owner(a);
    let here = || sweep.accesses.iter().filter(|x| x.array == array);
    let write = here().find(|x| !x.is_read)?;
    here().all(|x| x.index == index).then_some(write)
}

/// Tells whether an access is at the counter and in bounds.
pub(super) fn in_step(region: &Region, sweep: &Sweep, a: Var, index: Atom) -> bool {
    let proven = |v| sweep.proven.contains(&(region.owner(a), v));
    index.var().is_some_and(|v| v == sweep.counter && proven(v))
}

/// Tells whether an access is at a count of a sub rate, or of the rate itself, and in bounds.
pub(super) fn at_count(
    region: &Region,
    sweep: &Sweep,
    (a, index): (Var, Atom),
    sub: Option<usize>,
) -> bool {
    let proven = |v| sweep.proven.contains(&(region.owner(a), v));
    index
        .var()
        .is_some_and(|v| sweep.roles.get(&v) == Some(&Role::Count { sub }) && proven(v))
}

/// Tells whether a store at a count may also store rejected elements.
pub(super) fn packs(
    region: &Region,
    sweep: &Sweep,
    (a, index): (Var, Atom),
    sub: Option<usize>,
) -> bool {
    let proven = |place| sweep.proven.contains(&place) || sweep.scarce.contains(&place);
    let fits = |v| {
        sweep.roles.get(&v) == Some(&Role::Count { sub })
            && proven((region.owner(a), v))
            && region.facts.is_cut_to(a, v)
    };
    index.var().is_some_and(fits)
}
