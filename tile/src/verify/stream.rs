//! Arrays that bypass the caches: they are only stored, at the counter.

use super::Faults;
use crate::ir::{Entry, Memory, Proof, StmtKind, Tile};
use crate::schedule::MAX_STREAMED;
use rustc_hash::FxHashSet;

/// Checks them. The caller may pass memory for just the elements of the range. So these arrays are
/// only stored at the counter, with an entry as proof.
pub(super) fn check<'a>(tile: &'a Tile, faults: &mut Faults<'a>) {
    let Some(stream) = &tile.stream else {
        return;
    };
    let once: FxHashSet<_> = stream.arrays.iter().collect();
    if once.len() != stream.arrays.len() || once.is_empty() || once.len() > MAX_STREAMED {
        faults.add("it streams nothing, something twice, or too much");
    }
    if tile.leaves() {
        faults.add("what is streamed is written up to the end of the range");
    }
    let in_step = |proof: &Proof| match proof {
        Proof::Entry(i) => {
            let entry = tile.entries.get(*i);
            matches!(entry, Some(Entry::Capacity { index, .. }) if index.times(tile.counter) == 1)
        }
        Proof::Capacity(_) | Proof::Literal => false,
    };
    let mut written = FxHashSet::default();
    tile.each_stmt(&mut |s| {
        faults.at = Some(&s.kind);
        match &s.kind {
            StmtKind::Store {
                into: Memory::Array(array),
                under: None,
                proof,
                ..
            } if in_step(proof) => {
                written.insert(array);
            }
            kind => {
                let mut other = false;
                kind.each_array(&mut |a, _| other |= once.contains(&a));
                if other {
                    faults.add("it does something else with what is streamed");
                }
            }
        }
    });
    faults.at = None;
    if !once.is_subset(&written) {
        faults.add("it streams what it does not write");
    }
}
