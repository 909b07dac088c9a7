//! What is fed with bytes: whatever a text or a file says, nothing panics, all ends, and what was bound before is there
//! after. The target in `tests/fuzz` calls this under a coverage-guided fuzzer, the test `fuzz` with examples of the help
//! whose tokens are changed.

use livefusion_repl::display::Limit;
use livefusion_repl::session::{Session, Stop, on_stack};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A text is stopped after so long, again and again.
const LONG: Duration = Duration::from_millis(500);
/// What does not end by then never does.
const STUCK: Duration = Duration::from_secs(60);

/// What a text is told about beside its value. `:c`, `:time` and the like run compilers.
const COMMANDS: &[&str] = &[":type", ":ast", ":explain", ":loop", ":trace 9", ":rust"];

/// A text in a session, in a folder, and what the commands say of it.
pub fn text(text: &str, folder: &std::path::Path) {
    // Nothing is saved elsewhere.
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

/// A file of bytes, read as what each of the endings says.
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

/// Runs what may be stopped, on a stack of its own.
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
