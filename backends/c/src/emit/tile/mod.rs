//! Tiles as C: one function for each, which the state machine calls at its rate's guard. Nothing is decided here.
//!
//! | module | writes |
//! | --- | --- |
//! | `call` | the call, as the tile's entries say |
//! | `body` | the function, its structure and its names |
//! | `parts` | values of more lanes than a vector has |
//! | `memory` | loads, stores, packing, reads at any index |
//! | `masks` | comparisons, choices and bits: in vectors, or in registers of bits where the target has them |
//! | `nest` | segments, and turns that are undone |
//! | `lanes` | operators on vectors |
//! | `scans` | what goes from lane to lane |

mod body;
mod call;
mod lanes;
mod masks;
mod memory;
mod nest;
mod parts;
mod scans;

pub use body::Writer;

use livefusion_tile::region::Sweep;
use livefusion_tile::schedule::Schedule;
use loop_lang::ir::StmtKind;

/// Whether a sweep is written as a tile though nobody asked: one with scalar loops, of several elements side by side.
pub fn is_better(sweep: &Sweep, schedule: &Schedule) -> bool {
    let mut statements = sweep.statements.iter();
    let turns = statements.any(|s| matches!(s.stmt.kind, StmtKind::While { .. }));
    turns && schedule.vectors(sweep.rate).0 > 1
}
