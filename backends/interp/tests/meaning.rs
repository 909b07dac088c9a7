//! Semantics of loops: results, lanes and blocks, traps, memory, early exits, counts.

use crate::support::*;
use livefusion_backend::{Backend, CompileError, Frame, Kernel, Outcome, Pass};
use livefusion_interp::{InterpBackend, InterpKernel};
use loop_lang::Op;
use loop_lang::ir::{CHUNK, GroupId, TrapKind};
use loop_lang::state::group_total;
use loop_lang::types::{Const, Ty};

fn f64(x: f64) -> Owned {
    Owned::Scalar(Const::f64(x))
}

fn results(kernel: &InterpKernel, args: &[Owned]) -> Vec<Bits> {
    let (outcome, results) = run(kernel, args);
    assert_eq!(outcome, Outcome::Done);
    results
}

#[test]
fn to_percentages() {
    let k = kernel(&golden("to_percentages"));
    let got = results(
        &k,
        &[array(&[0.5, 0.001, 0.01, f64::NAN]), f64(0.01), f64(100.0)],
    );
    assert_eq!(f64s(&got[0]), [50.0, 1.0]);
}

#[test]
fn segmented() {
    let k = kernel(&golden("segmented"));
    let args = [
        array(&[2u64, 0, 3]),
        array(&[1.0, 2.0, 3.0, 4.0, 5.0]),
        f64(10.0),
        f64(20.0),
    ];
    let got = results(&k, &args);
    assert_eq!(f64s(&got[0]), [13.0, 10.0, 22.0]);
    assert_eq!(f64s(&got[1]), [21.0, 23.0, 23.0, 27.0, 32.0]);
}

