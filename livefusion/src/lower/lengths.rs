//! Lengths: what is consumed together is as long as the class that consumes it. Where that is not known
//! before a program runs, it is checked here, and nowhere else.
//!
//! A length belongs to a class. A check holds the length of an array against the number of elements of
//! the one class at whose rate the array is consumed, and never against that of a class around or below:
//!
//! ```text
//! a root's bound           init_2:  let same_2 = eq len_1 len_0        trap unless same_2, t0
//! a nested rate's counter  done_2:  let all_2 = eq ix_2 len_1          trap unless all_2, t0
//! a subrate's count        body_2:  let there_2 = lt ix_2 len_1        trap unless there_2, t0
//!                          done_2:  let same_2 = eq ix_2 len_1         trap unless same_2, t0
//! ```
//!
//! What nothing in a loop consumes together with what its rate runs over may still be of that class, since a
//! zip in another loop made it so: it is checked behind everything else ([`check_all`]), in the zip's name.
//!
//! How many elements a nested rate or a subrate has is known at the loop's end only; an array in memory
//! that a subrate reads at its count is found to be too short at the first element that it lacks.

use super::anatomy::{Anatomy, Lower, Spot};
use crate::ast::Kind;
use crate::fusion::ClassId;
use crate::sharing::NodeId;
use loop_lang::ir::{Atom, CombId, RateId, RateKind, Section, TrapKind};
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Checks that inputs which are consumed together at a spot have as many elements as the class there.
pub fn check_together(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>, at: Spot) -> Lower {
    match inputs.len() {
        // What is consumed alone is as long as itself.
        1 => Ok(()),
        _ => check(a, id, inputs, at),
    }
}

/// Checks that each of these inputs has as many elements as the class of the rate at a spot.
pub fn check(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>, at: Spot) -> Lower {
    match a.program.rate(at.rate).kind {
        RateKind::Root { .. } | RateKind::Cursor { .. } => equal(a, id, inputs),
        RateKind::Nested { .. } => inputs.into_iter().try_for_each(|k| {
            let input = a.graph.nodes[id.index()].inputs[k];
            if let Some(len) = a.len(input)? {
                let comb = a.comb(id);
                visited(a, comb, at.rate, len)?;
                agree(a, input, at.rate);
            }
            Ok(())
        }),
        RateKind::Sub { .. } => counted(a, id, inputs, at),
    }
}

/// Inputs at a root rate have lengths of their own, which are there when the loop starts.
fn equal(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>) -> Lower {
    let inputs = &a.graph.nodes[id.index()].inputs[inputs];
    let Some((first, rest)) = inputs.split_first() else {
        return Ok(());
    };
    let comb = a.comb(id);
    for other in rest {
        if a.plan.rates.known_equal(*first, *other) {
            continue;
        }
        let (Some(expected), Some(got)) = (a.len(*first)?, a.len(*other)?) else {
            continue;
        };
        same(a, comb, got, expected);
        for n in [*other, id] {
            let own = |n: NodeId| a.plan.rates.own(n).map(Length::Own);
            a.agreed.unite(own(*first), own(n));
        }
    }
    Ok(())
}

/// Two lengths that are there when the loop starts are equal.
fn same(a: &mut Anatomy<'_>, comb: CombId, got: Atom, expected: Atom) {
    if expected != got {
        let payload = [got, expected];
        let same = a.emit(comb, Section::Init, "same", Op::Eq, &payload);
        let kind = TrapKind::LengthMismatch;
        a.trap(comb, Section::Init, kind, same.into(), &payload);
    }
}

/// A nested rate has visited so many elements in the end, unless that is checked already.
pub fn visited(a: &mut Anatomy<'_>, comb: CombId, rate: RateId, len: Atom) -> Lower {
    if a.first_check(rate, len)? {
        let payload = [a.index(rate).into(), len];
        let all = a.emit(comb, Section::Done, "all", Op::Eq, &payload);
        let kind = TrapKind::Segments;
        a.trap(comb, Section::Done, kind, all.into(), &payload);
    }
    Ok(())
}

/// What advances with a subrate has its length; arrays in memory are read at its count.
fn counted(a: &mut Anatomy<'_>, id: NodeId, inputs: Range<usize>, at: Spot) -> Lower {
    let (graph, rates) = (a.graph, &a.plan.rates);
    let node = &graph.nodes[id.index()];
    let on_first = rates.is_beside(id, inputs.start);
    let kind = match node.node.kind {
        Kind::FoldS(_) | Kind::ScanS(..) | Kind::CountS => TrapKind::Segments,
        _ => TrapKind::LengthMismatch,
    };
    // What was got, and what was expected; or what is needed, and what there is.
    let swaps = kind == TrapKind::LengthMismatch && !on_first;
    let ordered = |count, len| if swaps { [len, count] } else { [count, len] };
    for k in inputs.filter(|k| rates.is_beside(id, *k)) {
        let Some(len) = a.len(node.inputs[k])? else {
            continue;
        };
        let comb = a.comb_at(id, at);
        let count: Atom = a.index(at.rate).into();
        let one = Const::u64(1).into();
        let there = a.emit(comb, Section::Body, "there", Op::Lt, &[count, len]);
        let needed = a.emit(comb, Section::Body, "needed", Op::Add, &[count, one]);
        let payload = ordered(needed.into(), len);
        a.trap(comb, Section::Body, kind, there.into(), &payload);
        let same = a.emit(comb, Section::Done, "same", Op::Eq, &[count, len]);
        a.trap(comb, Section::Done, kind, same.into(), &ordered(count, len));
    }
    Ok(())
}

