//! Random loops over streams with different rates.
//!
//! A root has cursors that only deliver, and ordinary code after them. A last root observes their
//! final positions. Inputs are long, because tiles of zips take few steps otherwise.

use super::{Making, RandomLoop, TYPES};
use crate::rng::Rng;
use loop_lang::types::Ty;

/// The effect on the root when an input ends.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    /// The root ends too.
    First,
    /// The root continues while all inputs, or any input, continue. An ended input keeps its last
    /// delivered value.
    All,
    Any,
}

/// Returns the loop of a seed.
pub fn zipped(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.traps = usize::from(m.rng.chance(25));
    m.parameters();
    m.long_arrays();
    let len = m.rng.pick(&[20, 100, 150, 300]);
    m.emit("init", "0", format!("let len_0 = copy {len}"));
    m.emit("init", "0", "carry ix_0 = 0");
    m.counted_guard("0", "len_0");
    m.count_up("0", "bottom");
    let ends = m
        .rng
        .pick(&[Ends::First, Ends::First, Ends::All, Ends::Any]);
    let sides = m.rng.weighted(&[0, 15, 60, 25]);
    m.rates.resize(1 + sides, String::new());
    let (mut parts, mut flags) = (String::new(), Vec::new());
    let (mut delivered, mut carried): (Vec<(String, Ty)>, Vec<String>) = Default::default();
    for side in 1..=sides {
        let target = match side < sides {
            true => format!("nest_{}", side + 1),
            false => "body_0".to_string(),
        };
        delivered.extend(m.side(side, &target, &mut carried));
        flags.extend((ends != Ends::First).then(|| m.says_that_it_ends(side, &target)));
        parts += &format!("child r{side}; ");
    }
    m.pool.extend(delivered.iter().cloned());
    parts += &m.plain_rate(0, "ix_0", 0);
    let op = if ends == Ends::All { "and" } else { "or" };
    let goes_on = flags.into_iter().reduce(|so_far, live| {
        let both = m.fresh("both", "0");
        m.emit("body", "0", format!("let {both} = {op} {so_far} {live}"));
        both
    });
    // An array in memory is also an input, which ends at its length.
    let more = m.rng.chance(25).then(|| {
        let [end, more] = ["end", "more"].map(|base| m.fresh(base, "0"));
        let least = m.rng.range(5, 70);
        m.emit("init", "0", format!("let {end} = copy {least}"));
        m.emit("body", "0", format!("let {more} = lt ix_0 {end}"));
        more
    });
    for goes_on in goes_on.into_iter().chain(more) {
        m.emit("body", "0", format!("unless {goes_on} | done_0"));
    }
    m.rates[0] = format!("rate r0 root ix_0 < len_0 {{ {parts} }}");
    let last = m.rates.len();
    let comb = last.to_string();
    m.combs.push(format!("comb {comb} map at r{last}"));
    m.emit("init", &comb, format!("carry ix_{comb} = 0"));
    m.counted_guard(&comb, "1");
    m.count_up(&comb, "bottom");
    m.rates
        .push(format!("rate r{last} root ix_{comb} < 1 {{ stage 0 }}"));
    // Final positions of inputs are read after the root, never inside it.
    if m.rng.chance(80) {
        let counters = (1..=sides).map(|side| format!("ix_{side}"));
        let seen = delivered.into_iter().map(|(val, _)| val).chain(counters);
        m.results.extend(seen.chain(carried));
    }
    m.finish(seed)
}

impl Making {
    /// An input that jumps to `target` with each delivered element. Returns the delivered values.
    fn side(&mut self, i: usize, target: &str, carried: &mut Vec<String>) -> Vec<(String, Ty)> {
        let (comb, counter) = (i.to_string(), format!("ix_{i}"));
        let len = self.rng.pick(&[40, 100, 180, 200, 260]);
        self.emit("init", &comb, format!("let len_{comb} = copy {len}"));
        self.emit("init", &comb, format!("carry {counter} = 0"));
        self.counted_guard(&comb, &format!("len_{comb}"));
        self.count_up(&comb, "body");
        let filters = self.rng.weighted(&[20, 60, 20]);
        let before = self.pool.len();
        let (parts, values) = self.side_rate((i, &counter), filters, target, carried);
        self.pool.truncate(before);
        self.rates[i] = format!("rate r{i} cursor r0 {counter} < len_{comb} {{ {parts} }}");
        values
    }

