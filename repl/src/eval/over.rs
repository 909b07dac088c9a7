//! Receivers of folds and scans: arrays, arrays along axes, segments.

use super::{Call, Result, promote};
use crate::combinators::Elements;
use crate::diagnostic::Diagnostic;
use crate::value::{Along, Array, Elt, Segmented, Value};
use livefusion::ast::Node;
use livefusion::over::Domain;
use livefusion::segmented::Segments;
use std::sync::Arc;

/// Holds the elements that a fold or a scan traverses.
pub enum Over {
    /// All elements.
    All(Array),
    /// The elements along axes.
    Along(Along),
    /// The elements of each segment.
    Segments(Segmented),
}

impl Over {
    /// Returns the element type.
    pub fn elt(&self) -> &Elt {
        match self {
            Over::All(xs) => &xs.elt,
            Over::Along(along) => &along.array.elt,
            Over::Segments(s) => &s.data.elt,
        }
    }

    /// Returns whether it is all elements of an array.
    pub fn is_all(&self) -> bool {
        matches!(self, Over::All(_))
    }

    /// Returns the domain for the library's builder.
    pub fn domain(&self) -> Domain<'_> {
        match self {
            Over::All(xs) => Domain::All(&xs.node),
            Over::Along(along) => Domain::Along(&along.array.node, &along.axes),
            Over::Segments(s) => Domain::Segments(&s.lengths, &s.data.node),
        }
    }
}

impl Elements {
    /// Converts an element type as a combinator requires.
    pub fn of(self, elt: &Elt) -> Elt {
        match self {
            Elements::Numbers => promote::numbers(elt),
            Elements::Signed => promote::signed(elt),
            Elements::Kept | Elements::Alike => elt.clone(),
        }
    }
}

impl Call<'_, '_> {
    /// Returns an array along axes.
    pub fn along_axes(&mut self, k: usize) -> Result<Along> {
        match self.value(k).clone() {
            Value::Along(along) => Ok(along),
            other => self.not_along("axes", k, &other),
        }
    }

    /// Returns an array along one axis.
    pub fn along(&mut self, k: usize) -> Result<(Array, usize)> {
        let Along { array, axes } = self.along_axes(k)?;
        match axes[..] {
            [axis] => Ok((array, axis)),
            _ => self.not_along("one axis", k, &Value::Along(Along { array, axes })),
        }
    }

    fn not_along<T>(&self, expected: &str, k: usize, got: &Value) -> Result<T> {
        let message = format!("expected an array along {expected}, got {}", got.describe());
        let note = "`m.along(0)` is one";
        Err(Box::new(Diagnostic::new(message, self.at(k)).note(note)))
    }

    /// Returns the elements that a fold or a scan traverses.
    ///
    /// They come from an array, from axes, or from each segment.
    pub fn over(&mut self, k: usize) -> Result<Over> {
        Ok(match self.value(k).clone() {
            Value::Along(along) => Over::Along(along),
            Value::Segmented(s) => Over::Segments(s),
            _ => Over::All(self.array(k)?),
        })
    }

    /// Returns the result of a scan, which is segments for a segmented scan.
    pub fn give_over(&mut self, of: &Over, node: Arc<Node>, elt: Elt) -> Result<Value> {
        match of {
            Over::Segments(s) => {
                let lengths = s.lengths.clone();
                self.give_segments(
                    Segments {
                        lengths,
                        data: node,
                    },
                    elt,
                )
            }
            _ => self.give(node, elt),
        }
    }
}
