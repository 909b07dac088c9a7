//! Error messages of missing parts and failing calls.

use livefusion_cuda::driver::cubin::Cubin;
use livefusion_cuda::driver::cuda::Cuda;
use livefusion_cuda::driver::nvrtc::Nvrtc;
use livefusion_cuda::driver::{Driver, Fault, Function, Mark, Needs};
use livefusion_cuda_shim::{Call, Stub, error};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The variable that makes a child of this test's process.
const CHILD: &str = "LIVEFUSION_TEST_NVRTC";

/// Searches for NVRTC and prints the result, in the process that [`looks`] starts.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    match Nvrtc::find() {
        Ok(found) => println!("FOUND {}", found.path().unwrap_or("".as_ref()).display()),
        Err(fault) => println!("{fault}"),
    }
}

/// Returns the output of a process that searches for NVRTC with only these variables.
fn looks(variables: &[(&str, &Path)]) -> String {
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "faults::child", "--nocapture"])
        .env_clear()
        .envs(variables.iter().copied())
        .env(CHILD, "1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{said}");
    said
}

#[test]
fn the_folder_that_is_named_is_the_only_one() {
    let empty = tempfile::tempdir().unwrap();
    let said = looks(&[("LIVEFUSION_NVRTC", empty.path())]);
    let place = format!("\n  {}: no libnvrtc.so there\n", empty.path().display());
    assert!(said.contains(&place), "{said}");
    assert!(said.contains("there is no CUDA here: no NVRTC"), "{said}");
    assert!(!said.contains("/usr/local/cuda"), "{said}");
}

#[test]
fn all_places_are_named() {
    let empty = tempfile::tempdir().unwrap();
    let cuda = empty.path().join("cuda");
    let said = looks(&[("HOME", empty.path()), ("CUDA_HOME", &cuda)]);
    if said.contains("FOUND") {
        eprintln!("SKIPPED: NVRTC is in a place of the system: {said}");
        return;
    }
    let home = empty.path().display();
    for place in [
        format!("{home}/.cache/livefusion/nvrtc-13.0.88: No such file"),
        format!("{home}/cuda/lib64: No such file"),
        "LD_LIBRARY_PATH): none of libnvrtc.so.13, ".into(),
        "/usr/local/cuda/lib64: ".into(),
    ] {
        assert!(
            said.contains(&format!("  {place}")) || said.contains(&place),
            "{place}: {said}"
        );
    }
}

#[cfg(unix)]
#[test]
fn it_is_found_where_users_have_it() {
    let Some(there) = Nvrtc::find()
        .ok()
        .and_then(|n| n.path()?.parent().map(Path::to_path_buf))
    else {
        eprintln!("SKIPPED: no NVRTC in a folder here; `cargo xtask nvrtc` fetches it");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let wheel = folder
        .path()
        .join("venv/lib/python3.12/site-packages/nvidia/cu13");
    let toolkit = folder.path().join("cuda/targets/x86_64-linux");
    let cache = folder.path().join("home/.cache/livefusion");
    let links = [
        wheel.join("lib"),
        toolkit.join("lib"),
        cache.join("nvrtc-13.0.88"),
    ];
    for link in &links {
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&there, link).unwrap();
    }
    let (venv, cuda, home) = (
        folder.path().join("venv"),
        folder.path().join("cuda"),
        folder.path().join("home"),
    );
    let all = [
        ("VIRTUAL_ENV", venv.as_path()),
        ("CUDA_PATH", &cuda),
        ("HOME", &home),
    ];
    for (n, link) in links.iter().enumerate() {
        let said = looks(&all[..=n]);
        assert!(
            said.contains(&format!("FOUND {}/", link.display())),
            "{said}"
        );
    }
}

#[test]
fn without_a_driver_there_is_a_fault_and_no_panic() {
    match Cuda::open(0) {
        Ok(cuda) => eprintln!("SKIPPED: there is a device here: {:?}", cuda.device()),
        Err(Fault::Missing(why)) => assert!(why.contains("NVIDIA driver"), "{why}"),
        Err(other) => panic!("{other}"),
    }
    assert!(matches!(Cuda::open(u32::MAX), Err(Fault::Missing(_))));
}

#[test]
fn faults_say_what_happened() {
    let said = |fault: Fault| fault.to_string();
    assert_eq!(
        said(Fault::Missing("no NVIDIA driver".into())),
        "there is no CUDA here: no NVIDIA driver"
    );
    assert_eq!(
        said(Fault::OutOfMemory { bytes: 5 }),
        "the device has no memory for 5 bytes more"
    );
    assert_eq!(
        said(Fault::Device {
            doing: "start a kernel",
            name: "CUDA_ERROR_INVALID_VALUE".into(),
            text: "invalid argument".into()
        }),
        "the device could not start a kernel: CUDA_ERROR_INVALID_VALUE (invalid argument)"
    );
    assert_eq!(
        said(Fault::Compiler {
            log: "kernel.cu(1): error".into()
        }),
        "NVRTC does not compile a kernel: kernel.cu(1): error"
    );
}

#[test]
fn driver_refuses_memory_of_another_driver() {
    let stub = Stub::new();
    let foreign = Function::new(Needs::default(), 7);
    // SAFETY: nothing is launched.
    let launched = unsafe { stub.launch(&foreign, 1, 1, &[]) };
    let refused = Err(Fault::Refused(
        "the kernel was loaded by another driver".into(),
    ));
    assert_eq!(launched, refused);
    assert_eq!(stub.calls(Call::Launch), 0);
    assert_eq!(stub.blocks_at_once(&foreign, 128).map(drop), refused);
    let mark = stub.mark().unwrap();
    let other = stub.elapsed(&mark, &Mark::new("no number"));
    assert_eq!(
        other,
        Err(Fault::Refused("the mark was made by another driver".into()))
    );
    assert_eq!(
        stub.elapsed(&mark, &stub.mark().unwrap()),
        Ok(Duration::from_millis(1))
    );
}

#[test]
fn the_stub_does_what_tests_ask() {
    static RUN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let stub = Stub::with(1 << 20, |name, blocks, threads, params| {
        RUN.lock()
            .unwrap()
            .push(format!("{name} {blocks} {threads} {params:?}"));
        Ok(())
    });
    // SAFETY: nobody runs it.
    let cubin = unsafe { Cubin::new(Vec::new(), String::new()) };
    stub.fail(Call::Load, 2, error("CUDA_ERROR_INVALID_IMAGE"));
    let function = stub.load(&cubin, "sum").unwrap();
    assert_eq!(
        stub.load(&cubin, "sum").unwrap_err(),
        error("CUDA_ERROR_INVALID_IMAGE")
    );
    assert_eq!(stub.loaded.load(Ordering::Relaxed), 1);
    stub.fail(Call::Launch, 2, error("CUDA_ERROR_LAUNCH_FAILED"));
    // SAFETY: the kernel only writes a line.
    let launch = || unsafe { stub.launch(&function, 3, 128, &[&[1, 2], &[3]]) };
    assert_eq!(launch(), Ok(()));
    assert_eq!(launch(), Err(error("CUDA_ERROR_LAUNCH_FAILED")));
    assert_eq!(*RUN.lock().unwrap(), ["sum 3 128 [[1, 2], [3]]"]);
    assert_eq!(stub.calls(Call::Launch), 2);
    drop(function);
    assert_eq!(stub.loaded.load(Ordering::Relaxed), 0);
    let words = stub.words(3).unwrap();
    assert_eq!(
        words
            .iter()
            .map(|w| w.load(Ordering::Relaxed))
            .collect::<Vec<_>>(),
        [0; 3]
    );
}
