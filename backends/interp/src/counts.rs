//! Counting mode: counts element accesses and operator evaluations.

use loop_lang::op::Op;
use std::collections::BTreeMap;

/// Lists the events that a counter counts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Counted {
    /// Elements read from an array variable.
    Read(String),
    /// Elements written to an array variable.
    Write(String),
    /// Evaluations of an operator, by the combinator that needs it.
    Op(String, Op),
    /// Steps of a rate.
    Step(String),
}

/// Holds the totals over all runs of a counting kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Elements read, by array variable.
    pub reads: BTreeMap<String, u64>,
    /// Elements written, by array variable.
    pub writes: BTreeMap<String, u64>,
    /// Evaluations, by combinator and operator. A scan counts its combine operator once per
    /// element.
    pub ops: BTreeMap<(String, Op), u64>,
    /// Steps, by loop rate.
    pub steps: BTreeMap<String, u64>,
}

impl Counts {
    /// Adds the counters of one run.
    pub(crate) fn add(&mut self, counters: &[Counted], values: &[u64]) {
        for (what, n) in counters.iter().zip(values) {
            let sum = match what.clone() {
                Counted::Read(a) => self.reads.entry(a),
                Counted::Write(a) => self.writes.entry(a),
                Counted::Step(r) => self.steps.entry(r),
                Counted::Op(c, op) => {
                    *self.ops.entry((c, op)).or_default() += n;
                    continue;
                }
            };
            *sum.or_default() += n;
        }
    }

    /// Returns the evaluations of an operator by all combinators.
    pub fn op(&self, op: Op) -> u64 {
        self.ops
            .iter()
            .filter(|((_, o), _)| *o == op)
            .map(|(_, n)| n)
            .sum()
    }
}
