//! Rows with a team of threads each: see [`livefusion_tile::threads::team`].
//!
//! All threads of a team run the code outside of its passes, and one of them writes. In a pass, the
//! threads take one element each in turn, or one consecutive piece each. Each thread has its own
//! part of the folds.

use super::Emit;
use livefusion_tile::threads::team::in_pieces;
use loop_lang::ir::{GroupId, Place, RateId, RateKind, Section, Stmt, StmtKind, Var};

/// Statements of a pass up to which its iterations are unrolled.
const LIGHT: usize = 16;

impl Emit<'_> {
    /// Writes the function of a row.
    pub(super) fn team(&mut self) {
        let mut folds: Vec<_> = self.shape.nests.folds.clone().into_iter().collect();
        folds.retain(|(_, groups)| !groups.is_empty());
        folds.sort_unstable();
        for (rate, groups) in folds {
            self.fold(rate, &groups);
        }
        let counter = self.names.var(self.shape.counter).to_string();
        let [template, result] = self.step_kind();
        self.line(template);
        self.open(&format!(
            "static LF_DEVICE {result} step(const Params &p, const lf_launch &launch, const u64 {counter}, const u32 lf_lane, const u32 lf_team, const bool lf_there, const Near &near, State &state) {{"
        ));
        let (leaves, acts) = (self.shape.exits.any, self.acts());
        let constant = if leaves { "" } else { "const " };
        self.line(&format!(
            "{constant}bool EMIT = {acts} && lf_there && lf_lane == 0;"
        ));
        self.line("const State old = state;");
        if leaves {
            self.line("u32 lf_how = LF_GOES_ON;");
            self.line("State lf_left = state;");
        }
        self.line("bool lf_ok = lf_there;");
        self.cells(self.shape.root);
        self.open.push(self.shape.root);
        self.rate(self.shape.root);
        self.open.pop();
        if leaves {
            self.line("if (LEAVES && lf_how != LF_GOES_ON) state = lf_left;");
            self.line("return lf_how;");
        }
        self.close();
    }

    /// Writes the fold of a pass, and its join.
    fn fold(&mut self, rate: RateId, groups: &[GroupId]) {
        let ty = format!("Fold{}", rate.index());
        let vars = self.shape.vars(groups);
        // Threads exchange words of four bytes.
        let align = vars.iter().map(|v| self.ty(*v).size()).max();
        self.open(&format!(
            "struct alignas({}) {ty} {{",
            align.unwrap_or(4).max(4)
        ));
        for v in vars {
            let line = format!("{} {};", self.ty(v), self.names.var(v));
            self.line(&line);
        }
        let identity = groups.iter().flat_map(|g| &self.shape.group(*g).identity);
        let identity: Vec<String> = identity.map(|a| self.outside(*a)).collect();
        self.line(&format!(
            "static LF_DEVICE {ty} identity(const Params &p) {{ return {ty}{{{}}}; }}",
            identity.join(", ")
        ));
        self.open(&format!(
            "static LF_DEVICE {ty} join(const Params &p, const {ty} &a, const {ty} &b) {{"
        ));
        self.line(&format!("{ty} ab;"));
        groups.iter().for_each(|g| self.join(*g));
        self.line("return ab;");
        self.close();
        self.depth -= 1;
        self.line("};");
    }

    /// Writes a pass over a row, if a team runs it.
    pub(super) fn pass(&mut self, rate: RateId) -> bool {
        let Some(groups) = self.shape.nests.folds.get(&rate).cloned() else {
            return false;
        };
        let RateKind::Nested { counter, bound, .. } = self.shape.program.rate(rate).kind else {
            return false;
        };
        self.block(rate, 0, Section::Nest);
        let vars = self.shape.vars(&groups);
        let name = self.names.var(counter).to_string();
        let bound_value = self.value(bound);
        let place = self.opened(rate, counter, bound);
        if let Some(place) = &place {
            self.line(&format!("u64 {name} = {place};"));
        }
        let ty = format!("Fold{}", rate.index());
        let turns = match in_pieces(self.shape.program, &groups) {
            true => "lf_turns_in_order".to_string(),
            false => format!("lf_turns<{}>", self.is_light(rate)),
        };
        if !vars.is_empty() {
            let held = self.held(&vars);
            self.line(&format!("const {ty} lf_before = {ty}{{{held}}};"));
            self.line(&format!("const {ty} lf_none = {ty}::identity(p);"));
            self.hold(&vars, "lf_none");
        }
        self.line(&format!(
            "const u64 lf_end = lf_max({name}, {bound_value});"
        ));
        self.open(&format!("const auto lf_turn = [&](const u64 {name}) {{"));
        self.line(&format!("const bool EMIT = {};", self.acts()));
        self.iteration(rate);
        self.depth -= 1;
        self.line("};");
        self.line(&format!(
            "{turns}({name}, lf_end, lf_lane, lf_team, lf_ok, lf_turn);"
        ));
        self.line(&format!("{name} = lf_end;"));
        if let Some(place) = &place {
            self.line(&format!("{place} = {name};"));
        }
        if !vars.is_empty() {
            let held = self.held(&vars);
            self.line(&format!(
                "const {ty} lf_all = {ty}::join(p, lf_before, lf_of_team(p, {ty}{{{held}}}, lf_team));"
            ));
            self.hold(&vars, "lf_all");
        }
        self.close();
        self.block(rate, 0, Section::Done);
        true
    }

    /// Returns whether a pass waits for memory more than it computes.
    pub(super) fn is_light(&self, rate: RateId) -> bool {
        let program = self.shape.program;
        let blocks = self.shape.facts.blocks.iter();
        let within =
            |p: Place| matches!(p, Place::At { rate: r, .. } if program.is_within(r, rate));
        let stmts = blocks
            .filter(|b| within(b.place))
            .flat_map(|b| &b.block.stmts);
        let heavy = |s: &Stmt| matches!(&s.kind, StmtKind::Let(_, op, _) if op.is_transcendental());
        stmts.clone().count() <= LIGHT && !stmts.clone().any(heavy)
    }

    /// Lists the variables' locations.
    fn held(&self, vars: &[Var]) -> String {
        let held: Vec<String> = vars.iter().filter_map(|v| self.stored(*v)).collect();
        held.join(", ")
    }

    /// Assigns a fold's values to variables.
    fn hold(&mut self, vars: &[Var], from: &str) {
        for v in vars {
            if let Some(place) = self.stored(*v) {
                let line = format!("{place} = {from}.{};", self.names.var(*v));
                self.line(&line);
            }
        }
    }
}
