//! How long chunks take, alone and together, and what follows from it.

use super::SPAN;
use std::time::{Duration, Instant};

/// The rest of a loop must be expected to take so long for others to be called.
const WORTH_CALLING: Duration = Duration::from_micros(250);
/// Units of several chunks take about so long.
const UNIT: Duration = Duration::from_micros(50);
/// A team that has worked together for so long is judged by the units of the last three quarters.
const TRIAL: Duration = Duration::from_millis(1);
/// It must take less than this share of the time that the caller takes alone.
const WORTH_SHARING: f64 = 0.97;
/// A team that is to be tried out (see the engine's `eager`) loses its trial after so many units.
const EAGER_UNITS: usize = 25;

/// How long chunks take.
pub struct Pace {
    /// Steps of a chunk, or of a part of one.
    pub chunk: u64,
    taken: Duration,
    /// Chunks that took `taken`.
    run: u32,
    /// Chunks of the next span.
    next: u64,
}

impl Pace {
    pub fn new(chunk: u64) -> Pace {
        Pace {
            chunk,
            taken: Duration::ZERO,
            run: 0,
            next: 1,
        }
    }

    fn each(&self) -> Option<Duration> {
        self.taken.checked_div(self.run)
    }

    /// What so many steps take.
    pub fn alone(&self, steps: u64) -> Option<Duration> {
        let each = self.each()?;
        Some(each.mul_f64(steps as f64 / self.chunk as f64))
    }

    /// Chunks that take about so long.
    fn fitting(&self, time: Duration) -> u64 {
        let each = self.each().unwrap_or(time).as_nanos().max(1);
        (time.as_nanos() / each).clamp(1, 1 << 20) as u64
    }

    /// What is left, as far as is known: as much again as was, if it is not.
    fn rest(&self, left: Option<u64>) -> Option<Duration> {
        match left {
            Some(left) => self.alone(left),
            None => self.each().map(|_| self.taken),
        }
    }

    pub fn is_long(&self, left: Option<u64>) -> bool {
        self.rest(left).is_some_and(|t| t > WORTH_CALLING)
    }

    pub fn is_short(&self, left: Option<u64>) -> bool {
        left.is_some() && self.rest(left).is_some_and(|t| t < WORTH_CALLING)
    }

    pub fn span(&self) -> u64 {
        self.next * self.chunk
    }

    pub fn took(&mut self, time: Duration, steps: u64) {
        self.taken += time;
        self.run = self.run.saturating_add((steps / self.chunk) as u32);
        self.next = self.fitting(SPAN).min(2 * self.next);
    }

    /// Steps of a unit: enough to be worth taking, and several for each thread.
    pub fn unit(&self, left: Option<u64>, threads: u64) -> u64 {
        let share = left.map_or(1, |l| l / self.chunk / (4 * threads));
        self.fitting(UNIT).min(share).max(1) * self.chunk
    }
}

/// Whether a team is faster than the caller alone. Where memory is the limit, or where one thread has to tell
/// the others where their units begin, it may not be.
pub struct Trial {
    start: Instant,
    /// What a unit takes alone; none when the team was judged.
    alone: Option<Duration>,
    /// Whether the team is to lose after some units.
    eager: bool,
    /// When a quarter of the trial was over, and the units run until then.
    warm: Option<(Instant, usize)>,
}

impl Trial {
    pub fn new(alone: Option<Duration>, eager: bool) -> Trial {
        Trial {
            start: Instant::now(),
            alone,
            eager,
            warm: None,
        }
    }

    /// Whether the trial is over, and lost.
    pub fn fails(&mut self, units: usize) -> bool {
        if self.eager {
            return units >= EAGER_UNITS;
        }
        let Some(alone) = self.alone else {
            return false;
        };
        match self.warm {
            None if self.start.elapsed() > TRIAL / 4 => {
                self.warm = Some((Instant::now(), units));
                false
            }
            Some((since, before)) if self.start.elapsed() > TRIAL => {
                self.alone = None;
                let worth = alone.mul_f64((units - before) as f64 * WORTH_SHARING);
                since.elapsed() > worth
            }
            _ => false,
        }
    }
}
