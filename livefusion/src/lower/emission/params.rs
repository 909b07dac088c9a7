//! Parameters of a loop: arrays, delayed scalars, constants and lengths, added on first use.

use super::Emission;
use crate::ast::{Kind, TermId};
use crate::fusion::inline::KnownExtent as Known;
use crate::lower::placement::{LengthSource, Placement};
use crate::lower::{Lower, Source, generate};
use crate::sharing::uniform::{Uniform, uniform_value};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};

/// Holds the parameters of a loop, in calling order.
#[derive(Default)]
pub struct Params {
    /// The source of each parameter.
    pub sources: Vec<Source>,
    param_of: FxHashMap<Source, Var>,
    /// Arrays that are read at random.
    random: FxHashSet<FieldRef>,
    /// The lengths of array variables.
    lens: FxHashMap<Var, Var>,
    /// Lengths of rows whose total is known to fit a `u64`.
    counted: FxHashSet<FieldRef>,
}

impl Params {
    /// Marks the arrays that are read only in step with one rate.
    pub fn tie(&self, program: &mut Loop, placed: &Placement) {
        for (source, param) in self.sources.iter().zip(&mut program.params) {
            if let Source::Array(field) = source {
                let stream = placed.stream(*field);
                let stream = stream.filter(|_| !self.random.contains(field));
                param.kind = stream.map_or(ParamKind::Random, ParamKind::Stream);
            }
        }
    }
}

impl Emission<'_> {
    /// The parameter for a source, added on first use.
    fn param(&mut self, source: Source, base: &str, comb: CombId, ty: Type) -> Var {
        if let Some(known) = self.params.param_of.get(&source) {
            return *known;
        }
        let var = self.var(base, comb, ty);
        self.params.param_of.insert(source, var);
        self.params.sources.push(source);
        let kind = match ty {
            Type::Scalar(_) => ParamKind::Scalar,
            Type::Array(_) => ParamKind::Random,
        };
        self.program.params.push(Param { var, kind });
        var
    }

    /// Returns a scalar parameter.
    pub fn scalar_param(&mut self, source: Source, base: &str, comb: CombId, ty: Ty) -> Atom {
        Atom::Var(self.param(source, base, comb, Type::Scalar(ty)))
    }

    /// Returns a column in memory, for reads at placed program points.
    pub fn array(&mut self, field: FieldRef) -> Var {
        let comb = self.comb(field.0);
        let ty = self.scope.graph.node(field.0).types[field.1 as usize];
        self.param(Source::Array(field), "arr", comb, Type::Array(ty))
    }

    /// Returns a column in memory, for random access.
    pub fn random(&mut self, field: FieldRef) -> Var {
        self.params.random.insert(field);
        self.array(field)
    }

    /// Returns a field of a delayed scalar.
    ///
    /// It is computed in this loop's `done`, or is a parameter.
    pub fn delayed(&mut self, field: FieldRef, comb: CombId) -> Atom {
        if let Some(a) = self.values.scalar(field) {
            return a;
        }
        let node = &self.scope.graph.nodes[field.0.index()];
        if let Kind::Len = node.node.kind
            && !node.leaf
            && let Some(extent) = self.scope.plan.inlining.own_extent(node.inputs[0])
        {
            if let Known::Rows(lengths) = extent {
                self.check_counted(lengths);
            }
            return self.known_extent(extent, comb);
        }
        let ty = node.node.types[field.1 as usize];
        self.scalar_param(Source::Scalar(field), "s", comb, ty)
    }

    /// A length that is known without a loop.
    fn known_extent(&mut self, extent: Known, comb: CombId) -> Atom {
        match extent {
            Known::Of(array) => self.scalar_param(Source::Length(array), "s", comb, Ty::U64),
            Known::Scalar(field) => self.delayed(field, comb),
            Known::Rows(lengths) => self.all_rows(lengths),
        }
    }

    /// Checks that the number of elements of all rows fits a `u64`. The rows have one length. A
    /// loop over the rows checks more, but a length is computed without such a loop.
    fn check_counted(&mut self, lengths: FieldRef) {
        if !self.params.counted.insert(lengths) {
            return;
        }
        let comb = self.comb(lengths.0);
        let (rows, length) = (self.inlined_len(lengths.0, comb), self.one_length(lengths));
        let mut init = |name, op, args: &[Atom]| -> Atom {
            self.emit(comb, Section::Init, name, op, args).into()
        };
        let some = init("some", Op::Max, &[length, Const::u64(1).into()]);
        let most = init("most", Op::Div, &[Const::u64(u64::MAX).into(), some]);
        let fit = init("fit", Op::Le, &[rows, most]);
        self.trap(
            comb,
            Section::Init,
            TrapKind::LongProduct,
            fit,
            &[rows, length],
        );
    }

    /// Returns the number of elements of all rows of one length.
    pub fn all_rows(&mut self, lengths: FieldRef) -> Atom {
        if let Some(known) = self.values.all_rows.get(&lengths) {
            return *known;
        }
        let comb = self.comb(lengths.0);
        let rows = self.inlined_len(lengths.0, comb);
        let args = [rows, self.one_length(lengths)];
        let all = self.emit(comb, Section::Init, "all", Op::Mul, &args).into();
        self.values.all_rows.insert(lengths, all);
        all
    }

    /// Returns the length of each row.
    pub fn one_length(&mut self, (id, field): FieldRef) -> Atom {
        let comb = self.comb(id);
        uniform_value(self.scope.graph, (id, field)).map_or(Const::u64(0).into(), |scalar| {
            match scalar {
                Uniform::Literal(term, c) => self.literal((id, term), c, comb),
                Uniform::Scalar(field) => self.delayed(field, comb),
            }
        })
    }

    /// A literal of the last body of a node.
    fn literal(&mut self, (id, term): (NodeId, TermId), c: Const, comb: CombId) -> Atom {
        let slots = self.scope.graph.nodes[id.index()].constants.last();
        match slots.and_then(|slots| slots.get(&term.0)) {
            Some(slot) => self.scalar_param(Source::Constant(*slot), "k", comb, c.ty),
            None => c.into(),
        }
    }

    /// Returns the length of an inlined array (an index function).
    pub fn inlined_len(&mut self, array: NodeId, comb: CombId) -> Atom {
        match self.scope.plan.inlining.extent(array) {
            Some(extent) => self.known_extent(extent, comb),
            None => Const::u64(0).into(),
        }
    }

    /// Returns a length, as an atom of `init`.
    pub fn length(&mut self, length: LengthSource, by: CombId) -> Lower<Atom> {
        Ok(match length {
            LengthSource::Array(field) => {
                let array = self.array(field);
                let comb = self.comb(field.0);
                self.array_len(array, comb)
            }
            LengthSource::Param(source) => self.scalar_param(source, "len", by, Ty::U64),
            LengthSource::Scalar(field) => self.delayed(field, by),
            LengthSource::Checked(id) => generate::emit_checked(self, id)?,
            LengthSource::Row(lengths) => self.one_length(lengths),
            LengthSource::Rows(lengths) => self.all_rows(lengths),
            LengthSource::Nothing => Const::u64(0).into(),
        })
    }

    /// Returns the length of an array variable.
    ///
    /// It is taken in `init` on first use.
    pub fn array_len(&mut self, array: Var, comb: CombId) -> Atom {
        if let Some(v) = self.params.lens.get(&array) {
            return Atom::Var(*v);
        }
        let len = self.scalar("len", comb, Ty::U64);
        self.push(comb, Section::Init, StmtKind::ArrayLength(len, array));
        self.params.lens.insert(array, len);
        Atom::Var(len)
    }
}
