//! The fifth stage: tiles, the loops under their schedules.

use super::Lowered;
use crate::error::Result;
use crate::runtime::{Engine, RequestedSchedules, with_region};
use livefusion_tile::ir::Tile;
use livefusion_tile::lower::{NoTile, tiles};
use livefusion_tile::schedule::{Aim, Schedule, choose};
use livefusion_tile::target::Target;
use loop_lang::Loop;
use loop_lang::ir::RateId;
use std::fmt;

/// Holds the innermost loops under their schedules.
///
/// An innermost loop is a rate that one `for` loop can run. Its schedule is requested of an
/// [engine](crate::runtime::EngineBuilder::schedule), or chosen for this machine. The text shows
/// the tile of each, or the reason why it has none.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::{Clustering, stages};
/// let xs = Array::from(vec![1.0f64, 2.0]);
/// let twice = xs.map(|x| x * 2.0);
/// let mut loops = stages::graph(&twice)?.plan(Clustering::default()).lower()?;
/// loops.optimize();
/// let engine = Engine::builder().only_c().schedule("loop_0\n  r0 vectorise 4 unroll 2\n").build();
/// let tiles = loops.tiles(&engine)?;
/// assert_eq!(tiles.schedules(), "loop_0\n  r0 vectorise 4 unroll 2\n");
/// assert_eq!(
///     tiles.to_string(),
///     r"# loop_0, under the schedule that is requested
/// tile loop_0_r0 at r0
///   range from .. end
///   entry (a) capacity arr_0 at ix_0
///   entry (b) capacity out_1 at ix_0
///   entry (c) whole 8
///   given k_1: f64
///   for strip in from .. end step 8 @0
///     for lane in 0 .. 8 step 4 unrolled
///       let ix_0: u64 = add strip lane
///       let elt_0: f64x4 = load arr_0[ix_0] by (a)
///       let elt_1: f64x4 = mul elt_0 k_1 @1
///       store x4 out_1[ix_0] = elt_1 by (b)
/// "
/// );
/// # Ok::<(), livefusion::Error>(())
/// ```
pub struct Tiles(Vec<Tiled>);

impl Tiles {
    /// Schedules optimised loops.
    ///
    /// Errors: an invalid schedule request.
    pub(crate) fn new(engine: &Engine, loops: &[Lowered]) -> Result<Tiles> {
        let requested = engine.requested();
        let programs = loops.iter().flat_map(Lowered::programs);
        let tiled = programs.map(|program| Tiled::of(program, requested));
        Ok(Tiles(tiled.collect::<Result<_>>()?))
    }

    /// Returns the schedules as text.
    ///
    /// [`EngineBuilder::schedule`](crate::runtime::EngineBuilder::schedule) accepts it, unchanged
    /// or edited.
    pub fn schedules(&self) -> String {
        self.0.iter().map(Tiled::schedule).collect()
    }
}

impl fmt::Debug for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tiles({} loops)", self.0.len())
    }
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, l) in self.0.iter().enumerate() {
            write!(f, "{}{l}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

/// One loop under its schedule.
pub(crate) struct Tiled {
    program: Loop,
    schedule: Schedule,
    /// Whether no schedule was requested, so that one was chosen for this machine.
    is_chosen: bool,
    /// Tiles in the order of their rates.
    inner_loops: Vec<(RateId, std::result::Result<Vec<Tile>, NoTile>)>,
}

impl Tiled {
    /// Schedules an optimised loop.
    ///
    /// Errors: an invalid schedule request.
    pub(crate) fn of(program: &Loop, requested: &RequestedSchedules) -> Result<Tiled> {
        with_region(program, |region| {
            let requested = requested.of(region)?;
            let is_chosen = requested.is_none();
            let schedule = requested.unwrap_or_else(|| choose(region, &Target::here(), Aim::Speed));
            let inner_loops = region.inner_loops();
            let inner_loops = inner_loops
                .map(|s| (s.rate, tiles(region, s, &schedule)))
                .collect();
            Ok(Tiled {
                program: program.clone(),
                schedule,
                is_chosen,
                inner_loops,
            })
        })
    }

    /// Returns the loop's schedule as text, and marks decisions without effect, whose innermost
    /// loop has no tile.
    pub(crate) fn schedule(&self) -> String {
        let how = match self.is_chosen {
            true => " # chosen for this machine",
            false => "",
        };
        let mut text = format!("{}{how}\n", self.program.name);
        let lines = self.schedule.show(&self.program);
        for (line, (rate, _)) in lines.lines().zip(self.schedule.decisions()) {
            let inner_loop = self.program.loop_rate(*rate);
            let none = self.inner_loops.iter().find_map(|(rate, made)| match made {
                Err(why) if *rate == inner_loop => Some(format!(" # no effect: no tile has {why}")),
                _ => None,
            });
            text += &format!("  {line}{}\n", none.unwrap_or_default());
        }
        text
    }
}

impl fmt::Display for Tiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.is_chosen {
            false => "under the schedule that is requested",
            true => "under the schedule that is chosen for this machine",
        };
        writeln!(f, "# {}, {how}", self.program.name)?;
        if self.inner_loops.is_empty() {
            writeln!(f, "# no rate is an innermost loop")?;
        }
        for (rate, made) in &self.inner_loops {
            match made {
                Ok(tiles) => {
                    let mut tiles = tiles.iter();
                    tiles.try_for_each(|tile| write!(f, "{}", tile.show(&self.program)))?;
                }
                Err(why) => {
                    let rate = &self.program.rate(*rate).name;
                    writeln!(f, "# {rate} is an innermost loop without a tile: {why}")?;
                }
            }
        }
        Ok(())
    }
}
