//! Random folds: associative operators where required, any operator otherwise.

use super::body::{self, Maker, Scope};
use super::{Body, Fold, Style, Term};
use crate::rng::Rng;
use crate::scalar;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Returns a fold over elements of these types.
///
/// Scans use neither `First` nor `Aggregate`.
pub fn random(rng: &mut Rng, scope: &Scope, elem: &[Ty], for_scan: bool) -> Fold {
    let style = if for_scan {
        rng.weighted(&[75, 25])
    } else {
        rng.weighted(&[45, 15, 20, 20])
    };
    match style {
        1 => sequential(rng, scope, elem),
        2 => Fold {
            start: Body::default(),
            step: associative(rng, scope, elem),
            style: Style::First,
        },
        3 => aggregate(rng, elem),
        _ => Fold {
            start: start(rng, scope, elem),
            step: associative(rng, scope, elem),
            style: Style::Associative,
        },
    }
}

fn start(rng: &mut Rng, scope: &Scope, types: &[Ty]) -> Body {
    if rng.chance(15) {
        return body::random(
            rng,
            &Scope {
                arrays: vec![],
                ..scope.clone()
            },
            &[],
            types,
        );
    }
    let values: Vec<Const> = types
        .iter()
        .map(|t| Const {
            ty: *t,
            bits: scalar::random(rng, *t),
        })
        .collect();
    body::literals(&values)
}

fn sequential(rng: &mut Rng, scope: &Scope, elem: &[Ty]) -> Fold {
    let width = rng.range(1, 2);
    let state: Vec<Ty> = (0..width).map(|_| rng.pick(&Ty::ALL)).collect();
    let start = start(rng, scope, &state);
    let step = body::random(rng, scope, &[state.as_slice(), elem].concat(), &state);
    Fold {
        start,
        step,
        style: Style::Sequential,
    }
}

/// Lists the built-in monoid operators of a type.
pub fn monoids(ty: Ty) -> &'static [Op] {
    match ty {
        Ty::Bool => &[Op::And, Op::Or, Op::Xor],
        t if t.is_float() => &[Op::Add, Op::Mul, Op::Min, Op::Max],
        _ => &[Op::Add, Op::Mul, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor],
    }
}

/// Returns an associative operator on tuples of these types.
///
/// Its parameters are the left fields, then the right fields.
pub fn associative(rng: &mut Rng, scope: &Scope, elem: &[Ty]) -> Body {
    let n = elem.len();
    let params = [elem, elem].concat();
    let ints = elem.len() == 2 && elem[0] == elem[1] && elem[0].is_int();
    match rng.weighted(&[60, 15, 10, if ints { 25 } else { 0 }, 10]) {
        1 if !elem[0].is_float() => by_key(rng, elem),
        2 => {
            // The first or the last element: not commutative.
            let from = if rng.chance(50) { 0 } else { n };
            let terms = (0..2 * n as u32).map(Term::Param).collect();
            Body {
                params,
                terms,
                results: (from..from + n).collect(),
                ..Body::default()
            }
        }
        3 => affine(rng, elem[0]),
        4 if elem.iter().all(|t| t.is_int()) && !scope.scalars.is_empty() => {
            shifted(rng, scope, elem)
        }
        _ => {
            let no_scope = Scope::default();
            let mut ops: Vec<Op> = vec![];
            for t in elem {
                ops.push(rng.pick(monoids(*t)));
            }
            let swapped = rng.chance(20);
            let mut m = Maker::new(rng, &no_scope, &params);
            let args = |k: usize| if swapped { [k + n, k] } else { [k, k + n] };
            let results = (0..n).map(|k| m.op(ops[k], &args(k), elem[k])).collect();
            m.finish(results)
        }
    }
}

