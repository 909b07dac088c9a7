//! Lengths of segments in arrays of integers.

use livefusion_backend::View;
use loop_lang::types::Ty;
use std::ops::Range;

/// Calls a function on the elements of an array of integers.
macro_rules! with_integers {
    ($array:expr, |$elements:ident| $body:expr) => {
        match $array.ty() {
            Ty::I8 => with_integers!(i8, $array, |$elements| $body),
            Ty::I16 => with_integers!(i16, $array, |$elements| $body),
            Ty::I32 => with_integers!(i32, $array, |$elements| $body),
            Ty::I64 => with_integers!(i64, $array, |$elements| $body),
            Ty::U8 => with_integers!(u8, $array, |$elements| $body),
            Ty::U16 => with_integers!(u16, $array, |$elements| $body),
            Ty::U32 => with_integers!(u32, $array, |$elements| $body),
            Ty::U64 => with_integers!(u64, $array, |$elements| $body),
            _ => None,
        }
    };
    ($t:ty, $array:expr, |$elements:ident| $body:expr) => {{
        let $elements = $array.as_slice::<$t>()?;
        $body
    }};
}

/// Adds up lengths.
///
/// The result is none if some are too long to be added.
#[expect(clippy::unnecessary_cast, reason = "one of the types is `u64`")]
pub fn total(array: View<'_>, at: Range<usize>) -> Option<u64> {
    // So many of less than the limit have a sum.
    let few = at.len() <= 1 << 24;
    with_integers!(array, |all| {
        let (mut sum, mut bits) = (0u64, 0);
        for n in all.get(at)? {
            sum = sum.wrapping_add(*n as u64);
            bits |= *n as u64;
        }
        (few && bits < 1 << 39).then_some(sum)
    })
}

/// Subtracts the first offset from the last one.
///
/// The result is none if they ever fall.
#[expect(clippy::unnecessary_cast, reason = "one of the types is `u64`")]
pub fn rise(array: View<'_>, begins: Range<usize>, ends: Range<usize>) -> Option<u64> {
    if begins.start.checked_add(1) != Some(ends.start) || ends.is_empty() {
        return None;
    }
    with_integers!(array, |all| {
        let offsets = all.get(begins.start..ends.end)?;
        let mut rising = true;
        for (a, b) in offsets.iter().zip(offsets.get(1..)?) {
            rising &= a <= b;
        }
        let (first, last) = (*offsets.first()?, *offsets.last()?);
        rising.then(|| (last as u64).wrapping_sub(first as u64))
    })
}
