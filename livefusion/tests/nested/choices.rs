//! Choices in closures, against the closure on each segment alone.

use super::*;

#[test]
fn cond_in_segments__each_chooses__runs_only_its_side() {
    // A division by zero, a read behind the end, and lengths that differ.
    each_engine(&ints(), |r| {
        let n = r.len().map(|n| n.cast::<i64>());
        let mean = n.gt(0).cond(r.sum() / &n, -1);
        let first = n.gt(0).cond(r.at(0), 7);
        let longer = n.gt(2).cond(
            r.sort().append(&r),
            r.filter(|x| x.gt(0)).scan(1, |a, b| a + b),
        );
        longer.map(|x| x * 100 + &mean * 10 + &first)
    });
    // A side without a program, and tuples.
    each_engine(&ints(), |r| {
        let (xs, k) = r.sum().gt(5).cond((&r.reverse(), &r.max()), (&r, 3));
        let same = r.sum().gt(9).cond(r.scan(0, |a, b| a + b), &r);
        xs.zip(&same).map(|(x, y)| x * 10 + y + &k)
    });
    // A test that is the same for all, and choices within loops and within sides.
    let five = Array::from(vec![5i64]).sum();
    each_engine(&ints(), |r| {
        let turned = five.gt(4).cond(r.reverse(), r.sort());
        iterate_n(r.len().map(|n| n % 3), &turned, |xs| {
            let total = xs.sum();
            let inner = total.gt(3).cond(xs.map(|x| x - 1), xs.append(&r.take(1)));
            let even = total.map(|t| (t % 2).eq(0));
            even.cond(
                iterate_n(2, &inner, |ys| ys.scan(0, |a, b| (a + b) % 9)),
                inner.sort(),
            )
        })
    });
    // Rows of a matrix.
    let m = Array::from([[3i64, 1, 2], [0, 5, 4], [0, 0, 1]]);
    for engine in engines() {
        let sorted = m.map_rows(|r| r.first().gt(0).cond(r.sort(), r.scan(0, |a, b| a + b)));
        assert_eq!(
            sorted.force_with(&engine).unwrap(),
            [[1, 2, 3], [0, 5, 9], [0, 0, 1]]
        );
    }
}
