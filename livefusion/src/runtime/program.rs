//! Compiled programs: the loops of a schedule with their kernels, and how arguments reach them.

use super::engine::{Engine, backend_error};
use super::in_place::{self, Needs, Take};
use super::parallel::{Ended, Run, Shapes};
use crate::ast::{Kind, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Plan;
use crate::fusion::pull::Extent;
use crate::lower::{Lowered, Source, plan_and_lower};
use crate::sharing::{FieldRef, Graph, NodeId, error_at};
use livefusion_backend::{
    Arg, Buffer, Frame, Kernel, Memory, Outcome, Pass, TrapReport, Value as KernelValue,
};
use loop_lang::ir::TrapKind;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A graph's schedule, compiled. It depends on the graph's structure only: constants, arrays and
/// locations are bound when it runs.
pub struct Program {
    /// The schedule.
    pub plan: Plan,
    /// Its loops.
    pub loops: Vec<CompiledLoop>,
}

/// One loop of a program.
pub struct CompiledLoop {
    /// The optimised loop with its ties to the graph.
    pub lowered: Lowered,
    /// Its kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The kernel that finds how many elements it makes, if that must be found first.
    pub sizing: Option<Arc<dyn Kernel>>,
    /// Arrays that it may have for good.
    pub takes: Vec<Take>,
    /// How its chunks run beside each other.
    pub shapes: Shapes,
}

/// What a run is bound to: a graph of the program's structure with its values.
pub struct Bindings<'g> {
    graph: &'g Graph,
    lengths: &'g [Option<u64>],
    inputs: &'g [Value],
}

impl<'g> Bindings<'g> {
    /// Binds leaves to their own values, and inputs of a prepared program to `inputs`.
    pub fn new(graph: &'g Graph, lengths: &'g [Option<u64>], inputs: &'g [Value]) -> Self {
        Bindings {
            graph,
            lengths,
            inputs,
        }
    }

    fn leaf(&self, id: NodeId) -> Option<&'g Value> {
        let node = self.graph.node(id);
        match (node.value.get(), &node.kind) {
            (Some(value), _) => Some(value),
            (None, Kind::Input(k)) => self.inputs.get(*k as usize),
            _ => None,
        }
    }
}

/// Values made so far.
#[derive(Default)]
struct Store {
    arrays: FxHashMap<FieldRef, Arc<Buffer>>,
    scalars: FxHashMap<FieldRef, Const>,
    bytes: u64,
}

impl Store {
    fn array(&self, b: &Bindings<'_>, field: FieldRef) -> Result<Arc<Buffer>> {
        if let Some(a) = self.arrays.get(&field) {
            return Ok(a.clone());
        }
        match b.leaf(field.0) {
            Some(Value::Array(fields)) if (field.1 as usize) < fields.len() => {
                Ok(fields[field.1 as usize].clone())
            }
            _ => Err(unbound(b, field)),
        }
    }

    fn scalar(&self, b: &Bindings<'_>, field: FieldRef) -> Result<Const> {
        if let Some(c) = self.scalars.get(&field) {
            return Ok(*c);
        }
        match b.leaf(field.0) {
            Some(Value::Scalar(fields)) if (field.1 as usize) < fields.len() => {
                return Ok(fields[field.1 as usize]);
            }
            _ => {}
        }
        Err(unbound(b, field))
    }

    /// A root's field: computed by a loop, or a length that is known without one.
    fn root_scalar(&self, plan: &Plan, b: &Bindings<'_>, field: FieldRef) -> Result<Const> {
        let node = &b.graph.nodes[field.0.index()];
        let extent = match node.node.kind {
            Kind::Len if !node.leaf => plan.pulls.extent(node.inputs[0]),
            _ => None,
        };
        match extent {
            Some(Extent::Of(array)) => self.length(b, array),
            Some(Extent::Scalar(by)) => self.scalar(b, by),
            None => self.scalar(b, field),
        }
    }

