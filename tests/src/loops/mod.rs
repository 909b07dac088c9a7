//! Random loops over random rate trees, as text.
//!
//! They have phases, sub, nested and cursor rates, stages, groups of every order, exits, scatters,
//! scalar regions and traps. They verify, terminate, and have results.

mod chained;
mod cursors;
mod ended;
mod exits;
mod groups;
mod joined;
mod left;
mod nested;
mod plain;
mod rows;
mod runs;
mod short;
mod statements;
mod sums;
mod zipped;

pub use chained::chained;
pub(crate) use ended::MEMORY;
pub use ended::{Ended, run};
pub use joined::joined;
pub use left::left;
pub use nested::nested;
pub use plain::plain;
pub use rows::rows;
pub use runs::runs;
pub use short::short;
pub use zipped::zipped;

use crate::program::buffer;
use crate::rng::Rng;
use crate::scalar;
use livefusion_backend::{Arg, Buffer};
use loop_lang::Loop;
use loop_lang::types::{Const, Ty};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Holds a loop and its arguments.
pub struct RandomLoop {
    /// Its text, without the gotos that follow from the rate tree.
    pub text: String,
    /// The complete loop.
    pub program: Loop,
    /// Its arguments.
    pub args: Vec<Argument>,
}

/// Holds an argument that owns its data.
pub enum Argument {
    /// A scalar.
    Scalar(Const),
    /// An array.
    Array(Arc<Buffer>),
}

impl Argument {
    /// Returns it as kernels take it.
    pub fn arg(&self) -> Arg<'_> {
        match self {
            Argument::Scalar(c) => Arg::Scalar(*c),
            Argument::Array(b) => Arg::Array(b.view()),
        }
    }
}

impl RandomLoop {
    /// Returns the arguments.
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

/// Returns the loop of a seed.
pub fn random(seed: u64) -> RandomLoop {
    let mut m = Making {
        rng: Rng::new(seed),
        ..Making::default()
    };
    m.traps = if m.rng.chance(15) { 1 } else { 0 };
    m.parameters();
    let roots = m.rng.weighted(&[0, 45, 40, 15]);
    for k in 1..=roots {
        m.is_last = k == roots;
        m.root();
    }
    m.finish(seed)
}

#[derive(Default)]
struct Making {
    rng: Rng,
    params: Vec<String>,
    args: Vec<Argument>,
    combs: Vec<String>,
    rates: Vec<String>,
    groups: Vec<String>,
    shared: Vec<groups::Shared>,
    /// Counts of subrates that a later phase may continue.
    counts: Vec<String>,
    /// The counts that each root's phase updates.
    counted: HashSet<(String, String)>,
    /// Flags that ended rates.
    flags: Vec<String>,
    /// Whether the current phase is the last.
    is_last: bool,
    functions: Vec<String>,
    /// Whether segments mostly fold in lanes, so that most schedule decisions are legal.
    lean: bool,
    /// Whether the current segment may exit early. Then vectors have no lanes of their own.
    ends: bool,
    /// Whether segments update elements of arrays.
    joins: bool,
    /// The number of trapping statements.
    traps: usize,
    trap_lines: Vec<String>,
    sections: BTreeMap<(String, String), Vec<String>>,
    /// Scalars usable at the current point.
    pool: Vec<(String, Ty)>,
    /// Scalars carried through the whole loop, usable anywhere.
    lasting: Vec<(String, Ty)>,
    outs: Vec<(String, Ty)>,
    results: Vec<String>,
    names: usize,
    roots: usize,
    /// The combinators of roots and nested rates, and those of cursors.
    loops: HashSet<String>,
    cursors: HashSet<String>,
    /// Labels after cursors that are already jump targets.
    delivered: HashSet<String>,
}

/// A rate under construction.
#[derive(Clone)]
struct Rate {
    name: String,
    comb: String,
    root: String,
    counter: Option<String>,
    is_sub: bool,
    /// Whether its counter never restarts.
    runs_on: bool,
    /// The nearest loop rate, and its combinator.
    loop_rate: String,
    loop_comb: String,
    /// The target to which this cursor, or the cursor around this subrate, delivers an element.
    delivers_to: Option<String>,
    depth: usize,
    /// Its combinator and those of the surrounding rates, outermost first.
    around: Vec<String>,
}

impl Making {
    /// The loop, completed from its rates and groups.
    fn finish(mut self, seed: u64) -> RandomLoop {
        let text = self.text(seed);
        let mut program =
            loop_lang::parse::parse(&text).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        loop_lang::gotos::complete_blocks(&mut program);
        loop_lang::gotos::derive_gotos(&mut program);
        loop_lang::levels::set_levels(&mut program);
        loop_lang::chunkable::raise_levels(&mut program);
        RandomLoop {
            text,
            program,
            args: self.args,
        }
    }

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

