//! The order of scalars, as the order of unsigned integers: those are what is sorted, whatever the type.
//!
//! Integers and `false < true` are as everywhere. Floats are in the order of IEEE 754's `totalOrder`, in which `-0.0` comes before
//! `0.0`, but that all NaN come last.

use crate::ast::{Body, Field, trace};
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// The unsigned integer of as many bits.
pub fn bits_of(ty: Ty) -> Ty {
    match ty.size() {
        1 => Ty::U8,
        2 => Ty::U16,
        4 => Ty::U32,
        _ => Ty::U64,
    }
}

/// The topmost bit of an unsigned integer, and all of them.
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

/// Each field of an element as its place in the order.
pub fn keys(types: &[Ty], loc: Loc) -> Body {
    trace(types, |fields| {
        fields.iter().map(|x| key(*x, loc)).collect()
    })
}

/// The elements that such a key stands for.
pub fn elements(types: &[Ty], loc: Loc) -> Body {
    let bits: Vec<Ty> = types.iter().map(|ty| bits_of(*ty)).collect();
    trace(&bits, |keys| {
        let pairs = types.iter().zip(keys);
        pairs.map(|(ty, key)| element(*ty, *key, loc)).collect()
    })
}

/// The place of a scalar in the order.
pub fn key(x: Field, loc: Loc) -> Field {
    let (ty, bits) = (x.ty(), bits_of(x.ty()));
    let [sign, all] = top(bits);
    let op = |op, args: &[Field]| Field::op(op, args, loc);
    if ty.is_float() {
        let word = x.bitcast(bits, loc);
        // What is negative is upside down.
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
