//! Where iterations may leave the loop: see `exits.cuh`. Functions of steps have two forms then, each with effects and without: one
//! goes on whatever happens, for the summaries of what comes before; the other one ends where it leaves, and says so.

use super::Emit;
use livefusion_tile::threads::plan::Work;
use livefusion_tile::threads::shape::at;
use loop_lang::ir::{Place, Section};

impl Emit<'_> {
    /// The template of a step where rates are nested, and what it returns. At the highest level it acts.
    pub(super) fn step_kind(&self) -> [&'static str; 2] {
        match self.shape.exits.any {
            true => [
                "template <u32 LEVEL, bool ACTS = LEVEL == LEVELS, bool LEAVES = ACTS>",
                "u32",
            ],
            false => ["template <u32 LEVEL>", "void"],
        }
    }

    /// Whether such a step has effects.
    pub(super) fn acts(&self) -> &'static str {
        match self.shape.exits.any {
            true => "ACTS",
            false => "LEVEL == LEVELS",
        }
    }

    /// The end of a step, or of a part that has no more to do.
    pub(super) fn goes_on(&self) -> &'static str {
        match self.shape.exits.any {
            true => "return LF_GOES_ON;",
            false => "return;",
        }
    }

    /// Behind a loop in a loop: where both are left.
    pub(super) fn leaves_on(&mut self) {
        if self.shape.exits.nested && self.open.len() > 1 {
            self.line("if (lf_out > 0) { --lf_out; break; }");
        }
    }

    /// The ways out at a place.
    pub(super) fn ways_out(&mut self, place: Place) {
        let how = match place == at(self.shape.root, 0, Section::Guard) {
            true => "LF_LEFT_BEFORE",
            false => "LF_LEFT_WITHIN",
        };
        for (unless, before, nest) in self.shape.ways_out(place) {
            let leaves = nest.is_none().then(|| "LEAVES".to_string());
            let before = before.into_iter().map(|a| self.value(a));
            let mut tests: Vec<String> = leaves.into_iter().chain(before).collect();
            tests.push(format!("!({})", self.value(unless)));
            let tests = tests.join(" && ");
            if let Some(nest) = nest {
                // It is the end of the innermost loop, and of some around it.
                let around = self.open.iter().rev().take_while(|r| **r != nest).count();
                match around {
                    0 => self.line(&format!("if ({tests}) break;")),
                    _ => self.line(&format!("if ({tests}) {{ lf_out = {around}; break; }}")),
                }
                continue;
            }
            if let Work::Teams { .. } = self.shape.work {
                // Whoever is in a block takes part in what it exchanges.
                self.open(&format!("if ({tests} && lf_how == LF_GOES_ON) {{"));
                self.line(&format!("lf_how = {how};"));
                self.line("lf_left = state;");
                self.line("EMIT = lf_ok = false;");
                self.close();
                continue;
            }
            // Counters of the loops around it are where they got to.
            let counted = self
                .running
                .iter()
                .map(|(place, name)| format!("{place} = {name}; "));
            let counted: String = counted.collect();
            match counted.is_empty() {
                true => self.line(&format!("if ({tests}) return {how};")),
                false => self.line(&format!("if ({tests}) {{ {counted}return {how}; }}")),
            }
        }
    }
}
