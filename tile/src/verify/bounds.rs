//! Proofs: that what is not checked stays inside.
//!
//! A *place* is what is known of an index: a literal between two bounds, the counter of the loop over the tile's range
//! and a little, or a count and a little. The walk goes through each body once, or as often as it is unrolled, and
//! remembers by how much each count has gone up at most since the step began.
//!
//! Let the loop over the range take `s` steps at a time, which `b - a` is a multiple of.
//!
//! * At the counter, plus at most `h`, with `w` lanes: `h + w <= s`, and the entry says that the array has `end - from`
//!   elements from the counter's value at entry on.
//! * At a count that goes up by at most `s` in each turn, by `g` so far in this one: `g + h + w <= s`, and the entry says
//!   the same of the count. Then turn `t` writes below `count + t * s + s`.
//! * At a literal place `h`: `h + w` is at most the size of the memory.

use super::Faults;
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Stmt, StmtKind, Tile, Value};
use loop_lang::Loop;
use loop_lang::ir::Order;
use loop_lang::op::Op;
use rustc_hash::FxHashMap;

/// More turns than this are not unrolled.
const MAX_TURNS: u64 = 256;

/// Checks proofs, ranges and what is unrolled.
pub(super) fn check(tile: &Tile, program: &Loop, faults: &mut Faults) {
    for entry in &tile.entries {
        if let Entry::Whole(n) | Entry::Aligned(n) = entry
            && !n.is_power_of_two()
        {
            faults.add(format!("an entry for {n} steps, which is no power of two"));
        }
    }
    let aligned = tile.entries.iter().filter_map(|e| match e {
        Entry::Aligned(n) => Some(*n),
        _ => None,
    });
    let mut walk = Walk {
        tile,
        program,
        faults,
        aligned: aligned.max().unwrap_or(1),
        places: FxHashMap::default(),
        gone: FxHashMap::default(),
        step: None,
    };
    walk.stmts(&tile.body);
}

/// What is known of an index.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// At least the first, at most the second.
    Literal(u64, u64),
    /// The counter of the loop over the range, and at most this.
    Counter(u64),
    /// A count as it was when the step had gone up by `since`, and at most this.
    Count { state: Value, since: u64, plus: u64 },
}

struct Walk<'a> {
    tile: &'a Tile,
    program: &'a Loop,
    faults: &'a mut Faults,
    aligned: u64,
    places: FxHashMap<Value, Place>,
    /// By how much each count has gone up at most in this turn.
    gone: FxHashMap<Value, u64>,
    /// What the loop over the range takes at a time, in it.
    step: Option<u64>,
}

