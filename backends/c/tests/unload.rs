//! Compiled code is unloaded with the last kernel that uses it.
//!
//! This test is its own program, since other tests load code.
#![cfg(target_os = "linux")]

mod common;

use common::*;
use livefusion_backend::{Frame, Pass};
use livefusion_c::{CBackend, KernelCache};
use loop_lang::Const;

/// Counts mappings of code that the backend has loaded.
fn mapped() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let ours = |l: &&str| l.contains("memfd:livefusion") || l.contains("livefusion-compiles");
    maps.lines().filter(ours).count()
}

#[test]
fn code_goes_with_its_last_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let data = [
        Data::F64(vec![1.0, 2.0, 3.0]),
        Data::F64(vec![4.0, 5.0, 6.0]),
        Data::Scalar(Const::f64(0.0)),
    ];
    let (dot, map) = (loop_file("dot"), loop_file("map"));
    // Compiled, and then found in the cache.
    for _ in 0..2 {
        assert_eq!(mapped(), 0);
        let cache = KernelCache::in_folder(folder.path().join("kernels"));
        let backend = CBackend::new().with_cache(cache);
        let mut kernels = backend.compile_batch(&[&dot, &map]);
        kernels.pop();
        let kernel = kernels.pop().unwrap().unwrap();
        let one = mapped();
        assert!(one > 0);
        // A summary has its own library.
        let mut frame = Frame::new(kernel.layout());
        kernel.run(Pass::Summary { level: 1 }, 1, &mut frame, &args(&data));
        assert!(mapped() > one);
        drop(backend);
        let mut frame = Frame::new(kernel.layout());
        kernel.run(Pass::Emit, u64::MAX, &mut frame, &args(&data));
        drop(kernel);
        assert_eq!(mapped(), 0);
        // Only the frame owns the results.
        assert_eq!(frame.results.len(), 1);
    }
}
