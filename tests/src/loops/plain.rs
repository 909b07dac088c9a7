//! Random loops of the shapes that tiles vectorise.
//!
//! They have one root, nested filters, reads and writes at the counter and at filters' counts, and
//! reorderable folds. Other features are rare.

use super::statements::monoids;
use super::{Argument, Making, RandomLoop, TYPES};
use crate::program::buffer;
use crate::rng::Rng;
use crate::scalar;
use loop_lang::types::Ty;

/// The length of most arrays that are read at the counter.
const LONG: usize = 200;

/// Returns the loop of a seed.
pub fn plain(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.traps = usize::from(m.rng.chance(40));
    m.parameters();
    m.long_arrays();
    let len = m.rng.pick(&[7, 32, 37, 64, 70, 100, 130, 300]);
    m.emit("init", "0", format!("let len_0 = copy {len}"));
    m.emit("init", "0", "carry ix_0 = 0");
    m.counted_guard("0", "len_0");
    m.count_up("0", "bottom");
    m.rates.push(String::new());
    let parts = m.plain_rate(0, "ix_0", 0);
    m.rates[0] = format!("rate r0 root ix_0 < len_0 {{ {parts} }}");
    m.finish(seed)
}

impl Making {
    /// Arrays of every type that are read at a counter. Half of the float arrays have no dominating
    /// element and no exact sums, so an element in the wrong lane changes bits.
    pub(super) fn long_arrays(&mut self) {
        for ty in TYPES {
            let rounds = ty.is_float() && self.rng.chance(50);
            let words = (0..LONG).map(|_| match rounds {
                true => scalar::rounding(&mut self.rng, ty),
                false => scalar::random(&mut self.rng, ty),
            });
            let words: Vec<u64> = words.collect();
            self.params.push(format!("param long_{ty}: [{ty}] random"));
            self.args.push(Argument::Array(buffer(ty, &words)));
        }
    }

    /// The contents of a rate, including nested filters; returns the text of its parts.
    pub(super) fn plain_rate(&mut self, rate: usize, counter: &str, depth: usize) -> String {
        let (name, comb) = (format!("r{rate}"), rate.to_string());
        let before = self.pool.len();
        self.combs.push(format!("comb {comb} map at {name}"));
        // A use of a count forces scalar steps. Without a use of the counter, filters may be the
        // first to use it.
        let looked_at = if depth == 0 { 60 } else { 5 };
        if self.rng.chance(looked_at) {
            self.pool.push((counter.into(), Ty::U64));
        }
        for _ in 0..self.rng.range(1, 3) {
            let ty = self.rng.pick(&TYPES);
            let elt = self.fresh("elt", &comb);
            let (from, at) = match self.rng.weighted(&[55, 10, 15, 20]) {
                0 => ("long", "ix_0".to_string()),
                1 => ("tab", "ix_0".to_string()),
                2 => {
                    let last = self.rng.pick(&[LONG as u64 - 1, 150, 20]);
                    ("long", self.mirrored("body", &comb, &last.to_string()))
                }
                _ => {
                    let (at, n) = (self.fresh("at", &comb), self.rng.range(2, LONG));
                    self.emit("body", &comb, format!("let {at} = rem ix_0 {n}"));
                    ("long", at)
                }
            };
            let line = format!("let {elt} = readArray {from}_{ty} {at}");
            self.emit("body", &comb, line);
            self.pool.push((elt, ty));
        }
        for _ in 0..self.rng.below(4) {
            let deep = if self.rng.chance(55) { 2 } else { 0 };
            let lines = self.compute(&comb, deep);
            lines.into_iter().for_each(|l| self.emit("body", &comb, l));
        }
        if self.traps > 0 && self.rng.chance(40) {
            self.plain_trap(&comb);
        }
        for _ in 0..self.rng.below(3) {
            self.plain_fold(&name, &comb);
        }
        // All blocks of vectors have this length; after a filter the length is 1.
        let block = match depth {
            0 => self.rng.pick(&[1, 2, 4, 8, 16]),
            _ => 1,
        };
        let scans = if depth == 0 { [60, 25, 15] } else { [94, 4, 2] };
        for _ in 0..self.rng.weighted(&scans) {
            self.plain_scan(&name, &comb, block);
        }
        if depth == 0 && self.rng.chance(15) {
            self.plain_exit(&comb);
        }
        let writes = if depth == 0 {
            [40, 45, 15]
        } else {
            [65, 25, 10]
        };
        for _ in 0..self.rng.weighted(&writes) {
            self.plain_write(&comb, counter);
        }
        if self.rng.chance(15) {
            self.plain_join(&comb);
        }
        let filters = match depth {
            0 => self.rng.weighted(&[20, 50, 30]),
            1 => self.rng.weighted(&[40, 50, 10]),
            _ => 0,
        };
        let mut parts = vec!["stage 0".to_string()];
        for _ in 0..filters {
            let i = self.rates.len();
            self.rates.push(String::new());
            self.plain_filter(&name, i, depth + 1);
            parts.push(format!("child r{i}"));
        }
        self.pool.truncate(before);
        parts.join("; ")
    }

