//! 16-bit floats in memory: [`struct@f16`] and [`bf16`], computed with as `f32`.
//!
//! It needs the feature `half`.
//!
//! ```
//! use livefusion::half::f16;
//! use livefusion::prelude::*;
//! let stored: Array<f16> = Array::from(vec![f16::from_f32(0.5), f16::from_f32(3.0)]);
//! let scaled = stored.to_f32().map(|x| x * 1.5); // computed in f32
//! assert_eq!(scaled.force()?, [0.75, 4.5]);
//! let kept: Array<f16> = scaled.to_half(); // rounded once, where it is stored
//! assert_eq!(kept.to_vec()?, [0.75, 4.5].map(f16::from_f32));
//! # Ok::<(), livefusion::Error>(())
//! ```
//!
//! Such an array takes half the bytes of an array of `f32`. There is no arithmetic on the stored
//! form. Conversions are a few integer operations, and fuse with their producers and consumers.

use crate::array::{Array, Rank};
use crate::ast::Types;
use crate::elt::{Elt, Rows};
use crate::exp::{Exp, Field, Fields, IntoExp, ToExp};
pub use ::half::{bf16, f16};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Describes a float of 16 bits, [`struct@f16`] or [`bf16`].
pub trait Half: Elt<Exp = HalfExp<Self>> + Copy {
    /// Returns the bits.
    fn bits(self) -> u16;
    /// Returns the number of these bits.
    fn of_bits(bits: u16) -> Self;
    /// Converts bits to `f32`, exactly.
    fn widen(bits: Exp<u16>) -> Exp<f32>;
    /// Converts to the nearest number, ties to even; too large ones become infinite.
    fn narrow(x: Exp<f32>) -> Exp<u16>;
}

/// Represents a float of 16 bits in closures.
pub struct HalfExp<H> {
    bits: Exp<u16>,
    of: PhantomData<fn() -> H>,
}

impl<H> Clone for HalfExp<H> {
    fn clone(&self) -> HalfExp<H> {
        *self
    }
}

impl<H> Copy for HalfExp<H> {}

impl<H: Half> HalfExp<H> {
    /// Returns the expression of these bits.
    pub fn of_bits(bits: Exp<u16>) -> HalfExp<H> {
        let of = PhantomData;
        HalfExp { bits, of }
    }

    /// Returns the bits.
    pub fn bits(self) -> Exp<u16> {
        self.bits
    }

    /// Converts to `f32`, to compute with.
    #[track_caller]
    pub fn to_f32(self) -> Exp<f32> {
        H::widen(self.bits)
    }
}

#[diagnostic::do_not_recommend]
impl<H: Half> ToExp<H> for HalfExp<H> {
    fn to_exp(self) -> HalfExp<H> {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<H: Half> IntoExp for HalfExp<H> {
    type Elt = H;
}

impl Exp<f32> {
    /// Converts to the nearest float of 16 bits, to be stored.
    ///
    /// Ties go to even. Too large numbers become infinite.
    ///
    /// ```
    /// use livefusion::half::bf16;
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![1.0f32, 1.001]);
    /// let pairs = xs.map(|x| (x, x.to_half::<bf16>()));
    /// assert_eq!(pairs.to_vec()?[1], (1.001, bf16::from_f32(1.0)));
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    #[track_caller]
    pub fn to_half<H: Half>(self) -> HalfExp<H> {
        HalfExp::of_bits(H::narrow(self))
    }
}

impl<H: Half, D: Rank> Array<H, D> {
    /// Converts the elements to `f32`, to compute with.
    ///
    /// It fuses with everything.
    #[doc(alias = "astype")]
    #[track_caller]
    pub fn to_f32(&self) -> Array<f32, D> {
        self.map(|h| h.to_f32())
    }
}

impl<D: Rank> Array<f32, D> {
    /// Converts the elements to the nearest floats of 16 bits.
    ///
    /// [`Exp::to_half`] has the rules. It fuses with everything.
    #[track_caller]
    pub fn to_half<H: Half>(&self) -> Array<H, D> {
        self.map(|x| x.to_half::<H>())
    }
}

macro_rules! element {
    ($($H:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl ToExp<$H> for $H {
            fn to_exp(self) -> HalfExp<$H> {
                HalfExp::of_bits(Exp::lit(self.bits()))
            }
        }
        #[diagnostic::do_not_recommend]
        impl IntoExp for $H {
            type Elt = $H;
        }
        #[diagnostic::do_not_recommend]
        impl Elt for $H {
            type Exp = HalfExp<$H>;
            const FIELDS: u32 = 1;
            fn types(out: &mut Types) {
                out.push(Ty::U16);
            }
            fn of_fields(next: &mut dyn FnMut(Ty) -> Field) -> HalfExp<$H> {
                HalfExp::of_bits(Exp::of(next(Ty::U16)))
            }
            fn fields(e: HalfExp<$H>, out: &mut Fields) {
                out.push(e.bits.field());
            }
            fn split(values: Vec<$H>, out: &mut Vec<Arc<Buffer>>) {
                // The same bytes: nothing is copied.
                u16::split(::half::vec::HalfFloatVecExt::reinterpret_into(values), out);
            }
            fn join(columns: &mut dyn Iterator<Item = Arc<Buffer>>) -> Option<Vec<$H>> {
                Some(::half::vec::HalfBitsVecExt::reinterpret_into(u16::join(columns)?))
            }
            fn read(columns: &mut std::slice::Iter<'_, Arc<Buffer>>, at: usize) -> Option<$H> {
                u16::read(columns, at).map($H::of_bits)
            }
            fn of_words(next: &mut dyn FnMut() -> u64) -> $H {
                $H::of_bits(u16::of_words(next))
            }
            type Iter<'a> = Rows<'a, $H>;
            fn iter(columns: &[Arc<Buffer>]) -> Rows<'_, $H> {
                Rows::new(columns)
            }
            fn show(next: &mut dyn FnMut() -> String, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match next().parse() {
                    Ok(bits) => write!(f, "{:?}", $H::of_bits(bits).to_f32()),
                    Err(_) => Err(fmt::Error),
                }
            }
        }
    )*};
}

