//! Tiles under random schedules, evaluated next to the interpreter.
//!
//! The kernel enters a tile wherever that is possible, for some of the possible steps. The
//! interpreter runs the steps between. Spans thus end at random guards, and each piece runs on one
//! of the two.

mod draw;
mod drawn;
mod mutants;
mod world;

pub use draw::draw;
pub use drawn::Drawn;
pub use mutants::mutant;

use crate::rng::Rng;
use livefusion_backend::{Arg, Backend, CompileError, Frame, Kernel, Outcome, Pass};
use livefusion_interp::InterpBackend;
use livefusion_tile::eval;
use livefusion_tile::ir::{StmtKind, Tile, Zip};
use livefusion_tile::lower;
use livefusion_tile::region::{self, Region};
use livefusion_tile::schedule::Schedule;
use loop_lang::Loop;
use loop_lang::ir::Atom;
use loop_lang::state::Layout;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use world::State;

/// Runs a loop's tiles where possible, and the interpreter elsewhere.
pub struct Evaluated {
    program: Loop,
    layout: Layout,
    inner: Arc<dyn Kernel>,
    tiles: Vec<Tile>,
    zips: Vec<Zip>,
    rng: Mutex<Rng>,
    /// The number of steps of each tile.
    taken: Mutex<Vec<u64>>,
    /// The number of exits of tiles within their range.
    left: AtomicU64,
    /// The number of these in tiles with a dry run.
    rolled_back: AtomicU64,
    /// The number of steps of each zip.
    zipped: Mutex<Vec<u64>>,
}

/// Returns whether a tile has a dry run before irrevocable effects.
///
/// It runs the code that may exit, so that the tile can still roll back.
pub fn has_dry_run(tile: &Tile) -> bool {
    let mut found = false;
    tile.each_stmt(&mut |s| found |= matches!(s.kind, StmtKind::DryRun { .. }));
    found
}

/// Returns the buffered zips of a loop under a schedule, verified.
///
/// # Panics
/// Panics if one does not verify, or if the schedule is rejected.
pub fn zips(program: &Loop, schedule: &Schedule) -> Vec<Zip> {
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    let zip = |zip: &region::Zip| {
        let made = match lower::zip(&region, zip, schedule) {
            Ok(made) => made,
            Err(lower::NoTile::Unsupported(_)) => return None,
            Err(e) => panic!("{e}\n{}\n{program}", schedule.show(program)),
        };
        let parts = zip.parts().expect("its parts");
        if let Err(faults) = livefusion_tile::verify::zip(&made, &parts) {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            let named = region.zips().named.as_ref().expect("a loop with its names");
            let tiles: Vec<String> = made.tiles().map(|t| t.show(named).to_string()).collect();
            let (lines, tiles) = (lines.join("\n"), tiles.join("\n"));
            panic!("{lines}\n{}\n{tiles}\n{program}", schedule.show(program));
        }
        Some(made)
    };
    region.zips().all.iter().filter_map(zip).collect()
}

/// Returns the tiles of a loop under a schedule, verified.
///
/// A loop may have several, and unsupported loops have none.
///
/// # Panics
/// Panics if one does not verify, or if the schedule is rejected.
pub fn tiles(program: &Loop, schedule: &Schedule) -> Vec<Tile> {
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    let tile = |inner_loop| match lower::tiles(&region, inner_loop, schedule) {
        Ok(tiles) => tiles,
        Err(lower::NoTile::Unsupported(_)) => Vec::new(),
        Err(e) => panic!("{e}\n{}\n{program}", schedule.show(program)),
    };
    let nests = region.nests().iter();
    let nests = nests.filter_map(|nest| lower::nest(&region, nest, schedule).ok());
    let tiles: Vec<Tile> = region
        .inner_loops()
        .flat_map(tile)
        .chain(nests.flatten())
        .collect();
    for tile in &tiles {
        if let Err(faults) = livefusion_tile::verify::verify(tile, program) {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            let schedule = schedule.show(program);
            let (lines, tile) = (lines.join("\n"), tile.show(program));
            panic!("{lines}\n{schedule}\n{tile}\n{program}");
        }
    }
    tiles
}

