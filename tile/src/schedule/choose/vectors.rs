//! Operations that vectorise well, and obstacles to vectorisation.

use super::Aim;
use crate::region::{Aside, Flags, InnerLoop, Region, Role, Statement};
use crate::schedule::Schedule;
use crate::target::{Extension, Masks, Target};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};
use loop_lang::math;
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// Tells whether a loop has a serial recurrence. Vectorising it costs more compile time than it
/// gains. Flags that vectors test at once do not count.
pub(super) fn goes_on(inner_loop: &InnerLoop, flags: &Flags) -> bool {
    let serial = |(v, role): (&Var, &Role)| match role {
        Role::Serial => !flags.vars.contains(v),
        role => matches!(role, Role::Scan(1)),
    };
    running(inner_loop) || inner_loop.roles.iter().any(serial)
}

/// Tells whether an innermost loop has running sums. With few lanes, they are slower in vectors.
pub(super) fn running(inner_loop: &InnerLoop) -> bool {
    let mut roles = inner_loop.roles.values();
    roles.any(|role| matches!(role, Role::Running { .. }))
}

/// Returns the block size of a loop's scans, if it has any.
pub(super) fn block(inner_loop: &InnerLoop) -> Option<u32> {
    inner_loop.roles.values().find_map(|role| match role {
        Role::Scan(block) if *block > 1 => Some(*block),
        _ => None,
    })
}

/// Tells whether a recurrence leaves vectors enough work: its values seldom change, or enough of
/// the other statements vectorise well.
pub(super) fn is_little_recurrent(
    region: &Region,
    inner_loop: &InnerLoop,
    target: &Target,
    lanes: u32,
) -> bool {
    let recurrence = match region.recurrence(inner_loop) {
        Ok(Some(recurrence)) if recurrence.changes.is_none() => recurrence,
        Ok(_) => return true,
        Err(_) => return false,
    };
    let program = region.program;
    let beside = |s: &&Statement| {
        let computes = matches!(s.stmt.kind, StmtKind::Let(..) | StmtKind::If { .. });
        let mut varies = false;
        facts::each_def(s.stmt, &mut |v| varies |= !is_next_count(inner_loop, v));
        computes && varies && !recurrence.held.contains(&s.id)
    };
    // Excludes the guard's test.
    let beside = inner_loop
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
    lanes >= 4 && beside > 0 && !inner_loop.statements.iter().any(apart)
}

/// Tells whether an innermost loop contains scalar loops.
pub(super) fn turns(inner_loop: &InnerLoop) -> bool {
    let mut all = inner_loop.statements.iter();
    all.any(|s| matches!(s.stmt.kind, StmtKind::While { .. }))
}

/// Returns the widest number computed in scalar loops, which dominates the cost of vectors. The
/// result is none if they compute none.
pub(super) fn widest_of_turns(region: &Region, inner_loop: &InnerLoop) -> Option<u32> {
    let mut widest = None;
    for s in inner_loop.statements.iter().filter(|s| !s.top) {
        facts::each_def(s.stmt, &mut |v| {
            let ty = region.program.ty(v).elem();
            if ty != Ty::Bool {
                widest = widest.max(Some(ty.size() as u32));
            }
        });
    }
    widest
}

/// Returns the smallest and the largest width of values that vary by step, if there are any.
pub(super) fn widths(region: &Region, inner_loop: &InnerLoop) -> Option<(u32, u32)> {
    let differ = (inner_loop.defs.iter())
        .filter(|v| inner_loop.varies(Atom::Var(**v)) && !is_next_count(inner_loop, **v));
    let elem = |v: Var| region.program.ty(v).elem();
    let stored = inner_loop.accesses.iter().map(|a| elem(a.array));
    let all = differ.map(|v| elem(*v)).chain(stored);
    // Booleans are as wide as the compared values. In memory they are bytes, which counts only if
    // there is nothing else.
    let (truths, others): (Vec<Ty>, Vec<Ty>) = all.partition(|ty| *ty == Ty::Bool);
    let widths = match others.is_empty() {
        true => truths,
        false => others,
    };
    let widths = widths.iter().map(|ty| ty.size() as u32);
    Some((widths.clone().min()?, widths.max()?))
}

/// Tells whether a variable is the next value of a counter or count: vectors do not compute it.
pub(super) fn is_next_count(inner_loop: &InnerLoop, v: Var) -> bool {
    let updated = |u: &Var| {
        inner_loop
            .updates
            .get(u)
            .is_some_and(|next| next[..] == [Some(v)])
    };
    inner_loop.next_of(v).is_some_and(|u| updated(&u))
}

/// Tells whether all operators have vectors, and there is no scalar loop.
pub(super) fn all_in_vectors(
    region: &Region,
    inner_loop: &InnerLoop,
    code: (&Target, Aim),
) -> bool {
    let mut all = inner_loop.statements.iter();
    all.all(|s| in_vectors(region, inner_loop, s.stmt, code))
}

/// Returns how the loop reads memory that is not contiguous.
pub(super) fn aside(region: &Region, inner_loop: &InnerLoop, partition: &Schedule) -> Aside {
    let cases = partition
        .partitions(inner_loop.rate)
        .then(|| region.cases(inner_loop));
    inner_loop.reads_aside(|a| cases.as_ref().is_some_and(|c| c.prove(inner_loop, a)))
}

/// Tells whether a statement vectorises, rather than runs lane by lane.
pub(super) fn in_vectors(
    region: &Region,
    inner_loop: &InnerLoop,
    s: &Stmt,
    code: (&Target, Aim),
) -> bool {
    let program = region.program;
    match &s.kind {
        StmtKind::While { .. } => false,
        // Lanes scatter to arbitrary elements one by one.
        StmtKind::ScatterArray { .. } => inner_loop.joins_side_by_side(region, s),
        StmtKind::Let(v, op, args) => {
            let typed = args[usize::from(args.len() == 3)];
            let mut known = true;
            facts::each_use(s, &mut |u| known &= !inner_loop.varies(Atom::Var(u)));
            let (from, to) = (program.atom_ty(typed), program.ty(*v).elem());
            known || op.vectorises(from, to) || is_written_out(*op, from, code)
        }
        _ => true,
    }
}

/// Tells whether an operator is a function with a body written out in vectors. That compiles too
/// slowly when compile time matters.
pub(super) fn is_written_out(op: Op, ty: Ty, (target, aim): (&Target, Aim)) -> bool {
    aim == Aim::Speed && target.has(Extension::Fma) && math::keeps_width(op, ty)
}