element! { f16 bf16 }

/// All bits but the sign's.
const NUMBER: u32 = 0x7fff_ffff;
/// The bits of an infinite `f32`.
const INFINITE: u32 = 0x7f80_0000;
/// The bits of a quiet NaN.
const QUIET: u32 = 0x7fc0_0000;

impl Half for f16 {
    fn bits(self) -> u16 {
        self.to_bits()
    }

    fn of_bits(bits: u16) -> f16 {
        f16::from_bits(bits)
    }

    /// Exponents differ by 112. A multiplication corrects them, also for subnormal numbers, but not
    /// for infinities and NaN.
    #[track_caller]
    fn widen(bits: Exp<u16>) -> Exp<f32> {
        let bits = bits.cast::<u32>();
        let sign = (bits & 0x8000) << 16;
        let number = (bits & 0x7fff) << 13;
        let scaled = (Exp::<f32>::from_bits(number) * f32::from_bits(0x7780_0000)).to_bits();
        let special = number | number.gt(0x0f80_0000).cond(QUIET, INFINITE);
        Exp::from_bits(sign | number.ge(0x0f80_0000).cond(special, scaled))
    }

    /// Below the normal numbers, adding one half rounds. For normal numbers, a carry rounds the
    /// dropped bits.
    #[track_caller]
    fn narrow(x: Exp<f32>) -> Exp<u16> {
        let bits = x.to_bits();
        let sign = (bits >> 16) & 0x8000;
        let number = bits & NUMBER;
        let odd = (number >> 13) & 1;
        // Wrapping addition: subtracts 112 exponents and adds half of the dropped bits, less one
        // if the kept part is even.
        let normal = (number + (0xc800_0fff + odd)) >> 13;
        let small = (Exp::<f32>::from_bits(number) + 0.5).to_bits() - 0x3f00_0000;
        let nan = number
            .gt(INFINITE)
            .cond(0x7e00 | ((number >> 13) & 0x3ff), 0x7c00);
        let finite = number.lt(0x3880_0000).cond(small, normal);
        let half = number.ge(0x4780_0000).cond(nan, finite);
        (sign | half).cast()
    }
}

impl Half for bf16 {
    fn bits(self) -> u16 {
        self.to_bits()
    }

    fn of_bits(bits: u16) -> bf16 {
        bf16::from_bits(bits)
    }

    /// Takes the upper half of the bits. A NaN becomes quiet, as in conversions of floats.
    #[track_caller]
    fn widen(bits: Exp<u16>) -> Exp<f32> {
        let wide = bits.cast::<u32>() << 16;
        let is_nan = (wide & NUMBER).gt(INFINITE);
        Exp::from_bits(is_nan.cond(wide | QUIET, wide))
    }

    #[track_caller]
    fn narrow(x: Exp<f32>) -> Exp<u16> {
        let bits = x.to_bits();
        let odd = (bits >> 16) & 1;
        let rounded = (bits + (0x7fff + odd)) >> 16;
        let is_nan = (bits & NUMBER).gt(INFINITE);
        is_nan.cond((bits >> 16) | 0x40, rounded).cast()
    }
}
