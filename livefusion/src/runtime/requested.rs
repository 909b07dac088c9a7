//! Requested schedules: parsed once, and validated before compilation.

use super::engine::{backend_error, not_compiled};
use crate::error::{Error, ErrorKind, Result};
use livefusion_backend::CompileError;
use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Schedule, Schedules, legal};
use loop_lang::Loop;
use loop_lang::state::Layout;
use loop_lang::verify::verify;

/// Holds the requested schedules, or the parse error.
pub struct RequestedSchedules(Result<Schedules>);

/// Requests nothing.
impl Default for RequestedSchedules {
    fn default() -> RequestedSchedules {
        RequestedSchedules(Ok(Schedules::default()))
    }
}

impl RequestedSchedules {
    /// Parses the text of a request.
    pub fn read(text: &str) -> RequestedSchedules {
        let unread = |e| refused(format!("the schedule cannot be read: {e}"));
        RequestedSchedules(Schedules::parse(text).map_err(unread))
    }

    /// Returns the schedules, by loop.
    ///
    /// Errors: a text that does not parse.
    pub fn schedules(&self) -> Result<&Schedules> {
        self.0.as_ref().map_err(Error::clone)
    }

    /// Validates the schedules of these loops before compilation.
    ///
    /// Errors: a text that does not parse, or an error of [`of`](RequestedSchedules::of) for one of the loops.
    pub fn judge<'a>(&self, mut loops: impl Iterator<Item = &'a Loop>) -> Result<()> {
        let schedules = self.schedules()?;
        loops.try_for_each(|program| {
            if schedules.names().any(|name| name == program.name) {
                with_region(program, |region| self.of(region))?;
            }
            Ok(())
        })
    }

    /// Returns the schedule requested for a loop, if any.
    ///
    /// Errors: unknown rates, unknown decisions, illegal decisions.
    pub fn of(&self, region: &Region) -> Result<Option<Schedule>> {
        let program = region.program;
        let no = |why| {
            refused(format!(
                "the schedule of {} is refused: {why}",
                program.name
            ))
        };
        let schedule = self.schedules()?.of(program);
        let schedule = schedule.map_err(|e| no(e.to_string()))?;
        if let Some(schedule) = &schedule {
            legal(region, schedule).map_err(|all| {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                no(all.join("; "))
            })?;
        }
        Ok(schedule)
    }
}

/// Analyses a loop and passes the analysis to `act`.
///
/// Errors: a malformed loop, which users' combinators can produce. It has no analysis.
pub fn with_region<T>(program: &Loop, act: impl FnOnce(&Region) -> Result<T>) -> Result<T> {
    verify(program).map_err(|faults| {
        let faults = faults.iter().map(|f| format!("{}: {}", f.place, f.message));
        let faults = faults.collect::<Vec<_>>().join("\n");
        not_compiled(&CompileError::Malformed(faults))
    })?;
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held);
    act(&region.map_err(backend_error)?)
}

/// Returns the error for a refused schedule.
pub fn refused(why: String) -> Error {
    Error {
        kind: ErrorKind::Schedule(why),
        ..backend_error(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_looked_for_in_loops_that_are_not_well_formed() {
        let text = "loop empty\ncomb 0 none\ninit_0:\ndone_0:\n  return\n";
        let mut program = loop_lang::parse::parse(text).expect("it is read");
        let requested = RequestedSchedules::read("empty");
        let error = requested
            .judge([&program].into_iter())
            .expect_err("no gotos");
        let why = "the loop is not well formed:\n";
        assert!(
            matches!(&error.kind, ErrorKind::Backend(e) if e.starts_with(why)),
            "{error}"
        );
        loop_lang::gotos::derive_gotos(&mut program);
        assert_eq!(requested.judge([&program].into_iter()), Ok(()));
    }
}
