//! `take_while`: a subrate that admits elements until its test fails. The test is not computed afterwards,
//! and where nothing else is left to do, the loop is left.
//!
//! ```text
//! init_2:   carry live_2 = true                 bottom_2: live_2 := go_2
//! guard_2:  if live_2 { let p_2 = gt elt_1 k_2 } else { } -> go_2 = p_2 | false
//!           unless go_2 | bottom_2
//! ```

use super::anatomy::{Anatomy, Column, Lower, Spot};
use super::body::{self, Inline};
use crate::ast::{Body, Kind};
use crate::fusion::ClassId;
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Opens the subrate; the result is what admits an element.
pub fn open(
    a: &mut Anatomy<'_>,
    id: NodeId,
    (comb, class): (CombId, ClassId),
    test: &Body,
    columns: &[Column],
    spot: Spot,
) -> Lower<Atom> {
    let graph = a.graph;
    let inclusive = matches!(
        graph.node(id).kind,
        Kind::TakeWhile {
            inclusive: true,
            ..
        }
    );
    let inline = Inline::new(id, 0, comb, Section::Guard);
    let args = body::used_args(a, &inline, test, columns, spot)?;
    let rate = a.open_sub(comb, spot.rate, class);
    let yes: Atom = Const::bool(true).into();
    let live = a.scalar("live", comb, Ty::Bool);
    a.push(comb, Section::Init, StmtKind::Carry(live, yes));
    let (stmts, p) = body::statements(a, &inline, test, &args, "p")?;
    let go = a.scalar("go", comb, Ty::Bool);
    let tested = StmtKind::If {
        cond: live.into(),
        then: stmts,
        other: vec![],
        results: vec![(go, p[0], Const::bool(false).into())],
    };
    a.push(comb, Section::Guard, tested);
    let step = a.update_behind(id, rate, live, go.into())?;
    let owner = a.owner();
    a.exact_group(live, (owner, step), (Op::And, Const::bool(true)), go);
    a.ends(id, go.into());
    Ok(if inclusive { live.into() } else { go.into() })
}

/// Leaves the loop once no test goes on, if nothing in the loop runs outside of what the tests admit, and
/// not before. Tests in subrates or segments do not end the root's iterations.
pub fn leave_early(a: &mut Anatomy<'_>) -> Lower {
    let (Ok(root), ends) = (a.root_spot(), a.all_ends().to_vec()) else {
        return Ok(());
    };
    let rates = &a.plan.rates;
    let classes: Vec<ClassId> = ends
        .iter()
        .filter_map(|(id, _)| rates.output(*id))
        .collect();
    let is_inside = |c: Option<ClassId>| {
        c.is_some_and(|c| classes.iter().any(|taken| rates.is_within(c, *taken)))
    };
    let at_root = ends
        .iter()
        .all(|(id, _)| rates.runs_at(*id) == a.plan.loops[a.at].root);
    let planned = &a.plan.loops[a.at];
    let written = planned.arrays.iter().all(|f| is_inside(rates.output(f.0)));
    let run = planned.nodes.iter().all(|n| match a.graph.node(*n).kind {
        Kind::Fold(_) | Kind::ScanTotal | Kind::Scatter(_) | Kind::Len => {
            is_inside(rates.runs_at(*n))
        }
        _ => true,
    });
    let leaves = at_root && written && run && !a.counts_all();
    let Some(((last, _), true)) = ends.last().map(|e| (*e, leaves)) else {
        return Ok(());
    };
    let spot = a.behind_all(root.rate);
    let comb = a.comb_at(last, spot);
    let goes: Vec<Atom> = ends.iter().map(|e| e.1).collect();
    let any = goes
        .into_iter()
        .reduce(|x, y| a.emit(comb, Section::Body, "any", Op::Or, &[x, y]).into());
    if let Some(any) = any {
        a.leave_unless(comb, any);
    }
    Ok(())
}
