//! Parallel execution of a compiled loop.
//!
//! The calling thread starts at once, chunk by chunk. It measures its chunks, and calls helpers
//! when the rest is worth waking them.
//!
//! | module | contents |
//! | --- | --- |
//! | `shape` | the properties of a loop that decide how its chunks run in parallel |
//! | `team` | helper threads |
//! | `board` | their shared state: units, prefixes, sums |
//! | `worker` | the work of each thread |
//! | `pace` | the time of chunks, alone and together |
//! | `restart` | loops over segments, cut between segments |
//! | `survey` | the beginnings of blocks of iterations, found by all threads together |
//! | `grow` | arrays that begin short and grow between spans |
//!
//! Chunks follow the [interface of kernels](livefusion_backend::kernel). A thread first sums up the
//! groups that other groups depend on, and these sums are joined in order. It then emits the chunk
//! from its prefix, while the chunk is in the cache. A thread that already knows its prefix skips
//! the sum, so a single thread runs each chunk once. Groups that only the loop's end reads are
//! joined afterwards. Chunks that append to arrays use private arrays. They copy their elements
//! once the counts of earlier chunks are known.
//!
//! A trap or an early exit in a chunk ends the parallel phase. The loop continues in order from the
//! beginning of that chunk. It ends as it would on one thread.

mod board;
#[cfg(test)]
mod fixture;
mod grow;
#[cfg(all(test, shuttle))]
mod models;
mod pace;
mod restart;
#[cfg(test)]
mod serial;
mod shape;
mod survey;
mod team;
#[cfg(test)]
mod tests;
mod worker;

use super::engine::Engine;
use super::sync::{Instant, Wait};
use super::watch::{Progress, Watch};
use board::{Board, UnitSize};
use livefusion_backend::{Arg, Frame, Growing, Kernel, Outcome, Pass};
use loop_lang::Loop;
use pace::{Pace, Trial};
use restart::{Found, Restart};
pub use shape::why_in_order;
use shape::{ChunkedLoop, FlatLoop, is_heavy};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use team::Team;
use worker::Worker;

/// Chunks that the calling thread runs first, if steps are light.
const FIRST: u64 = 4;
/// Time between checks for helpers and cancellation.
const SPAN: Duration = Duration::from_micros(100);
/// Chunks of a segment that is not cut.
const LONG_SEGMENT: u64 = 16;
/// Minimum units for each thread before growing arrays must grow.
const SHARED: u64 = 4;
/// Time that an eager engine waits for helpers.
const PATIENCE: Duration = Duration::from_millis(300);
/// The part of a heavy chunk to run before the first look at the clock, if it can be cut anywhere:
/// one in this many.
const HEAVY_PART: u64 = 16;

/// Caches the analysis of a loop, computed on demand.
#[derive(Default)]
pub struct Shapes {
    shape: OnceLock<Option<ChunkedLoop>>,
    flat: OnceLock<Option<FlatLoop>>,
    /// Whether less than a chunk can be worth sharing.
    heavy: OnceLock<bool>,
    /// Arrays that may begin short.
    growing: OnceLock<Arc<[Growing]>>,
}

impl Shapes {
    /// Lists the loop's arrays that may begin short.
    pub fn growing(&self, program: &Loop, kernel: &dyn Kernel) -> &Arc<[Growing]> {
        let find = || grow::growing(program, kernel.layout());
        self.growing.get_or_init(find)
    }
}

/// Describes one run of a loop.
pub struct LoopRun<'a> {
    pub engine: &'a Engine,
    pub kernel: &'a Arc<dyn Kernel>,
    /// Whether it takes arrays wherever they are.
    pub far: bool,
    pub program: &'a Loop,
    pub shapes: &'a Shapes,
    pub args: &'a [Arg<'a>],
    /// The index of the loop, and the number of loops.
    pub at: (usize, usize),
}

/// Describes how a run ended.
pub enum Ended {
    By(Outcome),
    Cancelled,
}

/// Returns the steps of a kernel's chunk, at least one.
///
/// User-defined kernels may report zero.
pub fn chunk_of(kernel: &dyn Kernel) -> u64 {
    kernel.chunk().max(1)
}

