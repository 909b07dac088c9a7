//! Control flow: places and targets of blocks match the rate tree.

use super::Faults;
use super::dominators::Dominators;
use super::view::View;
use crate::Op;
use crate::ir::*;
use rustc_hash::FxHashMap;

/// Checks that every place has one block, and returns whether it does.
pub(super) fn places(view: &View, faults: &mut Faults) -> bool {
    let before = faults.0.len();
    let mut held: FxHashMap<Place, usize> = FxHashMap::default();
    for (b, placed) in view.blocks.iter().enumerate() {
        labels(view, b, faults);
        if view.rank(placed.place).is_none() {
            let message = format!("{} is no place of the rate tree", view.show(placed.place));
            faults.add(view.name(b), message);
        } else if let Some(first) = held.insert(placed.place, b) {
            let message = format!(
                "{} has a block already: `{}`",
                view.show(placed.place),
                view.name(first)
            );
            faults.add(view.name(b), message);
        }
    }
    for place in view.tree.places() {
        if !held.contains_key(place) {
            faults.add("loop", format!("{} has no block", view.show(*place)));
        }
    }
    faults.0.len() == before
}

/// Checks that a block's labels are valid sections of their combinators, all for one place.
fn labels(view: &View, b: usize, faults: &mut Faults) {
    let placed = &view.blocks[b];
    for label in placed.labels {
        let without_slot = view.l.comb(label.comb).slot.is_none();
        if without_slot && !matches!(label.section, Section::Init | Section::Done) {
            let name = view.l.label_name(*label);
            faults.add(
                name,
                "a combinator without a slot has `init` and `done` only",
            );
        }
        let place = view.tree.place(view.l, *label);
        if place != placed.place {
            let message = format!(
                "its label `{}` means {}, not {}",
                view.l.label_name(*label),
                view.show(place),
                view.show(placed.place)
            );
            faults.add(view.name(b), message);
        }
    }
}

/// Checks gotos and exits; returns the dominators of the blocks.
pub(super) fn check(view: &View, faults: &mut Faults) -> Dominators {
    let mut flow = Flow {
        view,
        faults,
        tests: tests(view),
    };
    let successors: Vec<Vec<usize>> = (0..view.blocks.len()).map(|b| flow.block(b)).collect();
    let dominators = Dominators::of(&successors);
    for b in 0..view.blocks.len() {
        if !dominators.reachable(b) {
            faults.add(view.name(b), "cannot be reached");
        }
    }
    dominators
}

/// Returns the operands of each comparison: (smaller, larger).
fn tests(view: &View) -> FxHashMap<Var, (Atom, Atom)> {
    let stmts = view.blocks.iter().flat_map(|b| &b.block.stmts);
    let tests = stmts.filter_map(|s| match &s.kind {
        StmtKind::Let(v, Op::Lt, args) if args.len() == 2 => Some((*v, (args[0], args[1]))),
        StmtKind::Let(v, Op::Gt, args) if args.len() == 2 => Some((*v, (args[1], args[0]))),
        _ => None,
    });
    tests.collect()
}

struct Flow<'a, 'f> {
    view: &'a View<'a>,
    faults: &'f mut Faults,
    tests: FxHashMap<Var, (Atom, Atom)>,
}

impl Flow<'_, '_> {
    fn add(&mut self, b: usize, message: String) {
        self.faults.add(self.view.name(b), message);
    }

    fn resolve(&mut self, b: usize, label: Label) -> Option<usize> {
        let target = self.view.target(label);
        if target.is_none() {
            let name = self.view.l.label_name(label);
            self.add(b, format!("goes to `{name}`, and there is no such block"));
        }
        target
    }

    /// Checks how control leaves a block, and returns the targets. A faulty goto or guard's exit
    /// counts as the one implied by the tree, to avoid follow-up faults.
    fn block(&mut self, b: usize) -> Vec<usize> {
        let placed = &self.view.blocks[b];
        let mut successors = Vec::new();
        for exit in &placed.block.exits {
            match exit.target {
                None => self.add(
                    b,
                    "has an exit without a target: derive the gotos first".into(),
                ),
                Some(label) => {
                    if let Some(target) = self.resolve(b, label) {
                        self.exit(b, target);
                        successors.push(target);
                    }
                }
            }
        }
        self.guard(b, &mut successors);
        match &placed.block.end {
            End::Open => self.add(b, "has no end: derive the gotos first".into()),
            End::Return(_) => {
                if placed.place != Place::Return {
                    self.add(b, "only the last block returns".into());
                }
            }
            End::Goto(label) => {
                if let Some(target) = self.resolve(b, *label) {
                    self.goto(b, target);
                    successors.push(target);
                }
            }
            End::Branch(_, yes, no) => {
                if self.cursor(b).is_none() {
                    self.add(b, "only blocks of cursors branch".into());
                }
                for label in [yes, no] {
                    if let Some(target) = self.resolve(b, *label) {
                        if self.cursor(b).is_some() {
                            self.goto(b, target);
                        }
                        successors.push(target);
                    }
                }
            }
        }
        if self.cursor(b).is_none() {
            let next = self.view.tree.next(self.view.l, placed.place);
            successors.extend(next.and_then(|p| self.view.rank(p)));
        }
        successors
    }

