//! Functions of an element and its neighbours: `stencil1`, `stencil2`, `stencil3`.

use super::make::{built, one_of, shaped, traced};
use crate::array::{
    Array, Boundary, Dim, Ix1, Ix2, Ix3, MOST_OF_A_WINDOW, clamped, mirrored, wrapped,
};
use crate::ast::{Body, Builder, Node};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{Exp, Field, Fields, IntoExp, ToExp, exp_of, fields_of, trace};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Describes the neighbours outside of an untyped array.
pub struct Border<'f> {
    /// The boundary along each axis. `None` uses [`outside`](Border::outside). A constant is a body
    /// without parameters.
    pub along: Vec<Option<Boundary<Body>>>,
    /// The element at an index outside, of one `i64` per axis. Indices before the array are
    /// negative. Along axes with a boundary they are in range.
    pub outside: Option<OfIndex<'f>>,
}

/// Maps an index to an element, in a closure in tracing.
pub type OfIndex<'f> = &'f dyn Fn(&[Field]) -> Fields;

impl Builder {
    /// Applies `f` to the neighbours of each element, which is one of them.
    ///
    /// The neighbours are a window with one size per axis, in row-major order. Along each axis the
    /// window begins `size / 2` places before the element. This is
    /// [`stencil2`](crate::Array::stencil2) for any rank. There must be a size and a boundary per
    /// axis. A boundary can be `None` only if there is a function.
    ///
    /// ```
    /// use livefusion::ast::{BodyBuilder, Builder};
    /// use livefusion::prelude::*;
    /// use livefusion::ranked::Border;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let border = Border { along: vec![Some(Boundary::Clamp), Some(Boundary::Wrap)], outside: None };
    /// // Of the window's one row of three the last.
    /// let right = Builder::named("stencil2").stencil(m.node(), &[1, 3], &border, |window| window[2].clone());
    /// assert_eq!(Array::<i64, Ix2>::from_node(right)?.force()?, [[2, 1], [4, 3]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn stencil(
        self,
        xs: &Arc<Node>,
        sizes: &[usize],
        border: &Border<'_>,
        f: impl FnOnce(&[Fields]) -> Fields,
    ) -> Arc<Node> {
        let loc = self.loc();
        built(self, &[xs], (&xs.types, xs.rank), || {
            border.check(xs)?;
            let shape = self.shape(xs);
            if sizes.len() != shape.rank() {
                return Err(ErrorKind::Malformed {
                    expected: format!("a size for each of {} axes", shape.rank()),
                    got: format!("{sizes:?}"),
                });
            }
            let elements = sizes
                .iter()
                .try_fold(1usize, |n, size| n.checked_mul(*size));
            if elements.is_none_or(|n| n > MOST_OF_A_WINDOW) {
                return Err(ErrorKind::Malformed {
                    expected: format!("windows of at most {MOST_OF_A_WINDOW} elements"),
                    got: format!("{sizes:?}"),
                });
            }
            let source = self.flatten(xs);
            let made = traced(self, &shape, |parts| {
                let lens = shape
                    .axes()
                    .iter()
                    .map(|a| trace::scalar(a.node(), 0, Ty::U64, loc));
                let lens: Vec<Field> = lens.collect();
                let here = StencilPoint {
                    source: &source,
                    parts,
                    lens: &lens,
                    loc,
                };
                let window = windows(sizes).into_iter();
                let window: Vec<Fields> = window.map(|at| here.neighbour(&at, border)).collect();
                f(&window)
            });
            Ok(shaped(self, &made, &shape))
        })
    }
}

/// Returns the offset of each window element along each axis, in row-major order.
fn windows(sizes: &[usize]) -> Vec<Vec<i128>> {
    sizes.iter().fold(vec![Vec::new()], |outer, size| {
        let longer = |at: &Vec<i128>| {
            let at = at.clone();
            (0..*size).map(move |k| {
                let near = k as i128 - (size / 2) as i128;
                at.iter().copied().chain([near]).collect()
            })
        };
        outer.iter().flat_map(longer).collect()
    })
}

