//! Random programs, each decision a byte.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| livefusion_tests::fuzz::program(bytes));
