//! Random expressions over all combinators never panic.
//!
//! They are evaluated and forced; long runs are stopped.

use livefusion_repl::combinators;
use livefusion_repl::session::{Session, Stop, on_stack};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const BOUND: &str = r#"
let xs = [1.5, -2.0, 3.0]
let ns = [3, 0, 2]
let us = iota(4)
let m = [[1, 2, 3], [4, 5, 6]]
let r = ragged [[1, 2], [], [3]]
let p = [(1, 2.5), (3, 4.5)]
let s = sum(ns)
def f(x) = x * 2
let words = ["b", "a", "b"]
let days = date(["2010-01-31", "2010-02-01", "2012-02-29"])
let rows = zip(words, xs, days).group_by(_.0).agg(("n", _.len()), |g| ("last", g.map(_.2).max()))
"#;

const ATOMS: &[&str] = &[
    "xs",
    "ns",
    "us",
    "m",
    "r",
    "p",
    "s",
    "f",
    "words",
    "days",
    "rows",
    "_.n",
    "_.key",
    "date(\"2011-01-01 05:00\")",
    "hours(5)",
    "0",
    "1",
    "3",
    "-1",
    "2.5",
    "1u8",
    "true",
    "0..3",
    "1..",
    "[]",
    "[1, 2]",
    "(1, 0)",
    "(2, 3)",
    "\"a\"",
    "f64::NAN",
    "|x| x",
    "|x| x + 1",
    "_ > 1",
    "|a, b| a + b",
    "|a, b| a < b",
    "|[a, b]| a + b",
    "|[[a, b]]| a",
    "|(a, b)| b",
    "|x| (x, x)",
    "|i| ns[i]",
    "|xs| xs.sum()",
    "Boundary::Clamp",
    "Boundary::Constant(0)",
    "ragged [[1], []]",
    "[[true, false, true], [false, true, true]]",
];

/// Combinators that read or write files.
const LEFT_OUT: &[&str] = &["save", "load"];

fn expression() -> impl Strategy<Value = String> {
    let names = combinators::names().filter(|n| !LEFT_OUT.contains(n));
    let name = select(names.collect::<Vec<_>>());
    let atom = select(ATOMS.to_vec()).prop_map(String::from);
    atom.prop_recursive(4, 12, 4, move |inner| {
        let call = (inner.clone(), name.clone(), vec(inner.clone(), 0..4));
        let two = (inner.clone(), inner.clone());
        let operator = select(vec!["+", "-", "*", "/", "%", "==", "<", "&&", "|", "<<"]);
        let ty = select(vec!["u8", "i64", "f32", "f64", "bool", "u64"]);
        prop_oneof![
            6 => call.prop_map(|(a, f, args)| format!("({a}).{f}({})", args.join(", "))),
            2 => (two.clone(), operator).prop_map(|((a, b), op)| format!("({a}) {op} ({b})")),
            1 => two.clone().prop_map(|(a, b)| format!("({a})[{b}]")),
            1 => two.clone().prop_map(|(a, b)| format!("({a}, {b})")),
            1 => two.clone().prop_map(|(a, b)| format!("[{a}, {b}]")),
            1 => two.prop_map(|(a, b)| format!("if s > 1 then ({a}) else ({b})")),
            1 => (inner.clone(), ty).prop_map(|(a, ty)| format!("({a}) as {ty}")),
            1 => inner.clone().prop_map(|a| format!("-({a})")),
            1 => inner.clone().prop_map(|a| format!("ns.map(|x| {a})")),
            1 => inner.prop_map(|a| format!("({a}).0")),
        ]
    })
}

#[test]
fn nothing_panics() {
    let stop = Stop::default();
    let done = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(300));
                stop.stop();
            }
        });
        let result = on_stack(|| {
            let config = ProptestConfig {
                failure_persistence: None,
                ..ProptestConfig::with_cases(cases())
            };
            TestRunner::new(config).run(&expression(), |text| {
                let mut session = Session::new();
                session.settings.memory = 16 << 20;
                session.rebuild();
                assert_eq!(session.submit("bound", BOUND).err, "");
                session.stop = stop.clone();
                session.submit("random", &text);
                session.submit("random", &format!(":type {text}"));
                session.submit("random", &format!(":ast {text}"));
                Ok(())
            })
        });
        done.store(true, Ordering::Relaxed);
        result
    });
    assert_eq!(result, Some(Ok(())));
}

/// The number of cases; `LF_RANDOM` overrides it.
fn cases() -> u32 {
    let asked = std::env::var("LF_RANDOM").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(500)
}
