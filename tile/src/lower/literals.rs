//! What is a literal at this place, though the Loop does not know it: answers of a case, flags that every step sets.

use super::Lower;
use crate::ir::Operand;
use loop_lang::eval::eval;
use loop_lang::ir::{Atom, Var};
use loop_lang::op::Op;
use loop_lang::types::Const;

impl Lower<'_, '_> {
    /// The answer to a condition, if that is known here.
    pub(super) fn truth(&self, cond: Atom) -> Option<bool> {
        let literal = || self.literal(cond).map(|c| c.bits != 0);
        self.answer(cond).or_else(literal)
    }

    /// The literal that a value is here.
    fn literal(&self, a: Atom) -> Option<Const> {
        match a {
            Atom::Const(c) => Some(c),
            Atom::Var(v) => match self.now.get(&v)? {
                Operand::Const(c) => Some(*c),
                Operand::Value(_) => None,
            },
        }
    }

    /// Whether a variable's value follows from what is a literal here; then it is that from here on.
    pub(super) fn settles(&mut self, v: Var, op: Op, of: &[Atom]) -> bool {
        let literals: Vec<Option<Const>> = of.iter().map(|a| self.literal(*a)).collect();
        if literals.iter().all(Option::is_none) {
            return false;
        }
        let known: Option<Vec<Const>> = literals.iter().copied().collect();
        if let Some(known) = known {
            let program = self.region.program;
            let typed = usize::from(op == Op::Select);
            let from = known.get(typed).map_or(known[0].ty, |c| c.ty);
            let to = program.ty(v).elem();
            let words: Vec<u64> = known.iter().map(|c| c.bits).collect();
            let result = Const::new(to, eval(op, from, to, &words));
            self.now.insert(v, result.into());
            return true;
        }
        let same = match (op, of, &literals[..]) {
            (Op::Select, [_, a, b], [Some(cond), ..]) => Some(if cond.bits != 0 { *a } else { *b }),
            (Op::And | Op::Or, [a, b], [one, other]) => {
                let (literal, at, x) = match one {
                    Some(c) => (*c, *a, *b),
                    None => (other.unwrap_or(Const::bool(false)), *b, *a),
                };
                // Of integers there are more bits than one.
                let is_truth = literal == Const::bool(literal.bits != 0);
                let decides = (literal.bits != 0) == (op == Op::Or);
                is_truth.then_some(if decides { at } else { x })
            }
            _ => None,
        };
        let Some(same) = same else {
            return false;
        };
        self.stays(v, same);
        true
    }
}
