//! Printer for the text form, as read by `loop_lang::parse`.

use crate::ir::*;
use crate::types::{Const, Ty};
use crate::words::{default_owner, is_reserved, let_type, names_target};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Const {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.ty {
            Ty::Bool => write!(f, "{}", self.bits != 0),
            Ty::U64 => write!(f, "{}", self.bits),
            Ty::F64 => float(
                f,
                f64::from_bits(self.bits),
                self.bits,
                f64::NAN.to_bits(),
                "",
            ),
            Ty::F32 => {
                let x = f32::from_bits(self.bits as u32);
                match x.is_finite() {
                    true => write!(f, "{x:?}f32"),
                    false => {
                        let nan = u64::from(f32::NAN.to_bits());
                        float(f, f64::from(x), self.bits, nan, ".f32")
                    }
                }
            }
            ty if ty.is_signed() => write!(f, "{}{ty}", self.bits as i64),
            ty => write!(f, "{}{ty}", self.bits),
        }
    }
}

/// Prints a float's literal; `nan` is the canonical NaN, other NaN are printed as bits.
fn float(f: &mut Formatter<'_>, x: f64, bits: u64, nan: u64, suffix: &str) -> fmt::Result {
    if x.is_finite() {
        write!(f, "{x:?}")
    } else if x.is_infinite() {
        write!(f, "{}inf{suffix}", if x < 0.0 { "-" } else { "" })
    } else if bits == nan {
        write!(f, "nan{suffix}")
    } else {
        write!(
            f,
            "0x{bits:x}{}",
            if suffix.is_empty() { ".f64" } else { suffix }
        )
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(t) => write!(f, "{t}"),
            Type::Array(t) => write!(f, "[{t}]"),
        }
    }
}

impl Loop {
    /// Returns a label's text, such as `body_3`.
    pub fn label_name(&self, label: Label) -> String {
        format!("{}_{}", label.section.name(), self.comb(label.comb).name)
    }

    /// Returns a statement's line, or its first line if it has regions.
    ///
    /// ```
    /// # use loop_lang::{ir::Place, parse};
    /// let text = "loop f\ncomb 0 pure\ninit_0:\n  let two_0 = add 1 1\n  goto done_0\ndone_0:\n  return two_0\n";
    /// let program = parse::parse(text).expect("it parses");
    /// let (_, init) = program.blocks.iter().next().expect("a block");
    /// assert_eq!(program.line(&init.stmts[0]), "let two_0 = add 1 1");
    /// ```
    pub fn line(&self, stmt: &Stmt) -> String {
        let text = Line(self, stmt).to_string();
        text.lines().next().unwrap_or_default().to_string()
    }
}

struct Line<'a>(&'a Loop, &'a Stmt);

impl Display for Line<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Line(program, stmt) = *self;
        Printer { program, f }.stmt(stmt, 0)
    }
}

impl Display for Loop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut printer = Printer { program: self, f };
        printer.declarations()?;
        for function in &self.functions {
            printer.function(function)?;
        }
        for (labels, block) in self.blocks.iter() {
            printer.block(labels, block)?;
        }
        Ok(())
    }
}

struct Printer<'a, 'f> {
    program: &'a Loop,
    f: &'a mut Formatter<'f>,
}

impl Printer<'_, '_> {
    fn declarations(&mut self) -> fmt::Result {
        let l = self.program;
        writeln!(self.f, "loop {}", l.name)?;
        for comb in &l.combs {
            write!(self.f, "comb {} {}", comb.name, comb.kind)?;
            if let Some(Slot { rate, stage }) = comb.slot {
                write!(self.f, " at {}", l.rate(rate).name)?;
                if stage != 0 {
                    write!(self.f, " stage {stage}")?;
                }
            }
            writeln!(self.f)?;
        }
        for param in &l.params {
            write!(self.f, "param {}: {}", l.name(param.var), l.ty(param.var))?;
            match param.kind {
                ParamKind::Scalar => writeln!(self.f)?,
                ParamKind::Stream(r) => writeln!(self.f, " stream {}", l.rate(r).name)?,
                ParamKind::Random => writeln!(self.f, " random")?,
            }
        }
        for rate in &l.rates {
            self.rate(rate)?;
        }
        for group in &l.groups {
            self.group(group)?;
        }
        for (i, trap) in l.traps.iter().enumerate() {
            let comb = &l.comb(trap.comb).name;
            writeln!(self.f, "trap t{i} {comb} {}", trap.kind.name())?;
        }
        Ok(())
    }

