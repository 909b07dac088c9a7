//! Tests of the book (`docs/book`) and the README: snippets, outputs, links.
//!
//! Every snippet is run and compared, and every link is followed.
//! `LOOP_BLESS=1 cargo test -p livefusion-repl --test all book::` rewrites answers and pictures.
//!
//! The info string of a fence selects its test:
//!
//! * `lf`: a session, one per page, in a copy of `examples/data`. The text after `lf> ` is typed,
//!   with its continuation lines. The lines up to the next prompt are the answer. A line `…`
//!   matches any lines, and the numbers of `:time` match any numbers. The page's pictures, files in
//!   `pictures`, must equal those that its session writes.
//!
//! * `console`: the text after `$` runs in a shell, in the same folder, if it calls `lf`. The lines
//!   below are its output.
//!
//! * `sh`: lines that begin with `lf eval` or `lf run` must succeed.
//!
//! * `rust`: a documentation test of `examples/src/book.rs`, which must name the page.
//!
//! * `rs`: lines that occur in a source file of the library.
//!
//! * `text`, `toml`, `mermaid`: not run.

#[path = "book/links.rs"]
mod links;
#[path = "book/pages.rs"]
mod pages;
#[path = "book/transcript.rs"]
mod transcript;

use livefusion_repl::session::on_stack;
use pages::{Page, root};
use std::fs;

/// A copy of the example data, since sessions write files.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(root().join("examples/data")).expect("examples/data") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name");
        fs::copy(&path, folder.path().join(name)).expect("a copy");
    }
    folder
}

fn is_blessed() -> bool {
    std::env::var_os("LOOP_BLESS").is_some()
}

#[test]
fn sessions_and_commands() {
    let all = on_stack(|| {
        let mut wrong = Vec::new();
        for page in pages::all() {
            let folder = data();
            let run = transcript::run(&page, folder.path());
            for name in page.pictures() {
                let path = folder.path().join(name);
                let now = fs::read(&path);
                let now = now.unwrap_or_else(|e| panic!("{page}: no {name}, {e}:\n{}", run.text));
                let path = pages::book().join("pictures").join(name);
                match fs::read(&path) {
                    Ok(old) if old == now => {}
                    _ if is_blessed() => fs::write(&path, now).expect("a picture to write"),
                    _ => wrong.push(format!("{page}: pictures/{name} is another one now")),
                }
            }
            match is_blessed() {
                true if run.text != page.text => {
                    fs::write(&page.path, run.text).expect("a page to write");
                }
                true => {}
                false => wrong.extend(run.differences),
            }
        }
        wrong
    });
    let wrong = all.expect("no panic");
    assert!(
        wrong.is_empty(),
        "{}\nLOOP_BLESS=1 writes them anew",
        wrong.join("\n")
    );
}

/// Every fence has a known kind.
#[test]
fn fences() {
    let tests = fs::read_to_string(root().join("examples/src/book.rs")).expect("the list");
    let sources = pages::sources();
    for page in pages::all() {
        for block in page.blocks() {
            match block.info {
                "lf" | "console" | "sh" | "text" | "toml" | "mermaid" => {}
                "rust" => assert!(
                    tests.contains(&format!("{}\"", page.name())),
                    "{page}: examples/src/book.rs does not name it"
                ),
                "rs" => assert!(
                    sources
                        .iter()
                        .any(|s| s.contains(&pages::plain(block.body))),
                    "{page}:{}: no file of livefusion/src has these lines",
                    block.line
                ),
                other => panic!("{page}:{}: nothing runs `{other}`", block.line),
            }
        }
    }
}

/// All pages are listed, and all listed pages exist.
#[test]
fn summary() {
    let all = pages::all();
    let listed = all.iter().find(|p| p.name() == "SUMMARY.md");
    let listed = links::links(&listed.expect("SUMMARY.md").text);
    let mut listed: Vec<&str> = listed.iter().map(|l| l.target.as_str()).collect();
    let is_page = |p: &&Page| p.is_of_book() && p.name() != "SUMMARY.md";
    let mut there: Vec<String> = all.iter().filter(is_page).map(Page::name).collect();
    listed.sort_unstable();
    there.sort_unstable();
    assert_eq!(listed, there);
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut shown = Vec::new();
    for page in pages::all() {
        for link in links::links(&page.text) {
            if let Err(why) = links::follow(&page, &link.target) {
                wrong.push(format!("{page}:{}: {}: {why}", link.line, link.target));
            }
            shown.push(page.folder().join(&link.target));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for entry in fs::read_dir(pages::book().join("pictures")).expect("pictures") {
        let picture = entry.expect("a file").path();
        assert!(shown.contains(&picture), "no page shows {picture:?}");
    }
}
