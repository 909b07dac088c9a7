//! Loads, stores, packing, and reads at any index.

use super::Writer;
use crate::emit::vector::Shape as Packed;
use crate::facts;
use crate::names::Part;
use livefusion_tile::ir::{Memory, Operand, Origin, Shape, StmtKind, Tile, Value};
use loop_lang::ir::Var;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;

/// Values that go up or down with a counter: what is read there lies side by side.
pub(super) fn near(tile: &Tile) -> FxHashSet<Value> {
    let mut near = FxHashSet::default();
    tile.each_stmt(&mut |s| match &s.kind {
        StmtKind::For { counter, .. } | StmtKind::Segment { counter, .. } => {
            near.insert(*counter);
        }
        StmtKind::Let {
            to,
            op: Op::Add | Op::Sub,
            args,
        } => {
            let goes = |a: &&Operand| a.value().is_some_and(|v| near.contains(&v));
            let fixed = |a: &&Operand| {
                let given = |v| matches!(tile.value(v).origin, Origin::Given(_));
                a.value().is_none_or(given)
            };
            let count = args.iter().filter(goes).count();
            if count == 1 && args.iter().filter(fixed).count() == 1 {
                near.insert(*to);
            }
        }
        _ => {}
    });
    near
}

impl Writer<'_, '_, '_> {
    /// Where an access begins, as an expression for a place in memory.
    fn place(&mut self, memory: Memory, at: Operand) -> String {
        let (at, before) = (self.operand(at), self.before());
        match memory {
            Memory::Array(a) => format!("{} + {at}{before}", self.unit.array(a)),
            Memory::Lanes(v) => {
                format!("{} + {at}{before}", self.unit.names.part(v, Part::Lanes))
            }
            Memory::Tree(v) => format!("{} + {at}{before}", self.unit.names.part(v, Part::Tree)),
            Memory::Register(v) => self.name(v),
            Memory::Buffer(v) => format!("{} + {at}{before}", self.whole(v)),
        }
    }

    /// The part of a register that lanes from a literal place on are.
    fn part(&mut self, v: Value, at: Operand, lanes: u32) -> String {
        let name = self.whole(v).to_string();
        match (self.parts(self.tile.shape(v).lanes), self.part) {
            (1, _) => name,
            (_, 0) => format!("{name}[{} / {lanes}]", self.operand(at)),
            (_, part) => format!("{name}[{} / {lanes} + {part}]", self.operand(at)),
        }
    }

    /// The type of neighbours in memory: truth takes a byte there.
    fn in_memory(&mut self, shape: Shape) -> String {
        let ty = match shape.ty {
            Ty::Bool => Ty::U8,
            ty => ty,
        };
        self.vector(Shape::of(ty, shape.lanes))
    }

    pub(super) fn load(&mut self, to: Value, from: Memory, at: Operand, under: Option<Operand>) {
        let shape = self.shape(to);
        if let Memory::Register(v) = from {
            let part = self.part(v, at, shape.lanes);
            self.define(to, &part);
            return;
        }
        let place = self.place(from, at);
        if let Some(under) = under {
            self.load_some(to, &place, under);
            return;
        }
        match (shape.is_scalar(), shape.ty) {
            (true, _) => self.define(to, &format!("*({place})")),
            (false, ty) => {
                let vector = self.in_memory(shape);
                let loaded = format!("*(const {vector}_at *)({place})");
                match ty {
                    Ty::Bool => {
                        let mask = self.mask_of_bytes(&loaded);
                        self.define(to, &mask);
                    }
                    _ if self.is_read_again(from, shape) => {
                        let name = self.name(to);
                        self.unit.line(format!("{vector} {name} = {loaded};"));
                        self.unit.line(format!("__asm__(\"\" : \"+v\"({name}));"));
                    }
                    _ => self.define(to, &loaded),
                }
            }
        }
    }

    /// Whether gcc would read the same memory again for each use, if it were not told to keep it in a register. Of a short
    /// segment that costs no more.
    fn is_read_again(&self, from: Memory, shape: Shape) -> bool {
        let bytes = shape.lanes as usize * shape.ty.size();
        let whole = bytes >= 32 && bytes == self.unit.helpers.target.vector_bytes();
        matches!(from, Memory::Array(_)) && self.segment.is_none() && whole
    }

    /// Lanes that a mask lets.
    fn load_some(&mut self, to: Value, place: &str, under: Operand) {
        let shape = self.shape(to);
        let bits = self.bits_of(under);
        let (ty, cell) = (self.in_memory(shape), shape.ty.name());
        let name = self.name(to);
        let some = format!("lf_some_{name}");
        self.unit.line(format!("{ty} {some} = {{0}};"));
        self.unit.line(format!(
            "{{ const u64 l = {bits}; const {cell} *const x = {place}; \
             for (u64 k = 0; k < {}; k++) if (l >> k & 1) {some}[k] = x[k]; }}",
            shape.lanes
        ));
        let text = match shape.ty {
            Ty::Bool => self.mask_of_bytes(&some),
            _ => some,
        };
        self.define(to, &text);
    }

    pub(super) fn gather(&mut self, to: Value, array: Var, at: Operand) {
        let shape = self.shape(to);
        let (data, n) = (self.unit.array(array), self.unit.length(array));
        let index = self.operand(at);
        if shape.is_scalar() {
            if at.value().is_none_or(|v| self.near.contains(&v)) {
                return self.define(to, &format!("{index} < {n} ? {data}[{index}] : 0"));
            }
            let (ty, name) = (self.vector(shape), self.name(to));
            self.unit.line(format!("{ty} {name};"));
            let line = self.unit.masked(shape.ty, &name, (&data, &n, &index));
            self.unit.line(line);
            return;
        }
        let read = format!("({index}[k] < {n} ? {data}[{index}[k]] : 0)");
        self.each(to, &read);
    }

    pub(super) fn store(
        &mut self,
        into: Memory,
        at: Operand,
        value: Operand,
        under: Option<Operand>,
        lanes: u32,
    ) {
        if let Memory::Register(v) = into {
            let (part, value) = (self.part(v, at, lanes), self.in_lanes(value, lanes));
            self.unit.line(format!("{part} = {value};"));
            return;
        }
        let place = self.place(into, at);
        if lanes == 1 {
            let value = self.operand(value);
            let test = under.map_or(String::new(), |m| format!("if ({}) ", self.operand(m)));
            self.unit.line(format!("{test}*({place}) = {value};"));
            return;
        }
        let ty = self.memory_type(into, value);
        let shape = Shape::of(ty, lanes);
        let value = self.in_lanes(value, lanes);
        let value = match ty {
            Ty::Bool => self.bytes_of_mask(&value),
            _ => value,
        };
        let vector = self.in_memory(shape);
        match under {
            None => self
                .unit
                .line(format!("*({vector}_at *)({place}) = {value};")),
            Some(under) => {
                let bits = self.bits_of(under);
                self.unit.line(format!(
                    "{{ const u64 l = {bits}; const {vector} x = {value}; \
                     for (u64 k = 0; k < {lanes}; k++) if (l >> k & 1) ({place})[k] = x[k]; }}"
                ));
            }
        }
    }

    /// Lanes are written, or joined, one after the other.
    pub(super) fn put(
        &mut self,
        array: Var,
        (at, value): (Operand, Operand),
        by: Option<Op>,
        under: Option<Operand>,
        lanes: u32,
    ) {
        let (data, n) = (self.unit.array(array), self.unit.length(array));
        let ty = facts::elem(self.unit.program, array);
        let (at, value) = (self.lane(at), self.lane(value));
        let test = under.map_or(String::new(), |m| format!("{} && ", self.lane(m)));
        let put = |w: &mut Self, at: &str| {
            let cell = format!("{data}[{at}]");
            let value = match by {
                Some(op) => w
                    .unit
                    .helpers
                    .op(op, ty, ty, &[cell.clone(), value.clone()]),
                None => value.clone(),
            };
            format!("if ({test}{at} < {n}) {cell} = {value};")
        };
        let line = match lanes {
            1 => put(self, &at),
            _ => {
                let put = put(self, "l");
                format!("for (u64 k = 0; k < {lanes}; k++) {{ const u64 l = {at}; {put} }}")
            }
        };
        self.unit.line(line);
    }

    fn memory_type(&self, memory: Memory, value: Operand) -> Ty {
        match memory {
            Memory::Array(v) | Memory::Lanes(v) | Memory::Tree(v) => {
                facts::elem(self.unit.program, v)
            }
            Memory::Register(_) | Memory::Buffer(_) => self.tile.operand_shape(value).ty,
        }
    }

    pub(super) fn compress(&mut self, array: Var, at: Operand, value: Operand, under: Operand) {
        let (data, index) = (self.unit.array(array), self.operand(at));
        let ty = facts::elem(self.unit.program, array);
        let lanes = self.tile.operand_shape(under).lanes;
        if lanes == 1 {
            // What is rejected is overwritten.
            let value = self.operand(value);
            self.unit.line(format!("{data}[{index}] = {value};"));
            return;
        }
        let parts = self.parts(lanes);
        if parts > 1 {
            self.unit.line(format!("{{ u64 l = {index};"));
        }
        for part in 0..parts {
            self.part = part;
            let index = if parts > 1 { "l" } else { &index };
            self.pack(&data, index, (value, ty), under);
            if parts > 1 {
                let bits = self.bits_of(under);
                self.unit.line(format!("l += __builtin_popcountl({bits});"));
            }
        }
        if parts > 1 {
            self.unit.line("}");
        }
        self.part = 0;
    }

    /// Packs one part.
    fn pack(&mut self, data: &str, index: &str, (value, ty): (Operand, Ty), under: Operand) {
        let lanes = self.operand_shape(under).lanes;
        let value = self.in_lanes(value, lanes);
        let value = match ty {
            Ty::Bool => self.bytes_of_mask(&value),
            _ => value,
        };
        let bits = self.bits_of(under);
        let helpers = &mut *self.unit.helpers;
        let widest = helpers.target.vector_bytes() / lanes as usize;
        if matches!(widest, 1 | 2 | 4 | 8) && ty.size() <= widest {
            let (pack, int) = Packed(widest).pack(helpers, ty.size());
            self.unit.line(format!(
                "{pack}((void *)({data} + {index}), ({int})({value}), {bits});"
            ));
            return;
        }
        let vector = self.in_memory(Shape::of(ty, lanes));
        self.unit.line(format!(
            "{{ const u64 m = {bits}; const {vector} x = {value}; {} *y = {data} + {index}; \
             for (u64 k = 0; k < {lanes}; k++) {{ *y = x[k]; y += m >> k & 1; }} }}",
            ty.name()
        ));
    }
}
