//! Elements and lengths: what each node's fields are in the current iteration (`elt_3`, `len_3`).

use super::{Anatomy, Lower, missing};
use crate::ast::Kind;
use crate::fusion::rates::indexed_array;
use crate::lower::{generate, manifest};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::types::Const;

impl Anatomy<'_> {
    /// The current element's field: made in this loop, or read from memory at the root's counter.
    pub fn elt(&mut self, field: FieldRef) -> Lower<Atom> {
        // Filters pass their input's elements on: follow them without recursion.
        let (mut at, mut passed) = (field, Vec::new());
        let value = loop {
            if let Some(a) = self.elts.get(&at) {
                break *a;
            }
            let node = &self.graph.nodes[at.0.index()];
            if self.is_in_memory(at.0) {
                break manifest::read(self, at)?;
            }
            match node.node.kind {
                Kind::Filter(_) | Kind::Pack => {
                    passed.push(at);
                    at = self.graph.resolve(node.inputs[0], at.1);
                }
                Kind::Generate(..) => {
                    generate::lower(self, at.0)?;
                    break self
                        .elts
                        .get(&at)
                        .copied()
                        .ok_or_else(|| missing(self.graph, at))?;
                }
                _ => return Err(missing(self.graph, at)),
            }
        };
        for p in passed {
            self.elts.insert(p, value);
        }
        Ok(value)
    }

    /// Says what a field's element is in each iteration.
    pub fn set_elt(&mut self, field: FieldRef, value: Atom) {
        self.elts.insert(field, value);
    }

    /// The columns of a node's inputs, resolved.
    pub fn columns(&self, inputs: &[NodeId]) -> Vec<FieldRef> {
        inputs.iter().flat_map(|i| self.graph.fields(*i)).collect()
    }

    /// A field of an array that tells its length: one that this loop makes, or one that is in memory.
    pub fn existing_field(&self, input: NodeId) -> Option<FieldRef> {
        let exists = |f: &FieldRef| {
            let leaf = self.graph.nodes[f.0.index()].leaf;
            leaf || !self.is_in_memory(f.0) || self.plan.stored.contains(f)
        };
        self.graph.fields(input).into_iter().find(exists)
    }

    /// The length of a root-rate array, as this loop knows it when it starts: that of the memory or of
    /// the generator at the far end of what is computed in step.
    pub fn len(&mut self, input: NodeId) -> Lower<Atom> {
        let mut at = input;
        loop {
            let Some(first) = self.existing_field(at) else {
                return Ok(Const::u64(0).into());
            };
            if self.is_in_memory(first.0) {
                return Ok(manifest::len(self, first));
            }
            if let Some(a) = self.lens.get(&first.0) {
                return Ok(*a);
            }
            match self.graph.node(first.0).kind {
                Kind::Generate(..) => match indexed_array(self.graph, first.0) {
                    Some(array) => at = array,
                    None => {
                        generate::lower(self, first.0)?;
                        let len = self.lens.get(&first.0).copied();
                        return len.ok_or_else(|| missing(self.graph, first));
                    }
                },
                Kind::Map(_) | Kind::Scan(..) => at = self.graph.nodes[first.0.index()].inputs[0],
                _ => return Err(missing(self.graph, first)),
            }
        }
    }

    /// Says how long a root-rate array is.
    pub fn set_len(&mut self, id: NodeId, len: Atom) {
        self.lens.insert(id, len);
    }

    /// Says where a scan's field ends up.
    pub fn set_scan_total(&mut self, field: FieldRef, value: Atom) {
        self.totals.insert(field, value);
    }

    /// Where a scan's field ends up, read after the loop.
    pub fn scan_total(&self, field: FieldRef) -> Lower<Atom> {
        self.totals
            .get(&field)
            .copied()
            .ok_or_else(|| missing(self.graph, field))
    }
}
