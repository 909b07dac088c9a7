//! Length algebra: finds delayed lengths that are equal for all inputs.
//!
//! A delayed `u64` is a sum of products of *parts*: other delayed scalars, lengths of arrays, and
//! results of other operators. Arithmetic wraps, so equal sums are equal for all values of their
//! parts. Each sum has a number, its *size*. For example, `(n + 1) * m - m` and `m * n` have one
//! size, and so has the length of a `generate` of `n` rows of `m`.
//!
//! A computation with the size of an earlier delayed scalar becomes that scalar. A computation that
//! may trap is a part and stays.

use super::uniform::{Uniform, uniform_value};
use super::{FieldRef, Graph, GraphNode, NodeId, address};
use crate::ast::{AsLong, Assert, Body, Kind, Len, Node, Term, TermId, divides_all};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The limit of terms in an analysed body, and of products or parts in a sum.
const MOST: usize = 32;

/// Numbers the value of a delayed scalar.
///
/// Values with one number are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Size(u32);

/// The number of a part.
type Factor = u32;

/// Products in order, each with its coefficient. The empty product is one.
type Sum = SmallVec<[(SmallVec<[Factor; 2]>, u64); 2]>;

/// A value that is not decomposed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Indivisible {
    Scalar(FieldRef),
    /// The length of an array with a length of its own.
    Length(NodeId),
    /// A constant of another type than `u64`.
    Constant(Const),
    Op(Op, Ty, SmallVec<[Size; 3]>),
    Cond([Size; 3]),
}

/// Describes the number of elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Length {
    /// The length of this array, which has a length of its own.
    Of(NodeId),
    /// A length of this size.
    Size(Size),
}

/// Holds the known equalities of a graph's delayed lengths.
#[derive(Clone, Debug, Default)]
pub struct Algebra {
    sums: Vec<Sum>,
    sizes: FxHashMap<Sum, Size>,
    parts: FxHashMap<Indivisible, Factor>,
    scalars: FxHashMap<FieldRef, Size>,
    /// The first delayed scalar of each size.
    firsts: FxHashMap<Size, NodeId>,
    /// The length of each node.
    lengths: Vec<Length>,
    /// The row length of each of these descriptors.
    rows: FxHashMap<FieldRef, Size>,
    /// Sizes that the graph checks for equality. If they differ, a computation fails.
    agreed: FxHashSet<(Size, Size)>,
    /// The sizes in use, numbered in order of appearance.
    order: FxHashMap<Size, u64>,
    /// The numbers of the sizes at each occurrence. They are this analysis's part of the key.
    found: Vec<u64>,
    /// Whether a size measures a length or rows. If not, the analysis has no effect.
    measures: bool,
    /// Whether two lengths have one size, or are checked to be equal.
    meets: bool,
    /// The constants that sizes depend on, by slot.
    literals: Vec<u32>,
    /// The addresses of nodes that were replaced by another node of their size.
    absorbed: FxHashSet<usize>,
}

impl Algebra {
    /// Returns the number of elements of an array.
    pub fn length(&self, id: NodeId) -> Length {
        let known = self.lengths.get(id.index()).copied();
        known.unwrap_or(Length::Of(id))
    }

    /// Returns whether two uniform descriptors have equal row lengths.
    ///
    /// They are equal by construction or by a check.
    pub fn agree(&self, a: FieldRef, b: FieldRef) -> bool {
        let sizes = self.rows.get(&a).zip(self.rows.get(&b));
        sizes.is_some_and(|(a, b)| self.are_one(*a, *b))
    }

    /// Returns whether two descriptors have equal row lengths by construction.
    pub fn are_equal_rows(&self, a: FieldRef, b: FieldRef) -> bool {
        a == b || self.rows.contains_key(&a) && self.rows.get(&a) == self.rows.get(&b)
    }

    /// Returns whether arrays are equally long.
    ///
    /// They are by construction or by a check.
    pub fn agree_in_length(&self, a: NodeId, b: NodeId) -> bool {
        match (self.length(a), self.length(b)) {
            (Length::Size(a), Length::Size(b)) => self.are_one(a, b),
            (a, b) => a == b,
        }
    }

    fn are_one(&self, a: Size, b: Size) -> bool {
        a == b || self.agreed.contains(&(a, b)) || self.agreed.contains(&(b, a))
    }

