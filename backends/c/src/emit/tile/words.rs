//! Products of words of 64 bits of which the upper halves are zero: one quick instruction, where a product of whole words is a slow one
//! or several. gcc does not see that the halves are zero.

use super::Writer;
use livefusion_tile::ir::{Operand, Origin, Shape, Value};
use livefusion_tile::target::Arch;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Writer<'_, '_, '_> {
    /// Notes whether the upper half of a word that an operator gives is zero.
    pub(super) fn note_half(&mut self, to: Value, op: Op, args: &[Operand]) {
        if self.shape(to).ty != Ty::U64 {
            return;
        }
        let word = match (op, args) {
            (Op::And, [word, mask] | [mask, word]) if is_lower_half(*mask) && self.stays(*word) => {
                *word
            }
            (Op::And, [a, b]) if is_half(*a) || is_half(*b) => to.into(),
            (Op::Shr, [_, Operand::Const(n)]) if (32..64).contains(&n.bits) => to.into(),
            _ => return,
        };
        self.halves.insert(to, word);
    }

    /// Whether nothing sets an operand anew, so that it is what it was.
    fn stays(&self, a: Operand) -> bool {
        let origin = |v: Value| self.tile.value(v).origin;
        a.value()
            .is_none_or(|v| matches!(origin(v), Origin::Let | Origin::Given(_)))
    }

    /// What has the same lower half as an operand of which the upper one is zero.
    fn lower_half(&self, a: Operand) -> Option<Operand> {
        match a {
            Operand::Const(_) => is_half(a).then_some(a),
            Operand::Value(v) => self.halves.get(&v).copied(),
        }
    }

    /// A product of words as an expression on vectors, if the upper halves are zero and there is an instruction for it.
    pub(super) fn half_product(&mut self, own: Shape, op: Op, args: &[Operand]) -> Option<String> {
        let [a, b] = *args else {
            return None;
        };
        let target = &self.unit.helpers.target;
        let bytes = own.lanes as usize * own.ty.size();
        let fits = target.arch() == Arch::X86_64 && bytes <= target.vector_bytes();
        if !fits || op != Op::Mul || own.ty != Ty::U64 {
            return None;
        }
        // The instruction takes lower halves: nothing has to be cut off for it.
        let of = [self.lower_half(a)?, self.lower_half(b)?];
        let builtin = match bytes {
            16 => "__builtin_ia32_pmuludq128((lf_int)x, (lf_int)y)",
            32 => "__builtin_ia32_pmuludq256((lf_int)x, (lf_int)y)",
            64 => {
                "__builtin_ia32_pmuludq512_mask((lf_int)x, (lf_int)y, (__typeof__(long long __attribute__((vector_size(64)))))x, -1)"
            }
            _ => return None,
        };
        let v = self.vector(own);
        let name = format!("{v}_half_product");
        let low = format!("{}({}ul)", self.all(own), u32::MAX);
        // clang sees it, and has no builtin of that name.
        self.unit.helpers.require(&name, || {
            format!(
                "static inline {v} {name}({v} x, {v} y) {{\n\
                 #ifndef __clang__\n  \
                 typedef int lf_int __attribute__((vector_size({bytes})));\n  \
                 return ({v}){builtin};\n\
                 #else\n  \
                 return (x & {low}) * (y & {low});\n\
                 #endif\n}}\n"
            )
        });
        let [a, b] = of.map(|x| self.in_lanes(x, own.lanes));
        Some(format!("{name}({a}, {b})"))
    }
}

fn is_half(a: Operand) -> bool {
    matches!(a, Operand::Const(c) if c.ty == Ty::U64 && u32::try_from(c.bits).is_ok())
}

fn is_lower_half(mask: Operand) -> bool {
    mask == Operand::Const(Const::u64(u32::MAX.into()))
}
