//! Schedules that are drawn at random, all of them legal.

use crate::rng::Rng;
use livefusion_tile::region::{Region, Step};
use livefusion_tile::schedule::{Admit, Decision, Role, Schedule, legal, roles};
use loop_lang::Loop;
use loop_lang::ir::RateId;
use loop_lang::state::Layout;
use std::collections::BTreeMap;

/// How often each decision, and each pair of decisions in one sweep, was taken.
#[derive(Default, Debug)]
pub struct Drawn {
    /// By name, or by both names.
    pub counts: BTreeMap<String, u64>,
    /// How many decisions the judge refused, by its rule.
    pub refused: BTreeMap<&'static str, u64>,
}

impl Drawn {
    fn count(&mut self, name: String) {
        *self.counts.entry(name).or_insert(0) += 1;
    }
}

/// What a decision is counted as.
fn name(d: &Decision) -> String {
    match d {
        Decision::Vectorise { lanes, .. } => format!("vectorise {lanes}"),
        Decision::Admit(how) => how.name().to_string(),
    }
}

/// A legal schedule of a loop: each decision is proposed, and stays if the judge lets it.
///
/// # Panics
/// The loop is one that no compiler takes.
pub fn draw(program: &Loop, rng: &mut Rng, drawn: &mut Drawn) -> Schedule {
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    let mut schedule = Schedule::new();
    for sweep in region.sweeps() {
        let subs: Vec<RateId> = (sweep.steps.iter())
            .filter_map(|step| match step {
                Step::Enter(i) => region.rate_of_block(*i),
                _ => None,
            })
            .collect();
        let mut propose = |schedule: &mut Schedule, rate, decision| {
            let with = schedule.clone().with(rate, decision);
            match legal(&region, &with) {
                Ok(()) => {
                    *schedule = with;
                    true
                }
                Err(refused) => {
                    for r in refused {
                        *drawn.refused.entry(r.rule).or_insert(0) += 1;
                    }
                    false
                }
            }
        };
        // Vectors often want what they write at a count packed: so that is proposed with them.
        let lanes = 1 << (1 + rng.below(4));
        let most = roles(&region, sweep).into_values().filter_map(|r| match r {
            Role::Lanes(lanes) => Some(lanes),
            _ => None,
        });
        let turn = most.max().unwrap_or(1).max(lanes << rng.below(3));
        let vectorise = Decision::Vectorise {
            lanes,
            unroll: (turn / lanes).max(1),
        };
        let mut whole = schedule.clone();
        for sub in &subs {
            let how = match rng.below(4) {
                0 => Admit::Branch,
                1 => Admit::Mask,
                _ => Admit::Compact,
            };
            propose(&mut whole, *sub, Decision::Admit(how));
        }
        if rng.chance(80) && propose(&mut whole, sweep.rate, vectorise) {
            schedule = whole;
        } else {
            for sub in subs {
                let how = Admit::ALL[rng.below(3)];
                propose(&mut schedule, sub, Decision::Admit(how));
            }
        }
    }
    let names: Vec<String> = schedule.decisions().iter().map(|(_, d)| name(d)).collect();
    for (i, first) in names.iter().enumerate() {
        drawn.count(first.clone());
        for second in &names[i + 1..] {
            let (a, b) = (first.min(second), first.max(second));
            drawn.count(format!("{a}, {b}"));
        }
    }
    schedule
}
