//! A loop compiled to C: checks what it is called with, lets the machine code run, and brings
//! memory.

use crate::emit::{self, Form, machine};
use crate::facts::{Facts, Source};
use crate::library::{Array, Entry, Run};
use crate::loader::Loader;
use livefusion_backend::kernel::check_args;
use livefusion_backend::{
    Arg, Buffer, CompileError, Frame, Kernel, Memory, Outcome, Pass, Value, View,
};
use loop_lang::Loop;
use loop_lang::ir::{Atom, CombId, End, Place, Type};
use loop_lang::state::{DONE, Layout};
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// More steps than any run takes; keeps the sums in generated code from wrapping.
const MAX_STEPS: u64 = 1 << 62;

/// Values of the prelude's `LF_..` outcomes.
mod outcome {
    pub const DONE: i32 = 0;
    pub const PAUSED: i32 = 1;
    pub const EXITED: i32 = 2;
    pub const TRAPPED: i32 = 3;
    pub const NO_MEMORY: i32 = 4;
}

/// Where a result comes from.
enum Returned {
    Scalar(Ty),
    /// An array; the last result that wants it takes it, others get copies.
    Array {
        source: Source,
        last: bool,
    },
}

/// A compiled loop.
pub struct CKernel {
    program: Loop,
    layout: Layout,
    source: Arc<str>,
    loader: Arc<Loader>,
    form: Form,
    emit: Entry,
    /// The summary pass of each level that the loop's groups have, compiled when first run.
    summaries: Vec<(u32, OnceLock<Result<Entry, CompileError>>)>,
    returned: Vec<Returned>,
    /// The combinator that the returning block is named after.
    returning: CombId,
    scratch_words: usize,
}

impl CKernel {
    /// A kernel of what was compiled from `source`.
    pub fn new(
        program: Loop,
        layout: Layout,
        source: Arc<str>,
        loader: Arc<Loader>,
        emit: Entry,
        form: Form,
    ) -> Result<CKernel, String> {
        let (returning, returned) = returned(&program, &layout)?;
        let mut levels: Vec<u32> = program.groups.iter().map(|g| g.level).collect();
        levels.push(0);
        levels.sort_unstable();
        levels.dedup();
        Ok(CKernel {
            scratch_words: machine::scratch_bytes(&program).div_ceil(8),
            program,
            layout,
            source,
            loader,
            form,
            emit,
            summaries: levels.into_iter().map(|l| (l, OnceLock::new())).collect(),
            returned,
            returning,
        })
    }

    fn entry(&self, pass: Pass) -> Result<Entry, CompileError> {
        let Pass::Summary { level } = pass else {
            return Ok(self.emit);
        };
        let known = self.summaries.iter().rev().find(|(l, _)| *l <= level);
        match known {
            Some((level, entry)) => entry.get_or_init(|| self.compile_summary(*level)).clone(),
            None => Ok(self.emit),
        }
    }

    fn compile_summary(&self, level: u32) -> Result<Entry, CompileError> {
        let summary = loop_lang::passes::summary(&self.program, level);
        let mut file = emit::File::default();
        let symbol = format!("{}_summary", crate::names::identifier(&self.program.name));
        let text = file
            .add(
                &summary,
                &self.layout,
                &symbol,
                Form {
                    summary: true,
                    ..self.form
                },
            )
            .and_then(|()| file.finish())
            .map_err(CompileError::Malformed)?;
        let entries = self.loader.load(&text, &[symbol])?;
        entries
            .first()
            .copied()
            .ok_or_else(|| CompileError::Malformed("no summary".into()))
    }

