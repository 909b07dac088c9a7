//! Lanes of other widths and types, and masks: what they are made of, and what is asked of them.

use super::Printer;
use super::values::{BYTES, Printed, per_register, registers, unsigned, vector};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{ConstantData, InstBuilder, Value, types};
use livefusion_tile::ir::{self, Operand};
use loop_lang::types::{Const, Ty};

impl Printer<'_, '_, '_> {
    /// Integers, or masks, as wide as another type: extended, or cut.
    pub(super) fn resized(
        &mut self,
        all: &[Value],
        (from, to): (Ty, Ty),
        signed: bool,
        lanes: u32,
    ) -> Vec<Value> {
        let (mut all, mut size) = (all.to_vec(), from.size());
        while size < to.size() {
            let mut wider = Vec::new();
            for x in &all {
                let ins = self.emit.builder.ins();
                wider.push(match signed {
                    true => ins.swiden_low(*x),
                    false => ins.uwiden_low(*x),
                });
                let ins = self.emit.builder.ins();
                wider.push(match signed {
                    true => ins.swiden_high(*x),
                    false => ins.uwiden_high(*x),
                });
            }
            size *= 2;
            wider.truncate(registers(unsigned(size), lanes));
            all = wider;
        }
        while size > to.size() {
            let half = unsigned(size / 2);
            let pairs: Vec<(Value, Value)> = (all.chunks(2))
                .map(|pair| (pair[0], pair[pair.len() - 1]))
                .collect();
            let bytes: Vec<u8> = (0..2 * BYTES as u8)
                .filter(|byte| usize::from(*byte) % size < size / 2)
                .collect();
            all = (pairs.into_iter())
                .map(|(a, b)| self.shuffle(vector(half), (a, b), &bytes))
                .collect();
            size /= 2;
        }
        all
    }

    /// Bytes of two registers, by number.
    pub(super) fn shuffle(
        &mut self,
        to: cranelift_codegen::ir::Type,
        (a, b): (Value, Value),
        bytes: &[u8],
    ) -> Value {
        let (a, b) = (self.bits(types::I8X16, a), self.bits(types::I8X16, b));
        let immediates = &mut self.emit.builder.func.dfg.immediates;
        let bytes = immediates.push(ConstantData::from(bytes));
        let shuffled = self.emit.builder.ins().shuffle(a, b, bytes);
        self.bits(to, shuffled)
    }

    /// A mask from what a comparison of a type gives.
    pub(super) fn mask_of(&mut self, all: &[Value], ty: Ty, lanes: u32) -> Vec<Value> {
        self.resized(all, (unsigned(ty.size()), self.mask), true, lanes)
    }

    /// A mask from bytes that are zero or not.
    pub(super) fn mask_of_bytes(&mut self, all: &[Value], lanes: u32) -> Vec<Value> {
        let set = self.differ_from_zero(Ty::U8, all);
        self.mask_of(&set, Ty::U8, lanes)
    }

    /// A mask as bytes that are one or zero.
    pub(super) fn bytes_of_mask(&mut self, all: &[Value], lanes: u32) -> Vec<Value> {
        let all = self.resized(all, (self.mask, Ty::U8), true, lanes);
        self.at_set(Ty::U8, &all, 1)
    }

    /// Bits where a mask of a type's width is set, zero elsewhere.
    fn at_set(&mut self, ty: Ty, mask: &[Value], bits: u64) -> Vec<Value> {
        let word = self.word(unsigned(ty.size()), bits);
        let ins = |x: &Value| self.emit.builder.ins().band(*x, word);
        mask.iter().map(ins).collect()
    }

    fn differ_from_zero(&mut self, ty: Ty, all: &[Value]) -> Vec<Value> {
        let zero = self.word(ty, 0);
        let differs = |x: &Value| match ty.is_float() {
            true => (self.emit.builder.ins()).fcmp(FloatCC::NotEqual, *x, zero),
            false => self.emit.builder.ins().icmp(IntCC::NotEqual, *x, zero),
        };
        all.iter().map(differs).collect()
    }

    /// A cast of all lanes at once, if there are instructions for it.
    pub(super) fn cast(
        &mut self,
        from: Ty,
        to: Ty,
        (lanes, all): (u32, &[Value]),
    ) -> Option<Vec<Value>> {
        Some(match (from, to) {
            (a, b) if a == b => all.to_vec(),
            (Ty::Bool, to) => {
                let word = unsigned(to.size());
                let mask = self.resized(all, (self.mask, word), true, lanes);
                let one = match to {
                    Ty::F32 => Const::f32(1.0).bits,
                    Ty::F64 => Const::f64(1.0).bits,
                    _ => 1,
                };
                let ones = self.at_set(to, &mask, one);
                ones.into_iter().map(|x| self.bits(vector(to), x)).collect()
            }
            (from, Ty::Bool) => {
                let set = self.differ_from_zero(from, all);
                self.mask_of(&set, from, lanes)
            }
            (Ty::F32, Ty::F64) => {
                let mut wider = Vec::new();
                for x in all {
                    let high: Vec<u8> = (8..16).chain(8..16).collect();
                    let high = self.shuffle(types::F32X4, (*x, *x), &high);
                    for half in [*x, high] {
                        wider.push(self.emit.builder.ins().fvpromote_low(half));
                    }
                }
                wider.truncate(registers(to, lanes));
                wider
            }
            (Ty::F64, Ty::F32) => {
                let halves: Vec<Value> = (all.iter())
                    .map(|x| self.emit.builder.ins().fvdemote(*x))
                    .collect();
                let both: Vec<u8> = (0..8).chain(16..24).collect();
                let pairs = halves.chunks(2);
                pairs
                    .map(|pair| match pair {
                        [a, b] => self.shuffle(types::F32X4, (*a, *b), &both),
                        _ => pair[0],
                    })
                    .collect()
            }
            (Ty::F32, Ty::I32) => {
                let cast = |x: &Value| (self.emit.builder.ins()).fcvt_to_sint_sat(types::I32X4, *x);
                all.iter().map(cast).collect()
            }
            (from, to) if from.is_int() && to.is_int() => {
                self.resized(all, (from, to), from.is_signed(), lanes)
            }
            // What is narrower than 32 bits fits a signed integer of 32.
            (from, Ty::F32) if from == Ty::I32 || from.is_int() && from.size() < 4 => {
                let wide = self.resized(all, (from, Ty::I32), from.is_signed(), lanes);
                let cast = |x: &Value| (self.emit.builder.ins()).fcvt_from_sint(types::F32X4, *x);
                wide.iter().map(cast).collect()
            }
            _ => return None,
        })
    }

    /// One bit for each lane of a mask, the first lane's lowest; none for what is behind the last lane.
    pub(super) fn each_bit(&mut self, of: Operand) -> Value {
        let lanes = self.shape(of).lanes;
        let mask = self.wide(of, lanes);
        let per = per_register(self.mask);
        let ty = if lanes > 32 { types::I64 } else { types::I32 };
        let mut bits = None;
        for (k, some) in mask.iter().enumerate() {
            let high = self.emit.builder.ins().vhigh_bits(ty, *some);
            let shift = i64::from(per) * k as i64;
            let high = self.emit.builder.ins().ishl_imm_u(high, shift);
            bits = Some(match bits {
                Some(bits) => self.emit.builder.ins().bor(bits, high),
                None => high,
            });
        }
        match bits {
            Some(bits) if lanes < per => {
                let there = (1i64 << lanes) - 1;
                self.emit.builder.ins().band_imm_u(bits, there)
            }
            Some(bits) => bits,
            None => self.emit.u64(0),
        }
    }

    /// `let n = count m`.
    pub(super) fn count(&mut self, to: ir::Value, of: Operand) {
        let count = match self.shape(of).is_scalar() {
            true => {
                let one = self.scalar(of);
                self.emit.builder.ins().uextend(types::I64, one)
            }
            false => {
                let bits = self.each_bit(of);
                let count = self.emit.builder.ins().popcnt(bits);
                match self.emit.builder.func.dfg.value_type(count) {
                    types::I64 => count,
                    _ => self.emit.builder.ins().uextend(types::I64, count),
                }
            }
        };
        self.define(to, Printed::Scalar(count, 0));
    }

    /// `let b = any m`.
    pub(super) fn any(&mut self, to: ir::Value, of: Operand) {
        let any = match self.shape(of).is_scalar() {
            true => self.scalar(of),
            false => {
                let bits = self.each_bit(of);
                self.is_zero(bits, false)
            }
        };
        self.define(to, Printed::Scalar(any, 0));
    }

    /// Whether all lanes of a mask are set.
    pub(super) fn all(&mut self, of: Operand) -> Value {
        let lanes = self.shape(of).lanes;
        if lanes == 1 {
            return self.scalar(of);
        }
        let bits = self.each_bit(of);
        let full = (u64::MAX >> (64 - lanes)) as i64;
        let ty = self.emit.builder.func.dfg.value_type(bits);
        let full = self.emit.builder.ins().iconst(ty, full);
        self.emit.builder.ins().icmp(IntCC::Equal, bits, full)
    }
}
