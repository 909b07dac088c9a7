//! The location of the history file.

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns the path of the history file.
///
/// The path is the value of `LIVEFUSION_HISTORY` (`off` disables the history). Otherwise it is
/// `livefusion/history` in `XDG_STATE_HOME` or in `~/.local/state`. The shell creates the folder.
///
/// ```
/// use livefusion_repl::shell::history_path;
/// let path = history_path(|name| (name == "HOME").then(|| "/home/ada".into()));
/// assert_eq!(path.unwrap().to_str(), Some("/home/ada/.local/state/livefusion/history"));
/// assert_eq!(history_path(|_| Some("off".into())), None);
/// ```
pub fn history_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = |name| variable(name).filter(|value| !value.is_empty());
    if let Some(path) = given("LIVEFUSION_HISTORY") {
        return (path != "off").then(|| path.into());
    }
    let state = given("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.or_else(|| Some(PathBuf::from(given("HOME")?).join(".local/state")))?;
    Some(state.join("livefusion/history"))
}
