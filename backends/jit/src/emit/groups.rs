//! Carried variables and groups: where they start, how elements are joined onto them.

use super::slots::LOCAL;
use super::{Emit, Facet};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use livefusion_backend::abi::Run;
use livefusion_backend::facts;
use livefusion_backend::lanes::{self, Join};
use loop_lang::ir::{Atom, Combine, GroupId, Order, Var};
use loop_lang::types::{Const, Ty};
use std::mem::offset_of;

impl Emit<'_, '_> {
    pub(super) fn group_types(&self, g: GroupId) -> Vec<Ty> {
        let vars = self.program.groups[g.index()].vars.iter();
        vars.map(|v| facts::elem(self.program, *v)).collect()
    }

    /// The first word of the local part of a group's `i`-th variable.
    pub(super) fn local_word(&self, g: GroupId, i: usize) -> usize {
        self.layout.local(g, &self.program.groups[g.index()], i)
    }

    /// The first word of the tree of a scan's `i`-th variable: behind what registers may hold.
    pub(super) fn tree_word(&self, g: GroupId, i: usize) -> usize {
        self.local_word(g, i) + LOCAL.len()
    }

    /// Where the lane of this iteration's element is, in bytes from a variable's first lane.
    fn lane_offset(&mut self, g: GroupId, lanes: u32) -> Value {
        let index = self.lane_index(g, lanes);
        self.builder.ins().ishl_imm_u(index, 3)
    }

    /// The element's position in a group of `lanes`.
    pub(super) fn lane_index(&mut self, g: GroupId, lanes: u32) -> Value {
        let rate = self.loop_rate().and_then(|r| self.facts.lane_rate(g, r));
        match rate.and_then(|r| self.program.rate(r).kind.counter()) {
            Some(counter) if lanes > 1 => {
                let counter = self.get(counter, Facet::Value);
                self.builder.ins().band_imm_u(counter, i64::from(lanes - 1))
            }
            _ => self.u64(0),
        }
    }

    /// Lanes are kept in the frame's words all the time.
    fn lane_address(&mut self, g: GroupId) -> Value {
        let offset = match self.program.groups[g.index()].order {
            Order::Lanes(l) | Order::Prefix(l) => self.lane_offset(g, l),
            Order::Runs(_) => self.u64(8),
            Order::Exact | Order::Sequential => self.u64(0),
        };
        self.builder.ins().iadd(self.words, offset)
    }

    pub(super) fn load_lane(&mut self, g: GroupId, i: usize) -> Value {
        let ty = self.group_types(g)[i];
        let (at, offset) = (self.lane_address(g), self.local_word(g, i) as i32 * 8);
        self.load_word(ty, at, offset)
    }

    pub(super) fn store_lane(&mut self, g: GroupId, i: usize, value: Value) {
        let ty = self.group_types(g)[i];
        let (at, offset) = (self.lane_address(g), self.local_word(g, i) as i32 * 8);
        self.store_word(ty, value, at, offset);
    }

    /// Where what readers see of a carried variable is, if it is in no lane.
    pub(super) fn seen(&self, v: Var) -> Facet {
        match self.facts.local_group(self.program, v) {
            Some((_, _, Order::Prefix(_))) => Facet::Now,
            _ => Facet::Value,
        }
    }

    /// Whether an update of `v` waits for the guard.
    fn waits(&self, v: Var) -> bool {
        let at_end = self.facts.waits_at_end(self.place, v);
        at_end.unwrap_or_else(|| self.facts.waits(self.loop_rate(), v))
    }

    /// The value of `v` that an update replaces.
    pub(super) fn current(&mut self, v: Var) -> Value {
        match self.facts.local_group(self.program, v) {
            Some((_, _, Order::Prefix(_))) => self.get(v, Facet::Now),
            Some((g, i, _)) => self.load_lane(g, i),
            None => self.get(v, Facet::Value),
        }
    }

    pub(super) fn set_current(&mut self, v: Var, value: Value) {
        match self.facts.local_group(self.program, v) {
            Some((_, _, Order::Prefix(_))) => self.set(v, Facet::Now, value),
            Some((g, i, _)) => self.store_lane(g, i, value),
            None => self.set(v, Facet::Value, value),
        }
    }

