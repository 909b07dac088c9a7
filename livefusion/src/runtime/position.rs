//! Positions of traps: the element at fault, and its row.
//!
//! A trap report names the loop rates around the trap. Two levels of rates are rows and their
//! elements. Where a loop passes over the elements of all rows at once, the node at fault relates
//! them to the rows of the user's closure.

use super::binding::Bindings;
use crate::ast::{Axis, BySegments, ElementRows, Kind, Len, Node, RowLevel, Value};
use crate::lower::Lowered;
use livefusion_backend::{Buffer, TrapNest, TrapReport};
use loop_lang::Loop;
use loop_lang::ir::{Place, RateId, RateKind, Section, StmtKind};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Locates a trap.
///
/// A part that is not known for certain is none.
#[derive(Default)]
pub struct TrapPosition {
    /// The row.
    pub row: Option<u64>,
    /// The element, within the row if that is known.
    pub element: Option<u64>,
}

/// Finds the position of a trap in its loop.
///
/// Code before and behind a loop belongs to no iteration. Loops of several phases, and streams of
/// different speeds, have no common position.
pub fn of(lowered: &Lowered, b: &Bindings<'_>, report: &TrapReport) -> TrapPosition {
    let program = &lowered.program;
    let is_cursor = |n: &TrapNest| matches!(program.rate(n.rate).kind, RateKind::Cursor { .. });
    let id = lowered.combs.get(report.comb.index());
    let (Some(id), false) = (id, report.nest.iter().any(is_cursor)) else {
        return TrapPosition::default();
    };
    if program.roots.len() != 1 {
        return TrapPosition::default();
    }
    let own = program.comb(report.comb).slot.map(|slot| slot.rate);
    let nest = Nest {
        lowered,
        b,
        report,
        own,
    };
    let node = b.nodes.get(*id);
    match node.rows.as_deref() {
        Some(rows) => nest.in_closure(rows).unwrap_or_default(),
        None => {
            let found = nest.outside(node);
            let element = |at: u64| at.checked_sub(nest.late_steps(node));
            let element = found.element.and_then(element);
            TrapPosition { element, ..found }
        }
    }
}

/// The rates around a trap.
struct Nest<'a> {
    lowered: &'a Lowered,
    b: &'a Bindings<'a>,
    report: &'a TrapReport,
    /// The rate of the node at fault. None if its elements are computed where others read them.
    own: Option<RateId>,
}

impl<'a> Nest<'a> {
    /// The position of a node that a closure on rows built.
    fn in_closure(&self, rows: &'a ElementRows) -> Option<TrapPosition> {
        let nest = &self.report.nest[..];
        let (own, first, last) = (self.own?, nest.first()?, nest.last()?);
        let is_flat = nest.len() == 1 && rows.level == RowLevel::Element;
        let (row, element) = match self.split(rows, own, last) {
            _ if rows.level == RowLevel::Inner => return None,
            Some((row, element)) => (row, Some(element)),
            // Among the elements of some rows, a position would be ambiguous.
            None if is_flat && rows.numbers.is_some() => return None,
            None if is_flat => {
                let element = Some(last.counter);
                return Some(TrapPosition { row: None, element });
            }
            None if self.count(rows) != Some(first.bound) => return None,
            None => {
                let is_element = nest.len() == 2 && rows.level == RowLevel::Element;
                let lengths = self.lengths_at_rate();
                let element = is_element.then(|| self.element(lengths.as_ref()));
                let late = self.late_in_rows(rows);
                (
                    first.counter,
                    element.flatten().and_then(|at| at.checked_sub(late)),
                )
            }
        };
        let row = match &rows.numbers {
            Some(numbers) => values(self.b, numbers)?.get_word(usize::try_from(row).ok()?)?,
            None => row,
        };
        Some(TrapPosition {
            row: Some(row),
            element,
        })
    }

    /// The row and the element of a counter that passes over the elements of all rows.
    fn split(&self, rows: &'a ElementRows, own: RateId, last: &TrapNest) -> Option<(u64, u64)> {
        if rows.level != RowLevel::Element || own != last.rate || self.restarts(own) {
            return None;
        }
        let lengths = RowLengths::of(self.b, &rows.lengths)?;
        let is_whole = self.report.nest.len() > 1 || lengths.make(last.bound);
        is_whole.then(|| lengths.split(last.counter))?
    }

