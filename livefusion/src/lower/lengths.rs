//! Length checks: inputs that are consumed together must have the length of their class.
//!
//! Lengths that are not known at compile time are checked here, and nowhere else.
//!
//! Each length belongs to a class. A check compares the length of an array with the number of
//! elements of the class that consumes the array. It never uses a class around or below:
//!
//! ```text
//! a root's bound           init_2:  let same_2 = eq len_1 len_0        trap unless same_2, t0
//! a nested rate's counter  done_2:  let all_2 = eq ix_2 len_1          trap unless all_2, t0
//! a subrate's count        body_2:  let there_2 = lt ix_2 len_1        trap unless there_2, t0
//!                          done_2:  let same_2 = eq ix_2 len_1         trap unless same_2, t0
//! ```
//!
//! Two inputs may be of one class because of a zip in another loop. If nothing in this loop
//! compares them, [`check_all`] does so after all other checks, and a failure names that zip.
//!
//! The number of elements of a nested rate or a subrate is known at the end of the loop. If an
//! array in memory is read at a subrate's count, the first missing element traps.

use super::emission::Emission;
use super::placement::{Act, Check, Context, Count, CountOf, LengthSource, Placer, Point};
use super::{Lower, Source, generate, take_while};
use crate::ast::{BySegments, Kind};
use crate::fusion::{ClassId, ClassKind};
use crate::sharing::uniform::{Uniform, uniform_value};
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::{Atom, CombId, RateId, Section, TrapKind};
use loop_lang::op::Op;
use loop_lang::types::Const;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Checks the lengths of inputs that are consumed together at a program point.
///
/// They must have as many elements as the class there.
pub fn check_together(p: &mut Placer<'_>, id: NodeId, inputs: Range<usize>, at: Point) {
    // A single input needs no check.
    if inputs.len() > 1 {
        check(p, id, inputs, at);
    }
}

/// Checks each of these inputs against the class of the rate at a point.
pub fn check(p: &mut Placer<'_>, id: NodeId, inputs: Range<usize>, at: Point) {
    let rate = p.placed.tree.elements_of(at.rate);
    let opening = &p.placed.tree.rate(rate).opening;
    let class = p.scope.consumes_at(id);
    // A part of an append is shorter than the append.
    let is_part = class.is_some_and(|c| p.placed.tree.rate(rate).appends.contains(&c));
    if opening.is_counted() || is_part {
        counted(p, id, inputs, at);
    } else if opening.is_nested() {
        for input in p.scope.inputs(id)[inputs].iter().copied() {
            if has_all(p, input, rate) {
                agree(p, input, rate);
            } else if let Some(len) = p.len(input) {
                visited(p, id, rate, len);
                agree(p, input, rate);
            }
        }
    } else {
        equal(p, id, inputs);
    }
}

/// Checks inputs at a root rate. Their lengths are known at loop entry.
fn equal(p: &mut Placer<'_>, id: NodeId, inputs: Range<usize>) {
    let rates = &p.scope.plan.rates;
    let Some((first, rest)) = p.scope.inputs(id)[inputs].split_first() else {
        return;
    };
    for other in rest {
        if rates.known_equal(*first, *other) {
            continue;
        }
        let algebra = &p.scope.graph.algebra;
        if algebra.length(*first) != algebra.length(*other) {
            let (Some(expected), Some(got)) = (p.len(*first), p.len(*other)) else {
                continue;
            };
            same(p, id, got, expected);
        }
        for n in [*other, id] {
            let own = |n: NodeId| rates.own(n).map(CountOf::Own);
            p.lengths().agreed.unite(own(*first), own(n));
        }
    }
}

/// Whether an array has as many elements as all rows of a nested rate, by construction.
fn has_all(p: &Placer<'_>, id: NodeId, rate: RateId) -> bool {
    let class = p.placed.tree.rate(rate).class;
    let kind = class.map(|c| p.scope.plan.rates.kind(c));
    let algebra = &p.scope.graph.algebra;
    match kind {
        Some(ClassKind::Nested(_, rows)) => algebra.all_rows(rows) == Some(algebra.length(id)),
        _ => false,
    }
}

/// Adds a check that two lengths known at loop entry are equal.
fn same(p: &mut Placer<'_>, by: NodeId, got: LengthSource, expected: LengthSource) {
    if expected != got {
        p.act(by, Act::Check(Check::Same(got, expected)));
    }
}

