//! The steps of random closures on one row, on plain vectors.

use super::Step::*;
use super::{INVARIANT, MOST, PIECES, Step, TABLE, Times, grow};

fn reduce(x: i64) -> i64 {
    x.rem_euclid(1009)
}

/// The results of all rows; none for an error. A mistake that is the same for all rows is one
/// without rows, too.
pub fn each(rows: &[Vec<i64>], steps: &[Step]) -> Option<Vec<Vec<i64>>> {
    if rows.is_empty() {
        plain(&[1, 2], steps)?;
    }
    rows.iter().map(|r| plain(r, steps)).collect()
}

/// `None` for an error.
pub fn plain(row: &[i64], steps: &[Step]) -> Option<Vec<i64>> {
    let mut at = row.to_vec();
    for step in steps {
        let sum: i64 = at.iter().sum();
        let n = at.len();
        at = match step {
            Map(a, b) => at.iter().map(|x| reduce(x * a + b)).collect(),
            Filter(m) => at.into_iter().filter(|x| x % m == 0).collect(),
            Sums => running(&at, 0, |s, x| s + x).map(reduce).collect(),
            InOrder => running(&at, n as i64, |s, x| reduce(2 * s - x)).collect(),
            Largest => {
                let start = sum % 7;
                let before = std::iter::once(start).chain(running(&at, start, i64::max));
                before.take(n).collect()
            }
            Take(k) => at.into_iter().take(*k as usize).collect(),
            TakeHalf => at.into_iter().take(n / 2).collect(),
            Drop(k) => at.into_iter().skip(*k as usize).collect(),
            TakeWhile(m) => at.into_iter().take_while(|x| x % m != 0).collect(),
            Until(offset, least) => {
                let mut kept = Vec::new();
                for x in at {
                    let q = 20i64.checked_div(x % 5 - offset)?;
                    if q <= *least {
                        break;
                    }
                    kept.push(reduce(q));
                }
                kept
            }
            DropWhile(m) => at.into_iter().skip_while(|x| x % m != 0).collect(),
            Reverse => at.into_iter().rev().collect(),
            Shift(by) => {
                let old = |i: i64| at.get(usize::try_from(i).ok()?).copied();
                (0..n as i64).map(|i| old(i - by).unwrap_or(8)).collect()
            }
            Around => {
                let last = n.saturating_sub(1);
                let three = |i: usize| at[i.saturating_sub(1)] + at[i] + at[(i + 1).min(last)];
                (0..n).map(|i| reduce(three(i))).collect()
            }
            Centre => at.iter().map(|x| reduce(x - sum)).collect(),
            Ends(m) => {
                let kept = || at.iter().filter(|x| *x % m == 0);
                let (first, last) = (kept().next()?, kept().next_back()?);
                let ends = first * 2 + last + at[0] * 3 + at[n - 1];
                at.iter().map(|x| reduce(x + ends)).collect()
            }
            ReadOwn => at.iter().map(|x| reduce(x + at[*x as usize % n])).collect(),
            ReadInvariant => at
                .iter()
                .map(|x| reduce(x + INVARIANT[*x as usize % 5]))
                .collect(),
            ZipInvariant => at
                .iter()
                .zip(INVARIANT)
                .map(|(x, y)| reduce(x * y))
                .collect(),
            Unique => {
                let mut all = at;
                all.dedup();
                all
            }
            Spread => at
                .iter()
                .flat_map(|x| (0..x % 4).map(move |i| reduce(i + x)))
                .collect(),
            Zip(steps) => {
                let other = plain(&at, steps)?;
                at.iter()
                    .zip(other)
                    .map(|(x, y)| reduce(2 * x + y))
                    .collect()
            }
            Append(steps) => {
                let other = plain(&at, steps)?;
                at.into_iter().chain(other).collect()
            }
            Merge(steps) => {
                let mut other = plain(&at, steps)?.into_iter().peekable();
                let mut all = Vec::new();
                for x in at {
                    while let Some(y) = other.next_if(|y| *y < x) {
                        all.push(y);
                    }
                    all.push(x);
                }
                all.extend(other);
                all
            }
            Interleave => {
                let sums = running(&at, 0, |s, x| s + x);
                let pairs = at.iter().zip(sums).flat_map(|(x, s)| [*x, s]);
                pairs.map(reduce).collect()
            }
            Pieces(steps) => {
                let piece = |x: &i64| (0..x % 4).map(|i| reduce(i + sum)).collect::<Vec<i64>>();
                let pieces = at.iter().map(|x| plain(&piece(x), steps));
                let sums = pieces.map(|p| Some(reduce(p?.iter().sum())));
                sums.collect::<Option<Vec<i64>>>()?
            }
            Kept(m) => {
                let pieces = at
                    .iter()
                    .map(|x| (0..x % 4).filter(move |i| (i + x) % m == 0));
                let pieces: Vec<Vec<i64>> = pieces.map(Iterator::collect).collect();
                let counts = pieces.iter().map(|p| p.len() as i64);
                counts.chain(pieces.iter().flatten().copied()).collect()
            }
            OfKinds(m) => {
                let mut kinds = vec![sum % 7; *m as usize];
                let one = |x: &i64| {
                    let kind = &mut kinds[(x % m) as usize];
                    *kind = reduce(2 * *kind + x);
                    *kind
                };
                at.iter().map(one).collect()
            }
            Before => {
                let mut kinds = vec![0; n];
                let one = |x: &i64| {
                    let kind = &mut kinds[*x as usize % n];
                    *kind += 1;
                    *kind - 1
                };
                at.iter().map(one).collect()
            }
            Plane => {
                let n = n as i64;
                let column = |x| reduce(3 * n * x + sum + 4 * n * sum);
                at.into_iter().map(column).collect()
            }
            Meet if n != TABLE[0].len() => return None,
            Meet => {
                let of = |row: &[i64; 2]| row.iter().zip(&at).map(|(x, y)| reduce(x * y)).sum();
                TABLE.iter().map(of).collect()
            }
            Table => {
                let of = |row: &[i64]| row.iter().map(|x| reduce(x * sum)).sum();
                let rows = TABLE.iter().map(|row| of(row));
                rows.chain(PIECES.map(of)).collect()
            }
            Loop(times, steps) => {
                let times = match times {
                    Times::Known(n) => *n,
                    Times::OfLength(m) => n as u64 % m,
                };
                let mut now = at.clone();
                for _ in 0..times {
                    let next = plain(&now, steps)?;
                    now = next.iter().zip(&at).map(|(x, y)| reduce(x + y)).collect();
                }
                now
            }
            While(most, multiple, steps) => {
                let (mut now, mut times) = (at, 0);
                while times < *most && now.iter().sum::<i64>() % multiple != 0 {
                    now = plain(&now, steps)?;
                    now.truncate(if grow(steps) { MOST } else { now.len() });
                    now.iter_mut().for_each(|x| *x = reduce(*x + sum));
                    times += 1;
                }
                now.iter().map(|x| reduce(x + times as i64)).collect()
            }
            Choice(m, [then, otherwise]) => match sum % m {
                0 => plain(&at, then)?.into_iter().map(reduce).collect(),
                rest => {
                    let all = plain(&at, otherwise)?.into_iter();
                    all.map(|x| reduce(x + 12 / rest)).collect()
                }
            },
        };
    }
    Some(at)
}

fn running(xs: &[i64], start: i64, f: impl Fn(i64, i64) -> i64) -> impl Iterator<Item = i64> {
    xs.iter().scan(start, move |s, x| {
        *s = f(*s, *x);
        Some(*s)
    })
}
