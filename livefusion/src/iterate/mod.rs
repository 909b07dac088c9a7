//! Loops over arrays: `iterate_n` and `iterate_while`. Choices between arrays: `cond`.
//!
//! Their graph nodes are defined in `ast/array_loop`, and their execution in `runtime/iterate`.

mod captures;
mod choice;
mod invariants;
mod price;
mod recover;
mod sides;

pub(crate) use captures::varying;
pub(crate) use sides::CommonWork;

use crate::array::{Array, IntoLen, Ix0, Rank, extent};
use crate::ast::{After, ArrayLoop, Axis, Builder, Ends, Node, next_number, show_node, show_types};
use crate::elt::{Elt, Scalar};
use crate::error::ErrorKind;
use crate::prepare::{Given, Inputs, of_no_rank, with_axes};
use crate::segmented::Segmented;
use crate::sharing::links;
use loop_lang::types::Ty;
use std::sync::{Arc, OnceLock};

/// Untyped forms.
///
/// The state is a list of arrays of any rank and delayed scalars. Their number, types and ranks are
/// fixed by the start.
impl Builder {
    /// Applies `n` steps to a state, and returns the final state.
    ///
    /// `next` builds one step. It is called once, on nodes that represent any state.
    ///
    /// ```
    /// use livefusion::ast::{Axis, BodyBuilder, Builder, Op, Ty};
    /// use livefusion::prelude::*;
    /// let start = Array::from(vec![1u64, 10]);
    /// let ended = Builder::named("iterate_n").iterate_n(Axis::from(3), &[start.node().clone()], |state| {
    ///     let mut b = BodyBuilder::new(&[Ty::U64]);
    ///     let x = b.param(0);
    ///     let twice = b.op(Op::Add, &[x, x]);
    ///     vec![Builder::named("map").map(state, b.finish(&[twice]))]
    /// });
    /// assert_eq!(Array::<u64>::from_node(ended[0].clone())?.force()?, [8, 80]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    pub fn iterate_n(
        self,
        n: Axis,
        start: &[Arc<Node>],
        next: impl FnOnce(&[Arc<Node>]) -> Vec<Arc<Node>>,
    ) -> Vec<Arc<Node>> {
        let times = Ends::After(n.node().clone());
        build(self, start, times, |state| (next(state), None))
    }

    /// Applies steps to `start` until the test, a delayed `bool`, fails.
    ///
    /// Returns the first state that fails the test. `next` builds one step. It is called once, on
    /// nodes that represent any state. The test is called twice, on `start` and on the result of
    /// `next`.
    pub fn iterate_while(
        self,
        start: &[Arc<Node>],
        test: impl Fn(&[Arc<Node>]) -> Arc<Node>,
        next: impl FnOnce(&[Arc<Node>]) -> Vec<Arc<Node>>,
    ) -> Vec<Arc<Node>> {
        let first = Ends::Unless(test(start));
        build(self, start, first, |state| {
            let next = next(state);
            let goes_on = test(&next);
            (next, Some(goes_on))
        })
    }
}

