//! `append` of computed inputs: runs over the parts in order.
//!
//! Each part is a phase of the loop. In each phase, the append's elements are the elements of the
//! part. Consumers in step are placed and emitted once for each phase, and keep their loop-carried
//! values across phases.
//!
//! ```text
//! done_0:  goto guard_2                              (the first part has ended: on to the second)
//! body_1:  let new_5 = add acc_5 elt_0               body_3:  let then_5 = add acc_5 elt_2
//! yield_1: writeArray out_4 n_4 elt_0                yield_3: writeArray out_4 n_4 elt_2
//!          n_4 := nn_4, acc_5 := new_5                        n_4 := mm_4, acc_5 := then_5
//! ```
//!
//! An append on a side of a zip is a cursor. Each part is a cursor inside of it. A subrate around
//! the part tests whether it is the current one:
//!
//! ```text
//! guard_2: unless live_0 | bottom_2                  guard_3: let over_3 = not live_0
//!                                                             unless over_3 | bottom_3
//! done_0:  live_0 := false, goto bottom_2            done_1:  goto done_2    (the last part has ended, and so do all)
//! body_2:  let elt_2 = select live_0 val_0 val_1
//! ```

use super::Lower;
use super::emission::Emission;
use super::placement::{Context, Opening, PlacedRate, Placer, Point, Tree, Zipped, no_root};
use crate::sharing::NodeId;
use loop_lang::ir::{RateId, Section};
use loop_lang::op::Op;
use smallvec::SmallVec;

/// Places an append in a phase.
///
/// The phase runs over the part, or over the part's source.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    if p.scope.plan.rates.sides(id).is_some() {
        return place_on_demand(p, id);
    }
    let class = p.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let part = p.scope.phase.and_then(|phase| phase.part(class));
    let (part, _) = part.ok_or_else(no_root)?;
    let input = p.scope.inputs(id)[part];
    p.enter(id, &[input])?;
    let columns = p.scope.columns(id, part..part + 1);
    let needs = p.needs(&columns);
    p.point(id, class, &needs)?;
    Ok(())
}

/// Opens the subrate of a part in the cursor over an append.
///
/// It runs while the part is the current one.
pub fn open_part(p: &mut Placer<'_>, id: NodeId, part: usize, elements: RateId) -> RateId {
    p.open(PlacedRate {
        class: None,
        appends: SmallVec::new(),
        parent: Some(elements),
        node: id,
        opening: Opening::Part(part),
        parts: Vec::new(),
    })
}

/// Places an append on a side of a zip, after all parts. One part has delivered an element.
fn place_on_demand(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let plan = p.scope.plan;
    let zipped = p.placed.zipped(id).cloned().ok_or_else(no_root)?;
    let parts = plan.rates.sides(id).unwrap_or_default();
    let demanded = p.scope.demanded(id);
    for (k, (part, cursors)) in parts.iter().zip(&zipped.sides).enumerate() {
        let outside = p.go_inside(Some(Context::Cursor(cursors[0])));
        p.point(p.scope.inputs(id)[k], plan.rates.now(part.class), &[])?;
        p.go_inside(outside);
        let behind = behind(&p.placed.tree, &zipped, k).ok_or_else(no_root)?;
        for f in (0..demanded.len()).filter(|f| demanded[*f]) {
            p.elt(p.scope.column(id, k, f as u32), behind)?;
        }
    }
    let point = p.placed.tree.behind_all(zipped.attempts);
    p.run(id, point);
    let made = (0..demanded.len()).filter(|f| demanded[*f]);
    made.for_each(|f| p.know((id, f as u32).into(), point));
    Ok(())
}

/// The program point after the cursor over a part, in the part's subrate.
fn behind(tree: &Tree, zipped: &Zipped, part: usize) -> Option<Point> {
    let cursor = zipped.sides.get(part)?.first()?;
    Some(tree.end(tree.parent(*cursor)?))
}

/// Emits the opening of a part's subrate.
pub fn emit_part(e: &mut Emission<'_>, id: NodeId, rate: RateId) {
    if let Some(elements) = e.placed.tree.parent(rate) {
        let comb = e.unhomed_comb(id);
        e.open_sub(comb, elements);
    }
}

/// Emits the choice of the current part, and the element that it delivered.
pub fn emit(e: &mut Emission<'_>, id: NodeId, point: Point) -> Lower {
    let zipped = e.placed.zipped(id).ok_or_else(no_root)?;
    let mut parts = Vec::new();
    for (k, cursors) in zipped.sides.iter().enumerate() {
        let behind = behind(&e.placed.tree, zipped, k).ok_or_else(no_root)?;
        let live = cursors.first().and_then(|c| e.values.live.get(c).copied());
        parts.push((behind, live.ok_or_else(no_root)?));
    }
    for (k, (behind, live)) in parts.iter().enumerate() {
        let comb = e.values.openers[behind.rate.index()];
        if let Some(before) = k.checked_sub(1) {
            let live = parts[before].1.into();
            let over = e.emit(comb, Section::Guard, "over", Op::Not, &[live]);
            e.exit(comb, over.into());
        }
        // The end of the last part is the end of all.
        if k + 1 < parts.len() {
            e.exit(comb, (*live).into());
        }
    }
    let comb = e.comb_at(id, point);
    let demanded = e.scope.demanded(id);
    for f in (0..demanded.len()).filter(|f| demanded[*f]) {
        let mut elt = None;
        for (k, (behind, live)) in parts.iter().enumerate().rev() {
            let own = e.elt(e.scope.column(id, k, f as u32), *behind)?;
            elt = Some(match elt {
                Some(later) => {
                    let args = [(*live).into(), own, later];
                    e.emit(comb, Section::Body, "elt", Op::Select, &args).into()
                }
                None => own,
            });
        }
        let elt = elt.ok_or_else(no_root)?;
        e.values.set_column((id, f as u32).into(), point, elt);
    }
    Ok(())
}
