//! Rates: the root that a loop runs over, the subrates below it, their counters and updates.

use super::{Anatomy, Lower};
use crate::error::ErrorKind;
use crate::fusion::ClassId;
use crate::sharing::{FieldRef, NodeId};
use loop_lang::ir::*;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Anatomy<'_> {
    /// Opens the root rate: a counter from 0 to `bound`.
    pub fn open_root(&mut self, comb: CombId, bound: Atom) -> RateId {
        let class = self.plan.loops[self.at].root;
        let name = self.rate_name(comb);
        let counter = self.scalar("ix", comb, Ty::U64);
        let kind = RateKind::Root { counter, bound };
        let rate = self.new_rate(name, kind, class, comb);
        self.program.roots.push(rate);
        self.root = Some(rate);
        self.push(
            comb,
            Section::Init,
            StmtKind::Carry(counter, Const::u64(0).into()),
        );
        let more = self.emit(
            comb,
            Section::Guard,
            "more",
            Op::Lt,
            &[counter.into(), bound],
        );
        self.exit(comb, more.into());
        let next = self.emit(
            comb,
            Section::Bottom,
            "nix",
            Op::Add,
            &[counter.into(), Const::u64(1).into()],
        );
        self.update(comb, rate, counter, next.into());
        rate
    }

    /// Opens a subrate. Its guard's test is added with [`Anatomy::exit`].
    pub fn open_sub(&mut self, comb: CombId, parent: RateId, class: ClassId) -> RateId {
        let name = self.rate_name(comb);
        let rate = self.new_rate(
            name,
            RateKind::Sub {
                parent,
                count: None,
            },
            Some(class),
            comb,
        );
        self.program.rates[parent.index()]
            .parts
            .push(Part::Child(rate));
        rate
    }

    fn rate_name(&self, comb: CombId) -> String {
        let name = &self.program.combs[comb.index()].name;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("r{name}")
        } else {
            name.clone()
        }
    }

    fn new_rate(
        &mut self,
        name: String,
        kind: RateKind,
        class: Option<ClassId>,
        comb: CombId,
    ) -> RateId {
        let rate = RateId::new(self.program.rates.len());
        self.program.rates.push(Rate {
            name,
            kind,
            parts: vec![Part::Stage(0)],
        });
        self.openers.push(comb);
        if let Some(class) = class {
            self.rates.insert(class, rate);
        }
        for section in Self::SHARED {
            let _ = self
                .program
                .blocks
                .insert([Label { section, comb }], Block::default());
        }
        self.program.combs[comb.index()].home = Some(Home { rate, stage: 0 });
        self.join_done(comb);
        rate
    }

    /// Leaves the iteration (or the loop, at a root) unless the guard's test holds.
    pub fn exit(&mut self, comb: CombId, unless: Atom) {
        if let Some(block) = self.program.blocks.get_mut(Label {
            section: Section::Guard,
            comb,
        }) {
            block.exits.push(Exit {
                comb,
                unless,
                target: None,
            });
        }
    }

    /// The rate of a class, if it is open.
    pub fn rate(&self, class: ClassId) -> Option<RateId> {
        self.rates.get(&class).copied()
    }

    /// The rate at which a node runs. Opens the root from the node's inputs if nothing has yet.
    pub fn rate_of(&mut self, id: NodeId, inputs: &[NodeId]) -> Lower<RateId> {
        for input in inputs {
            self.enter(*input)?;
        }
        let rate = self
            .plan
            .rates
            .runs_at(id)
            .and_then(|class| self.rate(class));
        rate.or(self.root).ok_or_else(|| ErrorKind::Malformed {
            expected: "an array to run over".into(),
            got: "none".into(),
        })
    }

    /// Makes sure that the rate of an input is open.
    pub fn enter(&mut self, input: NodeId) -> Lower {
        if self.root.is_some() {
            return Ok(());
        }
        match self.existing_field(input) {
            Some(field) => self.open_from(field),
            None => Ok(()),
        }
    }

    fn open_from(&mut self, field: FieldRef) -> Lower {
        if self.is_in_memory(field.0) {
            crate::lower::manifest::open(self, field);
            Ok(())
        } else {
            crate::lower::generate::lower(self, field.0)
        }
    }

    /// Whether a node is in memory when this loop starts.
    pub fn is_in_memory(&self, id: NodeId) -> bool {
        self.graph.nodes[id.index()].leaf
            || self.plan.loop_of[id.index()].is_some_and(|l| l < self.at)
    }

    /// The root rate, if it is open.
    pub fn root(&self) -> Option<RateId> {
        self.root
    }

    /// The rate that owns what is carried through `rate`: the root, whose `init` starts it.
    pub fn owner(&self, rate: RateId) -> RateId {
        self.root.unwrap_or(rate)
    }

    /// The root's counter and bound.
    pub fn root_counter(&self) -> Option<(Var, Atom)> {
        let kind = self.program.rate(self.root?).kind;
        Some((kind.counter()?, kind.bound()?))
    }

    /// The index of the current element of a rate: a root's counter, or the count of a subrate, which
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
                self.updates.push((comb, Section::Yield, add));
                self.update(comb, rate, count, next.into());
                self.program.rates[rate.index()].kind = RateKind::Sub {
                    parent,
                    count: Some(count),
                };
                self.program.groups.push(Group {
                    vars: vec![count],
                    owner: self.owner(rate),
                    step: rate,
                    start: vec![zero],
                    identity: vec![zero],
                    next: vec![next.into()],
                    combine: Some(Combine::Op(Op::Add)),
                    level: 0,
                    order: Order::Exact,
                });
                count
            }
        }
    }

    /// Updates a carried variable of a combinator that runs at `rate`: at a loop rate's `bottom`, in a
    /// subrate's `yield`. Updates are the last statements of their section.
    pub fn update(&mut self, comb: CombId, rate: RateId, carried: Var, value: Atom) {
        let is_sub = self.program.rate(rate).kind.is_sub();
        let section = if is_sub {
            Section::Yield
        } else {
            Section::Bottom
        };
        self.updates
            .push((comb, section, StmtKind::Assign(carried, value)));
    }
}
