//! Random numbers as functions of a key and an index.
//!
//! There is no state. The bits are the same on every backend and for any number of threads. Numbers
//! are stored only if they are forced. On a GPU the last bits of normal numbers may differ, unless
//! the engine is [deterministic](crate::runtime::EngineBuilder::deterministic).
//!
//! ```
//! use livefusion::prelude::*;
//! // The area of a quarter of a circle, from a million points that never are in memory.
//! let points = random::uniform2(7, 1_000_000);
//! let inside = points.count(|(x, y)| (x * x + y * y).lt(1.0));
//! let pi = 4.0 * inside.force()? as f64 / 1e6;
//! assert!((pi - std::f64::consts::PI).abs() < 0.01);
//! // The same key gives the same numbers, another one others.
//! let again = random::uniform(7, 3).force()?;
//! assert_eq!(random::uniform(7, 3).force()?, again);
//! assert_ne!(random::uniform(8, 3).force()?, again);
//! # Ok::<(), livefusion::Error>(())
//! ```
//!
//! The generator is Philox4x32-10 ("Parallel random numbers: as easy as 1, 2, 3", section 3.3). It
//! takes the key and the counter `(index, stream)`, and gives four 32-bit words per index. Stream 0
//! is for numbers, and stream 1 for keys made by [`split`]. As far as is known, numbers of
//! different indices or different keys are independent. The generator is not for cryptography.
//!
//! A key is a `u64`: a number or a delayed scalar. As an input of a [prepared](mod@crate::prepare)
//! program, a delayed key draws other numbers in each call. Within a closure, [`bits_at`],
//! [`uniform_at`], [`normal_at`] and so on draw at any index.
//!
//! *Cost and fusion.* The results are index functions, which fuse with their consumers. Each
//! computed element costs about 100 operations. [`normal`] adds a logarithm, a square root and a
//! cosine.

mod philox;

use crate::array::{Array, IntoLen, Ix0};
use crate::ast::{Body, Builder, Field, Fields, Len, Node, trace};
use crate::elt::Elt;
use crate::exp::{Exp, ToExp, types_of, value};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The stream of random numbers.
const NUMBERS: u64 = 0;
/// The stream of keys.
const KEYS: u64 = 1;

/// Untyped forms. A key is a body without parameters that gives a `u64`.
impl Builder {
    /// Draws `n` words of 64 bits (`u64`).
    pub fn random_bits(self, n: Len, key: &Body) -> Arc<Node> {
        self.drawn(n, key, |w, _| Fields::from_slice(&w[..1]))
    }

    /// Draws `n` numbers (`f64`) from 0 to 1, excluding 1.
    pub fn random_uniform(self, n: Len, key: &Body) -> Arc<Node> {
        self.drawn(n, key, |w, loc| Fields::from_slice(&[unit(w[0], loc)]))
    }

    /// Draws `n` pairs of such uniform numbers.
    pub fn random_uniform2(self, n: Len, key: &Body) -> Arc<Node> {
        self.drawn(n, key, |w, loc| {
            Fields::from_slice(&w.map(|x| unit(x, loc)))
        })
    }

    /// Draws `n` normal numbers (`f64`) with mean 0 and deviation 1.
    pub fn random_normal(self, n: Len, key: &Body) -> Arc<Node> {
        self.drawn(n, key, |w, loc| Fields::from_slice(&bell(w, loc)[..1]))
    }

    /// Draws `n` pairs of such normal numbers.
    pub fn random_normal2(self, n: Len, key: &Body) -> Arc<Node> {
        self.drawn(n, key, |w, loc| Fields::from_slice(&bell(w, loc)))
    }

