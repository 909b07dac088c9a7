//! Schedules as text: a line for each decision, as `explain()` shows them.
//!
//! ```text
//! r0 vectorise 8 unroll 4
//! r2 compact
//! ```

use super::{Admit, Decision, Schedule};
use loop_lang::Loop;
use loop_lang::ir::RateId;
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
                    "expected `vectorise N unroll N`, `branch`, `mask` or `compact`, got `{}`",
                    words.join(" ")
                ))
            })?;
            schedule = schedule.with(RateId::new(rate), decision);
        }
        Ok(schedule)
    }
}

fn decision(words: &[&str]) -> Option<Decision> {
    match words {
        ["vectorise", lanes, "unroll", unroll] => Some(Decision::Vectorise {
            lanes: lanes.parse().ok()?,
            unroll: unroll.parse().ok()?,
        }),
        [word] => {
            let mut all = Admit::ALL.into_iter();
            all.find(|a| a.name() == *word).map(Decision::Admit)
        }
        _ => None,
    }
}
