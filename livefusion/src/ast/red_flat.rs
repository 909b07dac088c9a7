//! RedFlat: a fold of the folds of rows is one fold of their elements.
//!
//! It is done where it gives the same bits, and the same errors: by plain operators on integers and booleans, if each row's
//! fold adds nothing of its own, and the rows are as long together as what is folded.

use crate::ast::{
    Axis, BodyBuilder, Builder, Fold, FoldStyle, Kind, Len, Node, Shape, Term, plain,
};
use loop_lang::types::Const;
use std::sync::Arc;

/// The elements whose folds these are, if a fold of these folds is one of the elements.
pub(super) fn elements(builder: Builder, folds: &Arc<Node>, fold: &Fold) -> Option<Arc<Node>> {
    let mut found: Option<Arc<Node>> = None;
    while let Some(inner) = Rows::of(found.as_ref().unwrap_or(folds), fold) {
        match inner.held(builder) {
            Some(elements) => found = Some(elements),
            None => break,
        }
    }
    found
}

/// The lengths of longer rows, and the elements whose folds these are, if folds of rows of these folds are ones of rows of
/// the elements.
pub(super) fn rows(
    builder: Builder,
    lengths: &Arc<Node>,
    folds: &Arc<Node>,
    fold: &Fold,
) -> Option<(Arc<Node>, Arc<Node>)> {
    let inner = Rows::of(folds, fold)?;
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

/// Rows of one length that are folded, by an operator that may go on with what it gives.
struct Rows<'n> {
    folds: &'n Arc<Node>,
    elements: &'n Arc<Node>,
    /// The lengths of all axes, that of a row last.
    axes: Vec<Axis>,
}

impl<'n> Rows<'n> {
    fn of(folds: &'n Arc<Node>, outer: &Fold) -> Option<Rows<'n>> {
        let folds = behind_shapes(folds);
        let (Kind::FoldS(inner), [lengths, elements]) = (&folds.kind, folds.inputs.as_slice())
        else {
            return None;
        };
        let axes = axes(lengths)?;
        let never_empty = axes.last()?.known().is_some_and(|n| n > 0);
        let goes = !folds.is_leaf() && folds.error.is_none() && goes_on(inner, outer, never_empty);
        goes.then_some(Rows {
            folds,
            elements,
            axes,
        })
    }

    /// How long each row is.
    fn length(&self) -> Option<&Axis> {
        self.axes.last()
    }

    /// The elements, if there are as many as all rows have together. What is not known is checked in the name of the fold of
    /// rows; but what comes in order is not: it has its rows, or their elements, one after the other anyway.
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

/// How many elements all axes have together, found where the loop begins that asks for it.
fn together(axes: &[Axis]) -> Len {
    let mut b = BodyBuilder::new(&[]);
    let (holds, none) = (b.lit(Const::bool(true)), b.lit(Const::u64(0)));
    let lengths: Vec<_> = axes.iter().map(|axis| axis.term(&mut b)).collect();
    let all = b.product_of_lengths(&lengths);
    Len::Checked(Box::new(b.finish(&[all, holds, none, none, none])))
}

/// Whether folds by `outer` of what `inner` gives are folds of what that takes.
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

/// What has the elements of a node that only gives them another shape.
fn behind_shapes(mut node: &Arc<Node>) -> &Arc<Node> {
    while let (Kind::Zip, [input], false) = (&node.kind, node.inputs.as_slice(), node.is_leaf()) {
        node = input;
    }
    node
}

/// The axes of a uniform descriptor, that of its rows last.
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
