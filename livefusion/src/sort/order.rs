//! Sort keys: maps the order of scalars to that of unsigned integers.
//!
//! Integers, and `false < true`, have their usual order. Floats have the order of IEEE 754's
//! `totalOrder`, in which `-0.0` comes before `0.0`, except that all NaN come last.

use crate::ast::{Body, Field, trace};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// Returns the unsigned integer type of the same width.
pub fn bits_of(ty: Ty) -> Ty {
    match ty.size() {
        1 => Ty::U8,
        2 => Ty::U16,
        4 => Ty::U32,
        _ => Ty::U64,
    }
}

/// The topmost bit of an unsigned integer, and all of its bits.
fn top(bits: Ty) -> [Field; 2] {
    let size = 8 * bits.size();
    let all = u64::MAX >> (64 - size);
    [1 << (size - 1), all].map(|word| {
        Field::literal(Const {
            ty: bits,
            bits: word,
        })
    })
}

/// Builds a body that maps each field of an element to its key.
pub fn keys(types: &[Ty], loc: Loc) -> Body {
    trace(types, |fields| {
        fields.iter().map(|x| key(*x, loc)).collect()
    })
}

/// Builds a body that maps keys back to elements.
pub fn elements(types: &[Ty], loc: Loc) -> Body {
    let bits: Vec<Ty> = types.iter().map(|ty| bits_of(*ty)).collect();
    trace(&bits, |keys| {
        let pairs = types.iter().zip(keys);
        pairs.map(|(ty, key)| element(*ty, *key, loc)).collect()
    })
}

/// Builds a body that maps each field to its key in descending order.
///
/// All NaN come last in this order, too.
pub fn falling_keys(types: &[Ty], loc: Loc) -> Body {
    trace(types, |fields| {
        let keys = fields.iter().map(|x| {
            let turned = turned(key(*x, loc), loc);
            let [_, all] = top(turned.ty());
            match x.ty().is_float() {
                true => {
                    let is_number = Field::op(Op::Eq, &[*x, *x], loc);
                    Field::op(Op::Select, &[is_number, turned, all], loc)
                }
                false => turned,
            }
        });
        keys.collect()
    })
}

/// Builds a body that maps such keys back to elements.
pub fn falling_elements(types: &[Ty], loc: Loc) -> Body {
    let bits: Vec<Ty> = types.iter().map(|ty| bits_of(*ty)).collect();
    trace(&bits, |keys| {
        let pairs = types.iter().zip(keys);
        let elements = pairs.map(|(ty, key)| element(*ty, turned(*key, loc), loc));
        elements.collect()
    })
}

/// Reverses the order of a key.
fn turned(key: Field, loc: Loc) -> Field {
    let [_, all] = top(key.ty());
    Field::op(Op::Xor, &[key, all], loc)
}

/// Tells whether one key comes before another.
///
/// The first field in which they differ decides.
pub fn is_before(a: &[Field], b: &[Field], loc: Loc) -> Field {
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    let mut fields = a.iter().zip(b).rev();
    let less = |(a, b): (&Field, &Field)| op(Op::Lt, &[*a, *b]);
    let last = fields.next().map(less);
    let last = last.unwrap_or(Field::literal(Const::bool(false)));
    fields.fold(last, |rest, (a, b)| {
        let same = op(Op::Eq, &[*a, *b]);
        let later = op(Op::And, &[same, rest]);
        op(Op::Or, &[less((a, b)), later])
    })
}

/// Returns the last key of each of these types.
pub fn last_keys(types: &[Ty]) -> Vec<Field> {
    types.iter().map(|ty| top(*ty)[1]).collect()
}

/// Maps a scalar to its key.
pub fn key(x: Field, loc: Loc) -> Field {
    let (ty, bits) = (x.ty(), bits_of(x.ty()));
    let [sign, all] = top(bits);
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    if ty.is_float() {
        let word = x.bitcast(bits, loc);
        // The order of negative floats is reversed.
        let is_negative = op(Op::Ge, &[word, sign]);
        let flip = op(Op::Select, &[is_negative, all, sign]);
        let is_number = op(Op::Eq, &[x, x]);
        return op(Op::Select, &[is_number, op(Op::Xor, &[word, flip]), all]);
    }
    match ty.is_signed() {
        true => op(Op::Xor, &[x.cast(bits, loc), sign]),
        false => x.cast(bits, loc),
    }
}

fn element(ty: Ty, key: Field, loc: Loc) -> Field {
    let [sign, all] = top(key.ty());
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    if ty.is_float() {
        let is_negative = op(Op::Lt, &[key, sign]);
        let flip = op(Op::Select, &[is_negative, all, sign]);
        return op(Op::Xor, &[key, flip]).bitcast(ty, loc);
    }
    match (ty, ty.is_signed()) {
        (Ty::Bool, _) => op(
            Op::Ne,
            &[
                key,
                Field::literal(Const {
                    ty: key.ty(),
                    bits: 0,
                }),
            ],
        ),
        (_, true) => op(Op::Xor, &[key, sign]).cast(ty, loc),
        (_, false) => key,
    }
}
