//! Results: writes requested arrays to memory, and returns arrays and delayed scalars.
//!
//! An array is allocated, written where an element exists, and cut to its length.
//!
//! ```text
//! init_2:   let out_2 = newArray i64 len_0      done_2:  let res_2 = sliceArray out_2 ix_2
//! yield_2:  writeArray out_2 ix_2 elt_1                  return res_2
//! ```

use super::Lower;
use super::emission::Emission;
use super::placement::{Placer, Point};
use crate::sharing::FieldRef;
use loop_lang::ir::{Section, StmtKind};

/// Places the requested arrays of this loop.
///
/// Arrays made by a scatter are in memory already.
pub fn place(p: &mut Placer<'_>) -> Lower {
    let plan = p.scope.plan;
    for field in &plan.loops[p.scope.at].arrays {
        if p.scope.is_scattered(field.0) {
            continue;
        }
        for phase in 0..p.phases() {
            let runs_here = plan.loops[p.scope.at].phases[phase]
                .nodes
                .binary_search(&field.0)
                .is_ok();
            p.go_to_phase(phase);
            let class = plan.rates.output(field.0);
            let once = !class.is_some_and(|c| p.scope.is_appended(c));
            let is_kept = !p.placed.kept(*field).is_empty();
            if runs_here && !(once && is_kept) {
                p.keep(*field)?;
            }
        }
    }
    p.make_all()
}

/// Emits the requested results of this loop.
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
    let placed = e.placed;
    let is_counted = |s: &&Point| placed.tree.rate(s.rate).opening.is_counted();
    let Some(point) = placed.kept(field).iter().find(is_counted).copied() else {
        e.result(field, out.into());
        return Ok(());
    };
    let comb = e.comb(field.0);
    let class = e.scope.plan.rates.output(field.0);
    let (count, ty) = (e.total(comb, class, point.rate), e.program.ty(out));
    let res = e.var("res", comb, ty);
    let cut = StmtKind::SliceArray(res, out, count);
    e.push(comb, Section::Done, cut);
    e.result(field, res.into());
    Ok(())
}
