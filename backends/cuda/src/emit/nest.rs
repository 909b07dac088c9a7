//! Nested rates: loops in a thread's step.
//!
//! Carried variables are local to the step, or in the state of groups that tiles join. An update
//! takes effect at the end of its iteration. So each iteration begins with a copy of the variables
//! that it may update.
//!
//! A step is summed up level by level. Code that no group of a level depends on is left out of that
//! summary: a nested rate runs from the first level that needs it. In earlier levels, a continuing
//! counter is set to its bound.

use super::Emit;
use livefusion_tile::threads::plan::Work;
use loop_lang::ir::{Atom, Place, RateId, RateKind, Section, Stmt, StmtKind, Var};

impl Emit<'_> {
    /// Writes the function of a row, an iteration of the root.
    ///
    /// `LEVEL` is the level that it sums up. At the highest level it emits.
    pub(super) fn row(&mut self) {
        let counter = self.names.var(self.shape.counter).to_string();
        let [template, result] = self.step_kind();
        self.line(template);
        self.open(&format!(
            "static LF_DEVICE {result} step(const Params &p, const lf_launch &launch, const u64 {counter}, const Near &near, const u32 lf_k, State &state) {{"
        ));
        self.starts_step();
        self.only = self.shape.nests.only.clone();
        self.open.push(self.shape.root);
        self.rate(self.shape.root);
        self.open.pop();
        self.only = None;
        self.ends_step();
    }

    pub(super) fn ends_step(&mut self) {
        if self.shape.exits.any {
            self.line(self.goes_on());
        }
        self.close();
    }

    pub(super) fn starts_step(&mut self) {
        self.line(&format!("const bool EMIT = {};", self.acts()));
        self.line("const State old = state;");
        if self.shape.exits.nested {
            self.line("u32 lf_out = 0;");
        }
        if self.stops() {
            self.line("bool lf_ok = true;");
        }
        self.cells(self.shape.root);
    }

    /// Writes a nested rate, from left to right.
    pub(super) fn nested(&mut self, rate: RateId) {
        let RateKind::Nested { counter, bound, .. } = self.shape.program.rate(rate).kind else {
            return;
        };
        if self.elsewhere(rate) || self.pass(rate) {
            return;
        }
        self.block(rate, 0, Section::Nest);
        let name = self.names.var(counter).to_string();
        let place = self.opened(rate, counter, bound);
        if let Some(place) = &place {
            self.line(&format!("u64 {name} = {place};"));
            self.running.push((place.clone(), name.clone()));
        }
        let goes_on = if self.stops() { "lf_ok" } else { "" };
        self.open(&format!("for (; {goes_on}; ++{name}) {{"));
        self.iteration(rate);
        self.close();
        if let Some(place) = &place {
            self.running.pop();
            self.line(&format!("{place} = {name};"));
        }
        self.leaves_on();
        self.close();
        self.block(rate, 0, Section::Done);
    }

    /// Opens the code of a nested rate, for levels that need it. Returns the location of a
    /// continuing counter.
    pub(super) fn opened(&mut self, rate: RateId, counter: Var, bound: Atom) -> Option<String> {
        let levels = self.shape.levels.len() as u32;
        let from = *self.shape.nests.runs_from.get(&rate).unwrap_or(&levels);
        let name = self.names.var(counter).to_string();
        let running = self.shape.level_of(counter);
        let place = running.map(|(level, _)| format!("state.level{level}.{name}"));
        match (&place, from) {
            (_, 0) => self.open("{"),
            (Some(place), _) => {
                let bound = self.value(bound);
                self.open(&format!("if (LEVEL < {from}) {{"));
                self.line(&format!("{place} = lf_max({place}, {bound});"));
                self.depth -= 1;
                self.open("} else {");
            }
            (None, _) => self.open(&format!("if (LEVEL >= {from}) {{")),
        }
        place
    }

    pub(super) fn iteration(&mut self, rate: RateId) {
        self.open.push(rate);
        self.cells(rate);
        for v in self.updated(rate) {
            let (ty, name) = (self.ty(v), self.names.var(v));
            if let Some(place) = self.stored(v) {
                let line = format!("const {ty} old_{name} = {place};");
                self.line(&line);
            }
        }
        self.block(rate, 0, Section::Guard);
        // The code around a team's iterations knows the bound.
        let known = usize::from(self.shape.nests.folds.contains_key(&rate));
        let tests = self.shape.admits(rate).skip(known);
        let tests: Vec<String> = tests.map(|a| self.value(a)).collect();
        for test in tests {
            self.line(&format!("if (!({test})) break;"));
        }
        self.parts(rate);
        self.block(rate, 0, Section::Bottom);
        self.open.pop();
    }

    /// Returns the variables that iterations of a loop rate update, without counters.
    fn updated(&self, rate: RateId) -> Vec<Var> {
        let groups = self.shape.program.groups.iter();
        let here = groups.filter(|g| self.shape.facts.tree.loop_rate(g.step) == rate);
        let vars = here.flat_map(|g| g.vars.iter().copied());
        vars.filter(|v| !self.is_counter(*v)).collect()
    }

    /// Returns whether a variable is the counter of a rate.
    fn is_counter(&self, v: Var) -> bool {
        let mut rates = self.shape.program.rates.iter();
        rates.any(|r| r.kind.counter() == Some(v))
    }

    /// Returns the rate at whose iterations' ends updates of a variable take effect.
    fn rate_of(&self, v: Var) -> Option<RateId> {
        let (group, _) = *self.shape.facts.group.get(&v)?;
        let tree = &self.shape.facts.tree;
        Some(tree.loop_rate(self.shape.group(group).step))
    }

    /// Returns the location of a carried variable, except of counters.
    pub(super) fn stored(&self, v: Var) -> Option<String> {
        self.rate_of(v).filter(|_| !self.is_counter(v))?;
        let name = self.names.var(v);
        Some(match self.level_of(v) {
            Some(level) => format!("state.level{level}.{name}"),
            None => name.to_string(),
        })
    }

    /// Returns a carried variable as reads see it: its value before the iteration that updates it.
    pub(super) fn seen(&self, v: Var) -> Option<String> {
        let name = self.names.var(v);
        if v == self.shape.counter {
            return Some(name.to_string());
        }
        // A carried variable of another root has its final value.
        if self.shape.given.contains(&v) {
            return None;
        }
        let rate = self.rate_of(v)?;
        let level = self.level_of(v);
        let is_open = self.open.contains(&rate);
        Some(match level {
            _ if is_open && self.is_counter(v) => name.to_string(),
            Some(level) if self.open[..self.base.min(self.open.len())].contains(&rate) => {
                format!("old.level{level}.{name}")
            }
            _ if is_open => format!("old_{name}"),
            Some(level) => format!("state.level{level}.{name}"),
            None => name.to_string(),
        })
    }

    /// Writes the start of a nested rate's variable.
    pub(super) fn begun(&mut self, v: Var, start: Atom) {
        let is_place = matches!(self.shape.work, Work::Places(_));
        // Groups of a path's elements are available only at the end of a row.
        if !self.is_counter(v)
            && (is_place || self.only.is_none() && self.shape.level_of(v).is_some())
        {
            return;
        }
        let (ty, name, value) = (self.ty(v), self.names.var(v), self.value(start));
        let line = format!("{ty} {name} = {value};");
        self.line(&line);
    }

    /// Writes an assertion. Where it fails, the lengths of steps mean nothing, so nested rates end.
    pub(super) fn trap(&self, unless: Atom) -> String {
        let ok = self.value(unless);
        if !self.stops() || self.depth == 0 {
            return format!("if (EMIT && !({ok})) *launch.trapped = 1;");
        }
        let level = self.known_from(unless);
        let ok = match level {
            0 => format!("!({ok})"),
            _ => format!("LEVEL >= {level} && !({ok})"),
        };
        format!("if ({ok}) {{ lf_ok = false; if (EMIT) *launch.trapped = 1; }}")
    }

    /// Returns whether steps may end early, at a trap.
    pub(super) fn stops(&self) -> bool {
        let program = self.shape.program;
        let has_nested = program
            .rates
            .iter()
            .any(|r| matches!(r.kind, RateKind::Nested { .. }));
        let blocks = self.shape.facts.blocks.iter();
        let mut steps = blocks.filter(|b| matches!(b.place, Place::At { .. }));
        let traps = |s: &Stmt| matches!(s.kind, StmtKind::Trap { .. });
        matches!(self.shape.work, Work::Teams { .. })
            || has_nested && steps.any(|b| b.block.stmts.iter().any(traps))
    }

    /// Returns the first level whose summary has the final value.
    fn known_from(&self, a: Atom) -> u32 {
        let known = a.var().and_then(|v| self.shape.nests.known_from.get(&v));
        known.copied().unwrap_or_default()
    }
}
