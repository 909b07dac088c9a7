//! The tests of the shell that can share a process. `rust_runs` is compiled with what one of them writes, and has a folder of its own.

mod binary;
mod book;
mod evaluate;
#[allow(
    non_snake_case,
    reason = "names of tests say feature, situation, expectation"
)]
mod explain;
mod faults;
mod files;
#[allow(
    non_snake_case,
    reason = "names of tests say feature, situation, expectation"
)]
mod first_hour;
mod fuzz;
mod golden;
mod grammar;
mod help;
mod pictures;
#[allow(
    non_snake_case,
    reason = "names of tests say feature, situation, expectation"
)]
mod progress;
#[allow(
    non_snake_case,
    reason = "names of tests say feature, situation, expectation"
)]
mod python;
mod random;
mod rust;
mod tables;
mod terminal;
#[allow(
    non_snake_case,
    reason = "names of tests say feature, situation, expectation"
)]
mod time;
mod trace;
