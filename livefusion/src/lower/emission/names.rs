//! Names of combinators and variables: `elt_3` is a variable of combinator 3.

use super::Emission;
use crate::lower::Naming;
use crate::lower::placement::Point;
use crate::sharing::NodeId;
use loop_lang::ir::{Comb, CombId, Type, Var};
use loop_lang::types::Ty;
use loop_lang::verify::as_word;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Holds the combinators of a loop and the names in use.
pub struct Names<'g> {
    naming: Naming<'g>,
    /// The node of each combinator.
    pub combs: Vec<NodeId>,
    combs_of: FxHashMap<NodeId, SmallVec<[CombId; 1]>>,
    /// The names in use, with the first number to try for the next use of each.
    taken: FxHashMap<String, u32>,
}

impl<'g> Names<'g> {
    /// Creates an empty set of names.
    pub fn new(naming: Naming<'g>) -> Names<'g> {
        Names {
            naming,
            combs: Vec::new(),
            combs_of: FxHashMap::default(),
            taken: FxHashMap::default(),
        }
    }

    /// Returns the name `base_suffix`, numbered if it is in use.
    pub fn new_name(&mut self, base: &str, suffix: &str) -> String {
        let mut name = format!("{base}_{suffix}");
        if let Some(mut n) = self.taken.get(&name).copied() {
            let wanted = name;
            name = loop {
                let numbered = format!("{base}{n}_{suffix}");
                n += 1;
                if !self.taken.contains_key(&numbered) {
                    break numbered;
                }
            };
            self.taken.insert(wanted, n);
        }
        self.taken.insert(name.clone(), 1);
        name
    }
}

impl Emission<'_> {
    /// Returns the first combinator of a node.
    ///
    /// Adds it on first use.
    pub fn comb(&mut self, id: NodeId) -> CombId {
        match self.names.combs_of.get(&id).and_then(|c| c.first()) {
            Some(c) => *c,
            None => self.new_comb(id),
        }
    }

    /// Returns the combinator of a node in a slot.
    ///
    /// A node in several slots has one combinator in each.
    pub fn comb_at(&mut self, id: NodeId, point: Point) -> CombId {
        let slot = self.slot(point);
        let all = self.names.combs_of.get(&id).cloned().unwrap_or_default();
        let in_slot = |c: &&CombId| self.program.comb(**c).slot.is_none_or(|h| h == slot);
        let comb = match all.iter().find(in_slot) {
            Some(c) => *c,
            None => self.new_comb(id),
        };
        self.program.combs[comb.index()].slot = Some(slot);
        comb
    }

    /// Returns a combinator of a node that has no slot yet.
    ///
    /// It is for opening a rate.
    pub fn unhomed_comb(&mut self, id: NodeId) -> CombId {
        let all = self.names.combs_of.get(&id).cloned().unwrap_or_default();
        let without_slot = all.iter().find(|c| self.program.comb(**c).slot.is_none());
        without_slot.copied().unwrap_or_else(|| self.new_comb(id))
    }

    fn new_comb(&mut self, id: NodeId) -> CombId {
        let c = CombId::new(self.names.combs.len());
        let is_first = !self.names.combs_of.contains_key(&id);
        let node = self.scope.graph.node(id);
        let name = (self.names.naming)(node).filter(|_| is_first);
        let is_read = self.scope.is_in_memory(id) && !self.scope.plan.inlining.is_inlined(id);
        let kind = if is_read { "manifest" } else { node.name };
        self.program.combs.push(Comb {
            name: name.unwrap_or_else(|| c.0.to_string()),
            kind: as_word(kind).into(),
            slot: None,
        });
        self.names.combs.push(id);
        self.names.combs_of.entry(id).or_default().push(c);
        c
    }

    /// Adds a scalar variable `base_comb`.
    pub fn scalar(&mut self, base: &str, comb: CombId, ty: Ty) -> Var {
        self.var(base, comb, Type::Scalar(ty))
    }

    /// Adds a variable `base_comb`, numbered if the name is in use.
    pub fn var(&mut self, base: &str, comb: CombId, ty: Type) -> Var {
        let suffix = &self.program.combs[comb.index()].name;
        let name = self.names.new_name(base, suffix);
        self.program.new_var(name, ty)
    }
}
