//! Nests of straight loops as C: the function, its inner loops with their lanes, its call.

use super::ideas::Idea;
use super::nest::{FEW, Inner, Nest};
use super::straight::Passed;
use super::unit::{Mode, Unit, comment};
use crate::facts;
use crate::names::{Part, identifier};
use livefusion_tile::region;
use loop_lang::ir::{Order, Var};
use loop_lang::types::Ty;

impl Nest<'_> {
    fn function(&self, unit: &Unit, symbol: &str) -> String {
        let rate = identifier(&unit.program.rate(self.outer.sweep.rate).name);
        format!("{symbol}_nest_{}_{rate}", self.outer.sweep.rate.index())
    }

    fn passed(&self, unit: &Unit) -> Vec<Passed> {
        self.outer.passed(unit)
    }

    /// Variables that an iteration which does not fit gives back.
    fn undone(&self, unit: &Unit) -> Vec<(Ty, String)> {
        let locals = self.passed(unit).into_iter().filter_map(|p| p.local);
        locals.collect()
    }

    /// Writes the function. `unit.mode` is changed by it.
    pub fn write<'a>(&'a self, unit: &mut Unit<'a>, symbol: &str) {
        unit.uses(Idea::Nests);
        let passed = self.passed(unit);
        let counter = unit.names.var(self.outer.sweep.counter).to_string();
        let parameters: Vec<&str> = [
            "u64 *restrict from",
            "const u64 end",
            "u64 *restrict left_at",
        ]
        .into_iter()
        .chain(passed.iter().map(|p| p.declaration.as_str()))
        .collect();
        let rate = &unit.program.rate(self.outer.sweep.rate).name;
        let head = format!("/* Rate {rate} with its inner loops: {counter} up to `end`. */");
        unit.line(comment(&head));
        unit.line("static __attribute__((noinline)) u64");
        let function = self.function(unit, symbol);
        unit.open(format!("{function}({}) {{", parameters.join(", ")));
        unit.line(format!(
            "u64 trapped = 0, left = *left_at, {counter} = *from;"
        ));
        for (ty, name) in passed.iter().filter_map(|p| p.local.as_ref()) {
            unit.line(format!("{} {name} = *lf_{name};", ty.name()));
        }
        self.declare(unit);
        unit.mode = Mode::Straight(&self.outer);
        unit.open(format!("for (; {counter} < end; {counter}++) {{"));
        unit.line("if (left < 2) break;");
        unit.line("u64 rest = left - 1;");
        for (ty, name) in self.undone(unit) {
            unit.line(format!("const {} lf_old_{name} = {name};", ty.name()));
        }
        self.outer.open_iteration(unit);
        for part in &self.region.parts {
            match part {
                region::Part::Block(i) => {
                    unit.place = unit.facts.blocks[*i].place;
                    unit.stmts(&unit.facts.blocks[*i].block.stmts);
                }
                region::Part::Inner(i) => {
                    self.inner(unit, &self.inner[*i]);
                    unit.mode = Mode::Straight(&self.outer);
                }
            }
        }
        self.outer.close_iteration(unit, None);
        unit.line("left = rest;");
        unit.line("continue;");
        unit.depth -= 1;
        unit.line("undo:");
        unit.depth += 1;
        for (_, name) in self.undone(unit) {
            unit.line(format!("{name} = lf_old_{name};"));
        }
        unit.line("break;");
        unit.close();
        for (_, name) in passed.iter().filter_map(|p| p.local.as_ref()) {
            unit.line(format!("*lf_{name} = {name};"));
        }
        unit.line(format!("*from = {counter}, *left_at = left;"));
        unit.line("return trapped;");
        unit.close();
        unit.line("");
    }

    /// Declares what begins anew in each iteration.
    fn declare(&self, unit: &mut Unit) {
        for v in &self.region.starts {
            let (ty, names) = (facts::elem(unit.program, *v).name(), unit.names);
            let part = |p| names.part(*v, p);
            let mut text = format!("{ty} {} = 0", names.var(*v));
            if let Some((_, _, Order::Prefix(l))) = unit.facts.local_group(unit.program, *v) {
                for p in [Part::Now, Part::Total, Part::Last] {
                    text.push_str(&format!(", {} = 0", part(p)));
                }
                text.push_str(&format!(
                    ", {}[{}]",
                    part(Part::Tree),
                    l.trailing_zeros().max(1)
                ));
            }
            unit.line(format!("{text};"));
        }
    }

    /// Writes an inner loop, and joins its lanes.
    fn inner<'a>(&self, unit: &mut Unit<'a>, inner: &'a Inner) {
        let plan = &inner.plan;
        let counter = unit.names.var(plan.sweep.counter).to_string();
        let bound = unit.atom(plan.sweep.bound);
        unit.open(format!("if ({counter} < {bound}) {{"));
        unit.line(format!(
            "const u64 size = {bound} - {counter}, first = {counter};"
        ));
        let mut limits = vec!["size >= rest".to_string()];
        let mut proven: Vec<&(Var, Var)> = plan.proven.iter().collect();
        proven.sort();
        for (a, i) in proven {
            let (length, index) = (unit.length(*a), unit.names.var(*i).to_string());
            let wanted = match inner.only_computes {
                true => format!("((size + {0}) & ~{0}ul)", plan.strip - 1),
                false => "size".to_string(),
            };
            limits.push(format!("lf_room({length}, {index}) < {wanted}"));
        }
        unit.line(format!("if ({}) goto undo;", limits.join(" || ")));
        unit.line("rest -= size;");
        unit.mode = Mode::Straight(plan);
        if plan.strip == 1 {
            inner.lanes(unit, None);
            unit.open(format!("for (; {counter} < {bound}; {counter}++) {{"));
            plan.write_body(unit, None);
            unit.close();
            inner.join(unit, None);
        } else if plan.has_extrema(unit) {
            // As in a loop by itself: with one instruction, and by the rules if that says nothing.
            unit.line("bool lf_again = 0;");
            unit.plain.extend(plan.extrema(unit));
            inner.folds(unit, &counter);
            unit.plain.clear();
            unit.open("if (lf_again) {");
            inner.folds(unit, &counter);
            unit.close();
            unit.line(format!("{counter} = {bound};"));
        } else {
            inner.folds(unit, &counter);
            unit.line(format!("{counter} = {bound};"));
        }
        unit.close();
    }
}

