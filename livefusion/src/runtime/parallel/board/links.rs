//! Links: the prefixes of units, joined in order from their sums.

use super::super::survey::UnitGrowth;
use super::{Board, Sum, WorkUnit};
use crate::runtime::sync::{AtomicUsize, Mutex, Ordering, lock};
use livefusion_backend::{Frame, Outcome};
use std::collections::BTreeMap;

/// How many times fewer iterations a unit has, after one that was too long.
const SHORTER: u64 = 16;

/// Holds the prefix of one level, up to the beginning of unit `at`.
pub struct Chain {
    at: AtomicUsize,
    links: Mutex<Links>,
}

struct Links {
    /// The words there, with all groups of this level and the levels below.
    words: Vec<u64>,
    /// The values of this level's groups there.
    values: Vec<Vec<u64>>,
    /// Sums of later units.
    sums: BTreeMap<usize, LinkSum>,
    /// The words at the beginnings and ends of units after the join, for their threads.
    joined: BTreeMap<usize, (Vec<u64>, Vec<u64>)>,
}

/// A unit's sum of one level.
enum LinkSum {
    /// The words at its end, where groups began as identities, and these groups' values.
    Words(Vec<u64>, Vec<Vec<u64>>),
    /// The count of a survey.
    Growth(UnitGrowth),
    /// The common work ends before this unit: it traps, or has too many steps.
    Ends { too_long: bool, stride: u64 },
}

impl Chain {
    /// Creates a chain that knows the prefix of the first unit.
    ///
    /// It has the words and the values of its groups.
    pub fn new(words: &[u64], values: Vec<Vec<u64>>) -> Chain {
        Chain {
            at: AtomicUsize::new(0),
            links: Mutex::new(Links {
                words: words.to_vec(),
                values,
                sums: BTreeMap::new(),
                joined: BTreeMap::new(),
            }),
        }
    }
}

impl Board<'_> {
    /// Returns the words at the end of the known prefix.
    pub fn known(&self) -> Option<Vec<u64>> {
        self.chains.last().map(|c| lock(&c.links).words.clone())
    }

    /// Tells whether all units before `k` have ended.
    ///
    /// It may then run from the words at their end.
    pub fn all_known(&self, k: usize) -> bool {
        let last = self.chains.last();
        self.survey().is_none() && last.is_none_or(|c| c.at.load(Ordering::Acquire) == k)
    }

    /// Records the words at a unit's end as its sum of the next level.
    pub fn offer(&self, unit: &mut WorkUnit, end: &[u64]) {
        let values = self.values(unit.level, end);
        self.add(unit, LinkSum::Words(end.to_vec(), values));
    }

    /// Counts the iterations of a unit, and records the count.
    ///
    /// Returns false if there is no survey.
    pub fn count(&self, unit: &mut WorkUnit, frame: &mut Frame<'_>) -> bool {
        let Some(survey) = self.survey() else {
            return false;
        };
        let (of, most) = (self.of_loop(), self.longest);
        let stride = unit.stretch.to - unit.stretch.from;
        match survey.count(of, &self.base, unit.stretch, most, frame) {
            Ok(count) => {
                unit.steps = count.steps;
                let better =
                    u128::from(stride) * u128::from(self.unit) / u128::from(count.steps.max(1));
                let better = u64::try_from(better).unwrap_or(u64::MAX);
                lock(&self.claims).stride = better.clamp(1, stride.saturating_mul(SHORTER));
                self.add(unit, LinkSum::Growth(count));
            }
            Err(outcome) => {
                let too_long = outcome == Outcome::Paused;
                self.add(unit, LinkSum::Ends { too_long, stride });
            }
        }
        true
    }

    /// Takes a frame with the words of a unit to the unit's beginning.
    ///
    /// Returns false if it cannot be reached.
    pub fn enter(&self, frame: &mut Frame<'_>) -> bool {
        match self.restart.zip(self.survey()) {
            Some((restart, survey)) => survey.enter(self.of_loop(), restart, frame),
            None => true,
        }
    }

    /// Returns the values of a level's groups.
    fn values(&self, level: usize, words: &[u64]) -> Vec<Vec<u64>> {
        let ids = self.shape.levels[level].1.iter();
        ids.map(|id| self.shape.value(self.kernel, *id, words))
            .collect()
    }

    fn add(&self, unit: &mut WorkUnit, sum: LinkSum) {
        let Some(chain) = self.chains.get(unit.level) else {
            return;
        };
        let mut links = lock(&chain.links);
        links.sums.insert(unit.k, sum);
        let at = chain.at.load(Ordering::Acquire);
        self.link(unit.level, chain, &mut links, at);
        unit.sum = Sum::Offered;
    }

    /// Joins consecutive sums from unit `at` onto the words before them.
    ///
    /// The level's progress becomes visible only after all of these are joined.
    fn link(&self, level: usize, chain: &Chain, links: &mut Links, mut at: usize) {
        while let Some(sum) = links.sums.remove(&at) {
            let Some(end) = self.joined(level, links, sum) else {
                self.over.fetch_min(at, Ordering::AcqRel);
                break;
            };
            let start = std::mem::replace(&mut links.words, end.clone());
            links.joined.insert(at, (start, end));
            at += 1;
        }
        chain.at.store(at, Ordering::Release);
    }

    /// Joins a unit's sum onto the words before it, unless the common work ends there.
    fn joined(&self, level: usize, links: &mut Links, sum: LinkSum) -> Option<Vec<u64>> {
        match sum {
            LinkSum::Words(mut end, sums) => {
                let ids = self.shape.levels[level].1.iter();
                for ((id, value), sum) in ids.zip(&mut links.values).zip(sums) {
                    let before = &links.words;
                    match self.shape.is_joined(self.kernel, *id, before, &end) {
                        true => {
                            self.shape.plan.join_onto(*id, value, &sum);
                            self.shape.set(self.kernel, *id, &mut end, value);
                        }
                        false => *value = sum,
                    }
                }
                Some(end)
            }
            LinkSum::Growth(count) => {
                let of = (&self.shape.plan.program, self.args);
                self.survey()?.join(of, &links.words, &count)
            }
            LinkSum::Ends { too_long, stride } => {
                let (too_long, shorter) = (too_long && stride == 1, u64::from(too_long));
                let shorter = shorter * (stride / SHORTER).max(u64::from(stride > 1));
                self.shorter.store(shorter, Ordering::Relaxed);
                self.too_long.store(too_long, Ordering::Relaxed);
                None
            }
        }
    }

    /// Raises a unit to its next level, if its sum was joined.
    pub fn lift(&self, unit: &mut WorkUnit) -> bool {
        let (Some(chain), Sum::Offered) = (self.chains.get(unit.level), &unit.sum) else {
            return false;
        };
        if chain.at.load(Ordering::Acquire) <= unit.k {
            return false;
        }
        let Some((start, end)) = lock(&chain.links).joined.remove(&unit.k) else {
            return false;
        };
        (unit.words, unit.end, unit.sum) = (start, end, Sum::Unknown);
        unit.level += 1;
        true
    }

    /// Publishes the words at the end of unit `k`, which ran from known words.
    pub fn publish(&self, k: usize, words: &[u64]) {
        for (level, chain) in self.chains.iter().enumerate() {
            if chain.at.load(Ordering::Acquire) == k {
                let values = self.values(level, words);
                let mut links = lock(&chain.links);
                links.words.copy_from_slice(words);
                links.values = values;
                self.link(level, chain, &mut links, k + 1);
            }
        }
    }
}
