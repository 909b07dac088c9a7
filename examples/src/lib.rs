//! What the examples share: where their data is, and how they fail and measure.

#[cfg(doctest)]
mod book;
pub mod picture;

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The result of an example: any error ends it with a message.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A file of `examples/data`.
pub fn data(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "data", file].iter().collect()
}

/// What a closure gives, and how long it took.
pub fn timed<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = f();
    (result, start.elapsed())
}

/// The best time of several runs.
pub fn best_of<T>(runs: usize, mut f: impl FnMut() -> Outcome<T>) -> Outcome<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let (result, time) = timed(&mut f);
        result?;
        best = best.min(time);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    const README: &str = include_str!("../../README.md");

    /// What stands between the first fence of a kind and the next one.
    fn first(fence: &str) -> Option<&'static str> {
        README.split(fence).nth(1)?.split("```").next()
    }

    /// The README shows the program that `cargo run --example readme` runs.
    #[test]
    fn the_readme_shows_its_program() {
        let program = include_str!("../readme.rs")
            .split_once("\n\n")
            .map(|(_, code)| code);
        assert_eq!(first("```rust\n"), program);
    }

    #[test]
    fn the_readme_shows_what_its_program_prints() {
        // `cargo test` builds the examples beside the tests.
        let test = std::env::current_exe().expect("this test's path");
        let built = test.ancestors().nth(2).expect("a folder");
        let mut example = Command::new(built.join("examples/readme"));
        let output = example.output().expect("the example");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(first("```text\n"), Some(&*printed), "{output:?}");
    }
}
