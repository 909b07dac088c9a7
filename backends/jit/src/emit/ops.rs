//! Scalar operators of integers and `bool`, conversions, constants and words.

use super::{Emit, MEMORY};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Emit<'_, '_> {
    pub(super) fn constant(&mut self, c: Const) -> Value {
        let ins = self.builder.ins();
        match c.ty {
            Ty::F32 => ins.f32const(Ieee32::with_bits(c.bits as u32)),
            Ty::F64 => ins.f64const(Ieee64::with_bits(c.bits)),
            ty => {
                let mask = !0 >> (64 - 8 * ty.size());
                ins.iconst(Self::register(ty), (c.bits & mask) as i64)
            }
        }
    }

    /// The canonical word of a value.
    pub(super) fn word_of(&mut self, ty: Ty, value: Value) -> Value {
        let ins = self.builder.ins();
        match ty {
            Ty::I64 | Ty::U64 => value,
            Ty::F64 => ins.bitcast(types::I64, MemFlagsData::new(), value),
            Ty::F32 => {
                let bits = ins.bitcast(types::I32, MemFlagsData::new(), value);
                self.builder.ins().uextend(types::I64, bits)
            }
            ty if ty.is_signed() => ins.sextend(types::I64, value),
            _ => ins.uextend(types::I64, value),
        }
    }

    /// Reads the word at an address as a value.
    pub(super) fn load_word(&mut self, ty: Ty, at: Value, offset: i32) -> Value {
        let register = Self::register(ty);
        let value = self.builder.ins().load(register, MEMORY, at, offset);
        match ty {
            Ty::Bool => self.builder.ins().band_imm_u(value, 1),
            _ => value,
        }
    }

    /// Writes a value as a canonical word.
    pub(super) fn store_word(&mut self, ty: Ty, value: Value, at: Value, offset: i32) {
        let word = match ty {
            Ty::F64 => value,
            _ => self.word_of(ty, value),
        };
        self.builder.ins().store(MEMORY, word, at, offset);
    }

    /// `op` on operands. `from` is the type of the first operand (of the arms, for `select`), `to` the
    /// result's.
    pub(super) fn op(&mut self, op: Op, from: Ty, to: Ty, args: &[Value]) -> Value {
        use Op::*;
        let Some(&x) = args.first() else {
            return self.constant(Const::zero(to));
        };
        // Operators read no more operands than they have.
        let [y, z] = [1, 2].map(|k| args.get(k).copied().unwrap_or(x));
        let (float, signed) = (from.is_float(), from.is_signed());
        let round = self.rounds();
        match op {
            Add if float => self.builder.ins().fadd(x, y),
            Add => self.builder.ins().iadd(x, y),
            Sub if float => self.builder.ins().fsub(x, y),
            Sub => self.builder.ins().isub(x, y),
            Mul if float => self.builder.ins().fmul(x, y),
            Mul => self.builder.ins().imul(x, y),
            Div if float => self.builder.ins().fdiv(x, y),
            Rem | DivEuclid | RemEuclid if float => self.call(op, from, args),
            Div | Rem | DivEuclid | RemEuclid => self.division(op, from, x, y),
            DivOk => self.divides(from, x, y),
            Min | Max if float => self.extremum(op, from, x, y),
            Min if signed => self.builder.ins().smin(x, y),
            Min => self.builder.ins().umin(x, y),
            Max if signed => self.builder.ins().smax(x, y),
            Max => self.builder.ins().umax(x, y),
            And => self.builder.ins().band(x, y),
            Or => self.builder.ins().bor(x, y),
            Xor => self.builder.ins().bxor(x, y),
            Not if from == Ty::Bool => self.builder.ins().bxor_imm_u(x, 1),
            Not => self.builder.ins().bnot(x),
            // Cranelift, too, takes the amount modulo the width.
            Shl => self.builder.ins().ishl(x, y),
            Shr if signed => self.builder.ins().sshr(x, y),
            Shr => self.builder.ins().ushr(x, y),
            Eq => self.compare(from, FloatCC::Equal, IntCC::Equal, x, y),
            Ne => self.compare(from, FloatCC::NotEqual, IntCC::NotEqual, x, y),
            Lt => self.compare(from, FloatCC::LessThan, IntCC::SignedLessThan, x, y),
            Le => {
                let less = IntCC::SignedLessThanOrEqual;
                self.compare(from, FloatCC::LessThanOrEqual, less, x, y)
            }
            Gt => self.compare(from, FloatCC::GreaterThan, IntCC::SignedGreaterThan, x, y),
            Ge => {
                let greater = IntCC::SignedGreaterThanOrEqual;
                self.compare(from, FloatCC::GreaterThanOrEqual, greater, x, y)
            }
            Select => self.builder.ins().select(x, y, z),
            Copy => x,
            Cast => self.cast(from, to, x),
            Bitcast => {
                let to = Self::register(to);
                self.builder.ins().bitcast(to, MemFlagsData::new(), x)
            }
            Neg if float => self.builder.ins().fneg(x),
            Neg => self.builder.ins().ineg(x),
            Abs if float => self.builder.ins().fabs(x),
            Abs if signed => self.absolute(from, x),
            Abs => x,
            Signum if float => self.float_sign(from, x),
            Signum => self.int_sign(from, x),
            CountOnes | LeadingZeros | TrailingZeros => self.count_bits(op, from, x),
            Floor if round => self.builder.ins().floor(x),
            Ceil if round => self.builder.ins().ceil(x),
            Trunc if round => self.builder.ins().trunc(x),
            RoundEven if round => self.builder.ins().nearest(x),
            Round => self.round(from, x),
            Sqrt => self.builder.ins().sqrt(x),
            Copysign => self.builder.ins().fcopysign(x, y),
            MulAdd if self.fuses() => self.builder.ins().fma(x, y, z),
            SignBit => self.sign_bit(from, x),
            Floor | Ceil | Trunc | RoundEven | MulAdd | Cbrt | Exp | Exp2 | ExpM1 | Ln | Ln1p
            | Log2 | Log10 | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh
            | Acosh | Atanh | Powf | Powi | Atan2 | Hypot => self.call(op, from, args),
        }
    }

    fn compare(&mut self, ty: Ty, float: FloatCC, int: IntCC, x: Value, y: Value) -> Value {
        let ins = self.builder.ins();
        match ty {
            Ty::F32 | Ty::F64 => ins.fcmp(float, x, y),
            _ if ty.is_signed() => ins.icmp(int, x, y),
            _ => ins.icmp(int.unsigned(), x, y),
        }
    }

    fn absolute(&mut self, ty: Ty, x: Value) -> Value {
        let zero = self.constant(Const::zero(ty));
        let negative = self.builder.ins().icmp(IntCC::SignedLessThan, x, zero);
        let negated = self.builder.ins().ineg(x);
        self.builder.ins().select(negative, negated, x)
    }

    fn int_sign(&mut self, ty: Ty, x: Value) -> Value {
        let zero = self.constant(Const::zero(ty));
        let above = match ty.is_signed() {
            true => IntCC::SignedGreaterThan,
            false => IntCC::UnsignedGreaterThan,
        };
        let above = self.builder.ins().icmp(above, x, zero);
        let below = self.builder.ins().icmp(IntCC::SignedLessThan, x, zero);
        let sign = match ty.is_signed() {
            true => self.builder.ins().isub(above, below),
            false => above,
        };
        match Self::register(ty) {
            types::I8 => sign,
            wide => self.builder.ins().sextend(wide, sign),
        }
    }

    /// Counts in 32 or 64 bits, which every machine has.
    fn count_bits(&mut self, op: Op, ty: Ty, x: Value) -> Value {
        let register = Self::register(ty);
        let narrow = ty.bits() < 32;
        let wide = match narrow {
            true => self.builder.ins().uextend(types::I32, x),
            false => x,
        };
        let count = match op {
            Op::CountOnes => self.builder.ins().popcnt(wide),
            Op::LeadingZeros if narrow => {
                let zeros = self.builder.ins().clz(wide);
                let above = i64::from(32 - ty.bits());
                self.builder.ins().iadd_imm_s(zeros, -above)
            }
            Op::LeadingZeros => self.builder.ins().clz(wide),
            _ if narrow => {
                // A one above the operand ends the count.
                let ended = self.builder.ins().bor_imm_u(wide, 1i64 << ty.bits());
                self.builder.ins().ctz(ended)
            }
            _ => self.builder.ins().ctz(wide),
        };
        match narrow {
            true => self.builder.ins().ireduce(register, count),
            false => count,
        }
    }

    /// Whether Rust would divide.
    fn divides(&mut self, ty: Ty, x: Value, y: Value) -> Value {
        let zero = self.constant(Const::zero(ty));
        let some = self.builder.ins().icmp(IntCC::NotEqual, y, zero);
        if !ty.is_signed() {
            return some;
        }
        let (min, minus) = (1u64 << (ty.bits() - 1), self.constant(Const::int(ty, -1)));
        let min = self.constant(Const::new(ty, min));
        let is_min = self.builder.ins().icmp(IntCC::Equal, x, min);
        let is_minus = self.builder.ins().icmp(IntCC::Equal, y, minus);
        let overflows = self.builder.ins().band(is_min, is_minus);
        self.builder.ins().band_not(some, overflows)
    }

    /// Division and remainder, of any operands: in 32 or 64 bits, by a divisor that is neither 0 nor -1.
    fn division(&mut self, op: Op, ty: Ty, x: Value, y: Value) -> Value {
        let register = Self::register(ty);
        let wide = match register {
            types::I8 | types::I16 => types::I32,
            other => other,
        };
        let (x, y) = (self.extend(ty, wide, x), self.extend(ty, wide, y));
        let (zero, one) = (
            self.builder.ins().iconst(wide, 0),
            self.builder.ins().iconst(wide, 1),
        );
        let is_zero = self.builder.ins().icmp(IntCC::Equal, y, zero);
        let value = if ty.is_signed() {
            let minus = self.builder.ins().isub(zero, one);
            let is_minus = self.builder.ins().icmp(IntCC::Equal, y, minus);
            let unsafe_ = self.builder.ins().bor(is_zero, is_minus);
            let divisor = self.builder.ins().select(unsafe_, one, y);
            let value = self.signed_division(op, wide, x, divisor);
            let negated = match op {
                Op::Div | Op::DivEuclid => self.builder.ins().ineg(x),
                _ => zero,
            };
            self.builder.ins().select(is_minus, negated, value)
        } else {
            let divisor = self.builder.ins().select(is_zero, one, y);
            match op {
                Op::Div | Op::DivEuclid => self.builder.ins().udiv(x, divisor),
                _ => self.builder.ins().urem(x, divisor),
            }
        };
        let value = self.builder.ins().select(is_zero, zero, value);
        match register == wide {
            true => value,
            false => self.builder.ins().ireduce(register, value),
        }
    }

    fn signed_division(&mut self, op: Op, ty: Type, x: Value, y: Value) -> Value {
        match op {
            Op::Div => return self.builder.ins().sdiv(x, y),
            Op::Rem => return self.builder.ins().srem(x, y),
            _ => {}
        }
        let zero = self.builder.ins().iconst(ty, 0);
        let rest = self.builder.ins().srem(x, y);
        let below = self.builder.ins().icmp(IntCC::SignedLessThan, rest, zero);
        let (euclid, plain) = if op == Op::DivEuclid {
            let quotient = self.builder.ins().sdiv(x, y);
            let one = self.builder.ins().iconst(ty, 1);
            let minus = self.builder.ins().ineg(one);
            let positive = self.builder.ins().icmp(IntCC::SignedGreaterThan, y, zero);
            let by = self.builder.ins().select(positive, minus, one);
            (self.builder.ins().iadd(quotient, by), quotient)
        } else {
            let negative = self.builder.ins().icmp(IntCC::SignedLessThan, y, zero);
            let negated = self.builder.ins().ineg(y);
            let size = self.builder.ins().select(negative, negated, y);
            (self.builder.ins().iadd(rest, size), rest)
        };
        self.builder.ins().select(below, euclid, plain)
    }

    /// An integer in a register that is at least as wide.
    pub(super) fn extend(&mut self, from: Ty, to: Type, x: Value) -> Value {
        if Self::register(from) == to {
            return x;
        }
        match from.is_signed() {
            true => self.builder.ins().sextend(to, x),
            false => self.builder.ins().uextend(to, x),
        }
    }

    fn cast(&mut self, from: Ty, to: Ty, x: Value) -> Value {
        if from == to {
            return x;
        }
        match (from.is_float(), to.is_float()) {
            (true, _) => return self.cast_float(from, to, x),
            (false, true) => return self.cast_int(from, to, x),
            (false, false) => {}
        }
        if to == Ty::Bool {
            let zero = self.constant(Const::zero(from));
            return self.builder.ins().icmp(IntCC::NotEqual, x, zero);
        }
        let register = Self::register(to);
        match to.size() < from.size() {
            true => self.builder.ins().ireduce(register, x),
            false => self.extend(from, register, x),
        }
    }

    pub(super) fn less(&mut self, x: Value, y: Value) -> Value {
        self.builder.ins().icmp(IntCC::UnsignedLessThan, x, y)
    }
}
