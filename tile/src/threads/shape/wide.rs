//! How wide groups are: up to some words tiles look back, beyond that they are summed up in passes of their own.

use super::Shape;
use loop_lang::ir::{Stmt, StmtKind};

/// Words that the groups of a kernel may have for tiles to look back: a block shares what its warps have of each.
pub const FEW_WORDS: usize = 64;

/// Words that the groups of a kernel may have: it is given what each begins with.
pub const MOST_WORDS: usize = 1024;

impl Shape<'_> {
    /// How many words its groups have.
    pub(super) fn words(&self) -> usize {
        self.levels.iter().map(|l| self.vars(l).len()).sum()
    }

    /// Whether its groups are too wide for tiles to look back.
    pub fn is_wide(&self) -> bool {
        self.words() > FEW_WORDS
    }

    /// Whether steps do anything but sum groups up.
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
