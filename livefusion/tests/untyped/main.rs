//! The untyped forms of combinators: each gives what the typed one gives, and mistakes stay in the node.

mod array;
mod ranked;
mod segmented;
mod small;

use livefusion::ast::{Builder, Node, Value};
use livefusion::runtime::force_nodes;
use livefusion::{Engine, Error, ErrorKind, Loc, Result};
use std::sync::Arc;

/// The place in a text of which the tests' untyped calls are.
fn place() -> Loc {
    Loc::in_text("test.lf", 3, 14)
}

/// A call of a combinator in that text.
fn call(name: &'static str) -> Builder {
    Builder::at(name, place())
}

/// The words of a node's fields, one field behind the other.
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

/// Both nodes have the same types, rank and elements.
#[track_caller]
fn same(untyped: &Arc<Node>, typed: &Arc<Node>) {
    assert_eq!((&untyped.types, untyped.rank), (&typed.types, typed.rank));
    assert_eq!(words(untyped), words(typed), "{}", untyped.name);
}

/// The node has a mistake of the combinator `name` at the place of the tests' calls, in which what was expected and what was
/// there are these.
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
