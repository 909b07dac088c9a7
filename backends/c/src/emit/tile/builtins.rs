//! gcc's builtins for masks in registers of their own.

use loop_lang::op::Op;
use loop_lang::types::Ty;

/// gcc's comparison of vectors of 16 to 64 bytes into bits.
pub(super) fn compare_builtin(op: Op, ty: Ty, lanes: u32) -> Option<String> {
    let bytes = lanes as usize * ty.size();
    if !matches!(bytes, 16 | 32 | 64) {
        return None;
    }
    // The predicates of the instruction; of floats ordered and quiet ones, but for `!=`.
    let predicate = match (op, ty.is_float()) {
        (Op::Eq, _) => 0,
        (Op::Lt, true) => 17,
        (Op::Le, true) => 18,
        (Op::Ne, _) => 4,
        (Op::Ge, true) => 29,
        (Op::Gt, true) => 30,
        (Op::Lt, false) => 1,
        (Op::Le, false) => 2,
        (Op::Ge, false) => 5,
        _ => 6,
    };
    let (letter, of) = match ty {
        Ty::F64 => ("pd", "double"),
        Ty::F32 => ("ps", "float"),
        Ty::I64 | Ty::U64 => ("q", "long long"),
        Ty::I32 | Ty::U32 => ("d", "int"),
        Ty::I16 | Ty::U16 => ("w", "short"),
        Ty::I8 | Ty::U8 | Ty::Bool => ("b", "char"),
    };
    let unsigned = if ty.is_float() || ty.is_signed() {
        ""
    } else {
        "u"
    };
    let name = format!("__builtin_ia32_{unsigned}cmp{letter}{}_mask", 8 * bytes);
    // All lanes are asked for; 4 is the current rounding.
    let rounding = if ty.is_float() && bytes == 64 {
        ", 4"
    } else {
        ""
    };
    let element = format!("{of} __attribute__((vector_size({bytes})))");
    let cast = format!("(__typeof__({element}))");
    Some(format!(
        "{name}({cast}x, {cast}y, {predicate}, -1{rounding})"
    ))
}

/// gcc's choice between vectors of 16 to 64 bytes by bits: its name, the type of its elements, that of its bits.
pub(super) fn blend_builtin(ty: Ty, lanes: u32) -> Option<(String, &'static str, &'static str)> {
    let bytes = lanes as usize * ty.size();
    if !matches!(bytes, 16 | 32 | 64) {
        return None;
    }
    let (letter, of) = match ty {
        Ty::F64 => ("pd", "double"),
        Ty::F32 => ("ps", "float"),
        Ty::I64 | Ty::U64 => ("q", "long long"),
        Ty::I32 | Ty::U32 => ("d", "int"),
        Ty::I16 | Ty::U16 => ("w", "short"),
        Ty::I8 | Ty::U8 | Ty::Bool => ("b", "char"),
    };
    let name = format!("__builtin_ia32_blendm{letter}_{}_mask", 8 * bytes);
    Some((name, of, bits(lanes)))
}

/// gcc's load of the elements whose bits are set, into vectors of 16 to 64 bytes: its name, the type of its elements, that of its
/// bits.
pub(super) fn load_builtin(ty: Ty, lanes: u32) -> Option<(String, &'static str, &'static str)> {
    let bytes = lanes as usize * ty.size();
    if !matches!(bytes, 16 | 32 | 64) {
        return None;
    }
    let (letter, of) = match ty.size() {
        8 => ("di", "long long"),
        4 => ("si", "int"),
        2 => ("hi", "short"),
        _ => ("qi", "char"),
    };
    let name = format!("__builtin_ia32_loaddqu{letter}{}_mask", 8 * bytes);
    Some((name, of, bits(lanes)))
}

/// The type of the bits of so many lanes.
fn bits(lanes: u32) -> &'static str {
    match lanes {
        ..=8 => "u8",
        9..=16 => "u16",
        17..=32 => "u32",
        _ => "u64",
    }
}
