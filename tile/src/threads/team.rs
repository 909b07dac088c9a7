//! Teams: a power of two of neighbouring threads in a block execute a row together.
//!
//! Each thread has every n-th element of a pass over the row, or a contiguous piece where order
//! matters. The partial results are combined after the pass. Teams suit rows with several passes:
//! later passes find the elements in the cache, and no row state is kept between kernels.

use super::form::commutes;
use super::shape::{FEW_WORDS, may_leave, nest_left};
use livefusion_backend::facts::Facts;
use loop_lang::ir::{
    Group, GroupId, Loop, Order, Part, Place, RateId, RateKind, Section, StmtKind, Var,
};
use loop_lang::walk;
use rustc_hash::FxHashMap;

/// Returns the groups that each pass over a row folds, if teams may execute rows.
///
/// # Errors
///
/// Returns the reason if they may not.
pub(super) fn folds(
    program: &Loop,
    facts: &Facts<'_>,
) -> Result<FxHashMap<RateId, Vec<GroupId>>, String> {
    let passes = passes(program)?;
    for placed in &facts.blocks {
        let Place::At { rate, section, .. } = placed.place else {
            continue;
        };
        let ends = section == Section::Guard && placed.block.exits.len() > 1;
        let within = passes.iter().any(|p| program.is_within(rate, *p));
        let leaves = section != Section::Guard && !placed.block.exits.is_empty()
            || placed
                .block
                .exits
                .iter()
                .any(|e| nest_left(program, facts, placed, e).is_some_and(|left| left != rate));
        if passes.contains(&rate) && ends || within && (leaves || may_leave(program, facts, placed))
        {
            return Err("a row may end early".into());
        }
    }
    let words: usize = program.groups.iter().map(|g| g.vars.len()).sum();
    if words > FEW_WORDS {
        // The teams and warps of a block share its memory.
        return Err(format!("its groups have {words} words"));
    }
    let mut folds: FxHashMap<RateId, Vec<GroupId>> = FxHashMap::default();
    for pass in &passes {
        folds.insert(*pass, Vec::new());
    }
    for (i, group) in program.groups.iter().enumerate() {
        let Some(pass) = passes.iter().find(|p| program.is_within(group.step, **p)) else {
            continue;
        };
        let is_inner = group.owner != *pass && program.is_within(group.owner, *pass);
        let counts = program.rate(*pass).kind.counter();
        if is_inner || group.vars.iter().any(|v| counts == Some(*v)) {
            continue;
        }
        if facts.tree.loop_rate(group.step) != *pass || !is_fold(program, facts, group) {
            let name = group.vars.first().map_or("", |v| program.name(*v));
            return Err(format!("{name} goes from element to element"));
        }
        folds.entry(*pass).or_default().push(GroupId::new(i));
    }
    Ok(folds)
}

/// Lists the passes over a row. All threads of a warp must agree on whether a pass exists.
fn passes(program: &Loop) -> Result<Vec<RateId>, String> {
    let mut passes = Vec::new();
    for root in &program.roots {
        for part in &program.rate(*root).parts {
            let Part::Child(child) = *part else { continue };
            let is_nested = |r: RateId| matches!(program.rate(r).kind, RateKind::Nested { .. });
            if is_nested(child) {
                passes.push(child);
                continue;
            }
            let mut rates = (0..program.rates.len()).map(RateId::new);
            if rates.any(|r| is_nested(r) && program.is_within(r, child)) {
                return Err("not every iteration has each pass".into());
            }
        }
    }
    Ok(passes)
}

/// Tells whether a pass folds in order.
///
/// Each thread then has a piece of the row. Otherwise, neighbouring threads have neighbouring
/// elements.
pub fn in_pieces(program: &Loop, folds: &[GroupId]) -> bool {
    let mut groups = folds.iter().map(|g| &program.groups[g.index()]);
    groups.any(|g| g.order != Order::Exact && !commutes(g))
}

/// Tells whether pieces may be folded independently, and no element reads an earlier result.
fn is_fold(program: &Loop, facts: &Facts<'_>, group: &Group) -> bool {
    let whole = group.combine.is_some() && group.identity.len() == group.vars.len();
    let apart = match group.order {
        // The verifier guarantees that no step reads a lane.
        Order::Lanes(_) => true,
        Order::Exact => !is_read(program, facts, group),
        Order::Runs(_) | Order::Prefix(_) | Order::Sequential => false,
    };
    whole && !group.cycle && apart
}

/// Tells whether the loop that updates a group reads it, other than for its next value.
fn is_read(program: &Loop, facts: &Facts<'_>, group: &Group) -> bool {
    let is_next = |v: &Var| group.next.iter().any(|a| a.var() == Some(*v));
    let is_own = |v: &Var| group.vars.contains(v);
    let pass = facts.tree.loop_rate(group.step);
    let mut is_read = false;
    for placed in &facts.blocks {
        let is_inside = match placed.place {
            Place::At { rate, section, .. } => {
                program.is_within(rate, pass) && section != Section::Nest
            }
            _ => false,
        };
        if !is_inside {
            continue;
        }
        let exits = placed.block.exits.iter().filter_map(|e| e.unless.var());
        is_read |= exits.into_iter().any(|v| is_own(&v) || is_next(&v));
        for stmt in &placed.block.stmts {
            walk::each(stmt, &mut |s| {
                let mut read = Vec::new();
                walk::operands(&s.kind, &mut |a| read.extend(a.var()));
                walk::handed_out(&s.kind, &mut |a| read.extend(a.var()));
                let mut updates = matches!(&s.kind, StmtKind::Assign(v, _) if is_own(v));
                walk::definitions(&s.kind, &mut |v| updates |= is_next(&v));
                is_read |= !updates && read.iter().any(|v| is_own(v) || is_next(v));
            });
        }
    }
    is_read
}
