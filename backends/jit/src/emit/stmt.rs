//! Statements and their regions.

use super::{Emit, Facet, MEMORY};
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use livefusion_backend::abi::Run;
use livefusion_backend::facts;
use loop_lang::ir::{Atom, Stmt, StmtKind, Var};
use loop_lang::op::Op;
use std::mem::offset_of;

impl Emit<'_, '_> {
    /// Writes statements with their regions, whose depth the verifier bounds.
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for s in stmts {
            self.stmt(s);
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Let(v, op, args) => self.let_op(*v, *op, args),
            StmtKind::Assign(v, a) => {
                let value = self.atom(*a);
                self.assign(*v, value);
            }
            StmtKind::Carry(v, a) => self.carry(*v, *a),
            StmtKind::Scan {
                results,
                group,
                elems,
            } => self.scan(results, *group, elems),
            StmtKind::NewArray(v, n) => self.new_array(*v, *n, s.comb),
            StmtKind::FillArray(v, n, x) => self.fill_array(*v, *n, *x, s.comb),
            StmtKind::CopyArray(v, a) => self.copy_array(*v, *a, s.comb),
            StmtKind::ReadArray(v, a, i) => self.read(*v, *a, *i),
            StmtKind::WriteArray(a, i, x) => self.write(*a, *i, *x),
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                combine,
            } => self.scatter(arrays, *index, values, *combine),
            StmtKind::SortArrays(arrays, n) => {
                let rows = self.atom(*n);
                self.sort(arrays, rows);
            }
            StmtKind::ArrayLength(v, a) => {
                let n = self.length(*a);
                self.set(*v, Facet::Value, n);
            }
            StmtKind::SliceArray(_, a, n) => {
                let (length, n) = (self.length(*a), self.atom(*n));
                let least = self.builder.ins().umin(n, length);
                self.cut(*a, least);
            }
            StmtKind::Trap { unless, .. } => {
                let ok = self.atom(*unless);
                self.trap_unless(ok);
            }
            StmtKind::If {
                cond,
                then,
                other,
                results,
            } => self.condition(*cond, then, other, results),
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                let starts: Vec<Atom> = state.iter().map(|(_, a)| *a).collect();
                self.advance(state, &starts);
                self.scalar_loop(*cond, test, |emit| {
                    emit.stmts(body);
                    emit.advance(state, next);
                });
            }
        }
    }

    fn let_op(&mut self, v: Var, op: Op, args: &[Atom]) {
        let from = match (op, args) {
            (Op::Select, [_, a, _]) => self.program.atom_ty(*a),
            _ => self.program.atom_ty(args[0]),
        };
        let to = facts::elem(self.program, v);
        let operands: Vec<Value> = args.iter().map(|a| self.atom(*a)).collect();
        let value = self.op(op, from, to, &operands);
        self.set(v, Facet::Value, value);
    }

    fn condition(
        &mut self,
        cond: Atom,
        then: &[Stmt],
        other: &[Stmt],
        results: &[(Var, Atom, Atom)],
    ) {
        let cond = self.atom(cond);
        let yes = self.builder.create_block();
        let no = self.builder.create_block();
        let after = self.builder.create_block();
        self.builder.ins().brif(cond, yes, &[], no, &[]);
        for (block, stmts, first) in [(yes, then, true), (no, other, false)] {
            self.begin(block);
            self.stmts(stmts);
            for (v, a, b) in results {
                let value = self.atom(if first { *a } else { *b });
                self.set(*v, Facet::Value, value);
            }
            self.builder.ins().jump(after, &[]);
        }
        self.begin(after);
    }

    /// A scalar loop goes on, or not. A trapped loop may count on what trapped, and its results are not wanted: it
    /// ends. So does one that is to stop, which is asked by a branch of its own: it is always foreseen.
    pub(super) fn go_on(&mut self, mut more: Value, inside: Block, after: Block) {
        if self.traps {
            let trapped = self.builder.use_var(self.trapped);
            more = self.builder.ins().band_not(more, trapped);
        }
        let asks = self.builder.create_block();
        self.builder.ins().brif(more, asks, &[], after, &[]);
        self.begin(asks);
        let stop = self.of_run(offset_of!(Run<'_, '_>, stop));
        let stop = self.builder.ins().load(types::I8, MEMORY, stop, 0);
        self.builder.ins().brif(stop, after, &[], inside, &[]);
    }

    /// A loop with a test in front.
    fn scalar_loop(&mut self, cond: Atom, test: &[Stmt], body: impl FnOnce(&mut Self)) {
        let head = self.builder.create_block();
        let inside = self.builder.create_block();
        let after = self.builder.create_block();
        self.builder.ins().jump(head, &[]);
        self.builder.switch_to_block(head);
        self.stmts(test);
        let more = self.atom(cond);
        self.go_on(more, inside, after);
        self.begin(inside);
        body(self);
        self.builder.ins().jump(head, &[]);
        self.builder.seal_block(head);
        self.begin(after);
    }

    /// All state variables of a scalar loop take their next values at once.
    fn advance(&mut self, state: &[(Var, Atom)], next: &[Atom]) {
        let values: Vec<Value> = next.iter().map(|a| self.atom(*a)).collect();
        for ((v, _), value) in state.iter().zip(values) {
            self.set(*v, Facet::Value, value);
        }
    }
}
