//! Largest and smallest floats where one instruction is not enough: NaN, signed zeros, infinities.

use crate::common::*;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;

#[test]
fn special_numbers_are_ordered_as_interpreted() {
    let program = loop_file("extrema");
    let c = CBackend::new().compile(&program).unwrap();
    let interp = InterpBackend::new().compile(&program).unwrap();
    assert!(c.source().unwrap().contains("if (doubt) {"));
    let special = [
        f64::NAN,
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1.5,
        -1.5,
    ];
    let mut numbers = Numbers(7);
    for n in (0..70).chain([1000, 20_000]) {
        // All sets of special values.
        for among in 1..128u64 {
            if n > 70 && among % 9 != 1 {
                continue;
            }
            let pick: Vec<f64> = (0..7)
                .filter(|k| among >> k & 1 == 1)
                .map(|k| special[k])
                .collect();
            let element = |_| pick[numbers.below(pick.len() as u64) as usize];
            let data = [Data::F64((0..n).map(element).collect())];
            let args = args(&data);
            for spans in [&[u64::MAX][..], &[33, 1, 64, 700]] {
                let want = run_by_turns(&[&*interp], spans, &args);
                let got = run_by_turns(&[&*c], spans, &args);
                assert!(got == want, "{n} of {pick:?}: {got:?} is not {want:?}");
            }
        }
    }
}
