//! Tile parser: [`parse`] reads the output of [`Tile::show`].
//!
//! Bodies are indented by two spaces. Names of arrays, combinators and rates refer to the loop;
//! names of values refer to the tile. The parser checks only the form; [`verify`](crate::verify)
//! checks the rest.

mod stmt;
mod words;

use crate::ir::{
    Comparison, Entry, Kept, MAX_DEPTH, Origin, Shape, Stmt, Stream, Sum, Tile, Value, letter,
};
use loop_lang::Loop;
use loop_lang::ir::{CombId, RateId, Var};
use loop_lang::types::Ty;
use rustc_hash::FxHashMap;
use std::fmt;
use std::iter::Peekable;
use words::{Line, Parsed};

/// Describes a syntax error in a tile's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// The expected and the actual text.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Parses a tile of a loop.
///
/// Values are numbered in textual order.
///
/// # Errors
///
/// Returns the first syntax error, or the first unknown name.
pub fn parse(text: &str, program: &Loop) -> Result<Tile, ParseError> {
    let mut lines = words::lines(text)?.into_iter().peekable();
    let Some(mut first) = lines.next() else {
        return Err(ParseError {
            line: 1,
            message: "expected `tile NAME at RATE`, got the end of the text".into(),
        });
    };
    first.expect("tile")?;
    let name = first.name("the tile's name")?.to_string();
    first.expect("at")?;
    let (rate, counter) = first.take("a rate of the loop that has a counter", |w| {
        let at = program.rates.iter().position(|r| r.name == w)?;
        Some((RateId::new(at), program.rates[at].kind.counter()?))
    })?;
    first.end()?;
    let each = program.vars.iter().enumerate();
    let mut parser = Parser {
        program,
        vars: each.map(|(i, v)| (v.name.as_str(), Var::new(i))).collect(),
        values: FxHashMap::default(),
        comb: None,
        lines,
        tile: Tile {
            name,
            rate,
            counter,
            entries: Vec::new(),
            stream: None,
            values: Vec::new(),
            body: Vec::new(),
        },
    };
    parser.frame()?;
    parser.tile.body = parser.body(1)?;
    match parser.lines.next() {
        None => Ok(parser.tile),
        Some(line) => Err(line.expected("a statement in the tile")),
    }
}

struct Parser<'t> {
    program: &'t Loop,
    vars: FxHashMap<&'t str, Var>,
    values: FxHashMap<&'t str, Value>,
    /// The combinator of the previous statement.
    comb: Option<CombId>,
    lines: Peekable<std::vec::IntoIter<Line<'t>>>,
    tile: Tile,
}

impl<'t> Parser<'t> {
    /// Parses the range, the entries, and the values before the first statement.
    fn frame(&mut self) -> Parsed<()> {
        let words = [
            "range", "entry", "stream", "given", "state", "scan", "register", "buffer",
        ];
        let is_frame = |l: &Line| l.depth == 1 && l.peek().0.is_some_and(|w| words.contains(&w));
        while let Some(mut line) = self.lines.next_if(is_frame) {
            match line.name("a word")? {
                "range" => {
                    let from = line.name("a name")?;
                    line.expect("..")?;
                    let end = line.name("a name")?;
                    self.add(from, Shape::scalar(Ty::U64), Origin::From);
                    self.add(end, Shape::scalar(Ty::U64), Origin::End);
                }
                "entry" => self.entry(&mut line)?,
                "stream" if self.tile.stream.is_none() => {
                    let least = line.number()?;
                    let mut arrays = vec![self.var(&mut line)?];
                    while line.peek().0.is_some() {
                        arrays.push(self.var(&mut line)?);
                    }
                    self.tile.stream = Some(Stream { least, arrays });
                }
                "stream" => return Err(line.expected("the only `stream` of a tile")),
                "given" => self.outer(&mut line, Origin::Given)?,
                "state" => self.outer(&mut line, Origin::State)?,
                "scan" => {
                    let (name, shape) = typed(&mut line)?;
                    line.expect("of")?;
                    let v = self.var(&mut line)?;
                    let kept = line.take("`prefix`, `total` or `last`", |w| {
                        Kept::ALL.into_iter().find(|k| k.name() == w)
                    })?;
                    self.add(name, shape, Origin::Scan(v, kept));
                }
                word => {
                    let (name, shape) = typed(&mut line)?;
                    let origin = match word {
                        "buffer" => Origin::Buffer,
                        _ => Origin::Register,
                    };
                    self.add(name, shape, origin);
                }
            }
            line.end()?;
        }
        Ok(())
    }

    /// Adds a value and binds its name.
    fn add(&mut self, name: &'t str, shape: Shape, origin: Origin) -> Value {
        let value = self.tile.add(name, shape, origin);
        self.values.insert(name, value);
        value
    }

