//! Loops of several roots on the shim: one kernel each, with host code between.

use crate::shimmed::{OnShim, completed, long_args};
use crate::support::{Owned, Rng, golden};
use livefusion_backend::Buffer;
use livefusion_cuda::emit::{Given, kernels};
use livefusion_cuda_shim::{Cxx, can_compile};
use livefusion_tile::threads::phases::Phases;
use loop_lang::types::{Const, Ty};

#[test]
fn phases_go_on_where_those_before_them_ended() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(41);
    let mut ran = 0;
    for name in [
        "append",
        "phase_counts_on",
        "phase_of_last_group",
        "phase_of_one",
        "phases_exit",
        "phases_of_filters",
        "phases_scan",
        "mirror_phases",
    ] {
        let program = golden(name);
        let phases = match kernels(&program) {
            Ok(kernels) => kernels.len(),
            Err(why) => panic!("{name}: {why}"),
        };
        assert_eq!(phases, program.roots.len(), "{name}");
        let shim = OnShim::of(&cxx, &program);
        for (len, at) in [(0, 5), (1, 0), (700, 100), (5000, 700), (5000, 6000)] {
            let args = long_args(&program, len, &mut rng).into_iter();
            let args: Vec<Owned> = args
                .map(|arg| match arg {
                    Owned::Scalar(c) if c.ty == Ty::U64 => Owned::Scalar(Const::u64(at)),
                    other => other,
                })
                .collect();
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{name} of {len}, {at}");
        }
        ran += 1;
    }
    assert_eq!(ran, 8);
}

/// A group that a phase only reads is a scalar for its kernel, without look-back.
#[test]
fn phase_passes_on_groups_that_it_does_not_update() {
    let program = golden("phases_exit");
    let kernels = kernels(&program).expect("they run in parallel");
    let levels = |k: usize| kernels[k].levels.iter().flatten().map(|v| program.name(*v));
    assert!(levels(0).any(|v| v == "live_1") && levels(1).all(|v| v != "live_1"));
    assert!(levels(0).any(|v| v == "k_4") && levels(1).any(|v| v == "k_4"));
    let starts = |k: usize| {
        kernels[k]
            .given
            .iter()
            .filter(|g| matches!(g, Given::Start(_)))
    };
    assert_eq!((starts(0).count(), starts(1).count()), (3, 2));
    assert_ne!(kernels[0].name, kernels[1].name);
}

/// One count and one sum pass through all phases: filtered segments, rows of teams, rows of
/// threads, and a filter.
const MIXED: &str = "loop phases_mixed
comb 0 manifest at r0
comb 1 manifest at r1
comb 2 filter at r2
comb 3 manifest at r3
comb 4 sum at r4
comb 5 map at r5
comb 6 manifest at r6
comb 7 scan at r7
comb 8 map at r8
comb 9 manifest at r9
comb 10 filter at r10
param arr_0: [u64] random
param arr_1: [i64] random
param low_2: i64
rate r0 root ix_0 < len_0 { stage 0; child r1 }
rate r1 nested r0 ix_1 < end_0 { stage 0; child r2 }
rate r2 sub r1 { stage 0 }
rate r3 root ix_3 < len_0 { stage 0; child r4; child r5 }
rate r4 nested r3 ix_4 < end_3 { stage 0 }
rate r5 nested r3 ix_5 < end_3 { stage 0 }
rate r6 root ix_6 < len_0 { stage 0; child r7; child r8 }
rate r7 nested r6 ix_7 < end_6 { stage 0 }
rate r8 nested r6 ix_8 < end_6 { stage 0 }
rate r9 root ix_9 < len_1 { stage 0; child r10 }
rate r10 sub r9 { stage 0 }
group off_0 owner r0 step r0 start 0 id 0 next end_0 combine add level 0 exact
group n_2 owner r0 step r2 start 0 id 0 next nn_2 combine add level 2 exact
group sum_2 owner r0 step r2 start 0i64 id 0i64 next sum1_2 combine add level 4 exact
group off_3 owner r3 step r3 start 0 id 0 next end_3 combine add level 0 exact
group acc_4 owner r4 step r4 start 0i64 id 0i64 next new_4 combine add level 1 exact
group off_6 owner r6 step r6 start 0 id 0 next end_6 combine add level 0 exact
group run_7 owner r7 step r7 start 0i64 id 0i64 next new_7 combine add level 1 prefix 1
init_0, init_1, init_2, init_3, init_4, init_5, init_6, init_7, init_8, init_9, init_10:
  let len_0 = arrayLength arr_0
  let len_1 = arrayLength arr_1
  let two_2 = add len_1 len_1
  let out_2 = newArray i64 two_2
  let out_5 = newArray i64 len_1
  let out_7 = newArray i64 len_1
  let out_8 = newArray i64 len_1
  carry ix_0 = 0
  carry off_0 = 0
  carry ix_3 = 0
  carry off_3 = 0
  carry ix_6 = 0
  carry off_6 = 0
  carry ix_9 = 0
  carry n_2 = 0
  carry sum_2 = 0i64
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
body_0:
  let elt_0 = readArray arr_0 ix_0
  let end_0 = add off_0 elt_0
