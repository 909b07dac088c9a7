//! Long bodies in pieces, each of which runs over a tile of elements before the next begins.
//!
//! A processor looks some hundred operations ahead. Where a body is a longer chain of operations that wait for
//! each other, it does not reach the next elements, and waits; in pieces of a few operations it works on many
//! elements at a time. And where folds have more lanes than there are registers, those of one piece stay in
//! registers over the tile.
//!
//! What one piece computes and another needs crosses in an array that stays in the cache, a *cell*. Reads at
//! the counter cost no more than a cell does: each piece has its own.

use super::phases::Phase;
use super::plan::Plan;
use super::unit::Unit;
use crate::facts;
use livefusion_tile::region::Statement;
use livefusion_tile::region::cost::{Cost, waits};
use loop_lang::Loop;
use loop_lang::ir::{Atom, GroupId, Order, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use rustc_hash::{FxHashMap, FxHashSet};

/// Elements in a tile, where nothing crosses; and at most where something does.
const MOST: u64 = 1024;
const TILE: u64 = 256;
/// Bytes for all cells: a part of the first cache.
const CELLS: u64 = 16 << 10;
/// Vector registers of the machines with fewest, and the bytes of one.
const REGISTERS: u64 = 16;
const REGISTER: u64 = 32;
/// Regions nested deeper than this are not looked into.
const MAX_DEPTH: usize = 8;

/// A body in pieces.
pub(super) struct Pieces<'a> {
    pub pieces: Vec<Phase<'a>>,
    /// The number of the cell in which a value crosses.
    pub cells: FxHashMap<Var, usize>,
    /// The types of the cells.
    pub types: Vec<Ty>,
    /// Elements in a tile.
    pub tile: u64,
}

/// A body that is cut.
struct Cutting<'u> {
    program: &'u Loop,
    plan: &'u Plan<'u>,
    /// Its statements, one by one.
    all: Vec<Phase<'u>>,
    /// Which statements every piece has of its own that needs them.
    free: Vec<bool>,
    /// The statement that defines a value.
    definer: FxHashMap<Var, usize>,
}

/// The pieces of a plan's body, if they are better than one loop.
pub(super) fn pieces<'a>(plan: &'a Plan<'a>, unit: &Unit<'a>) -> Option<Pieces<'a>> {
    let fits = plan.vectors.is_none() && plan.sweep.is_plain() && plan.pending(unit).is_empty();
    let cutting = fits.then(|| Cutting::of(plan, unit))??;
    let folds = plan.folds(unit);
    let parts = cutting.parts(&folds)?;
    let mut pieces = Vec::new();
    let mut better = too_many(&folds);
    for (i, part) in parts.iter().enumerate() {
        let others = parts[i + 1..].iter().flatten();
        let later = others.flat_map(|i| cutting.all[*i].uses.iter().copied());
        let later: FxHashSet<Var> = later.collect();
        let cut = cutting.cut(part, &later, &folds);
        better |= cut.len() > 1;
        pieces.extend(cut);
    }
    better.then(|| cutting.finish(pieces))?
}

/// Whether folds take more registers than there are.
fn too_many(folds: &[(Var, u64)]) -> bool {
    folds.iter().map(|f| f.1).sum::<u64>() > REGISTERS
}

impl Plan<'_> {
    /// Variables that go from one element to the next, each with the registers that it takes.
    fn folds(&self, unit: &Unit) -> Vec<(Var, u64)> {
        let single = self
            .sweep
            .carried
            .iter()
            .filter(|v| **v != self.sweep.counter);
        let mut folds: Vec<(Var, u64)> = single.map(|v| (*v, 1)).collect();
        for g in &self.sweep.groups {
            let group = &unit.program.groups[g.index()];
            for v in &group.vars {
                let bytes = match group.order {
                    Order::Lanes(l) => u64::from(l) * facts::elem(unit.program, *v).size() as u64,
                    _ => 1,
                };
                folds.push((*v, bytes.div_ceil(REGISTER)));
            }
        }
        folds
    }
}

