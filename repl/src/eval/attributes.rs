//! Attributes of arrays, without parentheses: `m.T`, `m.shape`.

use super::{Eval, Result};
use crate::source::Span;
use crate::value::{Array, Elt, Value};
use livefusion::ast::Axis;

/// Lists the names of attributes.
pub const ATTRIBUTES: &[&str] = &["T", "shape", "size", "ndim", "dtype"];

impl Eval<'_> {
    /// An attribute of an array, or `None` for an unknown name.
    pub(super) fn attribute(
        &mut self,
        of: &Value,
        name: &str,
        span: Span,
    ) -> Result<Option<Value>> {
        let array = match of {
            Value::Array(a) if a.node.rank > 0 => a.clone(),
            Value::Range(range) => self.range((**range).clone(), span)?,
            _ => return Ok(None),
        };
        let Array { node, elt } = &array;
        let builder = self.builder("transpose", span);
        Ok(Some(match name {
            "T" if node.rank < 2 => Value::Array(array),
            "T" => {
                let order: Vec<usize> = (0..usize::from(node.rank)).rev().collect();
                self.array(builder.permute_axes(node, &order), elt.clone(), span)?
            }
            "shape" => Value::Tuple(self.shape_of(&array, span)?),
            "size" => {
                let flat = builder.renamed("len").reshape(node, None);
                match flat.known_len() {
                    Some(n) => Value::Int(n.into()),
                    None => self.array(builder.renamed("len").len(&flat), Elt::Count, span)?,
                }
            }
            "ndim" => Value::Int(node.rank.into()),
            "dtype" => Value::Text(elt.to_string().into()),
            _ => return Ok(None),
        }))
    }

    /// The length of an array along each axis.
    pub(super) fn shape_of(&mut self, array: &Array, span: Span) -> Result<Vec<Value>> {
        let known = |n: u64| Value::Int(n.into());
        let Some(shape) = &array.node.shape else {
            return Ok(vec![match array.node.known_len() {
                Some(n) => known(n),
                None => {
                    let len = self.builder("len", span).len(&array.node);
                    self.array(len, Elt::Count, span)?
                }
            }]);
        };
        let axis = |a: &Axis| match a.known() {
            Some(n) => Ok(known(n)),
            None => self.array(a.node().clone(), Elt::Count, span),
        };
        shape.axes().iter().map(axis).collect()
    }
}
