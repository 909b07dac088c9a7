//! Random programs under every clustering, on the interpreter, against the naive evaluator.

use livefusion::ast::ScanKind;
use livefusion::{Clustering, Engine};
use livefusion_interp::InterpBackend;
use livefusion_tests::check::{against_naive, check_all};
use livefusion_tests::program::{
    Body, Fold, Length, Options, Program, Step, Style, Term, programs,
};
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

fn agrees_with_naive(clustering: Clustering, count: u64) {
    let engine = Engine::builder()
        .backend(Arc::new(InterpBackend::new()))
        .clustering(clustering)
        .build();
    let several = programs(count, Options::SMALL)
        .chain(programs(count / 2, Options::WIRED))
        .chain(programs(2, Options::CHUNKS));
    check_all(several, |_, p| against_naive(p, &engine), |_, _| {});
}

#[test]
fn unfused() {
    agrees_with_naive(Clustering::Unfused, 200);
}

#[test]
fn greedy() {
    agrees_with_naive(Clustering::Greedy, 200);
}

#[test]
fn optimal() {
    agrees_with_naive(Clustering::default(), 50);
}

/// A loop has the lengths of outer segments before it runs, even if the intermediate segments are
/// in memory.
#[test]
fn lengths_of_outer_segments_come_first() {
    let data = |ty, words: &[u64]| Step::Data(vec![(ty, words.to_vec())]);
    let body = |params: &[Ty], terms: Vec<Term>, result| Body {
        params: params.to_vec(),
        terms,
        results: vec![result],
        ..Body::default()
    };
    let right = |ty, start: Option<Const>| Fold {
        start: match start {
            Some(c) => body(&[], vec![Term::Lit(c)], 0),
            None => Body::default(),
        },
        step: body(&[ty, ty], vec![Term::Param(0), Term::Param(1)], 1),
        style: match start {
            Some(_) => Style::Associative,
            None => Style::First,
        },
    };
    let map_to = |from, c| body(&[from], vec![Term::Param(0), Term::Lit(c)], 1);
    let zero = Const::u64(0);
    let program = Program {
        steps: vec![
            data(Ty::I64, &[0]),
            Step::Fold(0, right(Ty::I64, None)),
            data(Ty::U64, &[1, 0]),
            data(Ty::Bool, &[0]),
            Step::CountS(2, 3),
            data(Ty::U64, &[0]),
            Step::Map(vec![4], map_to(Ty::U64, Const::bool(false))),
            Step::CountS(5, 6),
            data(Ty::U64, &[]),
            Step::Map(vec![8], map_to(Ty::U64, zero)),
            Step::FoldS(9, 7, right(Ty::U64, Some(zero))),
            Step::FoldS(10, 6, right(Ty::Bool, Some(Const::bool(false)))),
        ],
        roots: vec![1, 11],
    };
    under_every_clustering(&program);
}

/// A length comes from an array that an earlier loop computed without storing it. Another array in
/// step provides it instead.
#[test]
fn as_many_as_arrays_of_which_one_is_nowhere() {
    let data = |ty, words: &[u64]| Step::Data(vec![(ty, words.to_vec())]);
    let body = |params: &[Ty], more: Vec<Term>, result| Body {
        params: params.to_vec(),
        terms: (0..params.len() as u32)
            .map(Term::Param)
            .chain(more)
            .collect(),
        results: vec![result],
        ..Body::default()
    };
    let (zero, none) = (Const::u64(0), Const::f64(0.0));
    let program = Program {
        steps: vec![
            data(Ty::F64, &[3f64.to_bits()]),
            Step::Map(vec![0], body(&[Ty::F64], vec![Term::Cast(0, Ty::U64)], 1)),
            Step::Expand(1, vec![0], body(&[Ty::U64, Ty::F64], vec![], 1)),
            data(Ty::Bool, &[0, 0, 0]),
            Step::Pack(2, 3),
            data(Ty::U64, &[0]),
            Step::Map(vec![5], body(&[Ty::U64], vec![Term::Lit(zero)], 1)),
            Step::ScanS(
                6,
                4,
                Fold {
                    start: body(&[], vec![Term::Lit(zero)], 0),
                    step: body(&[Ty::U64, Ty::F64], vec![], 0),
                    style: Style::Sequential,
                },
                ScanKind::Exclusive,
            ),
            data(Ty::U64, &[0]),
            Step::Map(
                vec![1, 8],
                body(&[Ty::U64, Ty::U64], vec![Term::Lit(none)], 2),
            ),
            Step::Len(9),
            Step::Generate(
                Length::Delayed(10),
                body(&[Ty::U64], vec![Term::Lit(zero)], 1),
            ),
            data(Ty::U64, &[1]),
            Step::ScanS(
                12,
                11,
                Fold {
                    start: body(&[], vec![Term::Lit(zero)], 0),
                    step: body(&[Ty::U64, Ty::U64], vec![], 1),
                    style: Style::Associative,
                },
                ScanKind::Exclusive,
            ),
        ],
        roots: vec![7, 13],
    };
    under_every_clustering(&program);
}

fn under_every_clustering(program: &Program) {
    for clustering in [
        Clustering::Unfused,
        Clustering::Greedy,
        Clustering::default(),
    ] {
        let interp = Arc::new(InterpBackend::new());
        let engine = Engine::builder().backend(interp).clustering(clustering);
        if let Err(why) = against_naive(program, &engine.build()) {
            panic!("{clustering:?}: {why}");
        }
    }
}
