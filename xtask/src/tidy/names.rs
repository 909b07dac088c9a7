//! Type names: one name for one type in a crate.

use super::sources::Sources;
use crate::bounds::Held;
use std::collections::BTreeMap;

/// Counts the names that several types of one crate share.
pub fn hold(sources: &Sources, held: &mut Held) {
    let mut types: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for source in sources.rust().filter(|source| source.is_product()) {
        for name in source.text.lines().filter_map(defined) {
            *types.entry((source.crate_folder(), name)).or_default() += 1;
        }
    }
    let several = types.values().filter(|count| **count > 1);
    held.hold("names of several types in a crate", several.count());
}

/// The type that a line defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = ["pub ", "pub(crate) ", "pub(super) "]
        .iter()
        .find_map(|word| line.strip_prefix(word))
        .unwrap_or(line);
    let rest = ["struct ", "enum ", "trait "]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    let end = rest
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(rest.len());
    (end > 0).then_some(&rest[..end])
}
