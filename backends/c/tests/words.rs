//! Products of words with zero upper halves: one instruction, with the interpreter's bits.

use crate::common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_tile::target::{Arch, Target};

/// Two products of halves, one of them a word's lower half, and two products
/// of words that only resemble halves.
const PRODUCTS: &str = "\
loop products
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
  let elt_0 = readArray arr_0 ix_0
  let low_1 = and elt_0 4294967295
  let high_1 = shr elt_0 32
  let few_1 = and high_1 4095
  let more_1 = and elt_0 8589934591
  let wide_1 = shr elt_0 31
  let a_1 = mul low_1 3528531795
  let b_1 = mul high_1 few_1
  let c_1 = mul more_1 3528531795
  let d_1 = mul wide_1 4294967296
  let ab_1 = xor a_1 b_1
  let cd_1 = xor c_1 d_1
  let elt_1 = add ab_1 cd_1
yield_0, yield_1:
  writeArray out_1 ix_0 elt_1
bottom_0, bottom_1:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1:
  return out_1
";

#[test]
fn products_of_halves_have_the_interpreters_bits() {
    let program = loop_of(PRODUCTS);
    let interp = InterpBackend::new().compile(&program).unwrap();
    let mut numbers = Numbers(3);
    let words: Vec<u64> = (0..999).map(|k| numbers.next() >> (k % 64)).collect();
    let special = [0, 1, u64::MAX, u64::from(u32::MAX), 1 << 32, 1 << 63];
    let data = [Data::U64(words.into_iter().chain(special).collect())];
    let args = args(&data);
    let want = run_by_turns(&[&*interp], &[u64::MAX], &args);
    let mut targets = vec![
        Target::here(),
        Target::avx2(),
        Target::sse2(),
        Target::plain(),
    ];
    targets.retain(|t| t.runs_on(&Target::here()));
    for target in targets {
        let c = CBackend::new().with_target(target.clone());
        let c = c.compile(&program).unwrap();
        // A vector function, and the two products.
        let found = c.source().unwrap().matches("_half_product(").count();
        let has = target.arch() == Arch::X86_64;
        assert_eq!(found >= 3, has, "{target}");
        for spans in [&[u64::MAX][..], &[33, 1, 64, 700]] {
            let got = run_by_turns(&[&*c], spans, &args);
            assert!(got == want, "{target}: {got:?} is not {want:?}");
        }
    }
}
