//! Workers: the work of one thread on a board.
//!
//! A worker takes units in order, finds their prefixes, runs them, and moves appended elements to
//! their destination.

use super::board::{Board, Claim, Sum, WorkUnit};
use super::run;
use crate::runtime::sync::{Wait, copied};
use livefusion_backend::{Buffer, Frame, Held, Outcome, Pass};
use std::collections::VecDeque;

/// Units that a thread holds while it waits for others. This few stay in its cache.
const AHEAD: usize = 4;

/// Holds the state of a thread at work.
pub struct Worker<'b, 'a> {
    board: &'b Board<'a>,
    /// The frame for units, over the loop's arrays or private ones.
    frame: Frame<'a>,
    /// The loop's arrays, where units append to private arrays.
    whole: Vec<Option<Held<'a>>>,
    /// Units that wait for their prefix.
    ahead: VecDeque<WorkUnit>,
    /// Units whose elements wait for their destination.
    appended: VecDeque<Appended>,
    spare: Vec<Vec<Buffer>>,
    /// Whether to take no more units for now.
    pausing: bool,
    /// The board's [news](Board::news) before it had nothing to claim.
    waits_for: Option<usize>,
}

/// The elements appended by a unit.
struct Appended {
    k: usize,
    counts: Vec<u64>,
    arrays: Vec<Buffer>,
}

/// The outcome of one step.
#[derive(PartialEq)]
enum Did {
    Something,
    /// Other threads must progress first.
    Nothing,
    /// No work is left.
    All,
}

impl<'b, 'a> Worker<'b, 'a> {
    /// Creates a worker with one of the board's frames.
    pub fn new(board: &'b Board<'a>) -> Option<Worker<'b, 'a>> {
        let mut frame = board.frame()?;
        let mut whole: Vec<Option<Held<'a>>> = frame.arrays.iter().map(|_| None).collect();
        let first = board.own_arrays(&frame.arrays)?;
        for (slot, _) in &board.shape.own {
            whole[*slot] = frame.arrays[*slot].take();
        }
        for (slot, array) in board.zeros(&frame.arrays)? {
            frame.arrays[slot] = Some(array.into());
        }
        Some(Worker {
            board,
            frame,
            whole,
            ahead: VecDeque::new(),
            appended: VecDeque::new(),
            spare: vec![first],
            pausing: false,
            waits_for: None,
        })
    }

    /// Works until no unit is left.
    ///
    /// It calls `tick` regularly, and passes whether it holds no unit that others wait for. `tick`
    /// returns whether to be called again soon.
    pub fn run(mut self, tick: &mut dyn FnMut(bool) -> bool) {
        self.work(tick);
        let sums = self.board.shape.sums.iter();
        let sums: Option<Vec<Held<'a>>> = sums
            .map(|(slot, _)| self.frame.arrays[*slot].take())
            .collect();
        if let Some(sums) = sums {
            self.board.keep_sums(sums);
        }
    }

    fn work(&mut self, tick: &mut dyn FnMut(bool) -> bool) {
        let mut wait = Wait::default();
        loop {
            let holds_none = self.ahead.is_empty() && self.appended.is_empty();
            self.pausing = tick(holds_none);
            if self.board.stopped() {
                return;
            }
            if self.bring() {
                continue;
            }
            match self.step() {
                Did::Something => wait = Wait::default(),
                Did::Nothing => wait.once(),
                Did::All => return,
            }
        }
    }

    fn step(&mut self) -> Did {
        if self.appended.len() >= AHEAD {
            return Did::Nothing;
        }
        let levels = self.board.levels();
        while self.ahead.front().is_some_and(|u| self.board.is_over(u.k)) {
            self.ahead.clear();
        }
        for unit in &mut self.ahead {
            while self.board.lift(unit) {}
        }
        let Some(front) = self.ahead.front() else {
            return self.take();
        };
        let known = self.board.all_known(front.k);
        match front.sum {
            _ if front.level == levels => self.emit_front(),
            // An offered sum may be joined at any moment.
            Sum::Unknown | Sum::Bound if known => self.emit_front(),
            Sum::Unknown => self.summarise(0),
            Sum::Offered if self.ahead.len() < AHEAD => {
                let held = self.ahead.len();
                match self.take() {
                    Did::Something if self.ahead.len() > held => self.summarise(held),
                    Did::Something => Did::Something,
                    _ => Did::Nothing,
                }
            }
            Sum::Offered | Sum::Bound => Did::Nothing,
        }
    }

    /// Takes one more unit, or a part of the search for it.
    fn take(&mut self) -> Did {
        let board = self.board;
        let news = board.news();
        if self.pausing || self.waits_for == Some(news) {
            return Did::Nothing;
        }
        match board.claim() {
            Claim::Unit(mut unit) => match board.locate(&mut unit, &mut self.frame) {
                true => self.ahead.push_back(unit),
                // A unit before it fails as well.
                false => board.give_up(unit.k, None),
            },
            Claim::Count(block) => board.count(block, &mut self.frame),
            Claim::Walk(frame) => board.walk(frame),
            Claim::Nothing if self.appended.is_empty() => return Did::All,
            Claim::Later => {
                self.waits_for = Some(news);
                return Did::Nothing;
            }
            Claim::Nothing => return Did::Nothing,
        }
        Did::Something
    }

