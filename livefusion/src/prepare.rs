//! Prepared programs: traced and compiled once, called many times.

use crate::array::{Array, Ix0, IxDyn, Rank};
use crate::ast::{Axis, Builder, Node, Shape, Value, Values};
use crate::elt::{Elt, Scalar};
use crate::error::{Error, ErrorKind, Result};
use crate::exp::types_of;
use crate::force::{Force, Spare};
use crate::loc::Loc;
use crate::runtime::{Engine, Explanation, Prepared, force_nodes};
use crate::segmented::{Segmented, Segments};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Traces and compiles a program on the default engine.
///
/// The closure gets arrays (or delayed scalars) that stand for the inputs. It returns the values to
/// force. A call only binds buffers and scalars.
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
/// [Loops over arrays](crate::iterate) may start from inputs, and depend on them in any way. Their
/// steps are compiled once, on the first call that reaches them. Loops that do not depend on inputs
/// run now.
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
/// The first error made while building, an error in loops that run now, or an error of the backend.
#[doc(alias("runN", "jit", "compile"))]
#[track_caller]
pub fn prepare<I: Inputs, O: Force>(f: impl FnOnce(I) -> O) -> Result<Program<I, O>> {
    build(Engine::default_engine(), Loc::caller(), f)
}

/// Works as [`prepare`], on an engine.
///
/// # Errors
/// As for [`prepare`].
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

/// Holds a compiled program of [`prepare`].
pub struct Program<I, O> {
    prepared: Prepared,
    output: O,
    inputs: PhantomData<fn(I)>,
}

impl<I: Inputs, O: Force> Program<I, O> {
    /// Runs the program on these inputs.
    ///
    /// Delayed inputs are computed first, together, on the default engine. Several inputs are a
    /// reference to a tuple, or a tuple of references. A delayed scalar may be given as its value.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// let sum = prepare(|(xs, ys): (Array<i64>, Array<i64>)| (&xs + &ys).sum())?;
    /// let xs = Array::from(vec![1i64, 2]);
    /// assert_eq!(sum.call((&xs, &xs.map(|x| x * 10)))?, 33);
    /// assert_eq!(sum.call(&(xs.clone(), xs.clone()))?, 6);
    /// let scaled = prepare(|(xs, by): (Array<i64>, Array<i64, Ix0>)| &xs * &by)?;
    /// assert_eq!(scaled.call((&xs, 3))?, [3, 6]);
    /// # Ok::<(), livefusion::Error>(())
    /// ```
    ///
    /// # Errors
    /// An error while inputs or results are computed.
    #[track_caller]
    pub fn call(&self, inputs: impl Arguments<I>) -> Result<O::Out> {
        self.run(inputs, &mut [])
    }

    /// Explains the loops of a call with these inputs.
    ///
    /// It also tells why there are not fewer, as [`explain`](Force::explain) of arrays does. The
    /// loops depend on the equality of input lengths. Delayed inputs are computed first; nothing
    /// else runs.
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
    /// An error while inputs are computed, or an error of the backend.
    #[track_caller]
    pub fn explain(&self, inputs: impl Arguments<I>) -> Result<Explanation> {
        let (held, mut inputs) = (inputs.held(), SmallVec::new());
        values(&held, &mut inputs)?;
        self.prepared.explain(&inputs)
    }

    #[track_caller]
    fn run(&self, inputs: impl Arguments<I>, spare: &mut [Vec<Arc<Buffer>>]) -> Result<O::Out> {
        let (held, mut inputs) = (inputs.held(), SmallVec::new());
        values(&held, &mut inputs)?;
        let mut results = Values::new();
        // The types of the program say that the inputs have the right ones.
        self.prepared.run(&mut [], &inputs, spare, &mut results)?;
        self.output.take(&mut results.drain(..))
    }
}

