//! Loops of several roots that follow each other, on the shim: a kernel for each, what stands between them on the host.

mod shimmed;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use livefusion_cuda::emit::{Given, kernels};
use livefusion_cuda_shim::{Cxx, can_compile};
use loop_lang::types::{Const, Ty};
use shimmed::{OnShim, long_args};
use support::{Owned, Rng, golden};

#[test]
fn phases_go_on_where_those_before_them_ended() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(41);
    let mut ran = 0;
    for name in [
        "append",
        "phase_counts_on",
        "phase_of_last_group",
        "phase_of_one",
        "phases_exit",
        "phases_of_filters",
        "phases_scan",
        "mirror_phases",
    ] {
        let program = golden(name);
        let phases = match kernels(&program) {
            Ok(kernels) => kernels.len(),
            Err(why) => panic!("{name}: {why}"),
        };
        assert_eq!(phases, program.roots.len(), "{name}");
        let shim = OnShim::of(&cxx, &program);
        for (len, at) in [(0, 5), (1, 0), (700, 100), (5000, 700), (5000, 6000)] {
            let args = long_args(&program, len, &mut rng).into_iter();
            let args: Vec<Owned> = args
                .map(|arg| match arg {
                    Owned::Scalar(c) if c.ty == Ty::U64 => Owned::Scalar(Const::u64(at)),
                    other => other,
                })
                .collect();
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{name} of {len}, {at}");
        }
        ran += 1;
    }
    assert_eq!(ran, 8);
}

/// What a phase only reads of a group is a scalar for its kernel, and nothing that tiles find.
#[test]
fn what_a_phase_does_not_update_is_given() {
    let program = golden("phases_exit");
    let kernels = kernels(&program).expect("they run in parallel");
    let levels = |k: usize| kernels[k].levels.iter().flatten().map(|v| program.name(*v));
    assert!(levels(0).any(|v| v == "live_1") && levels(1).all(|v| v != "live_1"));
    assert!(levels(0).any(|v| v == "k_4") && levels(1).any(|v| v == "k_4"));
    let starts = |k: usize| {
        kernels[k]
            .given
            .iter()
            .filter(|g| matches!(g, Given::Start(_)))
    };
    assert_eq!((starts(0).count(), starts(1).count()), (3, 2));
    assert_ne!(kernels[0].name, kernels[1].name);
}