/// Applies `n` steps to a state, and returns the final state.
///
/// `next` builds one step. It is called once, on arrays that represent any state.
///
/// The state is an array of any rank, segments, a delayed scalar, or a tuple of up to 6 of these. A
/// delayed scalar may start from a number. The lengths of the arrays may change from step to step.
/// The results are delayed, as all arrays are. The loop runs once, when a dependent of any result
/// is forced.
///
/// ```
/// use livefusion::prelude::*;
/// let grid = Array::from([[0u64, 1, 0], [0, 1, 0], [0, 1, 0]]);
/// let life = iterate_n(3, &grid, |cells| {
///     let near = cells.stencil2(Boundary::Constant(0), |[[a, b, c], [d, _, e], [f, g, h]]| {
///         a + b + c + d + e + f + g + h
///     });
///     cells.zip_with(&near, |here, n| (n.eq(3) | (here.eq(1) & n.eq(2))).cast::<u64>())
/// });
/// assert_eq!(life.force()?, [[0, 0, 0], [1, 1, 1], [0, 0, 0]]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// *Cost and fusion.* Each step is a separate program. It fuses internally and is compiled once.
/// Each call reuses the arrays of the state before last as memory for the next state. Nothing fuses
/// across the start or end of the loop, or between steps.
///
/// A scatter onto the state updates it in place, so a step that writes a few values costs only
/// these writes. A state with another owner, such as the caller's start state, is copied first. So
/// is a state whose old value is used after the scatter. [`explain`](crate::Force::explain) reports
/// such copies. The start arrays are never changed. Loop-invariant arrays are computed once, before
/// the first step: folds, scans, filters, scatters and costly maps. A cheap map of an array in memory
/// is computed in each step, since reading its result would cost as much.
///
/// A step may contain loops. Nested loops, and those of a [prepared](mod@crate::prepare) program,
/// are compiled once and run each time. A nested loop that does not depend on the surrounding state
/// runs before the first step, even if there are no steps. A loop without changing inputs runs only
/// once.
///
/// In a closure on rows or segments, all of them take a step together
/// ([`map_segments`](crate::Segmented::map_segments)).
///
/// A step that only maps the state elementwise becomes a scalar loop in one map, as
/// [`iterate`](crate::exp::iterate) builds it. That map fuses like any other. A loop over delayed
/// scalars becomes a scalar loop, too.
///
/// *Source.* `awhile` of the Accelerate chapter; `loop` of "A T2 Graph-Reduction Approach To
/// Fusion", section 2.
///
/// # Errors
/// When forced: an error of a step, with the location of its call; more than 40 nested loops; a
/// request to the engine to stop.
#[doc(alias = "fori_loop")]
#[track_caller]
pub fn iterate_n<S: Start>(
    n: impl IntoLen,
    start: S,
    next: impl FnOnce(S::State) -> S::State,
) -> S::State {
    let builder = Builder::named("iterate_n");
    let times =
        extent(builder, n).unwrap_or_else(|kind| Axis::delayed(builder.fault(&[Ty::U64], 0, kind)));
    let start = nodes_of(&start.into_state());
    let ended = builder.iterate_n(times, &start, |state| {
        nodes_of(&next(state_of(builder, state)))
    });
    state_of(builder, &ended)
}

/// Applies steps to `start` until `test` fails.
///
/// Returns the first state that fails the test. `next` builds one step. It is called once, on
/// arrays that represent any state. `test` is called twice, on `start` and on the result of `next`.
/// In all other respects it is like [`iterate_n`].
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![1.0f64, 2.0, 30.0]);
/// let (small, steps) = iterate_while(
///     (&xs, 0u64),
///     |(xs, _)| xs.max().gt(1.0),
///     |(xs, n)| (xs.map(|x| x / 2.0), n + 1),
/// );
/// assert_eq!((&steps, &small.max()).force()?, (5, 0.9375));
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// As [`iterate_n`].
#[doc(alias = "awhile")]
#[track_caller]
pub fn iterate_while<S: Start>(
    start: S,
    test: impl Fn(S::State) -> Array<bool, Ix0>,
    next: impl FnOnce(S::State) -> S::State,
) -> S::State {
    let builder = Builder::named("iterate_while");
    let start = nodes_of(&start.into_state());
    let ended = builder.iterate_while(
        &start,
        |state| test(state_of(builder, state)).node().clone(),
        |state| nodes_of(&next(state_of(builder, state))),
    );
    state_of(builder, &ended)
}

/// The nodes of a state, one for each array.
fn nodes_of<S: Inputs>(state: &S) -> Vec<Arc<Node>> {
    let mut nodes = Given::new();
    state.nodes(&mut nodes);
    nodes.into_iter().cloned().collect()
}

/// The state of these nodes. There must be as many as it has arrays.
fn state_of<S: Inputs>(builder: Builder, nodes: &[Arc<Node>]) -> S {
    let mut nodes = nodes.iter().cloned();
    S::made(&mut |types, rank| {
        let node = nodes.next().filter(|_| rank.is_some());
        node.unwrap_or_else(|| of_no_rank(builder, types))
    })
}

/// The maximal nesting of loops. They run, and are explained, on one stack.
const MAX_NESTED: u32 = 40;

