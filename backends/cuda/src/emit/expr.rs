//! Operators and constants in C++.
//!
//! Operators are functions of the prelude, or C++ operators with the same semantics. The bodies of
//! transcendental functions are written into the text, so they give the host's bits.

use loop_lang::Loop;
use loop_lang::ir::{Atom, Function, StmtKind, Var};
use loop_lang::math;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// Collects the functions that a text needs besides the prelude's.
#[derive(Default)]
pub struct Functions {
    seen: FxHashSet<String>,
    text: String,
}

impl Functions {
    /// Returns their text.
    pub fn text(&self) -> String {
        self.text.clone()
    }

    /// Writes an operator whose operands are names, literals or parenthesised.
    ///
    /// `from` is the type of the first operand (of the arms, for `select`), and `to` the result's.
    pub fn op(&mut self, op: Op, from: Ty, to: Ty, args: &[String]) -> String {
        use Op::*;
        let infix = |sign: &str| format!("{} {sign} {}", args[0], args[1]);
        let wide = from.is_float() || matches!(from, Ty::U32 | Ty::U64);
        match op {
            Add if wide => infix("+"),
            Sub if wide => infix("-"),
            Mul if wide => infix("*"),
            Div if from.is_float() => infix("/"),
            And if from == Ty::Bool => infix("&&"),
            Or if from == Ty::Bool => infix("||"),
            And | Or | Xor => {
                let sign = match op {
                    And => "&",
                    Or => "|",
                    _ => "^",
                };
                format!("{from}({})", infix(sign))
            }
            Eq => infix("=="),
            Ne => infix("!="),
            Lt => infix("<"),
            Le => infix("<="),
            Gt => infix(">"),
            Ge => infix(">="),
            Select => format!("{} ? {} : {}", args[0], args[1], args[2]),
            Copy => args[0].clone(),
            Cast => format!("lf_cast<{to}>({})", args[0]),
            Bitcast => format!("lf_bitcast<{to}>({})", args[0]),
            Rem | DivEuclid | RemEuclid if from.is_float() => {
                format!("lf_{}({})", snake(op), args.join(", "))
            }
            _ if op.is_transcendental() => {
                format!("{}({})", self.transcendental(op, from), args.join(", "))
            }
            _ => format!("lf_{}({})", snake(op), args.join(", ")),
        }
    }

    /// Returns the name of a transcendental function, and writes its body on first use.
    fn transcendental(&mut self, op: Op, ty: Ty) -> String {
        let body = math::body(op, ty);
        let function = body.as_ref().and_then(|b| Some((b, b.functions.first()?)));
        let Some((body, function)) = function else {
            // The device's own function: its last bits may differ.
            return format!("lf_{}", snake(op));
        };
        let name = format!("lf_{}_{ty}", snake(op));
        if !self.seen.insert(name.clone()) {
            return name;
        }
        let params: Vec<&str> = function.params.iter().map(|v| local(body, *v)).collect();
        let typed: Vec<String> = params.iter().map(|p| format!("{ty} {p}")).collect();
        let mut text = format!("LF_DEVICE {ty} {name}({}) {{\n", typed.join(", "));
        if let Some(limit) = math::limit(op, ty) {
            let suffix = if ty == Ty::F32 { "f" } else { "" };
            let (x, own) = (params[0], snake(op));
            let _ = writeln!(
                text,
                "  if (!(lf_abs({x}) < {limit:?}{suffix})) return lf_{own}({x});"
            );
        }
        let result = self.body(body, function, &mut text);
        let _ = writeln!(text, "  return {result};\n}}");
        self.text += &text;
        name
    }

    fn body(&mut self, program: &Loop, function: &Function, out: &mut String) -> String {
        let operand = |a: &Atom| match a {
            Atom::Const(c) => constant(*c),
            Atom::Var(v) => local(program, *v).to_string(),
        };
        for stmt in &function.body {
            let StmtKind::Let(v, op, args) = &stmt.kind else {
                continue;
            };
            let to = program.ty(*v).elem();
            let typed = args.get(usize::from(*op == Op::Select));
            let from = typed.map_or(to, |a| program.atom_ty(*a));
            let args: Vec<String> = args.iter().map(operand).collect();
            let value = self.op(*op, from, to, &args);
            let _ = writeln!(out, "  const {to} {} = {value};", local(program, *v));
        }
        function.results.first().map(operand).unwrap_or_default()
    }
}

fn local(program: &Loop, v: Var) -> &str {
    program.name(v)
}

/// Returns an operator's name with `_` between its words: `div_euclid`.
fn snake(op: Op) -> String {
    let mut name = String::new();
    for c in op.name().chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Writes a constant.
pub fn constant(c: Const) -> String {
    match c.ty {
        Ty::Bool => (c.bits & 1 == 1).to_string(),
        Ty::U64 => format!("{}ull", c.bits),
        Ty::U32 => format!("{}u", c.bits),
        Ty::U8 | Ty::U16 => format!("{}({})", c.ty, c.bits),
        // C++ has no literal for the least integer.
        Ty::I64 => format!("i64({}ull)", c.bits),
        Ty::I8 | Ty::I16 | Ty::I32 => format!("{}({})", c.ty, c.bits as i64),
        Ty::F32 => float(f64::from(f32::from_bits(c.bits as u32)), c, "f"),
        Ty::F64 => float(f64::from_bits(c.bits), c, ""),
    }
}

fn float(x: f64, c: Const, suffix: &str) -> String {
    if !x.is_finite() {
        let word = if c.ty == Ty::F32 { "u" } else { "ull" };
        return format!("lf_bitcast<{}>({:#x}{word})", c.ty, c.bits);
    }
    let text = match c.ty {
        Ty::F32 => format!("{:?}{suffix}", x.abs() as f32),
        _ => format!("{:?}", x.abs()),
    };
    match x.is_sign_negative() {
        true => format!("(-{text})"),
        false => text,
    }
}
