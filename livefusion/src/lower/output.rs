//! Results: arrays that are wanted in memory are allocated, written where an element exists, cut to
//! their length, and returned; delayed scalars are returned.
//!
//! ```text
//! init_2:   let out_2 = newArray i64 len_0      done_2:  let res_2 = sliceArray out_2 ix_2
//! yield_2:  writeArray out_2 ix_2 elt_1                  return res_2
//! ```

use super::anatomy::{Anatomy, Lower};
use crate::error::ErrorKind;
use crate::sharing::FieldRef;
use loop_lang::ir::{Section, StmtKind, Type};

/// Adds everything that the plan wants of this loop.
pub fn lower(a: &mut Anatomy<'_>) -> Lower {
    let planned = &a.plan.loops[a.at];
    for field in &planned.arrays {
        array(a, *field)?;
    }
    for field in &planned.scalars {
        let comb = a.comb(field.0);
        a.join_done(comb);
        let value = a.delayed(*field, comb);
        a.result(*field, value);
    }
    Ok(())
}

fn array(a: &mut Anatomy<'_>, field: FieldRef) -> Lower {
    if let Some(out) = a.scattered.get(&field) {
        let out = *out;
        a.result(field, out.into());
        return Ok(());
    }
    let missing = || ErrorKind::Malformed {
        expected: "an open rate".into(),
        got: "none".into(),
    };
    let elt = a.elt(field)?;
    let comb = a.comb(field.0);
    let class = a.plan.rates.output(field.0).ok_or_else(missing)?;
    let rate = a.rate(class).or(a.root()).ok_or_else(missing)?;
    let (_, bound) = a.root_counter().ok_or_else(missing)?;
    let index = a.index(rate);
    let ty = Type::Array(a.program.atom_ty(elt));
    let out = a.var("out", comb, ty);
    a.push(comb, Section::Init, StmtKind::NewArray(out, bound));
    a.push(
        comb,
        Section::Yield,
        StmtKind::WriteArray(out, index.into(), elt),
    );
    if a.program.rate(rate).kind.is_sub() {
        let res = a.var("res", comb, ty);
        a.push(
            comb,
            Section::Done,
            StmtKind::SliceArray(res, out, index.into()),
        );
        a.result(field, res.into());
    } else {
        a.result(field, out.into());
    }
    Ok(())
}
