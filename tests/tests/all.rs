//! Cross-crate tests that share one process.

#[path = "chunked/programs.rs"]
mod written;

mod architecture;
mod c;
mod cache;
mod chunked;
mod clusterings;
mod compilers;
mod cuda;
mod cursors;
mod errors;
mod exits;
mod explain;
mod fuzz;
mod generator;
mod ideas;
mod interp;
mod jit;
mod long_closures;
mod loops;
mod machines;
mod mutants;
mod parallel;
mod parts;
mod prepared;
mod quantiles;
mod recognised;
mod schedules;
mod structure;
