//! NVRTC compiles all golden loops' kernels with few registers and hardly any spills.
//!
//! It is searched where `cargo xtask nvrtc` puts it. Without it the tests are skipped. Texts that are in the
//! [records](crate::compiled) are not compiled again: set `LIVEFUSION_CUDA_ALL` after a change of these checks.

use crate::compiled::Compiled;
use crate::record::{Accepted, accepted, times};
use crate::support::{golden_texts, parse};
use crate::wide_loops;
use livefusion_cuda::driver::Fault;
use livefusion_cuda::driver::nvrtc::Nvrtc;
use livefusion_cuda::emit::{self, Kernel, PRELUDE};
use loop_lang::types::Ty;

/// A multiprocessor has 65536 registers. Above this limit it would hold fewer than four blocks of
/// 128.
const REGISTERS: u32 = 128;

/// The allowed bytes of spills: a few predicates.
const SPILLS: u32 = 8;

/// Returns the compiler, if it is there.
fn nvrtc() -> Option<Nvrtc> {
    match Nvrtc::find() {
        Ok(found) => Some(found),
        Err(Fault::Missing(why)) => {
            eprintln!("SKIPPED: {why}\n`cargo xtask nvrtc` fetches it");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Checks that the text of a kernel and its auxiliary kernels compiles, within the limits.
fn check(nvrtc: &Nvrtc, name: &str, (kernel, text): (&Kernel, &str), architecture: &str) {
    let program = nvrtc.compile(text, architecture).unwrap();
    let cubin = program.cubin().unwrap();
    for kernel in kernel.all() {
        let usage = cubin.usage(&kernel.name);
        let usage = usage.unwrap_or_else(|| panic!("{}", cubin.log()));
        let spills = usage.spill_stores.max(usage.spill_loads);
        assert!(
            spills <= SPILLS,
            "{name} for {architecture}: {spills} bytes"
        );
        let registers = usage.registers;
        assert!(
            registers <= REGISTERS,
            "{name} for {architecture}: {registers} registers"
        );
    }
    let ptx = program.ptx().unwrap();
    // Blocks must communicate through global memory, with value and tag in one access.
    for order in ["ld.relaxed.gpu.global.b128", "st.relaxed.gpu.global.b128"] {
        let tells = !kernel.parts.is_empty() || kernel.places.is_some() || kernel.leaves;
        assert_eq!(ptx.contains(order), tells, "{name}: {order}");
    }
}

#[test]
fn golden_loops_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let mut compiled = Compiled::by(&nvrtc, "golden_loops");
    for (name, text) in golden_texts() {
        let Ok(kernels) = emit::kernels(&parse(&text)) else {
            continue;
        };
        for (kernel, architecture) in kernels.iter().flat_map(|k| [(k, "sm_80"), (k, "sm_90")]) {
            let text = format!("{PRELUDE}{}", kernel.text);
            if compiled.lacks(&text, architecture) {
                check(&nvrtc, &name, (kernel, &text), architecture);
            }
        }
    }
    assert!(compiled.passed() >= 20);
}

/// Wide groups communicate from launch to launch, and use no shared memory.
#[test]
fn wide_groups_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let mut compiled = Compiled::by(&nvrtc, "wide_groups");
    for text in [
        wide_loops::steps(40, 30, true),
        wide_loops::segments(40, 20, 0),
    ] {
        let kernel = emit::kernel(&parse(&text)).expect("it runs in parallel");
        let text = format!("{PRELUDE}{}", kernel.text);
        if !compiled.lacks(&text, "sm_90") {
            continue;
        }
        let program = nvrtc.compile(&text, "sm_90");
        let program = program.unwrap_or_else(|fault| panic!("{}", errors(&fault)));
        let usage = program
            .cubin()
            .unwrap()
            .usage(&kernel.name)
            .expect("it says so");
        println!("{}: {usage:?}", kernel.name);
        let ptx = program.ptx().unwrap();
        let own = ptx.split(&format!(".entry {}", kernel.name)).nth(1);
        let own = own.and_then(|text| text.split(".entry").next());
        assert!(
            !own.expect("its text")
                .contains("ld.relaxed.gpu.global.b128")
        );
    }
    assert_eq!(compiled.passed(), 2);
}

#[test]
fn operators_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let mut compiled = Compiled::by(&nvrtc, "operators");
    for ty in Ty::ALL {
        for text in [crate::operators::text(ty), crate::operators::scatters(ty)] {
            let kernel = emit::kernel(&parse(&text)).expect("it runs in parallel");
            let text = format!("{PRELUDE}{}", kernel.text);
            if compiled.lacks(&text, "sm_80") {
                nvrtc.compile(&text, "sm_80").unwrap();
            }
        }
    }
    assert_eq!(compiled.passed(), 2 * Ty::ALL.len());
}

