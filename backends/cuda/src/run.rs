//! A loop's run: the steps on a device, `init` and `done` on the host.

use crate::driver::Fault;
use crate::emit::{Given, Kernel, kernel_of};
use crate::launch::{Elements, Params, Rows, team_for, too_many};
use livefusion_backend::facts::Source;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Held, Kernel as _, Outcome, Pass};
use livefusion_interp::InterpKernel;
use livefusion_tile::threads::Requested;
use livefusion_tile::threads::phases::Phases;
use livefusion_tile::threads::shape::{Refusal, Shape};
use loop_lang::Loop;
use loop_lang::ir::{Atom, GroupId, Order, RateId, Var};
use loop_lang::state::{Layout, reset_local};

/// Launches kernels.
pub trait KernelDevice {
    /// Runs kernels to their ends, one after the other.
    ///
    /// Later kernels see the memory written by earlier ones. The host does not wait between them.
    /// So each kernel gets the address of the trap flags of earlier ones.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    fn launch(&self, launches: &[Launch<'_>]) -> Result<Vec<Launched>, Fault>;

    /// Returns the device address of an array argument.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    fn argument(&self, arg: &Arg<'_>) -> Result<u64, Fault>;

    /// Returns the device address of an array that the loop made.
    ///
    /// # Errors
    ///
    /// Returns the device's fault, also if the slot is empty.
    fn made(&self, place: &mut Option<Held<'_>>) -> Result<u64, Fault>;

    /// Allocates words for data that one launch leaves to the next.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    fn room(&self, words: u64) -> Result<Box<dyn Room>, Fault>;

    /// Allocates zeroed words.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    fn zeros(&self, words: u64) -> Result<Box<dyn Room>, Fault>;
}

/// Owns memory of a device.
///
/// On drop it is freed after all earlier launches.
pub trait Room {
    /// Returns its address on the device.
    fn address(&self) -> u64;
}

/// Describes a launch of a kernel.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The words of its parameters: see [`Kernel::given`].
    pub params: &'a [u64],
    /// The counter of the first step.
    pub first: u64,
    /// The number of steps, or a bound if an earlier kernel computes the number.
    pub steps: u64,
    /// The maximal number of blocks, each with the threads of
    /// [`Tiles`](livefusion_tile::threads::form::Tiles). Any positive number works.
    pub blocks: u64,
}

/// Holds the result of a launch.
#[derive(Default, Debug)]
pub struct Launched {
    /// Results of groups, by level and variable, and the exit position: [`Kernel::words`].
    pub result: Vec<u64>,
    /// Whether a trap occurred.
    pub trapped: bool,
}

/// Maps a phase's inputs and outputs to frame words, arguments and kernel results.
///
/// It is computed once, for all runs.
#[derive(Debug)]
pub struct Way {
    counter: Word,
    bound: Word,
    /// The word of the counter in the frame, if it has one.
    counted: Option<usize>,
    given: Vec<Argument>,
    /// By kernel number: pairs of a result word and its frame word.
    results: Vec<(usize, Vec<(usize, usize)>)>,
    /// How elements are shared among threads, if they are.
    elements: Option<Elements>,
}

/// The location of a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// A word of the frame.
    Frame(usize),
    /// A parameter, or a constant.
    Known(Atom),
}

/// The source of a kernel parameter.
#[derive(Clone, Debug)]
enum Argument {
    Scalar(Word),
    /// An array argument, by parameter.
    Passed(usize),
    /// An array that the loop made, by slot.
    Made(usize),
    /// Memory for one row of this many elements, in place of a made array.
    Strip(Word),
    /// A word for each row.
    Places,
    /// A zeroed word for each element of the longest of these slots' arrays. The flag says that a
    /// single step needs none.
    Winners(Vec<usize>, bool),
    /// The threads of a team, at most those of a block.
    Team(u64),
}

/// Holds the steps of one of a loop's roots.
#[derive(Debug)]
pub struct Phase {
    /// Their kernel.
    pub kernel: Kernel,
    /// Their inputs and outputs.
    pub way: Way,
    /// Their mapping to threads.
    pub dealt: Requested,
}

impl Phase {
    /// Builds the phases of a loop in order, under the requested mappings.
    ///
    /// # Errors
    ///
    /// Explains why the loop cannot run in parallel here, or not as requested.
    pub fn all(
        program: &Loop,
        requested: impl Fn(RateId) -> Requested,
    ) -> Result<Vec<Phase>, Refusal> {
        let mut number = 0;
        let phase = |shape: &Shape<'_>| {
            let mut kernel = kernel_of(shape);
            number = kernel.count_from(number);
            let way = Way::of(shape, &kernel)?;
            Ok(Phase {
                kernel,
                way,
                dealt: shape.dealt(),
            })
        };
        Phases::of(program)
            .under(requested)?
            .iter()
            .map(phase)
            .collect()
    }
}

