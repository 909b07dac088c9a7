//! Links: the prefixes of units, joined in order from their sums.

use super::{Board, Sum, WorkUnit};
use crate::runtime::sync::{AtomicUsize, Mutex, Ordering, lock};
use loop_lang::ir::GroupId;
use std::collections::BTreeMap;

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
    /// The words at the beginnings of units after the join, for their threads, and those at the ends
    /// if these limit arrays.
    joined: BTreeMap<usize, (Vec<u64>, Vec<u64>)>,
}

/// A unit's sum of one level.
struct LinkSum {
    /// The words at its end, where groups began as identities.
    words: Vec<u64>,
    /// These groups' values, and whether each is joined onto its prefix.
    values: Vec<(Vec<u64>, bool)>,
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
        last.is_none_or(|c| c.at.load(Ordering::Acquire) == k)
    }

    /// Records the words at a unit's end as its sum of the next level.
    pub fn offer(&self, unit: &mut WorkUnit, end: &[u64]) {
        let (kernel, begin) = (self.kernel, &unit.words);
        let value = |id: &GroupId| {
            let is_joined = self.shape.is_joined(kernel, *id, begin, end);
            (self.shape.value(kernel, *id, end), is_joined)
        };
        let sum = LinkSum {
            words: end.to_vec(),
            values: self.shape.levels[unit.level].1.iter().map(value).collect(),
        };
        let Some(chain) = self.chains.get(unit.level) else {
            return;
        };
        let mut links = lock(&chain.links);
        links.sums.insert(unit.k, sum);
        let at = chain.at.load(Ordering::Acquire);
        self.link(unit.level, chain, &mut links, at);
        unit.sum = Sum::Offered;
    }

    /// Returns the values of a level's groups.
    fn values(&self, level: usize, words: &[u64]) -> Vec<Vec<u64>> {
        let ids = self.shape.levels[level].1.iter();
        ids.map(|id| self.shape.value(self.kernel, *id, words))
            .collect()
    }

    /// Joins consecutive sums from unit `at` onto the words before them.
    ///
    /// The level's progress becomes visible only after all of these are joined.
    fn link(&self, level: usize, chain: &Chain, links: &mut Links, mut at: usize) {
        while let Some(sum) = links.sums.remove(&at) {
            let end = self.joined(level, links, sum);
            let limit = match self.shape.limited.is_empty() {
                true => Vec::new(),
                false => end.clone(),
            };
            let start = std::mem::replace(&mut links.words, end);
            links.joined.insert(at, (start, limit));
            at += 1;
        }
        chain.at.store(at, Ordering::Release);
    }

    /// Joins a unit's sum onto the words before it.
    fn joined(&self, level: usize, links: &mut Links, sum: LinkSum) -> Vec<u64> {
        let mut end = sum.words;
        let ids = self.shape.levels[level].1.iter();
        for ((id, value), (sum, is_joined)) in ids.zip(&mut links.values).zip(sum.values) {
            match is_joined {
                true => {
                    self.shape.plan.join_onto(*id, value, &sum);
                    self.shape.set(self.kernel, *id, &mut end, value);
                }
                false => *value = sum,
            }
        }
        end
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
