//! Closures with many conditions: each term is bound once, and untaken arms never trap.

use crate::common::engines;
use livefusion::ast::Kind;
use livefusion::prelude::*;
use livefusion::{Clustering, ErrorKind, Result, stages};
use proptest::prelude::*;

/// Counts the terms of a map's closure, the bound items of its placement, and the lines of its loop.
fn sizes<T: Elt>(ys: &Array<T>) -> (usize, usize, usize) {
    let Kind::Map(body) = &ys.node().kind else {
        panic!("expected a map, got {:?}", ys.node().kind);
    };
    let bound = body.to_string().matches("let ").count();
    let graph = stages::graph(ys).expect("a graph");
    let loops = graph.plan(Clustering::default()).lower().expect("loops");
    (body.terms.len(), bound, loops.to_string().lines().count())
}

/// Asserts at most `each` bound items per term, guards included. An item is a few statements, a condition some more.
fn assert_bound<T: Elt>(ys: &Array<T>, each: usize) {
    let (terms, bound, lines) = sizes(ys);
    assert!(bound <= each * terms, "{bound} bound of {terms}");
    assert!(
        lines <= 4 * each * terms + 100,
        "{lines} lines of {terms} terms"
    );
}

/// Asserts that no term is bound twice, and that a guard costs at most one more term.
fn assert_linear<T: Elt>(ys: &Array<T>) {
    assert_bound(ys, 2);
}

/// Each step keeps the value or divides it, so both arms need the previous step.
fn folded(xs: &Array<i64>, steps: i64, by: i64) -> Array<i64> {
    xs.map(|x| {
        let by = x.min(0).max(0) + by;
        (0..steps).fold(x, |acc, i| x.gt(i).cond(acc, acc / by))
    })
}

#[test]
fn conditions_in_a_chain_bind_each_term_once() -> Result<()> {
    let xs = Array::from(vec![-5000i64, 0, 3, 7, 100_000]);
    for steps in [13, 200] {
        assert_linear(&folded(&xs, steps, 3));
        let plain = |x: i64| (0..steps).fold(x, |acc, i| if x > i { acc } else { acc / 3 });
        let expected: Vec<i64> = xs.to_vec()?.into_iter().map(plain).collect();
        for engine in [Engine::interp(), Engine::jit()] {
            assert_eq!(folded(&xs, steps, 3).force_with(&engine)?, expected);
        }
    }
    Ok(())
}

#[test]
fn conditions_in_a_chain_trap_where_a_quotient_is_taken() {
    let xs = Array::from(vec![500i64, 300, 7, 8]);
    for engine in engines() {
        let error = folded(&xs, 200, 0).force_with(&engine).err();
        let of_third = ErrorKind::Division {
            dividend: 7,
            divisor: 0,
        };
        assert_eq!(
            error.map(|e| (e.kind, e.element)),
            Some((of_third, Some(2)))
        );
    }
}

/// Square-and-multiply over the bits of an exponent, highest first.
#[test]
fn conditions_on_bits_take_a_power_modulo_a_number() -> Result<()> {
    const M: u64 = 1_000_003;
    let bases = Array::from(vec![2u64, 3, 10, 999_999]);
    let powers = |exponent: u64| {
        let is_set = Array::from(
            (0..64)
                .rev()
                .map(|b| exponent >> b & 1 == 1)
                .collect::<Vec<_>>(),
        );
        let modulo = Array::from(vec![M]);
        bases.map(|b| {
            let m = modulo.at(0u64.to_exp());
            (0..64u64).fold(b / b, |acc, bit| {
                let square = acc * acc % m;
                is_set.at(bit.to_exp()).cond(square * b % m, square)
            })
        })
    };
    assert_linear(&powers(0));
    for exponent in [0u64, 1, 2, 65_537, u64::MAX] {
        let plain = |b: u64| {
            (0..64).rev().fold(1, |acc, bit| {
                let square = acc * acc % M;
                if exponent >> bit & 1 == 1 {
                    square * b % M
                } else {
                    square
                }
            })
        };
        let expected: Vec<u64> = bases.to_vec()?.into_iter().map(plain).collect();
        for engine in [Engine::interp(), Engine::jit()] {
            assert_eq!(powers(exponent).force_with(&engine)?, expected);
        }
    }
    Ok(())
}

