//! The schedules that an engine is asked for: read once, and judged before anything is compiled.

use super::engine::{backend_error, not_compiled};
use crate::error::{Error, ErrorKind, Result};
use livefusion_backend::CompileError;
use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Schedule, Schedules, legal};
use loop_lang::Loop;
use loop_lang::state::Layout;
use loop_lang::verify::verify;

/// What an engine is asked for, or what is wrong with it.
pub struct Asked(Result<Schedules>);

/// Nothing is asked for.
impl Default for Asked {
    fn default() -> Asked {
        Asked(Ok(Schedules::default()))
    }
}

impl Asked {
    /// What a text asks for.
    pub fn read(text: &str) -> Asked {
        let unread = |e| refused(format!("the schedule cannot be read: {e}"));
        Asked(Schedules::parse(text).map_err(unread))
    }

    /// The schedules, by loop.
    ///
    /// Errors: a text that says none.
    pub fn schedules(&self) -> Result<&Schedules> {
        self.0.as_ref().map_err(Error::clone)
    }

    /// Judges what is asked of loops before they are compiled.
    ///
    /// Errors: a text that says no schedules, or what [`of`](Asked::of) says of one of the loops.
    pub fn judge<'a>(&self, mut loops: impl Iterator<Item = &'a Loop>) -> Result<()> {
        let schedules = self.schedules()?;
        loops.try_for_each(|program| {
            if schedules.names().any(|name| name == program.name) {
                with_region(program, |region| self.of(region))?;
            }
            Ok(())
        })
    }

    /// What is asked of a loop; none if nothing is.
    ///
    /// Errors: rates that it has not, decisions that there are not, or that are not legal.
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

/// Does something with what is known of a loop.
///
/// Errors: a loop that is not well formed, which users' combinators can make; nothing is known of it.
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

/// An error of what is asked for.
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
        let asked = Asked::read("empty");
        let error = asked.judge([&program].into_iter()).expect_err("no gotos");
        let why = "the loop is not well formed:\n";
        assert!(
            matches!(&error.kind, ErrorKind::Backend(e) if e.starts_with(why)),
            "{error}"
        );
        loop_lang::gotos::derive_gotos(&mut program);
        assert_eq!(asked.judge([&program].into_iter()), Ok(()));
    }
}
