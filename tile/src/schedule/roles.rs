//! How what is carried is updated, as far as several steps may be taken at a time.

use crate::region::{Region, Sweep};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Order, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::collections::BTreeMap;

/// How a carried variable is updated in a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// One more for each element that its sub rate admits. Nothing reads it but as an index of what is written, so
    /// a vector may go up by as many at once.
    Count {
        /// The step that enters the sub rate; none at the rate itself.
        sub: Option<usize>,
    },
    /// Joined with a value, by an operator that may take elements in any order, and read by nothing else.
    Join(Op, Atom),
    /// In lanes, by the element's number.
    Lanes(u32),
    /// One step after the other.
    Serial,
}

/// The roles of all that a sweep carries, its counter aside.
pub fn roles(region: &Region, sweep: &Sweep) -> BTreeMap<Var, Role> {
    let mut roles = BTreeMap::new();
    for v in &sweep.carried {
        roles.insert(*v, role(region, sweep, *v).unwrap_or(Role::Serial));
    }
    for g in &sweep.groups {
        let group = &region.program.groups[g.index()];
        let role = match group.order {
            Order::Lanes(lanes) if lanes > 1 => Role::Lanes(lanes),
            _ => Role::Serial,
        };
        roles.extend(group.vars.iter().map(|v| (*v, role)));
    }
    roles
}

/// The role of a plain variable; none if it is a serial one.
fn role(region: &Region, sweep: &Sweep, v: Var) -> Option<Role> {
    let Type::Scalar(ty) = region.program.ty(v) else {
        return None;
    };
    let [Some(next)] = sweep.updates.get(&v)?[..] else {
        return None;
    };
    let (op, joined) = sweep.statements.iter().find_map(|s| match &s.stmt.kind {
        StmtKind::Let(n, op, args) if *n == next => match args[..] {
            [Atom::Var(a), x] | [x, Atom::Var(a)] if a == v && x != Atom::Var(v) => Some((*op, x)),
            _ => None,
        },
        _ => None,
    })?;
    let (mut reads_of_v, mut reads_of_next, mut indexed) = (0, 0, 0);
    let mut sub = None;
    for s in &sweep.statements {
        facts::each_use(s.stmt, &mut |u| {
            reads_of_v += usize::from(u == v);
            reads_of_next += usize::from(u == next);
        });
        match s.stmt.kind {
            StmtKind::WriteArray(_, index, _) if index == Atom::Var(v) => indexed += 1,
            StmtKind::Assign(u, _) if u == v => sub = s.sub,
            _ => {}
        }
    }
    if reads_of_next != 1 || leaves(region, sweep, v) || leaves(region, sweep, next) {
        return None;
    }
    let one = Atom::Const(Const::u64(1));
    match (reads_of_v - indexed, indexed) {
        (1, _) if ty == Ty::U64 && op == Op::Add && joined == one => Some(Role::Count { sub }),
        (1, 0) if ty.is_int() && op.joins_in_any_order(ty) => Some(Role::Join(op, joined)),
        _ => None,
    }
}

/// Whether a variable decides where a block goes.
fn leaves(region: &Region, sweep: &Sweep, v: Var) -> bool {
    let mut found = false;
    for i in sweep.blocks() {
        facts::each_leaving_use(region.facts.blocks[i].block, &mut |u| found |= u == v);
    }
    found
}
