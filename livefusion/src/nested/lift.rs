//! Lifting: walks a closure's graph, and applies the rule of each kind of node.

use super::loops::LoopForm;
use super::merge::by_position;
use super::near::is_scanned;
use super::reads::BodyPlace;
use crate::array::{append_by_index, shortest_by_index};
use crate::ast::{
    After, ArrayLoop, BodyBuilder, Builder, BySegments, ElementRows, External, ExternalPart, Gives,
    Kind, Len, Move, Node, OfSegments, RowLevel, reversed,
};
use crate::error::ErrorKind;
use crate::iterate::{sources, waits};
/// An array per segment: the lengths, and all elements in order.
pub(crate) use crate::segmented::Segments as Rows;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Describes the equivalent of a closure's node on all segments.
#[derive(Clone, Debug)]
pub(crate) enum Lifted {
    /// An invariant: it does not depend on the segment and is computed once.
    Same(Arc<Node>),
    /// A delayed scalar per segment: an array with one element each.
    Each(Arc<Node>),
    /// An array per segment.
    Rows(Rows),
}

/// Tells which of a closure's segments a lift works on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ChosenRows {
    /// All of them.
    All,
    /// Those whose numbers are the elements of the lift's array of segments.
    Numbered,
    /// Some of them.
    Some,
}

/// Identifies a node by its stable address.
pub(super) type Name = *const Node;

/// Flattens a closure's graph onto segments, and caches the nodes that it builds.
pub struct Lift {
    /// An array with one element per segment.
    pub(super) segments: Arc<Node>,
    /// The segments among all segments of the closure.
    pub(super) chosen: ChosenRows,
    /// The lifted form of each visited node. The node is kept alive, so that its address stays
    /// unique.
    known: FxHashMap<Name, (Arc<Node>, Lifted)>,
    /// Visited nodes whose operands may be unknown: those that a step takes from around its loop.
    given: FxHashSet<Name>,
    made: FxHashMap<SharedNode, Arc<Node>>,
    /// How late a node is, or an input of it. None for nodes that are not.
    late: FxHashMap<Name, u64>,
    /// How late the node in work is.
    late_now: u64,
    pub(super) kept: Vec<Arc<Node>>,
    /// The lifted final states of loops over arrays.
    pub(super) ended: FxHashMap<*const ArrayLoop, Vec<Lifted>>,
    /// The forms of loops that are known to be too narrow otherwise.
    pub(super) forms: FxHashMap<*const ArrayLoop, LoopForm>,
}

/// The key of a node that several uses share, with the addresses of its operands. `Lift` keeps
/// these operands alive.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum SharedNode {
    /// Per-segment values for each element: lengths, values.
    Spread(Name, Name),
    /// An invariant for each segment: the array.
    Again(Name),
    /// Indices within segments: lengths.
    Indices(Name),
    /// Offsets of segments: lengths, data.
    Offsets(Name, Name),
    /// Total lengths of segments of segments: outer and inner lengths.
    Total(Name, Name),
    /// Numbers of true tags per segment: lengths, tags.
    Count(Name, Name),
    /// Tags of all elements of segments but the first ones: lengths, number.
    Late(Name, u64),
    /// A length that all segments have: a number, a delayed scalar, or the length of an array.
    Known(u64),
    Scalar(Name),
    LenOf(Name),
    /// The values of the segments that still take steps.
    Chosen(Name),
}

impl Lift {
    /// For segments with these lengths, or for any array with one element per segment.
    pub(crate) fn new(segments: Arc<Node>) -> Lift {
        Lift {
            segments,
            chosen: ChosenRows::All,
            known: FxHashMap::default(),
            given: FxHashSet::default(),
            made: FxHashMap::default(),
            late: FxHashMap::default(),
            late_now: 0,
            kept: Vec::new(),
            ended: FxHashMap::default(),
            forms: FxHashMap::default(),
        }
    }

