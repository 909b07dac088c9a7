//! Wide groups: with many words, separate passes replace look-back.

use super::Shape;
use loop_lang::ir::{Stmt, StmtKind};

/// Limits the words of a kernel's groups for look-back.
///
/// A block shares the state of its warps for each word.
pub const FEW_WORDS: usize = 64;

/// Limits the words of a kernel's groups.
///
/// The kernel receives the start value of each word.
pub const MOST_WORDS: usize = 1024;

impl Shape<'_> {
    /// Returns the number of words in its groups.
    pub(super) fn words(&self) -> usize {
        self.levels.iter().map(|l| self.vars(l).len()).sum()
    }

    /// Tells whether its groups are too wide for look-back.
    pub fn is_wide(&self) -> bool {
        self.words() > FEW_WORDS
    }

    /// Tells whether steps have effects other than folding groups.
    pub fn acts(&self) -> bool {
        let acts = |s: &Stmt| {
            matches!(
                s.kind,
                StmtKind::WriteArray(..) | StmtKind::ScatterArray { .. } | StmtKind::Trap { .. }
            )
        };
        self.steps().any(|b| b.block.stmts.iter().any(acts))
    }
}
