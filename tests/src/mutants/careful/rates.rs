//! Mutations of rates, bounds and types.

use super::Changing;
use super::groups::identity;
use loop_lang::gotos::{complete_blocks, derive_gotos};
use loop_lang::ir::{
    Atom, Block, Comb, CombId, Combine, End, Exit, Label, Part, Place, Rate, RateId, RateKind,
    Section, Slot, Stmt, StmtKind, Type, Var,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty, canonical};
use loop_lang::walk;

impl Changing {
    /// Changes the bound that a loop rate's guard tests.
    pub(super) fn bound(&mut self) -> Option<()> {
        let loops: Vec<RateId> = (0..self.l.rates.len())
            .map(RateId::new)
            .filter(|r| self.l.rate(*r).kind.counter().is_some())
            .collect();
        let id = self.pick(&loops)?;
        let guard = self.scope.block(Place::At {
            rate: id,
            stage: 0,
            section: Section::Guard,
        })?;
        let new = self.atom(Ty::U64, (guard, 0), &[]);
        let (counter, old) = match &mut self.l.rates[id.index()].kind {
            RateKind::Root { counter, bound }
            | RateKind::Nested { counter, bound, .. }
            | RateKind::Cursor { counter, bound, .. } => (*counter, std::mem::replace(bound, new)),
            RateKind::Sub { .. } => return None,
        };
        for stmt in &mut self.block_mut(guard).stmts {
            if let StmtKind::Let(_, Op::Lt, args) = &mut stmt.kind
                && args[..] == [Atom::Var(counter), old]
            {
                args[1] = new;
            }
        }
        (new != old && new != counter.into()).then_some(())
    }

    /// Toggles the uniform flag of a nested rate. Few loops verify after it is set.
    pub(super) fn uniform(&mut self) -> Option<()> {
        let nested: Vec<usize> = (0..self.l.rates.len())
            .filter(|i| matches!(self.l.rates[*i].kind, RateKind::Nested { .. }))
            .collect();
        let rate = self.pick(&nested)?;
        if let RateKind::Nested { uniform, .. } = &mut self.l.rates[rate].kind {
            *uniform = !*uniform;
        }
        Some(())
    }

    /// Adds a rate at the end of an iteration: filtered elements or an inner loop.
    pub(super) fn rate(&mut self) -> Option<()> {
        let parents: Vec<RateId> = (0..self.l.rates.len()).map(RateId::new).collect();
        let parent = self.pick(&parents)?;
        let id = RateId::new(self.l.rates.len());
        let name = format!("r{}x{}", parent.index(), id.index());
        let comb = CombId::new(self.l.combs.len());
        self.l.combs.push(Comb {
            name: format!("x{}x{}", comb.index(), id.index()),
            kind: "filter".into(),
            slot: Some(Slot { rate: id, stage: 0 }),
        });
        let (before, condition) = self.last_yield(parent)?;
        let kind = match self.rng.weighted(&[60, 25, 15]) {
            0 => {
                let exit = Exit {
                    comb,
                    unless: condition,
                    target: None,
                };
                let guard = Block {
                    exits: vec![exit],
                    ..Block::default()
                };
                self.add(Section::Guard, comb, guard)?;
                RateKind::Sub {
                    parent,
                    count: None,
                }
            }
            1 => self.inner_loop(parent, comb, before)?,
            _ => self.new_cursor(parent, comb, before)?,
        };
        self.l.rates.push(Rate {
            name,
            kind,
            parts: vec![Part::Stage(0)],
        });
        self.l.rates[parent.index()].parts.push(Part::Child(id));
        // Jumps to the bottom go to the new rate first.
        self.block_mut(before).end = End::Open;
        complete_blocks(&mut self.l);
        derive_gotos(&mut self.l);
        self.scope = super::Scope::of(&self.l);
        let stage = Place::At {
            rate: id,
            stage: 0,
            section: Section::Yield,
        };
        // Add an effect there.
        let b = self.scope.block(stage)?;
        self.write_at((b, 0))
    }

    /// The last block of an iteration before its bottom, with a condition known there.
    fn last_yield(&mut self, rate: RateId) -> Option<(usize, Atom)> {
        let bottom = self.scope.block(Place::At {
            rate,
            stage: 0,
            section: Section::Bottom,
        })?;
        let before = bottom.checked_sub(1)?;
        // A cursor's block may deliver instead.
        let goes_on = self.label(bottom).map(End::Goto);
        if goes_on.as_ref() != Some(&self.block(before).end) {
            return None;
        }
        let point = (before, self.block(before).stmts.len());
        Some((before, self.condition(point)))
    }

