//! Work plans: which thread executes which iterations, and why.

use crate::threads::Who;
use crate::threads::contracted::Contracted;
use crate::threads::demand::Demand;
use crate::threads::path::{Path, is_shared};
use crate::threads::shape::{Exits, MOST_LEVELS, Refusal, each, nest_left};
use crate::threads::team::folds;
use livefusion_backend::facts::{Facts, Placed};
use loop_lang::ir::{Group, GroupId, Loop, Order, Place, RateId, RateKind, Section, StmtKind, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// Describes how iterations map to threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// No rate is nested: a thread has consecutive steps of the root.
    Steps,
    /// A thread executes an iteration of the root with its inner loops, sequentially.
    Rows {
        /// The reason why threads do not share a row's elements.
        why: String,
    },
    /// A team of threads executes an iteration of the root with its inner loops.
    Teams {
        /// The reason why all threads do not share a row's elements.
        why: String,
    },
    /// Threads share the steps of the root and of a nested rate.
    Path(Path),
    /// The kernel that locates the rows of a path: a thread executes the head of a row.
    Places(Path),
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Work::Steps => write!(f, "a thread has steps"),
            Work::Rows { why } => write!(f, "a thread has a row, since {why}"),
            Work::Teams { why } => write!(f, "a team has a row, since {why}"),
            Work::Path(path) if path.length.is_some() => {
                write!(f, "threads share elements of rows that are equally long")
            }
            Work::Path(_) => write!(f, "threads share elements of segments"),
            Work::Places(_) => write!(f, "a thread finds where a segment lies"),
        }
    }
}

impl Work {
    /// Returns the mapping of its iterations.
    pub fn who(&self) -> Who {
        match self {
            Work::Steps => Who::Steps,
            Work::Path(_) => Who::Path,
            Work::Teams { .. } => Who::Teams,
            // The kernel that locates rows maps rows to threads.
            Work::Rows { .. } | Work::Places(_) => Who::Rows,
        }
    }
}

/// Holds a loop's mapping and its consequences.
#[derive(Clone)]
pub struct Plan {
    /// The mapping of its iterations.
    pub work: Work,
    /// The groups that tiles combine, by level: groups of one level are independent.
    pub levels: Vec<Vec<GroupId>>,
    /// Facts about nested rates.
    pub nests: Nests,
}

/// Holds facts about nested rates.
#[derive(Clone, Default)]
pub struct Nests {
    /// The first level with a summary that needs the nested rate; absent if only the last pass
    /// needs it.
    pub runs_from: FxHashMap<RateId, u32>,
    /// The first level with a summary in which a trap's condition has its final value.
    pub known_from: FxHashMap<Var, u32>,
    /// The groups that each pass over a row folds, if a team executes the row.
    pub folds: FxHashMap<RateId, Vec<GroupId>>,
    /// The needed subset of the loop's values, if not all are needed.
    pub only: Option<FxHashSet<Var>>,
    /// The plan to locate rows, if their positions are unknown.
    pub places: Option<Box<Plan>>,
    /// The plan for many rows of a known length.
    pub rows: Option<Box<Plan>>,
    /// The plan for rows that cannot be located.
    pub anywhere: Option<Box<Plan>>,
}

impl Plan {
    /// Plans a loop.
    ///
    /// `left` has the root's exits, and the variables read outside the root's steps.
    ///
    /// # Errors
    ///
    /// Returns the reason if it cannot run in parallel on a device.
    pub fn of(
        program: &Loop,
        facts: &Facts<'_>,
        contracted: &Contracted,
        updated: &FxHashSet<GroupId>,
        left: (Exits, &FxHashSet<Var>),
        who: Option<Who>,
    ) -> Result<Plan, Refusal> {
        let not = |who: Who, why: &str| Err(Refusal::Requested(format!("it has no {who}: {why}")));
        let is_nested = |r: &RateId| matches!(program.rate(*r).kind, RateKind::Nested { .. });
        let rates = (0..program.rates.len()).map(RateId::new);
        let nested: Vec<RateId> = rates.filter(is_nested).collect();
        if nested.is_empty() {
            if let Some(who) = who.filter(|who| *who != Who::Steps) {
                return not(who, "no rate is nested");
            }
            return Ok(Plan {
                work: Work::Steps,
                levels: levels(program, |g| updated.contains(&g))?,
                nests: Nests::default(),
            });
        }
        check(program, facts)?;
        let demand = Demand::of(program, facts, contracted);
        if let Some(counter) = ending_itself(program, facts, &demand) {
            return Err(Refusal::Sequential(program.name(counter).into()));
        }
        let path = || Plan::path(program, facts, contracted, &demand, left);
        let teams = |why: String, folds| Plan::teams(why, folds, program, facts, &demand);
        let rows = |why: String| Plan::alone(why, program, facts, &demand);
        let requested = || "it is asked for".to_string();
        match who {
            Some(Who::Steps) => not(Who::Steps, "rates are nested"),
            Some(Who::Path) => path().or_else(|why| not(Who::Path, &why)),
            Some(Who::Teams) => match folds(program, facts) {
                Ok(folds) => teams(requested(), folds),
                Err(why) => not(Who::Teams, &why),
            },
            Some(Who::Rows) => rows(requested()),
            // One row may have more elements than all others, so rows are shared where possible.
            None => path().or_else(|why| match folds(program, facts) {
                Ok(folds) => teams(why, folds),
                Err(also) => rows(format!("{why}, and {also}")),
            }),
        }
    }

