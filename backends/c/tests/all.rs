//! The tests of the C backend that can share a process.

mod common;

mod cache;
mod extrema;
mod failures;
mod filters;
mod functions;
mod golden;
mod large;
mod operators;
mod pairs;
mod phases;
mod segments;
mod spans;
mod states;
mod stream;
mod uniform;
mod vectorised;
mod words;
mod zips;