    /// The number of rows, where it is known.
    fn count(&self, rows: &ElementRows) -> Option<u64> {
        match &rows.numbers {
            Some(numbers) => Some(values(self.b, numbers)?.len() as u64),
            None => count(self.b, &rows.lengths),
        }
    }

    /// The position of another node. The counter of rows counts those of all outer rates.
    fn outside(&self, node: &'a Node) -> TrapPosition {
        let is_chosen = |n: &&Node| n.rows.as_ref().is_some_and(|r| r.numbers.is_some());
        let mut nodes = self.lowered.combs.iter().map(|id| self.b.nodes.get(*id));
        if nodes.any(|n| is_chosen(&n)) {
            return TrapPosition::default();
        }
        let cuts = node.kind.facts().by_segments.cut();
        match &self.report.nest[..] {
            [] => TrapPosition::default(),
            [row] if cuts => TrapPosition {
                row: Some(row.counter),
                element: None,
            },
            [element] => TrapPosition {
                row: None,
                element: Some(element.counter),
            },
            _ if self.own.is_none() => TrapPosition::default(),
            [.., row, _] => {
                let is_first = self.report.nest.len() == 2;
                TrapPosition {
                    row: (is_first || !self.restarts(row.rate)).then_some(row.counter),
                    element: self.element(self.lengths_at_rate().as_ref()),
                }
            }
        }
    }

    /// The number of steps in each row before the first element, if this loop makes it late.
    fn late_in_rows(&self, rows: &ElementRows) -> u64 {
        let late = |n: &Node| n.rows.as_ref().map_or(0, |of| of.late);
        let begins = |n: &Node| late(n) == rows.late && n.inputs.iter().all(|n| late(n) == 0);
        let mut combs = self.lowered.combs.iter().map(|id| self.b.nodes.get(*id));
        if combs.any(begins) { rows.late } else { 0 }
    }

    /// The number of steps before the first element of a node, if this loop makes it late.
    fn late_steps(&self, node: &Node) -> u64 {
        let mut combs = self.lowered.combs.iter().map(|id| self.b.nodes.get(*id));
        let Some(late) = combs.find_map(|n| n.late()) else {
            return 0;
        };
        let mut seen = FxHashSet::default();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if node.late().is_some() {
                return late.by;
            }
            if !node.is_leaf() && seen.insert(std::ptr::from_ref(node)) {
                stack.extend(node.inputs.iter().map(|n| &**n));
            }
        }
        0
    }

    /// The lengths of the rows whose elements the innermost rate passes over.
    fn lengths_at_rate(&self) -> Option<RowLengths<'_>> {
        let last = self.report.nest.last()?;
        let combs = self.lowered.program.combs.iter().zip(&self.lowered.combs);
        let at_rate = combs.filter(|(c, _)| c.slot.is_some_and(|slot| slot.rate == last.rate));
        let nodes = at_rate.map(|(_, id)| self.b.nodes.get(*id));
        let mut by_segments = nodes.filter(|n| n.kind.facts().by_segments != BySegments::Never);
        by_segments.find_map(|n| RowLengths::of(self.b, n.inputs.first()?))
    }

    /// The element of the innermost rate within its row.
    fn element(&self, lengths: Option<&RowLengths<'_>>) -> Option<u64> {
        let [.., row, last] = self.report.nest[..] else {
            return None;
        };
        if self.restarts(last.rate) {
            return Some(last.counter);
        }
        // The counter passes over all rows. A skipped row would be missing there.
        let program = &self.lowered.program;
        let around = program.rate(last.rate).kind.parent();
        if around != Some(row.rate) || self.restarts(row.rate) {
            return None;
        }
        let rows = row.counter.checked_add(1)?;
        let begin = match lengths {
            Some(lengths) if lengths.begin(rows)? == last.bound => lengths.begin(row.counter)?,
            None if program.rate(last.rate).kind.is_uniform() => {
                let length = last.bound.checked_div(rows)?;
                let is_exact = length.checked_mul(rows)? == last.bound;
                is_exact.then(|| length * row.counter)?
            }
            _ => return None,
        };
        last.counter.checked_sub(begin)
    }

    /// Tells whether a rate's counter starts anew in each iteration around it.
    fn restarts(&self, rate: RateId) -> bool {
        let program = &self.lowered.program;
        let Some(counter) = program.rate(rate).kind.counter() else {
            return false;
        };
        let mut stmts = nest_of(program, rate);
        stmts.any(|kind| matches!(kind, StmtKind::Carry(v, _) if *v == counter))
    }
}

