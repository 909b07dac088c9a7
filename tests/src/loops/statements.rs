//! Statements: operators, reads, scalar loops, conditions, traps, writes, scatters.

use super::{Making, TABLE, TYPES};
use loop_lang::op::{Op, Sig};
use loop_lang::types::Ty;

impl Making {
    pub(super) fn write(&mut self, comb: &str) {
        if self.outs.is_empty() || self.rng.chance(30) {
            let ty = self.rng.pick(&TYPES);
            let out = self.fresh("out", comb);
            let line = if self.rng.chance(50) {
                format!("let {out} = copyArray tab_{ty}")
            } else {
                let (n, fill) = (self.rng.range(0, 50), self.literal(ty));
                format!("let {out} = fillArray {ty} {n} {fill}")
            };
            self.emit("init", comb, line);
            self.outs.push((out, ty));
        }
        let (out, ty) = self.outs[self.rng.below(self.outs.len())].clone();
        let (i, x) = (self.index("yield", comb), self.atom(ty));
        let is_key = ty.is_unsigned();
        let line = match self
            .rng
            .weighted(&[30, 30, 30, if is_key { 10 } else { 0 }])
        {
            0 => format!("writeArray {out} {i} {x}"),
            3 => self.sort(&out, &i),
            1 => format!("scatterArray {out} {i} {x}"),
            _ => {
                let ops = monoids(ty);
                format!("scatterArray {out} {i} {x} with {}", self.rng.pick(ops))
            }
        };
        self.emit("yield", comb, format!("{line} @{comb}"));
    }

    /// Sorts an array of unsigned integers up to an index, rarely two in succession.
    fn sort(&mut self, out: &str, n: &str) -> String {
        let mut keys: Vec<String> = vec![out.into()];
        let others = self
            .outs
            .iter()
            .filter(|(other, ty)| ty.is_unsigned() && other != out);
        let others: Vec<String> = others.map(|(other, _)| other.clone()).collect();
        keys.extend(others.into_iter().filter(|_| self.rng.chance(30)));
        format!("sortArrays {} {n}", keys.join(", "))
    }

    pub(super) fn index(&mut self, section: &str, comb: &str) -> String {
        let i = self.atom(Ty::U64);
        if self.rng.chance(20) {
            return i;
        }
        let v = self.fresh("at", comb);
        self.emit(section, comb, format!("let {v} = rem {i} {TABLE}"));
        v
    }

    pub(super) fn condition(&mut self, section: &str, comb: &str) -> String {
        let ty = self.rng.pick(&[Ty::U64, Ty::I64, Ty::F64]);
        let v = self.fresh("p", comb);
        if self.rng.chance(50) {
            let (op, a, b) = (
                self.rng.pick(&["lt", "ge", "ne"]),
                self.atom(ty),
                self.atom(ty),
            );
            self.emit(section, comb, format!("let {v} = {op} {a} {b}"));
        } else {
            let bit = self.fresh("bit", comb);
            let i = self.atom(Ty::U64);
            self.emit(section, comb, format!("let {bit} = rem {i} 3"));
            self.emit(section, comb, format!("let {v} = ne {bit} 1"));
        }
        v
    }

    /// Statements without effects other than traps.
    pub(super) fn compute(&mut self, comb: &str, depth: usize) -> Vec<String> {
        match self.rng.below(10) {
            0 if depth > 0 => self.branch(comb, depth),
            1 if depth > 0 => self.scalar_loop(comb, depth),
            2 | 3 => {
                let ty = self.rng.pick(&TYPES);
                let (v, i) = (self.fresh("elt", comb), self.atom(Ty::U64));
                self.pool.push((v.clone(), ty));
                vec![format!("let {v} = readArray tab_{ty} {i}")]
            }
            4 if self.traps > 0 => {
                let (ok, x) = (self.fresh("ok", comb), self.atom(Ty::U64));
                let k = self.trap_lines.len();
                self.trap_lines.push(format!("trap t{k} {comb} outOfRange"));
                let not = self.rng.below(40);
                vec![
                    format!("let {ok} = ne {x} {not}"),
                    format!("trap unless {ok}, t{k} ({x}) @{comb}"),
                ]
            }
            _ => self.operation(comb).into_iter().collect(),
        }
    }

    fn operation(&mut self, comb: &str) -> Option<String> {
        let op = self.rng.pick(Op::ALL);
        // The sign and payload of a NaN carry no meaning.
        if matches!(op, Op::Bitcast | Op::SignBit | Op::Copysign) {
            return None;
        }
        let (ty, target) = (self.rng.pick(&TYPES), self.rng.pick(&TYPES));
        let types: Vec<Ty> = (0..op.arity())
            .map(|k| {
                if op == Op::Select && k == 0 {
                    Ty::Bool
                } else {
                    ty
                }
            })
            .collect();
        let result = op.result(&types, Some(target))?;
        let args: Vec<String> = types.into_iter().map(|t| self.atom(t)).collect();
        let v = self.fresh("x", comb);
        self.pool.push((v.clone(), result));
        let name = if op.sig() == Sig::Cast {
            format!("cast.{result}")
        } else {
            op.name().to_string()
        };
        Some(format!("let {v} = {name} {}", args.join(" ")))
    }

    fn region(&mut self, comb: &str, depth: usize) -> String {
        let lines: Vec<String> = (0..self.rng.below(3))
            .flat_map(|_| self.compute(comb, depth - 1))
            .collect();
        lines.iter().map(|l| format!("{l}\n")).collect()
    }

    fn branch(&mut self, comb: &str, depth: usize) -> Vec<String> {
        let c = self.atom(Ty::Bool);
        let ty = self.rng.pick(&TYPES);
        let before = self.pool.len();
        let then = self.region(comb, depth);
        let a = self.atom(ty);
        self.pool.truncate(before);
        let other = self.region(comb, depth);
        let b = self.atom(ty);
        self.pool.truncate(before);
        let v = self.fresh("if", comb);
        self.pool.push((v.clone(), ty));
        vec![format!(
            "if {c} {{\n{then}}} else {{\n{other}}} -> {v} = {a} | {b}"
        )]
    }

    fn scalar_loop(&mut self, comb: &str, depth: usize) -> Vec<String> {
        let ty = self.rng.pick(&TYPES);
        let start = self.atom(ty);
        let [n, x, go, nn] = ["n", "w", "go", "nn"].map(|b| self.fresh(b, comb));
        let most = self.rng.below(5);
        let before = self.pool.len();
        self.pool.push((n.clone(), Ty::U64));
        self.pool.push((x.clone(), ty));
        let test = self.region(comb, depth);
        let body = self.region(comb, depth);
        let next = self.atom(ty);
        self.pool.truncate(before);
        self.pool.push((n.clone(), Ty::U64));
        self.pool.push((x.clone(), ty));
        vec![format!(
            "while {n} = 0, {x} = {start} {{\n{test}let {go} = lt {n} {most}\n}} cond {go} do {{\n{body}let {nn} = \
             add {n} 1\n}} next {nn}, {next}"
        )]
    }
}

pub(super) fn monoids(ty: Ty) -> &'static [&'static str] {
    match ty {
        Ty::Bool => &["and", "or", "xor"],
        t if t.is_float() => &["add", "mul", "min", "max"],
        _ => &["add", "mul", "min", "max", "and", "xor"],
    }
}
