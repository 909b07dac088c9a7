//! Products of words of 64 bits of which the upper halves are zero: one quick instruction, where a product of whole words is a slow one
//! or several. gcc does not see that the halves are zero.

use super::Writer;
use livefusion_tile::ir::{Operand, Shape, Value};
use livefusion_tile::target::Arch;
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Writer<'_, '_, '_> {
    /// Notes whether the upper half of a word that an operator gives is zero.
    pub(super) fn note_half(&mut self, to: Value, op: Op, args: &[Operand]) {
        let is_half = match (op, args) {
            (Op::And, [a, b]) => is_half_literal(*a) || is_half_literal(*b),
            (Op::Shr, [_, Operand::Const(n)]) => (32..64).contains(&n.bits),
            _ => false,
        };
        if !is_half || self.shape(to).ty != Ty::U64 {
            return;
        }
        self.halves.insert(to);
        let lower = |a: &Operand| matches!(a, Operand::Const(c) if c.bits == u64::from(u32::MAX));
        match (op, args) {
            (Op::And, [word, mask]) | (Op::And, [mask, word]) if lower(mask) => {
                self.words.insert(to, *word);
            }
            _ => {}
        }
    }

    fn is_half(&self, a: Operand) -> bool {
        is_half_literal(a) || a.value().is_some_and(|v| self.halves.contains(&v))
    }

    /// A product of words as an expression on vectors, if the upper halves are zero and there is an instruction for it.
    pub(super) fn half_product(&mut self, own: Shape, op: Op, args: &[Operand]) -> Option<String> {
        let [a, b] = *args else {
            return None;
        };
        let target = &self.unit.helpers.target;
        let bytes = own.lanes as usize * own.ty.size();
        let fits = target.arch() == Arch::X86_64 && bytes <= target.vector_bytes();
        let halves = op == Op::Mul && own.ty == Ty::U64 && self.is_half(a) && self.is_half(b);
        if !fits || !halves {
            return None;
        }
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
        // The instruction takes the lower halves: nothing has to be cut off for it.
        let word = |x: Operand| x.value().and_then(|v| self.words.get(&v).copied());
        let [a, b] = [a, b].map(|x| word(x).unwrap_or(x));
        let [a, b] = [a, b].map(|x| self.in_lanes(x, own.lanes));
        Some(format!("{name}({a}, {b})"))
    }
}

fn is_half_literal(a: Operand) -> bool {
    matches!(a, Operand::Const(c) if c.ty == Ty::U64 && u32::try_from(c.bits).is_ok())
}
