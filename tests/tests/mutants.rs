//! Golden loops on every backend, and mutants of them: equal outcomes.

use livefusion_backend::{Backend, Kernel};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::backends::Known;
use livefusion_tests::backends::c;
use livefusion_tests::mutants::golden_loops;
use livefusion_tests::mutants::hunt::{Hunt, golden_agrees};
use loop_lang::Loop;
use std::sync::Arc;

#[test]
fn golden_loops_end_alike_on_every_backend() {
    let golden = golden_loops();
    assert!(golden.len() > 60, "{}", golden.len());
    let programs: Vec<Loop> = golden.iter().map(|g| g.1.clone()).collect();
    let straight = Known::compile(c(), &programs).expect("C compiles");
    let jit = JitBackend::new();
    let backends: [&dyn Backend; 3] = [&InterpBackend::new(), &jit, &straight];
    let mut found = Vec::new();
    for (name, program) in &golden {
        let kernels: Vec<Arc<dyn Kernel>> = backends
            .iter()
            .map(|b| b.compile(program).expect("it verifies"))
            .collect();
        found.extend(golden_agrees(name, program, &kernels, 12));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn clean(hunt: &Hunt) {
    let faults: Vec<String> = (hunt.found.iter())
        .map(|f| format!("seed {}: {}\n{}", f.seed, f.why, f.text))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn mutants_pass_through_every_pass() {
    let mut hunt = Hunt::default();
    hunt.run(0..1500, None);
    clean(&hunt);
    assert!(hunt.counts.loops > 1000, "{}", hunt.counts);
    for (kind, texts, loops) in hunt.counts.kinds() {
        assert!(loops > 0, "{kind}: {texts} texts");
    }
}

#[test]
fn jit_and_interpreter_agree_on_mutants() {
    let mut hunt = Hunt::default();
    hunt.run(10_000..10_300, Some(&JitBackend::new()));
    clean(&hunt);
    assert!(hunt.counts.compiled > 200, "{}", hunt.counts);
}

#[test]
fn c_and_interpreter_agree_on_mutants() {
    let mut hunt = Hunt::default();
    hunt.run_c(20_000..20_100, &c());
    clean(&hunt);
    assert!(hunt.counts.compiled > 65, "{}", hunt.counts);
}
