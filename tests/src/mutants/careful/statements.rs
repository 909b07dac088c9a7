//! Mutations of operands, operators and effect-free statements.

use super::scope::Point;
use super::uses::{set, uses};
use super::{Changing, Scope};
use loop_lang::ir::{Atom, ParamKind, Place, Section, Stmt, StmtKind, Type, Var};
use loop_lang::op::{Op, Sig};
use loop_lang::types::Ty;
use loop_lang::walk;

impl Changing {
    /// Replaces a scalar operand by another visible one of its type.
    pub(super) fn operand(&mut self) -> Option<()> {
        self.replace(|_| true, Changing::atom)
    }

    /// Replaces a literal.
    pub(super) fn constant(&mut self) -> Option<()> {
        let literal = |c: &mut Self, ty: Ty, _: Point, _: &[Var]| c.literal(ty);
        self.replace(|a| matches!(a, Atom::Const(_)), literal)
    }

    fn replace(
        &mut self,
        wanted: impl Fn(Atom) -> bool,
        new: impl Fn(&mut Self, Ty, Point, &[Var]) -> Atom,
    ) -> Option<()> {
        let uses = uses(&mut self.l);
        let fits = |i: &usize| {
            wanted(uses[*i].atom) && !self.is_fixed(&uses[*i]) && self.is_free(&uses[*i])
        };
        let places: Vec<usize> = (0..uses.len()).filter(fits).collect();
        let place = self.pick(&places)?;
        let of = &uses[place];
        let ty = self.scope.ty(of.atom)?;
        let new = new(self, ty, of.point, &of.open);
        set(&mut self.l, place, new);
        (new != of.atom).then_some(())
    }

    /// Whether a use is neither part of a fold's definition nor the index of a stream read. Changes
    /// of those rarely verify.
    fn is_free(&self, of: &super::uses::Use) -> bool {
        let Some(stmt) = self.block(of.point.0).stmts.get(of.point.1) else {
            return true;
        };
        match &stmt.kind {
            StmtKind::ReadArray(_, a, i) => !(self.is_stream(*a) && *i == of.atom),
            StmtKind::Let(..) => {
                (of.atom.var()).is_none_or(|v| self.scope.usable(v, of.point, &of.open))
            }
            _ => true,
        }
    }

    fn is_stream(&self, a: Var) -> bool {
        let mut params = self.l.params.iter();
        params.any(|p| p.var == a && matches!(p.kind, ParamKind::Stream(_)))
    }

    /// Replaces an operator with the same operand and result types.
    pub(super) fn operator(&mut self) -> Option<()> {
        let fixed = self.scope.fixed.clone();
        let types: Vec<Ty> = self.l.vars.iter().map(|v| v.ty.elem()).collect();
        let lets = self.each_let(|v, _, _| !fixed[v.index()]);
        let nth = self.pick(&lets)?;
        let (mut at, rng) = (0, &mut self.rng);
        let mut changed = None;
        self.l.each_stmt(|stmt| {
            let StmtKind::Let(v, op, args) = &mut stmt.kind else {
                return;
            };
            if at == nth {
                let ty = |a: &Atom| match a {
                    Atom::Var(v) => types[v.index()],
                    Atom::Const(c) => c.ty,
                };
                let (of, to): (Vec<Ty>, Ty) = (args.iter().map(ty).collect(), types[v.index()]);
                let fits =
                    |o: &&Op| **o != *op && !of_bits(**o) && o.result(&of, Some(to)) == Some(to);
                let all: Vec<Op> = Op::ALL.iter().filter(fits).copied().collect();
                if !all.is_empty() {
                    *op = rng.pick(&all);
                    changed = Some(());
                }
            }
            at += 1;
        });
        changed
    }

    /// The indices of selected `let`s.
    fn each_let(&mut self, wanted: impl Fn(Var, Op, &[Atom]) -> bool) -> Vec<usize> {
        let (mut at, mut found) = (0, Vec::new());
        self.l.each_stmt(|stmt| {
            if let StmtKind::Let(v, op, args) = &stmt.kind {
                if wanted(*v, *op, args) {
                    found.push(at);
                }
                at += 1;
            }
        });
        found
    }