#[test]
fn cursors_meet() {
    let k = kernel(&golden("zip_filters"));
    let zero = || f64(0.0);
    let (outcome, got) = run(
        &k,
        &[
            array(&[1.0, -1.0, 2.0]),
            zero(),
            array(&[-3.0, 4.0, -5.0, 6.0]),
            zero(),
        ],
    );
    assert_eq!(outcome, Outcome::Exited);
    assert_eq!(f64s(&got[0]), [-3.0, -10.0]);
    let (outcome, _) = run(&k, &[array(&[1.0, 2.0]), zero(), array(&[-3.0]), zero()]);
    let Outcome::Trapped(Some(report)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(report.kind, TrapKind::LengthMismatch);
}

#[test]
fn phases_share_groups() {
    let k = kernel(&golden("append"));
    let got = results(
        &k,
        &[array(&[1.0, 2.0]), f64(2.0), array(&[5.0]), f64(100.0)],
    );
    assert_eq!(f64s(&got[0]), [2.0, 4.0, 5.0]);
    assert_eq!(got[1], Bits::Scalar(Ty::F64, 111f64.to_bits()));
}

#[test]
fn early_exit() {
    let k = kernel(&golden("first_index"));
    let wanted = Owned::Scalar(Const::int(Ty::I8, 7));
    let (outcome, got) = run(&k, &[array(&[1i8, 7, 7]), wanted]);
    assert_eq!(
        (outcome, &got[0]),
        (Outcome::Exited, &Bits::Scalar(Ty::U64, 1))
    );
    let wanted = Owned::Scalar(Const::int(Ty::I8, 9));
    let (outcome, got) = run(&k, &[array(&[1i8, 7, 7]), wanted]);
    assert_eq!(
        (outcome, &got[0]),
        (Outcome::Done, &Bits::Scalar(Ty::U64, u64::MAX))
    );
}

/// Computes the sum of products in the order of the chunk grid and 32 lanes.
fn dot(xs: &[f64], ys: &[f64], start: f64) -> f64 {
    let products: Vec<f64> = xs.iter().zip(ys).map(|(x, y)| x * y).collect();
    products
        .chunks(CHUNK as usize)
        .fold(start, |prefix, chunk| {
            let mut lanes = vec![-0.0f64; 32];
            for (i, x) in chunk.iter().enumerate() {
                lanes[i % 32] += x;
            }
            while lanes.len() > 1 {
                let upper = lanes.split_off(lanes.len() / 2);
                lanes.iter_mut().zip(upper).for_each(|(l, u)| *l += u);
            }
            prefix + lanes[0]
        })
}

#[test]
fn folds_use_lanes_and_chunks() {
    let n = CHUNK as usize * 2 + 777;
    let mut rng = Rng(1);
    let mut numbers = || {
        (0..n)
            .map(|_| rng.below(1000) as f64 / 37.0)
            .collect::<Vec<f64>>()
    };
    let (xs, ys) = (numbers(), numbers());
    let k = kernel(&golden("dot_product"));
    let args = [array(&xs), array(&ys), f64(0.5)];
    let want = Bits::Scalar(Ty::F64, dot(&xs, &ys, 0.5).to_bits());
    assert_eq!(results(&k, &args)[0], want);
    let (_, cut) = run_cut(&k, &args, || 1 + rng.below(5000));
    assert_eq!(cut[0], want);
}

#[test]
fn scans_are_inclusive_prefixes() {
    let n = CHUNK as usize + 100;
    let xs: Vec<i64> = (0..n as i64).map(|i| (i * 7919) % 1000).collect();
    let int = |x| Owned::Scalar(Const::int(Ty::I64, x));
    let k = kernel(&golden("filter_max"));
    let got = results(&k, &[array(&xs), int(1), int(500), int(3), int(i64::MIN)]);
    let running: Vec<u64> = xs
        .iter()
        .scan(i64::MIN, |m, x| {
            *m = (*m).max(x + 1);
            Some(*m as u64)
        })
        .collect();
    assert_eq!(got[2], Bits::Array(Ty::I64, running));
    assert_eq!(got[1], Bits::Scalar(Ty::I64, 1000));
}

const TRAPS: &str = "
loop traps
comb 0 manifest at r0
comb 1 gather at r0
comb 2 div at r0
param arr_0: [i64] stream r0
param table_1: [i64] random
rate r0 root ix_0 < len_0 { stage 0 }
trap t0 1 outOfRange
trap t1 2 division
init_0, init_1, init_2:
  let len_0 = arrayLength arr_0
  let size_1 = arrayLength table_1
  let out_2 = newArray i64 len_0
  carry ix_0 = 0
guard_0, guard_1, guard_2:
  let more_0 = lt ix_0 len_0
  unless more_0 | done_0
body_0, body_1, body_2:
  let elt_0 = readArray arr_0 ix_0
  let ok_2 = divOk 100i64 elt_0
  trap unless ok_2, t1 (100i64, elt_0)
  let elt_2 = div 100i64 elt_0
  let at_1 = cast.u64 elt_0
  let in_1 = lt at_1 size_1
  trap unless in_1, t0 (at_1, size_1)
  let elt_1 = readArray table_1 at_1
  let sum_2 = add elt_1 elt_2
yield_0, yield_1, yield_2:
  writeArray out_2 ix_0 sum_2
bottom_0, bottom_1, bottom_2:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1, done_2:
  return out_2
";

#[test]
fn the_first_trap_counts() {
    let k = kernel(&parse(TRAPS));
    let report = |xs: &[i64], table: &[i64]| match run(&k, &[array(xs), array(table)]).0 {
        Outcome::Trapped(Some(r)) => r,
        other => panic!("{other:?}"),
    };
    // The earlier step wins.
    let r = report(&[1, 0, 9], &[1, 2]);
    assert_eq!((r.kind, r.steps), (TrapKind::Division, 2));
    assert_eq!(
        r.payload,
        [Const::int(Ty::I64, 100), Const::int(Ty::I64, 0)]
    );
    // Within a step the earlier combinator wins, though the division is checked first.
    let r = report(&[1, 0, 9], &[]);
    assert_eq!((r.kind, r.steps), (TrapKind::OutOfRange, 1));
    let r = report(&[0], &[]);
    assert_eq!(r.kind, TrapKind::OutOfRange);
    assert_eq!(r.payload, [Const::u64(0), Const::u64(0)]);
    // Every cut of the loop gives the same report.
    let (cut, _) = run_cut(&k, &[array(&[1i64, 0, 9]), array(&[1i64, 2])], || 1);
    assert_eq!(cut, Outcome::Trapped(Some(report(&[1, 0, 9], &[1, 2]))));
}

const ENDLESS: &str = "
loop endless
comb 0 map
param start_0: i64
trap t0 0 division
init_0:
done_0:
  while x_0 = start_0 {
    let on_0 = ne x_0 1i64
  } cond on_0 do {
    while y_0 = x_0 {
      let up_0 = ge y_0 0i64
    } cond up_0 do {
      let ok_0 = divOk y_0 x_0
      trap unless ok_0, t0 (y_0, x_0)
      let less_0 = sub y_0 1i64
    } next less_0
  } next x_0
  return x_0
";

#[test]
fn a_trap_ends_scalar_loops() {
    let k = kernel(&parse(ENDLESS));
    let (outcome, _) = run(&k, &[Owned::Scalar(Const::int(Ty::I64, 0))]);
    assert!(matches!(outcome, Outcome::Trapped(Some(_))), "{outcome:?}");
}

#[test]
fn memory_is_limited() {
    let k = kernel(&golden("to_percentages"));
    let args = [array(&[1.0; 100]), f64(0.0), f64(1.0)];
    let mut frame = Frame::new(k.layout());
    frame.memory = livefusion_backend::Memory::limited(799);
    let outcome = k.run(Pass::Emit, u64::MAX, &mut frame, &borrow(&args));
    let Outcome::NoMemory { comb, bytes } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (bytes, golden("to_percentages").comb(comb).kind.as_str()),
        (800, "map")
    );
    let mut frame = Frame::new(k.layout());
    frame.memory = livefusion_backend::Memory::limited(800);
    assert_eq!(
        k.run(Pass::Emit, u64::MAX, &mut frame, &borrow(&args)),
        Outcome::Done
    );
}

