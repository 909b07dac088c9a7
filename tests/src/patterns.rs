//! Usage patterns of arrays: rates and uses, counted from a program's steps.
//!
//! A pattern is a producer's rate, its depth, and a use. The depth is the number of rate changes
//! between memory and the array, from 1 to 3 or more. An array in memory has no rate change, so
//! roots have depth 1 only. All other patterns are possible.

use crate::check::Ran;
use crate::program::{Length, Program, Step, Term};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// Lists rates of array elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Rate {
    /// The length of an array in memory, or a known length.
    Root,
    /// Some elements of another array.
    Sub,
    /// The elements of segments.
    Nested,
    /// One element per segment.
    Segment,
    /// A zip of streams with different rates, each advanced on demand.
    Cursor,
    /// The elements of several arrays in order.
    Appended,
    /// A computed length, or a zip of arrays with different rates, some of them in memory.
    Fresh,
}

impl Rate {
    /// Lists all rates.
    pub const ALL: [Rate; 7] = [
        Rate::Root,
        Rate::Sub,
        Rate::Nested,
        Rate::Segment,
        Rate::Cursor,
        Rate::Appended,
        Rate::Fresh,
    ];
}

/// Lists uses of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Use {
    /// Elementwise, only with arrays of its class.
    InStep,
    /// Filtered.
    Kept,
    /// Folded.
    Folded,
    /// Its length is used.
    Counted,
    /// Scanned.
    Scanned,
    /// Cut into segments whose lengths cut nothing else.
    CutAlone,
    /// Cut into segments like other arrays.
    CutShared,
    /// Cut by two descriptors.
    CutByTwo,
    /// Traversed twice per segment: the result of a segment's fold is used at its elements.
    Twice,
    /// Its elements are the lengths of segments.
    Describes,
    /// Each element is broadcast over a segment.
    Spread,
    /// Read at an index.
    AtRandom,
    /// Zipped with arrays of other rates.
    Beside,
    /// Zipped with an array of another length, which is an error. A program has one error, so it
    /// counts for any depth.
    Misfit,
    /// Consumed up to some element.
    ExitedEarly,
    /// Consumed up to a given number.
    Taken,
    /// A part of an append.
    Appended,
    /// Scattered, or the indices of a scatter.
    Scattered,
    /// The base of a scatter.
    ScatteredInto,
    /// A result, with a later result that needs it.
    ForcedFirst,
    /// A result, with an earlier result that needs it.
    ForcedLast,
}

impl Use {
    /// Lists all uses.
    pub const ALL: [Use; 21] = [
        Use::InStep,
        Use::Kept,
        Use::Folded,
        Use::Counted,
        Use::Scanned,
        Use::CutAlone,
        Use::CutShared,
        Use::CutByTwo,
        Use::Twice,
        Use::Describes,
        Use::Spread,
        Use::AtRandom,
        Use::Beside,
        Use::Misfit,
        Use::ExitedEarly,
        Use::Taken,
        Use::Appended,
        Use::Scattered,
        Use::ScatteredInto,
        Use::ForcedFirst,
        Use::ForcedLast,
    ];
}

/// Describes the array of a step, or the array behind a scalar.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Producer {
    /// Its rate.
    pub rate: Rate,
    /// Arrays of one class are known to be equally long.
    pub class: usize,
    /// The number of rate changes between memory and it.
    pub changes: usize,
}

impl Producer {
    /// Returns the depth, from 1 to 3.
    pub fn depth(&self) -> usize {
        self.changes.clamp(1, 3)
    }
}

/// The origin of a class.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Class {
    Long(usize),
    Some(usize, usize),
    Nested(usize, usize),
    Own(usize),
}

