//! Statements, without what is known already: a value that another one is equal to, an element that was just stored.

use super::rows::{Row, Values, has_segment};
use super::words::{Number, Read, Words};
use crate::ir::{Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Value, changed, each_stmt};
use loop_lang::ir::{CombId, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// How far from each other steps may read for a line of the cache to have both.
const LINE: u64 = 8;

/// An access of an array that segments write.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RowAccess {
    pub(super) array: Var,
    pub(super) at: Number,
    /// In which part of a turn: in one, each step does all of it before the next one does.
    pub(super) part: usize,
    pub(super) is_store: bool,
}

/// An element, or neighbours, under a mask or not.
type Place = (Var, Number, u32, Option<Number>);

/// What was stored in this list of statements, and where in it, if nothing has looked at memory since.
struct Stored {
    value: Operand,
    at: Option<usize>,
}

pub(super) struct Emit {
    pub(super) values: Values,
    pub(super) words: Words,
    /// Values in whose place others stand.
    pub(super) alias: FxHashMap<Value, Value>,
    /// Values by their numbers, in the bodies that are open.
    known: Vec<FxHashMap<Number, Vec<Value>>>,
    pub(super) out: Vec<Stmt>,
    pub(super) comb: CombId,
    /// Arrays that a step writes.
    written: FxHashSet<Var>,
    /// Whose step it is that is written.
    pub(super) row: usize,
    /// In a segment: the capacities of each step's segment among those of all.
    pub(super) capacities: Vec<Vec<usize>>,
    /// The part of the turn that is written, and the numbers of lanes in parts.
    pub(super) part: usize,
    pub(super) lanes: FxHashMap<usize, Number>,
    pub(super) accesses: FxHashSet<RowAccess>,
    /// The arrays of those that came before what is behind the segment.
    pub(super) met: FxHashSet<Var>,
    stored: FxHashMap<Place, Stored>,
    gathers: Vec<(usize, Var, Number)>,
    /// How much steps have in common.
    pub(super) common: usize,
    /// Where each step's segment begins and ends.
    pub(super) ranges: Vec<(Operand, Operand)>,
}

impl Emit {
    /// For the steps of a root; none if these do what is not done side by side.
    pub(super) fn of(values: Values, body: &[Stmt]) -> Option<Emit> {
        let (mut says, mut written) = (true, FxHashSet::default());
        each_stmt(body, &mut |s| {
            says &= is_plain(&s.kind);
            if let StmtKind::Store {
                into: Memory::Array(a),
                ..
            } = &s.kind
            {
                written.insert(*a);
            }
        });
        says.then(|| Emit {
            values,
            words: Words::default(),
            alias: FxHashMap::default(),
            known: vec![FxHashMap::default()],
            out: Vec::new(),
            comb: CombId::new(0),
            written,
            row: 0,
            capacities: Vec::new(),
            part: 0,
            lanes: FxHashMap::default(),
            accesses: FxHashSet::default(),
            met: FxHashSet::default(),
            stored: FxHashMap::default(),
            gathers: Vec::new(),
            common: 0,
            ranges: Vec::new(),
        })
    }

    /// The steps, with one segment.
    pub(super) fn rows(&mut self, rows: Vec<Row>) -> Option<()> {
        let (mut segments, mut behind) = (Vec::new(), Vec::new());
        for row in rows {
            self.ranges.push(range_of(&row.segment)?);
            self.row = self.ranges.len() - 1;
            row.before.into_iter().try_for_each(|s| self.emit(s))?;
            segments.push(row.segment);
            behind.push(row.behind);
        }
        self.segments(segments)?;
        let before = std::mem::take(&mut self.accesses);
        self.met.extend(before.iter().map(|a| a.array));
        for (row, behind) in behind.into_iter().enumerate() {
            self.row = row;
            behind.into_iter().try_for_each(|s| self.emit(s))?;
        }
        // What is behind a step's segment comes behind those of the others now.
        let met = |a: &RowAccess| self.met.contains(&a.array);
        (!self.accesses.iter().any(met)).then_some(())
    }

    /// All that was written, if the steps have something in common.
    pub(super) fn end(&mut self) -> Option<Vec<Stmt>> {
        let body = std::mem::take(&mut self.out).into_iter();
        (self.common > 0).then(|| body.filter(|s| !is_dropped(&s.kind)).collect())
    }

    pub(super) fn set(&mut self, to: Value, value: Value) {
        let value = self.real(value.into());
        self.push(StmtKind::Set { to, value });
    }

    pub(super) fn push(&mut self, kind: StmtKind) {
        self.out.push(Stmt {
            comb: self.comb,
            kind,
        });
    }

    /// What stands in an operand's place.
    pub(super) fn real(&self, a: Operand) -> Operand {
        match a {
            Operand::Value(v) => Operand::Value(*self.alias.get(&v).unwrap_or(&v)),
            a => a,
        }
    }

    /// `let name = op args`.
    pub(super) fn op(&mut self, name: &str, op: Op, args: &[Operand]) -> Value {
        let shape = Shape::scalar(Ty::U64);
        let number = self.words.op(op, shape, args);
        let to = self.values.add(name, shape, Origin::Let);
        let args = args.iter().copied().collect();
        self.push(StmtKind::Let { to, op, args });
        self.knows(number, to);
        to
    }

