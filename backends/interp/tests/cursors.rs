//! Semantics of loops with cursors: golden loops against the same programs over vectors.
//!
//! Numbers are small integers, so sums are exact in any order.

use crate::support::*;
use livefusion_backend::Outcome;
use loop_lang::ir::TrapKind;
use loop_lang::types::{Const, Ty};

const RUNS: u64 = 1000;

/// Compares a golden loop on random arguments with a program over vectors.
fn agrees<A: std::fmt::Debug>(
    name: &str,
    make: impl Fn(&mut Rng) -> (A, Vec<Owned>),
    naive: impl Fn(&A) -> Result<Vec<Bits>, TrapKind>,
) {
    let kernel = kernel(&golden(name));
    let (mut ends, mut traps) = (0, 0);
    for seed in 0..RUNS {
        let (input, args) = make(&mut Rng(seed));
        let (outcome, got) = run(&kernel, &args);
        match naive(&input) {
            Ok(want) => {
                ends += 1;
                assert!(
                    matches!(outcome, Outcome::Done | Outcome::Exited),
                    "{name}, {input:?}: {outcome:?}"
                );
                assert_eq!(want, got, "{name}, {input:?}");
            }
            Err(kind) => {
                traps += 1;
                match outcome {
                    Outcome::Trapped(Some(report)) => assert_eq!(kind, report.kind, "{name}"),
                    other => panic!("{name}, {input:?}: {other:?}"),
                }
            }
        }
    }
    assert!(ends > RUNS / 50, "{name}: {ends} end, {traps} trap");
}

/// Draws up to `most` small whole numbers.
fn floats(rng: &mut Rng, most: u64) -> Vec<f64> {
    let n = rng.below(most + 1);
    (0..n).map(|_| rng.below(12) as f64 - 5.0).collect()
}

fn ints(rng: &mut Rng, most: u64) -> Vec<i64> {
    let n = rng.below(most + 1);
    (0..n).map(|_| rng.below(12) as i64 - 5).collect()
}

fn scalar(x: f64) -> Owned {
    Owned::Scalar(Const::f64(x))
}

fn of_floats(all: &[f64]) -> Bits {
    Bits::Array(Ty::F64, all.iter().map(|x| x.to_bits()).collect())
}

fn of_ints(all: &[i64]) -> Bits {
    Bits::Array(Ty::I64, all.iter().map(|x| *x as u64).collect())
}

fn number(x: f64) -> Bits {
    Bits::Scalar(Ty::F64, x.to_bits())
}

fn count(n: usize) -> Bits {
    Bits::Scalar(Ty::U64, n as u64)
}

fn kept<T: Copy>(all: &[T], test: impl Fn(T) -> bool) -> Vec<T> {
    all.iter().copied().filter(|x| test(*x)).collect()
}

/// Merges as the loops do: the first input's element first, unless the second's is smaller.
fn merged(a: &[i64], b: &[i64]) -> Vec<i64> {
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        let first = i < a.len() && (j == b.len() || a[i] <= b[j]);
        all.push(if first { a[i] } else { b[j] });
        if first { i += 1 } else { j += 1 }
    }
    all
}

/// Repeats each index as often as its length says. Also counts the nonzero lengths.
fn elements(lens: &[u64]) -> (Vec<usize>, usize) {
    let each = lens.iter().enumerate();
    let all = each.flat_map(|(i, n)| std::iter::repeat_n(i, *n as usize));
    (all.collect(), lens.iter().filter(|n| **n > 0).count())
}

fn lengths(rng: &mut Rng, most: u64) -> Vec<u64> {
    let n = rng.below(most + 1);
    (0..n).map(|_| rng.below(4)).collect()
}

#[test]
fn three_sides_meet() {
    let make = |rng: &mut Rng| {
        let (xs, ys, ws) = (floats(rng, 6), floats(rng, 4), ints(rng, 3));
        let args = vec![array(&xs), scalar(0.0), scalar(4.0), array(&ys), array(&ws)];
        ((xs, ys, ws), args)
    };
    agrees("zip_of_three", make, |(xs, ys, ws)| {
        let low = kept(xs, |x| x > 0.0);
        let (xs, ys) = (kept(&low, |x| x < 4.0), kept(ys, |y| y != 0.0));
        if xs.len() != ys.len() || ys.len() != ws.len() {
            return Err(TrapKind::LengthMismatch);
        }
        let zs = (0..xs.len()).map(|i| xs[i] * ys[i] + ws[i] as f64);
        Ok(vec![of_floats(&zs.collect::<Vec<_>>()), count(low.len())])
    });
}

