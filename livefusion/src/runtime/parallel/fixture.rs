//! Boards for tests: a loop's first unit has run, and its frame is lent.

use super::board::{Board, UnitSize};
use super::restart::Found;
use super::run;
use super::shape::ChunkedLoop;
use crate::ast::Node;
use crate::fusion::Clustering;
use crate::stages;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass, View};
use loop_lang::Loop;
use loop_lang::ir::{Param, ParamKind};
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// Returns the only loop of a program.
pub fn one_loop(roots: &[&Arc<Node>]) -> Loop {
    let roots: Vec<Arc<Node>> = roots.iter().copied().cloned().collect();
    let graph = stages::graph_of(&roots).expect("graph");
    let mut loops = graph.plan(Clustering::default()).lower().expect("lowered");
    loops.optimize();
    assert_eq!(loops.len(), 1);
    loops.iter().next().expect("one").program.clone()
}

/// Makes a loop's arguments.
///
/// Unsigned arrays are the lengths of segments, from the outermost on. Lengths of arrays are the
/// number of elements; other scalars are 0, or 1 if unsigned.
pub fn arguments<'a>(
    program: &Loop,
    elements: &'a [i64],
    mut lengths: impl Iterator<Item = &'a [u64]>,
) -> Vec<Arg<'a>> {
    let mut of = |p: &Param| match (program.ty(p.var).elem(), p.kind == ParamKind::Scalar) {
        (Ty::U64, true) if program.name(p.var).starts_with("len") => {
            Arg::Scalar(Const::u64(elements.len() as u64))
        }
        (ty, true) => Arg::Scalar(Const::new(ty, u64::from(ty == Ty::U64))),
        (Ty::U64, false) => Arg::Array(View::new(lengths.next().expect("lengths"))),
        (_, false) => Arg::Array(View::new(elements)),
    };
    program.params.iter().map(&mut of).collect()
}

/// Runs a loop with a board for some threads, after its first unit.
///
/// Returns the frame after that with the result.
pub fn with_board<R>(
    kernel: &dyn Kernel,
    program: &Loop,
    args: &[Arg<'_>],
    (unit, threads): (u64, usize),
    rest: impl FnOnce(Board<'_>) -> (Vec<u64>, R),
) -> (Frame<'static>, R) {
    let shape = ChunkedLoop::of(program, kernel.layout()).expect("chunks in any order");
    let mut frame = Frame::new(kernel.layout());
    let mut emit = |n, frame: &mut Frame<'_>| run(kernel, Pass::Emit, n, frame, args);
    assert_eq!(emit(unit, &mut frame), Outcome::Paused);
    let restart = shape.restart.as_ref();
    if let Some(restart) = restart {
        let found = restart.find((program, args), u64::MAX, &mut frame, &mut emit);
        assert!(matches!(found, Found::Beginning));
    }
    // SAFETY: as in `LoopRun::together`.
    let frames = unsafe { frame.lend(kernel.layout(), threads + 1) }.expect("memory");
    let size = UnitSize {
        unit,
        longest: 16 * unit,
        capacity: u64::MAX,
    };
    let board = Board::new(&shape, restart, kernel, args, size, frames).expect("a board");
    let (words, result) = rest(board);
    frame.words = words.into();
    (frame, result)
}
