//! Lengths: what is consumed together is as long as the class that consumes it. Where that is not known
//! before a program runs, it is checked here, and nowhere else.
//!
//! A length belongs to a class. A check holds the length of an array against the number of elements of
//! the one class at whose rate the array is consumed, and never against that of a class around or below:
//!
//! ```text
//! a root's bound           init_2:  let same_2 = eq len_1 len_0        trap unless same_2, t0
//! a nested rate's counter  done_2:  let all_2 = eq ix_2 len_1          trap unless all_2, t0
//! a subrate's count        body_2:  let there_2 = lt ix_2 len_1        trap unless there_2, t0
//!                          done_2:  let same_2 = eq ix_2 len_1         trap unless same_2, t0
//! ```
//!
//! How many elements a nested rate or a subrate has is known at the loop's end only; an array in memory
//! that a subrate reads at its count is found to be too short at the first element that it lacks.

use super::anatomy::{Anatomy, Lower, Spot};
use crate::ast::Kind;
use crate::sharing::NodeId;
use loop_lang::ir::{Atom, CombId, RateId, RateKind, Section, TrapKind};
use loop_lang::op::Op;
use loop_lang::types::Const;
use std::ops::Range;

/// Checks that inputs which are consumed together at a spot have as many elements as the class there.
pub fn check_together(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>, at: Spot) -> Lower {
    match inputs.len() {
        // What is consumed alone is as long as itself.
        1 => Ok(()),
        _ => check(a, id, inputs, at),
    }
}

/// Checks that each of these inputs has as many elements as the class of the rate at a spot.
pub fn check(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>, at: Spot) -> Lower {
    match a.program.rate(at.rate).kind {
        RateKind::Root { .. } | RateKind::Cursor { .. } => equal(a, id, inputs),
        RateKind::Nested { .. } => inputs.into_iter().try_for_each(|k| {
            let input = a.graph.nodes[id.index()].inputs[k];
            match a.len(input)? {
                Some(len) => {
                    let comb = a.comb(id);
                    visited(a, comb, at.rate, len)
                }
                None => Ok(()),
            }
        }),
        RateKind::Sub { .. } => counted(a, id, inputs, at),
    }
}

/// Inputs at a root rate have lengths of their own, which are there when the loop starts.
fn equal(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>) -> Lower {
    let inputs = &a.graph.nodes[id.index()].inputs[inputs];
    let Some((first, rest)) = inputs.split_first() else {
        return Ok(());
    };
    let comb = a.comb(id);
    for other in rest {
        if a.plan.rates.known_equal(*first, *other) {
            continue;
        }
        let (Some(expected), Some(got)) = (a.len(*first)?, a.len(*other)?) else {
            continue;
        };
        if expected != got {
            let same = a.emit(comb, Section::Init, "same", Op::Eq, &[got, expected]);
            let (kind, payload) = (TrapKind::LengthMismatch, [got, expected]);
            a.trap(comb, Section::Init, kind, same.into(), &payload);
        }
    }
    Ok(())
}

/// A nested rate has visited so many elements in the end, unless that is checked already.
pub fn visited(a: &mut Anatomy<'_>, comb: CombId, rate: RateId, len: Atom) -> Lower {
    if a.first_check(rate, len)? {
        let payload = [a.index(rate).into(), len];
        let all = a.emit(comb, Section::Done, "all", Op::Eq, &payload);
        let kind = TrapKind::Segments;
        a.trap(comb, Section::Done, kind, all.into(), &payload);
    }
    Ok(())
}

/// What advances with a subrate has its length; arrays in memory are read at its count.
fn counted(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>, at: Spot) -> Lower {
    let (graph, rates) = (a.graph, &a.plan.rates);
    let node = &graph.nodes[id.index()];
    let on_first = rates.is_beside(id, inputs.start);
    let kind = match node.node.kind {
        Kind::FoldS(_) | Kind::ScanS(..) | Kind::CountS => TrapKind::Segments,
        _ => TrapKind::LengthMismatch,
    };
    // What was got, and what was expected; or what is needed, and what there is.
    let swaps = kind == TrapKind::LengthMismatch && !on_first;
    let ordered = |count, len| if swaps { [len, count] } else { [count, len] };
    for k in inputs.filter(|k| rates.is_beside(id, *k)) {
        let Some(len) = a.len(node.inputs[k])? else {
            continue;
        };
        let comb = a.comb_at(id, at);
        let count: Atom = a.index(at.rate).into();
        let one = Const::u64(1).into();
        let there = a.emit(comb, Section::Body, "there", Op::Lt, &[count, len]);
        let needed = a.emit(comb, Section::Body, "needed", Op::Add, &[count, one]);
        let payload = ordered(needed.into(), len);
        a.trap(comb, Section::Body, kind, there.into(), &payload);
        let same = a.emit(comb, Section::Done, "same", Op::Eq, &[count, len]);
        a.trap(comb, Section::Done, kind, same.into(), &ordered(count, len));
    }
    Ok(())
}
