//! Chunks side by side: folds by operators that only associate.
//!
//! Such an operator joins each chunk's elements from left to right, and chunks in order: within a chunk each
//! step waits for the one before. But every chunk begins at the identity, whatever comes before it. So where
//! as many whole chunks lie ahead as a vector has lanes, each lane takes one; what they come to is joined in
//! order.
//!
//! ```text
//! u32 lf_tile_0[16][LF_W8];   elements of all chunks, those of one step together
//! acc_2 = acc_2 (+) elt_0     for all chunks at once
//! acc_2 (+)= lane 0, lane 1, ..
//! ```
//!
//! States often begin with a flag that says whether they hold anything: it is known, not computed, to be unset
//! in the first step of a chunk, and set in all others.

use super::body::Body;
use super::fit::{Fitting, Vectors};
use crate::emit::plan::{Plan, Step};
use crate::emit::straight::Passed;
use crate::emit::unit::{Unit, comment};
use crate::facts;
use crate::names::{Part, identifier};
use loop_lang::ir::{CHUNK, GroupId, Order, RateKind, StmtKind, Var};
use loop_lang::types::{Const, Ty};
use std::collections::BTreeSet;

/// Steps whose elements are brought together at a time.
pub(super) const TILE: u64 = 8;

/// More variables than this in the states of a loop would not stay in registers.
const MAX_STATE: usize = 12;

impl Fitting<'_, '_> {
    /// What vectors of chunks need, if the loop does nothing but fold by such operators.
    pub(super) fn chunks(&self) -> Option<Vectors> {
        let (program, plan) = (self.program, self.plan);
        let groups = || plan.groups.iter().map(|g| &program.groups[g.index()]);
        let serial = groups().all(|g| g.order == Order::Lanes(1));
        let plain = plan.steps.iter().all(|s| matches!(s, Step::Block(_)));
        let state: usize = groups().map(|g| g.vars.len()).sum();
        let root = matches!(program.rate(plan.rate).kind, RateKind::Root { .. });
        if !root || !serial || !plain || !(1..=MAX_STATE).contains(&state) {
            return None;
        }
        if !plan.carried.is_empty() {
            return None;
        }
        let mut vectors = Vectors {
            lanes: plan.groups.iter().copied().collect(),
            ..Vectors::default()
        };
        let computes =
            |kind: &StmtKind| !matches!(kind, StmtKind::WriteArray(..) | StmtKind::Trap { .. });
        for i in &self.inner {
            self.take(&vectors, i)?;
            if !computes(&i.stmt.kind) {
                return None;
            }
        }
        vectors.needed = self.needed(&vectors);
        vectors.widest = self.widest(&vectors);
        (vectors.widest >= 4).then_some(vectors)
    }
}

impl Plan {
    /// The function's name.
    fn chunks_function(&self, unit: &Unit, symbol: &str) -> String {
        let rate = identifier(&unit.program.rate(self.rate).name);
        format!("{symbol}_chunks_{}_{rate}", self.rate.index())
    }

    /// What goes in and out: arrays and scalars as for the straight function, and prefixes.
    fn chunks_passed(&self, unit: &Unit) -> Vec<(String, String)> {
        let states = self.prefixes(unit);
        let in_lane = |p: &Passed| {
            let mut lanes = states.iter().map(|v| unit.names.part(*v, Part::Lanes));
            lanes.any(|name| name == p.argument)
        };
        let passed = self.passed(unit).into_iter();
        let others = passed.filter(|p| !in_lane(p));
        let mut all: Vec<(String, String)> = others.map(|p| (p.declaration, p.argument)).collect();
        for v in &states {
            let (ty, name) = (facts::elem(unit.program, *v).name(), unit.names.var(*v));
            let joined = unit.names.part(*v, Part::Joined);
            all.push((format!("{ty} *restrict lf_{name}"), format!("&{joined}")));
        }
        all
    }

    /// The variables of all groups.
    fn prefixes(&self, unit: &Unit) -> Vec<Var> {
        let vars = |g: &GroupId| unit.program.groups[g.index()].vars.iter().copied();
        self.groups.iter().flat_map(vars).collect()
    }

