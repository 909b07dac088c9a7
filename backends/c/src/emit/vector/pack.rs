//! Vector types, masks as bits, and packing: the elements under a mask moved together and stored.

use crate::emit::ops::Helpers;
use livefusion_tile::target::{Arch, Extension, Target};
use loop_lang::types::Ty;

/// The vectors of a loop whose widest element has so many bytes.
#[derive(Clone, Copy)]
pub struct Width(pub usize);

impl Width {
    /// Elements in a vector: as many as fill a register.
    pub fn elements(self, helpers: &Helpers) -> usize {
        helpers.target.vector_bytes() / self.0
    }

    /// The type of a vector of elements.
    pub fn vector(self, helpers: &mut Helpers, ty: Ty) -> String {
        let (bytes, t) = (self.elements(helpers) * ty.size(), ty.name());
        let name = format!("lf_{}{t}", self.0);
        helpers.require(&name, || {
            format!(
                "typedef {t} {name} __attribute__((vector_size({bytes})));\n\
                 typedef {name} {name}_at __attribute__((aligned({}), may_alias));\n",
                ty.size()
            )
        });
        name
    }

    /// The type of masks.
    pub fn mask(self, helpers: &mut Helpers) -> String {
        self.vector(helpers, signed(self.0))
    }

    /// A function from a mask to its bits, first element lowest.
    pub fn bits(self, helpers: &mut Helpers) -> String {
        let (mask, n, m) = (self.mask(helpers), self.elements(helpers), self.0);
        let name = format!("lf_bits_{m}");
        let x86 = helpers.target.arch() == Arch::X86_64;
        // Builtins with their operands' types; pairs of bytes have no instruction of their own.
        let (element, bytes, test) = match (helpers.target.vector_bytes(), m) {
            (64, 8) => ("long long", 64, "cvtq2mask512"),
            (64, 4) => ("int", 64, "cvtd2mask512"),
            (64, 2) => ("short", 64, "cvtw2mask512"),
            (64, _) => ("char", 64, "cvtb2mask512"),
            (32, 8) => ("double", 32, "movmskpd256"),
            (32, 4) => ("float", 32, "movmskps256"),
            (32, 2) => ("char", 16, "pmovmskb128"),
            (32, _) => ("char", 32, "pmovmskb256"),
            (16, 8) if x86 => ("double", 16, "movmskpd"),
            (16, 4) if x86 => ("float", 16, "movmskps"),
            (16, 1) if x86 => ("char", 16, "pmovmskb128"),
            _ => ("", 0, ""),
        };
        let operand = match (bytes, m) {
            (16, 2) => "__builtin_convertvector(m, lf_b)",
            _ => "(lf_b)m",
        };
        // A builtin's own result may be signed.
        let unsigned = if m == 1 { "(u32)" } else { "(u64)" };
        let sign = if bytes == 64 { "" } else { unsigned };
        let body = match bytes {
            0 => format!(
                "  u64 bits = 0;\n  \
                 for (u64 k = 0; k < {n}; k++) bits |= (u64)(m[k] & 1) << k;\n  return bits;\n"
            ),
            _ => format!(
                "  typedef {element} lf_b __attribute__((vector_size({bytes})));\n  \
                 return {sign}__builtin_ia32_{test}({operand});\n"
            ),
        };
        helpers.require(&name, || {
            format!("static inline u64 {name}({mask} m) {{\n{body}}}\n")
        });
        name
    }

    /// A function that stores the elements under a mask, packed, and something behind them: as many
    /// elements as a vector has. The operands are unsigned integers of the elements' size.
    pub fn pack(self, helpers: &mut Helpers, size: usize) -> (String, String) {
        let int = unsigned(size);
        let (v, n, m) = (self.vector(helpers, int), self.elements(helpers), self.0);
        let name = format!("lf_pack_{m}_{size}");
        let instruction = match helpers.target.vector_bytes() {
            64 => wide(&helpers.target, m, size, &v),
            32 => half(m, size, &v),
            _ => None,
        };
        if instruction.is_some() && helpers.target.vector_bytes() == 32 {
            match size {
                8 => helpers.require("lf_order_8", order_8),
                _ => helpers.require("lf_order", order),
            }
        }
        let each =
            || format!("  for (u64 k = 0; k < {n}; k++) {{ *p = x[k]; p += bits >> k & 1; }}\n");
        let (t, body) = (int.name(), instruction.unwrap_or_else(each));
        helpers.require(&name, || {
            format!("static inline void {name}({t} *p, {v} x, u64 bits) {{\n{body}}}\n")
        });
        (name, v)
    }
}

/// Packing with AVX-512, if it has an instruction for it.
fn wide(target: &Target, m: usize, size: usize, v: &str) -> Option<String> {
    let bytes = 64 * size / m;
    if bytes < 16 || size < 4 && !target.has(Extension::Avx512vbmi2) {
        return None;
    }
    let (letter, c) = match size {
        8 => ("d", "long long"),
        4 => ("s", "int"),
        2 => ("h", "short"),
        _ => ("q", "char"),
    };
    let bits = bytes * 8;
    // Zen 5 waits for what the register held that is packed into, though all of it is written. So it is packed onto a
    // zero that the compiler does not know to be one, and which has nothing to wait for.
    Some(format!(
        "  typedef {c} lf_p __attribute__((vector_size({bytes})));\n  \
         lf_p zero = {{0}};\n  \
         __asm__(\"\" : \"+v\"(zero));\n  \
         *({v}_at *)p = ({v})__builtin_ia32_compress{letter}i{bits}_mask((lf_p)x, zero, bits);\n"
    ))
}