    fn length(&self, b: &Bindings<'_>, id: NodeId) -> Result<Const> {
        match b.lengths[id.index()] {
            Some(n) => Ok(Const::u64(n)),
            None => Ok(Const::u64(self.array(b, (id, 0))?.len() as u64)),
        }
    }
}

fn unbound(b: &Bindings<'_>, field: FieldRef) -> Error {
    let got = format!(
        "no value for field {} of `{}`",
        field.1,
        b.graph.node(field.0).name
    );
    error_at(
        b.graph,
        field.0,
        ErrorKind::Malformed {
            expected: "a computed input".into(),
            got,
        },
    )
}

/// An argument that is kept alive while a kernel runs.
enum Bound {
    Scalar(Const),
    Array(Arc<Buffer>),
}

fn as_args(bound: &[Bound]) -> Vec<Arg<'_>> {
    let arg = |a| match a {
        &Bound::Scalar(c) => Arg::Scalar(c),
        Bound::Array(a) => Arg::Array(a.view()),
    };
    bound.iter().map(arg).collect()
}

impl Program {
    /// Plans, lowers, optimises and compiles a graph.
    pub fn compile(engine: &Engine, graph: &Graph, lengths: &[Option<u64>]) -> Result<Program> {
        let (plan, mut all) = plan_and_lower(graph, lengths, engine.clustering())?;
        for lowered in &mut all {
            loop_lang::passes::optimize(&mut lowered.program);
            loop_lang::chunkable::raise_levels(&mut lowered.program);
            if let Some(sizing) = &mut lowered.sizing {
                loop_lang::passes::optimize(sizing);
            }
        }
        let needs = Needs::of(graph, &all);
        let programs = all.iter().map(|l| &l.program);
        let programs: Vec<_> = programs.chain(all.iter().flat_map(|l| &l.sizing)).collect();
        let mut compiled = engine.compile_all(&programs)?;
        let mut sizings = compiled.split_off(all.len()).into_iter();
        let mut kernels = Vec::with_capacity(all.len());
        for (at, (lowered, kernel)) in all.iter().zip(compiled).enumerate() {
            let takes = in_place::takes(graph, &needs, at, lowered, kernel.layout());
            kernels.push((kernel, takes));
        }
        let mut loops = Vec::with_capacity(all.len());
        for (lowered, (kernel, takes)) in all.into_iter().zip(kernels) {
            let sizing = lowered.sizing.as_ref().and_then(|_| sizings.next());
            loops.push(CompiledLoop {
                lowered,
                kernel,
                sizing,
                takes,
                shapes: Shapes::default(),
            });
        }
        Ok(Program { plan, loops })
    }

    /// Runs every loop in order and collects the roots' values.
    pub fn run(&self, engine: &Engine, b: &Bindings<'_>) -> Result<Vec<Value>> {
        let mut store = Store::default();
        for (i, l) in self.loops.iter().enumerate() {
            l.run(engine, b, &mut store, (i, self.loops.len()))?;
        }
        b.graph
            .roots
            .iter()
            .map(|r| root_value(&self.plan, b, &store, *r))
            .collect()
    }
}

fn root_value(plan: &Plan, b: &Bindings<'_>, store: &Store, root: NodeId) -> Result<Value> {
    let fields = b.graph.fields(root);
    if b.graph.node(root).rank == 0 {
        let scalars = fields.into_iter().map(|f| store.root_scalar(plan, b, f));
        Ok(Value::Scalar(scalars.collect::<Result<_>>()?))
    } else {
        let arrays = fields.into_iter().map(|f| store.array(b, f));
        Ok(Value::Array(arrays.collect::<Result<_>>()?))
    }
}

