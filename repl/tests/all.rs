//! Shell tests that share one process.
//!
//! `rust_runs` compiles a program that one of them writes, and has a folder of its own.

#![allow(
    non_snake_case,
    reason = "names of tests say feature, situation, expectation"
)]

mod binary;
mod book;
mod evaluate;
mod explain;
mod faults;
mod files;
mod first_hour;
mod fusion;
mod fuzz;
mod golden;
mod grammar;
mod help;
mod pictures;
mod progress;
mod python;
mod random;
mod rust;
mod tables;
mod terminal;
mod time;
mod trace;
