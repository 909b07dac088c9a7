//! Memory of tiles: arrays, the lanes of groups in the frame, lanes of registers.

use super::Printer;
use super::values::{BYTES, Printed, registers, unsigned, vector};
use crate::emit::{Emit, MEMORY, arrays};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use livefusion_tile::ir::{self, Memory, Operand, Shape};
use loop_lang::ir::{Order, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Neighbours in memory: there, but aligned as one element is.
const NEIGHBOURS: MemFlagsData = MemFlagsData::new()
    .with_notrap()
    .with_endianness(Endianness::Little);

/// Where something is: an address, and bytes from it on.
pub(super) type Place = (Value, i32);

/// What so many bytes are, that fill no register.
fn word(bytes: u32) -> Type {
    match bytes {
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}

impl Printer<'_, '_, '_> {
    /// Where the elements of some size from an index on are.
    fn place(&mut self, base: Value, size: usize, at: Operand) -> Place {
        let printed = self.printed(at);
        let (index, more) = match printed {
            Printed::Known(k) => (None, k),
            Printed::Scalar(x, more) => (Some(x), more),
            Printed::Lanes(_) => (Some(self.scalar(at)), 0),
        };
        let far = more.wrapping_mul(size as u64);
        let (index, offset) = match i32::try_from(far) {
            Ok(offset) if offset < i32::MAX / 2 => (index, offset),
            _ => (Some(self.scalar(at)), 0),
        };
        let address = match index {
            Some(index) => {
                let ins = self.emit.builder.ins();
                let bytes = ins.ishl_imm_u(index, i64::from(size.trailing_zeros()));
                self.emit.builder.ins().iadd(base, bytes)
            }
            None => base,
        };
        (address, offset)
    }

    /// Where elements of an array are.
    pub(super) fn elements(&mut self, array: Var, at: Operand) -> Place {
        let data = self.emit.data(array);
        let ty = livefusion_backend::facts::elem(self.emit.program, array);
        self.place(data, ty.size(), at)
    }

    /// Where elements of a buffer are: on the stack.
    pub(super) fn buffered(&mut self, buffer: ir::Value, at: Operand) -> Place {
        let slot = self.buffers[&buffer];
        let data = self.emit.builder.ins().stack_addr(types::I64, slot, 0);
        self.place(data, self.tile.shape(buffer).ty.size(), at)
    }

    /// Where a group's lanes are, or a scan's tree: each has a word.
    pub(super) fn group_lanes(&mut self, v: Var, at: Operand) -> Place {
        let words = self.emit.words;
        let (address, offset) = self.place(words, 8, at);
        let group = self.emit.facts.local_group(self.emit.program, v);
        let first = group.map_or(0, |(g, i, order)| match order {
            Order::Prefix(_) => self.emit.tree_word(g, i),
            _ => self.emit.local_word(g, i),
        });
        (address, offset + first as i32 * 8)
    }

    /// Neighbours of a type.
    fn load_lanes(&mut self, Shape { ty, lanes }: Shape, (at, offset): Place) -> Vec<Value> {
        if ty == Ty::Bool {
            let bytes = self.load_lanes(Shape::of(Ty::U8, lanes), (at, offset));
            return self.mask_of_bytes(&bytes, lanes);
        }
        let bytes = lanes * ty.size() as u32;
        if bytes >= BYTES {
            let each = (0..registers(ty, lanes)).map(|k| offset + 16 * k as i32);
            let load = |offset| {
                let ins = self.emit.builder.ins();
                ins.load(vector(ty), NEIGHBOURS, at, offset)
            };
            return each.map(load).collect();
        }
        let ins = self.emit.builder.ins();
        let mut some = ins.load(word(bytes), NEIGHBOURS, at, offset);
        if bytes == 2 {
            some = self.emit.builder.ins().uextend(types::I32, some);
        }
        let wide = if bytes == 8 {
            types::I64X2
        } else {
            types::I32X4
        };
        let some = self.emit.builder.ins().scalar_to_vector(wide, some);
        vec![self.bits(vector(ty), some)]
    }

    pub(super) fn store_lanes(
        &mut self,
        Shape { ty, lanes }: Shape,
        all: &[Value],
        (at, offset): Place,
    ) {
        if ty == Ty::Bool {
            let bytes = self.bytes_of_mask(all, lanes);
            return self.store_lanes(Shape::of(Ty::U8, lanes), &bytes, (at, offset));
        }
        let bytes = lanes * ty.size() as u32;
        if bytes >= BYTES {
            for (k, x) in all.iter().enumerate() {
                let offset = offset + 16 * k as i32;
                self.emit.builder.ins().store(NEIGHBOURS, *x, at, offset);
            }
            return;
        }
        let wide = match bytes {
            2 => types::I16X8,
            4 => types::I32X4,
            _ => types::I64X2,
        };
        let some = self.bits(wide, all[0]);
        let some = self.emit.builder.ins().extractlane(some, 0);
        self.emit.builder.ins().store(NEIGHBOURS, some, at, offset);
    }

    /// Lanes of a type from words, one each.
    fn load_words(&mut self, Shape { ty, lanes }: Shape, place: Place) -> Vec<Value> {
        let words = self.load_lanes(Shape::of(Ty::U64, lanes), place);
        let word = match ty {
            Ty::Bool => Ty::U8,
            ty => unsigned(ty.size()),
        };
        let all = self.resized(&words, (Ty::U64, word), false, lanes);
        match ty {
            Ty::Bool => self.mask_of_bytes(&all, lanes),
            ty => all.into_iter().map(|x| self.bits(vector(ty), x)).collect(),
        }
    }

    /// Canonical words of lanes.
    fn store_words(&mut self, Shape { ty, lanes }: Shape, all: &[Value], place: Place) {
        let (all, word) = match ty {
            Ty::Bool => (self.bytes_of_mask(all, lanes), Ty::U8),
            ty => (all.to_vec(), unsigned(ty.size())),
        };
        let each = all.into_iter();
        let all: Vec<Value> = each.map(|x| self.bits(vector(word), x)).collect();
        let words = self.resized(&all, (word, Ty::U64), ty.is_signed(), lanes);
        self.store_lanes(Shape::of(Ty::U64, lanes), &words, place);
    }

    /// Neighbours, or one element.
    fn load_elements(&mut self, shape: Shape, (at, offset): Place) -> Printed {
        if !shape.is_scalar() {
            return Printed::Lanes(self.load_lanes(shape, (at, offset)));
        }
        let register = Emit::register(shape.ty);
        let ins = self.emit.builder.ins();
        Printed::Scalar(ins.load(register, MEMORY, at, offset), 0)
    }

    /// Writes neighbours, or one element. Where a mask is not set, what is there is written once more.
    fn store_elements(
        &mut self,
        shape: Shape,
        (at, offset): Place,
        value: Operand,
        under: Option<Operand>,
    ) {
        if !shape.is_scalar() {
            let all = self.wide(value, shape.lanes);
            let all = self.kept(shape, all, under, |p| p.load_lanes(shape, (at, offset)));
            return self.store_lanes(shape, &all, (at, offset));
        }
        let mut value = self.scalar(value);
        if let Some(cond) = under {
            let cond = self.scalar(cond);
            let ins = self.emit.builder.ins();
            let old = ins.load(Emit::register(shape.ty), MEMORY, at, offset);
            value = self.emit.choose(shape.ty, cond, value, old);
        }
        self.emit.builder.ins().store(MEMORY, value, at, offset);
    }

    /// `let v = load a[i]`.
    pub(super) fn load(
        &mut self,
        to: ir::Value,
        from: Memory,
        at: Operand,
        under: Option<Operand>,
    ) {
        let shape = self.tile.shape(to);
        let Shape { ty, lanes } = shape;
        if let (Memory::Array(array), Some(mask)) = (from, under) {
            return self.load_where_set(to, array, at, mask);
        }
        let printed = match (from, lanes) {
            (Memory::Array(array), _) => {
                let place = self.elements(array, at);
                self.load_elements(shape, place)
            }
            (Memory::Buffer(buffer), _) => {
                let place = self.buffered(buffer, at);
                self.load_elements(shape, place)
            }
            (Memory::Lanes(v) | Memory::Tree(v), 1) => {
                let (at, offset) = self.group_lanes(v, at);
                Printed::Scalar(self.emit.load_word(ty, at, offset), 0)
            }
            (Memory::Lanes(v) | Memory::Tree(v), _) => {
                let place = self.group_lanes(v, at);
                Printed::Lanes(self.load_words(shape, place))
            }
            (Memory::Register(r), _) => {
                let pieces = self.pieces(r, at);
                let builder = &mut self.emit.builder;
                Printed::Lanes(pieces.into_iter().map(|r| builder.use_var(r)).collect())
            }
        };
        let printed = match (under, printed) {
            (Some(mask), Printed::Lanes(all)) => {
                let mask = self.wide(mask, lanes);
                let zero = self.word(self.lane_type(ty), 0);
                let zeros = vec![zero; all.len()];
                Printed::Lanes(self.blend(ty, &mask, (&all, &zeros), lanes))
            }
            (_, printed) => printed,
        };
        self.define(to, printed);
    }

    /// The variables of a register's lanes from a known place on.
    fn pieces(&mut self, r: ir::Value, at: Operand) -> Vec<cranelift_frontend::Variable> {
        let at = match self.printed(at) {
            Printed::Known(at) => at,
            _ => 0,
        };
        let lane = self.lane_type(self.tile.shape(r).ty);
        let each = registers(lane, self.lanes);
        let first = at as usize / self.lanes as usize * each;
        self.registers[&r][first..first + each].to_vec()
    }

    /// What lanes under a mask read: others do not look at memory.
    fn load_where_set(&mut self, to: ir::Value, array: Var, at: Operand, mask: Operand) {
        let Shape { ty, lanes } = self.tile.shape(to);
        let first = self.scalar(at);
        let each: Vec<Value> = (0..lanes)
            .map(|k| {
                let at = self.emit.builder.ins().iadd_imm_u(first, i64::from(k));
                let set = self.lane(mask, k);
                self.element_if(array, at, set)
            })
            .collect();
        self.define_each(to, ty, &each);
    }

    /// An element if a condition holds, zero else.
    fn element_if(&mut self, array: Var, at: Value, cond: Value) -> Value {
        let ty = livefusion_backend::facts::elem(self.emit.program, array);
        let address = self.emit.address(array, at);
        let zero = self.emit.u64(arrays::zero());
        let ins = self.emit.builder.ins();
        let address = ins.select(cond, address, zero);
        let ins = self.emit.builder.ins();
        ins.load(Emit::register(ty), MEMORY, address, 0)
    }

    fn define_each(&mut self, to: ir::Value, ty: Ty, each: &[Value]) {
        let printed = match each {
            [one] => Printed::Scalar(*one, 0),
            _ => Printed::Lanes(self.of_lanes(ty, each)),
        };
        self.define(to, printed);
    }

    /// `let v = gather a[i]`.
    pub(super) fn gather(&mut self, to: ir::Value, array: Var, at: Operand) {
        let Shape { ty, lanes } = self.tile.shape(to);
        let length = self.emit.length(array);
        let each: Vec<Value> = (0..lanes)
            .map(|k| {
                let at = self.lane(at, k);
                let inside = self.emit.less(at, length);
                self.element_if(array, at, inside)
            })
            .collect();
        self.define_each(to, ty, &each);
    }

    /// `across b = a[i]`, element by element.
    pub(super) fn across(
        &mut self,
        into: ir::Value,
        (array, at): (Var, Operand),
        lanes: u32,
        (apart, steps): (u64, u32),
    ) {
        let ty = self.tile.shape(into).ty;
        let size = ty.size() as i32;
        let (first, offset) = self.elements(array, at);
        let (buffer, begin) = self.buffered(into, Operand::Const(Const::u64(0)));
        for k in 0..lanes {
            let far = u64::from(k).wrapping_mul(apart).wrapping_mul(size as u64);
            let ins = self.emit.builder.ins();
            let lane = ins.iadd_imm_s(first, far as i64);
            for step in 0..steps {
                let ins = self.emit.builder.ins();
                let from = offset + step as i32 * size;
                let x = ins.load(Emit::register(ty), MEMORY, lane, from);
                let to = begin + (step * lanes + k) as i32 * size;
                self.emit.builder.ins().store(MEMORY, x, buffer, to);
            }
        }
    }

    /// `store a[i] = v`. Where a mask is not set, what is there is written once more.
    pub(super) fn store(
        &mut self,
        into: Memory,
        at: Operand,
        value: Operand,
        under: Option<Operand>,
        lanes: u32,
    ) {
        let shape = Shape::of(self.shape(value).ty, lanes);
        match (into, lanes) {
            (Memory::Array(array), 2..) if under.is_some() && self.is_in_segment() => {
                self.store_where_set((array, at), value, under, lanes);
            }
            (Memory::Array(array), _) => {
                let place = self.elements(array, at);
                self.store_elements(shape, place, value, under);
            }
            (Memory::Buffer(buffer), _) => {
                let place = self.buffered(buffer, at);
                self.store_elements(shape, place, value, under);
            }
            (Memory::Lanes(v) | Memory::Tree(v), 1) => {
                let (at, offset) = self.group_lanes(v, at);
                let mut value = self.scalar(value);
                if let Some(cond) = under {
                    let cond = self.scalar(cond);
                    let old = self.emit.load_word(shape.ty, at, offset);
                    value = self.emit.choose(shape.ty, cond, value, old);
                }
                self.emit.store_word(shape.ty, value, at, offset);
            }
            (Memory::Lanes(v) | Memory::Tree(v), _) => {
                let place = self.group_lanes(v, at);
                let all = self.wide(value, lanes);
                let all = self.kept(shape, all, under, |p| p.load_words(shape, place));
                self.store_words(shape, &all, place);
            }
            (Memory::Register(r), _) => {
                let pieces = self.pieces(r, at);
                let all = self.wide(value, lanes);
                let all = self.kept(shape, all, under, |p| {
                    let builder = &mut p.emit.builder;
                    pieces.iter().map(|r| builder.use_var(*r)).collect()
                });
                for (register, x) in pieces.into_iter().zip(all) {
                    self.emit.builder.def_var(register, x);
                }
            }
        }
    }

    /// Lanes of a segment's epilogue: beyond its end there may be nothing.
    fn store_where_set(
        &mut self,
        (array, at): (Var, Operand),
        value: Operand,
        under: Option<Operand>,
        lanes: u32,
    ) {
        let Some(mask) = under else { return };
        let first = self.scalar(at);
        for k in 0..lanes {
            let (set, value) = (self.lane(mask, k), self.lane(value, k));
            let at = self.emit.builder.ins().iadd_imm_u(first, i64::from(k));
            self.emit.only_if(set, |emit| {
                let address = emit.address(array, at);
                emit.builder.ins().store(MEMORY, value, address, 0);
            });
        }
    }

    /// Lanes where a mask, if there is one, is set; elsewhere what is there.
    fn kept(
        &mut self,
        shape: Shape,
        all: Vec<Value>,
        under: Option<Operand>,
        old: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let Some(mask) = under else {
            return all;
        };
        let mask = self.wide(mask, shape.lanes);
        let old = old(self);
        self.blend(shape.ty, &mask, (&all, &old), shape.lanes)
    }

    /// `put a[i] = v`, lane by lane.
    pub(super) fn put(
        &mut self,
        array: Var,
        (at, value): (Operand, Operand),
        by: Option<Op>,
        under: Option<Operand>,
        lanes: u32,
    ) {
        let ty = livefusion_backend::facts::elem(self.emit.program, array);
        let length = self.emit.length(array);
        for k in 0..lanes {
            let (index, value) = (self.lane(at, k), self.lane(value, k));
            let mut there = self.emit.less(index, length);
            if let Some(mask) = under {
                let set = self.lane(mask, k);
                there = self.emit.builder.ins().band(there, set);
            }
            self.emit.only_if(there, |emit| {
                let address = emit.address(array, index);
                let joined = match by {
                    Some(op) => {
                        let ins = emit.builder.ins();
                        let old = ins.load(Emit::register(ty), MEMORY, address, 0);
                        emit.op(op, ty, ty, &[old, value])
                    }
                    None => value,
                };
                emit.builder.ins().store(MEMORY, joined, address, 0);
            });
        }
    }
}
