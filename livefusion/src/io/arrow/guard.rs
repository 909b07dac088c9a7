//! Calls of crates that panic on damaged data.

use super::super::error::ErrorKind;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function and turns its panic into an error.
///
/// The caller must not reuse the call's data after a panic. `what` names the input in messages.
pub fn guarded<T, E: Display>(
    what: &str,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, ErrorKind> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(|e| ErrorKind::malformed(what, e.to_string())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            let got = format!("damage ({})", text.unwrap_or("of an unknown kind"));
            Err(ErrorKind::malformed(what, got))
        }
    }
}
