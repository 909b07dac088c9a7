//! Random loops over random rate trees, as text: roots in phases, sub, nested and cursor rates, stages,
//! groups of every order, scatters, scalar regions, traps. They verify, end, and do something.

use crate::program::buffer;
use crate::rng::Rng;
use crate::scalar;
use livefusion_backend::{Arg, Buffer};
use loop_lang::Loop;
use loop_lang::op::{Op, Sig};
use loop_lang::types::{Const, Ty};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A loop and what it is called with.
pub struct RandomLoop {
    /// Its text, without the gotos that follow from the rate tree.
    pub text: String,
    /// The loop, complete.
    pub program: Loop,
    args: Vec<Argument>,
}

enum Argument {
    Scalar(Const),
    Array(Arc<Buffer>),
}

impl Argument {
    fn arg(&self) -> Arg<'_> {
        match self {
            Argument::Scalar(c) => Arg::Scalar(*c),
            Argument::Array(b) => Arg::Array(b.view()),
        }
    }
}

impl RandomLoop {
    /// The arguments.
    pub fn args(&self) -> Vec<Arg<'_>> {
        self.args.iter().map(Argument::arg).collect()
    }
}

const TYPES: [Ty; 7] = [
    Ty::Bool,
    Ty::I8,
    Ty::I64,
    Ty::U16,
    Ty::U64,
    Ty::F32,
    Ty::F64,
];
const TABLE: usize = 37;

/// The loop of a seed.
pub fn random(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.traps = if m.rng.chance(15) { 1 } else { 0 };
    m.parameters();
    for _ in 0..m.rng.range(1, 2) {
        m.root();
    }
    let text = m.text(seed);
    let mut program =
        loop_lang::parse::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
    loop_lang::gotos::complete_blocks(&mut program);
    loop_lang::gotos::derive_gotos(&mut program);
    for (group, level) in loop_lang::levels::required_levels(&program)
        .into_iter()
        .enumerate()
    {
        program.groups[group].level = level;
    }
    RandomLoop {
        text,
        program,
        args: m.args,
    }
}

#[derive(Default)]
struct Making {
    rng: Rng,
    params: Vec<String>,
    args: Vec<Argument>,
    combs: Vec<String>,
    rates: Vec<String>,
    groups: Vec<String>,
    functions: Vec<String>,
    /// How many of the statements may trap.
    traps: usize,
    trap_lines: Vec<String>,
    sections: BTreeMap<(String, String), Vec<String>>,
    /// Scalars that may be used where statements are being made.
    pool: Vec<(String, Ty)>,
    outs: Vec<(String, Ty)>,
    results: Vec<String>,
    names: usize,
    roots: usize,
    /// Where the cursor that is being made goes with an element.
    delivery_target: String,
}

/// A rate that is being filled.
#[derive(Clone)]
struct Rate {
    name: String,
    comb: String,
    root: String,
    counter: Option<String>,
    is_sub: bool,
    /// The nearest loop rate, and whether groups may be owned by it (not the root).
    loop_rate: String,
    loop_comb: String,
    depth: usize,
}

impl Making {
    fn emit(&mut self, section: &str, comb: &str, line: impl Into<String>) {
        self.sections
            .entry((section.into(), comb.into()))
            .or_default()
            .push(line.into());
    }

    fn fresh(&mut self, base: &str, comb: &str) -> String {
        self.names += 1;
        format!("{base}{}_{comb}", self.names)
    }

    fn parameters(&mut self) {
        for ty in TYPES {
            let words: Vec<u64> = (0..TABLE)
                .map(|_| scalar::random(&mut self.rng, ty))
                .collect();
            self.params.push(format!("param tab_{ty}: [{ty}] random"));
            self.args.push(Argument::Array(buffer(ty, &words)));
        }
        for ty in [Ty::F64, Ty::I64, Ty::Bool, Ty::U64] {
            let c = Const {
                ty,
                bits: scalar::random(&mut self.rng, ty),
            };
            self.params.push(format!("param arg_{ty}: {ty}"));
            self.args.push(Argument::Scalar(c));
            self.pool.push((format!("arg_{ty}"), ty));
        }
    }

