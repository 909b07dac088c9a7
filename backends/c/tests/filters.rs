//! Filters in vectors give the interpreter's bits, however they are cut into spans.
//!
//! The cases combine all element sizes, nested filters, and folds and scans fused with them.
//! Epilogues have all lengths, and filters keep all elements, some, or none.

use crate::common::*;
use livefusion_backend::{Arg, Backend, Buffer, CompileError, Kernel};
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_tile::target::Target;
use loop_lang::types::Ty;
use loop_lang::{Const, Loop};

/// The optional parts of a loop besides its filters.
struct Extras {
    /// Stores the positions of the kept elements: words combined with elements of any size.
    positions: bool,
    /// The sums of all and of kept elements, and the largest and smallest kept element.
    folds: bool,
    /// The first of the largest kept elements, left to right.
    best: bool,
    /// The running sums of all and of kept elements.
    scans: [bool; 2],
    /// Kept elements below a limit trap.
    trap: bool,
}

const NONE: Extras = Extras {
    positions: false,
    folds: false,
    best: false,
    scans: [false, false],
    trap: false,
};

/// Keeps elements above a limit, with their tags. A second filter doubles the tagged ones.
fn filters(ty: Ty, extras: &Extras) -> Loop {
    let t = ty.name();
    let zero = Const::zero(ty);
    let lanes = 256 / ty.size();
    let (least, most) = match ty {
        Ty::F32 => ("nan.f32".to_string(), "nan.f32".to_string()),
        Ty::F64 => ("nan".to_string(), "nan".to_string()),
        // Any integers will do for empty results: they are joined with zero_1.
        _ => (zero.to_string(), zero.to_string()),
    };
    let nothing = match ty {
        Ty::F32 => "-0.0f32".to_string(),
        Ty::F64 => "-0.0".to_string(),
        _ => zero.to_string(),
    };
    let order = if ty.is_float() {
        format!("lanes {lanes}")
    } else {
        "exact".into()
    };
    let (mut groups, mut init, mut body, mut kept) =
        (String::new(), String::new(), String::new(), String::new());
    let (mut root, mut done, mut results) = (String::new(), String::new(), String::new());
    let mut group = |name: &str, step: &str, id: &str, op: &str, order: &str| {
        groups += &format!(
            "group {name}_1 owner r0 step {step} start zero_1 id {id} next new_{name}_1 combine {op} level 0 {order}\n"
        );
        init += &format!("  carry {name}_1 = zero_1\n");
        results += &format!(" {name}_1");
    };
    if extras.folds {
        group("all", "r0", &nothing, "add", &order);
        root += "  let new_all_1 = add all_1 elt_0\n  all_1 := new_all_1\n";
        for (name, id, op) in [
            ("sum", &nothing, "add"),
            ("top", &least, "max"),
            ("low", &most, "min"),
        ] {
            group(name, "r1", id, op, &order);
            kept +=
                &format!("  let new_{name}_1 = {op} {name}_1 elt_0\n  {name}_1 := new_{name}_1\n");
        }
    }
    if extras.best {
        groups += "group best_1, at_1 owner r0 step r1 start zero_1, 0 next next_1, place_1 level 0 sequential\n";
        init += "  carry best_1 = zero_1\n  carry at_1 = 0\n";
        kept += "  let more_1 = gt elt_0 best_1\n  let next_1 = select more_1 elt_0 best_1\n  \
                 let place_1 = select more_1 ix_0 at_1\n  best_1 := next_1\n  at_1 := place_1\n";
        results += " best_1 at_1";
    }
    for (at, _) in extras.scans.iter().enumerate().filter(|(_, s)| **s) {
        let (count, blocks) = (["ix_0", "ix_1"][at], [64 / ty.size(), 1][at]);
        groups += &format!(
            "group run_{at} owner r0 step r{at} start zero_1 id {nothing} next so_{at} combine add level 0 prefix {blocks}\n"
        );
        init += &format!("  let runs_{at} = newArray {t} len_0\n  carry run_{at} = zero_1\n");
        let text = format!(
            "  let so_{at} = scan run_{at} with elt_0\n  writeArray runs_{at} {count} so_{at}\n"
        );
        if at == 0 {
            root += &text
        } else {
            kept += &text
        }
        done += &format!("  let all_runs_{at} = sliceArray runs_{at} {count}\n");
        results += &format!(" all_runs_{at}");
    }
    if extras.positions {
        init += "  let where_1 = newArray u64 len_0\n";
        kept += "  writeArray where_1 ix_1 ix_0\n";
        done += "  let places_1 = sliceArray where_1 ix_1\n";
        results += " places_1";
    }
    if extras.trap {
        kept += "  let fine_1 = ge elt_0 worst_1\n  trap unless fine_1, t0\n";
    }
    body += &root;
    let text = format!(
        "loop filters
comb 0 manifest at r0
comb 1 filter at r1
comb 2 filter at r2
param arr_0: [{t}] stream r0
param tags_0: [bool] stream r0
param limit_1: {t}
param zero_1: {t}
param worst_1: {t}
rate r0 root ix_0 < len_0 {{ stage 0; child r1 }}
rate r1 sub r0 count ix_1 {{ stage 0; child r2 }}
rate r2 sub r1 count ix_2 {{ stage 0 }}
group ix_1 owner r0 step r1 start 0 id 0 next nix_1 combine add level 0 exact
group ix_2 owner r0 step r2 start 0 id 0 next nix_2 combine add level 0 exact
{groups}{traps}init_0, init_1, init_2:
  let len_0 = arrayLength arr_0
  let out_1 = newArray {t} len_0
  let tagged_1 = newArray bool len_0
  let out_2 = newArray {t} len_0
{init}  carry ix_0 = 0
  carry ix_1 = 0
  carry ix_2 = 0
guard_0:
  let going_0 = lt ix_0 len_0
  unless going_0
body_0:
  let elt_0 = readArray arr_0 ix_0
  let tag_0 = readArray tags_0 ix_0
yield_0:
{body}guard_1:
  let p_1 = gt elt_0 limit_1
  unless p_1
body_1:
yield_1:
{kept}  writeArray out_1 ix_1 elt_0
  writeArray tagged_1 ix_1 tag_0
  let nix_1 = add ix_1 1
  ix_1 := nix_1
guard_2:
  unless tag_0
body_2:
  let twice_2 = add elt_0 elt_0
yield_2:
  writeArray out_2 ix_2 twice_2
  let nix_2 = add ix_2 1
  ix_2 := nix_2
bottom_2:
bottom_1:
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0, done_1, done_2:
  let res_1 = sliceArray out_1 ix_1
  let tags_1 = sliceArray tagged_1 ix_1
  let res_2 = sliceArray out_2 ix_2
{done}  return res_1 tags_1 res_2{results}
",
        traps = if extras.trap {
            "trap t0 1 lengthMismatch\n"
        } else {
            ""
        }
    );
    loop_of(&text)
}

