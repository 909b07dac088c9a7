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

pub mod region;
pub mod target;
