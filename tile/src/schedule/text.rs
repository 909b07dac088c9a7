//! Schedules as text: a line for each decision, as `explain()` shows them.
//!
//! ```text
//! r0 vectorise 8 unroll 4
//! r0 stream 262144
//! r2 compact
//! r3 buffer 1024
//! r4 runs 8
//! r5 jam 4
//! r6 threads path block 128 each 20
//! r6 teams 65536
//! ```

use super::{Admit, Decision, Schedule};
use crate::threads::{Threads, Who};
use loop_lang::Loop;
use loop_lang::ir::RateId;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Text that is no schedule of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleError {
    /// The line, from 1 on.
    pub line: usize,
    /// What was expected there, and what was found.
    pub message: String,
}

impl std::fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ScheduleError {}

impl Schedule {
    /// The schedule's text, with the names of its loop's rates; empty if nothing is decided.
    pub fn show(&self, program: &Loop) -> String {
        let mut text = String::new();
        for (rate, decision) in self.decisions() {
            let _ = writeln!(text, "{} {decision}", program.rate(*rate).name);
        }
        text
    }

    /// The schedule that a text says. Empty lines, and what follows `#`, say nothing.
    ///
    /// Errors: a rate that the loop has not, or a decision that there is not. Whether the decisions are legal is
    /// another question.
    pub fn parse(text: &str, program: &Loop) -> Result<Schedule, ScheduleError> {
        let mut schedule = Schedule::new();
        for (k, line) in text.lines().enumerate() {
            let words: Vec<&str> = line
                .split('#')
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect();
            let [name, words @ ..] = &words[..] else {
                continue;
            };
            let error = |message: String| ScheduleError {
                line: k + 1,
                message,
            };
            let rate = program.rates.iter().position(|r| r.name == *name);
            let rate = rate.ok_or_else(|| {
                let names: Vec<&str> = program.rates.iter().map(|r| r.name.as_str()).collect();
                error(format!(
                    "expected a rate of {}, got `{name}`",
                    names.join(", ")
                ))
            })?;
            let decision = decision(words).ok_or_else(|| {
                error(format!(
                    "expected `vectorise N unroll N`, `unroll N`, `quick`, `ask`, `stream N`, `split`, `distribute wait N work N buffer N`, `buffer N`, `runs N`, `jam N`, `threads WHO block N each N`, `teams N`, `branch`, `mask` or `compact`, got `{}`",
                    words.join(" ")
                ))
            })?;
            schedule = schedule.with(RateId::new(rate), decision);
        }
        Ok(schedule)
    }
}

/// Schedules of several loops, as a text says them: a line with a loop's name, and below it, indented, its decisions.
///
/// ```text
/// loop_0
///   r0 vectorise 8 unroll 4
///   r2 compact
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedules {
    /// What is said of each loop, behind as many empty lines as stand before it.
    by_loop: BTreeMap<String, String>,
}

impl Schedules {
    /// The schedules that a text says. What it says of each loop is read when that loop is compiled.
    ///
    /// ```
    /// use livefusion_tile::schedule::Schedules;
    /// assert!(Schedules::parse("loop_0\n  r0 vectorise 8 unroll 4\n").is_ok());
    /// assert_eq!(Schedules::parse("  r0 branch\n").unwrap_err().line, 1);
    /// ```
    ///
    /// Errors: a decision of no loop, a loop that is named twice.
    pub fn parse(text: &str) -> Result<Schedules, ScheduleError> {
        let mut by_loop: BTreeMap<String, String> = BTreeMap::new();
        let mut now: Option<String> = None;
        for (k, line) in text.lines().enumerate() {
            let error = |message: String| ScheduleError {
                line: k + 1,
                message,
            };
            let said = line.split('#').next().unwrap_or_default();
            let indented = said.starts_with(char::is_whitespace);
            match (said.trim(), indented, &now) {
                ("", ..) => {}
                (decision, true, Some(name)) => {
                    let text = by_loop.entry(name.clone()).or_default();
                    let lines = text.lines().count();
                    text.extend(std::iter::repeat_n('\n', k - lines));
                    text.push_str(decision);
                    text.push('\n');
                }
                (decision, true, None) => {
                    let expected = "expected a loop's name before its decisions";
                    return Err(error(format!("{expected}, got `{decision}`")));
                }
                (name, false, _) => {
                    if by_loop.insert(name.to_string(), String::new()).is_some() {
                        return Err(error(format!("`{name}` was named before")));
                    }
                    now = Some(name.to_string());
                }
            }
        }
        Ok(Schedules { by_loop })
    }

    /// The loops that are named.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_loop.keys().map(String::as_str)
    }

    /// The schedules with one loop's more.
    pub fn with(mut self, program: &Loop, schedule: &Schedule) -> Schedules {
        let text = schedule.show(program);
        self.by_loop.insert(program.name.clone(), text);
        self
    }

    /// What is said of a loop; none if nothing is.
    ///
    /// Errors: rates that it has not, decisions that there are not; with the line of the whole text.
    pub fn of(&self, program: &Loop) -> Result<Option<Schedule>, ScheduleError> {
        let text = self.by_loop.get(&program.name);
        text.map(|text| Schedule::parse(text, program)).transpose()
    }
}

fn decision(words: &[&str]) -> Option<Decision> {
    match words {
        ["vectorise", lanes, "unroll", unroll] => Some(Decision::Vectorise {
            lanes: lanes.parse().ok()?,
            unroll: unroll.parse().ok()?,
        }),
        ["unroll", unroll] => Some(Decision::Vectorise {
            lanes: 1,
            unroll: unroll.parse().ok()?,
        }),
        ["quick"] => Some(Decision::Quick),
        ["ask"] => Some(Decision::Ask),
        ["stream", least] => Some(Decision::Stream(least.parse().ok()?)),
        ["split"] => Some(Decision::Split),
        ["distribute", "wait", wait, "work", work, "buffer", steps] => Some(Decision::Distribute {
            wait: wait.parse().ok()?,
            work: work.parse().ok()?,
            steps: steps.parse().ok()?,
        }),
        ["runs", lanes] => Some(Decision::Runs(lanes.parse().ok()?)),
        ["jam", steps] => Some(Decision::Jam(steps.parse().ok()?)),
        ["threads", who, "block", block, "each", each] => Some(Decision::Threads(Threads {
            who: Who::ALL.into_iter().find(|w| w.name() == *who)?,
            block: block.parse().ok()?,
            each: each.parse().ok()?,
        })),
        ["teams", from] => Some(Decision::Teams(from.parse().ok()?)),
        ["buffer", elements] => Some(Decision::Buffer(elements.parse().ok()?)),
        [word] => {
            let mut all = Admit::ALL.into_iter();
            all.find(|a| a.name() == *word).map(Decision::Admit)
        }
        _ => None,
    }
}
