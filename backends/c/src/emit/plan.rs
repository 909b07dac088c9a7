//! How each sweep is written: in strips or one by one, in vectors, in which versions.

use super::stream::TILE;
use super::unit::Unit;
use livefusion_tile::region::{Case, Region, Streamed, Sweep, Test};
use livefusion_tile::schedule::{MAX_STREAMED, large};
use loop_lang::ir::{Atom, Order, RateKind, Var};
use rustc_hash::FxHashSet;

/// Loops with more statements than this stay with the state machine, unless they are cut in pieces.
pub(super) const MAX_STATEMENTS: usize = 4096;
/// Loops with more statements than this are not cut in pieces either.
const MAX_IN_PIECES: usize = 64 << 10;

/// How a sweep is written.
#[derive(Clone)]
pub struct Plan<'r> {
    /// What is known of it.
    pub sweep: &'r Sweep<'r>,
    /// Elements per strip; 1 without strips.
    pub strip: u64,
    /// Accesses (array, index) that cannot miss once the loop has been entered.
    pub proven: FxHashSet<(Var, Var)>,
    /// Results that are written in step and not looked at.
    pub streamed: Vec<Streamed>,
    /// From how many iterations on these go past the caches.
    many: u64,
    /// What is taken for granted.
    pub case: Case,
    /// Comparisons before whose next change the general form stops.
    pub stops: Vec<Test>,
}

/// Plans for the sweeps that have a straight form.
pub fn plans<'r>(region: &'r Region<'r>) -> Vec<Plan<'r>> {
    let sweeps = region.sweeps();
    sweeps
        .filter_map(|s| versions(region, s))
        .flatten()
        .collect()
}

/// The versions of a sweep's straight loop.
fn versions<'r>(region: &'r Region<'r>, sweep: &'r Sweep<'r>) -> Option<Vec<Plan<'r>>> {
    if sweep.statements.len() > MAX_IN_PIECES {
        return None;
    }
    let mut plan = Plan::of(region, sweep);
    if !sweep.exits.is_empty() {
        // It goes from element to element.
        let fits = plan.strip == 1 && sweep.statements.len() <= MAX_STATEMENTS;
        return fits.then(|| vec![plan]);
    }
    if plan.needs_scans(region) {
        return None;
    }
    plan.streamed = region.streamed(sweep);
    Some(cases(region, plan))
}

/// The versions of a plan, the general form last if they do not cover everything.
fn cases<'r>(region: &Region, plan: Plan<'r>) -> Vec<Plan<'r>> {
    let found = region.cases(plan.sweep);
    let mut general = (found.general.is_some() || found.cases.is_empty()).then(|| plan.clone());
    if let (Some(plan), Some((stops, defs))) = (&mut general, found.general) {
        (plan.stops, plan.case) = (stops, defs);
    }
    let cases = found.cases.into_iter().map(|case| plan.in_case(case));
    cases.chain(general).collect()
}

impl<'r> Plan<'r> {
    /// The plain loop, in strips if there are lanes.
    fn of(region: &Region, sweep: &'r Sweep<'r>) -> Plan<'r> {
        let groups = sweep.groups.iter();
        let lanes = groups.filter_map(|g| match region.program.groups[g.index()].order {
            Order::Lanes(l) | Order::Prefix(l) if l > 1 => Some(u64::from(l)),
            _ => None,
        });
        Plan {
            sweep,
            strip: lanes.min().unwrap_or(1),
            proven: sweep.proven.clone(),
            streamed: Vec::new(),
            many: large(region, sweep),
            case: Case::default(),
            stops: Vec::new(),
        }
    }

    /// The plain loop of a sweep that is part of something larger, if it is short and only its bound ends it.
    pub(super) fn part(region: &Region, sweep: &'r Sweep<'r>) -> Option<Plan<'r>> {
        let fits = sweep.statements.len() <= MAX_STATEMENTS && sweep.exits.is_empty();
        fits.then(|| Plan::of(region, sweep))
    }

    /// Whether it reads what an earlier loop has scanned.
    pub(super) fn needs_scans(&self, region: &Region) -> bool {
        let scans = |v: &Var| {
            let group = region.facts.local_group(region.program, *v);
            matches!(group, Some((_, _, Order::Prefix(_))))
        };
        self.sweep.scalars.iter().any(scans)
    }

    /// From how many iterations on results go past the caches, if they ever do.
    pub(super) fn streams(&self, unit: &Unit) -> Option<u64> {
        let rate = unit.program.rate(self.sweep.rate);
        let root = matches!(rate.kind, RateKind::Root { .. });
        let strips = TILE.is_multiple_of(self.strip.max(1));
        let some = (1..=MAX_STREAMED).contains(&self.streamed.len());
        (root && strips && some).then_some(self.many)
    }

    /// The version for a case.
    fn in_case(&self, case: Case) -> Plan<'r> {
        let mut plan = self.clone();
        for room in &case.rooms {
            plan.proven.insert((room.array, room.index));
        }
        plan.case = case;
        plan
    }

    /// Whether an index is at a fixed distance from the counter.
    pub fn is_near(&self, i: Atom) -> bool {
        let near = |v: Var| self.case.near.contains(&v);
        i.var().is_some_and(near) || self.sweep.affine(i).is_some_and(|a| a.is_near())
    }
}
