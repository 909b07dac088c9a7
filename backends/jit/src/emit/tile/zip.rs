//! Zips through buffers, at the guard of their root: for as many steps as are sure.
//!
//! The variables of a side are where it is ahead. Beside them is kept what they were where the buffers begin that are
//! there, and where those began from which the last element was used. At the end a side goes once more from there, up
//! to that element.

use crate::emit::{Emit, Facet, MEMORY};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, StackSlotData, StackSlotKind, Value, types};
use cranelift_frontend::Variable;
use livefusion_backend::facts;
use livefusion_tile::ir::{Entry, Side, Tile, Zip};
use loop_lang::ir::Var;
use loop_lang::op::Op;

/// Fewer steps than this are not worth the way.
const FEW: i64 = 64;

/// A zip under way.
struct Run<'z> {
    zip: &'z Zip,
    sides: Vec<Ahead<'z>>,
    /// Steps that were taken behind the cursors.
    made: Variable,
    /// Where it ends, whatever the reason.
    settle: Block,
}

/// A side of it.
struct Ahead<'z> {
    side: &'z Side,
    /// Where its counter was at first.
    start: Value,
    /// How many elements of its buffers were used, and how many of those from which the last one was.
    first: Variable,
    taken: Variable,
    /// What it carries, with what that was where the buffers begin, and where those began from which the last element
    /// was used.
    carried: Vec<(Var, Variable, Variable)>,
}

