//! `+ - * /` of complex expressions, with complex or real operands.
//!
//! A real operand stays real, so it costs no more than handwritten code.

use crate::complex::{Complex, ComplexExp};
use crate::elt::Float;
use crate::exp::{Exp, ToExp};
use std::ops::*;

/// Forwards the caller's location to the operators of `Exp`.
macro_rules! complex {
    ($($Trait:ident $method:ident: $f:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Float, R: ToExp<Complex<T>>> $Trait<R> for ComplexExp<T> {
            type Output = ComplexExp<T>;
            #[track_caller]
            fn $method(self, r: R) -> ComplexExp<T> {
                $f(self, r.to_exp())
            }
        }
        complex! { @left $Trait $method $f: f32 f64 }
    )*};
    (@left $Trait:ident $method:ident $f:ident: $($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl $Trait<ComplexExp<$t>> for Complex<$t> {
            type Output = ComplexExp<$t>;
            #[track_caller]
            fn $method(self, r: ComplexExp<$t>) -> ComplexExp<$t> {
                $f(self.to_exp(), r)
            }
        }
    )*};
}

complex! {
    Add add: plus;
    Sub sub: minus;
    Mul mul: times;
    Div div: over;
}

macro_rules! real {
    ($($Trait:ident $method:ident: $right:ident, $left:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Float> $Trait<Exp<T>> for ComplexExp<T> {
            type Output = ComplexExp<T>;
            #[track_caller]
            fn $method(self, r: Exp<T>) -> ComplexExp<T> {
                $right(self, r)
            }
        }
        real! { @of $Trait $method $left: f32 f64 }
    )*};
    (@of $Trait:ident $method:ident $left:ident: $($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl $Trait<$t> for ComplexExp<$t> {
            type Output = ComplexExp<$t>;
            #[track_caller]
            fn $method(self, r: $t) -> ComplexExp<$t> {
                $Trait::$method(self, Exp::lit(r))
            }
        }
        #[diagnostic::do_not_recommend]
        impl $Trait<ComplexExp<$t>> for Exp<$t> {
            type Output = ComplexExp<$t>;
            #[track_caller]
            fn $method(self, z: ComplexExp<$t>) -> ComplexExp<$t> {
                $left(self, z)
            }
        }
        #[diagnostic::do_not_recommend]
        impl $Trait<ComplexExp<$t>> for $t {
            type Output = ComplexExp<$t>;
            #[track_caller]
            fn $method(self, z: ComplexExp<$t>) -> ComplexExp<$t> {
                $left(Exp::lit(self), z)
            }
        }
    )*};
}

real! {
    Add add: plus_real, real_plus;
    Sub sub: minus_real, real_minus;
    Mul mul: times_real, real_times;
    Div div: over_real, real_over;
}

#[diagnostic::do_not_recommend]
impl<T: Float> Neg for ComplexExp<T> {
    type Output = ComplexExp<T>;
    #[track_caller]
    fn neg(self) -> ComplexExp<T> {
        ComplexExp {
            re: -self.re,
            im: -self.im,
        }
    }
}

#[track_caller]
fn plus<T: Float>(a: ComplexExp<T>, b: ComplexExp<T>) -> ComplexExp<T> {
    ComplexExp {
        re: a.re + b.re,
        im: a.im + b.im,
    }
}

#[track_caller]
fn minus<T: Float>(a: ComplexExp<T>, b: ComplexExp<T>) -> ComplexExp<T> {
    ComplexExp {
        re: a.re - b.re,
        im: a.im - b.im,
    }
}

#[track_caller]
fn times<T: Float>(a: ComplexExp<T>, b: ComplexExp<T>) -> ComplexExp<T> {
    ComplexExp {
        re: a.re * b.re - a.im * b.im,
        im: a.re * b.im + a.im * b.re,
    }
}

/// Divides by the ratio of the divisor's smaller part to its larger one, so that no square
/// overflows ("Algorithm 116: Complex division", R. L. Smith). A division by 0 makes both parts
/// NaN.
#[track_caller]
fn over<T: Float>(a: ComplexExp<T>, b: ComplexExp<T>) -> ComplexExp<T> {
    let is_flat = b.re.abs().ge(b.im.abs());
    let (large, small) = (is_flat.cond(b.re, b.im), is_flat.cond(b.im, b.re));
    let (first, second) = (is_flat.cond(a.re, a.im), is_flat.cond(a.im, a.re));
    let ratio = small / large;
    let size = large + small * ratio;
    let im = (second - first * ratio) / size;
    ComplexExp {
        re: (first + second * ratio) / size,
        im: is_flat.cond(im, -im),
    }
}

#[track_caller]
fn plus_real<T: Float>(z: ComplexExp<T>, r: Exp<T>) -> ComplexExp<T> {
    ComplexExp {
        re: z.re + r,
        im: z.im,
    }
}

#[track_caller]
fn real_plus<T: Float>(r: Exp<T>, z: ComplexExp<T>) -> ComplexExp<T> {
    plus_real(z, r)
}

#[track_caller]
fn minus_real<T: Float>(z: ComplexExp<T>, r: Exp<T>) -> ComplexExp<T> {
    ComplexExp {
        re: z.re - r,
        im: z.im,
    }
}

#[track_caller]
fn real_minus<T: Float>(r: Exp<T>, z: ComplexExp<T>) -> ComplexExp<T> {
    ComplexExp {
        re: r - z.re,
        im: -z.im,
    }
}

#[track_caller]
fn times_real<T: Float>(z: ComplexExp<T>, r: Exp<T>) -> ComplexExp<T> {
    z.scale(r)
}

#[track_caller]
fn real_times<T: Float>(r: Exp<T>, z: ComplexExp<T>) -> ComplexExp<T> {
    z.scale(r)
}

#[track_caller]
fn over_real<T: Float>(z: ComplexExp<T>, r: Exp<T>) -> ComplexExp<T> {
    ComplexExp {
        re: z.re / r,
        im: z.im / r,
    }
}

#[track_caller]
fn real_over<T: Float>(r: Exp<T>, z: ComplexExp<T>) -> ComplexExp<T> {
    over(
        ComplexExp {
            re: r,
            im: T::lit(0.0),
        },
        z,
    )
}