    /// An update, at once or at the guard. Where it does not wait, the next value follows.
    pub(super) fn assign(&mut self, v: Var, value: Value) {
        let waits = self.waits(v);
        if waits {
            self.set(v, Facet::Next, value);
            return;
        }
        self.set_current(v, value);
        if self.facts.ever_waits(v) {
            self.set(v, Facet::Next, value);
        }
    }

    pub(super) fn carry(&mut self, v: Var, start: Atom) {
        let start = self.atom(start);
        self.set(v, Facet::Value, start);
        if let Some((g, i, order)) = self.facts.local_group(self.program, v) {
            if let Order::Prefix(_) = order {
                self.set(v, Facet::Now, start);
            }
            self.reset(g, i);
        }
        if self.facts.ever_waits(v) {
            self.set(v, Facet::Next, start);
        }
    }

    /// Sets the local part of a group's `i`-th variable to the identity.
    pub(super) fn reset(&mut self, g: GroupId, i: usize) {
        let group = &self.program.groups[g.index()];
        let v = group.vars[i];
        let ty = facts::elem(self.program, v);
        let zero = Atom::Const(Const::zero(ty));
        let identity = self.atom(group.identity.get(i).copied().unwrap_or(zero));
        let first = self.local_word(g, i);
        match (group.order.lanes(), group.order) {
            (Some(lanes), _) => {
                let word = self.word_of(ty, identity);
                let offset = first as i64 * 8;
                let at = self.builder.ins().iadd_imm_s(self.words, offset);
                let count = self.u64(u64::from(lanes));
                let fill = lanes::fill as *const () as usize;
                self.call_runtime(fill, [at, count, word]);
            }
            (None, Order::Prefix(l)) => {
                self.set(v, Facet::Total, identity);
                self.set(v, Facet::Last, identity);
                for k in 0..l.trailing_zeros() as usize {
                    let offset = (self.tree_word(g, i) + k) as i32 * 8;
                    self.store_word(ty, identity, self.words, offset);
                }
            }
            (None, _) => {}
        }
    }

    /// Calls a function of the host on words.
    pub(super) fn call_runtime(&mut self, function: usize, args: [Value; 3]) {
        let mut signature = Signature::new(self.frontend.default_call_conv);
        signature.params = vec![AbiParam::new(types::I64); args.len()];
        let signature = self.builder.import_signature(signature);
        let address = self.u64(function as u64);
        let ins = self.builder.ins();
        ins.call_indirect(signature, address, &args);
    }

