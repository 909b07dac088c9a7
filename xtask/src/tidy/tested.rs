//! Test names and the combinators that they mention.

use super::sources::{Source, Sources};
use crate::bounds::Held;
use std::collections::BTreeMap;

/// Library folders whose public methods are combinators.
const COMBINATORS: [&str; 8] = [
    "array",
    "complex",
    "nested",
    "over",
    "random",
    "ranked",
    "segmented",
    "sort",
];

/// Counts tests and untested combinators.
pub fn hold(sources: &Sources, held: &mut Held) {
    let vague = names(sources).filter(|name| name.starts_with("what_"));
    held.hold("tests named what_..", vague.count());
    let untested = by_combinator(sources).into_values().filter(Vec::is_empty);
    held.hold("combinators in no test's name", untested.count());
}

/// Prints each combinator with the tests that name it.
pub fn list(sources: &Sources) {
    for (combinator, tests) in by_combinator(sources) {
        match tests.as_slice() {
            [] => println!("{combinator:24} -"),
            [first] => println!("{combinator:24} {first}"),
            [first, ..] => println!("{combinator:24} {first} and {} more", tests.len() - 1),
        }
    }
}

/// The tests of each combinator, whose names contain its name.
fn by_combinator(sources: &Sources) -> BTreeMap<&str, Vec<&str>> {
    let tests: Vec<&str> = names(sources).collect();
    let product = sources.rust().filter(|source| is_combinators(source));
    let combinators = product.flat_map(|source| methods(&source.text));
    let of = |name: &str| {
        let whole = |test: &&&str| format!("_{test}_").contains(&format!("_{name}_"));
        tests.iter().filter(whole).copied().collect()
    };
    combinators.map(|name| (name, of(name))).collect()
}

fn is_combinators(source: &Source) -> bool {
    let folder = source.path.strip_prefix("livefusion/src/");
    let first = folder.and_then(|rest| rest.split(['/', '.']).next());
    // The radix sort is not a combinator.
    let is_inner = source.path.contains("/radix/");
    source.is_product() && !is_inner && first.is_some_and(|first| COMBINATORS.contains(&first))
}

/// The public methods and functions of a file, without those of the untyped builder.
fn methods(text: &str) -> impl Iterator<Item = &str> {
    let mut is_builder = false;
    text.lines().filter_map(move |line| {
        if line.starts_with("impl") {
            is_builder = line.starts_with("impl Builder");
        }
        let rest = line.trim_start().strip_prefix("pub fn ")?;
        // A macro's methods are named at its call.
        let is_named = !is_builder && !rest.starts_with('$');
        is_named.then(|| before_bracket(rest))
    })
}

/// The names of all tests.
fn names(sources: &Sources) -> impl Iterator<Item = &str> {
    sources.rust().flat_map(|source| {
        let mut is_test = false;
        source.text.lines().filter_map(move |line| {
            let line = line.trim_start();
            if line == "#[test]" {
                is_test = true;
                return None;
            }
            let name = line.strip_prefix("fn ").filter(|_| is_test)?;
            is_test = false;
            Some(before_bracket(name))
        })
    })
}

fn before_bracket(text: &str) -> &str {
    let end = text.find(['(', '<']).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        Sources::of(files.iter().map(|(path, text)| Source {
            path: path.to_string(),
            text: text.to_string(),
        }))
    }

    #[test]
    fn combinator__with_its_name_in_a_test__is_tested() {
        let library = "impl<T> Array<T> {\n    pub fn sum(&self) {}\n    pub fn take<I>(&self) {}\n}\n\
            impl Builder {\n    pub fn hidden(self) {}\n}\n";
        let tests = "#[test]\nfn sum_of_nothing() {}\nfn takes_part() {}\n";
        let sources = sources(&[
            ("livefusion/src/array/sum.rs", library),
            ("tests/a.rs", tests),
        ]);
        let found = by_combinator(&sources);
        let expected = [("sum", vec!["sum_of_nothing"]), ("take", vec![])];
        assert_eq!(found, BTreeMap::from(expected));
    }
}
