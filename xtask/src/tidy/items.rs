//! First sentences of public items: a verb, at most 14 words, a blank line after them.

use super::sources::Sources;
use crate::bounds::Held;

/// Words in a first sentence.
const LONG: usize = 14;

/// Holds how many public items begin otherwise. Prints them if there are too many.
pub fn hold(sources: &Sources, held: &mut Held) {
    let product = sources.rust().filter(|source| source.is_product());
    let found: Vec<String> = product
        .flat_map(|source| {
            let place = |(line, name)| format!("{}:{line}: {name}", source.path);
            broken(&source.text).into_iter().map(place)
        })
        .collect();
    if !held.hold("public items with another first sentence", found.len()) {
        found.iter().for_each(|place| println!("  {place}"));
    }
}

/// The documented public items of a text that break the rule: line and name of each.
fn broken(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut docs) = (Vec::new(), Vec::new());
    for (k, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(doc) = line.strip_prefix("///") {
            docs.push(doc.trim());
        } else if !line.starts_with("#[") {
            if let Some(name) = public(line)
                && !docs.is_empty()
                && !is_plain(&docs)
            {
                found.push((k + 1, name));
            }
            docs.clear();
        }
    }
    found
}

/// The name of the public item that a line begins.
fn public(line: &str) -> Option<&str> {
    let mut rest = line.strip_prefix("pub ")?;
    for word in ["const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = match rest.strip_prefix(word) {
            // A constant's name follows, not another word.
            Some(name) if word == "const " && name.starts_with(char::is_uppercase) => rest,
            Some(more) => more,
            None => rest,
        };
    }
    let kinds = [
        "fn ", "struct ", "enum ", "trait ", "type ", "const ", "static ",
    ];
    let name = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(&name[..end.unwrap_or(name.len())])
}

fn is_plain(docs: &[&str]) -> bool {
    let paragraph: Vec<&str> = docs
        .iter()
        .copied()
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = without_links(&paragraph.join(" "));
    let words: Vec<&str> = paragraph.split(' ').collect();
    let ends = |word: &&str| word.ends_with(['.', ':', '!', '?', ';']);
    let first = words[0];
    let is_verb = first.starts_with(char::is_uppercase) && first.ends_with('s');
    // The sentence is all of the paragraph.
    let one = words
        .iter()
        .position(ends)
        .is_none_or(|at| at + 1 == words.len());
    is_verb && one && words.len() <= LONG
}

/// A text in which code and links are one word, or the link's own words.
fn without_links(text: &str) -> String {
    let (mut plain, mut is_code, mut is_target) = (String::new(), false, false);
    let mut before = ' ';
    for c in text.chars() {
        match c {
            '`' => {
                is_code = !is_code;
                plain.push('c');
            }
            _ if is_code => {}
            '(' if before == ']' => is_target = true,
            ')' if is_target => is_target = false,
            '[' | ']' => {}
            _ if is_target => {}
            _ => plain.push(c),
        }
        before = c;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sentence__verb_and_blank_line__holds() {
        let text = "/// Returns [the sum](Sum) of `a + b`.\n///\n/// More.\n#[inline]\npub const fn sum() {}\n";
        assert_eq!(broken(text), []);
    }

    #[test]
    fn first_sentence__noun_or_two_sentences__is_found() {
        let text = "/// The sum.\npub fn sum() {}\n/// Gives it. And more.\npub struct Two;\n/// Holds x.\npub const X: u8 = 1;\n";
        assert_eq!(broken(text), [(2, "sum"), (4, "Two")]);
    }
}
