//! The generator of programs is itself tested: what it makes is well typed, varied, and repeatable.

use livefusion_tests::naive::Naive;
use livefusion_tests::program::{Options, Step, random};

#[test]
fn programs_are_well_typed_and_varied() {
    let (mut steps, mut trapping, mut roots) = ([0usize; 18], 0, 0);
    for seed in 0..500 {
        let program = random(seed, Options::SMALL);
        let graph = program.build();
        let mut naive = Naive::default();
        let mut traps = false;
        for (node, step) in graph.plain.iter().zip(&program.steps) {
            assert!(!node.types.is_empty(), "seed {seed}: {step:?}");
            traps |= !naive.eval(node).traps.is_empty();
            steps[kind(step)] += 1;
        }
        trapping += traps as usize;
        roots += program.roots.len();
    }
    assert!(steps.iter().all(|n| *n >= 50), "{steps:?}");
    assert!(
        (20..250).contains(&trapping),
        "{trapping} of 500 programs trap"
    );
    assert!(roots > 1000, "{roots} results");
}

#[test]
fn a_seed_gives_one_program() {
    for seed in 0..20 {
        let show = || format!("{:?}", random(seed, Options::SMALL));
        assert_eq!(show(), show());
    }
}

fn kind(step: &Step) -> usize {
    match step {
        Step::Data(_) => 0,
        Step::Constant(_) | Step::Compute(_) => 1,
        Step::Generate(..) => 2,
        Step::Map(..) => 3,
        Step::Zip(_) => 4,
        Step::Fields(..) => 5,
        Step::Filter(..) => 6,
        Step::Pack(..) => 7,
        Step::Fold(..) => 8,
        Step::Scan(..) => 9,
        Step::ScanTotal(_) => 10,
        Step::Scatter(..) => 11,
        Step::Len(_) => 12,
        Step::Expand(..) => 13,
        Step::FoldS(..) => 14,
        Step::ScanS(..) => 15,
        Step::CountS(..) => 16,
        Step::TakeWhile(..) => 17,
    }
}
