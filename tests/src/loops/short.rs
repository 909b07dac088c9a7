//! Random loops over short rows of equal length, which only read and fold.
//!
//! Several rows may run side by side. A root has one or two inner loops. Reads are at the row's
//! counter, at positions in the row, near the root's counter, and elsewhere. Behind the rows there
//! are writes, folds and scatters.

use super::{Making, RandomLoop};
use crate::rng::Rng;
use loop_lang::types::Ty;

/// The length of rows.
const WIDTH: &str = "width_0";

/// Returns the loop of a seed.
pub fn short(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.parameters();
    m.long_arrays();
    let len = m.rng.pick(&[1, 7, 8, 16, 17, 33, 50, 100]);
    let width = m.rng.pick(&[0, 1, 2, 3, 5, 6, 8, 9, 10, 11, 70]);
    m.emit("init", "0", format!("let len_0 = copy {len}"));
    m.emit("init", "0", format!("let {WIDTH} = copy {width}"));
    m.emit("init", "0", "carry ix_0 = 0");
    m.counted_guard("0", "len_0");
    m.count_up("0", "bottom");
    m.combs.push("comb 0 map at r0".into());
    m.rates.push(String::new());
    let elt = m.fresh("elt", "0");
    m.emit("body", "0", format!("let {elt} = readArray long_i64 ix_0"));
    m.pool.push((elt, Ty::I64));
    if m.rng.chance(10) {
        m.traps = 1;
        m.plain_trap("0");
    }
    let mut children = String::new();
    for i in 1..=m.rng.range(1, 3) {
        m.short_row(i);
        children += &format!("; child r{i}");
    }
    m.after_rows();
    m.combs.push("comb s1 map at r0 stage 1".into());
    m.rates[0] = format!("rate r0 root ix_0 < len_0 {{ stage 0{children}; stage 1 }}");
    m.finish(seed)
}

impl Making {
    /// An inner loop that reads and folds.
    fn short_row(&mut self, i: usize) {
        let comb = i.to_string();
        self.rates.push(String::new());
        self.combs.push(format!("comb {comb} map at r{i}"));
        let (counter, runs_on) = self.begins(i, &comb, WIDTH);
        let before = self.pool.len();
        let along = match runs_on {
            true => {
                let row = format!("let row_{comb} = sub end_{comb} {WIDTH}");
                self.emit("nest", &comb, row);
                self.place(&comb, format!("sub {counter} row_{comb}"))
            }
            false => counter.clone(),
        };
        for _ in 0..self.rng.range(1, 4) {
            let at = match self.rng.weighted(&[25, 20, 20, 10, 10, 5, 10]) {
                0 => counter.clone(),
                1 => along.clone(),
                2 => self.place(&comb, format!("add ix_0 {along}")),
                3 => {
                    let near = self.place(&comb, format!("add {along} ix_0"));
                    let far = self.rng.pick(&[1, 3, 90]);
                    self.place(&comb, format!("add {near} {far}"))
                }
                4 => {
                    let near = self.place(&comb, format!("add {along} ix_0"));
                    let back = self.rng.pick(&[2, 60]);
                    self.place(&comb, format!("sub {near} {back}"))
                }
                5 => {
                    let back = self.rng.pick(&[0, 3]);
                    self.place(&comb, format!("sub ix_0 {back}"))
                }
                _ => {
                    let down = self.place(&comb, format!("mul {along} 16"));
                    self.place(&comb, format!("add {down} ix_0"))
                }
            };
            self.read(&comb, &at);
        }
        if self.rng.chance(20) {
            self.short_arm(&comb, &along);
        }
        for _ in 0..self.rng.below(3) {
            let lines = self.compute(&comb, 1);
            lines.into_iter().for_each(|l| self.emit("body", &comb, l));
        }
        let mut folded = Vec::new();
        for _ in 0..self.rng.range(1, 4) {
            match self.rng.weighted(&[35, 25, 25, 15]) {
                0 => folded.push(self.segment_fold((i, &comb), (&comb, i), true)),
                1 => folded.extend(self.segment_scan(i, &comb, runs_on)),
                2 => folded.extend(self.short_pair(i, &comb)),
                _ => folded.push(self.short_last(i, &comb)),
            }
        }
        self.pool.truncate(before);
        self.pool.extend(folded);
        self.rates[i] = format!("rate r{i} uniform r0 {counter} < end_{comb} {{ stage 0 }}");
    }

