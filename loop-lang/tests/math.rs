//! The functions of `loop_lang::math`: errors, special values and Loop-level bodies.
//!
//! Errors are within the documented bounds, and bodies give the same bits.

mod ulps;

use loop_lang::entity::FnId;
use loop_lang::eval::{call, eval};
use loop_lang::{Op, Ty, math};
use ulps::*;

const SPECIAL: &[f64] = &[
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    2.0,
    -2.0,
    3.0,
    -3.0,
    2.5,
    -2.5,
    1e-320,
    -1e-320,
    f64::MIN_POSITIVE,
    709.0,
    -709.0,
    710.0,
    711.0,
    -745.0,
    -746.0,
    1e30,
    -1e30,
    1e300,
    -1e300,
    f64::MAX,
    f64::MIN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn pairs(op: Op) -> impl Iterator<Item = (f64, f64)> {
    let second = if op.arity() == 1 {
        &SPECIAL[..1]
    } else {
        SPECIAL
    };
    SPECIAL
        .iter()
        .flat_map(move |x| second.iter().map(move |y| (*x, *y)))
}

#[test]
fn special_values_are_those_of_the_standard() {
    for (op, single, double) in BOUNDS {
        for (x, y) in pairs(*op) {
            let (got, want) = (value(*op, Ty::F64, x, y), std_value(*op, x, y));
            let exact = got == want && got.is_sign_negative() == want.is_sign_negative();
            let near = (got - want).abs() <= (double + 1.0) * f64::EPSILON * want.abs();
            let fine = exact || (near && want != 0.0) || got.is_nan() && want.is_nan();
            assert!(fine, "{op:?} {x:?} {y:?}: {got:?}, not {want:?}");
            let (x, y) = (f64::from(x as f32), f64::from(y as f32));
            let (got, want) = (value(*op, Ty::F32, x, y), std_value(*op, x, y));
            let zero = got != 0.0
                || want as f32 != 0.0
                || got.is_sign_negative() == want.is_sign_negative();
            let error = error_f32(got, want);
            assert!(
                error <= *single && zero,
                "{op:?} {x:?} {y:?}: {got:?}, not {want:?}"
            );
        }
    }
}

#[test]
fn f32_within_the_bounds() {
    let mut random = Random(1);
    for (op, bound, _) in BOUNDS {
        for _ in 0..10_000 {
            let [x, y] = [(); 2].map(|()| random.operand(*op) as f32);
            let any = f32::from_bits(random.bits() as u32);
            for x in [x, any] {
                let (x, y) = (f64::from(x), f64::from(y));
                let (got, want) = (value(*op, Ty::F32, x, y), std_value(*op, x, y));
                let error = error_f32(got, want);
                assert!(
                    error <= *bound,
                    "{op:?} {x:?} {y:?}: {got:?}, not {want:?}: {error}"
                );
            }
        }
    }
}

#[test]
fn f64_within_the_bounds() {
    let (mut random, mut reference) = (Random(2), Reference::new());
    for (op, _, bound) in BOUNDS {
        for _ in 0..300 {
            let [x, y] = [(); 2].map(|()| random.operand(*op));
            let want = std_value(*op, x, y);
            // Special cases are for the other test.
            if !want.is_finite() || want == 0.0 {
                continue;
            }
            let got = value(*op, Ty::F64, x, y);
            let error = error_f64(got, &reference.value(*op, x, y));
            assert!(
                error <= *bound,
                "{op:?} {x:?} {y:?}: {got:?}, not {want:?}: {error}"
            );
        }
    }
}

#[test]
fn the_angle_of_a_tiny_number_is_right() {
    let tiny = 5e-324;
    assert_eq!(value(Op::Atan2, Ty::F64, 0.0, tiny), 0.0);
    assert_eq!(
        value(Op::Atan2, Ty::F64, -0.0, tiny).to_bits(),
        (-0.0f64).to_bits()
    );
    assert_eq!(
        value(Op::Atan2, Ty::F64, tiny, tiny),
        std::f64::consts::FRAC_PI_4
    );
    assert_eq!(
        value(Op::Atan2, Ty::F64, tiny, 0.0),
        std::f64::consts::FRAC_PI_2
    );
    assert_eq!(value(Op::Atan2, Ty::F64, 0.0, -tiny), std::f64::consts::PI);
}

/// Every function on subnormal operands, and on pairs with one or two of them.
#[test]
fn subnormal_operands_within_the_bounds() {
    let (mut random, mut reference) = (Random(4), Reference::new());
    let edge = [f64::MIN_POSITIVE, f64::from(f32::MIN_POSITIVE)];
    let mut fixed: Vec<f64> = edge
        .iter()
        .flat_map(|x| [*x, x.next_down(), x.next_up()])
        .collect();
    fixed.extend([
        5e-324,
        1e-323,
        f64::from(f32::from_bits(1)),
        f64::from(f32::from_bits(3)),
    ]);
    for (op, single, double) in BOUNDS {
        let mut operands: Vec<(f64, f64)> = Vec::new();
        let mut firsts: Vec<f64> = fixed.iter().flat_map(|x| [*x, -x]).collect();
        firsts.extend((0..60).map(|_| random.subnormal()));
        for x in firsts {
            let y = random.operand(*op);
            operands.extend([(x, y), (y, x), (x, random.subnormal()), (x, 0.0), (0.0, x)]);
        }
        if op.arity() == 1 {
            operands.dedup_by_key(|(x, _)| *x);
        }
        for (x, y) in operands {
            let want = std_value(*op, x, y);
            if !want.is_finite() {
                continue;
            }
            let got = value(*op, Ty::F64, x, y);
            let error = error_f64(got, &reference.value(*op, x, y));
            assert!(
                error <= *double,
                "{op:?} {x:?} {y:?}: {got:?}, not {want:?}: {error}"
            );
            let (x, y) = (f64::from(x as f32), f64::from(y as f32));
            let (got, want) = (value(*op, Ty::F32, x, y), std_value(*op, x, y));
            let error = error_f32(got, want);
            assert!(
                error <= *single,
                "{op:?} {x:?} {y:?}: {got:?}, not {want:?}: {error}"
            );
        }
    }
}

#[test]
fn integer_powers_within_their_bound() {
    let mut random = Random(5);
    let mut worst = [0.0f64; 2];
    for k in 0..4000 {
        let n = match k % 4 {
            0 => (random.bits() % 9) as i32 - 4,
            1 => (random.bits() % 65) as i32 - 32,
            2 => (random.bits() % 2001) as i32 - 1000,
            _ => random.bits() as i32 >> (random.bits() % 14),
        };
        // Most powers of most numbers are out of range; these operands are chosen so that their
        // powers are in range.
        let size = 1080.0 / f64::from(n.unsigned_abs().max(1));
        let exponent = (2.0 * random.unit() - 1.0) * size.min(1074.0);
        let x = match random.bits() % 8 {
            0 => random.operand(Op::Powf),
            1 => random.subnormal(),
            _ => exponent.exp2().copysign(random.unit() - 0.5),
        };
        if x == 0.0 || x as f32 == 0.0 {
            continue;
        }
        let bound = f64::from(n.unsigned_abs());
        for (error, worst) in errors_of_powi(x, n).into_iter().zip(&mut worst) {
            assert!(error <= bound, "{x:?} to the power {n}: off by {error}");
            *worst = worst.max(error / bound.max(1.0));
        }
    }
    println!("errors over exponents: {worst:?}");
}

#[test]
fn integer_powers_of_special_values_are_those_of_std() {
    for x in SPECIAL {
        for n in [0, 1, -1, 2, -2, 3, -3, 4, 7, -8, i32::MAX, i32::MIN] {
            let word = eval(
                Op::Powi,
                Ty::F64,
                Ty::F64,
                &[x.to_bits(), i64::from(n) as u64],
            );
            let (got, want) = (f64::from_bits(word), x.powi(n));
            let same = got.is_nan() && want.is_nan()
                || got.is_sign_negative() == want.is_sign_negative()
                    && (got == want || (got - want).abs() <= 8.0 * f64::EPSILON * want.abs());
            assert!(same, "{x:?} to the power {n}: {got:?}, not {want:?}");
        }
    }
    // Negative powers of ten are correctly rounded, and a reciprocal of an overflowing power is not
    // zero.
    let power = |x: f64, n: i32| {
        f64::from_bits(eval(
            Op::Powi,
            Ty::F64,
            Ty::F64,
            &[x.to_bits(), i64::from(n) as u64],
        ))
    };
    assert_eq!(power(10.0, -2), 0.01);
    assert_eq!(power(2.0, -1074), 5e-324);
    assert_eq!(power(-2.0, -1073), -1e-323);
}

#[test]
fn bodies_give_the_same_bits() {
    let mut random = Random(3);
    for (op, ..) in BOUNDS {
        for ty in [Ty::F32, Ty::F64] {
            let body = math::body(*op, ty).expect("a body");
            let limit = math::limit(*op, ty).unwrap_or(f64::INFINITY);
            let some: Vec<_> = (0..300)
                .map(|_| (random.operand(*op), random.operand(*op)))
                .chain(pairs(*op))
                .collect();
            for (x, y) in some {
                let words = [x, y].map(|x| match ty {
                    Ty::F32 => u64::from((x as f32).to_bits()),
                    _ => x.to_bits(),
                });
                let words = &words[..op.arity()];
                let (x32, y32) = (x as f32, y as f32);
                let within = x.abs() < limit;
                if limit.is_finite() && !within {
                    continue;
                }
                let got = call(&body, FnId::new(0), words)[0];
                let want = eval(*op, ty, ty, words);
                let nan = |w: u64| match ty {
                    Ty::F32 => f32::from_bits(w as u32).is_nan(),
                    _ => f64::from_bits(w).is_nan(),
                };
                let same = got == want || nan(got) && nan(want);
                assert!(same, "{op:?} {ty} {x32:?} {y32:?}: {got:x}, not {want:x}");
            }
        }
    }
}

#[test]
fn other_operators_have_no_body() {
    assert!(math::body(Op::Add, Ty::F64).is_none());
    assert!(math::body(Op::Exp, Ty::I32).is_none());
    assert_eq!(math::limit(Op::Exp, Ty::F64), None);
}

#[test]
fn bodies_keep_their_width_where_that_is_said() {
    for op in Op::ALL {
        for ty in [Ty::F32, Ty::F64] {
            let keeps = math::body(*op, ty).is_some_and(|body| {
                let mut vars = body.vars.iter().map(|v| v.ty.elem());
                // A `bool` is as wide as the compared values.
                vars.all(|of| of == Ty::Bool || of.size() == ty.size())
            });
            assert_eq!(math::keeps_width(*op, ty), keeps, "{op:?} {ty}");
        }
    }
}
