//! Validation of segments in memory, for external functions.

use crate::ast::Buffer;
use crate::error::ErrorKind;
use std::sync::Arc;

/// Returns the lengths of segments, if they add up to the length of the columns.
pub(crate) fn fitting<'a>(
    lengths: &'a [Arc<Buffer>],
    columns: &[Arc<Buffer>],
) -> Result<&'a [u64], ErrorKind> {
    let lengths = lengths
        .first()
        .and_then(|lengths| lengths.as_slice::<u64>());
    let lengths = lengths.ok_or_else(|| ErrorKind::Malformed {
        expected: "lengths of type u64".into(),
        got: "something else".into(),
    })?;
    let room = columns.first().map_or(0, |column| column.len() as u64);
    let needed: i128 = lengths.iter().map(|n| i128::from(*n)).sum();
    match needed == i128::from(room) {
        true => Ok(lengths),
        false => Err(ErrorKind::Segments { needed, room }),
    }
}
