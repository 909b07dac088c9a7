//! Tests of every operator at every type on extreme values.
//!
//! The reference is `i128` arithmetic or Rust's operators.

use super::*;
use crate::ir::{Atom, FnId, Var};
use crate::ir::{CombId, Combine, Function, Loop, Stmt, StmtKind, Trap, TrapId, TrapKind, Type};
use crate::types::Const;

const INTS: [Ty; 8] = [
    Ty::I8,
    Ty::I16,
    Ty::I32,
    Ty::I64,
    Ty::U8,
    Ty::U16,
    Ty::U32,
    Ty::U64,
];

fn range(ty: Ty) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// Returns numbers at the edges of a type, as canonical words and as numbers.
fn samples(ty: Ty) -> Vec<(u64, i128)> {
    let (min, max) = range(ty);
    let all = [
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        31,
        64,
        100,
        -1,
        -2,
        -7,
        min,
        min + 1,
        max - 1,
        max,
        max / 2,
    ];
    let mut all: Vec<i128> = all
        .into_iter()
        .filter(|x| (min..=max).contains(x))
        .collect();
    all.dedup();
    all.into_iter().map(|x| (word(ty, x), x)).collect()
}

/// Returns the canonical word of a number, wrapped to the type's width.
fn word(ty: Ty, x: i128) -> u64 {
    canonical(ty, x as u64)
}

/// Returns a binary operator's value on integers; none for operators that do not apply.
fn reference(op: Op, ty: Ty, a: i128, b: i128) -> Option<u64> {
    let mask = u32::try_from(b & i128::from(ty.bits() - 1)).unwrap();
    let x = match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a.wrapping_mul(b),
        Op::Div | Op::Rem | Op::DivEuclid | Op::RemEuclid if b == 0 => 0,
        Op::Div => a / b,
        Op::Rem => a % b,
        Op::DivEuclid => a.div_euclid(b),
        Op::RemEuclid => a.rem_euclid(b),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => a << mask,
        Op::Shr => a >> mask,
        Op::DivOk => return Some(u64::from(b != 0 && a / b <= range(ty).1)),
        Op::Eq => return Some(u64::from(a == b)),
        Op::Ne => return Some(u64::from(a != b)),
        Op::Lt => return Some(u64::from(a < b)),
        Op::Le => return Some(u64::from(a <= b)),
        Op::Gt => return Some(u64::from(a > b)),
        Op::Ge => return Some(u64::from(a >= b)),
        _ => return None,
    };
    Some(word(ty, x))
}

#[test]
fn binary_operators_on_integers() {
    for ty in INTS {
        for op in Op::ALL.iter().copied().filter(|o| o.arity() == 2) {
            let Some(to) = op.result(&[ty, ty], None).filter(|_| op != Op::Powi) else {
                continue;
            };
            for (wa, a) in samples(ty) {
                for (wb, b) in samples(ty) {
                    let want = reference(op, ty, a, b);
                    assert!(want.is_some(), "{op:?} has no reference");
                    assert_eq!(
                        Some(eval(op, ty, to, &[wa, wb])),
                        want,
                        "{op:?} {ty} {a} {b}"
                    );
                }
            }
        }
    }
}

#[test]
fn unary_operators_on_integers() {
    for ty in INTS {
        for (w, a) in samples(ty) {
            let bits = i128::from(ty.bits());
            let pattern = (a as u128) & ((1u128 << bits) - 1);
            let zeros = |lead: bool| match pattern {
                0 => bits,
                p if lead => i128::from(p.leading_zeros()) - (128 - bits),
                p => i128::from(p.trailing_zeros()),
            };
            let want = [
                (Op::Neg, -a),
                (Op::Abs, a.abs()),
                (Op::Signum, a.signum()),
                (Op::Not, !a),
                (Op::CountOnes, i128::from(pattern.count_ones())),
                (Op::LeadingZeros, zeros(true)),
                (Op::TrailingZeros, zeros(false)),
                (Op::Copy, a),
            ];
            for (op, x) in want {
                assert_eq!(eval(op, ty, ty, &[w]), word(ty, x), "{op:?} {ty} {a}");
            }
        }
    }
}

