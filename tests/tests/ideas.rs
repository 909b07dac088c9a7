//! Coverage of the C backend's techniques by random programs and loops.
//!
//! Uncovered techniques, alone or in pairs, would be untested.

use livefusion::Engine;
use livefusion_backend::Backend;
use livefusion_c::{CBackend, Idea, Ideas};
use livefusion_jit::JitBackend;
use livefusion_tests::backends::{Known, c};
use livefusion_tests::loops::joined;
use livefusion_tests::mutants::golden_loops;
use livefusion_tests::mutants::hunt::golden_agrees;
use livefusion_tests::program::{Options, programs};
use loop_lang::Loop;
use std::collections::BTreeMap;

/// The number of kernels that used each pair of techniques. A technique alone counts as a pair with
/// itself.
#[derive(Default)]
struct Reached(BTreeMap<(Idea, Idea), usize>);

impl Reached {
    fn add(&mut self, ideas: &Ideas) {
        for a in ideas {
            for b in ideas.range(*a..) {
                *self.0.entry((*a, *b)).or_default() += 1;
            }
        }
    }

    /// The missing pairs, among the requested ones.
    fn missing(&self, asked: impl Fn(Idea, Idea) -> bool) -> Vec<(Idea, Idea)> {
        let pairs = Idea::ALL.iter().enumerate();
        let pairs = pairs.flat_map(|(k, a)| Idea::ALL[k..].iter().map(move |b| (*a, *b)));
        pairs
            .filter(|(a, b)| asked(*a, *b) && !self.0.contains_key(&(*a, *b)))
            .collect()
    }
}

#[test]
fn random_programs_reach_every_idea() {
    let (engine, backend) = (Engine::interp(), CBackend::new());
    let mut reached = Reached::default();
    for (_, p) in programs(8000, Options::SMALL) {
        let explained = engine.explain(&p.build().roots).expect("it can be planned");
        let all = explained.loops.iter();
        // Loops that C rejects have no techniques.
        all.filter_map(|l| backend.ideas(&l.program).ok())
            .for_each(|ideas| reached.add(&ideas));
        if reached.missing(|a, b| a == b).is_empty() {
            break;
        }
    }
    let missing = reached.missing(|a, b| a == b);
    assert!(missing.is_empty(), "never: {missing:?}\n{:?}", reached.0);
}

/// Two golden loops as phases of one, for every pair of techniques that such loops can have.
fn pairs(backend: &CBackend, reached: &mut Reached) -> Vec<(String, Loop)> {
    let golden: Vec<(String, Loop, Ideas)> = golden_loops()
        .into_iter()
        .filter_map(|(name, l)| backend.ideas(&l).ok().map(|ideas| (name, l, ideas)))
        .collect();
    let mut both = Vec::new();
    for (first, a, of_a) in &golden {
        for (second, b, of_b) in &golden {
            let pairs = of_a.iter().flat_map(|x| of_b.iter().map(move |y| (*x, *y)));
            let new = |(x, y): (Idea, Idea)| !reached.0.contains_key(&(x.min(y), x.max(y)));
            if pairs.into_iter().any(new)
                && let Some(l) = joined(a, b)
            {
                reached.add(&backend.ideas(&l).expect("it verifies"));
                both.push((format!("{first} and {second}"), l));
            }
        }
    }
    both
}

#[test]
fn every_pair_of_ideas_ends_alike_in_one_loop() {
    let backend = CBackend::new();
    let mut reached = Reached::default();
    let pairs = pairs(&backend, &mut reached);
    let missing = reached.missing(|_, _| true);
    assert!(missing.is_empty(), "never: {missing:?}\n{:?}", reached.0);
    let programs: Vec<Loop> = pairs.iter().map(|(_, l)| l.clone()).collect();
    let known = Known::compile(c(), &programs).expect("C compiles");
    let backends: [&dyn Backend; 2] = [&known, &JitBackend::new()];
    let mut found = Vec::new();
    for (name, program) in &pairs {
        let kernels = backends.map(|b| b.compile(program).expect("it verifies"));
        found.extend(golden_agrees(name, program, &kernels, 4));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
