//! The updates of variables that must be deferred.

use super::{Facts, each_leaving_use, each_stmt, each_update, each_use, is_end, targets};
use loop_lang::ir::{Label, Loop, Place, RateId, Section, Var};
use rustc_hash::{FxHashMap, FxHashSet};

impl Facts<'_> {
    /// Finds the updates that must be deferred.
    ///
    /// An update takes effect at once if no later read in the iteration needs the old value. Reads
    /// of another pass count too, if it resumes from a pause within the iteration. Held variables
    /// of the layout wait wherever a pause may follow. So all passes and backends leave, and find,
    /// the same two values.
    pub(super) fn find_pending(&mut self, program: &Loop, held: &[(Var, usize)]) {
        let mut last_read: FxHashMap<(RateId, Var), u64> = FxHashMap::default();
        let mut first_update: FxHashMap<(RateId, Var), u64> = FxHashMap::default();
        let mut order: Vec<(RateId, Var)> = Vec::new();
        for (rank, placed) in self.blocks.iter().enumerate() {
            let chain = self.chain(program, placed.place);
            let ends = is_end(placed.place);
            let counter = |v: Var| self.lane_counter(program, v, *chain.first()?);
            let mut read = |v: Var, at: u64| {
                for rate in chain {
                    let last = last_read.entry((*rate, v)).or_insert(at);
                    *last = at.max(*last);
                }
            };
            let mut update = |v: Var, at: u64| {
                if let Some(rate) = chain.first().filter(|_| !ends) {
                    first_update.entry((*rate, v)).or_insert_with(|| {
                        order.push((*rate, v));
                        at
                    });
                }
            };
            for (i, top) in placed.block.stmts.iter().enumerate() {
                let at = ((rank as u64) << 32) | i as u64;
                each_stmt(std::slice::from_ref(top), &mut |s| {
                    each_use(s, &mut |v| {
                        read(v, at);
                        counter(v).into_iter().for_each(|c| read(c, at));
                    });
                    each_update(program, s, &mut |v| {
                        update(v, at);
                        counter(v).into_iter().for_each(|c| read(c, at));
                    });
                });
            }
            let at = ((rank as u64) << 32) | u64::from(u32::MAX);
            each_leaving_use(placed.block, &mut |v| read(v, at));
        }
        let jumps_back = self.jumps_back(program);
        let held: FxHashSet<Var> = held.iter().map(|h| h.0).collect();
        let around: FxHashSet<RateId> = (self.chains.iter())
            .flat_map(|chain| chain.iter().skip(1).copied())
            .collect();
        for key in &order {
            let late = last_read
                .get(key)
                .is_some_and(|read| *read > first_update[key]);
            let is_held = held.contains(&key.1) && around.contains(&key.0);
            if late || jumps_back || is_held {
                self.waits.insert(*key);
            }
        }
        // A deferred update of a lane needs the counter's old value at the end of the iteration.
        for (rate, v) in &order {
            if self.waits.contains(&(*rate, *v))
                && let Some(counter) = self.lane_counter(program, *v, *rate)
            {
                self.waits.insert((*rate, counter));
            }
        }
        for (rate, v) in order {
            if self.waits.contains(&(rate, v)) {
                self.waiting.insert(v);
                self.pending.entry(rate).or_default().push(v);
            }
        }
        let lanes: FxHashSet<Var> = (self.waiting.iter().copied())
            .filter(|v| self.local_group(program, *v).is_some())
            .collect();
        for pending in self.pending.values_mut() {
            pending.sort_by_key(|v| !lanes.contains(v));
        }
        self.find_ending(program);
    }

    /// Finds the updates of `done` that must wait for its end: the rest of the block reads the old
    /// value.
    fn find_ending(&mut self, program: &Loop) {
        for placed in self.blocks.iter().filter(|b| is_end(b.place)) {
            let (mut updated, mut late) = (Vec::new(), Vec::new());
            each_stmt(&placed.block.stmts, &mut |s| {
                each_use(s, &mut |v| late.extend(updated.contains(&v).then_some(v)));
                each_update(program, s, &mut |v| updated.push(v));
            });
            each_leaving_use(placed.block, &mut |v| {
                late.extend(updated.contains(&v).then_some(v))
            });
            self.waiting.extend(&late);
            self.ending.insert(placed.place, late);
        }
    }

    /// Returns whether control can go to an earlier place without passing a loop rate's guard.
    ///
    /// The order of blocks then does not give the order of reads and updates.
    fn jumps_back(&self, program: &Loop) -> bool {
        let place = |l: Label| self.tree.place(program, l);
        self.blocks.iter().enumerate().any(|(rank, placed)| {
            targets(placed.block).any(|l| {
                let to = place(l);
                let guard = match to {
                    Place::At {
                        rate,
                        section: Section::Guard,
                        ..
                    } => !program.rate(rate).kind.is_sub(),
                    _ => false,
                };
                !guard && self.at.get(&to).is_some_and(|i| *i <= rank)
            })
        })
    }
}