/// Draws elements from a small range, and sometimes special floats.
fn elements(numbers: &mut Numbers, ty: Ty, n: usize) -> Buffer {
    let mut buffer = Buffer::zeroed(ty, n).unwrap();
    for i in 0..n {
        let x = numbers.below(200) as f64 - 100.0;
        let x = match numbers.below(9) {
            0 => f64::NAN,
            1 => -0.0,
            2 => 0.0,
            3 => f64::NEG_INFINITY,
            _ => x / 8.0,
        };
        buffer.set_word(i, constant(ty, x).bits);
    }
    buffer
}

fn constant(ty: Ty, x: f64) -> Const {
    match ty {
        Ty::F32 => Const::f32(x as f32),
        Ty::F64 => Const::f64(x),
        Ty::Bool => Const::bool(x > 0.0),
        _ if ty.is_signed() => Const::int(ty, (x as i64).clamp(-128, 127)),
        _ => Const::int(ty, (x as i64).clamp(0, 255)),
    }
}

const TYPES: [Ty; 10] = [
    Ty::I8,
    Ty::I16,
    Ty::I32,
    Ty::I64,
    Ty::U8,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::F32,
    Ty::F64,
];

/// Checks that all kernels agree on arrays of `n` elements, with the limit at `limit`.
fn agree(kernels: &[&dyn Kernel], ty: Ty, n: usize, limit: f64, spans: &[&[u64]]) {
    let mut numbers = Numbers(n as u64 + 7);
    let arr = elements(&mut numbers, ty, n);
    let tags: Vec<bool> = (0..n).map(|_| numbers.below(3) > 0).collect();
    let tags = Buffer::from_vec(tags);
    let args = [
        Arg::Array(arr.view()),
        Arg::Array(tags.view()),
        Arg::Scalar(constant(ty, limit)),
        Arg::Scalar(constant(ty, 1.0)),
        Arg::Scalar(constant(ty, -3.0)),
    ];
    let want = run(kernels[0], &args);
    for kernel in &kernels[1..] {
        for spans in spans {
            let got = run_by_turns(&[*kernel], spans, &args);
            assert!(got == want, "{ty}, {n} above {limit}, spans {spans:?}");
        }
        let got = run_by_turns(&[*kernel, kernels[0]], spans[0], &args);
        assert!(got == want, "{ty}, {n} above {limit}, by turns");
    }
}

