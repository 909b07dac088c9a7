//! Stores that several steps may do contiguously.

use crate::region::{Access, InnerLoop, Region, Role};
use loop_lang::ir::{Atom, Var};

/// Tells whether a store at an index is contiguous in each case, and the array is used at no other
/// index.
pub(super) fn near(region: &Region, inner_loop: &InnerLoop, a: Var, index: Atom) -> bool {
    let write = at_one_index(region, inner_loop, a, index);
    write.is_some_and(|x| region.cases(inner_loop).prove(inner_loop, x))
}

/// Tells whether a segment's steps store contiguously at an index, and no step uses another element
/// of the array.
pub(super) fn in_row(region: &Region, inner_loop: &InnerLoop, a: Var, index: Atom) -> bool {
    at_one_index(region, inner_loop, a, index).is_some_and(|x| inner_loop.is_near(x))
}

/// Returns the write to an array at an index, if the array is used at no other index.
fn at_one_index<'r>(
    region: &Region,
    inner_loop: &'r InnerLoop,
    a: Var,
    index: Atom,
) -> Option<&'r Access> {
    let array = region.owner(a);
    let here = || inner_loop.accesses.iter().filter(|x| x.array == array);
    let write = here().find(|x| !x.is_read)?;
    here().all(|x| x.index == index).then_some(write)
}

/// Tells whether an access is at the counter and in bounds.
pub(super) fn in_step(region: &Region, inner_loop: &InnerLoop, a: Var, index: Atom) -> bool {
    let proven = |v| inner_loop.proven.contains(&(region.owner(a), v));
    index
        .var()
        .is_some_and(|v| v == inner_loop.counter && proven(v))
}

/// Tells whether an access is at a count of a subrate, or of the rate itself, and in bounds.
pub(super) fn at_count(
    region: &Region,
    inner_loop: &InnerLoop,
    (a, index): (Var, Atom),
    sub: Option<usize>,
) -> bool {
    let proven = |v| inner_loop.proven.contains(&(region.owner(a), v));
    index
        .var()
        .is_some_and(|v| inner_loop.roles.get(&v) == Some(&Role::Count { sub }) && proven(v))
}

/// Tells whether a store at a count may also store rejected elements.
pub(super) fn packs(
    region: &Region,
    inner_loop: &InnerLoop,
    (a, index): (Var, Atom),
    sub: Option<usize>,
) -> bool {
    let proven = |place| inner_loop.proven.contains(&place) || inner_loop.scarce.contains(&place);
    let fits = |v| {
        inner_loop.roles.get(&v) == Some(&Role::Count { sub })
            && proven((region.owner(a), v))
            && region.facts.is_cut_to(a, v)
    };
    index.var().is_some_and(fits)
}
