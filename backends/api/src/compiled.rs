//! Common part of compiled kernels: argument checks, the call, the results.

use crate::abi::{self, Array, Callbacks, Entry, Run, outcome, view_of};
use crate::facts::{Facts, Source};
use crate::kernel::check_args;
use crate::{Arg, Buffer, CompileError, Frame, Held, Memory, Outcome, Pass, Value, View};
use loop_lang::Loop;
use loop_lang::ir::{Atom, CombId, End, Place, Type};
use loop_lang::state::{DONE, Layout};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// An upper bound on the steps of any run. It keeps sums in compiled code from wrapping.
const MAX_STEPS: u64 = 1 << 62;

/// Parameters without an allocation.
const INPUTS: usize = 16;
/// Scalar parameters as words, by parameter.
type Scalars = SmallVec<[u64; INPUTS]>;
/// Array parameters, by parameter.
type Inputs = SmallVec<[Array; INPUTS]>;

/// The source of a result.
enum Returned {
    Scalar(Ty),
    /// An array. The last result with this source takes it, earlier ones get copies.
    Array {
        source: Source,
        last: bool,
    },
}

/// Holds a loop with the data that its compiled passes need.
pub struct Compiled {
    program: Loop,
    layout: Layout,
    /// Types of the parameters.
    params: Vec<Type>,
    /// Types of the arrays that the loop makes, by slot.
    types: Vec<Ty>,
    returned: Vec<Returned>,
    /// The combinator that names the returning block.
    returning: CombId,
    /// Whether the loop fills an array, by slot.
    filled: Vec<bool>,
    scratch_words: usize,
}

impl Compiled {
    /// Prepares a loop for passes compiled from `program`.
    ///
    /// `layout` is the layout of the emit form. Passes find `scratch_words` words of memory at
    /// [`Run::scratch`].
    pub fn new(program: Loop, layout: Layout, scratch_words: usize) -> Result<Compiled, String> {
        let (returning, returned) = returned(&program, &layout)?;
        let filled = loop_lang::filled::filled(&program);
        let types = layout.arrays.iter().map(|v| program.ty(*v).elem());
        Ok(Compiled {
            params: program.params.iter().map(|p| program.ty(p.var)).collect(),
            types: types.collect(),
            filled: layout.arrays.iter().map(|a| filled.contains(a)).collect(),
            program,
            layout,
            returned,
            returning,
            scratch_words,
        })
    }

    /// Returns the loop.
    pub fn program(&self) -> &Loop {
        &self.program
    }

