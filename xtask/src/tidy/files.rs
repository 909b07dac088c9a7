//! First lines and sizes of files and lines.

use super::sources::Sources;
use crate::bounds::Held;

/// The maximal characters in a line, with indentation.
const WIDE: usize = 120;
/// The maximal lines in a file.
const LONG: usize = 500;

/// Compares the counts of files and lines with their bounds.
pub fn hold(sources: &Sources, held: &mut Held) {
    let says_purpose = |text: &str| {
        let mut lines = text.lines().skip_while(|line| line.starts_with("#!["));
        lines.next().is_some_and(|line| line.starts_with("//! "))
    };
    let nameless = sources.rust().filter(|source| source.is_product());
    let nameless = nameless.filter(|source| !says_purpose(&source.text));
    held.hold("files without a first line", nameless.count());
    let long = sources
        .rust()
        .filter(|source| source.text.lines().count() > LONG);
    held.hold("files of more than 500 lines", long.count());
    let lines = sources.rust().flat_map(|source| source.text.lines());
    let wide = lines.filter(|line| line.chars().count() > WIDE);
    held.hold("lines of more than 120 characters", wide.count());
}