/// Packing with AVX2: a permutation from a table, for groups of elements.
fn half(m: usize, size: usize, v: &str) -> Option<String> {
    let body = match (size, 32 / m) {
        (8, _) => format!(
            "  *({v}_at *)p = ({v})__builtin_ia32_permvarsi256((lf_8)x, *(const lf_8 *)lf_order_8[bits]);\n"
        ),
        (4, 8) => format!(
            // gcc 12 widens byte by byte unless it is told of the instruction.
            "#ifdef __clang__\n  \
             typedef u8 lf_b8 __attribute__((vector_size(8)));\n  \
             const lf_8 order = __builtin_convertvector(*(const lf_b8 *)(lf_order + bits), lf_8);\n\
             #else\n  \
             typedef char lf_c16 __attribute__((vector_size(16)));\n  \
             typedef long long lf_l2 __attribute__((vector_size(16)));\n  \
             const lf_l2 bytes = {{ lf_order[bits] }};\n  \
             const lf_8 order = (lf_8)__builtin_ia32_pmovzxbd256((lf_c16)bytes);\n\
             #endif\n  \
             *({v}_at *)p = ({v})__builtin_ia32_permvarsi256((lf_8)x, order);\n"
        ),
        (4, _) => format!(
            "  const lf_4 order = __builtin_convertvector(*(const lf_b4 *)(lf_order + bits), lf_4);\n  \
             *({v}_at *)p = ({v})__builtin_ia32_vpermilvarps((lf_f4)x, order);\n"
        ),
        (2, 8 | 16) => "  \
             union { typeof(x) x; lf_c16 part[LF_GROUPS]; } from = { x };\n  \
             for (u64 g = 0; g < LF_GROUPS; g++) {\n    \
             const u64 some = bits >> 8 * g & 255;\n    \
             const lf_s8 order = __builtin_convertvector(*(const lf_b8 *)(lf_order + some), lf_s8) * 514 + 256;\n    \
             *(lf_c16_at *)p = (lf_c16)__builtin_ia32_pshufb128(from.part[g], (lf_c16)order);\n    \
             p += __builtin_popcountl(some);\n  }\n"
            .replace("LF_GROUPS", &(32 / m / 8).to_string()),
        (1, 8 | 16 | 32) => "  \
             union { typeof(x) x; u64 part[LF_GROUPS]; } from = { x };\n  \
             for (u64 g = 0; g < LF_GROUPS; g++) {\n    \
             const u64 some = bits >> 8 * g & 255;\n    \
             const lf_l2 order = { lf_order[some] }, part = { from.part[g] };\n    \
             *(lf_u64_at *)p = ((lf_l2)__builtin_ia32_pshufb128((lf_c16)part, (lf_c16)order))[0];\n    \
             p += __builtin_popcountl(some);\n  }\n"
            .replace("LF_GROUPS", &(32 / m / 8).to_string()),
        _ => return None,
    };
    let types: &[(&str, &str, usize)] = match (size, 32 / m) {
        (8, _) => &[("lf_8", "int", 32)],
        (4, 8) => &[("lf_8", "int", 32)],
        (4, _) => &[
            ("lf_4", "int", 16),
            ("lf_b4", "u8", 4),
            ("lf_f4", "float", 16),
        ],
        (2, _) => &[
            ("lf_c16", "char", 16),
            ("lf_s8", "short", 16),
            ("lf_b8", "u8", 8),
        ],
        _ => &[("lf_c16", "char", 16), ("lf_l2", "long long", 16)],
    };
    let mut text = String::new();
    for (name, element, bytes) in types {
        text += &format!("  typedef {element} {name} __attribute__((vector_size({bytes})));\n");
    }
    match size {
        2 => text += "  typedef lf_c16 lf_c16_at __attribute__((aligned(1), may_alias));\n",
        1 => text += "  typedef u64 lf_u64_at __attribute__((aligned(1), may_alias));\n",
        _ => {}
    }
    Some(text + &body)
}

/// The positions of set bits, for each byte: eight positions in a word.
fn order() -> String {
    let words = (0..256u64).map(|bits| {
        let set = (0..8).filter(|k| bits >> k & 1 == 1);
        let word = set.enumerate().fold(0u64, |w, (at, k)| w | k << (8 * at));
        format!("{word:#x}")
    });
    let words: Vec<String> = words.collect();
    format!(
        "static const u64 lf_order[256] = {{{}}};\n",
        words.join(",")
    )
}

/// The same for four bits and elements of two words.
fn order_8() -> String {
    let rows = (0..16u32).map(|bits| {
        let set = (0..4).filter(|k| bits >> k & 1 == 1);
        let words: Vec<String> = set.map(|k| format!("{},{}", 2 * k, 2 * k + 1)).collect();
        format!(
            "{{{}}}",
            if words.is_empty() {
                "0".into()
            } else {
                words.join(",")
            }
        )
    });
    let rows: Vec<String> = rows.collect();
    format!(
        "static const i32 lf_order_8[16][8] __attribute__((aligned(32))) = {{{}}};\n",
        rows.join(",")
    )
}

/// The signed integer of so many bytes.
pub fn signed(size: usize) -> Ty {
    match size {
        1 => Ty::I8,
        2 => Ty::I16,
        4 => Ty::I32,
        _ => Ty::I64,
    }
}

/// The unsigned integer of so many bytes.
pub fn unsigned(size: usize) -> Ty {
    match size {
        1 => Ty::U8,
        2 => Ty::U16,
        4 => Ty::U32,
        _ => Ty::U64,
    }
}