    /// A literal, as its type is written.
    fn literal(&mut self, ty: Ty) -> String {
        let w = scalar::random(&mut self.rng, ty);
        match ty {
            Ty::Bool => (w != 0).to_string(),
            Ty::F64 | Ty::F32 => {
                let values = ["0.0", "1.5", "-2.25", "3.0", "-0.0", "1000.0", "0.125"];
                let suffix = if ty == Ty::F32 { "f32" } else { "" };
                format!("{}{suffix}", self.rng.pick(&values))
            }
            Ty::U64 => w.to_string(),
            _ => format!("{}{ty}", scalar::show(ty, w)),
        }
    }

    fn atom(&mut self, ty: Ty) -> String {
        let fit: Vec<usize> = (0..self.pool.len())
            .filter(|i| self.pool[*i].1 == ty)
            .collect();
        if fit.is_empty() || self.rng.chance(15) {
            return self.literal(ty);
        }
        // Younger ones are likelier, so that values flow.
        let i = self.rng.below(fit.len()).max(self.rng.below(fit.len()));
        self.pool[fit[i]].0.clone()
    }

    // ---- rates ----

    fn root(&mut self) {
        let i = self.rates.len();
        let name = format!("r{i}");
        self.roots += 1;
        let comb = i.to_string();
        let len = self.rng.pick(&[0, 1, 2, 5, 8, 17, 33, 37, 40, 70]);
        let len = if self.rng.chance(2) { 16400 } else { len };
        self.emit("init", &comb, format!("let len_{comb} = copy {len}"));
        self.emit("init", &comb, format!("carry ix_{comb} = 0"));
        let rate = Rate {
            root: name.clone(),
            loop_rate: name.clone(),
            loop_comb: comb.clone(),
            counter: Some(format!("ix_{comb}")),
            is_sub: false,
            depth: if len > 100 { 2 } else { 0 },
            name,
            comb: comb.clone(),
        };
        self.rates.push(String::new());
        self.counted_guard(&comb, &format!("len_{comb}"));
        let parts = self.parts(&rate, false);
        self.count_up(&comb, "bottom");
        self.rates[i] = format!("rate r{i} root ix_{comb} < len_{comb} {{ {parts} }}");
    }

    fn counted_guard(&mut self, comb: &str, bound: &str) {
        self.emit(
            "guard",
            comb,
            format!("let more_{comb} = lt ix_{comb} {bound}"),
        );
        self.emit("guard", comb, format!("unless more_{comb}"));
    }

    fn count_up(&mut self, comb: &str, section: &str) {
        self.emit(section, comb, format!("let nix_{comb} = add ix_{comb} 1"));
        self.emit(section, comb, format!("ix_{comb} := nix_{comb}"));
    }

    /// Stages and children of a rate, in order; gives their text.
    fn parts(&mut self, rate: &Rate, cursor: bool) -> String {
        let before = self.pool.len();
        if let Some(ix) = &rate.counter {
            self.pool.push((ix.clone(), Ty::U64));
        }
        let mut parts = vec!["stage 0".to_string()];
        self.combs
            .push(format!("comb {} map at {}", rate.comb, rate.name));
        self.stage(rate, &rate.comb.clone(), cursor);
        let children = if rate.depth >= 3 {
            0
        } else {
            self.rng.weighted(&[35, 45, 20])
        };
        for k in 1..=children {
            let stage = format!("s{k}r{}", rate.comb);
            let inside = self.pool.len();
            let child = self.child(rate, &stage);
            self.pool.truncate(inside);
            parts.push(format!("child {child}"));
            parts.push(format!("stage {k}"));
            self.combs
                .push(format!("comb {stage} map at {} stage {k}", rate.name));
            self.stage(rate, &stage, false);
        }
        self.pool.truncate(before);
        parts.join("; ")
    }

