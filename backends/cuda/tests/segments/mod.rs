//! Arguments for loops with nests, and comparison with the interpreter.

use crate::shimmed::OnShim;
use crate::support::{Owned, Rng, golden};
use livefusion_backend::Buffer;
use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, Shim, can_compile};
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, Type};
use loop_lang::types::{Const, Ty};

/// Returns the lengths of segments.
pub fn lengths(case: &str, rng: &mut Rng) -> Vec<u64> {
    match case {
        "none" => vec![],
        "one" => vec![7],
        "empty ones" => vec![0; 700],
        "long ones" => vec![5500, 2000, 0, 6000],
        "short ones" => (0..3000).map(|_| rng.below(5)).collect(),
        "a giant" => {
            let mut all = vec![0; 900];
            all[417] = 7000;
            all
        }
        _ => (0..300).map(|_| rng.below(4) * rng.below(20)).collect(),
    }
}

/// Returns the sizes of rows of rows.
pub fn sizes(case: &str) -> [u64; 3] {
    match case {
        "none" => [0, 5, 3],
        "one" => [1, 9, 4],
        "empty ones" => [300, 0, 0],
        "short ones" => [400, 3, 5],
        "a giant" => [2, 1500, 2],
        "squares" => [100, 70, 1],
        "long ones" => [3, 2100, 2],
        _ => [37, 29, 3],
    }
}

/// Draws a word of a type.
///
/// Sums of the floats are exact in any order, and so is a quotient by a sum.
pub fn word(ty: Ty, rng: &mut Rng) -> u64 {
    let eighths = rng.below(2000) as f64 / 8.0 - 100.0;
    match ty {
        Ty::F64 => eighths.to_bits(),
        Ty::F32 => u64::from((eighths as f32).to_bits()),
        _ => rng.word(ty),
    }
}

/// Makes lengths with matching arrays, or row and column counts.
pub fn args(program: &Loop, case: &str, rng: &mut Rng) -> Vec<Owned> {
    let lengths = lengths(case, rng);
    args_of(program, &lengths, &sizes(case), rng)
}

pub fn args_of(program: &Loop, lengths: &[u64], sizes: &[u64], rng: &mut Rng) -> Vec<Owned> {
    let is_array = |p: &&loop_lang::ir::Param| p.kind != ParamKind::Scalar;
    let ragged = program.params.iter().find(is_array);
    let ragged = ragged.filter(|p| program.ty(p.var) == Type::Array(Ty::U64));
    let mut sizes = sizes.iter().copied();
    let mut cells = 1;
    let mut all = Vec::new();
    for p in &program.params {
        let ty = program.ty(p.var).elem();
        let is_size = ["h_", "w_", "m_", "p_", "n_", "d_"]
            .iter()
            .any(|s| program.name(p.var).starts_with(s));
        let len = match ragged {
            _ if p.kind == ParamKind::Scalar => {
                let word = match ty {
                    Ty::U64 if is_size => sizes.next().expect("three sizes"),
                    Ty::U64 => rng.below(3000),
                    _ => word(ty, rng),
                };
                cells *= if is_size { word } else { 1 };
                all.push(Owned::Scalar(Const::new(ty, word)));
                continue;
            }
            Some(lens) if lens.var == p.var => {
                all.push(Owned::Array(Buffer::from_vec(lengths.to_vec())));
                continue;
            }
            Some(_) => lengths.iter().sum(),
            None => cells,
        };
        let mut buffer = Buffer::zeroed(ty, len as usize).expect("memory");
        for i in 0..buffer.len() {
            buffer.set_word(i, word(ty, rng));
        }
        all.push(Owned::Array(buffer));
    }
    all
}

/// Compares a loop's results on the shim and in the interpreter.
pub fn agree(shim: &OnShim, name: &str, program: &Loop, args: &[Owned], case: &str) {
    assert_eq!(shim.differs(program, args), None, "{name}: {case}");
}

/// Describes a fault by its name, a replaced text, and the replacement.
pub type Fault = (&'static str, &'static str, &'static str);

/// Checks that each fault makes some run of a loop wrong.
pub fn are_found(name: &str, faults: &[Fault]) {
    if !can_compile() {
        return;
    }
    let program = golden(name);
    let kernel = emit::kernel(&program).expect("it runs in parallel");
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(23);
    let inputs: Vec<_> = [
        "short ones",
        "a giant",
        "mixed ones",
        "long ones",
        "squares",
    ]
    .iter()
    .map(|case| args(&program, case, &mut rng))
    .collect();
    let is_sound = |cxx: &Cxx, turns| {
        let shim = OnShim::on(
            cxx,
            &program,
            Shim {
                turns,
                ..Shim::default()
            },
        );
        let mut runs = inputs.iter();
        runs.all(|args| shim.differs(&program, args).is_none())
    };
    assert!(is_sound(&cxx, Shim::default().turns));
    for (what, from, to) in faults {
        let cxx = cxx.tampered_in(&kernel.text, from, to);
        assert!(!is_sound(&cxx, 2_000_000), "not noticed: {what}");
    }
}
