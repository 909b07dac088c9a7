//! Shared helpers: loops from text, runs cut into spans, comparable results.
#![allow(dead_code, reason = "each test crate uses a part")]

pub mod cases;
pub mod operators;
pub mod pairs;
pub mod uniform;

use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass, Value, View};
use loop_lang::types::Ty;
use loop_lang::{Const, Loop};

/// Parses a loop.
///
/// Gotos may be omitted.
pub fn loop_of(text: &str) -> Loop {
    let mut program = loop_lang::parse::parse(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    loop_lang::gotos::derive_gotos(&mut program);
    if let Err(faults) = loop_lang::verify::verify(&program) {
        let lines: Vec<String> = faults.iter().map(|f| f.to_string()).collect();
        panic!("{}\n{text}", lines.join("\n"));
    }
    program
}

/// Loads a loop from these tests' files or the Loop language's golden files.
pub fn loop_file(name: &str) -> Loop {
    let here = env!("CARGO_MANIFEST_DIR");
    let own = format!("{here}/../c/tests/loops/{name}.loop");
    let golden = format!("{here}/../../loop-lang/tests/files/golden/{name}.loop");
    let text = std::fs::read_to_string(own).or_else(|_| std::fs::read_to_string(golden));
    let text = text.unwrap_or_else(|e| panic!("{name}: {e}"));
    // A line of dashes separates the loop from a golden file's expected output.
    loop_of(text.split("\n# ----").next().unwrap_or_default())
}

/// Holds an argument that owns its data.
#[derive(Clone, Debug)]
pub enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    Scalar(Const),
}

pub fn args(data: &[Data]) -> Vec<Arg<'_>> {
    data.iter().map(arg).collect()
}

fn arg(data: &Data) -> Arg<'_> {
    match data {
        Data::F32(v) => Arg::Array(View::new(v)),
        Data::F64(v) => Arg::Array(View::new(v)),
        Data::I64(v) => Arg::Array(View::new(v)),
        Data::U64(v) => Arg::Array(View::new(v)),
        Data::Scalar(c) => Arg::Scalar(*c),
    }
}

/// Canonicalises NaNs in a word.
///
/// Their payloads carry no meaning.
pub fn comparable(ty: Ty, word: u64) -> u64 {
    match ty {
        Ty::F32 if f32::from_bits(word as u32).is_nan() => u64::from(f32::NAN.to_bits()),
        Ty::F64 if f64::from_bits(word).is_nan() => f64::NAN.to_bits(),
        _ => word,
    }
}

/// Describes a result by its type and words.
pub type Words = (Ty, Vec<u64>);

pub fn results(frame: &Frame) -> Vec<Words> {
    let words = |v: &Value| match v {
        Value::Scalar(c) => (c.ty, vec![comparable(c.ty, c.bits)]),
        Value::Array(b) => {
            let word = |i| comparable(b.ty(), b.get_word(i).unwrap());
            (b.ty(), (0..b.len()).map(word).collect())
        }
    };
    frame.results.iter().map(words).collect()
}

/// Removes the details of an outcome that only the interpreter reports.
pub fn plain(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Trapped(_) => Outcome::Trapped(None),
        other => other,
    }
}

/// Runs to the end, alternating spans and kernels.
///
/// All kernels are of one loop.
pub fn run_by_turns(
    kernels: &[&dyn Kernel],
    spans: &[u64],
    args: &[Arg<'_>],
) -> (Outcome, Vec<Words>) {
    let mut frame = Frame::new(kernels[0].layout());
    for turn in 0.. {
        let (kernel, span) = (kernels[turn % kernels.len()], spans[turn % spans.len()]);
        match kernel.run(Pass::Emit, span, &mut frame, args) {
            Outcome::Paused => {}
            outcome => return (plain(outcome), results(&frame)),
        }
    }
    unreachable!()
}

pub fn run(kernel: &dyn Kernel, args: &[Arg<'_>]) -> (Outcome, Vec<Words>) {
    run_by_turns(&[kernel], &[u64::MAX], args)
}

/// Generates reproducible numbers (a linear congruence).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 16
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub fn floats(&mut self, n: usize) -> Vec<f64> {
        (0..n)
            .map(|_| self.below(2000) as f64 / 1000.0 - 0.9)
            .collect()
    }
    pub fn ints(&mut self, n: usize) -> Vec<i64> {
        (0..n).map(|_| self.below(2001) as i64 - 1000).collect()
    }
}