    /// Assigns each row to a thread.
    fn alone(
        why: String,
        program: &Loop,
        facts: &Facts<'_>,
        demand: &Demand<'_>,
    ) -> Result<Plan, Refusal> {
        let levels = levels(program, |g| of_root(program, g))?;
        let work = Work::Rows { why };
        Ok(Plan::with(work, levels, program, facts, demand))
    }

    /// Assigns rows to teams.
    fn teams(
        why: String,
        folds: FxHashMap<RateId, Vec<GroupId>>,
        program: &Loop,
        facts: &Facts<'_>,
        demand: &Demand<'_>,
    ) -> Result<Plan, Refusal> {
        let levels = levels(program, |g| of_root(program, g))?;
        let mut plan = Plan::with(Work::Teams { why }, levels, program, facts, demand);
        plan.nests.folds = folds;
        Ok(plan)
    }

    /// Shares elements of rows among threads.
    fn path(
        program: &Loop,
        facts: &Facts<'_>,
        contracted: &Contracted,
        demand: &Demand<'_>,
        (exits, behind): (Exits, &FxHashSet<Var>),
    ) -> Result<Plan, String> {
        let path = Path::of(program, facts, demand, exits)?;
        if exits.any && path.running && behind.contains(&path.counter) {
            return Err("how many elements came before its end is asked".into());
        }
        if path.head.iter().any(|v| contracted.has(*v)) {
            return Err("a row begins with a contracted array".into());
        }
        let shared =
            levels(program, |g| is_shared(program, &path, g)).map_err(|e| e.to_string())?;
        let mut plan = Plan::with(Work::Path(path.clone()), shared, program, facts, demand);
        if path.length.is_none() {
            plan.nests.places = Some(Box::new(Plan::places(path, program, facts, demand)?));
            if exits.any {
                // Rows after the exit may have any position.
                let why = "where rows lie cannot be told".into();
                let alone = Plan::alone(why, program, facts, demand);
                let alone = alone.and_then(|p| p.checked(exits));
                plan.nests.anywhere = Some(Box::new(alone.map_err(|e| e.to_string())?));
            }
        } else if !plan.levels.is_empty()
            && let Ok(folds) = folds(program, facts)
        {
            // Here, no thread waits for another thread's part of its row.
            let why = "rows are many".into();
            let teams = Plan::teams(why, folds, program, facts, demand);
            let teams = teams.and_then(|p| p.checked(exits));
            plan.nests.rows = teams.ok().map(Box::new);
        }
        Ok(plan)
    }

    /// Checks the number of levels. The exit's position counts as one more level.
    pub(super) fn checked(self, exits: Exits) -> Result<Plan, Refusal> {
        let levels = self.levels.len() as u32 + u32::from(exits.any);
        match levels <= MOST_LEVELS {
            true => Ok(self),
            false => Err(Refusal::Levels(levels)),
        }
    }

    /// Plans the kernel that counts the elements in all rows up to each row.
    fn places(
        path: Path,
        program: &Loop,
        facts: &Facts<'_>,
        demand: &Demand<'_>,
    ) -> Result<Plan, String> {
        let group = |v: &Var| facts.group.get(v).map(|(g, _)| *g);
        let mut known: Vec<GroupId> = path
            .head
            .iter()
            .chain([&path.counter])
            .filter_map(group)
            .collect();
        // Groups needed by these are also needed to locate rows.
        let mut next = 0;
        while let Some(g) = known.get(next).copied() {
            let behind = demand.of_updates(&[&program.groups[g.index()]]);
            if !behind.rates.is_empty() {
                return Err("where rows lie hangs on what is in them".into());
            }
            let more: Vec<GroupId> = behind.vars.iter().filter_map(group).collect();
            for g in more {
                if !known.contains(&g) {
                    known.push(g);
                }
            }
            next += 1;
        }
        let placing = levels(program, |g| known.contains(&g)).map_err(|e| e.to_string())?;
        if !path.running && placing.len() >= MOST_LEVELS as usize {
            return Err("where rows lie hangs on too much".into());
        }
        let known: Vec<&Group> = known.iter().map(|g| &program.groups[g.index()]).collect();
        let mut only = demand.of_updates(&known).vars;
        only.extend(&path.head);
        let mut plan = Plan::with(Work::Places(path), placing, program, facts, demand);
        plan.nests.only = Some(only);
        plan.find_known((program, facts), demand);
        Ok(plan)
    }