#[test]
fn the_first_side_to_end_ends_the_zip() {
    let make = |rng: &mut Rng| {
        let (xs, ys) = (floats(rng, 20), floats(rng, 20));
        let args = vec![array(&xs), scalar(-3.0), array(&ys), scalar(4.0)];
        ((xs, ys), args)
    };
    agrees("zip_shortest", make, |(xs, ys)| {
        let (xs, ys) = (kept(xs, |x| x > -3.0), kept(ys, |y| y < 4.0));
        let zs: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| x * y).collect();
        Ok(vec![of_floats(&zs), number(zs.iter().sum::<f64>() + 0.0)])
    });
}

#[test]
fn cursors_step_over_runs_and_segments() {
    let make = |rng: &mut Rng| {
        let (runs, segs) = (lengths(rng, 12), lengths(rng, 12));
        let vals: Vec<f64> = runs.iter().map(|_| rng.below(9) as f64).collect();
        let sum: u64 = segs.iter().sum();
        let data: Vec<f64> = (0..sum).map(|_| rng.below(9) as f64).collect();
        let args = vec![array(&runs), array(&vals), array(&segs), array(&data)];
        ((runs, vals, segs, data), args)
    };
    agrees("zip_decodes", make, |(runs, vals, segs, data)| {
        let xs: Vec<f64> = elements(runs).0.iter().map(|i| vals[*i]).collect();
        let of_segs = elements(segs).0;
        let n = xs.len().min(data.len());
        let zs: Vec<f64> = (0..n).map(|i| xs[i] + data[i]).collect();
        // A segment opens at the request for its first element. The zip reads the runs first.
        let opened = of_segs[..n].windows(2).filter(|w| w[0] != w[1]).count() + n.min(1);
        Ok(vec![of_floats(&zs), count(opened)])
    });
}

#[test]
fn a_merge_advances_what_it_took() {
    let make = |rng: &mut Rng| {
        let (xs, ys) = (floats(rng, 20), floats(rng, 20));
        let args = vec![array(&xs), scalar(-2.0), array(&ys), scalar(3.0)];
        ((xs, ys), args)
    };
    agrees("merge_filters", make, |(xs, ys)| {
        let whole = |all: Vec<f64>| all.iter().map(|x| *x as i64).collect::<Vec<_>>();
        let (xs, ys) = (kept(xs, |x| x > -2.0), kept(ys, |y| y < 3.0));
        let zs: Vec<f64> = merged(&whole(xs), &whole(ys))
            .iter()
            .map(|x| *x as f64)
            .collect();
        Ok(vec![of_floats(&zs)])
    });
}

#[test]
fn a_merge_is_a_side_of_a_merge() {
    let make = |rng: &mut Rng| {
        let (xs, ys, ws) = (ints(rng, 15), ints(rng, 15), ints(rng, 15));
        let args = vec![array(&xs), array(&ys), array(&ws)];
        ((xs, ys, ws), args)
    };
    agrees("merge_three", make, |(xs, ys, ws)| {
        let both = merged(&kept(xs, |x| x > 0), ys);
        Ok(vec![of_ints(&merged(&both, &kept(ws, |w| w != 1)))])
    });
}

#[test]
fn merges_are_zipped() {
    let make = |rng: &mut Rng| {
        let all: Vec<Vec<i64>> = (0..4).map(|_| ints(rng, 12)).collect();
        let args = all.iter().map(|xs| array(xs)).collect();
        (all, args)
    };
    agrees("zip_merges", make, |all| {
        let low = merged(&all[0], &all[1]);
        let high = merged(&all[2], &kept(&all[3], |w| w > 0));
        let zs: Vec<i64> = low.iter().zip(&high).map(|(x, y)| x - y).collect();
        Ok(vec![of_ints(&zs)])
    });
}