impl Way {
    /// Locates the inputs and outputs of a root's kernel.
    ///
    /// # Errors
    ///
    /// Fails if the kernel needs an array that the loop lacks.
    fn of(shape: &Shape<'_>, kernel: &Kernel) -> Result<Way, Refusal> {
        let word = |a: Atom| match a.var().and_then(|v| shape.layout.word(v)) {
            Some(at) => Word::Frame(at),
            None => Word::Known(a),
        };
        let strip = |v| kernel.strips.iter().find(|(s, _)| *s == v).map(|(_, n)| *n);
        let place = |given: &Given| match *given {
            Given::Scalar(v) | Given::Start(v) => Ok(Argument::Scalar(word(Atom::Var(v)))),
            Given::Places => Ok(Argument::Places),
            Given::Winners(k) => {
                let arrays = shape.last[k].arrays.iter();
                let slots = arrays.filter_map(|a| match shape.facts.source.get(a) {
                    Some(Source::Made(slot)) => Some(*slot),
                    _ => None,
                });
                Ok(Argument::Winners(slots.collect(), kernel.by_itself))
            }
            Given::Team => {
                let teams = kernel.rows.as_deref().unwrap_or(kernel);
                Ok(Argument::Team(teams.tiles.threads.into()))
            }
            Given::Array(v) if let Some(length) = strip(v) => Ok(Argument::Strip(word(length))),
            Given::Array(v) => match shape.facts.source.get(&v) {
                Some(Source::Param(i)) => Ok(Argument::Passed(*i)),
                Some(Source::Made(slot)) => Ok(Argument::Made(*slot)),
                None => {
                    let name = shape.program.name(v);
                    Err(Refusal::Other(format!("there is no array {name}")))
                }
            },
        };
        let results = |kernel: &Kernel| {
            let found = found(kernel).into_iter();
            let to = found.filter_map(|(at, v)| Some((at, shape.layout.word(v)?)));
            (kernel.number, to.collect())
        };
        let elements = kernel.shared.as_ref().map(|path| {
            let places = kernel.places.as_deref();
            let counted =
                places.and_then(|k| found(k).into_iter().find(|(_, v)| *v == path.counter));
            Elements {
                start: path.running.then(|| word(Atom::Var(path.counter))),
                counter: shape.layout.word(path.counter).filter(|_| path.running),
                length: path.length.map(word),
                ends: path.ends,
                // If no counter continues from row to row, the number of elements is the last
                // result.
                counted: counted.map(|(at, _)| at).filter(|_| path.running),
            }
        });
        Ok(Way {
            counter: word(Atom::Var(shape.counter)),
            bound: word(shape.bound),
            counted: shape.layout.word(shape.counter),
            given: kernel.given.iter().map(place).collect::<Result<_, _>>()?,
            results: kernel.all().map(results).collect(),
            elements,
        })
    }
}

/// Returns the words of a kernel's result that hold variables.
fn found(kernel: &Kernel) -> Vec<(usize, Var)> {
    let mut from = 0;
    let mut all = Vec::new();
    for (vars, words) in kernel.levels.iter().zip(&kernel.parts) {
        all.extend((from..).zip(vars.iter().copied()));
        from += words;
    }
    all
}

/// Holds a loop that is ready to run.
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// Its phases.
    pub phases: &'a [Phase],
    /// The interpreter, for the code before, between and after the phases.
    pub host: &'a InterpKernel,
}

