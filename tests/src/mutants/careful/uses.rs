//! Uses of scalars in a loop, and their replacements.

use super::scope::Point;
use loop_lang::Loop;
use loop_lang::ir::{Atom, End, Stmt, StmtKind, Var};
use loop_lang::walk;

/// A use of a scalar.
#[derive(Clone)]
pub(super) struct Use {
    /// The statement that contains it. The index after the last statement means the block's exit.
    pub(super) point: Point,
    pub(super) atom: Atom,
    /// Variables of the enclosing regions.
    pub(super) open: Vec<Var>,
}

type Visit<'f> = &'f mut dyn FnMut(&mut Atom, Point, &[Var]);

/// All uses, in a fixed order.
pub(super) fn uses(l: &mut Loop) -> Vec<Use> {
    let mut all = Vec::new();
    visit(l, &mut |atom, point, open| {
        all.push(Use {
            point,
            atom: *atom,
            open: open.to_vec(),
        });
    });
    all
}

/// Replaces the operand of a use.
pub(super) fn set(l: &mut Loop, nth: usize, new: Atom) {
    let mut at = 0;
    visit(l, &mut |atom, _, _| {
        if at == nth {
            *atom = new;
        }
        at += 1;
    });
}

fn visit(l: &mut Loop, f: Visit) {
    let mut open = Vec::new();
    for (b, block) in l.blocks.values_mut().enumerate() {
        for (i, s) in block.stmts.iter_mut().enumerate() {
            stmt(s, (b, i), &mut open, f);
            open.clear();
        }
        let end = (b, block.stmts.len());
        block
            .exits
            .iter_mut()
            .for_each(|e| f(&mut e.unless, end, &[]));
        match &mut block.end {
            End::Branch(cond, ..) => f(cond, end, &[]),
            End::Return(results) => results.iter_mut().for_each(|a| f(a, end, &[])),
            End::Open | End::Goto(_) => {}
        }
    }
}

fn stmt(s: &mut Stmt, point: Point, open: &mut Vec<Var>, f: Visit) {
    let known = open.len();
    match &mut s.kind {
        StmtKind::If {
            cond,
            then,
            other,
            results,
        } => {
            f(cond, point, open);
            then.iter_mut().for_each(|s| stmt(s, point, open, f));
            results.iter_mut().for_each(|(_, a, _)| f(a, point, open));
            open.truncate(known);
            other.iter_mut().for_each(|s| stmt(s, point, open, f));
            results.iter_mut().for_each(|(_, _, b)| f(b, point, open));
        }
        StmtKind::While {
            state,
            test,
            cond,
            body,
            next,
        } => {
            state.iter_mut().for_each(|(_, a)| f(a, point, open));
            open.extend(state.iter().map(|(v, _)| *v));
            test.iter_mut().for_each(|s| stmt(s, point, open, f));
            f(cond, point, open);
            body.iter_mut().for_each(|s| stmt(s, point, open, f));
            next.iter_mut().for_each(|a| f(a, point, open));
        }
        kind => walk::operands_mut(kind, &mut |a| f(a, point, open)),
    }
    open.truncate(known);
    walk::definitions(&s.kind, &mut |v| open.push(v));
}
