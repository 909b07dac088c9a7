//! Growing arrays: a span fits the capacity, and arrays grow between spans.

use livefusion_backend::{Arg, Frame, Growing, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::chunkable;
use loop_lang::state::Layout;
use std::sync::Arc;

/// Lists the arrays of a loop that may begin short.
pub fn growing(program: &Loop, layout: &Layout) -> Arc<[Growing]> {
    let of = |g: chunkable::Growing| {
        Some(Growing {
            slot: layout.array_slot(g.array)?,
            count: layout.word(g.at)?,
            most: g.most,
            comb: g.comb,
        })
    };
    let all = chunkable::growing(program).into_iter();
    all.filter_map(of).collect()
}

/// Emits a span, and grows arrays on the way.
pub fn emit(kernel: &dyn Kernel, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
    let taken = |frame: &Frame<'_>| frame.words.get(1).copied().unwrap_or(0);
    let end = taken(frame).saturating_add(steps);
    loop {
        let (left, room) = (end.saturating_sub(taken(frame)), frame.capacity());
        if room >= left {
            return kernel.run(Pass::Emit, left, frame, args);
        }
        if room == 0 {
            if let Err(ended) = frame.grow(1) {
                return ended;
            }
            continue;
        }
        let before = taken(frame);
        match kernel.run(Pass::Emit, room, frame, args) {
            Outcome::Paused if (before + 1..end).contains(&taken(frame)) => {}
            ended => return ended,
        }
    }
}