impl Evaluated {
    /// Creates the kernel of a loop under a schedule.
    ///
    /// `inner` runs the steps between tiles.
    pub fn new(
        program: &Loop,
        schedule: &Schedule,
        inner: Arc<dyn Kernel>,
        seed: u64,
    ) -> Evaluated {
        let mut evaluated = Evaluated::of(program, tiles(program, schedule), inner, seed);
        evaluated.zips = zips(program, schedule);
        evaluated.zipped = Mutex::new(vec![0; evaluated.zips.len()]);
        evaluated
    }

    /// Creates the kernel of a loop with these tiles.
    pub fn of(program: &Loop, tiles: Vec<Tile>, inner: Arc<dyn Kernel>, seed: u64) -> Evaluated {
        Evaluated {
            program: program.clone(),
            layout: Layout::of(program),
            inner,
            rng: Mutex::new(Rng::new(seed)),
            taken: Mutex::new(vec![0; tiles.len()]),
            left: AtomicU64::new(0),
            rolled_back: AtomicU64::new(0),
            zips: Vec::new(),
            zipped: Mutex::default(),
            tiles,
        }
    }

    /// Returns the tiles that took steps, with their numbers.
    pub fn taken(&self) -> Vec<(&Tile, u64)> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let tiles = self.tiles.iter().zip(taken.iter().copied());
        tiles.filter(|t| t.1 > 0).collect()
    }

    /// Returns the number of steps of tiles with segments.
    pub fn in_segments(&self) -> u64 {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let tiles = self.tiles.iter().zip(taken.iter());
        let nested = tiles.filter(|(t, _)| t.has_segments());
        nested.map(|(_, steps)| steps).sum()
    }

    /// Returns the number of exits of tiles within their range.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Adds the counts of its tiles under a schedule.
    ///
    /// Returns the number of their steps.
    pub fn count(&self, schedule: &Schedule, drawn: &mut Drawn) -> u64 {
        drawn.left += self.left();
        drawn.rolled_back += self.rolled_back.load(Ordering::Relaxed);
        drawn.in_segments += self.in_segments();
        let taken = self.taken();
        for (tile, _) in &taken {
            drawn.count(&self.program, schedule, tile.rate);
            drawn.note(&self.program, tile);
        }
        let zipped = self.zipped.lock().unwrap_or_else(PoisonError::into_inner);
        for (zip, steps) in self.zips.iter().zip(zipped.iter()) {
            drawn.zipped += steps;
            if *steps > 0 {
                drawn.count(&self.program, schedule, zip.rate);
                zip.tiles().for_each(|tile| drawn.note(&self.program, tile));
            }
        }
        taken.iter().map(|t| t.1).sum::<u64>() + zipped.iter().sum::<u64>()
    }

    /// Notes that a backend ran the schedule of its tiles.
    ///
    /// It also notes the outcome.
    pub fn note_end(
        &self,
        backend: &'static str,
        outcome: &Outcome,
        schedule: &Schedule,
        drawn: &mut Drawn,
    ) {
        if matches!(outcome, Outcome::Trapped(_)) {
            return;
        }
        let mut here = Drawn::default();
        self.count(schedule, &mut here);
        let ended = drawn.ended.entry(backend).or_default();
        ended.extend(here.ran.into_keys());
    }

    /// The number of steps that a tile may take here, at most `left`.
    fn enters(&self, tile: &Tile, state: &State, left: u64) -> u64 {
        let word = |v| state.scalar(v);
        let counter = word(tile.counter);
        let bound = match self.program.rate(tile.rate).kind.bound() {
            Some(Atom::Var(v)) => word(v),
            Some(Atom::Const(c)) => c.bits,
            None => 0,
        };
        // The last step around segments sets other values of the frame.
        let last = u64::from(tile.has_segments());
        let count = left.min(bound.saturating_sub(counter).saturating_sub(last));
        tile.allows(count, word, |a| state.length(a))
    }

    /// Runs a tile's steps, if one may be entered. Returns their number, and whether it trapped.
    fn take(&self, left: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Option<(u64, bool)> {
        let place = (frame.words[0] as usize).checked_sub(1)?;
        let rate = self.layout.resume.get(place)?;
        let steps = frame.words[1];
        // The interpreter runs the step that fills a chunk or a run, because it combines them at
        // the guard.
        let before = |grid: u64| left.min(grid - 1 - steps % grid);
        let grid = self.program.grid().map_or(left, before);
        let (in_chunk, left) = (before(self.inner.chunk()), grid);
        let left = left.min(in_chunk);
        let mut state = State::new(&self.program, &self.layout, frame, args);
        let tiles = self.tiles.iter().enumerate();
        let entered = tiles
            .filter(|(_, t)| t.rate == *rate)
            .find_map(|(at, tile)| {
                // The tile combines whole runs itself.
                let left = match tile.runs() {
                    Some(run) if steps.is_multiple_of(run) => in_chunk,
                    Some(_) => 0,
                    None => left,
                };
                let most = self.enters(tile, &state, left);
                (most > 0).then_some((at, tile, most))
            });
        let Some((at, tile, most)) = entered else {
            let mut zips = self.zips.iter().enumerate();
            let (at, zip) = zips.find(|(_, z)| z.rate == *rate)?;
            let left = eval::zip(zip, left, &mut state)
                .unwrap_or_else(|fault| panic!("{fault}\n{}", self.program));
            frame.words[1] += left.steps;
            self.zipped.lock().unwrap_or_else(PoisonError::into_inner)[at] += left.steps;
            return (left.steps > 0).then_some((left.steps, left.trapped));
        };
        let turns = most / tile.granule();
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match rng.chance(70) {
            true => most,
            false => (1 + rng.below(turns as usize) as u64) * tile.granule(),
        };
        let from = state.scalar(tile.counter);
        let left = eval::run(tile, from..from + count, left, &mut state).unwrap_or_else(|fault| {
            let tile = tile.show(&self.program);
            panic!("{fault}\n{tile}\n{}", self.program)
        });
        // If its guard ends the loop, a tile may take no step.
        let within = u64::from(left.at < from + count);
        self.left.fetch_add(within, Ordering::Relaxed);
        let rolled_back = if has_dry_run(tile) { within } else { 0 };
        self.rolled_back.fetch_add(rolled_back, Ordering::Relaxed);
        eval::World::keep(&mut state, tile.counter, left.at);
        frame.words[1] += left.steps;
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)[at] += left.steps;
        (left.steps > 0).then_some((left.steps, left.trapped))
    }
}

