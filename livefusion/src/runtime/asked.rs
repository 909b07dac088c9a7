//! The schedules that an engine is asked for: read once, and judged before anything is compiled.

use super::engine::backend_error;
use crate::error::{Error, ErrorKind, Result};
use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Schedule, Schedules, legal};
use loop_lang::Loop;
use loop_lang::state::Layout;

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
pub fn with_region<T>(program: &Loop, act: impl FnOnce(&Region) -> Result<T>) -> Result<T> {
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
