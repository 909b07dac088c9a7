//! Parts of arrays, and concatenations.

use super::*;

fn part(start: i64, end: Option<i64>, step: u64) -> Item {
    Item::Part((start.into(), end.map(Amount::from)), step)
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn parts() {
    let (m, cube) = (matrix(), cube());
    let xs = cube.flatten();
    let slice = |items: &[Item]| call("slice").slice(cube.node(), items);
    let at = |n: i64| Item::One(n.into());
    same(
        &slice(&[at(1), at(-1), at(0)]),
        cube.slice((1, -1, 0)).node(),
    );
    same(
        &slice(&[Item::ALL, part(-2, None, 1), part(0, Some(-1), 2)]),
        cube.slice((.., -2.., (..-1).step(2))).node(),
    );
    same(
        &slice(&[at(0), Item::New, part(1, Some(2), 1), Item::ALL]),
        cube.slice((0, NewAxis, 1..2, ..)).node(),
    );
    let one = call("slice").slice(xs.node(), &[part(2, Some(-1), 3)]);
    same(&one, xs.slice((2..-1).step(3)).node());
    let late = xs.filter(|x| x.gt(0)).slice(1..);
    let filtered = xs.filter(|x| x.gt(0));
    let one = call("slice").slice(filtered.node(), &[part(1, None, 1)]);
    same(&one, late.node());
    let n = filtered.len();
    let at_n = Item::One(Amount::Delayed(n.node().clone()));
    let all = call("broadcast").broadcast(m.node(), &[Item::ALL, at_n.clone(), Item::ALL]);
    same(&all, m.broadcast((.., &n, ..)).node());
    let after = call("slice").slice(
        xs.node(),
        &[Item::Part((Amount::Delayed(n.node().clone()), None), 1)],
    );
    same(&after, xs.slice(&n..).node());
    for axis in 0..3 {
        let along = call("slice").slice_along(cube.node(), axis, part(1, Some(-1), 1));
        same(&along, cube.along(axis).slice(1..-1).node());
        let along = call("at").slice_along(cube.node(), axis, at(-1));
        same(&along, cube.along(axis).at(-1).node());
        let (left, right) = call("split").split(cube.node(), axis, &Amount::from(1));
        let (first, rest) = cube.split(axis, 1);
        same(&left, first.node());
        same(&right, rest.node());
    }
    let behind = call("broadcast").broadcast(m.node(), &[Item::ALL, Item::ALL, at(2)]);
    same(&behind, m.broadcast((.., .., 2)).node());
}

#[test]
fn parts_that_are_not_there() {
    let (m, xs) = (matrix(), matrix().flatten());
    let slice = |items: &[Item]| call("slice").slice(m.node(), items);
    let at = |n: i64| Item::One(n.into());
    let expected = "an item for each of 2 axes";
    mistake(&slice(&[Item::ALL]), "slice", expected, "1");
    mistake(&slice(&[Item::ALL, Item::New]), "slice", expected, "1");
    mistake(&slice(&[Item::ALL, at(0), at(0)]), "slice", expected, "3");
    let kind = error(&slice(&[at(-3), at(0)])).kind;
    let (index, len) = (-3, 2);
    assert_eq!(kind, ErrorKind::OutOfRange { index, len });
    let kind = error(&slice(&[Item::ALL, part(1, Some(4), 1)])).kind;
    assert!(matches!(kind, ErrorKind::SliceRange { .. }));
    let none = slice(&[part(0, None, 0), Item::ALL]);
    mistake(&none, "slice", "a step of 1 or more", "0");
    let new = call("slice").slice_along(m.node(), 0, Item::New);
    mistake(&new, "slice", "a range or an index", "a new axis");
    let float = call("f").constant(&[Const::f64(1.0)]);
    for node in [float, m.node().clone()] {
        let late = Amount::Delayed(node);
        let item = Item::One(late.clone());
        assert_eq!(
            error(&slice(&[Item::ALL, item.clone()])).location,
            Some(place())
        );
        let part = Item::Part((late.clone(), Some(late.clone())), 1);
        assert_eq!(
            error(&slice(&[Item::ALL, part.clone()])).location,
            Some(place())
        );
        let of_one = call("slice").slice(xs.node(), &[part]);
        assert_eq!(error(&of_one).location, Some(place()));
        let all = call("broadcast").broadcast(xs.node(), &[Item::ALL, item]);
        assert_eq!(error(&all).location, Some(place()));
        let (left, right) = call("split").split(m.node(), 0, &late);
        assert_eq!(error(&left).location, Some(place()));
        assert_eq!(error(&right).location, Some(place()));
    }
    let broadcast = |items: &[Item]| call("broadcast").broadcast(m.node(), items);
    mistake(&broadcast(&[Item::ALL, at(2)]), "broadcast", expected, "1");
    let negative = broadcast(&[Item::ALL, Item::ALL, at(-1)]);
    mistake(&negative, "broadcast", "a number of 0 or more", "-1");
    let range = broadcast(&[Item::ALL, part(1, None, 1)]);
    mistake(
        &range,
        "broadcast",
        "`..` for an axis, and lengths of new ones",
        "a range",
    );
}

#[test]
fn arrays_beside_each_other() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    let two = |a: &Arc<Node>, b: &Arc<Node>| [a.clone(), b.clone()];
    for axis in 0..3 {
        let joined = call("concatenate").concatenate(axis, &two(cube.node(), cube.node()));
        same(&joined, concatenate(axis, [&cube, &cube]).node());
        let stacked = call("stack").stack(axis, &two(pairs.node(), pairs.node()));
        same(&stacked, stack(axis, [&pairs, &pairs]).node());
    }
    let none = call("concatenate").concatenate(0, &[]);
    mistake(&none, "concatenate", "at least one array", "none");
    let none = call("stack").stack(0, &[]);
    mistake(&none, "stack", "at least one array", "none");
    let types = call("stack").stack(0, &two(m.node(), pairs.node()));
    mistake(&types, "stack", "elements of type i64", "(i64, f64)");
    let ranks = call("concatenate").concatenate(0, &two(m.node(), cube.node()));
    mistake(&ranks, "concatenate", "arrays of rank 2", "rank 3");
    let turned = m.transpose();
    let shapes = call("stack").stack(0, &two(m.node(), turned.node()));
    assert!(matches!(
        error(&shapes).kind,
        ErrorKind::ShapeMismatch { .. }
    ));
    let beyond = call("stack").stack(3, &two(m.node(), m.node()));
    mistake(&beyond, "stack", "an axis of an array of rank 2", "axis 3");
}
