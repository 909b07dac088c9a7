//! Choices between array programs: `cond` of a delayed `bool`.
//!
//! A side of a choice is a loop over arrays with at most one step, which computes the side. The
//! loop starts from the other side if that is in memory before, and otherwise from a second such
//! loop. Cheap scalars are a condition in a body instead.

use super::sides::{Below, is_apart, is_stored};
use super::{Start, StepTrace, nodes_of, state_of};
use crate::array::{Array, Ix0, length_of};
use crate::ast::{
    After, AsLong, Axis, Buffer, Builder, Capture, Ends, ExternalPart, Field, Kind, Len, Node,
    Value, show_node, trace, zeros,
};
use crate::error::ErrorKind;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The most computations of delayed scalars that a choice makes for nothing.
const MOST_CHEAP: usize = 16;

/// A value of both sides, first that of the true one.
type Pair = [Arc<Node>; 2];

/// Untyped forms.
impl Builder {
    /// Returns one of two lists of values, as a delayed `bool` says.
    ///
    /// The values are arrays of any rank and delayed scalars. Both lists have the same types and
    /// ranks. Only the chosen list is computed.
    ///
    /// ```
    /// use livefusion::ast::Builder;
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 2]);
    /// let (large, sorted) = (xs.sum().gt(5), xs.sort());
    /// let sides = [sorted, xs].map(|side| [side.node().clone()]);
    /// let chosen = Builder::named("cond").cond(large.node(), &sides[0], &sides[1]);
    /// assert_eq!(Array::<i64>::from_node(chosen[0].clone())?.force()?, [1, 2, 3]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn cond(
        self,
        test: &Arc<Node>,
        then: &[Arc<Node>],
        otherwise: &[Arc<Node>],
    ) -> Vec<Arc<Node>> {
        let mut all = [test].into_iter().chain(then).chain(otherwise);
        if let Some(wrong) = all.find(|n| n.error.is_some()) {
            let mistaken = |n: &Arc<Node>| self.mistaken(wrong, &n.types, n.rank);
            return then.iter().map(mistaken).collect();
        }
        if let Some(kind) = unfit(test, then, otherwise) {
            let fault = |n: &Arc<Node>| self.fault(&n.types, n.rank, kind.clone());
            return then.iter().map(fault).collect();
        }
        if let Some(holds) = known(test) {
            return if holds { then } else { otherwise }.to_vec();
        }
        let choice = Choice {
            builder: self,
            test,
            before: Below::of([test]),
        };
        let sides = || then.iter().zip(otherwise);
        let pairs: Vec<Pair> = sides().flat_map(|(a, b)| self.sides_of(a, b)).collect();
        let mut chosen = choice.all(&pairs).into_iter();
        let whole = |(a, b): (&Arc<Node>, &Arc<Node>)| match Arc::ptr_eq(a, b) {
            true => a.clone(),
            false => self.of_parts(&a.types, a.rank, &mut |types, rank| {
                let none = || self.fault(types, rank, ErrorKind::Empty);
                chosen.next().unwrap_or_else(none)
            }),
        };
        sides().map(whole).collect()
    }

    /// The parts of a value on both sides: the elements, then the lengths of the axes.
    fn sides_of(self, a: &Arc<Node>, b: &Arc<Node>) -> Vec<Pair> {
        if Arc::ptr_eq(a, b) {
            return Vec::new();
        }
        if a.rank < 2 {
            return vec![[a.clone(), b.clone()]];
        }
        let axes = |n: &Node| n.shape.clone().map_or(Vec::new(), |s| s.axes().to_vec());
        let axes = axes(a).into_iter().zip(axes(b));
        let axes = axes.map(|(a, b)| [a.node().clone(), b.node().clone()]);
        let elements = [a, b].map(|n| self.reshape(n, None));
        [elements].into_iter().chain(axes).collect()
    }
}

impl Array<bool, Ix0> {
    /// Returns `then` if this is true, else `otherwise`.
    ///
    /// The sides are arrays of any rank, segments, delayed scalars, numbers, or tuples of up to 6
    /// of these. Only the chosen side is computed, so the other one reads nothing and cannot fail.
    /// Their lengths may differ. If both are known to have one length, so has the result.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let xs = Array::from(vec![3i64, 1, 2]);
    /// let is_sorted = xs.diff().all(|d| d.ge(0));
    /// let sorted = is_sorted.cond(&xs, xs.sort());
    /// assert_eq!(sorted.force()?, [1, 2, 3]);
    /// // The division is only done for arrays with elements.
    /// let mean = xs.len().gt(0).cond(xs.sum() / xs.len().map(|n| n.cast::<i64>()), 0);
    /// assert_eq!(mean.force()?, 2);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// *Cost and fusion.* Each side is a program of its own, as a step of
    /// [`iterate_while`](crate::iterate::iterate_while) is. It fuses internally. Nothing fuses with
    /// the sides, and the result is in memory. Work that a side shares with the test, or with the
    /// rest of the program, is done once, before the choice. Delayed scalars that are cheap and
    /// cannot fail are computed on both sides and fuse with everything.
    ///
    /// In a closure on rows or segments, the segments of each side run that side together.
    ///
    /// *Source.* `acond` of Accelerate.
    ///
    /// # Errors
    /// When forced: an error of the test or of the chosen side; more than 40 choices and loops over
    /// arrays in each other.
    #[doc(alias("acond", "if", "where"))]
    #[track_caller]
    pub fn cond<A, B>(&self, then: A, otherwise: B) -> A::State
    where
        A: Start,
        B: Start<State = A::State>,
    {
        let builder = Builder::named("cond");
        let (then, otherwise) = (then.into_state(), otherwise.into_state());
        let chosen = builder.cond(self.node(), &nodes_of(&then), &nodes_of(&otherwise));
        state_of(builder, &chosen)
    }
}

