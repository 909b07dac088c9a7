//! Spans in order, each also summarised: both forms reach the same state.
//!
//! Spans end at random guards, and either form may continue from the state.

use super::WHOLE;
use crate::rng::Rng;
use crate::scalar::same;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Held, Kernel, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::ir::{GroupId, Type};
use loop_lang::state::{Layout, group_total};
use std::sync::{Arc, Mutex, PoisonError};

/// Wraps a backend with kernels that alternate emit and summary forms.
///
/// Spans end at random guards.
pub struct Turns {
    inner: Arc<dyn Backend>,
    seed: u64,
}

impl Turns {
    /// Creates a backend with such spans.
    pub fn new(inner: Arc<dyn Backend>, seed: u64) -> Turns {
        Turns { inner, seed }
    }
}

impl Backend for Turns {
    fn name(&self) -> &'static str {
        "turns"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        Ok(Arc::new(TurnsKernel {
            program: program.clone(),
            kernel: self.inner.compile(program)?,
            rng: Mutex::new(Rng::new(self.seed)),
        }))
    }
}

struct TurnsKernel {
    program: Loop,
    kernel: Arc<dyn Kernel>,
    rng: Mutex<Rng>,
}

impl Kernel for TurnsKernel {
    fn layout(&self) -> &Layout {
        self.kernel.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        if pass != Pass::Emit || steps < WHOLE || frame.words[0] != 0 {
            return self.kernel.run(pass, steps, frame, args);
        }
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        run(&self.program, &*self.kernel, frame, args, &mut rng).unwrap_or_else(Outcome::BadArgs)
    }
}

/// Runs a loop from a fresh frame in spans of random length.
pub fn run(
    program: &Loop,
    kernel: &dyn Kernel,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
    rng: &mut Rng,
) -> Result<Outcome, String> {
    let top = program.groups.iter().map(|g| g.level).max().unwrap_or(0);
    let layout = kernel.layout();
    let mut longest = 4;
    loop {
        let span = rng.below(longest) as u64;
        let mut short = Frame::new(layout);
        short.words.copy_from_slice(&frame.words);
        // A summary that reads arrays written by the loop writes its own copies.
        let copy = |a: &Option<Held<'_>>| a.as_ref().and_then(|a| Some(a.copy()?.into()));
        short.arrays = frame.arrays.iter().map(copy).collect();
        let begun = frame.words[0] != 0;
        let summed = begun.then(|| {
            let pass = Pass::Summary { level: top };
            kernel.run(pass, span, &mut short, args)
        });
        let outcome = kernel.run(Pass::Emit, span, frame, args);
        if outcome != Outcome::Paused {
            return Ok(outcome);
        }
        if let Some(summed) = summed {
            agree(program, layout, &summed, &short.words, &frame.words)?;
            if rng.chance(50) {
                frame.words = short.words;
            }
        }
        // Long loops need not take thousands of spans.
        longest += longest / 8 + 1;
    }
}

/// Whether the summary form reached the position and the groups of the emit form.
fn agree(
    program: &Loop,
    layout: &Layout,
    outcome: &Outcome,
    short: &[u64],
    emit: &[u64],
) -> Result<(), String> {
    if *outcome != Outcome::Paused || short[..2] != emit[..2] {
        let (short, emit) = (&short[..2], &emit[..2]);
        return Err(format!(
            "a summary came to {short:?} ({outcome:?}), the emit form to {emit:?}"
        ));
    }
    for (i, group) in program.groups.iter().enumerate() {
        let value = |words: &[u64]| match group.order {
            order if order.is_local() => group_total(program, layout, words, GroupId::new(i)),
            _ => {
                let word = |v| layout.word(v).map_or(0, |w| words[w]);
                group.vars.iter().map(|v| word(*v)).collect()
            }
        };
        for ((v, x), y) in group.vars.iter().zip(value(short)).zip(value(emit)) {
            if let Type::Scalar(ty) = program.ty(*v)
                && !same(ty, x, y)
            {
                let name = program.name(*v);
                return Err(format!(
                    "a summary gives {x:x} for `{name}`, the emit form {y:x}"
                ));
            }
        }
    }
    Ok(())
}