/// Returns the errors of a fault, without other messages.
fn errors(fault: &Fault) -> String {
    let said = fault.to_string();
    let errors = said
        .lines()
        .filter(|l| ["error", "fatal"].iter().any(|e| l.contains(e)));
    errors.collect::<Vec<_>>().join("\n")
}

/// The number of loops in one text.
const BATCH: usize = 40;
/// The number of random loops compiled to machine code. `LIVEFUSION_CUDA_HUNT=n` takes n times as
/// many.
const SOME: usize = 40;

/// Returns the text of several loops, each in its own namespace.
fn together(prelude: &str, loops: &[&Accepted]) -> String {
    let kernels = loops.iter().flat_map(|a| &a.kernels);
    let spaces = kernels.map(|k| format!("namespace {}_space {{\n{}}}\n", k.name, k.text));
    format!("{prelude}{}", spaces.collect::<String>())
}

/// Compiles all of them, without inlining and unrolling, which dominate the compile time.
#[test]
fn random_loops_compile() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let all = accepted();
    assert!(all.len() >= 300, "{}", all.len());
    let prelude = PRELUDE
        .replace("__forceinline__", "__noinline__")
        .replace("_Pragma(\"unroll\")", "_Pragma(\"unroll 1\")");
    let all: Vec<_> = all.iter().collect();
    let mut compiled = Compiled::by(&nvrtc, "random_loops");
    let batches = all
        .chunks(BATCH)
        .zip(["sm_80", "sm_90"].into_iter().cycle());
    let batches =
        batches.map(|(batch, architecture)| (batch, together(&prelude, batch), architecture));
    let batches: Vec<_> = batches
        .filter(|(_, text, architecture)| compiled.lacks(text, architecture))
        .collect();
    let check = |part: &[(&[&Accepted], String, &str)]| {
        for (batch, text, architecture) in part {
            let program = nvrtc.check(text, architecture);
            let program = program.unwrap_or_else(|fault| panic!("{}", errors(&fault)));
            let ptx = program.ptx().unwrap();
            for kernel in batch.iter().flat_map(|a| &a.kernels) {
                assert!(ptx.contains(&format!(".entry {}(", kernel.name)));
            }
        }
    };
    let (first, second) = batches.split_at(batches.len() / 2);
    std::thread::scope(|s| {
        s.spawn(|| check(first));
        check(second);
    });
    compiled.passed();
}

/// Compiles some of them for newer devices, and a few for older ones.
#[test]
fn random_loops_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let all = accepted();
    let each = (all.len() / (SOME * times())).max(1);
    let some: Vec<_> = all.iter().step_by(each).collect();
    let few: Vec<_> = some.iter().copied().step_by(8).collect();
    let newer = some.chunks(BATCH).map(|batch| (batch, "sm_90"));
    let older = few.chunks(BATCH).map(|batch| (batch, "sm_80"));
    let mut compiled = Compiled::by(&nvrtc, "random_loops_for_devices");
    for (batch, architecture) in newer.chain(older) {
        let text = together(PRELUDE, batch);
        if !compiled.lacks(&text, architecture) {
            continue;
        }
        let program = nvrtc.compile(&text, architecture);
        let program = program.unwrap_or_else(|fault| panic!("{}", errors(&fault)));
        let cubin = program.cubin().unwrap();
        for kernel in batch.iter().flat_map(|a| &a.kernels) {
            let usage = cubin.usage(&kernel.name);
            assert!(usage.is_some(), "{architecture}: {}", kernel.name);
        }
    }
    compiled.passed();
}

#[test]
fn programs_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let mut compiled = Compiled::by(&nvrtc, "programs");
    for (name, program) in crate::programs::lowered() {
        let Ok(kernel) = emit::kernel(&program) else {
            continue;
        };
        let text = format!("{PRELUDE}{}", kernel.text);
        if !compiled.lacks(&text, "sm_90") {
            continue;
        }
        let cubin = nvrtc.compile(&text, "sm_90").and_then(|p| p.cubin());
        let cubin = cubin.unwrap_or_else(|fault| panic!("{name}: {}", errors(&fault)));
        for kernel in kernel.all() {
            assert!(cubin.usage(&kernel.name).is_some(), "{name}");
        }
    }
    assert!(compiled.passed() >= 50);
}
