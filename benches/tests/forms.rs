//! The loops of every case, and the shapes that C gives them, are as they were.
//! `LOOP_BLESS=1 cargo test -p livefusion-bench --test forms` writes the golden files anew.

use livefusion::Engine;
use livefusion_bench::cases::CASES;
use livefusion_tests::forms::{Recording, golden};
use std::path::Path;
use std::sync::Arc;

#[test]
fn loops_and_their_shapes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/forms");
    let mut texts = Vec::new();
    for case in CASES {
        let recording = Arc::new(Recording::default());
        let engine = Engine::builder().backend(recording.clone()).build();
        let ours = (case.ours)(&engine, &(case.input)(200)).expect("it is planned");
        (ours.run)().expect("it runs");
        texts.push((case.name, recording.text()));
    }
    golden(Path::new(folder), &texts);
}
