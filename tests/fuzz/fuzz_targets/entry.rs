//! Entries of the kernel cache on disk.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| livefusion_tests::fuzz::entry(bytes));