    /// Returns the total number of elements of rows of these lengths.
    pub fn all_rows(&self, lengths: FieldRef) -> Option<Length> {
        self.all_of(lengths).map(Length::Size)
    }

    fn all_of(&self, lengths: FieldRef) -> Option<Size> {
        let (each, count) = (
            self.rows.get(&lengths)?,
            self.size_of(self.length(lengths.0))?,
        );
        let all = product(self.sum(count), self.sum(*each))?;
        self.sizes.get(&all).copied()
    }

    fn size_of(&self, length: Length) -> Option<Size> {
        match length {
            Length::Size(size) => Some(size),
            Length::Of(array) => {
                let factor = *self.parts.get(&Indivisible::Length(array))?;
                self.sizes.get(&one(factor)).copied()
            }
        }
    }

    /// The sizes found, as words of a key. Graphs that differ only in them have different keys.
    pub(super) fn found(&self) -> &[u64] {
        match self.measures {
            true => &self.found,
            false => &[],
        }
    }

    /// The constants that must be equal wherever this graph is recognised. If no sizes are equal,
    /// other constants may make some equal: then a check remains that cannot fail.
    pub(super) fn literals(&self) -> &[u32] {
        match self.meets && (self.measures || !self.absorbed.is_empty()) {
            true => &self.literals,
            false => &[],
        }
    }

    /// Whether a node was replaced by another one of its size.
    pub(super) fn is_absorbed(&self, address: usize) -> bool {
        self.absorbed.contains(&address)
    }
}

/// Collects sizes while a graph is recovered.
impl Algebra {
    /// The size of a node to be added, and the first delayed scalar of that size.
    pub(super) fn meet(
        &mut self,
        graph: &Graph,
        entry: &GraphNode,
    ) -> (Option<Size>, Option<NodeId>) {
        if entry.leaf || *entry.node.types != [Ty::U64] {
            return (None, None);
        }
        let size = match &entry.node.kind {
            Kind::Compute(body) => self.computed(graph, body, &entry.captures[0]),
            Kind::Len => {
                let length = self.length(entry.inputs[0]);
                Some(self.sized(length))
            }
            _ => None,
        };
        (size, size.and_then(|s| self.firsts.get(&s).copied()))
    }

    /// Records that a node is replaced by another one.
    pub(super) fn absorb(&mut self, node: &Arc<Node>) {
        self.absorbed.insert(address(node));
        self.meets = true;
    }

    /// Records the node added last, and its size.
    pub(super) fn add(&mut self, graph: &Graph, id: NodeId, size: Option<Size>) {
        let entry = &graph.nodes[id.index()];
        if let Some(size) = size {
            self.scalars.insert((id, 0), size);
            self.firsts.entry(size).or_insert(id);
            self.has(size);
        }
        // The checks of a computation depend on its constants, too.
        if matches!(entry.node.kind, Kind::Compute(_)) && *entry.node.types == [Ty::U64] {
            let slots = entry.constants.iter().flat_map(|c| c.values());
            self.literals.extend(slots);
        }
        let length = self.length_of(graph, id);
        self.lengths.push(length);
    }

    /// Records that the graph has a length of this size, which another length may share.
    fn has(&mut self, size: Size) {
        self.meets |= self.order.contains_key(&size);
        self.meet_size(size);
    }

    fn meet_size(&mut self, size: Size) {
        let next = self.order.len() as u64;
        let at = *self.order.entry(size).or_insert(next);
        self.found.push(at);
    }

    fn length_of(&mut self, graph: &Graph, id: NodeId) -> Length {
        let entry = &graph.nodes[id.index()];
        if entry.leaf || entry.node.rank == 0 {
            return Length::Of(id);
        }
        let facts = entry.node.kind.facts();
        match &entry.node.kind {
            _ if facts.length == AsLong::Inputs => {
                let first = self.length(entry.inputs[0]);
                // A consumer of arrays whose lengths may differ is as long as they are only if a
                // check holds.
                let equal = entry.inputs.iter().all(|i| self.length(*i) == first);
                if equal { first } else { Length::Of(id) }
            }
            Kind::Generate(Len::Delayed(_), _) => match entry.length {
                Some(by) => {
                    let size = self.scalar(graph, graph.resolve(by, 0));
                    self.measures = true;
                    self.meet_size(size);
                    Length::Size(size)
                }
                None => Length::Of(id),
            },
            Kind::Expand(_) => {
                let all = self.rows_of(graph, entry.inputs[0]);
                all.map_or(Length::Of(id), Length::Size)
            }
            _ if facts.by_segments.cut() => {
                self.rows_of(graph, entry.inputs[0]);
                Length::Of(id)
            }
            _ => Length::Of(id),
        }
    }

