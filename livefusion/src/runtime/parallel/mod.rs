//! Runs a compiled loop: the calling thread begins at once, chunk by chunk, and calls others in when the
//! time that chunks take says that the rest is worth waking them.
//!
//! | module | room for |
//! | --- | --- |
//! | `shape` | what of a loop decides how its chunks run beside each other |
//! | `team` | threads that help |
//! | `board` | what they share: units to take, prefixes, sums |
//! | `worker` | what each does |
//! | `pace` | how long chunks take, alone and together |
//! | `restart` | loops over segments that are cut between segments |
//! | `grow` | arrays that begin short, and grow between spans |
//!
//! Chunks run as the [interface of kernels](livefusion_backend::kernel) has it: groups that others depend
//! on are summed up first and joined in order; then a chunk is emitted from its prefix, while it is in the
//! cache. A thread that finds its prefix known emits without a sum, so that one thread alone runs each
//! chunk once. Groups that only the loop's end reads are joined afterwards. Chunks that append to arrays do
//! so in arrays of their own, and copy what they have when the counts of those before are known.
//!
//! A chunk that ends in an unforeseen way (a trap, an early exit) ends the common work: the loop goes on in
//! order from its beginning, and comes to the same end as if nobody had helped.

mod board;
mod grow;
#[cfg(all(test, shuttle))]
mod models;
mod pace;
mod restart;
mod shape;
mod team;
#[cfg(test)]
mod tests;
mod worker;

use super::engine::Engine;
use super::sync::Wait;
use super::watch::{Progress, Watch};
use board::{Board, LONG_SEGMENT};
use livefusion_backend::{Arg, Frame, Growing, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::state::Layout;
use pace::{Pace, Trial};
use restart::{Found, Restart};
use shape::{Flat, Shape, is_heavy};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use team::Team;
use worker::Worker;

/// Chunks that the calling thread runs at first, where steps are light.
const FIRST: u64 = 4;
/// How long to run before looking whether somebody has come, or cancelled.
const SPAN: Duration = Duration::from_micros(100);
/// Where arrays grow, threads share at least so many units each before they do.
const SHARED: u64 = 4;
/// Engines that run everything in parallel wait so long for help.
const PATIENCE: Duration = Duration::from_millis(300);
/// Of a chunk whose steps take long, and which can be cut anywhere, so much is run before the first look
/// at the clock.
const HEAVY_PART: u64 = 16;

/// What is known of a loop, found when it is first asked for.
#[derive(Default)]
pub struct Shapes {
    shape: OnceLock<Option<Shape>>,
    flat: OnceLock<Option<Flat>>,
    /// Whether less than a chunk can be worth sharing.
    heavy: OnceLock<bool>,
    /// Arrays that may begin short.
    growing: OnceLock<Arc<[Growing]>>,
}

impl Shapes {
    /// The loop's arrays that may begin short.
    pub fn growing(&self, program: &Loop, layout: &Layout) -> &Arc<[Growing]> {
        self.growing.get_or_init(|| grow::growing(program, layout))
    }
}

/// How a loop is run.
pub struct Run<'a> {
    pub engine: &'a Engine,
    pub kernel: &'a Arc<dyn Kernel>,
    pub program: &'a Loop,
    pub shapes: &'a Shapes,
    pub args: &'a [Arg<'a>],
    /// Which of how many loops it is.
    pub at: (usize, usize),
}

/// How a run ended.
pub enum Ended {
    By(Outcome),
    Cancelled,
}

/// How many steps a kernel's chunks have: one at least, whoever wrote the kernel.
pub fn chunk_of(kernel: &dyn Kernel) -> u64 {
    kernel.chunk().max(1)
}

