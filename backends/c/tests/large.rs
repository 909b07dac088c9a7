//! Very large loops compile in bounded time and give the right bits.

use crate::common::*;
use livefusion_backend::{Arg, Backend, Outcome, View};
use livefusion_c::CBackend;
use std::fmt::Write;

/// Writes a chain of maps: `x1 = x0 + 1; x2 = x1 ^ x0; ...` in one block.
fn chain(statements: usize) -> String {
    let mut text = String::from(
        "
loop chain
comb 0 manifest at r0
comb 1 map at r0
param arr_0: [u64] stream r0
rate r0 root ix_0 < len_0 { stage 0 }
init_0, init_1:
  let len_0 = arrayLength arr_0
  let out_1 = newArray u64 len_0
  carry ix_0 = 0
guard_0, guard_1:
  let more_0 = lt ix_0 len_0
  unless more_0 | done_0
body_0, body_1:
  let x0_1 = readArray arr_0 ix_0
  let x1_1 = add x0_1 1
",
    );
    for i in 2..=statements {
        let op = if i % 2 == 0 { "xor" } else { "add" };
        let _ = writeln!(text, "  let x{i}_1 = {op} x{}_1 x{}_1", i - 1, i - 2);
    }
    let _ = write!(
        text,
        "yield_0, yield_1:
  writeArray out_1 ix_0 x{statements}_1
bottom_0, bottom_1:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1:
  return out_1
"
    );
    text
}

#[test]
fn a_hundred_thousand_statements() {
    let n = 100_000;
    let program = loop_of(&chain(n));
    let kernel = CBackend::new().compile(&program).unwrap();
    let xs: Vec<u64> = (0..50).collect();
    let (outcome, results) = run(&*kernel, &[Arg::Array(View::new(&xs))]);
    assert_eq!(outcome, Outcome::Done);
    let expected = |x: &u64| {
        let (mut before, mut last) = (*x, x + 1);
        for i in 2..=n {
            let next = if i % 2 == 0 {
                last ^ before
            } else {
                last.wrapping_add(before)
            };
            (before, last) = (last, next);
        }
        last
    };
    assert_eq!(results[0].1, xs.iter().map(expected).collect::<Vec<_>>());
}