    /// Records a uniform row length. Returns the total number of elements.
    fn rows_of(&mut self, graph: &Graph, lengths: NodeId) -> Option<Size> {
        let field = graph.resolve(lengths, 0);
        let count = self.length(field.0);
        if self.rows.contains_key(&field) {
            return self.all_of(field);
        }
        let each = match (uniform_value(graph, field)?, count) {
            (Uniform::Scalar(field), _) => self.scalar(graph, field),
            // The next force may have other values of known shapes.
            (Uniform::Literal(..), Length::Of(_)) => return None,
            (Uniform::Literal(term, c), Length::Size(_)) => {
                let slots = graph.nodes[field.0.index()].constants.last();
                self.literals.extend(slots.and_then(|s| s.get(&term.0)));
                let each = self.number(constant(c.bits));
                self.has(each);
                each
            }
        };
        self.measures = true;
        self.meet_size(each);
        self.rows.insert(field, each);
        let count = self.sized(count);
        let all = product(self.sum(count), self.sum(each))?;
        let all = self.number(all);
        self.has(all);
        Some(all)
    }

    fn sized(&mut self, length: Length) -> Size {
        match length {
            Length::Size(size) => size,
            Length::Of(array) => self.part(Indivisible::Length(array)),
        }
    }

    /// The size of a delayed scalar.
    fn scalar(&mut self, graph: &Graph, (id, field): FieldRef) -> Size {
        if let Some(size) = self.scalars.get(&(id, field)) {
            return *size;
        }
        let size = self.part(Indivisible::Scalar((id, field)));
        self.has(size);
        self.scalars.insert((id, field), size);
        if *graph.node(id).types == [Ty::U64] {
            self.firsts.entry(size).or_insert(id);
        }
        size
    }

    fn part(&mut self, part: Indivisible) -> Size {
        let next = self.parts.len() as Factor;
        let factor = *self.parts.entry(part).or_insert(next);
        self.number(one(factor))
    }

    fn sum(&self, size: Size) -> &Sum {
        &self.sums[size.0 as usize]
    }

    fn number(&mut self, sum: Sum) -> Size {
        if let Some(size) = self.sizes.get(&sum) {
            return *size;
        }
        let size = Size(self.sums.len() as u32);
        self.sums.push(sum.clone());
        self.sizes.insert(sum, size);
        size
    }

    /// The size of a computation that cannot trap. Its unconditional equality checks are recorded.
    fn computed(&mut self, graph: &Graph, body: &Body, captures: &[NodeId]) -> Option<Size> {
        if body.terms.len() > MOST || !body.loops.is_empty() {
            return None;
        }
        let always = !body.terms.iter().any(|d| matches!(d.term, Term::Cond(..)));
        let mut sizes: SmallVec<[Option<Size>; MOST]> = SmallVec::new();
        let mut traps = false;
        for data in &body.terms {
            let size = |t: &TermId| sizes[t.index()];
            let size = match &data.term {
                Term::Lit(c) => Some(self.literal(*c)),
                Term::Scalar { capture, field } => {
                    let at = graph.resolve(captures[*capture as usize], *field);
                    Some(self.scalar(graph, at))
                }
                Term::Op(op, args) => {
                    let by = args.get(1).map(|by| &body.terms[by.index()].term);
                    let fine = matches!(by, Some(Term::Lit(c)) if divides_all(*c));
                    traps |= op.may_trap(data.ty) && !fine;
                    let args: Option<SmallVec<[Size; 3]>> = args.iter().map(size).collect();
                    args.map(|args| self.operated(*op, data.ty, args))
                }
                Term::Flat(args) => match [0, 1, 2].map(|k| size(&args[k])) {
                    [Some(outer), Some(inner), Some(length)] => {
                        let rows = self.operated(Op::Mul, Ty::U64, smallvec![outer, length]);
                        Some(self.operated(Op::Add, Ty::U64, smallvec![rows, inner]))
                    }
                    _ => None,
                },
                Term::Cond(c, a, b) => match [c, a, b].map(size) {
                    [Some(c), Some(a), Some(b)] => Some(self.part(Indivisible::Cond([c, a, b]))),
                    _ => None,
                },
                Term::Assert(assert, args) => {
                    let (got, expected) = (size(&args[0]), size(&args[1]));
                    let known = *assert == Assert::Equal && got.is_some() && got == expected;
                    // Equal lengths that overflow a `u64` give the same error.
                    let counts = matches!(assert, Assert::Adds | Assert::Multiplies);
                    traps |= !known && !counts;
                    if let (Assert::Equal, true, Some(got), Some(expected)) =
                        (assert, always, got, expected)
                    {
                        self.agreed.insert((got, expected));
                        self.meets = true;
                        self.meet_size(got);
                        self.meet_size(expected);
                    }
                    got
                }
                Term::At { .. } => {
                    traps = true;
                    None
                }
                Term::Param(_) | Term::LoopVar(..) | Term::LoopResult(..) => None,
            };
            sizes.push(size);
        }
        let result = body.results.first()?;
        sizes[result.index()].filter(|_| !traps)
    }

