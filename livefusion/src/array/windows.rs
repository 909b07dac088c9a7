//! Windows of neighbours: `windows`, `sliding_windows`.

use crate::array::{Array, IntoLen, Ix2, extent, length_of};
use crate::ast::{Axis, Body, Builder, Len, Node, Shape};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::exp::{Field, Fields, IntoExp, exp_of, fields_of, trace, types_of, value};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Describes the neighbours outside of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Boundary<T> {
    /// The nearest element of the array.
    Clamp,
    /// The array repeats from its other end.
    Wrap,
    /// The array is reflected at its end, which is not repeated: `.. c b | a b c | b a ..`.
    Mirror,
    /// A constant.
    Constant(T),
}

impl<T: Elt> Boundary<T> {
    /// Converts the constant to a body.
    pub(crate) fn untyped(self) -> Boundary<Body> {
        match self {
            Boundary::Clamp => Boundary::Clamp,
            Boundary::Wrap => Boundary::Wrap,
            Boundary::Mirror => Boundary::Mirror,
            Boundary::Constant(c) => Boundary::Constant(value::<T>(|| c.to_exp())),
        }
    }
}

/// The largest size of a window. Each element of a window is a separate expression.
pub(crate) const MOST_OF_A_WINDOW: usize = 1 << 16;

impl Builder {
    /// Applies `f` to the `size` neighbours of each element.
    ///
    /// The first neighbour is `size / 2` places before the element. The constant of a boundary is a
    /// body without parameters.
    pub fn windows(
        self,
        xs: &Arc<Node>,
        size: usize,
        boundary: &Boundary<Body>,
        f: impl FnOnce(&[Fields]) -> Fields,
    ) -> Arc<Node> {
        if size > MOST_OF_A_WINDOW {
            let expected = format!("windows of at most {MOST_OF_A_WINDOW} elements");
            let got = size.to_string();
            return self.fault(&xs.types, 1, ErrorKind::Malformed { expected, got });
        }
        let f = match self.windows_in_order(xs, size, boundary, f) {
            Ok(windows) => return windows,
            Err(f) => f,
        };
        let (loc, len) = (self.loc(), self.len(xs));
        let body = trace::trace(&[Ty::U64], |params| {
            let (i, n) = (params[0], trace::scalar(&len, 0, Ty::U64, loc));
            let far = |k: usize| k as i128 - (size / 2) as i128;
            let one = |k: usize| neighbour(xs, [i, n], far(k), boundary, loc);
            f(&(0..size).map(one).collect::<Vec<_>>())
        });
        self.generate(Len::Delayed(len), body)
    }
}

/// Windows whose width is known only at run time.
impl Builder {
    /// Returns the complete windows of a width, one every `stride` elements.
    ///
    /// They are the rows of a matrix. Width and stride are delayed `u64`s.
    pub fn sliding_windows(self, xs: &Arc<Node>, width: Axis, stride: Axis) -> Arc<Node> {
        if stride.known() == Some(0) {
            let (expected, got) = ("a stride of 1 or more".to_string(), "0".to_string());
            return self.instead(
                &[xs],
                (&xs.types, 2),
                ErrorKind::Malformed { expected, got },
            );
        }
        let (loc, len) = (self.loc(), length_of(self, xs));
        let known = len.known().zip(width.known().zip(stride.known()));
        let known =
            known.map(|(n, (width, stride))| n.checked_sub(width).map_or(0, |n| n / stride + 1));
        let windows = self.computed(known, || {
            let (n, width, stride) = (len.value(loc), width.value(loc), stride.value(loc));
            let some = op(Op::Max, &[n, width], loc);
            let steps = op(Op::Div, &[op(Op::Sub, &[some, width], loc), stride], loc);
            let fits = trace::op(Op::Ge, &[n, width], Ty::Bool, loc);
            op(Op::Add, &[steps, fits.cast(Ty::U64, loc)], loc)
        });
        self.generate_in(&Shape::new([windows, width]), |parts| {
            let begin = op(Op::Mul, &[parts[0], stride.value(loc)], loc);
            Field::at_unchecked(xs, op(Op::Add, &[begin, parts[1]], loc), loc)
        })
    }
}

/// Reads the element at `i + offset` in an array of `n` elements.
fn neighbour(
    xs: &Arc<Node>,
    [i, n]: [Field; 2],
    offset: i128,
    boundary: &Boundary<Body>,
    loc: Loc,
) -> Fields {
    let read = |index: Field| Field::at_unchecked(xs, index, loc);
    if offset == 0 {
        return read(i);
    }
    match boundary {
        Boundary::Clamp => read(clamped(i, n, offset, loc)),
        Boundary::Wrap => read(wrapped(i, n, offset, loc)),
        Boundary::Mirror => read(mirrored(i, n, offset, loc)),
        Boundary::Constant(c) => {
            let (there, inside) = trace::neighbour(i, n, offset, loc);
            let other = Field::apply(c, &[], loc);
            inside.cond(&read(there), &other, loc)
        }
    }
}

