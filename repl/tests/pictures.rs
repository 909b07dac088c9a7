//! Pictures that commands write: of graphs, and of numbers in each form that has one.

use livefusion_repl::session::Session;

#[test]
fn files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = Session::new();
    session.folder = folder.path().into();
    session.submit("<1>", "let xs = iota(100).map(|i| sin(i as f64 / 10.0))");
    session.submit("<2>", "let m = generate((8, 12), |(i, j)| i * j)");
    let mut read = |command: &str, name: &str| {
        let answer = session.submit("<3>", command);
        let wrote = format!("wrote {name}\n");
        assert_eq!((answer.err.as_str(), answer.out), ("", wrote), "{command}");
        std::fs::read(folder.path().join(name)).expect("a file")
    };
    let mut svg = |command: &str, name: &str| {
        let text = String::from_utf8(read(command, name)).expect("a text");
        assert!(text.starts_with("<svg "), "{text}");
        text
    };
    let graph = svg(":svg graph.svg xs.sum()", "graph.svg");
    assert!(graph.contains("sum"));
    let line = svg(":plot line.svg xs", "line.svg");
    assert!(
        line.contains("<polyline") && line.contains("\n-0.5\n"),
        "{line}"
    );
    let bars = svg(":plot histogram \"bars of.svg\" xs", "bars of.svg");
    assert!(bars.matches("<rect").count() > 10);
    let points = svg(":plot points.svg xs.zip(xs)", "points.svg");
    assert_eq!(points.matches("<circle").count(), 100);
    let image = svg(":plot image.svg m", "image.svg");
    assert!(image.matches("<rect").count() > 8 * 12);
    for command in ["xs", "histogram m", "m", "xs.zip(xs)"] {
        let (kind, of) = command.split_once(' ').unwrap_or(("", command));
        let bytes = read(&format!(":plot {kind} of.png {of}"), "of.png");
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 1000);
    }
}

#[test]
fn expressions_that_begin_as_files_do() {
    let mut session = Session::new();
    session.folder = "../examples/data".into();
    session.submit("<1>", "let histogram = [1, 1]");
    assert_eq!(session.submit("<2>", ":plot histogram + 1").err, "");
    assert_eq!(session.submit("<3>", ":plot histogram").err, "");
    assert_eq!(session.submit("<4>", ":plot histogram histogram").err, "");
    let answer = session.submit("<5>", ":plot nowhere/a.svg [1]");
    let first = "error: ../examples/data/nowhere/a.svg: No such file or directory";
    assert!(answer.err.starts_with(first), "{}", answer.err);
    let answer = session.submit("<6>", ":plot a.svg 3");
    assert!(
        answer
            .err
            .starts_with("error: expected an array, got the integer 3\n --> <6>:1:13\n")
    );
    let answer = session.submit("<7>", ":plot a.svg [f64::NAN]");
    assert!(
        answer.err.starts_with("error: nothing to plot\n"),
        "{}",
        answer.err
    );
}