/// Appends the values of inputs. Delayed inputs are computed first.
fn values<'a>(inputs: &'a impl Held, values: &mut SmallVec<[&'a Value; 8]>) -> Result<()> {
    let mut nodes = Given::new();
    inputs.given(&mut nodes);
    values_of_nodes(&nodes, values)
}

/// Returns the arguments of an untyped [`Prepared`] program.
///
/// For each [input](Builder::input_of) these are its elements, and for rank 2 or more the lengths
/// of its axes. Delayed inputs are computed first, together, on the default engine.
///
/// ```
/// use livefusion::ast::{Builder, Ty, Value};
/// use livefusion::prelude::*;
/// use livefusion::prepare::values_of;
/// use livefusion::runtime::Prepared;
/// let mut inputs = Vec::new();
/// let m = Builder::named("input").input_of(&[Ty::I64], 2, &mut inputs);
/// let sums = Builder::named("sum").sum(&Builder::named("to_segmented").to_segmented(&m));
/// let program = Prepared::new(Engine::default_engine(), vec![sums], inputs)?;
/// let m = Array::from([[1i64, 2], [3, 4], [5, 6]]);
/// let results = program.call(&values_of([m.node()])?, &mut [])?;
/// let [Value::Array(columns)] = &results[..] else { panic!() };
/// assert_eq!(columns[0].len(), 3);
/// # Ok::<(), livefusion::Error>(())
/// ```
///
/// # Errors
/// An error while inputs are computed.
pub fn values_of<'a>(
    inputs: impl IntoIterator<Item = &'a Arc<Node>>,
) -> Result<SmallVec<[&'a Value; 8]>> {
    let (nodes, mut values) = (inputs.into_iter().collect::<Given<'a>>(), SmallVec::new());
    values_of_nodes(&nodes, &mut values)?;
    Ok(values)
}

fn values_of_nodes<'a>(nodes: &Given<'a>, values: &mut SmallVec<[&'a Value; 8]>) -> Result<()> {
    for node in nodes {
        let axes = node.shape.as_ref().map_or(&[][..], Shape::axes);
        let Some(value) = node.value.get() else {
            return computed(nodes, values);
        };
        values.push(value);
        for axis in axes {
            let Some(value) = axis.node().value.get() else {
                return computed(nodes, values);
            };
            values.push(value);
        }
    }
    Ok(())
}

/// Puts in the values of inputs, some of which are delayed.
#[cold]
fn computed<'a>(nodes: &Given<'a>, values: &mut SmallVec<[&'a Value; 8]>) -> Result<()> {
    let nodes: Given<'a> = nodes.iter().copied().flat_map(parts).collect();
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
    values.clear();
    for node in nodes {
        values.push(node.value.get().ok_or_else(no_value)?);
    }
    Ok(())
}

impl<I: Inputs, O: Force> Program<I, O>
where
    O::Out: Default,
{
    /// Works as [`call`](Program::call), but reuses the memory of old results.
    ///
    /// An old result array is overwritten if it is uniquely owned and has enough capacity. Nothing
    /// is allocated then, and each call touches the same memory. Its old length does not matter. An
    /// input, a clone or another array that refers to it keeps its elements.
    ///
    /// Otherwise the array is freed, and a new one is allocated with capacity for the most elements
    /// that the loop may give. For a filter these are all its inputs. The array keeps this
    /// capacity, however few elements there are. (`out = call(..)` needs memory for the old results
    /// and the new ones at once, and a filter there returns its unused capacity.)
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
    /// As for [`call`](Program::call); `out` is empty then.
    #[track_caller]
    pub fn call_into(&self, inputs: impl Arguments<I>, out: &mut O::Out) -> Result<()> {
        let mut spare = Spare::new();
        self.output.give(Some(out), &mut spare);
        let out = Emptied(out);
        let results = self.run(inputs, &mut spare)?;
        *out.0 = results;
        std::mem::forget(out);
        Ok(())
    }
}

/// Results without columns, which are made empty unless a call replaces them.
struct Emptied<'o, O: Default>(&'o mut O);

