//! Scalar types and constants of the Loop language.

use std::fmt;

/// Lists the scalar types.
///
/// Index arithmetic uses `U64`. The host's `isize` and `usize` are `I64` and `U64`.
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
    /// Lists every scalar type, in declaration order.
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

    /// Returns the name in the text form, such as `bool`, `i8` or `f64`.
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

    /// Returns the type with the given text name.
    pub fn from_name(name: &str) -> Option<Ty> {
        Ty::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Returns the bytes of an element in an array.
    ///
    /// A `bool` is one byte, 0 or 1.
    pub fn size(self) -> usize {
        match self {
            Ty::Bool | Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 => 2,
            Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 => 8,
        }
    }

    /// Returns the bits of an integer type's value (1 for `bool`).
    pub fn bits(self) -> u32 {
        if self == Ty::Bool {
            1
        } else {
            self.size() as u32 * 8
        }
    }

    /// Tells whether it is `f32` or `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Tells whether it is a signed or unsigned integer, but not `bool`.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Ty::Bool
    }

    /// Tells whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64)
    }

    /// Tells whether it is an unsigned integer, but not `bool`.
    pub fn is_unsigned(self) -> bool {
        self.is_int() && !self.is_signed()
    }

    /// Tells whether it is an integer or a float.
    pub fn is_num(self) -> bool {
        self != Ty::Bool
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Represents a scalar constant as a type and a *canonical word*.
///
/// Scalars have this form in kernel arguments, frames and the interpreter. A `bool` is 0 or 1.
/// Unsigned integers are zero-extended; signed integers are sign-extended to 64 bits. An `f32` is
/// its bit pattern zero-extended; an `f64` is its bit pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Const {
    /// The constant's type.
    pub ty: Ty,
    /// Its canonical word. A loop with another word does not verify, and a kernel rejects it as an
    /// argument; [`Const::new`] makes any word canonical.
    pub bits: u64,
}

impl Const {
    /// Makes a constant of type `ty` from any word.
    ///
    /// The word is brought into canonical form.
    #[inline]
    pub fn new(ty: Ty, bits: u64) -> Const {
        Const {
            ty,
            bits: canonical(ty, bits),
        }
    }
    /// Makes a `bool`.
    pub fn bool(b: bool) -> Const {
        Const {
            ty: Ty::Bool,
            bits: b as u64,
        }
    }
    /// Makes a `u64`.
    pub fn u64(x: u64) -> Const {
        Const {
            ty: Ty::U64,
            bits: x,
        }
    }
    /// Makes an `f64`.
    pub fn f64(x: f64) -> Const {
        Const {
            ty: Ty::F64,
            bits: x.to_bits(),
        }
    }
    /// Makes an `f32`.
    pub fn f32(x: f32) -> Const {
        Const {
            ty: Ty::F32,
            bits: x.to_bits() as u64,
        }
    }
    /// Makes an integer of type `ty`, wrapped to its width.
    pub fn int(ty: Ty, x: i64) -> Const {
        Const::new(ty, x as u64)
    }
    /// Makes a number of type `ty` if it is representable exactly.
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
    /// Returns the value of an integer constant.
    pub fn integer(self) -> Option<i128> {
        match self.ty {
            ty if !ty.is_int() => None,
            ty if ty.is_signed() => Some(i128::from(self.bits as i64)),
            _ => Some(i128::from(self.bits)),
        }
    }
    /// Returns the nearest `f64`, which is 0 or 1 for a `bool`.
    pub fn number(self) -> f64 {
        match self.ty {
            Ty::F32 => f64::from(f32::from_bits(self.bits as u32)),
            Ty::F64 => f64::from_bits(self.bits),
            ty if ty.is_signed() => self.bits as i64 as f64,
            _ => self.bits as f64,
        }
    }
    /// Returns the value in Rust's syntax, without a suffix.
    ///
    /// Use it where the type is clear from the context.
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
    /// Returns zero (`false`, `0`, `0.0`) of type `ty`.
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
