//! Random loops with folds by merely associative operators.
//!
//! Their steps form runs, some of which may execute side by side.

use super::{Argument, Making, RandomLoop, TYPES};
use crate::program::buffer;
use crate::rng::Rng;
use crate::scalar;
use loop_lang::types::Ty;

/// Returns the loop of a seed.
pub fn runs(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.traps = usize::from(m.rng.chance(20));
    m.parameters();
    m.long_arrays();
    let len = m.rng.pick(&[16, 64, 100, 128, 150, 200, 300]);
    m.emit("init", "0", format!("let len_0 = copy {len}"));
    m.emit("init", "0", "carry ix_0 = 0");
    m.counted_guard("0", "len_0");
    m.count_up("0", "bottom");
    m.combs.push("comb 0 map at r0".to_string());
    m.rates
        .push("rate r0 root ix_0 < len_0 { stage 0 }".to_string());
    if m.rng.chance(60) {
        m.pool.push(("ix_0".into(), Ty::U64));
    }
    for _ in 0..m.rng.range(1, 3) {
        m.element();
    }
    if m.rng.chance(5) {
        m.many_elements();
    }
    for _ in 0..m.rng.below(4) {
        let lines = m.compute("0", 2);
        lines.into_iter().for_each(|l| m.emit("body", "0", l));
    }
    if m.traps > 0 {
        m.plain_trap("0");
    }
    let run = m.rng.pick(&[8, 8, 8, 16, 16, 32, 128]);
    for _ in 0..m.rng.range(1, 4) {
        match m.rng.below(3) {
            0 => m.folded(run),
            1 => m.composed(run),
            _ => m.flagged(run),
        }
    }
    // A fold that prevents runs.
    if m.rng.chance(8) {
        m.plain_fold("r0", "0");
    }
    m.finish(seed)
}

impl Making {
    /// Reads at the counter, or elsewhere.
    fn element(&mut self) {
        let ty = self.rng.pick(&TYPES);
        let elt = self.fresh("elt", "0");
        let at = match self.rng.chance(80) {
            true => "ix_0".to_string(),
            false => {
                let (at, n) = (self.fresh("at", "0"), self.rng.range(2, 250));
                self.emit("body", "0", format!("let {at} = rem ix_0 {n}"));
                at
            }
        };
        let line = format!("let {elt} = readArray long_{ty} {at}");
        self.emit("body", "0", line);
        self.pool.push((elt, ty));
    }

    /// Reads of 20 arrays: tiles copy the elements of at most 16 next to each other.
    fn many_elements(&mut self) {
        let mut all = "ix_0".to_string();
        for k in 0..20 {
            let words = (0..180).map(|_| scalar::random(&mut self.rng, Ty::U64));
            let words: Vec<u64> = words.collect();
            self.params.push(format!("param many_{k}: [u64] random"));
            self.args.push(Argument::Array(buffer(Ty::U64, &words)));
            let [elt, both] = ["elt", "both"].map(|base| self.fresh(base, "0"));
            let line = format!("let {elt} = readArray many_{k} ix_0");
            self.emit("body", "0", line);
            self.emit("body", "0", format!("let {both} = xor {all} {elt}"));
            all = both;
        }
        let whole = self.fresh("whole", "0");
        self.emit("body", "0", format!("let {whole} = cast.i64 {all}"));
        self.pool.push((whole, Ty::I64));
    }

