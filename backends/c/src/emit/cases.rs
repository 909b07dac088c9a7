//! Cases of a straight loop: comparisons with the counter that do not change over a range.
//!
//! Over a range of the counter on which these answers stay what they are, compilers vectorise the body. So a
//! plan gets a version for each combination of answers, or, where these are many, one for the middle of a long
//! loop beside the general form (`plan`). The caller ends the range where an answer changes.

use super::plan::Plan;
use super::unit::Unit;
use livefusion_tile::region::Def;
use loop_lang::ir::Atom;
use rustc_hash::FxHashSet;

impl Plan<'_> {
    /// What must be so before the loop is entered in this case, as a C condition.
    pub(super) fn condition(&self, unit: &mut Unit) -> String {
        let mut all = String::new();
        for test in self.case.tests.clone() {
            let (moving, edge) = (self.value(unit, test.moving), self.value(unit, test.edge));
            let sign = match (test.inclusive, test.holds) {
                (false, true) => "<",
                (true, true) => "<=",
                (false, false) => ">=",
                (true, false) => ">",
            };
            all.push_str(&format!(" && {moving} {sign} {edge}"));
        }
        all
    }

    /// How many iterations the case lasts, as C expressions of which the least counts.
    pub(super) fn lasts(&self, unit: &mut Unit) -> Vec<String> {
        let mut all = Vec::new();
        for test in self.case.tests.iter().chain(&self.stops) {
            let (moving, edge) = (self.value(unit, test.moving), self.value(unit, test.edge));
            let edge = match test.inclusive {
                true => format!("{edge} + 1"),
                false => edge,
            };
            let way = if test.down { "down" } else { "up" };
            all.push(format!("lf_same_{way}({moving}, {edge})"));
        }
        let mut seen = FxHashSet::default();
        for room in &self.case.rooms {
            // What is read at the counter is proven like what is written there.
            if room.index == self.sweep.counter {
                continue;
            }
            let index = self.value(unit, Atom::Var(room.index));
            let length = unit.length(room.array);
            let text = match room.down {
                true => format!("{index} < {length} ? {index} + 1 : 0"),
                false => format!("lf_room({length}, {index})"),
            };
            if seen.insert(text.clone()) {
                all.push(text);
            }
        }
        all
    }

    /// A value as the caller computes it, before the first iteration.
    fn value(&self, unit: &mut Unit, a: Atom) -> String {
        match self.case.def(a) {
            Some(Def::Sum(a, b)) => {
                format!("({} + {})", self.value(unit, a), self.value(unit, b))
            }
            Some(Def::Difference(a, b)) => {
                format!("({} - {})", self.value(unit, a), self.value(unit, b))
            }
            Some(Def::Same(a)) => self.value(unit, a),
            None => unit.atom(a),
        }
    }
}
