//! Groups too wide for look-back, on the shim: separate passes give the interpreter's results.

use crate::shimmed::{OnShim, alike, far, long_args, plain};
use crate::support::{Owned, Rng, borrow, parse};
use crate::wide_loops;
use livefusion_backend::{Backend as _, Frame, Outcome, Pass, Value};
use livefusion_cuda::device::session::Session;
use livefusion_cuda::{CudaBackend, emit};
use livefusion_cuda_shim::{Call, Cxx, Shim, can_compile};
use livefusion_interp::InterpBackend;
use livefusion_tile::threads::shape::Shape;
use loop_lang::types::Const;
use std::sync::Arc;

#[test]
fn folds_scans_and_filters_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(41);
    for (folds, scans, levels) in [
        (40, 30, false),
        (40, 30, true),
        (70, 0, false),
        (0, 33, true),
    ] {
        let program = parse(&wide_loops::steps(folds, scans, levels));
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        assert!(kernel.wide);
        let shim = OnShim::of(&cxx, &program);
        for len in [0, 1, 31, 2559, 2560, 2561, 20_000] {
            for _ in 0..2 {
                let args = long_args(&program, len, &mut rng);
                let apart = shim.differs(&program, &args);
                assert_eq!(apart, None, "{folds} folds, {scans} scans of {len}");
            }
        }
    }
}

/// Each level is summed up and scanned. Steps without other effects are not run again.
#[test]
fn passes_are_launches_and_are_told() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(53);
    for (text, passes) in [
        (wide_loops::steps(40, 30, true), 5),
        (wide_loops::steps(40, 30, false), 3),
        (wide_loops::folds(65), 2),
        (wide_loops::folds(64), 1),
    ] {
        let program = parse(&text);
        let driver = Shim::default().driver();
        let session = Session::new(driver.clone(), Box::new(cxx.clone()));
        let backend = CudaBackend::on(session, Arc::new(InterpBackend::new()));
        let kernel = backend.compile(&program).expect("it compiles");
        let tier = kernel.tier().unwrap_or_default();
        let told = tier.ends_with(&format!(", in {passes} passes"));
        assert_eq!(told, passes > 1, "{tier}");
        let args = long_args(&program, 6000, &mut rng);
        let mut frame = Frame::new(kernel.layout());
        let outcome = kernel.run(Pass::Emit, u64::MAX, &mut frame, &far(&args));
        assert_eq!(outcome, Outcome::Done);
        assert_eq!(driver.calls(Call::Launch), passes);
        let (_, wanted) = plain(&program, &borrow(&args));
        let alike = |(got, want): (&Value, &Value)| alike(got, want);
        assert!(frame.results.iter().zip(&wanted).all(alike));
    }
}

/// Refuses loops with early exits, and loops with more groups than a kernel can have.
#[test]
fn others_run_on_the_host_and_say_why() {
    let said = |text: &str| {
        emit::kernel(&parse(text))
            .expect_err("it is refused")
            .to_string()
    };
    let ends = wide_loops::folds(70).replace(
        "  unless more_0\n",
        "  let some_0 = lt ix_0 90\n  unless more_0\n  unless some_0\n",
    );
    assert_eq!(
        said(&ends),
        "its groups have 70 words, and it may end before its bound"
    );
    assert_eq!(said(&wide_loops::folds(1025)), "its groups have 1025 words");
}

#[test]
fn faults_are_found() {
    if !can_compile() {
        return;
    }
    let faults = [
        (
            "a block begins with what it comes to itself",
            "    room.blocks[k] = before;\n",
            "    room.blocks[k] = part;\n",
        ),
        (
            "what a tile comes to is not before the next one",
            "if (threadIdx.x == 0) *room.before = Group::join(p, before, scanned.all);",
            "",
        ),
        (
            "parts are joined in the wrong order",
            "*room.before = Group::join(p, before, scanned.all);",
            "*room.before = Group::join(p, scanned.all, before);",
        ),
        (
            "what comes before a tile changes while threads read it",
            "  // All threads have read it, and the sums of the warps.\n  __syncthreads();",
            "",
        ),
        (
            "warps of all blocks share their room",
            "warps = blocks + 2 * launch.blocks + blockIdx.x * u64(THREADS / LF_WARP);",
            "warps = blocks + 2 * launch.blocks;",
        ),
        (
            "tiles of a block do not follow each other",
            "return turn < each ? blockIdx.x * each + turn++ : tiles;",
            "return blockIdx.x + turn++ * gridDim.x;",
        ),
        (
            "a pass runs steps before it knows what is before them",
            "if (L::PASSES && launch.pass == 2 * K) return false;",
            "",
        ),
    ];
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(59);
    let program = parse(&wide_loops::steps(5, 32, true));
    let args = long_args(&program, 30_000, &mut rng);
    let is_sound = |cxx: &Cxx| {
        let shim = OnShim::of(cxx, &program);
        (0..4).all(|_| shim.differs(&program, &args).is_none())
    };
    assert!(is_sound(&cxx));
    for (what, from, to) in faults {
        assert!(!is_sound(&cxx.tampered(from, to)), "not noticed: {what}");
    }
}

/// Draws the lengths of segments.
fn lengths(case: usize, rng: &mut Rng) -> Vec<u64> {
    match case {
        0 => vec![],
        1 => vec![0, 0, 9000, 0, 1],
        2 => vec![0; 3000],
        _ => (0..1500).map(|_| rng.below(4) * rng.below(6)).collect(),
    }
}

fn words(n: u64, rng: &mut Rng) -> Owned {
    let words: Vec<i64> = (0..n).map(|_| rng.next() as i64).collect();
    crate::support::array(&words)
}

/// Groups of segments, and groups that locate them.
#[test]
fn groups_of_segments_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(43);
    for (folds, scans, head, wide) in [
        (40, 20, 0, [false, true]),
        (5, 2, 70, [true, true]),
        (20, 20, 3, [false, true]),
    ] {
        let program = parse(&wide_loops::segments(folds, scans, head));
        let shape = Shape::of(&program).expect("it runs in parallel");
        assert_eq!(shape.work.to_string(), "threads share elements of segments");
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let places = kernel.places.as_ref().expect("a kernel before");
        assert_eq!([places.wide, kernel.wide], wide);
        let shim = OnShim::of(&cxx, &program);
        for case in 0..6 {
            let lengths = lengths(case, &mut rng);
            let all = lengths.iter().sum();
            let args = [crate::support::array(&lengths), words(all, &mut rng)];
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{folds} folds, {scans} scans: {case}");
        }
    }
}

/// Groups of rows with one thread each: a team would share the groups among its threads.
#[test]
fn groups_of_rows_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(47);
    let program = parse(&wide_loops::rows(66));
    let shape = Shape::of(&program).expect("it runs in parallel");
    let work = shape.work.to_string();
    assert!(work.starts_with("a thread has a row, since "), "{work}");
    assert!(shape.is_wide());
    let shim = OnShim::of(&cxx, &program);
    for (h, w) in [
        (0, 3),
        (1, 100),
        (127, 3),
        (128, 1),
        (129, 2),
        (2000, 3),
        (300, 0),
    ] {
        let sizes = [h, w].map(|n| Owned::Scalar(Const::u64(n)));
        let [h_0, w_1] = sizes;
        let args = [h_0, w_1, words(h * w, &mut rng)];
        let apart = shim.differs(&program, &args);
        assert_eq!(apart, None, "{h} rows of {w}");
    }
}
