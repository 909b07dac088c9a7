//! Long bodies in pieces, each of which is done for all steps of a range before the next begins.
//!
//! A processor looks some hundred operations ahead. Where a body is a longer chain of operations that wait for each
//! other, it does not reach the next elements, and waits; in pieces of a few operations it works on many elements at a
//! time.
//!
//! What one piece computes and another needs crosses in a buffer, which stays in the cache. What costs no more than
//! that, as reads at the counter, each piece does by itself.
//!
//! | module | contents |
//! | --- | --- |
//! | `parts` | what of a body belongs together, and in which order it is done |
//! | `guards` | statements within long conditions, and the guards around them |
//! | `cut` | where the body is cut |

mod cut;
mod guards;
mod parts;

use super::Lower;
use super::clean::clean;
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Tile, Value, named};
use crate::schedule::Decision;
use guards::{Guarded, Open, take_apart};
use loop_lang::ir::{CombId, RateId};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use parts::Parts;
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes for all buffers: a part of the first cache.
const BYTES: u64 = 16 << 10;

/// Steps of a range where no piece needs anything from another: what they read stays in the caches.
const ALONE: u64 = 2048;

/// How a body is cut: what the schedule says.
#[derive(Clone, Copy)]
struct Limits {
    /// The longest that a piece waits for one thing after the other, in cycles, unless it has enough to do.
    pub wait: u64,
    /// How much there is to do in a piece at most.
    pub work: u64,
    /// Steps of a range, at most.
    pub steps: u64,
}

/// The loop over the range, and what is in it.
struct Turns {
    counter: Value,
    range: (Operand, Operand),
    step: u64,
    /// The counter of vectors in a turn, if there are some.
    lane: Option<Value>,
    body: Vec<Guarded>,
}

impl Turns {
    fn of(tile: &Tile, s: &Stmt, within: Option<Limits>) -> Option<Turns> {
        let StmtKind::For {
            counter,
            from,
            to,
            step,
            body,
            ..
        } = &s.kind
        else {
            return None;
        };
        let (lane, body) = match &body[..] {
            [
                Stmt {
                    kind:
                        StmtKind::For {
                            counter,
                            unroll: true,
                            body,
                            ..
                        },
                    ..
                },
            ] => (Some(*counter), body),
            _ => (None, body),
        };
        Some(Turns {
            counter: *counter,
            range: (*from, *to),
            step: *step,
            lane,
            body: take_apart(tile, body, within),
        })
    }
}

impl Lower<'_, '_> {
    /// Cuts the body of the loop over the range, if that is decided, and there is more than one piece of it.
    pub(super) fn fission(&mut self) {
        let of = |(r, d): &(RateId, Decision)| match *d {
            Decision::Fission { wait, work, steps } if *r == self.inner_loop.rate => Some(Limits {
                wait: wait.into(),
                work: work.into(),
                steps: steps.into(),
            }),
            _ => None,
        };
        let Some(limits) = self.schedule.decisions().iter().find_map(of) else {
            return;
        };
        clean(&mut self.tile);
        let tile = &self.tile;
        let Some(at) = tile.body.iter().position(|s| tile.is_range(&s.kind)) else {
            return;
        };
        // Conditions on several lanes have joined them already.
        let within = (self.lanes == 1).then_some(limits);
        let Some(turns) = Turns::of(tile, &tile.body[at], within) else {
            return;
        };
        let mut outside = named(&tile.body[..at]);
        outside.extend(named(&tile.body[at + 1..]));
        let parts = Parts::of(tile, &turns, self.lanes, &outside);
        let pieces = parts.cut(limits);
        if pieces.len() < 2 {
            return;
        }
        let buffers = buffers(&parts, &pieces);
        let bytes: u64 = buffers.types.iter().map(|ty| ty.size() as u64).sum();
        let mut steps = match bytes {
            0 => ALONE,
            _ => limits.steps,
        };
        steps = steps.max(turns.step);
        while steps * bytes > BYTES && steps > turns.step {
            steps /= 2;
        }
        let most = self.tile.entries.len();
        self.tile.entries.push(Entry::Most(steps));
        let all = (buffers.types.iter())
            .map(|ty| self.add("buffer", Shape::of(*ty, steps as u32), Origin::Buffer))
            .collect();
        let mut writing = Writing {
            buffers: all,
            of: buffers.of,
            most: Proof::Entry(most),
            named: FxHashSet::default(),
            parts: &parts,
            turns: &turns,
        };
        let mut body = std::mem::take(&mut self.tile.body);
        let written: Vec<Stmt> = (pieces.iter())
            .map(|piece| writing.piece(self, piece))
            .collect();
        body.splice(at..=at, written);
        self.tile.body = body;
    }
}

