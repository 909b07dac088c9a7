//! Times of chunks: measured on one thread, and spent again by simulated ones.

use crate::kernels::Outcome as Checked;
use crate::measure::median;
use livefusion::runtime::virtual_time;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Kernel, Outcome, Pass, Value};
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Time of a kernel's call beside its steps, in nanoseconds.
const CALL: f64 = 100.0;

/// A loop of a case, and `emit`, `summary` with a level, or `bytes`.
type Key = (usize, String);

/// Holds the times of chunks, by loop and pass.
///
/// They are nanoseconds for each step. The first is that of elements outside of the cache. The second follows
/// another pass over them. `bytes` has those read and written for each step.
#[derive(Default)]
pub struct ChunkTimes(BTreeMap<Key, (f64, f64)>);

impl ChunkTimes {
    fn of(&self, at: usize, name: &str) -> (f64, f64) {
        self.0
            .get(&(at, name.to_string()))
            .copied()
            .unwrap_or_default()
    }

    /// Writes a line for each pass of a case.
    pub fn lines(&self, case: &str) -> String {
        let line = |((at, name), (a, b)): (&Key, &(f64, f64))| {
            format!("{case} {at} {name} {a:.5} {b:.5}\n")
        };
        self.0.iter().map(line).collect()
    }

    /// Reads the lines of a case.
    ///
    /// # Errors
    ///
    /// Returns a line of the case that is none of `lines`, or the case if it has none.
    pub fn read(text: &str, case: &str) -> Checked<ChunkTimes> {
        let mut times = ChunkTimes::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.first() != Some(&case) {
                continue;
            }
            let read = |words: &[&str]| {
                let [_, at, name, a, b] = words else {
                    return None;
                };
                let key = (at.parse().ok()?, name.to_string());
                Some((key, (a.parse().ok()?, b.parse().ok()?)))
            };
            times
                .0
                .extend([read(&words).ok_or_else(|| format!("no times of chunks: {line}"))?]);
        }
        match times.0.is_empty() {
            true => Err(format!("no times of chunks for {case}")),
            false => Ok(times),
        }
    }
}

/// Whether kernels measure their chunks, or spend measured times.
#[derive(Clone)]
pub enum Mode {
    Measure,
    Spend(Arc<ChunkTimes>),
}

/// Compiles kernels whose chunks are timed.
pub struct TimedBackend {
    inner: Arc<dyn Backend>,
    mode: Mode,
    state: Arc<Mutex<TimedState>>,
}

/// The loops compiled so far, and their samples.
#[derive(Default)]
struct TimedState {
    loops: Vec<String>,
    samples: BTreeMap<Key, (Vec<f64>, Vec<f64>)>,
}

struct TimedKernel {
    inner: Arc<dyn Kernel>,
    at: usize,
    levels: BTreeSet<u32>,
    mode: Mode,
    state: Arc<Mutex<TimedState>>,
    /// The beginnings of spans whose elements a summary has left in a cache.
    warm: Mutex<BTreeSet<u64>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn steps_of(frame: &Frame<'_>) -> u64 {
    frame.words.get(1).copied().unwrap_or(0)
}

fn name_of(pass: Pass) -> String {
    match pass {
        Pass::Emit => "emit".to_string(),
        Pass::Summary { level } => format!("summary{level}"),
    }
}

impl TimedBackend {
    /// Wraps a backend.
    pub fn new(inner: Arc<dyn Backend>, mode: Mode) -> TimedBackend {
        TimedBackend {
            inner,
            mode,
            state: Arc::default(),
        }
    }

    /// Forgets all measured times.
    pub fn forget(&self) {
        locked(&self.state).samples.clear();
    }

    /// Returns the median times.
    pub fn times(&self) -> ChunkTimes {
        let state = locked(&self.state);
        let medians = |(key, (cold, warm)): (&Key, &(Vec<f64>, Vec<f64>))| {
            let or = |a: &Vec<f64>, b: &Vec<f64>| median(if a.is_empty() { b } else { a });
            (key.clone(), (or(cold, warm), or(warm, cold)))
        };
        ChunkTimes(state.samples.iter().map(medians).collect())
    }
}

impl Backend for TimedBackend {
    fn name(&self) -> &'static str {
        "timed"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let inner = self.inner.compile(program)?;
        let loops = &mut locked(&self.state).loops;
        let text = program.to_string();
        let at = loops.iter().position(|l| *l == text).unwrap_or_else(|| {
            loops.push(text);
            loops.len() - 1
        });
        Ok(Arc::new(TimedKernel {
            inner,
            at,
            levels: program.groups.iter().map(|g| g.level).collect(),
            mode: self.mode.clone(),
            state: self.state.clone(),
            warm: Mutex::default(),
        }))
    }
}

