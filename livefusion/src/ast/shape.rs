//! Shapes: the axis lengths of arrays of rank 2 or more.

use crate::ast::{
    Assert, BodyBuilder, Builder, Field, Fields, Kind, Len, Node, Term, TermId, Value, counted,
    own_index, trace,
};
use crate::error::ErrorKind;
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::fmt;
use std::sync::Arc;

/// Holds the length of an axis, a delayed `u64`.
///
/// It may be known while building. A body that uses a shape captures the scalar, so that equal
/// lengths are one scalar in a graph.
#[derive(Clone, Debug)]
pub struct Axis(Arc<Node>);

impl Axis {
    /// Creates an axis from a delayed `u64`.
    pub fn delayed(node: Arc<Node>) -> Axis {
        Axis(node)
    }

    /// Returns the common length of segments that are equally long by construction.
    pub fn of_rows(lengths: &Arc<Node>) -> Option<Axis> {
        let body = match &lengths.kind {
            Kind::Generate(_, body) | Kind::Expand(body) => body,
            Kind::CountS if !lengths.is_leaf() => return counted::of_rows(lengths),
            _ => return None,
        };
        if *lengths.types != [Ty::U64] {
            return None;
        }
        match body.terms.get(body.results.first()?.index())?.term {
            Term::Lit(n) => Some(Axis::from(n.bits)),
            Term::Scalar { capture, field: 0 } => {
                let node = body.captures.get(capture as usize)?.node();
                Some(Axis(node.clone()))
            }
            _ => None,
        }
    }

    /// Returns the common lengths of two descriptors, if each has one by construction.
    pub(crate) fn of_both(a: &Arc<Node>, b: &Arc<Node>) -> Option<[Axis; 2]> {
        Some([Axis::of_rows(a)?, Axis::of_rows(b)?])
    }

    /// Returns the delayed scalar.
    pub fn node(&self) -> &Arc<Node> {
        &self.0
    }

    /// Returns the length, where it is known before this force.
    pub fn known(&self) -> Option<u64> {
        match self.0.value.get() {
            Some(Value::Scalar(fields)) => match fields.as_slice() {
                [n] if n.ty == Ty::U64 => Some(n.bits),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether two lengths are certainly equal.
    ///
    /// They are the same number or the same delayed scalar.
    pub fn is(&self, other: &Axis) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.known().is_some() && self.known() == other.known()
    }

    /// Adds the length to a body: a constant if it is known.
    pub(crate) fn number(&self, b: &mut BodyBuilder) -> TermId {
        match self.known() {
            Some(n) => b.lit(Const::u64(n)),
            None => self.term(b),
        }
    }

    /// Adds the length to a body as a term.
    pub fn term(&self, b: &mut BodyBuilder) -> TermId {
        b.scalar(&self.0, 0)
    }

    /// The length within a traced closure.
    pub(crate) fn value(&self, loc: Loc) -> Field {
        if let Some(n) = self.known() {
            return Field::literal(Const::u64(n));
        }
        let fields = Field::value(&self.0, loc);
        let none = Field::literal(Const::u64(0));
        fields.first().map_or(none, |n| n.cast(Ty::U64, loc))
    }

    /// Returns the length for a generator.
    pub fn len(&self) -> Len {
        match self.known() {
            Some(n) => Len::Known(n),
            None => Len::Delayed(self.0.clone()),
        }
    }
}

impl From<u64> for Axis {
    fn from(n: u64) -> Axis {
        Axis(Builder::named("length").constant(&[Const::u64(n)]))
    }
}

impl fmt::Display for Axis {
    /// The number, or `?` while it is delayed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(n) => n.fmt(f),
            None => f.write_str("?"),
        }
    }
}

/// Holds the lengths of an array's axes, the outermost first.
///
/// Elements are stored row by row: elements along the last axis are neighbours. Clones are cheap;
/// arrays computed in lockstep share one shape.
#[derive(Clone, Debug)]
pub struct Shape(Arc<[Axis]>);

impl Shape {
    /// Creates a shape of these axes.
    pub fn new(axes: impl IntoIterator<Item = Axis>) -> Shape {
        Shape(axes.into_iter().collect())
    }

