//! Elements: index functions, moved elements, and random access.

use super::*;

#[test]
fn elements_as_functions_of_their_index() {
    let (three, late) = (Array::from(vec![1i64, 2, 3]), matrix().flatten());
    let n = late.filter(|x| x.gt(0)).len();
    let late = Shape::new([Axis::delayed(n.node().clone()), Axis::from(2)]);
    let digits = |index: &[Field]| -> Fields {
        let ten = |all: Field, i: &Field| op(Op::Add, &[op(Op::Mul, &[all, number(10)]), *i]);
        Fields::from_iter([index.iter().fold(number(0), ten)])
    };
    let table = call("generate").generate_in(&late, digits);
    same(&table, generate((&n, 2), |(i, j)| (i * 10) + j).node());
    let one = call("generate").generate_in(&shape(&[4]), digits);
    same(&one, generate(4, |i| i + 0u64).node());
    let twos = call("replicate").replicate(&shape(&[2, 3]), value(2));
    same(&twos, replicate((2, 3), 2i64).node());
    let of_total = body(&[], |_| Field::value(three.sum().node(), place())[0]);
    let totals = call("replicate").replicate(&shape(&[2]), of_total);
    same(&totals, replicate(2, three.sum()).node());
    let cube = cube();
    let flat = call("flatten").flatten(cube.node());
    same(&flat, cube.flatten().node());
    let other = call("reshape").reshape(cube.node(), Some(shape(&[4, 6])));
    same(&other, cube.reshape((4, 6)).node());
    let other = call("reshape").reshape(cube.node(), Some(shape(&[24])));
    same(&other, cube.reshape(24).node());
}

#[test]
fn shapes_that_are_none() {
    let (m, float) = (matrix(), call("f").constant(&[Const::f64(2.0)]));
    let expected = "a shape for the elements of 6 elements";
    let wrong = call("reshape").reshape(m.node(), Some(shape(&[2, 2])));
    mistake(&wrong, "reshape", expected, "(2, 2)");
    let wrong = call("reshape").reshape(m.node(), Some(shape(&[5])));
    let kind = error(&wrong).kind;
    let (expected, got) = (6, 5);
    assert_eq!(kind, ErrorKind::LengthMismatch { expected, got });
    let none = call("reshape").reshape(m.node(), Some(shape(&[])));
    mistake(&none, "reshape", "a shape of one axis or more", "0 axes");
    let many = call("reshape").reshape(m.node(), Some(shape(&[1; 300])));
    assert_eq!(error(&many).combinator, "reshape");
    for axes in [
        vec![float.clone()],
        vec![float.clone(); 2],
        vec![m.node().clone(); 2],
    ] {
        let wrong = Shape::new(axes.into_iter().map(Axis::delayed));
        let of_index = |index: &[Field]| -> Fields { index.iter().copied().collect() };
        for node in [
            call("generate").generate_in(&wrong, of_index),
            call("generate").replicate(&wrong, value(1)),
            call("generate").reshape(m.node(), Some(wrong.clone())),
            call("generate").backpermute(m.node(), &wrong, |i| [i[0], i[0]].into_iter().collect()),
        ] {
            assert_eq!(error(&node).location, Some(place()));
        }
    }
    let wrong = call("replicate").replicate(&shape(&[2]), positive());
    mistake(&wrong, "replicate", "a function from ()", "one from i64");
}

#[test]
fn elements_elsewhere() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    same(
        &call("transpose").transpose(cube.node()),
        cube.transpose().node(),
    );
    same(
        &call("transpose").transpose(pairs.node()),
        pairs.transpose().node(),
    );
    let order = call("permute_axes").permute_axes(cube.node(), &[2, 0, 1]);
    same(&order, cube.permute_axes([2, 0, 1]).node());
    same(
        &call("swap_axes").swap_axes(cube.node(), 0, 2),
        cube.swap_axes(0, 2).node(),
    );
    for axis in 0..3 {
        let reversed = call("reverse").reverse_along(cube.node(), axis);
        same(&reversed, cube.along(axis).reverse().node());
        for by in [-3, 0, 1, 9, i64::MIN] {
            let rolled = call("roll").roll(cube.node(), axis, by);
            same(&rolled, cube.roll(axis, by).node());
        }
    }
    let by = |n: u64| (Axis::from(n), Axis::from(n + 1));
    let padded = call("pad").pad(m.node(), &[by(1), by(0)], &value(7));
    same(&padded, m.pad([(1, 2), (0, 1)], 7).node());
    same(&call("diag").diag(m.node()), m.diag().node());
    let lower = call("triangle_lower").triangle_lower(m.node(), 1, &value(7));
    same(&lower, m.triangle_lower(1, 7).node());
    let upper = call("triangle_upper").triangle_upper(m.node(), -1, &value(7));
    same(&upper, m.triangle_upper(-1, 7).node());
    let numbered = call("enumerate").enumerate(pairs.node());
    same(&numbered, pairs.enumerate().node());
}

