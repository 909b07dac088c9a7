//! Values of tiles: scalars, and lanes in registers of 128 bits.

use super::Printer;
use super::run::facet_of;
use crate::emit::{Emit, Facet};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    ConstantData, Endianness, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value,
    types,
};
use livefusion_tile::ir::{self, Operand, Origin, Shape, Stmt, StmtKind};
use loop_lang::ir::Var;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;

/// Bytes of a machine's register.
pub(super) const BYTES: u32 = 16;

/// What a value of a tile is in the code.
#[derive(Clone)]
pub(super) enum Printed {
    /// A scalar that is known while the code is written, as a canonical word.
    Known(u64),
    /// A scalar, and a number to be added: neighbours of an index share its register.
    Scalar(Value, u64),
    /// Lanes side by side, in as many registers as they need. What is behind the last of them is anything.
    Lanes(Vec<Value>),
}

/// The unsigned type of so many bytes.
pub(super) fn unsigned(bytes: usize) -> Ty {
    match bytes {
        1 => Ty::U8,
        2 => Ty::U16,
        4 => Ty::U32,
        _ => Ty::U64,
    }
}

/// The type of registers whose lanes have a type. Masks have the type of theirs.
pub(super) fn vector(ty: Ty) -> Type {
    match ty {
        Ty::Bool | Ty::I8 | Ty::U8 => types::I8X16,
        Ty::I16 | Ty::U16 => types::I16X8,
        Ty::I32 | Ty::U32 => types::I32X4,
        Ty::I64 | Ty::U64 => types::I64X2,
        Ty::F32 => types::F32X4,
        Ty::F64 => types::F64X2,
    }
}

/// How many registers so many lanes need.
pub(super) fn registers(ty: Ty, lanes: u32) -> usize {
    (lanes * ty.size() as u32).div_ceil(BYTES) as usize
}

/// How many lanes a register has.
pub(super) fn per_register(ty: Ty) -> u32 {
    BYTES / ty.size() as u32
}