    fn literal(&mut self, c: Const) -> Size {
        match c.ty {
            Ty::U64 => self.number(constant(c.bits)),
            _ => self.part(Indivisible::Constant(c)),
        }
    }

    fn operated(&mut self, op: Op, ty: Ty, mut args: SmallVec<[Size; 3]>) -> Size {
        let sum = match (op, args.as_slice(), ty) {
            (Op::Copy, [x], _) => return *x,
            (Op::Min | Op::Max, [x, y], Ty::U64) if x == y => return *x,
            (Op::Add, [x, y], Ty::U64) => added(self.sum(*x), self.sum(*y), 1),
            (Op::Sub, [x, y], Ty::U64) => added(self.sum(*x), self.sum(*y), u64::MAX),
            (Op::Mul, [x, y], Ty::U64) => product(self.sum(*x), self.sum(*y)),
            _ => None,
        };
        // Each part of the operands must stay in the sum, since its computation may fail.
        let keeps = |sum: &Sum| {
            let kept = |f: &Factor| sum.iter().any(|(product, _)| product.contains(f));
            let parts = args.iter().flat_map(|a| self.sum(*a));
            parts.flat_map(|(product, _)| product).all(kept)
        };
        if let Some(sum) = sum.filter(keeps) {
            return self.number(sum);
        }
        if op.joins_in_any_order(ty) {
            args.sort_unstable();
        }
        self.part(Indivisible::Op(op, ty, args))
    }
}

/// One part with coefficient 1.
fn one(factor: Factor) -> Sum {
    smallvec![(smallvec![factor], 1)]
}

/// A constant: the empty product with this coefficient.
fn constant(n: u64) -> Sum {
    match n {
        0 => Sum::new(),
        n => smallvec![(SmallVec::new(), n)],
    }
}

/// The sum of one sum and a multiple of another; none if it is long.
fn added(a: &Sum, b: &Sum, times: u64) -> Option<Sum> {
    let more = b.iter().map(|(p, n)| (p.clone(), n.wrapping_mul(times)));
    in_order(a.iter().cloned().chain(more).collect())
}

/// The product of two sums; none if it is long.
fn product(a: &Sum, b: &Sum) -> Option<Sum> {
    if a.len() * b.len() > MOST {
        return None;
    }
    let mut all = Sum::new();
    for (p, n) in a {
        for (q, m) in b {
            let mut factors: SmallVec<[Factor; 2]> = p.iter().chain(q).copied().collect();
            factors.sort_unstable();
            all.push((factors, n.wrapping_mul(*m)));
        }
    }
    in_order(all)
}

/// Merges products into order, each once; none if there are many or long ones.
fn in_order(mut all: Sum) -> Option<Sum> {
    all.sort_unstable();
    all.dedup_by(|next, product| {
        let same = next.0 == product.0;
        if same {
            product.1 = product.1.wrapping_add(next.1);
        }
        same
    });
    all.retain(|(_, n)| *n != 0);
    let short = all.len() <= MOST && all.iter().all(|(p, _)| p.len() <= MOST);
    short.then_some(all)
}