    /// An input's rate with nested filters, the innermost of which delivers. Returns the text of
    /// its parts, and the delivered values.
    fn side_rate(
        &mut self,
        (rate, counter): (usize, &str),
        filters: usize,
        target: &str,
        carried: &mut Vec<String>,
    ) -> (String, Vec<(String, Ty)>) {
        let comb = rate.to_string();
        self.combs.push(format!("comb {comb} map at r{rate}"));
        if self.rng.chance(30) {
            self.pool.push((counter.into(), Ty::U64));
        }
        let tested = self.rng.pick(&[Ty::I64, Ty::U64, Ty::F64]);
        let elts = [tested, self.rng.pick(&TYPES)].map(|ty| {
            let elt = self.fresh("elt", &comb);
            let line = format!("let {elt} = readArray long_{ty} {counter}");
            self.emit("body", &comb, line);
            (elt, ty)
        });
        let elt = elts[0].0.clone();
        self.pool.extend(elts);
        for _ in 0..self.rng.below(3) {
            let lines = self.compute(&comb, 0);
            lines.into_iter().for_each(|l| self.emit("body", &comb, l));
        }
        // A trap after the last used element must not occur.
        if self.traps > 0 && self.rng.chance(40) {
            let (ok, k) = (self.fresh("ok", &comb), self.trap_lines.len());
            let at = self.rng.range(20, 260);
            self.trap_lines.push(format!("trap t{k} {comb} outOfRange"));
            self.emit("body", &comb, format!("let {ok} = ne {counter} {at}"));
            let trap = format!("trap unless {ok}, t{k} ({counter})");
            self.emit("body", &comb, trap);
        }
        if self.rng.chance(30) {
            carried.push(self.carried_in_side(rate));
        }
        if filters > 0 {
            let i = self.rates.len();
            self.rates.push(String::new());
            let sub = i.to_string();
            // Loop-invariant conditions are rare.
            let p = match self.rng.chance(70) {
                true => {
                    let (p, op) = (self.fresh("p", &sub), self.rng.pick(&["lt", "ge", "ne"]));
                    let than = self.literal(tested);
                    self.emit("guard", &sub, format!("let {p} = {op} {elt} {than}"));
                    p
                }
                false => self.condition("guard", &sub),
            };
            self.emit("guard", &sub, format!("unless {p}"));
            let (parts, values) = self.side_rate((i, counter), filters - 1, target, carried);
            self.rates[i] = format!("rate r{i} sub r{rate} {{ {parts} }}");
            return (format!("stage 0; child r{i}"), values);
        }
        let values = (0..self.rng.weighted(&[5, 70, 25])).map(|_| {
            let ty = self.rng.pick(&TYPES);
            let (val, start, x) = (self.fresh("val", &comb), self.literal(ty), self.atom(ty));
            self.emit("init", &comb, format!("carry {val} = {start}"));
            self.emit("yield", &comb, format!("{val} := {x}"));
            self.groups.push(format!(
                "group {val} owner r0 step r{rate} start {start} next {x} level 0 sequential"
            ));
            (val, ty)
        });
        let values = values.collect();
        // After an input's own step comes its bottom. After a filter's step come the elements that
        // the filter keeps.
        let section = if counter == format!("ix_{rate}") {
            "bottom"
        } else {
            "yield"
        };
        self.emit(section, &comb, format!("goto {target}"));
        ("stage 0".to_string(), values)
    }

    /// A value carried from one element of an input to the next.
    fn carried_in_side(&mut self, rate: usize) -> String {
        let comb = rate.to_string();
        let ty = self.rng.pick(&[Ty::I64, Ty::U64, Ty::F64]);
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, &comb));
        let (start, x) = (self.literal(ty), self.atom(ty));
        self.emit("init", &comb, format!("carry {acc} = {start}"));
        self.emit("yield", &comb, format!("let {new} = add {acc} {x}"));
        self.emit("yield", &comb, format!("{acc} := {new}"));
        self.groups.push(format!(
            "group {acc} owner r0 step r{rate} start {start} next {new} level 0 sequential"
        ));
        self.pool.push((acc.clone(), ty));
        acc
    }

    /// A flag that tells when an input has ended: the root continues.
    fn says_that_it_ends(&mut self, side: usize, target: &str) -> String {
        let comb = side.to_string();
        let live = self.fresh("live", &comb);
        self.emit("init", &comb, format!("carry {live} = true"));
        self.emit("done", &comb, format!("{live} := false"));
        self.emit("done", &comb, format!("goto {target}"));
        self.groups.push(format!(
            "group {live} owner r0 step r{side} start true next false level 0 sequential"
        ));
        live
    }
}
