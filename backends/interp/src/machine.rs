//! The interpreter's machine: runs [`Code`] over a frame, from span entry to exit.

use crate::code::{Code, Instr, Pc, Rare, Reg};
use crate::observe::Observer;
use livefusion_backend::{Arg, Buffer, Frame, Outcome, TrapNest, TrapReport, View};
use loop_lang::eval::eval;
use loop_lang::ir::{CHUNK, Loop};
use loop_lang::state::DONE;
use loop_lang::types::{Const, canonical};
use std::sync::atomic::Ordering;

/// An update that waits for the end of an iteration.
#[derive(Clone, Copy)]
struct Wait {
    to: Target,
    value: u64,
}

/// The target of a deferred update.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Register(Reg),
    /// A lane in the frame's words.
    Word(u32),
}

/// Lists the reasons why the instruction loop stopped.
pub enum Stop {
    /// `End` was reached.
    Ended,
    /// The steps are used up, at this guard.
    Paused(u32),
    /// The run failed with this outcome.
    Failed(Outcome),
}

/// Holds one run of one span.
pub struct Machine<'a, 'm> {
    pub(crate) program: &'a Loop,
    pub(crate) code: &'a Code,
    pub(crate) frame: &'a mut Frame<'m>,
    pub(crate) params: Vec<View<'a>>,
    pub(crate) args: &'a [Arg<'a>],
    pub(crate) regs: Vec<u64>,
    /// The counters of counting mode.
    pub(crate) counts: Vec<u64>,
    pub(crate) observer: Option<&'a dyn Observer>,
    waiting: Vec<Vec<Wait>>,
    pub(crate) steps: u64,
    /// Steps per chunk.
    pub(crate) chunk: u64,
    /// The run length of lanes, in steps.
    grid: u64,
    /// The step count at which the span ends.
    limit: u64,
    /// The next step count at which a guard does more than its test.
    alarm: u64,
    trapped: Option<TrapReport>,
    exited: bool,
    /// Whether to continue from the guard even without steps left.
    pub(crate) leaves: bool,
}

