//! Loops with nested rates: whatever the lengths of segments and rows, what they give is what the interpreter gives.

mod programs;
mod shimmed;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use livefusion_backend::{Backend, Buffer, Frame, Outcome, Pass};
use livefusion_cuda::device::session::Session;
use livefusion_cuda::{CudaBackend, emit};
use livefusion_cuda_shim::{Call, Cxx, Shim, can_compile};
use livefusion_interp::InterpBackend;
use livefusion_tile::threads::shape::Shape;
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, RateKind, Type};
use loop_lang::types::{Const, Ty};
use shimmed::{OnShim, far, long_args, plain};
use std::path::Path;
use std::sync::Arc;
use support::{Owned, Rng, borrow, parse};

const ENDS: &str = "it may end before its bound in the middle of what else it does";

/// Why loops with nested rates are refused.
const REFUSED: &[(&str, &str)] = &[
    ("exit_nested_find", ENDS),
    ("exit_straight", ENDS),
    ("exit_sub_of_nested", ENDS),
    ("mirror_nested", "ix_1 runs on, and is in no group"),
    ("moved_sums", "`map` writes at places that may repeat"),
    ("phases_nested", "it has 3 loops that follow each other"),
    ("zip_sums", "segs is advanced on demand"),
    ("zips_of_segments", "xs is advanced on demand"),
    ("chunkable_cursor_of_segments", "xs is advanced on demand"),
    (
        "chunkable_rows_by_others",
        "`generate` writes at places that may repeat",
    ),
    (
        "chunkable_rows_not_uniform",
        "`generate` writes at places that may repeat",
    ),
];

const UNIFORM: &str = "threads share elements of rows that are equally long";
const SEGMENTS: &str = "threads share elements of segments";
const PASSES: &str = "a team has a row, since it has several passes";

/// How the others are run.
const FORMS: &[(&str, &str)] = &[
    ("column_sums", UNIFORM),
    ("exit_of_segments", SEGMENTS),
    ("matrix_product", UNIFORM),
    ("normalise", PASSES),
    ("row_sums", UNIFORM),
    ("segment_buffer", PASSES),
    ("segmented", SEGMENTS),
    ("stencil", UNIFORM),
    ("stencil_sums", UNIFORM),
    ("stencil_zeros", UNIFORM),
    ("transpose", UNIFORM),
    ("chunkable_indices", PASSES),
    ("chunkable_normalise", PASSES),
    ("chunkable_rows_of_rows", UNIFORM),
    ("chunkable_segmented", SEGMENTS),
    ("chunkable_transpose", UNIFORM),
];

/// Golden loops, and those of the tests of chunks, in which a rate is nested.
fn loops() -> Vec<(String, Loop)> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../loop-lang/tests/files/chunkable");
    let more = std::fs::read_dir(folder).expect("a folder").map(|file| {
        let path = file.expect("a file").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("a text");
        (format!("chunkable_{name}"), text)
    });
    let mut more: Vec<_> = more.collect();
    more.sort();
    let all = support::golden_texts().into_iter().chain(more);
    let all = all.map(|(name, text)| (name, parse(&text)));
    all.filter(|(_, l)| is_nested(l)).collect()
}

fn is_nested(program: &Loop) -> bool {
    let mut kinds = program.rates.iter().map(|r| r.kind);
    kinds.any(|k| matches!(k, RateKind::Nested { .. }))
}

/// Lengths of segments.
fn lengths(case: &str, rng: &mut Rng) -> Vec<u64> {
    match case {
        "none" => vec![],
        "one" => vec![7],
        "empty ones" => vec![0; 700],
        "long ones" => vec![5500, 2000, 0, 6000],
        "short ones" => (0..3000).map(|_| rng.below(5)).collect(),
        "a giant" => {
            let mut all = vec![0; 900];
            all[417] = 7000;
            all
        }
        _ => (0..300).map(|_| rng.below(4) * rng.below(20)).collect(),
    }
}

