//! Evenly spread floats as index functions, for `linspace` and `histogram_uniform`.
//!
//! Number `k` is `(first + (k * size) * inner) * outer`, where the factors are powers of two. They
//! are 1 if the spacing is a normal number. If the whole distance overflows, everything is computed
//! at a quarter of its size. If the spacing is subnormal, it would have few bits. Then it is
//! computed at 2^`lift` times its size (see `exponents`). Each number is rounded to the floats of
//! its magnitude once. Near zero, `(k * size) * inner` is rounded; elsewhere the sum is.

use crate::ast::Field;
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Evenly spread numbers with their common factors.
pub(crate) struct Spread {
    /// The number of steps, one less than there are numbers.
    pub steps: Field,
    /// The distance from the first to the last number, scaled by `up`.
    pub width: Field,
    /// The power of two that scales distances.
    pub up: Field,
    /// The first number.
    pub start: Field,
    /// The last number.
    pub stop: Field,
    first: Field,
    size: Field,
    inner: Field,
    outer: Field,
    loc: Loc,
}

/// A power of two.
fn power(ty: Ty, exponent: i32) -> Field {
    number(ty, 2f64.powi(exponent))
}

fn number(ty: Ty, x: f64) -> Field {
    Field::literal(match ty {
        Ty::F32 => Const::f32(x as f32),
        _ => Const::f64(x),
    })
}

/// Returns the exponent of the smallest normal number, and the exponent by which smaller numbers
/// are scaled up.
fn exponents(ty: Ty) -> (i32, i32) {
    match ty {
        Ty::F32 => (f32::MIN_EXP - 1, 100),
        _ => (f64::MIN_EXP - 1, 200),
    }
}

impl Spread {
    /// Spreads numbers from `start` to `stop` by at least one step.
    pub fn new(steps: Field, [start, stop]: [Field; 2], loc: Loc) -> Spread {
        let op = |op, args: &[Field]| Field::op(op, args, loc);
        let ty = start.ty();
        let (least, lift) = exponents(ty);
        let one = power(ty, 0);
        let count = steps.cast(ty, loc);
        let size = |x| op(Op::Abs, &[x]);
        let below = |x, exponent| op(Op::Lt, &[size(x), power(ty, exponent)]);
        let all = op(Op::Sub, &[stop, start]);
        let overflows = op(Op::Eq, &[size(all), number(ty, f64::INFINITY)]);
        let is_some = op(Op::Ne, &[all, number(ty, 0.0)]);
        let is_fine = op(
            Op::And,
            &[is_some, below(op(Op::Div, &[all, count]), least)],
        );
        let is_low = op(Op::And, &[below(start, least + 1), below(stop, least + 1)]);
        // `is_low` matters for fine steps: all floats in the range are spaced as subnormal floats are.
        let by = |huge: i32, low: i32, high: i32| {
            let lifted = op(Op::Select, &[is_low, power(ty, low), power(ty, high)]);
            let normal = op(Op::Select, &[is_fine, lifted, one]);
            op(Op::Select, &[overflows, power(ty, huge), normal])
        };
        let (up, inner, outer) = (by(-2, lift, lift), by(0, -lift, 0), by(2, 0, -lift));
        let width = op(
            Op::Sub,
            &[op(Op::Mul, &[stop, up]), op(Op::Mul, &[start, up])],
        );
        Spread {
            steps,
            width,
            up,
            start,
            stop,
            first: op(Op::Mul, &[start, by(-2, 0, lift)]),
            size: op(Op::Div, &[width, count]),
            inner,
            outer,
            loc,
        }
    }

    /// Returns the number at a step, which is not the last.
    ///
    /// The number at the last step may not be the end, and in `f32` numbers may be past it.
    pub fn before_end(&self, step: Field) -> Field {
        let op = |op, args: &[Field]| Field::op(op, args, self.loc);
        let way = op(Op::Mul, &[step.cast(self.start.ty(), self.loc), self.size]);
        let way = op(Op::Mul, &[way, self.inner]);
        op(Op::Mul, &[op(Op::Add, &[self.first, way]), self.outer])
    }