impl<'u> Cutting<'u> {
    fn of(plan: &'u Plan<'u>, unit: &Unit<'u>) -> Option<Self> {
        let program = unit.program;
        let counter = plan.sweep.counter;
        let counts = |s: &Statement| matches!(s.stmt.kind, StmtKind::Assign(v, _) if v == counter);
        let statements = plan.sweep.all_tops().filter(|s| !counts(s));
        let statements: Vec<&Statement> = statements.collect();
        // Every array is written by one statement, and not read: the order of pieces cannot matter.
        let mut written = FxHashSet::default();
        let mut fits = statements.iter().all(|s| match &s.stmt.kind {
            StmtKind::WriteArray(a, ..) => written.insert(unit.owner(*a)),
            StmtKind::Assign(..) | StmtKind::Trap { .. } => true,
            _ => computes(std::slice::from_ref(s.stmt), 0),
        });
        let reads = plan.sweep.accesses.iter().filter(|a| a.is_read);
        fits &= reads.into_iter().all(|a| !written.contains(&a.array));
        let regrouped = |g: &GroupId| {
            let order = program.groups[g.index()].order;
            matches!(order, Order::Prefix(_) | Order::Runs(_))
        };
        if !fits || plan.sweep.groups.iter().any(regrouped) {
            return None;
        }
        let all = statements.into_iter().map(|s| Phase::of(vec![s], false));
        let all: Vec<Phase> = all.collect();
        let mut cutting = Cutting {
            program,
            plan,
            free: vec![false; all.len()],
            definer: FxHashMap::default(),
            all,
        };
        for (i, phase) in cutting.all.iter().enumerate() {
            cutting.definer.extend(phase.defs.iter().map(|v| (*v, i)));
        }
        for i in 0..cutting.all.len() {
            cutting.free[i] = cutting.is_free(i);
        }
        Some(cutting)
    }

    /// Reads at a fixed distance from the counter, and what such indices are computed with.
    fn is_free(&self, i: usize) -> bool {
        let free = |a: &Atom| match a {
            Atom::Const(_) => true,
            Atom::Var(v) if *v == self.plan.sweep.counter => true,
            Atom::Var(v) => match self.definer.get(v) {
                Some(at) => *at < i && self.free[*at],
                None => !self.plan.sweep.carried.contains(v),
            },
        };
        match &self.all[i].statements[0].stmt.kind {
            StmtKind::ReadArray(_, _, i) => free(i),
            StmtKind::ArrayLength(..) => true,
            StmtKind::Let(v, Op::Add | Op::Sub | Op::Lt | Op::Le | Op::Gt | Op::Ge, args) => {
                let ty = facts::elem(self.program, *v);
                let words = args.iter().all(|a| self.program.atom_ty(*a) == Ty::U64);
                matches!(ty, Ty::U64 | Ty::Bool) && words && args.iter().all(free)
            }
            _ => false,
        }
    }

    /// What serves no fold or several, and for each set of folds whose lanes fit the registers what serves
    /// it alone; none if folds serve more than themselves.
    fn parts(&self, folds: &[(Var, u64)]) -> Option<Vec<Vec<usize>>> {
        let most = match too_many(folds) {
            true => REGISTERS / 2,
            false => REGISTERS,
        };
        let (mut sets, mut left) = (0, 0);
        let mut set_of = FxHashMap::default();
        for (v, registers) in folds {
            if sets == 0 || left < *registers {
                (sets, left) = (sets + 1, most);
            }
            left = left.saturating_sub(*registers);
            set_of.insert(*v, sets);
        }
        // Backwards: whom a statement serves. The first part serves everyone.
        let mut serves: FxHashMap<Var, usize> = FxHashMap::default();
        let mut parts = vec![Vec::new(); sets + 1];
        for (i, phase) in self.all.iter().enumerate().rev() {
            let part = match &phase.statements[0].stmt.kind {
                StmtKind::Assign(v, _) => *set_of.get(v)?,
                StmtKind::WriteArray(..) | StmtKind::Trap { .. } => 0,
                _ if self.free[i] => continue,
                _ => {
                    let mut users = phase.defs.iter().filter_map(|v| serves.get(v));
                    let Some(first) = users.next() else {
                        continue;
                    };
                    if users.all(|u| u == first) { *first } else { 0 }
                }
            };
            parts[part].push(i);
            for v in &phase.uses {
                if set_of.get(v).is_some_and(|set| *set != part) {
                    return None;
                }
                let serves = serves.entry(*v).or_insert(part);
                if *serves != part {
                    *serves = 0;
                }
            }
        }
        parts.iter_mut().for_each(|p| p.reverse());
        Some(parts)
    }

