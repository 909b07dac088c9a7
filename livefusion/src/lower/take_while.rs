//! `take_while` and `take`: a subrate that admits elements until its test fails.
//!
//! The test of `take` compares its count. If no other combinator continues, the rate around is
//! left. Otherwise, dependents of the subrate run under a liveness guard while its elements
//! continue. A guarded instance of the subrate may repeat the test, but its exits depend only on
//! the guard. The combinator itself defines the end of the elements, as long as it has consumers.
//!
//! ```text
//! init_2:   carry live_2 = true                 guard_0:  unless more_0 | done_0
//! guard_2:  let go_2 = gt elt_1 k_2                       unless live_2 | done_0
//!           unless go_2 | bottom_2              bottom_0: live_2 := go_2
//! ```

use super::Lower;
use super::body::{self, Inline};
use super::emission::{Emission, End};
use super::placement::{Opening, Placer, Point, no_root};
use crate::ast::{Body, Kind};
use crate::fusion::{ClassKind, Selector};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Places the update of the flag that elements continue.
///
/// It comes after the subrate's iteration.
pub fn place_end(p: &mut Placer<'_>, rate: RateId) {
    if let Some(child) = p.placed.tree.child_point(rate) {
        p.placed.tree.stage(child.rate, child.position + 1);
    }
}

/// Places the test of a subrate in a cursor.
///
/// It comes before the subrate's iteration, because a delivered element leaves the cursor. Returns
/// the program point of the subrate.
pub fn place_test(p: &mut Placer<'_>, around: RateId) -> Point {
    p.placed.tree.behind_all(around);
    p.placed.tree.end(around)
}

/// Returns the stage in which a cursor tests a `take_while`.
///
/// `None` unless the rate is a subrate with this test in a cursor.
pub fn stage_of_test(e: &Emission<'_>, id: NodeId, rate: RateId) -> Option<Point> {
    let at = e.placed.tree.child_point(rate)?;
    let placed = e.placed.tree.rate(rate);
    let by = placed.class.map(|c| e.scope.plan.rates.kind(c));
    let is_its = matches!(by, Some(ClassKind::Sub(_, Selector::While(by))) if by == id);
    let has_test = matches!(e.scope.graph.node(id).kind, Kind::TakeWhile { .. });
    let tests = is_its && has_test && matches!(placed.opening, Opening::Test(_));
    let position = at.position.checked_sub(1);
    let position = position.filter(|_| tests && e.is_in_cursor(at.rate))?;
    Some(Point { position, ..at })
}

/// Emits the test of a subrate's guard, and returns its condition.
///
/// The test runs only while the elements continue. After the end, the rates around are left or
/// skipped.
pub fn emit_open(
    e: &mut Emission<'_>,
    id: NodeId,
    rate: RateId,
    (inline, test, args): (&Inline, &Body, &[Atom]),
) -> Lower<Atom> {
    let inclusive = matches!(
        e.scope.graph.node(id).kind,
        Kind::TakeWhile {
            inclusive: true,
            ..
        }
    );
    let comb = inline.comb;
    let yes: Atom = Const::bool(true).into();
    let live = e.carry("live", comb, Ty::Bool, yes);
    let go = body::inline(e, inline, test, args, "go")?[0];
    let step = match inline.section {
        Section::Body => {
            let around = e.placed.tree.parent(rate).ok_or_else(no_root)?;
            e.update(comb, around, live, go);
            around
        }
        _ => e.update_behind(id, rate, live, go),
    };
    let owner = e.owner();
    e.exact_group(live, (owner, step), (Op::And, Const::bool(true)), go);
    if e.placed.tells(rate) {
        e.values.ends.insert(id, End::Live(live));
    }
    Ok(if inclusive { live.into() } else { go })
}