impl TimedKernel {
    /// Records a time or a number of bytes.
    fn record(&self, name: &str, cold: Option<f64>, warm: Option<f64>) {
        let mut state = locked(&self.state);
        let samples = state
            .samples
            .entry((self.at, name.to_string()))
            .or_default();
        samples.0.extend(cold);
        samples.1.extend(warm);
    }

    fn timed(
        &self,
        pass: Pass,
        steps: u64,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
        is_warm: bool,
    ) -> Outcome {
        let before = steps_of(frame);
        let start = Instant::now();
        let outcome = self.inner.run(pass, steps, frame, args);
        let time = start.elapsed().as_nanos() as f64;
        let steps = steps_of(frame).saturating_sub(before);
        // Shorter spans say little about a step.
        if outcome == Outcome::Paused && steps >= self.inner.chunk() {
            let each = time / steps as f64;
            self.record(
                &name_of(pass),
                (!is_warm).then_some(each),
                is_warm.then_some(each),
            );
        }
        outcome
    }

    /// Runs a span chunk by chunk, every second one after its summaries.
    fn measure(&self, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let (chunk, begun) = (self.inner.chunk(), steps_of(frame));
        loop {
            let taken = steps_of(frame) - begun;
            let span = chunk.min(steps - taken);
            let mut is_warm = false;
            if (steps_of(frame) / chunk) % 2 == 1 {
                let words = frame.words.clone();
                for &level in &self.levels {
                    self.timed(Pass::Summary { level }, span, frame, args, is_warm);
                    frame.words.clone_from(&words);
                    is_warm = true;
                }
            }
            let outcome = self.timed(Pass::Emit, span, frame, args, is_warm);
            let taken = steps_of(frame) - begun;
            if outcome != Outcome::Paused {
                self.record_bytes(frame, args);
                return outcome;
            }
            if taken >= steps {
                return outcome;
            }
        }
    }

    fn record_bytes(&self, frame: &Frame<'_>, args: &[Arg<'_>]) {
        let steps = steps_of(frame).max(1) as f64;
        let read = args.iter().map(|arg| match arg {
            Arg::Array(view) => view.len() * view.ty().size(),
            _ => 0,
        });
        let written = frame.results.iter().map(|result| match result {
            Value::Array(array) => array.len() * array.ty().size(),
            Value::Scalar(_) => 0,
        });
        let each = |bytes: usize| Some(bytes as f64 / steps);
        self.record("bytes", each(read.sum()), each(written.sum()));
    }

    /// Runs a span, and lets the simulated thread work as long as measured.
    fn spend(
        &self,
        times: &ChunkTimes,
        pass: Pass,
        steps: u64,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Outcome {
        let before = steps_of(frame);
        let outcome = self.inner.run(pass, steps, frame, args);
        let steps = steps_of(frame).saturating_sub(before) as f64;
        let is_warm = match pass {
            Pass::Emit => locked(&self.warm).remove(&before),
            Pass::Summary { .. } => !locked(&self.warm).insert(before),
        };
        let (cold, warm) = times.of(self.at, &name_of(pass));
        let (read, written) = times.of(self.at, "bytes");
        let each = if is_warm { warm } else { cold };
        let bytes =
            if is_warm { 0.0 } else { read } + if pass == Pass::Emit { written } else { 0.0 };
        virtual_time::work(CALL + steps * each, steps * bytes);
        outcome
    }
}

impl Kernel for TimedKernel {
    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        match &self.mode {
            Mode::Measure if pass == Pass::Emit => self.measure(steps, frame, args),
            Mode::Measure => self.inner.run(pass, steps, frame, args),
            Mode::Spend(times) => self.spend(times, pass, steps, frame, args),
        }
    }

    fn chunk(&self) -> u64 {
        self.inner.chunk()
    }

    fn prepare(&self, pass: Pass) -> Result<(), CompileError> {
        self.inner.prepare(pass)
    }
}