    /// Returns the cursor of a block; its gotos are free within limits. A block before the cursor's
    /// guard goes to the guard.
    fn cursor(&self, b: usize) -> Option<RateId> {
        let Place::At { rate, section, .. } = self.view.blocks[b].place else {
            return None;
        };
        if section == Section::Nest {
            return None;
        }
        let rate = self.view.tree.loop_rate(rate);
        let kind = self.view.l.rate(rate).kind;
        matches!(kind, RateKind::Cursor { .. }).then_some(rate)
    }

    fn goto(&mut self, b: usize, target: usize) {
        let view = self.view;
        let (place, to) = (view.blocks[b].place, view.blocks[target].place);
        let demanded = view.tree.next(view.l, place);
        if place == Place::Return {
            self.add(b, "the last block must return".into());
        } else if let Some(cursor) = self.cursor(b) {
            if !self.leaves_to(place, to) && !self.cursor_goes(cursor, place, to) {
                let message = format!(
                    "goes to {}: a cursor's block goes forwards in the cursor, to its guard, or out to \
                     what follows it",
                    view.show(to)
                );
                self.add(b, message);
            }
        } else if demanded != Some(to) {
            let wanted = demanded.map_or("nowhere".into(), |p| view.show(p));
            self.add(
                b,
                format!(
                    "goes to {}, but the rate tree demands {wanted}",
                    view.show(to)
                ),
            );
        }
    }

    /// Tells whether a block of a cursor may go from `place` to `to`: inside the cursor, or to the
    /// place after it.
    fn cursor_goes(&self, cursor: RateId, place: Place, to: Place) -> bool {
        let view = self.view;
        if view.tree.after(view.l, cursor) == Some(to) {
            return true;
        }
        let Place::At { rate, section, .. } = to else {
            return false;
        };
        if rate == cursor && section == Section::Guard {
            // An ended cursor does not restart: its guard would exit at once.
            let has_ended =
                matches!(place, Place::At { rate, section: Section::Done, .. } if rate == cursor);
            return !has_ended;
        }
        let nearest = view.tree.loop_rate(rate);
        let above = view
            .l
            .rate(rate)
            .kind
            .parent()
            .map(|p| view.tree.loop_rate(p));
        let enters = section == Section::Nest && above == Some(cursor);
        view.rank(to) > view.rank(place) && (nearest == cursor || enters)
    }

    /// Tells whether `to` is `bottom` or `done` of a rate around `place`, further on.
    fn leaves_to(&self, place: Place, to: Place) -> bool {
        let view = self.view;
        let around = match to {
            Place::Return => view.l.roots.last().copied(),
            Place::At {
                rate,
                section: Section::Bottom | Section::Done,
                ..
            } => Some(rate),
            _ => None,
        };
        let around = around.is_some_and(|rate| view.within(place, rate));
        around && view.rank(to) > view.rank(place)
    }

    fn exit(&mut self, b: usize, target: usize) {
        let view = self.view;
        let (place, to) = (view.blocks[b].place, view.blocks[target].place);
        if matches!(place, Place::Init | Place::Return) {
            self.add(b, "this block has no exits".into());
        } else if !self.leaves_to(place, to)
            && !self
                .cursor(b)
                .is_some_and(|c| self.cursor_goes(c, place, to))
        {
            let message = format!(
                "exits to {}: exits go on to `bottom` or `done` of a rate around the block",
                view.show(to)
            );
            self.add(b, message);
        } else if self.enters_without_a_step(place, to) {
            let message = format!(
                "exits to {}: only an iteration, which is a step, goes on there",
                view.show(to)
            );
            self.add(b, message);
        }
    }

    /// Tells whether an edge enters a loop's iteration without a step. A span could not end there,
    /// and a loop could run forever between two guards.
    fn enters_without_a_step(&self, place: Place, to: Place) -> bool {
        let Place::At {
            rate,
            section: Section::Guard | Section::Nest,
            ..
        } = place
        else {
            return false;
        };
        let view = self.view;
        let leaves = to == view.tree.done(view.l, rate);
        !view.l.rate(rate).kind.is_sub() && !leaves && view.within(to, rate)
    }

    /// Checks that the guard of a root or nested rate tests its counter.
    fn guard(&mut self, b: usize, successors: &mut Vec<usize>) {
        let view = self.view;
        let placed = &view.blocks[b];
        let Place::At {
            rate,
            section: Section::Guard,
            ..
        } = placed.place
        else {
            return;
        };
        let (RateKind::Root { counter, bound } | RateKind::Nested { counter, bound, .. }) =
            view.l.rate(rate).kind
        else {
            return;
        };
        let out = view.tree.way_out(view.l, rate);
        let tested = placed.block.exits.iter().any(|exit| {
            let target = exit.target.and_then(|t| view.target(t));
            let leaves = target.is_some_and(|t| view.blocks[t].place == out);
            let test = match exit.unless {
                Atom::Var(v) => self.tests.get(&v).copied(),
                Atom::Const(_) => None,
            };
            leaves && test == Some((Atom::Var(counter), bound))
        });
        if !tested {
            // Every place has its block, so ranks are block numbers.
            successors.extend(view.rank(out));
            let message = format!(
                "must leave to {} unless `{}` is less than the bound",
                view.show(out),
                view.l.name(counter)
            );
            self.add(b, message);
        }
    }
}