    /// A part in pieces in which little waits, cut where few values cross. What updates folds stays in one.
    /// `later` is what other parts use.
    fn cut(&self, part: &[usize], later: &FxHashSet<Var>, folds: &[(Var, u64)]) -> Vec<Vec<usize>> {
        let (mut order, mut updates) = (Vec::new(), Vec::new());
        let mut follow: FxHashSet<Var> = folds.iter().map(|f| f.0).collect();
        for i in part {
            let phase = &self.all[*i];
            let updates_fold = matches!(phase.statements[0].stmt.kind, StmtKind::Assign(..));
            if updates_fold || !phase.uses.is_disjoint(&follow) {
                follow.extend(&phase.defs);
                updates.push(*i);
            } else {
                order.push(*i);
            }
        }
        let uncut = order.len();
        order.extend(updates);
        let whole = self.costs(&order).last().unwrap_or_default();
        if !waits(whole, 2) {
            return Vec::from_iter((!order.is_empty()).then_some(order));
        }
        let live = self.live(&order, later);
        let (mut pieces, mut from) = (Vec::new(), 0);
        while from < order.len() {
            let costs: Vec<Cost> = self
                .costs(&order[from..])
                .take_while(|c| !waits(*c, 1))
                .collect();
            let mut end = from + costs.len().max(1);
            if end < order.len() {
                let depth = costs.last().map_or(0, |c| c.wait);
                let deep = |at: &usize| {
                    let cost = costs.get(at - from - 1).copied().unwrap_or_default();
                    2 * cost.wait >= depth
                };
                let cuts = (from + 1..=end.min(uncut)).rev().filter(deep);
                end = cuts.min_by_key(|at| live[*at]).unwrap_or(order.len());
            }
            pieces.push(order[from..end].to_vec());
            from = end;
        }
        // Around one thing that takes as long as the rest, as a lone exponential, cuts are of no use.
        let mut depths = pieces
            .iter()
            .filter_map(|p| Some(self.costs(p).last()?.wait));
        match depths.any(|depth| 2 * depth > whole.wait) {
            true => vec![order],
            false => pieces,
        }
    }

    /// How many values would cross at a cut before each statement.
    fn live(&self, order: &[usize], later: &FxHashSet<Var>) -> Vec<u64> {
        let mut last: FxHashMap<Var, usize> = FxHashMap::default();
        for (at, i) in order.iter().enumerate() {
            last.extend(self.all[*i].uses.iter().map(|v| (*v, at)));
        }
        last.extend(later.iter().map(|v| (*v, order.len() - 1)));
        let (mut starts, mut ends) = (vec![0; order.len() + 1], vec![0; order.len() + 1]);
        for (at, i) in order.iter().enumerate() {
            for v in &self.all[*i].defs {
                // A truth has to become a mask again.
                let weight = match self.program.ty(*v).elem() {
                    Ty::Bool => 3,
                    _ => 1,
                };
                if let Some(last) = last.get(v) {
                    starts[at] += weight;
                    ends[*last] += weight;
                }
            }
        }
        let mut crossing = 0;
        let each = starts.iter().zip(&ends).map(|(starts, ends)| {
            let before = crossing;
            crossing += starts;
            crossing -= ends;
            before
        });
        each.collect()
    }