fn check(extras: &Extras) {
    check_with(&CBackend::new(), true, extras, 70);
}

/// Compares kernels of a backend on arrays of up to `tails` elements, and some longer ones.
fn check_with(backend: &CBackend, has_vectors: bool, extras: &Extras, tails: usize) {
    let loops: Vec<Loop> = TYPES.iter().map(|ty| filters(*ty, extras)).collect();
    let all: Vec<&Loop> = loops.iter().collect();
    let compiled = backend.compile_batch(&all);
    for ((ty, program), kernel) in TYPES.iter().zip(&loops).zip(compiled) {
        let kernel = kernel.unwrap();
        let source = kernel.source().unwrap();
        // Without vectors, nothing is packed.
        assert!(
            source.contains("lf_pack_") == has_vectors,
            "{ty} is not in vectors, or is:\n{source}"
        );
        let interp = InterpBackend::new().compile(program).unwrap();
        let kernels = [&*interp, &*kernel];
        for n in 0..tails {
            agree(&kernels, *ty, n, 0.0, &[&[u64::MAX], &[33, 1, 5]]);
        }
        for limit in [-120.0, -1.0, 120.0] {
            agree(&kernels, *ty, 200, limit, &[&[u64::MAX], &[64, 3]]);
        }
        agree(
            &kernels,
            *ty,
            40_000,
            0.0,
            &[&[u64::MAX], &[16384], &[5000, 1]],
        );
    }
}

#[test]
fn elements_of_every_size_are_packed() {
    check(&NONE);
}

#[test]
fn elements_of_every_size_are_packed_beside_words() {
    check(&Extras {
        positions: true,
        ..NONE
    });
}

#[test]
fn folds_of_what_is_kept() {
    check(&Extras {
        folds: true,
        ..NONE
    });
}

#[test]
fn folds_left_to_right() {
    check(&Extras { best: true, ..NONE });
}

#[test]
fn scans_beside_filters() {
    for scans in [[true, false], [false, true]] {
        check(&Extras { scans, ..NONE });
    }
}

#[test]
fn traps_of_what_is_kept() {
    check(&Extras { trap: true, ..NONE });
}