/// Rows of rows: numbers of each.
fn sizes(case: &str) -> [u64; 3] {
    match case {
        "none" => [0, 5, 3],
        "one" => [1, 9, 4],
        "empty ones" => [300, 0, 0],
        "short ones" => [400, 3, 5],
        "a giant" => [2, 1500, 2],
        "squares" => [100, 70, 1],
        "long ones" => [3, 2100, 2],
        _ => [37, 29, 3],
    }
}

const CASES: [&str; 7] = [
    "long ones",
    "none",
    "one",
    "empty ones",
    "short ones",
    "a giant",
    "mixed ones",
];

/// A word of a type. Floats are such that sums are exact, in whatever order: a quotient by a sum is the same then, too.
fn word(ty: Ty, rng: &mut Rng) -> u64 {
    let eighths = rng.below(2000) as f64 / 8.0 - 100.0;
    match ty {
        Ty::F64 => eighths.to_bits(),
        Ty::F32 => u64::from((eighths as f32).to_bits()),
        _ => rng.word(ty),
    }
}

/// Arguments: an array of lengths, and arrays of as many elements; or the numbers of rows and columns.
fn args(program: &Loop, case: &str, rng: &mut Rng) -> Vec<Owned> {
    let lengths = lengths(case, rng);
    args_of(program, &lengths, &sizes(case), rng)
}

fn args_of(program: &Loop, lengths: &[u64], sizes: &[u64], rng: &mut Rng) -> Vec<Owned> {
    let is_array = |p: &&loop_lang::ir::Param| p.kind != ParamKind::Scalar;
    let ragged = program.params.iter().find(is_array);
    let ragged = ragged.filter(|p| program.ty(p.var) == Type::Array(Ty::U64));
    let mut sizes = sizes.iter().copied();
    let mut cells = 1;
    let mut all = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        let is_size = ["h_", "w_", "m_", "p_", "n_", "d_"]
            .iter()
            .any(|s| program.name(p.var).starts_with(s));
        let len = match ragged {
            _ if p.kind == ParamKind::Scalar => {
                let word = match ty {
                    Ty::U64 if is_size => sizes.next().expect("three sizes"),
                    Ty::U64 => rng.below(3000),
                    _ => word(ty, rng),
                };
                cells *= if is_size { word } else { 1 };
                all.push(Owned::Scalar(Const::new(ty, word)));
                continue;
            }
            Some(lens) if lens.var == p.var => {
                all.push(Owned::Array(Buffer::from_vec(lengths.to_vec())));
                continue;
            }
            Some(_) => lengths.iter().sum(),
            None => cells,
        };
        let mut buffer = Buffer::zeroed(ty, len as usize).expect("memory");
        for i in 0..buffer.len() {
            buffer.set_word(i, word(ty, rng));
        }
        all.push(Owned::Array(buffer));
    }
    all
}

/// Runs a loop on the shim and in the interpreter.
fn agree(shim: &OnShim, name: &str, program: &Loop, args: &[Owned], case: &str) {
    assert_eq!(shim.differs(program, args), None, "{name}: {case}");
}

#[test]
fn nested_loops_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(17);
    let (mut refused, mut forms) = (Vec::new(), Vec::new());
    for (name, program) in loops() {
        if let Err(why) = emit::kernel(&program) {
            refused.push((name, why.to_string()));
            continue;
        }
        let shape = Shape::of(&program).expect("it runs in parallel");
        forms.push((name.clone(), shape.work.to_string()));
        let shim = OnShim::of(&cxx, &program);
        for case in CASES {
            for _ in 0..2 {
                let args = args(&program, case, &mut rng);
                agree(&shim, &name, &program, &args, case);
            }
        }
    }
    assert_eq!(of_names(&refused), REFUSED);
    assert_eq!(of_names(&forms), FORMS);
}

fn of_names(table: &[(String, String)]) -> Vec<(&str, &str)> {
    let rows = table.iter();
    rows.map(|(name, what)| (name.as_str(), what.as_str()))
        .collect()
}

