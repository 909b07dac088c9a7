//! Runs side by side: folds by operators that only associate.
//!
//! Such an operator joins the elements of a run from left to right, and runs in order: within a run each step
//! waits for the one before. But every run begins at the identity, whatever comes before it. So each lane of a
//! vector takes a run of its own; what they come to is joined in order.
//!
//! ```text
//! i64 lf_tile_0[8][8];         elements of all runs, those of one step together
//! acc_2 = acc_2 (+) elt_0     for all runs at once
//! acc_2_lane[0] (+)= run 0, run 1, ..
//! ```
//!
//! States often begin with a flag that says whether they hold anything: it is known, not computed, to be unset
//! in the first step of a run, and set in all others.

use super::body::Body;
use super::fit::TILE;
use crate::emit::ideas::Idea;
use crate::emit::plan::Plan;
use crate::emit::unit::{Unit, comment};
use crate::facts;
use crate::names::{Part, identifier};
use loop_lang::ir::{CHUNK, GroupId, StmtKind, Var};
use loop_lang::types::{Const, Ty};
use std::collections::BTreeSet;

impl Plan<'_> {
    /// The function's name.
    fn runs_function(&self, unit: &Unit, symbol: &str) -> String {
        let rate = identifier(&unit.program.rate(self.sweep.rate).name);
        format!("{symbol}_runs_{}_{rate}", self.sweep.rate.index())
    }

    /// The variables of all groups.
    fn states(&self, unit: &Unit) -> Vec<Var> {
        let vars = |g: &GroupId| unit.program.groups[g.index()].vars.iter().copied();
        self.sweep.groups.iter().flat_map(vars).collect()
    }

    /// Writes the function.
    pub fn write_runs(&self, unit: &mut Unit, symbol: &str) {
        let Some(vectors) = &self.runs else {
            return;
        };
        unit.uses(Idea::Runs);
        let passed = self.passed(unit);
        let parameters: Vec<&str> = ["const u64 from", "const u64 end"]
            .into_iter()
            .chain(passed.iter().map(|p| p.declaration.as_str()))
            .collect();
        let rate = &unit.program.rate(self.sweep.rate).name;
        unit.line(comment(&format!("/* Rate {rate}: a run in each lane. */")));
        unit.line("static __attribute__((noinline)) u64");
        let function = self.runs_function(unit, symbol);
        unit.open(format!("{function}({}) {{", parameters.join(", ")));
        unit.line("u64 trapped = 0;");
        Body::of(unit, self, vectors).runs();
        unit.line("return trapped;");
        unit.close();
        unit.line("");
    }

    /// Writes the call: where a run begins, while there are enough of them in the chunk.
    pub fn call_runs(&self, unit: &mut Unit, symbol: &str, guard: &str) {
        let Some(vectors) = &self.runs else {
            return;
        };
        let (elements, run) = (vectors.elements(unit), unit.program.grid());
        let counter = unit.names.var(self.sweep.counter).to_string();
        let bound = unit.atom(self.sweep.bound);
        unit.open(format!("if (steps % {run} == 0 && {counter} < {bound}) {{"));
        unit.line(format!(
            "u64 count = lf_least({bound} - {counter}, limit - steps);"
        ));
        let mut rooms = vec![format!("{CHUNK} - steps % {CHUNK}")];
        let mut proven: Vec<&(Var, Var)> = self.proven.iter().collect();
        proven.sort();
        for (a, i) in proven {
            let (length, index) = (unit.length(*a), unit.names.var(*i));
            rooms.push(format!("lf_room({length}, {index})"));
        }
        for room in rooms {
            unit.line(format!("count = lf_least(count, {room});"));
        }
        unit.line(format!("count &= ~{}ul;", elements as u64 * run - 1));
        unit.open("if (count != 0) {");
        let function = self.runs_function(unit, symbol);
        let arguments: Vec<String> = [counter.clone(), format!("{counter} + count")]
            .into_iter()
            .chain(self.passed(unit).into_iter().map(|p| p.argument))
            .collect();
        unit.line(format!("trapped |= {function}({});", arguments.join(", ")));
        unit.line(format!("{counter} += count;"));
        self.follow_updates(unit);
        unit.line("event = steps += count;");
        unit.line(format!("goto {guard};"));
        unit.close();
        unit.close();
    }
}

