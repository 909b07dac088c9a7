//! Rates: their counters and bounds, and updates of loop-carried values.

use super::Emission;
use super::elements::CountedSize;
use crate::fusion::ClassId;
use crate::lower::placement::{Capacity, Opening, Point, no_root};
use crate::lower::scope::InputColumn;
use crate::lower::{Lower, Source};
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Emission<'_> {
    /// Opens the root rate with a counter from 0 to `bound`.
    pub fn open_root(&mut self, comb: CombId, bound: Atom) {
        let counter = self.scalar("ix", comb, Ty::U64);
        let rate = self.new_rate(comb, RateKind::Root { counter, bound });
        self.program.roots.push(rate);
        self.count_up(comb, rate, counter, bound);
    }

    /// Opens a subrate.
    ///
    /// Its guard's test is added with [`Emission::exit`].
    pub fn open_sub(&mut self, comb: CombId, parent: RateId) -> RateId {
        let count = None;
        self.new_rate(comb, RateKind::Sub { parent, count })
    }

    /// Opens a rate over `len` further elements in each parent iteration.
    ///
    /// `uniform` means that `len` is the same in all iterations. The counter runs on from segment
    /// to segment.
    pub fn open_nested(
        &mut self,
        comb: CombId,
        parent: RateId,
        (len, uniform): (Atom, bool),
    ) -> RateId {
        let counter = self.scalar("ix", comb, Ty::U64);
        let end = self.scalar("end", comb, Ty::U64);
        let bound = end.into();
        let kind = RateKind::Nested {
            parent,
            counter,
            bound,
            uniform,
        };
        let rate = self.new_rate(comb, kind);
        let to = StmtKind::Let(end, Op::Add, Args::from_slice(&[counter.into(), len]));
        self.push(comb, Section::Nest, to);
        let next = self.count_up(comb, rate, counter, bound);
        let owner = self.owner();
        self.exact_group(counter, (owner, rate), (Op::Add, Const::u64(0)), next);
        rate
    }

    /// Opens a cursor over `bound` elements.
    pub fn open_cursor(&mut self, comb: CombId, parent: RateId, bound: Atom) -> RateId {
        let counter = self.scalar("ix", comb, Ty::U64);
        let kind = RateKind::Cursor {
            parent,
            counter,
            bound,
        };
        let rate = self.new_rate(comb, kind);
        self.count_up(comb, rate, counter, bound);
        rate
    }

    /// Adds a counter that starts at 0 and is tested in the guard. It is incremented in `bottom`,
    /// for a cursor in `yield`.
    fn count_up(&mut self, comb: CombId, rate: RateId, counter: Var, bound: Atom) -> Var {
        let (zero, one) = (Const::u64(0).into(), Const::u64(1).into());
        self.push(comb, Section::Init, StmtKind::Carry(counter, zero));
        let test = [counter.into(), bound];
        let more = self.emit(comb, Section::Guard, "more", Op::Lt, &test);
        self.exit(comb, more.into());
        // A cursor that delivers skips its bottom.
        let section = match self.program.rate(rate).kind {
            RateKind::Cursor { .. } => Section::Yield,
            _ => Section::Bottom,
        };
        let next = self.emit(comb, section, "nix", Op::Add, &[counter.into(), one]);
        self.update(comb, rate, counter, next.into());
        next
    }

    /// Adds a rate. The slot of the combinator that opens it is the rate's first stage.
    fn new_rate(&mut self, comb: CombId, kind: RateKind) -> RateId {
        let rate = RateId::new(self.program.rates.len());
        let name = self.rate_name(comb);
        let parts = Vec::new();
        self.program.rates.push(Rate { name, kind, parts });
        self.values.openers.push(comb);
        self.program.combs[comb.index()].slot = Some(Slot { rate, stage: 0 });
        rate
    }

    /// The name of a new rate: its combinator's name, with `r` before a number.
    fn rate_name(&self, comb: CombId) -> String {
        let name = &self.program.combs[comb.index()].name;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("r{name}")
        } else {
            name.clone()
        }
    }

    /// Returns the rate that owns values carried through the whole loop.
    ///
    /// This is the root: its `init` starts them.
    pub fn owner(&self) -> RateId {
        RateId::new(0)
    }

    /// Declares a loop-carried value under an operator with any order.
    ///
    /// The value starts at the operator's identity. `owner` is the rate that starts it; `step` is
    /// the rate that updates it.
    pub fn exact_group(
        &mut self,
        carried: Var,
        (owner, step): (RateId, RateId),
        (op, identity): (Op, Const),
        next: impl Into<Atom>,
    ) {
        self.group(Group {
            vars: vec![carried],
            owner,
            step,
            start: vec![identity.into()],
            identity: vec![identity.into()],
            next: vec![next.into()],
            combine: Some(Combine::Op(op)),
            level: 0,
            cycle: false,
            order: Order::Exact,
        });
    }

    /// Updates a loop-carried variable of a combinator that runs at `rate`.
    ///
    /// Loops update it in `bottom`; subrates and cursors in `yield`. Updates are the last
    /// statements of their section.
    pub fn update(&mut self, comb: CombId, rate: RateId, carried: Var, value: Atom) {
        // A cursor that delivers skips its bottom.
        let section = match self.program.rate(rate).kind {
            RateKind::Sub { .. } | RateKind::Cursor { .. } => Section::Yield,
            _ => Section::Bottom,
        };
        self.push_last(comb, section, StmtKind::Assign(carried, value));
    }

    /// Updates a loop-carried variable with a value from a child rate's guard.
    ///
    /// The update is in the stage after the child, so it runs for rejected elements too. Returns
    /// the rate of the update.
    pub fn update_behind(
        &mut self,
        id: NodeId,
        child: RateId,
        carried: Var,
        value: Atom,
    ) -> RateId {
        let tree = &self.placed.tree;
        let Some(point) = tree.child_point(child).and_then(|s| tree.stage_behind(s)) else {
            return child;
        };
        let comb = self.comb_at(id, point);
        self.update(comb, point.rate, carried, value);
        point.rate
    }

    /// Returns the index of the current element of a rate.
    ///
    /// It is a loop's counter, or a subrate's count. The count is added on first use.
    pub fn index(&mut self, rate: RateId) -> Var {
        let rate = self.placed.tree.elements_of(rate);
        match self.program.rate(rate).kind {
            RateKind::Root { counter, .. }
            | RateKind::Nested { counter, .. }
            | RateKind::Cursor { counter, .. } => counter,
            RateKind::Sub {
                count: Some(count), ..
            } => count,
            RateKind::Sub { parent, .. } if self.has_all(rate) => self.index(parent),
            RateKind::Sub { parent, .. } => self.count(rate, parent),
        }
    }

    /// Whether a subrate has every element of the root around it: its test is constantly true.
    fn has_all(&self, rate: RateId) -> bool {
        let tree = &self.placed.tree;
        let around = tree.parent(rate).map(|parent| tree.elements_of(parent));
        let root = around.filter(|around| tree.parent(*around).is_none());
        let decided = tree.rate(rate).class.zip(root);
        let decided = decided.and_then(|(class, root)| self.decision(class, root));
        decided == Some(Const::bool(true).into())
    }

    /// Returns the index of a column's element in a rate's current iteration.
    ///
    /// A column may be read from the end, or at another place of its segment.
    pub fn index_of(&mut self, column: InputColumn, rate: RateId) -> Lower<Atom> {
        let rate = self.placed.tree.elements_of(rate);
        let bound = self.program.rate(rate).kind.bound();
        let (Some(bound), true) = (bound, column.is_elsewhere()) else {
            return Ok(self.position(self.scope.class_of(column), rate));
        };
        let key = (rate, column.reversed, column.by);
        if let Some(known) = self.values.elsewhere.get(&key) {
            return Ok(*known);
        }
        let comb = self.values.openers[rate.index()];
        let one = Const::u64(1).into();
        let index = match self.program.rate(rate).kind {
            RateKind::Nested { .. } => {
                // The segment's beginning and the index within it. Earlier phases may have elements, too.
                let position = self.position(self.scope.class_of(column), rate);
                let first = match position == self.index(rate).into() {
                    true => {
                        let size = self.size_of_segment(rate)?;
                        self.emit(comb, Section::Nest, "first", Op::Sub, &[bound, size])
                    }
                    false => {
                        let args = [position, self.within_segment(rate)?];
                        self.emit(comb, Section::Body, "first", Op::Sub, &args)
                    }
                };
                let within = self.within_elsewhere(column, rate)?;
                self.emit(comb, Section::Body, "rix", Op::Add, &[first.into(), within])
            }
            _ => {
                let last = self.emit(comb, Section::Init, "last", Op::Sub, &[bound, one]);
                let args = [last.into(), self.index(rate).into()];
                self.emit(comb, Section::Body, "rix", Op::Sub, &args)
            }
        };
        self.values.elsewhere.insert(key, index.into());
        Ok(index.into())
    }

    /// Returns the index in a segment at which a column is read elsewhere.
    pub fn within_elsewhere(&mut self, column: InputColumn, rate: RateId) -> Lower<Atom> {
        let InputColumn { reversed, by, .. } = column;
        if by == 0 {
            return self.within_reversed(rate);
        }
        let rate = self.placed.tree.loop_rate(rate);
        let comb = self.values.openers[rate.index()];
        let (at, size) = (self.within_segment(rate)?, self.size_of_segment(rate)?);
        let (one, far) = (Const::u64(1).into(), Const::u64(by.unsigned_abs()).into());
        let last = self.emit(comb, Section::Nest, "last", Op::Sub, &[size, one]);
        let mut near =
            |op, args: [Atom; 2]| Atom::from(self.emit(comb, Section::Body, "near", op, &args));
        let place = if by < 0 {
            let back = near(Op::Min, [far, at]);
            near(Op::Sub, [at, back])
        } else {
            let there = near(Op::Add, [at, far]);
            near(Op::Min, [there, last.into()])
        };
        Ok(match reversed {
            true => near(Op::Sub, [last.into(), place]),
            false => place,
        })
    }

    /// Returns a nested rate's index within its segment, counted from the end.
    ///
    /// It is the last element's index in the first iteration, and 0 in the last one.
    pub fn within_reversed(&mut self, rate: RateId) -> Lower<Atom> {
        let rate = self.placed.tree.loop_rate(rate);
        let end = self.program.rate(rate).kind.bound().ok_or_else(no_root)?;
        let comb = self.values.openers[rate.index()];
        let one = Const::u64(1).into();
        let last = self.emit(comb, Section::Nest, "last", Op::Sub, &[end, one]);
        let args = [last.into(), self.index(rate).into()];
        let back = self.emit(comb, Section::Body, "back", Op::Sub, &args);
        Ok(back.into())
    }

    /// Adds the count of a subrate.
    fn count(&mut self, rate: RateId, parent: RateId) -> Var {
        let comb = self.values.openers[rate.index()];
        let count = self.scalar("ix", comb, Ty::U64);
        let (zero, one) = (Const::u64(0).into(), Const::u64(1).into());
        self.push(comb, Section::Init, StmtKind::Carry(count, zero));
        let next = self.scalar("nix", comb, Ty::U64);
        let add = StmtKind::Let(next, Op::Add, Args::from_slice(&[count.into(), one]));
        self.push_last(comb, Section::Yield, add);
        self.update(comb, rate, count, next.into());
        let counted = Some(count);
        self.program.rates[rate.index()].kind = RateKind::Sub {
            parent,
            count: counted,
        };
        let owner = self.owner();
        self.exact_group(count, (owner, rate), (Op::Add, Const::u64(0)), next);
        count
    }

    /// Returns the length of the current segment of a nested rate.
    pub fn size_of_segment(&self, rate: RateId) -> Lower<Atom> {
        let placed = self.placed.tree.rate(rate);
        let size = placed.class.zip(placed.parent);
        let size = size.and_then(|(class, around)| self.decision(class, around));
        size.ok_or_else(no_root)
    }

    /// Returns the index of a nested rate's current element within its segment.
    ///
    /// It is known in all of the rate's iteration.
    pub fn within_segment(&mut self, rate: RateId) -> Lower<Atom> {
        if let Some(known) = self.values.within.get(&rate) {
            return Ok(*known);
        }
        let end = self.program.rate(rate).kind.bound().ok_or_else(no_root)?;
        let size = self.size_of_segment(rate)?;
        let comb = self.values.openers[rate.index()];
        let first = self.emit(comb, Section::Nest, "first", Op::Sub, &[end, size]);
        let args = [self.index(rate).into(), first.into()];
        let at = self.emit(comb, Section::Body, "at", Op::Sub, &args).into();
        self.values.within.insert(rate, at);
        Ok(at)
    }

    /// Returns the index of the current element within its segment.
    ///
    /// It is known in the element's iteration. In a subrate, only admitted elements count.
    pub fn index_within(&mut self, id: NodeId, point: Point) -> Lower<Atom> {
        let owner = self.program.loop_rate(point.rate);
        match self.program.rate(point.rate).kind {
            RateKind::Nested { .. } => self.within_segment(owner),
            _ => Ok(self.count_within(id, (point, owner)).into()),
        }
    }

    /// Returns a counter of a rate's elements that restarts with every segment.
    pub fn count_within(&mut self, id: NodeId, (point, owner): (Point, RateId)) -> Var {
        let comb = self.comb_at(id, point);
        if let Some(known) = self.values.counts.get(&point.rate) {
            return *known;
        }
        let (zero, one): (Atom, Atom) = (Const::u64(0).into(), Const::u64(1).into());
        let n = self.scalar("n", comb, Ty::U64);
        self.values.counts.insert(point.rate, n);
        let begins = if self.is_cursor(owner) {
            self.begins_anew(owner, n, zero);
            Section::Init
        } else {
            Section::Nest
        };
        self.push(comb, begins, StmtKind::Carry(n, zero));
        let next = self.emit(comb, Section::Yield, "next", Op::Add, &[n.into(), one]);
        self.update(comb, point.rate, n, next.into());
        match begins {
            Section::Init => self.sequential(n, owner, zero, next.into()),
            _ => self.exact_group(n, (owner, point.rate), (Op::Add, Const::u64(0)), next),
        }
        n
    }

    /// Returns the selection of a class in a rate.
    ///
    /// This is a test or a length. A rate with a liveness guard inherits it from the rate around.
    pub fn decision(&self, class: ClassId, rate: RateId) -> Option<Atom> {
        let tree = &self.placed.tree;
        let lives = |r: &RateId| matches!(tree.rate(*r).opening, Opening::While(_));
        let up = |r: &RateId| tree.parent(*r).filter(|_| lives(r));
        let mut around = std::iter::successors(Some(rate), up);
        around.find_map(|r| self.values.tests.get(&(class, r)).copied())
    }

    /// Returns the capacity of an array, as an atom of `init`.
    ///
    /// `most` is an upper bound of the needed capacity, if known.
    pub fn capacity(&mut self, capacity: Capacity, by: CombId, most: Option<Atom>) -> Atom {
        let none: Atom = Const::u64(0).into();
        match capacity {
            Capacity::Bound(rate) => self.program.rate(rate).kind.bound().unwrap_or(none),
            Capacity::Rows(rate) => self.values.rows.get(&rate).map_or(none, |r| r.elements),
            // Without rows their length may be any number.
            Capacity::Row(rate) => match self.values.rows.get(&rate).copied() {
                Some(rows) => {
                    let lengths = [rows.length, rows.elements];
                    self.emit(by, Section::Init, "size", Op::Min, &lengths)
                        .into()
                }
                None => none,
            },
            Capacity::Array(leaf) => self.scalar_param(Source::Length(leaf), "len", by, Ty::U64),
            Capacity::Counted(rate) => {
                let size = self.size(rate, by, most);
                self.scalar_param(Source::Size(size as u32), "len", by, Ty::U64)
            }
        }
    }

    /// The index of a rate's count among the results of the sizing loop. `most` is an upper bound
    /// of the needed capacity.
    fn size(&mut self, rate: RateId, by: CombId, most: Option<Atom>) -> usize {
        let Some(known) = self.values.sizes.iter().position(|s| s.rate == rate) else {
            let counted = self.index(rate).into();
            self.values.sizes.push(CountedSize {
                rate,
                counted,
                most,
            });
            return self.values.sizes.len() - 1;
        };
        let both = self.values.sizes[known].most.zip(most);
        self.values.sizes[known].most = both.map(|(a, b)| match a == b {
            true => a,
            false => self
                .emit(by, Section::Init, "most", Op::Max, &[a, b])
                .into(),
        });
        known
    }

    /// Adds a flag that tells whether a cursor has a further element.
    ///
    /// It is used after the cursor.
    pub fn live(&mut self, comb: CombId, rate: RateId) {
        let (yes, no): (Atom, Atom) = (Const::bool(true).into(), Const::bool(false).into());
        let live = self.scalar("live", comb, Ty::Bool);
        self.push(comb, Section::Init, StmtKind::Carry(live, yes));
        let kind = StmtKind::Assign(live, no);
        self.push_after(comb, Stmt { comb, kind });
        self.sequential(live, rate, yes, no);
        self.values.live.insert(rate, live);
    }

    /// Carries the last value that a cursor delivered, for use after the cursor.
    pub fn delivered(&mut self, comb: CombId, rate: RateId, value: Atom) -> Var {
        let ty = self.program.atom_ty(value);
        let zero: Atom = Const::zero(ty).into();
        let val = self.scalar("val", comb, ty);
        self.push(comb, Section::Init, StmtKind::Carry(val, zero));
        self.update(comb, rate, val, value);
        self.sequential(val, rate, zero, value);
        val
    }

    /// Returns whether a rate is advanced on demand.
    pub fn is_cursor(&self, rate: RateId) -> bool {
        matches!(self.program.rate(rate).kind, RateKind::Cursor { .. })
    }

    /// Returns whether a rate is advanced on demand, or is within a cursor.
    pub fn is_in_cursor(&self, rate: RateId) -> bool {
        let up = |r: &RateId| self.placed.tree.parent(*r);
        std::iter::successors(Some(rate), up).any(|r| self.is_cursor(r))
    }

    /// Declares a loop-carried value that is updated in iteration order.
    pub fn sequential(&mut self, var: Var, step: RateId, start: Atom, next: Atom) {
        self.group(Group {
            vars: vec![var],
            owner: self.owner(),
            step,
            start: vec![start],
            identity: vec![],
            next: vec![next],
            combine: None,
            level: 0,
            cycle: false,
            order: Order::Sequential,
        });
    }
}
