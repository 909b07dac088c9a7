//! Merging of equal counters, so that each rate has at most one counter.
//!
//! Two carried variables are *equal* if they are carried in the same block with the same start.
//! Their only assignments must also be in one block. Each must apply the same operation to the
//! variable itself and to the same other operands (`ix + 1`). They start equal and stay equal. A
//! loop rate's own counter stays if it is one of them. Their groups must have the same properties.
//!
//! Before: `carry i_1 = 0; carry j_2 = 0`, and `let ni_1 = add i_1 1; i_1 := ni_1; let nj_2 = add
//! j_2 1; j_2 := nj_2`. After: uses of `j_2` are uses of `i_1`, and `j_2` is gone.
//!
//! Input: a verified loop. Output: a verified loop without two such variables. The removed
//! variable's next value becomes dead code. The cost is one table lookup per carried variable.
//! Seed: the flow fusion paper's rates, which have one counter each, shared by all combinators.

use super::context::{Context, variable};
use crate::ir::{Args, Atom, Group, GroupId, Loop, Order, RateKind, Stmt, StmtKind, Var};
use crate::op::Op;
use crate::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Merges equal counters.
pub fn run(program: &mut Loop) -> bool {
    let twins = twins(program);
    if twins.is_empty() {
        return false;
    }
    walk::atoms_mut(program, &mut |a| {
        if let Atom::Var(v) = a
            && let Some(kept) = twins.get(v)
        {
            *a = Atom::Var(*kept);
        }
    });
    for rate in &mut program.rates {
        if let RateKind::Sub { count: Some(v), .. } = &mut rate.kind
            && let Some(kept) = twins.get(v)
        {
            *v = *kept;
        }
    }
    remove(program, &twins);
    true
}

/// Holds facts about a carried variable.
#[derive(Default)]
struct Life {
    /// The rank of its starting block, and the start value.
    carried: Option<(usize, Atom)>,
    /// The rank of its assigning block, and the assigned value.
    assigned: Option<(usize, Atom)>,
    /// Whether it is assigned more than once, or by a scan.
    other: bool,
}

/// Variables with equal keys are equal.
#[derive(PartialEq, Eq, Hash)]
struct CounterKey {
    carried: (usize, Atom),
    assigned: usize,
    op: Op,
    /// The operands of the next value; none represents the variable itself, which comes first if
    /// possible.
    operands: Vec<Option<Atom>>,
    /// The group's order; none if any order gives the same value.
    lanes: Option<(u32, u32)>,
}

/// Maps each removed variable to the variable that stays.
fn twins(program: &Loop) -> FxHashMap<Var, Var> {
    let context = Context::of(program);
    let lives = lives(program, &context);
    let lets = lets(program, &context, &lives);
    let counters: FxHashSet<Var> = program
        .rates
        .iter()
        .filter_map(|r| r.kind.counter())
        .collect();
    let groups: FxHashMap<Var, (usize, &Group)> = program
        .groups
        .iter()
        .enumerate()
        .flat_map(|(i, g)| g.vars.iter().map(move |v| (*v, (i, g))))
        .collect();
    let mut first: FxHashMap<CounterKey, Var> = FxHashMap::default();
    let mut twins = FxHashMap::default();
    // Loop rates' counters stay, so they come first. Others are in order of numbers.
    let mut candidates: Vec<Var> = lives.keys().copied().collect();
    candidates.sort_unstable_by_key(|v| (!counters.contains(v), *v));
    for v in candidates {
        let group = groups.get(&v).map(|(_, g)| *g);
        let Some(key) = key(v, &lives[&v], group, &lets) else {
            continue;
        };
        match first.get(&key) {
            None => {
                first.insert(key, v);
            }
            Some(kept) if counters.contains(&v) => debug_assert_ne!(*kept, v),
            Some(kept) if agree(groups.get(kept).map(|(_, g)| *g), group) => {
                twins.insert(v, *kept);
            }
            Some(_) => {}
        }
    }
    twins
}

fn lives(program: &Loop, context: &Context) -> FxHashMap<Var, Life> {
    let mut lives: FxHashMap<Var, Life> = FxHashMap::default();
    for (rank, block) in context.blocks(program).into_iter().enumerate() {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Carry(v, a) => lives.entry(*v).or_default().carried = Some((rank, *a)),
                StmtKind::Assign(v, a) => {
                    let life = lives.entry(*v).or_default();
                    life.other |= life.assigned.replace((rank, *a)).is_some();
                }
                StmtKind::Scan { group, .. } => {
                    for v in &program.groups[group.index()].vars {
                        lives.entry(*v).or_default().other = true;
                    }
                }
                _ => {}
            }
        }
    }
    lives
}

