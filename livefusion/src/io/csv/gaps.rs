//! Missing values of a column during a read: rows to fill later.

use super::super::error::ErrorKind;
use super::cells::push;

/// Lists the rows without a value.
#[derive(Clone, Default)]
pub struct Gaps {
    line: Option<u64>,
    rows: Vec<usize>,
}

impl Gaps {
    /// Records a row and its line.
    pub fn push(&mut self, line: u64, row: usize) -> Result<(), ErrorKind> {
        self.line.get_or_insert(line);
        push(&mut self.rows, row)
    }

    /// Returns the line of the first gap.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// Writes a substitute into all of them.
    pub fn fill<T: Copy>(&self, column: &mut [T], with: T) {
        for row in &self.rows {
            if let Some(gap) = column.get_mut(*row) {
                *gap = with;
            }
        }
    }
}
