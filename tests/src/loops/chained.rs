//! Random loops of filters within filters, with scans and folds between: long bodies within conditions.

use super::{Making, RandomLoop};
use crate::rng::Rng;
use loop_lang::types::Ty;

/// Returns the loop of a seed.
pub fn chained(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.traps = usize::from(m.rng.chance(30));
    m.parameters();
    m.long_arrays();
    let len = m.rng.pick(&[7, 37, 64, 100, 300]);
    m.emit("init", "0", format!("let len_0 = copy {len}"));
    m.emit("init", "0", "carry ix_0 = 0");
    m.counted_guard("0", "len_0");
    m.count_up("0", "bottom");
    m.rates.push(String::new());
    let filters = m.rng.range(2, 7);
    let parts = m.chained_rate(0, "ix_0", filters);
    m.rates[0] = format!("rate r0 root ix_0 < len_0 {{ {parts} }}");
    m.finish(seed)
}

impl Making {
    /// The contents of a rate with so many filters below; returns the text of its parts.
    fn chained_rate(&mut self, rate: usize, counter: &str, filters: usize) -> String {
        let (name, comb) = (format!("r{rate}"), rate.to_string());
        let before = self.pool.len();
        self.combs.push(format!("comb {comb} map at {name}"));
        let read = match rate {
            0 => self.rng.range(1, 3),
            _ => self.rng.below(2),
        };
        for _ in 0..read {
            let ty = self
                .rng
                .pick(&[Ty::F64, Ty::F64, Ty::I64, Ty::U64, Ty::Bool]);
            let elt = self.fresh("elt", &comb);
            let line = format!("let {elt} = readArray long_{ty} ix_0");
            self.emit("body", &comb, line);
            self.pool.push((elt, ty));
        }
        if rate == 0 {
            self.pool.push((counter.into(), Ty::U64));
        }
        for _ in 0..self.rng.range(1, 6) {
            let deep = if self.rng.chance(30) { 2 } else { 0 };
            let lines = self.compute(&comb, deep);
            lines.into_iter().for_each(|l| self.emit("body", &comb, l));
        }
        if self.traps > 0 && self.rng.chance(20) {
            self.plain_trap(&comb);
        }
        if self.rng.chance(60) {
            self.plain_scan(&name, &comb, 1);
        }
        if self.rng.chance(40) {
            self.plain_fold(&name, &comb);
        }
        if self.rng.chance(30) && !counter.is_empty() {
            self.plain_write(&comb, counter);
        }
        if self.rng.chance(10) {
            self.plain_join(&comb);
        }
        let mut parts = vec!["stage 0".to_string()];
        let beside = usize::from(self.rng.chance(15));
        for k in 0..(1 + beside) * usize::from(filters > 0) {
            let i = self.rates.len();
            self.rates.push(String::new());
            let below = if k == 0 { filters - 1 } else { 0 };
            self.chained_filter(&name, i, below);
            parts.push(format!("child r{i}"));
        }
        self.pool.truncate(before);
        parts.join("; ")
    }

    /// A filter, with a count or without.
    fn chained_filter(&mut self, parent: &str, i: usize, filters: usize) {
        let comb = i.to_string();
        let p = self.guard_of(&comb);
        self.emit("guard", &comb, format!("unless {p} @{comb}"));
        if self.rng.chance(50) {
            let parts = self.chained_rate(i, "", filters);
            self.rates[i] = format!("rate r{i} sub {parent} {{ {parts} }}");
            return;
        }
        let count = format!("ix_{i}");
        self.emit("init", &comb, format!("carry {count} = 0"));
        self.groups.push(format!(
            "group {count} owner r0 step r{i} start 0 id 0 next nix_{i} combine add level 0 exact"
        ));
        let parts = self.chained_rate(i, &count, filters);
        self.count_up(&comb, "yield");
        self.results.push(count.clone());
        self.rates[i] = format!("rate r{i} sub {parent} count {count} {{ {parts} }}");
    }

    /// A comparison; a truth value from this rate, from one around it or from outside of the loop; or the result of a
    /// scalar loop or condition, which is set more than once.
    fn guard_of(&mut self, comb: &str) -> String {
        let p = self.condition("guard", comb);
        match self.rng.weighted(&[60, 15, 15, 10]) {
            0 => p,
            1 => self.atom(Ty::Bool),
            2 => {
                let w = self.fresh("w", comb);
                let line = format!("while {w} = {p} {{\n}} cond false do {{\n}} next false");
                self.emit("guard", comb, line);
                w
            }
            _ => {
                let (q, v) = (self.atom(Ty::Bool), self.fresh("if", comb));
                let bit = self.fresh("bit", comb);
                let then = format!("let {bit} = eq ix_0 3\n");
                let line = format!("if {p} {{\n{then}}} else {{\n}} -> {v} = true | {q}");
                self.emit("guard", comb, line);
                v
            }
        }
    }
}