    /// Draws `n` integers (`i64`) from `low` to `high`, excluding `high`.
    ///
    /// The bounds are bodies without parameters.
    pub fn random_integers(self, n: Len, key: &Body, low: &Body, high: &Body) -> Arc<Node> {
        self.drawn(n, key, |w, loc| {
            let op = |op, a, b| Field::op(op, &[a, b], loc);
            let [low, high] = [low, high].map(|end| one_integer(end, Ty::I64, loc));
            // As words, the difference is correct even if it overflows an `i64`.
            let [from, to] = [low, high].map(|end| end.cast(Ty::U64, loc));
            let above = high_product(w[0], op(Op::Sub, to, from), loc);
            let some = op(Op::Lt, low, high);
            let drawn = op(Op::Add, from, above).cast(Ty::I64, loc);
            Fields::from_slice(&[Field::op(Op::Select, &[some, drawn, low], loc)])
        })
    }

    /// Draws a permutation of `0, 1, .., n - 1` (`u64`).
    pub fn random_permutation(self, n: Len, key: &Body) -> Arc<Node> {
        self.argsort(&self.random_bits(n, key))
    }

    fn drawn(self, n: Len, key: &Body, of: impl FnOnce([Field; 2], Loc) -> Fields) -> Arc<Node> {
        let loc = self.loc();
        let body = trace(&[Ty::U64], |index| {
            let words = philox::block(one_integer(key, Ty::U64, loc), index[0], NUMBERS, loc);
            of(words, loc)
        });
        self.generate(n, body)
    }
}

/// Applies a body without parameters and casts its result to an integer type.
fn one_integer(body: &Body, ty: Ty, loc: Loc) -> Field {
    match &Field::apply(body, &[], loc)[..] {
        [x] => x.cast(ty, loc),
        other => {
            let got = format!("{} fields", other.len());
            Field::mistake(ty, "one integer".into(), got, loc)
        }
    }
}

fn float(x: f64) -> Field {
    Field::literal(Const::f64(x))
}

/// Converts the upper 53 bits to a number from 0 to 1, excluding 1.
fn unit(word: Field, loc: Loc) -> Field {
    let high = Field::op(Op::Shr, &[word, Field::literal(Const::u64(11))], loc);
    let scale = float(1.0 / (1u64 << 53) as f64);
    Field::op(Op::Mul, &[high.cast(Ty::F64, loc), scale], loc)
}

/// Returns two normal numbers (G. Box and M. Muller, "A note on the generation of random normal
/// deviates", 1958).
fn bell(words: [Field; 2], loc: Loc) -> [Field; 2] {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let [a, b] = words.map(|word| unit(word, loc));
    // Avoid 0, which has no logarithm.
    let a = op(Op::Sub, &[float(1.0), a]);
    let radius = op(Op::Sqrt, &[op(Op::Mul, &[float(-2.0), op(Op::Ln, &[a])])]);
    let angle = op(Op::Mul, &[float(std::f64::consts::TAU), b]);
    [Op::Cos, Op::Sin].map(|f| op(Op::Mul, &[radius, op(f, &[angle])]))
}

/// Returns the upper 64 bits of a product.
fn high_product(x: Field, y: Field, loc: Loc) -> Field {
    let op = |op, a, b| Field::op(op, &[a, b], loc);
    let bits = Field::literal(Const::u64(32));
    let mask = Field::literal(Const::u64(u32::MAX.into()));
    let halves = |x| [op(Op::And, x, mask), op(Op::Shr, x, bits)];
    let ([x0, x1], [y0, y1]) = (halves(x), halves(y));
    let low = op(Op::Shr, op(Op::Mul, x0, y0), bits);
    let middle = op(Op::Add, op(Op::Mul, x1, y0), low);
    let [carry, above] = halves(middle);
    let cross = op(Op::Add, op(Op::Mul, x0, y1), carry);
    let top = op(Op::Add, op(Op::Mul, x1, y1), above);
    op(Op::Add, top, op(Op::Shr, cross, bits))
}

fn build<T: Elt>(
    builder: Builder,
    n: impl IntoLen,
    key: impl ToExp<u64>,
    make: impl FnOnce(Builder, Len, &Body) -> Arc<Node>,
) -> Array<T> {
    let key = value::<u64>(|| key.to_exp());
    Array::wrap(match n.into_len().0.len() {
        Ok(len) => make(builder, len, &key),
        Err(kind) => builder.fault(&types_of::<T>(), 1, kind),
    })
}