    /// Returns the axes.
    pub fn axes(&self) -> &[Axis] {
        &self.0
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Returns all lengths, where they are known before this force.
    pub fn known(&self) -> Option<Vec<u64>> {
        self.0.iter().map(Axis::known).collect()
    }

    /// Returns the number of elements, where it is known.
    ///
    /// # Errors
    /// If the number of elements does not fit a `u64`.
    pub fn size(&self) -> Result<Option<u64>, ErrorKind> {
        let Some(known) = self.known() else {
            return Ok(None);
        };
        if known.contains(&0) {
            return Ok(Some(0));
        }
        let all = known.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
        all.map(Some)
            .ok_or_else(|| ErrorKind::too_many(format!("the shape {self}")))
    }

    /// Returns whether all axes are certainly equal.
    pub fn is(&self, other: &Shape) -> bool {
        let equal = |(a, b): (&Axis, &Axis)| a.is(b);
        Arc::ptr_eq(&self.0, &other.0)
            || self.rank() == other.rank() && self.0.iter().zip(other.axes()).all(equal)
    }

    /// Moves out the delayed lengths, if the shape is uniquely owned.
    pub(super) fn into_delayed(self, out: &mut impl Extend<Arc<Node>>) {
        if Arc::strong_count(&self.0) == 1 {
            out.extend(self.0.iter().map(|axis| axis.0.clone()));
        }
    }
}

impl fmt::Display for Shape {
    /// Formats the shape as `(3, 4)`; an unknown length is `?`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (k, axis) in self.0.iter().enumerate() {
            if k > 0 {
                f.write_str(", ")?;
            }
            axis.fmt(f)?;
        }
        f.write_str(")")
    }
}

/// Shapes in the graph: descriptors, indices, and reshapes.
impl Builder {
    /// Creates a known length.
    pub fn length(self, n: u64) -> Axis {
        Axis(self.renamed("length").constant(&[Const::u64(n)]))
    }

    /// A length that is known, or else computed by an expression.
    pub(crate) fn computed(self, known: Option<u64>, n: impl FnOnce() -> Field) -> Axis {
        match known {
            Some(n) => self.length(n),
            None => Axis(self.compute(trace(&[], |_| Fields::from_slice(&[n()])))),
        }
    }

