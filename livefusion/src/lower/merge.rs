//! `merge`, `interleave` and `combine` of computed inputs.
//!
//! In each attempt, a step chooses the inputs to take from, and computes an element. An input that
//! is computed in the loop is a [cursor](super::cursor): it advances after its element was taken.
//! An input that is in memory, or is a function of the index, is read at a position.
//!
//! ```text
//! guard_2: unless need_2 | bottom_2             (around the cursor of an input)
//! body_6:  let live_6 = lt at_6 len_3           (an input in memory)
//!          let elt_3 = readArray arr_3 at_6
//!          ...                                  (the step)
//!          need_2 := take_2, at_6 := next_6
//!          unless any_6 | done_6
//! ```

use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Act, LengthSource, Opening, PlacedRate, Placer, Point, Sided, no_root};
use super::reads::{self, KnownElements};
use super::scope::{InputColumn, LoopScope};
use super::{Lower, cursor};
use crate::ast::{Body, Kind, MERGE_CHECK};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use smallvec::SmallVec;

/// Opens the subrate around the cursor of a merge's side.
pub fn open_needed(p: &mut Placer<'_>, (zip, side): (NodeId, usize), attempts: RateId) -> RateId {
    let sided = Sided {
        zip,
        side,
        level: 0,
    };
    p.open(PlacedRate {
        class: None,
        appends: SmallVec::new(),
        parent: Some(attempts),
        node: zip,
        opening: Opening::Needed(sided),
        parts: Vec::new(),
    })
}

/// Places a merge after all its sides.
///
/// It has an element where a step has taken one.
pub fn place(p: &mut Placer<'_>, id: NodeId) -> Lower {
    let Kind::Merge(body) = &p.scope.graph.node(id).kind else {
        return Ok(());
    };
    let class = p.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let point = cursor::place_sides(p, id)?;
    let zipped = p.placed.zipped(id).cloned().ok_or_else(no_root)?;
    for (column, input) in used_columns(&p.scope, id, body).into_iter().flatten() {
        if let Some(side) = side_of(&p.scope, id, input) {
            p.deliver_to(column, zipped.sides[side][0], point)?;
        }
    }
    let lens = cursor::lengths_in_memory(p, id);
    p.act(id, Act::Align(point, lens));
    p.know_all(id, point);
    p.set_decided(class, point);
    p.point(id, class, &[])?;
    Ok(())
}

/// The side that delivers an input, if any.
fn side_of(scope: &LoopScope<'_>, id: NodeId, input: usize) -> Option<usize> {
    let mut sides = scope.plan.rates.sides(id)?.iter();
    sides.position(|s| s.inputs.contains(&input))
}

/// A mask of the demanded results of the body. The choices of inputs and the length check are
/// always demanded.
fn wanted(scope: &LoopScope<'_>, id: NodeId) -> Vec<bool> {
    let always = scope.inputs(id).len() + MERGE_CHECK;
    let mut wanted = vec![true; always];
    wanted.extend(scope.demanded(id));
    wanted
}

/// For each parameter of the body: its column and input, if the parameter is used and is a column.
fn used_columns(
    scope: &LoopScope<'_>,
    id: NodeId,
    body: &Body,
) -> Vec<Option<(InputColumn, usize)>> {
    let inputs = 0..scope.inputs(id).len();
    let of_input = |k: usize| scope.columns(id, k..k + 1).into_iter().map(move |c| (c, k));
    let columns: Vec<(InputColumn, usize)> = inputs.flat_map(of_input).collect();
    let used = body::used_params(body, Some(&wanted(scope, id)));
    let is_used = |k: usize| used.contains(&k);
    let columns = columns.into_iter().enumerate();
    columns.map(|(k, c)| is_used(k).then_some(c)).collect()
}

/// Emits the test whether a side is asked for its next element.
pub fn emit_needed(e: &mut Emission<'_>, merge: NodeId, rate: RateId) {
    let Some(attempts) = e.placed.tree.parent(rate) else {
        return;
    };
    let comb = e.unhomed_comb(merge);
    e.open_sub(comb, attempts);
    let need = e.scalar("need", comb, Ty::Bool);
    let yes = Const::bool(true).into();
    e.push(comb, Section::Init, StmtKind::Carry(need, yes));
    e.exit(comb, need.into());
    e.values.needed.insert(rate, need);
}

/// An input of a merge, in an attempt.
struct MergeInput {
    /// Whether it has an element.
    live: Atom,
    /// Its state: a flag that asks for the next element, or a position.
    goes_on: Var,
}

