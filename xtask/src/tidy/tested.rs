//! Test names and the combinators that they mention.

use super::sources::{Source, Sources};
use crate::bounds::Held;
use std::collections::{BTreeMap, HashSet};

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
    let reach = Reach::of(sources);
    let product = sources.rust().filter(|source| is_combinators(source));
    let combinators = product.flat_map(|source| reach.methods(source));
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

/// The items of the library that its users can name.
struct Reach<'a> {
    /// Declarations `pub mod`, each as a path of modules below the library.
    modules: HashSet<String>,
    /// Words of `pub use` and names of public items in public modules.
    names: HashSet<&'a str>,
}

impl<'a> Reach<'a> {
    fn of(sources: &'a Sources) -> Reach<'a> {
        let library = || {
            let library = sources.rust();
            library.filter_map(|source| Some((module(&source.path)?, source.text.as_str())))
        };
        let declared = library().flat_map(|(at, text)| {
            let names = text
                .lines()
                .filter_map(|line| line.strip_prefix("pub mod "));
            names.map(move |name| format!("{at}/{}", name.trim_end_matches(';')))
        });
        let mut reach = Reach {
            modules: declared.collect(),
            names: HashSet::new(),
        };
        for (at, text) in library() {
            let used = text.split("\npub use ").skip(1);
            let used = used.filter_map(|rest| rest.split(';').next());
            reach.names.extend(used.flat_map(words));
            if reach.is_open(at) {
                reach.names.extend(text.lines().filter_map(defined));
            }
        }
        reach
    }

    /// Whether users can name a module: it and all modules around it are public.
    fn is_open(&self, module: &str) -> bool {
        let ends = module.match_indices('/').skip(1).map(|(end, _)| end);
        let mut around = ends.chain([module.len()]).map(|end| &module[..end]);
        module.is_empty() || around.all(|module| self.modules.contains(module))
    }

    /// Returns the public methods and functions of a file that users can call.
    ///
    /// Methods of the untyped builder are left out.
    fn methods(&self, source: &'a Source) -> impl Iterator<Item = &'a str> {
        let is_open = module(&source.path).is_some_and(|module| self.is_open(module));
        let mut is_within = true;
        source.text.lines().filter_map(move |line| {
            if line.starts_with("impl") {
                let owner = owner(line);
                is_within = owner != "Builder" && self.names.contains(owner);
            }
            let is_short = line.starts_with("impl") && line.ends_with("{}");
            if is_short || line.starts_with('}') {
                // Calls of macros write methods of public types.
                is_within = true;
            }
            let rest = line.trim_start().strip_prefix("pub fn ")?;
            let name = before_bracket(rest);
            let is_method = line.starts_with(' ');
            let is_reached = match is_method {
                true => is_within,
                false => is_open || self.names.contains(name),
            };
            // A macro's methods are named at its call.
            (is_reached && !rest.starts_with('$')).then_some(name)
        })
    }
}

/// The path of a library file's module: empty for the root, `/sort/order` for a deeper one.
fn module(path: &str) -> Option<&str> {
    let path = path.strip_prefix("livefusion/src")?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    Some(if path == "/lib" { "" } else { path })
}

/// The name of a public item that a line defines.
fn defined(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let (kind, rest) = rest.split_once(' ')?;
    let is_item = ["fn", "struct", "enum", "trait", "type"].contains(&kind);
    words(rest).next().filter(|_| is_item)
}

/// The type that a line `impl<..> Type<..> {` is about.
fn owner(line: &str) -> &str {
    let mut depth = 0;
    let start = line.find(|c| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && (c == ' ' || c == '>')
    });
    let header = &line[start.map_or(0, |start| start + 1)..];
    let header = header.split_once(" for ").map_or(header, |(_, of)| of);
    words(before_bracket(header)).last().unwrap_or("")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty())
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
        let library = "pub struct Array<T>(T);\nimpl<T> Array<T> {\n    pub fn sum(&self) {}\n    \
            pub fn take<I>(&self) {}\n}\nimpl Builder {\n    pub fn hidden(self) {}\n}\n";
        let tests = "#[test]\nfn sum_of_nothing() {}\nfn takes_part() {}\n";
        let sources = sources(&[
            ("livefusion/src/lib.rs", "pub mod array;\n"),
            ("livefusion/src/array.rs", library),
            ("tests/a.rs", tests),
        ]);
        let found = by_combinator(&sources);
        let expected = [("sum", vec!["sum_of_nothing"]), ("take", vec![])];
        assert_eq!(found, BTreeMap::from(expected));
    }

    #[test]
    fn combinator__in_a_private_module_without_a_public_use__is_left_out() {
        let call = "pub struct Sort;\npub struct Key<T>(T);\nimpl Sort {\n    pub fn hidden() {}\n}\n\
            impl<T: Into<u8>> Key<T> {\n    pub fn rank(&self) {}\n}\n\
            impl<T: Elt> crate::Array<T> {\n    pub fn sort(&self) {}\n}\n\
            impl Sealed for u8 {}\n\
            over! {\n    pub fn scan(&self) {}\n}\npub fn inner() {}\npub fn outer() {}\n";
        let sources = sources(&[
            ("livefusion/src/lib.rs", "pub mod array;\nmod sort;\n"),
            (
                "livefusion/src/array/mod.rs",
                "pub struct Array<T>(T);\npub fn iota() {}\n",
            ),
            (
                "livefusion/src/sort/mod.rs",
                "pub mod call;\n\npub use call::{Key, outer};\npub(crate) use call::inner;\n",
            ),
            ("livefusion/src/sort/call.rs", call),
        ]);
        let found = by_combinator(&sources);
        let names: Vec<&str> = found.into_keys().collect();
        assert_eq!(names, ["iota", "outer", "rank", "scan", "sort"]);
    }
}
