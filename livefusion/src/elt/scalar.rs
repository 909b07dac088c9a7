//! Scalars as elements, and classes of scalars for operators.

use crate::ast::Types;
use crate::elt::{Elt, collected};
use crate::exp::{Exp, Field, Fields, IntoExp, ToExp};
use livefusion_backend::{Buffer, Prim};
use loop_lang::types::Ty;
use std::sync::Arc;
use std::{fmt, slice};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("livefusion needs a machine with 64-bit pointers");

/// Describes a one-word element.
///
/// Generic code over `T: Scalar` uses `Exp<T>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar",
    note = "scalars are bool, integers up to 64 bits, f32 and f64"
)]
pub trait Scalar:
    for<'a> Elt<Exp = Exp<Self>, Iter<'a> = slice::Iter<'a, Self>> + Prim + fmt::Display
{
}

/// Describes numbers: integers and floats.
#[diagnostic::on_unimplemented(
    message = "arithmetic needs numbers, and `{Self}` is none",
    note = "to count with a `bool`, `.cast::<u64>()` it; of tuples and structs, take the fields"
)]
pub trait Num: Scalar {
    /// The number 1.
    const ONE: Self;
    /// Names the type of means: `f64` for integers, the float type itself for floats.
    type Mean: Float;
}

/// Describes integers.
#[diagnostic::on_unimplemented(message = "`{Self}` is not an integer type")]
pub trait Int: Num {}

/// Describes `bool` and integers, the operands of `&`, `|`, `^` and `!`.
#[diagnostic::on_unimplemented(
    message = "`&`, `|`, `^` and `!` need `bool` or integers, and `{Self}` is neither"
)]
pub trait Bits: Scalar {}

/// Describes `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a float",
    note = "convert with `.cast::<f64>()`"
)]
pub trait Float: Num<Mean = Self> {
    /// Names the unsigned integer type of the same width.
    type Bits: Int;
    /// 180 / pi, rounded to this type.
    const DEGREES_PER_RADIAN: Self;
    /// pi / 180, computed in this type as std does.
    const RADIANS_PER_DEGREE: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;
    /// Rounds a literal to this type, for generic code.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// fn halve<T: Float>(xs: &Array<T>) -> Array<T> {
    ///     xs.map(|x| x * T::lit(0.5))
    /// }
    /// assert_eq!(halve(&Array::from(vec![1.0f32, 3.0])).force()?, [0.5, 1.5]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    fn lit(x: f64) -> Exp<Self>;
}

macro_rules! scalars {
    ($($t:ty)*) => {$(
        impl Elt for $t {
            type Exp = Exp<$t>;
            const FIELDS: u32 = 1;
            fn types(out: &mut Types) {
                out.push(<$t as Prim>::TY);
            }
            fn of_fields(next: &mut dyn FnMut(Ty) -> Field) -> Exp<$t> {
                Exp::of(next(<$t as Prim>::TY))
            }
            fn fields(e: Exp<$t>, out: &mut Fields) {
                out.push(e.field());
            }
            fn split(values: Vec<$t>, out: &mut Vec<Arc<Buffer>>) {
                out.push(Arc::new(Buffer::from_vec(values)));
            }
            fn join(columns: &mut dyn Iterator<Item = Arc<Buffer>>) -> Option<Vec<$t>> {
                match Arc::try_unwrap(columns.next()?) {
                    Ok(buffer) => buffer.into_vec().ok(),
                    Err(shared) => {
                        let elements = shared.as_slice::<$t>()?;
                        collected(elements.len(), elements.iter().copied())
                    }
                }
            }
            fn read(columns: &mut std::slice::Iter<'_, Arc<Buffer>>, at: usize) -> Option<$t> {
                columns.next()?.as_slice()?.get(at).copied()
            }
            fn of_words(next: &mut dyn FnMut() -> u64) -> $t {
                <$t as Prim>::from_word(next())
            }
            type Iter<'a> = slice::Iter<'a, $t>;
            fn iter(columns: &[Arc<Buffer>]) -> slice::Iter<'_, $t> {
                let values = columns.first().and_then(|c| c.as_slice());
                values.unwrap_or_default().iter()
            }
            fn show(next: &mut dyn FnMut() -> String, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&next())
            }
        }
        impl Scalar for $t {}
        impl ToExp<$t> for $t {
            fn to_exp(self) -> Exp<$t> {
                Exp::lit(self)
            }
        }
        impl IntoExp for $t {
            type Elt = $t;
        }
    )*};
}

scalars!(bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Num for $t {
            const ONE: $t = 1;
            type Mean = f64;
        }
        impl Int for $t {}
        impl Bits for $t {}
    )*};
}

integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
impl Bits for bool {}

macro_rules! floats {
    ($($t:ident $bits:ty;)*) => {$(
        impl Num for $t {
            const ONE: $t = 1.0;
            type Mean = $t;
        }
        impl Float for $t {
            type Bits = $bits;
            const DEGREES_PER_RADIAN: $t = (180.0 / std::f64::consts::PI) as $t;
            const RADIANS_PER_DEGREE: $t = std::$t::consts::PI / 180.0;
            const MIN_POSITIVE: $t = $t::MIN_POSITIVE;
            fn lit(x: f64) -> Exp<$t> {
                Exp::lit(x as $t)
            }
        }
    )*};
}

floats! {
    f32 u32;
    f64 u64;
}
