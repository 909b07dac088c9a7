//! A front end: a small language whose errors point to its source text.
//!
//! Each line names an array: a combinator, its arrays, numbers, and after a colon a function in
//! reverse Polish notation. The last line is the result.
//!
//! `cargo run --release --example front_end`

use livefusion::ast::{Body, Builder, Const, Field, Fields, Len, Node, Op, Ty, Value, trace};
use livefusion::runtime::force_nodes;
use livefusion::{Engine, Loc, Result};
use std::collections::HashMap;
use std::sync::Arc;

const SQUARES: &str = "\
xs = iota 10
squares = map xs : x x mul
odd = filter squares : x 2 rem 1 eq
all = sum odd
";

const QUOTIENTS: &str = "\
xs = iota 10
ratios = map xs : 100 x div
all = sum ratios
";

const TRUTHS: &str = "\
xs = iota 10
large = map xs : x 4 gt
all = sum large
";

fn main() {
    for (file, text) in [
        ("squares.txt", SQUARES),
        ("quotients.txt", QUOTIENTS),
        ("truths.txt", TRUTHS),
    ] {
        match run(file, text) {
            Ok(Some(Value::Scalar(fields))) => {
                let fields: Vec<String> = fields.iter().map(|field| field.to_string()).collect();
                println!("{file}: {}", fields.join(", "));
            }
            Ok(_) => println!("{file}: no scalar is asked for"),
            Err(error) => println!("{file}: {error}"),
        }
    }
}

/// The value of a text's last line.
fn run(file: &'static str, text: &str) -> Result<Option<Value>> {
    let mut names: HashMap<&str, Arc<Node>> = HashMap::new();
    let mut last = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let words = words(file, line, number);
        if let [name, _, call, args @ ..] = &words[..] {
            let node = combinator(call, args, &names);
            names.insert(name.text, node.clone());
            last = vec![node];
        }
    }
    let values = force_nodes(Engine::default_engine(), &last)?;
    Ok(values.into_iter().next())
}

/// A word of a text and its location.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    loc: Loc,
}

fn words<'t>(file: &'static str, line: &'t str, number: u32) -> Vec<Word<'t>> {
    let place = |text: &str| text.as_ptr() as usize - line.as_ptr() as usize + 1;
    let word = |text| Word {
        text,
        loc: Loc::in_text(file, number, place(text) as u32),
    };
    line.split_whitespace().map(word).collect()
}

/// The node of a call. The node keeps any mistake.
fn combinator(call: &Word<'_>, args: &[Word<'_>], names: &HashMap<&str, Arc<Node>>) -> Arc<Node> {
    let to = |name| Builder::at(name, call.loc);
    let array = || args.first().and_then(|name| names.get(name.text));
    match (call.text, array()) {
        ("iota", None) => {
            let n = args.first().and_then(|n| n.text.parse().ok());
            to("iota").iota(Len::Known(n.unwrap_or(0)))
        }
        ("map", Some(xs)) => to("map").map(std::slice::from_ref(xs), function(args, &xs.types)),
        ("filter", Some(xs)) => to("filter").filter(xs, function(args, &xs.types)),
        ("sum", Some(xs)) => to("sum").sum(xs),
        // There is nothing to build it from.
        _ => to("call").zip(&[]),
    }
}

/// The function after a colon.
fn function(args: &[Word<'_>], params: &[Ty]) -> Body {
    let code = args.iter().skip_while(|w| w.text != ":").skip(1);
    trace(params, |x| {
        let mut stack = Fields::new();
        for word in code {
            if word.text == "x" {
                stack.extend_from_slice(x);
            } else if let Some(op) = Op::from_name(word.text) {
                let args = stack.len().saturating_sub(op.arity());
                let args: Fields = stack.drain(args..).collect();
                stack.push(Field::op(op, &args, word.loc));
            } else {
                let number = word.text.parse().map(Const::u64);
                let expected = || "a number, an operator or `x`".to_string();
                let wrong =
                    |_| Field::mistake(Ty::U64, expected(), word.text.to_string(), word.loc);
                stack.push(number.map_or_else(wrong, Field::literal));
            }
        }
        stack
    })
}

#[test]
fn a_sum_of_odd_squares() {
    let value = run("squares.txt", SQUARES);
    let Ok(Some(Value::Scalar(fields))) = value else {
        panic!("{value:?}");
    };
    assert_eq!(fields[..], [Const::u64(1 + 9 + 25 + 49 + 81)]);
}

#[test]
fn errors_name_places_of_texts() {
    let message = |file, text| run(file, text).expect_err("an error").to_string();
    let zero = message("quotients.txt", QUOTIENTS);
    assert!(zero.starts_with("`map` at quotients.txt:2:"), "{zero}");
    let sum = message("truths.txt", TRUTHS);
    let expected = "`sum` at truths.txt:3:7: expected elements of one number each, got bool";
    assert_eq!(sum, expected);
    let typo = message("typo.txt", "xs = iota 3\nys = map xs : x y add");
    let expected = "`map` at typo.txt:2:17: expected a number, an operator or `x`, got y";
    assert_eq!(typo, expected);
    let few = message("few.txt", "xs = iota 3\nys = map xs : x add");
    assert_eq!(
        few,
        "`map` at few.txt:2:17: expected operands that `add` takes, got u64"
    );
    let none = message("none.txt", "xs = sum ys");
    assert_eq!(
        none,
        "`call` at none.txt:1:6: expected at least one input, got none"
    );
}