    /// Returns the layout of its frames.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Runs the pass that `entry` returns, as [`Kernel::run`](crate::Kernel::run) does.
    ///
    /// # Safety
    ///
    /// The entry was compiled from this loop, for this layout and this size of scratch memory. For
    /// any arguments, frame words and array elements, it accesses only the given arrays and words.
    /// It writes only the frame's words, made arrays, results and scratch.
    pub unsafe fn run(
        &self,
        entry: impl FnOnce() -> Result<Entry, CompileError>,
        pass: Pass,
        steps: u64,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Outcome {
        if let Err(why) = self.check_frame(frame) {
            return Outcome::BadArgs(why);
        }
        let count = self.params.len();
        let mut scalars: Scalars = zeros(count);
        let mut inputs: Inputs = match count <= INPUTS {
            true => SmallVec::from_buf_and_len([NO_ARRAY; INPUTS], count),
            false => SmallVec::from_elem(NO_ARRAY, count),
        };
        if !self.bind(args, &mut scalars, &mut inputs) {
            let why = check_args(&self.program, args).err();
            return Outcome::BadArgs(why.unwrap_or_else(|| "these arguments do not fit".into()));
        }
        if frame.words[0] == DONE {
            return Outcome::Done;
        }
        let entry = match entry() {
            Ok(entry) => entry,
            Err(e) => return Outcome::BadArgs(format!("no summary pass: {e}")),
        };
        let mut results: SmallVec<[u64; 8]> = zeros(self.returned.len());
        // Passes write it before they read it.
        let mut scratch: SmallVec<[u64; 64]> = SmallVec::new();
        if self.scratch_words > scratch.capacity() {
            scratch.reserve(self.scratch_words);
        }
        let mut run = Run {
            words: frame.words.as_mut_ptr(),
            budget: steps.min(MAX_STEPS),
            scalars: scalars.as_ptr(),
            inputs: inputs.as_ptr(),
            made: std::ptr::null_mut(),
            results: results.as_mut_ptr(),
            scratch: scratch.as_mut_ptr(),
            new_array: abi::new_array,
            fill_array: abi::fill_array,
            copy_array: abi::copy_array,
            stop: frame.stop.map_or(&raw const NEVER, std::ptr::from_ref),
            callbacks: Callbacks {
                arrays: &mut frame.arrays,
                given: &mut frame.given,
                spare: &mut frame.spare,
                types: &self.types,
                filled: &self.filled,
                memory: &mut frame.memory,
                growth: &mut frame.growth,
                refused: None,
                views: SmallVec::new(),
            },
        };
        for array in &mut *run.callbacks.arrays {
            let view = array.as_mut().map_or(NO_ARRAY, view_of);
            run.callbacks.views.push(view);
        }
        // The views must not move until the call is over.
        run.made = run.callbacks.views.as_mut_ptr();
        // SAFETY: the arguments and the frame were checked against the loop that the code was
        // compiled from, as the caller promises.
        let code = unsafe { entry((&raw mut run).cast()) };
        let Callbacks {
            arrays,
            views,
            refused,
            ..
        } = &mut run.callbacks;
        let refused = *refused;
        for (array, view) in arrays.iter_mut().zip(views) {
            if let Some(b) = array {
                b.truncate(view.length as usize);
            }
        }
        match code {
            outcome::DONE | outcome::EXITED => {
                if pass == Pass::Emit
                    && let Err(failed) = self.take_results(&results, frame, args)
                {
                    return failed;
                }
                if code == outcome::DONE {
                    Outcome::Done
                } else {
                    Outcome::Exited
                }
            }
            outcome::PAUSED => Outcome::Paused,
            outcome::NO_MEMORY => {
                let (comb, bytes) = refused.unwrap_or((0, 0));
                Outcome::NoMemory {
                    comb: CombId(comb),
                    bytes,
                }
            }
            _ => {
                debug_assert_eq!(code, outcome::TRAPPED);
                Outcome::Trapped(None)
            }
        }
    }

    /// Stores the arguments for compiled code. Returns whether their types match the parameters.
    #[inline]
    fn bind(&self, args: &[Arg<'_>], scalars: &mut [u64], inputs: &mut [Array]) -> bool {
        let places = scalars.iter_mut().zip(inputs);
        for ((want, arg), (scalar, array)) in self.params.iter().zip(args).zip(places) {
            match (want, arg) {
                (Type::Scalar(ty), Arg::Scalar(c)) if c.ty == *ty => *scalar = c.bits,
                (Type::Array(ty), Arg::Array(view)) if view.ty() == *ty => *array = input(*view),
                _ => return false,
            }
        }
        args.len() == self.params.len()
    }

    /// Checks that a frame fits this kernel.
    fn check_frame(&self, frame: &Frame<'_>) -> Result<(), String> {
        let Frame { words, arrays, .. } = frame;
        if words.len() != self.layout.words || arrays.len() != self.layout.arrays.len() {
            return Err("the frame is laid out for another loop".into());
        }
        if words[0] != DONE && words[0] > self.layout.resume.len() as u64 {
            return Err(format!("the frame's position is {}", words[0]));
        }
        if words[1] > MAX_STEPS {
            return Err(format!("the frame has taken {} steps", words[1]));
        }
        for ((v, want), array) in self.layout.arrays.iter().zip(&self.types).zip(arrays) {
            if let Some(got) = array.as_ref().map(Held::ty).filter(|t| t != want) {
                return Err(format!(
                    "array {} of the frame is [{got}], not [{want}]",
                    self.program.name(*v)
                ));
            }
        }
        Ok(())
    }

    /// Moves the results into the frame.
    fn take_results(
        &self,
        words: &[u64],
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Result<(), Outcome> {
        frame.results.clear();
        for (word, from) in words.iter().zip(&self.returned) {
            let value = match from {
                Returned::Scalar(ty) => Value::Scalar(Const::new(*ty, *word)),
                Returned::Array {
                    source: Source::Param(i),
                    ..
                } => match args.get(*i) {
                    Some(Arg::Array(view)) => {
                        let (ty, len) = (view.ty(), view.len());
                        let copy = || Buffer::copy_of(*view);
                        Value::Array(self.copy(ty, len, &mut frame.memory, copy)?)
                    }
                    _ => return Err(Outcome::BadArgs("a result is no array".into())),
                },
                Returned::Array {
                    source: Source::Made(slot),
                    last,
                } => {
                    let array = match &mut frame.arrays[*slot] {
                        None => None,
                        taken if *last => taken.take().and_then(Held::into_own),
                        Some(kept) => {
                            let (ty, len, memory) = (kept.ty(), kept.len(), &mut frame.memory);
                            Some(self.copy(ty, len, memory, || kept.copy())?)
                        }
                    };
                    let none = || Buffer::empty(self.types[*slot]);
                    Value::Array(array.unwrap_or_else(none))
                }
            };
            frame.results.push(value);
        }
        Ok(())
    }

    /// Copies an array within the memory limit.
    fn copy(
        &self,
        ty: Ty,
        len: usize,
        memory: &mut Memory,
        copy: impl FnOnce() -> Option<Buffer>,
    ) -> Result<Buffer, Outcome> {
        let bytes = (len as u64).saturating_mul(ty.size() as u64);
        let copy = memory.take(bytes).then(copy).flatten();
        copy.ok_or(Outcome::NoMemory {
            comb: self.returning,
            bytes,
        })
    }
}

/// Holds the compiled passes of a loop.
///
/// A summary pass is compiled when it first runs.
pub struct Passes<E> {
    emit: E,
    /// The summary pass of each level that the loop's groups have, lowest first.
    summaries: Vec<(u32, OnceLock<Result<E, CompileError>>)>,
}

impl<E> Passes<E> {
    /// Starts from the compiled emit pass of a loop.
    pub fn new(program: &Loop, emit: E) -> Passes<E> {
        let mut levels: Vec<u32> = program.groups.iter().map(|g| g.level).collect();
        levels.push(0);
        levels.sort_unstable();
        levels.dedup();
        let summaries = levels.into_iter().map(|l| (l, OnceLock::new())).collect();
        Passes { emit, summaries }
    }

    /// Returns a pass.
    ///
    /// `compile` compiles the summary of a level.
    #[inline]
    pub fn get(
        &self,
        pass: Pass,
        compile: impl FnOnce(u32) -> Result<E, CompileError>,
    ) -> Result<&E, CompileError> {
        let Pass::Summary { level } = pass else {
            return Ok(&self.emit);
        };
        match self.summaries.iter().rev().find(|(l, _)| *l <= level) {
            Some((level, made)) => {
                let made = made.get_or_init(|| compile(*level));
                made.as_ref().map_err(Clone::clone)
            }
            None => Ok(&self.emit),
        }
    }
}

/// Finds the sources of a loop's results.
fn returned(program: &Loop, layout: &Layout) -> Result<(CombId, Vec<Returned>), String> {
    let facts = Facts::of(program, &layout.arrays, &layout.held)?;
    let last = facts.at.get(&Place::Return).map(|i| &facts.blocks[*i]);
    let Some((block, End::Return(results))) = last.map(|b| (b, &b.block.end)) else {
        return Err("the last block does not return".into());
    };
    let mut wanted = FxHashSet::default();
    let mut from = |a: &Atom| match a {
        Atom::Var(v) if matches!(program.ty(*v), Type::Array(_)) => match facts.source.get(v) {
            Some(source) => Ok(Returned::Array {
                source: *source,
                last: wanted.insert(*source),
            }),
            None => Err(format!("result {} is not made anywhere", program.name(*v))),
        },
        _ => Ok(Returned::Scalar(program.atom_ty(*a))),
    };
    let mut returned: Vec<Returned> = results
        .iter()
        .rev()
        .map(&mut from)
        .collect::<Result<_, String>>()?;
    returned.reverse();
    Ok((block.labels[0].comb, returned))
}

/// The stop flag of runs that cannot be stopped.
static NEVER: AtomicBool = AtomicBool::new(false);

const NO_ARRAY: Array = Array {
    data: std::ptr::null_mut(),
    length: 0,
};

/// Returns zeros, without a call if they are few.
#[inline]
pub(crate) fn zeros<const N: usize>(count: usize) -> SmallVec<[u64; N]>
where
    [u64; N]: smallvec::Array<Item = u64>,
{
    match count <= N {
        true => SmallVec::from_buf_and_len([0; N], count),
        false => SmallVec::from_elem(0, count),
    }
}

/// Converts an array argument to the form of compiled code, which only reads it.
fn input(view: View<'_>) -> Array {
    Array {
        data: View::as_ptr(&view).cast_mut().cast(),
        length: view.len() as u64,
    }
}