/// Runs a kernel, and sees to it that the frame is one of its loop's afterwards, whoever wrote the kernel.
pub fn run(
    kernel: &dyn Kernel,
    pass: Pass,
    steps: u64,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
) -> Outcome {
    let before = frame.words.get(1).copied();
    let outcome = match pass {
        Pass::Emit => grow::emit(kernel, steps, frame, args),
        Pass::Summary { .. } => kernel.run(pass, steps, frame, args),
    };
    let layout = kernel.layout();
    if frame.words.len() != layout.words || frame.arrays.len() != layout.arrays.len() {
        *frame = Frame::new(layout);
        return Outcome::BadArgs("a kernel left another frame than it was given".into());
    }
    // Whoever goes on with it would do so for ever, or count beyond all numbers.
    let (before, now) = (
        before.unwrap_or(0),
        frame.words.get(1).copied().unwrap_or(0),
    );
    if outcome == Outcome::Paused && steps > 0 && !(1..=steps).contains(&now.wrapping_sub(before)) {
        let why = match now == before {
            true => "a kernel paused without a step",
            false => "a kernel paused behind other steps than it was given",
        };
        return Outcome::BadArgs(why.into());
    }
    outcome
}

/// Runs a frame in order, up to so many steps from the loop's beginning, and looks between chunks whether
/// that was cancelled.
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

/// Calls so many threads to help with something that is no loop.
pub fn called(engine: &Engine, helpers: usize) -> Team {
    Team::call(|| engine.pool(), helpers, || true)
}

