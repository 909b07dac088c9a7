//! Parser of declarations, which precede the blocks.

use super::lexer::Tok;
use super::{Fail, Parsed, Parser};
use crate::Op;
use crate::ir::*;
use crate::types::Ty;
use crate::words::default_owner;

impl<'a> Parser<'a> {
    /// Collects the names of combinators, rates and functions, which may be used before their
    /// declaration.
    pub(super) fn names(&mut self) {
        let mut line_start = true;
        while self.peek() != Tok::End {
            if line_start {
                self.declared_name();
            }
            line_start = self.peek() == Tok::Newline;
            self.bump();
        }
        self.at = 0;
    }

    /// Records the name if the line ahead declares one. Stops before the line's end.
    fn declared_name(&mut self) {
        let Some(next) = self.tokens.get(self.at + 1) else {
            return;
        };
        let name = &self.text[next.start..next.end];
        if !matches!(next.kind, Tok::Word | Tok::Number) {
            return;
        }
        let clash = match self.word() {
            "comb" => {
                let id = CombId::new(self.combs.len());
                self.combs.insert(name, id).is_some()
            }
            "rate" => {
                let id = RateId::new(self.rates.len());
                self.rates.insert(name, id).is_some()
            }
            "fn" => {
                let id = FnId::new(self.functions.len());
                self.functions.insert(name, id).is_some()
            }
            _ => false,
        };
        if clash {
            let (start, word) = (next.start, self.word());
            self.fault_at(start, format!("{word} `{name}` is declared twice"));
        }
    }

    /// Parses a declaration, if the line ahead is one.
    pub(super) fn declaration(&mut self) -> Option<Parsed<()>> {
        let parse: fn(&mut Self) -> Parsed<()> = match self.word() {
            "loop" => Self::loop_name,
            "comb" => Self::comb_decl,
            "param" => Self::param,
            "rate" => Self::rate,
            "group" => Self::group,
            "trap" if self.trap_declared() => Self::trap,
            "fn" => Self::function,
            _ => return None,
        };
        self.bump();
        Some(parse(self))
    }

    /// `trap t0 ...` is a declaration, `trap unless ...` a statement.
    fn trap_declared(&self) -> bool {
        let next = self.tokens.get(self.at + 1);
        next.is_some_and(|t| &self.text[t.start..t.end] != "unless")
    }

    fn loop_name(&mut self) -> Parsed<()> {
        if !self.program.name.is_empty() {
            return self.fault("a text holds one loop".into());
        }
        self.program.name = self.name("the loop's name")?.to_string();
        self.end_of_line()
    }

    /// `comb NAME KIND [at RATE [stage K]]`.
    fn comb_decl(&mut self) -> Parsed<()> {
        let name = self.comb_name()?.to_string();
        let kind = self
            .name("the combinator's name, such as `map`")?
            .to_string();
        let mut slot = None;
        if self.eat_word("at") {
            let rate = self.rate_ref()?;
            let stage = if self.eat_word("stage") {
                self.count()?
            } else {
                0
            };
            slot = Some(Slot { rate, stage });
        }
        self.program.combs.push(Comb { name, kind, slot });
        self.end_of_line()
    }

    /// `param a, b: TYPE [stream RATE | random]`.
    fn param(&mut self) -> Parsed<()> {
        let vars = self.list(Self::var)?;
        self.expect(Tok::Colon)?;
        let ty = self.ty()?;
        let kind = if self.eat_word("stream") {
            ParamKind::Stream(self.rate_ref()?)
        } else if self.eat_word("random") {
            ParamKind::Random
        } else if let Type::Array(_) = ty {
            return self.expected("`stream` and a rate, or `random`");
        } else {
            ParamKind::Scalar
        };
        for var in vars {
            self.settle((var, Some(ty)), super::Rule::Known(ty));
            self.program.params.push(Param { var, kind });
        }
        self.end_of_line()
    }

    /// `rate NAME root COUNTER < BOUND { parts }`, and the other kinds.
    fn rate(&mut self) -> Parsed<()> {
        let name = self.name("the rate's name")?.to_string();
        let id = RateId::new(self.program.rates.len());
        let start = self.token().start;
        const KINDS: &str = "`root`, `sub`, `nested`, `uniform` or `cursor`";
        let kind = match self.name(KINDS)? {
            "root" => {
                let (counter, bound) = self.counter()?;
                self.program.roots.push(id);
                RateKind::Root { counter, bound }
            }
            "sub" => {
                let parent = self.rate_ref()?;
                let count = match self.eat_word("count") {
                    true => Some(self.var()?),
                    false => None,
                };
                RateKind::Sub { parent, count }
            }
            word @ ("nested" | "uniform") => {
                let parent = self.rate_ref()?;
                let (counter, bound) = self.counter()?;
                RateKind::Nested {
                    parent,
                    counter,
                    bound,
                    uniform: word == "uniform",
                }
            }
            "cursor" => {
                let parent = self.rate_ref()?;
                let (counter, bound) = self.counter()?;
                RateKind::Cursor {
                    parent,
                    counter,
                    bound,
                }
            }
            other => {
                self.fault_at(start, format!("expected {KINDS}, found `{other}`"));
                return Err(Fail);
            }
        };
        let parts = self.parts()?;
        self.program.rates.push(Rate { name, kind, parts });
        self.end_of_line()
    }

