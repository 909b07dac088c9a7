//! Tiles as C: one function for each, which the state machine calls at its rate's guard. Nothing is decided here.
//!
//! | module | writes |
//! | --- | --- |
//! | `call` | the call, as the tile's entries say |
//! | `passed` | what goes in and out |
//! | `body` | the function, its structure and its names |
//! | `pieces` | pieces of a long body, in functions of their own |
//! | `parts` | values of more lanes than a vector has |
//! | `memory` | loads, stores, packing, reads at any index |
//! | `masks`, `builtins` | comparisons, choices and bits: in vectors, or in registers of bits where the target has them |
//! | `nest` | segments, and turns that are undone |
//! | `lanes` | operators on vectors |
//! | `signs` | operators on their bits |
//! | `functions` | transcendental functions on vectors |
//! | `zip` | zips through buffers: what packs, what is behind, and what calls these |
//! | `scans` | what goes from lane to lane |

mod body;
mod builtins;
mod call;
mod functions;
mod lanes;
mod masks;
mod memory;
mod nest;
mod parts;
mod passed;
mod pieces;
mod scans;
mod signs;
mod zip;

pub use body::Writer;
pub use zip::Zipper;

use livefusion_tile::region::{Nest, Region, Role, Sweep};
use livefusion_tile::schedule::Schedule;
use loop_lang::ir::{GroupId, Order};

/// Whether a sweep is written as a tile though nobody asked: all are but those with lanes that no vectors take.
pub fn is_better(region: &Region, sweep: &Sweep, schedule: &Schedule) -> bool {
    let vectors = schedule.vectors(sweep.rate).0 > 1 || schedule.runs(sweep.rate).is_some();
    let groups = &region.program.groups;
    let lanes = |g: &GroupId| matches!(groups[g.index()].order, Order::Lanes(_));
    vectors || !sweep.groups.iter().any(lanes)
}

/// Whether a root with inner sweeps is one: all that these fold in lanes is in vectors.
pub fn is_better_nest(region: &Region, nest: &Nest, schedule: &Schedule) -> bool {
    let mut inner = nest.sweeps(region).into_iter();
    inner.all(|sweep| {
        let mut roles = sweep.roles.values();
        let lanes = roles.any(|r| matches!(r, Role::Lanes(_)));
        let vectors = schedule.vectors(sweep.rate).0 > 1;
        vectors || !lanes
    })
}