    /// A child rate; `next` is the combinator of the parent's stage that follows it.
    fn child(&mut self, parent: &Rate, next: &str) -> String {
        let i = self.rates.len();
        let (name, comb) = (format!("r{i}"), i.to_string());
        self.rates.push(String::new());
        let mut rate = Rate {
            name: name.clone(),
            comb: comb.clone(),
            root: parent.root.clone(),
            counter: Some(format!("ix_{comb}")),
            is_sub: false,
            loop_rate: name.clone(),
            loop_comb: comb.clone(),
            depth: parent.depth + 1,
        };
        let of = &parent.name;
        match self.rng.weighted(&[45, 35, 20]) {
            0 => {
                rate.counter = None;
                rate.is_sub = true;
                (rate.loop_rate, rate.loop_comb) =
                    (parent.loop_rate.clone(), parent.loop_comb.clone());
                let p = self.condition("guard", &comb);
                self.emit("guard", &comb, format!("unless {p}"));
                let count = self.rng.chance(60);
                if count {
                    rate.counter = Some(format!("ix_{comb}"));
                    self.emit("init", &comb, format!("carry ix_{comb} = 0"));
                    self.count_up(&comb, "yield");
                    let root = &rate.root;
                    self.groups.push(format!(
                        "group ix_{comb} owner {root} step {name} start 0 id 0 next nix_{comb} combine add \
                         level 0 exact"
                    ));
                }
                let parts = self.parts(&rate, false);
                let count = if count {
                    format!(" count ix_{comb}")
                } else {
                    String::new()
                };
                self.rates[i] = format!("rate {name} sub {of}{count} {{ {parts} }}");
            }
            1 => {
                let n = self.atom(Ty::U64);
                let most = self.rng.range(1, 4);
                self.emit("nest", &comb, format!("let room_{comb} = rem {n} {most}"));
                if self.rng.chance(40) {
                    // Runs on over all inner loops.
                    self.emit("init", &comb, format!("carry ix_{comb} = 0"));
                    self.emit(
                        "nest",
                        &comb,
                        format!("let end_{comb} = add ix_{comb} room_{comb}"),
                    );
                } else {
                    self.emit("nest", &comb, format!("carry ix_{comb} = 0"));
                    self.emit("nest", &comb, format!("let end_{comb} = copy room_{comb}"));
                }
                self.counted_guard(&comb, &format!("end_{comb}"));
                let parts = self.parts(&rate, false);
                self.count_up(&comb, "bottom");
                self.rates[i] =
                    format!("rate {name} nested {of} ix_{comb} < end_{comb} {{ {parts} }}");
            }
            _ => {
                let len = self.rng.range(0, 60);
                self.emit("init", &comb, format!("let len_{comb} = copy {len}"));
                self.emit("init", &comb, format!("carry ix_{comb} = 0"));
                self.counted_guard(&comb, &format!("len_{comb}"));
                self.count_up(&comb, "body");
                // A cursor is a leaf here: its only stage delivers.
                rate.depth = 3;
                self.delivery_target = format!("body_{next}");
                let parts = self.parts(&rate, true);
                self.rates[i] =
                    format!("rate {name} cursor {of} ix_{comb} < len_{comb} {{ {parts} }}");
            }
        }
        name
    }

    /// Leaves a cursor for what follows it, unless the element is to be skipped.
    fn deliver(&mut self, comb: &str, rate: &Rate) {
        let p = self.condition("yield", comb);
        self.emit("yield", comb, format!("unless {p} | bottom_{}", rate.comb));
        let target = self.delivery_target.clone();
        self.emit("yield", comb, format!("goto {target}"));
    }

    /// One stage: computes, updates groups, writes.
    fn stage(&mut self, rate: &Rate, comb: &str, delivers: bool) {
        for _ in 0..self.rng.below(4) {
            let lines = self.compute(comb, 2);
            lines.into_iter().for_each(|l| self.emit("body", comb, l));
        }
        if comb == rate.comb {
            for _ in 0..self.rng.weighted(&[35, 40, 25]) {
                self.group(rate, comb);
            }
        }
        for _ in 0..self.rng.below(3) {
            self.write(comb);
        }
        if delivers {
            self.deliver(comb, rate);
        }
    }

    fn write(&mut self, comb: &str) {
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
        let line = match self.rng.below(3) {
            0 => format!("writeArray {out} {i} {x}"),
            1 => format!("scatterArray {out} {i} {x}"),
            _ => {
                let ops = monoids(ty);
                format!("scatterArray {out} {i} {x} with {}", self.rng.pick(ops))
            }
        };
        self.emit("yield", comb, format!("{line} @{comb}"));
    }

