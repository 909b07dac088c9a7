//! Random loops over segments, of the shapes that tiles support.
//!
//! A root has one or two inner loops, which may have nested segments and filters. Reads and writes
//! are at counters, at sums of them, and at filters' counts. There are folds and scans of
//! everything and of each segment, updates of array elements, and exits. Most segments are short,
//! some are long or empty.

use super::{Argument, Making, RandomLoop, TYPES};
use crate::program::buffer;
use crate::rng::Rng;
use loop_lang::types::Ty;

/// The number of segments with a size.
const SIZES: usize = 40;

/// The length of uniform inner loops.
const WIDTH: &str = "width_0";

/// Returns the loop of a seed.
pub fn nested(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.lean = m.rng.chance(45);
    m.traps = usize::from(!m.lean && m.rng.chance(30));
    m.parameters();
    m.long_arrays();
    let sizes = (0..SIZES).map(|_| match m.rng.weighted(&[80, 12, 8]) {
        0 => m.rng.below(7) as u64,
        1 => 0,
        _ => m.rng.range(10, 40) as u64,
    });
    let sizes: Vec<u64> = sizes.collect();
    m.params.push("param sizes: [u64] random".into());
    m.args.push(Argument::Array(buffer(Ty::U64, &sizes)));
    let len = m.rng.pick(&[1, 7, 33, 40, 45]);
    let room = m.rng.pick(&[60, 150, 250]);
    m.emit("init", "0", format!("let len_0 = copy {len}"));
    m.emit("init", "0", format!("let room_0 = copy {room}"));
    m.emit("init", "0", "carry ix_0 = 0");
    m.counted_guard("0", "len_0");
    m.count_up("0", "bottom");
    m.combs.push("comb 0 map at r0".into());
    m.rates.push(String::new());
    m.emit("body", "0", "let size_0 = readArray sizes ix_0");
    m.pool.push(("size_0".into(), Ty::U64));
    m.reads("0", "ix_0");
    if m.rng.chance(15) {
        m.plain_exit("0");
    }
    // Inner loops have one length, or a length per step.
    let size = if m.rng.chance(30) { WIDTH } else { "size_0" };
    let width = m.rng.pick(&[0, 2, 5, 20]);
    m.emit("init", "0", format!("let {WIDTH} = copy {width}"));
    let mut parts = "stage 0".to_string();
    for stage in 1..=m.rng.weighted(&[0, 75, 25]) {
        let inner = match m.rng.chance(30) {
            true => m.groups_of_segments(),
            false => m.segments(0, size),
        };
        parts += &format!("; child r{inner}; stage {stage}");
        let comb = format!("s{stage}");
        m.combs.push(format!("comb {comb} map at r0 stage {stage}"));
        parts += &m.behind(&comb);
    }
    m.rates[0] = format!("rate r0 root ix_0 < len_0 {{ {parts} }}");
    m.finish(seed)
}

impl Making {
    /// Reads at a counter, and elsewhere.
    fn reads(&mut self, comb: &str, counter: &str) {
        for _ in 0..self.rng.range(1, 3) {
            let ty = self.rng.pick(&TYPES);
            let elt = self.fresh("elt", comb);
            let (from, at) = match self.rng.weighted(&[65, 15, 20]) {
                0 => ("long", counter.to_string()),
                1 => ("tab", counter.to_string()),
                _ => {
                    let (at, n) = (self.fresh("at", comb), self.rng.range(2, SIZES));
                    self.emit("body", comb, format!("let {at} = rem {counter} {n}"));
                    ("long", at)
                }
            };
            let line = format!("let {elt} = readArray {from}_{ty} {at}");
            self.emit("body", comb, line);
            self.pool.push((elt, ty));
        }
        for _ in 0..self.rng.below(3) {
            let lines = self.compute(comb, 0);
            lines.into_iter().for_each(|l| self.emit("body", comb, l));
        }
        if self.traps > 0 && self.rng.chance(40) {
            self.plain_trap(comb);
        }
    }

    /// An inner loop of few steps with a nested loop in each; returns its rate.
    fn groups_of_segments(&mut self) -> usize {
        let i = self.rates.len();
        let comb = i.to_string();
        self.rates.push(String::new());
        self.combs.push(format!("comb {comb} map at r{i}"));
        let few = format!("few_{comb}");
        self.emit("nest", &comb, format!("let {few} = and size_0 3"));
        let (counter, _) = self.begins(i, &comb, &few);
        let before = self.pool.len();
        let [at, size] = ["at", "size"].map(|base| format!("{base}_{comb}"));
        self.emit("body", &comb, format!("let {at} = rem {counter} {SIZES}"));
        self.emit("body", &comb, format!("let {size} = readArray sizes {at}"));
        self.reads(&comb, &counter);
        self.joins = self.rng.chance(60);
        let inner = self.segments(i, &size);
        self.joins = false;
        let behind = format!("g{comb}");
        self.combs
            .push(format!("comb {behind} map at r{i} stage 1"));
        let mut folded = Vec::new();
        for _ in 0..self.rng.range(1, 3) {
            let anew = self.rng.chance(70);
            let fold = self.segment_fold((i, &behind), (&comb, i), anew);
            folded.extend(anew.then_some(fold));
        }
        self.pool.truncate(before);
        self.pool.extend(folded);
        let parts = format!("stage 0; child r{inner}; stage 1");
        self.rates[i] = format!("rate r{i} nested r0 {counter} < end_{comb} {{ {parts} }}");
        i
    }

