//! Operators and functions of arrays of complex numbers, of any rank.

use crate::array::{Array, Ix0, Join, Rank, Summed};
use crate::ast::{Builder, Node};
use crate::complex::{Complex, ComplexExp};
use crate::elt::{Elt, Float};
use crate::exp::{closure, value};
use crate::over::Domain;
use std::ops::*;
use std::sync::Arc;

type Binary<T> = fn(ComplexExp<T>, ComplexExp<T>) -> ComplexExp<T>;

/// Applies an operator to arrays in step. A delayed scalar is combined with each element of an
/// array.
fn in_step<T: Float, D: Rank + Join<E>, E: Rank>(
    builder: Builder,
    a: &Array<Complex<T>, D>,
    b: &Array<Complex<T>, E>,
    f: Binary<T>,
) -> Array<Complex<T>, <D as Join<E>>::Joined> {
    let of_one = |xs: &Arc<Node>, f: &dyn Fn(ComplexExp<T>) -> ComplexExp<T>| {
        let body = closure::<Complex<T>, Complex<T>>(f);
        builder.map(std::slice::from_ref(xs), body)
    };
    let scalar = |node: &Arc<Node>| Array::<Complex<T>, Ix0>::wrap(node.clone());
    let (x, y) = (a.node(), b.node());
    Array::wrap(match (x.rank, y.rank) {
        (0, 1..) => of_one(y, &|y| f(scalar(x).value(), y)),
        (1.., 0) => of_one(x, &|x| f(x, scalar(y).value())),
        _ => {
            let body = closure::<(Complex<T>, Complex<T>), Complex<T>>(|(x, y)| f(x, y));
            builder.map(&[x.clone(), y.clone()], body)
        }
    })
}

macro_rules! arrays {
    ($Trait:ident $method:ident: $($L:ty, $R:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Float, D: Rank + Join<E>, E: Rank> $Trait<$R> for $L {
            type Output = Array<Complex<T>, <D as Join<E>>::Joined>;
            #[track_caller]
            fn $method(self, r: $R) -> Self::Output {
                in_step(Builder::named(stringify!($method)), &self, &r, |x, y| x.$method(y))
            }
        }
    )*};
}

