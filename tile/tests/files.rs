//! Tiles in files, with their expected faults.
//!
//! Each `files/**/*.tile` names a loop in its first line, `# loop: NAME`. The tile's text ends at
//! the line `# ----`. Below it is the parser's error, the verifier's faults, or `ok`. `LOOP_BLESS=1
//! cargo test -p livefusion-tile --test files` rewrites these.

mod common;

use livefusion_tile::ir::{MAX_DEPTH, StmtKind};
use livefusion_tile::parse::parse;
use livefusion_tile::verify::verify;
use std::fs;
use std::path::Path;

const RULE: &str = "# ----\n";

/// Returns the faults of a file's tile.
fn outcome(text: &str) -> String {
    let name = text.lines().next().and_then(|l| l.strip_prefix("# loop: "));
    let program = common::loop_of(name.expect("the first line is `# loop: NAME`"));
    let tile = match parse(text, &program) {
        Ok(tile) => tile,
        Err(e) => return format!("{e}\n"),
    };
    let again = parse(&tile.show(&program).to_string(), &program);
    assert_eq!(again.as_ref(), Ok(&tile), "its text is the tile");
    match verify(&tile, &program) {
        Ok(()) => "ok\n".to_string(),
        Err(faults) => faults.iter().map(|f| format!("{f}\n")).collect(),
    }
}

/// Tells whether a file has the actual result.
fn holds(path: &Path) -> bool {
    let text = fs::read_to_string(path).expect("readable");
    let (tile, expected) = text.split_once(RULE).unwrap_or((&text, ""));
    let got = outcome(tile);
    if got != expected && common::blesses() {
        fs::write(path, format!("{tile}{RULE}{got}")).expect("written");
        return true;
    }
    if got != expected {
        println!("{}\nexpected {expected}got      {got}", path.display());
    }
    got == expected
}

fn all_hold(folder: &str, at_least: usize) {
    let folder = common::path("files").join(folder);
    let entries = fs::read_dir(folder).expect("the folder");
    let files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    assert!(files.len() >= at_least, "{} files", files.len());
    let wrong = files.iter().filter(|f| !holds(f)).count();
    assert_eq!(wrong, 0, "LOOP_BLESS=1 writes them anew");
}

#[test]
fn verifier() {
    all_hold("verify", 50);
}

#[test]
fn parser() {
    all_hold("parse", 10);
}

#[test]
fn bodies_are_in_each_other_so_deep_and_no_deeper() {
    let program = common::loop_of("map");
    let tile = |depth: usize| {
        let arms: Vec<String> = (1..depth)
            .map(|k| format!("{}if true @0\n", "  ".repeat(k)))
            .collect();
        let (arms, inner) = (arms.concat(), "  ".repeat(depth));
        format!("tile t at r0\n  range from .. end\n{arms}{inner}trap unless true @0\n")
    };
    let deep = parse(&tile(MAX_DEPTH), &program).expect("a tile");
    assert_eq!(deep.depth(), MAX_DEPTH);
    assert_eq!(verify(&deep, &program), Ok(()));
    let refused = parse(&tile(MAX_DEPTH + 1), &program).unwrap_err();
    let message = "expected at most 256 bodies in each other, got `trap`";
    assert_eq!(
        (refused.line, &refused.message[..]),
        (MAX_DEPTH + 3, message)
    );
    let mut deeper = deep.clone();
    deeper.body = vec![deep.body[0].clone()];
    if let StmtKind::If { other, .. } = &mut deeper.body[0].kind {
        other.clone_from(&deep.body);
    }
    let faults = verify(&deeper, &program).unwrap_err();
    assert_eq!(
        faults[0].message,
        "bodies are in each other deeper than 256"
    );
}
