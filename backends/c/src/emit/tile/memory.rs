//! Loads, stores, packing, and reads at any index.

use super::Writer;
use super::builtins::load_builtin;
use super::pack::Width;
use crate::facts;
use crate::names::Facet;
use livefusion_tile::ir::{Memory, Operand, Origin, Shape, StmtKind, Tile, Value};
use loop_lang::ir::Var;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;

/// Where the lanes of a value lie side by side.
#[derive(Clone, Copy)]
pub(super) enum Neighbours {
    /// In an array that the loop is given, from an index on.
    Of(Var, Operand),
    /// They are casts of lanes that do.
    Cast(Operand),
}

/// Values whose lanes lie side by side in memory that nobody writes to.
pub(super) fn neighbours(
    tile: &Tile,
    is_given: impl Fn(Var) -> bool,
) -> FxHashMap<Value, Neighbours> {
    let mut all = FxHashMap::default();
    let stays = |a: Operand| {
        a.value()
            .is_none_or(|v| tile.value(v).origin == Origin::Let)
    };
    tile.each_stmt(&mut |s| match &s.kind {
        StmtKind::Load {
            to,
            from: Memory::Array(array),
            at,
            under: None,
            ..
        } if is_given(*array) && stays(*at) && !tile.shape(*to).is_scalar() => {
            all.insert(*to, Neighbours::Of(*array, *at));
        }
        StmtKind::Let {
            to,
            op: Op::Cast,
            args,
        } if args[0].value().is_some_and(|v| all.contains_key(&v)) => {
            all.insert(*to, Neighbours::Cast(args[0]));
        }
        _ => {}
    });
    all
}

