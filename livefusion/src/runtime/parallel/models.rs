//! Concurrency models of a team at a board: loops of few small chunks.

use super::board::{Board, UnitSize};
use super::restart::Found;
use super::shape::ChunkedLoop;
use super::team::Team;
use super::{run, share_out};
use crate::array::Array;
use crate::ast::Node;
use crate::fusion::Clustering;
use crate::runtime::models::{check, join};
use crate::segmented::Segmented;
use crate::stages;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass, View};
use livefusion_interp::{InterpBackend, InterpKernel};
use loop_lang::Loop;
use loop_lang::ir::ParamKind;
use loop_lang::state::Layout;
use loop_lang::types::{Const, Ty};
use shuttle::thread;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Steps of a chunk, and of a unit.
const STEPS: u64 = 2;
/// Helper threads.
const HELPERS: usize = 2;

/// A kernel that records the spans it ran to their ends.
struct Noted {
    kernel: InterpKernel,
    spans: Mutex<Vec<(u64, u64)>>,
}

impl Kernel for Noted {
    fn layout(&self) -> &Layout {
        self.kernel.layout()
    }

    fn chunk(&self) -> u64 {
        STEPS
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let start = frame.words[1];
        let outcome = self.kernel.run(pass, steps, frame, args);
        if pass == Pass::Emit && outcome == Outcome::Paused {
            let span = (start, frame.words[1]);
            self.spans.lock().expect("no panic").push(span);
        }
        outcome
    }
}

/// How a model disturbs its threads.
#[derive(Clone, Copy, PartialEq)]
enum But {
    Nothing,
    /// The caller stops them after this many ticks.
    Stopped(usize),
    /// The caller stops giving out units after this many ticks.
    Closed(usize),
    /// The caller runs a helper's job in the middle of the loop, as threads of a pool may.
    HelpsItself,
}

/// Returns the only loop of a program.
fn one_loop(root: &Arc<Node>) -> Loop {
    let graph = stages::graph_of(std::slice::from_ref(root)).expect("graph");
    let mut loops = graph.plan(Clustering::default()).lower().expect("lowered");
    loops.optimize();
    assert_eq!(loops.len(), 1);
    loops.iter().next().expect("one").program.clone()
}

fn results(frame: &Frame<'_>) -> String {
    format!("{:?}", frame.results)
}

/// Shares a loop over these elements among threads, and compares it with a run on one thread.
///
/// Scalar parameters are 0, or the number of elements if unsigned. Unsigned arrays are the lengths
/// of segments. Each step must have run once.
fn shared(root: &Array<i64>, elements: &'static [i64], but: But) {
    shared_loop(one_loop(root.node()), elements, but);
}

fn shared_loop(program: Loop, elements: &'static [i64], but: But) {
    let args: Vec<Arg<'static>> = program
        .params
        .iter()
        .map(|p| match p.kind {
            ParamKind::Scalar if program.ty(p.var).elem() == Ty::U64 => {
                Arg::Scalar(Const::u64(elements.len() as u64))
            }
            ParamKind::Scalar => Arg::Scalar(Const::new(Ty::I64, 0)),
            _ if program.ty(p.var).elem() == Ty::U64 => Arg::Array(View::new(LENGTHS)),
            _ => Arg::Array(View::new(elements)),
        })
        .collect();
    check(move || {
        let backend = InterpBackend::with_chunk(STEPS);
        let kernel = Noted {
            kernel: backend.compile_kernel(&program).expect("compiled"),
            spans: Mutex::default(),
        };
        let to_end = |frame: &mut Frame<'_>| run(&kernel, Pass::Emit, u64::MAX, frame, &args);
        let mut alone = Frame::new(kernel.layout());
        let expected = to_end(&mut alone);

        let shape = ChunkedLoop::of(&program, kernel.layout()).expect("chunks in any order");
        let mut frame = Frame::new(kernel.layout());
        assert_eq!(
            run(&kernel, Pass::Emit, STEPS, &mut frame, &args),
            Outcome::Paused
        );
        let restart = shape.restart.as_ref();
        if let Some(restart) = restart {
            let mut emit = |n, frame: &mut Frame<'_>| run(&kernel, Pass::Emit, n, frame, &args);
            let found = restart.find((&program, &args), u64::MAX, &mut frame, &mut emit);
            assert!(matches!(found, Found::Beginning));
        }
        // SAFETY: as in `LoopRun::together`.
        let frames = unsafe { frame.lend(kernel.layout(), HELPERS + 2) }.expect("memory");
        let size = UnitSize {
            unit: STEPS,
            longest: 16 * STEPS,
            capacity: u64::MAX,
            stride: None,
        };
        let board = Board::new(&shape, restart, &kernel, &args, size, frames).expect("a board");
        let team = Team::gather(None);
        let helpers = (0..HELPERS).map(|_| {
            let helper = team.helper();
            thread::spawn(move || helper.help())
        });
        let helpers = helpers.collect();
        let mut looks = 0;
        share_out(&board, &team, &mut |holds_none| {
            looks += 1;
            match but {
                But::Stopped(n) if n == looks => board.stop(),
                But::Closed(n) if n == looks => board.close(),
                But::HelpsItself if !holds_none => team.helper().help(),
                _ => {}
            }
            false
        });
        drop(team);
        join(helpers);
        let stopped = board.stopped();
        assert!(!stopped || matches!(but, But::Stopped(_)));
        frame.words = board.rest().into();
        if stopped {
            return;
        }
        let from = frame.words[1];
        assert_eq!(to_end(&mut frame), expected);
        assert_eq!(results(&frame), results(&alone));
        // Failed units, and units after them, run again in order.
        let mut spans = std::mem::take(&mut *kernel.spans.lock().expect("no panic"));
        spans.retain(|s| s.1 <= from);
        spans.sort_unstable();
        let ends = spans.iter().map(|s| s.1);
        let starts = spans.iter().skip(1).map(|s| s.0);
        assert!(starts.chain([from]).eq(ends), "{spans:?} {from}");
    });
}

