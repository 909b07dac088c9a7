//! Statements and their regions.

use super::stop::{TURNS, is_short};
use super::unit::{Mode, Unit, comment};
use crate::facts::Source;
use crate::names::Facet;
use loop_lang::ir::{Atom, CombId, Combine, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;

/// What remains to be written of nested regions.
enum Task<'s> {
    Stmts(std::slice::Iter<'s, Stmt>),
    Otherwise(&'s Stmt),
    EndIf(&'s Stmt),
    WhileBody(&'s Stmt),
    EndWhile(&'s Stmt),
}

impl Unit<'_> {
    /// Writes statements with their regions.
    pub fn stmts(&mut self, stmts: &[Stmt]) {
        let mut work = vec![Task::Stmts(stmts.iter())];
        while let Some(task) = work.pop() {
            match task {
                Task::Stmts(mut rest) => {
                    if let Some(s) = rest.next() {
                        work.push(Task::Stmts(rest));
                        self.stmt(s, &mut work);
                    }
                }
                Task::Otherwise(s) => {
                    if let StmtKind::If { other, results, .. } = &s.kind {
                        for (v, a, _) in results {
                            self.set_result(*v, *a);
                        }
                        self.depth -= 1;
                        self.open("} else {");
                        work.push(Task::EndIf(s));
                        work.push(Task::Stmts(other.iter()));
                    }
                }
                Task::EndIf(s) => {
                    if let StmtKind::If { results, .. } = &s.kind {
                        for (v, _, b) in results {
                            self.set_result(*v, *b);
                        }
                    }
                    self.close();
                }
                Task::WhileBody(s) => {
                    if let StmtKind::While {
                        test, cond, body, ..
                    } = &s.kind
                    {
                        let cond = self.atom(*cond);
                        let mut ends = format!("!{cond}");
                        // A trapped loop may count on what trapped; its results are not wanted.
                        if !self.program.traps.is_empty() {
                            ends += &format!(" || {}", self.trapped());
                        }
                        self.line(match is_short(test, body) {
                            true => format!("if ({ends}) {{ lf_on = 0; break; }}"),
                            false => format!("if ({ends} || *lf_halt) break;"),
                        });
                        work.push(Task::EndWhile(s));
                        work.push(Task::Stmts(body.iter()));
                    }
                }
                Task::EndWhile(s) => {
                    if let StmtKind::While {
                        state,
                        next,
                        test,
                        body,
                        ..
                    } = &s.kind
                    {
                        self.advance(state, next);
                        if is_short(test, body) {
                            self.close();
                        }
                    }
                    self.close();
                }
            }
        }
    }

    fn set_result(&mut self, v: Var, a: Atom) {
        let (name, value) = (self.names.var(v).to_string(), self.atom(a));
        self.line(format!("{name} = {value};"));
    }

    /// All state variables of a scalar loop take their next values at once.
    fn advance(&mut self, state: &[(Var, Atom)], next: &[Atom]) {
        let mut moves = Vec::new();
        for (i, ((v, _), a)) in state.iter().zip(next).enumerate() {
            if *a == Atom::Var(*v) {
                continue;
            }
            let (ty, value) = (self.program.ty(*v).elem(), self.atom(*a));
            if state.len() == 1 {
                moves.push(format!("{} = {value};", self.names.var(*v)));
            } else {
                self.line(format!("{} lf_{i} = {value};", ty.name()));
                moves.push(format!("{} = lf_{i};", self.names.var(*v)));
            }
        }
        moves.iter().for_each(|m| self.line(m));
    }

    /// Writes one statement; what its regions hold is left in `work`.
    fn stmt<'s>(&mut self, s: &'s Stmt, work: &mut Vec<Task<'s>>) {
        self.say_combinator(s.comb);
        match &s.kind {
            StmtKind::Let(v, op, args) => self.let_op(*v, *op, args),
            StmtKind::Assign(v, a) => self.assign(*v, *a),
            StmtKind::Carry(v, a) => self.carry(*v, *a),
            StmtKind::Scan {
                results,
                group,
                elems,
            } => self.scan(results, *group, elems),
            StmtKind::NewArray(v, n) => {
                let n = self.atom(*n);
                self.make(*v, &format!("new_array(run, SLOT, {n}, {})", s.comb.0));
            }
            StmtKind::FillArray(v, n, x) => {
                let (ty, n, x) = (self.program.atom_ty(*x), self.atom(*n), self.atom(*x));
                let word = self.helpers.word_of(ty, &x);
                self.make(
                    *v,
                    &format!("fill_array(run, SLOT, {n}, {word}, {})", s.comb.0),
                );
            }
            StmtKind::CopyArray(v, a) => {
                let (data, n) = (self.array(*a), self.length(*a));
                self.make(
                    *v,
                    &format!("copy_array(run, SLOT, {data}, {n}, {})", s.comb.0),
                );
            }
            StmtKind::ReadArray(v, a, i) => self.read(*v, *a, *i),
            StmtKind::WriteArray(a, i, x) => self.write(*a, *i, *x),
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                combine,
            } => {
                self.scatter(arrays, *index, values, *combine);
            }
            StmtKind::SortArrays(arrays, n) => self.sort(arrays, *n),
            StmtKind::ArrayLength(v, a) => {
                let (name, n) = (self.define(*v), self.length(*a));
                self.line(format!("{name} = {n};"));
            }
            StmtKind::SliceArray(_, a, n) => {
                let (length, n) = (self.length(*a), self.atom(*n));
                self.line(format!("if ({n} < {length}) {length} = {n};"));
            }
            StmtKind::Trap { unless, .. } => {
                let (flag, ok) = (self.trapped(), self.atom(*unless));
                self.line(format!("{flag} |= !{ok};"));
            }
            StmtKind::If {
                cond,
                then,
                results,
                ..
            } => {
                self.declare(results.iter().map(|r| r.0));
                let cond = self.atom(*cond);
                self.open(format!("if ({cond}) {{"));
                work.push(Task::Otherwise(s));
                work.push(Task::Stmts(then.iter()));
            }
            StmtKind::While {
                state, test, body, ..
            } => {
                for (v, start) in state {
                    let (name, start) = (self.define(*v), self.atom(*start));
                    self.line(format!("{name} = {start};"));
                }
                if is_short(test, body) {
                    self.open("for (bool lf_on = 1; lf_on; lf_on = lf_on && !*lf_halt) {");
                    self.line(format!("#pragma GCC unroll {TURNS}"));
                    self.open(format!(
                        "for (u32 lf_turn = 0; lf_turn < {TURNS}; lf_turn++) {{"
                    ));
                } else {
                    self.open("for (;;) {");
                }
                work.push(Task::WhileBody(s));
                work.push(Task::Stmts(test.iter()));
            }
        }
    }

    /// A comment with the combinator's name and kind, where it changes.
    pub(super) fn say_combinator(&mut self, c: CombId) {
        if self.comb != Some(c) && !matches!(self.mode, Mode::Function) {
            self.comb = Some(c);
            let comb = self.program.comb(c);
            let text = format!("/* {}: {} */", comb.name, comb.kind);
            self.line(comment(&text));
        }
    }

    fn declare(&mut self, vars: impl Iterator<Item = Var>) {
        if !matches!(self.mode, Mode::Machine) {
            for v in vars {
                let text = self.define(v);
                self.line(format!("{text};"));
            }
        }
    }

    fn let_op(&mut self, v: Var, op: Op, args: &[Atom]) {
        let from = match (op, args) {
            (Op::Select, [_, a, _]) => self.program.atom_ty(*a),
            _ => self.program.atom_ty(args[0]),
        };
        let to = self.program.ty(v).elem();
        let operands: Vec<String> = args.iter().map(|a| self.atom(*a)).collect();
        let name = self.define(v);
        // Where nothing is vectorised a call serves, and takes the compiler less time.
        let value = match matches!(self.mode, Mode::Machine) && op.is_transcendental() {
            true => self.helpers.runtime_call(op, from, &operands),
            false => self.helpers.op(op, from, to, &operands),
        };
        self.line(format!("{name} = {value};"));
    }

    fn assign(&mut self, v: Var, a: Atom) {
        let (target, value) = (self.target(v), self.atom(a));
        self.line(format!("{target} = {value};"));
        self.follow(v, &target);
    }

    /// Keeps the next value of `v` equal to it where an update does not wait.
    pub(super) fn follow(&mut self, v: Var, target: &str) {
        let next = self.names.facet(v, Facet::Next);
        if let Mode::Machine = self.mode
            && self.facts.ever_waits(v)
            && target != next
        {
            let text = format!("{next} = {target};");
            self.line(text);
        }
    }

    /// A statement that makes an array: the host allocates, or the loop ends.
    fn make(&mut self, v: Var, call: &str) {
        let slot = match self.facts.source.get(&v) {
            Some(Source::Made(slot)) => *slot,
            _ => return,
        };
        let call = call.replacen("SLOT", &slot.to_string(), 1);
        let (data, n) = (self.array(v), self.length(v));
        self.line(format!("if (!run->{call}) goto no_memory;"));
        self.line(format!("{data} = run->made[{slot}].data;"));
        self.line(format!("{n} = run->made[{slot}].length;"));
    }

    /// Puts rows in order: so many, or as many as all arrays have.
    fn sort(&mut self, arrays: &[Var], n: Atom) {
        let rows = self.atom(n);
        let line = self.sorts(arrays, rows);
        self.line(line);
    }

    fn read(&mut self, v: Var, a: Var, i: Atom) {
        let (name, data, n, index) = (self.define(v), self.array(a), self.length(a), self.atom(i));
        self.line(format!("{name} = {index} < {n} ? {data}[{index}] : 0;"));
    }

    fn write(&mut self, a: Var, i: Atom, x: Atom) {
        let (data, n, index, value) = (self.array(a), self.length(a), self.atom(i), self.atom(x));
        self.line(format!("if ({index} < {n}) {data}[{index}] = {value};"));
    }

    fn scatter(&mut self, arrays: &[Var], index: Atom, values: &[Atom], by: Option<Combine>) {
        let index = self.atom(index);
        let inside: Vec<String> = arrays
            .iter()
            .map(|a| format!("{index} < {}", self.length(*a)))
            .collect();
        let types: Vec<Ty> = arrays.iter().map(|a| self.program.ty(*a).elem()).collect();
        let cells: Vec<String> = arrays
            .iter()
            .map(|a| format!("{}[{index}]", self.array(*a)))
            .collect();
        let values: Vec<String> = values.iter().map(|x| self.atom(*x)).collect();
        self.open(format!("if ({}) {{", inside.join(" && ")));
        self.combine(by, &cells, &cells, &values, &types);
        self.close();
    }
}