impl Writer<'_, '_, '_> {
    /// Where an access begins, as an expression for a place in memory.
    pub(super) fn place(&mut self, memory: Memory, at: Operand) -> String {
        let (at, before) = (self.operand(at), self.before());
        match memory {
            Memory::Array(a) => format!("{} + {at}{before}", self.unit.array(a)),
            Memory::Lanes(v) => {
                format!("{} + {at}{before}", self.unit.names.facet(v, Facet::Lanes))
            }
            Memory::Tree(v) => format!("{} + {at}{before}", self.unit.names.facet(v, Facet::Tree)),
            Memory::Register(v) => self.name(v),
            Memory::Buffer(v) => format!("{} + {at}{before}", self.whole(v)),
        }
    }

    /// Where an access of which not all lanes may be there begins, as a number: that may be no place in the memory.
    fn address(&mut self, memory: Memory, at: Operand, ty: Ty) -> String {
        match memory {
            Memory::Array(a) => {
                let (at, before, size) = (self.operand(at), self.before(), ty.size());
                format!("(u64){} + ({at}{before}) * {size}ul", self.unit.array(a))
            }
            memory => format!("(u64)({})", self.place(memory, at)),
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
        if let Some(under) = under {
            let address = self.address(from, at, shape.ty);
            let in_segment = self.segment.is_some() && matches!(from, Memory::Array(_));
            self.load_some(to, &address, under, in_segment);
            return;
        }
        let place = self.place(from, at);
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

    /// Whether gcc would read the same memory again for each use, if it were not told to keep it in a register; or
    /// would read it under the mask by which something else is taken, for which processors do not bring it in advance.
    /// Of a short segment the first costs no more.
    fn is_read_again(&self, from: Memory, shape: Shape) -> bool {
        let bytes = shape.lanes as usize * shape.ty.size();
        let whole = bytes >= 32 && bytes == self.unit.helpers.target.vector_bytes();
        let masked = self.masks.registers && self.picks;
        matches!(from, Memory::Array(_)) && (self.segment.is_none() || masked) && whole
    }

    /// Whether gcc would store to a group's lanes only what a mask has changed, if it were not told to store all.
    fn is_masked_anew(&self, into: Memory, shape: Shape) -> bool {
        let bytes = shape.lanes as usize * shape.ty.size();
        let whole = bytes == self.unit.helpers.target.vector_bytes() && shape.ty != Ty::Bool;
        matches!(into, Memory::Lanes(_)) && self.masks.registers && whole
    }

    /// Lanes that a mask lets. Elsewhere are zeros; in an epilogue it does not matter what is there, and if there is
    /// capacity, there is something.
    fn load_some(&mut self, to: Value, address: &str, under: Operand, in_segment: bool) {
        let shape = self.shape(to);
        let (bits, load) = (self.bits_of(under), self.masked_load(shape));
        let mut some = format!("{load}((const {0} *)({address}), {bits})", cell(shape.ty));
        if in_segment && !self.masks.registers {
            let vector = self.in_memory(shape);
            some = format!("(spare ? ({vector})*(const {vector}_at *)({address}) : {some})");
        }
        let text = match shape.ty {
            Ty::Bool => self.mask_of_bytes(&some),
            _ => some,
        };
        self.define(to, &text);
    }

    /// A function that loads the lanes whose bits are set.
    fn masked_load(&mut self, shape: Shape) -> String {
        let (ty, full) = (self.in_memory(shape), self.full());
        let (cell, lanes) = (cell(shape.ty), shape.lanes);
        let registers = self.masks.registers;
        let name = format!("lf_some_{ty}_{}", self.masks.bytes);
        self.unit.helpers.require(&name, || {
            // Most vectors of a segment are there as a whole.
            let plain = format!(
                "  {ty} some = {{0}};\n  if (l == {full}) some = *(const {ty}_at *)x;\n  \
                 else for (u64 k = 0; k < {lanes}; k++) if (l >> k & 1) some[k] = x[k];\n  return some;"
            );
            let builtin = load_builtin(shape.ty, lanes).filter(|_| registers);
            let body = match builtin {
                Some((builtin, of, bits)) => format!(
                    "#ifndef __clang__\n  typedef {of} lf_e __attribute__((vector_size({})));\n  \
                     return ({ty}){builtin}((const {of} *)x, (lf_e){{0}}, ({bits})l);\n#else\n{plain}\n#endif",
                    lanes as usize * shape.ty.size()
                ),
                None => plain,
            };
            format!("static inline {ty} {name}(const {cell} *x, u64 l) {{\n{body}\n}}\n")
        });
        name
    }

    pub(super) fn gather(&mut self, to: Value, array: Var, at: Operand) {
        let shape = self.shape(to);
        let (data, n) = (self.unit.array(array), self.unit.length(array));
        let index = self.operand(at);
        if shape.is_scalar() {
            // A branch is foreseen: the index of the next element, which often hangs on this one, does not wait for it.
            return self.define(to, &format!("{index} < {n} ? {data}[{index}] : 0"));
        }
        let gathered = self.gatherer(shape);
        let out = self.outside(at, &n);
        let each: Vec<String> = (0..shape.lanes)
            .map(|k| format!("{data}[{}]", self.index_at(at, &k.to_string())))
            .collect();
        let held = self.in_memory(shape);
        let mut all = format!("({held}){{ {} }}", each.join(", "));
        if shape.ty == Ty::Bool {
            all = self.mask_of_bytes(&all);
        }
        let (v, name) = (self.vector(shape), self.name(to));
        self.unit.line(format!("{v} {name};"));
        self.unit.line(format!(
            "if ({out}) {name} = {gathered}({data}, {n}, {index});"
        ));
        self.unit.line(format!("else {name} = {all};"));
    }

    /// What is not zero where one of a vector's indices is outside, which is seldom.
    fn outside(&mut self, at: Operand, n: &str) -> String {
        let indices = Shape::of(Ty::U64, self.operand_shape(at).lanes);
        let (index, all) = (self.operand(at), self.all(indices));
        let inside = self.compare(Op::Lt, Ty::U64, &index, &format!("{all}({n})"));
        format!("__builtin_expect({}, 0)", self.lacks(&inside))
    }

    /// A lane of an index. What lies side by side in memory that nobody writes to is read there: an address is known
    /// the earlier for it.
    fn index_at(&mut self, at: Operand, k: &str) -> String {
        let lies = at.value().and_then(|v| self.neighbours.get(&v).copied());
        match lies {
            Some(Neighbours::Of(array, first)) => {
                let place = self.place(Memory::Array(array), first);
                format!("({place})[{k}]")
            }
            Some(Neighbours::Cast(of)) => {
                let lane = self.index_at(of, k);
                let (from, to) = (self.operand_shape(of).ty, self.operand_shape(at).ty);
                self.unit.helpers.op(Op::Cast, from, to, &[lane])
            }
            None => self.lane_at(at, k),
        }
    }

    /// A function that reads a vector of elements, each at an index of its own. Indices are held against the length
    /// once. Where one is outside it is zero, where an empty array has something too: so nothing is jumped over.
    fn gatherer(&mut self, shape: Shape) -> String {
        let indices = Shape::of(Ty::U64, shape.lanes);
        let (v, held) = (self.vector(shape), self.in_memory(shape));
        let (index, all, mask) = (self.vector(indices), self.all(indices), self.mask());
        let cell = cell(shape.ty);
        let inside = self.compare(Op::Lt, Ty::U64, "at", &format!("{all}(n)"));
        let at = self.only(Ty::U64, "inside", "at");
        let found = match shape.ty {
            Ty::Bool => {
                let set = self.mask_of_bytes("x");
                self.mask_op(Op::And, "inside", &set).unwrap_or_default()
            }
            ty => self.only(ty, "inside", "x"),
        };
        let each: Vec<String> = (0..shape.lanes).map(|k| format!("p[i[{k}]]")).collect();
        let name = format!(
            "lf_gather_{}x{}_{}",
            shape.ty.name(),
            shape.lanes,
            self.masks.bytes
        );
        self.unit.helpers.require(&name, || {
            format!(
                "static inline {v} {name}(const {cell} *p, u64 n, {index} at) {{\n  \
                 const {mask} inside = {inside};\n  const {index} i = {at};\n  \
                 const {held} x = {{ {} }};\n  return {found};\n}}\n",
                each.join(", ")
            )
        });
        name
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
            // What is stored under a mask waits in the machine until nobody can load it any more: the next vector does.
            None if self.is_masked_anew(into, shape) => self.unit.line(format!(
                "{{ {vector} x = {value}; __asm__(\"\" : \"+v\"(x)); *({vector}_at *)({place}) = x; }}"
            )),
            None => self
                .unit
                .line(format!("*({vector}_at *)({place}) = {value};")),
            Some(under) => {
                // Most vectors of a segment are there as a whole.
                let (bits, full) = (self.bits_of(under), self.full());
                let address = self.address(into, at, ty);
                self.unit.line(format!(
                    "{{ const u64 l = {bits}; const {vector} x = {value}; {0} *const p = ({0} *)({address}); \
                     if (l == {full}) *({vector}_at *)p = x; \
                     else for (u64 k = 0; k < {lanes}; k++) if (l >> k & 1) p[k] = x[k]; }}",
                    cell(ty)
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
        let cell = |w: &mut Self, at: &str, value: &str| {
            let cell = format!("{data}[{at}]");
            let joined = match by {
                Some(op) => (w.unit.helpers).op(op, ty, ty, &[cell.clone(), value.to_string()]),
                None => value.to_string(),
            };
            format!("{cell} = {joined};")
        };
        let put = self.lane(value);
        let test = under.map_or(String::new(), |m| format!("{} && ", self.lane(m)));
        if lanes == 1 {
            let at = self.operand(at);
            let put = cell(self, &at, &put);
            return self.unit.line(format!("if ({test}{at} < {n}) {put}"));
        }
        let (lane, put) = (self.index_at(at, "k"), cell(self, "l", &put));
        let each = format!("for (u64 k = 0; k < {lanes}; k++) {{ const u64 l = {lane};");
        if under.is_some() || self.operand_shape(at).is_scalar() {
            let line = format!("{each} if ({test}l < {n}) {put} }}");
            return self.unit.line(line);
        }
        let out = self.outside(at, &n);
        self.unit
            .line(format!("if ({out}) {each} if (l < {n}) {put} }}"));
        self.unit.line(format!("else {each} {put} }}"));
    }

    fn memory_type(&self, memory: Memory, value: Operand) -> Ty {
        match memory {
            Memory::Array(v) | Memory::Lanes(v) | Memory::Tree(v) => {
                facts::elem(self.unit.program, v)
            }
            Memory::Register(_) | Memory::Buffer(_) => self.tile.operand_shape(value).ty,
        }
    }

    pub(super) fn compress(&mut self, into: Memory, at: Operand, value: Operand, under: Operand) {
        let data = match into {
            Memory::Array(a) => self.unit.array(a),
            Memory::Lanes(v) => self.unit.names.facet(v, Facet::Lanes).to_string(),
            Memory::Tree(v) => self.unit.names.facet(v, Facet::Tree).to_string(),
            Memory::Register(v) => self.name(v),
            Memory::Buffer(v) => self.whole(v).to_string(),
        };
        let (index, ty) = (self.operand(at), self.memory_type(into, value));
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
            let (pack, int) = Width(widest).pack(helpers, ty.size());
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

/// The type of an element in memory: truth takes a byte there.
fn cell(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => Ty::U8.name(),
        ty => ty.name(),
    }
}