    /// Why a frame cannot be this kernel's, if so.
    fn check_frame(&self, frame: &Frame) -> Result<(), String> {
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
        for (v, array) in self.layout.arrays.iter().zip(arrays) {
            let want = self.program.ty(*v).elem();
            if let Some(got) = array.as_ref().map(Buffer::ty).filter(|t| *t != want) {
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
        frame: &mut Frame,
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
                    Some(Arg::Array(view)) => Value::Array(self.copy(*view, &mut frame.memory)?),
                    _ => return Err(Outcome::BadArgs("a result is no array".into())),
                },
                Returned::Array {
                    source: Source::Made(slot),
                    last,
                } => {
                    let none = Buffer::empty(self.program.ty(self.layout.arrays[*slot]).elem());
                    if *last {
                        Value::Array(frame.arrays[*slot].take().unwrap_or(none))
                    } else {
                        let view = frame.arrays[*slot].as_ref().unwrap_or(&none).view();
                        Value::Array(self.copy(view, &mut frame.memory)?)
                    }
                }
            };
            frame.results.push(value);
        }
        Ok(())
    }

    /// A copy within the memory limit.
    fn copy(&self, view: View<'_>, memory: &mut Memory) -> Result<Buffer, Outcome> {
        let bytes = (view.len() as u64).saturating_mul(view.ty().size() as u64);
        let left = memory.left.checked_sub(bytes);
        match left.and_then(|left| Some((left, Buffer::copy_of(view)?))) {
            Some((left, copy)) => {
                memory.left = left;
                Ok(copy)
            }
            None => Err(Outcome::NoMemory {
                comb: self.returning,
                bytes,
            }),
        }
    }
}

/// Where the results of a loop come from.
fn returned(program: &Loop, layout: &Layout) -> Result<(CombId, Vec<Returned>), String> {
    let facts = Facts::of(program, &layout.arrays)?;
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

/// What the callbacks of generated code work on.
struct Host<'f> {
    arrays: &'f mut [Option<Buffer>],
    given: &'f mut Vec<usize>,
    types: Vec<Ty>,
    /// Bytes that may still be allocated.
    left: &'f mut u64,
    refused: Option<(u32, u64)>,
    views: Vec<Array>,
}

impl Host<'_> {
    /// Empties a slot; the memory may be allocated again.
    fn vacate(&mut self, slot: u32) {
        if let Some(old) = self.arrays[slot as usize].take() {
            let bytes = old.len() as u64 * old.ty().size() as u64;
            *self.left = self.left.saturating_add(bytes);
        }
    }

    /// Allocates the array of a slot with `make`, within the memory limit. What is in the slot goes
    /// first if `vacate`, else when the new array is there.
    fn make(
        &mut self,
        slot: u32,
        length: u64,
        comb: u32,
        vacate: bool,
        make: impl FnOnce(Ty, usize) -> Option<Buffer>,
    ) -> Option<()> {
        let ty = *self.types.get(slot as usize)?;
        let bytes = length.saturating_mul(ty.size() as u64);
        if vacate {
            self.vacate(slot);
        }
        let fits = bytes <= *self.left;
        let buffer = usize::try_from(length)
            .ok()
            .filter(|_| fits)
            .and_then(|n| make(ty, n));
        let Some(mut buffer) = buffer else {
            self.refused = Some((comb, bytes));
            return None;
        };
        *self.left -= bytes;
        self.vacate(slot);
        self.views[slot as usize] = view_of(&mut buffer);
        self.arrays[slot as usize] = Some(buffer);
        Some(())
    }
}

fn view_of(buffer: &mut Buffer) -> Array {
    Array {
        data: buffer.as_mut_ptr().cast(),
        length: buffer.len() as u64,
    }
}

/// Runs a callback: no panic may cross into C.
fn guarded(call: impl FnOnce() -> Option<()>) -> u32 {
    u32::from(matches!(catch_unwind(AssertUnwindSafe(call)), Ok(Some(()))))
}

extern "C" fn new_array(run: *mut Run<Host<'_>>, slot: u32, length: u64, comb: u32) -> u32 {
    // SAFETY: generated code passes on the run that it was given, and touches none of `host`.
    let host = unsafe { &mut (*run).host };
    guarded(|| host.make(slot, length, comb, true, Buffer::zeroed))
}

