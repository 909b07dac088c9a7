//! User-defined combinators fuse like built-ins, and their mistakes are errors.

use livefusion::ast::{Body, BodyBuilder};
use livefusion::custom::{Combinator, Output, Template};
use livefusion::prelude::*;
use livefusion::{Error, ErrorKind, Result};
use loop_lang::ir::{Atom, Var};
use loop_lang::{Const, Op, Ty};

#[derive(Debug)]
struct Recurrence {
    start: i64,
}

impl Combinator for Recurrence {
    fn name(&self) -> &'static str {
        "recurrence"
    }
    fn output(&self, input: &[Ty]) -> Option<Output> {
        (input == [Ty::I64, Ty::I64]).then(|| Output::InStep(vec![Ty::I64]))
    }
    fn key(&self) -> Vec<u64> {
        vec![self.start as u64]
    }
    fn fill(&self, t: &mut Template<'_, '_>) -> Result<()> {
        let pair = [t.element(0)?, t.element(1)?];
        let start = [Const::int(Ty::I64, 1), Const::int(Ty::I64, self.start)];
        let running = t.scan(&start, &join(), &pair)?;
        t.give(0, running[1])
    }
}

fn join() -> Body {
    let mut f = BodyBuilder::new(&[Ty::I64; 4]);
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| f.param(k));
    let factor = f.op(Op::Mul, &[a, c]);
    let moved = f.op(Op::Mul, &[b, c]);
    let sum = f.op(Op::Add, &[moved, d]);
    f.finish(&[factor, sum])
}

/// Every n-th element, and the total count.
#[derive(Debug)]
struct Every(u64);

impl Combinator for Every {
    fn name(&self) -> &'static str {
        "every"
    }
    fn output(&self, input: &[Ty]) -> Option<Output> {
        Some(Output::Some(input.to_vec()))
    }
    fn key(&self) -> Vec<u64> {
        vec![self.0]
    }
    fn fill(&self, t: &mut Template<'_, '_>) -> Result<()> {
        let left = t.carry(&[Const::u64(0)])?;
        let zero = Const::u64(0).into();
        let keep = t.op(Op::Eq, &[left.values[0], zero])?;
        let less = t.op(Op::Sub, &[left.values[0], Const::u64(1).into()])?;
        let next = t.op(Op::Select, &[keep, Const::u64(self.0 - 1).into(), less])?;
        t.next(&left, &[next])?;
        let x = t.element(0)?;
        t.give(0, x)?;
        t.keep_if(keep)
    }
}

/// The last element's index times two.
#[derive(Debug)]
struct Last;

impl Combinator for Last {
    fn name(&self) -> &'static str {
        "last"
    }
    fn output(&self, _: &[Ty]) -> Option<Output> {
        Some(Output::Scalar(vec![Ty::U64]))
    }
    fn fill(&self, t: &mut Template<'_, '_>) -> Result<()> {
        let last = t.carry(&[Const::u64(0)])?;
        let index = t.index();
        let twice = t.op(Op::Add, &[index, index])?;
        t.next(&last, &[twice])?;
        t.give(0, last.values[0])
    }
}

fn engines() -> [Engine; 2] {
    [Engine::interp(), Engine::c()]
}

