//! The layer between a Loop and every compiled backend.
//!
//! ```text
//! Loop + Target  ->  Region (analysis, once)  ->  Schedule (data)  ->  Tile (IR)  ->  C | Cranelift
//! ```
//!
//! | module | contents |
//! | --- | --- |
//! | `target` | describes the target machine |
//! | `region` | analyses a loop and its statements |
//! | `schedule` | data that selects one of the execution orders a Loop permits |
//! | `threads` | maps loops to a device's threads |
//! | `lower` | lowers an innermost loop and its schedule to a tile |
//! | `ir` | data types of the Tile language |
//! | `print`, `parse` | text form |
//! | `verify` | checks every tile and every proof in it |
//! | `eval` | reference interpreter |

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