/// Returns a backend for a machine whose compiler is a script in `folder`: the system's with more
/// flags.
#[cfg(unix)]
fn emulated(folder: &std::path::Path, target: Target, flags: &str) -> CBackend {
    use std::os::unix::fs::PermissionsExt;
    let compiler = livefusion_c::system_compiler().unwrap();
    let script = folder.join("cc");
    let text = format!("#!/bin/sh\nexec '{}' \"$@\" {flags}\n", compiler.display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    CBackend::with_compiler(script)
        .with_target(target)
        .emulated()
}

/// Defines the instructions of the widest registers in plain C, so that any machine can run them.
#[cfg(unix)]
fn instructions() -> String {
    let mut text = String::new();
    for (letter, ty, size) in [
        ("d", "long long", 8),
        ("s", "int", 4),
        ("h", "short", 2),
        ("q", "char", 1),
    ] {
        for bytes in [64, 32, 16] {
            let (name, v) = (
                format!("compress{letter}i{}_mask", bytes * 8),
                format!("v_{letter}{bytes}"),
            );
            text += &format!(
                "typedef {ty} {v} __attribute__((vector_size({bytes})));
static inline {v} my_{name}({v} x, {v} to, unsigned long bits) {{
  for (int k = 0, at = 0; k < {bytes} / {size}; k++) if (bits >> k & 1) to[at++] = x[k];
  return to;
}}
#define __builtin_ia32_{name} my_{name}
"
            );
        }
        let letter = ["b", "w", "d", "q"][(size as u32).trailing_zeros() as usize];
        let name = format!("cvt{letter}2mask512");
        text += &format!(
            "typedef {ty} m_{letter} __attribute__((vector_size(64)));
static inline unsigned long my_{name}(m_{letter} x) {{
  unsigned long bits = 0;
  for (int k = 0; k < 64 / {size}; k++) bits |= (x[k] < 0 ? 1ul : 0) << k;
  return bits;
}}
#define __builtin_ia32_{name} my_{name}
"
        );
    }
    for (letter, ty, size) in [
        ("pd", "double", 8),
        ("ps", "float", 4),
        ("q", "long long", 8),
        ("d", "int", 4),
        ("w", "short", 2),
        ("b", "char", 1),
    ] {
        for bytes in [64, 32, 16] {
            text += &masked(letter, ty, bytes / size, bytes);
        }
    }
    text += "typedef long long v_stream __attribute__((vector_size(64)));
static inline void my_movntdq512(v_stream *p, v_stream x) { *p = x; }
#define __builtin_ia32_movntdq512 my_movntdq512
";
    // Hiding values from the compiler is not needed here.
    text += "#define __asm__(...)\n";
    text
}

/// Defines comparisons into bit masks, and selections by bit masks.
#[cfg(unix)]
fn masked(letter: &str, ty: &str, lanes: usize, bytes: usize) -> String {
    let bits = bytes * 8;
    let (v, float) = (format!("k_{letter}{bytes}"), letter.starts_with('p'));
    let mut text = format!(
        "typedef {ty} {v} __attribute__((vector_size({bytes})));
static inline {v} my_blend{letter}{bits}({v} x, {v} y, unsigned long bits) {{
  for (int k = 0; k < {lanes}; k++) if (bits >> k & 1) x[k] = y[k];
  return x;
}}
#define __builtin_ia32_blendm{letter}_{bits}_mask my_blend{letter}{bits}
"
    );
    // The predicates in use. Of floats they are ordered, except `!=`.
    let test = match float {
        true => {
            "p == 0 ? a == b : p == 17 ? a < b : p == 18 ? a <= b : p == 4 ? a != b \
             : p == 29 ? a >= b : p == 30 ? a > b : (__builtin_trap(), 0)"
        }
        false => {
            "p == 0 ? a == b : p == 1 ? a < b : p == 2 ? a <= b : p == 4 ? a != b \
             : p == 5 ? a >= b : a > b"
        }
    };
    if float && bytes == 64 {
        for (name, sign) in [("min", "<"), ("max", ">")] {
            let name = format!("{name}{letter}512_mask");
            text += &format!(
                "static inline {v} my_{name}({v} x, {v} y, {v} z, long bits, int r) {{
  for (int k = 0; k < {lanes}; k++) x[k] = x[k] {sign} y[k] ? x[k] : y[k];
  return x;
}}
#define __builtin_ia32_{name} my_{name}
"
            );
        }
    }
    let kinds: &[(&str, &str)] = match float {
        true => &[("", "")],
        false => &[("", "signed "), ("u", "unsigned ")],
    };
    for (kind, sign) in kinds {
        let name = format!("{kind}cmp{letter}{bits}_mask");
        text += &format!(
            "static inline unsigned long my_{name}({v} x, {v} y, int p, ...) {{
  unsigned long bits = 0;
  for (int k = 0; k < {lanes}; k++) {{
    const {sign}{ty} a = x[k], b = y[k];
    bits |= (unsigned long)({test}) << k;
  }}
  return bits;
}}
#define __builtin_ia32_{name} my_{name}
"
        );
    }
    text
}