    fn rate(&mut self, rate: &Rate) -> fmt::Result {
        let l = self.program;
        write!(self.f, "rate {} ", rate.name)?;
        let kind = match rate.kind {
            RateKind::Root { .. } => "root",
            RateKind::Sub { .. } => "sub",
            RateKind::Nested { uniform: true, .. } => "uniform",
            RateKind::Nested { .. } => "nested",
            RateKind::Cursor { .. } => "cursor",
        };
        write!(self.f, "{kind}")?;
        if let Some(parent) = rate.kind.parent() {
            write!(self.f, " {}", l.rate(parent).name)?;
        }
        if let (Some(counter), Some(bound)) = (rate.kind.counter(), rate.kind.bound()) {
            write!(self.f, " {} < ", l.name(counter))?;
            self.atom(bound)?;
        }
        if let RateKind::Sub { count: Some(v), .. } = rate.kind {
            write!(self.f, " count {}", l.name(v))?;
        }
        write!(self.f, " {{")?;
        for (i, part) in rate.parts.iter().enumerate() {
            write!(self.f, "{}", if i == 0 { " " } else { "; " })?;
            match part {
                Part::Stage(s) => write!(self.f, "stage {s}")?,
                Part::Child(c) => write!(self.f, "child {}", l.rate(*c).name)?,
            }
        }
        writeln!(self.f, " }}")
    }

    fn group(&mut self, group: &Group) -> fmt::Result {
        let l = self.program;
        write!(self.f, "group ")?;
        self.vars(&group.vars)?;
        let (owner, step) = (&l.rate(group.owner).name, &l.rate(group.step).name);
        write!(self.f, " owner {owner} step {step} start ")?;
        self.atoms(&group.start)?;
        if !group.identity.is_empty() {
            write!(self.f, " id ")?;
            self.atoms(&group.identity)?;
        }
        write!(self.f, " next ")?;
        self.atoms(&group.next)?;
        if let Some(combine) = group.combine {
            write!(self.f, " combine ")?;
            self.combine(combine)?;
        }
        write!(self.f, " level {} ", group.level)?;
        if group.cycle {
            write!(self.f, "cycle ")?;
        }
        match group.order {
            Order::Lanes(n) => writeln!(self.f, "lanes {n}"),
            Order::Runs(n) => writeln!(self.f, "runs {n}"),
            Order::Prefix(n) => writeln!(self.f, "prefix {n}"),
            Order::Exact => writeln!(self.f, "exact"),
            Order::Sequential => writeln!(self.f, "sequential"),
        }
    }

    fn combine(&mut self, combine: Combine) -> fmt::Result {
        match combine {
            Combine::Op(op) => self.f.write_str(op.name()),
            Combine::Fn(f) => self.f.write_str(&self.program.functions[f.index()].name),
        }
    }

