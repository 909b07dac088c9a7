//! Mutations of carried groups.

use super::effects::monoids;
use super::scope::Point;
use super::{Changing, Scope};
use loop_lang::ir::{
    Atom, Combine, Group, GroupId, Order, Place, RateId, RateKind, Section, Stmt, StmtKind, Type,
    Var,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty, canonical};
use loop_lang::walk;

/// The identity of an operator.
pub(super) fn identity(op: Op, ty: Ty) -> Const {
    let word = match op {
        Op::Add if ty == Ty::F32 => u64::from((-0.0f32).to_bits()),
        Op::Add if ty == Ty::F64 => (-0.0f64).to_bits(),
        Op::Mul if ty == Ty::F32 => u64::from(1.0f32.to_bits()),
        Op::Mul if ty == Ty::F64 => 1.0f64.to_bits(),
        Op::Mul => 1,
        Op::Min | Op::Max if ty == Ty::F32 => u64::from(f32::NAN.to_bits()),
        Op::Min | Op::Max if ty == Ty::F64 => f64::NAN.to_bits(),
        Op::Min if ty.is_signed() => i64::MAX as u64 >> (64 - ty.bits()),
        Op::Max if ty.is_signed() => i64::MIN as u64 >> (64 - ty.bits()),
        Op::Min | Op::And => u64::MAX,
        _ => 0,
    };
    Const::new(ty, canonical(ty, word))
}

impl Changing {
    fn order(&mut self, op: Op, ty: Ty, step: RateId) -> Order {
        let rounds = ty.is_float() && matches!(op, Op::Add | Op::Mul);
        let leaf = !self.l.rate(step).kind.is_sub()
            && !(self.l.rates.iter()).any(|r| r.kind.parent() == Some(step) && !r.kind.is_sub());
        match self.rng.below(8) {
            0 => Order::Sequential,
            1 | 2 if !rounds => Order::Exact,
            3 if leaf => Order::Runs(self.rng.pick(&[1, 4, 128])),
            _ => Order::Lanes(self.rng.pick(&[1, 2, 4, 8, 32])),
        }
    }

    /// Adds a group that folds a visible value.
    pub(super) fn new_group(&mut self) -> Option<()> {
        let blocks = self.scope.element_blocks();
        let point = self.point_in(&blocks)?;
        let step = self.step_of(point.0)?;
        let comb = self.scope.combs[point.0];
        let ty = self.type_at(point);
        let op = self.rng.pick(monoids(ty));
        let x = self.atom(ty, point, &[]);
        let inner = self.l.loop_rate(step);
        let nested = matches!(self.l.rate(inner).kind, RateKind::Nested { .. });
        let owner = match nested && self.rng.chance(50) {
            true => inner,
            false => self.l.root_of(step),
        };
        let order = match self.rng.chance(20) {
            true => Order::Prefix(1),
            false => self.order(op, ty, step),
        };
        let (start, scalar) = (self.literal(ty), Type::Scalar(ty));
        let [acc, new] = ["acc", "new"].map(|base| self.fresh(base, comb, scalar));
        let group = GroupId::new(self.l.groups.len());
        if order == Order::Prefix(1) {
            let (results, elems) = (vec![new], vec![x]);
            self.insert(
                point,
                StmtKind::Scan {
                    results,
                    group,
                    elems,
                },
            );
        } else {
            let args = [acc.into(), x].into_iter().collect();
            self.insert(point, StmtKind::Assign(acc, new.into()));
            self.insert(point, StmtKind::Let(new, op, args));
        }
        let place = match owner == inner && nested {
            true => Place::At {
                rate: owner,
                stage: 0,
                section: Section::Nest,
            },
            false => Place::Init,
        };
        let at = self.scope.block(place)?;
        let end = self.block(at).stmts.len();
        let carry = Stmt {
            comb,
            kind: StmtKind::Carry(acc, start),
        };
        self.block_mut(at).stmts.insert(end, carry);
        self.l.groups.push(Group {
            vars: vec![acc],
            owner,
            step,
            start: vec![start],
            identity: vec![identity(op, ty).into()],
            next: vec![new.into()],
            combine: Some(Combine::Op(op)),
            level: 0,
            cycle: false,
            order,
        });
        if place == Place::Init && self.rng.chance(60) {
            self.returned(acc.into());
        } else if Scope::is_plain(order) {
            self.use_somewhere(if order == Order::Prefix(1) { new } else { acc });
        } else {
            self.use_behind(acc, owner);
        }
        Some(())
    }

