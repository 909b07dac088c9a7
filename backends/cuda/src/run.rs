//! A loop's way from its arguments to its results: `init` on the host, the steps on a device, `done` on the host.

use crate::driver::Fault;
use crate::emit::{Given, Kernel};
use crate::shape::Shape;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Held, Kernel as _, Outcome, Pass};
use livefusion_interp::InterpKernel;
use loop_lang::ir::{Atom, GroupId, Order, Var};
use loop_lang::state::reset_local;

/// What can launch a kernel.
pub trait Device {
    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// What went wrong with the device.
    fn launch(&self, kernel: &Kernel, launch: Launch<'_>) -> Result<Launched, Fault>;

    /// Where the elements of an array are that the loop was passed.
    ///
    /// # Errors
    /// What went wrong with the device.
    fn argument(&self, arg: &Arg<'_>) -> Result<u64, Fault>;

    /// Where the elements of an array are that the loop made.
    ///
    /// # Errors
    /// What went wrong with the device; there is none in this place.
    fn made(&self, place: &mut Option<Held<'_>>) -> Result<u64, Fault>;
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

/// Groups of how many levels a launch has room for.
pub const MOST_TOLD: usize = crate::shape::MOST_LEVELS as usize;

/// What a launch is about, as kernels see it: `lf_launch`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The counter of the first step.
    pub first: u64,
    /// How many steps there are.
    pub steps: u64,
    /// The launch's number: no other had the same memory and this number. From 1 on.
    pub number: u64,
    /// The next tile, or how many blocks are done; zero between launches.
    pub ticket: u64,
    /// A word that is set where something traps.
    pub trapped: u64,
    /// Where what groups come to goes.
    pub result: u64,
    /// What tiles tell each other, level by level.
    pub told: [u64; MOST_TOLD],
}

impl Call {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let words = [
            self.first,
            self.steps,
            self.number,
            self.ticket,
            self.trapped,
            self.result,
        ];
        let words = words.iter().chain(&self.told);
        words.flat_map(|w| w.to_le_bytes()).collect()
    }
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
/// What went wrong with the device.
pub fn run(
    shape: &Shape<'_>,
    kernel: &Kernel,
    host: &InterpKernel,
    device: &dyn Device,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
) -> Result<Outcome, Fault> {
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
    let steps = bound.saturating_sub(first);
    if steps > 0 {
        let mut params = Vec::new();
        for given in &kernel.given {
            match *given {
                Given::Scalar(v) | Given::Start(v) => params.push(word(frame, Atom::Var(v))),
                Given::Array(v) => params.extend(array(shape, device, frame, args, v)?),
            }
        }
        let launched = device.launch(
            kernel,
            Launch {
                params: &params,
                first,
                steps,
                blocks: kernel.tiles(steps),
            },
        )?;
        if launched.trapped {
            return Ok(Outcome::Trapped(None));
        }
        let vars = kernel.levels.iter().flatten();
        for (v, x) in vars.zip(&launched.result) {
            if let Some(w) = shape.layout.word(*v) {
                frame.words[w] = *x;
            }
        }
        settle(shape, frame, args);
        if let Some(w) = shape.layout.word(shape.counter) {
            frame.words[w] = bound;
        }
        frame.words[1] += steps;
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
    device: &dyn Device,
    frame: &mut Frame<'_>,
    args: &[Arg<'_>],
    v: Var,
) -> Result<[u64; 2], Fault> {
    use livefusion_backend::facts::Source;
    let none = || Fault::Refused(format!("no array {}", shape.program.name(v)));
    match shape.facts.source.get(&v) {
        Some(Source::Param(i)) => {
            let arg = args.get(*i).ok_or_else(none)?;
            let length = match arg {
                Arg::Array(view) => view.len(),
                Arg::Far(array) => array.len(),
                Arg::Scalar(_) => return Err(none()),
            };
            Ok([device.argument(arg)?, length as u64])
        }
        Some(Source::Made(slot)) => {
            let place = frame.arrays.get_mut(*slot).ok_or_else(none)?;
            let length = place.as_ref().map_or(0, Held::len);
            Ok([device.made(place)?, length as u64])
        }
        None => Err(none()),
    }
}
