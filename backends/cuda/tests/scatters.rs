//! Scatters on the shim, by each operator at each type.
//!
//! They update few elements and many. They give the interpreter's results, and seeded faults are found.

use crate::shimmed::OnShim;
use crate::support::{Owned, Rng, parse};
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, can_compile};
use livefusion_tile::threads::shape::Refusal;
use loop_lang::types::{Const, Ty};

/// Makes arguments for `steps` values joined onto `elements` elements. Some indices are out of
/// bounds.
fn args(ty: Ty, steps: usize, elements: usize, rng: &mut Rng) -> Vec<Owned> {
    // Sums of these are exact.
    let value = |rng: &mut Rng| match ty {
        Ty::F32 => Const::f32(rng.below(9) as f32 - 2.0).bits,
        Ty::F64 => Const::f64(rng.below(9) as f64 - 2.0).bits,
        _ => rng.word(ty),
    };
    let array = |ty: Ty, n, word: &mut dyn FnMut() -> u64| {
        let mut b = livefusion_backend::Buffer::zeroed(ty, n).expect("memory");
        for i in 0..n {
            b.set_word(i, word());
        }
        Owned::Array(b)
    };
    let at = array(Ty::U64, steps, &mut || rng.below(elements as u64 + 2));
    let xs = array(ty, steps, &mut || value(rng));
    let base = array(ty, elements, &mut || value(rng));
    vec![at, xs, base]
}

#[test]
fn every_operator_at_every_type() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(23);
    for ty in Ty::ALL {
        let program = parse(&crate::operators::scatters(ty));
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let bins = kernel.text.matches("struct Bins").count();
        assert_eq!(bins, crate::operators::that_join(ty).count());
        let shim = OnShim::of(&cxx, &program);
        // Onto bins of each warp, onto bins of a block, and onto memory.
        for (steps, elements) in [
            (0, 3),
            (500, 3),
            (3000, 40),
            (700, 0),
            (700, 690),
            (500, 5000),
        ] {
            let args = args(ty, steps, elements, &mut rng);
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{ty}: {steps} onto {elements}");
        }
    }
}

/// Overwriting scatters, combined with all else that a step may do: filters, several scatters,
/// several arrays, groups that are counted once, and bins.
const LAST: &str = "loop last
comb 0 manifest at r0
comb 1 filter at r1
param at_0: [u64] stream r0
param xs_0: [i64] stream r0
param base_0: [i64] random
rate r0 root ix_0 < n_0 { stage 0; child r1 }
rate r1 sub r0 count ix_1 { stage 0 }
group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
group sum_0 owner r0 step r0 start 0i64 id 0i64 next nsum_0 combine add level 0 exact
fn join_0(a_0: i64, b_0: i64, x_0: i64, y_0: i64) {
  let d_0 = mul x_0 3i64
  let e_0 = add d_0 y_0
  let f_0 = add e_0 a_0
  let g_0 = max y_0 b_0
  return f_0 g_0
}
init_0, init_1:
  let n_0 = arrayLength xs_0
  let one_0 = copyArray base_0
  let two_0 = copyArray base_0
  let bins_0 = copyArray base_0
  let more_0 = copyArray base_0
  let sums_0 = newArray i64 n_0
  let kept_1 = newArray i64 n_0
  let some_1 = copyArray base_0
  carry ix_0 = 0
  carry ix_1 = 0
  carry sum_0 = 0i64
guard_0:
  let goes_0 = lt ix_0 n_0
  unless goes_0
body_0:
  let i_0 = readArray at_0 ix_0
  let v_0 = readArray xs_0 ix_0
  let nsum_0 = add sum_0 v_0
yield_0:
  writeArray sums_0 ix_0 nsum_0
  scatterArray one_0, two_0 i_0 v_0, v_0
  scatterArray bins_0, more_0 i_0 v_0, nsum_0 with join_0
  sum_0 := nsum_0
guard_1:
  let bit_1 = and v_0 1i64
  let odd_1 = ne bit_1 0i64
  unless odd_1