    pub(super) fn add(&mut self, section: Section, comb: CombId, block: Block) -> Option<()> {
        self.l.blocks.insert([Label { section, comb }], block).ok()
    }

    /// The blocks of a short inner loop.
    fn inner_loop(&mut self, parent: RateId, comb: CombId, before: usize) -> Option<RateKind> {
        let scalar = Type::Scalar;
        let [ix, nix, end] = ["ix", "nix", "end"].map(|b| self.fresh(b, comb, scalar(Ty::U64)));
        let more = self.fresh("more", comb, scalar(Ty::Bool));
        let point = (before, self.block(before).stmts.len());
        let n = self.atom(Ty::U64, point, &[]);
        let number = |n: u64| Atom::from(Const::u64(n));
        let most = self.rng.range(1, 5) as u64;
        let stmt = |kind| Stmt { comb, kind };
        let op = |v, op, a: Atom, b: Atom| stmt(StmtKind::Let(v, op, [a, b].into_iter().collect()));
        let stmts = |stmts| Block {
            stmts,
            ..Block::default()
        };
        let carry = stmt(StmtKind::Carry(ix, number(0)));
        let uniform = self.rng.chance(40);
        let bound = if uniform { number(most) } else { end.into() };
        self.add(
            Section::Nest,
            comb,
            stmts(vec![carry, op(end, Op::Rem, n, number(most))]),
        )?;
        let mut guard = stmts(vec![op(more, Op::Lt, ix.into(), bound)]);
        guard.exits.push(Exit {
            comb,
            unless: more.into(),
            target: None,
        });
        self.add(Section::Guard, comb, guard)?;
        let up = stmt(StmtKind::Assign(ix, nix.into()));
        let bottom = stmts(vec![op(nix, Op::Add, ix.into(), number(1)), up]);
        self.add(Section::Bottom, comb, bottom)?;
        Some(RateKind::Nested {
            parent,
            counter: ix,
            bound,
            uniform,
        })
    }

    /// Changes the count of a subrate. Few of these loops verify, and those must be sound.
    pub(super) fn count(&mut self) -> Option<()> {
        let carried: Vec<Var> = (self.l.groups.iter())
            .flat_map(|g| g.vars.iter().copied())
            .filter(|v| self.l.ty(*v) == Type::Scalar(Ty::U64))
            .collect();
        let subs: Vec<usize> = (0..self.l.rates.len())
            .filter(|i| self.l.rates[*i].kind.is_sub())
            .collect();
        let (sub, new) = (self.pick(&subs)?, self.pick(&carried));
        match &mut self.l.rates[sub].kind {
            RateKind::Sub { count, .. } if *count != new => *count = new,
            _ => return None,
        }
        Some(())
    }

    /// Changes one type to another everywhere.
    pub(super) fn retype(&mut self) -> Option<()> {
        // Functions may depend on the range of a type.
        let joined: Vec<Ty> = (self.l.functions.iter())
            .flat_map(|f| f.params.iter().map(|v| self.l.ty(*v).elem()))
            .collect();
        let present: Vec<Ty> = (self.l.vars.iter().map(|v| v.ty.elem()))
            .filter(|ty| !matches!(ty, Ty::U64 | Ty::Bool))
            .filter(|ty| ty.is_float() || !joined.contains(ty))
            .collect();
        let from = self.pick(&present)?;
        let alike: Vec<Ty> = Ty::ALL
            .into_iter()
            .filter(|t| *t != from && t.is_float() == from.is_float() && *t != Ty::Bool)
            .collect();
        let to = self.rng.pick(&alike);
        walk::atoms_mut(&mut self.l, &mut |a| match a {
            Atom::Const(c) if c.ty == from => *c = converted(*c, to),
            _ => {}
        });
        for v in &mut self.l.vars {
            v.ty = match v.ty {
                Type::Scalar(t) if t == from => Type::Scalar(to),
                Type::Array(t) if t == from => Type::Array(to),
                other => other,
            };
        }
        for group in &mut self.l.groups {
            if let (Some(Combine::Op(op)), [v]) = (group.combine, &group.vars[..])
                && self.l.vars[v.index()].ty == Type::Scalar(to)
            {
                group.identity = vec![identity(op, to).into()];
            }
        }
        Some(())
    }
}

fn converted(c: Const, to: Ty) -> Const {
    let bits = match (c.ty, to) {
        (Ty::F64, Ty::F32) => u64::from((f64::from_bits(c.bits) as f32).to_bits()),
        (Ty::F32, Ty::F64) => f64::from(f32::from_bits(c.bits as u32)).to_bits(),
        _ => c.bits,
    };
    Const::new(to, canonical(to, bits))
}