    fn index(&mut self, section: &str, comb: &str) -> String {
        let i = self.atom(Ty::U64);
        if self.rng.chance(20) {
            return i;
        }
        let v = self.fresh("at", comb);
        self.emit(section, comb, format!("let {v} = rem {i} {TABLE}"));
        v
    }

    fn condition(&mut self, section: &str, comb: &str) -> String {
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

    // ---- groups ----

    fn group(&mut self, rate: &Rate, comb: &str) {
        let own = rate.loop_rate != rate.root && self.rng.chance(50);
        let owner = if own { &rate.loop_rate } else { &rate.root };
        let (section, starter) = if own {
            ("nest", rate.loop_comb.clone())
        } else {
            ("init", comb.into())
        };
        let acc = self.fresh("acc", comb);
        let new = self.fresh("new", comb);
        let header =
            |start: &str| format!("group {acc} owner {owner} step {} start {start}", rate.name);
        let line = match self.rng.below(5) {
            0 => {
                // A sum in lanes.
                let ty = self.rng.pick(&[Ty::F32, Ty::F64]);
                let (op, id) = self.float_monoid(ty);
                let (start, x) = (self.literal(ty), self.atom(ty));
                let lanes = self.rng.pick(&[1, 4, 32]);
                self.emit(section, &starter, format!("carry {acc} = {start} @{comb}"));
                self.emit("yield", comb, format!("let {new} = {op} {acc} {x}"));
                self.emit("yield", comb, format!("{acc} := {new}"));
                format!(
                    "{} id {id} next {new} combine {op} level 0 lanes {lanes}",
                    header(&start)
                )
            }
            1 => {
                let ty = self.rng.pick(&[Ty::I64, Ty::U64, Ty::I8]);
                let op = self.rng.pick(&["add", "mul", "xor", "or"]);
                let id = if op == "mul" { "1" } else { "0" };
                let id = if ty == Ty::U64 {
                    id.to_string()
                } else {
                    format!("{id}{ty}")
                };
                let (start, x) = (self.literal(ty), self.atom(ty));
                self.emit(section, &starter, format!("carry {acc} = {start} @{comb}"));
                self.emit("yield", comb, format!("let {new} = {op} {acc} {x}"));
                self.emit("yield", comb, format!("{acc} := {new}"));
                self.pool.push((acc.clone(), ty));
                format!(
                    "{} id {id} next {new} combine {op} level 0 exact",
                    header(&start)
                )
            }
            2 => {
                // A scan by a tree within blocks.
                let ty = self.rng.pick(&[Ty::F32, Ty::F64]);
                let (op, id) = self.float_monoid(ty);
                let (start, x) = (self.literal(ty), self.atom(ty));
                let block = if rate.is_sub {
                    1
                } else {
                    self.rng.pick(&[1, 4, 8])
                };
                self.emit(section, &starter, format!("carry {acc} = {start} @{comb}"));
                self.emit("body", comb, format!("let {new} = scan {acc} with {x}"));
                self.pool.push((new.clone(), ty));
                format!(
                    "{} id {id} next {new} combine {op} level 0 prefix {block}",
                    header(&start)
                )
            }
            3 => {
                let ty = self.rng.pick(&TYPES);
                let start = self.literal(ty);
                self.emit(section, &starter, format!("carry {acc} = {start} @{comb}"));
                self.pool.push((acc.clone(), ty));
                let next = self.atom(ty);
                self.emit("yield", comb, format!("let {new} = copy {next}"));
                self.emit("yield", comb, format!("{acc} := {new}"));
                format!("{} next {new} level 0 sequential", header(&start))
            }
            _ => self.pair(comb, owner, rate, (section, &starter)),
        };
        self.groups.push(line);
        if !own {
            let first = self
                .groups
                .last()
                .and_then(|g| g.split(' ').nth(1))
                .unwrap_or(&acc);
            let name = first.trim_end_matches(',').to_string();
            self.results.push(name);
        }
    }

    /// Two variables that a function joins: composition of `x -> a x + b`.
    fn pair(
        &mut self,
        comb: &str,
        owner: &str,
        rate: &Rate,
        (section, starter): (&str, &str),
    ) -> String {
        let [a, b, na, nb, t, join] =
            ["a", "b", "na", "nb", "t", "join"].map(|base| self.fresh(base, comb));
        let (x, y) = (self.atom(Ty::I64), self.atom(Ty::I64));
        let (p, q, r, s) = (
            format!("p{join}"),
            format!("q{join}"),
            format!("r{join}"),
            format!("s{join}"),
        );
        self.functions.push(format!(
            "fn {join}({p}: i64, {q}: i64, {r}: i64, {s}: i64) {{\n  let u{join} = mul {p} {r}\n  let v{join} \
             = mul {r} {q}\n  let w{join} = add v{join} {s}\n  return u{join} w{join}\n}}"
        ));
        for v in [&a, &b] {
            self.emit(section, starter, format!("carry {v} = 3i64 @{comb}"));
        }
        self.emit("yield", comb, format!("let {na} = mul {a} {x}"));
        self.emit("yield", comb, format!("let {t} = mul {x} {b}"));
        self.emit("yield", comb, format!("let {nb} = add {t} {y}"));
        self.emit("yield", comb, format!("{a} := {na}"));
        self.emit("yield", comb, format!("{b} := {nb}"));
        format!(
            "group {a}, {b} owner {owner} step {} start 3i64, 3i64 id 1i64, 0i64 next {na}, {nb} combine \
             {join} level 0 {}",
            rate.name,
            self.rng.pick(&["exact", "lanes 1"])
        )
    }

    fn float_monoid(&mut self, ty: Ty) -> (&'static str, String) {
        let (op, id) = self.rng.pick(&[
            ("add", "-0.0"),
            ("mul", "1.0"),
            ("min", "nan"),
            ("max", "nan"),
        ]);
        let suffix = match (ty, id) {
            (Ty::F64, _) => "",
            (_, "nan") => ".f32",
            _ => "f32",
        };
        (op, format!("{id}{suffix}"))
    }

    // ---- statements ----

    /// Statements without effects other than traps.
    fn compute(&mut self, comb: &str, depth: usize) -> Vec<String> {
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

    // ---- text ----

    fn text(&mut self, seed: u64) -> String {
        let last = self.combs.len();
        self.combs.push("comb end len".to_string());
        debug_assert!(last > 0);
        for section in ["init", "done"] {
            self.sections
                .entry((section.into(), "end".into()))
                .or_default();
        }
        let returned: Vec<String> = self
            .results
            .iter()
            .cloned()
            .chain(self.outs.iter().map(|o| o.0.clone()))
            .collect();
        let mut text = format!("loop random_{seed}\n");
        for lines in [
            &self.combs,
            &self.params,
            &self.rates,
            &self.groups,
            &self.trap_lines,
            &self.functions,
        ] {
            lines.iter().for_each(|l| text.push_str(&format!("{l}\n")));
        }
        let combs: Vec<String> = self
            .combs
            .iter()
            .filter_map(|c| c.split(' ').nth(1))
            .map(String::from)
            .collect();
        let inits: Vec<String> = combs.iter().map(|c| format!("init_{c}")).collect();
        text.push_str(&format!("{}:\n", inits.join(", ")));
        for c in &combs {
            for line in self
                .sections
                .remove(&("init".into(), c.clone()))
                .into_iter()
                .flatten()
            {
                text.push_str(&format!("  {line}\n"));
            }
        }
        for ((section, comb), lines) in &self.sections {
            text.push_str(&format!("{section}_{comb}:\n"));
            lines
                .iter()
                .for_each(|l| text.push_str(&format!("  {l}\n")));
            if section == "done" && comb == "end" {
                text.push_str(&format!("  return {}\n", returned.join(" ")));
            }
        }
        text
    }
}

fn monoids(ty: Ty) -> &'static [&'static str] {
    match ty {
        Ty::Bool => &["and", "or", "xor"],
        t if t.is_float() => &["add", "mul", "min", "max"],
        _ => &["add", "mul", "min", "max", "and", "xor"],
    }
}
