//! Steps: the blocks of an iteration, in order.
//!
//! A step reads carried values from before it, and writes those after it.

use super::Emit;
use super::expr::constant;
use livefusion_tile::threads::plan::Work;
use livefusion_tile::threads::shape::at;
use loop_lang::ir::{Atom, Combine, GroupId, Part, RateId, RateKind, Section, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Emit<'_> {
    /// Writes the function of a step.
    ///
    /// Without `EMIT` it only sums groups up. With `LEAVES` it ends at an exit, and returns it.
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
        self.cells(self.shape.root);
        self.open.push(self.shape.root);
        self.rate(self.shape.root);
        self.open.pop();
        if leaves {
            self.line("return LF_GOES_ON;");
        }
        self.close();
    }

    pub(super) fn rate(&mut self, rate: RateId) {
        let is_root = rate == self.shape.root;
        self.block(rate, 0, Section::Guard);
        if !is_root {
            let admits: Vec<String> = self.shape.admits(rate).map(|a| self.value(a)).collect();
            // A rate without conditions has all elements of its parent.
            let admits = match admits.is_empty() {
                true => "true".to_string(),
                false => admits.join(" && "),
            };
            self.open(&format!("if ({admits}) {{"));
        }
        self.parts(rate);
        if !is_root {
            self.close();
        }
        self.block(rate, 0, Section::Bottom);
    }

    pub(super) fn parts(&mut self, rate: RateId) {
        for part in self.shape.parts(rate) {
            match *part {
                Part::Stage(stage) => {
                    self.block(rate, stage, Section::Body);
                    self.block(rate, stage, Section::Yield);
                }
                Part::Child(child) => match self.shape.program.rate(child).kind {
                    RateKind::Nested { .. } => self.nested(child),
                    _ if self.is_idle(child) => {}
                    _ => self.rate(child),
                },
            }
        }
    }

    pub(super) fn block(&mut self, rate: RateId, stage: u32, section: Section) {
        let place = at(rate, stage, section);
        self.stmts(self.shape.statements(place));
        if !matches!(self.shape.work, Work::Path(_))
            || place != at(self.shape.root, 0, Section::Guard)
        {
            self.ways_out(place);
        }
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|s| self.stmt(s));
    }

    /// Writes a value as readers see it.
    pub(super) fn value(&self, a: Atom) -> String {
        match a {
            Atom::Const(c) => constant(c),
            Atom::Var(v) => self.seen(v).unwrap_or_else(|| self.outside(a)),
        }
    }

    /// Reads an element of an array.
    fn read(&self, array: Var, index: Atom) -> String {
        if let Some(value) = self.read_contracted(array, index) {
            return value;
        }
        if let Some(value) = self.read_near(array, index) {
            return value;
        }
        let at_counter = index == Atom::Var(self.shape.counter);
        match at_counter && self.streams.reads.contains(&array) {
            true => format!("in.{}", self.names.var(array)),
            false => format!(
                "lf_read({}, {})",
                self.value(Atom::Var(array)),
                self.value(index)
            ),
        }
    }

    /// Writes an element to an array.
    fn written(&self, array: Var, index: Atom, x: Atom) -> String {
        if let Some(line) = self.write_contracted(array, index, x) {
            return line;
        }
        let (name, x) = (self.names.var(array), self.value(x));
        if self.streams.writes.contains(&array) {
            return format!("if (EMIT) out.{name} = {x};");
        }
        if let Some(line) = self.write_near(array, &x) {
            return line;
        }
        let index = self.value(index);
        match self.streams.keeps.iter().any(|(kept, _)| *kept == array) {
            true => format!("if (EMIT) lf_keep(kept.{name}, {index}, {x});"),
            false => format!(
                "if (EMIT) lf_write({}, {index}, {x});",
                self.value(Atom::Var(array))
            ),
        }
    }

    pub(super) fn ty(&self, v: Var) -> Ty {
        self.shape.program.ty(v).elem()
    }

    pub(super) fn stmt(&mut self, s: &Stmt) {
        if !self.is_wanted(s) {
            return;
        }
        let line = match &s.kind {
            StmtKind::Let(v, op, args) => {
                let typed = args.get(usize::from(*op == Op::Select));
                let to = self.ty(*v);
                let from = typed.map_or(to, |a| self.shape.program.atom_ty(*a));
                let args: Vec<String> = args.iter().map(|a| self.value(*a)).collect();
                let value = self.functions.op(*op, from, to, &args);
                format!("const {to} {} = {value};", self.names.var(*v))
            }
            StmtKind::Assign(v, a) => match self.stored(*v) {
                Some(place) => format!("{place} = {};", self.value(*a)),
                // The counting code updates counters.
                None => return,
            },
            StmtKind::Carry(v, a) => return self.begun(*v, *a),
            StmtKind::Scan {
                results,
                group,
                elems,
            } => return self.scan(results, *group, elems),
            StmtKind::ReadArray(v, a, i) => {
                let (ty, name) = (self.ty(*v), self.names.var(*v));
                format!("const {ty} {name} = {};", self.read(*a, *i))
            }
            StmtKind::WriteArray(a, i, x) if self.shape.last.iter().any(|l| l.arrays == [*a]) => {
                return self.overwritten(&[*a], *i, &[*x]);
            }
            StmtKind::WriteArray(a, i, x) => self.written(*a, *i, *x),
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                combine,
            } => return self.scattered(arrays, *index, values, *combine),
            StmtKind::ArrayLength(v, a) => format!(
                "const u64 {} = {}.length;",
                self.names.var(*v),
                self.value(Atom::Var(*a))
            ),
            StmtKind::Trap { unless, .. } => self.trap(*unless),
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
            | StmtKind::SortArrays(..) => return,
        };
        self.line(&line);
    }

    /// Joins elements onto a group. The results are its next values.
    fn scan(&mut self, results: &[Var], id: GroupId, elems: &[Atom]) {
        let shape = self.shape;
        let group = shape.group(id);
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
                let only = self.only.take();
                self.stmts(&function.body);
                self.only = only;
                for (v, result) in results.iter().zip(&function.results) {
                    let line = format!("{} = {};", self.names.var(*v), self.value(*result));
                    self.line(&line);
                }
                self.close();
            }
            None => {}
        }
        for (v, result) in group.vars.iter().zip(results) {
            if let Some(place) = self.stored(*v) {
                let line = format!("{place} = {};", self.names.var(*result));
                self.line(&line);
            }
        }
    }
}
