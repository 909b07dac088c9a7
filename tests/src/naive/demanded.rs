//! Requested elements of each node.
//!
//! An element is *requested* iff some consumer requests it. A result requests all of its elements
//! and its length. A `take_while` requests the elements up to its last one, or up to the last
//! requested one of its own. `find`, `position`, `any`, `all` and `first` are one with their
//! consumer. A `take` requests the elements that it takes, and the length if there are fewer. A
//! read at an index requests that element. A minimum of a number and of lengths asks each array
//! whether it has that many elements. A requested element or length in turn requests its operands:
//!
//! | requested | requests |
//! | --- | --- |
//! | an element of a map | the element of each input that the field needs |
//! | of a generator | its reads, and a check of its length up to the element |
//! | of a filter, a pack | all input elements up to the kept one; all of them for the length |
//! | of an append | the element of its part, and the lengths of the earlier parts |
//! | of a `zip_shortest` | the element of each input; its length needs that of the shortest one |
//! | of a merge | the elements taken so far, and the next of each input |
//! | of a scan | all elements up to there |
//! | of segments' elements | the lengths, and values of segments, up to its segment |
//! | of a sort of segments | the elements and lengths up to the end of its segment |
//! | of a fold of segments | the elements and lengths up to the end of its segment |
//! | a scalar: a fold, a total | all elements, and the length |
//! | the length | the length of the input in step; for a filter or a pack, each predicate |
//!
//! Other scalars are requested if any requested node depends on them, whether or not it has an
//! element: they are known before its loop begins. A plan may store an array: then memory is one of
//! its consumers, and requests all elements.
//!
//! A few elements have no request, but a plan may compute them next to requested ones. An exclusive
//! scan does not need the element of its last step. A stored field does not need the other fields.
//! An array that is only counted may have to be computed. *Least* excludes these elements, *most*
//! includes them. Elements beyond *most* are *behind an exit*. A loop computes the scalars of all of
//! its nodes at its entry. So *most* also includes the scalars of nodes of which no element is
//! requested, as of the input of `take(0)`.

use super::inlined::columns;
use super::{Data, Demand, Evaluated, Key, Naive, Schedule, Trap, When, reachable, segments};
use livefusion::ast::{Body, Capture, Kind, Len, MERGE_CHECK, Move, Node, ScanKind, Term};
use loop_lang::ir::TrapKind;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The marker for all steps.
const ALL: usize = usize::MAX;

/// Positions of an array.
#[derive(Clone, Default, Debug)]
struct Positions {
    /// All positions before this one.
    before: usize,
    /// Other positions, read at an index.
    also: BTreeSet<usize>,
}

impl Positions {
    fn contains(&self, i: usize) -> bool {
        i < self.before || self.also.contains(&i)
    }

    /// The number of steps that reaches all positions.
    fn steps(&self) -> usize {
        let last = self.also.last().map_or(0, |i| i + 1);
        self.before.max(last)
    }

    fn add(&mut self, other: &Positions) {
        self.before = self.before.max(other.before);
        self.also.extend(&other.also);
    }
}

fn before(n: usize) -> Positions {
    Positions {
        before: n,
        ..Positions::default()
    }
}

/// The requests to a node.
#[derive(Clone, Default, Debug)]
struct Wanted {
    /// Positions by field.
    fields: HashMap<u32, Positions>,
    /// The requested number of elements. `ALL` requests the length.
    count: usize,
    /// Steps of the part that all fields share, such as a predicate or a fold's state.
    shared: usize,
    /// Whether a requested node has it as an input, directly or through others.
    is_below: bool,
}

impl Wanted {
    /// Whether its length is requested.
    fn end(&self) -> bool {
        self.count == ALL
    }

    fn steps(&self) -> usize {
        let fields = self.fields.values().map(Positions::steps);
        fields.max().unwrap_or(0)
    }

    /// Whether a loop may have the node.
    fn is_entered(&self) -> bool {
        self.is_below || self.count > 0 || self.steps() > 0
    }
}

