//! Prose rules: counts clauses in the place of a noun.

use super::sources::{Source, Sources};
use crate::bounds::Held;

/// The words that begin such a clause.
const CLAUSE: [&str; 4] = ["what", "who", "whoever", "whatever"];

/// Counts the clauses in all comments and documents, also per 1000 words.
pub fn hold(sources: &Sources, held: &mut Held) {
    let (mut words, mut clauses) = (0, 0);
    for source in sources.all().filter(|source| !source.is_golden()) {
        for line in lines(source) {
            for word in line.split_whitespace() {
                words += 1;
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                clauses += usize::from(
                    CLAUSE
                        .iter()
                        .any(|clause| word.eq_ignore_ascii_case(clause)),
                );
            }
        }
    }
    held.hold("clauses in place of nouns", clauses);
    held.hold(
        "clauses in 1000 words of prose",
        (clauses * 1000).div_ceil(words.max(1)),
    );
}

/// The lines of prose: a document without its code, or comments.
fn lines(source: &Source) -> impl Iterator<Item = &str> {
    let is_document = source.path.ends_with(".md");
    let mut is_code = false;
    source.text.lines().filter_map(move |line| {
        let text = match is_document {
            true => line,
            false => line
                .trim_start()
                .strip_prefix("//")?
                .trim_start_matches(['/', '!']),
        };
        if text.trim_start().starts_with("```") {
            is_code = !is_code;
            return None;
        }
        (!is_code).then_some(text)
    })
}
