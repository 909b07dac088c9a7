//! The state machine: the loop's blocks and gotos as they are, with a stop at every guard of a loop
//! rate. It can begin and pause at any of them. In the fast form innermost loops have their blocks aside; what
//! these cannot do is done by the machine in the other form, where it has all blocks.

use super::tile::Calls;
use super::{Emit, Facet, MEMORY};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use livefusion_backend::abi::{Run, outcome};
use livefusion_backend::facts::{self, Placed};
use loop_lang::ir::{Atom, CHUNK, End, Label, Order, Place, RateId, Section, Type};
use loop_lang::state::DONE;
use rustc_hash::FxHashSet;
use std::mem::offset_of;

impl<'a> Emit<'a, '_> {
    /// Writes the function.
    pub(super) fn machine(&mut self, calls: &'a Calls<'a>) {
        let covered = calls.inner_loops.iter().flat_map(|call| call.covered());
        let covered: FxHashSet<usize> = covered.collect();
        self.count_jumps(calls, &covered);
        self.enter();
        for i in 0..self.facts.blocks.len() {
            if !covered.contains(&i) {
                self.block(i, calls);
            }
        }
        self.event();
        for (block, outcome) in [
            (self.trapped_block, outcome::TRAPPED),
            (self.no_memory_block, outcome::NO_MEMORY),
            (self.paused_block, outcome::PAUSED),
        ] {
            self.begin(block);
            self.builder.set_cold_block(block);
            if outcome == outcome::NO_MEMORY {
                self.leave_trapped();
            }
            let value = self.builder.ins().iconst(types::I32, i64::from(outcome));
            self.builder.ins().return_(&[value]);
        }
    }

    /// How often each block is jumped to: by others, by what resumes there, by what takes tiles.
    fn count_jumps(&mut self, calls: &Calls, covered: &FxHashSet<usize>) {
        let facts = self.facts;
        let mut awaited = vec![0; facts.blocks.len()];
        for (i, placed) in facts.blocks.iter().enumerate() {
            if covered.contains(&i) {
                continue;
            }
            for target in facts::targets(placed.block) {
                let place = facts.tree.place(self.program, target);
                if let Some(i) = facts.at.get(&place) {
                    awaited[*i] += 1;
                }
            }
        }
        for (i, placed) in facts.blocks.iter().enumerate() {
            if let Some(rate) = self.guarded(placed.place) {
                let tiled = calls
                    .inner_loops
                    .iter()
                    .any(|call| call.inner_loop.rate == rate);
                let zipped = calls.zips.iter().any(|zip| zip.rate == rate);
                awaited[i] += 1 + usize::from(tiled) + usize::from(zipped);
            }
            if placed.place == Place::Init {
                awaited[i] += 1;
            }
        }
        // A guard in front of an innermost loop does not go on into its body.
        for (i, n) in awaited.iter_mut().enumerate() {
            if covered.contains(&i) {
                *n = 0;
            }
        }
        // What nothing goes to has all its jumps.
        for (i, n) in awaited.iter().enumerate() {
            if *n == 0 {
                self.builder.seal_block(self.blocks[i]);
            }
        }
        self.awaited = awaited;
    }

    /// A jump to a block of the loop.
    pub(super) fn jump(&mut self, i: usize) {
        self.builder.ins().jump(self.blocks[i], &[]);
        self.jumped(i);
    }

    fn jumped(&mut self, i: usize) {
        self.awaited[i] -= 1;
        if self.awaited[i] == 0 {
            self.builder.seal_block(self.blocks[i]);
        }
    }

    /// Takes the run apart, and begins or goes on.
    fn enter(&mut self) {
        self.words = self.of_run(offset_of!(Run<'_, '_>, words));
        self.made = self.of_run(offset_of!(Run<'_, '_>, made));
        self.inputs = self.of_run(offset_of!(Run<'_, '_>, inputs));
        self.scalars = self.of_run(offset_of!(Run<'_, '_>, scalars));
        let budget = self.of_run(offset_of!(Run<'_, '_>, budget));
        let steps = self.load_steps();
        self.limit = self.builder.ins().iadd(steps, budget);
        self.set_event(steps);
        let zero = self.builder.ins().iconst(types::I8, 0);
        self.builder.def_var(self.trapped, zero);
        if self.ever_early() {
            let early = self.builder.declare_var(types::I32);
            let done = i64::from(outcome::DONE);
            let done = self.builder.ins().iconst(types::I32, done);
            self.builder.def_var(early, done);
            self.early = Some(early);
        }
        let position = self.load_position();
        let fresh = self.builder.ins().icmp_imm_u(IntCC::Equal, position, 0);
        let begin = self.builder.create_block();
        let event = self.event_block;
        self.builder.ins().brif(fresh, begin, &[], event, &[]);
        self.begin(begin);
        match self.facts.at.get(&Place::Init) {
            Some(i) => self.jump(*i),
            None => self.fail(),
        }
    }

    /// What no verified loop comes to.
    pub(super) fn fail(&mut self) {
        self.builder.ins().jump(self.trapped_block, &[]);
    }

    pub(super) fn load_position(&mut self) -> Value {
        let ins = self.builder.ins();
        ins.load(types::I64, MEMORY, self.words, 0)
    }

    /// The steps taken before the pass or the pause.
    pub(super) fn load_steps(&mut self) -> Value {
        let steps = self.builder.ins().load(types::I64, MEMORY, self.words, 8);
        self.builder.def_var(self.steps, steps);
        steps
    }

    /// The step at which to look next: the end of the chunk, of a run or of the span.
    pub(super) fn set_event(&mut self, steps: Value) {
        let Some(grid) = self.program.grid().map(|grid| grid as i64) else {
            return self.builder.def_var(self.event, self.limit);
        };
        let into = self.builder.ins().band_imm_u(steps, grid - 1);
        let start = self.builder.ins().isub(steps, into);
        let end = self.builder.ins().iadd_imm_u(start, grid);
        let event = self.builder.ins().umin(end, self.limit);
        self.builder.def_var(self.event, event);
    }

    fn block(&mut self, i: usize, calls: &'a Calls<'a>) {
        let facts = self.facts;
        let Placed { block, place, .. } = &facts.blocks[i];
        self.place = *place;
        self.builder.switch_to_block(self.blocks[i]);
        let guarded = self.guarded(*place);
        let mut stop = None;
        if let Some(rate) = guarded {
            let call = calls
                .inner_loops
                .iter()
                .find(|call| call.inner_loop.rate == rate);
            stop = self.stop(rate, call.is_some_and(|call| call.inner.is_empty()));
            if let Some(call) = call {
                self.run_tiles(call, i);
            }
            if let Some(zip) = calls.zips.iter().find(|zip| zip.rate == rate) {
                self.run_zip(zip, i);
            }
        }
        if *place == Place::Return {
            self.returning(i);
            return;
        }
        self.totals_for_block(i);
        self.stmts(&block.stmts);
        for exit in &block.exits {
            if let Some(target) = exit.target {
                let unless = self.atom(exit.unless);
                let on = self.builder.create_block();
                let out = self.builder.create_block();
                self.builder.ins().brif(unless, on, &[], out, &[]);
                self.begin(out);
                self.go(*place, target);
                self.begin(on);
            }
        }
        if let Some(stop) = stop {
            // An iteration that an innermost loop cannot do: whoever runs the pass goes on with the machine alone.
            let leaves = self.builder.ins().iconst(types::I8, 1);
            self.builder.ins().jump(stop, &[leaves.into()]);
            self.builder.seal_block(stop);
            return;
        }
        if let Some(rate) = guarded {
            let steps = self.builder.use_var(self.steps);
            let steps = self.builder.ins().iadd_imm_u(steps, 1);
            self.builder.def_var(self.steps, steps);
            self.begin_lanes(rate);
        }
        match &block.end {
            End::Goto(l) => self.go(*place, *l),
            End::Branch(c, yes, no) => {
                let cond = self.atom(*c);
                let (a, b) = (self.builder.create_block(), self.builder.create_block());
                self.builder.ins().brif(cond, a, &[], b, &[]);
                self.begin(a);
                self.go(*place, *yes);
                self.begin(b);
                self.go(*place, *no);
            }
            End::Open | End::Return(_) => self.fail(),
        }
    }

    /// The loop rate whose guard this place is.
    pub(super) fn guarded(&self, place: Place) -> Option<RateId> {
        match place {
            Place::At {
                rate,
                section: Section::Guard,
                ..
            } if !self.program.rate(rate).kind.is_sub() => Some(rate),
            _ => None,
        }
    }

    /// The position of a loop rate's guard.
    fn position(&self, rate: RateId) -> usize {
        let position = self.layout.resume.iter().position(|r| *r == rate);
        position.unwrap_or(0) + 1
    }

    /// The stop at a loop rate's guard. Where an iteration may be left to the machine, the pass pauses here before its
    /// time: by a jump to a block, which says so.
    fn stop(&mut self, rate: RateId, leaves: bool) -> Option<Block> {
        let (steps, event) = (
            self.builder.use_var(self.steps),
            self.builder.use_var(self.event),
        );
        let mut stops = {
            let ins = self.builder.ins();
            ins.icmp(IntCC::UnsignedGreaterThanOrEqual, steps, event)
        };
        if self.traps {
            let trapped = self.builder.use_var(self.trapped);
            stops = self.builder.ins().bor(stops, trapped);
        }
        let stop = self.builder.create_block();
        let on = self.builder.create_block();
        let position = self.position(rate) as u64;
        if leaves {
            let left = self.builder.append_block_param(stop, types::I8);
            let here = self.builder.ins().iconst(types::I8, 0);
            (self.builder.ins()).brif(stops, stop, &[here.into()], on, &[]);
            self.builder.switch_to_block(stop);
            self.save(position);
            let (paused, event) = (self.paused_block, self.event_block);
            self.builder.ins().brif(left, paused, &[], event, &[]);
        } else {
            self.builder.ins().brif(stops, stop, &[], on, &[]);
            self.begin(stop);
            self.save(position);
            self.builder.ins().jump(self.event_block, &[]);
        }
        self.builder.set_cold_block(stop);
        self.begin(on);
        leaves.then_some(stop)
    }

    /// An iteration begins: lanes whose update waits have the old value next, if nothing changes it.
    pub(super) fn begin_lanes(&mut self, rate: RateId) {
        for v in self.facts.pending.get(&rate).into_iter().flatten() {
            if let Some((_, _, Order::Lanes(_) | Order::Runs(_))) =
                self.facts.local_group(self.program, *v)
            {
                let lane = self.current(*v);
                self.set(*v, Facet::Next, lane);
            }
        }
    }

    /// Whether this way leaves a root other than by its guard.
    fn is_early(&self, from: Place, to: Place) -> bool {
        let program = self.program;
        let root = match to {
            Place::Return => program.roots.last().copied(),
            Place::At {
                rate,
                section: Section::Done,
                ..
            } => program.rate(rate).kind.parent().is_none().then_some(rate),
            _ => None,
        };
        let Place::At { rate, section, .. } = from else {
            return false;
        };
        root.is_some_and(|r| (rate, section) != (r, Section::Guard))
    }

    /// Whether any way does.
    fn ever_early(&self) -> bool {
        self.facts.blocks.iter().any(|placed| {
            let mut targets = facts::targets(placed.block);
            targets.any(|to| {
                let to = self.facts.tree.place(self.program, to);
                self.is_early(placed.place, to)
            })
        })
    }

    /// A jump, with the updates that take effect on the way.
    fn go(&mut self, from: Place, to: Label) {
        let target = self.facts.tree.place(self.program, to);
        let committed = self.facts.committed(self.program, from, target);
        let left = committed.iter().any(|q| self.guarded(target) != Some(*q));
        if left && self.joins_above {
            // A full chunk may have groups to join at the outer guard as well.
            let (steps, event) = (
                self.builder.use_var(self.steps),
                self.builder.use_var(self.event),
            );
            let into = self.builder.ins().band_imm_u(steps, CHUNK as i64 - 1);
            let event = self.builder.ins().select(into, event, steps);
            self.builder.def_var(self.event, event);
        }
        self.commit(from, target);
        self.totals_for_loop(from, target);
        if let Some(early) = self.early.filter(|_| self.is_early(from, target)) {
            let exited = i64::from(outcome::EXITED);
            let exited = self.builder.ins().iconst(types::I32, exited);
            self.builder.def_var(early, exited);
        }
        match self.facts.at.get(&target) {
            Some(i) => self.jump(*i),
            None => self.fail(),
        }
    }

    /// The updates that take effect on a way.
    pub(super) fn commit(&mut self, from: Place, to: Place) {
        for v in self.facts.taking_effect(self.program, from, to) {
            let next = self.get(v, Facet::Next);
            self.set_current(v, next);
        }
    }

    /// The returning block.
    fn returning(&mut self, i: usize) {
        self.end_if_trapped();
        if !self.summary {
            let block = self.facts.blocks[i].block;
            self.totals_for_block(i);
            self.stmts(&block.stmts);
            self.end_if_trapped();
            if let End::Return(results) = &block.end {
                let table = self.of_run(offset_of!(Run<'_, '_>, results));
                for (k, a) in results.iter().enumerate() {
                    let word = self.result(*a);
                    let ins = self.builder.ins();
                    ins.store(MEMORY, word, table, k as i32 * 8);
                }
            }
        }
        self.save(DONE);
        let outcome = match self.early {
            Some(early) => self.builder.use_var(early),
            None => {
                let done = i64::from(outcome::DONE);
                self.builder.ins().iconst(types::I32, done)
            }
        };
        self.builder.ins().return_(&[outcome]);
    }

    fn end_if_trapped(&mut self) {
        if self.traps {
            let trapped = self.builder.use_var(self.trapped);
            let on = self.builder.create_block();
            let out = self.trapped_block;
            self.builder.ins().brif(trapped, out, &[], on, &[]);
            self.begin(on);
        }
    }

    fn result(&mut self, a: Atom) -> Value {
        if let Atom::Var(v) = a
            && let Type::Array(_) = self.program.ty(v)
        {
            return self.length(v);
        }
        let value = self.atom(a);
        self.word_of(self.program.atom_ty(a), value)
    }
}