    /// Sums a unit's next level from identities.
    fn summarise(&mut self, at: usize) -> Did {
        let board = self.board;
        let unit = &mut self.ahead[at];
        let (level, ids) = &board.shape.levels[unit.level];
        self.frame.words.copy_from_slice(&unit.words);
        board
            .shape
            .clear(board.kernel, ids, &mut self.frame.words, board.args);
        let pass = Pass::Summary { level: *level };
        let outcome = run(board.kernel, pass, board.unit, &mut self.frame, board.args);
        let end = &self.frame.words;
        let is_summed =
            outcome == Outcome::Paused && board.shape.tells(board.kernel, ids, &unit.words, end);
        match is_summed {
            true => board.offer(unit, end),
            false => unit.sum = Sum::Bound,
        }
        Did::Something
    }

    /// Runs the first unit from its prefix, or from the words at the end of all earlier units.
    fn emit_front(&mut self) -> Did {
        let (board, shape) = (self.board, self.board.shape);
        let Some(mut unit) = self.ahead.pop_front() else {
            return Did::Nothing;
        };
        let in_order = unit.level < board.levels();
        if in_order && let Some(words) = board.known() {
            unit.words = words;
        }
        self.frame.words.copy_from_slice(&unit.words);
        if !board.enter(&mut self.frame) {
            // The unit before it ends early as well.
            board.give_up(unit.k, Some(unit.words));
            return Did::Something;
        }
        unit.words.copy_from_slice(&self.frame.words);
        let Some(arrays) = self.spare.pop().or_else(|| self.own_arrays()) else {
            board.give_up(unit.k, Some(unit.words));
            return Did::Something;
        };
        for ((slot, _), array) in shape.own.iter().zip(arrays) {
            self.frame.arrays[*slot] = Some(array.into());
        }
        for (slot, id, var) in &shape.limited {
            let end = match in_order {
                true => u64::MAX,
                false => shape.value(board.kernel, *id, &unit.end)[*var],
            };
            if let Some(array) = &mut self.frame.arrays[*slot] {
                array.limit(usize::try_from(end).unwrap_or(usize::MAX));
            }
        }
        let words = &mut self.frame.words;
        shape.clear(board.kernel, &shape.later, words, board.args);
        let (steps, frame) = (unit.steps, &mut self.frame);
        let outcome = run(board.kernel, Pass::Emit, steps, frame, board.args);
        if outcome != Outcome::Paused {
            board.give_up(unit.k, Some(unit.words));
            // The loop's end may have taken arrays out of the frame.
            return Did::Something;
        }
        if !self.keep(unit.k) {
            board.give_up(unit.k, Some(unit.words));
            return Did::Something;
        }
        if in_order {
            board.publish(unit.k, &self.frame.words);
        }
        board.deliver(unit.k, unit.steps, &self.frame.words);
        Did::Something
    }

    fn own_arrays(&self) -> Option<Vec<Buffer>> {
        self.board.own_arrays(&self.whole)
    }

    /// Keeps a unit's appended elements until their destination is known.
    ///
    /// Returns false if the kernel lost an array, or reports more elements than its capacity.
    fn keep(&mut self, k: usize) -> bool {
        let shape = self.board.shape;
        if shape.own.is_empty() {
            return true;
        }
        let mut appended = Appended {
            k,
            counts: Vec::with_capacity(shape.own.len()),
            arrays: Vec::with_capacity(shape.own.len()),
        };
        for (slot, i) in &shape.own {
            let value = shape.value(self.board.kernel, shape.later[*i], &self.frame.words);
            let count = value.first().copied().unwrap_or(0);
            let array = self.frame.arrays[*slot].take().and_then(Held::into_own);
            match array.filter(|a| a.len() as u64 >= count) {
                Some(array) => appended.arrays.push(array),
                None => return false,
            }
            appended.counts.push(count);
        }
        self.appended.push_back(appended);
        true
    }

    /// Moves the first unit's elements to their destination, if known.
    fn bring(&mut self) -> bool {
        let Some(first) = self.appended.front() else {
            return false;
        };
        let place = self.board.place(first.k);
        if place.is_none() && !self.board.is_over(first.k) {
            return false;
        }
        let Some(Appended { counts, arrays, .. }) = self.appended.pop_front() else {
            return false;
        };
        let own = self.board.shape.own.iter().zip(&arrays).zip(&counts);
        for ((((slot, _), array), count), at) in own.zip(place.into_iter().flatten()) {
            if let Some(to) = &mut self.whole[*slot]
                && let Some(from) = array.slice(0, *count as usize)
            {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                // SAFETY: destinations are consecutive according to the counts, which were checked
                // against the arrays' lengths. Units get arrays of their own for these slots, so no
                // other thread has access to the whole.
                unsafe { to.write_from(at, from) };
                copied(*count as usize * array.ty().size());
            }
        }
        self.spare.push(arrays);
        true
    }
}
