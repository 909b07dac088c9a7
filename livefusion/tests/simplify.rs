//! Simplification is idempotent and changes no result and no trap.

use livefusion::ast::{Body, BodyBuilder, Builder, Kind, Node, Term, TermId, Value, simplify};
use livefusion::runtime::{Engine, force_nodes};
use livefusion::{ErrorKind, Loc};
use livefusion_backend::Buffer;
use loop_lang::Op;
use loop_lang::types::{Const, Ty};
use proptest::prelude::*;
use std::sync::{Arc, OnceLock};

/// One step of a random body: the numbers of an operator and of earlier terms.
type Step = (u8, u8, u8, u8);

const INTS: [i64; 6] = [0, 1, -1, 2, i64::MIN, i64::MAX];
const FLOATS: [f64; 6] = [0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, -2.5];

fn body(steps: &[Step]) -> Body {
    let mut b = BodyBuilder::new(&[Ty::I64, Ty::F64]);
    let mut ints = vec![b.param(0)];
    let mut floats = vec![b.param(1)];
    let mut bools = vec![b.lit(Const::bool(true))];
    ints.extend(INTS.map(|x| b.lit(Const::int(Ty::I64, x))));
    floats.extend(FLOATS.map(|x| b.lit(Const::f64(x))));
    let pick = |from: &[TermId], n: u8| from[from.len() - 1 - n as usize % from.len()];
    for (what, x, y, z) in steps {
        let (i, j) = (pick(&ints, *x), pick(&ints, *y));
        let (f, g) = (pick(&floats, *x), pick(&floats, *y));
        let (p, q) = (pick(&bools, *z), pick(&bools, *y));
        match what % 27 {
            0 => ints.push(b.op(Op::Add, &[i, j])),
            1 => ints.push(b.op(Op::Sub, &[i, j])),
            2 => ints.push(b.op(Op::Mul, &[i, j])),
            3 => ints.push(b.op(Op::Div, &[i, j])),
            4 => ints.push(b.op(Op::Rem, &[i, j])),
            5 => ints.push(b.op(Op::And, &[i, j])),
            6 => ints.push(b.op(Op::Shl, &[i, j])),
            7 => ints.push(b.op(Op::Neg, &[i])),
            8 => ints.push(b.op(Op::Not, &[i])),
            9 => ints.push(b.cond(p, i, j)),
            10 => floats.push(b.op(Op::Add, &[f, g])),
            11 => floats.push(b.op(Op::Sub, &[f, g])),
            12 => floats.push(b.op(Op::Mul, &[f, g])),
            13 => floats.push(b.op(Op::Div, &[f, g])),
            14 => floats.push(b.op(Op::Max, &[f, g])),
            15 => floats.push(b.op(Op::Neg, &[f])),
            16 => floats.push(b.cond(p, f, g)),
            17 => floats.push(b.cast(i, Ty::F64)),
            18 => ints.push(b.cast(f, Ty::I64)),
            19 => bools.push(b.op(Op::Lt, &[i, j])),
            20 => bools.push(b.op(Op::Eq, &[f, g])),
            21 => bools.push(b.op(Op::And, &[p, q])),
            22 => bools.push(b.op(Op::Not, &[p])),
            23 => ints.push(b.op(Op::Select, &[p, i, j])),
            // Sums with equal operands, and products with constants.
            24 => {
                let sum = b.op(Op::Add, &[i, j]);
                ints.push(b.op(Op::Sub, &[sum, j]));
            }
            25 => {
                let less = b.op(Op::Sub, &[i, j]);
                ints.push(b.op(Op::Sub, &[i, less]));
            }
            _ => {
                // Two large constants make a product of zero.
                let n = i64::from(*z as i8) << (32 * (z % 2));
                let n = b.lit(Const::int(Ty::I64, n));
                ints.push(b.op([Op::Mul, Op::And][usize::from(*y) % 2], &[n, i]));
            }
        }
    }
    let results = [
        ints[ints.len() - 1],
        floats[floats.len() - 1],
        bools[bools.len() - 1],
    ];
    b.finish(&results)
}

/// A map built without the builder, which would simplify it.
fn raw_map(body: Body, input: &Arc<Node>) -> Arc<Node> {
    Arc::new(Node {
        name: "map",
        loc: Loc::caller(),
        rewrite: None,
        types: body.result_types(),
        kind: Kind::Map(body),
        inputs: [input.clone()].into_iter().collect(),
        rank: 1,
        shape: None,
        after: Default::default(),
        is_stream: input.is_stream,
        len: input.len,
        part: None,
        rows: None,
        error: None,
        forced: OnceLock::new(),
        value: OnceLock::new(),
    })
}