/// Traces a step, and builds the results of the loop.
fn build(
    builder: Builder,
    start: &[Arc<Node>],
    ends: Ends,
    step: impl FnOnce(&[Arc<Node>]) -> (Vec<Arc<Node>>, Option<Arc<Node>>),
) -> Vec<Arc<Node>> {
    let tracing = StepTrace::begin(builder, start);
    let (next, goes_on) = step(&tracing.state);
    tracing.ended(ends, &next, goes_on)
}

/// A loop while its step is being traced.
pub(crate) struct StepTrace<'s> {
    /// The nodes that stand for any state.
    pub(crate) state: Vec<Arc<Node>>,
    builder: Builder,
    start: &'s [Arc<Node>],
    inputs: Vec<Arc<Node>>,
    before: u64,
}

impl StepTrace<'_> {
    /// Begins the trace of a step on states like the start.
    pub(crate) fn begin(builder: Builder, start: &[Arc<Node>]) -> StepTrace<'_> {
        let before = next_number();
        let mut inputs = Vec::new();
        let input = Builder::at("input", builder.loc());
        let any = start.iter().map(|n| match n.error {
            Some(_) => input.mistaken(n, &n.types, n.rank),
            None => input.input_of(&n.types, n.rank, &mut inputs),
        });
        StepTrace {
            state: any.collect(),
            builder,
            start,
            inputs,
            before,
        }
    }

    /// Lets a node stand for a component, in place of the input that was made for it. All
    /// components of the start are of rank 0 or 1.
    pub(crate) fn stands_for(&mut self, component: usize, input: &Arc<Node>) {
        self.inputs[component] = input.clone();
        self.state[component] = input.clone();
    }

    /// Builds the results of the loop from the next state and its test.
    pub(crate) fn ended(
        self,
        ends: Ends,
        next: &[Arc<Node>],
        goes_on: Option<Arc<Node>>,
    ) -> Vec<Arc<Node>> {
        let StepTrace { builder, start, .. } = self;
        let wrong = unfit(start, next, &ends, goes_on.as_ref());
        let mut step = with_axes(next);
        step.extend(goes_on);
        let mut of = ArrayLoop {
            name: builder.name(),
            loc: builder.loc(),
            start: with_axes(start),
            inputs: self.inputs,
            step,
            ends,
            traced: self.before..next_number(),
            captures: Vec::new(),
            depth: 1,
            ended: OnceLock::new(),
        };
        if let Some(mistaken) = of.begin().chain(&of.step).find(|n| n.error.is_some()) {
            let mistaken = |n: &Arc<Node>| builder.mistaken(mistaken, &n.types, n.rank);
            return start.iter().map(mistaken).collect();
        }
        let fault = |kind: ErrorKind| {
            let fault = |n: &Arc<Node>| builder.fault(&n.types, n.rank, kind.clone());
            start.iter().map(fault).collect()
        };
        if let Some(kind) = wrong {
            return fault(kind);
        }
        let (captures, depth) = captures::of(&of);
        if depth >= MAX_NESTED {
            let expected = format!("at most {MAX_NESTED} loops over arrays in each other");
            let got = "more".to_string();
            return fault(ErrorKind::Malformed { expected, got });
        }
        (of.captures, of.depth) = (captures, depth + 1);
        results(builder, start, &Arc::new(of))
    }
}

/// The final state of a loop, for a start of these ranks.
fn results(builder: Builder, start: &[Arc<Node>], of: &Arc<ArrayLoop>) -> Vec<Arc<Node>> {
    let recovered = match of.is_side() {
        // A scalar loop would compute its invariants first.
        true => None,
        false => recover::recovered(builder, of),
    };
    let mut component = 0;
    let mut ended = |types: &[Ty], rank| {
        let k = component;
        component += 1;
        match &recovered {
            // A component that no step changes may have a shape.
            Some(ended) if rank > 0 => builder.reshape(&ended[k], None),
            Some(ended) => ended[k].clone(),
            // A scalar that no step changes, such as the length of an axis, is the start value. So
            // known facts about it stay valid.
            None if rank == 0 && Arc::ptr_eq(&of.step[k], &of.inputs[k]) => of.start[k].clone(),
            None => builder.looped(of, k as u32, types, rank),
        }
    };
    let whole = |n: &Arc<Node>| builder.of_parts(&n.types, n.rank, &mut ended);
    start.iter().map(whole).collect()
}