impl<'a> Emit<'a, '_> {
    /// Takes steps of a zip, and goes on at the guard; where there are none, it goes on here.
    pub(in crate::emit) fn run_zip(&mut self, zip: &'a Zip, guard: usize) {
        let counter = self.get(zip.counter, Facet::Value);
        let bound = self.atom(zip.bound);
        let calm = self.calm();
        let mut may = self.less(counter, bound);
        let enough = (self.builder.ins()).icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, calm, FEW);
        may = self.builder.ins().band(may, enough);
        for (v, start) in &zip.ends {
            let (now, start) = (self.get(*v, Facet::Value), self.constant(*start));
            let ty = facts::elem(self.program, *v);
            let goes_on = self.op(Op::Eq, ty, ty, &[now, start]);
            may = self.builder.ins().band(may, goes_on);
        }
        let [enter, head, slowly] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().brif(may, enter, &[], slowly, &[]);
        self.begin(enter);
        self.bring_near(zip.tiles());
        let run = self.begin_zip(zip);
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        for (k, ahead) in run.sides.iter().enumerate() {
            self.fill(&run, k, ahead);
        }
        self.behind(&run, head);
        self.builder.seal_block(head);
        self.begin(run.settle);
        run.sides.iter().for_each(|ahead| self.settle(ahead));
        zip.behind.iter().for_each(|tile| self.follow(tile));
        let made = self.builder.use_var(run.made);
        let some = self.builder.create_block();
        self.builder.ins().brif(made, some, &[], slowly, &[]);
        self.begin(some);
        self.count_steps(made);
        self.near.clear();
        self.jump(guard);
        self.begin(slowly);
    }

    /// How many steps there are before the next event.
    fn calm(&mut self) -> Value {
        let (steps, event) = (
            self.builder.use_var(self.steps),
            self.builder.use_var(self.event),
        );
        self.builder.ins().isub(event, steps)
    }

    /// So many steps more were taken.
    fn count_steps(&mut self, more: Value) {
        let steps = self.builder.use_var(self.steps);
        let steps = self.builder.ins().iadd(steps, more);
        self.builder.def_var(self.steps, steps);
    }

    /// A variable that is something at first.
    fn beginning(&mut self, value: Value) -> Variable {
        let ty = self.builder.func.dfg.value_type(value);
        let variable = self.builder.declare_var(ty);
        self.builder.def_var(variable, value);
        variable
    }

    fn begin_zip<'z>(&mut self, zip: &'z Zip) -> Run<'z> {
        let zero = self.u64(0);
        let sides = zip.sides.iter().map(|side| {
            for a in side.buffers() {
                let bytes = zip.elements as usize * facts::elem(self.program, a).size();
                let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes as u32, 4);
                let slot = self.builder.create_sized_stack_slot(slot);
                let data = self.builder.ins().stack_addr(types::I64, slot, 0);
                let length = self.u64(zip.elements);
                self.near.insert((a, Facet::Data), data);
                self.near.insert((a, Facet::Length), length);
            }
            self.set(side.count, Facet::Value, zero);
            let carried = side.carried().into_iter().map(|v| {
                let now = self.get(v, self.seen(v));
                (v, self.beginning(now), self.beginning(now))
            });
            let carried = carried.collect();
            Ahead {
                side,
                start: self.get(side.counter, Facet::Value),
                first: self.beginning(zero),
                taken: self.beginning(zero),
                carried,
            }
        });
        let sides = sides.collect();
        Run {
            zip,
            sides,
            made: self.beginning(zero),
            settle: self.builder.create_block(),
        }
    }

    /// Fills a side's buffers if they have no elements left. Every element that is tested counts as a step, and may
    /// make one behind, of as many as are left before the next stop.
    fn fill(&mut self, run: &Run, k: usize, ahead: &Ahead) {
        let side = run.sides[k].side;
        let [head, empty, filled] = [(); 3].map(|()| self.builder.create_block());
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        let (first, count) = (
            self.builder.use_var(ahead.first),
            self.get(side.count, Facet::Value),
        );
        let none = self.builder.ins().icmp(IntCC::Equal, first, count);
        self.builder.ins().brif(none, empty, &[], filled, &[]);
        self.begin(empty);
        let mut steps = self.builder.use_var(run.made);
        for other in &run.sides {
            let at = self.get(other.side.counter, Facet::Value);
            let tested = self.builder.ins().isub(at, other.start);
            steps = self.builder.ins().iadd(steps, tested);
        }
        let calm = self.calm();
        let left = self.capacity(calm, steps);
        let left = self.builder.ins().ushr_imm_u(left, 1);
        let most = self.u64(run.zip.elements);
        let left = self.builder.ins().umin(left, most);
        let (bound, counter) = (self.atom(side.bound), self.get(side.counter, Facet::Value));
        let capacity = self.capacity(bound, counter);
        let left = self.builder.ins().umin(left, capacity);
        for tile in &side.packs {
            let count = self.steps_inside(run.zip, tile, left, 1);
            let [enter, other] = [(); 2].map(|()| self.builder.create_block());
            self.builder.ins().brif(count, enter, &[], other, &[]);
            self.begin(enter);
            self.use_up(ahead);
            for (v, packed, _) in &ahead.carried {
                let now = self.get(*v, self.seen(*v));
                self.builder.def_var(*packed, now);
            }
            let zero = self.u64(0);
            self.builder.def_var(ahead.first, zero);
            self.set(side.count, Facet::Value, zero);
            let (taken, _) = self.print(tile, (counter, count));
            self.unpack_if_trapped(run, ahead);
            match tile.leaves() {
                true => self.builder.ins().brif(taken, head, &[], other, &[]),
                false => self.builder.ins().jump(head, &[]),
            };
            self.begin(other);
        }
        self.builder.ins().jump(run.settle, &[]);
        self.builder.seal_block(head);
        self.begin(filled);
    }

    /// What has trapped may not be needed at all: it is left as if nothing had been packed, and the machine goes there.
    fn unpack_if_trapped(&mut self, run: &Run, ahead: &Ahead) {
        if !self.traps {
            return;
        }
        let trapped = self.builder.use_var(self.trapped);
        let [roll_back, on] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(trapped, roll_back, &[], on, &[]);
        self.begin(roll_back);
        self.builder.set_cold_block(roll_back);
        for (v, packed, _) in &ahead.carried {
            let packed = self.builder.use_var(*packed);
            self.set(*v, self.seen(*v), packed);
        }
        let zero = self.u64(0);
        self.set(ahead.side.count, Facet::Value, zero);
        let none = self.builder.ins().iconst(types::I8, 0);
        self.builder.def_var(self.trapped, none);
        self.builder.ins().jump(run.settle, &[]);
        self.begin(on);
    }

    /// Takes as many steps behind the cursors as all sides have elements, and goes on at `again`.
    fn behind(&mut self, run: &Run, again: Block) {
        let zip = run.zip;
        let at = self.get(zip.counter, Facet::Value);
        let bound = self.atom(zip.bound);
        let mut left = self.capacity(bound, at);
        for limit in &zip.limits {
            let limit = self.atom(*limit);
            let capacity = self.capacity(limit, at);
            left = self.builder.ins().umin(left, capacity);
        }
        for Ahead { side, first, .. } in &run.sides {
            let first = self.builder.use_var(*first);
            let count = self.get(side.count, Facet::Value);
            let rest = self.builder.ins().isub(count, first);
            left = self.builder.ins().umin(left, rest);
        }
        let [some, head, turn, done] = [(); 4].map(|()| self.builder.create_block());
        self.builder.ins().brif(left, some, &[], run.settle, &[]);
        self.begin(some);
        // A buffer is seen from the first element on that was not used, at the counter.
        let mut begins: Vec<(Var, Value)> = Vec::new();
        for Ahead { side, first, .. } in &run.sides {
            let first = self.builder.use_var(*first);
            let before = self.builder.ins().isub(first, at);
            for a in side.buffers() {
                begins.push((a, self.data(a)));
                let data = self.address(a, before);
                self.near.insert((a, Facet::Data), data);
            }
        }
        let rest = self.beginning(left);
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        let left = self.builder.use_var(rest);
        self.builder.ins().brif(left, turn, &[], done, &[]);
        self.begin(turn);
        let mut aligned = 1;
        for tile in &zip.behind {
            let counter = self.get(zip.counter, Facet::Value);
            let count = self.steps_inside(zip, tile, left, aligned);
            let [enter, other] = [(); 2].map(|()| self.builder.create_block());
            self.builder.ins().brif(count, enter, &[], other, &[]);
            self.begin(enter);
            let (taken, _) = self.print(tile, (counter, count));
            let left = self.builder.ins().isub(left, taken);
            self.builder.def_var(rest, left);
            if self.traps {
                let trapped = self.builder.use_var(self.trapped);
                let on = self.builder.create_block();
                self.builder.ins().brif(trapped, done, &[], on, &[]);
                self.begin(on);
            }
            match tile.leaves() {
                true => self.builder.ins().brif(taken, head, &[], other, &[]),
                false => self.builder.ins().jump(head, &[]),
            };
            self.begin(other);
            aligned = aligned.max(tile.alignment());
        }
        self.builder.ins().jump(done, &[]);
        self.builder.seal_block(head);
        self.begin(done);
        for (a, data) in begins {
            self.near.insert((a, Facet::Data), data);
        }
        let counter = self.get(zip.counter, Facet::Value);
        let taken = self.builder.ins().isub(counter, at);
        for variable in run.sides.iter().map(|a| a.first).chain([run.made]) {
            let before = self.builder.use_var(variable);
            let now = self.builder.ins().iadd(before, taken);
            self.builder.def_var(variable, now);
        }
        let left = self.builder.use_var(rest);
        let mut ends = self.builder.ins().icmp_imm_u(IntCC::NotEqual, left, 0);
        if self.traps {
            let trapped = self.builder.use_var(self.trapped);
            ends = self.builder.ins().bor(ends, trapped);
        }
        (self.builder.ins()).brif(ends, run.settle, &[], again, &[]);
    }

    /// How many of so many steps a tile takes, whose buffers have capacity for them.
    fn steps_inside(&mut self, zip: &Zip, tile: &Tile, most: Value, aligned: u64) -> Value {
        let of_buffer = |e: &&Entry| match e {
            Entry::Capacity { array, .. } => zip.buffer(*array).is_some(),
            _ => false,
        };
        let entries = tile.entries.iter().filter(|e| !of_buffer(e));
        let most = self.allowed(tile, entries, most);
        let counter = self.get(tile.counter, Facet::Value);
        self.steps_of(tile, counter, most, aligned)
    }

    /// If an element of the buffers that are there was used, that is the last one.
    fn use_up(&mut self, ahead: &Ahead) {
        let first = self.builder.use_var(ahead.first);
        self.only_if(first, |emit| {
            for (_, packed, used) in &ahead.carried {
                let packed = emit.builder.use_var(*packed);
                emit.builder.def_var(*used, packed);
            }
            emit.builder.def_var(ahead.taken, first);
            let last = emit.builder.ins().iadd_imm_s(first, -1);
            for (v, a) in &ahead.side.values {
                let at = emit.address(*a, last);
                let ty = Self::register(facts::elem(emit.program, *a));
                let value = emit.builder.ins().load(ty, MEMORY, at, 0);
                emit.set(*v, emit.seen(*v), value);
            }
        });
    }

    /// The state behind the last element that was used.
    fn settle(&mut self, ahead: &Ahead) {
        self.use_up(ahead);
        let side = ahead.side;
        let end = self.get(side.counter, Facet::Value);
        for (v, _, used) in &ahead.carried {
            let used = self.builder.use_var(*used);
            self.set(*v, self.seen(*v), used);
        }
        let wanted = self.builder.use_var(ahead.taken);
        self.only_if(wanted, |emit| {
            let trapped = emit.builder.use_var(emit.trapped);
            let zero = emit.u64(0);
            emit.set(side.count, Facet::Value, zero);
            emit.set(side.wanted, Facet::Value, wanted);
            for tile in &side.finds {
                let counter = emit.get(side.counter, Facet::Value);
                let most = emit.builder.ins().isub(end, counter);
                let most = emit.allowed(tile, tile.entries.iter(), most);
                let count = emit.steps_of(tile, counter, most, 1);
                emit.only_if(count, |emit| {
                    emit.print(tile, (counter, count));
                });
            }
            // What is found was packed without a trap.
            emit.builder.def_var(emit.trapped, trapped);
            let counter = emit.get(side.counter, Facet::Value);
            let tested = emit.builder.ins().isub(counter, ahead.start);
            emit.count_steps(tested);
        });
        let carried = ahead.carried.iter().map(|(v, ..)| *v);
        let delivered = side.values.iter().map(|(v, _)| *v);
        carried.chain(delivered).for_each(|v| self.follow_one(v));
    }
}
