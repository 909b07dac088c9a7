//! Scatters on the shim: each operator at each type, onto few elements and onto many, gives what the interpreter gives; and
//! faults are found.

mod operators;
mod shimmed;
#[path = "../../interp/tests/support/mod.rs"]
mod support;

use livefusion_cuda::emit;
use livefusion_cuda_shim::{Cxx, can_compile};
use livefusion_tile::threads::shape::Refusal;
use loop_lang::types::{Const, Ty};
use shimmed::OnShim;
use support::{Owned, Rng, parse};

/// So many values, joined onto so many elements; some are outside.
fn args(ty: Ty, steps: usize, elements: usize, rng: &mut Rng) -> Vec<Owned> {
    // Sums of these are exact.
    let value = |rng: &mut Rng| match ty {
        Ty::F32 => Const::f32(rng.below(9) as f32 - 2.0).bits,
        Ty::F64 => Const::f64(rng.below(9) as f64 - 2.0).bits,
        _ => rng.word(ty),
    };
    let array = |ty: Ty, n, word: &mut dyn FnMut() -> u64| {
        let mut b = livefusion_backend::Buffer::zeroed(ty, n).expect("memory");
        for i in 0..n {
            b.set_word(i, word());
        }
        Owned::Array(b)
    };
    let at = array(Ty::U64, steps, &mut || rng.below(elements as u64 + 2));
    let xs = array(ty, steps, &mut || value(rng));
    let base = array(ty, elements, &mut || value(rng));
    vec![at, xs, base]
}

#[test]
fn every_operator_at_every_type() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(23);
    for ty in Ty::ALL {
        let program = parse(&operators::scatters(ty));
        let kernel = emit::kernel(&program).expect("it runs in parallel");
        let bins = kernel.text.matches("struct Bins").count();
        assert_eq!(bins, operators::that_join(ty).count());
        let shim = OnShim::of(&cxx, &program);
        // Into bins of each warp, into those of a block, and into memory.
        for (steps, elements) in [
            (0, 3),
            (500, 3),
            (3000, 40),
            (700, 0),
            (700, 690),
            (500, 5000),
        ] {
            let args = args(ty, steps, elements, &mut rng);
            let apart = shim.differs(&program, &args);
            assert_eq!(apart, None, "{ty}: {steps} onto {elements}");
        }
    }
}

#[test]
fn where_order_matters_it_is_refused() {
    let refusal = |text: &str| emit::kernel(&parse(text)).expect_err("their order matters");
    let last = refusal(&operators::scattered(Ty::I64, &[""]));
    assert!(matches!(last, Refusal::Scatter(_)), "{last}");
    let one = operators::scattered(Ty::I64, &[" with add"]);
    for (from, to) in [
        // Two operators on one array, and one of which nothing is known.
        (
            "yield_0:\n",
            "yield_0:\n  scatterArray out0_0 i_0 x_0 with max\n",
        ),
        ("with add", "with sub"),
        // A write, and a look at what is there.
        ("yield_0:\n", "yield_0:\n  writeArray out0_0 ix_0 x_0\n"),
        ("yield_0:\n", "yield_0:\n  let y_0 = readArray out0_0 i_0\n"),
    ] {
        let why = refusal(&one.replace(from, to));
        let is_it = matches!(why, Refusal::Scatter(_) | Refusal::Order(_));
        assert!(is_it, "{to}: {why}");
    }
}

#[test]
fn faults_are_found() {
    if !can_compile() {
        return;
    }
    let faults = [
        (
            "bins are used before they are there",
            "Bins::identity();\n  }\n  __syncthreads();",
            "Bins::identity();\n  }\n  __syncwarp();",
        ),
        (
            "bins are read before all is in them",
            "  typedef typename Bins::Type T;\n  __syncthreads();",
            "  typedef typename Bins::Type T;\n  __syncwarp();",
        ),
        (
            "what was found is not joined again",
            "if (found == old) return;",
            "return;",
        ),
        (
            "bins of other warps are left out",
            "copy < lf_copies<Bins>(a); ++copy",
            "copy < 1; ++copy",
        ),
    ];
    let cxx = Cxx::new().expect("the shim compiles");
    let mut rng = Rng(4);
    let program = parse(&operators::scattered(Ty::I16, &[" with add"]));
    let args = args(Ty::I16, 2000, 7, &mut rng);
    let is_sound = |cxx: &Cxx| {
        let shim = OnShim::of(cxx, &program);
        (0..8).all(|_| shim.differs(&program, &args).is_none())
    };
    assert!(is_sound(&cxx));
    for (what, from, to) in faults {
        assert!(!is_sound(&cxx.tampered(from, to)), "not noticed: {what}");
    }
}
