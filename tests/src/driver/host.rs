//! Host functions of kernels, in C.
//!
//! If the C library rounds differently or lacks a function, the backend's own code for loops
//! replaces it.

use livefusion_backend::facts;
use livefusion_backend::math::{MathEntry, entries};
use livefusion_c::CBackend;
use livefusion_tile::target::Target;
use loop_lang::Loop;
use loop_lang::gotos::derive_gotos;
use loop_lang::ir::{Stmt, StmtKind};
use loop_lang::math;
use loop_lang::op::Op;
use loop_lang::parse::parse;
use loop_lang::types::Ty;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A C file with the table of functions that some loops may call. A missing function prints an
/// error and ends the program.
pub(super) fn file(loops: &[&Loop]) -> String {
    let called: BTreeSet<String> = loops.iter().flat_map(|l| transcendental(l)).collect();
    let is_called =
        |e: &MathEntry| called.contains(e.op.name()) && math::body(e.op, e.ty).is_some();
    let (own, others): (Vec<&MathEntry>, _) = entries().iter().partition(|e| is_called(e));
    let maps: Vec<Loop> = own.iter().map(|e| map(e)).collect();
    // This target has fused multiply-add, and its C is otherwise portable.
    let backend = CBackend::new().with_target(Target::neon());
    let text = backend.text_of(&maps.iter().collect::<Vec<_>>());
    let text = text.expect("maps").replace("lf_link", "lf_link_host");
    let mut out = format!("{text}\nint printf(const char *, ...);\nvoid exit(int);\n");
    let others = others.into_iter().map(|e: &MathEntry| (e, plain(e)));
    let own = own.into_iter().map(|e| (e, written(e)));
    for (entry, body) in others.chain(own) {
        let (result, _) = entry.c_signature();
        let (name, params) = (entry.c_name, params(entry));
        let _ = writeln!(out, "static {result} host_{name}({params}) {{ {body} }}");
    }
    let table = entries()
        .iter()
        .map(|e| format!("  (void *)host_{},\n", e.c_name));
    let table: String = table.collect();
    let _ = write!(
        out,
        "static void *const table[] = {{\n{table}}};\n\
         void *const *lf_functions(void) {{\n  lf_link_host(table);\n  return table;\n}}\n"
    );
    out
}

/// The names of the transcendental functions of a loop.
fn transcendental(program: &Loop) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut see = |s: &Stmt| {
        if let StmtKind::Let(_, op, _) = &s.kind
            && op.is_transcendental()
        {
            found.insert(op.name().to_string());
        }
    };
    let blocks = program.blocks.iter();
    blocks.for_each(|(_, block)| facts::each_stmt(&block.stmts, &mut see));
    (program.functions.iter()).for_each(|f| facts::each_stmt(&f.body, &mut see));
    found
}

/// A loop whose C has the function.
fn map(entry: &MathEntry) -> Loop {
    let (op, ty) = (entry.op.name(), entry.ty);
    let args = vec!["elt_0"; entry.op.arity()].join(" ");
    let text = format!(
        "loop map_{op}_{ty}
comb 0 map at r0
param arr_0: [{ty}] stream r0
rate r0 root ix_0 < len_0 {{ stage 0 }}
init_0:
  let len_0 = arrayLength arr_0
  let out_0 = newArray {ty} len_0
  carry ix_0 = 0
guard_0:
  let more_0 = lt ix_0 len_0
  unless more_0 | done_0
body_0:
  let elt_0 = readArray arr_0 ix_0
  let new_0 = {op} {args}
yield_0:
  writeArray out_0 ix_0 new_0
bottom_0:
  let nix_0 = add ix_0 1
  ix_0 := nix_0
done_0:
  return out_0
"
    );
    let mut program = parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    derive_gotos(&mut program);
    program
}

fn params(entry: &MathEntry) -> String {
    let (_, params) = entry.c_signature();
    let params = params.iter().zip(["x", "y", "z"]);
    let params: Vec<String> = params.map(|(ty, name)| format!("{ty} {name}")).collect();
    params.join(", ")
}

/// A call of the backend's own code.
fn written(entry: &MathEntry) -> String {
    let args = &["x", "y"][..entry.op.arity()].join(", ");
    format!("return lf_math_{}_{}({args});", entry.op.name(), entry.ty)
}

/// The C library's function with the same bits, or an exit.
fn plain(entry: &MathEntry) -> String {
    let ty = if entry.ty == Ty::F32 {
        "float"
    } else {
        "double"
    };
    let f = if entry.ty == Ty::F32 { "f" } else { "" };
    let name = entry.op.name();
    match entry.op {
        Op::Rem => format!("return __builtin_fmod{f}(x, y);"),
        Op::RemEuclid => format!(
            "const {ty} r = __builtin_fmod{f}(x, y); return r < 0 ? r + __builtin_fabs{f}(y) : r;"
        ),
        Op::DivEuclid => format!(
            "const {ty} q = __builtin_trunc{f}(x / y); \
             return __builtin_fmod{f}(x, y) < 0 ? (y > 0 ? q - 1 : q + 1) : q;"
        ),
        Op::Floor | Op::Ceil | Op::Round | Op::Trunc => {
            format!("return __builtin_{name}{f}(x);")
        }
        Op::RoundEven => format!("return __builtin_rint{f}(x);"),
        Op::MulAdd => format!("return __builtin_fma{f}(x, y, z);"),
        _ => format!(
            "printf(\"there is no {name} of {}\\n\"); exit(2);",
            entry.ty
        ),
    }
}