/// Which values cross between pieces, and in which buffers.
struct Buffers {
    /// The buffer of each value, by number.
    of: FxHashMap<Value, usize>,
    types: Vec<Ty>,
}

/// A buffer is used again when nobody needs what is in it.
fn buffers(parts: &Parts, pieces: &[Vec<usize>]) -> Buffers {
    let mut last: FxHashMap<Value, usize> = FxHashMap::default();
    for (k, piece) in pieces.iter().enumerate() {
        for i in parts.with_free(piece) {
            last.extend(parts.statements[i].uses.iter().map(|v| (*v, k)));
        }
    }
    let (mut of, mut types, mut busy) = (FxHashMap::default(), Vec::new(), Vec::new());
    for (k, piece) in pieces.iter().enumerate() {
        let again = parts.needed_after_close(piece);
        let defs = piece.iter().flat_map(|i| &parts.statements[*i].defs);
        for (v, shape) in defs {
            let crosses = |until: &usize| *until > k || again.contains(v);
            let Some(until) = last.get(v).copied().filter(crosses) else {
                continue;
            };
            let free = |b: &usize| types[*b] == shape.ty && busy[*b] < k;
            let buffer = (0..types.len()).find(free).unwrap_or_else(|| {
                types.push(shape.ty);
                busy.push(0);
                types.len() - 1
            });
            busy[buffer] = until;
            of.insert(*v, buffer);
        }
    }
    Buffers { of, types }
}

/// The definitions of a piece that is being written.
struct PieceScope {
    /// The place of an element in the buffers, if anything crosses.
    at: Option<Operand>,
    names: FxHashMap<Value, Value>,
    done: FxHashSet<usize>,
    open: Open<Condition>,
}

/// A condition around the statements that are written.
struct Condition {
    comb: CombId,
    cond: Operand,
    /// The statements before it.
    outer: Vec<Stmt>,
    done: Vec<usize>,
    loaded: Vec<Value>,
}

impl PieceScope {
    fn named(&self, v: Value) -> Value {
        self.names.get(&v).copied().unwrap_or(v)
    }

    /// Closes the conditions that a statement is not within, and forgets their definitions.
    fn close(&mut self, lower: &mut Lower, within: &[Value]) {
        while let Some(condition) = self.open.close(within) {
            for i in &condition.done {
                self.done.remove(i);
            }
            for v in &condition.loaded {
                self.names.remove(v);
            }
            let then = lower.body(condition.outer);
            let kind = StmtKind::If {
                cond: condition.cond,
                then,
                other: Vec::new(),
            };
            let comb = condition.comb;
            lower.out.push(Stmt { comb, kind });
        }
    }
}

/// Pieces, being written.
struct Writing<'p> {
    parts: &'p Parts<'p>,
    turns: &'p Turns,
    buffers: Vec<Value>,
    of: FxHashMap<Value, usize>,
    /// A range has no more steps than buffers have elements.
    most: Proof,
    /// What is defined already: in another piece it has another name.
    named: FxHashSet<Value>,
}

