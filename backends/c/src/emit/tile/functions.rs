//! Functions on vectors: the transcendental ones, whose Loop-level bodies are straight lines of operators that vectors have,
//! and what takes one instruction on some machines.

use super::Writer;
use livefusion_tile::ir::Shape;
use livefusion_tile::target::{Arch, Extension};
use loop_lang::ir::{Atom, Function, StmtKind, Var};
use loop_lang::op::Op;
use loop_lang::types::Ty;
use loop_lang::{Loop, math};
use std::fmt::Write as _;

impl Writer<'_, '_, '_> {
    /// A transcendental function as an expression on vectors, if it has a body all of whose operators are on vectors.
    pub(super) fn function_op(&mut self, op: Op, own: Shape, of: &[String]) -> Option<String> {
        let fits = self.unit.helpers.has(Extension::Fma) && math::keeps_width(op, own.ty);
        let body = math::body(op, own.ty).filter(|_| fits)?;
        let v = self.vector(own);
        let name = format!("lf_math_{}_{v}", op.name());
        if !self.unit.helpers.is_there(&name) {
            // Masks in it are as wide as its own elements.
            let masks = self.masks;
            (self.masks.bytes, self.masks.lanes) = (own.ty.size(), own.lanes);
            let text = self.function_text(op, own, &name, &body);
            self.masks = masks;
            let text = text?;
            self.unit.helpers.require(&name, || text);
        }
        Some(format!("{name}({})", of.join(", ")))
    }

    fn function_text(&mut self, op: Op, own: Shape, name: &str, body: &Loop) -> Option<String> {
        let function = body.functions.first()?;
        let v = self.vector(own);
        let params: Vec<&str> = function.params.iter().map(|p| body.name(*p)).collect();
        let typed: Vec<String> = params.iter().map(|p| format!("{v} {p}")).collect();
        let (statements, result) = self.function_body(own.lanes, body, function)?;
        let mut out = String::new();
        let result = match math::limit(op, own.ty) {
            None => format!("return {result};"),
            Some(limit) => {
                let rare = self.beyond(op, own, name, limit);
                out += &rare;
                let all = self.all(own);
                let (below, above) = (
                    self.compare(Op::Lt, own.ty, "x", &format!("{all}({limit:?})")),
                    self.compare(Op::Gt, own.ty, "x", &format!("{all}(-{limit:?})")),
                );
                let inside = self.mask_op(Op::And, &below, &above)?;
                let lacks = self.lacks(&format!("({inside})"));
                format!("const {v} y = {result};\n  return {lacks} ? {name}_beyond(y, x) : y;")
            }
        };
        let _ = writeln!(
            out,
            "static inline {v} {name}({}) {{\n{statements}  {result}\n}}",
            typed.join(", ")
        );
        Some(out)
    }

    /// Statements that compute a function's result, and the result.
    fn function_body(
        &mut self,
        lanes: u32,
        body: &Loop,
        function: &Function,
    ) -> Option<(String, String)> {
        let mut out = String::new();
        for stmt in &function.body {
            let StmtKind::Let(v, op, args) = &stmt.kind else {
                return None;
            };
            let to = Shape::of(body.ty(*v).elem(), lanes);
            let typed = args.get(usize::from(*op == Op::Select));
            let from = typed.map_or(to.ty, |a| body.atom_ty(*a));
            let of: Vec<String> = args.iter().map(|a| self.atom(lanes, body, *a)).collect();
            let value = self.vector_op(*op, from, to, &of)?;
            let v_ty = self.vector(to);
            let _ = writeln!(out, "  const {v_ty} {} = {value};", body.name(*v));
        }
        let result = function.results.first()?;
        Some((out, self.atom(lanes, body, *result)))
    }

    fn atom(&mut self, lanes: u32, body: &Loop, a: Atom) -> String {
        let name = |v: Var| body.name(v).to_string();
        match a {
            Atom::Var(v) => name(v),
            Atom::Const(c) if c.ty == Ty::Bool => {
                let truth = self.unit.helpers.constant(c);
                self.all_or_none(&truth)
            }
            Atom::Const(c) => {
                let all = self.all(Shape::of(c.ty, lanes));
                format!("{all}({})", self.unit.helpers.constant(c))
            }
        }
    }

    /// A function for vectors with lanes beyond the limit: these the host computes.
    fn beyond(&mut self, op: Op, own: Shape, name: &str, limit: f64) -> String {
        let v = self.vector(own);
        let host = self.unit.helpers.linked(op, own.ty);
        format!(
            "static __attribute__((noinline, cold)) {v} {name}_beyond({v} y, {v} x) {{\n  \
             for (u64 k = 0; k < {}; k++) if (!(x[k] < {limit:?} && x[k] > -{limit:?})) y[k] = {host}(x[k]);\n  \
             return y;\n}}\n",
            own.lanes
        )
    }

    /// A multiply-add with one rounding, a square root, or a float without a fraction: an instruction, where the machine
    /// has it on vectors.
    pub(super) fn instruction(&mut self, op: Op, own: Shape, of: &[String]) -> Option<String> {
        let (stem, number) = match op {
            Op::MulAdd => ("fma", ""),
            Op::Sqrt => ("sqrt", ""),
            // How it rounds, and that it says nothing of inexact results.
            Op::RoundEven => ("round", ", 8"),
            Op::Floor => ("round", ", 9"),
            Op::Ceil => ("round", ", 10"),
            Op::Trunc => ("round", ", 11"),
            _ => return None,
        };
        let needs = match stem {
            "fma" => Extension::Fma,
            "sqrt" => Extension::Sse2,
            _ => Extension::Sse41,
        };
        let kind = match own.ty {
            Ty::F32 => "ps",
            _ => "pd",
        };
        let target = &self.unit.helpers.target;
        let bytes = own.lanes as usize * own.ty.size();
        let fits = bytes <= target.vector_bytes() && target.has(needs);
        if target.arch() != Arch::X86_64 || !fits {
            return None;
        }
        let builtin = match (stem, bytes) {
            ("fma", 16) => format!("__builtin_ia32_vfmadd{kind}(x, y, z)"),
            ("fma", 32) => format!("__builtin_ia32_vfmadd{kind}256(x, y, z)"),
            ("fma", 64) => format!("__builtin_ia32_vfmadd{kind}512_mask(x, y, z, -1, 4)"),
            ("sqrt", 64) => format!("__builtin_ia32_sqrt{kind}512_mask(x, x, -1, 4)"),
            ("round", 64) => format!("__builtin_ia32_rndscale{kind}_mask(x{number}, x, -1, 4)"),
            (_, 16) => format!("__builtin_ia32_{stem}{kind}(x{number})"),
            (_, 32) => format!("__builtin_ia32_{stem}{kind}256(x{number})"),
            _ => return None,
        };
        let v = self.vector(own);
        let name = format!("{v}_{}", op.name());
        let names = ["x", "y", "z"];
        let typed: Vec<String> = (names.iter().take(op.arity()))
            .map(|p| format!("{v} {p}"))
            .collect();
        let lanes = names.map(|p| format!("{p}[k]"));
        let one = self
            .unit
            .helpers
            .op(op, own.ty, own.ty, &lanes[..op.arity()]);
        let lanes = own.lanes;
        // clang has no builtin of that name.
        let gcc_only = stem == "sqrt" && bytes == 64;
        self.unit.helpers.require(&name, || {
            let plain = format!("{v} r; for (u64 k = 0; k < {lanes}; k++) r[k] = {one}; return r;");
            let body = match gcc_only {
                true => {
                    format!("\n#ifndef __clang__\n  return {builtin};\n#else\n  {plain}\n#endif\n")
                }
                false => format!(" return {builtin}; "),
            };
            format!(
                "static inline {v} {name}({}) {{{body}}}\n",
                typed.join(", ")
            )
        });
        Some(format!("{name}({})", of.join(", ")))
    }
}
