//! Mutations of effects: writes, scatters, traps, exits, results.

use super::Changing;
use super::scope::Point;
use loop_lang::ir::{
    Atom, Combine, End, Exit, Place, RateKind, Section, StmtKind, Trap, TrapId, TrapKind, Type, Var,
};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// The operators that combine values of a type and have an identity.
pub(super) fn monoids(ty: Ty) -> &'static [Op] {
    match ty {
        Ty::Bool => &[Op::And, Op::Or, Op::Xor],
        t if t.is_float() => &[Op::Add, Op::Mul, Op::Min, Op::Max],
        _ => &[Op::Add, Op::Mul, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor],
    }
}

impl Changing {
    /// Adds a write or a scatter to an array, which may be new.
    pub(super) fn write(&mut self) -> Option<()> {
        let point = self.point()?;
        self.write_at(point)
    }

    pub(super) fn write_at(&mut self, point: Point) -> Option<()> {
        let array = match self.rng.chance(50) {
            true => self.made_at(point),
            false => None,
        };
        let (array, point) = match array {
            Some(a) => (a, point),
            None => self.new_array(point)?,
        };
        let ty = self.l.ty(array).elem();
        let index = self.atom(Ty::U64, point, &[]);
        let value = self.atom(ty, point, &[]);
        let is_key = ty.is_unsigned();
        let kind = match self.rng.below(if is_key { 4 } else { 3 }) {
            0 => StmtKind::WriteArray(array, index, value),
            3 => StmtKind::SortArrays(vec![array], index),
            n => StmtKind::ScatterArray {
                arrays: vec![array],
                index,
                values: vec![value],
                combine: (n == 1).then(|| Combine::Op(self.rng.pick(monoids(ty)))),
            },
        };
        self.insert(point, kind);
        Some(())
    }

    fn made_at(&mut self, point: Point) -> Option<Var> {
        let all = (0..self.l.vars.len()).map(Var::new);
        let made: Vec<Var> = all
            .filter(|v| self.scope.is_made(*v) && self.scope.usable(*v, point, &[]))
            .collect();
        self.pick(&made)
    }

    /// A new array that the loop returns, and the program point, which shifts if it is in `init`.
    fn new_array(&mut self, point: Point) -> Option<(Var, Point)> {
        let init = self.scope.block(Place::Init)?;
        let at = self.block(init).stmts.len();
        let comb = self.scope.combs[point.0];
        let end = (init, at);
        let copied: Vec<Var> = (self.l.params.iter().map(|p| p.var))
            .filter(|v| matches!(self.l.ty(*v), Type::Array(_)))
            .collect();
        let source = self.pick(&copied).filter(|_| self.rng.chance(40));
        let ty = match source {
            Some(a) => self.l.ty(a).elem(),
            None => self.type_at(point),
        };
        let array = self.fresh("out", comb, Type::Array(ty));
        let kind = match source {
            Some(a) => StmtKind::CopyArray(array, a),
            None => {
                let (n, x) = (self.atom(Ty::U64, end, &[]), self.literal(ty));
                StmtKind::FillArray(array, n, x)
            }
        };
        self.insert(end, kind);
        self.returned(array.into());
        Some((
            array,
            if point.0 == init {
                (init, at + 1)
            } else {
                point
            },
        ))
    }

    /// Adds a result.
    pub(super) fn returned(&mut self, a: Atom) {
        for block in self.l.blocks.values_mut() {
            if let End::Return(results) = &mut block.end {
                results.push(a);
            }
        }
    }

