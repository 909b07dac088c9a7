//! Timing of contenders in rounds.
//!
//! Each runs once per round, in an order shuffled anew. So disturbances of the machine affect all
//! of them alike.

use crate::data::Random;
use std::time::{Duration, Instant};

/// Distinguishes the kinds of contenders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// livefusion on a backend.
    Ours(&'static str),
    /// The kernels of such a call, without the rest of it.
    Alone(&'static str),
    /// livefusion on a backend, with new memory for the results of each call.
    Kept(&'static str),
    /// Hand-written C that writes to the same memory every time.
    C,
    /// The fastest of these once more. The distance between its two medians is the noise.
    Again,
    /// The fastest of these with new memory, in huge pages, for each call.
    Fresh,
    /// Hand-written Rust.
    Rust,
}

/// Describes a contender for a job.
pub struct Contender<'a> {
    /// The name.
    pub name: String,
    /// The kind.
    pub role: Role,
    /// Whether its threads keep polling for work for a while.
    pub parallel: bool,
    /// Does the job once.
    pub run: Box<dyn FnMut() + 'a>,
}

/// Holds the samples of a contender, in nanoseconds per run.
///
/// There is one sample per round.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The name.
    pub name: String,
    /// The kind.
    pub role: Role,
    /// The samples.
    pub samples: Vec<f64>,
}

impl Timing {
    /// Returns the median of the samples.
    pub fn median(&self) -> f64 {
        median(&self.samples)
    }
}

/// Returns the median.
///
/// It is NaN for no samples.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Limits the time of measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The least and the most rounds.
    pub rounds: (usize, usize),
    /// The time after which only the least rounds run.
    pub budget: Duration,
    /// The least time of a sample, reached by repetition.
    pub sample: Duration,
}

impl Effort {
    /// Measures thoroughly, for published figures.
    pub const FULL: Effort = Effort {
        rounds: (9, 61),
        budget: Duration::from_millis(2500),
        sample: Duration::from_micros(150),
    };
    /// Measures quickly.
    pub const QUICK: Effort = Effort {
        rounds: (5, 21),
        budget: Duration::from_millis(250),
        sample: Duration::from_micros(50),
    };
}

/// The number of rounds after which hopeless contenders drop out.
const TRIAL: usize = 3;

/// The time that idle threads poll for work before they sleep.
const SETTLING: Duration = Duration::from_millis(4);

/// Times a run of a contender once.
///
/// A warm-up run precedes it.
pub fn once(contender: &mut Contender<'_>) -> Duration {
    (contender.run)();
    sample(contender, 1)
}

fn sample(contender: &mut Contender<'_>, repetitions: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..repetitions {
        (contender.run)();
    }
    start.elapsed()
}

/// Runs all contenders in rounds.
pub fn rounds(contenders: &mut [Contender<'_>], effort: Effort) -> Vec<Timing> {
    let mut repetitions = Vec::new();
    for c in contenders.iter_mut() {
        let one = once(c).max(Duration::from_nanos(20));
        let times = effort.sample.as_nanos().div_ceil(one.as_nanos());
        repetitions.push(times.clamp(1, 100_000) as u32);
        settle(c);
    }
    let of = |c: &Contender<'_>| Timing {
        name: c.name.clone(),
        role: c.role.clone(),
        samples: Vec::new(),
    };
    let mut timings: Vec<Timing> = contenders.iter().map(of).collect();
    let mut running: Vec<usize> = (0..contenders.len()).collect();
    let (mut random, start) = (Random::new(1), Instant::now());
    for round in 0..effort.rounds.1 {
        if round >= effort.rounds.0 && start.elapsed() > effort.budget {
            break;
        }
        if round == TRIAL {
            running.retain(|k| !is_hopeless(&timings[*k], &timings));
        }
        shuffle(&mut running, &mut random);
        for &k in &running {
            let (contender, times) = (&mut contenders[k], repetitions[k]);
            if times > 1 {
                (contender.run)();
            }
            let spent = sample(contender, times);
            let nanoseconds = spent.as_nanos() as f64 / f64::from(times);
            timings[k].samples.push(nanoseconds);
            settle(contender);
        }
    }
    timings
}

fn settle(contender: &Contender<'_>) {
    if contender.parallel {
        std::thread::sleep(SETTLING);
    }
}

fn shuffle(order: &mut [usize], random: &mut Random) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
}

/// Slow C cannot become the best, and three samples suffice for slow Rust.
fn is_hopeless(timing: &Timing, all: &[Timing]) -> bool {
    let best = best_c(all).map_or(f64::INFINITY, Timing::median);
    let least = timing.samples.iter().copied().fold(f64::INFINITY, f64::min);
    match timing.role {
        Role::Ours(_) | Role::Alone(_) | Role::Kept(_) | Role::Again | Role::Fresh => false,
        Role::C => least > 1.25 * best,
        Role::Rust => least > 3.0 * best,
    }
}

/// Returns the fastest C.
pub fn best_c(all: &[Timing]) -> Option<&Timing> {
    let c = all.iter().filter(|t| t.role == Role::C);
    c.min_by(|a, b| a.median().total_cmp(&b.median()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn every_contender_runs_in_every_round_but_hopeless_ones() {
        let pause = |micros| Box::new(move || std::thread::sleep(Duration::from_micros(micros)));
        let contender = |name: &str, role, run| Contender {
            name: name.to_string(),
            role,
            parallel: false,
            run,
        };
        let mut all = [
            contender("ours", Role::Ours("c"), pause(3000) as Box<dyn FnMut()>),
            contender("good", Role::C, pause(100)),
            contender("bad", Role::C, pause(3000)),
        ];
        let timings = rounds(
            &mut all,
            Effort {
                rounds: (5, 5),
                ..Effort::QUICK
            },
        );
        let counts: Vec<usize> = timings.iter().map(|t| t.samples.len()).collect();
        assert_eq!(counts, [5, 5, TRIAL]);
        assert_eq!(best_c(&timings).map(|t| t.name.as_str()), Some("good"));
    }
}