impl Border<'_> {
    /// Checks that the elements outside of an array are defined.
    fn check(&self, xs: &Node) -> Result<(), ErrorKind> {
        if self.along.len() != usize::from(xs.rank) {
            return Err(ErrorKind::Malformed {
                expected: format!("a boundary for each of {} axes", xs.rank),
                got: self.along.len().to_string(),
            });
        }
        for boundary in &self.along {
            match boundary {
                Some(Boundary::Constant(c)) => one_of(&xs.types, c)?,
                None if self.outside.is_none() => {
                    return Err(ErrorKind::Malformed {
                        expected: "a boundary along each axis, or a function".to_string(),
                        got: "neither".to_string(),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl<T: Elt> Array<T, Ix1> {
    /// Applies `f` to the `N` neighbours of each element.
    ///
    /// This is [`windows`](Array::windows) with any [`Edges`].
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 6]);
    /// let sums = xs.stencil1(outside(|[i]| 10 * i), |[a, b, c]| a + b + c);
    /// assert_eq!(sums.force()?, [-7, 9, 38]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "convolve")]
    #[track_caller]
    pub fn stencil1<const N: usize, R: IntoExp>(
        &self,
        edges: impl Edges<T, Ix1>,
        f: impl FnOnce([T::Exp; N]) -> R,
    ) -> Array<R::Elt, Ix1> {
        over(Builder::named("stencil1"), self, &[N], &edges, |next| {
            f(std::array::from_fn(|_| next())).to_exp()
        })
    }
}

impl<T: Elt> Array<T, Ix2> {
    /// Applies `f` to the neighbours of each element, which is one of them.
    ///
    /// The neighbours are `N` rows of `M`. For 3 rows of 3 the element is in the middle. In general
    /// the window begins `N / 2` rows and `M / 2` columns before it. `edges` defines the neighbours
    /// outside: a [`Boundary`] for all axes, an array of one per axis, or [`outside`]. A window can
    /// be larger than the array.
    ///
    /// The result has the shape of the array. Fuses with its consumers, and with a source whose
    /// elements are cheap index functions. Other sources are read from memory. This is `stencil` in
    /// Accelerate.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let m = Array::from([[1i64, 2], [3, 4]]);
    /// let sums = m.stencil2(Boundary::Constant(0), |[[_, n, _], [w, here, e], [_, s, _]]| n + w + here + e + s);
    /// assert_eq!(sums.force()?, [[6, 7], [8, 9]]);
    /// let steps = m.stencil2([Boundary::Clamp, Boundary::Wrap], |[[before, here]]| here - before);
    /// assert_eq!(steps.force()?, [[-1, 1], [-1, 1]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "convolve2d")]
    #[track_caller]
    pub fn stencil2<const N: usize, const M: usize, R: IntoExp>(
        &self,
        edges: impl Edges<T, Ix2>,
        f: impl FnOnce([[T::Exp; M]; N]) -> R,
    ) -> Array<R::Elt, Ix2> {
        use std::array::from_fn;
        over(Builder::named("stencil2"), self, &[N, M], &edges, |next| {
            f(from_fn(|_| from_fn(|_| next()))).to_exp()
        })
    }
}

impl<T: Elt> Array<T, Ix3> {
    /// Applies `f` to the neighbours of each element.
    ///
    /// The neighbours are `N` planes of `M` rows of `K`. Otherwise as
    /// [`stencil2`](Array::stencil2).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let a = generate((2, 2, 2), |(i, j, k)| 100 * i + 10 * j + k);
    /// let steps = a.stencil3(Boundary::Wrap, |[[[before]], [[here]]]| here + before);
    /// assert_eq!(steps.sum().force()?, 2 * a.sum().force()?);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn stencil3<const N: usize, const M: usize, const K: usize, R: IntoExp>(
        &self,
        edges: impl Edges<T, Ix3>,
        f: impl FnOnce([[[T::Exp; K]; M]; N]) -> R,
    ) -> Array<R::Elt, Ix3> {
        use std::array::from_fn;
        over(
            Builder::named("stencil3"),
            self,
            &[N, M, K],
            &edges,
            |next| f(from_fn(|_| from_fn(|_| from_fn(|_| next())))).to_exp(),
        )
    }
}

/// Describes the neighbours outside of an array of rank `D`.
///
/// It is a [`Boundary`], an array of one per axis, or [`outside`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` gives no values outside of an array of rank `{D}`",
    note = "give a `Boundary`, an array of one for each axis, or `outside(|[i, j]| ..)`"
)]
pub trait Edges<T, D> {
    /// Returns the boundary along an axis, or `None` for a function of the index.
    fn along(&self, axis: usize) -> Option<Boundary<T>>;
    /// Returns the element at an index outside, in a closure in tracing.
    #[doc(hidden)]
    fn at(&self, index: &[Field]) -> Fields;
}

impl<T: Elt, D: Dim> Edges<T, D> for Boundary<T> {
    fn along(&self, _: usize) -> Option<Boundary<T>> {
        Some(self.clone())
    }
    fn at(&self, _: &[Field]) -> Fields {
        Fields::new()
    }
}

/// Computes neighbours outside from their index, see [`outside`].
#[derive(Clone, Debug)]
pub struct Outside<F, T, const N: usize> {
    f: F,
    others: Vec<(usize, Boundary<T>)>,
}

/// Computes neighbours outside of an array from their index.
///
/// The parts of the index are signed, and negative before the array. An axis can have another
/// [`Boundary`](Outside::along). Along it the index is in range.
///
/// ```
/// use livefusion::prelude::*;
/// let m = Array::from([[1i64, 2], [3, 4]]);
/// let edges = outside(|[i, j]| 100 * i + j).along(1, Boundary::Clamp);
/// let sums = m.stencil2(edges, |[[a, b], [c, d]]| a + b + c + d);
/// assert_eq!(sums.force()?, [[-198, -196], [8, 10]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
pub fn outside<T, R, F: Fn([Exp<i64>; N]) -> R, const N: usize>(f: F) -> Outside<F, T, N> {
    let others = Vec::new();
    Outside { f, others }
}

impl<F, T, const N: usize> Outside<F, T, N> {
    /// Uses a boundary along this axis.
    #[must_use]
    pub fn along(mut self, axis: usize, boundary: Boundary<T>) -> Outside<F, T, N> {
        self.others.push((axis, boundary));
        self
    }
}

macro_rules! ranks {
    ($($D:ident $n:literal;)*) => {$(
        impl<T: Elt> Edges<T, $D> for [Boundary<T>; $n] {
            fn along(&self, axis: usize) -> Option<Boundary<T>> {
                self.get(axis).cloned()
            }
            fn at(&self, _: &[Field]) -> Fields {
                Fields::new()
            }
        }

        impl<T: Elt, R: ToExp<T>, F: Fn([Exp<i64>; $n]) -> R> Edges<T, $D> for Outside<F, T, $n> {
            fn along(&self, axis: usize) -> Option<Boundary<T>> {
                let last = self.others.iter().rfind(|(a, _)| *a == axis);
                last.map(|(_, boundary)| boundary.clone())
            }
            fn at(&self, index: &[Field]) -> Fields {
                let part = |k: usize| index.get(k).map_or(Exp::lit(0), |f| Exp::of(*f));
                fields_of::<T>((self.f)(std::array::from_fn(part)).to_exp())
            }
        }
    )*};
}

ranks! {
    Ix1 1;
    Ix2 2;
    Ix3 3;
}

/// Applies a function to the elements of a window, which it requests one by one.
fn over<T: Elt, D: Dim, S: Elt>(
    builder: Builder,
    array: &Array<T, D>,
    sizes: &[usize],
    edges: &impl Edges<T, D>,
    f: impl FnOnce(&mut dyn FnMut() -> T::Exp) -> S::Exp,
) -> Array<S, D> {
    let along = (0..sizes.len()).map(|axis| edges.along(axis).map(Boundary::untyped));
    let border = Border {
        along: along.collect(),
        outside: Some(&|index| edges.at(index)),
    };
    let made = builder.stencil(array.node(), sizes, &border, |window| {
        let mut window = window.iter();
        fields_of::<S>(f(&mut || exp_of::<T>(window.next().map_or(&[], |x| x))))
    });
    Array::checked(builder, made)
}

/// An element and its surroundings.
struct StencilPoint<'a> {
    source: &'a Arc<Node>,
    parts: &'a [Field],
    lens: &'a [Field],
    loc: Loc,
}

