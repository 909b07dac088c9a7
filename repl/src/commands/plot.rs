//! `:plot`: numbers as a picture.

use super::refuse;
use crate::plot::bars;
use crate::session::{Answer, Session};
use crate::source::Span;
use crate::value::Value;
use livefusion::ast::{Buffer, Const, Value as Memory};
use std::sync::Arc;

/// Numbers along an axis as bars.
pub fn plot(s: &mut Session, at: Span) -> Result<Answer, String> {
    let value = s.value_of(at)?;
    let Value::Array(array) = &value else {
        return Err(refuse(
            s,
            at,
            &format!("expected an array, got {}", value.describe()),
        ));
    };
    if array.elt.scalar().is_none() || array.node.rank != 1 {
        return Err(refuse(
            s,
            at,
            &format!("expected numbers along one axis, got {array}"),
        ));
    }
    let nodes = [array.node.clone()];
    s.force(&nodes).map_err(|e| s.fault(&e, at))?;
    match array.node.value.get() {
        Some(Memory::Array(columns)) => {
            let column = columns.first();
            let words = |c: &Arc<Buffer>| {
                (0..c.len())
                    .filter_map(|i| Some(Const::new(c.ty(), c.get_word(i)?)))
                    .collect()
            };
            let numbers: Vec<Const> = column.map_or_else(Vec::new, words);
            let numbers: Vec<f64> = numbers.into_iter().map(Const::number).collect();
            Ok(Answer::of(bars(&numbers)))
        }
        _ => Ok(Answer::default()),
    }
}
