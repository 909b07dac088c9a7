//! Cases of a straight loop: comparisons with the counter that do not change over a range.
//!
//! Over a range of the counter on which these answers stay what they are, compilers vectorise the body. So a
//! plan gets a version for each combination of answers, or, where these are many, one for the middle of a long
//! loop beside the general form. The caller ends the range where an answer changes.

use super::plan::Plan;
use super::unit::Unit;
use livefusion_tile::region::{Case, Def, Region};
use loop_lang::ir::Atom;
use rustc_hash::FxHashSet;

/// More versions than this of one loop are not written.
const MAX_CASES: usize = 4;
/// Comparisons in one case.
const MAX_TESTS: usize = 64;

/// The versions of a plan, the general form last if they do not cover everything.
pub fn cases<'r>(region: &Region, plan: Plan<'r>) -> Vec<Plan<'r>> {
    let mut found = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(answers) = open.pop() {
        match region.case(plan.sweep, &answers) {
            Ok(case) => found.push(case),
            Err(_) => {
                for answer in [false, true] {
                    open.push(answers.iter().copied().chain([answer]).collect());
                }
            }
        }
        if found.len() + open.len() > MAX_CASES {
            return middle(region, plan);
        }
    }
    found.into_iter().map(|case| plan.in_case(case)).collect()
}

/// The version for the middle of a long loop, and the general form, which stops before it.
fn middle<'r>(region: &Region, plan: Plan<'r>) -> Vec<Plan<'r>> {
    let mut answers = Vec::new();
    while answers.len() <= MAX_TESTS {
        match region.case(plan.sweep, &answers) {
            Ok(case) => {
                let mut general = plan.clone();
                general.stops.clone_from(&case.tests);
                general.case = case.defs_alone();
                return vec![plan.in_case(case), general];
            }
            // The counter is beyond what is asked near the beginning, and well before the end.
            Err(test) => {
                answers.push(!test.down && test.moving != Atom::Var(plan.sweep.counter));
            }
        }
    }
    vec![plan]
}

impl<'r> Plan<'r> {
    fn in_case(&self, case: Case) -> Plan<'r> {
        let mut plan = self.clone();
        for room in &case.rooms {
            plan.proven.insert((room.array, room.index));
        }
        plan.case = case;
        plan
    }

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
