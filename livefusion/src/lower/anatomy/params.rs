//! Parameters: arrays in memory, delayed scalars, constants, lengths. Each is made on first use.

use super::Anatomy;
use crate::ast::Kind;
use crate::fusion::pull::Extent;
use crate::lower::Source;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::types::{Const, Ty};

impl Anatomy<'_> {
    /// The parameter for a source, made on first use.
    pub fn param(
        &mut self,
        source: Source,
        base: &str,
        comb: CombId,
        ty: Type,
        kind: ParamKind,
    ) -> Var {
        if let Some(at) = self.param_of.get(&source) {
            // An array that is read in step as well as at random, or in step with two rates, is a random-access parameter.
            let known = &mut self.program.params[*at];
            if kind != known.kind {
                known.kind = ParamKind::Random;
            }
            return known.var;
        }
        let var = self.var(base, comb, ty);
        self.param_of.insert(source, self.sources.len());
        self.sources.push(source);
        self.program.params.push(Param { var, kind });
        var
    }

    /// A scalar parameter.
    pub fn scalar_param(&mut self, source: Source, base: &str, comb: CombId, ty: Ty) -> Atom {
        Atom::Var(self.param(source, base, comb, Type::Scalar(ty), ParamKind::Scalar))
    }

    /// A delayed scalar's field: computed in this loop's `done`, or a parameter.
    pub fn delayed(&mut self, field: FieldRef, comb: CombId) -> Atom {
        if let Some(a) = self.scalars.get(&field) {
            return *a;
        }
        let node = &self.graph.nodes[field.0.index()];
        if let Kind::Len = node.node.kind
            && !node.leaf
            && let Some(extent) = self.plan.pulls.extent(node.inputs[0])
        {
            return self.known_extent(extent, comb);
        }
        let source = Source::Scalar(field);
        let ty = node.node.types[field.1 as usize];
        self.scalar_param(source, "s", comb, ty)
    }

    /// A length that is known without a loop.
    pub fn known_extent(&mut self, extent: Extent, comb: CombId) -> Atom {
        match extent {
            Extent::Of(array) => self.scalar_param(Source::Length(array), "s", comb, Ty::U64),
            Extent::Scalar(field) => self.delayed(field, comb),
        }
    }

    /// The length of a pulled array.
    pub fn pulled_len(&mut self, array: NodeId, comb: CombId) -> Atom {
        match self.plan.pulls.extent(array) {
            Some(extent) => self.known_extent(extent, comb),
            None => Const::u64(0).into(),
        }
    }

    /// Says what a delayed scalar's field is in this loop's `done`.
    pub fn set_delayed(&mut self, field: FieldRef, value: Atom) {
        self.scalars.insert(field, value);
    }

    /// An array for random access.
    pub fn random(&mut self, field: FieldRef) -> Var {
        let comb = self.comb(field.0);
        let ty = self.graph.node(field.0).types[field.1 as usize];
        self.param(
            Source::Array(field),
            "arr",
            comb,
            Type::Array(ty),
            ParamKind::Random,
        )
    }

    /// The length of an array variable, taken in `init` on first use.
    pub fn array_len(&mut self, array: Var, comb: CombId) -> Atom {
        if let Some(v) = self.array_lens.get(&array) {
            return Atom::Var(*v);
        }
        let len = self.scalar("len", comb, Ty::U64);
        self.push(comb, Section::Init, StmtKind::ArrayLength(len, array));
        self.array_lens.insert(array, len);
        Atom::Var(len)
    }
}
