//! The typed front end: inference, and errors stored in the graph.

use livefusion::ast::{BodyBuilder, Builder, Fold, FoldStyle, Kind, Len, ScanKind, Term};
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind};
use loop_lang::{Const, Op, Ty};

#[derive(Clone, Debug, PartialEq, Elt)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Debug, PartialEq, Elt)]
struct Tagged {
    at: Point,
    tag: (u8, bool),
}

fn mistake<T: livefusion::Elt, D: Rank>(a: &Array<T, D>) -> Error {
    *a.node().error.clone().expect("a mistake")
}

fn fine<T: livefusion::Elt, D: Rank>(a: &Array<T, D>) {
    assert_eq!(a.node().error, None);
}

#[test]
fn types_are_inferred() {
    fn mean_free<T: Float>(xs: &Array<T>) -> Array<T> {
        let m = xs.sum();
        xs.map(|x| (x - &m) * T::lit(0.5) + x * x)
    }
    fn square<D: Rank>(a: &Array<f64, D>) -> Array<f64, D> {
        a * a + 1.0
    }
    fn polynomial<T: Float>(x: Exp<T>, coefficients: &[f64]) -> Exp<T> {
        coefficients
            .iter()
            .fold(T::lit(0.0), |a, &k| a * x + T::lit(k))
    }
    let xs: Array<f64> = vec![1.0, 2.0].into();
    let fs = Array::from([1.0f32, 2.0]);
    let is: Array<i64> = (0..2).collect();
    let a = xs.map(|x| 2.0 * x + 1.0);
    let total = a.sum();
    fine(&fs.map(|x| 2.0 * x + 1.0 - x / 3.0));
    fine(&is.map(|i| 1 - i * 3 + (i + 2) * 4));
    let nested = zip((&xs, &zip((&fs, &is))));
    let z = nested.map(|(x, (f, i))| (x * 2.0, f.cast::<f64>() + 1.0, i));
    fine(
        &z.filter(|(x, _, i)| x.gt(0.0) & i.lt(3))
            .map(|(x, y, _)| (y, x + y)),
    );
    fine(
        &xs.map(|x| x / &total)
            .filter(|x| x.gt(&total))
            .map(|x| &total - x),
    );
    let literal_arm: Array<f32> = fs.map(|x| x.gt(0.0).cond(1.0, x));
    fine(&literal_arm);
    let tuple_arms: Array<(f32, i32)> = fs.map(|x| x.gt(0.0).cond((1.0, 2), (x, 3)));
    fine(&tuple_arms);
    fine(
        &zip((&xs, &iota(2))).fold((f64::INFINITY, 0), |(a, i), (b, j)| {
            a.lt(b).cond((a, i), (b, j))
        }),
    );
    fine(&iota(5).map(|i| xs.at(i + 1) * 2.0));
    fine(&(2.0 * &xs - xs.mean() * &xs + xs.at(0)));
    fine(&zip((&xs, &xs, &xs, &xs, &xs, &xs)).map(|(a, b, c, d, e, f)| a + b * c - d / e + f));
    fine(&(&xs, &fs, &is).zip_with(|x, f, i| (x + 1.0, f * 2.0, i.eq(3).cond(1, i))));
    fine(&(xs.any(|x| x.gt(0.0)) & xs.all(|x| x.lt(1.0))));
    fine(&xs.windows(Boundary::Wrap, |[a, b, c]| a + b + c));
    fine(&fs.map(|x| polynomial(x, &[1.0, 2.0])));
    fine(&mean_free(&fs));
    fine(&square(&total));
    fine(&xs.map(|x| {
        let mut sum = x;
        for k in [1.0, 2.0] {
            sum += k * x;
        }
        sum
    }));
    fine(&!(is & 3).map(|i| i.lt(2)));
}

#[test]
fn structs_and_nested_tuples_are_columns() {
    let tagged = Tagged {
        at: Point { x: 1.0, y: 2.0 },
        tag: (7, true),
    };
    let ts = Array::from(vec![tagged.clone()]);
    assert_eq!(ts.node().types[..], [Ty::F64, Ty::F64, Ty::U8, Ty::Bool]);
    let moved = ts.map(|t| TaggedExp {
        at: PointExp { x: t.at.y, ..t.at },
        tag: (t.tag.0 + 1, true.to_exp()),
    });
    fine(&moved);
    fine(
        &ts.map(|t| t.at.x.gt(0.0).cond(t, tagged.clone()))
            .fold1(|a, b| a.at.x.gt(b.at.x).cond(a, b)),
    );
    assert_eq!(moved.node().types, ts.node().types);
}

