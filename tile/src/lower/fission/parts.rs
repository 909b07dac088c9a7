//! What of a body belongs together: what reads or changes the same register, state or memory, and what that goes around
//! in a cycle with. The parts that are left do not care which of them is done first for all steps, but that what one
//! computes stands before what needs it.

use super::Turns;
use super::guards::Guarded;
use crate::ir::{Memory, Operand, Origin, Shape, Stmt, StmtKind, Tile, Value};
use crate::region::cost::Cost;
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A statement of a body that is cut.
pub(super) struct CutStatement<'p> {
    pub stmt: &'p Stmt,
    /// The guards around it, the innermost last.
    pub within: &'p [Value],
    /// What later statements have from it.
    pub defs: Vec<(Value, Shape)>,
    /// What it has from others.
    pub uses: Vec<Value>,
    /// Whether every piece that needs it does it by itself.
    pub free: bool,
    pub cost: Cost,
}

/// A body, taken apart.
pub(super) struct Parts<'p> {
    pub statements: Vec<CutStatement<'p>>,
    /// The statement that a value comes from.
    pub definer: FxHashMap<Value, usize>,
    /// The guards of conditions that are taken apart.
    pub guards: FxHashSet<Value>,
    /// Statements that stay together, in an order in which they may be done.
    pub parts: Vec<Vec<usize>>,
}

/// Something that statements read and change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Thing {
    Value(Value),
    Array(u32),
    Lanes(u32),
    Tree(u32),
}

impl Thing {
    fn of(memory: Memory) -> Thing {
        match memory {
            Memory::Register(v) | Memory::Buffer(v) => Thing::Value(v),
            Memory::Array(v) => Thing::Array(v.index() as u32),
            Memory::Lanes(v) => Thing::Lanes(v.index() as u32),
            Memory::Tree(v) => Thing::Tree(v.index() as u32),
        }
    }
}

/// What is done with things, bodies included.
#[derive(Default)]
struct Touched {
    read: FxHashSet<Thing>,
    changed: FxHashSet<Thing>,
    /// Registers that are there by their lanes, in memory.
    by_lanes: FxHashSet<Value>,
    /// Whether it leaves a trace: it changes something, or traps.
    traces: bool,
}

impl Touched {
    fn of(tile: &Tile, s: &Stmt) -> Touched {
        let mut touched = Touched::default();
        let mut open = vec![s];
        while let Some(s) = open.pop() {
            s.kind.each_operand(&mut |a| {
                touched.read.extend(a.value().map(Thing::Value));
            });
            match &s.kind {
                StmtKind::Set { to, .. } => _ = touched.changed.insert(Thing::Value(*to)),
                StmtKind::SetLane { to, .. } => {
                    touched.changed.insert(Thing::Value(*to));
                    touched.by_lanes.insert(*to);
                }
                StmtKind::Load { from, .. } => _ = touched.read.insert(Thing::of(*from)),
                StmtKind::Gather { array, .. } => {
                    touched.read.insert(Thing::of(Memory::Array(*array)));
                }
                StmtKind::Across { into, array, .. } => {
                    touched.read.insert(Thing::of(Memory::Array(*array)));
                    touched.changed.insert(Thing::of(Memory::Buffer(*into)));
                }
                StmtKind::Store { into, .. } | StmtKind::Compress { into, .. } => {
                    touched.changed.insert(Thing::of(*into));
                }
                StmtKind::Put { array, .. } => {
                    touched.changed.insert(Thing::of(Memory::Array(*array)));
                }
                StmtKind::Sort { arrays, .. } => {
                    let things = arrays.iter().map(|a| Thing::of(Memory::Array(*a)));
                    touched.read.extend(things.clone());
                    touched.changed.extend(things);
                }
                StmtKind::Trap { .. } => touched.traces = true,
                _ => {}
            }
            if let Some(Memory::Register(v)) = s.kind.memory() {
                touched.by_lanes.insert(v);
            }
            open.extend(s.kind.bodies().into_iter().flatten());
        }
        touched.traces |= !touched.changed.is_empty();
        let is_kept = |t: &Thing| match t {
            Thing::Value(v) => tile.value(*v).origin != Origin::Let,
            _ => true,
        };
        touched.read.retain(is_kept);
        touched
    }