    /// Multiplies the lengths of all axes.
    pub fn size(self, axes: &[Axis]) -> Axis {
        let known: Option<Vec<u64>> = axes.iter().map(Axis::known).collect();
        if let Some(known) = known {
            // Overflow is reported where the shape is made.
            return self.length(known.into_iter().fold(1, u64::saturating_mul));
        }
        if let [one] = axes {
            return one.clone();
        }
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(self.loc()));
        let lengths: Vec<TermId> = axes.iter().map(|axis| axis.term(&mut b)).collect();
        let all = b.product_of_lengths(&lengths);
        Axis(self.compute(b.finish(&[all])))
    }

    /// Builds the uniform descriptors of all axes but the first.
    ///
    /// The second axis occurs once per row of the first axis, the third once per row of the second,
    /// and so on. Descriptors cost nothing, and those of equal shapes are one node.
    pub fn descriptors(self, shape: &Shape) -> Vec<Arc<Node>> {
        let mut levels: Vec<Arc<Node>> = Vec::with_capacity(shape.rank());
        let Some((first, rest)) = shape.axes().split_first() else {
            return levels;
        };
        for axis in rest {
            let mut b = BodyBuilder::new(&[Ty::U64]);
            let n = axis.term(b.locate(Some(self.loc())));
            let body = b.finish(&[n]);
            let level = match levels.last() {
                None => self.renamed("rows").generate(first.len(), body),
                Some(around) => self.renamed("rows").expand(around, &[], body),
            };
            levels.push(level);
        }
        levels
    }

    /// Builds the indices of all elements of a shape, row by row.
    ///
    /// There is one field per axis.
    pub fn indices(self, shape: &Shape) -> Arc<Node> {
        let levels = self.descriptors(shape);
        let first = shape.axes().first().map_or(Len::Known(1), Axis::len);
        let mut indices = self.generate(first, super::identity(&[Ty::U64]));
        for (k, level) in levels.iter().enumerate() {
            let mut b = BodyBuilder::new(&vec![Ty::U64; k + 2]);
            let outer = (1..k as u32 + 2).map(|p| b.param(p));
            let mut all: Vec<TermId> = outer.collect();
            all.push(b.param(0));
            indices = self.expand(level, &[indices], b.finish(&all));
        }
        indices
    }

    /// Adds run-time checks of each input's shape against the first input's, axis by axis. None if
    /// all shapes are known to be equal or known to differ.
    pub(super) fn fitted(self, inputs: &[Arc<Node>]) -> Option<Vec<Arc<Node>>> {
        let first = inputs.first()?.shape.as_ref()?;
        if !inputs.iter().any(|n| undecided(n, first).is_some()) {
            return None;
        }
        let fitted = inputs.iter().map(|n| match undecided(n, first) {
            Some(other) => self.held_against(n, other, first),
            None => n.clone(),
        });
        Some(fitted.collect())
    }

    /// Checks an array against another shape: its elements depend on the equality of all axes.
    fn held_against(self, array: &Arc<Node>, own: &Shape, expected: &Shape) -> Arc<Node> {
        let mut b = BodyBuilder::new(&[]);
        b.locate(Some(self.loc()));
        let mut all = b.lit(Const::u64(1));
        for (got, expected) in own.axes().iter().zip(expected.axes()) {
            let (got, expected) = (got.term(&mut b), expected.term(&mut b));
            let agreed = b.ensure(Assert::Equal, &[got, expected]);
            all = b.op(Op::Mul, &[all, agreed]);
        }
        let size = self.compute(b.finish(&[all]));
        // An array with an element has a size other than 0.
        let mut b = BodyBuilder::new(&array.types);
        let size = b.locate(Some(self.loc())).scalar(&size, 0);
        let held = b.all_if_nonzero(size, &array.types);
        let held = self.map(&[self.reshape(array, None)], b.finish(&held));
        self.reshape(&held, Some(own.clone()))
    }

    /// Checks an array of rank 1 against a length at run time, by a zip with a generator.
    pub(crate) fn held(self, array: &Arc<Node>, len: Len) -> Arc<Node> {
        let indices = self.generate(len, super::identity(&[Ty::U64]));
        let both = self.zip(&[array.clone(), indices]);
        self.fields(&both, 0..array.types.len() as u32)
    }

    /// Reinterprets the elements, row by row, under a shape.
    ///
    /// Without a shape the result is of rank 1. It costs nothing. A different number of elements is
    /// a mistake.
    pub fn reshape(self, input: &Arc<Node>, shape: Option<Shape>) -> Arc<Node> {
        let Some(shape) = shape else {
            return match input.rank {
                1 => input.clone(),
                _ => self.reshaped(input, None),
            };
        };
        let elements = self.reshape(input, None);
        let [axis] = shape.axes() else {
            return match own_index::reshaped(&elements, &shape) {
                Some(same) => same,
                None => self.reshaped(&elements, Some(shape)),
            };
        };
        match (elements.known_len(), axis.known()) {
            (Some(expected), Some(got)) if expected != got => {
                let kind = ErrorKind::LengthMismatch { expected, got };
                self.fault(&input.types, 1, kind)
            }
            (Some(_), Some(_)) => elements,
            // An array of rank 1 has no shape to hold the length, so a zip checks it.
            _ => self.held(&elements, axis.len()),
        }
    }
}

/// The shape of an array of the same rank, if its equality with `from` is undecided.
fn undecided<'n>(array: &'n Node, from: &Shape) -> Option<&'n Shape> {
    let own = array.shape.as_ref()?;
    let differ = |(a, b): (&Axis, &Axis)| a.known().zip(b.known()).is_some_and(|(a, b)| a != b);
    let differs = own.rank() != from.rank() || from.axes().iter().zip(own.axes()).any(differ);
    (!differs && !from.is(own)).then_some(own)
}

/// Computes the flat index of an element of a shape.
///
/// For three axes it is `(i * m + j) * n + k`.
pub fn flat_index(b: &mut BodyBuilder, indices: &[TermId], shape: &Shape) -> TermId {
    let mut at = indices.first().copied();
    for (index, axis) in indices.iter().zip(shape.axes()).skip(1) {
        let n = axis.term(b);
        at = at.map(|outer| b.flat(outer, *index, n));
    }
    at.unwrap_or_else(|| b.lit(Const::u64(0)))
}
