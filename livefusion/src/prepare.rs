//! Programs that are traced and compiled once and called many times.

use crate::array::{Array, IxDyn, Rank};
use crate::ast::{Axis, Builder, Node, Shape, Value};
use crate::elt::Elt;
use crate::error::{Error, ErrorKind, Result};
use crate::exp::types_of;
use crate::force::Force;
use crate::loc::Loc;
use crate::runtime::{Engine, Explanation, Prepared, force_nodes};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Traces and compiles a program on the default engine. The closure gets arrays (or delayed scalars)
/// that stand for the inputs, and returns what is to be forced; a call binds buffers and scalars only.
///
/// ```
/// use livefusion::prelude::*;
/// let dot = prepare(|(xs, ys): (Array<f64>, Array<f64>)| (&xs * &ys).sum())?;
/// let (a, b) = (Array::from(vec![1.0f64, 2.0]), Array::from(vec![3.0f64, 4.0]));
/// assert_eq!(dot.call(&(a.clone(), b.clone()))?, 11.0);
/// assert_eq!(dot.call(&(b, a.map(|x| x + 1.0)))?, 18.0);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// [Loops over arrays](crate::iterate) may start from inputs, and depend on them in all ways. Their steps are compiled once,
/// when the first call comes to them. Loops that do not depend on inputs run now.
///
/// ```
/// use livefusion::prelude::*;
/// let smooth = prepare(|(xs, n): (Array<f64>, Array<u64, Ix0>)| {
///     iterate_n(&n, &xs, |xs| xs.stencil1(Boundary::Clamp, |[a, b, c]| (a + b + c) / 3.0))
/// })?;
/// let xs = Array::from(vec![0.0f64, 9.0, 0.0]);
/// assert_eq!(smooth.call(&(xs.clone(), Array::scalar(1u64)))?, [3.0, 3.0, 3.0]);
/// assert_eq!(smooth.call(&(xs, Array::scalar(0u64)))?, [0.0, 9.0, 0.0]);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// The first mistake made while building, what goes wrong in loops that run now, or what the backend says.
#[track_caller]
pub fn prepare<I: Inputs, O: Force>(f: impl FnOnce(I) -> O) -> Result<Program<I, O>> {
    build(Engine::default_engine(), Loc::caller(), f)
}

/// As [`prepare`], on an engine.
///
/// # Errors
/// As [`prepare`].
#[track_caller]
pub fn prepare_with<I: Inputs, O: Force>(
    engine: &Engine,
    f: impl FnOnce(I) -> O,
) -> Result<Program<I, O>> {
    build(engine, Loc::caller(), f)
}

fn build<I: Inputs, O: Force>(
    engine: &Engine,
    loc: Loc,
    f: impl FnOnce(I) -> O,
) -> Result<Program<I, O>> {
    let mut inputs = Vec::new();
    let output = f(I::placeholders(loc, &mut inputs));
    let mut roots = Vec::new();
    output.nodes(&mut roots);
    if let Some(error) = roots.iter().find_map(|n| n.error.clone()) {
        return Err(*error);
    }
    let prepared = Prepared::new(engine, roots, inputs)?;
    Ok(Program {
        prepared,
        output,
        inputs: PhantomData,
    })
}

/// A compiled program; see [`prepare`].
pub struct Program<I, O> {
    prepared: Prepared,
    output: O,
    inputs: PhantomData<fn(I)>,
}

impl<I: Inputs, O: Force> Program<I, O> {
    /// Runs the program. Inputs that are delayed are computed first, together, on the default engine.
    ///
    /// # Errors
    /// What goes wrong while inputs or results are computed.
    pub fn call(&self, inputs: &I) -> Result<O::Out> {
        self.run(inputs, &mut [])
    }

    /// Says into which loops a call with these inputs fuses, and why not into fewer, as [`explain`](Force::explain) of arrays.
    /// Of the inputs it matters which have equal lengths. Those that are delayed are computed first; nothing else is run.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let both = prepare(|(xs, ys): (Array<f64>, Array<f64>)| (xs.sum(), ys.sum()))?;
    /// let (a, b) = (Array::from(vec![1.0f64, 2.0]), Array::from(vec![3.0f64]));
    /// assert_eq!(both.explain(&(a.clone(), a.clone()))?.loops.len(), 1);
    /// assert_eq!(both.explain(&(a, b))?.loops.len(), 2);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// What goes wrong while inputs are computed, or what the backend says.
    pub fn explain(&self, inputs: &I) -> Result<Explanation> {
        self.prepared.explain(&values(inputs)?)
    }

    fn run(&self, inputs: &I, spare: &mut [Vec<Arc<Buffer>>]) -> Result<O::Out> {
        let results = self.prepared.call(&values(inputs)?, spare)?;
        self.output.take(&mut results.into_iter())
    }
}