    /// Builds a node once per key.
    pub(super) fn once(
        &mut self,
        key: SharedNode,
        of: &[&Arc<Node>],
        make: impl FnOnce(&mut Lift) -> Arc<Node>,
    ) -> Arc<Node> {
        if let Some(made) = self.made.get(&key) {
            return made.clone();
        }
        let made = make(self);
        self.kept.extend(of.iter().copied().cloned());
        self.made.insert(key, made.clone());
        made
    }

    /// Sets the lifted form of a placeholder.
    pub(crate) fn stands_for(&mut self, placeholder: &Arc<Node>, lifted: Lifted) {
        let entry = (placeholder.clone(), lifted);
        self.known.insert(Arc::as_ptr(placeholder), entry);
    }

    /// Sets the lifted form of a node from around a loop, for its step.
    pub(super) fn takes(&mut self, node: &Arc<Node>, lifted: Lifted) {
        self.given.insert(Arc::as_ptr(node));
        self.stands_for(node, lifted);
    }

    /// Whether the operands of a node may be unknown.
    pub(super) fn is_given(&self, node: &Arc<Node>) -> bool {
        self.given.contains(&Arc::as_ptr(node))
    }

    /// Lifts a node of the closure's graph to all segments.
    pub(crate) fn lift(&mut self, root: &Arc<Node>) -> Lifted {
        let mut instead: FxHashMap<Name, Arc<Node>> = FxHashMap::default();
        let mut stack = vec![(root.clone(), false)];
        while let Some((node, ready)) = stack.pop() {
            let name = Arc::as_ptr(&node);
            if self.known.contains_key(&name) {
                continue;
            }
            if node.is_leaf() && !waits(&node) || node.error.is_some() {
                self.stands_for(&node, Lifted::Same(node.clone()));
            } else if !ready {
                stack.push((node.clone(), true));
                let below = sources(&node).into_iter();
                let new = below.filter(|n| !self.known.contains_key(&Arc::as_ptr(n)));
                stack.extend(new.map(|n| (n.clone(), false)));
            } else if let Some(other) = instead.remove(&name) {
                let lifted = self.lifted(&other);
                self.stands_for(&node, lifted);
            } else if let Some(fault) = self.fault_below(&node) {
                self.stands_for(&node, Lifted::Same(fault));
            } else if sources(&node).into_iter().all(|n| self.is_same(n)) {
                self.stands_for(&node, Lifted::Same(node.clone()));
            } else if let Some(other) = by_index(&node) {
                instead.insert(name, other.clone());
                stack.push((node, true));
                stack.push((other, false));
            } else {
                let late = self.late_steps(&node);
                self.late_now = late;
                let mut lifted = self.rule(&node);
                self.late_now = late;
                let is_inner = node.kind.facts().by_segments != BySegments::Never;
                match &mut lifted {
                    Lifted::Same(_) => {}
                    Lifted::Each(each) => self.of_rows(each, RowLevel::Row, None),
                    Lifted::Rows(Rows { data, .. }) if is_inner => {
                        self.of_rows(data, RowLevel::Inner, None);
                    }
                    Lifted::Rows(Rows { lengths, data }) => {
                        self.of_rows(data, RowLevel::Element, Some(lengths));
                    }
                }
                self.late_now = 0;
                self.stands_for(&node, lifted);
            }
        }
        self.lifted(root)
    }

    /// How late a node is, or an input of it.
    fn late_steps(&mut self, node: &Arc<Node>) -> u64 {
        let inputs = node.inputs.iter();
        let inputs = inputs.filter_map(|n| self.late.get(&Arc::as_ptr(n)).copied());
        let most = inputs.max().unwrap_or_default();
        let late = node.late().map_or(most, |late| late.by);
        if late > 0 {
            self.late.insert(Arc::as_ptr(node), late);
        }
        late
    }

