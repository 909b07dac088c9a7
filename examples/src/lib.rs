//! Shared code of the examples: data files, errors and timing.

#[cfg(all(doctest, feature = "all"))]
mod book;
#[cfg(feature = "png")]
pub mod picture;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Specialises `Result` for examples.
///
/// Any error ends the example with a message.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Locates a file of `examples/data`.
pub fn data(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "data", file].iter().collect()
}

/// Runs a closure and measures its time.
pub fn timed<T>(f: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = f();
    (result, start.elapsed())
}

/// Measures the best time of several runs.
pub fn best_of<T>(runs: usize, mut f: impl FnMut() -> Outcome<T>) -> Outcome<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let (result, time) = timed(&mut f);
        result?;
        best = best.min(time);
    }
    Ok(best)
}

/// Writes a drawing and creates its folder.
pub fn write_svg(path: &str, drawing: &str) -> Outcome {
    make_room(path.as_ref())?;
    Ok(std::fs::write(path, drawing)?)
}

/// Creates the folder of a file.
fn make_room(path: &Path) -> Outcome {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    const README: &str = include_str!("../../README.md");

    /// The text between the first fence of a kind and the next fence.
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

    /// The output of an example. `cargo test` builds the examples with the tests.
    fn printed(example: &str) -> String {
        let test = std::env::current_exe().expect("this test's path");
        let built = test.ancestors().nth(2).expect("a folder");
        let mut example = Command::new(built.join("examples").join(example));
        let output = example.output().expect("the example");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    fn the_readme_shows_what_its_program_prints() {
        assert_eq!(first("```text\n"), Some(&*printed("readme")));
    }

    #[test]
    fn examples_that_are_no_tests_themselves_print_a_known_line() {
        for (example, line) in [
            ("temperatures", "2010: 8759 hours"),
            ("quantiles", "Celsius of 8759 hours"),
            ("airports_by_state", "airports"),
            ("segments", "[[0.25, 0.75], [], [0.25, 0.25, 0.5]]"),
            ("to_percentages", "[50.0, 25.0, 24.0]"),
            #[cfg(feature = "cuda")]
            ("filter_max", "[4, 9, 10, 1], at most 10"),
        ] {
            let text = printed(example);
            assert!(text.contains(line), "{example}: {text}");
        }
    }
}