#[test]
fn counts_show_that_nothing_is_done_twice() {
    let k = InterpBackend::counting()
        .compile_kernel(&golden("filter_max"))
        .unwrap();
    let int = |x| Owned::Scalar(Const::int(Ty::I64, x));
    results(
        &k,
        &[array(&[1i64, -5, 3, 0]), int(1), int(0), int(0), int(0)],
    );
    let counts = k.counts();
    assert_eq!(counts.reads.get("arr_0"), Some(&4));
    assert_eq!(counts.writes.get("out_2"), Some(&3));
    assert_eq!(counts.writes.get("out_4"), Some(&4));
    assert_eq!(counts.ops.get(&("3".to_string(), Op::Max)), Some(&3));
    assert_eq!(counts.ops.get(&("4".to_string(), Op::Max)), Some(&4));
    assert_eq!(counts.op(Op::Gt), 4);
    assert_eq!(counts.steps.get("r0"), Some(&4));
    assert_eq!(kernel(&golden("filter_max")).counts(), Default::default());
}

#[test]
fn summaries_end_with_the_same_groups() {
    for (name, text) in golden_texts() {
        let program = parse(&text);
        let sequential = program.groups.iter().any(|g| g.combine.is_none());
        if sequential || program.groups.is_empty() {
            continue;
        }
        let k = kernel(&program);
        for seed in 0..20 {
            let args = random_args(&program, &mut Rng(seed));
            let args = borrow(&args);
            let level = program.groups.iter().map(|g| g.level).max().unwrap_or(0);
            let mut summary = Frame::new(k.layout());
            let mut emit = Frame::new(k.layout());
            let whole = k.run(Pass::Emit, u64::MAX, &mut emit, &args);
            if !matches!(whole, Outcome::Done | Outcome::Exited) {
                continue;
            }
            let ended = k.run(Pass::Summary { level }, u64::MAX, &mut summary, &args);
            assert_eq!(ended, whole, "{name}");
            assert!(summary.results.is_empty());
            for (i, group) in program.groups.iter().enumerate() {
                let mut words = group.vars.iter().filter_map(|v| k.layout().word(*v));
                assert!(
                    words.all(|w| summary.words[w] == emit.words[w]),
                    "{name} group {i}"
                );
            }
        }
    }
}

