//! Parser of operands and types.

use super::lexer::Tok;
use super::{Fail, Parsed, Parser, infer::Rule};
use crate::ir::{Atom, Type, Var};
use crate::literal::{bits, literal};
use crate::types::{Const, Ty};

impl Parser<'_> {
    /// A variable or a literal.
    pub(super) fn atom(&mut self) -> Parsed<Atom> {
        match self.peek() {
            Tok::Number => self.number().map(Atom::Const),
            Tok::NegInf => self.named_float(f64::NEG_INFINITY).map(Atom::Const),
            Tok::Word => match self.word() {
                "true" | "false" => {
                    let value = self.word() == "true";
                    self.bump();
                    Ok(Atom::Const(Const::bool(value)))
                }
                "inf" => self.named_float(f64::INFINITY).map(Atom::Const),
                "nan" => self.named_float(f64::NAN).map(Atom::Const),
                _ => self.var().map(Atom::Var),
            },
            _ => self.expected("a variable or a literal"),
        }
    }

    /// Tells whether an operand could start here.
    pub(super) fn at_atom(&self) -> bool {
        matches!(self.peek(), Tok::Number | Tok::NegInf | Tok::Word)
    }

    /// An array; arrays are always variables.
    pub(super) fn array(&mut self) -> Parsed<Var> {
        self.var()
    }

    /// `inf`, `-inf` or `nan`, optionally with a `.f32` suffix.
    fn named_float(&mut self, x: f64) -> Parsed<Const> {
        self.bump();
        if !self.eat(Tok::Dot) {
            return Ok(Const::f64(x));
        }
        match self.scalar()? {
            Ty::F64 => Ok(Const::f64(x)),
            Ty::F32 => Ok(Const::f32(x as f32)),
            ty => self.fault(format!("`{ty}` has no such value")),
        }
    }

    fn number(&mut self) -> Parsed<Const> {
        let (start, text) = (self.token().start, self.word());
        self.bump();
        let value = match text.strip_prefix("0x") {
            Some(digits) => {
                self.expect(Tok::Dot)?;
                let ty = self.scalar()?;
                bits(digits, ty)
            }
            None => literal(text),
        };
        value.map_err(|message| {
            self.fault_at(start, format!("`{text}`: {message}"));
            Fail
        })
    }

    /// A scalar type's name.
    pub(super) fn scalar(&mut self) -> Parsed<Ty> {
        let ty = match self.peek() {
            Tok::Word => Ty::from_name(self.word()),
            _ => None,
        };
        match ty {
            Some(ty) => {
                self.bump();
                Ok(ty)
            }
            None => self.expected("a scalar type such as `f64`"),
        }
    }

    /// `f64`, or `[f64]` for an array.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        if !self.eat(Tok::OpenSquare) {
            return self.scalar().map(Type::Scalar);
        }
        let ty = self.scalar()?;
        self.expect(Tok::CloseSquare)?;
        Ok(Type::Array(ty))
    }

    /// An integer without a suffix.
    pub(super) fn count(&mut self) -> Parsed<u32> {
        let number = match self.peek() {
            Tok::Number => self.word().parse().ok(),
            _ => None,
        };
        match number {
            Some(n) => {
                self.bump();
                Ok(n)
            }
            None => self.expected("a whole number"),
        }
    }

    /// `name: type`, which defines a parameter.
    pub(super) fn typed(&mut self) -> Parsed<Var> {
        let v = self.var()?;
        self.expect(Tok::Colon)?;
        let ty = self.ty()?;
        self.settle((v, Some(ty)), Rule::Known(ty));
        Ok(v)
    }
}
