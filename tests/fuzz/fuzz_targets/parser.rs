//! Text of the Loop language.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| livefusion_tests::fuzz::parser(bytes));
