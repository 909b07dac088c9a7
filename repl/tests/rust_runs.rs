//! Programs of `:rust`, compiled into this test, print the shell's results.

mod rust_texts;

use livefusion_repl::session::on_stack;
use rust_texts::{asked, folder, texts};
use std::cell::RefCell;

thread_local! {
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Captures the output of the programs.
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
        // Tables print differently here, and these programs must not write files.
        if text.starts_with("load") || text.contains("save") {
            continue;
        }
        SAID.with_borrow_mut(String::clear);
        run();
        let said = SAID.with_borrow(String::clone);
        match text.contains("group_by(") && is_grid(&shown) {
            true => assert_eq!(cells(&said), cells(&below(&shown)), "{text}"),
            false => assert_eq!(plain(&said), plain(&shown), "{text}"),
        }
    }
}

/// Whether the second line has column types.
fn is_grid(shown: &str) -> bool {
    let types = shown.lines().nth(1).unwrap_or_default();
    types
        .split_whitespace()
        .any(|word| matches!(word, "i64" | "bool" | "text"))
}

/// The rows of a grid, without the names and types above.
fn below(shown: &str) -> String {
    shown.lines().skip(2).collect()
}

/// The values alone, without brackets and quotes.
fn cells(shown: &str) -> String {
    let marks = |c: char| "[](),\"".contains(c);
    plain(shown).chars().filter(|c| !marks(*c)).collect()
}

/// The values alone, without the shell's spacing and its segment syntax.
fn plain(shown: &str) -> String {
    let shown = shown.replace("ragged", "");
    shown.split_whitespace().collect()
}