impl Inner<'_> {
    /// Writes the loop in strips of lanes, from `first` on, and joins the lanes.
    fn folds(&self, unit: &mut Unit, counter: &str) {
        let plan = &self.plan;
        if self.only_computes {
            unit.open(format!("if (size <= {FEW}) {{"));
            self.lanes(unit, Some(FEW));
            self.tile(unit, counter, FEW, "first", Some("lane < size"));
            self.join(unit, Some(FEW));
            unit.depth -= 1;
            unit.open("} else {");
            self.lanes(unit, None);
            self.strips(unit, counter);
            self.tile(unit, counter, plan.strip, "strip", Some("lane < size"));
            self.join(unit, None);
            unit.close();
        } else {
            self.lanes(unit, None);
            self.strips(unit, counter);
            unit.open("for (u64 lane = 0; strip + lane < first + size; lane++) {");
            unit.line(format!("const u64 {counter} = strip + lane;"));
            plan.write_body(unit, None);
            unit.close();
            self.join(unit, None);
        }
    }

    /// Declares lanes that hold the identity: all of a group's, or so many.
    fn lanes(&self, unit: &mut Unit, few: Option<u64>) {
        for g in &self.lanes {
            let group = &unit.program.groups[g.index()];
            let width = few.unwrap_or(lanes_of(group.order));
            for (i, v) in group.vars.iter().enumerate() {
                let identity = match unit.losing(*v) {
                    Some(limit) => limit,
                    None => unit.identity(*g, i),
                };
                let (ty, lanes) = (
                    facts::elem(unit.program, *v),
                    unit.names.part(*v, Part::Lanes),
                );
                unit.line(format!("{} {lanes}[{width}];", ty.name()));
                unit.line(format!(
                    "for (u64 lane = 0; lane < {width}; lane++) {lanes}[lane] = {identity};"
                ));
            }
        }
    }

    /// Whole strips of a segment.
    fn strips(&self, unit: &mut Unit, counter: &str) {
        let width = self.plan.strip;
        unit.line("u64 strip = first;");
        unit.open(format!(
            "for (; strip + {width} <= first + size; strip += {width}) {{"
        ));
        self.tile(unit, counter, width, "strip", None);
        unit.close();
    }

    /// One element for each lane.
    fn tile(&self, unit: &mut Unit, counter: &str, width: u64, from: &str, keep: Option<&str>) {
        let keep = keep.map(|test| match from {
            "strip" => "strip + lane < first + size".to_string(),
            _ => test.to_string(),
        });
        unit.open(format!("for (u64 lane = 0; lane < {width}; lane++) {{"));
        unit.line(format!("const u64 {counter} = {from} + lane;"));
        self.plan.write_body(unit, keep.as_deref());
        unit.close();
    }

    /// Joins lanes by halves onto the starting value, if what they hold says something.
    fn join(&self, unit: &mut Unit, few: Option<u64>) {
        let mut unclear = Vec::new();
        for g in &self.lanes {
            let group = &unit.program.groups[g.index()];
            let names = unit.names;
            let types: Vec<Ty> = group
                .vars
                .iter()
                .map(|v| facts::elem(unit.program, *v))
                .collect();
            let cells = |index: &str| -> Vec<String> {
                let lanes = group.vars.iter().map(|v| names.part(*v, Part::Lanes));
                lanes.map(|l| format!("{l}[{index}]")).collect()
            };
            let mut half = few.unwrap_or(lanes_of(group.order)) / 2;
            while half > 0 {
                let (to, from) = (cells("l"), cells(&format!("l + {half}")));
                unit.open(format!("for (u64 l = 0; l < {half}; l++) {{"));
                match group.vars[..] {
                    [v] if unit.losing(v).is_some() => {
                        let value = unit.plain_join(v, &to[0], &from[0]);
                        unit.line(format!("{} = {value};", to[0]));
                    }
                    _ => unit.combine(group.combine, &to, &to, &from, &types),
                }
                unit.close();
                half /= 2;
            }
            for (v, lane) in group.vars.iter().zip(cells("0")) {
                if let Some(limit) = unit.losing(*v) {
                    unclear.push(format!("({lane} == 0) | ({lane} == {limit})"));
                }
            }
        }
        if !unclear.is_empty() {
            unit.line(format!("lf_again = {};", unclear.join(" | ")));
            unit.open("if (!lf_again) {");
        }
        for g in &self.lanes {
            let group = &unit.program.groups[g.index()];
            let elem = |v: &Var| facts::elem(unit.program, *v);
            let types: Vec<Ty> = group.vars.iter().map(elem).collect();
            let lanes = |v: &Var| format!("{}[0]", unit.names.part(*v, Part::Lanes));
            let firsts: Vec<String> = group.vars.iter().map(lanes).collect();
            let vars: Vec<String> = group
                .vars
                .iter()
                .map(|v| unit.names.var(*v).to_string())
                .collect();
            unit.combine(group.combine, &vars, &vars, &firsts, &types);
        }
        if !unclear.is_empty() {
            unit.close();
        }
    }
}