impl Ready<'_> {
    /// Runs the loop from a fresh frame.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    pub fn run(
        self,
        device: &dyn KernelDevice,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Result<Outcome, Fault> {
        // With no steps, the interpreter stops at the first guard.
        let mut outcome = self.host.run(Pass::Emit, 0, frame, args);
        let mut left = false;
        for phase in 0..self.phases.len() {
            if outcome != Outcome::Paused {
                return Ok(outcome);
            }
            match self.steps(phase, device, frame, args)? {
                Some(within) => left |= within,
                None => return Ok(Outcome::Trapped(None)),
            }
            outcome = match phase + 1 == self.phases.len() {
                true => self.host.run(Pass::Emit, u64::MAX, frame, args),
                false => self.host.leave(frame, args),
            };
        }
        match outcome {
            Outcome::Done if left => Ok(Outcome::Exited),
            outcome => Ok(outcome),
        }
    }

    /// Runs the steps of a phase from its guard.
    ///
    /// Returns whether the last step exited the loop in its middle. Returns `None` on a trap.
    fn steps(
        self,
        phase: usize,
        device: &dyn KernelDevice,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
    ) -> Result<Option<bool>, Fault> {
        let Phase { kernel, way, .. } = &self.phases[phase];
        let first = self.word(way.counter, frame, args);
        let bound = self.word(way.bound, frame, args);
        let steps = bound.saturating_sub(first);
        if steps == 0 {
            return Ok(Some(false));
        }
        let rows = Rows {
            kernel,
            elements: way.elements.as_ref(),
            device,
            params: self.params(way, device, frame, args, steps)?,
            first,
            rows: steps,
        };
        let word = |w: Word| self.word(w, frame, args);
        let Some(launched) = rows.run(&word)? else {
            return Ok(None);
        };
        let ran = launched.kernel;
        let results = way.results.iter().find(|(number, _)| *number == ran.number);
        for (at, to) in results.iter().flat_map(|(_, to)| to) {
            if let Some(x) = launched.result.get(*at) {
                frame.words[*to] = *x;
            }
        }
        if let Some((to, x)) = launched.counter {
            frame.words[to] = x;
        }
        self.settle(frame, args);
        let end = End::of(ran, &launched.result, steps);
        if let Some(at) = way.counted {
            // After an exit within a step, the loop continues as at its bound: the counter is dead
            // there.
            frame.words[at] = if end.within { bound } else { first + end.at };
        }
        frame.words[1] += end.at + u64::from(end.within);
        Ok(Some(end.within))
    }

    fn word(self, word: Word, frame: &Frame<'_>, args: &[Arg<'_>]) -> u64 {
        match word {
            Word::Frame(at) => frame.words[at],
            Word::Known(a) => known_word(self.program, args, a),
        }
    }

    /// Returns the words of the kernel's parameters.
    fn params(
        self,
        way: &Way,
        device: &dyn KernelDevice,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
        rows: u64,
    ) -> Result<Params, Fault> {
        let none = || Fault::Refused("an array is missing".into());
        let mut params = Vec::with_capacity(2 * way.given.len());
        let (mut rooms, mut longest, mut team) = (Vec::new(), 0, 1);
        for place in &way.given {
            match *place {
                Argument::Scalar(word) => params.push(self.word(word, frame, args)),
                Argument::Passed(i) => {
                    let arg = args.get(i).ok_or_else(none)?;
                    let length = match arg {
                        Arg::Array(view) => view.len(),
                        Arg::Far(array) => array.len(),
                        Arg::Scalar(_) => return Err(none()),
                    };
                    longest = longest.max(length as u64);
                    params.extend([device.argument(arg)?, length as u64]);
                }
                Argument::Made(slot) => {
                    let place = frame.arrays.get_mut(slot).ok_or_else(none)?;
                    let length = place.as_ref().map_or(0, Held::len);
                    longest = longest.max(length as u64);
                    params.extend([device.made(place)?, length as u64]);
                }
                Argument::Strip(length) => {
                    let all = rows.checked_mul(self.word(length, frame, args));
                    let all = all.ok_or_else(too_many)?;
                    // An element takes at most a word.
                    let room = device.room(all)?;
                    params.extend([room.address(), all]);
                    rooms.push(room);
                }
                Argument::Winners(_, true) if rows == 1 => params.extend([0, 0]),
                Argument::Winners(ref slots, _) => {
                    let arrays = slots.iter().filter_map(|s| frame.arrays.get(*s)?.as_ref());
                    let all = arrays.map(Held::len).max().unwrap_or(0) as u64;
                    let room = device.zeros(all)?;
                    params.extend([room.address(), all]);
                    rooms.push(room);
                }
                Argument::Places => {
                    let room = device.room(rows)?;
                    params.extend([room.address(), rows]);
                    rooms.push(room);
                }
                Argument::Team(block) => {
                    team = team_for(longest / rows.max(1), block);
                    params.push(team);
                }
            }
        }
        Ok(Params {
            words: params,
            longest,
            team,
            _rooms: rooms,
        })
    }

    /// Resets local parts: the prefix holds the whole value.
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

/// The end of the steps.
struct End {
    /// The number of the last step.
    at: u64,
    /// Whether the loop was left within that step, or before it.
    within: bool,
}

impl End {
    fn of(kernel: &Kernel, result: &[u64], steps: u64) -> End {
        let groups = kernel.parts.iter().sum();
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