impl StencilPoint<'_> {
    fn neighbour(&self, offsets: &[i128], border: &Border<'_>) -> Fields {
        let loc = self.loc;
        // The position to read, the index if it lies outside, and the element in that case.
        let (mut at, mut index) = (None, Vec::new());
        let (mut inside, mut others): (Option<Field>, Vec<(Field, Fields)>) = (None, Vec::new());
        for (axis, ((i, n), offset)) in self.parts.iter().zip(self.lens).zip(offsets).enumerate() {
            let (i, n, offset) = (*i, *n, *offset);
            let signed = |f: Field| trace::op(Op::Cast, &[f], Ty::I64, loc);
            let (there, part) = match &border.along[axis] {
                _ if offset == 0 => (i, signed(i)),
                Some(Boundary::Clamp) => kept(clamped(i, n, offset, loc), signed),
                Some(Boundary::Wrap) => kept(wrapped(i, n, offset, loc), signed),
                Some(Boundary::Mirror) => kept(mirrored(i, n, offset, loc), signed),
                Some(Boundary::Constant(c)) => {
                    let (there, is) = trace::neighbour(i, n, offset, loc);
                    others.push((is, Field::apply(c, &[], loc)));
                    (there, signed(there))
                }
                None => {
                    let (there, is) = trace::neighbour(i, n, offset, loc);
                    inside = Some(match inside {
                        None => is,
                        Some(all) => trace::op(Op::And, &[all, is], Ty::Bool, loc),
                    });
                    let far = Field::literal(Const::new(Ty::I64, offset as i64 as u64));
                    (there, trace::op(Op::Add, &[signed(i), far], Ty::I64, loc))
                }
            };
            index.push(part);
            at = Some(match at {
                None => there,
                Some(outer) => trace::flat([outer, there, n], false, loc),
            });
        }
        let at = at.unwrap_or_else(|| Field::literal(Const::u64(0)));
        let mut value = Field::at_unchecked(self.source, at, loc);
        if let (Some(inside), Some(outside)) = (inside, border.outside) {
            others.push((inside, outside(&index)));
        }
        for (inside, other) in others {
            value = inside.cond(&value, &other, loc);
        }
        value
    }
}

fn kept(there: Field, signed: impl Fn(Field) -> Field) -> (Field, Field) {
    (there, signed(there))
}