    /// `name: type`, or `name: type of variable` if the loop's variable has another name.
    fn outer(&mut self, line: &mut Line<'t>, origin: fn(Var) -> Origin) -> Parsed<()> {
        let after = line.peek().0;
        let own = after.and_then(|w| self.vars.get(w).copied());
        let (name, shape) = typed(line)?;
        let v = match (line.eat("of"), own) {
            (false, Some(v)) => v,
            (true, _) => self.var(line)?,
            (false, None) => return Err(line.expected("`of` and a variable of the loop")),
        };
        self.add(name, shape, origin(v));
        Ok(())
    }

    /// `(a) capacity array at SUM`, `(a) holds SUM < SUM` (or `fails`, `keeps`), `(a) most N`, `(a)
    /// before N`, `(a) whole N`, `(a) aligned N` or `(a) runs N`.
    fn entry(&mut self, line: &mut Line<'t>) -> Parsed<()> {
        line.expect("(")?;
        line.expect(&letter(self.tile.entries.len()))?;
        line.expect(")")?;
        let kinds = [
            "capacity", "holds", "fails", "keeps", "most", "before", "whole", "aligned", "runs",
        ];
        let what =
            "`capacity`, `holds`, `fails`, `keeps`, `most`, `before`, `whole`, `aligned` or `runs`";
        let entry = match line.take(what, |w| kinds.contains(&w).then_some(w))? {
            "capacity" => {
                let array = self.var(line)?;
                line.expect("at")?;
                let index = self.sum(line)?;
                Entry::Capacity { array, index }
            }
            word @ ("holds" | "fails" | "keeps") => {
                let moving = self.sum(line)?;
                let inclusive = line.take("`<` or `<=`", |w| match w {
                    "<" => Some(false),
                    "<=" => Some(true),
                    _ => None,
                })?;
                let edge = self.sum(line)?;
                let comparison = Comparison {
                    moving,
                    edge,
                    inclusive,
                };
                let holds = (word != "keeps").then_some(word == "holds");
                Entry::Keeps { comparison, holds }
            }
            "most" => Entry::Most(line.number()?),
            "before" => Entry::Before(line.number()?),
            "whole" => Entry::Whole(line.number()?),
            "aligned" => Entry::Aligned(line.number()?),
            _ => Entry::Runs(line.number()?),
        };
        self.tile.entries.push(entry);
        Ok(())
    }

    /// Numbers and variables, added and subtracted.
    fn sum(&self, line: &mut Line<'t>) -> Parsed<Sum> {
        let mut sum = Sum::default();
        let mut times = 1;
        loop {
            let one = line.take("a number or a variable of the loop", |w| match w.parse() {
                Ok(number) => Some(Sum::number(number)),
                Err(_) => self.vars.get(w).copied().map(Sum::of),
            })?;
            sum = sum.plus(times, &one);
            times = match line.peek().0 {
                Some("+") => 1,
                Some("-") => -1,
                _ => return Ok(sum),
            };
            line.skip();
        }
    }

    /// A variable of the loop.
    fn var(&self, line: &mut Line<'t>) -> Parsed<Var> {
        line.take("a variable of the loop", |w| self.vars.get(w).copied())
    }

    /// Parses the statements of a body at the given nesting depth.
    fn body(&mut self, depth: usize) -> Parsed<Vec<Stmt>> {
        let mut stmts = Vec::new();
        while let Some(line) = self.lines.next_if(|l| l.depth == depth) {
            if depth > MAX_DEPTH {
                return Err(line.expected(&format!("at most {MAX_DEPTH} bodies in each other")));
            }
            stmts.push(self.stmt(line, depth)?);
        }
        match self.lines.peek() {
            Some(line) if line.depth > depth => {
                Err(line.expected("a statement that is no further in"))
            }
            _ => Ok(stmts),
        }
    }
}

/// `name: type`.
fn typed<'t>(line: &mut Line<'t>) -> Parsed<(&'t str, Shape)> {
    let name = line.name("a value's name")?;
    line.expect(":")?;
    let shape = line.take("a type such as `f64`, `f64x8` or `mask8`", shape)?;
    Ok((name, shape))
}

fn shape(word: &str) -> Option<Shape> {
    if let Some(ty) = Ty::from_name(word) {
        return Some(Shape::scalar(ty));
    }
    if let Some(lanes) = word.strip_prefix("mask") {
        return Some(Shape::of(Ty::Bool, lanes.parse().ok()?));
    }
    let (ty, lanes) = word.split_once('x')?;
    Some(Shape::of(Ty::from_name(ty)?, lanes.parse().ok()?))
}