    fn function(&mut self, function: &Function) -> fmt::Result {
        let l = self.program;
        write!(self.f, "fn {}(", function.name)?;
        for (i, v) in function.params.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(self.f, "{comma}{}: {}", l.name(*v), l.ty(*v))?;
        }
        write!(self.f, ")")?;
        self.owner(function.comb, Some(&function.name))?;
        writeln!(self.f, " {{")?;
        self.stmts(&function.body, 1)?;
        write!(self.f, "  return")?;
        self.spaced(&function.results)?;
        writeln!(self.f, "\n}}")
    }

    fn block(&mut self, labels: &[Label], block: &Block) -> fmt::Result {
        for (i, label) in labels.iter().enumerate() {
            self.f.write_str(if i == 0 { "" } else { ", " })?;
            self.label(*label)?;
        }
        writeln!(self.f, ":")?;
        self.stmts(&block.stmts, 1)?;
        for exit in &block.exits {
            write!(self.f, "  unless ")?;
            self.atom(exit.unless)?;
            if let Some(target) = exit.target {
                write!(self.f, " | ")?;
                self.label(target)?;
            }
            let name = match exit.unless {
                Atom::Var(v) => Some(self.program.name(v)),
                Atom::Const(_) => None,
            };
            self.owner(exit.comb, name)?;
            writeln!(self.f)?;
        }
        match &block.end {
            End::Open => Ok(()),
            End::Goto(label) => {
                write!(self.f, "  goto ")?;
                self.label(*label)?;
                writeln!(self.f)
            }
            End::Branch(cond, yes, no) => {
                write!(self.f, "  if ")?;
                self.atom(*cond)?;
                write!(self.f, " | ")?;
                self.label(*yes)?;
                write!(self.f, " ")?;
                self.label(*no)?;
                writeln!(self.f)
            }
            End::Return(results) => {
                write!(self.f, "  return")?;
                self.spaced(results)?;
                writeln!(self.f)
            }
        }
    }

    fn label(&mut self, label: Label) -> fmt::Result {
        let comb = &self.program.comb(label.comb).name;
        write!(self.f, "{}_{comb}", label.section.name())
    }

    /// Prints ` @comb`, unless a variable's name implies it.
    fn owner(&mut self, comb: CombId, name: Option<&str>) -> fmt::Result {
        let comb = &self.program.comb(comb).name;
        if name.and_then(default_owner) == Some(comb) {
            return Ok(());
        }
        write!(self.f, " @{comb}")
    }

    fn stmts(&mut self, stmts: &[Stmt], depth: usize) -> fmt::Result {
        for stmt in stmts {
            self.indent(depth)?;
            self.stmt(stmt, depth)?;
            writeln!(self.f)?;
        }
        Ok(())
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        (0..depth).try_for_each(|_| self.f.write_str("  "))
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> fmt::Result {
        let l = self.program;
        let named = match &stmt.kind {
            StmtKind::Let(v, op, args) => {
                let types: smallvec::SmallVec<[Ty; 3]> =
                    args.iter().map(|a| l.atom_ty(*a)).collect();
                let target = names_target(*op).then(|| l.ty(*v).elem());
                let implied = let_type(*op, &types, target);
                write!(self.f, "let ")?;
                self.define(*v, Type::Scalar(implied))?;
                write!(self.f, " =")?;
                self.operator(*op, target, args)?;
                self.spaced(args)?;
                Some(*v)
            }
            StmtKind::Assign(v, a) => {
                write!(self.f, "{} := ", l.name(*v))?;
                self.atom(*a)?;
                Some(*v)
            }
            StmtKind::Carry(v, a) => {
                write!(self.f, "carry ")?;
                self.define(*v, self.atom_type(*a))?;
                write!(self.f, " = ")?;
                self.atom(*a)?;
                Some(*v)
            }
            StmtKind::Scan {
                results,
                group,
                elems,
            } => {
                write!(self.f, "let ")?;
                for (i, v) in results.iter().enumerate() {
                    self.f.write_str(if i == 0 { "" } else { ", " })?;
                    let implied = elems.get(i).map_or(l.ty(*v), |a| self.atom_type(*a));
                    self.define(*v, implied)?;
                }
                write!(self.f, " = scan ")?;
                self.vars(&l.groups[group.index()].vars)?;
                write!(self.f, " with ")?;
                self.atoms(elems)?;
                results.first().copied()
            }
            StmtKind::NewArray(v, n) => {
                let ty = l.ty(*v).elem();
                let keyword = match l.is_scratch(*v) {
                    true => "scratchArray",
                    false => "newArray",
                };
                self.array_def(*v, Type::Array(ty), &format!("{keyword} {ty}"), &[*n])?
            }
            StmtKind::FillArray(v, n, x) => {
                let ty = l.ty(*v).elem();
                self.array_def(*v, Type::Array(ty), &format!("fillArray {ty}"), &[*n, *x])?
            }
            StmtKind::CopyArray(v, a) => {
                self.array_def(*v, l.ty(*a), "copyArray", &[Atom::Var(*a)])?
            }
            StmtKind::ReadArray(v, a, i) => {
                let implied = Type::Scalar(l.ty(*a).elem());
                self.array_def(*v, implied, "readArray", &[Atom::Var(*a), *i])?
            }
            StmtKind::ArrayLength(v, a) => {
                let implied = Type::Scalar(Ty::U64);
                self.array_def(*v, implied, "arrayLength", &[Atom::Var(*a)])?
            }
            StmtKind::SliceArray(v, a, n) => {
                self.array_def(*v, l.ty(*a), "sliceArray", &[Atom::Var(*a), *n])?
            }
            StmtKind::WriteArray(v, i, x) => {
                write!(self.f, "writeArray {}", l.name(*v))?;
                self.spaced(&[*i, *x])?;
                Some(*v)
            }
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                combine,
            } => {
                write!(self.f, "scatterArray ")?;
                self.vars(arrays)?;
                self.spaced(&[*index])?;
                write!(self.f, " ")?;
                self.atoms(values)?;
                if let Some(combine) = combine {
                    write!(self.f, " with ")?;
                    self.combine(*combine)?;
                }
                arrays.first().copied()
            }
            StmtKind::SortArrays(arrays, n) => {
                write!(self.f, "sortArrays ")?;
                self.vars(arrays)?;
                self.spaced(&[*n])?;
                arrays.first().copied()
            }
            StmtKind::Trap {
                unless,
                trap,
                payload,
            } => {
                write!(self.f, "trap unless ")?;
                self.atom(*unless)?;
                write!(self.f, ", t{}", trap.0)?;
                if !payload.is_empty() {
                    write!(self.f, " (")?;
                    self.atoms(payload)?;
                    write!(self.f, ")")?;
                }
                if l.traps.get(trap.index()).map(|t| t.comb) == Some(stmt.comb) {
                    return Ok(());
                }
                None
            }
            StmtKind::If { .. } | StmtKind::While { .. } => self.region(&stmt.kind, depth)?,
        };
        self.owner(stmt.comb, named.map(|v| l.name(v)))
    }

    /// `let v = keyword operands`.
    fn array_def(
        &mut self,
        v: Var,
        implied: Type,
        keyword: &str,
        operands: &[Atom],
    ) -> Result<Option<Var>, fmt::Error> {
        write!(self.f, "let ")?;
        self.define(v, implied)?;
        write!(self.f, " = {keyword}")?;
        self.spaced(operands)?;
        Ok(Some(v))
    }

    fn region(&mut self, kind: &StmtKind, depth: usize) -> Result<Option<Var>, fmt::Error> {
        match kind {
            StmtKind::If {
                cond,
                then,
                other,
                results,
            } => {
                write!(self.f, "if ")?;
                self.atom(*cond)?;
                writeln!(self.f, " {{")?;
                self.stmts(then, depth + 1)?;
                self.indent(depth)?;
                writeln!(self.f, "}} else {{")?;
                self.stmts(other, depth + 1)?;
                self.indent(depth)?;
                write!(self.f, "}}")?;
                for (i, (v, a, b)) in results.iter().enumerate() {
                    self.f.write_str(if i == 0 { " -> " } else { ", " })?;
                    self.define(*v, self.atom_type(*a))?;
                    write!(self.f, " = ")?;
                    self.atom(*a)?;
                    write!(self.f, " | ")?;
                    self.atom(*b)?;
                }
                Ok(results.first().map(|r| r.0))
            }
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                write!(self.f, "while ")?;
                for (i, (v, a)) in state.iter().enumerate() {
                    self.f.write_str(if i == 0 { "" } else { ", " })?;
                    self.define(*v, self.atom_type(*a))?;
                    write!(self.f, " = ")?;
                    self.atom(*a)?;
                }
                writeln!(self.f, "{}{{", if state.is_empty() { "" } else { " " })?;
                self.stmts(test, depth + 1)?;
                self.indent(depth)?;
                write!(self.f, "}} cond ")?;
                self.atom(*cond)?;
                writeln!(self.f, " do {{")?;
                self.stmts(body, depth + 1)?;
                self.indent(depth)?;
                write!(self.f, "}} next")?;
                if !next.is_empty() {
                    self.f.write_char(' ')?;
                }
                self.atoms(next)?;
                Ok(state.first().map(|s| s.0))
            }
            _ => Ok(None),
        }
    }

    /// Prints ` op`, omitted for a copy if the operand alone reads as one.
    fn operator(&mut self, op: crate::Op, target: Option<Ty>, args: &[Atom]) -> fmt::Result {
        let plain = match args {
            [Atom::Var(v)] => !is_reserved(self.program.name(*v)),
            _ => args.len() == 1,
        };
        match target {
            Some(ty) => write!(self.f, " {}.{ty}", op.name()),
            None if op == crate::Op::Copy && plain => Ok(()),
            None => write!(self.f, " {}", op.name()),
        }
    }

    /// Prints a defined variable, with its type if it differs from the implied one.
    fn define(&mut self, v: Var, implied: Type) -> fmt::Result {
        let data = &self.program.vars[v.index()];
        self.f.write_str(&data.name)?;
        if data.ty != implied {
            write!(self.f, ": {}", data.ty)?;
        }
        Ok(())
    }

    fn atom_type(&self, a: Atom) -> Type {
        match a {
            Atom::Var(v) => self.program.ty(v),
            Atom::Const(c) => Type::Scalar(c.ty),
        }
    }

    fn atom(&mut self, a: Atom) -> fmt::Result {
        match a {
            Atom::Var(v) => self.f.write_str(self.program.name(v)),
            Atom::Const(c) => write!(self.f, "{c}"),
        }
    }

    fn vars(&mut self, vars: &[Var]) -> fmt::Result {
        for (i, v) in vars.iter().enumerate() {
            self.f.write_str(if i == 0 { "" } else { ", " })?;
            self.f.write_str(self.program.name(*v))?;
        }
        Ok(())
    }

    fn atoms(&mut self, atoms: &[Atom]) -> fmt::Result {
        for (i, a) in atoms.iter().enumerate() {
            self.f.write_str(if i == 0 { "" } else { ", " })?;
            self.atom(*a)?;
        }
        Ok(())
    }

    fn spaced(&mut self, atoms: &[Atom]) -> fmt::Result {
        for a in atoms {
            self.f.write_char(' ')?;
            self.atom(*a)?;
        }
        Ok(())
    }
}
