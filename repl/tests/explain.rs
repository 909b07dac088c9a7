//! `:explain`: its first line, and schedules.

use livefusion_repl::session::{Session, on_stack};

/// The answer of a command.
fn answer(command: &str) -> String {
    let run = || {
        let mut session = Session::new();
        session.submit("<1>", "let xs = [3.0, 1.0, 2.0]");
        let answer = session.submit("<2>", command);
        assert_eq!(answer.err, "", "{command}");
        answer.out
    };
    on_stack(run).expect("no panic")
}

#[test]
fn explain__of_any_program__begins_with_a_summary() {
    let all = [
        (
            "xs.filter(_ > 1).map(_ * 2).sum()",
            "1 loop, no intermediate array",
        ),
        ("xs / xs.sum()", "2 loops, no intermediate array"),
        (
            "xs.scan(0, |a, b| a + b).gather([2, 1])",
            "2 loops, 1 intermediate array in memory",
        ),
        (
            "xs.map(_ * 2).sort().map(_ + 1)",
            "2 loops, 1 intermediate array in memory, 1 external part (sort)",
        ),
        (
            "iterate_n(3, xs, |xs| xs / xs.max())",
            "2 loops, no intermediate array, 1 external part (iterate_n)",
        ),
    ];
    for (text, first) in all {
        let text = format!(":explain {text}");
        let lines = answer(&text);
        assert_eq!(lines.lines().next(), Some(first), "{text}\n{lines}");
    }
}

#[test]
fn explain__without_schedule__has_none_in_external_parts() {
    let has = |text: &str| answer(text).contains("schedule:");
    assert!(!has(":explain xs.map(_ * 2).sort()"));
    assert!(has(":explain schedule xs.map(_ * 2).sort()"));
}