    /// An index that decreases from the last one.
    fn mirrored(&mut self, section: &str, comb: &str, last: &str) -> String {
        let [from, at] = ["last", "rix"].map(|base| self.fresh(base, comb));
        self.emit("init", comb, format!("let {from} = copy {last}"));
        self.emit(section, comb, format!("let {at} = sub {from} ix_0"));
        at
    }

    fn plain_filter(&mut self, parent: &str, i: usize, depth: usize) {
        let (comb, count) = (i.to_string(), format!("ix_{i}"));
        let p = self.condition("guard", &comb);
        self.emit("guard", &comb, format!("unless {p}"));
        self.emit("init", &comb, format!("carry {count} = 0"));
        self.groups.push(format!(
            "group {count} owner r0 step r{i} start 0 id 0 next nix_{i} combine add level 0 exact"
        ));
        let parts = self.plain_rate(i, &count, depth);
        self.count_up(&comb, "yield");
        self.results.push(count.clone());
        self.rates[i] = format!("rate r{i} sub {parent} count {count} {{ {parts} }}");
    }

    /// A trap in an arm.
    pub(super) fn plain_trap(&mut self, comb: &str) {
        let p = self.condition("body", comb);
        let [ok, v] = ["ok", "if"].map(|base| self.fresh(base, comb));
        let (at, k) = (self.rng.below(60), self.trap_lines.len());
        self.trap_lines.push(format!("trap t{k} {comb} outOfRange"));
        let trap = format!("let {ok} = ne ix_0 {at}\ntrap unless {ok}, t{k} (ix_0) @{comb}\n");
        let (then, other) = match self.rng.chance(50) {
            true => (&trap[..], ""),
            false => ("", &trap[..]),
        };
        let line = format!("if {p} {{\n{then}}} else {{\n{other}}} -> {v} = 1 | 2");
        self.emit("body", comb, line);
    }

    /// A flag that an element clears after some steps, and that ends the loop.
    pub(super) fn plain_exit(&mut self, comb: &str) {
        self.exit_at(comb, comb);
    }

    /// The same, with different combinators for the guard and for the clearing.
    pub(super) fn exit_at(&mut self, guard: &str, comb: &str) {
        let p = self.condition("yield", comb);
        let [live, few, go] = ["live", "few", "go"].map(|base| self.fresh(base, comb));
        let at = self.rng.below(150);
        self.emit("init", comb, format!("carry {live} = true"));
        self.emit("guard", guard, format!("unless {live}"));
        self.emit("yield", comb, format!("let {few} = lt ix_0 {at}"));
        self.emit("yield", comb, format!("let {go} = or {few} {p}"));
        self.emit("yield", comb, format!("{live} := {go}"));
        self.groups.push(format!(
            "group {live} owner r0 step r0 start true id true next {go} combine and level 0 exact"
        ));
        self.results.push(live);
    }

