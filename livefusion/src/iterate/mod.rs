//! Loops over arrays: `iterate_n`, `iterate_while`. What they are in a graph is in `ast/array_loop`, how they run in
//! `runtime/iterate`.

mod captures;
mod recover;

pub(crate) use captures::varying;

use crate::array::{Array, IntoLen, Ix0, Rank, extent};
use crate::ast::{After, ArrayLoop, Axis, Builder, Ends, Node, next_number, show_node, show_types};
use crate::elt::{Elt, Scalar};
use crate::error::ErrorKind;
use crate::prepare::{Given, Inputs, of_no_rank, with_axes};
use crate::sharing::links;
use loop_lang::types::Ty;
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

/// Untyped forms. The state is a list of arrays of any rank and delayed scalars, whose number, types and ranks stay what they
/// are at the start.
impl Builder {
    /// The state after `n` steps, each of which makes the next state of one: what `next` gives, which is called once, on nodes
    /// that stand for any state.
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

    /// The first state for which the test, a delayed `bool`, does not hold, from `start` on: `next` makes the next state of
    /// one. It is called once, on nodes that stand for any state; the test twice, on the start and on what `next` gives.
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

/// The state after `n` steps, each of which makes the next state of one: what `next` gives, which is called once, on arrays
/// that stand for any state.
///
/// The state is an array of any rank, a delayed scalar, which may start from a number, or a tuple of up to 6 of these; the lengths of its arrays may change
/// from step to step. The results are delayed as all arrays are: the loop runs when something that is made of them is forced,
/// once, whichever of them are wanted.
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
/// *Cost and fusion.* A step is a program of its own: it fuses within itself, is compiled once, and is called again and again
/// with the arrays of the state before the last as memory for the next one. Nothing fuses across the loop's begin, its end, or
/// from step to step. A scatter onto the state changes it in place: a step that puts a few values costs these few. It is copied
/// first where somebody else holds it, as the caller what the loop starts from, or needs it as it was behind the scatter;
/// [`explain`](crate::Force::explain) says so. The arrays that the loop starts from are not changed. What a step folds, scans, filters or scatters of other
/// arrays than the state is computed once, before the first step.
///
/// A step may have loops in it. They, and those of a [prepared](mod@crate::prepare) program, are compiled once and run each
/// time. One that does not depend on the state around it runs before the first step, even if there is none; one that depends
/// on nothing that changes runs once.
///
/// A step that only maps the state, element by element, is done for each element alone: the loop becomes a scalar loop in one
/// map, as [`iterate`](crate::exp::iterate) makes it, which fuses as maps do. So does a loop over delayed scalars.
///
/// *Source.* `awhile` of the Accelerate chapter; `loop` of "A T2 Graph-Reduction Approach To Fusion", section 2.
///
/// # Errors
/// When forced: what goes wrong in a step, with the place of the call that did; more than 40 loops in each other; that the engine was told to stop.
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

/// The first state for which `test` does not hold, from `start` on: `next` makes the next state of one. It is called once, on
/// arrays that stand for any state; `test` twice, on the start and on what `next` gives. Otherwise as [`iterate_n`].
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

/// The state of these nodes, of which there are as many as it has.
fn state_of<S: Inputs>(builder: Builder, nodes: &[Arc<Node>]) -> S {
    let mut nodes = nodes.iter().cloned();
    S::made(&mut |types, rank| {
        let node = nodes.next().filter(|_| rank.is_some());
        node.unwrap_or_else(|| of_no_rank(builder, types))
    })
}

/// No more loops are in each other: they run, and are explained, on one stack.
const MAX_NESTED: u32 = 40;

thread_local! {
    /// How many steps are being traced, each in the one before.
    static NESTED: Cell<u32> = const { Cell::new(0) };
}

/// A step that is being traced.
struct Tracing;

impl Tracing {
    fn begin() -> Tracing {
        NESTED.set(NESTED.get() + 1);
        Tracing
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        NESTED.set(NESTED.get() - 1);
    }
}

/// Traces a step, and makes the results of the loop.
fn build(
    builder: Builder,
    state: &[Arc<Node>],
    ends: Ends,
    step: impl FnOnce(&[Arc<Node>]) -> (Vec<Arc<Node>>, Option<Arc<Node>>),
) -> Vec<Arc<Node>> {
    let before = next_number();
    let mut inputs = Vec::new();
    let tracing = Tracing::begin();
    let input = Builder::at("input", builder.loc());
    let any = state.iter().map(|n| match n.error {
        Some(_) => input.mistaken(n, &n.types, n.rank),
        None => input.input_of(&n.types, n.rank, &mut inputs),
    });
    let (next, goes_on) = step(&any.collect::<Vec<_>>());
    drop(tracing);
    let mut wrong = unfit(state, &next, &ends, goes_on.as_ref());
    if NESTED.get() >= MAX_NESTED {
        let expected = format!("at most {MAX_NESTED} loops over arrays in each other");
        let got = "more".to_string();
        wrong = Some(ErrorKind::Malformed { expected, got });
    }
    let mut step = with_axes(&next);
    step.extend(goes_on);
    let mut of = ArrayLoop {
        name: builder.name(),
        loc: builder.loc(),
        start: with_axes(state),
        inputs,
        step,
        ends,
        traced: before..next_number(),
        captures: Vec::new(),
        ended: OnceLock::new(),
    };
    if let Some(mistaken) = of.begin().chain(&of.step).find(|n| n.error.is_some()) {
        let mistaken = |n: &Arc<Node>| builder.mistaken(mistaken, &n.types, n.rank);
        return state.iter().map(mistaken).collect();
    }
    if let Some(kind) = wrong {
        let fault = |n: &Arc<Node>| builder.fault(&n.types, n.rank, kind.clone());
        return state.iter().map(fault).collect();
    }
    of.captures = captures::of(&of);
    let of = Arc::new(of);
    let recovered = recover::recovered(builder, &of);
    let mut component = 0;
    let mut ended = |types: &[Ty], rank| {
        let k = component;
        component += 1;
        match &recovered {
            // A component that no step changes may have a shape.
            Some(ended) if rank > 0 => builder.reshape(&ended[k], None),
            Some(ended) => ended[k].clone(),
            // A scalar that no step changes, as the length of an axis, is what it was: what is known of it stays so.
            None if rank == 0 && Arc::ptr_eq(&of.step[k], &of.inputs[k]) => of.start[k].clone(),
            None => builder.looped(&of, k as u32, types, rank),
        }
    };
    let whole = |n: &Arc<Node>| builder.of_parts(&n.types, n.rank, &mut ended);
    state.iter().map(whole).collect()
}

/// What is wrong with a step, or with when the loop ends.
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

/// What a loop over arrays may start from: an array or a delayed scalar, a reference to one, a number or a `bool`, or a tuple
/// of up to 6 of these. Of a number the state is a delayed scalar.
#[diagnostic::on_unimplemented(
    message = "a loop over arrays cannot start from `{Self}`",
    note = "start from an array, a delayed scalar, a reference to one, a number, a `bool`, or a tuple of up to 6 of these",
    note = "of another value make a delayed scalar: `Array::scalar(x)`"
)]
pub trait Start {
    /// The state.
    type State: Inputs + Clone;
    /// The state to start from.
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

/// What a node is computed from. Of a result of something that runs apart it is what that needs from outside.
pub(crate) fn sources(node: &Node) -> Vec<&Arc<Node>> {
    match &node.after {
        After::Apart(of, _) => of.needs().collect(),
        After::Nothing | After::Sources => links(node),
    }
}

/// As [`sources`], but none of what was there before a loop's step was traced: it does not depend on that state.
fn sources_in<'a>(of: &ArrayLoop, node: &'a Node) -> Vec<&'a Arc<Node>> {
    match &node.after {
        After::Apart(before, _) if before.traced().end <= of.traced.start => Vec::new(),
        _ => sources(node),
    }
}

/// Whether a node waits for something that has not run.
pub(crate) fn waits(node: &Node) -> bool {
    node.value.get().is_none() && !matches!(node.after, After::Nothing)
}
