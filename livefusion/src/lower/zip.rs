//! `zip`: no code for the elements, which are their inputs' fields; a check that lengths agree, where
//! that is not known before the loop starts.
//!
//! ```text
//! init_2:  let same_2 = eq len_1 len_0
//!          trap unless same_2, t0 (len_1, len_0)
//! ```

use super::anatomy::{Anatomy, Lower};
use crate::sharing::NodeId;
use loop_lang::ir::{Section, TrapKind};
use loop_lang::op::Op;

/// Lowers a zip that has something to check.
pub fn lower(a: &mut Anatomy<'_>, id: NodeId) -> Lower {
    let inputs = &a.graph.nodes[id.index()].inputs;
    let rate = a.rate_of(id, inputs)?;
    let comb = a.comb(id);
    a.join(comb, rate);
    check_lengths(a, id, inputs)
}

/// Checks that inputs which are consumed together have one length.
pub fn check_lengths(a: &mut Anatomy<'_>, id: NodeId, inputs: &[NodeId]) -> Lower {
    let Some((first, rest)) = inputs.split_first() else {
        return Ok(());
    };
    let comb = a.comb(id);
    for other in rest {
        if a.plan.rates.known_equal(*first, *other) {
            continue;
        }
        let (expected, got) = (a.len(*first)?, a.len(*other)?);
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
