//! Semantics of exits: elements after one are not computed and cannot fail.
//!
//! The exception is a request by another consumer. First the naive evaluator defines it for all
//! plans; then tests count the reads of current plans.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::runtime::force_nodes;
use livefusion_tests::catalog::counting::work;
use livefusion_tests::check::against_naive;
use livefusion_tests::naive::{Expected, Naive, Schedule, order, reachable};
use livefusion_tests::program::{Body, Program, Step, Term};
use loop_lang::ir::TrapKind;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A schedule with everything in one loop, and nothing in memory.
struct Together(Vec<Arc<Node>>);

impl Schedule for Together {
    fn place(&self, node: &Arc<Node>) -> Option<(usize, u32)> {
        let at = self.0.iter().position(|n| Arc::ptr_eq(n, node))?;
        Some((0, at as u32))
    }
    fn combinators(&self, node: &Arc<Node>, _: usize, _: TrapKind) -> Option<RangeInclusive<u32>> {
        self.place(node).map(|(_, comb)| comb..=comb)
    }
    fn runs_in_any_order(&self, _: usize) -> bool {
        false
    }
    fn is_inlined(&self, _: &Arc<Node>) -> bool {
        false
    }
    fn is_kept(&self, _: &Arc<Node>) -> bool {
        false
    }
    fn built(&self, node: &Arc<Node>) -> Option<Arc<Node>> {
        Some(node.clone())
    }
}

/// The expected outcome of results.
fn meaning(results: impl Force) -> &'static str {
    let mut roots = Vec::new();
    results.nodes(&mut roots);
    let mut naive = Naive::default();
    roots.iter().for_each(|r| drop(naive.eval(r)));
    let mut nodes = reachable(&roots);
    nodes.reverse();
    match order::expected(&naive, &roots, &Together(nodes)) {
        Expected::Values => "values",
        Expected::ValuesOr(_) => "values or a trap",
        Expected::Traps(_) => "a trap",
        Expected::SomeTrap | Expected::Unknown => "anything",
    }
}

/// 1, 2, 4, an error, 1.
fn quotients() -> Array<i64> {
    Array::from([8i64, 4, 2, 0, 5]).map(|x| 8 / x)
}

/// Quotients in segments of two and three.
fn rows() -> Segmented<i64> {
    Segmented::new(&Array::from([2u64, 3]), &quotients())
}

#[test]
fn behind_an_exit_nothing_fails() {
    let ones = || Array::from([1i64; 5]);
    macro_rules! values {
        ($($what:literal: $results:expr;)*) => {
            $(assert_eq!(meaning($results), "values", $what);)*
        };
    }
    values! {
        "find": quotients().find(|q| q.eq(2));
        "position": quotients().position(|q| q.eq(4));
        "any": quotients().any(|q| q.gt(1));
        "all": quotients().all(|q| q.lt(2));
        "first": quotients().first();
        "take_while": quotients().take_while(|q| q.lt(4)).sum();
        "take": quotients().take(3);
        "reverse, first": quotients().reverse().first();
        "filter, find": quotients().filter(|q| q.gt(1)).find(|q| q.eq(4));
        "filter, any": quotients().filter(|q| q.gt(1)).any(|q| q.eq(2));
        "filter, position": quotients().filter(|q| q.gt(1)).position(|q| q.eq(4));
        "filter, take": quotients().filter(|q| q.gt(1)).take(2);
        "filter, take none": quotients().filter(|q| q.gt(1)).take(0);
        "filter, filter, take": quotients().filter(|q| q.gt(0)).filter(|q| q.gt(1)).take(1);
        "unique, take": quotients().unique().take(2);
        "scan, take_while": quotients().scan(0, |a, b| a + b).take_while(|s| s.lt(5));
        "scan, take": quotients().scan(0, |a, b| a + b).take(3);
        "zip, find": quotients().zip(&ones()).find(|(q, one)| q.gt(one));
        "zip_shortest of filters, find":
            zip_shortest((&quotients().filter(|q| q.gt(1)), &ones())).find(|(q, _)| q.eq(4));
        "append, find": quotients().append(&ones()).find(|q| q.eq(2));
        "flat-map, find":
            Segmented::replicate(&Array::from([2u64, 0, 1, 1, 1]), &quotients()).data().find(|q| q.eq(4));
        "flat-map, take":
            Segmented::replicate(&Array::from([2u64, 0, 1, 1, 1]), &quotients()).data().take(3);
        "scans of segments, take_while":
            rows().scan(0, |a, b| a + b).data().take_while(|s| s.lt(3));
        "sums of segments, first": rows().sum().first();
        "two exits": (&quotients().find(|q| q.eq(2)), &quotients().any(|q| q.gt(3)));
    }
}