#[test]
fn an_append_and_a_take_are_sides() {
    let make = |rng: &mut Rng| {
        let (xs, ys, ws) = (ints(rng, 8), ints(rng, 8), ints(rng, 20));
        let most = rng.below(12);
        let most_arg = Owned::Scalar(Const::u64(most));
        let args = vec![array(&xs), array(&ys), array(&ws), most_arg];
        ((xs, ys, ws, most), args)
    };
    agrees("zip_append", make, |(xs, ys, ws, most)| {
        let mut both = kept(xs, |x| x > 0);
        both.extend(kept(ys, |y| y < 0));
        let ws = kept(ws, |w| w != 0);
        let pairs = both.iter().zip(&ws).take(*most as usize);
        let zs: Vec<i64> = pairs.map(|(x, y)| x * y).collect();
        Ok(vec![of_ints(&zs)])
    });
}

#[test]
fn sides_take_turns() {
    let make = |rng: &mut Rng| {
        let (xs, ys) = (ints(rng, 5), ints(rng, 5));
        let args = vec![array(&xs), array(&ys)];
        ((xs, ys), args)
    };
    agrees("interleave_filters", make, |(xs, ys)| {
        let (xs, ys) = (kept(xs, |x| x > 0), kept(ys, |y| y > 0));
        if xs.len() != ys.len() {
            return Err(TrapKind::LengthMismatch);
        }
        let zs: Vec<i64> = xs.iter().zip(&ys).flat_map(|(x, y)| [*x, *y]).collect();
        Ok(vec![of_ints(&zs)])
    });
}

#[test]
fn flags_choose_sides() {
    let make = |rng: &mut Rng| {
        let flags: Vec<bool> = (0..rng.below(5)).map(|_| rng.below(2) == 0).collect();
        let (xs, ys) = (floats(rng, 5), floats(rng, 5));
        let args = vec![array(&flags), array(&xs), array(&ys), scalar(0.0)];
        ((flags, xs, ys), args)
    };
    agrees("combine_filters", make, |(flags, xs, ys)| {
        let (xs, ys) = (kept(xs, |x| x > 0.0), kept(ys, |y| y < 0.0));
        let from_xs = flags.iter().filter(|f| **f).count();
        if from_xs != xs.len() || flags.len() - from_xs != ys.len() {
            return Err(TrapKind::LengthMismatch);
        }
        let (mut xs, mut ys) = (xs.into_iter(), ys.into_iter());
        let mut next = |f: &bool| if *f { xs.next() } else { ys.next() };
        let zs: Vec<f64> = flags.iter().filter_map(&mut next).collect();
        Ok(vec![of_floats(&zs), number(zs.iter().sum::<f64>() + 0.0)])
    });
}

#[test]
fn a_zip_is_a_side_of_a_zip() {
    let make = |rng: &mut Rng| {
        let (xs, ys, ws) = (floats(rng, 5), floats(rng, 5), floats(rng, 2));
        let args = vec![array(&xs), array(&ys), array(&ws), scalar(0.0)];
        ((xs, ys, ws), args)
    };
    agrees("zip_in_zip", make, |(xs, ys, ws)| {
        let (xs, ys) = (kept(xs, |x| x > 0.0), kept(ys, |y| y < 0.0));
        let sums: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| x + y).collect();
        let (pairs, ws) = (kept(&sums, |x| x > 0.0), kept(ws, |w| w != 0.0));
        // The inner zip advances only as far as the outer one requests.
        if pairs.len() > ws.len() || pairs.len() == ws.len() && xs.len() == ys.len() {
            let zs: Vec<f64> = pairs.iter().zip(&ws).map(|(x, y)| x * y).collect();
            let ended = pairs.len() == ws.len();
            return ended
                .then(|| vec![of_floats(&zs)])
                .ok_or(TrapKind::LengthMismatch);
        }
        Err(TrapKind::LengthMismatch)
    });
}

#[test]
fn a_side_with_other_consumers_runs_to_its_end() {
    let make = |rng: &mut Rng| {
        let (xs, ys) = (floats(rng, 40), floats(rng, 20));
        let args = vec![array(&xs), scalar(-1.0), array(&ys), scalar(6.0)];
        ((xs, ys), args)
    };
    agrees("zip_drained", make, |(xs, ys)| {
        let ks = kept(xs, |x| x > -1.0);
        let ys: Vec<f64> = ys.iter().copied().take_while(|y| *y < 6.0).collect();
        let zs: Vec<f64> = ks.iter().zip(&ys).map(|(x, y)| x * y).collect();
        Ok(vec![
            of_floats(&ks),
            number(ks.iter().sum::<f64>() + 0.0),
            of_floats(&zs),
        ])
    });
}

