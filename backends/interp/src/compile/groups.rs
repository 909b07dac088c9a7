//! Carried groups: the location of their local parts, joins, reads and updates.

use super::Compiler;
use crate::code::{Fast, GroupCode, Instr, Join, JoinOp, LateLane, Rare, Reg};
use loop_lang::ir::{Atom, Combine, Group, GroupId, Order, Place, Section, Var};
use loop_lang::state::Layout;
use rustc_hash::FxHashSet;

/// A change that an update makes to the machine.
#[derive(Clone, Copy)]
pub(super) enum Move {
    /// A register takes a value.
    Register { d: Reg, a: Reg },
    /// A lane takes a value.
    Lane {
        lanes: u32,
        counter: Reg,
        mask: u32,
        a: Reg,
    },
}

impl Compiler<'_> {
    /// Describes every group with a local part, and finds the guards that handle it.
    pub(super) fn groups(&mut self, layout: &Layout) -> Result<(), String> {
        for (i, group) in self.program.groups.iter().enumerate() {
            let width = match group.order {
                Order::Prefix(width) => Some(width),
                order => order.lanes(),
            };
            let code = match width {
                Some(width) => self.local_group(layout, i, group, width)?,
                None => None,
            };
            self.code.groups.push(code);
        }
        for (guard, rate) in layout.resume.iter().enumerate() {
            debug_assert_eq!(self.scopes.of_rate(*rate), guard as u32);
            for i in 0..self.program.groups.len() {
                let Some(lanes) = self.code.groups[i].as_ref().map(|g| g.lanes) else {
                    continue;
                };
                let step = self.steps.at(GroupId::new(i), *rate);
                let step = step.map(|r| self.scopes.of_rate(r));
                let site = &mut self.code.guards[guard];
                let below =
                    |s: &u32| *s != guard as u32 && self.scopes.within(Some(guard as u32), *s);
                let Some(step) = step.filter(below) else {
                    site.joins.push(i as u32);
                    continue;
                };
                if self.waits[step as usize] && !lanes {
                    site.waiting.push((i as u32, step));
                }
            }
        }
        Ok(())
    }

    /// Describes a group. Returns `None` if a pass has dropped it.
    fn local_group(
        &mut self,
        layout: &Layout,
        index: usize,
        group: &Group,
        width: u32,
    ) -> Result<Option<GroupCode>, String> {
        let name = group.vars.first().map_or("", |v| self.program.name(*v));
        if !width.is_power_of_two() || group.identity.len() != group.vars.len() {
            let fault = "lacks an identity, or its width is no power of two";
            return Err(format!("group {name} {fault}"));
        }
        let Some(combine) = group.combine else {
            return Err(format!("group {name} has an order but no combine operator"));
        };
        let words = group.vars.iter().map(|v| layout.word(*v).map(|w| w as u32));
        let Some(words) = words.collect::<Option<Vec<u32>>>() else {
            return Ok(None);
        };
        let id = GroupId::new(index);
        let code = GroupCode {
            vars: group.vars.iter().map(|v| v.0).collect(),
            words,
            local: (0..group.vars.len())
                .map(|i| layout.local(id, group, i) as u32)
                .collect(),
            identity: group.identity.iter().map(|a| self.operand(*a)).collect(),
            width,
            lanes: group.order.lanes().is_some(),
            run: match group.order {
                Order::Runs(steps) => Some(u64::from(steps)),
                _ => None,
            },
            join: self.combine(combine, group.vars.first().copied()),
        };
        for (i, (v, local)) in group.vars.iter().zip(&code.local).enumerate() {
            self.local.insert(*v, (index as u32, i as u32));
            if !code.lanes {
                self.code.current.push((v.0, self.elem(*v), *local));
            }
        }
        Ok(Some(code))
    }

    /// Returns the join of values like those of `var`. A function's entry is patched later.
    pub(super) fn combine(&self, combine: Combine, var: Option<Var>) -> Join {
        match combine {
            Combine::Op(op) => {
                let ty = var.map_or(loop_lang::Ty::U64, |v| self.elem(v));
                Join::Op(JoinOp {
                    op,
                    ty,
                    fast: Fast::of(op, ty),
                })
            }
            Combine::Fn(f) => {
                let params = self.program.functions[f.index()]
                    .params
                    .iter()
                    .map(|p| p.0)
                    .collect();
                Join::Function {
                    function: f.0,
                    params,
                }
            }
        }
    }

    /// Returns the register of a local group's variable, as it is read in the current block.
    pub(super) fn read_local(&mut self, v: Var, group: u32, i: u32) -> Reg {
        let lanes = self.code.groups[group as usize]
            .as_ref()
            .is_some_and(|g| g.lanes);
        if !lanes {
            return v.0;
        }
        if let Some(Move::Lane {
            lanes,
            counter,
            mask,
            ..
        }) = self.lane(group, i, 0)
        {
            let d = self.temp();
            self.emit(Instr::GetLane {
                d,
                lanes,
                counter,
                mask,
            });
            return d;
        }
        let to: Vec<Reg> = self.program.groups[group as usize]
            .vars
            .iter()
            .map(|_| self.temp())
            .collect();
        let d = to[i as usize];
        self.rare(Rare::Total { group, to });
        d
    }

    /// Returns the move into a group's lane, if the group's loop runs in the current block.
    fn lane(&self, group: u32, i: u32, a: Reg) -> Option<Move> {
        let code = self.code.groups[group as usize].as_ref()?;
        let counter = self.counter_of(group)?;
        let (first, mask) = match code.run {
            Some(_) => (1, 0),
            None => (0, code.width - 1),
        };
        Some(Move::Lane {
            lanes: code.local[i as usize] + first,
            counter,
            mask,
            a,
        })
    }

    /// Returns the counter that deals a group's elements in the current block.
    ///
    /// Returns `None` outside of the loop that updates the group in this phase.
    pub(super) fn counter_of(&self, group: u32) -> Option<Reg> {
        // A loop rate's `nest` and `done` are outside of its loop.
        let (rate, outside) = match self.blocks.get(self.block)?.place {
            Place::At { rate, section, .. } => {
                (rate, matches!(section, Section::Nest | Section::Done))
            }
            Place::Init | Place::Return => return None,
        };
        let step = self.steps.at(GroupId::new(group as usize), rate)?;
        let inside = self.scopes.within(self.scope, self.scopes.of_rate(step));
        let counter = self.program.rate(step).kind.counter();
        counter
            .filter(|_| inside && !(outside && step == rate))
            .map(|v| v.0)
    }

    /// Returns the change made by `v := a`. Outside of all loops it is emitted at once and `None`
    /// is returned.
    pub(super) fn update(&mut self, v: Var, a: Reg) -> Option<Move> {
        if let Some(&(group, i)) = self.local.get(&v)
            && self.code.groups[group as usize]
                .as_ref()
                .is_some_and(|g| g.lanes)
        {
            let lane = self.lane(group, i, a);
            if lane.is_none() {
                self.rare(Rare::Start {
                    group,
                    var: i,
                    value: a,
                });
            }
            return lane;
        }
        if self.scope.is_none() {
            self.emit(Instr::Copy { d: v.0, a });
            return None;
        }
        Some(Move::Register { d: v.0, a })
    }

    /// Defers a change to the end of the iteration.
    pub(super) fn later(&mut self, scope: u32, change: Move) {
        match change {
            Move::Register { d, a } => {
                self.emit(Instr::Later { scope, d, a });
            }
            Move::Lane {
                lanes,
                counter,
                mask,
                a,
            } => {
                let late = self.code.late_lanes.len() as u32;
                self.code.late_lanes.push(LateLane {
                    scope,
                    lanes,
                    counter,
                    mask,
                    a,
                });
                self.emit(Instr::LaterLane(late));
            }
        }
    }

    /// Emits simultaneous changes. Lanes go first, since they read the counter.
    pub(super) fn moves(&mut self, moves: &[Move]) {
        let mut changed: FxHashSet<Reg> = FxHashSet::default();
        let mut registers: Vec<(Reg, Reg)> = Vec::new();
        for change in moves {
            match *change {
                Move::Lane {
                    lanes,
                    counter,
                    mask,
                    a,
                } => {
                    self.emit(Instr::SetLane {
                        lanes,
                        counter,
                        mask,
                        a,
                    });
                }
                Move::Register { d, a } => registers.push((d, a)),
            }
        }
        for (d, a) in &mut registers {
            if changed.contains(a) {
                let t = self.temp();
                self.emit(Instr::Copy { d: t, a: *a });
                *a = t;
            }
            changed.insert(*d);
        }
        for (d, a) in registers {
            self.emit(Instr::Copy { d, a });
        }
    }

    /// Emits `carry v = a`.
    pub(super) fn carry(&mut self, v: Var, a: Atom) {
        let a = self.operand(a);
        match self.local.get(&v) {
            Some(&(group, var)) => {
                self.emit(Instr::Copy { d: v.0, a });
                self.rare(Rare::Start {
                    group,
                    var,
                    value: a,
                });
            }
            None => {
                self.emit(Instr::Copy { d: v.0, a });
            }
        }
    }
}
