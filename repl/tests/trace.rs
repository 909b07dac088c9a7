//! `:trace` with interactive stepping.

use livefusion_repl::session::{Session, on_stack};
use livefusion_repl::source::Span;
use livefusion_repl::trace::{Pace, Reply, trace};
use std::sync::{Arc, Mutex};

/// The rows of each turn, and the final output.
fn asked(text: &str, replies: Vec<Reply>) -> (Vec<String>, Result<String, String>) {
    let turns = Arc::new(Mutex::new(Vec::new()));
    let (told, mut replies) = (turns.clone(), replies.into_iter());
    let ask = move |rows: &str| {
        told.lock().expect("no panic").push(rows.to_string());
        replies.next().unwrap_or(Reply::Quit)
    };
    let run = || {
        let mut session = Session::new();
        let source = session.sources.add("<1>", text);
        let at = Span {
            source,
            start: 0,
            end: text.len(),
        };
        let left = trace(&mut session, at, Pace::Asked(Box::new(ask)));
        let after = session.submit("<2>", "let ys = [1, 2]\nys.sum()");
        assert_eq!(after.out, "3\n", "what was stopped stops nothing else");
        left
    };
    let left = on_stack(run).expect("no panic");
    let turns = turns.lock().expect("no panic").clone();
    (turns, left)
}

const TEXT: &str = "[3, 1, 4] |> filter(_ > 2) |> sum";

#[test]
fn steps_elements_and_the_rest() {
    let replies = vec![Reply::Step, Reply::Element, Reply::Element, Reply::On];
    let (turns, left) = asked(TEXT, replies);
    assert_eq!(turns.len(), 4);
    assert!(turns[0].starts_with("loop 1 of 1: manifest, filter, sum\n"));
    assert_eq!(turns[1].lines().count(), 1, "a step");
    let last = |turn: &String| turn.lines().last().unwrap_or_default().to_string();
    assert!(last(&turns[2]).contains("guard r0"), "{}", turns[2]);
    assert!(last(&turns[3]).contains("guard r1"), "{}", turns[3]);
    let left = left.expect("a value");
    assert!(
        left.starts_with("… and ") && left.ends_with("steps\n= 7\n"),
        "{left}"
    );
}

#[test]
fn quits() {
    let (turns, left) = asked(TEXT, vec![Reply::Step, Reply::Quit]);
    assert_eq!((turns.len(), left), (2, Ok(String::new())));
}
