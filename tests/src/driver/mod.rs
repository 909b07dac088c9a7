//! Passes of loops as stand-alone C programs.
//!
//! The program contains the inputs and the interpreter's bits, and calls passes like their host.
//! Code for another machine thus runs where only an emulator of it exists.

mod host;

use crate::loops::{Argument, Ended, run};
use livefusion_backend::facts::{Facts, Source};
use livefusion_backend::{Backend, Outcome, Pass, Value};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use loop_lang::ir::{Atom, End, Place};
use loop_lang::state::Layout;
use loop_lang::types::Ty;
use std::fmt::Write as _;

/// The limit on steps: arguments are random, and some are long.
const STEPS: u64 = 3000;
/// The number of bytes that a loop may allocate.
const MEMORY: u64 = crate::loops::MEMORY;

/// The driver that calls passes.
const DRIVER: &str = include_str!("driver.c");

/// Holds a loop of a file with its arguments.
pub struct Case<'a> {
    /// The loop of the file. Its pass is called with the suffix `_emit`.
    pub program: &'a Loop,
    /// Its arguments.
    pub args: Vec<Argument>,
}

/// Returns a C program of kernels and their driver, in two files.
///
/// It prints differences, and exits with 1 if there are any.
pub fn program(kernels: &str, cases: &[Case<'_>]) -> [String; 2] {
    let mut out =
        format!("{kernels}\nenum {{ LF_STEPS = {STEPS}, LF_MEMORY = {MEMORY} }};\n{DRIVER}\n");
    let mut table = String::new();
    for (k, case) in cases.iter().enumerate() {
        let ended = interpreted(case);
        if let Outcome::BadArgs(why) = &ended.outcome {
            panic!("{why}\n{}", case.program);
        }
        write_case(&mut out, &mut table, k, case, &ended);
    }
    let _ = write!(
        out,
        "static const lf_case lf_cases[] = {{\n{table}}};\n\n\
         int main(void) {{\n  lf_link(lf_functions());\n  \
         return lf_run_all(lf_cases, sizeof lf_cases / sizeof *lf_cases);\n}}\n"
    );
    let loops: Vec<&Loop> = cases.iter().map(|c| c.program).collect();
    [out, host::file(&loops)]
}

fn interpreted(case: &Case<'_>) -> Ended {
    let kernel = InterpBackend::new().compile(case.program);
    let kernel = kernel.expect("it is interpreted");
    let args: Vec<_> = case.args.iter().map(Argument::arg).collect();
    run(&*kernel, Pass::Emit, STEPS, &args)
}

/// The name of an outcome in C.
fn outcome(ended: &Outcome) -> &'static str {
    match ended {
        Outcome::Done | Outcome::Exited => "LF_DONE",
        Outcome::Paused => "LF_PAUSED",
        Outcome::Trapped(_) => "LF_TRAPPED",
        Outcome::NoMemory { .. } | Outcome::BadArgs(_) => "LF_NO_MEMORY",
    }
}

/// Adds a case's data, and its row in the table.
fn write_case(out: &mut String, table: &mut String, k: usize, case: &Case<'_>, ended: &Ended) {
    let program = case.program;
    let layout = Layout::of(program);
    let mut scalars = Vec::new();
    let mut inputs = String::new();
    for (i, arg) in case.args.iter().enumerate() {
        let (word, array) = match arg {
            Argument::Scalar(c) => (c.bits, "{ 0, 0 }".to_string()),
            Argument::Array(b) => {
                let words = (0..b.len()).filter_map(|i| b.get_word(i));
                let name = format!("lf_in_{k}_{i}");
                array(out, &name, b.ty(), words);
                (0, format!("{{ (void *){name}, {} }}", b.len()))
            }
        };
        scalars.push(word);
        let _ = write!(inputs, "{array}, ");
    }
    array(out, &format!("lf_scalars_{k}"), Ty::U64, scalars);
    let _ = writeln!(
        out,
        "static const lf_array lf_inputs_{k}[] = {{ {inputs}{{ 0, 0 }} }};"
    );
    let filled = loop_lang::filled::filled(program);
    let made = layout.arrays.iter().map(|v| {
        let ty = program.ty(*v).elem();
        type_of(ty, filled.contains(v))
    });
    let made: Vec<String> = made.chain(["{ 0, 0, 0 }".into()]).collect();
    let _ = writeln!(
        out,
        "static const lf_type lf_made_{k}[] = {{ {} }};",
        made.join(", ")
    );
    let results = results(out, k, program, &layout, ended);
    let _ = writeln!(
        out,
        "static const lf_result lf_results_{k}[] = {{\n{}  {{ {{ 0, 0, 0 }}, LF_SCALAR, 0, 0, 0 }}\n}};",
        results.concat()
    );
    let groups = program.groups.iter();
    let lanes = groups.map(|g| g.vars.len() * g.order.lanes().unwrap_or(0) as usize);
    let _ = writeln!(
        table,
        "  {{ \"{}, {k}\", {}_emit, lf_scalars_{k}, lf_inputs_{k}, lf_made_{k}, lf_results_{k}, \
         {}, {}, {}, {}, {}, {} }},",
        program.name,
        program.name,
        layout.words,
        layout.arrays.len(),
        results.len(),
        lanes.sum::<usize>(),
        outcome(&ended.outcome),
        ended.frame.words[1]
    );
}

/// The rows of a case's results, which exist only if it finished.
fn results(
    out: &mut String,
    k: usize,
    program: &Loop,
    layout: &Layout,
    ended: &Ended,
) -> Vec<String> {
    let facts = Facts::of(program, &layout.arrays, &layout.held).expect("facts");
    let last = &facts.blocks[facts.at[&Place::Return]].block.end;
    let End::Return(returned) = last else {
        panic!("the last block does not return\n{program}");
    };
    let mut rows = Vec::new();
    for (i, (value, from)) in ended.frame.results.iter().zip(returned).enumerate() {
        let name = format!("lf_want_{k}_{i}");
        let row = match value {
            Value::Scalar(c) => {
                array(out, &name, Ty::U64, [c.bits]);
                let ty = if c.ty.is_float() { c.ty } else { Ty::U64 };
                format!("{}, LF_SCALAR, {i}, 1", type_of(ty, true))
            }
            Value::Array(b) => {
                let words = (0..b.len()).filter_map(|i| b.get_word(i));
                array(out, &name, b.ty(), words);
                let source = match from {
                    Atom::Var(v) => facts.source.get(v).copied(),
                    Atom::Const(_) => None,
                };
                let (kind, at) = match source.expect("an array comes from somewhere") {
                    Source::Param(at) => ("LF_INPUT", at),
                    Source::Made(at) => ("LF_MADE", at),
                };
                format!("{}, {kind}, {at}, {}", type_of(b.ty(), true), b.len())
            }
        };
        rows.push(format!("  {{ {row}, {name} }},\n"));
    }
    rows
}

fn type_of(ty: Ty, is_filled: bool) -> String {
    let [float, filled] = [ty.is_float(), is_filled].map(u8::from);
    format!("{{ {}, {float}, {filled} }}", ty.size())
}

/// An array of words as in memory: floats as their bits.
fn array(out: &mut String, name: &str, ty: Ty, words: impl IntoIterator<Item = u64>) {
    let (bits, suffix) = (8 * ty.size(), if ty.size() == 8 { "ul" } else { "u" });
    let _ = write!(out, "static const u{bits} {name}[] = {{ ");
    for word in words {
        let _ = write!(out, "{}{suffix}, ", word & (u64::MAX >> (64 - bits)));
    }
    out.push_str("0 };\n");
}
