//! Fuzz targets on random bytes: a short form of the hunts in `cargo xtask sanitize`.

use livefusion_tests::fuzz;
use livefusion_tests::rng::Rng;

fn bytes(seed: u64, most: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let n = rng.below(most);
    (0..n).map(|_| rng.word() as u8).collect()
}

#[test]
fn programs_from_bytes() {
    for seed in 0..60 {
        fuzz::program(&bytes(seed, 200));
    }
}

/// The same choice repeated: a generator that adds a step then adds another one.
#[test]
fn long_programs_from_bytes() {
    for (turn, choice) in [(30, 143), (2, 0), (1, 255), (0, 90)] {
        let bytes = [&[turn, 0, 10, 109][..], &[choice; 196]].concat();
        fuzz::program(&bytes);
    }
}

#[test]
fn entries_from_bytes() {
    for seed in 0..300 {
        fuzz::entry(&bytes(seed, 200));
    }
}

#[test]
fn bytes_of_a_text_changed() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../loop-lang/tests/files/golden"
    );
    let mut files = 0;
    for file in std::fs::read_dir(folder).expect("golden files") {
        let text = std::fs::read(file.expect("a file").path()).expect("a text");
        files += 1;
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let mut text = text.clone();
            for _ in 0..rng.range(0, 3) {
                let at = rng.below(text.len());
                text[at] = rng.range(b' '.into(), b'~'.into()) as u8;
            }
            fuzz::parser(&text);
        }
    }
    assert!(files > 3);
}
