//! One segment for those of all steps.

use super::emit::{Emit, RowAccess};
use super::rows::has_segment;
use crate::ir::{Operand, Origin, Shape, Stmt, StmtKind, Value, changed};
use loop_lang::ir::Var;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

/// A segment of one step of the root, beside its counter.
struct RowPart {
    counter: Value,
    from: Operand,
    to: Operand,
    capacities: Vec<(Var, Operand)>,
    body: Vec<Stmt>,
    epilogue: Vec<Stmt>,
}

impl Emit {
    /// The segments of all steps, or the same arms with these in them.
    pub(super) fn segments(&mut self, all: Vec<Stmt>) -> Option<()> {
        let comb = all.first()?.comb;
        let mut arms: Vec<[Vec<Stmt>; 2]> = Vec::new();
        let mut parts: Vec<RowPart> = Vec::new();
        let (mut conds, mut how) = (Vec::new(), None);
        for s in all {
            match s.kind {
                StmtKind::If { cond, then, other } => {
                    conds.push(self.real(cond));
                    arms.push([then, other]);
                }
                StmtKind::Segment {
                    counter,
                    from,
                    to,
                    step,
                    single_trip,
                    capacities,
                    body,
                    epilogue,
                    ..
                } => {
                    how = Some((step, single_trip));
                    let (from, to) = (self.real(from), self.real(to));
                    let capacities = capacities.into_iter().map(|(a, at)| (a, self.real(at)));
                    parts.push(RowPart {
                        counter,
                        from,
                        to,
                        capacities: capacities.collect(),
                        body,
                        epilogue,
                    });
                }
                _ => return None,
            }
        }
        if let Some(how) = how {
            return self.one_segment(how, parts);
        }
        let cond = *conds.first()?;
        let number = self.words.of(cond);
        if !conds.into_iter().all(|c| self.words.of(c) == number) {
            return None;
        }
        let [then, other] = transposed(arms);
        let mut arms = [then, other].into_iter().map(|lists| {
            let set: Vec<Value> = lists.iter().flat_map(|list| changed(list)).collect();
            self.body(&set, |emit| emit.arm(lists))
        });
        let (then, other) = (arms.next()??, arms.next()??);
        self.comb = comb;
        self.push(StmtKind::If { cond, then, other });
        Some(())
    }

    /// What all steps do in an arm, with one segment.
    fn arm(&mut self, lists: Vec<Vec<Stmt>>) -> Option<()> {
        let first = lists.first()?;
        let mut with = (0..first.len()).filter(|at| has_segment(&first[*at].kind));
        let (at, None) = (with.next()?, with.next()) else {
            return None;
        };
        let (mut segments, mut behind) = (Vec::new(), Vec::new());
        for (row, mut list) in lists.into_iter().enumerate() {
            self.row = row;
            behind.push(list.split_off(at + 1));
            segments.push(list.pop()?);
            list.into_iter().try_for_each(|s| self.emit(s))?;
        }
        self.segments(segments)?;
        for (row, list) in behind.into_iter().enumerate() {
            self.row = row;
            list.into_iter().try_for_each(|s| self.emit(s))?;
        }
        Some(())
    }

    /// One segment, before which it is asked whether the steps of all fit.
    fn one_segment(&mut self, (step, single_trip): (u64, bool), parts: Vec<RowPart>) -> Option<()> {
        let (from, to) = parts.first().map(|p| (p.from, p.to))?;
        let length = self.words.distance(from, to);
        let mut same = parts.iter();
        if !same.all(|p| self.words.distance(p.from, p.to) == length) {
            return None;
        }
        let capacities = self.capacities_of_all(&parts);
        let before = self.accesses.clone();
        let comb = self.comb;
        self.make_fit(
            (from, to),
            &capacities,
            if single_trip {
                (step, true)
            } else {
                (1, false)
            },
        );
        // The others have as many steps each, and their capacities have been asked for.
        let size = self.op("size", Op::Sub, &[to, from]);
        let others = Const::u64(parts.len() as u64 - 1).into();
        let all = self.op("others", Op::Mul, &[size.into(), others]);
        let end = self.op("end", Op::Add, &[from, all.into()]);
        self.make_fit((from, end.into()), &[], (1, false));
        let counter = parts[0].counter;
        let begins: Vec<(Value, Operand)> = parts.iter().map(|p| (p.counter, p.from)).collect();
        let lists = parts.into_iter().map(|p| [p.body, p.epilogue]).collect();
        self.words.is_new(counter);
        let [body, epilogue] = transposed(lists);
        let mut turns = [body, epilogue].into_iter().map(|lists| {
            let set: Vec<Value> = lists.iter().flat_map(|list| changed(list)).collect();
            self.part = 0;
            self.body(&set, |emit| {
                emit.counters(&begins);
                emit.side_by_side(lists)
            })
        });
        let (body, epilogue) = (turns.next()??, turns.next()??);
        self.capacities.clear();
        if !self.accesses_are_apart(&length) {
            return None;
        }
        // In another arm there is another segment.
        let met = std::mem::replace(&mut self.accesses, before);
        self.met.extend(met.iter().map(|a| a.array));
        self.comb = comb;
        self.push(StmtKind::Segment {
            counter,
            from,
            to,
            step,
            aligned: false,
            single_trip,
            again: true,
            capacities,
            body,
            epilogue,
            scalar_epilogue: Vec::new(),
        });
        Some(())
    }

