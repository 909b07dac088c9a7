//! Every operator at every type: loops that use them, with edge-case operands.

use super::{comparable, loop_of, run};
use livefusion_backend::{Arg, Backend, Buffer, Kernel, Outcome};
use livefusion_interp::InterpBackend;
use loop_lang::Loop;
use loop_lang::op::Op;
use loop_lang::types::{Ty, canonical};
use std::fmt::Write;

/// Lists an operator's operand types, with the type of its result. Casts are listed by target.
fn instances(op: Op) -> Vec<(Vec<Ty>, Ty)> {
    let mut found = Vec::new();
    for a in Ty::ALL {
        let operands = match op {
            Op::Powi => vec![a, Ty::I32],
            Op::Select => vec![Ty::Bool, a, a],
            _ => vec![a; op.arity()],
        };
        match op {
            Op::Cast | Op::Bitcast => {
                let to = Ty::ALL
                    .into_iter()
                    .filter(|t| op.result(&[a], Some(*t)).is_some());
                found.extend(to.map(|t| (operands.clone(), t)));
            }
            _ => found.extend(op.result(&operands, None).map(|t| (operands, t))),
        }
    }
    found
}

/// Lists the edge-case values of a type.
fn values(ty: Ty) -> Vec<u64> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.49999999999999994,
        3.7,
        1e-310,
        1e300,
        -1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        127.5,
        -128.5,
        255.9,
        65535.5,
        2147483647.5,
        -2147483649.0,
        4294967296.0,
        9223372036854775807.0,
        -9223372036854775808.0,
        18446744073709551615.0,
        1e20,
        -1e20,
        8388609.0,
        4503599627370497.5,
    ];
    match ty {
        Ty::Bool => vec![0, 1],
        Ty::F64 => floats.iter().map(|x: &f64| x.to_bits()).collect(),
        Ty::F32 => floats
            .iter()
            .map(|x| u64::from((*x as f32).to_bits()))
            .collect(),
        _ => {
            let (bits, one) = (ty.bits(), 1u64);
            let top = one << (bits - 1);
            let words = [
                0,
                1,
                2,
                3,
                5,
                7,
                8,
                31,
                64,
                100,
                top - 1,
                top,
                top + 1,
                !0,
                !1,
                !2,
                !6,
                !63,
            ];
            words.iter().map(|w| canonical(ty, *w)).collect()
        }
    }
}

/// Writes one loop with all operators on these operand types.
fn loop_text(name: &str, operands: &[Ty], ops: &[(Op, Ty)]) -> String {
    let mut text = format!("loop {name}\ncomb 0 manifest at r0\ncomb 1 map at r0\n");
    for (i, t) in operands.iter().enumerate() {
        let _ = writeln!(text, "param arr{i}_0: [{t}] stream r0");
    }
    text += "rate r0 root ix_0 < len_0 { stage 0 }\ninit_0, init_1:\n  let len_0 = arrayLength arr0_0\n";
    for (k, (_, to)) in ops.iter().enumerate() {
        let _ = writeln!(text, "  let out{k}_1 = newArray {to} len_0");
    }
    text += "  carry ix_0 = 0\nguard_0, guard_1:\n  let more_0 = lt ix_0 len_0\n  unless more_0 | done_0\nbody_0, body_1:\n";
    for i in 0..operands.len() {
        let _ = writeln!(text, "  let x{i}_0 = readArray arr{i}_0 ix_0");
    }
    for (k, (op, to)) in ops.iter().enumerate() {
        let args: Vec<String> = (0..operands.len()).map(|i| format!("x{i}_0")).collect();
        let target = match op {
            Op::Cast | Op::Bitcast => format!(".{to}"),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "  let y{k}_1 = {}{target} {}",
            op.name(),
            args.join(" ")
        );
    }
    text += "yield_0, yield_1:\n";
    for k in 0..ops.len() {
        let _ = writeln!(text, "  writeArray out{k}_1 ix_0 y{k}_1");
    }
    text += "bottom_0, bottom_1:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0, done_1:\n";
    let outs: Vec<String> = (0..ops.len()).map(|k| format!("out{k}_1")).collect();
    let _ = writeln!(text, "  return {}", outs.join(" "));
    text
}

fn buffer(ty: Ty, words: &[u64]) -> Buffer {
    let mut buffer = Buffer::zeroed(ty, words.len()).unwrap();
    for (i, w) in words.iter().enumerate() {
        buffer.set_word(i, *w);
    }
    buffer
}

/// Makes every combination of the operands' values.
fn operands(types: &[Ty]) -> Vec<Buffer> {
    let mut rows: Vec<Vec<u64>> = vec![Vec::new()];
    for ty in types {
        let values = values(*ty);
        let longer = |row: &Vec<u64>| {
            let row = row.clone();
            values
                .iter()
                .map(move |v| [&row[..], &[*v]].concat())
                .collect::<Vec<_>>()
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    let column = |(i, ty): (usize, &Ty)| {
        let words: Vec<u64> = rows.iter().map(|r| r[i]).collect();
        buffer(*ty, &words)
    };
    types.iter().enumerate().map(column).collect()
}

/// Describes an operator and its result type.
type Instance = (Op, Ty);

/// Holds the operators on one list of operand types, with result types.
pub struct Case {
    pub program: Loop,
    operands: Vec<Ty>,
    ops: Vec<Instance>,
}

/// Makes a loop for each list of operand types.
pub fn cases() -> Vec<Case> {
    let mut by_operands: Vec<(Vec<Ty>, Vec<Instance>)> = Vec::new();
    for op in Op::ALL {
        for (types, to) in instances(*op) {
            match by_operands.iter_mut().find(|(t, _)| *t == types) {
                Some((_, ops)) => ops.push((*op, to)),
                None => by_operands.push((types, vec![(*op, to)])),
            }
        }
    }
    let case = |(i, (operands, ops)): (usize, (Vec<Ty>, Vec<Instance>))| Case {
        program: loop_of(&loop_text(&format!("ops{i}"), &operands, &ops)),
        operands,
        ops,
    };
    by_operands.into_iter().enumerate().map(case).collect()
}

impl Case {
    /// Checks that kernels give the interpreter's bits, for all operands.
    pub fn check(&self, kernels: &[&dyn Kernel]) {
        let inputs = operands(&self.operands);
        let args: Vec<Arg> = inputs.iter().map(|b| Arg::Array(b.view())).collect();
        let interp = InterpBackend::new().compile(&self.program).unwrap();
        let want = run(&*interp, &args);
        assert_eq!(want.0, Outcome::Done);
        for kernel in kernels {
            let got = run(*kernel, &args);
            assert_eq!(got.0, Outcome::Done);
            for (k, (op, to)) in self.ops.iter().enumerate() {
                for (j, (g, w)) in got.1[k].1.iter().zip(&want.1[k].1).enumerate() {
                    let words: Vec<_> = inputs.iter().map(|b| b.get_word(j)).collect();
                    // The sign of a NaN is not specified.
                    let first = self.operands[0];
                    let nan = first.is_float() && float_is_nan(first, words[0]);
                    let sign = matches!(op, Op::SignBit | Op::Bitcast | Op::Copysign) && nan;
                    assert!(
                        g == w || sign,
                        "{} {:?} -> {to} of {words:x?}: {g:x}, not {w:x}",
                        op.name(),
                        self.operands
                    );
                }
            }
        }
    }
}

fn float_is_nan(ty: Ty, word: Option<u64>) -> bool {
    word.is_some_and(|w| comparable(ty, w) != w || comparable(ty, !0 >> 1) == w)
}