    /// Relates the elements of a new node to the segments, for errors. Others keep their relation.
    pub(super) fn of_rows(
        &self,
        node: &mut Arc<Node>,
        level: RowLevel,
        lengths: Option<&Arc<Node>>,
    ) {
        let (level, numbers) = match self.chosen {
            ChosenRows::All => (level, None),
            ChosenRows::Numbered => (level, Some(self.segments.clone())),
            ChosenRows::Some => (RowLevel::Inner, None),
        };
        if let Some(new) = Arc::get_mut(node).filter(|new| new.rows.is_none()) {
            new.rows = Some(Box::new(ElementRows {
                level,
                lengths: lengths.unwrap_or(&self.segments).clone(),
                numbers,
                late: self.late_now,
            }));
        }
    }

    /// An error node for a node with a failed operand, with that operand's error.
    fn fault_below(&self, node: &Node) -> Option<Arc<Node>> {
        let error = sources(node)
            .into_iter()
            .find_map(|n| match self.lifted(n) {
                Lifted::Same(lifted) => lifted.error.clone(),
                Lifted::Each(_) | Lifted::Rows(_) => None,
            })?;
        let loc = error.location.unwrap_or(node.loc);
        let b = Builder::at(error.combinator, loc);
        Some(b.fault(&node.types, node.rank, error.kind))
    }

    /// The lifted form of a node. A node that was not visited is an invariant.
    pub(super) fn lifted(&self, node: &Arc<Node>) -> Lifted {
        match self.known.get(&Arc::as_ptr(node)) {
            Some((_, lifted)) => lifted.clone(),
            None => Lifted::Same(node.clone()),
        }
    }

    pub(super) fn is_same(&self, node: &Arc<Node>) -> bool {
        matches!(self.lifted(node), Lifted::Same(_))
    }