#[cfg(all(unix, target_arch = "x86_64"))]
#[test]
fn registers_of_every_size() {
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("wide.h");
    std::fs::write(&header, instructions()).unwrap();
    // The last flags win: those of a machine that runs here.
    let wide = format!("-march=native -mno-avx512f -include '{}'", header.display());
    let backends = [
        (CBackend::new().with_target(Target::plain()), false),
        (CBackend::new().with_target(Target::sse2()), true),
        (emulated(folder.path(), Target::avx512vbmi2(), &wide), true),
    ];
    for (backend, has_vectors) in backends {
        for (folds, positions) in [(true, false), (false, true)] {
            let extras = Extras {
                folds,
                positions,
                ..NONE
            };
            check_with(&backend, has_vectors, &extras, 66);
        }
    }
}

/// Compilers know the instructions of any requested machine.
#[cfg(target_arch = "x86_64")]
#[test]
fn machines_with_wider_registers_are_compiled_for() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("k.c");
    let compiler = livefusion_c::system_compiler().unwrap();
    for target in [Target::avx2(), Target::avx512(), Target::avx512vbmi2()] {
        let backend = CBackend::new().with_target(target.clone());
        for positions in [false, true] {
            let extras = Extras { positions, ..NONE };
            for ty in TYPES {
                let text = backend.text(&filters(ty, &extras)).unwrap();
                std::fs::write(&input, text).unwrap();
                let run = std::process::Command::new(&compiler)
                    .args(livefusion_c::flags(&target))
                    .args(["-O1", "-o", "/dev/null"])
                    .arg(&input)
                    .output()
                    .unwrap();
                let said = String::from_utf8_lossy(&run.stderr);
                assert!(run.status.success(), "{ty} for {target}: {said}");
            }
        }
    }
}

/// Code that this machine cannot run is shown, not loaded.
#[cfg(target_arch = "x86_64")]
#[test]
fn code_for_another_machine_is_not_run() {
    let backend = CBackend::new().with_target(Target::neon());
    let program = filters(Ty::F64, &NONE);
    assert!(backend.text(&program).unwrap().contains("lf_pack_8_8"));
    let refused = backend.compile(&program).err();
    assert!(
        matches!(&refused, Some(CompileError::Unavailable { why, .. }) if why.contains("neon")),
        "{refused:?}"
    );
}

/// Folds in lanes of a scan's results: the lanes are then updated element by element.
#[test]
fn folds_of_scans_of_what_is_filtered() {
    for name in ["filter_scan_sum", "filter_prefix_sum"] {
        let program = loop_file(name);
        let interp = InterpBackend::new().compile(&program).unwrap();
        let mut targets = vec![Target::here(), Target::avx2(), Target::sse2()];
        targets.retain(|t| t.runs_on(&Target::here()));
        for target in targets {
            let c = CBackend::new().with_target(target.clone());
            let c = c.compile(&program);
            let c = c.unwrap_or_else(|e| panic!("{name} for {target}: {e}"));
            for n in [0, 1, 7, 31, 64, 100, 1000, 40_000] {
                let data = [Data::F64(Numbers(n).floats(n as usize))];
                let args = args(&data);
                let want = run(&*interp, &args);
                assert!(run(&*c, &args) == want, "{name} for {target}: {n}");
                let spans = run_by_turns(&[&*c, &*interp], &[13, 100, 1], &args);
                assert!(spans == want, "{name} for {target}, cut: {n}");
            }
        }
    }
}
