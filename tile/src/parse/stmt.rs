//! Statement parser.

use super::words::{Line, Parsed};
use super::{Parser, typed};
use crate::ir::{Memory, Operand, Origin, Proof, Shape, Stmt, StmtKind};
use loop_lang::ir::{CombId, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl<'t> Parser<'t> {
    /// Parses a statement with its bodies. `body` limits the nesting.
    pub(super) fn stmt(&mut self, mut line: Line<'t>, depth: usize) -> Parsed<Stmt> {
        let mut stmt = self.alone(&mut line)?;
        self.bodies(&mut stmt.kind, &line, depth)?;
        Ok(stmt)
    }

    /// Parses the line of a statement, without its bodies.
    fn alone(&mut self, line: &mut Line<'t>) -> Parsed<Stmt> {
        let words = [
            "let", "across", "store", "put", "compress", "sort", "set", "trap", "leave", "for",
            "segment", "dryrun", "if", "while",
        ];
        let what = "`let`, `across`, `store`, `put`, `compress`, `sort`, `set`, `trap`, `leave`, `for`, `segment`, `dryrun`, `if` or `while`";
        let word = line.take(what, |w| words.contains(&w).then_some(w))?;
        let kind = match word {
            "let" => self.let_(line)?,
            "across" => self.across(line)?,
            "store" => self.store(line)?,
            "put" => self.put(line)?,
            "compress" => self.compress(line)?,
            "sort" => {
                let mut arrays = vec![self.var(line)?];
                while line.eat(",") {
                    arrays.push(self.var(line)?);
                }
                let rows = self.operand(line)?;
                StmtKind::Sort { arrays, rows }
            }
            "set" => {
                let lane = line.peek().0 == Some("lane");
                if lane {
                    line.expect("lane")?;
                }
                let to = line.take("a value", |w| self.values.get(w).copied())?;
                let at = lane.then(|| self.operand(line)).transpose()?;
                line.expect("=")?;
                let value = self.operand(line)?;
                match at {
                    Some(at) => StmtKind::SetLane { to, at, value },
                    None => StmtKind::Set { to, value },
                }
            }
            "trap" => {
                line.expect("unless")?;
                let unless = self.operand(line)?;
                StmtKind::Trap { unless }
            }
            "leave" => {
                line.expect("at")?;
                let at = self.operand(line)?;
                line.expect("unless")?;
                let unless = self.operand(line)?;
                StmtKind::Leave { at, unless }
            }
            "for" => self.for_(line)?,
            "segment" => self.segment(line)?,
            "dryrun" => StmtKind::DryRun { body: Vec::new() },
            "if" => StmtKind::If {
                cond: self.operand(line)?,
                then: Vec::new(),
                other: Vec::new(),
            },
            _ => StmtKind::While {
                test: Vec::new(),
                cond: Operand::Const(loop_lang::types::Const::bool(false)),
                body: Vec::new(),
            },
        };
        let comb = self.owner(line)?;
        line.end()?;
        Ok(Stmt { comb, kind })
    }

    /// `@comb`; the default is the combinator of the previous statement.
    fn owner(&mut self, line: &mut Line<'t>) -> Parsed<CombId> {
        if line.eat("@") {
            let combs = &self.program.combs;
            self.comb = Some(line.take("a combinator of the loop", |w| {
                let at = combs.iter().position(|c| c.name == w)?;
                Some(CombId::new(at))
            })?);
        }
        self.comb
            .ok_or_else(|| line.expected("`@` and a combinator"))
    }

    /// Parses the bodies of a statement.
    fn bodies(&mut self, kind: &mut StmtKind, line: &Line<'t>, depth: usize) -> Parsed<()> {
        match kind {
            StmtKind::For { body, .. } | StmtKind::DryRun { body } => {
                *body = self.body(depth + 1)?;
            }
            StmtKind::Segment {
                body,
                epilogue,
                scalar_epilogue,
                ..
            } => {
                *body = self.body(depth + 1)?;
                for (title, stmts) in [("epilogue", epilogue), ("scalar", scalar_epilogue)] {
                    if let Some(mut line) = self.title(title, depth) {
                        line.expect(title)?;
                        line.end()?;
                        *stmts = self.body(depth + 1)?;
                    }
                }
            }
            StmtKind::If { then, other, .. } => {
                *then = self.body(depth + 1)?;
                if let Some(mut line) = self.title("else", depth) {
                    line.expect("else")?;
                    line.end()?;
                    *other = self.body(depth + 1)?;
                }
            }
            StmtKind::While { test, cond, body } => {
                *test = self.body(depth + 1)?;
                let mut line = match self.title("go", depth) {
                    Some(line) => line,
                    None => return Err(line.expected("`go` and a condition below the test")),
                };
                line.expect("go")?;
                *cond = self.operand(&mut line)?;
                line.end()?;
                *body = self.body(depth + 1)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the title line of a further body.
    fn title(&mut self, word: &str, depth: usize) -> Option<Line<'t>> {
        self.lines
            .next_if(|l| l.depth == depth && l.peek().0 == Some(word))
    }

    /// Parses the rest of a `let`. Its operands refer to earlier definitions.
    fn let_(&mut self, line: &mut Line<'t>) -> Parsed<StmtKind> {
        let (name, shape) = typed(line)?;
        line.expect("=")?;
        let words = [
            "positions",
            "until",
            "load",
            "gather",
            "length",
            "count",
            "any",
            "scan",
            "beat",
            "lane",
            "last",
            "slide",
            "reverse",
            "halves",
        ];
        let what = "an operator, or `load` or another way to define a value";
        let is_known = |w: &str| words.contains(&w) || Op::from_name(w).is_some();
        let word = line.take(what, |w| is_known(w).then_some(w))?;
        // The new value gets the next number.
        let to = crate::ir::Value(self.tile.values.len() as u32);
        let kind = match word {
            "positions" => StmtKind::Positions {
                to,
                from: self.operand(line)?,
            },
            "until" => StmtKind::Until {
                to,
                at: self.operand(line)?,
                end: self.operand(line)?,
            },
            "load" => {
                let (from, at) = self.memory(line)?;
                StmtKind::Load {
                    to,
                    from,
                    at,
                    under: self.under(line)?,
                    proof: proof(line)?,
                }
            }
            "gather" => {
                let (array, at) = self.array(line)?;
                StmtKind::Gather { to, array, at }
            }
            "length" => StmtKind::Length {
                to,
                array: self.var(line)?,
            },
            "count" => StmtKind::Count {
                to,
                of: self.operand(line)?,
            },
            "any" => StmtKind::Any {
                to,
                of: self.operand(line)?,
            },
            "halves" => StmtKind::Halves {
                to,
                beats: line.eat("beat"),
                op: line.take("an operator", Op::from_name)?,
                of: self.operand(line)?,
            },
            "scan" => StmtKind::Scan {
                to,
                op: line.take("an operator", Op::from_name)?,
                of: self.operand(line)?,
            },
            "beat" => StmtKind::Beat {
                to,
                op: line.take("an operator", Op::from_name)?,
                new: self.operand(line)?,
                old: self.operand(line)?,
            },
            "lane" => StmtKind::Lane {
                to,
                of: self.operand(line)?,
                at: self.operand(line)?,
            },
            "last" => StmtKind::Last {
                to,
                of: self.operand(line)?,
            },
            "reverse" => StmtKind::Reverse {
                to,
                of: self.operand(line)?,
            },
            "slide" => StmtKind::Slide {
                to,
                first: self.operand(line)?,
                of: self.operand(line)?,
            },
            _ => {
                let op = Op::from_name(word).unwrap_or(Op::Copy);
                let mut args = smallvec::smallvec![];
                while line.peek().0.is_some_and(|w| w != "@") {
                    args.push(self.operand(line)?);
                }
                StmtKind::Let { to, op, args }
            }
        };
        self.add(name, shape, Origin::Let);
        Ok(kind)
    }

    fn across(&mut self, line: &mut Line<'t>) -> Parsed<StmtKind> {
        let into = line.take("a buffer", |w| self.values.get(w).copied())?;
        line.expect("=")?;
        let (array, at) = self.array(line)?;
        let lanes = wide(line);
        line.expect("apart")?;
        let apart = line.number()?;
        line.expect("steps")?;
        let steps = line.take("a number of steps", |w| w.parse().ok())?;
        Ok(StmtKind::Across {
            into,
            array,
            at,
            lanes,
            apart,
            steps,
            proof: proof(line)?,
        })
    }

    fn store(&mut self, line: &mut Line<'t>) -> Parsed<StmtKind> {
        let lanes = wide(line);
        let (into, at) = self.memory(line)?;
        line.expect("=")?;
        Ok(StmtKind::Store {
            into,
            at,
            value: self.operand(line)?,
            under: self.under(line)?,
            lanes,
            proof: proof(line)?,
        })
    }

    fn put(&mut self, line: &mut Line<'t>) -> Parsed<StmtKind> {
        let lanes = wide(line);
        let by = match line.peek() {
            (_, Some("[")) => None,
            _ => Some(line.take("an operator", Op::from_name)?),
        };
        let (array, at) = self.array(line)?;
        line.expect("=")?;
        Ok(StmtKind::Put {
            array,
            at,
            value: self.operand(line)?,
            by,
            under: self.under(line)?,
            lanes,
        })
    }

    fn compress(&mut self, line: &mut Line<'t>) -> Parsed<StmtKind> {
        let (under, value) = (self.operand(line)?, self.operand(line)?);
        line.expect("->")?;
        let (into, at) = self.memory(line)?;
        Ok(StmtKind::Compress {
            into,
            at,
            value,
            under,
            proof: proof(line)?,
        })
    }

    fn for_(&mut self, line: &mut Line<'t>) -> Parsed<StmtKind> {
        let name = line.name("the counter's name")?;
        line.expect("in")?;
        let from = self.operand(line)?;
        line.expect("..")?;
        let to = self.operand(line)?;
        line.expect("step")?;
        let step = line.number()?;
        Ok(StmtKind::For {
            counter: self.add(name, Shape::scalar(Ty::U64), Origin::Let),
            from,
            to,
            step,
            unroll: line.eat("unrolled"),
            body: Vec::new(),
        })
    }

    fn segment(&mut self, line: &mut Line<'t>) -> Parsed<StmtKind> {
        let name = line.name("the counter's name")?;
        line.expect("in")?;
        let from = self.operand(line)?;
        line.expect("..")?;
        let to = self.operand(line)?;
        let step = match line.eat("step") {
            true => line.number()?,
            false => 1,
        };
        let aligned = line.eat("aligned");
        let single_trip = line.eat("single");
        let again = line.eat("again");
        let mut capacities = Vec::new();
        while line.eat("capacity") {
            let array = self.var(line)?;
            line.expect("at")?;
            capacities.push((array, self.operand(line)?));
        }
        Ok(StmtKind::Segment {
            counter: self.add(name, Shape::scalar(Ty::U64), Origin::Let),
            from,
            to,
            step,
            aligned,
            single_trip,
            again,
            capacities,
            body: Vec::new(),
            epilogue: Vec::new(),
            scalar_epilogue: Vec::new(),
        })
    }

    /// A value or a literal.
    fn operand(&self, line: &mut Line<'t>) -> Parsed<Operand> {
        line.take("a value or a literal", |w| {
            let value = self.values.get(w).copied().map(Operand::Value);
            value.or_else(|| w.parse().ok().map(Operand::Const))
        })
    }

    fn under(&self, line: &mut Line<'t>) -> Parsed<Option<Operand>> {
        match line.eat("under") {
            true => self.operand(line).map(Some),
            false => Ok(None),
        }
    }

    /// `[i]`.
    fn index(&self, line: &mut Line<'t>) -> Parsed<Operand> {
        line.expect("[")?;
        let at = self.operand(line)?;
        line.expect("]")?;
        Ok(at)
    }

    fn array(&self, line: &mut Line<'t>) -> Parsed<(Var, Operand)> {
        Ok((self.var(line)?, self.index(line)?))
    }

    /// `a[i]`, of an array, a register or a buffer, or `lanes v[i]` or `tree v[i]`.
    fn memory(&self, line: &mut Line<'t>) -> Parsed<(Memory, Operand)> {
        if line.peek().1 != Some("[") && line.eat("lanes") {
            let (v, at) = self.array(line)?;
            return Ok((Memory::Lanes(v), at));
        }
        if line.peek().1 != Some("[") && line.eat("tree") {
            let (v, at) = self.array(line)?;
            return Ok((Memory::Tree(v), at));
        }
        let memory = line.take("an array, a register or a buffer", |w| {
            let value = self.values.get(w).copied();
            let own = value.map(|v| match self.tile.value(v).origin {
                Origin::Buffer => Memory::Buffer(v),
                _ => Memory::Register(v),
            });
            own.or_else(|| self.vars.get(w).copied().map(Memory::Array))
        })?;
        Ok((memory, self.index(line)?))
    }
}

/// `xN`: N lanes, by default one. In `store x8[i]`, `x8` is an array's name; compare `store x8
/// a[i]`.
fn wide(line: &mut Line<'_>) -> u32 {
    let (word, next) = line.peek();
    let lanes = |w: &str| w.strip_prefix('x')?.parse().ok();
    let lanes = word.filter(|_| next != Some("[")).and_then(lanes);
    lanes.inspect(|_| line.skip()).unwrap_or(1)
}

/// `by (a)`, `by capacity 0` or `by size`.
fn proof(line: &mut Line<'_>) -> Parsed<Proof> {
    line.expect("by")?;
    if line.eat("size") {
        return Ok(Proof::Literal);
    }
    if line.eat("capacity") {
        return Ok(Proof::Capacity(line.number()? as usize));
    }
    line.expect("(")?;
    let entry = line.take("an entry's letter", number_of)?;
    line.expect(")")?;
    Ok(Proof::Entry(entry))
}

/// Returns the number of an entry, given its label.
fn number_of(word: &str) -> Option<usize> {
    let first = *word.as_bytes().first().filter(|b| b.is_ascii_lowercase())?;
    let turns = match &word[1..] {
        "" => 0,
        more => more.parse::<u32>().ok().filter(|n| *n > 0)? as usize,
    };
    Some(turns * 26 + usize::from(first - b'a'))
}
