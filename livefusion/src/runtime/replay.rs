//! Replay: locates the trap of a loop.
//!
//! Compiled kernels only report that they trapped. The interpreter knows where, but takes thirty
//! times as long. So the kernel runs again chunk by chunk until it traps. It then runs up to that
//! chunk, and the interpreter runs the chunk itself.

use super::engine::Engine;
use super::parallel::{Ended, chunk_of, in_order, run};
use livefusion_backend::{Arg, Buffer, Frame, Growth, Kernel, Memory, Outcome, Pass};
use loop_lang::Loop;
use loop_lang::ir::CombId;
use loop_lang::types::Ty;

/// Describes an array that the loop took over and changed.
///
/// It has a slot, a type and a length.
pub type Taken = (usize, Ty, usize);

/// Holds a loop that trapped.
pub struct Replay<'a> {
    pub engine: &'a Engine,
    pub kernel: &'a dyn Kernel,
    pub program: &'a Loop,
    pub args: &'a [Arg<'a>],
    /// Arrays the loop took over. No trap depends on their elements.
    pub taken: &'a [Taken],
    /// The memory available to the loop.
    pub memory: Memory,
    /// Arrays of the loop that may begin short.
    pub growth: Growth,
}

impl Replay<'_> {
    /// Finds the first trap and returns its report.
    ///
    /// It uses no more memory than the loop had, and may be cancelled. There is no report if
    /// nothing traps this time.
    pub fn run(&self) -> Ended {
        self.trap().unwrap_or_else(|ended| ended)
    }

    fn trap(&self) -> Result<Ended, Ended> {
        let interp = self.engine.interpret(self.program).map_err(|e| {
            let why = e.to_string();
            Ended::By(Outcome::BadArgs(why))
        })?;
        let watch = self.engine.watch();
        let steps = self.sound_steps()?;
        let mut frame = self.frame()?;
        if steps > 0 {
            match in_order(self.kernel, watch, steps, &mut frame, self.args) {
                Ended::By(Outcome::Paused) => {}
                // The kernel is not deterministic.
                Ended::By(_) => frame = self.frame()?,
                cancelled => return Err(cancelled),
            }
        }
        Ok(
            match in_order(&*interp, watch, u64::MAX, &mut frame, self.args) {
                Ended::By(Outcome::Done | Outcome::Exited | Outcome::Paused) => {
                    Ended::By(Outcome::Trapped(None))
                }
                ended => ended,
            },
        )
    }

    /// Returns the steps before the chunk that traps.
    fn sound_steps(&self) -> Result<u64, Ended> {
        // A device kernel cannot run in part.
        if self.kernel.takes_far() {
            return Ok(0);
        }
        let (watch, chunk) = (self.engine.watch(), chunk_of(self.kernel));
        let mut frame = self.frame()?;
        loop {
            if watch.is_cancelled() {
                return Err(Ended::Cancelled);
            }
            let before = frame.words[1];
            match run(self.kernel, Pass::Emit, chunk, &mut frame, self.args) {
                Outcome::Paused if frame.words[1] > before => {}
                Outcome::Trapped(None) => return Ok(before),
                Outcome::Done | Outcome::Exited | Outcome::Paused => return Ok(0),
                ended => return Err(Ended::By(ended)),
            }
        }
    }

    /// Returns a frame at the start of the loop.
    fn frame(&self) -> Result<Frame<'_>, Ended> {
        let mut frame = Frame::new(self.kernel.layout());
        frame.memory = self.memory;
        frame.growth = self.growth.clone();
        frame.stop = self.engine.watch().stop();
        for (slot, ty, len) in self.taken {
            let Some(array) = Buffer::zeroed(*ty, *len) else {
                let bytes = (*len as u64).saturating_mul(ty.size() as u64);
                let comb = CombId(0);
                return Err(Ended::By(Outcome::NoMemory { comb, bytes }));
            };
            frame.give(*slot, array);
        }
        Ok(frame)
    }
}
