//! Folds and scans of arrays.

use crate::ast::draft::Draft;
use crate::ast::{Builder, Fold, Kind, Node, Rewrite, ScanKind, red_flat};
use smallvec::smallvec;
use std::sync::{Arc, OnceLock};

impl Builder {
    /// All elements folded into a delayed scalar. Of folds of rows it is one fold of their elements, where that gives the same
    /// ([`Rewrite::RedFlat`]).
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

    /// Running folds of all elements; of associative and sequential folds only.
    pub(crate) fn scan_all(self, input: &Arc<Node>, fold: Fold, kind: ScanKind) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![input.clone()]);
        d.arrays();
        d.in_step();
        let state = d.fold(&fold, &input.types);
        d.scannable(&fold);
        let fold = d.simple_fold(fold);
        d.array(Kind::Scan(fold, kind), state)
    }

    /// The delayed scalar that a scan ends with: the fold of all elements.
    ///
    /// It ends a scan of its own, which is one with `scan` wherever both are computed. Once `scan` is in
    /// memory its elements do not tell the total, but the other one can still be run.
    pub fn scan_total(self, scan: &Arc<Node>) -> Arc<Node> {
        let mut d = Draft::new(self, smallvec![unforced(scan)]);
        let is = matches!(scan.kind, Kind::Scan(..));
        d.expect(is, || ("a scan".into(), format!("`{}`", scan.name)));
        d.scalar(Kind::ScanTotal, scan.types.clone())
    }
}

/// A node like a scan that never is in memory, since nobody else has it. What is no scan is itself.
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
        error: scan.error.clone(),
        value: OnceLock::new(),
    })
}
