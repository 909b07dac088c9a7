//! Unroll and jam: several steps of a root at a time, with one segment for all of theirs.
//!
//! Rows that are joined onto one row, as sums of columns are, then load and store it once for all; what the segments
//! read in common is read once; and what lies across rows is read along a line of the cache. The rule by which that
//! keeps the meaning: segments are as long in all steps, no step needs beforehand what a segment before it has come to,
//! and of an array that is written, two accesses are of one element in the same step of both segments, or never.
//!
//! | module | contents |
//! | --- | --- |
//! | `rows` | the step of a root, written for each of several |
//! | `words` | what values are, by number, and indices as sums |
//! | `emit` | statements, without what is known already |
//! | `segments` | one segment for all steps |

mod emit;
mod rows;
mod segments;
mod words;

use crate::ir::{Entry, Origin, Shape, Stmt, StmtKind, Tile};
use emit::Emit;
use loop_lang::types::Ty;
use rows::{Steps, Values};

/// More statements than this are not written for several steps.
const MAX_STATEMENTS: usize = 1024;

/// A tile that takes so many steps of a root at a time; none if that would change what it does, or if the steps have
/// nothing in common.
pub(super) fn unroll_jam(tile: &Tile, rows: u32) -> Option<Tile> {
    let mut statements = 0;
    tile.each_stmt(&mut |_| statements += 1);
    let at = tile.body.iter().position(|s| tile.is_range(&s.kind))?;
    let StmtKind::For {
        counter,
        from,
        to,
        step: 1,
        body,
        ..
    } = &tile.body[at].kind
    else {
        return None;
    };
    if statements * rows as usize > MAX_STATEMENTS || tile.stream.is_some() {
        return None;
    }
    let steps = Steps::of(tile, *counter, body)?;
    let mut values = Values::of(tile.clone());
    let strip = values.add("strip", Shape::scalar(Ty::U64), Origin::Let);
    let (all, carried) = steps.rows(&mut values, strip, rows)?;
    let mut emit = Emit::of(values, body)?;
    let comb = tile.body[at].comb;
    emit.rows(all)?;
    for (to, value) in carried {
        emit.set(to, value);
    }
    let body = emit.end()?;
    let mut tile = emit.values.tile;
    tile.name += "_rows";
    tile.entries.push(Entry::Whole(u64::from(rows)));
    tile.body[at] = Stmt {
        comb,
        kind: StmtKind::For {
            counter: strip,
            from: *from,
            to: *to,
            step: u64::from(rows),
            unroll: false,
            body,
        },
    };
    Some(tile)
}