    /// Applies the rule of a node that depends on the segment.
    fn rule(&mut self, node: &Arc<Node>) -> Lifted {
        let b = Builder::like(node);
        match &node.kind {
            Kind::Manifest => Lifted::Same(node.clone()),
            Kind::Input(_) => match &node.after {
                After::Apart(ExternalPart::External(of), _) => self.external(b, node, of),
                After::Apart(ExternalPart::Loop(of), k) => self.loop_result(node, of, *k),
                After::Nothing | After::Sources => no_rule(node),
            },
            Kind::Map(body) => {
                let (lengths, inputs) = self.in_step(b, node);
                let place = BodyPlace::Element(lengths.clone());
                let data = self.map_at(b, &place, &inputs, body);
                rows(lengths, data)
            }
            Kind::Zip => {
                let (lengths, inputs) = self.in_step(b, node);
                rows(lengths, b.zip(&inputs))
            }
            Kind::Fields(range) => {
                let (lengths, inputs) = self.in_step(b, node);
                rows(lengths, b.fields(&inputs[0], range.clone()))
            }
            Kind::Filter(test) => {
                let (lengths, inputs) = self.in_step(b, node);
                let place = BodyPlace::Element(lengths.clone());
                let tags = self.map_at(b, &place, &inputs, test);
                self.packed(b, &lengths, &inputs[0], &tags)
            }
            Kind::Pack => {
                let (lengths, inputs) = self.in_step(b, node);
                let tags = match node.late() {
                    Some(late) if !late.padded => self.late_tags(b, &lengths, late.by),
                    _ => inputs[1].clone(),
                };
                self.packed(b, &lengths, &inputs[0], &tags)
            }
            Kind::Fold(fold) => {
                let of = self.up_to_end(fold, &node.inputs[0]);
                let Rows { lengths, data } = self.rows_of(b, &of);
                let level = super::folds::FoldLevel::outer(lengths);
                Lifted::Each(self.fold(b, fold, &level, &data, None))
            }
            Kind::ScanTotal => match &node.inputs[0].kind {
                Kind::Scan(fold, _) => {
                    let Rows { lengths, data } = self.rows_of(b, &node.inputs[0].inputs[0]);
                    let level = super::folds::FoldLevel::outer(lengths);
                    Lifted::Each(self.fold(b, fold, &level, &data, None))
                }
                _ => no_rule(node),
            },
            Kind::Scan(fold, kind) => {
                let Rows { lengths, data } = match reversed(&node.inputs[0]) {
                    Some(of) => self.reversed(b, of),
                    None => self.rows_of(b, &node.inputs[0]),
                };
                let level = super::folds::FoldLevel::outer(lengths.clone());
                let scanned = self.fold(b, fold, &level, &data, Some(*kind));
                rows(lengths, scanned)
            }
            Kind::Len => Lifted::Each(self.rows_of(b, &node.inputs[0]).lengths),
            Kind::Compute(body) => Lifted::Each(self.computed_each(b, body)),
            Kind::Generate(..) if let Some(of) = reversed(node).filter(|of| is_scanned(of)) => {
                Lifted::Rows(self.reversed(b, of))
            }
            Kind::Generate(len, body) => {
                if let Some(near) = self.neighbours(b, len, body) {
                    return near;
                }
                let lengths = self.length(b, len);
                let reads = self.reads(b, &[body], &BodyPlace::Segment);
                let body = reads.behind(body, &body.params.clone());
                let data = b.expand(&lengths, &reads.columns, body);
                rows(lengths, data)
            }
            Kind::Expand(body) => self.expand(b, node, body),
            Kind::FoldS(fold) => {
                let (outer, inner) = self.inner_lengths(b, &node.inputs[0]);
                let data = self.within(b, &node.inputs[1], &outer, &inner).data;
                let level = super::folds::FoldLevel::inner(outer.clone(), inner);
                let folded = self.fold(b, fold, &level, &data, None);
                rows(outer, folded)
            }
            Kind::ScanS(fold, kind) => {
                let (outer, inner) = self.inner_lengths(b, &node.inputs[0]);
                let Rows { lengths, data } = self.within(b, &node.inputs[1], &outer, &inner);
                let level = super::folds::FoldLevel::inner(outer, inner);
                let scanned = self.fold(b, fold, &level, &data, Some(*kind));
                rows(lengths, scanned)
            }
            Kind::SortS(sorted) => {
                let (outer, inner) = self.inner_lengths(b, &node.inputs[0]);
                let Rows { lengths, data } = self.within(b, &node.inputs[1], &outer, &inner);
                rows(lengths, b.sort_keys(&inner, &data, *sorted))
            }
            Kind::MoveS(to) => {
                let (outer, inner) = self.inner_lengths(b, &node.inputs[0]);
                let Rows { lengths, data } = self.within(b, &node.inputs[1], &outer, &inner);
                rows(lengths, b.move_each(&inner, &data, *to))
            }
            Kind::CountS => {
                let (outer, inner) = self.inner_lengths(b, &node.inputs[0]);
                let tags = self.within(b, &node.inputs[1], &outer, &inner).data;
                rows(outer, self.counted(b, &inner, &tags))
            }
            Kind::TakeWhile { .. } | Kind::Take(_) => self.ends(b, node),
            Kind::Scatter(combine, _) => self.scatter(b, node, combine.as_ref()),
            Kind::ScanByIndex(step, kind, _) => self.scan_by_index(b, node, step, *kind),
            Kind::Append | Kind::ZipShortest | Kind::Merge(_) | Kind::Custom(_) => no_rule(node),
        }
    }

    /// Tags of the elements of each segment but the first ones. One node for late arrays that are
    /// in lockstep.
    fn late_tags(&mut self, b: Builder, lengths: &Arc<Node>, by: u64) -> Arc<Node> {
        let key = SharedNode::Late(Arc::as_ptr(lengths), by);
        self.once(key, &[lengths], |lift| {
            let mut is_there = BodyBuilder::new(&[Ty::U64]);
            let (index, by) = (is_there.param(0), is_there.lit(Const::u64(by)));
            let is = is_there.op(Op::Le, &[by, index]);
            let mut tags = b.map(&[lift.indices(b, lengths)], is_there.finish(&[is]));
            lift.of_rows(&mut tags, RowLevel::Element, Some(lengths));
            tags
        })
    }