/// Adds a check of the total number of elements of a nested rate. Skips it if this rate, or an
/// earlier one over the same segments, has it.
fn visited(p: &mut Placer<'_>, by: NodeId, rate: RateId, len: LengthSource) {
    let class = p.class_in_context(rate);
    if class.is_some_and(|class| p.lengths().first_check(class, len)) {
        let check = Check::Visited(rate, len);
        p.lengths().at_the_end.push((by, check));
    }
}

/// Checks inputs of a subrate. Fused inputs have its length by construction; arrays in memory are
/// read at its count.
fn counted(p: &mut Placer<'_>, id: NodeId, inputs: Range<usize>, at: Point) {
    let rates = &p.scope.plan.rates;
    let on_first = rates.is_unfused(id, inputs.start);
    let kind = match p.scope.graph.node(id).kind.facts().by_segments.cut() {
        true => TrapKind::Segments,
        false => TrapKind::LengthMismatch,
    };
    for k in inputs.filter(|k| rates.is_unfused(id, *k)) {
        if let Some(len) = p.len(p.scope.inputs(id)[k]) {
            let expects_array = kind == TrapKind::LengthMismatch && !on_first;
            let count = Count {
                at,
                len,
                kind,
                expects_array,
            };
            p.act(id, Act::Check(Check::There(count)));
            if p.lengths().first_count((id, k)) {
                p.lengths().at_the_end.push((id, Check::Counted(count)));
            }
        }
    }
}

/// Checks the arrays whose lengths were assumed to be totals of segments.
///
/// Skips arrays that their consumers in this loop have checked.
pub fn check_assumed(p: &mut Placer<'_>) {
    for assumed in std::mem::take(&mut p.lengths().assumed) {
        let class = p.class_in_context(assumed.rate);
        if !class.is_some_and(|class| p.lengths().is_checked(class, assumed.leaf)) {
            let rates = &p.scope.plan.rates;
            let own = rates.own(assumed.leaf).zip(class.map(|(class, _)| class));
            let by = own.map(|(own, class)| rates.joined_by(own, class));
            let by = by.and_then(|by| by.first().copied());
            let len = LengthSource::Param(Source::Length(assumed.leaf));
            visited(p, by.unwrap_or(assumed.by), assumed.rate, len);
        }
        agree(p, assumed.leaf, assumed.rate);
    }
}

/// Checks all nodes that a rate runs over against the rate's class.
///
/// Skips lengths that this loop has checked already. The class may stem from a zip in another loop.
/// That loop cannot find the error, because this loop writes its array with the expected length.
pub fn check_all(p: &mut Placer<'_>) {
    let mut all = std::mem::take(&mut p.lengths().run_over);
    // Several phases may have a rate of one class. The first rate defines the number of elements.
    let mut firsts: FxHashMap<(ClassId, Option<Context>), RateId> = FxHashMap::default();
    for rate in (0..p.placed.tree.rates().len()).map(RateId::new) {
        let placed = p.placed.tree.rate(rate);
        if placed.opening.is_sub() || placed.opening.is_nested() {
            continue;
        }
        let node = placed.node;
        let class = p.class_in_context(rate);
        if class.is_none_or(|class| *firsts.entry(class).or_insert(rate) == rate) {
            agree(p, node, rate);
        } else {
            all.push((node, rate));
        }
    }
    let mut like = Alike::default();
    for &(id, rate) in &all {
        like.add(p, id, rate);
    }
    for &(id, rate) in &all {
        let rates = &p.scope.plan.rates;
        let (Some(own), Some((class, context))) = (rates.own(id), p.class_in_context(rate)) else {
            continue;
        };
        if p.lengths()
            .agreed
            .are_equal(CountOf::Own(own), CountOf::Class(class, context))
        {
            continue;
        }
        let rate = firsts.get(&(class, context)).copied().unwrap_or(rate);
        // Another node of the class with as many elements as the rate.
        let like = like.first(p, rate, (class, context));
        let joined_by = rates.joined_by(own, like.unwrap_or(class));
        // Prefer a zip: segments define their own lengths, and a zip asserts that two are equal.
        let zips = |by: &&NodeId| !is_segmented(&p.scope.graph.node(**by).kind);
        let Some(by) = joined_by.iter().find(zips).or(joined_by.first()).copied() else {
            continue;
        };
        let Some(len) = p.len(id) else {
            continue;
        };
        if p.placed.tree.rate(rate).opening.is_nested() {
            if !has_all(p, id, rate) {
                visited(p, by, rate, len);
            }
        } else if let Some(bound) = p.bound(rate).filter(|bound| *bound != len) {
            check_own(p, by, (own, len), bound);
            // The first of the inputs that are consumed together is the expected length.
            let first = usize::from(p.scope.graph.node(by).kind.facts().has_base);
            let first = p.scope.inputs(by)[first];
            let before = |own| rates.before(own, by);
            match rates.own(first).map(before) == Some(before(own)) {
                true => same(p, by, bound, len),
                false => same(p, by, len, bound),
            }
        }
        agree(p, id, rate);
    }
}

