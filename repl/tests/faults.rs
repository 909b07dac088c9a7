//! Regression tests: small sessions, one for each past bug.

use livefusion_repl::session::{Answer, Session, on_stack};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The answers of a session to a sequence of texts.
fn answers(texts: &[&str]) -> Vec<Answer> {
    let mut session = Session::new();
    let numbered = texts.iter().enumerate();
    let answer = |(k, text): (usize, &&str)| session.submit(&format!("<{}>", k + 1), text);
    numbered.map(answer).collect()
}

/// The answer to the last text. All earlier texts must succeed.
fn last(texts: &[&str]) -> Answer {
    let mut all = answers(texts);
    let last = all.pop().expect("a text");
    for answer in all {
        assert_eq!(answer.err, "");
    }
    last
}

/// Asserts that the last text fails with this message at this location.
fn wrong(texts: &[&str], message: &str, underlined: &str) {
    let err = last(texts).err;
    assert!(err.starts_with(&format!("error: {message}\n")), "{err}");
    let lines: Vec<&str> = err.lines().collect();
    let marks = lines.iter().position(|l| l.contains('^')).expect(&err);
    let at = lines[marks].find('^').expect("a mark");
    assert_eq!(
        lines[marks - 1].get(at..at + underlined.len()),
        Some(underlined),
        "{err}"
    );
    assert_eq!(lines[marks].matches('^').count(), underlined.len(), "{err}");
}

fn right(texts: &[&str], out: &str) {
    let answer = last(texts);
    assert_eq!((answer.err.as_str(), answer.out.as_str()), ("", out));
}

#[test]
fn a_hole_goes_by_names_not_by_lines() {
    let def = "def apply(f, x) = x.map(f)";
    let call = "apply(1, _ + 1)";
    let message = "`_` is the element of nothing here";
    wrong(&[def, call], message, "_");
    wrong(&[&format!("{def}\n{call}")], message, "_");
    wrong(&[&format!("{{ let apply = 1; {call} }}")], message, "_");
    // User names hide those of combinators.
    wrong(&["def map(xs, y) = xs\n[1].map(_ + 1)"], message, "_");
    wrong(&["def map(xs, y) = xs", "[1].map(_ + 1)"], message, "_");
    wrong(&["let twice = |map, xs| map(xs, _ * 2)"], message, "_");
    // But not outside of their scope.
    right(&["{ let map = 1; map }\n[1].map(_ + 1)"], "1\n[2]\n");
    right(
        &["[1].map(|count| count).map(_ + 1)\n[1].count(_ > 0)"],
        "[2]\n1\n",
    );
}

#[test]
fn scripts_that_load_themselves_end() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.lf"), "1\n:load a.lf\n").expect("a file");
    std::fs::write(folder.path().join("b.lf"), "2\n:quit\n3\n").expect("a file");
    let checked = on_stack(|| {
        let mut session = Session::new();
        session.folder = folder.path().into();
        let answer = session.submit("<1>", ":load a.lf");
        let first = "error: more than 32 scripts load each other\n --> a.lf:2:7\n";
        assert!(answer.err.starts_with(first), "{}", answer.err);
        // Earlier output is kept.
        assert_eq!(answer.out, "1\n".repeat(32));
        assert_eq!(session.submit("<2>", "3").out, "3\n");
        let answer = session.submit("<3>", ":load b.lf");
        assert_eq!((answer.out.as_str(), answer.quit), ("2\n", true));
    });
    assert!(checked.is_some());
}

#[test]
fn delayed_ranges_of_narrow_types() {
    right(
        &[
            "let a = [-100i8].sum()",
            "let b = [100i8].sum()",
            "(a..b).len()\n(a..=b).sum()",
        ],
        "200\n0\n",
    );
    right(
        &["let b = [3u8].sum()", "200u8..b\n1u8..=b"],
        "[]\n[1, 2, 3]\n",
    );
}

