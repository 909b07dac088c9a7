//! Random nests of loops over arrays, forced and prepared, against plain loops.

use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{Clustering, Result};

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        let next = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d);
        self.0 = next.wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % n
    }
}

/// An operation on an array. Numbers refer to the arrays in scope: the inputs, and the state of
/// each enclosing loop where the next loop began.
#[derive(Debug)]
enum Op {
    /// `3 * x + k`.
    Map(i64),
    Reverse,
    Scan,
    /// Combines with another array, element by element.
    With(usize),
    /// Combines with a function of another array, which no step changes.
    Invariant(Function, usize),
    /// Adds the sum of another array.
    Total(usize),
    /// Scatters another array, at indices from the array itself.
    Scatter(usize),
    /// Updates one element, from itself and another array's element.
    Update(usize),
    /// Repeats operations a number of times.
    Loop(Times, Vec<Op>),
    /// Repeats while the sum and the count allow it.
    While(i64, Vec<Op>),
    /// Chooses by the remainder of another array's sum. The second side divides by it.
    Choice(usize, [Vec<Op>; 2]),
}

/// Functions of an array, cheap and costly.
#[derive(Clone, Copy, Debug)]
enum Function {
    Cheap,
    Costly,
    /// Costly, and read in reverse.
    Reversed,
    /// A sum of two costly functions of neighbours.
    Neighbours,
}

impl Function {
    fn of(self, xs: &Array<i64>) -> Array<i64> {
        let costly = || xs.map(|x| x * x % 89 + 1);
        match self {
            Function::Cheap => xs.map(|x| x + 7),
            Function::Costly => costly(),
            Function::Reversed => costly().reverse(),
            Function::Neighbours => costly().stencil1(Boundary::Clamp, |[a, b]| a + b % 5),
        }
    }

    fn plain(self, xs: &[i64]) -> Vec<i64> {
        let costly = |x: &i64| x * x % 89 + 1;
        match self {
            Function::Cheap => xs.iter().map(|x| x + 7).collect(),
            Function::Costly => xs.iter().map(costly).collect(),
            Function::Reversed => xs.iter().rev().map(costly).collect(),
            Function::Neighbours => {
                let before = |k: usize| costly(&xs[k.saturating_sub(1)]);
                let all = xs.iter().enumerate();
                all.map(|(k, x)| before(k) + costly(x) % 5).collect()
            }
        }
    }
}

#[derive(Debug)]
enum Times {
    Known(u64),
    /// The count comes from the sum of an array.
    Of(usize),
}

fn ops(dice: &mut Dice, depth: usize) -> Vec<Op> {
    let count = 1 + dice.below(3);
    let op = |dice: &mut Dice| match dice.below(if depth < 3 { 16 } else { 11 }) {
        0 | 1 => Op::Map(dice.below(9) as i64),
        2 => Op::Reverse,
        3 => Op::Scan,
        4 => Op::With(dice.below(9)),
        5 | 6 => Op::Total(dice.below(9)),
        7 => Op::Scatter(dice.below(9)),
        8 => Op::Update(dice.below(9)),
        9 | 10 => {
            let all = [
                Function::Cheap,
                Function::Costly,
                Function::Reversed,
                Function::Neighbours,
            ];
            Op::Invariant(all[dice.below(4)], dice.below(9))
        }
        11 => Op::While(dice.below(4) as i64, ops(dice, depth + 1)),
        12 | 13 => {
            let sides = [depth + 1, depth + 1].map(|depth| ops(dice, depth));
            Op::Choice(dice.below(9), sides)
        }
        _ => {
            let times = match dice.below(2) {
                0 => Times::Known(dice.below(4) as u64),
                _ => Times::Of(dice.below(9)),
            };
            Op::Loop(times, ops(dice, depth + 1))
        }
    };
    (0..count).map(|_| op(dice)).collect()
}

fn build(ops: &[Op], start: &Array<i64>, seen: &[Array<i64>]) -> Array<i64> {
    ops.iter().fold(start.clone(), |xs, op| {
        let other = |k: &usize| &seen[k % seen.len()];
        let around = || [seen, std::slice::from_ref(&xs)].concat();
        match op {
            Op::Map(k) => xs.map(|x| (x * 3 + *k) % 101),
            Op::Reverse => xs.reverse(),
            Op::Scan => xs.scan(0, |a, b| a + b).map(|x| x % 101),
            Op::With(k) => xs.zip_with(other(k), |x, y| (x + y * 2) % 101),
            Op::Invariant(function, k) => {
                let other = function.of(other(k));
                xs.zip_with(&other, |x, y| (x * 2 + y) % 101)
            }
            Op::Total(k) => {
                let total = other(k).sum();
                xs.map(|x| (x + total.value()) % 101)
            }
            Op::Scatter(k) => {
                let len = xs.len();
                let indices = xs.map(|x| x.cast::<u64>() % len.value());
                xs.scatter_with(&indices, other(k), |x, y| (x + y) % 101)
            }
            Op::Update(k) => {
                let sum = (xs.first(), other(k).first());
                xs.update(0, &((sum.0 + sum.1) % 101))
            }
            Op::Loop(times, body) => {
                let around = around();
                let step = |xs: Array<i64>| build(body, &xs, &around);
                match times {
                    Times::Known(n) => iterate_n(*n, &xs, step),
                    Times::Of(k) => {
                        let times = other(k).sum().map(|s| (s % 4).cast::<u64>());
                        iterate_n(&times, &xs, step)
                    }
                }
            }
            Op::While(most, body) => {
                let around = around();
                let test = |(xs, k): (Array<i64>, Array<i64, Ix0>)| {
                    xs.sum().map(|s| (s % 7).ne(0) & k.value().lt(*most))
                };
                let step =
                    |(xs, k): (Array<i64>, Array<i64, Ix0>)| (build(body, &xs, &around), k + 1);
                iterate_while((&xs, &Array::scalar(0i64)), test, step).0
            }
            Op::Choice(k, sides) => {
                let (around, rest) = (around(), other(k).sum().map(|s| s % 3));
                let [then, otherwise] = [0, 1].map(|k| build(&sides[k], &xs, &around));
                let otherwise = otherwise.map(|x| x + 12 / rest.value());
                rest.eq(0).cond(&then, &otherwise)
            }
        }
    })
}

