//! Links of a page, and their targets.

use super::pages::Page;
use std::fs;

/// Holds a link or a picture.
pub struct Link {
    pub line: usize,
    pub target: String,
}

/// The lines outside of fences, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(k, line)| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((k + 1, line))
    })
}

/// A line without its inline code.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.filter(|(k, _)| k % 2 == 0).map(|(_, p)| p).collect()
}

/// Returns the links of a text.
pub fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        let text = without_code(text);
        for (open, close) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            for rest in text.split(open).skip(1) {
                let target = rest.split(close).next().unwrap_or_default().to_string();
                links.push(Link { line, target });
            }
        }
    }
    links
}

/// The anchor of a heading, as forges and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let text: String = heading.trim().chars().filter(kept).collect();
    text.to_lowercase().replace(' ', "-")
}

/// Checks that a link from a page has a target.
///
/// External sites are not contacted.
pub fn follow(page: &Page, target: &str) -> Result<(), String> {
    if target.contains("://") {
        return Ok(());
    }
    let (file, part) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => page.path.clone(),
        file => page.folder().join(file),
    };
    if !path.exists() {
        return Err("there is no such file".into());
    }
    if part.is_empty() {
        return Ok(());
    }
    let text = fs::read_to_string(&path).map_err(|e| e.to_string())?;
    let headings = prose(&text).filter(|(_, line)| line.starts_with('#'));
    let mut anchors = headings.map(|(_, line)| anchor(line.trim_start_matches('#')));
    match anchors.any(|a| a == part) {
        true => Ok(()),
        false => Err("there is no such heading".into()),
    }
}
