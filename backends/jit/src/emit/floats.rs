//! Scalar operators of floats.

use super::Emit;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Value, types};
use livefusion_backend::math::{self, MathFn};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Emit<'_, '_> {
    /// A call of the shared implementation.
    pub(super) fn call(&mut self, op: Op, ty: Ty, args: &[Value]) -> Value {
        let Some(index) = math::index_of(op, ty) else {
            return self.constant(Const::zero(ty));
        };
        let entry = &math::entries()[index];
        let (float, count, int) = match entry.function {
            MathFn::F32(_) => (types::F32, 1, false),
            MathFn::F32F32(_) => (types::F32, 2, false),
            MathFn::F32I32(_) => (types::F32, 1, true),
            MathFn::F32F32F32(_) => (types::F32, 3, false),
            MathFn::F64(_) => (types::F64, 1, false),
            MathFn::F64F64(_) => (types::F64, 2, false),
            MathFn::F64I32(_) => (types::F64, 1, true),
            MathFn::F64F64F64(_) => (types::F64, 3, false),
        };
        let mut signature = Signature::new(self.frontend.default_call_conv);
        signature.params = vec![AbiParam::new(float); count];
        signature
            .params
            .extend(int.then(|| AbiParam::new(types::I32)));
        signature.returns = vec![AbiParam::new(float)];
        let signature = self.builder.import_signature(signature);
        let address = self.u64(entry.address() as u64);
        let call = self.builder.ins().call_indirect(signature, address, args);
        self.builder.inst_results(call)[0]
    }

    /// 1 with the operand's sign; NaN stays NaN.
    pub(super) fn float_sign(&mut self, ty: Ty, x: Value) -> Value {
        let one = self.float(ty, 1.0);
        let sign = self.builder.ins().fcopysign(one, x);
        let nan = self.builder.ins().fcmp(FloatCC::Unordered, x, x);
        self.builder.ins().select(nan, x, sign)
    }

    pub(super) fn sign_bit(&mut self, ty: Ty, x: Value) -> Value {
        let bits = self.bits(ty, x);
        let above = i64::from(ty.bits() - 1);
        let top = self.builder.ins().ushr_imm_u(bits, above);
        self.builder.ins().ireduce(types::I8, top)
    }

    /// Halves away from zero: the distance to the integer part is exact.
    pub(super) fn round(&mut self, ty: Ty, x: Value) -> Value {
        let whole = self.op(Op::Trunc, ty, ty, &[x]);
        let rest = self.builder.ins().fsub(x, whole);
        let rest = self.builder.ins().fabs(rest);
        let (half, one, zero) = (
            self.float(ty, 0.5),
            self.float(ty, 1.0),
            self.float(ty, 0.0),
        );
        let away = self
            .builder
            .ins()
            .fcmp(FloatCC::GreaterThanOrEqual, rest, half);
        let away = self.builder.ins().select(away, one, zero);
        let size = self.builder.ins().fabs(whole);
        let size = self.builder.ins().fadd(size, away);
        self.builder.ins().fcopysign(size, x)
    }

    /// Smaller or larger float. Equal operands may be -0.0 and +0.0: their bits joined are right.
    pub(super) fn extremum(&mut self, op: Op, ty: Ty, x: Value, y: Value) -> Value {
        let (a, b) = (self.bits(ty, x), self.bits(ty, y));
        let (code, joined) = match op {
            Op::Min => (FloatCC::LessThan, self.builder.ins().bor(a, b)),
            _ => (FloatCC::GreaterThan, self.builder.ins().band(a, b)),
        };
        let register = Self::register(ty);
        let ins = self.builder.ins();
        let joined = ins.bitcast(register, MemFlagsData::new(), joined);
        let equal = self.builder.ins().fcmp(FloatCC::Equal, x, y);
        let first = self.builder.ins().fcmp(code, x, y);
        let number = self.builder.ins().select(equal, joined, y);
        let number = self.builder.ins().select(first, x, number);
        let nan = self.float(ty, f64::NAN);
        let (x_nan, y_nan) = (
            self.builder.ins().fcmp(FloatCC::Unordered, x, x),
            self.builder.ins().fcmp(FloatCC::Unordered, y, y),
        );
        let without_x = self.builder.ins().select(y_nan, nan, y);
        let without_y = self.builder.ins().select(y_nan, x, number);
        self.builder.ins().select(x_nan, without_x, without_y)
    }

    /// `x` if a condition holds, else `y`. Machines choose between integers without a branch.
    pub(super) fn choose(&mut self, ty: Ty, cond: Value, x: Value, y: Value) -> Value {
        if !ty.is_float() {
            return self.builder.ins().select(cond, x, y);
        }
        let (x, y) = (self.bits(ty, x), self.bits(ty, y));
        let chosen = self.builder.ins().select(cond, x, y);
        let register = Self::register(ty);
        let ins = self.builder.ins();
        ins.bitcast(register, MemFlagsData::new(), chosen)
    }

    fn bits(&mut self, ty: Ty, x: Value) -> Value {
        let int = if ty == Ty::F32 {
            types::I32
        } else {
            types::I64
        };
        self.builder.ins().bitcast(int, MemFlagsData::new(), x)
    }

    fn float(&mut self, ty: Ty, x: f64) -> Value {
        self.constant(match ty {
            Ty::F32 => Const::f32(x as f32),
            _ => Const::f64(x),
        })
    }

    pub(super) fn cast_int(&mut self, from: Ty, to: Ty, x: Value) -> Value {
        let register = Self::register(to);
        // What is narrower than 64 bits fits a signed integer of 64.
        let wide = self.extend(from, types::I64, x);
        match from {
            Ty::U64 => self.builder.ins().fcvt_from_uint(register, wide),
            _ => self.builder.ins().fcvt_from_sint(register, wide),
        }
    }

    pub(super) fn cast_float(&mut self, from: Ty, to: Ty, x: Value) -> Value {
        match to {
            Ty::F64 => self.builder.ins().fpromote(types::F64, x),
            Ty::F32 => self.builder.ins().fdemote(types::F32, x),
            Ty::Bool => {
                let zero = self.float(from, 0.0);
                self.builder.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            Ty::I64 | Ty::I32 => {
                let register = Self::register(to);
                self.builder.ins().fcvt_to_sint_sat(register, x)
            }
            Ty::U64 | Ty::U32 => {
                let register = Self::register(to);
                self.builder.ins().fcvt_to_uint_sat(register, x)
            }
            _ => self.saturate(to, x),
        }
    }

    /// To 8 or 16 bits, by way of 32.
    fn saturate(&mut self, to: Ty, x: Value) -> Value {
        let wide = self.builder.ins().fcvt_to_sint_sat(types::I32, x);
        let (low, high) = match to.is_signed() {
            true => (-(1i64 << (to.bits() - 1)), (1i64 << (to.bits() - 1)) - 1),
            false => (0, (1i64 << to.bits()) - 1),
        };
        let low = self.builder.ins().iconst(types::I32, low & 0xffff_ffff);
        let high = self.builder.ins().iconst(types::I32, high);
        let (least, most) = (IntCC::SignedLessThan, IntCC::SignedGreaterThan);
        let below = self.builder.ins().icmp(least, wide, low);
        let wide = self.builder.ins().select(below, low, wide);
        let above = self.builder.ins().icmp(most, wide, high);
        let wide = self.builder.ins().select(above, high, wide);
        self.builder.ins().ireduce(Self::register(to), wide)
    }
}