/// Checks the types and ranks of a step and of the end condition. Returns the first error.
fn unfit(
    state: &[Arc<Node>],
    next: &[Arc<Node>],
    ends: &Ends,
    goes_on: Option<&Arc<Node>>,
) -> Option<ErrorKind> {
    let malformed = |expected: String, got: String| Some(ErrorKind::Malformed { expected, got });
    let (Ends::After(first) | Ends::Unless(first)) = ends;
    let (ty, what) = match ends {
        Ends::After(_) => (Ty::U64, "a number of steps of type u64"),
        Ends::Unless(_) => (Ty::Bool, "a test that gives a delayed bool"),
    };
    let is_other = |n: &&Arc<Node>| n.rank != 0 || *n.types != [ty];
    if let Some(other) = [first].into_iter().chain(goes_on).find(is_other) {
        return malformed(what.to_string(), show_node(other));
    }
    if state.len() != next.len() {
        let expected = format!("a next state of {} components", state.len());
        return malformed(expected, next.len().to_string());
    }
    let differ = |(a, b): &(&Arc<Node>, &Arc<Node>)| a.types != b.types || a.rank != b.rank;
    let (from, to) = state.iter().zip(next).find(differ)?;
    let expected = format!("{} of rank {}", show_types(&from.types), from.rank);
    malformed(format!("a next state that is {expected}"), show_node(to))
}

/// Converts a value to the start state of a loop over arrays, or to a side of a choice.
///
/// Allowed are an array, segments, a delayed scalar, a reference to one, a number, a `bool`, or a
/// tuple of up to 6 of these. A number becomes a delayed scalar.
#[diagnostic::on_unimplemented(
    message = "neither a loop over arrays nor a side of `cond` can be made of `{Self}`",
    note = "give an array, segments, a delayed scalar, a reference to one, a number, a `bool`, or a tuple of these",
    note = "of another value make a delayed scalar: `Array::scalar(x)`"
)]
pub trait Start {
    /// The type of the state.
    type State: Inputs + Clone;
    /// Returns the start state.
    #[track_caller]
    fn into_state(self) -> Self::State;
}

impl<T: Elt, D: Rank> Start for Array<T, D> {
    type State = Array<T, D>;
    fn into_state(self) -> Array<T, D> {
        self
    }
}

impl<T: Elt, D: Rank> Start for &Array<T, D> {
    type State = Array<T, D>;
    fn into_state(self) -> Array<T, D> {
        self.clone()
    }
}

impl<T: Elt> Start for Segmented<T> {
    type State = Segmented<T>;
    fn into_state(self) -> Segmented<T> {
        self
    }
}

impl<T: Elt> Start for &Segmented<T> {
    type State = Segmented<T>;
    fn into_state(self) -> Segmented<T> {
        self.clone()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Start for T {
    type State = Array<T, Ix0>;
    #[track_caller]
    fn into_state(self) -> Array<T, Ix0> {
        Array::of_value(self)
    }
}

macro_rules! tuples {
    ($($($S:ident $i:tt),*;)*) => {$(
        impl<$($S: Start),*> Start for ($($S,)*) {
            type State = ($($S::State,)*);
            #[track_caller]
            fn into_state(self) -> Self::State {
                ($(self.$i.into_state(),)*)
            }
        }
    )*};
}

crate::tuples::up_to_six!(tuples);

/// Lists the operands of a node. For a result of a separate program, these are the program's inputs
/// from outside.
pub(crate) fn sources(node: &Node) -> Vec<&Arc<Node>> {
    match &node.after {
        After::Apart(of, _) => of.needs().collect(),
        After::Nothing | After::Sources => links(node),
    }
}

/// As [`sources`], but none for nodes from before the loop's step was traced. Such nodes do not
/// depend on the loop's state.
fn sources_in<'a>(of: &ArrayLoop, node: &'a Node) -> Vec<&'a Arc<Node>> {
    match &node.after {
        After::Apart(before, _) if before.traced().end <= of.traced.start => Vec::new(),
        _ => sources(node),
    }
}

/// Whether a node waits for a program that has not run.
pub(crate) fn waits(node: &Node) -> bool {
    node.value.get().is_none() && !matches!(node.after, After::Nothing)
}