#[test]
fn exit_that_is_asked_for_fails() {
    macro_rules! fails {
        ($($what:literal: $results:expr;)*) => {
            $(assert_eq!(meaning($results), "a trap", $what);)*
        };
    }
    let shared = quotients();
    fails! {
        "a find that finds nothing": quotients().find(|q| q.eq(100));
        "an all that is so": quotients().all(|q| q.lt(100));
        "one too many": quotients().take(4);
        "backwards": quotients().reverse().take(2);
        "more than a filter leaves": quotients().filter(|q| q.gt(1)).take(9);
        "the end of a filter": quotients().filter(|q| q.gt(1)).len();
        "the sum of a later segment": rows().sum().take(2);
        "a find, and a sum of the same": (&shared.find(|q| q.eq(2)), &shared.sum());
        "two exits, one of them late": (&shared.find(|q| q.eq(2)), &shared.take(4));
    }
}

/// An exclusive scan does not need the element at its last step, but a loop may compute it.
#[test]
fn beside_what_is_asked_for_may_fail() {
    let sums = quotients().scan_exclusive(0, |a, b| a + b);
    let small = sums.take_while(|s| s.lt(7));
    assert_eq!(meaning(&small), "values or a trap");
}

/// The number of elements that a program over 0, 1, .. 999 reads.
fn reads<R: Force>(program: impl Fn(&Array<i64>) -> R) -> u64 {
    let xs: Array<i64> = (0..1000).collect();
    let done = work(|engine| drop(program(&xs).force_with(engine).expect("it runs")));
    done.reads()
}

macro_rules! reading {
    ($($what:literal, $n:literal: $program:expr;)*) => {
        assert_eq!([$(($what, reads($program))),*], [$(($what, $n)),*]);
    };
}

/// The loop ends with the deciding element.
#[test]
fn nothing_behind_an_exit_is_read() {
    reading! {
        "map, find", 101: |xs| xs.map(|x| x * 2).find(|x| x.eq(200));
        "map, position", 101: |xs| xs.map(|x| x * 2).position(|x| x.eq(200));
        "map, any", 101: |xs| xs.map(|x| x * 2).any(|x| x.eq(200));
        "map, all", 101: |xs| xs.map(|x| x * 2).all(|x| x.lt(200));
        "map, first", 1: |xs| xs.map(|x| x * 2).first();
        "map, take", 100: |xs| xs.map(|x| x * 2).take(100);
        "map, take_while", 101: |xs| xs.map(|x| x * 2).take_while(|x| x.lt(200));
        "take_while, sum", 101: |xs| xs.take_while(|x| x.lt(100)).sum();
        "take_while, filter, sum", 101:
            |xs| xs.take_while(|x| x.lt(100)).filter(|x| (x % 2).eq(0)).sum();
        "scan, take_while", 101: |xs| xs.scan(0, |a, b| a.max(b)).take_while(|x| x.lt(100));
        "zip, find", 202: |xs| xs.zip(&xs.reverse()).find(|(x, _)| x.eq(100));
        "windows, find", 202: |xs| xs.windows(Boundary::Clamp, |[a, _, c]| a + c).find(|x| x.eq(200));
        "append, find", 101: |xs| xs.append(xs).find(|x| x.eq(100));
        "interleave, find", 201: |xs| xs.interleave(xs).find(|x| x.eq(100));
        "filter, find", 101: |xs| xs.filter(|x| (x % 2).eq(0)).find(|x| x.eq(100));
        "filter, any", 101: |xs| xs.filter(|x| (x % 2).eq(0)).any(|x| x.eq(100));
        "filter, first", 1: |xs| xs.filter(|x| (x % 2).eq(0)).first();
        "filter, take", 99: |xs| xs.filter(|x| (x % 2).eq(0)).take(50);
        "filter, take none", 0: |xs| xs.filter(|x| (x % 2).eq(0)).take(0);
        "unique, find", 101: |xs| xs.unique().find(|x| x.eq(100));
        "unique, take", 50: |xs| xs.unique().take(50);
        "scan, take", 50: |xs| xs.scan(0, |a, b| a + b).take(50);
        "zip of filters, find", 203: |xs| {
            let [a, b] = [0, 1].map(|odd| xs.filter(|x| (x % 2).eq(odd)));
            a.zip(&b).find(|(x, _)| x.eq(100))
        };
        "reverse, find", 101: |xs| xs.reverse().find(|x| x.eq(899));
    }
}

