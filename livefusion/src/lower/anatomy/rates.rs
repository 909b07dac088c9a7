//! Rates: the root that a loop runs over, the rates below it, their counters and updates.

use super::instances::no_root;
use super::{Anatomy, Lower, Spot, Told};
use crate::ast::Kind;
use crate::fusion::ClassId;
use crate::lower::Source;
use crate::sharing::NodeId;
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::ops::Range;

impl Anatomy<'_> {
    /// Opens the root rate: a counter from 0 to `bound`.
    pub fn open_root(&mut self, comb: CombId, bound: Atom) -> RateId {
        let class = self.plan.loops[self.at].root;
        let counter = self.scalar("ix", comb, Ty::U64);
        let rate = self.new_rate(comb, RateKind::Root { counter, bound }, class);
        self.program.roots.push(rate);
        self.root = Some(rate);
        self.count_up(comb, rate, counter, bound);
        rate
    }

    /// Opens a subrate. Its guard's test is added with [`Anatomy::exit`].
    pub fn open_sub(&mut self, comb: CombId, parent: RateId, class: ClassId) -> RateId {
        let kind = RateKind::Sub {
            parent,
            count: None,
        };
        self.new_rate(comb, kind, Some(class))
    }

    /// Opens a rate that runs over `len` further elements in each iteration of the parent. Its counter
    /// runs on from segment to segment. The result is the rate, and where its current segment ends.
    pub fn open_nested(
        &mut self,
        comb: CombId,
        parent: RateId,
        class: ClassId,
        len: Atom,
    ) -> RateId {
        let counter = self.scalar("ix", comb, Ty::U64);
        let end = self.scalar("end", comb, Ty::U64);
        let bound = end.into();
        let kind = RateKind::Nested {
            parent,
            counter,
            bound,
        };
        let rate = self.new_rate(comb, kind, Some(class));
        let to = StmtKind::Let(end, Op::Add, Args::from_slice(&[counter.into(), len]));
        self.push(comb, Section::Nest, to);
        let next = self.count_up(comb, rate, counter, bound);
        let owner = self.owner();
        self.exact_group(counter, (owner, rate), (Op::Add, Const::u64(0)), next);
        rate
    }

    /// Declares a carried value under an operator for which the order does not matter, from its identity
    /// on: of which rate it is, and at which rate it is updated.
    pub fn exact_group(
        &mut self,
        carried: Var,
        (owner, step): (RateId, RateId),
        (op, identity): (Op, Const),
        next: Var,
    ) {
        self.program.groups.push(Group {
            vars: vec![carried],
            owner,
            step,
            start: vec![identity.into()],
            identity: vec![identity.into()],
            next: vec![next.into()],
            combine: Some(Combine::Op(op)),
            level: 0,
            order: Order::Exact,
        });
    }

    /// A counter that starts at 0, is tested in the guard, and goes up at the bottom (a cursor's, in `yield`).
    pub(super) fn count_up(
        &mut self,
        comb: CombId,
        rate: RateId,
        counter: Var,
        bound: Atom,
    ) -> Var {
        let (zero, one) = (Const::u64(0).into(), Const::u64(1).into());
        self.push(comb, Section::Init, StmtKind::Carry(counter, zero));
        let more = self.emit(
            comb,
            Section::Guard,
            "more",
            Op::Lt,
            &[counter.into(), bound],
        );
        self.exit(comb, more.into());
        // Where a cursor delivers, its bottom is skipped.
        let section = match self.program.rate(rate).kind {
            RateKind::Cursor { .. } => Section::Yield,
            _ => Section::Bottom,
        };
        let next = self.emit(comb, section, "nix", Op::Add, &[counter.into(), one]);
        self.update(comb, rate, counter, next.into());
        next
    }

    pub(super) fn new_rate(
        &mut self,
        comb: CombId,
        kind: RateKind,
        class: Option<ClassId>,
    ) -> RateId {
        let rate = RateId::new(self.program.rates.len());
        let name = self.rate_name(comb);
        self.program.rates.push(Rate {
            name,
            kind,
            parts: vec![Part::Stage(0)],
        });
        self.openers.push(comb);
        self.class_of.push(class);
        if let Some(parent) = kind.parent() {
            self.program.rates[parent.index()]
                .parts
                .push(Part::Child(rate));
        }
        if let Some(class) = class {
            self.instances.entry(class).or_default().push(rate);
        }
        self.program.combs[comb.index()].home = Some(Home { rate, stage: 0 });
        rate
    }

    /// A combinator may open several rates: each has a name of its own.
    fn rate_name(&self, comb: CombId) -> String {
        let name = &self.program.combs[comb.index()].name;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("r{name}")
        } else {
            name.clone()
        }
    }

    /// Leaves the iteration (or the loop, at a loop rate) unless the guard's test holds.
    pub fn exit(&mut self, comb: CombId, unless: Atom) {
        let place = self.program.place(Label {
            section: Section::Guard,
            comb,
        });
        self.exits.entry(place).or_default().push(Exit {
            comb,
            unless,
            target: None,
        });
    }

    /// Where a node runs that uses these inputs in step. Opens rates as needed.
    pub fn spot_of(&mut self, id: NodeId, inputs: Range<usize>) -> Lower<Spot> {
        self.spot_behind(id, inputs.clone(), inputs)
    }

    /// Where a node runs that uses these inputs, and in each iteration waits for some of them.
    pub fn spot_behind(
        &mut self,
        id: NodeId,
        inputs: Range<usize>,
        waits_for: Range<usize>,
    ) -> Lower<Spot> {
        let class = self.plan.rates.runs_at(id).ok_or_else(no_root)?;
        let graph = self.graph;
        self.enter(id, &graph.nodes[id.index()].inputs[inputs])?;
        let columns = self.columns(id, waits_for);
        let needs = self.needs(&columns);
        self.spot(id, class, &needs)
    }

    /// Makes sure that the root is open: by way of a node's inputs, and of the lengths of the segments
    /// whose elements they are, to an array in memory or a generator that the root runs over.
    pub fn enter(&mut self, id: NodeId, inputs: &[NodeId]) -> Lower {
        let root = self.plan.loops[self.at].root;
        let fresh = self.plan.rates.is_fresh(id) && self.plan.rates.runs_at(id) == root;
        let mut seen: FxHashSet<(NodeId, bool)> = FxHashSet::default();
        let mut stack: Vec<NodeId> = inputs.iter().rev().copied().collect();
        stack.extend(self.plan.rates.lengths_above(id, root).into_iter().rev());
        while let (None, Some(at)) = (self.root, stack.pop()) {
            let beside = fresh && inputs.contains(&at);
            let at_root = beside || self.plan.rates.output(at) == root;
            let field = self.existing_field(at);
            // An array may be at one rate by its own name, and at another where it is zipped.
            let Some(field) = field.filter(|f| seen.insert((f.0, at_root))) else {
                continue;
            };
            let node = &self.graph.nodes[field.0.index()];
            if self.is_in_memory(field.0) {
                if at_root {
                    crate::lower::manifest::open(self, field);
                    continue;
                }
            } else if let (Kind::Generate(..), true) = (&node.node.kind, at_root) {
                crate::lower::generate::open(self, field.0)?;
                continue;
            } else {
                stack.extend(node.inputs.iter().rev());
            }
            stack.extend(self.plan.rates.lengths_above(at, root).into_iter().rev());
        }
        Ok(())
    }

    /// Whether a node is in memory when this loop starts.
    pub fn is_in_memory(&self, id: NodeId) -> bool {
        self.graph.nodes[id.index()].leaf
            || self.plan.loop_of[id.index()].is_some_and(|l| l < self.at)
                && !self.plan.computes(self.at, id)
    }

    /// The root rate, if it is open.
    pub fn root(&self) -> Option<RateId> {
        self.root
    }

    /// The spot where the root's elements are read.
    pub fn root_spot(&self) -> Lower<Spot> {
        let rate = self.root.ok_or_else(no_root)?;
        Ok(Spot { rate, position: 0 })
    }

    /// The rate that owns what is carried through the whole loop: the root, whose `init` starts it.
    pub fn owner(&self) -> RateId {
        self.root.unwrap_or(RateId::new(0))
    }

    /// An upper bound of the number of elements of a rate, known when the loop starts.
    pub fn extent(&mut self, rate: RateId, comb: CombId) -> Lower<Atom> {
        let rate = self.program.loop_rate(rate);
        match (self.program.rate(rate).kind, self.class_of(rate)) {
            (RateKind::Root { bound, .. } | RateKind::Cursor { bound, .. }, _) => Ok(bound),
            (_, Some(class)) => {
                // An array in memory that is segmented like this tells, for it is checked to be as long.
                let told = self.plan.rates.in_memory(class);
                let source = match told {
                    Some(leaf) => Source::Length(leaf),
                    None => Source::Size(self.size_of(rate, class)),
                };
                let len = self.scalar_param(source, "len", comb, Ty::U64);
                self.told.extend(told.map(|leaf| Told {
                    leaf,
                    len,
                    rate,
                    comb,
                }));
                Ok(len)
            }
            _ => Err(no_root()),
        }
    }

    /// Checks that arrays which told how many elements segments have are as long, unless what uses these
    /// arrays in this loop has checked it.
    pub fn check_told(&mut self) -> Lower {
        for told in std::mem::take(&mut self.told) {
            let class = self.class_of(told.rate);
            let mut checks = self.checked.iter().filter(|(c, _)| Some(*c) == class);
            if !checks.any(|(_, len)| self.is_length_of(*len, told.leaf)) {
                let rates = &self.plan.rates;
                let own = rates.own(told.leaf).zip(class);
                let by = own.map(|(own, class)| rates.joined_by(own, class));
                let by = by.and_then(|by| by.first().copied());
                let comb = by.map_or(told.comb, |by| self.comb(by));
                crate::lower::lengths::visited(self, comb, told.rate, told.len)?;
            }
            crate::lower::lengths::agree(self, told.leaf, told.rate);
        }
        Ok(())
    }

    /// Notes that a node has an element, read, computed or kept, for each iteration of a rate.
    pub fn runs_over(&mut self, id: NodeId, rate: RateId) {
        if !self.program.rate(rate).kind.is_sub() {
            self.run_over.push((id, rate));
        }
    }

    /// All that rates run over.
    pub fn all_run_over(&mut self) -> Vec<(NodeId, RateId)> {
        std::mem::take(&mut self.run_over)
    }

    /// The node over which a rate was opened.
    pub fn opener(&self, rate: RateId) -> NodeId {
        self.combs[self.openers[rate.index()].index()]
    }

    /// Whether an atom is the length of an array in memory, taken from the array itself.
    fn is_length_of(&self, len: Atom, leaf: NodeId) -> bool {
        let mut params = self.sources.iter().zip(&self.program.params);
        params.any(|(source, param)| {
            matches!(source, Source::Array((n, _)) if *n == leaf)
                && self.array_lens.get(&param.var).map(|v| Atom::Var(*v)) == Some(len)
        })
    }

    /// How many elements the current segment of a nested rate has.
    pub fn size_of_segment(&self, rate: RateId) -> Lower<Atom> {
        let parent = self.program.rate(rate).kind.parent().ok_or_else(no_root)?;
        let class = self.class_of(rate).ok_or_else(no_root)?;
        self.test(class, parent).ok_or_else(no_root)
    }

    /// The class of a rate.
    pub fn class_of(&self, rate: RateId) -> Option<ClassId> {
        self.class_of.get(rate.index()).copied().flatten()
    }

    /// The number of the result of the sizing loop that counts a class's elements.
    fn size_of(&mut self, rate: RateId, class: ClassId) -> u32 {
        let known = self.sizes.iter().position(|s| s.0 == class);
        known.unwrap_or_else(|| {
            let counter = self.index(rate);
            self.sizes.push((class, counter.into()));
            self.sizes.len() - 1
        }) as u32
    }

    /// The index of the current element of a rate: a loop's counter, or the count of a subrate, which
    /// is added when it is first asked for.
    pub fn index(&mut self, rate: RateId) -> Var {
        match self.program.rate(rate).kind {
            RateKind::Root { counter, .. }
            | RateKind::Nested { counter, .. }
            | RateKind::Cursor { counter, .. } => counter,
            RateKind::Sub {
                count: Some(count), ..
            } => count,
            RateKind::Sub {
                parent,
                count: None,
            } => {
                let comb = self.openers[rate.index()];
                let count = self.scalar("ix", comb, Ty::U64);
                let (zero, one) = (Const::u64(0).into(), Const::u64(1).into());
                self.push(comb, Section::Init, StmtKind::Carry(count, zero));
                let next = self.scalar("nix", comb, Ty::U64);
                let add = StmtKind::Let(next, Op::Add, Args::from_slice(&[count.into(), one]));
                self.push_last(comb, Section::Yield, add);
                self.update(comb, rate, count, next.into());
                self.program.rates[rate.index()].kind = RateKind::Sub {
                    parent,
                    count: Some(count),
                };
                let owner = self.owner();
                self.exact_group(count, (owner, rate), (Op::Add, Const::u64(0)), next);
                count
            }
        }
    }

    /// The last stage of a rate's iterations, behind everything that is there.
    pub fn behind_all(&mut self, rate: RateId) -> Spot {
        let last = self.program.rate(rate).parts.len().saturating_sub(1);
        self.stage(rate, last)
    }

    /// Updates a carried variable with what a child rate's guard has found, whether that admitted an
    /// element or not. The result is the rate at which it is updated.
    pub fn update_behind(
        &mut self,
        id: NodeId,
        child: RateId,
        carried: Var,
        value: Atom,
    ) -> Lower<RateId> {
        let behind = self.child_spot(child).ok_or_else(no_root)?;
        let spot = self.stage(behind.rate, behind.position + 1);
        let comb = self.comb_at(id, spot);
        self.update(comb, spot.rate, carried, value);
        Ok(spot.rate)
    }

    /// The rate that a combinator opened.
    pub fn opened_by(&self, comb: CombId) -> Lower<RateId> {
        let home = self.program.comb(comb).home;
        home.map(|h| h.rate).ok_or_else(no_root)
    }

    /// What decides over the elements of a class in the iterations of a rate, if that is known.
    pub fn test(&self, class: ClassId, rate: RateId) -> Option<Atom> {
        self.tests.get(&(class, rate)).copied()
    }

    /// Says what decides over the elements of a class in the iterations of a rate: a subrate's test, the
    /// length of a segment.
    pub fn set_test(&mut self, class: ClassId, rate: RateId, test: Atom) {
        self.tests.insert((class, rate), test);
    }

    /// Notes a check of the elements of a nested rate's class against a length; false if it was made
    /// before, by this rate or an earlier one over the same segments.
    pub fn first_check(&mut self, rate: RateId, len: Atom) -> Lower<bool> {
        let class = self.class_of(rate).ok_or_else(no_root)?;
        Ok(self.checked.insert((class, len)))
    }
}