impl<T: Elt> Array<T> {
    /// Applies `f` to the `K` neighbours of each element, which is one of them.
    ///
    /// For `K` = 3 they are `[before, here, after]`. In general the first neighbour is `K / 2`
    /// places before. The result is as long as the array. Fuses with its consumers, and with a
    /// source whose elements are cheap index functions. Clamped or with a constant, it also fuses
    /// with a scan for `K` up to 5, and with a filter for `K` = 2. Other sources are read from memory.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f64, 2.0, 6.0]);
    /// let smooth = xs.windows(Boundary::Clamp, |[a, b, c]| (a + b + c) / 3.0);
    /// assert_eq!(smooth.to_vec()?, [4.0 / 3.0, 3.0, 14.0 / 3.0]);
    /// let steps = xs.windows(Boundary::Constant(0.0), |[before, here]| here - before);
    /// assert_eq!(steps.to_vec()?, [1.0, 1.0, 4.0]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias("convolve", "rolling", "sliding_window_view"))]
    #[track_caller]
    pub fn windows<const K: usize, R: IntoExp>(
        &self,
        boundary: Boundary<T>,
        f: impl FnOnce([T::Exp; K]) -> R,
    ) -> Array<R::Elt> {
        let builder = Builder::named("windows");
        let boundary = boundary.untyped();
        let of = |window: &[Fields]| {
            let neighbours = std::array::from_fn(|k| exp_of::<T>(&window[k]));
            fields_of::<R::Elt>(f(neighbours).to_exp())
        };
        Array::wrap(builder.windows(self.node(), K, &boundary, of))
    }
}

impl<T: Elt> Array<T> {
    /// Returns the complete windows of a width, one every `stride` elements.
    ///
    /// They are the rows of a matrix. Width and stride may be delayed. For a closure that sees all
    /// elements of a small window, use [`windows`](Array::windows), which needs no loop.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1i64, 2, 4, 8, 16]);
    /// assert_eq!(xs.sliding_windows(3, 1).along(1).sum().force()?, [7, 14, 28]);
    /// let width = xs.count(|x| x.lt(5)) - 1;
    /// assert_eq!(xs.sliding_windows(&width, 3).force()?, [[1, 2], [8, 16]]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* An index function, which is never stored. Consumers of the rows read the
    /// array, so it is in memory or a cheap index function itself.
    ///
    /// # Errors
    /// When forced: if the stride is 0, or width or stride is negative.
    #[doc(alias("rolling", "sliding_window_view", "unfold"))]
    #[track_caller]
    pub fn sliding_windows(&self, width: impl IntoLen, stride: impl IntoLen) -> Array<T, Ix2> {
        let builder = Builder::named("sliding_windows");
        let sizes = extent(builder, width).and_then(|w| Ok((w, extent(builder, stride)?)));
        Array::wrap(match sizes {
            Ok((width, stride)) => builder.sliding_windows(self.node(), width, stride),
            Err(kind) => builder.fault(&types_of::<T>(), 2, kind),
        })
    }
}

fn number(n: u64) -> Field {
    Field::literal(Const::u64(n))
}

fn op(op: Op, args: &[Field], loc: Loc) -> Field {
    trace::op(op, args, Ty::U64, loc)
}

/// `i + offset`, clamped to the array.
pub(crate) fn clamped(i: Field, n: Field, offset: i128, loc: Loc) -> Field {
    let far = number(offset.unsigned_abs() as u64);
    if offset < 0 {
        let far = op(Op::Min, &[far, i], loc);
        return op(Op::Sub, &[i, far], loc);
    }
    let last = op(Op::Sub, &[n, number(1)], loc);
    let there = op(Op::Add, &[i, far], loc);
    op(Op::Min, &[there, last], loc)
}

/// `i + offset` modulo `period`, for `i < period`. The offset is reduced once, before the loop. A
/// negative offset tests only for the start, and a positive one only for the end. So in the middle
/// of a long array the reads are at a fixed distance.
fn modulo(i: Field, period: Field, offset: i128, loc: Loc) -> Field {
    let far = number(offset.unsigned_abs() as u64);
    let far = op(Op::Rem, &[far, period], loc);
    let (there, passes, around) = if offset < 0 {
        let there = op(Op::Sub, &[i, far], loc);
        let passes = trace::op(Op::Lt, &[i, far], Ty::Bool, loc);
        (there, passes, op(Op::Add, &[there, period], loc))
    } else {
        let there = op(Op::Add, &[i, far], loc);
        let passes = trace::op(Op::Ge, &[there, period], Ty::Bool, loc);
        (there, passes, op(Op::Sub, &[there, period], loc))
    };
    op(Op::Select, &[passes, around, there], loc)
}

pub(crate) fn wrapped(i: Field, n: Field, offset: i128, loc: Loc) -> Field {
    // An empty array has no elements to read, but the period must not be zero.
    let period = op(Op::Max, &[n, number(1)], loc);
    modulo(i, period, offset, loc)
}

pub(crate) fn mirrored(i: Field, n: Field, offset: i128, loc: Loc) -> Field {
    // There and back without repeating the ends: 2 (n - 1) places, at least one.
    let twice = op(Op::Add, &[n, n], loc);
    let period = op(Op::Max, &[twice, number(3)], loc);
    let period = op(Op::Sub, &[period, number(2)], loc);
    let there = modulo(i, period, offset, loc);
    let inside = trace::op(Op::Lt, &[there, n], Ty::Bool, loc);
    let back = op(Op::Sub, &[period, there], loc);
    op(Op::Select, &[inside, there, back], loc)
}
