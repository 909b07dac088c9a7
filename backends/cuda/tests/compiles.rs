//! Kernels for devices: NVRTC compiles all that the golden loops become, with no spills and in few registers. It is
//! looked for where `nvrtc.sh` puts it; without it the test says so and ends.

mod operators;
mod record;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use livefusion_cuda::driver::Fault;
use livefusion_cuda::driver::nvrtc::Nvrtc;
use livefusion_cuda::emit::{self, PRELUDE};
use loop_lang::types::Ty;
use record::accepted;
use support::{golden_texts, parse};

/// A processor of a device has 65536 registers: with more than this it would hold fewer than four blocks of 128 at once.
const REGISTERS: u32 = 128;

/// The compiler, if it is there.
fn nvrtc() -> Option<Nvrtc> {
    match Nvrtc::find() {
        Ok(found) => Some(found),
        Err(Fault::Missing(why)) => {
            eprintln!("SKIPPED: {why}\n`backends/cuda/nvrtc.sh` fetches it");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn golden_loops_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let mut compiled = 0;
    for (name, text) in golden_texts() {
        let Ok(kernel) = emit::kernel(&parse(&text)) else {
            continue;
        };
        for architecture in ["sm_80", "sm_90"] {
            let text = format!("{PRELUDE}{}", kernel.text);
            let program = nvrtc.compile(&text, architecture).unwrap();
            let cubin = program.cubin().unwrap();
            let usage = cubin.usage(&kernel.name);
            let usage = usage.unwrap_or_else(|| panic!("{}", cubin.log()));
            assert_eq!(
                (usage.spill_stores, usage.spill_loads),
                (0, 0),
                "{name} for {architecture}"
            );
            assert!(
                usage.registers <= REGISTERS,
                "{name} for {architecture}: {} registers",
                usage.registers
            );
            let ptx = program.ptx().unwrap();
            // What blocks tell each other must go by way of what all of them see, value and tag at once.
            for order in ["ld.relaxed.gpu.global.b128", "st.relaxed.gpu.global.b128"] {
                let tells = !kernel.levels.is_empty() || kernel.leaves;
                assert_eq!(ptx.contains(order), tells, "{name}: {order}");
            }
        }
        compiled += 1;
    }
    assert!(compiled >= 10, "{compiled}");
}

#[test]
fn operators_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    for ty in Ty::ALL {
        for text in [operators::text(ty), operators::scatters(ty)] {
            let kernel = emit::kernel(&parse(&text)).expect("it runs in parallel");
            let text = format!("{PRELUDE}{}", kernel.text);
            nvrtc.compile(&text, "sm_80").unwrap();
        }
    }
}

/// What is wrong, without all that the compiler says beside it.
fn errors(fault: &Fault) -> String {
    let said = fault.to_string();
    let errors = said.lines().filter(|l| l.contains("error"));
    errors.collect::<Vec<_>>().join("\n")
}

/// Kernels in one text.
const BATCH: usize = 40;

#[test]
fn random_loops_compile_for_devices() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let all = accepted();
    let architectures = ["sm_80", "sm_90"].into_iter().cycle();
    for (batch, architecture) in all.chunks(BATCH).zip(architectures) {
        // Each has functions of its own.
        let spaces = batch.iter().map(|a| {
            let name = &a.case.program.name;
            format!("namespace {name}_space {{\n{}}}\n", a.kernel.text)
        });
        let text = format!("{PRELUDE}{}", spaces.collect::<String>());
        let program = nvrtc.compile(&text, architecture);
        let program = program.unwrap_or_else(|fault| panic!("{}", errors(&fault)));
        let cubin = program.cubin().unwrap();
        for accepted in batch {
            let usage = cubin.usage(&accepted.kernel.name);
            assert!(usage.is_some(), "{architecture}: {}", accepted.kernel.name);
        }
    }
}
