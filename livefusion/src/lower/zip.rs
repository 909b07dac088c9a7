//! `zip`: no code for the elements, which are their inputs' fields; a check that lengths agree, where
//! that is not known before the loop starts.
//!
//! ```text
//! init_2:  let same_2 = eq len_1 len_0
//!          trap unless same_2, t0 (len_1, len_0)
//! ```

use super::anatomy::{Anatomy, Lower, Spot};
use super::{cursor, segments};
use crate::sharing::NodeId;
use loop_lang::ir::{Atom, RateKind, Section, TrapKind};
use loop_lang::op::Op;
use loop_lang::types::Const;

/// Lowers a zip that has something to check.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let spot = enter(a, id)?;
    a.comb_at(id, spot);
    Ok(())
}

/// Where all inputs of a node have an element, which is checked.
pub fn enter(a: &mut Anatomy<'_>, id: NodeId) -> Lower<Spot> {
    if a.plan.rates.sides(id).is_some() {
        return cursor::lower(a, id);
    }
    let inputs = &a.graph.nodes[id.index()].inputs;
    let spot = a.spot_of(id, 0..inputs.len())?;
    check(a, id, inputs, spot)?;
    Ok(spot)
}

/// Checks that inputs which are consumed together at a spot have one length: with each other, or each
/// with the segments whose elements they are.
pub fn check(a: &mut Anatomy<'_>, id: NodeId, inputs: &[NodeId], at: Spot) -> Lower {
    let Some((first, rest)) = inputs.split_first() else {
        return Ok(());
    };
    let rate = a.program.loop_rate(at.rate);
    if let RateKind::Nested { .. } = a.program.rate(rate).kind {
        return match rest {
            [] => Ok(()),
            _ => inputs
                .iter()
                .try_for_each(|i| segments::check(a, id, *i, at)),
        };
    }
    if a.program.rate(at.rate).kind.is_sub() {
        return check_counted(a, id, inputs, at);
    }
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
            a.trap(
                comb,
                Section::Init,
                TrapKind::LengthMismatch,
                same.into(),
                &[got, expected],
            );
        }
    }
    Ok(())
}

/// Checks arrays in memory that are read at a subrate's count: how many elements that admits is known at
/// the end only, but an array that is too short is found at the first element that it lacks.
fn check_counted(a: &mut Anatomy<'_>, id: NodeId, inputs: &[NodeId], at: Spot) -> Lower {
    let rates = &a.plan.rates;
    let on_first = rates.is_beside(id, 0);
    for (_, input) in inputs
        .iter()
        .enumerate()
        .filter(|(k, _)| rates.is_beside(id, *k))
    {
        let Some(len) = a.len(*input)? else { continue };
        let comb = a.comb_at(id, at);
        let count: Atom = a.index(at.rate).into();
        let (one, kind) = (Const::u64(1).into(), TrapKind::LengthMismatch);
        let ordered = |count, len| if on_first { [count, len] } else { [len, count] };
        let there = a.emit(comb, Section::Body, "there", Op::Lt, &[count, len]);
        let needed = a.emit(comb, Section::Body, "needed", Op::Add, &[count, one]);
        let payload = ordered(needed.into(), len);
        a.trap(comb, Section::Body, kind, there.into(), &payload);
        let same = a.emit(comb, Section::Done, "same", Op::Eq, &[count, len]);
        a.trap(comb, Section::Done, kind, same.into(), &ordered(count, len));
    }
    Ok(())
}
