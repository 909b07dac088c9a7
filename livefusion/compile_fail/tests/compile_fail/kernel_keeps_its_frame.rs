use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass};
use loop_lang::state::Layout;
use std::sync::{Arc, Mutex};

struct Keeps {
    inner: Arc<dyn Kernel>,
    kept: Mutex<Vec<Frame<'static>>>,
}

impl Kernel for Keeps {
    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let outcome = self.inner.run(pass, steps, frame, args);
        self.kept.lock().unwrap().push(std::mem::take(frame));
        outcome
    }
}

fn main() {}
