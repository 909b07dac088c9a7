//! The state machine: the loop's blocks and gotos as they are, with a stop at every guard of a loop
//! rate. It can begin and pause at any of them, and is what straight loops fall back on.

use super::straight::Plan;
use super::unit::{Unit, comment};
use crate::facts::{self, Placed};
use crate::names::{Part, Unique};
use loop_lang::ir::{
    Atom, CHUNK, End, GroupId, Label, Order, Place, RateId, Section, Type, Var,
};
use loop_lang::state::Layout;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lanes beyond this many bytes live in memory that the host brings, not on the stack.
const MAX_STACK_LANES: usize = 64 << 10;

/// The state machine's function, being written.
pub struct Machine<'u, 'a> {
    unit: &'u mut Unit<'a>,
    layout: &'u Layout,
    plans: &'u [Plan],
    symbol: &'u str,
    /// C labels by block.
    labels: Vec<String>,
    summary: bool,
    held: FxHashMap<Var, usize>,
    /// Whether a loop rate that updates lanes has others below it.
    joins_above: bool,
}

/// Bytes that a loop's lanes take outside of the stack.
pub fn scratch_bytes(program: &loop_lang::Loop) -> usize {
    let lanes = program.groups.iter().map(|g| match g.order {
        Order::Lanes(l) => g.vars.len() * 8 * l as usize,
        _ => 0,
    });
    let bytes = lanes.sum();
    if bytes > MAX_STACK_LANES { bytes } else { 0 }
}

/// Writes the exported function `name`. In a summary pass the returning block does not run.
pub fn write(
    unit: &mut Unit,
    layout: &Layout,
    plans: &[Plan],
    symbol: &str,
    name: &str,
    summary: bool,
) {
    let mut unique = Unique::default();
    for word in ["event", "resume", "out", "no_memory"] {
        unique.pick(word);
    }
    let labels = unit
        .facts
        .blocks
        .iter()
        .map(|b| unique.pick(&label_name(unit.program, b.labels[0])))
        .collect();
    let held = layout.held.iter().copied().collect();
    let mut machine =
        Machine { unit, layout, plans, symbol, labels, summary, held, joins_above: false };
    machine.joins_above = machine.any_joins_above();
    machine.function(name);
}

/// Whether a group of this order has a local part.
fn is_local(order: Order) -> bool {
    matches!(order, Order::Lanes(_) | Order::Prefix(_))
}

fn label_name(program: &loop_lang::Loop, l: Label) -> String {
    format!("{}_{}", l.section.name(), program.comb(l.comb).name)
}

