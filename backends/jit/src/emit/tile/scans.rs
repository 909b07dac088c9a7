//! What goes from lane to lane: scans of a block, and lanes moved up by one.

use super::Printer;
use super::values::{BYTES, Printed, per_register, vector};
use crate::emit::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use livefusion_tile::ir::{self, Operand, Shape};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Printer<'_, '_, '_> {
    /// `let s = scan op v`: in the order of a block's tree. Where there is no instruction for all lanes, one by one.
    pub(super) fn scan(&mut self, to: ir::Value, op: Op, of: Operand) {
        let Shape { ty, lanes } = self.tile.shape(to);
        let all = match self.has(op, ty) {
            true => {
                let all = self.wide(of, lanes);
                self.scan_registers(op, (ty, lanes), all)
            }
            false => {
                let each = (0..lanes).map(|k| self.lane(of, k)).collect();
                let sums = tree(lanes, each, |sum, x| self.emit.op(op, ty, ty, &[sum, x]));
                self.of_lanes(ty, &sums)
            }
        };
        self.define(to, Printed::Lanes(all));
    }

    /// First in each register, then from register to register.
    fn scan_registers(&mut self, op: Op, (ty, lanes): (Ty, u32), all: Vec<Value>) -> Vec<Value> {
        let lane = self.lane_type(ty);
        let per = per_register(lane);
        let within = |x| {
            let mut x = x;
            for step in 0..per.min(lanes).trailing_zeros() {
                let upper = |k: u32| k >> step & 1 == 1;
                let before = self.lanes_of_two(lane, (x, x), |k| match upper(k) {
                    true => (k >> step << step) - 1,
                    false => k,
                });
                let joined = self.register_op(op, ty, &[before, x]);
                x = self.lanes_of_two(lane, (x, joined), |k| k + if upper(k) { per } else { 0 });
            }
            x
        };
        let all: Vec<Value> = all.into_iter().map(within).collect();
        let registers = all.len() as u32;
        tree(registers, all, |sum, x| {
            let last = self.lanes_of_two(lane, (sum, sum), |_| per - 1);
            self.register_op(op, ty, &[last, x])
        })
    }

    /// `let x = lane v k`.
    pub(super) fn one_lane(&mut self, to: ir::Value, of: Operand, at: Operand) {
        let Shape { ty, lanes } = self.shape(of);
        let lane = match self.printed(at) {
            Printed::Known(k) => self.lane(of, k as u32),
            _ => {
                let k = self.scalar(at);
                let first = self.lane(of, 0);
                (1..lanes).fold(first, |found, j| {
                    let one = self.lane(of, j);
                    let here = self
                        .emit
                        .builder
                        .ins()
                        .icmp_imm_u(IntCC::Equal, k, i64::from(j));
                    self.emit.choose(ty, here, one, found)
                })
            }
        };
        self.define(to, Printed::Scalar(lane, 0));
    }

    /// `set lane r k = x`.
    pub(super) fn set_lane(&mut self, to: ir::Value, at: Operand, value: Operand) {
        let Shape { ty, lanes } = self.tile.shape(to);
        let (lane, x, all) = (
            self.lane_type(ty),
            self.scalar(value),
            self.registers[&to].clone(),
        );
        if let Printed::Known(k) = self.printed(at) {
            let per = per_register(lane);
            let register = all[(k as u32 / per) as usize];
            let x = match ty {
                Ty::Bool => self.emit.builder.ins().bmask(Emit::register(lane), x),
                _ => x,
            };
            let builder = &mut self.emit.builder;
            let old = builder.use_var(register);
            let new = builder.ins().insertlane(old, x, (k as u32 % per) as u8);
            return builder.def_var(register, new);
        }
        let k = self.scalar(at);
        let each: Vec<Value> = (0..lanes)
            .map(|j| {
                let old = self.lane(to.into(), j);
                let here = self
                    .emit
                    .builder
                    .ins()
                    .icmp_imm_u(IntCC::Equal, k, i64::from(j));
                self.emit.choose(ty, here, x, old)
            })
            .collect();
        let new = self.of_lanes(ty, &each);
        for (register, x) in all.into_iter().zip(new) {
            self.emit.builder.def_var(register, x);
        }
    }

    /// `let x = last v`.
    pub(super) fn last(&mut self, to: ir::Value, of: Operand) {
        let Shape { ty, lanes } = self.shape(of);
        if self.tile.shape(to).is_scalar() {
            let last = self.lane(of, lanes - 1);
            return self.define(to, Printed::Scalar(last, 0));
        }
        let lane = self.lane_type(ty);
        let per = per_register(lane).min(lanes);
        let all = self.wide(of, lanes);
        let last = all.last().copied();
        let last = last.map(|x| self.lanes_of_two(lane, (x, x), |_| per - 1));
        let all = last.into_iter().cycle().take(all.len()).collect();
        self.define(to, Printed::Lanes(all));
    }

    /// `let w = slide x v`.
    pub(super) fn slide(&mut self, to: ir::Value, first: Operand, of: Operand) {
        let Shape { ty, lanes } = self.tile.shape(to);
        if lanes == 1 {
            let first = self.scalar(first);
            return self.define(to, Printed::Scalar(first, 0));
        }
        let lane = self.lane_type(ty);
        let per = per_register(lane);
        // Of several, the last comes in.
        let Some(mut before) = self.wide(first, lanes).pop() else {
            return;
        };
        let mut moved = Vec::new();
        for x in self.wide(of, lanes) {
            // Registers of few lanes are not full.
            let last = per.min(lanes) - 1;
            moved.push(self.lanes_of_two(lane, (before, x), |k| match k {
                0 => last,
                k => per + k - 1,
            }));
            before = x;
        }
        self.define(to, Printed::Lanes(moved));
    }

    /// `let w = reverse v`.
    pub(super) fn reverse(&mut self, to: ir::Value, of: Operand) {
        let Shape { ty, lanes } = self.tile.shape(to);
        if lanes == 1 {
            let one = self.scalar(of);
            return self.define(to, Printed::Scalar(one, 0));
        }
        let lane = self.lane_type(ty);
        // Registers of few lanes are not full.
        let per = per_register(lane).min(lanes);
        let all = self.wide(of, lanes).into_iter().rev();
        let all = all.map(|x| {
            let other_way = |k: u32| per - 1 - k % per;
            self.lanes_of_two(lane, (x, x), other_way)
        });
        let all = all.collect();
        self.define(to, Printed::Lanes(all));
    }

    /// Lanes of two registers, by number.
    fn lanes_of_two(&mut self, lane: Ty, two: (Value, Value), of: impl Fn(u32) -> u32) -> Value {
        let size = lane.size() as u32;
        let byte = |byte: u32| (of(byte / size) * size + byte % size) as u8;
        let bytes: Vec<u8> = (0..BYTES).map(byte).collect();
        self.shuffle(vector(lane), two, &bytes)
    }
}

/// Sums of a block, by its tree: in each step the last of each lower half is joined onto all of the upper half.
fn tree(
    count: u32,
    mut sums: Vec<Value>,
    mut join: impl FnMut(Value, Value) -> Value,
) -> Vec<Value> {
    for step in 0..count.trailing_zeros() {
        for k in (0..count as usize).filter(|k| k >> step & 1 == 1) {
            sums[k] = join(sums[(k >> step << step) - 1], sums[k]);
        }
    }
    sums
}
