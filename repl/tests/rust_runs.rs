//! The programs that `:rust` prints give what the shell gives: this test is compiled with them.

mod rust_texts;

use livefusion_repl::session::on_stack;
use rust_texts::{asked, folder, texts};
use std::cell::RefCell;

thread_local! {
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What programs print is kept.
macro_rules! println {
    ($($of:tt)*) => {{
        let line = format!($($of)*);
        crate::SAID.with_borrow_mut(|said| *said += &line)
    }};
}

#[rustfmt::skip]
#[path = "golden/rust/programs.rs"]
mod programs;

#[test]
fn programs_give_what_the_shell_gives() {
    let shown = on_stack(|| texts().iter().map(|t| asked(t).1).collect::<Vec<_>>());
    std::env::set_current_dir(folder()).expect("a folder");
    let programs = programs::ALL.iter().zip(shown.expect("no panic"));
    assert_eq!(programs.len(), texts().len());
    for (text, (run, shown)) in texts().iter().zip(programs) {
        // Tables look otherwise here, and nothing is to be written.
        if text.starts_with("load") || text.contains("save") {
            continue;
        }
        SAID.with_borrow_mut(String::clear);
        run();
        let said = SAID.with_borrow(|said| plain(said));
        assert_eq!(said, plain(&shown), "{text}");
    }
}

/// Values alone: how they are spaced, and that segments are rows, is the shell's.
fn plain(shown: &str) -> String {
    let shown = shown.replace("ragged", "");
    shown.split_whitespace().collect()
}