fn lanes_of(order: Order) -> u64 {
    match order {
        Order::Lanes(l) => u64::from(l),
        Order::Runs(_) | Order::Prefix(_) | Order::Exact | Order::Sequential => 1,
    }
}

impl Nest<'_> {
    /// Writes the call: at the outer guard, for all but the last iteration.
    pub fn call(&self, unit: &mut Unit, symbol: &str, guard: &str) {
        let counter = unit.names.var(self.outer.sweep.counter).to_string();
        let bound = unit.atom(self.outer.sweep.bound);
        unit.open(format!("if ({counter} < {bound} && event - steps > 1) {{"));
        unit.line(format!("u64 count = {bound} - {counter} - 1;"));
        let mut proven: Vec<&(Var, Var)> = self.outer.proven.iter().collect();
        proven.sort();
        for (a, i) in proven {
            let (length, index) = (unit.length(*a), unit.names.var(*i).to_string());
            unit.line(format!(
                "count = lf_least(count, lf_room({length}, {index}));"
            ));
        }
        unit.line(format!("u64 from = {counter}, left = event - steps;"));
        let end = format!("{counter} + count");
        let arguments: Vec<String> = ["&from".to_string(), end, "&left".to_string()]
            .into_iter()
            .chain(self.passed(unit).into_iter().map(|p| p.argument))
            .collect();
        let function = self.function(unit, symbol);
        unit.line(format!("trapped |= {function}({});", arguments.join(", ")));
        unit.open(format!("if ({counter} != from) {{"));
        unit.line(format!("{counter} = from;"));
        self.outer.follow_updates(unit);
        unit.line("steps = event - left;");
        unit.line(format!("goto {guard};"));
        unit.close();
        unit.close();
    }
}