    fn counter(&mut self) -> Parsed<(Var, Atom)> {
        let counter = self.var()?;
        self.expect(Tok::Less)?;
        Ok((counter, self.atom()?))
    }

    /// `{ stage 0; child r1 }`.
    fn parts(&mut self) -> Parsed<Vec<Part>> {
        self.expect(Tok::OpenBrace)?;
        let mut parts = Vec::new();
        while !self.eat(Tok::CloseBrace) {
            if !parts.is_empty() {
                self.expect(Tok::Semicolon)?;
            }
            if self.eat_word("stage") {
                parts.push(Part::Stage(self.count()?));
            } else if self.eat_word("child") {
                parts.push(Part::Child(self.rate_ref()?));
            } else {
                return self.expected("`stage`, `child` or `}`");
            }
        }
        Ok(parts)
    }

    /// `group VARS owner R step R start ATOMS [id ATOMS] next ATOMS [combine F] level N [cycle] ORDER`.
    fn group(&mut self) -> Parsed<()> {
        let vars = self.list(Self::var)?;
        self.expect_word("owner")?;
        let owner = self.rate_ref()?;
        self.expect_word("step")?;
        let step = self.rate_ref()?;
        self.expect_word("start")?;
        let start = self.list(Self::atom)?;
        let identity = match self.eat_word("id") {
            true => self.list(Self::atom)?,
            false => Vec::new(),
        };
        self.expect_word("next")?;
        let next = self.list(Self::atom)?;
        let combine = match self.eat_word("combine") {
            true => Some(self.combine()?),
            false => None,
        };
        self.expect_word("level")?;
        let level = self.count()?;
        let cycle = self.eat_word("cycle");
        let order = self.order()?;
        let id = GroupId::new(self.program.groups.len());
        self.groups.entry(vars[0]).or_insert(id);
        self.program.groups.push(Group {
            vars,
            owner,
            step,
            start,
            identity,
            next,
            combine,
            level,
            cycle,
            order,
        });
        self.end_of_line()
    }

    fn order(&mut self) -> Parsed<Order> {
        const WHAT: &str = "`lanes N`, `runs N`, `prefix N`, `exact` or `sequential`";
        let start = self.token().start;
        Ok(match self.name(WHAT)? {
            "lanes" => Order::Lanes(self.count()?),
            "runs" => Order::Runs(self.count()?),
            "prefix" => Order::Prefix(self.count()?),
            "exact" => Order::Exact,
            "sequential" => Order::Sequential,
            other => {
                self.fault_at(start, format!("expected {WHAT}, found `{other}`"));
                return Err(Fail);
            }
        })
    }

    /// An operator or a function.
    pub(super) fn combine(&mut self) -> Parsed<Combine> {
        let start = self.token().start;
        let name = self.name("an operator or a function")?;
        if let Some(op) = Op::from_name(name) {
            return Ok(Combine::Op(op));
        }
        match self.functions.get(name) {
            Some(f) => Ok(Combine::Fn(*f)),
            None => {
                self.fault_at(start, format!("there is no operator or function `{name}`"));
                Err(Fail)
            }
        }
    }

    /// `trap t0 COMB KIND`: numbered in order.
    fn trap(&mut self) -> Parsed<()> {
        let id = format!("t{}", self.program.traps.len());
        self.expect_word(&id)?;
        let comb = self.comb()?;
        let start = self.token().start;
        let name = self.name("the trap's name, such as `outOfRange`")?;
        let Some(kind) = TrapKind::ALL.into_iter().find(|k| k.name() == name) else {
            let kinds: Vec<&str> = TrapKind::ALL.iter().map(|k| k.name()).collect();
            let message = format!("expected one of {}, found `{name}`", kinds.join(", "));
            self.fault_at(start, message);
            return Err(Fail);
        };
        self.program.traps.push(Trap { comb, kind });
        self.end_of_line()
    }

    /// `fn NAME(a: T, ...) [@COMB] {` statements, `return ...`, `}`.
    fn function(&mut self) -> Parsed<()> {
        let name = self.name("the function's name")?;
        self.expect(Tok::Open)?;
        let params = match self.peek() {
            Tok::Close => Vec::new(),
            _ => self.list(Self::typed)?,
        };
        self.expect(Tok::Close)?;
        let implied = default_owner(name).and_then(|c| self.combs.get(c).copied());
        let comb = self.owner(implied)?;
        self.expect(Tok::OpenBrace)?;
        let body = self.region(0)?;
        self.expect_word("return")?;
        let results = self.operands()?;
        self.end_of_line()?;
        self.expect(Tok::CloseBrace)?;
        self.program.functions.push(Function {
            name: name.to_string(),
            comb,
            params,
            body,
            results,
        });
        self.end_of_line()
    }
}

/// The type of array lengths.
pub(super) const LENGTH: Type = Type::Scalar(Ty::U64);