    /// Changes or removes the operator of a scatter.
    pub(super) fn combine(&mut self) -> Option<()> {
        let mut points = Vec::new();
        for (b, (_, block)) in self.l.blocks.iter().enumerate() {
            for (i, stmt) in block.stmts.iter().enumerate() {
                match &stmt.kind {
                    StmtKind::WriteArray(a, ..) => points.push(((b, i), *a)),
                    StmtKind::ScatterArray { arrays, .. } if arrays.len() == 1 => {
                        points.push(((b, i), arrays[0]));
                    }
                    _ => {}
                }
            }
        }
        let ((b, i), array) = self.pick(&points)?;
        let ty = self.l.ty(array).elem();
        let combine = (self.rng.chance(75)).then(|| Combine::Op(self.rng.pick(monoids(ty))));
        let kind = &mut self.block_mut(b).stmts[i].kind;
        *kind = match kind.clone() {
            StmtKind::WriteArray(a, index, x) => StmtKind::ScatterArray {
                arrays: vec![a],
                index,
                values: vec![x],
                combine,
            },
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                ..
            } => StmtKind::ScatterArray {
                arrays,
                index,
                values,
                combine,
            },
            other => other,
        };
        Some(())
    }

    /// Adds a trap.
    pub(super) fn trap(&mut self) -> Option<()> {
        let point = self.point()?;
        let unless = self.condition(point);
        let kind = self.rng.pick(&TrapKind::ALL);
        let comb = self.scope.combs[point.0];
        self.l.traps.push(Trap { comb, kind });
        let trap = TrapId::new(self.l.traps.len() - 1);
        let payload = (0..self.rng.below(3))
            .map(|_| self.atom(Ty::U64, point, &[]))
            .collect();
        // The condition may have been inserted before it.
        let at = self.after(point, unless);
        self.insert(
            at,
            StmtKind::Trap {
                unless,
                trap,
                payload,
            },
        );
        Some(())
    }

    /// A condition at a program point: an existing one, or a new comparison before it.
    pub(super) fn condition(&mut self, point: Point) -> Atom {
        if self.rng.chance(40) {
            return self.atom(Ty::Bool, point, &[]);
        }
        let ty = self.type_at(point);
        let (a, b) = (self.atom(ty, point, &[]), self.atom(ty, point, &[]));
        let op = self
            .rng
            .pick(&[Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge]);
        let v = self.fresh_at("p", point, Ty::Bool);
        self.insert(point, StmtKind::Let(v, op, [a, b].into_iter().collect()));
        v.into()
    }

    /// The program point after a condition that was inserted for another statement.
    pub(super) fn after(&self, (b, at): Point, condition: Atom) -> Point {
        let made =
            self.block(b).stmts.get(at).is_some_and(
                |s| matches!(s.kind, StmtKind::Let(v, ..) if Atom::Var(v) == condition),
            );
        (b, at + usize::from(made))
    }

    /// Adds or removes an exit.
    pub(super) fn exit(&mut self) -> Option<()> {
        if self.rng.chance(25) {
            let mut exits = Vec::new();
            for (b, (_, block)) in self.l.blocks.iter().enumerate() {
                for (e, exit) in block.exits.iter().enumerate() {
                    if !exit
                        .unless
                        .var()
                        .is_some_and(|v| self.scope.fixed[v.index()])
                    {
                        exits.push((b, e));
                    }
                }
            }
            let (b, e) = self.pick(&exits)?;
            self.block_mut(b).exits.remove(e);
            return Some(());
        }
        let blocks: Vec<usize> = (0..self.scope.places.len())
            .filter(|b| self.scope.rate(*b).is_some())
            .collect();
        let b = self.pick(&blocks)?;
        // Jump to the bottom or the end of a surrounding rate.
        let mut targets = Vec::new();
        let mut around = self.scope.rate(b);
        while let Some(rate) = around {
            for section in [Section::Bottom, Section::Done] {
                let place = Place::At {
                    rate,
                    stage: 0,
                    section,
                };
                targets.extend(self.scope.block(place).filter(|t| *t > b));
            }
            around = self.l.rate(rate).kind.parent();
        }
        if matches!(self.scope.places.last(), Some(Place::Return)) && self.in_last_phase(b) {
            targets.push(self.scope.places.len() - 1);
        }
        let target = self.pick(&targets)?;
        let (labels, _) = self.l.blocks.iter().nth(target)?;
        let target = labels.first().copied();
        let point = (b, self.block(b).stmts.len());
        let unless = self.condition(point);
        let comb = self.scope.combs[b];
        self.block_mut(b).exits.push(Exit {
            comb,
            unless,
            target,
        });
        Some(())
    }

    fn in_last_phase(&self, b: usize) -> bool {
        let root = self.scope.rate(b).map(|r| self.l.root_of(r));
        root.is_some() && root == self.l.roots.last().copied()
    }

    /// Adds or removes a result, or swaps two.
    pub(super) fn result(&mut self) -> Option<()> {
        let last = self.scope.block(Place::Return)?;
        let point = (last, self.block(last).stmts.len());
        let all = (0..self.l.vars.len()).map(Var::new);
        let known: Vec<Var> = all.filter(|v| self.scope.usable(*v, point, &[])).collect();
        let new = self.pick(&known);
        let choice = self.rng.below(3);
        let (i, j) = (self.rng.word() as usize, self.rng.word() as usize);
        let End::Return(results) = &mut self.block_mut(last).end else {
            return None;
        };
        let n = results.len();
        match choice {
            0 => results.push(new?.into()),
            1 if n > 1 => drop(results.remove(i % n)),
            2 if n > 1 => results.swap(i % n, j % n),
            _ => return None,
        }
        Some(())
    }

    /// The rate of a block's elements, if groups may be updated there.
    pub(super) fn step_of(&self, b: usize) -> Option<loop_lang::ir::RateId> {
        self.scope
            .rate(b)
            .filter(|_| Self::is_element_place(self.scope.places[b]))
    }

    /// Whether the loop rate around a rate is a cursor.
    pub(super) fn is_cursor(&self, rate: loop_lang::ir::RateId) -> bool {
        let kind = self.l.rate(self.l.loop_rate(rate)).kind;
        matches!(kind, RateKind::Cursor { .. })
    }
}