/// A loop over segments ends with the deciding element. It also reads the segments' lengths or
/// values only up to there.
#[test]
fn no_segment_behind_an_exit_is_read() {
    reading! {
        "flat-map, find", 101:
            |xs| Segmented::replicate(&xs.map(|x| x % 3), xs).data().find(|x| x.eq(100));
        "flat-map, take", 101: |xs| Segmented::replicate(&xs.map(|x| x % 3), xs).data().take(100);
        "filter of a flat-map, take", 101:
            |xs| Segmented::replicate(&xs.map(|x| x % 3), xs).data().filter(|x| x.ge(0)).take(100);
        "flat-map, two takes", 101: |xs| {
            let all = Segmented::replicate(&xs.map(|x| x % 3), xs);
            (all.data().take(100), all.data().map(|x| x * 2).take(50))
        };
        "scans of segments, take_while", 121: |xs| {
            let rows = Segmented::new(&Array::from([10u64; 100]), xs);
            rows.scan(0, |a, b| a + b).data().take_while(|x| x.lt(1000))
        };
        "sums of segments, find", 121: |xs| {
            let rows = Segmented::new(&Array::from([10u64; 100]), xs);
            rows.sum().find(|x| x.eq(1045))
        };
    }
}

/// Reads with another consumer that continues.
#[test]
fn exit_reads_elements_that_others_ask_for() {
    reading! {
        "two finds", 602: |xs| (xs.find(|x| x.eq(100)), xs.find(|x| x.eq(500)));
        "find, and a sum", 1000: |xs| (xs.find(|x| x.eq(100)), xs.sum());
    }
}

/// The loop ends with the last of many exits.
#[test]
fn many_exits_end_their_loop() {
    let xs: Array<i64> = (0..1000).collect();
    let doubled = xs.map(|x| x * 2);
    let roots: Vec<Arc<Node>> = (0..100)
        .map(|k| doubled.take_while(|x| x.lt(2 * k)).sum().node().clone())
        .collect();
    let mut loops = 0;
    let done = work(|engine| {
        let explained = engine.explain(&roots).expect("it is planned");
        loops = explained.loops.len() as u64;
        drop(force_nodes(engine, &roots).expect("it runs"));
    });
    assert!(done.reads() <= 100 * loops, "{} of {loops}", done.reads());
    assert!(loops <= 8, "{loops}");
}

/// A `take` of a pack limits the capacity of its own result only, not that of the pack's other
/// consumers.
#[test]
fn a_take_limits_nobody_else() -> livefusion::Result<()> {
    let xs: Array<i64> = (0..20).collect();
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        let kept = xs.pack(&xs.map(|x| (x % 2).eq(0)));
        let (first, some) = (kept.take(2).sum(), kept.gather(&Array::from([9u64, 0])));
        let (first, some) = (&first, &some).force_with(&engine)?;
        assert_eq!((first, some.to_vec()?), (2, vec![18, 0]));
    }
    Ok(())
}

/// A body without loops.
fn body(params: &[Ty], terms: Vec<Term>, result: usize) -> Body {
    Body {
        params: params.to_vec(),
        terms,
        results: vec![result],
        ..Body::default()
    }
}

