//! Roots whose cursors only deliver, through buffers.

use super::{NoTile, tiles};
use crate::ir::{self, Side, Tile};
use crate::region::zip::{Zip, ZipPart};
use crate::region::{InnerLoop, Region};
use crate::schedule::{Schedule, legal_below};

/// The steps of a zip under a schedule that decides how many elements are in its buffers.
///
/// Errors: decisions for the zip that are not legal, sides that tiles cannot say.
pub fn zip(region: &Region, zip: &Zip, schedule: &Schedule) -> Result<ir::Zip, NoTile> {
    legal_below(region, schedule, zip.rate).map_err(NoTile::Illegal)?;
    let elements = schedule.buffers(zip.rate);
    let elements = elements.ok_or(NoTile::Unsupported("cursors without buffers"))?;
    let parts = zip.parts().ok_or(NoTile::Unsupported("cursors"))?;
    let (behind, of_behind) = with_schedule(&parts.behind, schedule)?;
    let sides = zip.sides.iter().zip(&parts.sides);
    let sides = sides.map(|(side, (packs, finds))| {
        let (inner_loop, of_side) = with_schedule(packs, schedule)?;
        let values = side.cursor.values.iter().copied();
        Ok(Side {
            counter: side.cursor.counter,
            bound: side.cursor.bound,
            count: side.count,
            wanted: side.wanted,
            values: values.zip(side.buffers.iter().copied()).collect(),
            packs: tiles(&packs.region, inner_loop, &of_side)?,
            // A range of a buffer at most: vectors win little, and make half as much code again.
            finds: slowly(finds, &of_side)?,
        })
    });
    Ok(ir::Zip {
        rate: zip.rate,
        counter: behind.counter,
        bound: behind.bound,
        limits: zip.limits.clone(),
        ends: zip.ends.clone(),
        elements: u64::from(elements),
        sides: sides.collect::<Result<_, NoTile>>()?,
        behind: in_turn(&parts.behind, &of_behind)?,
    })
}

/// The innermost loop of a part, and what is decided for it.
fn with_schedule<'p, 'z>(
    part: &'p ZipPart<'z>,
    schedule: &Schedule,
) -> Result<(&'p InnerLoop<'z>, Schedule), NoTile> {
    let inner_loop = part
        .inner_loop()
        .ok_or(NoTile::Unsupported("a part of a zip"))?;
    Ok((inner_loop, schedule.of_part(part)))
}

/// The tiles of a part, and behind those that take several steps at a time one that goes step by step.
fn in_turn(part: &ZipPart, schedule: &Schedule) -> Result<Vec<Tile>, NoTile> {
    let (inner_loop, _) = with_schedule(part, schedule)?;
    let mut all = tiles(&part.region, inner_loop, schedule)?;
    if all.iter().any(|t| t.granule() > 1) {
        let mut slow = slowly(part, schedule)?;
        slow.iter_mut().for_each(|t| t.name += "_slowly");
        all.extend(slow);
    }
    Ok(all)
}

/// The tiles of a part, step by step.
fn slowly(part: &ZipPart, schedule: &Schedule) -> Result<Vec<Tile>, NoTile> {
    let (inner_loop, _) = with_schedule(part, schedule)?;
    tiles(&part.region, inner_loop, &schedule.slowly(&part.region))
}
