//! Kernels on the shim, run through the backend, compared with the interpreter.

use crate::support::{Owned, Rng, kernel as interpreted, random_args};
use livefusion_backend::{Arg, Backend, Buffer, Frame, Kernel, Outcome, Pass, Value};
use livefusion_cuda::CudaBackend;
use livefusion_cuda::device::session::Session;
use livefusion_cuda_shim::{Cxx, Shim};
use livefusion_interp::InterpBackend;
use livefusion_tile::schedule::{Schedule, Schedules};
use loop_lang::Loop;
use loop_lang::types::Ty;
use std::cell::Cell;
use std::sync::Arc;

/// Holds a loop's kernel on devices that run few blocks at once, and many.
pub struct OnShim {
    kernels: Vec<Arc<dyn Kernel>>,
    runs: Cell<usize>,
}

impl OnShim {
    /// Loads a loop that has a kernel.
    pub fn of(cxx: &Cxx, program: &Loop) -> OnShim {
        OnShim::on(cxx, program, Shim::default())
    }

    /// Loads a loop under a schedule, or under the default.
    pub fn under(cxx: &Cxx, program: &Loop, schedule: &Schedule) -> OnShim {
        let schedules = match schedule.decisions() {
            [] => Schedules::default(),
            _ => Schedules::default().with(program, schedule),
        };
        OnShim::asked(cxx, program, &schedules, Shim::default())
    }

    /// Loads a loop on devices that otherwise equal `shim`.
    pub fn on(cxx: &Cxx, program: &Loop, shim: Shim) -> OnShim {
        OnShim::asked(cxx, program, &Schedules::default(), shim)
    }

    fn asked(cxx: &Cxx, program: &Loop, schedules: &Schedules, shim: Shim) -> OnShim {
        let kernel = |blocks| {
            let driver = Shim { blocks, ..shim }.driver();
            let session = Session::new(driver, Box::new(cxx.clone()));
            // Unwritten bytes are only detected in fresh memory.
            session.pool().set_limit(0);
            let backend = CudaBackend::on(session, Arc::new(InterpBackend::new()));
            let backend = backend.with_schedules(schedules.clone());
            let kernel = backend.compile(program).expect("it compiles");
            let tier = kernel.tier().unwrap_or_default();
            assert!(tier.starts_with("on sm_90"), "{tier}");
            kernel
        };
        OnShim {
            kernels: [1, 1000].map(kernel).into(),
            runs: Cell::new(0),
        }
    }

    /// Runs the loop.
    ///
    /// # Errors
    ///
    /// Returns the device's message.
    pub fn run(&self, args: &[Arg<'_>]) -> Result<(Outcome, Vec<Value>), String> {
        self.runs.set(self.runs.get() + 1);
        let kernel = &self.kernels[self.runs.get() % self.kernels.len()];
        let mut frame = Frame::new(kernel.layout());
        match kernel.run(Pass::Emit, u64::MAX, &mut frame, args) {
            Outcome::BadArgs(said) => Err(said),
            outcome => Ok((outcome, frame.results.into_vec())),
        }
    }

    /// Describes the first difference from the interpreter's results, if any.
    pub fn differs(&self, program: &Loop, args: &[Owned]) -> Option<String> {
        let (outcome, values) = match self.run(&far(args)) {
            Ok(ran) => ran,
            Err(said) => return Some(said),
        };
        let (expected, wanted) = plain(program, &crate::support::borrow(args));
        let traps = |o: &Outcome| matches!(o, Outcome::Trapped(_));
        if traps(&expected) && traps(&outcome) {
            return None;
        }
        if outcome != expected || values.len() != wanted.len() {
            return Some(format!("{outcome:?} for {expected:?}"));
        }
        let pairs = values.iter().zip(&wanted).enumerate();
        let mut apart = pairs.filter(|(_, (got, want))| !alike(got, want));
        let (k, (got, want)) = apart.next()?;
        Some(format!("result {k}: {}", first_apart(got, want)))
    }
}

/// Borrows arguments, which may be far.
pub fn far(args: &[Owned]) -> Vec<Arg<'_>> {
    let arg = |arg| match arg {
        &Owned::Scalar(c) => Arg::Scalar(c),
        Owned::Array(array) => Arg::Far(array),
    };
    args.iter().map(arg).collect()
}

/// Returns the outcome and the results of a loop in the interpreter.
pub fn plain(program: &Loop, args: &[Arg<'_>]) -> (Outcome, Vec<Value>) {
    let host = interpreted(program);
    let mut frame = Frame::new(host.layout());
    let outcome = host.run(Pass::Emit, u64::MAX, &mut frame, args);
    (outcome, frame.results.into_vec())
}

/// Describes the first difference of two values.
pub fn first_apart(got: &Value, want: &Value) -> String {
    match (got, want) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let (a, b) = (here(a), here(b));
            let words = (0..a.len()).map(|i| (a.get_word(i), b.get_word(i)));
            let apart = words.enumerate().find(|(_, (x, y))| x != y);
            format!("{apart:x?} of {}, {}", a.len(), a.ty())
        }
        _ => format!("{got:?} for {want:?}"),
    }
}

/// Fetches the elements of an array.
pub fn here(array: &Buffer) -> &Buffer {
    array.here().expect("the device works")
}

/// Compares values, with a tolerance for floats summed in another order.
pub fn alike(a: &Value, b: &Value) -> bool {
    let near = |ty: Ty, x: u64, y: u64| {
        let (x, y) = match ty {
            Ty::F64 => (f64::from_bits(x), f64::from_bits(y)),
            Ty::F32 => (
                f64::from(f32::from_bits(x as u32)),
                f64::from(f32::from_bits(y as u32)),
            ),
            _ => return x == y,
        };
        let precise = if ty == Ty::F32 { 1e-3 } else { 1e-9 };
        x == y
            || (x.is_nan() && y.is_nan())
            || (x - y).abs() <= precise * (1.0 + x.abs().max(y.abs()))
    };
    match (a, b) {
        (Value::Scalar(a), Value::Scalar(b)) => a.ty == b.ty && near(a.ty, a.bits, b.bits),
        (Value::Array(a), Value::Array(b)) => {
            let (a, b) = (here(a), here(b));
            let word = |x: &Buffer, i| x.get_word(i).unwrap_or(0);
            a.ty() == b.ty()
                && a.len() == b.len()
                && (0..a.len()).all(|i| near(a.ty(), word(a, i), word(b, i)))
        }
        _ => false,
    }
}

/// Makes arguments of several tiles and a part of one, longer than the interpreter's.
pub fn long_args(program: &Loop, len: usize, rng: &mut Rng) -> Vec<Owned> {
    let args = random_args(program, rng);
    let longer = |(p, a): (&loop_lang::ir::Param, Owned)| match a {
        Owned::Array(_) => {
            let ty = program.ty(p.var).elem();
            let mut b = Buffer::zeroed(ty, len).expect("memory");
            for i in 0..len {
                b.set_word(i, rng.word(ty));
            }
            Owned::Array(b)
        }
        scalar => scalar,
    };
    program.params.iter().zip(args).map(longer).collect()
}

/// Parses a loop whose blocks without statements are omitted.
pub fn completed(text: &str) -> Loop {
    let mut program = loop_lang::parse::parse(text).expect("a loop");
    loop_lang::gotos::complete_blocks(&mut program);
    loop_lang::gotos::derive_gotos(&mut program);
    loop_lang::verify::verify(&program).expect("it verifies");
    program
}