/// Elements of segments in memory, one for each kept element, and a take of the kept elements. The
/// take ends, and the filter continues for the segments.
fn segments_beside_a_take(data: &[f64], lengths: &[u64], taken: u64) -> Program {
    let second = || body(&[Ty::U64, Ty::F64], vec![Term::Param(0), Term::Param(1)], 1);
    let test = vec![
        Term::Param(0),
        Term::Lit(Const::f64(7.5)),
        Term::Op(Op::Ge, vec![0, 1]),
    ];
    let rest = vec![
        Term::Param(0),
        Term::Cast(0, Ty::U64),
        Term::Lit(Const::u64(4)),
        Term::Op(Op::Rem, vec![1, 2]),
    ];
    let first = vec![
        Term::Param(0),
        Term::Lit(Const::u64(0)),
        Term::At(5, 0, 1, false),
    ];
    let data = data.iter().map(|x| x.to_bits()).collect();
    Program {
        steps: vec![
            Step::Data(vec![(Ty::F64, data)]),
            Step::Data(vec![(Ty::U64, lengths.to_vec())]),
            Step::Expand(1, vec![0], second()),
            Step::Filter(2, body(&[Ty::F64], test, 2)),
            Step::Map(vec![3], body(&[Ty::F64], rest, 3)),
            Step::Expand(4, vec![3], second()),
            Step::Take(3, body(&[], vec![Term::Lit(Const::u64(taken))], 0)),
            Step::Append(vec![6, 5]),
            Step::Map(vec![5], body(&[Ty::F64], first, 2)),
        ],
        roots: vec![7, 8],
    }
}

/// A wired program found this. The plan rematerialises the filter for the append's first part, and
/// reads the segments' elements from memory there.
#[test]
fn take_of_a_filter_beside_its_segments_in_memory_ends_alone() {
    let many: Vec<f64> = (0..40).map(|k| f64::from(k * 7 % 23)).collect();
    let lengths: Vec<u64> = (0..40).map(|k| k % 3).collect();
    let inputs: [(&[f64], &[u64]); 3] = [
        (&[], &[]),
        (&[9.0, 1.0, 11.0], &[2, 1, 1]),
        (&many, &lengths),
    ];
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        for (data, lengths) in inputs {
            for taken in [0, 1, 3, 100] {
                let program = segments_beside_a_take(data, lengths, taken);
                against_naive(&program, &engine).expect("as the naive evaluator has it");
            }
        }
    }
}

/// An array of one element, and segments that no element is needed of: their elements are read from a `take` of none of
/// a `take` whose number divides by zero. The array's element divides by zero, too, if `both`.
fn take_none_of_a_take_that_fails(both: bool) -> Program {
    let divided = |by: u64, params: &[Ty]| {
        let terms = [100, by].map(|n| Term::Lit(Const::u64(n)));
        let terms = terms.into_iter().chain([Term::Op(Op::Div, vec![0, 1])]);
        body(params, terms.collect(), 2)
    };
    let zero = Term::Lit(Const::u64(0));
    Program {
        steps: vec![
            Step::Data(vec![(Ty::U64, vec![0])]),
            Step::Map(vec![0], divided(u64::from(!both), &[Ty::U64])),
            Step::Data(vec![(Ty::U64, vec![])]),
            Step::Take(2, divided(0, &[])),
            Step::Take(3, body(&[], vec![zero.clone()], 0)),
            Step::Map(vec![4], body(&[Ty::U64], vec![zero.clone()], 0)),
            Step::Expand(
                0,
                vec![0],
                body(&[Ty::U64; 2], vec![zero, Term::At(5, 0, 0, false)], 1),
            ),
        ],
        roots: vec![1, 6],
    }
}

/// A hunt found this. A loop computes the number of each `take` at its entry, and may report it.
#[test]
fn take_none_of_a_take_that_fails_may_fail_first() {
    for engine in [Engine::interp(), Engine::jit(), Engine::c()] {
        for both in [false, true] {
            let program = take_none_of_a_take_that_fails(both);
            let ran = against_naive(&program, &engine).expect("as the naive evaluator has it");
            let error = ran.result.expect_err("the number of the take");
            assert_eq!(error.combinator, "step3", "{error}");
        }
    }
}
