//! Reads and writes of inner loops at sums of a counter and an invariant.
//!
//! This models accesses to array rows. Some arrays are long enough for all rows, some for a few.

use super::{Making, TYPES};

/// Lengths of arrays written at sums: enough for most rows, and for few.
const WRITTEN: [usize; 3] = [300, 120, 12];

impl Making {
    /// Reads at sums of a counter within a segment; `nest` is the loop around the segments.
    pub(super) fn reads_at_sums(&mut self, comb: &str, nest: &str, counter: &str) {
        for _ in 0..self.rng.below(3) {
            let at = self.sum(comb, nest, counter);
            let ty = self.rng.pick(&TYPES);
            let elt = self.fresh("elt", comb);
            let from = self.rng.pick(&["long", "long", "tab"]);
            let line = format!("let {elt} = readArray {from}_{ty} {at}");
            self.emit("body", comb, line);
            self.pool.push((elt, ty));
        }
    }

    /// Writes at a sum. Elements written twice keep the last value in step order; some are never
    /// written.
    pub(super) fn writes_at_sums(&mut self, comb: &str, nest: &str, counter: &str) {
        let at = self.sum(comb, nest, counter);
        let ty = self.rng.pick(&TYPES);
        let (out, size) = (self.fresh("out", comb), self.rng.pick(&WRITTEN));
        let (x, fill) = (self.atom(ty), self.literal(ty));
        let line = format!("let {out} = fillArray {ty} {size} {fill}");
        self.emit("init", comb, line);
        self.emit("yield", comb, format!("writeArray {out} {at} {x}"));
        self.results.push(out);
    }

    /// A sum; the summand is known before the segment.
    fn sum(&mut self, comb: &str, nest: &str, counter: &str) -> String {
        let (row, at) = (self.fresh("row", nest), self.fresh("at", comb));
        let width = self.rng.pick(&[0, 1, 3, 5, 9]);
        let line = format!("let {row} = mul ix_0 {width}");
        self.emit("nest", nest, line);
        let less = self.rng.below(3);
        let lines = match self.rng.weighted(&[35, 10, 8, 8, 14, 40]) {
            0 => vec![format!("let {at} = add {row} {counter}")],
            1 => {
                let further = self.fresh("further", comb);
                let first = format!("let {further} = add {counter} {row}");
                vec![first, format!("let {at} = sub {further} {less}")]
            }
            // Three times a counter, minus two of it.
            2 => {
                let [thrice, twice, once] =
                    ["thrice", "twice", "once"].map(|n| self.fresh(n, comb));
                vec![
                    format!("let {thrice} = mul {counter} 3"),
                    format!("let {twice} = mul {counter} 2"),
                    format!("let {once} = sub {thrice} {twice}"),
                    format!("let {at} = add {once} {row}"),
                ]
            }
            3 => {
                let scaled = self.fresh("scaled", comb);
                let first = format!("let {scaled} = mul {row} 2");
                vec![first, format!("let {at} = add {scaled} {counter}")]
            }
            5 => self.clamped((comb, nest), (&row, counter), &at),
            // Minus the counter, or minus twice the counter.
            _ => match self.rng.chance(50) {
                true => {
                    let mirrored = self.fresh("mirrored", comb);
                    let first = format!("let {mirrored} = sub {row} {counter}");
                    vec![first, format!("let {at} = add {mirrored} 40")]
                }
                false => {
                    let twice = self.fresh("twice", comb);
                    let first = format!("let {twice} = mul {counter} 2");
                    vec![first, format!("let {at} = add {twice} {row}")]
                }
            },
        };
        lines.into_iter().for_each(|l| self.emit("body", comb, l));
        at
    }

    /// A sum that follows the counter while a comparison keeps its result.
    fn clamped(
        &mut self,
        (comb, nest): (&str, &str),
        (row, counter): (&str, &str),
        at: &str,
    ) -> Vec<String> {
        let [near, far] = ["near", "far"].map(|base| self.fresh(base, comb));
        let less = self.rng.below(3);
        // Often near the segment's end.
        let edge = match self.rng.chance(60) {
            true => {
                let last = self.fresh("last", nest);
                let line = format!("let {last} = sub end_{nest} {}", self.rng.range(1, 4));
                self.emit("nest", nest, line);
                last
            }
            false => self.rng.pick(&[1, 4, 30]).to_string(),
        };
        match self.rng.below(4) {
            0 => vec![
                format!("let {far} = max {counter} {less}"),
                format!("let {near} = sub {far} {less}"),
                format!("let {at} = add {row} {near}"),
            ],
            1 => vec![
                format!("let {far} = add {counter} {less}"),
                format!("let {near} = min {far} {edge}"),
                format!("let {at} = add {row} {near}"),
            ],
            2 => vec![
                format!("let {far} = sub {edge} {counter}"),
                format!("let {near} = max {far} {less}"),
                format!("let {at} = add {row} {near}"),
            ],
            _ => {
                let [p, end] = ["p", "end"].map(|base| self.fresh(base, comb));
                let test = self.rng.pick(&["lt", "le", "gt", "ge"]);
                vec![
                    format!("let {far} = sub {counter} {less}"),
                    format!("let {p} = {test} {far} {edge}"),
                    format!("let {near} = add {row} {counter}"),
                    format!("let {end} = sub {near} {less}"),
                    format!("let {at} = select {p} {near} {end}"),
                ]
            }
        }
    }
}