impl Body<'_, '_> {
    /// Writes the loop over vectors of runs.
    fn runs(&mut self) {
        let run = self.unit.program.grid();
        let states = self.plan.states(self.unit);
        let elements = self.vectors.elements(self.unit);
        let flags = self.flags();
        self.unit.open(format!(
            "for (u64 lf_first = from; lf_first < end; lf_first += {}) {{",
            elements as u64 * run
        ));
        for v in states.iter().filter(|v| !flags.contains(v)) {
            let ty = facts::elem(self.unit.program, *v);
            let group = self.unit.facts.local_group(self.unit.program, *v);
            let groups = &self.unit.program.groups;
            let identity = group.and_then(|(g, i, _)| groups[g.index()].identity.get(i));
            let start = self.value(identity.copied().unwrap_or(Const::zero(ty).into()));
            let vector = self.vector_of(ty);
            self.unit.line(format!("{vector} {} = {start};", state(*v)));
        }
        let arrays: BTreeSet<Var> = self.plan.proven.iter().map(|p| p.0).collect();
        self.unit.open(format!(
            "for (u64 lf_at = 0; lf_at < {run}; lf_at += {TILE}) {{"
        ));
        for a in &arrays {
            let (ty, data) = (
                facts::elem(self.unit.program, *a).name(),
                self.unit.array(*a),
            );
            let tile = tile(*a);
            // The processor sees no order in lines that lie a run apart: it is told which come next. In a loop of
            // their own, or the two others, unrolled, would not become shuffles.
            let ahead = format!("lf_first + (k + {}) * {run} + lf_at", 2 * elements);
            let lines = [
                format!("{ty} {tile}[{TILE}][{elements}];"),
                format!("for (u64 k = 0; k < {elements}; k++)"),
                format!("  __builtin_prefetch({data} + ({ahead}));"),
                "#pragma GCC unroll 16".to_string(),
                format!("for (u64 k = 0; k < {elements}; k++)"),
                format!("  for (u64 j = 0; j < {TILE}; j++)"),
                format!("    {tile}[j][k] = {data}[lf_first + k * {run} + lf_at + j];"),
            ];
            lines.iter().for_each(|l| self.unit.line(l));
        }
        self.unit.line("u64 j = 0;");
        if !flags.is_empty() {
            self.unit.open("if (lf_at == 0) {");
            self.step(&states, &flags, false);
            self.unit.line("j = 1;");
            self.unit.close();
        }
        self.unit.open(format!("for (; j < {TILE}; j++) {{"));
        self.step(&states, &flags, true);
        self.unit.close();
        self.unit.close();
        self.join_runs(elements, &flags);
        self.unit.close();
    }
}

impl Body<'_, '_> {
    /// Flags that a run begins without and every step sets.
    fn flags(&self) -> Vec<Var> {
        let program = self.unit.program;
        let (unset, set) = (Const::bool(false).into(), Const::bool(true).into());
        let of = |g: &GroupId| {
            let group = &program.groups[g.index()];
            let fields = group.vars.iter().zip(&group.identity).zip(&group.next);
            let flags =
                fields.filter(move |((_, identity), next)| (**identity, **next) == (unset, set));
            flags.map(|((v, _), _)| *v)
        };
        self.plan.sweep.groups.iter().flat_map(of).collect()
    }

    /// One step of all runs.
    fn step(&mut self, states: &[Var], flags: &[Var], set: bool) {
        let program = self.unit.program;
        let counter = self.unit.names.var(self.plan.sweep.counter);
        self.unit
            .line(format!("const u64 {counter} = lf_first + lf_at + j;"));
        self.known = flags.iter().map(|v| (*v, set)).collect();
        for v in flags {
            let mask = self.width.mask(self.unit.helpers);
            let none = format!("({mask}){{0}}");
            self.define(*v, &if set { format!("~{none}") } else { none });
        }
        for v in states.iter().filter(|v| !flags.contains(v)) {
            self.define(*v, &state(*v));
        }
        self.unit.comb = None;
        let mut updates = Vec::new();
        for s in self.plan.sweep.all_tops().map(|s| s.stmt) {
            match &s.kind {
                StmtKind::Assign(v, a) if states.contains(v) && !flags.contains(v) => {
                    updates.push((*v, *a));
                }
                StmtKind::Assign(..) => {}
                StmtKind::ReadArray(v, a, _) => {
                    let vector = self
                        .width
                        .vector(self.unit.helpers, facts::elem(program, *v));
                    let tile = tile(self.unit.owner(*a));
                    let loaded = format!("*(const {vector}_at *){tile}[j]");
                    self.take(*v, &loaded);
                }
                _ => self.wanted(s),
            }
        }
        for (v, a) in updates {
            let value = self.value(a);
            self.unit.line(format!("{} = {value};", state(v)));
        }
    }

    /// Joins what the runs came to onto the chunk's runs before, in order.
    fn join_runs(&mut self, elements: usize, flags: &[Var]) {
        self.unit
            .open(format!("for (u64 k = 0; k < {elements}; k++) {{"));
        for g in &self.plan.sweep.groups {
            let group = &self.unit.program.groups[g.index()];
            let types: Vec<Ty> = group
                .vars
                .iter()
                .map(|v| facts::elem(self.unit.program, *v))
                .collect();
            let names = self.unit.names;
            let before: Vec<String> = group
                .vars
                .iter()
                .map(|v| format!("{}[0]", names.part(*v, Part::Lanes)))
                .collect();
            let cell = |(v, ty): (&Var, &Ty)| match ty {
                _ if flags.contains(v) => "1".to_string(),
                Ty::Bool => format!("(bool)({}[k] & 1)", state(*v)),
                _ => format!("{}[k]", state(*v)),
            };
            let cells: Vec<String> = group.vars.iter().zip(&types).map(cell).collect();
            self.unit
                .combine(group.combine, &before, &before, &cells, &types);
        }
        self.unit.close();
    }
}

/// The vector of a state's variable between steps.
fn state(v: Var) -> String {
    format!("lf_state_{}", v.index())
}

fn tile(a: Var) -> String {
    format!("lf_tile_{}", a.index())
}