#[test]
fn booleans() {
    let b = |op, args: &[u64]| eval(op, Ty::Bool, Ty::Bool, args);
    for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        assert_eq!(b(Op::And, &[x, y]), x & y);
        assert_eq!(b(Op::Or, &[x, y]), x | y);
        assert_eq!(b(Op::Xor, &[x, y]), x ^ y);
        assert_eq!(b(Op::Eq, &[x, y]), u64::from(x == y));
        assert_eq!(b(Op::Lt, &[x, y]), u64::from(x < y));
        assert_eq!(b(Op::Ge, &[x, y]), u64::from(x >= y));
        assert_eq!(
            b(Op::Select, &[x, y, 1 - y]),
            if x == 1 { y } else { 1 - y }
        );
        assert_eq!(b(Op::Not, &[x]), 1 - x);
    }
    for ty in Ty::ALL {
        let (a, c) = (Const::new(ty, 3).bits, Const::new(ty, 4).bits);
        assert_eq!(eval(Op::Select, ty, ty, &[1, a, c]), a);
        assert_eq!(eval(Op::Select, ty, ty, &[0, a, c]), c);
    }
}

#[test]
fn casts_between_integers_wrap() {
    for from in INTS {
        for (w, a) in samples(from) {
            for to in INTS {
                assert_eq!(
                    eval(Op::Cast, from, to, &[w]),
                    word(to, a),
                    "{a}: {from} as {to}"
                );
            }
            assert_eq!(eval(Op::Cast, from, Ty::Bool, &[w]), u64::from(a != 0));
            assert_eq!(eval(Op::Cast, from, Ty::F64, &[w]), (a as f64).to_bits());
            assert_eq!(
                eval(Op::Cast, from, Ty::F32, &[w]),
                u64::from((a as f32).to_bits())
            );
        }
    }
    for to in INTS {
        assert_eq!(eval(Op::Cast, Ty::Bool, to, &[1]), 1);
    }
    assert_eq!(eval(Op::Cast, Ty::Bool, Ty::F64, &[1]), 1f64.to_bits());
    assert_eq!(
        eval(Op::Cast, Ty::Bool, Ty::F32, &[1]),
        u64::from(1f32.to_bits())
    );
}

/// Returns numbers at the edges of `f64` and of integer ranges.
fn floats() -> Vec<f64> {
    let mut all = vec![
        0.0, 0.5, 1.0, 1.5, 2.5, 3.9, 1e-310, 1e10, 3e38, 1e39, 1e300, 127.5, 255.9,
    ];
    all.extend([
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NAN,
        std::f64::consts::PI,
    ]);
    all.extend([7, 8, 15, 16, 31, 32, 63, 64].map(|k| 2f64.powi(k)));
    all.extend(all.clone().iter().map(|x| -x));
    all
}

#[test]
fn casts_of_floats_saturate() {
    for x in floats() {
        for to in INTS {
            let (min, max) = range(to);
            let want = if x.is_nan() {
                0
            } else {
                (x as i128).clamp(min, max)
            };
            assert_eq!(
                eval(Op::Cast, Ty::F64, to, &[x.to_bits()]),
                word(to, want),
                "{x} as {to}"
            );
            let y = x as f32;
            let want = if y.is_nan() {
                0
            } else {
                (y as i128).clamp(min, max)
            };
            let got = eval(Op::Cast, Ty::F32, to, &[u64::from(y.to_bits())]);
            assert_eq!(got, word(to, want), "{y} as {to}");
        }
        assert_eq!(
            eval(Op::Cast, Ty::F64, Ty::Bool, &[x.to_bits()]),
            u64::from(x != 0.0)
        );
        if !x.is_nan() {
            let narrow = u64::from((x as f32).to_bits());
            assert_eq!(eval(Op::Cast, Ty::F64, Ty::F32, &[x.to_bits()]), narrow);
            assert_eq!(
                eval(Op::Cast, Ty::F32, Ty::F64, &[narrow]),
                f64::from(x as f32).to_bits()
            );
        }
        assert_eq!(
            eval(Op::Bitcast, Ty::F64, Ty::U64, &[x.to_bits()]),
            x.to_bits()
        );
        assert_eq!(
            eval(Op::Bitcast, Ty::U64, Ty::F64, &[x.to_bits()]),
            x.to_bits()
        );
    }
}

/// Compares with a function at both float types, on words; all NaN are equal.
macro_rules! same_as {
    ($op:ident, $n:literal, |$($x:ident),*| $value:expr) => {
        for a in floats() {
            for b in floats() {
                let args = &[a, b, 1.5][..$n];
                let words: Vec<u64> = args.iter().map(|x| x.to_bits()).collect();
                let got = f64::from_bits(eval(Op::$op, Ty::F64, Ty::F64, &words));
                let f = |args: &[f64]| { let [$($x),*] = args[..] else { panic!() }; $value };
                let want: f64 = f(args);
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{} {args:?}: {got} {want}", stringify!($op));
                let args: Vec<f32> = args.iter().map(|x| *x as f32).collect();
                let words: Vec<u64> = args.iter().map(|x| u64::from(x.to_bits())).collect();
                let got = f32::from_bits(eval(Op::$op, Ty::F32, Ty::F32, &words) as u32);
                let f = |args: &[f32]| { let [$($x),*] = args[..] else { panic!() }; $value };
                let want: f32 = f(&args);
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{} {args:?}: {got} {want}", stringify!($op));
            }
        }
    };
}

