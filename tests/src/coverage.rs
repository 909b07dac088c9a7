//! Pairs of combinators that shared a loop.

use crate::check::Ran;
use crate::program::{Length, Program, Step, Style};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the kind of a step, as far as lowering distinguishes it.
pub fn kind(step: &Step) -> &'static str {
    match step {
        Step::Generate(Length::Delayed(_), _) => "generate of delayed length",
        Step::Generate(Length::Checked(_), _) => "slice",
        Step::Fold(_, f) => match f.style {
            Style::Associative => "fold",
            Style::First => "fold1",
            Style::Sequential => "fold_seq",
            Style::Aggregate(_) => "aggregate",
        },
        Step::Scan(_, f, _) if matches!(f.style, Style::Sequential) => "scan_seq",
        Step::Scatter(.., Some(_)) => "scatter with",
        _ => step.name(),
    }
}

/// Lists the kinds that run in loops.
///
/// `fields` is missing, because it only renames its input.
pub const KINDS: &[&str] = &[
    "manifest",
    "generate",
    "generate of delayed length",
    "slice",
    "map",
    "zip",
    "zip_shortest",
    "merge",
    "filter",
    "pack",
    "fold",
    "fold1",
    "fold_seq",
    "aggregate",
    "scan",
    "scan_seq",
    "scan total",
    "scatter",
    "scatter with",
    "compute",
    "len",
    "expand",
    "fold_s",
    "scan_s",
    "count_s",
    "take_while",
    "take",
];

/// Counts loops by pair of kinds.
#[derive(Default, Debug)]
pub struct Coverage {
    /// The number of loops with both kinds.
    pub pairs: BTreeMap<(&'static str, &'static str), usize>,
}

impl Coverage {
    /// Counts a run's loops.
    pub fn add(&mut self, program: &Program, ran: &Ran) {
        for (at, l) in ran.explanation.loops.iter().enumerate() {
            let mut here: BTreeMap<&str, usize> = BTreeMap::new();
            for node in &l.nodes {
                let Some(i) = ran.graph.nodes.iter().position(|n| n.name == node.name) else {
                    continue;
                };
                if ran.places.get(&i).is_some_and(|p| p.0 == at) {
                    *here.entry(kind(&program.steps[i])).or_default() += 1;
                }
            }
            for (a, n) in &here {
                for (b, _) in here.iter().filter(|(b, _)| *a < **b || (a == *b && *n > 1)) {
                    let of = |k: &str| KINDS.iter().find(|x| **x == k).copied();
                    if let (Some(a), Some(b)) = (of(a), of(b)) {
                        *self.pairs.entry((a, b)).or_default() += 1;
                    }
                }
            }
        }
    }

    /// Returns pairs that no loop had.
    pub fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let sorted: BTreeSet<&'static str> = KINDS.iter().copied().collect();
        let pairs = sorted
            .iter()
            .flat_map(|a| sorted.iter().map(move |b| (*a, *b)));
        pairs
            .filter(|(a, b)| a <= b && !self.pairs.contains_key(&(*a, *b)))
            .collect()
    }
}
