//! Exits in random loops: flags that end surrounding rates, and mid-iteration exits.

use super::{Making, Rate};
use loop_lang::types::Ty;

impl Making {
    /// A flag that iterations of a rate clear. From then on it ends some of the surrounding rates,
    /// possibly including a later phase.
    pub(super) fn flag(&mut self, rate: &Rate, comb: &str) {
        let [live, go] = ["live", "go"].map(|base| self.fresh(base, comb));
        let p = self.condition("yield", comb);
        self.emit("init", comb, format!("carry {live} = true"));
        let mut own = false;
        for around in rate.around.clone() {
            if self.rng.chance(60) {
                own = around == rate.comb;
                self.ends(&around, &live);
            }
        }
        // If it ends its own rate, it is not evaluated after that. Otherwise it must stay cleared.
        let test = match own && self.rng.chance(50) {
            true => format!("let {go} = copy {p}"),
            false => format!("let {go} = and {live} {p}"),
        };
        self.emit("yield", comb, test);
        self.emit("yield", comb, format!("{live} := {go}"));
        let (root, name) = (&rate.root, &rate.name);
        self.groups.push(format!(
            "group {live} owner {root} step {name} start true id true next {go} combine and level 0 exact"
        ));
        self.pool.push((live.clone(), Ty::Bool));
        self.results.push(live.clone());
        self.flags.push(live);
    }

    /// Ends a rate once a flag is cleared, or once this and another flag are.
    fn ends(&mut self, comb: &str, live: &str) {
        let mut test = live.to_string();
        if !self.flags.is_empty() && self.rng.chance(25) {
            let other = self.flags[self.rng.below(self.flags.len())].clone();
            test = self.fresh("any", comb);
            let any = format!("let {test} = or {live} {other}");
            let key = ("guard".to_string(), comb.to_string());
            self.sections.entry(key).or_default().insert(0, any);
        }
        self.emit("guard", comb, format!("unless {test}"));
    }

    /// A later phase that an earlier phase's flag may end.
    pub(super) fn ended_by_earlier(&mut self, comb: &str) {
        if !self.flags.is_empty() && self.rng.chance(20) {
            let live = self.flags[self.rng.below(self.flags.len())].clone();
            self.emit("guard", comb, format!("unless {live}"));
        }
    }

    /// Leaves the iteration of a rate, or the rate, in the middle of a stage of it or of a nested
    /// rate.
    pub(super) fn leave(&mut self, rate: &Rate, comb: &str) {
        let around = rate.around[self.rng.below(rate.around.len())].clone();
        let is_loop = self.loops.contains(&around);
        // A cursor that is left before its own stage has not counted.
        let is_cursor = around != rate.comb && self.cursors.contains(&around);
        let section = if is_cursor || is_loop && self.rng.chance(50) {
            "done"
        } else {
            "bottom"
        };
        let target = match section {
            "done" if around == rate.around[0] && self.is_last => "end".to_string(),
            _ => around,
        };
        let p = self.condition("yield", comb);
        self.emit("yield", comb, format!("unless {p} | {section}_{target}"));
        self.sections.entry((section.into(), target)).or_default();
    }
}