impl Writing<'_> {
    /// The loop over the range of one piece: what it needs of others, and what it leaves for them.
    fn piece(&mut self, lower: &mut Lower, piece: &[usize]) -> Stmt {
        let turns = self.turns;
        let mut names: FxHashMap<Value, Value> = FxHashMap::default();
        let outer = std::mem::take(&mut lower.out);
        let counter = self.name(lower, turns.counter, &mut names);
        let lane = turns.lane.map(|lane| self.name(lower, lane, &mut names));
        let crosses = |i: &usize| {
            let s = &self.parts.statements[*i];
            let mut values = s.uses.iter().chain(s.defs.iter().map(|d| &d.0));
            values.any(|v| self.of.contains_key(v))
        };
        let at = piece.iter().any(crosses).then(|| {
            let range: [Operand; 2] = [counter.into(), turns.range.0];
            let along = lower.op("along", Ty::U64, Op::Sub, &range);
            match lane {
                Some(lane) => lower.op("place", Ty::U64, Op::Add, &[along, lane.into()]),
                None => along,
            }
        });
        let mut scope = PieceScope {
            at,
            names,
            done: FxHashSet::default(),
            open: Open::new(),
        };
        self.deny(lower, piece, at);
        for i in self.parts.with_free(piece) {
            let s = &self.parts.statements[i];
            lower.comb = s.stmt.comb;
            scope.close(lower, s.within);
            if let Some(guard) = scope.open.missing(s.within) {
                self.load(lower, guard, &mut scope);
                let cond = scope.named(guard).into();
                let condition = Condition {
                    comb: lower.comb,
                    cond,
                    outer: std::mem::take(&mut lower.out),
                    done: Vec::new(),
                    loaded: Vec::new(),
                };
                scope.open.open(guard, condition);
            }
            s.uses.iter().for_each(|v| self.load(lower, *v, &mut scope));
            let mut kind = s.stmt.kind.clone();
            if s.free {
                s.defs.iter().for_each(|(v, _)| {
                    self.name(lower, *v, &mut scope.names);
                });
            }
            kind.each_value_mut(&mut |v| *v = scope.named(*v));
            lower.push(kind);
            scope.done.insert(i);
            if let Some(condition) = scope.open.innermost() {
                condition.done.push(i);
            }
            for (v, shape) in s.defs.iter().filter(|_| !s.free) {
                self.store(lower, *v, (*v).into(), *shape, at);
            }
        }
        scope.close(lower, &[]);
        let body = lower.body(outer);
        let each = |counter, (from, to), step, unroll, body| Stmt {
            comb: lower.owner,
            kind: StmtKind::For {
                counter,
                from,
                to,
                step,
                unroll,
                body,
            },
        };
        let body = match lane {
            Some(lane) => {
                let range = (Lower::u64(0), Lower::u64(turns.step));
                vec![each(lane, range, u64::from(lower.lanes), true, body)]
            }
            None => body,
        };
        each(counter, turns.range, turns.step, false, body)
    }

    /// Says no in the buffers of guards that a piece may not reach.
    fn deny(&self, lower: &mut Lower, piece: &[usize], at: Option<Operand>) {
        let guarded = piece.iter().map(|i| &self.parts.statements[*i]);
        for (v, shape) in guarded
            .filter(|s| !s.within.is_empty())
            .flat_map(|s| &s.defs)
        {
            if self.parts.guards.contains(v) {
                let no = Const::bool(false).into();
                self.store(lower, *v, no, *shape, at);
            }
        }
    }

    /// Stores a value that crosses in its buffer.
    fn store(
        &self,
        lower: &mut Lower,
        v: Value,
        value: Operand,
        shape: Shape,
        at: Option<Operand>,
    ) {
        if let (Some(buffer), Some(at)) = (self.of.get(&v), at) {
            lower.push(StmtKind::Store {
                into: Memory::Buffer(self.buffers[*buffer]),
                at,
                value,
                under: None,
                lanes: shape.lanes,
                proof: self.most,
            });
        }
    }

    /// Loads a value that is not defined here from its buffer.
    fn load(&self, lower: &mut Lower, v: Value, scope: &mut PieceScope) {
        let definer = self.parts.definer.get(&v);
        let inside = definer.is_none_or(|d| scope.done.contains(d));
        if inside || scope.names.contains_key(&v) {
            return;
        }
        let (Some(buffer), Some(at)) = (self.of.get(&v), scope.at) else {
            return;
        };
        let data = lower.tile.value(v).clone();
        let to = lower.add(&data.name, data.shape, Origin::Let);
        lower.push(StmtKind::Load {
            to,
            from: Memory::Buffer(self.buffers[*buffer]),
            at,
            under: None,
            proof: self.most,
        });
        scope.names.insert(v, to);
        if let Some(condition) = scope.open.innermost() {
            condition.loaded.push(v);
        }
    }

    /// What a value is called in this piece: as it was, where it is the first that has it.
    fn name(&mut self, lower: &mut Lower, v: Value, names: &mut FxHashMap<Value, Value>) -> Value {
        if self.named.insert(v) {
            return v;
        }
        let data = lower.tile.value(v).clone();
        let own = lower.add(&data.name, data.shape, Origin::Let);
        names.insert(v, own);
        own
    }
}
