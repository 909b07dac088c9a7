//! Missing values of a column while it is read: the rows to fill once its type is known.

use super::super::error::ErrorKind;
use super::cells::push;

/// Rows without a value.
#[derive(Clone, Default)]
pub struct Gaps {
    line: Option<u64>,
    rows: Vec<usize>,
}

impl Gaps {
    /// Notes a row, and the line that it stands in.
    pub fn push(&mut self, line: u64, row: usize) -> Result<(), ErrorKind> {
        self.line.get_or_insert(line);
        push(&mut self.rows, row)
    }

    /// The line of the first.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// Puts a substitute in all of them.
    pub fn fill<T: Copy>(&self, column: &mut [T], with: T) {
        for row in &self.rows {
            if let Some(gap) = column.get_mut(*row) {
                *gap = with;
            }
        }
    }
}