impl Walk<'_> {
    fn place(&self, a: Operand) -> Option<Place> {
        let v = match a {
            Operand::Const(c) => return Some(Place::Literal(c.bits, c.bits)),
            Operand::Value(v) => v,
        };
        if let Origin::State(_) = self.tile.value(v).origin {
            let since = self.gone.get(&v).copied().unwrap_or(0);
            return Some(Place::Count {
                state: v,
                since,
                plus: 0,
            });
        }
        self.places.get(&v).copied()
    }

    fn sum(&self, a: Operand, b: Operand) -> Option<Place> {
        Some(match (self.place(a)?, self.place(b)?) {
            (Place::Literal(a, b), Place::Literal(c, d)) => {
                Place::Literal(a.checked_add(c)?, b.checked_add(d)?)
            }
            (Place::Counter(plus), Place::Literal(_, more))
            | (Place::Literal(_, more), Place::Counter(plus)) => {
                Place::Counter(plus.checked_add(more)?)
            }
            (Place::Count { state, since, plus }, Place::Literal(_, more))
            | (Place::Literal(_, more), Place::Count { state, since, plus }) => Place::Count {
                state,
                since,
                plus: plus.checked_add(more)?,
            },
            _ => return None,
        })
    }

    /// What holds of both.
    fn larger(&self, a: Option<Place>, b: Option<Place>) -> Option<Place> {
        match (a?, b?) {
            (Place::Literal(a, b), Place::Literal(c, d)) => {
                Some(Place::Literal(a.min(c), b.max(d)))
            }
            (Place::Counter(a), Place::Counter(b)) => Some(Place::Counter(a.max(b))),
            (
                Place::Count { state, since, plus },
                Place::Count {
                    state: of,
                    since: s,
                    plus: p,
                },
            ) if state == of => Some(Place::Count {
                state,
                since: since.checked_add(plus)?.max(s.checked_add(p)?),
                plus: 0,
            }),
            _ => None,
        }
    }

    /// The counter, or a count, masked to the lanes of a group: what is a multiple of some number stays one.
    fn masked(&self, a: Operand, mask: u64) -> Option<Place> {
        let whole = match (self.place(a), self.step) {
            (Some(Place::Literal(a, b)), _) if a == b => {
                return Some(Place::Literal(a & mask, a & mask));
            }
            (Some(Place::Counter(0)), Some(step)) => self.aligned.min(step & step.wrapping_neg()),
            _ => 1,
        };
        let size = mask.checked_add(1).filter(|n| n.is_power_of_two())?;
        Some(Place::Literal(0, size - whole.min(size)))
    }

    fn define(&mut self, to: Value, op: Op, args: &[Operand]) {
        let place = match (op, args) {
            (Op::Add, [a, b]) => self.sum(*a, *b),
            (Op::And, [a, Operand::Const(c)] | [Operand::Const(c), a]) => self.masked(*a, c.bits),
            (Op::Copy, [a]) => self.place(*a),
            (Op::Select, [_, a, b]) => self.larger(self.place(*a), self.place(*b)),
            (Op::Cast, [a]) if self.tile.operand_shape(*a).ty == loop_lang::types::Ty::Bool => {
                Some(Place::Literal(0, 1))
            }
            _ => None,
        };
        match place {
            Some(place) if self.tile.shape(to).is_scalar() => self.places.insert(to, place),
            _ => self.places.remove(&to),
        };
    }

    /// A count goes up, or is something else from here on.
    fn set(&mut self, to: Value, value: Operand) {
        let Origin::State(_) = self.tile.value(to).origin else {
            match self
                .place(value)
                .filter(|_| self.tile.shape(to).is_scalar())
            {
                Some(place) => self.places.insert(to, place),
                None => self.places.remove(&to),
            };
            return;
        };
        let gone = match self.place(value) {
            Some(Place::Count { state, since, plus }) if state == to => since.checked_add(plus),
            _ => None,
        };
        self.gone.insert(to, gone.unwrap_or(u64::MAX));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(&s.kind));
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { to, op, args } => self.define(*to, *op, args),
            StmtKind::Count { to, of } => {
                let lanes = self.tile.operand_shape(*of).lanes;
                self.places.insert(*to, Place::Literal(0, u64::from(lanes)));
            }
            StmtKind::Set { to, value } => self.set(*to, *value),
            StmtKind::Load {
                to,
                from,
                at,
                proof,
                ..
            } => self.access(*from, *at, self.tile.shape(*to).lanes, *proof),
            StmtKind::Store {
                into,
                at,
                lanes,
                proof,
                ..
            } => self.access(*into, *at, *lanes, *proof),
            StmtKind::Compress {
                array,
                at,
                under,
                proof,
                ..
            } => {
                let lanes = self.tile.operand_shape(*under).lanes;
                self.access(Memory::Array(*array), *at, lanes, *proof);
            }
            StmtKind::For { .. } => self.turns(kind),
            StmtKind::If { then, other, .. } => {
                let before = (self.gone.clone(), self.places.clone());
                self.stmts(then);
                let gone = std::mem::replace(&mut self.gone, before.0);
                let mut places = std::mem::replace(&mut self.places, before.1);
                self.stmts(other);
                self.at_most(gone);
                // Of a register that either arm sets, what holds of both.
                for (v, place) in std::mem::take(&mut self.places) {
                    let both = self.larger(Some(place), places.remove(&v));
                    self.places.extend(both.map(|both| (v, both)));
                }
            }
            StmtKind::While { test, body, .. } => {
                self.any_turns(&[test, body]);
            }
            StmtKind::Positions { .. }
            | StmtKind::Gather { .. }
            | StmtKind::Put { .. }
            | StmtKind::Length { .. }
            | StmtKind::Any { .. }
            | StmtKind::Fold { .. }
            | StmtKind::Trap { .. } => {}
        }
    }

    /// What may be done any number of times: counts do not go up in it.
    fn any_turns(&mut self, bodies: &[&[Stmt]]) {
        let before = self.gone.clone();
        bodies.iter().for_each(|b| self.forget(b));
        bodies.iter().for_each(|b| self.stmts(b));
        if self.gone != before {
            self.faults
                .add("a count goes up in what may turn any number of times");
        }
    }

    /// Forgets what registers are that a body sets: it may have done so in the turn before.
    fn forget(&mut self, body: &[Stmt]) {
        for s in body {
            if let StmtKind::Set { to, .. } = s.kind {
                self.places.remove(&to);
            }
            s.kind.bodies().into_iter().for_each(|b| self.forget(b));
        }
    }

    fn at_most(&mut self, others: FxHashMap<Value, u64>) {
        for (v, gone) in others {
            let most = self.gone.entry(v).or_insert(0);
            *most = gone.max(*most);
        }
    }

    fn turns(&mut self, kind: &StmtKind) {
        let StmtKind::For {
            counter,
            from,
            to,
            step,
            unroll,
            body,
        } = kind
        else {
            return;
        };
        let origin = |a: &Operand| a.value().map(|v| self.tile.value(v).origin);
        let range = (origin(from), origin(to)) == (Some(Origin::From), Some(Origin::End));
        if range && !unroll && self.step.is_none() {
            if *step == 0 || !self.tile.granule().is_multiple_of(*step) {
                self.faults.add(format!(
                    "no entry says that the range is a multiple of {step}"
                ));
                return;
            }
            // Of what was set before, the entries know nothing.
            self.gone.values_mut().for_each(|gone| *gone = u64::MAX);
            let unknown = self.gone.clone();
            self.step = Some(*step);
            self.forget(body);
            self.places.insert(*counter, Place::Counter(0));
            let faults = self.faults.0.len();
            self.stmts(body);
            // What is no count may be set to anything; then nothing may be at it.
            let lost: Vec<Value> = (self.gone.iter())
                .filter(|(v, gone)| **gone > *step && !unknown.contains_key(v))
                .map(|(v, _)| *v)
                .collect();
            if !lost.is_empty() {
                self.faults.0.truncate(faults);
                self.forget(body);
                self.places.insert(*counter, Place::Counter(0));
                self.gone = unknown;
                self.gone.extend(lost.into_iter().map(|v| (v, u64::MAX)));
                self.stmts(body);
            }
            self.gone.values_mut().for_each(|gone| *gone = u64::MAX);
            self.step = None;
            return;
        }
        let (Operand::Const(from), Operand::Const(to)) = (from, to) else {
            if *unroll {
                self.faults.add("what is unrolled has no literal bounds");
            }
            self.places.remove(counter);
            self.any_turns(&[body]);
            return;
        };
        let turns = to.bits.saturating_sub(from.bits).checked_div(*step);
        match turns {
            Some(turns) if turns <= MAX_TURNS && (to.bits - from.bits).is_multiple_of(*step) => {
                for turn in 0..turns {
                    let at = from.bits + turn * step;
                    self.places.insert(*counter, Place::Literal(at, at));
                    self.stmts(body);
                }
            }
            _ => self.faults.add(format!(
                "from {} to {} by {step} are no whole turns, or too many",
                from.bits, to.bits
            )),
        }
    }

    fn access(&mut self, memory: Memory, at: Operand, lanes: u32, proof: Proof) {
        if let Err(why) = self.holds(memory, at, lanes, proof) {
            let of = match memory {
                Memory::Array(a) | Memory::Lanes(a) => self.program.name(a),
                Memory::Register(v) => &self.tile.value(v).name,
            };
            self.faults.add(format!("{lanes} of {of} {proof}: {why}"));
        }
    }

    fn holds(
        &self,
        memory: Memory,
        at: Operand,
        lanes: u32,
        proof: Proof,
    ) -> Result<(), &'static str> {
        let place = self.place(at).ok_or("nothing is known of the index")?;
        let within = |plus: u64, size: u64| {
            plus.checked_add(u64::from(lanes))
                .is_some_and(|n| n <= size)
        };
        match proof {
            Proof::Literal => {
                let Place::Literal(_, most) = place else {
                    return Err("the index is no literal");
                };
                let size = self.size(memory).ok_or("the memory's size is not known")?;
                within(most, size)
                    .then_some(())
                    .ok_or("it is beyond the end")
            }
            Proof::Entry(i) => {
                let Memory::Array(array) = memory else {
                    return Err("entries speak of arrays");
                };
                let Some(Entry::Room { array: of, index }) = self.tile.entries.get(i) else {
                    return Err("the entry speaks of no room");
                };
                let step = self.step.ok_or("it is outside of the range")?;
                let (of_index, plus) = match place {
                    Place::Literal(..) => return Err("the index is a literal"),
                    Place::Counter(plus) => (Some(self.tile.counter), Some(plus)),
                    Place::Count { state, since, plus } => match self.tile.value(state).origin {
                        Origin::State(v) => (Some(v), since.checked_add(plus)),
                        _ => (None, None),
                    },
                };
                if (*of, Some(*index)) != (array, of_index) {
                    return Err("the entry speaks of another array or index");
                }
                let plus = plus.ok_or("the count goes up by too much")?;
                within(plus, step)
                    .then_some(())
                    .ok_or("it is beyond the steps that are taken at a time")
            }
        }
    }

    /// How many elements memory has whose size the loop says.
    fn size(&self, memory: Memory) -> Option<u64> {
        let v = match memory {
            Memory::Lanes(v) => v,
            Memory::Register(v) => return Some(u64::from(self.tile.shape(v).lanes)),
            Memory::Array(_) => return None,
        };
        let group = self.program.group_of(v)?;
        match self.program.groups[group.index()].order {
            Order::Lanes(l) => Some(u64::from(l)),
            Order::Runs(_) => Some(2),
            Order::Prefix(_) | Order::Exact | Order::Sequential => None,
        }
    }
}
