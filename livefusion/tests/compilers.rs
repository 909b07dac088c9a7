//! Engines whose C compiler hangs or rejects its input.
//!
//! Forces still return. The default engine continues without C and reports the failure. Compilers
//! are shell scripts, which `CC` names in a child process.
#![cfg(unix)]

use livefusion::prelude::*;
use livefusion::{CompilerLimits, Ix0};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The variable that tells a child process its engine.
const CHILD: &str = "LIVEFUSION_TEST_ENGINE";

/// Enough work for the engine to request C.
fn turned() -> Array<u64, Ix0> {
    let xs = iota(400_000).map(|i| while_loop(i % 7, |k| k.lt(8), |k| k + 3));
    xs.sum()
}

/// The body of a child process. It checks something only if a parent started it.
#[test]
fn child() {
    let Ok(which) = std::env::var(CHILD) else {
        return;
    };
    let builder = Engine::builder().compiler_limits(CompilerLimits {
        time: Duration::from_millis(300),
        ..CompilerLimits::default()
    });
    let engine = match which.as_str() {
        "c" => builder.only_c().build(),
        _ => builder.build(),
    };
    let expected = turned().force_with(&Engine::interp());
    let start = Instant::now();
    for i in 0.. {
        match turned().force_with(&engine) {
            Err(e) => println!("\nERROR {}", e.to_string().replace('\n', " ")),
            result => assert_eq!(result, expected),
        }
        // The default engine's compiler works in the background.
        if i > 0 && engine.counters().compiler_failures > 0 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    // The reason appears shortly after the failure was counted.
    while which != "c" && engine.fallback().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60));
    }
    println!("\nFALLBACK {:?}", engine.fallback());
    println!("COUNTERS {}", engine.counters());
    if which != "c" {
        println!("{}", turned().explain_with(&engine).expect("a plan"));
    }
}

/// The output of a child whose compiler is this script.
fn said(script: &str, engine: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (cc, tmp) = (folder.path().join("cc"), folder.path().join("tmp"));
    std::fs::create_dir(&tmp).expect("another");
    write_script(&cc, script);
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "child", "--nocapture"])
        .env("CC", &cc)
        .env("TMPDIR", &tmp)
        .env("LIVEFUSION_CACHE_DIR", "off")
        .env(CHILD, engine)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{text}");
    let left: Vec<PathBuf> = std::fs::read_dir(&tmp)
        .expect("a list")
        .map(|e| e.expect("an entry").path())
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
    text
}

/// Writes a script from another process. If this process had the file open while another test
/// forks, the child would inherit the open file. The system would then refuse to run the script.
fn write_script(path: &Path, text: &str) {
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 700 \"$0\"";
    let mut command = Command::new("sh");
    let done = command.args(["-c", write]).arg(path).arg(text).status();
    assert!(done.expect("a shell").success());
}

fn line<'t>(text: &'t str, begin: &str) -> &'t str {
    let line = text.lines().find(|l| l.starts_with(begin));
    line.unwrap_or_else(|| panic!("no {begin} in {text}"))
}

const REFUSES: &str = "echo \"kernel.c: In function 'f':\nkernel.c:7:1: error: assignment of \
    read-only variable 'acc_5'\" >&2; exit 1";

#[test]
fn a_refused_program_is_counted_and_explained() {
    let text = said(REFUSES, "default");
    let why = "error: assignment of read-only variable 'acc_5'";
    assert!(line(&text, "FALLBACK").contains(why), "{text}");
    assert!(line(&text, "COUNTERS").contains("1 that the compiler failed at"));
    assert!(line(&text, "  without C, for all loops or some").contains(why));
    #[cfg(feature = "jit")]
    assert!(line(&text, "  compiled by Cranelift, not as C").contains(why));
}

#[test]
fn a_hanging_compiler_is_counted_and_explained() {
    let text = said("sleep 1000", "default");
    let why = "did not end within 300ms";
    assert!(line(&text, "FALLBACK").contains(why), "{text}");
    assert!(line(&text, "COUNTERS").contains("1 that the compiler failed at"));
    assert!(line(&text, "  without C, for all loops or some").contains(why));
}

/// Dropping an engine and its prepared programs unloads their code. No other test of this program
/// loads code.
#[cfg(target_os = "linux")]
#[test]
fn code_goes_with_its_engine() {
    let mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("a list");
        maps.matches("memfd:livefusion").count()
    };
    for _ in 0..2 {
        assert_eq!(mapped(), 0);
        let engine = Engine::c();
        let total = iota(100).map(|i| i * 3).sum();
        assert_eq!(total.force_with(&engine), Ok(14850));
        assert!(mapped() > 0);
        drop(engine);
        assert_eq!(total.force(), Ok(14850));
    }
    assert_eq!(mapped(), 0);
}

/// An engine with C alone has no fallback.
#[test]
fn errors_of_an_engine_of_c_alone_say_why() {
    let text = said(REFUSES, "c");
    assert!(
        line(&text, "ERROR").contains("read-only variable"),
        "{text}"
    );
    let text = said("sleep 1000", "c");
    assert!(
        line(&text, "ERROR").contains("did not end within 300ms"),
        "{text}"
    );
}
