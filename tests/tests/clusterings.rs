//! Random programs under every clustering, on the interpreter, against the naive evaluator.

use livefusion::{Clustering, Engine};
use livefusion_interp::InterpBackend;
use livefusion_tests::check::{against_naive, check_all};
use livefusion_tests::program::{Options, programs};
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