/// The values of inputs. Those that are delayed are computed first.
fn values<I: Inputs>(inputs: &I) -> Result<SmallVec<[&Value; 8]>> {
    let mut nodes = Given::new();
    inputs.nodes(&mut nodes);
    let is_missing = |n: &&&Arc<Node>| n.value.get().is_none();
    for node in nodes.iter().filter(is_missing) {
        if let Some(value) = node.literal() {
            // Another thread may have set it meanwhile.
            let _ = node.value.set(value);
        }
    }
    if nodes.iter().any(|n| is_missing(&n)) {
        let missing: Vec<Arc<Node>> = nodes.iter().filter(is_missing).cloned().cloned().collect();
        force_nodes(Engine::default_engine(), &missing)?;
    }
    let values = nodes
        .into_iter()
        .map(|n| n.value.get().ok_or_else(no_value));
    values.collect()
}

impl<I: Inputs, O: Force> Program<I, O>
where
    O::Out: Default,
{
    /// As [`call`](Program::call), into the memory of results that are not needed any more.
    ///
    /// An array of results that nobody else refers to, and that has room for the new one, is written over: no
    /// memory is asked for, and each call touches the same. Where it has no room it is given back and a new
    /// one made, with room for as many elements as the loop may give: for a filter, as many as it tests.
    /// The array keeps this room, however few there are. (`out = call(..)` needs memory for the old results
    /// and the new ones at once, and a filter's gives back what it did not need.)
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let twice = prepare(|xs: Array<f64>| xs.map(|x| x * 2.0))?;
    /// let mut ys = twice.call(&Array::from(vec![0.5; 5]))?;
    /// let memory = ys.as_ptr();
    /// for k in 1..4 {
    ///     twice.call_into(&Array::from(vec![f64::from(k); 5]), &mut ys)?;
    ///     assert_eq!((ys[4], ys.as_ptr()), (f64::from(2 * k), memory));
    /// }
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`call`](Program::call); `out` is empty then.
    pub fn call_into(&self, inputs: &I, out: &mut O::Out) -> Result<()> {
        let mut spare = Vec::new();
        self.output.give(Some(std::mem::take(out)), &mut spare);
        *out = self.run(inputs, &mut spare)?;
        Ok(())
    }
}

fn no_value() -> Error {
    Error {
        combinator: "call",
        element: None,
        location: None,
        kind: ErrorKind::Backend("a forced input has no value".to_string()),
    }
}

impl<I, O> fmt::Debug for Program<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Program")
    }
}

/// The nodes of inputs.
pub type Given<'a> = SmallVec<[&'a Arc<Node>; 8]>;

/// Inputs of a prepared program: an array, a delayed scalar, or a tuple of up to 8 inputs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a prepared program",
    note = "take an `Array`, or a tuple of up to 8: `prepare(|(xs, ys): (Array<f64>, Array<f64>)| ..)`"
)]
pub trait Inputs: Sized {
    /// Arrays that stand for inputs; appends their nodes.
    fn placeholders(loc: Loc, nodes: &mut Vec<Arc<Node>>) -> Self {
        let builder = Builder::at("input", loc);
        Self::made(builder, &mut |types, rank| {
            let node = builder.input(nodes.len() as u32, types, rank);
            nodes.push(node.clone());
            node
        })
    }
    /// Arrays of nodes that are made one after the other, each of these types and of rank 1 or 0.
    fn made(builder: Builder, make: &mut dyn FnMut(&[Ty], u8) -> Arc<Node>) -> Self;
    /// Appends the nodes of inputs.
    fn nodes<'a>(&'a self, out: &mut Given<'a>);
}

impl<T: Elt, D: Rank> Inputs for Array<T, D> {
    fn made(builder: Builder, make: &mut dyn FnMut(&[Ty], u8) -> Arc<Node>) -> Self {
        if TypeId::of::<D>() == TypeId::of::<IxDyn>() {
            let kind = ErrorKind::Malformed {
                expected: "an input whose rank is known; convert with `into_rank`".to_string(),
                got: "one of rank IxDyn".to_string(),
            };
            return Array::wrap(builder.fault(&types_of::<T>(), D::RANK, kind));
        }
        if D::RANK < 2 {
            return Array::wrap(make(&types_of::<T>(), D::RANK));
        }
        let elements = make(&types_of::<T>(), 1);
        let axes: Vec<Axis> = (0..D::RANK)
            .map(|_| Axis::delayed(make(&[Ty::U64], 0)))
            .collect();
        Array::wrap(builder.reshape(&elements, Some(Shape::new(axes))))
    }
    fn nodes<'a>(&'a self, out: &mut Given<'a>) {
        out.push(self.node());
        let axes = self.node().shape.as_ref().map_or(&[][..], Shape::axes);
        // An array with a mistake may have no shape, and comes to no call.
        out.extend(axes.iter().map(Axis::node));
    }
}

macro_rules! tuples {
    ($($($I:ident $i:tt),*;)*) => {$(
        impl<$($I: Inputs),*> Inputs for ($($I,)*) {
            fn made(builder: Builder, make: &mut dyn FnMut(&[Ty], u8) -> Arc<Node>) -> Self {
                ($($I::made(builder, make),)*)
            }
            fn nodes<'a>(&'a self, out: &mut Given<'a>) {
                $(self.$i.nodes(out);)*
            }
        }
    )*};
}

crate::tuples::up_to_eight!(tuples);