#[test]
fn segments_in_step_have_equal_lengths() {
    let r = "let r = ragged [[1, 2], [3]]";
    right(
        &[r, "r + ragged [[10, 20], [30]]"],
        "ragged [[11, 22],\n        [33]]\n",
    );
    let message = "`add`: expected an array of length 2, got one of length 1";
    wrong(&[r, "r + ragged [[8], [9, 10]]"], message, "+");
    // Neither the elements alone are computed, nor their consumers.
    wrong(
        &[r, "let s = r + ragged [[8], [9, 10]]", "s.data()"],
        message,
        "+",
    );
    wrong(
        &[r, "r + ragged [[8, 9, 10]]"],
        "`add`: expected an array of length 1, got one of length 2",
        "+",
    );
    wrong(&[r, "r + r.filter(_ > 1)"], message, "+");
    right(
        &[r, "r * 2 + r.filter(_ > 0)"],
        "ragged [[3, 6],\n        [9]]\n",
    );
}

#[test]
fn both_sides_of_and_are_conditions() {
    wrong(&["true && 3"], "expected bool, got 3", "3");
    wrong(&["3 || true"], "expected bool, got 3", "3");
    wrong(&["false || [1]"], "expected bool, got i64", "[1]");
    right(
        &["true && [true, false]\nfalse && nope"],
        "[true, false]\nfalse\n",
    );
}

#[test]
fn integers_beyond_i64() {
    right(&["18446744073709551615"], "18446744073709551615\n");
    right(
        &["[18446744073709551615, 1]\n[1, 18446744073709551615]"],
        "[18446744073709551615, 1]\n[1, 18446744073709551615]\n",
    );
    right(&[":type 18446744073709551615"], "u64\n");
    right(&["18446744073709551615 // 2"], "9223372036854775807\n");
    right(
        &["[(1, 2), (2.5, 18446744073709551615)]"],
        "[(1.0, 2), (2.5, 18446744073709551615)]\n",
    );
    right(&["-9223372036854775808"], "-9223372036854775808\n");
    wrong(
        &["[-18446744073709551615]"],
        "expected i64, got -18446744073709551615",
        "-18446744073709551615",
    );
}

#[test]
fn session_keeps_bindings_before_a_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = Session::new();
    session.folder = folder.path().into();
    let answer = session.submit("<1>", "let a = 1 # one\na + 1\nlet b = nope\nlet c = 3");
    assert_eq!(answer.out, "2\n");
    session.submit("<2>", "let d = [a]; d.map(_ // 0); d");
    session.submit("<3>", "# a comment\nlet e = d");
    assert_eq!(session.submit("<4>", ":save all.lf").err, "");
    let saved = std::fs::read_to_string(folder.path().join("all.lf")).expect("a file");
    assert_eq!(
        saved,
        "let a = 1\na + 1\nlet d = [a]\nd\n# a comment\nlet e = d\n"
    );
    // An invalid range does not hide earlier output.
    let answer = session.submit("<5>", "let f = 7\nf\n1.5..3");
    assert_eq!(answer.out, "7\n");
    assert!(
        answer
            .err
            .starts_with("error: expected a range of integers")
    );
    assert_eq!(session.submit("<6>", "f").out, "7\n");
}

#[test]
fn commands_keep_no_copies() {
    let mut session = Session::new();
    session.submit("<1>", "let a = iota(3)");
    let before = session.sources.len();
    session.submit("<2>", ":time a.sum()");
    assert_eq!(session.sources.len(), before + 1);
}

#[test]
fn time_computes_its_program() {
    let mut session = Session::new();
    session.settings.memory = 1 << 20;
    session.rebuild();
    session.submit("<1>", "let xs = iota(100000)");
    assert_eq!(session.submit("<2>", "xs.len()\nxs.sum()\nxs[..3]").err, "");
    session.submit("<3>", "xs");
    let answer = session.submit("<4>", ":time xs");
    assert_eq!(answer.err, "");
    // It is written again, which takes measurable time.
    assert!(
        answer.out.ends_with("reads 0 B, writes 800.0 kB\n"),
        "{}",
        answer.out
    );
    assert!(answer.out.contains("B/s"), "{}", answer.out);
}