    /// Who touches what is changed, in order.
    fn of_changed(touched: &[Touched]) -> BTreeMap<Thing, Vec<usize>> {
        let mut changed: BTreeMap<Thing, Vec<usize>> = BTreeMap::new();
        for thing in touched.iter().flat_map(|t| &t.changed) {
            changed.insert(*thing, Vec::new());
        }
        for (i, t) in touched.iter().enumerate() {
            for thing in t.read.union(&t.changed) {
                changed.entry(*thing).and_modify(|all| all.push(i));
            }
        }
        changed
    }
}

/// Sets of statements that are joined.
struct Joined(Vec<usize>);

impl Joined {
    fn find(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

impl<'p> Parts<'p> {
    /// Takes a body apart. Values outside of it are used outside.
    pub(super) fn of(
        tile: &Tile,
        turns: &'p Turns,
        lanes: u32,
        outside: &FxHashSet<Value>,
    ) -> Parts<'p> {
        let body = &turns.body;
        let touched: Vec<Touched> = body.iter().map(|s| Touched::of(tile, &s.stmt)).collect();
        let changed = Touched::of_changed(&touched);
        let guards: FxHashSet<Value> = body.iter().flat_map(|s| &s.within).copied().collect();
        let mut joined = Joined((0..body.len()).collect());
        let mut definer: FxHashMap<Value, usize> = FxHashMap::default();
        for (i, s) in body.iter().enumerate() {
            let own = s.stmt.kind.target();
            let own = own.filter(|v| tile.value(*v).origin == Origin::Let);
            definer.extend(own.map(|v| (v, i)));
        }
        for (thing, all) in &changed {
            let setters = all.iter().filter(|i| touched[**i].changed.contains(thing));
            let (first, last) = (all[0], setters.copied().max().unwrap_or(0));
            let by_lanes = |v| all.iter().any(|i| touched[*i].by_lanes.contains(v));
            match thing {
                // What is set in each turn before it is read is a value like others, once it is set.
                Thing::Value(v)
                    if tile.value(*v).origin == Origin::Register
                        && tile.shape(*v).lanes == lanes
                        && !outside.contains(v)
                        && !by_lanes(v)
                        && is_set_anew(&body[first].stmt.kind, *v)
                        && all.iter().all(|i| sees(body, first, *i, last)) =>
                {
                    let before = all.iter().filter(|i| **i <= last);
                    before.for_each(|i| joined.join(first, *i));
                    definer.insert(*v, last);
                }
                _ => all.iter().for_each(|i| joined.join(first, *i)),
            }
        }
        let mut statements: Vec<CutStatement> = Vec::new();
        for (s, touched) in body.iter().zip(&touched) {
            let mut uses: Vec<Value> = Vec::new();
            each_value(&s.stmt, &mut |v| {
                if definer.contains_key(&v) && !uses.contains(&v) {
                    uses.push(v);
                }
            });
            let is_free = |v: &Value| statements.get(definer[v]).is_some_and(|s| s.free);
            let unchanged = touched.read.iter().all(|t| !changed.contains_key(t));
            let kind = &s.stmt.kind;
            // A place may be computed outside of its guards. Whether a guard holds is computed once.
            let anywhere = s.within.is_empty() || !matches!(kind, StmtKind::Load { .. });
            let guards_none = kind.target().is_none_or(|v| !guards.contains(&v));
            let free = anywhere
                && guards_none
                && costs_nothing(tile, kind)
                && unchanged
                && uses.iter().all(is_free);
            let within = if free { &[][..] } else { &s.within[..] };
            uses.extend(within.last().filter(|v| !uses.contains(v)));
            uses.retain(|v| definer[v] != statements.len());
            statements.push(CutStatement {
                stmt: &s.stmt,
                within,
                defs: Vec::new(),
                uses,
                free,
                cost: cost(tile, &s.stmt),
            });
        }
        let mut all: Vec<(Value, usize)> = definer.iter().map(|(v, i)| (*v, *i)).collect();
        all.sort_unstable();
        for (v, i) in all {
            statements[i].defs.push((v, tile.shape(v)));
        }
        // Only vectors cross.
        for (i, s) in statements.iter().enumerate().filter(|(_, s)| !s.free) {
            for v in &s.uses {
                let d = definer[v];
                if tile.shape(*v).lanes != lanes && !statements[d].free {
                    joined.join(d, i);
                }
            }
        }
        let mut parts = Parts {
            statements,
            definer,
            guards,
            parts: Vec::new(),
        };
        let groups = parts.groups(&mut joined);
        parts.parts = parts.in_order(&groups, &touched);
        parts
    }

    /// Statements that are joined, or go around in a cycle with each other; free ones are in none.
    fn groups(&self, joined: &mut Joined) -> Vec<Vec<usize>> {
        let count = self.statements.len();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for i in (0..count).filter(|i| !self.statements[*i].free) {
            members[joined.find(i)].push(i);
        }
        // Tarjan's algorithm, on groups and what they need.
        let needs: Vec<Vec<usize>> = members
            .iter()
            .map(|all| {
                let of = all.iter().flat_map(|i| self.needs(*i));
                of.map(|d| joined.find(d)).collect()
            })
            .collect();
        let mut found = Vec::new();
        let (mut number, mut low) = (vec![0; count], vec![0; count]);
        let (mut next, mut stack, mut on_stack) = (1, Vec::new(), vec![false; count]);
        for root in (0..count).filter(|g| !members[*g].is_empty()) {
            let mut open = vec![(root, 0)];
            while let Some((g, k)) = open.pop() {
                if k == 0 {
                    if number[g] != 0 {
                        continue;
                    }
                    (number[g], low[g]) = (next, next);
                    next += 1;
                    stack.push(g);
                    on_stack[g] = true;
                }
                if k > 0 {
                    let before = needs[g][k - 1];
                    if on_stack[before] {
                        low[g] = low[g].min(low[before]);
                    }
                }
                if let Some(n) = needs[g].get(k) {
                    open.push((g, k + 1));
                    if number[*n] == 0 {
                        open.push((*n, 0));
                    }
                    continue;
                }
                if low[g] != number[g] {
                    continue;
                }
                let mut cycle = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    cycle.extend(members[member].iter().copied());
                    if member == g {
                        break;
                    }
                }
                cycle.sort_unstable();
                found.push(cycle);
            }
        }
        found
    }

