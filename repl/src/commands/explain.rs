//! `:explain`: a summary line, then the report.

use super::{asked_for, explained, nodes};
use crate::session::{Answer, Session};
use crate::source::Span;
use livefusion::runtime::{ExplainedApart, Explanation, Place};
use std::collections::HashSet;

/// Holds the lines of its answer, for `:help explain`.
pub const MORE: &str = r#"
The first line is the summary: the loops, the arrays that pass between them in memory, and external parts, as sorts.
Below it each loop has its combinators, its bytes, and the reasons that part it from others.
`:explain schedule EXPRESSION` also shows the schedule of each loop.
"#;

/// Explains an expression, with its schedules on request.
pub fn explain(s: &mut Session, at: Span) -> Result<Answer, String> {
    let (with_schedule, at) = asked_for(s, at, "schedule");
    let nodes = nodes(s, at)?;
    let mut e = explained(s, at, &nodes)?;
    if !with_schedule {
        without_schedules(&mut e);
    }
    let summary = Summary::of(&e);
    Ok(Answer::of(format!("{summary}\n{e}\n")))
}

/// Drops schedules, which depend on the machine and on earlier runs.
fn without_schedules(e: &mut Explanation) {
    for l in &mut e.loops {
        (l.schedule, l.tier) = (None, None);
    }
    for part in &mut e.apart {
        match part {
            ExplainedApart::Loop(of) => {
                without_schedules(&mut of.start);
                without_schedules(&mut of.captured);
                without_schedules(&mut of.step);
            }
            ExplainedApart::External(of) => without_schedules(&mut of.inputs),
            _ => {}
        }
    }
}

/// The numbers of the first line.
#[derive(Default)]
struct Summary {
    loops: usize,
    /// Arrays that a loop writes for another loop, or for an external part.
    arrays: usize,
    external: Vec<&'static str>,
}

impl Summary {
    fn of(e: &Explanation) -> Summary {
        let mut summary = Summary::default();
        summary.add(e, false);
        summary
    }

    /// Adds a program, whose results may be the inputs of an external part.
    fn add(&mut self, e: &Explanation, is_inputs: bool) {
        self.loops += e.loops.len();
        self.arrays += intermediate(e, is_inputs);
        for part in &e.apart {
            let (name, are_inputs) = match part {
                ExplainedApart::Loop(of) => (of.name, false),
                ExplainedApart::External(of) => (of.name, true),
                _ => continue,
            };
            for program in part.parts() {
                self.add(program, are_inputs);
            }
            self.external.push(name);
        }
    }
}

/// The number of arrays that loops write for other consumers.
fn intermediate(e: &Explanation, is_inputs: bool) -> usize {
    let calls = e.calls();
    let is_array = |call: &usize| calls.get(*call).is_some_and(|c| c.shape.contains('['));
    let crosses = |from: usize, to: usize| match (calls.get(from), calls.get(to)) {
        (Some(from), Some(to)) if matches!(from.place, Place::Loop(_)) => {
            to.loops().any(|l| from.loops().all(|made| made != l))
        }
        _ => false,
    };
    let between = e.flows().iter().filter(|f| crosses(f.from, f.to));
    let mut found: HashSet<usize> = between.map(|f| f.from).collect();
    let results = calls
        .iter()
        .enumerate()
        .filter(|(_, c)| is_inputs && c.is_result && matches!(c.place, Place::Loop(_)));
    found.extend(results.map(|(k, _)| k));
    found.iter().filter(|call| is_array(call)).count()
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", count(self.loops, "loop"))?;
        match self.arrays {
            0 => write!(f, ", no intermediate array")?,
            n => write!(f, ", {} in memory", count(n, "intermediate array"))?,
        }
        if !self.external.is_empty() {
            let number = count(self.external.len(), "external part");
            write!(f, ", {number} ({})", self.external.join(", "))?;
        }
        Ok(())
    }
}

/// `1 loop`, `2 loops`.
fn count(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
