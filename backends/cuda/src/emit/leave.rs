//! Exits of iterations from the loop: see `exits.cuh`.
//!
//! Step functions then have two forms. One ignores exits, for summaries of earlier steps. The other
//! ends at an exit and returns it. Each form exists with and without effects.

use super::Emit;
use livefusion_tile::threads::plan::Work;
use livefusion_tile::threads::shape::at;
use loop_lang::ir::{Place, Section};

impl Emit<'_> {
    /// Returns the template and result type of a step with nested rates. At the highest level it
    /// has effects.
    pub(super) fn step_kind(&self) -> [&'static str; 2] {
        match self.shape.exits.any {
            true => [
                "template <u32 LEVEL, bool ACTS = LEVEL == LEVELS, bool LEAVES = ACTS>",
                "u32",
            ],
            false => ["template <u32 LEVEL>", "void"],
        }
    }

    /// Returns the condition for effects in such a step.
    pub(super) fn acts(&self) -> &'static str {
        match self.shape.exits.any {
            true => "ACTS",
            false => "LEVEL == LEVELS",
        }
    }

    /// Returns the end of a step, or of a part without further work.
    pub(super) fn goes_on(&self) -> &'static str {
        match self.shape.exits.any {
            true => "return LF_GOES_ON;",
            false => "return;",
        }
    }

    /// Leaves the enclosing loop too, after an inner loop whose exit leaves both.
    pub(super) fn leaves_on(&mut self) {
        if self.shape.exits.nested && self.open.len() > 1 {
            self.line("if (lf_out > 0) { --lf_out; break; }");
        }
    }

    /// Writes the exits at a place.
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
                // The exit ends the innermost loop, and some around it.
                let around = self.open.iter().rev().take_while(|r| **r != nest).count();
                match around {
                    0 => self.line(&format!("if ({tests}) break;")),
                    _ => self.line(&format!("if ({tests}) {{ lf_out = {around}; break; }}")),
                }
                continue;
            }
            if let Work::Teams { .. } = self.shape.work {
                // All threads of a block take part in its communication.
                self.open(&format!("if ({tests} && lf_how == LF_GOES_ON) {{"));
                self.line(&format!("lf_how = {how};"));
                self.line("lf_left = state;");
                self.line("EMIT = lf_ok = false;");
                self.close();
                continue;
            }
            // The counters of the surrounding loops are stored before the exit.
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