    /// The statements that one needs, free ones aside.
    fn needs(&self, i: usize) -> Vec<usize> {
        // What is free needs nothing but what is free.
        let all = self.statements[i].uses.iter().map(|v| self.definer[v]);
        all.filter(|d| !self.statements[*d].free).collect()
    }

    /// Groups in an order in which they may be done: each stands close before the first that leaves a trace of it, and
    /// what leaves a trace stands where all that it needs is there.
    fn in_order(&self, groups: &[Vec<usize>], touched: &[Touched]) -> Vec<Vec<usize>> {
        let mut group_of = vec![usize::MAX; self.statements.len()];
        for (g, all) in groups.iter().enumerate() {
            all.iter().for_each(|i| group_of[*i] = g);
        }
        let mut needs: Vec<Vec<usize>> = Vec::new();
        for (g, all) in groups.iter().enumerate() {
            let mut of: Vec<usize> = (all.iter())
                .flat_map(|i| self.needs(*i))
                .map(|d| group_of[d])
                .filter(|d| *d != g)
                .collect();
            of.sort_by_key(|d| groups[*d][0]);
            of.dedup();
            needs.push(of);
        }
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
        for (g, of) in needs.iter().enumerate() {
            of.iter().for_each(|d| users[*d].push(g));
        }
        let traces: Vec<bool> = (groups.iter())
            .map(|all| all.iter().any(|i| touched[*i].traces))
            .collect();
        let mut left: Vec<usize> = needs.iter().map(Vec::len).collect();
        let mut done = vec![false; groups.len()];
        let mut order = Vec::new();
        let mut ends: Vec<usize> = (0..groups.len()).filter(|g| traces[*g]).collect();
        ends.sort_by_key(|g| groups[*g].last().copied());
        for end in ends {
            let mut open = vec![(end, 0)];
            while let Some((g, k)) = open.pop() {
                if done[g] {
                    continue;
                }
                if let Some(n) = needs[g].get(k) {
                    open.push((g, k + 1));
                    open.push((*n, 0));
                    continue;
                }
                let mut ready = vec![g];
                while let Some(g) = ready.pop() {
                    done[g] = true;
                    order.push(g);
                    for u in &users[g] {
                        left[*u] -= 1;
                    }
                    let follow = users[g].iter().rev();
                    ready.extend(follow.filter(|u| left[**u] == 0 && traces[**u] && !done[**u]));
                }
            }
        }
        order.into_iter().map(|g| groups[g].clone()).collect()
    }