    /// A value with this number in the place of another one: that of a step before, if it is there.
    fn known_as(&self, number: Number, like: Value) -> Option<Value> {
        let tile = &self.values.tile;
        let known = self.known.iter().rev().filter_map(|k| k.get(&number));
        let known = known.flatten().copied();
        let known = || known.clone().filter(|v| tile.shape(*v) == tile.shape(like));
        let alike = known().find(|v| self.values.are_alike(*v, like));
        alike.or_else(|| known().next())
    }

    /// A value has a number from here on, in this body.
    fn knows(&mut self, number: Number, v: Value) {
        self.words.is(v, number);
        if let Some(known) = self.known.last_mut() {
            known.entry(number).or_default().push(v);
        }
    }

    /// Some statements in a body of their own, in which nothing is as it was of what the loop around sets.
    pub(super) fn body(
        &mut self,
        changed: &[Value],
        write: impl FnOnce(&mut Emit) -> Option<()>,
    ) -> Option<Vec<Stmt>> {
        let around = (
            std::mem::take(&mut self.out),
            std::mem::take(&mut self.stored),
        );
        self.known.push(FxHashMap::default());
        changed.iter().for_each(|v| _ = self.words.is_new(*v));
        write(self)?;
        changed.iter().for_each(|v| _ = self.words.is_new(*v));
        self.known.pop();
        let body = std::mem::replace(&mut self.out, around.0);
        self.stored = around.1;
        // What the body has stored is not what was stored before it.
        self.stored.clear();
        Some(body.into_iter().filter(|s| !is_dropped(&s.kind)).collect())
    }

    /// A statement of a step.
    pub(super) fn emit(&mut self, mut s: Stmt) -> Option<()> {
        self.comb = s.comb;
        let alias = &self.alias;
        s.kind
            .each_value_mut(&mut |v| *v = *alias.get(v).unwrap_or(v));
        match s.kind {
            StmtKind::Let { to, op, ref args } => {
                let number = match (op, &args[..]) {
                    // A segment goes up: where it ends is the larger one of both, or nothing was done.
                    (Op::Max, [a, b]) if self.is_range(*a, *b) => self.words.of(*b),
                    _ => self.words.op(op, self.values.tile.shape(to), args),
                };
                self.define(to, number, s.kind);
            }
            StmtKind::Positions { to, from } => {
                let from = self.words.of(from);
                let read = Read::Positions(self.values.tile.shape(to), from);
                let number = self.words.read(read);
                self.define(to, number, s.kind);
            }
            StmtKind::Until { to, at, end } => {
                let (at, end) = (self.words.of(at), self.words.of(end));
                let read = Read::Until(self.values.tile.shape(to), at, end);
                let number = self.words.read(read);
                self.define(to, number, s.kind);
            }
            StmtKind::Length { to, array } => {
                let number = self.words.read(Read::Length(array));
                self.define(to, number, s.kind);
            }
            StmtKind::Gather {
                to,
                array,
                at,
                apart: None,
            } => {
                if self.written.contains(&array) {
                    return None;
                }
                let at = self.words.of(at);
                self.shares_lines(array, at);
                let read = Read::Gather(array, self.values.tile.shape(to), at);
                let number = self.words.read(read);
                let is_known = self.define(to, number, s.kind);
                self.common += usize::from(is_known && self.row > 0);
            }
            StmtKind::Load {
                to,
                from: Memory::Array(array),
                at,
                under,
                ref mut proof,
            } => {
                self.place(proof)?;
                let shape = self.values.tile.shape(to);
                let (at, under) = (self.words.of(at), under.map(|m| self.words.of(m)));
                if self.written.contains(&array) {
                    self.accesses.insert(RowAccess {
                        array,
                        at,
                        part: self.part,
                        is_store: false,
                    });
                    let place = (array, at, shape.lanes, under);
                    let stored = self.stored.get(&place).and_then(|s| s.value.value());
                    if let Some(v) = stored.filter(|v| self.values.tile.shape(*v) == shape) {
                        self.alias.insert(to, v);
                        self.common += 1;
                        return Some(());
                    }
                    // It sees what was stored in this array.
                    let stored = self.stored.iter_mut().filter(|(place, _)| place.0 == array);
                    stored.for_each(|(_, s)| s.at = None);
                    self.words.is_new(to);
                    self.out.push(s);
                    return Some(());
                }
                let number = self.words.read(Read::Load(array, shape, at, under));
                let in_segment = !self.capacities.is_empty();
                let is_known = self.define(to, number, s.kind);
                self.common += usize::from(is_known && in_segment && self.row > 0);
            }
            StmtKind::Store {
                into: Memory::Array(array),
                at,
                value,
                under,
                lanes,
                ref mut proof,
            } => {
                self.place(proof)?;
                let (at, under) = (self.words.of(at), under.map(|m| self.words.of(m)));
                self.accesses.insert(RowAccess {
                    array,
                    at,
                    part: self.part,
                    is_store: true,
                });
                let stored = Stored {
                    value,
                    at: Some(self.out.len()),
                };
                let last = self.stored.insert((array, at, lanes, under), stored);
                // Nobody has seen what was there before.
                if let Some(at) = last.and_then(|s| s.at) {
                    drop_stmt(&mut self.out[at].kind);
                }
                self.out.push(s);
            }
            StmtKind::Set { to, .. } => {
                self.words.is_new(to);
                self.out.push(s);
            }
            StmtKind::For {
                counter,
                from,
                to,
                step,
                unroll,
                body,
            } => {
                let body = self.body(&changed(&body), |emit| {
                    body.into_iter().try_for_each(|s| emit.emit(s))
                })?;
                self.comb = s.comb;
                self.push(StmtKind::For {
                    counter,
                    from,
                    to,
                    step,
                    unroll,
                    body,
                });
            }
            StmtKind::If { cond, then, other } => {
                let mut arms = [then, other].into_iter().map(|arm| {
                    self.body(&changed(&arm), |emit| {
                        arm.into_iter().try_for_each(|s| emit.emit(s))
                    })
                });
                let (then, other) = (arms.next()??, arms.next()??);
                self.comb = s.comb;
                self.push(StmtKind::If { cond, then, other });
            }
            _ => {
                let changed = s.kind.target().into_iter().chain(s.kind.own());
                changed.for_each(|v| _ = self.words.is_new(v));
                self.out.push(s);
            }
        }
        Some(())
    }