    /// Begins an inner loop of `size` steps. Returns its counter, and whether the counter continues
    /// from the last inner loop.
    pub(super) fn begins(&mut self, i: usize, comb: &str, size: &str) -> (String, bool) {
        let counter = format!("ix_{comb}");
        let runs_on = self.rng.chance(60);
        let set = size == WIDTH;
        let begins = match runs_on {
            true => {
                self.emit("init", comb, format!("carry {counter} = 0"));
                self.groups.push(format!(
                    "group {counter} owner r0 step r{i} start 0 id 0 next n{counter} combine add level 0 exact"
                ));
                format!("let end_{comb} = add {counter} {size}")
            }
            false => {
                self.emit("nest", comb, format!("carry {counter} = 0"));
                format!("let end_{comb} = copy {size}")
            }
        };
        let section = if set && !runs_on { "init" } else { "nest" };
        self.emit(section, comb, begins);
        self.counted_guard(comb, &format!("end_{comb}"));
        self.count_up(comb, "bottom");
        (counter, runs_on)
    }

    /// An inner loop over the elements of a segment; returns its rate.
    fn segments(&mut self, around: usize, size: &str) -> usize {
        let i = self.rates.len();
        let comb = i.to_string();
        self.rates.push(String::new());
        self.combs.push(format!("comb {comb} map at r{i}"));
        let (counter, runs_on) = self.begins(i, &comb, size);
        let before = self.pool.len();
        let mut folded = Vec::new();
        let written = runs_on.then_some(&counter[..]);
        if !self.lean && self.rng.chance(20) {
            folded.extend(self.segment_scan(i, &comb, runs_on));
        }
        self.ends = self.rng.chance(25);
        if self.ends {
            self.segment_exit(i, &comb);
        }
        let parts = self.in_segment(i, (&comb, i, runs_on), written, 0, &mut folded);
        self.pool.truncate(before);
        self.pool.extend(folded);
        let kind = match size == WIDTH {
            true => "uniform",
            false => "nested",
        };
        self.rates[i] = format!("rate r{i} {kind} r{around} {counter} < end_{comb} {{ {parts} }}");
        i
    }

    /// The contents of an inner loop, or of a filter in it; returns the text of its parts.
    fn in_segment(
        &mut self,
        rate: usize,
        (nest, inner, runs_on): (&str, usize, bool),
        written: Option<&str>,
        depth: usize,
        folded: &mut Vec<(String, Ty)>,
    ) -> String {
        let comb = rate.to_string();
        let before = self.pool.len();
        let counter = format!("ix_{inner}");
        self.reads(&comb, &counter);
        if !self.lean && self.rng.chance(60) {
            self.reads_at_sums(&comb, nest, &counter);
        }
        if self.rng.chance(15) {
            self.writes_at_sums(&comb, nest, &counter);
        }
        let folds = if self.lean { 2 } else { self.rng.below(3) };
        for _ in 0..folds {
            let own = !(self.lean && self.ends);
            let anew = own && self.rng.chance(60);
            let shares = !anew && runs_on && self.rng.chance(if self.lean { 100 } else { 50 });
            if shares {
                self.shared_fold((rate, &comb), nest);
            }
            // Often one fold per segment and one of everything, as in row sums with a total.
            let anew = anew || own && shares && self.rng.chance(45);
            if anew || !shares {
                let fold = self.segment_fold((rate, &comb), (nest, inner), anew);
                folded.extend(anew.then_some(fold));
            }
        }
        if let Some(counter) = written.filter(|_| self.rng.chance(50)) {
            self.segment_write(&comb, counter);
        }
        if self.joins && self.rng.chance(80) {
            self.plain_join(&comb);
        }
        let filters = match depth {
            _ if self.lean => self.rng.weighted(&[80, 20]) * usize::from(depth == 0),
            0 => self.rng.weighted(&[35, 50, 15]),
            1 => self.rng.below(2),
            _ => 0,
        };
        let mut parts = "stage 0".to_string();
        for _ in 0..filters {
            let i = self.rates.len();
            let (sub, count) = (i.to_string(), format!("ix_{i}"));
            self.rates.push(String::new());
            self.combs.push(format!("comb {sub} map at r{i}"));
            let p = self.condition("guard", &sub);
            self.emit("guard", &sub, format!("unless {p}"));
            self.emit("init", &sub, format!("carry {count} = 0"));
            self.groups.push(format!(
                "group {count} owner r0 step r{i} start 0 id 0 next n{count} combine add level 0 exact"
            ));
            let inside =
                self.in_segment(i, (nest, inner, runs_on), Some(&count), depth + 1, folded);
            self.count_up(&sub, "yield");
            self.results.push(count.clone());
            self.rates[i] = format!("rate r{i} sub r{rate} count {count} {{ {inside} }}");
            parts += &format!("; child r{i}");
        }
        self.pool.truncate(before);
        parts
    }

