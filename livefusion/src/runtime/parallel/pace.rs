//! Pace: the time of chunks, alone and together, and decisions from it.

use super::SPAN;
use crate::runtime::sync::Instant;
use std::time::Duration;

/// Helpers are called if the rest of a loop is expected to take longer.
const WORTH_CALLING: Duration = Duration::from_micros(250);
/// Approximate time of a unit of several chunks.
const UNIT: Duration = Duration::from_micros(50);
/// The trial time of a team. It is judged by the units of the last three quarters.
const TRIAL: Duration = Duration::from_millis(1);
/// The team must take less than this fraction of the caller's time alone.
const WORTH_SHARING: f64 = 0.97;
/// An eager engine's team loses its trial after this many units.
const EAGER_UNITS: usize = 25;

/// Records the time of chunks.
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

    /// Estimates the time of some steps on one thread.
    pub fn alone(&self, steps: u64) -> Option<Duration> {
        let each = self.each()?;
        Some(each.mul_f64(steps as f64 / self.chunk as f64))
    }

    /// Returns the chunks that fit a time.
    fn fitting(&self, time: Duration) -> u64 {
        let each = self.each().unwrap_or(time).as_nanos().max(1);
        (time.as_nanos() / each).clamp(1, 1 << 20) as u64
    }

    /// Estimates the remaining time. An unknown rest is assumed to take as long again as the part
    /// that ran.
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

    /// Returns the steps of a unit.
    ///
    /// A unit is worth taking, and there are several for each thread.
    pub fn unit(&self, left: Option<u64>, threads: u64) -> u64 {
        let share = left.map_or(1, |l| l / self.chunk / (4 * threads));
        self.fitting(UNIT).min(share).max(1) * self.chunk
    }
}

/// Judges whether a team is faster than the caller alone.
///
/// It may not be if memory bandwidth is the limit, or if one thread must find the beginnings of all
/// units.
pub struct Trial {
    start: Instant,
    /// The time of a unit alone, or none after the verdict.
    alone: Option<Duration>,
    /// Whether the team loses after some units, for tests.
    eager: bool,
    /// The end of the first quarter, and the units run until then.
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

    /// Tells whether the trial is over and lost.
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
