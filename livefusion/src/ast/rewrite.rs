//! Rewrites with names: what became of a fold or a scan of rows, and why that costs less.

use std::fmt;

/// A rewrite of "A T2 Graph-Reduction Approach To Fusion", section 4.2, that was done, or was not since that costs less. A
/// node keeps it beside its name and place; [`explain`](crate::Force::explain) shows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rewrite {
    /// IRWIM, *interchange reduce with inner map*: a fold of rows, element by element, is a map over columns of a fold of
    /// each, which reads across rows.
    Irwim,
    /// IRWIM, not done: rows are joined onto a row of results, in the order of memory.
    RowsOutside,
    /// ISWIM, *interchange scan with inner map*: a scan of rows, element by element, is a map over columns of a scan of each,
    /// which reads across rows; what it gives is read across again.
    Iswim,
    /// ISWIM, not done: what each scan has come to goes from row to row, in the order of memory.
    RowsCarried,
    /// RedFlat, *reduce flattening*: a fold of the folds of rows is one fold of their elements.
    RedFlat,
}

impl Rewrite {
    /// What the paper calls it.
    pub fn name(self) -> &'static str {
        match self {
            Rewrite::Irwim | Rewrite::RowsOutside => "IRWIM",
            Rewrite::Iswim | Rewrite::RowsCarried => "ISWIM",
            Rewrite::RedFlat => "RedFlat",
        }
    }

    /// Whether it was done.
    pub fn is_done(self) -> bool {
        !matches!(self, Rewrite::RowsOutside | Rewrite::RowsCarried)
    }

    /// What was done, and why that costs less.
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
