//! Random programs on arrays of random ranks, against plain loops, on every backend.

use livefusion::prelude::*;
use livefusion::{Clustering, Result};

/// Plain elements with a shape.
#[derive(Clone, Debug, PartialEq)]
struct Plain {
    shape: Vec<usize>,
    data: Vec<i64>,
}

impl Plain {
    fn of(shape: Vec<usize>, f: impl Fn(&[usize]) -> i64) -> Plain {
        let size = shape.iter().product();
        let mut at = vec![0; shape.len()];
        let mut data = Vec::new();
        for _ in 0..size {
            data.push(f(&at));
            for axis in (0..shape.len()).rev() {
                at[axis] += 1;
                if at[axis] < shape[axis] {
                    break;
                }
                at[axis] = 0;
            }
        }
        Plain { shape, data }
    }

    fn at(&self, index: &[usize]) -> i64 {
        self.data[index
            .iter()
            .zip(&self.shape)
            .fold(0, |at, (i, n)| at * n + i)]
    }

    /// The elements along an axis through `index`.
    fn along(&self, index: &[usize], axis: usize) -> Vec<i64> {
        let mut index = index.to_vec();
        let one = |k| {
            index[axis] = k;
            self.at(&index)
        };
        (0..self.shape[axis]).map(one).collect()
    }
}

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) as usize % n
    }
}

type Both = (Array<i64, IxDyn>, Plain);

/// A distance along an axis, rarely beyond its length.
fn far(dice: &mut Dice) -> i64 {
    match dice.below(12) {
        0 => i64::MAX,
        1 => i64::MIN,
        2 => i64::MAX - 1,
        k => k as i64 - 7,
    }
}

fn source(dice: &mut Dice) -> Both {
    let rank = 1 + dice.below(4);
    let shape: Vec<usize> = (0..rank).map(|_| 1 + dice.below(4)).collect();
    let plain = Plain::of(shape.clone(), |at| {
        at.iter().fold(3, |x, i| (x * 7 + *i as i64) % 23)
    });
    let array = match dice.below(3) {
        0 => Array::from_vec(shape, plain.data.clone()),
        1 => generate(shape, |at| {
            let step = |x: Exp<i64>, i: Exp<u64>| (x * 7 + i.cast::<i64>()) % 23;
            at.into_iter().fold(Exp::lit(3), step)
        }),
        _ => {
            // Lengths that are known only at run time.
            let late = |n: usize| {
                let all = Array::from((0..6).collect::<Vec<u64>>());
                all.filter(move |x| x.lt(n as u64)).len()
            };
            Array::from_vec(
                shape.into_iter().map(late).collect::<Vec<_>>(),
                plain.data.clone(),
            )
        }
    };
    (array, plain)
}

