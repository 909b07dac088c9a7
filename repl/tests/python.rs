//! Python arithmetic and slices: random cases against a reference in this file.

use livefusion_repl::session::{Session, on_stack};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

/// Runs random cases on a large stack.
fn check<S: Strategy + Send>(strategy: S, test: impl Fn(S::Value) + Send)
where
    S::Value: std::fmt::Debug + PartialEq + Send,
{
    let ran = on_stack(move || {
        let config = ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(300)
        };
        TestRunner::new(config).run(&strategy, |case| {
            test(case);
            Ok(())
        })
    });
    assert_eq!(ran, Some(Ok(())));
}

fn answer(text: &str) -> String {
    let answer = Session::new().submit("<1>", text);
    answer.out + answer.err.lines().next().unwrap_or("")
}

/// Python's result for two integers. `None` for an error, or for a result beyond 64 bits.
fn integers(a: i128, op: &str, b: i128) -> Option<String> {
    let floor = || {
        let (q, r) = (a.checked_div(b)?, a.checked_rem(b)?);
        Some(if r != 0 && (r < 0) != (b < 0) {
            (q - 1, r + b)
        } else {
            (q, r)
        })
    };
    let exact = match op {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "//" => floor()?.0,
        "%" => floor()?.1,
        "**" if b >= 0 && a.abs() <= 1 => a.pow(if b == 0 { 0 } else { 2 - (b % 2) as u32 }),
        "**" => a.checked_pow(u32::try_from(b).ok()?)?,
        _ => return Some(format!("{:?}\n", a as f64 / b as f64)),
    };
    let fits = (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&exact);
    fits.then(|| format!("{exact}\n"))
}

/// `divmod` of CPython's floats.
fn divmod(a: f64, b: f64) -> (f64, f64) {
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 {
        if (b < 0.0) != (rest < 0.0) {
            rest += b;
            quotient -= 1.0;
        }
    } else {
        rest = 0f64.copysign(b);
    }
    let floor = match quotient != 0.0 {
        true if quotient - quotient.floor() > 0.5 => quotient.floor() + 1.0,
        true => quotient.floor(),
        false => 0f64.copysign(a / b),
    };
    (floor, rest)
}

#[test]
fn arithmetic__integers_in_text__are_those_of_python() {
    let near = prop_oneof![-20i64..20, select(vec![i64::MAX, i64::MIN + 1, 1 << 40])];
    let op = select(vec!["+", "-", "*", "//", "%", "**", "/"]);
    check((near.clone(), op, near), |(a, op, b)| {
        let text = format!("({a}) {op} ({b})");
        let got = answer(&text);
        match integers(a.into(), op, b.into()) {
            Some(exact) => assert_eq!(got, exact, "{text}"),
            None if op == "**" && b < 0 && a != 0 => {
                assert!(!got.starts_with("error"), "{text}: {got}")
            }
            None => assert!(got.starts_with("error: "), "{text}: {got}"),
        }
    });
}

#[test]
fn arithmetic__integers_in_arrays__are_those_of_python() {
    let number = -30i64..30;
    let op = select(vec!["+", "-", "*", "//", "%", "/"]);
    let literal = any::<bool>();
    check(
        (vec(number.clone(), 1..6), op, number, literal),
        |(xs, op, b, literal)| {
            let b = if b == 0 { 7 } else { b };
            // A known divisor uses other code than an unknown one.
            let right = if literal {
                format!("({b})")
            } else {
                format!("{:?}", vec![b; xs.len()])
            };
            let text = format!("{xs:?} {op} {right}");
            let each = xs
                .iter()
                .map(|a| integers((*a).into(), op, b.into()).expect("small"));
            let each: Vec<String> = each.map(|x| x.trim().to_string()).collect();
            assert_eq!(answer(&text), format!("[{}]\n", each.join(", ")), "{text}");
        },
    );
}

#[test]
fn arithmetic__powers_in_arrays__are_those_of_python() {
    check((vec(-9i64..9, 1..5), 0u32..12), |(xs, n)| {
        let each: Vec<i64> = xs.iter().map(|x| x.pow(n)).collect();
        assert_eq!(answer(&format!("{xs:?} ** {n}")), format!("{each:?}\n"));
        let ns = vec![n; xs.len()];
        assert_eq!(answer(&format!("{xs:?} ** {ns:?}")), format!("{each:?}\n"));
    });
    assert!(answer("[2] ** [-1]").starts_with("error: "));
}

