//! Results: arrays that are wanted in memory are allocated, written where an element exists, cut to
//! their length, and returned; delayed scalars are returned.
//!
//! ```text
//! init_2:   let out_2 = newArray i64 len_0      done_2:  let res_2 = sliceArray out_2 ix_2
//! yield_2:  writeArray out_2 ix_2 elt_1                  return res_2
//! ```

use super::Lower;
use super::emission::Emission;
use super::placement::Placer;
use crate::sharing::FieldRef;
use loop_lang::ir::{Section, StmtKind};

/// Places the arrays that the plan wants of this loop; those that a scatter makes are in memory anyway.
pub fn place(p: &mut Placer<'_>) -> Lower {
    let plan = p.scope.plan;
    for field in &plan.loops[p.scope.at].arrays {
        if !p.scope.is_scattered(field.0) {
            p.keep(*field)?;
        }
    }
    Ok(())
}

/// Emits everything that the plan wants of this loop.
pub fn emit(e: &mut Emission<'_>) -> Lower {
    let plan = e.scope.plan;
    let planned = &plan.loops[e.scope.at];
    for field in &planned.arrays {
        array(e, *field)?;
    }
    for field in &planned.scalars {
        let comb = e.comb(field.0);
        let value = e.delayed(*field, comb);
        e.result(*field, value);
    }
    Ok(())
}

fn array(e: &mut Emission<'_>, field: FieldRef) -> Lower {
    let out = e.made(field)?;
    let spot = e.placed.kept(field);
    let is_sub = |r| e.program.rate(r).kind.is_sub();
    let Some(rate) = spot.map(|s| s.rate).filter(|r| is_sub(*r)) else {
        e.result(field, out.into());
        return Ok(());
    };
    let comb = e.comb(field.0);
    let (index, ty) = (e.index(rate), e.program.ty(out));
    let res = e.var("res", comb, ty);
    let cut = StmtKind::SliceArray(res, out, index.into());
    e.push(comb, Section::Done, cut);
    e.result(field, res.into());
    Ok(())
}