fn step((array, plain): Both, dice: &mut Dice) -> Both {
    let rank = plain.shape.len();
    let (axis, choice) = (dice.below(rank), dice.below(26));
    let n = plain.shape[axis];
    match choice {
        0 => {
            let data = plain.data.iter().map(|x| x * 2 - 1).collect();
            (array.map(|x| x * 2 - 1), Plain { data, ..plain })
        }
        1 => {
            let shape = plain.shape.iter().rev().copied().collect();
            let at = |at: &[usize]| plain.at(&at.iter().rev().copied().collect::<Vec<_>>());
            (array.transpose(), Plain::of(shape, at))
        }
        2 => {
            let at = |at: &[usize]| plain.along(at, axis)[n - 1 - at[axis]];
            (
                array.along(axis).reverse(),
                Plain::of(plain.shape.clone(), at),
            )
        }
        3 => {
            let by = far(dice);
            let from = |i: usize| (i as i128 - i128::from(by)).rem_euclid(n as i128) as usize;
            let at = |at: &[usize]| plain.along(at, axis)[from(at[axis])];
            (array.roll(axis, by), Plain::of(plain.shape.clone(), at))
        }
        4 if rank > 1 => fold(&plain, axis, array.along(axis).sum(), |xs| xs.iter().sum()),
        5 if rank > 1 && n > 0 => fold(&plain, axis, array.along(axis).min(), |xs| {
            xs.iter().copied().min().unwrap_or(0)
        }),
        6 if rank > 1 => {
            let digits = array.along(axis).fold_seq(1, |x, y| (x * 3 + y) % 101);
            fold(&plain, axis, digits, |xs| {
                xs.iter().fold(1, |x, y| (x * 3 + y) % 101)
            })
        }
        7 => {
            let at = |at: &[usize]| plain.along(at, axis)[..=at[axis]].iter().sum();
            (
                array.along(axis).cumsum(),
                Plain::of(plain.shape.clone(), at),
            )
        }
        8 => {
            let (start, by) = (dice.below(n + 1), 1 + dice.below(2));
            let mut shape = plain.shape.clone();
            shape[axis] = (n - start).div_ceil(by);
            let at = |at: &[usize]| {
                let mut at = at.to_vec();
                at[axis] = start + by * at[axis];
                plain.at(&at)
            };
            (
                array.along(axis).slice((start..).step(by as u64)),
                Plain::of(shape, at),
            )
        }
        9 => {
            let mut shape = plain.shape.clone();
            shape[axis] *= 2;
            let at = |at: &[usize]| {
                let mut at = at.to_vec();
                at[axis] %= n;
                plain.at(&at)
            };
            (concatenate(axis, [&array, &array]), Plain::of(shape, at))
        }
        10 => {
            let shape: Vec<usize> = plain.shape.iter().map(|n| n + 1).collect();
            let at = |at: &[usize]| match at.contains(&0) {
                true => 5,
                false => plain.at(&at.iter().map(|i| i - 1).collect::<Vec<_>>()),
            };
            (array.pad(vec![(1, 0); rank], 5), Plain::of(shape, at))
        }
        11 => {
            let data = plain
                .data
                .iter()
                .zip(0..)
                .map(|(x, k)| x + plain.data[plain.data.len() - 1 - k]);
            let data: Vec<i64> = data.collect();
            let back: Array<i64> = array.flatten().reverse();
            let shaped = back.reshape(array.shape());
            (&array + &shaped, Plain { data, ..plain })
        }
        12 if rank > 1 => {
            // Shares of a row.
            let sums = array.along(rank - 1).sum();
            let all = array.shape();
            let spread = sums.flatten();
            let rows = array.flatten().len();
            let m = all[rank - 1].clone();
            let wide = generate(rows, |p| spread.at(p / m.value().max(1))).reshape(all);
            let at = |at: &[usize]| plain.at(at) - plain.along(at, rank - 1).iter().sum::<i64>();
            (&array - &wide, Plain::of(plain.shape.clone(), at))
        }
        13 => {
            // Both ends count from the end.
            let (end, start) = (dice.below(n + 1), dice.below(n + 1));
            let (from, to) = (n - start.max(end), n - end);
            let mut shape = plain.shape.clone();
            shape[axis] = to - from;
            let at = |at: &[usize]| {
                let mut at = at.to_vec();
                at[axis] += from;
                plain.at(&at)
            };
            let part = match (from, end) {
                (from, 0) if from == n => array.along(axis).slice(n as i64..),
                (from, 0) => array.along(axis).slice(from as i64 - n as i64..),
                (from, _) => array
                    .along(axis)
                    .slice(from as i64 - n as i64..-(end as i64)),
            };
            (part, Plain::of(shape, at))
        }
        14 if rank == 2 => {
            let (k, is_lower) = (far(dice), dice.below(2) == 0);
            let border = |i: usize| i as i128 + i128::from(k);
            let at = |at: &[usize]| {
                let j = at[1] as i128;
                let keeps = match is_lower {
                    true => j <= border(at[0]),
                    false => j >= border(at[0]),
                };
                if keeps { plain.at(at) } else { 7 }
            };
            let matrix = array.into_rank::<Ix2>();
            let part = match is_lower {
                true => matrix.triangle_lower(k, 7),
                false => matrix.triangle_upper(k, 7),
            };
            (part.into_dyn(), Plain::of(plain.shape.clone(), at))
        }
        15 => {
            let back = array.along(axis).map(|xs| {
                let total = xs.sum();
                xs.scan(0, |a, b| a + b).reverse().map(|x| x - &total)
            });
            let at = |at: &[usize]| {
                let xs = plain.along(at, axis);
                xs[..n - at[axis]].iter().sum::<i64>() - xs.iter().sum::<i64>()
            };
            (back, Plain::of(plain.shape.clone(), at))
        }
        16 if rank == 2 => {
            // A step that reads neighbours, so that the loop stays one over arrays.
            let times = dice.below(4);
            let matrix = array.into_rank::<Ix2>();
            let ended = iterate_n(times, &matrix, |m| {
                let sums = m.along(axis).cumsum();
                m.zip_with(&sums, |x, s| (2 * x + s) % 101)
            });
            let mut now = plain;
            for _ in 0..times {
                let at = |at: &[usize]| {
                    let sum: i64 = now.along(at, axis)[..=at[axis]].iter().sum();
                    (2 * now.at(at) + sum) % 101
                };
                now = Plain::of(now.shape.clone(), at);
            }
            (ended.into_dyn(), now)
        }
        17 => {
            let kind = dice.below(7);
            let scanned = match kind {
                0 => array.along(axis).scan1(|a, b| a.max(b)),
                1 => array.along(axis).scan1(circle),
                2 => array.along(axis).scan_exclusive(7, circle),
                3 => array.along(axis).scan1_right(|a, b| a.max(b)),
                4 => array.along(axis).scan1_right(circle),
                5 => array.along(axis).scan_right(7, circle),
                _ => array.along(axis).scan_exclusive_right(7, circle),
            };
            let at = |at: &[usize]| {
                let (xs, i) = (plain.along(at, axis), at[axis]);
                let part = match kind {
                    0 | 1 => &xs[..=i],
                    2 => &xs[..i],
                    3..=5 => &xs[i..],
                    _ => &xs[i + 1..],
                };
                let joined = match kind {
                    0 | 3 => part.iter().copied().max().unwrap_or(0),
                    1 | 4 => circled(0, part),
                    _ => circled(7, part),
                };
                joined % 101
            };
            (scanned.map(|x| x % 101), Plain::of(plain.shape.clone(), at))
        }
        18 if rank > 1 && n > 0 => fold(
            &plain,
            axis,
            array.along(axis).fold1(circle).map(|x| x % 101),
            |xs| circled(0, xs) % 101,
        ),
        19 if n > 0 => {
            let chosen: Vec<usize> = (0..dice.below(5)).map(|_| dice.below(n)).collect();
            let numbers = Array::from(chosen.iter().map(|i| *i as u32).collect::<Vec<_>>());
            let mut shape = plain.shape.clone();
            shape[axis] = chosen.len();
            let at = |at: &[usize]| plain.along(at, axis)[chosen[at[axis]]];
            (array.select(axis, &numbers), Plain::of(shape, at))
        }
        20 => {
            // Each element moves down by one along the axis; the last ones leave it.
            let base = replicate(array.shape(), 5i64);
            let moved = array.permute(
                &base,
                |old, new| 2 * old + new,
                |mut at| {
                    let i = at[axis];
                    at[axis] = i - 1;
                    i.gt(0).then_some(at)
                },
            );
            let at = |at: &[usize]| match plain.along(at, axis).get(at[axis] + 1) {
                Some(x) => 10 + x,
                None => 5,
            };
            (moved, Plain::of(plain.shape.clone(), at))
        }
        21 if rank == 2 => {
            let numbered = array.into_rank::<Ix2>().enumerate();
            let sums = numbered.map(|((i, j), x)| x + 3 * i.cast::<i64>() - j.cast::<i64>());
            let at = |at: &[usize]| plain.at(at) + 3 * at[0] as i64 - at[1] as i64;
            (sums.into_dyn(), Plain::of(plain.shape.clone(), at))
        }
        22 if rank > 1 && !plain.data.is_empty() => {
            // Folds of folds along the last axes.
            let (times, kind) = (1 + dice.below(rank - 1), dice.below(4));
            let last = |both: Both, _| {
                let axis = both.1.shape.len() - 1;
                match kind {
                    0 => fold(&both.1, axis, both.0.along(axis).sum(), |xs| {
                        xs.iter().sum()
                    }),
                    1 => fold(&both.1, axis, both.0.along(axis).max(), |xs| {
                        xs.iter().copied().max().unwrap_or(0)
                    }),
                    2 => fold(
                        &both.1,
                        axis,
                        both.0.along(axis).fold(0, |a, b| a ^ b),
                        |xs| xs.iter().fold(0, |a, b| a ^ b),
                    ),
                    _ => fold(
                        &both.1,
                        axis,
                        both.0.along(axis).fold(1, |a, b| a + b),
                        |xs| xs.iter().fold(1, |a, b| a + b),
                    ),
                }
            };
            (0..times).fold((array, plain), last)
        }
        23 if rank == 2 => {
            // Each row meets each row.
            let matrix = array.into_rank::<Ix2>();
            let met = matrix.map_rows(|a| matrix.map_rows(|b| (&a * &b).sum()));
            let rows = plain.shape[0];
            let row = |i: usize| plain.along(&[i, 0], 1).into_iter();
            let at = |at: &[usize]| row(at[0]).zip(row(at[1])).map(|(a, b)| a * b).sum::<i64>();
            let of = Plain::of(vec![rows, rows], |index| at(index) % 101);
            (met.map(|x| x % 101).into_dyn(), of)
        }
        24 if rank == 2 => {
            // Two new axes behind, and two in front.
            let matrix = array.into_rank::<Ix2>();
            let (n, m) = (plain.shape[0], plain.shape[1]);
            let behind = matrix.broadcast((.., .., n, m));
            let all = behind.zip_with(&matrix.broadcast((n, m, .., ..)), |a, b| 2 * a - b);
            let at = |at: &[usize]| {
                let last = (0..m).map(|j| plain.at(&[at[2], j])).sum::<i64>();
                2 * m as i64 * plain.at(&at[..2]) - last
            };
            (all.along(3).sum().into_dyn(), Plain::of(vec![n, m, n], at))
        }
        _ => {
            let shape = vec![plain.data.len()];
            (array.flatten().into_dyn(), Plain { shape, ..plain })
        }
    }
}

