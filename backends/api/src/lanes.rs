//! Lanes of a group as words of the frame: initial values and reductions.
//!
//! Inline code for these is long and seldom runs. So compiled code may call these functions
//! instead.

use loop_lang::eval::eval;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Joins `count` lanes by halves until one is left, the first word of `work`.
///
/// The lanes stay as they are.
///
/// # Safety
///
/// `lanes` must hold `count` readable words, and `work` half as many writable ones, apart from
/// them. The count is a power of two above one.
pub type Join = unsafe extern "C" fn(lanes: *const u64, count: u64, work: *mut u64);

/// Sets `count` words.
///
/// # Safety
///
/// `words` must hold `count` writable words.
pub unsafe extern "C" fn fill(words: *mut u64, count: u64, word: u64) {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(words, count as usize) }.fill(word);
}

macro_rules! joins {
    ($($op:ident)*; $($ty:ident)*) => {
        /// Returns the function that joins lanes of a type by an operator.
        ///
        /// Returns `None` if the operator does not join such lanes.
        pub fn join(op: Op, ty: Ty) -> Option<Join> {
            joins!(@ops op ty ($($op)*) ($($ty)*))
        }
    };
    (@ops $o:ident $t:ident ($($op:ident)*) $types:tt) => {
        match $o {
            $(Op::$op => joins!(@types $t $op $types),)*
            _ => None,
        }
    };
    (@types $t:ident $op:ident ($($ty:ident)*)) => {
        match $t {
            $(Ty::$ty => {
                unsafe extern "C" fn join(lanes: *const u64, count: u64, work: *mut u64) {
                    // SAFETY: the caller's promise.
                    unsafe { halves(lanes, count, work, |a, b| eval(Op::$op, Ty::$ty, Ty::$ty, &[a, b])) }
                }
                Some(join as Join)
            })*
        }
    };
}

joins!(Add Mul Min Max And Or Xor; Bool I8 I16 I32 I64 U8 U16 U32 U64 F32 F64);

/// # Safety
///
/// As for [`Join`].
#[inline(always)]
unsafe fn halves(lanes: *const u64, count: u64, work: *mut u64, join: impl Fn(u64, u64) -> u64) {
    let mut left = count as usize / 2;
    // Indices, not zipped slices: short calls are dominated by the making of iterators.
    for i in 0..left {
        // SAFETY: the caller's promise: these words are there, and apart.
        unsafe { *work.add(i) = join(*lanes.add(i), *lanes.add(left + i)) };
    }
    while left > 1 {
        left /= 2;
        for i in 0..left {
            // SAFETY: as above; the halves of what is left are apart.
            unsafe { *work.add(i) = join(*work.add(i), *work.add(left + i)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_lang::types::Const;

    #[test]
    fn lanes_are_joined_by_halves() {
        let lanes: Vec<u64> = [1e16, 1.0, -1e16, 1.0].map(|x| Const::f64(x).bits).to_vec();
        let mut work = [0; 2];
        let join = join(Op::Add, Ty::F64).expect("sums have lanes");
        // SAFETY: there are as many words.
        unsafe { join(lanes.as_ptr(), 4, work.as_mut_ptr()) };
        assert_eq!(work[0], Const::f64(2.0).bits);
    }

    #[test]
    fn every_operator_that_joins_has_a_function() {
        for op in Op::ALL {
            assert_eq!(op.joins(), join(*op, Ty::I32).is_some(), "{op:?}");
        }
    }
}