impl CompiledLoop {
    fn run(
        &self,
        engine: &Engine,
        b: &Bindings<'_>,
        store: &mut Store,
        at: (usize, usize),
    ) -> Result<()> {
        let sizes = match &self.sizing {
            Some(kernel) => self.sizes(&**kernel, b, store)?,
            None => vec![],
        };
        let mut bound = self.bind(b, store, &sizes)?;
        let left = engine.memory_limit().saturating_sub(store.bytes);
        let mut frame = new_frame(&*self.kernel, left);
        let taken = self.take(store, &mut bound, &mut frame);
        let args = as_args(&bound);
        let run = Run {
            engine,
            kernel: &self.kernel,
            program: &self.lowered.program,
            shapes: &self.shapes,
            args: &args,
            at,
        };
        let Ended::By(outcome) = run.to_end(&mut frame) else {
            return Err(cancelled());
        };
        match outcome {
            Outcome::Done | Outcome::Exited => {
                self.collect(frame, store);
                Ok(())
            }
            Outcome::Trapped(Some(report)) => Err(self.trap_error(b, &report)),
            Outcome::Trapped(None) => Err(self.replay(engine, b, &args, &taken)?),
            Outcome::NoMemory { comb, bytes } => {
                let kind = ErrorKind::Memory {
                    bytes,
                    limit: engine.memory_limit(),
                };
                Err(self.error_at(b, comb.index(), kind))
            }
            Outcome::BadArgs(why) => Err(backend_error(why)),
            Outcome::Paused => Err(backend_error("a loop stopped before its end".into())),
        }
    }

    /// Hands over the arrays that the loop may have. The result says of each slot how long its array is.
    fn take(
        &self,
        store: &mut Store,
        bound: &mut [Bound],
        frame: &mut Frame,
    ) -> Vec<(usize, Ty, usize)> {
        let mut taken = Vec::new();
        for take in &self.takes {
            let Some(Bound::Array(arg)) = bound.get_mut(take.param) else {
                continue;
            };
            let Some(none) = Buffer::zeroed(arg.ty(), 0) else {
                continue;
            };
            // Here and in the store: if nobody else has it, it can be changed.
            *arg = Arc::new(none);
            let Some(array) = store.arrays.remove(&take.field) else {
                continue;
            };
            match Arc::try_unwrap(array) {
                Ok(array) => {
                    store.bytes = store.bytes.saturating_sub(array.bytes() as u64);
                    taken.push((take.slot, array.ty(), array.len()));
                    frame.give(take.slot, array);
                }
                Err(shared) => *arg = shared,
            }
        }
        taken
    }

    /// Runs the sizing loop. What it counts may hang on elements that are kept in arrays whose sizes it
    /// finds itself, so it runs as often as there are sizes: each run finds one more, at least.
    fn sizes(&self, kernel: &dyn Kernel, b: &Bindings<'_>, store: &Store) -> Result<Vec<Const>> {
        let mut sizes = self.counted(kernel, b, store, &[])?;
        for _ in 1..sizes.len() {
            sizes = self.counted(kernel, b, store, &sizes)?;
        }
        Ok(sizes)
    }

    fn counted(
        &self,
        kernel: &dyn Kernel,
        b: &Bindings<'_>,
        store: &Store,
        sizes: &[Const],
    ) -> Result<Vec<Const>> {
        let bound = self.bind(b, store, sizes)?;
        let args = as_args(&bound);
        let mut frame = new_frame(kernel, u64::MAX);
        match kernel.run(Pass::Emit, u64::MAX, &mut frame, &args) {
            Outcome::BadArgs(why) => Err(backend_error(why)),
            _ => Ok(frame
                .results
                .iter()
                .filter_map(|r| match r {
                    KernelValue::Scalar(c) => Some(*c),
                    KernelValue::Array(_) => None,
                })
                .collect()),
        }
    }