/// An associative operator with identity 0 that simplification does not recognise.
fn circle(a: Exp<i64>, b: Exp<i64>) -> Exp<i64> {
    a + b + a * b
}

fn circled(start: i64, xs: &[i64]) -> i64 {
    let circle = |a: i64, b: &i64| a.wrapping_add(*b).wrapping_add(a.wrapping_mul(*b));
    xs.iter().fold(start, circle)
}

fn fold(plain: &Plain, axis: usize, array: Array<i64, IxDyn>, f: impl Fn(&[i64]) -> i64) -> Both {
    let mut shape = plain.shape.clone();
    shape.remove(axis);
    let at = |at: &[usize]| {
        let mut at = at.to_vec();
        at.insert(axis, 0);
        f(&plain.along(&at, axis))
    };
    (array, Plain::of(shape, at))
}

fn engines() -> Vec<Engine> {
    vec![
        Engine::interp(),
        Engine::jit(),
        Engine::builder().clustering(Clustering::Unfused).build(),
        Engine::builder().clustering(Clustering::Greedy).build(),
        Engine::builder().threads(3).eager().build(),
    ]
}

fn check(seed: u64, engine: &Engine) -> Result<()> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut both = source(&mut dice);
    let steps = 1 + dice.below(5);
    for _ in 0..steps {
        if both.1.data.len() < 400 {
            both = step(both, &mut dice);
        }
    }
    let (array, plain) = both;
    let total = array.sum();
    let program = array.to_string();
    let result = (&array, &total).force_with(engine);
    let (got, total) = match result {
        Ok(got) => got,
        Err(e) => panic!("seed {seed}: {program}: {e}"),
    };
    assert_eq!(got.shape(), plain.shape, "seed {seed}: {program}");
    assert_eq!(
        got.iter().copied().collect::<Vec<_>>(),
        plain.data,
        "seed {seed}: {program}"
    );
    assert_eq!(
        total,
        plain.data.iter().sum::<i64>(),
        "seed {seed}: {program}"
    );
    Ok(())
}

#[test]
fn random_programs() -> Result<()> {
    let n = std::env::var("RANKED_PROGRAMS")
        .ok()
        .and_then(|n| n.parse().ok());
    for engine in engines() {
        for seed in 0..n.unwrap_or(500) {
            check(seed, &engine)?;
        }
    }
    Ok(())
}

#[test]
fn random_programs_in_c() -> Result<()> {
    let engine = Engine::c();
    for seed in 1000..1010 {
        check(seed, &engine)?;
    }
    Ok(())
}