/// Draws `n` words of 64 bits.
///
/// ```
/// use livefusion::prelude::*;
/// assert_eq!(random::bits(0, 2).force()?, [0xe169_c58d_6627_e8d5, 0x5cb2_00db_f8e4_cca4]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if `n` is negative.
#[track_caller]
pub fn bits(key: impl ToExp<u64>, n: impl IntoLen) -> Array<u64> {
    build(Builder::named("bits"), n, key, Builder::random_bits)
}

/// Draws `n` numbers from 0 to 1, excluding 1.
///
/// All multiples of 2^-53 are equally likely.
///
/// ```
/// use livefusion::prelude::*;
/// let xs = random::uniform(1, 100_000);
/// let (mean, low, high) = (&xs.mean(), &xs.min(), &xs.max()).force()?;
/// assert!((mean - 0.5).abs() < 0.01 && low >= 0.0 && high < 1.0);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if `n` is negative.
#[doc(alias = "rand")]
#[track_caller]
pub fn uniform(key: impl ToExp<u64>, n: impl IntoLen) -> Array<f64> {
    build(Builder::named("uniform"), n, key, Builder::random_uniform)
}

/// Draws `n` pairs of numbers from 0 to 1, excluding 1.
///
/// A pair costs as much as one number. The first numbers are those of [`uniform`].
///
/// # Errors
/// When forced: if `n` is negative.
#[track_caller]
pub fn uniform2(key: impl ToExp<u64>, n: impl IntoLen) -> Array<(f64, f64)> {
    build(Builder::named("uniform2"), n, key, Builder::random_uniform2)
}

/// Draws `n` normal numbers with mean 0 and standard deviation 1.
///
/// ```
/// use livefusion::prelude::*;
/// let xs = random::normal(1, 100_000);
/// let (mean, deviation) = (&xs.mean(), &xs.std()).force()?;
/// assert!(mean.abs() < 0.02 && (deviation - 1.0).abs() < 0.02);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if `n` is negative.
#[doc(alias("randn", "gauss"))]
#[track_caller]
pub fn normal(key: impl ToExp<u64>, n: impl IntoLen) -> Array<f64> {
    build(Builder::named("normal"), n, key, Builder::random_normal)
}

/// Draws `n` pairs of normal numbers, as [`normal`].
///
/// A pair costs little more than one number. The first numbers are those of [`normal`].
///
/// # Errors
/// When forced: if `n` is negative.
#[track_caller]
pub fn normal2(key: impl ToExp<u64>, n: impl IntoLen) -> Array<(f64, f64)> {
    build(Builder::named("normal2"), n, key, Builder::random_normal2)
}

/// Draws `n` integers from `low` to `high`, excluding `high`.
///
/// The probabilities of any two integers differ by less than 2^-64. If `high` is not above `low`,
/// all are `low`.
///
/// ```
/// use livefusion::prelude::*;
/// let dice = random::integers(3, 600, 1, 7);
/// let counts = dice.unique_counts().force()?.to_vec()?;
/// assert_eq!(counts.len(), 6);
/// assert!(counts.iter().all(|(_, n)| (60..140).contains(n)));
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// When forced: if `n` is negative.
#[doc(alias("randint", "choice", "gen_range"))]
#[track_caller]
pub fn integers(
    key: impl ToExp<u64>,
    n: impl IntoLen,
    low: impl ToExp<i64>,
    high: impl ToExp<i64>,
) -> Array<i64> {
    let low = value::<i64>(|| low.to_exp());
    let high = value::<i64>(|| high.to_exp());
    build(Builder::named("integers"), n, key, |b, n, key| {
        b.random_integers(n, key, &low, &high)
    })
}

