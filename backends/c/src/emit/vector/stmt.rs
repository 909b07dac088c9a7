//! Statements on vectors: what a loop reads, computes, writes, and updates under a mask.

use super::body::Body;
use super::fit::Update;
use crate::emit::ops::join;
use crate::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;

impl<'a> Body<'_, 'a> {
    pub fn stmt(&mut self, s: &Stmt) {
        let vectors = self.vectors;
        let Some(slice) = self.pass.and_then(|g| vectors.slices.get(&g)) else {
            match self.fused {
                true => self.wanted(s, &vectors.all_needed),
                false if vectors.is_sliced(s) => {}
                false => self.wanted(s, &vectors.needed),
            }
            return;
        };
        match &s.kind {
            StmtKind::Let(v, ..) if self.fast && slice.extremum.is_some_and(|e| e.0 == *v) => {}
            StmtKind::Assign(v, _) if self.fast && *v == slice.var => {
                if let (Some((_, op, x)), Some(g)) = (slice.extremum, self.pass) {
                    let lane = self.lane(g, *v);
                    self.take_extreme(&lane, *v, op, x);
                }
            }
            StmtKind::Assign(v, _) if *v != slice.var && vectors.is_sliced(s) => {}
            _ if self.rest => self.wanted(s, &slice.with_rest),
            StmtKind::WriteArray(..) | StmtKind::Trap { .. } => {}
            StmtKind::Assign(v, _) if *v != slice.var => {}
            _ => self.wanted(s, &slice.needed),
        }
    }

    /// A statement, if it does more than define what nobody wants.
    pub fn wanted(&mut self, s: &Stmt, wanted: &FxHashSet<Var>) {
        let (mut defines, mut any) = (false, false);
        facts::each_stmt(std::slice::from_ref(s), &mut |s| {
            facts::each_def(s, &mut |v| {
                defines = true;
                any |= wanted.contains(&v);
            });
        });
        if defines && !any {
            return;
        }
        self.unit.say_combinator(s.comb);
        match &s.kind {
            StmtKind::Let(v, op, args) => self.let_op(*v, *op, args),
            StmtKind::If {
                cond,
                then,
                other,
                results,
            } => {
                let known = cond.var().and_then(|v| self.known.get(&v).copied());
                if let Some(truth) = known {
                    let arm = if truth { then } else { other };
                    arm.iter().for_each(|s| self.wanted(s, wanted));
                    for (v, a, b) in results.iter().filter(|(v, ..)| wanted.contains(v)) {
                        let value = self.value(if truth { *a } else { *b });
                        self.define(*v, &value);
                    }
                    return;
                }
                then.iter()
                    .chain(other)
                    .for_each(|s| self.wanted(s, wanted));
                for (v, a, b) in results.iter().filter(|(v, ..)| wanted.contains(v)) {
                    self.pick(*v, *cond, *a, *b);
                }
            }
            StmtKind::ReadArray(v, a, _) => self.read(*v, *a),
            StmtKind::WriteArray(a, i, x) => self.write_array(*a, *i, *x),
            StmtKind::Assign(v, a) => self.assign(*v, *a),
            StmtKind::ArrayLength(v, a) => {
                let all = self.shape.all(self.unit.helpers, Ty::U64);
                let length = self.unit.length(*a);
                self.define(*v, &format!("{all}({length})"));
            }
            StmtKind::Trap { unless, .. } => {
                let ok = self.value(*unless);
                let here = self.mask().map_or(String::new(), |m| format!(" & {m}"));
                self.unit.line(format!("lf_stuck |= ~{ok}{here};"));
            }
            _ => {}
        }
    }

    fn read(&mut self, v: Var, a: Var) {
        let ty = facts::elem(self.unit.program, v);
        let vector = self.shape.vector(self.unit.helpers, ty);
        let counter = self.unit.names.var(self.plan.sweep.counter).to_string();
        let data = self.unit.array(a);
        self.take(v, &format!("*(const {vector}_at *)({data} + {counter})"));
    }

    /// Defines a variable by what memory holds.
    pub fn take(&mut self, v: Var, loaded: &str) {
        let ty = facts::elem(self.unit.program, v);
        match ty {
            Ty::Bool => {
                let mask = self.shape.mask(self.unit.helpers);
                let value = format!("-__builtin_convertvector({loaded}, {mask})");
                self.define(v, &value);
            }
            // gcc would read the same memory again for each use, if it were not told to keep it in a register.
            _ if self.unit.helpers.target.vector_bytes() == 32
                && ty.size() == self.shape.0
                && (self.pass.is_none() || self.rest) =>
            {
                let vector = self.shape.vector(self.unit.helpers, ty);
                let name = self.unit.names.var(v).to_string();
                self.unit.line(format!("{vector} {name} = {loaded};"));
                self.unit.line(format!("__asm__(\"\" : \"+x\"({name}));"));
            }
            _ => self.define(v, loaded),
        }
    }

    /// A value as it is in memory.
    fn stored(&mut self, x: Atom) -> (Ty, String) {
        let (ty, value) = (self.unit.program.atom_ty(x), self.value(x));
        let vector = self.shape.vector(self.unit.helpers, ty);
        match ty {
            Ty::Bool => (ty, format!("__builtin_convertvector(-{value}, {vector})")),
            _ => (ty, value),
        }
    }

    fn write_array(&mut self, a: Var, i: Atom, x: Atom) {
        let (data, index) = (self.unit.array(a), self.unit.atom(i));
        let (ty, value) = self.stored(x);
        if self.subs.is_empty() {
            let vector = self.shape.vector(self.unit.helpers, ty);
            self.unit
                .line(format!("*({vector}_at *)({data} + {index}) = {value};"));
            return;
        }
        let bits = self.kept(self.subs.last().copied());
        let (pack, int) = self.shape.pack(self.unit.helpers, ty.size());
        self.unit.line(format!(
            "{pack}((void *)({data} + {index}), ({int})({value}), {bits});"
        ));
    }

    fn assign(&mut self, v: Var, a: Atom) {
        if v == self.plan.sweep.counter {
            return;
        }
        let (ty, mask) = (facts::elem(self.unit.program, v), self.mask());
        let update = self.vectors.updates.get(&v).copied();
        let (target, value) = match update {
            // Counts are read as they were at the start: they are updated in the end.
            Some(Update::Count) => return,
            Some(Update::Join(op, x)) => {
                let (sum, x) = (self.sum(v), self.value(x));
                let helpers = &mut *self.unit.helpers;
                let joined = join(op, &sum, &x, || self.shape.extremum(helpers, op, ty));
                (sum, joined)
            }
            None => {
                let g = self.unit.facts.local_group(self.unit.program, v);
                let Some((g, ..)) = g else {
                    return;
                };
                let value = self.value(a);
                (self.lane(g, v), value)
            }
        };
        let old = match update {
            None => self.unit.names.var(v).to_string(),
            _ => target.clone(),
        };
        let value = match mask {
            Some(mask) => {
                let pick = self.shape.pick(self.unit.helpers, ty);
                format!("{pick}({mask}, {value}, {old})")
            }
            None => value,
        };
        self.unit.line(format!("{target} = {value};"));
    }
}
