//! What a step does: the blocks of an iteration, in their order. It reads what is carried as it was before, and writes what
//! it is behind it.

use super::Emit;
use super::expr::constant;
use crate::shape::at;
use loop_lang::ir::{Atom, Combine, GroupId, Part, RateId, Section, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Emit<'_> {
    /// The function of a step. Without `EMIT` it sums groups up, and nothing else; with `LEAVES` it ends where it leaves the loop,
    /// and says so.
    pub(super) fn step(&mut self) {
        let counter = self.names.var(self.shape.counter).to_string();
        let leaves = self.shape.exits.any;
        let (more, result) = match leaves {
            true => (", bool LEAVES = EMIT", "u32"),
            false => ("", "void"),
        };
        self.line(&format!("template <bool EMIT{more}>"));
        self.line(&format!(
            "static LF_DEVICE {result} step(const Params &p, const lf_launch &launch, const u64 {counter}, const In &in,"
        ));
        self.open("                           State &state, Out &out, const Kept &kept) {");
        self.line("const State old = state;");
        self.rate(self.shape.root);
        if leaves {
            self.line("return LF_GOES_ON;");
        }
        self.close();
    }

    fn rate(&mut self, rate: RateId) {
        let is_root = rate == self.shape.root;
        self.block(rate, 0, Section::Guard);
        if !is_root {
            let admits: Vec<String> = self.shape.admits(rate).map(|a| self.value(a)).collect();
            // A rate that nothing is kept from has the elements of the one above it.
            let admits = match admits.is_empty() {
                true => "true".to_string(),
                false => admits.join(" && "),
            };
            self.open(&format!("if ({admits}) {{"));
        }
        for part in self.shape.parts(rate) {
            match *part {
                Part::Stage(stage) => {
                    self.block(rate, stage, Section::Body);
                    self.block(rate, stage, Section::Yield);
                }
                Part::Child(child) => self.rate(child),
            }
        }
        if !is_root {
            self.close();
        }
        self.block(rate, 0, Section::Bottom);
    }

    fn block(&mut self, rate: RateId, stage: u32, section: Section) {
        let place = at(rate, stage, section);
        self.stmts(self.shape.statements(place));
        let how = match section {
            Section::Guard => "LF_LEFT_BEFORE",
            _ => "LF_LEFT_WITHIN",
        };
        for unless in self.shape.leaves_unless(place) {
            let unless = self.value(unless);
            self.line(&format!("if (LEAVES && !({unless})) return {how};"));
        }
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    /// A value as readers see it.
    fn value(&self, a: Atom) -> String {
        match a {
            Atom::Const(c) => constant(c),
            Atom::Var(v) => match self.level_of(v) {
                Some(level) if v != self.shape.counter => {
                    format!("old.level{level}.{}", self.names.var(v))
                }
                _ => self.outside(a),
            },
        }
    }

    fn ty(&self, v: Var) -> Ty {
        self.shape.program.ty(v).elem()
    }

    fn stmt(&mut self, s: &Stmt) {
        let line = match &s.kind {
            StmtKind::Let(v, op, args) => {
                let typed = args.get(usize::from(*op == Op::Select));
                let to = self.ty(*v);
                let from = typed.map_or(to, |a| self.shape.program.atom_ty(*a));
                let args: Vec<String> = args.iter().map(|a| self.value(*a)).collect();
                let value = self.functions.op(*op, from, to, &args);
                format!("const {to} {} = {value};", self.names.var(*v))
            }
            StmtKind::Assign(v, a) => match self.level_of(*v) {
                Some(level) if *v != self.shape.counter => {
                    let (name, value) = (self.names.var(*v), self.value(*a));
                    format!("state.level{level}.{name} = {value};")
                }
                // The counter is that of the driver.
                _ => return,
            },
            StmtKind::Scan {
                results,
                group,
                elems,
            } => return self.scan(results, *group, elems),
            StmtKind::ReadArray(v, a, i)
                if *i == Atom::Var(self.shape.counter) && self.streams.reads.contains(a) =>
            {
                let (ty, name) = (self.ty(*v), self.names.var(*v));
                format!("const {ty} {name} = in.{};", self.names.var(*a))
            }
            StmtKind::ReadArray(v, a, i) => format!(
                "const {} {} = lf_read({}, {});",
                self.ty(*v),
                self.names.var(*v),
                self.value(Atom::Var(*a)),
                self.value(*i)
            ),
            StmtKind::WriteArray(a, _, x) if self.streams.writes.contains(a) => {
                format!("if (EMIT) out.{} = {};", self.names.var(*a), self.value(*x))
            }
            StmtKind::WriteArray(a, i, x)
                if self.streams.keeps.iter().any(|(kept, _)| kept == a) =>
            {
                format!(
                    "if (EMIT) lf_keep(kept.{}, {}, {});",
                    self.names.var(*a),
                    self.value(*i),
                    self.value(*x)
                )
            }
            StmtKind::WriteArray(a, i, x) => format!(
                "if (EMIT) lf_write({}, {}, {});",
                self.value(Atom::Var(*a)),
                self.value(*i),
                self.value(*x)
            ),
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                ..
            } => self.scattered(arrays[0], &self.value(*index), &self.value(values[0])),
            StmtKind::ArrayLength(v, a) => format!(
                "const u64 {} = {}.length;",
                self.names.var(*v),
                self.value(Atom::Var(*a))
            ),
            StmtKind::Trap { unless, .. } => {
                format!(
                    "if (EMIT && !({})) *launch.trapped = 1;",
                    self.value(*unless)
                )
            }
            StmtKind::If {
                cond,
                then,
                other,
                results,
            } => {
                for (v, ..) in results {
                    let line = format!("{} {};", self.ty(*v), self.names.var(*v));
                    self.line(&line);
                }
                self.open(&format!("if ({}) {{", self.value(*cond)));
                self.stmts(then);
                for (v, a, _) in results {
                    let line = format!("{} = {};", self.names.var(*v), self.value(*a));
                    self.line(&line);
                }
                self.depth -= 1;
                self.open("} else {");
                self.stmts(other);
                for (v, _, b) in results {
                    let line = format!("{} = {};", self.names.var(*v), self.value(*b));
                    self.line(&line);
                }
                return self.close();
            }
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                for (v, a) in state {
                    let (ty, name) = (self.ty(*v), self.names.var(*v));
                    let line = format!("{ty} {name} = {};", self.value(*a));
                    self.line(&line);
                }
                self.open("for (;;) {");
                self.stmts(test);
                self.line(&format!("if (!({})) break;", self.value(*cond)));
                self.stmts(body);
                for (k, ((v, _), a)) in state.iter().zip(next).enumerate() {
                    let line = format!("const {} lf_next{k} = {};", self.ty(*v), self.value(*a));
                    self.line(&line);
                }
                for (k, (v, _)) in state.iter().enumerate() {
                    let line = format!("{} = lf_next{k};", self.names.var(*v));
                    self.line(&line);
                }
                return self.close();
            }
            StmtKind::NewArray(..)
            | StmtKind::FillArray(..)
            | StmtKind::CopyArray(..)
            | StmtKind::SliceArray(..)
            | StmtKind::Carry(..) => return,
        };
        self.line(&line);
    }

    /// Joins elements onto a group, which takes the values next.
    fn scan(&mut self, results: &[Var], id: GroupId, elems: &[Atom]) {
        let shape = self.shape;
        let group = shape.group(id);
        let level = self.level_of(group.vars[0]).unwrap_or_default();
        match group.combine {
            Some(Combine::Op(op)) => {
                let ty = self.ty(results[0]);
                let args = [self.value(Atom::Var(group.vars[0])), self.value(elems[0])];
                let value = self.functions.op(op, ty, ty, &args);
                let line = format!("const {ty} {} = {value};", self.names.var(results[0]));
                self.line(&line);
            }
            Some(Combine::Fn(f)) => {
                let function = &shape.program.functions[f.index()];
                for v in results {
                    let line = format!("{} {};", self.ty(*v), self.names.var(*v));
                    self.line(&line);
                }
                self.open("{");
                let sides = group.vars.iter().map(|v| Atom::Var(*v));
                let args: Vec<Atom> = sides.chain(elems.iter().copied()).collect();
                for (param, arg) in function.params.iter().zip(args) {
                    let value = self.value(arg);
                    let line = format!(
                        "const {} {} = {value};",
                        self.ty(*param),
                        self.names.var(*param)
                    );
                    self.line(&line);
                }
                self.stmts(&function.body);
                for (v, result) in results.iter().zip(&function.results) {
                    let line = format!("{} = {};", self.names.var(*v), self.value(*result));
                    self.line(&line);
                }
                self.close();
            }
            None => {}
        }
        for (v, result) in group.vars.iter().zip(results) {
            let (name, value) = (self.names.var(*v), self.names.var(*result));
            let line = format!("state.level{level}.{name} = {value};");
            self.line(&line);
        }
    }
}
