//! Mutations of cursors: delivery targets, skips, ends, and new cursors.

use super::Changing;
use loop_lang::gotos::Tree;
use loop_lang::ir::{
    Atom, Block, CombId, End, Exit, Label, Place, RateId, RateKind, Section, Stmt, StmtKind, Type,
};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};

impl Changing {
    /// Changes the target of a cursor's block: always, under a condition, or under its negation.
    pub(super) fn delivery(&mut self) -> Option<()> {
        let blocks: Vec<(usize, RateId)> = (0..self.scope.places.len())
            .filter_map(|b| Some((b, self.cursor_of(b)?)))
            .collect();
        let (b, cursor) = self.pick(&blocks)?;
        let target = self.onwards(b, cursor)?;
        let End::Goto(old) = self.block(b).end else {
            return None;
        };
        if old == target {
            return None;
        }
        let choice = self.rng.below(3);
        if choice == 0 {
            self.block_mut(b).end = End::Goto(target);
            return Some(());
        }
        let point = (b, self.block(b).stmts.len());
        let condition = self.condition(point);
        let comb = self.scope.combs[b];
        let block = self.block_mut(b);
        match choice {
            1 => block.end = End::Branch(condition, old, target),
            _ => block.exits.push(Exit {
                comb,
                unless: condition,
                target: Some(target),
            }),
        }
        Some(())
    }

    /// The cursor around a block, or the cursor that the block ends.
    fn cursor_of(&self, b: usize) -> Option<RateId> {
        let Place::At { rate, section, .. } = self.scope.places[b] else {
            return None;
        };
        let cursor = self.l.loop_rate(rate);
        (section != Section::Nest && self.is_cursor(cursor)).then_some(cursor)
    }

    /// A legal target for a cursor's block: after the cursor, its guard, or a later point in it.
    fn onwards(&mut self, b: usize, cursor: RateId) -> Option<Label> {
        let tree = Tree::of(&self.l);
        let at = |rate, section| Place::At {
            rate,
            stage: 0,
            section,
        };
        let mut places = vec![tree.after(&self.l, cursor)?, at(cursor, Section::Guard)];
        let further = self.scope.places[b + 1..].iter().copied();
        places.extend(further.take_while(
            |p| matches!(p, Place::At { rate, .. } if self.l.is_within(*rate, cursor)),
        ));
        let to = self.pick(&places)?;
        self.label(self.scope.block(to)?)
    }

    /// The label by which gotos name a block.
    pub(super) fn label(&self, b: usize) -> Option<Label> {
        let (labels, _) = self.l.blocks.iter().nth(b)?;
        labels.first().copied()
    }

    /// The blocks of a short cursor that delivers each element to the bottom of its parent.
    pub(super) fn new_cursor(
        &mut self,
        parent: RateId,
        comb: CombId,
        before: usize,
    ) -> Option<RateKind> {
        let scalar = Type::Scalar;
        let [ix, nix] = ["ix", "nix"].map(|b| self.fresh(b, comb, scalar(Ty::U64)));
        let more = self.fresh("more", comb, scalar(Ty::Bool));
        let bound = Atom::from(Const::u64(self.rng.range(0, 40) as u64));
        let stmt = |kind| Stmt { comb, kind };
        let op = |v, op, a: Atom, b: Atom| stmt(StmtKind::Let(v, op, [a, b].into_iter().collect()));
        let with = |stmts| Block {
            stmts,
            ..Block::default()
        };
        let carry = stmt(StmtKind::Carry(ix, Const::u64(0).into()));
        // Its counter continues, or restarts each time.
        match self.rng.chance(70) {
            true => self.block_mut(0).stmts.push(carry),
            false => self.add(Section::Nest, comb, with(vec![carry]))?,
        }
        let mut guard = with(vec![op(more, Op::Lt, ix.into(), bound)]);
        guard.exits.push(Exit {
            comb,
            unless: more.into(),
            target: None,
        });
        self.add(Section::Guard, comb, guard)?;
        let up = stmt(StmtKind::Assign(ix, nix.into()));
        let body = vec![op(nix, Op::Add, ix.into(), Const::u64(1).into()), up];
        self.add(Section::Body, comb, with(body))?;
        let last = Block {
            end: End::Goto(self.label(before + 1)?),
            ..Block::default()
        };
        self.add(Section::Yield, comb, last)?;
        Some(RateKind::Cursor {
            parent,
            counter: ix,
            bound,
        })
    }
}
