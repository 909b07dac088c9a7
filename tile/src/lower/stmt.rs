//! Statements, one or several steps at a time.

use super::{Lower, args};
use crate::ir::{Memory, Operand, Origin, Proof, Shape, StmtKind};
use crate::region::Role;
use crate::schedule::Admit;
use loop_lang::ir::{Atom, Stmt, StmtKind as LoopStmt, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Lower<'_, '_> {
    /// Writes a statement. Regions are nested no deeper than the judge allows, so this may call itself.
    pub(super) fn stmt(&mut self, s: &Stmt) {
        if self.is_known(s) || !self.is_done(s) {
            return;
        }
        self.comb = s.comb;
        match &s.kind {
            LoopStmt::Let(v, op, of) => self.let_op(*v, *op, of),
            LoopStmt::ReadArray(v, a, i) => self.read(*v, *a, *i),
            LoopStmt::WriteArray(a, i, x) => self.write_array(*a, *i, *x),
            LoopStmt::ArrayLength(v, a) => {
                let array = self.region.owner(*a);
                let to = self.define(*v, 1);
                self.push(StmtKind::Length { to, array });
            }
            LoopStmt::Assign(v, a) => self.assign(*v, *a),
            LoopStmt::Trap { unless, .. } => self.trap(*unless),
            LoopStmt::If {
                cond,
                then,
                other,
                results,
            } => self.arms(*cond, (then, other), results),
            LoopStmt::While { .. } => self.turns(s),
            LoopStmt::ScatterArray {
                arrays,
                index,
                values,
                combine,
            } => self.scatter(arrays, *index, values, *combine),
            LoopStmt::SortArrays(arrays, rows) => {
                let arrays = arrays.iter().map(|a| self.region.owner(*a)).collect();
                let rows = self.operand(*rows);
                self.push(StmtKind::Sort { arrays, rows });
            }
            LoopStmt::Scan {
                results,
                group,
                elems,
            } => self.scan(results, *group, elems),
            LoopStmt::Carry(v, start) => {
                let start = self.operand(*start);
                match self.carried.get(v) {
                    Some(carried) if !self.is_local(*v) => self.set(*carried, start),
                    _ => self.start_local(*v, start),
                }
            }
            // No innermost loop has these.
            LoopStmt::NewArray(..)
            | LoopStmt::FillArray(..)
            | LoopStmt::CopyArray(..)
            | LoopStmt::SliceArray(..) => {}
        }
    }

    /// The value that a variable of the loop is from here on.
    pub(super) fn define(&mut self, v: Var, lanes: u32) -> crate::ir::Value {
        let program = self.region.program;
        let shape = Shape::of(program.ty(v).elem(), lanes);
        let to = self.add(program.name(v), shape, Origin::Let);
        self.now.insert(v, to.into());
        to
    }

    fn let_op(&mut self, v: Var, op: Op, from: &[Atom]) {
        if self.is_beyond(v) {
            return;
        }
        // What runs is next what its elements have come to.
        if self.run_to.contains(&v) || self.follows(v, op, from) || self.settles(v, op, from) {
            return;
        }
        let fast = self.fast_min_max.iter().find(|e| e.next == v).copied();
        if let Some(extremum) = fast.filter(|_| self.again.is_none()) {
            return self.beat(v, extremum);
        }
        let of: Vec<Operand> = from.iter().map(|a| self.operand(*a)).collect();
        let to = self.define(v, self.lanes_of(&of));
        self.push(StmtKind::Let {
            to,
            op,
            args: args(&of),
        });
        // What has a capacity goes on from where that begins.
        if !self.capacities.begins_at(v) {
            self.know_first(v, op, from);
        }
    }

    /// The entry by which an access cannot miss.
    pub(super) fn proof(&self, array: Var, index: Atom) -> Option<Proof> {
        self.proofs.get(&(array, index.var()?)).copied()
    }

    /// The first place of an access in step; none for a vector that is not at the counter.
    pub(super) fn first(&mut self, index: Atom) -> Option<Operand> {
        match (index.var(), self.lanes) {
            (Some(v), _) if v == self.inner_loop.counter => self.at,
            (_, 1) => Some(self.operand(index)),
            // Of a count of the rate itself every lane is another one, and of one of a subrate that admits all.
            (Some(v), _) if self.inner_loop.roles.get(&v) == Some(&Role::Count { sub: None }) => {
                Some(self.operand(index))
            }
            (Some(v), _)
                if matches!(self.inner_loop.roles.get(&v), Some(Role::Count { .. }))
                    && self.mask().is_none() =>
            {
                Some(self.operand(index))
            }
            (Some(v), _) => self.firsts.get(&v).copied(),
            _ => None,
        }
    }

    /// Whether the neighbours of a vector lie the other way round.
    fn goes_down(&self, index: Atom) -> bool {
        self.lanes > 1 && index.var().is_some_and(|v| self.is_down(v))
    }

    /// The place of a vector's last lane, where neighbours lie the other way round: the lowest.
    fn lowest(&mut self, first: Operand) -> Operand {
        let back = Lower::u64(u64::from(self.lanes - 1));
        self.op("lowest", Ty::U64, Op::Sub, &[first, back])
    }

    /// The lanes of a vector, the last one first.
    fn reverse(&mut self, name: &str, of: Operand) -> Operand {
        let shape = self.shape(of);
        if shape.is_scalar() {
            return of;
        }
        let to = self.add(name, shape, Origin::Let);
        self.push(StmtKind::Reverse { to, of });
        to.into()
    }

    fn read(&mut self, v: Var, a: Var, index: Atom) {
        let array = self.region.owner(a);
        if self.read_across(v, array, index) {
            return;
        }
        if let Some(proof) = self.proof(array, index)
            && let Some(first) = self.first(index)
            && self.runs.is_none()
        {
            let down = self.goes_down(index);
            let at = if down { self.lowest(first) } else { first };
            let to = self.define(v, self.lanes);
            let under = self.those_there(index);
            self.push(StmtKind::Load {
                to,
                from: Memory::Array(array),
                at,
                under,
                proof,
            });
            if down {
                let turned = self.reverse(self.region.program.name(v), to.into());
                self.now.insert(v, turned);
            }
            return;
        }
        let at = self.operand(index);
        let to = self.define(v, self.shape(at).lanes);
        self.push(StmtKind::Gather { to, array, at });
    }

    fn write_array(&mut self, a: Var, index: Atom, x: Atom) {
        let (array, value) = (self.region.owner(a), self.operand(x));
        let count = index.var().and_then(|v| self.inner_loop.roles.get(&v));
        let compact = self.subs.last().is_some_and(|s| s.how == Admit::Compact);
        let under = self.mask();
        match (self.proof(array, index), under) {
            (Some(proof), Some(under)) if compact && matches!(count, Some(Role::Count { .. })) => {
                let at = self.operand(index);
                self.push(StmtKind::Compress {
                    into: Memory::Array(array),
                    at,
                    value,
                    under,
                    proof,
                });
            }
            (Some(proof), under) => {
                let Some(first) = self.first(index) else {
                    return;
                };
                let (at, value, under) = match self.goes_down(index) {
                    false => (first, value, under),
                    true => {
                        let under = under.map(|mask| self.reverse("under", mask));
                        (self.lowest(first), self.reverse("down", value), under)
                    }
                };
                self.push(StmtKind::Store {
                    into: Memory::Array(array),
                    at,
                    value,
                    under,
                    lanes: self.lanes,
                    proof,
                });
            }
            // Step by step; or each lane in turn, where nothing is known of what a row's array has capacity for.
            (None, under) => {
                let at = self.operand(index);
                self.put((array, at), value, None, under);
            }
        }
    }

    fn trap(&mut self, unless: Atom) {
        if self.answer(unless) == Some(true) {
            return;
        }
        let mut unless = self.operand(unless);
        if unless == Const::bool(true).into() {
            return;
        }
        if let Some(mask) = self.mask() {
            let out = self.op("out", Ty::Bool, Op::Not, &[mask]);
            unless = self.op("ok", Ty::Bool, Op::Or, &[out, unless]);
        }
        self.push(StmtKind::Trap { unless });
    }

    fn assign(&mut self, v: Var, a: Atom) {
        let (role, mask) = (self.inner_loop.roles.get(&v).copied(), self.mask());
        if v == self.inner_loop.counter || self.fold_run(v, a) {
            return;
        }
        if self.lanes == 1 {
            let (carried, waits) = (self.carried[&v], self.next.get(&v).copied());
            let target = waits.unwrap_or(carried);
            let new = self.operand(a);
            let value = self.select(mask, new, target.into());
            self.set(target, value);
            return;
        }
        match role {
            Some(Role::Join(op, x)) => {
                let (sums, x) = (self.next[&v], self.operand(x));
                let ty = self.tile.shape(sums).ty;
                let name = format!("{}_new", self.region.program.name(v));
                let new = self.op(&name, ty, op, &[sums.into(), x]);
                let value = self.select(mask, new, sums.into());
                self.set(sums, value);
            }
            Some(Role::Lanes(_)) => {
                let (new, old) = (self.operand(a), self.operand(Atom::Var(v)));
                let value = self.select(mask, new, old);
                // What reads it sees what it was: that was loaded before.
                self.keep_lane(v, self.lanes_in(v), value);
            }
            // Counts go up when the vector is done, what runs has gone on where what it is joined with came to be;
            // there is nothing serial in vectors.
            Some(
                Role::Count { .. }
                | Role::Running { .. }
                | Role::Scan(_)
                | Role::Delay
                | Role::Serial,
            )
            | None => {}
        }
    }
}
