//! Cutting a loop at any guard, and optimising it, keeps all bits.

use crate::support::*;
use livefusion_backend::Outcome;
use proptest::prelude::*;

/// Maps `Exited` to `Done`: a cut may fall after the early exit.
fn ending(outcome: Outcome) -> Outcome {
    if outcome == Outcome::Exited {
        Outcome::Done
    } else {
        outcome
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn spans_change_no_bit(seed in any::<u64>()) {
        for (name, text) in golden_texts() {
            let program = parse(&text);
            let kernel = kernel(&program);
            let mut rng = Rng(seed);
            let args = random_args(&program, &mut rng);
            let (outcome, whole) = run(&kernel, &args);
            for step in [1, 2, 7] {
                let (cut, results) = run_cut(&kernel, &args, || step);
                prop_assert_eq!(ending(outcome.clone()), ending(cut), "{} by {}", name, step);
                prop_assert_eq!(&whole, &results, "{} by {}", name, step);
            }
            let (cut, results) = run_cut(&kernel, &args, || 1 + rng.below(9));
            prop_assert_eq!(ending(outcome), ending(cut), "{}", name);
            prop_assert_eq!(whole, results, "{}", name);
        }
    }

    #[test]
    fn passes_change_no_bit(seed in any::<u64>()) {
        for (name, text) in golden_texts() {
            let program = parse(&text);
            let mut better = program.clone();
            loop_lang::passes::optimize(&mut better);
            let args = random_args(&program, &mut Rng(seed));
            let (outcome, results) = run(&kernel(&program), &args);
            let (outcome_better, results_better) = run(&kernel(&better), &args);
            prop_assert_eq!(&outcome, &outcome_better, "{}", name);
            prop_assert_eq!(&results, &results_better, "{}", name);
            let (cut, results_cut) = run_cut(&kernel(&better), &args, || 3);
            prop_assert_eq!(ending(outcome), ending(cut), "{} by 3", name);
            prop_assert_eq!(results, results_cut, "{} by 3", name);
        }
    }
}
