//! The straight form of an innermost loop: the one that an expert would have written by hand.
//!
//! A loop rate with only subrates below it becomes a `for` loop in a function of its own, which runs
//! as many iterations as need no stop: no pause, no end of a chunk, no end of the arrays that are
//! read and written in step. The state machine calls it at the rate's guard and does the rest.
//! With lanes, the loop is cut in strips of as many elements, from an aligned counter on.

use super::ideas::Idea;
use super::plan::Plan;
use super::stop::HALT;
use super::stream::TILE;
use super::unit::{Unit, comment};
use crate::facts::{self, Source};
use crate::names::{Part, identifier};
use livefusion_tile::region::{Step, Streamed};
use loop_lang::Loop;
use loop_lang::ir::{GroupId, Order, Var};
use loop_lang::types::Ty;

/// A parameter of the straight function.
pub(super) struct Passed {
    /// Its declaration.
    pub(super) declaration: String,
    /// What the caller passes.
    pub(super) argument: String,
    /// The array that it is.
    pub(super) array: Option<Var>,
    /// The variable that it is loaded into at the start and stored from at the end.
    pub(super) local: Option<(Ty, String)>,
}

impl Plan<'_> {
    fn is_counted(&self, v: Var) -> bool {
        v == self.sweep.counter
    }

    /// Everything that goes in and out, beside the range.
    pub(super) fn passed(&self, unit: &Unit) -> Vec<Passed> {
        let mut passed = Vec::new();
        let name = |v: Var| unit.names.var(v).to_string();
        let constant = |ty: Ty, name: &str| Passed {
            declaration: format!("const {} {name}", ty.name()),
            argument: name.to_string(),
            array: None,
            local: None,
        };
        let pointer = |ty: Ty, name: &str| Passed {
            declaration: format!("{} *restrict {name}", ty.name()),
            argument: name.to_string(),
            array: None,
            local: None,
        };
        let through = |ty: Ty, name: &str| Passed {
            declaration: format!("{} *restrict lf_{name}", ty.name()),
            argument: format!("&{name}"),
            array: None,
            local: Some((ty, name.to_string())),
        };
        for a in &self.sweep.arrays {
            let (ty, data, length) = (facts::elem(unit.program, *a), name(*a), unit.length(*a));
            let mut p = pointer(ty, &data);
            p.array = Some(*a);
            if let Some(Source::Param(_)) = unit.facts.source.get(a) {
                p.declaration.insert_str(0, "const ");
            }
            if self.sweep.checked.contains(a) {
                p.argument = format!("{length} ? {data} : (void *)lf_zero");
            }
            passed.push(p);
            if self.sweep.lengths.contains(a) {
                passed.push(constant(Ty::U64, &length));
            }
        }
        for v in &self.sweep.scalars {
            let mut p = constant(facts::elem(unit.program, *v), &name(*v));
            if unit.facts.local_group(unit.program, *v).is_some() {
                p.argument = unit.names.part(*v, Part::Joined).to_string();
            }
            passed.push(p);
        }
        for v in self.sweep.carried.iter().filter(|v| !self.is_counted(**v)) {
            passed.push(through(facts::elem(unit.program, *v), &name(*v)));
        }
        for g in &self.sweep.groups {
            let group = &unit.program.groups[g.index()];
            for v in &group.vars {
                let ty = facts::elem(unit.program, *v);
                let part = |p| unit.names.part(*v, p);
                match group.order {
                    Order::Lanes(_) | Order::Runs(_) => passed.push(pointer(ty, part(Part::Lanes))),
                    Order::Prefix(l) => {
                        passed.push(constant(ty, &name(*v)));
                        for p in [Part::Now, Part::Total, Part::Last] {
                            passed.push(through(ty, part(p)));
                        }
                        if l > 1 {
                            passed.push(pointer(ty, part(Part::Tree)));
                        }
                    }
                    Order::Exact | Order::Sequential => {}
                }
            }
        }
        if !self.sweep.exits.is_empty() {
            passed.push(Passed {
                declaration: "u64 *restrict lf_reached".to_string(),
                argument: "&lf_reached".to_string(),
                array: None,
                local: None,
            });
        }
        if unit.stops {
            passed.push(Passed {
                declaration: HALT.to_string(),
                argument: "lf_halt".to_string(),
                array: None,
                local: None,
            });
        }
        passed
    }

    /// Every carried variable that the loop updates.
    pub(super) fn updated(&self, program: &Loop) -> Vec<Var> {
        let grouped = self
            .sweep
            .groups
            .iter()
            .flat_map(|g| program.groups[g.index()].vars.iter());
        std::iter::once(&self.sweep.counter)
            .chain(&self.sweep.carried)
            .chain(grouped)
            .copied()
            .collect()
    }

    pub(super) fn function(&self, unit: &Unit, symbol: &str, version: usize) -> String {
        let rate = identifier(&unit.program.rate(self.sweep.rate).name);
        format!("{symbol}_loop_{}_{rate}_{version}", self.sweep.rate.index())
    }

    /// Writes the straight function.
    pub fn write(&self, unit: &mut Unit, symbol: &str, version: usize) {
        let passed = self.passed(unit);
        let counter = unit.names.var(self.sweep.counter).to_string();
        let parameters: Vec<&str> = ["const u64 from", "const u64 end"]
            .into_iter()
            .chain(passed.iter().map(|p| p.declaration.as_str()))
            .collect();
        let rate = &unit.program.rate(self.sweep.rate).name;
        let what = format!("/* Rate {rate}: {counter} from `from` to `end`. */");
        unit.line(comment(&what));
        unit.line("static __attribute__((noinline)) u64");
        let function = self.function(unit, symbol, version);
        unit.open(format!("{function}({}) {{", parameters.join(", ")));
        unit.line("u64 trapped = 0;");
        for (ty, name) in passed.iter().filter_map(|p| p.local.as_ref()) {
            unit.line(format!("{} {name} = *lf_{name};", ty.name()));
        }
        unit.uses(Idea::Straight);
        if !self.case.tests.is_empty() {
            unit.uses(Idea::Cases);
        }
        if !self.sweep.exits.is_empty() {
            unit.uses(Idea::Exits);
            self.write_to_exit(unit, &counter);
        } else if self.has_extrema(unit) {
            unit.uses(Idea::Extrema);
            self.write_extrema(unit, &counter);
        } else {
            self.write_loop(unit, &counter);
        }
        for (_, name) in passed.iter().filter_map(|p| p.local.as_ref()) {
            unit.line(format!("*lf_{name} = {name};"));
        }
        unit.line("return trapped;");
        unit.close();
        unit.line("");
    }

    /// Writes the loop, in strips or not.
    pub(super) fn write_loop(&self, unit: &mut Unit, counter: &str) {
        if self.strip > 1 {
            unit.open(format!(
                "for (u64 strip = from; strip < end; strip += {}) {{",
                self.strip
            ));
            // Scans come out best when the tree's branches are decided at compile time.
            let scans =
                self.sweep.groups.iter().any(
                    |g| matches!(unit.program.groups[g.index()].order, Order::Prefix(l) if l > 1),
                );
            if scans && self.strip <= 16 {
                unit.line(format!("#pragma GCC unroll {}", self.strip));
            }
            unit.open(format!(
                "for (u64 lane = 0; lane < {}; lane++) {{",
                self.strip
            ));
            unit.line(format!("const u64 {counter} = strip + lane;"));
        } else {
            if self.sweep.scatters {
                unit.line("#pragma GCC unroll 4");
            }
            unit.open(format!(
                "for (u64 {counter} = from; {counter} < end; {counter}++) {{"
            ));
        }
        self.write_body(unit, None);
        unit.close();
        if self.strip > 1 {
            unit.close();
        }
    }

    /// Writes the loop up to an exit that its guard takes, and where that is.
    fn write_to_exit(&self, unit: &mut Unit, counter: &str) {
        unit.line(format!("u64 {counter} = from;"));
        unit.open(format!("for (; {counter} < end; {counter}++) {{"));
        self.write_body(unit, None);
        unit.close();
        unit.line(format!("*lf_reached = {counter};"));
    }

    /// Writes one iteration. If `keep` is given and false, lanes stay as they are.
    pub(super) fn write_body(&self, unit: &mut Unit, keep: Option<&str>) {
        self.open_iteration(unit);
        self.write_steps(unit);
        self.close_iteration(unit, keep);
    }

    /// The variables of lanes that the loop updates, with their groups.
    pub(super) fn lane_vars(&self, program: &Loop) -> Vec<(GroupId, Var)> {
        let lanes = |g: &&GroupId| program.groups[g.index()].order.lanes().is_some();
        self.sweep
            .groups
            .iter()
            .filter(lanes)
            .flat_map(|g| program.groups[g.index()].vars.iter().map(|v| (*g, *v)))
            .collect()
    }

    /// The variables whose updates wait for the end of an iteration.
    pub(super) fn pending(&self, unit: &Unit) -> Vec<Var> {
        let pending = unit
            .facts
            .pending
            .get(&self.sweep.rate)
            .into_iter()
            .flatten();
        pending.copied().filter(|v| !self.is_counted(*v)).collect()
    }

    /// What each iteration begins with.
    pub(super) fn open_iteration(&self, unit: &mut Unit) {
        let lanes = self.lane_vars(unit.program);
        self.open_lane_vars(unit, &lanes);
        for v in self.pending(unit) {
            let ty = facts::elem(unit.program, v);
            let (next, now) = (unit.names.part(v, Part::Next), unit.current(v));
            unit.line(format!("{} {next} = {now};", ty.name()));
        }
    }

    /// What each iteration ends with.
    pub(super) fn close_iteration(&self, unit: &mut Unit, keep: Option<&str>) {
        for v in self.pending(unit) {
            let (next, now) = (unit.names.part(v, Part::Next).to_string(), unit.current(v));
            unit.line(format!("{now} = {next};"));
        }
        let lanes = self.lane_vars(unit.program);
        self.close_lane_vars(unit, &lanes, keep);
    }

    /// Variables of lanes as they are in the element's lanes.
    pub(super) fn open_lane_vars(&self, unit: &mut Unit, lanes: &[(GroupId, Var)]) {
        for (g, v) in lanes {
            let (ty, lane) = (facts::elem(unit.program, *v), unit.lane(*g, *v));
            unit.line(format!("{} {} = {lane};", ty.name(), unit.names.var(*v)));
        }
    }

    /// And back.
    pub(super) fn close_lane_vars(
        &self,
        unit: &mut Unit,
        lanes: &[(GroupId, Var)],
        keep: Option<&str>,
    ) {
        for (g, v) in lanes {
            let (lane, name) = (unit.lane(*g, *v), unit.names.var(*v));
            let value = match keep {
                Some(test) => format!("{test} ? {name} : {lane}"),
                None => name.to_string(),
            };
            unit.line(format!("{lane} = {value};"));
        }
    }

    fn write_steps(&self, unit: &mut Unit) {
        for (at, step) in self.sweep.steps.iter().enumerate() {
            match *step {
                Step::Block(i) => {
                    unit.stmts(&unit.facts.blocks[i].block.stmts);
                    // The guard is the first step.
                    for a in self.sweep.exits.iter().filter(|_| at == 0) {
                        let test = unit.atom(*a);
                        unit.line(format!("if (!{test}) break;"));
                    }
                }
                Step::Enter(i) => {
                    let block = unit.facts.blocks[i].block;
                    unit.stmts(&block.stmts);
                    let tests: Vec<String> =
                        block.exits.iter().map(|e| unit.atom(e.unless)).collect();
                    if tests.is_empty() {
                        unit.open("{");
                    } else if self.compacts(unit, at) {
                        unit.open("{");
                        unit.uses(Idea::Admission);
                        unit.line(format!("const bool admitted = {};", tests.join(" && ")));
                        unit.admits = true;
                    } else {
                        unit.open(format!("if ({}) {{", tests.join(" && ")));
                    }
                }
                Step::Leave => {
                    unit.admits = false;
                    unit.close();
                }
            }
        }
    }

    /// Writes the call: at the rate's guard, for as many iterations as are sure.
    pub fn call(&self, unit: &mut Unit, symbol: &str, version: usize, guard: &str) {
        let counter = unit.names.var(self.sweep.counter).to_string();
        let bound = unit.atom(self.sweep.bound);
        let condition = self.condition(unit);
        unit.open(format!("if ({counter} < {bound}{condition}) {{"));
        unit.line(format!(
            "u64 count = lf_least({bound} - {counter}, event - steps);"
        ));
        let in_step = |i: &Var| !self.case.near.contains(i);
        let mut proven: Vec<&(Var, Var)> = self.proven.iter().filter(|(_, i)| in_step(i)).collect();
        proven.sort();
        for (a, i) in proven {
            let (length, index) = (unit.length(*a), unit.names.var(*i).to_string());
            unit.line(format!(
                "count = lf_least(count, lf_room({length}, {index}));"
            ));
        }
        for count in self.lasts(unit) {
            unit.line(format!("count = lf_least(count, {count});"));
        }
        if self.strip > 1 {
            let mask = self.strip - 1;
            unit.line(format!(
                "count = ({counter} & {mask}) == 0 ? count & ~{mask}ul : 0;"
            ));
        }
        unit.open("if (count != 0) {");
        let function = self.function(unit, symbol, version);
        let call = |unit: &Unit, n: &str, instead: &dyn Fn(Var) -> Option<String>| {
            let passed = self.passed(unit).into_iter();
            let passed = passed.map(|p| p.array.and_then(instead).unwrap_or(p.argument));
            let range = [counter.clone(), format!("{counter} + {n}")];
            let arguments: Vec<String> = range.into_iter().chain(passed).collect();
            format!("{function}({})", arguments.join(", "))
        };
        if !self.sweep.exits.is_empty() {
            unit.line("u64 lf_reached;");
            let text = format!("trapped |= {};", call(unit, "count", &|_| None));
            unit.line(text);
            // An exit that is taken at once is left to the guard.
            unit.open(format!("if (lf_reached != {counter}) {{"));
            unit.line(format!("steps += lf_reached - {counter};"));
            unit.line(format!("{counter} = lf_reached;"));
            self.follow_updates(unit);
            unit.line(format!("goto {guard};"));
            (0..3).for_each(|_| unit.close());
            return;
        }
        let streams = self.streams(unit);
        if let Some(many) = streams {
            unit.uses(Idea::Streaming);
            unit.open(format!("if ({bound} >= {many}) {{"));
            let mut index = |s: &Streamed| {
                let beyond = s.beyond.iter().map(|a| unit.atom(*a));
                let index: Vec<String> = std::iter::once(counter.clone()).chain(beyond).collect();
                (s.array, index.join(" + "))
            };
            let streamed: Vec<_> = self.streamed.iter().map(&mut index).collect();
            unit.stream(&counter, TILE, &streamed, &|unit, instead| {
                call(unit, "n", instead)
            });
            unit.close();
            unit.open("else {");
        }
        let text = format!("trapped |= {};", call(unit, "count", &|_| None));
        unit.line(text);
        unit.line(format!("{counter} += count;"));
        if streams.is_some() {
            unit.close();
        }
        self.follow_updates(unit);
        unit.line("steps += count;");
        unit.line(format!("goto {guard};"));
        unit.close();
        unit.close();
    }

    /// Next values of what the loop has updated, after a call.
    pub(super) fn follow_updates(&self, unit: &mut Unit) {
        for v in self.updated(unit.program) {
            let plain = match unit.facts.local_group(unit.program, v) {
                None => unit.names.var(v),
                Some((_, _, Order::Prefix(_))) => unit.names.part(v, Part::Now),
                Some(_) => continue,
            };
            if unit.facts.ever_waits(v) {
                let text = format!("{} = {plain};", unit.names.part(v, Part::Next));
                unit.line(text);
            }
        }
    }
}
