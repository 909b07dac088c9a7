//! How a run of a loop ended, and whether two runs ended alike.

use crate::scalar::same;
use livefusion_backend::{Arg, Buffer, Frame, Kernel, Memory, Outcome, Pass, Value};

/// How a run ended.
pub struct Ended {
    /// The outcome.
    pub outcome: Outcome,
    /// The frame with the results.
    pub frame: Frame<'static>,
}

/// Bytes that a run may allocate.
pub(crate) const MEMORY: u64 = 4 << 20;

/// Runs a kernel from the beginning for so many steps at most.
pub fn run(kernel: &dyn Kernel, pass: Pass, steps: u64, args: &[Arg<'_>]) -> Ended {
    let mut frame = Frame::new(kernel.layout());
    frame.memory = Memory::limited(MEMORY);
    let outcome = kernel.run(pass, steps, &mut frame, args);
    Ended { outcome, frame }
}

impl Ended {
    /// In what another run of the same loop on the same arguments differs, if it does. Where one of them
    /// paused, its steps were used up, and there are no results yet.
    pub fn differs(&self, other: &Ended) -> Option<String> {
        match (&self.outcome, &other.outcome) {
            // Compiled kernels only know that they trapped.
            (Outcome::Trapped(Some(x)), Outcome::Trapped(Some(y))) if x == y => return None,
            (Outcome::Trapped(_), Outcome::Trapped(None)) => return None,
            // A frame does not remember that an earlier phase was left before its bound.
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

    /// In which result another run differs.
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

/// Equal bit for bit; NaN payloads carry no meaning.
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