    /// A literal in the syntax of its type.
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
        let known = self.lasting.iter().chain(&self.pool);
        let fit: Vec<&String> = known.filter(|v| v.1 == ty).map(|v| &v.0).collect();
        if fit.is_empty() || self.rng.chance(15) {
            return self.literal(ty);
        }
        // Recent values are preferred, so that values flow.
        let i = self.rng.below(fit.len()).max(self.rng.below(fit.len()));
        fit[i].clone()
    }

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
            runs_on: true,
            delivers_to: None,
            depth: if len > 100 { 2 } else { 0 },
            around: vec![comb.clone()],
            name,
            comb: comb.clone(),
        };
        self.rates.push(String::new());
        self.counted_guard(&comb, &format!("len_{comb}"));
        self.ended_by_earlier(&comb);
        self.count_up(&comb, "bottom");
        self.loops.insert(comb.clone());
        let parts = self.parts(&rate);
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

    /// Stages and children of a rate, in order; returns their text.
    fn parts(&mut self, rate: &Rate) -> String {
        let before = self.pool.len();
        let children = if rate.depth >= 3 {
            0
        } else {
            self.rng.weighted(&[35, 45, 20])
        };
        let mut parts = Vec::new();
        self.combs
            .push(format!("comb {} map at {}", rate.comb, rate.name));
        let mut mirrored = false;
        if let Some(ix) = &rate.counter {
            self.pool.push((ix.clone(), Ty::U64));
            mirrored = self.rng.chance(25);
            if mirrored {
                self.mirror(rate, ix);
            }
        }
        // A child may precede the first stage, which computes the reversed counter.
        if children > 0 && !mirrored && self.rng.chance(20) {
            parts.push(self.child(rate, &rate.comb));
        }
        parts.push("stage 0".to_string());
        self.stage(rate, &rate.comb, children == 0);
        for k in 1..=children {
            let stage = format!("s{k}r{}", rate.comb);
            parts.push(self.child(rate, &stage));
            parts.push(format!("stage {k}"));
            self.combs
                .push(format!("comb {stage} map at {} stage {k}", rate.name));
            self.stage(rate, &stage, k == children);
        }
        self.pool.truncate(before);
        parts.join("; ")
    }

    /// Counts a rate's elements from an end.
    fn mirror(&mut self, rate: &Rate, ix: &str) {
        let comb = &rate.comb;
        let last = self.rng.pick(&[TABLE - 1, 39, 100]);
        self.emit("init", comb, format!("let last_{comb} = copy {last}"));
        self.emit(
            "body",
            comb,
            format!("let rix_{comb} = sub last_{comb} {ix}"),
        );
        self.pool.push((format!("rix_{comb}"), Ty::U64));
    }

    /// A child rate; `next` is the combinator of the parent's stage that follows it.
    fn child(&mut self, parent: &Rate, next: &str) -> String {
        let inside = self.pool.len();
        let i = self.rates.len();
        let (name, comb) = (format!("r{i}"), i.to_string());
        self.rates.push(String::new());
        let mut rate = Rate {
            name: name.clone(),
            comb: comb.clone(),
            root: parent.root.clone(),
            counter: Some(format!("ix_{comb}")),
            is_sub: false,
            runs_on: true,
            loop_rate: name.clone(),
            loop_comb: comb.clone(),
            delivers_to: None,
            depth: parent.depth + 1,
            around: [&parent.around[..], std::slice::from_ref(&comb)].concat(),
        };
        let of = &parent.name;
        match self.rng.weighted(&[40, 40, 20]) {
            0 => {
                rate.counter = None;
                rate.is_sub = true;
                rate.delivers_to = parent.delivers_to.clone();
                (rate.loop_rate, rate.loop_comb) =
                    (parent.loop_rate.clone(), parent.loop_comb.clone());
                let p = self.condition("guard", &comb);
                self.emit("guard", &comb, format!("unless {p}"));
                let count = self.rng.chance(60).then(|| self.count(&rate));
                rate.counter = count.clone();
                let parts = self.parts(&rate);
                self.counts.extend(count.clone());
                let count = count.map_or_else(String::new, |n| format!(" count {n}"));
                self.rates[i] = format!("rate {name} sub {of}{count} {{ {parts} }}");
            }
            1 => {
                let uniform = self.rng.chance(40);
                self.length(&comb, uniform);
                if self.rng.chance(40) {
                    // Its counter continues over all inner loops.
                    self.emit("init", &comb, format!("carry ix_{comb} = 0"));
                    self.emit(
                        "nest",
                        &comb,
                        format!("let end_{comb} = add ix_{comb} room_{comb}"),
                    );
                } else {
                    rate.runs_on = false;
                    self.emit("nest", &comb, format!("carry ix_{comb} = 0"));
                    let section = if uniform { "init" } else { "nest" };
                    self.emit(section, &comb, format!("let end_{comb} = copy room_{comb}"));
                }
                self.counted_guard(&comb, &format!("end_{comb}"));
                self.count_up(&comb, "bottom");
                self.loops.insert(comb.clone());
                let parts = self.parts(&rate);
                let kind = if uniform { "uniform" } else { "nested" };
                self.rates[i] =
                    format!("rate {name} {kind} {of} ix_{comb} < end_{comb} {{ {parts} }}");
            }
            _ => self.rates[i] = self.cursor(parent, &mut rate, next),
        }
        self.pool.truncate(inside);
        format!("child {name}")
    }

    /// The length of an inner loop: constant, or computed in each outer iteration.
    fn length(&mut self, comb: &str, uniform: bool) {
        let (section, n) = match uniform {
            true => ("init", "arg_u64".to_string()),
            false => ("nest", self.atom(Ty::U64)),
        };
        let (most, least) = (self.rng.range(1, 4), self.rng.pick(&[0, 0, 1, 5]));
        self.emit(section, comb, format!("let some_{comb} = rem {n} {most}"));
        self.emit(
            section,
            comb,
            format!("let room_{comb} = add some_{comb} {least}"),
        );
    }

    /// The count of a subrate: its own, or one continued from an earlier phase.
    fn count(&mut self, rate: &Rate) -> String {
        let (comb, root, name) = (&rate.comb, &rate.root, &rate.name);
        let next = format!("nix_{comb}");
        let earlier: Vec<String> = (self.counts.iter())
            .filter(|n| !self.counted.contains(&(n.to_string(), root.clone())))
            .cloned()
            .collect();
        let count = match earlier.is_empty() || self.rng.chance(50) {
            true => {
                self.emit("init", comb, format!("carry ix_{comb} = 0"));
                self.groups.push(format!(
                    "group ix_{comb} owner {root} step {name} start 0 id 0 next {next} combine add level 0 exact"
                ));
                format!("ix_{comb}")
            }
            false => earlier[self.rng.below(earlier.len())].clone(),
        };
        self.counted.insert((count.clone(), root.clone()));
        self.emit("yield", comb, format!("let {next} = add {count} 1"));
        self.emit("yield", comb, format!("{count} := {next}"));
        count
    }

    /// One stage: computes, updates groups, writes.
    fn stage(&mut self, rate: &Rate, comb: &str, last: bool) {
        for _ in 0..self.rng.below(4) {
            let lines = self.compute(comb, 2);
            lines.into_iter().for_each(|l| self.emit("body", comb, l));
        }
        if comb == rate.comb {
            for _ in 0..self.rng.weighted(&[35, 40, 25]) {
                self.group(rate, comb);
            }
            if self.rng.chance(40) {
                self.go_on(rate, comb);
            }
            if self.rng.chance(20) {
                self.flag(rate, comb);
            }
        }
        for _ in 0..self.rng.below(3) {
            self.write(comb);
        }
        if !self.deliver(rate, comb, last) && self.rng.chance(6) {
            self.leave(rate, comb);
        }
    }

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
