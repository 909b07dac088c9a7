//! Text form of schedules: one line per decision, as `explain()` shows them.
//!
//! ```text
//! r0 vectorise 8 unroll 4
//! r0 stream 524288
//! r2 compact
//! r3 buffer 1024
//! r4 runs 8
//! r5 unrolljam 4
//! r6 threads path block 128 each 20
//! r6 teams 65536
//! ```

use super::{Admit, Decision, Schedule};
use crate::threads::{Threads, Who};
use loop_lang::Loop;
use loop_lang::ir::RateId;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Describes a parse error in a schedule's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleError {
    /// The line, counted from 1.
    pub line: usize,
    /// The expected and the actual text.
    pub message: String,
}

impl std::fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ScheduleError {}

impl Schedule {
    /// Returns the schedule's text, with the names of its loop's rates.
    ///
    /// It is empty if nothing is decided.
    pub fn show(&self, program: &Loop) -> String {
        let mut text = String::new();
        for (rate, decision) in self.decisions() {
            let _ = writeln!(text, "{} {decision}", program.rate(*rate).name);
        }
        text
    }

    /// Parses a schedule.
    ///
    /// Empty lines and comments after `#` are ignored.
    ///
    /// # Errors
    ///
    /// Fails on a rate that the loop does not have, or an unknown decision. It does not check
    /// whether the decisions are legal.
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
                    "expected `vectorise N unroll N`, `unroll N`, `fastminmax`, `ask`, `stream N`, `partition`, `fission wait N work N buffer N`, `buffer N`, `runs N`, `unrolljam N`, `threads WHO block N each N`, `teams N`, `branch`, `mask`, `compact` or `pack`, got `{}`",
                    words.join(" ")
                ))
            })?;
            schedule = schedule.with(RateId::new(rate), decision);
        }
        Ok(schedule)
    }
}

/// Holds the schedules of several loops, as text.
///
/// A line has a loop's name. The indented lines below it have its decisions.
///
/// ```text
/// loop_0
///   r0 vectorise 8 unroll 4
///   r2 compact
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Schedules {
    /// The text for each loop, with its original line numbers: preceded by empty lines.
    by_loop: BTreeMap<String, String>,
}

impl Schedules {
    /// Parses the schedules of several loops.
    ///
    /// The text of each loop is parsed when that loop is compiled.
    ///
    /// ```
    /// use livefusion_tile::schedule::Schedules;
    /// assert!(Schedules::parse("loop_0\n  r0 vectorise 8 unroll 4\n").is_ok());
    /// assert_eq!(Schedules::parse("  r0 branch\n").unwrap_err().line, 1);
    /// ```
    ///
    /// # Errors
    ///
    /// Fails on a decision before the first loop's name, and on a loop that is named twice.
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

    /// Lists the named loops.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_loop.keys().map(String::as_str)
    }

    /// Adds the schedule of one loop.
    pub fn with(mut self, program: &Loop, schedule: &Schedule) -> Schedules {
        let text = schedule.show(program);
        self.by_loop.insert(program.name.clone(), text);
        self
    }

    /// Returns the schedule of a loop, if the text has one.
    ///
    /// # Errors
    ///
    /// Fails on rates that the loop does not have, and on unknown decisions. The error has the line
    /// of the whole text.
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
        ["fastminmax"] => Some(Decision::FastMinMax),
        ["ask"] => Some(Decision::Ask),
        ["stream", least] => Some(Decision::Stream(least.parse().ok()?)),
        ["partition"] => Some(Decision::Partition),
        ["fission", "wait", wait, "work", work, "buffer", steps] => Some(Decision::Fission {
            wait: wait.parse().ok()?,
            work: work.parse().ok()?,
            steps: steps.parse().ok()?,
        }),
        ["runs", lanes] => Some(Decision::Runs(lanes.parse().ok()?)),
        ["unrolljam", steps] => Some(Decision::UnrollJam(steps.parse().ok()?)),
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