    /// A fold of each segment, or of all segments.
    pub(super) fn segment_fold(
        &mut self,
        (rate, comb): (usize, &str),
        (nest, inner): (&str, usize),
        anew: bool,
    ) -> (String, Ty) {
        let ty = match self.lean {
            true if anew => self.rng.pick(&[Ty::F64, Ty::F32]),
            true => self.rng.pick(&[Ty::I64, Ty::U16]),
            false => self.rng.pick(&[Ty::I64, Ty::U16, Ty::F64, Ty::F32]),
        };
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, comb));
        let (start, mut x) = (self.literal(ty), self.atom(ty));
        let (op, how) = match (ty, self.rng.chance(70)) {
            (Ty::F64 | Ty::F32, lanes) if anew && (lanes || self.lean) => {
                x = self.folded_element(ty, comb, nest);
                let (op, id) = self.lane_monoid(ty);
                let lanes = self.lanes(ty, &[2, 8, 32]);
                let how = format!("id {id} next {new} combine {op} level 0 lanes {lanes}");
                (op, how)
            }
            (Ty::F64 | Ty::F32, _) => ("add", format!("next {new} level 0 sequential")),
            (_, true) => (
                "add",
                format!("id 0{ty} next {new} combine add level 0 exact"),
            ),
            (_, false) => (
                "mul",
                format!("id 1{ty} next {new} combine mul level 0 exact"),
            ),
        };
        self.emit("yield", comb, format!("let {new} = {op} {acc} {x}"));
        self.emit("yield", comb, format!("{acc} := {new}"));
        let (owner, at) = match anew {
            true => (inner, ("nest", nest)),
            false => (0, ("init", nest)),
        };
        self.emit(at.0, at.1, format!("carry {acc} = {start}"));
        self.groups.push(format!(
            "group {acc} owner r{owner} step r{rate} start {start} {how}"
        ));
        if !anew {
            self.results.push(acc.clone());
        }
        (acc, ty)
    }

    /// The operand of a lane fold. It is mostly an element of memory, because a loop-invariant
    /// value may go to any lane.
    fn folded_element(&mut self, ty: Ty, comb: &str, nest: &str) -> String {
        if self.rng.chance(40) {
            return self.atom(ty);
        }
        let elt = self.fresh("elt", comb);
        let line = format!("let {elt} = readArray long_{ty} ix_{nest}");
        self.emit("body", comb, line);
        elt
    }

    /// The operator of a lane fold, chosen so that results mostly depend on the order.
    fn lane_monoid(&mut self, ty: Ty) -> (&'static str, String) {
        let suffix = if ty == Ty::F32 { "f32" } else { "" };
        match self.rng.chance(60) {
            true => ("add", format!("-0.0{suffix}")),
            false => self.float_monoid(ty),
        }
    }

    /// The number of lanes of a fold. Mostly it is the number in lowered programs, regardless of
    /// other folds.
    fn lanes(&mut self, ty: Ty, others: &[u32]) -> u32 {
        match self.rng.chance(60) {
            true => 256 / ty.size() as u32,
            false => self.rng.pick(others),
        }
    }

    /// A fold of all segments' elements, in shared lanes.
    fn shared_fold(&mut self, (rate, comb): (usize, &str), nest: &str) {
        let ty = self.rng.pick(&[Ty::F64, Ty::F32]);
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, comb));
        let (start, x) = (self.literal(ty), self.folded_element(ty, comb, nest));
        let (op, id) = self.lane_monoid(ty);
        let lanes = self.lanes(ty, &[4, 8, 32]);
        self.emit("yield", comb, format!("let {new} = {op} {acc} {x}"));
        self.emit("yield", comb, format!("{acc} := {new}"));
        self.emit("init", nest, format!("carry {acc} = {start}"));
        self.groups.push(format!(
            "group {acc} owner r0 step r{rate} start {start} id {id} next {new} combine {op} level 0 lanes {lanes}"
        ));
        self.results.push(acc);
    }

    /// A scan of each segment, or of all segments.
    pub(super) fn segment_scan(
        &mut self,
        rate: usize,
        comb: &str,
        runs_on: bool,
    ) -> Option<(String, Ty)> {
        let anew = self.rng.chance(60);
        let ty = self.rng.pick(&[Ty::F32, Ty::F64, Ty::I64]);
        let (op, id) = match ty.is_float() {
            true => self.float_monoid(ty),
            false => ("mul", "1".to_string() + ty.name()),
        };
        // Blocks need counters that do not restart before the scan does.
        let block = match anew || runs_on {
            true => self.rng.pick(&[1, 4, 8]),
            false => 1,
        };
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, comb));
        let (start, x) = (self.literal(ty), self.atom(ty));
        let (owner, section) = if anew { (rate, "nest") } else { (0, "init") };
        self.emit(section, comb, format!("carry {acc} = {start}"));
        self.emit("body", comb, format!("let {new} = scan {acc} with {x}"));
        self.groups.push(format!(
            "group {acc} owner r{owner} step r{rate} start {start} id {id} next {new} combine {op} level 0 prefix {block}"
        ));
        self.pool.extend([(new, ty), (acc.clone(), ty)]);
        if !anew {
            self.results.push(acc);
            return None;
        }
        Some((acc, ty))
    }

    /// A flag that ends each segment, or this one and all later ones.
    fn segment_exit(&mut self, rate: usize, comb: &str) {
        let [live, go] = ["live", "go"].map(|base| self.fresh(base, comb));
        let (owner, section) = match self.rng.chance(70) {
            true => (rate, "nest"),
            false => (0, "init"),
        };
        self.emit(section, comb, format!("carry {live} = true"));
        self.emit("guard", comb, format!("unless {live}"));
        let p = self.condition("yield", comb);
        self.emit("yield", comb, format!("let {go} = and {live} {p}"));
        self.emit("yield", comb, format!("{live} := {go}"));
        self.groups.push(format!(
            "group {live} owner r{owner} step r{rate} start true id true next {go} combine and level 0 exact"
        ));
        if owner == 0 {
            self.results.push(live);
        }
    }

    /// Writes at a continuing counter, or at a filter's count.
    fn segment_write(&mut self, comb: &str, at: &str) {
        let ty = self.rng.pick(&TYPES);
        let [out, cut] = ["out", "res"].map(|base| self.fresh(base, comb));
        let x = self.atom(ty);
        self.emit("init", comb, format!("let {out} = newArray {ty} room_0"));
        self.emit("yield", comb, format!("writeArray {out} {at} {x}"));
        self.emit("done", "end", format!("let {cut} = sliceArray {out} {at}"));
        self.results.push(cut);
    }

    /// The code after an inner loop. It reads the fold results, may end the root by them, and may
    /// filter; returns the text of the filter.
    pub(super) fn behind(&mut self, comb: &str) -> String {
        let before = self.pool.len();
        for _ in 0..self.rng.below(3) {
            let lines = self.compute(comb, 0);
            lines.into_iter().for_each(|l| self.emit("body", comb, l));
        }
        for _ in 0..self.rng.range(1, 3) {
            let ty = self.rng.pick(&TYPES);
            let (out, x) = (self.fresh("out", comb), self.atom(ty));
            let fill = self.literal(ty);
            let line = format!("let {out} = fillArray {ty} len_0 {fill}");
            self.emit("init", comb, line);
            self.emit("yield", comb, format!("writeArray {out} ix_0 {x}"));
            self.results.push(out);
        }
        if self.rng.chance(50) {
            self.plain_fold("r0", comb);
        }
        if self.rng.chance(15) {
            self.exit_at("0", comb);
        }
        let filter = self.rng.chance(30).then(|| self.filter_behind());
        self.pool.truncate(before);
        filter.unwrap_or_default()
    }

    /// A filter of the root's steps, with a count to write at; returns its text.
    fn filter_behind(&mut self) -> String {
        let i = self.rates.len();
        let (sub, count) = (i.to_string(), format!("ix_{i}"));
        self.rates.push(String::new());
        self.combs.push(format!("comb {sub} map at r{i}"));
        let p = self.condition("guard", &sub);
        self.emit("guard", &sub, format!("unless {p}"));
        self.emit("init", &sub, format!("carry {count} = 0"));
        self.groups.push(format!(
            "group {count} owner r0 step r{i} start 0 id 0 next n{count} combine add level 0 exact"
        ));
        self.segment_write(&sub, &count);
        self.count_up(&sub, "yield");
        self.results.push(count.clone());
        self.rates[i] = format!("rate r{i} sub r0 count {count} {{ stage 0 }}");
        format!("; child r{i}")
    }
}
