//! The state machine's variables, and how a frame restores and keeps them.

use super::machine::{LINE, Machine, scratch_bytes};
use super::stop::HALT;
use crate::facts;
use crate::names::Facet;
use loop_lang::ir::{GroupId, Order, Type, Var};
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

impl Machine<'_, '_> {
    /// Every scalar of the loop, the local parts of groups, and its arrays.
    pub(super) fn declarations(&mut self) {
        let program = self.unit.program;
        for (i, p) in program.params.iter().enumerate() {
            let name = self.unit.names.var(p.var).to_string();
            let ty = facts::elem(program, p.var);
            if let Type::Array(_) = program.ty(p.var) {
                let length = self.unit.length(p.var);
                self.line(format!(
                    "const {} *const {name} = run->inputs[{i}].data;",
                    ty.name()
                ));
                self.line(format!("const u64 {length} = run->inputs[{i}].length;"));
            } else {
                let value = self
                    .unit
                    .helpers
                    .value_of(ty, &format!("run->scalars[{i}]"));
                self.line(format!("const {} {name} = {value};", ty.name()));
            }
        }
        for (slot, v) in self.unit.made.iter().enumerate() {
            let (ty, name) = (
                facts::elem(program, *v),
                self.unit.names.var(*v).to_string(),
            );
            let length = self.unit.length(*v);
            self.line(format!("{} *{name} = run->made[{slot}].data;", ty.name()));
            self.line(format!("u64 {length} = run->made[{slot}].length;"));
        }
        if self.unit.stops {
            self.line(format!("{HALT} = run->stop;"));
        }
        self.scalars();
        self.local_parts();
    }

    /// Scalars that blocks define, several to a line.
    fn scalars(&mut self) {
        let program = self.unit.program;
        let mut seen: FxHashSet<Var> = program.params.iter().map(|p| p.var).collect();
        let mut by_type: FxHashMap<Ty, Vec<String>> = FxHashMap::default();
        for placed in &self.unit.facts.blocks {
            facts::each_stmt(&placed.block.stmts, &mut |s| {
                facts::each_def(s, &mut |v| {
                    if let Type::Scalar(ty) = program.ty(v)
                        && seen.insert(v)
                    {
                        by_type
                            .entry(ty)
                            .or_default()
                            .push(self.unit.names.var(v).to_string());
                    }
                });
            });
        }
        for (v, _) in &self.layout.saved {
            if seen.insert(*v) {
                let ty = facts::elem(program, *v);
                by_type
                    .entry(ty)
                    .or_default()
                    .push(self.unit.names.var(*v).to_string());
            }
        }
        for v in &self.unit.facts.carried {
            let ty = facts::elem(program, *v);
            if self.unit.facts.ever_waits(*v) {
                let next = self.unit.names.facet(*v, Facet::Next).to_string();
                by_type.entry(ty).or_default().push(next);
            }
        }
        for ty in Ty::ALL {
            for names in by_type.remove(&ty).unwrap_or_default().chunks(8) {
                let text: Vec<String> = names.iter().map(|n| format!("{n} = 0")).collect();
                self.line(format!("{} {};", ty.name(), text.join(", ")));
            }
        }
    }

    fn local_parts(&mut self) {
        let program = self.unit.program;
        let mut offset = 0;
        let scratch = scratch_bytes(program) != 0;
        for group in &program.groups {
            for v in &group.vars {
                let ty = facts::elem(program, *v).name();
                let names = self.unit.names;
                let facet = |f| names.facet(*v, f);
                match (group.order.lanes(), group.order) {
                    (Some(l), _) if scratch => {
                        let begin = format!("((u64)run->scratch + {LINE} - 1 & ~{LINE}ul)");
                        let at = format!("({ty} *)({begin} + {offset})");
                        let lanes = facet(Facet::Lanes);
                        self.line(format!("{ty} *const {lanes} = {at};"));
                        self.line(format!("{ty} {} = 0;", facet(Facet::Joined)));
                        offset += 8 * l as usize;
                    }
                    (Some(l), _) => {
                        let lanes = facet(Facet::Lanes);
                        self.line(format!(
                            "{ty} {lanes}[{l}] __attribute__((aligned({LINE})));"
                        ));
                        self.line(format!("{ty} {} = 0;", facet(Facet::Joined)));
                    }
                    (None, Order::Prefix(l)) => {
                        let (now, total) = (facet(Facet::Now), facet(Facet::Total));
                        let last = facet(Facet::Last);
                        self.line(format!("{ty} {now} = 0, {total} = 0, {last} = 0;"));
                        if l > 1 {
                            let log = l.trailing_zeros();
                            self.line(format!("{ty} {}[{log}];", facet(Facet::Tree)));
                        }
                    }
                    (None, _) => {}
                }
            }
        }
    }

