//! A loop's way from its arguments to its results: `init` on the host, the steps on a device, `done` on the host.

use crate::driver::Fault;
use crate::emit::{Given, Kernel, kernel_of};
use crate::launch::{Elements, Params, Rows, team_for, too_many};
use livefusion_backend::facts::Source;
use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame, Held, Kernel as _, Outcome, Pass};
use livefusion_interp::InterpKernel;
use livefusion_tile::threads::Asked;
use livefusion_tile::threads::phases::Phases;
use livefusion_tile::threads::shape::{Refusal, Shape};
use loop_lang::Loop;
use loop_lang::ir::{Atom, GroupId, Order, RateId, Var};
use loop_lang::state::{Layout, reset_local};

/// What can launch a kernel.
pub trait Device {
    /// Runs kernels to their ends, one behind the other: what one leaves in memory, the next ones find. Nobody waits between
    /// them, so a kernel is told where to look for whether one before it trapped.
    ///
    /// # Errors
    /// What went wrong with the device.
    fn launch(&self, launches: &[Launch<'_>]) -> Result<Vec<Launched>, Fault>;

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

    /// Memory of so many words for what one launch leaves to the next.
    ///
    /// # Errors
    /// What went wrong with the device.
    fn room(&self, words: u64) -> Result<Box<dyn Room>, Fault>;

    /// The same, all of them zero.
    ///
    /// # Errors
    /// What went wrong with the device.
    fn zeros(&self, words: u64) -> Result<Box<dyn Room>, Fault>;
}

/// Memory of a device. It is given back when this is dropped, behind all that was launched before.
pub trait Room {
    /// Its address on the device.
    fn address(&self) -> u64;
}

/// What a kernel is launched with.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The words of its parameters: see [`Kernel::given`].
    pub params: &'a [u64],
    /// The counter of the first step.
    pub first: u64,
    /// How many steps there are; at most, where a kernel before it finds out.
    pub steps: u64,
    /// How many blocks at most, of the threads that [`Tiles`](livefusion_tile::threads::form::Tiles) says: any number from one on will do.
    pub blocks: u64,
}

/// What became of a launch.
#[derive(Default, Debug)]
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
    /// Which words of a kernel's result go where in the frame, by its number.
    results: Vec<(usize, Vec<(usize, usize)>)>,
    /// How elements are shared among threads, if they are.
    elements: Option<Elements>,
}

/// Where a scalar is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// A word of the frame.
    Frame(usize),
    /// A parameter, or a constant.
    Known(Atom),
}

/// Where something is that a kernel is given.
#[derive(Clone, Debug)]
enum Place {
    Scalar(Word),
    /// An array that the loop is passed: which parameter.
    Passed(usize),
    /// An array that the loop made: which slot.
    Made(usize),
    /// One of which it made room for one row, of so many elements.
    Strip(Word),
    /// Room for a word of each row.
    Places,
    /// Room for a word of each element of the longest of these slots' arrays, zero at first; whether a single step needs none.
    Winners(Vec<usize>, bool),
    /// The threads of a team, whose block has so many.
    Team(u64),
}

/// The steps of one of a loop's roots.
#[derive(Debug)]
pub struct Phase {
    /// Their kernel.
    pub kernel: Kernel,
    /// Its way.
    pub way: Way,
    /// How they are dealt out.
    pub dealt: Asked,
}

impl Phase {
    /// The phases of a loop, in their order, with what is asked of each.
    ///
    /// # Errors
    /// Why it cannot run in parallel here, or not so.
    pub fn all(program: &Loop, asked: impl Fn(RateId) -> Asked) -> Result<Vec<Phase>, Refusal> {
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
            .under(asked)?
            .iter()
            .map(phase)
            .collect()
    }
}