impl Kernel for Evaluated {
    fn layout(&self) -> &Layout {
        self.inner.layout()
    }

    fn chunk(&self) -> u64 {
        self.inner.chunk()
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        if pass != Pass::Emit {
            return self.inner.run(pass, steps, frame, args);
        }
        let mut left = steps;
        // Go to the guard of the first root, where a tile with segments may be entered. One step
        // later it is inside a segment.
        if frame.words[0] == 0 {
            match self.inner.run(pass, 0, frame, args) {
                Outcome::Paused => {}
                outcome => return outcome,
            }
        }
        loop {
            match self.take(left, frame, args) {
                Some((_, true)) => return Outcome::Trapped(None),
                Some((count, false)) => left -= count,
                None => {
                    let before = frame.words[1];
                    match self.inner.run(pass, left.min(1), frame, args) {
                        Outcome::Paused => left -= frame.words[1] - before,
                        outcome => return outcome,
                    }
                }
            }
            if left == 0 {
                return Outcome::Paused;
            }
        }
    }
}

/// Wraps an interpreter with kernels that run tiles under random schedules.
pub struct Tiled {
    inner: InterpBackend,
    seed: u64,
    made: Mutex<Vec<(Schedule, Arc<Evaluated>)>>,
}

impl Tiled {
    /// Creates the backend of a seed around an interpreter.
    pub fn new(inner: InterpBackend, seed: u64) -> Tiled {
        Tiled {
            inner,
            seed,
            made: Mutex::default(),
        }
    }

    /// Adds the counts of its kernels' tiles.
    pub fn count(&self, drawn: &mut Drawn) {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        for (schedule, kernel) in made.iter() {
            kernel.count(schedule, drawn);
        }
    }
}

impl Backend for Tiled {
    fn name(&self) -> &'static str {
        "tiled"
    }

    fn compile(&self, program: &Loop) -> Result<Arc<dyn Kernel>, CompileError> {
        let inner = self.inner.compile(program)?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let schedule = draw(program, &mut Rng::new(self.seed), &mut Drawn::default());
        let kernel = Arc::new(Evaluated::new(program, &schedule, inner, self.seed));
        made.push((schedule, kernel.clone()));
        Ok(kernel)
    }
}
