//! Where a state machine stops and looks: ends of chunks, pauses, traps; and lanes that are joined.

use super::machine::{Machine, is_local};
use crate::facts;
use crate::names::Facet;
use livefusion_tile::ir::{Origin, Tile};
use loop_lang::ir::{CHUNK, GroupId, Order, RateId, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

impl Machine<'_, '_> {
    /// Lane groups that the block reads after their loop are joined for it, and stay as they are.
    pub(super) fn join_for_readers(&mut self, i: usize) {
        let block = self.unit.facts.blocks[i].block;
        let mut groups: Vec<GroupId> = Vec::new();
        let mut seen = FxHashSet::default();
        let program = self.unit.program;
        let facts = self.unit.facts;
        let mut reads = |v: Var| {
            if let Some((g, _, Order::Lanes(_) | Order::Runs(_))) = facts.local_group(program, v)
                && seen.insert(g)
            {
                groups.push(g);
            }
        };
        facts::each_stmt(&block.stmts, &mut |s| facts::each_use(s, &mut reads));
        facts::each_leaving_use(block, &mut reads);
        for g in groups {
            if !self.unit.inside(g) {
                self.join_lanes(g);
            }
        }
    }

    /// Lane groups that a tile at this guard reads as they are after their own loop.
    pub(super) fn join_for_tiles(&mut self, rate: RateId) {
        let behind = self.zips.iter().flat_map(|z| &z.behind);
        let tiles = self.tiles.iter().chain(behind).filter(|t| t.rate == rate);
        let given = |t: &Tile| -> Vec<Var> {
            let origins = t.each_value().map(|(_, d)| d.origin);
            let given = origins.filter_map(|o| match o {
                Origin::Given(v) => Some(v),
                _ => None,
            });
            given.collect()
        };
        let scalars: BTreeSet<Var> = tiles.flat_map(given).collect();
        let joined = |v: &Var| {
            let group = self.unit.facts.local_group(self.unit.program, *v);
            group.filter(|(_, _, order)| order.lanes().is_some())
        };
        let groups: BTreeSet<GroupId> = scalars.iter().filter_map(joined).map(|j| j.0).collect();
        for g in groups {
            self.join_lanes(g);
        }
    }

    /// Sets a lane group's joined values.
    fn join_lanes(&mut self, g: GroupId) {
        let group = &self.unit.program.groups[g.index()];
        let Some(first) = group.vars.first() else {
            return;
        };
        let names = self.unit.names;
        let mut arguments = self.unit.function_args("&lf_flag");
        for v in &group.vars {
            let (joined, name) = (names.facet(*v, Facet::Joined), names.var(*v));
            self.line(format!("{joined} = {name};"));
            arguments.push(format!("&{joined}"));
        }
        arguments.extend(
            group
                .vars
                .iter()
                .map(|v| names.facet(*v, Facet::Lanes).to_string()),
        );
        // A flag of its own: the address of `trapped` would keep it in memory everywhere.
        let call = format!(
            "{}({})",
            names.facet(*first, Facet::Join),
            arguments.join(", ")
        );
        self.line(format!(
            "{{ u64 lf_flag = 0; {call}; trapped |= lf_flag; }}"
        ));
    }

    /// What happens at a stop: a trap ends the pass, a full chunk is joined, a spent budget pauses.
    pub(super) fn event(&mut self) {
        self.unit.depth -= 1;
        self.line("event:");
        self.unit.depth += 1;
        self.line("if (trapped) { outcome = LF_TRAPPED; goto out; }");
        let program = self.unit.program;
        for (i, group) in program.groups.iter().enumerate() {
            if let Order::Runs(run) = group.order {
                self.unit.open(format!("if (steps % {run} == 0) {{"));
                self.join_run(GroupId::new(i));
                self.unit.close();
            }
        }
        if program.groups.iter().any(|g| is_local(g.order)) {
            self.unit
                .open(format!("if (steps != 0 && steps % {CHUNK} == 0) {{"));
            for (i, group) in program.groups.iter().enumerate() {
                if is_local(group.order) {
                    self.join_at_position(GroupId::new(i));
                }
            }
            self.unit.close();
        }
        self.line("if (steps == limit) { outcome = LF_PAUSED; goto out; }");
        self.line(match program.grid() {
            Some(grid) => format!("event = lf_least(limit, (steps / {grid} + 1) * {grid});"),
            None => "event = limit;".to_string(),
        });
        self.line("");
    }

    /// Joins a group at the end of a chunk, unless an iteration that would update it is under way.
    fn join_at_position(&mut self, g: GroupId) {
        let below: Vec<String> = self
            .below(g)
            .iter()
            .map(|k| format!("position != {k}"))
            .collect();
        if !below.is_empty() {
            self.unit.open(format!("if ({}) {{", below.join(" && ")));
        }
        self.join_chunk(g, self.unit.program.groups[g.index()].order);
        if !below.is_empty() {
            self.unit.close();
        }
    }

    pub(super) fn any_joins_above(&self) -> bool {
        let groups = self.unit.program.groups.iter().enumerate();
        let mut local = groups.filter(|(_, g)| is_local(g.order));
        local.any(|(i, _)| !self.below(GroupId::new(i)).is_empty())
    }

    /// Positions of the loop rates strictly below that of a group's step.
    pub(super) fn below(&self, g: GroupId) -> Vec<usize> {
        let (program, facts) = (self.unit.program, self.unit.facts);
        let is_below = |r: &RateId| facts.is_below(program, g, *r);
        let resume = self.layout.resume.iter().enumerate();
        resume
            .filter(|(_, r)| is_below(r))
            .map(|(k, _)| k + 1)
            .collect()
    }

    /// Joins a run onto the chunk's runs before.
    fn join_run(&mut self, g: GroupId) {
        let group = &self.unit.program.groups[g.index()];
        let types: Vec<Ty> = group
            .vars
            .iter()
            .map(|v| facts::elem(self.unit.program, *v))
            .collect();
        let names = self.unit.names;
        let lanes = |k: usize| -> Vec<String> {
            let lane = |v: &Var| format!("{}[{k}]", names.facet(*v, Facet::Lanes));
            group.vars.iter().map(lane).collect()
        };
        let (before, run) = (lanes(0), lanes(1));
        self.unit
            .combine(group.combine, &before, &before, &run, &types);
        for (i, lane) in run.iter().enumerate() {
            let identity = self.unit.identity(g, i);
            self.line(format!("{lane} = {identity};"));
        }
    }

    /// Joins what a chunk added to a group onto its prefix.
    fn join_chunk(&mut self, g: GroupId, order: Order) {
        let group = &self.unit.program.groups[g.index()];
        let names = self.unit.names;
        let var = |v: &Var| names.var(*v).to_string();
        match order {
            Order::Lanes(_) | Order::Runs(_) => {
                self.join_lanes(g);
                for v in &group.vars {
                    self.line(format!("{} = {};", var(v), names.facet(*v, Facet::Joined)));
                }
            }
            Order::Prefix(_) => {
                let types: Vec<Ty> = group
                    .vars
                    .iter()
                    .map(|v| facts::elem(self.unit.program, *v))
                    .collect();
                let prefixes: Vec<String> = group.vars.iter().map(var).collect();
                let lasts: Vec<String> = group
                    .vars
                    .iter()
                    .map(|v| names.facet(*v, Facet::Last).to_string())
                    .collect();
                self.unit
                    .combine(group.combine, &prefixes, &prefixes, &lasts, &types);
            }
            Order::Exact | Order::Sequential => return,
        }
        for i in 0..group.vars.len() {
            self.unit.reset(g, i);
        }
    }
}
