//! Arbitrary operands never panic.

use super::*;

/// Any operands of an untyped form give nodes. A force of such a node returns a value or an error.
#[test]
fn nothing_panics() {
    let kind = || ErrorKind::Empty;
    let xs = Array::from(vec![2i64, 0]);
    let nodes = [
        xs.node().clone(),
        xs.filter(is_odd).node().clone(),
        xs.map(|x| x.cast::<f64>()).node().clone(),
        Array::from(vec![true, false]).node().clone(),
        pairs().node().clone(),
        xs.sum().node().clone(),
        xs.len().node().clone(),
        Array::scalar((1.5f64, true)).node().clone(),
        Array::from([[1i64, 2], [3, 4]]).node().clone(),
        call("none").fault(&[], 1, kind()),
        call("none").fault(&[], 0, kind()),
        call("none").fault(&[Ty::I64], 2, kind()),
    ];
    let leaked = std::cell::Cell::new(None);
    let pass = |x: &[Field]| Fields::from_slice(x);
    let by_hand = |change: fn(&mut Body)| {
        let mut f = odd();
        change(&mut f);
        f
    };
    let bodies = [
        number(1),
        body(&[], |_| Field::literal(Const::bool(true))),
        odd(),
        operator(Op::Add, Ty::I64),
        operator(Op::Lt, Ty::I64),
        body(&[Ty::I64], |x| {
            leaked.set(Some(x[0]));
            x[0]
        }),
        body(&[], |_| leaked.get().unwrap_or(Exp::lit(1u8).field())),
        body(&[Ty::F64], |x| {
            Field::op(Op::Rem, &[x[0], Exp::lit(1i64).field()], place())
        }),
        trace(&[Ty::I64, Ty::F64], pass),
        trace(&[Ty::Bool], pass),
        trace(&[], pass),
        Body::default(),
        by_hand(|f| f.terms.clear()),
        by_hand(|f| f.params.clear()),
        by_hand(|f| f.terms.reverse()),
    ];
    let b = call("any");
    let mut made = Vec::new();
    for (x, of_one) in nodes.iter().map(|x| (x, of_one(b, x))) {
        made.extend(of_one);
        for f in &bodies {
            made.extend(of_body(b, x, f));
        }
        for y in &nodes {
            made.extend(of_two(b, x, y, &bodies));
        }
    }
    let engine = Engine::interp();
    let values = made.iter().filter(|node| {
        let value = livefusion::runtime::force_nodes(&engine, std::slice::from_ref(node));
        value.is_ok()
    });
    // Most combinations do not fit.
    assert!((100..made.len() / 2).contains(&values.count()));
}

fn of_one(b: Builder, x: &Arc<Node>) -> Vec<Arc<Node>> {
    let (values, lengths) = b.group(x);
    let mut all = vec![values, lengths];
    let two = |w: &[Fields]| Fields::from_slice(&[w[0][..].to_vec(), w[1][..].to_vec()].concat());
    let boundary = [
        Boundary::Clamp,
        Boundary::Wrap,
        Boundary::Mirror,
        Boundary::Constant(number(1)),
    ];
    all.extend(
        boundary
            .iter()
            .map(|boundary| b.windows(x, 2, boundary, two)),
    );
    all.extend([
        b.sum(x),
        b.product(x),
        b.min(x),
        b.max(x),
        b.mean(x),
        b.var(x),
        b.std(x),
    ]);
    all.extend([
        b.min_index(x),
        b.max_index(x),
        b.cumsum(x),
        b.first(x),
        b.last(x),
        b.reverse(x),
    ]);
    all.extend([
        b.enumerate(x),
        b.unique(x),
        b.indices_of(x),
        b.zip_cut(std::slice::from_ref(x)),
    ]);
    all.extend(
        [Op::Neg, Op::Sqrt, Op::Add, Op::Select].map(|op| b.operator(op, std::slice::from_ref(x))),
    );
    all.extend([b.cumprod(x), b.cummax(x), b.cummin(x), b.diff(x)]);
    all.push(b.combinations(x));
    all.extend([Len::Known(3), Len::Delayed(x.clone())].map(|n| b.bincount(x, n)));
    for n in [
        Amount::Known(1),
        Amount::Negative(-1),
        Amount::Delayed(x.clone()),
    ] {
        all.extend([b.take_n(x, n.clone()), b.drop(x, n)]);
    }
    all
}