    /// Returns the number at a step.
    pub fn at(&self, step: Field) -> Field {
        let op = |op, args: &[Field]| Field::op(op, args, self.loc);
        let ty = self.start.ty();
        let at = self.before_end(step);
        let mut is_last = op(Op::Eq, &[step, self.steps]);
        // Rounding many steps to `f32` can put the last numbers past the end.
        if ty == Ty::F32 {
            let rises = op(Op::Le, &[self.start, self.stop]);
            let [above, below] = [Op::Gt, Op::Lt].map(|is| op(is, &[at, self.stop]));
            is_last = op(Op::Or, &[is_last, op(Op::Select, &[rises, above, below])]);
        }
        op(Op::Select, &[is_last, self.stop, at])
    }

    /// Tells whether steps are literals, and at least 2^6 gaps of floats wide.
    ///
    /// All rounding, that of the numbers included, is then less than a quarter of a step.
    pub fn is_wide(&self) -> bool {
        let op = |op, args: &[Field]| Field::op(op, args, self.loc);
        let ty = self.start.ty();
        let gaps = power(ty, if ty == Ty::F32 { -17 } else { -46 });
        let [start, stop] = [self.start, self.stop].map(|end| op(Op::Abs, &[end]));
        let least = op(Op::Mul, &[op(Op::Max, &[start, stop]), gaps]);
        let is_plain = op(Op::Eq, &[self.up, power(ty, 0)]);
        let is_wide = op(Op::And, &[is_plain, op(Op::Gt, &[self.size, least])]);
        is_wide.as_literal() == Some(Const::bool(true))
    }

    /// Returns the step whose number is nearest to a float between the ends.
    ///
    /// The steps are [wide](Spread::is_wide). So the float is less than the number at the next step,
    /// and not less than that at the step before.
    pub fn nearest(&self, x: Field) -> Field {
        let op = |op, args: &[Field]| Field::op(op, args, self.loc);
        let ty = x.ty();
        let rate = op(Op::Div, &[self.steps.cast(ty, self.loc), self.width]);
        let place = op(Op::Mul, &[op(Op::Sub, &[x, self.start]), rate]);
        let near = op(Op::Add, &[place, number(ty, 0.5)]).cast(Ty::U64, self.loc);
        op(Op::Min, &[near, self.steps])
    }

    /// Tests if both ends are finite.
    pub fn is_finite(&self) -> Field {
        let infinite = number(self.start.ty(), f64::INFINITY);
        let size = Field::op(Op::Abs, &[self.width], self.loc);
        Field::op(Op::Lt, &[size, infinite], self.loc)
    }

    /// Returns the distance from `x` to the end, and a half gap.
    ///
    /// The gap is that from `x` to the next larger float. Both are scaled by `up`.
    pub fn to_end(&self, x: Field) -> [Field; 2] {
        let op = |op, args: &[Field]| Field::op(op, args, self.loc);
        let ty = x.ty();
        let (bits, all) = match ty {
            Ty::F32 => (Ty::U32, u64::from(u32::MAX)),
            _ => (Ty::U64, u64::MAX),
        };
        let scaled = |x| op(Op::Mul, &[x, self.up]);
        let size = op(Op::Abs, &[x]);
        let [one, minus_one] = [1, all].map(|n| Field::literal(Const::new(bits, n)));
        let falls = op(Op::Lt, &[x, number(ty, 0.0)]);
        let step = op(Op::Select, &[falls, minus_one, one]);
        let next = op(Op::Add, &[size.bitcast(bits, self.loc), step]).bitcast(ty, self.loc);
        let gap = op(Op::Abs, &[op(Op::Sub, &[scaled(next), scaled(size)])]);
        let left = op(Op::Sub, &[scaled(self.stop), scaled(x)]);
        [left, op(Op::Mul, &[gap, number(ty, 0.5)])]
    }
}