fn run(body: Body, engine: &Engine) -> std::result::Result<Vec<Vec<u64>>, ErrorKind> {
    let ints = [3i64, 0, -1, i64::MIN];
    let floats = [1.5f64, -0.0, f64::NAN, f64::INFINITY];
    let buffers = [
        Buffer::from_vec(ints.to_vec()),
        Buffer::from_vec(floats.to_vec()),
    ];
    let input = Builder::named("input").manifest(buffers.map(Arc::new).to_vec());
    let forced = force_nodes(engine, &[raw_map(body, &input)]);
    match forced.map_err(|e| e.kind)?.remove(0) {
        Value::Array(fields) => Ok(fields.iter().map(|f| words(f)).collect()),
        Value::Scalar(_) => unreachable!("a map is an array"),
    }
}

/// The words of a buffer; NaN payloads are ignored.
fn words(buffer: &Buffer) -> Vec<u64> {
    let word = |i: usize| buffer.get_word(i).expect("in range");
    let canonical = |w: u64| match buffer.ty() {
        Ty::F64 if f64::from_bits(w).is_nan() => f64::NAN.to_bits(),
        _ => w,
    };
    (0..buffer.len()).map(|i| canonical(word(i))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simplification_changes_no_result(steps in prop::collection::vec(any::<Step>(), 1..24)) {
        let raw = body(&steps);
        let simple = simplify(raw.clone());
        prop_assert_eq!(format!("{:?}", simplify(simple.clone())), format!("{simple:?}"));
        let engine = Engine::interp();
        match (run(raw, &engine), run(simple, &engine)) {
            // Of several traps of one element in one combinator, any may be reported.
            (Err(ErrorKind::Division { .. }), Err(ErrorKind::Division { .. })) => {}
            (raw, simple) => prop_assert_eq!(raw, simple),
        }
    }
}

/// Constants that cancel disappear at once.
#[test]
fn constants_that_cancel() {
    let mut b = BodyBuilder::new(&[Ty::I64]);
    let x = b.param(0);
    let (five, less) = (
        b.lit(Const::int(Ty::I64, 5)),
        b.lit(Const::int(Ty::I64, -5)),
    );
    let more = b.op(Op::Add, &[x, five]);
    let same = b.op(Op::Add, &[less, more]);
    let simple = simplify(b.finish(&[same]));
    assert_eq!(simple.terms.len(), 1, "{simple:?}");
}

/// Joined constants that absorb the other operand give a constant at once.
#[test]
fn simplify__constants_that_absorb__give_a_constant() {
    for (op, [first, second]) in [(Op::And, [6, 9]), (Op::Mul, [1 << 32, 1 << 33])] {
        let mut b = BodyBuilder::new(&[Ty::I64]);
        let x = b.param(0);
        let [first, second] = [first, second].map(|n| b.lit(Const::int(Ty::I64, n)));
        let inner = b.op(op, &[x, first]);
        let outer = b.op(op, &[second, inner]);
        let simple = simplify(b.finish(&[outer]));
        let result = &simple.terms[simple.results[0].index()].term;
        assert!(matches!(result, Term::Lit(c) if c.bits == 0), "{simple:?}");
    }
}

/// Sums of integers are collected: constants, multiples of equal operands, operands that cancel.
#[test]
fn simplify__sums_of_integers__are_collected() {
    let n = |n: i64| Const::int(Ty::I32, n);
    let body = |f: &dyn Fn(&mut BodyBuilder, [TermId; 2]) -> TermId| {
        let mut b = BodyBuilder::new(&[Ty::I32, Ty::I32]);
        let params = [b.param(0), b.param(1)];
        let sum = f(&mut b, params);
        let simple = simplify(b.finish(&[sum]));
        let operators = simple
            .terms
            .iter()
            .filter(|t| matches!(t.term, Term::Op(..)));
        (operators.count(), simple.results[0].index())
    };
    // `(x + 1) - 3 + 2` is `x`.
    let shifted = body(&|b, [x, _]| {
        let (one, three, two) = (b.lit(n(1)), b.lit(n(3)), b.lit(n(2)));
        let more = b.op(Op::Add, &[x, one]);
        let less = b.op(Op::Sub, &[more, three]);
        b.op(Op::Add, &[less, two])
    });
    assert_eq!(shifted, (0, 0));
    // `x + y - y` is `x`, and `y - (y - x)` too.
    let cancelled = body(&|b, [x, y]| {
        let sum = b.op(Op::Add, &[x, y]);
        b.op(Op::Sub, &[sum, y])
    });
    assert_eq!(cancelled, (0, 0));
    let turned = body(&|b, [x, y]| {
        let less = b.op(Op::Sub, &[y, x]);
        b.op(Op::Sub, &[y, less])
    });
    assert_eq!(turned, (0, 0));
    // `3 * x + x * 4` is one product, and `x * 0` is zero.
    let multiples = body(&|b, [x, _]| {
        let (three, four) = (b.lit(n(3)), b.lit(n(4)));
        let (three, four) = (b.op(Op::Mul, &[three, x]), b.op(Op::Mul, &[x, four]));
        b.op(Op::Add, &[three, four])
    });
    assert_eq!(multiples.0, 1);
    let nothing = body(&|b, [x, _]| {
        let zero = b.lit(n(0));
        b.op(Op::Mul, &[x, zero])
    });
    assert_eq!(nothing.0, 0);
}

/// A quotient that cancels, or whose multiple is zero, still traps.
#[test]
fn simplify__operand_that_cancels__keeps_its_trap() {
    let xs = Builder::named("input").manifest(vec![Arc::new(Buffer::from_vec(vec![2i64, 0]))]);
    for cancels in [false, true] {
        let mut b = BodyBuilder::new(&[Ty::I64]);
        let x = b.param(0);
        let (eight, zero) = (b.lit(Const::int(Ty::I64, 8)), b.lit(Const::int(Ty::I64, 0)));
        let quotient = b.op(Op::Div, &[eight, x]);
        let result = match cancels {
            true => {
                let sum = b.op(Op::Add, &[x, quotient]);
                b.op(Op::Sub, &[sum, quotient])
            }
            false => b.op(Op::Mul, &[quotient, zero]),
        };
        let map = Builder::named("map").map(std::slice::from_ref(&xs), b.finish(&[result]));
        let error = force_nodes(&Engine::interp(), &[map]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Division { .. }), "{error}");
    }
}

