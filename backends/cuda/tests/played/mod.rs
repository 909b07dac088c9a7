//! Repeats the driver's tests on a library that simulates a device.

use livefusion_cuda::driver::nvrtc::Nvrtc;
use std::path::Path;
use std::process::{Command, Output};

/// The variable that says that a library simulates the device.
const PLAYED: &str = "LIVEFUSION_TEST_PLAYED";

/// Returns the output of a process that runs these tests, or one of them, on a simulated driver.
/// Returns `None` if it cannot be compiled.
fn played(define: &str, test: &[&str], variables: &[(&str, &str)]) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/played/cuda.cpp");
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".into());
    let compiled = Command::new(compiler)
        .args([
            "-std=c++17",
            "-O1",
            "-Wall",
            "-Werror",
            "-shared",
            "-fPIC",
            define,
            "-o",
        ])
        .arg(folder.path().join("libcuda.so"))
        .arg(source)
        .status();
    match compiled {
        Ok(status) => assert!(status.success()),
        Err(_) => {
            eprintln!("SKIPPED: no compiler of C++ here (`CXX`, or g++)");
            return None;
        }
    }
    let others = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths = [folder.path().to_path_buf()]
        .into_iter()
        .chain(std::env::split_paths(&others));
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args(test)
        .arg("--nocapture")
        .env("LD_LIBRARY_PATH", std::env::join_paths(paths).unwrap())
        .env("LIVEFUSION_CUDA", "1")
        .env(PLAYED, "1")
        .envs(variables.iter().copied())
        .output();
    Some(child.expect("it runs"))
}

#[test]
fn all_of_it_runs_where_a_library_plays_the_device() {
    if std::env::var_os(PLAYED).is_some() {
        return;
    }
    if Nvrtc::find().is_err() {
        eprintln!("SKIPPED: no NVRTC here; `cargo xtask nvrtc` fetches it");
        return;
    }
    let Some(child) = played("-DALL", &[], &[]) else {
        return;
    };
    let said = String::from_utf8_lossy(&child.stdout);
    let erred = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}{erred}");
    assert!(
        said.contains("a library") && !erred.contains("SKIPPED"),
        "{said}{erred}"
    );
}

#[test]
fn drivers_that_are_old_or_have_no_device_are_missing() {
    if std::env::var_os(PLAYED).is_some() {
        return;
    }
    let one = ["--exact", "it_says_what_it_is"];
    let says = |define: &str, variables: &[(&str, &str)], what: &str| {
        let Some(child) = played(define, &one, variables) else {
            return;
        };
        let erred = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success() && erred.contains(what), "{erred}");
    };
    says(
        "-DcuMemHostAlloc=cuMemHostAlloc_old",
        &[],
        "SKIPPED: the NVIDIA driver is too old, it has no cuMemHostAlloc;",
    );
    says(
        "-DALL",
        &[("LF_FAKE_EMPTY", "1")],
        "SKIPPED: the NVIDIA driver has no device: CUDA_ERROR_NO_DEVICE (",
    );
}
