//! Loops over arrays: `iterate_n`, `iterate_while`. What they are in a graph is in `ast/array_loop`, how they run in
//! `runtime/iterate`.

mod captures;
mod recover;

pub(crate) use captures::varying;

use crate::array::{Array, IntoLen, Ix0, Rank, extent};
use crate::ast::{After, ArrayLoop, Builder, Ends, Node};
use crate::elt::Elt;
use crate::error::ErrorKind;
use crate::prepare::{Given, Inputs};
use crate::sharing::links;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The state after `n` steps, each of which makes the next state of one: what `next` gives, which is called once, on arrays
/// that stand for any state.
///
/// The state is an array of any rank, a delayed scalar, or a tuple of up to 6 of these; the lengths of its arrays may change
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
#[track_caller]
pub fn iterate_n<S: Start>(
    n: impl IntoLen,
    start: S,
    next: impl FnOnce(S::State) -> S::State,
) -> S::State {
    let builder = Builder::named("iterate_n");
    let times = match extent(builder, n) {
        Ok(times) => times.node().clone(),
        Err(kind) => builder.fault(&[loop_lang::types::Ty::U64], 0, kind),
    };
    build(builder, start.into_state(), Ends::After(times), |state| {
        (next(state), None)
    })
}

/// The first state for which `test` does not hold, from `start` on: `next` makes the next state of one. Both are called once
/// or twice, on arrays that stand for any state. Otherwise as [`iterate_n`].
///
/// ```
/// use livefusion::prelude::*;
/// let xs = Array::from(vec![1.0f64, 2.0, 30.0]);
/// let start = (&xs, &Array::scalar(0u64));
/// let (small, steps) = iterate_while(
///     start,
///     |(xs, _)| xs.max().map(|x| x.gt(1.0)),
///     |(xs, n)| (xs.map(|x| x / 2.0), n + 1),
/// );
/// assert_eq!((&steps, &small.max()).force()?, (5, 0.9375));
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// As [`iterate_n`].
#[track_caller]
pub fn iterate_while<S: Start>(
    start: S,
    test: impl Fn(S::State) -> Array<bool, Ix0>,
    next: impl FnOnce(S::State) -> S::State,
) -> S::State {
    let builder = Builder::named("iterate_while");
    let state = start.into_state();
    let first = test(state.clone()).node().clone();
    build(builder, state, Ends::Unless(first), |state| {
        let next = next(state);
        let goes_on = test(next.clone()).node().clone();
        (next, Some(goes_on))
    })
}

/// How many steps were begun or done with.
static TRACED: AtomicU64 = AtomicU64::new(0);

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
fn build<S: Inputs>(
    builder: Builder,
    state: S,
    ends: Ends,
    step: impl FnOnce(S) -> (S, Option<Arc<Node>>),
) -> S {
    let number = || TRACED.fetch_add(1, Ordering::Relaxed);
    let before = number();
    let mut inputs = Vec::new();
    let tracing = Tracing::begin();
    let (next, goes_on) = step(S::placeholders(builder.loc(), &mut inputs));
    drop(tracing);
    let too_deep = NESTED.get() >= MAX_NESTED;
    let start = nodes_of(&state);
    let mut step = nodes_of(&next);
    // What has a mistake may not have all components.
    let whole = start.len() == inputs.len() && step.len() == inputs.len();
    step.extend(goes_on);
    let mut of = ArrayLoop {
        name: builder.name(),
        loc: builder.loc(),
        start,
        inputs,
        step,
        ends,
        traced: before..number(),
        captures: Vec::new(),
        ended: OnceLock::new(),
    };
    of.captures = captures::of(&of);
    let of = Arc::new(of);
    let mistaken = of.begin().chain(&of.step).find(|n| n.error.is_some());
    let recovered = match mistaken.is_none() && whole && !too_deep {
        true => recover::recovered(builder, &of),
        false => None,
    };
    let mut component = 0;
    S::made(builder, &mut |types, rank| {
        component += 1;
        if let Some(mistaken) = mistaken {
            return builder.mistaken(mistaken, types, rank);
        }
        if too_deep {
            let expected = format!("at most {MAX_NESTED} loops over arrays in each other");
            let got = "more".to_string();
            return builder.fault(types, rank, ErrorKind::Malformed { expected, got });
        }
        if !whole {
            let (expected, got) = ("a state of known ranks".to_string(), "another".to_string());
            return builder.fault(types, rank, ErrorKind::Malformed { expected, got });
        }
        if let Some(ended) = &recovered {
            let node = &ended[component as usize - 1];
            // A component that no step changes may have a shape.
            return if rank == 0 {
                node.clone()
            } else {
                builder.reshape(node, None)
            };
        }
        // A scalar that no step changes, as the length of an axis, is what it was: what is known of it stays so.
        let k = component as usize - 1;
        match rank == 0 && Arc::ptr_eq(&of.step[k], &of.inputs[k]) {
            true => of.start[k].clone(),
            false => builder.looped(&of, k as u32, types, rank),
        }
    })
}

fn nodes_of<S: Inputs>(state: &S) -> Vec<Arc<Node>> {
    let mut nodes = Given::new();
    state.nodes(&mut nodes);
    nodes.into_iter().cloned().collect()
}

/// What a loop over arrays may start from: an array or a delayed scalar, or a reference to one, or a tuple of up to 6 of these.
#[diagnostic::on_unimplemented(
    message = "a loop over arrays cannot start from `{Self}`",
    note = "start from an array, a delayed scalar, a reference to one, or a tuple of up to 6 of these"
)]
pub trait Start {
    /// The state.
    type State: Inputs + Clone;
    /// The state to start from.
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

macro_rules! tuples {
    ($($($S:ident $i:tt),*;)*) => {$(
        impl<$($S: Start),*> Start for ($($S,)*) {
            type State = ($($S::State,)*);
            fn into_state(self) -> Self::State {
                ($(self.$i.into_state(),)*)
            }
        }
    )*};
}

crate::tuples::up_to_six!(tuples);

/// What a node is computed from. Of a component of a loop's last state it is what the loop needs from outside.
pub(crate) fn sources(node: &Node) -> Vec<&Arc<Node>> {
    match &node.after {
        After::Loop(of, _) => of.needs().collect(),
        After::Nothing | After::Loops => links(node),
    }
}

/// As [`sources`], but none of a loop that was there before another one's step was traced: it does not depend on that state.
fn sources_in<'a>(of: &ArrayLoop, node: &'a Node) -> Vec<&'a Arc<Node>> {
    match &node.after {
        After::Loop(before, _) if before.traced.end <= of.traced.start => Vec::new(),
        _ => sources(node),
    }
}

/// Whether a node waits for loops that have not run.
pub(crate) fn waits(node: &Node) -> bool {
    node.value.get().is_none() && !matches!(node.after, After::Nothing)
}
