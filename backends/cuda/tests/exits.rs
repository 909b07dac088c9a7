//! Loops with early exits on the shim give the interpreter's results for any exit.
//!
//! Code beyond the exit neither writes nor traps.

use crate::shimmed::{OnShim, far, long_args};
use crate::support::{Owned, Rng, golden, parse};
use livefusion_backend::Outcome;
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, can_compile};
use livefusion_tile::threads::shape::Refusal;
use loop_lang::Loop;
use loop_lang::types::{Const, Ty};

/// The length of the loops: several tiles.
const STEPS: usize = 7000;

/// Makes arguments with an exit near a given step, set by scalars of `u64`.
fn args(program: &Loop, at: u64, rng: &mut Rng) -> Vec<Owned> {
    let args = long_args(program, STEPS, rng).into_iter();
    let at = |arg| match arg {
        Owned::Scalar(c) if c.ty == Ty::U64 => Owned::Scalar(Const::u64(at)),
        other => other,
    };
    args.map(at).collect()
}

#[test]
fn loops_are_left_where_the_interpreter_leaves_them() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(31);
    // Exits by a count before a step, and by a flag that a filtered element clears, with traps after
    // it. The last loop has no exit, since one of its rates continues.
    for name in ["exit_filter_take", "exit_filter_find", "exit_sub_of_sub"] {
        let program = golden(name);
        let kernel = emit::kernel(&program).expect(name);
        assert_eq!(kernel.leaves, name != "exit_sub_of_sub", "{name}");
        let shim = OnShim::of(&cxx, &program);
        for at in [0, 1, 30, 1000, 1023, 1024, 3500, 6990, 90_000] {
            let args = args(&program, at, &mut rng);
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{name} at {at}");
        }
    }
}

/// Finds the index of the first match. The step that finds it does not complete.
#[test]
fn loops_are_left_within_a_step() {
    if !can_compile() {
        return;
    }
    let program = golden("first_index");
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    for at in [0, 7, 8, 1023, 1024, 5000, STEPS - 1, STEPS] {
        let mut elements = vec![1i8; STEPS];
        // Later matches are not found.
        elements
            .iter_mut()
            .skip(at)
            .step_by(100)
            .for_each(|x| *x = 5);
        let args = [
            crate::support::array(&elements),
            Owned::Scalar(Const::int(Ty::I8, 5)),
        ];
        assert_eq!(shim.differs(&program, &args), None, "at {at}");
        let (outcome, _) = shim.run(&far(&args)).expect("it ends");
        assert_eq!(outcome == Outcome::Exited, at < STEPS, "at {at}");
    }
}

/// Refuses exits after which the host would read the counter, or a step might run forever.
#[test]
fn other_ways_out_are_refused() {
    let text = golden("first_index").to_string();
    let refused = |text: &str| emit::kernel(&parse(text)).err();
    assert_eq!(refused(&text), None);
    let counted = text.replace("return at_1", "return at_1 ix_0");
    assert_eq!(refused(&counted), Some(Refusal::Exit));
    let endless = "while w_0 = elt_0 {\n  } cond hit_1 do {\n  } next w_0\n  unless hit_1";
    let endless = text.replace("unless hit_1", endless);
    assert_eq!(refused(&endless), Some(Refusal::Exit));
}

#[test]
fn faults_are_found() {
    if !can_compile() {
        return;
    }
    let faults = [
        (
            "a thread does not ask whether one before it left",
            "  if (earlier != LF_NOWHERE) work.end();",
            "",
        ),
        (
            "the last one to leave counts",
            "lf_min(a.at, b.at)",
            "lf_max(a.at, b.at)",
        ),
        (
            "a thread goes on where it leaves",
            "const u32 how = lf_step_of<L, EMIT, true>(p, launch, i, state);\n      if (how != LF_GOES_ON)",
            "const u32 how = lf_step_of<L, EMIT, true>(p, launch, i, state);\n      if (false)",
        ),
        (
            "each thread gives what groups are",
            "(exit.how == LF_GOES_ON && !work.has_last(launch))",
            "false",
        ),
        (
            "the loop is left since an old launch was",
            "cells + tiles).tag == 2 * launch.number;",
            "cells + tiles).tag != 0;",
        ),
    ];
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(7);
    let names = ["exit_filter_take", "exit_filter_find"];
    let programs = names.map(golden);
    let mut args = |at| programs.each_ref().map(|p| args(p, at, &mut rng));
    let args = [5, 300, 700].map(&mut args);
    let is_sound = |cxx: &Cxx| {
        let shims = programs.each_ref().map(|p| OnShim::of(cxx, p));
        let sound = |k: usize, args: &[Owned]| shims[k].differs(&programs[k], args).is_none();
        (0..8).all(|_| {
            args.iter()
                .all(|both| sound(0, &both[0]) && sound(1, &both[1]))
        })
    };
    assert!(is_sound(&cxx));
    for (what, from, to) in faults {
        assert!(!is_sound(&cxx.tampered(from, to)), "not noticed: {what}");
    }
}
