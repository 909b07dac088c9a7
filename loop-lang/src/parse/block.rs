//! Parser of blocks and statements.

use super::header::LENGTH;
use super::infer::Rule;
use super::lexer::Tok;
use super::{Fail, Parsed, Parser};
use crate::Op;
use crate::ir::*;
use crate::words::names_target;

/// A block in progress.
pub(super) struct Reading {
    /// The labels, each with its first byte.
    labels: Vec<(Label, usize)>,
    block: Block,
}

impl Parser<'_> {
    /// Parses a line at the top level: a declaration, a block's labels, or a line of a block.
    pub(super) fn line(&mut self, reading: &mut Option<Reading>) -> Parsed<()> {
        if self.peek() != Tok::Word {
            return self.expected("a declaration, a label or a statement");
        }
        if matches!(self.peek_after(), Tok::Comma | Tok::Colon) {
            self.close(reading.take());
            let labels = self.list(|p| {
                let start = p.token().start;
                Ok((p.label()?, start))
            })?;
            self.expect(Tok::Colon)?;
            *reading = Some(Reading {
                labels,
                block: Block::default(),
            });
            return self.end_of_line();
        }
        if self.peek_after() != Tok::Assign
            && let Some(parsed) = self.declaration()
        {
            return parsed;
        }
        match reading {
            Some(r) => self.block_line(&mut r.block),
            None => self.expected("a declaration or a block's label"),
        }
    }

    /// Adds a complete block.
    pub(super) fn close(&mut self, reading: Option<Reading>) {
        let Some(r) = reading else { return };
        for (label, start) in &r.labels {
            if self.program.blocks.get(*label).is_some() {
                self.fault_at(*start, "another block has this label".into());
            }
        }
        // A clash has just been reported.
        let labels = r.labels.into_iter().map(|(label, _)| label);
        let _ = self.program.blocks.insert(labels, r.block);
    }

    fn block_line(&mut self, block: &mut Block) -> Parsed<()> {
        if block.end != End::Open {
            return self.fault("the block has already ended".into());
        }
        match self.word() {
            "unless" => {
                self.bump();
                let exit = self.exit()?;
                block.exits.push(exit);
                return self.end_of_line();
            }
            "goto" => {
                self.bump();
                block.end = End::Goto(self.label()?);
                return self.end_of_line();
            }
            "return" => {
                self.bump();
                block.end = End::Return(self.operands()?);
                return self.end_of_line();
            }
            "if" if self.branch_ahead() => {
                self.bump();
                let cond = self.atom()?;
                self.expect(Tok::Bar)?;
                let (yes, no) = (self.label()?, self.label()?);
                block.end = End::Branch(cond, yes, no);
                return self.end_of_line();
            }
            _ => {}
        }
        if !block.exits.is_empty() {
            return self.fault("statements come before the block's exits".into());
        }
        let stmt = self.stmt(0)?;
        block.stmts.push(stmt);
        Ok(())
    }

    /// Tells whether the `if` ahead is a branch between blocks: its line has a `|` and opens no
    /// region.
    fn branch_ahead(&self) -> bool {
        let line = self.tokens[self.at..].iter().map(|t| t.kind);
        let mut line = line.take_while(|k| !matches!(k, Tok::Newline | Tok::OpenBrace));
        line.any(|k| k == Tok::Bar)
    }

    /// Parses the rest of `unless`: `cond [| label]`.
    fn exit(&mut self) -> Parsed<Exit> {
        let unless = self.atom()?;
        let target = match self.eat(Tok::Bar) {
            true => Some(self.label()?),
            false => None,
        };
        let comb = self.owner_of(match unless {
            Atom::Var(v) => Some(v),
            Atom::Const(_) => None,
        })?;
        Ok(Exit {
            comb,
            unless,
            target,
        })
    }

    /// Parses operands up to the end of the line.
    pub(super) fn operands(&mut self) -> Parsed<Vec<Atom>> {
        let mut atoms = Vec::new();
        while self.at_atom() {
            atoms.push(self.atom()?);
        }
        Ok(atoms)
    }

    /// Parses statements after a `{`, up to the line that starts with `}` or, in functions,
    /// `return`.
    pub(super) fn region(&mut self, depth: usize) -> Parsed<Vec<Stmt>> {
        if depth > MAX_REGION_DEPTH {
            return self.fault(format!("regions nest deeper than {MAX_REGION_DEPTH}"));
        }
        self.expect(Tok::Newline)?;
        let mut stmts = Vec::new();
        loop {
            match self.peek() {
                Tok::Newline => self.bump(),
                Tok::CloseBrace => return Ok(stmts),
                Tok::End => return self.expected("`}`"),
                Tok::Word if self.word() == "return" => return Ok(stmts),
                _ => match self.stmt(depth) {
                    Ok(stmt) => stmts.push(stmt),
                    Err(Fail) => self.skip_line(),
                },
            }
        }
    }

    /// Parses a statement with the end of its line.
    fn stmt(&mut self, depth: usize) -> Parsed<Stmt> {
        if self.peek() != Tok::Word {
            return self.expected("a statement");
        }
        let stmt = match (self.word(), self.peek_after()) {
            (_, Tok::Assign) => self.assign()?,
            ("let", _) => self.let_stmt()?,
            ("carry", _) => self.carry()?,
            ("writeArray", _) => self.write()?,
            ("scatterArray", _) => self.scatter()?,
            ("sortArrays", _) => self.sort()?,
            ("trap", _) => self.trap_stmt()?,
            ("if", _) => self.if_stmt(depth)?,
            ("while", _) => self.while_stmt(depth)?,
            _ => return self.expected("a statement"),
        };
        self.end_of_line()?;
        Ok(stmt)
    }

    /// Completes a statement; its default owner is the combinator of `v`.
    fn owned(&mut self, v: Option<Var>, kind: StmtKind) -> Parsed<Stmt> {
        let comb = self.owner_of(v)?;
        Ok(Stmt { comb, kind })
    }

    fn assign(&mut self) -> Parsed<Stmt> {
        let v = self.var()?;
        self.expect(Tok::Assign)?;
        let a = self.atom()?;
        self.owned(Some(v), StmtKind::Assign(v, a))
    }

    fn carry(&mut self) -> Parsed<Stmt> {
        self.bump();
        let def = self.define()?;
        self.expect(Tok::Equals)?;
        let a = self.atom()?;
        self.settle(def, Rule::Same(a));
        self.owned(Some(def.0), StmtKind::Carry(def.0, a))
    }

    fn write(&mut self) -> Parsed<Stmt> {
        self.bump();
        let array = self.array()?;
        let (index, value) = (self.atom()?, self.atom()?);
        self.owned(Some(array), StmtKind::WriteArray(array, index, value))
    }

    fn scatter(&mut self) -> Parsed<Stmt> {
        self.bump();
        let arrays = self.list(Self::array)?;
        let index = self.atom()?;
        let values = self.list(Self::atom)?;
        let combine = match self.eat_word("with") {
            true => Some(self.combine()?),
            false => None,
        };
        let first = arrays[0];
        let kind = StmtKind::ScatterArray {
            arrays,
            index,
            values,
            combine,
        };
        self.owned(Some(first), kind)
    }

    fn sort(&mut self) -> Parsed<Stmt> {
        self.bump();
        let arrays = self.list(Self::array)?;
        let n = self.atom()?;
        let first = arrays[0];
        self.owned(Some(first), StmtKind::SortArrays(arrays, n))
    }

    /// `trap unless ok, t0 (got, expected)`.
    fn trap_stmt(&mut self) -> Parsed<Stmt> {
        self.bump();
        self.expect_word("unless")?;
        let unless = self.atom()?;
        self.expect(Tok::Comma)?;
        let id = self.word().strip_prefix('t').and_then(|n| n.parse().ok());
        let declared = id.and_then(|id: u32| self.program.traps.get(id as usize).map(|t| (id, t)));
        let Some((id, comb)) = declared.map(|(id, t)| (id, t.comb)) else {
            return self.expected("a declared trap such as `t0`");
        };
        self.bump();
        let mut payload = Vec::new();
        if self.eat(Tok::Open) {
            payload = self.list(Self::atom)?;
            self.expect(Tok::Close)?;
        }
        let comb = self.owner(Some(comb))?;
        let kind = StmtKind::Trap {
            unless,
            trap: TrapId(id),
            payload: payload.into(),
        };
        Ok(Stmt { comb, kind })
    }

    /// `let DEFS = ...`: an operator, an operand, or a statement with a keyword.
    fn let_stmt(&mut self) -> Parsed<Stmt> {
        self.bump();
        let defs = self.list(Self::define)?;
        self.expect(Tok::Equals)?;
        if self.eat_word("scan") {
            return self.scan(defs);
        }
        let def = match defs[..] {
            [def] => def,
            _ => return self.expected("`scan`, the only statement that defines several variables"),
        };
        let v = def.0;
        let kind = match self.word() {
            word @ ("newArray" | "scratchArray") => {
                self.program.vars[v.index()].scratch = word == "scratchArray";
                self.bump();
                self.settle_array(def)?;
                StmtKind::NewArray(v, self.atom()?)
            }
            "fillArray" => {
                self.bump();
                self.settle_array(def)?;
                StmtKind::FillArray(v, self.atom()?, self.atom()?)
            }
            "copyArray" => {
                self.bump();
                let a = self.array()?;
                self.settle(def, Rule::Same(Atom::Var(a)));
                StmtKind::CopyArray(v, a)
            }
            "readArray" => {
                self.bump();
                let a = self.array()?;
                self.settle(def, Rule::Elem(a));
                StmtKind::ReadArray(v, a, self.atom()?)
            }
            "arrayLength" => {
                self.bump();
                self.settle(def, Rule::Known(LENGTH));
                StmtKind::ArrayLength(v, self.array()?)
            }
            "sliceArray" => {
                self.bump();
                let a = self.array()?;
                self.settle(def, Rule::Same(Atom::Var(a)));
                StmtKind::SliceArray(v, a, self.atom()?)
            }
            _ => self.operation(def)?,
        };
        self.owned(Some(v), kind)
    }

    fn settle_array(&mut self, def: (Var, Option<Type>)) -> Parsed<()> {
        let elem = self.scalar()?;
        self.settle(def, Rule::Known(Type::Array(elem)));
        Ok(())
    }

    /// `op a b`, `cast.f64 a`, or an operand alone.
    fn operation(&mut self, def: (Var, Option<Type>)) -> Parsed<StmtKind> {
        let (start, word) = (self.token().start, self.word());
        let Some(op) = Op::from_name(word) else {
            let a = self.atom()?;
            if self.at_atom() && matches!(a, Atom::Var(_)) {
                self.fault_at(start, format!("there is no operator `{word}`"));
                return Err(Fail);
            }
            self.settle(def, Rule::Op(Op::Copy, [a].into_iter().collect()));
            return Ok(StmtKind::Let(def.0, Op::Copy, [a].into_iter().collect()));
        };
        self.bump();
        let target = if names_target(op) {
            self.expect(Tok::Dot)?;
            Some(self.scalar()?)
        } else {
            None
        };
        let mut args = Args::new();
        for _ in 0..op.arity() {
            args.push(self.atom()?);
        }
        self.settle(
            def,
            match target {
                Some(ty) => Rule::Known(Type::Scalar(ty)),
                None => Rule::Op(op, args.clone()),
            },
        );
        Ok(StmtKind::Let(def.0, op, args))
    }

    /// After `scan`: `accs with elems`.
    fn scan(&mut self, defs: Vec<(Var, Option<Type>)>) -> Parsed<Stmt> {
        let start = self.token().start;
        let vars = self.list(Self::var)?;
        let group = self.groups.get(&vars[0]).copied();
        let Some(group) = group.filter(|g| self.program.groups[g.index()].vars == vars) else {
            self.fault_at(start, "these variables are not a declared group".into());
            return Err(Fail);
        };
        self.expect_word("with")?;
        let elems = self.list(Self::atom)?;
        if defs.len() != vars.len() || elems.len() != vars.len() {
            let message = format!(
                "this group has {} variable(s), each with its element",
                vars.len()
            );
            self.fault_at(start, message);
            return Err(Fail);
        }
        for (def, elem) in defs.iter().zip(&elems) {
            self.settle(*def, Rule::Same(*elem));
        }
        let results: Vec<Var> = defs.iter().map(|d| d.0).collect();
        let first = results[0];
        let kind = StmtKind::Scan {
            results,
            group,
            elems,
        };
        self.owned(Some(first), kind)
    }

    /// `if c {` ... `} else {` ... `} -> x = a | b, ...`.
    fn if_stmt(&mut self, depth: usize) -> Parsed<Stmt> {
        self.bump();
        let cond = self.atom()?;
        self.expect(Tok::OpenBrace)?;
        let then = self.region(depth + 1)?;
        self.expect(Tok::CloseBrace)?;
        self.expect_word("else")?;
        self.expect(Tok::OpenBrace)?;
        let other = self.region(depth + 1)?;
        self.expect(Tok::CloseBrace)?;
        let results = match self.eat(Tok::Arrow) {
            true => self.list(Self::if_result)?,
            false => Vec::new(),
        };
        let first = results.first().map(|r| r.0);
        let kind = StmtKind::If {
            cond,
            then,
            other,
            results,
        };
        self.owned(first, kind)
    }

    fn if_result(&mut self) -> Parsed<(Var, Atom, Atom)> {
        let def = self.define()?;
        self.expect(Tok::Equals)?;
        let a = self.atom()?;
        self.expect(Tok::Bar)?;
        let b = self.atom()?;
        self.settle(def, Rule::Same(a));
        Ok((def.0, a, b))
    }

    /// `while v = start, ... {` test `} cond c do {` body `} next a, ...`.
    fn while_stmt(&mut self, depth: usize) -> Parsed<Stmt> {
        self.bump();
        let state = match self.peek() {
            Tok::OpenBrace => Vec::new(),
            _ => self.list(Self::while_state)?,
        };
        self.expect(Tok::OpenBrace)?;
        let test = self.region(depth + 1)?;
        self.expect(Tok::CloseBrace)?;
        self.expect_word("cond")?;
        let cond = self.atom()?;
        self.expect_word("do")?;
        self.expect(Tok::OpenBrace)?;
        let body = self.region(depth + 1)?;
        self.expect(Tok::CloseBrace)?;
        self.expect_word("next")?;
        let next = match self.at_atom() {
            true => self.list(Self::atom)?,
            false => Vec::new(),
        };
        let first = state.first().map(|s| s.0);
        let kind = StmtKind::While {
            state,
            test,
            cond,
            body,
            next,
        };
        self.owned(first, kind)
    }

    fn while_state(&mut self) -> Parsed<(Var, Atom)> {
        let def = self.define()?;
        self.expect(Tok::Equals)?;
        let a = self.atom()?;
        self.settle(def, Rule::Same(a));
        Ok((def.0, a))
    }
}
