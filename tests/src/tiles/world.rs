//! The state of a paused loop, as tiles see it.

use livefusion_backend::kernel::known_word;
use livefusion_backend::{Arg, Frame};
use livefusion_tile::eval::World;
use livefusion_tile::ir::{Kept, Memory};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Order, Var};
use loop_lang::state::{Layout, group_total, local_words};

/// Offsets in the local part of a scan's variable: the current value, and its tree.
const NOW: u64 = 0;
const TREE: u64 = 3;

/// A frame with the arguments of its loop.
pub(super) struct State<'a, 'f> {
    program: &'a Loop,
    layout: &'a Layout,
    frame: &'a mut Frame<'f>,
    args: &'a [Arg<'a>],
}

impl<'a, 'f> State<'a, 'f> {
    pub(super) fn new(
        program: &'a Loop,
        layout: &'a Layout,
        frame: &'a mut Frame<'f>,
        args: &'a [Arg<'a>],
    ) -> State<'a, 'f> {
        State {
            program,
            layout,
            frame,
            args,
        }
    }

    /// The value of a scalar: a parameter, a carried value, or a group's current value.
    pub(super) fn scalar(&self, v: Var) -> u64 {
        let program = self.program;
        if let Some(word) = self.of_scan(v, NOW) {
            return self.frame.words[word];
        }
        if let Some(g) = program.group_of(v)
            && program.groups[g.index()].order.is_local()
        {
            let total = group_total(program, self.layout, &self.frame.words, g);
            let at = program.groups[g.index()].vars.iter().position(|u| *u == v);
            return at.map_or(0, |at| total[at]);
        }
        match self.layout.word(v) {
            Some(word) => self.frame.words[word],
            None => known_word(program, self.args, Atom::Var(v)),
        }
    }

    fn argument(&self, array: Var) -> Option<&Arg<'a>> {
        let at = self.program.params.iter().position(|p| p.var == array)?;
        self.args.get(at)
    }

    pub(super) fn length(&self, array: Var) -> u64 {
        if let Some(Arg::Array(view)) = self.argument(array) {
            return view.len() as u64;
        }
        let slot = self.layout.array_slot(array);
        let made = slot.and_then(|slot| self.frame.arrays[slot].as_ref());
        made.map_or(0, |a| a.len() as u64)
    }

    /// The word of a lane of a group's variable.
    fn lane(&self, v: Var, at: u64) -> Option<usize> {
        let (order, first) = self.local(v)?;
        (at < u64::from(order.lanes()?)).then(|| first + at as usize)
    }

    /// The word of a scan's variable at an offset of its local part.
    fn of_scan(&self, v: Var, offset: u64) -> Option<usize> {
        let (order, first) = self.local(v)?;
        let there = matches!(order, Order::Prefix(_)) && offset < local_words(order) as u64;
        there.then(|| first + offset as usize)
    }

    /// The order of a variable's group, and the local part of the variable.
    fn local(&self, v: Var) -> Option<(Order, usize)> {
        let id = self.program.group_of(v)?;
        let group = &self.program.groups[id.index()];
        let i = group.vars.iter().position(|u| *u == v)?;
        Some((group.order, self.layout.local(id, group, i)))
    }

    /// The word of a value that a scan keeps.
    fn kept(&self, v: Var, kept: Kept) -> Option<usize> {
        match kept {
            Kept::Prefix => self.layout.word(v),
            Kept::Total => self.of_scan(v, NOW + 1),
            Kept::Last => self.of_scan(v, NOW + 2),
        }
    }
}

impl World for State<'_, '_> {
    fn scalar(&self, v: Var) -> u64 {
        State::scalar(self, v)
    }

    fn keep(&mut self, v: Var, word: u64) {
        let held = self.layout.held.iter().find(|(h, _)| *h == v);
        let own = self.of_scan(v, NOW).or_else(|| self.layout.word(v));
        for at in own.into_iter().chain(held.map(|h| h.1)) {
            self.frame.words[at] = word;
        }
    }

    fn scanned(&self, v: Var, kept: Kept) -> u64 {
        let word = self.kept(v, kept);
        word.map_or(0, |w| self.frame.words[w])
    }

    fn keep_scanned(&mut self, v: Var, kept: Kept, word: u64) {
        if let Some(at) = self.kept(v, kept) {
            self.frame.words[at] = word;
        }
    }

    fn length(&self, array: Var) -> u64 {
        State::length(self, array)
    }

    fn read(&self, from: Memory, at: u64) -> Option<u64> {
        match from {
            Memory::Array(array) => {
                let i = usize::try_from(at).ok()?;
                if let Some(Arg::Array(view)) = self.argument(array) {
                    return view.get_word(i);
                }
                let slot = self.layout.array_slot(array)?;
                self.frame.arrays[slot].as_ref()?.get_word(i)
            }
            Memory::Lanes(v) => Some(self.frame.words[self.lane(v, at)?]),
            Memory::Tree(v) => Some(self.frame.words[self.of_scan(v, at.checked_add(TREE)?)?]),
            Memory::Register(_) | Memory::Buffer(_) => None,
        }
    }

    fn write(&mut self, into: Memory, at: u64, word: u64) -> bool {
        match into {
            Memory::Array(array) => {
                let slot = self.layout.array_slot(array);
                let made = slot.and_then(|slot| self.frame.arrays[slot].as_mut());
                let at = usize::try_from(at).ok();
                made.zip(at).is_some_and(|(a, i)| a.set_word(i, word))
            }
            Memory::Lanes(v) => {
                let lane = self.lane(v, at);
                lane.map(|w| self.frame.words[w] = word).is_some()
            }
            Memory::Tree(v) => {
                let tree = at.checked_add(TREE).and_then(|at| self.of_scan(v, at));
                tree.map(|w| self.frame.words[w] = word).is_some()
            }
            Memory::Register(_) | Memory::Buffer(_) => false,
        }
    }
}
