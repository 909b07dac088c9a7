//! The location of the cache: from the environment, else the platform's cache folder.

use std::ffi::OsString;
use std::path::PathBuf;

/// Names the variable that selects the folder, or switches the cache off.
pub const VARIABLE: &str = "LIVEFUSION_CACHE_DIR";

/// Returns the folder that the environment selects, or the reason for none.
pub fn from_environment() -> Result<PathBuf, String> {
    chosen(|name| std::env::var_os(name))
}

/// Does the same as [`from_environment`] for any environment.
fn chosen(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, String> {
    if let Some(folder) = variable(VARIABLE) {
        return match folder.to_str() {
            Some("" | "off") => Err(format!("{VARIABLE} switches it off")),
            _ => Ok(folder.into()),
        };
    }
    // By the XDG rules, relative paths are ignored.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let caches = match std::env::consts::OS {
        "macos" => absolute("HOME").map(|home| home.join("Library/Caches")),
        _ => absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache"))),
    };
    match caches {
        Some(caches) => Ok(caches.join("livefusion")),
        None => Err(format!("neither HOME nor {VARIABLE} names a folder")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Result<PathBuf, String> {
        chosen(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_variable_comes_first() {
        let home = ("HOME", "/home/ann");
        assert_eq!(of(&[(VARIABLE, "/there"), home]), Ok("/there".into()));
        for off in ["", "off"] {
            assert!(of(&[(VARIABLE, off), home]).unwrap_err().contains(VARIABLE));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn else_the_users_caches() {
        let home = ("HOME", "/home/ann");
        let xdg = |path| ("XDG_CACHE_HOME", path);
        assert_eq!(of(&[home]), Ok("/home/ann/.cache/livefusion".into()));
        assert_eq!(of(&[home, xdg("/c")]), Ok("/c/livefusion".into()));
        assert_eq!(of(&[home, xdg("c")]), of(&[home]));
        assert!(of(&[]).is_err());
    }
}
