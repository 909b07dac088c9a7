//! C for the transcendental functions: the Loop-level body of each as a function without branches, which
//! is written into the loop that calls it and vectorised with it.
//!
//! The bodies need a multiply-add with one rounding. Where the machine has no instruction for it, the
//! host's function is called instead.

use super::ops::Helpers;
use loop_lang::ir::{Atom, Function, StmtKind};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use loop_lang::{Loop, math};
use std::fmt::Write;

impl Helpers {
    /// The name of the function for an operator.
    pub(super) fn transcendental(&mut self, op: Op, ty: Ty) -> String {
        let host = self.linked(op, ty);
        let Some(body) = math::body(op, ty) else {
            return host;
        };
        let Some(function) = body.functions.first() else {
            return host;
        };
        let name = format!("lf_math_{}_{}", op.name(), ty.name());
        if self.has(&name) {
            return name;
        }
        let t = ty.name();
        let names: Vec<&str> = function.params.iter().map(|v| name_of(&body, *v)).collect();
        let (typed, plain) = (
            format!("{t} {}", names.join(&format!(", {t} "))),
            names.join(", "),
        );
        let inside = self.body(&body, function);
        // What the body is not for is left to the host.
        let guard = math::limit(op, ty).map_or(String::new(), |limit| {
            let limit = self.constant(Const::f64(limit));
            format!("  if (!(__builtin_fabs({plain}) < {limit})) return {host}({plain});\n")
        });
        self.require(&name, || {
            format!(
                "static inline __attribute__((always_inline)) {t} {name}({typed}) {{\n\
                 #if defined(__FMA__) || defined(__aarch64__)\n{guard}{inside}\
                 #else\n  return {host}({plain});\n#endif\n}}\n"
            )
        });
        name
    }

    /// Statements that compute and return a function's result.
    fn body(&mut self, program: &Loop, function: &Function) -> String {
        let mut out = String::new();
        for stmt in &function.body {
            let StmtKind::Let(v, op, args) = &stmt.kind else {
                continue;
            };
            let typed = args.get(usize::from(*op == Op::Select)).or(args.first());
            let to = program.ty(*v).elem();
            let from = typed.map_or(to, |a| program.atom_ty(*a));
            let args: Vec<String> = args.iter().map(|a| self.operand(program, *a)).collect();
            let value = self.op(*op, from, to, &args);
            let _ = writeln!(
                out,
                "  const {} {} = {value};",
                to.name(),
                name_of(program, *v)
            );
        }
        for result in &function.results {
            let result = self.operand(program, *result);
            let _ = writeln!(out, "  return {result};");
        }
        out
    }

    fn operand(&mut self, program: &Loop, a: Atom) -> String {
        match a {
            Atom::Const(c) => self.constant(c),
            Atom::Var(v) => name_of(program, v).to_string(),
        }
    }
}

fn name_of(program: &Loop, v: loop_lang::ir::Var) -> &str {
    &program.vars[v.index()].name
}