#[test]
fn arithmetic__floats__are_those_of_python() {
    let number = prop_oneof![
        -50.0..50.0f64,
        select(vec![0.1, -0.1, 1.0, 2.0, -3.0, 0.0, -0.0, 1e300])
    ];
    check((number.clone(), number), |(a, b)| {
        let b = if b == 0.0 { 0.7 } else { b };
        let (floor, rest) = divmod(a, b);
        let shown = format!("({floor:?}, {rest:?})\n");
        assert_eq!(
            answer(&format!("(({a:?}) // ({b:?}), ({a:?}) % ({b:?}))")),
            shown
        );
        let shown = format!("([{floor:?}], [{rest:?}])\n");
        assert_eq!(
            answer(&format!("([{a:?}] // ({b:?}), [{a:?}] % [{b:?}])")),
            shown
        );
    });
}

/// The indices of Python's `range(*slice(start, end, step).indices(n))`.
fn places(start: Option<i64>, end: Option<i64>, step: i64, n: i64) -> Vec<usize> {
    let (low, high) = if step < 0 { (-1, n - 1) } else { (0, n) };
    let place = |x: i64| if x < 0 { (x + n).max(low) } else { x.min(high) };
    let (first, last) = if step < 0 { (high, low) } else { (low, high) };
    let (mut at, end) = (start.map_or(first, place), end.map_or(last, place));
    let mut all = Vec::new();
    while if step < 0 { at > end } else { at < end } {
        all.push(at as usize);
        at += step;
    }
    all
}

fn text(start: Option<i64>, end: Option<i64>, step: i64) -> String {
    let end_of = |x: Option<i64>| x.map_or(String::new(), |x| x.to_string());
    let step = if step == 1 {
        String::new()
    } else {
        format!(":{step}")
    };
    format!("{}:{}{step}", end_of(start), end_of(end))
}

fn step() -> impl Strategy<Value = i64> + Clone {
    select(vec![1i64, 1, 2, 3, -1, -2, -3])
}

#[test]
fn slices__vectors__are_those_of_python() {
    let end = of(-9i64..9);
    check(
        (0i64..7, end.clone(), end, step()),
        |(n, start, end, step)| {
            let xs: Vec<i64> = (0..n).map(|k| 10 * k).collect();
            let want: Vec<i64> = places(start, end, step, n)
                .into_iter()
                .map(|k| xs[k])
                .collect();
            let slice = text(start, end, step);
            let source = format!(
                "[{}]",
                xs.iter()
                    .map(|x| format!("{x}i64"))
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            if n > 0 {
                assert_eq!(
                    answer(&format!("{source}[{slice}]")),
                    format!("{want:?}\n"),
                    "{slice}"
                );
            }
            // A length known only at run time, and a delayed end.
            let stream = format!("let xs = (0..{n}).filter(_ >= 0) * 10");
            assert_eq!(
                answer(&format!("{stream}\nxs[{slice}]")),
                format!("{want:?}\n"),
                "{slice}"
            );
            if let Some(start) = start {
                let rest = &slice[slice.find(':').expect("a colon")..];
                let delayed = format!("{stream}\nlet a = [{start}].sum()\nxs[a{rest}]")
                    .replace("a::", "a: :");
                assert_eq!(answer(&delayed), format!("{want:?}\n"), "{delayed}");
            }
        },
    );
}

#[test]
fn slices__matrices__are_those_of_python() {
    let part = (of(-5i64..5), of(-5i64..5), step());
    check(
        (1i64..4, 1i64..4, part.clone(), part),
        |(h, w, (a, b, s), (c, d, t))| {
            let rows: Vec<Vec<usize>> = places(a, b, s, h)
                .into_iter()
                .map(|i| {
                    places(c, d, t, w)
                        .into_iter()
                        .map(|j| i * w as usize + j)
                        .collect()
                })
                .collect();
            let all: Vec<usize> = rows.into_iter().flatten().collect();
            let text = format!(
                "arange({}).reshape({h}, {w})[{}, {}].flatten()",
                h * w,
                text(a, b, s),
                text(c, d, t)
            );
            assert_eq!(answer(&text), format!("{all:?}\n"), "{text}");
        },
    );
}

#[test]
fn slices__single_indices__are_elements_or_out_of_range() {
    check((1i64..6, -8i64..8), |(n, at)| {
        let got = answer(&format!("arange({n})[{at}]"));
        let place = if at < 0 { at + n } else { at };
        match (0..n).contains(&place) {
            true => assert_eq!(got, format!("{place}\n")),
            false => assert!(got.starts_with("error: "), "{n} {at}: {got}"),
        }
    });
}