macro_rules! numbers {
    ($Trait:ident $method:ident: $($A:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Float, D: Rank> $Trait<Complex<T>> for $A {
            type Output = Array<Complex<T>, D>;
            #[track_caller]
            fn $method(self, r: Complex<T>) -> Self::Output {
                self.mapped(Builder::named(stringify!($method)), |z| z.$method(r))
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: Float, D: Rank> $Trait<T> for $A {
            type Output = Array<Complex<T>, D>;
            #[track_caller]
            fn $method(self, r: T) -> Self::Output {
                self.mapped(Builder::named(stringify!($method)), |z| z.$method(crate::Exp::lit(r)))
            }
        }
        #[diagnostic::do_not_recommend]
        impl<T: Float, D: Rank> $Trait<$A> for Complex<T> {
            type Output = Array<Complex<T>, D>;
            #[track_caller]
            fn $method(self, zs: $A) -> Self::Output {
                use crate::exp::ToExp;
                zs.mapped(Builder::named(stringify!($method)), |z| self.to_exp().$method(z))
            }
        }
    )*};
}

macro_rules! operators {
    ($($Trait:ident $method:ident;)*) => {$(
        arrays! { $Trait $method:
            &Array<Complex<T>, D>, &Array<Complex<T>, E>;
            &Array<Complex<T>, D>, Array<Complex<T>, E>;
            Array<Complex<T>, D>, &Array<Complex<T>, E>;
            Array<Complex<T>, D>, Array<Complex<T>, E>;
        }
        numbers! { $Trait $method: &Array<Complex<T>, D>; Array<Complex<T>, D>; }
    )*};
}

operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

#[diagnostic::do_not_recommend]
impl<T: Float, D: Rank> Neg for &Array<Complex<T>, D> {
    type Output = Array<Complex<T>, D>;
    #[track_caller]
    fn neg(self) -> Array<Complex<T>, D> {
        self.mapped(Builder::named("neg"), |z| -z)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Float, D: Rank> Neg for Array<Complex<T>, D> {
    type Output = Array<Complex<T>, D>;
    #[track_caller]
    fn neg(self) -> Array<Complex<T>, D> {
        -&self
    }
}

/// Each function fuses with every producer and consumer, as [`map`](Array::map) does. Lengths and
/// ranks are those of the array.
///
/// ```
/// use livefusion::complex::Complex;
/// use livefusion::prelude::*;
/// let zs = Array::from(vec![Complex::new(1.0, 2.0), Complex::new(3.0, -1.0)]);
/// assert_eq!((&zs * zs.conj()).re().force()?, [5.0, 10.0]);
/// assert_eq!(zs.sum().force()?, Complex::new(4.0, 1.0));
/// # Ok::<(), livefusion::Error>(())
/// ```
impl<T: Float, D: Rank> Array<Complex<T>, D> {
    fn mapped<U: Elt>(
        &self,
        builder: Builder,
        f: impl FnOnce(ComplexExp<T>) -> U::Exp,
    ) -> Array<U, D> {
        let body = closure::<Complex<T>, U>(f);
        Array::wrap(builder.map(std::slice::from_ref(self.node()), body))
    }

    /// Returns the real parts.
    #[doc(alias = "real")]
    #[track_caller]
    pub fn re(&self) -> Array<T, D> {
        self.mapped(Builder::named("re"), |z| z.re)
    }

    /// Returns the imaginary parts.
    #[doc(alias = "imag")]
    #[track_caller]
    pub fn im(&self) -> Array<T, D> {
        self.mapped(Builder::named("im"), |z| z.im)
    }

    /// Returns the absolute values.
    #[doc(alias("norm", "magnitude"))]
    #[track_caller]
    pub fn abs(&self) -> Array<T, D> {
        self.mapped(Builder::named("abs"), ComplexExp::abs)
    }

    /// Returns the squares of the absolute values.
    #[doc(alias("abs2", "power"))]
    #[track_caller]
    pub fn norm_sqr(&self) -> Array<T, D> {
        self.mapped(Builder::named("norm_sqr"), ComplexExp::norm_sqr)
    }

    /// Returns the angles, from -pi to pi.
    #[doc(alias("angle", "phase"))]
    #[track_caller]
    pub fn arg(&self) -> Array<T, D> {
        self.mapped(Builder::named("arg"), ComplexExp::arg)
    }

    /// Returns the complex conjugates.
    #[doc(alias = "conjugate")]
    #[track_caller]
    pub fn conj(&self) -> Array<Complex<T>, D> {
        self.mapped(Builder::named("conj"), ComplexExp::conj)
    }

    /// Returns `e` to the power of each element.
    #[track_caller]
    pub fn exp(&self) -> Array<Complex<T>, D> {
        self.mapped(Builder::named("exp"), ComplexExp::exp)
    }
}

/// Sums both parts, in one loop.
#[diagnostic::do_not_recommend]
impl<T: Float> Summed for Complex<T> {
    fn sum_of(builder: Builder, of: Domain<'_>) -> Arc<Node> {
        let zs = of.data();
        let part = |name: &'static str, part: fn(ComplexExp<T>) -> crate::Exp<T>| {
            let body = closure::<Complex<T>, T>(part);
            let part = builder.renamed(name).map(std::slice::from_ref(zs), body);
            builder.sum(of.with(&part))
        };
        let sums = [part("re", |z| z.re), part("im", |z| z.im)];
        if let Domain::All(_) = of {
            let [re, im] = sums.map(Array::<T, Ix0>::wrap);
            return builder.compute(value::<Complex<T>>(|| ComplexExp::new(&re, &im)));
        }
        builder.zip(&sums)
    }
}
