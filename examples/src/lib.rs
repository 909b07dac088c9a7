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
    /// The README shows the program that `cargo run --example readme` runs.
    #[test]
    fn the_readme_shows_its_program() {
        let program = include_str!("../readme.rs")
            .split_once("\n\n")
            .map(|(_, code)| code);
        let shown = include_str!("../../README.md").split("```rust\n").nth(1);
        let shown = shown.and_then(|rest| rest.split("```").next());
        assert_eq!(shown, program);
    }
}
