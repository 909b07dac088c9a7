//! The Loop language's golden loops give the same results on several threads.

use super::{Ended, LoopRun, Shapes};
use crate::Engine;
use livefusion_backend::{Arg, Backend, Buffer, Frame, Outcome, Value};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use loop_lang::chunkable::raise_levels;
use loop_lang::gotos::{complete_blocks, derive_gotos};
use loop_lang::ir::Type;
use loop_lang::types::{Const, Ty, canonical};
use std::path::Path;
use std::sync::Arc;

/// Steps of a chunk.
const CHUNK: u64 = 16;

/// Returns the golden loops by name.
fn golden() -> Vec<(String, Loop)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../loop-lang/tests/files/golden");
    let mut loops = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let text = text.split("\n# ----").next().unwrap_or_default();
        let mut program = loop_lang::parse::parse(text).expect("it is a loop");
        complete_blocks(&mut program);
        derive_gotos(&mut program);
        raise_levels(&mut program);
        loops.push((program.name.clone(), program));
    }
    loops.sort_by(|a, b| a.0.cmp(&b.0));
    loops
}

/// A pseudorandom number generator.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n.max(1)
    }

    fn word(&mut self, ty: Ty, most: u64) -> u64 {
        let n = self.below(most);
        match ty {
            Ty::F64 => (n as f64 * 0.37 - 1.0).to_bits(),
            Ty::F32 => u64::from((n as f32 * 0.37 - 1.0).to_bits()),
            Ty::U64 => n,
            _ => canonical(ty, n.wrapping_sub(most / 3)),
        }
    }
}

/// An argument with its data.
enum Owned {
    Scalar(Const),
    Array(Buffer),
}

impl Owned {
    fn arg(&self) -> Arg<'_> {
        match self {
            Owned::Scalar(c) => Arg::Scalar(*c),
            Owned::Array(b) => Arg::Array(b.view()),
        }
    }
}

/// Makes arguments for a loop. An array after segment lengths has their sum as its length. Rows are
/// short, because the steps of all rows add up.
fn arguments(program: &Loop, seed: u64) -> Vec<Owned> {
    let rows = program.rates.iter().filter(|r| r.kind.is_uniform());
    let rows: Vec<_> = rows.filter_map(|r| r.kind.bound()?.var()).collect();
    let mut numbers = RandomNumbers(seed);
    let mut len = 100 + numbers.below(1500) as usize;
    let owned = program.params.iter().map(|p| match program.ty(p.var) {
        Type::Scalar(ty) => {
            let most = if numbers.below(3) == 0 { 20 } else { 3000 };
            let most = if rows.contains(&p.var) { 8 } else { most };
            let bits = numbers.word(ty, most);
            Owned::Scalar(Const { ty, bits })
        }
        Type::Array(ty) => {
            let most = if ty == Ty::U64 { 5 } else { 12 };
            let mut buffer = Buffer::zeroed(ty, len).expect("it is small");
            for i in 0..len {
                buffer.set_word(i, numbers.word(ty, most));
            }
            if let Some(lengths) = buffer.as_slice::<u64>() {
                len = lengths.iter().sum::<u64>() as usize;
            }
            Owned::Array(buffer)
        }
    });
    owned.collect()
}

/// Runs a loop on an engine, and returns its outcome and results.
fn ended(program: &Loop, engine: &Engine, owned: &[Owned]) -> (Outcome, Vec<String>) {
    let args: Vec<Arg<'_>> = owned.iter().map(Owned::arg).collect();
    let backend = InterpBackend::with_chunk(CHUNK);
    let kernel = backend.compile(program).expect("it verifies");
    let run = LoopRun {
        engine,
        kernel: &kernel,
        far: false,
        program,
        shapes: &Shapes::default(),
        args: &args,
        at: (0, 1),
    };
    let mut frame = Frame::new(kernel.layout());
    let Ended::By(outcome) = run.to_end(&mut frame) else {
        panic!("nobody cancels");
    };
    let outcome = match outcome {
        // A frame does not record an early exit of an earlier phase.
        Outcome::Exited => Outcome::Done,
        other => other,
    };
    let shown = |value: &Value| match value {
        Value::Scalar(c) => format!("{:x}", c.bits),
        Value::Array(b) => format!(
            "{:x?}",
            (0..b.len()).map(|i| b.get_word(i)).collect::<Vec<_>>()
        ),
    };
    (outcome, frame.results.iter().map(shown).collect())
}

#[test]
fn golden_loops_end_on_several_threads_as_on_one() {
    let engine = |threads| {
        let backend = Arc::new(InterpBackend::with_chunk(CHUNK));
        Engine::builder()
            .backend(backend)
            .threads(threads)
            .eager()
            .build()
    };
    let (one, three) = (engine(1), engine(3));
    let mut shared = 0;
    for (name, program) in golden() {
        let before = three.counters().parallel_chunks;
        for seed in 0..20 {
            let owned = arguments(&program, seed);
            let (expected, found) = (
                ended(&program, &one, &owned),
                ended(&program, &three, &owned),
            );
            assert_eq!(expected, found, "{name}, seed {seed}");
        }
        shared += u64::from(three.counters().parallel_chunks > before + 20);
    }
    assert!(shared > 12, "{shared} loops were shared");
}

/// The bound says nothing about the run time of a loop with an early exit.
#[test]
fn nobody_is_called_in_on_account_of_a_bound_that_may_not_be_reached() {
    let engine = Engine::interp();
    let backend = InterpBackend::with_chunk(CHUNK);
    for (name, known) in [
        ("exit_filter_find", false),
        ("first_index", false),
        ("filter_max", true),
    ] {
        let (_, program) = golden()
            .into_iter()
            .find(|(n, _)| n == name)
            .expect("it is there");
        let kernel = backend.compile(&program).expect("it verifies");
        let owned = arguments(&program, 1);
        let args: Vec<Arg<'_>> = owned.iter().map(Owned::arg).collect();
        let run = LoopRun {
            engine: &engine,
            kernel: &kernel,
            far: false,
            program: &program,
            shapes: &Shapes::default(),
            args: &args,
            at: (0, 1),
        };
        let mut frame = Frame::new(kernel.layout());
        assert_eq!(run.span(0, &mut frame), Outcome::Paused);
        assert!(run.to_bound(&frame).is_some_and(|n| n >= 100), "{name}");
        assert_eq!(run.left(&frame).is_some(), known, "{name}");
    }
}
