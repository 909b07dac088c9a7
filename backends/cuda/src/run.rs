//! A loop's way from its arguments to its results: `init` on the host, the steps on a device, `done` on the host.

use crate::emit::{Given, Kernel};
use crate::plan::Form;
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
        let room = match kernel.places {
            Some(_) => Some(device.room(rows)?),
            None => None,
        };
        let (mut params, mut team, mut longest) = (Vec::new(), 1, 0);
        for given in &kernel.given {
            match *given {
                Given::Scalar(v) | Given::Start(v) => params.push(word(frame, Atom::Var(v))),
                Given::Array(v) => {
                    let [address, length] = array(shape, frame, args, v)?;
                    longest = length.max(longest);
                    params.extend([address, length]);
                }
                Given::Team => {
                    team = team_for(rows, longest);
                    params.push(team);
                }
                Given::Places => params.extend(room.iter().flat_map(|r| [r.address(), rows])),
            }
        }
        let launch = |kernel: &Kernel, steps| {
            let blocks = kernel.tiles(steps * team);
            let params = &params;
            device.launch(
                kernel,
                Launch {
                    params,
                    first,
                    steps,
                    blocks,
                },
            )
        };
        let Some(elements) = elements(shape, kernel, rows, &launch, &|a| word(frame, a))? else {
            return Ok(Outcome::Trapped(None));
        };
        let steps = kernel
            .steps(rows, elements)
            .ok_or("more steps than can be counted")?;
        if steps > 0 {
            let launched = launch(kernel, steps)?;
            if launched.trapped {
                return Ok(Outcome::Trapped(None));
            }
            let mut result = &launched.result[..];
            for (vars, words) in kernel.levels.iter().zip(&kernel.words) {
                let (level, rest) = result.split_at_checked(*words).unwrap_or_default();
                for (v, x) in vars.iter().zip(level) {
                    if let Some(w) = shape.layout.word(*v) {
                        frame.words[w] = *x;
                    }
                }
                result = rest;
            }
        }
        if let Some(w) = running(shape).and_then(|v| shape.layout.word(v)) {
            frame.words[w] = frame.words[w].wrapping_add(elements);
        }
        settle(shape, frame, args);
        if let Some(w) = shape.layout.word(shape.counter) {
            frame.words[w] = bound;
        }
        frame.words[1] += rows;
    }
    Ok(host.run(Pass::Emit, u64::MAX, frame, args))
}

/// How many threads a row has. How long rows are nobody knows before: some array has an element for each of theirs.
fn team_for(rows: u64, longest: u64) -> u64 {
    (longest / rows).next_power_of_two().clamp(1, 32)
}

type Go<'a> = dyn Fn(&Kernel, u64) -> Result<Launched, String> + 'a;

/// How many elements all rows have together, where threads share them; none if something trapped.
fn elements(
    shape: &Shape<'_>,
    kernel: &Kernel,
    rows: u64,
    launch: &Go<'_>,
    word: &dyn Fn(Atom) -> u64,
) -> Result<Option<u64>, String> {
    let Form::Path(path) = &shape.form else {
        return Ok(Some(0));
    };
    if let Some(length) = path.length {
        let all = rows.checked_mul(word(length));
        return all
            .map(Some)
            .ok_or("more elements than can be counted".into());
    }
    let places = kernel
        .places
        .as_ref()
        .ok_or("no kernel finds where rows lie")?;
    let launched = launch(places, rows)?;
    if launched.trapped {
        return Ok(None);
    }
    // What a counter comes to that goes on from row to row, or what is counted behind all else.
    let counted = places
        .levels
        .iter()
        .zip(&places.words)
        .scan(0, |from, (vars, words)| {
            let at = vars
                .iter()
                .position(|v| *v == path.counter)
                .map(|k| *from + k);
            *from += words;
            Some(at)
        });
    let at = counted.flatten().next().filter(|_| path.running);
    let all = match at {
        Some(at) => launched.result.get(at).copied(),
        None => launched.result.last().copied(),
    };
    let start = if path.running {
        word(Atom::Var(path.counter))
    } else {
        0
    };
    let all = all.ok_or("a result is missing")?;
    Ok(Some(all.wrapping_sub(start)))
}

/// The counter of a path that goes on from row to row.
fn running(shape: &Shape<'_>) -> Option<Var> {
    match &shape.form {
        Form::Path(path) if path.running => Some(path.counter),
        _ => None,
    }
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
