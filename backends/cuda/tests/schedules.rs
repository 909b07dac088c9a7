//! Schedules of thread mappings: defaults can be requested, and requests are shown or refused.

use crate::shimmed::{OnShim, plain};
use crate::support::{Owned, Rng, borrow, golden, golden_texts, parse};
use livefusion::Engine;
use livefusion::prelude::*;
use livefusion_backend::{Backend, Buffer, CompileError, Outcome};
use livefusion_cuda::CudaBackend;
use livefusion_cuda::device::session::Session;
use livefusion_cuda::emit::kernel_of;
use livefusion_cuda_shim::{Cxx, Shim, can_compile};
use livefusion_interp::InterpBackend;
use livefusion_tile::schedule::{Schedule, Schedules, choose_threads};
use livefusion_tile::threads::phases::Phases;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Returns the texts of a loop's kernels under a schedule.
fn texts(program: &loop_lang::Loop, schedule: &Schedule) -> Vec<String> {
    let phases = Phases::of(program);
    let shapes = phases
        .under(|root| schedule.threads(root))
        .expect("it is legal");
    shapes.iter().map(|s| kernel_of(s).text).collect()
}

#[test]
fn schedule_chosen_can_be_asked_for() {
    let mut asked = 0;
    for (name, text) in golden_texts() {
        let program = parse(&text);
        let Ok(chosen) = choose_threads(&program) else {
            continue;
        };
        let best = texts(&program, &Schedule::new());
        assert_eq!(texts(&program, &chosen), best, "{name}");
        asked += 1;
    }
    assert!(asked > 20, "{asked}");
}

fn outcome(program: &loop_lang::Loop, args: &[Owned]) -> Outcome {
    plain(program, &borrow(args)).0
}

/// Row sums are equal in every mapping.
#[test]
fn rows_are_dealt_out_in_each_way() {
    agree_in_each_way(&golden("row_sums"));
}

/// So is a fold where the order matters: the last positive number of each row, or none.
#[test]
fn rows_in_order_are_dealt_out_in_each_way() {
    let (_, sums) = golden_texts()
        .into_iter()
        .find(|(name, _)| name == "row_sums")
        .expect("a golden loop");
    let mut last = sums;
    for (of_sums, of_last) in [
        ("id -0.0", "id 0.0"),
        (
            "combine add level 0 lanes 32",
            "combine later_2 level 0 lanes 1",
        ),
        (
            "init_0, init_1, init_2:",
            "fn later_2(a_2: f64, b_2: f64) {
  let is_2 = gt b_2 0.0
  let ab_2 = select is_2 b_2 a_2
  return ab_2
}
init_0, init_1, init_2:",
        ),
        (
            "let new_2 = add acc_2 elt_1",
            "let pos_2 = gt elt_1 0.0
  let new_2 = select pos_2 elt_1 acc_2",
        ),
    ] {
        assert!(last.contains(of_sums), "{of_sums}");
        last = last.replacen(of_sums, of_last, 1);
    }
    agree_in_each_way(&parse(&last));
}

fn agree_in_each_way(program: &loop_lang::Loop) {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(3);
    for asked in [
        "r0 threads path block 64 each 7",
        "r0 threads path block 32 each 2\nr0 teams 8",
        "r0 threads teams block 64 each 1",
        "r0 threads rows block 32 each 3",
    ] {
        let schedule = Schedule::parse(asked, program).expect("a schedule");
        let shim = OnShim::under(&cxx, program, &schedule);
        for (rows, width) in [(0, 3), (1, 1), (40, 75), (300, 4), (3, 1000)] {
            let length = |n: usize| Owned::Scalar(Const::u64(n as u64));
            let mut data = Buffer::zeroed(Ty::F64, rows * width).expect("memory");
            for i in 0..data.len() {
                data.set_word(i, rng.word(Ty::F64));
            }
            let args = [length(rows), length(width), Owned::Array(data)];
            assert_eq!(outcome(program, &args), Outcome::Done);
            assert_eq!(
                shim.differs(program, &args),
                None,
                "{asked}: {rows} of {width}"
            );
        }
    }
}

fn engine(schedules: &str) -> Engine {
    let cxx = Cxx::new().expect("the shim compiles");
    let session = Session::new(Shim::default().driver(), Box::new(cxx));
    let backend = CudaBackend::on(session, Arc::new(InterpBackend::new()));
    let schedules = Schedules::parse(schedules).expect("schedules");
    Engine::new(Arc::new(backend.with_schedules(schedules)))
}

#[test]
fn explain_shows_what_is_chosen_and_what_is_asked_for() {
    if !can_compile() {
        return;
    }
    let xs: Array<i64> = (0..1000).collect();
    let kept = xs.filter(|x| x.gt(500));
    let shown = |asked: &str| {
        kept.explain_with(&engine(asked))
            .expect("it is legal")
            .to_string()
    };
    let chosen = "\n  schedule:\n    loop_0\n      r0 threads steps block 128 each 10\n";
    assert!(shown("").contains(chosen), "{}", shown(""));
    let asked = "loop_0\n  r0 threads steps block 64 each 4\n";
    let small = "\n  schedule:\n    loop_0\n      r0 threads steps block 64 each 4\n";
    assert!(shown(asked).contains(small), "{}", shown(asked));
    assert_eq!(kept.force_with(&engine(asked)), kept.force());
}

#[test]
fn schedule_that_is_illegal_is_refused() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let session = Session::new(Shim::default().driver(), Box::new(cxx));
    let backend = CudaBackend::on(session, Arc::new(InterpBackend::new()));
    let text = "filter_max\n  r0 threads path block 128 each 20\n";
    let backend = backend.with_schedules(Schedules::parse(text).expect("schedules"));
    let mut program = golden("filter_max");
    program.name = "filter_max".into();
    match backend.compile(&program).map(|_| ()) {
        Err(CompileError::Schedule { why, .. }) => {
            assert_eq!(why, "it has no path: no rate is nested");
        }
        other => panic!("{other:?}"),
    }
}

/// Decisions for the host's vectors do not keep a loop from running there.
#[test]
fn schedule_for_the_host_does_not_bind_the_device() {
    if !can_compile() {
        return;
    }
    // The zip inputs advance differently, so the loop runs on the host.
    let both = || {
        let (xs, ys): (Array<i64>, Array<i64>) = ((0..9).collect(), (0..9).collect());
        let sides = (xs.filter(|x| x.gt(3)), ys.filter(|y| y.gt(3)));
        sides.0.zip_with(&sides.1, |x, y| x + y)
    };
    let asked = engine("loop_0\n  r0 unroll 2\n");
    assert_eq!(both().force_with(&asked), both().force());
    let refused = engine("loop_0\n  r0 threads steps block 64 each 4\n");
    let error = both().force_with(&refused).expect_err("no device has it");
    assert!(error.to_string().contains("advance differently"), "{error}");
}
