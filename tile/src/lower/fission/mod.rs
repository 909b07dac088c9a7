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
//! | `cut` | where the body is cut |

mod cut;
mod parts;

use super::Lower;
use super::clean::clean;
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Value, named};
use crate::schedule::Decision;
use loop_lang::ir::RateId;
use loop_lang::op::Op;
use loop_lang::types::Ty;
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
    body: Vec<Stmt>,
}

impl Turns {
    fn of(s: &Stmt) -> Option<Turns> {
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
            body: body.clone(),
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
        let Some(turns) = Turns::of(&tile.body[at]) else {
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
        let defs = piece.iter().flat_map(|i| &parts.statements[*i].defs);
        for (v, shape) in defs {
            let Some(until) = last.get(v).copied().filter(|until| *until > k) else {
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
        let mut done: FxHashSet<usize> = FxHashSet::default();
        for i in self.parts.with_free(piece) {
            let s = &self.parts.statements[i];
            lower.comb = s.stmt.comb;
            let inside = |v: &Value| {
                let definer = self.parts.definer.get(v);
                definer.is_none_or(|d| done.contains(d))
            };
            for v in s.uses.iter().filter(|v| !inside(v)) {
                if names.contains_key(v) {
                    continue;
                }
                if let (Some(buffer), Some(at)) = (self.of.get(v), at) {
                    let data = lower.tile.value(*v).clone();
                    let to = lower.add(&data.name, data.shape, Origin::Let);
                    lower.push(StmtKind::Load {
                        to,
                        from: Memory::Buffer(self.buffers[*buffer]),
                        at,
                        under: None,
                        proof: self.most,
                    });
                    names.insert(*v, to);
                }
            }
            let mut kind = s.stmt.kind.clone();
            if s.free {
                s.defs.iter().for_each(|(v, _)| {
                    self.name(lower, *v, &mut names);
                });
            }
            kind.each_value_mut(&mut |v| *v = names.get(v).copied().unwrap_or(*v));
            lower.push(kind);
            done.insert(i);
            for (v, shape) in s.defs.iter().filter(|_| !s.free) {
                if let (Some(buffer), Some(at)) = (self.of.get(v), at) {
                    lower.push(StmtKind::Store {
                        into: Memory::Buffer(self.buffers[*buffer]),
                        at,
                        value: (*v).into(),
                        under: None,
                        lanes: shape.lanes,
                        proof: self.most,
                    });
                }
            }
        }
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