    /// Adds a use of a rate's fold result.
    fn use_behind(&mut self, acc: Var, owner: RateId) {
        let done = Place::At {
            rate: owner,
            stage: 0,
            section: Section::Done,
        };
        let at = self.scope.block(done).or(self.scope.block(Place::Return));
        let Some(b) = at else { return };
        let comb = self.scope.combs[b];
        let copy = self.fresh("sum", comb, self.l.ty(acc));
        let end = (b, self.block(b).stmts.len());
        let args = [acc.into()].into_iter().collect();
        self.insert(end, StmtKind::Let(copy, Op::Copy, args));
        if self.scope.places[b] == Place::Return {
            self.returned(copy.into());
        } else {
            self.use_somewhere(copy);
        }
    }

    fn some_group(&mut self) -> Option<usize> {
        let all: Vec<usize> = (0..self.l.groups.len()).collect();
        self.pick(&all)
    }

    /// Changes the order of a group.
    pub(super) fn group_order(&mut self) -> Option<()> {
        let g = self.some_group()?;
        let group = self.l.groups[g].clone();
        let order = match group.order {
            Order::Prefix(_) => Order::Prefix(self.rng.pick(&[1, 2, 4, 8, 32])),
            // Counts are read, but lanes must not be.
            _ if self.counts(g) => return None,
            _ => {
                let ty = self.l.ty(*group.vars.first()?).elem();
                let op = match group.combine? {
                    Combine::Op(op) => op,
                    Combine::Fn(_) => Op::And,
                };
                self.order(op, ty, group.step)
            }
        };
        self.l.groups[g].order = order;
        (order != group.order).then_some(())
    }

