//! Which ideas of the C backend random programs and random loops reach, alone and in pairs: what is never
//! reached is never tested.

use livefusion::Engine;
use livefusion_c::{CBackend, Idea, Ideas};
use livefusion_tests::loops::{files, joined};
use livefusion_tests::program::{Options, programs};
use loop_lang::Loop;
use std::collections::BTreeMap;

/// How many kernels made use of each pair of ideas; of one idea alone, as a pair with itself.
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

    /// The pairs that were not reached, of those that are asked for.
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
    for (_, p) in programs(2000, Options::SMALL) {
        let explained = engine.explain(&p.build().roots).expect("it can be planned");
        let all = explained.loops.iter();
        // What C refuses has no ideas.
        all.filter_map(|l| backend.ideas(&l.program).ok())
            .for_each(|ideas| reached.add(&ideas));
        if reached.missing(|a, b| a == b).is_empty() {
            break;
        }
    }
    let missing = reached.missing(|a, b| a == b);
    assert!(missing.is_empty(), "never: {missing:?}\n{:?}", reached.0);
}

#[test]
fn loops_reach_every_pair_of_ideas() {
    let backend = CBackend::new();
    let mut reached = Reached::default();
    let files: Vec<(Loop, Ideas)> = files()
        .into_iter()
        .filter_map(|(_, l)| backend.ideas(&l).ok().map(|ideas| (l, ideas)))
        .collect();
    for (a, of_a) in &files {
        for (b, of_b) in &files {
            let pairs = of_a.iter().flat_map(|x| of_b.iter().map(move |y| (*x, *y)));
            let new = |(x, y): (Idea, Idea)| !reached.0.contains_key(&(x.min(y), x.max(y)));
            if pairs.into_iter().any(new)
                && let Some(both) = joined(a, b)
            {
                reached.add(&backend.ideas(&both).expect("it verifies"));
            }
        }
    }
    let missing = reached.missing(|_, _| true);
    assert!(missing.is_empty(), "never: {missing:?}\n{:?}", reached.0);
}
