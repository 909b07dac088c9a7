//! The cache on disk across processes.
//!
//! Each child process is this program again, with one of its tests.

use livefusion::prelude::*;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The variable that marks a child process and holds its data size.
const CHILD: &str = "LIVEFUSION_TEST_CHILD";

/// A program of several loops, with a filter and a scan.
fn program(n: usize, least: f64) -> (Array<f64>, Array<f64>, Array<f64, Ix0>) {
    let xs = Array::from((0..n).map(|i| (i % 17) as f64 - 4.0).collect::<Vec<_>>());
    let kept = xs.map(|x| x * 2.0 + 1.0).filter(|x| x.gt(least));
    let total = kept.sum();
    let shares = kept.map(|x| x / &total);
    (shares.scan(0.0, |a, b| a + b), shares, total)
}

/// The body of a child. It checks something only if a parent started it.
#[test]
fn child() {
    let Ok(n) = std::env::var(CHILD) else { return };
    let n = n.parse().expect("a number");
    let engine = Engine::c();
    let (sums, shares, total) = program(n, n as f64 / 100.0)
        .force_with(&engine)
        .expect("runs");
    let bits = sums
        .iter()
        .chain(shares.iter())
        .fold(0u64, |h, x| h.wrapping_mul(31).wrapping_add(x.to_bits()));
    let counters = engine.counters();
    println!(
        "\nCHILD {} {} {} {bits:x} {total}",
        counters.disk_hits, counters.disk_refused, counters.compiler_runs
    );
}

fn start(folder: &Path, n: usize) -> Child {
    Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "child", "--nocapture"])
        .env("LIVEFUSION_CACHE_DIR", folder)
        .env(CHILD, n.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Hits, rejections and compiler runs; and the results.
fn end(child: Child) -> ([u64; 3], String) {
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let line = text.lines().find_map(|l| l.strip_prefix("CHILD "));
    let mut words = line.expect("the child's line").splitn(4, ' ');
    let counts = [(); 3].map(|()| words.next().and_then(|w| w.parse().ok()).expect("a count"));
    (counts, words.next().expect("results").into())
}

#[test]
fn the_second_process_compiles_nothing() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("kernels");
    let (first, results) = end(start(&folder, 100));
    let loops = first[2];
    assert!(loops >= 1);
    assert_eq!(first, [0, 0, loops]);
    let (second, again) = end(start(&folder, 100));
    assert_eq!((second, again), ([loops, 0, 0], results.clone()));
    // Other data and another constant use the same code.
    let (third, other) = end(start(&folder, 1000));
    assert_eq!(third, [loops, 0, 0]);
    assert_ne!(other, results);
    let (off, uncached) = end(start(Path::new("off"), 100));
    assert_eq!((off, uncached), (first, results));
}

#[test]
fn processes_may_start_at_once() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("kernels");
    let children: Vec<Child> = (0..4).map(|_| start(&folder, 50)).collect();
    let ended: Vec<_> = children.into_iter().map(end).collect();
    let (_, results) = &ended[0];
    for ([hits, refused, compiled], same) in &ended {
        assert_eq!(*refused, 0);
        assert!(*compiled + hits >= 1);
        assert_eq!(same, results);
    }
    let ([hits, ..], _) = end(start(&folder, 50));
    assert!(hits >= 1);
}

#[test]
fn a_damaged_entry_costs_one_compilation() {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("kernels");
    let ([_, _, loops], results) = end(start(&folder, 100));
    let entry = std::fs::read_dir(&folder).expect("entries").next();
    let entry = entry.expect("one").expect("a path").path();
    let mut bytes = std::fs::read(&entry).expect("bytes");
    let last = bytes.len() - 1;
    bytes[last] ^= 0x10;
    std::fs::write(&entry, bytes).expect("it is written");
    let (counts, again) = end(start(&folder, 100));
    assert_eq!((counts, again), ([loops - 1, 1, 1], results.clone()));
    let (counts, again) = end(start(&folder, 100));
    assert_eq!((counts, again), ([loops, 0, 0], results));
}
