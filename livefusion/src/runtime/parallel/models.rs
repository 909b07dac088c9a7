//! Concurrency models of a team at a board: loops of few small chunks.

use super::fixture::{arguments, one_loop, with_board};
use super::shape::ChunkedLoop;
use super::team::Team;
use super::{run, share_out};
use crate::array::Array;
use crate::runtime::models::{check, join};
use crate::segmented::Segmented;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass};
use livefusion_interp::{InterpBackend, InterpKernel};
use loop_lang::Loop;
use loop_lang::state::Layout;
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

fn results(frame: &Frame<'_>) -> String {
    format!("{:?}", frame.results)
}

/// Shares a loop over these elements among threads, and compares it with a run on one thread.
///
/// Each step must have run once.
fn shared(root: &Array<i64>, elements: &'static [i64], but: But) {
    shared_loop(one_loop(&[root.node()]), elements, &[], but);
}

fn shared_loop(
    program: Loop,
    elements: &'static [i64],
    lengths: &'static [&'static [u64]],
    but: But,
) {
    let args = arguments(&program, elements, lengths.iter().copied());
    check(move || {
        let backend = InterpBackend::with_chunk(STEPS);
        let kernel = Noted {
            kernel: backend.compile_kernel(&program).expect("compiled"),
            spans: Mutex::default(),
        };
        let to_end = |frame: &mut Frame<'_>| run(&kernel, Pass::Emit, u64::MAX, frame, &args);
        let mut alone = Frame::new(kernel.layout());
        let expected = to_end(&mut alone);

        let size = (STEPS, HELPERS + 1);
        let (mut frame, stopped) = with_board(&kernel, &program, &args, size, |board| {
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
            (board.rest(), stopped)
        });
        assert!(!stopped || matches!(but, But::Stopped(_)));
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
    shared_loop(one_loop(&[xs().sum().node()]), ELEMENTS, &[], But::Nothing);
}

/// The lengths of segments of [`ELEMENTS`].
const LENGTHS: &[u64] = &[1, 2, 0, 3, 1, 0, 4];

fn segments() -> Segmented<i64> {
    Segmented::new(&LENGTHS.to_vec().into(), &xs())
}

fn sums_of_segments() -> Loop {
    one_loop(&[segments().sum().node()])
}

/// Tells how the threads find the places of units: by a survey, at the beginnings of segments.
fn finds(program: &Loop) -> (bool, bool) {
    let shape = ChunkedLoop::of(program, &Layout::of(program)).expect("chunks in any order");
    (shape.survey.is_some(), shape.restart.is_some())
}

#[test]
fn threads_find_the_beginnings_of_segments_together() {
    assert_eq!(finds(&sums_of_segments()), (true, true));
    shared_loop(sums_of_segments(), ELEMENTS, &[LENGTHS], But::Nothing);
}

#[test]
fn threads_find_the_places_of_chunks_together() {
    let total = xs().map(|x| x.cast::<f64>()).sum();
    let beside = one_loop(&[segments().sum().node(), total.node()]);
    let kept = segments().filter(|x| x.gt(0));
    let kept = one_loop(&[kept.sum().node(), kept.data().node()]);
    for program in [beside, kept] {
        assert_eq!(finds(&program), (true, false));
        shared_loop(program, ELEMENTS, &[LENGTHS], But::Nothing);
    }
}

/// The lengths of segments of [`LENGTHS`].
const OUTER: &[u64] = &[2, 0, 3, 1, 1];

#[test]
fn segments_of_segments_are_counted_in_stages() {
    let sums = Segmented::new(&OUTER.to_vec().into(), &segments().sum()).sum();
    let total = xs().map(|x| x.cast::<f64>()).sum();
    let alone = one_loop(&[sums.node()]);
    assert_eq!(finds(&alone), (true, true));
    let beside = one_loop(&[sums.node(), total.node()]);
    assert_eq!(finds(&beside), (true, false));
    for program in [alone, beside] {
        shared_loop(program.clone(), ELEMENTS, &[OUTER, LENGTHS], But::Nothing);
        // A segment that does not fit.
        shared_loop(program, &ELEMENTS[..8], &[OUTER, LENGTHS], But::Nothing);
    }
}

#[test]
fn one_thread_at_a_time_walks_over_lengths_that_follow_from_earlier_ones() {
    const RISING: &[u64] = &[0, 1, 0, 2, 1, 0, 2];
    let lengths: Array<u64> = RISING.to_vec().into();
    let rising = Segmented::new(&lengths.scan(1, |a, b| a.max(b)), &xs());
    let program = one_loop(&[rising.sum().node()]);
    assert!(!finds(&program).0);
    shared_loop(program.clone(), ELEMENTS, &[RISING], But::Nothing);
    shared_loop(program, ELEMENTS, &[RISING], But::Closed(2));
}

/// The last segment is longer than the rest of the elements.
#[test]
fn a_segment_that_does_not_fit_ends_the_common_work() {
    shared_loop(sums_of_segments(), &ELEMENTS[..8], &[LENGTHS], But::Nothing);
}

#[test]
fn a_dismissed_team_runs_the_iterations_given_out() {
    shared_loop(sums_of_segments(), ELEMENTS, &[LENGTHS], But::Closed(2));
    shared_loop(sums_of_segments(), ELEMENTS, &[LENGTHS], But::Stopped(2));
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
