//! The operations of the functions, and their native instance.
//!
//! Each operation is exact or rounded once on every machine. `trace` has the other instance.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

/// Describes the result of a comparison.
pub trait Truth: Copy + BitAnd<Output = Self> + BitOr<Output = Self> {}

/// Describes an `f32`, an `f64`, or a term that represents one.
pub trait Real:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Its bit pattern.
    type Bits: Word<Real = Self, Truth = Self::Truth>;
    /// The result of its comparisons.
    type Truth: Truth;
    /// `f64`, or a term that represents one.
    type Wide: Real<Wide = Self::Wide, Truth = Self::Truth>;
    /// Whether it is an `f32`.
    const SINGLE: bool;

    /// Returns the constant nearest to `x`; `self` only selects the type and the tracer.
    fn of(self, x: f64) -> Self;
    /// Returns `self * a + b` with one rounding.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Rounds to the nearest integer, halves to even.
    fn round(self) -> Self;
    /// Returns the magnitude.
    fn abs(self) -> Self;
    /// Returns the magnitude with another sign.
    fn copysign(self, sign: Self) -> Self;
    /// Returns the bit pattern.
    fn bits(self) -> Self::Bits;
    /// Compares for less.
    fn lt(self, other: Self) -> Self::Truth;
    /// Compares for equality.
    fn same(self, other: Self) -> Self::Truth;
    /// Selects one of two computed values.
    fn select(c: Self::Truth, a: Self, b: Self) -> Self;
    /// Converts exactly to `f64`.
    fn widen(self) -> Self::Wide;
    /// Rounds to this type.
    fn narrow(wide: Self::Wide) -> Self;

    /// Compares for greater.
    #[inline(always)]
    fn gt(self, other: Self) -> Self::Truth {
        other.lt(self)
    }

    /// Clamps to a range; NaN stays. Both comparisons are with `self`, so that compilers generate
    /// no branches.
    #[inline(always)]
    fn clamp(self, low: f64, high: f64) -> Self {
        let (low, high) = (self.of(low), self.of(high));
        let raised = Self::select(self.lt(low), low, self);
        Self::select(high.lt(self), high, raised)
    }

    /// Returns the smaller of `self` and a number; NaN stays.
    #[inline(always)]
    fn at_most(self, high: f64) -> Self {
        let high = self.of(high);
        Self::select(high.lt(self), high, self)
    }

    /// Evaluates a polynomial with these coefficients, highest power first. It works on pairs of
    /// coefficients, which halves the critical path.
    #[inline(always)]
    fn poly(self, coefficients: &[f64]) -> Self {
        let (first, rest) = coefficients.split_at(coefficients.len() % 2);
        let mut pairs = rest
            .chunks_exact(2)
            .map(|c| self.of(c[0]).mul_add(self, self.of(c[1])));
        let start = match first.first() {
            Some(c) => Some(self.of(*c)),
            None => pairs.next(),
        };
        let square = self * self;
        let start = start.unwrap_or(self.of(0.0));
        pairs.fold(start, |sum, pair| sum.mul_add(square, pair))
    }

    /// Selects by type: the first for `f32`, the second for `f64`.
    #[inline(always)]
    fn pick<T>(single: T, double: T) -> T {
        if Self::SINGLE { single } else { double }
    }
}

/// Describes an unsigned integer of a float's width, with wrapping arithmetic.
pub trait Word: Copy + Debug {
    /// The float of the same width.
    type Real;
    /// The result of its comparisons.
    type Truth: Truth;

    /// Returns a constant; `self` only selects the type and the tracer.
    fn of(self, x: u64) -> Self;
    /// Adds.
    fn plus(self, other: Self) -> Self;
    /// Subtracts.
    fn minus(self, other: Self) -> Self;
    /// Computes the bitwise and.
    fn and(self, other: Self) -> Self;
    /// Computes the bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Shifts left by less than the width.
    fn shl(self, by: u32) -> Self;
    /// Shifts right by less than the width, filling with zeros.
    fn shr(self, by: u32) -> Self;
    /// Compares for equality.
    fn same(self, other: Self) -> Self::Truth;
    /// Returns the float with this bit pattern.
    fn real(self) -> Self::Real;
}

impl Truth for bool {}

macro_rules! native {
    ($float:ident $word:ident $single:literal) => {
        impl Real for $float {
            type Bits = $word;
            type Truth = bool;
            type Wide = f64;
            const SINGLE: bool = $single;

            #[inline(always)]
            fn of(self, x: f64) -> $float {
                x as $float
            }
            #[inline(always)]
            fn mul_add(self, a: $float, b: $float) -> $float {
                $float::mul_add(self, a, b)
            }
            #[inline(always)]
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }
            #[inline(always)]
            fn round(self) -> $float {
                $float::round_ties_even(self)
            }
            #[inline(always)]
            fn abs(self) -> $float {
                $float::abs(self)
            }
            #[inline(always)]
            fn copysign(self, sign: $float) -> $float {
                $float::copysign(self, sign)
            }
            #[inline(always)]
            fn bits(self) -> $word {
                self.to_bits()
            }
            #[inline(always)]
            fn lt(self, other: $float) -> bool {
                self < other
            }
            #[inline(always)]
            fn same(self, other: $float) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(c: bool, a: $float, b: $float) -> $float {
                if c { a } else { b }
            }
            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn narrow(wide: f64) -> $float {
                wide as $float
            }
        }

        impl Word for $word {
            type Real = $float;
            type Truth = bool;

            #[inline(always)]
            fn of(self, x: u64) -> $word {
                x as $word
            }
            #[inline(always)]
            fn plus(self, other: $word) -> $word {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: $word) -> $word {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn and(self, other: $word) -> $word {
                self & other
            }
            #[inline(always)]
            fn xor(self, other: $word) -> $word {
                self ^ other
            }
            #[inline(always)]
            fn shl(self, by: u32) -> $word {
                self.wrapping_shl(by)
            }
            #[inline(always)]
            fn shr(self, by: u32) -> $word {
                self.wrapping_shr(by)
            }
            #[inline(always)]
            fn same(self, other: $word) -> bool {
                self == other
            }
            #[inline(always)]
            fn real(self) -> $float {
                $float::from_bits(self)
            }
        }
    };
}

native!(f32 u32 true);
native!(f64 u64 false);
