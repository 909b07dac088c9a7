//! Loops with nested rates: whatever the lengths of segments and rows, what they give is what the interpreter gives.

use crate::segments::{agree, args, word};
use crate::shimmed::{OnShim, plain};
use crate::support::{Owned, Rng, borrow, parse};
use livefusion_backend::{Buffer, Outcome};
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, can_compile};
use livefusion_tile::threads::phases::Phases;
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, RateKind};
use loop_lang::types::{Const, Ty};
use std::path::Path;

/// Why loops with nested rates are refused.
const REFUSED: &[(&str, &str)] = &[
    ("mirror_nested", "ix_1 runs on, and is in no group"),
    ("zip_sums", "the sides of `zip_with` advance differently"),
    (
        "zips_of_segments",
        "the sides of `zip_shortest` advance differently",
    ),
    (
        "chunkable_cursor_of_segments",
        "the sides of `zip_shortest` advance differently",
    ),
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

const REREAD: &str = "`cumsum_axis` uses an array that the same loop writes";

/// Why programs' loops with nested rates are refused.
const REFUSED_PROGRAMS: &[(&str, &str)] = &[
    ("flat_map_then_take_0", "ix_1 goes from left to right"),
    ("running_planes_figure_17_0", REREAD),
    ("running_rows_iswim_0", REREAD),
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
