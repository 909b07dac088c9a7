//! How plain the prose is, folder by folder: sentences, paragraphs, and clauses in the place of nouns.
//!
//! `prose.txt` has the bounds of each folder, which may only fall: `cargo xtask tidy --prose` prints today's.

use super::sources::{Source, Sources};
use crate::bounds::Held;
use std::collections::BTreeMap;
use std::fmt;

const BOUNDS: &str = include_str!("../../prose.txt");

/// Words that begin a clause in the place of a noun.
const CLAUSE: [&str; 4] = ["what", "who", "whoever", "whatever"];

/// The bounds of a folder that has none of its own.
const LIMIT: Plainness = Plainness {
    clauses: 3,
    sentence: 22,
    paragraph: 120,
};

/// Measures a folder's prose; each figure is rounded up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Plainness {
    /// Clauses in the place of nouns, in 1000 words.
    clauses: usize,
    /// Words in a sentence, on average.
    sentence: usize,
    /// Words in the longest paragraph.
    paragraph: usize,
}

impl Plainness {
    fn is_within(self, bound: Plainness) -> bool {
        self.clauses <= bound.clauses
            && self.sentence <= bound.sentence
            && self.paragraph <= bound.paragraph
    }
}

impl fmt::Display for Plainness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plainness {
            clauses,
            sentence,
            paragraph,
        } = self;
        write!(
            f,
            "{clauses} clauses, {sentence} a sentence, {paragraph} a paragraph"
        )
    }
}

/// Holds each folder against its bounds.
pub fn hold(sources: &Sources, held: &mut Held) {
    let mut worse = 0;
    for (folder, now) in by_folder(sources) {
        let bound = bound(&folder);
        if !now.is_within(bound) {
            println!("prose of {folder}: {now}; at most {bound}");
            worse += 1;
        }
    }
    held.hold("folders whose prose is beyond its bounds", worse);
}

/// Prints each folder with its figures, as `prose.txt` holds them.
pub fn list(sources: &Sources) {
    for (folder, now) in by_folder(sources) {
        println!("{folder} = {now}");
    }
}

fn bound(folder: &str) -> Plainness {
    let mut lines = BOUNDS.lines().filter_map(|line| line.split_once(" = "));
    let own = lines.find(|(name, _)| *name == folder);
    own.and_then(|(_, figures)| {
        let mut numbers = figures.split(' ').filter_map(|word| word.parse().ok());
        Some(Plainness {
            clauses: numbers.next()?,
            sentence: numbers.next()?,
            paragraph: numbers.next()?,
        })
    })
    .unwrap_or(LIMIT)
}

/// The figures of each folder of code, and of each document.
fn by_folder(sources: &Sources) -> BTreeMap<String, Plainness> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for source in sources.all().filter(|source| !source.is_golden()) {
        let sum = sums.entry(folder(&source.path)).or_default();
        paragraphs(source).iter().for_each(|text| sum.add(text));
    }
    sums.retain(|_, sum| sum.words > 0);
    sums.into_iter()
        .map(|(name, sum)| (name, sum.plainness()))
        .collect()
}

/// A document by itself; of code the first two folders.
fn folder(path: &str) -> String {
    if path.ends_with(".md") {
        return path.to_string();
    }
    path.split('/').take(2).collect::<Vec<_>>().join("/")
}

#[derive(Default)]
struct Sum {
    words: usize,
    sentences: usize,
    clauses: usize,
    longest: usize,
}

impl Sum {
    fn add(&mut self, paragraph: &str) {
        let words = paragraph.split_whitespace().count();
        if words < 3 {
            return;
        }
        let ends = paragraph.split_whitespace();
        let ends = ends.filter(|word| word.ends_with(['.', '!', '?']));
        self.words += words;
        self.sentences += ends.count().max(1);
        self.clauses += clauses(paragraph);
        self.longest = self.longest.max(words);
    }

    fn plainness(&self) -> Plainness {
        Plainness {
            clauses: (self.clauses * 1000).div_ceil(self.words),
            sentence: self.words.div_ceil(self.sentences),
            paragraph: self.longest,
        }
    }
}

/// Counts the words that begin a clause, outside of questions.
fn clauses(paragraph: &str) -> usize {
    let sentences = paragraph.split_inclusive(['.', '!', '?']);
    let statements = sentences.filter(|sentence| !sentence.ends_with('?'));
    let words = statements.flat_map(|sentence| sentence.split(|c: char| !c.is_alphanumeric()));
    words
        .filter(|word| {
            CLAUSE
                .iter()
                .any(|clause| word.eq_ignore_ascii_case(clause))
        })
        .count()
}

/// The paragraphs of a document or of comments. Code counts as one word; tables and titles are left out.
fn paragraphs(source: &Source) -> Vec<String> {
    let (mut found, mut now, mut is_code) = (Vec::new(), String::new(), false);
    for line in source.text.lines() {
        let text = prose(source, line).unwrap_or_else(|| {
            is_code = false;
            ""
        });
        let text = text.trim();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        let is_other = ["|", "#", "![", "SAFETY"]
            .iter()
            .any(|start| text.starts_with(start));
        if is_fence || is_code || is_other || text.is_empty() {
            found.push(std::mem::take(&mut now));
            continue;
        }
        now += " ";
        now += &without_code(text);
    }
    found.push(now);
    found
}

/// The prose of a line, if it may have some.
fn prose<'a>(source: &Source, line: &'a str) -> Option<&'a str> {
    let line = line.trim_start();
    match source.path.rsplit('.').next()? {
        "md" => Some(line),
        "py" => line.strip_prefix('#'),
        _ => Some(line.strip_prefix("//")?.trim_start_matches(['/', '!'])),
    }
}

/// A line with a word in the place of each piece of code.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    let parts = parts.map(|(k, part)| if k % 2 == 1 { "code" } else { part });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(path: &str, text: &str) -> Plainness {
        let source = Source {
            path: path.to_string(),
            text: text.to_string(),
        };
        let figures = by_folder(&Sources::of([source].into_iter()));
        figures.into_values().next().expect("some prose")
    }

    #[test]
    fn prose__comments_with_a_clause__counts_it_once() {
        let text = "//! What is it? A plan.\n//!\n//! | what | who |\nlet what = 1; // what\n\
            /// It keeps `what` it needs, and what\n/// others need.\n";
        let expected = Plainness {
            clauses: 72,
            sentence: 5,
            paragraph: 9,
        };
        assert_eq!(measured("a/src/b.rs", text), expected);
    }

    #[test]
    fn prose__code_of_a_document__is_left_out() {
        let text = "# Title who\n\nOne two three.\n\n```rust\nwhat who what\n```\n";
        let expected = Plainness {
            clauses: 0,
            sentence: 3,
            paragraph: 3,
        };
        assert_eq!(measured("A.md", text), expected);
    }
}
