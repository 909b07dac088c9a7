//! Masks: comparisons, choices by a mask, bits.
//!
//! A mask is a vector of integers as wide as the tile's widest element, all bits alike, or, where the target keeps
//! masks in registers of their own, an integer with a bit for each lane. gcc has builtins for the latter; clang makes
//! the same of plain vectors.

use super::Writer;
use super::builtins::{blend_builtin, compare_builtin};
use super::pack::{Width, signed};
use livefusion_tile::ir::{Operand, Shape, StmtKind, Tile, Value};
use livefusion_tile::target::{self, Target};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// What is at most so much, and some lanes more, fits into two bytes.
const NEAR: u64 = 1 << 13;

/// How a tile's masks are kept.
#[derive(Clone, Copy)]
pub(super) struct Masks {
    /// Lanes of the tile's vectors.
    pub lanes: u32,
    /// Bytes of the widest element that a vector has.
    pub bytes: usize,
    /// Whether as bits.
    pub registers: bool,
}

impl Writer<'_, '_, '_> {
    /// The type of masks.
    pub(super) fn mask(&mut self) -> String {
        if !self.masks.registers {
            let shape = Shape::of(signed(self.masks.bytes), self.masks.lanes);
            return self.vector(shape);
        }
        self.bit_type().to_string()
    }

    /// An integer with a bit for each lane.
    fn bit_type(&self) -> &'static str {
        match self.masks.lanes {
            ..=8 => "u8",
            9..=16 => "u16",
            17..=32 => "u32",
            _ => "u64",
        }
    }

    /// All bits that lanes have.
    pub(super) fn full(&self) -> String {
        match self.masks.lanes {
            64.. => "~0ul".to_string(),
            lanes => format!("{:#x}", (1u64 << lanes) - 1),
        }
    }

    /// The mask that is a scalar truth in all lanes.
    pub(super) fn all_or_none(&mut self, truth: &str) -> String {
        let mask = self.mask();
        match self.masks.registers {
            true => format!("({mask})(({truth}) ? {} : 0)", self.full()),
            false => {
                let ty = signed(self.masks.bytes);
                let all = self.all(Shape::of(ty, self.masks.lanes));
                format!("{all}(-({}){truth})", ty.name())
            }
        }
    }

    pub(super) fn not_mask(&mut self, m: &str) -> String {
        let mask = self.mask();
        match self.masks.registers {
            true => format!("({mask})(~{m} & {})", self.full()),
            false => format!("~{m}"),
        }
    }

    /// Bits that a mask lacks, in the end of an expression.
    pub(super) fn lacks(&mut self, m: &str) -> String {
        match self.masks.registers {
            true => format!("{m} ^ {}", self.full()),
            false => format!("{} ^ {}", self.bits(m), self.full()),
        }
    }

    /// `x` where the mask is set, zero elsewhere.
    pub(super) fn only(&mut self, ty: Ty, m: &str, x: &str) -> String {
        let v = self.vector(Shape::of(ty, self.masks.lanes));
        if self.masks.registers || ty.size() != self.masks.bytes {
            return self.select(ty, m, x, &format!("({v}){{0}}"));
        }
        let mask = self.mask();
        format!("({v})(({mask}){x} & {m})")
    }

    /// Operators on truth, lane by lane.
    pub(super) fn mask_op(&mut self, op: Op, a: &str, b: &str) -> Option<String> {
        let (na, nb) = (self.not_mask(a), self.not_mask(b));
        let mask = self.mask();
        let text = match op {
            Op::And => format!("{a} & {b}"),
            Op::Or => format!("{a} | {b}"),
            Op::Xor | Op::Ne => format!("{a} ^ {b}"),
            Op::Eq => return Some(self.not_mask(&format!("({a} ^ {b})"))),
            Op::Lt => format!("{na} & {b}"),
            Op::Le => format!("{na} | {b}"),
            Op::Gt => format!("{a} & {nb}"),
            Op::Ge => format!("{a} | {nb}"),
            Op::Not => return Some(na),
            Op::Copy => return Some(a.to_string()),
            _ => return None,
        };
        Some(match self.masks.registers {
            true => format!("({mask})({text})"),
            false => text,
        })
    }

    /// A comparison of vectors.
    pub(super) fn compare(&mut self, op: Op, ty: Ty, a: &str, b: &str) -> String {
        let sign = match op {
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Gt => ">",
            _ => ">=",
        };
        let lanes = self.masks.lanes;
        let mask = self.mask();
        let own = self.vector(Shape::of(signed(ty.size()), lanes));
        if !self.masks.registers {
            return match ty.size() == self.masks.bytes {
                true => format!("({mask})({a} {sign} {b})"),
                false => format!("__builtin_convertvector(({own})({a} {sign} {b}), {mask})"),
            };
        }
        let v = self.vector(Shape::of(ty, lanes));
        let name = format!("lf_{}_{v}", op.name());
        let builtin = compare_builtin(op, ty, lanes);
        let bits = self.bits_of_vector(signed(ty.size()), &format!("({own})(x {sign} y)"));
        self.unit.helpers.require(&name, || {
            let body = match builtin {
                Some(builtin) => {
                    format!("\n#ifndef __clang__\n  return {builtin};\n#else\n  {bits}\n#endif\n")
                }
                None => format!(" {bits} "),
            };
            format!("static inline {mask} {name}({v} x, {v} y) {{{body}}}\n")
        });
        format!("{name}({a}, {b})")
    }

    /// Statements that return the bits of a vector of truth, one lane after the other.
    fn bits_of_vector(&mut self, ty: Ty, vector: &str) -> String {
        let v = self.vector(Shape::of(ty, self.masks.lanes));
        let bits = self.bit_type();
        format!(
            "const {v} t = {vector}; u64 bits = 0; \
             for (u64 k = 0; k < {}; k++) bits |= (u64)(t[k] & 1) << k; return ({bits})bits;",
            self.masks.lanes
        )
    }

    /// `x` where the mask is set, `y` elsewhere.
    pub(super) fn select(&mut self, ty: Ty, m: &str, x: &str, y: &str) -> String {
        let (lanes, mask) = (self.masks.lanes, self.mask());
        if ty == Ty::Bool {
            let not = self.not_mask(m);
            return match self.masks.registers {
                true => format!("({mask})(({m} & {x}) | ({not} & {y}))"),
                false => format!("(({m} & {x}) | (~{m} & {y}))"),
            };
        }
        let v = self.vector(Shape::of(ty, lanes));
        let own = self.vector(Shape::of(signed(ty.size()), lanes));
        let name = format!(
            "lf_pick{}_{v}",
            if self.masks.registers { "" } else { "_v" }
        );
        let name = format!("{name}_{}", self.masks.bytes);
        if self.masks.registers {
            let builtin = blend_builtin(ty, lanes);
            self.unit.helpers.require(&name, || {
                let plain = format!(
                    "{own} s; for (u64 k = 0; k < {lanes}; k++) s[k] = -(m >> k & 1); \
                     return ({v})((s & ({own})x) | (~s & ({own})y));"
                );
                let body = match builtin {
                    Some((builtin, of, bits)) => format!(
                        "\n#ifndef __clang__\n  typedef {of} lf_e __attribute__((vector_size({})));\n  \
                         return ({v}){builtin}((lf_e)y, (lf_e)x, ({bits})m);\n#else\n  {plain}\n#endif\n",
                        lanes as usize * ty.size()
                    ),
                    None => format!(" {plain} "),
                };
                format!("static inline {v} {name}({mask} m, {v} x, {v} y) {{{body}}}\n")
            });
            return format!("{name}({m}, {x}, {y})");
        }
        let narrow = match self.masks.bytes / ty.size() {
            1 => "m".to_string(),
            apart => self.every(ty, apart as u32),
        };
        let bytes = lanes as usize * ty.size();
        let blend = match (self.unit.helpers.target.vector_bytes(), bytes) {
            (32, 16) => Some("__builtin_ia32_pblendvb128"),
            (32, 32) => Some("__builtin_ia32_pblendvb256"),
            _ => None,
        };
        self.unit.helpers.require(&name, || {
            let body = match blend {
                Some(blend) => format!(
                    "typedef char lf_c __attribute__((vector_size({bytes}))); const {own} s = {narrow}; \
                     return ({v}){blend}((lf_c)y, (lf_c)x, (lf_c)s);"
                ),
                None => format!(
                    "const {own} s = {narrow}; return ({v})((s & ({own})x) | (~s & ({own})y));"
                ),
            };
            format!("static inline {v} {name}({mask} m, {v} x, {v} y) {{ {body} }}\n")
        });
        format!("{name}({m}, {x}, {y})")
    }

    /// A mask `m` for narrower elements: all bits of a lane are alike, so that a part of each is enough. Compilers make
    /// less of a conversion.
    fn every(&mut self, ty: Ty, apart: u32) -> String {
        let lanes = self.masks.lanes;
        let narrow = self.vector(Shape::of(signed(ty.size()), lanes * apart));
        let places: Vec<String> = (0..lanes).map(|k| (k * apart).to_string()).collect();
        let places = places.join(", ");
        format!("__builtin_shufflevector(({narrow})m, ({narrow})m, {places})")
    }

    /// Set in the lanes that are below an end.
    pub(super) fn until(&mut self, to: Value, at: Operand, end: Operand) {
        let (lanes, before) = (self.shape(to).lanes, self.before());
        let near = self.masks.bytes > 1 && self.is_near(at);
        let (at, end) = (self.operand(at), self.operand(end));
        if lanes == 1 {
            return self.define(to, &format!("{at} < {end}"));
        }
        // As wide as what the mask is for.
        let ty = signed(self.masks.bytes);
        let shape = Shape::of(ty, lanes);
        let (all, positions) = (self.all(shape), self.positions(shape));
        let t = ty.name();
        let (first, end) = match near {
            // All vectors of a turn are held against the same end.
            true => (
                format!("({all}(({t})({at}{before})) + {positions}())"),
                format!("lf_least({end}, {})", 2 * NEAR),
            ),
            false => (
                format!("{positions}()"),
                format!("lf_least(lf_capacity({end}, {at}{before}), {lanes})"),
            ),
        };
        let text = self.compare(Op::Lt, ty, &first, &format!("{all}(({t}){end})"));
        self.define(to, &text);
    }

    /// Whether an operand is a literal, or the counter of a loop between literals, that two bytes hold.
    fn is_near(&self, a: Operand) -> bool {
        let near = |a: &Operand| matches!(a, Operand::Const(c) if c.bits <= NEAR);
        let mut is_near = near(&a);
        self.tile.each_stmt(&mut |s| {
            if let StmtKind::For { counter, to, .. } = &s.kind {
                is_near |= a == Operand::Value(*counter) && near(to);
            }
        });
        is_near
    }

    /// The bits of a mask, the first lane lowest.
    pub(super) fn bits(&mut self, m: &str) -> String {
        if self.masks.registers {
            return self.bits_of_register(m);
        }
        let Masks { lanes, bytes, .. } = self.masks;
        let target = self.unit.helpers.target.vector_bytes();
        if lanes as usize * bytes == target {
            let bits = Width(bytes).bits(self.unit.helpers);
            return format!("{bits}({m})");
        }
        let mask = self.mask();
        let name = format!("lf_bits_of_{mask}");
        self.unit.helpers.require(&name, || {
            format!(
                "static inline u64 {name}({mask} m) {{ u64 bits = 0; \
                 for (u64 k = 0; k < {lanes}; k++) bits |= (u64)(m[k] & 1) << k; return bits; }}\n"
            )
        });
        format!("{name}({m})")
    }

    /// The bits of a mask in a register of its own.
    ///
    /// gcc 12 makes words of them there, and where registers run out keeps a word in memory by the instruction for as
    /// many bits as the mask has: what it reads again has whatever was there behind them. So they go through another
    /// register.
    fn bits_of_register(&mut self, m: &str) -> String {
        let mask = self.bit_type();
        if mask == "u64" {
            return m.to_string();
        }
        let name = format!("lf_bits_of_{mask}");
        self.unit.helpers.require(&name, || {
            format!(
                "static inline u64 {name}({mask} m) {{ u32 bits = m; __asm__(\"\" : \"+r\"(bits)); return bits; }}\n"
            )
        });
        format!("{name}({m})")
    }

    /// The bits of an operand: a scalar has one.
    pub(super) fn bits_of(&mut self, m: Operand) -> String {
        let text = self.operand(m);
        match self.operand_shape(m).is_scalar() {
            true => format!("(u64)({text})"),
            false => self.bits(&text),
        }
    }

    /// The bits of each part of an operand.
    pub(super) fn bits_of_parts(&mut self, m: Operand) -> Vec<String> {
        let parts = 0..self.parts(self.tile.operand_shape(m).lanes);
        let all = parts.map(|part| {
            self.part = part;
            self.bits_of(m)
        });
        let all = all.collect();
        self.part = 0;
        all
    }

    /// Bits that are zero if no lane of any part is set.
    pub(super) fn any_of_parts(&mut self, m: Operand) -> String {
        if self.operand_shape(m).is_scalar() {
            return self.bits_of(m);
        }
        let parts = 0..self.parts(self.tile.operand_shape(m).lanes);
        let all: Vec<String> = parts
            .map(|part| {
                self.part = part;
                self.operand(m)
            })
            .collect();
        self.part = 0;
        let joined = all.join(" | ");
        self.bits(&format!("({joined})"))
    }

    /// The mask of bytes that are 0 or 1.
    pub(super) fn mask_of_bytes(&mut self, bytes: &str) -> String {
        let (mask, lanes) = (self.mask(), self.masks.lanes);
        if !self.masks.registers {
            return format!("-__builtin_convertvector({bytes}, {mask})");
        }
        let v = self.vector(Shape::of(Ty::U8, lanes));
        let name = format!("lf_mask_of_{v}");
        self.unit.helpers.require(&name, || {
            let each = match lanes {
                ..8 => format!("for (u64 k = 0; k < {lanes}; k++) bits |= (u64)x[k] << k;"),
                // A product brings eight bytes of one bit into one.
                _ => format!(
                    "for (u64 k = 0; k < {lanes}; k += 8) {{ u64 some; \
                     __builtin_memcpy(&some, (const u8 *)&x + k, 8); \
                     bits |= some * 0x102040810204080u >> 56 << k; }}"
                ),
            };
            format!(
                "static inline {mask} {name}({v} x) {{ u64 bits = 0; {each} return ({mask})bits; }}\n"
            )
        });
        format!("{name}({bytes})")
    }

    /// A mask as bytes that are 0 or 1.
    pub(super) fn bytes_of_mask(&mut self, m: &str) -> String {
        let lanes = self.masks.lanes;
        let v = self.vector(Shape::of(Ty::U8, lanes));
        if !self.masks.registers {
            return format!("__builtin_convertvector(-({m}), {v})");
        }
        let mask = self.mask();
        let name = format!("lf_bytes_of_{mask}x{lanes}");
        self.unit.helpers.require(&name, || {
            let each = match lanes {
                ..8 => format!("for (u64 k = 0; k < {lanes}; k++) x[k] = m >> k & 1;"),
                // Each of eight bytes has its own bit, and is 1 if that is set.
                _ => format!(
                    "for (u64 k = 0; k < {lanes}; k += 8) {{ \
                     u64 some = ((u64)m >> k & 0xff) * 0x101010101010101u & 0x8040201008040201u; \
                     some = (some + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x101010101010101u; \
                     __builtin_memcpy((u8 *)&x + k, &some, 8); }}"
                ),
            };
            format!("static inline {v} {name}({mask} m) {{ {v} x; {each} return x; }}\n")
        });
        format!("{name}({m})")
    }
}

impl Masks {
    /// How masks are kept in a tile for a target.
    pub(super) fn of(tile: &Tile, target: &Target) -> Masks {
        let (lanes, mut widest) = (tile.lanes(), 1);
        tile.each_stmt(&mut |s| {
            let mut see = |shape: Shape| {
                if !shape.is_scalar() && shape.ty != Ty::Bool {
                    widest = widest.max(shape.ty.size());
                }
            };
            s.kind.each_operand(&mut |a| see(tile.operand_shape(a)));
            if let Some(to) = s
                .kind
                .target()
                .filter(|_| !matches!(s.kind, StmtKind::For { .. }))
            {
                see(tile.shape(to));
            }
        });
        let fit = (target.vector_bytes() / widest).max(2) as u32;
        Masks {
            lanes: lanes.min(fit),
            bytes: widest,
            registers: target.masks() == target::Masks::Registers,
        }
    }
}
