//! Folds and scans of arrays.

use crate::ast::draft::Draft;
use crate::ast::{Builder, Fold, Kind, Node, Rewrite, ScanKind, red_flat};
use smallvec::smallvec;
use std::sync::{Arc, OnceLock};

impl Builder {
    /// Folds all elements into a delayed scalar. A fold of row folds becomes one fold of the
    /// elements, where the result is the same ([`Rewrite::RedFlat`]).
    pub(crate) fn fold_all(self, input: &Arc<Node>, fold: Fold) -> Arc<Node> {
        match red_flat::elements(self, input, &fold) {
            Some(elements) => self.rewriting(Rewrite::RedFlat).folded(&elements, fold),
            None => self.folded(input, fold),
        }
    }

    fn folded(self, input: &Arc<Node>, fold: Fold) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        let state = d.fold(&fold, &input.types);
        let fold = d.simple_fold(fold);
        d.scalar(Kind::Fold(fold), state)
    }

    /// Running folds of all elements, for associative and sequential folds only.
    pub(crate) fn scan_all(self, input: &Arc<Node>, fold: Fold, kind: ScanKind) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.in_step();
        let state = d.fold(&fold, &input.types);
        d.scannable(&fold);
        let fold = d.simple_fold(fold);
        d.array(Kind::Scan(fold, kind), state)
    }

    /// Returns the final state of a scan as a delayed scalar.
    ///
    /// It is the fold of all elements. The node refers to a copy of `scan`, which is merged with
    /// `scan` wherever both are computed. Once `scan` is in memory, its elements do not contain the
    /// total, but the copy can still run.
    pub fn scan_total(self, scan: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![unforced(scan)]);
        let is = matches!(scan.kind, Kind::Scan(..));
        d.expect(is, || ("a scan".into(), format!("`{}`", scan.name)));
        d.scalar(Kind::ScanTotal, scan.types.clone())
    }
}

/// A copy of a scan that is never in memory, since nothing else refers to it. Other nodes are
/// returned unchanged.
fn unforced(scan: &Arc<Node>) -> Arc<Node> {
    let Kind::Scan(fold, kind) = &scan.kind else {
        return scan.clone();
    };
    Arc::new(Node {
        name: scan.name,
        loc: scan.loc,
        rewrite: scan.rewrite,
        kind: Kind::Scan(fold.clone(), *kind),
        inputs: scan.inputs.clone(),
        types: scan.types.clone(),
        rank: scan.rank,
        shape: scan.shape.clone(),
        after: scan.after.clone(),
        is_stream: scan.is_stream,
        len: scan.len,
        part: None,
        rows: scan.rows.clone(),
        error: scan.error.clone(),
        value: OnceLock::new(),
        forced: OnceLock::new(),
    })
}
