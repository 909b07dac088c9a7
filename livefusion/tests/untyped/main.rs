//! Untyped forms of combinators: equal to the typed forms; errors stay in the node.

mod array;
mod ranked;
mod segmented;
mod small;

use livefusion::ast::{Builder, Node, Value};
use livefusion::runtime::force_nodes;
use livefusion::{Engine, Error, ErrorKind, Loc, Result};
use std::sync::Arc;

/// The text location of the tests' untyped calls.
fn place() -> Loc {
    Loc::in_text("test.lf", 3, 14)
}

/// A combinator call at that location.
fn call(name: &'static str) -> Builder {
    Builder::at(name, place())
}

/// The words of all fields of a node, field after field.
fn words(node: &Arc<Node>) -> Result<Vec<u64>> {
    let values = force_nodes(Engine::default_engine(), std::slice::from_ref(node))?;
    Ok(values.iter().flat_map(words_of).collect())
}

fn words_of(value: &Value) -> Vec<u64> {
    match value {
        Value::Scalar(fields) => fields.iter().map(|c| c.bits).collect(),
        Value::Array(columns) => {
            let column = |c: &Arc<livefusion_backend::Buffer>| -> Vec<u64> {
                (0..c.len()).filter_map(|i| c.get_word(i)).collect()
            };
            columns.iter().flat_map(column).collect()
        }
    }
}

/// Asserts equal types, rank and elements of two nodes.
#[track_caller]
fn same(untyped: &Arc<Node>, typed: &Arc<Node>) {
    assert_eq!((&untyped.types, untyped.rank), (&typed.types, typed.rank));
    assert_eq!(words(untyped), words(typed), "{}", untyped.name);
}

/// Asserts that a node has an error of the combinator `name` at the tests' location, with these
/// expected and actual values.
#[track_caller]
fn mistake(node: &Arc<Node>, name: &str, expected: &str, got: &str) {
    let error = words(node).expect_err("a mistake");
    assert_eq!((error.combinator, error.location), (name, Some(place())));
    let ErrorKind::Malformed {
        expected: wanted,
        got: there,
    } = &error.kind
    else {
        panic!("{error}");
    };
    assert_eq!((&wanted[..], &there[..]), (expected, got), "{error}");
}

/// The error of a node.
#[track_caller]
fn error(node: &Arc<Node>) -> Error {
    words(node).expect_err("an error")
}
