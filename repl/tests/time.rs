//! `:time`: loops and external parts, with their times and bytes.

use livefusion_repl::session::{Session, on_stack};

/// The answer of a command after `names`, in the folder of the examples' data.
fn answer(names: &str, command: &str) -> String {
    let run = || {
        let mut session = Session::new();
        session.folder = "../examples/data".into();
        assert_eq!(session.submit("<1>", names).err, "");
        let answer = session.submit("<2>", command);
        assert_eq!(answer.err, "", "{command}");
        answer.out
    };
    on_stack(run).expect("no panic")
}

/// The lines below the backends, without the times.
fn parts(names: &str, command: &str) -> Vec<String> {
    let text = answer(names, command);
    let below = text
        .lines()
        .skip_while(|line| line.contains("the first time"));
    let line = |line: &str| match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        [name, _, "ns" | "µs" | "ms" | "s", rest @ ..] => format!("{name} {}", rest.join(" ")),
        all => all.join(" "),
    };
    below.map(line).collect()
}

#[test]
fn time__of_a_sort__has_its_bytes_and_its_time() {
    let lines = parts("let xs = iota(1000) * 3", ":time xs.map(_ * -1).sort()");
    let expected = [
        "parts on tiered",
        "loops reads 8000 B, writes 16.0 kB",
        "sort reads 8000 B, writes 8000 B",
        "reads 16.0 kB, writes 24.0 kB",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn time__of_loops_alone__has_no_parts() {
    let lines = parts("let xs = iota(1000)", ":time (xs * 2).sum()");
    assert_eq!(lines, ["reads 0 B, writes 8 B"]);
}

#[test]
fn time__of_a_sort_of_a_sort__tells_them_apart() {
    let lines = parts("let xs = iota(100)", ":time xs.sort().map(_ * 2).argsort()");
    let names: Vec<_> = lines
        .iter()
        .map(|l| l.split(' ').next().unwrap_or(""))
        .collect();
    assert_eq!(names, ["parts", "loops", "sort", "argsort", "reads"]);
}

#[test]
fn time__of_a_loop_over_arrays__has_the_bytes_of_a_step() {
    let names = "let xs = [1.0, 2.0, 3.0]";
    let lines = parts(names, ":time iterate_n(5, xs, |xs| xs / xs.max())");
    let expected = "iterate_n each step reads 8 B + 16 B per element, writes 8 B + 8 B per element";
    assert_eq!(lines[2], expected);
    assert!(lines[3].ends_with(", and those of steps"), "{lines:?}");
}

#[test]
fn time__of_a_file__has_the_time_of_reading_it() {
    let lines = parts("let t = load \"airports.csv\"", ":time t.latitude.max()");
    assert!(lines[0].starts_with("files "), "{lines:?}");
    assert!(lines[0].ends_with("kB, once for all runs"), "{lines:?}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn time__of_groups_and_joins__has_their_external_parts() {
    let names = "let t = load \"stocks.csv\"";
    let lines = parts(names, ":time t.group_by(_.symbol).agg(n = _.len())");
    assert!(lines.contains(&"parts on tiered".to_string()), "{lines:?}");
    let lines = parts("", ":time [7, 3, 9].join([3, 7, 3])");
    assert!(lines.contains(&"parts on tiered".to_string()), "{lines:?}");
}

#[test]
fn time__of_an_expression__reads_no_other_files() {
    let names = "let t = load \"airports.csv\"\nlet xs = [1, 2]";
    assert_eq!(parts(names, ":time xs.sum()").len(), 1);
}

/// A slow backend does not prevent measurements of the others.
#[test]
fn time__beyond_the_patience__stops_the_backend() {
    let out = on_stack(|| {
        let mut session = Session::new();
        session.settings.patience = std::time::Duration::ZERO;
        let late = session.submit("<1>", ":time iota(100000).sum()");
        let sum = session.submit("<2>", "iota(100000).sum()");
        (late.out + &late.err, sum.out)
    });
    let (late, sum) = out.expect("no panic");
    let expected = "interp: stopped, as it took longer than 0 ns\n";
    assert!(late.starts_with(expected), "{late}");
    assert_eq!(late.lines().count(), 4, "{late}");
    assert_eq!(sum, "4999950000\n", "what was stopped stops nothing else");
}
