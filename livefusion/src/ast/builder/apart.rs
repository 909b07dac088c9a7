//! Results of what runs apart: loops over arrays, functions that are not made of combinators.

use super::Builder;
use crate::ast::draft::{Draft, show_node};
use crate::ast::{Apart, ArrayLoop, External, Function, Gives, Inputs, Node, Types, next_number};
use loop_lang::types::Ty;
use std::sync::{Arc, OnceLock};

impl Builder {
    /// A component of the state that a loop over arrays ends with, of these types: an array (rank 1) or a delayed scalar.
    pub fn looped(self, of: &Arc<ArrayLoop>, component: u32, types: &[Ty], rank: u8) -> Arc<Node> {
        let mut d = Draft::new(self, Inputs::new());
        of.start.iter().chain(&of.step).for_each(|n| d.inherit(n));
        d.apart(
            Apart::Loop(of.clone()),
            component,
            Types::from_slice(types),
            rank,
        )
    }

    /// What a function gives that is not made of combinators, of arrays of rank 1 and delayed scalars. It is called once, when
    /// something that is made of its results is forced; nothing fuses across it.
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
        d.apart(Apart::External(of), 0, types, rank)
    }
}