body_1:
  let low_1 = and i_0 1
  let next_1 = sub i_0 low_1
yield_1:
  writeArray kept_1 ix_1 v_0
  scatterArray one_0, two_0 next_1 nsum_0, 7i64
  scatterArray some_1 i_0 nsum_0
  let nix_1 = add ix_1 1
  ix_1 := nix_1
bottom_1:
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1:
  let all_1 = sliceArray kept_1 ix_1
  return one_0 two_0 bins_0 more_0 sums_0 all_1 some_1 sum_0
";

#[test]
fn the_last_write_stays() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(29);
    let text = LAST.to_string();
    // A write to a repeated index is handled in the same way.
    let written = crate::operators::scattered(Ty::I16, &[""]).replace("scatterArray", "writeArray");
    let loops = Ty::ALL.map(|ty| (ty, crate::operators::scattered(ty, &[""])));
    let more = [(Ty::I64, text), (Ty::I16, written)];
    for (ty, text) in loops.into_iter().chain(more) {
        let program = parse(&text);
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let settles = |steps| kernel.passes(steps, 1).into_iter().map(|p| p.settles);
        assert!(settles(2).eq([false, true]) && settles(1).eq([false]));
        let shim = OnShim::of(&cxx, &program);
        for (steps, elements) in [(0, 3), (1, 3), (500, 3), (3000, 40), (700, 0), (5000, 5000)] {
            let args = args(ty, steps, elements, &mut rng);
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{ty}: {steps} onto {elements}");
        }
    }
}

/// In segments, whose elements share one counter, and at their ends.
const OF_SEGMENTS: &str = "loop last_of_segments
comb 0 manifest at r0
comb 1 manifest at r1
comb 2 fold_s at r0 stage 1
param segs_0: [u64] stream r0
param at_1: [u64] stream r1
param base_2: [i64] random
rate r0 root ix_0 < len_0 { stage 0; child r1; stage 1 }
rate r1 nested r0 ix_1 < end_1 { stage 0 }
group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
group sum_1 owner r1 step r1 start 0 id 0 next nsum_1 combine add level 1 exact
init_0, init_1:
  let len_0 = arrayLength segs_0
  let one_1 = copyArray base_2
  let two_2 = copyArray base_2
  carry ix_0 = 0
  carry ix_1 = 0
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
body_0:
  let elt_0 = readArray segs_0 ix_0
yield_0:
nest_1:
  let end_1 = add ix_1 elt_0
  carry sum_1 = 0
guard_1:
  let more_1 = lt ix_1 end_1
  unless more_1
body_1:
  let to_1 = readArray at_1 ix_1
  let nsum_1 = add sum_1 to_1
yield_1:
  let x_1 = cast.i64 ix_1
  scatterArray one_1 to_1 x_1
  sum_1 := nsum_1
bottom_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
done_1:
body_2:
  let low_2 = and sum_1 7
yield_2:
  let y_2 = cast.i64 sum_1
  scatterArray two_2 low_2 y_2
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0:
  return one_1 two_2 ix_1
";

#[test]
fn the_last_write_of_segments_stays() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(37);
    let shared = parse(OF_SEGMENTS);
    // A sequential group leaves each row to one thread.
    let rows = OF_SEGMENTS.replace(
        "id 0 next nsum_1 combine add level 1 exact",
        "next nsum_1 level 1 sequential",
    );
    for program in [shared, parse(&rows)] {
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        assert!(kernel.settles && kernel.places.is_none_or(|k| !k.settles));
        let shim = OnShim::of(&cxx, &program);
        for most in [1, 9, 300] {
            let lengths: Vec<u64> = (0..900 / most + 20).map(|_| rng.below(most)).collect();
            let all = lengths.iter().sum::<u64>();
            let at: Vec<u64> = (0..all).map(|_| rng.below(40)).collect();
            let args = [
                crate::support::array(&lengths),
                crate::support::array(&at),
                crate::support::array(&[-1i64; 37]),
            ];
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{most} at most");
        }
    }
}

