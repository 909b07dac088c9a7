//! How the machine pauses and goes on: what it knows moves to the frame's words and back.

use super::slots::local_words;
use super::{Emit, Facet, MEMORY};
use cranelift_codegen::ir::{InstBuilder, types};
use livefusion_backend::facts;
use loop_lang::ir::{GroupId, Order, Var};

impl Emit<'_, '_> {
    /// Saves everything at a position.
    pub(super) fn save(&mut self, position: u64) {
        let value = self.u64(position);
        self.builder.ins().store(MEMORY, value, self.words, 0);
        let steps = self.builder.use_var(self.steps);
        self.builder.ins().store(MEMORY, steps, self.words, 8);
        let (facts, program) = (self.facts, self.program);
        for v in &facts.carried {
            let waits = facts.ever_waits(*v);
            match (facts.local_group(program, *v), self.held.get(v).copied()) {
                (None, Some(word)) => {
                    let facet = if waits { Facet::Next } else { Facet::Value };
                    self.save_word(*v, facet, word);
                }
                (Some((g, _, Order::Lanes(_) | Order::Runs(_))), _)
                    if waits && self.is_below(g, position) =>
                {
                    let next = self.get(*v, Facet::Next);
                    self.set_current(*v, next);
                }
                _ => {}
            }
        }
        for (v, word) in &self.layout.saved {
            self.save_word(*v, self.kept(*v), *word);
        }
        for (v, facet, word) in local_words(program, self.layout) {
            self.save_word(v, facet, word);
        }
    }

    /// What the word of a saved variable keeps. Updates that wait for outer iterations under way are
    /// done early, unless the old value is read once more; then the layout holds the next one too.
    fn kept(&self, v: Var) -> Facet {
        let plain = self.facts.local_group(self.program, v).is_none();
        match plain && self.facts.ever_waits(v) && !self.held.contains_key(&v) {
            true => Facet::Next,
            false => Facet::Value,
        }
    }

    /// Takes everything back at a loop rate's guard.
    pub(super) fn restore(&mut self, position: usize) {
        self.load_steps();
        if let Some(rate) = self.layout.resume.get(position - 1) {
            // Each phase deals elements to lanes by a counter of its own.
            self.place = facts::guard_of(*rate);
        }
        let (facts, program) = (self.facts, self.program);
        for (v, word) in &self.layout.saved {
            self.restore_word(*v, Facet::Value, *word);
        }
        for (v, facet, word) in local_words(program, self.layout) {
            self.restore_word(v, facet, word);
        }
        for v in &facts.carried {
            let waits = facts.ever_waits(*v);
            match (facts.local_group(program, *v), self.held.get(v).copied()) {
                (None, Some(word)) => {
                    let facet = if waits { Facet::Next } else { Facet::Value };
                    self.restore_word(*v, facet, word);
                }
                (None, None) | (Some((_, _, Order::Lanes(_) | Order::Runs(_))), _) if waits => {
                    let current = self.current(*v);
                    self.set(*v, Facet::Next, current);
                }
                _ => {}
            }
        }
        for (i, group) in program.groups.iter().enumerate() {
            if matches!(group.order, Order::Prefix(_)) {
                self.next_of_scan(GroupId::new(i), position as u64);
            }
        }
        if let Some(rate) = self.layout.resume.get(position - 1) {
            self.totals_at(*rate);
        }
    }

    /// In an inner loop the next value of a scan is found again from the group's prefix and last local
    /// value; elsewhere nothing waits.
    fn next_of_scan(&mut self, g: GroupId, position: u64) {
        let group = &self.program.groups[g.index()];
        let next = |emit: &Self, v| match emit.facts.ever_waits(v) {
            true => Facet::Next,
            false => Facet::Now,
        };
        if !self.is_below(g, position) {
            for v in &group.vars {
                let now = self.get(*v, Facet::Now);
                self.set(*v, next(self, *v), now);
            }
            return;
        }
        let types = self.group_types(g);
        let vars = group.vars.iter();
        let prefixes: Vec<_> = vars.map(|v| self.get(*v, Facet::Value)).collect();
        let vars = group.vars.iter();
        let lasts: Vec<_> = vars.map(|v| self.get(*v, Facet::Last)).collect();
        // What is joined here was joined before: a trap in it was seen then.
        let trapped = self.builder.use_var(self.trapped);
        let nexts = self.combine(group.combine, &prefixes, &lasts, &types);
        self.builder.def_var(self.trapped, trapped);
        for (v, value) in group.vars.iter().zip(nexts) {
            self.set(*v, next(self, *v), value);
        }
    }

    /// Whether a position is strictly inside of the loop that updates a group.
    pub(super) fn is_below(&self, g: GroupId, position: u64) -> bool {
        let at = (position as usize).checked_sub(1);
        let at = at.and_then(|k| self.layout.resume.get(k));
        at.is_some_and(|at| self.facts.is_below(self.program, g, *at))
    }

    fn save_word(&mut self, v: Var, facet: Facet, word: usize) {
        if self.slots.get(&(v, facet)) == Some(&word) {
            return;
        }
        let value = self.get(v, facet);
        let ty = facts::elem(self.program, v);
        self.store_word(ty, value, self.words, word as i32 * 8);
    }

    fn restore_word(&mut self, v: Var, facet: Facet, word: usize) {
        if self.slots.get(&(v, facet)) == Some(&word) {
            return;
        }
        let ty = facts::elem(self.program, v);
        let value = self.load_word(ty, self.words, word as i32 * 8);
        self.set(v, facet, value);
    }

    /// After a trap nothing else counts, missing memory neither.
    pub(super) fn leave_trapped(&mut self) {
        if self.traps {
            let trapped = self.builder.use_var(self.trapped);
            let on = self.builder.create_block();
            let out = self.builder.create_block();
            self.builder.ins().brif(trapped, out, &[], on, &[]);
            self.begin(out);
            let outcome = i64::from(livefusion_backend::abi::outcome::TRAPPED);
            let outcome = self.builder.ins().iconst(types::I32, outcome);
            self.builder.ins().return_(&[outcome]);
            self.begin(on);
        }
    }
}