    /// Changes the operator of a group in all its updates.
    pub(super) fn group_operator(&mut self) -> Option<()> {
        let g = self.some_group()?;
        let group = &self.l.groups[g];
        let Some(Combine::Op(old)) = group.combine else {
            return None;
        };
        let acc = *group.vars.first()?;
        let ty = self.l.ty(acc).elem();
        let exact = group.order == Order::Exact && ty.is_float();
        let op = self.rng.pick(monoids(ty));
        if op == old || exact && matches!(op, Op::Add | Op::Mul) {
            return None;
        }
        let group = &mut self.l.groups[g];
        group.combine = Some(Combine::Op(op));
        group.identity = vec![identity(op, ty).into()];
        for block in self.l.blocks.values_mut() {
            for stmt in &mut block.stmts {
                match &mut stmt.kind {
                    StmtKind::Let(_, o, args) if *o == old && args.contains(&acc.into()) => *o = op,
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// The program points of the statements that compute a group's next values from its old ones.
    fn updates(&self, g: usize) -> Vec<Point> {
        let group = &self.l.groups[g];
        let mut resting = group.vars.clone();
        let mut points = Vec::new();
        for (b, (_, block)) in self.l.blocks.iter().enumerate() {
            for (i, stmt) in block.stmts.iter().enumerate() {
                let own = match &stmt.kind {
                    StmtKind::Carry(v, _) | StmtKind::Assign(v, _) => group.vars.contains(v),
                    StmtKind::Scan { group, .. } => group.index() == g,
                    StmtKind::Let(..) | StmtKind::If { .. } | StmtKind::While { .. } => {
                        let mut rests = false;
                        walk::each(stmt, &mut |s| {
                            let mut read =
                                |a: Atom| rests |= a.var().is_some_and(|v| resting.contains(&v));
                            walk::operands(&s.kind, &mut read);
                            walk::handed_out(&s.kind, &mut read);
                        });
                        rests
                    }
                    _ => false,
                };
                if own {
                    walk::definitions(&stmt.kind, &mut |v| resting.push(v));
                    points.push((b, i));
                }
            }
        }
        points
    }

    fn counts(&self, g: usize) -> bool {
        let vars = &self.l.groups[g].vars;
        self.l.rates.iter().any(|r| match r.kind {
            RateKind::Sub { count: Some(v), .. } => vars.contains(&v),
            kind => kind.counter().is_some_and(|v| vars.contains(&v)),
        })
    }

    /// Duplicates a group with all its updates.
    pub(super) fn copy_group(&mut self) -> Option<()> {
        let g = self.some_group()?;
        let mut group = self.l.groups[g].clone();
        let mut names: Vec<(Var, Var)> = Vec::new();
        for v in &group.vars {
            let (_, comb) = self.l.name(*v).rsplit_once('_').unwrap_or(("", ""));
            let comb = self
                .l
                .combs
                .iter()
                .position(|c| c.name == comb)
                .unwrap_or(0);
            let new = self.fresh("again", loop_lang::ir::CombId::new(comb), self.l.ty(*v));
            names.push((*v, new));
        }
        let copy = GroupId::new(self.l.groups.len());
        let points = self.updates(g);
        for (n, (b, i)) in points.iter().enumerate() {
            let before = points[..n].iter().filter(|s| s.0 == *b).count();
            let at = i + before;
            let stmt = self.block(*b).stmts[at].clone();
            let mut old = Vec::new();
            walk::definitions(&stmt.kind, &mut |v| old.push(v));
            let (mut again, new) = self.renamed_as(&stmt, &names);
            if let StmtKind::Scan { group, .. } = &mut again.kind {
                *group = copy;
            }
            names.extend(old.into_iter().zip(new));
            self.block_mut(*b).stmts.insert(at + 1, again);
        }
        let name = |v: Var| {
            names
                .iter()
                .find(|(old, _)| *old == v)
                .map_or(v, |(_, new)| *new)
        };
        group.vars.iter_mut().for_each(|v| *v = name(*v));
        for a in group.next.iter_mut() {
            if let Atom::Var(v) = a {
                *v = name(*v);
            }
        }
        let first = *group.vars.first()?;
        let outer = super::scope::is_root(self.l.rate(group.owner).kind);
        let owner = group.owner;
        self.l.groups.push(group);
        match outer {
            true => self.returned(first.into()),
            false => self.use_behind(first, owner),
        }
        Some(())
    }

    /// Renames like `renamed`, but keeps the given names of group variables.
    fn renamed_as(&mut self, stmt: &Stmt, names: &[(Var, Var)]) -> (Stmt, Vec<Var>) {
        match stmt.kind {
            StmtKind::Carry(v, a) => {
                let new = names.iter().find(|(old, _)| *old == v).map_or(v, |n| n.1);
                let kind = StmtKind::Carry(new, a);
                (
                    Stmt {
                        comb: stmt.comb,
                        kind,
                    },
                    vec![new],
                )
            }
            _ => self.renamed(stmt, names),
        }
    }

    /// Removes a group; its uses get other operands.
    pub(super) fn remove_group(&mut self) -> Option<()> {
        let g = self.some_group()?;
        if self.counts(g) {
            return None;
        }
        let vars = self.l.groups[g].vars.clone();
        let mut gone = vars.clone();
        for block in self.l.blocks.values_mut() {
            block.stmts.retain(|s| match &s.kind {
                StmtKind::Carry(v, _) | StmtKind::Assign(v, _) => !vars.contains(v),
                StmtKind::Scan { group, results, .. } if group.index() == g => {
                    gone.extend(results);
                    false
                }
                _ => true,
            });
            for stmt in &mut block.stmts {
                if let StmtKind::Scan { group, .. } = &mut stmt.kind
                    && group.index() > g
                {
                    *group = GroupId::new(group.index() - 1);
                }
            }
        }
        self.l.groups.remove(g);
        self.without(&gone)
    }

    /// Continues a group in another phase.
    pub(super) fn phase_update(&mut self) -> Option<()> {
        let g = self.some_group()?;
        let group = self.l.groups[g].clone();
        let Some(Combine::Op(op)) = group.combine else {
            return None;
        };
        let root = |r: RateId| self.l.root_of(r);
        let phases: Vec<RateId> = (self.updates(g).into_iter())
            .filter_map(|(b, _)| Some(root(self.scope.rate(b)?)))
            .collect();
        let free: Vec<usize> = (self.scope.element_blocks().into_iter())
            .filter(|b| {
                self.step_of(*b)
                    .is_some_and(|r| !phases.contains(&root(r)) && !self.is_cursor(r))
            })
            .collect();
        if !super::scope::is_root(self.l.rate(group.owner).kind) || self.counts(g) {
            return None;
        }
        let point = self.point_in(&free)?;
        let acc = *group.vars.first()?;
        let ty = self.l.ty(acc).elem();
        let (x, then) = (self.atom(ty, point, &[]), self.fresh_at("then", point, ty));
        if matches!(group.order, Order::Prefix(_)) {
            self.l.groups[g].order = Order::Prefix(1);
            self.insert(
                point,
                StmtKind::Scan {
                    results: vec![then],
                    group: GroupId::new(g),
                    elems: vec![x],
                },
            );
        } else {
            let args = [acc.into(), x].into_iter().collect();
            self.insert(point, StmtKind::Assign(acc, then.into()));
            self.insert(point, StmtKind::Let(then, op, args));
        }
        Some(())
    }
}