    /// Joins elements onto a `Prefix` group: a tree inside of a block, blocks left to right.
    pub(super) fn scan(&mut self, results: &[Var], g: GroupId, elems: &[Atom]) {
        let group = &self.program.groups[g.index()];
        let Order::Prefix(l) = group.order else {
            return;
        };
        let types = self.group_types(g);
        let elems: Vec<Value> = elems.iter().map(|a| self.atom(*a)).collect();
        let at = self.lane_index(g, l);
        let sums = self.scan_tree(g, l, at, elems, &types);
        let all = |emit: &mut Self, facet| -> Vec<Value> {
            group.vars.iter().map(|v| emit.get(*v, facet)).collect()
        };
        let totals = all(self, Facet::Total);
        let lasts = self.combine(group.combine, &totals, &sums, &types);
        let prefixes = all(self, Facet::Value);
        let outs = self.combine(group.combine, &prefixes, &lasts, &types);
        let full = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::Equal, at, i64::from(l - 1));
        for (i, v) in group.vars.iter().enumerate() {
            let total = self.builder.ins().select(full, lasts[i], totals[i]);
            self.set(*v, Facet::Last, lasts[i]);
            self.set(*v, Facet::Total, total);
            self.set(results[i], Facet::Value, outs[i]);
            self.assign(*v, outs[i]);
        }
    }

    /// An element, number `at` of its block, joined with the elements of the block before it.
    fn scan_tree(
        &mut self,
        g: GroupId,
        l: u32,
        at: Value,
        elems: Vec<Value>,
        types: &[Ty],
    ) -> Vec<Value> {
        let combine = self.program.groups[g.index()].combine;
        let places: Vec<i32> = (0..types.len())
            .map(|i| self.tree_word(g, i) as i32 * 8)
            .collect();
        let mut sums = elems;
        for k in 0..l.trailing_zeros() {
            let bit = self.builder.ins().ushr_imm_u(at, i64::from(k));
            let bit = self.builder.ins().band_imm_u(bit, 1);
            let join = self.builder.create_block();
            let keep = self.builder.create_block();
            let after = self.builder.create_block();
            for ty in types {
                self.builder.append_block_param(after, Self::register(*ty));
            }
            self.builder.ins().brif(bit, join, &[], keep, &[]);
            let offset = |i: usize| places[i] + 8 * k as i32;
            self.begin(join);
            let left: Vec<Value> = types
                .iter()
                .enumerate()
                .map(|(i, ty)| self.load_word(*ty, self.words, offset(i)))
                .collect();
            let joined = self.combine(combine, &left, &sums, types);
            let joined: Vec<_> = joined.into_iter().map(Into::into).collect();
            self.builder.ins().jump(after, &joined);
            self.begin(keep);
            for (i, ty) in types.iter().enumerate() {
                self.store_word(*ty, sums[i], self.words, offset(i));
            }
            let kept: Vec<_> = sums.into_iter().map(Into::into).collect();
            self.builder.ins().jump(after, &kept);
            self.begin(after);
            sums = self.builder.block_params(after).to_vec();
        }
        sums
    }

    /// `left (+) right`, all values of the given types. Of a group without an operator the later stays.
    pub(super) fn combine(
        &mut self,
        combine: Option<Combine>,
        left: &[Value],
        right: &[Value],
        types: &[Ty],
    ) -> Vec<Value> {
        match combine {
            None => right.to_vec(),
            Some(Combine::Op(op)) => {
                let pairs = left.iter().zip(right).zip(types);
                pairs
                    .map(|((x, y), ty)| self.op(op, *ty, *ty, &[*x, *y]))
                    .collect()
            }
            Some(Combine::Fn(f)) => {
                let function = &self.program.functions[f.index()];
                let values = left.iter().chain(right);
                for (v, value) in function.params.iter().zip(values) {
                    self.set(*v, Facet::Value, *value);
                }
                self.stmts(&function.body);
                let results = function.results.iter();
                results.map(|a| self.atom(*a)).collect()
            }
        }
    }

    /// Joins lanes by halves onto a copy of the prefix; gives the totals.
    pub(super) fn join_lanes(&mut self, g: GroupId) -> Vec<Value> {
        let group = &self.program.groups[g.index()];
        let Some(l) = group.order.lanes() else {
            return Vec::new();
        };
        let types = self.group_types(g);
        let offset = |i: usize| self.local_word(g, i) as i64 * 8;
        let words: Vec<i64> = (0..types.len()).map(offset).collect();
        let mut at: Vec<Value> = Vec::new();
        for word in words {
            at.push(self.builder.ins().iadd_imm_s(self.words, word));
        }
        if l > 1 {
            let joins = match group.combine {
                Some(Combine::Op(op)) if !self.turns_itself => {
                    types.iter().map(|ty| lanes::join(op, *ty)).collect()
                }
                _ => None,
            };
            if let Some(joins) = joins {
                return self.joined_by_runtime(g, l, &at, joins);
            }
            at = self.join_halves(g, l, &at, &types);
        }
        let lanes = self.load_at(&at, &types);
        self.onto_prefix(g, &lanes, &types)
    }

    /// The same, where a function of the host does it for each variable.
    fn joined_by_runtime(
        &mut self,
        g: GroupId,
        l: u32,
        at: &[Value],
        joins: Vec<Join>,
    ) -> Vec<Value> {
        let types = self.group_types(g);
        let count = self.u64(u64::from(l));
        let scratch = self.of_run(offset_of!(Run<'_, '_>, scratch));
        let mut joined = Vec::new();
        for ((at, join), ty) in at.iter().zip(joins).zip(&types) {
            self.call_runtime(join as usize, [*at, count, scratch]);
            joined.push(self.load_word(*ty, scratch, 0));
        }
        self.onto_prefix(g, &joined, &types)
    }

    /// Joins the `l` lanes of each variable, which are at `words`, until one is left; gives where. The
    /// first halves are joined from the words into scratch memory, the others in place.
    fn join_halves(&mut self, g: GroupId, l: u32, words: &[Value], types: &[Ty]) -> Vec<Value> {
        let combine = self.program.groups[g.index()].combine;
        let scratch = self.of_run(offset_of!(Run<'_, '_>, scratch));
        let mut to = Vec::new();
        let mut from = Vec::new();
        for (i, word) in words.iter().enumerate() {
            let place = i as i64 * i64::from(l) * 8;
            to.push(self.builder.ins().iadd_imm_s(scratch, place));
            let variable = self.builder.declare_var(types::I64);
            self.builder.def_var(variable, *word);
            from.push(variable);
        }
        let half = self.builder.declare_var(types::I64);
        let first = self.u64(u64::from(l / 2));
        self.builder.def_var(half, first);
        let head = self.builder.create_block();
        let after = self.builder.create_block();
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        let count = self.builder.use_var(half);
        self.repeat(count, |emit, j| {
            let offset = emit.builder.ins().ishl_imm_u(j, 3);
            let across = emit.builder.ins().ishl_imm_u(count, 3);
            let mut left = Vec::new();
            let mut right = Vec::new();
            for from in &from {
                let base = emit.builder.use_var(*from);
                let at = emit.builder.ins().iadd(base, offset);
                left.push(at);
                right.push(emit.builder.ins().iadd(at, across));
            }
            let left = emit.load_at(&left, types);
            let right = emit.load_at(&right, types);
            let joined = emit.combine(combine, &left, &right, types);
            for (i, value) in joined.into_iter().enumerate() {
                let at = emit.builder.ins().iadd(to[i], offset);
                emit.store_word(types[i], value, at, 0);
            }
        });
        for (from, to) in from.iter().zip(&to) {
            self.builder.def_var(*from, *to);
        }
        let next = self.builder.ins().ushr_imm_u(count, 1);
        self.builder.def_var(half, next);
        self.builder.ins().brif(next, head, &[], after, &[]);
        self.builder.seal_block(head);
        self.begin(after);
        to
    }

    fn load_at(&mut self, at: &[Value], types: &[Ty]) -> Vec<Value> {
        let pairs = types.iter().zip(at);
        pairs.map(|(ty, at)| self.load_word(*ty, *at, 0)).collect()
    }

    /// At the end of a run: it is joined onto the chunk's runs before.
    pub(super) fn join_run(&mut self, g: GroupId) {
        let group = &self.program.groups[g.index()];
        let types = self.group_types(g);
        let before: Vec<i32> = (0..types.len())
            .map(|i| self.local_word(g, i) as i32 * 8)
            .collect();
        let run: Vec<i32> = before.iter().map(|at| at + 8).collect();
        let left = self.load_words(self.words, &before, &types);
        let right = self.load_words(self.words, &run, &types);
        let joined = self.combine(group.combine, &left, &right, &types);
        for (i, (ty, value)) in types.iter().zip(joined).enumerate() {
            let zero = Atom::Const(Const::zero(*ty));
            let identity = self.atom(group.identity.get(i).copied().unwrap_or(zero));
            self.store_word(*ty, value, self.words, before[i]);
            self.store_word(*ty, identity, self.words, run[i]);
        }
    }

    fn load_words(&mut self, at: Value, offsets: &[i32], types: &[Ty]) -> Vec<Value> {
        let pairs = types.iter().zip(offsets);
        pairs
            .map(|(ty, offset)| self.load_word(*ty, at, *offset))
            .collect()
    }

    fn onto_prefix(&mut self, g: GroupId, lanes: &[Value], types: &[Ty]) -> Vec<Value> {
        let group = &self.program.groups[g.index()];
        let vars = group.vars.iter();
        let prefixes: Vec<Value> = vars.map(|v| self.get(*v, Facet::Value)).collect();
        self.combine(group.combine, &prefixes, lanes, types)
    }
}
