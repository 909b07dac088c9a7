//! Tests of the three strategies on random problems.
//!
//! The optimal strategy matches brute force. Reported costs and bounds hold for every budget. Equal
//! problems have equal solutions.

mod problems;

use super::*;
use loops::{Member, OpenLoops};
use problem::{Class, ClusterItem, DataField};
use problems::{Rng, brute_force, random};
use smallvec::{SmallVec, smallvec};

const ALL: Clustering = Clustering::Optimal { steps: u32::MAX };

/// A solution whose reported cost, bound and order hold.
fn checked(problem: &Problem, clustering: Clustering) -> Solution {
    let solution = solve(problem, clustering);
    let partition = &solution.partition;
    let cost = problem.cost(partition);
    assert_eq!(cost, Some(solution.cost), "{clustering}: {problem:#?}");
    assert!(
        solution.bound <= solution.cost,
        "{clustering}: {problem:#?}"
    );
    for (member, l) in partition.members() {
        let links = &problem.item(member).links;
        assert!(links.iter().all(|k| partition.loop_of[k.from] <= l));
    }
    solution
}

/// Returns the number of best partitions with rematerialised items.
fn optimal_is_the_best(
    seeds: std::ops::Range<u64>,
    items: impl Fn(u64) -> usize,
    remat: bool,
) -> usize {
    let mut copies = 0;
    for seed in seeds {
        let problem = random(seed, items(seed), remat);
        let optimal = checked(&problem, ALL);
        assert_eq!(
            optimal.cost,
            brute_force(&problem),
            "seed {seed}: {problem:#?}"
        );
        assert!(optimal.is_proven(), "seed {seed}");
        copies += !optimal.partition.copies.is_empty() as usize;
    }
    copies
}

#[test]
fn optimal_is_the_best_of_thousands_of_small_problems() {
    optimal_is_the_best(0..3000, |seed| 1 + seed as usize % 7, false);
}

#[test]
fn optimal_is_the_best_where_items_may_be_computed_again() {
    let copies = optimal_is_the_best(30_000..31_500, |seed| 2 + seed as usize % 5, true);
    assert!(copies >= 25, "{copies}");
}

#[test]
fn optimal_is_the_best_of_dozens_of_problems_of_ten() {
    optimal_is_the_best(10_000..10_024, |_| 10, false);
}

#[test]
fn bounds_and_costs_are_true_whatever_the_budget() {
    let (mut better, mut gaps) = (0, 0);
    for seed in 20_000..20_150 {
        let problem = random(seed, 5 + seed as usize % 20, seed % 2 == 0);
        let greedy = checked(&problem, Clustering::Greedy);
        let unfused = checked(&problem, Clustering::Unfused);
        assert_eq!(unfused.cost.loops, problem.items.len());
        let none = checked(&problem, Clustering::Optimal { steps: 0 });
        assert_eq!(none.partition, greedy.partition);
        let tried = [10, 100, 1000, 30_000].map(|steps| {
            let next = checked(&problem, Clustering::Optimal { steps });
            assert!(next.cost <= none.cost, "seed {seed}");
            next
        });
        let last = &tried[3];
        let least = tried.iter().map(|t| t.cost).min();
        assert!(tried.iter().all(|t| Some(t.bound) <= least), "seed {seed}");
        assert!(greedy.cost >= last.cost && greedy.bound <= last.cost);
        assert!(unfused.bound <= last.cost);
        better += (last.cost < greedy.cost) as usize;
        gaps += !greedy.is_proven() as usize;
    }
    assert!(better >= 30, "optimal beat greedy {better} times");
    assert!(gaps >= 30, "greedy had a gap {gaps} times");
}

#[test]
fn one_problem_has_one_answer() {
    for seed in 0..50 {
        let solution = || solve(&random(seed, 30, true), Clustering::default());
        assert_eq!(solution(), solution());
    }
}

#[test]
fn cluster_may_put_a_producer_behind_a_subrates_consumer() {
    let field = |maker, stored| DataField {
        bytes: 64,
        maker,
        stored,
    };
    let item = |at: usize, makes: &[usize], uses: usize| ClusterItem {
        at: smallvec![at],
        makes: SmallVec::from_slice(makes),
        uses: vec![uses],
        ..ClusterItem::default()
    };
    // A filter. After its loop come an array as long as the filter's result, a map, and a pack of
    // the map with an equally long result.
    let mut items = vec![
        item(0, &[1], 0),
        item(1, &[], 0),
        item(0, &[], 0),
        item(0, &[1], 2),
    ];
    items[1..]
        .iter_mut()
        .for_each(|i| i.link(0, Some(Reason::RandomAccess)));
    items[3].link(2, None);
    let problem = Problem {
        items,
        classes: vec![Class::Root, Class::Sub(0)],
        fields: vec![
            field(None, false),
            field(Some(1), true),
            field(Some(2), true),
            field(Some(3), true),
        ],
    };
    let best = checked(&problem, ALL);
    assert_eq!((best.cost, best.cost.loops), (brute_force(&problem), 2));
}

/// Fills loops in a random order that respects dependencies. Returns the classes of each loop, if
/// the partition is allowed.
fn filled_in_order(
    problem: &Problem,
    partition: &Partition,
    rng: &mut Rng,
) -> Option<Vec<(Option<usize>, Vec<usize>)>> {
    let mut loops = OpenLoops::new(problem);
    loops.open_all(partition.count());
    let mut rest: Vec<(Member, usize)> = partition.members().collect();
    while !rest.is_empty() {
        let (Member::Original(first) | Member::Copy(first)) = rest[0].0;
        let waits = |m: Member| {
            let mut links = problem.item(m).links.iter();
            links.any(|k| k.from >= first)
        };
        let ready: Vec<usize> = (0..rest.len()).filter(|k| !waits(rest[*k].0)).collect();
        let (member, l) = rest.remove(rng.pick(&ready));
        let entry = loops.enter(l, member)?;
        loops.put(l, member, &entry);
    }
    let count = partition.count();
    let classes = (0..count).map(|l| (loops.root(l), loops.held(l)));
    loops.are_whole().then(|| classes.collect())
}

#[test]
fn cluster_fits_in_any_order_of_arrival() {
    let (mut allowed, mut refused) = (0, 0);
    for seed in 40_000..46_000 {
        let problem = random(seed, 3 + seed as usize % 6, false);
        let rng = &mut Rng::new(seed);
        let loop_of = |_| rng.range(0, 1);
        let partition = Partition::from((0..problem.items.len()).map(loop_of).collect::<Vec<_>>());
        let mut orders = (0..4).map(|_| filled_in_order(&problem, &partition, rng));
        let first = orders.next().flatten();
        assert!(orders.all(|o| o == first), "seed {seed}: {problem:#?}");
        *(if first.is_some() {
            &mut allowed
        } else {
            &mut refused
        }) += 1;
    }
    assert!(allowed >= 1000 && refused >= 1000, "{allowed}, {refused}");
}
