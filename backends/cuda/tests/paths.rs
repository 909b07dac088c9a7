//! Segments whose elements are shared among threads give the interpreter's results.

use crate::segments::{agree, are_found, args_of};
use crate::shimmed::{OnShim, far};
use crate::support::{Owned, Rng};
use livefusion_backend::{Backend, Buffer, Frame, Outcome, Pass};
use livefusion_cuda::CudaBackend;
use livefusion_cuda::device::session::Session;
use livefusion_cuda_shim::{Call, Cxx, Shim, can_compile};
use livefusion_interp::InterpBackend;
use loop_lang::ir::Type;
use loop_lang::types::Ty;
use std::sync::Arc;

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
            "(low + last + 1) * ends > step",
            "(low + last + 1) * ends >= step",
        ),
        (
            "a segment that begins with a thread's steps does not begin",
            "    if (at == 0) L::begin(head, state);\n    LF_ROLLED",
            "    LF_ROLLED",
        ),
        (
            "a thread has its first element again",
            "        k += 1;\n",
            "",
        ),
        (
            "a segment ends one step too late",
            "step + 1 == stop;",
            "step == stop;",
        ),
        (
            "a tile that no segment begins in is taken for all up to it",
            "return x.lf_begun;",
            "return true;",
        ),
        (
            "nothing is done where nothing trapped before",
            "*launch.stopped != 0",
            "*launch.stopped == 0",
        ),
        (
            "elements are taken before they are there",
            "  lf_copies_done();\n  __syncthreads();\n  return near;",
            "  __syncthreads();\n  return near;",
        ),
        (
            "elements are taken before others have brought them",
            "  lf_copies_done();\n  __syncthreads();\n  return near;",
            "  lf_copies_done();\n  return near;",
        ),
        (
            "elements before the first whole piece are left out",
            "k < before + end - rest; k += THREADS",
            "k < end - rest; k += THREADS",
        ),
        (
            "a tile has the rows of the one before it",
            "if (lf_ahead<L>::GOES) ahead->find_rows(p);",
            "",
        ),
        (
            "a tile that is taken ahead is told to nobody",
            "if (Ahead::GOES && threadIdx.x == 0) ahead.tile = taken;",
            "",
        ),
        (
            "a tile comes before all are done with the last one",
            "    __syncthreads();\n    const u64 begin = tile * L::TILE, left = all - begin;\n    const u32 steps",
            "    const u64 begin = tile * L::TILE, left = all - begin;\n    const u32 steps",
        ),
        (
            "elements of long segments write nothing",
            "K == L::LEVELS && is_within && !L::EFFECTS",
            "K == L::LEVELS && is_within",
        ),
        (
            "what segments come to goes to their neighbours",
            "ends.begin + k, *(ends.top - 1 - k)",
            "ends.begin + k, *(ends.top - 2 - k)",
        ),
        (
            "segments that end in a tile are counted from the one behind its first",
            "end<K>(p, launch, launch.first + i, first, at, near, u32(i - places.first), state",
            "end<K>(p, launch, launch.first + i, first, at, near, u32(i - places.first) + 1, state",
        ),
        (
            "what is written goes out before all have written",
            "  if (L::STORES) __syncthreads();\n  L::stores",
            "  L::stores",
        ),
        (
            "what is written goes out one place too far",
            "from.array.at[from.begin + k] = *from.at(k);",
            "from.array.at[from.begin + k + 1] = *from.at(k);",
        ),
        (
            "a segment lies where the one before does",
            "lf_give(near.lf_places, lf_k, ",
            "lf_give(near.lf_places, lf_k + 1, ",
        ),
    ];
    are_found("segmented", &faults);
}

/// If there are more elements than in the longest array, the queued kernel does nothing and is
/// launched again.
#[test]
fn elements_may_be_more_than_any_array_has() {
    if !can_compile() {
        return;
    }
    let program = crate::support::golden("exit_of_segments");
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(53);
    let lengths: Vec<u64> = (0..300).map(|i| i % 7 * 30).collect();
    let mut args = args_of(&program, &lengths[..3], &[], &mut rng);
    for (arg, p) in args.iter_mut().zip(&program.params) {
        if program.ty(p.var) == Type::Array(Ty::U64) {
            *arg = Owned::Array(Buffer::from_vec(lengths.clone()));
        }
    }
    let launches = |cxx: &Cxx, args: &[Owned]| {
        let driver = Shim::default().driver();
        let session = Session::new(driver.clone(), Box::new(cxx.clone()));
        let backend = CudaBackend::on(session, Arc::new(InterpBackend::new()));
        let kernel = backend.compile(&program).expect("it compiles");
        let mut frame = Frame::new(kernel.layout());
        let outcome = kernel.run(Pass::Emit, u64::MAX, &mut frame, &far(args));
        assert_eq!(outcome, Outcome::Done);
        (driver.calls(Call::Launch), driver.calls(Call::Wait))
    };
    let shim = OnShim::of(&cxx, &program);
    agree(&shim, "exit_of_segments", &program, &args, "beyond");
    assert_eq!(launches(&cxx, &args), (3, 2));
    let fitting = args_of(&program, &lengths, &[], &mut rng);
    // The host does not wait between the two launches.
    assert_eq!(launches(&cxx, &fitting), (2, 1));
    let whoever = cxx.tampered("all > launch.steps || ", "");
    let shim = OnShim::of(&whoever, &program);
    assert!(shim.differs(&program, &args).is_some(), "not noticed");
}

/// A sum of lengths that overflows is a trap in every kernel, and no such element is read.
#[test]
fn lengths_beyond_all_numbers_trap() {
    if !can_compile() {
        return;
    }
    let program = crate::support::golden("exit_of_segments");
    let cxx = Cxx::new().expect("the shim compiles");
    let shim = OnShim::of(&cxx, &program);
    let lengths: Vec<u64> = (0..2000)
        .map(|i| if i % 700 == 3 { 1 << 63 } else { 1 })
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
