//! Rows of teams, or of single threads, give the interpreter's results.

use crate::segments::{agree, are_found, args_of};
use crate::shimmed::{OnShim, completed, long_args};
use crate::support::{Rng, parse};
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, Shim, can_compile};
use loop_lang::Loop;

/// Many rows of a known length: each has a team of threads.
#[test]
fn many_rows_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(29);
    for (name, many) in [
        ("row_sums", [66_000, 2]),
        ("stencil_sums", [33_000, 16]),
        ("moved_sums", [66_000, 2]),
    ] {
        let program = crate::support::golden(name);
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let rows = kernel.rows.as_ref().expect("a kernel for many rows");
        assert!(rows.text.contains("lf_by_teams<"), "{name}");
        let turns = Shim::default().turns * 10;
        let shim = OnShim::on(
            &cxx,
            &program,
            Shim {
                turns,
                ..Shim::default()
            },
        );
        let args = args_of(&program, &[], &many, &mut rng);
        agree(&shim, name, &program, &args, "many rows");
        let few = args_of(&program, &[], &[3, 1000], &mut rng);
        agree(&shim, name, &program, &few, "few rows");
        let is_near = rows.text.contains("lf_read(near.arr_1, ");
        assert!(is_near, "{}", rows.text);
        let fault = cxx.tampered(
            "lf_copy_async<16>(near.room + lf_spread<GAPS>(k * sizeof(T)), from + k);",
            "lf_copy_async<16>(near.room + k * sizeof(T), from + k);",
        );
        let shim = OnShim::of(&fault, &program);
        assert!(shim.differs(&program, &args).is_some(), "{name}");
    }
}

#[test]
fn faults_of_teams_are_found() {
    let faults = [
        (
            "half of a team is left out",
            "for (u32 reach = 1; reach < part;",
            "for (u32 reach = 1; reach < part / 2;",
        ),
        (
            "a block's warps are not waited for",
            "if (lane == 0) warps[warp] = own;\n    __syncthreads();",
            "if (lane == 0) warps[warp] = own;",
        ),
        (
            "all of a team speak for their row",
            "return is_there && lane == 0;",
            "return is_there;",
        ),
        (
            "each of a team has what comes before itself",
            "return lf_from_first(before, threads);",
            "return before;",
        ),
        (
            "what a team folds begins anew in its pass",
            "::join(p, lf_before, lf_of_team",
            "::join(p, lf_none, lf_of_team",
        ),
    ];
    are_found("normalise", &faults);
}

#[test]
fn faults_of_squares_are_found() {
    let faults = [
        (
            "a square's rows begin one too far",
            "const u64 i = row + k;",
            "const u64 i = row + k + 1;",
        ),
        (
            "squares at the side are left out",
            "across = (width + wide - 1) / wide,",
            "across = width / wide,",
        ),
        (
            "squares below are left out",
            "below = (rows + LF_WARP - 1) / LF_WARP;",
            "below = (rows + LF_WARP - 1) / LF_WARP / 2;",
        ),
        ("a block passes over squares", "      side -= across;\n", ""),
        (
            "a row is taken for a column",
            "near, at * LF_LINE + k, state",
            "near, k * LF_LINE + at, state",
        ),
        (
            "a square is taken before it is there",
            "    lf_copies_done();\n    __syncthreads();\n  }\n}",
            "  }\n}",
        ),
        (
            "a square comes before all have taken the last one",
            "  if (L::ROOM > 0) __syncthreads();\n  L::fetches",
            "  L::fetches",
        ),
        (
            "a square that is whole has its lines too far apart",
            "      f(k, i, true);\n      k += warps * LF_LINE;",
            "      f(k, i, true);\n      k += warps * LF_LINE + 1;",
        ),
        (
            "where rows are short, a thread has one step only",
            "at < places.steps; at += L::THREADS) {",
            "at < places.steps; at += L::TILE) {",
        ),
    ];
    are_found("transpose", &faults);
}

/// Transposed reads go through squares, for elements of any type.
#[test]
fn squares_are_turned_around() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(59);
    let (_, text) = crate::support::golden_texts()
        .into_iter()
        .find(|(name, _)| name == "transpose")
        .expect("a golden loop");
    for ty in ["f64", "u8", "i32"] {
        let program = parse(&text.replace("f64", ty));
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let turns = "lf_take(near.arr_1, lf_k, at_1)";
        assert!(kernel.text.contains(turns), "{}", kernel.text);
        let shim = OnShim::of(&cxx, &program);
        for sizes in [
            [64, 96],
            [70, 100],
            [100, 33],
            [7, 40],
            [40, 7],
            [1, 1],
            [0, 5],
        ] {
            let args = args_of(&program, &[], &sizes, &mut rng);
            agree(&shim, "transpose", &program, &args, ty);
        }
    }
}

