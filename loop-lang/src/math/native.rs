//! The functions on native numbers.

use super::real::Real;
use super::{exp, for_all_functions, huge, hyperbolic, inverse, log, power, trig};

/// Provides the functions of a native float type.
#[allow(missing_docs, reason = "each is the function of the same name of std")]
pub trait Math: Sized {
    fn exp(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    fn ln(self) -> Self;
    fn ln_1p(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
    fn cbrt(self) -> Self;
    fn powf(self, y: Self) -> Self;
    fn powi(self, n: i32) -> Self;
    fn atan2(self, x: Self) -> Self;
    fn hypot(self, y: Self) -> Self;
}

/// Sine, cosine and tangent of arbitrary numbers.
mod any {
    use super::{Real, huge, trig};

    /// Distinguishes arguments within the type's limit, within the limit of `f64`, and beyond.
    macro_rules! ranges {
        ($($name:ident $beyond:expr;)*) => { $(
            #[inline(always)]
            pub fn $name<R: Real<Wide = f64, Truth = bool>>(x: R) -> R {
                if x.abs().lt(x.of(trig::limit::<R>())) {
                    return trig::$name(x);
                }
                let wide = x.widen();
                R::narrow(if wide.abs() < trig::limit::<f64>() {
                    trig::$name(wide)
                } else {
                    $beyond(wide)
                })
            }
        )* };
    }

    ranges! {
        sin |x| huge::sin_from(x, 0);
        cos |x| huge::sin_from(x, 1);
        tan huge::tan;
    }
}

/// Defines a function on native numbers. It uses the machine's `mul_add` instruction, if there is
/// one. The library function gives the same result.
macro_rules! fused {
    ($t:ident, $call:expr, $($x:ident),*) => {{
        #[inline(always)]
        fn portable($($x: $t),*) -> $t {
            $call
        }
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "fma")]
            fn with_fma($($x: $t),*) -> $t {
                portable($($x),*)
            }
            if std::arch::is_x86_feature_detected!("fma") {
                // SAFETY: the machine has the one feature that the function needs.
                return unsafe { with_fma($($x),*) };
            }
        }
        portable($($x),*)
    }};
}

macro_rules! native {
    (unary { $($op:ident $name:ident $module:ident $width:ident;)* }
     binary { $($op2:ident $name2:ident $module2:ident $width2:ident;)* }) => {
        native!(@type f32 $($module::$name $width;)* @ $($module2::$name2 $width2;)*);
        native!(@type f64 $($module::$name $width;)* @ $($module2::$name2 $width2;)*);
    };
    (@type $t:ident $($m:ident::$n:ident $width:ident;)* @ $($m2:ident::$n2:ident $width2:ident;)*) => {
        impl Math for $t {
            $(fn $n(self) -> $t {
                let x = self;
                fused!($t, native!(@$width $m $n x), x)
            })*
            fn powi(self, n: i32) -> $t {
                power::powi(self, n)
            }
            $(fn $n2(self, y: $t) -> $t {
                let x = self;
                fused!($t, native!(@$width2 $m2 $n2 x, y), x, y)
            })*
        }
    };
    (@$width:ident trig $n:ident $x:ident) => { native!(@$width any $n $x) };
    (@own $m:ident $n:ident $($x:ident),*) => { $m::$n($($x),*) };
    (@wide $m:ident $n:ident $($x:ident),*) => { Real::narrow($m::$n($(Real::widen($x)),*)) };
}

for_all_functions!(native);
