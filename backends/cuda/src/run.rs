//! A loop's way from its arguments to its results: `init` on the host, the steps on a device, `done` on the host.

use crate::driver::Fault;
use crate::emit::{Given, Kernel};
use crate::shape::{Refusal, Shape};
use livefusion_backend::facts::Source;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Held, Kernel as _, Outcome, Pass};
use livefusion_interp::InterpKernel;
use loop_lang::Loop;
use loop_lang::ir::{Atom, GroupId, Order};
use loop_lang::state::{Layout, reset_local};

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
    /// How many blocks at most, of the threads that [`Tiles`](crate::emit::Tiles) says: any number from one on will do.
    pub blocks: u64,
}

/// Groups of how many levels a launch has room for: those that steps know, and behind them what is read at the end.
pub const MOST_TOLD: usize = crate::shape::MOST_LEVELS as usize + 1;

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
    /// Two counts of four bytes, of the next tile and of the blocks that are done; zero between launches.
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
    /// What groups came to, variable by variable, level by level, and where the loop was left: [`Kernel::words`].
    pub result: Vec<u64>,
    /// Whether something trapped.
    pub trapped: bool,
}

/// Where everything is that a loop's way takes from its frame and its arguments, and puts into the frame: found once, for
/// all runs.
#[derive(Debug)]
pub struct Way {
    counter: Word,
    bound: Word,
    /// Where the counter is in the frame, if it is there.
    counted: Option<usize>,
    given: Vec<Place>,
    /// Where the words are to go that groups come to, variable by variable.
    results: Vec<Option<usize>>,
}

/// Where a scalar is.
#[derive(Clone, Copy, Debug)]
enum Word {
    /// A word of the frame.
    Frame(usize),
    /// A parameter, or a constant.
    Known(Atom),
}

/// Where something is that a kernel is given.
#[derive(Clone, Copy, Debug)]
enum Place {
    Scalar(Word),
    /// An array that the loop is passed: which parameter.
    Passed(usize),
    /// An array that the loop made: which slot.
    Made(usize),
}

impl Way {
    /// The way of a loop with its kernel.
    ///
    /// # Errors
    /// The kernel is given an array that the loop has not.
    pub fn of(shape: &Shape<'_>, kernel: &Kernel) -> Result<Way, Refusal> {
        let word = |a: Atom| match a.var().and_then(|v| shape.layout.word(v)) {
            Some(at) => Word::Frame(at),
            None => Word::Known(a),
        };
        let place = |given: &Given| match *given {
            Given::Scalar(v) | Given::Start(v) => Ok(Place::Scalar(word(Atom::Var(v)))),
            Given::Array(v) => match shape.facts.source.get(&v) {
                Some(Source::Param(i)) => Ok(Place::Passed(*i)),
                Some(Source::Made(slot)) => Ok(Place::Made(*slot)),
                None => {
                    let name = shape.program.name(v);
                    Err(Refusal::Other(format!("there is no array {name}")))
                }
            },
        };
        let vars = kernel.levels.iter().flatten();
        Ok(Way {
            counter: word(Atom::Var(shape.counter)),
            bound: word(shape.bound),
            counted: shape.layout.word(shape.counter),
            given: kernel.given.iter().map(place).collect::<Result<_, _>>()?,
            results: vars.map(|v| shape.layout.word(*v)).collect(),
        })
    }
}

/// A loop that can run, with all that its runs need.
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// The kernel of its steps.
    pub kernel: &'a Kernel,
    /// Its way.
    pub way: &'a Way,
    /// What runs `init` and `done`.
    pub host: &'a InterpKernel,
}

impl Ready<'_> {
    /// Runs it from a fresh frame on.
    ///
    /// # Errors
    /// What went wrong with the device.
    pub fn run(
        self,
        device: &dyn Device,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Result<Outcome, Fault> {
        // No step: the interpreter stops at the first guard.
        let begun = self.host.run(Pass::Emit, 0, frame, args);
        if begun != Outcome::Paused {
            return Ok(begun);
        }
        let first = self.word(self.way.counter, frame, args);
        let bound = self.word(self.way.bound, frame, args);
        let steps = bound.saturating_sub(first);
        let mut left = false;
        if steps > 0 {
            let launched = device.launch(
                self.kernel,
                Launch {
                    params: &self.params(device, frame, args)?,
                    first,
                    steps,
                    blocks: self.kernel.tiles(steps),
                },
            )?;
            if launched.trapped {
                return Ok(Outcome::Trapped(None));
            }
            for (at, x) in self.way.results.iter().zip(&launched.result) {
                if let Some(at) = at {
                    frame.words[*at] = *x;
                }
            }
            self.settle(frame, args);
            let end = End::of(self.kernel, &launched.result, steps);
            if let Some(at) = self.way.counted {
                // Whoever left within a step goes to the end as from the bound: nobody there looks at the counter.
                frame.words[at] = if end.within { bound } else { first + end.at };
            }
            frame.words[1] += end.at + u64::from(end.within);
            left = end.within;
        }
        match self.host.run(Pass::Emit, u64::MAX, frame, args) {
            Outcome::Done if left => Ok(Outcome::Exited),
            outcome => Ok(outcome),
        }
    }

    fn word(self, word: Word, frame: &Frame<'_>, args: &[Arg<'_>]) -> u64 {
        match word {
            Word::Frame(at) => frame.words[at],
            Word::Known(a) => known_word(self.program, args, a),
        }
    }

    /// The words of the kernel's parameters.
    fn params(
        self,
        device: &dyn Device,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Result<Vec<u64>, Fault> {
        let none = || Fault::Refused("an array is missing".into());
        let mut params = Vec::with_capacity(2 * self.way.given.len());
        for place in &self.way.given {
            match *place {
                Place::Scalar(word) => params.push(self.word(word, frame, args)),
                Place::Passed(i) => {
                    let arg = args.get(i).ok_or_else(none)?;
                    let length = match arg {
                        Arg::Array(view) => view.len(),
                        Arg::Far(array) => array.len(),
                        Arg::Scalar(_) => return Err(none()),
                    };
                    params.extend([device.argument(arg)?, length as u64]);
                }
                Place::Made(slot) => {
                    let place = frame.arrays.get_mut(slot).ok_or_else(none)?;
                    let length = place.as_ref().map_or(0, Held::len);
                    params.extend([device.made(place)?, length as u64]);
                }
            }
        }
        Ok(params)
    }

    /// Local parts have nothing in them: the prefix has it all.
    fn settle(self, frame: &mut Frame<'_>, args: &[Arg<'_>]) {
        let (program, layout): (_, &Layout) = (self.program, self.host.layout());
        let identity = |a| known_word(program, args, a);
        for (i, group) in program.groups.iter().enumerate() {
            let id = GroupId::new(i);
            reset_local(program, layout, &mut frame.words, id, &identity);
            if let Order::Prefix(_) = group.order {
                for (k, v) in group.vars.iter().enumerate() {
                    if let Some(at) = layout.word(*v) {
                        let current = layout.local(id, group, k);
                        frame.words[current] = frame.words[at];
                    }
                }
            }
        }
    }
}

/// Where the steps ended.
struct End {
    /// At which step.
    at: u64,
    /// Whether within it, or before.
    within: bool,
}

impl End {
    fn of(kernel: &Kernel, result: &[u64], steps: u64) -> End {
        let groups = kernel.levels.iter().map(Vec::len).sum();
        match result.get(groups..) {
            Some(&[at, within]) if at < steps => End {
                at,
                within: within != 0,
            },
            _ => End {
                at: steps,
                within: false,
            },
        }
    }
}