/// A choice while it is built.
struct Choice<'a> {
    builder: Builder,
    test: &'a Arc<Node>,
    /// The nodes that the test is computed from.
    before: Below<'a>,
}

impl Choice<'_> {
    /// The chosen value of each pair.
    fn all(&self, pairs: &[Pair]) -> Vec<Arc<Node>> {
        let at_once: Vec<Option<Arc<Node>>> = pairs.iter().map(|pair| self.at_once(pair)).collect();
        let is_left =
            |(pair, made): (&Pair, &Option<Arc<Node>>)| made.is_none().then(|| pair.clone());
        let left: Vec<Pair> = pairs.iter().zip(&at_once).filter_map(is_left).collect();
        let mut ended = self.computed_apart(&left).into_iter();
        let each = at_once.into_iter().zip(pairs);
        each.map(|(made, pair)| {
            made.or_else(|| ended.next())
                .unwrap_or_else(|| pair[0].clone())
        })
        .collect()
    }

    /// The chosen value of a pair that needs no loop: both are equal, or both are cheap scalars.
    fn at_once(&self, pair: &Pair) -> Option<Arc<Node>> {
        let [a, b] = pair;
        let is_length = a.rank == 0 && *a.types == [Ty::U64];
        if Arc::ptr_eq(a, b) || is_length && Axis::delayed(a.clone()).is(&Axis::delayed(b.clone()))
        {
            return Some(a.clone());
        }
        let is_cheap = a.rank == 0 && pair.iter().all(|n| self.is_cheap(n));
        is_cheap.then(|| {
            let loc = self.builder.loc();
            let body = trace(&[], |_| {
                let [then, otherwise] = [a, b].map(|n| Field::value(n, loc));
                match Field::value(self.test, loc).first() {
                    Some(test) => test.cond(&then, &otherwise, loc),
                    None => then,
                }
            });
            self.builder.compute(body)
        })
    }

    /// Whether a delayed scalar may be computed for nothing: that is cheap and cannot fail.
    fn is_cheap(&self, scalar: &Arc<Node>) -> bool {
        let (mut stack, mut visited) = (vec![scalar], 0);
        while let Some(node) = stack.pop() {
            visited += 1;
            match &node.kind {
                _ if visited > MOST_CHEAP => return false,
                _ if is_there(node) || self.before.has(node) => {}
                Kind::Compute(body) if body.loops.is_empty() && !body.may_trap() => {
                    for capture in &body.captures {
                        match capture {
                            Capture::Scalar(node) => stack.push(node),
                            Capture::Array(node) if is_there(node) => {}
                            Capture::Array(_) => return false,
                        }
                    }
                }
                Kind::Len if node.inputs.iter().all(is_there) => {}
                _ => return false,
            }
        }
        true
    }

    /// The values of pairs of which a loop computes one side.
    fn computed_apart(&self, pairs: &[Pair]) -> Vec<Arc<Node>> {
        if pairs.is_empty() {
            return Vec::new();
        }
        let side = |k: usize| pairs.iter().map(|pair| pair[k].clone()).collect::<Vec<_>>();
        let (then, otherwise) = (side(0), side(1));
        let below = [&then, &otherwise].map(Below::of);
        let fails = self.negated();
        if otherwise.iter().all(|n| self.is_ready(n, &below[0])) {
            return self.side(self.test, &otherwise, &then);
        }
        if then.iter().all(|n| self.is_ready(n, &below[1])) {
            return self.side(&fails, &then, &otherwise);
        }
        // External parts below both sides run before the choice. So they belong to the state.
        let both = below[0]
            .order
            .iter()
            .filter(|n| is_apart(n) && below[1].has(n));
        let both: Vec<Arc<Node>> = both.map(|n| (*n).clone()).collect();
        let cheap = pairs.iter().map(|pair| self.start_of(pair));
        let start: Vec<Arc<Node>> = cheap.chain(both.iter().cloned()).collect();
        let mut first = self.side(self.test, &start, &then);
        first.truncate(then.len());
        first.extend(both);
        let mut chosen = self.side(&fails, &first, &otherwise);
        chosen.truncate(then.len());
        chosen
    }

    /// Computes a side if a test holds. The start has the other side's values, and then values that
    /// the step does not change.
    fn side(&self, test: &Arc<Node>, start: &[Arc<Node>], side: &[Arc<Node>]) -> Vec<Arc<Node>> {
        let trace = StepTrace::begin(self.builder, start);
        let unchanged = trace.state.iter().skip(side.len());
        let next: Vec<Arc<Node>> = side.iter().chain(unchanged).cloned().collect();
        let no_more = self.builder.constant(&[Const::bool(false)]);
        trace.ended(Ends::Unless(test.clone()), &next, Some(no_more))
    }

    /// Whether a value costs nothing more: it is in memory, or the other side or the test need it.
    fn is_ready(&self, node: &Arc<Node>, other: &Below<'_>) -> bool {
        let mut node = node;
        while let ([of], true) = (node.inputs.as_slice(), node.kind.facts().names()) {
            node = of;
        }
        let is_needed = || self.before.has(node) || other.has(node);
        is_there(node) || (is_apart(node) || is_stored(node)) && is_needed()
    }

    /// A value that costs little, of the type of both sides. It has their length if they have the
    /// same one and it is known before the choice. So a closure on rows knows it too.
    fn start_of(&self, [a, b]: &Pair) -> Arc<Node> {
        let builder = self.builder;
        if a.rank == 0 {
            return builder.compute(zeros(&a.types));
        }
        let [from, other] = [a, b].map(length_source);
        let is_one = Arc::ptr_eq(from, other);
        let len = match a.known_len() {
            Some(n) if b.known_len() == Some(n) => Some(Len::Known(n)),
            _ if !is_one => None,
            _ if from.rank == 0 => self.is_cheap(from).then(|| Len::Delayed(from.clone())),
            _ => (is_there(from) || is_apart(from)).then(|| length_of(builder, from).len()),
        };
        match len {
            Some(_) if is_one && from.rank > 0 && from.types == a.types => {
                builder.reshape(from, None)
            }
            Some(len) => {
                let zeros = a.types.iter().map(|ty| Field::literal(Const::zero(*ty)));
                builder.generate(len, trace(&[Ty::U64], |_| zeros.collect()))
            }
            None => {
                let columns = a.types.iter().map(|ty| Arc::new(Buffer::empty(*ty)));
                builder.manifest(columns.collect())
            }
        }
    }

    fn negated(&self) -> Arc<Node> {
        let loc = self.builder.loc();
        let body = trace(&[], |_| {
            let test = Field::value(self.test, loc);
            [Field::op(Op::Not, &test, loc)].into_iter().collect()
        });
        self.builder.compute(body)
    }
}