    fn with(
        work: Work,
        levels: Vec<Vec<GroupId>>,
        program: &Loop,
        facts: &Facts<'_>,
        demand: &Demand<'_>,
    ) -> Plan {
        let mut plan = Plan {
            work,
            levels,
            nests: Nests::default(),
        };
        plan.find_runs(program, demand);
        plan.find_known((program, facts), demand);
        plan
    }

    fn find_runs(&mut self, program: &Loop, demand: &Demand<'_>) {
        for k in 0..self.levels.len() {
            let known = self.levels[..=k].iter().flatten();
            let known: Vec<&Group> = known.map(|g| &program.groups[g.index()]).collect();
            for rate in demand.of_updates(&known).rates {
                self.nests.runs_from.entry(rate).or_insert(k as u32);
            }
        }
    }

    fn find_known(&mut self, (program, facts): (&Loop, &Facts<'_>), demand: &Demand<'_>) {
        let last = self.levels.len() as u32;
        let is_place = matches!(self.work, Work::Places(_));
        // The kernel that locates rows does not execute elements. A test there can fail only for
        // existing elements.
        let has_elements = |place: Place| match place {
            Place::At { rate, section, .. } => {
                let inner = !program.roots.contains(&facts.tree.loop_rate(rate));
                inner && section != Section::Nest
            }
            Place::Init | Place::Return => false,
        };
        let mut tested = Vec::new();
        let blocks = facts.blocks.iter();
        for placed in blocks.filter(|b| !(is_place && has_elements(b.place))) {
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
            let found = groups.clone().filter_map(|(g, _)| Some(at(g)? as u32 + 1));
            let run = behind.rates.iter();
            let run = run.map(|r| *self.nests.runs_from.get(r).unwrap_or(&last));
            let from = found.chain(run).max().unwrap_or(0);
            if is_place
                && !(behind.rates.is_empty() && groups.clone().all(|(g, _)| at(g).is_some()))
            {
                // The kernel with the elements detects it.
                continue;
            }
            self.nests.known_from.insert(v, from);
            if let Some(only) = &mut self.nests.only {
                only.extend(behind.vars);
            }
        }
    }
}

fn of_root(program: &Loop, g: GroupId) -> bool {
    program.roots.contains(&program.groups[g.index()].owner)
}

/// Returns the groups that tiles combine, by level.
fn levels(program: &Loop, joined: impl Fn(GroupId) -> bool) -> Result<Vec<Vec<GroupId>>, Refusal> {
    let groups = (0..program.groups.len()).map(GroupId::new);
    let of = |g: GroupId| &program.groups[g.index()];
    let joined: Vec<GroupId> = groups.filter(|g| joined(*g)).collect();
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

/// Tells whether a group's partial results can be combined in any grouping.
fn joins(group: &Group) -> bool {
    let whole = group.combine.is_some() && group.identity.len() == group.vars.len();
    whole && !group.cycle && group.order != Order::Sequential
}

/// Checks the restrictions on loops with nested rates, for any mapping.
fn check(program: &Loop, facts: &Facts<'_>) -> Result<(), Refusal> {
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
            let elsewhere =
                |g: GroupId| facts.tree.loop_rate(program.groups[g.index()].step) != here;
            match is_outside || group.is_some_and(elsewhere) {
                true => Err(Refusal::Other("a group is updated at several rates".into())),
                false => Ok(()),
            }
        })?;
    }
    Ok(())
}

/// Returns a counter that continues from row to row and controls its own rate's exit. Its positions
/// are known only by sequential counting.
fn ending_itself(program: &Loop, facts: &Facts<'_>, demand: &Demand<'_>) -> Option<Var> {
    for placed in &facts.blocks {
        let Place::At { rate, section, .. } = placed.place else {
            continue;
        };
        for (k, exit) in placed.block.exits.iter().enumerate() {
            let Some(left) = nest_left(program, facts, placed, exit) else {
                continue;
            };
            // The rate's bound is known in advance.
            if k == 0 && section == Section::Guard && left == rate {
                continue;
            }
            let rates = (0..program.rates.len()).map(RateId::new);
            let around =
                rates.filter(|r| program.is_within(rate, *r) && program.is_within(*r, left));
            let counters = around.filter_map(|r| program.rate(r).kind.counter());
            let mut running = counters.filter(|c| facts.group.contains_key(c));
            let ends = |c: &Var| exit.unless.var().is_some_and(|v| demand.hangs_on(v, *c));
            if let Some(counter) = running.find(ends) {
                return Some(counter);
            }
        }
    }
    None
}

/// Returns a nested rate's counter that a block starts once, outside any group.
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