#[test]
fn files_are_written_when_values_are_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = Session::new();
    session.folder = folder.path().into();
    let there = |name: &str| Path::exists(&folder.path().join(name));
    assert_eq!(session.submit("<1>", ":type [1] |> save \"a.npy\"").err, "");
    assert_eq!(
        session
            .submit("<2>", "let s = iota(3) |> save \"a.npy\"")
            .err,
        ""
    );
    assert!(!there("a.npy"));
    let answer = session.submit("<3>", "s");
    assert_eq!((answer.out.as_str(), answer.err.as_str()), ("", ""));
    assert!(there("a.npy"));
    assert_eq!(session.submit("<4>", "load \"a.npy\"").out, "[0, 1, 2]\n");
    // The session's engine runs this, with its limit.
    session.settings.memory = 1 << 20;
    session.rebuild();
    let answer = session.submit("<5>", "iota(1000000) |> save \"b.npy\"");
    assert!(
        answer.err.starts_with("error: `iota`: expected room"),
        "{}",
        answer.err
    );
    assert!(!there("b.npy"));
    let answer = session.submit("<6>", "(iota(2), iota(2)) |> save \"c.csv\"");
    assert_eq!(answer.err, "");
    assert!(there("c.csv"));
}

#[test]
fn help_on_constants() {
    right(
        &[":help f64::EPSILON"],
        "f64::EPSILON: f64 = 2.220446049250313e-16\n",
    );
    right(&[":help Boundary::Clamp"], "Boundary::Clamp: a boundary\n");
    right(&["let xs = iota(3)", ":help xs"], "xs: i64[3]\n");
}

#[test]
fn counts_of_steps() {
    wrong(
        &["iterate(2.7, 1, _ * 2)"],
        "expected a number of steps, got the float 2.7",
        "2.7",
    );
    wrong(
        &["iterate(-1, 1, _ * 2)"],
        "expected a number of steps, got the integer -1",
        "-1",
    );
    wrong(
        &["iota(-1)"],
        "a number of elements cannot be negative, and is -1",
        "-1",
    );
    right(&["[-3, 2].map(|n| iterate(n, 1, _ * 2))"], "[1, 4]\n");
    right(
        &["enum_from_step(3, 1, 0.5)\nenum_from_step(3, 0.5, 1)"],
        "[1.0, 1.5, 2.0]\n[0.5, 1.5, 2.5]\n",
    );
}

#[test]
fn mistakes_of_types_underline_the_operand() {
    let xs = "let xs = [1, 2]";
    wrong(
        &["[1u64, 2] + [-1i8, 2]"],
        "expected u64, got i8",
        "[-1i8, 2]",
    );
    wrong(&["[1u8] * 300"], "expected u8, got 300", "300");
    wrong(&[xs, "xs.map(|x| 1u64 + x)"], "expected u64, got i64", "x");
    wrong(&["\"a\" + 1"], "text and a number cannot be added", "\"a\"");
    wrong(&["!2.5"], "`not` does not take f64", "2.5");
    wrong(&["-\"a\""], "`neg` takes numbers, not text", "\"a\"");
    wrong(&["true + false"], "`add` does not take bool and bool", "+");
    // Of several spans that begin at one location, the shortest is underlined.
    wrong(
        &[xs, "xs.map(|x| 1 // (x - 2)).sum()"],
        "`map`: expected a divisor other than 0, got 1 / 0",
        "map",
    );
}

/// Endless loops can be stopped on each backend.
#[test]
fn loops_are_stopped() {
    for backend in [":backend interp", ":backend jit", ":backend tiered"] {
        for text in [
            "[1, 2].map(|x| while_loop(x, |x| x > 0, |x| x))",
            "while_loop(1, |x| x > 0, |x| x)",
            "iterate_while([1], |xs| xs.max() > 0, |xs| xs)",
            "def fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2)\nfib(60)",
        ] {
            let mut session = Session::new();
            session.submit("<1>", backend);
            let (stop, done) = (session.stop.clone(), AtomicBool::new(false));
            let answer = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(20));
                        stop.stop();
                    }
                });
                let answer = session.submit("<2>", text);
                done.store(true, Ordering::Relaxed);
                answer
            });
            let err = answer.err;
            assert!(err.contains("cancelled"), "{text}: {err}");
        }
    }
}
