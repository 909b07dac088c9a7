//! Work after a loop: locating traps, and sizing passes.
//!
//! Both obey the cancellation and the limits of the loop.

use livefusion::prelude::*;
use livefusion::{CancelToken, ErrorKind};
use livefusion_backend::{Arg, Backend, CompileError, Frame, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::sync::{Arc, Mutex};

/// A callback with the steps of each span.
type Told = Arc<dyn Fn(u64) + Send + Sync>;

/// The interpreter, reporting only that a loop trapped, as compiled kernels do.
struct Quiet(Told);

struct QuietKernel(Arc<dyn Kernel>, Told);

impl Backend for Quiet {
    fn name(&self) -> &'static str {
        "quiet"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let inner = InterpBackend::new().compile(program)?;
        Ok(Arc::new(QuietKernel(inner, self.0.clone())))
    }
}

impl Kernel for QuietKernel {
    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let before = frame.words[1];
        let outcome = self.0.run(pass, steps, frame, args);
        match outcome {
            Outcome::Trapped(_) => {
                (self.1)(0);
                Outcome::Trapped(None)
            }
            other => {
                (self.1)(frame.words[1] - before);
                other
            }
        }
    }
}

fn quiet(told: Told) -> Engine {
    Engine::builder()
        .backend(Arc::new(Quiet(told)))
        .threads(1)
        .build()
}

const CHUNK: usize = 16384;

fn quotients(n: usize, zero: usize) -> Array<i64> {
    let mut divisors = vec![1i64; n];
    divisors[zero] = 0;
    Array::from(divisors).map(|d| 7 / d)
}

/// The kernel itself runs up to the chunk that trapped. The interpreter replays from there.
#[test]
fn only_the_chunk_that_trapped_is_interpreted() {
    for zero in [5, CHUNK, 3 * CHUNK + 7, 4 * CHUNK - 1] {
        let spans = Arc::new(Mutex::new(Vec::new()));
        let tell = spans.clone();
        let engine = quiet(Arc::new(move |steps| tell.lock().unwrap().push(steps)));
        let found = quotients(4 * CHUNK, zero).force_with(&engine).unwrap_err();
        let expected = quotients(4 * CHUNK, zero).force_with(&Engine::interp());
        assert_eq!(found.kind, expected.unwrap_err().kind);
        let spans = spans.lock().unwrap();
        let last: u64 = spans.iter().rev().take_while(|s| **s > 0).sum();
        assert_eq!(last as usize, zero / CHUNK * CHUNK, "{zero}: {spans:?}");
    }
}

#[test]
fn a_replay_keeps_the_memory_limit() {
    let bytes = (2 * CHUNK * 8) as u64;
    let told: Told = Arc::new(|_| ());
    let backend = Arc::new(Quiet(told));
    let engine = Engine::builder().backend(backend).memory_limit(bytes);
    let found = quotients(2 * CHUNK, CHUNK + 1).force_with(&engine.build());
    assert!(matches!(
        found.unwrap_err().kind,
        ErrorKind::Division { .. }
    ));
}

/// The replay checks the token.
#[test]
fn a_replay_is_cancelled() {
    let token = CancelToken::new();
    let (stop, trapped) = (token.clone(), Mutex::new(false));
    let engine = quiet(Arc::new(move |steps| {
        let mut trapped = trapped.lock().unwrap();
        match (*trapped, steps) {
            (false, 0) => *trapped = true,
            (true, 1..) => stop.cancel(),
            _ => {}
        }
    }));
    let found = quotients(9 * CHUNK, 8 * CHUNK).force_with(&engine.with_cancel(token));
    assert_eq!(found.unwrap_err().kind, ErrorKind::Cancelled);
}

/// A sizing loop runs before the loop that writes the result, and may take as long.
#[test]
fn a_sizing_pass_is_cancelled() {
    let token = CancelToken::new();
    let (stop, spans) = (token.clone(), Arc::new(Mutex::new(0)));
    let count = spans.clone();
    let engine = quiet(Arc::new(move |_| {
        *count.lock().unwrap() += 1;
        stop.cancel();
    }));
    let lengths = Array::from(vec![1u64; 9 * CHUNK]).map(|n| n + 1);
    let found = livefusion::segmented::Segmented::indices(&lengths)
        .data()
        .force_with(&engine.with_cancel(token));
    assert_eq!(found.unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(*spans.lock().unwrap(), 1);
}