/// Whether a node is in memory when a program begins, or consists of literals.
fn is_there(node: &Arc<Node>) -> bool {
    node.is_leaf() && !is_apart(node) || node.value.get().is_some() || node.literal().is_some()
}

/// The array or delayed length that a value is as long as.
///
/// A loop over arrays is taken to keep the lengths of its start.
fn length_source(node: &Arc<Node>) -> &Arc<Node> {
    let mut node = node;
    loop {
        let next = match (&node.after, &node.kind) {
            _ if node.value.get().is_some() => None,
            (After::Apart(ExternalPart::Loop(of), k), _) => of.start.get(*k as usize),
            (After::Apart(ExternalPart::External(of), _), _) => {
                of.gives.like.and_then(|k| of.inputs.get(k))
            }
            (_, Kind::Generate(Len::Delayed(length), _)) => Some(length),
            (_, Kind::Len) => node.inputs.first(),
            (_, kind) => match kind.facts().length {
                AsLong::Own => None,
                AsLong::Inputs | AsLong::Base => node.inputs.first(),
                AsLong::Input(k) => node.inputs.get(k),
            },
        };
        match next {
            Some(next) => node = next,
            None => return node,
        }
    }
}

/// The value of a test that is known while building.
fn known(test: &Node) -> Option<bool> {
    match test.value.get().cloned().or_else(|| test.literal())? {
        Value::Scalar(fields) => fields.first().map(|c| c.bits != 0),
        Value::Array(_) => None,
    }
}

/// Checks the types and ranks of a test and of both sides. Returns the first error.
fn unfit(test: &Arc<Node>, then: &[Arc<Node>], otherwise: &[Arc<Node>]) -> Option<ErrorKind> {
    let malformed = |expected: String, got: String| Some(ErrorKind::Malformed { expected, got });
    if test.rank != 0 || *test.types != [Ty::Bool] {
        return malformed("a delayed bool".to_string(), show_node(test));
    }
    if then.len() != otherwise.len() {
        let expected = format!("two sides of {} values", then.len());
        return malformed(expected, otherwise.len().to_string());
    }
    let differ = |(a, b): &(&Arc<Node>, &Arc<Node>)| a.types != b.types || a.rank != b.rank;
    let (a, b) = then.iter().zip(otherwise).find(differ)?;
    let expected = format!("sides of one type and rank, as {}", show_node(a));
    malformed(expected, show_node(b))
}
