//! Watching long forces: cancellation from another thread, and progress.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops forces from another thread. Cheap to clone; clones are one token.
///
/// An engine [with a token](crate::Engine::with_cancel) looks at it between chunks of 16384 steps,
/// and in scalar loops every few turns. A force that was stopped fails with
/// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled); its inputs stay usable, and nothing counts as forced.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::{CancelToken, ErrorKind};
/// let token = CancelToken::new();
/// let engine = Engine::interp().with_cancel(token.clone());
/// let sum = iota(1_000_000).sum();
/// token.cancel(); // From any thread, as a rule while the force runs.
/// let stopped = sum.force_with(&engine).unwrap_err();
/// assert_eq!(stopped.kind, ErrorKind::Cancelled);
/// assert_eq!(sum.force_with(&Engine::interp())?, 499_999_500_000);
/// # Ok::<(), livefusion::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that was not cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Stops every force that looks at this token, now and later.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What [`cancel`](CancelToken::cancel) sets.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// Whether [`cancel`](CancelToken::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a force is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Which of the program's loops runs, counted from 0.
    pub loop_index: usize,
    /// How many loops there are.
    pub loops: usize,
    /// Iterations that the loop has run, those of inner loops included.
    pub steps: u64,
    /// How many it will run, where that is known beforehand. An early exit takes fewer.
    pub total: Option<u64>,
}

/// What an engine tells of its forces, and whom it listens to.
#[derive(Clone, Default)]
pub(super) struct Watch {
    pub cancel: Option<CancelToken>,
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl Watch {
    /// Whether anybody watches.
    pub fn is_on(&self) -> bool {
        self.cancel.is_some() || self.progress.is_some()
    }

    /// Whether to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Tells how far a loop is.
    pub fn tell(&self, progress: Progress) {
        if let Some(f) = &self.progress {
            f(progress);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = self.progress.is_some();
        write!(f, "Watch({:?}, progress: {progress})", self.cancel)
    }
}