/// Infers the producer of each step.
///
/// `on_demand` tells whether a zip of different rates advances its inputs on demand.
pub fn infer(program: &Program, on_demand: impl Fn(usize) -> bool) -> Vec<Producer> {
    let mut all: Vec<Producer> = vec![];
    let mut classes: HashMap<Class, usize> = HashMap::new();
    for (at, step) in program.steps.iter().enumerate() {
        let of = |i: &usize| all[*i];
        let deepest = step.links().iter().map(|l| all[*l].changes).max();
        let deepest = deepest.unwrap_or(0);
        let (rate, class, changes) = match step {
            Step::Data(columns) => (Rate::Root, Class::Long(columns[0].1.len()), 0),
            Step::Part(..) => (Rate::Fresh, Class::Own(at), 0),
            Step::Generate(Length::Known(n), _) => (Rate::Root, Class::Long(*n as usize), 0),
            Step::Generate(..) => (Rate::Fresh, Class::Own(at), deepest.max(1)),
            Step::Map(inputs, _)
            | Step::Zip(inputs)
            | Step::ZipShortest(inputs)
            | Step::Merge(inputs, _) => {
                let first = of(&inputs[0]);
                let apart = matches!(step, Step::ZipShortest(_) | Step::Merge(..));
                if !apart && inputs.iter().all(|i| of(i).class == first.class) {
                    let most = inputs.iter().map(of).max_by_key(|p| (p.rate, p.changes));
                    let rate = most.map_or(first.rate, |p| p.rate);
                    all.push(Producer {
                        rate,
                        changes: inputs.iter().map(|i| of(i).changes).max().unwrap_or(0),
                        ..first
                    });
                    continue;
                }
                let rate = if on_demand(at) {
                    Rate::Cursor
                } else {
                    Rate::Fresh
                };
                let changes = inputs.iter().map(|i| of(i).changes).max();
                (rate, Class::Own(at), changes.unwrap_or(0).max(1))
            }
            Step::Fields(i, _)
            | Step::Scan(i, ..)
            | Step::Scatter(i, ..)
            | Step::ScanByIndex(_, i, ..) => {
                all.push(of(i));
                continue;
            }
            Step::Filter(i, _) | Step::TakeWhile(i, ..) | Step::Take(i, _) => {
                (Rate::Sub, Class::Some(of(i).class, at), of(i).changes + 1)
            }
            Step::Pack(i, tags) => {
                let class = Class::Some(of(i).class, *tags);
                (Rate::Sub, class, of(i).changes.max(of(tags).changes) + 1)
            }
            Step::Append(_) => (Rate::Appended, Class::Own(at), deepest + 1),
            Step::Expand(l, ..) => (Rate::Nested, Class::Nested(of(l).class, *l), deepest + 1),
            Step::ScanS(l, ..) | Step::SortS(l, ..) | Step::MoveS(l, ..) => {
                (Rate::Nested, Class::Nested(of(l).class, *l), deepest + 1)
            }
            Step::FoldS(l, ..) | Step::CountS(l, _) => {
                all.push(Producer {
                    rate: Rate::Segment,
                    class: of(l).class,
                    changes: deepest + 1,
                });
                continue;
            }
            Step::Constant(_)
            | Step::Fold(..)
            | Step::ScanTotal(_)
            | Step::Compute(_)
            | Step::Len(_) => (Rate::Fresh, Class::Own(at), deepest),
        };
        let next = classes.len();
        let class = *classes.entry(class).or_insert(next);
        all.push(Producer {
            rate,
            class,
            changes,
        });
    }
    all
}

/// A use of an array and its step; `None` if the array itself is forced.
type Used = (Use, Option<usize>);

/// Counts patterns.
#[derive(Default, Debug)]
pub struct Patterns {
    single: BTreeMap<(Rate, usize, Use), usize>,
    /// Pairs of uses of one array, in the order in which their results are forced.
    pairs: BTreeMap<(Rate, Use, Use), usize>,
}

impl Patterns {
    /// Counts a program's patterns.
    pub fn add(&mut self, program: &Program, ran: &Ran) {
        let producers = infer(program, |step| ran.is_on_demand(program, step));
        let forced = first_forced(program);
        let misfit = ran.misfit(program);
        for (at, step) in program.steps.iter().enumerate() {
            if forced[at].is_none() || !step.is_array() {
                continue;
            }
            let p = producers[at];
            let mut used = uses(program, &producers, &forced, at);
            let apart = misfit.filter(|step| program.steps[*step].inputs().contains(&at));
            used.extend(apart.map(|step| (Use::Misfit, Some(step))));
            let once: BTreeSet<Use> = used.iter().map(|u| u.0).collect();
            for u in once {
                let depth = if u == Use::Misfit { 1 } else { p.depth() };
                *self.single.entry((p.rate, depth, u)).or_default() += 1;
            }
            let mut pairs = BTreeSet::new();
            for (a, by) in &used {
                for (b, other) in used.iter().filter(|u| u.1 != *by) {
                    let when = |by: &Option<usize>| match by {
                        Some(step) => forced[*step],
                        None => program.roots.iter().position(|r| *r == at),
                    };
                    if when(by) < when(other) {
                        pairs.insert((*a, *b));
                    }
                }
            }
            for (a, b) in pairs {
                *self.pairs.entry((p.rate, a, b)).or_default() += 1;
            }
        }
    }

    /// Returns patterns that never occurred.
    pub fn missing(&self) -> Vec<String> {
        let mut out = vec![];
        for rate in Rate::ALL {
            let depths = if rate == Rate::Root { 1..=1 } else { 1..=3 };
            for depth in depths {
                for u in Use::ALL {
                    if u == Use::Misfit && depth > 1 {
                        continue;
                    }
                    if !self.single.contains_key(&(rate, depth, u)) {
                        out.push(format!("{rate:?} at depth {depth}: {u:?}"));
                    }
                }
            }
        }
        out
    }
}

