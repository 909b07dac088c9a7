//! The floor between a Loop and every compiled backend.
//!
//! ```text
//! Loop + Target  ->  Region (analysis, once)  ->  Schedule (data)  ->  Tile (IR)  ->  C | Cranelift
//! ```
//!
//! | module | room for |
//! | --- | --- |
//! | `target` | the machine that code is made for, as a value |
//! | `region` | what is known of a loop and its statements |
//! | `schedule` | which of the orders that a Loop states its code realises, as data |
//! | `threads` | loops as work of a device's threads |
//! | `lower` | from a sweep and its schedule to a tile |
//! | `ir` | the Tile language's data |
//! | `print`, `parse` | its text form |
//! | `verify` | what every tile must keep to; every proof is checked |
//! | `eval` | what it means |

pub mod eval;
pub mod ir;
pub mod lower;
#[cfg(feature = "text")]
pub mod parse;
mod print;
pub mod region;
pub mod schedule;
pub mod target;
pub mod threads;
pub mod verify;
