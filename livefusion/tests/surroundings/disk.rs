//! Full or read-only folders: forces return, and the default engine continues without C.

use crate::{MINUTE, alone, is_alone};
use livefusion::prelude::*;
use livefusion::{Ix0, KernelCache};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Enough work for the engine to request C.
fn turned() -> Array<u64, Ix0> {
    let xs = iota(400_000).map(|i| while_loop(i % 7, |k| k.lt(50), |k| k + 3));
    xs.sum()
}

const CACHE: &str = "LIVEFUSION_CACHE_DIR";

/// The work and the output of a child.
#[test]
fn child() {
    if !is_alone() {
        return;
    }
    let expected = turned().force_with(&Engine::interp()).expect("it runs");
    let engine = Engine::builder().build();
    for _ in 0..2 {
        assert_eq!(turned().force_with(&engine), Ok(expected));
    }
    let start = Instant::now();
    let done = || engine.fallback().is_some() || engine.counters().tiers.c > 0;
    while !done() {
        // The compiler works in the background.
        assert!(
            start.elapsed() < Duration::from_secs(50),
            "nothing came of C"
        );
        assert_eq!(turned().force_with(&engine), Ok(expected));
    }
    println!("\nFALLBACK {:?}", engine.fallback());
    let explained = turned().explain_with(&engine).expect("a plan").to_string();
    let said = explained
        .lines()
        .filter(|l| l.contains("without C"))
        .count();
    println!("EXPLAINED {said}");
    // A C-only engine never falls back.
    let only = Engine::c();
    for _ in 0..2 {
        match turned().force_with(&only) {
            Ok(value) => println!("\nC {}", value == expected),
            Err(e) => println!("\nC {:?}", e.to_string()),
        }
    }
    println!("PROBLEM {:?}", KernelCache::default().problem());
    println!("COUNTERS {}", only.counters());
}

/// The output of a child, started after a shell command.
fn said(before: &str, variables: &[(&str, &Path)]) -> Vec<String> {
    let variables = variables
        .iter()
        .map(|(name, path)| (*name, path.to_str().expect("text")));
    let text = alone(
        "disk::child",
        before,
        &variables.collect::<Vec<_>>(),
        MINUTE,
    );
    let words = ["FALLBACK ", "EXPLAINED ", "C ", "PROBLEM ", "COUNTERS "];
    let lines = text
        .lines()
        .filter(|l| words.iter().any(|w| l.starts_with(w)));
    lines.map(str::to_string).collect()
}

/// Asserts that a folder has complete entries only, and that another process finds an entry or
/// compiles.
fn later_runs_are_right(cache: &Path) {
    let names = fs::read_dir(cache).into_iter().flatten().flatten();
    let names: Vec<_> = names.map(|e| e.file_name()).collect();
    let is_new = |n: &std::ffi::OsString| n.to_string_lossy().ends_with(".new");
    assert!(!names.iter().any(is_new), "{names:?}");
    let lines = said("", &[(CACHE, cache)]);
    assert_eq!(
        lines[..4],
        ["FALLBACK None", "EXPLAINED 0", "C true", "C true"]
    );
    assert_eq!(lines[4], "PROBLEM None");
    let engine = Engine::builder()
        .kernel_cache(KernelCache::in_folder(cache))
        .only_c()
        .build();
    turned().force_with(&engine).expect("it runs");
    let counters = engine.counters();
    assert_eq!(
        (counters.disk_hits, counters.disk_refused),
        (1, 0),
        "{counters}"
    );
}

/// Asserts that C was unavailable, for this reason.
fn is_without_c(lines: &[String], why: &str) {
    assert!(
        lines[0].contains(why) && lines[0] != "FALLBACK None",
        "{lines:?}"
    );
    assert_eq!(lines[1], "EXPLAINED 1", "{lines:?}");
    for line in &lines[2..4] {
        assert!(
            line.starts_with("C \"`force`: ") && line.contains(why),
            "{lines:?}"
        );
    }
}

/// A path below a file, where no folder can exist, and a cache folder.
fn beside_a_file() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, cache) = (folder.path().join("file"), folder.path().join("kernels"));
    fs::write(&file, "").expect("a file");
    (folder, file.join("below"), cache)
}