#[test]
fn arithmetic_of_floats() {
    same_as!(Add, 2, |a, b| a + b);
    same_as!(Sub, 2, |a, b| a - b);
    same_as!(Mul, 2, |a, b| a * b);
    same_as!(Div, 2, |a, b| a / b);
    same_as!(Rem, 2, |a, b| a % b);
    same_as!(DivEuclid, 2, |a, b| a.div_euclid(b));
    same_as!(RemEuclid, 2, |a, b| a.rem_euclid(b));
    same_as!(Copysign, 2, |a, b| a.copysign(b));
    same_as!(MulAdd, 3, |a, b, c| a.mul_add(b, c));
    same_as!(Neg, 1, |a| -a);
    same_as!(Abs, 1, |a| a.abs());
    same_as!(Signum, 1, |a| a.signum());
    same_as!(Copy, 1, |a| a);
}

#[test]
fn functions_of_floats() {
    same_as!(Floor, 1, |a| a.floor());
    same_as!(Ceil, 1, |a| a.ceil());
    same_as!(Round, 1, |a| a.round());
    same_as!(RoundEven, 1, |a| a.round_ties_even());
    same_as!(Trunc, 1, |a| a.trunc());
    same_as!(Sqrt, 1, |a| a.sqrt());
    // `tests/math.rs` tests the values of these.
    same_as!(Cbrt, 1, |a| Math::cbrt(a));
    same_as!(Exp, 1, |a| Math::exp(a));
    same_as!(Exp2, 1, |a| Math::exp2(a));
    same_as!(ExpM1, 1, |a| Math::exp_m1(a));
    same_as!(Ln, 1, |a| Math::ln(a));
    same_as!(Ln1p, 1, |a| Math::ln_1p(a));
    same_as!(Log2, 1, |a| Math::log2(a));
    same_as!(Log10, 1, |a| Math::log10(a));
    same_as!(Sin, 1, |a| Math::sin(a));
    same_as!(Cos, 1, |a| Math::cos(a));
    same_as!(Tan, 1, |a| Math::tan(a));
    same_as!(Asin, 1, |a| Math::asin(a));
    same_as!(Acos, 1, |a| Math::acos(a));
    same_as!(Atan, 1, |a| Math::atan(a));
    same_as!(Sinh, 1, |a| Math::sinh(a));
    same_as!(Cosh, 1, |a| Math::cosh(a));
    same_as!(Tanh, 1, |a| Math::tanh(a));
    same_as!(Asinh, 1, |a| Math::asinh(a));
    same_as!(Acosh, 1, |a| Math::acosh(a));
    same_as!(Atanh, 1, |a| Math::atanh(a));
    same_as!(Powf, 2, |a, b| Math::powf(a, b));
    same_as!(Atan2, 2, |a, b| Math::atan2(a, b));
    same_as!(Hypot, 2, |a, b| Math::hypot(a, b));
    for x in floats() {
        for n in [0, 1, -1, 2, 10, -3, i32::MIN, i32::MAX] {
            let got = eval(Op::Powi, Ty::F64, Ty::F64, &[x.to_bits(), n as i64 as u64]);
            let (got, want) = (f64::from_bits(got), Math::powi(x, n));
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan());
        }
        let sign = u64::from(x.is_sign_negative());
        assert_eq!(eval(Op::SignBit, Ty::F64, Ty::Bool, &[x.to_bits()]), sign);
        assert_eq!(
            eval(
                Op::SignBit,
                Ty::F32,
                Ty::Bool,
                &[u64::from((x as f32).to_bits())]
            ),
            sign
        );
    }
}

#[test]
fn comparisons_of_floats_are_ieee() {
    for a in floats() {
        for b in floats() {
            let get = |op| eval(op, Ty::F64, Ty::Bool, &[a.to_bits(), b.to_bits()]) == 1;
            assert_eq!(get(Op::Eq), a == b);
            assert_eq!(get(Op::Ne), a != b);
            assert_eq!(get(Op::Lt), a < b);
            assert_eq!(get(Op::Le), a <= b);
            assert_eq!(get(Op::Gt), a > b);
            assert_eq!(get(Op::Ge), a >= b);
        }
    }
}

