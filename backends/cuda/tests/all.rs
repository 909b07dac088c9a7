//! The tests of the CUDA backend that can share a process.

mod compiled;
mod operators;
mod programs;
mod record;
mod segments;
mod shimmed;
#[path = "../../interp/tests/support/mod.rs"]
mod support;
mod wide_loops;

mod compiles;
mod cubins;
mod exact;
mod exits;
mod faults;
mod golden;
mod left;
mod nests;
mod paths;
mod phases;
mod pool;
mod random;
mod residency;
mod rows;
mod scatters;
mod schedules;
mod shim;
mod wide;
