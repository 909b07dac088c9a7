//! Stencils, against plain loops.

use livefusion::Result;
use livefusion::prelude::*;

const N: i64 = 4;
const M: i64 = 3;

fn at(i: i64, j: i64) -> i64 {
    (i * 13 + j * 29) % 17 + 1
}

fn matrix() -> Array<i64, Ix2> {
    let all = (0..N).flat_map(|i| (0..M).map(move |j| at(i, j)));
    Array::from_vec((N, M), all.collect())
}

/// The index that a boundary reads along an axis of `n` elements.
fn inside(boundary: &Boundary<i64>, i: i64, n: i64) -> Option<i64> {
    match boundary {
        Boundary::Clamp => Some(i.clamp(0, n - 1)),
        Boundary::Wrap => Some(i.rem_euclid(n)),
        Boundary::Mirror => {
            let period = (2 * n - 2).max(1);
            let there = i.rem_euclid(period);
            Some(there.min(period - there))
        }
        Boundary::Constant(_) => (0..n).contains(&i).then_some(i),
    }
}

fn check(edges: [Boundary<i64>; 2]) -> Result<()> {
    // A window larger than the array along the second axis.
    let result = matrix().stencil2(edges, |w: [[Exp<i64>; 9]; 3]| {
        let mut sum = Exp::lit(0);
        for (k, x) in w.iter().flatten().enumerate() {
            sum += *x * (k as i64 + 1);
        }
        sum
    });
    let result = result.force()?;
    for i in 0..N {
        for j in 0..M {
            let mut sum = 0;
            for k in 0..27 {
                let (p, q) = (i + k / 9 - 1, j + k % 9 - 4);
                let x = match (inside(&edges[0], p, N), inside(&edges[1], q, M)) {
                    (Some(p), Some(q)) => at(p, q),
                    // Of two constants, the later axis wins.
                    (_, None) => constant(&edges[1]),
                    (None, _) => constant(&edges[0]),
                };
                sum += x * (k + 1);
            }
            assert_eq!(
                result[(i as usize, j as usize)],
                sum,
                "{edges:?} at {i}, {j}"
            );
        }
    }
    Ok(())
}

fn constant(boundary: &Boundary<i64>) -> i64 {
    match boundary {
        Boundary::Constant(c) => *c,
        _ => 0,
    }
}

#[test]
fn stencil2__with_each_two_boundaries__is_a_plain_loop() -> Result<()> {
    let all = |c| {
        [
            Boundary::Clamp,
            Boundary::Wrap,
            Boundary::Mirror,
            Boundary::Constant(c),
        ]
    };
    for a in all(100) {
        for b in all(200) {
            check([a, b])?;
        }
    }
    Ok(())
}

#[test]
fn stencil2__with_a_function_outside__reads_it() -> Result<()> {
    let result = matrix().stencil2(
        outside(|[i, j]| 1000 * i + j),
        |[[a, _, _], [_, _, _], [_, _, i]]| a * 3 + i,
    );
    let result = result.force()?;
    let value = |i: i64, j: i64| match (0..N).contains(&i) && (0..M).contains(&j) {
        true => at(i, j),
        false => 1000 * i + j,
    };
    for i in 0..N {
        for j in 0..M {
            let expected = value(i - 1, j - 1) * 3 + value(i + 1, j + 1);
            assert_eq!(result[(i as usize, j as usize)], expected);
        }
    }
    Ok(())
}

#[test]
fn stencil3__of_delayed_lengths__reads_clamped_neighbours() -> Result<()> {
    let n = Array::from(vec![1i64, 2, 3, 4]).filter(|x| x.gt(1)).len();
    let a = generate((&n, 4, &n), |(i, j, k)| 100 * i + 10 * j + k);
    let sums = a.stencil3(Boundary::Clamp, |w: [[[Exp<u64>; 3]; 1]; 3]| {
        w[0][0][0] + w[2][0][2]
    });
    let sums = sums.force()?;
    assert_eq!(
        (sums.shape(), sums[(0, 1, 0)], sums[(2, 3, 1)]),
        ([3, 4, 3], 10 + 111, 130 + 232)
    );
    let none = generate((0, 3), |(i, j)| i + j);
    assert!(
        none.stencil2(Boundary::Wrap, |[[a], [b]]| a + b)
            .force()?
            .is_empty()
    );
    Ok(())
}

#[test]
fn stencil2__before_a_sum__is_in_its_loop() -> Result<()> {
    let total = matrix()
        .stencil2(Boundary::Clamp, |[[a, b, c]]| a + b + c)
        .sum();
    let e = total.explain()?;
    assert_eq!(e.loops.len(), 1, "{e}");
    Ok(())
}

#[test]
fn stencil1__with_each_boundary__is_a_plain_loop() -> Result<()> {
    for n in [0, 1, 2, 5] {
        let xs: Vec<i64> = (0..n).map(|i| at(i, 0)).collect();
        let array = Array::from(xs.clone());
        let value = |edge: &Boundary<i64>, i: i64| match inside(edge, i, n) {
            Some(i) => xs[i as usize],
            None => constant(edge),
        };
        for edge in [
            Boundary::Clamp,
            Boundary::Wrap,
            Boundary::Mirror,
            Boundary::Constant(50),
        ] {
            let sums = array.stencil1(edge, |[a, b, c]| a * 3 - b + c * 2);
            let sum = |i| value(&edge, i - 1) * 3 - value(&edge, i) + value(&edge, i + 1) * 2;
            assert_eq!(
                sums.to_vec()?,
                (0..n).map(sum).collect::<Vec<_>>(),
                "{edge:?} {n}"
            );
        }
        let sums = array.stencil1(outside(|[i]| 10 * i), |[a, _, c]| a - c);
        let value = |i: i64| xs.get(i as usize).copied().unwrap_or(10 * i);
        let expected = (0..n).map(|i| value(i - 1) - value(i + 1));
        assert_eq!(sums.to_vec()?, expected.collect::<Vec<_>>());
    }
    Ok(())
}
