//! Picture files of commands: graphs, and numbers in each form.

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
    // Overlapping dots are drawn once.
    assert!((90..=100).contains(&points.matches("<circle").count()));
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
        answer
            .err
            .starts_with("error: expected finite numbers to plot, got none\n"),
        "{}",
        answer.err
    );
}

/// Runs a command in a session with arrays to plot. Returns the files and messages.
fn plotted(command: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = Session::new();
    session.folder = folder.path().into();
    session.submit("<1>", "let xs = iota(50).map(|i| i as f64 / 10.0)");
    session.submit(
        "<2>",
        "let (low, high) = (xs.map(|x| sin(x)), xs.map(|x| 2.0 * sin(x)))",
    );
    session.submit(
        "<3>",
        "let (m, ys) = (generate((4, 6), |(i, j)| i * j), low)",
    );
    let answer = session.submit("<4>", command);
    match answer.err.is_empty() {
        true => Ok(std::fs::read_to_string(folder.path().join("a.svg")).unwrap_or(answer.out)),
        false => Err(answer.err),
    }
}

fn lines(svg: &str) -> usize {
    svg.matches("stroke-width=\"2\"").count()
}

#[test]
fn plot_of_a_tuple_is_y_over_x() {
    let svg = plotted(":plot a.svg (xs, low)").expect("a picture");
    // The axis ends at the last x, not at the last index.
    assert!(
        lines(&svg) == 1 && svg.contains("\n4\n") && !svg.contains("\n40\n"),
        "{svg}"
    );
    let indexed = plotted(":plot a.svg low").expect("a picture");
    assert!(lines(&indexed) == 1 && indexed.contains("\n40\n"));
    let wrong = plotted(":plot a.svg (xs, [1, 2])").expect_err("none");
    let expected = "error: expected as many numbers as the 50 before, got 2\n";
    assert!(wrong.starts_with(expected), "{wrong}");
    let wrong = plotted(":plot a.svg (xs, m)").expect_err("none");
    assert!(
        wrong.starts_with("error: expected an array, got a tuple"),
        "{wrong}"
    );
    let wrong = plotted(":plot histogram a.svg (xs, low)").expect_err("none");
    assert!(
        wrong.starts_with("error: expected numbers along one axis or two"),
        "{wrong}"
    );
}

#[test]
fn plot_of_several_with_titles_and_a_legend() {
    let command = ":plot a.svg low, (xs, high), xs.zip(low) title \"Two, \\ three\" x \"day\" y \"°C\" legend \"low\", \"high\", \"dots\"";
    let svg = plotted(command).expect("a picture");
    assert_eq!(
        (lines(&svg), svg.matches("<circle").count() > 40),
        (2, true)
    );
    for text in ["Two, \\ three", "day", "°C", "low", "high", "dots"] {
        assert_eq!(svg.matches(&format!("\n{text}\n")).count(), 1, "{text}");
    }
    // Arrays in one picture are computed together, and commas in brackets do not separate.
    let svg = plotted(":plot a.svg low.zip_with(high, |a, b| a + b), [1, 2] y \"sum\"");
    assert_eq!(lines(&svg.expect("a picture")), 2);
    let svg = plotted(":plot histogram a.svg low, high legend \"low\", \"high\"");
    assert_eq!(lines(&svg.expect("a picture")), 2);
    let svg = plotted(":plot a.svg m title \"m\" legend \"product\"").expect("a picture");
    assert!(svg.contains("\nproduct\n") && svg.matches("<rect").count() == 1 + 24 + 64);
}

#[test]
fn plot_with_options_that_are_none() {
    let wrong = |command: &str, expected: &str| {
        let got = plotted(command).expect_err("none");
        assert!(
            got.starts_with(&format!("error: {expected}")),
            "{command}: {got}"
        );
    };
    wrong(
        ":plot a.svg low title \"a\" colour \"b\"",
        "expected `title`, `x`, `y` or `legend`, each with",
    );
    wrong(
        ":plot a.svg low title \"a\", \"b\"",
        "expected one text for `title`, got 2",
    );
    wrong(":plot a.svg low title \"a", "");
    wrong(
        ":plot a.svg low legend \"a\", \"b\"",
        "expected a legend of 1, one for each chart, got 2",
    );
    wrong(
        ":plot a.svg low, m",
        "expected a matrix by itself, got something beside it",
    );
    wrong(":plot a.svg low,", "");
    wrong(":plot low, high", "a terminal shows one array, got 2\n");
    wrong(
        ":plot (xs, low)",
        "a terminal shows numbers along one axis, got (f64[50], f64[50])",
    );
    wrong(":plot low, bins=3", "`:plot` has no argument `bins`\n");
    wrong(
        ":plot low, title=3",
        "expected a text in quotes for `title`, got `3`\n",
    );
    wrong(
        ":plot low, title=[\"a\", \"b\"]",
        "expected one text for `title`, got 2\n",
    );
}