impl Run<'_> {
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
        // A device has its own ways to share a loop out.
        if self.kernel.takes_far() {
            return Ended::By(self.span(u64::MAX, frame));
        }
        let grain = self.grain();
        let steps = self.first(grain);
        // A clock is not looked at for arrays that are done by then.
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

    /// What is behind the first chunks.
    fn long(&self, frame: &mut Frame<'_>, mut pace: Pace, watch: &Watch) -> Ended {
        let shape = self.shape().filter(|_| self.engine.threads() > 1);
        let mut help = Help::NotCalled;
        let mut restart = shape.and_then(|s| s.restart.as_ref());
        loop {
            let left = self.left(frame);
            if watch.is_on() {
                if watch.is_cancelled() {
                    return Ended::Cancelled;
                }
                self.tell(watch, frame.words[1], self.to_bound(frame));
            }
            help = match (help, shape) {
                (Help::NotCalled, Some(shape)) if self.engine.is_eager() || pace.is_long(left) => {
                    Help::Called(self.call(shape))
                }
                (Help::Called(team), Some(shape)) if self.has_come(&team) => {
                    match self.together(shape, restart, &team, frame, &pace) {
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

    /// The loop's shape; none if its chunks run in order.
    fn shape(&self) -> Option<&Shape> {
        let find = || Shape::of(self.program, self.kernel.layout());
        self.shapes.shape.get_or_init(find).as_ref()
    }

    /// Steps before the first look around: a few chunks, which are not worth sharing.
    fn first(&self, grain: u64) -> u64 {
        match self.engine.is_eager() || grain < chunk_of(&**self.kernel) {
            true => grain,
            false => FIRST * grain,
        }
    }

    /// Steps after which to look around: a chunk, or less where that takes long.
    fn grain(&self) -> u64 {
        let chunk = chunk_of(&**self.kernel);
        let find = || is_heavy(self.program) && self.shape().is_some_and(Shape::joins_nothing);
        match self.shapes.heavy.get_or_init(find) {
            true => (chunk / HEAVY_PART).max(1),
            false => chunk,
        }
    }

    /// The loop's one counter, if it has one.
    fn flat(&self) -> Option<&Flat> {
        let find = || Flat::of(self.program, self.kernel.layout());
        self.shapes.flat.get_or_init(find).as_ref()
    }

    /// Steps to the loop's bound, where they are known.
    fn to_bound(&self, frame: &Frame<'_>) -> Option<u64> {
        let left = |flat: &Flat| flat.left(self.program, &frame.words, self.args);
        self.flat().map(left)
    }

    /// Steps to the loop's end, where they are known. A loop that may end early is as likely to do so soon: whoever
    /// were called in on account of its bound would come for nothing.
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

    fn call(&self, shape: &Shape) -> Team {
        let helpers = self.engine.threads() - 1;
        let (kernel, passes) = (self.kernel.clone(), shape.passes());
        // Before helpers arrive they compile the passes that they will need.
        let ready = move || passes.iter().all(|pass| kernel.prepare(*pass).is_ok());
        Team::call(|| self.engine.pool(), helpers, ready)
    }

    /// Whether a helper has come. An eager engine waits for it.
    fn has_come(&self, team: &Team) -> bool {
        let start = Instant::now();
        let mut wait = Wait::default();
        while self.engine.is_eager() && !team.arrived() && start.elapsed() < PATIENCE {
            wait.once();
        }
        team.arrived() || self.engine.is_eager()
    }

    /// Runs a paused frame on with a team, up to the last whole unit or to what must be done in order.
    fn together(
        &self,
        shape: &Shape,
        restart: Option<&Restart>,
        team: &Team,
        frame: &mut Frame<'_>,
        pace: &Pace,
    ) -> ControlFlow<Ended, Rest> {
        let (threads, watch) = (self.engine.threads(), self.engine.watch());
        let left = self.to_bound(frame);
        let unit = match shape.joins_nothing() {
            true => pace.unit(self.left(frame), threads as u64),
            false => pace.chunk,
        };
        let kernel = &**self.kernel;
        if let Some(restart) = restart.filter(|_| shape.plan.begins_with_root) {
            // What was handed on in this frame's scratch arrays is known to no other.
            let mut run = |steps, frame: &mut Frame<'_>| self.span(steps, frame);
            let of = (self.program, self.args);
            match restart.find(of, LONG_SEGMENT * unit, frame, &mut run) {
                Found::Beginning => {}
                Found::Far => return ControlFlow::Continue(Rest::InOrder),
                Found::Ended(outcome) => return ControlFlow::Break(Ended::By(outcome)),
            }
        }
        // Threads share arrays that do not grow meanwhile.
        let longest = match restart {
            Some(_) => (LONG_SEGMENT + 2) * unit,
            None => unit,
        };
        let least = SHARED * longest * threads as u64;
        if frame.growth.is_on()
            && frame.room() < least
            && let Err(ended) = frame.grow(least)
        {
            return ControlFlow::Break(Ended::By(ended));
        }
        let room = frame.room() / longest;
        let before = frame.words[1];
        // SAFETY: the shape is that of a loop which writes no element twice and reads none that it writes, but in
        // scratch arrays, of which each frame has its own; where a kernel may write beyond its chunk's elements,
        // chunks get arrays of their own, or limited ones.
        let frames = unsafe { frame.lend(kernel.layout(), threads + 1) };
        let board = |frames| Board::new(shape, restart, kernel, self.args, (unit, room), frames);
        let Some(board) = frames.and_then(board) else {
            return ControlFlow::Continue(Rest::InOrder);
        };
        let mut told = Instant::now();
        let mut trial = Trial::new(pace.alone(unit), self.engine.is_eager());
        let mut tick = |holds_none: bool| {
            if watch.is_cancelled() {
                board.stop();
            }
            if trial.fails(board.units_run()) {
                board.close();
            }
            let due = watch.progress.is_some() && told.elapsed() > SPAN;
            // What is called may take its time, or wait for threads that help.
            if due && holds_none {
                let run = board.units_run() as u64 * unit;
                self.tell(watch, before + run, left.map(|l| l.saturating_sub(run)));
                told = Instant::now();
            }
            due && !holds_none
        };
        share_out(&board, team, &mut tick);
        let (stopped, units) = (board.stopped(), board.units_run() as u64);
        let (too_long, full) = (board.too_long(), board.is_full());
        self.engine.count_parallel(units * unit / chunk_of(kernel));
        frame.words = board.rest();
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

/// Runs a board's units, on this thread and on those of its team that come, until nothing is left. `tick` is
/// for this thread's [`Worker::run`].
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

/// Whether others take part.
enum Help {
    NotCalled,
    Called(Team),
    Over,
}

/// What a team leaves.
enum Rest {
    /// The loop's end, what has to be done in order, or what is not worth sharing.
    InOrder,
    /// Segments that are too long not to be cut.
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
