//! A loop's way from its arguments to its results: `init` on the host, the steps on a device, `done` on the host.

use crate::emit::{Given, Kernel};
use crate::launch::Rows;
use crate::shape::Shape;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Kernel as _, Outcome, Pass};
use livefusion_interp::InterpKernel;
use loop_lang::ir::{Atom, GroupId, Order, Var};
use loop_lang::state::reset_local;

/// What can launch a kernel.
pub trait Device {
    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn launch(&self, kernel: &Kernel, launch: Launch<'_>) -> Result<Launched, String>;

    /// Memory of so many words for what one launch leaves to the next.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn room(&self, words: u64) -> Result<Box<dyn Room>, String>;
}

/// Memory of a device. It is given back when this is dropped.
pub trait Room {
    /// Its address on the device.
    fn address(&self) -> u64;
}

/// What a kernel is launched with.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The words of its parameters: see [`Kernel::given`].
    pub params: &'a [u64],
    /// The counter of the first step.
    pub first: u64,
    /// How many steps there are.
    pub steps: u64,
    /// How many blocks, of [`THREADS`](crate::emit::THREADS) threads each.
    pub blocks: u64,
}

/// What became of a launch.
#[derive(Debug)]
pub struct Launched {
    /// What groups came to, variable by variable, level by level.
    pub result: Vec<u64>,
    /// Whether something trapped.
    pub trapped: bool,
}

/// Runs a loop from a fresh frame on.
///
/// # Errors
/// What went wrong with the device, in words.
pub fn run(
    shape: &Shape<'_>,
    kernel: &Kernel,
    host: &InterpKernel,
    device: &dyn Device,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
) -> Result<Outcome, String> {
    // No step: the interpreter stops at the first guard.
    let begun = host.run(Pass::Emit, 0, frame, args);
    if begun != Outcome::Paused {
        return Ok(begun);
    }
    let word = |frame: &Frame<'_>, a: Atom| match a {
        Atom::Var(v) => match shape.layout.word(v) {
            Some(w) => frame.words[w],
            None => known_word(shape.program, args, a),
        },
        Atom::Const(c) => c.bits,
    };
    let first = word(frame, Atom::Var(shape.counter));
    let bound = word(frame, shape.bound);
    let rows = bound.saturating_sub(first);
    if rows > 0 {
        let mut arrays = Vec::new();
        for given in &kernel.given {
            if let Given::Array(v) = *given {
                arrays.push((v, array(shape, frame, args, v)?));
            }
        }
        let steps = Rows {
            shape,
            kernel,
            device,
            first,
            rows,
            word: &|a| word(frame, a),
            arrays,
        };
        let Some(found) = steps.run()? else {
            return Ok(Outcome::Trapped(None));
        };
        for (v, x) in found {
            if let Some(w) = shape.layout.word(v) {
                frame.words[w] = x;
            }
        }
        settle(shape, frame, args);
        if let Some(w) = shape.layout.word(shape.counter) {
            frame.words[w] = bound;
        }
        frame.words[1] += rows;
    }
    Ok(host.run(Pass::Emit, u64::MAX, frame, args))
}

/// Local parts have nothing in them: the prefix has it all.
fn settle(shape: &Shape<'_>, frame: &mut Frame<'_>, args: &[Arg<'_>]) {
    let program = shape.program;
    let identity = |a| known_word(program, args, a);
    for (i, group) in program.groups.iter().enumerate() {
        let id = GroupId::new(i);
        reset_local(program, &shape.layout, &mut frame.words, id, &identity);
        if let Order::Prefix(_) = group.order {
            for (k, v) in group.vars.iter().enumerate() {
                if let Some(w) = shape.layout.word(*v) {
                    let current = shape.layout.local(id, group, k);
                    frame.words[current] = frame.words[w];
                }
            }
        }
    }
}

/// The address and the length of an array.
fn array(
    shape: &Shape<'_>,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
    v: Var,
) -> Result<[u64; 2], String> {
    use livefusion_backend::facts::Source;
    let none = || format!("no array {}", shape.program.name(v));
    match shape.facts.source.get(&v) {
        Some(Source::Param(i)) => match args.get(*i) {
            Some(Arg::Array(view)) => Ok([view.as_ptr() as u64, view.len() as u64]),
            _ => Err(none()),
        },
        Some(Source::Made(slot)) => {
            let held = frame.arrays.get_mut(*slot).and_then(Option::as_mut);
            let held = held.ok_or_else(none)?;
            Ok([held.as_mut_ptr() as u64, held.len() as u64])
        }
        None => Err(none()),
    }
}