/// The element with the smallest (or largest) first field; ties choose the left one.
fn by_key(rng: &mut Rng, elem: &[Ty]) -> Body {
    let n = elem.len();
    let no_scope = Scope::default();
    let op = if rng.chance(50) { Op::Lt } else { Op::Gt };
    let lazily = rng.chance(50);
    let mut m = Maker::new(rng, &no_scope, &[elem, elem].concat());
    let right = m.op(op, &[n, 0], Ty::Bool);
    let results = (0..n)
        .map(|k| match lazily {
            true => m.push(Term::Cond(right, n + k, k), elem[k]),
            false => m.op(Op::Select, &[right, n + k, k], elem[k]),
        })
        .collect();
    m.finish(results)
}

/// Composition of `x -> a x + b` on wrapping integers: associative, not commutative.
fn affine(rng: &mut Rng, ty: Ty) -> Body {
    let no_scope = Scope::default();
    let mut m = Maker::new(rng, &no_scope, &[ty; 4]);
    let a = m.op(Op::Mul, &[0, 2], ty);
    let scaled = m.op(Op::Mul, &[2, 1], ty);
    let b = m.op(Op::Add, &[scaled, 3], ty);
    m.finish(vec![a, b])
}

/// `x + y + c` for a captured `c`: associative on wrapping integers.
fn shifted(rng: &mut Rng, scope: &Scope, elem: &[Ty]) -> Body {
    let n = elem.len();
    let (step, types) = scope.scalars[rng.below(scope.scalars.len())].clone();
    let mut m = Maker::new(rng, scope, &[elem, elem].concat());
    let captured = m.push(Term::Scalar(step, 0), types[0]);
    let mut results = vec![];
    for (k, ty) in elem.iter().enumerate() {
        let c = if types[0] == *ty {
            captured
        } else {
            m.push(Term::Cast(captured, *ty), *ty)
        };
        let sum = m.op(Op::Add, &[k, k + n], *ty);
        results.push(m.op(Op::Add, &[sum, c], *ty));
    }
    m.finish(results)
}

/// A count, and a separate fold per field.
fn aggregate(rng: &mut Rng, elem: &[Ty]) -> Fold {
    let no_scope = Scope::default();
    let mut state = vec![Ty::U64];
    state.extend_from_slice(elem);
    let ops: Vec<Op> = elem.iter().map(|t| rng.pick(monoids(*t))).collect();
    let mut start = vec![Const::u64(0)];
    start.extend(elem.iter().zip(&ops).map(|(t, op)| identity(*op, *t)));
    let n = state.len();
    let mut m = Maker::new(rng, &no_scope, &[state.as_slice(), elem].concat());
    let one = m.lit(Const::u64(1));
    let mut results = vec![m.op(Op::Add, &[0, one], Ty::U64)];
    for (k, op) in ops.iter().enumerate() {
        results.push(m.op(*op, &[k + 1, n + k], elem[k]));
    }
    let step = m.finish(results);
    let mut m = Maker::new(rng, &no_scope, &[&state[..], &state].concat());
    let mut results = vec![m.op(Op::Add, &[0, n], Ty::U64)];
    for (k, op) in ops.iter().enumerate() {
        results.push(m.op(*op, &[k + 1, n + k + 1], elem[k]));
    }
    let join = m.finish(results);
    Fold {
        start: body::literals(&start),
        step,
        style: Style::Aggregate(join),
    }
}

/// The identity of an operator.
fn identity(op: Op, ty: Ty) -> Const {
    let float = |x: f64| Const {
        ty,
        bits: scalar::float(ty, x),
    };
    let least = || {
        if ty.is_signed() {
            1u64 << (ty.bits() - 1)
        } else {
            0
        }
    };
    match op {
        Op::Add if ty.is_float() => float(-0.0),
        Op::Mul if ty.is_float() => float(1.0),
        Op::Min | Op::Max if ty.is_float() => float(f64::NAN),
        Op::Mul => Const::int(ty, 1),
        Op::And => Const::int(ty, -1),
        Op::Max => Const::new(ty, least()),
        Op::Min => Const::new(ty, !least()),
        _ => Const::zero(ty),
    }
}