/// A state advances through a table or stays. A state outside the table is an error only if it advances.
#[test]
fn conditions_of_a_state_machine_read_its_table_once_a_step() -> Result<()> {
    let table = Array::from(vec![1u64, 2, 3, 9, 0]);
    let run = |xs: &Array<u64>| {
        xs.map(|x| {
            (0..24u64).fold(x % 5, |state, bit| {
                let is_set = (x >> bit & 1).eq(1);
                is_set.cond(table.at(state), state)
            })
        })
    };
    let next = [1u64, 2, 3, 9, 0];
    let plain = |x: u64| {
        (0..24).try_fold(x % 5, |s, bit| match x >> bit & 1 {
            1 => next.get(s as usize).copied(),
            _ => Some(s),
        })
    };
    let (fine, expected): (Vec<u64>, Vec<u64>) =
        (0..500).filter_map(|x| Some((x, plain(x)?))).unzip();
    assert!(fine.len() > 100);
    let xs = Array::from(fine);
    assert_linear(&run(&xs));
    // Transitions from 0: 1, 2, 3, 9, and so on.
    let outside = Array::from(vec![0u64, 0b1_1110_1111, 1]);
    for engine in [Engine::interp(), Engine::jit()] {
        assert_eq!(run(&xs).force_with(&engine)?, expected);
        let error = run(&outside).force_with(&engine).err();
        let kind = ErrorKind::OutOfRange { index: 9, len: 5 };
        assert_eq!(error.map(|e| (e.kind, e.element)), Some((kind, Some(1))));
    }
    Ok(())
}

/// Two conditions use each step, in one arm each. A step is needed if either condition takes that arm.
fn in_parts(xs: &Array<i64>, steps: i64) -> Array<i64> {
    xs.map(|x| {
        (0..steps).fold(x, |t, i| {
            let (first, second) = (x.gt(i), x.lt(2 * i));
            first.cond(t / (x - 60), 0) + second.cond(t / (x - 70), 1)
        })
    })
}

#[test]
fn conditions_that_share_a_quotient_in_some_arms_bind_it_once() -> Result<()> {
    let steps = 40;
    let plain = |x: i64| {
        (0..steps).try_fold(x, |t, i| {
            let first = if x > i { t.checked_div(x - 60)? } else { 0 };
            let second = if x < 2 * i { t.checked_div(x - 70)? } else { 1 };
            Some(first + second)
        })
    };
    let fine: Vec<i64> = (-5..50).collect();
    let xs = Array::from(fine.clone());
    assert_linear(&in_parts(&xs, steps));
    let expected: Vec<Option<i64>> = fine.iter().map(|x| plain(*x)).collect();
    for engine in [Engine::interp(), Engine::jit()] {
        let got = in_parts(&xs, steps).force_with(&engine)?.into_vec()?;
        assert_eq!(got.into_iter().map(Some).collect::<Vec<_>>(), expected);
        // 70 is not below any `2 * i`, so its second divisor, zero, is never used.
        for (x, fails) in [(60, true), (70, false)] {
            let xs = Array::from(vec![3, x]);
            let error = in_parts(&xs, 30).force_with(&engine).err();
            let element = error.as_ref().and_then(|e| e.element);
            assert_eq!(element, fails.then_some(1), "{error:?}");
        }
    }
    Ok(())
}

