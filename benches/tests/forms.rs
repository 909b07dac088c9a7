//! Golden texts of every case: loops, C forms, schedules, tiles and C.
//!
//! Schedules, tiles and C are compared for three targets. One case of each shape is stored in full,
//! the others as hashes. `LOOP_BLESS=1 cargo test -p livefusion-bench --test forms` regenerates the
//! golden files.

use livefusion::Engine;
use livefusion_bench::cases::CASES;
use livefusion_tests::forms::{Recording, golden, golden_of_shapes};
use livefusion_tile::target::Target;
use std::path::Path;
use std::sync::Arc;

/// One case of each shape of tiles and C.
const SHAPES: [&str; 12] = [
    "dotProduct",
    "filterMax",
    "scanInclusiveF64",
    "segmentedSumShort",
    "csrProduct",
    "grid5",
    "columnSums",
    "histogram256",
    "zipFilters",
    "transpose",
    "mandelbrot",
    "matmul",
];

#[test]
fn loops_and_their_shapes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let targets = [Target::sse2(), Target::avx2(), Target::avx512()];
    let [mut texts, mut tiles, mut c] = [const { Vec::new() }; 3];
    for case in CASES {
        let recording = Arc::new(Recording::default());
        let engine = Engine::builder().backend(recording.clone()).build();
        let ours = (case.ours)(&engine, &(case.input)(200)).expect("it is planned");
        (ours.run)().expect("it runs");
        texts.push((case.name, recording.text()));
        tiles.push((case.name, recording.scheduled(&targets)));
        c.push((case.name, recording.in_c(&targets)));
    }
    golden(&folder.join("forms"), &texts);
    golden_of_shapes(&folder.join("tiles"), &tiles, &SHAPES);
    golden_of_shapes(&folder.join("c"), &c, &SHAPES);
}