    /// The elements of a segment from the last to the first.
    fn reversed(&mut self, b: Builder, of: &Arc<Node>) -> Rows {
        let Rows { lengths, data } = self.rows_of(b, of);
        let data = b.move_each(&lengths, &data, Move::Turned);
        Rows { lengths, data }
    }

    /// Lifts an external function, if it has a form for segments and its result has the length of
    /// an input.
    fn external(&mut self, b: Builder, node: &Node, of: &External) -> Lifted {
        let first = of.inputs.iter().position(|n| n.rank == 1);
        let like = if node.rank == 1 { of.gives.like } else { first };
        let (Some(like), Some(of_segments)) = (like, of.function.of_segments()) else {
            return no_rule(node);
        };
        let lengths = self.rows_of(b, &of.inputs[like]).lengths;
        let mut inputs = vec![lengths.clone()];
        for input in &of.inputs {
            let lifted = self.lifted(input);
            inputs.push(match (input.rank, lifted) {
                (1, lifted) => self.aligned(b, &lifted, &lengths),
                (_, Lifted::Same(scalar)) => self.constant_scalar(b, &scalar),
                (_, Lifted::Each(all) | Lifted::Rows(Rows { data: all, .. })) => all,
            });
        }
        let gives = Gives {
            types: of.gives.types.clone(),
            rank: 1,
            like: Some(if node.rank == 1 { like + 1 } else { 0 }),
        };
        let data = match of_segments {
            OfSegments::Apart(function) => b.external(&inputs, gives, function),
            OfSegments::Fused(combinator) => combinator(b, &lengths, &inputs[like + 1]),
        };
        match node.rank {
            1 => rows(lengths, data),
            _ => Lifted::Each(data),
        }
    }

    /// The inputs of a node, aligned elementwise to segments of common lengths.
    pub(super) fn in_step(&mut self, b: Builder, node: &Node) -> (Arc<Node>, Vec<Arc<Node>>) {
        let lifted: Vec<Lifted> = node.inputs.iter().map(|n| self.lifted(n)).collect();
        let first = lifted.iter().find_map(|l| match l {
            Lifted::Rows(rows) => Some(rows.lengths.clone()),
            _ => None,
        });
        let lengths = first.unwrap_or_else(|| self.rows_of(b, &node.inputs[0]).lengths);
        let inputs = lifted.iter().map(|l| self.aligned(b, l, &lengths));
        let inputs = inputs.collect();
        (lengths, inputs)
    }

    /// The lengths of a generator.
    pub(super) fn length(&mut self, b: Builder, len: &Len) -> Arc<Node> {
        match len {
            Len::Known(n) => self.constant_known(b, *n),
            Len::Delayed(n) => match self.lifted(n) {
                Lifted::Each(lengths) => lengths,
                _ => self.constant_scalar(b, n),
            },
            Len::Checked(body) => self.checked_length(b, body),
        }
    }
}

pub(super) fn rows(lengths: Arc<Node>, data: Arc<Node>) -> Lifted {
    Lifted::Rows(Rows { lengths, data })
}

/// The error for a combinator without a rule.
pub(super) fn no_rule(node: &Node) -> Lifted {
    let b = Builder::like(node);
    Lifted::Same(b.fault(&node.types, node.rank, ErrorKind::NotNested))
}

/// The equivalent of a combinator as an index function, if that is its rule.
fn by_index(node: &Node) -> Option<Arc<Node>> {
    let b = Builder::like(node);
    match &node.kind {
        Kind::Append => Some(append_by_index(b, &node.inputs)),
        Kind::ZipShortest => Some(shortest_by_index(b, &node.inputs)),
        Kind::Merge(step) => Some(by_position(b, &node.inputs, step)),
        _ => None,
    }
}
