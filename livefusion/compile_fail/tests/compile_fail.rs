//! Type errors that users will make, and what the compiler says about them. After a change of messages:
//! `TRYBUILD=overwrite cargo test -p livefusion-compile-fail`.

#[test]
fn messages_help() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
