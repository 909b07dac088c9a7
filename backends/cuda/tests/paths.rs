//! Segments whose elements threads share: what they give is what the interpreter gives.

mod segments;
mod shimmed;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use livefusion_backend::{Buffer, Outcome};
use livefusion_cuda_shim::{Cxx, can_compile};
use loop_lang::ir::Type;
use loop_lang::types::Ty;
use segments::{are_found, args_of};
use shimmed::{OnShim, far};
use support::{Owned, Rng};

#[test]
fn faults_of_segments_are_found() {
    let faults = [
        (
            "no part says that a segment begins in it",
            "    state.level0.lf_begun = true;\n",
            "",
        ),
        (
            "a segment goes on with what came of the one before",
            "if (b.lf_begun) {",
            "if (false) {",
        ),
        (
            "what comes before a tile is joined twice",
            "scanned.all));\n    return Group::join(p, before, scanned.before);",
            "scanned.all));\n    return Group::join(p, before, Group::join(p, before, scanned.before));",
        ),
        (
            "a step is searched one segment too far",
            "(middle + 1) * ends > step",
            "(middle + 1) * ends >= step",
        ),
        (
            "a segment that begins with a thread's steps does not begin",
            "if (at == 0) L::begin(head, state);",
            "",
        ),
        (
            "a thread's second segment begins where its first one did",
            "      before += length;\n",
            "",
        ),
        (
            "only empty segments have an end",
            "if (at < length + L::ENDS) continue;",
            "if (at < length) continue;",
        ),
        (
            "a segment lies where the one before does",
            "lf_write(p.lf_places, ix_0 - launch.first, ",
            "lf_write(p.lf_places, ix_0 - launch.first + 1, ",
        ),
    ];
    are_found("segmented", &faults);
}

/// Lengths whose sum no number holds are a trap, whoever looks at them: nothing is read where they would lie.
#[test]
fn lengths_beyond_all_numbers_trap() {
    if !can_compile() {
        return;
    }
    let program = support::golden("exit_of_segments");
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    let lengths: Vec<u64> = (0..2000)
        .map(|i| if i % 700 == 3 { 1 << 63 } else { 2 })
        .collect();
    let args = args_of(&program, &lengths[..3], &[], &mut Rng(47));
    let args: Vec<Owned> = args
        .into_iter()
        .zip(&program.params)
        .map(|(arg, p)| match program.ty(p.var) {
            Type::Array(Ty::U64) => Owned::Array(Buffer::from_vec(lengths.clone())),
            _ => arg,
        })
        .collect();
    let (outcome, _) = shim.run(&far(&args)).expect("it ends");
    assert!(matches!(outcome, Outcome::Trapped(_)), "{outcome:?}");
}
