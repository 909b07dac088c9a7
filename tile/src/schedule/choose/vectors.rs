//! What vectors do well, and what keeps a sweep from them.

use super::Aim;
use crate::region::{Aside, Flags, Region, Role, Statement, Sweep};
use crate::schedule::Schedule;
use crate::target::{Extension, Masks, Target};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};
use loop_lang::math;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Whether something goes from one element to the next, which takes longer to compile than it wins: flags that vectors ask do
/// not.
pub(super) fn goes_on(sweep: &Sweep, flags: &Flags) -> bool {
    let serial = |(v, role): (&Var, &Role)| match role {
        Role::Serial => !flags.vars.contains(v),
        role => matches!(role, Role::Scan(1)),
    };
    running(sweep) || sweep.roles.iter().any(serial)
}

/// Whether sums run through a sweep. In vectors of few lanes they take more than one after the other.
pub(super) fn running(sweep: &Sweep) -> bool {
    let mut roles = sweep.roles.values();
    roles.any(|role| matches!(role, Role::Running { .. }))
}

/// How many elements a sweep's scans take at a time, if it has some.
pub(super) fn block(sweep: &Sweep) -> Option<u32> {
    sweep.roles.values().find_map(|role| match role {
        Role::Scan(block) if *block > 1 => Some(*block),
        _ => None,
    })
}

/// Whether what goes from one element to the next leaves vectors enough to do: it seldom changes, or there is more beside
/// it, which vectors do not take apart as well.
pub(super) fn is_little_chained(
    region: &Region,
    sweep: &Sweep,
    target: &Target,
    lanes: u32,
) -> bool {
    let chain = match region.chain(sweep) {
        Ok(Some(chain)) if chain.changes.is_none() => chain,
        Ok(_) => return true,
        Err(_) => return false,
    };
    let program = region.program;
    let beside = |s: &&Statement| {
        let computes = matches!(s.stmt.kind, StmtKind::Let(..) | StmtKind::If { .. });
        let mut varies = false;
        facts::each_def(s.stmt, &mut |v| varies |= !is_next_count(sweep, v));
        computes && varies && !chain.held.contains(&s.id)
    };
    // The guard's test is none of it.
    let beside = sweep
        .all_tops()
        .filter(|s| s.step > 0)
        .filter(beside)
        .count();
    let apart = |s: &Statement| match &s.stmt.kind {
        StmtKind::Let(v, Op::Cast, args) => {
            let (from, to) = (program.atom_ty(args[0]), program.ty(*v).elem());
            let wide = from.size() == 8 || to.size() == 8;
            wide && from.is_float() != to.is_float() && target.masks() != Masks::Registers
        }
        _ => false,
    };
    lanes >= 4 && beside > 0 && !sweep.statements.iter().any(apart)
}

/// Whether a sweep has scalar loops.
pub(super) fn turns(sweep: &Sweep) -> bool {
    let mut all = sweep.statements.iter();
    all.any(|s| matches!(s.stmt.kind, StmtKind::While { .. }))
}

/// The width of the widest numbers that a sweep's scalar loops compute, which is what vectors take long for; none if they
/// compute none.
pub(super) fn widest_of_turns(region: &Region, sweep: &Sweep) -> Option<u32> {
    let mut widest = None;
    for s in sweep.statements.iter().filter(|s| !s.top) {
        facts::each_def(s.stmt, &mut |v| {
            let ty = region.program.ty(v).elem();
            if ty != Ty::Bool {
                widest = widest.max(Some(ty.size() as u32));
            }
        });
    }
    widest
}

/// The widths of what differs from step to step, the smallest and the largest; none if there is nothing of the kind.
pub(super) fn widths(region: &Region, sweep: &Sweep) -> Option<(u32, u32)> {
    let differ =
        (sweep.defs.iter()).filter(|v| sweep.varies(Atom::Var(**v)) && !is_next_count(sweep, **v));
    let elem = |v: Var| region.program.ty(v).elem();
    let stored = sweep.accesses.iter().map(|a| elem(a.array));
    let all = differ.map(|v| elem(*v)).chain(stored);
    // Truth values are as wide as what was compared. In memory they are bytes, which counts where there is nothing else.
    let (truths, others): (Vec<Ty>, Vec<Ty>) = all.partition(|ty| *ty == Ty::Bool);
    let widths = match others.is_empty() {
        true => truths,
        false => others,
    };
    let widths = widths.iter().map(|ty| ty.size() as u32);
    Some((widths.clone().min()?, widths.max()?))
}

/// Whether a variable is what a counter or a count is next: vectors do not compute it.
pub(super) fn is_next_count(sweep: &Sweep, v: Var) -> bool {
    let updated = |u: &Var| {
        sweep
            .updates
            .get(u)
            .is_some_and(|next| next[..] == [Some(v)])
    };
    sweep.next_of(v).is_some_and(|u| updated(&u))
}

/// Whether all operators have vectors, and no lane waits for another's scalar loop.
pub(super) fn all_in_vectors(region: &Region, sweep: &Sweep, code: (&Target, Aim)) -> bool {
    let mut all = sweep.statements.iter();
    all.all(|s| in_vectors(region, sweep, s.stmt, code))
}

/// What a sweep reads that does not lie side by side.
pub(super) fn aside(region: &Region, sweep: &Sweep, split: &Schedule) -> Aside {
    let cases = split.splits(sweep.rate).then(|| region.cases(sweep));
    sweep.reads_aside(|a| cases.as_ref().is_some_and(|c| c.prove(sweep, a)))
}

/// Whether a statement is one of vectors, and not of one lane after the other.
pub(super) fn in_vectors(region: &Region, sweep: &Sweep, s: &Stmt, code: (&Target, Aim)) -> bool {
    let program = region.program;
    match &s.kind {
        StmtKind::While { .. } => false,
        // Lanes are joined onto elements anywhere one after the other.
        StmtKind::ScatterArray { .. } => sweep.joins_side_by_side(region, s),
        StmtKind::Let(v, op, args) => {
            let typed = args[usize::from(args.len() == 3)];
            let mut known = true;
            facts::each_use(s, &mut |u| known &= !sweep.varies(Atom::Var(u)));
            let (from, to) = (program.atom_ty(typed), program.ty(*v).elem());
            known || op.vectorises(from, to) || is_written_out(*op, from, code)
        }
        _ => true,
    }
}

/// Whether an operator is a function whose body is written out in vectors. That takes too long for code that is to start soon.
pub(super) fn is_written_out(op: Op, ty: Ty, (target, aim): (&Target, Aim)) -> bool {
    aim == Aim::Speed && target.has(Extension::Fma) && math::keeps_width(op, ty)
}
