//! Arbitrary operands never panic.

use super::*;

/// Arrays and scalars of many types and ranks, some with errors.
fn any_nodes() -> Vec<Arc<Node>> {
    let (m, xs) = (matrix(), matrix().flatten());
    let n = xs.filter(|x| x.gt(0)).len();
    let none: Array<i64> = Array::from(vec![]);
    let wrong = call("wrong").reverse_along(m.node(), 9);
    vec![
        scalar(),
        call("float").constant(&[Const::f64(2.5)]),
        call("both").constant(&[Const::u64(1), Const::bool(true)]),
        n.node().clone(),
        xs.node().clone(),
        Array::from(vec![1u64, 0]).node().clone(),
        Array::from(vec![true, false]).node().clone(),
        xs.filter(|x| x.gt(0)).node().clone(),
        none.node().clone(),
        none.reshape((0, 3)).node().clone(),
        m.node().clone(),
        pairs().node().clone(),
        m.map(|x| x.gt(0)).node().clone(),
        generate((&n, 2), |(i, j)| i * j).node().clone(),
        cube().node().clone(),
        call("wrong").sum(Domain::Along(&wrong, &[0, 1])),
        call("wrong").diag(cube().node()),
        wrong,
    ]
}

/// Bodies of many types, some of them invalid.
fn any_bodies() -> Vec<Body> {
    let mut leaked = None;
    trace(&[Ty::I64], |x| {
        leaked = Some(x[0]);
        Fields::new()
    });
    let add = || operator(Op::Add, Ty::I64);
    let (mut empty, mut other, mut turned) = (add(), add(), add());
    empty.terms.clear();
    other.params.clear();
    turned.terms.reverse();
    let leaked = trace(&[Ty::I64, Ty::I64], |_| leaked.into_iter().collect());
    let m = matrix();
    vec![
        Body::default(),
        value(1),
        positive(),
        add(),
        body(&[], |_| Field::value(m.sum().node(), place())[0]),
        body(&[], |_| Field::at(m.node(), &[number(7)], place())[0]),
        body(&[Ty::Bool], |x| x[0]),
        leaked,
        empty,
        other,
        turned,
    ]
}

/// Arbitrary operands never panic.
#[test]
fn whatever_comes_in() {
    let (nodes, bodies) = (any_nodes(), any_bodies());
    let run = |node: &Arc<Node>| drop(crate::words(node));
    let part = |k: usize| match k {
        0 => Item::ALL,
        1 => Item::New,
        2 => Item::One(Amount::Negative(5)),
        k => Item::Part(
            (
                Amount::Delayed(nodes[k % nodes.len()].clone()),
                Some(Amount::from(-1)),
            ),
            2,
        ),
    };
    for (k, x) in nodes.iter().enumerate() {
        for axis in [0, 1, 2, usize::MAX] {
            for (_, make) in of_an_axis() {
                run(&make(call("f"), x, axis));
            }
            run(&call("f").slice_along(x, axis, part(k)));
            let at = Amount::Delayed(x.clone());
            run(&call("f").split(&nodes[10], axis, &at).0);
            run(&call("f").select(&nodes[10], axis, x));
            run(&call("f").select(x, axis, &nodes[5]));
            let all = [x.clone(), nodes[(k + axis % 5) % nodes.len()].clone()];
            run(&call("f").concatenate(axis, &all));
            run(&call("f").stack(axis, &all));
            run(&call("f").sum(Domain::Along(x, &[axis, 0])));
        }
        run(&call("f").transpose(x));
        run(&call("f").permute_axes(x, &[1, 0]));
        run(&call("f").flatten(x));
        run(&call("f").diag(x));
        run(&call("f").enumerate(x));
        run(&call("f").sum(Domain::Along(x, &[])));
        let items: Vec<Item> = (0..3).map(|i| part((k + i) % 7)).collect();
        for n in 0..=3 {
            run(&call("f").slice(x, &items[..n]));
            run(&call("f").broadcast(x, &items[..n]));
            run(&call("f").slice(x, &vec![Item::ALL; n]));
        }
        let axis = Axis::delayed(x.clone());
        let of_axis = Shape::new([Axis::from(2), axis.clone()]);
        run(&call("f").generate_in(&of_axis, |i| i.iter().copied().collect()));
        run(&call("f").pad(&nodes[4], &[(axis.clone(), axis)], &value(0)));
        run(&call("f").reshape(&nodes[4], Some(of_axis.clone())));
        for y in &nodes {
            run(&call("f").dot(x, y));
            run(&call("f").outer(x, y, &bodies[3]));
            run(&call("f").permute(x, y, bodies[3].clone(), |i| (None, i.to_vec())));
            run(&call("f").backpermute(x, &of_axis, |i| {
                Field::value(y, place())
                    .into_iter()
                    .chain(i.iter().copied())
                    .collect()
            }));
            for all in call("f").map_rows(x, |row| vec![row.clone(), y.clone()]) {
                run(&all);
            }
        }
        for b in &bodies {
            let border = Border {
                along: vec![Some(Boundary::Constant(b.clone())); x.rank.into()],
                outside: None,
            };
            let sizes = vec![3; x.rank.into()];
            run(&call("f").stencil(x, &sizes, &border, |window| window[0].clone()));
            run(&call("f").stencil(x, &sizes, &border, |window| {
                Field::apply(b, &window[1], place())
            }));
            run(&call("f").replicate(&of_axis, b.clone()));
            run(&call("f").triangle_lower(x, 0, b));
            run(&call("f").any(Domain::Along(x, &[0]), b.clone()));
            run(&call("f").count(Domain::Along(x, &[1]), b.clone()));
            run(&call("f").outer(x, x, b));
            run(&call("f").permute(x, x, b.clone(), |i| (Some(i[0]), i.to_vec())));
            for axis in [0, 1] {
                run(&call("f").scan1(Domain::Along(x, &[axis]), b.clone()));
                run(&call("f").scan1_right(Domain::Along(x, &[axis]), b.clone()));
                for fold in [
                    Fold::first(b.clone()),
                    Fold::associative(b.clone(), bodies[3].clone()),
                    Fold::associative(bodies[1].clone(), b.clone()),
                    Fold::sequential(b.clone(), b.clone()),
                    Fold::aggregate(bodies[1].clone(), bodies[3].clone(), b.clone()),
                ] {
                    run(&call("f").fold(Domain::Along(x, &[axis]), fold.clone()));
                    run(&call("f").scan(
                        Domain::Along(x, &[axis]),
                        fold.clone(),
                        ScanKind::Exclusive,
                    ));
                    run(&call("f").fold_seg(x, &nodes[5], fold));
                }
            }
        }
    }
}
