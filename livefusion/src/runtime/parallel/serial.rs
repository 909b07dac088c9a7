//! Serial parts of the search for units, in steps of passes.

use super::board::{Board, Claim};
use super::fixture::{arguments, one_loop, with_board};
use crate::array::Array;
use crate::ast::Node;
use crate::segmented::Segmented;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass};
use livefusion_interp::{InterpBackend, InterpKernel};
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Threads that work in rounds.
const THREADS: usize = 16;
/// Steps of a unit.
const UNIT: u64 = 512;

/// A kernel that counts the steps of its summary passes.
struct CountingKernel {
    kernel: InterpKernel,
    steps: AtomicU64,
}

impl Kernel for CountingKernel {
    fn layout(&self) -> &Layout {
        self.kernel.layout()
    }

    fn chunk(&self) -> u64 {
        UNIT
    }

    fn run(&self, pass: Pass, steps: u64, frame: &mut Frame<'_>, args: &[Arg<'_>]) -> Outcome {
        let before = frame.words[1];
        let outcome = self.kernel.run(pass, steps, frame, args);
        if pass != Pass::Emit {
            self.steps.fetch_add(frame.words[1] - before, Relaxed);
        }
        outcome
    }
}

/// Steps of passes that find the places of a loop's units.
#[derive(Debug, Default, PartialEq)]
struct SearchCost {
    units: u64,
    /// Steps while a thread holds the lock.
    locked: u64,
    /// Steps of all threads.
    all: u64,
    /// Steps one after the other: those of the slowest thread in each round.
    serial: u64,
}

/// Finds the places of all units of a loop. In each round threads first claim work, then do it.
fn search(program: &Loop, elements: &[i64], lengths: &[&[u64]]) -> SearchCost {
    let backend = InterpBackend::with_chunk(UNIT);
    let kernel = CountingKernel {
        kernel: backend.compile_kernel(program).expect("compiled"),
        steps: AtomicU64::new(0),
    };
    let steps = || kernel.steps.swap(0, Relaxed);
    let args = arguments(program, elements, lengths.iter().copied());
    let rounds = |board: Board<'_>| {
        let mut found = SearchCost::default();
        let mut frame = board.frame().expect("one for each thread");
        steps();
        loop {
            let claims: Vec<Claim<'_>> = (0..THREADS).map(|_| board.claim()).collect();
            found.locked += steps();
            let (mut slowest, mut nothing) = (0, 0);
            for claim in claims.into_iter().rev() {
                match claim {
                    Claim::Unit(mut unit) => {
                        assert!(board.locate(&mut unit, &mut frame));
                        found.units += 1;
                    }
                    Claim::Count(block) => board.count(block, &mut frame),
                    Claim::Walk(frame) => board.walk(frame),
                    Claim::Later => {}
                    Claim::Nothing => nothing += 1,
                }
                let run = steps();
                found.all += run;
                slowest = slowest.max(run);
            }
            found.serial += slowest;
            if nothing == THREADS {
                return (board.rest(), found);
            }
        }
    };
    with_board(&kernel, program, &args, (UNIT, THREADS), rounds).1
}

/// Segments of segments of 170,000 elements.
struct NestedSegments {
    elements: Vec<i64>,
    lengths: Vec<u64>,
    outer: Vec<u64>,
}

fn nest() -> NestedSegments {
    let lengths: Vec<u64> = (0..20_000).map(|i| 1 + (i * 7) % 16).collect();
    let outer: Vec<u64> = (0..4000).map(|i| if i % 2 == 0 { 3 } else { 7 }).collect();
    NestedSegments {
        elements: (0..lengths.iter().sum::<u64>() as i64).collect(),
        lengths,
        outer,
    }
}

impl NestedSegments {
    fn lengths(&self) -> Array<u64> {
        self.lengths.clone().into()
    }

    fn cut(&self, lengths: &Array<u64>) -> Segmented<i64> {
        Segmented::new(lengths, &self.elements.clone().into())
    }
}

/// Sums all data, in an order that counts.
fn total(rows: &Segmented<i64>) -> Arc<Node> {
    let sum = rows.data().map(|x| x.cast::<f64>()).sum();
    sum.node().clone()
}

/// Programs over segments: sums beside nothing, all data's sum, a filter's elements.
fn over(rows: &Segmented<i64>) -> [Loop; 3] {
    let (sums, kept) = (rows.sum(), rows.filter(|x| (x % 3).gt(0)));
    [
        one_loop(&[sums.node()]),
        one_loop(&[sums.node(), &total(rows)]),
        one_loop(&[kept.sum().node(), kept.data().node()]),
    ]
}

#[test]
fn all_threads_find_the_places_of_units_at_once() {
    let nest = nest();
    let rows = nest.cut(&nest.lengths());
    let outer = Segmented::new(&nest.outer.clone().into(), &rows.sum());
    let nested = [
        one_loop(&[outer.sum().node()]),
        one_loop(&[outer.sum().node(), &total(&rows)]),
    ];
    let flat = over(&rows).map(|program| (program, vec![&nest.lengths[..]]));
    let nested = nested.map(|program| (program, vec![&nest.outer[..], &nest.lengths[..]]));
    for (program, lengths) in flat.into_iter().chain(nested) {
        let found = search(&program, &nest.elements, &lengths);
        assert!(found.units > 300, "{found:?}\n{program}");
        assert_eq!(found.locked, 0);
        // Threads walk over parts of iterations, at the same time.
        assert!(
            found.serial * 33 < found.units * UNIT,
            "{found:?}\n{program}"
        );
    }
}

#[test]
fn computed_lengths_are_counted_by_all_threads_at_once() {
    let nest = nest();
    for program in over(&nest.cut(&nest.lengths().map(|n| n.max(1)))) {
        let found = search(&program, &nest.elements, &[&nest.lengths]);
        assert!(
            found.units > 300 && found.all > 300 * UNIT,
            "{found:?}\n{program}"
        );
        assert_eq!(found.locked, 0);
        assert!(found.serial * 8 < found.all, "{found:?}\n{program}");
    }
}

/// One thread at a time walks, but not under the lock.
#[test]
fn lengths_that_follow_from_earlier_ones_are_walked_over() {
    let nest = nest();
    let most = |i: u64| if i < 10_000 { i % 5 } else { i % 12 };
    let lengths: Vec<u64> = (0..20_000).map(most).collect();
    let highest: Array<u64> = lengths.clone().into();
    for program in over(&nest.cut(&highest.scan(1, |a, b| a.max(b)))) {
        let found = search(&program, &nest.elements, &[&lengths]);
        assert!(found.units > 200, "{found:?}\n{program}");
        assert_eq!((found.locked, found.serial), (0, found.all));
    }
}