#[test]
fn they_share_a_loop_with_what_is_around_them() -> Result<()> {
    for engine in engines() {
        let xs: Vec<(i64, i64)> = (0..50_000).map(|i| (i % 5 - 2, i % 7)).collect();
        let pairs = Array::from(xs.clone());
        let ys: Array<i64> = pairs.custom(Recurrence { start: 3 });
        let some: Array<i64> = ys.map(|y| y + 1).filter(|y| (y % 2).eq(0)).custom(Every(3));
        let total = some.sum();
        let last: Array<u64, Ix0> = some.custom_scalar(Last);
        let e = engine.explain(&[
            some.node().clone(),
            total.node().clone(),
            last.node().clone(),
        ])?;
        assert_eq!(e.loops.len(), 1, "{e}");
        assert_eq!(e.loops[0].arrays_written, 1);
        let (got, sum, index) = (&some, &total, &last).force_with(&engine)?;
        let mut y = 3i64;
        let running = xs.iter().map(|(a, b)| {
            y = y.wrapping_mul(*a).wrapping_add(*b);
            y.wrapping_add(1)
        });
        let even: Vec<i64> = running.filter(|y| y % 2 == 0).collect();
        let want: Vec<i64> = even.into_iter().step_by(3).collect();
        assert_eq!(got, want);
        assert_eq!(sum, want.iter().fold(0, |a: i64, b| a.wrapping_add(*b)));
        assert_eq!(index, 2 * (want.len() as u64 - 1));
    }
    Ok(())
}

#[test]
fn keys_tell_them_apart() -> Result<()> {
    let engine = Engine::interp();
    let pairs = Array::from(vec![(2i64, 1i64), (3, 0)]);
    let (one, five) = (Recurrence { start: 1 }, Recurrence { start: 5 });
    let (one, five): (Array<i64>, Array<i64>) = (pairs.custom(one), pairs.custom(five));
    assert_eq!(one.force_with(&engine)?, [3, 9]);
    assert_eq!(five.force_with(&engine)?, [11, 33]);
    let again: Array<i64> = pairs.custom(Recurrence { start: 5 });
    assert_eq!(again.force_with(&engine)?, [11, 33]);
    assert_eq!(engine.counters().misses, 2);
    Ok(())
}

/// Two types with one name: `type_name` cannot distinguish local types of one function.
macro_rules! times {
    ($n:literal) => {{
        #[derive(Debug)]
        struct Times;

        impl Combinator for Times {
            fn name(&self) -> &'static str {
                "times"
            }
            fn output(&self, input: &[Ty]) -> Option<Output> {
                Some(Output::InStep(input.to_vec()))
            }
            fn fill(&self, t: &mut Template<'_, '_>) -> Result<()> {
                let x = t.element(0)?;
                let product = t.op(Op::Mul, &[x, Const::int(Ty::I64, $n).into()])?;
                t.give(0, product)
            }
        }
        Times
    }};
}

#[test]
fn types_of_one_name_are_two_combinators() -> Result<()> {
    for engine in engines() {
        let xs = Array::from(vec![1i64, 2]);
        let (twice, ten): (Array<i64>, Array<i64>) = (xs.custom(times!(2)), xs.custom(times!(10)));
        assert_eq!(twice.force_with(&engine)?, [2, 4]);
        assert_eq!(ten.force_with(&engine)?, [10, 20]);
        let (a, b): (Array<i64>, Array<i64>) = (xs.custom(times!(2)), xs.custom(times!(10)));
        let (a, b) = (&a, &b).force_with(&engine)?;
        assert_eq!((&a[..], &b[..]), (&[2, 4][..], &[10, 20][..]));
    }
    Ok(())
}

/// Fills its template incorrectly.
#[derive(Debug)]
struct Wrong(u64);

impl Combinator for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }
    fn output(&self, _: &[Ty]) -> Option<Output> {
        Some(match self.0 {
            7 => Output::Some(vec![Ty::I64]),
            _ => Output::InStep(vec![Ty::I64]),
        })
    }
    fn key(&self) -> Vec<u64> {
        vec![self.0]
    }
    fn fill(&self, t: &mut Template<'_, '_>) -> Result<()> {
        let x = t.element(0)?;
        match self.0 {
            0 => Ok(()),
            1 => t.give(1, x),
            2 => t.give(0, Const::f64(1.0).into()),
            3 => t.element(9).map(|_| ()),
            4 => t.op(Op::Add, &[x, Const::bool(true).into()]).map(|_| ()),
            5 => t.carry(&[]).map(|_| ()),
            6 => {
                let c = t.carry(&[Const::int(Ty::I64, 0)])?;
                t.next(&c, &[x, x])
            }
            7 => t.give(0, x),
            8 => t.scan(&[Const::f64(0.0)], &join(), &[x]).map(|_| ()),
            _ => {
                t.give(0, x)?;
                t.keep_if(Const::bool(true).into())
            }
        }
    }
}

