//! What lanes come to, for readers after their loop: joined in the block that reads it, or, for readers in
//! other loops, once before such a loop is entered and wherever the machine goes on inside of it.

use super::{Emit, Facet};
use livefusion_backend::facts::{self, Facts};
use loop_lang::Loop;
use loop_lang::ir::{GroupId, Order, Place, RateId, RateKind, Section};
use rustc_hash::FxHashMap;

/// Groups to join, by where.
#[derive(Default)]
pub struct Totals {
    by_block: FxHashMap<usize, Vec<GroupId>>,
    by_loop: FxHashMap<RateId, Vec<GroupId>>,
}

impl Totals {
    /// Where each group is joined that anything reads after its loop.
    pub fn of(program: &Loop, facts: &Facts) -> Totals {
        let mut totals = Totals::default();
        for (i, placed) in facts.blocks.iter().enumerate() {
            let mut read = |v| {
                if let Some((g, _, Order::Lanes(_) | Order::Runs(_))) =
                    facts.local_group(program, v)
                {
                    totals.add(program, facts, i, placed.place, g);
                }
            };
            facts::each_stmt(&placed.block.stmts, &mut |s| facts::each_use(s, &mut read));
            facts::each_leaving_use(placed.block, &mut read);
        }
        totals
    }

    fn add(&mut self, program: &Loop, facts: &Facts, block: usize, place: Place, g: GroupId) {
        if facts.inside(program, g, place) {
            return;
        }
        let around = facts.chain(program, place);
        let lanes = program.groups[g.index()].step;
        let lanes = (around.first())
            .and_then(|rate| facts.lane_rate(g, *rate))
            .unwrap_or(lanes);
        let groups = match entered_after(program, around, lanes) {
            Some(outermost) => self.by_loop.entry(outermost).or_default(),
            None => self.by_block.entry(block).or_default(),
        };
        if !groups.contains(&g) {
            groups.push(g);
        }
    }
}

/// The outermost of the loops around a place that are entered when another loop has ended. Cursors are
/// entered in each iteration of their consumer, and gain nothing.
fn entered_after(program: &Loop, around: &[RateId], ended: RateId) -> Option<RateId> {
    let mut outermost_first = around.iter().rev().copied();
    let outermost = outermost_first.find(|r| !program.is_within(ended, *r))?;
    let kind = &program.rate(outermost).kind;
    matches!(kind, RateKind::Root { .. } | RateKind::Nested { .. }).then_some(outermost)
}

impl Emit<'_, '_> {
    /// Joins what a block reads.
    pub(super) fn totals_for_block(&mut self, i: usize) {
        let groups = self.totals.by_block.get(&i).cloned();
        self.join_totals(groups);
    }

    /// Joins what is read inside of a loop, on the way to its guard.
    pub(super) fn totals_for_loop(&mut self, from: Place, to: Place) {
        if let Place::At {
            rate,
            section: Section::Guard,
            ..
        } = to
            && !self.facts.chain(self.program, from).contains(&rate)
        {
            let groups = self.totals.by_loop.get(&rate).cloned();
            self.join_totals(groups);
        }
    }

    /// Joins what is read from a guard on where the machine goes on.
    pub(super) fn totals_at(&mut self, position: RateId) {
        let loops = self.totals.by_loop.iter();
        let mut groups: Vec<GroupId> = loops
            .filter(|(rate, _)| self.program.is_within(position, **rate))
            .flat_map(|(_, groups)| groups.iter().copied())
            .collect();
        groups.sort_unstable();
        groups.dedup();
        self.join_totals(Some(groups));
    }

    fn join_totals(&mut self, groups: Option<Vec<GroupId>>) {
        for g in groups.unwrap_or_default() {
            let totals = self.join_lanes(g);
            for (v, total) in self.program.groups[g.index()].vars.iter().zip(totals) {
                self.set(*v, Facet::Joined, total);
            }
        }
    }
}
