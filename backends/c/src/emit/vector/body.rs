//! The function of a loop in vectors.

use super::fit::Vectors;
use super::pack::Width;
use crate::emit::plan::Plan;
use crate::emit::unit::Unit;
use crate::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;

/// The body of a loop in vectors, being written.
pub(super) struct Body<'u, 'a> {
    pub unit: &'u mut Unit<'a>,
    pub plan: &'u Plan<'u>,
    pub vectors: &'u Vectors,
    pub width: Width,
    /// How far apart elements of a vector are.
    pub apart: u64,
    /// Truth that needs no mask.
    pub known: FxHashMap<Var, bool>,
}

impl Vectors {
    /// Elements in a vector.
    pub fn elements(&self, unit: &Unit) -> usize {
        Width(self.widest).elements(unit.helpers)
    }
}

impl<'u, 'a> Body<'u, 'a> {
    /// The body of a loop.
    pub fn of(unit: &'u mut Unit<'a>, plan: &'u Plan, vectors: &'u Vectors) -> Body<'u, 'a> {
        Body {
            apart: unit.program.grid(),
            unit,
            plan,
            vectors,
            width: Width(vectors.widest),
            known: FxHashMap::default(),
        }
    }

    /// The vector type of a variable's values; of truth, the mask.
    pub fn vector_of(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Bool => self.width.mask(self.unit.helpers),
            _ => self.width.vector(self.unit.helpers, ty),
        }
    }

    /// Whether a value is the same for all elements.
    pub fn is_uniform(&self, a: Atom) -> bool {
        match a {
            Atom::Const(_) => true,
            Atom::Var(v) => self.plan.sweep.scalars.contains(&v),
        }
    }

    /// The vector of a value.
    pub fn value(&mut self, a: Atom) -> String {
        let ty = self.unit.program.atom_ty(a);
        if a == Atom::Var(self.plan.sweep.counter) {
            let counter = self.unit.names.var(self.plan.sweep.counter).to_string();
            let all = self.width.all(self.unit.helpers, ty);
            let positions = self.width.positions(self.unit.helpers);
            let apart = self.apart;
            return format!("({all}({counter}) + {positions}() * {apart})");
        }
        if !self.is_uniform(a) {
            return self.unit.atom(a);
        }
        let scalar = self.unit.atom(a);
        match ty {
            Ty::Bool => {
                let whole = super::pack::signed(self.width.0);
                let all = self.width.all(self.unit.helpers, whole);
                format!("{all}(-({}){scalar})", whole.name())
            }
            _ => {
                let all = self.width.all(self.unit.helpers, ty);
                format!("{all}({scalar})")
            }
        }
    }

    /// Defines the vector of a variable.
    pub fn define(&mut self, v: Var, value: &str) {
        let vector = self.vector_of(facts::elem(self.unit.program, v));
        let name = self.unit.names.var(v).to_string();
        self.unit.line(format!("const {vector} {name} = {value};"));
    }

    /// A statement, if it does more than define what nobody wants.
    pub fn wanted(&mut self, s: &Stmt) {
        let wanted = &self.vectors.needed;
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
                let results = results.iter().filter(|(v, ..)| wanted.contains(v));
                let known = cond.var().and_then(|v| self.known.get(&v).copied());
                if let Some(truth) = known {
                    let arm = if truth { then } else { other };
                    arm.iter().for_each(|s| self.wanted(s));
                    for (v, a, b) in results {
                        let value = self.value(if truth { *a } else { *b });
                        self.define(*v, &value);
                    }
                    return;
                }
                then.iter().chain(other).for_each(|s| self.wanted(s));
                for (v, a, b) in results {
                    self.pick(*v, *cond, *a, *b);
                }
            }
            StmtKind::ArrayLength(v, a) => {
                let all = self.width.all(self.unit.helpers, Ty::U64);
                let length = self.unit.length(*a);
                self.define(*v, &format!("{all}({length})"));
            }
            // Nothing else computes.
            _ => {}
        }
    }

    /// Defines a variable by what memory holds.
    pub fn take(&mut self, v: Var, loaded: &str) {
        let ty = facts::elem(self.unit.program, v);
        match ty {
            Ty::Bool => {
                let mask = self.width.mask(self.unit.helpers);
                let value = format!("-__builtin_convertvector({loaded}, {mask})");
                self.define(v, &value);
            }
            // gcc would read the same memory again for each use, if it were not told to keep it in a register.
            _ if self.unit.helpers.target.vector_bytes() == 32 && ty.size() == self.width.0 => {
                let vector = self.width.vector(self.unit.helpers, ty);
                let name = self.unit.names.var(v).to_string();
                self.unit.line(format!("{vector} {name} = {loaded};"));
                self.unit.line(format!("__asm__(\"\" : \"+x\"({name}));"));
            }
            _ => self.define(v, loaded),
        }
    }
}
