//! Transcendental functions in generated code: vectorised, with the host functions' bits.

use crate::common::*;
use livefusion_backend::{Arg, Kernel, Outcome, View};
use livefusion_c::CBackend;
use livefusion_tile::target::{Extension, Target};
use loop_lang::eval::eval;
use loop_lang::op::Op;
use loop_lang::{Const, Loop, Ty, math};
use std::process::Command;
use std::sync::Arc;

/// Writes a `map` with a function as its step. A second operand is the same for all elements.
fn map_of(op: Op, ty: Ty) -> Loop {
    let here = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{here}/tests/loops/map.loop")).unwrap();
    let second = if op.arity() == 2 { " two_1" } else { "" };
    let call = format!("let elt_1 = {} elt_0{second}", op.name());
    let text = text
        .replace("loop map", &format!("loop {}_of", op.name()))
        .replace("  let twice_1 = mul elt_0 two_1\n", "")
        .replace("let elt_1 = add twice_1 1.0", &call)
        .replace("f64", ty.name());
    loop_of(&text)
}

/// Compiles the functions of a type in one file.
fn compiled(ty: Ty) -> Vec<(Op, Arc<dyn Kernel>)> {
    let all = Op::ALL.iter().copied();
    let ops: Vec<Op> = all.filter(|op| math::body(*op, ty).is_some()).collect();
    let loops: Vec<Loop> = ops.iter().map(|op| map_of(*op, ty)).collect();
    let kernels = CBackend::new().compile_batch(&loops.iter().collect::<Vec<_>>());
    ops.into_iter()
        .zip(kernels.into_iter().map(|k| k.unwrap()))
        .collect()
}

/// Returns numbers of every kind, some of which are special cases alone in their vector.
fn operands() -> Vec<f64> {
    let mut numbers = Numbers(7);
    let mut out = numbers.floats(100);
    out.extend([
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]);
    out.extend([
        1e-320, -1e-320, 1e-40, 1e300, -1e300, 88.7, -104.0, 709.7, -745.1,
    ]);
    out.extend((0..60).map(|i| 1.7f64.powi(i * 20 - 600)));
    out.extend(numbers.floats(40).iter().map(|x| x * 700.0));
    out.extend(numbers.floats(23).iter().map(|x| x * 2e9));
    out
}

fn check(ty: Ty, kernels: &[(Op, Arc<dyn Kernel>)]) {
    let (wide, second) = (operands(), 2.5);
    let single: Vec<f32> = wide.iter().map(|x| *x as f32).collect();
    let (array, scalar, words): (Arg<'_>, Const, Vec<u64>) = match ty {
        Ty::F32 => (
            Arg::Array(View::new(&single)),
            Const::f32(second as f32),
            single.iter().map(|x| u64::from(x.to_bits())).collect(),
        ),
        _ => (
            Arg::Array(View::new(&wide)),
            Const::f64(second),
            wide.iter().map(|x| x.to_bits()).collect(),
        ),
    };
    for (op, kernel) in kernels {
        let args = [array, Arg::Scalar(scalar)];
        let (outcome, results) = run(&**kernel, &args);
        assert_eq!(outcome, Outcome::Done);
        for (word, got) in words.iter().zip(&results[0].1) {
            let args = [*word, scalar.bits];
            let want = comparable(ty, eval(*op, ty, ty, &args[..op.arity()]));
            assert_eq!(*got, want, "{op:?} {ty} of {word:x}: {got:x}, not {want:x}");
        }
    }
}

/// Checks that every kernel's loop calls the function on vectors, or that gcc vectorises it.
fn check_vectorised(ty: Ty, kernels: &[(Op, Arc<dyn Kernel>)]) {
    let compiler = livefusion_c::system_compiler().unwrap();
    let version = Command::new(&compiler).arg("--version").output().unwrap();
    let gcc = String::from_utf8_lossy(&version.stdout).contains("Free Software Foundation");
    let source = kernels[0].1.source().unwrap();
    if !gcc || !Target::here().has(Extension::Fma) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("k.c");
    std::fs::write(&input, source).unwrap();
    let run = Command::new(&compiler)
        .args(livefusion_c::flags(&Target::here()))
        .args(["-O3", "-fopt-info-vec-optimized", "-o", "/dev/null"])
        .arg(&input)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{report}");
    let vectorised = report.lines().filter(|l| l.contains("loop vectorized"));
    let vectorised: Vec<usize> = vectorised
        .filter_map(|l| l.split(':').nth(1)?.parse().ok())
        .collect();
    for (op, _) in kernels {
        let start = source
            .lines()
            .position(|l| l.starts_with(&format!("{}_of_emit_tile", op.name())))
            .expect("a tile");
        let end = source.lines().skip(start).position(|l| l == "}").unwrap();
        let mut body = source.lines().skip(start).take(end);
        let called = format!("lf_math_{}_lf_v", op.name());
        let inside = vectorised.iter().any(|l| (start..start + end).contains(l))
            || body.any(|l| l.contains(&called));
        assert!(inside, "{op:?} {ty} is not vectorised");
    }
}

#[test]
fn f32_functions() {
    let kernels = compiled(Ty::F32);
    check(Ty::F32, &kernels);
    check_vectorised(Ty::F32, &kernels);
}

#[test]
fn f64_functions() {
    let kernels = compiled(Ty::F64);
    check(Ty::F64, &kernels);
    check_vectorised(Ty::F64, &kernels);
}
