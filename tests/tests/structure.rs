//! Loops of single results and of index functions, which `programs` does not count.
//!
//! Each is one loop with at most one counter per rate. No element is read, and no operator
//! evaluated, more often than demanded.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion_backend::{Arg, Frame, Kernel, Outcome, Pass};
use livefusion_interp::{Counts, InterpBackend};
use livefusion_tests::program::buffer;
use loop_lang::Op;
use loop_lang::ir::{Loop, RateKind, StmtKind, Type};
use loop_lang::types::{Const, Ty};
use std::sync::Arc;

/// The only loop of a program.
fn one_loop(roots: &[&Arc<Node>]) -> Loop {
    let roots: Vec<Arc<Node>> = roots.iter().map(|r| Arc::clone(r)).collect();
    let explained = Engine::interp().explain(&roots).expect("it can be planned");
    assert_eq!(explained.loops.len(), 1, "{explained}");
    let program = explained.loops[0].program.clone();
    let counters = program.rates.iter().filter_map(|r| match r.kind {
        RateKind::Sub { count, .. } => count,
        other => other.counter(),
    });
    assert!(counters.count() <= program.rates.len());
    // No other variable counts: only counters increase by one.
    let mut ups = 0;
    for (_, block) in program.blocks.iter() {
        for s in &block.stmts {
            if let StmtKind::Let(_, Op::Add, args) = &s.kind {
                ups += args.iter().any(|a| *a == Const::u64(1).into()) as usize;
            }
        }
    }
    assert!(ups <= program.rates.len(), "{program}");
    program
}

/// Runs a loop on these columns (in the order of its array parameters) and these scalars, as one
/// span.
fn count(program: &Loop, columns: &[(Ty, Vec<u64>)], scalars: &[Const]) -> Counts {
    let kernel = InterpBackend::counting()
        .compile_kernel(program)
        .expect("it verifies");
    let buffers: Vec<_> = columns
        .iter()
        .map(|(ty, words)| buffer(*ty, words))
        .collect();
    let (mut arrays, mut scalars) = (buffers.iter(), scalars.iter());
    let args: Vec<Arg<'_>> = program
        .params
        .iter()
        .map(|p| match program.ty(p.var) {
            Type::Array(_) => Arg::Array(arrays.next().expect("a column").view()),
            // The remaining parameters are starting values.
            Type::Scalar(ty) => Arg::Scalar(scalars.next().copied().unwrap_or(Const::zero(ty))),
        })
        .collect();
    let mut frame = Frame::new(kernel.layout());
    assert_eq!(
        kernel.run(Pass::Emit, u64::MAX, &mut frame, &args),
        Outcome::Done
    );
    kernel.counts()
}

fn floats(values: &[f64]) -> (Ty, Vec<u64>) {
    (Ty::F64, values.iter().map(|x| x.to_bits()).collect())
}

fn ints(values: &[i64]) -> (Ty, Vec<u64>) {
    (Ty::I64, values.iter().map(|x| *x as u64).collect())
}

fn reads(c: &Counts) -> u64 {
    c.reads.values().sum()
}

fn writes(c: &Counts) -> u64 {
    c.writes.values().sum()
}

#[test]
fn to_percentages() {
    let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
    let ys = xs.filter(|x| x.ge(0.01)).map(|x| x * 100.0);
    let program = one_loop(&[ys.node()]);
    let c = count(
        &program,
        &[floats(&[0.5, 0.001, 0.25, 0.0])],
        &[Const::f64(0.01), Const::f64(100.0)],
    );
    assert_eq!((reads(&c), writes(&c)), (4, 2));
    assert_eq!((c.op(Op::Ge), c.op(Op::Mul)), (4, 2));
}

#[test]
fn filter_sum() {
    let xs = Array::from(vec![1.0f64, -2.0]);
    let kept = xs.filter(|x| x.gt(0.0));
    let sum = kept.sum();
    let program = one_loop(&[sum.node()]);
    let c = count(&program, &[floats(&[1.0, -2.0, 3.0])], &[Const::f64(0.0)]);
    assert_eq!((reads(&c), writes(&c), c.op(Op::Gt)), (3, 0, 3));
    // The count is not requested, so the subrate has no counter.
    assert!(
        program
            .rates
            .iter()
            .all(|r| !matches!(r.kind, RateKind::Sub { count: Some(_), .. })),
        "{program}"
    );
}

#[test]
fn a_map_between_rearrangements() {
    let xs = Array::from(vec![1i64, 2, 3]);
    let ys = xs.map(|x| x * 3).reverse().map(|y| y - 1);
    let program = one_loop(&[ys.node()]);
    let c = count(&program, &[ints(&[1, 2, 3, 4])], &lengths(&program, 4));
    // Each element is read and multiplied once; only the result is written.
    assert_eq!((reads(&c), writes(&c), c.op(Op::Mul)), (4, 4, 4));
}

#[test]
fn an_array_beside_its_reverse() {
    let xs = Array::from(vec![1i64, 2, 3]);
    let ys = xs.map(|x| x * 3);
    let both = ys.zip_with(&ys.reverse(), |x, y| x.max(y));
    let program = one_loop(&[both.node()]);
    let c = count(&program, &[ints(&[1, 2, 3, 4])], &lengths(&program, 4));
    // In step and at an index: two reads and two products per element, no intermediate array.
    assert_eq!((reads(&c), writes(&c), c.op(Op::Mul)), (8, 4, 8));
}

#[test]
fn chosen_elements_of_a_map() {
    let (xs, at) = (
        Array::from(vec![1.0f64, 2.0, 3.0]),
        Array::from(vec![1u64, 1]),
    );
    let ys = xs.map(|x| x * 3.0).gather(&at).map(|y| y + 1.0);
    let program = one_loop(&[ys.node()]);
    let (indices, values) = ((Ty::U64, vec![3, 0]), floats(&[1.0, 2.0, 3.0, 4.0]));
    let c = count(&program, &[indices, values], &lengths(&program, 4));
    // Only selected elements are computed: an index, an element and a product each.
    assert_eq!((reads(&c), writes(&c), c.op(Op::Mul)), (4, 2, 2));
}

/// Arguments for the scalar parameters of a loop: lengths (named `s`, `len`) are `n`, others 1.
fn lengths(program: &Loop, n: u64) -> Vec<Const> {
    let scalars = program
        .params
        .iter()
        .filter_map(|p| match program.ty(p.var) {
            Type::Scalar(ty) => Some((program.name(p.var), ty)),
            Type::Array(_) => None,
        });
    scalars
        .map(|(name, ty)| match ty {
            Ty::U64 if name.starts_with('s') || name.starts_with("len") => Const::u64(n),
            Ty::F64 => Const::f64(1.0),
            ty => Const::int(ty, 1),
        })
        .collect()
}