    /// Statements, each free one that they need before the first that does, or before the first guard.
    pub(super) fn with_free(&self, piece: &[usize]) -> Vec<usize> {
        let mut all = Vec::new();
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        for i in piece {
            let mut open = vec![(*i, false)];
            while let Some((i, ready)) = open.pop() {
                if ready {
                    all.push(i);
                    continue;
                }
                if !seen.insert(i) {
                    continue;
                }
                open.push((i, true));
                let before = self.statements[i].uses.iter().map(|v| self.definer[v]);
                let free = before.filter(|d| self.statements[*d].free && !seen.contains(d));
                open.extend(free.map(|d| (d, false)));
            }
        }
        if piece.iter().any(|i| !self.statements[*i].within.is_empty()) {
            all.sort_by_key(|i| !self.statements[*i].free);
        }
        all
    }
}

/// Whether statement `i` has a register's value of this step, which statements from `first` to `last` set: those are
/// within the same guards, and it is within them, too.
fn sees(body: &[Guarded], first: usize, i: usize, last: usize) -> bool {
    let (around, within) = (&body[first].within, &body[i].within);
    within.starts_with(around) && (i > last || within.len() == around.len())
}

/// Whether a statement sets a register for good, whatever it was, and does not read it.
fn is_set_anew(kind: &StmtKind, v: Value) -> bool {
    let sets = |s: &Stmt| matches!(s.kind, StmtKind::Set { to, .. } if to == v);
    match kind {
        StmtKind::Set { to, value } => *to == v && *value != Operand::Value(v),
        StmtKind::If { then, other, .. } => {
            let mut reads = false;
            for s in then.iter().chain(other) {
                each_operand(s, &mut |a| reads |= a == Operand::Value(v));
            }
            !reads && then.iter().any(sets) && other.iter().any(sets)
        }
        _ => false,
    }
}

/// Calls `f` on all operands, those of bodies included.
fn each_operand(s: &Stmt, f: &mut impl FnMut(Operand)) {
    let mut open = vec![s];
    while let Some(s) = open.pop() {
        s.kind.each_operand(f);
        open.extend(s.kind.bodies().into_iter().flatten());
    }
}

fn each_value(s: &Stmt, f: &mut impl FnMut(Value)) {
    each_operand(s, &mut |a| a.value().into_iter().for_each(&mut *f));
}

/// Whether a statement costs no more than a buffer: reads at the counter, and what such places are computed with.
fn costs_nothing(tile: &Tile, kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Positions { .. } | StmtKind::Length { .. } => true,
        StmtKind::Load { from, under, .. } => matches!(from, Memory::Array(_)) && under.is_none(),
        StmtKind::Let {
            op: Op::Add | Op::Sub | Op::And | Op::Lt | Op::Le | Op::Gt | Op::Ge,
            args,
            ..
        } => args.iter().all(|a| tile.operand_shape(*a).ty == Ty::U64),
        _ => false,
    }
}

/// What a statement costs, with its bodies.
pub(super) fn cost(tile: &Tile, s: &Stmt) -> Cost {
    let mut sum = Cost::default();
    let mut open = vec![s];
    while let Some(s) = open.pop() {
        sum += match &s.kind {
            StmtKind::Let { op, args, .. } => op.cost(tile.operand_shape(args[0]).ty),
            _ => Cost { work: 1, wait: 1 },
        };
        open.extend(s.kind.bodies().into_iter().flatten());
    }
    sum
}