/// The statements before each inner loop of a rate.
fn nest_of(program: &Loop, nested: RateId) -> impl Iterator<Item = &StmtKind> {
    let blocks = program.blocks.iter().filter(move |(labels, _)| {
        let place = labels.first().map(|label| program.place(*label));
        matches!(place, Some(Place::At { rate, section: Section::Nest, .. }) if rate == nested)
    });
    blocks.flat_map(|(_, block)| block.stmts.iter().map(|s| &s.kind))
}

/// The lengths of rows, as far as their values are in memory.
struct RowLengths<'a> {
    count: Option<u64>,
    each: EachLength<'a>,
}

/// The length of each row.
enum EachLength<'a> {
    All(u64),
    Own(&'a Buffer),
}

impl<'a> RowLengths<'a> {
    fn of(b: &'a Bindings<'_>, lengths: &'a Arc<Node>) -> Option<RowLengths<'a>> {
        let each = match Axis::of_rows(lengths) {
            Some(axis) => EachLength::All(axis.known().or_else(|| number(b, axis.node()))?),
            None => EachLength::Own(values(b, lengths)?),
        };
        let count = count(b, lengths);
        Some(RowLengths { count, each })
    }

    /// The index of a row's first element among all.
    fn begin(&self, row: u64) -> Option<u64> {
        match self.each {
            EachLength::All(length) => length.checked_mul(row),
            EachLength::Own(own) => {
                let view = own.view();
                let mut lengths = (0..usize::try_from(row).ok()?).map(|k| view.get_word(k));
                lengths.try_fold(0u64, |sum, n| sum.checked_add(n?))
            }
        }
    }

    /// Tells whether these rows have so many elements together.
    fn make(&self, elements: u64) -> bool {
        match (self.count, &self.each) {
            (Some(count), _) => self.begin(count) == Some(elements),
            (None, EachLength::All(length)) => elements.checked_rem(*length) == Some(0),
            (None, EachLength::Own(_)) => false,
        }
    }

    /// The row of an element, and its index there.
    fn split(&self, at: u64) -> Option<(u64, u64)> {
        match self.each {
            EachLength::All(length) => Some((at.checked_div(length)?, at.checked_rem(length)?)),
            EachLength::Own(own) => {
                let (view, mut rest) = (own.view(), at);
                for row in 0..own.len() {
                    let length = view.get_word(row)?;
                    if rest < length {
                        return Some((row as u64, rest));
                    }
                    rest -= length;
                }
                None
            }
        }
    }
}

/// The length of an array, where it is known.
fn count(b: &Bindings<'_>, node: &Node) -> Option<u64> {
    let values = || values(b, node).map(|all| all.len() as u64);
    match (node.known_len(), &node.kind) {
        (Some(n), _) => Some(n),
        (None, Kind::Generate(Len::Delayed(n), _)) => number(b, n),
        (None, Kind::Expand(_)) => {
            let outer = RowLengths::of(b, node.inputs.first()?)?;
            outer.begin(outer.count?)
        }
        (None, _) => values(),
    }
}

/// The value of a delayed number that is known.
fn number(b: &Bindings<'_>, node: &Node) -> Option<u64> {
    match b.value_of(node)? {
        Value::Scalar(fields) => fields.first().map(|c| c.bits),
        Value::Array(_) => None,
    }
}

/// The elements of an array of one field that is in memory.
fn values<'a>(b: &'a Bindings<'_>, node: &'a Node) -> Option<&'a Buffer> {
    match b.value_of(node)? {
        Value::Array(columns) => columns.first().map(|column| &**column),
        Value::Scalar(_) => None,
    }
}
