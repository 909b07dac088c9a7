//! An innermost loop without stops, in front of its guard: as many iterations as are sure to meet no
//! pause, no end of a chunk, and no end of the arrays that are read and written in step.

use super::innermost::{Innermost, Step};
use super::{Emit, Part};
use cranelift_codegen::ir::{Block, InstBuilder, types};
use livefusion_backend::facts;
use loop_lang::ir::{Place, Section, Type};

/// Parameters that are floats and in registers: some are left for what is computed.
const FLOATS: usize = 10;
/// Addresses, lengths and other parameters that are in registers.
const WORDS: usize = 8;

impl<'a> Emit<'a, '_> {
    /// Writes the loop. Where it ends, and where it cannot be entered, the guard decides.
    pub(super) fn run_innermost(&mut self, plan: &'a Innermost, guard: usize) {
        let zero = self.u64(0);
        let counter = self.get(plan.counter, Part::Value);
        let bound = self.atom(plan.bound);
        let more = self.less(counter, bound);
        let left = self.builder.ins().isub(bound, counter);
        let (steps, event) = (
            self.builder.use_var(self.steps),
            self.builder.use_var(self.event),
        );
        let calm = self.builder.ins().isub(event, steps);
        let mut count = self.builder.ins().umin(left, calm);
        let mut proven: Vec<_> = plan.proven.iter().collect();
        proven.sort();
        for (a, i) in proven {
            let (length, index) = (self.length(*a), self.get(*i, Part::Value));
            let inside = self.less(index, length);
            let room = self.builder.ins().isub(length, index);
            let room = self.builder.ins().select(inside, room, zero);
            count = self.builder.ins().umin(count, room);
        }
        let count = self.builder.ins().select(more, count, zero);
        let enter = self.builder.create_block();
        let slowly = self.builder.create_block();
        self.builder.ins().brif(count, enter, &[], slowly, &[]);
        self.begin(enter);
        self.bring_near(plan);
        let end = self.builder.ins().iadd(counter, count);
        let head = self.builder.create_block();
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        self.innermost = Some(plan);
        let place = self.place;
        let exit = match plan.exits.is_empty() {
            true => None,
            false => Some(self.builder.create_block()),
        };
        self.iteration(plan, exit);
        self.place = place;
        self.innermost = None;
        self.near.clear();
        let now = self.get(plan.counter, Part::Value);
        let more = self.less(now, end);
        let leave = self.builder.create_block();
        self.builder.ins().brif(more, head, &[], leave, &[]);
        self.builder.seal_block(head);
        self.begin(leave);
        let steps = self.builder.use_var(self.steps);
        let steps = self.builder.ins().iadd(steps, count);
        self.builder.def_var(self.steps, steps);
        self.jump(guard);
        if let Some(exit) = exit {
            // It is left to the guard, which takes it: there are steps left.
            self.begin(exit);
            let now = self.get(plan.counter, Part::Value);
            let taken = self.builder.ins().isub(now, counter);
            let steps = self.builder.use_var(self.steps);
            let steps = self.builder.ins().iadd(steps, taken);
            self.builder.def_var(self.steps, steps);
            self.builder.ins().jump(slowly, &[]);
        }
        self.begin(slowly);
    }

    /// Takes the parameters and arrays that a loop uses into registers, as far as there are some; others are
    /// read where they are used.
    fn bring_near(&mut self, plan: &Innermost) {
        let (mut floats, mut words) = (0, 0);
        for v in &plan.near {
            let scalar = matches!(self.program.ty(*v), Type::Scalar(_));
            let float = scalar && facts::elem(self.program, *v).is_float();
            let (taken, most, parts): (_, _, &[Part]) = match (scalar, float) {
                (true, true) => (&mut floats, FLOATS, &[Part::Value]),
                (true, false) => (&mut words, WORDS, &[Part::Value]),
                (false, _) => (&mut words, WORDS, &[Part::Data, Part::Length]),
            };
            *taken += parts.len();
            if *taken > most {
                continue;
            }
            for part in parts {
                let value = self.get(*v, *part);
                self.near.insert((*v, *part), value);
            }
        }
    }

    /// One iteration, or a jump to `exit` in front of it.
    fn iteration(&mut self, plan: &Innermost, exit: Option<Block>) {
        let mut skips: Vec<Block> = Vec::new();
        for (k, step) in plan.steps.iter().enumerate() {
            match *step {
                Step::Block(i) => {
                    self.place = self.facts.blocks[i].place;
                    self.totals_for_block(i);
                    self.stmts(&self.facts.blocks[i].block.stmts);
                    if k == 0 {
                        for (a, exit) in plan.exits.iter().zip(exit.iter().cycle()) {
                            let unless = self.atom(*a);
                            let on = self.builder.create_block();
                            self.builder.ins().brif(unless, on, &[], *exit, &[]);
                            self.begin(on);
                        }
                        self.begin_lanes(plan.rate);
                    }
                }
                Step::Enter(i) => {
                    let block = self.facts.blocks[i].block;
                    self.place = self.facts.blocks[i].place;
                    self.totals_for_block(i);
                    self.stmts(&block.stmts);
                    if self.needs_no_branch(plan, k) {
                        let mut admitted = self.builder.ins().iconst(types::I8, 1);
                        for exit in &block.exits {
                            let unless = self.atom(exit.unless);
                            admitted = self.builder.ins().band(admitted, unless);
                        }
                        self.admitted = Some(admitted);
                        continue;
                    }
                    let skip = self.builder.create_block();
                    for exit in &block.exits {
                        let unless = self.atom(exit.unless);
                        let on = self.builder.create_block();
                        self.builder.ins().brif(unless, on, &[], skip, &[]);
                        self.begin(on);
                    }
                    skips.push(skip);
                }
                // What needs no branch has nothing inside.
                Step::Leave if self.admitted.take().is_some() => {}
                Step::Leave => {
                    if let Some(skip) = skips.pop() {
                        self.builder.ins().jump(skip, &[]);
                        self.begin(skip);
                    }
                }
            }
        }
        let at = |section| Place::At {
            rate: plan.rate,
            stage: 0,
            section,
        };
        self.commit(at(Section::Bottom), at(Section::Guard));
    }
}
