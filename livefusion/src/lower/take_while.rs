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
    a.program.groups.push(Group {
        vars: vec![live],
        owner: a.owner(),
        step,
        start: vec![yes],
        identity: vec![yes],
        next: vec![go.into()],
        combine: Some(Combine::Op(Op::And)),
        level: 0,
        order: Order::Exact,
    });
    a.ends(class, go.into());
    Ok(if inclusive { live.into() } else { go.into() })
}
