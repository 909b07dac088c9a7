//! Compiled programs: the loops of a schedule with their kernels and arguments.

use super::binding::{Args, Bindings, Origin, Recipe, Store, here};
use super::cache::{Cached, LastUse};
use super::dump::{DumpRecord, Stage};
use super::engine::{Engine, Kernels, backend_error};
use super::in_place::{self, ArrayNeeds, Update};
use super::parallel::{Ended, LoopRun, Shapes, in_order};
use super::position;
use super::replay::{Replay, Taken};
use super::result_slots::{self, ResultSlot};
use super::watch::CancelToken;
use super::widened;
use crate::array::{MOST_LENGTH, negative};
use crate::ast::{Kind, Node, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::fusion::{Plan, plan};
use crate::lower::{Lowered, lower, numbered};
use crate::sharing::{Graph, KnownLengths, NodeId};
use crate::stages;
use livefusion_backend::{
    Arg, Buffer, Frame, Growth, Kernel, Memory, Outcome, TrapReport, Value as KernelValue,
};
use loop_lang::ir::{CombId, TrapKind};
use loop_lang::types::Const;
use std::sync::Arc;

/// Holds a compiled schedule of a graph.
///
/// It depends on the graph's structure only. Constants, arrays and locations are bound when it
/// runs.
pub struct CompiledProgram {
    /// The schedule.
    pub plan: Plan,
    /// Its loops.
    pub loops: Vec<CompiledLoop>,
    /// The origins of the roots' fields.
    outputs: Vec<RootOutput>,
    /// The slots where their arrays are made, in loop order.
    result_slots: Vec<ResultSlot>,
    /// The time of its last use.
    used: LastUse,
}

impl Cached for CompiledProgram {
    fn last_use(&self) -> &LastUse {
        &self.used
    }
}

/// A root's fields.
struct RootOutput {
    scalar: bool,
    fields: Vec<Origin>,
}

/// Holds one compiled loop of a program.
pub struct CompiledLoop {
    /// The optimised loop with its ties to the graph.
    pub lowered: Lowered,
    /// Its kernel.
    pub kernel: Arc<dyn Kernel>,
    /// The kernel that counts its results first, if their number must be known.
    pub sizing: Option<Arc<dyn Kernel>>,
    /// Arrays that it changes.
    pub updates: Vec<Update>,
    /// The origins of its parameters.
    pub params: Vec<Origin>,
    /// How its chunks run in parallel.
    pub shapes: Shapes,
}

impl CompiledProgram {
    /// Plans, lowers, optimises and compiles the graph of these roots.
    ///
    /// Each stage is dumped if requested.
    pub fn compile(
        engine: &Engine,
        roots: &[Arc<Node>],
        graph: &Graph,
        lengths: &KnownLengths,
    ) -> Result<CompiledProgram> {
        let record = DumpRecord::next();
        record.add(Stage::Ast, || stages::ast_of(roots));
        let shown = || stages::Graph::of(graph, lengths);
        record.add(Stage::Graph, shown);
        let plan = plan(graph, lengths, engine.clustering());
        record.add(Stage::Plan, || shown().planned(plan.clone()));
        let mut all = lower(graph, &plan, &numbered)?;
        let shown = |all: &_, how| format!("# as {how}\n{}\n", stages::LoopTexts(all));
        record.add(Stage::Loop, || shown(&all, "lowered"));
        all.iter_mut().for_each(Lowered::optimize);
        record.add(Stage::Loop, || shown(&all, "optimised"));
        let shown = |of: fn(&stages::Tiles) -> String| {
            let tiles = stages::Tiles::new(engine, &all);
            tiles.map_or_else(|refused| format!("# {refused}\n"), |tiles| of(&tiles))
        };
        record.add(Stage::Schedule, || shown(stages::Tiles::schedules));
        record.add(Stage::Tile, || shown(ToString::to_string));
        let compiled = engine.compile_all(&all)?;
        record.add(Stage::C, || {
            let code = stages::Code::new(engine, &all, &compiled);
            code.sources().flatten().collect::<Vec<_>>().join("\n")
        });
        let needs = ArrayNeeds::of(graph, &plan, &all, &lengths.arrays);
        let layouts = compiled.iter().map(|c| c.kernel.layout());
        let updates = all.iter().zip(layouts).enumerate();
        let updates =
            updates.map(|(at, (l, layout))| in_place::updates(graph, &needs, at, l, layout));
        let updates: Vec<_> = updates.collect();
        let mut recipe = Recipe::new(graph, &lengths.arrays);
        let mut loops = Vec::with_capacity(all.len());
        for ((lowered, Kernels { kernel, sizing }), updates) in
            all.into_iter().zip(compiled).zip(updates)
        {
            let params = recipe.params(&lowered);
            recipe.ran(&lowered);
            loops.push(CompiledLoop {
                lowered,
                kernel,
                sizing,
                updates,
                params,
                shapes: Shapes::default(),
            });
        }
        let output = |root: &NodeId| RootOutput {
            scalar: graph.node(*root).rank == 0,
            fields: recipe.root(&plan, *root),
        };
        let outputs: Vec<RootOutput> = graph.roots.iter().map(output).collect();
        let fields = outputs.iter().map(|o| &o.fields[..]);
        Ok(CompiledProgram {
            result_slots: result_slots::of(&loops, fields),
            outputs,
            plan,
            loops,
            used: LastUse::default(),
        })
    }

    /// Runs every loop in order and collects the roots' values.
    ///
    /// Their arrays may reuse the memory of `spare` ones, which are the columns of each root.
    pub fn run(
        &self,
        engine: &Engine,
        b: &mut Bindings<'_>,
        spare: &mut [Vec<Arc<Buffer>>],
    ) -> Result<Values> {
        let mut store = Store::default();
        let mut slots = &self.result_slots[..];
        for (i, l) in self.loops.iter().enumerate() {
            let (here, later) = slots.split_at(slots.partition_point(|h| h.at == i));
            slots = later;
            let mut frame = new_frame(&*l.kernel, engine, engine.memory(store.bytes));
            frame.growth = l.growth(engine);
            result_slots::offer(here, spare, &mut frame);
            l.run(engine, b, &mut store, (i, self.loops.len()), &mut frame)?;
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
        b: &mut Bindings<'_>,
        store: &mut Store,
        at: (usize, usize),
        frame: &mut Frame<'_>,
    ) -> Result<()> {
        let memory = frame.memory;
        let sizes = match &self.sizing {
            Some(kernel) => self.sizes(engine, &**kernel, b, store)?,
            None => vec![],
        };
        let taken = self.take(b, store, frame)?;
        let b = &*b;
        let mut args = Args::new();
        store.args(
            b,
            &sizes,
            (&self.params, self.kernel.takes_far()),
            &mut args,
        )?;
        let run = LoopRun {
            engine,
            kernel: &self.kernel,
            program: &self.lowered.program,
            shapes: &self.shapes,
            args: &args,
            at,
        };
        let mut ended = run.to_end(frame);
        if let Ended::By(Outcome::Trapped(None)) = ended {
            // Frees memory for the replay.
            frame.arrays.clear();
            // The interpreter reads them on the host.
            for arg in &mut args {
                if let Arg::Far(array) = *arg {
                    *arg = Arg::Array(here(array)?.view());
                }
            }
            let replay = Replay {
                engine,
                kernel: &*self.kernel,
                program: &self.lowered.program,
                args: &args,
                taken: &taken,
                memory,
                growth: self.growth(engine),
            };
            ended = replay.run();
        }
        let Ended::By(outcome) = ended else {
            return Err(cancelled());
        };
        // A scalar loop may have stopped early when cancelled.
        if engine.watch().is_cancelled() {
            return Err(cancelled());
        }
        match outcome {
            Outcome::Done | Outcome::Exited => {
                engine.count_updates(taken.len(), self.copied(&taken, &args));
                drop(args);
                engine.count_written_over(frame.spare.used());
                engine.count_grown(frame.growth.grown());
                self.check_kept(engine, b, frame, memory)?;
                store.keep(frame.results.drain(..));
                Ok(())
            }
            Outcome::Trapped(Some(report)) => Err(self.trap_error(b, &report)),
            Outcome::Trapped(None) => Err(backend_error(
                "a kernel trapped where the interpreter does not".into(),
            )),
            Outcome::NoMemory { comb, bytes } => {
                Err(self.no_memory((engine, &frame.memory), b, comb, bytes))
            }
            Outcome::BadArgs(why) => Err(backend_error(why)),
            Outcome::Paused => Err(backend_error("a loop stopped before its end".into())),
        }
    }

    /// Hands over the arrays that the loop may update in place.
    ///
    /// Returns the slot, type and length of each.
    fn take(
        &self,
        b: &mut Bindings<'_>,
        store: &mut Store,
        frame: &mut Frame<'_>,
    ) -> Result<Vec<Taken>> {
        let mut taken = Vec::new();
        for update in self.updates.iter().filter(|u| u.copied.is_none()) {
            let from = self.params.get(update.param);
            if let Some(array) = from.and_then(|from| store.give(b, *from)) {
                if !self.kernel.takes_far() {
                    here(&array)?;
                }
                taken.push((update.slot, array.ty(), array.len()));
                frame.give(update.slot, array);
            }
        }
        Ok(taken)
    }

    /// Counts the bytes copied for updates of other arrays.
    fn copied(&self, taken: &[Taken], args: &[Arg<'_>]) -> u64 {
        let updates = self.updates.iter();
        let copied = updates.filter(|u| !taken.iter().any(|(slot, ..)| *slot == u.slot));
        let bytes = copied.map(|u| match args.get(u.param) {
            Some(Arg::Array(view)) => view.len() as u64 * view.ty().size() as u64,
            Some(Arg::Far(array)) => array.len() as u64 * array.ty().size() as u64,
            _ => 0,
        });
        bytes.sum()
    }

    /// Runs the sizing loop.
    ///
    /// Its counts may depend on elements of arrays that it sizes itself. It therefore runs once per
    /// size; each run finds at least one more.
    fn sizes(
        &self,
        engine: &Engine,
        kernel: &dyn Kernel,
        b: &Bindings<'_>,
        store: &Store,
    ) -> Result<Vec<Const>> {
        let mut sizes = self.counted(engine, kernel, b, store, &[])?;
        for _ in 1..sizes.len() {
            sizes = self.counted(engine, kernel, b, store, &sizes)?;
        }
        Ok(sizes)
    }

    fn counted(
        &self,
        engine: &Engine,
        kernel: &dyn Kernel,
        b: &Bindings<'_>,
        store: &Store,
        sizes: &[Const],
    ) -> Result<Vec<Const>> {
        let mut args = Args::new();
        store.args(b, sizes, (&self.params, kernel.takes_far()), &mut args)?;
        let mut frame = new_frame(kernel, engine, engine.memory(store.bytes));
        match in_order(kernel, engine.watch(), u64::MAX, &mut frame, &args) {
            Ended::Cancelled => Err(cancelled()),
            // A scalar loop may have stopped early when cancelled.
            _ if engine.watch().is_cancelled() => Err(cancelled()),
            Ended::By(Outcome::BadArgs(why)) => Err(backend_error(why)),
            Ended::By(Outcome::NoMemory { comb, bytes }) => {
                Err(self.no_memory((engine, &frame.memory), b, comb, bytes))
            }
            Ended::By(_) => Ok(frame
                .results
                .iter()
                .filter_map(|r| match r {
                    KernelValue::Scalar(c) => Some(*c),
                    KernelValue::Array(_) => None,
                })
                .collect()),
        }
    }

    /// Checks the arrays that began short against the loop's memory.
    ///
    /// Not all of their elements were charged against it before.
    fn check_kept(
        &self,
        engine: &Engine,
        b: &Bindings<'_>,
        frame: &Frame<'_>,
        had: Memory,
    ) -> Result<()> {
        let Some(comb) = frame.growth.makers().next() else {
            return Ok(());
        };
        let bytes = |value: &KernelValue| match value {
            KernelValue::Array(a) => a.len() as u64 * a.ty().size() as u64,
            KernelValue::Scalar(_) => 0,
        };
        let kept: u64 = frame.results.iter().map(bytes).sum();
        match kept > had.left() {
            true => Err(self.no_memory((engine, &had), b, comb, kept)),
            false => Ok(()),
        }
    }

    /// Returns its arrays that may begin short; on a device there are none.
    fn growth(&self, engine: &Engine) -> Growth {
        match self.kernel.takes_far() {
            true => Growth::default(),
            false => engine.growing(
                self.shapes
                    .growing(&self.lowered.program, self.kernel.layout()),
            ),
        }
    }

    fn no_memory(
        &self,
        (engine, memory): (&Engine, &Memory),
        b: &Bindings<'_>,
        comb: CombId,
        bytes: u64,
    ) -> Error {
        let limit = engine.memory_limit().min(memory.limit());
        self.error_at(b, comb.index(), ErrorKind::Memory { bytes, limit })
    }

    fn error_at(&self, b: &Bindings<'_>, comb: usize, kind: ErrorKind) -> Error {
        match self.lowered.combs.get(comb) {
            Some(id) => b.error_at(*id, kind),
            None => Error {
                combinator: "force",
                row: None,
                element: None,
                location: None,
                kind,
            },
        }
    }

    fn trap_error(&self, b: &Bindings<'_>, report: &TrapReport) -> Error {
        let word = |i: usize| report.payload.get(i).map_or(0, |c| c.bits);
        let wide = |i: usize| report.payload.get(i).and_then(|c| c.integer()).unwrap_or(0);
        let kind = match report.kind {
            // A negative length.
            TrapKind::OutOfRange if word(1) == MOST_LENGTH => {
                negative(widened::first(&self.lowered, b, report))
            }
            TrapKind::OutOfRange => ErrorKind::OutOfRange {
                index: widened::first(&self.lowered, b, report),
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
            TrapKind::Empty if self.searches(b, report) => ErrorKind::NotFound,
            TrapKind::Empty => ErrorKind::Empty,
            TrapKind::SliceRange => ErrorKind::SliceRange {
                start: word(0),
                end: word(1),
                len: word(2),
            },
            TrapKind::LongSum => ErrorKind::too_many(format!("{} + {}", word(0), word(1))),
            TrapKind::LongProduct => ErrorKind::too_many(format!("{} * {}", word(0), word(1))),
            TrapKind::Segments => ErrorKind::Segments {
                needed: widened::first(&self.lowered, b, report),
                room: word(1),
            },
        };
        let by_element = matches!(report.kind, TrapKind::OutOfRange | TrapKind::Division);
        let position = position::of(&self.lowered, b, report);
        Error {
            row: position.row,
            element: position.element.filter(|_| by_element),
            ..self.error_at(b, report.comb.index(), kind)
        }
    }

    /// Tells whether the empty array was selected from its input by the same user call, as in a
    /// search.
    fn searches(&self, b: &Bindings<'_>, report: &TrapReport) -> bool {
        let Some(id) = self.lowered.combs.get(report.comb.index()) else {
            return false;
        };
        let node = b.nodes.get(*id);
        let chosen = |n: &Arc<Node>| {
            let is_pack = matches!(n.kind, Kind::Pack) && n.loc == node.loc;
            is_pack && !n.inputs.last().is_some_and(tells_ends)
        };
        node.inputs.last().is_some_and(chosen)
    }
}

/// Tells whether tags mark the elements before an end.
///
/// This is a segmented `take_while`, which is no search.
fn tells_ends(tags: &Arc<Node>) -> bool {
    match (&tags.kind, tags.inputs.first()) {
        (Kind::Fields(_), Some(of)) => matches!(of.kind, Kind::ScanS(..)),
        (kind, _) => matches!(kind, Kind::ScanS(..)),
    }
}

pub(super) fn cancelled() -> Error {
    Error {
        combinator: "force",
        row: None,
        element: None,
        location: None,
        kind: ErrorKind::Cancelled,
    }
}

fn new_frame<'e>(kernel: &dyn Kernel, engine: &'e Engine, memory: Memory) -> Frame<'e> {
    let mut frame = Frame::new(kernel.layout());
    frame.memory = memory;
    frame.stop = engine.watch().cancel.as_ref().map(CancelToken::flag);
    frame
}
