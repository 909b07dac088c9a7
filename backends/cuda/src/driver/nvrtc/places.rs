//! The search for NVRTC: places from the environment, else those of installations.

use livefusion_c::runs_for_another;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The variable that names its folder.
const VARIABLE: &str = "LIVEFUSION_NVRTC";

/// The folder in the user's caches that `cargo xtask nvrtc` fills.
const FETCHED: &str = "livefusion/nvrtc-13.0.88";

/// Library folders of a CUDA installation.
const OF_CUDA: &[&str] = &[
    "lib64",
    "lib",
    "targets/x86_64-linux/lib",
    "targets/sbsa-linux/lib",
];

/// Library folders in the packages of a Python.
const OF_PACKAGES: &[&str] = &["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"];

/// Lists the kinds of places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A folder.
    Folder(PathBuf),
    /// The places of the system's loader.
    Loader,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Folder(folder) => write!(f, "{}", folder.display()),
            Place::Loader => f.write_str("where the system's loader looks (LD_LIBRARY_PATH)"),
        }
    }
}

/// Lists all places, in order.
///
/// A process that runs for another user than its starter does not trust the environment.
pub fn from_environment() -> Vec<Place> {
    chosen(|name| std::env::var_os(name).filter(|value| !value.is_empty() && !runs_for_another()))
}

/// Does the same as [`from_environment`] for any environment.
fn chosen(variable: impl Fn(&str) -> Option<OsString>) -> Vec<Place> {
    let path = |name: &str| variable(name).map(PathBuf::from);
    if let Some(folder) = path(VARIABLE) {
        return vec![Place::Folder(folder)];
    }
    let home = path("HOME");
    let mut folders = Vec::new();
    let caches = path("XDG_CACHE_HOME").or_else(|| Some(home.as_ref()?.join(".cache")));
    folders.extend(caches.map(|c| c.join(FETCHED)));
    for cuda in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(path) {
        folders.extend(OF_CUDA.iter().map(|lib| cuda.join(lib)));
    }
    for prefix in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(path) {
        folders.push(prefix.join("lib"));
        folders.extend(packages(&prefix));
    }
    let mut places: Vec<Place> = folders.drain(..).map(Place::Folder).collect();
    places.push(Place::Loader);
    folders.extend(
        OF_CUDA
            .iter()
            .map(|lib| Path::new("/usr/local/cuda").join(lib)),
    );
    if let Some(searched) = variable("PATH") {
        folders.extend(python(&searched).iter().flat_map(|prefix| packages(prefix)));
        folders.extend(packages(Path::new("/usr/local")));
        folders.extend(home.iter().flat_map(|home| packages(&home.join(".local"))));
    }
    for folder in folders.into_iter().map(Place::Folder) {
        if !places.contains(&folder) {
            places.push(folder);
        }
    }
    places
}

/// Returns the installation prefix of the first Python.
fn python(searched: &OsString) -> Option<PathBuf> {
    let is_there = |folder: &PathBuf| {
        ["python3", "python"]
            .iter()
            .any(|name| folder.join(name).is_file())
    };
    let folder = std::env::split_paths(searched).find(is_there)?;
    folder.parent().map(Path::to_path_buf)
}

/// Lists NVRTC's folders in the packages of all Pythons of a prefix.
fn packages(prefix: &Path) -> Vec<PathBuf> {
    let Ok(entries) = prefix.join("lib").read_dir() else {
        return Vec::new();
    };
    let of_python = |p: &PathBuf| {
        p.file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with("python3"))
    };
    let mut pythons: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(of_python)
        .collect();
    pythons.sort();
    let sites = pythons
        .iter()
        .rev()
        .flat_map(|p| ["site-packages", "dist-packages"].map(|site| p.join(site)));
    let sites = sites.filter(|site| site.join("nvidia").is_dir());
    sites
        .flat_map(|site| OF_PACKAGES.iter().map(move |lib| site.join(lib)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &Path)]) -> Vec<Place> {
        chosen(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| value.into())
        })
    }

    fn at(places: &[Place], folder: impl AsRef<Path>) -> usize {
        let place = Place::Folder(folder.as_ref().into());
        places
            .iter()
            .position(|p| *p == place)
            .expect("it is looked at")
    }

    #[test]
    fn the_variable_is_the_only_place() {
        let (there, home) = (Path::new("/there"), Path::new("/home/ann"));
        assert_eq!(
            of(&[(VARIABLE, there), ("HOME", home)]),
            [Place::Folder(there.into())]
        );
    }

    #[test]
    fn nvrtc_named_place_comes_before_usual_places() {
        let (home, cuda) = (Path::new("/home/ann"), Path::new("/opt/cuda"));
        let places = of(&[("HOME", home), ("CUDA_HOME", cuda)]);
        assert_eq!(at(&places, home.join(".cache").join(FETCHED)), 0);
        let loader = places.iter().position(|p| *p == Place::Loader).unwrap();
        assert!(at(&places, cuda.join("lib64")) < loader);
        assert!(loader < at(&places, "/usr/local/cuda/targets/x86_64-linux/lib"));
        let caches = Path::new("/c");
        assert_eq!(
            at(
                &of(&[("HOME", home), ("XDG_CACHE_HOME", caches)]),
                caches.join(FETCHED)
            ),
            0
        );
        // The environment is not trusted.
        assert_eq!(of(&[])[0], Place::Loader);
    }

    #[test]
    fn packages_of_pythons_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let (venv, other) = (folder.path().join("venv"), folder.path().join("other"));
        for prefix in [&venv, &other] {
            std::fs::create_dir_all(prefix.join("bin")).unwrap();
            std::fs::write(prefix.join("bin/python3"), "").unwrap();
            std::fs::create_dir_all(prefix.join("lib/python3.12/site-packages/nvidia")).unwrap();
        }
        let wheel = |prefix: &Path| prefix.join("lib/python3.12/site-packages/nvidia/cu13/lib");
        let path = std::env::join_paths([
            folder.path().join("none"),
            other.join("bin"),
            venv.join("bin"),
        ])
        .unwrap();
        let places = of(&[("VIRTUAL_ENV", &venv), ("PATH", Path::new(&path))]);
        assert!(at(&places, wheel(&venv)) < at(&places, wheel(&other)));
    }

    #[test]
    fn nvrtc_fetched_by_xtask_has_the_version_that_is_searched() {
        let script = include_str!("../../../../../xtask/src/gpu.rs");
        let (_, version) = FETCHED.split_once("nvrtc-").unwrap();
        assert!(script.contains(&format!("NVRTC: &str = \"{version}\"")));
        assert!(script.contains("livefusion/nvrtc-{NVRTC}"));
    }
}
