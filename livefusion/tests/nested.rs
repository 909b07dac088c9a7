//! Closures on whole segments.

use livefusion::prelude::*;
#[allow(unused_imports)]
use livefusion::{Error, ErrorKind};

fn rows() -> Vec<Vec<f64>> {
    vec![
        vec![3.0, -1.0, 4.0],
        vec![],
        vec![-5.0],
        vec![2.0, 2.0, 7.0, -3.0, 1.0],
        vec![],
    ]
}

fn ints() -> Vec<Vec<i64>> {
    vec![vec![3, 1, 4, 1], vec![], vec![5], vec![9, 2, 6], vec![0, 0]]
}

fn each<T: Clone, R>(rows: &[Vec<T>], f: impl Fn(&[T]) -> R) -> Vec<R> {
    rows.iter().map(|r| f(r)).collect()
}

#[test]
fn normalise() {
    let rows = rows();
    let all = Segmented::from_vecs(rows.clone());
    let normal = all.map_segments(|row| {
        let total = row.sum();
        row.map(|x| x / &total)
    });
    let expected = each(&rows, |r| {
        let s: f64 = r.iter().sum();
        r.iter().map(|x| x / s).collect::<Vec<f64>>()
    });
    assert_eq!(normal.to_vecs().unwrap(), expected);
    let explained = normal.data().explain().unwrap();
    println!("{explained}");
    assert_eq!(explained.loops.len(), 1);
}

#[test]
fn filtered() {
    let rows = ints();
    let all = Segmented::from_vecs(rows.clone());
    let kept = all.map_segments(|row| row.filter(|x| x.gt(1)).scan(0, |a, b| a + b));
    let expected = each(&rows, |r| {
        let mut s = 0;
        let kept = r.iter().filter(|x| **x > 1);
        kept.map(|x| {
            s += x;
            s
        })
        .collect::<Vec<i64>>()
    });
    assert_eq!(kept.to_vecs().unwrap(), expected);
    let explained = (kept.lengths(), kept.data()).explain().unwrap();
    println!("{explained}");
    assert_eq!(explained.loops.len(), 1);
    let sums = all.map_segments(|row| row.filter(|x| x.gt(1)).sum());
    println!("{}", sums.explain().unwrap());
    assert_eq!(
        sums.to_vec().unwrap(),
        each(&rows, |r| r.iter().filter(|x| **x > 1).sum::<i64>())
    );
}
