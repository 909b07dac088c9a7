//! Shared helpers: loops from files, arguments from seeds, runs cut into spans.
#![allow(dead_code, reason = "each test crate uses a part")]

use livefusion_backend::{Arg, Buffer, Frame, Kernel, Outcome, Pass, Value, View};
use livefusion_interp::{InterpBackend, InterpKernel};
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, Type};
use loop_lang::types::{Const, Ty, canonical};
use std::path::Path;

/// Lists the names and texts of the golden loops.
pub fn golden_texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../loop-lang/tests/files/golden");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    files
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "loop"))
        .map(|p| {
            (
                p.file_stem().unwrap().to_str().unwrap().into(),
                std::fs::read_to_string(p).unwrap(),
            )
        })
        .collect()
}

/// Loads one golden loop.
pub fn golden(name: &str) -> Loop {
    let (_, text) = golden_texts().into_iter().find(|(n, _)| n == name).unwrap();
    parse(&text)
}

/// Parses a loop, up to a golden file's expected output.
///
/// Gotos may be omitted.
pub fn parse(text: &str) -> Loop {
    let text = text.split("\n# ----").next().unwrap_or(text);
    let mut program = loop_lang::parse::parse(text).unwrap_or_else(|faults| {
        let faults: Vec<String> = faults.iter().map(|f| f.to_string()).collect();
        panic!("{}", faults.join("\n"))
    });
    loop_lang::gotos::derive_gotos(&mut program);
    program
}

/// Compiles with the interpreter.
pub fn kernel(program: &Loop) -> InterpKernel {
    InterpBackend::new()
        .compile_kernel(program)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Holds an argument that owns its array.
#[derive(Debug)]
pub enum Owned {
    Scalar(Const),
    Array(Buffer),
}

impl Owned {
    pub fn arg(&self) -> Arg<'_> {
        match self {
            Owned::Scalar(c) => Arg::Scalar(*c),
            Owned::Array(b) => Arg::Array(b.view()),
        }
    }
}

/// Borrows arguments.
pub fn borrow(args: &[Owned]) -> Vec<Arg<'_>> {
    args.iter().map(Owned::arg).collect()
}

/// Makes an array argument.
pub fn array<T: livefusion_backend::Prim>(elements: &[T]) -> Owned {
    Owned::Array(Buffer::from_vec(elements.to_vec()))
}

/// Generates small reproducible random numbers (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Draws a word of a type, mostly small, sometimes extreme.
    pub fn word(&mut self, ty: Ty) -> u64 {
        let extreme = self.below(12) == 0;
        match ty {
            Ty::F64 if extreme => {
                let all = [
                    f64::NAN,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    -0.0,
                    f64::MAX,
                    1e-310,
                ];
                all[self.below(6) as usize].to_bits()
            }
            Ty::F64 => (self.below(2000) as f64 / 7.0 - 140.0).to_bits(),
            Ty::F32 if extreme => {
                let all = [
                    f32::NAN,
                    f32::INFINITY,
                    f32::NEG_INFINITY,
                    -0.0,
                    f32::MAX,
                    1e-40,
                ];
                u64::from(all[self.below(6) as usize].to_bits())
            }
            Ty::F32 => u64::from((self.below(2000) as f32 / 7.0 - 140.0).to_bits()),
            Ty::U64 => self.below(6),
            _ if extreme => canonical(ty, self.next()),
            _ => canonical(ty, self.below(20).wrapping_sub(6)),
        }
    }
}

/// Draws arguments for a loop.
///
/// Most arrays have a common length. Sometimes arrays of floats are as long as the sum of an array
/// of `u64` (segment lengths).
pub fn random_args(program: &Loop, rng: &mut Rng) -> Vec<Owned> {
    let len = rng.below(40) as usize;
    let by_sum = rng.below(2) == 0;
    let mut sum = None;
    let mut args = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        if p.kind == ParamKind::Scalar {
            args.push(Owned::Scalar(Const::new(ty, rng.word(ty))));
            continue;
        }
        let len = match sum {
            Some(sum) if by_sum => sum,
            _ if rng.below(10) == 0 => rng.below(40) as usize,
            _ => len,
        };
        let mut buffer = Buffer::zeroed(ty, len).unwrap();
        for i in 0..len {
            buffer.set_word(i, rng.word(ty));
        }
        if let Some(lengths) = buffer.as_slice::<u64>() {
            sum = Some(lengths.iter().sum::<u64>() as usize);
        }
        assert!(matches!(program.ty(p.var), Type::Array(_)));
        args.push(Owned::Array(buffer));
    }
    args
}

/// Holds a result for comparison, with all NaNs equal.
#[derive(Clone, PartialEq, Debug)]
pub enum Bits {
    Scalar(Ty, u64),
    Array(Ty, Vec<u64>),
}

/// Canonicalises NaNs in a word.
pub fn one_nan(ty: Ty, word: u64) -> u64 {
    match ty {
        Ty::F64 if f64::from_bits(word).is_nan() => f64::NAN.to_bits(),
        Ty::F32 if f32::from_bits(word as u32).is_nan() => u64::from(f32::NAN.to_bits()),
        _ => word,
    }
}

pub fn bits(value: &Value) -> Bits {
    match value {
        Value::Scalar(c) => Bits::Scalar(c.ty, one_nan(c.ty, c.bits)),
        Value::Array(b) => {
            let words = (0..b.len()).map(|i| one_nan(b.ty(), b.get_word(i).unwrap()));
            Bits::Array(b.ty(), words.collect())
        }
    }
}

/// Runs to the end in spans whose lengths come from `cut`.
///
/// Returns the outcome and the results.
pub fn run_cut(
    kernel: &dyn Kernel,
    args: &[Owned],
    mut cut: impl FnMut() -> u64,
) -> (Outcome, Vec<Bits>) {
    let args = borrow(args);
    let mut frame = Frame::new(kernel.layout());
    loop {
        match kernel.run(Pass::Emit, cut(), &mut frame, &args) {
            Outcome::Paused => {}
            outcome => return (outcome, frame.results.iter().map(bits).collect()),
        }
    }
}

/// Runs as one span.
pub fn run(kernel: &dyn Kernel, args: &[Owned]) -> (Outcome, Vec<Bits>) {
    run_cut(kernel, args, || u64::MAX)
}

/// Returns the elements of an array result.
pub fn f64s(bits: &Bits) -> Vec<f64> {
    match bits {
        Bits::Array(Ty::F64, words) => words.iter().map(|w| f64::from_bits(*w)).collect(),
        other => panic!("not an array of f64: {other:?}"),
    }
}

/// Returns an empty view, for arguments of the wrong type.
pub fn nothing() -> Arg<'static> {
    Arg::Array(View::new::<u8>(&[]))
}