/// Runs a kernel and checks the frame it leaves.
///
/// The kernel may come from a user-defined backend.
#[inline]
pub fn run(
    kernel: &dyn Kernel,
    pass: Pass,
    steps: u64,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
) -> Outcome {
    let taken = |frame: &Frame<'_>| frame.words.get(1).copied().unwrap_or(0);
    let lengths = |frame: &Frame<'_>| (frame.words.len(), frame.arrays.len());
    let (before, given) = (taken(frame), lengths(frame));
    let outcome = match pass {
        Pass::Emit if frame.growth.may_be_on() => grow::emit(kernel, steps, frame, args),
        _ => kernel.run(pass, steps, frame, args),
    };
    let now = taken(frame);
    let why = match outcome {
        _ if lengths(frame) != given => "a kernel left another frame than it was given",
        // Such a frame would make the caller loop forever or overflow its counter.
        Outcome::Paused if steps > 0 && now == before => "a kernel paused without a step",
        Outcome::Paused if steps > 0 && now.wrapping_sub(before) > steps => {
            "a kernel paused behind other steps than it was given"
        }
        _ => return outcome,
    };
    if lengths(frame) != given {
        *frame = Frame::new(kernel.layout());
    }
    Outcome::BadArgs(why.into())
}

/// Runs a frame in order up to step `until`.
///
/// It checks for cancellation between chunks.
pub fn in_order(
    kernel: &dyn Kernel,
    watch: &Watch,
    until: u64,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
) -> Ended {
    let span = match watch.cancel {
        Some(_) => chunk_of(kernel),
        None => u64::MAX,
    };
    loop {
        if watch.is_cancelled() {
            return Ended::Cancelled;
        }
        let before = frame.words[1];
        let steps = span.min(until.saturating_sub(before));
        match run(kernel, Pass::Emit, steps, frame, args) {
            Outcome::Paused if (before + 1..until).contains(&frame.words[1]) => {}
            ended => return Ended::By(ended),
        }
    }
}

/// Calls helper threads for work that is not a loop.
pub fn called(engine: &Engine, helpers: usize) -> Team {
    Team::call(|| engine.pool(), helpers, || true)
}