    /// A segment that does nothing: so many steps, and these capacities, fit behind it.
    fn make_fit(
        &mut self,
        (from, to): (Operand, Operand),
        capacities: &[(Var, Operand)],
        (step, single_trip): (u64, bool),
    ) {
        let shape = Shape::scalar(Ty::U64);
        let counter = self.values.add("fits", shape, Origin::Let);
        self.push(StmtKind::Segment {
            counter,
            from,
            to,
            step,
            aligned: false,
            single_trip,
            again: false,
            capacities: capacities.to_vec(),
            body: Vec::new(),
            epilogue: Vec::new(),
            scalar_epilogue: Vec::new(),
        });
    }

    /// The capacities of all steps' segments, each once; and which of them each step's are.
    fn capacities_of_all(&mut self, parts: &[RowPart]) -> Vec<(Var, Operand)> {
        let mut all: Vec<(Var, Operand)> = Vec::new();
        self.capacities = Vec::new();
        for part in parts {
            let mut places = Vec::new();
            for (array, at) in &part.capacities {
                let number = self.words.of(*at);
                let known = all
                    .iter()
                    .position(|(a, b)| a == array && self.words.of(*b) == number);
                places.push(known.unwrap_or(all.len()));
                if known.is_none() {
                    all.push((*array, *at));
                }
            }
            self.capacities.push(places);
        }
        all
    }

    /// The counters of the other steps' segments: where these begin, and how far the first one has come.
    fn counters(&mut self, begins: &[(Value, Operand)]) {
        let Some(((counter, from), others)) = begins.split_first() else {
            return;
        };
        let come = self.op("come", Op::Sub, &[(*counter).into(), *from]);
        for (other, begin) in others {
            let at = match self.words.of(*begin) == self.words.of(*from) {
                true => *counter,
                false => {
                    let name = self.values.tile.value(*other).name.clone();
                    self.op(&name, Op::Add, &[*begin, come.into()])
                }
            };
            self.alias.insert(*other, at);
        }
    }

    /// What all steps do in a turn: each body of all at once, and in it one step after the other.
    fn side_by_side(&mut self, lists: Vec<Vec<Stmt>>) -> Option<()> {
        let mut lists: Vec<_> = lists
            .into_iter()
            .map(|l| l.into_iter().peekable())
            .collect();
        loop {
            for (row, list) in lists.iter_mut().enumerate() {
                self.row = row;
                while let Some(s) = list.next_if(|s| s.kind.bodies().is_empty()) {
                    self.emit(s)?;
                }
            }
            let all: Vec<Stmt> = lists.iter_mut().filter_map(Iterator::next).collect();
            if all.is_empty() {
                return Some(());
            }
            (all.len() == lists.len()).then_some(())?;
            self.part += 1;
            self.in_one_body(all)?;
            self.part += 1;
        }
    }

    fn in_one_body(&mut self, all: Vec<Stmt>) -> Option<()> {
        let comb = all.first()?.comb;
        let (mut heads, mut bodies) = (Vec::new(), Vec::new());
        for s in all {
            match s.kind {
                StmtKind::For {
                    counter,
                    from,
                    to,
                    step,
                    unroll,
                    body,
                } => {
                    heads.push((counter, from, to, step, unroll));
                    bodies.push(body);
                }
                _ => return None,
            }
        }
        let (counter, from, to, step, unroll) = *heads.first()?;
        let same = |h: &(Value, Operand, Operand, u64, bool)| (h.1, h.2, h.3) == (from, to, step);
        let literal = |a: Operand| matches!(a, Operand::Const(_));
        if !heads.iter().all(same) || !literal(from) || !literal(to) {
            return None;
        }
        heads
            .iter()
            .skip(1)
            .for_each(|h| _ = self.alias.insert(h.0, counter));
        let set: Vec<Value> = bodies.iter().flat_map(|list| changed(list)).collect();
        // Lanes of turns and of epilogues are the same ones.
        let number = match self.lanes.get(&self.part) {
            Some(number) => *number,
            None => self.words.own(),
        };
        self.lanes.insert(self.part, number);
        let body = self.body(&set, |emit| {
            emit.words.is(counter, number);
            emit.side_by_side(bodies)
        })?;
        self.comb = comb;
        self.push(StmtKind::For {
            counter,
            from,
            to,
            step,
            unroll,
            body,
        });
        Some(())
    }

    /// Whether, of an array that is written, two accesses are of one element in the same step of both segments, or
    /// never.
    fn accesses_are_apart(&self, length: &super::words::Word) -> bool {
        let most = self.ranges.len() as u64;
        let apart = |a: &RowAccess, b: &RowAccess| {
            let (at, other) = (self.words.word(a.at), self.words.word(b.at));
            let distance = at.plus(u64::MAX, &other);
            match distance.multiple_of(length, most) {
                Some(0) => a.part == b.part,
                times => times.is_some(),
            }
        };
        let mut stores = self.accesses.iter().filter(|a| a.is_store);
        stores.all(|store| {
            let mut others = self.accesses.iter().filter(|a| a.array == store.array);
            others.all(|other| apart(store, other))
        })
    }
}

/// The first of all, and the second of all.
fn transposed(all: Vec<[Vec<Stmt>; 2]>) -> [Vec<Vec<Stmt>>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    for [first, second] in all {
        sides[0].push(first);
        sides[1].push(second);
    }
    sides
}