/// A strict `select` with a known test still computes both sides, so a trapping side must remain.
#[test]
fn a_known_select_keeps_what_may_trap() {
    let mut b = BodyBuilder::new(&[Ty::I64, Ty::F64]);
    let (x, y) = (b.param(0), b.param(1));
    let zero = b.lit(Const::int(Ty::I64, 0));
    let quotient = b.op(Op::Div, &[x, zero]);
    let known = b.lit(Const::bool(true));
    let chosen = b.op(Op::Select, &[known, x, quotient]);
    let raw = b.finish(&[chosen, y, known]);
    let engine = Engine::interp();
    let trap = Err(ErrorKind::Division {
        dividend: 3,
        divisor: 0,
    });
    assert_eq!(run(raw.clone(), &engine), trap);
    assert_eq!(run(simplify(raw), &engine), trap);
}

/// The Accelerate chapter's example of constant expressions, on integers, where they associate.
///
/// A projected tuple, a quotient, a power and a known condition reduce to one multiplication. On
/// floats two multiplications remain: `x * 21 * 2` differs from `x * 42` for subnormal numbers.
#[test]
fn constants_of_the_chapter_end_in_one_multiplication() {
    let of = |ty: Ty, number: fn(Ty, i64) -> Const| {
        let mut b = BodyBuilder::new(&[ty]);
        let x = b.param(0);
        let n = |b: &mut BodyBuilder, n| b.lit(number(ty, n));
        let (thirty, nine, five) = (n(&mut b, 30), n(&mut b, 9), n(&mut b, 5));
        let (four, thirteen, fifteen, sixty) =
            (n(&mut b, 4), n(&mut b, 13), n(&mut b, 15), n(&mut b, 60));
        let sixth = b.op(Op::Div, &[thirty, five]);
        let three = b.op(Op::Sub, &[nine, sixth]);
        let square = b.op(Op::Mul, &[three, three]);
        let c = b.op(Op::Mul, &[square, four]);
        let is_more = b.op(Op::Gt, &[c, thirteen]);
        let less = b.op(Op::Sub, &[c, fifteen]);
        let d = b.cond(is_more, less, x);
        let product = b.op(Op::Mul, &[x, d]);
        let two = b.op(Op::Div, &[sixty, thirty]);
        let all = b.op(Op::Mul, &[product, two]);
        simplify(b.finish(&[all]))
    };
    let ops = |body: &Body| {
        let is_op =
            |d: &&livefusion::ast::TermData| matches!(d.term, livefusion::ast::Term::Op(..));
        body.terms.iter().filter(is_op).count()
    };
    let whole = of(Ty::I64, Const::int);
    assert_eq!((ops(&whole), whole.terms.len()), (1, 3), "{whole:?}");
    let lits = whole.terms.iter().filter_map(|d| match d.term {
        livefusion::ast::Term::Lit(c) => Some(c),
        _ => None,
    });
    assert_eq!(lits.collect::<Vec<_>>(), [Const::int(Ty::I64, 42)]);
    let floats = of(Ty::F64, |_, n| Const::f64(n as f64));
    assert_eq!(ops(&floats), 2, "{floats:?}");
}
