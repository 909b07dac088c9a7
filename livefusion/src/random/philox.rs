//! Philox4x32-10: four words of 32 bits for each key of 64 and each counter of 128. (J. Salmon and others, "Parallel random numbers:
//! as easy as 1, 2, 3", 2011, section 3.3.)

use crate::exp::Field;
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// What halves of the counter are multiplied by.
const FACTORS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];

/// What is added to the halves of the key from round to round: digits of the golden ratio, and of the square root of 3 less 1.
const STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// How often words are mixed.
const ROUNDS: usize = 10;

/// The words (`u32`) of a key and an index (both `u64`). A key has a row of blocks for each stream.
pub fn block(key: Field, index: Field, stream: u32, loc: Loc) -> [Field; 4] {
    let op = |op, a, b| Field::op(op, &[a, b], loc);
    let literal = |word: u32| {
        Field::literal(Const {
            ty: Ty::U32,
            bits: word.into(),
        })
    };
    let halves = |x: Field| {
        let high = op(Op::Shr, x, Field::literal(Const::u64(32)));
        [x, high].map(|half| half.cast(Ty::U32, loc))
    };
    let ([mut k0, mut k1], [low, high]) = (halves(key), halves(index));
    let mut counter = [low, high, literal(stream), literal(0)];
    for round in 0..ROUNDS {
        if round > 0 {
            k0 = op(Op::Add, k0, literal(STEPS[0]));
            k1 = op(Op::Add, k1, literal(STEPS[1]));
        }
        let product = |x: Field, factor| {
            let wide = op(
                Op::Mul,
                x.cast(Ty::U64, loc),
                Field::literal(Const::u64(factor)),
            );
            halves(wide)
        };
        let [low0, high0] = product(counter[0], FACTORS[0]);
        let [low1, high1] = product(counter[2], FACTORS[1]);
        let mixed = |high, word, key| op(Op::Xor, op(Op::Xor, high, word), key);
        counter = [
            mixed(high1, counter[1], k0),
            low1,
            mixed(high0, counter[3], k1),
            low0,
        ];
    }
    counter
}

/// Two words as one of 64 bits, the lower half first.
pub fn joined(low: Field, high: Field, loc: Loc) -> Field {
    let [low, high] = [low, high].map(|half| half.cast(Ty::U64, loc));
    let high = Field::op(Op::Shl, &[high, Field::literal(Const::u64(32))], loc);
    Field::op(Op::Or, &[high, low], loc)
}
