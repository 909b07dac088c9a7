//! Recognising a graph gives what recovering it would give, for random programs whose constants become equal
//! and different.

use livefusion::ast::Node;
use livefusion::fusion::rates::known_lengths;
use livefusion::sharing::{Graph, Skeleton, recover};
use livefusion_tests::program::{Body, Fold, Length, Options, Program, Step, Style, Term, random};
use livefusion_tests::rng::Rng;
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

type Recovered = (Vec<Arc<Node>>, Graph, Vec<Option<u64>>);

/// A fresh graph of a program; none if it has a mistake.
fn recovered(program: &Program) -> Option<Recovered> {
    let built = program.build();
    let roots: Vec<_> = program
        .roots
        .iter()
        .map(|r| built.nodes[*r].clone())
        .collect();
    let graph = recover(&roots).ok()?;
    let lengths = known_lengths(&graph, &[]);
    Some((roots, graph, lengths))
}

/// The program with other constants, of which many are equal.
fn varied(program: &Program, rng: &mut Rng) -> Program {
    let mut program = program.clone();
    for step in &mut program.steps {
        match step {
            Step::Constant(fields) => fields.iter_mut().for_each(|c| vary(c, rng)),
            Step::Generate(Length::Checked(length), body) => {
                vary_body(length, rng);
                vary_body(body, rng);
            }
            Step::Generate(_, body)
            | Step::Map(_, body)
            | Step::Filter(_, body)
            | Step::Compute(body)
            | Step::Expand(_, _, body)
            | Step::TakeWhile(_, body, _)
            | Step::Scatter(_, _, _, Some(body)) => vary_body(body, rng),
            Step::Fold(_, fold)
            | Step::Scan(_, fold, _)
            | Step::FoldS(_, _, fold)
            | Step::ScanS(_, _, fold, _) => vary_fold(fold, rng),
            _ => {}
        }
    }
    program
}

fn vary_fold(fold: &mut Fold, rng: &mut Rng) {
    vary_body(&mut fold.start, rng);
    vary_body(&mut fold.step, rng);
    if let Style::Aggregate(join) = &mut fold.style {
        vary_body(join, rng);
    }
}

fn vary_body(body: &mut Body, rng: &mut Rng) {
    for term in &mut body.terms {
        if let Term::Lit(c) = term {
            vary(c, rng);
        }
    }
}

fn vary(c: &mut Const, rng: &mut Rng) {
    if c.ty != Ty::Bool && rng.chance(60) {
        *c = Const::new(c.ty, 3 + rng.below(2) as u64);
    }
}

#[test]
fn to_recognise_is_to_recover() {
    let (mut recognised, mut others) = (0, 0);
    for seed in 0..150 {
        let program = random(seed, Options::SMALL);
        let mut rng = Rng::new(seed);
        let variants: Vec<Program> = (0..3).map(|_| varied(&program, &mut rng)).collect();
        for noted in &variants {
            let Some((roots, graph, lengths)) = recovered(noted) else {
                continue;
            };
            let Some(skeleton) = Skeleton::of(&roots, &graph, &lengths) else {
                panic!("seed {seed}: no notes");
            };
            assert!(skeleton.recognise(&roots).is_some(), "seed {seed}");
            for variant in &variants {
                let Some((roots, other, lengths)) = recovered(variant) else {
                    continue;
                };
                let Some(met) = skeleton.recognise(&roots) else {
                    others += 1;
                    continue;
                };
                recognised += 1;
                assert_eq!(other.key, graph.key, "seed {seed}");
                assert_eq!(met.constants, other.constants, "seed {seed}");
                let known: Vec<u64> = lengths.iter().flatten().copied().collect();
                assert_eq!(met.lengths.as_slice(), known, "seed {seed}");
                let kept = met.nodes.iter().zip(&other.nodes);
                assert_eq!(met.nodes.len(), other.nodes.len(), "seed {seed}");
                for (met, entry) in kept {
                    assert!(Arc::ptr_eq(met, &entry.node), "seed {seed}");
                }
            }
        }
    }
    println!("{recognised} recognised, {others} not");
    assert!(
        recognised > 500 && others > 20,
        "{recognised} recognised, {others} not"
    );
}
