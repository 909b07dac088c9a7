//! Random loops, and loops of random programs, give the interpreter's results on the shim.
//!
//! `LIVEFUSION_CUDA_HUNT=n` takes n times as many.

use crate::record::inexact::Inexact;
use crate::record::{Accepted, Case, accepted};
use crate::shimmed::{OnShim, alike, first_apart, here, plain};
use livefusion_backend::{Frame, Kernel as _, Outcome, Pass, Value};
use livefusion_cuda_shim::{Cxx, can_compile};
use livefusion_interp::InterpBackend;
use livefusion_tests::scalar::same;

/// Counts of compared results.
#[derive(Default, Debug)]
struct Compared {
    /// Equal bit for bit.
    exactly: usize,
    /// Equal up to the last bits.
    nearly: usize,
    /// Not compared: the interpreter itself gives other results with other chunks, or products
    /// overflowed.
    not: usize,
}

#[test]
fn loops_give_what_the_interpreter_gives() {
    if !can_compile() {
        return;
    }
    let all = accepted();
    let (mut compared, mut apart) = (Compared::default(), Vec::new());
    let cxx = Cxx::new().expect("the shim compiles");
    let kernels = all.iter().flat_map(|a| &a.kernels);
    let texts = kernels.map(|k| &k.text[..]);
    cxx.prepare(texts).expect("they compile");
    for accepted in &all {
        let shim = OnShim::under(&cxx, &accepted.case.program, &accepted.schedule);
        if let Err(why) = compare(&shim, accepted, &mut compared) {
            let Accepted {
                case,
                schedule,
                kernels,
            } = accepted;
            let asked = schedule.show(&case.program);
            println!("{}: {why}\n{asked}{}", case.name, case.program);
            kernels.iter().for_each(|k| println!("{}", k.text));
            apart.push(format!("{}: {why}", case.name));
        }
    }
    println!("{compared:?}");
    assert!(apart.is_empty(), "{}", apart.join("\n"));
    assert!(
        compared.exactly > 2 * (compared.nearly + compared.not),
        "{compared:?}"
    );
    assert!(compared.nearly > compared.not, "{compared:?}");
}

fn compare(shim: &OnShim, accepted: &Accepted, compared: &mut Compared) -> Result<(), String> {
    let case = &accepted.case;
    let args = case.args();
    let inexact = Inexact::of(&case.program);
    let (outcome, values) = shim.run(&case.far_args())?;
    if inexact.decides {
        compared.not += values.len();
        return Ok(());
    }
    let (expected, wanted) = plain(&case.program, &args);
    let traps = |o: &Outcome| matches!(o, Outcome::Trapped(_));
    if traps(&expected) && traps(&outcome) {
        return Ok(());
    }
    if outcome != expected || values.len() != wanted.len() {
        return Err(format!("{outcome:?} for {expected:?}"));
    }
    let others = in_other_chunks(case);
    // A product in one order may overflow where another one does not.
    let multiplies = inexact.multiplies;
    let inexact = inexact.results(&case.program);
    for (k, (got, want)) in values.iter().zip(&wanted).enumerate() {
        let is_exact = !inexact[k];
        if is_exact && !equal(got, want) {
            return Err(format!("result {k}: {}", first_apart(got, want)));
        }
        let is_near = || alike(got, want);
        let is_stable = || others.iter().all(|other| alike(&other[k], want));
        match is_exact {
            true => compared.exactly += 1,
            false if is_near() => compared.nearly += 1,
            false if !multiplies && is_stable() => {
                return Err(format!("result {k}: {}", first_apart(got, want)));
            }
            false => compared.not += 1,
        }
    }
    Ok(())
}

/// Returns a loop's results with floats joined in other orders.
fn in_other_chunks(case: &Case) -> Vec<Vec<Value>> {
    let with = |chunk| {
        let backend = InterpBackend::with_chunk(chunk);
        let kernel = backend.compile_kernel(&case.program).expect("it verifies");
        let mut frame = Frame::new(kernel.layout());
        kernel.run(Pass::Emit, u64::MAX, &mut frame, &case.args());
        frame.results.into_vec()
    };
    [1, 3, 8, 64, 300].map(with).into()
}

/// Compares bit for bit, with all NaNs equal.
fn equal(x: &Value, y: &Value) -> bool {
    match (x, y) {
        (Value::Scalar(x), Value::Scalar(y)) => same(x.ty, x.bits, y.bits),
        (Value::Array(x), Value::Array(y)) => {
            let (x, y) = (here(x), here(y));
            let words = |i| (x.get_word(i).unwrap_or(0), y.get_word(i).unwrap_or(0));
            x.len() == y.len() && (0..x.len()).map(words).all(|(a, b)| same(x.ty(), a, b))
        }
        _ => false,
    }
}
