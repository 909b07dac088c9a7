//! Regression tests of loops and schedules with wrong bits in the past.

use super::STEPS;
use livefusion_backend::{Arg, Backend, Kernel, Pass, View};
use livefusion_interp::InterpBackend;
use livefusion_jit::JitBackend;
use livefusion_tests::loops;
use livefusion_tests::mutants::{complete, golden_loops};
use livefusion_tests::tiles::Evaluated;
use livefusion_tile::schedule::{Schedule, Schedules};
use loop_lang::types::Const;

/// Masks of AVX-512 that do not fit into registers keep their bits in memory: gcc 12 lost some.
#[test]
fn masks_without_registers_keep_their_bits() {
    let loops = golden_loops().into_iter();
    let mut named = loops.filter(|(_, p)| p.name == "spilled_masks");
    let (_, program) = named.next().expect("the golden loop");
    let text = "spilled_masks\n  r1 compact\n  r2 compact\n  r0 vectorise 2 unroll 16\n";
    let schedules = Schedules::parse(text).expect("schedules");
    let backend = livefusion_tests::backends::c().with_schedules(schedules);
    let kernel = backend.compile(&program).expect("it is compiled");
    let alone = InterpBackend::new()
        .compile(&program)
        .expect("it is interpreted");
    let elements: Vec<f64> = (0..1000)
        .map(|i| if i % 17 == 0 { f64::NAN } else { f64::from(i) })
        .collect();
    for flag in [0, 1] {
        let args = [
            Arg::Array(View::new(&elements)),
            Arg::Scalar(Const::u64(flag)),
        ];
        let want = loops::run(&*alone, Pass::Emit, STEPS, &args);
        let got = loops::run(&*kernel, Pass::Emit, STEPS, &args);
        assert_eq!(want.differs(&got), None);
    }
}

/// Reads of a scalar loop's test come before loop-invariant values derived from them.
#[test]
fn tests_of_scalar_loops_read_before_they_ask() {
    let text = include_str!("reads.loop");
    let program = complete(text).expect("a loop");
    let xs: Vec<u64> = (0..70).map(|i| i * 7 % 64).collect();
    let tab: Vec<u64> = (0..20).map(|i| 3 * i).collect();
    let args = [&xs, &tab].map(|a| Arg::Array(View::new(a)));
    let schedule = Schedule::parse("r0 vectorise 4 unroll 2", &program).expect("a schedule");
    let alone = InterpBackend::new()
        .compile(&program)
        .expect("it is interpreted");
    let want = loops::run(&*alone, Pass::Emit, STEPS, &args);
    let tiled = Evaluated::new(&program, &schedule, alone, 0);
    assert_eq!(
        want.differs(&loops::run(&tiled, Pass::Emit, STEPS, &args)),
        None
    );
    assert_ne!(tiled.taken(), []);
}

/// The value of a scan before an element differs from its value after the segment.
#[test]
fn scans_of_segments_have_come_to_their_totals() {
    let program = complete(include_str!("totals.loop")).expect("a loop");
    let sizes: Vec<u64> = (0..20).map(|i| i * 3 % 7).collect();
    let xs: Vec<i64> = (0..600).map(|i| 3 + i % 5).collect();
    let args = [Arg::Array(View::new(&sizes)), Arg::Array(View::new(&xs))];
    let schedule = Schedule::parse("r2 vectorise 8 unroll 4", &program).expect("a schedule");
    let alone = InterpBackend::new()
        .compile(&program)
        .expect("it is interpreted");
    let want = loops::run(&*alone, Pass::Emit, STEPS, &args);
    let tiled = Evaluated::new(&program, &schedule, alone, 0);
    let got = loops::run(&tiled, Pass::Emit, STEPS, &args);
    assert_eq!(want.differs(&got), None);
    assert_ne!(tiled.in_segments(), 0);
}

/// A carried value is read from a register after its update. It is not known before the row,
/// although several rows with one segment assumed that.
#[test]
fn totals_of_rows_with_one_segment() {
    let program = complete(include_str!("rows.loop")).expect("a loop");
    let xs: Vec<i64> = (0..360).map(|i| i * 37 % 101).collect();
    let args = [Arg::Array(View::new(&xs))];
    let interp = InterpBackend::new().compile(&program);
    let want = interp.expect("it is interpreted");
    let want = loops::run(&*want, Pass::Emit, STEPS, &args);
    for text in ["r0 unrolljam 4", "r0 unrolljam 8\nr1 vectorise 4 unroll 1"] {
        let schedule = Schedule::parse(text, &program).expect("a schedule");
        let jit = JitBackend::new().compile_under(&program, &schedule);
        let got = loops::run(&*jit.expect("it compiles"), Pass::Emit, STEPS, &args);
        assert_eq!(want.differs(&got), None, "{text}");
    }
}

/// A mask has its value from the start of the subrate. This mask is carried, and updated before
/// the masked statements.
#[test]
fn masks_that_are_carried() {
    let program = complete(include_str!("masked.loop")).expect("a loop");
    let args = [Arg::Array(View::new(&[1u64, 2, 5, 6]))];
    let schedule = Schedule::parse("r1 mask", &program).expect("a schedule");
    let alone = InterpBackend::new()
        .compile(&program)
        .expect("it is interpreted");
    let want = loops::run(&*alone, Pass::Emit, STEPS, &args);
    let tiled = Evaluated::new(&program, &schedule, alone, 0);
    let jit = JitBackend::new().compile_under(&program, &schedule);
    for kernel in [&tiled as &dyn Kernel, &*jit.expect("it compiles")] {
        assert_eq!(
            want.differs(&loops::run(kernel, Pass::Emit, STEPS, &args)),
            None
        );
    }
    assert_ne!(tiled.taken(), []);
}