impl Way {
    /// The way of a root with its kernel.
    ///
    /// # Errors
    /// The kernel is given an array that the loop has not.
    fn of(shape: &Shape<'_>, kernel: &Kernel) -> Result<Way, Refusal> {
        let word = |a: Atom| match a.var().and_then(|v| shape.layout.word(v)) {
            Some(at) => Word::Frame(at),
            None => Word::Known(a),
        };
        let strip = |v| kernel.strips.iter().find(|(s, _)| *s == v).map(|(_, n)| *n);
        let place = |given: &Given| match *given {
            Given::Scalar(v) | Given::Start(v) => Ok(Place::Scalar(word(Atom::Var(v)))),
            Given::Places => Ok(Place::Places),
            Given::Winners(k) => {
                let arrays = shape.last[k].arrays.iter();
                let slots = arrays.filter_map(|a| match shape.facts.source.get(a) {
                    Some(Source::Made(slot)) => Some(*slot),
                    _ => None,
                });
                Ok(Place::Winners(slots.collect(), kernel.by_itself))
            }
            Given::Team => {
                let teams = kernel.rows.as_deref().unwrap_or(kernel);
                Ok(Place::Team(teams.tiles.threads.into()))
            }
            Given::Array(v) if let Some(length) = strip(v) => Ok(Place::Strip(word(length))),
            Given::Array(v) => match shape.facts.source.get(&v) {
                Some(Source::Param(i)) => Ok(Place::Passed(*i)),
                Some(Source::Made(slot)) => Ok(Place::Made(*slot)),
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
                // Where no counter goes on from row to row, elements are counted behind all else.
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

/// The words of a kernel's result that variables come to.
fn found(kernel: &Kernel) -> Vec<(usize, Var)> {
    let mut from = 0;
    let mut all = Vec::new();
    for (vars, words) in kernel.levels.iter().zip(&kernel.parts) {
        all.extend((from..).zip(vars.iter().copied()));
        from += words;
    }
    all
}

/// A loop that can run, with all that its runs need.
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// Its phases.
    pub phases: &'a [Phase],
    /// What runs what is before, between and behind them.
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

    /// Takes the steps of a phase, at whose guard the frame is. Whether its last step left the loop within; none if
    /// something trapped.
    fn steps(
        self,
        phase: usize,
        device: &dyn Device,
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
            // Whoever left within a step goes on as from the bound: nobody there looks at the counter.
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

    /// The words of the kernel's parameters.
    fn params(
        self,
        way: &Way,
        device: &dyn Device,
        frame: &mut Frame<'_>,
        args: &[Arg<'_>],
        rows: u64,
    ) -> Result<Params, Fault> {
        let none = || Fault::Refused("an array is missing".into());
        let mut params = Vec::with_capacity(2 * way.given.len());
        let (mut rooms, mut longest, mut team) = (Vec::new(), 0, 1);
        for place in &way.given {
            match *place {
                Place::Scalar(word) => params.push(self.word(word, frame, args)),
                Place::Passed(i) => {
                    let arg = args.get(i).ok_or_else(none)?;
                    let length = match arg {
                        Arg::Array(view) => view.len(),
                        Arg::Far(array) => array.len(),
                        Arg::Scalar(_) => return Err(none()),
                    };
                    longest = longest.max(length as u64);
                    params.extend([device.argument(arg)?, length as u64]);
                }
                Place::Made(slot) => {
                    let place = frame.arrays.get_mut(slot).ok_or_else(none)?;
                    let length = place.as_ref().map_or(0, Held::len);
                    longest = longest.max(length as u64);
                    params.extend([device.made(place)?, length as u64]);
                }
                Place::Strip(length) => {
                    let all = rows.checked_mul(self.word(length, frame, args));
                    let all = all.ok_or_else(too_many)?;
                    // Elements have at most a word.
                    let room = device.room(all)?;
                    params.extend([room.address(), all]);
                    rooms.push(room);
                }
                Place::Winners(_, true) if rows == 1 => params.extend([0, 0]),
                Place::Winners(ref slots, _) => {
                    let arrays = slots.iter().filter_map(|s| frame.arrays.get(*s)?.as_ref());
                    let all = arrays.map(Held::len).max().unwrap_or(0) as u64;
                    let room = device.zeros(all)?;
                    params.extend([room.address(), all]);
                    rooms.push(room);
                }
                Place::Places => {
                    let room = device.room(rows)?;
                    params.extend([room.address(), rows]);
                    rooms.push(room);
                }
                Place::Team(block) => {
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