fn of_body(b: Builder, x: &Arc<Node>, f: &Body) -> Vec<Arc<Node>> {
    let (kept, others) = b.partition(x, f.clone());
    let (scan, total) = b.scan_with_total(x, number(1), f.clone());
    let (values, lengths) = b.group_by(x, f);
    let fold = || Fold::associative(number(1), f.clone());
    let mut all = vec![kept, others, scan, total, values, lengths];
    all.extend([
        b.any(x, f.clone()),
        b.all(x, f.clone()),
        b.count(x, f.clone()),
    ]);
    all.extend([
        b.find(x, f.clone()),
        b.position(x, f.clone()),
        b.drop_while(x, f.clone()),
    ]);
    all.extend([
        b.scan1(x, f.clone()),
        b.scan1_right(x, f.clone()),
        b.fold_right(x, fold()),
    ]);
    all.push(b.scan_right(x, fold(), ScanKind::Exclusive));
    all.extend([
        b.unique_by(x, f),
        b.shift(x, 1, f),
        b.item(x, f),
        b.bins(Len::Known(2), f),
    ]);
    all.extend([b.update(x, f, &number(1)), b.update(x, &number(1), f)]);
    all.push(b.windows(x, 3, &Boundary::Constant(f.clone()), |w| w[0].clone()));
    all.push(b.enum_from_step(Len::Delayed(x.clone()), f, &number(1)));
    for n in [Axis::from(2), Axis::delayed(x.clone())] {
        all.push(b.linspace(n.clone(), f, f));
        all.push(b.histogram_uniform(x, f, &number(1), n));
    }
    all.push(b.scan_with_start(x, number(1), f.clone()));
    all.push(b.flat_map(x, f.clone(), f));
    all.push(b.flat_map(x, body(&[Ty::I64], |_| Exp::lit(2u64).field()), f));
    all
}

fn of_two(b: Builder, x: &Arc<Node>, y: &Arc<Node>, bodies: &[Body]) -> Vec<Arc<Node>> {
    let both = [x.clone(), y.clone()];
    let mut all = vec![
        b.concat(&both),
        b.zip_cut(&both),
        b.gather(x, y),
        b.interleave(x, y),
    ];
    all.extend([
        b.combine(x, y, y),
        b.combine(y, x, y),
        b.operator(Op::Add, &both),
    ]);
    let (wide, high) = b.meshgrid(x, y);
    all.extend([wide, high, b.cartesian(x, y), b.histogram(x, y)]);
    let n = Axis::delayed(y.clone());
    all.push(b.sliding_windows(x, n.clone(), Axis::from(1)));
    all.push(b.sliding_windows(x, Axis::from(1), n.clone()));
    let rows = b.segments(y, x);
    let others = b.segments(x, y);
    let pieces = [
        b.chunks(x, n),
        b.from_flags(x, y),
        rows.combinations(b),
        rows.cartesian(b, &others),
        rows.gather(b, &others),
        rows.take(b, Amount::Delayed(y.clone())),
        rows.reverse(b),
    ];
    all.extend(pieces.into_iter().flat_map(|s| [s.lengths, s.data]));
    let one = number(1);
    let two = |start| Bins {
        count: Len::Known(2),
        start,
    };
    for f in bodies {
        let made = rows.flat_map(b, f.clone(), f);
        all.extend([made.lengths, made.data]);
        all.push(b.merge_sorted(x, y, f));
        all.push(b.reduce_by_index(y, x, two(f), operator(Op::Add, Ty::I64)));
        all.push(b.reduce_by_index(y, x, two(&one), f.clone()));
    }
    all
}
