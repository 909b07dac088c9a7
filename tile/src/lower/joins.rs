//! What is joined onto elements: side by side, where an index goes up with the counter, or anywhere.

use super::Lower;
use crate::ir::{Memory, Operand, Origin, Shape, StmtKind};
use loop_lang::ir::{Atom, Combine, FnId, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

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
        if let (&[array], &[value]) = (&arrays[..], values)
            && self.join_side_by_side((array, index), value, by)
        {
            return;
        }
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

    /// Values are joined onto neighbours that cannot miss: these are loaded, joined and stored. Whether it is so.
    fn join_side_by_side(
        &mut self,
        (array, index): (Var, Atom),
        value: Atom,
        by: Option<Combine>,
    ) -> bool {
        let at = index.var().map(|v| (array, v));
        if !at.is_some_and(|at| self.inner_loop.joined.contains(&at)) || self.runs.is_some() {
            return false;
        }
        let (Some(proof), Some(at)) = (self.proof(array, index), self.first(index)) else {
            return false;
        };
        let mut value = self.operand(value);
        if let Some(Combine::Op(op)) = by {
            let ty = self.region.program.ty(array).elem();
            let held = self.add("held", Shape::of(ty, self.lanes), Origin::Let);
            let under = self.those_there(index);
            self.push(StmtKind::Load {
                to: held,
                from: Memory::Array(array),
                at,
                under,
                proof,
            });
            value = self.op("joined", ty, op, &[held.into(), value]);
        }
        let under = self.mask();
        self.push(StmtKind::Store {
            into: Memory::Array(array),
            at,
            value,
            under,
            lanes: self.lanes,
            proof,
        });
        true
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
                lower.push(StmtKind::Gather {
                    to,
                    array,
                    at,
                    apart: None,
                });
                old.push(to.into());
            }
            let joined = lower.call(f, &old, values);
            for (array, value) in arrays.iter().zip(joined) {
                lower.put((*array, at), value, None, None);
            }
        });
    }

    /// What happens where all arrays have an index, step by step. Each array is asked in a condition of its own:
    /// compilers then know within that no access of it needs to be checked, which they do not from conditions that are
    /// joined.
    fn where_all_have(&mut self, arrays: &[Var], at: Operand, what: impl FnOnce(&mut Self)) {
        let mut conditions: Vec<Operand> = self.mask().into_iter().collect();
        for array in arrays {
            let to = self.add("length", Shape::scalar(Ty::U64), Origin::Let);
            let array = *array;
            self.push(StmtKind::Length { to, array });
            let inside = self.op("inside", Ty::Bool, Op::Lt, &[at, to.into()]);
            conditions.push(inside);
        }
        let outer = std::mem::take(&mut self.out);
        what(self);
        for cond in conditions.into_iter().rev() {
            let then = std::mem::take(&mut self.out);
            self.push(StmtKind::If {
                cond,
                then,
                other: Vec::new(),
            });
        }
        let inner = self.body(outer);
        self.out.extend(inner);
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