/// Checks a zip's own inputs against each other. Skips inputs whose lengths are not known here, or
/// are the loop's. So the trap reports the zip's own lengths before it reports the loop's. If the
/// zip is in a later loop, its other input may depend on a length that this loop computes.
fn check_own(
    p: &mut Placer<'_>,
    by: NodeId,
    (own, len): (ClassId, LengthSource),
    bound: LengthSource,
) {
    let rates = &p.scope.plan.rates;
    let is_it = |n: &NodeId| rates.own(*n) == Some(own);
    let in_step = |n: &NodeId| rates.output(*n) == Some(rates.now(own));
    let inputs = p.scope.inputs(by);
    let zips = matches!(p.scope.graph.node(by).kind, Kind::Map(_) | Kind::Zip);
    let (Some(at), Some(other), true) = (
        inputs.iter().position(is_it),
        inputs.iter().position(|n| !is_it(n) && in_step(n)),
        zips,
    ) else {
        return;
    };
    let scope = p.scope;
    let new = |l: &LengthSource| ![len, bound, LengthSource::Nothing].contains(l);
    let there = |l: &LengthSource| new(l) && generate::is_there(&scope, *l);
    let Some(other_len) = p.len(inputs[other]).filter(there) else {
        return;
    };
    match other < at {
        true => same(p, by, len, other_len),
        false => same(p, by, other_len, len),
    }
}

/// Places the checks that need the loop to be complete.
pub fn place_ends(p: &mut Placer<'_>) {
    for (by, check) in std::mem::take(&mut p.lengths().at_the_end) {
        p.act(by, Act::Check(check));
    }
}

/// The classes, before unification, of the nodes that each rate runs over.
#[derive(Default)]
struct Alike(FxHashMap<RateId, Vec<ClassId>>);

impl Alike {
    /// Adds a node over which a rate runs, if it is of the rate's class.
    fn add(&mut self, p: &Placer<'_>, id: NodeId, rate: RateId) {
        let rates = &p.scope.plan.rates;
        let here = rates.output(id) == p.placed.tree.rate(rate).class;
        if let Some(own) = rates.own(id).filter(|_| here) {
            let all = self.0.entry(rate).or_default();
            if !all.contains(&own) {
                all.push(own);
            }
        }
    }

    /// The first class with as many elements as the rate.
    fn first(
        &self,
        p: &mut Placer<'_>,
        rate: RateId,
        (class, context): (ClassId, Option<Context>),
    ) -> Option<ClassId> {
        let all = self.0.get(&rate)?.iter().copied();
        let agreed = &mut p.lengths().agreed;
        let mut equal =
            all.filter(|own| agreed.are_equal(CountOf::Own(*own), CountOf::Class(class, context)));
        equal.next()
    }
}

fn is_segmented(kind: &Kind) -> bool {
    kind.facts().by_segments != BySegments::Never
}