    /// Writes the function.
    pub fn write_chunks(&self, unit: &mut Unit, symbol: &str) {
        let Some(vectors) = &self.chunks else {
            return;
        };
        let parameters: Vec<String> = std::iter::once("const u64 from".to_string())
            .chain(self.chunks_passed(unit).into_iter().map(|p| p.0))
            .collect();
        let rate = &unit.program.rate(self.rate).name;
        unit.line(comment(&format!(
            "/* Rate {rate}: a chunk in each lane. */"
        )));
        unit.line("static __attribute__((noinline)) u64");
        let function = self.chunks_function(unit, symbol);
        unit.open(format!("{function}({}) {{", parameters.join(", ")));
        unit.line("u64 trapped = 0;");
        vectors.write_chunks(unit, self);
        unit.line("return trapped;");
        unit.close();
        unit.line("");
    }

    /// Writes the call: at the beginning of a chunk, while there are enough of them.
    pub fn call_chunks(&self, unit: &mut Unit, symbol: &str, guard: &str) {
        let Some(vectors) = &self.chunks else {
            return;
        };
        let elements = vectors.elements(unit);
        let many = format!("{elements} * {CHUNK}ul");
        let counter = unit.names.var(self.counter).to_string();
        let mut rooms = vec!["limit - steps".to_string()];
        rooms.push(format!("lf_room({}, {counter})", unit.atom(self.bound)));
        let mut proven: Vec<&(Var, Var)> = self.proven.iter().collect();
        proven.sort();
        for (a, i) in proven {
            rooms.push(format!(
                "lf_room({}, {})",
                unit.length(*a),
                unit.names.var(*i)
            ));
        }
        let tests: Vec<String> = rooms.iter().map(|r| format!("{r} >= {many}")).collect();
        unit.open(format!(
            "if (steps % {CHUNK} == 0 && {}) {{",
            tests.join(" && ")
        ));
        let function = self.chunks_function(unit, symbol);
        let arguments: Vec<String> = std::iter::once(counter.clone())
            .chain(self.chunks_passed(unit).into_iter().map(|p| p.1))
            .collect();
        let joined = |v: &Var| {
            let names = unit.names;
            (
                names.part(*v, Part::Joined).to_string(),
                names.var(*v).to_string(),
            )
        };
        let joined: Vec<(String, String)> = self.prefixes(unit).iter().map(joined).collect();
        for (to, from) in &joined {
            unit.line(format!("{to} = {from};"));
        }
        unit.line(format!("trapped |= {function}({});", arguments.join(", ")));
        for (from, to) in &joined {
            unit.line(format!("{to} = {from};"));
        }
        unit.line(format!("{counter} += {many};"));
        self.follow_updates(unit);
        unit.line(format!("steps += {many};"));
        unit.line(format!("event = lf_least(limit, steps + {CHUNK});"));
        unit.line(format!("goto {guard};"));
        unit.close();
    }
}

impl Vectors {
    /// Writes the loop over the steps of a chunk, for all chunks at once, and joins what they come to.
    fn write_chunks(&self, unit: &mut Unit, plan: &Plan) {
        let mut body = Body::of(unit, plan, self);
        body.apart = Some(CHUNK);
        body.chunks();
    }
}

