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
//! | module | contents |
//! | --- | --- |
//! | `folds` | the states of rows |
//! | `words` | indices, and reads by them |

mod folds;
mod words;

use super::Lower;
use crate::ir::{Operand, Origin, Shape, StmtKind, Value};
use crate::region::{InnerLoop, Nest, NestPart};
use folds::RowState;
use loop_lang::ir::{Atom, Combine, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use words::{Linear, RowIndex};

/// Rows of more elements are taken one by one: vectors in a row read neighbours, and rows side by side lie apart.
/// Maxima of scans of rows take 1.0 ns a number side by side where rows have 32, and 1.6 one by one; with 48 they take
/// 1.6 and 1.1 (C, AVX-512, Zen 5, two threads of other work beside).
const MAX_ELEMENTS: u64 = 32;

/// Rows side by side, being written.
#[derive(Default)]
pub(super) struct Rows {
    words: FxHashMap<Var, RowIndex>,
    /// The state of each variable that begins anew in a row.
    kept: FxHashMap<Var, RowState>,
    /// The length of each inner loop, by its counter.
    lengths: FxHashMap<Var, Operand>,
    /// The element's number in its row, within an inner loop.
    element: Option<Value>,
    /// The values of variables after the element.
    next: Vec<(Var, Operand)>,
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
        let word = RowIndex {
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
            self.rows().words.insert(counter, RowIndex { first, step });
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

    /// Notes the value of a variable after the element.
    pub(super) fn assign_in_row(&mut self, v: Var, a: Atom) {
        if v != self.inner_loop.counter {
            let value = self.operand(a);
            self.rows().next.push((v, value));
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