#[test]
fn lengths_that_differ_are_found_while_building() {
    let (xs, ys) = (Array::from(vec![1.0f64, 2.0]), Array::from(vec![1.0f64]));
    let line = line!() + 1;
    let e = mistake(&xs.zip_with(&ys, |a, b| a + b).map(|x| x + 1.0).sum());
    assert_eq!(
        (e.combinator, e.kind),
        (
            "zip_with",
            ErrorKind::LengthMismatch {
                expected: 2,
                got: 1
            }
        )
    );
    assert_eq!(
        e.location
            .map(|l| (l.file().ends_with("typed.rs"), l.line())),
        Some((true, line))
    );
    assert_eq!(mistake(&(&xs + &ys)).combinator, "add");
    assert_eq!(
        mistake(&xs.pack(&Array::from(vec![true]))).combinator,
        "pack"
    );
    let slice = mistake(&xs.slice(1..3));
    assert_eq!(
        slice.kind,
        ErrorKind::SliceRange {
            start: 1,
            end: 3,
            len: 2
        }
    );
    assert_eq!(mistake(&iota(-1)).combinator, "iota");
}

#[test]
fn a_leaked_expression_is_a_mistake() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let mut leaked = None;
    fine(&xs.map(|x| {
        leaked = Some(x);
        x
    }));
    let leaked = leaked.expect("the closure ran");
    let line = line!() + 1;
    let e = mistake(&xs.map(|x| x + leaked));
    assert_eq!((e.combinator, &e.kind), ("map", &ErrorKind::LeakedExp));
    assert_eq!(e.location.map(|l| l.line()), Some(line));
    // As a result, as a start, after use outside any closure, and in a closure nested in its own.
    assert_eq!(mistake(&xs.map(|_| leaked)).kind, ErrorKind::LeakedExp);
    assert_eq!(
        mistake(&xs.fold(leaked, |a, b| a + b)).kind,
        ErrorKind::LeakedExp
    );
    let outside = leaked * 2.0;
    assert_eq!(mistake(&xs.map(|x| x + outside)).kind, ErrorKind::LeakedExp);
    let nested = xs.map(|x| x + xs.map(|y| y + x).sum());
    assert_eq!(mistake(&nested).kind, ErrorKind::LeakedExp);
    // A loop's state outside the loop.
    let e = mistake(&xs.map(|x| {
        let mut state = x;
        let end = while_loop(
            x,
            |s| {
                state = s;
                s.lt(9.0)
            },
            |s| s * 2.0,
        );
        end + state
    }));
    assert_eq!(e.kind, ErrorKind::LeakedExp);
}

#[test]
fn a_panic_in_a_closure_leaves_no_trace() {
    let xs = Array::from(vec![1.0f64]);
    let panicked =
        std::panic::catch_unwind(|| xs.map(|x| if true { panic!("in the closure") } else { x }));
    assert!(panicked.is_err());
    fine(&xs.map(|x| x + 1.0));
    // Caught inside a closure, with a half-built loop.
    let e = mistake(&xs.map(|x| {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            while_loop(
                x,
                |s| s.lt(1.0),
                |s| if true { panic!("in the step") } else { s },
            )
        }));
        assert!(caught.is_err());
        x
    }));
    assert!(matches!(e.kind, ErrorKind::Malformed { .. }));
    fine(&xs.map(|x| x + 1.0));
}

#[test]
fn literals_work_outside_of_closures() {
    let two = Exp::lit(1.0) + 1.0;
    fine(&Array::from(vec![1.0f64]).map(|x| x * two));
    let bad = Exp::lit(1) / 0;
    let e = mistake(&Array::from(vec![1i64]).map(|x| x * bad));
    assert_eq!(
        e.kind,
        ErrorKind::Division {
            dividend: 1,
            divisor: 0
        }
    );
    let total = Array::from(vec![1i64]).sum();
    let outside = total.value();
    assert!(matches!(
        mistake(&Array::from(vec![1i64]).map(|x| x * outside)).kind,
        ErrorKind::Malformed { .. }
    ));
}

#[test]
fn equal_terms_and_captures_are_one() {
    let xs = Array::from(vec![1.0f64]);
    let (total, table) = (xs.sum(), Array::from(vec![2.0f64]));
    let ys = xs.map(|x| {
        let mut sum = x * x;
        for _ in 0..100 {
            sum = sum + x * x + &total + table.at((x * x).cast::<u64>());
        }
        sum
    });
    let Kind::Map(body) = &ys.node().kind else {
        panic!("not a map")
    };
    assert_eq!(body.captures.len(), 2);
    let muls = body
        .terms
        .iter()
        .filter(|d| matches!(d.term, Term::Op(Op::Mul, _)))
        .count();
    assert_eq!((muls, body.terms.len()), (1, 1 + 1 + 1 + 1 + 1 + 300));
}

