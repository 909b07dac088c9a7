//! Segments whose elements are shared among threads: see [`livefusion_tile::threads::path`].
//!
//! The text has a function for each kind of step.
//!
//! ```text
//! struct Row { .. };              what elements read of the head of their row
//! row(..)                         computes it
//! begin(..)                       groups of the elements begin anew
//! enters(..)                      whether a row begins, where the loop may be left
//! element(..), end(..)            an element; the end of a row, with what the head does
//! length(..) or places(..)        how many elements a row has, or where rows lie
//! ```
//!
//! If row lengths differ, a separate kernel first runs the heads of the rows. It stores the number
//! of elements up to each row: eight bytes per row, read once by each part of a row. One kernel
//! cannot do both, since a tile needs the number of rows before it, which depends on all their
//! lengths.

use super::Emit;
use livefusion_tile::threads::path::Path;
use livefusion_tile::threads::plan::Work;
use livefusion_tile::threads::shape::at;
use loop_lang::ir::{GroupId, Part, Place, RateId, Section, Stmt, StmtKind, Var};
use loop_lang::walk;

impl Emit<'_> {
    /// Returns the path, if threads share elements.
    fn path(&self) -> Option<Path> {
        match &self.shape.work {
            Work::Path(path) => Some(path.clone()),
            _ => None,
        }
    }

    /// Returns the groups of a level that restart in each row.
    pub(super) fn restarting(&self, level: &[GroupId]) -> Vec<GroupId> {
        let Work::Path(path) = &self.shape.work else {
            return Vec::new();
        };
        let owner = |g: &&GroupId| self.shape.group(**g).owner == path.rate;
        level.iter().filter(owner).copied().collect()
    }

    /// Writes the join of a part that ends in another row: only that row counts.
    pub(super) fn restart(&mut self, vars: &[Var]) {
        self.line("ab.lf_begun = a.lf_begun || b.lf_begun;");
        self.open("if (b.lf_begun) {");
        for v in vars {
            let name = self.names.var(*v);
            let line = format!("ab.{name} = b.{name};");
            self.line(&line);
        }
        self.close();
    }

    /// Returns whether elements are counted in a level of their own, after the levels that
    /// determine row lengths.
    pub(super) fn counts_rows(&self) -> bool {
        matches!(&self.shape.work, Work::Places(path) if !path.running)
    }

    /// Writes that level.
    pub(super) fn count(&mut self) {
        let k = self.shape.levels.len();
        let before: usize = (0..k).map(|k| self.words(k)).sum();
        self.open(&format!(
            "template <class Unused> struct Level<{k}, Unused> : lf_as_it_is<Part{k}> {{"
        ));
        self.line(&format!("typedef Part{k} Part;"));
        self.line(&format!(
            "static LF_DEVICE Part &of(State &state) {{ return state.level{k}; }}"
        ));
        self.line(&format!(
            "static LF_DEVICE void give(u64 *to, const Part &x) {{ to[{before}] = x.lf_count; }}"
        ));
        self.line("static LF_DEVICE Part start(const Params &p) { return Part{0}; }");
        self.line("static LF_DEVICE Part identity(const Params &p) { return Part{0}; }");
        self.line("static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) { return Part{a.lf_count + b.lf_count}; }");
        self.depth -= 1;
        self.line("};");
    }

    /// Returns the number of levels.
    pub(super) fn level_count(&self) -> usize {
        self.levels.len() + usize::from(self.counts_rows())
    }

    /// Returns the number of words of a level's parts.
    pub(super) fn words(&self, k: usize) -> usize {
        match self.levels.get(k) {
            Some(level) => {
                let begun = usize::from(!self.restarting(level).is_empty());
                self.shape.vars(level).len() + begun
            }
            None => 1,
        }
    }

    /// Returns whether a statement is to be written, if only some are.
    pub(super) fn is_wanted(&self, s: &Stmt) -> bool {
        if self.is_seen_to(s) {
            return false;
        }
        let Some(only) = &self.only else { return true };
        let is_place = matches!(self.shape.work, Work::Places(_));
        match &s.kind {
            StmtKind::Assign(v, _) => is_place && self.shape.level_of(*v).is_some(),
            StmtKind::Trap { unless, .. } => {
                let known = |v| self.shape.nests.known_from.contains_key(&v);
                is_place && unless.var().is_none_or(known)
            }
            StmtKind::Carry(..) => true,
            kind => {
                let mut wanted = false;
                walk::definitions(kind, &mut |v| wanted |= only.contains(&v));
                wanted
            }
        }
    }

    /// Returns whether the row search already checked a trap.
    ///
    /// Writing the trap again would repeat its reads. An unconditional trap occurs at the first
    /// element, which the row search does not run.
    fn is_seen_to(&self, s: &Stmt) -> bool {
        let (StmtKind::Trap { unless, .. }, Some(places)) = (&s.kind, &self.shape.nests.places)
        else {
            return false;
        };
        let known = &places.nests.known_from;
        unless.var().is_some_and(|v| known.contains_key(&v))
    }

    /// Returns whether a subrate has nothing to write, if only some statements are.
    pub(super) fn is_idle(&self, rate: RateId) -> bool {
        let program = self.shape.program;
        let within = |g: &GroupId| program.is_within(self.shape.group(*g).step, rate);
        self.only.is_some() && !self.shape.levels.iter().flatten().any(within)
    }

    /// Writes the functions of a path.
    pub(super) fn segments(&mut self) {
        let Some(path) = self.path() else { return };
        self.line(&format!(
            "static const u32 ENDS = {};",
            u32::from(path.ends)
        ));
        let (acts, light) = (self.has_effects(&path), self.is_light(path.rate));
        self.line(&format!(
            "static const bool EFFECTS = {acts}, LIGHT = {light};"
        ));
        self.row_struct(&path);
        self.head(&path);
        self.begin();
        if self.shape.exits.any {
            self.enters();
        }
        self.element(&path);
        if path.ends {
            self.end(&path);
        }
        self.lengths(&path);
    }

    /// Returns whether elements do anything but fold.
    fn has_effects(&self, path: &Path) -> bool {
        let within = |place: Place| matches!(place, Place::At { rate, .. } if self.shape.program.is_within(rate, path.rate));
        let blocks = self.shape.steps().filter(|b| within(b.place));
        let mut acts = false;
        for stmt in blocks.flat_map(|b| &b.block.stmts) {
            walk::each(stmt, &mut |s| {
                acts |= matches!(
                    s.kind,
                    StmtKind::WriteArray(..)
                        | StmtKind::ScatterArray { .. }
                        | StmtKind::Trap { .. }
                );
            });
        }
        acts
    }

    fn row_struct(&mut self, path: &Path) {
        self.open("struct Row {");
        self.line("u64 lf_begin;");
        for v in self.kept(path) {
            let line = format!("{} {};", self.ty(v), self.names.var(v));
            self.line(&line);
        }
        self.depth -= 1;
        self.line("};");
    }

    /// Returns the kept values of a row: head values read by elements, and starts of groups.
    fn kept(&self, path: &Path) -> Vec<Var> {
        let is_given = |v: &Var| self.shape.given.contains(v);
        let carried = |v: &Var| self.shape.facts.group.contains_key(v);
        let read = path
            .read
            .iter()
            .filter(|v| !is_given(v) && !carried(v) && **v != self.shape.counter);
        let levels = self.shape.levels.iter();
        let begun = levels.flat_map(|l| self.shape.vars(&self.restarting(l)));
        read.copied().chain(begun).collect()
    }

    fn head(&mut self, path: &Path) {
        let counter = self.names.var(self.shape.counter).to_string();
        let first = self.names.var(path.counter).to_string();
        self.open(&format!(
            "static LF_DEVICE Row row(const Params &p, const u64 {counter}, const u64 lf_before, const State &old) {{"
        ));
        if path.running {
            self.line(&format!("const u64 {first} = p.start_{first} + lf_before;"));
        }
        self.only = Some(path.head.clone());
        self.open.push(self.shape.root);
        self.until(self.shape.root, path.rate);
        self.open.pop();
        self.only = None;
        self.line("Row row;");
        self.line(&format!("row.lf_begin = {first};"));
        for v in self.kept(path) {
            let name = self.names.var(v);
            let line = format!("row.{name} = {name};");
            self.line(&line);
        }
        self.line("return row;");
        self.close();
    }

    /// Writes the blocks of an iteration up to the elements of a row.
    fn until(&mut self, root: RateId, rate: RateId) {
        self.block(root, 0, Section::Guard);
        for part in self.shape.parts(root) {
            match *part {
                Part::Stage(stage) => {
                    self.block(root, stage, Section::Body);
                    self.block(root, stage, Section::Yield);
                }
                Part::Child(child) if child == rate => break,
                // Values computed in a subrate stay in it.
                Part::Child(_) => {}
            }
        }
        self.block(rate, 0, Section::Nest);
    }

    fn begin(&mut self) {
        self.open("static LF_DEVICE void begin(const Row &row, State &state) {");
        for (k, level) in self.shape.levels.iter().enumerate() {
            let groups = self.restarting(level);
            if groups.is_empty() {
                continue;
            }
            for v in self.shape.vars(&groups) {
                let name = self.names.var(v);
                let line = format!("state.level{k}.{name} = row.{name};");
                self.line(&line);
            }
            self.line(&format!("state.level{k}.lf_begun = true;"));
        }
        self.close();
    }

    /// Writes whether a row begins, or the loop exits before it.
    fn enters(&mut self) {
        let counter = self.names.var(self.shape.counter).to_string();
        self.open(&format!(
            "static LF_DEVICE bool enters(const Params &p, const u64 {counter}, const State &state) {{"
        ));
        self.line("const State &old = state;");
        let entry = at(self.shape.root, 0, Section::Guard);
        self.open.push(self.shape.root);
        self.stmts(self.shape.statements(entry));
        let ways = self.shape.ways_out(entry).into_iter();
        let stays: Vec<String> = ways.map(|(a, ..)| self.value(a)).collect();
        self.line(&format!("return {};", stays.join(" && ")));
        self.open.pop();
        self.close();
    }

    fn element(&mut self, path: &Path) {
        let (outer, inner) = (self.shape.counter, path.counter);
        let (outer, inner) = (
            self.names.var(outer).to_string(),
            self.names.var(inner).to_string(),
        );
        let [template, result] = self.step_kind();
        self.line(template);
        self.open(&format!(
            "static LF_DEVICE {result} element(const Params &p, const lf_launch &launch, const u64 {outer}, const Row &row, const u64 {inner}, const Near &near, const u32 lf_k, State &state) {{"
        ));
        let levels = self.shape.levels.len() as u32;
        match *self
            .shape
            .nests
            .runs_from
            .get(&path.rate)
            .unwrap_or(&levels)
        {
            0 => {}
            from => self.line(&format!("if (LEVEL < {from}) {}", self.goes_on())),
        }
        self.starts_step();
        self.cells(path.rate);
        self.of_row = self.kept(path).into_iter().collect();
        self.open.extend([self.shape.root, path.rate]);
        self.base = 2;
        self.block(path.rate, 0, Section::Guard);
        let tests: Vec<String> = self
            .shape
            .admits(path.rate)
            .skip(1)
            .map(|a| self.value(a))
            .collect();
        if !tests.is_empty() {
            self.line(&format!(
                "if (!({})) {}",
                tests.join(" && "),
                self.goes_on()
            ));
        }
        self.parts(path.rate);
        self.block(path.rate, 0, Section::Bottom);
        self.base = 1;
        self.open.clear();
        self.of_row.clear();
        self.ends_step();
    }

    fn end(&mut self, path: &Path) {
        let counter = self.names.var(self.shape.counter).to_string();
        let [template, result] = self.step_kind();
        self.line(template);
        self.open(&format!(
            "static LF_DEVICE {result} end(const Params &p, const lf_launch &launch, const u64 {counter}, const u64 lf_before, const u64 lf_length, const Near &near, const u32 lf_k, State &state) {{"
        ));
        self.starts_step();
        let first = self.names.var(path.counter).to_string();
        if path.running {
            self.line(&format!("u64 {first} = p.start_{first} + lf_before;"));
        }
        self.open.push(self.shape.root);
        self.rate(self.shape.root);
        self.open.pop();
        self.ends_step();
    }

    /// Writes the code in place of a row's elements, which run elsewhere or not at all.
    pub(super) fn elsewhere(&mut self, rate: RateId) -> bool {
        let (Work::Path(path) | Work::Places(path)) = &self.shape.work else {
            return false;
        };
        if path.rate != rate {
            return false;
        }
        let path = path.clone();
        let counter = self.names.var(path.counter).to_string();
        self.block(rate, 0, Section::Nest);
        match self.shape.work {
            Work::Path(_) => self.line(&format!("{counter} += lf_length;")),
            _ => self.length(&path),
        }
        self.block(rate, 0, Section::Done);
        true
    }

    /// Writes the length of a row, which its counter, or a separate counter, sums up.
    fn length(&mut self, path: &Path) {
        let (bound, name) = (
            self.value(path.bound),
            self.names.var(path.counter).to_string(),
        );
        let place = self.shape.level_of(path.counter);
        let place = place.map(|(k, _)| format!("state.level{k}.{name}"));
        let from = place.as_ref().unwrap_or(&name);
        self.line(&format!(
            "const u64 lf_length = lf_max({from}, {bound}) - {from};"
        ));
        let through = match &place {
            Some(place) => {
                self.line(&format!("{place} += lf_length;"));
                format!("{place} - p.start_{name}")
            }
            None => {
                let k = self.shape.levels.len();
                self.line(&format!(
                    "if (LEVEL >= {k}) state.level{k}.lf_count += lf_length;"
                ));
                format!("state.level{k}.lf_count")
            }
        };
        // Beyond a counter overflow, rows have no valid position.
        self.open("if (EMIT) {");
        self.line(&format!("if ({through} < lf_length) *launch.trapped = 1;"));
        self.line(&format!("lf_give(near.lf_places, lf_k, {through});"));
        self.close();
    }

    /// Writes the length of rows, if known in advance.
    fn lengths(&mut self, path: &Path) {
        let length = path.length.map(|a| self.outside(a));
        self.line(&format!(
            "static const bool UNIFORM = {};",
            length.is_some()
        ));
        let (kind, value) = match length {
            Some(length) => ("u64 length", length),
            None => ("lf_array<u64> places", "p.lf_places".into()),
        };
        self.line(&format!(
            "static LF_DEVICE {kind}(const Params &p) {{ return {value}; }}"
        ));
    }
}
