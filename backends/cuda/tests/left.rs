//! Loops with nests and early exits on the shim, in each mapping to threads.
//!
//! They exit where the interpreter does. Code beyond the exit does not write, join or trap.

use crate::shimmed::{OnShim, completed, far};
use crate::support::{Owned, Rng, golden, parse};
use livefusion_backend::{Buffer, Outcome};
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, Shim, can_compile};
use livefusion_tile::threads::shape::Shape;
use loop_lang::Loop;
use loop_lang::types::{Const, Ty};

/// The sums of rows up to the first large sum. Much later rows trap.
const LARGE: &str = "loop large
comb 0 manifest at r0
comb 1 sum at r1
comb 2 while at r0 stage 1
param h_0: u64
param w_1: u64
param arr_1: [i64] random
param most_2: i64
param last_2: u64
rate r0 root ix_0 < h_0 { stage 0; child r1; stage 1 }
rate r1 uniform r0 ix_1 < w_1 { stage 0 }
group acc_1 owner r1 step r1 start 0i64 id 0i64 next new_1 combine add level 0 exact
group live_2 owner r0 step r0 start true id true next go_2 combine and level 1 exact
group all_2 owner r0 step r0 start 5i64 id 0i64 next nall_2 combine add level 1 exact
trap t0 2 outOfRange
init_0, init_1, init_2:
  let out_1 = fillArray i64 h_0 9i64
  carry ix_0 = 0
  carry live_2 = true
  carry all_2 = 5i64
guard_0, guard_2:
  let more_0 = lt ix_0 h_0
  unless more_0
  unless live_2
body_0:
  let row_0 = mul ix_0 w_1
nest_1:
  carry ix_1 = 0
  carry acc_1 = 0i64
guard_1:
  let more_1 = lt ix_1 w_1
  unless more_1
body_1:
  let at_1 = add row_0 ix_1
  let elt_1 = readArray arr_1 at_1
  let new_1 = add acc_1 elt_1
yield_1:
  acc_1 := new_1
bottom_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
body_2:
  let near_2 = lt ix_0 last_2
  trap unless near_2, t0 (ix_0, last_2)
  let go_2 = le acc_1 most_2
  let nall_2 = add all_2 acc_1
yield_2:
  writeArray out_1 ix_0 acc_1
  live_2 := go_2
  all_2 := nall_2
bottom_0, bottom_2:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_2:
  return out_1 live_2 all_2 ix_0
";