/// A contracted square array passes from one subrate to another, which is admitted if `test` is.
fn handing_on(test: &str) -> Loop {
    let text = format!(
        "loop handing_on
comb 0 manifest at r0
comb 1 map at r1
comb 2 filter at r2
param xs_0: [i64] stream r0
rate r0 root ix_0 < len_0 {{ stage 0; child r1; child r2 }}
rate r1 sub r0 {{ stage 0 }}
rate r2 sub r0 count n_2 {{ stage 0 }}
group n_2 owner r0 step r2 start 0 id 0 next nn_2 combine add level 0 exact
group sum_2 owner r0 step r2 start 0i64 id 0i64 next nsum_2 combine add level 0 exact
init_0, init_1, init_2:
  let len_0 = arrayLength xs_0
  let cell_1 = newArray i64 1
  let out_2 = newArray i64 len_0
  carry ix_0 = 0
  carry n_2 = 0
  carry sum_2 = 0i64
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0
body_0:
  let elt_0 = readArray xs_0 ix_0
  let pos_0 = gt elt_0 0i64
  let neg_0 = lt elt_0 0i64
guard_1:
  unless pos_0
body_1:
  let sq_1 = mul elt_0 elt_0
yield_1:
  writeArray cell_1 0 sq_1
guard_2:
  unless {test}
body_2:
  let got_2 = readArray cell_1 0
yield_2:
  writeArray out_2 n_2 got_2
  let nn_2 = add n_2 1
  let nsum_2 = add sum_2 got_2
  n_2 := nn_2
  sum_2 := nsum_2
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1, done_2:
  let res_2 = sliceArray out_2 n_2
  return res_2 sum_2
"
    );
    completed(&text)
}

#[test]
fn contracted_rows_belong_to_one_thread() {
    let mut program = handing_on("neg_0");
    let refused = emit::kernel(&program).expect_err("it may be read where it was not written");
    assert_eq!(
        refused.to_string(),
        "`filter` reads an array that the same loop writes"
    );
    program = handing_on("pos_0");
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    assert!(kernel.text.contains("cell_1 = sq_1;"), "{}", kernel.text);
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    let args = args_of(&program, &[], &[], &mut Rng(37));
    agree(&shim, "handing_on", &program, &args, "one");
    let mut rng = Rng(41);
    let long = long_args(&program, 3000, &mut rng);
    agree(&shim, "handing_on", &program, &long, "many");
}

/// The golden loop with a buffer for each segment, here with rows of equal length: the loop
/// allocates one row.
#[test]
fn contracted_rows_have_memory_of_their_own() {
    let texts = crate::support::golden_texts();
    let (_, text) = texts
        .iter()
        .find(|(n, _)| n == "segment_buffer")
        .expect("a golden loop");
    let changes = [
        (
            "param lens_0: [u64] stream r0",
            "param h_0: u64\nparam w_0: u64",
        ),
        ("rate r1 nested", "rate r1 uniform"),
        ("rate r2 nested", "rate r2 uniform"),
        ("let len_0 = arrayLength lens_0", "let len_0 = copy h_0"),
        ("  let elt_0 = readArray lens_0 ix_0\n", ""),
        ("  let room_1 = sub len_1 ix_1\n", ""),
        ("  let fits_1 = le elt_0 room_1\n", ""),
        ("  trap unless fits_1, t0 (elt_0, room_1)\n", ""),
        ("  let size_1 = select fits_1 elt_0 0\n", ""),
        ("trap t0 1 segments\n", ""),
        (
            "scratchArray f64 len_1\n  let out",
            "scratchArray f64 w_0\n  let out",
        ),
        ("size_1", "w_0"),
    ];
    let text = changes.iter().fold(text.clone(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let program = parse(&text);
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    for sizes in [[300, 3], [40, 50], [3, 2100], [0, 3], [5, 0]] {
        let args = args_of(&program, &[], &sizes, &mut Rng(43));
        agree(&shim, "strips", &program, &args, "rows");
    }
}
