//! Compiled programs: the loops of a schedule with their kernels, and how arguments reach them.

use super::binding::{Args, Bindings, Origin, Recipe, Store};
use super::engine::{Engine, backend_error};
use super::in_place::{self, Needs, Take};
use super::parallel::{Ended, Run, Shapes};
use super::programs::LastUse;
use crate::ast::Values;
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::Plan;
use crate::lower::{Lowered, plan_and_lower};
use crate::sharing::{Graph, NodeId};
use livefusion_backend::{
    Arg, Buffer, Frame, Kernel, Memory, Outcome, Pass, TrapReport, Value as KernelValue,
};
use loop_lang::ir::TrapKind;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// A graph's schedule, compiled. It depends on the graph's structure only: constants, arrays and
/// locations are bound when it runs.
pub struct Program {
    /// The schedule.
    pub plan: Plan,
    /// Its loops.
    pub loops: Vec<CompiledLoop>,
    /// What the roots consist of.
    outputs: Vec<Output>,
    /// When it was used last.
    pub used: LastUse,
}

/// A root's fields.
struct Output {
    scalar: bool,
    fields: Vec<Origin>,
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
    /// Where its parameters come from.
    params: Vec<Origin>,
    /// How its chunks run beside each other.
    pub shapes: Shapes,
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
        let mut recipe = Recipe::new(graph, lengths);
        let mut loops = Vec::with_capacity(all.len());
        for (lowered, (kernel, takes)) in all.into_iter().zip(kernels) {
            let sizing = lowered.sizing.as_ref().and_then(|_| sizings.next());
            let params = recipe.params(&lowered);
            recipe.ran(&lowered);
            loops.push(CompiledLoop {
                lowered,
                kernel,
                sizing,
                takes,
                params,
                shapes: Shapes::default(),
            });
        }
        let output = |root: &NodeId| Output {
            scalar: graph.node(*root).rank == 0,
            fields: recipe.root(&plan, *root),
        };
        Ok(Program {
            outputs: graph.roots.iter().map(output).collect(),
            plan,
            loops,
            used: LastUse::default(),
        })
    }

    /// Runs every loop in order and collects the roots' values.
    pub fn run(&self, engine: &Engine, b: &Bindings<'_>) -> Result<Values> {
        let mut store = Store::default();
        for (i, l) in self.loops.iter().enumerate() {
            l.run(engine, b, &mut store, (i, self.loops.len()))?;
        }
        let mut values = Values::with_capacity(self.outputs.len());
        for output in &self.outputs {
            values.push(store.root(b, output.scalar, &output.fields)?);
        }
        Ok(values)
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
        let left = engine.memory_limit().saturating_sub(store.bytes);
        let mut frame = new_frame(&*self.kernel, left);
        let taken = self.take(store, &mut frame);
        let mut args = Args::new();
        store.args(b, &sizes, &self.params, &mut args)?;
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
                drop(args);
                store.keep(frame.results.into_iter());
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
    fn take(&self, store: &mut Store, frame: &mut Frame<'_>) -> Vec<(usize, Ty, usize)> {
        let mut taken = Vec::new();
        for take in &self.takes {
            if let Some(array) = self.params.get(take.param).and_then(|p| store.give(*p)) {
                taken.push((take.slot, array.ty(), array.len()));
                frame.give(take.slot, array);
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
        let mut args = Args::new();
        store.args(b, sizes, &self.params, &mut args)?;
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
            Some(id) => b.error_at(*id, kind),
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

fn new_frame(kernel: &dyn Kernel, bytes_left: u64) -> Frame<'static> {
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
