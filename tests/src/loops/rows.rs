//! Random loops over rows of equal length that share data.
//!
//! Rows update one common row, or read common or adjacent elements. Some features prevent several
//! steps from running together.

use super::{Making, RandomLoop, TYPES};
use crate::rng::Rng;
use loop_lang::types::Ty;

/// The length of rows.
const WIDTH: &str = "width_0";

/// Returns the loop of a seed.
pub fn rows(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        lean: true,
        ..Making::default()
    };
    m.parameters();
    m.long_arrays();
    let len = m.rng.pick(&[1, 5, 16, 17, 33, 50]);
    let width = m.rng.pick(&[0, 1, 3, 7, 16, 20, 33]);
    m.emit("init", "0", format!("let len_0 = copy {len}"));
    m.emit("init", "0", format!("let {WIDTH} = copy {width}"));
    m.emit("init", "0", "let room_0 = copy 150");
    m.emit("init", "0", "carry ix_0 = 0");
    m.counted_guard("0", "len_0");
    m.count_up("0", "bottom");
    m.combs.push("comb 0 map at r0".into());
    m.rates.push(String::new());
    m.read("0", "ix_0");
    if m.rng.chance(5) {
        m.traps = 1;
        m.plain_trap("0");
    }
    let total = m.rng.chance(35).then(|| m.total_of_rows());
    let inner = m.row(width, total);
    // Later reads see the old total.
    let early = m.rng.chance(50);
    total.filter(|_| early).inspect(|of| m.counts_in(*of));
    let behind = match m.rng.chance(20) {
        true => m.behind("s1"),
        false => m.writes_behind(),
    };
    total.filter(|_| !early).inspect(|of| m.counts_in(*of));
    m.combs.push("comb s1 map at r0 stage 1".into());
    m.rates[0] =
        format!("rate r0 root ix_0 < len_0 {{ stage 0; child r{inner}; stage 1{behind} }}");
    m.finish(seed)
}

impl Making {
    /// The inner loop; returns its rate.
    fn row(&mut self, width: usize, total: Option<(usize, Ty)>) -> usize {
        self.rates.push(String::new());
        self.combs.push("comb 1 map at r1".into());
        let (counter, runs_on) = self.begins(1, "1", WIDTH);
        let before = self.pool.len();
        // The row's position, and the position within it.
        let (row, along) = match runs_on {
            true => {
                self.emit("nest", "1", format!("let row_1 = sub end_1 {WIDTH}"));
                self.emit("body", "1", format!("let along_1 = sub {counter} row_1"));
                ("row_1", "along_1".to_string())
            }
            false => {
                self.emit("nest", "1", format!("let row_1 = mul ix_0 {WIDTH}"));
                ("row_1", counter.clone())
            }
        };
        let mut read: Vec<(usize, Ty)> = total.into_iter().collect();
        for _ in 0..self.rng.range(1, 4) {
            let at = match self.rng.weighted(&[27, 33, 22, 9, 9]) {
                0 if runs_on => counter.clone(),
                0 => self.place("1", format!("add {row} {along}")),
                1 => along.clone(),
                // Down a column: rows are `columns` elements apart.
                2 => {
                    let columns = self.rng.pick(&[3, 16, 50]);
                    let down = self.place("1", format!("mul {along} {columns}"));
                    self.place("1", format!("add {down} ix_0"))
                }
                3 => {
                    let most = self.rng.pick(&["ix_0", "4"]);
                    self.place("1", format!("max {along} {most}"))
                }
                _ => {
                    let far = self.place("1", format!("add {row} {along}"));
                    self.place("1", format!("add {far} 2"))
                }
            };
            read.push(self.read("1", &at));
        }
        if self.rng.chance(30) {
            read.push(self.read_in_an_arm(&along, row));
        }
        for _ in 0..self.rng.weighted(&[80, 20]) {
            let lines = self.compute("1", 0);
            lines.into_iter().for_each(|l| self.emit("body", "1", l));
        }
        let mut folded = Vec::new();
        for _ in 0..self.rng.range(1, 3) {
            let (at, size) = match self.rng.weighted(&[45, 30, 25]) {
                0 => (along.clone(), self.rng.pick(&[width, 40])),
                1 if runs_on => (counter.clone(), 50 * 33),
                1 => (self.place("1", format!("add {row} {along}")), 50 * 33),
                // Positions of several rows, in several steps.
                _ => (self.place("1", format!("add ix_0 {along}")), 100),
            };
            let one = self.rng.pick(&read);
            self.joins_or_writes(&at, size, one);
        }
        if self.rng.chance(40) {
            let anew = self.rng.chance(80);
            let fold = self.segment_fold((1, "1"), ("1", 1), anew);
            folded.extend(anew.then_some(fold));
        }
        self.pool.truncate(before);
        self.pool.extend(folded);
        self.rates[1] = format!("rate r1 uniform r0 {counter} < end_1 {{ stage 0 }}");
        1
    }

