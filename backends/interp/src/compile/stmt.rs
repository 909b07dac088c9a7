//! Statements and regions.

use super::Compiler;
use super::groups::Move;
use crate::code::{Fast, Instr, Op3, Rare, Reg, TrapSite};
use crate::counts::Counted;
use loop_lang::ir::{
    Atom, Combine, GroupId, MAX_REGION_DEPTH, Place, RateId, Section, Stmt, StmtKind, TrapId, Var,
};
use loop_lang::op::Op;

impl Compiler<'_> {
    pub(super) fn rare(&mut self, rare: Rare) {
        let i = self.code.rare.len() as u32;
        self.code.rare.push(rare);
        self.emit(Instr::Rare(i));
    }

    /// Compiles statements at a depth of regions.
    pub(super) fn stmts(&mut self, stmts: &[Stmt], depth: usize) -> Result<(), String> {
        if depth > MAX_REGION_DEPTH {
            return Err("regions are nested too deeply".into());
        }
        stmts.iter().try_for_each(|s| {
            self.stmt(s, depth)?;
            self.watch_stmt(s);
            Ok(())
        })
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> Result<(), String> {
        match &stmt.kind {
            StmtKind::Let(v, op, args) => {
                self.count(|p| Counted::Op(p.comb(stmt.comb).name.clone(), *op));
                return self.op(*v, *op, args);
            }
            StmtKind::Assign(v, a) => {
                if depth > 0 {
                    return Err("an assignment in a region".into());
                }
                let a = self.operand(*a);
                self.assign(*v, a);
            }
            StmtKind::Carry(v, a) => self.carry(*v, *a),
            StmtKind::Scan {
                results,
                group,
                elems,
            } => return self.scan(stmt, *group, results, elems),
            StmtKind::NewArray(v, len) => self.new_array(stmt, *v, *len, None)?,
            StmtKind::FillArray(v, len, x) => self.new_array(stmt, *v, *len, Some(*x))?,
            StmtKind::CopyArray(v, from) => {
                let read = self.counter_with(|p| Counted::Read(p.name(*from).into()));
                let written = self.counter_with(|p| Counted::Write(p.name(*v).into()));
                let counts = read.into_iter().chain(written).collect();
                let (slot, from, ty) = (self.slot(*v)?, self.array(*from)?, self.elem(*v));
                self.rare(Rare::CopyArray {
                    comb: stmt.comb,
                    slot,
                    from,
                    ty,
                    counts,
                });
            }
            StmtKind::ReadArray(d, a, i) => {
                self.count(|p| Counted::Read(p.name(*a).into()));
                let i = self.operand(*i);
                let instr = match self.array(*a)? {
                    crate::code::Array::Param(array) => Instr::ReadParam { d: d.0, array, i },
                    crate::code::Array::Slot(array) => Instr::ReadSlot { d: d.0, array, i },
                };
                self.emit(instr);
            }
            StmtKind::WriteArray(a, i, x) => {
                self.count(|p| Counted::Write(p.name(*a).into()));
                let (array, i, x) = (self.slot(*a)?, self.operand(*i), self.operand(*x));
                self.emit(Instr::Write { array, i, x });
            }
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                combine,
            } => {
                self.scatter(stmt, arrays, *index, values, *combine)?;
            }
            StmtKind::SortArrays(arrays, rows) => {
                let slots = arrays.iter().map(|a| self.slot(*a));
                let slots = slots.collect::<Result<_, _>>()?;
                let rows = self.operand(*rows);
                self.rare(Rare::Sort {
                    comb: stmt.comb,
                    slots,
                    rows,
                });
            }
            StmtKind::ArrayLength(d, a) => {
                let array = self.array(*a)?;
                self.rare(Rare::Length { d: d.0, array });
            }
            StmtKind::SliceArray(_, a, len) => {
                let (slot, len) = (self.slot(*a)?, self.operand(*len));
                self.rare(Rare::Truncate { slot, len });
            }
            StmtKind::Trap {
                unless,
                trap,
                payload,
            } => self.trap(*unless, *trap, payload),
            StmtKind::If {
                cond,
                then,
                other,
                results,
            } => {
                let c = self.operand(*cond);
                let to_other = self.emit(Instr::Unless { c, to: 0 });
                self.stmts(then, depth + 1)?;
                results.iter().for_each(|(v, a, _)| self.copy(*v, *a));
                let to_end = self.emit(Instr::Jump { to: 0 });
                self.land(to_other);
                self.stmts(other, depth + 1)?;
                results.iter().for_each(|(v, _, a)| self.copy(*v, *a));
                self.land(to_end);
            }
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                state.iter().for_each(|(v, a)| self.copy(*v, *a));
                let outermost = self.escapes.is_none();
                self.escapes.get_or_insert_default();
                let top = self.here();
                self.stmts(test, depth + 1)?;
                let c = self.operand(*cond);
                let exit = self.emit(Instr::Unless { c, to: 0 });
                self.stmts(body, depth + 1)?;
                let moves: Vec<Move> = state
                    .iter()
                    .zip(next)
                    .map(|((v, _), a)| Move::Register {
                        d: v.0,
                        a: self.operand(*a),
                    })
                    .collect();
                self.moves(&moves);
                self.emit(Instr::Turn { to: top });
                self.land(exit);
                if outermost {
                    for jump in self.escapes.take().unwrap_or_default() {
                        self.land(jump);
                    }
                }
            }
        }
        Ok(())
    }

    fn copy(&mut self, v: Var, a: Atom) {
        let a = self.operand(a);
        self.emit(Instr::Copy { d: v.0, a });
    }

    /// Returns the counter for a statement that counts its own events.
    fn counter_with(&mut self, what: impl FnOnce(&loop_lang::Loop) -> Counted) -> Option<u32> {
        if self.mode.counting {
            self.counter(what(self.program))
        } else {
            None
        }
    }

    fn op(&mut self, v: Var, op: Op, args: &[Atom]) -> Result<(), String> {
        let regs: Vec<Reg> = args.iter().map(|a| self.operand(*a)).collect();
        // The first operand of a select is its condition. The arms have the operand type.
        let about = if op == Op::Select {
            args.last()
        } else {
            args.first()
        };
        let Some(from) = about.map(|a| self.program.atom_ty(*a)) else {
            return Err(format!("{} without operands", op.name()));
        };
        let (d, to) = (v.0, self.elem(v));
        let instr = match *regs.as_slice() {
            [a] if op == Op::Copy => Instr::Copy { d, a },
            [a] => Instr::Op1 { op, from, to, d, a },
            [a, b] => match Fast::of(op, from) {
                Some(op) => Instr::Fast { op, d, a, b },
                None => Instr::Op2 {
                    op,
                    from,
                    to,
                    d,
                    a,
                    b,
                },
            },
            [c, a, b] if op == Op::Select => Instr::Select { d, c, a, b },
            [a, b, c] => {
                self.code.ops3.push(Op3 {
                    op,
                    from,
                    to,
                    d,
                    args: [a, b, c],
                });
                Instr::Op3(self.code.ops3.len() as u32 - 1)
            }
            _ => return Err(format!("{} with {} operands", op.name(), regs.len())),
        };
        self.emit(instr);
        Ok(())
    }

    /// Emits an update, at the end of the block if all edges out of it commit the update.
    fn assign(&mut self, v: Var, a: Reg) {
        let Some(change) = self.update(v, a) else {
            return;
        };
        match self.scope {
            Some(scope) if self.waits[scope as usize] => self.later(scope, change),
            _ => self.moves_at_end.push(change),
        }
    }

    fn scan(
        &mut self,
        stmt: &Stmt,
        group: GroupId,
        results: &[Var],
        elems: &[Atom],
    ) -> Result<(), String> {
        let Some(data) = self.program.groups.get(group.index()) else {
            return Err("a scan of no group".into());
        };
        if self.code.groups[group.index()]
            .as_ref()
            .is_none_or(|g| g.lanes)
        {
            return Err("a scan of a group whose order is not prefix".into());
        }
        if let Some(Combine::Op(op)) = data.combine {
            self.count(|p| Counted::Op(p.comb(stmt.comb).name.clone(), op));
        }
        let Some(counter) = self.counter_of(group.0) else {
            return Err("a scan outside of loops".into());
        };
        let elems = elems.iter().map(|a| self.operand(*a)).collect();
        let regs = results.iter().map(|v| v.0).collect();
        self.rare(Rare::Scan {
            group: group.0,
            counter,
            elems,
            results: regs,
        });
        for (v, r) in data.vars.clone().iter().zip(results) {
            self.assign(*v, r.0);
        }
        Ok(())
    }

    fn new_array(
        &mut self,
        stmt: &Stmt,
        v: Var,
        len: Atom,
        value: Option<Atom>,
    ) -> Result<(), String> {
        let (slot, ty, len) = (self.slot(v)?, self.elem(v), self.operand(len));
        let count = value.and_then(|_| self.counter_with(|p| Counted::Write(p.name(v).into())));
        let value = value.map(|a| self.operand(a));
        self.rare(Rare::New {
            comb: stmt.comb,
            slot,
            ty,
            len,
            value,
            count,
        });
        Ok(())
    }

    fn scatter(
        &mut self,
        stmt: &Stmt,
        arrays: &[Var],
        index: Atom,
        values: &[Atom],
        combine: Option<Combine>,
    ) -> Result<(), String> {
        for a in arrays {
            self.count(|p| Counted::Write(p.name(*a).into()));
            if combine.is_some() {
                self.count(|p| Counted::Read(p.name(*a).into()));
            }
        }
        if let Some(Combine::Op(op)) = combine {
            self.count(|p| Counted::Op(p.comb(stmt.comb).name.clone(), op));
        }
        let slots = arrays
            .iter()
            .map(|a| self.slot(*a))
            .collect::<Result<_, _>>()?;
        let index = self.operand(index);
        let values = values.iter().map(|a| self.operand(*a)).collect();
        let join = combine.map(|c| self.combine(c, arrays.first().copied()));
        self.rare(Rare::Scatter {
            slots,
            index,
            values,
            join,
        });
        Ok(())
    }

    /// The loop rates around the current block, outermost first, with their counters and bounds.
    ///
    /// A rate's `nest` and `done` lie outside of its iterations.
    fn nest(&mut self) -> Vec<(RateId, Reg, Reg)> {
        let program = self.program;
        let Some(Place::At { rate, section, .. }) = self.blocks.get(self.block).map(|b| b.place)
        else {
            return Vec::new();
        };
        let parent = |r: RateId| program.rate(r).kind.parent();
        let is_outside = matches!(section, Section::Nest | Section::Done);
        let first = if is_outside { parent(rate) } else { Some(rate) };
        let mut nest = Vec::new();
        for rate in std::iter::successors(first, |r| parent(*r)) {
            let kind = program.rate(rate).kind;
            if let (Some(counter), Some(bound)) = (kind.counter(), kind.bound()) {
                let [counter, bound] = [Atom::Var(counter), bound].map(|a| self.operand(a));
                nest.push((rate, counter, bound));
            }
        }
        nest.reverse();
        nest
    }

    /// Traps in functions are ignored, but still end a `while`.
    fn trap(&mut self, unless: Atom, trap: TrapId, payload: &[Atom]) {
        let ok = self.operand(unless);
        if !self.in_function {
            let payload = payload
                .iter()
                .map(|a| (self.program.atom_ty(*a), self.operand(*a)))
                .collect();
            let nest = self.nest();
            self.code.traps.push(TrapSite {
                trap,
                payload,
                nest,
            });
            self.emit(Instr::Check {
                ok,
                site: self.code.traps.len() as u32 - 1,
            });
        }
        if self.escapes.is_some() {
            let jump = self.emit(Instr::Unless { c: ok, to: 0 });
            self.escapes.get_or_insert_default().push(jump);
        }
    }
}