    /// What the first, the first two, ... of some statements cost that run together.
    fn costs<'o>(&'o self, order: &'o [usize]) -> impl Iterator<Item = Cost> + 'o {
        let mut ready: FxHashMap<Var, u64> = FxHashMap::default();
        let mut sum = Cost::default();
        order.iter().map(move |i| {
            let phase = &self.all[*i];
            let own = phase.cost();
            let starts = phase.uses.iter().filter_map(|v| ready.get(v)).max();
            let ends = starts.copied().unwrap_or(0) + own.wait;
            ready.extend(phase.defs.iter().map(|v| (*v, ends)));
            sum.work += own.work;
            sum.wait = sum.wait.max(ends);
            sum
        })
    }

    /// Adds to each piece the free statements that it needs, and finds cells for what crosses.
    fn finish(&self, pieces: Vec<Vec<usize>>) -> Option<Pieces<'u>> {
        let pieces: Vec<Phase> = pieces.iter().map(|p| self.with_free(p)).collect();
        // The last piece that reads a value, for those that cross.
        let mut last: FxHashMap<Var, usize> = FxHashMap::default();
        let (mut accesses, mut work) = (0, 0);
        for (k, piece) in pieces.iter().enumerate() {
            let inside = |v: &&Var| self.definer.contains_key(v) && !piece.defs.contains(v);
            for v in piece.uses.iter().filter(inside) {
                accesses += if last.insert(*v, k).is_none() { 2 } else { 1 };
            }
            work += piece.cost().work;
        }
        if accesses > work {
            return None;
        }
        let (mut cells, mut types, mut busy) = (FxHashMap::default(), Vec::new(), Vec::new());
        for (k, piece) in pieces.iter().enumerate() {
            let mut defs: Vec<Var> = piece.defs.iter().copied().collect();
            defs.retain(|v| last.get(v).is_some_and(|l| *l > k));
            defs.sort();
            for v in defs {
                let ty = self.program.ty(v).elem();
                let until = last.get(&v).copied().unwrap_or(k);
                let cell = (0..types.len()).find(|c| types[*c] == ty && busy[*c] < k);
                let cell = cell.unwrap_or_else(|| {
                    types.push(ty);
                    busy.push(0);
                    types.len() - 1
                });
                busy[cell] = until;
                cells.insert(v, cell);
            }
        }
        let bytes: u64 = types.iter().map(|t| t.size() as u64).sum();
        let mut tile = if cells.is_empty() { MOST } else { TILE };
        while tile * bytes > CELLS {
            tile /= 2;
        }
        let strips = tile >= 64 && tile.is_multiple_of(self.plan.strip);
        strips.then_some(Pieces {
            pieces,
            cells,
            types,
            tile,
        })
    }

    fn with_free(&self, piece: &[usize]) -> Phase<'u> {
        let mut wanted: Vec<usize> = piece.to_vec();
        let mut all: FxHashSet<usize> = piece.iter().copied().collect();
        while let Some(i) = wanted.pop() {
            for v in &self.all[i].uses {
                if let Some(at) = self.definer.get(v)
                    && self.free[*at]
                    && all.insert(*at)
                {
                    wanted.push(*at);
                }
            }
        }
        let mut order: Vec<usize> = all.into_iter().filter(|i| self.free[*i]).collect();
        order.sort_unstable();
        order.extend(piece);
        Phase::of(
            order.iter().map(|i| self.all[*i].statements[0]).collect(),
            false,
        )
    }
}

/// Whether statements only compute.
fn computes(stmts: &[Stmt], depth: usize) -> bool {
    depth < MAX_DEPTH
        && stmts.iter().all(|s| match &s.kind {
            StmtKind::Let(..) | StmtKind::ReadArray(..) | StmtKind::ArrayLength(..) => true,
            StmtKind::If { then, other, .. } => {
                computes(then, depth + 1) && computes(other, depth + 1)
            }
            _ => false,
        })
}
