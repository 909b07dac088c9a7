//! Fuzz targets: no panics, no endless runs, and definitions survive.
//!
//! The inputs are texts and files. The target in `tests/fuzz` calls this from a coverage-guided
//! fuzzer. The test `fuzz` calls it with mutated help examples.

use livefusion_repl::display::Limit;
use livefusion_repl::session::{Session, Stop, on_stack};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A text is stopped after this time, repeatedly.
const LONG: Duration = Duration::from_millis(500);
/// A run beyond this time counts as endless.
const STUCK: Duration = Duration::from_secs(60);

/// Commands for each text, besides its value. `:c`, `:time` and others run compilers.
const COMMANDS: &[&str] = &[":type", ":ast", ":explain", ":loop", ":trace 9", ":rust"];

/// Runs a text in a session in a folder, with all commands.
pub fn text(text: &str, folder: &std::path::Path) {
    // The shell must not save outside of the folder.
    if text.contains("save") && text.contains(['/', '\\']) {
        return;
    }
    let stop = Stop::default();
    watched(text, &stop, || {
        let mut session = Session::new();
        session.stop = stop.clone();
        session.folder = folder.into();
        session.settings.memory = 16 << 20;
        session.settings.show = Limit(4);
        session.rebuild();
        session.submit("bound", "let kept = [1, 2]");
        session.submit("text", text);
        if !text.trim_start().starts_with(':') {
            for command in COMMANDS {
                session.submit("text", &format!("{command} {text}"));
            }
        }
        let after = session.submit("after", "kept.sum()");
        assert_eq!((&*after.out, &*after.err), ("3\n", ""), "{text}");
    });
}

/// Reads a file of bytes under each file ending.
pub fn file(bytes: &[u8], folder: &std::path::Path) {
    let stop = Stop::default();
    for name in ["a.csv", "a.npy", "a.parquet", "a.arrow"] {
        std::fs::write(folder.join(name), bytes).expect("a file");
        let text = format!("let t = load \"{name}\"\nt");
        watched(&text, &stop, || {
            let mut session = Session::new();
            session.folder = folder.into();
            session.settings.memory = 16 << 20;
            session.rebuild();
            session.submit("text", &text);
            session.submit("text", &format!(":type load \"{name}\""));
        });
    }
}

/// Runs a stoppable task on its own stack.
fn watched(text: &str, stop: &Stop, f: impl FnOnce() + Send) {
    let done = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let start = Instant::now();
            while !done.load(Ordering::Relaxed) {
                std::thread::park_timeout(LONG);
                if start.elapsed() >= LONG {
                    stop.stop();
                }
                if start.elapsed() > STUCK {
                    eprintln!("does not end:\n{text}");
                    std::process::abort();
                }
            }
        });
        let ended = on_stack(f);
        done.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        ended
    });
    assert!(ended.is_some(), "a panic, at\n{text}");
}
