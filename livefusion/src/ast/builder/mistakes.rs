//! What stands in place of a node that cannot be built, and carries a mistake.

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

    /// In place of a node of these types and this rank that cannot be built of its inputs: it carries the first mistake that one of
    /// them has, else this one.
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

    /// In place of a node of these types and this rank that cannot be built of an input because of the types that it has.
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

    /// A node of these types and this rank that carries a mistake, in place of one that cannot be built.
    pub fn fault(self, types: &[Ty], rank: u8, kind: ErrorKind) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        d.fail(kind);
        d.finish(Kind::Manifest, Types::from_slice(types), rank)
    }
}
