//! What is joined onto elements anywhere.

use super::Lower;
use crate::ir::{Operand, Origin, Shape, StmtKind};
use loop_lang::ir::{Atom, Combine, FnId, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Lower<'_, '_> {
    /// Values are joined onto the elements of arrays at an index, if all of these have it.
    pub(super) fn scatter(
        &mut self,
        arrays: &[Var],
        index: Atom,
        values: &[Atom],
        by: Option<Combine>,
    ) {
        let arrays: Vec<Var> = arrays.iter().map(|a| self.region.owner(*a)).collect();
        let at = self.operand(index);
        let values: Vec<Operand> = values.iter().map(|x| self.operand(*x)).collect();
        let by = match by {
            Some(Combine::Fn(f)) => return self.scatter_by(f, &arrays, at, &values),
            Some(Combine::Op(op)) => Some(op),
            None => None,
        };
        match (&arrays[..], &values[..]) {
            ([array], [value]) => self.put((*array, at), *value, by, self.mask()),
            _ => self.where_all_have(&arrays, at, |lower| {
                for (array, value) in arrays.iter().zip(&values) {
                    lower.put((*array, at), *value, by, None);
                }
            }),
        }
    }

    /// `put` in as many lanes as there are steps at a time.
    pub(super) fn put(
        &mut self,
        (array, at): (Var, Operand),
        value: Operand,
        by: Option<Op>,
        under: Option<Operand>,
    ) {
        self.push(StmtKind::Put {
            array,
            at,
            value,
            by,
            under,
            lanes: self.lanes,
        });
    }

    /// A join by a function, which only happens where it counts: it may trap.
    fn scatter_by(&mut self, f: FnId, arrays: &[Var], at: Operand, values: &[Operand]) {
        self.where_all_have(arrays, at, |lower| {
            let mut old = Vec::new();
            for array in arrays {
                let ty = lower.region.program.ty(*array).elem();
                let to = lower.add("held", Shape::scalar(ty), Origin::Let);
                let array = *array;
                lower.push(StmtKind::Gather { to, array, at });
                old.push(to.into());
            }
            let joined = lower.call(f, &old, values);
            for (array, value) in arrays.iter().zip(joined) {
                lower.put((*array, at), value, None, None);
            }
        });
    }

    /// What happens where all arrays have an index, step by step.
    fn where_all_have(&mut self, arrays: &[Var], at: Operand, what: impl FnOnce(&mut Self)) {
        let mut cond = self.mask();
        for array in arrays {
            let to = self.add("length", Shape::scalar(Ty::U64), Origin::Let);
            let array = *array;
            self.push(StmtKind::Length { to, array });
            let inside = self.op("inside", Ty::Bool, Op::Lt, &[at, to.into()]);
            cond = Some(self.both(cond, inside));
        }
        let outer = std::mem::take(&mut self.out);
        what(self);
        let then = self.body(outer);
        self.push(StmtKind::If {
            cond: cond.unwrap_or(Const::bool(true).into()),
            then,
            other: Vec::new(),
        });
    }

    /// What a function makes of operands: its statements, written here.
    pub(super) fn call(&mut self, f: FnId, left: &[Operand], right: &[Operand]) -> Vec<Operand> {
        let function = &self.region.program.functions[f.index()];
        let comb = self.comb;
        for (v, a) in function.params.iter().zip(left.iter().chain(right)) {
            self.now.insert(*v, *a);
        }
        function.body.iter().for_each(|s| self.stmt(s));
        self.comb = comb;
        function.results.iter().map(|a| self.operand(*a)).collect()
    }
}
