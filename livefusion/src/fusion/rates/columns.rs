//! Columns: find the source of an input's field.
//!
//! The field's producer may be in step with the consumer. Otherwise the field is read from memory
//! at the consumer's counter, or a zip delivers it.

use super::{ClassId, Rates};
use crate::ast::Kind;
use crate::sharing::{FieldRef, Graph, NodeId};

/// Describes a field that is reached through an alias or an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// The field, resolved.
    pub field: FieldRef,
    /// The class at whose counter it is read from memory, if that is not its own.
    pub unfused_at: Option<ClassId>,
    /// The zip that delivers it from its inputs, or from those of an equal zip.
    pub zip: Option<NodeId>,
}

impl Rates {
    /// Resolves a field of a node's input.
    pub fn consumed(&self, graph: &Graph, n: NodeId, input: usize, field: u32) -> Named {
        let class = self.consumes_at(graph, n);
        // A merge advances its inputs independently of its result.
        let merges = matches!(graph.node(n).kind, Kind::Merge(_));
        let unfused_at = class.filter(|_| self.is_unfused(n, input) && !merges);
        let used = graph.nodes[n.index()].inputs[input];
        self.behind((used, field), graph, unfused_at)
    }

    /// Resolves a field through `Zip` and `Fields` to its producer.
    pub fn named(&self, graph: &Graph, name: FieldRef) -> Named {
        self.behind(name, graph, None)
    }

    fn behind(&self, mut field: FieldRef, graph: &Graph, mut unfused_at: Option<ClassId>) -> Named {
        let mut zip = None;
        while let Some((k, next)) = graph.alias_of(field) {
            let own = Some(field.0).filter(|n| self.sides(*n).is_some());
            zip = zip.or(own).or(self.equal_zip(field.0));
            if unfused_at.is_none() && self.is_unfused(field.0, k) {
                unfused_at = self.output(field.0);
            }
            field = next;
        }
        Named {
            field,
            unfused_at,
            zip,
        }
    }
}
