//! Results written past the caches have the interpreter's bits, however the loop is cut.

use crate::common::cases::cases;
use crate::common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_tile::target::Target;

/// The number of elements whose 8 read and 8 written bytes exceed the assumed caches.
const MANY: usize = 600_007;

/// The best predefined machine whose code runs here: its caches are those of any host.
fn target() -> Target {
    let mut all = Target::all().into_iter().skip(1);
    all.find(|target| target.runs_on(&Target::here())).unwrap()
}

#[test]
fn large_results_are_whole() {
    let mut streamed = Vec::new();
    for (program, data) in cases(MANY) {
        let c = CBackend::new().with_target(target());
        let c = c.compile(&program).unwrap();
        if !c.source().unwrap().contains("lf_stream((u8 *)") {
            continue;
        }
        let args = args(&data);
        let interp = InterpBackend::new().compile(&program).unwrap();
        let want = run(&*interp, &args);
        for spans in [&[u64::MAX][..], &[100_001], &[16_384, 5000, 1]] {
            let got = run_by_turns(&[&*c], spans, &args);
            assert!(got == want, "{} in spans {spans:?}", program.name);
        }
        streamed.push(program.name);
    }
    assert!(streamed.len() > 2, "{streamed:?}");
}