    /// An index computed in a row.
    pub(super) fn place(&mut self, comb: &str, of: String) -> String {
        let at = self.fresh("at", comb);
        self.emit("body", comb, format!("let {at} = {of}"));
        at
    }

    pub(super) fn read(&mut self, comb: &str, at: &str) -> (usize, Ty) {
        let ty = self.rng.pick(&[Ty::I64, Ty::U16, Ty::F64, Ty::F32]);
        let elt = self.fresh("elt", comb);
        let line = format!("let {elt} = readArray long_{ty} {at}");
        self.emit("body", comb, line);
        self.pool.push((elt, ty));
        (self.pool.len() - 1, ty)
    }

    /// A conditional read in a row. The condition compares the element's position in its row with
    /// the row's number or with a constant.
    fn read_in_an_arm(&mut self, along: &str, row: &str) -> (usize, Ty) {
        let ty = self.rng.pick(&[Ty::I64, Ty::U16, Ty::F64, Ty::F32]);
        let [p, at, from, elt, x] =
            ["p", "at", "from", "elt", "x"].map(|base| self.fresh(base, "1"));
        let with = self.rng.pick(&["ix_0", "3", "9"]);
        let less = self.rng.weighted(&[70, 15, 15]);
        let other = self.literal(ty);
        self.emit("body", "1", format!("let {p} = lt {along} {with}"));
        let read = format!("let {from} = sub {at} {less}\nlet {elt} = readArray long_{ty} {from}");
        let arms = format!(
            "if {p} {{\nlet {at} = add {row} {along}\n{read}\n}} else {{\n}} -> {x} = {elt} | {other}"
        );
        self.emit("body", "1", arms);
        self.pool.push((x, ty));
        (self.pool.len() - 1, ty)
    }

    /// Updates array elements with the value read, mostly, or writes it.
    fn joins_or_writes(&mut self, at: &str, size: usize, (read, ty): (usize, Ty)) {
        let (out, fill) = (self.fresh("out", "1"), self.literal(ty));
        let line = format!("let {out} = fillArray {ty} {size} {fill}");
        self.emit("init", "1", line);
        let x = match self.rng.chance(85) {
            true => self.pool[read].0.clone(),
            false => self.atom(ty),
        };
        let kind = match self.rng.weighted(&[45, 30, 25]) {
            0 => format!("scatterArray {out} {at} {x} with add"),
            1 => format!("writeArray {out} {at} {x}"),
            _ => {
                let new = self.changes(&out, at, (x, ty));
                format!("writeArray {out} {at} {new}")
            }
        };
        self.emit("yield", "1", kind);
        self.results.push(out);
    }

    /// The new value of an element, from its old value or, rarely, another element's.
    fn changes(&mut self, out: &str, at: &str, (x, ty): (String, Ty)) -> String {
        let from = match self.rng.chance(80) {
            true => at.to_string(),
            false => {
                let most = self.rng.pick(&[0, 2, 5]);
                self.place("1", format!("min {at} {most}"))
            }
        };
        let [old, new] = ["old", "new"].map(|base| self.fresh(base, "1"));
        let op = self.rng.pick(&["add", "max", "sub"]);
        self.emit("body", "1", format!("let {old} = readArray {out} {from}"));
        self.emit("body", "1", format!("let {new} = {op} {old} {x}"));
        self.pool.push((old, ty));
        self.pool.push((new.clone(), ty));
        new
    }

    /// A total of all earlier rows, available in each; returns its position in the pool.
    fn total_of_rows(&mut self) -> (usize, Ty) {
        let ty = self.rng.pick(&[Ty::I64, Ty::U16, Ty::F32, Ty::F64]);
        let total = self.fresh("total", "s1");
        let start = self.literal(ty);
        self.emit("init", "s1", format!("carry {total} = {start}"));
        self.groups.push(format!(
            "group {total} owner r0 step r0 start {start} id {start} next next_s1 level 0 sequential"
        ));
        self.results.push(total.clone());
        self.pool.push((total, ty));
        (self.pool.len() - 1, ty)
    }

    /// Adds a value known after a row to the total.
    fn counts_in(&mut self, (total, ty): (usize, Ty)) {
        let total = self.pool[total].0.clone();
        let of_type =
            |(name, of): &(String, Ty)| (*of == ty && *name != total).then(|| name.clone());
        let last = self.pool.iter().rev().find_map(of_type);
        let x = last.unwrap_or_else(|| self.literal(ty));
        self.emit("yield", "s1", format!("let next_s1 = add {total} {x}"));
        self.emit("yield", "s1", format!("{total} := next_s1"));
    }

    /// Writes values known after a row, one element per row.
    pub(super) fn writes_behind(&mut self) -> String {
        for _ in 0..self.rng.below(3) {
            let ty = self.rng.pick(&TYPES);
            let (out, x) = (self.fresh("out", "s1"), self.atom(ty));
            let line = format!("let {out} = fillArray {ty} len_0 {}", self.literal(ty));
            self.emit("init", "s1", line);
            self.emit("yield", "s1", format!("writeArray {out} ix_0 {x}"));
            self.results.push(out);
        }
        String::new()
    }
}
