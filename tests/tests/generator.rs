//! The program generator: well-typed, varied and repeatable programs.

use livefusion::ast::Facts;
use livefusion::{Clustering, Engine};
use livefusion_interp::InterpBackend;
use livefusion_tests::check::against_naive;
use livefusion_tests::naive::Naive;
use livefusion_tests::patterns::Patterns;
use livefusion_tests::program::{Body, Fold, Options, Program, Step, Style, Term, random};
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::collections::BTreeMap;
use std::sync::Arc;

#[test]
fn programs_are_well_typed_and_varied() {
    // External parts and user-defined combinators are excluded.
    let kinds = Facts::ALL.iter().map(|facts| facts.name);
    let kinds = kinds.filter(|name| !["input", "custom"].contains(name));
    let mut steps: BTreeMap<&str, usize> = kinds.map(|name| (name, 0)).collect();
    let (mut trapping, mut roots) = (0, 0);
    for seed in 0..500 {
        let program = random(seed, Options::SMALL);
        let graph = program.build();
        let mut naive = Naive::default();
        let mut traps = false;
        for (node, step) in graph.plain.iter().zip(&program.steps) {
            assert!(!node.types.is_empty(), "seed {seed}: {step:?}");
            traps |= !naive.eval(node).traps.is_empty();
            *steps.entry(node.kind.facts().name).or_default() += 1;
        }
        trapping += traps as usize;
        roots += program.roots.len();
    }
    assert!(steps.values().all(|n| *n >= 50), "{steps:?}");
    assert!(
        (20..250).contains(&trapping),
        "{trapping} of 500 programs trap"
    );
    assert!(roots > 1000, "{roots} results");
}

/// Arms of several conditions share a quotient often enough for random programs to reveal a wrong
/// binding.
#[test]
fn conditions_share_quotients_in_many_programs() {
    let shares = |body: &Body| {
        let arms = |t: usize| {
            let uses = |term: &&Term| matches!(term, Term::Cond(_, a, b) if *a == t || *b == t);
            body.terms.iter().filter(uses).count()
        };
        let divides = |t: &Term| matches!(t, Term::Op(Op::Div, _));
        (0..body.terms.len()).any(|t| divides(&body.terms[t]) && arms(t) > 1)
    };
    let has = |seed: &u64| {
        let program = random(*seed, Options::SHARING);
        program.steps.iter().any(|step| match step {
            Step::Map(_, body) | Step::Generate(_, body) | Step::Filter(_, body) => shares(body),
            _ => false,
        })
    };
    let many = (0..500).filter(has).count();
    assert!((25..450).contains(&many), "{many} of 500 programs");
}

#[test]
fn a_seed_gives_one_program() {
    for seed in 0..20 {
        let show = || format!("{:?}", random(seed, Options::SMALL));
        assert_eq!(show(), show());
    }
}

/// The patterns of a program come from its steps.
#[test]
fn patterns_are_counted_from_the_steps() {
    let words = |ty, words: &[u64]| Step::Data(vec![(ty, words.to_vec())]);
    let first = Body {
        params: vec![Ty::U64; 2],
        terms: vec![Term::Param(0), Term::Param(1)],
        results: vec![1],
        ..Body::default()
    };
    let last = || Fold {
        start: Body {
            terms: vec![Term::Lit(Const::u64(0))],
            results: vec![0],
            ..Body::default()
        },
        step: first.clone(),
        style: Style::Sequential,
    };
    // The last element of each row, of groups of rows, of each row again, and of all rows.
    let program = Program {
        steps: vec![
            words(Ty::U64, &[1, 2, 3]),
            words(Ty::U64, &[2, 1]),
            Step::FoldS(1, 0, last()),
            words(Ty::U64, &[2]),
            Step::FoldS(3, 2, last()),
            Step::Expand(3, vec![4], first.clone()),
            Step::Map(vec![2, 5], first.clone()),
            Step::Fold(2, last()),
        ],
        roots: vec![6, 7],
    };
    let ran = against_naive(&program, &engine_that_forces_all()).expect("it runs");
    let mut patterns = Patterns::default();
    patterns.add(&program, &ran);
    let missing = patterns.missing();
    let has = |p: &str| !missing.iter().any(|m| m == p);
    for there in [
        "Root at depth 1: CutAlone",
        "Segment at depth 1: CutShared",
        "Segment at depth 1: Twice",
        "Segment at depth 1: Folded",
        "Segment at depth 2: Spread",
        "Nested at depth 3: Beside",
    ] {
        assert!(has(there), "{there}: {patterns}");
    }
    assert!(!has("Segment at depth 1: ForcedFirst") && !has("Root at depth 1: Folded"));
}

/// An engine that runs each combinator separately.
fn engine_that_forces_all() -> Engine {
    let unfused = Engine::builder().clustering(Clustering::Unfused);
    unfused.backend(Arc::new(InterpBackend::new())).build()
}