/// The second condition tests the first one's result. The guard evaluates a copy of the test without the quotient.
#[test]
fn conditions_that_depend_on_each_other_share_a_quotient() -> Result<()> {
    let chain = |xs: &Array<i64>, steps: usize| {
        xs.map(|y| {
            (0..steps).fold(100i64.to_exp(), |acc: Exp<i64>, _| {
                let q = (acc + 7) / y;
                let a = y.ne(0).cond(q, 0);
                a.gt(3).cond(q + 1, a)
            })
        })
    };
    let plain = |y: i64, steps: usize| {
        (0..steps).fold(100i64, |acc, _| {
            let a = if y == 0 { 0 } else { (acc + 7) / y };
            if a > 3 { a + 1 } else { a }
        })
    };
    let elements = [0i64, 7, 50, -3, 1];
    let xs = Array::from(elements.to_vec());
    for steps in [1, 2, 40] {
        assert_linear(&chain(&xs, steps));
        for engine in engines() {
            let got = chain(&xs, steps).force_with(&engine)?;
            assert_eq!(got, elements.map(|y| plain(y, steps)));
        }
    }
    Ok(())
}

/// At most one arm is entered. A few arms bind the quotient themselves, without a guard that evaluates all tests.
#[test]
fn conditions_that_exclude_each_other_copy_a_quotient() -> Result<()> {
    let chain = |xs: &Array<i64>, arms: i64| {
        xs.map(|x| {
            let q = 60 / x;
            (1..=arms).fold((-1i64).to_exp(), |other, k| x.eq(k).cond(q + k, other))
        })
    };
    let xs = Array::from(vec![0i64, 1, 2, 5, 6]);
    for (arms, quotients) in [(1, 1), (2, 2), (4, 4), (5, 1), (40, 1)] {
        let ys = chain(&xs, arms);
        let Kind::Map(body) = &ys.node().kind else {
            panic!("expected a map");
        };
        let text = body.to_string();
        assert_eq!(text.matches("= div ").count(), quotients, "{text}");
        let plain = |x: i64| match (1..=arms).contains(&x) {
            true => 60 / x + x,
            false => -1,
        };
        for engine in engines() {
            assert_eq!(ys.force_with(&engine)?, [0, 1, 2, 5, 6].map(plain));
        }
    }
    Ok(())
}

/// Two conditions share one test, and the first is an arm of the third, so they share no arms.
#[test]
fn conditions_on_one_test_may_be_arms_of_each_other() -> Result<()> {
    let xs = Array::from(vec![5i64, -2, 2, 0]);
    let ys = xs.map(|x| {
        let (near, far) = (x + 3, x + 10);
        let either = x.gt(0).cond(far, near);
        let first = x.gt(-1).cond(far, either);
        let second = x.gt(-1).cond(either, far);
        let third = x.gt(-1).cond(first, far);
        second * 100 / third + x.gt(0).cond(0, first)
    });
    for engine in engines() {
        assert_eq!(ys.force_with(&engine)?, [100, 101, 100, 40]);
    }
    Ok(())
}

/// The second test of a step divides a quotient that the first condition may have requested.
#[test]
fn conditions_whose_tests_divide_quotients_of_arms_bind_them_once() -> Result<()> {
    let xs = Array::from(vec![2i64, 3, 7]);
    let chain = |steps: usize| {
        xs.map(|y| {
            (0..steps).fold(y * 100, |acc, _| {
                let q = acc / y;
                let a = y.ne(0).cond(q, 0);
                (a / y).gt(0).cond(q + 1, a)
            })
        })
    };
    let plain = |y: i64, steps: usize| {
        (0..steps).fold(y * 100, |acc, _| {
            let q = acc / y;
            if q / y > 0 { q + 1 } else { q }
        })
    };
    for steps in [3, 24] {
        assert_linear(&chain(steps));
        let expected = [2, 3, 7].map(|y| plain(y, steps));
        for engine in [Engine::interp(), Engine::jit()] {
            assert_eq!(chain(steps).force_with(&engine)?, expected);
        }
    }
    Ok(())
}

