//! Results of combinators and scalar functions, against plain Rust, edge cases included.

use livefusion::prelude::*;
use livefusion::{ErrorKind, Result};

const FLOATS: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2.5,
    0.1,
    3.7,
    -123.456,
    1e300,
    -1e300,
    5e-324,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    4503599627370497.5,
];

fn same(name: &str, got: &[f64], want: impl Iterator<Item = f64>) {
    for ((g, w), x) in got.iter().zip(want).zip(FLOATS) {
        let equal = g.to_bits() == w.to_bits() || (g.is_nan() && w.is_nan());
        assert!(equal, "{name}({x}): expected {w}, got {g}");
    }
}

macro_rules! unary {
    ($($name:ident)*) => {{
        let xs = Array::from(FLOATS);
        $(same(stringify!($name), &xs.map(|x| x.$name()).force()?, FLOATS.iter().map(|x| x.$name()));)*
    }};
}

macro_rules! tests {
    ($($name:ident)*) => {{
        let xs = Array::from(FLOATS);
        $(assert_eq!(xs.map(|x| x.$name()).to_vec()?, FLOATS.map(|x| x.$name()), stringify!($name));)*
    }};
}

#[test]
fn exact_float_functions_are_those_of_std() -> Result<()> {
    unary!(floor ceil round round_ties_even trunc fract abs signum sqrt recip next_up next_down);
    unary!(to_degrees to_radians);
    tests!(is_nan is_infinite is_finite is_normal is_subnormal is_sign_positive is_sign_negative to_bits);
    let xs = Array::from(FLOATS);
    for y in FLOATS {
        same("add", &(&xs + y).force()?, FLOATS.iter().map(|x| x + y));
        same("rem", &(&xs % y).force()?, FLOATS.iter().map(|x| x % y));
        same(
            "midpoint",
            &xs.map(|x| x.midpoint(y)).force()?,
            FLOATS.iter().map(|x| x.midpoint(y)),
        );
        same(
            "copysign",
            &xs.map(|x| x.copysign(y)).force()?,
            FLOATS.iter().map(|x| x.copysign(y)),
        );
        same(
            "div_euclid",
            &xs.map(|x| x.div_euclid(y)).force()?,
            FLOATS.iter().map(|x| x.div_euclid(y)),
        );
        same(
            "rem_euclid",
            &xs.map(|x| x.rem_euclid(y)).force()?,
            FLOATS.iter().map(|x| x.rem_euclid(y)),
        );
        same(
            "mul_add",
            &xs.map(|x| x.mul_add(y, 1.5)).force()?,
            FLOATS.iter().map(|x| x.mul_add(y, 1.5)),
        );
        assert_eq!(xs.map(|x| x.lt(y)).to_vec()?, FLOATS.map(|x| x < y));
        assert_eq!(xs.map(|x| x.ne(y)).to_vec()?, FLOATS.map(|x| x != y));
    }
    same(
        "clamp",
        &xs.map(|x| x.clamp(-1.0, 2.0)).force()?,
        FLOATS.iter().map(|x| x.clamp(-1.0, 2.0)),
    );
    Ok(())
}

#[test]
fn other_float_functions_are_close_to_std() -> Result<()> {
    macro_rules! close {
        ($($name:ident)*) => {$({
            let xs = [0.1f64, 0.5, 0.9, 1.0];
            let got = Array::from(xs).map(|x| x.$name()).to_vec()?;
            for (g, x) in got.iter().zip(xs) {
                let want = f64::$name(x);
                assert!(*g == want || (g - want).abs() <= 1e-13 * want.abs(), "{}({x})", stringify!($name));
            }
        })*};
    }
    close!(cbrt exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh atanh);
    let xs = Array::from([2.0f64, 3.0]);
    let more = xs.map(|x| {
        (
            (x.powf(0.5), x.powi(-2), x.hypot(4.0)),
            (x.atan2(2.0), x.log(3.0), x.acosh()),
        )
    });
    let got = more.to_vec()?;
    for (((a, b, c), (d, e, f)), x) in got.into_iter().zip([2.0f64, 3.0]) {
        let want = [
            x.powf(0.5),
            x.powi(-2),
            x.hypot(4.0),
            x.atan2(2.0),
            x.log(3.0),
            x.acosh(),
        ];
        for (g, w) in [a, b, c, d, e, f].into_iter().zip(want) {
            assert!((g - w).abs() < 1e-13, "{g} {w}");
        }
    }
    Ok(())
}

