//! Combinators of your own, which fuse like the built-in ones.
//!
//! A combinator fills a template: the code that a loop runs for each element. It reads its input's
//! element, computes, carries values from one iteration to the next, keeps some or all elements, or
//! produces a scalar. It declares carried values as groups. A group with an operator that joins two
//! parts lets the loop be cut into chunks. A group without one runs in order.
//!
//! Two examples follow: the linear recurrence `y = a * y + b`, which is associative in pairs
//! `(a, b)`, and a run-length encoder.
//!
//! ```
//! use livefusion::ast::{Body, BodyBuilder};
//! use livefusion::custom::{Combinator, Output, Template};
//! use livefusion::prelude::*;
//! use loop_lang::{Const, Op, Ty};
//!
//! #[derive(Debug)]
//! struct Recurrence;
//!
//! impl Combinator for Recurrence {
//!     fn name(&self) -> &'static str {
//!         "recurrence"
//!     }
//!     fn output(&self, input: &[Ty]) -> Option<Output> {
//!         (input == [Ty::F64, Ty::F64]).then(|| Output::InStep(vec![Ty::F64]))
//!     }
//!     fn fill(&self, t: &mut Template<'_, '_>) -> livefusion::Result<()> {
//!         let pair = [t.element(0)?, t.element(1)?];
//!         let start = [Const::f64(1.0), Const::f64(0.0)];
//!         let running = t.scan(&start, &join(), &pair)?;
//!         t.give(0, running[1])
//!     }
//! }
//!
//! /// First (a, b), then (c, d): (a * c, b * c + d).
//! fn join() -> Body {
//!     let mut f = BodyBuilder::new(&[Ty::F64; 4]);
//!     let [a, b, c, d] = [0, 1, 2, 3].map(|k| f.param(k));
//!     let factor = f.op(Op::Mul, &[a, c]);
//!     let moved = f.op(Op::Mul, &[b, c]);
//!     let sum = f.op(Op::Add, &[moved, d]);
//!     f.finish(&[factor, sum])
//! }
//!
//! let pairs = Array::from(vec![(0.5f64, 8.0f64), (0.5, 0.0), (2.0, 1.0)]);
//! let ys: Array<f64> = pairs.custom(Recurrence);
//! assert_eq!(ys.map(|y| y + 1.0).force()?, [9.0, 5.0, 10.0]); // one loop
//!
//! /// Takes (element, the next one, whether it is the last); gives (element, length) where a run ends.
//! #[derive(Debug)]
//! struct Runs;
//!
//! impl Combinator for Runs {
//!     fn name(&self) -> &'static str {
//!         "runs"
//!     }
//!     fn output(&self, input: &[Ty]) -> Option<Output> {
//!         let fits = input.len() == 3 && input[0] == input[1] && input[2] == Ty::Bool;
//!         fits.then(|| Output::Some(vec![input[0], Ty::U64]))
//!     }
//!     fn fill(&self, t: &mut Template<'_, '_>) -> livefusion::Result<()> {
//!         let [x, next, last] = [t.element(0)?, t.element(1)?, t.element(2)?];
//!         let one = Const::u64(1).into();
//!         let so_far = t.carry(&[Const::u64(0)])?;
//!         let length = t.op(Op::Add, &[so_far.values[0], one])?;
//!         let differs = t.op(Op::Ne, &[x, next])?;
//!         let ends = t.op(Op::Or, &[differs, last])?;
//!         let rest = t.op(Op::Select, &[ends, Const::u64(0).into(), length])?;
//!         t.next(&so_far, &[rest])?;
//!         t.give(0, x)?;
//!         t.give(1, length)?;
//!         t.keep_if(ends)
//!     }
//! }
//!
//! let xs = Array::from(vec![7i64, 7, 7, 2, 2, 9]);
//! let ends = iota(&xs.len()).map(|i| (i + 1).eq(&xs.len()));
//! let runs: Array<(i64, u64)> = zip((&xs, &xs.shift(-1, 0), &ends)).custom(Runs);
//! assert_eq!(runs.to_vec()?, [(7, 3), (2, 2), (9, 1)]);
//! # Ok::<(), livefusion::Error>(())
//! ```

use crate::array::{Array, Ix0};
use crate::ast::Builder;
use crate::elt::Elt;
pub use crate::lower::custom::{Carried, Template};
use loop_lang::types::Ty;
use std::any::Any;
use std::fmt;
use std::panic::RefUnwindSafe;

/// Describes a combinator over the elements of one array (zip several first).
pub trait Combinator: Any + fmt::Debug + Send + Sync + RefUnwindSafe {
    /// Returns its name for errors: a word of letters, digits and `_`.
    fn name(&self) -> &'static str;

    /// Returns the output for input fields of these types, or none if it does not accept them.
    fn output(&self, input: &[Ty]) -> Option<Output>;

    /// Returns numbers that the template depends on.
    ///
    /// Two combinators of one type with one key share their code.
    fn key(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Fills the template.
    ///
    /// It is called for each compilation of a program with this combinator.
    ///
    /// # Errors
    /// An error of the template's methods. `force` returns it under this combinator's name.
    fn fill(&self, template: &mut Template<'_, '_>) -> crate::Result<()>;
}

/// Describes the element fields and the rate of a combinator's output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// One element per element of the input.
    InStep(Vec<Ty>),
    /// One element for each kept input element.
    Some(Vec<Ty>),
    /// A delayed scalar, complete after the last element.
    Scalar(Vec<Ty>),
}

impl Output {
    /// Returns the types of the fields.
    pub fn types(&self) -> &[Ty] {
        match self {
            Output::InStep(t) | Output::Some(t) | Output::Scalar(t) => t,
        }
    }
}

impl<T: Elt> Array<T> {
    /// Applies a [`Combinator`] to the elements.
    ///
    /// It fuses with its input and with consumers of its result.
    ///
    /// # Errors
    /// When forced: if the combinator does not accept elements of this type, gives a type other
    /// than `R` or a scalar, or fills its template wrongly.
    #[track_caller]
    pub fn custom<R: Elt>(&self, combinator: impl Combinator) -> Array<R> {
        let builder = Builder::named(combinator.name());
        let node = builder.custom(self.node(), combinator);
        Array::checked(builder, node)
    }

    /// Returns the delayed scalar of a [`Combinator`].
    ///
    /// # Errors
    /// As for [`custom`](Array::custom).
    #[track_caller]
    pub fn custom_scalar<R: Elt>(&self, combinator: impl Combinator) -> Array<R, Ix0> {
        let builder = Builder::named(combinator.name());
        let node = builder.custom(self.node(), combinator);
        Array::checked(builder, node)
    }
}
