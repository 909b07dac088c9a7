//! `take_while`: a subrate that admits elements until its test fails. The test is not computed afterwards,
//! and where nothing else is left to do, the loop is left.
//!
//! ```text
//! init_2:   carry live_2 = true                 bottom_2: live_2 := go_2
//! guard_2:  if live_2 { let p_2 = gt elt_1 k_2 } else { } -> go_2 = p_2 | false
//!           unless go_2 | bottom_2
//! ```

use super::Lower;
use super::body::{self, Inline};
use super::emission::Emission;
use super::placement::{Act, Placer, Spot};
use crate::ast::{Body, Kind};
use crate::fusion::ClassId;
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Places what says whether elements go on: behind the subrate's iteration.
pub fn place_end(p: &mut Placer<'_>, id: NodeId, rate: RateId) {
    if let Some(child) = p.placed.tree.child_spot(rate) {
        p.placed.tree.stage(child.rate, child.position + 1);
    }
    p.set_end(id);
}

/// Emits what a subrate's guard tests; the result is what admits an element.
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
    let live = e.scalar("live", comb, Ty::Bool);
    e.push(comb, Section::Init, StmtKind::Carry(live, yes));
    let (stmts, p) = body::statements(e, inline, test, args, "p")?;
    let go = e.scalar("go", comb, Ty::Bool);
    let tested = StmtKind::If {
        cond: live.into(),
        then: stmts,
        other: vec![],
        results: vec![(go, p[0], Const::bool(false).into())],
    };
    e.push(comb, Section::Guard, tested);
    let step = e.update_behind(id, rate, live, go.into());
    let owner = e.owner();
    e.exact_group(live, (owner, step), (Op::And, Const::bool(true)), go);
    e.values.ends.insert(id, go.into());
    Ok(if inclusive { live.into() } else { go.into() })
}

/// Leaves the loop once no test goes on, if nothing in the loop runs outside of what the tests admit, and
/// not before. Tests in subrates or segments do not end the root's iterations.
pub fn place_exit(p: &mut Placer<'_>) {
    let (Some(root), Some(last)) = (p.placed.tree.root(), p.ends().last().copied()) else {
        return;
    };
    let (rates, graph) = (&p.scope.plan.rates, p.scope.graph);
    let ends = p.ends().iter();
    let classes: Vec<ClassId> = ends.filter_map(|id| rates.output(*id)).collect();
    let is_inside = |c: Option<ClassId>| {
        c.is_some_and(|c| classes.iter().any(|taken| rates.is_within(c, *taken)))
    };
    let at_root = |id: &NodeId| rates.runs_at(*id) == p.scope.root();
    let planned = &p.scope.plan.loops[p.scope.at];
    let written = planned.arrays.iter().all(|f| is_inside(rates.output(f.0)));
    let run = planned.nodes.iter().all(|n| match graph.node(*n).kind {
        Kind::Fold(_) | Kind::ScanTotal | Kind::Scatter(_) | Kind::Len => {
            is_inside(rates.runs_at(*n))
        }
        _ => true,
    });
    if p.ends().iter().all(at_root) && written && run && !p.counts_all() {
        let spot = p.placed.tree.behind_all(root);
        let ends = p.ends().to_vec();
        p.step(last, Act::Leave(spot, ends));
    }
}

/// Emits the exit of the loop.
pub fn emit_exit(e: &mut Emission<'_>, id: NodeId, spot: Spot, ends: &[NodeId]) {
    let comb = e.comb_at(id, spot);
    let goes: Vec<Atom> = ends
        .iter()
        .filter_map(|id| e.values.ends.get(id).copied())
        .collect();
    let any = goes
        .into_iter()
        .reduce(|x, y| e.emit(comb, Section::Body, "any", Op::Or, &[x, y]).into());
    if let Some(any) = any {
        e.leave_unless(comb, any);
    }
}
