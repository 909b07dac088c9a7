//! Machine code from NVIDIA's compiler, and from the cache on disk.
//!
//! Without the compiler the tests are skipped.

use crate::support::golden;
use livefusion_backend::DiskUse;
use livefusion_c::KernelCache;
use livefusion_cuda::driver::Compiler as _;
use livefusion_cuda::driver::cubins::Cubins;
use livefusion_cuda::driver::nvrtc::Nvrtc;
use livefusion_cuda::driver::{ARCHITECTURE, Fault};
use livefusion_cuda::emit::{self, PRELUDE};
use std::path::Path;

fn nvrtc() -> Option<Nvrtc> {
    let found = Nvrtc::find();
    if let Err(why) = &found {
        eprintln!("SKIPPED: {why}\n`cargo xtask nvrtc` fetches it");
    }
    found.ok()
}

/// Returns a compiler whose cache is in a folder.
fn cubins(folder: &Path) -> Option<Cubins> {
    Some(Cubins::new(nvrtc()?, KernelCache::in_folder(folder)))
}

const TWICE: &str = "extern \"C\" __global__ void twice(unsigned *a) { a[threadIdx.x] *= 2; }\n";

fn used(hits: u64, refused: u64, compiled: u64, failed: u64) -> DiskUse {
    DiskUse {
        hits,
        refused,
        compiled,
        failed,
    }
}

#[test]
fn a_kernel_has_code_and_tells_what_it_needs() {
    let Some(nvrtc) = nvrtc() else { return };
    let kernel = emit::kernel(&golden("filter_max")).expect("it runs in parallel");
    let program = nvrtc.compile(&format!("{PRELUDE}{}", kernel.text), ARCHITECTURE);
    let program = program.unwrap();
    let cubin = program.cubin().unwrap();
    assert!(cubin.image().starts_with(b"\x7fELF"));
    let usage = cubin.usage(&kernel.name).expect("its lines");
    assert!((8..=255).contains(&usage.registers), "{usage:?}");
    assert_eq!(
        (usage.stack, usage.spill_stores, usage.spill_loads),
        (0, 0, 0)
    );
    assert!(usage.shared > 0, "tickets are in shared memory: {usage:?}");
    assert_eq!(cubin.usage("another"), None);
    assert!(program.ptx().unwrap().contains(".target sm_90"));
}

#[test]
fn spills_are_told() {
    let Some(nvrtc) = nvrtc() else { return };
    let sum: String = (0..64)
        .map(|i| format!("  s{i} = s{i} * s{} + a[{i}];\n", (i + 7) % 64))
        .collect();
    let begin: String = (0..64)
        .map(|i| format!("  double s{i} = a[{i} * n];\n"))
        .collect();
    let end: String = (0..64)
        .map(|i| format!("  a[{i} * n + 1] = s{i};\n"))
        .collect();
    let text = format!(
        "extern \"C\" __global__ void __launch_bounds__(1024) wide(double *a, int n) {{\n{begin}\
         for (int k = 0; k < n; k++) {{\n{sum}}}\n{end}}}\n"
    );
    let usage = nvrtc
        .compile(&text, ARCHITECTURE)
        .unwrap()
        .cubin()
        .unwrap()
        .usage("wide")
        .unwrap();
    assert!(
        usage.spill_stores > 0 && usage.spill_loads > 0 && usage.stack > 0,
        "{usage:?}"
    );
    assert!(usage.registers <= 64, "{usage:?}");
}

#[test]
fn cubin_compiled_before_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let Some(first) = cubins(folder.path()) else {
        return;
    };
    let made = first.compile(TWICE, ARCHITECTURE).unwrap();
    assert_eq!(first.disk_use(), used(0, 0, 1, 0));
    assert_eq!(first.compile(TWICE, ARCHITECTURE).unwrap(), made);
    assert_eq!(first.disk_use(), used(1, 0, 1, 0));
    let second = cubins(folder.path()).unwrap();
    let found = second.compile(TWICE, ARCHITECTURE).unwrap();
    assert_eq!(second.disk_use(), used(1, 0, 0, 0));
    assert_eq!(found, made);
    assert!(
        found.usage("twice").is_some_and(|u| u.registers > 0),
        "{}",
        found.log()
    );
    // Another architecture, or another text, has another entry.
    assert_ne!(
        second.compile(TWICE, "sm_80").unwrap().image(),
        made.image()
    );
    second
        .compile(&TWICE.replace("*= 2", "*= 3"), ARCHITECTURE)
        .unwrap();
    assert_eq!(second.disk_use(), used(1, 0, 2, 0));
    assert_eq!(folder.path().read_dir().unwrap().count(), 3);
}

#[test]
fn a_damaged_entry_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let Some(first) = cubins(folder.path()) else {
        return;
    };
    let made = first.compile(TWICE, ARCHITECTURE).unwrap();
    let entry = folder
        .path()
        .read_dir()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let sound = std::fs::read(&entry).unwrap();
    let mut damaged = sound.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for bytes in [&damaged[..], &sound[..sound.len() / 2], b""] {
        std::fs::write(&entry, bytes).unwrap();
        let again = cubins(folder.path()).unwrap();
        let anew = again.compile(TWICE, ARCHITECTURE).unwrap();
        assert_eq!(anew.image(), made.image());
        assert_eq!(again.disk_use(), used(0, 1, 1, 0));
        assert_eq!(again.compile(TWICE, ARCHITECTURE).unwrap(), anew);
        assert_eq!(again.disk_use(), used(1, 1, 1, 0));
    }
}

#[test]
fn cubin_that_does_not_compile_is_a_fault_in_the_compilers_words() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cubins) = cubins(folder.path()) else {
        return;
    };
    let log = |text: &str, architecture: &str| match cubins.compile(text, architecture) {
        Err(Fault::Compiler { log }) => log,
        other => panic!("{other:?}"),
    };
    let said = log("\nint f() { return unknown; }\n", ARCHITECTURE);
    assert!(
        said.contains("kernel.cu(2): error") && said.contains("unknown"),
        "{said}"
    );
    let said = log(TWICE, "sm_1");
    assert!(said.contains("gpu-architecture"), "{said}");
    assert!(log("int a;\0", ARCHITECTURE).contains("zero"));
    assert_eq!(cubins.disk_use(), used(0, 0, 0, 3));
    assert_eq!(folder.path().read_dir().map_or(0, |d| d.count()), 0);
}

#[test]
fn threads_compile_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(cubins) = cubins(folder.path()) else {
        return;
    };
    std::thread::scope(|scope| {
        for i in 0..4 {
            let cubins = &cubins;
            scope.spawn(move || {
                let name = format!("times_{i}");
                let text = TWICE.replace("twice", &name);
                let cubin = cubins.compile(&text, ARCHITECTURE).unwrap();
                assert!(cubin.usage(&name).is_some());
            });
        }
    });
    assert_eq!(cubins.disk_use(), used(0, 0, 4, 0));
}
