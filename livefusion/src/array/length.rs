//! `len`, and lengths as arguments: known numbers or delayed scalars.

use crate::array::{Array, Ix0};
use crate::ast::{Assert, BodyBuilder, Builder, Len, Node, TermId, show_node};
use crate::elt::{Elt, Int};
use crate::error::ErrorKind;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

impl<T: Elt> Array<T> {
    /// Returns the number of elements, as a delayed scalar.
    ///
    /// Fuses with the loop that computes the array. If only the length is needed and does not
    /// depend on the elements, no elements are computed.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![5i64, -2, 7]);
    /// assert_eq!(xs.filter(|x| x.gt(0)).len().force()?, 2);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[doc(alias = "size")]
    #[track_caller]
    pub fn len(&self) -> Array<u64, Ix0> {
        Array::wrap(Builder::named("len").len(self.node()))
    }
}

/// Describes a length or a position as an argument.
///
/// It is a Rust integer, or a delayed one such as `xs.len()`. A negative length is an error when
/// forced.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a length",
    note = "lengths are integers, or delayed scalars of an integer type; convert with `.map(|n| n.cast::<u64>())`"
)]
pub trait IntoLen {
    /// Returns the length.
    fn into_len(self) -> Extent;
}

impl IntoLen for Extent {
    fn into_len(self) -> Extent {
        self
    }
}

/// Holds a known or delayed length.
#[derive(Clone, Debug)]
pub struct Extent(pub(crate) Amount);

/// Describes the value of a length or a position.
#[derive(Clone, Debug)]
pub enum Amount {
    /// A number.
    Known(u64),
    /// A delayed `u64`.
    Delayed(Arc<Node>),
    /// A negative number, which is not a length. As a position it counts from the end.
    Negative(i128),
}

impl From<i64> for Amount {
    fn from(n: i64) -> Amount {
        n.into_len().0
    }
}

impl Amount {
    /// Converts the amount to a term.
    pub(crate) fn term(&self, b: &mut BodyBuilder) -> TermId {
        match self {
            Amount::Known(n) => b.lit(Const::u64(*n)),
            Amount::Delayed(n) => b.scalar(n, 0),
            Amount::Negative(_) => b.lit(Const::u64(0)),
        }
    }

    /// Converts the amount to a length. Fails if it is negative.
    pub(crate) fn len(self) -> Result<Len, ErrorKind> {
        match self {
            Amount::Known(n) => Ok(Len::Known(n)),
            Amount::Delayed(n) => Ok(Len::Delayed(n)),
            Amount::Negative(n) => Err(negative(n)),
        }
    }

    /// Fails if the amount is negative or not a `u64`.
    pub(crate) fn check(&self) -> Result<(), ErrorKind> {
        match self {
            Amount::Negative(n) => Err(negative(*n)),
            Amount::Delayed(n)
                if n.error.is_none() && (n.rank, &n.types[..]) != (0, &[Ty::U64]) =>
            {
                Err(ErrorKind::Malformed {
                    expected: "a length of type u64".to_string(),
                    got: show_node(n),
                })
            }
            _ => Ok(()),
        }
    }
}

/// The error of a negative length.
pub(crate) fn negative(n: i128) -> ErrorKind {
    ErrorKind::Malformed {
        expected: "a number of 0 or more".to_string(),
        got: n.to_string(),
    }
}

/// Lengths are below this bound. A larger `u64` was cast from a negative number.
pub(crate) const MOST_LENGTH: u64 = 1 << 63;

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl IntoLen for $t {
            fn into_len(self) -> Extent {
                Extent(match u64::try_from(self) {
                    Ok(n) => Amount::Known(n),
                    Err(_) => Amount::Negative(self as i128),
                })
            }
        }
    )*};
}

numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl<I: Int> IntoLen for Array<I, Ix0> {
    fn into_len(self) -> Extent {
        (&self).into_len()
    }
}

impl<I: Int> IntoLen for &Array<I, Ix0> {
    fn into_len(self) -> Extent {
        Extent(Amount::Delayed(length_of(self.node())))
    }
}

/// Converts a delayed integer to `u64`. A negative one is an error of the scalar itself, when
/// computed.
fn length_of(n: &Arc<Node>) -> Arc<Node> {
    let Some(ty) = n.types.first().filter(|ty| **ty != Ty::U64) else {
        return n.clone();
    };
    let builder = Builder::at(n.name, n.loc);
    let mut b = BodyBuilder::new(&[]);
    let given = b.locate(Some(n.loc)).scalar(n, 0);
    let wide = b.cast(given, Ty::U64);
    let checked = match ty.is_signed() {
        true => {
            let most = b.lit(Const::u64(MOST_LENGTH));
            b.ensure(Assert::Below, &[wide, most])
        }
        false => wide,
    };
    builder.compute(b.finish(&[checked]))
}
