//! Loops of several phases, and word literals, give the interpreter's bits.

use crate::common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use loop_lang::Const;

/// Compares the results with and without tiles, cut into spans or not.
fn check(name: &str, data: &[Data]) {
    let program = loop_file(name);
    let interp = InterpBackend::new().compile(&program).unwrap();
    let args = args(data);
    let want = run(&*interp, &args);
    for backend in [CBackend::new(), CBackend::new().without_tiles()] {
        let c = backend.compile(&program).unwrap();
        assert_eq!(run(&*c, &args), want, "{name}");
        let spans = run_by_turns(&[&*c, &*interp], &[7, 40, 1], &args);
        assert_eq!(spans, want, "{name} in spans");
    }
}

/// The second phase continues with the first one's lanes, dealt by its own counter.
#[test]
fn phases_share_a_group_of_lanes() {
    for (n, m) in [(5, 5), (0, 9), (33, 70), (100, 1), (20_000, 20_000)] {
        let mut numbers = Numbers(n + m);
        let (xs, ys) = (numbers.floats(n as usize), numbers.floats(m as usize));
        let (two, start) = (Const::f64(2.0), Const::f64(1.5));
        let data = [
            Data::F64(xs),
            Data::Scalar(two),
            Data::F64(ys),
            Data::Scalar(start),
        ];
        check("append", &data);
    }
}

/// `not` of a word acts on its bits. Its value is no known condition.
#[test]
fn literals_of_words_are_no_conditions() {
    for n in [0, 1, 2, 3, 100] {
        check("scatter_min", &[Data::Scalar(Const::u64(n))]);
    }
}