fn plain(ops: &[Op], start: &[i64], seen: &[Vec<i64>]) -> Vec<i64> {
    let sum = |xs: &[i64]| xs.iter().sum::<i64>();
    let mut xs = start.to_vec();
    for op in ops {
        let other = |k: &usize| &seen[k % seen.len()];
        let around = || [seen, &[xs.clone()]].concat();
        match op {
            Op::Map(k) => xs.iter_mut().for_each(|x| *x = (*x * 3 + k) % 101),
            Op::Reverse => xs.reverse(),
            Op::Scan => {
                let mut all = 0;
                for x in &mut xs {
                    all += *x;
                    *x = all % 101;
                }
            }
            Op::With(k) => {
                let both = xs.iter_mut().zip(other(k));
                both.for_each(|(x, y)| *x = (*x + y * 2) % 101);
            }
            Op::Invariant(function, k) => {
                let both = xs.iter_mut().zip(function.plain(other(k)));
                both.for_each(|(x, y)| *x = (*x * 2 + y) % 101);
            }
            Op::Total(k) => {
                let total = sum(other(k));
                xs.iter_mut().for_each(|x| *x = (*x + total) % 101);
            }
            Op::Scatter(k) => {
                let was = xs.clone();
                for (i, y) in was.iter().zip(other(k)) {
                    let at = *i as usize % was.len();
                    xs[at] = (xs[at] + y) % 101;
                }
            }
            Op::Update(k) => xs[0] = (xs[0] + other(k)[0]) % 101,
            Op::Loop(times, body) => {
                let around = around();
                let times = match times {
                    Times::Known(n) => *n,
                    Times::Of(k) => (sum(other(k)) % 4) as u64,
                };
                for _ in 0..times {
                    xs = plain(body, &xs, &around);
                }
            }
            Op::While(most, body) => {
                let (around, mut k) = (around(), 0);
                while sum(&xs) % 7 != 0 && k < *most {
                    xs = plain(body, &xs, &around);
                    k += 1;
                }
            }
            Op::Choice(k, [then, otherwise]) => {
                let (around, rest) = (around(), sum(other(k)) % 3);
                xs = match rest {
                    0 => plain(then, &xs, &around),
                    _ => plain(otherwise, &xs, &around),
                };
                let more = 12i64.checked_div(rest).unwrap_or(0);
                xs.iter_mut().for_each(|x| *x += more);
            }
        }
    }
    xs
}

fn check(seed: u64, engine: &Engine) -> Result<()> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let ops = ops(&mut dice, 0);
    let both = |xs: &Array<i64>, ys: &Array<i64>| {
        let ended = build(&ops, xs, &[xs.clone(), ys.clone()]);
        (ended.sum(), ended)
    };
    let program = prepare_with(engine, |(xs, ys): (Array<i64>, Array<i64>)| both(&xs, &ys))?;
    for len in [4, 1 + dice.below(5)] {
        let mut data = || (0..len).map(|_| dice.below(20) as i64).collect::<Vec<_>>();
        let (xs, ys) = (data(), data());
        let expected = plain(&ops, &xs, &[xs.clone(), ys.clone()]);
        let inputs = (Array::from(xs.clone()), Array::from(ys.clone()));
        let forced = both(&inputs.0, &inputs.1);
        let forced = (&forced.0, &forced.1).force_with(engine)?;
        let called = program.call(&inputs)?;
        let before = engine.counters();
        let again = program.call(&inputs)?;
        let after = engine.counters();
        let asked = |c: livefusion::runtime::Counters| (c.misses, c.hits);
        assert_eq!(asked(before), asked(after), "seed {seed}: {ops:?}");
        for (sum, ended) in [forced, called, again] {
            assert_eq!(ended, expected[..], "seed {seed}: {ops:?}");
            assert_eq!(sum, expected.iter().sum::<i64>(), "seed {seed}: {ops:?}");
        }
        assert_eq!((inputs.0.to_vec()?, inputs.1.to_vec()?), (xs, ys));
    }
    Ok(())
}

#[test]
fn random_nests() -> Result<()> {
    let n = std::env::var("ITERATE_PROGRAMS").ok();
    let n = n.and_then(|n| n.parse().ok()).unwrap_or(150);
    let unfused = Engine::builder().clustering(Clustering::Unfused).build();
    for engine in [Engine::interp(), Engine::jit(), unfused] {
        for seed in 0..n {
            check(seed, &engine)?;
        }
    }
    Ok(())
}

#[test]
fn random_nests_in_c() -> Result<()> {
    let engine = Engine::c();
    for seed in 1000..1008 {
        check(seed, &engine)?;
    }
    Ok(())
}
