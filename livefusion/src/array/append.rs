//! Concatenation of arrays: `append`, `concat`.

use crate::array::length::Amount;
use crate::array::{Array, Ix1, Rank};
use crate::ast::{BodyBuilder, Builder, Kind, Len, Node, TermId};
use crate::elt::Elt;
use crate::exp::{closure, exp_of};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::sync::Arc;

/// Untyped forms. [`Builder::append`] makes the parts in the phases of one loop.
impl Builder {
    /// Concatenates one or more arrays.
    ///
    /// The result is an index function if all parts are. Otherwise the parts are the phases of one
    /// loop.
    pub fn concat(self, parts: &[Arc<Node>]) -> Arc<Node> {
        let kept = not_empty(parts);
        let parts = kept.as_deref().unwrap_or(parts);
        match parts {
            [one] => one.clone(),
            [first, rest @ ..]
                if parts.iter().all(is_function) && rest.iter().all(|p| p.types == first.types) =>
            {
                by_index(self, parts)
            }
            _ => self.append(parts),
        }
    }
}

impl<T: Elt> Array<T> {
    /// Returns the elements of this array, then those of `other`.
    ///
    /// Arrays in memory and index functions (`generate`, `iota`, `reverse`, ...) give an index
    /// function. It costs one comparison per element, fuses with its consumers, and allows random
    /// access.
    ///
    /// Otherwise the result is made in the loop that computes the inputs (a `map`, a `filter`,
    /// ...). That loop has two *phases*: first this array, then the other. Consumers of the result
    /// run through both phases.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let (xs, ys) = (Array::from(vec![1i64, 2]), Array::from(vec![3i64]));
    /// assert_eq!(xs.append(&ys).map(|x| x * x).force()?, [1, 4, 9]);
    /// // One loop over `xs`, then over `ys`, without arrays in between.
    /// let odd = |x: Exp<i64>| (x % 2).eq(1);
    /// assert_eq!(xs.filter(odd).append(&ys.filter(odd)).sum().force()?, 4);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("chain", "concatenate", "hstack"))]
    #[track_caller]
    pub fn append(&self, other: &Array<T>) -> Array<T> {
        let parts = [self.node().clone(), other.node().clone()];
        Array::wrap(Builder::named("append").concat(&parts))
    }
}

/// Describes an array in a list of arrays to join.
///
/// It is an [`Array`], a reference to one, or a reference to a reference. The last occurs in a list
/// of references.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be joined with other arrays of type `{T}`",
    note = "give a list of arrays of one type and rank, or of references to them: `concat([&xs, &ys])`"
)]
pub trait Part<T: Elt, D: Rank> {
    /// Returns the array.
    fn part(&self) -> &Array<T, D>;
}

impl<T: Elt, D: Rank> Part<T, D> for Array<T, D> {
    fn part(&self) -> &Array<T, D> {
        self
    }
}

impl<T: Elt, D: Rank, P: Part<T, D>> Part<T, D> for &P {
    fn part(&self) -> &Array<T, D> {
        (**self).part()
    }
}

/// Returns the nodes of several arrays.
pub(crate) fn nodes_of<T: Elt, D: Rank>(
    arrays: impl IntoIterator<Item = impl Part<T, D>>,
) -> Vec<Arc<Node>> {
    let arrays = arrays.into_iter();
    arrays.map(|a| a.part().node().clone()).collect()
}

/// Concatenates several arrays.
///
/// An empty list gives an empty array. The argument is a list of arrays or of references, or a
/// reference to such a list.
///
/// Fuses as [`append`](Array::append) does. An index function over k arrays costs about log k
/// comparisons per element.
///
/// ```
/// use livefusion::prelude::*;
/// let (xs, ys) = (Array::from(vec![1u64, 2]), iota(2));
/// assert_eq!(concat([&xs, &ys, &xs]).force()?, [1, 2, 0, 1, 1, 2]);
/// assert_eq!(concat(&[&xs, &ys]).force()?, [1, 2, 0, 1]);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[doc(alias = "concatenate")]
#[track_caller]
pub fn concat<T: Elt>(arrays: impl IntoIterator<Item = impl Part<T, Ix1>>) -> Array<T> {
    let builder = Builder::named("concat");
    let parts = nodes_of(arrays);
    Array::wrap(match parts.as_slice() {
        [] => {
            let nothing = closure::<u64, T>(|_| exp_of::<T>(&[]));
            builder.generate(Len::Known(0), nothing)
        }
        parts => builder.concat(parts),
    })
}

