//! Which loops have a run in each lane, and what vectors of them need.

use crate::facts;
use livefusion_tile::region::cost::is_cheap;
use livefusion_tile::region::{Region, Statement, Sweep};
use loop_lang::ir::{Atom, GroupId, Order, RateKind, StmtKind, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashSet;

/// More variables than this in the states of a loop would not stay in registers.
const MAX_STATE: usize = 12;

/// Steps whose elements are brought together at a time.
pub(super) const TILE: u64 = 8;

/// A loop that is written in vectors.
#[derive(Clone)]
pub struct Vectors {
    /// Bytes of the widest element.
    pub widest: usize,
    /// Statements' results that vectors need.
    pub needed: FxHashSet<Var>,
}

/// The form of a sweep with a run in each lane, if it does nothing but fold by operators that only associate.
pub fn runs(region: &Region, sweep: &Sweep) -> Option<Vectors> {
    let program = region.program;
    let groups = || sweep.groups.iter().map(|g| &program.groups[g.index()]);
    let run = u32::try_from(program.grid()).ok()?;
    let serial = run >= TILE as u32 && groups().all(|g| g.order == Order::Runs(run));
    let width: usize = groups().map(|g| g.vars.len()).sum();
    let root = matches!(program.rate(sweep.rate).kind, RateKind::Root { .. });
    let fits = root && serial && sweep.is_plain() && (1..=MAX_STATE).contains(&width);
    let fits = fits && sweep.carried.is_empty();
    if !fits || !sweep.statements.iter().all(|s| computes(region, sweep, s)) {
        return None;
    }
    let needed = needed(region, sweep);
    let widest = widest(region, sweep, &needed);
    (widest >= 4).then_some(Vectors { widest, needed })
}

/// Whether a statement has a form in vectors, and does nothing but compute and update.
fn computes(region: &Region, sweep: &Sweep, s: &Statement) -> bool {
    match &s.stmt.kind {
        StmtKind::Let(..) => is_cheap(region.program, s.stmt),
        StmtKind::If { .. } | StmtKind::Assign(..) => true,
        StmtKind::ReadArray(_, a, Atom::Var(index)) => {
            let place = (region.owner(*a), *index);
            s.top && *index == sweep.counter && sweep.proven.contains(&place)
        }
        StmtKind::ArrayLength(..) => s.top,
        _ => false,
    }
}

/// What vectors need in the end: for updates, the counter's aside.
fn needed(region: &Region, sweep: &Sweep) -> FxHashSet<Var> {
    let states = |g: &GroupId| region.program.groups[g.index()].vars.iter().copied();
    let states: FxHashSet<Var> = sweep.groups.iter().flat_map(states).collect();
    let next = |s: &Statement| match s.stmt.kind {
        StmtKind::Assign(v, Atom::Var(next)) if states.contains(&v) => Some(next),
        _ => None,
    };
    let mut needed = sweep.statements.iter().filter_map(next).collect();
    sweep.close(&mut needed);
    needed
}

/// Bytes of the widest element that a vector holds.
fn widest(region: &Region, sweep: &Sweep, needed: &FxHashSet<Var>) -> usize {
    let program = region.program;
    let mut widest = if needed.contains(&sweep.counter) {
        8
    } else {
        1
    };
    let mut see = |ty: Ty| {
        if ty != Ty::Bool {
            widest = widest.max(ty.size());
        }
    };
    for s in &sweep.statements {
        facts::each_def(s.stmt, &mut |v| {
            if needed.contains(&v) {
                see(facts::elem(program, v));
            }
        });
        match &s.stmt.kind {
            StmtKind::Let(v, _, args) if needed.contains(v) => {
                args.iter().for_each(|a| see(program.atom_ty(*a)));
            }
            StmtKind::Assign(v, _) if *v != sweep.counter => see(facts::elem(program, *v)),
            _ => {}
        }
    }
    widest
}