/// The minimum of some numbers and lengths.
struct Least {
    n: u64,
    /// The number of lengths that equal the minimum, or 0 if a number does.
    lengths: usize,
}

/// Holds the requests to each node.
pub struct Demanded<'a> {
    naive: &'a Naive,
    of: HashMap<Key, Wanted>,
    /// Whether elements count that may be computed next to requested ones.
    most: bool,
}

impl<'a> Demanded<'a> {
    /// Follows requests from the roots down.
    ///
    /// The result is *least*, or *most* if the demand is generous.
    pub fn of(
        naive: &'a Naive,
        roots: &[Arc<Node>],
        schedule: &dyn Schedule,
        demand: &Demand,
    ) -> Demanded<'a> {
        let (of, most) = (HashMap::new(), demand.is_generous());
        let mut of_all = Demanded { naive, of, most };
        for root in roots {
            of_all.all(root);
        }
        // Consumers come before their operands.
        for node in reachable(roots) {
            let Some(e) = naive.get(&node) else { continue };
            let Some(built) = schedule.built(&node).filter(|b| demand.reaches(b)) else {
                continue;
            };
            let wanted = |f: &u32| demand.wants(&built, *f);
            let demanded = (0..node.types.len() as u32).filter(wanted).count();
            let kept = schedule.is_kept(&node) && (most || demanded == 1);
            if kept || (node.rank == 0 && !of_all.is_length(&node)) {
                of_all.all(&node);
            }
            let mut mine = of_all.of.remove(&Arc::as_ptr(&node)).unwrap_or_default();
            if most {
                let mut first = before(if mine.fields.is_empty() {
                    mine.count
                } else {
                    0
                });
                mine.fields.values().for_each(|p| first.add(p));
                mine.fields.insert(0, first);
            }
            mine.fields.retain(|f, _| wanted(f));
            of_all.follow(&node, &built, e, &mut mine);
            of_all.lengths(&node, &mine);
            if most && mine.is_entered() {
                for input in &node.inputs {
                    of_all.of.entry(Arc::as_ptr(input)).or_default().is_below = true;
                }
            }
            of_all.of.insert(Arc::as_ptr(&node), mine);
            for read in &e.reads {
                if of_all.takes(&node, read.when, read.field) {
                    let (array, field) = &read.array;
                    let also = BTreeSet::from([read.index]);
                    of_all.add(array, *field, &Positions { before: 0, also });
                }
            }
        }
        of_all
    }

    /// Returns whether a node must reach a trap of its own.
    pub fn includes(&self, node: &Arc<Node>, trap: &Trap) -> bool {
        let wanted = self.of.get(&Arc::as_ptr(node));
        match trap.kind {
            // At the end at the latest, it is known whether lengths fit.
            TrapKind::LengthMismatch | TrapKind::Segments
                if !matches!(node.kind, Kind::Merge(_)) =>
            {
                wanted.is_some_and(Wanted::end)
            }
            _ => self.takes(node, trap.when, trap.field),
        }
    }

    /// Returns whether a node reaches a time, for a field or all fields.
    pub fn takes(&self, node: &Arc<Node>, when: When, field: Option<u32>) -> bool {
        let Some(wanted) = self.of.get(&Arc::as_ptr(node)) else {
            return false;
        };
        match (when, field) {
            (When::Init, _) => wanted.is_entered(),
            (When::Done, _) => wanted.end(),
            (When::Element(i), Some(f)) => wanted.fields.get(&f).is_some_and(|p| p.contains(i)),
            (When::Element(i), None) => i < wanted.shared,
        }
    }

    fn add(&mut self, node: &Arc<Node>, field: u32, positions: &Positions) {
        if positions.steps() > 0 {
            let wanted = self.of.entry(Arc::as_ptr(node)).or_default();
            wanted.fields.entry(field).or_default().add(positions);
        }
    }

    fn count(&mut self, node: &Arc<Node>, n: usize) {
        let wanted = self.of.entry(Arc::as_ptr(node)).or_default();
        wanted.count = wanted.count.max(n);
    }

    /// Requests the first elements of all fields, and the length if that is all elements.
    fn so_far(&mut self, node: &Arc<Node>, steps: usize) {
        (0..node.types.len() as u32).for_each(|f| self.add(node, f, &before(steps)));
        if steps == ALL {
            self.count(node, ALL);
        }
    }

    fn all(&mut self, node: &Arc<Node>) {
        self.so_far(node, ALL);
    }

    /// A column of a node's inputs, counted over all of them.
    fn add_column(&mut self, node: &Node, mut column: u32, positions: &Positions) {
        for input in &node.inputs {
            let width = input.types.len() as u32;
            if column < width {
                return self.add(input, column, positions);
            }
            column -= width;
        }
    }

    /// Requests the operands of a node's fields and of its length.
    fn follow(&mut self, node: &Arc<Node>, built: &Node, e: &Evaluated, mine: &mut Wanted) {
        let elements = mine.steps();
        match &node.kind {
            Kind::Manifest | Kind::Input(_) | Kind::Custom(_) => {}
            Kind::Generate(..) | Kind::Compute(_) => mine.shared = elements,
            Kind::Map(_) => {
                for (f, positions) in &mine.fields {
                    for (input, field) in columns(node, built, *f) {
                        self.add(&input, field, positions);
                    }
                }
                self.counts(node, mine.count);
            }
            Kind::Zip => {
                for (f, positions) in &mine.fields {
                    self.add_column(node, *f, positions);
                }
                self.counts(node, mine.count);
            }
            Kind::ZipShortest => self.shortest(node, e.data.len(), mine),
            Kind::Merge(body) => self.merged(node, built, body, e, mine),
            Kind::Fields(range) => {
                for (f, positions) in &mine.fields {
                    self.add(&node.inputs[0], f + range.start, positions);
                }
                self.counts(node, mine.count);
            }
            Kind::Filter(_) | Kind::Pack | Kind::TakeWhile { .. } | Kind::Take(_) => {
                mine.shared = self.tested(e, elements.max(mine.count));
                let tested = before(mine.shared);
                for (f, positions) in &mine.fields {
                    let needed = self.tested(e, positions.steps());
                    let handed_on = self.either(needed, mine.shared);
                    self.add_column(node, *f, &before(handed_on));
                }
                match node.kind.bodies().first() {
                    Some(test) => {
                        for column in params(test, built, |_| true) {
                            self.add_column(node, column, &tested);
                        }
                    }
                    None => self.add(&node.inputs[1], 0, &tested),
                }
                if mine.shared == ALL {
                    self.counts(node, ALL);
                }
            }
            Kind::Append => {
                for (f, positions) in &mine.fields {
                    self.parts(node, Some(*f), positions);
                }
                self.parts(node, None, &before(mine.count));
            }
            Kind::Scan(_, kind) => {
                mine.shared = self.scanned(elements, *kind);
                self.so_far(&node.inputs[0], mine.shared);
                self.counts(node, mine.count);
            }
            Kind::ScanByIndex(_, kind, _) => {
                mine.shared = self.scanned(elements, *kind);
                if elements > 0 {
                    self.all(&node.inputs[0]);
                }
                self.so_far(&node.inputs[1], mine.shared);
                self.so_far(&node.inputs[2], mine.shared);
                self.counts(node, mine.count);
            }
            Kind::Fold(_) | Kind::ScanTotal | Kind::Scatter(..) if elements > 0 => {
                mine.shared = ALL;
                node.inputs.iter().for_each(|i| self.all(i));
            }
            Kind::Fold(_) | Kind::ScanTotal => {}
            Kind::Scatter(..) => self.count(&node.inputs[0], mine.count),
            Kind::Len => self.count(&node.inputs[0], elements),
            Kind::Expand(_) => {
                let counted = self.segments_to(&node.inputs[0], elements.max(mine.count));
                self.so_far(&node.inputs[0], counted);
                for (f, positions) in &mine.fields {
                    let wanted = self.either(positions.steps(), elements);
                    let segments = self.segments_to(&node.inputs[0], wanted);
                    for column in params(node.kind.bodies()[0], built, |g| g == *f) {
                        // The first column is the index within the segment.
                        if let Some(value) = column.checked_sub(1) {
                            let beside_lengths = value + node.inputs[0].types.len() as u32;
                            self.add_column(node, beside_lengths, &before(segments));
                        }
                    }
                }
                if mine.end() {
                    self.counts(node, ALL);
                }
            }
            Kind::FoldS(_) | Kind::CountS => {
                let data = self.elements_of(&node.inputs[0], elements);
                // An empty segment is found after the last element before it.
                mine.shared = data.saturating_add(self.either(0, elements.min(1)));
                self.so_far(&node.inputs[0], elements);
                self.so_far(&node.inputs[1], data);
                self.count(&node.inputs[0], mine.count);
            }
            Kind::ScanS(_, kind) => {
                mine.shared = self.scanned(elements, *kind);
                let segments = self.segments_to(&node.inputs[0], elements);
                self.so_far(&node.inputs[0], segments);
                self.so_far(&node.inputs[1], mine.shared);
                self.count(&node.inputs[1], mine.count);
                if mine.end() {
                    self.count(&node.inputs[0], ALL);
                }
            }
            Kind::MoveS(to) => {
                let counted = self.segments_to(&node.inputs[0], elements.max(mine.count));
                self.so_far(&node.inputs[0], counted);
                for (f, positions) in &mine.fields {
                    let moved = self.moved(&node.inputs[0], positions, *to);
                    self.add(&node.inputs[1], *f, &moved);
                }
                self.count(&node.inputs[1], mine.count);
                if mine.end() {
                    self.count(&node.inputs[0], ALL);
                }
            }
            Kind::SortS(_) => {
                let segments = self.segments_to(&node.inputs[0], elements);
                mine.shared = self.elements_of(&node.inputs[0], segments);
                self.so_far(&node.inputs[0], segments);
                self.so_far(&node.inputs[1], mine.shared);
                self.count(&node.inputs[1], mine.count);
                if mine.end() {
                    self.count(&node.inputs[0], ALL);
                }
            }
        }
    }

    /// Requests the inputs of a zip of length `n` that ends with the shortest. The order among the
    /// inputs that end there is unspecified. The other inputs may advance once more.
    fn shortest(&mut self, node: &Node, n: usize, mine: &Wanted) {
        let lengths: Vec<usize> = node
            .inputs
            .iter()
            .map(|i| self.naive.seen(i).len())
            .collect();
        let is_alone = lengths.iter().filter(|len| **len == n).count() == 1;
        let all = mine.steps().max(mine.count);
        let mut column = 0;
        for (input, len) in node.inputs.iter().zip(lengths) {
            let told = |all_demand: &Demanded<'_>, wanted: usize| match wanted {
                _ if wanted <= n => wanted,
                _ if len > n => all_demand.either(n, n + 1),
                _ if is_alone => ALL,
                _ => all_demand.either(n, ALL),
            };
            self.count(input, told(self, all));
            for field in 0..input.types.len() as u32 {
                if let Some(positions) = mine.fields.get(&column) {
                    let wanted = self.either(positions.before, all);
                    let before = told(self, wanted);
                    let also = positions.also.clone();
                    self.add(input, field, &Positions { before, also });
                }
                column += 1;
            }
        }
    }

    /// Requests the elements that a merge takes, and the next element of each input, on which it
    /// decides.
    fn merged(&mut self, node: &Node, built: &Node, body: &Body, e: &Evaluated, mine: &mut Wanted) {
        let all = mine.steps().max(mine.count);
        mine.shared = all;
        let shared = node.inputs.len() + MERGE_CHECK;
        let decides = params(body, built, |r| r < shared as u32);
        let mut column = 0;
        for (k, input) in node.inputs.iter().enumerate() {
            let len = self.naive.seen(input).len();
            // The number of elements that attempts took, and the number that they must inspect.
            let taken = |attempts: usize| e.taken.get(attempts).map_or(ALL, |at| at[k]);
            let told = |attempts: usize| match attempts.checked_sub(1).map(taken) {
                None => 0,
                Some(next) if next < len => next + 1,
                Some(_) => ALL,
            };
            self.count(input, told(all));
            for field in 0..input.types.len() as u32 {
                if decides.contains(&column) {
                    self.add(input, field, &before(told(all)));
                }
                for (f, positions) in &mine.fields {
                    let steps = positions.steps();
                    if params(body, built, |r| r == shared as u32 + f).contains(&column) {
                        let wanted = self.either(taken(steps), told(steps));
                        self.add(input, field, &before(wanted));
                    }
                }
                column += 1;
            }
        }
    }

    /// Requests a field's elements, or the number of elements, from the parts of an append.
    /// Elements after a part request that part's length.
    fn parts(&mut self, node: &Node, field: Option<u32>, positions: &Positions) {
        let mut start = 0;
        for part in &node.inputs {
            let n = self.naive.seen(part).len();
            let is_passed = positions.steps() > start + n;
            let also = positions.also.range(start..start + n).map(|i| i - start);
            let first = positions.before.saturating_sub(start).min(n);
            let here = Positions {
                // The check for the end may run next to all fields of the following element.
                before: if is_passed {
                    self.either(first, ALL)
                } else {
                    first
                },
                also: also.collect(),
            };
            match field {
                Some(f) => self.add(part, f, &here),
                None => self.count(part, here.before),
            }
            if is_passed {
                self.count(part, ALL);
            }
            start += n;
        }
    }

    fn counts(&mut self, node: &Node, n: usize) {
        node.inputs.iter().for_each(|i| self.count(i, n));
    }

    /// Requests the lengths that a node depends on. A generator checks its length up to the
    /// requested element. A minimum of lengths needs no more elements than that minimum.
    fn lengths(&mut self, node: &Arc<Node>, mine: &Wanted) {
        let wanted = mine.steps().max(mine.count);
        if let Kind::Generate(Len::Delayed(n), _) = &node.kind {
            self.add(n, 0, &before(wanted));
        }
        let least = match &node.kind {
            Kind::Compute(body) => self.least_of(body),
            _ => None,
        };
        let bodies = node.kind.bodies().into_iter();
        for scalar in bodies.flat_map(|b| &b.captures).map(Capture::node) {
            let n = match &least {
                Some(least) if wanted as u64 <= least.n => wanted,
                Some(least) if matches!(scalar.kind, Kind::Len) => self.told(least, scalar),
                _ => ALL,
            };
            if self.is_length(scalar) {
                self.add(scalar, 0, &before(n));
            }
        }
    }

    /// Whether a node is a length, or the minimum of some. It may be requested in part.
    fn is_length(&self, node: &Arc<Node>) -> bool {
        match &node.kind {
            Kind::Len => true,
            Kind::Compute(body) => self.least_of(body).is_some(),
            _ => false,
        }
    }

    /// The number of elements of `len` that decides the minimum of several lengths.
    fn told(&self, least: &Least, len: &Arc<Node>) -> usize {
        let (n, len) = (least.n as usize, self.scalar(len, 0) as usize);
        match least.lengths {
            0 => n,
            // The order among the inputs that end there is unspecified.
            1.. if len > n => self.either(n, n + 1),
            2.. => self.either(n, ALL),
            _ => ALL,
        }
    }

    /// The minimum that a body computes from literals and scalars, if it does.
    fn least_of(&self, body: &Body) -> Option<Least> {
        let [result] = body.results[..] else {
            return None;
        };
        let (mut stack, mut all) = (vec![result], vec![]);
        while let Some(t) = stack.pop() {
            match &body.terms[t.index()].term {
                Term::Op(Op::Min, args) => stack.extend(args.iter()),
                Term::Lit(c) => all.push((c.bits, false)),
                Term::Scalar { capture, field } => {
                    let node = body.captures[*capture as usize].node();
                    let is_length = matches!(node.kind, Kind::Len);
                    all.push((self.scalar(node, *field), is_length));
                }
                _ => return None,
            }
        }
        let n = all.iter().map(|(n, _)| *n).min()?;
        let mut are_it = all.iter().filter(|(m, _)| *m == n);
        let lengths = match are_it.all(|(_, is_length)| *is_length) {
            true => all.iter().filter(|(m, _)| *m == n).count(),
            false => 0,
        };
        (body.result_types()[..] == [Ty::U64]).then_some(Least { n, lengths })
    }

    fn scalar(&self, node: &Arc<Node>, field: u32) -> u64 {
        match self.naive.seen(node) {
            Data::Scalar(fields) => fields[field as usize],
            Data::Array(..) => unreachable!("an array as a scalar"),
        }
    }

    /// The input elements that a selector inspects for `elements` results, or for all results and
    /// its length.
    fn tested(&self, e: &Evaluated, elements: usize) -> usize {
        if elements == ALL {
            // The stopping point may depend on a value that is not exact to the bit.
            return match e.looked_at {
                Some(_) if e.tainted => self.either(0, ALL),
                looked_at => looked_at.unwrap_or(ALL),
            };
        }
        match elements {
            0 => 0,
            _ if e.tainted => self.either(0, ALL),
            m => e.origin.get(m - 1).map_or(ALL, |last| last + 1),
        }
    }

    /// The elements that a scan reads for `elements` results.
    fn scanned(&self, elements: usize, kind: ScanKind) -> usize {
        match (elements, kind) {
            (ALL, _) | (_, ScanKind::Inclusive) => elements,
            (n, ScanKind::Exclusive) => self.either(n.saturating_sub(1), n),
        }
    }

    fn either(&self, least: usize, most: usize) -> usize {
        if self.most { most } else { least }
    }

    /// The positions before a move within segments. If the demand is generous, these are all of the
    /// segments.
    fn moved(&self, lengths: &Arc<Node>, positions: &Positions, to: Move) -> Positions {
        let Data::Array(columns, _) = self.naive.seen(lengths) else {
            return before(ALL);
        };
        if positions.before == ALL {
            return before(ALL);
        }
        let mut moved = Positions::default();
        let mut start = 0usize;
        for n in &columns[0] {
            let last = start.saturating_add(*n as usize);
            let segment = start..last.min(positions.steps());
            let wanted = |i: &usize| positions.contains(*i);
            if self.most && segment.clone().any(|i| wanted(&i)) {
                moved.before = last;
            }
            let all = start..last;
            let places = segment
                .filter(wanted)
                .map(|i| segments::before(to, &all, i));
            moved.also.extend(places);
            start = last;
        }
        moved
    }

    /// The number of segments that hold at least `elements` elements.
    fn segments_to(&self, lengths: &Arc<Node>, elements: usize) -> usize {
        let mut left = elements as u64;
        match (elements, self.naive.seen(lengths)) {
            (0, _) => 0,
            (1..ALL, Data::Array(columns, _)) => {
                let last = columns[0].iter().position(|n| match left.checked_sub(*n) {
                    Some(rest) if rest > 0 => {
                        left = rest;
                        false
                    }
                    _ => true,
                });
                last.map_or(ALL, |s| s + 1)
            }
            _ => ALL,
        }
    }

    /// The number of elements of the first `segments` segments.
    fn elements_of(&self, lengths: &Arc<Node>, segments: usize) -> usize {
        match (segments, self.naive.seen(lengths)) {
            (0..ALL, Data::Array(columns, _)) => {
                let first = columns[0].iter().take(segments);
                first.fold(0, |n: usize, l| n.saturating_add(*l as usize))
            }
            _ => ALL,
        }
    }
}

/// The parameters that some results of a node's first body need, after simplification by the
/// builder.
fn params(plain: &Body, built: &Node, wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    let simplified = built.kind.bodies().first().copied();
    let body = simplified.filter(|b| b.params == plain.params);
    let body = body.unwrap_or(plain);
    let results = (0..).zip(&body.results).filter(|(f, _)| wanted(*f));
    let live = body.live_terms(results.map(|(_, r)| *r));
    let terms = body.terms.iter().zip(live).filter(|(_, live)| *live);
    let params = terms.filter_map(|(data, _)| match data.term {
        Term::Param(k) => Some(k),
        _ => None,
    });
    params.collect()
}