impl Machine<'_, '_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.unit.line(text);
    }

    fn function(&mut self, name: &str) {
        self.unit.open(format!("i32 {name}(lf_run *run) {{"));
        self.declarations();
        self.frame(true);
        self.line("u64 position = run->words[0];");
        self.line("u64 steps = run->words[1];");
        self.line("const u64 limit = steps + run->budget;");
        self.line("u64 event = 0; /* the step at which to stop and look */");
        self.line("u64 trapped = 0;");
        self.line("i32 outcome = LF_DONE;");
        self.next_values(true);
        self.line("goto resume;");
        self.line("");
        for i in 0..self.unit.facts.blocks.len() {
            self.block(i);
        }
        self.event();
        self.resume();
        self.leave();
        self.unit.close();
        self.line("");
    }

    /// Every scalar of the loop, the local parts of groups, and its arrays.
    fn declarations(&mut self) {
        let program = self.unit.program;
        for (i, p) in program.params.iter().enumerate() {
            let name = self.unit.names.var(p.var).to_string();
            let ty = facts::elem(program, p.var);
            if let Type::Array(_) = program.ty(p.var) {
                let length = self.unit.length(p.var);
                self.line(format!("const {} *const {name} = run->inputs[{i}].data;", ty.name()));
                self.line(format!("const u64 {length} = run->inputs[{i}].length;"));
            } else {
                let value = self.unit.helpers.from_word(ty, &format!("run->scalars[{i}]"));
                self.line(format!("const {} {name} = {value};", ty.name()));
            }
        }
        for (slot, v) in self.unit.made.iter().enumerate() {
            let (ty, name) = (facts::elem(program, *v), self.unit.names.var(*v).to_string());
            let length = self.unit.length(*v);
            self.line(format!("{} *{name} = run->made[{slot}].data;", ty.name()));
            self.line(format!("u64 {length} = run->made[{slot}].length;"));
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
                        by_type.entry(ty).or_default().push(self.unit.names.var(v).to_string());
                    }
                });
            });
        }
        for (v, _) in &self.layout.saved {
            if seen.insert(*v) {
                let ty = facts::elem(program, *v);
                by_type.entry(ty).or_default().push(self.unit.names.var(*v).to_string());
            }
        }
        for v in &self.unit.facts.carried {
            let ty = facts::elem(program, *v);
            if self.unit.facts.ever_waits(*v) {
                let next = self.unit.names.part(*v, Part::Next).to_string();
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
                let part = |p| names.part(*v, p);
                match group.order {
                    Order::Lanes(l) if scratch => {
                        let at = format!("({ty} *)((u8 *)run->scratch + {offset})");
                        let lanes = part(Part::Lanes);
                        self.line(format!("{ty} *const {lanes} = {at};"));
                        self.line(format!("{ty} {} = 0;", part(Part::Joined)));
                        offset += 8 * l as usize;
                    }
                    Order::Lanes(l) => {
                        self.line(format!("{ty} {}[{l}];", part(Part::Lanes)));
                        self.line(format!("{ty} {} = 0;", part(Part::Joined)));
                    }
                    Order::Prefix(l) => {
                        let (now, total) = (part(Part::Now), part(Part::Total));
                        let last = part(Part::Last);
                        self.line(format!("{ty} {now} = 0, {total} = 0, {last} = 0;"));
                        if l > 1 {
                            let log = l.trailing_zeros();
                            self.line(format!("{ty} {}[{log}];", part(Part::Tree)));
                        }
                    }
                    Order::Exact | Order::Sequential => {}
                }
            }
        }
    }

    /// Restores the variables from the frame's words, or saves them there.
    fn frame(&mut self, restore: bool) {
        let program = self.unit.program;
        for (v, word) in &self.layout.saved {
            let name = match restore {
                true => self.unit.names.var(*v).to_string(),
                false => self.kept(*v),
            };
            self.word(facts::elem(program, *v), &name, &format!("run->words[{word}]"), restore);
        }
        for (i, group) in program.groups.iter().enumerate() {
            for (k, v) in group.vars.iter().enumerate() {
                let ty = facts::elem(program, *v);
                let first = self.layout.local(GroupId::new(i), group, k);
                let names = self.unit.names;
                let part = |p| names.part(*v, p).to_string();
                match group.order {
                    Order::Lanes(l) => {
                        self.unit.open(format!("for (u64 lane = 0; lane < {l}; lane++) {{"));
                        let lane = format!("{}[lane]", part(Part::Lanes));
                        self.word(ty, &lane, &format!("run->words[{first} + lane]"), restore);
                        self.unit.close();
                    }
                    Order::Prefix(l) => {
                        for (j, p) in [Part::Now, Part::Total, Part::Last].into_iter().enumerate() {
                            let word = format!("run->words[{}]", first + j);
                            self.word(ty, &part(p), &word, restore);
                        }
                        for k in 0..l.trailing_zeros() as usize {
                            let entry = format!("{}[{k}]", part(Part::Tree));
                            self.word(ty, &entry, &format!("run->words[{}]", first + 3 + k), restore);
                        }
                    }
                    Order::Exact | Order::Sequential => {}
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
        if next { names.part(v, Part::Next).to_string() } else { names.var(v).to_string() }
    }

    /// The word of a variable's next value, if a pause must keep it beside the old one.
    fn held(&self, v: Var) -> Option<usize> {
        self.held.get(&v).copied()
    }

    /// Restores or saves the next values of variables whose updates wait.
    fn next_values(&mut self, restore: bool) {
        let program = self.unit.program;
        for v in self.unit.facts.carried.clone() {
            let held = self.held(v).map(|word| format!("run->words[{word}]"));
            let waits = self.unit.facts.ever_waits(v);
            let (name, ty) = (self.unit.names.var(v).to_string(), facts::elem(program, v));
            let next = self.unit.names.part(v, Part::Next).to_string();
            match (self.unit.facts.local_group(program, v), held) {
                (None, Some(word)) if waits => self.word(ty, &next, &word, restore),
                (None, Some(word)) => self.word(ty, &name, &word, restore),
                (None, None) if waits && restore => self.line(format!("{next} = {name};")),
                (Some((g, _, Order::Lanes(_))), _) if waits => self.next_lane(g, v, restore),
                _ => {}
            }
        }
        for i in 0..program.groups.len() {
            let group = &program.groups[i];
            let waits = group.vars.iter().any(|v| self.unit.facts.ever_waits(*v));
            if restore && waits && matches!(group.order, Order::Prefix(_)) {
                self.next_of_scan(GroupId::new(i));
            }
        }
    }

    /// A lane whose update waits: it is done early if the loop pauses in an inner loop.
    fn next_lane(&mut self, g: GroupId, v: Var, restore: bool) {
        let lane = self.unit.lane(g, v);
        let next = self.unit.names.part(v, Part::Next).to_string();
        if restore {
            self.line(format!("{next} = {lane};"));
            return;
        }
        for k in self.below(g) {
            self.line(format!("if (position == {k}) {lane} = {next};"));
        }
    }

    /// The next value of a scan is found again from the group's prefix and last local value.
    fn next_of_scan(&mut self, g: GroupId) {
        let group = &self.unit.program.groups[g.index()];
        let names = self.unit.names;
        let part = |p: Part| -> Vec<String> {
            group.vars.iter().map(|v| names.part(*v, p).to_string()).collect()
        };
        let prefixes: Vec<String> = group.vars.iter().map(|v| names.var(*v).to_string()).collect();
        let types: Vec<Ty> =
            group.vars.iter().map(|v| facts::elem(self.unit.program, *v)).collect();
        self.unit.combine(group.combine, &part(Part::Next), &prefixes, &part(Part::Last), &types);
    }

    fn word(&mut self, ty: Ty, place: &str, word: &str, restore: bool) {
        let text = if restore {
            format!("{place} = {};", self.unit.helpers.from_word(ty, word))
        } else {
            format!("{word} = {};", self.unit.helpers.to_word(ty, place))
        };
        self.line(text);
    }

    fn block(&mut self, i: usize) {
        let facts = self.unit.facts;
        let Placed { labels, block, place } = &facts.blocks[i];
        self.unit.place = *place;
        self.unit.comb = None;
        let others: Vec<String> =
            labels.iter().skip(1).map(|l| label_name(self.unit.program, *l)).collect();
        let synonyms = match others.is_empty() {
            true => String::new(),
            false => format!(" {}", comment(&format!("/* {} */", others.join(", ")))),
        };
        self.unit.depth -= 1;
        self.line(format!("{}:;{synonyms}", self.labels[i]));
        self.unit.depth += 1;
        if let Some(rate) = self.guarded(*place) {
            self.stop(rate);
            if let Some(plan) = self.plans.iter().find(|p| p.rate == rate) {
                let guard = self.labels[i].clone();
                plan.call(self.unit, self.symbol, &guard);
            }
        }
        if *place == Place::Return {
            self.returning(i);
            return;
        }
        self.join_for_readers(i);
        self.unit.stmts(&block.stmts);
        for exit in &block.exits {
            let unless = self.unit.atom(exit.unless);
            if let Some(target) = exit.target {
                self.unit.open(format!("if (!{unless}) {{"));
                self.go(*place, target);
                self.unit.close();
            }
        }
        if let Some(rate) = self.guarded(*place) {
            self.admit(rate);
        }
        match &block.end {
            End::Goto(l) => self.go(*place, *l),
            End::Branch(c, yes, no) => {
                let cond = self.unit.atom(*c);
                self.unit.open(format!("if ({cond}) {{"));
                self.go(*place, *yes);
                self.unit.close();
                self.go(*place, *no);
            }
            End::Open | End::Return(_) => self.line("goto out;"),
        }
        self.line("");
    }

    /// The loop rate whose guard this place is.
    fn guarded(&self, place: Place) -> Option<RateId> {
        match place {
            Place::At { rate, section: Section::Guard, .. }
                if !self.unit.program.rate(rate).kind.is_sub() =>
            {
                Some(rate)
            }
            _ => None,
        }
    }

    /// The stop at a loop rate's guard.
    fn stop(&mut self, rate: RateId) {
        let position = self.layout.resume.iter().position(|r| *r == rate).unwrap_or(0) + 1;
        self.line(format!(
            "if (steps >= event || trapped) {{ position = {position}; goto event; }}"
        ));
    }

    /// An iteration begins.
    fn admit(&mut self, rate: RateId) {
        self.line("steps += 1;");
        for v in self.unit.facts.pending.get(&rate).cloned().unwrap_or_default() {
            if let Some((g, _, Order::Lanes(_))) = self.unit.facts.local_group(self.unit.program, v) {
                let (next, lane) = (self.unit.names.part(v, Part::Next), self.unit.lane(g, v));
                self.line(format!("{next} = {lane};"));
            }
        }
    }

    /// Whether this way leaves a root other than by its guard.
    fn is_early(&self, from: Place, to: Place) -> bool {
        let program = self.unit.program;
        let root = match to {
            Place::Return => program.roots.last().copied(),
            Place::At { rate, section: Section::Done, .. } => {
                program.rate(rate).kind.parent().is_none().then_some(rate)
            }
            _ => None,
        };
        let Place::At { rate, section, .. } = from else { return false };
        root.is_some_and(|r| (rate, section) != (r, Section::Guard))
    }

    /// A jump, with the updates that take effect on the way.
    fn go(&mut self, from: Place, to: Label) {
        let program = self.unit.program;
        let target = self.unit.facts.tree.place(program, to);
        let committed = self.unit.facts.committed(program, from, target);
        let left = committed.iter().any(|q| self.guarded(target) != Some(*q));
        if left && self.joins_above {
            // A full chunk may have groups to join at the outer guard as well.
            self.line(format!("if (steps % {CHUNK} == 0) event = steps;"));
        }
        for q in committed {
            for v in self.unit.facts.pending.get(&q).cloned().unwrap_or_default() {
                let next = self.unit.names.part(v, Part::Next).to_string();
                let current = self.unit.current(v);
                self.line(format!("{current} = {next};"));
            }
        }
        if self.is_early(from, target) {
            self.line("outcome = LF_EXITED;");
        }
        match self.unit.facts.at.get(&target) {
            Some(i) => self.line(format!("goto {};", self.labels[*i])),
            None => self.line("goto out;"),
        }
    }

    /// Lane groups that the block reads after their loop are joined for it, and stay as they are.
    fn join_for_readers(&mut self, i: usize) {
        let block = self.unit.facts.blocks[i].block;
        let mut groups: Vec<GroupId> = Vec::new();
        let mut seen = FxHashSet::default();
        let program = self.unit.program;
        let facts = self.unit.facts;
        let mut reads = |v: Var| {
            if let Some((g, _, Order::Lanes(_))) = facts.local_group(program, v)
                && seen.insert(g)
            {
                groups.push(g);
            }
        };
        facts::each_stmt(&block.stmts, &mut |s| facts::each_use(s, &mut reads));
        facts::each_leaving_use(block, &mut reads);
        for g in groups {
            if !self.unit.inside(g) {
                self.join_lanes(g);
            }
        }
    }

    /// Sets a lane group's joined values.
    fn join_lanes(&mut self, g: GroupId) {
        let group = &self.unit.program.groups[g.index()];
        let Some(first) = group.vars.first() else { return };
        let names = self.unit.names;
        let mut arguments = vec!["&lf_flag".to_string()];
        for v in &group.vars {
            let (joined, name) = (names.part(*v, Part::Joined), names.var(*v));
            self.line(format!("{joined} = {name};"));
            arguments.push(format!("&{joined}"));
        }
        arguments.extend(group.vars.iter().map(|v| names.part(*v, Part::Lanes).to_string()));
        // A flag of its own: the address of `trapped` would keep it in memory everywhere.
        let call = format!("{}({})", names.part(*first, Part::Join), arguments.join(", "));
        self.line(format!("{{ u64 lf_flag = 0; {call}; trapped |= lf_flag; }}"));
    }

    /// What happens at a stop: a trap ends the pass, a full chunk is joined, a spent budget pauses.
    fn event(&mut self) {
        self.unit.depth -= 1;
        self.line("event:");
        self.unit.depth += 1;
        self.line("if (trapped) { outcome = LF_TRAPPED; goto out; }");
        let program = self.unit.program;
        if program.groups.iter().any(|g| is_local(g.order)) {
            self.unit.open(format!("if (steps != 0 && steps % {CHUNK} == 0) {{"));
            for (i, group) in program.groups.iter().enumerate() {
                if is_local(group.order) {
                    self.join_at_position(GroupId::new(i));
                }
            }
            self.unit.close();
        }
        self.line("if (steps == limit) { outcome = LF_PAUSED; goto out; }");
        self.line(format!(
            "event = lf_least(limit, (steps / {CHUNK} + 1) * {CHUNK});"
        ));
        self.line("");
    }

    /// Joins a group at the end of a chunk, unless an iteration that would update it is under way.
    fn join_at_position(&mut self, g: GroupId) {
        let below: Vec<String> =
            self.below(g).iter().map(|k| format!("position != {k}")).collect();
        if !below.is_empty() {
            self.unit.open(format!("if ({}) {{", below.join(" && ")));
        }
        self.join_chunk(g, self.unit.program.groups[g.index()].order);
        if !below.is_empty() {
            self.unit.close();
        }
    }

    fn any_joins_above(&self) -> bool {
        let groups = self.unit.program.groups.iter().enumerate();
        let mut local = groups.filter(|(_, g)| is_local(g.order));
        local.any(|(i, _)| !self.below(GroupId::new(i)).is_empty())
    }

    /// Positions of the loop rates strictly below that of a group's step.
    fn below(&self, g: GroupId) -> Vec<usize> {
        let program = self.unit.program;
        let rate = self.unit.facts.lane_rate(program, g);
        let is_below = |r: &RateId| *r != rate && program.is_within(*r, rate);
        let resume = self.layout.resume.iter().enumerate();
        resume.filter(|(_, r)| is_below(r)).map(|(k, _)| k + 1).collect()
    }

    /// Joins what a chunk added to a group onto its prefix.
    fn join_chunk(&mut self, g: GroupId, order: Order) {
        let group = &self.unit.program.groups[g.index()];
        let names = self.unit.names;
        let var = |v: &Var| names.var(*v).to_string();
        match order {
            Order::Lanes(_) => {
                self.join_lanes(g);
                for v in &group.vars {
                    self.line(format!("{} = {};", var(v), names.part(*v, Part::Joined)));
                }
            }
            Order::Prefix(_) => {
                let types: Vec<Ty> =
                    group.vars.iter().map(|v| facts::elem(self.unit.program, *v)).collect();
                let prefixes: Vec<String> = group.vars.iter().map(var).collect();
                let lasts: Vec<String> =
                    group.vars.iter().map(|v| names.part(*v, Part::Last).to_string()).collect();
                self.unit.combine(group.combine, &prefixes, &prefixes, &lasts, &types);
            }
            Order::Exact | Order::Sequential => return,
        }
        for i in 0..group.vars.len() {
            self.unit.reset(g, i);
        }
    }

    fn resume(&mut self) {
        self.unit.depth -= 1;
        self.line("resume:");
        self.unit.depth += 1;
        self.unit.open("switch (position) {");
        for (k, rate) in self.layout.resume.iter().enumerate() {
            let guard = Place::At { rate: *rate, stage: 0, section: Section::Guard };
            if let Some(i) = self.unit.facts.at.get(&guard) {
                self.line(format!("case {}: goto {};", k + 1, self.labels[*i]));
            }
        }
        if let Some(i) = self.unit.facts.at.get(&Place::Init) {
            self.line(format!("default: goto {};", self.labels[*i]));
        }
        self.unit.close();
        self.line("");
    }

    /// The returning block.
    fn returning(&mut self, i: usize) {
        let block = self.unit.facts.blocks[i].block;
        self.line("if (trapped) goto event;");
        self.line("position = LF_END;");
        if !self.summary {
            self.join_for_readers(i);
            self.unit.stmts(&block.stmts);
            self.line("if (trapped) goto event;");
            if let End::Return(results) = &block.end {
                for (k, a) in results.iter().enumerate() {
                    self.result(k, *a);
                }
            }
        }
        self.line("goto out;");
        self.line("");
    }

    fn result(&mut self, k: usize, a: Atom) {
        if let Atom::Var(v) = a
            && let Type::Array(_) = self.unit.program.ty(v)
        {
            let length = self.unit.length(v);
            self.line(format!("run->results[{k}] = {length};"));
            return;
        }
        let (ty, value) = (self.unit.program.atom_ty(a), self.unit.atom(a));
        let word = self.unit.helpers.to_word(ty, &value);
        self.line(format!("run->results[{k}] = {word};"));
    }

    /// Saves the frame and leaves.
    fn leave(&mut self) {
        self.unit.depth -= 1;
        self.line("no_memory: __attribute__((unused));");
        self.unit.depth += 1;
        self.line("outcome = trapped ? LF_TRAPPED : LF_NO_MEMORY;");
        self.unit.depth -= 1;
        self.line("out:");
        self.unit.depth += 1;
        self.line("run->words[0] = position;");
        self.line("run->words[1] = steps;");
        self.next_values(false);
        self.frame(false);
        for slot in 0..self.unit.made.len() {
            let length = self.unit.length(self.unit.made[slot]);
            self.line(format!("run->made[{slot}].length = {length};"));
        }
        self.line("return outcome;");
    }
}
