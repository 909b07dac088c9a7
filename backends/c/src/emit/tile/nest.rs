//! Segments: the steps of inner rates in a turn over the range, and how a turn is rolled back that they do not fit
//! into.

use super::Writer;
use livefusion_tile::ir::{
    CapacityCheck, Operand, Stmt, StmtKind, Value, changed, dry_run, each_stmt,
};
use loop_lang::ir::Var;
use loop_lang::op::Op;
use rustc_hash::FxHashSet;

/// How many bytes ahead of a segment memory is asked for: some hundred nanoseconds at the speed of memory. Rows of ten
/// numbers take 0.93 ns a number without that, 0.21 with it, 0.27 with half of it, 0.19 with twice of it (10^7 numbers,
/// Zen 5).
const AHEAD: u64 = 4096;

/// How a segment is left.
pub(super) enum Out {
    /// To a label behind it: the steps that are left are given back.
    Behind(String),
    /// To a label where its steps are taken one by one.
    ScalarEpilogue(String),
}

impl Writer<'_, '_, '_> {
    /// A turn over the range begins, if there are steps for it and one more; what it changes is kept. Where segments
    /// ask that in any case, they ask for the turn's own step, too: there is one.
    pub(super) fn begin_turn(&mut self, counter: Value, step: u64) {
        self.segments_ask = step == 1 && self.tile.each_turn_asks();
        if !self.segments_ask {
            let counter = self.name(counter);
            self.unit.open(format!("if (rest <= {step}) {{"));
            self.unit.line(format!("*lf_left = {counter};"));
            self.unit.line("goto left;");
            self.unit.close();
        }
        self.unit.line(format!("u64 after = rest - {step};"));
        for (v, data) in self.tile.each_value() {
            if data.origin.is_state() {
                let (ty, name) = (data.shape.ty.name(), self.name(v));
                let line = format!("const {ty} lf_old_{name} = {name};");
                self.unit.line(line);
            }
        }
    }

    /// What segments ask of the lengths of arrays, before all turns: compilers compute it in each of them.
    pub(super) fn lengths_of_arrays(&mut self) {
        let mut all = Vec::new();
        self.tile.each_stmt(&mut |s| {
            if let StmtKind::Segment {
                from,
                single_trip,
                step,
                capacities,
                ..
            } = &s.kind
            {
                let capacities = self.tile.capacities_by_place(*from, capacities).into_iter();
                all.extend(capacities.map(|capacity| {
                    let at_end = (*single_trip && capacity.whole).then_some(*step);
                    (self.lengths(&capacity), at_end)
                }));
            }
        });
        let mut known = FxHashSet::default();
        for (lengths, at_end) in all {
            if let [first, others @ ..] = &lengths[..]
                && !others.is_empty()
                && !self.least.contains_key(&lengths)
            {
                let name = format!("lf_least_{}", self.least.len());
                self.unit.line(format!("u64 {name} = {first};"));
                // One by one: compilers take no more than some hundred brackets in each other.
                for length in others {
                    self.unit
                        .line(format!("{name} = lf_least({name}, {length});"));
                }
                self.least.insert(lengths.clone(), name);
            }
            let least = self.least(&lengths);
            if let Some(step) = at_end.filter(|step| known.insert((least.clone(), *step))) {
                let name = ends(&least, step);
                self.unit
                    .line(format!("const u64 {name} = lf_ends({least}, {step});"));
            }
        }
    }

    /// The lengths of a capacity's arrays, each once.
    fn lengths(&self, capacity: &CapacityCheck) -> Vec<String> {
        let mut all: Vec<String> = capacity
            .arrays
            .iter()
            .map(|a| self.unit.length(*a))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The least of some lengths; of several it was computed before all turns.
    fn least(&self, lengths: &[String]) -> String {
        let known = self.least.get(lengths).or(lengths.first());
        known.cloned().unwrap_or_default()
    }

    /// The length of the shortest array of a capacity, and the capacity's place.
    fn shortest(&mut self, capacity: &CapacityCheck) -> (String, String) {
        (
            self.least(&self.lengths(capacity)),
            self.operand(capacity.at),
        )
    }

    /// It ends: its steps are taken.
    pub(super) fn end_turn(&mut self) {
        self.unit.line("rest = after;");
    }

    /// Goes through statements without what they change, and then, if the turn was not rolled back, does them.
    pub(super) fn dry_run(&mut self, body: &[Stmt]) {
        // The verifier has seen to it that there is one.
        let dry_run = dry_run(self.tile, body).unwrap_or_default();
        let mut set = changed(&dry_run);
        set.sort_unstable();
        set.dedup();
        self.unit.open("{");
        for v in &set {
            let (ty, name) = (self.shape(*v).ty.name(), self.name(*v));
            self.unit
                .line(format!("const {ty} lf_was_{name} = {name};"));
        }
        self.stmts(&dry_run);
        for v in &set {
            let name = self.name(*v);
            self.unit.line(format!("{name} = lf_was_{name};"));
        }
        self.unit.close();
        self.dry_run_passed = true;
        self.stmts(body);
        self.dry_run_passed = false;
    }

    pub(super) fn segment(&mut self, kind: &StmtKind) {
        let StmtKind::Segment {
            counter,
            from,
            to,
            step,
            aligned,
            single_trip,
            again,
            capacities,
            body,
            epilogue,
            scalar_epilogue,
            ..
        } = kind
        else {
            return;
        };
        let fits = *again || self.dry_run_passed;
        let begins = *from;
        let (from, to) = (self.operand(*from), self.operand(*to));
        self.unit.open(match single_trip {
            true => "{".to_string(),
            false => format!("if ({from} < {to}) {{"),
        });
        let line = format!("const u64 first = {from}, size = {to} - first;");
        self.unit.line(line);
        if !fits {
            self.enter_segment((*step, *single_trip), begins, capacities);
            if self.segment.is_none() && self.is_carried(begins) {
                self.fetch_ahead(begins, capacities);
                self.fetch_from_ends(*counter, body);
            }
        }
        // In a dry run it does no more than to fit.
        if [body, epilogue, scalar_epilogue]
            .iter()
            .any(|body| !body.is_empty())
        {
            self.has_spare_capacity((*step, *aligned), begins, capacities);
            self.turns_of_segment(kind);
        }
        // One without steps asks for the turn's own.
        if self.segments_ask && self.segment.is_none() && !(fits || *single_trip) {
            self.unit.depth -= 1;
            self.unit.open("} else if (after == 0) {");
            self.roll_back();
        }
        self.unit.close();
    }

    /// The turns of a segment, from its first counter on.
    fn turns_of_segment(&mut self, kind: &StmtKind) {
        let StmtKind::Segment {
            counter,
            step,
            aligned,
            single_trip,
            body,
            epilogue,
            scalar_epilogue,
            ..
        } = kind
        else {
            return;
        };
        let name = self.name(*counter);
        let out = format!("out_{name}");
        let to_scalar = format!("rest_{name}");
        let how = match *step {
            1 => Out::Behind(out.clone()),
            _ => Out::ScalarEpilogue(to_scalar.clone()),
        };
        let around = self.segment.replace(how);
        let around_picks = std::mem::replace(&mut self.picks, picks(body));
        // What is left has its counter in the scalar epilogue, too.
        let own = if scalar_epilogue.is_empty() {
            "u64 "
        } else {
            ""
        };
        if !scalar_epilogue.is_empty() {
            self.unit.line(format!("u64 {name};"));
        }
        if *step == 1 {
            self.unit.open(format!(
                "for (u64 {name} = first; {name} < first + size; {name}++) {{"
            ));
            if self.sorts {
                // Compilers would take lanes together, which costs few elements more than it wins, and many take long
                // to sort.
                self.unit.line("__asm__ volatile(\"\");");
            }
            self.stmts(body);
            self.unit.close();
        } else if *aligned {
            let begin = format!("first & ~{}ul", step - 1);
            self.unit.open(format!(
                "for ({own}{name} = {begin}; {name} < first + size; {name} += {step}) {{"
            ));
            if body.is_empty() {
                self.stmts(epilogue);
            } else {
                self.unit.open(format!(
                    "if ({name} >= first && first + size - {name} > {step}) {{"
                ));
                self.stmts(body);
                self.unit.depth -= 1;
                self.unit.open("} else {");
                self.stmts(epilogue);
                self.unit.close();
            }
            self.unit.close();
        } else if *single_trip {
            self.unit.line(format!("const u64 {name} = first;"));
            self.stmts(epilogue);
        } else {
            let last = format!("const u64 last = first + ((size - 1) & ~{}ul);", step - 1);
            self.unit.line(last);
            if !body.is_empty() {
                self.unit.open(format!(
                    "for ({own}{name} = first; {name} < last; {name} += {step}) {{"
                ));
                self.stmts(body);
                self.unit.close();
            }
            self.unit.open("{");
            let own = if own.is_empty() { "" } else { "const u64 " };
            self.unit.line(format!("{own}{name} = last;"));
            self.stmts(epilogue);
            self.unit.close();
        }
        let mut leaves = *step == 1 && any_leaves(body);
        if !scalar_epilogue.is_empty() {
            leaves = true;
            self.unit.line(format!("goto {out};"));
            self.unit.line(format!("{to_scalar}:;"));
            self.segment = Some(Out::Behind(out.clone()));
            self.unit.open(format!(
                "for ({name} = {name} < first ? first : {name}; {name} < first + size; {name}++) {{"
            ));
            self.stmts(scalar_epilogue);
            self.unit.close();
        }
        if leaves {
            self.unit.line(format!("{out}:;"));
        }
        self.segment = around;
        self.picks = around_picks;
    }

    /// Its steps are taken, if there are so many left, and there is capacity for them in memory; else the turn is
    /// rolled back.
    fn enter_segment(
        &mut self,
        (step, single_trip): (u64, bool),
        from: Operand,
        capacities: &[(Var, Operand)],
    ) {
        let mut misfits = vec!["size >= after".to_string()];
        let whole = match step {
            1 => "size".to_string(),
            _ => format!("((size + {0}) & ~{0}ul)", step - 1),
        };
        for capacity in self.tile.capacities_by_place(from, capacities) {
            let (least, at) = self.shortest(&capacity);
            let steps = match capacity.whole {
                true if single_trip => {
                    misfits.push(format!("{at} >= {}", ends(&least, step)));
                    continue;
                }
                true => &whole,
                false => "size",
            };
            misfits.push(format!("lf_capacity({least}, {at}) < {steps}"));
        }
        self.unit.open(format!("if ({}) {{", misfits.join(" || ")));
        self.roll_back();
        self.unit.close();
        self.unit.line("after -= size;");
    }

    /// Whether arrays have something wherever turns of a segment look, where a load under a mask takes long: it is
    /// seldom so near an end that they have not.
    fn has_spare_capacity(
        &mut self,
        (step, aligned): (u64, bool),
        from: Operand,
        capacities: &[(Var, Operand)],
    ) {
        if step == 1 || self.masks.registers {
            return;
        }
        let mut spare = vec!["1".to_string()];
        for capacity in self.tile.capacities_by_place(from, capacities) {
            let (least, at) = self.shortest(&capacity);
            spare.push(format!("lf_capacity({least}, {at}) >= size + {step}"));
            if aligned {
                spare.push(format!("{at} >= {step}"));
            }
        }
        let spare = spare.join(" && ");
        let line = format!("const bool spare = {spare}; (void)spare;");
        self.unit.line(line);
    }

    /// Whether a segment that begins there goes on where the last one ended.
    fn is_carried(&self, begins: Operand) -> bool {
        let is_state = |v: Value| self.tile.value(v).origin.is_state();
        let mut is = begins.value().is_some_and(is_state);
        self.tile.each_stmt(&mut |s| {
            if let StmtKind::Let { to, op, args } = &s.kind
                && begins == (*to).into()
                && *op == Op::Copy
            {
                is |= args[0].value().is_some_and(is_state);
            }
        });
        is
    }

    /// What segments further on will read is brought nearer: where they are short, processors do not see that one goes
    /// on where the last one ended.
    fn fetch_ahead(&mut self, begins: Operand, capacities: &[(Var, Operand)]) {
        let given = |a: Var| self.unit.program.params.iter().any(|p| p.var == a);
        let goes_on = |a: Var| given(a) && capacities.contains(&(a, begins));
        let ahead: Vec<_> = capacities
            .iter()
            .filter(|capacity| goes_on(capacity.0))
            .collect();
        for (array, at) in ahead {
            self.unit.helpers.require("lf_ahead", || {
                format!(
                    "static inline void lf_ahead(u64 at) {{\n  __builtin_prefetch((const void *)(at + {AHEAD}));\n  \
                     __builtin_prefetch((const void *)(at + {AHEAD} + 64));\n}}\n"
                )
            });
            let size = crate::facts::elem(self.unit.program, *array).size();
            let (data, at) = (self.unit.array(*array), self.operand(*at));
            let line = format!("lf_ahead((u64){data} + {at} * {size}ul);");
            self.unit.line(line);
        }
    }

    /// Arrays that segments read from their ends are brought nearer: processors see no direction in lines that go
    /// down within segments and up from one to the next.
    fn fetch_from_ends(&mut self, counter: Value, body: &[Stmt]) {
        let mut falls: FxHashSet<Value> = FxHashSet::default();
        let mut arrays: Vec<Var> = Vec::new();
        for s in body {
            match &s.kind {
                StmtKind::Let { to, op, args } => {
                    let falling = |a: &Operand| a.value().is_some_and(|v| falls.contains(&v));
                    let is_falling = match op {
                        Op::Sub => args[1] == counter.into(),
                        Op::Add => args.iter().any(falling),
                        _ => false,
                    };
                    falls.extend(is_falling.then_some(*to));
                }
                StmtKind::Gather { array, at, .. } => {
                    let given = self.unit.program.params.iter().any(|p| p.var == *array);
                    let falling = at.value().is_some_and(|v| falls.contains(&v));
                    arrays.extend((given && falling && !arrays.contains(array)).then_some(*array));
                }
                _ => {}
            }
        }
        for array in arrays {
            self.unit.helpers.require("lf_ahead_of_all", || {
                format!(
                    "static inline void lf_ahead_of_all(u64 at, u64 size) {{\n  \
                     for (u64 k = 0; k < size && k < {AHEAD}; k += 64)\n    \
                     __builtin_prefetch((const void *)(at + {AHEAD} + k));\n}}\n"
                )
            });
            let size = crate::facts::elem(self.unit.program, array).size();
            let data = self.unit.array(array);
            let line = format!("lf_ahead_of_all((u64){data} + first * {size}ul, size * {size}ul);");
            self.unit.line(line);
        }
    }

    /// What is carried is as it was, and the range ends where the turn began.
    fn roll_back(&mut self) {
        for (v, data) in self.tile.each_value() {
            if data.origin.is_state() {
                let name = self.name(v);
                self.unit.line(format!("{name} = lf_old_{name};"));
            }
        }
        let mut counter = None;
        self.tile.each_stmt(&mut |s| {
            counter = counter.or(s.kind.target().filter(|_| self.tile.is_range(&s.kind)));
        });
        if let Some(counter) = counter {
            let counter = self.name(counter);
            self.unit.line(format!("*lf_left = {counter};"));
        }
        self.unit.line("goto left;");
    }
}

/// Where there begins to be too little capacity in an array for a turn.
fn ends(length: &str, step: u64) -> String {
    format!("lf_ends_{step}_{length}")
}

/// Whether statements take one of two values by a mask.
fn picks(stmts: &[Stmt]) -> bool {
    let mut picks = false;
    each_stmt(stmts, &mut |s| {
        picks |= matches!(s.kind, StmtKind::Let { op: Op::Select, .. });
    });
    picks
}

/// Whether statements leave the segment that they are in.
fn any_leaves(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|s| {
        let mut bodies = s.kind.bodies().into_iter();
        matches!(s.kind, StmtKind::Leave { .. }) || bodies.any(any_leaves)
    })
}