/// Each form in `:help plot` works.
#[test]
fn plot_help_has_forms_that_work() {
    let help = plotted(":help plot").expect("a text");
    let forms: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  :plot "))
        .map(|line| line.split_once("   ").map_or(line, |(form, _)| form))
        .collect();
    assert_eq!(forms.len(), 9, "{help}");
    for form in forms {
        let drawn = plotted(&format!(":plot {form}")).expect(form);
        assert_eq!(drawn.starts_with("<svg "), form.contains("a.svg"), "{form}");
    }
}

#[test]
fn plot_with_named_arguments() {
    let behind =
        plotted(":plot a.svg low, high title \"T, =\" x \"day\" y \"°C\" legend \"low\", \"high\"");
    let named = plotted(
        ":plot a.svg low, high, title=\"T, =\", xlabel=\"day\", ylabel = \"°C\", legend=[\"low\", \"high\"]",
    );
    assert_eq!(named.expect("a picture"), behind.expect("a picture"));
    let bars = plotted(":plot low, title=\"Waves\", xlabel=\"s\", ylabel=\"m\"").expect("bars");
    assert!(bars.starts_with("Waves\n"), "{bars}");
    assert!(bars.ends_with("\nx: s, y: m\n"), "{bars}");
}

/// The error for a value that a terminal cannot draw suggests a file.
#[test]
fn plot_names_the_form_for_a_file() {
    for (typed, form) in [
        ("low, high", "1 | :plot plot.svg low, high\n"),
        ("xs.zip(low)", "1 | :plot plot.svg xs.zip(low)\n"),
        ("m", "1 | :plot plot.svg m\n"),
    ] {
        let message = plotted(&format!(":plot {typed}")).expect_err("no picture");
        assert!(message.contains(form), "{message}");
    }
}

/// Errors for matplotlib's functions suggest commands that work.
#[test]
fn plot_instead_of_matplotlib() {
    for (typed, form) in [
        ("plot(low)", ":plot plot.svg low"),
        ("low.plot()", ":plot plot.svg low"),
        ("plt.plot(xs, low)", ":plot plot.svg (xs, low)"),
        ("scatter(xs, low)", ":plot plot.svg zip(xs, low)"),
        ("plt.scatter(xs, low, s=3)", ":plot plot.svg zip(xs, low)"),
        ("plt.hist(xs, bins=9)", ":plot histogram plot.svg xs"),
        ("imshow(m, colorbar=True)", ":plot plot.svg m"),
        (
            "imshow(m.map(_ + 1).map(_ + 2)\n  .map(_ + 3).map(_ + 4))",
            ":plot plot.svg m.map(_ + 1).map(_ + 2)   .map(_ + 3).map(_ + 4)",
        ),
        (
            "plt.plot(low, label=\"a\")",
            ":plot plot.svg low, label=\"a\"",
        ),
    ] {
        let message = plotted(typed).expect_err("no picture");
        let note = format!("note: a picture is drawn by `{form}`\n");
        assert!(message.contains(&note), "{typed}: {message}");
        assert_eq!(plotted(form).expect(form), "wrote plot.svg\n");
    }
    for typed in [
        "plt.show()",
        "plt.title(\"a\")",
        "import matplotlib.pyplot as plt",
    ] {
        let message = plotted(typed).expect_err("no picture");
        assert!(message.contains(":plot"), "{typed}: {message}");
    }
    // User names take precedence.
    assert_eq!(
        plotted("{ let plot = |x| x + 1; plot(2) }").as_deref(),
        Ok("3\n")
    );
}
