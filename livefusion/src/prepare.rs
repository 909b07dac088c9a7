//! Programs that are traced and compiled once and called many times.

use crate::array::{Array, Ix0, IxDyn, Rank};
use crate::ast::{Axis, Builder, Node, Shape, Value};
use crate::elt::{Elt, Scalar};
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
#[doc(alias("runN", "jit", "compile"))]
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
    /// Runs the program. Inputs that are delayed are computed first, together, on the default engine. Several are a reference to
    /// a tuple, or a tuple of references. A delayed scalar may be given as its value.
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
    /// What goes wrong while inputs or results are computed.
    #[track_caller]
    pub fn call(&self, inputs: impl Arguments<I>) -> Result<O::Out> {
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
    #[track_caller]
    pub fn explain(&self, inputs: impl Arguments<I>) -> Result<Explanation> {
        self.prepared.explain(&values(&inputs.held())?)
    }

    #[track_caller]
    fn run(&self, inputs: impl Arguments<I>, spare: &mut [Vec<Arc<Buffer>>]) -> Result<O::Out> {
        let held = inputs.held();
        let results = self.prepared.call(&values(&held)?, spare)?;
        self.output.take(&mut results.into_iter())
    }
}

/// The values of inputs. Those that are delayed are computed first.
fn values(inputs: &impl Held) -> Result<SmallVec<[&Value; 8]>> {
    let mut nodes = Given::new();
    inputs.given(&mut nodes);
    values_of(nodes)
}

/// What a call of an untyped [`Prepared`] program takes for these [inputs](Builder::input_of): of each its elements, and of rank
/// 2 and more the lengths of its axes. Those that are delayed are computed first, together, on the default engine.
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
/// What goes wrong while inputs are computed.
pub fn values_of<'a>(
    inputs: impl IntoIterator<Item = &'a Arc<Node>>,
) -> Result<SmallVec<[&'a Value; 8]>> {
    let nodes: Given<'_> = inputs.into_iter().flat_map(parts).collect();
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
    #[track_caller]
    pub fn call_into(&self, inputs: impl Arguments<I>, out: &mut O::Out) -> Result<()> {
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

/// Untyped inputs.
impl Builder {
    /// An input of a prepared program, of any rank, see [`values_of`]. Its elements are an input, and of rank 2 and more so is
    /// the length of each axis; `nodes` are the inputs before it, and these come behind them.
    pub fn input_of(self, types: &[Ty], rank: u8, nodes: &mut Vec<Arc<Node>>) -> Arc<Node> {
        self.of_parts(types, rank, &mut |types, rank| {
            let node = self.input(nodes.len() as u32, types, rank);
            nodes.push(node.clone());
            node
        })
    }

    /// An array of elements (rank 1) and of lengths of axes (`u64`, rank 0) that are made one after the other; of rank 0 and 1
    /// it is what is made first.
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

/// The parts of an array: its elements, and the lengths of its axes if there are several.
fn parts(node: &Arc<Node>) -> impl Iterator<Item = &Arc<Node>> {
    // An array with a mistake may have no shape, and comes to no call.
    let axes = node.shape.as_ref().map_or(&[][..], Shape::axes);
    [node].into_iter().chain(axes.iter().map(Axis::node))
}

/// In place of an input whose rank its type does not say.
pub(crate) fn of_no_rank(builder: Builder, types: &[Ty]) -> Arc<Node> {
    let expected = "an input whose rank is known; convert with `into_rank`".to_string();
    let got = "one of rank IxDyn".to_string();
    builder.fault(types, 1, ErrorKind::Malformed { expected, got })
}

/// All parts of arrays.
pub(crate) fn with_axes(nodes: &[Arc<Node>]) -> Vec<Arc<Node>> {
    nodes.iter().flat_map(parts).cloned().collect()
}

/// Makes an array of these types and this rank, if that is known.
pub type Make<'m> = &'m mut dyn FnMut(&[Ty], Option<u8>) -> Arc<Node>;

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
        Self::made(&mut |types, rank| match rank {
            Some(rank) => builder.input_of(types, rank, nodes),
            None => of_no_rank(builder, types),
        })
    }
    /// Arrays of nodes that are made one after the other, each of these types and this rank, if that is known.
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

/// The arguments of a call of a program with inputs `I`: a reference to them, of a delayed scalar also its value, of several
/// a tuple of arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a program whose inputs are `{I}`",
    note = "give a reference to the inputs, or of several a tuple of references: `program.call((&xs, &ys))`",
    note = "a delayed scalar may be given as its value: `program.call((&xs, 2.0))`"
)]
pub trait Arguments<I> {
    /// What holds the inputs during a call.
    type Held: Held;
    /// The inputs.
    #[track_caller]
    fn held(self) -> Self::Held;
}

/// Inputs during a call.
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
