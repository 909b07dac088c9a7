//! Update patterns of loop-carried variables, for vectorisation.

use super::delay::delays;
use super::{InnerLoop, Region, Statement};
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Order, StmtKind, Type, Var};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Describes how a loop updates a carried variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Incremented for each element that its subrate admits. Its only uses are as a store index
    /// and in the guard's limit. So a vector may increment it by its number of admitted lanes.
    Count {
        /// The step that enters the subrate; none for the rate itself.
        sub: Option<usize>,
    },
    /// A reduction: combined with a value by a reorderable operator, and read by nothing else.
    Join(Op, Atom),
    /// A running sum: combined with a value by a reorderable operator, and read. Each element sees
    /// the result of all earlier ones.
    Running {
        /// The operator.
        op: Op,
        /// The other operand.
        with: Atom,
        /// The step that enters the subrate; none for the rate itself.
        sub: Option<usize>,
    },
    /// A reduction in lanes, indexed by the element's number.
    Lanes(u32),
    /// A scan, in blocks by the element's number.
    Scan(u32),
    /// A delay: each step sets it to the step's element, and then reads that of the step before.
    Delay,
    /// A serial recurrence.
    Serial,
}

/// Returns the roles of all carried variables, except the counter.
pub(super) fn roles(region: &Region, inner_loop: &InnerLoop) -> BTreeMap<Var, Role> {
    let mut roles = BTreeMap::new();
    if !inner_loop.carried.is_empty() {
        let uses = CarriedUses::of(region, inner_loop);
        let role = |v: &Var| uses.role(region, inner_loop, *v).unwrap_or(Role::Serial);
        roles.extend(inner_loop.carried.iter().map(|v| (*v, role(v))));
    }
    for g in &inner_loop.groups {
        let group = &region.program.groups[g.index()];
        let role = match group.order {
            Order::Lanes(lanes) if lanes > 1 => Role::Lanes(lanes),
            Order::Prefix(_) if delays(region, inner_loop, *g) => Role::Delay,
            Order::Prefix(block) => Role::Scan(block),
            _ => Role::Serial,
        };
        roles.extend(group.vars.iter().map(|v| (*v, role)));
    }
    roles
}

/// Holds the uses and next values of carried variables.
struct CarriedUses<'a> {
    /// The number of reads of each.
    reads: FxHashMap<Var, usize>,
    /// The number of uses as a store index.
    indexed: FxHashMap<Var, usize>,
    /// The operators that define next values.
    next: FxHashMap<Var, (Op, &'a [Atom])>,
    /// The subrate of each assignment.
    subs: FxHashMap<Var, Option<usize>>,
    /// Operands of control flow.
    leaving: FxHashSet<Var>,
    /// The number of comparisons with a limit, by the guard alone.
    limited: FxHashMap<Var, usize>,
    /// The first statement that reads each, and the subrates of all readers.
    readers: FxHashMap<Var, (usize, Vec<Option<usize>>)>,
}

impl<'a> CarriedUses<'a> {
    fn of(region: &Region, inner_loop: &InnerLoop<'a>) -> CarriedUses<'a> {
        let next = |v: &Var| inner_loop.updates.get(v).into_iter().flatten().flatten();
        let nexts: FxHashSet<Var> = inner_loop.carried.iter().flat_map(next).copied().collect();
        let all = inner_loop.carried.iter().chain(&nexts);
        let mut uses = CarriedUses {
            reads: all.map(|v| (*v, 0)).collect(),
            indexed: FxHashMap::default(),
            next: FxHashMap::default(),
            subs: FxHashMap::default(),
            leaving: FxHashSet::default(),
            limited: FxHashMap::default(),
            readers: FxHashMap::default(),
        };
        for s in &inner_loop.statements {
            facts::each_use(s.stmt, &mut |u| {
                if let Some(reads) = uses.reads.get_mut(&u) {
                    *reads += 1;
                    let readers = uses.readers.entry(u);
                    readers.or_insert((s.id, Vec::new())).1.push(s.sub);
                }
            });
            match &s.stmt.kind {
                StmtKind::Let(v, op, args) if nexts.contains(v) => {
                    uses.next.insert(*v, (*op, args));
                }
                StmtKind::WriteArray(_, Atom::Var(index), _) => {
                    *uses.indexed.entry(*index).or_default() += 1;
                }
                StmtKind::Let(..) => {
                    if let Some((v, _)) = inner_loop.limit(s.stmt) {
                        *uses.limited.entry(v).or_default() += 1;
                    }
                }
                StmtKind::Assign(v, _) => {
                    uses.subs.insert(*v, s.sub);
                }
                _ => {}
            }
        }
        for i in inner_loop.blocks() {
            facts::each_leaving_use(region.facts.blocks[i].block, &mut |u| {
                uses.leaving.insert(u);
            });
        }
        uses
    }

    /// Returns the role of a plain variable; none if it is serial.
    fn role(&self, region: &Region, inner_loop: &InnerLoop, v: Var) -> Option<Role> {
        let Type::Scalar(ty) = region.program.ty(v) else {
            return None;
        };
        let [Some(next)] = inner_loop.updates.get(&v)?[..] else {
            return None;
        };
        let (op, args) = *self.next.get(&next)?;
        let joined = match *args {
            [Atom::Var(a), x] | [x, Atom::Var(a)] if a == v && x != Atom::Var(v) => x,
            _ => return None,
        };
        if [v, next].iter().any(|v| self.leaving.contains(v)) {
            return None;
        }
        let sub = self.subs.get(&v).copied().flatten();
        let in_any_order = ty.is_int() && op.joins_in_any_order(ty);
        let running = in_any_order && self.runs(inner_loop, (v, sub), joined);
        let running = running.then_some(Role::Running {
            op,
            with: joined,
            sub,
        });
        if self.reads.get(&next) != Some(&1) {
            return running;
        }
        let indexed = self.indexed.get(&v).copied().unwrap_or(0);
        let one = Atom::Const(Const::u64(1));
        let limited = self.limited.get(&v).copied().unwrap_or(0);
        match (self.reads.get(&v)? - indexed - limited, indexed) {
            (1, 0) if limited > 0 && !(ty == Ty::U64 && op == Op::Add && joined == one) => running,
            (1, _) if ty == Ty::U64 && op == Op::Add && joined == one => Some(Role::Count { sub }),
            (1, 0) if in_any_order => Some(Role::Join(op, joined)),
            _ => running,
        }
    }

    /// Tells whether the other operand of a running sum is independent of the variable. In its sub
    /// rate, it must also be available before the variable's first use. The old value of another
    /// carried variable is not: its lanes follow from that variable's own elements.
    fn runs(&self, inner_loop: &InnerLoop, (v, sub): (Var, Option<usize>), joined: Atom) -> bool {
        if joined
            .var()
            .is_some_and(|v| inner_loop.carried.contains(&v))
        {
            return false;
        }
        let Some((first, subs)) = self.readers.get(&v) else {
            return false;
        };
        let defines = |s: &&Statement| {
            let mut defines = false;
            facts::each_def(s.stmt, &mut |d| defines |= joined == Atom::Var(d));
            defines
        };
        let there = match inner_loop.statements.iter().find(defines) {
            Some(s) => s.top && s.id < *first && inner_loop.encloses(s.sub, sub),
            None => true,
        };
        there && subs.iter().all(|inner| inner_loop.encloses(sub, *inner))
    }
}
