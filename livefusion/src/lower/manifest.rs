//! Arrays in memory: read in step, one element per iteration of their rate.
//!
//! ```text
//! init_0:  let len_0 = arrayLength arr_0        body_0:  let elt_0 = readArray arr_0 ix_0
//! ```

use super::Source;
use super::anatomy::{Anatomy, Column, Lower, Spot};
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
    let rate = a.inside().or(a.root());
    let rate = rate.unwrap_or(RateId::new(a.program.rates.len()));
    let array = array(a, field, ParamKind::Stream(rate));
    a.array_len(array, comb)
}

fn array(a: &mut Anatomy<'_>, field: FieldRef, kind: ParamKind) -> Var {
    let comb = a.comb(field.0);
    let ty = a.graph.node(field.0).types[field.1 as usize];
    a.param(Source::Array(field), "arr", comb, Type::Array(ty), kind)
}

/// Reads the current element of a column at a rate's counter, or at a subrate's count.
pub fn read(a: &mut Anatomy<'_>, column: Column, rate: RateId) -> Lower<Atom> {
    let spot = Spot { rate, position: 0 };
    a.comb_at(column.field.0, spot);
    let kind = if a.program.rate(rate).kind.is_sub() {
        ParamKind::Random
    } else {
        ParamKind::Stream(rate)
    };
    let array = array(a, column.field, kind);
    if column.beside.is_none() {
        a.runs_over(column.field.0, rate);
    }
    Ok(a.read_here(column, array, spot, "elt"))
}