#[test]
fn temporary_folder_is_missing_the_default_engine_does_without_c() {
    let (_folder, below, cache) = beside_a_file();
    let lines = said("", &[("TMPDIR", &below), (CACHE, &cache)]);
    is_without_c(&lines, "no temporary folder: ");
    later_runs_are_right(&cache);
}

#[test]
fn cache_folder_cannot_be_made_c_is_compiled_and_not_kept() {
    let (_folder, below, _) = beside_a_file();
    let lines = said("", &[(CACHE, &below)]);
    assert_eq!(
        lines[..4],
        ["FALLBACK None", "EXPLAINED 0", "C true", "C true"]
    );
    assert!(
        lines[4].starts_with("PROBLEM Some(\"cannot make "),
        "{lines:?}"
    );
    assert!(
        lines[5].contains("1 files compiled, 0 from disk"),
        "{lines:?}"
    );
}

#[test]
fn files_may_have_no_room_the_default_engine_does_without_c() {
    let (_folder, _, cache) = beside_a_file();
    // Limits files to 512 bytes. A longer write is an error instead of a signal.
    let lines = said("trap '' XFSZ; ulimit -f 1;", &[(CACHE, &cache)]);
    is_without_c(&lines, "");
    later_runs_are_right(&cache);
}

#[test]
fn cache_has_no_room_the_entry_is_not_kept() {
    let (_folder, _, cache) = beside_a_file();
    said("", &[(CACHE, &cache)]);
    let entries = fs::read_dir(&cache).expect("a folder").flatten();
    let longest = entries.map(|e| e.metadata().expect("a file").len()).max();
    // An entry is longer than its library: the library fits, the entry does not.
    let blocks = (longest.expect("an entry") - 1) / 512;
    fs::remove_dir_all(&cache).expect("a folder");
    let limit = format!("trap '' XFSZ; ulimit -f {blocks};");
    let lines = said(&limit, &[(CACHE, &cache)]);
    assert_eq!(
        lines[..4],
        ["FALLBACK None", "EXPLAINED 0", "C true", "C true"]
    );
    assert!(
        lines[4].starts_with("PROBLEM Some(\"an entry was not written: "),
        "{lines:?}"
    );
    later_runs_are_right(&cache);
}

/// Whether this process may mount file systems of its own.
fn may_mount() -> bool {
    let script = "mount -t tmpfs -o size=64k none /tmp";
    let tried = Command::new("unshare")
        .args(["-m", "sh", "-c", script])
        .output();
    let may = tried.is_ok_and(|o| o.status.success());
    if !may {
        println!("SKIPPED: mounts are not permitted here");
    }
    may
}

/// Mounts a file system for a child, which then restarts itself.
fn mounted(options: &str, at: &Path) -> String {
    let at = at.display();
    format!(
        "test -n \"$MOUNTED\" || exec env MOUNTED=1 unshare -m sh -c \
         'mount -t tmpfs -o {options} none {at} && exec \"$0\" --exact disk::child --nocapture' \"$0\";"
    )
}

#[test]
fn temporary_folder_is_full_or_read_only_the_default_engine_does_without_c() {
    if !may_mount() {
        return;
    }
    for options in ["size=16k", "ro"] {
        let (folder, _, cache) = beside_a_file();
        let tmp = folder.path().join("tmp");
        fs::create_dir(&tmp).expect("a folder");
        let lines = said(
            &mounted(options, &tmp),
            &[("TMPDIR", &tmp), (CACHE, &cache)],
        );
        is_without_c(&lines, "");
        later_runs_are_right(&cache);
    }
}

#[test]
fn cache_folder_is_full_or_read_only_c_is_compiled_and_not_kept() {
    if !may_mount() {
        return;
    }
    for options in ["size=4k,mode=0700", "ro,mode=0700"] {
        let (_folder, _, cache) = beside_a_file();
        fs::create_dir(&cache).expect("a folder");
        let lines = said(&mounted(options, &cache), &[(CACHE, &cache)]);
        assert_eq!(
            lines[..4],
            ["FALLBACK None", "EXPLAINED 0", "C true", "C true"]
        );
        assert!(
            lines[4].starts_with("PROBLEM Some(\"an entry was not written: "),
            "{lines:?}"
        );
        later_runs_are_right(&cache);
    }
}