#[test]
fn min_and_max_ignore_nan_and_order_zeros() {
    let get = |op, a: f64, b: f64| eval(op, Ty::F64, Ty::F64, &[a.to_bits(), b.to_bits()]);
    for (a, b) in [(-0.0, 0.0), (0.0, -0.0)] {
        assert_eq!(get(Op::Min, a, b), (-0.0f64).to_bits());
        assert_eq!(get(Op::Max, a, b), 0.0f64.to_bits());
    }
    let odd = f64::from_bits(f64::NAN.to_bits() | 1);
    for op in [Op::Min, Op::Max] {
        assert_eq!(get(op, f64::NAN, 3.0), 3f64.to_bits());
        assert_eq!(get(op, 3.0, -f64::NAN), 3f64.to_bits());
        assert_eq!(get(op, odd, -odd), f64::NAN.to_bits());
    }
    assert_eq!(
        get(Op::Min, 2.0, f64::NEG_INFINITY),
        f64::NEG_INFINITY.to_bits()
    );
    assert_eq!(get(Op::Max, 2.0, 3.0), 3f64.to_bits());
}

#[test]
fn operands_that_do_not_fit_give_zero() {
    assert_eq!(eval(Op::Sqrt, Ty::I32, Ty::I32, &[4]), 0);
    assert_eq!(eval(Op::Add, Ty::F64, Ty::F64, &[4]), 0);
    assert_eq!(eval(Op::Shl, Ty::Bool, Ty::Bool, &[1, 1]), 0);
}

/// `fn f(a: u64, b: u64)`: traps if `a` is 0. It returns `a^4`, computed by a loop, and the smaller
/// argument, selected by a condition.
fn program() -> Loop {
    let mut l = Loop::default();
    let mut var = |name: &str, ty| l.new_var(name, Type::Scalar(ty));
    let (a, b, ok) = (var("a", Ty::U64), var("b", Ty::U64), var("ok", Ty::Bool));
    let (x, n, more) = (var("x", Ty::U64), var("n", Ty::U64), var("more", Ty::Bool));
    let (y, m) = (var("y", Ty::U64), var("m", Ty::U64));
    let (less, small) = (var("less", Ty::Bool), var("small", Ty::U64));
    let int = |n| Atom::Const(Const::u64(n));
    let stmt = |kind| Stmt {
        comb: CombId(0),
        kind,
    };
    let op =
        |v: Var, op, a: Atom, b: Atom| stmt(StmtKind::Let(v, op, [a, b].into_iter().collect()));
    let body = vec![
        op(ok, Op::Ne, a.into(), int(0)),
        stmt(StmtKind::Trap {
            unless: ok.into(),
            trap: TrapId(0),
            payload: [a.into(), b.into()].into_iter().collect(),
        }),
        stmt(StmtKind::While {
            state: vec![(x, int(1)), (n, int(0))],
            test: vec![op(more, Op::Lt, n.into(), int(4))],
            cond: more.into(),
            body: vec![
                op(y, Op::Mul, x.into(), a.into()),
                op(m, Op::Add, n.into(), int(1)),
            ],
            next: vec![y.into(), m.into()],
        }),
        op(less, Op::Lt, a.into(), b.into()),
        stmt(StmtKind::If {
            cond: less.into(),
            then: vec![],
            other: vec![],
            results: vec![(small, a.into(), b.into())],
        }),
    ];
    l.traps.push(Trap {
        comb: CombId(0),
        kind: TrapKind::Division,
    });
    l.functions.push(Function {
        name: "f".into(),
        comb: CombId(0),
        params: vec![a, b],
        body,
        results: vec![x.into(), small.into()],
    });
    l
}

#[test]
fn functions_compute_and_report_traps() {
    let l = program();
    let mut traps = Vec::new();
    let mut on_trap = |t: TrapId, payload: &[u64]| traps.push((t, payload.to_vec()));
    assert_eq!(call_with(&l, FnId(0), &[3, 2], &mut on_trap), [81, 2]);
    assert_eq!(call_with(&l, FnId(0), &[0, 7], &mut on_trap), [0, 0]);
    assert_eq!(traps, [(TrapId(0), vec![0, 7])]);
    assert_eq!(call(&l, FnId(0), &[0, 7]), [0, 0]);
    let joined = join(&l, Combine::Fn(FnId(0)), Ty::U64, &[2], &[5]);
    assert_eq!(joined, [16, 2]);
    assert_eq!(
        join(&l, Combine::Op(Op::Sub), Ty::I32, &[2], &[5]),
        [(-3i64) as u64]
    );
}
