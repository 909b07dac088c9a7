//! Rows side by side: as many iterations of a root as a vector has lanes, each with its own row.
//!
//! Rows of few elements do not fill vectors, and each of them ends with joins of lanes. But inner loops of equal length
//! are at the same element in all rows. So each lane of a vector takes a row:
//!
//! ```text
//! for strip in from .. end step 8
//!   segment fits in ix .. ix + 8 * length
//!   for element in 0 .. length
//!     let x: f64x8 = gather xs[ix_each + element]
//!     store x8 acc[element & 15] = acc[element & 15] + x
//! ```
//!
//! A group's lanes are vectors then, and so are their joins. A segment without steps of its own takes the steps of all
//! rows from the span.
//!
//! A *word* is an index as a sum, with its difference from one row to the next. Words without a difference stay
//! scalars; those that differ by one are neighbours in memory.

use super::Lower;
use super::nest::groups_of;
use crate::ir::{Entry, Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind, Sum, Value};
use crate::region::{InnerLoop, Nest, NestPart};
use loop_lang::ir::{Atom, Combine, GroupId, Order, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Rows of more elements are taken one by one: vectors in a row read neighbours, and rows side by side lie apart. Sums of
/// scans of rows take 0.97 ns a number side by side where rows have 32, and 1.6 one by one; with 48 they take 1.6 and
/// 1.1 (C, AVX-512, Zen 5).
const MAX_ELEMENTS: u64 = 32;

/// Rows side by side, being written.
#[derive(Default)]
pub(super) struct Rows {
    words: FxHashMap<Var, Word>,
    /// The state of each variable that begins anew in a row.
    kept: FxHashMap<Var, RowState>,
    /// The length of each inner loop, by its counter.
    lengths: FxHashMap<Var, Operand>,
    /// The element's number in its row, within an inner loop.
    element: Option<Value>,
    /// The values of variables after the element.
    next: Vec<(Var, Operand)>,
}

/// Where a variable is that begins anew in each row.
#[derive(Clone, Copy)]
enum RowState {
    /// In a register.
    One(Value),
    /// In lanes, of which an element has the one of its number.
    Lanes {
        /// All of them, a vector each.
        buffer: Value,
        /// Their number, a power of two.
        of: u32,
        /// The value that they are joined onto.
        start: Operand,
    },
    /// A scan.
    Scan(RowScan),
}

/// The state of a scan in a row.
#[derive(Clone, Copy)]
struct RowScan {
    now: Value,
    prefix: Operand,
    total: Value,
    /// The tree of the block under way; none for blocks of one element.
    tree: Option<Value>,
    block: u32,
}

/// A sum of scalars in wrapping arithmetic.
#[derive(Clone, PartialEq, Default)]
struct Linear {
    terms: BTreeMap<Value, i64>,
    plus: u64,
}

/// An index as a sum, and its difference from one row to the next.
#[derive(Clone, PartialEq, Default)]
struct Word {
    first: Linear,
    step: Linear,
}

impl Linear {
    fn of(a: Operand) -> Linear {
        match a {
            Operand::Const(c) => Linear::number(c.bits),
            Operand::Value(v) => Linear {
                terms: [(v, 1)].into(),
                plus: 0,
            },
        }
    }

    fn number(plus: u64) -> Linear {
        Linear {
            plus,
            ..Linear::default()
        }
    }

    fn plus(&self, times: i64, other: &Linear) -> Linear {
        let mut sum = self.clone();
        for (v, n) in &other.terms {
            let term = sum.terms.entry(*v).or_default();
            *term = term.wrapping_add(n.wrapping_mul(times));
        }
        sum.terms.retain(|_, n| *n != 0);
        sum.plus = sum.plus.wrapping_add(other.plus.wrapping_mul(times as u64));
        sum
    }
}

impl Word {
    fn plus(&self, times: i64, other: &Word) -> Word {
        Word {
            first: self.first.plus(times, &other.first),
            step: self.step.plus(times, &other.step),
        }
    }
}

impl<'r, 'a> Lower<'r, 'a> {
    /// Writes the tile of a root whose rows are side by side.
    pub(super) fn write_rows(&mut self, nest: &'r Nest<'a>) {
        self.nest = Some(nest);
        self.begin();
        let lanes = self.lane_vars();
        self.start(&lanes);
        self.rows = Some(Rows::default());
        let far = self.distances(nest);
        let around = std::mem::take(&mut self.out);
        let strip = self.add("strip", Shape::scalar(Ty::U64), Origin::Let);
        self.vector_at(strip, Lower::u64(0));
        let ends = self.make_rows_fit(nest, &far);
        self.begin_lanes(&lanes);
        for part in &nest.parts {
            match part {
                NestPart::Step(at) => self.at_step(*at),
                NestPart::Inner(k) => {
                    if let Some(inner) = self.region.inner_loop(nest.inner[*k]) {
                        self.elements(inner);
                    }
                }
            }
        }
        for (state, end) in ends {
            self.set(state, end);
        }
        let body = self.body(around);
        let step = self.granule();
        let range = self.range();
        self.for_(strip, range, step, false, body);
        self.rows = None;
        self.end(&lanes);
        self.tile.body = std::mem::take(&mut self.out);
    }

    fn rows(&mut self) -> &mut Rows {
        self.rows.get_or_insert_default()
    }

    /// Tells whether an inner loop of rows is written.
    pub(super) fn in_row(&self) -> bool {
        self.rows
            .as_ref()
            .is_some_and(|rows| rows.element.is_some())
    }

    /// The distance of each row's counter from that of the first row, for each inner loop.
    fn distances(&mut self, nest: &Nest<'a>) -> Vec<Operand> {
        let each = Shape::of(Ty::U64, self.lanes);
        let mut all = Vec::new();
        for inner in nest.inner_loops(self.region) {
            let length = self.region.row_length(inner);
            let length = length.map_or(Lower::u64(0), |length| self.operand(length));
            self.rows().lengths.insert(inner.counter, length);
            let apart = match nest.starts.contains(&inner.counter) {
                true => Lower::u64(0),
                false => length,
            };
            let rows = self.add("row_each", each, Origin::Let);
            let from = Lower::u64(0);
            self.push(StmtKind::Positions { to: rows, from });
            all.push(self.op("far", Ty::U64, Op::Mul, &[rows.into(), apart]));
        }
        all
    }

    /// Takes the steps of all rows from the span, and places the counters of inner loops. Long rows are left to other
    /// tiles. Returns the states of counters with their values after all rows.
    fn make_rows_fit(&mut self, nest: &Nest<'a>, far: &[Operand]) -> Vec<(Value, Operand)> {
        let at = self.at.unwrap_or(Lower::u64(0));
        let word = Word {
            first: Linear::of(at),
            step: Linear::number(1),
        };
        let root = self.inner_loop.counter;
        self.rows().words.insert(root, word);
        let inner = nest.inner_loops(self.region);
        for counter in inner.iter().map(|inner| inner.counter) {
            let few = [self.rows().lengths[&counter], Lower::u64(MAX_ELEMENTS)];
            let unless = self.op("few", Ty::Bool, Op::Le, &few);
            self.push(StmtKind::Leave { at, unless });
        }
        let mut ends = Vec::new();
        for (counter, far) in inner.iter().map(|inner| inner.counter).zip(far) {
            let length = self.rows().lengths[&counter];
            let rows = Lower::u64(u64::from(self.lanes));
            let all = self.op("all", Ty::U64, Op::Mul, &[length, rows]);
            let state = (!nest.starts.contains(&counter)).then(|| self.carried[&counter]);
            let (from, step) = match state {
                Some(state) => (state.into(), Linear::of(length)),
                None => (Lower::u64(0), Linear::default()),
            };
            let to = self.op("to", Ty::U64, Op::Add, &[from, all]);
            let fits = self.add("fits", Shape::scalar(Ty::U64), Origin::Let);
            self.push_steps(fits, (from, to, &[]), Vec::new());
            let first = Linear::of(from);
            self.rows().words.insert(counter, Word { first, step });
            let name = format!("{}_each", self.region.program.name(counter));
            let each = self.op(&name, Ty::U64, Op::Add, &[from, *far]);
            self.now.insert(counter, each);
            ends.extend(state.map(|state| (state, to)));
        }
        ends
    }

    /// The elements of the rows, one of each at a time.
    fn elements(&mut self, inner: &'r InnerLoop<'a>) {
        let root = std::mem::replace(&mut self.inner_loop, inner);
        let outer = (self.at, self.positions, self.turn.take());
        self.now.extend(outer.1.map(|each| (root.counter, each)));
        let counter = inner.counter;
        let most = [self.rows().lengths[&counter], Lower::u64(MAX_ELEMENTS)];
        let size = self.op("size", Ty::U64, Op::Min, &most);
        let element = self.add("element", Shape::scalar(Ty::U64), Origin::Let);
        let around = std::mem::take(&mut self.out);
        let begin = self.rows().words.get(&counter).cloned().unwrap_or_default();
        let mut word = begin.clone();
        word.first = word.first.plus(1, &Linear::of(element.into()));
        let name = self.region.program.name(counter).to_string();
        let each = self.now.get(&counter).copied().unwrap_or(Lower::u64(0));
        let here = self.op(&name, Ty::U64, Op::Add, &[each, element.into()]);
        (self.at, self.positions) = (None, Some(here));
        self.rows().element = Some(element);
        self.rows().words.insert(counter, word);
        let places = self.lanes_of_element(element);
        for at in 0..inner.steps.len() {
            self.at_step(at);
        }
        self.end_element(&places);
        let body = self.body(around);
        self.for_(element, (Lower::u64(0), size), 1, false, body);
        self.rows().element = None;
        (self.at, self.positions, self.turn) = outer;
        self.inner_loop = root;
        self.end_rows(inner, size);
        // Behind the row its counter is at the end.
        let length = self.rows().lengths[&counter];
        let mut end = begin;
        end.first = end.first.plus(1, &Linear::of(length));
        self.rows().words.insert(counter, end);
        let end = self.op(&name, Ty::U64, Op::Add, &[each, length]);
        self.now.insert(counter, end);
    }

    /// A variable begins anew in each row.
    pub(super) fn start_row(&mut self, v: Var, start: Operand) {
        let program = self.region.program;
        if self.rows().lengths.contains_key(&v) {
            return;
        }
        let shape = Shape::of(program.ty(v).elem(), self.lanes);
        let start = self.as_now(v, start);
        let group = program.group_of(v);
        let order = group.map(|g| program.groups[g.index()].order);
        let of = group.map_or(1, |g| self.lanes_of_group(g));
        let state = match order {
            Some(Order::Prefix(block)) => self.start_row_scan(v, block, start),
            Some(Order::Lanes(_)) if of > 1 => {
                let name = format!("{}_lanes", program.name(v));
                let all = Shape::of(shape.ty, of * self.lanes);
                let buffer = self.add(&name, all, Origin::Buffer);
                let nothing = self.identity(v);
                self.fill(buffer, nothing);
                RowState::Lanes { buffer, of, start }
            }
            Some(Order::Lanes(_)) => {
                let buffer = self.add(program.name(v), shape, Origin::Register);
                let nothing = self.identity(v);
                self.set(buffer, nothing);
                self.now.insert(v, buffer.into());
                RowState::Lanes {
                    buffer,
                    of: 1,
                    start,
                }
            }
            _ => {
                let register = self.add(program.name(v), shape, Origin::Register);
                self.set(register, start);
                self.now.insert(v, register.into());
                RowState::One(register)
            }
        };
        self.rows().kept.insert(v, state);
    }

    fn start_row_scan(&mut self, v: Var, block: u32, start: Operand) -> RowState {
        let program = self.region.program;
        let name = program.name(v);
        let shape = Shape::of(program.ty(v).elem(), self.lanes);
        let nothing = self.identity(v);
        let now = self.add(name, shape, Origin::Register);
        self.set(now, start);
        let total = self.add(&format!("{name}_total"), shape, Origin::Register);
        self.set(total, nothing);
        let entries = block.trailing_zeros();
        let tree = (entries > 0).then(|| {
            let all = Shape::of(shape.ty, entries.next_power_of_two() * self.lanes);
            let tree = self.add(&format!("{name}_tree"), all, Origin::Buffer);
            self.fill(tree, nothing);
            tree
        });
        self.now.insert(v, now.into());
        RowState::Scan(RowScan {
            now,
            prefix: start,
            total,
            tree,
            block,
        })
    }

    /// Stores a value in all of a buffer.
    fn fill(&mut self, buffer: Value, value: Operand) {
        let lanes = self.tile.shape(buffer).lanes;
        for k in 0..lanes / self.lanes {
            self.store(buffer, Lower::u64(u64::from(k * self.lanes)), value);
        }
    }

    fn store(&mut self, buffer: Value, at: Operand, value: Operand) {
        self.push(StmtKind::Store {
            into: Memory::Buffer(buffer),
            at,
            value,
            under: None,
            lanes: self.lanes,
            proof: Proof::Literal,
        });
    }

    fn load(&mut self, name: &str, buffer: Value, at: Operand) -> Operand {
        let shape = Shape::of(self.tile.shape(buffer).ty, self.lanes);
        let to = self.add(name, shape, Origin::Let);
        self.push(StmtKind::Load {
            to,
            from: Memory::Buffer(buffer),
            at,
            under: None,
            proof: Proof::Literal,
        });
        to.into()
    }

    /// Loads the lanes of the rows' elements of this number. Returns their places by the number of lanes.
    fn lanes_of_element(&mut self, element: Value) -> FxHashMap<u32, Operand> {
        let mut places: FxHashMap<u32, Operand> = FxHashMap::default();
        let lanes: Vec<(GroupId, Var)> = self.group_vars(|order| order.lanes().is_some()).collect();
        for (_, v) in lanes {
            let Some(RowState::Lanes { buffer, of, .. }) = self.rows().kept.get(&v).copied() else {
                continue;
            };
            if of == 1 {
                continue;
            }
            let at = match places.get(&of) {
                Some(at) => *at,
                None => {
                    let last = Lower::u64(u64::from(of - 1));
                    let lane = self.op("lane", Ty::U64, Op::And, &[element.into(), last]);
                    let rows = Lower::u64(u64::from(self.lanes));
                    self.op("lane", Ty::U64, Op::Mul, &[lane, rows])
                }
            };
            places.insert(of, at);
            let old = self.load(self.region.program.name(v), buffer, at);
            self.now.insert(v, old);
        }
        places
    }

    /// Notes the value of a variable after the element.
    pub(super) fn assign_in_row(&mut self, v: Var, a: Atom) {
        if v != self.inner_loop.counter {
            let value = self.operand(a);
            self.rows().next.push((v, value));
        }
    }

    /// The element is done: variables take their next values, all at once.
    fn end_element(&mut self, places: &FxHashMap<u32, Operand>) {
        let next = std::mem::take(&mut self.rows().next);
        let mut sets = Vec::new();
        for (v, value) in next {
            match self.rows().kept.get(&v).copied() {
                Some(RowState::Lanes { buffer, of, .. }) if of > 1 => {
                    self.store(buffer, places[&of], value);
                }
                Some(RowState::Lanes { buffer: to, .. } | RowState::One(to)) => {
                    sets.push((to, self.as_now(v, value)));
                }
                Some(RowState::Scan(scan)) => sets.push((scan.now, value)),
                None => {}
            }
        }
        for (to, value) in sets {
            self.set(to, value);
        }
    }

    /// Joins the lanes of each row's folds. The lanes that a short row does not reach hold nothing.
    fn end_rows(&mut self, inner: &InnerLoop<'a>, size: Operand) {
        let program = self.region.program;
        let lanes = inner.groups.iter().copied();
        let lanes: Vec<(GroupId, Var)> = lanes
            .filter(|g| program.groups[g.index()].order.lanes().is_some())
            .flat_map(|g| program.groups[g.index()].vars.iter().map(move |v| (g, *v)))
            .collect();
        for g in groups_of(&lanes) {
            let group = &program.groups[g.index()];
            let kept: Option<Vec<(Value, u32, Operand)>> = (group.vars.iter())
                .map(|v| match self.rows().kept.get(v) {
                    Some(RowState::Lanes { buffer, of, start }) => Some((*buffer, *of, *start)),
                    _ => None,
                })
                .collect();
            let Some(kept) = kept else { continue };
            let mut half = kept.first().map_or(1, |k| k.1) / 2;
            while half > 0 {
                self.join_half(group.combine, &kept, (half, size));
                half /= 2;
            }
            let come_to: Vec<Operand> = (kept.iter())
                .map(|(buffer, of, _)| match of {
                    1 => Operand::from(*buffer),
                    _ => self.load("joined", *buffer, Lower::u64(0)),
                })
                .collect();
            let starts: Vec<Operand> = kept.iter().map(|k| k.2).collect();
            let name = program.name(group.vars[0]).to_string();
            let totals = self.joined(group.combine, &name, &starts, &come_to);
            self.now.extend(group.vars.iter().copied().zip(totals));
        }
    }

    /// Joins the second half of some lanes onto the first, if rows reach it.
    fn join_half(
        &mut self,
        by: Option<Combine>,
        kept: &[(Value, u32, Operand)],
        (half, size): (u32, Operand),
    ) {
        let comb = self.comb;
        let cond = self.op("reach", Ty::Bool, Op::Gt, &[size, Lower::u64(half.into())]);
        let around = std::mem::take(&mut self.out);
        let lane = self.add("lane", Shape::scalar(Ty::U64), Origin::Let);
        let rows = Lower::u64(u64::from(self.lanes));
        let at = self.op("lane", Ty::U64, Op::Mul, &[lane.into(), rows]);
        let far = Lower::u64(u64::from(half * self.lanes));
        let behind = self.op("behind", Ty::U64, Op::Add, &[at, far]);
        let x: Vec<Operand> = kept.iter().map(|k| self.load("half", k.0, at)).collect();
        let y: Vec<Operand> = kept
            .iter()
            .map(|k| self.load("half", k.0, behind))
            .collect();
        let joined = self.joined(by, "half", &x, &y);
        for ((buffer, ..), joined) in kept.iter().zip(joined) {
            self.store(*buffer, at, joined);
        }
        let body: Vec<Stmt> = self.body(Vec::new());
        self.for_(
            lane,
            (Lower::u64(0), Lower::u64(half.into())),
            1,
            false,
            body,
        );
        let then = self.body(around);
        self.comb = comb;
        self.push(StmtKind::If {
            cond,
            then,
            other: Vec::new(),
        });
    }

    /// Elements are joined onto the scans of their rows. Each row is at a place of its own in its block.
    pub(super) fn scan_in_row(&mut self, results: &[Var], g: GroupId, elems: Vec<Operand>) {
        let program = self.region.program;
        let group = &program.groups[g.index()];
        let scans: Option<Vec<RowScan>> = (group.vars.iter())
            .map(|v| match self.rows().kept.get(v) {
                Some(RowState::Scan(scan)) => Some(*scan),
                _ => None,
            })
            .collect();
        let Some(scans) = scans else { return };
        let block = scans.first().map_or(1, |scan| scan.block);
        let last = Lower::u64(u64::from(block - 1));
        let place = match (block, self.positions) {
            (2.., Some(each)) => Some(self.op("place", Ty::U64, Op::And, &[each, last])),
            _ => None,
        };
        let mut sums = elems;
        for k in 0..block.trailing_zeros() {
            let Some(place) = place else { break };
            let bit = self.op("bit", Ty::U64, Op::And, &[place, Lower::u64(1 << k)]);
            let joins = self.op("joins", Ty::Bool, Op::Ne, &[bit, Lower::u64(0)]);
            let at = Lower::u64(u64::from(k * self.lanes));
            let trees = || scans.iter().filter_map(|scan| scan.tree);
            let before: Vec<Operand> = trees().map(|tree| self.load("before", tree, at)).collect();
            let joined = self.joined(group.combine, "joined", &before, &sums);
            for (k, tree) in trees().enumerate() {
                let ty = self.tile.shape(tree).ty;
                let kept = self.op("kept", ty, Op::Select, &[joins, before[k], sums[k]]);
                self.store(tree, at, kept);
                sums[k] = self.op("sum", ty, Op::Select, &[joins, joined[k], sums[k]]);
            }
        }
        let totals: Vec<Operand> = scans.iter().map(|scan| scan.total.into()).collect();
        let prefixes: Vec<Operand> = scans.iter().map(|scan| scan.prefix).collect();
        let ends = self.joined(group.combine, "chunk", &totals, &sums);
        let name = results.first().map_or("", |v| program.name(*v));
        let outs = self.joined(group.combine, name, &prefixes, &ends);
        for (k, scan) in scans.iter().enumerate() {
            let ty = self.tile.shape(scan.total).ty;
            let total = match place {
                Some(place) => {
                    let full = self.op("full", Ty::Bool, Op::Eq, &[place, last]);
                    self.op("total", ty, Op::Select, &[full, ends[k], totals[k]])
                }
                None => ends[k],
            };
            self.set(scan.total, total);
            self.rows().next.push((group.vars[k], outs[k]));
        }
        self.now.extend(results.iter().copied().zip(outs));
    }

    /// Computes an index by its word, or compares two; returns whether all rows have the same.
    pub(super) fn is_row_word(&mut self, v: Var, op: Op, of: &[Atom]) -> bool {
        let program = self.region.program;
        let known = |a: &Atom| {
            let rows = self.rows.as_ref();
            rows.zip(a.var())
                .is_some_and(|(rows, v)| rows.words.contains_key(&v))
        };
        if !of.iter().any(known) {
            return false;
        }
        let words: Option<Vec<Word>> = of.iter().map(|a| self.word(*a)).collect();
        let word = match (op, words.as_deref()) {
            // Words that differ alike between rows are equal in all rows or in none.
            (Op::Eq | Op::Ne, Some([a, b])) if a.step == b.step => {
                let name = program.name(v);
                let of = [&a.first, &b.first].map(|sum| self.linear(name, sum));
                let value = self.op(name, Ty::Bool, op, &of);
                self.now.insert(v, value);
                return true;
            }
            (Op::Add, Some([a, b])) => a.plus(1, b),
            (Op::Sub, Some([a, b])) => a.plus(-1, b),
            (Op::Copy, Some([a])) => a.clone(),
            _ => return false,
        };
        let same = word.step == Linear::default();
        if same {
            let value = self.linear(program.name(v), &word.first);
            self.now.insert(v, value);
        }
        self.rows().words.insert(v, word);
        same
    }

    /// The word of a scalar or of a variable that has one.
    fn word(&mut self, a: Atom) -> Option<Word> {
        if let Some(word) = a.var().and_then(|v| self.rows().words.get(&v)) {
            return Some(word.clone());
        }
        let now = self.operand(a);
        self.shape(now).is_scalar().then(|| Word {
            first: Linear::of(now),
            step: Linear::default(),
        })
    }

    /// Computes a sum.
    fn linear(&mut self, name: &str, sum: &Linear) -> Operand {
        let mut value: Option<Operand> = None;
        let (more, less): (Vec<_>, Vec<_>) = sum.terms.iter().partition(|(_, n)| **n > 0);
        for (v, n) in more.into_iter().chain(less) {
            let term = match n.unsigned_abs() {
                1 => Operand::from(*v),
                n => self.op(name, Ty::U64, Op::Mul, &[(*v).into(), Lower::u64(n)]),
            };
            value = Some(match (value, *n > 0) {
                (None, true) => term,
                (None, false) => self.op(name, Ty::U64, Op::Sub, &[Lower::u64(0), term]),
                (Some(value), true) => self.op(name, Ty::U64, Op::Add, &[value, term]),
                (Some(value), false) => self.op(name, Ty::U64, Op::Sub, &[value, term]),
            });
        }
        let plus = Lower::u64(sum.plus);
        match value {
            Some(value) if sum.plus == 0 => value,
            Some(value) => self.op(name, Ty::U64, Op::Add, &[value, plus]),
            None => plus,
        }
    }

    /// Reads an element of each row by the index's word: neighbours, if an entry can prove them, or elements at equal
    /// distances.
    pub(super) fn read_in_row(&mut self, v: Var, array: Var, index: Atom) -> bool {
        let (true, Some(index)) = (self.in_row(), index.var()) else {
            return false;
        };
        let Some(word) = self.rows().words.get(&index).cloned() else {
            return false;
        };
        if word.step == Linear::default() {
            return false;
        }
        let most = self.most_beyond(&word);
        let at = self.linear(self.region.program.name(index), &word.first);
        let to = self.define(v, self.lanes);
        let Some(most) = most else {
            let apart = Some(self.linear("apart", &word.step));
            self.push(StmtKind::Gather {
                to,
                array,
                at,
                apart,
            });
            return true;
        };
        let index = Sum::of(self.tile.counter).plus(1, &Sum::number(most));
        let entry = Entry::Capacity { array, index };
        let known = self.tile.entries.iter().position(|e| *e == entry);
        let proof = Proof::Entry(known.unwrap_or(self.tile.entries.len()));
        if known.is_none() {
            self.tile.entries.push(entry);
        }
        let from = Memory::Array(array);
        let under = None;
        self.push(StmtKind::Load {
            to,
            from,
            at,
            under,
            proof,
        });
        true
    }

    /// The largest distance of an index from the root's counter, if rows have neighbours, and in all of their elements.
    /// Rows that read beyond an array near its end are left to other tiles.
    fn most_beyond(&mut self, word: &Word) -> Option<u64> {
        let element = self.rows().element?;
        let root = self.tile.counter;
        let at = self.rows().words.get(&root)?.first.clone();
        let along = at.plus(1, &Linear::of(element.into()));
        let always = self.regions.is_empty() && word.step == Linear::number(1);
        match always {
            true if word.first.terms == at.terms => Some(word.first.plus),
            true if word.first.terms == along.terms => {
                word.first.plus.checked_add(MAX_ELEMENTS - 1)
            }
            _ => None,
        }
    }

    /// Scatters the values of the rows in their order.
    pub(super) fn scatter_rows(
        &mut self,
        arrays: &[Var],
        index: Atom,
        values: &[Atom],
        by: Option<Combine>,
    ) {
        let link = self.add("link", Shape::scalar(Ty::U64), Origin::Let);
        let around = std::mem::take(&mut self.out);
        let kept = (self.now.clone(), self.positions.take(), self.rows.take());
        let positions = kept.1;
        let counter = self.inner_loop.counter;
        for v in values.iter().chain([&index]).filter_map(|a| a.var()) {
            let all = match positions.filter(|_| v == counter) {
                Some(each) => each,
                None => self.operand(Atom::Var(v)),
            };
            let one = self.lane(all, link);
            self.now.insert(v, one);
        }
        let lanes = std::mem::replace(&mut self.lanes, 1);
        let at = self.now.get(&counter).copied();
        let at = std::mem::replace(&mut self.at, at);
        self.scatter(arrays, index, values, by);
        (self.lanes, self.at) = (lanes, at);
        let given = self.given_now();
        (self.now, self.positions, self.rows) = kept;
        self.now.extend(given);
        let body = self.body(around);
        self.for_(
            link,
            (Lower::u64(0), Lower::u64(lanes.into())),
            1,
            true,
            body,
        );
    }
}
