//! Segments: the steps of inner rates in a turn over the range, and how a turn is rolled back that they do not fit
//! into.

use super::run::facet_of;
use super::{Printed, Printer};
use crate::emit::Facet;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use livefusion_tile::ir::{self, CapacityCheck, Origin, Stmt, StmtKind, changed, dry_run};
use loop_lang::ir::Var;

/// What a tile with segments knows of its steps.
pub(super) struct Turns {
    /// How many are left of those that it may take.
    pub rest: Variable,
    /// The same behind the turn, so far.
    after: Variable,
    /// The counter where the turn began, and what was carried.
    at: Option<Value>,
    before: Vec<(Var, Facet, Value)>,
    /// How the segment that is written is left.
    segment: Option<Out>,
    /// Whether segments ask for the steps of the turns that they are in.
    segments_ask: bool,
    /// Whether what is written had a dry run, so that its segments fit.
    dry_run_passed: bool,
}

/// How a segment is left.
#[derive(Clone, Copy)]
enum Out {
    /// To what stands behind it: the steps up to where it ends are given back.
    Behind(Value, Block),
    /// To where its steps are taken one by one, from a counter on.
    ScalarEpilogue(Variable, Block),
}

impl Printer<'_, '_, '_> {
    /// Of a tile with segments: that it may take fewer steps than there are before the next event.
    pub(super) fn count_steps(&mut self) {
        let builder = &mut self.emit.builder;
        let (steps, event) = (
            builder.use_var(self.emit.steps),
            builder.use_var(self.emit.event),
        );
        let left = builder.ins().isub(event, steps);
        let [rest, after] = [(); 2].map(|()| builder.declare_var(types::I64));
        builder.def_var(rest, left);
        self.turns = Some(Turns {
            rest,
            after,
            at: None,
            before: Vec::new(),
            segment: None,
            segments_ask: self.tile.each_turn_asks(),
            dry_run_passed: false,
        });
    }

    /// A turn over the range begins, if there are steps for it and one more; what it changes is kept. Where segments
    /// ask that in any case, they ask for the turn's own step, too: there is one.
    pub(super) fn begin_turn(&mut self, at: Value, step: u64) {
        let Some(turns) = &mut self.turns else {
            return;
        };
        turns.segments_ask &= step == 1;
        let (rest, after, segments_ask) = (turns.rest, turns.after, turns.segments_ask);
        let rest = self.emit.builder.use_var(rest);
        let step = step as i64;
        if !segments_ask {
            let ins = self.emit.builder.ins();
            let enough = ins.icmp_imm_u(IntCC::UnsignedGreaterThan, rest, step);
            let on = self.emit.builder.create_block();
            let out = self.emit.builder.create_block();
            self.branch(enough, on, out);
            self.emit.begin(out);
            self.leave(at);
            self.emit.begin(on);
        }
        let left = self.emit.builder.ins().iadd_imm_s(rest, -step);
        self.emit.builder.def_var(after, left);
        let states = self.tile.each_value();
        let states: Vec<(Var, Facet)> = states
            .filter_map(|(_, data)| match data.origin {
                Origin::State(v) => Some((v, self.emit.seen(v))),
                Origin::Scan(v, kept) if data.origin.is_state() => Some((v, facet_of(kept))),
                _ => None,
            })
            .collect();
        let before = states.into_iter();
        let before = before.map(|(v, facet)| (v, facet, self.emit.get(v, facet)));
        let before = before.collect();
        if let Some(turns) = &mut self.turns {
            (turns.at, turns.before) = (Some(at), before);
        }
    }

    /// It ends: its steps are taken.
    pub(super) fn end_turn(&mut self) {
        if let Some(Turns { rest, after, .. }) = self.turns {
            let after = self.emit.builder.use_var(after);
            self.emit.builder.def_var(rest, after);
        }
    }

    /// The segment under way ends at a counter, or the range does.
    pub(super) fn leave_at(&mut self, at: Value) {
        let (after, to, done) = match self.turns.as_ref().map(|t| (t.after, t.segment)) {
            Some((after, Some(Out::Behind(to, done)))) => (after, to, done),
            Some((_, Some(Out::ScalarEpilogue(begin, rest)))) => {
                self.emit.builder.def_var(begin, at);
                self.emit.builder.ins().jump(rest, &[]);
                return;
            }
            Some((_, None)) | None => return self.leave(at),
        };
        let left = self.emit.builder.use_var(after);
        let more = self.emit.builder.ins().isub(to, at);
        let left = self.emit.builder.ins().iadd(left, more);
        self.emit.builder.def_var(after, left);
        self.emit.builder.ins().jump(done, &[]);
    }

    /// The range ends at a counter.
    fn leave(&mut self, at: Value) {
        if let Some((counter, behind)) = self.range {
            self.emit.builder.def_var(counter, at);
            self.emit.builder.ins().jump(behind, &[]);
        }
    }

    /// Goes through statements without what they change, and then, if the turn was not rolled back, does them.
    pub(super) fn dry_run(&mut self, body: &[Stmt]) {
        // The verifier has seen to it that there is one.
        let dry_run = dry_run(self.tile, body).unwrap_or_default();
        let set = changed(&dry_run).into_iter();
        let before: Vec<_> = set.map(|v| (v, self.scalar(v.into()))).collect();
        self.stmts(&dry_run);
        for (v, was) in before {
            self.set_scalar(v, was);
        }
        self.set_dry_run_passed(true);
        self.stmts(body);
        self.set_dry_run_passed(false);
    }

    fn set_dry_run_passed(&mut self, passed: bool) {
        if let Some(turns) = &mut self.turns {
            turns.dry_run_passed = passed;
        }
    }

    pub(super) fn segment(&mut self, kind: &StmtKind) {
        let StmtKind::Segment {
            counter,
            from,
            to,
            step,
            aligned,
            single_trip,
            again,
            capacities,
            body,
            epilogue,
            scalar_epilogue,
        } = kind
        else {
            return;
        };
        let Some(turns) = &self.turns else {
            return;
        };
        let after = turns.after;
        let fits = *again || turns.dry_run_passed;
        let asks_for_turn = turns.segments_ask && turns.segment.is_none() && !fits;
        let begins = from;
        let (from, to) = (self.scalar(*from), self.scalar(*to));
        let done = self.emit.builder.create_block();
        if !single_trip {
            let asks = self.emit.builder.create_block();
            let none = match asks_for_turn {
                true => self.emit.builder.create_block(),
                false => done,
            };
            let some = self.emit.less(from, to);
            self.branch(some, asks, none);
            if asks_for_turn {
                self.emit.begin(none);
                let left = self.emit.builder.use_var(after);
                let on = self.emit.builder.create_block();
                self.roll_back_unless(left, on);
                self.emit.builder.ins().jump(done, &[]);
            }
            self.emit.begin(asks);
        }
        let size = self.emit.builder.ins().isub(to, from);
        let turns = match single_trip {
            true => self.emit.u64(*step),
            false => self.whole(size, *step),
        };
        if !fits {
            let capacities = self.tile.capacities_by_place(*begins, capacities);
            self.enter_segment(after, (size, turns), capacities);
        }
        // In a dry run it does no more than to fit.
        if [body, epilogue, scalar_epilogue]
            .iter()
            .all(|body| body.is_empty())
        {
            self.emit.builder.ins().jump(done, &[]);
            return self.emit.begin(done);
        }
        let one_by_one = (!scalar_epilogue.is_empty()).then(|| {
            let begin = self.emit.builder.declare_var(types::I64);
            (begin, self.emit.builder.create_block())
        });
        let around = self.within_segment(Some(match one_by_one {
            Some((begin, rest)) => Out::ScalarEpilogue(begin, rest),
            None => Out::Behind(to, done),
        }));
        if *step == 1 {
            self.turns_of_segment(*counter, (from, to, 1), body, done);
        } else if *aligned {
            self.aligned_turns(*counter, (from, to, *step), (body, epilogue), done);
        } else if *single_trip {
            self.define(*counter, Printed::Scalar(from, 0));
            self.stmts(epilogue);
            self.emit.builder.ins().jump(done, &[]);
        } else {
            let last = self.emit.builder.ins().iadd_imm_s(turns, -(*step as i64));
            let last = self.emit.builder.ins().iadd(from, last);
            let behind = self.emit.builder.create_block();
            if !body.is_empty() {
                let before = self.emit.builder.create_block();
                let some = self.emit.less(from, last);
                self.branch(some, before, behind);
                self.emit.begin(before);
                self.turns_of_segment(*counter, (from, last, *step), body, behind);
            } else {
                self.emit.builder.ins().jump(behind, &[]);
            }
            self.emit.begin(behind);
            self.define(*counter, Printed::Scalar(last, 0));
            self.stmts(epilogue);
            self.emit.builder.ins().jump(done, &[]);
        }
        if let Some((begin, one_by_one)) = one_by_one {
            self.emit.begin(one_by_one);
            let at = self.emit.builder.use_var(begin);
            let at = self.emit.builder.ins().umax(at, from);
            self.within_segment(Some(Out::Behind(to, done)));
            self.turns_of_segment(*counter, (at, to, 1), scalar_epilogue, done);
        }
        self.within_segment(around);
        self.emit.begin(done);
    }

    /// Whether what is written is in a segment.
    pub(super) fn is_in_segment(&self) -> bool {
        self.turns.as_ref().is_some_and(|t| t.segment.is_some())
    }

    /// What is written next is in a segment; which it was in before.
    fn within_segment(&mut self, segment: Option<Out>) -> Option<Out> {
        let turns = self.turns.as_mut()?;
        std::mem::replace(&mut turns.segment, segment)
    }

    /// So many steps as a multiple of those that are taken at a time. They are fewer than those of a span.
    fn whole(&mut self, size: Value, step: u64) -> Value {
        if step == 1 {
            return size;
        }
        let more = self.emit.builder.ins().iadd_imm_s(size, step as i64 - 1);
        self.emit.builder.ins().band_imm_s(more, -(step as i64))
    }

    /// Turns from one counter to another, at least one.
    fn turns_of_segment(
        &mut self,
        counter: ir::Value,
        (from, to, step): (Value, Value, u64),
        body: &[Stmt],
        done: Block,
    ) {
        let inside = self.emit.builder.create_block();
        let index = self.emit.builder.declare_var(types::I64);
        self.emit.builder.def_var(index, from);
        self.emit.builder.ins().jump(inside, &[]);
        self.emit.builder.switch_to_block(inside);
        let at = self.emit.builder.use_var(index);
        self.define(counter, Printed::Scalar(at, 0));
        self.stmts(body);
        let next = self.emit.builder.ins().iadd_imm_s(at, step as i64);
        self.emit.builder.def_var(index, next);
        let more = self.emit.less(next, to);
        self.branch(more, inside, done);
        self.emit.builder.seal_block(inside);
    }

    /// Turns that begin at multiples of their steps: those that have all of them, and others.
    fn aligned_turns(
        &mut self,
        counter: ir::Value,
        (from, to, step): (Value, Value, u64),
        (body, epilogue): (&[Stmt], &[Stmt]),
        done: Block,
    ) {
        let [inside, whole, part, behind] = [(); 4].map(|()| self.emit.builder.create_block());
        let index = self.emit.builder.declare_var(types::I64);
        let begin = self.emit.builder.ins().band_imm_s(from, -(step as i64));
        self.emit.builder.def_var(index, begin);
        self.emit.builder.ins().jump(inside, &[]);
        self.emit.builder.switch_to_block(inside);
        let at = self.emit.builder.use_var(index);
        self.define(counter, Printed::Scalar(at, 0));
        if body.is_empty() {
            self.emit.builder.ins().jump(part, &[]);
        } else {
            let before = self.emit.less(at, from);
            let left = self.emit.builder.ins().isub(to, at);
            let ins = self.emit.builder.ins();
            let last = ins.icmp_imm_u(IntCC::UnsignedLessThanOrEqual, left, step as i64);
            let either = self.emit.builder.ins().bor(before, last);
            self.branch(either, part, whole);
            self.emit.begin(whole);
            self.stmts(body);
            self.emit.builder.ins().jump(behind, &[]);
        }
        self.emit.begin(part);
        self.stmts(epilogue);
        self.emit.builder.ins().jump(behind, &[]);
        self.emit.begin(behind);
        let next = self.emit.builder.ins().iadd_imm_s(at, step as i64);
        self.emit.builder.def_var(index, next);
        let more = self.emit.less(next, to);
        self.branch(more, inside, done);
        self.emit.builder.seal_block(inside);
    }

    /// Its steps are taken, if there are so many left, and memory has capacity for them, or for whole turns; else the
    /// turn is rolled back.
    fn enter_segment(
        &mut self,
        after: Variable,
        (size, turns): (Value, Value),
        capacities: Vec<CapacityCheck>,
    ) {
        let left = self.emit.builder.use_var(after);
        let mut fits = self.emit.less(size, left);
        for capacity in capacities {
            let lengths: Vec<Value> = capacity
                .arrays
                .iter()
                .map(|a| self.emit.length(*a))
                .collect();
            let least = lengths.into_iter();
            let least = least.reduce(|least, length| self.emit.builder.ins().umin(least, length));
            let Some(length) = least else {
                continue;
            };
            let at = self.scalar(capacity.at);
            let inside = self.emit.less(at, length);
            let left = self.emit.builder.ins().isub(length, at);
            let steps = if capacity.whole { turns } else { size };
            let ins = self.emit.builder.ins();
            let enough = ins.icmp(IntCC::UnsignedGreaterThanOrEqual, left, steps);
            let both = self.emit.builder.ins().band(inside, enough);
            fits = self.emit.builder.ins().band(fits, both);
        }
        let on = self.emit.builder.create_block();
        self.roll_back_unless(fits, on);
        let left = self.emit.builder.ins().isub(left, size);
        self.emit.builder.def_var(after, left);
    }

    /// Goes on if a segment fits; else what is carried is as it was, and the range ends where the turn began.
    fn roll_back_unless(&mut self, fits: Value, on: Block) {
        let out = self.emit.builder.create_block();
        self.branch(fits, on, out);
        self.emit.begin(out);
        self.emit.builder.set_cold_block(out);
        let before = self.turns.as_ref().map(|t| (t.at, t.before.clone()));
        if let Some((Some(at), before)) = before {
            for (v, facet, value) in before {
                self.emit.set(v, facet, value);
            }
            self.leave(at);
        }
        self.emit.begin(on);
    }
}
