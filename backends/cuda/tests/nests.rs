//! Loops with nested rates give the interpreter's results for any lengths.

use crate::segments::{agree, args, word};
use crate::shimmed::{OnShim, plain};
use crate::support::{Owned, Rng, borrow, parse};
use livefusion_backend::{Buffer, Outcome};
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, can_compile};
use livefusion_tile::threads::phases::Phases;
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, RateKind, Var};
use loop_lang::types::{Const, Ty};
use std::path::Path;

/// The reasons why loops with nested rates are refused.
const REFUSED: &[(&str, &str)] = &[
    ("mirror_nested", "ix_1 runs on, and is in no group"),
    ("zip_sums", "the sides of `zip_with` advance differently"),
    (
        "zips_of_segments",
        "the sides of `zip_shortest` advance differently",
    ),
    (
        "chunkable_contracted_early",
        "`map` writes at indices that may repeat",
    ),
    (
        "chunkable_cursor_of_segments",
        "the sides of `zip_shortest` advance differently",
    ),
    (
        "chunkable_rows_by_others",
        "`generate` writes at indices that may repeat",
    ),
    (
        "chunkable_rows_not_uniform",
        "`generate` writes at indices that may repeat",
    ),
];

const UNIFORM: &str = "threads share elements of rows that are equally long";
const SEGMENTS: &str = "threads share elements of segments";
const PASSES: &str = "a team has a row, since it has several passes";

/// The forms of the other loops.
const FORMS: &[(&str, &str)] = &[
    ("column_sums", UNIFORM),
    ("exit_nested_find", SEGMENTS),
    ("exit_of_segments", SEGMENTS),
    (
        "exit_straight",
        "a thread has a row, since a row may be left before its end, and a row may end early",
    ),
    ("exit_sub_of_nested", SEGMENTS),
    ("matrix_product", UNIFORM),
    ("moved_sums", UNIFORM),
    ("normalise", PASSES),
    (
        "phases_nested",
        "threads share elements of segments; a thread has steps; a thread has steps",
    ),
    ("row_sums", UNIFORM),
    ("segment_buffer", PASSES),
    ("segmented", SEGMENTS),
    ("stencil", UNIFORM),
    ("stencil_sums", UNIFORM),
    ("stencil_zeros", UNIFORM),
    ("transpose", UNIFORM),
    ("chunkable_contracted", PASSES),
    ("chunkable_contracted_and_summed", PASSES),
    ("chunkable_from_elsewhere", UNIFORM),
    ("chunkable_from_ends", UNIFORM),
    ("chunkable_indices", PASSES),
    ("chunkable_normalise", PASSES),
    ("chunkable_rows_of_rows", UNIFORM),
    ("chunkable_segmented", SEGMENTS),
    ("chunkable_transpose", UNIFORM),
];

/// Returns golden loops, and loops of the chunk tests, with a nested rate.
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
    let all = crate::support::golden_texts().into_iter().chain(more);
    let all = all.map(|(name, text)| (name, parse(&text)));
    all.filter(|(_, l)| is_nested(l)).collect()
}