const ELEMENTS: &[i64] = &[3, -1, 4, 1, -5, 9, 2, 6, -5, 3, 5];

fn xs() -> Array<i64> {
    ELEMENTS.to_vec().into()
}

#[test]
fn a_scans_chunks_are_summed_joined_and_run_once() {
    shared(&xs().scan(0, |a, b| a + b), ELEMENTS, But::Nothing);
}

#[test]
fn model_of_a_filter_puts_chunks_in_order() {
    shared(&xs().filter(|x| x.gt(0)), ELEMENTS, But::Nothing);
}

#[test]
fn scans_of_filters_have_levels() {
    let kept = xs().scan(0, |a, b| a + b).filter(|x| x.gt(0));
    shared(&kept.scan(0, |a, b| a.max(b)), ELEMENTS, But::Nothing);
}

#[test]
fn a_folds_chunks_are_joined_afterwards() {
    shared_loop(one_loop(xs().sum().node()), ELEMENTS, But::Nothing);
}

/// The lengths of segments of [`ELEMENTS`].
const LENGTHS: &[u64] = &[1, 2, 0, 3, 1, 0, 4];

fn segments() -> Segmented<i64> {
    Segmented::new(&LENGTHS.to_vec().into(), &xs())
}

#[test]
fn threads_find_the_beginnings_of_segments_together() {
    let program = one_loop(segments().sum().node());
    let shape = ChunkedLoop::of(&program, &Layout::of(&program)).expect("chunks in any order");
    assert!(shape.restart.is_some_and(|r| r.survey.is_some()));
    shared_loop(program, ELEMENTS, But::Nothing);
}

/// The last segment is longer than the rest of the elements.
#[test]
fn a_segment_that_does_not_fit_ends_the_common_work() {
    let program = one_loop(segments().sum().node());
    shared_loop(program, &ELEMENTS[..8], But::Nothing);
}

#[test]
fn a_dismissed_team_runs_the_iterations_given_out() {
    let program = one_loop(segments().sum().node());
    shared_loop(program.clone(), ELEMENTS, But::Closed(2));
    shared_loop(program, ELEMENTS, But::Stopped(2));
}

/// A divisor array with one 0.
const ZERO: &[i64] = &[3, -1, 4, 1, -5, 9, 2, 0, -5, 3, 5];

#[test]
fn a_trap_ends_the_common_work() {
    let xs: Array<i64> = ZERO.to_vec().into();
    shared(&(&xs / &xs), ZERO, But::Nothing);
    shared(&xs.map(|x| x / x).filter(|x| x.gt(0)), ZERO, But::Nothing);
}

#[test]
fn an_early_exit_ends_the_common_work() {
    let xs: Array<i64> = ZERO.to_vec().into();
    shared(&xs.take_while(|x| x.ne(0)), ZERO, But::Nothing);
}

#[test]
fn all_leave_when_the_caller_stops_them() {
    shared(&xs().scan(0, |a, b| a + b), ELEMENTS, But::Stopped(3));
    shared(&xs().filter(|x| x.gt(0)), ELEMENTS, But::Stopped(2));
}

#[test]
fn model_of_a_dismissed_team_runs_chunks_given_out() {
    shared(&xs().scan(0, |a, b| a + b), ELEMENTS, But::Closed(2));
    shared(&xs().filter(|x| x.gt(0)), ELEMENTS, But::Closed(3));
}

#[test]
fn a_thread_that_is_in_a_loop_declines_to_help() {
    shared(&xs().scan(0, |a, b| a + b), ELEMENTS, But::HelpsItself);
    shared(&xs().filter(|x| x.gt(0)), ELEMENTS, But::HelpsItself);
}

#[test]
fn nobody_works_who_comes_before_or_after() {
    check(|| {
        let open = Arc::new(AtomicBool::new(false));
        let inside = Arc::new(AtomicUsize::new(0));
        let team = Team::gather(None);
        let helpers = (0..3).map(|_| {
            let helper = team.helper();
            thread::spawn(move || helper.help())
        });
        let helpers = helpers.collect();
        let work = || {
            assert!(open.load(Relaxed));
            inside.fetch_add(1, Relaxed);
            thread::yield_now();
            assert!(open.load(Relaxed));
            inside.fetch_sub(1, Relaxed);
        };
        thread::yield_now();
        open.store(true, Relaxed);
        team.share(&work, thread::yield_now);
        assert_eq!(inside.load(Relaxed), 0);
        open.store(false, Relaxed);
        drop(team);
        join(helpers);
    });
}