extern "C" fn fill_array(
    run: *mut Run<Host<'_>>,
    slot: u32,
    length: u64,
    word: u64,
    comb: u32,
) -> u32 {
    // SAFETY: as in `new_array`.
    let host = unsafe { &mut (*run).host };
    guarded(|| host.make(slot, length, comb, true, |ty, n| Buffer::fill(ty, n, word)))
}

extern "C" fn copy_array(
    run: *mut Run<Host<'_>>,
    slot: u32,
    data: *const c_void,
    length: u64,
    comb: u32,
) -> u32 {
    // SAFETY: as in `new_array`.
    let host = unsafe { &mut (*run).host };
    guarded(|| {
        if Frame::take_given(host.given, slot as usize) {
            let given = host.arrays[slot as usize].as_mut()?;
            host.views[slot as usize] = view_of(given);
            return Some(());
        }
        host.make(slot, length, comb, false, |ty, n| {
            let mut copy = Buffer::zeroed(ty, n)?;
            // SAFETY: generated code passes an array of `length` elements of the slot's type, which
            // the verifier made sure of; the copy is new.
            unsafe {
                copy.as_mut_ptr()
                    .copy_from_nonoverlapping(data.cast(), n * ty.size());
            }
            Some(copy)
        })
    })
}

impl Kernel for CKernel {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn source(&self) -> Option<&str> {
        Some(&self.source)
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame, args: &[Arg<'_>]) -> Outcome {
        let checked = check_args(&self.program, args).and_then(|()| self.check_frame(frame));
        if let Err(why) = checked {
            return Outcome::BadArgs(why);
        }
        if frame.words[0] == DONE {
            return Outcome::Done;
        }
        let entry = match self.entry(pass) {
            Ok(entry) => entry,
            Err(e) => return Outcome::BadArgs(format!("no summary pass: {e}")),
        };
        let scalars: Vec<u64> = args
            .iter()
            .map(|a| match a {
                Arg::Scalar(c) => c.bits,
                Arg::Array(_) => 0,
            })
            .collect();
        let inputs: Vec<Array> = args.iter().map(input).collect();
        let mut made: Vec<Array> = frame
            .arrays
            .iter_mut()
            .map(|a| a.as_mut().map_or(NO_ARRAY, view_of))
            .collect();
        let types = self
            .layout
            .arrays
            .iter()
            .map(|v| self.program.ty(*v).elem())
            .collect();
        let mut results = vec![0; self.returned.len()];
        let mut scratch = vec![0; self.scratch_words];
        let made_at = made.as_mut_ptr();
        let mut run = Run {
            words: frame.words.as_mut_ptr(),
            budget: steps.min(MAX_STEPS),
            scalars: scalars.as_ptr(),
            inputs: inputs.as_ptr(),
            made: made_at,
            results: results.as_mut_ptr(),
            scratch: scratch.as_mut_ptr(),
            new_array,
            fill_array,
            copy_array,
            host: Host {
                arrays: &mut frame.arrays,
                given: &mut frame.given,
                types,
                left: &mut frame.memory.left,
                refused: None,
                views: made,
            },
        };
        // SAFETY: the arguments and the frame were checked against the loop that the code was
        // generated from. It stays inside of the arrays and words that it is given, whatever they
        // hold, and writes nothing but the frame's words, made arrays, results and scratch.
        let code = unsafe { entry((&raw mut run).cast()) };
        let Host { views, refused, .. } = run.host;
        for (array, view) in frame.arrays.iter_mut().zip(&views) {
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
}

const NO_ARRAY: Array = Array {
    data: std::ptr::null_mut(),
    length: 0,
};

/// An argument as generated code sees it; it only reads.
fn input(arg: &Arg<'_>) -> Array {
    match arg {
        Arg::Scalar(_) => NO_ARRAY,
        Arg::Array(view) => Array {
            data: View::as_ptr(view).cast_mut().cast(),
            length: view.len() as u64,
        },
    }
}