/// Checks that what a rate runs over has as many elements as its class, where nothing in this loop has done
/// so: what made them one class may be in another loop. There it would find what this one keeps in memory
/// as long as it should be, whatever it was.
pub fn check_all(a: &mut Anatomy<'_>) -> Lower {
    for rate in (0..a.program.rates.len()).map(RateId::new) {
        if let RateKind::Root { .. } | RateKind::Cursor { .. } = a.program.rate(rate).kind {
            agree(a, a.opener(rate), rate);
        }
    }
    let all = a.all_run_over();
    for &(id, rate) in &all {
        let (Some(own), Some(class)) = (a.plan.rates.own(id), a.class_of(rate)) else {
            continue;
        };
        if a.agreed.are_equal(Length::Own(own), Length::Of(class)) {
            continue;
        }
        let kind = a.program.rate(rate).kind;
        // Something of the class that has as many elements as the rate.
        let rates = &a.plan.rates;
        let agrees = |(n, at): &&(NodeId, RateId)| {
            let own = rates
                .own(*n)
                .filter(|_| *at == rate && rates.output(*n) == Some(class));
            own.is_some_and(|own| a.agreed.are_equal(Length::Own(own), Length::Of(class)))
        };
        let like = all.iter().find(agrees).and_then(|(n, _)| rates.own(*n));
        let joined_by = rates.joined_by(own, like.unwrap_or(class));
        // Segments say how long each is; who zips says that both are as long.
        let zips = |by: &&NodeId| !is_segmented(&a.graph.node(**by).kind);
        let Some(by) = joined_by.iter().find(zips).or(joined_by.first()).copied() else {
            continue;
        };
        let Some(len) = a.len(id)? else {
            continue;
        };
        match kind {
            RateKind::Root { bound, .. } | RateKind::Cursor { bound, .. } if len == bound => {}
            RateKind::Root { bound, .. } | RateKind::Cursor { bound, .. } => {
                let comb = a.comb(by);
                // The first of what is consumed together says what is expected.
                let first = usize::from(matches!(a.graph.node(by).kind, Kind::Scatter(_)));
                let first = a.graph.nodes[by.index()].inputs[first];
                let rates = &a.plan.rates;
                let before = |own| rates.before(own, by);
                match rates.own(first).map(before) == Some(before(own)) {
                    true => same(a, comb, bound, len),
                    false => same(a, comb, len, bound),
                }
            }
            _ => {
                let comb = a.comb(by);
                visited(a, comb, rate, len)?;
            }
        }
        agree(a, id, rate);
    }
    Ok(())
}

fn is_segmented(kind: &Kind) -> bool {
    let by_elements = matches!(kind, Kind::FoldS(_) | Kind::ScanS(..) | Kind::CountS);
    by_elements || matches!(kind, Kind::Expand(_))
}

/// Notes that a node has as many elements as a rate.
pub fn agree(a: &mut Anatomy<'_>, id: NodeId, rate: RateId) {
    let own = a.plan.rates.own(id).map(Length::Own);
    a.agreed.unite(own, a.class_of(rate).map(Length::Of));
}

/// A number of elements that a loop deals with.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Length {
    /// Of all nodes that had this class before it was joined to another.
    Own(ClassId),
    /// Of this class, as the loop counts them.
    Of(ClassId),
}

/// Which lengths are equal, because that was known or is checked.
#[derive(Default)]
pub struct Agreed(FxHashMap<Length, Length>);

impl Agreed {
    /// Whether two lengths are equal.
    pub fn are_equal(&mut self, a: Length, b: Length) -> bool {
        self.find(a) == self.find(b)
    }

    fn unite(&mut self, a: Option<Length>, b: Option<Length>) {
        if let (Some(a), Some(b)) = (a, b) {
            let (a, b) = (self.find(a), self.find(b));
            if a != b {
                self.0.insert(a, b);
            }
        }
    }

    /// What stands for all lengths that are equal to one. The ways there are shortened.
    fn find(&mut self, mut length: Length) -> Length {
        while let Some(to) = self.0.get(&length).copied() {
            let beyond = self.0.get(&to).copied().unwrap_or(to);
            self.0.insert(length, beyond);
            length = beyond;
        }
        length
    }
}
