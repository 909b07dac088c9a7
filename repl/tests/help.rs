//! Each example of the help is evaluated, and its result compared: `LOOP_BLESS=1 cargo test -p livefusion-repl --test help` writes
//! the file anew.

use livefusion_repl::combinators::{self, SCALARS};
use livefusion_repl::session::Session;
use std::path::Path;

#[test]
fn examples() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/help.txt");
    let files = tempfile::tempdir().expect("a folder");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data");
    let link = files.path().join("examples/data");
    std::fs::create_dir_all(&link).expect("a folder");
    std::fs::copy(data.join("airports.csv"), link.join("airports.csv")).expect("a copy");
    let combinators = combinators::all().map(|c| c.example);
    let scalars = SCALARS.iter().map(|f| f.example);
    let mut now = String::new();
    for example in combinators.chain(scalars) {
        let mut session = Session::new();
        session.folder = files.path().to_path_buf();
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

/// Names are there once.
#[test]
fn names_are_not_taken_twice() {
    let mut names: Vec<_> = combinators::names().collect();
    names.sort_unstable();
    let twice = names.windows(2).find(|w| w[0] == w[1]);
    assert_eq!(twice, None);
}

/// All but what is the shell's own have a text in the library's documentation.
#[test]
fn documented() {
    let named = combinators::all().map(|c| c.name);
    let all = named.chain(SCALARS.iter().map(|f| f.name));
    let without: Vec<_> = all.filter(|n| livefusion::docs::of(n).is_none()).collect();
    assert_eq!(without, ["Boundary::Constant", "segmented", "load", "save"]);
}