#[test]
fn malformed_loops_are_refused() {
    let mut program = golden("filter_max");
    program.groups.clear();
    let refused = InterpBackend::new().compile(&program);
    assert!(matches!(refused, Err(CompileError::Malformed(_))));
}

#[test]
fn strange_frames_and_arguments_are_refused() {
    let program = golden("segmented");
    let k = kernel(&program);
    let args = random_args(&program, &mut Rng(3));
    let args = borrow(&args);
    let bad = |frame: &mut Frame, args: &[livefusion_backend::Arg]| {
        matches!(k.run(Pass::Emit, 10, frame, args), Outcome::BadArgs(_))
    };
    assert!(bad(&mut Frame::new(k.layout()), &args[1..]));
    assert!(bad(&mut Frame::default(), &args));
    let mut wrong = args.clone();
    wrong[0] = nothing();
    assert!(bad(&mut Frame::new(k.layout()), &wrong));
    let mut frame = Frame::new(k.layout());
    frame.words[0] = 3;
    assert!(bad(&mut frame, &args));
    // Random words never cause a panic, with any outcome.
    let mut rng = Rng(9);
    for round in 0..200 {
        let mut frame = Frame::new(k.layout());
        frame
            .words
            .iter_mut()
            .for_each(|w| *w = rng.next() >> rng.below(64));
        frame.words[0] = round % 3;
        k.run(Pass::Emit, 1000, &mut frame, &args);
    }
}

/// Updates that must wait.
///
/// The outer rate's `last_1` is updated before the inner loop and its old value is read after it.
/// `ix_1` counts admitted outer elements, also before the inner loop.
const WAITING: &str = "
loop waiting
comb 0 manifest at r0
comb 1 filter at r1
comb 2 indices_s at r2
comb 3 map at r0 stage 1
param arr_0: [u64] stream r0
rate r0 root ix_0 < len_0 { stage 0; child r1; child r2; stage 1 }
rate r1 sub r0 count ix_1 { stage 0 }
rate r2 nested r0 ix_2 < elt_0 { stage 0 }
group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
group last_1 owner r0 step r1 start 99 next elt_0 level 0 sequential
group sum_2 owner r0 step r2 start 0.0 id -0.0 next new_2 combine add level 0 lanes 4
init_0, init_1, init_2, init_3:
  let len_0 = arrayLength arr_0
  let out_3 = newArray u64 len_0
  carry ix_0 = 0
  carry ix_1 = 0
  carry last_1 = 99
  carry sum_2 = 0.0
guard_0, guard_3:
  let more_0 = lt ix_0 len_0
  unless more_0 | done_0
body_0:
  let elt_0 = readArray arr_0 ix_0
yield_0:
guard_1:
  let odd_1 = and elt_0 1
  let p_1 = ne odd_1 0
  unless p_1 | bottom_1
body_1:
yield_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
  last_1 := elt_0
bottom_1:
nest_2:
  carry ix_2 = 0
guard_2:
  let more_2 = lt ix_2 elt_0
  unless more_2 | done_2
body_2:
  let x_2 = cast.f64 ix_2
  let new_2 = add sum_2 x_2
yield_2:
  sum_2 := new_2
bottom_2:
  let nix_2 = add ix_2 1
  ix_2 := nix_2
done_2:
body_3:
  let ten_3 = mul last_1 10
  let elt_3 = add ten_3 ix_1
yield_3:
  writeArray out_3 ix_0 elt_3
bottom_0, bottom_3:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1, done_3:
  return out_3 ix_1 sum_2
";