#[test]
fn a_phase_goes_through_the_rest_of_a_side() {
    let make = |rng: &mut Rng| {
        let (xs, ys) = (floats(rng, 40), floats(rng, 20));
        let args = vec![array(&xs), scalar(0.0), array(&ys)];
        ((xs, ys), args)
    };
    agrees("zip_rest", make, |(xs, ys)| {
        let (ks, ys) = (kept(xs, |x| x > 0.0), kept(ys, |y| y < 0.0));
        let zs: Vec<f64> = ks.iter().zip(&ys).map(|(x, y)| x * y).collect();
        let sum = ks.iter().sum::<f64>() + 0.0;
        Ok(vec![of_floats(&zs), number(sum), count(ks.len())])
    });
}

#[test]
fn a_side_drives_the_other() {
    let make = |rng: &mut Rng| {
        let (xs, ys) = (floats(rng, 6), floats(rng, 6));
        let args = vec![array(&xs), scalar(0.0), array(&ys)];
        ((xs, ys), args)
    };
    agrees("zip_driven", make, |(xs, ys)| {
        let (xs, ys) = (kept(xs, |x| x > 0.0), kept(ys, |y| y < 0.0));
        if xs.len() != ys.len() {
            return Err(TrapKind::LengthMismatch);
        }
        let zs: Vec<f64> = xs.iter().zip(&ys).map(|(x, y)| x * y).collect();
        Ok(vec![of_floats(&zs), number(zs.iter().sum::<f64>() + 0.0)])
    });
}

#[test]
fn each_segment_has_a_zip_of_its_own() {
    let make = |rng: &mut Rng| {
        let lens: Vec<u64> = (0..rng.below(8)).map(|_| rng.below(12)).collect();
        let n = lens.iter().sum::<u64>();
        let mut data = || -> Vec<f64> { (0..n).map(|_| rng.below(15) as f64 - 4.0).collect() };
        let (xs, ys) = (data(), data());
        let args = vec![array(&lens), array(&xs), array(&ys)];
        ((lens, xs, ys), args)
    };
    agrees("zips_of_segments", make, |(lens, xs, ys)| {
        let (mut begin, mut running, mut sums) = (0, Vec::new(), Vec::new());
        for n in lens {
            let at = begin..begin + *n as usize;
            begin = at.end;
            let (xs, ys) = (
                kept(&xs[at.clone()], |x| x > 0.0),
                kept(&ys[at], |y| y < 9.0),
            );
            let mut sum = 0.0;
            for (x, y) in xs.iter().zip(&ys) {
                sum += x * y;
                running.push(1.0 + sum);
            }
            sums.push(sum);
        }
        Ok(vec![of_floats(&running), of_floats(&sums)])
    });
}

#[test]
fn a_side_folds_segments() {
    let make = |rng: &mut Rng| {
        let lens = lengths(rng, 5);
        let n = lens.iter().sum::<u64>();
        let xs: Vec<f64> = (0..n).map(|_| rng.below(15) as f64 - 6.0).collect();
        let ys = floats(rng, 4);
        let args = vec![array(&lens), array(&xs), array(&ys), scalar(0.0)];
        ((lens, xs, ys), args)
    };
    agrees("zip_sums", make, |(lens, xs, ys)| {
        let mut begin = 0;
        let sums = lens.iter().map(|n| {
            let at = begin..begin + *n as usize;
            begin = at.end;
            xs[at].iter().sum::<f64>()
        });
        let sums: Vec<f64> = sums.collect();
        let (sums, ys) = (kept(&sums, |x| x > 0.0), kept(ys, |y| y > 0.0));
        if sums.len() != ys.len() {
            return Err(TrapKind::LengthMismatch);
        }
        let zs: Vec<f64> = sums.iter().zip(&ys).map(|(x, y)| x + y).collect();
        Ok(vec![of_floats(&zs)])
    });
}
