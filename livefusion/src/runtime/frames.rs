//! Frames that loops keep for later runs.

use super::engine::Engine;
use livefusion_backend::{Frame, Memory};
use loop_lang::state::Layout;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Keeps a loop's frame for later runs, one at a time.
///
/// Nobody waits for it: a run that comes while another has it makes a frame of its own. So does a
/// run within another one, and every run in a child that was forked meanwhile.
#[repr(align(128))]
pub struct KeptFrame {
    layout: Layout,
    frame: Mutex<Frame<'static>>,
}

impl KeptFrame {
    /// Creates a frame of this layout.
    pub fn new(layout: &Layout) -> KeptFrame {
        KeptFrame {
            layout: layout.clone(),
            frame: Mutex::new(Frame::new(layout)),
        }
    }

    /// Calls `run` with a frame before `init`, and drops its arrays afterwards.
    ///
    /// A run that may be cancelled borrows its flag, and has a frame of its own.
    pub fn lent<R>(
        &self,
        engine: &Engine,
        memory: Memory,
        run: impl FnOnce(&mut Frame<'_>) -> R,
    ) -> R {
        let kept = match self.frame.try_lock() {
            Ok(frame) => Some(frame),
            // It was reset when its run panicked.
            Err(TryLockError::Poisoned(frame)) => Some(frame.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(frame) = kept.filter(|_| engine.watch().stop().is_none()) {
            let layout = &self.layout;
            let mut frame = FrameInUse { frame, layout };
            frame.memory = memory;
            return run(&mut frame);
        }
        run(&mut fresh(&self.layout, engine, memory))
    }
}

/// Makes a frame for one run, which ends early if the engine is cancelled.
pub fn fresh<'e>(layout: &Layout, engine: &'e Engine, memory: Memory) -> Frame<'e> {
    let mut frame = Frame::new(layout);
    frame.memory = memory;
    frame.stop = engine.watch().stop();
    frame
}

/// A frame that is reset after its run.
struct FrameInUse<'k> {
    frame: MutexGuard<'k, Frame<'static>>,
    layout: &'k Layout,
}

impl Deref for FrameInUse<'_> {
    type Target = Frame<'static>;
    fn deref(&self) -> &Frame<'static> {
        &self.frame
    }
}

impl DerefMut for FrameInUse<'_> {
    fn deref_mut(&mut self) -> &mut Frame<'static> {
        &mut self.frame
    }
}

impl Drop for FrameInUse<'_> {
    fn drop(&mut self) {
        self.frame.reset(self.layout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use livefusion_backend::Buffer;
    use loop_lang::ir::Var;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn layout() -> Layout {
        let mut layout = Layout::default();
        layout.arrays.push(Var(0));
        layout.words = 3;
        layout
    }

    /// Uses a frame, and checks that it was fresh.
    fn used(frame: &mut Frame<'_>) -> *const u64 {
        assert_eq!(frame.words[..], [0; 3]);
        assert!(frame.given.is_empty() && frame.arrays[..].iter().all(Option::is_none));
        assert!(frame.give(0, Buffer::from_vec(vec![1u8])));
        frame.words[1] = 7;
        frame.words.as_ptr()
    }

    #[test]
    fn kept_frames_are_fresh_in_each_run_and_lent_once_at_a_time() {
        let kept = KeptFrame::new(&layout());
        let engine = Engine::interp();
        let lent = |run: &dyn Fn(&mut Frame<'_>) -> *const u64| {
            kept.lent(&engine, Memory::default(), |frame| run(frame))
        };
        let first = lent(&used);
        let second = lent(&|frame| {
            let own = used(frame);
            assert_ne!(lent(&used), own);
            own
        });
        assert_eq!(first, second);
        let panics = || lent(&|frame| panic!("in the run at {:?}", used(frame)));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(lent(&used), first);
    }
}
