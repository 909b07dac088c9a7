//! Tiles as C: one function for each, which the state machine calls at its rate's guard. Nothing is decided here.
//!
//! | module | writes |
//! | --- | --- |
//! | `call` | the call, as the tile's entries say |
//! | `passed` | what goes in and out |
//! | `body` | the function, its structure and its names |
//! | `pieces` | pieces of a long body, in functions of their own |
//! | `parts` | values of more lanes than a vector has |
//! | `across` | rows of memory that become columns of vectors |
//! | `pack` | masks as bits, and what is under them moved together |
//! | `stream` | large results past the caches |
//! | `memory` | loads, stores, packing, reads at any index |
//! | `masks`, `builtins` | comparisons, choices and bits: in vectors, or in registers of bits where the target has them |
//! | `nest` | segments, and turns that are rolled back |
//! | `lanes` | operators on vectors |
//! | `signs` | operators on their bits |
//! | `functions` | transcendental functions on vectors |
//! | `words` | products of words whose upper halves are zero |
//! | `zip` | zips through buffers: what packs, what is behind, and what calls these |
//! | `scans` | what goes from lane to lane |

mod across;
mod body;
mod builtins;
mod call;
mod functions;
mod lanes;
mod masks;
mod memory;
mod nest;
mod pack;
mod parts;
mod passed;
mod pieces;
mod scans;
mod signs;
mod stream;
mod words;
mod zip;

pub use body::Writer;
pub use zip::Zipper;
