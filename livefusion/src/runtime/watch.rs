//! Cancellation and progress of long forces.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops forces from another thread.
///
/// A token is cheap to clone. All clones are one token.
///
/// An engine [with a token](crate::Engine::with_cancel) checks it between chunks of 16384 steps,
/// and in scalar loops every few iterations. A stopped force fails with
/// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). Its inputs stay usable, and nothing
/// counts as forced.
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
    /// Returns a token that is not cancelled.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Stops every force that checks this token, now and later.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Tells whether [`cancel`](CancelToken::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Describes the progress of a force.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The index of the running loop, from 0.
    pub loop_index: usize,
    /// The number of loops.
    pub loops: usize,
    /// Iterations run so far, inner loops included.
    pub steps: u64,
    /// Iterations of the whole loop if known beforehand. An early exit takes fewer.
    pub total: Option<u64>,
}

/// An engine's progress callback and cancel token.
#[derive(Clone, Default)]
pub(super) struct Watch {
    pub cancel: Option<CancelToken>,
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl Watch {
    /// Tells whether there is a token or a callback.
    pub fn is_on(&self) -> bool {
        self.cancel.is_some() || self.progress.is_some()
    }

    /// Returns the flag that stops scalar loops.
    pub fn stop(&self) -> Option<&AtomicBool> {
        self.cancel.as_ref().map(|token| &*token.0)
    }

    /// Tells whether to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Reports the progress of a loop.
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