#[test]
fn known_parts_are_plain_folds() {
    let xs = Array::from(vec![1.5f32]);
    let sum = xs.sum();
    let Kind::Fold(fold) = &sum.node().kind else {
        panic!("not a fold")
    };
    assert!(matches!(fold.style, FoldStyle::Associative));
    assert_eq!(fold.step.terms.len(), 3);
    assert!(matches!(fold.step.terms[2].term, Term::Op(Op::Add, _)));
    assert_eq!(xs.take(0).node().len, Some(0));
    assert_eq!(xs.reverse().node().len, Some(1));
}

#[test]
fn the_untyped_builder_checks() {
    let named = Builder::named;
    let is_malformed = |node: &livefusion::ast::Node| {
        let kind = node.error.as_ref().map(|e| &e.kind);
        matches!(kind, Some(ErrorKind::Malformed { .. }))
    };
    let xs = Array::from(vec![1.0f64]).node().clone();
    let total = Array::from(vec![1.0f64]).sum().node().clone();
    let identity = |ty: Ty| {
        let mut b = BodyBuilder::new(&[ty]);
        let x = b.param(0);
        b.finish(&[x])
    };
    let start = || {
        let mut b = BodyBuilder::new(&[]);
        let zero = b.lit(Const::u64(0));
        b.finish(&[zero])
    };
    let fold = |style| Fold {
        start: start(),
        step: identity(Ty::U64),
        style,
    };
    let nothing = BodyBuilder::new(&[Ty::F64]).finish(&[]);
    for node in [
        named("map").map(std::slice::from_ref(&xs), identity(Ty::U64)),
        named("map").map(std::slice::from_ref(&xs), nothing),
        named("map").map(&[], BodyBuilder::new(&[]).finish(&[])),
        named("zip").zip(&[xs.clone(), total.clone()]),
        named("zip_shortest").zip_shortest(&[xs.clone(), total.clone()]),
        named("zip_shortest").zip_shortest(&[]),
        named("fields").fields(&xs, 0..2),
        named("fields").fields(&xs, 1..1),
        named("filter").filter(&xs, identity(Ty::F64)),
        named("pack").pack(&xs, &xs),
        named("fold").fold(&xs, fold(FoldStyle::Associative)),
        named("fold").fold(&xs, fold(FoldStyle::First)),
        named("scan").scan(&xs, fold(FoldStyle::First), ScanKind::Inclusive),
        named("scan_total").scan_total(&xs),
        named("scatter").scatter(&xs, &xs, &xs, None),
        named("generate").generate(Len::Delayed(total.clone()), identity(Ty::U64)),
        named("len").len(&total),
        named("manifest").manifest(vec![]),
        named("compute").compute(identity(Ty::U64)),
    ] {
        assert!(is_malformed(&node), "{}: {:?}", node.name, node.error);
        // Consumers carry the same error.
        assert_eq!(named("len").len(&node).error, node.error);
    }
    let mut b = BodyBuilder::new(&[Ty::F64]);
    let (x, one) = (b.param(0), b.lit(Const::u64(1)));
    let bad = b.op(Op::Add, &[x, one]);
    assert!(is_malformed(
        &named("map").map(std::slice::from_ref(&xs), b.finish(&[bad]))
    ));
}

#[test]
fn long_chains_can_be_built_and_dropped() {
    let mut xs = Array::from(vec![1u64]);
    for _ in 0..100_000 {
        xs = xs + 1;
    }
    drop(xs);
    let mut xs = Array::from(vec![1u64]);
    for _ in 0..20_000 {
        xs = iota(xs.len()).reverse();
    }
    assert!(format!("{xs:?}").len() < 200);
}

#[test]
fn nobody_is_forced_by_being_shown() {
    let xs = Array::from((0..100).collect::<Vec<i32>>());
    assert_eq!(xs.to_string(), "[0, 1, 2, 3, ..., 96, 97, 98, 99]");
    let ys = xs.filter(|x| x.gt(1)).map(|x| (x, 0.5));
    assert_eq!(
        format!("{ys:?}"),
        "Array<(i32, f64), Ix1>(map(filter(i32[100])))"
    );
    assert!(ys.node().value.get().is_none());
}

#[test]
fn from_node__of_another_type_or_rank__is_an_error() {
    let xs = Array::from(vec![1i64, 2]);
    let node = xs.node();
    let same = Array::<i64>::from_node(node.clone()).expect("the same type");
    assert_eq!(same.to_vec(), Ok(vec![1, 2]));
    let other = Array::<f64>::from_node(node.clone()).expect_err("another type");
    assert!(
        other.to_string().contains("expected f64 of rank 1"),
        "{other}"
    );
    let other = Array::<i64, Ix2>::from_node(node.clone()).expect_err("another rank");
    assert!(
        other.to_string().contains("expected i64 of rank 2"),
        "{other}"
    );
    let pairs = xs.zip(&xs);
    assert!(Array::<i64>::from_node(pairs.node().clone()).is_err());
    assert!(Array::<(i64, i64)>::from_node(pairs.node().clone()).is_ok());
}
