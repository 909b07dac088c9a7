//! Blocks and the edges between them.

use super::Compiler;
use super::groups::Move;
use crate::code::{Array, Instr, Pc, Rare, ResultSite, Watch};
use crate::counts::Counted;
use loop_lang::ir::{
    Atom, CombId, End, Label, Place, RateId, RateKind, Section, StmtKind, Type, Var,
};
use rustc_hash::FxHashSet;

/// A conditional edge. Its code is placed after all blocks.
struct Stub {
    /// The jump to it.
    jump: Pc,
    from: usize,
    to: usize,
    moves: Vec<Move>,
}

impl Compiler<'_> {
    /// Finds the scopes in which an update must wait while other blocks run.
    ///
    /// These are the scopes where some edge out of the block does not commit the update.
    pub(super) fn assignments(&mut self) -> Result<(), String> {
        for i in 0..self.blocks.len() {
            let place = self.blocks[i].place;
            let block = self.blocks[i].block;
            let updates = |k: &StmtKind| matches!(k, StmtKind::Assign(..) | StmtKind::Scan { .. });
            let Some(scope) = self.scopes.innermost(place) else {
                continue;
            };
            if !block.stmts.iter().any(|s| updates(&s.kind)) {
                continue;
            }
            for to in self.targets(i)? {
                let committed = self.scopes.committed(place, self.blocks[to].place);
                if !committed.contains(&scope) {
                    self.waits[scope as usize] = true;
                }
            }
            for stmt in &block.stmts {
                if let StmtKind::Assign(v, _) = stmt.kind {
                    self.assigned_in.entry(v).or_default().push(scope);
                }
            }
        }
        Ok(())
    }

    /// Returns the successors of a block: its exits, then its ends.
    fn targets(&self, from: usize) -> Result<Vec<usize>, String> {
        let block = self.blocks[from].block;
        let mut targets = Vec::new();
        for exit in &block.exits {
            targets.push(self.target(exit.target)?);
        }
        match block.end {
            End::Goto(l) => targets.push(self.target(Some(l))?),
            End::Branch(_, a, b) => targets.extend([self.target(Some(a))?, self.target(Some(b))?]),
            End::Return(_) => {}
            End::Open => {
                return Err(format!(
                    "the block at {:?} has no end",
                    self.blocks[from].place
                ));
            }
        }
        Ok(targets)
    }

    fn target(&self, label: Option<Label>) -> Result<usize, String> {
        let place = label.map(|l| self.tree.place(self.program, l));
        let found = place.and_then(|p| self.at.get(&p).copied());
        found.ok_or_else(|| format!("no block at {place:?}"))
    }

    /// Compiles all blocks, then patches the jumps between them.
    pub(super) fn blocks(&mut self) -> Result<(), String> {
        let mut stubs = Vec::new();
        for i in 0..self.blocks.len() {
            self.enter(i);
            self.blocks[i].pc = self.here();
            self.block(i, &mut stubs)?;
        }
        for stub in stubs {
            self.enter(stub.from);
            self.land(stub.jump);
            self.edge(stub.from, stub.to, &stub.moves);
            self.jump(stub.to);
        }
        for (jump, to) in std::mem::take(&mut self.jumps) {
            let target = self.blocks[to].pc;
            if let Instr::Jump { to } = &mut self.code.instrs[jump as usize] {
                *to = target;
            }
        }
        let Some(init) = self.at.get(&Place::Init) else {
            return Err("no init block".into());
        };
        self.code.entry = self.blocks[*init].pc;
        Ok(())
    }

    fn enter(&mut self, block: usize) {
        self.block = block;
        self.scope = self.scopes.innermost(self.blocks[block].place);
    }

    fn block(&mut self, i: usize, stubs: &mut Vec<Stub>) -> Result<(), String> {
        let (place, block) = (self.blocks[i].place, self.blocks[i].block);
        if place == Place::Return && self.mode.summary {
            self.emit(Instr::EndPart);
            self.emit(Instr::End);
            return Ok(());
        }
        let guard = self.loop_guard(place);
        if let Some(rate) = guard {
            let scope = self.scopes.of_rate(rate);
            self.emit(Instr::Arrive { guard: scope });
            self.code.guards[scope as usize].test = self.here();
        }
        self.watch_enter(place);
        self.stmts(&block.stmts, 0)?;
        let moves = std::mem::take(&mut self.moves_at_end);
        if ends_part(place, guard.is_some()) {
            self.emit(Instr::EndPart);
        }
        for exit in &block.exits {
            self.watch_leave(Watch::Exit(*exit), &[exit.unless]);
            let c = self.operand(exit.unless);
            let jump = self.emit(Instr::Unless { c, to: 0 });
            stubs.push(Stub {
                jump,
                from: i,
                to: self.target(exit.target)?,
                moves: moves.clone(),
            });
        }
        if let Some(rate) = guard {
            self.count(|p| Counted::Step(p.rate(rate).name.clone()));
            self.emit(Instr::Step);
        }
        match &block.end {
            End::Goto(l) => {
                let to = self.target(Some(*l))?;
                self.edge(i, to, &moves);
                if to != i + 1 {
                    self.jump(to);
                }
            }
            End::Branch(c, then, other) => {
                let c = self.operand(*c);
                let jump = self.emit(Instr::Unless { c, to: 0 });
                stubs.push(Stub {
                    jump,
                    from: i,
                    to: self.target(Some(*other))?,
                    moves: moves.clone(),
                });
                let to = self.target(Some(*then))?;
                self.edge(i, to, &moves);
                self.jump(to);
            }
            End::Return(results) => {
                self.watch_leave(Watch::Return, results);
                self.results(self.blocks[i].comb, results)?;
                self.emit(Instr::End);
            }
            End::Open => return Err(format!("the block at {place:?} has no end")),
        }
        Ok(())
    }

    /// Returns the loop rate of a guard's place. Returns `None` at other places.
    fn loop_guard(&self, place: Place) -> Option<RateId> {
        match place {
            Place::At {
                rate,
                section: Section::Guard,
                ..
            } => (!self.program.rate(rate).kind.is_sub()).then_some(rate),
            _ => None,
        }
    }

    fn jump(&mut self, to: usize) {
        let jump = self.emit(Instr::Jump { to: 0 });
        self.jumps.push((jump, to));
    }

    /// Emits the code of an edge.
    ///
    /// The moves belong to the block's own scope. They run before the updates of other scopes, and
    /// read the old values.
    fn edge(&mut self, from: usize, to: usize, moves: &[Move]) {
        let (from, to) = (self.blocks[from].place, self.blocks[to].place);
        if self.is_early_exit(from, to) {
            self.emit(Instr::Exited);
        }
        self.moves(moves);
        for scope in self.scopes.committed(from, to) {
            if self.waits[scope as usize] {
                self.emit(Instr::Commit { scope });
            }
        }
    }

    /// Returns whether an edge leaves a root's loop other than by its guard.
    fn is_early_exit(&self, from: Place, to: Place) -> bool {
        let root = match to {
            Place::Return => self.program.roots.last().copied(),
            Place::At {
                rate,
                section: Section::Done,
                ..
            } => {
                let is_root = matches!(self.program.rate(rate).kind, RateKind::Root { .. });
                is_root.then_some(rate)
            }
            _ => None,
        };
        match from {
            Place::At { rate, section, .. } => {
                root.is_some_and(|r| (rate, section) != (r, Section::Guard))
            }
            Place::Init | Place::Return => false,
        }
    }

    fn results(&mut self, comb: CombId, results: &[Atom]) -> Result<(), String> {
        let mut sites = Vec::with_capacity(results.len());
        for result in results {
            sites.push(match *result {
                Atom::Var(v) if matches!(self.program.ty(v), Type::Array(_)) => {
                    self.array_result(comb, v)?
                }
                atom => ResultSite::Scalar(self.program.atom_ty(atom), self.operand(atom)),
            });
        }
        // The last use of an array takes it. Earlier results get copies.
        let mut taken = FxHashSet::default();
        for site in sites.iter_mut().rev() {
            if let ResultSite::Array {
                array: Array::Slot(s),
                last,
                ..
            } = site
            {
                *last = taken.insert(*s);
            }
        }
        self.rare(Rare::Return(sites));
        Ok(())
    }

    fn array_result(&self, comb: CombId, v: Var) -> Result<ResultSite, String> {
        Ok(ResultSite::Array {
            comb,
            array: self.array(v)?,
            ty: self.elem(v),
            last: false,
        })
    }
}

/// Returns whether a recorded trap ends the run at the end of this block.
fn ends_part(place: Place, loop_guard: bool) -> bool {
    match place {
        Place::Init | Place::Return => true,
        Place::At { section, .. } => {
            !loop_guard && matches!(section, Section::Nest | Section::Done)
        }
    }
}
