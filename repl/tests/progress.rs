//! Progress reports, with delays as parameters, so that no test waits.

use livefusion_repl::session::{Session, on_stack};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The reports of a program on a backend, with these delays.
fn reports(backend: &str, quiet: Duration, long: Duration) -> Vec<String> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let all = told.clone();
    on_stack(|| {
        let mut session = Session::new();
        session.progress = true;
        (session.reports.quiet, session.reports.long) = (quiet, long);
        session.reports.sink = Arc::new(move |line| {
            told.lock().expect("no panic").push(line.to_string());
        });
        session.submit("<1>", &format!(":backend {backend}"));
        let answer = session.submit("<2>", "iota(100000).map(_ * 2).sum()");
        assert_eq!(
            (answer.out.as_str(), answer.err.as_str()),
            ("9999900000\n", "")
        );
    });
    let all = all.lock().expect("no panic");
    all.clone()
}

#[test]
fn reports__of_long_work__name_a_faster_engine() {
    for (backend, engine) in [
        ("interp", "on the interpreter; `:backend jit` is faster"),
        (
            "tiered",
            "on the tiered engine; `:backend jit` is faster from the first element on",
        ),
        ("jit", "on jit"),
    ] {
        let all = reports(backend, Duration::ZERO, Duration::ZERO);
        let Some((last, lines)) = all.split_last() else {
            panic!("no reports on {backend}");
        };
        assert_eq!(last, "", "the last report is taken back");
        assert!(!lines.is_empty());
        for line in lines {
            assert!(line.starts_with("loop 1 of 1: "), "{line}");
            assert!(line.ends_with(&format!(", {engine}")), "{line}");
        }
    }
}

#[test]
fn reports__before_a_while__name_no_engine() {
    let all = reports("interp", Duration::ZERO, Duration::MAX);
    assert!(all.iter().any(|line| line.starts_with("loop 1 of 1: ")));
    assert!(all.iter().all(|line| !line.contains("interpreter")));
}

#[test]
fn reports__of_short_work__are_none() {
    let all = reports("interp", Duration::MAX, Duration::MAX);
    assert_eq!(all, [""; 0]);
}

/// `:time` runs on other engines than the session's.
#[test]
fn reports__on_another_engine__name_that_one() {
    let told = Arc::new(Mutex::new(String::new()));
    let all = told.clone();
    on_stack(|| {
        let mut session = Session::new();
        session.progress = true;
        (session.reports.quiet, session.reports.long) = (Duration::ZERO, Duration::ZERO);
        session.reports.sink = Arc::new(move |line| *told.lock().expect("no panic") += line);
        session.submit("<1>", ":time iota(100000).map(_ * 2).sum()");
    });
    let all = all.lock().expect("no panic");
    for engine in [
        "on the interpreter",
        "on jit",
        "on c",
        "on the tiered engine",
    ] {
        assert!(all.contains(engine), "{engine}");
    }
}
