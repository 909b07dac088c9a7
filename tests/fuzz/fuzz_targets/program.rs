//! Random programs with one byte per decision.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| livefusion_tests::fuzz::program(bytes));