/// Rows that each restart the counter: no number identifies the last write.
#[test]
fn the_last_write_of_rows_is_refused() {
    let text = crate::support::golden("column_sums").to_string();
    let refused = emit::kernel(&parse(&text.replace(" with add", ""))).expect_err("no number");
    assert_eq!(
        refused.to_string(),
        "it joins values onto elements of which the last one stays, and no number says which that is"
    );
}

#[test]
fn where_order_matters_it_is_refused() {
    let refusal = |text: &str| emit::kernel(&parse(text)).expect_err("their order matters");
    let one = crate::operators::scattered(Ty::I64, &[" with add"]);
    for (from, to) in [
        // Two operators on one array, and an operator that does not commute.
        (
            "yield_0:\n",
            "yield_0:\n  scatterArray out0_0 i_0 x_0 with max\n",
        ),
        ("with add", "with sub"),
        // A write combined with a read.
        ("yield_0:\n", "yield_0:\n  writeArray out0_0 ix_0 x_0\n"),
        ("yield_0:\n", "yield_0:\n  let y_0 = readArray out0_0 i_0\n"),
    ] {
        let why = refusal(&one.replace(from, to));
        let is_it = matches!(why, Refusal::Scatter(_) | Refusal::Order(_));
        assert!(is_it, "{to}: {why}");
    }
}

#[test]
fn faults_are_found() {
    if !can_compile() {
        return;
    }
    let faults = [
        (
            "bins are used before they are there",
            "Bins::identity();\n  }\n  __syncthreads();",
            "Bins::identity();\n  }\n  __syncwarp();",
        ),
        (
            "bins are read before all is in them",
            "  typedef typename Bins::Type T;\n  __syncthreads();",
            "  typedef typename Bins::Type T;\n  __syncwarp();",
        ),
        (
            "what was found is not joined again",
            "if (found == old) return;",
            "return;",
        ),
        (
            "bins of other warps are left out",
            "copy < lf_copies<Bins>(a); ++copy",
            "copy < 1; ++copy",
        ),
    ];
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(4);
    let program = parse(&crate::operators::scattered(Ty::I16, &[" with add"]));
    let args = args(Ty::I16, 2000, 7, &mut rng);
    let is_sound = |cxx: &Cxx| {
        let shim = OnShim::of(cxx, &program);
        (0..8).all(|_| shim.differs(&program, &args).is_none())
    };
    assert!(is_sound(&cxx));
    for (what, from, to) in faults {
        assert!(!is_sound(&cxx.tampered(from, to)), "not noticed: {what}");
    }
}

#[test]
fn faults_of_overwriting_are_found() {
    if !can_compile() {
        return;
    }
    let faults = [
        (
            "whoever says it last wins",
            "atomicMax(winners.at + i, number);",
            "winners.at[i] = number;",
        ),
        (
            "all write",
            "i < winners.length && winners.at[i] == number;",
            "i < winners.length;",
        ),
        (
            "nobody says where a filter writes",
            "lf_claim(p.lf_winners1, i_0, ix_0 + 1);",
            "lf_claim(p.lf_winners1, i_0, ix_0 + 2);",
        ),
        (
            "what is joined is joined twice",
            "if (EMIT && !launch.settles) lf_scatter<Bins0>",
            "if (EMIT) lf_scatter<Bins0>",
        ),
    ];
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(8);
    let program = parse(LAST);
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    let args = args(Ty::I64, 3000, 50, &mut rng);
    let is_sound = |cxx: &Cxx| {
        let shim = OnShim::of(cxx, &program);
        (0..4).all(|_| shim.differs(&program, &args).is_none())
    };
    assert!(is_sound(&cxx));
    for (what, from, to) in faults {
        let tampered = cxx.tampered_in(&kernel.text, from, to);
        assert!(!is_sound(&tampered), "not noticed: {what}");
    }
}
