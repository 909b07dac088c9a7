//! What a turn of a scalar loop computes for several elements, as C.

use super::unit::Unit;
use crate::facts;
use livefusion_tile::region::{Act, Turn};
use loop_lang::types::Ty;

impl Unit<'_> {
    /// Writes what a turn computes.
    pub(super) fn acts<'t, 's: 't>(&mut self, acts: impl Iterator<Item = &'t Act<'s>>) {
        for act in acts {
            let (v, cond, a, b) = match act {
                Act::Plain(s) => {
                    self.stmts(std::slice::from_ref(*s));
                    continue;
                }
                Act::Pick(v, cond, [a, b]) => (*v, *cond, *a, *b),
            };
            let (cond, a, b) = (self.atom(cond), self.atom(a), self.atom(b));
            let define = self.define(v);
            match facts::elem(self.program, v) {
                Ty::Bool => self.line(format!("{define} = ({cond} & {a}) | (({cond} ^ 1) & {b});")),
                _ => self.line(format!("{define} = {cond} ? {a} : {b};")),
            }
        }
    }

    /// The conditions of a turn that vary, or those that do not, as one; none if there are none.
    pub(super) fn all_of(&mut self, turn: &Turn, varying: bool) -> Option<String> {
        let all: Vec<String> = turn.conditions(varying).map(|a| self.atom(a)).collect();
        (!all.is_empty()).then(|| all.join(" & "))
    }
}
