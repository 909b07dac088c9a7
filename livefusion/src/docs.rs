//! Documentation of combinators and scalar functions as text, for shells.
//!
//! It comes from the comments in this crate's own sources, so it equals the API's pages. It needs
//! the feature `docs`.
//!
//! ```
//! let text = livefusion::docs::of("take_while").unwrap();
//! assert!(text.starts_with("Takes the elements before the first one"));
//! assert_eq!(livefusion::docs::of("no_such_combinator"), None);
//! ```

/// The sources of combinators, in search order.
const SOURCES: &[&str] = &[
    include_str!("array/adjacent.rs"),
    include_str!("array/append.rs"),
    include_str!("array/combine.rs"),
    include_str!("array/filter.rs"),
    include_str!("array/flat_map.rs"),
    include_str!("array/gather.rs"),
    include_str!("array/generate.rs"),
    include_str!("array/histogram.rs"),
    include_str!("array/interleave.rs"),
    include_str!("array/length.rs"),
    include_str!("array/map.rs"),
    include_str!("array/merge.rs"),
    include_str!("array/prefix.rs"),
    include_str!("array/scatter.rs"),
    include_str!("array/search.rs"),
    include_str!("array/slice.rs"),
    include_str!("array/windows.rs"),
    include_str!("array/zip.rs"),
    include_str!("over/extremum.rs"),
    include_str!("over/fold.rs"),
    include_str!("over/mod.rs"),
    include_str!("over/reduce.rs"),
    include_str!("over/right.rs"),
    include_str!("over/scan.rs"),
    include_str!("ranked/axes.rs"),
    include_str!("ranked/index.rs"),
    include_str!("ranked/join.rs"),
    include_str!("ranked/nest.rs"),
    include_str!("ranked/product.rs"),
    include_str!("ranked/scan.rs"),
    include_str!("ranked/scatter.rs"),
    include_str!("ranked/select.rs"),
    include_str!("ranked/slice.rs"),
    include_str!("ranked/stencil.rs"),
    include_str!("segmented/append.rs"),
    include_str!("segmented/cut.rs"),
    include_str!("segmented/elements.rs"),
    include_str!("segmented/filter.rs"),
    include_str!("segmented/mod.rs"),
    include_str!("segmented/pairs.rs"),
    include_str!("segmented/uniform.rs"),
    include_str!("segmented/within.rs"),
    include_str!("random/mod.rs"),
    include_str!("sort/mod.rs"),
    include_str!("sort/by.rs"),
    include_str!("sort/by_key.rs"),
    include_str!("sort/codes.rs"),
    include_str!("sort/components.rs"),
    include_str!("sort/groups.rs"),
    include_str!("sort/join.rs"),
    include_str!("sort/quantile.rs"),
    include_str!("sort/search.rs"),
    include_str!("sort/segments.rs"),
    include_str!("sort/top.rs"),
    include_str!("complex/fft.rs"),
    include_str!("nested/mod.rs"),
    include_str!("iterate/mod.rs"),
    include_str!("exp/compare.rs"),
    include_str!("exp/control.rs"),
    include_str!("exp/float.rs"),
    include_str!("exp/int.rs"),
    include_str!("iterate/choice.rs"),
];

/// The source of functions that make segments.
const SEGMENTED: &str = include_str!("segmented/elements.rs");

/// Returns the documentation of a function, without its Rust examples.
///
/// Untyped forms are left out. A function of a module or type needs a path: `random::uniform`,
/// `Segmented::indices`.
pub fn of(name: &str) -> Option<String> {
    let (path, name) = name.rsplit_once("::").unwrap_or(("", name));
    if path == "Segmented" {
        return within(SEGMENTED, name);
    }
    SOURCES.iter().find_map(|source| within(source, name))
}

fn within(source: &str, name: &str) -> Option<String> {
    let mut comment: Vec<&str> = Vec::new();
    let mut untyped = false;
    for line in source.lines() {
        match line {
            "}" => untyped = false,
            line if line.starts_with("impl Builder") => untyped = true,
            line if line.starts_with("impl Segments") => untyped = true,
            _ => {}
        }
        let line = line.trim();
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.strip_prefix(' ').unwrap_or(text));
        } else if !line.starts_with("#[") && !line.starts_with("$(#[") {
            if !untyped && !comment.is_empty() && declares(line, name) {
                return Some(prose(&comment));
            }
            comment.clear();
        }
    }
    None
}

/// Tells whether a line begins the function, or is its row in a table of a macro: `sqrt Sqrt;`.
fn declares(line: &str, name: &str) -> bool {
    let function = line.strip_prefix("pub fn ").unwrap_or("");
    let row = || {
        let mut words = line.trim_end_matches(';').split_whitespace();
        line.ends_with(';') && words.next() == Some(name) && words.next().is_some()
    };
    let rest = function.strip_prefix(name);
    rest.is_some_and(|r| r.starts_with(['(', '<'])) || row()
}

/// Removes the code from a comment, and the empty lines around it.
fn prose(comment: &[&str]) -> String {
    let mut text = String::new();
    let (mut code, mut empty) = (false, false);
    for line in comment {
        if line.starts_with("```") {
            code = !code;
        } else if !code && line.is_empty() {
            empty = true;
        } else if !code {
            if empty && !text.is_empty() {
                text.push('\n');
            }
            empty = false;
            text += line;
            text.push('\n');
        }
    }
    text
}