impl LoopRun<'_> {
    /// Runs a fresh frame to the loop's end.
    pub fn to_end(&self, frame: &mut Frame) -> Ended {
        let watch = self.engine.watch();
        let alone = self.engine.threads() == 1;
        if alone && !watch.is_on() {
            return Ended::By(self.span(u64::MAX, frame));
        }
        if watch.is_cancelled() {
            return Ended::Cancelled;
        }
        // A device parallelises the loop itself.
        if self.far {
            return Ended::By(self.span(u64::MAX, frame));
        }
        let (grain, steps) = self.first();
        // Arrays that end before this do not need the clock.
        let long = |a: &Arg<'_>| matches!(a, Arg::Array(v) if v.len() as u64 > steps);
        let start = self.args.iter().any(long).then(Instant::now);
        match self.span(steps, frame) {
            Outcome::Paused => {}
            ended => return Ended::By(ended),
        }
        let mut pace = Pace::new(grain);
        if let Some(start) = start {
            pace.took(start.elapsed(), steps);
        }
        self.long(frame, pace, watch)
    }

    fn span(&self, steps: u64, frame: &mut Frame) -> Outcome {
        run(&**self.kernel, Pass::Emit, steps, frame, self.args)
    }

    /// Runs the loop from its first chunks to its end.
    #[inline(never)]
    fn long(&self, frame: &mut Frame<'_>, mut pace: Pace, watch: &Watch) -> Ended {
        let shape = self.shape().filter(|_| self.engine.threads() > 1);
        let mut help = Help::NotCalled;
        let mut restart = shape.and_then(|s| s.restart.as_ref());
        let survey = shape.and_then(|s| s.survey.as_ref());
        loop {
            let left = self.left(frame);
            let expected = || Some(survey?.expected(self.program, &frame.words, self.args));
            let expected = left.or_else(expected);
            if watch.is_on() {
                if watch.is_cancelled() {
                    return Ended::Cancelled;
                }
                self.tell(watch, frame.words[1], self.to_bound(frame));
            }
            help = match (help, shape) {
                (Help::NotCalled, Some(shape))
                    if self.engine.is_eager() || pace.is_long(expected) =>
                {
                    Help::Called(self.call(shape))
                }
                (Help::Called(team), Some(shape)) if self.has_come(&team) => {
                    let cut = (restart, expected);
                    match self.together(shape, cut, &team, frame, &pace) {
                        ControlFlow::Break(ended) => return ended,
                        ControlFlow::Continue(Rest::InOrder) => Help::Over,
                        ControlFlow::Continue(Rest::Full) => Help::Called(self.call(shape)),
                        ControlFlow::Continue(Rest::LongSegments) => {
                            restart = None;
                            let chunk = chunk_of(&**self.kernel);
                            match self.span(chunk - frame.words[1] % chunk, frame) {
                                Outcome::Paused => Help::Called(self.call(shape)),
                                ended => return Ended::By(ended),
                            }
                        }
                    }
                }
                (_, None) => Help::Over,
                (help, _) => help,
            };
            let on = match help {
                Help::Called(_) if self.engine.is_eager() => continue,
                _ if watch.is_on() => pace.span(),
                Help::Over => u64::MAX,
                Help::NotCalled if pace.is_short(left) => u64::MAX,
                _ => pace.span(),
            };
            let start = Instant::now();
            match self.span(on, frame) {
                Outcome::Paused => pace.took(start.elapsed(), on),
                ended => return Ended::By(ended),
            }
        }
    }

    /// Returns the loop's shape, or none if its chunks run in order.
    fn shape(&self) -> Option<&ChunkedLoop> {
        let find = || ChunkedLoop::of(self.program, self.kernel.layout());
        self.shapes.shape.get_or_init(find).as_ref()
    }

    /// Returns the steps between checks, and those before the first check.
    ///
    /// Between checks there is a chunk, or less if steps are heavy. Before the first one there are
    /// a few chunks, too little to share.
    fn first(&self) -> (u64, u64) {
        let chunk = chunk_of(&**self.kernel);
        let find =
            || is_heavy(self.program) && self.shape().is_some_and(ChunkedLoop::joins_nothing);
        let grain = match self.shapes.heavy.get_or_init(find) {
            true => (chunk / HEAVY_PART).max(1),
            false => chunk,
        };
        match self.engine.is_eager() || grain < chunk {
            true => (grain, grain),
            false => (grain, FIRST * grain),
        }
    }

    /// Returns the loop's single counter, if it has one.
    fn flat(&self) -> Option<&FlatLoop> {
        let find = || FlatLoop::of(self.program, self.kernel.layout());
        self.shapes.flat.get_or_init(find).as_ref()
    }

    /// Returns the steps to the loop's bound, if known.
    fn to_bound(&self, frame: &Frame<'_>) -> Option<u64> {
        let left = |flat: &FlatLoop| flat.left(self.program, &frame.words, self.args);
        self.flat().map(left)
    }

    /// Returns the steps to the loop's end, if known.
    ///
    /// The bound says little about a loop with an early exit. Helpers called for it could come for
    /// nothing.
    fn left(&self, frame: &Frame<'_>) -> Option<u64> {
        let early = self.flat().is_some_and(|flat| flat.ends_early);
        self.to_bound(frame).filter(|_| !early)
    }

    fn tell(&self, watch: &Watch, steps: u64, left: Option<u64>) {
        watch.tell(Progress {
            loop_index: self.at.0,
            loops: self.at.1,
            steps,
            total: left.map(|left| steps + left),
        });
    }

    fn call(&self, shape: &ChunkedLoop) -> Team {
        let helpers = self.engine.threads() - 1;
        let (kernel, passes) = (self.kernel.clone(), shape.passes());
        // Helpers compile the passes they need before they arrive.
        let ready = move || passes.iter().all(|pass| kernel.prepare(*pass).is_ok());
        Team::call(|| self.engine.pool(), helpers, ready)
    }

    /// Tells whether a helper has arrived. An eager engine waits for it.
    fn has_come(&self, team: &Team) -> bool {
        let start = Instant::now();
        let mut wait = Wait::default();
        while self.engine.is_eager() && !team.arrived() && start.elapsed() < PATIENCE {
            wait.once();
        }
        team.arrived() || self.engine.is_eager()
    }

    /// Continues a paused frame with a team, up to the last whole unit or to a part that must run
    /// in order.
    fn together(
        &self,
        shape: &ChunkedLoop,
        (restart, expected): (Option<&Restart>, Option<u64>),
        team: &Team,
        frame: &mut Frame<'_>,
        pace: &Pace,
    ) -> ControlFlow<Ended, Rest> {
        let (threads, watch) = (self.engine.threads(), self.engine.watch());
        let left = self.to_bound(frame);
        if shape.has_large_sums(frame, threads as u64, left) {
            return ControlFlow::Continue(Rest::InOrder);
        }
        let unit = match shape.joins_nothing() || restart.is_some() {
            true => pace.unit(expected, threads as u64),
            false => pace.chunk,
        };
        let must_begin = shape.plan.begins_with_root;
        let longest = match must_begin {
            true => LONG_SEGMENT * unit,
            false => (LONG_SEGMENT * pace.chunk).max(2 * unit),
        };
        let kernel = &**self.kernel;
        if let Some(restart) = restart.filter(|_| must_begin || shape.survey.is_some()) {
            // Only this frame's scratch arrays hold its contracted arrays.
            let mut run = |steps, frame: &mut Frame<'_>| self.span(steps, frame);
            let of = (self.program, self.args);
            match restart.find(of, longest, frame, &mut run) {
                Found::Beginning => {}
                Found::Far if must_begin => return ControlFlow::Continue(Rest::InOrder),
                Found::Far => return ControlFlow::Continue(Rest::LongSegments),
                Found::Ended(outcome) => return ControlFlow::Break(Ended::By(outcome)),
            }
        }
        // Shared arrays do not grow while threads use them.
        let most = match restart {
            Some(_) => longest + 2 * unit,
            None => unit,
        };
        let least = SHARED * most * threads as u64;
        if frame.growth.is_on()
            && frame.capacity() < least
            && let Err(ended) = frame.grow(least)
        {
            return ControlFlow::Break(Ended::By(ended));
        }
        let size = UnitSize {
            unit,
            longest,
            capacity: frame.capacity() / most,
        };
        let before = frame.words[1];
        // SAFETY: the shape is that of a loop which writes no element twice and reads none that it
        // writes, except in scratch arrays, of which each frame has its own. Where a kernel may
        // write beyond its chunk's elements, chunks get arrays of their own, or limited ones.
        let frames = unsafe { frame.lend(kernel.layout(), threads + 1) };
        let board = |frames| Board::new(shape, restart, kernel, self.args, size, frames);
        let Some(board) = frames.and_then(board) else {
            return ControlFlow::Continue(Rest::InOrder);
        };
        let mut reported = Instant::now();
        let mut trial = Trial::new(pace.alone(unit), self.engine.is_eager());
        let mut tick = |holds_none: bool| {
            if watch.is_cancelled() {
                board.stop();
            }
            if trial.fails((board.steps_run() / unit) as usize) {
                board.close();
            }
            let due = watch.progress.is_some() && reported.elapsed() > SPAN;
            // The callback may block, or wait for helper threads.
            if due && holds_none {
                let run = board.steps_run();
                self.tell(watch, before + run, left.map(|l| l.saturating_sub(run)));
                reported = Instant::now();
            }
            due && !holds_none
        };
        share_out(&board, team, &mut tick);
        let (stopped, full) = (board.stopped(), board.is_full());
        let too_long = board.is_too_long();
        self.engine
            .count_parallel(board.steps_run() / chunk_of(kernel));
        frame.words = board.rest().into();
        match stopped {
            false if too_long && !shape.plan.begins_with_root => {
                ControlFlow::Continue(Rest::LongSegments)
            }
            false if full => ControlFlow::Continue(Rest::Full),
            false => ControlFlow::Continue(Rest::InOrder),
            true if watch.is_cancelled() => ControlFlow::Break(Ended::Cancelled),
            true => {
                let why = "a thread that helped with a loop panicked".into();
                ControlFlow::Break(Ended::By(Outcome::BadArgs(why)))
            }
        }
    }
}

/// Runs a board's units on this thread and its helpers until none is left.
///
/// `tick` is passed to this thread's [`Worker::run`].
fn share_out(board: &Board<'_>, team: &Team, tick: &mut dyn FnMut(bool) -> bool) {
    let help = || {
        let work = || Worker::new(board).map(|worker| worker.run(&mut |_| false));
        if catch_unwind(AssertUnwindSafe(work)).is_err() {
            board.stop();
        }
    };
    team.share(&help, || {
        let unwinding = StopAll(board);
        if let Some(worker) = Worker::new(board) {
            worker.run(tick);
        }
        std::mem::forget(unwinding);
    });
}

/// Whether helpers take part.
enum Help {
    NotCalled,
    Called(Team),
    Over,
}

/// The reason why a team stopped early.
enum Rest {
    /// The loop's end, a part that must run in order, or a part not worth sharing.
    InOrder,
    /// Segments so long that they must be cut.
    LongSegments,
    /// Steps beyond the capacity of results.
    Full,
}

/// Makes helpers leave when the calling thread unwinds.
struct StopAll<'b, 'a>(&'b Board<'a>);

impl Drop for StopAll<'_, '_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
