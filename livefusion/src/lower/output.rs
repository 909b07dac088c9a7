//! Results: arrays that are wanted in memory are allocated, written where an element exists, cut to
//! their length, and returned; delayed scalars are returned.
//!
//! ```text
//! init_2:   let out_2 = newArray i64 len_0      done_2:  let res_2 = sliceArray out_2 ix_2
//! yield_2:  writeArray out_2 ix_2 elt_1                  return res_2
//! ```

use super::anatomy::{Anatomy, Lower};
use crate::sharing::FieldRef;
use loop_lang::ir::{Section, StmtKind};

/// Adds everything that the plan wants of this loop.
pub fn lower(a: &mut Anatomy<'_>) -> Lower {
    let planned = &a.plan.loops[a.at];
    for field in &planned.arrays {
        array(a, *field)?;
    }
    for field in &planned.scalars {
        let comb = a.comb(field.0);
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
    let (out, rate) = a.write(field)?;
    if a.program.rate(rate).kind.is_sub() {
        let comb = a.comb(field.0);
        let (index, ty) = (a.index(rate), a.program.ty(out));
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