/// Checks the length and the number of rows against a rate's rows.
///
/// Skips rows that are equal by construction. The zip that made their elements one class may be in
/// another loop.
pub fn check_rows(p: &mut Placer<'_>, id: NodeId) {
    let (graph, rates) = (p.scope.graph, &p.scope.plan.rates);
    let mut own = graph.resolve(rates.cuts(graph, id), 0);
    let mut class = rates.runs_at(id).map(|c| rates.loop_class(c));
    let joined_by = rates.own(id).zip(class);
    let joined_by = joined_by.map(|(own, class)| rates.joined_by(own, class));
    let by = joined_by.and_then(|by| by.first().copied()).unwrap_or(id);
    while let Some(ClassKind::Nested(around, rows)) = class.map(|c| rates.kind(c)) {
        let in_step = rates.output(own.0) == Some(around);
        if own == rows || !in_step || !p.lengths().first_rows(own, rows) {
            return;
        }
        let each = |rows| match uniform_value(graph, rows) {
            Some(Uniform::Scalar(field)) => Some(LengthSource::Scalar(field)),
            Some(Uniform::Literal(..)) => Some(LengthSource::Row(rows)),
            None => None,
        };
        if !graph.algebra.are_equal_rows(own, rows)
            && let (Some(got), Some(expected)) = (each(own), each(rows))
        {
            same(p, by, got, expected);
        }
        let outer = |rows: FieldRef| match graph.node(rows.0).kind {
            Kind::Expand(_) => graph.nodes[rows.0.index()].inputs.first().copied(),
            _ => None,
        };
        match outer(own) {
            Some(next) => own = graph.resolve(next, 0),
            None if graph.algebra.length(own.0) == graph.algebra.length(rows.0) => return,
            None => {
                if let (Some(got), Some(expected)) = (p.len(own.0), p.len(rows.0)) {
                    same(p, by, got, expected);
                }
                return;
            }
        }
        class = Some(around);
    }
}

/// Notes that a node has as many elements as a rate.
fn agree(p: &mut Placer<'_>, id: NodeId, rate: RateId) {
    let own = p.scope.plan.rates.own(id).map(CountOf::Own);
    let class = p.class_in_context(rate);
    let class = class.map(|(class, context)| CountOf::Class(class, context));
    p.lengths().agreed.unite(own, class);
}

/// Emits a check.
pub fn emit(e: &mut Emission<'_>, id: NodeId, check: Check) -> Lower {
    match check {
        Check::Same(got, expected) => {
            let comb = e.comb(id);
            let payload = [e.length(got, comb)?, e.length(expected, comb)?];
            let same = e.emit(comb, Section::Init, "same", Op::Eq, &payload);
            let kind = TrapKind::LengthMismatch;
            e.trap(comb, Section::Init, kind, same.into(), &payload);
        }
        Check::Visited(rate, len) => {
            let comb = e.comb(id);
            let class = e.placed.tree.rate(rate).class;
            let payload = [e.total(comb, class, rate), e.length(len, comb)?];
            let all = e.emit(comb, Section::Done, "all", Op::Eq, &payload);
            let kind = TrapKind::Segments;
            let all = take_while::or_left(e, comb, rate, all.into());
            e.trap(comb, Section::Done, kind, all, &payload);
        }
        Check::There(count) => {
            let (comb, class, len) = operands(e, id, count)?;
            let counted = e.position(class, count.at.rate);
            let one = Const::u64(1).into();
            let there = e.emit(comb, Section::Body, "there", Op::Lt, &[counted, len]);
            let needed = e.emit(comb, Section::Body, "needed", Op::Add, &[counted, one]);
            let payload = count.payload(needed.into(), len);
            e.trap(comb, Section::Body, count.kind, there.into(), &payload);
        }
        Check::Counted(count) => {
            let (comb, class, len) = operands(e, id, count)?;
            let counted = e.total(comb, class, count.at.rate);
            let same = e.emit(comb, Section::Done, "same", Op::Eq, &[counted, len]);
            let payload = count.payload(counted, len);
            let same = take_while::or_left(e, comb, count.at.rate, same.into());
            e.trap(comb, Section::Done, count.kind, same, &payload);
        }
    }
    Ok(())
}

/// The combinator that checks a subrate's count, the counted class, and the length of the array.
fn operands(
    e: &mut Emission<'_>,
    id: NodeId,
    count: Count,
) -> Lower<(CombId, Option<ClassId>, Atom)> {
    let comb = e.comb_at(id, count.at);
    let len = e.length(count.len, comb)?;
    Ok((comb, e.scope.consumes_at(id), len))
}

impl Count {
    /// The actual and the expected length. Before the end of the loop: the needed length and the
    /// existing one.
    fn payload(&self, count: Atom, len: Atom) -> [Atom; 2] {
        match self.expects_array {
            true => [len, count],
            false => [count, len],
        }
    }
}