/// Rows of a known length of which there are many: a team of threads has each.
#[test]
fn many_rows_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(29);
    for (name, many) in [("row_sums", [66_000, 2]), ("stencil_sums", [33_000, 16])] {
        let program = support::golden(name);
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

/// What is wrong, and the text that it replaces by another, in the prelude or in a kernel.
type Fault = (&'static str, &'static str, &'static str);

#[test]
fn faults_of_segments_are_found() {
    let faults = [
        (
            "no part says that a segment begins in it",
            "    state.level0.lf_begun = true;\n",
            "",
        ),
        (
            "a segment goes on with what came of the one before",
            "if (b.lf_begun) {",
            "if (false) {",
        ),
        (
            "what comes before a tile is joined twice",
            "scanned.all));\n  return Group::join(p, before, scanned.before);",
            "scanned.all));\n  return Group::join(p, before, Group::join(p, before, scanned.before));",
        ),
        (
            "a step is searched one segment too far",
            "(low + last + 1) * ends > step",
            "(low + last + 1) * ends >= step",
        ),
        (
            "a segment that begins with a thread's steps does not begin",
            "if (at == 0) L::begin(head, state);",
            "",
        ),
        (
            "a thread has its first element again",
            "        k += 1;\n",
            "",
        ),
        (
            "a segment ends one step too late",
            "step + 1 == stop;",
            "step == stop;",
        ),
        (
            "a tile that no segment begins in is taken for all up to it",
            "return x.lf_begun;",
            "return true;",
        ),
        (
            "nothing is done where nothing trapped before",
            "*launch.stopped != 0",
            "*launch.stopped == 0",
        ),
        (
            "elements are taken before they are there",
            "  lf_copies_done();\n  __syncthreads();\n  return near;",
            "  __syncthreads();\n  return near;",
        ),
        (
            "elements are taken before others have brought them",
            "  lf_copies_done();\n  __syncthreads();\n  return near;",
            "  lf_copies_done();\n  return near;",
        ),
        (
            "elements before the first whole piece are left out",
            "k < before + end - rest; k += THREADS",
            "k < end - rest; k += THREADS",
        ),
        (
            "a tile has the rows of the one before it",
            "if (lf_ahead<L>::GOES) ahead->find_rows(p);",
            "",
        ),
        (
            "a tile that is taken ahead is told to nobody",
            "if (Ahead::GOES && threadIdx.x == 0) ahead.tile = taken;",
            "",
        ),
        (
            "a tile comes before all are done with the last one",
            "    __syncthreads();\n    const u64 begin = tile * L::TILE, left = all - begin;\n    const u32 steps",
            "    const u64 begin = tile * L::TILE, left = all - begin;\n    const u32 steps",
        ),
        (
            "elements of long segments write nothing",
            "K == L::LEVELS && is_within && !L::ACTS",
            "K == L::LEVELS && is_within",
        ),
        (
            "what segments come to goes to their neighbours",
            "ends.begin + k, *(ends.top - 1 - k)",
            "ends.begin + k, *(ends.top - 2 - k)",
        ),
        (
            "segments that end in a tile are counted from the one behind its first",
            "u32(i - places.first), state",
            "u32(i - places.first) + 1, state",
        ),
        (
            "what is written goes out before all have written",
            "  if (L::STORES) __syncthreads();\n  L::stores",
            "  L::stores",
        ),
        (
            "what is written goes out one place too far",
            "from.array.at[from.begin + k] = *from.at(k);",
            "from.array.at[from.begin + k + 1] = *from.at(k);",
        ),
        (
            "a segment lies where the one before does",
            "lf_give(near.lf_places, lf_k, ",
            "lf_give(near.lf_places, lf_k + 1, ",
        ),
    ];
    are_found("segmented", &faults);
}

#[test]
fn faults_of_teams_are_found() {
    let faults = [
        (
            "half of a team is left out",
            "for (u32 reach = part / 2;",
            "for (u32 reach = part / 4;",
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

/// What is read the other way is turned around in squares, of whatever type it is.
#[test]
fn squares_are_turned_around() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(59);
    let (_, text) = support::golden_texts()
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

/// Each fault makes some run of a loop wrong.
fn are_found(name: &str, faults: &[Fault]) {
    if !can_compile() {
        return;
    }
    let program = support::golden(name);
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(23);
    let inputs: Vec<_> = [
        "short ones",
        "a giant",
        "mixed ones",
        "long ones",
        "squares",
    ]
    .iter()
    .map(|case| args(&program, case, &mut rng))
    .collect();
    let is_sound = |cxx: &Cxx, turns| {
        let shim = OnShim::on(
            cxx,
            &program,
            Shim {
                turns,
                ..Shim::default()
            },
        );
        let mut runs = inputs.iter();
        runs.all(|args| shim.differs(&program, args).is_none())
    };
    assert!(is_sound(&cxx, Shim::default().turns));
    for (what, from, to) in faults {
        let cxx = cxx.tampered_in(&kernel.text, from, to);
        assert!(!is_sound(&cxx, 2_000_000), "not noticed: {what}");
    }
}

const REREAD: &str = "`cumsum_axis` uses an array that the same loop writes";

/// Why programs' loops with nested rates are refused.
const REFUSED_PROGRAMS: &[(&str, &str)] = &[
    ("flat_map_then_take_0", "ix_1 goes from left to right"),
    ("running_planes_figure_17_0", REREAD),
    ("running_rows_iswim_0", REREAD),
    (
        "sieve_0",
        "it joins values onto elements of which the last one stays",
    ),
    ("sums_of_groups_0", "it has 2 loops that follow each other"),
];

#[test]
fn programs_with_segments_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(31);
    let mut refused = Vec::new();
    let programs = programs::lowered().into_iter();
    for (name, program) in programs.filter(|(_, l)| is_nested(l)) {
        if let Err(why) = emit::kernel(&program) {
            refused.push((name, why.to_string()));
            continue;
        }
        let shim = OnShim::of(&cxx, &program);
        let (mut whole, mut trapped) = (0, 0);
        // Most arguments do not fit each other.
        for _ in 0..500 {
            let args = guessed(&program, &mut rng);
            let count = match plain(&program, &borrow(&args)).0 {
                Outcome::Trapped(_) => &mut trapped,
                _ => &mut whole,
            };
            *count += 1;
            if *count < 3 {
                agree(&shim, &name, &program, &args, "guessed");
            }
            if whole == 2 {
                break;
            }
        }
        assert!(whole > 0, "{name}: no arguments fit");
    }
    assert_eq!(of_names(&refused), REFUSED_PROGRAMS);
}

/// Arguments as they may fit each other: lengths of segments or numbers of columns, and as many elements as these say.
fn guessed(program: &Loop, rng: &mut Rng) -> Vec<Owned> {
    let (rows, columns) = (rng.below(150), rng.below(9));
    let (is_ragged, least) = (rng.below(2) == 0, rng.below(2));
    let mut total = if is_ragged { rows } else { rows * columns };
    let mut all = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        if p.kind == ParamKind::Scalar {
            let number = [rows, columns, total][rng.below(3) as usize];
            let bits = if ty == Ty::U64 { number } else { word(ty, rng) };
            all.push(Owned::Scalar(Const::new(ty, bits)));
            continue;
        }
        let len = if rng.below(4) == 0 { rows } else { total };
        let mut buffer = Buffer::zeroed(ty, len as usize).expect("memory");
        for i in 0..buffer.len() {
            let long = if rng.below(40) == 0 { rng.below(50) } else { 0 };
            let word = match ty {
                Ty::U64 => least + rng.below(4) + long,
                _ => word(ty, rng),
            };
            buffer.set_word(i, word);
        }
        // What comes behind lengths may be as long as they say.
        if let Some(lengths) = buffer.as_slice::<u64>().filter(|_| is_ragged) {
            total = lengths.iter().sum();
        }
        all.push(Owned::Array(buffer));
    }
    all
}

/// A square that one sub rate hands on to another, which is admitted where `test` is.
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
    let mut program = loop_lang::parse::parse(&text).expect("a loop");
    loop_lang::gotos::complete_blocks(&mut program);
    loop_lang::gotos::derive_gotos(&mut program);
    program
}

#[test]
fn what_is_handed_on_is_a_threads_own() {
    let mut program = handing_on("neg_0");
    let refused = emit::kernel(&program).expect_err("it may be read where it was not written");
    assert_eq!(
        refused.to_string(),
        "`map` writes at places that may repeat"
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

/// The golden loop of a buffer for a segment, of rows that are equally long: the loop makes room for one of them.
#[test]
fn rows_that_hand_on_have_room_of_their_own() {
    let texts = support::golden_texts();
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
            "newArray f64 len_1\n  let out",
            "newArray f64 w_0\n  let out",
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

/// Where elements are more than any array has, the kernel that was queued for as many as that does nothing, and is launched again.
#[test]
fn elements_may_be_more_than_any_array_has() {
    if !can_compile() {
        return;
    }
    let program = support::golden("exit_of_segments");
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(53);
    let lengths: Vec<u64> = (0..300).map(|i| i % 7 * 30).collect();
    let mut args = args_of(&program, &lengths[..3], &[], &mut rng);
    for (arg, p) in args.iter_mut().zip(&program.params) {
        if program.ty(p.var) == Type::Array(Ty::U64) {
            *arg = Owned::Array(Buffer::from_vec(lengths.clone()));
        }
    }
    let launches = |cxx: &Cxx, args: &[Owned]| {
        let driver = Shim::default().driver();
        let session = Session::new(driver.clone(), Box::new(cxx.clone()));
        let backend = CudaBackend::on(session, Arc::new(InterpBackend::new()));
        let kernel = backend.compile(&program).expect("it compiles");
        let mut frame = Frame::new(kernel.layout());
        let outcome = kernel.run(Pass::Emit, u64::MAX, &mut frame, &far(args));
        assert_eq!(outcome, Outcome::Done);
        (driver.calls(Call::Launch), driver.calls(Call::Wait))
    };
    let shim = OnShim::of(&cxx, &program);
    agree(&shim, "exit_of_segments", &program, &args, "beyond");
    assert_eq!(launches(&cxx, &args), (3, 2));
    let fitting = args_of(&program, &lengths, &[], &mut rng);
    // Nobody waits between the two.
    assert_eq!(launches(&cxx, &fitting), (2, 1));
    let whoever = cxx.tampered("all > launch.steps || ", "");
    let shim = OnShim::of(&whoever, &program);
    assert!(shim.differs(&program, &args).is_some(), "not noticed");
}

/// Lengths whose sum no number holds are a trap, whoever looks at them: nothing is read where they would lie.
#[test]
fn lengths_beyond_all_numbers_trap() {
    if !can_compile() {
        return;
    }
    let program = support::golden("exit_of_segments");
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    let lengths: Vec<u64> = (0..2000)
        .map(|i| if i % 700 == 3 { 1 << 63 } else { 1 })
        .collect();
    let args = args_of(&program, &lengths[..3], &[], &mut Rng(47));
    let args: Vec<Owned> = args
        .into_iter()
        .zip(&program.params)
        .map(|(arg, p)| match program.ty(p.var) {
            Type::Array(Ty::U64) => Owned::Array(Buffer::from_vec(lengths.clone())),
            _ => arg,
        })
        .collect();
    let (outcome, _) = shim.run(&far(&args)).expect("it ends");
    assert!(matches!(outcome, Outcome::Trapped(_)), "{outcome:?}");
}

/// A row that ends all rows of its plane: who runs the rows of a row knows no way out but the row's own.
#[test]
fn exits_from_several_rates_are_refused() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../loop-lang/tests/files/chunkable");
    let text = std::fs::read_to_string(folder.join("rows_of_rows.loop")).expect("a text");
    let leaving = "  unless more_2 | done_2\n  unless more_2 | done_1\n";
    let program = parse(&text.replace("  unless more_2 | done_2\n", leaving));
    let guard = program.blocks.iter().find(|(_, b)| b.exits.len() == 2);
    assert!(guard.is_some(), "{program}");
    let refused = emit::kernel(&program).expect_err("it has a way out of two rates");
    assert_eq!(refused.to_string(), ENDS);
}
