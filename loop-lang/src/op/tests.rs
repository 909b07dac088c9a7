//! Tests of the operator table against the operators' semantics.

use super::*;
use crate::eval::eval;
use proptest::prelude::*;

/// Generates words of a type: edge cases and arbitrary ones.
fn words(ty: Ty) -> impl Strategy<Value = u64> {
    let floats = [0.0, -0.0, 1.0, -1.5, f64::INFINITY, -1e-40, f64::NAN];
    let edge = (0..floats.len()).prop_map(move |i| match ty {
        Ty::F64 => floats[i].to_bits(),
        Ty::F32 => u64::from((floats[i] as f32).to_bits()),
        _ => [
            0,
            1,
            !0,
            2,
            1 << (ty.bits() - 1),
            !(1 << (ty.bits() - 1)),
            7,
        ][i],
    });
    prop_oneof![any::<u64>(), edge].prop_map(move |w| Const::new(ty, w).bits)
}

/// Tells whether bits are equal; all NaN are equal.
fn same(ty: Ty, a: u64, b: u64) -> bool {
    let nan = |w: u64| match ty {
        Ty::F64 => f64::from_bits(w).is_nan(),
        Ty::F32 => f32::from_bits(w as u32).is_nan(),
        _ => false,
    };
    a == b || (nan(a) && nan(b))
}

/// Lists every binary operator with its operand and result types.
fn binary() -> impl Iterator<Item = (Op, Ty, Ty)> {
    let all = Op::ALL
        .iter()
        .flat_map(|op| Ty::ALL.map(|ty| (*op, ty, op.result(&[ty, ty], None))));
    all.filter_map(|(op, ty, to)| Some((op, ty, to?)))
}

fn any_words() -> impl Strategy<Value = Vec<(Ty, [u64; 3])>> {
    let of = |ty: Ty| (words(ty), words(ty), words(ty)).prop_map(move |(a, b, c)| (ty, [a, b, c]));
    Ty::ALL.into_iter().map(of).collect::<Vec<_>>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_table_tells_the_truth(all in any_words()) {
        for (op, ty, to) in binary() {
            let at = all.iter().find(|(t, _)| *t == ty);
            let [x, y, z] = at.unwrap().1;
            let apply = |a: u64, b: u64| eval(op, ty, to, &[a, b]);
            if let Some(unit) = op.right_identity(ty) {
                prop_assert!(same(ty, apply(x, unit.bits), x), "{op:?} {ty} {x:x}");
            }
            if let Some(identity) = op.identity(ty) {
                prop_assert!(same(ty, apply(identity.bits, x), x), "{op:?} {ty} {x:x}");
            }
            if op.commutes() {
                prop_assert!(same(to, apply(x, y), apply(y, x)), "{op:?} {ty} {x:x} {y:x}");
            }
            if op.is_idempotent() {
                prop_assert!(same(to, apply(x, x), x), "{op:?} {ty} {x:x}");
            }
            if op.joins_in_any_order(ty) {
                let (left, right) = (apply(apply(x, y), z), apply(x, apply(y, z)));
                prop_assert!(left == right, "{op:?} {ty} {x:x} {y:x} {z:x}");
            }
            if op.divides() && ty.is_int() {
                let fine = eval(Op::DivOk, ty, Ty::Bool, &[x, y]) == 1;
                prop_assert!(fine || op.may_trap(ty), "{op:?} {ty} {x:x} {y:x}");
            }
        }
    }
}

/// Tells whether `x op y` and `y op x` differ for some sample. Squares of odd multiples are
/// rounded.
fn sides_differ(op: Op, ty: Ty, to: Ty) -> bool {
    let words = (0..40u64).map(|k| match ty {
        Ty::F64 => (k as f64 * 0.7).to_bits(),
        Ty::F32 => u64::from((k as f32 * 0.7).to_bits()),
        _ => Const::new(ty, k).bits,
    });
    let mut pairs = words
        .clone()
        .flat_map(|x| words.clone().map(move |y| [x, y]));
    pairs.any(|[x, y]| {
        let (there, back) = (eval(op, ty, to, &[x, y]), eval(op, ty, to, &[y, x]));
        !same(to, there, back)
    })
}

#[test]
fn nothing_commutes_that_the_table_does_not_say() {
    for op in Op::ALL
        .iter()
        .filter(|op| op.arity() == 2 && !op.commutes())
    {
        let mut types = binary().filter(|(of, ..)| of == op).peekable();
        let mixed = types.peek().is_none();
        // At one type at least: the hypotenuse of `f32` is computed exactly in `f64`.
        let differ = types.any(|(op, ty, to)| sides_differ(op, ty, to));
        assert!(mixed || differ, "{op:?}");
    }
}

#[test]
fn op_that_joins_has_an_identity_where_it_keeps_the_type() {
    let mut found = 0;
    for (op, ty, to) in binary() {
        assert_eq!(
            op.identity(ty).is_some(),
            op.joins() && to == ty,
            "{op:?} {ty}"
        );
        found += usize::from(op.joins());
    }
    // Four operators on numbers at ten types, three on bits at nine.
    assert_eq!(found, 4 * 10 + 3 * 9);
}

#[test]
fn rows_are_in_the_order_of_operators() {
    let mut names = std::collections::BTreeSet::new();
    for op in Op::ALL {
        assert_eq!(Op::from_name(op.name()), Some(*op));
        assert!(names.insert(op.name()));
    }
}

#[test]
fn costs_grow_with_what_there_is_to_do() {
    for op in Op::ALL {
        for ty in [Ty::I64, Ty::F64] {
            let cost = op.cost(ty);
            assert!(cost.wait >= cost.work.min(2) - 1, "{op:?}");
            assert_eq!(cost.work > 1, op.is_transcendental(), "{op:?}");
            // An operator too costly to speculate must not be in vectors.
            assert!(op.is_cheap(ty) || !op.vectorises(ty, ty), "{op:?} {ty}");
        }
    }
}
