//! Repeats the calls of a case, for profilers.

use crate::cases::CASES;
use crate::kernels::Outcome;
use livefusion::Engine;
use livefusion_c::CBackend;
use std::sync::Arc;

/// Describes which case to call, and how often.
pub struct RepeatOptions {
    /// The name of the case.
    pub case: String,
    /// The number of elements.
    pub n: usize,
    /// The number of threads.
    pub threads: usize,
    /// The number of calls.
    pub calls: usize,
}

impl Default for RepeatOptions {
    fn default() -> RepeatOptions {
        RepeatOptions {
            case: String::new(),
            n: 300_000,
            threads: 1,
            calls: 1,
        }
    }
}

/// Calls a case on the C backend.
///
/// Helpers are called at once. They share 25 units of a loop at most, as tests of threads do.
///
/// # Errors
///
/// Returns the reason if there is no such case, or its program fails.
pub fn repeat(options: &RepeatOptions) -> Outcome<()> {
    let case = CASES.iter().find(|c| c.name == options.case);
    let case = case.ok_or_else(|| format!("no case `{}`", options.case))?;
    let backend = Arc::new(CBackend::new());
    let engine = Engine::builder().backend(backend).threads(options.threads);
    let input = (case.input)(options.n);
    let ours = (case.ours)(&engine.eager().build(), &input).map_err(|e| e.to_string())?;
    for _ in 0..options.calls {
        (ours.run)().map_err(|e| e.to_string())?;
    }
    Ok(())
}
