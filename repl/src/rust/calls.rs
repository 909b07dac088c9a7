//! Calls in generated Rust: methods of the same name, and exceptions.

use super::code::{Code, level, tuple};
use super::expression::{Writer, refuse};
use super::notes::Note;
use crate::combinators::{self, Combinator, Elements, Kind, SCALARS};
use crate::eval::{Result, promote};
use crate::syntax::{Expr, ExprKind};
use crate::value::Elt;
use loop_lang::Ty;

/// Free functions in Rust.
const FREE: &[&str] = &[
    "generate",
    "iota",
    "replicate",
    "enum_from_step",
    "linspace",
    "random::bits",
    "random::uniform",
    "random::uniform2",
    "random::normal",
    "random::normal2",
    "random::integers",
    "random::permutation",
    "Segmented::replicate",
    "Segmented::indices",
    "Segmented::enum_from_step",
    "iterate_n",
    "iterate_while",
    "iterate",
    "while_loop",
];

/// Combinators whose number arguments need a type suffix.
const SUFFIXED: &[&str] = &[
    "replicate",
    "enum_from_step",
    "aggregate",
    "reduce_by_index",
    "reduce_by_key",
    "scan_by_index",
    "scan_exclusive_by_index",
];

impl Writer<'_> {
    /// Writes a call of a combinator, a scalar function, or a user function.
    pub fn call(&mut self, e: &Expr, callee: &Expr, args: &[Expr]) -> Result<Code> {
        let ExprKind::Name(name) = &callee.kind else {
            return self.applied(e, callee, args);
        };
        if self.bound.contains(name) {
            return self.applied(e, callee, args);
        }
        if name == "agg" {
            return self.aggregates(e, args);
        }
        if name == "join" && self.is_of_rows("filter", args) {
            let message = "a join of tables has no form in Rust, whose joins give pairs of indices";
            return refuse(message, e.span);
        }
        if args
            .iter()
            .any(|a| matches!(a.kind, ExprKind::Keyword { .. }))
        {
            return self.with_names(e, name, args);
        }
        let name = combinators::ALIASES
            .iter()
            .find(|(a, _)| a == name)
            .map_or(name.as_str(), |(_, n)| n);
        let is_of_files =
            combinators::find(name).is_some_and(|c| matches!(c.name, "load" | "save"));
        if !is_of_files && !self.is_of_rows(name, args) {
            self.are_numbers(args)?;
        }
        if self.is_of_rows(name, args)
            && let Some(c) = combinators::find(name)
        {
            let code = self.combinator(e, c, args)?;
            return self.with_texts(e, code);
        }
        match combinators::find(name) {
            Some(c) if c.scalar.is_none() || c.takes(args.len()) => self.combinator(e, c, args),
            Some(c) => self.scalar(e, c.name, args),
            None => match SCALARS.iter().find(|f| f.name == name) {
                Some(f) => self.scalar(e, f.name, args),
                None => self.applied(e, callee, args),
            },
        }
    }

    fn scalar(&mut self, e: &Expr, name: &str, args: &[Expr]) -> Result<Code> {
        let args: Vec<&Expr> = args.iter().collect();
        match (name, args.as_slice()) {
            ("where", [test, yes, no]) => return self.choice(e, [test, yes, no]),
            ("xor", [..]) => {
                let ty = self.common(&args)?;
                let make = |x: &[Code]| x[0].clone().operator("^", level::XOR, x[1].clone());
                return self.each(e, &args, [ty, ty], &make);
            }
            ("log", [of]) => return self.scalar(e, "ln", std::slice::from_ref(*of)),
            (name, [of]) if Ty::from_name(name).is_some() => {
                return self.cast_to(e, of, Ty::from_name(name).unwrap_or(Ty::F64));
            }
            _ => {}
        }
        // The last argument is a flag: whether NaN is close to NaN.
        let alike = if name == "isclose" { &args[..4] } else { &args };
        let result = self.note(e)?.elt().and_then(Elt::scalar);
        let first = match (self.common(alike)?, result) {
            // A function that exists only for floats.
            (Some(own), Some(ty)) if ty.is_float() && !own.is_float() => Some(Ty::F64),
            (own, _) => own,
        };
        let other = if name == "powi" { Some(Ty::I32) } else { first };
        self.each(e, &args, [first, other], &|x| {
            let rest: Vec<_> = x[1..].iter().map(|a| a.text.clone()).collect();
            x[0].clone().call(name, &rest)
        })
    }

    /// An array argument, with elements converted as the combinator requires.
    pub(super) fn input(&mut self, c: &Combinator, args: &[Expr], k: usize) -> Result<Code> {
        let code = self.rows(&args[k])?;
        let own = self.element(&args[k])?;
        let want = match c.elements {
            Elements::Kept => None,
            Elements::Numbers => own.as_ref().map(promote::numbers),
            Elements::Signed => own.as_ref().map(promote::signed),
            Elements::Alike => {
                let mut all = Vec::new();
                for arg in args {
                    let is_array = matches!(self.note(arg)?, Note::Array(..) | Note::Range(_));
                    all.extend(self.element(arg)?.filter(|_| is_array));
                }
                all.into_iter()
                    .map(Some)
                    .reduce(|a, b| promote::join(&a?, &b?))
                    .flatten()
            }
        };
        let want = want.filter(|want| own.as_ref() != Some(want));
        self.converted(code, &args[k], want.and_then(|elt| elt.scalar()))
    }

    pub fn combinator(&mut self, e: &Expr, c: &'static Combinator, args: &[Expr]) -> Result<Code> {
        let kind = match args.first().map(|a| self.note(a)).transpose()? {
            Some(Note::Segments(_)) => Kind::Segments,
            Some(Note::Along(_)) => Kind::Along,
            _ => Kind::Array,
        };
        let c = combinators::form(c, kind, args.len());
        let refs = |w: &mut Self, of: &[Expr]| -> Result<Vec<String>> {
            of.iter().map(|a| Ok(w.borrowed(a)?.text)).collect()
        };
        let elt = |w: &Self, e: &Expr| -> Result<_> { Ok(w.note(e)?.elt().cloned()) };
        let free = |name: &str, args: &[String]| Code::atom(format!("{name}({})", args.join(", ")));
        match c.name {
            "array" => return self.expr(&args[0]),
            "print" if args.len() == 1 => return self.expr(&args[0]),
            "zeros" | "ones" => {
                let shape = self.shape(args)?;
                let with = if c.name == "ones" { "1.0f64" } else { "0.0f64" };
                return Ok(free("replicate", &[shape, with.into()]));
            }
            "astype" => {
                let ty = self.note(e)?.elt().and_then(Elt::scalar);
                return match ty {
                    Some(ty) => self.cast_to(e, &args[0], ty),
                    None => refuse("there is no type for this in Rust", e.span),
                };
            }
            "arange" => return self.arange(e, args),
            "reshape" => {
                let shape = match (&args[1..], self.notes.get(args[1].span)) {
                    ([one], Some(Note::Int(_))) => self.expr_as_count(one)?,
                    _ => self.shape(&args[1..])?,
                };
                if shape.contains('-') {
                    return refuse("all lengths are given in Rust", e.span);
                }
                return Ok(self.expr(&args[0])?.call("reshape", &[shape]));
            }
            "fold" | "fold_seq" | "scan" | "scan_seq"
                if elt(self, e)? != self.element(&args[0])?.map(|elt| promote::signed(&elt)) =>
            {
                return refuse(
                    format!("`{}` of another type than the elements", c.name),
                    e.span,
                );
            }
            "zip" | "zip_shortest" if args.len() > 2 => {
                let all = refs(self, args)?;
                return Ok(free(c.name, &[tuple(&all).text]));
            }
            "append" if args.len() > 2 => {
                let all = refs(self, args)?.join(", ");
                return Ok(free("concat", &[format!("[{all}]")]));
            }
            "concatenate" | "stack" => {
                let axis = self.expr_as_count(&args[0])?;
                let all = refs(self, &args[1..])?.join(", ");
                return Ok(free(c.name, &[axis, format!("&[{all}]")]));
            }
            "head" => return Ok(self.rows(&args[0])?.call("take", &["5".into()])),
            "segmented" => return Ok(free("Segmented::new", &refs(self, args)?)),
            "from_flags" => return Ok(free("Segmented::from_flags", &refs(self, args)?)),
            "from_uniform" => {
                let args = [self.expr_as_count(&args[0])?, self.borrowed(&args[1])?.text];
                return Ok(free("Segmented::from_uniform", &args));
            }
            "lengths" | "data" => {
                let of = self.expr(&args[0])?.call(c.name, &[]);
                return Ok(of.call("clone", &[]));
            }
            "flatten" if args.len() == 1 && matches!(self.note(&args[0])?, Note::Segments(_)) => {
                return Ok(self.expr(&args[0])?.call("concat", &[]));
            }
            "with_data" => {
                let data = self.owned(&args[1])?.text;
                return Ok(self.expr(&args[0])?.call(c.name, &[data]));
            }
            "map_segments" => {
                let (of, f) = (self.borrowed(&args[0])?, self.function(&args[1], 1)?);
                return Ok(of.call(c.name, &[f]));
            }
            "along" => {
                let axes = self.axes(&args[1])?;
                return Ok(self.rows(&args[0])?.call(c.name, &[axes]));
            }
            "permute_axes" => {
                let order = self.parts(&args[1])?;
                let order = format!("[{}]", order.join(", "));
                return Ok(self.expr(&args[0])?.call(c.name, &[order]));
            }
            "pad" => return self.pad(args),
            "broadcast" if c.params[0] != Kind::Segments => return self.broadcast(e, args),
            "iterate_n" | "iterate_while" | "iterate" | "while_loop" => {
                return self.looped(e, c, args);
            }
            "load" => return self.load(e, args),
            "save" => {
                self.files = true;
                let (of, name) = (self.borrowed(&args[0])?.text, self.expr(&args[1])?.text);
                let ends = |end: &str| name.trim_end_matches('"').ends_with(end);
                if !ends(".npy")
                    || !matches!(self.note(&args[0])?, Note::Array(..) | Note::Range(_))
                {
                    return refuse(
                        "only arrays that are saved as NPY have a short form",
                        e.span,
                    );
                }
                return Ok(Code::atom(format!(
                    "livefusion::io::npy::write({name}, {of})?"
                )));
            }
            "Boundary::Constant" => return Ok(free(c.name, &[self.expr(&args[0])?.text])),
            _ => {}
        }
        if FREE.contains(&c.name) {
            let texts = self.arguments(e, c, args, 0)?;
            return Ok(free(c.name, &texts));
        }
        let of = self.receiver(c, args)?;
        self.method(e, c, of, args)
    }

    /// The texts of the arguments from `first` on.
    pub(super) fn arguments(
        &mut self,
        e: &Expr,
        c: &Combinator,
        args: &[Expr],
        first: usize,
    ) -> Result<Vec<String>> {
        let ty = match c.name {
            "histogram_uniform" => self.element(&args[0])?.and_then(|elt| elt.scalar()),
            _ => self.note(e)?.elt().and_then(Elt::scalar),
        };
        let suffix = SUFFIXED.contains(&c.name);
        let mut texts = Vec::new();
        for (k, arg) in args.iter().enumerate().skip(first) {
            let kind = c.params.get(k).or(c.params.last()).copied();
            texts.push(match kind.unwrap_or(Kind::Any) {
                Kind::Array | Kind::Segments | Kind::Along | Kind::Over => {
                    self.input(c, args, k)?.borrowed().text
                }
                Kind::Function(n) => self.function(arg, n)?,
                Kind::Key => self.function(arg, 2)?,
                Kind::Count | Kind::Axis => self.expr_as_count(arg)?,
                Kind::Any if c.name == "slice" => self.item(arg)?,
                Kind::Shape | Kind::Any => match self.parts(arg)?.as_slice() {
                    [one] => one.clone(),
                    parts => tuple(parts).text,
                },
                Kind::Number => self.number(arg, ty, suffix)?,
                Kind::Boundary => self.boundary(arg, &args[0])?,
                Kind::Text => self.expr(arg)?.text,
            });
        }
        Ok(texts)
    }

    /// A shape: numbers, or a tuple of numbers.
    fn shape(&mut self, args: &[Expr]) -> Result<String> {
        let parts = match args {
            [one] => self.parts(one)?,
            all => {
                let mut parts = Vec::new();
                for arg in all {
                    parts.push(self.expr_as_count(arg)?);
                }
                parts
            }
        };
        Ok(match parts.as_slice() {
            [one] => one.clone(),
            parts => tuple(parts).text,
        })
    }

    /// An arithmetic sequence with a known start and step.
    fn arange(&mut self, e: &Expr, args: &[Expr]) -> Result<Code> {
        let mut known = Vec::new();
        for arg in args {
            match self.note(arg)? {
                Note::Int(n) => known.push(*n),
                _ => {
                    return refuse(
                        "start, end and step have to be known integers for this",
                        arg.span,
                    );
                }
            }
        }
        let (start, end, step) = match known.as_slice() {
            [end] => (0, *end, 1),
            [start, end] => (*start, *end, 1),
            [start, end, step, ..] => (*start, *end, (*step).max(i64::MIN.into())),
            [] => return refuse("expected an end", e.span),
        };
        let n = match step {
            0 => 0,
            step => (end - start + step - step.signum()) / step,
        };
        Ok(Code::atom(format!(
            "enum_from_step({}, {start}i64, {step})",
            n.max(0)
        )))
    }

    /// The element type of an array or of a range.
    fn element(&self, e: &Expr) -> Result<Option<Elt>> {
        Ok(match self.note(e)? {
            Note::Range(known) => known.map(|(_, _, ty)| Elt::Scalar(ty)),
            note => note.elt().cloned(),
        })
    }

    /// A start value or a fill value.
    fn number(&mut self, e: &Expr, ty: Option<Ty>, suffix: bool) -> Result<String> {
        if let ExprKind::Tuple(parts) = &e.kind {
            let parts: Result<Vec<_>> = parts.iter().map(|p| self.number(p, None, true)).collect();
            return Ok(tuple(&parts?).text);
        }
        Ok(match self.note(e)? {
            Note::Delayed(_) => self.borrowed(e)?.text,
            _ => self.value(e, ty, suffix)?.text,
        })
    }

    /// A number of elements, an index or an axis. Delayed ones are `u64`.
    fn expr_as_count(&mut self, e: &Expr) -> Result<String> {
        Ok(match self.note(e)?.clone() {
            Note::Int(n) => n.to_string(),
            Note::Delayed(Elt::Scalar(Ty::U64) | Elt::Count) => self.borrowed(e)?.text,
            Note::Delayed(_) => {
                self.expr(e)?
                    .call("map", &["|n| n.cast::<u64>()".into()])
                    .text
            }
            _ => self.expr(e)?.text,
        })
    }

    /// Writes one count, or the counts of a tuple.
    pub(super) fn parts(&mut self, e: &Expr) -> Result<Vec<String>> {
        match &e.kind {
            ExprKind::Tuple(parts) => parts.iter().map(|p| self.expr_as_count(p)).collect(),
            _ => Ok(vec![self.expr_as_count(e)?]),
        }
    }

    /// Writes a function argument as a closure or by its name.
    pub fn function(&mut self, e: &Expr, arity: usize) -> Result<String> {
        let ExprKind::Name(name) = &e.kind else {
            return Ok(self.expr(e)?.text);
        };
        if self.bound.contains(name) {
            return Ok(format!("&{}", super::code::ident(name)));
        }
        let params = ["x", "y", "z"].get(..arity).unwrap_or_default();
        match params {
            [x, rest @ ..] => {
                let name = combinators::find(name).map_or(name.as_str(), |c| c.name);
                Ok(format!(
                    "|{}| {x}.{name}({})",
                    params.join(", "),
                    rest.join(", ")
                ))
            }
            [] => refuse("there is no closure of so many arguments", e.span),
        }
    }

    /// The boundary of a stencil. A constant has the element type.
    fn boundary(&mut self, e: &Expr, of: &Expr) -> Result<String> {
        let ty = self.element(of)?.and_then(|e| e.scalar());
        match &e.kind {
            ExprKind::Call { args, .. } if args.len() == 1 => {
                let fill = self.value(&args[0], ty, false)?.text;
                Ok(format!("Boundary::Constant({fill})"))
            }
            _ => Ok(self.expr(e)?.text),
        }
    }

    fn pad(&mut self, args: &[Expr]) -> Result<Code> {
        let pair = |w: &mut Self, e: &Expr| Ok(tuple(&w.parts(e)?).text);
        let nested = |e: &Expr| matches!(&e.kind, ExprKind::Tuple(_));
        let by = match &args[1].kind {
            ExprKind::Tuple(axes) if axes.iter().any(nested) => {
                let axes: Result<Vec<_>> = axes.iter().map(|a| pair(self, a)).collect();
                axes?.join(", ")
            }
            _ => pair(self, &args[1])?,
        };
        let ty = self.element(&args[0])?.and_then(|e| e.scalar());
        let fill = self.number(&args[2], ty, false)?;
        Ok(self.expr(&args[0])?.call("pad", &[format!("[{by}]"), fill]))
    }

    /// The shell repeats along outer axes; Rust has `backpermute` with explicit indices.
    fn broadcast(&mut self, e: &Expr, args: &[Expr]) -> Result<Code> {
        let (shape, rank) = (self.parts(&args[1])?, self.note(&args[0])?.clone());
        let Note::Array(_, rank) = rank else {
            return refuse("expected an array", e.span);
        };
        let new = shape.len().saturating_sub(usize::from(rank));
        let names = ["i", "j", "k", "l", "m", "n"];
        let params: Vec<String> = (0..shape.len())
            .map(|k| {
                if k < new {
                    "_"
                } else {
                    names.get(k).copied().unwrap_or("_")
                }
                .to_string()
            })
            .collect();
        let f = match (params.as_slice(), params.get(new..)) {
            ([one], _) => format!("|{one}| {one}"),
            (all, Some([own])) => format!("|{}| {own}", tuple(all).text),
            (all, own) => format!(
                "|{}| {}",
                tuple(all).text,
                tuple(own.unwrap_or_default()).text
            ),
        };
        let shape = match shape.as_slice() {
            [one] => one.clone(),
            shape => tuple(shape).text,
        };
        Ok(self.expr(&args[0])?.call("backpermute", &[shape, f]))
    }

    /// Loops over arrays, whose state is arrays and delayed scalars; and scalar loops.
    fn looped(&mut self, e: &Expr, c: &Combinator, args: &[Expr]) -> Result<Code> {
        let arrays = c.name.starts_with("iterate_");
        if !arrays && !matches!(self.note(e)?, Note::Term(_)) && !self.is_tuple_of_terms(e)? {
            return refuse(
                "a loop on scalars is written in a function of elements",
                e.span,
            );
        }
        let mut texts = Vec::new();
        for (k, arg) in args.iter().enumerate() {
            texts.push(match c.params[k] {
                Kind::Count if !arrays => self.side(arg, Some(Ty::U64))?.text,
                Kind::Count => self.expr_as_count(arg)?,
                Kind::Function(n) => self.function(arg, n)?,
                _ if arrays => self.state(arg)?,
                _ => self.number(arg, None, true)?,
            });
        }
        Ok(Code::atom(format!("{}({})", c.name, texts.join(", "))))
    }

    fn is_tuple_of_terms(&self, e: &Expr) -> Result<bool> {
        Ok(
            matches!(self.note(e)?, Note::Tuple(parts) if parts.iter().all(|p| matches!(p, Note::Term(_)))),
        )
    }

    /// The start of a loop over arrays, or an arm of a choice between arrays.
    pub(super) fn state(&mut self, e: &Expr) -> Result<String> {
        if let ExprKind::Tuple(parts) = &e.kind {
            let parts: Result<Vec<_>> = parts.iter().map(|p| self.state(p)).collect();
            return Ok(tuple(&parts?).text);
        }
        let code = self.expr(e)?;
        Ok(match self.note(e)? {
            Note::Array(..) | Note::Segments(_) | Note::Delayed(_) | Note::Range(_) => {
                code.borrowed().text
            }
            _ => format!("&Array::scalar({})", code.text),
        })
    }

    fn load(&mut self, e: &Expr, args: &[Expr]) -> Result<Code> {
        self.files = true;
        let name = self.expr(&args[0])?.text;
        let path = name.trim_matches('"');
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        let note = self.note(e)?.clone();
        let text = match (ending, &note, &args[1..]) {
            ("npy", Note::Array(elt, rank), []) => {
                format!("livefusion::io::npy::read::<{elt}, Ix{rank}>({name})?")
            }
            ("npz", Note::Array(elt, rank), [member]) => {
                let member = self.expr(member)?.text;
                format!("livefusion::io::npz::open({name})?.read::<{elt}, Ix{rank}>({member})?")
            }
            ("csv" | "txt", Note::Table(_), []) => format!("livefusion::io::csv({name}).read()?"),
            ("tsv", Note::Table(_), []) => {
                format!("livefusion::io::csv({name}).delimiter(b'\\t').read()?")
            }
            ("parquet", Note::Table(_), []) => format!("livefusion::io::parquet::read({name})?"),
            ("arrow" | "feather", Note::Table(_), []) => {
                format!("livefusion::io::arrow::read({name})?")
            }
            (_, Note::Array(elt, _), [_, shape @ ..]) => {
                let read = Code::atom(format!("livefusion::io::raw::read::<{elt}>({name})?"));
                match shape {
                    [shape] => {
                        let shape = match self.parts(shape)?.as_slice() {
                            [one] => one.clone(),
                            parts => tuple(parts).text,
                        };
                        read.call("reshape", &[shape]).text
                    }
                    _ => read.text,
                }
            }
            _ => return refuse("there is no short form in Rust for these options", e.span),
        };
        Ok(Code::atom(text))
    }
}