/// A line for each rate and depth with counts, then the missing patterns.
impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rate in Rate::ALL {
            for depth in 1..=3 {
                let counts = Use::ALL.iter().filter_map(|u| {
                    let n = self.single.get(&(rate, depth, *u))?;
                    Some(format!("{u:?} {n}"))
                });
                let counts: Vec<String> = counts.collect();
                if !counts.is_empty() {
                    writeln!(f, "{rate:?} at depth {depth}: {}", counts.join(", "))?;
                }
            }
        }
        let all = Rate::ALL.len() * Use::ALL.len() * Use::ALL.len();
        writeln!(
            f,
            "{} of {all} pairs of uses in some order; never: {:?}",
            self.pairs.len(),
            self.missing()
        )
    }
}

/// For each step, the first result that needs it.
fn first_forced(program: &Program) -> Vec<Option<usize>> {
    let mut first = vec![None; program.steps.len()];
    for (k, root) in program.roots.iter().enumerate().rev() {
        let mut stack = vec![*root];
        while let Some(step) = stack.pop() {
            if first[step] != Some(k) {
                first[step] = Some(k);
                stack.extend(program.steps[step].links());
            }
        }
    }
    first
}

/// Whether a step depends on another.
fn needs(program: &Program, step: usize, other: usize) -> bool {
    let links = program.steps[step].links();
    links.contains(&other)
        || links
            .iter()
            .any(|l| *l > other && needs(program, *l, other))
}

fn uses(
    program: &Program,
    producers: &[Producer],
    forced: &[Option<usize>],
    array: usize,
) -> Vec<Used> {
    let mut out: Vec<Used> = vec![];
    let mut cut_by: BTreeSet<usize> = BTreeSet::new();
    let live = |at: &usize| forced[*at].is_some();
    for at in (array + 1..program.steps.len()).filter(live) {
        let step = &program.steps[at];
        let mut add = |u: Use| out.push((u, Some(at)));
        let inputs = step.inputs();
        match step {
            Step::Map(..)
            | Step::Zip(_)
            | Step::ZipShortest(_)
            | Step::Merge(..)
            | Step::Fields(..)
                if inputs.contains(&array) =>
            {
                let class = producers[array].class;
                let apart = matches!(step, Step::ZipShortest(_) | Step::Merge(..));
                let alike = !apart && inputs.iter().all(|i| producers[*i].class == class);
                add(if alike { Use::InStep } else { Use::Beside });
            }
            Step::Filter(..) | Step::Pack(..) if inputs.contains(&array) => add(Use::Kept),
            Step::Fold(i, _) if *i == array => add(Use::Folded),
            Step::ScanTotal(_) if inputs.contains(&array) => add(Use::Folded),
            Step::Len(i) if *i == array => add(Use::Counted),
            Step::Scan(i, ..) if *i == array => add(Use::Scanned),
            Step::TakeWhile(i, ..) if *i == array => add(Use::ExitedEarly),
            Step::Take(i, _) if *i == array => add(Use::Taken),
            Step::Append(parts) if parts.contains(&array) => add(Use::Appended),
            Step::Expand(_, values, _) if values.contains(&array) => add(Use::Spread),
            Step::Scatter(base, i, v, _) | Step::ScanByIndex(base, i, v, ..) => {
                if [i, v].contains(&&array) {
                    add(Use::Scattered);
                }
                if *base == array {
                    add(Use::ScatteredInto);
                }
            }
            _ => {}
        }
        if let Some((lengths, data)) = step.cut() {
            if lengths == array {
                add(Use::Describes);
            }
            if data == Some(array) {
                let others = (0..program.steps.len()).filter(live).any(|s| {
                    program.steps[s]
                        .cut()
                        .is_some_and(|(l, d)| l == lengths && d != data)
                });
                add(if others {
                    Use::CutShared
                } else {
                    Use::CutAlone
                });
                cut_by.insert(lengths);
                if cut_by.len() == 2 {
                    add(Use::CutByTwo);
                }
            }
        }
        if passes_twice(program, at, array) {
            add(Use::Twice);
        }
        let bodies = step.bodies().into_iter();
        if bodies
            .flat_map(|b| &b.terms)
            .any(|t| matches!(t, Term::At(s, ..) if *s == array))
        {
            add(Use::AtRandom);
        }
    }
    if let Some(mine) = program.roots.iter().position(|r| *r == array) {
        for (k, root) in program.roots.iter().enumerate() {
            if needs(program, *root, array) {
                let u = if mine < k {
                    Use::ForcedFirst
                } else {
                    Use::ForcedLast
                };
                out.push((u, None));
            }
        }
    }
    out
}

/// Whether a step joins an array with folds of its segments.
fn passes_twice(program: &Program, at: usize, array: usize) -> bool {
    let (Step::Map(inputs, _) | Step::Zip(inputs)) = &program.steps[at] else {
        return false;
    };
    let folded = |v: &usize, lengths: usize| match program.steps[*v].cut() {
        Some((l, data)) => l == lengths && data == Some(array),
        None => false,
    };
    inputs.contains(&array)
        && inputs.iter().any(|i| match &program.steps[*i] {
            Step::Expand(l, values, _) => values.iter().any(|v| folded(v, *l)),
            _ => false,
        })
}
