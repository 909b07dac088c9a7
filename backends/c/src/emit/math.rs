//! C for the transcendental functions: the Loop-level body of each as a function without branches, which
//! is written into the loop that calls it and vectorised with it.
//!
//! The bodies need a multiply-add with one rounding. Where the machine has no instruction for it, the
//! host's function is called instead. Some bodies are right below a limit only; see [`beyond`].

use super::ops::Helpers;
use livefusion_tile::target::{Extension, Target};
use loop_lang::ir::{Atom, Function, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use loop_lang::{Loop, math};
use std::fmt::Write;

impl Helpers {
    /// The name of the function for an operator.
    pub(super) fn transcendental(&mut self, op: Op, ty: Ty) -> String {
        let body = math::body(op, ty).filter(|_| self.has(Extension::Fma));
        let Some((body, function)) = body.as_ref().and_then(|b| Some((b, b.functions.first()?)))
        else {
            return self.linked(op, ty);
        };
        let t = ty.name();
        let name = format!("lf_math_{}_{t}", op.name());
        if self.is_there(&name) {
            return name;
        }
        let params: Vec<&str> = function.params.iter().map(|v| name_of(body, *v)).collect();
        let (typed, plain) = (
            format!("{t} {}", params.join(&format!(", {t} "))),
            params.join(", "),
        );
        let (statements, result) = self.body(body, function);
        let result = match math::limit(op, ty) {
            None => result,
            Some(limit) => {
                let host = self.linked(op, ty);
                let text = beyond(&self.target, op, ty, &host, limit);
                let beyond = format!("lf_beyond_{}_{t}", op.name());
                self.require(&beyond, || text);
                format!("{beyond}({result}, {plain})")
            }
        };
        self.require(&name, || {
            format!(
                "static inline __attribute__((always_inline)) {t} {name}({typed}) {{\n\
                 {statements}  return {result};\n}}\n"
            )
        });
        name
    }

    /// A call of the host's function.
    pub(super) fn runtime_call(&mut self, op: Op, ty: Ty, args: &[String]) -> String {
        format!("{}({})", self.linked(op, ty), args.join(", "))
    }

    /// Statements that compute a function's result, and the result.
    fn body(&mut self, program: &Loop, function: &Function) -> (String, String) {
        let mut out = String::new();
        for stmt in &function.body {
            let StmtKind::Let(v, op, args) = &stmt.kind else {
                continue;
            };
            let typed = args.get(usize::from(*op == Op::Select));
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
        let result = function.results.first().map(|a| self.operand(program, *a));
        (out, result.unwrap_or_default())
    }

    fn operand(&mut self, program: &Loop, a: Atom) -> String {
        match a {
            Atom::Const(c) => self.constant(c),
            Atom::Var(v) => name_of(program, v).to_string(),
        }
    }
}

fn name_of(program: &Loop, v: Var) -> &str {
    &program.vars[v.index()].name
}

/// A function `lf_beyond_sin_f64(y, x)`: `y` if `x` is below the limit, else what the host computes.
///
/// A branch would keep the loop from being vectorised. For gcc on x86-64 the function has vector
/// variants, under the names that the vector ABI gives them: each tests a whole vector at once, and
/// looks at its elements only if one of them is beyond.
fn beyond(target: &Target, op: Op, ty: Ty, host: &str, limit: f64) -> String {
    let t = ty.name();
    let name = format!("lf_beyond_{}_{t}", op.name());
    let (fabs, suffix, mask) = match ty {
        Ty::F32 => ("__builtin_fabsf", "f", "ps"),
        _ => ("__builtin_fabs", "", "pd"),
    };
    let limit = format!("{limit:?}{suffix}");
    let value = format!("{fabs}(x) < {limit} ? y : {host}(x)");
    let plain = format!("static inline {t} {name}({t} y, {t} x) {{ return {value}; }}\n");
    let vectors: &[(char, usize)] = match () {
        _ if target.has(Extension::Avx512f) => &[('b', 16), ('d', 32), ('e', 64)],
        _ if target.has(Extension::Avx2) => &[('b', 16), ('d', 32)],
        _ => return plain,
    };
    let mut out = format!(
        "#ifdef __clang__\n{plain}#else\n\
         #define LF_HIDDEN __attribute__((visibility(\"hidden\")))\n\
         LF_HIDDEN __attribute__((simd(\"notinbranch\"), const)) {t} {name}({t} y, {t} x);\n\
         LF_HIDDEN {t} {name}_1({t} y, {t} x) __asm__(\"{name}\");\n\
         {t} {name}_1({t} y, {t} x) {{ return {value}; }}\n"
    );
    for &(isa, bytes) in vectors {
        let lanes = bytes / ty.size();
        let (v, f) = (format!("{name}_v{lanes}"), format!("{name}_{lanes}"));
        let every = (1u64 << lanes) - 1;
        let test = match bytes {
            16 => format!("__builtin_ia32_movmsk{mask}(in) == {every}"),
            32 => format!("__builtin_ia32_movmsk{mask}256(in) == {every}"),
            _ => {
                // By halves: 64 bytes have no such instruction.
                let half = format!("{name}_v{}", lanes / 2);
                let halves = format!("((union {{ {v} in; {half} half[2]; }}){{ in }}).half");
                let every = (1u64 << (lanes / 2)) - 1;
                let one = |i| format!("__builtin_ia32_movmsk{mask}256({halves}[{i}]) == {every}");
                format!("({} && {})", one(0), one(1))
            }
        };
        let _ = write!(
            out,
            "typedef {t} {v} __attribute__((vector_size({bytes})));\n\
             static __attribute__((noinline, cold)) {v} {f}_rare({v} y, {v} x) {{\n  \
             for (int i = 0; i < {lanes}; i++)\n    \
             if (!({fabs}(x[i]) < {limit})) y[i] = {host}(x[i]);\n  return y;\n}}\n\
             LF_HIDDEN {v} {f}({v} y, {v} x) __asm__(\"_ZGV{isa}N{lanes}vv_{name}\");\n\
             {v} {f}({v} y, {v} x) {{\n  {v} in = ({v})((x < {limit}) & (x > -{limit}));\n  \
             return {test} ? y : {f}_rare(y, x);\n}}\n"
        );
    }
    out.push_str("#endif\n");
    out
}