#[test]
fn integers_wrap_and_casts_saturate() -> Result<()> {
    let xs = [i8::MIN, -7, -1, 0, 1, 2, i8::MAX];
    let array = Array::from(xs);
    assert_eq!((&array + 100).to_vec()?, xs.map(|x| x.wrapping_add(100)));
    assert_eq!((-&array).to_vec()?, xs.map(i8::wrapping_neg));
    assert_eq!(array.map(|x| x.abs()).to_vec()?, xs.map(i8::wrapping_abs));
    assert_eq!(
        array.map(|x| x.pow(7)).to_vec()?,
        xs.map(|x| x.wrapping_pow(7))
    );
    assert_eq!(
        array.map(|x| x << 9).to_vec()?,
        xs.map(|x| x.wrapping_shl(9))
    );
    assert_eq!(
        array.map(|x| x.div_euclid(3)).to_vec()?,
        xs.map(|x| x.div_euclid(3))
    );
    assert_eq!(
        array.map(|x| x.rem_euclid(3)).to_vec()?,
        xs.map(|x| x.rem_euclid(3))
    );
    assert_eq!(
        array.map(|x| x.cast::<u16>()).to_vec()?,
        xs.map(|x| x as u16)
    );
    assert_eq!(
        array.map(|x| x.cast::<f32>()).to_vec()?,
        xs.map(|x| x as f32)
    );
    assert_eq!(array.map(|x| x.signum()).to_vec()?, xs.map(i8::signum));
    assert_eq!((!&array).to_vec()?, xs.map(|x| !x));
    let ones = array.map(|x| (x.count_ones(), x.leading_zeros(), x.trailing_zeros()));
    let want = xs.map(|x| {
        (
            x.count_ones() as i8,
            x.leading_zeros() as i8,
            x.trailing_zeros() as i8,
        )
    });
    assert_eq!(ones.to_vec()?, want);
    assert_eq!(
        Array::from(FLOATS).map(|x| x.cast::<i32>()).to_vec()?,
        FLOATS.map(|x| x as i32)
    );
    Ok(())
}

#[test]
fn windows_meet_their_boundaries() -> Result<()> {
    let naive = |xs: &[i64], at: i64, boundary: Boundary<i64>| -> i64 {
        let n = xs.len() as i64;
        if (0..n).contains(&at) {
            return xs[at as usize];
        }
        match boundary {
            Boundary::Clamp => xs[at.clamp(0, n - 1) as usize],
            Boundary::Wrap => xs[at.rem_euclid(n) as usize],
            Boundary::Mirror => {
                let period = (2 * (n - 1)).max(1);
                let at = at.rem_euclid(period);
                xs[at.min(period - at) as usize]
            }
            Boundary::Constant(c) => c,
        }
    };
    for n in [0, 1, 2, 3, 7] {
        let xs: Vec<i64> = (0..n).map(|i| i * i + 10).collect();
        let array = Array::from(&xs);
        for b in [
            Boundary::Clamp,
            Boundary::Wrap,
            Boundary::Mirror,
            Boundary::Constant(-5),
        ] {
            let want = |k: i64| -> Vec<i64> {
                let digit = |i: i64, p: i64| naive(&xs, i + p - k / 2, b);
                (0..n)
                    .map(|i| (0..k).fold(0, |s, p| s * 1000 + digit(i, p)))
                    .collect()
            };
            let join = |all: &[Exp<i64>]| all.iter().fold(Exp::lit(0), |s, x| s * 1000 + *x);
            assert_eq!(
                array.windows(b, |w: [_; 3]| join(&w)).to_vec()?,
                want(3),
                "{b:?} {n}"
            );
            assert_eq!(
                array.windows(b, |w: [_; 2]| join(&w)).to_vec()?,
                want(2),
                "{b:?} {n}"
            );
            assert_eq!(
                array.windows(b, |w: [_; 5]| join(&w)).to_vec()?,
                want(5),
                "{b:?} {n}"
            );
        }
    }
    Ok(())
}