    /// A value, unless a step before has one with its number: whether it has.
    fn define(&mut self, to: Value, number: Number, kind: StmtKind) -> bool {
        let known = self.known_as(number, to);
        match known.filter(|_| self.row > 0) {
            Some(known) => {
                self.alias.insert(to, known);
                true
            }
            None => {
                self.push(kind);
                self.knows(number, to);
                false
            }
        }
    }

    /// Whether a segment of the step goes from the one to the other.
    fn is_range(&mut self, a: Operand, b: Operand) -> bool {
        let Some((from, to)) = self.ranges.get(self.row).copied() else {
            return false;
        };
        let is = |words: &mut Words, x: Operand, y: Operand| words.of(x) == words.of(y);
        let (from, to) = (self.real(from), self.real(to));
        is(&mut self.words, from, a) && is(&mut self.words, to, b)
    }

    /// The capacity of an access among those of all steps.
    fn place(&self, proof: &mut Proof) -> Option<()> {
        if let Proof::Capacity(at) = proof {
            *proof = Proof::Capacity(*self.capacities.get(self.row)?.get(*at)?);
        }
        Some(())
    }

    /// Steps that read near each other, each far from what it reads next, read lines in common.
    fn shares_lines(&mut self, array: Var, at: Number) {
        let at_word = self.words.word(at);
        let near = |(row, of, other): &(usize, Var, Number)| {
            let distance = at_word.plus(u64::MAX, &self.words.word(*other));
            let literal = distance.literal();
            let near = literal.is_some_and(|d| d <= LINE || d.wrapping_neg() <= LINE);
            (*row, *of) == (0, array) && near
        };
        let others = self.row > 0 && self.gathers.iter().any(near);
        self.common += usize::from(others);
        self.gathers.push((self.row, array, at));
    }
}

/// What is done side by side.
fn is_plain(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Load { from: memory, .. } | StmtKind::Store { into: memory, .. } => {
            matches!(memory, Memory::Array(_) | Memory::Register(_))
        }
        StmtKind::Let { .. }
        | StmtKind::Beat { .. }
        | StmtKind::Positions { .. }
        | StmtKind::Until { .. }
        | StmtKind::Gather { apart: None, .. }
        | StmtKind::Length { .. }
        | StmtKind::Count { .. }
        | StmtKind::Any { .. }
        | StmtKind::Last { .. }
        | StmtKind::Reverse { .. }
        | StmtKind::Halves { .. }
        | StmtKind::Set { .. }
        | StmtKind::For { .. }
        | StmtKind::If { .. } => true,
        StmtKind::Segment {
            aligned,
            again,
            scalar_epilogue,
            body,
            epilogue,
            ..
        } => {
            let inner = body.iter().chain(epilogue);
            let has_segments = inner.into_iter().any(|s| has_segment(&s.kind));
            !aligned && !again && scalar_epilogue.is_empty() && !has_segments
        }
        _ => false,
    }
}

/// Where the segment in a statement begins and ends.
fn range_of(s: &Stmt) -> Option<(Operand, Operand)> {
    match &s.kind {
        StmtKind::Segment { from, to, .. } => Some((*from, *to)),
        kind => kind.bodies().into_iter().flatten().find_map(range_of),
    }
}

/// A statement that does nothing stands in its place.
fn drop_stmt(kind: &mut StmtKind) {
    *kind = StmtKind::If {
        cond: Operand::Const(loop_lang::types::Const::bool(false)),
        then: Vec::new(),
        other: Vec::new(),
    };
}

fn is_dropped(kind: &StmtKind) -> bool {
    matches!(kind, StmtKind::If { then, other, .. } if then.is_empty() && other.is_empty())
}