/// Emits the test of a `take`'s subrate.
///
/// It holds while the count is below the limit.
pub fn emit_take(e: &mut Emission<'_>, id: NodeId, comb: CombId, rate: RateId) -> Lower<Atom> {
    let Kind::Take(body) = &e.scope.graph.node(id).kind else {
        return Err(no_root());
    };
    let inline = Inline::new(id, 0, comb, Section::Init);
    let n = match e.values.ends.get(&id) {
        Some(End::Fewer(_, n)) => *n,
        _ => body::inline(e, &inline, body, &[], "n")?[0],
    };
    let class = e.scope.plan.rates.output(id);
    let count = e.count_of(class, rate);
    if e.placed.tells(rate) {
        e.values.ends.insert(id, End::Fewer(count, n));
    }
    let few = e.emit(comb, Section::Guard, "few", Op::Lt, &[count, n]);
    Ok(few.into())
}

/// Emits the exit of a rate's guard.
///
/// It is taken when all of the rate's exit groups have ended.
pub fn emit_leave(e: &mut Emission<'_>, rate: RateId) {
    let comb = e.values.openers[rate.index()];
    let ends = e.placed.ends(rate).unwrap_or_default();
    if let Some(goes_on) = goes_on(e, comb, Section::Guard, ends) {
        e.exit(comb, goes_on);
    }
    // A segment that starts after this exit may be empty: its fold has no consumer.
    for (fold, seen) in e.values.nonempty.remove(&rate).unwrap_or_default() {
        let goes_on = goes_on(e, fold, Section::Nest, ends).unwrap_or(Const::bool(true).into());
        let left = e.emit(fold, Section::Nest, "left", Op::Not, &[goes_on]);
        e.trap_after(fold, TrapKind::Empty, &[seen, left]);
    }
}

/// Whether, in one of these groups, the elements of all nodes continue.
fn goes_on(
    e: &mut Emission<'_>,
    comb: CombId,
    section: Section,
    ends: &[Vec<NodeId>],
) -> Option<Atom> {
    let mut any: Option<Atom> = None;
    for group in ends {
        let mut all: Option<Atom> = None;
        for id in group {
            let goes_on = match e.values.ends.get(id).copied()? {
                End::Live(live) => live.into(),
                End::Fewer(count, n) => {
                    let args = [count, n];
                    e.emit(comb, section, "few", Op::Lt, &args).into()
                }
            };
            all = Some(match all {
                Some(all) => e
                    .emit(comb, section, "all", Op::And, &[all, goes_on])
                    .into(),
                None => goes_on,
            });
        }
        let all = all?;
        any = Some(match any {
            Some(any) => e.emit(comb, section, "any", Op::Or, &[any, all]).into(),
            None => all,
        });
    }
    any
}

/// Returns a condition that also holds after an early exit.
///
/// `holds` need not hold if the rate, or a rate around it, was left before it had all its elements.
/// An exit by a combinator whose elements contain the rate's does not count: the rate then had all
/// elements. A live cursor was not asked for the rest of its elements.
pub fn or_left(e: &mut Emission<'_>, comb: CombId, rate: RateId, holds: Atom) -> Atom {
    let (placed, mut holds) = (e.placed, holds);
    let rates = &e.scope.plan.rates;
    let ended = |id: &NodeId| rates.output(*id);
    let is_around = |id: &NodeId| ended(id).is_some_and(|c| placed.tree.around(rate, c).is_some());
    for around in std::iter::successors(Some(rate), |r| placed.tree.parent(*r)) {
        if let Some(live) = e.values.live.get(&around).copied() {
            let either = [holds, live.into()];
            holds = e.emit(comb, Section::Done, "ok", Op::Or, &either).into();
        }
        let ends = placed.ends(around).unwrap_or_default().iter();
        let others = ends.map(|group| group.iter().copied().filter(|id| !is_around(id)).collect());
        let others: Vec<Vec<NodeId>> = others.collect();
        if others.iter().any(|group| group.is_empty()) {
            continue;
        }
        if let Some(goes_on) = goes_on(e, comb, Section::Done, &others) {
            let left = e.emit(comb, Section::Done, "left", Op::Not, &[goes_on]);
            let either = [holds, left.into()];
            holds = e.emit(comb, Section::Done, "ok", Op::Or, &either).into();
        }
    }
    holds
}
