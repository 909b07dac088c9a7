//! The Rust types that are scalars of the Loop language.

use loop_lang::types::Ty;

mod sealed {
    pub trait Sealed {}
}

/// Describes a Rust type that is one scalar of the Loop language.
///
/// Sealed: [`Buffer`](crate::Buffer) relies on `TY` having the size and alignment of `Self`. It
/// also relies on every initialised value of `Self` being valid in a buffer of `TY`.
pub trait Prim:
    sealed::Sealed + Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static
{
    /// The scalar type.
    const TY: Ty;
    /// Returns its canonical word.
    fn to_word(self) -> u64;
    /// Converts from a canonical word.
    fn from_word(word: u64) -> Self;
}

macro_rules! prims {
    ($($(#[$cfg:meta])* $t:ident = $ty:ident, |$x:ident| $to:expr, |$w:ident| $from:expr;)*) => {$(
        $(#[$cfg])*
        impl sealed::Sealed for $t {}
        $(#[$cfg])*
        impl Prim for $t {
            const TY: Ty = Ty::$ty;
            #[inline(always)]
            fn to_word(self) -> u64 { let $x = self; $to }
            #[inline(always)]
            fn from_word($w: u64) -> Self { $from }
        }
        $(#[$cfg])*
        const _: () = assert!(size_of::<$t>() == match Ty::$ty {
            Ty::Bool | Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 => 2,
            Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 => 8,
        });
    )*};
}

prims! {
    bool = Bool, |x| x as u64, |w| w & 1 != 0;
    i8 = I8, |x| x as i64 as u64, |w| w as i8;
    i16 = I16, |x| x as i64 as u64, |w| w as i16;
    i32 = I32, |x| x as i64 as u64, |w| w as i32;
    i64 = I64, |x| x as u64, |w| w as i64;
    u8 = U8, |x| x as u64, |w| w as u8;
    u16 = U16, |x| x as u64, |w| w as u16;
    u32 = U32, |x| x as u64, |w| w as u32;
    u64 = U64, |x| x, |w| w;
    #[cfg(target_pointer_width = "64")]
    isize = I64, |x| x as u64, |w| w as isize;
    #[cfg(target_pointer_width = "64")]
    usize = U64, |x| x as u64, |w| w as usize;
    f32 = F32, |x| x.to_bits() as u64, |w| f32::from_bits(w as u32);
    f64 = F64, |x| x.to_bits(), |w| f64::from_bits(w);
}

/// Evaluates an expression with `$T` bound to the Rust type laid out as `$ty`. A `bool` is read as
/// `u8`.
macro_rules! with_layout {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Ty::Bool | Ty::U8 => {
                type $T = u8;
                $e
            }
            Ty::I8 => {
                type $T = i8;
                $e
            }
            Ty::I16 => {
                type $T = i16;
                $e
            }
            Ty::I32 => {
                type $T = i32;
                $e
            }
            Ty::I64 => {
                type $T = i64;
                $e
            }
            Ty::U16 => {
                type $T = u16;
                $e
            }
            Ty::U32 => {
                type $T = u32;
                $e
            }
            Ty::U64 => {
                type $T = u64;
                $e
            }
            Ty::F32 => {
                type $T = f32;
                $e
            }
            Ty::F64 => {
                type $T = f64;
                $e
            }
        }
    };
}
pub(crate) use with_layout;

#[cfg(test)]
mod tests {
    use super::*;
    use loop_lang::types::canonical;

    #[test]
    fn words_are_canonical() {
        fn check<T: Prim>(values: &[T]) {
            for v in values {
                let w = v.to_word();
                assert_eq!(w, canonical(T::TY, w));
                assert_eq!(T::from_word(w), *v);
            }
        }
        check(&[false, true]);
        check(&[i8::MIN, -1, 0, i8::MAX]);
        check(&[i16::MIN, -1, 0, i16::MAX]);
        check(&[i32::MIN, -1, 0, i32::MAX]);
        check(&[i64::MIN, -1, 0, i64::MAX]);
        check(&[isize::MIN, -1, 0, isize::MAX]);
        check(&[0, u8::MAX]);
        check(&[0, u16::MAX]);
        check(&[0, u32::MAX]);
        check(&[0, u64::MAX]);
        check(&[0, usize::MAX]);
        check(&[-0.0f32, f32::INFINITY, f32::MIN_POSITIVE]);
        check(&[-0.0f64, f64::INFINITY, f64::MIN_POSITIVE]);
    }
}