/// A guard cannot copy a test that reads: each step copies all earlier ones into two arms, and ends in an error.
#[test]
fn conditions_that_copy_copies_of_reads_are_an_error() {
    let table = Array::from(vec![0i64, 1, 2, 3]);
    let chain = |steps: usize| {
        let xs = Array::from(vec![2u64, 3]);
        let table = &table;
        xs.map(|y| {
            (0..steps).fold(y, |acc, _| {
                let read = table.at(acc).cast::<u64>();
                let a = y.ne(0).cond(read, 0);
                table.at(a).gt(0).cond(read, a)
            })
        })
    };
    for engine in [Engine::interp(), Engine::jit()] {
        let got = chain(3).force_with(&engine).map(|ys| ys.to_vec());
        assert_eq!(got.expect("few copies").expect("values"), [2, 3]);
        let error = chain(40).force_with(&engine).err();
        let text = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(
            text.contains("arms in a closure, with copies, got more"),
            "{text}"
        );
    }
}

/// The arms that are not taken hold an endless loop and an out-of-bounds read.
#[test]
fn conditions_guard_reads_and_loops_of_several_arms() -> Result<()> {
    let table = Array::from(vec![10u64, 20, 30]);
    let twice = |xs: &Array<u64>| {
        xs.map(|x| {
            let read = table.at(x);
            let halved = while_loop(x, |s| s.ne(0), |s| s - s.ne(9).cond(1u64, 0u64));
            let small = x.lt(3);
            let first = small.cond(read + halved, 0);
            let second = x.lt(2).cond(read * 2 + halved, 1);
            first + second
        })
    };
    let xs = Array::from(vec![0u64, 1, 2, 3, 9]);
    for engine in engines() {
        assert_eq!(twice(&xs).force_with(&engine)?, [30, 60, 31, 1, 1]);
    }
    let ys = twice(&xs);
    let Kind::Map(body) = &ys.node().kind else {
        panic!("expected a map");
    };
    let text = body.to_string();
    assert_eq!(text.matches("= at ").count(), 1, "{text}");
    assert_eq!(text.matches("= while ").count(), 1, "{text}");
    Ok(())
}

/// A term of a random closure. Operands count back from the last term, or are the element.
#[derive(Clone, Debug)]
enum Step {
    Add(usize, usize),
    Div(usize, usize),
    /// A condition: whether the element is above a number. Then the two arms.
    OfElement(i64, usize, usize),
    /// The same condition on a term.
    OfTerm(usize, i64, usize, usize),
}

const ELEMENT: usize = usize::MAX;

/// The index of an operand among `terms` terms.
fn place(back: usize, terms: usize) -> usize {
    match back {
        ELEMENT => 0,
        _ => terms - 1 - back % terms,
    }
}

/// Terms with shared arms. If `of_terms`, conditions may test any term, and guards evaluate copies of the tests.
fn nests(of_terms: bool) -> impl Strategy<Value = Vec<Step>> {
    let near = || 0..5usize;
    let step = prop_oneof![
        2 => (near(), near()).prop_map(|(a, b)| Step::Add(a, b)),
        4 => (near(), near()).prop_map(|(a, b)| Step::Div(a, b)),
        6 => (-3..4i64, near(), near()).prop_map(|(k, a, b)| Step::OfElement(k, a, b)),
        u32::from(of_terms) => (near(), -3..4i64, near(), near()).prop_map(|(t, k, a, b)| Step::OfTerm(t, k, a, b)),
    ];
    prop::collection::vec(step, 1..60)
}

/// Each condition needs the previous one in both arms.
fn chains() -> impl Strategy<Value = Vec<Step>> {
    let link = (-3..4i64, any::<bool>(), any::<bool>()).prop_map(|(k, of_term, swapped)| {
        let (a, b) = if swapped { (1, 0) } else { (0, 1) };
        let condition = match of_term {
            true => Step::OfTerm(1, k, a, b),
            false => Step::OfElement(k, a, b),
        };
        [Step::Div(0, ELEMENT), condition, Step::Add(0, ELEMENT)]
    });
    prop::collection::vec(link, 1..200).prop_map(|links| links.concat())
}

