//! Cursors in random loops: delivery, nested subrates, carried values, and ends.
//!
//! A cursor delivers from its own stages or from subrates.

use super::{Making, Rate, TYPES};
use loop_lang::types::Ty;

impl Making {
    /// A cursor's guard, count, end and contents; returns the rate's line. Its counter continues,
    /// or restarts in each run of the surrounding loop.
    pub(super) fn cursor(&mut self, parent: &Rate, rate: &mut Rate, next: &str) -> String {
        let comb = rate.comb.clone();
        rate.runs_on = parent.loop_rate == rate.root || self.rng.chance(75);
        let most = if rate.runs_on { 60 } else { 6 };
        let (section, starter) = match rate.runs_on {
            true => ("init", &comb),
            false => ("nest", &parent.loop_comb),
        };
        self.emit(section, starter, format!("carry ix_{comb} = 0 @{comb}"));
        let len = self.rng.range(0, most);
        self.emit("init", &comb, format!("let len_{comb} = copy {len}"));
        self.counted_guard(&comb, &format!("len_{comb}"));
        self.count_up(&comb, "body");
        self.cursors.insert(comb.clone());
        let target = format!("body_{next}");
        rate.delivers_to = Some(target.clone());
        if self.rng.chance(50) {
            // Either a flag tells consumers that it has ended, or its end ends the surrounding
            // loop.
            let live = self.fresh("live", &comb);
            self.carried(rate, &comb, &live, Ty::Bool, ("true", "false"));
            self.emit("done", &comb, format!("{live} := false"));
            self.emit("done", &comb, format!("goto {target}"));
            self.delivered.insert(target);
        }
        let parts = self.parts(rate);
        let (name, of) = (&rate.name, &parent.name);
        format!("rate {name} cursor {of} ix_{comb} < len_{comb} {{ {parts} }}")
    }

    /// The end of a stage of a cursor, or of a subrate of one, if it jumps.
    pub(super) fn deliver(&mut self, rate: &Rate, comb: &str, last: bool) -> bool {
        let Some(target) = rate.delivers_to.clone() else {
            return false;
        };
        if !rate.is_sub && comb == rate.comb && self.rng.chance(20) {
            let p = self.condition("body", comb);
            self.emit("body", comb, format!("unless {p} | done_{comb}"));
        }
        let needed = last && !rate.is_sub && !self.delivered.contains(&target);
        if !needed && self.rng.chance(if last { 30 } else { 75 }) {
            return false;
        }
        if self.rng.chance(60) {
            let ty = self.rng.pick(&TYPES);
            let (x, start, val) = (self.atom(ty), self.literal(ty), self.fresh("val", comb));
            self.emit("yield", comb, format!("{val} := {x}"));
            self.carried(rate, comb, &val, ty, (&start, &x));
        }
        let p = self.condition("yield", comb);
        if !last {
            self.emit("yield", comb, format!("unless {p} | {target}"));
        } else {
            if !rate.is_sub {
                self.emit("yield", comb, format!("unless {p} | bottom_{}", rate.comb));
            }
            self.emit("yield", comb, format!("goto {target}"));
        }
        self.delivered.insert(target);
        true
    }

    /// A variable that carries a cursor's value to all later code.
    fn carried(&mut self, rate: &Rate, comb: &str, v: &str, ty: Ty, (start, next): (&str, &str)) {
        self.emit("init", comb, format!("carry {v} = {start}"));
        let (root, step) = (&rate.root, &rate.name);
        self.groups.push(format!(
            "group {v} owner {root} step {step} start {start} next {next} level 0 sequential"
        ));
        self.results.push(v.into());
        self.lasting.push((v.into(), ty));
    }
}
