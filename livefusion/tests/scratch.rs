//! x
use livefusion::Force;
use livefusion::prelude::*;
fn show(name: &str, r: impl Force) {
    match r.explain() {
        Ok(e) => {
            println!("== {name}: {} loops", e.loops.len());
            if e.loops.len() > 1 || std::env::var("ALL").is_ok() {
                println!("{e}");
            }
        }
        Err(e) => println!("== {name}: {e}"),
    }
}
#[test]
fn s() {
    let f = Segmented::from_vecs(vec![vec![1.0f64, 2.0, 5.0], vec![3.0, 7.0], vec![]]);
    let i = Segmented::from_vecs(vec![vec![1i64, 2, 5], vec![3, 7], vec![]]);
    let v = Array::from(vec![1.0f64, 2.0, 3.0]);
    let s = |x: Segmented<f64>| (x.lengths().clone(), x.data().clone());
    let si = |x: Segmented<i64>| (x.lengths().clone(), x.data().clone());
    show("var", f.map_segments(|r| r.var()));
    show(
        "softmax",
        s(f.map_segments(|r| {
            let m = r.fold(0.0, |a, b| a.max(b));
            let e = r.map(|x| (x - &m).exp());
            let t = e.sum();
            e.map(|x| x / &t)
        })),
    );
    show(
        "spmv",
        (
            &Segmented::from_vecs(vec![vec![0u64, 1], vec![2]]),
            &Segmented::from_vecs(vec![vec![1.0f64, 2.0], vec![3.0]]),
        )
            .map_segments(|(c, x)| c.zip_with(&x, |c, x| v.at(c) * x).sum()),
    );
    show(
        "scan zip filter",
        si(i.map_segments(|r| r.zip_with(&r.cumsum(), |a, b| a * b).filter(|x| x.gt(2)))),
    );
    show(
        "nest sum",
        si(i.map_segments(|r| {
            indices_s(&r).map_segments(|p| p.map(|i| i.cast::<i64>() * 2).sum())
        })),
    );
    show(
        "nest sum sum",
        i.map_segments(|r| indices_s(&r).map_segments(|p| p.sum()).sum()),
    );
    show(
        "nest captured",
        si(i.map_segments(|r| {
            let t = r.sum();
            indices_s(&r).map_segments(|p| p.map(|i| i.cast::<i64>() * &t).sum())
        })),
    );
    show(
        "start",
        i.map_segments(|r| {
            let n = r.len().map(|n| n.cast::<i64>());
            r.fold(&n, |a, b| a.max(b))
        }),
    );
    show("any", i.map_segments(|r| r.any(|x| x.gt(1))));
    show("first", i.map_segments(|r| r.filter(|x| x.gt(0)).first()));
    show(
        "take_while sum",
        i.map_segments(|r| r.take_while(|x| x.gt(1)).sum()),
    );
    show(
        "take_while div",
        i.map_segments(|r| r.map(|x| 8 / x).take_while(|x| x.gt(1)).sum()),
    );
    show(
        "take",
        si(i.map_segments(|r| r.filter(|x| x.gt(0)).take(1))),
    );
    show("reverse", si(i.map_segments(|r| r.reverse())));
    show(
        "reverse of scan",
        si(i.map_segments(|r| r.cumsum().reverse())),
    );
    show(
        "windows",
        si(i.map_segments(|r| r.windows(livefusion::Boundary::Clamp, |[a, b, c]| a + b + c))),
    );
    show(
        "slice map sum",
        i.map_segments(|r| r.slice(..r.len()).map(|x| x + 1).sum()),
    );
    show(
        "adjacent",
        i.map_segments(|r| r.drop(1).zip_shortest(&r).map(|(a, b)| a - b).sum()),
    );
    show(
        "filter zip own",
        si(i.map_segments(|r| {
            let k = r.filter(|x| x.gt(1));
            k.zip_with(&iota(k.len()), |x, i| x + i.cast::<i64>())
        })),
    );
    show(
        "filter centre",
        si(i.map_segments(|r| {
            let k = r.filter(|x| x.gt(1));
            let t = k.sum();
            k.map(|x| x - &t)
        })),
    );
    show(
        "invariant zip",
        s(Segmented::from_vecs(vec![vec![1.0f64, 2.0, 3.0]; 2]).map_segments(|r| &r * &v)),
    );
    show("append", si(i.map_segments(|r| r.append(&r))));
    show(
        "append filters",
        si(i.map_segments(|r| r.filter(|x| x.gt(1)).append(&r.filter(|x| x.le(1))))),
    );
    show("quicksort step", {
        let (a, b, c) = i.map_segments(|r| {
            let p = r.fold(0, |a, b| a.max(b));
            (
                r.filter(|x| x.lt(&p)),
                r.filter(|x| x.eq(&p)).len(),
                r.filter(|x| x.gt(&p)),
            )
        });
        (
            a.data().clone(),
            a.lengths().clone(),
            b,
            c.data().clone(),
            c.lengths().clone(),
        )
    });
    show("runs", {
        let n = i.map_segments(|r| Segmented::new(&r.group().1, &r));
        (n.counts().clone(), n.segments().sum_s())
    });
    show(
        "histogram",
        si(i.map_segments(|r| reduce_by_index(4, 0i64, &r, &r, |a, b| a + b))),
    );
}