    /// Restores the variables from the frame's words, or saves them there.
    pub(super) fn frame(&mut self, restore: bool) {
        let program = self.unit.program;
        for (v, word) in &self.layout.saved {
            let name = match restore {
                true => self.unit.names.var(*v).to_string(),
                false => self.kept(*v),
            };
            self.word(
                facts::elem(program, *v),
                &name,
                &format!("run->words[{word}]"),
                restore,
            );
        }
        for (i, group) in program.groups.iter().enumerate() {
            for (k, v) in group.vars.iter().enumerate() {
                let ty = facts::elem(program, *v);
                let first = self.layout.local(GroupId::new(i), group, k);
                let names = self.unit.names;
                let facet = |f| names.facet(*v, f).to_string();
                match (group.order.lanes(), group.order) {
                    // The word is the value.
                    (Some(l), _) if ty.size() == 8 => {
                        let (lanes, words) = (facet(Facet::Lanes), format!("run->words + {first}"));
                        let (to, from) = match restore {
                            true => (lanes, words),
                            false => (words, lanes),
                        };
                        let bytes = 8 * u64::from(l);
                        self.line(format!("__builtin_memcpy({to}, {from}, {bytes});"));
                    }
                    (Some(l), _) => {
                        self.unit
                            .open(format!("for (u64 lane = 0; lane < {l}; lane++) {{"));
                        let lane = format!("{}[lane]", facet(Facet::Lanes));
                        self.word(ty, &lane, &format!("run->words[{first} + lane]"), restore);
                        self.unit.close();
                    }
                    (None, Order::Prefix(l)) => {
                        for (j, p) in [Facet::Now, Facet::Total, Facet::Last]
                            .into_iter()
                            .enumerate()
                        {
                            let word = format!("run->words[{}]", first + j);
                            self.word(ty, &facet(p), &word, restore);
                        }
                        for k in 0..l.trailing_zeros() as usize {
                            let entry = format!("{}[{k}]", facet(Facet::Tree));
                            self.word(
                                ty,
                                &entry,
                                &format!("run->words[{}]", first + 3 + k),
                                restore,
                            );
                        }
                    }
                    (None, _) => {}
                }
            }
        }
    }

    /// What the word of a saved variable keeps. Updates that wait for outer iterations under way are
    /// done early, unless the old value is read once more; then the layout holds the next one too.
    fn kept(&self, v: Var) -> String {
        let plain = self.unit.facts.local_group(self.unit.program, v).is_none();
        let next = plain && self.unit.facts.ever_waits(v) && self.held(v).is_none();
        let names = self.unit.names;
        if next {
            names.facet(v, Facet::Next).to_string()
        } else {
            names.var(v).to_string()
        }
    }

    /// The word of a variable's next value, if a pause must keep it beside the old one.
    fn held(&self, v: Var) -> Option<usize> {
        self.held.get(&v).copied()
    }

    /// Restores or saves the next values of variables whose updates wait.
    pub(super) fn next_values(&mut self, restore: bool) {
        let program = self.unit.program;
        for v in self.unit.facts.carried.clone() {
            let held = self.held(v).map(|word| format!("run->words[{word}]"));
            let waits = self.unit.facts.ever_waits(v);
            let (name, ty) = (self.unit.names.var(v).to_string(), facts::elem(program, v));
            let next = self.unit.names.facet(v, Facet::Next).to_string();
            match (self.unit.facts.local_group(program, v), held) {
                (None, Some(word)) if waits => self.word(ty, &next, &word, restore),
                (None, Some(word)) => self.word(ty, &name, &word, restore),
                (None, None) if waits && restore => self.line(format!("{next} = {name};")),
                (Some((g, _, Order::Lanes(_) | Order::Runs(_))), _) if waits => {
                    self.next_lane(g, v, restore)
                }
                _ => {}
            }
        }
        for i in 0..program.groups.len() {
            let group = &program.groups[i];
            if restore && matches!(group.order, Order::Prefix(_)) {
                self.next_of_scan(GroupId::new(i));
            }
        }
    }

    /// A lane whose update waits: it is done early if the loop pauses in an inner loop.
    fn next_lane(&mut self, g: GroupId, v: Var, restore: bool) {
        let next = self.unit.names.facet(v, Facet::Next).to_string();
        for k in self.below(g) {
            // Each phase deals by a counter of its own.
            let rate = self.layout.resume[k - 1];
            let place = std::mem::replace(&mut self.unit.place, facts::guard_of(rate));
            let lane = self.unit.lane(g, v);
            self.unit.place = place;
            let (to, from) = if restore {
                (&next, &lane)
            } else {
                (&lane, &next)
            };
            self.line(format!("if (position == {k}) {to} = {from};"));
        }
    }

    /// In an inner loop the next value of a scan is found again from the group's prefix and last local
    /// value; elsewhere nothing waits.
    fn next_of_scan(&mut self, g: GroupId) {
        let group = &self.unit.program.groups[g.index()];
        let names = self.unit.names;
        let mut nexts = Vec::new();
        for v in &group.vars {
            let now = names.facet(*v, Facet::Now);
            if self.unit.facts.ever_waits(*v) {
                let next = names.facet(*v, Facet::Next);
                self.line(format!("{next} = {now};"));
                nexts.push(next.to_string());
            } else {
                nexts.push(now.to_string());
            }
        }
        let inner: Vec<String> = self
            .below(g)
            .iter()
            .map(|k| format!("position == {k}"))
            .collect();
        if inner.is_empty() {
            return;
        }
        let vars = group.vars.iter();
        let prefixes: Vec<String> = vars.clone().map(|v| names.var(*v).to_string()).collect();
        let lasts: Vec<String> = vars
            .clone()
            .map(|v| names.facet(*v, Facet::Last).to_string())
            .collect();
        let types: Vec<Ty> = vars.map(|v| facts::elem(self.unit.program, *v)).collect();
        self.unit.open(format!("if ({}) {{", inner.join(" || ")));
        // What is joined here was joined before: a trap in it was seen then.
        self.line("u64 trapped = 0;");
        self.unit
            .combine(group.combine, &nexts, &prefixes, &lasts, &types);
        self.unit.close();
    }

    fn word(&mut self, ty: Ty, place: &str, word: &str, restore: bool) {
        let text = if restore {
            format!("{place} = {};", self.unit.helpers.value_of(ty, word))
        } else {
            format!("{word} = {};", self.unit.helpers.word_of(ty, place))
        };
        self.line(text);
    }
}