impl Body<'_, '_> {
    fn chunks(&mut self) {
        let states = self.plan.prefixes(self.unit);
        let elements = self.vectors.elements(self.unit);
        let flags = self.flags();
        for v in states.iter().filter(|v| !flags.contains(v)) {
            let ty = facts::elem(self.unit.program, *v);
            let group = self.unit.facts.local_group(self.unit.program, *v);
            let groups = &self.unit.program.groups;
            let identity = group.and_then(|(g, i, _)| groups[g.index()].identity.get(i));
            let start = self.value(identity.copied().unwrap_or(Const::zero(ty).into()));
            let vector = self.vector_of(ty);
            self.unit.line(format!("{vector} {} = {start};", run(*v)));
        }
        let arrays: BTreeSet<Var> = self.plan.proven.iter().map(|p| p.0).collect();
        self.unit.open(format!(
            "for (u64 lf_at = 0; lf_at < {CHUNK}; lf_at += {TILE}) {{"
        ));
        for a in &arrays {
            let (ty, data) = (
                facts::elem(self.unit.program, *a).name(),
                self.unit.array(*a),
            );
            let tile = tile(*a);
            // Unrolled, the two loops become shuffles.
            let lines = [
                format!("{ty} {tile}[{TILE}][{elements}];"),
                "#pragma GCC unroll 16".to_string(),
                format!("for (u64 k = 0; k < {elements}; k++)"),
                format!("  for (u64 j = 0; j < {TILE}; j++)"),
                format!("    {tile}[j][k] = {data}[from + k * {CHUNK} + lf_at + j];"),
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
        self.join_chunks(&elements, &flags);
    }
}

impl Body<'_, '_> {
    /// Flags that a chunk begins without and every step sets.
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
        self.plan.groups.iter().flat_map(of).collect()
    }

    /// One step of all chunks.
    fn step(&mut self, states: &[Var], flags: &[Var], set: bool) {
        let program = self.unit.program;
        let counter = self.unit.names.var(self.plan.counter);
        self.unit
            .line(format!("const u64 {counter} = from + lf_at + j;"));
        self.known = flags.iter().map(|v| (*v, set)).collect();
        for v in flags {
            let mask = self.shape.mask(self.unit.helpers);
            let none = format!("({mask}){{0}}");
            self.define(*v, &if set { format!("~{none}") } else { none });
        }
        for v in states.iter().filter(|v| !flags.contains(v)) {
            self.define(*v, &run(*v));
        }
        self.unit.comb = None;
        let mut updates = Vec::new();
        for i in self.plan.blocks() {
            for s in &self.unit.facts.blocks[i].block.stmts {
                match &s.kind {
                    StmtKind::Assign(v, a) if states.contains(v) && !flags.contains(v) => {
                        updates.push((*v, *a));
                    }
                    StmtKind::Assign(..) => {}
                    StmtKind::ReadArray(v, a, _) => {
                        let vector = self
                            .shape
                            .vector(self.unit.helpers, facts::elem(program, *v));
                        let tile = tile(self.unit.owner(*a));
                        let loaded = format!("*(const {vector}_at *){tile}[j]");
                        self.take(*v, &loaded);
                    }
                    _ => self.wanted(s, &self.vectors.needed),
                }
            }
        }
        for (v, a) in updates {
            let value = self.value(a);
            self.unit.line(format!("{} = {value};", run(v)));
        }
    }

    /// Joins the chunks' folds onto the prefixes, in order.
    fn join_chunks(&mut self, elements: &str, flags: &[Var]) {
        self.unit
            .open(format!("for (u64 k = 0; k < {elements}; k++) {{"));
        for g in &self.plan.groups {
            let group = &self.unit.program.groups[g.index()];
            let types: Vec<Ty> = group
                .vars
                .iter()
                .map(|v| facts::elem(self.unit.program, *v))
                .collect();
            let names = self.unit.names;
            let prefixes: Vec<String> = group
                .vars
                .iter()
                .map(|v| format!("(*lf_{})", names.var(*v)))
                .collect();
            let cell = |(v, ty): (&Var, &Ty)| match ty {
                _ if flags.contains(v) => "1".to_string(),
                Ty::Bool => format!("(bool)({}[k] & 1)", run(*v)),
                _ => format!("{}[k]", run(*v)),
            };
            let cells: Vec<String> = group.vars.iter().zip(&types).map(cell).collect();
            self.unit
                .combine(group.combine, &prefixes, &prefixes, &cells, &types);
        }
        self.unit.close();
    }
}

/// The vector of a state's variable between steps.
fn run(v: Var) -> String {
    format!("lf_run_{}", v.index())
}

fn tile(a: Var) -> String {
    format!("lf_tile_{}", a.index())
}
