//! Compiled programs: the loops of a schedule with their kernels and arguments.

use super::binding::{Args, Bindings, Origin, Recipe, Store, here};
use super::cache::{Cached, LastUse};
use super::dump::{DumpRecord, Stage};
use super::engine::{Engine, Kernels, backend_error};
use super::frames::{KeptFrame, fresh};
use super::in_place::{self, ArrayNeeds, Update};
use super::parallel::{Ended, LoopRun, Shapes, in_order};
use super::position;
use super::replay::{Replay, Taken};
use super::result_slots::{self, ResultSlot};
use super::widened;
use crate::array::{MOST_LENGTH, negative};
use crate::ast::{Kind, Node, Value, Values};
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
    /// Whether the kernel takes arrays wherever they are.
    far: bool,
    /// How its chunks run in parallel.
    pub shapes: Shapes,
    /// The frame of its runs.
    frame: KeptFrame,
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
                frame: KeptFrame::new(kernel.layout()),
                far: kernel.takes_far(),
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

    /// Runs every loop in order and appends the roots' values.
    ///
    /// Arrays may reuse the memory of `spare` ones, the columns of each root, which are taken out.
    pub fn run(
        &self,
        engine: &Engine,
        b: &mut Bindings<'_>,
        spare: &mut [Vec<Arc<Buffer>>],
        values: &mut Values,
    ) -> Result<()> {
        let mut store = Store::default();
        let mut slots = &self.result_slots[..];
        for (i, l) in self.loops.iter().enumerate() {
            let (here, later) = slots.split_at(slots.partition_point(|h| h.at == i));
            slots = later;
            let memory = engine.memory(store.bytes);
            l.frame.lent(engine, memory, |frame| {
                l.grow(engine, &mut frame.growth);
                result_slots::offer(here, spare, frame);
                l.run(engine, b, &mut store, (i, self.loops.len()), frame)
            })?;
        }
        for (at, output) in self.outputs.iter().enumerate() {
            if output.scalar {
                values.push(Value::Scalar(Default::default()));
                if let Some(Value::Scalar(words)) = values.last_mut() {
                    store.words(b, &output.fields, words)?;
                }
                continue;
            }
            let mut columns = spare.get_mut(at).map(std::mem::take).unwrap_or_default();
            store.columns(b, &output.fields, &mut columns)?;
            values.push(Value::Array(columns));
        }
        Ok(())
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
        let taken = match self.updates.is_empty() {
            true => Vec::new(),
            false => self.take(b, store, frame)?,
        };
        let b = &*b;
        let mut args = Args::new();
        store.args(b, &sizes, (&self.params, self.far), &mut args)?;
        let run = LoopRun {
            engine,
            kernel: &self.kernel,
            far: self.far,
            program: &self.lowered.program,
            shapes: &self.shapes,
            args: &args,
            at,
        };
        let ended = run.to_end(frame);
        // A scalar loop may have stopped early when cancelled.
        let is_whole = matches!(ended, Ended::By(Outcome::Done | Outcome::Exited));
        if !is_whole || engine.watch().is_cancelled() {
            return Err(self.failed(engine, b, ended, (frame, args, &taken, memory)));
        }
        if !self.updates.is_empty() {
            engine.count_updates(taken.len(), self.copied(&taken, &args));
        }
        drop(args);
        engine.count_written_over(frame.spare.used());
        engine.count_grown(frame.growth.grown());
        self.check_kept(engine, b, frame, memory)?;
        store.keep(&mut frame.results);
        Ok(())
    }

    /// Returns the error of a run that ended early, which is replayed if it trapped.
    #[cold]
    fn failed<'a>(
        &'a self,
        engine: &Engine,
        b: &Bindings<'_>,
        mut ended: Ended,
        (frame, mut args, taken, memory): (&mut Frame<'_>, Args<'a>, &[Taken], Memory),
    ) -> Error {
        if let Ended::By(Outcome::Trapped(None)) = ended {
            // Frees memory for the replay.
            frame.arrays.clear();
            // The interpreter reads them on the host.
            for arg in &mut args {
                if let Arg::Far(array) = *arg {
                    match here(array) {
                        Ok(array) => *arg = Arg::Array(array.view()),
                        Err(lost) => return lost,
                    }
                }
            }
            let mut growth = Growth::default();
            self.grow(engine, &mut growth);
            let replay = Replay {
                engine,
                kernel: &*self.kernel,
                program: &self.lowered.program,
                args: &args,
                taken,
                memory,
                growth,
            };
            ended = replay.run();
        }
        match ended {
            Ended::By(_) if engine.watch().is_cancelled() => cancelled(),
            Ended::Cancelled => cancelled(),
            Ended::By(Outcome::Trapped(Some(report))) => self.trap_error(b, &report),
            Ended::By(Outcome::NoMemory { comb, bytes }) => {
                self.no_memory((engine, &frame.memory), b, comb, bytes)
            }
            Ended::By(Outcome::BadArgs(why)) => backend_error(why),
            Ended::By(Outcome::Trapped(None)) => {
                backend_error("a kernel trapped where the interpreter does not".into())
            }
            Ended::By(Outcome::Done | Outcome::Exited | Outcome::Paused) => {
                backend_error("a loop stopped before its end".into())
            }
        }
    }

    /// Hands over the arrays that the loop may update in place.
    ///
    /// Returns the slot, type and length of each.
    #[inline(never)]
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
                if !self.far {
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
        let mut frame = fresh(kernel.layout(), engine, engine.memory(store.bytes));
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

    /// Lets its arrays begin short where they may; on a device there are none.
    fn grow(&self, engine: &Engine, growth: &mut Growth) {
        if !self.far {
            let may = self.shapes.growing(&self.lowered.program, &*self.kernel);
            engine.grow(may, growth);
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
