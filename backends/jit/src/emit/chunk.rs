//! Where a paused machine looks: traps, ends of chunks, the end of the span; and how it goes on.

use super::{Emit, Facet};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, JumpTableData, types};
use loop_lang::ir::{CHUNK, GroupId, Order, Place, Section, Var};

/// Whether a group of this order has a local part.
fn is_local(order: Order) -> bool {
    order.is_local()
}

impl Emit<'_, '_> {
    /// What happens at a stop, when all is in the frame: a trap ends the pass, a full chunk is joined, a
    /// spent budget pauses.
    pub(super) fn event(&mut self) {
        self.begin(self.event_block);
        self.builder.set_cold_block(self.event_block);
        if self.traps {
            let trapped = self.builder.use_var(self.trapped);
            let on = self.builder.create_block();
            let out = self.trapped_block;
            self.builder.ins().brif(trapped, out, &[], on, &[]);
            self.begin(on);
        }
        let steps = self.load_steps();
        let position = self.load_position();
        let groups = self.program.groups.iter().enumerate();
        let local: Vec<GroupId> = groups
            .filter(|(_, g)| is_local(g.order))
            .map(|(i, _)| GroupId::new(i))
            .collect();
        for (i, group) in self.program.groups.iter().enumerate() {
            if let Order::Runs(run) = group.order {
                let into = self.builder.ins().band_imm_u(steps, i64::from(run) - 1);
                let full = self.builder.ins().icmp_imm_u(IntCC::Equal, into, 0);
                self.only_if(full, |emit| emit.join_run(GroupId::new(i)));
            }
        }
        if !local.is_empty() {
            let some = self.builder.ins().icmp_imm_u(IntCC::NotEqual, steps, 0);
            let into = self.builder.ins().band_imm_u(steps, CHUNK as i64 - 1);
            let full = self.builder.ins().icmp_imm_u(IntCC::Equal, into, 0);
            let full = self.builder.ins().band(some, full);
            self.only_if(full, |emit| {
                for g in local {
                    emit.join_at(g, position);
                }
            });
        }
        let spent = self.builder.ins().icmp(IntCC::Equal, steps, self.limit);
        let (paused, on) = (self.paused_block, self.builder.create_block());
        self.builder.ins().brif(spent, paused, &[], on, &[]);
        self.begin(on);
        self.set_event(steps);
        self.resume(position);
    }

    /// Goes on at the frame's position.
    fn resume(&mut self, position: cranelift_codegen::ir::Value) {
        let facts = self.facts;
        let guards: Vec<Option<usize>> = (self.layout.resume.iter())
            .map(|rate| {
                let guard = Place::At {
                    rate: *rate,
                    stage: 0,
                    section: Section::Guard,
                };
                facts.at.get(&guard).copied()
            })
            .collect();
        let blocks: Vec<_> = guards.iter().map(|_| self.builder.create_block()).collect();
        let call = |emit: &mut Self, block| {
            let pool = &mut emit.builder.func.dfg.value_lists;
            cranelift_codegen::ir::BlockCall::new(block, [], pool)
        };
        let nowhere = call(self, self.trapped_block);
        let targets: Vec<_> = blocks.iter().map(|b| call(self, *b)).collect();
        let table = JumpTableData::new(nowhere, &targets);
        let table = self.builder.create_jump_table(table);
        let position = self.builder.ins().iadd_imm_s(position, -1);
        let position = self.builder.ins().ireduce(types::I32, position);
        self.builder.ins().br_table(position, table);
        for (k, (block, guard)) in blocks.into_iter().zip(guards).enumerate() {
            self.begin(block);
            self.builder.set_cold_block(block);
            self.restore(k + 1);
            match guard {
                Some(i) => self.jump(i),
                None => self.fail(),
            }
        }
    }

    /// Joins a group at the end of a chunk, unless an iteration that would update it is under way.
    fn join_at(&mut self, g: GroupId, position: cranelift_codegen::ir::Value) {
        let below = self.below(g);
        if below.is_empty() {
            return self.join_chunk(g);
        }
        let mut idle = self.builder.ins().iconst(types::I8, 1);
        for k in below {
            let k = k as i64;
            let elsewhere = self.builder.ins().icmp_imm_u(IntCC::NotEqual, position, k);
            idle = self.builder.ins().band(idle, elsewhere);
        }
        self.only_if(idle, |emit| emit.join_chunk(g));
    }

    /// Joins what a chunk added to a group onto its prefix, in the frame's words.
    fn join_chunk(&mut self, g: GroupId) {
        let group = &self.program.groups[g.index()];
        let words = group.vars.iter().enumerate();
        let words: Option<Vec<(Var, usize, usize)>> = words
            .map(|(i, v)| Some((*v, self.layout.word(*v)?, self.local_word(g, i))))
            .collect();
        // What is nowhere carried has no prefix.
        let Some(words) = words else { return };
        let types = self.group_types(g);
        let prefix = matches!(group.order, Order::Prefix(_));
        for (i, (v, word, local)) in words.iter().enumerate() {
            let value = self.load_word(types[i], self.words, *word as i32 * 8);
            self.set(*v, Facet::Value, value);
            if prefix {
                let last = self.load_word(types[i], self.words, (*local + 2) as i32 * 8);
                self.set(*v, Facet::Last, last);
            }
        }
        let totals = if prefix {
            let vars = group.vars.iter();
            let prefixes: Vec<_> = vars.map(|v| self.get(*v, Facet::Value)).collect();
            let vars = group.vars.iter();
            let lasts: Vec<_> = vars.map(|v| self.get(*v, Facet::Last)).collect();
            self.combine(group.combine, &prefixes, &lasts, &types)
        } else {
            self.join_lanes(g)
        };
        for (i, (v, word, local)) in words.iter().enumerate() {
            self.store_word(types[i], totals[i], self.words, *word as i32 * 8);
            self.reset(g, i);
            if prefix {
                for (part, offset) in [(Facet::Total, 1), (Facet::Last, 2)] {
                    let value = self.get(*v, part);
                    let at = (*local + offset) as i32 * 8;
                    self.store_word(types[i], value, self.words, at);
                }
            }
        }
    }

    pub(super) fn any_joins_above(&self) -> bool {
        let groups = self.program.groups.iter().enumerate();
        let mut local = groups.filter(|(_, g)| is_local(g.order));
        local.any(|(i, _)| !self.below(GroupId::new(i)).is_empty())
    }

    /// Positions of the loop rates strictly below that of a group's step.
    fn below(&self, g: GroupId) -> Vec<usize> {
        let resume = self.layout.resume.iter().enumerate();
        resume
            .filter(|(_, r)| self.facts.is_below(self.program, g, **r))
            .map(|(k, _)| k + 1)
            .collect()
    }
}
