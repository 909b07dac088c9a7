//! How the iterations of a loop become work of threads: which form its kernel has, and why.

use crate::demand::Demand;
use crate::shape::{MOST_LEVELS, Refusal, each};
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::chunkable::{Reason, chunkable};
use loop_lang::ir::{
    Combine, Group, GroupId, Loop, Order, Place, RateId, RateKind, Section, StmtKind, Var,
};
use loop_lang::op::Op;
use rustc_hash::FxHashMap;
use std::fmt;

/// The form of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// No rate is nested: a thread has steps of the root that follow each other.
    Steps,
    /// A thread runs one iteration of the root with all that is nested in it, from left to right.
    Rows {
        /// Why elements of a row are not shared among threads.
        why: String,
    },
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Steps => write!(f, "a thread has steps"),
            Form::Rows { why } => write!(f, "a thread has a row, since {why}"),
        }
    }
}

/// A form, and what follows from it.
pub struct Plan {
    /// The form.
    pub form: Form,
    /// The groups that tiles join, level by level: none of a level hangs on another of it.
    pub levels: Vec<Vec<GroupId>>,
    /// The level from whose summary on a nested rate must be run; where it is not in here, only at last.
    pub runs_from: FxHashMap<RateId, u32>,
    /// The level from whose summary on what a trap tests is what it is in the end.
    pub known_from: FxHashMap<Var, u32>,
}

impl Plan {
    /// How a loop is run.
    ///
    /// # Errors
    /// Why it cannot run in parallel here.
    pub fn of(program: &Loop, facts: &Facts<'_>) -> Result<Plan, Refusal> {
        let is_nested = |r: &RateId| matches!(program.rate(*r).kind, RateKind::Nested { .. });
        let rates = (0..program.rates.len()).map(RateId::new);
        let nested: Vec<RateId> = rates.filter(is_nested).collect();
        if nested.is_empty() {
            return Ok(Plan {
                form: Form::Steps,
                levels: levels(program, |_| true)?,
                runs_from: FxHashMap::default(),
                known_from: FxHashMap::default(),
            });
        }
        check(program, facts)?;
        let levels = levels(program, |g| program.roots.contains(&g.owner))?;
        let demand = Demand::of(program, facts);
        let mut plan = Plan {
            form: Form::Rows {
                why: "rates are nested".into(),
            },
            levels,
            runs_from: FxHashMap::default(),
            known_from: FxHashMap::default(),
        };
        plan.find_runs(program, &demand);
        plan.find_known(facts, &demand);
        Ok(plan)
    }

    fn find_runs(&mut self, program: &Loop, demand: &Demand<'_>) {
        for k in 0..self.levels.len() {
            let known = self.levels[..=k].iter().flatten();
            let known: Vec<&Group> = known.map(|g| &program.groups[g.index()]).collect();
            for rate in demand.of_updates(&known).rates {
                self.runs_from.entry(rate).or_insert(k as u32);
            }
        }
    }

    fn find_known(&mut self, facts: &Facts<'_>, demand: &Demand<'_>) {
        let last = self.levels.len() as u32;
        let mut tested = Vec::new();
        for placed in &facts.blocks {
            let _ = each(&placed.block.stmts, &mut |s| {
                if let StmtKind::Trap { unless, .. } = &s.kind {
                    tested.extend(unless.var());
                }
                Ok::<(), Refusal>(())
            });
        }
        for v in tested {
            let behind = demand.of_values([v]);
            let groups = behind.vars.iter().filter_map(|v| facts.group.get(v));
            let at = |g: &GroupId| self.levels.iter().position(|l| l.contains(g));
            let found = groups.filter_map(|(g, _)| Some(at(g)? as u32 + 1));
            let run = behind.rates.iter();
            let run = run.map(|r| *self.runs_from.get(r).unwrap_or(&last));
            let from = found.chain(run).max().unwrap_or(0);
            self.known_from.insert(v, from);
        }
    }
}

/// The groups that tiles join, level by level.
fn levels(program: &Loop, joined: impl Fn(&Group) -> bool) -> Result<Vec<Vec<GroupId>>, Refusal> {
    let groups = (0..program.groups.len()).map(GroupId::new);
    let of = |g: GroupId| &program.groups[g.index()];
    let joined: Vec<GroupId> = groups.filter(|g| joined(of(*g))).collect();
    if let Some(group) = joined.iter().map(|g| of(*g)).find(|g| !joins(g)) {
        let name = group.vars.first().map(|v| program.name(*v));
        return Err(Refusal::Sequential(name.unwrap_or_default().into()));
    }
    let mut known: Vec<u32> = joined.iter().map(|g| of(*g).level).collect();
    known.sort_unstable();
    known.dedup();
    if known.len() > MOST_LEVELS as usize {
        return Err(Refusal::Levels(known.len() as u32));
    }
    let mut levels = vec![Vec::new(); known.len()];
    for g in joined {
        let at = known.binary_search(&of(g).level).unwrap_or_default();
        levels[at].push(g);
    }
    Ok(levels)
}

/// Whether parts of a group can be joined in any grouping.
fn joins(group: &Group) -> bool {
    let whole = group.combine.is_some() && group.identity.len() == group.vars.len();
    whole && !group.circle && group.order != Order::Sequential
}

/// What a loop with nested rates must keep to, whatever form it has.
fn check(program: &Loop, facts: &Facts<'_>) -> Result<(), Refusal> {
    // Groups of inner rates are a thread's own, and stand in nobody's way.
    let mut as_if = program.clone();
    for group in &mut as_if.groups {
        if !program.roots.contains(&group.owner) {
            (group.order, group.combine) = (Order::Exact, Some(Combine::Op(Op::Add)));
        }
    }
    match chunkable(&as_if) {
        Err(why) if matches!(why.reason, Reason::Reread | Reason::Writes) => {
            return Err(Refusal::Other(why.to_string()));
        }
        _ => {}
    }
    for placed in &facts.blocks {
        let Place::At { rate, section, .. } = placed.place else {
            if let Some(counter) = stray(program, facts, placed) {
                let name = program.name(counter);
                return Err(Refusal::Other(format!(
                    "{name} runs on, and is in no group"
                )));
            }
            continue;
        };
        let here = facts.tree.loop_rate(rate);
        let is_outside = matches!(section, Section::Nest | Section::Done);
        each(&placed.block.stmts, &mut |s| {
            let group = match &s.kind {
                StmtKind::Assign(v, _) => facts.group.get(v).map(|(g, _)| *g),
                StmtKind::Scan { group, .. } => Some(*group),
                _ => return Ok(()),
            };
            let elsewhere = |g: GroupId| {
                let step = program.groups[g.index()].step;
                facts.tree.loop_rate(step) != here
            };
            match is_outside || group.is_some_and(elsewhere) {
                true => Err(Refusal::Other("a group is updated at several rates".into())),
                false => Ok(()),
            }
        })?;
    }
    Ok(())
}

/// The counter of a nested rate that a block starts once for all, but that no group has.
fn stray(program: &Loop, facts: &Facts<'_>, placed: &Placed<'_>) -> Option<Var> {
    let started = placed.block.stmts.iter().filter_map(|s| match s.kind {
        StmtKind::Carry(v, _) => Some(v),
        _ => None,
    });
    let rates = || program.rates.iter();
    let is_nested =
        |v: &Var| rates().any(|r| r.kind.parent().is_some() && r.kind.counter() == Some(*v));
    let mut strays = started.filter(|v| !facts.group.contains_key(v));
    strays.find(is_nested)
}
