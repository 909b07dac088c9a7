//! Evaluates each help example, and compares its result.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion-repl --test all help::` rewrites the file.

use livefusion_repl::combinators::{self, SCALARS};
use livefusion_repl::grammar::{FORMS, TABLE};
use livefusion_repl::session::Session;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with the file that examples load, under its repository path and directly.
fn data() -> (TempDir, PathBuf) {
    let files = tempfile::tempdir().expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/airports.csv");
    let to = files.path().join("examples/data");
    std::fs::create_dir_all(&to).expect("a folder");
    std::fs::copy(&from, to.join("airports.csv")).expect("a copy");
    std::fs::copy(&from, files.path().join("airports.csv")).expect("a copy");
    let folder = files.path().to_path_buf();
    (files, folder)
}

#[test]
fn examples() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/help.txt");
    let (_files, folder) = data();
    let combinators = combinators::all().map(|c| c.example);
    let scalars = SCALARS.iter().map(|f| f.example);
    let mut now = String::new();
    for example in combinators.chain(scalars) {
        let mut session = Session::new();
        session.folder = folder.clone();
        session.settings.show = livefusion_repl::display::Limit(6);
        let answer = session.submit("help", example);
        assert_eq!(answer.err, "", "{example}");
        now += &format!("{example}\n{}\n", answer.out);
    }
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&golden, now).expect("a file to write");
    } else {
        let text = std::fs::read_to_string(&golden).expect("a golden file");
        assert_eq!(text, now, "LOOP_BLESS=1 writes it anew");
    }
}

/// The grammar's examples evaluate as described, where their names are defined.
#[test]
fn grammar() {
    const BOUND: &str = "\
        let (a, b, c, n, x) = (6, 7, 8, 3, 1.5)\n\
        let xs = [1, 2, 3]\n\
        let ys = [4, 5, 6]\n\
        let m = generate((3, 4, 5), |(i, j, k)| i + j + k)\n\
        let f = |x| x\n\
        let tags = [true, false]\n\
        let points = [(1, 2)]\n\
        let pairs = points";
    let (_files, folder) = data();
    let operators = TABLE.iter().flat_map(|level| level.operators);
    let all = operators.map(|o| o.example);
    for example in all.chain(FORMS.iter().map(|f| f.example)) {
        let mut session = Session::new();
        session.folder = folder.clone();
        assert_eq!(session.submit("bound", BOUND).err, "");
        let answer = session.submit("grammar", example);
        assert_eq!(answer.err, "", "{example}");
    }
}

/// Names are unique.
#[test]
fn names_are_not_taken_twice() {
    let mut names: Vec<_> = combinators::names().collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|w| w[0] == w[1]);
    assert_eq!(twice, None);
}

/// All functions but the shell's own have a text in the library's documentation.
#[test]
fn documented() {
    let named = combinators::all().map(|c| c.name);
    let all = named.chain(SCALARS.iter().map(|f| f.name));
    let without: Vec<_> = all.filter(|n| livefusion::docs::of(n).is_none()).collect();
    let own = [
        "Boundary::Constant",
        "array",
        "arange",
        "zeros",
        "ones",
        "astype",
        "print",
        "segmented",
        "head",
        "agg",
        "date",
        "days",
        "hours",
        "minutes",
        "seconds",
        "load",
        "save",
        "xor",
        "where",
        "f64",
        "f32",
        "i64",
        "i32",
        "i16",
        "i8",
        "u64",
        "u32",
        "u16",
        "u8",
        "bool",
    ];
    assert_eq!(without, own);
}
