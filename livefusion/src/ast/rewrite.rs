//! Named rewrites of folds and scans of rows, and their cost argument.

use std::fmt;

/// Names a rewrite from section 4.2 of "A T2 Graph-Reduction Approach To Fusion".
///
/// A rewrite was either applied, or rejected because the original costs less. A node keeps it with
/// its name and location; [`explain`](crate::Force::explain) shows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rewrite {
    /// IRWIM, *interchange reduce with inner map*: an elementwise fold of rows becomes a map over
    /// columns that folds each column. Each fold reads across rows.
    Irwim,
    /// IRWIM rejected: each row is joined into a row of results, in memory order.
    RowsOutside,
    /// ISWIM, *interchange scan with inner map*: an elementwise scan of rows becomes a map over
    /// columns that scans each column. Each scan reads across rows, and its results are transposed
    /// back.
    Iswim,
    /// ISWIM rejected: a row of scan states is carried from row to row, in memory order.
    RowsCarried,
    /// RedFlat, *reduce flattening*: a fold of the folds of rows becomes one fold of their
    /// elements.
    RedFlat,
}

impl Rewrite {
    /// Returns the paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Rewrite::Irwim | Rewrite::RowsOutside => "IRWIM",
            Rewrite::Iswim | Rewrite::RowsCarried => "ISWIM",
            Rewrite::RedFlat => "RedFlat",
        }
    }

    /// Returns whether it was applied.
    pub fn is_done(self) -> bool {
        !matches!(self, Rewrite::RowsOutside | Rewrite::RowsCarried)
    }

    /// Explains the rewrite and why it costs less.
    pub fn reason(self) -> &'static str {
        match self {
            Rewrite::Irwim => {
                "each fold reads across rows: it keeps its state in registers, and no row of states is filled, read and written"
            }
            Rewrite::RowsOutside => {
                "rows stay outside: memory is read once, in order, and a row of results is near"
            }
            Rewrite::Iswim => {
                "each scan reads memory in order, across rows: it carries one state, not a row of them"
            }
            Rewrite::RowsCarried => {
                "rows stay outside: memory is read once, in order, and a row of states is near"
            }
            Rewrite::RedFlat => {
                "one fold of all elements: it needs no inner loop that begins anew with each row, and joins nothing behind one"
            }
        }
    }
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = if self.is_done() { "" } else { ", not done" };
        write!(f, "{}{done}", self.name())
    }
}