fn lazy(xs: &Array<i64>, steps: &[Step]) -> Array<i64> {
    xs.map(|x| {
        let mut all = vec![x, x + 3];
        for step in steps {
            let of = |back: &usize| all[place(*back, all.len())];
            let next = match step {
                Step::Add(a, b) => of(a) + of(b),
                Step::Div(a, b) => of(a) / of(b),
                Step::OfElement(k, a, b) => x.gt(*k).cond(of(a), of(b)),
                Step::OfTerm(t, k, a, b) => of(t).gt(*k).cond(of(a), of(b)),
            };
            all.push(next);
        }
        all[all.len() - 1] + x
    })
}

/// Evaluates one element in plain Rust, on demand. Returns `None` for a failed division.
fn plain(x: i64, steps: &[Step]) -> Option<i64> {
    fn term(at: usize, x: i64, steps: &[Step], known: &mut Vec<Option<i64>>) -> Option<i64> {
        if let Some(value) = known[at] {
            return Some(value);
        }
        let mut of = |back: &usize| term(place(*back, at), x, steps, known);
        let value = match &steps[at - 2] {
            Step::Add(a, b) => of(a)?.wrapping_add(of(b)?),
            Step::Div(a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                a.checked_div(b)?
            }
            Step::OfElement(k, a, b) => of(if x > *k { a } else { b })?,
            Step::OfTerm(t, k, a, b) => {
                let taken = if of(t)? > *k { a } else { b };
                of(taken)?
            }
        };
        known[at] = Some(value);
        Some(value)
    }
    let mut known = vec![None; steps.len() + 2];
    (known[0], known[1]) = (Some(x), Some(x.wrapping_add(3)));
    let last = term(steps.len() + 1, x, steps, &mut known)?;
    Some(last.wrapping_add(x))
}

/// Forces a closure on both engines. Compares values, or the first failing element, with plain Rust.
fn assert_as_plain(steps: &[Step]) -> std::result::Result<(), TestCaseError> {
    let elements = [5i64, -2, 2, 1, -3, 0, 9];
    let expected: Vec<Option<i64>> = elements.iter().map(|x| plain(*x, steps)).collect();
    let first = expected.iter().position(Option::is_none);
    let xs = Array::from(elements.to_vec());
    for engine in [Engine::interp(), Engine::jit()] {
        match lazy(&xs, steps).force_with(&engine) {
            Ok(got) => {
                let got = got.to_vec().expect("an array in memory");
                let got: Vec<Option<i64>> = got.into_iter().map(Some).collect();
                prop_assert_eq!(&got, &expected);
            }
            Err(error) => {
                prop_assert!(
                    matches!(error.kind, ErrorKind::Division { .. }),
                    "{}",
                    error
                );
                prop_assert_eq!(error.element, first.map(|at| at as u64), "{}", error);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conditions_at_random_are_as_in_plain_rust(steps in nests(true)) {
        assert_as_plain(&steps)?;
    }

    #[test]
    fn conditions_of_elements_bind_in_proportion_to_their_terms(steps in nests(false)) {
        // A guard evaluates the tests on the path to each of its arms.
        assert_bound(&lazy(&Array::from(vec![1i64]), &steps), 6);
        assert_as_plain(&steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conditions_in_random_chains_bind_in_proportion_to_their_terms(steps in chains()) {
        assert_linear(&lazy(&Array::from(vec![1i64]), &steps));
        assert_as_plain(&steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conditions_in_long_nests_bind_in_proportion_to_their_terms(parts in prop::collection::vec(nests(true), 12)) {
        let steps = parts.concat();
        // Guards contain copies of tests.
        assert_bound(&lazy(&Array::from(vec![1i64]), &steps), 16);
        assert_as_plain(&steps)?;
    }
}
