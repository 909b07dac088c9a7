//! RedFlat: a fold of the folds of rows becomes one fold of their elements.
//!
//! The rewrite applies where it gives the same bits and the same errors:
//! - the operators are plain operators on integers and booleans;
//! - each row's fold starts from the identity, or from its first element if no row is empty;
//! - the rows together are as long as the folded array.

use crate::ast::{
    Axis, BodyBuilder, Builder, Fold, FoldStyle, Kind, Len, Node, Shape, Term, plain,
};
use loop_lang::types::Const;
use std::sync::Arc;

/// The elements to fold directly, if a fold of these row folds equals a fold of the elements.
pub(super) fn elements(builder: Builder, folds: &Arc<Node>, fold: &Fold) -> Option<Arc<Node>> {
    let mut found: Option<Arc<Node>> = None;
    while let Some(inner) = FoldedRows::of(found.as_ref().unwrap_or(folds), fold) {
        match inner.held(builder) {
            Some(elements) => found = Some(elements),
            None => break,
        }
    }
    found
}

/// The lengths of longer rows and the elements, if row folds of these row folds equal row folds of
/// the elements.
pub(super) fn rows(
    builder: Builder,
    lengths: &Arc<Node>,
    folds: &Arc<Node>,
    fold: &Fold,
) -> Option<(Arc<Node>, Arc<Node>)> {
    let inner = FoldedRows::of(folds, fold)?;
    // Both folds share the nest of loops that computes the elements.
    if inner.elements.comes_in_order() {
        return None;
    }
    let mut axes = axes(lengths)?;
    let all = builder.size(&axes).known()?;
    if folds.known_len() != Some(all) {
        return None;
    }
    let both = builder.size(&[axes.pop()?, inner.length()?.clone()]);
    axes.push(both);
    let longer = builder.descriptors(&Shape::new(axes)).pop()?;
    Some((longer, inner.held(builder)?))
}

/// Rows of one length with a fold that the outer fold may absorb.
struct FoldedRows<'n> {
    folds: &'n Arc<Node>,
    elements: &'n Arc<Node>,
    /// The lengths of all axes; the row length is last.
    axes: Vec<Axis>,
}

impl<'n> FoldedRows<'n> {
    fn of(folds: &'n Arc<Node>, outer: &Fold) -> Option<FoldedRows<'n>> {
        let folds = behind_shapes(folds);
        let (Kind::FoldS(inner), [lengths, elements]) = (&folds.kind, folds.inputs.as_slice())
        else {
            return None;
        };
        let axes = axes(lengths)?;
        let never_empty = axes.last()?.known().is_some_and(|n| n > 0);
        let goes = !folds.is_leaf() && folds.error.is_none() && goes_on(inner, outer, never_empty);
        goes.then_some(FoldedRows {
            folds,
            elements,
            axes,
        })
    }

    /// The length of each row.
    fn length(&self) -> Option<&Axis> {
        self.axes.last()
    }

    /// The elements, if they are as many as all rows have together.
    ///
    /// An unknown number is checked at run time, under the name of the row fold. Elements that come
    /// in order are left alone: the stream visits rows or elements one after the other anyway.
    fn held(&self, builder: Builder) -> Option<Arc<Node>> {
        let size = builder.size(&self.axes);
        match (size.known(), self.elements.known_len()) {
            (Some(n), Some(m)) => (n == m).then(|| self.elements.clone()),
            _ if self.elements.comes_in_order() => None,
            _ => {
                let folds = self.folds;
                let builder = Builder::at(folds.name, folds.loc);
                Some(builder.held(self.elements, together(&self.axes)))
            }
        }
    }
}

/// The number of elements of all axes together, computed where the consuming loop begins.
fn together(axes: &[Axis]) -> Len {
    let mut b = BodyBuilder::new(&[]);
    let (holds, none) = (b.lit(Const::bool(true)), b.lit(Const::u64(0)));
    let lengths: Vec<_> = axes.iter().map(|axis| axis.term(&mut b)).collect();
    let all = b.product_of_lengths(&lengths);
    Len::Checked(Box::new(b.finish(&[all, holds, none, none, none])))
}

/// Whether folding the results of `inner` by `outer` equals folding the elements of `inner`.
fn goes_on(inner: &Fold, outer: &Fold, never_empty: bool) -> bool {
    let Some(ops) = plain(&inner.step) else {
        return false;
    };
    let types = inner.step.result_types();
    let exact = ops
        .iter()
        .zip(&types)
        .all(|(op, ty)| op.joins_in_any_order(*ty));
    let starts_from_nothing = || {
        let fields = inner.start.results.iter().zip(ops.iter().zip(&types));
        fields.into_iter().all(|(start, (op, ty))| {
            let start = inner.start.terms.get(start.index()).map(|data| data.term);
            matches!(start, Some(Term::Lit(c)) if op.identity(*ty) == Some(c))
        })
    };
    let whole = match (&inner.style, &outer.style) {
        (FoldStyle::Associative, FoldStyle::Associative) => starts_from_nothing(),
        (FoldStyle::Associative, FoldStyle::First) => never_empty && starts_from_nothing(),
        (FoldStyle::First, FoldStyle::Associative | FoldStyle::First) => never_empty,
        _ => false,
    };
    exact && whole && plain(&outer.step).as_ref() == Some(&ops)
}

/// The node below zips that only change the shape.
fn behind_shapes(mut node: &Arc<Node>) -> &Arc<Node> {
    while let (Kind::Zip, [input], false) = (&node.kind, node.inputs.as_slice(), node.is_leaf()) {
        node = input;
    }
    node
}

/// The axes of a uniform descriptor; the row axis is last.
fn axes(lengths: &Arc<Node>) -> Option<Vec<Axis>> {
    let mut axes = Vec::new();
    let mut at = lengths;
    loop {
        axes.push(Axis::of_rows(at)?);
        match (&at.kind, at.inputs.as_slice()) {
            (Kind::Expand(_), [around]) => at = around,
            (Kind::Generate(len, _), _) => {
                axes.push(match len {
                    Len::Known(n) => Axis::from(*n),
                    Len::Delayed(n) => Axis::delayed(n.clone()),
                    Len::Checked(_) => return None,
                });
                axes.reverse();
                return Some(axes);
            }
            _ => return None,
        }
    }
}