    /// Float lanes, or a reduction of integers.
    pub(super) fn plain_fold(&mut self, rate: &str, comb: &str) {
        let (ty, op, id, order) = match self.rng.chance(50) {
            true => {
                let ty = self.rng.pick(&[Ty::F32, Ty::F64]);
                let (op, id) = self.float_monoid(ty);
                let lanes = self.rng.pick(&[4, 8, 32, 32]);
                (ty, op, id, format!("lanes {lanes}"))
            }
            false => {
                let ty = self.rng.pick(&[Ty::I64, Ty::U16, Ty::I8]);
                let (op, id) = self
                    .rng
                    .pick(&[("add", 0), ("mul", 1), ("xor", 0), ("or", 0)]);
                (ty, op, format!("{id}{ty}"), "exact".to_string())
            }
        };
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, comb));
        let (start, x) = (self.literal(ty), self.atom(ty));
        self.emit("init", comb, format!("carry {acc} = {start}"));
        self.emit("yield", comb, format!("let {new} = {op} {acc} {x}"));
        self.emit("yield", comb, format!("{acc} := {new}"));
        self.groups.push(format!(
            "group {acc} owner r0 step {rate} start {start} id {id} next {new} combine {op} level 0 {order}"
        ));
        self.results.push(acc);
    }

    /// A scan, by an operator or, rarely, of a pair by a function. The values before and after an
    /// update may be read later.
    pub(super) fn plain_scan(&mut self, rate: &str, comb: &str, block: u32) {
        if self.rng.chance(15) {
            let [a, b, na, nb] = ["a", "b", "na", "nb"].map(|base| self.fresh(base, comb));
            let join = self.join_pairs(comb);
            let (x, y) = (self.atom(Ty::I64), self.atom(Ty::I64));
            for v in [&a, &b] {
                self.emit("init", comb, format!("carry {v} = 3i64"));
            }
            let line = format!("let {na}, {nb} = scan {a}, {b} with {x}, {y}");
            self.emit("body", comb, line);
            self.groups.push(format!(
                "group {a}, {b} owner r0 step {rate} start 3i64, 3i64 id 1i64, 0i64 next {na}, {nb} combine {join} \
                 level 0 prefix {block}"
            ));
            self.pool.extend([(nb, Ty::I64), (a, Ty::I64)]);
            self.results.push(b);
            return;
        }
        let ty = self.rng.pick(&[Ty::F32, Ty::F64, Ty::I64, Ty::I8]);
        let (op, id) = match ty.is_float() {
            true => self.float_monoid(ty),
            false => {
                let (op, id) = self.rng.pick(&[("add", 0), ("mul", 1), ("xor", 0)]);
                (op, format!("{id}{ty}"))
            }
        };
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, comb));
        let (start, x) = (self.literal(ty), self.atom(ty));
        self.emit("init", comb, format!("carry {acc} = {start}"));
        self.emit("body", comb, format!("let {new} = scan {acc} with {x}"));
        self.groups.push(format!(
            "group {acc} owner r0 step {rate} start {start} id {id} next {new} combine {op} level 0 prefix {block}"
        ));
        self.pool.push((new, ty));
        if self.rng.chance(50) {
            let out = self.fresh("out", comb);
            let line = format!("let {out} = fillArray {ty} len_0 {start}");
            self.emit("init", comb, line);
            self.emit("yield", comb, format!("writeArray {out} ix_0 {acc}"));
            self.results.push(out);
            self.pool.push((acc.clone(), ty));
        }
        self.results.push(acc);
    }

    /// An array with scattered updates or writes. Rarely it is shared with other updates, or two
    /// arrays are updated by a function.
    pub(super) fn plain_join(&mut self, comb: &str) {
        if self.rng.chance(20) {
            return self.plain_pair(comb);
        }
        let ty = self.rng.pick(&TYPES);
        let known = self.outs.iter().find(|(_, of)| *of == ty).cloned();
        let out = match known.filter(|_| self.rng.chance(30)) {
            Some((out, _)) => out,
            None => {
                let (out, n) = (self.fresh("out", comb), self.rng.range(1, 20));
                let fill = self.literal(ty);
                let line = format!("let {out} = fillArray {ty} {n} {fill}");
                self.emit("init", comb, line);
                self.outs.push((out.clone(), ty));
                out
            }
        };
        let (at, x) = (self.index("yield", comb), self.atom(ty));
        let by = match self.rng.chance(30) {
            true => String::new(),
            false => format!(" with {}", self.rng.pick(monoids(ty))),
        };
        let line = format!("scatterArray {out} {at} {x}{by} @{comb}");
        self.emit("yield", comb, line);
    }

    /// Two arrays updated by a function; the second may be shorter.
    fn plain_pair(&mut self, comb: &str) {
        let join = self.join_pairs(comb);
        let outs = [self.fresh("out", comb), self.fresh("out", comb)];
        for out in &outs {
            let n = self.rng.range(1, 20);
            self.emit("init", comb, format!("let {out} = fillArray i64 {n} 1i64"));
            self.outs.push((out.clone(), Ty::I64));
        }
        let (at, x, y) = (
            self.index("yield", comb),
            self.atom(Ty::I64),
            self.atom(Ty::I64),
        );
        let [a, b] = outs;
        let line = format!("scatterArray {a}, {b} {at} {x}, {y} with {join} @{comb}");
        self.emit("yield", comb, line);
    }

    /// An array written consecutively, or rarely at the root's counter under a filter.
    pub(super) fn plain_write(&mut self, comb: &str, counter: &str) {
        let ty = self.rng.pick(&TYPES);
        let (out, x) = (self.fresh("out", comb), self.atom(ty));
        if counter == "ix_0" || self.rng.chance(15) {
            // If all elements are written, the initial contents are never read.
            let made = match counter == "ix_0" && self.rng.chance(60) {
                true => format!("newArray {ty} len_0"),
                false => format!("fillArray {ty} len_0 {}", self.literal(ty)),
            };
            let line = format!("let {out} = {made}");
            self.emit("init", comb, line);
            let at = match counter == "ix_0" && self.rng.chance(25) {
                true => {
                    let last = self.fresh("end", comb);
                    self.emit("init", comb, format!("let {last} = sub len_0 1"));
                    self.mirrored("yield", comb, &last)
                }
                false => "ix_0".to_string(),
            };
            self.emit("yield", comb, format!("writeArray {out} {at} {x}"));
            self.results.push(out);
            return;
        }
        let cut = self.fresh("res", comb);
        self.emit("init", comb, format!("let {out} = newArray {ty} len_0"));
        self.emit("yield", comb, format!("writeArray {out} {counter} {x}"));
        let line = format!("let {cut} = sliceArray {out} {counter}");
        self.emit("done", "end", line);
        self.results.push(cut);
    }
}