#[test]
fn updates_wait_across_inner_loops_and_pauses() {
    let k = kernel(&parse(WAITING));
    let args = [array(&[3u64, 2, 0, 5, 1])];
    let want = [
        Bits::Array(Ty::U64, vec![990, 31, 31, 31, 52]),
        Bits::Scalar(Ty::U64, 3),
        Bits::Scalar(Ty::F64, 14f64.to_bits()),
    ];
    assert_eq!(results(&k, &args), want);
    for step in 1..8 {
        let (outcome, cut) = run_cut(&k, &args, || step);
        assert_eq!(
            (outcome, &cut[..]),
            (Outcome::Done, &want[..]),
            "cut by {step}"
        );
    }
}

#[test]
fn totals_are_those_of_the_shared_state() {
    for name in ["dot_product", "filter_max", "min_index", "append"] {
        let program = golden(name);
        let k = kernel(&program);
        for seed in 0..10 {
            let args = random_args(&program, &mut Rng(seed));
            let mut frame = Frame::new(k.layout());
            if k.run(Pass::Emit, u64::MAX, &mut frame, &borrow(&args)) != Outcome::Done {
                continue;
            }
            let mut totals = Vec::new();
            for (i, g) in program.groups.iter().enumerate() {
                if g.order.lanes().is_some() {
                    let id = GroupId::new(i);
                    let total = group_total(&program, k.layout(), &frame.words, id);
                    let tys = g.vars.iter().map(|v| program.ty(*v).elem());
                    totals.extend(tys.zip(total).map(|(ty, word)| one_nan(ty, word)));
                }
            }
            let scalars: Vec<u64> = frame.results.iter().map(bits).filter_map(scalar).collect();
            assert!(
                scalars.iter().all(|s| totals.contains(s)),
                "{name}: {scalars:?} {totals:?}"
            );
        }
    }
}

fn scalar(bits: Bits) -> Option<u64> {
    match bits {
        Bits::Scalar(_, word) => Some(word),
        Bits::Array(..) => None,
    }
}

#[test]
fn long_chains_of_combinators_work() {
    use std::fmt::Write;
    const N: usize = 10_000;
    let mut combs = String::from("comb 0 manifest at r0\n");
    let mut rates = String::from("rate r0 root ix_0 < len_0 { stage 0; child r1 }\n");
    let (mut down, mut up) = (String::new(), String::new());
    for i in 1..=N {
        let child = if i < N {
            format!("; child r{}", i + 1)
        } else {
            String::new()
        };
        writeln!(combs, "comb {i} filter at r{i}").unwrap();
        writeln!(rates, "rate r{i} sub r{} {{ stage 0{child} }}", i - 1).unwrap();
        let previous = i - 1;
        write!(
            down,
            "guard_{i}:\n  let p_{i} = gt elt_{previous} 0i64\n  unless p_{i} | bottom_{i}\n\
             body_{i}:\n  let elt_{i} = add elt_{previous} 1i64\nyield_{i}:\n"
        )
        .unwrap();
        writeln!(up, "bottom_{}:", N + 1 - i).unwrap();
    }
    let text = format!(
        "loop chain\n{combs}comb sum sum at r{N}\nparam arr_0: [i64] stream r0\n{rates}\
         group acc_sum owner r0 step r{N} start 0i64 id 0i64 next new_sum combine add level 0 exact\n\
         init_0, init_sum:\n  let len_0 = arrayLength arr_0\n  carry ix_0 = 0\n  carry acc_sum = 0i64\n\
         guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0 | done_0\n\
         body_0:\n  let elt_0 = readArray arr_0 ix_0\nyield_0:\n\
         {down}  let new_sum = add acc_sum elt_{N}\n  acc_sum := new_sum\n{up}\
         bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n\
         done_0, done_sum:\n  return acc_sum\n"
    );
    let got = results(&kernel(&parse(&text)), &[array(&[1i64, -1, 5])]);
    assert_eq!(got, [Bits::Scalar(Ty::I64, 6 + 2 * N as u64)]);
}