impl<O: Default> Drop for Emptied<'_, O> {
    fn drop(&mut self) {
        *self.0 = O::default();
    }
}

fn no_value() -> Error {
    Error {
        combinator: "call",
        row: None,
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

/// Untyped inputs.
impl Builder {
    /// Creates an input of any rank for [`values_of`].
    ///
    /// Its elements are one input. For rank 2 or more, the length of each axis is another. The new
    /// inputs are appended to `nodes`.
    pub fn input_of(self, types: &[Ty], rank: u8, nodes: &mut Vec<Arc<Node>>) -> Arc<Node> {
        self.of_parts(types, rank, &mut |types, rank| {
            let node = self.input(nodes.len() as u32, types, rank);
            nodes.push(node.clone());
            node
        })
    }

    /// Creates an array from its elements (rank 1) and the lengths of its axes (`u64`, rank 0),
    /// made in this order. For rank 0 and 1 it is the first node made.
    pub(crate) fn of_parts(
        self,
        types: &[Ty],
        rank: u8,
        make: &mut dyn FnMut(&[Ty], u8) -> Arc<Node>,
    ) -> Arc<Node> {
        if rank < 2 {
            return make(types, rank);
        }
        let elements = make(types, 1);
        let axes: Vec<Axis> = (0..rank)
            .map(|_| Axis::delayed(make(&[Ty::U64], 0)))
            .collect();
        self.reshape(&elements, Some(Shape::new(axes)))
    }
}

/// Lists the parts of an array: its elements, and the lengths of its axes if there are several.
fn parts(node: &Arc<Node>) -> impl Iterator<Item = &Arc<Node>> {
    // An array with an error may have no shape. It reaches no call.
    let axes = node.shape.as_ref().map_or(&[][..], Shape::axes);
    [node].into_iter().chain(axes.iter().map(Axis::node))
}

/// Returns an error in place of an input without a static rank.
pub(crate) fn of_no_rank(builder: Builder, types: &[Ty]) -> Arc<Node> {
    let expected = "an input whose rank is known; convert with `into_rank`".to_string();
    let got = "one of rank IxDyn".to_string();
    builder.fault(types, 1, ErrorKind::Malformed { expected, got })
}

/// Lists all parts of arrays.
pub(crate) fn with_axes(nodes: &[Arc<Node>]) -> Vec<Arc<Node>> {
    nodes.iter().flat_map(parts).cloned().collect()
}

/// Makes an array of these types and this rank, if known.
pub type Make<'m> = &'m mut dyn FnMut(&[Ty], Option<u8>) -> Arc<Node>;

/// Holds the nodes of inputs.
pub type Given<'a> = SmallVec<[&'a Arc<Node>; 8]>;

/// Describes the inputs of a prepared program.
///
/// They are an array, segments, a delayed scalar, or a tuple of up to 8 inputs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a prepared program",
    note = "take an `Array`, or a tuple of up to 8: `prepare(|(xs, ys): (Array<f64>, Array<f64>)| ..)`"
)]
pub trait Inputs: Sized {
    /// Creates arrays that stand for inputs, and appends their nodes.
    fn placeholders(loc: Loc, nodes: &mut Vec<Arc<Node>>) -> Self {
        let builder = Builder::at("input", loc);
        Self::made(&mut |types, rank| match rank {
            Some(rank) => builder.input_of(types, rank, nodes),
            None => of_no_rank(builder, types),
        })
    }
    /// Creates arrays from nodes made one after the other, each of given types and, if known, rank.
    fn made(make: Make<'_>) -> Self;
    /// Appends the nodes of inputs, one for each.
    fn nodes<'a>(&'a self, out: &mut Given<'a>);
}

impl<T: Elt, D: Rank> Inputs for Array<T, D> {
    fn made(make: Make<'_>) -> Self {
        let rank = (TypeId::of::<D>() != TypeId::of::<IxDyn>()).then_some(D::RANK);
        Array::wrap(make(&types_of::<T>(), rank))
    }
    fn nodes<'a>(&'a self, out: &mut Given<'a>) {
        out.push(self.node());
    }
}