/// Returns that loop with a second pass over each row, which requires teams, and an exit from a row
/// between the passes.
fn two_passes() -> Loop {
    let more = [
        ("comb 2 while", "comb 3 map at r3\ncomb 2 while"),
        (
            "{ stage 0; child r1; stage 1 }",
            "{ stage 0; child r1; stage 1; child r3 }",
        ),
        (
            "group acc_1",
            "rate r3 uniform r0 ix_3 < w_1 { stage 0 }\ngroup acc_1",
        ),
        (
            "init_0, init_1, init_2:",
            "init_0, init_1, init_2, init_3:\n  let cells_3 = mul h_0 w_1\n  let out_3 = fillArray i64 cells_3 3i64",
        ),
        (
            "  all_2 := nall_2\n",
            "  all_2 := nall_2\n  let less_2 = ne acc_1 0i64\n  unless less_2 | done_0\n",
        ),
        (
            "bottom_0, bottom_2:",
            "nest_3:
  carry ix_3 = 0
guard_3:
  let more_3 = lt ix_3 w_1
  unless more_3
body_3:
  let at_3 = add row_0 ix_3
  let elt_3 = readArray arr_1 at_3
  let less_3 = sub elt_3 acc_1
yield_3:
  writeArray out_3 at_3 less_3
bottom_3:
  let nix_3 = add ix_3 1
  ix_3 := nix_3
bottom_0, bottom_2:",
        ),
        // The counter is dead after an exit within a step.
        ("all_2 ix_0\n", "all_2 out_3\n"),
    ];
    let text = more.iter().fold(LARGE.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    completed(&text)
}

/// Makes rows with small sums, except one large sum and, optionally, one zero sum.
fn rows(height: u64, width: u64, large: u64, odd: Option<u64>) -> Vec<Owned> {
    let mut rng = Rng(3);
    let cells = (height * width) as usize;
    let mut elements: Vec<i64> = (0..cells).map(|_| rng.below(5) as i64).collect();
    let mut set = |row: u64, x: i64| {
        if row < height && width > 0 {
            let from = (row * width) as usize;
            let others: i64 = elements[from..from + width as usize - 1].iter().sum();
            elements[from + width as usize - 1] = x - others;
        }
    };
    set(large, 1_000_000);
    odd.into_iter().for_each(|row| set(row, 0));
    vec![
        Owned::Scalar(Const::u64(height)),
        Owned::Scalar(Const::u64(width)),
        Owned::Array(Buffer::from_vec(elements)),
        Owned::Scalar(Const::int(Ty::I64, 500_000)),
        Owned::Scalar(Const::u64(large + 3)),
    ]
}

fn agree(shim: &OnShim, program: &Loop, args: &[Owned], what: &str) {
    let apart = shim.differs(program, args);
    assert_eq!(apart, None, "{}: {what}", program.name);
}

/// A path exits before a row, for any tile size. With many rows, a team exits.
#[test]
fn the_first_large_row_ends_the_loop() {
    let program = completed(LARGE);
    let shape = Shape::of(&program).expect("it runs in parallel");
    let work = shape.work.to_string();
    assert_eq!(work, "threads share elements of rows that are equally long");
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    assert!(kernel.leaves && kernel.anywhere.is_none());
    assert!(kernel.rows.as_ref().is_some_and(|k| k.leaves));
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    for (height, width) in [(0, 3), (1, 9), (900, 5), (40, 300), (70, 1), (50, 0)] {
        for large in [0, 1, 7, 39, height.max(1) - 1, height + 9] {
            let args = rows(height, width, large, None);
            agree(
                &shim,
                &program,
                &args,
                &format!("{height} by {width}, {large}"),
            );
        }
    }
    let turns = Shim::default().turns * 10;
    let many = Shim {
        turns,
        ..Shim::default()
    };
    let shim = OnShim::on(&cxx, &program, many);
    for large in [5, 20_000] {
        let args = rows(33_000, 2, large, None);
        agree(&shim, &program, &args, &format!("many rows, {large}"));
    }
}

/// Teams exit before a row and in the middle of one. Later work, in this row and in others, has no
/// effect.
#[test]
fn teams_leave_between_passes() {
    let program = two_passes();
    let work = Shape::of(&program).expect("it runs in parallel").work;
    let why = "a team has a row, since it has several passes";
    assert_eq!(work.to_string(), why);
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    for (height, width) in [(1, 9), (200, 5), (30, 300), (9, 3000)] {
        for large in [0, 1, 7, height - 1, height + 9] {
            for odd in [None, Some(0), Some(large), Some(large + 1), Some(large / 2)] {
                let args = rows(height, width, large, odd);
                let what = format!("{height} by {width}, {large}, {odd:?}");
                agree(&shim, &program, &args, &what);
            }
        }
    }
}

/// The row search reads all rows and must not trap for one beyond the exit. Then each row gets one
/// thread.
#[test]
fn lengths_behind_the_end_trap_nobody() {
    let text = golden("exit_nested_find").to_string();
    let checked = text
        .replace(
            "  let last_1 = add",
            "  let len_1 = arrayLength arr_1\n  let last_1 = add",
        )
        .replace(
            "  let end_0 = add off_0 elt_0\n",
            "  let room_0 = sub len_1 off_0\n  let fits_0 = le elt_0 room_0\n  trap unless fits_0, t0 (elt_0, room_0)\n  let end_0 = add off_0 elt_0\n",
        );
    let program = parse(&checked);
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    assert!(kernel.places.is_some() && kernel.anywhere.as_ref().is_some_and(|k| k.leaves));
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    for (from, wrong) in [
        (100, None),
        (100, Some(600)),
        (100, Some(3)),
        (5000, Some(999)),
    ] {
        let mut lengths: Vec<u64> = (0..1000).map(|i| i % 7).collect();
        let count = lengths.iter().sum::<u64>();
        if let Some(at) = wrong {
            lengths[at] = 1 << 62;
        }
        let args = [
            Owned::Array(Buffer::from_vec(lengths)),
            Owned::Array(Buffer::from_vec(vec![1.0; count as usize])),
            Owned::Scalar(Const::u64(from)),
        ];
        agree(&shim, &program, &args, &format!("{from}, {wrong:?}"));
        let (outcome, _) = shim.run(&far(&args)).expect("it ends");
        let traps = matches!(outcome, Outcome::Trapped(_));
        assert_eq!(traps, wrong == Some(3) || from == 5000, "{from}, {wrong:?}");
    }
}

/// Returns rows of rows, in which an element may end all rows of its plane.
fn planes() -> Loop {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = folder.join("../../loop-lang/tests/files/chunkable/rows_of_rows.loop");
    let text = std::fs::read_to_string(file).expect("a text");
    let more = [
        ("param w_2: u64\n", "param w_2: u64\nparam every_2: u64\n"),
        (
            "init_0, init_1, init_2:\n",
            "group n_2 owner r0 step r2 start 0 id 0 next nn_2 combine add level 0 exact\n\
             init_0, init_1, init_2:\n  carry n_2 = 0\n",
        ),
        ("newArray u64 size_2\n", "fillArray u64 size_2 7\n"),
        (
            "  let at_2 = add from_1 ix_2\n",
            "  let at_2 = add from_1 ix_2\n  let nn_2 = add n_2 1\n  let rest_2 = rem at_2 every_2\n  let stays_2 = ne rest_2 5\n",
        ),
        (
            "  writeArray out_2 at_2 row_1\n",
            "  writeArray out_2 at_2 row_1\n  n_2 := nn_2\n  unless stays_2 | done_1\n",
        ),
        ("  return out_2\n", "  return out_2 n_2\n"),
    ];
    let text = more.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let program = parse(&text);
    loop_lang::verify::verify(&program).expect("it verifies");
    program
}

fn planes_of(sizes: [u64; 3], every: u64) -> Vec<Owned> {
    let all = sizes.into_iter().chain([every]);
    all.map(|n| Owned::Scalar(Const::u64(n))).collect()
}

/// One thread per row may leave several nested rates at once, and the tiles' sums account for it.
#[test]
fn several_rates_are_left_at_once() {
    let program = planes();
    let shape = Shape::of(&program).expect("it runs in parallel");
    assert!(shape.exits.nested && !shape.exits.any);
    let why = "a thread has a row, since a row may end in the middle of what else it does, and a row may end early";
    assert_eq!(shape.work.to_string(), why);
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    for sizes in [[0, 3, 3], [1, 4, 5], [300, 5, 6], [20, 40, 7], [700, 1, 9]] {
        for every in [1, 6, 7, 31, 100, 1000] {
            let args = planes_of(sizes, every);
            agree(&shim, &program, &args, &format!("{sizes:?}, {every}"));
        }
    }
    let faults = [(
        "only the innermost one is left",
        "lf_out = 1; break;",
        "break;",
    )];
    are_found(&program, &[planes_of([300, 5, 6], 31)], &faults);
}

/// A name of a fault, a text, and its replacement.
type Fault = (&'static str, &'static str, &'static str);

#[test]
fn faults_of_paths_are_found() {
    let faults = [
        (
            "nobody is asked whether a row begins",
            "if (at == 0 && !L::enters(",
            "if (false && !L::enters(",
        ),
        (
            "threads behind the end go on",
            "LF_DEVICE void end() { to = from; }\n  LF_DEVICE bool has_last(const lf_launch &) const",
            "LF_DEVICE void end() {}\n  LF_DEVICE bool has_last(const lf_launch &) const",
        ),
        (
            "every thread has the last step",
            "from < to && places.begin + to == ahead->all",
            "from < to",
        ),
        (
            "it is left at the step of the path",
            "return lf_exit{places.begin + step, i, how};",
            "return lf_exit{places.begin + step, places.begin + step, how};",
        ),
    ];
    let program = completed(LARGE);
    let args = [(900, 5, 300), (40, 300, 20), (900, 5, 900)];
    let args = args.map(|(h, w, large)| rows(h, w, large, None));
    are_found(&program, &args, &faults);
}

#[test]
fn faults_of_teams_are_found() {
    let faults = [
        (
            "a team gives what groups are at the end of the row",
            "if (LEAVES && lf_how != LF_GOES_ON) state = lf_left;",
            "",
        ),
        (
            "a team goes on in a row that it leaves",
            "lf_how = LF_LEFT_WITHIN;\n      lf_left = state;\n      EMIT = lf_ok = false;",
            "lf_how = LF_LEFT_WITHIN;\n      lf_left = state;",
        ),
        (
            "the last way out of a row counts",
            " && lf_how == LF_GOES_ON) {\n      lf_how = LF_LEFT_WITHIN;",
            ") {\n      lf_how = LF_LEFT_WITHIN;",
        ),
        (
            "teams behind the end have rows",
            "LF_DEVICE void end() { is_there = false; }",
            "LF_DEVICE void end() {}",
        ),
        (
            "every team has the last row",
            "is_there && at + 1 == launch.steps",
            "is_there",
        ),
    ];
    let program = two_passes();
    let args = [
        (200, 50, 90, Some(91)),
        (200, 50, 70, Some(30)),
        (200, 50, 220, None),
    ];
    let args = args.map(|(h, w, large, odd)| rows(h, w, large, odd));
    are_found(&program, &args, &faults);
}

#[test]
fn faults_of_rows_are_found() {
    let faults = [
        (
            "a thread goes on where it leaves",
            "(p, launch, launch.first + i, near, u32(i - begin), state);\n      if (how != LF_GOES_ON) return lf_exit{i, i, how};\n    }\n    return lf_nowhere();\n  }\n};\n\n// Runs the tile's work",
            "(p, launch, launch.first + i, near, u32(i - begin), state);\n    }\n    return lf_nowhere();\n  }\n};\n\n// Runs the tile's work",
        ),
        (
            "a row goes on where it is left",
            "if (LEAVES && !(go_3)) return LF_LEFT_WITHIN;",
            "",
        ),
    ];
    let program = golden("exit_straight");
    let args = [300, 1500, 5000].map(|from| {
        let lengths: Vec<u64> = (0..900).map(|i| i % 9).collect();
        let count = lengths.iter().sum::<u64>() as usize;
        vec![
            Owned::Array(Buffer::from_vec(lengths)),
            Owned::Array(Buffer::from_vec(vec![1i64; count])),
            Owned::Scalar(Const::u64(from)),
        ]
    });
    are_found(&program, &args, &faults);
}

/// Checks that each fault makes some run of a loop wrong.
fn are_found(program: &Loop, args: &[Vec<Owned>], faults: &[Fault]) {
    if !can_compile() {
        return;
    }
    let kernel = emit::kernel(program).expect("it runs in parallel");
    let cxx = Cxx::new().expect("the shim compiles");
    let is_sound = |cxx: &Cxx, turns| {
        let shim = Shim {
            turns,
            ..Shim::default()
        };
        let shim = OnShim::on(cxx, program, shim);
        (0..4).all(|_| args.iter().all(|a| shim.differs(program, a).is_none()))
    };
    assert!(is_sound(&cxx, Shim::default().turns));
    for (what, from, to) in faults {
        let cxx = cxx.tampered_in(&kernel.text, from, to);
        assert!(!is_sound(&cxx, 2_000_000), "not noticed: {what}");
    }
}