impl Printer<'_, '_, '_> {
    /// The range, and variables for what is set.
    pub(super) fn declare(&mut self, (from, end): (Value, Value)) {
        for (v, data) in self.tile.each_value() {
            match data.origin {
                Origin::From => self.define(v, Printed::Scalar(from, 0)),
                Origin::End => self.define(v, Printed::Scalar(end, 0)),
                Origin::Register => {
                    let Shape { ty, lanes } = data.shape;
                    let (ty, count) = match lanes {
                        1 => (Emit::register(ty), 1),
                        _ => {
                            // One piece for each vector's lanes: these are what is loaded and stored.
                            let (lane, pieces) = (self.lane_type(ty), lanes / self.lanes);
                            let each = registers(lane, self.lanes) * pieces as usize;
                            (vector(lane), each)
                        }
                    };
                    let builder = &mut self.emit.builder;
                    let all = (0..count).map(|_| builder.declare_var(ty)).collect();
                    self.registers.insert(v, all);
                }
                Origin::Buffer => {
                    let bytes = data.shape.lanes * data.shape.ty.size() as u32;
                    // A buffer's vectors are not aligned to more than words.
                    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
                    let slot = self.emit.builder.create_sized_stack_slot(slot);
                    self.buffers.insert(v, slot);
                }
                Origin::Given(_) | Origin::State(_) | Origin::Scan(..) | Origin::Let => {}
            }
        }
    }

    pub(super) fn define(&mut self, v: ir::Value, printed: Printed) {
        self.values[v.index()] = Some(printed);
    }

    pub(super) fn shape(&self, a: Operand) -> Shape {
        self.tile.operand_shape(a)
    }

    /// The type that lanes of a type have in registers: of a mask, all bits or none of the widest lane.
    pub(super) fn lane_type(&self, ty: Ty) -> Ty {
        match ty {
            Ty::Bool => self.mask,
            ty => ty,
        }
    }

    pub(super) fn printed(&mut self, a: Operand) -> Printed {
        let v = match a {
            Operand::Const(c) => return Printed::Known(c.bits),
            Operand::Value(v) => v,
        };
        match self.tile.value(v).origin {
            Origin::Given(var) => Printed::Scalar(self.emit.atom(var.into()), 0),
            Origin::State(var) => Printed::Scalar(self.emit.get(var, self.emit.seen(var)), 0),
            Origin::Scan(var, kept) => Printed::Scalar(self.emit.get(var, facet_of(kept)), 0),
            Origin::Register => {
                let builder = &mut self.emit.builder;
                let all = self.registers[&v].iter().map(|r| builder.use_var(*r));
                let all: Vec<Value> = all.collect();
                match self.tile.shape(v).is_scalar() {
                    true => Printed::Scalar(all[0], 0),
                    false => Printed::Lanes(all),
                }
            }
            Origin::From | Origin::End | Origin::Buffer | Origin::Let => {
                let known = self.values[v.index()].clone();
                known.unwrap_or(Printed::Known(0))
            }
        }
    }

    /// The carried values in statements: all, those that are set before the others; and those that are set.
    pub(super) fn carried(&self, body: &[Stmt]) -> [Vec<(Var, Facet)>; 2] {
        let (mut read, mut changed) = (Vec::new(), Vec::new());
        let key = |v: ir::Value| match self.tile.value(v).origin {
            Origin::State(var) => Some((var, self.emit.seen(var))),
            Origin::Scan(var, kept) => Some((var, facet_of(kept))),
            _ => None,
        };
        ir::each_stmt(body, &mut |s| {
            s.kind
                .each_operand(&mut |a| read.extend(a.value().and_then(key)));
            if let StmtKind::Set { to, .. } = s.kind {
                changed.extend(key(to));
            }
        });
        let mut all = [&changed[..], &read].concat();
        for keys in [&mut all, &mut changed] {
            let mut seen = FxHashSet::default();
            keys.retain(|key| seen.insert(*key));
        }
        [all, changed]
    }

    /// A scalar in a register.
    pub(super) fn scalar(&mut self, a: Operand) -> Value {
        let ty = self.shape(a).ty;
        match self.printed(a) {
            Printed::Known(word) => self.emit.constant(Const::new(ty, word)),
            Printed::Scalar(x, 0) => x,
            Printed::Scalar(x, more) => self.emit.builder.ins().iadd_imm_s(x, more as i64),
            Printed::Lanes(all) => self.extract(ty, &all, 0),
        }
    }

    /// Lanes of an operand; a scalar is in all of them.
    pub(super) fn wide(&mut self, a: Operand, lanes: u32) -> Vec<Value> {
        if let Printed::Lanes(all) = self.printed(a) {
            return all;
        }
        let ty = self.shape(a).ty;
        let x = self.scalar(a);
        let one = self.splat(ty, x);
        vec![one; registers(self.lane_type(ty), lanes)]
    }

    /// A scalar in all lanes of a register.
    pub(super) fn splat(&mut self, ty: Ty, x: Value) -> Value {
        let lane = self.lane_type(ty);
        let ins = self.emit.builder.ins();
        let x = match ty {
            Ty::Bool => ins.bmask(Emit::register(lane), x),
            _ => x,
        };
        self.emit.builder.ins().splat(vector(lane), x)
    }

    /// One lane of an operand; a scalar is in all of them.
    pub(super) fn lane(&mut self, a: Operand, k: u32) -> Value {
        let ty = self.shape(a).ty;
        match self.printed(a) {
            Printed::Lanes(all) => self.extract(ty, &all, k),
            _ => self.scalar(a),
        }
    }

    /// One of some lanes.
    pub(super) fn extract(&mut self, ty: Ty, all: &[Value], k: u32) -> Value {
        let lane = self.lane_type(ty);
        let per = per_register(lane);
        let ins = self.emit.builder.ins();
        let x = ins.extractlane(all[(k / per) as usize], (k % per) as u8);
        if ty != Ty::Bool {
            return x;
        }
        let bit = self.emit.builder.ins().band_imm_u(x, 1);
        match lane.size() {
            1 => bit,
            _ => self.emit.builder.ins().ireduce(types::I8, bit),
        }
    }

    /// Scalars side by side.
    pub(super) fn of_lanes(&mut self, ty: Ty, each: &[Value]) -> Vec<Value> {
        // Truth values are bytes here, and become a mask together.
        let lane = match ty {
            Ty::Bool => Ty::U8,
            ty => ty,
        };
        let mut all = Vec::new();
        for each in each.chunks(per_register(lane) as usize) {
            let mut some = self.emit.builder.ins().splat(vector(lane), each[0]);
            for (k, x) in each.iter().enumerate().skip(1) {
                some = self.emit.builder.ins().insertlane(some, *x, k as u8);
            }
            all.push(some);
        }
        match ty {
            Ty::Bool => self.mask_of_bytes(&all, each.len() as u32),
            _ => all,
        }
    }

    /// A literal register.
    pub(super) fn literal(&mut self, ty: Type, bytes: Vec<u8>) -> Value {
        let constants = &mut self.emit.builder.func.dfg.constants;
        let constant = constants.insert(ConstantData::from(bytes));
        self.emit.builder.ins().vconst(ty, constant)
    }

    /// The same bits as another type.
    pub(super) fn bits(&mut self, to: Type, x: Value) -> Value {
        if self.emit.builder.func.dfg.value_type(x) == to {
            return x;
        }
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        self.emit.builder.ins().bitcast(to, flags, x)
    }

    /// `set r = v`.
    pub(super) fn set(&mut self, to: ir::Value, value: Operand) {
        let lanes = self.tile.shape(to).lanes;
        if lanes == 1 {
            let value = self.scalar(value);
            return self.set_scalar(to, value);
        }
        let registers = self.registers[&to].clone();
        let values = match self.shape(value).is_scalar() {
            true => {
                let one = self.wide(value, 1);
                vec![one[0]; registers.len()]
            }
            false => self.wide(value, lanes),
        };
        for (register, value) in registers.into_iter().zip(values) {
            self.emit.builder.def_var(register, value);
        }
    }

    /// The same of a scalar.
    pub(super) fn set_scalar(&mut self, to: ir::Value, value: Value) {
        match self.tile.value(to).origin {
            Origin::State(v) => self.emit.set(v, self.emit.seen(v), value),
            Origin::Scan(v, kept) => self.emit.set(v, facet_of(kept), value),
            _ => self.emit.builder.def_var(self.registers[&to][0], value),
        }
    }

    /// Set in the lanes that are below an end.
    pub(super) fn until(&mut self, to: ir::Value, at: Operand, end: Operand) {
        let lanes = self.tile.shape(to).lanes;
        let (at, end) = (self.scalar(at), self.scalar(end));
        let some = self.emit.less(at, end);
        if lanes == 1 {
            return self.define(to, Printed::Scalar(some, 0));
        }
        let left = self.emit.builder.ins().isub(end, at);
        let none = self.emit.u64(0);
        let left = self.emit.builder.ins().select(some, left, none);
        let most = self.emit.u64(u64::from(lanes));
        let left = self.emit.builder.ins().umin(left, most);
        let lane = self.mask;
        let left = match lane.size() {
            8 => left,
            _ => (self.emit.builder.ins()).ireduce(Emit::register(lane), left),
        };
        let left = self.splat(lane, left);
        let per = per_register(lane);
        let mut all = Vec::new();
        for first in (0..lanes).step_by(per as usize) {
            let each = (first..first + per).flat_map(|k| {
                let bytes = u64::from(k).to_le_bytes();
                bytes.into_iter().take(lane.size())
            });
            let lanes = self.literal(vector(lane), each.collect());
            let ins = self.emit.builder.ins();
            all.push(ins.icmp(IntCC::UnsignedGreaterThan, left, lanes));
        }
        self.define(to, Printed::Lanes(all));
    }

    /// `i`, `i + 1`, ... in the lanes.
    pub(super) fn positions(&mut self, to: ir::Value, from: Operand) {
        let lanes = self.tile.shape(to).lanes;
        let (base, first) = match self.printed(from) {
            Printed::Known(first) => (None, first),
            Printed::Scalar(base, more) => (Some(self.splat(Ty::U64, base)), more),
            Printed::Lanes(_) => return,
        };
        if lanes == 1 {
            let from = self.printed(from);
            return self.define(to, from);
        }
        let mut all = Vec::new();
        for k in (0..u64::from(lanes)).step_by(2) {
            let pair = [k, k + 1].map(|k| first.wrapping_add(k).to_le_bytes());
            let steps = self.literal(types::I64X2, pair.concat());
            all.push(match base {
                Some(base) => self.emit.builder.ins().iadd(base, steps),
                None => steps,
            });
        }
        self.define(to, Printed::Lanes(all));
    }
}
