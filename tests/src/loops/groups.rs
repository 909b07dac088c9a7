//! Carried groups of every order: starts, updates and combine functions.

use super::{Making, Rate, TYPES};
use loop_lang::types::Ty;

/// A group that the first phases update, and that a later phase may continue.
pub(super) struct Shared {
    acc: String,
    ty: Ty,
    op: &'static str,
    /// Whether a scan updates it.
    scans: bool,
    /// The last phase that updates it.
    root: String,
}

impl Making {
    /// Continues a group of an earlier phase, if there is one.
    pub(super) fn go_on(&mut self, rate: &Rate, comb: &str) {
        let of = |s: &Shared| s.root != rate.root;
        let earlier: Vec<usize> = (0..self.shared.len())
            .filter(|i| of(&self.shared[*i]))
            .collect();
        if earlier.is_empty() {
            return;
        }
        let i = earlier[self.rng.below(earlier.len())];
        self.shared[i].root = rate.root.clone();
        let Shared {
            acc, ty, op, scans, ..
        } = &self.shared[i];
        let (acc, ty, op, scans) = (acc.clone(), *ty, *op, *scans);
        let (x, then) = (self.atom(ty), self.fresh("then", comb));
        if scans {
            self.emit("body", comb, format!("let {then} = scan {acc} with {x}"));
            self.pool.push((then, ty));
        } else {
            self.emit("yield", comb, format!("let {then} = {op} {acc} {x}"));
            self.emit("yield", comb, format!("{acc} := {then}"));
        }
    }

    fn share(&mut self, own: bool, rate: &Rate, acc: &str, ty: Ty, op: &'static str, scans: bool) {
        if !own {
            self.shared.push(Shared {
                acc: acc.into(),
                ty,
                op,
                scans,
                root: rate.root.clone(),
            });
        }
    }

    pub(super) fn group(&mut self, rate: &Rate, comb: &str) {
        let own = rate.loop_rate != rate.root && self.rng.chance(65);
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
                self.share(own, rate, &acc, ty, op, false);
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
                self.share(own, rate, &acc, ty, op, false);
                format!(
                    "{} id {id} next {new} combine {op} level 0 exact",
                    header(&start)
                )
            }
            2 => {
                // A tree scan within blocks.
                let ty = self.rng.pick(&[Ty::F32, Ty::F64]);
                let (op, id) = self.float_monoid(ty);
                let (start, x) = (self.literal(ty), self.atom(ty));
                // A restarting cursor restarts in the surrounding loop, not at the owner of its
                // groups.
                let in_step = rate.runs_on || own && rate.delivers_to.is_none();
                let block = if rate.is_sub || !in_step {
                    1
                } else {
                    self.rng.pick(&[1, 4, 8])
                };
                self.emit(section, &starter, format!("carry {acc} = {start} @{comb}"));
                self.emit("body", comb, format!("let {new} = scan {acc} with {x}"));
                self.pool.push((new.clone(), ty));
                // A group that another phase continues is scanned element by element.
                self.share(own || block > 1, rate, &acc, ty, op, true);
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

    /// A pair of variables combined by a function: composition of `x -> a x + b`.
    fn pair(
        &mut self,
        comb: &str,
        owner: &str,
        rate: &Rate,
        (section, starter): (&str, &str),
    ) -> String {
        let [a, b, na, nb, t] = ["a", "b", "na", "nb", "t"].map(|base| self.fresh(base, comb));
        let join = self.join_pairs(comb);
        let (x, y) = (self.atom(Ty::I64), self.atom(Ty::I64));
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

    /// A function that composes `x -> a x + b`.
    pub(super) fn join_pairs(&mut self, comb: &str) -> String {
        let join = self.fresh("join", comb);
        let [p, q, r, s] = ["p", "q", "r", "s"].map(|base| format!("{base}{join}"));
        self.functions.push(format!(
            "fn {join}({p}: i64, {q}: i64, {r}: i64, {s}: i64) {{\n  let u{join} = mul {p} {r}\n  let v{join} \
             = mul {r} {q}\n  let w{join} = add v{join} {s}\n  return u{join} w{join}\n}}"
        ));
        join
    }

    pub(super) fn float_monoid(&mut self, ty: Ty) -> (&'static str, String) {
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
}