#[test]
fn take_drop_slice_and_shift__of_known_and_computed_lengths__are_parts() -> Result<()> {
    let all: Vec<u64> = (0..10).collect();
    let known = Array::from(&all);
    let computed = iota(20).filter(|i| i.lt(10));
    let two = Array::from([1u64, 1]).sum();
    for xs in [known, computed] {
        assert_eq!(xs.take(3).to_vec()?, all[..3]);
        assert_eq!(xs.take(30).to_vec()?, all);
        assert_eq!(xs.take(&two).to_vec()?, all[..2]);
        assert_eq!(xs.drop(3).to_vec()?, all[3..]);
        assert_eq!(xs.drop(&two).drop(30).to_vec()?, []);
        assert_eq!(xs.slice(2..5).to_vec()?, all[2..5]);
        assert_eq!(xs.slice(&two..).to_vec()?, all[2..]);
        assert_eq!(xs.slice(..=4).to_vec()?, all[..=4]);
        assert_eq!(xs.reverse().take(2).to_vec()?, [9, 8]);
        for by in [0, 3, -3, 12, -12, i64::MAX, i64::MIN] {
            let at = |i: i64| {
                i.checked_sub(by)
                    .filter(|j| (0..10).contains(j))
                    .map_or(77, |j| j as u64)
            };
            assert_eq!(
                xs.shift(by, 77u64).to_vec()?,
                (0..10).map(at).collect::<Vec<_>>(),
                "{by}"
            );
        }
        let error = xs.slice(5..11).force().unwrap_err();
        assert_eq!(
            (error.combinator, error.kind),
            (
                "slice",
                ErrorKind::SliceRange {
                    start: 5,
                    end: 11,
                    len: 10
                }
            )
        );
        let error = xs
            .slice(std::ops::Range { start: 7, end: 2 })
            .force()
            .unwrap_err();
        let backwards = ErrorKind::SliceRange {
            start: 7,
            end: 2,
            len: 10,
        };
        assert_eq!(error.kind, backwards);
        assert!(
            error
                .to_string()
                .ends_with("got 7..2, which runs backwards"),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn min_index_and_max_index__with_nan_and_equal_elements__give_the_first_place() -> Result<()> {
    let place = |xs: &[f64]| -> Result<(u64, u64)> {
        let xs = Array::from(xs);
        (&xs.min_index(), &xs.max_index()).force()
    };
    let nan = f64::NAN;
    assert_eq!(place(&[nan])?, (0, 0));
    assert_eq!(place(&[nan, nan, nan])?, (0, 0));
    assert_eq!(place(&[nan, 2.0, nan, 1.0, 2.0, 1.0])?, (3, 1));
    assert_eq!(place(&[0.0, -0.0, 0.0])?, (0, 0));
    let mut many = vec![nan; 100_000];
    many[70_001] = 1.0;
    many[90_002] = 1.0;
    assert_eq!(place(&many)?, (70_001, 70_001));
    let empty = Array::<f64>::from(vec![]);
    let error = empty.min_index().force().unwrap_err();
    assert_eq!(
        (error.combinator, error.kind),
        ("min_index", ErrorKind::Empty)
    );
    assert_eq!(
        (&empty.sum(), &empty.product(), &empty.len()).force()?,
        (0.0, 1.0, 0)
    );
    assert_eq!(
        Array::from([-0.0f64, 0.0]).min().force()?.to_bits(),
        (-0.0f64).to_bits()
    );
    Ok(())
}

#[test]
fn conditions_guard() -> Result<()> {
    let xs = Array::from([6i64, 0, 3]);
    let table = Array::from([10i64, 20]);
    let ys = xs.map(|x| x.ne(0).cond(12 / x, -1));
    let zs = xs.map(|x| x.lt(2).cond(table.at(x), 0));
    let divides = xs.map(|x| x.ne(0).and((12 % x).eq(0)));
    let passes = xs.map(|x| x.eq(0).or((12 % x).eq(0)));
    let (ys, zs, divides, passes) = (&ys, &zs, &divides, &passes).force()?;
    assert_eq!((&ys[..], &zs[..]), (&[2, -1, 4][..], &[0, 10, 0][..]));
    assert_eq!(
        (&divides[..], &passes[..]),
        (&[true, false, true][..], &[true; 3][..])
    );
    let error = xs.map(|x| 12 / x).force().unwrap_err();
    assert_eq!(
        (error.combinator, error.kind),
        (
            "map",
            ErrorKind::Division {
                dividend: 12,
                divisor: 0
            }
        )
    );
    let error = table.gather(&xs).force().unwrap_err();
    assert_eq!(
        (error.combinator, error.kind),
        ("gather", ErrorKind::OutOfRange { index: 6, len: 2 })
    );
    Ok(())
}

#[test]
fn structs_go_in_and_out() -> Result<()> {
    #[derive(Clone, Debug, PartialEq, Elt)]
    struct Body {
        at: (f64, f64),
        mass: f32,
        fixed: bool,
    }
    let bodies: Vec<Body> = (0..5)
        .map(|i| Body {
            at: (i as f64, 0.5),
            mass: i as f32,
            fixed: i % 2 == 0,
        })
        .collect();
    let array = Array::from(&bodies);
    assert_eq!(array.to_vec()?, bodies);
    let heavy = array.filter(|b| b.mass.gt(2.0)).map(|b| BodyExp {
        at: (b.at.1, b.at.0),
        ..b
    });
    assert_eq!(
        heavy.get(0)?,
        Some(Body {
            at: (0.5, 3.0),
            mass: 3.0,
            fixed: false
        })
    );
    let heaviest = array.fold1(|a, b| a.mass.ge(b.mass).cond(a, b));
    assert_eq!(heaviest.force()?, bodies[4]);
    let result = array.force()?;
    assert_eq!(
        (result.column::<f32>(2), result.columns().len()),
        (Some(&[0.0, 1.0, 2.0, 3.0, 4.0][..]), 4)
    );
    assert_eq!(Array::from(&result).sum_of_masses().force()?, 10.0);
    Ok(())
}

trait SumOfMasses {
    fn sum_of_masses(&self) -> Array<f32, Ix0>;
}

impl<T: livefusion::Elt> SumOfMasses for Array<T> {
    fn sum_of_masses(&self) -> Array<f32, Ix0> {
        // User-defined combinators may use untyped fields.
        let node = livefusion::ast::Builder::named("masses").fields(self.node(), 2..3);
        Array::<f32>::from_node(node).map_or_else(|_| Array::scalar(f32::NAN), |m| m.sum())
    }
}

#[test]
fn prepared_programs_run_many_times() -> Result<()> {
    let program = prepare(|(xs, k): (Array<f64>, Array<f64, Ix0>)| {
        let ys = xs.map(|x| x * &k);
        (ys.sum(), ys)
    })?;
    for n in [0, 1, 5] {
        let xs = Array::from((0..n).map(f64::from).collect::<Vec<_>>());
        let (sum, ys) = program.call(&(xs.clone(), Array::scalar(2.0)))?;
        assert_eq!((sum, ys.len()), (f64::from(n * (n - 1)), n as usize));
    }
    Ok(())
}

/// Literal exponents become multiplications, other exponents are data of one call. All give the
/// same bits.
#[test]
fn integer_powers_are_the_same_bits_everywhere() -> Result<()> {
    let xs = Array::from(FLOATS);
    let short: Array<f32> = FLOATS.iter().map(|x| *x as f32).collect();
    let bits = |m: Manifest<f64>| {
        m.iter()
            .map(|x| canonical(x.to_bits(), x.is_nan()))
            .collect()
    };
    let bits32 = |m: Manifest<f32>| {
        m.iter()
            .map(|x| canonical(u64::from(x.to_bits()), x.is_nan()))
            .collect()
    };
    let exponents = [
        0,
        1,
        2,
        3,
        7,
        15,
        16,
        17,
        100,
        i32::MAX,
        -1,
        -2,
        -3,
        -17,
        i32::MIN,
    ];
    let engines = [Engine::interp(), Engine::c(), Engine::jit()];
    let mut seen: Vec<Vec<Vec<u64>>> = Vec::new();
    for engine in &engines {
        let mut all = Vec::new();
        for n in exponents {
            let data = Array::scalar(n);
            let (a, b) = (&xs.map(|x| x.powi(n)), &xs.map(|x| x.powi(&data))).force_with(engine)?;
            let (a, b): (Vec<u64>, Vec<u64>) = (bits(a), bits(b));
            assert_eq!(a, b, "to the power {n}");
            let (c, d) =
                (&short.map(|x| x.powi(n)), &short.map(|x| x.powi(&data))).force_with(engine)?;
            let (c, d): (Vec<u64>, Vec<u64>) = (bits32(c), bits32(d));
            assert_eq!(c, d, "to the power {n}");
            all.extend([a, c]);
        }
        seen.push(all);
    }
    assert!(seen[0] == seen[1] && seen[0] == seen[2]);
    Ok(())
}

fn canonical(bits: u64, nan: bool) -> u64 {
    if nan { u64::MAX } else { bits }
}

/// An exponent that is not a small literal is data, so other values reuse the program.
#[test]
fn a_changing_exponent_compiles_nothing_anew() -> Result<()> {
    let engine = Engine::interp();
    let xs = Array::from(vec![1.0f64, 2.0]);
    for n in [-1, -2, -3, 20, 21, 22] {
        let want = vec![1.0, 2f64.powi(n)];
        assert_eq!(xs.map(|x| x.powi(n)).force_with(&engine)?, want);
    }
    assert_eq!(engine.counters().misses, 1);
    Ok(())
}