/// Draws a random permutation of `0, 1, .., n - 1`.
///
/// All orders are equally likely. To shuffle an array, use
/// `xs.gather(&random::permutation(key, xs.len()))`.
///
/// ```
/// use livefusion::prelude::*;
/// let order = random::permutation(5, 4);
/// assert_eq!(order.sort().force()?, [0, 1, 2, 3]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// *Cost and fusion.* An [`argsort`](Array::argsort) of `n` random words.
///
/// # Errors
/// When forced: if `n` is negative.
#[doc(alias = "shuffle")]
#[track_caller]
pub fn permutation(key: impl ToExp<u64>, n: impl IntoLen) -> Array<u64> {
    build(
        Builder::named("permutation"),
        n,
        key,
        Builder::random_permutation,
    )
}

/// Draws the word at an index of [`bits`], within a closure.
#[track_caller]
pub fn bits_at(key: impl ToExp<u64>, index: impl ToExp<u64>) -> Exp<u64> {
    let loc = Loc::caller();
    Exp::of(at(key, index, NUMBERS, loc)[0])
}

/// Draws the number at an index of [`uniform`], within a closure.
///
/// ```
/// use livefusion::prelude::*;
/// // Ten steps of each of three walks.
/// let walks = generate(3, |walk| {
///     iterate(10, (0.0f64, 0u64), |(x, step)| {
///         (x + random::uniform_at(7, walk * 10 + step) - 0.5, step + 1)
///     })
///     .0
/// });
/// assert!(walks.force()?.iter().all(|x| x.abs() < 5.0));
/// # Ok::<(), livefusion::Error>(())
/// ```
#[track_caller]
pub fn uniform_at(key: impl ToExp<u64>, index: impl ToExp<u64>) -> Exp<f64> {
    let loc = Loc::caller();
    Exp::of(unit(at(key, index, NUMBERS, loc)[0], loc))
}

/// Draws the pair at an index of [`uniform2`], within a closure.
#[track_caller]
pub fn uniform2_at(key: impl ToExp<u64>, index: impl ToExp<u64>) -> (Exp<f64>, Exp<f64>) {
    let loc = Loc::caller();
    let [a, b] = at(key, index, NUMBERS, loc).map(|word| Exp::of(unit(word, loc)));
    (a, b)
}

/// Draws the number at an index of [`normal`], within a closure.
#[track_caller]
pub fn normal_at(key: impl ToExp<u64>, index: impl ToExp<u64>) -> Exp<f64> {
    let loc = Loc::caller();
    Exp::of(bell(at(key, index, NUMBERS, loc), loc)[0])
}

/// Draws the pair at an index of [`normal2`], within a closure.
#[track_caller]
pub fn normal2_at(key: impl ToExp<u64>, index: impl ToExp<u64>) -> (Exp<f64>, Exp<f64>) {
    let loc = Loc::caller();
    let [a, b] = bell(at(key, index, NUMBERS, loc), loc).map(Exp::of);
    (a, b)
}

/// Derives a new key from a key and a number.
///
/// Numbers drawn with the new key are independent of those of the old key, and of those of other
/// derived keys.
///
/// ```
/// use livefusion::prelude::*;
/// let (a, b) = (random::split(7, 0), random::split(7, 1));
/// let (xs, ys) = (random::uniform(&a, 3), random::normal(&b, 3));
/// assert_ne!(xs.force()?, ys.force()?);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[doc(alias = "fold_in")]
#[track_caller]
pub fn split(key: impl ToExp<u64>, number: impl ToExp<u64>) -> Array<u64, Ix0> {
    let key = value::<u64>(|| split_at(key, number));
    Array::wrap(Builder::named("split").compute(key))
}

/// Derives the key of [`split`], within a closure.
#[track_caller]
pub fn split_at(key: impl ToExp<u64>, number: impl ToExp<u64>) -> Exp<u64> {
    let loc = Loc::caller();
    Exp::of(at(key, number, KEYS, loc)[0])
}

/// Returns two words of 64 bits.
fn at(key: impl ToExp<u64>, index: impl ToExp<u64>, stream: u64, loc: Loc) -> [Field; 2] {
    let (key, index) = (key.to_exp().field(), index.to_exp().field());
    philox::block(key, index, stream, loc)
}
