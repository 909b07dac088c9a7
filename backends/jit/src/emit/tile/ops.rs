//! Operators of tiles: of scalars as everywhere, of lanes by one instruction where every machine with vectors has it,
//! else lane by lane. Those are the operators of WebAssembly's vectors, which Cranelift has on all its machines.

use super::Printer;
use super::values::{Printed, registers, unsigned, vector};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use livefusion_tile::ir::{self, Operand, Shape};
use loop_lang::eval::eval;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Printer<'_, '_, '_> {
    /// `let v = op a b`.
    pub(super) fn let_op(&mut self, to: ir::Value, op: Op, args: &[Operand]) {
        let Shape { ty, lanes } = self.tile.shape(to);
        let typed = args.get(usize::from(op == Op::Select)).or(args.first());
        let from = typed.map_or(ty, |a| self.shape(*a).ty);
        let printed = match lanes {
            1 => self.one(op, from, ty, args),
            _ => Printed::Lanes(self.many(op, from, ty, (lanes, args))),
        };
        self.define(to, printed);
    }

    /// What wins by one comparison, else what was there: machines have this.
    pub(super) fn beat(&mut self, to: ir::Value, op: Op, (new, old): (Operand, Operand)) {
        let Shape { ty, lanes } = self.tile.shape(to);
        if lanes == 1 {
            let two = (self.scalar(new), self.scalar(old));
            let best = self.one_beats(op, two);
            return self.define(to, Printed::Scalar(best, 0));
        }
        let pairs = self.wide(new, lanes).into_iter().zip(self.wide(old, lanes));
        let best = pairs.map(|two| self.beats(op, ty, two)).collect();
        self.define(to, Printed::Lanes(best));
    }

    /// The lanes of a new register that beat those of an old one, which stay elsewhere.
    fn beats(&mut self, op: Op, ty: Ty, (new, old): (Value, Value)) -> Value {
        let wins = self.emit.builder.ins().fcmp(winning(op), new, old);
        let wins = self.bits(vector(ty), wins);
        self.emit.builder.ins().bitselect(wins, new, old)
    }

    /// The same of one lane.
    fn one_beats(&mut self, op: Op, (new, old): (Value, Value)) -> Value {
        let wins = self.emit.builder.ins().fcmp(winning(op), new, old);
        self.emit.builder.ins().select(wins, new, old)
    }

    /// An operator on scalars; on known ones it is known.
    fn one(&mut self, op: Op, from: Ty, to: Ty, args: &[Operand]) -> Printed {
        let printed: Vec<Printed> = args.iter().map(|a| self.printed(*a)).collect();
        let known: Option<Vec<u64>> = (printed.iter())
            .map(|p| match p {
                Printed::Known(word) => Some(*word),
                _ => None,
            })
            .collect();
        if let Some(words) = known {
            return Printed::Known(eval(op, from, to, &words));
        }
        match (op, to, &printed[..]) {
            (Op::Add, Ty::U64, [Printed::Scalar(x, more), Printed::Known(k)])
            | (Op::Add, Ty::U64, [Printed::Known(k), Printed::Scalar(x, more)]) => {
                return Printed::Scalar(*x, more.wrapping_add(*k));
            }
            (Op::Copy, _, [same]) => return same.clone(),
            _ => {}
        }
        let args: Vec<Value> = args.iter().map(|a| self.scalar(*a)).collect();
        Printed::Scalar(self.scalar_op(op, from, to, &args), 0)
    }

    fn scalar_op(&mut self, op: Op, from: Ty, to: Ty, args: &[Value]) -> Value {
        match (op, args) {
            (Op::Select, [cond, x, y]) => self.emit.choose(to, *cond, *x, *y),
            _ => self.emit.op(op, from, to, args),
        }
    }

    /// An operator on lanes.
    fn many(&mut self, op: Op, from: Ty, to: Ty, (lanes, args): (u32, &[Operand])) -> Vec<Value> {
        match (op, args) {
            (Op::Copy, [x]) => return self.wide(*x, lanes),
            (Op::Select, [cond, x, y]) => return self.select(*cond, (*x, *y), lanes),
            (Op::Cast, [x]) => {
                let all = self.wide(*x, lanes);
                if let Some(cast) = self.cast(from, to, (lanes, &all)) {
                    return cast;
                }
            }
            (Op::Bitcast, [x]) => {
                let all = self.wide(*x, lanes);
                return all.into_iter().map(|x| self.bits(vector(to), x)).collect();
            }
            (Op::Shl | Op::Shr, [x, by]) if self.shape(*by).is_scalar() && from.is_int() => {
                let (all, by) = (self.wide(*x, lanes), self.scalar(*by));
                return all
                    .into_iter()
                    .map(|x| self.shift(op, from, x, by))
                    .collect();
            }
            _ if self.has(op, from) => {
                let mut all: Vec<Vec<Value>> = args.iter().map(|a| self.wide(*a, lanes)).collect();
                let count = registers(self.lane_type(from), lanes);
                let results: Vec<Value> = (0..count)
                    .map(|k| {
                        let args: Vec<Value> = all.iter_mut().map(|a| a[k]).collect();
                        self.register_op(op, from, &args)
                    })
                    .collect();
                return match compares(op) && from != Ty::Bool {
                    true => self.mask_of(&results, from, lanes),
                    false => results,
                };
            }
            _ => {}
        }
        let each: Vec<Value> = (0..lanes)
            .map(|k| {
                let args: Vec<Value> = args.iter().map(|a| self.lane(*a, k)).collect();
                self.scalar_op(op, from, to, &args)
            })
            .collect();
        self.of_lanes(to, &each)
    }

    /// Whether there is one instruction, or few, for all lanes.
    pub(super) fn has(&self, op: Op, ty: Ty) -> bool {
        use Op::*;
        match op {
            And | Or | Xor | Not | Eq | Ne => true,
            _ if ty == Ty::Bool => false,
            Add | Sub | Neg | Min | Max | Lt | Le | Gt | Ge | Abs => true,
            Mul => ty.size() > 1,
            Div | Sqrt | Copysign => ty.is_float(),
            Floor | Ceil | Trunc | RoundEven => ty.is_float() && self.emit.rounds(),
            MulAdd => ty.is_float() && self.emit.fuses(),
            _ => false,
        }
    }

    /// An operator that there is, on one register each.
    pub(super) fn register_op(&mut self, op: Op, ty: Ty, args: &[Value]) -> Value {
        use Op::*;
        let x = args[0];
        let [y, z] = [1, 2].map(|k| args.get(k).copied().unwrap_or(x));
        let (float, signed) = (ty.is_float(), ty.is_signed());
        match op {
            Min | Max if float => return self.extremum(op, ty, x, y),
            Min | Max if ty.size() == 8 => {
                let less = match signed {
                    true => IntCC::SignedLessThan,
                    false => IntCC::UnsignedLessThan,
                };
                let less = self.emit.builder.ins().icmp(less, x, y);
                let (yes, no) = if op == Min { (x, y) } else { (y, x) };
                return self.emit.builder.ins().bitselect(less, yes, no);
            }
            Copysign => {
                let sign = self.word(ty, 1 << (ty.bits() - 1));
                return self.emit.builder.ins().bitselect(sign, y, x);
            }
            _ => {}
        }
        let ins = self.emit.builder.ins();
        match op {
            Add if float => ins.fadd(x, y),
            Add => ins.iadd(x, y),
            Sub if float => ins.fsub(x, y),
            Sub => ins.isub(x, y),
            Mul if float => ins.fmul(x, y),
            Mul => ins.imul(x, y),
            Div => ins.fdiv(x, y),
            Sqrt => ins.sqrt(x),
            Neg if float => ins.fneg(x),
            Neg => ins.ineg(x),
            Abs if float => ins.fabs(x),
            Abs if signed => ins.iabs(x),
            Min if signed => ins.smin(x, y),
            Min => ins.umin(x, y),
            Max if signed => ins.smax(x, y),
            Max => ins.umax(x, y),
            And => ins.band(x, y),
            Or => ins.bor(x, y),
            Xor => ins.bxor(x, y),
            Not => ins.bnot(x),
            Floor => ins.floor(x),
            Ceil => ins.ceil(x),
            Trunc => ins.trunc(x),
            RoundEven => ins.nearest(x),
            MulAdd => ins.fma(x, y, z),
            Eq | Ne | Lt | Le | Gt | Ge => self.compare(op, ty, x, y),
            _ => x,
        }
    }

    fn compare(&mut self, op: Op, ty: Ty, x: Value, y: Value) -> Value {
        let (float, int) = match op {
            Op::Eq => (FloatCC::Equal, IntCC::Equal),
            Op::Ne => (FloatCC::NotEqual, IntCC::NotEqual),
            Op::Lt => (FloatCC::LessThan, IntCC::SignedLessThan),
            Op::Le => (FloatCC::LessThanOrEqual, IntCC::SignedLessThanOrEqual),
            Op::Gt => (FloatCC::GreaterThan, IntCC::SignedGreaterThan),
            _ => (FloatCC::GreaterThanOrEqual, IntCC::SignedGreaterThanOrEqual),
        };
        let ins = self.emit.builder.ins();
        match ty.is_float() {
            true => ins.fcmp(float, x, y),
            false if ty.is_signed() => ins.icmp(int, x, y),
            false => ins.icmp(int.unsigned(), x, y),
        }
    }

    /// Cranelift, too, takes the amount modulo the lane's width.
    fn shift(&mut self, op: Op, ty: Ty, x: Value, by: Value) -> Value {
        let ins = self.emit.builder.ins();
        match op {
            Op::Shl => ins.ishl(x, by),
            _ if ty.is_signed() => ins.sshr(x, by),
            _ => ins.ushr(x, by),
        }
    }

    /// A word of bits in all lanes of a type.
    pub(super) fn word(&mut self, ty: Ty, bits: u64) -> Value {
        let each = &bits.to_le_bytes()[..ty.size()];
        self.literal(vector(ty), each.repeat(16 / ty.size()))
    }

    /// Smaller or larger floats. Equal operands may be -0.0 and +0.0: their bits joined are right.
    fn extremum(&mut self, op: Op, ty: Ty, x: Value, y: Value) -> Value {
        let word = vector(unsigned(ty.size()));
        let (a, b) = (self.bits(word, x), self.bits(word, y));
        let (code, joined) = match op {
            Op::Min => (FloatCC::LessThan, self.emit.builder.ins().bor(a, b)),
            _ => (FloatCC::GreaterThan, self.emit.builder.ins().band(a, b)),
        };
        let equal = self.emit.builder.ins().fcmp(FloatCC::Equal, x, y);
        let first = self.emit.builder.ins().fcmp(code, x, y);
        let y_nan = self.emit.builder.ins().fcmp(FloatCC::Unordered, y, y);
        // If the first is NaN, no comparison holds, and the second stays.
        let number = self.emit.builder.ins().bitselect(equal, joined, b);
        let number = self.emit.builder.ins().bitselect(first, a, number);
        let number = self.emit.builder.ins().bitselect(y_nan, a, number);
        let number = self.bits(vector(ty), number);
        let nan = match ty {
            Ty::F32 => Const::f32(f32::NAN),
            _ => Const::f64(f64::NAN),
        };
        let nan = self.word(unsigned(ty.size()), nan.bits);
        let both = (self.emit.builder.ins()).fcmp(FloatCC::Unordered, number, number);
        let bits = self.bits(word, number);
        let bits = self.emit.builder.ins().bitselect(both, nan, bits);
        self.bits(vector(ty), bits)
    }

    /// `x` where a condition holds, else `y`.
    fn select(&mut self, cond: Operand, (x, y): (Operand, Operand), lanes: u32) -> Vec<Value> {
        let ty = self.shape(x).ty;
        let (all, others) = (self.wide(x, lanes), self.wide(y, lanes));
        if self.shape(cond).is_scalar() {
            let cond = self.scalar(cond);
            let pairs = all.into_iter().zip(others);
            return pairs
                .map(|(x, y)| self.emit.builder.ins().select(cond, x, y))
                .collect();
        }
        let mask = self.wide(cond, lanes);
        self.blend(ty, &mask, (&all, &others), lanes)
    }

    /// The lanes of the first where a mask is set, and of the second elsewhere.
    pub(super) fn blend(
        &mut self,
        ty: Ty,
        mask: &[Value],
        (all, others): (&[Value], &[Value]),
        lanes: u32,
    ) -> Vec<Value> {
        let lane = self.lane_type(ty);
        let mask = self.resized(mask, (self.mask, unsigned(lane.size())), true, lanes);
        let mut result = Vec::new();
        for (mask, (x, y)) in mask.into_iter().zip(all.iter().zip(others)) {
            let mask = self.bits(vector(lane), mask);
            result.push(self.emit.builder.ins().bitselect(mask, *x, *y));
        }
        result
    }

    /// The first half joined with the second, until one lane is left: registers, then lanes.
    pub(super) fn halves(&mut self, to: ir::Value, (op, beats): (Op, bool), of: Operand) {
        let Shape { ty, lanes } = self.shape(of);
        let mut lanes = lanes;
        let mut all = match self.printed(of) {
            Printed::Lanes(all) => all,
            _ => vec![self.scalar(of)],
        };
        while all.len() > 1 && (beats || self.has(op, ty)) {
            let behind = all.split_off(all.len() / 2);
            let pairs = all.iter().zip(behind);
            all = pairs
                .map(|(x, y)| match beats {
                    true => self.beats(op, ty, (y, *x)),
                    false => self.register_op(op, ty, &[*x, y]),
                })
                .collect();
            lanes /= 2;
        }
        let wide = !self.shape(of).is_scalar();
        // Registers may have fewer lanes than fit.
        let per = (lanes / all.len() as u32).max(1);
        let each = (0..lanes).map(|k| match wide {
            true => self.extract(ty, &all[(k / per) as usize..], k % per),
            false => all[0],
        });
        let mut each: Vec<Value> = each.collect();
        while each.len() > 1 {
            let behind = each.split_off(each.len() / 2);
            let pairs = each.iter().zip(behind);
            each = pairs
                .map(|(x, y)| match beats {
                    true => self.one_beats(op, (y, *x)),
                    false => self.scalar_op(op, ty, ty, &[*x, y]),
                })
                .collect();
        }
        self.define(to, Printed::Scalar(each[0], 0));
    }
}

/// What is asked of the winner of a contest.
fn winning(op: Op) -> FloatCC {
    match op {
        Op::Min => FloatCC::LessThan,
        _ => FloatCC::GreaterThan,
    }
}

fn compares(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}
