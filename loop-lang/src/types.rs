//! Scalar types and constants of the Loop language.

use std::fmt;

/// A scalar type. Index arithmetic uses `U64`; `isize` and `usize` of the host are `I64` and `U64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
#[allow(
    missing_docs,
    reason = "each variant is the Rust type of the same name"
)]
pub enum Ty {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Ty {
    /// Every scalar type, in declaration order.
    pub const ALL: [Ty; 11] = [
        Ty::Bool,
        Ty::I8,
        Ty::I16,
        Ty::I32,
        Ty::I64,
        Ty::U8,
        Ty::U16,
        Ty::U32,
        Ty::U64,
        Ty::F32,
        Ty::F64,
    ];

    /// The name in the text form: `bool`, `i8`, ..., `f64`.
    pub fn name(self) -> &'static str {
        match self {
            Ty::Bool => "bool",
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::U8 => "u8",
            Ty::U16 => "u16",
            Ty::U32 => "u32",
            Ty::U64 => "u64",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        }
    }

    /// The type with the given text name.
    pub fn from_name(name: &str) -> Option<Ty> {
        Ty::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Bytes that one element takes in an array. A `bool` is one byte, 0 or 1.
    pub fn size(self) -> usize {
        match self {
            Ty::Bool | Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 => 2,
            Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 => 8,
        }
    }

    /// Bits of an integer type's value (1 for `bool`).
    pub fn bits(self) -> u32 {
        if self == Ty::Bool {
            1
        } else {
            self.size() as u32 * 8
        }
    }

    /// `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// A signed or unsigned integer; not `bool`.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Ty::Bool
    }

    /// A signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }

    /// An unsigned integer; not `bool`.
    pub fn is_unsigned(self) -> bool {
        self.is_int() && !self.is_signed()
    }

    /// An integer or a float.
    pub fn is_num(self) -> bool {
        self != Ty::Bool
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A scalar constant: a type and its *canonical word*.
///
/// The canonical word is how every scalar travels through kernel arguments, frames and the
/// interpreter: `bool` is 0 or 1; unsigned integers are zero-extended; signed integers are
/// sign-extended to 64 bits; `f32` is its bit pattern zero-extended; `f64` is its bit pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Const {
    /// The constant's type.
    pub ty: Ty,
    /// Its canonical word. A loop with another word does not verify, and a kernel refuses it as an
    /// argument; [`Const::new`] makes any word canonical.
    pub bits: u64,
}

impl Const {
    /// A constant of type `ty` from a word; the word is brought into canonical form.
    #[inline]
    pub fn new(ty: Ty, bits: u64) -> Const {
        Const {
            ty,
            bits: canonical(ty, bits),
        }
    }
    /// A `bool`.
    pub fn bool(b: bool) -> Const {
        Const {
            ty: Ty::Bool,
            bits: b as u64,
        }
    }
    /// A `u64`.
    pub fn u64(x: u64) -> Const {
        Const {
            ty: Ty::U64,
            bits: x,
        }
    }
    /// An `f64`.
    pub fn f64(x: f64) -> Const {
        Const {
            ty: Ty::F64,
            bits: x.to_bits(),
        }
    }
    /// An `f32`.
    pub fn f32(x: f32) -> Const {
        Const {
            ty: Ty::F32,
            bits: x.to_bits() as u64,
        }
    }
    /// An integer of type `ty`, wrapped to its width.
    pub fn int(ty: Ty, x: i64) -> Const {
        Const::new(ty, x as u64)
    }
    /// A number of type `ty`; none if the type does not have it exactly.
    ///
    /// ```
    /// use loop_lang::types::{Const, Ty};
    /// assert_eq!(Const::exactly(Ty::U8, 255), Some(Const::int(Ty::U8, 255)));
    /// assert_eq!(Const::exactly(Ty::U8, -1), None);
    /// assert_eq!(Const::exactly(Ty::F32, (1 << 24) + 1), None);
    /// ```
    pub fn exactly(ty: Ty, x: i128) -> Option<Const> {
        let c = match ty {
            Ty::Bool => return None,
            Ty::F32 => Const::f32(x as f32),
            Ty::F64 => Const::f64(x as f64),
            _ => Const::new(ty, x as u64),
        };
        let back = match ty {
            Ty::F32 => f32::from_bits(c.bits as u32) as i128,
            Ty::F64 => f64::from_bits(c.bits) as i128,
            _ => c.integer()?,
        };
        (back == x).then_some(c)
    }
    /// The number that a constant of an integer type is.
    pub fn integer(self) -> Option<i128> {
        match self.ty {
            ty if !ty.is_int() => None,
            ty if ty.is_signed() => Some(i128::from(self.bits as i64)),
            _ => Some(i128::from(self.bits)),
        }
    }
    /// The nearest `f64` of a number; 0 or 1 of a `bool`.
    pub fn number(self) -> f64 {
        match self.ty {
            Ty::F32 => f64::from(f32::from_bits(self.bits as u32)),
            Ty::F64 => f64::from_bits(self.bits),
            ty if ty.is_signed() => self.bits as i64 as f64,
            _ => self.bits as f64,
        }
    }
    /// The value as Rust writes it, without a suffix: what people read where the type is said elsewhere.
    ///
    /// ```
    /// use loop_lang::types::{Const, Ty};
    /// assert_eq!(Const::int(Ty::I8, -1).bare(), "-1");
    /// assert_eq!(Const::f32(0.1).bare(), "0.1");
    /// ```
    pub fn bare(self) -> String {
        match self.ty {
            Ty::Bool => (self.bits != 0).to_string(),
            Ty::F32 => format!("{:?}", f32::from_bits(self.bits as u32)),
            Ty::F64 => format!("{:?}", f64::from_bits(self.bits)),
            ty if ty.is_signed() => (self.bits as i64).to_string(),
            _ => self.bits.to_string(),
        }
    }
    /// Zero (`false`, `0`, `0.0`) of type `ty`.
    pub fn zero(ty: Ty) -> Const {
        Const { ty, bits: 0 }
    }
}

/// Brings a word into the canonical form of `ty` (see [`Const`]).
#[inline]
pub fn canonical(ty: Ty, bits: u64) -> u64 {
    match ty {
        Ty::Bool => bits & 1,
        Ty::I8 => bits as i8 as i64 as u64,
        Ty::I16 => bits as i16 as i64 as u64,
        Ty::I32 => bits as i32 as i64 as u64,
        Ty::U8 => bits as u8 as u64,
        Ty::U16 => bits as u16 as u64,
        Ty::U32 | Ty::F32 => bits as u32 as u64,
        Ty::I64 | Ty::U64 | Ty::F64 => bits,
    }
}