#[test]
fn mistakes_are_errors() {
    for which in 0..10 {
        let ys: Array<i64> = Array::from(vec![1i64, 2]).custom(Wrong(which));
        let error: Error = ys.force_with(&Engine::interp()).expect_err("a mistake");
        assert_eq!(error.combinator, "wrong", "{which}");
        assert!(
            matches!(error.kind, ErrorKind::Malformed { .. }),
            "{which}: {error}"
        );
    }
    let floats: Array<f64> = Array::from(vec![1i64]).custom(Wrong(9));
    assert!(floats.force().is_err());
    let refused: Array<i64> = Array::from(vec![1i64]).custom(Recurrence { start: 0 });
    assert!(refused.force().is_err());
}

/// Fills its template carelessly.
#[derive(Debug)]
struct Careless(u64);

impl Combinator for Careless {
    fn name(&self) -> &'static str {
        "careless"
    }
    fn output(&self, _: &[Ty]) -> Option<Output> {
        let types = vec![Ty::F64];
        Some(match self.0 {
            8 => Output::Scalar(types),
            _ => Output::InStep(types),
        })
    }
    fn key(&self) -> Vec<u64> {
        vec![self.0]
    }
    fn fill(&self, t: &mut Template<'_, '_>) -> Result<()> {
        let (x, stranger) = (t.element(0)?, Atom::Var(Var::new(999_999)));
        let (zero, seven) = (
            Const::f64(0.0),
            Const {
                ty: Ty::U8,
                bits: 700,
            },
        );
        match self.0 {
            0 => t.give(0, stranger),
            1 => t.op(Op::Add, &[x, stranger]).map(|_| ()),
            2 => t.cast(stranger, Ty::F64).map(|_| ()),
            // An array of the loop that no method returned.
            3 => t.give(0, Atom::Var(Var::new(0))),
            4 => t.cast(seven.into(), Ty::F64).map(|_| ()),
            5 => t.carry(&[seven]).map(|_| ()),
            6 => {
                t.carry(&[zero])?;
                t.give(0, x)
            }
            7 => {
                let c = t.carry(&[zero])?;
                t.next(&c, &[x])?;
                t.next(&c, &[x])
            }
            8 => t.give(0, x),
            _ => {
                let mut c = t.carry(&[zero])?;
                c.values.clear(); // The user owns these values, but not the carried state.
                t.next(&c, &[x])?;
                t.give(0, x)
            }
        }
    }
}

#[test]
fn a_template_takes_only_what_it_gave() -> Result<()> {
    let xs = Array::from(vec![1.5f64, 2.5]);
    let text = |e: livefusion::Error| {
        assert_eq!(e.location.map(|l| l.file()), Some(file!()));
        e.to_string()
    };
    for (k, end) in [
        "expected a value of this template's methods, got another value",
        "expected a value of this template's methods, got another value",
        "expected a value of this template's methods, got another value",
        "expected a value of this template's methods, got another value",
        "expected a constant of type u8, got 0x2bc",
        "expected a constant of type u8, got 0x2bc",
        "expected a `next` for each carried value, got none",
        "expected one `next` for each carried value, got another one",
        "expected a carried value for a scalar, got one of an iteration",
    ]
    .iter()
    .enumerate()
    {
        let careless = Careless(k as u64);
        let said = match k {
            8 => text(xs.custom_scalar::<f64>(careless).force().unwrap_err()),
            _ => text(xs.custom::<f64>(careless).force().unwrap_err()),
        };
        assert!(
            said.starts_with("`careless` at ") && said.ends_with(end),
            "{k}: {said}"
        );
    }
    assert_eq!(xs.custom::<f64>(Careless(9)).force()?, [1.5, 2.5]);
    Ok(())
}