    fn bind(&self, b: &Bindings<'_>, store: &Store, sizes: &[Const]) -> Result<Vec<Bound>> {
        self.lowered
            .sources
            .iter()
            .map(|source| {
                Ok(match source {
                    Source::Array(field) => Bound::Array(store.array(b, *field)?),
                    Source::Scalar(field) => Bound::Scalar(store.scalar(b, *field)?),
                    Source::Constant(slot) => Bound::Scalar(b.graph.constants[*slot as usize]),
                    Source::Length(id) => Bound::Scalar(store.length(b, *id)?),
                    Source::Size(k) => {
                        let size = sizes.get(*k as usize).copied();
                        Bound::Scalar(size.unwrap_or(Const::u64(0)))
                    }
                })
            })
            .collect()
    }

    fn collect(&self, frame: Frame, store: &mut Store) {
        for (field, value) in self.lowered.results.iter().zip(frame.results) {
            match value {
                KernelValue::Scalar(c) => {
                    store.scalars.insert(*field, c);
                }
                KernelValue::Array(a) => {
                    store.bytes += a.bytes() as u64;
                    store.arrays.insert(*field, Arc::new(a));
                }
            }
        }
    }

    /// A compiled kernel only knows that it trapped; the interpreter finds where.
    fn replay(
        &self,
        engine: &Engine,
        b: &Bindings<'_>,
        args: &[Arg<'_>],
        taken: &[(usize, Ty, usize)],
    ) -> Result<Error> {
        let kernel = engine.interpret(&self.lowered.program)?;
        let mut frame = new_frame(&*kernel, u64::MAX);
        // What was in them is gone, but decides over no trap.
        for (slot, ty, len) in taken {
            if let Some(array) = Buffer::zeroed(*ty, *len) {
                frame.give(*slot, array);
            }
        }
        match kernel.run(Pass::Emit, u64::MAX, &mut frame, args) {
            Outcome::Trapped(Some(report)) => Ok(self.trap_error(b, &report)),
            other => Ok(backend_error(format!(
                "a kernel trapped where the interpreter does not ({other:?})"
            ))),
        }
    }

    fn error_at(&self, b: &Bindings<'_>, comb: usize, kind: ErrorKind) -> Error {
        match self.lowered.combs.get(comb) {
            Some(id) => error_at(b.graph, *id, kind),
            None => Error {
                combinator: "force",
                location: None,
                kind,
            },
        }
    }

    fn trap_error(&self, b: &Bindings<'_>, report: &TrapReport) -> Error {
        let word = |i: usize| report.payload.get(i).map_or(0, |c| c.bits);
        let wide = |i: usize| report.payload.get(i).map_or(0, |c| signed(*c));
        let kind = match report.kind {
            // An index came as any integer type and was widened: a large one was negative.
            TrapKind::OutOfRange => ErrorKind::OutOfRange {
                index: word(0) as i64 as i128,
                len: word(1),
            },
            TrapKind::Division => ErrorKind::Division {
                dividend: wide(0),
                divisor: wide(1),
            },
            TrapKind::LengthMismatch => ErrorKind::LengthMismatch {
                got: word(0),
                expected: word(1),
            },
            TrapKind::Empty => ErrorKind::Empty,
            TrapKind::SliceRange => ErrorKind::SliceRange {
                end: word(0),
                len: word(1),
            },
            TrapKind::Segments => ErrorKind::Segments {
                needed: word(0) as i64 as i128,
                room: word(1),
            },
        };
        self.error_at(b, report.comb.index(), kind)
    }
}

fn cancelled() -> Error {
    Error {
        combinator: "force",
        location: None,
        kind: ErrorKind::Cancelled,
    }
}

fn new_frame(kernel: &dyn Kernel, bytes_left: u64) -> Frame {
    let mut frame = Frame::new(kernel.layout());
    frame.memory = Memory { left: bytes_left };
    frame
}

fn signed(c: Const) -> i128 {
    if c.ty.is_signed() {
        c.bits as i64 as i128
    } else {
        c.bits as i128
    }
}