/// Collects the definitions of assigned values, if their operands are unchanged at the assignment.
fn lets(
    program: &Loop,
    context: &Context,
    lives: &FxHashMap<Var, Life>,
) -> FxHashMap<Var, (Op, Args)> {
    let mut assigned: FxHashMap<Var, Vec<usize>> = FxHashMap::default();
    for (rank, a) in lives.values().filter_map(|l| l.assigned) {
        if let Some(v) = variable(a) {
            assigned.entry(v).or_default().push(rank);
        }
    }
    let mut lets = FxHashMap::default();
    for (rank, block) in context.blocks(program).into_iter().enumerate() {
        for stmt in &block.stmts {
            if let StmtKind::Let(v, op, args) = &stmt.kind
                && let Some(places) = assigned.get(v)
                && (places.iter()).all(|to| args.iter().all(|a| context.keeps_value(*a, rank, *to)))
            {
                lets.insert(*v, (*op, args.clone()));
            }
        }
    }
    lets
}

fn key(
    v: Var,
    life: &Life,
    group: Option<&Group>,
    lets: &FxHashMap<Var, (Op, Args)>,
) -> Option<CounterKey> {
    let (carried, (assigned, next)) = (life.carried?, life.assigned?);
    let (op, args) = lets.get(&variable(next)?)?;
    if life.other || !args.contains(&Atom::Var(v)) || group.is_some_and(|g| g.vars.len() != 1) {
        return None;
    }
    let lanes = match group.map(|g| g.order) {
        None | Some(Order::Exact | Order::Sequential) => None,
        Some(Order::Lanes(l)) => Some((0, l)),
        Some(Order::Prefix(l)) => Some((1, l)),
        Some(Order::Runs(l)) => Some((2, l)),
    };
    let mut operands: Vec<Option<Atom>> = args
        .iter()
        .map(|a| Some(*a).filter(|a| *a != Atom::Var(v)))
        .collect();
    if op.commutes() {
        operands.sort_by_key(Option::is_some);
    }
    Some(CounterKey {
        carried,
        assigned,
        op: *op,
        operands,
        lanes,
    })
}

/// Tells whether the staying group has the properties of the removed one. A loop rate's counter
/// without a group may replace any group. A sequential group stays, since it marks the loop as
/// sequential.
fn agree(kept: Option<&Group>, gone: Option<&Group>) -> bool {
    match (kept, gone) {
        (_, None) => true,
        (None, Some(gone)) => gone.combine.is_some(),
        (Some(a), Some(b)) => {
            let parts = |g: &Group| (g.owner, g.step, g.combine, g.order);
            parts(a) == parts(b) && a.identity == b.identity && a.level <= b.level
        }
    }
}

/// Removes the statements and groups of merged variables.
fn remove(program: &mut Loop, twins: &FxHashMap<Var, Var>) {
    let gone = |g: &Group| g.vars.iter().any(|v| twins.contains_key(v));
    let mut number = Vec::with_capacity(program.groups.len());
    let mut next = 0;
    for group in &program.groups {
        number.push(GroupId::new(next));
        next += usize::from(!gone(group));
    }
    program.groups.retain(|g| !gone(g));
    for block in program.blocks.values_mut() {
        start_first(&mut block.stmts, twins);
        block.stmts.retain_mut(|s| match &mut s.kind {
            StmtKind::Carry(v, _) | StmtKind::Assign(v, _) => !twins.contains_key(v),
            StmtKind::Scan { group, .. } => {
                *group = number[group.index()];
                true
            }
            _ => true,
        });
    }
}

/// Starts a staying variable where the first of its merged variables started: reads of that
/// variable may precede its own start.
fn start_first(stmts: &mut [Stmt], twins: &FxHashMap<Var, Var>) {
    let started = |s: &Stmt| match s.kind {
        StmtKind::Carry(v, _) => Some(v),
        _ => None,
    };
    let mut first: FxHashMap<Var, usize> = FxHashMap::default();
    for at in 0..stmts.len() {
        let Some(v) = started(&stmts[at]) else {
            continue;
        };
        match twins.get(&v) {
            Some(kept) => {
                first.entry(*kept).or_insert(at);
            }
            None => {
                if let Some(earlier) = first.remove(&v) {
                    stmts.swap(earlier, at);
                }
            }
        }
    }
}
