//! Outcomes of loop runs, and their comparison.

use crate::scalar::same;
use livefusion_backend::{Arg, Buffer, Frame, Kernel, Memory, Outcome, Pass, Value};

/// Holds the outcome of a run and its frame.
pub struct Ended {
    /// The outcome.
    pub outcome: Outcome,
    /// The frame with the results.
    pub frame: Frame<'static>,
}

/// The number of bytes that a run may allocate.
pub(crate) const MEMORY: u64 = 4 << 20;

/// Runs a kernel from the beginning for at most `steps` steps.
pub fn run(kernel: &dyn Kernel, pass: Pass, steps: u64, args: &[Arg<'_>]) -> Ended {
    let mut frame = Frame::new(kernel.layout());
    frame.memory = Memory::limited(MEMORY);
    let outcome = kernel.run(pass, steps, &mut frame, args);
    Ended { outcome, frame }
}

impl Ended {
    /// Returns a difference between two runs of one loop on equal arguments.
    ///
    /// If one of them paused, its steps were used up, and it has no results yet.
    pub fn differs(&self, other: &Ended) -> Option<String> {
        match (&self.outcome, &other.outcome) {
            // Compiled kernels only report that they trapped.
            (Outcome::Trapped(Some(x)), Outcome::Trapped(Some(y))) if x == y => return None,
            (Outcome::Trapped(_), Outcome::Trapped(None)) => return None,
            // A frame does not record that an earlier phase was left before its bound.
            (Outcome::Done | Outcome::Exited, Outcome::Done | Outcome::Exited) => {}
            (x, y) if x == y => {}
            (x, y) => return Some(format!("{x:?} and {y:?}")),
        }
        if self.frame.words[1] != other.frame.words[1] {
            let (x, y) = (self.frame.words[1], other.frame.words[1]);
            return Some(format!("{x} and {y} steps"));
        }
        self.results_differ(other)
    }

    /// Returns the first result that differs.
    pub fn results_differ(&self, other: &Ended) -> Option<String> {
        let results = self.frame.results.iter().zip(&other.frame.results);
        for (k, (x, y)) in results.enumerate() {
            if !equal(x, y) {
                return Some(format!("result {k}: {x:?} and {y:?}"));
            }
        }
        None
    }
}

/// Equal bit for bit, except for NaN payloads.
fn equal(x: &Value, y: &Value) -> bool {
    match (x, y) {
        (Value::Scalar(x), Value::Scalar(y)) => same(x.ty, x.bits, y.bits),
        (Value::Array(x), Value::Array(y)) => {
            let word = |b: &Buffer, i| b.get_word(i).unwrap_or_default();
            x.len() == y.len() && (0..x.len()).all(|i| same(x.ty(), word(x, i), word(y, i)))
        }
        _ => false,
    }
}