    /// Replaces the array of a read, a length, a copy or a write.
    pub(super) fn array(&mut self) -> Option<()> {
        let mut points = Vec::new();
        for (b, (_, block)) in self.l.blocks.iter().enumerate() {
            for (i, stmt) in block.stmts.iter().enumerate() {
                match &stmt.kind {
                    StmtKind::ReadArray(_, a, _)
                    | StmtKind::ArrayLength(_, a)
                    | StmtKind::CopyArray(_, a) => points.push(((b, i), *a, false)),
                    StmtKind::WriteArray(a, ..) => points.push(((b, i), *a, true)),
                    StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                        points.extend(arrays.iter().map(|a| ((b, i), *a, true)));
                    }
                    _ => {}
                }
            }
        }
        let (point, old, written) = self.pick(&points)?;
        let mut others = self.scope.vars(self.l.ty(old), point, &[]);
        others.retain(|a| *a != old && (!written || self.scope.is_made(*a)) && !self.is_stream(*a));
        let new = self.pick(&others)?;
        match &mut self.block_mut(point.0).stmts[point.1].kind {
            StmtKind::ReadArray(_, a, _)
            | StmtKind::ArrayLength(_, a)
            | StmtKind::CopyArray(_, a)
            | StmtKind::WriteArray(a, ..) => *a = new,
            StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
                (arrays.iter_mut())
                    .filter(|a| **a == old)
                    .for_each(|a| *a = new);
            }
            _ => {}
        }
        Some(())
    }

    /// Adds a value and a use of it.
    pub(super) fn value(&mut self) -> Option<()> {
        let point = self.point()?;
        let (kind, v) = self.compute(point, &[])?;
        self.insert(point, kind);
        self.use_somewhere(v);
        Some(())
    }

    /// A statement that computes from visible values, and its definition.
    pub(super) fn compute(&mut self, point: Point, open: &[Var]) -> Option<(StmtKind, Var)> {
        if self.rng.chance(25) {
            let arrays = self.arrays(point);
            let a = self.pick(&arrays)?;
            let ty = self.l.ty(a).elem();
            if self.rng.chance(15) {
                let n = self.fresh_at("n", point, Ty::U64);
                return Some((StmtKind::ArrayLength(n, a), n));
            }
            let index = self.atom(Ty::U64, point, open);
            let x = self.fresh_at("e", point, ty);
            return Some((StmtKind::ReadArray(x, a, index), x));
        }
        let ty = self.type_at(point);
        for _ in 0..20 {
            let op = self.rng.pick(Op::ALL);
            if of_bits(op) {
                continue;
            }
            let types: Vec<Ty> = (0..op.arity())
                .map(|k| match op.sig() {
                    Sig::Select if k == 0 => Ty::Bool,
                    Sig::FloatInt if k == 1 => Ty::I32,
                    _ => ty,
                })
                .collect();
            let target = self.rng.pick(&Ty::ALL);
            if let Some(result) = op.result(&types, Some(target)) {
                let args = types
                    .into_iter()
                    .map(|t| self.atom(t, point, open))
                    .collect();
                let v = self.fresh_at("m", point, result);
                return Some((StmtKind::Let(v, op, args), v));
            }
        }
        None
    }

    /// The arrays that may be read at any index.
    fn arrays(&mut self, point: Point) -> Vec<Var> {
        let all = (0..self.l.vars.len()).map(Var::new);
        let array = |v: &Var| matches!(self.l.ty(*v), Type::Array(_));
        all.filter(|v| array(v) && self.scope.usable(*v, point, &[]) && !self.is_stream(*v))
            .collect()
    }

    /// Adds a condition or a scalar loop, and a use of its result.
    pub(super) fn region(&mut self) -> Option<()> {
        let point = self.point()?;
        let comb = self.scope.combs[point.0];
        let ty = self.type_at(point);
        let mut open = Vec::new();
        let lines = |c: &mut Self, open: &mut Vec<Var>| {
            let mut made = Vec::new();
            for _ in 0..c.rng.below(3) {
                if let Some((kind, v)) = c.compute(point, open) {
                    made.push(Stmt { comb, kind });
                    open.push(v);
                }
            }
            made
        };
        let (kind, v) = if self.rng.chance(60) {
            let cond = self.atom(Ty::Bool, point, &[]);
            let then = lines(self, &mut open);
            let a = self.inner(ty, point, &open);
            open.clear();
            let other = lines(self, &mut open);
            let b = self.inner(ty, point, &open);
            let v = self.fresh_at("if", point, ty);
            let results = vec![(v, a, b)];
            (
                StmtKind::If {
                    cond,
                    then,
                    other,
                    results,
                },
                v,
            )
        } else {
            let (v, n) = (
                self.fresh_at("w", point, ty),
                self.fresh_at("t", point, Ty::U64),
            );
            let state = vec![(v, self.atom(ty, point, &[])), (n, self.literal(Ty::U64))];
            open.extend([v, n]);
            let mut test = lines(self, &mut open);
            let go = self.fresh_at("go", point, Ty::Bool);
            let most = self.inner(Ty::U64, point, &open);
            test.push(Stmt {
                comb,
                kind: StmtKind::Let(go, Op::Lt, [n.into(), most].into_iter().collect()),
            });
            let mut body = lines(self, &mut open);
            let more = self.fresh_at("t", point, Ty::U64);
            let by = self.literal(Ty::U64);
            body.push(Stmt {
                comb,
                kind: StmtKind::Let(more, Op::Add, [n.into(), by].into_iter().collect()),
            });
            let next = vec![self.inner(ty, point, &open), more.into()];
            let cond = go.into();
            (
                StmtKind::While {
                    state,
                    test,
                    cond,
                    body,
                    next,
                },
                v,
            )
        };
        self.insert(point, kind);
        self.use_somewhere(v);
        Some(())
    }

    /// A scalar visible in a region: mostly one of its own.
    fn inner(&mut self, ty: Ty, point: Point, open: &[Var]) -> Atom {
        let own: Vec<Var> = open
            .iter()
            .copied()
            .filter(|v| self.l.ty(*v) == Type::Scalar(ty))
            .collect();
        match self.rng.chance(70) {
            true => self.pick(&own).map(Atom::from),
            false => None,
        }
        .unwrap_or_else(|| self.atom(ty, point, &[]))
    }

    /// Whether all operands of a statement are visible at a program point.
    fn fits(&self, stmt: &Stmt, point: Point) -> bool {
        let mut own = Vec::new();
        walk::each(stmt, &mut |s| {
            walk::definitions(&s.kind, &mut |v| own.push(v))
        });
        let mut fits = true;
        walk::each(stmt, &mut |s| {
            let mut known = |a: Atom| {
                fits &= a.var().is_none_or(|v| self.scope.usable(v, point, &own));
            };
            walk::operands(&s.kind, &mut known);
            walk::handed_out(&s.kind, &mut known);
        });
        fits
    }

    /// The program point of a movable statement.
    fn movable(&mut self) -> Option<Point> {
        let mut points = Vec::new();
        for (b, (_, block)) in self.l.blocks.iter().enumerate() {
            for (i, stmt) in block.stmts.iter().enumerate() {
                let free = match &stmt.kind {
                    StmtKind::Let(v, ..) => !self.scope.fixed[v.index()],
                    StmtKind::ReadArray(_, a, _) => !self.is_stream(*a),
                    StmtKind::ArrayLength(..)
                    | StmtKind::WriteArray(..)
                    | StmtKind::ScatterArray { .. }
                    | StmtKind::SortArrays(..)
                    | StmtKind::Trap { .. }
                    | StmtKind::If { .. }
                    | StmtKind::While { .. } => true,
                    _ => false,
                };
                let mut bound = false;
                walk::definitions(&stmt.kind, &mut |v| {
                    let mut rates = self.l.rates.iter();
                    bound |= rates.any(|r| r.kind.bound() == Some(v.into()));
                });
                if free && !bound && self.fits(stmt, (b, i)) {
                    points.push((b, i));
                }
            }
        }
        self.pick(&points)
    }

    /// Moves a statement within its block or to another block. Its operands must be visible there,
    /// and its definition must reach all uses.
    pub(super) fn move_statement(&mut self) -> Option<()> {
        let from = self.movable()?;
        let stmt = self.block(from.0).stmts[from.1].clone();
        let mut own = Vec::new();
        walk::definitions(&stmt.kind, &mut |v| own.push(v));
        let users: Vec<Point> = uses(&mut self.l)
            .into_iter()
            .filter(|u| u.atom.var().is_some_and(|v| own.contains(&v)))
            .map(|u| u.point)
            .collect();
        for _ in 0..10 {
            let to = match self.rng.chance(50) {
                true => self.point_in(&[from.0])?,
                false => self.point()?,
            };
            let stays = to == from || to == (from.0, from.1 + 1);
            // Before its uses: a program point precedes the statement there.
            let known =
                |u: &Point| to.0 == u.0 && to.1 <= u.1 || self.scope.known_at((to.0, to.1), *u);
            if stays || !self.fits(&stmt, to) || !users.iter().all(known) {
                continue;
            }
            let taken = self.block_mut(from.0).stmts.remove(from.1);
            let at = to.1 - usize::from(to.0 == from.0 && to.1 > from.1);
            self.block_mut(to.0).stmts.insert(at, taken);
            return Some(());
        }
        None
    }

    /// Duplicates a statement with fresh names.
    pub(super) fn copy_statement(&mut self) -> Option<()> {
        let from = self.movable()?;
        let stmt = self.block(from.0).stmts[from.1].clone();
        for _ in 0..10 {
            let to = match self.rng.chance(40) {
                true => self.point_in(&[from.0])?,
                false => self.point()?,
            };
            if self.fits(&stmt, to) {
                let (copy, defined) = self.renamed(&stmt, &[]);
                self.block_mut(to.0).stmts.insert(to.1, copy);
                defined.into_iter().for_each(|v| self.use_somewhere(v));
                return Some(());
            }
        }
        None
    }

    /// Renames the definitions of a statement, with `others` for some variables. Returns the
    /// definitions visible to later code.
    pub(super) fn renamed(&mut self, stmt: &Stmt, others: &[(Var, Var)]) -> (Stmt, Vec<Var>) {
        let mut names = others.to_vec();
        let mut own = Vec::new();
        walk::each(stmt, &mut |s| {
            walk::definitions(&s.kind, &mut |v| own.push(v))
        });
        for v in own {
            let new = self.fresh("c", stmt.comb, self.l.ty(v));
            names.push((v, new));
        }
        let name = |v: &mut Var| {
            if let Some((_, new)) = names.iter().find(|(old, _)| old == v) {
                *v = *new;
            }
        };
        let mut stmts = [stmt.clone()];
        walk::each_mut(&mut stmts, &mut |s| {
            walk::operands_mut(&mut s.kind, &mut |a| {
                if let Atom::Var(v) = a {
                    name(v);
                }
            });
            match &mut s.kind {
                StmtKind::Let(v, ..)
                | StmtKind::ReadArray(v, ..)
                | StmtKind::ArrayLength(v, _)
                | StmtKind::Assign(v, _)
                | StmtKind::Carry(v, _) => name(v),
                StmtKind::Scan { results, .. } => results.iter_mut().for_each(name),
                StmtKind::If { results, .. } => results.iter_mut().for_each(|(v, ..)| name(v)),
                StmtKind::While { state, .. } => state.iter_mut().for_each(|(v, _)| name(v)),
                _ => {}
            }
        });
        let [copy] = stmts;
        let mut defined = Vec::new();
        walk::definitions(&copy.kind, &mut |v| defined.push(v));
        (copy, defined)
    }

    /// Deletes a statement; uses of its definitions get other operands.
    pub(super) fn delete_statement(&mut self) -> Option<()> {
        let from = self.movable()?;
        let mut own = Vec::new();
        let stmt = self.block_mut(from.0).stmts.remove(from.1);
        walk::definitions(&stmt.kind, &mut |v| own.push(v));
        self.without(&own)
    }

    /// Replaces uses of some variables by other variables or literals.
    pub(super) fn without(&mut self, gone: &[Var]) -> Option<()> {
        self.scope = Scope::of(&self.l);
        let uses = uses(&mut self.l);
        for (n, of) in uses.iter().enumerate() {
            if of.atom.var().is_some_and(|v| gone.contains(&v)) {
                let ty = self.scope.ty(of.atom)?;
                let new = self.atom(ty, of.point, &of.open);
                set(&mut self.l, n, new);
            }
        }
        Some(())
    }

    /// Whether groups may be updated at a place.
    pub(super) fn is_element_place(place: Place) -> bool {
        matches!(
            place,
            Place::At {
                section: Section::Body | Section::Yield,
                ..
            }
        )
    }
}

/// Whether results depend on the bits of a NaN.
pub(super) fn of_bits(op: Op) -> bool {
    matches!(op, Op::Bitcast | Op::SignBit | Op::Copysign)
}

/// Visits all statements of a loop's blocks. Functions combine group values, and obey laws that the
/// verifier does not check.
pub(super) trait EachStmt {
    fn each_stmt(&mut self, f: impl FnMut(&mut Stmt));
}

impl EachStmt for loop_lang::Loop {
    fn each_stmt(&mut self, mut f: impl FnMut(&mut Stmt)) {
        for block in self.blocks.values_mut() {
            walk::each_mut(&mut block.stmts, &mut f);
        }
    }
}
