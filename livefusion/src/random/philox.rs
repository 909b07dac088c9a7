//! Philox4x32-10: four 32-bit words per 64-bit key and 128-bit counter.
//!
//! The source is J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011, section
//! 3.3.
//!
//! Words are in the lower halves of `u64`s, so that vectors have the same number of lanes in all
//! steps. The upper halves are cleared before each multiplication, and at the end.

use crate::exp::Field;
use crate::loc::Loc;
use loop_lang::op::Op;
use loop_lang::types::Const;

/// The multipliers of the counter's words.
const FACTORS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];

/// The increments of the key's halves per round: digits of the golden ratio, and of the square root
/// of 3 less 1.
const STEPS: [u64; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// The number of rounds.
const ROUNDS: usize = 10;

/// Returns the four words of a key and an index (both `u64`).
///
/// They are packed into two 64-bit words, the lower half first. Each stream of a key has other
/// words.
pub fn block(key: Field, index: Field, stream: u64, loc: Loc) -> [Field; 2] {
    let op = |op, a, b| Field::op(op, &[a, b], loc);
    let literal = |word| Field::literal(Const::u64(word));
    let low = |x| op(Op::And, x, literal(u32::MAX.into()));
    let high = |x| op(Op::Shr, x, literal(32));
    let mut keys = [key, high(key)];
    let mut counter = [index, high(index), literal(stream), literal(0)];
    for round in 0..ROUNDS {
        if round > 0 {
            keys = [0, 1].map(|k| op(Op::Add, keys[k], literal(STEPS[k])));
        }
        let [a, b, c, d] = counter;
        let p = op(Op::Mul, low(a), literal(FACTORS[0]));
        let q = op(Op::Mul, low(c), literal(FACTORS[1]));
        let mixed = |product, word, key| op(Op::Xor, op(Op::Xor, high(product), word), key);
        counter = [mixed(q, b, keys[0]), q, mixed(p, d, keys[1]), p];
    }
    let joined = |a, b| op(Op::Or, op(Op::Shl, b, literal(32)), low(a));
    let [a, b, c, d] = counter;
    [joined(a, b), joined(c, d)]
}