impl<'a, 'm> Machine<'a, 'm> {
    /// Creates a machine for a frame and arguments that fit the code.
    pub fn new(
        program: &'a Loop,
        code: &'a Code,
        frame: &'a mut Frame<'m>,
        args: &'a [Arg<'a>],
        span: u64,
    ) -> Machine<'a, 'm> {
        let steps = frame.words[1];
        let mut machine = Machine {
            program,
            code,
            params: args.iter().map(view_of).collect(),
            args,
            regs: vec![0; code.registers as usize],
            counts: vec![0; code.counters.len()],
            observer: None,
            waiting: vec![Vec::new(); code.guards.len()],
            steps,
            chunk: CHUNK,
            grid: program.grid().unwrap_or(CHUNK),
            limit: steps.saturating_add(span),
            alarm: 0,
            trapped: None,
            exited: false,
            leaves: false,
            frame,
        };
        for (r, word) in &code.consts {
            machine.set(*r, *word);
        }
        for (p, a) in program.params.iter().zip(args) {
            if let Arg::Scalar(c) = a {
                machine.set(p.var.0, canonical(c.ty, c.bits));
            }
        }
        machine
    }

    /// Runs from the frame's position to the end of the span.
    pub fn run(&mut self) -> Outcome {
        let entry = match self.frame.words[0] {
            DONE => return Outcome::Done,
            0 => self.code.entry,
            k => {
                let guard = (k - 1) as usize;
                let test = self.code.guards[guard].test;
                if test == 0 {
                    return Outcome::BadArgs(format!("position {k} is not in this pass"));
                }
                if self.limit == self.steps && !self.leaves {
                    return Outcome::Paused;
                }
                self.load(guard);
                test
            }
        };
        self.set_alarm();
        match self.exec(entry) {
            Stop::Ended => {
                self.frame.words[0] = DONE;
                self.frame.words[1] = self.steps;
                self.save();
                if self.exited {
                    Outcome::Exited
                } else {
                    Outcome::Done
                }
            }
            Stop::Paused(guard) => {
                self.frame.words[0] = u64::from(guard) + 1;
                self.frame.words[1] = self.steps;
                self.save();
                Outcome::Paused
            }
            Stop::Failed(outcome) => outcome,
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, r: Reg) -> u64 {
        self.regs[r as usize]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, r: Reg, word: u64) {
        self.regs[r as usize] = word;
    }

    /// Restores the state that the frame keeps while the loop is paused at a guard.
    fn load(&mut self, guard: usize) {
        let code = self.code;
        for (r, ty, word) in code.saved.iter().chain(&code.current) {
            self.set(*r, canonical(*ty, self.frame.words[*word as usize]));
        }
        for (group, scope) in &code.guards[guard].waiting {
            for (r, value) in self.prefix_values(*group) {
                self.wait(*scope, Target::Register(r), value);
            }
        }
        for (held, scope) in &code.guards[guard].held {
            let (r, ty, word) = code.held[*held as usize];
            let value = canonical(ty, self.frame.words[word as usize]);
            if value != self.get(r) {
                self.wait(*scope, Target::Register(r), value);
            }
        }
    }

    /// Saves the loop's live state in the frame.
    ///
    /// Updates that still wait, for unfinished outer iterations, are made early unless the old
    /// value is read again.
    fn save(&mut self) {
        let code = self.code;
        for (r, _, word) in &code.held {
            self.frame.words[*word as usize] = self.get(*r);
        }
        for waits in std::mem::take(&mut self.waiting) {
            for Wait { to, value } in waits {
                match to {
                    Target::Word(w) => self.frame.words[w as usize] = value,
                    Target::Register(r) => match code.held.iter().find(|h| h.0 == r) {
                        Some((_, _, word)) => self.frame.words[*word as usize] = value,
                        // A current value is recomputed from the group's prefix and last value.
                        None if code.current.iter().any(|c| c.0 == r) => {}
                        None => self.set(r, value),
                    },
                }
            }
        }
        for (r, _, word) in code.saved.iter().chain(&code.current) {
            self.frame.words[*word as usize] = self.get(*r);
        }
    }

    /// Returns an element of a parameter, or `None` out of bounds.
    #[inline(always)]
    fn param_word(&self, p: u32, i: usize) -> Option<u64> {
        let here = self.params[p as usize].get_word(i);
        here.or_else(|| self.far_of(p)?.far_word(i))
    }

    /// Returns a parameter that is a far array.
    #[cold]
    pub(crate) fn far_of(&self, p: u32) -> Option<&'a Buffer> {
        match self.args[p as usize] {
            Arg::Far(b) if b.is_far() => Some(b),
            _ => None,
        }
    }

    fn wait(&mut self, scope: u32, to: Target, value: u64) {
        self.waiting[scope as usize].push(Wait { to, value });
    }

    /// Sets the next alarm. At a chunk's end it stays until the next step, since several guards may
    /// be met there.
    fn set_alarm(&mut self) {
        let next = |grid: u64| match self.steps % grid {
            0 if self.steps > 0 => self.steps,
            past => self.steps.saturating_add(grid - past),
        };
        self.alarm = self.limit.min(next(self.chunk)).min(next(self.grid));
    }

    /// Handles an alarm or a recorded trap at a guard.
    #[cold]
    fn arrive(&mut self, guard: u32) -> Option<Stop> {
        if let Some(stop) = self.trap_stop() {
            return Some(stop);
        }
        if self.steps > 0 && self.steps.is_multiple_of(self.grid) {
            let code = self.code;
            for group in &code.guards[guard as usize].joins {
                self.join_run(*group);
            }
        }
        if self.steps > 0 && self.steps.is_multiple_of(self.chunk) {
            let code = self.code;
            for group in &code.guards[guard as usize].joins {
                self.join_locals(*group);
            }
        }
        if self.steps >= self.limit {
            return Some(Stop::Paused(guard));
        }
        self.set_alarm();
        None
    }

    fn trap_stop(&mut self) -> Option<Stop> {
        self.trapped
            .take()
            .map(|t| Stop::Failed(Outcome::Trapped(Some(t))))
    }

    /// Records a trap, unless an earlier one was recorded in this iteration.
    #[cold]
    fn trap(&mut self, site: u32) {
        let site = &self.code.traps[site as usize];
        let trap = &self.program.traps[site.trap.index()];
        if let Some(old) = &self.trapped
            && (old.steps, old.comb, old.trap) <= (self.steps, trap.comb, site.trap)
        {
            return;
        }
        let payload = site
            .payload
            .iter()
            .map(|(ty, r)| Const::new(*ty, self.get(*r)))
            .collect();
        let nest = site.nest.iter().map(|(rate, counter, bound)| TrapNest {
            rate: *rate,
            counter: self.get(*counter),
            bound: self.get(*bound),
        });
        self.trapped = Some(TrapReport {
            trap: site.trap,
            comb: trap.comb,
            kind: trap.kind,
            payload,
            steps: self.steps,
            nest: nest.collect(),
        });
    }

    /// Returns an out-of-memory stop. A trap recorded before takes precedence.
    pub(crate) fn no_memory(&mut self, comb: loop_lang::ir::CombId, bytes: u64) -> Stop {
        self.trap_stop()
            .unwrap_or(Stop::Failed(Outcome::NoMemory { comb, bytes }))
    }

    /// Runs the instruction loop.
    ///
    /// The registers are moved to a local variable, so that each access needs no indirection
    /// through `self`.
    pub(crate) fn exec(&mut self, mut pc: Pc) -> Stop {
        let code = self.code;
        let instrs: &[Instr] = &code.instrs;
        let mut regs = std::mem::take(&mut self.regs);
        macro_rules! get {
            ($r:expr) => {
                regs[$r as usize]
            };
        }
        macro_rules! set {
            ($r:expr, $word:expr) => {{
                let word = $word;
                regs[$r as usize] = word;
            }};
        }
        // Evaluates an expression with the registers back in the machine.
        macro_rules! whole {
            ($e:expr) => {{
                self.regs = regs;
                let value = $e;
                regs = std::mem::take(&mut self.regs);
                value
            }};
        }
        let stop = loop {
            let instr = &instrs[pc as usize];
            pc += 1;
            match *instr {
                Instr::Copy { d, a } => set!(d, get!(a)),
                Instr::Fast { op, d, a, b } => set!(d, op.eval(get!(a), get!(b))),
                Instr::Select { d, c, a, b } => {
                    let from = if get!(c) != 0 { a } else { b };
                    set!(d, get!(from));
                }
                Instr::Op1 { op, from, to, d, a } => set!(d, eval(op, from, to, &[get!(a)])),
                Instr::Op2 {
                    op,
                    from,
                    to,
                    d,
                    a,
                    b,
                } => {
                    set!(d, eval(op, from, to, &[get!(a), get!(b)]));
                }
                Instr::Op3(i) => {
                    let o = &code.ops3[i as usize];
                    let args = o.args.map(|r| get!(r));
                    set!(o.d, eval(o.op, o.from, o.to, &args));
                }
                Instr::ReadParam { d, array, i } => {
                    let x = index(get!(i)).and_then(|i| self.param_word(array, i));
                    set!(d, x.unwrap_or(0));
                }
                Instr::ReadSlot { d, array, i } => {
                    let i = index(get!(i));
                    let array = self.frame.arrays[array as usize].as_ref();
                    let x = array.and_then(|a| i.and_then(|i| a.get_word(i)));
                    set!(d, x.unwrap_or(0));
                }
                Instr::Write { array, i, x } => {
                    let (i, x) = (index(get!(i)), get!(x));
                    if let (Some(a), Some(i)) = (&mut self.frame.arrays[array as usize], i) {
                        a.set_word(i, x);
                    }
                }
                Instr::Jump { to } => pc = to,
                Instr::Turn { to } => match self.frame.stop {
                    Some(stop) if stop.load(Ordering::Relaxed) => {}
                    _ => pc = to,
                },
                Instr::Unless { c, to } => {
                    if get!(c) == 0 {
                        pc = to;
                    }
                }
                Instr::Arrive { guard } => {
                    if (self.steps >= self.alarm || self.trapped.is_some())
                        && let Some(stop) = whole!(self.arrive(guard))
                    {
                        break stop;
                    }
                }
                Instr::Step => self.steps = self.steps.wrapping_add(1),
                Instr::EndPart => {
                    if let Some(stop) = self.trap_stop() {
                        break stop;
                    }
                }
                Instr::GetLane {
                    d,
                    lanes,
                    counter,
                    mask,
                } => {
                    set!(d, self.frame.words[lane(lanes, get!(counter), mask)]);
                }
                Instr::SetLane {
                    lanes,
                    counter,
                    mask,
                    a,
                } => {
                    self.frame.words[lane(lanes, get!(counter), mask)] = get!(a);
                }
                Instr::Later { scope, d, a } => self.wait(scope, Target::Register(d), get!(a)),
                Instr::LaterLane(i) => {
                    let late = &code.late_lanes[i as usize];
                    let word = lane(late.lanes, get!(late.counter), late.mask);
                    self.wait(late.scope, Target::Word(word as u32), get!(late.a));
                }
                Instr::Commit { scope } => {
                    for Wait { to, value } in self.waiting[scope as usize].drain(..) {
                        match to {
                            Target::Register(r) => set!(r, value),
                            Target::Word(w) => self.frame.words[w as usize] = value,
                        }
                    }
                }
                Instr::Check { ok, site } => {
                    if get!(ok) == 0 {
                        whole!(self.trap(site));
                    }
                }
                Instr::Count { counter } => self.counts[counter as usize] += 1,
                Instr::Watch(i) => {
                    if !whole!(self.watch(&code.watched[i as usize])) {
                        break Stop::Failed(Outcome::Paused);
                    }
                }
                Instr::Rare(i) => {
                    let rare: &'a Rare = &code.rare[i as usize];
                    if let Some(stop) = whole!(self.rare(rare)) {
                        break stop;
                    }
                }
                Instr::Exited => self.exited = true,
                Instr::End => break Stop::Ended,
            }
        };
        self.regs = regs;
        stop
    }
}

/// Returns the word of a lane, by the counter's value.
#[inline(always)]
fn lane(lanes: u32, counter: u64, mask: u32) -> usize {
    (lanes + (counter as u32 & mask)) as usize
}

/// Converts an index to `usize`. Returns `None` if it does not fit.
#[inline(always)]
pub(crate) fn index(word: u64) -> Option<usize> {
    usize::try_from(word).ok()
}

/// Returns the elements of an argument that are here. The view is empty for scalars and far arrays.
fn view_of<'a>(arg: &'a Arg<'_>) -> View<'a> {
    match arg {
        Arg::Scalar(_) => View::new::<u8>(&[]),
        Arg::Array(v) => *v,
        Arg::Far(b) => match b.is_far() {
            true => View::empty(b.ty()),
            false => b.view(),
        },
    }
}