#[test]
fn elements_elsewhere_that_are_not_there() {
    let (m, cube) = (matrix(), cube());
    let order = |order: &[usize]| call("permute_axes").permute_axes(m.node(), order);
    mistake(&order(&[0]), "permute_axes", "each of 2 axes once", "[0]");
    mistake(
        &order(&[1, 1]),
        "permute_axes",
        "axes that differ",
        "[1, 1]",
    );
    let pad = |by: &[(Axis, Axis)], fill: &Body| call("pad").pad(m.node(), by, fill);
    let one = (Axis::from(1), Axis::from(1));
    let expected = "a pair for each of 2 axes";
    mistake(
        &pad(std::slice::from_ref(&one), &value(0)),
        "pad",
        expected,
        "another number of pairs",
    );
    let float = body(&[], |_| Field::literal(Const::f64(0.0)));
    mistake(
        &pad(&[one.clone(), one], &float),
        "pad",
        "a value to i64",
        "one to f64",
    );
    let far = (Axis::from(u64::MAX), Axis::from(1));
    assert_eq!(
        error(&pad(&[far.clone(), far], &value(0))).combinator,
        "pad"
    );
    let got = "i64 of rank 3 from `map`";
    mistake(&call("diag").diag(cube.node()), "diag", "a matrix", got);
    let lower = call("triangle_lower").triangle_lower(cube.node(), 0, &value(0));
    mistake(&lower, "triangle_lower", "a matrix", got);
    let upper = call("triangle_upper").triangle_upper(m.node(), 0, &float);
    mistake(&upper, "triangle_upper", "a value to i64", "one to f64");
}

#[test]
fn random_access() {
    let (m, cube, pairs) = (matrix(), cube(), pairs());
    let swapped = call("backpermute").backpermute(pairs.node(), &shape(&[3, 2]), |i| {
        [i[1], i[0]].into_iter().collect()
    });
    same(&swapped, pairs.backpermute((3, 2), |(i, j)| (j, i)).node());
    let line = call("backpermute").backpermute(cube.node(), &shape(&[3]), |i| {
        [number(1), i[0], i[0]].into_iter().collect()
    });
    same(&line, cube.backpermute(3, |i| (1, i, i)).node());
    let indices = Array::from(vec![1i32, 1, 0]);
    for axis in 0..2 {
        let chosen = call("select").select(m.node(), axis, indices.node());
        same(&chosen, m.select(axis, &indices).node());
    }
    let base = replicate((3, 2), 100i64);
    let add = || operator(Op::Add, Ty::I64);
    let moved = call("permute").permute(m.node(), base.node(), add(), |i| (None, vec![i[1], i[0]]));
    same(
        &moved,
        m.permute(&base, |a, b| a + b, |(i, j)| (j, i)).node(),
    );
    let some = call("permute").permute(m.node(), base.node(), add(), |i| {
        (Some(op(Op::Ne, i)), vec![i[1], i[0]])
    });
    let typed = m.permute(&base, |a, b| a + b, |(i, j)| i.ne(j).then_some((j, i)));
    same(&some, typed.node());
}

#[test]
fn random_access_to_what_is_not_there() {
    let (m, base) = (matrix(), replicate((3, 2), 100i64));
    let read = |index: Vec<Field>| {
        call("backpermute").backpermute(m.node(), &shape(&[2]), |_| index.into_iter().collect())
    };
    let few = error(&read(vec![number(0)]));
    assert_eq!(few.combinator, "backpermute");
    assert!(few.to_string().contains("an index of 2 parts"), "{few}");
    let float = error(&read(vec![number(0), Field::literal(Const::f64(0.0))]));
    assert!(
        float.to_string().contains("an index of integers"),
        "{float}"
    );
    let beyond = error(&read(vec![number(0), number(3)]));
    let (index, len) = (3, 3);
    assert_eq!(beyond.kind, ErrorKind::OutOfRange { index, len });
    type Target = fn(&[Field]) -> (Option<Field>, Vec<Field>);
    let permute = |op, f: Target| call("permute").permute(m.node(), base.node(), op, f);
    let add = || operator(Op::Add, Ty::I64);
    assert_eq!(
        error(&permute(add(), |i| (None, vec![i[0]]))).combinator,
        "permute"
    );
    assert_eq!(
        error(&permute(add(), |i| (Some(i[0]), i.to_vec()))).combinator,
        "permute"
    );
    assert_eq!(
        error(&permute(positive(), |i| (None, i.to_vec()))).combinator,
        "permute"
    );
    let other = pairs();
    let types = call("permute").permute(other.node(), base.node(), add(), |i| (None, i.to_vec()));
    assert_eq!(error(&types).combinator, "permute");
}