nest_1:
  carry ix_1 = off_0
guard_1:
  let more_1 = lt ix_1 end_0
  unless more_1
body_1:
  let elt_1 = readArray arr_1 ix_1
guard_2:
  let p_2 = gt elt_1 low_2
  unless p_2
yield_2:
  writeArray out_2 n_2 elt_1
  let nn_2 = add n_2 1
  let sum1_2 = add sum_2 elt_1
  n_2 := nn_2
  sum_2 := sum1_2
bottom_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
bottom_0:
  off_0 := end_0
  let nix_0 = add ix_0 1
  ix_0 := nix_0
guard_3:
  let more_3 = lt ix_3 len_0
  unless more_3
body_3:
  let elt_3 = readArray arr_0 ix_3
  let end_3 = add off_3 elt_3
nest_4:
  carry ix_4 = off_3
  carry acc_4 = 0i64
guard_4:
  let more_4 = lt ix_4 end_3
  unless more_4
body_4:
  let elt_4 = readArray arr_1 ix_4
  let new_4 = add acc_4 elt_4
yield_4:
  acc_4 := new_4
bottom_4:
  let nix_4 = add ix_4 1
  ix_4 := nix_4
nest_5:
  carry ix_5 = off_3
guard_5:
  let more_5 = lt ix_5 end_3
  unless more_5
body_5:
  let elt_5 = readArray arr_1 ix_5
  let less_5 = sub elt_5 acc_4
  let sum2_5 = add sum_2 less_5
yield_5:
  writeArray out_5 ix_5 less_5
  sum_2 := sum2_5
bottom_5:
  let nix_5 = add ix_5 1
  ix_5 := nix_5
bottom_3:
  off_3 := end_3
  let nix_3 = add ix_3 1
  ix_3 := nix_3
guard_6:
  let more_6 = lt ix_6 len_0
  unless more_6
body_6:
  let elt_6 = readArray arr_0 ix_6
  let end_6 = add off_6 elt_6
nest_7:
  carry ix_7 = off_6
  carry run_7 = 0i64
guard_7:
  let more_7 = lt ix_7 end_6
  unless more_7
body_7:
  let elt_7 = readArray arr_1 ix_7
  let new_7 = scan run_7 with elt_7
yield_7:
  writeArray out_7 ix_7 new_7
bottom_7:
  let nix_7 = add ix_7 1
  ix_7 := nix_7
nest_8:
  carry ix_8 = off_6
guard_8:
  let more_8 = lt ix_8 end_6
  unless more_8
body_8:
  let elt_8 = readArray arr_1 ix_8
  let all_8 = xor elt_8 run_7
yield_8:
  writeArray out_8 ix_8 all_8
bottom_8:
  let nix_8 = add ix_8 1
  ix_8 := nix_8
bottom_6:
  off_6 := end_6
  let nix_6 = add ix_6 1
  ix_6 := nix_6
guard_9:
  let more_9 = lt ix_9 len_1
  unless more_9
body_9:
  let elt_9 = readArray arr_1 ix_9
guard_10:
  let p_10 = lt elt_9 low_2
  unless p_10
yield_10:
  writeArray out_2 n_2 elt_9
  let nn_10 = add n_2 1
  let sum1_10 = add sum_2 elt_9
  n_2 := nn_10
  sum_2 := sum1_10
bottom_9:
  let nix_9 = add ix_9 1
  ix_9 := nix_9
done_9, done_10:
  let res_2 = sliceArray out_2 n_2
  return res_2 sum_2 out_5 out_7 out_8
";

#[test]
fn each_phase_is_planned_alone() {
    let program = completed(MIXED);
    let phases = Phases::of(&program);
    let shapes = phases.shapes().expect("they run in parallel");
    let works: Vec<String> = shapes.iter().map(|s| s.work.to_string()).collect();
    let expected = [
        "threads share elements of segments",
        "a team has a row, since it has several passes",
        "a thread has a row, since it has several passes, and run_7 goes from element to element",
        "a thread has steps",
    ];
    assert_eq!(works, expected);
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    let mut rng = Rng(43);
    for (rows, most) in [(0, 1), (1, 9), (300, 1), (900, 7), (60, 90), (3, 4000)] {
        let lengths: Vec<u64> = (0..rows).map(|_| rng.below(most)).collect();
        let count = lengths.iter().sum::<u64>();
        let elements: Vec<i64> = (0..count).map(|_| rng.below(200) as i64 - 100).collect();
        let args = [
            Owned::Array(Buffer::from_vec(lengths)),
            Owned::Array(Buffer::from_vec(elements)),
            Owned::Scalar(Const::int(Ty::I64, 7)),
        ];
        let apart = shim.differs(&program, &args);
        assert_eq!(apart, None, "{rows} rows of less than {most}");
    }
}
