//! Golden files of syntax trees, rendered errors, and sessions.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-repl --test all golden::` rewrites them. A file holds
//! cases separated by lines `====`. A case is a text, a line `----`, and its result.

use livefusion_repl::session::{Session, on_stack};
use livefusion_repl::{Sources, holes, parse};
use std::fs;
use std::path::Path;

/// Compares the files of a folder. `becomes` returns a function from a file's cases, in order, to
/// results.
fn check<F: FnMut(&str) -> String>(folder: &str, becomes: impl Fn() -> F) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(folder);
    let mut cases = 0;
    for entry in fs::read_dir(folder).expect("golden files") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        let (mut now, mut becomes) = (Vec::new(), becomes());
        for case in text.split("====\n") {
            let input = case.split_once("----\n").map_or(case, |(input, _)| input);
            now.push(format!(
                "{input}----\n{}",
                becomes(input.trim_end_matches('\n'))
            ));
            cases += 1;
        }
        let now = now.join("====\n");
        if std::env::var_os("LOOP_BLESS").is_some() {
            fs::write(&path, now).expect("a file to write");
        } else {
            assert_eq!(text, now, "{path:?}; LOOP_BLESS=1 writes it anew");
        }
    }
    assert!(cases > 10);
}

/// The outline, with holes filled for a few combinators.
#[test]
fn trees() {
    check("trees", || {
        |text: &str| {
            let mut sources = Sources::default();
            let source = sources.add("golden.lf", text);
            let mut script = parse(&sources, source).expect(text);
            let takes = |name: &str, k: usize| k == 1 && matches!(name, "map" | "filter" | "count");
            holes::fill(&mut script, &takes).expect(text);
            script.outline()
        }
    });
}

/// The rendered errors, and whether a shell would request another line.
#[test]
fn errors() {
    check("errors", || {
        |text: &str| {
            let mut sources = Sources::default();
            let source = sources.add("golden.lf", text);
            let (drawn, incomplete) = match parse(&sources, source) {
                Err(e) => (e.draw(&sources, false), e.incomplete),
                Ok(mut script) => {
                    let takes = |name: &str, k: usize| k == 1 && name == "map";
                    let wrong = holes::fill(&mut script, &takes).expect_err(text);
                    (wrong.draw(&sources, false), false)
                }
            };
            let more = if incomplete {
                "(more is asked for)\n"
            } else {
                ""
            };
            format!("{drawn}\n{more}")
        }
    });
}

/// The inputs at successive prompts, and the answers.
#[test]
fn sessions() {
    let checked = on_stack(|| {
        check("sessions", || {
            let mut session = Session::new();
            session.folder = "../examples/data".into();
            let mut number = 0;
            move |text: &str| {
                number += 1;
                let answer = session.submit(&format!("<{number}>"), text);
                let quit = if answer.quit {
                    "(the session ends)\n"
                } else {
                    ""
                };
                answer.out + &answer.err + quit
            }
        });
    });
    assert!(checked.is_some());
}
