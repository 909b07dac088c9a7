//! Arrays in memory: read in step, one element per iteration of the root rate.
//!
//! ```text
//! init_0:  let len_0 = arrayLength arr_0        body_0:  let elt_0 = readArray arr_0 ix_0
//! ```

use super::Source;
use super::anatomy::{Anatomy, Lower};
use crate::error::ErrorKind;
use crate::sharing::FieldRef;
use loop_lang::ir::*;

/// Opens the root rate over an array in memory.
pub fn open(a: &mut Anatomy<'_>, field: FieldRef) {
    let comb = a.comb(field.0);
    let bound = len(a, field);
    a.open_root(comb, bound);
}

/// The length of an array in memory.
pub fn len(a: &mut Anatomy<'_>, field: FieldRef) -> Atom {
    let comb = a.comb(field.0);
    let array = stream(a, field);
    a.array_len(array, comb)
}

/// The array as a stream of the root rate (which the next rate is, if none is open).
fn stream(a: &mut Anatomy<'_>, field: FieldRef) -> Var {
    let comb = a.comb(field.0);
    let ty = a.graph.node(field.0).types[field.1 as usize];
    let root = a.root().unwrap_or(RateId::new(a.program.rates.len()));
    a.param(
        Source::Array(field),
        "arr",
        comb,
        Type::Array(ty),
        ParamKind::Stream(root),
    )
}

/// Reads the current element.
pub fn read(a: &mut Anatomy<'_>, field: FieldRef) -> Lower<Atom> {
    if a.root().is_none() {
        open(a, field);
    }
    let comb = a.comb(field.0);
    let (Some(root), Some((counter, _))) = (a.root(), a.root_counter()) else {
        return Err(ErrorKind::Malformed {
            expected: "a root rate".into(),
            got: "none".into(),
        });
    };
    a.join(comb, root);
    let array = stream(a, field);
    let ty = a.program.ty(array).elem();
    let elt = a.scalar("elt", comb, ty);
    a.push(
        comb,
        Section::Body,
        StmtKind::ReadArray(elt, array, counter.into()),
    );
    a.set_elt(field, elt.into());
    Ok(elt.into())
}
