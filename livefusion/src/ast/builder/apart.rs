//! Results of loops over arrays and of external functions.

use super::Builder;
use crate::ast::draft::{Draft, show_node};
use crate::ast::{
    ArrayLoop, External, ExternalPart, Function, Gives, Inputs, Node, Types, next_number,
};
use loop_lang::types::Ty;
use std::sync::{Arc, OnceLock};

impl Builder {
    /// Returns a component of the final state of a loop over arrays.
    ///
    /// It is an array (rank 1) or a delayed scalar of these types.
    pub fn looped(self, of: &Arc<ArrayLoop>, component: u32, types: &[Ty], rank: u8) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        of.start.iter().chain(&of.step).for_each(|n| d.inherit(n));
        // A length of the start that no step changes.
        let known = |all: &[Arc<Node>]| all.get(component as usize).and_then(|n| n.known_len());
        d.len = known(&of.start).filter(|len| known(&of.step) == Some(*len));
        d.apart(
            ExternalPart::Loop(of.clone()),
            component,
            Types::from_slice(types),
            rank,
        )
    }

    /// Calls an external function of arrays of rank 1 and delayed scalars.
    ///
    /// The call happens once, when a dependent of its result is forced. Nothing fuses across it.
    pub fn external(
        self,
        inputs: &[Arc<Node>],
        gives: Gives,
        function: Arc<dyn Function>,
    ) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        inputs.iter().for_each(|n| d.inherit(n));
        let high = inputs.iter().find(|n| n.rank > 1);
        d.expect(high.is_none(), || {
            let got = high.map_or_else(String::new, |n| show_node(n));
            ("arrays of rank 1 and delayed scalars".into(), got)
        });
        d.len = gives.like.and_then(|k| inputs.get(k)?.len);
        let (types, rank) = (gives.types.clone(), gives.rank);
        let of = Arc::new(External {
            name: self.name,
            loc: self.loc,
            inputs: inputs.to_vec(),
            gives,
            function,
            number: next_number(),
            ended: OnceLock::new(),
        });
        d.apart(ExternalPart::External(of), 0, types, rank)
    }
}