    /// A fold by an operator.
    fn folded(&mut self, run: u32) {
        let ty = self
            .rng
            .pick(&[Ty::F32, Ty::F64, Ty::I64, Ty::I8, Ty::Bool]);
        let (op, id) = match ty {
            Ty::Bool => ("or", "false".to_string()),
            ty if ty.is_float() => self.float_monoid(ty),
            ty => {
                let (op, id) = self.rng.pick(&[("add", 0), ("mul", 1), ("xor", 0)]);
                (op, format!("{id}{ty}"))
            }
        };
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, "0"));
        let (start, x) = (self.literal(ty), self.atom(ty));
        self.emit("init", "0", format!("carry {acc} = {start}"));
        self.emit("yield", "0", format!("let {new} = {op} {acc} {x}"));
        self.emit("yield", "0", format!("{acc} := {new}"));
        self.groups.push(format!(
            "group {acc} owner r0 step r0 start {start} id {id} next {new} combine {op} level 0 runs {run}"
        ));
        self.results.push(acc);
    }

    /// A fold of pairs by a function.
    fn composed(&mut self, run: u32) {
        let [a, b, na, nb, t] = ["a", "b", "na", "nb", "t"].map(|base| self.fresh(base, "0"));
        let join = self.join_pairs("0");
        let (x, y) = (self.atom(Ty::I64), self.atom(Ty::I64));
        for v in [&a, &b] {
            self.emit("init", "0", format!("carry {v} = 3i64"));
        }
        for line in [
            format!("let {na} = mul {a} {x}"),
            format!("let {t} = mul {x} {b}"),
            format!("let {nb} = add {t} {y}"),
            format!("{a} := {na}"),
            format!("{b} := {nb}"),
        ] {
            self.emit("yield", "0", line);
        }
        self.groups.push(format!(
            "group {a}, {b} owner r0 step r0 start 3i64, 3i64 id 1i64, 0i64 next {na}, {nb} combine {join} \
             level 0 runs {run}"
        ));
        self.results.extend([a, b]);
    }

    /// The minimum, maximum, first or last element, after a flag that records whether there was
    /// one.
    fn flagged(&mut self, run: u32) {
        let ty = self.rng.pick(&[Ty::I8, Ty::U16, Ty::I64, Ty::F32, Ty::F64]);
        let (seen, best) = (self.fresh("seen", "0"), self.fresh("best", "0"));
        let [join, better, next] = ["join", "better", "next"].map(|base| self.fresh(base, "0"));
        let (x, test) = (self.atom(ty), self.rng.pick(&["lt", "gt", "ge"]));
        let zero = match ty {
            Ty::F64 => "0.0".to_string(),
            Ty::F32 => "0.0f32".to_string(),
            ty => format!("0{ty}"),
        };
        let [sa, a, sb, b, s, c, t, r] =
            ["sa", "a", "sb", "b", "s", "c", "t", "r"].map(|base| format!("{base}{join}"));
        self.functions.push(format!(
            "fn {join}({sa}: bool, {a}: {ty}, {sb}: bool, {b}: {ty}) {{\n  let {s} = or {sa} {sb}\n  \
             if {sa} {{\n    let {c} = {test} {b} {a}\n    let {t} = and {c} {sb}\n    \
             if {t} {{\n    }} else {{\n    }} -> p{join} = {b} | {a}\n  }} else {{\n  }} -> {r} = p{join} | {b}\n  \
             return {s} {r}\n}}"
        ));
        self.emit("init", "0", format!("carry {seen} = false"));
        self.emit("init", "0", format!("carry {best} = {zero}"));
        let line = match self.rng.chance(50) {
            true => format!(
                "if {seen} {{\nlet {better} = {test} {x} {best}\nlet b{better} = select {better} {x} {best}\n\
                 }} else {{\n}} -> {next} = b{better} | {x}"
            ),
            false => {
                let [none, new] = ["none", "is"].map(|base| self.fresh(base, "0"));
                self.emit("yield", "0", format!("let {none} = not {seen}"));
                self.emit("yield", "0", format!("let {better} = {test} {x} {best}"));
                self.emit("yield", "0", format!("let {new} = or {better} {none}"));
                format!("let {next} = select {new} {x} {best}")
            }
        };
        self.emit("yield", "0", line);
        self.emit("yield", "0", format!("{seen} := true"));
        self.emit("yield", "0", format!("{best} := {next}"));
        self.groups.push(format!(
            "group {seen}, {best} owner r0 step r0 start false, {zero} id false, {zero} next true, {next} combine \
             {join} level 0 runs {run}"
        ));
        self.results.extend([seen, best]);
    }
}
