//! Methods in generated Rust: receivers with axes, and named arguments.

use super::code::Code;
use super::expression::{Writer, refuse};
use super::notes::Note;
use crate::combinators::{self, Combinator, Keywords, Kind};
use crate::eval::Result;
use crate::syntax::{Expr, ExprKind};

impl Writer<'_> {
    /// A call with named arguments.
    pub(super) fn with_names(&mut self, e: &Expr, name: &str, args: &[Expr]) -> Result<Code> {
        let places = match combinators::find(name).map(|c| c.keywords) {
            Some(Keywords::At(places)) => places,
            _ => &[],
        };
        let mut plain: Vec<Expr> = Vec::new();
        let (mut axis, mut placed) = (None, Vec::new());
        for arg in args {
            match &arg.kind {
                ExprKind::Keyword { name, value } if name.text == "axis" => axis = Some(value),
                ExprKind::Keyword { name, value } => {
                    match places.iter().find(|(place, _)| *place == name.text) {
                        Some((_, k)) => placed.push((*k, (**value).clone())),
                        None => return refuse("there is no Rust for this argument", arg.span),
                    }
                }
                _ => plain.push(arg.clone()),
            }
        }
        placed.sort_by_key(|(k, _)| *k);
        for (k, value) in placed {
            plain.insert(k.min(plain.len()), value);
        }
        match (combinators::find(name), axis) {
            (Some(c), Some(axis)) if combinators::goes_along(c) && !plain.is_empty() => {
                let of = self.input(c, &plain, 0)?;
                let of = of.call("along", &[self.axes(axis)?]);
                self.method(e, c, of, &plain)
            }
            (Some(c), None) if !places.is_empty() => self.combinator(e, c, &plain),
            _ => refuse("there is no Rust for these arguments", e.span),
        }
    }

    /// One or several axes.
    pub(super) fn axes(&mut self, axes: &Expr) -> Result<String> {
        Ok(match self.parts(axes)?.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        })
    }

    /// The receiver of a method. Elements are converted before axes are named.
    pub(super) fn receiver(&mut self, c: &Combinator, args: &[Expr]) -> Result<Code> {
        match &args[0].kind {
            ExprKind::Call {
                callee, args: of, ..
            } if matches!(&callee.kind, ExprKind::Name(name) if name == "along")
                && of.len() == 2 =>
            {
                let array = self.input(c, of, 0)?;
                Ok(array.call("along", &[self.axes(&of[1])?]))
            }
            _ if matches!(self.note(&args[0])?, Note::Along(_)) => self.expr(&args[0]),
            _ => self.input(c, args, 0),
        }
    }

    /// A method call on a receiver that is already written.
    pub(super) fn method(
        &mut self,
        e: &Expr,
        c: &Combinator,
        of: Code,
        args: &[Expr],
    ) -> Result<Code> {
        if let (Some(Kind::Key), Some(key)) = (c.params.get(1), args.get(1))
            && matches!(&key.kind, ExprKind::Function(f) if f.params.len() == 1)
        {
            return self.by_key(c.name, &args[0], key);
        }
        let mut texts = self.arguments(e, c, args, 1)?;
        if matches!(c.keywords, Keywords::At(_))
            && let [_, count, start, _] = texts.as_slice()
        {
            let bins = format!("Bins {{ count: {count}, start: {start} }}");
            texts.splice(1..3, [bins]);
        }
        // Complex numbers, which are pairs in the shell.
        let (takes, gives) = match c.name {
            "fft" | "ifft" => (true, true),
            "rfft" => (false, true),
            "irfft" => (true, false),
            _ => (false, false),
        };
        let number = "|(re, im)| livefusion::complex::ComplexExp::new(re, im)";
        let of = match takes {
            true => of.call("map", &[number.into()]),
            false => of,
        };
        let made = of.call(c.name, &texts);
        Ok(match gives {
            true => made.call("map", &["|z| (z.re, z.im)".into()]),
            false => made,
        })
    }
}