fn is_nested(program: &Loop) -> bool {
    let mut kinds = program.rates.iter().map(|r| r.kind);
    kinds.any(|k| matches!(k, RateKind::Nested { .. }))
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

#[test]
fn nested_loops_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(17);
    let (mut refused, mut forms) = (Vec::new(), Vec::new());
    for (name, program) in loops() {
        match Phases::of(&program).shapes() {
            Ok(shapes) => {
                let works: Vec<String> = shapes.iter().map(|s| s.work.to_string()).collect();
                forms.push((name.clone(), works.join("; ")));
            }
            Err(why) => {
                refused.push((name, why.to_string()));
                continue;
            }
        }
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

const REREAD: &str = "`cumsum` reads an array that the same loop writes";

/// The reasons why programs' loops with nested rates are refused.
const REFUSED_PROGRAMS: &[(&str, &str)] = &[
    ("flat_map_then_take_0", "ix_1 goes from left to right"),
    ("running_planes_figure_17_0", REREAD),
    ("running_rows_iswim_0", REREAD),
    ("trimmed_sums_of_segments_0", "a step sorts arrays"),
];

#[test]
fn programs_with_segments_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(31);
    let mut refused = Vec::new();
    let programs = crate::programs::lowered().into_iter();
    for (name, program) in programs.filter(|(_, l)| is_nested(l)) {
        if let Err(why) = emit::kernels(&program) {
            refused.push((name, why.to_string()));
            continue;
        }
        let shim = OnShim::of(&cxx, &program);
        let (mut whole, mut trapped) = (0, 0);
        // Most arguments do not match each other.
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

/// A trap of every element occurs if there is an element. Its test is constant, or depends only on
/// the segment.
#[test]
fn nest_that_traps_in_all_elements_traps_in_elements() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let of_segment = ALWAYS
        .replace(
            "  goto yield_0\nyield_0",
            "  let ok_0 = lt elt_0 3\n  goto yield_0\nyield_0",
        )
        .replace("unless false", "unless ok_0");
    for text in [ALWAYS, &of_segment] {
        let program = parse(text);
        let shim = OnShim::of(&cxx, &program);
        for lengths in [vec![], vec![0, 0], vec![2, 1], vec![0, 3, 1]] {
            let all = Const::new(Ty::U64, lengths.iter().sum());
            let args = [
                Owned::Array(Buffer::from_vec(lengths)),
                Owned::Scalar(Const::new(Ty::U16, 19)),
                Owned::Scalar(all),
            ];
            agree(&shim, "always", &program, &args, "traps");
        }
    }
}

const ALWAYS: &str = "\
loop loop_0
comb 0 manifest at r0
comb 1 step1 at r1
param arr_0: [u64] stream r0
param k_1: u16
param len_1: u64
rate r0 root ix_0 < len_0 { stage 0; child r1 }
rate r1 nested r0 ix_1 < end_1 { stage 0 }
group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
trap t0 1 segments
trap t1 1 division
init_0, init_1:
  let len_0 = arrayLength arr_0
  carry ix_0 = 0
  carry ix_1 = 0
  let out_1 = newArray bool len_1
  let out1_1 = newArray u16 len_1
  let t_1 = div k_1 0u16
  let elt1_1 = countOnes t_1
  goto guard_0
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0 | done_0
  goto body_0
body_0:
  let elt_0 = readArray arr_0 ix_0
  goto yield_0
yield_0:
  goto nest_1
nest_1:
  let room_1 = sub 281474976710656 ix_1
  let fits_1 = le elt_0 room_1
  trap unless fits_1, t0 (elt_0, room_1)
  let size_1 = select fits_1 elt_0 0
  let end_1 = add ix_1 size_1
  goto guard_1
guard_1:
  let more_1 = lt ix_1 end_1
  unless more_1 | done_1
  goto body_1
body_1:
  trap unless false, t1 (k_1, 0u16)
  goto yield_1
yield_1:
  writeArray out_1 ix_1 false
  writeArray out1_1 ix_1 elt1_1
  goto bottom_1
bottom_1:
  let nix_1 = add ix_1 1
  ix_1 := nix_1
  goto guard_1
done_1:
  goto bottom_0
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
  goto guard_0
done_0:
  return out_1 out1_1
";

/// Returns the parameters that are identities of folds.
fn identities(program: &Loop) -> impl Iterator<Item = Var> {
    let all = program.groups.iter().flat_map(|g| &g.identity);
    all.filter_map(|a| a.var())
}

/// Guesses matching arguments: segment lengths or column counts, with the resulting number of
/// elements.
fn guessed(program: &Loop, rng: &mut Rng) -> Vec<Owned> {
    let (rows, columns) = (rng.below(150), rng.below(9));
    let (is_ragged, least) = (rng.below(2) == 0, rng.below(2));
    let mut total = if is_ragged { rows } else { rows * columns };
    let mut all = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        if p.kind == ParamKind::Scalar {
            let number = [rows, columns, total][rng.below(3) as usize];
            let bits = match ty {
                Ty::U64 => number,
                // A loop's caller promises identities. Those of these programs are of sums.
                _ if identities(program).any(|v| v == p.var) => 0,
                _ => word(ty, rng),
            };
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
        // Arrays after the lengths may have the total length.
        if let Some(lengths) = buffer.as_slice::<u64>().filter(|_| is_ragged) {
            total = lengths.iter().sum();
        }
        all.push(Owned::Array(buffer));
    }
    all
}