impl<T: Elt> Inputs for Segmented<T> {
    fn made(make: Make<'_>) -> Self {
        let lengths = make(&[Ty::U64], Some(1));
        let data = make(&types_of::<T>(), Some(1));
        Segmented::wrap(Segments { lengths, data })
    }
    fn nodes<'a>(&'a self, out: &mut Given<'a>) {
        out.extend([self.lengths().node(), self.data().node()]);
    }
}

/// Describes the arguments of a call with inputs `I`.
///
/// An argument is a reference to an input, the value of a delayed scalar, or for several inputs a
/// tuple of arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a program whose inputs are `{I}`",
    note = "give a reference to the inputs, or of several a tuple of references: `program.call((&xs, &ys))`",
    note = "a delayed scalar may be given as its value: `program.call((&xs, 2.0))`"
)]
pub trait Arguments<I> {
    /// The owner of the inputs during a call.
    type Held: Held;
    /// Returns the owner of the inputs.
    #[track_caller]
    fn held(self) -> Self::Held;
}

/// Describes inputs during a call.
pub trait Held {
    /// Appends the nodes of inputs, one for each.
    fn given<'a>(&'a self, out: &mut Given<'a>);
}

impl<I: Inputs> Held for &I {
    fn given<'a>(&'a self, out: &mut Given<'a>) {
        self.nodes(out);
    }
}

impl<T: Elt> Held for Array<T, Ix0> {
    fn given<'a>(&'a self, out: &mut Given<'a>) {
        out.push(self.node());
    }
}

impl<I: Inputs> Arguments<I> for &I {
    type Held = Self;
    fn held(self) -> Self {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Arguments<Array<T, Ix0>> for T {
    type Held = Array<T, Ix0>;
    #[track_caller]
    fn held(self) -> Array<T, Ix0> {
        Array::of_value(self)
    }
}

macro_rules! tuples {
    ($($($I:ident $i:tt),*;)*) => {$(
        impl<$($I: Held),*> Held for ($($I,)*) {
            fn given<'a>(&'a self, out: &mut Given<'a>) {
                $(self.$i.given(out);)*
            }
        }
        impl<$($I: Inputs),*> Inputs for ($($I,)*) {
            fn made(make: Make<'_>) -> Self {
                ($($I::made(make),)*)
            }
            fn nodes<'a>(&'a self, out: &mut Given<'a>) {
                $(self.$i.nodes(out);)*
            }
        }
    )*};
}

crate::tuples::up_to_eight!(tuples);

macro_rules! arguments {
    ($($A:ident $I:ident $i:tt),*) => {
        impl<$($I: Inputs, $A: Arguments<$I>),*> Arguments<($($I,)*)> for ($($A,)*) {
            type Held = ($($A::Held,)*);
            #[track_caller]
            fn held(self) -> Self::Held {
                ($(self.$i.held(),)*)
            }
        }
    };
}

arguments!(A I0 0);
arguments!(A I0 0, B I1 1);
arguments!(A I0 0, B I1 1, C I2 2);
arguments!(A I0 0, B I1 1, C I2 2, D I3 3);
arguments!(A I0 0, B I1 1, C I2 2, D I3 3, E I4 4);
arguments!(A I0 0, B I1 1, C I2 2, D I3 3, E I4 4, F I5 5);
arguments!(A I0 0, B I1 1, C I2 2, D I3 3, E I4 4, F I5 5, G I6 6);
arguments!(A I0 0, B I1 1, C I2 2, D I3 3, E I4 4, F I5 5, G I6 6, H I7 7);
