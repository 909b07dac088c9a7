//! `filter` and `pack`: a subrate whose guard admits elements.
//!
//! Consumers of a rejected element are neither run nor trap.
//!
//! ```text
//! guard_2:  let p_2 = gt elt_1 k_2
//!           unless p_2 | bottom_2
//! ```
//!
//! The subrate is opened for its first combinator. A combinator that also needs a later stage of
//! the rate around gets an instance of its own, with the same test. So do combinators with a
//! liveness guard: their instance may be left before the elements end, and does not define their
//! end.

use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{DECISION, Opening, Placer, Point, no_root};
use super::scope::{InputColumn, LoopScope};
use super::{Lower, lengths, take_while};
use crate::ast::{Body, Kind};
use crate::fusion::rates::Selector;
use crate::fusion::{ClassId, ClassKind};
use crate::sharing::NodeId;
use loop_lang::ir::{RateId, Section};

/// Places a filter (by a predicate) or a pack (by tags).
///
/// Packs of one tag array share their subrate. Only length checks are placed, because the elements
/// are the input's.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let all = 0..p.scope.inputs(id).len();
    let point = p.point_of(id, all.clone())?;
    lengths::check_together(p, id, all, point);
    Ok(())
}

/// Opens an instance of a subrate.
///
/// It comes after all operands of its test and after `needs`.
pub fn open(
    p: &mut Placer<'_>,
    user: NodeId,
    class: ClassId,
    (parent, by): (ClassId, Selector),
    needs: &[Point],
) -> Lower<Point> {
    let node = by.combinator().unwrap_or(user);
    let is_apart = matches!(by, Selector::While(_)) && p.is_apart_from(node);
    if is_apart {
        let inside = p.go_inside(p.context_of(node));
        p.point(user, class, &[])?;
        p.go_inside(inside);
    }
    let tested = tested(&p.scope, parent, by);
    let mut all = p.needs(&tested);
    all.extend_from_slice(needs);
    let mut point = p.point_for_child(user, parent, &all)?;
    if p.is_decided(class, point.rate) {
        return Ok(p.open_within(node, point, class, Opening::Decided));
    }
    let ends = matches!(by, Selector::While(_)) && test(&p.scope, node).is_some();
    if ends && p.is_in_cursor(point.rate) {
        point = take_while::place_test(p, point.rate);
    }
    p.elts(&tested, point)?;
    p.set_decided(class, point);
    let first = p.open_within(node, point, class, Opening::Test(tested));
    if !is_apart {
        p.set_tells(first.rate);
    }
    if ends && !p.is_in_cursor(point.rate) {
        take_while::place_end(p, first.rate);
    }
    Ok(first)
}

/// The operands of a subrate's test.
fn tested(scope: &LoopScope<'_>, parent: ClassId, by: Selector) -> Vec<InputColumn> {
    match by {
        Selector::Tags(field) => {
            let unfused_at = (scope.plan.rates.output(field.0) != Some(parent)).then_some(parent);
            vec![InputColumn {
                unfused_at,
                ..field.into()
            }]
        }
        Selector::Filter(id) | Selector::While(id) => {
            let test = test(scope, id);
            test.map_or(vec![], |t| body::used_columns(t, &scope.all_columns(id)))
        }
        Selector::Custom(id) => vec![(id, DECISION).into()],
        Selector::Zip(_) => vec![],
    }
}

fn test<'g>(scope: &LoopScope<'g>, id: NodeId) -> Option<&'g Body> {
    match &scope.graph.node(id).kind {
        Kind::Filter(test) | Kind::TakeWhile { test, .. } => Some(test),
        _ => None,
    }
}

/// Emits the opening of a subrate.
pub fn emit_open(e: &mut Emission<'_>, id: NodeId, rate: RateId) -> Lower {
    let placed = e.placed.tree.rate(rate);
    let (Some(class), Some(at)) = (placed.class, e.placed.tree.child_point(rate)) else {
        return Ok(());
    };
    let tests = take_while::stage_of_test(e, id, rate);
    let tests = tests.map(|stage| e.comb_at(id, stage));
    let comb = e.unhomed_comb(id);
    if let Opening::While(_) = placed.opening {
        // Its test is added when the ends of all elements are known.
        e.open_sub(comb, at.rate);
        return Ok(());
    }
    let ClassKind::Sub(_, by) = e.scope.plan.rates.kind(class) else {
        return Ok(());
    };
    let known = e.decision(class, at.rate);
    let Opening::Test(columns) = &placed.opening else {
        e.open_sub(comb, at.rate);
        e.exit(comb, known.ok_or_else(no_root)?);
        return Ok(());
    };
    let test = match (by, test(&e.scope, id)) {
        (Selector::While(_), None) => {
            e.open_sub(comb, at.rate);
            take_while::emit_take(e, id, comb, rate)?
        }
        (Selector::Filter(_) | Selector::While(_), Some(test)) => {
            let all = e.scope.all_columns(id);
            let inline = match tests {
                Some(tests) => Inline::new(id, 0, tests, Section::Body),
                None => Inline::new(id, 0, comb, Section::Guard),
            };
            let args = body::used_args(e, &inline, test, &all, at)?;
            e.open_sub(comb, at.rate);
            match by {
                Selector::While(_) => take_while::emit_open(e, id, rate, (&inline, test, &args))?,
                _ => body::inline(e, &inline, test, &args, "p")?[0],
            }
        }
        _ => {
            let tag = e.elt(*columns.first().ok_or_else(no_root)?, at)?;
            e.open_sub(comb, at.rate);
            tag
        }
    };
    e.exit(comb, test);
    e.values.tests.insert((class, at.rate), test);
    Ok(())
}
