//! Dry runs: reduces statements to a check of whether their segments fit.

use super::{Memory, Stmt, StmtKind, Tile, Value, each_stmt};
use loop_lang::ir::Var;
use rustc_hash::FxHashSet;

/// Returns a copy of statements without side effects, for a dry run.
///
/// The copy keeps the segments and all computations of their bounds and capacity checks. It sets
/// only scalars. The caller restores these, and then executes the original statements, which
/// compute the same segments.
///
/// # Errors
///
/// Fails if a statement may exit the tile. Fails too if a segment's bounds depend on a vector, on
/// changed memory, or on the steps of a segment without nested segments.
pub fn dry_run(tile: &Tile, stmts: &[Stmt]) -> Result<Vec<Stmt>, &'static str> {
    let mut all = Vec::new();
    each_stmt(stmts, &mut |s| all.push(&s.kind));
    if all
        .iter()
        .any(|kind| matches!(kind, StmtKind::Leave { .. }))
    {
        return Err("a segment with a dry run has an exit");
    }
    let mut needed = FxHashSet::default();
    loop {
        let before = needed.len();
        for kind in all.iter().rev() {
            if is_kept(kind, &needed) {
                kind.each_operand(&mut |a| needed.extend(a.value()));
            }
        }
        if needed.len() == before {
            break;
        }
    }
    let mut written: FxHashSet<Var> = FxHashSet::default();
    all.iter()
        .for_each(|kind| kind.each_written(&mut |array| _ = written.insert(array)));
    let kept = Copier {
        tile,
        needed,
        written,
    };
    kept.of(stmts)
}

/// Tells whether a statement, or one nested in it, has a checked segment or sets a needed value.
fn is_kept(kind: &StmtKind, needed: &FxHashSet<Value>) -> bool {
    let asks = matches!(kind, StmtKind::Segment { again: false, .. });
    let sets = |v: Option<Value>| v.is_some_and(|v| needed.contains(&v));
    let stores = matches!(kind, StmtKind::Store { .. } | StmtKind::Across { .. });
    let mut inner = kind.bodies().into_iter().flatten();
    // Recursion is bounded by the tile's nesting depth.
    asks || sets(kind.target())
        || stores && sets(kind.own())
        || inner.any(|s| is_kept(&s.kind, needed))
}

/// Builds the reduced statements.
struct Copier<'a> {
    tile: &'a Tile,
    needed: FxHashSet<Value>,
    written: FxHashSet<Var>,
}

impl Copier<'_> {
    fn of(&self, stmts: &[Stmt]) -> Result<Vec<Stmt>, &'static str> {
        let kept = stmts.iter().filter(|s| is_kept(&s.kind, &self.needed));
        let kept = kept.map(|s| {
            let kind = self.stmt(&s.kind)?;
            Ok(Stmt { comb: s.comb, kind })
        });
        kept.collect()
    }

    fn stmt(&self, kind: &StmtKind) -> Result<StmtKind, &'static str> {
        let reads = |array: &Var| match self.written.contains(array) {
            true => Err("the place of segments depends on changed memory"),
            false => Ok(kind.clone()),
        };
        match kind {
            StmtKind::Let { .. } | StmtKind::Length { .. } => Ok(kind.clone()),
            StmtKind::Set { to, .. } if self.tile.shape(*to).is_scalar() => Ok(kind.clone()),
            StmtKind::Load {
                from: Memory::Array(array),
                ..
            }
            | StmtKind::Gather { array, .. } => reads(array),
            StmtKind::If { cond, then, other } => Ok(StmtKind::If {
                cond: *cond,
                then: self.of(then)?,
                other: self.of(other)?,
            }),
            StmtKind::Segment { .. } => self.segment(kind),
            _ => Err("where segments are hangs on what is no scalar"),
        }
    }

    fn segment(&self, kind: &StmtKind) -> Result<StmtKind, &'static str> {
        let mut kept = kind.clone();
        let StmtKind::Segment {
            body,
            epilogue,
            scalar_epilogue,
            ..
        } = &mut kept
        else {
            return Ok(kept);
        };
        let mut segments = false;
        for stmts in [body, epilogue, scalar_epilogue] {
            each_stmt(stmts, &mut |s| {
                segments |= matches!(s.kind, StmtKind::Segment { .. });
            });
            *stmts = self.of(stmts)?;
            if !segments && !stmts.is_empty() {
                return Err("where segments are hangs on the steps of one");
            }
        }
        Ok(kept)
    }
}
