//! Counting pairs within segments, with spans that end inside of a segment.
//!
//! Counts made before the end of a span must survive it.

use super::{Data, Numbers, args, loop_file, run, run_by_turns};
use livefusion_backend::{Backend, Kernel, Outcome};
use livefusion_interp::InterpBackend;
use loop_lang::Const;

/// An exclusive bound on the elements.
const MOST: u64 = 1 << 20;

/// Returns segment sizes: mostly small, some empty, and one with most of all pairs.
fn sizes(numbers: &mut Numbers) -> Vec<u64> {
    let mut sizes: Vec<u64> = (0..24).map(|_| numbers.below(7)).collect();
    sizes[9] = 40;
    sizes[10] = 0;
    sizes
}

/// Checks that a backend counts as the interpreter does, for any spans.
///
/// Either kernel may continue. If there are fewer elements than the segments claim, missing ones
/// are not read. Trapping elements still trap.
pub fn agree(backend: &dyn Backend) {
    let interp = InterpBackend::new();
    let mut numbers = Numbers(29);
    for name in ["pairs", "pairs_in_groups"] {
        let program = loop_file(name);
        let alone = interp.compile(&program).expect("it verifies");
        let kernel = backend.compile(&program).expect("it verifies");
        let sizes = sizes(&mut numbers);
        let total = sizes.iter().sum::<u64>() as usize;
        let grouped = name == "pairs_in_groups";
        let groups = grouped.then(|| Data::U64(vec![3, 0, 5, 1, 8, 0, 7]));
        for (n, most) in [
            (total, MOST),
            (total + 5, MOST),
            (total - 20, MOST),
            (total, MOST / 2),
        ] {
            let xs: Vec<u64> = (0..n).map(|_| numbers.below(MOST)).collect();
            let others = [
                Data::U64(sizes.clone()),
                Data::U64(xs),
                Data::Scalar(Const::u64(most)),
            ];
            let data: Vec<Data> = groups.iter().cloned().chain(others).collect();
            check([&*kernel, &*alone], &data);
        }
    }
}

fn check([kernel, interp]: [&dyn Kernel; 2], data: &[Data]) {
    let args = args(data);
    let want = run(interp, &args);
    for span in (1..70).chain([500, 900, 1000, u64::MAX]) {
        for kernels in [&[kernel][..], &[kernel, interp]] {
            let got = run_by_turns(kernels, &[span, 3], &args);
            assert_eq!(got.0, want.0, "in spans of {span}");
            let same = got == want || want.0 != Outcome::Done;
            assert!(same, "in spans of {span}");
        }
    }
}