    /// A read in an arm, beyond the array for elements that do not take it.
    fn short_arm(&mut self, comb: &str, along: &str) {
        let [p, at, elt, x] = ["p", "at", "elt", "x"].map(|base| self.fresh(base, comb));
        let few = self.rng.pick(&["3", "ix_0"]);
        let other = self.literal(Ty::F64);
        self.emit("body", comb, format!("let {p} = lt {along} {few}"));
        let arms = format!(
            "if {p} {{\nlet {at} = add ix_0 {along}\nlet {elt} = readArray long_f64 {at}\n}} else {{\n}} -> {x} = \
             {elt} | {other}"
        );
        self.emit("body", comb, arms);
        self.pool.push((x, Ty::F64));
    }

    /// A fold of pairs by a function, in lanes.
    fn short_pair(&mut self, i: usize, comb: &str) -> Vec<(String, Ty)> {
        let [a, b, na, nb, join] =
            ["a", "b", "na", "nb", "join"].map(|base| self.fresh(base, comb));
        let [p, q, r, s] = ["p", "q", "r", "s"].map(|base| format!("{base}{join}"));
        let lines = [
            format!("fn {join}({p}: f64, {q}: i64, {r}: f64, {s}: i64) {{"),
            format!("  let z{join} = eq {q} {s}"),
            format!("  if z{join} {{\n  }} else {{\n    let m{join} = max {q} {s}"),
            format!("  }} -> v{join} = {q} | m{join}\n  let u{join} = add {p} {r}"),
            format!("  return u{join} v{join}\n}}"),
        ];
        self.functions.push(lines.join("\n"));
        let (x, y) = (self.atom(Ty::F64), self.atom(Ty::I64));
        let least = "-9223372036854775808i64";
        self.emit("nest", comb, format!("carry {a} = -0.0"));
        self.emit("nest", comb, format!("carry {b} = {least}"));
        self.emit("yield", comb, format!("let {na} = add {a} {x}"));
        self.emit("yield", comb, format!("let {nb} = max {b} {y}"));
        self.emit("yield", comb, format!("{a} := {na}"));
        self.emit("yield", comb, format!("{b} := {nb}"));
        let lanes = self.rng.pick(&[1, 2, 8, 16]);
        self.groups.push(format!(
            "group {a}, {b} owner r{i} step r{i} start -0.0, {least} id -0.0, {least} next {na}, {nb} combine {join} \
             level 0 lanes {lanes}"
        ));
        vec![(a, Ty::F64), (b, Ty::I64)]
    }

    /// Two variables that swap: the last element and the one before.
    fn short_last(&mut self, i: usize, comb: &str) -> (String, Ty) {
        let [last, before, new, old] =
            ["last", "before", "new", "old"].map(|base| self.fresh(base, comb));
        let (start, x) = (self.literal(Ty::I64), self.atom(Ty::I64));
        for v in [&last, &before] {
            self.emit("nest", comb, format!("carry {v} = {start}"));
        }
        self.emit("yield", comb, format!("let {new} = copy {x}"));
        self.emit("yield", comb, format!("let {old} = copy {last}"));
        self.emit("yield", comb, format!("{last} := {new}"));
        self.emit("yield", comb, format!("{before} := {old}"));
        for (v, next) in [(&last, &new), (&before, &old)] {
            self.groups.push(format!(
                "group {v} owner r{i} step r{i} start {start} next {next} level 0 sequential"
            ));
        }
        (before, Ty::I64)
    }

    /// Writes, folds and scatters of values known after the rows.
    fn after_rows(&mut self) {
        self.writes_behind();
        if self.rng.chance(40) {
            self.plain_fold("r0", "s1");
        }
        for _ in 0..self.rng.weighted(&[60, 25, 15]) {
            self.plain_join("s1");
        }
    }
}
