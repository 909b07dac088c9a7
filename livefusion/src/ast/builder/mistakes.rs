//! Placeholder nodes that carry a mistake.

use crate::ast::body::show_types;
use crate::ast::draft::Draft;
use crate::ast::{Builder, Inputs, Kind, Node, Types};
use crate::error::ErrorKind;
use loop_lang::types::Ty;
use smallvec::smallvec;
use std::sync::Arc;

impl Builder {
    /// A node of these types and this rank that carries the mistake of another.
    pub(crate) fn mistaken(self, of: &Arc<Node>, types: &[Ty], rank: u8) -> Arc<Node> {
        let d = Draft::new(self, smallvec![of.clone()]);
        d.finish(Kind::Zip, Types::from_slice(types), rank)
    }

    /// A placeholder for a node of these types and this rank. It carries the first mistake of its
    /// inputs, else `kind`.
    pub(crate) fn instead(
        self,
        inputs: &[&Arc<Node>],
        (types, rank): (&[Ty], u8),
        kind: ErrorKind,
    ) -> Arc<Node> {
        match inputs.iter().find(|n| n.error.is_some()) {
            Some(wrong) => self.mistaken(wrong, types, rank),
            None => self.fault(types, rank, kind),
        }
    }

    /// A placeholder for a node whose input has unsuitable types.
    pub(crate) fn unfit(
        self,
        input: &Arc<Node>,
        types: &[Ty],
        rank: u8,
        expected: &str,
    ) -> Arc<Node> {
        let (expected, got) = (expected.to_string(), show_types(&input.types));
        self.instead(
            &[input],
            (types, rank),
            ErrorKind::Malformed { expected, got },
        )
    }

    /// Creates a placeholder of these types and this rank.
    ///
    /// It carries the mistake.
    pub fn fault(self, types: &[Ty], rank: u8, kind: ErrorKind) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        d.fail(kind);
        d.finish(Kind::Manifest, Types::from_slice(types), rank)
    }
}
