//! Dependency counts: the crates of a build.

use crate::bounds::Held;
use crate::run::{Outcome, line, output};
use std::collections::BTreeSet;

/// Crates that need an operating system, which a browser lacks.
const NATIVE: [&str; 4] = ["libc", "libloading", "memmap2", "tempfile"];

/// Compares the dependency trees with their bounds.
pub fn hold(held: &mut Held) -> Outcome {
    let bare = tree("-p livefusion --no-default-features")?;
    held.hold("crates: bare library", bare.len());
    let native = NATIVE
        .iter()
        .filter(|native| bare.iter().any(|name| name == *native));
    held.hold("crates: native ones in the bare library", native.count());
    held.hold("crates: default library", tree("-p livefusion")?.len());
    held.hold(
        "crates: first command",
        tree("-p livefusion-examples")?.len(),
    );
    let all = tree("--workspace")?;
    held.hold("crates: whole workspace", all.len());
    Ok(())
}

/// The names of the crates in a selection's build, once per version.
fn tree(selection: &str) -> Outcome<Vec<String>> {
    let command = format!("cargo tree --locked -e normal,build --prefix none {selection}");
    let text = output(&mut line(&command))?;
    let versions: BTreeSet<(&str, &str)> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?))
        })
        .collect();
    Ok(versions
        .into_iter()
        .map(|(name, _)| name.to_string())
        .collect())
}
