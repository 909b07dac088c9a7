//! Stencils.

use super::*;

#[test]
fn stencils() {
    let (m, cube, xs) = (matrix(), cube(), matrix().flatten());
    let total = |window: &[Fields]| -> Fields {
        let rest = window[1..].iter();
        Fields::from_iter([rest.fold(window[0][0], |all, x| op(Op::Add, &[all, x[0]]))])
    };
    let along = |all: &[Boundary<i64>]| -> Vec<Option<Boundary<Body>>> {
        let one = |boundary: &Boundary<i64>| match boundary {
            Boundary::Clamp => Boundary::Clamp,
            Boundary::Wrap => Boundary::Wrap,
            Boundary::Mirror => Boundary::Mirror,
            Boundary::Constant(c) => Boundary::Constant(value(*c)),
        };
        all.iter().map(|boundary| Some(one(boundary))).collect()
    };
    let all = [
        Boundary::Clamp,
        Boundary::Wrap,
        Boundary::Mirror,
        Boundary::Constant(9),
    ];
    for a in all {
        let border = Border {
            along: along(&[a]),
            outside: None,
        };
        let one = call("stencil1").stencil(xs.node(), &[4], &border, total);
        same(&one, xs.stencil1(a, |[a, b, c, d]| a + b + c + d).node());
        for b in all {
            let border = Border {
                along: along(&[a, b]),
                outside: None,
            };
            let two = call("stencil2").stencil(m.node(), &[2, 3], &border, total);
            let typed = m.stencil2([a, b], |[[a, b, c], [d, e, f]]| a + b + c + d + e + f);
            same(&two, typed.node());
        }
    }
    let border = Border {
        along: along(&[all[0], all[1], all[3]]),
        outside: None,
    };
    let three = call("stencil3").stencil(cube.node(), &[1, 2, 2], &border, total);
    let typed = cube.stencil3([all[0], all[1], all[3]], |[[[a, b], [c, d]]]| a + b + c + d);
    same(&three, typed.node());
    let of_index = |index: &[Field]| -> Fields {
        let ten = op(Op::Mul, &[index[0], int(10)]);
        Fields::from_iter([op(Op::Add, &[ten, index[1]])])
    };
    for clamped in [false, true] {
        let second = clamped.then_some(Boundary::Clamp);
        let border = Border {
            along: vec![None, second],
            outside: Some(&of_index),
        };
        let two = call("stencil2").stencil(m.node(), &[3, 2], &border, total);
        let edges = outside(|[i, j]| i * 10 + j);
        let edges = match clamped {
            true => edges.along(1, Boundary::Clamp),
            false => edges,
        };
        let typed = m.stencil2(edges, |[[a, b], [c, d], [e, f]]| a + b + c + d + e + f);
        same(&two, typed.node());
    }
}

#[test]
fn stencils_of_others() {
    let m = matrix();
    let here = |window: &[Fields]| window.first().cloned().unwrap_or_default();
    let stencil = |sizes: &[usize], along: Vec<Option<Boundary<Body>>>| {
        let border = Border {
            along,
            outside: None,
        };
        call("stencil2").stencil(m.node(), sizes, &border, here)
    };
    let clamp = || Some(Boundary::Clamp);
    let name = "stencil2";
    mistake(
        &stencil(&[1], vec![clamp(), clamp()]),
        name,
        "a size for each of 2 axes",
        "[1]",
    );
    mistake(
        &stencil(&[1, 1], vec![clamp()]),
        name,
        "a boundary for each of 2 axes",
        "1",
    );
    let none = stencil(&[1, 1], vec![clamp(), None]);
    mistake(
        &none,
        name,
        "a boundary along each axis, or a function",
        "neither",
    );
    let float = Boundary::Constant(body(&[], |_| Field::literal(Const::f64(0.0))));
    let other = stencil(&[1, 1], vec![clamp(), Some(float)]);
    mistake(&other, name, "a value to i64", "one to f64");
    let large = stencil(&[usize::MAX, 2], vec![clamp(), clamp()]);
    assert_eq!(error(&large).combinator, name);
    let empty = stencil(&[0, 2], vec![clamp(), clamp()]);
    assert_eq!(error(&empty).combinator, name);
    let two = |_: &[Field]| Fields::from_iter([int(1), int(2)]);
    let border = Border {
        along: vec![None, None],
        outside: Some(&two),
    };
    let float = |_: &[Field]| Fields::from_iter([Field::literal(Const::f64(0.0))]);
    let other = Border {
        along: vec![None, None],
        outside: Some(&float),
    };
    let _ = call(name).stencil(m.node(), &[3, 3], &border, here);
    let wrong = call(name).stencil(m.node(), &[3, 3], &other, here);
    assert_eq!(error(&wrong).combinator, name);
}
