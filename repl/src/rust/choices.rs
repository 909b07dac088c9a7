//! Choices in generated Rust: of an expression, and between arrays.

use super::code::Code;
use super::expression::Writer;
use super::notes::Note;
use crate::eval::Result;
use crate::syntax::Expr;
use crate::value::Elt;
use loop_lang::Ty;

impl Writer<'_> {
    /// Writes an `if`.
    pub fn condition(&mut self, e: &Expr, parts: &[Expr; 3]) -> Result<Code> {
        let [test, yes, no] = parts;
        if let Note::Known(fields, _) = self.note(test)? {
            let holds = fields.first().is_some_and(|c| c.bits != 0);
            return self.expr(if holds { yes } else { no });
        }
        let whole = matches!(
            self.note(e)?,
            Note::Array(..) | Note::Segments(_) | Note::Tuple(_)
        );
        if whole && matches!(self.note(test)?, Note::Delayed(_)) {
            let arms = [self.state(yes)?, self.state(no)?];
            return Ok(self.expr(test)?.call("cond", &arms));
        }
        self.choice(e, [test, yes, no])
    }

    /// Writes a selection between two values by a test.
    pub fn choice(&mut self, e: &Expr, [test, yes, no]: [&Expr; 3]) -> Result<Code> {
        let literal = |n: &Note| n.is_untyped() || matches!(n, Note::Known(..));
        let both = literal(self.note(yes)?) && literal(self.note(no)?);
        if both && matches!(self.note(e)?, Note::Term(_)) {
            let ty = self.note(e)?.elt().and_then(Elt::scalar);
            let arms = [self.value(yes, ty, true)?, self.value(no, ty, true)?];
            let test = self.term(test, None)?;
            return Ok(test.call("cond", &arms.map(|a| a.text)));
        }
        let make = |x: &[Code]| {
            let arms = [x[1].text.clone(), x[2].text.clone()];
            x[0].clone().call("cond", &arms)
        };
        let ty = self.note(e)?.elt().and_then(Elt::scalar);
        self.each(e, &[test, yes, no], [Some(Ty::Bool), ty], &make)
    }
}