/// Joins two or more arrays into an index function.
pub(crate) fn by_index(builder: Builder, parts: &[Arc<Node>]) -> Arc<Node> {
    let ends = ends(builder, parts);
    let mut b = BodyBuilder::new(&[Ty::U64]);
    let i = b.locate(Some(builder.loc())).param(0);
    let ends_here: Vec<TermId> = ends.iter().map(|e| e.term(&mut b)).collect();
    let fields = search(&mut b, parts, &ends_here, None, i);
    builder.generate(length(ends), b.finish(&fields))
}

/// The parts without empty ones, if there are any. An empty part that a loop computes may fail.
fn not_empty(parts: &[Arc<Node>]) -> Option<Vec<Arc<Node>>> {
    let first = parts.first()?;
    let are_alike = parts
        .iter()
        .all(|p| p.types == first.types && p.error.is_none());
    let is_empty = |part: &Arc<Node>| {
        let fails_not = part.is_leaf() || matches!(part.kind, Kind::Generate(Len::Known(0), _));
        fails_not && part.known_len() == Some(0)
    };
    let mut kept: Vec<Arc<Node>> = parts.iter().filter(|p| !is_empty(p)).cloned().collect();
    if kept.is_empty() {
        kept.push(first.clone());
    }
    (are_alike && kept.len() < parts.len()).then_some(kept)
}

/// Tests if an array allows access to any element by its index.
fn is_function(array: &Arc<Node>) -> bool {
    let mut stack = vec![array];
    while let Some(node) = stack.pop() {
        match node.kind {
            _ if node.is_leaf() => {}
            Kind::Generate(..) => {}
            Kind::Zip | Kind::Fields(_) => stack.extend(&node.inputs),
            _ => return false,
        }
    }
    true
}

/// Returns the total length of several arrays.
pub(crate) fn total(builder: Builder, parts: &[Arc<Node>]) -> Len {
    length(ends(builder, parts))
}

fn length(ends: Vec<Amount>) -> Len {
    match ends.into_iter().next_back() {
        Some(Amount::Delayed(n)) => Len::Delayed(n),
        Some(Amount::Known(n)) => Len::Known(n),
        _ => Len::Known(0),
    }
}

/// Returns the end of each array in the concatenation. An overflow of the length is reported when
/// the length is computed.
fn ends(builder: Builder, parts: &[Arc<Node>]) -> Vec<Amount> {
    let mut end = Amount::Known(0);
    let mut after = |part: &Arc<Node>| {
        let known = match (&end, part.known_len()) {
            (Amount::Known(before), Some(n)) => before.checked_add(n),
            _ => None,
        };
        end = match known {
            Some(n) => Amount::Known(n),
            None => Amount::Delayed(sum(builder, &end, part)),
        };
        end.clone()
    };
    parts.iter().map(&mut after).collect()
}

/// `before + part.len()`.
fn sum(builder: Builder, before: &Amount, part: &Arc<Node>) -> Arc<Node> {
    let len = builder.len(part);
    let mut b = BodyBuilder::new(&[]);
    let before = before.term(b.locate(Some(builder.loc())));
    let n = b.scalar(&len, 0);
    let end = b.sum_of_lengths(before, n);
    builder.compute(b.finish(&[end]))
}

/// Reads element `i` by bisection. The `parts` end at `ends`; the first part begins at `start`
/// (`None` for 0).
fn search(
    b: &mut BodyBuilder,
    parts: &[Arc<Node>],
    ends: &[TermId],
    start: Option<TermId>,
    i: TermId,
) -> Vec<TermId> {
    if let [part] = parts {
        let at = start.map_or(i, |s| b.op(Op::Sub, &[i, s]));
        let fields = 0..part.types.len() as u32;
        return fields.map(|f| b.at(part, f, at, false)).collect();
    }
    let half = parts.len() / 2;
    let (Some((left, right)), Some((left_ends, right_ends))) =
        (parts.split_at_checked(half), ends.split_at_checked(half))
    else {
        return Vec::new();
    };
    let Some(middle) = left_ends.last().copied() else {
        return Vec::new();
    };
    let is_left = b.op(Op::Lt, &[i, middle]);
    let left = search(b, left, left_ends, start, i);
    let right = search(b, right, right_ends, Some(middle), i);
    let both = left.into_iter().zip(right);
    both.map(|(l, r)| b.cond(is_left, l, r)).collect()
}
