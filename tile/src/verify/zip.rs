//! Verification of zips: tiles of derived loops with private buffers.

use super::{Fault, verify};
use crate::ir::{Tile, Zip};
use crate::region::zip::{ZipPart, ZipParts};

/// Verifies a zip, given the loops of its tiles.
///
/// # Errors
///
/// Returns all faults.
pub fn zip(zip: &Zip, parts: &ZipParts) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    let mut check = |tile: &Tile, part: &ZipPart| {
        if let Err(more) = verify(tile, part.region.program) {
            faults.extend(more);
        }
        if tile.has_segments() || tile.stream.is_some() {
            faults.push(fault(tile, "has segments, or goes past the caches"));
        }
    };
    for (side, (packs, finds)) in zip.sides.iter().zip(&parts.sides) {
        side.packs.iter().for_each(|t| check(t, packs));
        side.finds.iter().for_each(|t| check(t, finds));
    }
    zip.behind.iter().for_each(|t| check(t, &parts.behind));
    if zip.sides.len() != parts.sides.len() {
        faults.push(Fault {
            place: "zip".to_string(),
            message: "has other sides than its loop".to_string(),
        });
    }
    for side in &zip.sides {
        for tile in side.packs.iter().chain(&side.finds) {
            let own = |a| side.buffers().any(|b| b == a);
            tile.each_stmt(&mut |s| {
                s.kind.each_written(&mut |array| {
                    if !own(array) {
                        faults.push(fault(tile, "writes elsewhere than to its side's buffers"));
                    }
                });
            });
        }
        if !side.finds.iter().all(Tile::leaves) {
            faults.push(Fault {
                place: "zip".to_string(),
                message: "a side is found by what does not end where it is".to_string(),
            });
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults),
    }
}

fn fault(tile: &Tile, message: &str) -> Fault {
    Fault {
        place: tile.name.clone(),
        message: message.to_string(),
    }
}