/// Emits a merge's step, and the updates of its inputs.
pub fn emit(
    e: &mut Emission<'_>,
    id: NodeId,
    body: &Body,
    (point, lens): (Point, &[(usize, LengthSource)]),
) -> Lower {
    let class = e.scope.plan.rates.output(id).ok_or_else(no_root)?;
    let comb = e.comb_at(id, point);
    let mut args: Vec<Atom> = body.params.iter().map(|t| Const::zero(*t).into()).collect();
    let columns = used_columns(&e.scope, id, body);
    let mut inputs = Vec::new();
    for k in 0..e.scope.inputs(id).len() {
        let own =
            |c: &Option<(InputColumn, usize)>| c.filter(|(_, input)| *input == k).map(|c| c.0);
        let own: Vec<(usize, InputColumn)> = columns
            .iter()
            .enumerate()
            .filter_map(|(at, c)| Some((at, own(c)?)))
            .collect();
        let input = match lens.iter().find(|(input, _)| *input == k) {
            Some((_, len)) => at_position(e, comb, (*len, &own), &mut args)?,
            None => on_side(e, (id, k), (point, &own), &mut args)?,
        };
        args[columns.len() + k] = input.live;
        inputs.push(input);
    }
    args[columns.len() + inputs.len()] = e.index(point.rate).into();
    let inline = Inline {
        wanted: Some(wanted(&e.scope, id)),
        ..Inline::new(id, 0, comb, Section::Body)
    };
    let values = body::inline(e, &inline, body, &args, "elt")?;
    let mut any: Option<Atom> = None;
    for (input, take) in inputs.iter().zip(&values) {
        let both = [*take, input.live];
        let take: Atom = e.emit(comb, Section::Body, "take", Op::And, &both).into();
        go_on(e, comb, point.rate, (input.goes_on, take))?;
        any = Some(match any {
            Some(any) => {
                let either = [any, take];
                e.emit(comb, Section::Body, "any", Op::Or, &either).into()
            }
            None => take,
        });
    }
    let mut any = any.ok_or_else(no_root)?;
    let [fits, got, expected] = [0, 1, 2].map(|k| values[inputs.len() + k]);
    if fits != Const::bool(true).into() {
        let payload = [got, expected];
        e.trap(
            comb,
            Section::Body,
            TrapKind::LengthMismatch,
            fits,
            &payload,
        );
        // The sizing loop does not trap, and must end all the same.
        let both = [any, fits];
        any = e.emit(comb, Section::Body, "all", Op::And, &both).into();
    }
    e.leave_unless(comb, any);
    let all = Const::bool(true).into();
    e.values.tests.insert((class, point.rate), all);
    let element = values[inputs.len() + MERGE_CHECK..].iter().copied();
    e.values.set_elts(id, point, element);
    Ok(())
}

/// An input that a side delivers.
fn on_side(
    e: &mut Emission<'_>,
    (id, input): (NodeId, usize),
    (point, columns): (Point, &[(usize, InputColumn)]),
    args: &mut [Atom],
) -> Lower<MergeInput> {
    let zipped = e.placed.zipped(id).ok_or_else(no_root)?;
    let side = side_of(&e.scope, id, input).ok_or_else(no_root)?;
    let cursor = *zipped.sides[side].first().ok_or_else(no_root)?;
    let subrate = e.placed.tree.parent(cursor);
    let live = e.values.live.get(&cursor).copied().ok_or_else(no_root)?;
    let need = subrate.and_then(|r| e.values.needed.get(&r).copied());
    for (at, column) in columns {
        args[*at] = e.elt(*column, point)?;
    }
    Ok(MergeInput {
        live: live.into(),
        goes_on: need.ok_or_else(no_root)?,
    })
}

/// An input that is in memory, or is a function of the index.
fn at_position(
    e: &mut Emission<'_>,
    comb: CombId,
    (len, columns): (LengthSource, &[(usize, InputColumn)]),
    args: &mut [Atom],
) -> Lower<MergeInput> {
    let len = e.length(len, comb)?;
    let at = e.scalar("at", comb, Ty::U64);
    let zero = Const::u64(0).into();
    e.push(comb, Section::Init, StmtKind::Carry(at, zero));
    let more = [at.into(), len];
    let live = e.emit(comb, Section::Body, "live", Op::Lt, &more);
    let mut known = KnownElements::default();
    known.open();
    let mut stmts = Vec::new();
    for (_, column) in columns {
        let (array, _) = column.field;
        let of_it = columns.iter().filter(|(_, c)| c.field.0 == array);
        let mut fields: Vec<u32> = of_it.map(|(_, c)| c.field.1).collect();
        fields.retain(|f| known.get((array, *f), at.into()).is_none());
        let place = (at.into(), live.into());
        reads::elements_inside(e, &mut known, (array, &fields), place, comb, &mut stmts)?;
    }
    e.push_all(comb, Section::Body, stmts);
    for (k, column) in columns {
        let field: FieldRef = column.field;
        args[*k] = known.get(field, at.into()).ok_or_else(no_root)?;
    }
    Ok(MergeInput {
        live: live.into(),
        goes_on: at,
    })
}

/// Advances an input if its element was taken.
fn go_on(
    e: &mut Emission<'_>,
    comb: CombId,
    attempts: RateId,
    (goes_on, take): (Var, Atom),
) -> Lower {
    let (start, next): (Atom, Atom) = match e.program.ty(goes_on).elem() {
        Ty::Bool => (Const::bool(true).into(), take),
        _ => {
            let (one, zero) = (Const::u64(1).into(), Const::u64(0).into());
            let step = [take, one, zero];
            let step = e.emit(comb, Section::Body, "step", Op::Select, &step);
            let args = [goes_on.into(), step.into()];
            let next = e.emit(comb, Section::Body, "next", Op::Add, &args);
            (zero, next.into())
        }
    };
    e.update(comb, attempts, goes_on, next);
    e.sequential(goes_on, attempts, start, next);
    Ok(())
}
